/* The local-global engine: time per frame by phase, memory of the inverse factor and convergence, beside the numbers
 * of [Zeng2025], whose machine has an RTX 4090 and 24 cores for the local step. Steps of 10 ms, 5 rounds. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/timer.h"
#include "lab/bench/lg.h"
#include "lab/world.h"
#include "model/lg/solver.h"

#define DT TL_BENCH_LG_DT
#define FRAMES 10 /* before and in each measurement */
#define TEXT_MAX 4000

typedef struct lg_case {
    const char *name;
    int x, y, z; /* cells */
    const char *model;
    const char *bending; /* NULL: a bar */
    double paper_ms;     /* per frame, 0: not in the paper */
    double limit_ms;     /* ours on two cores */
    double paper_S;      /* MiB, 0: not in the paper */
    double young;        /* of bars, Pa; 0: 1e9 */
} lg_case;

static const lg_case cases[] = {
    {"twisting bar 5.3k", 26, 13, 13, "arap", NULL, 6.23, 17, 125.02, 0},
    {"twisting bar 11.3k", 34, 17, 17, "arap", NULL, 13.55, 45, 463.03, 0},
    {"twisting bar 20.8k", 42, 21, 21, "arap", NULL, 28.55, 95, 1310.19, 0},
    {"twisting bar 5.3k", 26, 13, 13, "corotated", NULL, 0, 0, 0, 0},
    {"twisting bar 5.3k", 26, 13, 13, "neo_hookean", NULL, 0, 0, 0, 0},
    {"cloth 10.2k", 71, 1, 71, "arap", "none", 4.44, 0, 0, 0},
    {"cloth 10.2k", 71, 1, 71, "corotated", "none", 6.43, 0, 0, 0},
    {"cloth 10.2k", 71, 1, 71, "neo_hookean", "none", 6.65, 25, 0, 0},
    {"cloth 20.2k", 100, 1, 100, "arap", "none", 7.53, 0, 0, 0},
    {"cloth 20.2k", 100, 1, 100, "corotated", "none", 12.11, 0, 0, 0},
    {"cloth 20.2k", 100, 1, 100, "neo_hookean", "none", 12.88, 0, 0, 0},
};

/* Table 1. */
static const lg_case sheets[] = {
    {"cloth 5.1k", 50, 1, 50, "neo_hookean", "none", 0, 0, 34.80, 0},
    {"cloth 10.2k", 71, 1, 71, "neo_hookean", "none", 0, 0, 102.51, 0},
    {"cloth 15.3k", 87, 1, 87, "neo_hookean", "none", 0, 0, 183.79, 0},
    {"cloth 20.2k", 100, 1, 100, "neo_hookean", "none", 0, 0, 280.41, 0},
    {"cloth 5.1k", 50, 1, 50, "neo_hookean", "hinge", 0, 0, 62.37, 0},
    {"cloth 10.2k", 71, 1, 71, "neo_hookean", "hinge", 0, 0, 183.82, 0},
    {"cloth 15.3k", 87, 1, 87, "neo_hookean", "hinge", 0, 0, 342.68, 0},
    {"cloth 20.2k", 100, 1, 100, "neo_hookean", "hinge", 0, 0, 523.36, 0},
    {"cloth 5.1k", 50, 1, 50, "neo_hookean", "ring", 0, 0, 87.08, 0},
    {"cloth 10.2k", 71, 1, 71, "neo_hookean", "ring", 0, 0, 258.85, 0},
    {"cloth 15.3k", 87, 1, 87, "neo_hookean", "ring", 0, 0, 487.14, 0},
    {"cloth 20.2k", 100, 1, 100, "neo_hookean", "ring", 0, 0, 749.10, 0},
};

