/* `talus bench pressure`: liquid under walls that let go, multigrid beside the incomplete factor. One thread, cold
 * starts, processor seconds; "x multigrid" compares within the run. Beside them the same systems without bounds, by
 * conjugate gradients. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/parallel.h"
#include "base/timer.h"
#include "lab/bench/gen_pressure.h"
#include "lab/bench/table.h"
#include "solve/pressure/method.h"

#define TOLERANCE_DEFAULT 1e-8
#define REPEATS_DEFAULT 2
#define REPEATS_MAX 100
#define ITERATIONS_MAX 5000

static const int sizes_default[] = {64, 96, 128};

typedef struct job {
    const talus_bench_options *o;
    tl_table *t;
    tl_arena arena;
    double *x;
    double reference; /* seconds of multigrid on this problem; NAN when it was not asked for */
} job;

static bool wanted(const char *filter, const char *name) { return !filter || strstr(name, filter); }

static talus_status one_method(job *j, const tl_pressure_method *m, const char *name, int cells, const tl_pressure *p,
                               talus_error *err)
{
    tl_stop stop = {j->o->tolerance > 0 ? j->o->tolerance : TOLERANCE_DEFAULT, ITERATIONS_MAX, 0};
    tl_pressure_options o = tl_pressure_options_default();
    int repeats = j->o->repeats > 0 ? j->o->repeats : REPEATS_DEFAULT;
    repeats = repeats < REPEATS_MAX ? repeats : REPEATS_MAX;
    o.mic_below = 0; /* each method as itself */
    o.retry = false;
    double set_up[REPEATS_MAX], seconds[REPEATS_MAX];
    tl_pressure_report r;
    size_t bytes = 0;
    for (int k = 0; k < repeats; k++) {
        tl_arena_reset(&j->arena);
        tl_pressure_plan *plan;
        double began = tl_cpu_seconds();
        TL_TRY(tl_pressure_plan_make(&plan, m, p, &o, &j->arena, err));
        set_up[k] = tl_cpu_seconds() - began;
        began = tl_cpu_seconds();
        TL_TRY(tl_pressure_run(plan, p, &stop, j->x, &j->arena, NULL, &r, err));
        seconds[k] = tl_cpu_seconds() - began;
        bytes = tl_pressure_plan_bytes(plan);
    }
    double best = tl_timing_of(repeats, seconds).best;
    if (!strcmp(tl_pressure_method_name(m), "multigrid")) j->reference = best;
    tl_table_cell(j->t, "%s", name);
    tl_table_cell(j->t, "%d", cells);
    tl_table_cell(j->t, "%d", p->n);
    tl_table_cell(j->t, "%s", tl_pressure_method_name(m));
    tl_table_cell(j->t, "%s", tl_result_name(r.outcome.result));
    tl_table_cell(j->t, "%d", r.outcome.iterations);
    tl_table_cell(j->t, "%lld", (long long)r.work.products);
    tl_table_cell(j->t, "%.1f", r.nested_products);
    tl_table_cell(j->t, "%lld", (long long)r.work.factorizations);
    tl_table_cell(j->t, "%d", r.releases);
    tl_table_cell(j->t, "%.1e", r.certificate.optimality);
    tl_table_cell(j->t, "%.3f", tl_timing_of(repeats, set_up).best);
    tl_table_cell(j->t, "%.3f", best);
    if (isnan(j->reference))
        tl_table_cell(j->t, "-");
    else
        tl_table_cell(j->t, "%.2f", best / j->reference);
    tl_table_cell(j->t, "%.0f", (double)bytes / p->n);
    tl_table_send(j->t, TALUS_ROW_DATA);
    return TALUS_OK;
}

static talus_status one_problem(job *j, const char *name, tl_pressure_scene scene, int cells, double density,
                                talus_error *err)
{
    tl_pressure_case c;
    TL_TRY(tl_gen_pressure(&c, scene, cells, 0, density, err));
    j->x = TL_NEW_ZERO(double, c.p.n);
    talus_status status = j->x ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d cells", c.p.n);
    j->reference = NAN;
    int threads = tl_threads();
    tl_threads_set(1);
    for (int k = 0; k < tl_pressure_method_count() && status == TALUS_OK && !j->t->stopped; k++) {
        const tl_pressure_method *m = tl_pressure_method_at(k);
        bool solvable = tl_pressure_method_bounded(m) || scene != TL_SCENE_CAVITY; /* singular without bounds */
        if (wanted(j->o->method, tl_pressure_method_name(m)) && solvable)
            status = one_method(j, m, name, cells, &c.p, err);
    }
    tl_threads_set(threads);
    tl_free(j->x);
    tl_pressure_case_free(&c);
    return status;
}

static talus_status all_problems(job *j, int cells, talus_error *err)
{
    for (int s = 0; s < TL_SCENES; s++) {
        const char *name = tl_pressure_scene_name((tl_pressure_scene)s);
        if (wanted(j->o->problem, name)) TL_TRY(one_problem(j, name, (tl_pressure_scene)s, cells, 0, err));
    }
    if (wanted(j->o->problem, "tank-bodies")) TL_TRY(one_problem(j, "tank-bodies", TL_SCENE_TANK, cells, 1, err));
    return TALUS_OK;
}

static talus_status run(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const names[] = {
        "problem",  "edge",     "cells",       "method", "outcome", "iterations",  "products",   "nested",
        "rebuilds", "releases", "certificate", "set-up", "seconds", "x multigrid", "bytes/cell", NULL};
    job j = {.o = o, .t = t};
    int one[1] = {o->size}, count = (int)(sizeof sizes_default / sizeof *sizes_default);
    const int *sizes = o->size > 0 ? one : sizes_default;
    if (o->size > 0) count = 1;
    tl_table_line(t, TALUS_ROW_TITLE, "Pressure under walls that let go, target %g, one thread, cold start",
                  o->tolerance > 0 ? o->tolerance : TOLERANCE_DEFAULT);
    tl_table_header(t, names);
    talus_status status = TALUS_OK;
    for (int k = 0; k < count && status == TALUS_OK && !t->stopped; k++) status = all_problems(&j, sizes[k], err);
    tl_arena_free(&j.arena);
    tl_table_line(t, TALUS_ROW_NOTE,
                  "seconds: processor time, best of the repeats; nested: products of the start, in fine ones; "
                  "bytes/cell: the method's, the problem's own arrays take 84");
    return status;
}

const tl_bench tl_bench_pressure = {
    "pressure", "bounded pressure solves: multigrid and incomplete factors; size: cells per edge, 0 = 64, 96, 128",
    run};
