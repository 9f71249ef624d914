/* Cost of the SPH engine's parts: a block of water, shaken, in a tank that it fills half, per fluid particle.
 *
 * Sizes are cubes of particles, so that the share of walls is the same. "iteration" is one of nncg with everything
 * that belongs to it: two sweeps over pairs, the projected step, the error, the vectors. */
#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/timer.h"
#include "lab/bench/table.h"
#include "model/sph/sph.h"
#include "scene/load.h"
#include "solve/fixedpoint/method.h"

#define REPEATS_DEFAULT 3
#define ITERATIONS 20
#define SPACING 0.02
#define SHAKE 0.15 /* of the spacing */

typedef struct tank {
    tl_scene *scene;
    tl_rigid rigid;
    tl_sph sph;
    tl_sph_state state;
    tl_motion *motion;
    double *zero;
    tl_mat3 *zeros;
    tl_arena arena;
} tank;

static void tank_free(tank *t)
{
    tl_arena_free(&t->arena);
    tl_sph_state_free(&t->state);
    tl_sph_free(&t->sph);
    tl_rigid_free(&t->rigid);
    tl_scene_free(t->scene);
    tl_free(t->motion);
    tl_free(t->zero);
    tl_free(t->zeros);
    *t = (tank){0};
}

/* edge: particles along an edge of the block. */
static talus_status tank_create(tank *t, int edge, talus_error *err)
{
    char text[600];
    double size = edge * SPACING;
    int n = snprintf(text, sizeof text,
                     "return scene { talus = 1, engine = 'sph', duration = 1, fps = 100, sph = { spacing = %g },"
                     " domain = { min = {0, 0, 0}, max = {%.17g, %.17g, %.17g} }, fill = { { material = preset 'water',"
                     " shape = box { size = %.17g, center = {%.17g, %.17g, %.17g} } } } }",
                     SPACING, size, 2 * size, size, size, size / 2, size / 2, size / 2);
    tl_load_options o = {.no_files = true};
    TL_TRY(tl_scene_load_text(&t->scene, "tank.lua", text, (size_t)n, &o, err));
    TL_TRY(tl_rigid_create(&t->rigid, t->scene, err));
    TL_TRY(tl_sph_create(&t->sph, t->scene, &t->rigid, NULL, err));
    TL_TRY(tl_sph_state_begin(&t->state, &t->sph, t->scene, err));
    t->motion = TL_NEW_ZERO(tl_motion, t->rigid.count + 1);
    t->zero = TL_NEW_ZERO(double, t->rigid.count + 1);
    t->zeros = TL_NEW_ZERO(tl_mat3, t->rigid.count + 1);
    if (!t->motion || !t->zero || !t->zeros) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a tank");
    for (int32_t i = 0; i < t->rigid.count; i++) t->motion[i].q = tl_quat_identity();
    for (int64_t i = 0; i < t->state.count; i++) {
        double d[3];
        for (uint64_t k = 0; k < 3; k++) d[k] = SHAKE * SPACING * (2 * tl_random(1, (uint64_t)i, k) - 1);
        t->state.particle[i].x = tl_vec3_add(t->state.particle[i].x, tl_vec3_load(d));
        t->state.particle[i].v = (tl_vec3){0, -0.01, 0};
    }
    return TALUS_OK;
}

typedef struct costs {
    double sort, search, system, iteration, evaluate, finish; /* s, best of all */
    double neighbours;
    double bytes; /* per particle, state included */
} costs;

