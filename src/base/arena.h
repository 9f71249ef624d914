/* Memory that is given back all at once: the step's and the call's lifetimes.
 *
 *     size_t mark = tl_arena_mark(a);
 *     double *r = TL_TAKE(a, double, n);
 *     ...
 *     tl_arena_release(a, mark);
 *
 * An arena that is too small grows by another chunk; tl_arena_reset merges the chunks into one,
 * so work of a settled size stops touching the heap. Not shared between threads. */
#ifndef TL_BASE_ARENA_H
#define TL_BASE_ARENA_H

#include <stddef.h>

#include "base/status.h"

typedef struct tl_arena_chunk tl_arena_chunk;

typedef struct tl_arena {
    tl_arena_chunk *first, *current;
    size_t high_water; /* most bytes ever in use or reserved at once */
} tl_arena;

/* An arena may start as {0}: it takes its first chunk when first asked. */
void tl_arena_free(tl_arena *a); /* gives all chunks back; the arena is {0} again */

/* 64-byte aligned, uninitialised; NULL when the heap refuses. bytes = 0 gives a valid pointer. */
void *tl_arena_take(tl_arena *a, size_t bytes);
void *tl_arena_take_zero(tl_arena *a, size_t bytes);

#define TL_TAKE(a, type, count) ((type *)tl_arena_take((a), sizeof(type) * (size_t)(count)))
#define TL_TAKE_ZERO(a, type, count) ((type *)tl_arena_take_zero((a), sizeof(type) * (size_t)(count)))

/* Make sure that takes of `bytes` in all (each rounded up to 64, see TL_ARENA_ROOM) cannot fail
 * until the next release. This is how a method's stated need becomes "no allocation inside". */
talus_status tl_arena_reserve(tl_arena *a, size_t bytes, talus_error *err);

/* Room that one take of `count` items needs in a reservation. */
#define TL_ARENA_ROOM(type, count) ((sizeof(type) * (size_t)(count) + 63) / 64 * 64)

/* A part of `a` for another thread: an arena of its own that does not grow, and goes when `a` is released to a mark
 * before it; it is never freed. 0 when the heap refuses. */
int tl_arena_part(tl_arena *a, size_t bytes, tl_arena *part);

size_t tl_arena_mark(const tl_arena *a);
void tl_arena_release(tl_arena *a, size_t mark);

/* Empty the arena; several chunks become one that holds the most ever needed. */
void tl_arena_reset(tl_arena *a);

#endif
