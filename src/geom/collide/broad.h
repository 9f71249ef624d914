/* Which boxes overlap: the pairs that detection has to look at, for thousands of bodies in near-linear time.
 *
 * Unbounded boxes (half-spaces) meet everything. The list is sorted by (a, b) with a < b, so what follows does not
 * depend on how it was found. */
#ifndef TL_GEOM_BROAD_H
#define TL_GEOM_BROAD_H

#include "base/arena.h"
#include "geom/shape.h"

typedef struct tl_near_pair {
    int32_t a, b; /* a < b */
} tl_near_pair;

/* moves [count]: pairs of two that do not move are left out. box [count]: grown by the margin already. The list
 * lives in the arena. */
talus_status tl_broad_pairs(int32_t count, const tl_box3 *box, const bool *moves, tl_arena *a, tl_near_pair **pairs,
                            int64_t *pair_count, talus_error *err);

#endif
