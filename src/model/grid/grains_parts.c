/* Single grains where a run has several parts. */
#include <string.h>

#include "base/comm.h"
#include "base/radix.h"
#include "model/grid/grains_inside.h"

/* The solid that a grain touches; false: there is none. */
static bool find_touched(const tl_grains *s, const tl_grid *g, int32_t block, const tl_particle *p, int32_t *which,
                         tl_vec3 *n)
{
    if (!tl_solids_near(s->solids, g, block, p->x, s->touch + 0.87 * g->f.dx, s->solid_phi)) return false;
    double d = tl_solids_distance(s->solids, block, p->x, which, n);
    return d < s->touch && *which != TL_SOLID_NONE && (s->alpha || is_free(s, *which));
}

/* A block may have grains that are looked at. */
static bool has_grains(const tl_grid *g, const tl_grains *s, int32_t b)
{
    return g->first[b] < g->first[b + 1] && (s->alpha || s->solids->start[b] < s->solids->start[b + 1]);
}

/* A grain of ours that is alone. */
typedef struct lone {
    int32_t particle, block, which; /* TL_SOLID_NONE: touches nothing, and loses its gradient */
    tl_vec3 n, dv;
} lone;

/* One that touches a free body, as all parts see it: the body meets them one after the other. */
typedef struct hit {
    tl_particle p;
    tl_vec3 n;
    int64_t key; /* of its block */
    int32_t which, at;
} hit;

