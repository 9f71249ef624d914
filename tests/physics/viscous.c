/* Viscous liquid in whole steps: what it does to solids beside it. */
#include "check.h"

#include <math.h>

#include "lab/world.h"

static talus_error err;

typedef struct plates {
    double low, high; /* m, surfaces of the two */
    double dt, within;
} plates;

/* Plates on faces of the grid, in the middle of cells, and where they leave a fifth of their cells open. Steps shorter
 * than the liquid's own time: forces that come with every step would show. */
static const plates pairs[] = {{0.2, 0.8, 0.05, 1e-3}, {0.25, 0.75, 0.05, 5e-3}, {0.28, 0.72, 0.02, 6e-3}};

/* One that does not move, one that is led along it at 1 m/s: both feel eta v / h, 100 Pa s. Told for the static one was
 * nothing; where plates cover their cells in part it was 1.23 of it, and more with shorter steps. */
static void plates_feel_the_shear(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        const plates *q = &pairs[k];
        tl_world w;
        CHECK_OK(tl_world_open(
            &w, &err,
            "return scene { talus = 1, engine = 'grid', duration = 9, fps = 20, gravity = {0, 0, 0}, dt_max = %g,"
            " grid = { cells = {4, 10, 4}, cell = 0.1, periodic = {true, false, true} },"
            " fill = { { material = viscous { density = 100, viscosity = 100 },"
            "   shape = box { size = {2, %g, 2}, center = {0.2, 0.5, 0.2} } } }, bodies = {"
            " { shape = box { size = {3, 1, 3} }, at = {0.2, %g, 0.2}, kind = 'static' },"
            " { shape = box { size = {3, 1, 3} }, at = {0.2, %g, 0.2},"
            "   motion = function(t) return { at = {0.2 + t, %g, 0.2} } end } } }",
            q->dt, q->high - q->low, q->low - 0.5, q->high + 0.5, q->high + 0.5));
        CHECK_OK(tl_world_until(&w, 0.8, 0, &err));
        const double want = 100 / (q->high - q->low) * 0.16;
        const tl_motion *b = w.sim->state.rigid.body;
        print_message("plates at %g and %g m, steps of %g ms: %.6g and %.6g N, expected %.6g\n", q->low, q->high,
                      1e3 * q->dt, b[0].fluid_force.x, b[1].fluid_force.x, want);
        CHECK_REL(b[0].fluid_force.x, want, q->within);
        CHECK_REL(b[1].fluid_force.x, -want, q->within);
        tl_world_close(&w);
    }
}

#define PI 3.14159265358979323846

/* Worse of the torques on rotor and stator over eta 4 pi w R1^2 R2^2 / (R2^2 - R1^2), less 1; R2 = 3 R1, in cells. The
 * axis is off the corner of a cell by x, z. Steady after three steps: nu dt is 2000 cells^2. */
static double couette(int across, double x, double z, const char *rules)
{
    tl_world w;
    const double cell = 0.01, r = 0.5 * across * cell;
    const int half = 3 * across / 2 + 3;
    CHECK_OK(tl_world_open(
        &w, &err,
        "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, dt_max = 0.02, gravity = {0, 0, 0}, %s"
        " grid = { cells = {%d, 1, %d}, cell = %.17g, origin = {%.17g, 0, %.17g}, periodic = {false, true, false} },"
        " bodies = { { shape = cylinder { radius = %.17g, height = 1 },"
        "   motion = function(t) return { at = {0, 0, 0}, rotation_deg = {0, math.deg(t), 0} } end },"
        " { kind = 'static', shape = subtract { box { size = {1, 1.5, 1} }, cylinder { radius = %.17g, height = 3 } } "
        "} },"
        " fill = { { material = viscous { density = 1000, viscosity = 1e4 },"
        "   shape = subtract { box { size = {0.9, 0.5, 0.9} }, cylinder { radius = %.17g, height = 2 } } } } }",
        rules, 2 * half, 2 * half, cell, (x - half) * cell, (z - half) * cell, r, 3 * r, r));
    CHECK_OK(tl_world_steps(&w, 3, 0.02, &err));
    const double want = 4 * PI * 1e4 * 9.0 / 8 * r * r * cell;
    const tl_motion *b = w.sim->state.rigid.body;
    const double inner = -b[0].fluid_torque.y / want - 1, outer = b[1].fluid_torque.y / want - 1;
    tl_world_close(&w);
    return fabs(inner) > fabs(outer) ? inner : outer;
}

/* Rotor of 6, 8, 12 cells wherever its axis lies in a cell. With faces inside of solids free, the liquid slips. */
static void curved_solids_hold_the_liquid(void **state)
{
    (void)state;
    static const double at[][2] = {{0, 0}, {0.5, 0.5}, {0.3, 0.7}, {0.15, 0.45}};
    double slip = 0;
    for (size_t k = 0; k < sizeof at / sizeof *at; k++)
        for (int across = 6; across <= 12; across += across == 6 ? 2 : 4) {
            double error = couette(across, at[k][0], at[k][1], "");
            print_message("axis at %g, %g of a cell, rotor of %d cells: torque off by %.4f\n", at[k][0], at[k][1],
                          across, error);
            assert_true(fabs(error) < 0.05);
            if (across == 6)
                slip = fmin(slip, couette(6, at[k][0], at[k][1], "solver = { rules = { closed_slivers = false } },"));
        }
    assert_true(slip < -0.1);
}

/* The seam between the two is at the height of cell centres: water there must not fall into it. It weighs on the floor
 * and stays; in free fall it would have 0.3 m/s. */
static void a_tube_stands_flush_on_a_floor(void **state)
{
    (void)state;
    tl_world w;
    CHECK_OK(tl_world_open(
        &w, &err,
        "return scene { talus = 1, engine = 'grid', duration = 1, fps = 100, grid = { cells = {16, 12, 16}, cell = 0.1,"
        " origin = {-0.8, -0.15, -0.8} }, bodies = { { kind = 'static', shape = box { size = {4, 2, 4} }, at = {0, -1, "
        "0} }, { kind = 'static', shape = subtract { box { size = {4, 2, 4} }, cylinder { radius = 0.6, height = 4 } },"
        " at = {0, 1, 0} } }, fill = { { material = liquid { density = 1000 }, shape = cylinder { radius = 0.6, height "
        "="
        " 0.7, center = {0, 0.35, 0} } } } }"));
    CHECK_OK(tl_world_steps(&w, 3, 0.01, &err));
    print_message("water in a tube on a floor: %.3g m/s\n", w.sim->report.fastest);
    assert_true(w.sim->report.fastest < 0.03);
    tl_world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plates_feel_the_shear),
                                       cmocka_unit_test(curved_solids_hold_the_liquid),
                                       cmocka_unit_test(a_tube_stands_flush_on_a_floor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
