#include "solve/linear/cg.h"

#include <math.h>

#include "solve/vecops.h"

/* Residuals recomputed from scratch before a run that keeps falling short is called stalled. */
#define MAX_CONFIRMS 8

size_t tl_cg_bytes(const tl_space *s) { return 4 * tl_space_room(s); }

/* r = b - A x; returns max|r|. */
static double true_residual(const tl_linear *p, double *x, double *r, tl_work *w)
{
    tl_linop_apply(&p->A, p->space, x, r, w);
    tl_vec_sub(p->space->n, p->b, r, r);
    return tl_space_max(p->space, tl_vec_max_abs(p->space->n, r));
}

tl_outcome tl_cg_run(const tl_linear *problem, const tl_precond *P, double *x, const tl_cg_target *target,
                     const tl_stop *stop, tl_arena *a, tl_work *w)
{
    const tl_space *s = problem->space;
    size_t mark = tl_arena_mark(a);
    double *r = tl_space_take(s, a), *p = tl_space_take(s, a), *q = tl_space_take(s, a);
    double *z = P ? tl_space_take(s, a) : r;
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS};
    int confirms = 0;
    double rz_old = 0, last_confirmed = INFINITY;

    out.residual = true_residual(problem, x, r, w);
    if (!isfinite(out.residual)) out.result = TL_BROKE_DOWN;
    bool restart = true;
    while (out.result == TL_OUT_OF_ITERATIONS) {
        if (out.residual <= target->residual_max) {
            /* the recurrence says done: ask the definition, unless it was just asked */
            if (!target->confirm || restart) {
                out.result = TL_CONVERGED;
                break;
            }
            out.residual = true_residual(problem, x, r, w);
            restart = true;
            if (out.residual <= target->residual_max) continue;
            if (++confirms >= MAX_CONFIRMS || out.residual > 0.5 * last_confirmed) {
                out.result = TL_STALLED;
                break;
            }
            last_confirmed = out.residual;
        }
        if ((target->max_iterations && out.iterations >= target->max_iterations) || tl_stop_spent(stop, w)) break;

        if (P) tl_precond_apply(P, s->n, r, z, w);
        double rz = tl_space_dot(s, r, z);
        if (restart)
            tl_vec_copy(s->n, z, p);
        else
            tl_vec_add_to(s->n, z, rz / rz_old, p);
        restart = false;
        rz_old = rz;

        tl_linop_apply(&problem->A, s, p, q, w);
        double pq = tl_space_dot(s, p, q);
        if (!(pq > 0) || !(rz > 0)) {
            /* no curvature left: an exact zero means that nothing more can be gained */
            out.result = pq == 0 || rz == 0 ? TL_STALLED : TL_BROKE_DOWN;
            break;
        }
        double r_max;
        tl_vec_cg_step(s->n, rz / pq, p, q, x, r, &r_max);
        out.residual = tl_space_max(s, r_max);
        out.iterations++;
        if (target->record) tl_work_record(w, out.residual);
    }
    tl_arena_release(a, mark);
    return out;
}

static size_t bytes(const tl_linear *p, const tl_options *o)
{
    (void)o;
    return tl_cg_bytes(p->space);
}

static tl_outcome run(const tl_linear *p, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a, tl_work *w)
{
    double b_max = tl_space_max_abs(p->space, p->b);
    double scale = b_max > 0 ? b_max : 1;
    tl_cg_target target = {stop->tolerance * scale, stop->max_iterations, true, true};
    tl_outcome out = tl_cg_run(p, o->precond, x, &target, stop, a, w);
    out.residual /= scale;
    return out;
}

const tl_linear_method tl_linear_cg = {
    .name = "cg",
    .help = "conjugate gradients, with the preconditioner of the options if there is one",
    .bytes = bytes,
    .run = run,
};
