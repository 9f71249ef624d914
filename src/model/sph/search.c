#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/parallel.h"
#include "model/sph/cells.h"
#include "model/sph/lanes.h"
#include "model/sph/scan.h"

#define CROWDED 1000 /* neighbours in the mean: something has collapsed */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for neighbours of particles");
}

/* ---- begin ---- */

/* The shortest rotation that takes unit vector a to b; of opposite ones any of the shortest. */
static tl_quat rotation_between(tl_vec3 a, tl_vec3 b)
{
    tl_vec3 c = tl_vec3_cross(a, b);
    double w = 1 + tl_vec3_dot(a, b);
    if (w < 1e-12) {
        c = fabs(a.x) < 0.7 ? tl_vec3_cross(a, (tl_vec3){1, 0, 0}) : tl_vec3_cross(a, (tl_vec3){0, 1, 0});
        w = 0;
    }
    return tl_quat_normalize((tl_quat){w, c.x, c.y, c.z});
}

/* Turning about its own axis leaves a round body where it is, and its samples too: they follow the axis by the
 * shortest way, those of a ball do not turn at all. Samples that went round with it would be the corners of a
 * polygon, and every new one a blow (tests/physics/sph_roll.c). */
static tl_pose samples_pose(const tl_rigid_body *b, tl_collider_round round, const tl_motion *m)
{
    tl_motion still = *m;
    if (round == TL_ROUND_BALL) still.q = tl_quat_identity();
    if (round == TL_ROUND_AXIS) still.q = rotation_between(b->axis, tl_quat_rotate(m->q, b->axis));
    return tl_rigid_pose(b, &still);
}

static void place_surfaces(tl_sph_step *s)
{
    const tl_sph *c = s->sph;
#pragma omp parallel for schedule(dynamic, 8) if (c->free_count + c->kinematic_count >= TL_PARALLEL_MIN)
    for (int32_t b = 0; b < c->bodies; b++) {
        const tl_sph_body *body = &c->body[b];
        if (body->first < 0) continue;
        tl_pose pose = samples_pose(&s->rigid->body[b], body->round, &s->bodies.motion[b]);
        tl_mat3 R = tl_quat_to_mat3(pose.rotation);
        const tl_vec3 *at = c->surface[body->surface].at;
        for (int32_t k = 0; k < body->count; k++)
            s->x[body->first + k] = tl_vec3_add(pose.at, tl_mat3_mul_vec(R, at[k]));
    }
}

static talus_status sort_moving(tl_sph_step *s, talus_error *err)
{
    const tl_sph *c = s->sph;
    int32_t n = c->free_count + c->kinematic_count, bad;
    int32_t *order = TL_TAKE(s->arena, int32_t, n + TL_SPH_LANES);
    if (!order) return no_memory(err);
    const tl_sph_places places = {n, s->x, sizeof *s->x};
    TL_TRY(tl_sph_sort(&s->moving, &places, c->h, order, &bad, s->arena, err));
    if (bad >= 0) {
        tl_vec3 x = s->x[bad];
        return TL_FAIL(err, TALUS_BAD_INPUT, "body \"%.60s\" is at (%g, %g, %g) m, which cannot be simulated",
                       s->scene->bodies[c->body_of[bad]].name, x.x, x.y, x.z);
    }
    s->moving.number = order;
    return TALUS_OK;
}

