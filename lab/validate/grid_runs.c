/* Whole runs of the grid engine: liquids keep their volume, bodies float, slide and hang where they should. The
 * scenes are those of scenes/ at their small sizes. */
#include <math.h>
#include <stdio.h>

#include "lab/validate/grid_cases.h"
#include "lab/world.h"
#include "model/grid/state.h"

#define G 9.81
#define RHO 1000.0

static talus_status frame(tl_world *r, talus_error *err) { return tl_sim_frame(r->sim, NULL, NULL, err); }
static const tl_motion *body(const tl_world *r, int i) { return &r->sim->state.rigid.body[i]; }

/* ---- a tap: volume in is volume counted ---- */

static talus_status fill_basin(tl_case_log *log, tl_world *r, talus_error *err)
{
    TL_TRY(
        tl_world_open(r, err,
                      "return scene { talus = 1, engine = 'grid', duration = 1, fps = 25,"
                      " grid = { cells = {16, 14, 16}, cell = 0.04 },"
                      " emitters = { { material = liquid { density = 1000 }, shape = box { size = {0.12, 0.08, 0.12},"
                      " center = {0.32, 0.4, 0.32} }, velocity = {0, -2.2, 0}, rate = 0.03, stop = 1.2 } } }"));
    double low = 0, high = 0, split = 0;
    while (r->sim->state.t < 2 - 1e-9) {
        TL_TRY(frame(r, err));
        const tl_report *now = &r->sim->report;
        const tl_emitter_state *e = tl_grid_state_of(&r->sim->state)->emitter;
        split = fmax(split, fabs(e->due - e->emitted - e->owed - e->refused) / e->due);
        split = fmax(split, fabs(now->particle_volume - e->emitted) / e->due);
        if (r->sim->state.t < 0.15) continue; /* a jet of less than 70 cells */
        low = fmin(low, now->volume_error);
        high = fmax(high, now->volume_error);
    }
    tl_case_relative(log, "volume that came due, m^3", tl_grid_state_of(&r->sim->state)->emitter->due, 0.036, 1e-9);
    tl_case_below(log, "emitted, owed and refused against that, relative", split, 1e-12);
    tl_case_relative(log, "emitted, m^3", tl_grid_state_of(&r->sim->state)->emitter->emitted, 0.036, 1e-3);
    /* the pool is two cells deep and the jet drags air into it, which counts as liquid while it is enclosed */
    tl_case_near(log, "liquid_volume against what was emitted, lowest", low, 0, 0.1);
    tl_case_near(log, "... highest", high, 0, 0.1);
    tl_case_near(log, "... 0.8 s after the tap closed", r->sim->report.volume_error, 0, 0.01);
    return TALUS_OK;
}

talus_status tl_case_grid_tap(tl_case_log *log, talus_error *err)
{
    tl_world r;
    talus_status status = fill_basin(log, &r, err);
    tl_world_close(&r);
    return status;
}

/* ---- a tank at rest ---- */

static talus_status stand(tl_case_log *log, tl_world *r, const char *weights, talus_error *err)
{
    TL_TRY(tl_world_open(
        r, err,
        "return scene { talus = 1, engine = 'grid', duration = 1, fps = 25, solver = { weights = '%s' },"
        " grid = { cells = {16, 16, 16}, cell = 0.05 },"
        " fill = { { material = liquid { density = 1000 }, shape = box { size = {0.8, 0.6, 0.8},"
        " center = {0.4, 0.3, 0.4} } } },"
        " bodies = { { name = 'ball', kind = 'static', shape = sphere { radius = 0.15 }, at = {0.41, 0.31, "
        "0.4} } } }",
        weights));
    double up = 0, aside = 0;
    int frames = 0;
    while (r->sim->state.t < 0.8 - 1e-9) {
        TL_TRY(frame(r, err));
        if (r->sim->state.t < 0.4) continue;
        up += body(r, 0)->fluid_force.y;
        aside = fmax(aside, hypot(body(r, 0)->fluid_force.x, body(r, 0)->fluid_force.z));
        frames++;
    }
    const double weight = RHO * G * 4.18879020478639 * 0.15 * 0.15 * 0.15;
    char name[80];
    snprintf(name, sizeof name, "force on a static ball by %s, over rho g V", weights);
    tl_case_near(log, name, up / frames / weight, 1, 0.02);
    snprintf(name, sizeof name, "largest force aside by %s, over rho g V", weights);
    tl_case_below(log, name, aside / weight, 0.02);
    snprintf(name, sizeof name, "volume error by %s", weights);
    tl_case_near(log, name, r->sim->report.volume_error, 0, 0.01);
    tl_case_below(log, "kinetic over potential energy", r->sim->report.kinetic / r->sim->report.potential, 1e-4);
    return TALUS_OK;
}

talus_status tl_case_grid_rest(tl_case_log *log, talus_error *err)
{
    static const char *const family[] = {"volume", "area"};
    talus_status status = TALUS_OK;
    for (int k = 0; k < 2 && status == TALUS_OK; k++) {
        tl_world r;
        status = stand(log, &r, family[k], err);
        tl_world_close(&r);
    }
    return status;
}

