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

static void empty_matrices(void **state)
{
    (void)state;
    tl_csr A, B, C;
    CHECK_OK(tl_csr_from_triplets(&A, 3, 0, 0, NULL, NULL, NULL, &err));
    CHECK_OK(tl_csr_transpose(&B, &A, &err));
    assert_int_equal(B.rows, 0);
    CHECK_OK(tl_csr_gram(&C, &B, NULL, &err)); /* 3 x 3, all zero */
    assert_true(C.rows == 3 && C.cols == 3 && C.start[3] == 0);
    tl_csr_free(&C);
    tl_csr_free(&A);
    tl_csr_free(&B);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transpose_matches_dense),
        cmocka_unit_test(gram_matches_dense_and_is_exactly_symmetric),
        cmocka_unit_test(empty_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
