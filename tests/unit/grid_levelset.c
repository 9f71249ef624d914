/* Where liquid is, what is active, and what velocities are beyond it. */
#include "check.h"

#include "grid.h"
#include "model/grid/extrapolate.h"

static talus_error err;

/* Every sampling of a pool gives its height to a few percent of a cell, and its volume to a few per mille (points by
 * distance crowd at the fill's surface). */
static void flat_pool(void **state)
{
    (void)state;
    const struct {
        const char *how;
        double off, volume; /* of a cell; relative */
    } cases[] = {{"lattice", 0.03, 1e-3}, {"jitter", 0.3, 5e-3}, {"blue_noise", 0.3, 1.5e-2}};
    for (int k = 0; k < 3; k++) {
        grid_case c =
            grid_open("grid = { cells = {16, 16, 16}, cell = 0.1 }, fill = { { material = water, shape = box { "
                      "center = {0.8, 0.375, 0.8}, size = {1.6, 0.75, 1.6} }, sampling = '%s' } }",
                      cases[k].how);
        grid_derive(&c, TL_WEIGHT_VOLUME);
        double want = 0, volume;
        for (int64_t i = 0; i < c.sorted.count; i++) want += c.sorted.particle[i].volume;
        CHECK_OK(tl_liquid_volume(&c.g, &c.full, NULL, &c.arena, &volume, &err));
        CHECK_REL(volume, want, cases[k].volume);
        if (k < 2) CHECK_REL(want, 1.6 * 1.6 * 0.75, k ? 2e-2 : 1e-9);
        double mean = 0;
        for (int x = 0; x < 16; x++)
            for (int z = 0; z < 16; z++) {
                /* zero crossing between the cells of rows 6 and 7 and their neighbours: surface at 0.75 m, on a face */
                double below = c.phi[tl_grid_cell(&c.g, x, 6, z)], above = c.phi[tl_grid_cell(&c.g, x, 8, z)];
                double at = c.phi[tl_grid_cell(&c.g, x, 7, z)];
                assert_true(below < 0 && above > 0);
                /* at a wall a particle and its image count together: half as many say where the surface is */
                int walls = (x == 0 || x == 15) + (z == 0 || z == 15);
                CHECK_NEAR(at, 0, sqrt(1 << walls) * cases[k].off * 0.1);
                mean += at / 256;
                CHECK_NEAR(c.phi[tl_grid_cell(&c.g, x, 3, z)], -0.1, 0); /* deep, whatever the noise */
            }
        if (k < 2) CHECK_NEAR(mean, 0, 0.03 * 0.1);
        grid_close(&c);
    }
}

/* A film that lies flat on the floor, squashed to a tenth of a cell: it fills its cells as much as it is thick, and
 * counts with its volume whether the surface sees it or not. Crowds do not: two cells' worth in one read as one. */
static void film(void **state)
{
    (void)state;
    static const double thick[] = {0.2, 0.7, 0.9, 2};
    for (int k = 0; k < 4; k++) {
        grid_case c =
            grid_open("grid = { cells = {16, 16, 16}, cell = 0.1 }, fill = { { material = water, shape = box { "
                      "center = {0.8, 0.05, 0.8}, size = {1.6, 0.1, 1.6} }, sampling = 'lattice' } }");
        double want = 0, volume;
        for (int64_t i = 0; i < tl_grid_state_of(&c.state)->particles.count; i++) {
            tl_particle *p = &tl_grid_state_of(&c.state)->particles.particle[i];
            p->x.y = 0.002 + 0.1 * p->x.y;
            p->volume *= thick[k];
            want += p->volume;
        }
        grid_derive(&c, TL_WEIGHT_VOLUME);
        CHECK_OK(tl_liquid_volume(&c.g, &c.full, NULL, &c.arena, &volume, &err));
        CHECK_REL(volume, fmin(want, 1.6 * 1.6 * 0.1), 1e-9);
        for (int x = 0; x < 16; x++) { /* into the corner as well */
            int32_t cell = tl_grid_cell(&c.g, x, 0, x);
            CHECK_NEAR(c.phi[cell], -0.1 * tl_depth_of_fill(thick[k]), 1e-9);
        }
        grid_close(&c);
    }
}

/* What moves as a whole reads the same wherever it is, off a round roof as well; what is squeezed or pulled apart
 * reads by as much. */
