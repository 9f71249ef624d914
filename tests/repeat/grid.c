/* Same bits for 1, 2 and 3 threads; no heap use once the arena has grown. */
#include "check.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "grid.h"
#include "model/grid/correct.h"
#include "model/grid/extrapolate.h"

static talus_error err;

static grid_case open_case(void)
{
    return grid_open(
        "grid = { cells = {24, 20, 22}, cell = 0.05, periodic = {false, false, true} }, fill = { { material "
        "= water, shape = box { center = {0.6, 0.25, 0.55}, size = {1.2, 0.5, 1.1} } }, { material = heavy, shape = "
        "sphere "
        "{ center = {0.6, 0.75, 0.55}, radius = 0.15 }, velocity = {0, -1, 0.5} } }, bodies = { { shape = torus { "
        "radius = "
        "0.2, tube = 0.07 }, at = {0.6, 0.45, 0.2}, density = 500, spin_rad_per_s = {1, 2, 3} }, { shape = box { size "
        "= 0.2 }, at = {0.3, 0.4, 0.8}, rotation_deg = {10, 20, 30}, "
        "density = 500 }, { kind = 'static', shape = cylinder { radius = 0.1, height = 0.6 }, at = {0.9, 0.2, 0.5} } "
        "}");
}

/* All that a step would do with the grid, without its solve. */
static uint64_t pass(grid_case *c)
{
    grid_derive(c, TL_WEIGHT_VOLUME);
    uint64_t h = grid_hash(c);
    uint8_t *known[3];
    for (int k = 0; k < 3; k++) {
        known[k] = TL_TAKE(&c->arena, uint8_t, c->g.cells);
        for (int64_t i = 0; i < c->g.cells; i++) known[k][i] = c->faces.mass[k][i] > 0 && c->fractions.open[k][i] > 0;
    }
    CHECK_OK(tl_extrapolate(&c->g, 3, c->faces.u, known, &c->arena, &err));
    CHECK_OK(tl_clip_inflow(&c->g, &(tl_covered){&c->solids, c->fractions.open, 0, NULL}, known, c->faces.u, &c->arena,
                            &err));
    tl_grid_to_particles(&c->g, c->faces.u, known, &c->sorted);
    const tl_advection by = {c->faces.u, known, &c->solids, c->solid_phi, 0, 0.001, 0.04};
    tl_particles_advect(&c->g, &by, &c->sorted);
    tl_correction moved;
    CHECK_OK(tl_particles_spread(&c->f, &c->solids, &(tl_spread){.sweeps = 2, .gap = 0.001}, &c->sorted, &c->arena,
                                 &moved, &err));
    tl_particles_measure m;
    CHECK_OK(tl_particles_measures(&c->f, &c->sorted, c->rho, (tl_vec3){0, -9.81, 0}, &c->arena, &m, &err));
    h = tl_hash(h, &m, sizeof m);
    h = tl_hash(h, &moved, sizeof moved);
    return tl_hash(h, c->sorted.particle, sizeof(tl_particle) * (size_t)c->sorted.count);
}

static void threads(void **state)
{
    (void)state;
    uint64_t want = 0;
    int before = tl_threads();
    for (int n = 1; n <= 3; n++) {
        tl_threads_set(n);
        grid_case c = open_case();
        assert_true(tl_grid_state_of(&c.state)->particles.count > 30000); /* enough for every loop to split */
        uint64_t h = tl_state_hash(&c.state);
        h = h * 31 + pass(&c);
        if (n == 1) want = h;
        assert_true(h == want);
        grid_close(&c);
    }
    tl_threads_set(before);
}

static void settled(void **state)
{
    (void)state;
    grid_case c = open_case();
    uint64_t first = pass(&c);
    pass(&c);
    int64_t calls = tl_alloc_read().calls;
    assert_true(pass(&c) == first);
    assert_int_equal(tl_alloc_read().calls, calls);
    grid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads), cmocka_unit_test(settled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
