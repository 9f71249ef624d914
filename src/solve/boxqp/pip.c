/* Primal interior point (log barrier) [Forsgren2002]: minimise E(x) - t sum log(x - lo) - t sum log(hi - x)
 * by Newton steps with CG while t falls. Iterates stay strictly inside; at the end entries whose
 * distance to a bound is what the barrier leaves there are put on it. */
#include <math.h>
#include <stdbool.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "solve/boxqp/box.h"
#include "solve/boxqp/method.h"
#include "solve/linear/cg.h"
#include "solve/shifted.h"
#include "solve/vecops.h"

#define TO_BOUNDARY 0.995 /* share of the way to the nearest bound that a step may go */
#define SHRINK 0.2        /* of t, after each barrier problem that is solved well enough */
#define NEWTON_MAX 12     /* per barrier value */
#define OUTER_MAX 400
#define PINNED 1e300 /* barrier of entries whose bounds leave no room */

typedef struct state {
    const tl_boxqp *q;
    double t;
    double *g, *rhs, *barrier, *dx, *Adx; /* barrier: its Hessian, diagonal */
} state;

/* rhs = -gradient of the barrier problem; returns its max norm. */
static double assemble(state *s, const double *x)
{
    int64_t n = s->q->space->n;
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) {
        double low = x[i] - tl_boxqp_lo(s->q, i), high = tl_boxqp_hi(s->q, i) - x[i];
        bool pinned = !(low > 0 && high > 0); /* no room between the bounds: left where it is */
        s->rhs[i] = pinned ? 0 : s->t / low - s->t / high - s->g[i];
        s->barrier[i] = pinned ? PINNED : s->t / (low * low) + s->t / (high * high);
    }
    return tl_space_max(s->q->space, tl_vec_max_abs(n, s->rhs));
}

/* Slope of the barrier function along dx after a step a. */
static double slope(const state *s, const double *x, double a)
{
    int64_t n = s->q->space->n;
    tl_blocks blocks = tl_blocks_of(n);
    double part[TL_BLOCKS_MAX];
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++) {
        double sum = 0;
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
            double v = x[i] + a * s->dx[i], low = v - tl_boxqp_lo(s->q, i), high = tl_boxqp_hi(s->q, i) - v;
            if (low > 0 && high > 0) sum += (s->g[i] + a * s->Adx[i] - s->t / low + s->t / high) * s->dx[i];
        }
        part[b] = sum;
    }
    return tl_space_sum(s->q->space, tl_sum_ordered(blocks.count, part));
}

/* Largest share of dx that keeps x strictly inside. */
static double step_inside(const state *s, const double *x)
{
    int64_t n = s->q->space->n;
    tl_blocks blocks = tl_blocks_of(n);
    double part[TL_BLOCKS_MAX], least = 1;
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++) {
        double m = 1;
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
            double d = s->dx[i], room = d < 0 ? tl_boxqp_lo(s->q, i) - x[i] : tl_boxqp_hi(s->q, i) - x[i];
            if (s->barrier[i] == PINNED)
                s->dx[i] = 0;
            else if (d != 0)
                m = fmin(m, TO_BOUNDARY * room / d);
        }
        part[b] = m;
    }
    for (int b = 0; b < blocks.count; b++) least = fmin(least, part[b]);
    return -tl_space_max(s->q->space, -least);
}

/* Start: strictly inside, at least a hundredth of the box (or of 1/diag-sized moves) from the bounds. */
static void push_inside(const tl_boxqp *q, double move, double *x)
{
#pragma omp parallel for schedule(static) if (q->space->n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < q->space->n; i++) {
        double lo = tl_boxqp_lo(q, i), hi = tl_boxqp_hi(q, i), width = hi - lo;
        double margin = fmin(0.01 * width, move);
        x[i] = width > 0 ? fmin(fmax(x[i], lo + margin), hi - margin) : lo;
    }
}

