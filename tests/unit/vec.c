#include "check.h"

#include <string.h>

#include "base/random.h"
#include "math/small_chol.h"
#include "math/vec.h"

static tl_vec3 random_vec(uint64_t id)
{
    return tl_vec3_make(tl_random_normal(1, id, 0), tl_random_normal(1, id, 1), tl_random_normal(1, id, 2));
}

static tl_mat3 random_mat(uint64_t id)
{
    return tl_mat3_from_rows(random_vec(3 * id), random_vec(3 * id + 1), random_vec(3 * id + 2));
}

static double mat_gap(tl_mat3 A, tl_mat3 B) { return tl_mat3_max_abs(tl_mat3_sub(A, B)); }
static double vec_gap(tl_vec3 a, tl_vec3 b) { return tl_vec3_max_abs(tl_vec3_sub(a, b)); }

static void vectors_by_hand(void **state)
{
    (void)state;
    tl_vec3 a = {1, 2, 3}, b = {-4, 5, 0.5};
    assert_true(vec_gap(tl_vec3_add(a, b), tl_vec3_make(-3, 7, 3.5)) == 0);
    assert_true(vec_gap(tl_vec3_sub(a, b), tl_vec3_make(5, -3, 2.5)) == 0);
    assert_true(vec_gap(tl_vec3_scale(2, a), tl_vec3_make(2, 4, 6)) == 0);
    assert_true(vec_gap(tl_vec3_add_scaled(a, -2, b), tl_vec3_make(9, -8, 2)) == 0);
    assert_true(vec_gap(tl_vec3_mul(a, b), tl_vec3_make(-4, 10, 1.5)) == 0);
    assert_true(vec_gap(tl_vec3_min(a, b), tl_vec3_make(-4, 2, 0.5)) == 0);
    assert_true(vec_gap(tl_vec3_max(a, b), tl_vec3_make(1, 5, 3)) == 0);
    assert_true(vec_gap(tl_vec3_cross(a, b), tl_vec3_make(-14, -12.5, 13)) == 0);
    assert_true(tl_vec3_dot(a, b) == 7.5);
    assert_true(tl_vec3_max_abs(b) == 5);
    CHECK_NEAR(tl_vec3_norm(a), sqrt(14), 1e-15);
    double p[3];
    tl_vec3_store(a, p);
    assert_true(vec_gap(tl_vec3_load(p), a) == 0 && p[2] == 3);
}

static void normalise_is_defined_everywhere(void **state)
{
    (void)state;
    tl_vec3 up = {0, 1, 0}, zero = {0, 0, 0};
    assert_true(vec_gap(tl_vec3_normalize(zero), zero) == 0);
    assert_true(vec_gap(tl_vec3_normalize_or(zero, up), up) == 0);
    assert_true(vec_gap(tl_vec3_normalize_or(tl_vec3_make(NAN, 0, 0), up), up) == 0);
    assert_true(vec_gap(tl_vec3_normalize_or(tl_vec3_make(INFINITY, 0, 0), up), up) == 0);
    CHECK_NEAR(vec_gap(tl_vec3_normalize(tl_vec3_make(3e-100, 0, -4e-100)), tl_vec3_make(0.6, 0, -0.8)), 0, 2e-16);
}

static void tangents_are_right_handed_frames(void **state)
{
    (void)state;
    const tl_vec3 special[] = {{1, 0, 0},  {0, 1, 0},  {0, 0, 1},        {-1, 0, 0},
                               {0, -1, 0}, {0, 0, -1}, {0.6, 0.8, -0.0}, {0, 1, -1e-17}};
    for (uint64_t i = 0; i < 2000; i++) {
        tl_vec3 n = i < 8 ? special[i] : tl_vec3_normalize(random_vec(i)), t1, t2;
        tl_vec3_tangents(n, &t1, &t2);
        tl_mat3 Q = tl_mat3_from_columns(n, t1, t2);
        /* the rounding of n itself enters: a few ulp */
        CHECK_NEAR(mat_gap(tl_mat3_tmul(Q, Q), tl_mat3_identity()), 0, 2e-15);
        CHECK_NEAR(tl_mat3_det(Q), 1, 4e-15);
    }
    /* continuous within a half sphere, up to its rim */
    tl_vec3 a1, a2, b1, b2;
    tl_vec3_tangents(tl_vec3_make(0.6, 0.8, 0), &a1, &a2);
    tl_vec3_tangents(tl_vec3_normalize(tl_vec3_make(0.6, 0.8, 1e-6)), &b1, &b2);
    CHECK_LE(fmax(vec_gap(a1, b1), vec_gap(a2, b2)), 3e-6);
}

