#include "model/grid/emit.h"

#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "geom/surface.h"
#include "model/grid/fill_volumes.h"
#include "model/grid/particles.h"
#include "model/grid/transfer.h"

#define SITES_MAX (1 << 28) /* of one emitter, before its shape is looked at */

static double get(tl_vec3 v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

double tl_spacing_of(const tl_scene *s, double asked) { return asked > 0 ? asked : 0.5 * s->grid.cell; }

double tl_particle_volume(const tl_grid_frame *f, double spacing)
{
    return f->flat_axis >= 0 ? spacing * spacing * f->dx : spacing * spacing * spacing;
}

/* Cubes of the lattice that a shape's box and the domain share; the 2D mode has one layer, as thick as the slab. */
typedef struct lattice {
    int64_t lo[3], n[3];
    double spacing;
    tl_vec3 origin;
    int flat_axis;
    double flat_at;
} lattice;

static lattice lattice_of(const tl_grid_frame *f, const tl_scene *s, int shape, double spacing)
{
    tl_box3 box = tl_shape_bounds(s->shapes, shape);
    lattice l = {.spacing = spacing, .origin = f->origin, .flat_axis = f->flat_axis};
    for (int k = 0; k < 3; k++) {
        double o = get(f->origin, k), end = o + f->count[k] * f->dx;
        double from = fmax(get(box.lo, k), o), to = fmin(get(box.hi, k), end);
        l.lo[k] = (int64_t)floor((from - o) / spacing + 1e-9);
        int64_t hi = (int64_t)ceil((to - o) / spacing - 1e-9);
        if (k == f->flat_axis) {
            l.flat_at = o + 0.5 * f->dx;
            l.lo[k] = 0;
            hi = from <= l.flat_at && l.flat_at <= to;
        }
        l.n[k] = hi > l.lo[k] ? hi - l.lo[k] : 0;
    }
    return l;
}

static void site_of(const lattice *l, int64_t i, int64_t at[3])
{
    at[2] = l->lo[2] + i % l->n[2];
    at[1] = l->lo[1] + i / l->n[2] % l->n[1];
    at[0] = l->lo[0] + i / l->n[2] / l->n[1];
}

/* A place in a cube of the lattice: its centre, or anywhere in it. The cube's coordinates decide, not its number. */
static tl_vec3 place_in(const lattice *l, const int64_t at[3], double jitter, uint64_t seed, uint64_t draw)
{
    double x[3];
    uint64_t id = tl_mix64((uint64_t)at[0]) ^ tl_mix64((uint64_t)at[1] + 0x51ed2701u) * 3 ^
                  tl_mix64((uint64_t)at[2] + 0xc2b2ae35u) * 5;
    for (int k = 0; k < 3; k++) {
        double t = jitter > 0 ? 0.5 + jitter * (tl_random(seed, id, 3 * draw + (uint64_t)k) - 0.5) : 0.5;
        x[k] = k == l->flat_axis ? l->flat_at : get(l->origin, k) + ((double)at[k] + t) * l->spacing;
    }
    return tl_vec3_load(x);
}

static bool in_domain(const tl_grid_frame *f, tl_vec3 x)
{
    for (int k = 0; k < 3; k++) {
        double s = tl_grid_scaled(f, get(x, k), k);
        if (!(s >= 0 && s < f->count[k])) return false;
    }
    return true;
}

/* ---- fills ---- */

/* Whether a place belongs to fill i: inside of it, and of no earlier one. */
static bool in_fill(const tl_scene *s, int i, tl_vec3 x)
{
    if (!(tl_shape_distance(s->shapes, s->fills[i].shape, x) < 0)) return false;
    for (int j = 0; j < i; j++)
        if (tl_shape_distance(s->shapes, s->fills[j].shape, x) < 0) return false;
    return true;
}

static talus_status add_particle(tl_particles *p, tl_vec3 x, tl_vec3 v, double volume, int material, talus_error *err)
{
    if (p->count >= INT32_MAX) return TL_FAIL(err, TALUS_BAD_INPUT, "more than 2^31 particles");
    if (p->count >= p->room) TL_TRY(tl_particles_reserve(p, p->count + p->count / 2 + 1024, err));
    p->particle[p->count] = (tl_particle){.x = x, .v = v, .volume = volume, .material = material};
    p->count++;
    return TALUS_OK;
}

static bool is_liquid(const tl_scene *s, int i)
{
    return s->materials[s->fills[i].material].kind == TL_MATERIAL_LIQUID;
}

/* Lattice and jitter, cube by cube. Liquids take every cube that may have a part of the fill; what it is, is found
 * with the bodies (settle_cube); whole rows outside of the shape are skipped by its distance. */
static talus_status fill_cubes(const tl_scene *s, const tl_grid_frame *f, int i, tl_particles *p, talus_error *err)
{
    const tl_fill *fill = &s->fills[i];
    double spacing = tl_spacing_of(s, fill->spacing), volume = tl_particle_volume(f, spacing);
    lattice l = lattice_of(f, s, fill->shape, spacing);
    int64_t total = l.n[0] * l.n[1] * l.n[2];
    bool liquid = is_liquid(s, i);
    double jitter = fill->sampling == TL_SCENE_LATTICE || liquid ? 0 : 1;
    for (int64_t c = 0; c < total; c++) {
        int64_t at[3];
        site_of(&l, c, at);
        tl_vec3 x = place_in(&l, at, jitter, (uint64_t)s->seed, 0);
        double d = tl_shape_distance(s->shapes, fill->shape, x);
        if (d > 2 * spacing) { /* jump along the row, by cubes that are outside for sure */
            int64_t jump = (int64_t)(d / spacing) - 2, left = l.lo[2] + l.n[2] - 1 - at[2];
            if (jump > 0) c += jump < left ? jump : left;
            continue;
        }
        if (liquid ? d < 0.867 * spacing && in_domain(f, x) : d < 0 && in_domain(f, x) && in_fill(s, i, x))
            TL_TRY(add_particle(p, x, fill->velocity, volume, fill->material, err));
    }
    return TALUS_OK;
}

/* Volume of a fill: cubes of the lattice, those at its surface in part. */
static double fill_volume(const tl_scene *s, const tl_grid_frame *f, int i, double spacing)
{
    lattice l = lattice_of(f, s, s->fills[i].shape, spacing);
    int64_t total = l.n[0] * l.n[1] * l.n[2];
    double sum = 0;
    for (int64_t c = 0; c < total; c++) {
        int64_t at[3];
        site_of(&l, c, at);
        tl_vec3 x = place_in(&l, at, 0, 0, 0);
        double d = tl_shape_distance(s->shapes, s->fills[i].shape, x);
        for (int j = 0; j < i; j++) d = fmax(d, -tl_shape_distance(s->shapes, s->fills[j].shape, x));
        sum += fmin(1, fmax(0, 0.5 - d / spacing));
    }
    return sum * tl_particle_volume(f, spacing);
}

/* Points by distance are not one per cube: they share the fill's volume. */
static talus_status fill_blue(const tl_scene *s, const tl_grid_frame *f, int i, tl_particles *p, talus_error *err)
{
    const tl_fill *fill = &s->fills[i];
    double spacing = tl_spacing_of(s, fill->spacing);
    tl_points points = {0};
    TL_TRY(tl_sample_volume(s->shapes, fill->shape, spacing, 0, TL_FILL_BLUE_NOISE, (uint64_t)s->seed + (uint64_t)i,
                            &points, err));
    talus_status status = TALUS_OK;
    int64_t first = p->count;
    for (int32_t k = 0; k < points.count && status == TALUS_OK; k++)
        if (in_domain(f, points.at[k]) && in_fill(s, i, points.at[k]))
            status = add_particle(p, points.at[k], fill->velocity, 0, fill->material, err);
    tl_points_free(&points);
    double share = fill_volume(s, f, i, spacing) / (double)(p->count > first ? p->count - first : 1);
    for (int64_t k = first; k < p->count; k++) p->particle[k].volume = share;
    return status;
}

/* Of a cube's edge: how far a liquid's particles are shaken apart in all, where the scene asks for `sampling =
 * "jitter"` (`"lattice"`: not at all). Neighbours stay 0.7 spacings apart, and volumes of particles can be found
 * that fill every cell as it should be (fill_volumes.h); shaken all over their cubes they cannot, and a pool starts
 * with waves of 6 to 60 mm/s. */
#define SHAKE 0.3
#define SMALLEST 0.2 /* part of a cube that still is a particle */
#define FINE 4       /* samples along an edge of a cube that something cuts */

static int fill_of(const tl_scene *s, const int64_t *first, int64_t id)
{
    int i = 0;
    while (i + 1 < s->fill_count && id >= first[i + 1]) i++;
    return i;
}

/* How far x is inside of fill i and outside of solids, m: the least of all. */
static double depth_in(const tl_scene *s, int i, const tl_solids *solids, int32_t block, tl_vec3 x)
{
    int32_t which;
    tl_vec3 n;
    double d =
        fmin(-tl_shape_distance(s->shapes, s->fills[i].shape, x), tl_solids_distance(solids, block, x, &which, &n));
    for (int j = 0; j < i; j++) d = fmin(d, tl_shape_distance(s->shapes, s->fills[j].shape, x));
    return d;
}

/* What fill i has of the cube around x: its part, and in x its centre of mass. */
static double part_of_cube(const tl_scene *s, const tl_grid_frame *f, int i, const tl_solids *solids, int32_t block,
                           double edge, tl_vec3 *x)
{
    double least = depth_in(s, i, solids, block, *x);
    if (least > 0.867 * edge) return 1;
    for (int k = 0; k < 8; k++) {
        double off[3];
        for (int m = 0; m < 3; m++) off[m] = m == f->flat_axis ? 0 : k >> m & 1 ? 0.5 * edge : -0.5 * edge;
        least = fmin(least, depth_in(s, i, solids, block, tl_vec3_add(*x, tl_vec3_load(off))));
    }
    if (least > -1e-9 * edge) return 1;
    double h = edge / FINE, sum = 0, all = 0, mean[3] = {0};
    for (int k = 0; k < FINE * FINE * FINE; k++) {
        const int at[3] = {k / (FINE * FINE), k / FINE % FINE, k % FINE};
        double off[3];
        if (f->flat_axis >= 0 && at[f->flat_axis]) continue;
        for (int m = 0; m < 3; m++) off[m] = m == f->flat_axis ? 0 : (at[m] + 0.5) * h - 0.5 * edge;
        double w = fmin(1, fmax(0, 0.5 + depth_in(s, i, solids, block, tl_vec3_add(*x, tl_vec3_load(off))) / h));
        all += 1;
        sum += w;
        for (int m = 0; m < 3; m++) mean[m] += w * off[m];
    }
    if (sum > 0) *x = tl_vec3_add_scaled(*x, 1 / sum, tl_vec3_load(mean));
    return sum / all;
}

/* A cube of a liquid becomes a particle with its volume, at its centre of mass, shaken if that is asked for. False:
 * there is too little of it. */
static bool settle_cube(const tl_scene *s, const tl_grid_frame *f, int i, const tl_solids *solids, int32_t block,
                        tl_particle *p)
{
    double spacing = tl_spacing_of(s, s->fills[i].spacing);
    tl_vec3 centre = p->x, x = centre;
    double part = part_of_cube(s, f, i, solids, block, spacing, &x);
    if (part < SMALLEST) return false;
    if (depth_in(s, i, solids, block, x) < 0) { /* of a cube around something round */
        if (depth_in(s, i, solids, block, centre) < 0) return false;
        x = centre;
    }
    p->x = x;
    p->volume *= part;
    if (s->fills[i].sampling != TL_SCENE_JITTER) return true;
    lattice l = {.spacing = spacing, .flat_axis = -1};
    int64_t at[3];
    double shift[3];
    for (int k = 0; k < 3; k++) at[k] = (int64_t)floor((get(centre, k) - get(f->origin, k)) / spacing);
    tl_vec3_store(tl_vec3_sub(place_in(&l, at, SHAKE, (uint64_t)s->seed, 0), place_in(&l, at, 0, 0, 0)), shift);
    if (f->flat_axis >= 0) shift[f->flat_axis] = 0;
    tl_vec3 y = tl_vec3_add(x, tl_vec3_load(shift));
    if (in_domain(f, y) && depth_in(s, i, solids, block, y) >= 0) p->x = y;
    return true;
}

/* Particles inside of bodies go, and those as near to a solid as none stays have their gap from the start; the rest
 * is numbered in the order of fills. first [fills]: of each fill. */
static talus_status cut_bodies(const tl_scene *s, const tl_grid_frame *f, const tl_fill_bodies *by,
                               const int64_t *first, tl_particles *p, tl_arena *a, talus_error *err)
{
    tl_particles sorted = {.room = p->count, .particle = TL_TAKE(a, tl_particle, p->count)};
    uint64_t *key = TL_TAKE(a, uint64_t, p->count);
    uint8_t *inside = TL_TAKE_ZERO(a, uint8_t, p->count);
    if (!sorted.particle || !key || !inside)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld particles", (long long)p->count);
    tl_grid g;
    tl_solids solids;
    tl_lost lost;
    for (int64_t i = 0; i < p->count; i++) p->particle[i].id = (int32_t)i;
    TL_TRY(tl_particles_sort(f, &s->domain, p, &sorted, key, &lost, a, err));
    TL_TRY(tl_grid_build(&g, f, sorted.count, key, a, err));
    TL_TRY(tl_solids_with_skins(&solids, &g, by->rigid, &s->domain, by->motion, by->skins, a, err));
#pragma omp parallel for schedule(dynamic) if (g.blocks > 1)
    for (int32_t b = 0; b < g.blocks; b++)
        for (int32_t i = g.first[b]; i < g.first[b + 1]; i++) {
            int32_t which;
            tl_vec3 n;
            int32_t id = sorted.particle[i].id;
            int i_fill = fill_of(s, first, id);
            bool cube = is_liquid(s, i_fill) && s->fills[i_fill].sampling != TL_SCENE_BLUE_NOISE;
            if (cube) {
                inside[id] = !settle_cube(s, f, i_fill, &solids, b, &p->particle[id]);
                continue;
            }
            double deepest = 0;
            inside[id] = tl_solids_distance(&solids, b, sorted.particle[i].x, &which, &n) < 0;
            if (!inside[id]) tl_particle_put_outside(&solids, b, TL_GAP_CELLS * f->dx, &p->particle[id], &deepest);
        }
    int64_t kept = 0;
    for (int64_t i = 0; i < p->count; i++) {
        if (inside[i]) continue;
        p->particle[kept] = p->particle[i];
        p->particle[kept].id = (int32_t)kept;
        kept++;
    }
    p->count = kept;
    return TALUS_OK;
}

/* Volumes of what is left; the order of particles stays. */
static talus_status fit_volumes(const tl_scene *s, const tl_grid_frame *f, const tl_fill_bodies *by, tl_particles *p,
                                tl_arena *a, talus_error *err)
{
    tl_particles sorted = {.room = p->count, .particle = TL_TAKE(a, tl_particle, p->count)};
    uint64_t *key = TL_TAKE(a, uint64_t, p->count);
    if (!sorted.particle || !key)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld particles", (long long)p->count);
    tl_grid g;
    tl_solids solids;
    tl_lost lost;
    TL_TRY(tl_particles_sort(f, &s->domain, p, &sorted, key, &lost, a, err));
    TL_TRY(tl_grid_build(&g, f, sorted.count, key, a, err));
    TL_TRY(tl_solids_with_skins(&solids, &g, by->rigid, &s->domain, by->motion, by->skins, a, err));
    TL_TRY(tl_fill_volumes(s, &g, &solids, &sorted, a, err));
    for (int64_t i = 0; i < sorted.count; i++) p->particle[sorted.particle[i].id].volume = sorted.particle[i].volume;
    return TALUS_OK;
}

static talus_status begin(tl_grid_state *out, const tl_scene *s, const tl_grid_frame *f, const tl_fill_bodies *bodies,
                          tl_arena *a, talus_error *err)
{
    out->emitters = s->emitter_count;
    out->emitter = TL_NEW_ZERO(tl_emitter_state, s->emitter_count + 1);
    out->totals = TL_NEW_ZERO(tl_grid_totals, 1);
    if (!out->emitter || !out->totals) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the state of the grid");
    out->totals_count = 1;
    TL_TRY(tl_particles_reserve(&out->particles, 1, err));
    int64_t *first = TL_TAKE(a, int64_t, s->fill_count);
    if (!first) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the state of the grid");
    for (int i = 0; i < s->fill_count; i++) {
        first[i] = out->particles.count;
        bool blue = s->fills[i].sampling == TL_SCENE_BLUE_NOISE && f->flat_axis < 0 &&
                    tl_shape_bounded(s->shapes, s->fills[i].shape);
        TL_TRY((blue ? fill_blue : fill_cubes)(s, f, i, &out->particles, err));
    }
    TL_TRY(cut_bodies(s, f, bodies, first, &out->particles, a, err));
    TL_TRY(fit_volumes(s, f, bodies, &out->particles, a, err));
    out->totals->next_id = (double)out->particles.count;
    for (int64_t i = 0; i < out->particles.count; i++) out->totals->initial_volume += out->particles.particle[i].volume;
    return TALUS_OK;
}

talus_status tl_grid_state_begin(tl_grid_state *out, const tl_scene *s, const tl_grid_frame *f,
                                 const tl_fill_bodies *bodies, talus_error *err)
{
    tl_arena a = {0};
    *out = (tl_grid_state){0};
    talus_status status = begin(out, s, f, bodies, &a, err);
    tl_arena_free(&a);
    if (status != TALUS_OK) tl_grid_state_free(out);
    return status;
}

/* ---- emitters ---- */

talus_status tl_emitters_read(const tl_scene *s, double t, tl_emission *out, talus_error *err)
{
    for (int i = 0; i < s->emitter_count; i++) {
        const tl_emitter *e = &s->emitters[i];
        double v[3], rate;
        TL_TRY(tl_scene_timed(s, &e->velocity, t, v, 3, err));
        TL_TRY(tl_scene_timed(s, &e->rate, t, &rate, 1, err));
        out[i] = (tl_emission){rate, tl_vec3_load(v), t >= e->start && t < e->stop};
    }
    return TALUS_OK;
}

/* Cubes of a lattice. */
typedef struct sites {
    int64_t count;
    int64_t *site;
} sites;

/* Cubes of emitter i without a particle, inside of its shape and outside of solids. */
static talus_status free_sites(const tl_emitting *e, int i, const lattice *l, const tl_particles *p, uint64_t draw,
                               tl_arena *a, sites *out, talus_error *err)
{
    const tl_scene *s = e->scene;
    int64_t total = l->n[0] * l->n[1] * l->n[2];
    if (total > SITES_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "emitters[%d]: %lld places for particles, at most %d", i + 1,
                       (long long)total, SITES_MAX);
    uint8_t *taken = TL_TAKE_ZERO(a, uint8_t, total);
    talus_status status = taken ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the places of an emitter");
    TL_TRY(tl_comm_agree(e->comm, status, err));
    for (int64_t k = 0; k < p->count; k++) {
        int64_t c = 0;
        bool in = true;
        for (int j = 0; j < 3 && in; j++) {
            double at = floor((get(p->particle[k].x, j) - get(l->origin, j)) / l->spacing);
            int64_t n = j == l->flat_axis ? 0 : (int64_t)fmax(-9e15, fmin(9e15, at)) - l->lo[j];
            in = n >= 0 && n < l->n[j];
            c = c * l->n[j] + n;
        }
        if (in) taken[c] = 1;
    }
    TL_TRY(tl_comm_any(e->comm, total, taken, a, err));
    int64_t n = 0;
    for (int64_t c = 0; c < total; c++) n += !taken[c];
    *out = (sites){0, TL_TAKE(a, int64_t, n)};
    if (!out->site) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the places of an emitter");
    for (int64_t c = 0; c < total; c++) {
        if (taken[c]) continue;
        int64_t at[3];
        int32_t which;
        tl_vec3 normal;
        site_of(l, c, at);
        tl_vec3 x = place_in(l, at, 1, (uint64_t)s->seed + (uint64_t)i, draw);
        if (!in_domain(e->frame, x) || !(tl_shape_distance(s->shapes, s->emitters[i].shape, x) < 0)) continue;
        if (tl_solids_distance(e->solids, INT32_MAX, x, &which, &normal) < 0) continue;
        out->site[out->count++] = c;
    }
    return TALUS_OK;
}

/* Room of an emitter's shape, as cubes inside of it: what it may owe at most. */
static double most_owed(const tl_scene *s, int i, const lattice *l, double volume)
{
    int64_t total = l->n[0] * l->n[1] * l->n[2], n = 0;
    for (int64_t c = 0; c < total && total <= SITES_MAX; c++) {
        int64_t at[3];
        site_of(l, c, at);
        n += tl_shape_distance(s->shapes, s->emitters[i].shape, place_in(l, at, 0, 0, 0)) < 0;
    }
    return (double)(n ? n : 1) * volume;
}

static talus_status emit_one(const tl_emitting *e, int i, tl_emitter_state *state, tl_particles *p, double *next_id,
                             tl_arena *a, talus_error *err)
{
    const tl_scene *s = e->scene;
    double spacing = tl_spacing_of(s, s->emitters[i].spacing), volume = tl_particle_volume(e->frame, spacing);
    int64_t wanted = (int64_t)floor(state->owed / volume * (1 + 1e-12));
    if (wanted <= 0) return TALUS_OK;
    lattice l = lattice_of(e->frame, s, s->emitters[i].shape, spacing);
    sites room = {0, NULL};
    uint64_t draw = (uint64_t)*next_id;
    TL_TRY(tl_comm_agree(e->comm, free_sites(e, i, &l, p, draw, a, &room, err), err));
    int64_t paid = wanted < room.count ? wanted : room.count;
    const bool ours = tl_comm_alone(e->comm) || e->comm->part == 0;
    TL_TRY(tl_comm_agree(e->comm, tl_particles_reserve(p, p->count + (ours ? paid : 0), err), err));
    for (int64_t k = 0; k < paid; k++) {
        /* a random one of those left */
        int64_t pick =
            k + (int64_t)(tl_random((uint64_t)s->seed + (uint64_t)i, (uint64_t)k, draw) * (double)(room.count - k));
        int64_t c = room.site[pick], at[3];
        room.site[pick] = room.site[k];
        site_of(&l, c, at);
        if (ours)
            p->particle[p->count++] = (tl_particle){.x = place_in(&l, at, 1, (uint64_t)s->seed + (uint64_t)i, draw),
                                                    .v = e->emission[i].velocity,
                                                    .volume = volume,
                                                    .id = (int32_t)*next_id,
                                                    .material = s->emitters[i].material};
        *next_id += 1;
    }
    state->owed -= (double)paid * volume;
    state->emitted += (double)paid * volume;
    double max = paid < wanted ? most_owed(s, i, &l, volume) : INFINITY;
    if (state->owed > max) {
        state->refused += state->owed - max;
        state->owed = max;
    }
    return TALUS_OK;
}

talus_status tl_particles_emit(const tl_emitting *e, const tl_emitter_state *now, tl_emitter_state *next,
                               tl_particles *p, double *next_id, tl_arena *a, talus_error *err)
{
    const tl_scene *s = e->scene;
    for (int i = 0; i < s->emitter_count; i++) {
        const tl_emission *flow = &e->emission[i];
        size_t mark = tl_arena_mark(a);
        next[i] = now[i];
        if (flow->open) {
            next[i].due += flow->rate * e->dt;
            next[i].owed += flow->rate * e->dt;
        }
        double volume = tl_particle_volume(e->frame, tl_spacing_of(s, s->emitters[i].spacing));
        if (*next_id + next[i].owed / volume > INT32_MAX)
            return TL_FAIL(err, TALUS_BAD_INPUT, "emitters[%d]: more than 2^31 particles", i + 1);
        TL_TRY(emit_one(e, i, &next[i], p, next_id, a, err));
        tl_arena_release(a, mark);
    }
    return TALUS_OK;
}
