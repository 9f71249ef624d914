#include "check.h"

#include <lapacke.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "base/sum.h"
#include "math/blas.h"
#include "math/dense.h"
#include "math/factor.h"
#include "matrices.h"

static talus_error err;

static const tl_factor_kind kinds[] = {TL_FACTOR_LLT, TL_FACTOR_LDLT};

static tl_factor *make(tl_factor_kind kind, tl_order order, const int32_t *perm)
{
    tl_factor_options o = tl_factor_options_default();
    o.kind = kind;
    o.order = order;
    o.perm = perm;
    tl_factor *f;
    CHECK_OK(tl_factor_create(&f, &o, &err));
    return f;
}

static double *random_vector(int64_t n, uint64_t seed)
{
    double *x = TL_NEW(double, n);
    for (int64_t i = 0; i < n; i++) x[i] = tl_random_normal(seed, (uint64_t)i, 0);
    return x;
}

static double largest_row_sum(const tl_csr *A)
{
    double largest = 0;
    for (int32_t i = 0; i < A->rows; i++) {
        double sum = 0;
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) sum += fabs(A->val[k]);
        largest = fmax(largest, sum);
    }
    return largest;
}

/* |b - A x| in units of |A| |x| + |b|, largest entries: the backward error, 1e-16 times a slow growth. */
static double backward_error(const tl_csr *A, const double *x, const double *b)
{
    double *r = TL_NEW(double, A->rows);
    tl_csr_mul(A, x, r);
    for (int32_t i = 0; i < A->rows; i++) r[i] -= b[i];
    double error = tl_max_abs(A->rows, r) / (largest_row_sum(A) * tl_max_abs(A->rows, x) + tl_max_abs(A->rows, b));
    tl_free(r);
    return error;
}

static void check_solves(tl_factor *f, const tl_csr *A, double tol)
{
    double *b = random_vector(A->rows, 5), *x = TL_NEW(double, A->rows);
    CHECK_OK(tl_factor_solve(f, 1, b, x, &err));
    CHECK_LE(backward_error(A, x, b), tol);
    tl_free(b);
    tl_free(x);
}

static void definite_systems_in_every_order(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (tl_order order = TL_ORDER_AMD; order <= TL_ORDER_NATURAL; order++)
            for (int which = 0; which < 4; which++) {
                tl_csr A = which == 0   ? matrix_poisson(9, 8, 7, 0)
                           : which == 1 ? matrix_spd(300, 6, 1)
                           : which == 2 ? matrix_spd(1, 0, 1)
                                        : matrix_spd(40, 0, 1); /* diagonal */
                tl_factor *f = make(kinds[kind], order, NULL);
                CHECK_OK(tl_factor_update(f, &A, &err));
                check_solves(f, &A, 1e-15);
                const tl_factor_info *info = tl_factor_info_of(f);
                assert_true(info->n == A.rows && info->negative == 0 && info->bad_column == -1);
                assert_true(info->nonzeros >= A.rows && info->flops >= A.rows);
                CHECK_OK(tl_perm_check(A.rows, info->perm, &err));
                if (order == TL_ORDER_NATURAL)
                    for (int32_t i = 0; i < A.rows; i++) assert_int_equal(info->perm[i], i);
                tl_factor_free(f);
                tl_csr_free(&A);
            }
}

/* The discrete sine vectors are eigenvectors of the Poisson matrix: the solution is known. */
static void poisson_closed_form(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    enum { N = 15 };
    tl_csr A = matrix_poisson(N, N, N, 0);
    double *b = TL_NEW(double, A.rows), *x = TL_NEW(double, A.rows), lambda = 6;
    for (int d = 1; d <= 3; d++) lambda -= 2 * cos(pi * d / (N + 1));
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int i = 0; i < N; i++)
                b[(z * N + y) * N + i] =
                    sin(pi * (i + 1) / (N + 1)) * sin(2 * pi * (y + 1) / (N + 1)) * sin(3 * pi * (z + 1) / (N + 1));
    for (int kind = 0; kind < 2; kind++) {
        tl_factor *f = make(kinds[kind], TL_ORDER_METIS, NULL);
        CHECK_OK(tl_factor_update(f, &A, &err));
        CHECK_OK(tl_factor_solve(f, 1, b, x, &err));
        for (int32_t i = 0; i < A.rows; i++) CHECK_NEAR(x[i], b[i] / lambda, 1e-13); /* condition number 100 */
        tl_factor_free(f);
    }
    tl_free(b);
    tl_free(x);
    tl_csr_free(&A);
}

