/* Sand: tables 2 to 5 and 7 of [FM21] with every variant of the comparison, and a flat column for what the paper
 * shows in figures and for our own choices. A variant is a list of settings of one scene; one that fails stays in
 * its table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "lab/bench/profile.h"
#include "lab/bench/table.h"
#include "lab/validate/still.h"
#include "lab/world.h"
#include "model/grid/state.h"

#define SETTINGS_MAX 8
#define VARIANTS_MAX 20
#define SECONDS_MAX 900.0 /* processor time of one variant: what takes longer is told and left */
#define EXPLODES 1.05     /* of the energy of the start, above the floor: nothing here may gain any */

/* As printed; 0: the paper has no such number. */
typedef struct printed {
    double sweeps, stress, pressure, seconds;
} printed;

typedef struct variant {
    const char *name;
    const char *setting[SETTINGS_MAX];
    printed paper;
} variant;

/* scene: format with cells per metre. frames at 50 per second. */
typedef struct sand_table {
    const char *title, *scene, *note;
    int cells, frames;
    bool bodies; /* columns of bodies instead of runouts */
    variant variant[VARIANTS_MAX];
} sand_table;

/* ---- one run ---- */

typedef struct run {
    tl_world w;
    int64_t steps, retries, sweeps, stress, pressure, unknowns, contacts;
    double gap, contact; /* sums over steps of certificates */
    double solve;        /* processor seconds */
    double deepest;      /* m, of bodies into each other */
    double energy;       /* J at the first step */
    double begin;        /* processor seconds */
    char end[80];        /* why it ended early */
    tl_profile *profile; /* NULL: none wanted */
} run;

/* J; INFINITY where numbers are lost. */
static double energy_of(const tl_report *p)
{
    double e = p->kinetic + p->potential;
    return isfinite(e) ? e : INFINITY;
}

static bool after_step(void *user, const tl_sim *sim)
{
    run *r = user;
    const tl_report *p = &sim->report;
    if (!r->steps++) r->energy = energy_of(p);
    if (r->profile) tl_profile_add(r->profile, sim);
    r->retries += p->retries;
    r->sweeps += p->sweeps;
    r->unknowns += tl_grid_state_of(&sim->state)->memories;
    r->contacts += p->contacts;
    r->deepest = fmax(r->deepest, p->penetration);
    for (int i = 0; i < p->solves; i++) {
        const tl_report_solve *s = &p->solve[i];
        if (!strcmp(s->name, "pressure")) r->pressure += s->iterations;
        if (!strcmp(s->name, "contact")) r->contact += s->certificate;
        if (!strcmp(s->name, "stress")) r->stress += s->work.products, r->gap += s->certificate;
    }
    for (int i = 0; i < p->phases; i++)
        if (!strcmp(p->phase[i].name, "solve")) r->solve += p->phase[i].cpu;
    int frame = (int)sim->state.frame;
    if (energy_of(p) > EXPLODES * r->energy)
        snprintf(r->end, sizeof r->end, "explodes in frame %d", frame + 1);
    else if (tl_cpu_seconds() - r->begin > SECONDS_MAX)
        snprintf(r->end, sizeof r->end, "stopped in frame %d after %.0f s", frame + 1, SECONDS_MAX);
    return *r->end != 0;
}

static talus_status open_run(run *r, const talus_bench_options *o, const sand_table *t, const variant *v,
                             talus_error *err)
{
    char text[4096], shapes[1100] = "";
    const int n = o->size ? o->size : t->cells;
    int settings = 0;
    while (settings < SETTINGS_MAX && v->setting[settings]) settings++;
    snprintf(text, sizeof text, "local n = %d\n%s", n, t->scene);
    if (o->scenes) snprintf(shapes, sizeof shapes, "%.1000s/shapes", o->scenes);
    tl_load_options load = {.setting_count = settings, .setting = v->setting, .shapes_folder = shapes};
    *r = (run){.begin = tl_cpu_seconds()};
    return tl_world_text(&r->w, text, &load, err);
}

/* ---- shape of a heap ---- */

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double share_of(int64_t n, double *x, double share)
{
    if (n == 0) return NAN;
    qsort(x, (size_t)n, sizeof *x, rising);
    return x[(int64_t)(share * (double)(n - 1))];
}

typedef struct heap {
    double height, runout, ratio; /* m; 99 % of particles; that along diagonals over that along axes */
} heap;

