#include "check.h"

#include <lapacke.h>

#include "base/random.h"
#include "math/quat.h"
#include "math/svd3.h"

/* Some ulp per rotation, three rotations in each of about five sweeps. Worst measured 2.2e-15. */
#define TOL 3e-15

static double normal(uint64_t id, uint64_t k) { return tl_random_normal(21, id, k); }

static tl_mat3 random_rotation(uint64_t id)
{
    tl_quat q = {normal(id, 100), normal(id, 101), normal(id, 102), normal(id, 103)};
    return tl_quat_to_mat3(tl_quat_normalize(q));
}

static tl_mat3 with_values(double a, double b, double c, uint64_t id)
{
    return tl_mat3_mul_t(tl_mat3_mul(random_rotation(2 * id), tl_mat3_diagonal(a, b, c)), random_rotation(2 * id + 1));
}

static double departure_from_rotation(tl_mat3 R)
{
    double gap = tl_mat3_max_abs(tl_mat3_sub(tl_mat3_tmul(R, R), tl_mat3_identity()));
    return fmax(gap, fabs(tl_mat3_det(R) - 1));
}

/* Everything the header promises of F = U diag(s) V^T; returns the values through s. */
static void check_svd(tl_mat3 F, double s[3])
{
    tl_mat3 U, V;
    tl_svd3(F, &U, s, &V);
    CHECK_LE(departure_from_rotation(U), TOL);
    CHECK_LE(departure_from_rotation(V), TOL);
    assert_true(s[0] >= s[1] && s[1] >= fabs(s[2]));
    double unit = s[0] > 0 ? s[0] : 1;
    tl_mat3 back = tl_mat3_mul_t(tl_mat3_mul(U, tl_mat3_diagonal(s[0] / unit, s[1] / unit, s[2] / unit)), V);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) CHECK_NEAR(back.m[i][j], F.m[i][j] / unit, TOL);
}

static void check_against_lapack(tl_mat3 F)
{
    double s[3], expected[3], superb[2];
    check_svd(F, s);
    tl_mat3 copy = F;
    assert_int_equal(
        LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'N', 3, 3, &copy.m[0][0], 3, expected, NULL, 1, NULL, 1, superb), 0);
    for (int k = 0; k < 3; k++) CHECK_NEAR(fabs(s[k]), expected[k], TOL * s[0]);
}

static void random_matrices_match_lapack(void **state)
{
    (void)state;
    int inverted = 0;
    for (uint64_t id = 0; id < 10000; id++) {
        tl_mat3 F;
        for (int i = 0; i < 9; i++) F.m[i / 3][i % 3] = normal(id, (uint64_t)i);
        check_against_lapack(F);
        double s[3];
        check_svd(F, s);
        double det = tl_mat3_det(F);
        if (fabs(det) > 1e-12) assert_true((s[2] < 0) == (det < 0)); /* det of size 1: rounding is 1e-15 */
        inverted += s[2] < 0;
    }
    assert_in_range(inverted, 4500, 5500); /* half of them, 10 sigma */
}

static void planned_values_come_back(void **state)
{
    (void)state;
    const double sets[][3] = {
        {1, 1, 1},
        {1, 1, -1},
        {2, 1, 1},
        {2, 2, 1},
        {2, 2, -1},
        {2, 1, -1},
        {1, 1, 0},
        {3, 1, 0},
        {1, 0, 0},
        {1, 1e-8, 0},
        {1, 1e-8, 1e-8},
        {1, 1e-8, -1e-8},
        {1, 1, 1e-9},
        {1, 1, -1e-9},
        {1, 1e-15, 0},
        {1, 1e-20, 0},
        {1, 1 - 1e-15, 1 - 2e-15},
        {1e5, 1, 1e-5},
        {1, 1e-160, 1e-170},
        {1, 0.5, 1e-300},
    };
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++)
        for (uint64_t id = 0; id < 300; id++) {
            double s[3], size = sets[k][0];
            check_svd(with_values(sets[k][0], sets[k][1], sets[k][2], id), s);
            for (int i = 0; i < 3; i++) CHECK_NEAR(s[i], sets[k][i], TOL * size);
        }
}

/* Singular to the last bit: outer products and repeated rows of small integers. */
static void exactly_singular_matrices(void **state)
{
    (void)state;
    double s[3];
    for (uint64_t id = 0; id < 2000; id++) {
        double v[6];
        for (int i = 0; i < 6; i++) v[i] = rint(3 * normal(id, (uint64_t)i));
        tl_vec3 a = {v[0], v[1], v[2]}, b = {v[3], v[4], v[5]};
        tl_mat3 rank1 = tl_mat3_outer(a, b);
        check_svd(rank1, s);
        CHECK_NEAR(s[0], tl_vec3_norm(a) * tl_vec3_norm(b), 1e-14 * s[0]);
        CHECK_LE(s[1], TOL * s[0]);

        tl_mat3 rank2 = tl_mat3_from_rows(a, b, tl_vec3_add(a, b));
        check_svd(rank2, s);
        CHECK_LE(fabs(s[2]), TOL * s[0]);
        check_svd(tl_mat3_transpose(rank2), s);
        CHECK_LE(fabs(s[2]), TOL * s[0]);
    }
    check_svd(tl_mat3_zero(), s);
    assert_true(s[0] == 0 && s[1] == 0 && s[2] == 0);
    for (int i = 0; i < 9; i++) { /* one entry only */
        tl_mat3 F = tl_mat3_zero();
        F.m[i / 3][i % 3] = -2;
        check_svd(F, s);
        assert_true(s[0] == 2 && s[1] == 0 && s[2] == 0);
    }
}

