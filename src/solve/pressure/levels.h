/* Which coarse cells there are: the part of the multigrid hierarchy that depends on the active set alone.
 *
 * A coarse cell stands for the unknowns in a 2x2x2 block, one coarse cell per set of them that is connected inside
 * the block, so that the two sides of a thin solid stay apart. It has at most one neighbour per side: the one that
 * most faces lead to, when that holds in both directions. Cells without any neighbour end their line: smoothing
 * solves them exactly. Built from sorted block keys: memory follows the cells, not their bounding box. Linear time.
 *
 * With several parts, fine levels have the cells of this part and copies of their neighbours; from level `whole` on
 * every part has all cells and does the same work. The cells and their order are those of one part alone. */
#ifndef TL_SOLVE_PRESSURE_LEVELS_H
#define TL_SOLVE_PRESSURE_LEVELS_H

#include "solve/pressure/space.h"

#define TL_LEVELS_MAX 20
#define TL_GATHERED_BYTES 40 /* of a row, at most */

/* Rows of the first whole level, of all parts, one part after the other, and the cells that they belong to. */
typedef struct tl_gathered {
    const tl_comm *comm;
    const int64_t *count; /* [parts] rows of each */
    int64_t total;
    const int32_t *place; /* [total] cell of row r */
    void *mine, *all;     /* room for rows: of this part, of all */
} tl_gathered;

/* g->all [total] = g->mine of every part; items of at most TL_GATHERED_BYTES. Collective. */
void tl_gathered_bring(const tl_gathered *g, size_t item);

typedef struct tl_level {
    int32_t n, red;
    int64_t total;                        /* cells of all parts */
    const tl_pressure_space *space;       /* NULL: all cells are here */
    const tl_gathered *gathered;          /* of the first level that is whole, from one that is not; else NULL */
    const int32_t (*ijk)[3];              /* [n] */
    const int32_t *nb[TL_PRESSURE_SIDES]; /* [n] each: a cell, `none`, or a copy behind it */
    int32_t none;                         /* n but at level 0, whose problem says it */
    const int32_t *parent; /* [n], with several parts [length], at the next level, whose `none` stands for none; NULL at
                              the coarsest level */
    int32_t own;           /* cells whose children are here: all but at the first whole level */
    const int32_t *at;     /* [own] their numbers, rising; NULL: 0, 1, ... */
    const int32_t *start,
        *child; /* own cell m has children child[start[m] .. start[m + 1]) at the finer level, red ones first; NULL at
                   level 0 */
    int32_t borders;
    const int32_t *border; /* [borders] cells beside copies */
} tl_level;

typedef struct tl_levels {
    int count;
    int whole;                     /* the first level that every part has: 0 with one part */
    tl_level level[TL_LEVELS_MAX]; /* [0]: the problem's cells, by reference */
} tl_levels;

/* Number of own cell m of a level. */
static inline int32_t tl_level_cell(const tl_level *l, int32_t m) { return l->at ? l->at[m] : m; }

/* Entries of a vector whose neighbours are read. */
static inline int64_t tl_level_length(const tl_level *l) { return (int64_t)l->none + 1 + tl_pressure_copies(l->space); }

typedef struct tl_levels_how {
    bool split; /* false: a coarse cell joins all unknowns of its block */
    int whole;  /* several parts: the first level that every part shall have, 1 .. together of the problem's space */
} tl_levels_how;

/* scratch: 3 n + 1 doubles, free again afterwards. Collective. */
talus_status tl_levels_build(tl_levels *l, const tl_pressure *p, tl_levels_how how, double *scratch, tl_arena *a,
                             talus_error *err);

#endif
