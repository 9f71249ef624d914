/* Elastic bodies in liquid, in whole steps. */
#include "check.h"

#include "lab/world.h"

static talus_error err;

/* J: a cube of the water's density, pushed at 0.3 m/s under water. */
static double moved(double young, bool follow, double until)
{
    tl_world w;
    CHECK_OK(tl_world_open(
        &w, &err,
        "return scene { talus = 1, engine = 'grid', duration = 2, fps = 50, gravity = {0, -9.81, 0},"
        " grid = { cells = {10, 10, 10}, cell = 0.1 }, solver = { follow = %s },"
        " fill = { { material = liquid { density = 1000 }, shape = plane { height = 0.7 } } },"
        " bodies = { { shape = box { size = 0.25 }, at = {0.5, 0.35, 0.5}, velocity = {0.3, 0, 0}, cells = {2, 2, 2},"
        "   material = elastic { density = 1000, young = %g, poisson = 0.4 } } } }",
        follow ? "true" : "false", young));
    CHECK_OK(tl_world_until(&w, until, 0, &err));
    const double kinetic = w.sim->report.kinetic;
    print_message("%g Pa, pressure %s the surface: %.3g J\n", young, follow ? "follows" : "does not follow", kinetic);
    tl_world_close(&w);
    return kinetic;
}

/* The push is 0.70 J, and drag takes it (0.25 J at 0.5 s). Where pressure stays as it was at the start of a step, the cube spins up by
 * 2 p V dt / I per second. */
static void neutral_cubes_do_not_spin_up(void **state)
{
    (void)state;
    CHECK_LE(moved(1e6, true, 0.5), 0.5);
    assert_true(moved(1e6, false, 0.8) > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(neutral_cubes_do_not_spin_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