static void any_size_is_safe(void **state)
{
    (void)state;
    const double sizes[] = {1e-150, 1e150, 1e-300, 1e300, 1e-310};
    for (size_t k = 0; k < 5; k++)
        for (uint64_t id = 0; id < 1000; id++) {
            double s[3], t[3];
            tl_mat3 F = with_values(1, 0.5, id % 2 ? 0.25 : -0.25, id);
            check_svd(F, t);
            tl_mat3 G = tl_mat3_scale(sizes[k], F);
            if (sizes[k] < 1e-305) { /* subnormal: entries hold few digits, only the shape of the answer is fixed */
                tl_mat3 U, V;
                tl_svd3(G, &U, s, &V);
                CHECK_LE(departure_from_rotation(U) + departure_from_rotation(V), 2 * TOL);
                CHECK_REL(s[0], sizes[k], 1e-12);
                continue;
            }
            check_svd(G, s);
            for (int i = 0; i < 3; i++) CHECK_NEAR(s[i] / sizes[k], t[i], TOL);
        }
    /* columns of very different size */
    double s[3];
    check_svd(tl_mat3_diagonal(1e-100, 1e100, 1), s);
    CHECK_REL(s[0], 1e100, 1e-15);
    CHECK_REL(s[1], 1.0, 1e-15);
    CHECK_REL(s[2], 1e-100, 1e-15);
    check_svd(tl_mat3_diagonal(1e-150, 1e150, 1), s);
    CHECK_REL(s[0], 1e150, 1e-15);
}

static void bad_entries_give_nan_and_identity(void **state)
{
    (void)state;
    tl_mat3 F = tl_mat3_identity(), U, V;
    double s[3];
    F.m[1][2] = NAN;
    tl_svd3(F, &U, s, &V);
    assert_true(isnan(s[0]) && isnan(s[1]) && isnan(s[2]));
    assert_true(tl_mat3_det(U) == 1 && tl_mat3_det(V) == 1);
    F.m[1][2] = -INFINITY;
    tl_svd3(F, &U, s, &V);
    assert_true(isnan(s[0]));
}

static void polar_of_every_rank(void **state)
{
    (void)state;
    const double sets[][3] = {{2, 1, 0.5}, {1, 1, 1}, {2, 1, -0.5}, {1, 0.7, 0}, {1, 0, 0}, {0, 0, 0}};
    for (size_t k = 0; k < 6; k++)
        for (uint64_t id = 0; id < 500; id++) {
            tl_mat3 F = with_values(sets[k][0], sets[k][1], sets[k][2], id), R, S;
            tl_polar3(F, &R, &S);
            CHECK_LE(departure_from_rotation(R), 2 * TOL);
            assert_true(S.m[0][1] == S.m[1][0] && S.m[0][2] == S.m[2][0] && S.m[1][2] == S.m[2][1]);
            CHECK_LE(tl_mat3_max_abs(tl_mat3_sub(tl_mat3_mul(R, S), F)), 3 * TOL * 2);
            CHECK_NEAR(tl_mat3_trace(S), sets[k][0] + sets[k][1] + sets[k][2], 1e-14);
        }
    tl_mat3 R, rotation = random_rotation(5);
    tl_polar3(tl_mat3_mul(rotation, tl_mat3_diagonal(3, 2, 1)), &R, NULL);
    CHECK_LE(tl_mat3_max_abs(tl_mat3_sub(R, rotation)), TOL);
}

/* No rotation nearby is closer to F than R, inverted F included: trace(R^T F) is largest at R. */
static void polar_rotation_is_nearest(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < 300; id++) {
        tl_mat3 F = with_values(2, 1, id % 2 ? 0.5 : -0.5, id), R;
        tl_polar3(F, &R, NULL);
        double best = tl_mat3_dot(R, F);
        for (uint64_t k = 0; k < 20; k++) {
            double angle = k < 10 ? 0.01 : 2;
            tl_vec3 axis = {normal(id, 3 * k), normal(id, 3 * k + 1), normal(id, 3 * k + 2)};
            tl_quat q = tl_quat_from_axis_angle(tl_vec3_normalize(axis), angle);
            assert_true(tl_mat3_dot(tl_mat3_mul(tl_quat_to_mat3(q), R), F) < best);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_matrices_match_lapack),      cmocka_unit_test(planned_values_come_back),
        cmocka_unit_test(exactly_singular_matrices),         cmocka_unit_test(any_size_is_safe),
        cmocka_unit_test(bad_entries_give_nan_and_identity), cmocka_unit_test(polar_of_every_rank),
        cmocka_unit_test(polar_rotation_is_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
