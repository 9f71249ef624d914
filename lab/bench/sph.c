/* The SPH engine on whole scenes: what conjugate gradients are worth on the paper's four cases [Probst2023 fig. 7,
 * 8], the dam break that other programs are timed with and one of a million particles, the paper's table of
 * scenarios with our sizes beside its own [Probst2023 tab. 1]. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/timer.h"
#include "lab/bench/table.h"
#include "lab/world.h"
#include "phase/sph/sph.h"

#define JACOBI_MAX 8000 /* iterations */

static talus_status run_begin(tl_world *r, const talus_bench_options *o, const char *name, tl_size size, int settings,
                              const char *const *setting, talus_error *err)
{
    const tl_load_options load = {.size = size, .setting_count = settings, .setting = setting};
    return tl_world_gallery(r, o->scenes, name, &load, err);
}

static talus_status run_until(tl_world *r, double t, const tl_table *table, talus_error *err)
{
    while (r->sim->state.t < t && !table->stopped) TL_TRY(tl_sim_step(r->sim, 0, t, err));
    return TALUS_OK;
}

/* ---- Jacobi against conjugate gradients ---- */

#define MOMENTS 3
#define TOLERANCES 3

typedef struct ratio_case {
    const char *name, *scene, *setting;
    double moment[MOMENTS];       /* s; 0: none. Where systems are taken */
    double tolerance[TOLERANCES]; /* 0: none */
    const char *paper;            /* what its figures show */
} ratio_case;

static const ratio_case ratio_cases[] = {
    {"1000:1", "ton-on-kilo", "drop=2", {0.085, 0.12, 0.3}, {1e-3, 3e-4, 1e-4}, "10 at impact, 5 at rest"},
    {"stack of 8", "stack-of-eight", "n=8", {0.3}, {1e-5, 1e-6}, "just below 4"},
    {"pillar with duck", "duck-pillar", "depth=0.4", {0.3}, {1e-4, 1e-5}, "above 10"},
    {"growing pillar", "growing-pillar", "seconds=3", {1, 2, 3.2}, {1e-4, 1e-5}, "grows with depth"},
};

typedef struct sample {
    double iterations, ms;
} sample;

/* One step of `r` from the state of `from`. */
static talus_status take_step(tl_world *r, const tl_world *from, sample *s, talus_error *err)
{
    TL_TRY(tl_state_copy(&r->sim->state, &from->sim->state, err));
    double begin = tl_cpu_seconds();
    TL_TRY(tl_sim_step(r->sim, 0, INFINITY, err));
    s->ms += 1e3 * (tl_cpu_seconds() - begin);
    s->iterations += r->sim->report.solve[0].iterations;
    return TALUS_OK;
}

typedef struct contest {
    tl_world leader;            /* as the scene is; its states are where the others start */
    tl_world by[TOLERANCES][2]; /* nncg, jacobi */
} contest;

static talus_status contest_begin(contest *g, const talus_bench_options *o, const ratio_case *c, talus_error *err)
{
    static const char *const methods[] = {"solver.pressure.method=nncg", "solver.pressure.method=jacobi"};
    char target[64], max[64];
    *g = (contest){0};
    snprintf(max, sizeof max, "solver.pressure.iterations=%d", JACOBI_MAX);
    TL_TRY(run_begin(&g->leader, o, c->scene, TL_SIZE_SMALL, 1, &c->setting, err));
    for (int i = 0; i < TOLERANCES && c->tolerance[i] > 0; i++)
        for (int k = 0; k < 2; k++) {
            snprintf(target, sizeof target, "solver.pressure.tolerance=%g", c->tolerance[i]);
            const char *settings[] = {c->setting, methods[k], "sph.warm_start=false", "sph.iterations_least=2",
                                      target,     max};
            TL_TRY(run_begin(&g->by[i][k], o, c->scene, TL_SIZE_SMALL, 6, settings, err));
        }
    return TALUS_OK;
}

