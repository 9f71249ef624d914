/* Liquid, sand and bodies: the time of frames that are under way, tables 1 and 6 of [FM21], captured pressure
 * problems, growth. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/timer.h"
#include "lab/bench/profile.h"
#include "lab/bench/table.h"
#include "lab/world.h"
#include "model/grid/state.h"

#define FRAMES_TIMED 5
#define SETTINGS_MAX 6

typedef struct run {
    tl_world w;
    /* sums over steps */
    int64_t steps, pressure, contact, contacts, unknowns;
    double certificate; /* largest */
    double volume_error;
    double deepest; /* m, of bodies into each other */
    tl_report_phase phase[TL_REPORT_PHASES];
} run;

typedef struct settings {
    int count;
    char text[SETTINGS_MAX][64];
    const char *of[SETTINGS_MAX];
} settings;

TL_PRINTF(2, 3) static void set(settings *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s->text[s->count], sizeof s->text[0], format, args);
    va_end(args);
    s->of[s->count] = s->text[s->count];
    s->count++;
}

static talus_status open_sized(run *r, const talus_bench_options *o, const char *name, tl_size size, const settings *s,
                               talus_error *err)
{
    const tl_load_options load = {.size = size, .setting_count = s->count, .setting = s->of};
    *r = (run){0};
    return tl_world_gallery(&r->w, o->scenes, name, &load, err);
}

static talus_status open_run(run *r, const talus_bench_options *o, const char *name, const settings *s,
                             talus_error *err)
{
    return open_sized(r, o, name, TL_SIZE_SMALL, s, err);
}

static bool after_step(void *user, const tl_sim *sim)
{
    run *r = user;
    const tl_report *p = &sim->report;
    r->steps++;
    r->contacts += p->contacts;
    r->unknowns += tl_grid_state_of(&sim->state)->memories;
    r->volume_error = p->volume_error;
    r->deepest = fmax(r->deepest, p->penetration);
    for (int i = 0; i < p->solves; i++) {
        *(i ? &r->contact : &r->pressure) += p->solve[i].iterations;
        r->certificate = fmax(r->certificate, p->solve[i].certificate);
    }
    for (int i = 0; i < p->phases; i++) {
        r->phase[i].name = p->phase[i].name;
        r->phase[i].seconds += p->phase[i].seconds;
        r->phase[i].cpu += p->phase[i].cpu;
    }
    return false;
}

static void forget_sums(run *r) { *r = (run){.w = r->w}; }

static tl_report_phase phase_of(const run *r, const char *name)
{
    for (int i = 0; i < TL_REPORT_PHASES; i++)
        if (r->phase[i].name && !strcmp(r->phase[i].name, name)) return r->phase[i];
    return (tl_report_phase){.name = name};
}

static talus_status run_frames_of(run *r, int64_t until, talus_error *err)
{
    while (r->w.sim->state.frame < until) TL_TRY(tl_sim_frame(r->w.sim, after_step, r, err));
    return TALUS_OK;
}

/* ---- frames ---- */

/* A scene of the gallery, and the frame from which on everything is in contact. */
typedef struct frame_case {
    const char *scene;
    int loaded, size; /* cells: 0: the scene's own */
    bool plates;      /* walls thinner than three cells: not held to the count of iterations */
    bool sand;        /* at the size of the paper, by its name or with --all only: minutes */
    double paper;     /* s per frame on 8 cores [FM21 tab. 3, 7, sec. 5.5]; 0: none */
} frame_case;
static const frame_case frame_cases[] = {{.scene = "dam-break", .loaded = 12, .size = 64},
                                         {.scene = "dam-break-bodies", .loaded = 20},
                                         {.scene = "sphere-roof", .loaded = 20},
                                         {.scene = "hollow-cube", .loaded = 20, .plates = true},
                                         {.scene = "floating-cubes", .loaded = 10},
                                         {.scene = "pinched-cube", .loaded = 20, .plates = true},
                                         {.scene = "ducks", .loaded = 20},
                                         {.scene = "trapezoid", .loaded = 5},
                                         {.scene = "sand-column", .loaded = 8, .sand = true, .paper = 0.69},
                                         {.scene = "board-on-pile", .loaded = 20, .sand = true, .paper = 25.2},
                                         {.scene = "sand-drum", .loaded = 10, .sand = true, .paper = 161.92},
                                         {.scene = "sand-hourglass", .loaded = 5, .sand = true, .paper = 368.95}};
