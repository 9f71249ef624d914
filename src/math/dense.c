#include "math/dense.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>

#include "math/blas.h"

#define BLOCK 64 /* columns of a panel. Chosen: fits the first cache */
#define LU_BLOCK 48
#define LU_STRIP 256 /* rows that one thread updates at a time */
#define PARALLEL 100000

static bool chol_block(int64_t n, double *A, int64_t stride)
{
    for (int64_t j = 0; j < n; j++) {
        double *row = A + j * stride, d = row[j];
        for (int64_t k = 0; k < j; k++) d -= row[k] * row[k];
        if (!(d > 0 && d < INFINITY)) return false;
        row[j] = sqrt(d);
        for (int64_t i = j + 1; i < n; i++) {
            double *other = A + i * stride, s = other[j];
            for (int64_t k = 0; k < j; k++) s -= other[k] * row[k];
            other[j] = s / row[j];
        }
    }
    return true;
}

bool tl_dense_chol(int64_t n, double *A, int64_t stride)
{
    bool good = true;
    tl_blas_scope scope = tl_blas_begin();
    for (int64_t k = 0; k < n && good; k += BLOCK) {
        int64_t width = n - k < BLOCK ? n - k : BLOCK, rest = n - k - width;
        double *D = A + k * stride + k, *below = D + width * stride, *square = below + width;
        good = chol_block(width, D, stride);
        if (!good || rest == 0) continue;
        cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)rest, (int)width, 1, D,
                    (int)stride, below, (int)stride);
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)rest, (int)width, -1, below, (int)stride, 1, square,
                    (int)stride);
    }
    tl_blas_end(scope);
    return good;
}

void tl_dense_chol_solve(int64_t n, const double *L, int64_t stride, double *x)
{
    tl_blas_scope scope = tl_blas_begin();
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, L, (int)stride, x, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)n, L, (int)stride, x, 1);
    tl_blas_end(scope);
}

/* One row at a time, in eight lanes: sums do not depend on threads. */
static double dot(int64_t n, const double *restrict a, const double *restrict x)
{
    double lane[8] = {0}, tail = 0;
    int64_t k = 0;
    for (; k + 8 <= n; k += 8)
        for (int l = 0; l < 8; l++) lane[l] += a[k + l] * x[k + l];
    for (; k < n; k++) tail += a[k] * x[k];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7])) + tail;
}

void tl_dense_mul(int64_t rows, int64_t cols, const double *A, int64_t stride, const double *x, double *y)
{
#pragma omp parallel for schedule(static) if (rows * cols > PARALLEL)
    for (int64_t i = 0; i < rows; i++) y[i] = dot(cols, A + i * stride, x);
}

/* Columns [k, k + width) of rows from k on, pivots found among them; whole rows are exchanged. */
static bool lu_panel(int64_t n, double *A, int64_t stride, int32_t *swap, int64_t k, int64_t width)
{
    for (int64_t j = k; j < k + width; j++) {
        int64_t best = j;
        for (int64_t i = j + 1; i < n; i++)
            if (fabs(A[i * stride + j]) > fabs(A[best * stride + j])) best = i;
        swap[j] = (int32_t)best;
        if (!(fabs(A[best * stride + j]) > 0 && fabs(A[best * stride + j]) < INFINITY)) return false;
        for (int64_t c = 0; c < n && best != j; c++) {
            double t = A[j * stride + c];
            A[j * stride + c] = A[best * stride + c];
            A[best * stride + c] = t;
        }
        for (int64_t i = j + 1; i < n; i++) {
            double f = A[i * stride + j] /= A[j * stride + j];
            for (int64_t c = j + 1; c < k + width; c++) A[i * stride + c] -= f * A[j * stride + c];
        }
    }
    return true;
}

/* What rows from k + width on still need of the panel, in strips on all threads. Strips do not depend on how many
 * there are. */
static void lu_update(int64_t n, double *A, int64_t stride, int64_t k, int64_t width, int threads)
{
    int64_t rest = n - k - width, strips = (rest + LU_STRIP - 1) / LU_STRIP;
    const double *right = A + k * stride + k + width;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (strips > 1)
    for (int64_t s = 0; s < strips; s++) {
        double *below = A + (k + width + s * LU_STRIP) * stride + k;
        int rows = (int)(rest - s * LU_STRIP < LU_STRIP ? rest - s * LU_STRIP : LU_STRIP);
        tl_blas_scope scope = tl_blas_begin();
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, (int)rest, (int)width, -1, below, (int)stride,
                    right, (int)stride, 1, below + width, (int)stride);
        tl_blas_end(scope);
    }
}

bool tl_dense_lu(int64_t n, double *A, int64_t stride, int32_t *swap)
{
    int threads = omp_get_max_threads(); /* or this one alone, where memory is short: the bits are the same */
    if (tl_blas_reserve_for(threads, NULL) != TALUS_OK) threads = 1;
    for (int64_t k = 0; k < n; k += LU_BLOCK) {
        int64_t width = n - k < LU_BLOCK ? n - k : LU_BLOCK, rest = n - k - width;
        if (!lu_panel(n, A, stride, swap, k, width)) return false;
        if (rest == 0) continue;
        double *D = A + k * stride + k;
        tl_blas_scope scope = tl_blas_begin();
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, (int)width, (int)rest, 1, D,
                    (int)stride, D + width, (int)stride);
        tl_blas_end(scope);
        lu_update(n, A, stride, k, width, threads);
    }
    return true;
}

void tl_dense_lu_solve(int64_t n, const double *A, int64_t stride, const int32_t *swap, double *x)
{
    for (int64_t i = 0; i < n; i++) {
        double t = x[i];
        x[i] = x[swap[i]];
        x[swap[i]] = t;
    }
    tl_blas_scope scope = tl_blas_begin();
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasUnit, (int)n, A, (int)stride, x, 1);
    cblas_dtrsv(CblasRowMajor, CblasUpper, CblasNoTrans, CblasNonUnit, (int)n, A, (int)stride, x, 1);
    tl_blas_end(scope);
}