static talus_status sort_fluid(tl_sph_step *s, const tl_sph_state *state, talus_error *err)
{
    const tl_sph *c = s->sph;
    tl_arena *a = s->arena;
    s->particle = TL_TAKE(a, tl_sph_particle, s->fluid);
    s->v = TL_TAKE(a, tl_vec3, s->fluid);
    s->inv_m = TL_TAKE(a, float, s->fluid);
    int32_t bad, *order = TL_TAKE(a, int32_t, s->fluid);
    if (!s->particle || !s->v || !s->inv_m || !order) return no_memory(err);
    const tl_sph_places places = {s->fluid, state->particle, sizeof *state->particle};
    TL_TRY(tl_sph_sort(&s->liquid, &places, c->h, order, &bad, a, err));
    if (bad >= 0) {
        const tl_sph_particle *p = &state->particle[bad];
        return TL_FAIL(err, TALUS_BAD_INPUT, "fluid particle %d is at (%g, %g, %g) m, which cannot be simulated", p->id,
                       p->x.x, p->x.y, p->x.z);
    }
    double first = s->fluid ? s->scene->materials[state->particle[order[0]].material].density : 1;
    s->one_mass = true;
    for (int k = 0; k < s->scene->material_count; k++) {
        tl_material_kind kind = s->scene->materials[k].kind;
        if (kind == TL_MATERIAL_LIQUID || kind == TL_MATERIAL_VISCOUS)
            s->one_mass &= s->scene->materials[k].density == first;
    }
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < s->fluid; i++) {
        s->particle[i] = state->particle[order[i]];
        s->v[i] = s->particle[i].v;
        s->inv_m[i] = (float)(1 / (s->scene->materials[s->particle[i].material].density * c->V0));
    }
    return TALUS_OK;
}

talus_status tl_sph_begin(tl_sph_step *s, const tl_sph *c, const tl_scene *scene, const tl_sph_state *state,
                          const tl_sph_bodies *bodies, double dt, tl_arena *a, talus_error *err)
{
    *s = (tl_sph_step){.sph = c,
                       .scene = scene,
                       .rigid = bodies->rigid,
                       .bodies = *bodies,
                       .arena = a,
                       .dt = dt,
                       .relax = 0.5,
                       .strict = 1,
                       .push_out = 0.5,
                       .fluid = (int32_t)state->count};
    s->x = TL_TAKE(a, tl_vec3, c->free_count + c->kinematic_count);
    s->body_v = TL_TAKE(a, tl_vec3, c->bodies);
    s->body_w = TL_TAKE(a, tl_vec3, c->bodies);
    if (!s->x || !s->body_v || !s->body_w) return no_memory(err);
    for (int32_t b = 0; b < c->bodies; b++) {
        s->body_v[b] = bodies->motion[b].v;
        s->body_w[b] = bodies->motion[b].w;
    }
    place_surfaces(s);
    TL_TRY(sort_moving(s, err));
    return sort_fluid(s, state, err);
}

/* ---- candidates ---- */

/* What one thread works with. */
typedef struct scratch {
    tl_sph_candidates liquid, solid;
    int32_t liquid_self; /* candidate of liquid particle i: i + liquid_self */
    int32_t *found, *second;
} scratch;

/* Most particles in three cells of a row. */
static int64_t row_most(const tl_sph_sorted *s)
{
    const tl_sph_cells *t = &s->cells;
    int64_t rows = s->count ? (int64_t)t->n[1] * t->n[2] : 0;
    int32_t max = 0;
    for (int64_t r = 0; r < rows; r++) {
        const int32_t *start = t->start + r * t->n[0];
        if (start[0] == start[t->n[0]]) continue;
        for (int32_t x = 0; x < t->n[0]; x++) {
            int32_t end = x + 2 < t->n[0] ? x + 2 : t->n[0], here = start[end] - start[x > 0 ? x - 1 : 0];
            max = here > max ? here : max;
        }
    }
    return max;
}

static talus_status candidates_take(tl_sph_candidates *c, int64_t max, tl_arena *a, talus_error *err)
{
    max += 2 * TL_SPH_LANES;
    for (int k = 0; k < 3; k++) c->at[k] = TL_TAKE(a, float, max);
    c->j = TL_TAKE(a, int32_t, max);
    return c->at[0] && c->at[1] && c->at[2] && c->j ? TALUS_OK : no_memory(err);
}

static talus_status scratch_take(const tl_sph_step *s, scratch **out, talus_error *err)
{
    int threads = tl_threads();
    int64_t liquid = 9 * row_most(&s->liquid), solid = 9 * (row_most(&s->moving) + row_most(&s->sph->walls)),
            max = (liquid > solid ? liquid : solid) + TL_SPH_LANES;
    *out = TL_TAKE_ZERO(s->arena, scratch, threads);
    if (!*out) return no_memory(err);
    for (int k = 0; k < threads; k++) {
        scratch *w = &(*out)[k];
        TL_TRY(candidates_take(&w->liquid, liquid, s->arena, err));
        TL_TRY(candidates_take(&w->solid, solid, s->arena, err));
        w->found = TL_TAKE(s->arena, int32_t, max);
        w->second = TL_TAKE(s->arena, int32_t, max);
        if (!w->found || !w->second) return no_memory(err);
    }
    return TALUS_OK;
}