static void contest_end(contest *g)
{
    tl_world_close(&g->leader);
    for (int i = 0; i < TOLERANCES; i++)
        for (int k = 0; k < 2; k++) tl_world_close(&g->by[i][k]);
}

static talus_status contest_at(contest *g, tl_table *t, const ratio_case *c, double moment, talus_error *err)
{
    enum { SAMPLES = 5, APART = 5 };
    sample s[TOLERANCES][2] = {0};
    TL_TRY(run_until(&g->leader, moment, t, err));
    for (int n = 0; n < SAMPLES && !t->stopped; n++) {
        for (int i = 0; i < TOLERANCES && c->tolerance[i] > 0; i++)
            for (int k = 0; k < 2; k++) TL_TRY(take_step(&g->by[i][k], &g->leader, &s[i][k], err));
        for (int k = 0; k < APART; k++) TL_TRY(tl_sim_step(g->leader.sim, 0, INFINITY, err));
    }
    for (int i = 0; i < TOLERANCES && c->tolerance[i] > 0 && !t->stopped; i++) {
        tl_table_cell(t, "%s", c->name);
        tl_table_cell(t, "%.2f", moment);
        tl_table_cell(t, "%lld", (long long)g->leader.sim->report.particles);
        tl_table_cell(t, "%d", (int)g->leader.sim->report.contacts);
        tl_table_cell(t, "%g", c->tolerance[i]);
        tl_table_cell(t, "%.1f", s[i][0].iterations / SAMPLES);
        tl_table_cell(t, "%.1f", s[i][1].iterations / SAMPLES);
        tl_table_cell(t, "%.2f", s[i][1].iterations / s[i][0].iterations);
        tl_table_cell(t, "%.2f", s[i][1].ms / s[i][0].ms);
        tl_table_cell(t, "%s", c->paper);
        tl_table_send(t, TALUS_ROW_DATA);
    }
    return TALUS_OK;
}

static bool wanted(const talus_bench_options *o, const char *name) { return !o->problem || strstr(name, o->problem); }

static talus_status ratios(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const columns[] = {"case",   "at s",  "fluid",    "contacts",      "tolerance", "nncg",
                                          "jacobi", "ratio", "of times", "paper's ratio", NULL};
    bool titled = false;
    for (size_t i = 0; i < sizeof ratio_cases / sizeof *ratio_cases && !t->stopped; i++) {
        const ratio_case *c = &ratio_cases[i];
        contest g;
        if (!wanted(o, c->name)) continue;
        if (!titled) {
            tl_table_line(
                t, TALUS_ROW_TITLE,
                "iterations of Jacobi over those of NNCG: the same systems, cold start, relaxation 0.5, at most %d",
                JACOBI_MAX);
            tl_table_header(t, columns);
            titled = true;
        }
        talus_status status = contest_begin(&g, o, c, err);
        for (int m = 0; m < MOMENTS && c->moment[m] > 0 && status == TALUS_OK; m++)
            status = contest_at(&g, t, c, c->moment[m], err);
        contest_end(&g);
        TL_TRY(status);
    }
    return TALUS_OK;
}

/* ---- the paper's scenarios ---- */

typedef struct paper_row {
    const char *name, *scene;
    double dt_ms, iterations, step_s, second_s; /* [Probst2023 tab. 1], 24 cores */
} paper_row;

static const paper_row paper_rows[] = {
    {"Lewis lift", "lewis-lift", 2.0, 15.9, 1.38, 689},    {"card house", "hollow-card-house", 0.5, 20, 0.35, 691},
    {"breaking dam", "breaking-dam", 1.0, 20, 5.44, 5436}, {"tower", "tower-in-basin", 1.9, 10, 3.73, 2013},
    {"bulk", "grains-in-net", 0.3, 4, 4.59, 18547},        {"chain", "letter-chain", 0.2, 20, 1.52, 6826},
};

