#include "check.h"

#include <lapacke.h>
#include <string.h>

#include "base/random.h"
#include "math/eig3.h"

/* Backward error and orthogonality in units of the largest eigenvalue and of 1: Jacobi adds a few
 * ulp per rotation, n (n-1)/2 rotations in each of about 6 sweeps. Worst measured 3.3e-15. */
#define TOL 8e-15

static double normal(uint64_t id, uint64_t k) { return tl_random_normal(11, id, k); }

static void check_decomposition(int n, const double *A, const double *w, const double *V)
{
    double size = fmax(fabs(w[0]), fabs(w[n - 1]));
    if (size == 0) size = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double a = 0, q = 0;
            for (int k = 0; k < n; k++) {
                a += V[i * n + k] * (w[k] / size) * V[j * n + k];
                q += V[k * n + i] * V[k * n + j];
            }
            CHECK_NEAR(a, A[i * n + j] / size, TOL);
            CHECK_NEAR(q, i == j ? 1 : 0, TOL);
        }
    for (int k = 1; k < n; k++) assert_true(w[k - 1] <= w[k]);
}

/* Q diag(d) Q^T with a random orthogonal Q (products of reflections). */
static void with_eigenvalues(int n, const double *d, uint64_t id, double *A)
{
    double Q[64];
    for (int i = 0; i < n * n; i++) Q[i] = i % (n + 1) == 0;
    for (int r = 0; r < 3; r++) {
        double v[8], vv = 0;
        for (int i = 0; i < n; i++) {
            v[i] = normal(id, (uint64_t)(50 + 8 * r + i));
            vv += v[i] * v[i];
        }
        for (int i = 0; i < n; i++) {
            double s = 0;
            for (int j = 0; j < n; j++) s += Q[i * n + j] * v[j];
            for (int j = 0; j < n; j++) Q[i * n + j] -= 2 * s / vv * v[j];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++) s += Q[i * n + k] * d[k] * Q[j * n + k];
            A[i * n + j] = A[j * n + i] = s;
        }
}

static void orders_1_to_8_match_lapack(void **state)
{
    (void)state;
    for (int n = 1; n <= 8; n++)
        for (uint64_t id = 0; id < 300; id++) {
            double A[64], B[64], w[8], V[64], expected[8];
            for (int i = 0; i < n; i++)
                for (int j = i; j < n; j++) A[i * n + j] = A[j * n + i] = normal(id, (uint64_t)(8 * i + j));
            tl_eig_sym(n, A, w, V);
            check_decomposition(n, A, w, V);
            memcpy(B, A, sizeof B);
            assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', n, B, n, expected), 0);
            for (int k = 0; k < n; k++) CHECK_NEAR(w[k], expected[k], TOL * fmax(fabs(w[0]), fabs(w[n - 1])));
        }
}

static void repeated_and_zero_eigenvalues(void **state)
{
    (void)state;
    const double sets[][8] = {{1, 1, 1, 1, 1, 1, 1, 1},   {0, 0, 0, 0, 0, 0, 0, 0},
                              {-1, -1, 0, 0, 0, 2, 2, 2}, {-3, -3, -3, -3, 1, 1, 1, 1},
                              {0, 0, 0, 0, 0, 0, 0, 5},   {1, 1 + 1e-15, 1 + 2e-15, 1, 1, 1, 1, 1}};
    for (int n = 2; n <= 8; n++)
        for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++)
            for (uint64_t id = 0; id < 20; id++) {
                double A[64], w[8], V[64], d[8];
                for (int k = 0; k < n; k++) d[k] = sets[s][8 - n + k]; /* rising, but for the last set */
                with_eigenvalues(n, d, id, A);
                tl_eig_sym(n, A, w, V);
                check_decomposition(n, A, w, V);
                for (int k = 0; k < n; k++) CHECK_NEAR(w[k], d[k], 5e-14);
            }
}

/* A graded matrix D B D, B well conditioned: Jacobi keeps every eigenvalue to relative accuracy.
 * Closed form: 2x2 [[1, e/2], [e/2, e^2]] has eigenvalues near 1 + e^2/4 and 3/4 e^2. */
static void small_eigenvalues_keep_their_digits(void **state)
{
    (void)state;
    double e = 1e-10, A[4] = {1, 0.5e-10, 0.5e-10, 1e-20}, w[2], V[4];
    tl_eig_sym(2, A, w, V);
    CHECK_REL(w[0], 0.75 * e * e, 1e-14);
    CHECK_REL(w[1], 1.0, 1e-15);
}

static void three_by_three_right_handed_at_any_size(void **state)
{
    (void)state;
    const double sizes[] = {1, 1e-150, 1e150, 1e-300, 1e300, 5e-324};
    for (size_t s = 0; s < 6; s++)
        for (uint64_t id = 0; id < 1000; id++) {
            tl_mat3 A, V;
            double w[3];
            int kind = (int)(id % 4);
            for (int i = 0; i < 3; i++)
                for (int j = i; j < 3; j++) {
                    double x = normal(id, (uint64_t)(3 * i + j));
                    if (kind == 1) x = i == j;                  /* identity */
                    if (kind == 2) x = (i == 0) * (j == 0) * x; /* rank one, on an axis */
                    if (kind == 3) x = rint(x);                 /* exact zeros and repeats */
                    A.m[i][j] = A.m[j][i] = x * sizes[s];
                }
            tl_eig3(A, w, &V);
            if (sizes[s] > 1e-320) check_decomposition(3, &A.m[0][0], w, &V.m[0][0]);
            CHECK_NEAR(tl_mat3_det(V), 1, TOL);
        }
}

static void bad_entries_give_nan_and_identity(void **state)
{
    (void)state;
    tl_mat3 A = tl_mat3_identity(), V;
    double w[3];
    A.m[0][2] = INFINITY;
    tl_eig3(A, w, &V);
    assert_true(isnan(w[0]) && isnan(w[2]));
    assert_true(tl_mat3_max_abs(tl_mat3_sub(V, tl_mat3_identity())) == 0);
    A.m[0][2] = 0;
    A.m[2][0] = NAN; /* lower triangle: not read */
    tl_eig3(A, w, &V);
    assert_true(w[0] == 1 && w[2] == 1);
}

static void result_may_overwrite_the_input(void **state)
{
    (void)state;
    double A[9] = {2, 1, 0, 1, 2, 1, 0, 1, 2}, B[9], w[3], wb[3], V[9];
    memcpy(B, A, sizeof B);
    tl_eig_sym(3, A, w, V);
    tl_eig_sym(3, B, wb, B);
    assert_memory_equal(B, V, sizeof V);
    CHECK_NEAR(w[0], 2 - sqrt(2), 1e-15);
    CHECK_NEAR(w[1], 2, 1e-15);
    CHECK_NEAR(w[2], 2 + sqrt(2), 2e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_1_to_8_match_lapack),
        cmocka_unit_test(repeated_and_zero_eigenvalues),
        cmocka_unit_test(small_eigenvalues_keep_their_digits),
        cmocka_unit_test(three_by_three_right_handed_at_any_size),
        cmocka_unit_test(bad_entries_give_nan_and_identity),
        cmocka_unit_test(result_may_overwrite_the_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