/* 16 particles from `j` on, relative to cell c; what is beyond the end will be overwritten. */
static inline void copy_lanes(tl_sph_candidates *out, int32_t to, const tl_sph_sorted *s, int32_t j, const int32_t c[3],
                              int32_t add)
{
    static const tl_i16 rising = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    for (int d = 0; d < 3; d++) {
        tl_f16 cells = __builtin_convertvector(tl_i16_load(s->cell[d] + j) - c[d], tl_f16);
        tl_f16_store(out->at[d] + to, tl_f16_load(s->at[d] + j) + cells * 0x1p22f);
    }
    tl_i16_store(out->j + to, s->number ? tl_i16_load(s->number + j) : rising + (j + add));
}

/* Adds all particles of s in the cells around cell c. Numbers are those of the sorted arrays plus `add`, where s has
 * no others. Returns the difference between the place among candidates and in the sorted arrays, in the middle row. */
static int32_t gather(tl_sph_candidates *out, const tl_sph_sorted *s, const int32_t c[3], int32_t add)
{
    const tl_sph_cells *t = &s->cells;
    int32_t lo[3], hi[3], self = 0;
    if (!s->count) return 0;
    for (int d = 0; d < 3; d++) tl_sph_cells_around(t, d, c[d], &lo[d], &hi[d]);
    int32_t count = out->count;
    for (int32_t z = lo[2]; z <= hi[2]; z++)
        for (int32_t y = lo[1]; y <= hi[1]; y++) {
            int64_t row = ((int64_t)z * t->n[1] + y) * t->n[0];
            int32_t begin = t->start[row + lo[0]], n = t->start[row + hi[0] + 1] - begin;
            for (int32_t k = 0; k < n; k += TL_SPH_LANES) copy_lanes(out, count + k, s, begin + k, c, add);
            if (y == tl_sph_cells_inside(t, 1, c[1]) && z == tl_sph_cells_inside(t, 2, c[2])) self = count - begin;
            count += n;
        }
    out->count = count;
    return self;
}

static void gather_liquid(const tl_sph_step *s, scratch *w, const int32_t c[3])
{
    w->liquid.count = 0;
    w->liquid_self = gather(&w->liquid, &s->liquid, c, 0);
    tl_sph_candidates_end(&w->liquid);
}

static void gather_solid(const tl_sph_step *s, scratch *w, const int32_t c[3])
{
    w->solid.count = 0;
    gather(&w->solid, &s->moving, c, 0);
    gather(&w->solid, &s->sph->walls, c, s->sph->free_count + s->sph->kinematic_count);
    tl_sph_candidates_end(&w->solid);
}

/* ---- cells of fluid ---- */

static void find_rows(const tl_sph_step *s, tl_sph_cell *out)
{
    const tl_sph_cells *t = &s->liquid.cells;
    int32_t lo[3], hi[3], n = 0;
    for (int d = 0; d < 3; d++) tl_sph_cells_around(t, d, s->liquid.cell[d][out->first], &lo[d], &hi[d]);
    for (int32_t z = lo[2]; z <= hi[2]; z++)
        for (int32_t y = lo[1]; y <= hi[1]; y++) {
            int64_t row = ((int64_t)z * t->n[1] + y) * t->n[0];
            out->row[n] = t->start[row + lo[0]];
            out->length[n] = t->start[row + hi[0] + 1] - out->row[n];
            n++;
        }
    for (; n < 9; n++) out->row[n] = out->length[n] = 0;
}

static bool same_cell(const tl_sph_sorted *s, int32_t i, int32_t j)
{
    return s->cell[0][i] == s->cell[0][j] && s->cell[1][i] == s->cell[1][j] && s->cell[2][i] == s->cell[2][j];
}