static void volume_reads_what_is_there(void **state)
{
    (void)state;
    for (int k = 0; k < 10; k++) {
        grid_case c = grid_open(
            "grid = { cells = {12, 12, 12}, cell = 0.1 }, fill = { { material = water, shape = intersect { sphere { "
            "radius = 0.5, center = {0.6, 0.6, 0.6} }, box { center = {0.6, 1, 0.6}, size = {1.2, 1, 1.2} } }, "
            "sampling = 'lattice' } }, bodies = { { kind = 'static', shape = subtract { box { size = 2 }, sphere { "
            "radius = 0.5 } }, at = {0.6, 0.6, 0.6} } }");
        tl_particles *p = &tl_grid_state_of(&c.state)->particles;
        const double down = k < 5 ? 0.027 * k : 0, scale = k < 5 ? 1 : 1 + 0.02 * (k - 7);
        double want = 0, volume;
        for (int64_t i = 0; i < p->count; i++) {
            p->particle[i].x.y -= down;
            want += p->particle[i].volume;
            p->particle[i].volume /= scale; /* as if it were squeezed to that */
        }
        grid_derive(&c, TL_WEIGHT_VOLUME);
        uint8_t *pressed = TL_TAKE_ZERO(&c.arena, uint8_t, c.g.cells);
        CHECK_OK(tl_liquid_volume(&c.g, &c.full, k < 5 ? pressed : NULL, &c.arena, &volume, &err));
        /* a hundredth: cells at a surface, of which such a small piece has many, are read by what is in them */
        CHECK_REL(volume, want, 1.5e-2);
        grid_close(&c);
    }
}

/* A piston of two cells on water: its lower cells hold an extension of the water, its upper ones and the air above
 * hold none. */
static void thin_piston(void **state)
{
    (void)state;
    grid_case c =
        grid_open("grid = { cells = {16, 16, 16}, cell = 0.1 }, fill = { { material = water, shape = box { center = "
                  "{0.8, 0.3, 0.8}, size = {1.6, 0.6, 1.6} } } }, bodies = { { name = 'piston', shape = box { size = "
                  "{1.6, 0.2, 1.6} }, at = "
                  "{0.8, 0.7, 0.8}, density = 500 } }");
    grid_derive(&c, TL_WEIGHT_VOLUME);
    for (int x = 2; x < 14; x++) {
        int32_t low = tl_grid_cell(&c.g, x, 6, 5), high = tl_grid_cell(&c.g, x, 7, 5),
                air = tl_grid_cell(&c.g, x, 8, 5);
        CHECK_LE(c.phi[low], -0.05);
        CHECK_NEAR(c.liquid.cell[low], 1.0, 0.01);
        CHECK_NEAR(c.phi[high], 0.1, 1e-12);
        CHECK_NEAR(c.phi[air], 0.1, 1e-12);
        CHECK_NEAR(c.liquid.cell[high], 0.0, 0);
        CHECK_NEAR(c.liquid.face[1][air], 0.0, 0);
        assert_true(c.active.number[low] >= 0);
        assert_true(c.active.number[high] < 0 && c.active.number[air] < 0);
    }
    grid_close(&c);
}

/* Active: cells of the pool and one layer in walls; not the air, not the wall above the water, not deeper in the
 * wall. */
static void active_sets(void **state)
{
    (void)state;
    grid_case c =
        grid_open("grid = { cells = {16, 16, 16}, cell = 0.1 }, fill = { { material = water, shape = box { center = "
                  "{0.8, 0.3, 0.8}, size = {1.6, 0.6, 1.6} }, sampling = 'lattice' } }");
    grid_derive(&c, TL_WEIGHT_VOLUME);
    int inside = 0, floor_cells = 0, number = 0;
    for (int x = -3; x < 19; x++)
        for (int y = -3; y < 19; y++)
            for (int z = -3; z < 19; z++) {
                int32_t cell = tl_grid_cell(&c.g, x, y, z);
                if (!tl_grid_exists(&c.g, cell)) continue;
                bool in = c.active.number[cell] >= 0, box = x >= 0 && x < 16 && z >= 0 && z < 16;
                if (box && y >= 0 && y < 6) inside += in;
                if (box && y == -1) floor_cells += in;
                if (y > 6 || y < -1 || x < -1 || x > 16) assert_false(in);
            }
    assert_int_equal(inside, 16 * 16 * 6);
    assert_int_equal(floor_cells, 16 * 16);
    for (int32_t i = 0; i < c.active.count; i++) {
        assert_int_equal(c.active.number[c.active.cell[i]], i);
        assert_true(i == 0 || c.active.cell[i] > c.active.cell[i - 1]);
        number++;
    }
    assert_true(number > 16 * 16 * 7);
    /* shear on edges: inside, at the floor; not in the air */
    assert_true(c.active.edge[2][tl_grid_cell(&c.g, 8, 3, 8)]);
    assert_true(c.active.edge[2][tl_grid_cell(&c.g, 8, 0, 8)]);
    assert_false(c.active.edge[2][tl_grid_cell(&c.g, 8, 7, 8)]);

    /* pressures come back by cell, also on a grid that has other blocks */
    double *p = TL_TAKE(&c.arena, double, c.active.count), *q = TL_TAKE(&c.arena, double, c.active.count);
    for (int32_t i = 0; i < c.active.count; i++) p[i] = 1 + i;
    CHECK_OK(tl_grid_state_reserve_memory(tl_grid_state_of(&c.state), c.active.count, false, &err));
    tl_active_remember(&c.g, &c.active, p, NULL, tl_grid_state_of(&c.state));
    assert_int_equal(tl_active_recall(&c.g, &c.active, tl_grid_state_of(&c.state), q, NULL), c.active.count);
    for (int32_t i = 0; i < c.active.count; i++) assert_true(p[i] == q[i]);
    tl_grid_state_of(&c.state)->memory[5].key--; /* a cell that is not there now; its neighbour's is gone */
    assert_int_equal(tl_active_recall(&c.g, &c.active, tl_grid_state_of(&c.state), q, NULL), c.active.count - 1);
    assert_true(q[5] == 0 && q[6] == p[6]);
    grid_close(&c);
}

