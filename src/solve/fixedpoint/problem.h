/* Kind "fixedpoint": a nonsmooth problem given by one relaxed, projected step; its solutions are the
 * points that the step leaves where they are.
 *
 * The SPH engine has this form: pressures >= 0 and friction in cones, matrix-free, with a projection
 * that couples fields (the friction bound moves with the pressure). The problem brings callbacks and
 * knows its relaxation; methods only combine vectors. There are no rows to write down, so problems
 * of this kind cannot be captured to a file.
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
        apart; /* so many entries are summed apart from the others: while they are 0, sums have the bits of the others alone */
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

#endif
