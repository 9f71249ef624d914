/* Water that something fixed holds, directly or by bodies that stand, are pinched or float: it stays at rest, and a
 * dam that hits a wall gains nothing from it. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "lab/world.h"
#include "model/grid/state.h"

static talus_error err;

typedef struct vessel {
    const char *name, *fill, *bodies;
    double speed; /* m/s rms of all that moves, at most */
} vessel;

#define CUP(w, at)                                                                                                     \
    "{ shape = subtract { box { size = " w " }, box { size = {0.3, 0.4, 2}, center = {0, 0.15, 0} } }, at = " at       \
    ", density = 500 }"
#define IN_CUP "{ material = water, shape = box { size = {0.3, 0.2, 2}, center = "

/* noise of the particles' mass on faces drives water of standing vessels at 0.03 to 0.3 m/s where it is solved as if
 * nothing held it */
static const vessel vessels[] = {
    {"cup on the floor", IN_CUP "{0.5, 0.2, 0} } }", CUP("{0.5, 0.5, 1}", "{0.5, 0.25, 0}"), 1e-2},
    {"cup on a plank on a block", IN_CUP "{0.5, 0.45, 0} } }",
     CUP("{0.5, 0.5, 1}", "{0.5, 0.5, 0}") ", { shape = box { size = {0.6, 0.1, 1} }, at = {0.5, 0.2, 0}, density = "
                                           "700 }, { shape = box { size = {0.3, "
                                           "0.15, 1} }, at = {0.5, 0.075, 0}, density = 2000 }",
     1e-2},
    {"tray that floats",
     "{ material = water, shape = box { size = {0.4, 0.1, 2}, center = {0.5, 0.55, 0} } }, { material = water, shape = "
     "subtract { box { size = {2, 0.55, 2}, center = {0.5, 0.275, 0} }, "
     "box { size = {0.6, 0.3, 3}, center = {0.5, 0.55, 0} } } }",
     "{ shape = subtract { box { size = {0.6, 0.3, 1} }, box { size = {0.4, 0.3, 2}, center = {0, 0.1, 0} } }, at = "
     "{0.5, 0.55, 0}, density = 500 }",
     1e-2},
};

static tl_world open_case(const char *text)
{
    tl_world w;
    CHECK_OK(tl_world_text(&w, text, NULL, &err));
    return w;
}

static void vessels_hold_water_still(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof vessels / sizeof *vessels; k++) {
        char text[4096];
        snprintf(text, sizeof text,
                 "local water = liquid { density = 1000 }\n"
                 "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {24, 24, 1}, "
                 "cell = 1 / 24, periodic = {false, false, true} }, fill = { %s }, bodies = { %s } }",
                 vessels[k].fill, vessels[k].bodies);
        tl_world w = open_case(text);
        tl_sim *sim = w.sim;
        double max = 0, unexplained = 0;
        while (sim->state.t < 0.6) {
            CHECK_OK(tl_sim_frame(sim, NULL, NULL, &err));
            if (sim->state.t > 0.3) max = fmax(max, sqrt(2 * sim->report.kinetic / sim->start.mass));
            unexplained = fmax(unexplained, tl_vec3_norm(sim->report.accounts.momentum_unexplained));
        }
        print_message("%s: %.2g m/s rms, volume off by %.2g %%, momentum unexplained %.1g\n", vessels[k].name, max,
                      100 * sim->report.volume_error, unexplained / sim->start.mass);
        CHECK_LE(max, vessels[k].speed);
        CHECK_LE(fabs(sim->report.volume_error), 0.01);
        CHECK_LE(unexplained / sim->start.mass, 1e-12);
        tl_world_close(&w);
    }
}

/* With the impulse of an impact on faces in walls too, energy rises by 0.9 % here, and a dam of 32 cells throws
 * particles back at 9 m/s instead of 5.5. */