static talus_status list_cells(tl_sph_step *s, talus_error *err)
{
    const tl_sph_sorted *l = &s->liquid;
    int32_t n = 0;
    for (int32_t i = 0; i < l->count; i++) n += i == 0 || !same_cell(l, i - 1, i);
    s->cells = n;
    s->cell = TL_TAKE(s->arena, tl_sph_cell, tl_sph_roomy(n));
    if (!s->cell) return no_memory(err);
    n = 0;
    for (int32_t i = 0; i < l->count; i++) {
        if (i == 0 || !same_cell(l, i - 1, i)) s->cell[n++] = (tl_sph_cell){.first = i};
        s->cell[n - 1].count++;
    }
#pragma omp parallel for schedule(static) if (s->cells >= TL_PARALLEL_MIN / 8)
    for (int32_t c = 0; c < s->cells; c++) find_rows(s, &s->cell[c]);
    for (int32_t c = 0; c < s->cells; c++) {
        int64_t all = 0;
        for (int k = 0; k < 9; k++) all += s->cell[c].length[k];
        if (all > TL_SPH_PLACES) {
            tl_vec3 x = s->particle[s->cell[c].first].x;
            return TL_FAIL(err, TALUS_BAD_INPUT, "%lld fluid particles have collapsed around (%g, %g, %g) m",
                           (long long)all, x.x, x.y, x.z);
        }
        s->candidates = all > s->candidates ? (int32_t)all : s->candidates;
    }
    return TALUS_OK;
}

/* Calls visit(s, w, i, x) for all particles of `of`, cell by cell; x: place in its cell. Candidates are gathered
 * before. */
typedef void visitor(tl_sph_step *s, scratch *w, int32_t i, const float x[3]);
static void visit_all(tl_sph_step *s, const tl_sph_sorted *of, scratch *all, visitor *visit)
{
    const tl_sph_cells *t = &of->cells;
    int64_t rows = of->count ? (int64_t)t->n[1] * t->n[2] : 0;
#pragma omp parallel for schedule(dynamic, 4) if (of->count >= 2000)
    for (int64_t r = 0; r < rows; r++) {
        scratch *w = &all[omp_get_thread_num()];
        int32_t c[3] = {0, 0, 0}, begin = t->start[r * t->n[0]], end = t->start[(r + 1) * t->n[0]];
        for (int32_t i = begin; i < end; i++) {
            int32_t here[3] = {of->cell[0][i], of->cell[1][i], of->cell[2][i]};
            float x[3] = {of->at[0][i], of->at[1][i], of->at[2][i]};
            if (i == begin || here[0] != c[0] || here[1] != c[1] || here[2] != c[2]) {
                memcpy(c, here, sizeof c);
                gather_liquid(s, w, c);
                gather_solid(s, w, c);
            }
            visit(s, w, i, x);
        }
    }
}

/* ---- counting ---- */

/* Counts while they are made: [free_count] of surface particles, [fluid] of fluid. */
static bool is_free(const tl_sph_step *s, int32_t number) { return number < s->sph->free_count; }

static bool are_parted(const tl_sph *c, int32_t a, int32_t b)
{
    for (int32_t k = c->part_start[a]; k < c->part_start[a + 1]; k++)
        if (c->part[k] == b) return true;
    return false;
}

static bool touches(const tl_sph_step *s, int32_t a, int32_t b)
{
    const tl_sph *c = s->sph;
    return c->body_of[a] != c->body_of[b] && (c->meets[a] & c->meets[b] & TL_SPH_MEETS_SOLIDS) &&
           !(c->part_start && are_parted(c, c->body_of[a], c->body_of[b]));
}

static bool gets_wet(const tl_sph_step *s, int32_t number) { return s->sph->meets[number] & TL_SPH_MEETS_LIQUID; }

