#include <float.h>
#include <math.h>
#include <string.h>

#include "solve/cone/block.h"
#include "solve/cone/methods.h"

typedef struct state {
    const tl_cone *p;
    tl_cone_metric q;
    double *B, *S, *w; /* per group: diagonal block, its coordinates and eigenvalues (block.h) */
} state;

/* What one pass sees, each group at the moment of its visit: estimates of the gap and energy at the
 * start of the sweep, not bounds. */
typedef struct seen {
    double gap, energy;
    double moved, size; /* largest change and largest value of an unknown */
    bool finite;
} seen;

static void factor_blocks(const state *s)
{
    const tl_csr *A = s->p->A.csr;
    int m = s->p->size;
#pragma omp parallel for schedule(static) if (s->p->space->n >= TL_PARALLEL_MIN)
    for (int64_t g = 0; g < s->p->space->n / m; g++) {
        double *B = s->B + g * m * m;
        memset(B, 0, sizeof *B * (size_t)(m * m));
        for (int i = 0; i < m; i++)
            for (int64_t k = A->start[g * m + i]; k < A->start[g * m + i + 1]; k++) {
                int64_t j = A->col[k] - g * m;
                if (j >= 0 && j < m) B[i * m + j] = A->val[k];
            }
        tl_cone_block_factor(&s->q, B, s->w + g * m, s->S + g * m * m);
    }
}

/* Minimise over each group in turn, the others held. */
TL_CONE_INLINE seen sweep_groups(int m, const state *s, double *x)
{
    const tl_csr *A = s->p->A.csr;
    const double *b = s->p->b;
    seen out = {0, 0, 0, 0, true};
    for (int64_t g = 0; g < s->p->space->n / m; g++) {
        double *xg = x + g * m, r = s->p->radius[g];
        double grad[TL_CONE_MAX], c[TL_CONE_MAX], next[TL_CONE_MAX];
        if (r == 0) continue;
        for (int i = 0; i < m; i++) {
            double row = 0;
            for (int64_t k = A->start[g * m + i]; k < A->start[g * m + i + 1]; k++) row += A->val[k] * x[A->col[k]];
            grad[i] = row - b[g * m + i];
            out.energy += 0.5 * xg[i] * (grad[i] - b[g * m + i]);
        }
        out.gap += tl_cone_gap(m, s->q.inverse, r, grad, xg);

        tl_cone_mul(m, s->B + g * m * m, xg, c);
        for (int i = 0; i < m; i++) c[i] -= grad[i];
        tl_cone_block_minimise(m, s->w + g * m, s->S + g * m * m, c, r, next);
        if (!isfinite(tl_cone_dot(m, next, next))) {
            out.finite = false;
            continue;
        }
        for (int i = 0; i < m; i++) {
            out.moved = fmax(out.moved, fabs(next[i] - xg[i]));
            out.size = fmax(out.size, fabs(next[i]));
            xg[i] = next[i];
        }
    }
    return out;
}

/* One sweep over the whole space: parts take turns, each seeing what the earlier ones did. */
static seen sweep(const state *s, double *x, tl_work *w)
{
    const tl_space *space = s->p->space;
    seen out = {0, 0, 0, 0, true};
    for (int32_t turn = 0; turn < space->parts; turn++) {
        if (space->exchange) space->exchange(space, x);
        if (turn == space->part) TL_CONE_BY_SIZE(s->p->size, out = sweep_groups(m, s, x));
    }
    w->products++;
    w->projections++;
    out.gap = tl_space_sum(space, out.gap);
    out.energy = tl_space_sum(space, out.energy);
    out.moved = tl_space_max(space, out.moved);
    out.size = tl_space_max(space, out.size);
    out.finite = tl_space_max(space, out.finite ? 0.0 : 1.0) == 0;
    return out;
}

static size_t bytes(const tl_cone *p, const tl_options *o)
{
    (void)o;
    size_t groups = (size_t)(p->space->n / p->size), square = (size_t)p->size * (size_t)p->size;
    return 2 * TL_ARENA_ROOM(double, groups *square) + 2 * TL_ARENA_ROOM(double, p->space->n);
}

static tl_outcome run(const tl_cone *p, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a, tl_work *w)
{
    (void)o;
    if (!p->A.csr) return (tl_outcome){.result = TL_NOT_APPLICABLE, .residual = INFINITY};
    const tl_space *space = p->space;
    int64_t blocks = space->n * p->size;
    state s = {p, .B = TL_TAKE(a, double, blocks), .S = TL_TAKE(a, double, blocks), .w = TL_TAKE(a, double, space->n)};
    double *Ax = TL_TAKE(a, double, space->n);
    tl_cone_metric_of(&s.q, p->size, p->Q);
    factor_blocks(&s);
    tl_cone_project_all(p, x);

    /* The estimate of a sweep decides when a product is spent on the true gap. After a refusal it
     * has to fall further, so that checks stay rare. */
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS, .residual = INFINITY};
    double target = stop->tolerance;
    int idle = 0;
    for (;;) {
        if (tl_stop_spent(stop, w)) break;
        if (stop->max_iterations > 0 && out.iterations >= stop->max_iterations) break;
        out.iterations++;
        seen now = sweep(&s, x, w);
        out.residual = tl_cone_relative(now.gap, now.energy);
        tl_work_record(w, out.residual);
        if (!now.finite || !isfinite(now.gap) || !isfinite(now.energy)) {
            out.result = TL_BROKE_DOWN;
            break;
        }
        idle = now.moved > 4 * DBL_EPSILON * now.size ? 0 : idle + 1;
        bool stuck = idle > 20; /* chosen: nothing but rounding moves any more */
        if (!(out.residual <= target) && !stuck) continue;

        tl_linop_apply(&p->A, space, x, Ax, w);
        out.residual = tl_cone_measure(p, &s.q, x, Ax).relative_gap;
        if (out.residual <= stop->tolerance)
            out.result = TL_CONVERGED;
        else if (stuck)
            out.result = TL_STALLED;
        if (out.result != TL_OUT_OF_ITERATIONS) break;
        target *= 0.5;
    }
    return out;
}

const tl_cone_method tl_cone_pgs = {
    .name = "pgs",
    .help = "projected Gauss-Seidel over groups, each minimised exactly; needs explicit rows",
    .feasible = true,
    .bytes = bytes,
    .run = run,
};
