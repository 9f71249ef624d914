/* Anderson mixing: makes a fixed-point iteration x -> y(x) faster that converges slowly by itself. The next start is
 * the combination of the last few answers whose residuals y - x, combined the same way, are smallest. The fixed point
 * is the same. [Anderson1965]
 *
 * Entries beyond the first n are carried: combined with the same weights, but without a say in them. Of ADMM these are
 * the duals, whose residuals are of another kind than those of positions and, with equal weight, drown them.
 *
 * No convergence is promised for maps with kinks: a residual that has grown since the last good one empties the
 * memory, so that the plain iteration goes on. */
#ifndef TL_MATH_ANDERSON_H
#define TL_MATH_ANDERSON_H

#include "base/arena.h"
#include "base/comm.h"

#define TL_ANDERSON_DEPTH 5 /* residuals that are combined */

typedef struct tl_anderson {
    int64_t n, all;      /* entries whose residuals decide; with those that are carried */
    int count, newest;   /* in memory; place of the last */
    const tl_comm *comm; /* of several parts; NULL: one */
    int64_t own;         /* entries that other parts have not; the rest of the first n is the same in all */
    double best;         /* squared norm of the smallest residual since the memory was empty */
    double *y[TL_ANDERSON_DEPTH], *f[TL_ANDERSON_DEPTH];
    double gram[TL_ANDERSON_DEPTH][TL_ANDERSON_DEPTH]; /* of residuals */
} tl_anderson;

talus_status tl_anderson_begin(tl_anderson *m, int64_t n, tl_arena *a, talus_error *err);
talus_status tl_anderson_begin_carrying(tl_anderson *m, int64_t n, int64_t carried, tl_arena *a, talus_error *err);

/* Several parts: of the first n entries own ones are a part of a larger vector, the others the same in all. Mixing is
 * then collective. */
void tl_anderson_in_parts(tl_anderson *m, const tl_comm *c, int64_t own);

/* y came out for x, [n + carried] both. next, which may be x: where to go on from. */
void tl_anderson_next(tl_anderson *m, const double *x, const double *y, double *next);

#endif