static void count_surface(tl_sph_step *s, scratch *w, int32_t i, const float x[3])
{
    int32_t number = s->moving.number[i];
    if (!is_free(s, number)) return;
    int32_t n = w->solid.count ? tl_sph_scan(&w->solid, x, w->found) : 0, touching = 0;
    for (int32_t k = 0; k < n; k++) touching += touches(s, number, w->solid.j[w->found[k]]);
    s->count_touch[number] = touching;
    s->count_wet[number] = w->liquid.count && gets_wet(s, number) ? tl_sph_scan_count(&w->liquid, x) : 0;
}

static void count_fluid(tl_sph_step *s, scratch *w, int32_t i, const float x[3])
{
    int32_t n = w->solid.count ? tl_sph_scan(&w->solid, x, w->found) : 0, bodies = 0, wet = 0;
    for (int32_t k = 0; k < n; k++) {
        int32_t j = w->solid.j[w->found[k]];
        wet += gets_wet(s, j);
        bodies += gets_wet(s, j) && is_free(s, j);
    }
    s->count_edge[i][0] = bodies;
    s->count_edge[i][1] = wet - bodies;
    s->start[i + 1] = tl_sph_scan_count(&w->liquid, x) - 1; /* without itself */
}

/* Near particles and contacts in order of numbers, chunks of them by body. */
static talus_status list_near(tl_sph_step *s, talus_error *err)
{
    const tl_sph *c = s->sph;
    tl_arena *a = s->arena;
    int32_t nears = 0, contacts = 0;
    for (int32_t k = 0; k < c->free_count; k++) {
        bool touches = s->count_touch[k] > 0;
        s->near_of[k] = touches || s->count_wet[k] > 0 ? nears++ : -1;
        contacts += touches;
    }
    s->nears = nears;
    s->contacts = contacts;
    s->near = TL_TAKE(a, tl_sph_near, tl_sph_roomy(nears));
    s->near_start = TL_TAKE(a, int64_t, tl_sph_roomy(nears + 1));
    s->contact = TL_TAKE(a, tl_sph_contact, tl_sph_roomy(contacts));
    s->touch_start = TL_TAKE(a, int64_t, tl_sph_roomy(contacts + 1));
    s->chunk = TL_TAKE(a, tl_sph_chunk, nears / TL_SPH_CHUNK + c->bodies + 1);
    if (!s->near || !s->near_start || !s->contact || !s->touch_start || !s->chunk) return no_memory(err);
    s->near_start[0] = s->touch_start[0] = 0;
    contacts = 0;
    for (int32_t k = 0; k < c->free_count; k++) {
        int32_t n = s->near_of[k], body = c->body_of[k];
        if (n < 0) continue;
        tl_vec3 arm = tl_vec3_sub(s->x[k], s->bodies.motion[body].x);
        s->near[n] = (tl_sph_near){.particle = k, .body = body, .contact = -1, .arm = arm};
        s->near_start[n + 1] = s->near_start[n] + s->count_wet[k];
        tl_sph_chunk *last = s->chunks ? &s->chunk[s->chunks - 1] : NULL;
        if (!last || last->body != body || last->end - last->begin == TL_SPH_CHUNK)
            s->chunk[s->chunks++] = (tl_sph_chunk){body, n, n + 1};
        else
            last->end = n + 1;
        if (!s->count_touch[k]) continue;
        s->near[n].contact = contacts;
        s->contact[contacts] = (tl_sph_contact){.near = n, .body = body};
        s->touch_start[contacts + 1] = s->touch_start[contacts] + s->count_touch[k];
        contacts++;
    }
    s->near_pair = TL_TAKE(a, tl_sph_pair, tl_sph_roomy(s->near_start[nears]));
    s->touch = TL_TAKE(a, tl_sph_touch, tl_sph_roomy(s->touch_start[contacts]));
    return s->near_pair && s->touch ? TALUS_OK : no_memory(err);
}

