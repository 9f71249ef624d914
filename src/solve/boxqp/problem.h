/* Kind "boxqp": minimise 1/2 x'Ax - b'x subject to lo <= x <= hi.
 *
 * Pressure with wall separation, normal contact forces and the inner problems of the friction
 * solvers have this form. A is symmetric positive semidefinite; with finite bounds a singular A is fine.
 *
 * Certificate, from the problem alone: with g = Ax - b, the natural map
 *     e_i = d_i ( x_i - clamp(x_i - g_i / d_i, lo_i, hi_i) ),
 * which is the gradient where no bound acts. optimality = max|e_i| / max|b_i|. */
#ifndef TL_SOLVE_BOXQP_PROBLEM_H
#define TL_SOLVE_BOXQP_PROBLEM_H

#include "solve/linop.h"

typedef struct tl_boxqp {
    const tl_space *space;
    tl_linop A;
    const double *b, *lo, *hi; /* [n]; lo and hi may be -INFINITY and INFINITY, or NULL for none at all */
    const double *diag;        /* [n] diagonal of A, positive; NULL takes d_i = 1 in the certificate */
    double norm;               /* an upper bound of |A| that the caller happens to know; 0 = none. Saves matrix-free
                                  solves the products of an estimate */
} tl_boxqp;

typedef struct tl_boxqp_certificate {
    double optimality; /* max|e_i| / max|b_i|  (absolute when b = 0) */
    double violation;  /* largest distance outside the box */
    double energy;     /* 1/2 x'Ax - b'x */
} tl_boxqp_certificate;

/* x [n + halo]; scratch from the arena, given back. */
talus_status tl_boxqp_certify(const tl_boxqp *p, double *x, tl_boxqp_certificate *out, tl_arena *a, talus_error *err);

#endif