#define FRAME_CASES ((int)(sizeof frame_cases / sizeof frame_cases[0]))

/* A name that is one of the cases means that one, else all that contain it. */
static bool wanted(const talus_bench_options *o, const frame_case *c)
{
    if (!o->problem) return !c->sand || o->all;
    for (int i = 0; i < FRAME_CASES; i++)
        if (!strcmp(frame_cases[i].scene, o->problem)) return !strcmp(c->scene, o->problem);
    return strstr(c->scene, o->problem) != NULL;
}

/* To the loaded frame. */
static talus_status load_case(run *r, const talus_bench_options *o, const frame_case *c, settings *s, talus_error *err)
{
    int size = o->size ? o->size : c->size;
    if (size) set(s, "cells=%d", size);
    TL_TRY(open_sized(r, o, c->scene, c->sand && !size ? TL_SIZE_PAPER : TL_SIZE_SMALL, s, err));
    return run_frames_of(r, c->loaded, err);
}

typedef struct timed {
    double cpu[FRAMES_TIMED], wall[FRAMES_TIMED];
    run sums; /* of the last repeat */
} timed;

static talus_status time_frames(run *r, int repeats, timed *out, talus_error *err)
{
    tl_state kept = {0};
    for (int k = 0; k < FRAMES_TIMED; k++) out->cpu[k] = out->wall[k] = INFINITY;
    talus_status status = tl_state_copy(&kept, &r->w.sim->state, err);
    for (int i = 0; i < repeats && status == TALUS_OK; i++) {
        status = tl_state_copy(&r->w.sim->state, &kept, err);
        forget_sums(r);
        for (int k = 0; k < FRAMES_TIMED && status == TALUS_OK; k++) {
            double cpu = tl_cpu_seconds(), wall = tl_seconds();
            status = tl_sim_frame(r->w.sim, after_step, r, err);
            out->cpu[k] = fmin(out->cpu[k], tl_cpu_seconds() - cpu);
            out->wall[k] = fmin(out->wall[k], tl_seconds() - wall);
        }
    }
    out->sums = *r;
    tl_state_free(&kept);
    return status;
}

static void write_frames(tl_table *t, const frame_case *c, const run *r, const timed *m)
{
    double cpu = 0, wall = 0;
    tl_table_cell(t, "%s", c->scene);
    tl_table_cell(t, "%lld", (long long)r->w.sim->report.particles);
    tl_table_cell(t, "%lld", (long long)(m->sums.unknowns / m->sums.steps));
    tl_table_cell(t, "%.1f", (double)m->sums.steps / FRAMES_TIMED);
    tl_table_cell(t, "%.1f", (double)m->sums.pressure / (double)m->sums.steps);
    for (int k = 0; k < FRAMES_TIMED; k++) {
        tl_table_cell(t, "%.3f", m->cpu[k]);
        cpu += m->cpu[k] / FRAMES_TIMED;
        wall += m->wall[k] / FRAMES_TIMED;
    }
    tl_table_cell(t, "%.3f", cpu);
    tl_table_cell(t, "%.3f", wall);
    tl_table_cell(t, "%.3f", phase_of(&m->sums, "solve").cpu / FRAMES_TIMED);
    tl_table_cell(t, "%.0f", (double)r->w.sim->report.peak_bytes / 1048576);
    tl_table_cell(t, "%.1f", 100 * m->sums.deepest / r->w.scene->grid.cell);
    tl_table_cell(t, "%+.1f", 100 * m->sums.volume_error);
    tl_table_cell(t, c->paper > 0 ? "%.2f" : "-", c->paper);
    tl_table_send(t, TALUS_ROW_DATA);
}

