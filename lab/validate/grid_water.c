/* Water at rest and in waves, and bodies of a slab: at defaults, in the scenes that people write. */
#include <math.h>
#include <stdio.h>

#include "lab/validate/grid_cases.h"
#include "lab/world.h"
#include "model/grid/state.h"

#define G 9.81
#define PI 3.14159265358979323846
#define WATER "material = liquid { density = 1000 }"
#define SLAB "periodic = {false, false, true}"

static double mass_of(const tl_world *r)
{
    double m = 0;
    for (int64_t i = 0; i < tl_grid_state_of(&r->sim->state)->particles.count; i++)
        m += 1000 * tl_grid_state_of(&r->sim->state)->particles.particle[i].volume;
    return m;
}

/* ---- still ---- */

/* A vessel: its grid, what is filled and what is solid. %s: sampling. */
typedef struct vessel {
    const char *name, *text;
} vessel;

#define SCENE(cells, dx, fill, bodies)                                                                                 \
    "return scene { talus = 1, engine = 'grid', duration = 2, fps = 50, grid = { cells = " cells ", cell = " dx        \
    " }, fill = { { " WATER ", shape = " fill ", sampling = '%s' } }, bodies = { " bodies " } }"
#define LEVEL(top) "box { size = {2, " top ", 2}, center = {0.5, 0.5 * " top ", 0.5} }"
#define FLOOR(top, at)                                                                                                 \
    SCENE("{20, 20, 1}", "0.05, " SLAB, LEVEL(top),                                                                    \
          "{ kind = 'static', shape = box { size = {2, 1, 1} }, at = {0.5, " at " - 0.5, 0} }")
#define BOWL_2D(cells, dx)                                                                                             \
    SCENE(cells, dx ", " SLAB,                                                                                         \
          "intersect { cylinder { radius = 0.42, height = 2, rotation_deg = {90, 0, 0}, center = {0.5, 0.5, 0} "       \
          "}, " LEVEL("0.45") " }",                                                                                    \
          "{ kind = 'static', shape = subtract { box { size = {1.2, 1.2, 1}, center = {0, -0.1, 0} }, cylinder { "     \
          "radius = 0.42, height = 2, rotation_deg = {90, 0, 0} } }, at = {0.5, 0.5, 0} }")
#define BOWL_3D(cells, dx)                                                                                             \
    SCENE(cells, dx, "intersect { sphere { radius = 0.42, center = {0.5, 0.5, 0.5} }, " LEVEL("0.45") " }",            \
          "{ kind = 'static', shape = subtract { box { size = {1.2, 1.2, 1.2}, center = {0, -0.1, 0} }, sphere { "     \
          "radius = 0.42 } }, at = {0.5, 0.5, 0.5} }")

static const vessel small[] = {
    {"pool, surface at a cell's centre", SCENE("{20, 20, 1}", "0.05, " SLAB, LEVEL("0.613"), "")},
    {"floor at 2.4 cells", FLOOR("0.62", "0.12")},
    {"bowl, 2D", BOWL_2D("{20, 20, 1}", "0.05")},
    {"tilted box, 2D",
     SCENE("{20, 20, 1}", "0.05, " SLAB, LEVEL("0.5"),
           "{ kind = 'static', shape = subtract { box { size = {3, 3, 1} }, box { size = {0.6, 0.6, 2} } }, at = {0.5, "
           "0.5, 0}, rotation_deg = {0, 0, 17} }")},
};
static const vessel large[] = {
    {"floor at 2.15 cells", FLOOR("0.6", "0.1075")},
    {"floor at 2.8 cells", FLOOR("0.64", "0.14")},
    {"round obstacle, 2D",
     SCENE("{20, 20, 1}", "0.05, " SLAB, LEVEL("0.45"),
           "{ kind = 'static', shape = cylinder { radius = 0.23, height = 2, rotation_deg = {90, 0, 0} }, at = {0.47, "
           "0.31, 0} }")},
    {"bowl, 2D, 40 cells", BOWL_2D("{40, 40, 1}", "0.025")},
    {"bowl, 3D", BOWL_3D("{20, 20, 20}", "0.05")},
    {"bowl, 3D, 40 cells", BOWL_3D("{40, 40, 40}", "0.025")},
    {"tilted box, 3D",
     SCENE("{20, 20, 20}", "0.05", LEVEL("0.5"),
           "{ kind = 'static', shape = subtract { box { size = 3 }, box { size = 0.6 } }, at = {0.5, 0.5, 0.5}, "
           "rotation_deg = {8, 0, 17} }")},
    {"round obstacle, 3D", SCENE("{20, 20, 20}", "0.05", LEVEL("0.45"),
                                 "{ kind = 'static', shape = sphere { radius = 0.23 }, at = {0.47, 0.31, 0.52} }")},
};

