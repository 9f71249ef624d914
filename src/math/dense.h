/* Dense symmetric matrices of some hundred to some thousand rows, row-major: Cholesky by blocks and products. Same
 * bits for any number of threads. Tiny ones: math/small_chol.h; sparse ones: math/factor.h. Call tl_blas_reserve
 * first: these have no way to tell that memory has ended. */
#ifndef TL_MATH_DENSE_H
#define TL_MATH_DENSE_H

#include <stdbool.h>
#include <stdint.h>

/* A [n][stride], lower triangle read, becomes L with A = L L^T; what is above the diagonal is left alone. False at a
 * pivot that is not positive and finite. */
bool tl_dense_chol(int64_t n, double *A, int64_t stride);
/* L L^T x = b in place. */
void tl_dense_chol_solve(int64_t n, const double *L, int64_t stride, double *x);

/* LU with row exchanges, in place: A [n][stride] becomes its factors, swap [n] the rows exchanged. False at a pivot
 * that is zero or not finite. */
bool tl_dense_lu(int64_t n, double *A, int64_t stride, int32_t *swap);
/* A x = b in place, from what tl_dense_lu left. */
void tl_dense_lu_solve(int64_t n, const double *A, int64_t stride, const int32_t *swap, double *x);

/* y = A x, A [rows][stride]. */
void tl_dense_mul(int64_t rows, int64_t cols, const double *A, int64_t stride, const double *x, double *y);

#endif