static void write_phases(tl_table *t, int count, char name[][32], const run *sums)
{
    const char *header[FRAME_CASES + 2] = {"phase"};
    for (int k = 0; k < count; k++) header[k + 1] = name[k];
    header[count + 1] = NULL;
    tl_table_line(t, TALUS_ROW_TITLE, "processor seconds per frame by phase");
    tl_table_header(t, header);
    for (int i = 0; i < TL_REPORT_PHASES && count; i++) {
        if (!sums[0].phase[i].name) break;
        tl_table_cell(t, "%s", sums[0].phase[i].name);
        for (int k = 0; k < count; k++) tl_table_cell(t, "%.4f", sums[k].phase[i].cpu / FRAMES_TIMED);
        tl_table_send(t, TALUS_ROW_DATA);
    }
}

static talus_status bench_frame(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const columns[] = {"scene",
                                          "particles",
                                          "unknowns",
                                          "steps/frame",
                                          "its/step",
                                          "CPU 1",
                                          "2",
                                          "3",
                                          "4",
                                          "5",
                                          "CPU s",
                                          "wall s",
                                          "solve CPU s",
                                          "step arena MB",
                                          "overlap %",
                                          "volume %",
                                          "paper: 8 cores",
                                          NULL};
    char name[FRAME_CASES][32];
    run sums[FRAME_CASES];
    int count = 0;
    tl_table_line(t, TALUS_ROW_TITLE,
                  "five frames in a row from a state in which everything is in contact; seconds per frame, best of %d",
                  o->repeats ? o->repeats : 1);
    tl_table_header(t, columns);
    for (int i = 0; i < FRAME_CASES && !t->stopped; i++) {
        const frame_case *c = &frame_cases[i];
        run r = {0};
        timed m = {0};
        settings s = {0};
        if (!wanted(o, c)) continue;
        talus_status status = load_case(&r, o, c, &s, err);
        if (status == TALUS_OK) status = time_frames(&r, o->repeats ? o->repeats : 1, &m, err);
        if (status == TALUS_OK) {
            write_frames(t, c, &r, &m);
            snprintf(name[count], sizeof name[0], "%s", c->scene);
            sums[count++] = m.sums;
        }
        tl_world_close(&r.w);
        TL_TRY(status);
    }
    write_phases(t, count, name, sums);
    return TALUS_OK;
}

const tl_bench tl_bench_frame = {"frame", "five frames in a row of liquid and sand under way, by phase", bench_frame};

/* ---- table 1 ---- */

/* Methods of the step, and the row of the paper that each stands beside; 128^3, 1.2 M particles, 8 cores, per frame. */
typedef struct table1_row {
    const char *method, *paper;
    double iterations, unknowns, steps, seconds; /* 0: not told */
} table1_row;
static const table1_row table1[] = {{"cg", "CG", 300, 293.4e3, 5.1, 3.9},
                                    {"admm", "ADMM", 0, 0, 0, 14.5},
                                    {"pip", "PIP", 0, 0, 0, 20.8},
                                    {"auglag", "AugLag", 0, 0, 0, 8.4},
                                    {"mprgp-original", "MPRGP (original)", 0, 0, 0, 58.1},
                                    {"mprgp", "MPRGP (ours)", 300, 232.8e3, 3.8, 3.6},
                                    {"cg-mic", "CG", 300, 293.4e3, 5.1, 3.9},
                                    {"cg-multigrid", "CG", 300, 293.4e3, 5.1, 3.9},
                                    {"mic", "MPRGP (ours)", 300, 232.8e3, 3.8, 3.6},
                                    {"multigrid", "MPRGP (ours)", 300, 232.8e3, 3.8, 3.6}};