static talus_status list_fluid(tl_sph_step *s, talus_error *err)
{
    tl_arena *a = s->arena;
    int64_t solids = 0;
    s->start[0] = 0;
    for (int32_t i = 0; i < s->fluid; i++) {
        s->start[i + 1] += s->start[i];
        s->edges += s->count_edge[i][0] + s->count_edge[i][1] > 0;
        solids += s->count_edge[i][0] + s->count_edge[i][1];
    }
    if (s->start[s->fluid] + solids > (int64_t)CROWDED * s->fluid + 1000000)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%d fluid particles have %g neighbours each: they have collapsed",
                       s->fluid, (double)(s->start[s->fluid] + solids) / s->fluid);
    s->link = TL_TAKE(a, tl_sph_link, tl_sph_roomy(s->start[s->fluid] + TL_SPH_LINKS_BEYOND));
    s->neighbour = TL_TAKE(a, int32_t, tl_sph_roomy(s->start[s->fluid]));
    s->weight = TL_TAKE(a, float, tl_sph_roomy(s->start[s->fluid]));
    s->density = TL_TAKE(a, float, s->fluid);
    s->sum_g = tl_arena_take(a, sizeof *s->sum_g * (size_t)s->fluid);
    s->edge = TL_TAKE(a, int32_t, tl_sph_roomy(s->edges));
    s->edge_start = TL_TAKE(a, int64_t, tl_sph_roomy(2 * (int64_t)s->edges + 1));
    s->edge_pair = TL_TAKE(a, tl_sph_pair, tl_sph_roomy(solids));
    s->hold = TL_TAKE(a, tl_sph_hold, tl_sph_roomy(TL_SPH_HOLDS * (int64_t)s->edges));
    if (!s->link || !s->neighbour || !s->weight || !s->density || !s->sum_g || !s->edge || !s->edge_start ||
        !s->edge_pair || !s->hold)
        return no_memory(err);
    memset(s->link + s->start[s->fluid], 0, sizeof *s->link * TL_SPH_LINKS_BEYOND);
    int32_t e = 0;
    int64_t next = 0;
    for (int32_t i = 0; i < s->fluid; i++) {
        int32_t bodies = s->count_edge[i][0], others = s->count_edge[i][1];
        s->count_edge[i][0] = -1;
        if (!bodies && !others) continue;
        s->count_edge[i][0] = e; /* from here on: number of the edge */
        s->edge[e] = i;
        s->edge_start[2 * e] = next;
        s->edge_start[2 * e + 1] = next + bodies;
        next += bodies + others;
        e++;
    }
    s->edge_start[2 * e] = next;
    return TALUS_OK;
}

/* ---- filling ---- */

/* Rising candidate numbers; lists are short. */
static void sort_found(const tl_sph_candidates *c, int32_t n, int32_t *found)
{
    for (int32_t k = 1; k < n; k++) {
        int32_t f = found[k], at = k;
        for (; at > 0 && c->j[found[at - 1]] > c->j[f]; at--) found[at] = found[at - 1];
        found[at] = f;
    }
}

/* Part of a moment that turns a body about an axis that it may be turned about without moving its surface, world. */
static tl_vec3 idle_moment(const tl_sph_step *s, int32_t body, tl_vec3 moment)
{
    tl_collider_round round = s->sph->body[body].round;
    if (round == TL_NOT_ROUND) return (tl_vec3){0, 0, 0};
    if (round == TL_ROUND_BALL) return moment;
    tl_vec3 axis = tl_quat_rotate(s->bodies.motion[body].q, s->rigid->body[body].axis);
    return tl_vec3_scale(tl_vec3_dot(axis, moment), axis);
}

/* Moments of the pair's force on both bodies. Pressure does not turn a round body about its axis, nor does such
 * turning press: what is left out is a moment of the pair, so that it counts for nothing whether the one turns or
 * the other turns around it, and angular momentum is kept. Between two round bodies the little that is left (their
 * samples are not on the line of centres) acts on both. */
static void fill_moments(const tl_sph_step *s, int32_t own, tl_vec3 arm, tl_sph_touch *t)
{
    tl_vec3 turn = tl_vec3_cross(arm, t->g), back = tl_vec3_cross(t->arm, t->g);
    tl_vec3 idle = idle_moment(s, own, turn), other = idle_moment(s, t->body, back);
    tl_vec3 rest = tl_vec3_sub(idle, other);
    bool round[2] = {s->sph->body[own].round != TL_NOT_ROUND, s->sph->body[t->body].round != TL_NOT_ROUND};
    double share = !round[1] ? 0 : !round[0] ? 1 : s->bodies.inv_mass[t->body] > 0 ? 0.5 : 0;
    t->turn = tl_vec3_add_scaled(tl_vec3_sub(turn, idle), share, rest);
    t->back = tl_vec3_add_scaled(tl_vec3_sub(back, other), share - 1, rest);
}

