/* Arithmetic of one group, and the form Q with its inverse and root: shared by the methods of
 * this kind, not meant for others. Loops over groups are written once with the group size as an
 * argument and called with a constant (TL_CONE_BY_SIZE), so that 2 and 5 are unrolled. */
#ifndef TL_SOLVE_CONE_GROUP_H
#define TL_SOLVE_CONE_GROUP_H

#include <math.h>
#include <stdbool.h>

#include "base/parallel.h"
#include "solve/cone/problem.h"

typedef struct tl_cone_metric {
    int32_t size;
    double Q[TL_CONE_MAX * TL_CONE_MAX];        /* size x size, like all of these */
    double inverse[TL_CONE_MAX * TL_CONE_MAX];  /* Q^-1 */
    double root_inv[TL_CONE_MAX * TL_CONE_MAX]; /* R^-1, upper triangular, where Q = R'R */
} tl_cone_metric;

/* False when Q is not positive definite. */
bool tl_cone_metric_of(tl_cone_metric *m, int32_t size, const double *Q);

#define TL_CONE_BY_SIZE(size, call)                                                                                    \
    do {                                                                                                               \
        switch (size) {                                                                                                \
        case 2: {                                                                                                      \
            enum { m = 2 };                                                                                            \
            call;                                                                                                      \
            break;                                                                                                     \
        }                                                                                                              \
        case 5: {                                                                                                      \
            enum { m = 5 };                                                                                            \
            call;                                                                                                      \
            break;                                                                                                     \
        }                                                                                                              \
        default: {                                                                                                     \
            int m = (size);                                                                                            \
            call;                                                                                                      \
            break;                                                                                                     \
        }                                                                                                              \
        }                                                                                                              \
    } while (0)

/* Groups that a thread takes at a time: they are long work, so that a few thousand are worth two threads. */
static inline tl_blocks tl_cone_blocks(const tl_cone *p) { return tl_blocks_at_least(p->space->n / p->size, 256); }

#if defined(__GNUC__)
#define TL_CONE_INLINE static inline __attribute__((always_inline))
#else
#define TL_CONE_INLINE static inline
#endif

/* y = M x */
TL_CONE_INLINE void tl_cone_mul(int m, const double *M, const double *x, double *y)
{
    for (int i = 0; i < m; i++) {
        double s = 0;
        for (int j = 0; j < m; j++) s += M[i * m + j] * x[j];
        y[i] = s;
    }
}

TL_CONE_INLINE double tl_cone_dot(int m, const double *x, const double *y)
{
    double s = 0;
    for (int i = 0; i < m; i++) s += x[i] * y[i];
    return s;
}

/* x'Mx */
TL_CONE_INLINE double tl_cone_form(int m, const double *M, const double *x)
{
    double y[TL_CONE_MAX];
    tl_cone_mul(m, M, x, y);
    return tl_cone_dot(m, x, y);
}

/* The nearest point of the cone in the metric Q: x scaled back to x'Qx <= r^2. */
TL_CONE_INLINE void tl_cone_project(int m, const double *Q, double r, double *x)
{
    double square = tl_cone_form(m, Q, x);
    if (square <= r * r) return;
    double scale = r / sqrt(square);
    for (int i = 0; i < m; i++) x[i] *= scale;
}

/* grad . x + r sqrt(grad' Q^-1 grad): this group's share of the gap. */
TL_CONE_INLINE double tl_cone_gap(int m, const double *inverse, double r, const double *grad, const double *x)
{
    return tl_cone_dot(m, grad, x) + r * sqrt(fmax(0.0, tl_cone_form(m, inverse, grad)));
}

/* Project every group. */
void tl_cone_project_all(const tl_cone *p, double *x);

/* gap / |E|, with the convention of the certificate at E = 0. */
double tl_cone_relative(double gap, double energy);

/* The certificate from x and Ax, no product. */
tl_cone_certificate tl_cone_measure(const tl_cone *p, const tl_cone_metric *q, const double *x, const double *Ax);

/* Largest radius over all parts. */
double tl_cone_max_radius(const tl_cone *p);

#endif