static talus_status one_method(const talus_bench_options *o, tl_table *t, const table1_row *row, talus_error *err)
{
    const frame_case roof = {.scene = "sphere-roof", .loaded = 1};
    settings s = {0};
    run r = {0};
    set(&s, "solver.pressure.method=%s", row->method);
    if (o->tolerance > 0) set(&s, "solver.tolerance=%g", o->tolerance);
    talus_status status = load_case(&r, o, &roof, &s, err);
    const int64_t frames = 20; /* through the fall from the roof and the first splash */
    forget_sums(&r);
    if (status == TALUS_OK) status = run_frames_of(&r, roof.loaded + frames, err);
    if (status == TALUS_OK) {
        tl_report_phase solve = phase_of(&r, "solve");
        tl_table_cell(t, "%s", row->method);
        tl_table_cell(t, "%.0f", (double)r.pressure / (double)frames);
        tl_table_cell(t, "%.1fk", 1e-3 * (double)r.unknowns / (double)r.steps);
        tl_table_cell(t, "%.1f", (double)r.steps / (double)frames);
        tl_table_cell(t, "%.3f", solve.cpu / (double)frames);
        tl_table_cell(t, "%.3f", solve.seconds / (double)frames);
        tl_table_cell(t, "%.1e", r.certificate);
        tl_table_cell(t, "%+.2f", 100 * r.w.sim->report.volume_error);
        tl_table_cell(t, "%s", row->paper);
        if (row->steps > 0) {
            tl_table_cell(t, "%.0f", row->iterations);
            tl_table_cell(t, "%.1fk", 1e-3 * row->unknowns);
            tl_table_cell(t, "%.1f", row->steps);
        } else {
            for (int k = 0; k < 3; k++) tl_table_cell(t, "%s", "-");
        }
        tl_table_cell(t, "%.1f", row->seconds);
        tl_table_send(t, TALUS_ROW_DATA);
    }
    tl_world_close(&r.w);
    return status;
}

static talus_status bench_table1(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const columns[] = {"method",   "its/frame",   "unknowns",    "steps/frame", "CPU s",
                                          "wall s",   "residual",    "volume %",    "the paper",   "its/frame",
                                          "unknowns", "steps/frame", "s (8 cores)", NULL};
    tl_table_line(t, TALUS_ROW_TITLE,
                  "water falls off the roof of a ball, %d^3 cells, frames 2 to 21; pressure solve, per frame",
                  o->size ? o->size : 48);
    tl_table_header(t, columns);
    for (size_t i = 0; i < sizeof table1 / sizeof *table1 && !t->stopped; i++)
        if (!o->method || !strcmp(table1[i].method, o->method)) TL_TRY(one_method(o, t, &table1[i], err));
    tl_table_line(t, TALUS_ROW_NOTE,
                  "The paper: 128^3 cells (--size 128), 1.2 M particles. The first six are its methods, without a grid "
                  "behind them; the others talus' own. One solve alone: "
                  "talus bench solvers --problem wall-separation --size 128.");
    return TALUS_OK;
}

const tl_bench tl_bench_table1 = {"fm-table1", "wall separation: pressure solve beside the paper's", bench_table1};

/* ---- table 6 ---- */

/* Per frame, 192 x 144 x 96 cells, 8 cores. */
typedef struct table6_row {
    const char *scheme;
    double unknowns, contacts, steps, seconds;
} table6_row;
static const table6_row table6[] = {{"p-c", 18.6e3, 4.0, 5.3, 0.66},
                                    {"c-p", 26.8e3, 4.0, 5.1, 0.42},
                                    {"t-pn", 47.8e3, 4.0, 6.2, 50.4},
                                    {"t-p-n", 48.8e3, 4.0, 8.3, 49.5}};

static talus_status one_scheme(const talus_bench_options *o, tl_table *t, const table6_row *row, talus_error *err)
{
    const int64_t frames = 50;
    settings s = {0};
    run r = {0};
    set(&s, "solver.scheme=%s", row->scheme);
    if (o->size) set(&s, "cells=%d", o->size);
    talus_status status = open_run(&r, o, "hollow-cube", &s, err);
    if (status == TALUS_OK) status = run_frames_of(&r, frames, err);
    if (status == TALUS_OK) {
        double steps = (double)r.steps, per_frame = 1 / (double)frames;
        tl_report_phase solve = phase_of(&r, "solve");
        tl_table_cell(t, "%s", row->scheme);
        tl_table_cell(t, "%.1f", (double)r.pressure / steps);
        tl_table_cell(t, "%.1f", (double)r.contact / steps);
        tl_table_cell(t, "%.1fk", 1e-3 * (double)r.unknowns / steps);
        tl_table_cell(t, "%.1f", (double)r.contacts / steps);
        tl_table_cell(t, "%.1f", steps * per_frame);
        tl_table_cell(t, "%.3f", solve.cpu * per_frame);
        tl_table_cell(t, "%.3f", solve.seconds * per_frame);
        tl_table_cell(t, "%.1e", r.certificate);
        tl_table_cell(t, "%+.2f", 100 * r.volume_error);
        tl_table_cell(t, "%.1fk", 1e-3 * row->unknowns);
        tl_table_cell(t, "%.1f", row->contacts);
        tl_table_cell(t, "%.1f", row->steps);
        tl_table_cell(t, "%.2f", row->seconds);
        tl_table_send(t, TALUS_ROW_DATA);
    }
    tl_world_close(&r.w);
    return status;
}

