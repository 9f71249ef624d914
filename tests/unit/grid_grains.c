/* Single grains at solids, and the edges of stress at the surface of sand. */
#include "check.h"

#include <stdlib.h>

#include <math.h>
#include <string.h>

#include "grid.h"
#include "model/coupling/edges.h"
#include "model/grid/correct.h"
#include "model/grid/grains.h"

static talus_error err;

#define DX 0.1
#define SIN_30 0.5

/* One grain at a height, v = (0.8, -1, 0) with a gradient; what its faces have before and after. Returns how many
 * grains touch. */
static int64_t one_grain(double height, bool pressed, double before[3], double after[3], double *spread)
{
    grid_case c = grid_open("grid = { cells = {8, 8, 8}, cell = %g }, fill = { { material = granular { density = 1600, "
                            "friction_angle_deg = 30 }, spacing = 0.05, sampling = 'lattice',"
                            " shape = box { size = 0.05, center = {0.425, %g, 0.425} } } }",
                            DX, height);
    tl_particles *p = &tl_grid_state_of(&c.state)->particles;
    assert_int_equal(p->count, 1);
    p->particle[0].x.y = height;
    p->particle[0].v = (tl_vec3){0.8, -1, 0};
    p->particle[0].C.m[0][1] = 3;
    p->particle[0].C.m[1][1] = -2;
    grid_derive(&c, TL_WEIGHT_VOLUME);
    double alpha[4] = {0};
    assert_in_range(p->particle[0].material, 0, 3);
    alpha[p->particle[0].material] = sqrt(2) * SIN_30;
    int32_t *number = TL_TAKE(&c.arena, int32_t, c.g.cells);
    assert_non_null(number);
    memset(number, 0xff, sizeof *number * (size_t)c.g.cells);
    if (pressed) number[tl_grid_cell(&c.g, 3, 0, 3)] = 0; /* the grain is in (4, ., 4) */
    tl_grains grains = {
        .alpha = alpha, .rho = c.rho, .number = number, .solids = &c.solids, .solid_phi = c.solid_phi, .touch = 0.025};
    double m = c.rho[p->particle[0].material] * p->particle[0].volume;
    int64_t touching = -1;
    for (int k = 0; k < 2; k++) {
        double *u = k ? after : before;
        if (k) touching = tl_grains_stop(&c.g, &grains, &c.sorted, &c.faces);
        *spread = 0;
        for (int a = 0; a < 3; a++) {
            double lo = INFINITY, hi = -INFINITY;
            u[a] = 0;
            for (int64_t i = 0; i < c.g.cells; i++) {
                u[a] += c.faces.mass[a][i] * c.faces.u[a][i] / m;
                if (!(c.faces.mass[a][i] > 0)) continue;
                lo = fmin(lo, c.faces.u[a][i]);
                hi = fmax(hi, c.faces.u[a][i]);
            }
            *spread = fmax(*spread, hi - lo);
        }
    }
    grid_close(&c);
    return touching;
}

static void grain_in_contact(void **state)
{
    (void)state;
    double before[3], after[3], spread;
    assert_int_equal(one_grain(0.02, false, before, after, &spread), 1);
    CHECK_NEAR(before[0], 0.8, 1e-12);
    CHECK_NEAR(before[1], -1, 1e-12);
    CHECK_NEAR(after[0], 0.8 - SIN_30 * 1, 1e-12); /* the floor takes 1 m/s, friction half of that */
    CHECK_NEAR(after[1], 0, 1e-12);
    CHECK_NEAR(spread, 0, 1e-12); /* no gradient is left */
}

static void grain_in_flight(void **state)
{
    (void)state;
    double before[3], after[3], spread;
    assert_int_equal(one_grain(0.03, false, before, after, &spread), 0);
    CHECK_NEAR(after[0], 0.8, 1e-12);
    CHECK_NEAR(after[1], -1, 1e-12);
    assert_true(spread > 0.1);
    /* beside a cell with a pressure, across a corner: it keeps its momentum alone */
    assert_int_equal(one_grain(0.03, true, before, after, &spread), 0);
    CHECK_NEAR(after[0], 0.8, 1e-12);
    CHECK_NEAR(after[1], -1, 1e-12);
    CHECK_NEAR(spread, 0, 1e-12);
}

