/* Parallel loops. We write `#pragma omp parallel for schedule(static)` over independent outputs;
 * this header holds the thread count, the size from which a loop is worth two threads, and the
 * fixed blocks that make sums the same for any number of threads. */
#ifndef TL_BASE_PARALLEL_H
#define TL_BASE_PARALLEL_H

#include <stdint.h>

int tl_threads(void);           /* threads that the next parallel loop of this thread would use */
void tl_threads_set(int count); /* count >= 1; acts on loops started from this thread */

/* From the first call on, a process that is made by fork runs its loops on one thread, whatever is asked for:
 * OpenMP's others do not come along, and a loop would wait for them for ever. Results are the same. */
void tl_threads_watch_forks(void);

/* Items below which a streaming loop stays on one thread. Waking a sleeping thread costs about
 * 5 us here, in which one core streams some 10 000 doubles. */
#define TL_PARALLEL_MIN 20000

/* A cut of [0, n) into at most TL_BLOCKS_MAX blocks that depends on n alone. */
#define TL_BLOCKS_MAX 512
typedef struct tl_blocks {
    int64_t n, length; /* length: a multiple of 64 items */
    int count;
} tl_blocks;

static inline tl_blocks tl_blocks_at_least(int64_t n, int64_t least)
{
    int64_t length = (n + TL_BLOCKS_MAX - 1) / TL_BLOCKS_MAX;
    length = (length + 63) / 64 * 64;
    if (length < least) length = least;
    return (tl_blocks){n, length, (int)((n + length - 1) / length)};
}
static inline tl_blocks tl_blocks_of(int64_t n) { return tl_blocks_at_least(n, 2048); }
static inline int64_t tl_block_begin(tl_blocks b, int i) { return i * b.length; }
static inline int64_t tl_block_end(tl_blocks b, int i)
{
    int64_t end = (i + 1) * b.length;
    return end < b.n ? end : b.n;
}

#endif