static talus_status bench_table6(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const columns[] = {
        "scheme",   "p its/step",     "contact its/step", "unknowns", "contacts",    "steps/frame", "CPU s", "wall s",
        "residual", "volume error %", "paper: unknowns",  "contacts", "steps/frame", "s (8 cores)", NULL};
    tl_table_line(t, TALUS_ROW_TITLE, "hollow cube of water on a slope, 50 frames; pressure and contact, per frame");
    tl_table_header(t, columns);
    for (size_t i = 0; i < sizeof table6 / sizeof *table6 && !t->stopped; i++)
        if (!o->method || !strcmp(table6[i].scheme, o->method)) TL_TRY(one_scheme(o, t, &table6[i], err));
    tl_table_line(t, TALUS_ROW_NOTE,
                  "residual: largest of pressure, normal and friction forces in any step, on the whole problem. The "
                  "paper: 192 x 144 "
                  "x 96 cells. Ours: --size cells per metre.");
    return TALUS_OK;
}

const tl_bench tl_bench_table6 = {"fm-table6", "four schemes of pressure and contact beside the paper's", bench_table6};

/* ---- tables 1 and 6 frame by frame ---- */

static bool after_profiled(void *user, const tl_sim *sim)
{
    tl_profile *p = user;
    tl_profile_add(p, sim);
    return p->table->stopped;
}

static talus_status profile_run(const talus_bench_options *o, tl_profile *p, const char *scene, const char *variant,
                                const settings *s, int64_t frames, talus_error *err)
{
    run r = {0};
    talus_status status = open_run(&r, o, scene, s, err);
    while (status == TALUS_OK && r.w.sim->state.frame < frames && !p->table->stopped) {
        status = tl_sim_frame(r.w.sim, after_profiled, p, err);
        tl_profile_send(p, variant, r.w.sim->state.frame);
    }
    tl_world_close(&r.w);
    return p->table->stopped ? TALUS_OK : status;
}

static talus_status run_figure7(const talus_bench_options *o, tl_profile *p, talus_error *err)
{
    for (size_t i = 0; i < sizeof table1 / sizeof *table1 && !p->table->stopped; i++) {
        settings s = {0};
        if (o->method && strcmp(table1[i].method, o->method)) continue;
        set(&s, "solver.pressure.method=%s", table1[i].method);
        if (o->size) set(&s, "cells=%d", o->size);
        TL_TRY(profile_run(o, p, "sphere-roof", table1[i].method, &s, o->all ? 75 : 21, err));
    }
    return TALUS_OK;
}

static talus_status run_figure16(const talus_bench_options *o, tl_profile *p, talus_error *err)
{
    for (size_t i = 0; i < sizeof table6 / sizeof *table6 && !p->table->stopped; i++) {
        settings s = {0};
        if (o->method && strcmp(table6[i].scheme, o->method)) continue;
        set(&s, "solver.scheme=%s", table6[i].scheme);
        if (o->size) set(&s, "cells=%d", o->size);
        TL_TRY(profile_run(o, p, "hollow-cube", table6[i].scheme, &s, o->all ? 75 : 50, err));
    }
    return TALUS_OK;
}

const tl_figure tl_figure7 = {"fm-figure7", "water falls off the roof of a ball, methods of table 1", run_figure7};
const tl_figure tl_figure16 = {"fm-figure16", "hollow cube of water on a slope, four schemes", run_figure16};

/* ---- captured steps ---- */

/* One step from a state, cold, one pressure solve to the target, by one method. */
typedef struct solved {
    int iterations;
    double seconds, certificate;
} solved;