/* Scenes of other figures; our sizes alone. */
static const paper_row other_rows[] = {
    {"duck on a slope", "duck-slope", 0, 0, 0, 0},
    {"pillar with duck", "duck-pillar", 0, 0, 0, 0},
    {"growing pillar", "growing-pillar", 0, 0, 0, 0},
    {"floating cubes", "sph-floating-cubes", 0, 0, 0, 0},
};

typedef struct scenario_size {
    tl_size size;
    int warm, steps; /* warm ones are not timed */
} scenario_size;

static void scenario_row(tl_table *t, const tl_world *r, const paper_row *p, double steps, double iterations,
                         double cpu, double simulated)
{
    tl_table_cell(t, "%s", p->name);
    tl_table_cell(t, "%lld", (long long)r->sim->report.particles);
    tl_table_cell(t, "%d", (int)tl_sph_of(r->sim)->free_count);
    tl_table_cell(t, "%d", (int)(tl_sph_of(r->sim)->kinematic_count + tl_sph_of(r->sim)->static_count));
    tl_table_cell(t, "%.0f", 1e-6 * (double)tl_alloc_read().live_bytes);
    tl_table_cell(t, "%.2f", 1e3 * simulated / steps);
    tl_table_cell(t, "%.1f", iterations / steps);
    tl_table_cell(t, "%.4g", cpu / steps);
    tl_table_cell(t, "%.4g", cpu / simulated);
    const double paper[] = {p->dt_ms, p->iterations, p->step_s, p->second_s};
    for (int k = 0; k < 4; k++) paper[k] > 0 ? tl_table_cell(t, "%g", paper[k]) : tl_table_cell(t, "-");
    tl_table_send(t, TALUS_ROW_DATA);
}

static talus_status paper_one(const talus_bench_options *o, tl_table *t, const paper_row *p, scenario_size z,
                              talus_error *err)
{
    tl_world r;
    double iterations = 0, t0 = 0, cpu = 0;
    talus_status status = run_begin(&r, o, p->scene, z.size, 0, NULL, err);
    for (int i = 0; i < z.warm + z.steps && status == TALUS_OK && !t->stopped; i++) {
        if (i == z.warm) t0 = r.sim->state.t, cpu = tl_cpu_seconds();
        status = tl_sim_step(r.sim, 0, INFINITY, err);
        if (i >= z.warm) iterations += r.sim->report.solve[0].iterations;
    }
    if (status == TALUS_OK && !t->stopped)
        scenario_row(t, &r, p, z.steps, iterations, tl_cpu_seconds() - cpu, r.sim->state.t - t0);
    tl_world_close(&r);
    return status;
}

static talus_status scenarios(const talus_bench_options *o, tl_table *t, int count, const paper_row *row,
                              scenario_size z, bool *titled, talus_error *err)
{
    static const char *const columns[] = {
        "scenario",   "fluid",       "on bodies",    "on boundaries", "MB",         "dt ms",       "iterations",
        "s per step", "s per sim s", "paper: dt ms", "iterations",    "s per step", "s per sim s", NULL};
    for (int i = 0; i < count && !t->stopped; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s, %s size", row[i].name, z.size == TL_SIZE_PAPER ? "paper" : "small");
        if (!wanted(o, name)) continue;
        if (!*titled) {
            tl_table_line(t, TALUS_ROW_TITLE,
                          "the paper's scenarios at size %s: %d steps after the first %d; processor seconds of all "
                          "threads, the paper's are wall seconds on 24 cores",
                          z.size == TL_SIZE_PAPER ? "paper" : "small", z.steps, z.warm);
            tl_table_header(t, columns);
            *titled = true;
        }
        TL_TRY(paper_one(o, t, &row[i], z, err));
    }
    return TALUS_OK;
}

