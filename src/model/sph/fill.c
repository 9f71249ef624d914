/* Fluid at t = 0: as many particles as the volume of a fill holds, wherever it is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "geom/surface.h"
#include "model/sph/sph.h"
#include "model/sph/thin.h"

#define MASS_CELLS 128 /* along the longest edge, for volumes that have no formula */
#define SAME 1e-9      /* relative: sizes that differ by less are equal */
#define ROUNDING 1e-6  /* relative: half a row more is none, whatever the place rounds it to */
#define TOP 0.25       /* spacings: from a partly filled layer to the surface of a box, at least */
#define JITTER 0.25    /* spacings, each way along each axis: no two come nearer than half a spacing */
#define KEEP_OFF 0.45  /* spacings: jitter brings none nearer to the surface, which may be a wall's */
#define DENSE 0.85     /* spacings of blue noise, which is then thinned to the right count; 0.7 where that is too few */
#define DENSER 0.7
#define BELOW 0.42     /* spacings that blue noise stays below the surface */
#define PHASES_SMALL 4 /* places of a lattice that are tried along each axis, */
#define SMALL 5000     /* up to so many particles; */
#define PHASES_LARGE 8 /* else along gravity, */
#define LARGE 300000   /* up to so many */

/* ---- one fill ---- */

typedef struct filler {
    const tl_scene *scene;
    int shape;
    double h;
    tl_box3 box;
    int64_t count;  /* wanted: volume / h^3 */
    int up;         /* axis nearest to gravity's */
    bool downwards; /* up is towards smaller coordinates */
    uint64_t seed;
    tl_points out;
} filler;

static double component(tl_vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }
static bool is_inside(const filler *f, tl_vec3 p) { return tl_shape_distance(f->scene->shapes, f->shape, p) <= 0; }

static talus_status too_many(int64_t count, talus_error *err)
{
    return TL_FAIL(err, TALUS_BAD_INPUT, "%lld fluid particles are too many", (long long)count);
}

static talus_status take_points(filler *f, int64_t room, talus_error *err)
{
    if (room > INT32_MAX / 8) return too_many(room, err);
    f->out = (tl_points){.at = TL_NEW(tl_vec3, room + 1)};
    return f->out.at ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for fluid");
}

typedef struct ranked {
    double up;
    uint64_t random;
    int32_t index;
} ranked;

static int compare(const void *a, const void *b)
{
    const ranked *p = a, *q = b;
    if (p->up != q->up) return p->up > q->up ? -1 : 1;
    return p->random < q->random ? -1 : p->random > q->random;
}

/* Takes the highest particles away until `count` are left; of equally high ones any. */
static talus_status take_excess(filler *f, talus_error *err)
{
    tl_points *p = &f->out;
    if (p->count <= f->count) return TALUS_OK;
    ranked *r = TL_NEW(ranked, p->count);
    bool *gone = TL_NEW_ZERO(bool, p->count);
    if (r && gone) {
        for (int32_t i = 0; i < p->count; i++) {
            double up = component(p->at[i], f->up);
            r[i] = (ranked){f->downwards ? -up : up, tl_random_bits(f->seed, (uint64_t)i, 7), i};
        }
        qsort(r, (size_t)p->count, sizeof *r, compare);
        for (int64_t i = 0; i < p->count - f->count; i++) gone[r[i].index] = true;
        int32_t left = 0;
        for (int32_t i = 0; i < p->count; i++)
            if (!gone[i]) p->at[left++] = p->at[i];
        p->count = left;
    }
    bool done = r && gone;
    tl_free(r);
    tl_free(gone);
    return done ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for fluid");
}

/* A box along the axes: whole rows across, and layers so far apart that each particle has h^3; the last layer holds
 * what is left. */
static talus_status fill_box(filler *f, talus_error *err)
{
    int up = f->up, u = (up + 1) % 3, v = (up + 2) % 3;
    double lo[3] = {f->box.lo.x, f->box.lo.y, f->box.lo.z}, size[3], apart[3];
    int64_t n[3];
    for (int k = 0; k < 3; k++) {
        size[k] = component(f->box.hi, k) - lo[k];
        n[k] = (int64_t)fmax(1, round(size[k] / f->h * (1 - ROUNDING)));
        apart[k] = size[k] / (double)n[k];
    }
    double layers = (double)f->count / (double)(n[u] * n[v]);
    n[up] = (int64_t)ceil(layers * (1 - SAME));
    apart[up] = size[up] / layers;
    if (n[0] > INT32_MAX || n[1] > INT32_MAX || n[2] > INT32_MAX) return too_many(f->count, err);
    TL_TRY(take_points(f, n[0] * n[1] * n[2], err));
    for (int64_t k = 0; k < n[up]; k++) {
        double high = ((double)k + 0.5) * apart[up];
        if (k + 1 == n[up] && (double)n[up] > layers * (1 + SAME)) high = fmin(high, size[up] - TOP * f->h);
        if (n[up] == 1) high = 0.5 * size[up];
        for (int64_t j = 0; j < n[v]; j++)
            for (int64_t i = 0; i < n[u]; i++) {
                double x[3];
                x[up] = f->downwards ? lo[up] + size[up] - high : lo[up] + high;
                x[u] = lo[u] + ((double)i + 0.5) * apart[u];
                x[v] = lo[v] + ((double)j + 0.5) * apart[v];
                f->out.at[f->out.count++] = tl_vec3_load(x);
            }
    }
    return take_excess(f, err);
}

