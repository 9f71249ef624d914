#include "step_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "model/grid/particles.h"
#include "phase/grid/grid.h"
#include "scene/load.h"
#include "together.h"

#define TEXT_MAX 4000

/* The same scene in one part and in this one. */
typedef struct both {
    tl_scene *scene;
    tl_sim *one, *part;
    double dx;
    tl_particle *all; /* of all parts, by id */
    int64_t count;
} both;

static const char *open_both(const tl_comm *c, const char *text, both *b)
{
    char *all = TL_NEW(char, TEXT_MAX);
    *b = (both){0};
    int n = snprintf(all, TEXT_MAX,
                     "local water = liquid { density = 1000 }\nreturn scene { talus = 1, engine = 'grid', duration = "
                     "5, fps = 50, solver = { tolerance = 1e-10, pressure = 'multigrid-double' }, %s }\n",
                     text);
    tl_load_options o = {.no_files = true};
    GOOD(tl_scene_load_text(&b->scene, "case.lua", all, (size_t)n, &o, &err));
    tl_free(all);
    GOOD(tl_sim_create(&b->one, b->scene, NULL, &err));
    GOOD(tl_sim_create_part(&b->part, b->scene, c, NULL, &err));
    b->dx = b->scene->grid.cell;
    return NULL;
}

static void close_both(both *b)
{
    tl_sim_free(b->one);
    tl_sim_free(b->part);
    tl_scene_free(b->scene);
    tl_free(b->all);
}

static const tl_particles *particles_of(const tl_sim *sim) { return &tl_grid_state_of(&sim->state)->particles; }

static int by_id(const void *x, const void *y)
{
    const tl_particle *a = x, *b = y;
    return (a->id > b->id) - (a->id < b->id);
}

/* Particles of all parts, on all. */
static const char *gather(const tl_comm *c, both *b)
{
    int64_t bytes[TL_COMM_PARTS_MAX], total = 0;
    const tl_particles *p = particles_of(b->part);
    const int64_t own = p->count * (int64_t)sizeof *p->particle;
    tl_comm_share(c, sizeof own, &own, bytes);
    for (int32_t q = 0; q < c->parts; q++) total += bytes[q];
    tl_free(b->all);
    b->count = total / (int64_t)sizeof *p->particle;
    b->all = TL_NEW(tl_particle, b->count + 1);
    tl_comm_gather(c, bytes, p->particle, b->all);
    qsort(b->all, (size_t)b->count, sizeof *b->all, by_id);
    return NULL;
}

/* The same particles, places and velocities to `tol` cells (and as much per step). */
static const char *same_particles(const tl_comm *c, both *b, double tol)
{
    const tl_particles *p = particles_of(b->one);
    TRY(c, gather(c, b));
    if (b->count != p->count) SAY("%lld particles, not %lld", (long long)b->count, (long long)p->count);
    tl_particle *one = TL_NEW(tl_particle, p->count + 1);
    memcpy(one, p->particle, sizeof *one * (size_t)p->count);
    qsort(one, (size_t)p->count, sizeof *one, by_id);
    double off = 0;
    bool ids = true, volumes = true;
    for (int64_t i = 0; i < p->count; i++) {
        ids &= one[i].id == b->all[i].id && one[i].material == b->all[i].material;
        volumes &= one[i].volume == b->all[i].volume;
        off = fmax(off, tl_vec3_norm(tl_vec3_sub(one[i].x, b->all[i].x)) / b->dx);
    }
    tl_free(one);
    if (!ids || !volumes) SAY("particles have other %s", ids ? "volumes" : "numbers");
    if (!(off <= tol)) SAY("t = %.4g s: particles off by %.3g cells", b->part->state.t, off);
    return NULL;
}