/* Ends of a bar turn by +-1 rad/s, those of a cloth move apart by 0.1 m/s. */
static void text_of(const lg_case *c, const char *lg, char *text, size_t room)
{
    const double young = c->young > 0 ? c->young : 1e9;
    if (!c->bending)
        snprintf(text, room,
                 "local m = elastic { density = 1000, young = %g, poisson = 0.45, model = '%s' }\n"
                 "local function turn(w, x) return { body = 'bar', shape = box { size = {0.001, 9, 9}, center = {x, 0, "
                 "0} }, at = {x, 0, "
                 "0}, weight = 20 * %g / 2.9 * 0.05,\n"
                 "  motion = function(t) return { rotation_rad = {w * t, 0, 0} } end } end\n"
                 "return scene { talus = 1, engine = 'lg', duration = 9, fps = 100, gravity = {0, 0, 0}, lg = { time = "
                 "'euler', mixing = 'none', %s }, "
                 "bodies = { { name = "
                 "'bar', shape = box { size = {%g, %g, %g} }, cells = {%d, %d, %d}, element = 'tetrahedra', material = "
                 "m } }, handles = { "
                 "turn(1, %g), turn(-1, "
                 "%g) } }",
                 young, c->model, young, lg, c->x * 0.05, c->y * 0.05, c->z * 0.05, c->x, c->y, c->z, -c->x * 0.025,
                 c->x * 0.025);
    else
        snprintf(text, room,
                 "local m = elastic { density = 1000, young = 1e5, poisson = 0.45, model = '%s' }\n"
                 "local function pull(v, x) return { body = 'cloth', shape = box { size = {0.001, 9, 9}, center = {x, "
                 "0, 0} }, at = {x, 0, 0},\n"
                 "  motion = function(t) return { at = {x + v * t, 0, 0} } end } end\n"
                 "return scene { talus = 1, engine = 'lg', duration = 9, fps = 100, lg = { time = 'euler', mixing = "
                 "'none', %s }, bodies = { { name = "
                 "'cloth', shape = box { size = "
                 "{1, 0.001, 1} }, thickness = 0.001, bending = '%s', cells = {%d, 1, %d}, material = m } }, handles = "
                 "{ pull(-0.1, -0.5), "
                 "pull(0.1, 0.5) } }",
                 c->model, lg, c->bending, c->x, c->z);
}

static talus_status open_case(const lg_case *c, const char *lg, tl_world *w, talus_error *err)
{
    char text[TEXT_MAX];
    text_of(c, lg, text, sizeof text);
    return tl_world_text(w, text, NULL, err);
}

#define PHASES 5
static const char *const phases[PHASES] = {"predict", "project", "balance", "solve global", "measure"};

typedef struct measured {
    double wall, cpu;     /* of a frame, best, s */
    double phase[PHASES]; /* of the best frame */
} measured;

static talus_status measure(tl_sim *sim, int frames, measured *best, talus_error *err)
{
    *best = (measured){INFINITY, INFINITY, {0}};
    for (int k = 0; k < FRAMES + frames; k++) {
        double wall = tl_seconds(), cpu = tl_cpu_seconds();
        TL_TRY(tl_sim_step(sim, DT, INFINITY, err));
        wall = tl_seconds() - wall;
        cpu = tl_cpu_seconds() - cpu;
        if (k < FRAMES) continue;
        best->cpu = fmin(best->cpu, cpu);
        if (wall >= best->wall) continue;
        best->wall = wall;
        for (int k2 = 0; k2 < sim->report.phases; k2++)
            for (int p = 0; p < PHASES; p++)
                if (!strcmp(sim->report.phase[k2].name, phases[p])) best->phase[p] = sim->report.phase[k2].seconds;
    }
    return TALUS_OK;
}

static talus_status time_case(const talus_bench_options *o, const lg_case *c, tl_table *t, talus_error *err)
{
    tl_world w;
    measured m;
    TL_TRY(open_case(c, "iterations = 5", &w, err));
    talus_status status = measure(w.sim, o->repeats > 0 ? o->repeats : 30, &m, err);
    if (status == TALUS_OK) {
        tl_table_cell(t, "%s", c->name);
        tl_table_cell(t, "%s%s%s", c->model, c->bending ? ", bending " : "", c->bending ? c->bending : "");
        tl_table_cell(t, "%d", w.sim->lg.nodes);
        tl_table_cell(t, "%.2f", 1e3 * m.wall);
        tl_table_cell(t, "%.2f", 1e3 * m.cpu);
        for (int p = 0; p < PHASES; p++) tl_table_cell(t, "%.2f", 1e3 * m.phase[p]);
        tl_table_cell(t, "%.2f", DT / m.wall);
        tl_table_cell(t, c->paper_ms > 0 ? "%.2f" : "-", c->paper_ms);
        tl_table_cell(t, "%s", c->limit_ms <= 0 ? "-" : 1e3 * m.cpu / tl_threads() <= c->limit_ms ? "held" : "missed");
        tl_table_send(t, TALUS_ROW_DATA);
    }
    tl_world_close(&w);
    return status;
}

/* ---- memory of the inverse factor ---- */