static void quasi_definite_against_lapack(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++)
        for (tl_order order = TL_ORDER_AMD; order <= TL_ORDER_NATURAL; order++) {
            tl_csr A = matrix_kkt(120, 60, seed);
            tl_factor *f = make(TL_FACTOR_LDLT, order, NULL);
            CHECK_OK(tl_factor_update(f, &A, &err));
            assert_int_equal(tl_factor_info_of(f)->negative, 60);
            /* quasi-definite, but the pivots may grow by |B|^2 / 1e-2: some digits go */
            check_solves(f, &A, 1e-12);

            double *b = random_vector(A.rows, 6), *x = TL_NEW(double, A.rows), *D = matrix_dense(&A);
            int32_t pivots[180];
            CHECK_OK(tl_factor_solve(f, 1, b, x, &err));
            assert_int_equal(LAPACKE_dsysv(LAPACK_ROW_MAJOR, 'L', A.rows, 1, D, A.rows, pivots, b, 1), 0);
            double size = tl_max_abs(A.rows, b);
            for (int32_t i = 0; i < A.rows; i++) CHECK_NEAR(x[i], b[i], 1e-9 * size);
            tl_free(b);
            tl_free(x);
            tl_free(D);
            tl_factor_free(f);
            tl_csr_free(&A);
        }
}

/* P A P^T = L L^T or L D L^T, entry by entry, for the copied-out L. */
static void copied_factor_gives_the_matrix_back(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (tl_order order = TL_ORDER_AMD; order <= TL_ORDER_NATURAL; order++) {
            tl_csr A = kind == 0 ? matrix_poisson(6, 7, 5, 0.1) : matrix_kkt(100, 40, 3), Lt, B;
            int32_t n = A.rows;
            tl_factor *f = make(kinds[kind], order, NULL);
            CHECK_OK(tl_factor_update(f, &A, &err));
            double *D = TL_NEW(double, n);
            CHECK_OK(tl_factor_lower(f, &Lt, D, &err));
            CHECK_OK(tl_csr_check(&Lt, &err));
            int32_t negative = 0;
            for (int32_t j = 0; j < n; j++) {
                assert_int_equal(Lt.col[Lt.start[j]], j);
                if (kind == 1)
                    assert_true(Lt.val[Lt.start[j]] == 1);
                else
                    assert_true(D[j] == 1);
                negative += D[j] < 0;
            }
            assert_int_equal(negative, tl_factor_info_of(f)->negative);
            int64_t counted = tl_factor_info_of(f)->nonzeros;
            if (kind == 1)
                assert_true(Lt.start[n] == counted);
            else
                assert_true(Lt.start[n] >= counted && Lt.start[n] < 3 * counted);

            tl_csr back;
            CHECK_OK(tl_csr_gram(&back, &Lt, D, &err)); /* sum over columns j of l_j D_j l_j^T needs rows of Lt */
            B = matrix_permuted(&A, tl_factor_info_of(f)->perm);
            double *want = matrix_dense(&B), *got = matrix_dense(&back);
            /* growth of the quasi-definite pivots as above */
            double tol = kind == 0 ? 1e-14 : 1e-11;
            for (int64_t i = 0; i < (int64_t)n * n; i++) CHECK_NEAR(got[i], want[i], tol);
            tl_free(want);
            tl_free(got);
            tl_free(D);
            tl_csr_free(&back);
            tl_csr_free(&B);
            tl_csr_free(&Lt);
            tl_factor_free(f);
            tl_csr_free(&A);
        }
}

static void given_order_is_kept(void **state)
{
    (void)state;
    tl_csr A = matrix_poisson(5, 5, 5, 0);
    int32_t perm[125];
    for (int32_t i = 0; i < 125; i++) perm[i] = i * 7 % 125;
    for (int kind = 0; kind < 2; kind++) {
        tl_factor *f = make(kinds[kind], TL_ORDER_GIVEN, perm);
        CHECK_OK(tl_factor_update(f, &A, &err));
        assert_memory_equal(tl_factor_info_of(f)->perm, perm, sizeof perm);
        check_solves(f, &A, 1e-15);
        tl_factor_free(f);
    }
    perm[3] = perm[4];
    tl_factor *f = make(TL_FACTOR_LLT, TL_ORDER_GIVEN, perm);
    assert_int_equal(tl_factor_analyse(f, &A, &err), TALUS_BAD_INPUT);
    tl_factor_free(f);
    tl_csr_free(&A);
}

static double *diagonal_entry(tl_csr *A, int32_t i)
{
    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
        if (A->col[k] == i) return &A->val[k];
    return NULL;
}

