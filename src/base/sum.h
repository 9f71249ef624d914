/* Sums, dots and norms in a fixed order: the same bits for any number of threads.
 *
 * The range is cut into blocks that depend on n alone (tl_blocks_of), each block is summed in 32
 * lanes by whichever thread gets it, and the block sums are added in index order. Bandwidth bound:
 * `talus bench kernels` compares them with a triad of the same size. */
#ifndef TL_BASE_SUM_H
#define TL_BASE_SUM_H

#include <stdint.h>

double tl_sum(int64_t n, const double *x);
double tl_dot(int64_t n, const double *x, const double *y);
double tl_max_abs(int64_t n, const double *x); /* NaN when any entry is NaN */

/* Add the block sums of a fused loop, in order. */
double tl_sum_ordered(int count, const double *parts);

/* Lanes of a block sum: `double lane[TL_LANES] = {0}`, filled 32 items at a time. */
#define TL_LANES 32
static inline double tl_lanes_total(const double *lane)
{
    double s8[8];
    for (int k = 0; k < 8; k++) s8[k] = (lane[k] + lane[k + 8]) + (lane[k + 16] + lane[k + 24]);
    return ((s8[0] + s8[4]) + (s8[2] + s8[6])) + ((s8[1] + s8[5]) + (s8[3] + s8[7]));
}

#endif