/* About the y axis; along an axis or a diagonal: within 15 degrees. */
static heap measure_heap(tl_sim *sim)
{
    const tl_particles *p = &tl_grid_state_of(&sim->state)->particles;
    heap h = {NAN, NAN, NAN};
    size_t mark = tl_arena_mark(&sim->arena);
    double *x = TL_TAKE(&sim->arena, double, p->count), *axis = TL_TAKE(&sim->arena, double, p->count);
    double *diagonal = TL_TAKE(&sim->arena, double, p->count);
    int64_t axes = 0, diagonals = 0;
    if (x && axis && diagonal) {
        for (int64_t i = 0; i < p->count; i++) x[i] = p->particle[i].x.y;
        h.height = share_of(p->count, x, 0.999);
        for (int64_t i = 0; i < p->count; i++) {
            double a = fabs(p->particle[i].x.x), b = fabs(p->particle[i].x.z), r = hypot(a, b);
            x[i] = r;
            if (fmin(a, b) < 0.2679 * fmax(a, b)) axis[axes++] = r;          /* tan 15 */
            if (fmin(a, b) > 0.5774 * fmax(a, b)) diagonal[diagonals++] = r; /* tan 30 */
        }
        h.runout = share_of(p->count, x, 0.99);
        h.ratio = share_of(diagonals, diagonal, 0.99) / share_of(axes, axis, 0.99);
    }
    tl_arena_release(&sim->arena, mark);
    return h;
}

/* ---- tables ---- */

static void number(tl_table *t, const char *format, double x)
{
    if (x > 0)
        tl_table_cell(t, format, x); /* formats are literals of this file */
    else
        tl_table_cell(t, "-");
}

static void write_row(tl_table *t, const sand_table *s, const variant *v, run *r)
{
    double steps = r->steps ? (double)r->steps : 1;
    double frames = fmax(1, r->w.sim->state.t * r->w.scene->fps);
    heap h = measure_heap(r->w.sim);
    tl_table_cell(t, "%s", v->name);
    tl_table_cell(t, "%.1f", (double)r->sweeps / frames);
    tl_table_cell(t, "%.0f", (double)r->stress / frames);
    tl_table_cell(t, "%.0f", (double)r->pressure / frames);
    tl_table_cell(t, "%.1fk", 1e-3 * (double)r->unknowns / steps);
    tl_table_cell(t, "%.1f", steps / frames);
    tl_table_cell(t, "%.3f", r->solve / frames);
    tl_table_cell(t, "%.0e", r->gap / steps);
    tl_table_cell(t, "%.3f", h.height);
    if (s->bodies) {
        const tl_rigid_state *b = &r->w.sim->state.rigid;
        tl_table_cell(t, "%.3f", b->body[0].x.y);
        tl_table_cell(t, "%+.1f", 1e3 * b->body[0].v.y);
        tl_table_cell(t, "%.0e", r->contact / steps);
        tl_table_cell(t, "%.1f", 100 * r->deepest / r->w.scene->grid.cell);
    } else {
        tl_table_cell(t, "%.3f", h.runout);
        tl_table_cell(t, "%.3f", h.ratio);
        tl_table_cell(t, "%.3f", r->w.sim->report.fastest);
    }
    tl_table_cell(t, "%+.1f", 100 * r->w.sim->report.volume_error);
    number(t, "%.1f", v->paper.sweeps);
    number(t, "%.0f", v->paper.stress);
    number(t, "%.0f", v->paper.pressure);
    number(t, "%.2f", v->paper.seconds);
    tl_table_cell(t, "%s%s%.0lld%s", r->end, *r->end && r->retries ? ", " : "", (long long)r->retries,
                  r->retries ? " retries" : "");
    tl_table_send(t, TALUS_ROW_DATA);
}

static talus_status run_variant(const talus_bench_options *o, tl_table *t, const sand_table *s, const variant *v,
                                talus_error *err)
{
    run r = {0};
    talus_error failed = {0};
    talus_status status = open_run(&r, o, s, v, err);
    if (status == TALUS_OK) {
        while (status == TALUS_OK && !*r.end && r.w.sim->state.frame < s->frames)
            status = tl_sim_frame(r.w.sim, after_step, &r, &failed);
        if (status != TALUS_OK && status != TALUS_INTERRUPTED)
            snprintf(r.end, sizeof r.end, "fails in frame %d: %.40s", (int)r.w.sim->state.frame + 1, failed.message);
        write_row(t, s, v, &r);
        status = TALUS_OK;
    }
    tl_world_close(&r.w);
    return status;
}