/* ---- dam break ---- */

static talus_status break_dam(tl_case_log *log, tl_world *r, talus_error *err)
{
    TL_TRY(tl_world_open(r, err,
                         "return scene { talus = 1, engine = 'grid', duration = 10, fps = 24,"
                         " grid = { cells = {32, 32, 32}, cell = 1 / 32, cfl = 2 },"
                         " fill = { { material = liquid { density = 1000 }, shape = box { size = {0.4, 0.6, 1},"
                         " center = {0.2, 0.3, 0.5} } } } }"));
    double splash = 0, late = 0;
    while (r->sim->state.t < 10 - 1e-9) {
        TL_TRY(frame(r, err));
        double e = fabs(r->sim->report.volume_error);
        splash = fmax(splash, e);
        if (r->sim->state.t > 9) late = fmax(late, e);
    }
    tl_case_below(log, "volume error, worst", splash, 0.05);
    tl_case_below(log, "volume error, worst of the last second", late, 0.01);
    tl_case_near(log, "particles that escaped", (double)r->sim->report.escaped, 0, 0);
    return TALUS_OK;
}

talus_status tl_case_grid_dam(tl_case_log *log, talus_error *err)
{
    tl_world r;
    talus_status status = break_dam(log, &r, err);
    tl_world_close(&r);
    return status;
}

/* ---- floating cubes ---- */

#define EDGE 0.3
#define SAMPLES 30

/* Volume of a cube below a level, m^3. */
static double below_level(const tl_motion *m, double level)
{
    int64_t inside = 0;
    for (int i = 0; i < SAMPLES * SAMPLES * SAMPLES; i++) {
        const int at[3] = {i % SAMPLES, i / SAMPLES % SAMPLES, i / (SAMPLES * SAMPLES)};
        tl_vec3 x = {(at[0] + 0.5) / SAMPLES - 0.5, (at[1] + 0.5) / SAMPLES - 0.5, (at[2] + 0.5) / SAMPLES - 0.5};
        inside += m->x.y + tl_quat_rotate(m->q, tl_vec3_scale(EDGE, x)).y < level;
    }
    return EDGE * EDGE * EDGE * (double)inside / (SAMPLES * SAMPLES * SAMPLES);
}

/* Draught is the volume below the surface over the area of a side, whichever way a cube has turned; the surface is
 * where the water's and the cubes' volumes put it. Means over whole bobs. */
static talus_status bob(tl_case_log *log, tl_world *r, talus_error *err)
{
    TL_TRY(
        tl_world_open(r, err,
                      "return scene { talus = 1, engine = 'grid', duration = 4, fps = 50,"
                      " grid = { cells = {60, 38, 30}, cell = 0.02, cfl = 2 },"
                      " fill = { { material = liquid { density = 1000 }, shape = box { size = {1.2, 0.5, 0.6},"
                      " center = {0.6, 0.25, 0.3} } } },"
                      " bodies = { { name = 'wood', shape = box { size = 0.3 }, at = {0.3, 0.47, 0.3}, density = 500 },"
                      " { name = 'ice', shape = box { size = 0.3 }, at = {0.9, 0.38, 0.3}, density = 900 } } }"));
    double draught[2] = {0, 0}, water = tl_grid_state_of(&r->sim->state)->totals->initial_volume;
    int frames = 0;
    while (r->sim->state.t < 4 - 1e-9) {
        TL_TRY(frame(r, err));
        if (r->sim->state.t < 1) continue;
        double level = 0.5, below[2];
        for (int k = 0; k < 20; k++) {
            for (int b = 0; b < 2; b++) below[b] = below_level(body(r, b), level);
            level = (water + below[0] + below[1]) / (1.2 * 0.6);
        }
        for (int b = 0; b < 2; b++) draught[b] += below[b] / (EDGE * EDGE);
        frames++;
    }
    tl_case_relative(log, "draught of the cube of 500 kg/m^3, m", draught[0] / frames, 0.15, 0.02);
    tl_case_relative(log, "draught of the cube of 900 kg/m^3, m", draught[1] / frames, 0.27, 0.02);
    tl_case_near(log, "volume error", r->sim->report.volume_error, 0, 0.01);
    tl_case_near(log, "particles that escaped", (double)r->sim->report.escaped, 0, 0);
    return TALUS_OK;
}

talus_status tl_case_grid_float(tl_case_log *log, talus_error *err)
{
    tl_world r;
    talus_status status = bob(log, &r, err);
    tl_world_close(&r);
    return status;
}

/* ---- hollow cube on a slope ---- */