/* First column, in the factor's order, at which the leading block stops being positive definite. */
static int32_t first_bad_column(const tl_csr *A, const int32_t *perm)
{
    tl_csr B;
    B = matrix_permuted(A, perm);
    double *D = matrix_dense(&B);
    int info = LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', B.rows, D, B.rows);
    tl_free(D);
    tl_csr_free(&B);
    assert_true(info > 0);
    return perm[info - 1];
}

static void indefinite_is_reported_with_its_column(void **state)
{
    (void)state;
    for (tl_order order = TL_ORDER_AMD; order <= TL_ORDER_NATURAL; order++)
        for (uint64_t trial = 0; trial < 20; trial++) {
            tl_csr A = matrix_poisson(7, 6, 5, 0.5);
            int32_t bad = (int32_t)(tl_random_bits(9, trial, 0) % (uint64_t)A.rows);
            *diagonal_entry(&A, bad) = trial % 3 == 0 ? -2 : trial % 3 == 1 ? 0 : 0.3;

            tl_factor *f = make(TL_FACTOR_LLT, order, NULL);
            CHECK_OK(tl_factor_analyse(f, &A, &err));
            assert_int_equal(tl_factor_compute(f, &A, &err), TALUS_NOT_DEFINITE);
            assert_int_equal(tl_factor_info_of(f)->bad_column, first_bad_column(&A, tl_factor_info_of(f)->perm));
            double x[1] = {0};
            assert_int_equal(tl_factor_solve(f, 1, x, x, &err), TALUS_BAD_INPUT); /* no half-made answers */
            tl_csr L;
            assert_int_equal(tl_factor_lower(f, &L, NULL, &err), TALUS_BAD_INPUT);

            if (trial % 3 == 1) *diagonal_entry(&A, bad) = 1e-3; /* 0 is a zero pivot if it comes first */
            tl_factor *g = make(TL_FACTOR_LDLT, order, NULL);
            CHECK_OK(tl_factor_update(g, &A, &err));
            assert_int_equal(tl_factor_info_of(g)->negative, 1);
            check_solves(g, &A, 1e-12); /* pivots grow a thousandfold at most */

            /* the same factor object recovers with good values */
            *diagonal_entry(&A, bad) = 6.5;
            CHECK_OK(tl_factor_compute(f, &A, &err));
            check_solves(f, &A, 1e-15);
            assert_int_equal(tl_factor_info_of(f)->bad_column, -1);
            tl_factor_free(f);
            tl_factor_free(g);
            tl_csr_free(&A);
        }
}

static void zero_pivot_and_nan_are_errors(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        /* [1 1; 1 1] in the middle of a diagonal matrix: exactly singular in any order */
        int32_t row[] = {0, 1, 1, 2, 2, 3}, col[] = {0, 1, 2, 1, 2, 3};
        double val[] = {2, 1, 1, 1, 1, 3};
        tl_csr A;
        CHECK_OK(tl_csr_from_triplets(&A, 4, 4, 6, row, col, val, &err));
        for (tl_order order = TL_ORDER_AMD; order <= TL_ORDER_NATURAL; order++) {
            tl_factor *f = make(kinds[kind], order, NULL);
            assert_int_equal(tl_factor_update(f, &A, &err), TALUS_NOT_DEFINITE);
            int32_t bad = tl_factor_info_of(f)->bad_column;
            assert_true(bad == 1 || bad == 2);
            tl_factor_free(f);
        }
        tl_csr_free(&A);

        A = matrix_poisson(6, 6, 6, 0);
        for (int what = 0; what < 3; what++) {
            tl_factor *f = make(kinds[kind], TL_ORDER_METIS, NULL);
            *diagonal_entry(&A, 100) = what == 0 ? NAN : what == 1 ? INFINITY : -INFINITY;
            talus_status status = tl_factor_update(f, &A, &err);
            assert_true(status == TALUS_BAD_INPUT || (kind == 0 && status == TALUS_NOT_DEFINITE));
            assert_true(tl_factor_info_of(f)->bad_column >= 0);
            *diagonal_entry(&A, 100) = 6;
            CHECK_OK(tl_factor_compute(f, &A, &err));
            check_solves(f, &A, 1e-15);
            tl_factor_free(f);
        }
        tl_csr_free(&A);
    }
}