static void walls_give_no_energy(void **state)
{
    (void)state;
    tl_world w = open_case(
        "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {20, 20, 10}, "
        "cell = 0.05 }, fill = { { material = liquid { density = 1000 }, shape = box { size = {0.5, 0.5, 0.5}, "
        "center = {0.25, 0.25, 0.25} } } } }");
    tl_sim *sim = w.sim;
    double fastest = 0, least = INFINITY, rise = 0, first = 0;
    while (sim->state.t < 0.8) {
        CHECK_OK(tl_sim_frame(sim, NULL, NULL, &err));
        double e = sim->report.kinetic + sim->report.potential;
        if (first == 0) first = e;
        fastest = fmax(fastest, sim->report.fastest);
        least = fmin(least, e);
        rise = fmax(rise, e - least);
    }
    print_message("dam: fastest %.3g m/s, energy rises by %.2g %%\n", fastest, 100 * rise / first);
    CHECK_LE(rise / first, 2e-3);
    tl_world_close(&w);
}

/* Lowest place of any particle, m. */
static double lowest(const tl_sim *sim)
{
    const tl_particles *p = &tl_grid_state_of(&sim->state)->particles;
    double y = INFINITY;
    for (int64_t i = 0; i < p->count; i++) y = fmin(y, p->particle[i].x.y);
    return y;
}

/* Mode 2 of a tank: matter beside the surface that gets the impulse of the liquid and not its velocity feeds it by a
 * tenth in 6 s. Faces on the floor that take on the liquid's velocity where it goes up, and nothing where it comes
 * down, lift the lowest layer by a twentieth of a cell in 4 s, and crowd what is above. */
static void waves_do_not_grow(void **state)
{
    (void)state;
    char text[8192];
    const double dx = 1.0 / 32;
    int at = snprintf(text, sizeof text,
                      "return scene { talus = 1, engine = 'grid', duration = 20, fps = 50, grid = { cells = {32, 32, "
                      "1}, cell = 1 / 32, "
                      "periodic = {false, false, true} }, fill = { { material = liquid { density = 1000 }, sampling = "
                      "'lattice', shape = "
                      "extrude { height = 2, rotation_deg = {90, 0, 0}, profile = { {0, 0}, {1, 0}");
    for (int k = 64; k >= 0; k--)
        at += snprintf(text + at, sizeof text - (size_t)at, ", {%.6f, %.6f}", k / 64.0,
                       -0.4 - 0.02 * cos(2 * 3.14159265358979 * k / 64));
    snprintf(text + at, sizeof text - (size_t)at, " } } } } }");
    tl_world w = open_case(text);
    tl_sim *sim = w.sim;
    double early = 0, late = 0, energy = NAN, rise = 0, floor = lowest(sim), drift = 0;
    while (sim->state.t < 6 - 1e-9) {
        CHECK_OK(tl_sim_frame(sim, NULL, NULL, &err));
        double k = sim->report.kinetic;
        if (isnan(energy)) energy = k + sim->report.potential;
        rise = fmax(rise, k + sim->report.potential - energy);
        if (sim->state.t < 2) early = fmax(early, k);
        if (sim->state.t > 4) late = fmax(late, k);
        drift = fmax(drift, lowest(sim) - floor);
    }
    print_message(
        "wave: kinetic energy %.3f of its start, energy rises by %.1e of it, the lowest layer by %.3f cells\n",
        late / early, rise / early, drift / dx);
    CHECK_LE(late / early, 1.02);
    CHECK_LE(rise / early, 0.01);
    CHECK_LE(drift / dx, 0.02);
    tl_world_close(&w);
}

/* Methods of [FM21 tab. 1] in scenes: the same flow as by multigrid. */
static void methods_agree(void **state)
{
    (void)state;
    static const char *const names[] = {"multigrid", "mprgp", "mprgp-original", "admm", "pip", "auglag", "cg"};
    double kinetic[7];
    for (int k = 0; k < 7; k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {16, 16, 1}, "
                 "cell = 1 / 16, periodic = {false, false, true} }, "
                 "solver = { pressure = '%s', tolerance = 1e-6 }, fill = { { material = liquid { density = 1000 }, "
                 "shape = box { size = {0.5, 0.5, 1}, center = {0.25, 0.25, 0} } } }, "
                 "bodies = { { shape = box { size = 0.2 }, at = {0.7, 0.11, 0}, density = 400 } } }",
                 names[k]);
        tl_world w = open_case(text);
        tl_sim *sim = w.sim;
        while (sim->state.t < 0.2) CHECK_OK(tl_sim_frame(sim, NULL, NULL, &err));
        kinetic[k] = sim->report.kinetic;
        print_message("%s: kinetic energy %.6f J\n", names[k], kinetic[k]);
        assert_string_equal(sim->report.solve[0].outcome, "converged");
        CHECK_LE(fabs(kinetic[k] / kinetic[0] - 1), strcmp(names[k], "cg") ? 1e-3 : 0.05); /* cg lets pressure pull */
        tl_world_close(&w);
    }
}