static talus_status no_memory(talus_error *err) { return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for single grains"); }

static talus_status find_lone(const tl_grid *g, const tl_grains *s, const tl_particles *p, int64_t *count, lone **out,
                              tl_arena *a, talus_error *err)
{
    const tl_halo_shape h = tl_halo_shape_of(g);
    int64_t max = 0;
    for (int32_t b = 0; b < g->owned; b++) max += has_grains(g, s, b) ? g->first[b + 1] - g->first[b] : 0;
    *count = 0;
    if (!(*out = TL_TAKE(a, lone, max))) return no_memory(err);
    for (int32_t b = 0; b < g->owned; b++) {
        if (!has_grains(g, s, b)) continue;
        int32_t id[TL_GRID_HALO_MAX];
        tl_grid_halo(g, b, id);
        for (int32_t i = g->first[b]; i < g->first[b + 1]; i++) {
            const tl_particle *q = &p->particle[i];
            lone l = {.particle = i, .block = b};
            double place[3];
            if (s->alpha && !(s->alpha[q->material] > 0)) continue;
            tl_place_in_block(g, b, q->x, place);
            const int32_t cell = cell_of(g, &h, place);
            if (s->number[id[cell]] >= 0) continue;
            if (!find_touched(s, g, b, q, &l.which, &l.n)) {
                l.which = TL_SOLID_NONE;
                if (!s->alpha || !beside_pressure(s, &h, id, cell)) continue;
            }
            (*out)[(*count)++] = l;
        }
    }
    return TALUS_OK;
}

/* What does not move freely acts on own grains alone; what it gets is the sum of all parts. */
static talus_status stop_at_fixed(const tl_grid *g, const tl_grains *s, const tl_particles *p, int64_t count, lone *l,
                                  tl_arena *a, talus_error *err)
{
    const int64_t six = s->load ? 6 * (int64_t)s->solids->count : 0;
    double *load = TL_TAKE_ZERO(a, double, six);
    TL_TRY(tl_comm_agree(g->comm, load ? TALUS_OK : no_memory(err), err));
    tl_grain_account mine = {0};
    tl_grains here = *s;
    here.load = s->load ? load : NULL;
    here.account = &mine;
    for (int64_t k = 0; k < count; k++)
        if (l[k].which != TL_SOLID_NONE && !is_free(s, l[k].which))
            l[k].dv = impulse(&here, l[k].which, l[k].n, &p->particle[l[k].particle]);
    tl_comm_sums(g->comm, six, load);
    for (int64_t k = 0; k < six; k++) s->load[k] += load[k];
    double all[6];
    tl_vec3_store(mine.fixed, all);
    tl_vec3_store(mine.turned, all + 3);
    tl_comm_sums(g->comm, 6, all);
    if (!s->account) return TALUS_OK;
    s->account->fixed = tl_vec3_add(s->account->fixed, tl_vec3_load(all));
    s->account->turned = tl_vec3_add(s->account->turned, tl_vec3_load(all + 3));
    return TALUS_OK;
}

/* Free bodies meet all grains in the order of blocks, in every part alike. */
static talus_status stop_at_free(const tl_grid *g, const tl_grains *s, const tl_particles *p, int64_t count, lone *l,
                                 tl_arena *a, talus_error *err)
{
    int64_t bytes[TL_COMM_PARTS_MAX], n = 0, first = 0, mine = 0;
    for (int64_t k = 0; k < count; k++) mine += is_free(s, l[k].which);
    hit *out = TL_TAKE(a, hit, mine), *all;
    TL_TRY(tl_comm_agree(g->comm, out ? TALUS_OK : no_memory(err), err));
    mine = 0;
    for (int64_t k = 0; k < count; k++)
        if (is_free(s, l[k].which))
            out[mine++] = (hit){p->particle[l[k].particle], l[k].n, g->key[l[k].block], l[k].which, (int32_t)k};
    const int64_t own = mine * (int64_t)sizeof *out;
    tl_comm_share(g->comm, sizeof own, &own, bytes);
    for (int32_t q = 0; q < g->comm->parts; q++) {
        if (q == g->comm->part) first = n;
        n += bytes[q] / (int64_t)sizeof *out;
    }
    all = TL_TAKE(a, hit, n);
    uint64_t *key = TL_TAKE(a, uint64_t, n), *spare = TL_TAKE(a, uint64_t, n);
    int32_t *order = TL_TAKE(a, int32_t, n), *spare_order = TL_TAKE(a, int32_t, n);
    const bool good = all && key && spare && order && spare_order;
    TL_TRY(tl_comm_agree(g->comm, good ? TALUS_OK : no_memory(err), err));
    if (!n) return TALUS_OK;
    tl_comm_gather(g->comm, bytes, out, all);
    for (int64_t k = 0; k < n; k++) key[k] = (uint64_t)all[k].key, order[k] = (int32_t)k;
    tl_radix_sort(n, key, order, spare, spare_order);
    for (int64_t k = 0; k < n; k++) {
        const hit *q = &all[order[k]];
        const tl_vec3 dv = impulse(s, q->which, q->n, &q->p);
        if (order[k] >= first && order[k] < first + mine) l[q->at].dv = dv;
    }
    return TALUS_OK;
}

talus_status tl_grains_stop_parts(const tl_grid *g, const tl_grains *s, const tl_particles *p, tl_faces *faces,
                                  tl_arena *a, talus_error *err)
{
    size_t mark = tl_arena_mark(a);
    const tl_halo_shape h = tl_halo_shape_of(g);
    int64_t count;
    lone *l;
    tl_faces change = *faces;
    TL_TRY(tl_comm_agree(g->comm, find_lone(g, s, p, &count, &l, a, err), err));
    if (!(tl_comm_max(g->comm, (double)count) > 0)) {
        tl_arena_release(a, mark);
        return TALUS_OK;
    }
    TL_TRY(stop_at_fixed(g, s, p, count, l, a, err));
    TL_TRY(stop_at_free(g, s, p, count, l, a, err));
    for (int k = 0; k < 3; k++) change.u[k] = TL_TAKE_ZERO(a, double, g->cells);
    TL_TRY(tl_comm_agree(g->comm, change.u[0] && change.u[1] && change.u[2] ? TALUS_OK : no_memory(err), err));
    for (int64_t k = 0; k < count; k++) {
        const tl_particle *q = &p->particle[l[k].particle];
        int32_t id[TL_GRID_HALO_MAX];
        double place[3];
        tl_grid_halo(g, l[k].block, id);
        tl_place_in_block(g, l[k].block, q->x, place);
        add(g, id, &h, place, q, s->rho[q->material] * q->volume, l[k].dv, &change);
    }
    for (int k = 0; k < 3; k++) {
        tl_grid_add_halo(g, change.u[k]);
        for (int32_t i = 0; i < tl_grid_owned_cells(g); i++) faces->u[k][i] += change.u[k][i];
    }
    tl_grid_refresh3(g, faces->u);
    tl_arena_release(a, mark);
    return TALUS_OK;
}