/* Points of a lattice that are inside of the shape; its middle is `phase` spacings from that of the shape's box.
 * `out` NULL: only counts. */
static int64_t lattice_points(const filler *f, const double phase[3], tl_vec3 *out)
{
    int64_t lo[3], hi[3], count = 0;
    tl_vec3 middle = tl_vec3_scale(0.5, tl_vec3_add(f->box.lo, f->box.hi));
    double start[3];
    for (int k = 0; k < 3; k++) {
        start[k] = component(middle, k) + phase[k] * f->h;
        lo[k] = (int64_t)ceil((component(f->box.lo, k) - start[k]) / f->h);
        hi[k] = (int64_t)floor((component(f->box.hi, k) - start[k]) / f->h);
    }
    for (int64_t k = lo[2]; k <= hi[2]; k++)
        for (int64_t j = lo[1]; j <= hi[1]; j++)
            for (int64_t i = lo[0]; i <= hi[0]; i++) {
                tl_vec3 p = {start[0] + (double)i * f->h, start[1] + (double)j * f->h, start[2] + (double)k * f->h};
                if (!is_inside(f, p)) continue;
                if (out) out[count] = p;
                count++;
            }
    return count;
}

/* Of lattices at several places the one with the fewest particles that are enough, without the highest ones that are
 * too many. */
static talus_status fill_lattice(filler *f, talus_error *err)
{
    int tries[3] = {1, 1, 1};
    double best[3] = {0, 0, 0};
    int64_t max = -1;
    if (f->count <= SMALL)
        tries[0] = tries[1] = tries[2] = PHASES_SMALL;
    else if (f->count <= LARGE)
        tries[f->up] = PHASES_LARGE;
    for (int c = 0; c < tries[2]; c++)
        for (int b = 0; b < tries[1]; b++)
            for (int a = 0; a < tries[0]; a++) {
                double phase[3] = {(double)a / tries[0], (double)b / tries[1], (double)c / tries[2]};
                int64_t count = lattice_points(f, phase, NULL);
                bool better = max < f->count ? count > max : count >= f->count && count < max;
                if (better) memcpy(best, phase, sizeof best), max = count;
            }
    TL_TRY(take_points(f, max, err));
    f->out.count = (int32_t)lattice_points(f, best, f->out.at);
    return take_excess(f, err);
}

static void stir(filler *f)
{
    double off = KEEP_OFF * f->h;
    for (int32_t i = 0; i < f->out.count; i++) {
        tl_vec3 *p = &f->out.at[i], q = *p;
        uint64_t id = (uint64_t)i;
        q.x += JITTER * f->h * (2 * tl_random(f->seed, id, 0) - 1);
        q.y += JITTER * f->h * (2 * tl_random(f->seed, id, 1) - 1);
        q.z += JITTER * f->h * (2 * tl_random(f->seed, id, 2) - 1);
        double was = tl_shape_distance(f->scene->shapes, f->shape, *p);
        if (tl_shape_distance(f->scene->shapes, f->shape, q) <= fmax(was, -off)) *p = q;
    }
}

static talus_status fill_noise(filler *f, tl_arena *a, talus_error *err)
{
    static const double apart[] = {DENSE, DENSER};
    for (int k = 0; k < 2; k++)
        for (int below = 1; below >= 0; below--) {
            tl_points_free(&f->out);
            TL_TRY(tl_sample_volume(f->scene->shapes, f->shape, apart[k] * f->h, below * BELOW * f->h,
                                    TL_FILL_BLUE_NOISE, f->seed, &f->out, err));
            if (f->out.count >= f->count) return tl_sph_thin(&f->out, f->h, 0, (int32_t)f->count, a, err);
        }
    return TALUS_OK;
}