/* Bodies and contacts have the same bits in all parts, and are those of one part to `tol` cells. */
static const char *same_bodies(const tl_comm *c, both *b, double tol)
{
    const tl_rigid_state *x = &b->one->state.rigid, *y = &b->part->state.rigid;
    uint64_t hash = tl_hash(TL_HASH_START, y->body, sizeof *y->body * (size_t)y->count), all[TL_COMM_PARTS_MAX];
    tl_comm_share(c, sizeof hash, &hash, all);
    for (int32_t p = 0; p < c->parts; p++)
        if (all[p] != hash) SAY("t = %.4g s: parts do not agree about bodies", b->part->state.t);
    double off = 0;
    for (int64_t i = 0; i < x->count; i++)
        off = fmax(off, tl_vec3_norm(tl_vec3_sub(x->body[i].x, y->body[i].x)) / b->dx);
    if (!(off <= tol)) SAY("t = %.4g s: bodies off by %.3g cells", b->part->state.t, off);
    return NULL;
}

static bool near(double a, double b, double tol) { return fabs(a - b) <= tol || a == b || (isnan(a) && isnan(b)); }

/* What a step tells. scale: J, N s of what is there. */
static const char *same_report(const both *b, double tol)
{
    const tl_report *x = &b->one->report, *y = &b->part->report;
    const double energy = fabs(x->kinetic) + fabs(x->potential) + 1e-9,
                 push = tl_vec3_norm(x->momentum) + 1e-9 * energy;
    if (x->particles != y->particles || x->escaped != y->escaped) return "counts of a report";
    if (!near(x->kinetic, y->kinetic, tol * energy) || !near(x->potential, y->potential, tol * energy))
        SAY("energies %.12g and %.12g, not %.12g and %.12g", y->kinetic, y->potential, x->kinetic, x->potential);
    if (!(tl_vec3_norm(tl_vec3_sub(x->momentum, y->momentum)) <= tol * push + tol * energy))
        return "momentum of a report";
    if (!near(x->volume_error, y->volume_error, tol)) SAY("volume error %g, not %g", y->volume_error, x->volume_error);
    for (int k = 0; k < x->solves; k++)
        if (strcmp(x->solve[k].outcome, y->solve[k].outcome))
            SAY("%s: %s by %s, not %s by %s", x->solve[k].name, y->solve[k].outcome, y->solve[k].method,
                x->solve[k].outcome, x->solve[k].method);
    return NULL;
}

/* How near both stay, in cells and in parts of energies. What particles do at a body's surface hangs by rounding where
 * they end up just on it. */
typedef struct nearness {
    int steps;        /* compared */
    double particles; /* cells */
    double bodies;
    double told;
    int more; /* steps: bodies the same in all parts, momentum kept */
} nearness;

static const char *run_both(const tl_comm *c, const char *text, nearness how)
{
    both b;
    TRY(c, open_both(c, text, &b));
    TRY(c, same_particles(c, &b, 0));
    for (int k = 0; k < how.steps + how.more; k++) {
        const double tol = k < how.steps ? how.bodies : INFINITY;
        GOOD(tl_sim_step(b.one, 0, INFINITY, &err));
        GOOD(tl_comm_agree(c, tl_sim_step(b.part, b.one->report.dt, INFINITY, &err), &err));
        if (b.one->state.t != b.part->state.t) SAY("a step of %.17g s, not %.17g", b.part->report.dt, b.one->report.dt);
        TRY(c, same_bodies(c, &b, tol));
        if (k < how.steps) TRY(c, same_report(&b, how.told));
        if (k + 1 == how.steps) TRY(c, same_particles(c, &b, how.particles));
    }
    close_both(&b);
    return NULL;
}

#define DAM                                                                                                            \
    "grid = { cells = {32, 24, 16}, cell = 1/24, cfl = 2 %s }, fill = { { material = water, shape = box { center = "   \
    "{0.25, 0.35, 0.33}, size = {0.5, 0.7, 0.66} } } }"

/* C13: rounding of sums alone. */
static const char *dam(const tl_comm *c)
{
    char text[1000];
    snprintf(text, sizeof text, DAM, ", correct_density = false");
    return run_both(c, text, (nearness){10, 1e-8, 0, 1e-8, 0});
}