static void fill_touch(const tl_sph_step *s, const tl_sph_near *n, int32_t number, tl_sph_touch *out)
{
    int32_t body = s->sph->body_of[number];
    tl_vec3 x = tl_sph_solid(s, number), d = tl_vec3_sub(s->x[n->particle], x);
    double r = tl_vec3_norm(d);
    int32_t other = is_free(s, number) ? s->near[s->near_of[number]].contact : -1;
    *out = (tl_sph_touch){.g = tl_vec3_scale(tl_sph_slope(s->sph->kernel, r), d),
                          .w = tl_sph_w(s->sph->kernel, r),
                          .arm = tl_vec3_sub(x, s->bodies.motion[body].x),
                          .body = body,
                          .other = other};
    fill_moments(s, n->body, n->arm, out);
}

/* The slope of body b's density at edge e; 1 where it has no law of its own. */
static float hold_of(const tl_sph_step *s, int32_t e, int32_t b)
{
    const tl_sph_hold *hold = s->hold + (int64_t)e * TL_SPH_HOLDS;
    for (int k = 0; k < TL_SPH_HOLDS && hold[k].body >= 0; k++)
        if (hold[k].body == b) return hold[k].slope;
    return 1;
}

/* Sums of W over the samples of each firm body that edge e sees, then what their square adds to its density. */
static double fill_holds(tl_sph_step *s, int32_t e, int32_t n, const tl_sph_pair *pair)
{
    const tl_sph *c = s->sph;
    tl_sph_hold *hold = s->hold + (int64_t)e * TL_SPH_HOLDS;
    double sum[TL_SPH_HOLDS] = {0}, more = 0;
    for (int k = 0; k < TL_SPH_HOLDS; k++) hold[k] = (tl_sph_hold){-1, 1};
    for (int32_t p = 0; p < n; p++) {
        int32_t b = c->body_of[pair[p].j];
        int k = 0;
        if (!c->body[b].firm) continue;
        while (k < TL_SPH_HOLDS && hold[k].body >= 0 && hold[k].body != b) k++;
        if (k == TL_SPH_HOLDS) continue;
        hold[k].body = b;
        double r = tl_vec3_norm(tl_vec3_sub(s->particle[s->edge[e]].x, tl_sph_solid(s, pair[p].j)));
        sum[k] += c->V0 * tl_sph_w(c->kernel, r);
    }
    for (int k = 0; k < TL_SPH_HOLDS && hold[k].body >= 0; k++) {
        hold[k].slope = (float)(2 * sum[k] / c->sheet);
        more += sum[k] * sum[k] / c->sheet - sum[k];
    }
    return more;
}

static void fill_edge(tl_sph_step *s, scratch *w, int32_t e, const float x[3], tl_sph_sums *all)
{
    tl_sph_pair *bodies = s->edge_pair + s->edge_start[2 * e], *others = s->edge_pair + s->edge_start[2 * e + 1];
    int32_t found = tl_sph_scan(&w->solid, x, w->found), n = 0, rest = 0;
    tl_sph_sums sums = {0};
    for (int32_t f = 0; f < found; f++) {
        int32_t k = w->found[f];
        if (!gets_wet(s, w->solid.j[k])) continue;
        if (is_free(s, w->solid.j[k]))
            w->second[n++] = k;
        else
            w->found[rest++] = k;
    }
    sort_found(&w->solid, n, w->second);
    tl_sph_scan_pairs(&w->solid, x, n, w->second, bodies, &sums);
    tl_sph_scan_pairs(&w->solid, x, rest, w->found, others, &sums);
    all->w += sums.w + fill_holds(s, e, n + rest, bodies);
    for (int32_t k = 0; k < n + rest; k++) {
        float slope = hold_of(s, e, s->sph->body_of[bodies[k].j]);
        for (int d = 0; d < 3; d++) {
            bodies[k].g[d] *= slope;
            all->g[d] += (double)bodies[k].g[d];
        }
    }
    for (int32_t k = 0; k < n; k++) bodies[k].j = s->near_of[bodies[k].j];
}

