/* Which coarse cells there are: the part of the multigrid hierarchy that depends on the active set alone.
 *
 * A coarse cell stands for the unknowns in a 2x2x2 block, one coarse cell per set of them that is connected inside
 * the block, so that the two sides of a thin solid stay apart. It has at most one neighbour per side: the one that
 * most faces lead to, when that holds in both directions. Cells without any neighbour end their line: smoothing
 * solves them exactly. Built from sorted block keys: memory follows the cells, not their bounding box. Linear time. */
#ifndef TL_SOLVE_PRESSURE_LEVELS_H
#define TL_SOLVE_PRESSURE_LEVELS_H

#include "solve/pressure/problem.h"

#define TL_LEVELS_MAX 20

typedef struct tl_level {
    int32_t n, red;
    const int32_t (*ijk)[3];              /* [n] */
    const int32_t *nb[TL_PRESSURE_SIDES]; /* [n] each; none = n */
    const int32_t *parent; /* [n] at the next level, whose n stands for none; NULL at the coarsest level */
    const int32_t *start,
        *child; /* cell I has children child[start[I] .. start[I + 1]) at the finer level, red ones first;
                                             NULL at level 0 */
} tl_level;

typedef struct tl_levels {
    int count;
    tl_level level[TL_LEVELS_MAX]; /* [0]: the problem's cells, by reference */
} tl_levels;

/* scratch: 3 n + 1 doubles, free again afterwards. split = false joins all unknowns of a block. */
talus_status tl_levels_build(tl_levels *l, const tl_pressure *p, bool split, double *scratch, tl_arena *a,
                             talus_error *err);

#endif
