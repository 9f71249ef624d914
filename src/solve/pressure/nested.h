/* Start for a bounded solve without a useful pressure: the same problem on coarse levels first. From a constant
 * start the free set would grow by one layer of cells per iteration, so that their number follows the resolution. */
#ifndef TL_SOLVE_PRESSURE_NESTED_H
#define TL_SOLVE_PRESSURE_NESTED_H

#include "solve/pressure/bounded.h"
#include "solve/pressure/cycle.h"

#define TL_NESTED_LEVELS 3 /* coarse levels that are solved */

/* Room for the coarse right-hand sides, levels 1 .. TL_NESTED_LEVELS. */
typedef struct tl_nested {
    double *b[TL_NESTED_LEVELS + 1];
} tl_nested;

bool tl_nested_take(tl_nested *s, const tl_levels *l, tl_arena *a);
int64_t tl_nested_length(
    const tl_levels *l); /* of the longest vector: a level that is whole may be longer than the finest */

/* v->x [n] becomes the start on level 0 for the lower bound lo of cells. The cycle is attached to p; its hierarchy
 * is used up. Returns products, in products of level 0. */
double tl_nested_start(const tl_nested *s, const tl_pressure *p, const tl_levels *l, const tl_cycle_kind *kind,
                       tl_cycle *cycle, double lo, tl_pressure_vectors *v);

/* A small positive pressure, x0 = 1e-3 max|b| in units of the mean coupling: better than 0 or a large one. c: of a
 * level in parts, n cells here. */
double tl_pressure_small(const tl_comm *c, int32_t n, const double *d, const double *b);

#endif