static talus_status run_table(const talus_bench_options *o, tl_table *t, const sand_table *s, talus_error *err)
{
    static const char *const heaps[] = {"variant",  "sweeps",        "s products", "p its",    "cells",       "steps",
                                        "CPU s",    "gap of s",      "height m",   "runout m", "diag/axis",   "fastest",
                                        "volume %", "paper: sweeps", "s its",      "p its",    "s (8 cores)", "end",
                                        NULL};
    static const char *const bodies[] = {"variant", "sweeps",   "s products",  "p its",    "cells",
                                         "steps",   "CPU s",    "gap of s",    "heap m",   "body m",
                                         "mm/s",    "contacts", "overlap %",   "volume %", "paper: sweeps",
                                         "s its",   "p its",    "s (8 cores)", "end",      NULL};
    tl_table_line(t, TALUS_ROW_TITLE, "%s; %d cells per metre, %d frames", s->title, o->size ? o->size : s->cells,
                  s->frames);
    tl_table_header(t, s->bodies ? bodies : heaps);
    for (int i = 0; i < VARIANTS_MAX && s->variant[i].name && !t->stopped; i++)
        if (!o->method || strstr(s->variant[i].name, o->method)) TL_TRY(run_variant(o, t, s, &s->variant[i], err));
    tl_table_line(t, TALUS_ROW_NOTE, "%s", s->note);
    tl_table_line(
        t, TALUS_ROW_NOTE,
        "Per frame of 1/50 s: sweeps (pf-c, c-pf: one per step, with sweeps of their own inside), products "
        "with the matrix of stress (of one component, or of all), p iterations, steps, processor seconds of "
        "the solve. gap: mean of steps, of colocated stress from the exact cone, of staggered from its boxes.");
    if (s->bodies)
        tl_table_line(t, TALUS_ROW_NOTE,
                      "mm/s: of the body at the end; contacts: mean of their certificates; overlap: deepest of bodies, "
                      "of a cell.");
    return TALUS_OK;
}

/* Two boxes side by side; as many cells as the paper's at 96. */
static const sand_table table2 = {
    .title = "Two boxes of sand collapse",
    .scene = "return scene { talus = 1, engine = 'grid', duration = 2, fps = 50,\n"
             " grid = { cells = {n, n, n}, cell = 1 / n, origin = {-0.5, 0, -0.5} },\n"
             " fill = { { material = granular { density = 1600, friction_angle_deg = 35 },\n"
             "   shape = box { size = 0.215, center = {-0.16, 0.1075, -0.1} } + box { size = 0.215, center = {0.16, "
             "0.1075, 0.1} } } },\n"
             " solver = { stress = 'staggered', cone = 'pyramid', sweeps = 30 } }\n",
    .note =
        "The paper: 96^3 (--size 96), 138.6k particles, 10 iterations per stress solve. Melting shows as a lower heap.",
    .cells = 32,
    .frames = 30,
    .variant = {
        {"SP, SOR, as energy",
         {"solver.friction.method=box", "solver.friction.precond=ssor", "solver.parts.stiffen=1e-3",
          "solver.parts.as_energy=true"},
         {30.7, 9800, 1200, 165.95}},
        {"SP, SOR, in increments",
         {"solver.friction.method=box", "solver.friction.precond=ssor", "solver.parts.stiffen=1e-3"},
         {0}},
        {"SP, diagonal, increments", {"solver.friction.method=box"}, {0}},
        {"jcsp, SOR",
         {"solver.friction.method=jcsp-pyramid", "solver.friction.precond=ssor", "solver.parts.newton=10"},
         {19.6, 54900, 1000, 45.34}},
        {"jcsp, diagonal", {"solver.friction.method=jcsp-pyramid", "solver.parts.newton=10"}, {0}},
        {"narain", {"solver.friction.method=narain"}, {0}},
        {"narain, as printed", {"solver.friction.method=narain-printed"}, {0}},
        {"cone, apgd (ours)", {"solver.friction.method=apgd", "solver.stress=colocated", "solver.cone=exact"}, {0}}}};

/* As many particles as the paper's at 80 cells. */
#define COLUMN                                                                                                         \
    "return scene { talus = 1, engine = 'grid', duration = 2, fps = 50,\n"                                             \
    " grid = { cells = {n, n // 2, n}, cell = 1 / n, origin = {-0.5, 0, -0.5} },\n"                                    \
    " fill = { { material = granular { density = 1600, friction_angle_deg = 35 },\n"                                   \
    "   shape = cylinder { radius = 0.1, height = 0.2, center = {0, 0.1, 0} } } },\n"                                  \
    " solver = { sweeps = 30 } }\n"

