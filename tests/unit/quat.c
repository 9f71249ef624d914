#include "check.h"

#include "base/random.h"
#include "math/quat.h"

#define PI 3.14159265358979323846

static tl_vec3 random_vec(uint64_t id)
{
    return tl_vec3_make(tl_random_normal(31, id, 0), tl_random_normal(31, id, 1), tl_random_normal(31, id, 2));
}
static double gap(tl_vec3 a, tl_vec3 b) { return tl_vec3_max_abs(tl_vec3_sub(a, b)); }
static double mat_gap(tl_mat3 A, tl_mat3 B) { return tl_mat3_max_abs(tl_mat3_sub(A, B)); }

/* exp([v]) by scaling with 2^-10, the series to 12 terms, and ten squarings. */
static tl_mat3 matrix_exponential(tl_vec3 v)
{
    tl_mat3 X = tl_mat3_scale(0x1p-10, tl_mat3_skew(v)), E = tl_mat3_identity();
    for (int k = 12; k > 0; k--) E = tl_mat3_add(tl_mat3_identity(), tl_mat3_scale(1.0 / k, tl_mat3_mul(X, E)));
    for (int k = 0; k < 10; k++) E = tl_mat3_mul(E, E);
    return E;
}

static void exp_matches_the_matrix_exponential(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < 1000; id++) {
        tl_vec3 v = tl_vec3_scale(id % 3 == 0 ? 3 : id % 3 == 1 ? 1e-3 : 1e-9, random_vec(id));
        /* ten squarings amplify rounding 2^10 times */
        CHECK_LE(mat_gap(tl_quat_to_mat3(tl_quat_exp(v)), matrix_exponential(v)), 2e-12);
    }
}

static void exp_and_log_are_inverse(void **state)
{
    (void)state;
    const double lengths[] = {0,    1e-320, 1e-200, 1e-160, 1e-100, 1e-12, 1e-8,   1.1e-8,
                              2e-8, 1e-4,   0.1,    1,      2,      3,     3.1415, PI - 1e-9};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        for (uint64_t id = 0; id < 100; id++) {
            tl_vec3 v = tl_vec3_scale(lengths[k], tl_vec3_normalize(random_vec(id)));
            tl_quat q = tl_quat_exp(v);
            CHECK_NEAR(tl_quat_norm2(q), 1, 1e-15);
            /* the angle is held by w and |r| together: 4 ulp; subnormal numbers have few digits */
            double tol = lengths[k] < 1e-300 ? 1e-323 : 1e-15 * lengths[k];
            CHECK_LE(gap(tl_quat_log(q), v), tol);
            tl_quat minus = {-q.w, -q.x, -q.y, -q.z};
            CHECK_LE(gap(tl_quat_log(minus), v), tol);
        }
    /* beyond half a turn the shorter way round comes back */
    tl_vec3 v = tl_quat_log(tl_quat_exp(tl_vec3_make(0, 0, 2 * PI - 0.5)));
    CHECK_LE(gap(v, tl_vec3_make(0, 0, -0.5)), 3e-15);
}

static void product_rotate_and_matrix_agree(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < 1000; id++) {
        tl_quat a = tl_quat_exp(random_vec(3 * id)), b = tl_quat_exp(random_vec(3 * id + 1));
        tl_vec3 v = random_vec(3 * id + 2);
        tl_mat3 A = tl_quat_to_mat3(a), B = tl_quat_to_mat3(b);
        CHECK_LE(mat_gap(tl_quat_to_mat3(tl_quat_mul(a, b)), tl_mat3_mul(A, B)), 3e-15);
        CHECK_LE(gap(tl_quat_rotate(a, v), tl_mat3_mul_vec(A, v)), 1e-14);
        CHECK_LE(gap(tl_quat_rotate(tl_quat_conjugate(a), tl_quat_rotate(a, v)), v), 1e-14);
        CHECK_NEAR(tl_mat3_det(A), 1, 4e-15);

        /* inverse of a quaternion that is not unit */
        tl_quat c = {2 * a.w, 2 * a.x, 2 * a.y, 2 * a.z}, one = tl_quat_mul(c, tl_quat_inverse(c));
        CHECK_NEAR(one.w, 1, 1e-15);
        CHECK_NEAR(fabs(one.x) + fabs(one.y) + fabs(one.z), 0, 1e-15);

        /* difference: world frame, applied on the left */
        tl_quat again = tl_quat_mul(tl_quat_exp(tl_quat_difference(a, b)), a);
        CHECK_LE(mat_gap(tl_quat_to_mat3(again), B), 4e-15);
    }
    /* by hand: a quarter turn about z takes x to y */
    tl_quat q = tl_quat_from_axis_angle(tl_vec3_make(0, 0, 1), PI / 2);
    CHECK_LE(gap(tl_quat_rotate(q, tl_vec3_make(1, 0, 0)), tl_vec3_make(0, 1, 0)), 3e-16);
}

static void matrix_round_trip_has_no_bad_angle(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < 4000; id++) {
        tl_vec3 axis = tl_vec3_normalize(random_vec(id));
        if (id % 5 == 1) axis = tl_vec3_make(1, 0, 0);
        if (id % 5 == 2) axis = tl_vec3_normalize(tl_vec3_make(0, 1, 1e-9));
        double angle = id % 2 ? PI - pow(10, -(double)(id % 17)) : 2 * PI * tl_random(32, id, 0);
        tl_mat3 R = tl_quat_to_mat3(tl_quat_from_axis_angle(axis, angle));
        tl_quat q = tl_quat_from_mat3(R);
        CHECK_NEAR(tl_quat_norm2(q), 1, 1e-15);
        assert_true(q.w >= 0);
        CHECK_LE(mat_gap(tl_quat_to_mat3(q), R), 3e-15);
    }
}

static void normalise_is_defined_everywhere(void **state)
{
    (void)state;
    tl_quat zero = tl_quat_normalize((tl_quat){0, 0, 0, 0}), bad = tl_quat_normalize((tl_quat){NAN, 0, 0, 1});
    assert_true(zero.w == 1 && zero.x == 0 && bad.w == 1 && bad.z == 0);
    tl_quat q = tl_quat_normalize((tl_quat){-3, 0, 4, 0});
    CHECK_NEAR(q.w, -0.6, 2e-16);
    CHECK_NEAR(q.y, 0.8, 2e-16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_matches_the_matrix_exponential), cmocka_unit_test(exp_and_log_are_inverse),
        cmocka_unit_test(product_rotate_and_matrix_agree),    cmocka_unit_test(matrix_round_trip_has_no_bad_angle),
        cmocka_unit_test(normalise_is_defined_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
