/* Kind "cone": minimise E(x) = 1/2 x'Ax - b'x subject to x_g' Q x_g <= r_g^2 for every group g.
 *
 * Contact friction at frozen normal force (groups of 2, Q = identity) and frictional stress at
 * frozen pressure (groups of 5, Q = the Frobenius form) are written this way; groups of 1 and 2
 * serve two-dimensional scenes. A group is `size` consecutive unknowns and never straddles parts
 * of a space; one Q serves all groups. A is symmetric positive semidefinite and may be singular: the cones bound x.
 * r_g = 0 pins its group to zero. Radii are finite: with r_g = INFINITY the certificate below would
 * be infinite at every x whose gradient is not exactly zero, so such a problem is refused.
 *
 * Certificate, from the problem alone: with grad = Ax - b,
 *     gap = sum_g ( grad_g . x_g + r_g sqrt(grad_g' Q^-1 grad_g) )  >=  E(x) - min E
 * for feasible x (each term is the largest first-order decrease that its cone still allows). For
 * an infeasible x the gap is not a bound and may be negative: read it together with `violation`. */
#ifndef TL_SOLVE_CONE_PROBLEM_H
#define TL_SOLVE_CONE_PROBLEM_H

#include <stdbool.h>

#include "solve/linop.h"

#define TL_CONE_MAX 5 /* unknowns per group */

/* Options of methods by parts. */
typedef struct tl_parts_options {
    double pyramid;   /* half-width of boxes over r: 1/sqrt 2 lets one unknown alone reach what the cone does */
    double loose;     /* kappa: auxiliary boxes of the cone over r / sqrt 2; below 1.1547 they cut it; 0: none */
    double damping;   /* gamma of jacobi orders */
    double penalty;   /* mu over (largest row sum of A) r^2 / 2 */
    bool keep;        /* multipliers go on from solve to solve; else they start from zero */
    bool line_search; /* instead of the damping */
    int newton;       /* steps per solve */
    int iterations;   /* of a part's box QP, at most */
    double stiffen;   /* xi: added to the diagonal of the Hessian, times it */
    bool as_energy;   /* ... and to the energy: x then resists being there, which melts heaps [FM21 fig. 5] */
    bool ssor; /* box QPs preconditioned by symmetric overrelaxation [FM21 sec. 5.2.1]; else by their diagonals */
} tl_parts_options;

/* A by its factors, and x by its components, for methods that solve a few components at a time; and what groups see,
 * where they share unknowns:
 *
 *     A = D' (H + E) D      D [rows x n] sparse, H diagonal, E symmetric, positive semidefinite
 *     |L_g x|_Q <= r_g      the set: group g sees rows size g .. of L. Without L these are its own unknowns
 *
 * Components are unknowns of one kind, the same number each or shorter; minus the sum of the first two is one more
 * that has no unknown of its own. */
typedef struct tl_cone_component {
    int64_t first, stride, count;
} tl_cone_component;

typedef struct tl_cone_parts {
    int32_t groups, rows;
    int64_t *start; /* [n + 1] columns of D */
    int32_t *row;
    double *val;
    const double *weight;                               /* [rows] H */
    void (*weigh)(const void *ctx, double *y);          /* y [rows] = (H + E) y */
    void (*weigh_absolute)(const void *ctx, double *y); /* the same with |E|, element by element; y >= 0 */
    const void *ctx;
    tl_csr seen, seers; /* L and its transpose; rows = 0: groups have unknowns of their own */
    tl_cone_component component[TL_CONE_MAX];
    double form_rows[TL_CONE_MAX]; /* row sums of |Q|, or more */
    double largest;                /* row sum of |A| */
    tl_parts_options o;
    struct tl_parts_plan *plan; /* tl_cone_parts_begin; keeps multipliers between solves */
} tl_cone_parts;

typedef struct tl_cone {
    const tl_space *space;
    tl_linop A;
    const double *b;                     /* [n] */
    const double *radius;                /* [n / size], finite, >= 0 */
    int32_t size;                        /* unknowns per group, 1 to TL_CONE_MAX; n is a multiple */
    double Q[TL_CONE_MAX * TL_CONE_MAX]; /* size x size, rows one after another; symmetric positive definite */
    /* [n / size] L_g with A <= blockdiag(L_g Q), for operators without rows; NULL = find them
     * from the rows, or estimate and backtrack. A false bound costs "apgd" its convergence. */
    const double *bound;
    /* [1] what "apgd" learned of A's largest eigenvalue in this metric, for the next problem with the same A and
     * bounds; 0 before the first, which then costs six products more. NULL: nothing is kept. */
    double *learned;
    const tl_cone_parts *parts; /* NULL: not known */
} tl_cone;

typedef struct tl_cone_certificate {
    double gap;                /* absolute, in units of E */
    double relative_gap;       /* gap / |E|; at E = 0: 0 when the gap is 0, else INFINITY */
    double violation;          /* max_g ( sqrt(x_g'Qx_g) - r_g ), absolute; 0 when feasible */
    double relative_violation; /* violation / max_g r_g; at max r = 0: 0 or INFINITY */
    double energy;             /* E(x) */
} tl_cone_certificate;

/* Q for groups of `size` with x_g'x_g <= r_g^2. */
void tl_cone_identity(int32_t size, double *Q);

/* Q for groups (xx, xy, xz, yz, zz) of a symmetric tensor without trace, yy = -xx - zz:
 *     |s|_F^2 = 2 (xx^2 + zz^2 + xx zz + xy^2 + xz^2 + yz^2).  [FM21 sec. 3.1.3] */
void tl_cone_stress_form(double *Q);

/* out [groups] = sqrt(g'Q^-1 g): of a gradient, what it does per radius. */
void tl_cone_dual_norms(int32_t size, const double *Q, int64_t groups, const double *g, double *out);

/* Sizes agree, Q is symmetric positive definite, b, radii and bounds are finite. Collective: on a
 * split space every part gets the same status. */
talus_status tl_cone_check(const tl_cone *p, talus_error *err);

/* x [n + halo]; scratch from the arena, given back. */
talus_status tl_cone_certify(const tl_cone *p, double *x, tl_cone_certificate *out, tl_arena *a, talus_error *err);

#endif
