/* Viscous liquid in whole steps: what it does to solids beside it. */
#include "check.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plates_feel_the_shear)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
