/* Kind "least": of all (a, b) that balance the same rows and stay inside of their cones, the one of least energy.
 *
 *     minimise    Phi(a, b) = sum over groups g of  w_g ( a_g^2 + k_g |b_g|_Q^2 ) / 2
 *     subject to  K (a, b) = f  on rows that are not held,   |b_g|_Q <= alpha_g a_g
 *
 * Strictly convex, so unique. Solved from the dual side: multipliers t of the rows give (a, b)(t) group by group, by a projection in the metric of Phi, and
 *
 *     d(t) = Phi(a, b) + t . (f - K (a, b))  <=  min Phi
 *
 * for every t, so that any admissible (a, b) knows an upper bound on what it has too much: 1 - d(t) / Phi, its excess. One product with K and one with its adjoint per
 * evaluation; ascent with momentum and restarts. Groups that are frozen keep what is given and are no part of Phi. */
#ifndef TL_SOLVE_CONE_LEAST_H
#define TL_SOLVE_CONE_LEAST_H

#include "base/arena.h"
#include "base/status.h"
#include "solve/cone/problem.h"

typedef struct tl_least {
    int32_t rows, groups, size;
    double Q[TL_CONE_MAX * TL_CONE_MAX];      /* size x size */
    const double *f;                          /* [rows] */
    const uint8_t *held;                      /* [rows] 1: no equation, t = 0 */
    const double *weight, *stiffness, *alpha; /* [groups] w > 0, k > 0, alpha >= 0 */
    const uint8_t *frozen;                    /* [groups] */
    const double *a0, *b0;                    /* [groups], [groups][size] of frozen groups */
    void (*product)(const void *ctx, const double *a, const double *b, double *y); /* y [rows] = K (a, b) */
    void (*adjoint)(const void *ctx, const double *t, double *a, double *b);       /* (a, b) = K^T t */
    const void *ctx;
} tl_least;

typedef struct tl_least_stop {
    int iterations;  /* at most */
    double energy;   /* Phi of an admissible (a, b): that whose excess is asked for */
    double excess;   /* enough when the excess is below */
    double residual; /* enough when |f - K (a, b)| / |f| is below */
} tl_least_stop;

typedef struct tl_least_report {
    int evaluations;
    double bound;    /* largest d(t) met */
    double excess;   /* 1 - bound / energy, not below 0 */
    double residual; /* |f - K (a, b)| / |f| at the end */
} tl_least_report;

/* Phi of (a, b), frozen groups left out. */
double tl_least_energy(const tl_least *p, const double *a, const double *b);

/* t [rows]: start in, end out. a [groups], b [groups][size] out: of the last t. */
talus_status tl_least_ascend(const tl_least *p, const tl_least_stop *stop, double *t, double *a, double *b,
                             tl_arena *arena, tl_least_report *out, talus_error *err);

#endif
