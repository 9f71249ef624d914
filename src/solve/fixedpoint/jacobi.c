/* Relaxed projected Jacobi: x = project(x, evaluate(x)), again and again. The reference that the
 * accelerated methods are measured against; its iterations grow with the square of a pillar's height. */
#include <math.h>

#include "solve/fixedpoint/method.h"
#include "solve/vecops.h"

static size_t bytes(const tl_fixedpoint *p, const tl_options *o)
{
    (void)o;
    return 2 * (tl_space_room(p->space) + 64);
}

static tl_outcome run(const tl_fixedpoint *p, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a,
                      tl_work *w)
{
    const tl_space *space = p->space;
    size_t mark = tl_arena_mark(a);
    tl_fixedpoint_step s = {.r = tl_space_take(space, a), .y = tl_space_take(space, a)};
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS};

    p->clamp(p->ctx, x);
    for (;;) {
        tl_fixedpoint_look(p, x, &s, w);
        out.residual = s.residual;
        tl_work_record(w, out.residual);
        if (!isfinite(s.residual) || !isfinite(s.square))
            out.result = TL_BROKE_DOWN;
        else if (s.residual <= stop->tolerance && (out.iterations >= o->least_iterations || s.square == 0))
            out.result = TL_CONVERGED;
        else if (s.square == 0)
            out.result = TL_STALLED; /* a step that moves nothing, yet not good enough */
        if (out.result != TL_OUT_OF_ITERATIONS) break;
        if ((stop->max_iterations && out.iterations >= stop->max_iterations) || tl_stop_spent(stop, w)) break;

        tl_vec_copy(space->n, s.y, x);
        out.iterations++;
    }
    tl_arena_release(a, mark);
    return out;
}

const tl_fixedpoint_method tl_fixedpoint_jacobi = {
    .name = "jacobi",
    .help = "relaxed projected Jacobi, the plain fixed-point iteration",
    .bytes = bytes,
    .run = run,
};
