#include "base/sum.h"

#include <math.h>

#include "base/parallel.h"

static double sum_block(int64_t n, const double *restrict x)
{
    double lane[TL_LANES] = {0}, tail = 0;
    int64_t i = 0;
    for (; i + TL_LANES <= n; i += TL_LANES)
        for (int k = 0; k < TL_LANES; k++) lane[k] += x[i + k];
    for (; i < n; i++) tail += x[i];
    return tl_lanes_total(lane) + tail;
}

static double dot_block(int64_t n, const double *restrict x, const double *restrict y)
{
    double lane[TL_LANES] = {0}, tail = 0;
    int64_t i = 0;
    for (; i + TL_LANES <= n; i += TL_LANES)
        for (int k = 0; k < TL_LANES; k++) lane[k] += x[i + k] * y[i + k];
    for (; i < n; i++) tail += x[i] * y[i];
    return tl_lanes_total(lane) + tail;
}

/* Compares bit patterns so that NaN, whose magnitude bits are the largest, wins over any number. */
static uint64_t max_bits_block(int64_t n, const double *restrict x)
{
    union {
        double d;
        uint64_t u;
    } v;
    uint64_t max = 0;
    for (int64_t i = 0; i < n; i++) {
        v.d = x[i];
        uint64_t bits = v.u & 0x7fffffffffffffffu;
        max = bits > max ? bits : max;
    }
    return max;
}

double tl_sum_ordered(int count, const double *parts)
{
    double total = 0;
    for (int b = 0; b < count; b++) total += parts[b];
    return total;
}

double tl_sum(int64_t n, const double *x)
{
    tl_blocks blocks = tl_blocks_of(n);
    double part[TL_BLOCKS_MAX];
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++) {
        int64_t at = tl_block_begin(blocks, b);
        part[b] = sum_block(tl_block_end(blocks, b) - at, x + at);
    }
    return tl_sum_ordered(blocks.count, part);
}

double tl_dot(int64_t n, const double *x, const double *y)
{
    tl_blocks blocks = tl_blocks_of(n);
    double part[TL_BLOCKS_MAX];
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++) {
        int64_t at = tl_block_begin(blocks, b);
        part[b] = dot_block(tl_block_end(blocks, b) - at, x + at, y + at);
    }
    return tl_sum_ordered(blocks.count, part);
}

double tl_max_abs(int64_t n, const double *x)
{
    tl_blocks blocks = tl_blocks_of(n);
    uint64_t part[TL_BLOCKS_MAX], max = 0;
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++) {
        int64_t at = tl_block_begin(blocks, b);
        part[b] = max_bits_block(tl_block_end(blocks, b) - at, x + at);
    }
    for (int b = 0; b < blocks.count; b++) max = part[b] > max ? part[b] : max;
    union {
        uint64_t u;
        double d;
    } v = {max};
    return v.d;
}
