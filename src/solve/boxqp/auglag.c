/* Augmented Lagrangian for the bounds [Nocedal2006 ch. 17]: quadratic penalty on violated bounds,
 * multipliers h (lower) and k (upper), Newton steps by CG on A + mu D(violated), D = diag(A).
 *
 *   L(x) = E(x) + sum_i mu_i/2 min(x_i - lo_i - h_i/mu_i, 0)^2 + the same for hi
 *
 * The iterate is slightly outside the box until the end. With the full step (line_searches = 1) a
 * Newton step is an active-set step, and the multiplier update removes what the penalty left. */
#include <math.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "solve/boxqp/box.h"
#include "solve/boxqp/method.h"
#include "solve/linear/cg.h"
#include "solve/shifted.h"
#include "solve/vecops.h"

#define PENALTY 1e3   /* mu in units of diag(A); chosen: 1e2 needs twice the outer iterations, 1e4 gains nothing */
#define NEWTON_MAX 10 /* per multiplier update */
#define OUTER_MAX 200
#define INNER_SHARE 0.1 /* inner residual relative to the gradient that it shall remove */

typedef struct state {
    const tl_boxqp *q;
    double mu;
    double *h, *k;    /* multipliers of lower and upper bounds, >= 0 */
    double *g;        /* A x - b */
    double *grad;     /* of the augmented Lagrangian */
    double *violated; /* mu D where a penalty acts, else 0 */
    double *dx, *Adx;
} state;

static double penalty(const state *s, int64_t i)
{
    return s->mu * (s->q->diag && s->q->diag[i] > 0 ? s->q->diag[i] : 1);
}

/* Force of bound i's penalties at x, and how many act (both, where the bounds are closer than the multipliers
 * allow). */
static double penalty_force(const state *s, int64_t i, double x, int *acting)
{
    double mu = penalty(s, i);
    double low = mu * (x - tl_boxqp_lo(s->q, i)) - s->h[i], high = mu * (tl_boxqp_hi(s->q, i) - x) - s->k[i];
    *acting = (low < 0) + (high < 0);
    return fmin(low, 0) - fmin(high, 0);
}

/* Gradient of L and the penalty's diagonal; returns max|grad|. */
static double assemble(state *s, const double *x)
{
    int64_t n = s->q->space->n;
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) {
        int acting;
        s->grad[i] = s->g[i] + penalty_force(s, i, x[i], &acting);
        s->violated[i] = acting * penalty(s, i);
    }
    return tl_space_max(s->q->space, tl_vec_max_abs(n, s->grad));
}

/* Slope of L along dx after a step of length a: its sign and size decide on halving. */
static double slope(const state *s, const double *x, double a)
{
    int64_t n = s->q->space->n;
    tl_blocks blocks = tl_blocks_of(n);
    double part[TL_BLOCKS_MAX];
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++) {
        double sum = 0;
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
            int acting;
            double force = penalty_force(s, i, x[i] + a * s->dx[i], &acting);
            sum += (s->g[i] + a * s->Adx[i] + force) * s->dx[i];
        }
        part[b] = sum;
    }
    return tl_space_sum(s->q->space, tl_sum_ordered(blocks.count, part));
}

/* Step length: full, or where the slope of L along dx (it rises with the step) comes down to a tenth. */
static double choose_step(const state *s, const double *x, int tries)
{
    double begin = 0, end = 1, a = 1, at_begin = slope(s, x, 0), enough = 0.1 * fabs(at_begin);
    double at_end = at_begin;
    for (int t = 1; t < tries; t++) {
        double now = slope(s, x, a);
        if (fabs(now) <= enough || (a == 1 && now < 0)) break;
        if (now > 0)
            end = a, at_end = now;
        else
            begin = a, at_begin = now;
        /* false position, kept away from the ends of the bracket */
        double share = at_end > 0 ? -at_begin / (at_end - at_begin) : 0.5;
        a = begin + fmin(0.9, fmax(0.1, share)) * (end - begin);
    }
    return a;
}

