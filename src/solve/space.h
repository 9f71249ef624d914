/* Where vectors live: one process today, one rank of a cluster tomorrow.
 *
 * A method sees only its own part of each vector: `n` owned entries followed by `halo` copies of
 * entries that other parts own. Owned entries are the method's to change; the halo is refreshed by
 * tl_linop_apply before a product. Every dot, sum and maximum of vectors goes through here, so a
 * method that is right on one part is right on many (tests/agree runs each method on two parts). */
#ifndef TL_SOLVE_SPACE_H
#define TL_SOLVE_SPACE_H

#include <stdint.h>

#include "base/comm.h"

typedef struct tl_space {
    int64_t n;           /* entries owned here */
    int64_t halo;        /* copies of entries owned elsewhere, stored behind the owned ones */
    int32_t part, parts; /* this part's number, and how many there are */
    /* Combine `count` values, one set per part, in part order; every part gets the result.
     * NULL with a single part. */
    void (*reduce)(const struct tl_space *s, tl_reduce op, int count, double *values);
    void (*exchange)(const struct tl_space *s, double *x); /* refresh x's halo; NULL without one */
    void *ctx;
} tl_space;

tl_space tl_space_local(int64_t n); /* all of it here */

double tl_space_dot(const tl_space *s, const double *x, const double *y);
double tl_space_norm(const tl_space *s, const double *x);    /* Euclidean */
double tl_space_max_abs(const tl_space *s, const double *x); /* NaN when any entry is */

/* One local value per part, already computed by a fused loop. */
static inline double tl_space_sum(const tl_space *s, double local)
{
    if (s->reduce) s->reduce(s, TL_REDUCE_SUM, 1, &local);
    return local;
}
static inline double tl_space_max(const tl_space *s, double local)
{
    if (s->reduce) s->reduce(s, TL_REDUCE_MAX, 1, &local);
    return local;
}

/* tl_arena_reserve, collective: when one part has no memory, all fail, and nobody waits for it. */
talus_status tl_space_reserve(const tl_space *s, tl_arena *a, size_t bytes, talus_error *err);

/* A vector of this space (owned and halo) from an arena, and the room that it needs. */
static inline double *tl_space_take(const tl_space *s, tl_arena *a) { return TL_TAKE(a, double, s->n + s->halo); }
static inline size_t tl_space_room(const tl_space *s) { return TL_ARENA_ROOM(double, s->n + s->halo); }

#endif