talus_status tl_bench_lg_size(const char *name, const char *bending, tl_sim *sim, double paper, tl_table *t,
                              talus_error *err)
{
    tl_lg_solver *s = NULL;
    talus_status status = tl_lg_solver_create(&s, &sim->lg, TL_LG_INVERSE, TL_LG_FLOAT | TL_LG_DOUBLE, err);
    double begin = tl_cpu_seconds();
    if (status == TALUS_OK) status = tl_lg_solver_update(s, DT, err);
    if (status == TALUS_OK) {
        tl_lg_solver_info about = tl_lg_solver_about(s);
        double values = (double)about.stored_S / 1048576, indices = (double)about.bytes / 1048576 - 12 * values,
               n = 3.0 * sim->lg.nodes;
        tl_table_cell(t, "%s", name);
        tl_table_cell(t, "%s", bending);
        tl_table_cell(t, "%d", sim->lg.nodes);
        tl_table_cell(t, "%.3f", 1e-6 * (double)about.nonzeros_L);
        tl_table_cell(t, "%.3f", 1e-6 * (double)about.nonzeros_S);
        tl_table_cell(t, "%.2f", 8 * values + indices);
        tl_table_cell(t, "%.2f", 4 * values + indices);
        tl_table_cell(t, "%.2f", paper);
        tl_table_cell(t, "%.1f", 8 * n * (n + 1) / 2 / 1048576);
        tl_table_cell(t, "%.2f", tl_cpu_seconds() - begin);
        tl_table_send(t, TALUS_ROW_DATA);
    }
    tl_lg_solver_free(s);
    return status;
}

static talus_status size_case(const lg_case *c, tl_table *t, talus_error *err)
{
    tl_world w;
    TL_TRY(open_case(c, "iterations = 5", &w, err));
    talus_status status = tl_bench_lg_size(c->name, c->bending ? c->bending : "-", w.sim, c->paper_S, t, err);
    tl_world_close(&w);
    return status;
}

/* ---- convergence ---- */

static talus_status energy_after(tl_world *w, const tl_state *start, int rounds, double *energy, talus_error *err)
{
    w->scene->lg.iterations = rounds;
    TL_TRY(tl_state_copy(&w->sim->state, start, err));
    TL_TRY(tl_world_steps(w, 1, DT, err));
    *energy = tl_bench_lg_energy(w->sim, start, tl_lg_state_of(&w->sim->state)->q, w->sim->report.elastic);
    return TALUS_OK;
}

#define LEAST_ROUNDS 3000
#define POINTS 7
static const int rounds[POINTS] = {1, 2, 5, 10, 20, 50, 100};

/* One line: error of the step energy after so many rounds, of that at the start. All begin with the state after 20
 * frames of the same bar; `least` is found by the first line. Without settings: Newton's method. */
static talus_status curve(const lg_case *c, const char *name, const char *lg, double *least, tl_table *t,
                          talus_error *err)
{
    tl_world w;
    tl_state start = {0};
    double first = 0, energy[POINTS] = {0}, seconds = NAN;
    TL_TRY(open_case(c, "iterations = 20, precision = 'double'", &w, err));
    talus_status status = tl_world_steps(&w, 20, DT, err);
    if (status == TALUS_OK) status = tl_state_copy(&start, &w.sim->state, err);
    if (status == TALUS_OK && !isfinite(*least)) status = energy_after(&w, &start, LEAST_ROUNDS, least, err);
    tl_world_close(&w);
    if (status == TALUS_OK) status = open_case(c, lg, &w, err);
    if (status != TALUS_OK) {
        tl_state_free(&start);
        return status;
    }
    tl_table_cell(t, "%s", name);
    tl_table_cell(t, "%s", c->model);
    tl_table_cell(t, "%.0e", c->young > 0 ? c->young : 1e9);
    status = energy_after(&w, &start, 0, &first, err);
    for (int k = 0; k < POINTS && status == TALUS_OK && lg[0]; k++) {
        const double began = tl_cpu_seconds();
        status = energy_after(&w, &start, rounds[k], &energy[k], err);
        if (rounds[k] == 10) seconds = (tl_cpu_seconds() - began) / rounds[k]; /* more may end early */
    }
    if (!lg[0] && status == TALUS_OK) status = tl_bench_lg_newton(w.sim, &start, POINTS, rounds, energy, err);
    for (int k = 0; k < POINTS && status == TALUS_OK; k++)
        tl_table_cell(t, "%.1e", (energy[k] - *least) / (first - *least));
    if (status == TALUS_OK && lg[0]) tl_table_cell(t, "%.2f", 1e3 * seconds);
    if (status == TALUS_OK && !lg[0]) tl_table_cell(t, "-");
    if (status == TALUS_OK) tl_table_send(t, TALUS_ROW_DATA);
    tl_state_free(&start);
    tl_world_close(&w);
    return status;
}