static talus_status prepare(filler *f, const tl_scene *s, int k, double h, talus_error *err)
{
    const double g[3] = {fabs(s->gravity.x), fabs(s->gravity.y), fabs(s->gravity.z)};
    tl_mass mass;
    *f = (filler){.scene = s, .shape = s->fills[k].shape, .h = h, .seed = (uint64_t)s->seed + (uint64_t)k};
    if (!tl_shape_bounded(s->shapes, f->shape))
        return TL_FAIL(err, TALUS_BAD_INPUT, "%.120s:%d: the shape of a fill must be bounded",
                       s->fills[k].where.file ? s->fills[k].where.file : "scene", s->fills[k].where.line);
    f->box = tl_shape_bounds(s->shapes, f->shape);
    f->up = g[0] > g[1] && g[0] >= g[2] ? 0 : g[2] > g[1] ? 2 : 1;
    f->downwards = component(s->gravity, f->up) > 0;
    TL_TRY(tl_shape_mass(s->shapes, f->shape, MASS_CELLS, &mass, err));
    double count = round(mass.volume / (h * h * h));
    if (!(count < INT32_MAX / 8)) return too_many((int64_t)fmin(count, 1e18), err);
    f->count = (int64_t)count;
    return TALUS_OK;
}

static bool is_box(const filler *f)
{
    tl_vec3 d = tl_vec3_sub(f->box.hi, f->box.lo);
    double bounds = d.x * d.y * d.z;
    tl_mass mass;
    return tl_shape_mass(f->scene->shapes, f->shape, MASS_CELLS, &mass, NULL) == TALUS_OK &&
           fabs(mass.volume - bounds) <= SAME * bounds;
}

static talus_status find_points(filler *f, const tl_scene *s, int k, double h, tl_arena *a, talus_error *err)
{
    TL_TRY(prepare(f, s, k, h, err));
    if (!f->count) return TALUS_OK;
    if (s->fills[k].sampling == TL_SCENE_BLUE_NOISE) return fill_noise(f, a, err);
    TL_TRY(is_box(f) ? fill_box(f, err) : fill_lattice(f, err));
    if (s->fills[k].sampling == TL_SCENE_JITTER) stir(f);
    return TALUS_OK;
}

static talus_status add_fill(tl_sph_state *out, const tl_sph *c, const tl_scene *s, int k, tl_arena *a,
                             talus_error *err)
{
    const tl_fill *f = &s->fills[k];
    if (f->spacing > 0 && f->spacing != c->h)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "%.120s:%d: spacing is %g m, but all particles of a scene are sph.spacing = %g m apart",
                       f->where.file ? f->where.file : "scene", f->where.line, f->spacing, c->h);
    filler fill = {0};
    talus_status status = find_points(&fill, s, k, c->h, a, err);
    const tl_points *p = &fill.out;
    int64_t want = out->count + p->count;
    if (status == TALUS_OK && want > INT32_MAX / 8) status = too_many(want, err);
    if (status == TALUS_OK) status = tl_sph_state_reserve(out, want, 0, err);
    for (int32_t i = 0; status == TALUS_OK && i < p->count; i++)
        out->particle[out->count + i] =
            (tl_sph_particle){.x = p->at[i], .v = f->velocity, .id = (int32_t)out->count + i, .material = f->material};
    if (status == TALUS_OK) out->count = want;
    tl_points_free(&fill.out);
    return status;
}

/* ---- all of them ---- */

static talus_status make_room(tl_sph_state *out, const tl_scene *s, talus_error *err)
{
    *out = (tl_sph_state){.counters = 1, .emitters = s->emitter_count};
    out->counter = TL_NEW_ZERO(tl_sph_counters, 1);
    out->emitter = TL_NEW_ZERO(tl_sph_emitter, s->emitter_count + 1);
    if (!out->counter || !out->emitter) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for fluid");
    return tl_sph_state_reserve(out, 0, 0, err);
}

talus_status tl_sph_state_empty(tl_sph_state *out, const tl_scene *s, talus_error *err)
{
    talus_status status = make_room(out, s, err);
    if (status != TALUS_OK) tl_sph_state_free(out);
    return status;
}

static talus_status begin(tl_sph_state *out, const tl_sph *c, const tl_scene *s, tl_arena *a, talus_error *err)
{
    TL_TRY(make_room(out, s, err));
    for (int k = 0; k < s->fill_count; k++) TL_TRY(add_fill(out, c, s, k, a, err));
    out->counter->next_id = out->count;
    return TALUS_OK;
}

talus_status tl_sph_state_begin(tl_sph_state *out, const tl_sph *c, const tl_scene *s, talus_error *err)
{
    tl_arena scratch = {0};
    talus_status status = begin(out, c, s, &scratch, err);
    tl_arena_free(&scratch);
    if (status != TALUS_OK) tl_sph_state_free(out);
    return status;
}