static void matrix_identities(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 500; i++) {
        tl_mat3 A = random_mat(2 * i), B = random_mat(2 * i + 1), I = tl_mat3_identity();
        tl_vec3 x = random_vec(9000 + i), y = random_vec(19000 + i);
        /* entries are below 5, products of two or three below 1e3: 1e-13 is some ulp of that */
        double tol = 1e-13;
        CHECK_NEAR(vec_gap(tl_mat3_mul_vec(tl_mat3_mul(A, B), x), tl_mat3_mul_vec(A, tl_mat3_mul_vec(B, x))), 0, tol);
        CHECK_NEAR(vec_gap(tl_mat3_tmul_vec(A, x), tl_mat3_mul_vec(tl_mat3_transpose(A), x)), 0, tol);
        CHECK_NEAR(mat_gap(tl_mat3_tmul(A, B), tl_mat3_mul(tl_mat3_transpose(A), B)), 0, tol);
        CHECK_NEAR(mat_gap(tl_mat3_mul_t(A, B), tl_mat3_mul(A, tl_mat3_transpose(B))), 0, tol);
        CHECK_NEAR(vec_gap(tl_mat3_mul_vec(tl_mat3_skew(x), y), tl_vec3_cross(x, y)), 0, tol);
        CHECK_NEAR(vec_gap(tl_mat3_mul_vec(tl_mat3_outer(x, y), x), tl_vec3_scale(tl_vec3_dot(x, y), x)), 0, tol);
        CHECK_NEAR(tl_mat3_det(tl_mat3_mul(A, B)), tl_mat3_det(A) * tl_mat3_det(B), 1e-12);
        CHECK_NEAR(tl_mat3_trace(tl_mat3_tmul(A, B)), tl_mat3_dot(A, B), tol);
        CHECK_NEAR(tl_mat3_norm(A), sqrt(tl_mat3_trace(tl_mat3_tmul(A, A))), tol);
        CHECK_NEAR(mat_gap(tl_mat3_mul_t(A, tl_mat3_cofactor(A)), tl_mat3_scale(tl_mat3_det(A), I)), 0, tol);
        CHECK_NEAR(mat_gap(tl_mat3_add_scaled(tl_mat3_symmetric(A), 0.5, tl_mat3_sub(A, tl_mat3_transpose(A))), A), 0,
                   tol);
        tl_mat3 inverse;
        assert_true(tl_mat3_inverse(A, &inverse));
        double condition = tl_mat3_norm(A) * tl_mat3_norm(inverse);
        CHECK_NEAR(mat_gap(tl_mat3_mul(A, inverse), I), 0, 1e-15 * condition * condition);
    }
}

static void singular_inverse_is_refused(void **state)
{
    (void)state;
    tl_mat3 inverse, A = {{{1, 2, 3}, {2, 4, 6}, {0, 1, 5}}};
    assert_false(tl_mat3_inverse(A, &inverse));
    assert_true(tl_mat3_max_abs(inverse) == 0);
    assert_false(tl_mat3_inverse(tl_mat3_zero(), &inverse));
    A.m[0][0] = NAN;
    assert_false(tl_mat3_inverse(A, &inverse));
    assert_true(tl_mat3_max_abs(inverse) == 0);
}

static void small_cholesky_solves(void **state)
{
    (void)state;
    for (int n = 1; n <= 8; n++)
        for (uint64_t trial = 0; trial < 50; trial++) {
            double B[64], A[64], L[64], x[8], b[8];
            for (int i = 0; i < n * n; i++) B[i] = tl_random_normal(7, trial, (uint64_t)(100 * n + i));
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    A[i * n + j] = i == j;
                    for (int k = 0; k < n; k++) A[i * n + j] += B[i * n + k] * B[j * n + k];
                }
            for (int i = 0; i < n; i++) x[i] = b[i] = tl_random_normal(8, trial, (uint64_t)i);
            memcpy(L, A, sizeof A);
            assert_true(tl_small_chol(n, L));
            tl_small_chol_solve(n, L, x);
            for (int i = 0; i < n; i++) {
                double r = b[i];
                for (int j = 0; j < n; j++) r -= A[i * n + j] * x[j];
                CHECK_NEAR(r, 0, 1e-13); /* |A| < 100, |x| of order 1 */
            }
            A[0] = -1;
            assert_false(tl_small_chol(n, A));
        }
    double nan1[1] = {NAN}, indefinite[4] = {1, 2, 2, 1};
    assert_false(tl_small_chol(1, nan1));
    assert_false(tl_small_chol(2, indefinite));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_by_hand),
        cmocka_unit_test(normalise_is_defined_everywhere),
        cmocka_unit_test(tangents_are_right_handed_frames),
        cmocka_unit_test(matrix_identities),
        cmocka_unit_test(singular_inverse_is_refused),
        cmocka_unit_test(small_cholesky_solves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