static const sand_table table3 = {
    .title = "Column of sand, cone and pyramid",
    .scene = COLUMN,
    .note = "The paper: 80^3 (--size 80), 26.0k particles.",
    .cells = 48,
    .frames = 30,
    .variant = {
        {"stag. pyramid", {"solver.stress=staggered", "solver.cone=pyramid"}, {6.1, 400, 59, .23}},
        {"stag. pyramid c = 1", {"solver.stress=staggered", "solver.cone=pyramid", "solver.parts.pyramid=1"}, {0}},
        {"stag. cone", {"solver.stress=staggered", "solver.friction.method=jcsp"}, {34.6, 6700, 328.6, 2.68}},
        {"stag. cone, whole (ours)", {"solver.stress=staggered"}, {0}},
        {"colo. pyramid", {"solver.cone=pyramid"}, {5.3, 2500, 66.5, 1.16}},
        {"colo. cone only", {"solver.friction.method=jcsp", "solver.parts.loose=0"}, {9.9, 700, 107.1, .73}},
        {"colo. cone tight", {"solver.friction.method=jcsp", "solver.parts.loose=1"}, {6.5, 2000, 74.6, 1.20}},
        {"colo. cone line search",
         {"solver.friction.method=jcsp", "solver.parts.line_search=true"},
         {36.1, 2600, 635.9, 3.02}},
        {"colo. cone 4 its", {"solver.friction.method=jcsp", "solver.parts.newton=4"}, {6.3, 2700, 62.5, 1.62}},
        {"colo. cone (theirs)", {"solver.friction.method=jcsp"}, {7.3, 800, 79.9, .69}},
        {"... multipliers kept", {"solver.friction.method=jcsp", "solver.parts.keep=true"}, {0}},
        {"... damping 0.5", {"solver.friction.method=jcsp", "solver.parts.damping=0.5"}, {0}},
        {"colo. narain", {"solver.friction.method=narain"}, {0}},
        {"... as printed", {"solver.friction.method=narain-printed"}, {0}},
        {"cone, apgd (ours)", {"solver.friction.method=apgd"}, {0}},
        {"... inactive-zero", {"solver.friction.method=apgd", "solver.edges=inactive-zero"}, {0}},
        {"... strict", {"solver.friction.method=apgd", "solver.edges=strict"}, {0}}}};

static const sand_table table4 = {
    .title = "A rabbit of sand falls",
    .scene = "return scene { talus = 1, engine = 'grid', duration = 2, fps = 50,\n"
             " grid = { cells = {n, n, n}, cell = 1 / n, origin = {-0.5, 0, -0.5} },\n"
             " fill = { { material = granular { density = 1600, friction_angle_deg = 35 },\n"
             "   shape = shape_file 'rabbit':scale(2.5):move({0, 0.05, 0}) } },\n"
             " solver = { sweeps = 20 } }\n",
    .note = "The paper: 80^3 (--size 80), 176.5k particles.",
    .cells = 32,
    .frames = 25,
    .variant = {{"stag. pyramid, 2",
                 {"solver.stress=staggered", "solver.cone=pyramid", "solver.sweeps=2"},
                 {1.9, 181.2, 26.1, .95}},
                {"stag. pyramid, 20", {"solver.stress=staggered", "solver.cone=pyramid"}, {5.8, 746.5, 101.7, 1.63}},
                {"colo. jcsp, 2", {"solver.friction.method=jcsp", "solver.sweeps=2"}, {2.8, 430, 59.3, 4.75}},
                {"colo. jcsp, 20", {"solver.friction.method=jcsp"}, {8.1, 1243.1, 169.5, 6.6}},
                {"cone, apgd, 2 (ours)", {"solver.friction.method=apgd", "solver.sweeps=2"}, {0}},
                {"cone, apgd, 20 (ours)", {"solver.friction.method=apgd"}, {0}}}};