/* One thread is measured in its own CPU seconds, so that others on the machine do not count; several by the clock. */
static double now(void)
{
    struct timespec t;
    if (tl_threads() > 1) return tl_seconds();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void keep_least(double *best, double seconds)
{
    if (*best == 0 || seconds < *best) *best = seconds;
}

static talus_status measure(tank *t, costs *c, talus_error *err)
{
    tl_arena *a = &t->arena;
    tl_sph_bodies bodies = {&t->rigid, t->motion, t->zero, t->zeros, t->zero};
    tl_sph_step s;
    tl_fixedpoint problem;
    tl_arena_reset(a);
    double t0 = now();
    TL_TRY(tl_sph_begin(&s, &t->sph, t->scene, &t->state, &bodies, 1e-3, a, err));
    double t1 = now();
    TL_TRY(tl_sph_neighbours(&s, err));
    double t2 = now();
    TL_TRY(tl_sph_contacts(&s, err));
    TL_TRY(tl_sph_system(&s, err));
    double t3 = now();
    TL_TRY(tl_sph_problem(&s, &problem, err));
    double *x = TL_TAKE_ZERO(a, double, s.space.n);
    if (!x) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for pressures");
    for (int i = 0; i < s.fluid; i++) x[i] = 100;
    tl_stop stop = {.tolerance = 0, .max_iterations = ITERATIONS};
    const tl_options options = tl_options_default();
    tl_fixedpoint_report report;
    double began = now();
    TL_TRY(tl_fixedpoint_solve(tl_fixedpoint_method_find("nncg"), &problem, &options, &stop, x, a, &report, err));
    if (report.work.products < 1) return TL_FAIL(err, TALUS_BAD_INPUT, "nncg made no step");
    double t4 = now();
    double *r = TL_TAKE(a, double, s.space.n);
    if (!r) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for errors");
    problem.evaluate(problem.ctx, x, r);
    double t5 = now();
    tl_sph_finish(&s, x);
    double t6 = now();
    keep_least(&c->sort, t1 - t0);
    keep_least(&c->search, t2 - t1);
    keep_least(&c->system, t3 - t2);
    keep_least(&c->iteration, (t4 - began) / (double)(report.work.products + 1) /* and the certificate */);
    keep_least(&c->evaluate, t5 - t4);
    keep_least(&c->finish, t6 - t5);
    int64_t edges = s.edge_start[2 * (int64_t)s.edges];
    c->neighbours = (double)(s.start[s.fluid] + edges) / s.fluid;
    c->bytes = ((double)a->high_water + (double)sizeof(tl_sph_particle) * (double)t->state.room) / s.fluid;
    return TALUS_OK;
}

static talus_status bench_tank(tl_table *table, int edge, int repeats, talus_error *err)
{
    tank t = {0};
    int max = tl_threads();
    talus_status status = tank_create(&t, edge, err);
    double one = 0;
    for (int threads = 1; threads <= max && status == TALUS_OK; threads = threads < max ? max : max + 1) {
        costs c = {0};
        tl_threads_set(threads);
        for (int k = 0; k <= repeats && status == TALUS_OK; k++) status = measure(&t, &c, err);
        if (status != TALUS_OK) break;
        double n = 1e-9 * (double)t.state.count;
        if (threads == 1) one = c.iteration;
        tl_table_cell(table, "%lld", (long long)t.state.count);
        tl_table_cell(table, "%d", threads);
        tl_table_cell(table, "%.1f", c.neighbours);
        tl_table_cell(table, "%.0f", c.sort / n);
        tl_table_cell(table, "%.0f", c.search / n);
        tl_table_cell(table, "%.0f", c.system / n);
        tl_table_cell(table, "%.1f", c.iteration / n);
        tl_table_cell(table, "%.1f", c.evaluate / n);
        tl_table_cell(table, "%.0f", c.finish / n);
        tl_table_cell(table, "%.0f %%",
                      100 * (c.sort + c.search) / (c.sort + c.search + c.system + c.finish + ITERATIONS * c.iteration));
        tl_table_cell(table, "%.2f", one / c.iteration);
        tl_table_cell(table, "%.0f", c.bytes);
        tl_table_send(table, TALUS_ROW_DATA);
    }
    tl_threads_set(max);
    tank_free(&t);
    return status;
}

static talus_status run(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const names[] = {"particles", "threads",   "neighbours", "sort",   "search",
                                        "system",    "iteration", "evaluate",   "finish", "search share",
                                        "speed-up",  "bytes",     NULL};
    static const int edges[] = {37, 58, 74, 117};
    int repeats = o->repeats ? o->repeats : REPEATS_DEFAULT;
    if (o->size > 250)
        return TL_FAIL(err, TALUS_BAD_INPUT, "sph-kernels: size %d particles per edge, allowed up to 250", o->size);
    tl_table_line(t, TALUS_ROW_TITLE,
                  "SPH kernels, ns and bytes per fluid particle, best of %d; share of a step of %d iterations", repeats,
                  ITERATIONS);
    tl_table_header(t, names);
    for (int k = 0; k < (o->size ? 1 : 4) && !t->stopped; k++)
        TL_TRY(bench_tank(t, o->size ? o->size : edges[k], repeats, err));
    return TALUS_OK;
}

const tl_bench tl_bench_sph_kernels = {"sph-kernels",
                                       "neighbour search, system and iterations of the sph engine, per particle", run};
