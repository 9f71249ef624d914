/* Cholesky of small dense symmetric positive definite matrices (n <= 8, a hundred where time does not matter), for
 * block-diagonal preconditioners and local problems. Row-major; only the lower triangle is read. Sparse and large
 * systems: math/factor.h. */
#ifndef TL_MATH_SMALL_CHOL_H
#define TL_MATH_SMALL_CHOL_H

#include <math.h>
#include <stdbool.h>

/* A [n*n] becomes L in its lower triangle (A = L L^T), the upper triangle is left alone. Returns
 * false at the first pivot that is not positive and finite; A is then half done. */
static inline bool tl_small_chol(int n, double *A)
{
    for (int j = 0; j < n; j++) {
        double d = A[j * n + j];
        for (int k = 0; k < j; k++) d -= A[j * n + k] * A[j * n + k];
        if (!(d > 0 && d < INFINITY)) return false;
        double root = sqrt(d);
        A[j * n + j] = root;
        for (int i = j + 1; i < n; i++) {
            double s = A[i * n + j];
            for (int k = 0; k < j; k++) s -= A[i * n + k] * A[j * n + k];
            A[i * n + j] = s / root;
        }
    }
    return true;
}

/* Solves L L^T x = b in place: x holds b on entry. */
static inline void tl_small_chol_solve(int n, const double *L, double *x)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) x[i] -= L[i * n + k] * x[k];
        x[i] /= L[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) x[i] -= L[k * n + i] * x[k];
        x[i] /= L[i * n + i];
    }
}

#endif