static const sand_table table5 = {
    .title = "A rabbit, or a block, of 2000 kg/m^3 on a heap of sand",
    .scene = "local p = params { block = false }\n"
             "return scene { talus = 1, engine = 'grid', duration = 2, fps = 50,\n"
             " grid = { cells = {n, n, n}, cell = 1 / n, origin = {-0.5, 0, -0.5} },\n"
             " fill = { { material = granular { density = 1600, friction_angle_deg = 35 },\n"
             "   shape = sphere { radius = 0.34 } * half_space { normal = {0, -1, 0} } } },\n"
             " bodies = { { name = 'body', shape = p.block and box { size = 0.2 } or shape_file 'rabbit':move({0, "
             "-0.13, 0}),\n"
             "   at = {0, 0.5, 0}, density = 2000 } },\n"
             " solver = { sweeps = 20 } }\n",
    .note = "The paper: 64^3 (--size 64), 173.7k particles; its colocated rows are with a block. Heap: the "
            "highest "
            "grain; body: its centre of mass.",
    .cells = 32,
    .frames = 50,
    .bodies = true,
    .variant = {{"stag. pyramid, 2",
                 {"solver.stress=staggered", "solver.cone=pyramid", "solver.sweeps=2"},
                 {4.6, 888.9, 100.3, 2.57}},
                {"stag. pyramid, 20", {"solver.stress=staggered", "solver.cone=pyramid"}, {11.9, 1868.5, 240.5, 3.08}},
                {"colo. jcsp, 2", {"solver.friction.method=jcsp", "solver.sweeps=2"}, {0}},
                {"colo. jcsp, 20", {"solver.friction.method=jcsp"}, {0}},
                {"cone, apgd, 2 (ours)", {"solver.friction.method=apgd", "solver.sweeps=2"}, {0}},
                {"cone, apgd, 20 (ours)", {"solver.friction.method=apgd"}, {0}},
                {"block, colo. jcsp, 2",
                 {"solver.friction.method=jcsp", "solver.sweeps=2", "block=true"},
                 {3.3, 285.6, 73.1, 4.76}},
                {"block, colo. jcsp, 20", {"solver.friction.method=jcsp", "block=true"}, {16.5, 1416.5, 338.2, 7.95}},
                {"block, apgd, 2 (ours)", {"solver.friction.method=apgd", "solver.sweeps=2", "block=true"}, {0}},
                {"block, apgd, 20 (ours)", {"solver.friction.method=apgd", "block=true"}, {0}}}};

static const sand_table table7 = {
    .title = "Board and rabbit on a heap of sand: four schemes",
    .scene = "return scene { talus = 1, engine = 'grid', duration = 3, fps = 50,\n"
             " grid = { cells = {n, n, n}, cell = 1 / n, origin = {-0.5, 0, -0.5} },\n"
             " fill = { { material = granular { density = 1600, friction_angle_deg = 35 },\n"
             "   shape = sphere { radius = 0.274 } * half_space { normal = {0, -1, 0} } } },\n"
             " bodies = { { name = 'board', shape = box { size = {0.4, math.max(0.05, 2.2 / n), 0.3} }, at = {0, 0.33, "
             "0}, density = 500 },\n"
             "   { name = 'rabbit', shape = shape_file 'rabbit', at = {0, 0.42, 0}, density = 500 } },\n"
             " solver = { sweeps = 30 } }\n",
    .note = "The paper: 64^3 (--size 64), 90.2k particles; c-pf explodes at its frame 69. Body: the board's centre of "
            "mass. Their sweeps of pf-c and c-pf: of "
            "sand alone.",
    .cells = 32,
    .frames = 50,
    .bodies = true,
    .variant = {{"pf-c", {"solver.scheme=pf-c"}, {78.2, 3200, 2600, 10.9}},
                {"c-pf", {"solver.scheme=c-pf"}, {37, 3000, 500, 6.96}},
                {"t-f-pn", {"solver.scheme=t-f-pn"}, {39.9, 3300, 700, 28.6}},
                {"t-f-p-n", {"solver.scheme=t-f-p-n"}, {33.9, 3000, 1600, 25.2}},
                {"t-f-p-n, jcsp", {"solver.scheme=t-f-p-n", "solver.friction.method=jcsp"}, {33.9, 3000, 1600, 25.2}}}};

