/* Small pieces that the box-QP methods share. */
#ifndef TL_SOLVE_BOXQP_BOX_H
#define TL_SOLVE_BOXQP_BOX_H

#include <math.h>

#include "solve/boxqp/problem.h"

static inline double tl_boxqp_lo(const tl_boxqp *p, int64_t i) { return p->lo ? p->lo[i] : -INFINITY; }
static inline double tl_boxqp_hi(const tl_boxqp *p, int64_t i) { return p->hi ? p->hi[i] : INFINITY; }

static inline double tl_boxqp_clamp(const tl_boxqp *p, int64_t i, double x)
{
    double lo = tl_boxqp_lo(p, i), hi = tl_boxqp_hi(p, i);
    return x < lo ? lo : x > hi ? hi : x;
}

void tl_boxqp_project(const tl_boxqp *p, double *x); /* x = clamp(x) */

/* g = A x - b (one product). Returns max|e_i| of the certificate, over all parts; not divided by max|b|. */
double tl_boxqp_gradient(const tl_boxqp *p, double *x, double *g, tl_work *w);

double tl_boxqp_scale(const tl_boxqp *p);         /* max|b|, 1 when b = 0 */
double tl_boxqp_mean_diagonal(const tl_boxqp *p); /* 1 when the problem has no diag */

#endif