/* Entries that the gradient presses on a bound much closer than the barrier's own scale belong on it. */
static void snap(const tl_boxqp *q, double t, const double *g, double *x)
{
#pragma omp parallel for schedule(static) if (q->space->n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < q->space->n; i++) {
        double lo = tl_boxqp_lo(q, i), hi = tl_boxqp_hi(q, i);
        double d = q->diag && q->diag[i] > 0 ? q->diag[i] : 1, width = sqrt(t / d);
        if (g[i] > 0 && x[i] - lo < width)
            x[i] = lo;
        else if (g[i] < 0 && hi - x[i] < width)
            x[i] = hi;
    }
}

static size_t bytes(const tl_boxqp *q, const tl_options *o)
{
    (void)o;
    return 6 * tl_space_room(q->space) + tl_cg_bytes(q->space);
}

static tl_outcome run(const tl_boxqp *q, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a, tl_work *w)
{
    const tl_space *sp = q->space;
    size_t mark = tl_arena_mark(a);
    state s = {.q = q};
    double **all[] = {&s.g, &s.rhs, &s.barrier, &s.dx, &s.Adx};
    for (int i = 0; i < 5; i++) *all[i] = tl_space_take(sp, a);
    double *inside = tl_space_take(sp, a);
    tl_shifted shifted = {&q->A, s.barrier, sp->n};
    const tl_linear correction = {sp, tl_linop_shifted(&shifted), s.rhs};

    double scale = tl_boxqp_scale(q), target = stop->tolerance * scale, diag = tl_boxqp_mean_diagonal(q);
    double inner = o->inner_tolerance > 0 ? o->inner_tolerance : 0.1;
    tl_vec_copy(sp->n, x, inside);
    push_inside(q, scale / diag, inside);
    tl_boxqp_gradient(q, inside, s.g, w);
    s.t = 0.1 * scale * scale / diag; /* the energy of one unknown that moves freely */
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS};
    for (int outer = 0; outer < OUTER_MAX && out.result == TL_OUT_OF_ITERATIONS; outer++, w->outer++) {
        double last_step = 0;
        for (int newton = 0; newton < NEWTON_MAX; newton++) {
            double grad = assemble(&s, inside);
            if (!isfinite(grad)) {
                out.result = TL_BROKE_DOWN;
                break;
            }
            if (newton > 0 && last_step > 0.9 && grad <= fmax(0.1 * target, 0.1 * sqrt(s.t * diag))) break;
            if ((stop->max_iterations && out.iterations >= stop->max_iterations) || tl_stop_spent(stop, w)) break;
            tl_precond_update(o->precond, s.barrier, w);
            tl_vec_fill(sp->n, 0, s.dx);
            tl_cg_target goal = {fmax(0.01 * target, inner * grad),
                                 stop->max_iterations ? stop->max_iterations - out.iterations : 0, false, false};
            out.iterations += tl_cg_run(&correction, o->precond, s.dx, &goal, stop, a, w).iterations;
            double step = step_inside(&s, inside);
            tl_linop_apply(&q->A, sp, s.dx, s.Adx, w);
            double first = -slope(&s, inside, 0);
            for (int tries = 1; tries < o->line_searches && slope(&s, inside, step) > 0.5 * first; tries++) step *= 0.5;
            tl_vec_add(sp->n, step, s.dx, inside);
            tl_boxqp_gradient(q, inside, s.g, w);
            last_step = step;
        }
        if (out.result != TL_OUT_OF_ITERATIONS) break;
        tl_vec_copy(sp->n, inside, x);
        snap(q, s.t, s.g, x);
        double natural = tl_boxqp_gradient(q, x, s.dx, w);
        out.residual = natural / scale;
        tl_work_record(w, out.residual);
        if (natural <= target) out.result = TL_CONVERGED;
        if ((stop->max_iterations && out.iterations >= stop->max_iterations) || tl_stop_spent(stop, w)) break;
        s.t *= SHRINK;
    }
    tl_precond_update(o->precond, NULL, NULL);
    tl_arena_release(a, mark);
    return out;
}

const tl_boxqp_method tl_boxqp_pip = {
    .name = "pip",
    .help = "primal interior point: log barrier, Newton steps by CG",
    .handles_bounds = true,
    .bytes = bytes,
    .run = run,
};