/* Crowds of a frame are sums of floats, in the order of particles. */
static const char *crowds(const tl_comm *c)
{
    char text[1000];
    snprintf(text, sizeof text, DAM, "");
    return run_both(c, text, (nearness){10, 2e-6, 0, 1e-6, 0});
}

/* The column, and bodies in its way. */
#define BODIES                                                                                                         \
    "grid = { cells = {48, 24, 16}, cell = 1/24, cfl = 2 }, fill = { { material = water, shape = box { center = "      \
    "{0.35, 0.35, 0.33}, size = {0.7, 0.7, 0.66} } } }, bodies = { { name = 'crate', shape = box { size = 0.22 }, at " \
    "= "                                                                                                               \
    "{0.83, 0.11, 0.3}, density = 400, friction = 0.3 }, { name = 'ball', shape = sphere { radius = 0.1 }, at = "      \
    "{0.62, 0.78, 0.33}, density = 250, friction = 0.3 }, { name = 'post', kind = 'static', shape = box { size = "     \
    "{0.1, 0.5, 0.1} }, at = {1.4, 0.25, 0.3} } }"

static const char *bodies(const tl_comm *c) { return run_both(c, BODIES, (nearness){3, 0.5, 1e-6, 1e-3, 9}); }

#define SPACE                                                                                                          \
    "gravity = {0, 0, 0}, domain = { x_min = 'open', x_max = 'open', y_min = 'open', y_max = 'open', z_min = 'open', " \
    "z_max = 'open' }, grid = { cells = {32, 24, 24}, cell = 1/24, cfl = 2 }, fill = { { material = water, shape = "   \
    "sphere { center = {0.3, 0.5, 0.5}, radius = 0.2 }, velocity = {1, 0.2, 0} }, { material = water, shape = sphere " \
    "{ "                                                                                                               \
    "center = {1, 0.4, 0.3}, radius = 0.12 }, velocity = {-1, 0, 0.3} } }, bodies = { { name = 'ball', shape = "       \
    "sphere "                                                                                                          \
    "{ radius = 0.15 }, at = {0.68, 0.5, 0.5}, density = 500 } }"

/* Free space: drops, and a body that they hit. C12: momentum. */
static const char *drops(const tl_comm *c)
{
    both b;
    TRY(c, run_both(c, SPACE, (nearness){2, 1e-6, 1e-8, 1e-3, 0}));
    TRY(c, open_both(c, SPACE, &b));
    double worst = 0;
    tl_vec3 start = {0, 0, 0};
    for (int k = 0; k < 12; k++) {
        GOOD(tl_comm_agree(c, tl_sim_step(b.part, 0, INFINITY, &err), &err));
        const tl_vec3 p = b.part->report.momentum;
        if (k == 0) start = p;
        worst = fmax(worst, tl_vec3_norm(tl_vec3_sub(p, start)) / tl_vec3_norm(start));
        TRY(c, same_bodies(c, &b, INFINITY));
    }
    if (!(worst <= 1e-12)) SAY("momentum changes by %.3g of itself", worst);
    close_both(&b);
    return NULL;
}

/* C22: emitters, and walls that are open. */
static const char *tap(const tl_comm *c)
{
    return run_both(
        c,
        "domain = { x_max = 'open' }, grid = { cells = {24, 24, 16}, cell = 1/24, cfl = 2 }, fill = { { "
        "material = water, shape = box { center = {0.5, 0.1, 0.33}, size = {1, 0.2, 0.66} } } }, emitters = "
        "{ { material = water, shape = box { center = {0.5, 0.7, 0.33}, size = {0.2, 0.1, 0.2} }, velocity "
        "= {1, -1, 0}, rate = 0.05 } }",
        (nearness){15, 2e-6, 0, 1e-6, 0});
}

/* A column that runs along a trough, C21: what is cut anew stays even, and loses nothing. */
#define TROUGH                                                                                                         \
    "grid = { cells = {128, 64, 1}, cell = 1/64, cfl = 2, periodic = {false, false, true} }, fill = { { material = "   \
    "water, shape = box { center = "                                                                                   \
    "{0.375, 0.4, 0}, size = {0.75, 0.8, 1} } } }"
