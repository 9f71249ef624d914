/* Conjugate residuals: minimises |b - Ax| (in the preconditioner's metric) over the Krylov space,
 * for symmetric A that may be singular or indefinite. The residual never rises, which makes early
 * termination safe. One product and one preconditioner call per iteration. */
#include <math.h>

#include "solve/linear/method.h"
#include "solve/vecops.h"

static size_t bytes(const tl_linear *p, const tl_options *o)
{
    return (o->precond ? 6u : 4u) * tl_space_room(p->space);
}

static tl_outcome run(const tl_linear *p, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a, tl_work *w)
{
    const tl_space *s = p->space;
    const tl_precond *P = o->precond;
    size_t mark = tl_arena_mark(a);
    /* r: preconditioned residual, true_r the plain one; d: direction, q = A d, mq = M^-1 q */
    double *r = tl_space_take(s, a), *Ar = tl_space_take(s, a), *d = tl_space_take(s, a), *q = tl_space_take(s, a);
    double *mq = P ? tl_space_take(s, a) : q, *true_r = P ? tl_space_take(s, a) : r;
    double b_max = tl_space_max_abs(s, p->b), scale = b_max > 0 ? b_max : 1;
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS};
    double rAr = 0, last_start = INFINITY;
    bool restart = true;

    for (;;) {
        if (restart) {
            if (out.iterations == 0 && tl_space_max_abs(s, x) == 0) {
                tl_vec_copy(s->n, p->b, true_r);
            } else {
                tl_linop_apply(&p->A, s, x, Ar, w);
                tl_vec_sub(s->n, p->b, Ar, true_r);
            }
            out.residual = tl_space_max(s, tl_vec_max_abs(s->n, true_r)) / scale;
            if (!isfinite(out.residual)) {
                out.result = TL_BROKE_DOWN;
                break;
            }
            if (out.residual <= stop->tolerance) {
                out.result = TL_CONVERGED;
                break;
            }
            if (out.residual > 0.5 * last_start) {
                out.result = TL_STALLED;
                break;
            }
            last_start = out.residual;
            if (P) tl_precond_apply(P, s->n, true_r, r, w);
            tl_linop_apply(&p->A, s, r, Ar, w);
            rAr = tl_space_dot(s, r, Ar);
            tl_vec_copy(s->n, r, d);
            tl_vec_copy(s->n, Ar, q);
            restart = false;
        }
        if ((stop->max_iterations && out.iterations >= stop->max_iterations) || tl_stop_spent(stop, w)) break;

        if (P) tl_precond_apply(P, s->n, q, mq, w);
        double qmq = tl_space_dot(s, q, mq);
        if (!(qmq > 0) || rAr == 0 || !isfinite(rAr)) {
            out.result = isfinite(qmq) && isfinite(rAr) ? TL_STALLED : TL_BROKE_DOWN;
            break;
        }
        double alpha = rAr / qmq, r_max;
        tl_vec_cg_step(s->n, alpha, d, q, x, true_r, &r_max);
        if (P) tl_vec_add(s->n, -alpha, mq, r);
        out.residual = tl_space_max(s, r_max) / scale;
        out.iterations++;
        tl_work_record(w, out.residual);
        if (out.residual <= stop->tolerance) {
            restart = true; /* confirm from the definition */
            continue;
        }
        if (stop->max_iterations && out.iterations >= stop->max_iterations) break; /* no use for another product */
        tl_linop_apply(&p->A, s, r, Ar, w);
        double next = tl_space_dot(s, r, Ar), beta = next / rAr;
        rAr = next;
        tl_vec_add_to(s->n, r, beta, d);
        tl_vec_add_to(s->n, Ar, beta, q);
    }
    tl_arena_release(a, mark);
    return out;
}

const tl_linear_method tl_linear_cr = {
    .name = "cr",
    .help = "conjugate residuals: residual falls at every iteration, singular and indefinite A allowed",
    .bytes = bytes,
    .run = run,
};
