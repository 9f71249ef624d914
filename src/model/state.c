#include "model/state.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "model/lg/lg.h"

#define DOUBLES(type) ((int)(sizeof(type) / sizeof(double)))

static int grid_parts(tl_grid_state *g, int n, tl_state_part *out)
{
    tl_particles *p = &g->particles;
    const size_t tags = offsetof(tl_particle, id), value = offsetof(tl_cell_memory, pressure);
    out[n++] = (tl_state_part){
        "particles/motion",    TL_NUMBER_F64, (int)(tags / sizeof(double)), sizeof(tl_particle), 0, &p->count,
        (void **)&p->particle, &p->room};
    out[n++] = (tl_state_part){"particles/tags", TL_NUMBER_I32,         2,       sizeof(tl_particle), tags,
                               &p->count,        (void **)&p->particle, &p->room};
    out[n++] = (tl_state_part){"cells/key",         TL_NUMBER_I64,  1, sizeof(tl_cell_memory), 0, &g->memories,
                               (void **)&g->memory, &g->memory_room};
    out[n++] = (tl_state_part){"cells/pressure",    TL_NUMBER_F64,  1, sizeof(tl_cell_memory), value, &g->memories,
                               (void **)&g->memory, &g->memory_room};
    out[n++] = (tl_state_part){"cells/stress",      TL_NUMBER_F64,  5, 5 * sizeof(double), 0, &g->stresses,
                               (void **)&g->stress, &g->stress_room};
    out[n++] = (tl_state_part){"rest/key",        TL_NUMBER_I64, 1, sizeof(tl_rest_memory), 0, &g->rests,
                               (void **)&g->rest, &g->rest_room};
    out[n++] = (tl_state_part){
        "rest/displacement", TL_NUMBER_F64, 3, sizeof(tl_rest_memory), offsetof(tl_rest_memory, t), &g->rests,
        (void **)&g->rest,   &g->rest_room};
    out[n++] = (tl_state_part){"emitters", TL_NUMBER_F64, DOUBLES(tl_emitter_state), sizeof(tl_emitter_state),
                               0,          &g->emitters,  (void **)&g->emitter,      NULL};
    out[n++] = (tl_state_part){"totals", TL_NUMBER_F64,    DOUBLES(tl_grid_totals), sizeof(tl_grid_totals),
                               0,        &g->totals_count, (void **)&g->totals,     NULL};
    return n;
}

static int sph_parts(tl_sph_state *s, int n, tl_state_part *out)
{
    size_t particle = sizeof(tl_sph_particle), memory = sizeof(tl_sph_memory), emitter = sizeof(tl_sph_emitter);
    out[n++] = (tl_state_part){"sph/motion", TL_NUMBER_F64, 7, particle, 0, &s->count, (void **)&s->particle, &s->room};
    out[n++] = (tl_state_part){"sph/ids", TL_NUMBER_I32,         2,       particle, offsetof(tl_sph_particle, id),
                               &s->count, (void **)&s->particle, &s->room};
    out[n++] =
        (tl_state_part){"sph/memory", TL_NUMBER_F64, 4, memory, 0, &s->memories, (void **)&s->memory, &s->memory_room};
    out[n++] =
        (tl_state_part){"sph/memory_of",     TL_NUMBER_I32,  2, memory, offsetof(tl_sph_memory, particle), &s->memories,
                        (void **)&s->memory, &s->memory_room};
    out[n++] = (tl_state_part){"sph/due", TL_NUMBER_F64, 1, emitter, 0, &s->emitters, (void **)&s->emitter, NULL};
    out[n++] = (tl_state_part){"sph/emitted", TL_NUMBER_I64,        2,   emitter, offsetof(tl_sph_emitter, layers),
                               &s->emitters,  (void **)&s->emitter, NULL};
    out[n++] = (tl_state_part){"sph/counters", TL_NUMBER_I64,        2,   sizeof(tl_sph_counters), 0,
                               &s->counters,   (void **)&s->counter, NULL};
    return n;
}

static int lg_parts(tl_lg_state *l, int n, tl_state_part *out)
{
    const size_t point = 3 * sizeof(double), row = 8 * sizeof(double), doubles = offsetof(tl_lg_memory, force);
    out[n++] = (tl_state_part){"nodes/position", TL_NUMBER_F64, 3, point, 0, &l->nodes, (void **)&l->q, NULL};
    out[n++] = (tl_state_part){"nodes/velocity", TL_NUMBER_F64, 3, point, 0, &l->nodes, (void **)&l->v, NULL};
    out[n++] = (tl_state_part){"nodes/push", TL_NUMBER_F64, 3, point, 0, &l->nodes, (void **)&l->push, NULL};
    out[n++] =
        (tl_state_part){"nodes/position_before", TL_NUMBER_F64, 3, point, 0, &l->nodes, (void **)&l->q_before, NULL};
    out[n++] =
        (tl_state_part){"nodes/velocity_before", TL_NUMBER_F64, 3, point, 0, &l->nodes, (void **)&l->v_before, NULL};
    out[n++] = (tl_state_part){"nodes/step_before",      TL_NUMBER_F64, 1, sizeof(double), 0, &l->steps_kept,
                               (void **)&l->step_before, NULL};
    out[n++] =
        (tl_state_part){"nodes/led", TL_NUMBER_F64, 14, 14 * sizeof(double), 0, &l->handles, (void **)&l->led, NULL};
    out[n++] = (tl_state_part){"nodes/cable_length", TL_NUMBER_F64,       1,   sizeof(double), 0,
                               &l->cables,           (void **)&l->length, NULL};
    out[n++] =
        (tl_state_part){"nodes/pressure", TL_NUMBER_F64, 1, sizeof(double), 0, &l->bodies, (void **)&l->pressure, NULL};
    out[n++] = (tl_state_part){"nodes/dual", TL_NUMBER_F64, 8, row, 0, &l->dual_rows, (void **)&l->u, NULL};
    out[n++] = (tl_state_part){"nodes/contact_ids",  TL_NUMBER_I32,   6, sizeof(tl_lg_memory), 0, &l->contacts,
                               (void **)&l->contact, &l->contact_room};
    out[n++] = (tl_state_part){
        "nodes/contact_points", TL_NUMBER_F64,   (int)((sizeof(tl_lg_memory) - doubles) / sizeof(double)),
        sizeof(tl_lg_memory),   doubles,         &l->contacts,
        (void **)&l->contact,   &l->contact_room};
    return n;
}

