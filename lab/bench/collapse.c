/* Round and flat columns of sand collapse and come to rest: runout and height against the experiments of [Lube2004] and
 * [Lube2005], by aspect ratio, angle, cone and law of friction.
 *
 * Runout: the radius at which the mean thickness of the deposit on a ring falls to half a grain (a quarter of a
 * cell), which is where sand stops to cover the ground. Along axes and diagonals: the same of the four sectors of 45
 * degrees each. Flat: the same of strips to both sides. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "lab/bench/table.h"
#include "lab/world.h"
#include "model/grid/state.h"

#define PI 3.14159265358979323846
#define RADIUS 0.16 /* m */
#define CELLS 8     /* in the radius */
#define STILL 1e-3  /* m/s that 99.9 % of the grains are below at rest */
#define LOOK 0.05   /* s between looks */
#define LONGEST 3.0 /* s */
#define SHARE 0.999
#define GRAIN 0.002 /* m: an eightieth of the radius, as in the experiments */

typedef struct column {
    const char *name;
    double aspect, angle;
    const char *setting; /* NULL: none */
    bool flat, rates;    /* mu(I), grains of GRAIN */
} column;

static const column columns[] = {
    {"aspect 0.5", 0.5, 30, NULL, false, false},
    {"aspect 1", 1, 30, NULL, false, false},
    {"aspect 2", 2, 30, NULL, false, false},
    {"aspect 4", 4, 30, NULL, false, false},
    {"20 degrees", 1, 20, NULL, false, false},
    {"25 degrees", 1, 25, NULL, false, false},
    {"35 degrees", 1, 35, NULL, false, false},
    {"40 degrees", 1, 40, NULL, false, false},
    {"pyramid", 1, 30, "solver.cone=pyramid", false, false},
    {"flat 0.5", 0.5, 30, NULL, true, false},
    {"flat 1", 1, 30, NULL, true, false},
    {"flat 2", 2, 30, NULL, true, false},
    {"flat 4", 4, 30, NULL, true, false},
    {"round 0.5, mu(I)", 0.5, 30, NULL, false, true},
    {"round 1, mu(I)", 1, 30, NULL, false, true},
    {"round 2, mu(I)", 2, 30, NULL, false, true},
    {"round 4, mu(I)", 4, 30, NULL, false, true},
    {"flat 0.5, mu(I)", 0.5, 30, NULL, true, true},
    {"flat 1, mu(I)", 1, 30, NULL, true, true},
    {"flat 2, mu(I)", 2, 30, NULL, true, true},
    {"flat 4, mu(I)", 4, 30, NULL, true, true},
};
#define COLUMNS ((int)(sizeof columns / sizeof columns[0]))

/* (r - r0) / r0 of all grains they tried, round and between the walls of a channel. */
static double experiment(double aspect, bool flat)
{
    if (flat) return aspect < 2.3 ? 1.2 * aspect : 1.9 * pow(aspect, 2.0 / 3);
    return aspect < 1.7 ? 1.24 * aspect : 1.6 * sqrt(aspect);
}

typedef struct deposit {
    double rest;                                                                   /* s; NAN: still moving */
    double runout, along_axes, along_diagonals, ninety_nine, height, volume_error; /* m, but the last */
} deposit;

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static bool is_still(const tl_particles *p)
{
    int64_t fast = 0;
    for (int64_t i = 0; i < p->count; i++) fast += tl_vec3_norm2(p->particle[i].v) > STILL * STILL;
    return (double)fast <= (1 - SHARE) * (double)p->count;
}

static double distance(tl_vec3 x, bool flat) { return flat ? fabs(x.x) : hypot(x.x, x.z); }

/* 0: along an axis, 1: along a diagonal. */
static int sector_of(tl_vec3 x) { return fabs(remainder(atan2(x.z, x.x), PI / 2)) < PI / 8 ? 0 : 1; }

/* Rings of half a cell; a grain counts for the two that are nearest. sector < 0: all around. */
static double foot_of(const tl_particles *p, double dx, bool flat, int sector, int rings, double *volume)
{
    const double wide = 0.5 * dx, thin = 0.25 * dx, around = sector < 0 ? 1 : 0.5;
    memset(volume, 0, sizeof *volume * (size_t)rings);
    for (int64_t i = 0; i < p->count; i++) {
        const tl_particle *q = &p->particle[i];
        if (sector >= 0 && sector_of(q->x) != sector) continue;
        double at = fmax(0, distance(q->x, flat) / wide - 0.5), down = floor(at);
        int k = (int)fmin(down, rings - 2);
        volume[k] += (1 - (at - down)) * q->volume;
        volume[k + 1] += (at - down) * q->volume;
    }
    double before = INFINITY;
    for (int k = 0; k < rings; k++) {
        double area = flat ? 2 * wide * dx : around * PI * (2 * k + 1) * wide * wide, thick = volume[k] / area;
        if (thick < thin) return k == 0 ? 0 : wide * (k - 0.5 + (before - thin) / (before - thick));
        before = thick;
    }
    return NAN;
}

