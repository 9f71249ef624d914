/* Relaxed projected Jacobi: x = project(x, evaluate(x)), again and again. The reference that the
 * accelerated methods are measured against; its iterations grow with the square of a pillar's height. */
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
    while (!tl_fixedpoint_ends(p, o, stop, x, &s, w, &out)) {
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
