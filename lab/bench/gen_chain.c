#include "lab/bench/gen_chain.h"

#include <math.h>

#include "base/alloc.h"

talus_status tl_chain_create(tl_chain *ch, int32_t n, int32_t k, double lift, talus_error *err)
{
    *ch = (tl_chain){.nu = 0.5};
    TL_TRY(tl_csr_create(&ch->A, n, n, 3 * (int64_t)n - 2, err));
    ch->c = TL_NEW_ZERO(double, n);
    if (!ch->c) {
        tl_chain_free(ch);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a chain of %d", (int)n);
    }
    int64_t at = 0;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < n; j++) {
            ch->A.col[at] = j;
            ch->A.val[at++] = i != j ? -1 : i == 0 ? 1 : 2;
        }
        ch->A.start[i + 1] = at;
    }
    /* gap i opens with acceleration a_i - a_(i-1); gravity cancels but at the ground, the pull does not */
    ch->c[0] = -CHAIN_G;
    if (lift != 0) {
        ch->c[k] += lift;
        if (k + 1 < n) ch->c[k + 1] -= lift;
    }
    return TALUS_OK;
}

void tl_chain_free(tl_chain *ch)
{
    tl_csr_free(&ch->A);
    tl_free(ch->c);
    *ch = (tl_chain){0};
}

static double diagonal(const tl_chain_part *p, int32_t i)
{
    for (int64_t k = p->A->start[i];; k++)
        if (p->A->col[k] == i) return p->A->val[k];
}

static void evaluate(void *ctx, const double *x, double *r)
{
    tl_chain_part *p = ctx;
    tl_csr_mul(p->A, x, r);
    for (int64_t i = 0; i < p->space->n; i++) r[i] += p->c[i];
}

static void project(void *ctx, const double *x, const double *r, double *y)
{
    tl_chain_part *p = ctx;
    for (int32_t i = 0; i < p->space->n; i++) y[i] = fmax(0, x[i] - p->nu * r[i] / diagonal(p, i));
}

static void clamp(void *ctx, double *x)
{
    tl_chain_part *p = ctx;
    for (int64_t i = 0; i < p->space->n; i++) x[i] = fmax(0, x[i]);
}

static double measure(void *ctx, const double *x, const double *r)
{
    tl_chain_part *p = ctx;
    double both[2] = {0, (double)p->space->n};
    for (int32_t i = 0; i < p->space->n; i++) {
        double force = diagonal(p, i) * x[i] / CHAIN_G, gap = r[i] / CHAIN_G;
        both[0] += fabs(force + gap - hypot(force, gap));
    }
    if (p->space->reduce) p->space->reduce(p->space, TL_REDUCE_SUM, 2, both);
    return both[0] / both[1];
}

tl_fixedpoint tl_chain_problem(tl_chain_part *part, int with_measure)
{
    return (tl_fixedpoint){.space = part->space,
                           .evaluate = evaluate,
                           .project = project,
                           .clamp = clamp,
                           .measure = with_measure ? measure : NULL,
                           .ctx = part};
}
