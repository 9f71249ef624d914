#include "solve/vecops.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"

void tl_vec_copy(int64_t n, const double *x, double *y)
{
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) y[i] = x[i];
}

void tl_vec_fill(int64_t n, double value, double *x)
{
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) x[i] = value;
}

void tl_vec_add(int64_t n, double a, const double *x, double *y)
{
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) y[i] += a * x[i];
}

void tl_vec_add_to(int64_t n, const double *x, double b, double *y)
{
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) y[i] = x[i] + b * y[i];
}

void tl_vec_sub(int64_t n, const double *x, const double *y, double *out)
{
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) out[i] = x[i] - y[i];
}

static double cg_step_block(int64_t n, double a, const double *restrict p, const double *restrict q, double *restrict x,
                            double *restrict r, double *r_max)
{
    double lane[TL_LANES] = {0}, max[TL_LANES] = {0}, tail = 0;
    int64_t i = 0;
    for (; i + TL_LANES <= n; i += TL_LANES)
        for (int k = 0; k < TL_LANES; k++) {
            x[i + k] += a * p[i + k];
            double v = r[i + k] - a * q[i + k];
            r[i + k] = v;
            lane[k] += v * v;
            max[k] = fabs(v) > max[k] ? fabs(v) : max[k];
        }
    for (; i < n; i++) {
        x[i] += a * p[i];
        r[i] -= a * q[i];
        tail += r[i] * r[i];
        max[0] = fabs(r[i]) > max[0] ? fabs(r[i]) : max[0];
    }
    for (int k = 1; k < TL_LANES; k++) max[0] = max[k] > max[0] ? max[k] : max[0];
    *r_max = max[0];
    return tl_lanes_total(lane) + tail;
}

double tl_vec_cg_step(int64_t n, double a, const double *p, const double *q, double *x, double *r, double *r_max)
{
    tl_blocks blocks = tl_blocks_of(n);
    double part[TL_BLOCKS_MAX], max[TL_BLOCKS_MAX];
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++) {
        int64_t at = tl_block_begin(blocks, b);
        part[b] = cg_step_block(tl_block_end(blocks, b) - at, a, p + at, q + at, x + at, r + at, &max[b]);
    }
    *r_max = 0;
    for (int b = 0; b < blocks.count; b++) *r_max = max[b] > *r_max ? max[b] : *r_max;
    return tl_sum_ordered(blocks.count, part);
}

double tl_vec_max_abs(int64_t n, const double *x)
{
    double m = tl_max_abs(n, x);
    return isnan(m) ? INFINITY : m;
}