static talus_status solve_once(const talus_bench_options *o, const frame_case *c, const char *method, double target,
                               const tl_state *from, double dt, solved *out, talus_error *err)
{
    int size = o->size ? o->size : c->size;
    settings s = {0};
    run r = {0};
    set(&s, "solver.pressure.method=%s", method);
    set(&s, "solver.tolerance=%g", target / 0.3); /* a scheme's blocks go further than the scheme */
    set(&s, "solver.sweeps=1");
    set(&s, "solver.on_unconverged=accept");
    if (size) set(&s, "cells=%d", size);
    talus_status status = open_run(&r, o, c->scene, &s, err);
    if (status == TALUS_OK) status = tl_state_copy(&r.w.sim->state, from, err);
    if (status == TALUS_OK) {
        tl_grid_state_of(&r.w.sim->state)->memories = 0;
        status = tl_sim_step(r.w.sim, dt, INFINITY, err);
    }
    if (status == TALUS_OK) {
        after_step(&r, r.w.sim);
        *out = (solved){(int)r.pressure, phase_of(&r, "solve").cpu, r.w.sim->report.solve[0].certificate};
    }
    tl_world_close(&r.w);
    return status;
}

static talus_status replay(const talus_bench_options *o, tl_table *t, const frame_case *c, talus_error *err)
{
    double target = o->tolerance > 0 ? o->tolerance : 1e-8;
    settings s = {0};
    run r = {0};
    solved fast = {0}, slow = {0};
    talus_status status = load_case(&r, o, c, &s, err);
    double dt = status == TALUS_OK ? r.w.sim->report.dt : 0;
    if (status == TALUS_OK) status = solve_once(o, c, "multigrid", target, &r.w.sim->state, dt, &fast, err);
    if (status == TALUS_OK && (!o->method || strcmp(o->method, "multigrid") != 0))
        status = solve_once(o, c, "mic", target, &r.w.sim->state, dt, &slow, err);
    if (status == TALUS_OK) {
        tl_table_cell(t, "%s", c->scene);
        tl_table_cell(t, "%lld", (long long)tl_grid_state_of(&r.w.sim->state)->memories);
        tl_table_cell(t, "%lld", (long long)r.w.sim->report.contacts);
        tl_table_cell(t, "%d", fast.iterations);
        tl_table_cell(t, "%.3f", fast.seconds);
        tl_table_cell(t, "%.1e", fast.certificate);
        tl_table_cell(t, "%d", slow.iterations);
        tl_table_cell(t, "%.3f", slow.seconds);
        tl_table_cell(t, "%.1f", slow.seconds / fast.seconds);
        tl_table_cell(t, "%s", c->plates ? "thin walls" : "");
        tl_table_send(t, TALUS_ROW_DATA);
    }
    tl_world_close(&r.w);
    return status;
}

static talus_status bench_steps(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const columns[] = {"scene",   "unknowns", "contacts", "multigrid its", "CPU s", "residual",
                                          "mic its", "CPU s",    "mic/mg",   "note",          NULL};
    tl_table_line(t, TALUS_ROW_TITLE,
                  "pressure of a step under way, from nothing to %.0e; iterations and processor seconds of all its "
                  "solves (a contact found late calls for another)",
                  o->tolerance > 0 ? o->tolerance : 1e-8);
    tl_table_header(t, columns);
    for (int i = 0; i < FRAME_CASES && !t->stopped; i++)
        if (!frame_cases[i].sand && wanted(o, &frame_cases[i])) TL_TRY(replay(o, t, &frame_cases[i], err));
    return TALUS_OK;
}

const tl_bench tl_bench_steps = {"steps", "pressure of steps under way: multigrid beside mic", bench_steps};

/* ---- growth ---- */

/* A dam break in a basin, which stands in a box of `box` metres: cells per metre, particles per cell edge. */
static const char basin[] =
    "local n = %d\n"
    "return scene { talus = 1, engine = 'grid', duration = 10, fps = 1000, dt_max = 1, solver = { sweeps = 1 },\n"
    "  grid = { cells = {%d, %d, %d}, cell = 1 / n, cfl = 3 },\n"
    "  fill = { { material = liquid { density = 1000 }, spacing = 1 / (%d * n),\n"
    "    shape = box { size = {0.45, 0.6, 1}, center = {0.425, 0.5, 0.7} } } },\n"
    "  bodies = { { name = 'basin', kind = 'static', shape = box { size = 1.2, center = {0.7, 0.6, 0.7} } -\n"
    "    box { size = {1, 1.2, 1}, center = {0.7, 0.8, 0.7} } } } }\n";