int tl_state_parts(tl_state *s, tl_state_part out[TL_STATE_PARTS_MAX])
{
    tl_rigid_state *r = &s->rigid;
    int n = 0;
    out[n++] = (tl_state_part){"bodies/motion",   TL_NUMBER_F64, DOUBLES(tl_motion), sizeof(tl_motion), 0, &r->count,
                               (void **)&r->body, NULL};
    size_t doubles = offsetof(tl_rigid_memory, at_a);
    out[n++] = (tl_state_part){"contacts/bodies",    TL_NUMBER_I32,   4, sizeof(tl_rigid_memory), 0, &r->contacts,
                               (void **)&r->contact, &r->contact_room};
    out[n++] = (tl_state_part){
        "contacts/points",       TL_NUMBER_F64,   (int)((sizeof(tl_rigid_memory) - doubles) / sizeof(double)),
        sizeof(tl_rigid_memory), doubles,         &r->contacts,
        (void **)&r->contact,    &r->contact_room};
    if (s->grid.totals_count > 0) n = grid_parts(&s->grid, n, out);
    if (s->sph.counters > 0) n = sph_parts(&s->sph, n, out);
    if (s->lg.nodes > 0) n = lg_parts(&s->lg, n, out);
    return n;
}

void tl_state_free(tl_state *s)
{
    tl_rigid_state_free(&s->rigid);
    tl_grid_state_free(&s->grid);
    tl_sph_state_free(&s->sph);
    tl_lg_state_free(&s->lg);
    *s = (tl_state){0};
}

/* Parts of one array of structs share their data. */
static bool is_first(const tl_state_part *part, int k)
{
    for (int j = 0; j < k; j++)
        if (part[j].data == part[k].data) return false;
    return true;
}

/* New blocks first, so that a refusal leaves `to` as it was. */
talus_status tl_state_copy(tl_state *to, const tl_state *from, talus_error *err)
{
    tl_state now = *from;
    tl_state_part source[TL_STATE_PARTS_MAX], target[TL_STATE_PARTS_MAX];
    void *fresh[TL_STATE_PARTS_MAX] = {0}, *data[TL_STATE_PARTS_MAX];
    int64_t room[TL_STATE_PARTS_MAX];
    int parts = tl_state_parts(&now, source);
    tl_state kept = *to;
    kept.grid.totals_count = from->grid.totals_count; /* lists the same parts */
    kept.sph.counters = from->sph.counters;
    if (kept.lg.nodes == 0) kept.lg.nodes = from->lg.nodes; /* lists the same parts */
    tl_state_parts(&kept, target);
    for (int k = 0; k < parts; k++) {
        int64_t count = *source[k].count, there = *target[k].data ? *target[k].count : -1;
        if (source[k].room) there = *target[k].room;
        room[k] = there < count ? count : there;
        data[k] = *target[k].data;
        if (!is_first(source, k) || (there >= count && data[k])) continue;
        fresh[k] = tl_alloc(source[k].stride * (size_t)count + 1);
        if (fresh[k]) continue;
        while (k-- > 0) tl_free(fresh[k]);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a copy of a state");
    }
    for (int k = 0; k < parts; k++) {
        if (!is_first(source, k)) continue;
        if (fresh[k]) {
            tl_free(data[k]);
            data[k] = fresh[k];
        }
        if (*source[k].count) memcpy(data[k], *source[k].data, source[k].stride * (size_t)*source[k].count);
    }
    *to = *from;
    tl_state_parts(to, target);
    for (int k = 0; k < parts; k++) {
        if (!is_first(source, k)) continue;
        *target[k].data = data[k];
        if (target[k].room) *target[k].room = room[k];
    }
    return TALUS_OK;
}

static size_t bytes_of(tl_number type) { return type == TL_NUMBER_F64 || type == TL_NUMBER_I64 ? 8 : 4; }

uint64_t tl_state_hash(const tl_state *s)
{
    tl_state view = *s; /* the list wants places that may be written */
    tl_state_part part[TL_STATE_PARTS_MAX];
    int parts = tl_state_parts(&view, part);
    uint64_t h = tl_hash(TL_HASH_START, &s->t, sizeof s->t);
    h = tl_hash(h, &s->step, sizeof s->step);
    h = tl_hash(h, &s->frame, sizeof s->frame);
    h = tl_hash(h, &s->dt_next, sizeof s->dt_next);
    for (int k = 0; k < parts; k++) {
        const tl_state_part *p = &part[k];
        h = tl_hash(h, p->count, sizeof *p->count);
        for (int64_t i = 0; i < *p->count; i++)
            h = tl_hash(h, (const char *)*p->data + (size_t)i * p->stride + p->offset,
                        (size_t)p->width * bytes_of(p->type));
    }
    return h;
}