static talus_status all_scenarios(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const scenario_size small = {TL_SIZE_SMALL, 20, 50}, paper = {TL_SIZE_PAPER, 2, 4};
    int rows = sizeof paper_rows / sizeof *paper_rows, others = sizeof other_rows / sizeof *other_rows;
    bool titled = false;
    TL_TRY(scenarios(o, t, rows, paper_rows, small, &titled, err));
    if (!o->all) return TALUS_OK;
    titled = false;
    TL_TRY(scenarios(o, t, rows, paper_rows, paper, &titled, err));
    TL_TRY(scenarios(o, t, others, other_rows, paper, &titled, err));
    return TALUS_OK;
}

/* ---- dam break ---- */

typedef struct window {
    double from, to; /* s */
} window;

static talus_status dam_window(tl_world *r, tl_table *t, window w, talus_error *err)
{
    TL_TRY(run_until(r, w.from, t, err));
    double begin = tl_cpu_seconds(), iterations = 0, mean = 0, max = 0, since = r->sim->state.t;
    int64_t first = r->sim->state.step;
    while (r->sim->state.t < w.to && !t->stopped) {
        TL_TRY(tl_sim_step(r->sim, 0, w.to, err));
        iterations += r->sim->report.solve[0].iterations;
        mean += r->sim->report.compression;
        max = fmax(max, r->sim->report.compression);
    }
    if (t->stopped) return TALUS_OK;
    double seconds = tl_cpu_seconds() - begin, steps = (double)(r->sim->state.step - first),
           took = r->sim->state.t - since;
    tl_table_cell(t, "%g to %g", w.from, w.to);
    tl_table_cell(t, "%lld", (long long)r->sim->report.particles);
    tl_table_cell(t, "%d", (int)tl_sph_of(r->sim)->static_count);
    tl_table_cell(t, "%.0f", steps);
    tl_table_cell(t, "%.2f", 1e3 * took / steps);
    tl_table_cell(t, "%.1f", iterations / steps);
    tl_table_cell(t, "%.4f %%", 100 * mean / steps);
    tl_table_cell(t, "%.4f %%", 100 * max);
    tl_table_cell(t, "%.2f", seconds / steps);
    tl_table_cell(t, "%.1f", seconds / took);
    tl_table_cell(t, "%.0f", 1e-6 * (double)r->sim->report.peak_bytes);
    tl_table_send(t, TALUS_ROW_DATA);
    return TALUS_OK;
}

static talus_status dam_one(const talus_bench_options *o, tl_table *t, const char *setting, int windows,
                            const window *when, talus_error *err)
{
    tl_world r;
    TL_TRY(run_begin(&r, o, "dam-peer", TL_SIZE_SMALL, 1, &setting, err));
    talus_status status = TALUS_OK;
    for (int k = 0; k < windows && status == TALUS_OK && !t->stopped; k++) status = dam_window(&r, t, when[k], err);
    tl_world_close(&r);
    return status;
}

static talus_status dam(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const columns[] = {"window, s",   "fluid",   "boundary",   "steps",       "dt ms", "iterations",
                                          "compression", "largest", "s per step", "s per sim s", "MB",    NULL};
    static const window peer[] = {{0, 0.1}, {0.3, 0.6}}, large[] = {{0.04, 0.06}};
    bool one = wanted(o, "dam break, peer"), million = wanted(o, "dam break, a million");
    if (!one && !million) return TALUS_OK;
    tl_table_line(t, TALUS_ROW_TITLE,
                  "dam break, tank 3 x 2 x 1.25 m, spacing 0.02 m, steps of at most 5 ms; processor seconds");
    tl_table_header(t, columns);
    if (one) TL_TRY(dam_one(o, t, "scale=1", o->all ? 2 : 1, peer, err));
    if (million) TL_TRY(dam_one(o, t, "scale=1.8", 1, large, err));
    tl_table_line(
        t, TALUS_ROW_NOTE,
        "compression: mean over particles of max(0, density - 1), from places alone; mean and largest over the "
        "steps. --all adds the impact. The last row is the same 1.8 times as large");
    return TALUS_OK;
}

/* ---- implicit against explicit friction ---- */