/* Largest root mean square velocity between 1.85 and 2 s. */
static talus_status stand_still(tl_case_log *log, tl_world *r, const vessel *v, const char *sampling, talus_error *err)
{
    char text[4000], name[120];
    snprintf(text, sizeof text, v->text, sampling);
    TL_TRY(tl_world_text(r, text, NULL, err));
    double max = 0;
    while (r->sim->state.t < 2 - 1e-9) {
        TL_TRY(tl_sim_frame(r->sim, NULL, NULL, err));
        if (r->sim->state.t > 1.85) max = fmax(max, sqrt(2 * r->sim->report.kinetic / mass_of(r)));
    }
    snprintf(name, sizeof name, "%s, %s: rms velocity after 2 s, m/s", v->name, sampling);
    tl_case_below(log, name, max, 1e-3);
    snprintf(name, sizeof name, "%s, %s: volume", v->name, sampling);
    tl_case_near(log, name, r->sim->report.volume_error, 0, 0.01);
    return TALUS_OK;
}

static talus_status all_still(tl_case_log *log, int count, const vessel *of, talus_error *err)
{
    static const char *const sampling[] = {"lattice", "jitter"};
    talus_status status = TALUS_OK;
    for (int k = 0; k < 2 * count && status == TALUS_OK; k++) {
        tl_world r;
        status = stand_still(log, &r, &of[k / 2], sampling[k % 2], err);
        tl_world_close(&r);
    }
    return status;
}

talus_status tl_case_grid_still(tl_case_log *log, talus_error *err)
{
    return all_still(log, (int)(sizeof small / sizeof *small), small, err);
}

talus_status tl_case_grid_bowls(tl_case_log *log, talus_error *err)
{
    return all_still(log, (int)(sizeof large / sizeof *large), large, err);
}

/* ---- slosh ---- */

#define FRAMES_MAX 128 /* of a period */

typedef struct wave {
    int cells, mode;
    double depth, seconds;
} wave;

static talus_status slosh(tl_case_log *log, tl_world *r, const wave *w, talus_error *err)
{
    char text[8000], name[120];
    int at = snprintf(text, sizeof text,
                      "return scene { talus = 1, engine = 'grid', duration = 20, fps = 50, grid = { cells = {%d, %d, "
                      "1}, cell = 1 / %d, " SLAB " }, fill = { { " WATER
                      ", shape = extrude { height = 2, rotation_deg = {90, 0, 0}, profile = { {0, 0}, {1, 0}",
                      w->cells, w->cells, w->cells);
    for (int k = 64; k >= 0; k--)
        at += snprintf(text + at, sizeof text - (size_t)at, ", {%.6f, %.6f}", k / 64.0,
                       -w->depth - 0.02 * cos(PI * w->mode * k / 64.0));
    snprintf(text + at, sizeof text - (size_t)at, " } } } } }");
    TL_TRY(tl_world_text(r, text, NULL, err));
    /* twice per period the kinetic energy is largest: as often as it passes half of its largest value in the period
     * before upwards */
    double first = 0, last = 0, before = 0, t_before = 0, early = 0, late = 0, lo = 0, hi = 0;
    double energy[2] = {NAN, -INFINITY}, k_wave = PI * w->mode;
    double period = 2 * PI / sqrt(G * k_wave * tanh(k_wave * w->depth)), past[FRAMES_MAX];
    int passed = 0, frames = 0, window = (int)fmin(FRAMES_MAX, ceil(50 * period));
    while (r->sim->state.t < w->seconds - 1e-9) {
        TL_TRY(tl_sim_frame(r->sim, NULL, NULL, err));
        double t = r->sim->state.t, k = r->sim->report.kinetic, e = k + r->sim->report.potential, mean = 0;
        past[frames++ % window] = k;
        for (int i = 0; i < window && i < frames; i++) mean = fmax(mean, 0.5 * past[i]);
        if (frames > window && before < mean && k >= mean) {
            last = t_before + (t - t_before) * (mean - before) / (k - before);
            if (!passed++) first = last;
        }
        before = k;
        t_before = t;
        if (t < 2) early = fmax(early, k);
        if (t > w->seconds - 2) late = fmax(late, k);
        if (isnan(energy[0])) energy[0] = e;
        energy[1] = fmax(energy[1], e);
        lo = fmin(lo, r->sim->report.volume_error);
        hi = fmax(hi, r->sim->report.volume_error);
    }
    snprintf(name, sizeof name, "mode %d, depth %.1f m, %d cells: period, s", w->mode, w->depth, w->cells);
    tl_case_relative(log, name, passed > 1 ? 2 * (last - first) / (passed - 1) : NAN, period, 0.01);
    tl_case_below(log, "... largest kinetic energy of the last 2 s over that of the first", late / early, 1);
    tl_case_below(log, "... energy lost per period", 1 - pow(late / early, period / (w->seconds - 2)), 0.1);
    tl_case_below(log, "... energy above its start, of the potential energy", (energy[1] - energy[0]) / energy[0],
                  2e-3);
    tl_case_near(log, "... volume, lowest", lo, 0, 0.01);
    tl_case_near(log, "... volume, highest", hi, 0, 0.01);
    return TALUS_OK;
}