static talus_status drop_cube(tl_case_log *log, tl_world *r, const char *scheme, bool keeps, talus_error *err)
{
    TL_TRY(tl_world_open(
        r, err,
        "local a, inside = math.rad(20), 0.5 - 4.4 / 32\n"
        "local foot = {0.6, 0.06 + 0.4 * math.tan(a) + 0.25 / math.cos(a) + 0.22, 0.5}\n"
        "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, solver = { scheme = '%s' },"
        " grid = { cells = {64, 48, 32}, cell = 1 / 32, cfl = 2 }, domain = { x_max = 'open' },"
        " fill = { { material = liquid { density = 1000 }, shape = box { size = {inside, 0.6 * inside, inside},"
        " center = {foot[1], foot[2] - 0.2 * inside, foot[3]} } } },"
        " bodies = { { name = 'slope', kind = 'static', shape = half_space { normal = {math.sin(a), math.cos(a), 0},"
        " point = {1, 0.06, 0.5} }, friction = 0.5 }, { name = 'cube', shape = box { size = 0.5 } - box { size = "
        "inside "
        "}, at = foot, density = 500, friction = 0.5 } } }",
        scheme));
    double sum = 0, worst = 0;
    int frames = 0;
    while (r->sim->state.t < 1 - 1e-9) {
        TL_TRY(frame(r, err));
        worst = fmax(worst, fabs(r->sim->report.volume_error));
        sum += r->sim->report.volume_error;
        frames++;
    }
    char name[80];
    snprintf(name, sizeof name, "volume error after 1 s, %s", scheme);
    if (!keeps) {
        tl_case_below(log, name, r->sim->report.volume_error, -0.1);
        return TALUS_OK;
    }
    tl_case_near(log, name, r->sim->report.volume_error, 0, 0.01);
    snprintf(name, sizeof name, "volume error, mean, %s", scheme);
    tl_case_near(log, name, sum / frames, 0, 0.01);
    snprintf(name, sizeof name, "volume error, worst of any frame, %s", scheme);
    tl_case_below(log, name, worst, 0.01); /* 12 cells across: missed in the frame of the impact, by a quarter */
    snprintf(name, sizeof name, "particles that escaped, %s", scheme);
    tl_case_near(log, name, (double)r->sim->report.escaped, 0, 0);
    return TALUS_OK;
}

talus_status tl_case_grid_hollow(tl_case_log *log, talus_error *err)
{
    static const struct {
        const char *scheme;
        bool keeps;
    } of[] = {{"t-pn", true}, {"t-p-n", true}, {"p-c", false}};
    talus_status status = TALUS_OK;
    for (int k = 0; k < 3 && status == TALUS_OK; k++) {
        tl_world r;
        status = drop_cube(log, &r, of[k].scheme, of[k].keeps, err);
        tl_world_close(&r);
    }
    return status;
}

/* ---- pinched cube ---- */

static talus_status pinch(tl_world *r, double friction, double *fell, double *creep, talus_error *err)
{
    TL_TRY(tl_world_open(
        r, err,
        "local inside, at, block, eta = 0.4 - 4.4 / 24, {1, 1, 0.5}, {0.3, 1.7, 0.5}, %.3f\n"
        "local weight = 9.81 * ((0.4 ^ 3 - inside ^ 3) * 500 + 0.6 * inside ^ 3 * 1000)\n"
        "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50,"
        " grid = { cells = {48, 48, 24}, cell = 1 / 24, cfl = 2 },"
        " fill = { { material = liquid { density = 1000 }, shape = box { size = {inside, 0.6 * inside, inside},"
        " center = {at[1], at[2] - 0.2 * inside, at[3]} } } },"
        " bodies = { { name = 'fixed', kind = 'static', shape = box { size = block }, at = {0.648, 0.85, 0.5},"
        " friction = eta }, { name = 'pushed', shape = box { size = block }, at = {1.352, 0.85, 0.5}, density = 2000,"
        " friction = eta, force = {-5 * weight, 0, 0} }, { name = 'cube', shape = box { size = 0.4 } - box { size = "
        "inside }, at = at, density = 500, friction = eta } },"
        " contacts = { { between = {'pushed', 'walls'}, friction = 0 } } }",
        friction));
    while (r->sim->state.t < 0.4 - 1e-9) TL_TRY(frame(r, err));
    double then = body(r, 2)->x.y;
    *fell = 1 - then;
    while (r->sim->state.t < 0.6 - 1e-9) TL_TRY(frame(r, err));
    *creep = (then - body(r, 2)->x.y) / 0.2;
    return TALUS_OK;
}

talus_status tl_case_grid_pinched(tl_case_log *log, talus_error *err)
{
    double fell[2], creep[2];
    for (int k = 0; k < 2; k++) {
        tl_world r;
        talus_status status = pinch(&r, k ? 0.2 : 0.05, &fell[k], &creep[k], err);
        tl_world_close(&r);
        TL_TRY(status);
    }
    /* two sides carry 10 friction weights: at 0.05 half of it, so it falls at half of g, 0.39 m in 0.4 s */
    tl_case_above(log, "fallen after 0.4 s at friction 0.05, m", fell[0], 0.25);
    tl_case_below(log, "fallen after 0.4 s at friction 0.20, m", fell[1], 0.02);
    tl_case_below(log, "creep at friction 0.20, m/s", fabs(creep[1]), 1e-4);
    return TALUS_OK;
}
