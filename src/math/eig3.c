#include "math/eig3.h"

#include <float.h>
#include <string.h>

#include "base/status.h"

/* Sweeps converge quadratically: 4 to 6 are usual for n <= 8, 10 the most seen. */
#define SWEEPS_MAX 40
#define TOL2 (0.0625 * DBL_EPSILON * DBL_EPSILON)

/* tan of the rotation that annihilates a_pq, the smaller of the two angles. [Golub13 sec. 8.5.2] */
static inline double jacobi_tangent(double app, double aqq, double apq)
{
    double d = aqq - app;
    return 2 * apq / (d + copysign(sqrt(d * d + 4 * apq * apq), d));
}

/* Rotates (p, q) so that a[p][q] = 0; full symmetric storage, V collects the rotation. */
static inline void rotate(int n, double *a, double *V, int p, int q)
{
    double apq = a[p * n + q], t = jacobi_tangent(a[p * n + p], a[q * n + q], apq);
    double c = 1 / sqrt(1 + t * t), s = t * c;

    a[p * n + p] -= t * apq;
    a[q * n + q] += t * apq;
    a[p * n + q] = a[q * n + p] = 0;
    for (int i = 0; i < n; i++) {
        if (i != p && i != q) {
            double x = a[i * n + p], y = a[i * n + q];
            a[i * n + p] = a[p * n + i] = c * x - s * y;
            a[i * n + q] = a[q * n + i] = s * x + c * y;
        }
        double x = V[i * n + p], y = V[i * n + q];
        V[i * n + p] = c * x - s * y;
        V[i * n + q] = s * x + c * y;
    }
}

/* Diagonalises a in place. An off-diagonal entry is done when it is small against the geometric mean
 * of its two diagonals, not against the norm: this is what keeps small eigenvalues accurate. */
static inline void diagonalise(int n, double *a, double *V)
{
    for (int sweep = 0; sweep < SWEEPS_MAX; sweep++) {
        int rotations = 0;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                double apq2 = a[p * n + q] * a[p * n + q];
                if (apq2 <= TOL2 * fabs(a[p * n + p] * a[q * n + q]) || apq2 < DBL_MIN) continue;
                rotate(n, a, V, p, q);
                rotations++;
            }
        if (rotations == 0) break;
    }
}

/* Power of two that brings the upper triangle's largest entry into [1/2, 1): squares stay in range.
 * NaN when an entry is not finite, 1 for the zero matrix. */
static inline double upper_scale(int n, const double *A)
{
    double largest = 0, sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            largest = fmax(largest, fabs(A[i * n + j]));
            sum += 0 * A[i * n + j]; /* NaN for infinity and NaN, else 0 */
        }
    if (sum != 0) return NAN;
    if (largest == 0) return 1;
    int e;
    frexp(largest, &e);
    return ldexp(1, -(e > -1000 ? e : -1000)); /* subnormal A: 2^1000 is enough */
}

static inline void eigen(int n, const double *A, double *w, double *V)
{
    double a[TL_EIG_MAX * TL_EIG_MAX], d[TL_EIG_MAX], unsorted[TL_EIG_MAX * TL_EIG_MAX];
    double scale = upper_scale(n, A);
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) a[i * n + j] = a[j * n + i] = scale * A[i * n + j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) unsorted[i * n + j] = i == j;

    if (isnan(scale)) {
        for (int k = 0; k < n; k++) w[k] = NAN;
        memcpy(V, unsorted, sizeof(double) * (size_t)(n * n));
        return;
    }
    diagonalise(n, a, unsorted);

    /* Rising order; equal values keep their place. */
    int order[TL_EIG_MAX];
    for (int k = 0; k < n; k++) {
        d[k] = a[k * n + k];
        int i = k;
        for (; i > 0 && d[order[i - 1]] > d[k]; i--) order[i] = order[i - 1];
        order[i] = k;
    }
    for (int k = 0; k < n; k++) {
        w[k] = d[order[k]] / scale;
        for (int i = 0; i < n; i++) V[i * n + k] = unsorted[i * n + order[k]];
    }
}

void tl_eig3(tl_mat3 A, double w[3], tl_mat3 *V)
{
    eigen(3, &A.m[0][0], w, &V->m[0][0]);
    if (tl_mat3_det(*V) < 0)
        for (int i = 0; i < 3; i++) V->m[i][2] = -V->m[i][2];
}

void tl_eig_sym(int n, const double *A, double *w, double *V)
{
    TL_ASSERT(n >= 1 && n <= TL_EIG_MAX);
    eigen(n, A, w, V);
}
