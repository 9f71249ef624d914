#include "math/csr.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"

talus_status tl_csr_create(tl_csr *A, int32_t rows, int32_t cols, int64_t nonzeros, talus_error *err)
{
    *A = (tl_csr){.rows = rows, .cols = cols};
    A->start = TL_NEW(int64_t, (int64_t)rows + 1);
    A->col = TL_NEW(int32_t, nonzeros);
    A->val = TL_NEW(double, nonzeros);
    if (!A->start || !A->col || !A->val) {
        tl_csr_free(A);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a %d x %d matrix with %lld nonzeros", rows, cols,
                       (long long)nonzeros);
    }
    A->start[0] = 0;
    return TALUS_OK;
}

void tl_csr_free(tl_csr *A)
{
    tl_free(A->start);
    tl_free(A->col);
    tl_free(A->val);
    *A = (tl_csr){0};
}

/* Order of a stable counting sort by key: out[rank] = position in `from` (NULL = identity). */
static void counting_sort(int64_t count, const int32_t *key, int32_t keys, const int64_t *from, int64_t *bin,
                          int64_t *out)
{
    memset(bin, 0, sizeof *bin * ((size_t)keys + 1));
    for (int64_t k = 0; k < count; k++) bin[key[k] + 1]++;
    for (int32_t i = 0; i < keys; i++) bin[i + 1] += bin[i];
    for (int64_t k = 0; k < count; k++) {
        int64_t at = from ? from[k] : k;
        out[bin[key[at]]++] = at;
    }
}

talus_status tl_csr_from_triplets(tl_csr *A, int32_t rows, int32_t cols, int64_t count, const int32_t *row,
                                  const int32_t *col, const double *val, talus_error *err)
{
    *A = (tl_csr){0};
    for (int64_t k = 0; k < count; k++)
        if (row[k] < 0 || row[k] >= rows || col[k] < 0 || col[k] >= cols)
            return TL_FAIL(err, TALUS_BAD_INPUT, "triplet %lld is at (%d, %d), outside of a %d x %d matrix",
                           (long long)k, row[k], col[k], rows, cols);
    int32_t keys = rows > cols ? rows : cols;
    int64_t *by_col = TL_NEW(int64_t, count), *sorted = TL_NEW(int64_t, count),
            *bin = TL_NEW(int64_t, (int64_t)keys + 1);
    talus_status status = by_col && sorted && bin
                              ? tl_csr_create(A, rows, cols, count, err)
                              : TL_FAIL(err, TALUS_NO_MEMORY, "no memory to sort %lld triplets", (long long)count);
    if (status == TALUS_OK) {
        /* by column, then (stable) by row: linear, whatever the row lengths */
        counting_sort(count, col, cols, NULL, bin, by_col);
        counting_sort(count, row, rows, by_col, bin, sorted);
        int64_t out = 0, k = 0;
        for (int32_t i = 0; i < rows; i++) {
            for (; k < count && row[sorted[k]] == i; k++) {
                int64_t from = sorted[k];
                if (out > A->start[i] && A->col[out - 1] == col[from]) {
                    A->val[out - 1] += val[from];
                } else {
                    A->col[out] = col[from];
                    A->val[out++] = val[from];
                }
            }
            A->start[i + 1] = out;
        }
    }
    tl_free(by_col);
    tl_free(sorted);
    tl_free(bin);
    return status;
}

talus_status tl_csr_check(const tl_csr *A, talus_error *err)
{
    if (A->rows < 0 || A->cols < 0 || A->start[0] != 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "matrix has %d rows, %d columns and begins at offset %lld", A->rows,
                       A->cols, (long long)A->start[0]);
    for (int32_t i = 0; i < A->rows; i++) {
        if (A->start[i + 1] < A->start[i])
            return TL_FAIL(err, TALUS_BAD_INPUT, "row %d of the matrix ends before it begins", i);
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            if (A->col[k] < 0 || A->col[k] >= A->cols)
                return TL_FAIL(err, TALUS_BAD_INPUT, "row %d of the matrix has column %d, allowed 0 to %d", i,
                               A->col[k], A->cols - 1);
            if (k > A->start[i] && A->col[k] <= A->col[k - 1])
                return TL_FAIL(err, TALUS_BAD_INPUT, "row %d of the matrix has column %d after column %d", i, A->col[k],
                               A->col[k - 1]);
            if (!isfinite(A->val[k]))
                return TL_FAIL(err, TALUS_BAD_INPUT, "row %d, column %d of the matrix is %g", i, A->col[k], A->val[k]);
        }
    }
    return TALUS_OK;
}

static inline double row_dot(const tl_csr *A, int64_t begin, int64_t end, const double *restrict x)
{
    const int32_t *restrict col = A->col;
    const double *restrict val = A->val;
    double s = 0;
    for (int64_t k = begin; k < end; k++) s += val[k] * x[col[k]];
    return s;
}

void tl_csr_mul(const tl_csr *A, const double *x, double *y)
{
    const int64_t *restrict start = A->start;
#pragma omp parallel for schedule(static) if (start[A->rows] >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < A->rows; i++) y[i] = row_dot(A, start[i], start[i + 1], x);
}

void tl_csr_mul_add(const tl_csr *A, double scale, const double *x, double *y)
{
    const int64_t *restrict start = A->start;
#pragma omp parallel for schedule(static) if (start[A->rows] >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < A->rows; i++) y[i] += scale * row_dot(A, start[i], start[i + 1], x);
}

void tl_csr_diagonal(const tl_csr *A, double *diag)
{
#pragma omp parallel for schedule(static) if (A->rows >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < A->rows; i++) {
        double d = 0;
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            if (A->col[k] == i) d = A->val[k];
        diag[i] = d;
    }
}
