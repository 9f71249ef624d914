/* Two solvers inside of each other, as [Gissler2019] link pressures of liquid and of rigid contacts: after every
 * relaxed Jacobi step of the first `apart` unknowns (liquid) the others (contacts) take Jacobi steps of their own
 * until those have fallen to a hundredth. The baseline that one solve for all is compared with. */
#include <math.h>

#include "solve/fixedpoint/method.h"
#include "solve/vecops.h"

#include "base/sum.h"

#define INNER 20    /* steps of the others at most, per step of the first; chosen */
#define FALLEN 1e-4 /* of the square of their first step */

static size_t bytes(const tl_fixedpoint *p, const tl_options *o)
{
    (void)o;
    return 2 * (tl_space_room(p->space) + 64);
}

/* Square of what a step moves of the others; their step is taken. */
static double step_others(const tl_fixedpoint *p, const tl_fixedpoint_step *s, double *x)
{
    int64_t n = p->space->n - p->apart;
    double square = tl_fixedpoint_square(p, p->apart, s->r);
    tl_vec_copy(n, s->y + p->apart, x + p->apart);
    return square;
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
        tl_vec_copy(p->apart, s.y, x);
        double first = step_others(p, &s, x), last = first;
        for (int k = 1; k < INNER && p->apart > 0 && isfinite(last) && last > FALLEN * first; k++) {
            tl_fixedpoint_look(p, x, &s, w);
            last = step_others(p, &s, x);
        }
        out.iterations++;
    }
    tl_arena_release(a, mark);
    return out;
}

const tl_fixedpoint_method tl_fixedpoint_interlinked = {
    .name = "interlinked",
    .help = "Jacobi steps of contacts inside of each Jacobi step of liquid",
    .bytes = bytes,
    .run = run,
};