static talus_status all_waves(tl_case_log *log, int count, const wave *of, talus_error *err)
{
    talus_status status = TALUS_OK;
    for (int k = 0; k < count && status == TALUS_OK; k++) {
        tl_world r;
        status = slosh(log, &r, &of[k], err);
        tl_world_close(&r);
    }
    return status;
}

talus_status tl_case_grid_slosh(tl_case_log *log, talus_error *err)
{
    static const wave of[] = {{32, 1, 0.4, 20}, {32, 2, 0.4, 20}, {32, 1, 0.2, 20}, {32, 2, 0.2, 20},
                              {64, 1, 0.4, 20}, {64, 2, 0.4, 20}, {64, 1, 0.2, 20}, {64, 2, 0.2, 20}};
    return all_waves(log, (int)(sizeof of / sizeof *of), of, err);
}

/* ---- neutral bodies of a slab ---- */

static talus_status hover(tl_case_log *log, tl_world *r, const char *shape, double z, talus_error *err)
{
    char text[2000], name[160];
    snprintf(text, sizeof text,
             "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {20, 20, 1}, cell = "
             "0.05, " SLAB " }, fill = { { " WATER
             ", shape = " LEVEL("0.8") " } }, bodies = { { name = 'b', shape = "
                                       "%s, at = {0.52, 0.43, %g}, density = 1000 } } }",
             shape, z);
    TL_TRY(tl_world_text(r, text, NULL, err));
    while (r->sim->state.t < 0.2 - 1e-9) TL_TRY(tl_sim_frame(r->sim, NULL, NULL, err));
    snprintf(name, sizeof name, "%s at z = %g: acceleration over g", shape, z);
    tl_case_below(log, name, tl_vec3_norm(r->sim->state.rigid.body[0].v) / (G * r->sim->state.t), 1e-3);
    return TALUS_OK;
}

talus_status tl_case_grid_neutral(tl_case_log *log, talus_error *err)
{
    static const char *const shape[] = {
        "box { size = {0.3, 0.2, 0.05} }", "box { size = {0.3, 0.2, 0.01} }", "box { size = {0.3, 0.2, 1} }",
        "cylinder { radius = 0.15, height = 0.05, rotation_deg = {90, 0, 0} }", "sphere { radius = 0.15 }"};
    talus_status status = TALUS_OK;
    for (int k = 0; k < 10 && status == TALUS_OK; k++) {
        tl_world r;
        status = hover(log, &r, shape[k / 2], k % 2 ? 0.31 : 0.025, err);
        tl_world_close(&r);
    }
    return status;
}

/* ---- space ---- */

typedef struct meeting {
    const char *name, *fill, *body;
} meeting;

static const meeting meetings[] = {
    {"ball through a ball of water", "sphere { radius = 0.25, center = {0.55, 0.5, 0.5} }",
     "shape = sphere { radius = 0.12 }, at = {0.25, 0.5, 0.5}, velocity = {2, 0, 0}, density = 1500"},
    {"block of water on a plate", "box { size = {0.3, 0.2, 0.3}, center = {0.5, 0.5, 0.5} }, velocity = {0, -1.1, 0}",
     "shape = box { size = {0.6, 0.1, 0.6} }, at = {0.5, 0.3, 0.5}, density = 1500"},
    {"jet on a ball", "box { size = {0.12, 0.6, 0.12}, center = {0.5, 0.6, 0.5} }, velocity = {0, -3, 0}",
     "shape = sphere { radius = 0.13 }, at = {0.53, 0.15, 0.5}, density = 300"},
    {"box that spins in water", "sphere { radius = 0.3, center = {0.5, 0.5, 0.5} }, velocity = {0.5, 0, 0}",
     "shape = box { size = {0.3, 0.15, 0.15} }, at = {0.5, 0.5, 0.5}, velocity = {0.5, 0, 0}, density = 2000, "
     "spin_rad_per_s = {0, 3, 15}"},
    {"plate of half a cell", "box { size = {0.3, 0.2, 0.3}, center = {0.5, 0.5, 0.5} }, velocity = {0, -1.1, 0}",
     "shape = box { size = {0.6, 0.02, 0.6} }, at = {0.5, 0.35, 0.5}, density = 1500"}};