typedef struct grown {
    int64_t particles, unknowns;
    double cpu;   /* s per step */
    double bytes; /* of the step's arena and of the state, twice */
    int iterations;
} grown;

static talus_status grow(int n, double box, int per_edge, int warm, int steps, grown *out, talus_error *err)
{
    int cells = (int)lround(box * n);
    run r = {0};
    const double dt = 0.16 / n;
    talus_status status = tl_world_open(&r.w, err, basin, n, cells, cells, cells, per_edge);
    if (status == TALUS_OK) status = tl_world_steps(&r.w, warm, dt, err);
    double best = INFINITY;
    for (int i = 0; i < steps && status == TALUS_OK; i++) {
        double begin = tl_cpu_seconds();
        status = tl_sim_step(r.w.sim, dt, INFINITY, err);
        best = fmin(best, tl_cpu_seconds() - begin);
    }
    if (status == TALUS_OK) {
        const tl_report *p = &r.w.sim->report;
        *out = (grown){p->particles, tl_grid_state_of(&r.w.sim->state)->memories, best,
                       (double)p->peak_bytes + 2.0 * (double)sizeof(tl_particle) * (double)p->particles,
                       p->solve[0].iterations};
    }
    tl_world_close(&r.w);
    return status;
}

static void write_grown(tl_table *t, const char *what, const grown *g, const grown *before)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    tl_table_cell(t, "%s", what);
    tl_table_cell(t, "%lld", (long long)g->particles);
    tl_table_cell(t, "%lld", (long long)g->unknowns);
    tl_table_cell(t, "%d", g->iterations);
    tl_table_cell(t, "%.3f", g->cpu);
    tl_table_cell(t, "%.2f", before ? g->cpu / before->cpu : 1);
    tl_table_cell(t, "%.0f", 1e9 * g->cpu / (double)g->particles);
    tl_table_cell(t, "%.0f", g->bytes / (double)g->particles);
    tl_table_cell(t, "%.0f", (double)u.ru_maxrss / 1024);
    tl_table_send(t, TALUS_ROW_DATA);
}

static talus_status bench_growth(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const columns[] = {
        "what",        "particles",      "unknowns",        "its", "CPU s/step", "ratio",
        "ns/particle", "bytes/particle", "peak MiB so far", NULL};
    const int n = o->size ? o->size : 32;
    grown base, wide, fine, dense;
    tl_table_line(t, TALUS_ROW_TITLE, "dam break in a basin, %d cells per metre; best of 5 steps after 20", n);
    tl_table_header(t, columns);
    TL_TRY(grow(n, 1.5, 2, 20, 5, &base, err));
    write_grown(t, "as it is", &base, NULL);
    TL_TRY(grow(n, 3, 2, 20, 5, &wide, err));
    write_grown(t, "domain twice as long, wide, high", &wide, &base);
    TL_TRY(grow(n, 1.5, 3, 20, 5, &dense, err));
    write_grown(t, "27 particles per cell", &dense, &base);
    TL_TRY(grow(2 * n, 1.5, 2, 40, 5, &fine, err));
    write_grown(t, "half the cell: 8 times the particles", &fine, &base);
    double each = (dense.bytes - base.bytes) / (double)(dense.particles - base.particles);
    tl_table_line(t, TALUS_ROW_NOTE, "memory: %.0f bytes per particle and %.0f per cell with a pressure", each,
                  (base.bytes - each * (double)base.particles) / (double)base.unknowns);
    if (!o->all) {
        tl_table_line(t, TALUS_ROW_NOTE, "--all: one step with ten million particles as well");
        return TALUS_OK;
    }
    TL_TRY(grow(168, 1.5, 2, 0, 1, &fine, err));
    write_grown(t, "one step of ten million particles", &fine, &base);
    return TALUS_OK;
}

const tl_bench tl_bench_growth = {"growth", "liquid steps: larger domain, more particles, memory", bench_growth};