static void new_values_reuse_the_analysis_and_new_patterns_are_noticed(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        tl_csr A = matrix_poisson(8, 8, 8, 0), B = matrix_poisson(8, 8, 8, 3), C = matrix_poisson(4, 16, 8, 0),
               D = matrix_poisson(8, 8, 7, 0);
        tl_factor *f = make(kinds[kind], TL_ORDER_METIS, NULL);
        assert_int_equal(tl_factor_compute(f, &A, &err), TALUS_BAD_INPUT);
        assert_string_equal(err.message, "no pattern was analysed for this factor");

        CHECK_OK(tl_factor_analyse(f, &A, &err));
        const int32_t *perm = tl_factor_info_of(f)->perm;
        CHECK_OK(tl_factor_compute(f, &A, &err));
        check_solves(f, &A, 1e-15);
        assert_true(tl_factor_fits(f, &B));
        CHECK_OK(tl_factor_update(f, &B, &err));
        assert_ptr_equal(tl_factor_info_of(f)->perm, perm); /* not analysed again */
        check_solves(f, &B, 1e-15);
        CHECK_OK(tl_factor_update(f, &A, &err));
        check_solves(f, &A, 1e-15);

        assert_int_equal(tl_factor_compute(f, &C, &err), TALUS_BAD_INPUT);
        assert_string_equal(err.message, "the pattern changed since the analysis, first in row 0");
        assert_int_equal(tl_factor_compute(f, &D, &err), TALUS_BAD_INPUT);
        assert_string_equal(err.message, "the analysed pattern has 512 rows, the matrix is 448 x 448");
        /* same counts in every row, one pair of columns swapped: only the columns tell */
        int64_t last = A.start[512] - 1;
        A.col[last - 1] -= 3;
        assert_false(tl_factor_fits(f, &A));
        A.col[last - 1] += 3;
        assert_true(tl_factor_fits(f, &A));

        CHECK_OK(tl_factor_update(f, &C, &err));
        check_solves(f, &C, 1e-15);
        CHECK_OK(tl_factor_update(f, &D, &err));
        check_solves(f, &D, 1e-15);
        tl_factor_free(f);
        tl_csr_free(&A);
        tl_csr_free(&B);
        tl_csr_free(&C);
        tl_csr_free(&D);
    }
}

static void several_right_hand_sides_and_no_allocation(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        tl_csr A = matrix_poisson(9, 9, 9, 0.2);
        int32_t n = A.rows;
        tl_factor *f = make(kinds[kind], TL_ORDER_METIS, NULL);
        CHECK_OK(tl_factor_update(f, &A, &err));
        double *b = random_vector(20 * n, 8), *x = TL_NEW(double, 20 * n), *y = TL_NEW(double, 20 * n);
        int64_t calls = 0;
        for (int round = 0; round < 2; round++) { /* the second round finds every workspace in place */
            if (round == 1) calls = tl_alloc_read().calls;
            for (int k = 20; k >= 1; k--) {
                CHECK_OK(tl_factor_solve(f, k, b, x, &err));
                memcpy(y, b, sizeof(double) * (size_t)(k * n));
                CHECK_OK(tl_factor_solve(f, k, y, y, &err)); /* in place */
                assert_memory_equal(x, y, sizeof(double) * (size_t)(k * n));
                if (round == 0)
                    for (int c = 0; c < k; c++) CHECK_LE(backward_error(&A, x + c * n, b + c * n), 1e-15);
            }
            if (round == 1) assert_int_equal(tl_alloc_read().calls, calls);
        }
        tl_free(b);
        tl_free(x);
        tl_free(y);
        tl_factor_free(f);
        tl_csr_free(&A);
    }
}

/* Entries of the inverse against solves, for a small factor and for some with supernodes; more columns than three
 * chunks, in any order; also where subtrees are not numbered in one go (the natural order is not postordered). */
static void a_part_of_the_inverse(void **state)
{
    (void)state;
    static const struct {
        int size;
        tl_order order;
    } cases[] = {{4, TL_ORDER_METIS}, {16, TL_ORDER_METIS}, {13, TL_ORDER_NATURAL}, {13, TL_ORDER_RCM}};
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        int size = cases[t].size;
        tl_csr A = matrix_poisson(size, size, size, 0.1);
        int32_t n = A.rows, count = n < 400 ? n / 2 : 400, *index = TL_NEW(int32_t, count);
        double *C = TL_NEW(double, (int64_t)count *count), *x = TL_NEW(double, n);
        tl_factor *f = make(TL_FACTOR_LLT, cases[t].order, NULL);
        CHECK_OK(tl_factor_update(f, &A, &err));
        for (int32_t k = 0; k < count; k++) index[k] = (int32_t)((int64_t)k * 7919 % n);
        CHECK_OK(tl_factor_inverse_part(f, count, index, C, &err));
        for (int32_t k = 0; k < count; k += 11) {
            memset(x, 0, sizeof *x * (size_t)n);
            x[index[k]] = 1;
            CHECK_OK(tl_factor_solve(f, 1, x, x, &err));
            for (int32_t i = 0; i < count; i++) {
                CHECK_NEAR(C[(int64_t)i * count + k], x[index[i]], 1e-14 * x[index[k]]);
                assert_true(C[(int64_t)i * count + k] == C[(int64_t)k * count + i]);
            }
        }
        tl_factor_free(f);
        tl_free(index);
        tl_free(C);
        tl_free(x);
        tl_csr_free(&A);
    }
}