static void update_multipliers(state *s, const double *x)
{
    int64_t n = s->q->space->n;
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) {
        double mu = penalty(s, i);
        double lo = tl_boxqp_lo(s->q, i), hi = tl_boxqp_hi(s->q, i);
        if (lo > -INFINITY) s->h[i] = fmax(0, s->h[i] - mu * (x[i] - lo));
        if (hi < INFINITY) s->k[i] = fmax(0, s->k[i] - mu * (hi - x[i]));
    }
}

static size_t bytes(const tl_boxqp *q, const tl_options *o)
{
    (void)o;
    return 7 * tl_space_room(q->space) + tl_cg_bytes(q->space);
}

static tl_outcome run(const tl_boxqp *q, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a, tl_work *w)
{
    const tl_space *sp = q->space;
    size_t mark = tl_arena_mark(a);
    state s = {.q = q, .mu = o->penalty > 0 ? o->penalty : PENALTY};
    double **all[] = {&s.h, &s.k, &s.g, &s.grad, &s.violated, &s.dx, &s.Adx};
    for (int i = 0; i < 7; i++) *all[i] = tl_space_take(sp, a);
    tl_vec_fill(sp->n, 0, s.h);
    tl_vec_fill(sp->n, 0, s.k);
    tl_shifted shifted = {&q->A, s.violated, sp->n};
    const tl_linear correction = {sp, tl_linop_shifted(&shifted), s.grad};

    double scale = tl_boxqp_scale(q), target = stop->tolerance * scale,
           inner = o->inner_tolerance > 0 ? o->inner_tolerance : INNER_SHARE;
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS};
    double natural = tl_boxqp_gradient(q, x, s.g, w);
    for (int outer = 0; outer < OUTER_MAX; outer++, w->outer++) {
        /* minimise L for these multipliers, roughly */
        double grad_max = assemble(&s, x), first = grad_max;
        for (int newton = 0; newton < NEWTON_MAX && grad_max > fmax(0.1 * target, 0.05 * first); newton++) {
            if ((stop->max_iterations && out.iterations >= stop->max_iterations) || tl_stop_spent(stop, w)) break;
            tl_precond_update(o->precond, s.violated, w);
            for (int64_t i = 0; i < sp->n; i++) s.grad[i] = -s.grad[i];
            tl_vec_fill(sp->n, 0, s.dx);
            tl_cg_target goal = {fmax(0.1 * target, inner * grad_max),
                                 stop->max_iterations ? stop->max_iterations - out.iterations : 0, false, false};
            tl_outcome cg = tl_cg_run(&correction, o->precond, s.dx, &goal, stop, a, w);
            out.iterations += cg.iterations;
            tl_linop_apply(&q->A, sp, s.dx, s.Adx, w);
            double step = choose_step(&s, x, o->line_searches);
            tl_vec_add(sp->n, step, s.dx, x);
            tl_vec_add(sp->n, step, s.Adx, s.g);
            grad_max = assemble(&s, x);
            if (!isfinite(grad_max)) break;
        }
        update_multipliers(&s, x);
        natural = tl_boxqp_gradient(q, x, s.g, w);
        out.residual = natural / scale;
        tl_work_record(w, out.residual);
        if (!isfinite(natural)) out.result = TL_BROKE_DOWN;
        if (natural <= target) out.result = TL_CONVERGED;
        if (out.result != TL_OUT_OF_ITERATIONS) break;
        if ((stop->max_iterations && out.iterations >= stop->max_iterations) || tl_stop_spent(stop, w)) break;
    }
    tl_precond_update(o->precond, NULL, NULL);
    tl_arena_release(a, mark);
    return out;
}

const tl_boxqp_method tl_boxqp_auglag = {
    .name = "auglag",
    .help = "augmented Lagrangian on the bounds, Newton steps by CG",
    .handles_bounds = true,
    .bytes = bytes,
    .run = run,
};
