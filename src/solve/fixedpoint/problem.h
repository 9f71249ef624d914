/* Kind "fixedpoint": a nonsmooth problem given by one relaxed, projected step; its solutions are the
 * points that the step leaves where they are.
 *
 * The SPH engine has this form: pressures >= 0 and friction in cones, matrix-free, with a projection
 * that couples fields (the friction bound moves with the pressure). The problem brings callbacks and
 * knows its relaxation; methods only combine vectors. Callbacks cannot be captured to a file;
 * a problem that is written down as tl_projected can.
 *
 *     evaluate   r = residual fields at x (volume errors, slip velocities); one "product" in the work counts
 *     project    y = one relaxed projected step from x, given r = evaluate(x); y is feasible
 *     clamp      puts x on the feasible set, leaves feasible x as it is
 *
 * Callbacks see the local part. x arrives with a fresh halo; only owned entries of r and y are written.
 * They allocate nothing and give the same bits for any thread count.
 *
 * Certificate, from the callbacks alone: with r = evaluate(x) and y = project(x, r)
 *     change = max_i weight_i |y_i - x_i|,   violation = max_i weight_i |x_i - clamp(x)_i|
 * and the problem's own measure when it has one. */
#ifndef TL_SOLVE_FIXEDPOINT_PROBLEM_H
#define TL_SOLVE_FIXEDPOINT_PROBLEM_H

#include "base/work.h"
#include "math/csr.h"
#include "solve/space.h"

typedef struct tl_fixedpoint {
    const tl_space *space;
    void (*evaluate)(void *ctx, const double *x, double *r);                 /* x [n + halo], r [n] */
    void (*project)(void *ctx, const double *x, const double *r, double *y); /* y [n], not x */
    void (*clamp)(void *ctx, double *x);
    /* The error in the problem's own terms, >= 0 and without dimension; the same value on every part
     * (it reduces through the space itself). NULL = none. */
    double (*measure)(void *ctx, const double *x, const double *r);
    const double *weight; /* [n] > 0, 1 over a typical size of x_i; NULL = 1 */
    int64_t
        /* so many entries are summed apart from the others: while they are 0, sums have the bits of the others alone */
        apart;
    int64_t forces;         /* so many entries, the last ones, have a unit of their own; 0: none */
    const double *at_start; /* [n] evaluate(x) of the feasible x that a solve starts from; NULL: not known */
    double unit; /* that makes of it the unit of the others, so that sums of squares do not depend on units */
    void *ctx;
} tl_fixedpoint;

typedef struct tl_fixedpoint_certificate {
    double residual;  /* measure when there is one, else change: what solves stop on */
    double change;    /* what one more step would move */
    double measure;   /* NAN when the problem has none */
    double violation; /* distance from the feasible set */
} tl_fixedpoint_certificate;

/* x [n + halo]; scratch from the arena, given back. */
talus_status tl_fixedpoint_certify(const tl_fixedpoint *p, double *x, tl_fixedpoint_certificate *out, tl_arena *a,
                                   talus_error *err);

/* A fixedpoint problem that is written down: residuals are rows, pressures have bounds, friction has discs. The problem
 * of SPH has this form (model/sph/written.h); as data it can be captured and replayed.
 *
 *     x = (p [pressures], q [contacts], lam [contacts][3]),   r = A x + c
 *     p_i >= 0 _|_ r_i >= 0;   0 <= q_k <= most_k;   lam_k opposes the slip that its three rows of r have, |lam_k| <= friction_k q_k
 *
 * One step moves each unknown by relax r / D; contacts of one group that push share the work. */
typedef struct tl_projected {
    tl_space space; /* n = pressures + 4 contacts */
    int32_t pressures, contacts;
    const tl_csr *A;        /* [n][n] */
    const double *c;        /* [n] */
    const double *D;        /* [pressures + contacts] d r / d x, > 0; of a contact 0: its force stays 0 */
    const double *max;      /* [contacts] */
    const double *slip;     /* [contacts] d slip / d lam; 0: no friction */
    const double *friction; /* [contacts] */
    const double *group;    /* [contacts] 0, 1, ... contacts - 1 */
    double relax;           /* in (0, 1] */
    double rate;            /* from slips to the units of r of pressures, >= 0 */
    double strict;          /* how many times the mean error of pressures counts */
    double worst;           /* the largest error of one unknown over this counts too; 0: it does not */
    int32_t *active;        /* [contacts] scratch: how many of a group push */
} tl_projected;

/* Finite numbers, signs and groups as told above. */
talus_status tl_projected_check(const tl_projected *p, talus_error *err);
tl_fixedpoint tl_projected_problem(tl_projected *p); /* keeps the pointer */

#endif