/* Dense LU: several panels and strips, a matrix whose diagonal is no pivot; solves after the first use the same
 * factors. */
static void dense_lu(void **state)
{
    (void)state;
    const int64_t n = 333;
    double *A = random_vector(n * n, 5), *F = TL_NEW(double, n *n), *b = random_vector(n, 6), *x = TL_NEW(double, n);
    int32_t *swap = TL_NEW(int32_t, n);
    CHECK_OK(tl_blas_reserve(&err));
    for (int64_t i = 0; i < n; i++) A[i * n + i] = 0;
    memcpy(F, A, sizeof *A * (size_t)(n * n));
    assert_true(tl_dense_lu(n, F, n, swap));
    for (int round = 0; round < 2; round++) {
        memcpy(x, b, sizeof *x * (size_t)n);
        tl_dense_lu_solve(n, F, n, swap, x);
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            for (int64_t j = 0; j < n; j++) sum += A[i * n + j] * x[j];
            CHECK_NEAR(sum, b[i], 1e-10);
        }
        b[0] += 1;
    }
    memset(F, 0, sizeof *F * (size_t)(n * n));
    assert_true(!tl_dense_lu(n, F, n, swap));
    void *const blocks[] = {A, F, b, x, swap};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) tl_free(blocks[k]);
}

static void empty_systems_are_solved(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (tl_order order = TL_ORDER_AMD; order <= TL_ORDER_NATURAL; order++) {
            tl_csr A, Lt;
            CHECK_OK(tl_csr_from_triplets(&A, 0, 0, 0, NULL, NULL, NULL, &err));
            tl_factor *f = make(kinds[kind], order, NULL);
            CHECK_OK(tl_factor_update(f, &A, &err));
            CHECK_OK(tl_factor_solve(f, 1, NULL, NULL, &err));
            CHECK_OK(tl_factor_solve(f, 3, NULL, NULL, &err));
            CHECK_OK(tl_factor_lower(f, &Lt, NULL, &err));
            assert_int_equal(Lt.rows, 0);
            tl_csr_free(&Lt);
            tl_factor_free(f);
            tl_csr_free(&A);
        }
}

static void wrong_use_is_refused(void **state)
{
    (void)state;
    tl_factor *f;
    tl_factor_options o = tl_factor_options_default();
    o.backend = "abacus";
    assert_int_equal(tl_factor_create(&f, &o, &err), TALUS_BAD_INPUT);
    assert_string_equal(err.message, "no factorisation back end is called \"abacus\"; there is \"cholmod\"");
    assert_null(f);
    o.backend = "cholmod";
    o.order = TL_ORDER_GIVEN;
    assert_int_equal(tl_factor_create(&f, &o, &err), TALUS_BAD_INPUT);
    o.order = TL_ORDER_AMD;
    CHECK_OK(tl_factor_create(&f, &o, &err));
    tl_csr A;
    CHECK_OK(tl_csr_from_triplets(&A, 2, 3, 0, NULL, NULL, NULL, &err));
    assert_int_equal(tl_factor_analyse(f, &A, &err), TALUS_BAD_INPUT);
    tl_csr_free(&A);
    tl_factor_free(f);
    tl_factor_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definite_systems_in_every_order),
        cmocka_unit_test(poisson_closed_form),
        cmocka_unit_test(quasi_definite_against_lapack),
        cmocka_unit_test(copied_factor_gives_the_matrix_back),
        cmocka_unit_test(given_order_is_kept),
        cmocka_unit_test(indefinite_is_reported_with_its_column),
        cmocka_unit_test(zero_pivot_and_nan_are_errors),
        cmocka_unit_test(new_values_reuse_the_analysis_and_new_patterns_are_noticed),
        cmocka_unit_test(several_right_hand_sides_and_no_allocation),
        cmocka_unit_test(a_part_of_the_inverse),
        cmocka_unit_test(dense_lu),
        cmocka_unit_test(empty_systems_are_solved),
        cmocka_unit_test(wrong_use_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
