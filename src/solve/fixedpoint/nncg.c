/* Nonsmooth nonlinear conjugate gradients [Silcowitz2010], as [Probst2023 alg. 2] uses it: the projected
 * step stands for the negative gradient, Fletcher-Reeves mixes in the last direction, and a step
 * that grows throws the direction away.
 *
 * Differs from [Probst2023]: beta is the ratio of squared norms, as in [Silcowitz2010]; the paper prints
 * norms (iteration counts differ by a few percent either way). The last iterate may leave the
 * feasible set, so an answer is accepted only after it was clamped and measured again. */
#include <math.h>

#include "base/parallel.h"
#include "solve/fixedpoint/method.h"
#include "solve/vecops.h"

/* Clamped answers that may fall short of the target before the run is called stalled; chosen. */
#define MAX_CONFIRMS 8

static size_t bytes(const tl_fixedpoint *p, const tl_options *o)
{
    (void)o;
    return 3 * (tl_space_room(p->space) + 64);
}

/* x = y + beta s, then s = d + beta s. */
static void accelerate(int64_t n, double beta, const double *y, const double *d, double *s, double *x)
{
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) {
        double t = beta * s[i];
        x[i] = y[i] + t;
        s[i] = d[i] + t;
    }
}

static tl_outcome run(const tl_fixedpoint *p, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a,
                      tl_work *w)
{
    const tl_space *space = p->space;
    size_t mark = tl_arena_mark(a);
    tl_fixedpoint_step step = {.r = tl_space_take(space, a), .y = tl_space_take(space, a)};
    double *s = tl_space_take(space, a), last_square = 0; /* 0: no direction to build on */
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS};
    bool feasible = true, first = true;
    int confirms = 0;

    p->clamp(p->ctx, x);
    for (;;) {
        first ? tl_fixedpoint_look_first(p, x, &step, w) : tl_fixedpoint_look(p, x, &step, w);
        first = false;
        out.residual = step.residual;
        tl_work_record(w, out.residual);
        if (!isfinite(step.residual) || !isfinite(step.square)) {
            out.result = TL_BROKE_DOWN;
            break;
        }
        bool spent = (stop->max_iterations && out.iterations >= stop->max_iterations) || tl_stop_spent(stop, w);
        bool good = step.residual <= stop->tolerance && (out.iterations >= o->least_iterations || step.square == 0);
        if (feasible && (good || spent || step.square == 0)) {
            if (!spent || good) out.result = good ? TL_CONVERGED : TL_STALLED;
            break;
        }
        if (good || spent) {
            /* an end in sight: clamp and look again, without the direction that led here */
            if (good && ++confirms > MAX_CONFIRMS) out.result = TL_STALLED;
            p->clamp(p->ctx, x);
            w->projections++;
            feasible = true;
            last_square = 0;
            if (out.result == TL_STALLED) break;
            continue;
        }

        double beta = last_square > 0 ? step.square / last_square : 0;
        if (beta > 1) {
            tl_vec_copy(space->n, step.y, x);
            tl_vec_fill(space->n, 0, s);
            feasible = true;
        } else {
            if (last_square == 0) tl_vec_fill(space->n, 0, s);
            accelerate(space->n, beta, step.y, step.r, s, x);
            feasible = beta == 0;
        }
        last_square = step.square;
        out.iterations++;
    }
    tl_arena_release(a, mark);
    return out;
}

const tl_fixedpoint_method tl_fixedpoint_nncg = {
    .name = "nncg",
    .help = "nonsmooth nonlinear conjugate gradients over projected Jacobi steps",
    .bytes = bytes,
    .run = run,
};