/* Plane strain, 0.2 x 0.2 m, 40 cells per metre: quick, and what the bands of validation are from. */
static const sand_table flat = {
    .title = "Flat column of sand, 30 degrees: figures 6 and 9, edge rules, densities, options of jcsp",
    .scene = "return scene { talus = 1, engine = 'grid', duration = 2, fps = 50, dt_max = 5e-3,\n"
             " grid = { cells = {8 * n // 5, 2 * n // 5, 1}, cell = 1 / n, origin = {-0.8, 0, -0.5 / n}, periodic = "
             "{false, false, true} },\n"
             " fill = { { material = granular { density = 1600, friction_angle_deg = 30 },\n"
             "   shape = box { size = {0.2, 0.2, 1 / n}, center = {0, 0.1, 0} } } } }\n",
    .note = "Beyond the paper.",
    .cells = 40,
    .frames = 40,
    .variant = {
        {"cone, apgd", {NULL}, {0}},
        {"apgd, inactive-zero", {"solver.edges=inactive-zero"}, {0}},
        {"apgd, strict", {"solver.edges=strict"}, {0}},
        {"apgd, density const", {"solver.density=const"}, {0}},
        {"apgd, density mass", {"solver.density=mass"}, {0}},
        {"20 degrees", {"fill[1].material.friction_angle_deg=20"}, {0}},
        {"40 degrees", {"fill[1].material.friction_angle_deg=40"}, {0}},
        {"jcsp, multipliers reset", {"solver.friction.method=jcsp"}, {0}},
        {"jcsp, multipliers kept", {"solver.friction.method=jcsp", "solver.parts.keep=true"}, {0}},
        {"jcsp, 2 sweeps, box", {"solver.friction.method=jcsp", "solver.sweeps=2"}, {0}},
        {"jcsp, 2 sweeps, no box", {"solver.friction.method=jcsp", "solver.sweeps=2", "solver.parts.loose=0"}, {0}},
        {"colocated pyramid", {"solver.cone=pyramid"}, {0}},
        {"staggered pyramid", {"solver.cone=pyramid", "solver.stress=staggered"}, {0}},
        {"staggered narain", {"solver.friction.method=narain", "solver.stress=staggered"}, {0}},
        {"staggered narain, printed", {"solver.friction.method=narain-printed", "solver.stress=staggered"}, {0}},
        {"staggered cone, whole", {"solver.stress=staggered"}, {0}},
        {"staggered cone, jcsp", {"solver.stress=staggered", "solver.friction.method=jcsp"}, {0}},
        {"staggered cone, stiff",
         {"solver.stress=staggered", "solver.friction.method=jcsp", "solver.parts.penalty=100"},
         {0}}}};

/* ---- the same, frame by frame ---- */

static talus_status profile_variant(const talus_bench_options *o, tl_profile *p, const sand_table *s, const variant *v,
                                    talus_error *err)
{
    run r = {0};
    talus_error failed = {0};
    talus_status status = open_run(&r, o, s, v, err);
    r.profile = p;
    while (status == TALUS_OK && !*r.end && !p->table->stopped && r.w.sim->state.frame < s->frames) {
        if (tl_sim_frame(r.w.sim, after_step, &r, &failed) != TALUS_OK && !*r.end)
            snprintf(r.end, sizeof r.end, "fails in frame %d: %.40s", (int)r.w.sim->state.frame + 1, failed.message);
        tl_profile_send(p, v->name, r.w.sim->state.frame);
    }
    if (*r.end) tl_table_line(p->table, TALUS_ROW_NOTE, "%s: %s", v->name, r.end);
    tl_world_close(&r.w);
    return status;
}

static talus_status profile_table(const talus_bench_options *o, tl_profile *p, const sand_table *s, talus_error *err)
{
    for (int i = 0; i < VARIANTS_MAX && s->variant[i].name && !p->table->stopped; i++)
        if (!o->method || strstr(s->variant[i].name, o->method)) TL_TRY(profile_variant(o, p, s, &s->variant[i], err));
    tl_table_line(p->table, TALUS_ROW_NOTE, "%s", s->note);
    return TALUS_OK;
}

#define FIGURE(number, data, text)                                                                                     \
    static talus_status run_figure##number(const talus_bench_options *o, tl_profile *p, talus_error *err)              \
    {                                                                                                                  \
        return profile_table(o, p, &data, err);                                                                        \
    }                                                                                                                  \
    const tl_figure tl_figure##number = {"fm-figure" #number, text, run_figure##number};

FIGURE(8, table2, "two boxes of sand, stress all at once and by components")
FIGURE(10, table3, "column of sand, cone and pyramid")
FIGURE(12, table4, "a rabbit of sand falls, 2 and 20 sweeps")
FIGURE(14, table5, "a body on a heap of sand, 2 and 20 sweeps")
FIGURE(18, table7, "board and rabbit on a heap of sand, four schemes")

#define TABLE(id, data, label, text)                                                                                   \
    static talus_status bench_##id(const talus_bench_options *o, tl_table *t, talus_error *err)                        \
    {                                                                                                                  \
        return run_table(o, t, &data, err);                                                                            \
    }                                                                                                                  \
    const tl_bench tl_bench_##id = {label, text, bench_##id};