/* A constant stays constant; three layers and no more. Inflow into walls goes, sliding stays. */
static void extrapolation(void **state)
{
    (void)state;
    grid_case c =
        grid_open("grid = { cells = {16, 16, 16}, cell = 0.1 }, fill = { { material = water, shape = box { center = "
                  "{0.8, 0.3, 0.8}, size = {1.6, 0.6, 1.6} } } }");
    grid_derive(&c, TL_WEIGHT_VOLUME);
    uint8_t *known[3];
    for (int k = 0; k < 3; k++) {
        known[k] = TL_TAKE_ZERO(&c.arena, uint8_t, c.g.cells);
        for (int32_t i = 0; i < c.g.cells; i++) {
            known[k][i] = c.faces.mass[k][i] > 0 && c.fractions.open[k][i] > 0;
            c.faces.u[k][i] = known[k][i] ? 3 - 2 * k : 77; /* garbage where not known */
        }
    }
    CHECK_OK(tl_extrapolate(&c.g, 3, c.faces.u, known, &c.arena, &err));
    for (int y = 7; y < 12; y++) {
        int32_t i = tl_grid_cell(&c.g, 8, y, 8);
        /* particles up to 0.6 m give mass to x-faces of row 6 */
        assert_int_equal(known[0][i], y < 10 ? y - 5 : 0);
        CHECK_NEAR(c.faces.u[0][i], y < 10 ? 3.0 : 0.0, 0);
    }
    CHECK_OK(
        tl_clip_inflow(&c.g, &(tl_covered){&c.solids, c.fractions.open, 0, NULL}, known, c.faces.u, &c.arena, &err));
    int32_t wall = tl_grid_cell(&c.g, -1, 3, 8), far = tl_grid_cell(&c.g, 17, 3, 8);
    CHECK_NEAR(c.faces.u[0][wall], 3.0, 0); /* out of the lower wall */
    CHECK_NEAR(c.faces.u[0][far], 0.0, 0);  /* into the upper one */
    CHECK_NEAR(c.faces.u[1][wall], 1.0, 0); /* along */
    grid_close(&c);
}

/* Pressures come back to their cells whatever the numbering: here the reverse of the grid's own. */
static void pressures_come_back(void **state)
{
    (void)state;
    grid_case c = grid_open("grid = { cells = {16, 16, 16}, cell = 0.1 }, fill = { { material = water, shape = box { "
                            "center = {0.8, 0.375, 0.8}, size = {1.6, 0.75, 1.6} } } }");
    grid_derive(&c, TL_WEIGHT_VOLUME);
    int32_t n = c.active.count;
    double *p = TL_TAKE(&c.arena, double, n), *q = TL_TAKE(&c.arena, double, n);
    assert_true(n > 1000 && p && q);
    for (int32_t i = 0; i < n; i++) p[i] = i + 1;
    for (int32_t i = 0; i < n; i++) c.active.number[c.active.cell[i]] = n - 1 - i;
    CHECK_OK(tl_grid_state_reserve_memory(tl_grid_state_of(&c.state), n, false, &err));
    tl_active_remember(&c.g, &c.active, p, NULL, tl_grid_state_of(&c.state));
    for (int64_t k = 1; k < tl_grid_state_of(&c.state)->memories; k++)
        assert_true(tl_grid_state_of(&c.state)->memory[k - 1].key < tl_grid_state_of(&c.state)->memory[k].key);
    assert_int_equal(tl_active_recall(&c.g, &c.active, tl_grid_state_of(&c.state), q, NULL), n);
    assert_memory_equal(p, q, sizeof *p * (size_t)n);
    grid_close(&c);
}

/* Depth of a surface in a cell and the filling that it gives are each other's inverse, and half a cell at depth 0. */
static void fill_and_depth(void **state)
{
    (void)state;
    CHECK_NEAR(tl_fill_of_depth(0), 0.5, 1e-15);
    assert_true(tl_fill_of_depth(-1) == 0 && tl_fill_of_depth(1) == 1 && tl_fill_of_depth(-7) == 0 &&
                tl_fill_of_depth(7) == 1);
    for (int k = -9; k <= 9; k++) CHECK_NEAR(tl_depth_of_fill(tl_fill_of_depth(0.1 * k)), 0.1 * k, 1e-12);
    /* a plane at a slope of 1 over 2 cells: its filling is the area of a triangle */
    CHECK_NEAR(tl_fill_of_depth(-0.5), 0.125, 1e-15);
    CHECK_NEAR(tl_fill_of_depth(0.5), 0.875, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_pool),     cmocka_unit_test(film),
        cmocka_unit_test(thin_piston),   cmocka_unit_test(pressures_come_back),
        cmocka_unit_test(active_sets),   cmocka_unit_test(fill_and_depth),
        cmocka_unit_test(extrapolation), cmocka_unit_test(volume_reads_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