/* A step: four cells high, from x = 0.8 on two cells. */
static bool is_on(const grid_case *c, tl_edge_rule rule, int x, int y)
{
    tl_edges e;
    const tl_edge_domain d = {&c->g, &c->active, c->faces.fill, &c->liquid, &c->fractions, false, rule};
    CHECK_OK(tl_edges_find(&e, &d, (tl_arena *)&c->arena, &err));
    return e.of[2][tl_grid_cell(&c->g, x, y, 0)] >= 0;
}

static void edges_of_a_step(void **state)
{
    (void)state;
    grid_case c = grid_open("grid = { cells = {16, 8, 1}, cell = %g, periodic = {false, false, true} }, fill = {"
                            " { material = granular { density = 1600, friction_angle_deg = 30 },"
                            " shape = box { size = {1.6, 0.2, 0.1}, center = {0.8, 0.1, 0.05} } },"
                            " { material = granular { density = 1600, friction_angle_deg = 30 },"
                            " shape = box { size = {0.8, 0.2, 0.1}, center = {0.4, 0.3, 0.05} } } }",
                            DX);
    grid_derive(&c, TL_WEIGHT_VOLUME);
    /*                                   inside, inner corner, on top, upright side, outer corner, floor */
    const int x[6] = {4, 8, 4, 8, 8, 12}, y[6] = {2, 2, 4, 3, 4, 0};
    const bool wall[6] = {true, true, false, false, false, true}, strict[6] = {true, false, false, false, false, true};
    for (int k = 0; k < 6; k++) {
        assert_int_equal(is_on(&c, TL_EDGE_WALL, x[k], y[k]), wall[k]);
        assert_int_equal(is_on(&c, TL_EDGE_STRICT, x[k], y[k]), strict[k]);
        assert_true(is_on(&c, TL_EDGE_INACTIVE_ZERO, x[k], y[k]));
        assert_true(is_on(&c, TL_EDGE_LOAD, x[k], y[k])); /* faces that go with others are taken out of them */
    }
    grid_close(&c);
}

/* Furthest that the grains of a crowd part, m; their velocities change by `strain` (1/s), which bounds them over so
 * many seconds (0: nothing does). */
static double parted(double strain, double seconds)
{
    grid_case c = grid_open("grid = { cells = {8, 8, 8}, cell = %g }, fill = { { material = granular { density = 1600, "
                            "friction_angle_deg = 30 }, shape = box { size = 0.4, center = {0.4, 0.4, 0.4} } } }",
                            DX);
    grid_derive(&c, TL_WEIGHT_VOLUME);
    tl_vec3 *at = malloc(sizeof *at * (size_t)c.sorted.count), sum = {0, 0, 0};
    double furthest = 0, volume = 0;
    assert_non_null(at);
    for (int64_t i = 0; i < c.sorted.count; i++) {
        tl_particle *q = &c.sorted.particle[i];
        at[i] = q->x = tl_vec3_add_scaled((tl_vec3){0.4, 0.4, 0.4}, 0.8, tl_vec3_sub(q->x, (tl_vec3){0.4, 0.4, 0.4}));
        q->v = (tl_vec3){0.1, 0, 0};
        q->C = (tl_mat3){{{0, strain, 0}}};
    }
    tl_correction moved;
    CHECK_OK(tl_particles_spread(&c.f, &c.solids, &(tl_spread){1, 0.001, seconds}, &c.sorted, &c.arena, &moved, &err));
    assert_true(moved.worst > 1.5);
    for (int64_t i = 0; i < c.sorted.count; i++) {
        const tl_vec3 way = tl_vec3_sub(c.sorted.particle[i].x, at[i]);
        furthest = fmax(furthest, tl_vec3_norm(way));
        sum = tl_vec3_add_scaled(sum, c.sorted.particle[i].volume, way);
        volume += c.sorted.particle[i].volume;
    }
    CHECK_LE(tl_vec3_norm(sum) / volume, 1e-12); /* centres of mass stay: nothing is lifted */
    free(at);
    grid_close(&c);
    return furthest;
}

/* A crowd of grains parts by no more than they move past each other: a pile at rest stays where it is, however
 * dense. Without the bound it does not. */
static void crowds_at_rest_stay(void **state)
{
    (void)state;
    CHECK_NEAR(parted(0, 0.02), 0, 1e-15);
    CHECK_LE(parted(0.1, 0.02), 2 * 0.1 * 0.02 * DX);
    assert_true(parted(0.1, 0.02) > 0);
    assert_true(parted(0.1, 0) > 10 * parted(0.1, 0.02));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(grain_in_contact), cmocka_unit_test(grain_in_flight),
                                       cmocka_unit_test(edges_of_a_step), cmocka_unit_test(crowds_at_rest_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
