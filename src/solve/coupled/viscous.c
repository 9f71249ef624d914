/* Pressure and viscous stress at once, at frozen contact forces. */
#include <math.h>

#include "base/sum.h"
#include "base/timer.h"
#include "solve/coupled/work.h"

#define PASSES 6        /* of one block: the method's own measure is another one than the certificate's */
#define ITERATIONS 2000 /* of one pass: fifty times what a healthy one takes */
#define SAFETY 0.5      /* of the reduction that is asked for */
#define LEAST 1e-9      /* reduction of one pass: what single precision in the preconditioner leaves symmetric */

talus_status tl_coupled_viscous_begin(tl_coupled *c, talus_error *err)
{
    tl_coupled_work *w = c->work;
    const tl_viscous *p = &c->viscous->problem;
    const int64_t n = p->faces + p->others + p->cells;
    w->viscous_b = TL_TAKE(c->arena, double, n);
    w->viscous_x = TL_TAKE(c->arena, double, n);
    w->viscous_y = TL_TAKE(c->arena, double, n);
    if (!w->viscous_b || !w->viscous_x || !w->viscous_y)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a viscous solve");
    return tl_viscous_plan_make(&w->plan_viscous, p, TL_VISCOUS_MULTIGRID, c->arena, err);
}

double tl_coupled_viscous_error(const tl_coupled *c)
{
    double largest, error;
    c->viscous->unbalanced(c->viscous->ctx, &largest, &error);
    double b = fmax(c->work->free_viscous, largest);
    return b > 0 ? error / b : error;
}

/* What is left over what is asked for, of divergence and balance. */
static double over_target(tl_coupled *c)
{
    tl_coupled_work *w = c->work;
    c->gradient(c->ctx, w->g);
    const double target = TL_COUPLED_INNER * c->tolerance, g = tl_max_abs(w->n, w->g);
    w->b_pressure = fmax(w->b_pressure, g);
    double p = w->b_pressure > 0 ? g / (target * w->b_pressure) : 0;
    double s = tl_coupled_viscous_error(c) / target;
    return isnan(p) || isnan(s) ? NAN : fmax(p, s);
}

talus_status tl_coupled_run_viscous(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    tl_coupled_work *w = c->work;
    double begin = tl_seconds(), left = over_target(c);
    (void)err;
    for (int pass = 0; pass < PASSES && left > 1; pass++) {
        tl_work work = {.history = c->history};
        tl_stop stop = {.tolerance = fmax(LEAST, SAFETY / left),
                        .max_iterations = c->pressure_iterations > 0 ? c->pressure_iterations : ITERATIONS};
        c->viscous->residual(c->viscous->ctx, w->viscous_b);
        tl_outcome outcome = tl_viscous_run(w->plan_viscous, w->viscous_b, &stop, w->viscous_x, &work);
        c->viscous->take(c->viscous->ctx, w->viscous_b, w->viscous_x, w->viscous_y, c->p);
        out->pressure_iterations += outcome.iterations;
        out->stress_iterations += outcome.iterations;
        out->pressure_work.products += work.products;
        out->pressure_work.preconds += work.preconds;
        left = over_target(c);
    }
    w->started = true;
    out->pressure_method = "viscous-multigrid";
    out->pressure_seconds += tl_seconds() - begin;
    return TALUS_OK;
}
