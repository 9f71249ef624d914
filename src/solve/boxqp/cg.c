/* Plain conjugate gradients: the linear system without its bounds, as the reference for cost. */
#include "solve/linear/cg.h"

#include "solve/boxqp/box.h"
#include "solve/boxqp/method.h"

static size_t bytes(const tl_boxqp *p, const tl_options *o)
{
    (void)o;
    return tl_cg_bytes(p->space);
}

static tl_outcome run(const tl_boxqp *p, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a, tl_work *w)
{
    double scale = tl_boxqp_scale(p);
    tl_cg_target target = {stop->tolerance * scale, stop->max_iterations, true, true};
    const tl_linear problem = {p->space, p->A, p->b};
    tl_outcome out = tl_cg_run(&problem, o->precond, x, &target, stop, a, w);
    out.residual /= scale;
    return out;
}

const tl_boxqp_method tl_boxqp_cg = {
    .name = "cg",
    .help = "conjugate gradients without the bounds: the reference for cost, not a solver of this kind",
    .handles_bounds = false,
    .bytes = bytes,
    .run = run,
};
