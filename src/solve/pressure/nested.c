#include "solve/pressure/nested.h"

#include <math.h>

#include "base/sum.h"
#include "solve/pressure/blocks.h"

#define TOLERANCE 1e-2
#define ITERATIONS 40
#define SWEEPS 2 /* projected, after interpolation; without them the fine solve needs 23 iterations instead of 16 */
#define SMALL 1e-3

bool tl_nested_take(tl_nested *s, const tl_levels *l, tl_arena *a)
{
    bool good = true;
    *s = (tl_nested){{NULL}};
    for (int k = 1; k <= TL_NESTED_LEVELS && k < l->count; k++) {
        s->b[k] = TL_TAKE(a, double, l->level[k].n);
        good = good && s->b[k];
    }
    return good;
}

static int top_of(const tl_levels *l) { return l->count - 1 < TL_NESTED_LEVELS ? l->count - 1 : TL_NESTED_LEVELS; }

int64_t tl_nested_length(const tl_levels *l)
{
    int64_t longest = 0;
    for (int k = 0; k <= top_of(l); k++) {
        const int64_t length = tl_level_length(&l->level[k]);
        longest = length > longest ? length : longest;
    }
    return longest;
}

double tl_pressure_small(const tl_comm *c, int32_t n, const double *d, const double *b)
{
    static const tl_reduce op[] = {TL_REDUCE_SUM, TL_REDUCE_SUM, TL_REDUCE_MAX};
    double value[] = {n, tl_sum(n, d), tl_max_abs(n, b)};
    tl_comm_reduce_each(c, 3, op, value);
    const double mean = value[0] > 0 ? value[1] / value[0] : 1;
    return SMALL * value[2] * TL_PRESSURE_SIDES / mean;
}

static void sum_children(const tl_level *l, const double *restrict fine, double *restrict out, int32_t from, int32_t to)
{
    for (int32_t m = from; m < to; m++) {
        double sum = 0;
        for (int32_t s = l->start[m]; s < l->start[m + 1]; s++) sum += fine[l->child[s]];
        out[tl_level_cell(l, m)] = sum;
    }
}

/* out [n] of level l = sums of `fine` over children. */
static void restrict_to(const tl_level *l, const double *fine, double *out)
{
    const tl_gathered *g = l->gathered;
    TL_FOR_BLOCKS(0, l->own, sum_children(l, fine, out, from, to));
    if (!g) return;
    for (int32_t m = 0; m < l->own; m++) ((double *)g->mine)[m] = out[l->at[m]];
    tl_gathered_bring(g, sizeof *out);
    for (int64_t r = 0; r < g->total; r++) out[g->place[r]] = ((const double *)g->all)[r];
}

/* Each child gets the mean of its parent and the parent's three nearest face neighbours; missing ones count as the
 * parent. */
static void interpolate(const tl_level *coarse, const tl_level *fine, const double *restrict x, double *restrict out,
                        int32_t from, int32_t to)
{
    for (int32_t m = from; m < to; m++) {
        const int32_t I = tl_level_cell(coarse, m);
        for (int32_t s = coarse->start[m]; s < coarse->start[m + 1]; s++) {
            int32_t i = coarse->child[s];
            double sum = x[I];
            for (int axis = 0; axis < 3; axis++) {
                int32_t J = coarse->nb[2 * axis + (fine->ijk[i][axis] & 1)][I];
                sum += J != coarse->none ? x[J] : x[I];
            }
            out[i] = 0.25 * sum;
        }
    }
}