/* Below a log that stands on the floor the gap narrows to nothing: no cell there has its centre in the open, and as
 * air they drank a third of the pool in 3 s. A light one comes up. */
static void gaps_drink_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        double radius, density;
    } logs[] = {{"static", 0.09, 1000}, {"free", 0.09, 3000}, {"free", 0.061, 2000}, {"free", 0.09, 600}};
    for (size_t k = 0; k < sizeof logs / sizeof *logs; k++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {30, 12, 1}, cell = "
            "0.04, "
            "periodic = {false, false, true} }, fill = { { material = liquid { density = 1000 }, shape = box { size = "
            "{2, "
            "0.25, 2}, center = {0.6, 0.125, 0} } } }, bodies = { { name = 'log', kind = '%s', density = %g, shape = "
            "cylinder { radius = %g, height = 1 }:rotate { 90, 0, 0 }, at = {0.7, %g, 0} } } }",
            logs[k].kind, logs[k].density, logs[k].radius, logs[k].radius);
        tl_world w = open_case(text);
        tl_sim *sim = w.sim;
        double worst = 0;
        while (sim->state.t < 1) {
            CHECK_OK(tl_sim_step(sim, 0, 1, &err));
            worst = fmax(worst, fabs(sim->report.volume_error));
        }
        print_message("%s log of %g kg/m^3, R %g m: volume within %.2g %%\n", logs[k].kind, logs[k].density,
                      logs[k].radius, 100 * worst);
        CHECK_LE(worst, 0.015);
        if (logs[k].density < 1000) assert_true(sim->state.rigid.body[0].x.y > 1.5 * logs[k].radius);
        tl_world_close(&w);
    }
}

/* A paddle pushes a box along the floor of a pool: drops that are caught between the two had velocities that doubled
 * with every step, and runs ended with more energy than there was. */
static void pinched_drops_gain_nothing(void **state)
{
    (void)state;
    static const int cells[] = {12, 20};
    for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "return scene { talus = 1, engine = 'grid', duration = 2, fps = 50, grid = { cells = {%d, %d, 1}, cell "
            "= 1 / %d, periodic = {false, false, true} }, fill = { { material = liquid { density = 1000 }, shape = "
            "box { size = {0.4, 0.6, 1}, center = {0.2, 0.3, 0} } } }, bodies = { { name = 'box', shape = box { "
            "size = {0.2, 0.2, 1} }, at = {0.7, 0.12, 0}, density = 500 }, { name = 'paddle', kind = 'kinematic', "
            "shape = box { size = {0.1, 0.5, 1} }, motion = function(t) return { at = {0.9 - 0.2 * t, 0.4, 0} } "
            "end } } }",
            cells[k], cells[k], cells[k]);
        tl_world w = open_case(text);
        tl_sim *sim = w.sim;
        double sum = 0, least = 0, gained = 0, motion = 0;
        while (sim->state.t < 1.6) {
            CHECK_OK(tl_sim_step(sim, 0, 1.6, &err));
            const tl_accounts *a = &sim->report.accounts;
            sum += a->energy[TL_ENERGY_CORRECTIONS] + a->energy_unexplained;
            least = fmin(least, sum);
            gained = fmax(gained, sum - least);
            motion = fmax(motion, sim->report.kinetic);
        }
        print_message("paddle and box, %d cells: gained %.2g J, %.2g J of motion at most\n", cells[k], gained, motion);
        CHECK_LE(gained, 0.15 * motion);
        tl_world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(vessels_hold_water_still),
                                       cmocka_unit_test(walls_give_no_energy),
                                       cmocka_unit_test(waves_do_not_grow),
                                       cmocka_unit_test(gaps_drink_nothing),
                                       cmocka_unit_test(methods_agree),
                                       cmocka_unit_test(pinched_drops_gain_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
