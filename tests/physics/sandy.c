/* Sand with elastic bodies, in whole steps. */
#include <string.h>

#include "check.h"

#include <math.h>

#include "base/parallel.h"
#include "lab/world.h"
#include "phase/grid/grid.h"
#include "saved.h"

static talus_error err;

#define SAND "material = granular { density = 1600, friction_angle_deg = 30 }, "

/* A soft cube flies through sand in free space: what one loses the other has. */
static void nothing_is_lost_in_space(void **state)
{
    (void)state;
    tl_world w;
    CHECK_OK(tl_world_open(
        &w, &err,
        "return scene { talus = 1, engine = 'grid', duration = 10, fps = 100, gravity = {0, 0, 0},"
        " grid = { cells = {16, 16, 16}, cell = 0.1 }, domain = { x_min = 'open', x_max = 'open', y_min = 'open',"
        "   y_max = 'open', z_min = 'open', z_max = 'open' },"
        " fill = { { " SAND "shape = box { size = 0.8, center = {0.8, 0.8, 0.8} }, velocity = {-0.2, 0.1, 0.3} } },"
        " bodies = { { shape = box { size = 0.3 }, at = {0.82, 0.83, 0.87}, cells = {3, 3, 3},"
        "   velocity = {1, 0.3, -0.5}, spin_rad_per_s = {1, 2, 3},"
        "   material = elastic { density = 500, young = 1e5, poisson = 0.3 } },"
        "  { shape = sphere { radius = 0.1 }, at = {0.6, 0.6, 0.6}, density = 3000, velocity = {0, 1, 0} } } }"));
    CHECK_OK(tl_sim_step(w.sim, 0.01, INFINITY, &err));
    const tl_vec3 first = w.sim->report.momentum;
    const double scale = sqrt(2 * w.sim->report.kinetic * w.sim->start.mass);
    double energy = w.sim->report.kinetic + w.sim->report.elastic, lost = 0, risen = 0;
    for (int k = 0; k < 10; k++) {
        CHECK_OK(tl_sim_step(w.sim, 0.01, INFINITY, &err));
        const double now = w.sim->report.kinetic + w.sim->report.elastic;
        lost = fmax(lost, tl_vec3_norm(tl_vec3_sub(w.sim->report.momentum, first)));
        risen = fmax(risen, now - energy);
        energy = now;
    }
    print_message("momentum lost %.2g of what moves, energy rises by %.2g J of %.3g\n", lost / scale, risen, energy);
    CHECK_LE(lost / scale, 1e-12);
    CHECK_LE(risen, 1e-9);
    tl_world_close(&w);
}

/* A block that fills the floor of a box carries all of the sand: its load is the weight, and it yields by
 * rho g h H / E' under it, E' without room to widen. */
static void a_block_yields_by_the_weight(void **state)
{
    (void)state;
    const double E = 1e6, rho = 1600, g = 9.81, H = 0.2, depth = 0.3;
    tl_world w;
    CHECK_OK(
        tl_world_open(&w, &err,
                      "return scene { talus = 1, engine = 'grid', duration = 10, fps = 100, gravity = {0, -9.81, 0},"
                      " grid = { cells = {8, 16, 8}, cell = 0.05 }, domain = { friction = 0, sand_friction = 'own' },"
                      " fill = { { " SAND "shape = box { size = {0.4, 0.3, 0.4}, center = {0.2, 0.35, 0.2} } } },"
                      " bodies = { { shape = box { size = {0.4, 0.2, 0.4} }, at = {0.2, 0.1, 0.2}, friction = 0,"
                      "   cells = {4, 4, 4}, anchor = box { center = {0, -0.1, 0}, size = {1, 0.01, 1} },"
                      "   material = elastic { density = 1000, young = 1e6, poisson = 0, damping = 0.005 } } } }"));
    CHECK_OK(tl_world_until(&w, 1.5, 0, &err));
    const tl_lg *lg = &w.sim->lg;
    const double *q = tl_lg_state_of(&w.sim->state)->q;
    double top = 0;
    int tops = 0;
    for (int32_t i = 0; i < lg->nodes; i++)
        if (lg->rest[3 * (int64_t)i + 1] > H - 1e-9)
            top += q[3 * (int64_t)i + 1] - lg->rest[3 * (int64_t)i + 1], tops++;
    const double weight = rho * g * 0.4 * 0.4 * depth, load = -w.sim->state.rigid.body[0].sand_force.y;
    const double yields = rho * g * depth * H / E + 0.5 * 1000 * g * H * H / E;
    print_message("load %.6g of the weight, top %.4g of what it should be\n", load / weight, -top / tops / yields);
    CHECK_NEAR(load / weight, 1, 1e-3);
    CHECK_NEAR(-top / tops / yields, 1, 0.03);
    tl_world_close(&w);
}