static void relax_rows(const tl_level *l, const tl_coarse *m, const double *b, double lo, double *x, int32_t from,
                       int32_t to)
{
    const int32_t *restrict j0 = l->nb[0], *restrict j1 = l->nb[1], *restrict j2 = l->nb[2], *restrict j3 = l->nb[3],
                            *restrict j4 = l->nb[4], *restrict j5 = l->nb[5];
    const float *restrict c0 = m->c[0], *restrict c1 = m->c[1], *restrict c2 = m->c[2], *restrict c3 = m->c[3],
                          *restrict c4 = m->c[4], *restrict c5 = m->c[5];
    const double *restrict d = m->d;
#pragma omp simd
    for (int32_t i = from; i < to; i++) {
        double sum = (c0[i] * x[j0[i]] + c1[i] * x[j1[i]]) + (c2[i] * x[j2[i]] + c3[i] * x[j3[i]]) +
                     (c4[i] * x[j4[i]] + c5[i] * x[j5[i]]);
        double v = (b[i] + sum) / d[i];
        x[i] = v > lo ? v : lo;
    }
}

/* From level k's answer in v->x to a start on level k - 1, in v->x. */
static void go_finer(const tl_levels *l, int k, const tl_coarse *m, const double *b, double lo, tl_pressure_vectors *v)
{
    const tl_level *coarse = &l->level[k], *fine = coarse - 1;
    double *x = v->trial;
    TL_FOR_BLOCKS(0, fine->n, {
        for (int32_t i = from; i < to; i++)
            if (fine->parent[i] == coarse->none) x[i] = 0;
    });
    tl_pressure_get_both(coarse->space, sizeof *x, v->x, coarse->none);
    TL_FOR_BLOCKS(0, coarse->own, interpolate(coarse, fine, v->x, x, from, to));
    x[fine->none] = 0;
    for (int s = 0; s < SWEEPS; s++) {
        tl_pressure_get(fine->space, TL_BLACK, sizeof *x, x, fine->none);
        TL_FOR_BLOCKS(0, fine->red, relax_rows(fine, m, b, lo, x, from, to));
        tl_pressure_get(fine->space, TL_RED, sizeof *x, x, fine->none);
        TL_FOR_BLOCKS(fine->red, fine->n, relax_rows(fine, m, b, lo, x, from, to));
    }
    v->trial = v->x;
    v->x = x;
}

double tl_nested_start(const tl_nested *s, const tl_pressure *p, const tl_levels *l, const tl_cycle_kind *kind,
                       tl_cycle *cycle, double lo, tl_pressure_vectors *v)
{
    const int top = top_of(l);
    double products = 0;
    kind->reset(cycle, 0, NULL, true);
    for (int k = 1; k <= top; k++) restrict_to(&l->level[k], k == 1 ? p->b : s->b[k - 1], s->b[k]);

    const tl_coarse *m = kind->coarse(cycle, top);
    const double *b = top ? s->b[top] : p->b;
    double start = tl_pressure_small(tl_pressure_comm(l->level[top].space), l->level[top].n, m->d, b);
    for (int32_t i = 0; i < l->level[top].n; i++) v->x[i] = start;
    for (int k = top; k >= 1; k--) {
        const tl_level *level = &l->level[k];
        tl_pressure_system system = {
            .space = level->space, .n = level->n, .none = level->none, .d = m->d, .b = s->b[k], .lo = lo};
        for (int side = 0; side < TL_PRESSURE_SIDES; side++) {
            system.nb[side] = level->nb[side];
            system.c[side] = m->c[side];
        }
        tl_pressure_free f = {.x = v->x, .g = v->x, .lo = lo, .limit = -INFINITY};
        kind->reset(cycle, k, &f, true);
        tl_pressure_precond P = kind->precond(cycle);
        tl_stop stop = {.tolerance = TOLERANCE, .max_iterations = ITERATIONS};
        tl_pressure_counts counts = {0};
        tl_work work = {0};
        tl_pressure_bounded(&system, &P, v, &stop, 0, &counts, &work);
        products += ((double)work.products * (double)level->total + SWEEPS * (double)level[-1].total) /
                    (double)l->level[0].total;
        m = kind->coarse(cycle, k - 1);
        go_finer(l, k, m, k > 1 ? s->b[k - 1] : p->b, lo, v);
    }
    return products;
}