static void fill_surface(tl_sph_step *s, scratch *w, int32_t i, const float x[3])
{
    int32_t number = s->moving.number[i], k = is_free(s, number) ? s->near_of[number] : -1;
    if (k < 0) return;
    const tl_sph_near *n = &s->near[k];
    tl_sph_sums sums = {0};
    if (w->liquid.count && gets_wet(s, number)) {
        int32_t found = tl_sph_scan(&w->liquid, x, w->found);
        tl_sph_scan_pairs(&w->liquid, x, found, w->found, s->near_pair + s->near_start[k], &sums);
        for (int64_t t = s->near_start[k]; t < s->near_start[k + 1] && s->sph->body[n->body].firm; t++) {
            float slope = hold_of(s, s->count_edge[s->near_pair[t].j][0], n->body);
            for (int d = 0; d < 3; d++) s->near_pair[t].g[d] *= slope;
        }
    }
    if (n->contact < 0) return;
    tl_sph_touch *touch = s->touch + s->touch_start[n->contact];
    int32_t found = tl_sph_scan(&w->solid, x, w->found);
    sort_found(&w->solid, found, w->found);
    for (int32_t f = 0; f < found; f++) {
        int32_t other = w->solid.j[w->found[f]];
        if (touches(s, n->particle, other)) fill_touch(s, n, other, touch++);
    }
}

static void fill_fluid(tl_sph_step *s, scratch *w, int32_t i, const float x[3])
{
    tl_sph_sums sums = {0};
    float *self = &w->liquid.at[0][i + w->liquid_self], here = *self;
    *self = TL_SPH_FAR; /* not a neighbour of itself */
    int32_t found = tl_sph_scan(&w->liquid, x, w->found);
    *self = here;
    const tl_sph_links out = {s->link + s->start[i], s->neighbour + s->start[i], s->weight + s->start[i]};
    tl_sph_scan_links(&w->liquid, x, found, w->found, out, &sums);
    sums.w += 1 / TL_SPH_PI;
    double g2 = sums.g2;
    if (!s->one_mass) {
        g2 = 0;
        for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
            g2 += tl_vec3_norm2(tl_sph_link_g(s, k)) * (double)(s->inv_m[s->neighbour[k]] / s->inv_m[i]);
    }
    int32_t e = s->count_edge[i][0];
    if (e >= 0) fill_edge(s, w, e, x, &sums);
    s->density[i] = (float)sums.w;
    for (int d = 0; d < 3; d++) s->sum_g[i][d] = (float)sums.g[d];
    s->sum_g[i][3] = (float)g2;
}

talus_status tl_sph_neighbours(tl_sph_step *s, talus_error *err)
{
    tl_arena *a = s->arena;
    int32_t bodies = s->sph->free_count;
    s->start = TL_TAKE(a, int64_t, (int64_t)s->fluid + 1);
    s->count_edge = tl_arena_take(a, sizeof *s->count_edge * (size_t)s->fluid);
    s->count_touch = TL_TAKE(a, int32_t, bodies);
    s->count_wet = TL_TAKE(a, int32_t, bodies);
    s->near_of = TL_TAKE(a, int32_t, bodies);
    if (!s->start || !s->count_edge || !s->count_touch || !s->count_wet || !s->near_of) return no_memory(err);
    scratch *all;
    TL_TRY(list_cells(s, err));
    TL_TRY(scratch_take(s, &all, err));
    visit_all(s, &s->moving, all, count_surface);
    visit_all(s, &s->liquid, all, count_fluid);
    TL_TRY(list_near(s, err));
    TL_TRY(list_fluid(s, err));
    visit_all(s, &s->liquid, all, fill_fluid);
    visit_all(s, &s->moving, all, fill_surface);
    return TALUS_OK;
}