/* Relative to sqrt(2 E m): of all that moves, since the sum may be nothing. */
static talus_status meet(tl_case_log *log, tl_world *r, const meeting *m, talus_error *err)
{
    char text[4000], name[120];
    snprintf(text, sizeof text,
             "return scene { talus = 1, engine = 'grid', duration = 0.2, fps = 100, gravity = {0, 0, 0}, grid = { "
             "cells = {72, 72, 72}, cell = 1 / 24, origin = {-1, -1, -1} }, domain = { x_min = 'open', x_max = 'open', "
             "y_min = 'open', y_max = 'open', z_min = 'open', z_max = 'open' }, fill = { { " WATER
             ", shape = %s } }, bodies = { { %s } } }",
             m->fill, m->body);
    TL_TRY(tl_world_text(r, text, NULL, err));
    TL_TRY(tl_sim_frame(r->sim, NULL, NULL, err));
    const tl_report first = r->sim->report;
    const double scale = sqrt(2 * first.kinetic * r->sim->start.mass);
    double energy = first.kinetic, rise = 0, lost = 0;
    while (r->sim->state.t < 0.2 - 1e-9) {
        TL_TRY(tl_sim_frame(r->sim, NULL, NULL, err));
        rise = fmax(rise, (r->sim->report.kinetic - energy) / first.kinetic);
        energy = r->sim->report.kinetic;
        lost = fmax(lost, tl_vec3_norm(tl_vec3_sub(r->sim->report.momentum, first.momentum)) / scale);
    }
    snprintf(name, sizeof name, "%s: change of momentum", m->name);
    tl_case_below(log, name, lost, 1e-10);
    snprintf(name, sizeof name, "%s: largest rise of energy in a frame", m->name);
    tl_case_below(log, name, rise, 1e-10);
    snprintf(name, sizeof name, "%s: change of angular momentum over 1 m", m->name);
    tl_case_below(log, name, tl_vec3_norm(tl_vec3_sub(r->sim->report.angular_momentum, first.angular_momentum)) / scale,
                  0.01);
    return TALUS_OK;
}

talus_status tl_case_grid_space(tl_case_log *log, talus_error *err)
{
    talus_status status = TALUS_OK;
    for (size_t k = 0; k < sizeof meetings / sizeof *meetings && status == TALUS_OK; k++) {
        tl_world r;
        status = meet(log, &r, &meetings[k], err);
        tl_world_close(&r);
    }
    return status;
}

/* ---- paddle ---- */

/* thick: cells. */
static talus_status stir(tl_case_log *log, tl_world *r, double thick, bool turns, talus_error *err)
{
    char text[4000], name[120];
    snprintf(
        text, sizeof text,
        "return scene { talus = 1, engine = 'grid', duration = 11, fps = 25, grid = { cells = {32, 32, 1}, cell = "
        "1 / 32, " SLAB " }, fill = { { " WATER
        ", shape = box { size = {1, 0.5, 1}, center = {0.5, 0.25, 0} } } }, bodies = { { shape = box { size = {%g, "
        "%s, 1} }, at = {0.5, %s, 1 / 64}, motion = function(t) return { %s } end } } }",
        thick / 32, turns ? "0.7" : "0.35", turns ? "0.45" : "0.3",
        turns ? "rotation_rad = {0, 0, 1.5 * t}" : "at = {0.5 + 0.3 * math.sin(math.pi * t), 0.3, 1 / 64}");
    TL_TRY(tl_world_text(r, text, NULL, err));
    while (r->sim->state.t < 11 - 1e-9) TL_TRY(tl_sim_frame(r->sim, NULL, NULL, err));
    snprintf(name, sizeof name, "%g cells thick, %s: volume after 11 s", thick, turns ? "turning" : "sliding");
    tl_case_near(log, name, r->sim->report.volume_error, 0, 0.02);
    return TALUS_OK;
}

talus_status tl_case_grid_paddle(tl_case_log *log, talus_error *err)
{
    talus_status status = TALUS_OK;
    for (int k = 0; k < 4 && status == TALUS_OK; k++) {
        tl_world r;
        status = stir(log, &r, k / 2 ? 3 : 0.3, k % 2, err);
        tl_world_close(&r);
    }
    return status;
}