static talus_status measure(tl_sim *sim, bool flat, deposit *d, talus_error *err)
{
    const tl_particles *p = &tl_grid_state_of(&sim->state)->particles;
    const double dx = sim->scene->grid.cell;
    const int rings = 2 * sim->scene->grid.cells[0];
    size_t mark = tl_arena_mark(&sim->arena);
    double *volume = TL_TAKE(&sim->arena, double, rings), *r = TL_TAKE(&sim->arena, double, p->count);
    if (!volume || !r) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to measure a deposit");
    d->runout = foot_of(p, dx, flat, -1, rings, volume);
    d->along_axes = flat ? NAN : foot_of(p, dx, false, 0, rings, volume);
    d->along_diagonals = flat ? NAN : foot_of(p, dx, false, 1, rings, volume);
    for (int64_t i = 0; i < p->count; i++) {
        r[i] = distance(p->particle[i].x, flat);
        d->height = fmax(d->height, p->particle[i].x.y);
    }
    qsort(r, (size_t)p->count, sizeof *r, rising);
    d->ninety_nine = r[p->count * 99 / 100];
    d->volume_error = sim->report.volume_error;
    tl_arena_release(&sim->arena, mark);
    return TALUS_OK;
}

static talus_status collapse(tl_world *w, bool flat, deposit *d, talus_error *err)
{
    *d = (deposit){.rest = NAN};
    for (int k = 1; !(d->rest >= 0) && k * LOOK <= LONGEST; k++) {
        TL_TRY(tl_world_until(w, k * LOOK, 0, err));
        if (k > 3 && is_still(&tl_grid_state_of(&w->sim->state)->particles)) d->rest = w->sim->state.t;
    }
    return measure(w->sim, flat, d, err);
}

/* The box is wide enough for half as much again as the experiments have. */
static talus_status run_column(const column *c, int cells, int64_t *grains, deposit *d, talus_error *err)
{
    char text[1024], shape[160], law[48] = "";
    const double dx = RADIUS / cells, high = c->aspect * RADIUS;
    const int across = 2 * (int)ceil((1 + 1.5 * fmax(experiment(c->aspect, c->flat), 2)) * cells);
    if (c->flat)
        snprintf(shape, sizeof shape, "box { size = {%.17g, %.17g, %.17g}, center = {0, %.17g, %.17g} }", 2 * RADIUS,
                 high, dx, 0.5 * high, 0.5 * dx);
    else
        snprintf(shape, sizeof shape, "cylinder { radius = %.17g, height = %.17g, center = {0, %.17g, 0} }", RADIUS,
                 high, 0.5 * high);
    if (c->rates) snprintf(law, sizeof law, ", grain_size = %.17g", GRAIN);
    snprintf(text, sizeof text,
             "return scene { talus = 1, engine = 'grid', duration = 10, fps = 50, dt_max = 0.01,"
             " grid = { cells = {%d, %d, %d}, cell = %.17g, origin = {%.17g, 0, %.17g},"
             " periodic = {false, false, %s} },"
             " fill = { { material = granular { density = 1600, friction_angle_deg = %g%s }, shape = %s } } }",
             across, 2 * (int)ceil(0.5 * high / dx + 1), c->flat ? 1 : across, dx, -0.5 * across * dx,
             c->flat ? 0 : -0.5 * across * dx, c->flat ? "true" : "false", c->angle, law, shape);
    tl_load_options o = {.no_files = true, .setting_count = c->setting ? 1 : 0, .setting = &c->setting};
    tl_world w;
    TL_TRY(tl_world_text(&w, text, &o, err));
    talus_status status = collapse(&w, c->flat, d, err);
    *grains = tl_grid_state_of(&w.sim->state)->particles.count;
    tl_world_close(&w);
    return status;
}

static talus_status run(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const names[] = {"column          ", "grains",    "rest s",   "(r-r0)/r0", "experiment", "99 %",
                                        "height/r0",        "diag/axis", "volume %", "CPU s",     NULL};
    const int cells = o->size ? o->size : CELLS;
    double runout[COLUMNS];
    tl_table_line(t, TALUS_ROW_TITLE, "Columns of sand, radius %d cells, until 99.9 %% of the grains are below 1 mm/s",
                  cells);
    tl_table_header(t, names);
    for (int k = 0; k < COLUMNS && !t->stopped; k++) {
        const column *c = &columns[k];
        runout[k] = NAN;
        if (o->problem && !strstr(c->name, o->problem)) continue;
        deposit d = {0};
        int64_t grains = 0;
        double begin = tl_cpu_seconds();
        TL_TRY(run_column(c, cells, &grains, &d, err));
        runout[k] = d.runout / RADIUS - 1;
        tl_table_cell(t, "%s", c->name);
        tl_table_cell(t, "%lld", (long long)grains);
        tl_table_cell(t, "%.2f", d.rest);
        tl_table_cell(t, "%.3f", runout[k]);
        tl_table_cell(t, "%.2f", experiment(c->aspect, c->flat));
        tl_table_cell(t, "%.3f", d.ninety_nine / RADIUS - 1);
        tl_table_cell(t, "%.3f", d.height / RADIUS);
        tl_table_cell(t, "%.4f", d.along_diagonals / d.along_axes);
        tl_table_cell(t, "%+.1f", 100 * d.volume_error);
        tl_table_cell(t, "%.1f", tl_cpu_seconds() - begin);
        tl_table_send(t, TALUS_ROW_DATA);
    }
    if (isfinite(runout[0]) && isfinite(runout[1]) && isfinite(runout[2]) && isfinite(runout[3]))
        tl_table_line(t, TALUS_ROW_NOTE, "exponent of the aspect ratio: %.2f from 0.5 to 1, %.2f from 2 to 4",
                      log2(runout[1] / runout[0]), log2(runout[3] / runout[2]));
    return TALUS_OK;
}

const tl_bench tl_bench_collapse = {"collapse",
                                    "round and flat columns of sand come to rest: runout by aspect ratio, angle, cone "
                                    "and law of friction; --size: cells in r0",
                                    run};
