#include "solve/shifted.h"

#include "base/parallel.h"

static void apply(const tl_linop *op, const double *x, double *y)
{
    const tl_shifted *s = op->ctx;
    s->A->apply(s->A, x, y);
#pragma omp parallel for schedule(static) if (s->n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < s->n; i++) y[i] += s->d[i] * x[i];
}

tl_linop tl_linop_shifted(const tl_shifted *ctx) { return (tl_linop){.apply = apply, .ctx = ctx}; }