static talus_status run_curves(tl_table *t, talus_error *err)
{
    static const char *const models[] = {"arap", "neo_hookean"};
    static const double youngs[] = {1e9, 1e7, 1e5};
    static const char *const header[] = {"global step", "material",         "E, Pa", "1", "2", "5", "10", "20", "50",
                                         "100",         "cpu ms per round", NULL};
    tl_table_line(t, TALUS_ROW_NOTE,
                  "[Zeng2025 fig. 9]: error of the step energy after so many rounds, bar of 12x6x6 cells, ends turning "
                  "by 1 rad/s; error against time is rounds times the last column");
    tl_table_header(t, header);
    for (int k = 0; k < 6 && !t->stopped; k++) {
        const lg_case bar = {"bar", 12, 6, 6, models[k % 2], NULL, 0, 0, 0, youngs[k / 2]};
        double least = NAN;
        TL_TRY(curve(&bar, "factor, double", "iterations = 5, precision = 'double'", &least, t, err));
        TL_TRY(curve(&bar, "factor, float", "iterations = 5", &least, t, err));
        TL_TRY(curve(&bar, "inverse, float", "iterations = 5, global_step = 'inverse'", &least, t, err));
        TL_TRY(curve(&bar, "quasi-Newton", "iterations = 5, local_step = 'newton'", &least, t, err));
        TL_TRY(curve(&bar, "Newton, true Hessian", "", &least, t, err));
        TL_TRY(curve(&bar, "jacobi", "iterations = 5, global_step = 'jacobi'", &least, t, err));
        TL_TRY(curve(&bar, "jacobi, Chebyshev 0.99", "iterations = 5, global_step = 'jacobi', chebyshev = 0.99", &least,
                     t, err));
    }
    return TALUS_OK;
}

static bool wanted(const talus_bench_options *o, const char *part, const char *name)
{
    return !o->problem || !strcmp(o->problem, part) || (name && strstr(name, o->problem));
}

static talus_status run_times(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const header[] = {"case",   "material", "nodes",  "ms per frame", "cpu ms",    "predict",
                                         "local",  "balance",  "global", "measure",      "real time", "paper ms",
                                         "target", NULL};
    tl_table_line(
        t, TALUS_ROW_NOTE,
        "best frame of 10 ms, 5 rounds, %d threads; phases in ms of the frame; target: processor time over threads",
        tl_threads());
    tl_table_header(t, header);
    for (size_t k = 0; k < sizeof cases / sizeof *cases && !t->stopped; k++)
        if (wanted(o, "times", cases[k].name)) TL_TRY(time_case(o, &cases[k], t, err));
    return TALUS_OK;
}

static talus_status run_sizes(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const header[] = {"case",      "bending",       "nodes",       "nnz L, M",
                                         "nnz S, M",  "S double MiB",  "S float MiB", "paper S MiB",
                                         "dense MiB", "cpu s to make", NULL};
    tl_table_line(t, TALUS_ROW_NOTE,
                  "[Zeng2025 tables 1, 2]: memory of the inverse factor; dense: lower triangle of the expanded "
                  "inverse, as in the paper");
    tl_table_header(t, header);
    for (size_t k = 0; k < sizeof sheets / sizeof *sheets && !t->stopped; k++) TL_TRY(size_case(&sheets[k], t, err));
    for (size_t k = 0; k < sizeof cases / sizeof *cases && !t->stopped; k++)
        if (cases[k].paper_S > 0) TL_TRY(size_case(&cases[k], t, err));
    return o->scenes && !t->stopped ? tl_bench_lg_scene_sizes(o, t, err) : TALUS_OK;
}

static talus_status run_bounds(tl_table *t, talus_error *err)
{
    tl_bench_lg_bounds_header(t);
    for (size_t k = 0; k < sizeof cases / sizeof *cases && !t->stopped; k++) {
        if (!(cases[k].paper_ms > 0) && cases[k].bending) continue;
        char name[96];
        tl_world w;
        TL_TRY(open_case(&cases[k], "iterations = 5", &w, err));
        snprintf(name, sizeof name, "%s %s", cases[k].name, cases[k].model);
        talus_status status = tl_world_steps(&w, FRAMES, DT, err);
        if (status == TALUS_OK) status = tl_bench_lg_bounds(name, w.sim, t, err);
        tl_world_close(&w);
        TL_TRY(status);
    }
    return TALUS_OK;
}

/* Parts by name with --problem: times, scenes, memory, convergence, bounds; or rows whose name contains it. */
static talus_status run(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const others[] = {"memory", "convergence", "bounds"};
    bool other = false;
    for (int k = 0; k < 3 && o->problem; k++) other |= !strcmp(o->problem, others[k]);
    if (!other && (!o->problem || strcmp(o->problem, "scenes"))) TL_TRY(run_times(o, t, err));
    if (!other && (!o->problem || strcmp(o->problem, "times")) && o->scenes) TL_TRY(tl_bench_lg_scenes(o, t, err));
    if (wanted(o, "memory", NULL)) TL_TRY(run_sizes(o, t, err));
    if (wanted(o, "bounds", NULL)) TL_TRY(run_bounds(t, err));
    return wanted(o, "convergence", NULL) ? run_curves(t, err) : TALUS_OK;
}

const tl_bench tl_bench_lg = {
    "lg",
    "elastic bodies: time by phase, memory of the inverse factor, convergence; --problem bar, "
    "cloth, knives, corner, ball, newt, gingerbread, gripper, memory, convergence, bounds",
    run};