TABLE(table3, table3, "fm-table3", "column of sand: cone and pyramid, staggered and colocated")
TABLE(table4, table4, "fm-table4", "falling sand: 2 and 20 sweeps")
TABLE(table5, table5, "fm-table5", "a body on a heap of sand: 2 and 20 sweeps")
TABLE(table7, table7, "fm-table7", "four schemes of pressure, stress and contact beside the paper's")
TABLE(sand_flat, flat, "sand-flat", "flat column of sand: every choice of the stress block")

/* ---- the stress block alone ---- */

static double column_level(tl_vec3 x) { return fmax(hypot(x.x, x.z) - 0.3, x.y - 0.5); }

/* A column under its own weight that spreads: u = (x, -2 y, z) m/s per m. o: NULL or options of parts, staggered
 * then. */
static talus_status spread_column(tl_still *s, int n, const char *parts, const tl_parts_options *o, int iterations,
                                  talus_error *err)
{
    char text[512];
    snprintf(text, sizeof text,
             "return scene { talus = 1, engine = 'grid', duration = 1,"
             " grid = { cells = {%d, %d, %d}, cell = %.17g, origin = {-0.5, 0, -0.5} },"
             " bodies = { { kind = 'static', shape = sphere { radius = 0.1 }, at = {9, 9, 9} } } }",
             n, n, n, 1.0 / n);
    TL_TRY(tl_still_begin(s, text, err));
    s->phi = column_level;
    s->alpha = 0.81; /* 35 degrees */
    s->density = 1600;
    s->family = TL_WEIGHT_VOLUME;
    s->parts = parts;
    s->options.newton = 1;
    if (o) s->options = *o;
    s->staggered = o != NULL;
    s->stress_iterations = iterations;
    TL_TRY(tl_still_assemble(s, err));
    tl_coupling *c = &s->system.c;
    for (int32_t f = 0; f < c->faces; f++) {
        tl_vec3 x = tl_grid_face_centre(&s->grid, s->system.axis[f], s->system.id[f]);
        c->u[f] = s->system.axis[f] == 0 ? x.x : s->system.axis[f] == 1 ? -2 * x.y : x.z;
    }
    for (int32_t i = 0; i < c->cells; i++) {
        double depth = 0.5 - tl_grid_centre(&s->grid, s->system.active.cell[i]).y;
        s->p[i] = depth > 0 ? 1600 * 9.81 * depth * s->system.stress.cell[i] : 0;
    }
    return TALUS_OK;
}

/* Best of solves until so many products are spent. */
static talus_status spend(tl_still *s, int64_t products, double *gap, int64_t *spent, talus_error *err)
{
    tl_cones_report report;
    double now;
    *gap = INFINITY, *spent = 0;
    while (*spent < products) {
        TL_TRY(tl_cones_solve(&s->cones, s->p, 1e-12, &s->sim->arena, &report, err));
        TL_TRY(tl_cones_error(&s->cones, s->p, &s->sim->arena, &now, err));
        *gap = fmin(*gap, now);
        *spent += report.work.products;
        if (report.work.products == 0) break;
    }
    return TALUS_OK;
}

static talus_status bench_stress(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const columns[] = {"method",   "cells", "edges",           "faces",
                                          "products", "gap",   "ns/cell/product", NULL};
    static const struct {
        const char *name, *parts;
        int iterations;
        int64_t products;
    } ways[] = {{"apgd", NULL, 13, 1}, {"apgd", NULL, 33, 1}, {"jcsp", "jcsp", 12, 160}};
    const int n = o->size ? o->size : 40;
    tl_table_line(t, TALUS_ROW_TITLE, "stress at frozen pressure from nothing: a column that spreads, %d^3 cells", n);
    tl_table_header(t, columns);
    for (size_t k = 0; k < sizeof ways / sizeof *ways && !t->stopped; k++) {
        tl_still s;
        double gap = NAN, best = INFINITY;
        int64_t spent = 0;
        talus_status status = spread_column(&s, n, ways[k].parts, NULL, ways[k].iterations, err);
        if (status == TALUS_OK) status = spend(&s, ways[k].products, &gap, &spent, err);
        for (int i = 0; i < 20 && status == TALUS_OK; i++) {
            double begin = tl_cpu_seconds();
            tl_stress_product(&s.system.stress, &s.system.c, s.stress, s.cones.ds);
            best = fmin(best, tl_cpu_seconds() - begin);
        }
        if (status == TALUS_OK) {
            tl_table_cell(t, "%s", ways[k].name);
            tl_table_cell(t, "%d", s.system.c.cells);
            tl_table_cell(t, "%d", s.system.stress.edges);
            tl_table_cell(t, "%d", s.system.c.faces);
            tl_table_cell(t, "%lld", (long long)spent);
            tl_table_cell(t, "%.2e", gap);
            tl_table_cell(t, "%.0f", 1e9 * best / s.system.c.cells);
            tl_table_send(t, TALUS_ROW_DATA);
        }
        tl_still_end(&s);
        TL_TRY(status);
    }
    tl_table_line(t, TALUS_ROW_NOTE,
                  "gap: of the exact cone, over the energy of friction; of jcsp the best on its way, or how far it is "
                  "outside of cones. Processor time, best of 20.");
    return TALUS_OK;
}