#define SLOPE_DEG 30.0
#define HOLDS 1e-4 /* m/s: slower is sticking */

/* Speed of the duck down its slope. */
static double down_slope(const tl_world *r)
{
    double a = SLOPE_DEG * TL_SPH_PI / 180;
    tl_vec3 v = r->sim->state.rigid.body[1].v;
    return v.x * cos(a) - v.y * sin(a);
}

/* Friction falls from 0.8 at 0.3 s to 0.5 at 0.6 s; back from the speed at the end it was left behind where the duck
 * began to slip. */
static talus_status friction_one(const talus_bench_options *o, tl_table *t, const char *friction, const char *method,
                                 talus_error *err)
{
    tl_world r;
    char how[2][64];
    const char *const settings[] = {how[0], how[1]};
    snprintf(how[0], sizeof how[0], "sph.friction=%s", friction);
    snprintf(how[1], sizeof how[1], "solver.pressure.method=%s", method);
    TL_TRY(run_begin(&r, o, "duck-slope", TL_SIZE_SMALL, 2, settings, err));
    talus_status status = run_until(&r, 0.35, t, err);
    double begin = tl_cpu_seconds(), iterations = 0, drift = 0;
    int steps = 0;
    while (status == TALUS_OK && r.sim->state.t < 0.6 && !t->stopped) {
        status = tl_sim_step(r.sim, 0, 0.6, err);
        iterations += r.sim->report.solve[0].iterations;
        steps++;
        if (r.sim->state.t < 0.45) drift = fmax(drift, fabs(down_slope(&r)));
    }
    if (status == TALUS_OK && !t->stopped) {
        double fast = fmax(0, down_slope(&r)), g = 9.81 * cos(SLOPE_DEG * TL_SPH_PI / 180);
        tl_table_cell(t, "%s", friction);
        tl_table_cell(t, "%s", method);
        tl_table_cell(t, "%.1f", iterations / steps);
        tl_table_cell(t, "%.2g", 1e3 * drift);
        tl_table_cell(t, "%.3f", 0.5 + sqrt(2 * fast / g));
        tl_table_cell(t, "%.2f", 1e3 * (tl_cpu_seconds() - begin) / steps);
        tl_table_cell(t, "%s", drift < HOLDS ? "holds" : "creeps");
        tl_table_send(t, TALUS_ROW_DATA);
    }
    tl_world_close(&r);
    return status;
}

static talus_status frictions(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const columns[] = {"friction", "method",      "iterations", "drift mm/s",
                                          "slips at", "ms per step", "verdict",    NULL};
    if (!wanted(o, "friction on a slope")) return TALUS_OK;
    tl_table_line(t, TALUS_ROW_TITLE,
                  "duck on 30 degrees, friction from 0.8 to 0.5: figure 3 of [Probst2023]; tan 30 = 0.577");
    tl_table_header(t, columns);
    TL_TRY(friction_one(o, t, "implicit", "nncg", err));
    TL_TRY(friction_one(o, t, "implicit", "jacobi", err));
    TL_TRY(friction_one(o, t, "explicit", "nncg", err));
    TL_TRY(friction_one(o, t, "explicit", "interlinked", err));
    tl_table_line(t, TALUS_ROW_NOTE,
                  "drift: the fastest from 0.35 to 0.45 s, friction 0.75 to 0.65. The last row is the baseline of the "
                  "paper, [Gissler2019]");
    return TALUS_OK;
}

static talus_status run_sph(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    if (!o->scenes) return TL_FAIL(err, TALUS_BAD_INPUT, "the table 'sph' needs the folder of talus' scenes");
    TL_TRY(ratios(o, t, err));
    TL_TRY(frictions(o, t, err));
    TL_TRY(dam(o, t, err));
    return all_scenarios(o, t, err);
}

const tl_bench tl_bench_sph = {
    "sph", "SPH: NNCG against Jacobi, implicit against explicit friction, dam breaks, the paper's scenarios", run_sph};
