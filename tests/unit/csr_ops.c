#include "check.h"

#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "math/csr.h"

static talus_error err;

/* Random rows x cols matrix, `per_row` draws per row (some coincide); row 0 stays empty, row 1 is full. */
static tl_csr random_matrix(int32_t rows, int32_t cols, int per_row, uint64_t seed)
{
    int64_t count = 0;
    int32_t *row = TL_NEW(int32_t, rows * per_row + cols), *col = TL_NEW(int32_t, rows * per_row + cols);
    double *val = TL_NEW(double, rows *per_row + cols);
    for (int32_t i = 1; i < rows; i++)
        for (int k = 0; k < (i == 1 ? cols : per_row); k++) {
            row[count] = i;
            col[count] = i == 1 ? k : (int32_t)(tl_random_bits(seed, (uint64_t)i, (uint64_t)k) % (uint64_t)cols);
            val[count] = tl_random_normal(seed, (uint64_t)i, (uint64_t)k);
            count++;
        }
    tl_csr A;
    CHECK_OK(tl_csr_from_triplets(&A, rows, cols, count, row, col, val, &err));
    tl_free(row);
    tl_free(col);
    tl_free(val);
    return A;
}

static double *dense(const tl_csr *A)
{
    CHECK_OK(tl_csr_check(A, &err)); /* sorted columns, among others */
    double *D = TL_NEW_ZERO(double, (int64_t)A->rows * A->cols + 1);
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) D[(int64_t)i * A->cols + A->col[k]] = A->val[k];
    return D;
}

static const int32_t sizes[][3] = {{1, 1, 1}, {2, 5, 3}, {7, 3, 9}, {40, 60, 50}, {150, 100, 130}};

static void transpose_matches_dense(void **state)
{
    (void)state;
    for (size_t t = 0; t < 5; t++) {
        tl_csr A = random_matrix(sizes[t][0], sizes[t][1], 4, t), T;
        CHECK_OK(tl_csr_transpose(&T, &A, &err));
        assert_int_equal(T.rows, A.cols);
        assert_int_equal(T.cols, A.rows);
        double *D = dense(&A), *E = dense(&T);
        for (int32_t i = 0; i < A.rows; i++)
            for (int32_t j = 0; j < A.cols; j++) assert_true(D[i * A.cols + j] == E[j * A.rows + i]);
        tl_free(D);
        tl_free(E);
        tl_csr_free(&A);
        tl_csr_free(&T);
    }
}

static void product_matches_dense(void **state)
{
    (void)state;
    for (size_t t = 0; t < 5; t++) {
        tl_csr A = random_matrix(sizes[t][0], sizes[t][1], 5, 10 + t),
               B = random_matrix(sizes[t][1], sizes[t][2], 6, 20 + t), C;
        CHECK_OK(tl_csr_product(&C, &A, &B, &err));
        double *a = dense(&A), *b = dense(&B), *c = dense(&C);
        for (int32_t i = 0; i < A.rows; i++)
            for (int32_t j = 0; j < B.cols; j++) {
                double sum = 0, size = 0;
                for (int32_t k = 0; k < A.cols; k++) {
                    sum += a[i * A.cols + k] * b[k * B.cols + j];
                    size += fabs(a[i * A.cols + k] * b[k * B.cols + j]);
                }
                CHECK_NEAR(c[i * B.cols + j], sum, 1e-14 * size); /* order of additions */
            }
        tl_free(a);
        tl_free(b);
        tl_free(c);
        tl_csr_free(&A);
        tl_csr_free(&B);
        tl_csr_free(&C);
    }
}

static void gram_matches_dense_and_is_exactly_symmetric(void **state)
{
    (void)state;
    for (size_t t = 0; t < 5; t++)
        for (int weighted = 0; weighted < 2; weighted++) {
            tl_csr A = random_matrix(sizes[t][0], sizes[t][1], 5, 30 + t), C;
            double d[150];
            for (int32_t i = 0; i < A.rows; i++) d[i] = tl_random(40, (uint64_t)i, 0) - 0.2;
            CHECK_OK(tl_csr_gram(&C, &A, weighted ? d : NULL, &err));
            double *a = dense(&A), *c = dense(&C);
            for (int32_t i = 0; i < A.cols; i++)
                for (int32_t j = 0; j < A.cols; j++) {
                    double sum = 0, size = 0;
                    for (int32_t k = 0; k < A.rows; k++) {
                        double term = a[k * A.cols + i] * a[k * A.cols + j] * (weighted ? d[k] : 1);
                        sum += term;
                        size += fabs(term);
                    }
                    CHECK_NEAR(c[i * A.cols + j], sum, 1e-14 * size);
                    assert_true(c[i * A.cols + j] == c[j * A.cols + i]);
                }
            tl_free(a);
            tl_free(c);
            tl_csr_free(&A);
            tl_csr_free(&C);
        }
}

static void permute_moves_rows_and_columns(void **state)
{
    (void)state;
    for (int32_t n = 1; n <= 200; n += 66) {
        tl_csr A = random_matrix(n, n, 5, 50), B;
        int32_t perm[200];
        for (int32_t i = 0; i < n; i++) perm[i] = i;
        for (int32_t i = n - 1; i > 0; i--) {
            int32_t j = (int32_t)(tl_random_bits(51, (uint64_t)i, 0) % (uint64_t)(i + 1)), swap = perm[i];
            perm[i] = perm[j];
            perm[j] = swap;
        }
        CHECK_OK(tl_csr_permute(&B, &A, perm, &err));
        double *a = dense(&A), *b = dense(&B);
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++) assert_true(b[i * n + j] == a[perm[i] * n + perm[j]]);
        tl_free(a);
        tl_free(b);
        tl_csr_free(&B);

        perm[0] = n;
        assert_int_equal(tl_csr_permute(&B, &A, perm, &err), TALUS_BAD_INPUT);
        assert_null(B.start);
        tl_csr_free(&A);
    }
}

static void empty_and_misfit_matrices(void **state)
{
    (void)state;
    tl_csr A, B, C;
    CHECK_OK(tl_csr_from_triplets(&A, 3, 0, 0, NULL, NULL, NULL, &err));
    CHECK_OK(tl_csr_transpose(&B, &A, &err));
    assert_int_equal(B.rows, 0);
    CHECK_OK(tl_csr_product(&C, &A, &B, &err)); /* 3 x 3, all zero */
    assert_true(C.rows == 3 && C.cols == 3 && C.start[3] == 0);
    tl_csr_free(&C);
    assert_int_equal(tl_csr_product(&C, &A, &A, &err), TALUS_BAD_INPUT);
    assert_string_equal(err.message, "cannot multiply a 3 x 0 by a 3 x 0 matrix");
    assert_int_equal(tl_csr_permute(&C, &A, NULL, &err), TALUS_BAD_INPUT);
    tl_csr_free(&A);
    tl_csr_free(&B);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transpose_matches_dense),
        cmocka_unit_test(product_matches_dense),
        cmocka_unit_test(gram_matches_dense_and_is_exactly_symmetric),
        cmocka_unit_test(permute_moves_rows_and_columns),
        cmocka_unit_test(empty_and_misfit_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