#define EVEN 1.2

static const tl_owners *owners_of(const tl_sim *sim) { return ((const tl_grid_data *)sim->engine_data)->owners; }

/* Every id once, in all parts together. */
static const char *same_ids(const tl_comm *c, both *b)
{
    TRY(c, gather(c, b));
    if (b->count != particles_of(b->one)->count) return "particles were lost";
    for (int64_t i = 0; i < b->count; i++)
        if (b->all[i].id != (int32_t)i) return "numbers of particles are not as they were";
    return NULL;
}

/* The cut that the run began with, by what is there now. */
static double first_imbalance(const tl_comm *c, const both *b, const int64_t *splitter)
{
    const tl_grid_data *data = b->part->engine_data;
    tl_owners then = *data->owners;
    tl_cube *cube = TL_NEW(tl_cube, particles_of(b->part)->count + 1);
    tl_arena a = {0};
    tl_cut cut = {0};
    then.splitter = (int64_t *)splitter;
    const int64_t n = tl_particles_cubes(&data->flow.frame, &b->scene->domain, particles_of(b->part), cube);
    (void)tl_owners_weigh(&then, n, cube, &a, &cut, NULL);
    tl_arena_free(&a);
    tl_free(cube);
    (void)c;
    return cut.imbalance;
}

/* The state of `from`, by way of a file's. */
static const char *copy_run(tl_sim *to, tl_sim *from, bool as_cut)
{
    int64_t cut[4096];
    tl_state whole;
    if (tl_cut_length(from->comm->parts) > 4096) return "too many parts";
    GOOD(tl_sim_collect(from, &whole, cut, &err));
    GOOD(tl_sim_deal(to, &whole, as_cut ? cut : NULL, &err));
    tl_state_free(&whole);
    return NULL;
}

static const char *trough(const tl_comm *c)
{
    enum { STEPS = 70, COPIED = 33 };
    both b, again;
    int64_t first[64];
    TRY(c, open_both(c, TROUGH, &b));
    TRY(c, open_both(c, TROUGH, &again));
    if (c->parts > 60) return "too many parts";
    memcpy(first, owners_of(b.part)->splitter, sizeof *first * (size_t)(c->parts + 1));
    for (int k = 0; k < STEPS; k++) {
        if (k == COPIED) TRY(c, copy_run(again.part, b.part, true));
        GOOD(tl_comm_agree(c, tl_sim_step(b.part, 0, INFINITY, &err), &err));
        if (k >= COPIED) GOOD(tl_comm_agree(c, tl_sim_step(again.part, 0, INFINITY, &err), &err));
        const double uneven = ((const tl_grid_data *)b.part->engine_data)->cut.imbalance;
        if (c->parts < 4 && !(uneven <= EVEN)) SAY("step %d: most over mean is %.3g", k, uneven);
    }
    const double then = first_imbalance(c, &b, first);
    if (c->parts > 1 && !(then > EVEN)) SAY("nothing to cut anew: most over mean is %.3g under the first cut", then);
    if (tl_sim_hash(b.part) != tl_sim_hash(again.part)) return "other bits after the state was saved and loaded";
    TRY(c, same_ids(c, &b));
    TRY(c, copy_run(again.part, b.part, false));
    TRY(c, same_ids(c, &again));
    GOOD(tl_comm_agree(c, tl_sim_step(again.part, 0, INFINITY, &err), &err));
    close_both(&again);
    close_both(&b);
    return NULL;
}

const tl_comm_case tl_step_cases[] = {
    {"a breaking dam, ten steps", dam},     {"... with crowds that part", crowds},
    {"... with bodies in its way", bodies}, {"drops and a body in free space", drops},
    {"a tap, and an open wall", tap},       {"a trough is cut anew, saved and loaded", trough},
};
const int tl_step_case_count = sizeof tl_step_cases / sizeof tl_step_cases[0];