/* J, kinetic, of a layer of grains, too thin for a pressure, on a sheet of a fiftieth of its weight. */
static double stirred(bool ride)
{
    tl_world w;
    CHECK_OK(tl_world_open(
        &w, &err,
        "return scene { talus = 1, engine = 'grid', duration = 10, fps = 100, gravity = {0, -9.81, 0},"
        " grid = { cells = {8, 8, 8}, cell = 0.05 },"
        " fill = { { " SAND "shape = box { size = {0.25, 0.04, 0.25}, center = {0.2, 0.25, 0.2} } } },"
        " bodies = { { shape = box { size = {0.36, 0.02, 0.36} }, at = {0.2, 0.2, 0.2}, cells = {6, 1, 6},"
        "   anchor = subtract { box { size = 1 }, box { size = {0.35, 2, 0.35} } },"
        "   material = elastic { density = 30, young = 2e6, poisson = 0.3 } } } }"));
    ((tl_grid_data *)w.sim->engine_data)->flow.rules.ride = ride;
    CHECK_OK(tl_world_until(&w, 0.5, 0, &err));
    const double kinetic = w.sim->report.kinetic;
    print_message("grains %s the sheet: %.3g J after 0.5 s\n", ride ? "ride on" : "push", kinetic);
    tl_world_close(&w);
    return kinetic;
}

static void a_light_sheet_bears_a_layer(void **state)
{
    (void)state;
    CHECK_LE(stirred(true), 0.02);
    assert_true(stirred(false) > 0.2);
}

/* Two threads, and a state that was saved. */
static void steps_repeat(void **state)
{
    (void)state;
    uint64_t hash[2];
    const int before = tl_threads();
    for (int threads = 1; threads <= 2; threads++) {
        tl_world w;
        tl_threads_set(threads);
        CHECK_OK(tl_world_open(
            &w, &err,
            "return scene { talus = 1, engine = 'grid', duration = 10, fps = 50, gravity = {0, 0, -9.81},"
            " grid = { cells = {10, 10, 10}, cell = 0.04 },"
            " fill = { { " SAND "shape = box { size = {0.4, 0.4, 0.16}, center = {0.2, 0.2, 0.08} } } },"
            " bodies = { { shape = box { size = 0.12 }, at = {0.2, 0.21, 0.225}, cells = {2, 2, 2}, velocity = {0, 0, "
            "-1}, material = elastic { density = 1000, young = 1e5, poisson = 0.3 } } } }"));
        for (int k = 0; k < 4; k++) CHECK_OK(tl_sim_step(w.sim, 0.02, INFINITY, &err));
        hash[threads - 1] = tl_state_hash(&w.sim->state);
        if (threads == 2) check_saved_goes_on(w.sim, w.scene, 2, 0.02);
        tl_world_close(&w);
    }
    tl_threads_set(before);
    assert_true(hash[0] == hash[1]);
}

/* Liquid on one side of an elastic wall of two cells, sand on the other, wherever it lies in its cells: cells inside of
 * it share what is on both sides, and what it keeps apart does not touch. */
static void walls_keep_liquid_and_sand_apart(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        tl_world w;
        CHECK_OK(tl_world_open(
            &w, &err,
            "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, gravity = {0, -9.81, 0},"
            " grid = { cells = {16, 8, 4}, cell = 0.05 },"
            " fill = { { material = liquid { density = 1000 }, shape = box { size = {0.3, 0.2, 0.2}, center = {0.15, "
            "0.1, "
            "0.1} } }, { " SAND "shape = box { size = {0.3, 0.2, 0.2}, center = {0.65, 0.1, 0.1} } } },"
            " bodies = { { shape = box { size = {0.1, 0.3, 0.2} }, at = {%g, 0.15, 0.1}, cells = {2, 4, 2},"
            "   anchor = box { center = {0, -0.15, 0}, size = {1, 0.01, 1} },"
            "   material = elastic { density = 1000, young = 1e6, poisson = 0.3 } } } }",
            0.4 + 0.0125 * k));
        CHECK_OK(tl_world_steps(&w, 4, 0.01, &err));
        tl_world_close(&w);
    }
}

/* Viscous liquid and sand in one scene is not there, with elastic bodies or without, and is told as that. */
static void viscous_liquid_and_sand_are_refused(void **state)
{
    (void)state;
    tl_world w;
    assert_int_equal(
        tl_world_open(
            &w, &err,
            "return scene { talus = 1, engine = 'grid', duration = 1, grid = { cells = {16, 8, 4}, cell = 0.05 },"
            " fill = { { material = viscous { density = 1300, viscosity = 5 }, shape = box { size = 0.1, center = "
            "{0.15, 0.1, 0.1} } }, { " SAND "shape = box { size = 0.1, center = {0.65, 0.1, 0.1} } } },"
            " bodies = { { shape = box { size = 0.1 }, at = {0.4, 0.15, 0.1}, cells = {2, 2, 2},"
            "   material = elastic { density = 1000, young = 1e6, poisson = 0.3 } } } }"),
        TALUS_UNSUPPORTED);
    assert_non_null(strstr(err.message, "sand and viscous liquid in one scene cannot be run yet"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_light_sheet_bears_a_layer),      cmocka_unit_test(nothing_is_lost_in_space),
        cmocka_unit_test(a_block_yields_by_the_weight),     cmocka_unit_test(steps_repeat),
        cmocka_unit_test(walls_keep_liquid_and_sand_apart), cmocka_unit_test(viscous_liquid_and_sand_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
