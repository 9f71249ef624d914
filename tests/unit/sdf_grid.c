/* Distance grids: near the surface as good as the cell allows, far from it a lower bound, everywhere a gradient that
 * fits the values. */
#include "geom/sdf_grid.h"

#include "base/random.h"
#include "check.h"
#include "shapes.h"

static talus_error err;

static tl_vec3 random_point(uint64_t id, double edge)
{
    return (tl_vec3){edge * (tl_random(3, id, 0) - 0.5), edge * (tl_random(3, id, 1) - 0.5),
                     edge * (tl_random(3, id, 2) - 0.5)};
}

static void values_and_signs(void **state)
{
    (void)state;
    tl_test_shapes s = tl_test_shapes_make();
    const double cell = 0.03, band = 0.1;
    for (int k = 0; k < s.count; k++) {
        tl_sdf_grid *g;
        int near = 0;
        CHECK_OK(tl_sdf_grid_create(&g, s.tree, s.shape[k].node, cell, band, &err));
        for (uint64_t i = 0; i < 6000; i++) {
            tl_vec3 p = random_point(i, i % 5 ? 2.6 : 9);
            double d = tl_shape_distance(s.tree, s.shape[k].node, p), v = tl_sdf_grid_distance(g, p);
            /* an interpolant of a Lipschitz function is off by half a cell's diagonal at most */
            if (fabs(d) <= band) {
                near++;
                if (!(fabs(v - d) < 0.87 * cell)) fail_msg("%s: %g for %g", s.shape[k].name, v, d);
            } else if (!(v * d > 0)) {
                fail_msg("%s: sign of %g for %g", s.shape[k].name, v, d);
            }
            if (s.shape[k].outside_exact && d > band && !(v <= d + 0.87 * cell))
                fail_msg("%s: %g exceeds %g", s.shape[k].name, v, d);
        }
        assert_true(near > 100);
        tl_sdf_grid_free(g);
    }
    tl_shape_tree_free(s.tree);
}

static void second_order_on_a_sphere(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int ball = tl_shape_sphere(t, 1, &err);
    double worst[2] = {0, 0};
    for (int e = 0; e < 2; e++) {
        tl_sdf_grid *g;
        CHECK_OK(tl_sdf_grid_create(&g, t, ball, e ? 0.05 : 0.1, 0.15, &err));
        for (uint64_t i = 0; i < 20000; i++) {
            tl_vec3 p = random_point(i, 2.4);
            double d = tl_shape_distance(t, ball, p);
            if (fabs(d) < 0.15) worst[e] = fmax(worst[e], fabs(tl_sdf_grid_distance(g, p) - d));
        }
        tl_sdf_grid_free(g);
    }
    CHECK_LE(worst[0], 0.1 * 0.1 / 4 / 0.85); /* h^2/8 times two curvatures of 1/r */
    CHECK_LE(worst[1], 0.3 * worst[0]);
    tl_shape_tree_free(t);
}

static void gradient_fits_the_values(void **state)
{
    (void)state;
    tl_test_shapes s = tl_test_shapes_make();
    for (int k = 0; k < s.count; k += 3) {
        tl_sdf_grid *g;
        int compared = 0;
        const double cell = 0.07, h = 1e-3;
        CHECK_OK(tl_sdf_grid_create(&g, s.tree, s.shape[k].node, cell, 0.2, &err));
        for (uint64_t i = 0; i < 4000; i++) {
            tl_vec3 p = random_point(i, 2.4), slope = tl_sdf_grid_gradient(g, p);
            if (fabs(tl_shape_distance(s.tree, s.shape[k].node, p)) > 0.2) continue;
            double got[3] = {slope.x, slope.y, slope.z};
            for (int a = 0; a < 3; a++) {
                tl_vec3 e = {h * (a == 0), h * (a == 1), h * (a == 2)};
                double up = tl_sdf_grid_distance(g, tl_vec3_add(p, e)),
                       down = tl_sdf_grid_distance(g, tl_vec3_sub(p, e)), here = tl_sdf_grid_distance(g, p);
                if (fabs(up + down - 2 * here) > 1e-9)
                    continue; /* a cell's face between: linear along an axis inside of a cell */
                CHECK_NEAR((up - down) / (2 * h), got[a], 1e-6);
                compared++;
            }
        }
        assert_true(compared > 1000);
        tl_sdf_grid_free(g);
    }
    tl_shape_tree_free(s.tree);
}

static void memory_grows_with_area(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int ball = tl_shape_sphere(t, 1, &err);
    size_t bytes[2];
    for (int e = 0; e < 2; e++) {
        tl_sdf_grid *g;
        double cell = e ? 0.01 : 0.02;
        CHECK_OK(tl_sdf_grid_create(&g, t, ball, cell, 2 * cell, &err));
        bytes[e] = tl_sdf_grid_bytes(g);
        tl_sdf_grid_free(g);
    }
    CHECK_LE((double)bytes[1] / (double)bytes[0], 4.6); /* 4 for area, 8 for volume */
    tl_shape_tree_free(t);
}

static void far_away(void **state)
{
    (void)state;
    tl_shape_tree *t = tl_shape_tree_create();
    int box = tl_shape_box(t, (tl_vec3){1, 1, 1}, 0, &err);
    tl_sdf_grid *g;
    CHECK_OK(tl_sdf_grid_create(&g, t, box, 0.05, 0.1, &err));
    CHECK_NEAR(tl_sdf_grid_distance(g, (tl_vec3){100, 0, 0}), 99.5, 1e-12);
    CHECK_NEAR(tl_sdf_grid_gradient(g, (tl_vec3){100, 0, 0}).x, 1, 1e-12);
    CHECK_LE(tl_sdf_grid_distance(g, (tl_vec3){0, 0, 0}), -0.1);
    assert_false(isnan(tl_sdf_grid_distance(g, (tl_vec3){-1e300, 1e300, 0})) != 0);
    tl_sdf_grid_free(g);
    int ground = tl_shape_half_space(t, (tl_vec3){0, 1, 0}, 0, &err);
    assert_int_equal(tl_sdf_grid_create(&g, t, ground, 0.05, 0.1, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_sdf_grid_create(&g, t, box, 0, 0.1, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_sdf_grid_create(&g, t, box, 0.1, NAN, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_sdf_grid_create(&g, t, box, 1e-6, 0.1, &err), TALUS_BAD_INPUT);
    assert_null(g);
    tl_shape_tree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_signs),
        cmocka_unit_test(second_order_on_a_sphere),
        cmocka_unit_test(gradient_fits_the_values),
        cmocka_unit_test(memory_grows_with_area),
        cmocka_unit_test(far_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
