/* ADMM [Boyd2011]: x minimises the quadratic plus rho/2 |x - z + u|_D^2 (by CG), z clamps to the box,
 * u collects what the two disagree on; D = diag(A). Over-relaxed; rho follows the balance of the
 * primal residual |x - z| and the dual residual rho |z - z_old|. The answer is z, always feasible. */
#include <math.h>

#include "base/parallel.h"
#include "solve/boxqp/box.h"
#include "solve/boxqp/method.h"
#include "solve/linear/cg.h"
#include "solve/shifted.h"
#include "solve/vecops.h"

#define BALANCE_EVERY 10 /* iterations between looks at rho; each change costs a preconditioner */
#define BALANCE_RATIO 3
#define OUTER_MAX 20000

typedef struct state {
    const tl_boxqp *q;
    double rho;
    double *x, *u, *rhs, *weight, *g; /* weight = rho D */
} state;

static void set_rho(state *s, double rho)
{
    int64_t n = s->q->space->n;
    double ratio = s->rho / rho; /* u is the multiplier over rho */
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) {
        s->weight[i] = rho * (s->q->diag && s->q->diag[i] > 0 ? s->q->diag[i] : 1);
        s->u[i] *= ratio;
    }
    s->rho = rho;
}

/* z and u from the new x; the residuals are in units of the gradient. */
static void split_step(state *s, double relax, double *z, double *primal, double *dual)
{
    int64_t n = s->q->space->n;
    tl_blocks blocks = tl_blocks_of(n);
    double pri[TL_BLOCKS_MAX], dua[TL_BLOCKS_MAX];
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++) {
        double p_most = 0, d_most = 0;
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
            double xr = relax * s->x[i] + (1 - relax) * z[i], z_old = z[i];
            z[i] = tl_boxqp_clamp(s->q, i, xr + s->u[i]);
            s->u[i] += xr - z[i];
            double d = s->weight[i] / s->rho;
            p_most = fmax(p_most, d * fabs(s->x[i] - z[i]));
            d_most = fmax(d_most, s->weight[i] * fabs(z[i] - z_old));
        }
        pri[b] = p_most;
        dua[b] = d_most;
    }
    double max[2] = {0, 0};
    for (int b = 0; b < blocks.count; b++) {
        max[0] = fmax(max[0], pri[b]);
        max[1] = fmax(max[1], dua[b]);
    }
    if (s->q->space->reduce) s->q->space->reduce(s->q->space, TL_REDUCE_MAX, 2, max);
    *primal = max[0];
    *dual = max[1];
}

static size_t bytes(const tl_boxqp *q, const tl_options *o)
{
    (void)o;
    return 5 * tl_space_room(q->space) + tl_cg_bytes(q->space);
}

static tl_outcome run(const tl_boxqp *q, const tl_options *o, const tl_stop *stop, double *z, tl_arena *a, tl_work *w)
{
    const tl_space *sp = q->space;
    size_t mark = tl_arena_mark(a);
    state s = {.q = q, .rho = 1};
    double **all[] = {&s.x, &s.u, &s.rhs, &s.weight, &s.g};
    for (int i = 0; i < 5; i++) *all[i] = tl_space_take(sp, a);
    tl_boxqp_project(q, z);
    tl_vec_copy(sp->n, z, s.x);
    tl_vec_fill(sp->n, 0, s.u);
    set_rho(&s, o->penalty > 0 ? o->penalty : 0.1);
    tl_precond_update(o->precond, s.weight, w);
    tl_shifted shifted = {&q->A, s.weight, sp->n};
    const tl_linear problem = {sp, tl_linop_shifted(&shifted), s.rhs};

    double scale = tl_boxqp_scale(q), target = stop->tolerance * scale, primal, dual;
    double natural = tl_boxqp_gradient(q, z, s.g, w), last = natural;
    tl_outcome out = {.result = isfinite(natural) ? TL_OUT_OF_ITERATIONS : TL_BROKE_DOWN, .residual = natural / scale};
    if (natural <= target) out.result = TL_CONVERGED;
    for (int outer = 0; outer < OUTER_MAX && out.result == TL_OUT_OF_ITERATIONS; outer++, w->outer++) {
        if ((stop->max_iterations && out.iterations >= stop->max_iterations) || tl_stop_spent(stop, w)) break;
        for (int64_t i = 0; i < sp->n; i++) s.rhs[i] = q->b[i] + s.weight[i] * (z[i] - s.u[i]);
        double inner = o->inner_tolerance > 0 ? o->inner_tolerance : 0.05;
        tl_cg_target goal = {fmax(0.02 * target, inner * last),
                             stop->max_iterations ? stop->max_iterations - out.iterations : 0, false, false};
        out.iterations += tl_cg_run(&problem, o->precond, s.x, &goal, stop, a, w).iterations;
        split_step(&s, o->relaxation, z, &primal, &dual);
        last = fmax(fmin(primal, dual), 0.1 * fmax(primal, dual));
        out.residual = fmax(primal, dual) / scale;
        tl_work_record(w, out.residual);
        if (!isfinite(out.residual)) {
            out.result = TL_BROKE_DOWN;
        } else if (fmax(primal, dual) <= target || outer % 50 == 49) {
            natural = tl_boxqp_gradient(q, z, s.g, w); /* what counts is the certificate at z */
            out.residual = natural / scale;
            if (natural <= target) out.result = TL_CONVERGED;
            if (!isfinite(natural)) out.result = TL_BROKE_DOWN; /* maxima do not see NaN, this does */
        }
        if (outer % BALANCE_EVERY == BALANCE_EVERY - 1) {
            double ratio = primal / fmax(dual, 1e-300);
            if (ratio > BALANCE_RATIO || ratio < 1.0 / BALANCE_RATIO) {
                set_rho(&s, s.rho * fmin(10, fmax(0.1, sqrt(ratio))));
                tl_precond_update(o->precond, s.weight, w);
            }
        }
    }
    tl_precond_update(o->precond, NULL, NULL);
    tl_arena_release(a, mark);
    return out;
}

const tl_boxqp_method tl_boxqp_admm = {
    .name = "admm",
    .help = "alternating directions: a shifted linear solve and a clamp per iteration",
    .handles_bounds = true,
    .bytes = bytes,
    .run = run,
};