const tl_bench tl_bench_stress = {"stress", "frictional stress alone: gap for work, speed of its product",
                                  bench_stress};

/* ---- table 2, the stress block alone: the same boxes, the same start, to the same gap ---- */

#define SPLIT_GAP 0.01
#define SPLIT_SECONDS 400.0 /* what takes longer is told and left */

typedef struct split_way {
    const char *name, *rule;
    bool ssor;
    int iterations; /* of a box QP before the next velocities */
} split_way;

typedef struct split_result {
    double gap, seconds;
    int64_t products, solves;
} split_result;

static talus_status time_split(tl_still *s, split_result *out, talus_error *err)
{
    *out = (split_result){.gap = INFINITY};
    while (out->gap > SPLIT_GAP && out->seconds < SPLIT_SECONDS) {
        tl_cones_report report;
        double begin = tl_cpu_seconds();
        TL_TRY(tl_cones_solve(&s->cones, s->p, 1e-12, &s->sim->arena, &report, err));
        out->seconds += tl_cpu_seconds() - begin;
        TL_TRY(tl_cones_error(&s->cones, s->p, &s->sim->arena, &out->gap, err));
        out->products += report.work.products;
        out->solves++;
    }
    return TALUS_OK;
}

static talus_status one_split(const talus_bench_options *o, tl_table *t, int n, const split_way *way, talus_error *err)
{
    tl_still s;
    split_result r = {0};
    tl_parts_options options = tl_parts_default();
    options.ssor = way->ssor;
    options.damping = 0.5;
    options.iterations = way->iterations;
    if (o->method && !strstr(way->name, o->method)) return TALUS_OK;
    talus_status status = spread_column(&s, n, way->rule, &options, 0, err);
    if (status == TALUS_OK) status = time_split(&s, &r, err);
    if (status == TALUS_OK) {
        tl_table_cell(t, "%s", way->name);
        tl_table_cell(t, "%lld", (long long)s.system.stress.n);
        tl_table_cell(t, "%lld", (long long)r.solves);
        tl_table_cell(t, "%lld", (long long)r.products);
        tl_table_cell(t, "%.1e", r.gap);
        tl_table_cell(t, "%.2f", r.seconds);
        tl_table_send(t, TALUS_ROW_DATA);
    }
    tl_still_end(&s);
    return status;
}

static talus_status bench_table2(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const columns[] = {"variant", "unknowns", "solves", "products", "gap", "CPU s", NULL};
    /* the iterations are the best of 5, 10, 50, 100 at 40^3, for each */
    static const split_way ways[] = {{"SP, SOR", "box", true, 50},
                                     {"SP, diagonal", "box", false, 50},
                                     {"jcsp, SOR", "jcsp-pyramid", true, 5},
                                     {"jcsp, diagonal", "jcsp-pyramid", false, 5},
                                     {"narain", "narain", false, 10}};
    const int n = o->size ? o->size : table2.cells;
    if (!o->problem || strcmp(o->problem, "alone")) TL_TRY(run_table(o, t, &table2, err));
    tl_table_line(t, TALUS_ROW_TITLE,
                  "the stress block alone: a column that spreads, %d^3 cells, staggered, from nothing to a gap of %g",
                  n, SPLIT_GAP);
    tl_table_header(t, columns);
    for (size_t k = 0; k < sizeof ways / sizeof *ways && !t->stopped; k++) TL_TRY(one_split(o, t, n, &ways[k], err));
    tl_table_line(t, TALUS_ROW_NOTE,
                  "products: with all five components (SP), or with one (two for xx with zz). --problem alone leaves "
                  "the runs out. The paper: SP takes 3.7 "
                  "times as long as jcsp at 96^3, more than 10 times at 128^3.");
    return TALUS_OK;
}

const tl_bench tl_bench_table2 = {
    "fm-table2", "stress all at once beside component by component; --problem alone: one solve only", bench_table2};
