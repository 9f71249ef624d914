/* Kind "least": of all (a, b) that balance the same rows, the one of least energy whose cones are as wide as its own a.
 *
 *     minimise    Phi(a, b) = sum over groups g of  w_g ( a_g^2 + k_g |b_g|_Q^2 ) / 2
 *     subject to  K (a, b) = f  on rows that are not held,   a_g >= 0,   |b_g|_Q <= alpha_g a*_g,   and a* is the a of the answer
 *
 * With a* given this is convex. That a* is the answer's own makes friction slide without lifting: an elastic-plastic
 * body without dilatancy. Cones in (a, b) together would be the associated flow, whose walls push outwards while sand
 * slides down along them: a column between walls then hangs itself up, at three times the thrust of the experiments.
 *
 * Multipliers t of the rows are displacements: they give (a, b)(t) group by group, the elastic answer with b cut
 * down to its radius, and f - K (a, b) is what is left to balance. One product with K and one with its adjoint per
 * evaluation; steps along what is left, with momentum and restarts. When nothing is left, Phi + t . (f - K (a, b))
 * is the minimum for these a*: the pair certifies itself. Groups that are frozen keep what is given and are no part
 * of Phi. */
#ifndef TL_SOLVE_LEAST_PROBLEM_H
#define TL_SOLVE_LEAST_PROBLEM_H

#include "base/arena.h"
#include "base/status.h"
#include "solve/cone/problem.h"

typedef struct tl_least {
    int32_t rows, groups, size;
    double Q[TL_CONE_MAX * TL_CONE_MAX];      /* size x size */
    const double *f;                          /* [rows] */
    const uint8_t *held;                      /* [rows] 1: no equation, t = 0 */
    const double *worth;                      /* [rows] of the squares in the norm of residuals; NULL: 1 */
    const double *weight, *stiffness, *alpha; /* [groups] w > 0, k > 0, alpha >= 0 */
    /* a* of a group, where it is not a: (1 - part) a_g + part (a - normal_g . b) of group `beside`, whose own a* is
     * its a. NULL: nowhere */
    const int32_t *beside; /* [groups] g itself: a */
    const double *part;    /* [groups] */
    const double *normal;  /* [groups][size] */
    const double *extra;   /* [groups] of radii: |b_g| <= alpha_g a*_g + extra_g; NULL: none */
    const uint8_t *frozen; /* [groups] */
    const double *a0,
        *b0; /* [groups], [groups][size] as it is: of frozen groups, and what the answer is compared with */
    void (*product)(const void *ctx, const double *a, const double *b, double *y); /* y [rows] = K (a, b) */
    void (*adjoint)(const void *ctx, const double *t, double *a, double *b);       /* (a, b) = K^T t */
    const void *ctx;
} tl_least;

typedef struct tl_least_stop {
    int iterations; /* at most */
    /* evaluations after which, and after twice as many each time, half of what was left must be gone; 0: no matter */
    int patience;
    double residual; /* enough when |f - K (a, b)| / |f| is below */
    /* and when it is below this times the root of the distance to (a0, b0) at the start: nothing finer than what is
     * to change; 0: not */
    double coarse, coarsest; /* and at most this */
    /* and at the start when it is below `loose` and that distance below `near`; 0: not */
    double loose, near;
} tl_least_stop;

typedef struct tl_least_report {
    int evaluations;
    double residual; /* |f - K (a, b)| / |f| at the end */
    double distance; /* Phi of the difference to (a0, b0), over Phi of (a0, b0) */
    double
        /* t . (f - K (a, b)) over Phi of the answer: how much less energy there may be with the cones that it has,
         * if positive */
        gap;
} tl_least_report;

/* Phi of (a, b), frozen groups left out. */
double tl_least_energy(const tl_least *p, const double *a, const double *b);

#endif
