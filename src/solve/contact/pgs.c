/* Projected Gauss-Seidel with the exact disc, the same with momentum, and with a pyramid (a box on the two tangents)
 * for comparison. Safe and cheap per sweep; hopeless under mass ratios, where it needs as many sweeps as the ratio
 * is large. */
#include "solve/contact/method.h"
#include "solve/contact/methods.h"
#include "solve/contact/momentum.h"
#include "solve/contact/sweeps.h"

#define LOOK_EVERY 10       /* sweeps between residuals */
#define SWEEPS_DEFAULT 2000 /* with momentum */

static size_t bytes(const tl_contact *p, const tl_options *o)
{
    (void)o;
    return tl_pairs_room(p);
}

static tl_outcome run_shape(const tl_pairs *t, const tl_stop *stop, double *lam, tl_arena *a, tl_work *w,
                            tl_sweep_shape shape)
{
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS, .residual = NAN};
    double *dv = TL_TAKE(a, double, tl_pairs_lanes(t));
    for (;;) {
        out.residual = tl_pairs_residual(t, lam, dv);
        tl_work_record(w, out.residual);
        if (!isfinite(out.residual)) out.result = TL_BROKE_DOWN;
        if (out.residual <= stop->tolerance) out.result = TL_CONVERGED;
        if (out.result != TL_OUT_OF_ITERATIONS) break;
        if ((stop->max_iterations && out.iterations >= stop->max_iterations) || tl_stop_spent(stop, w)) break;
        tl_contact_sweep(t, LOOK_EVERY, shape, lam, dv, w);
        out.iterations += LOOK_EVERY;
    }
    return out;
}

static tl_outcome run_disc(const tl_contact *p, const tl_pairs *t, const tl_options *o, const tl_stop *stop,
                           double *lam, tl_arena *a, tl_work *w)
{
    (void)o, (void)p;
    return run_shape(t, stop, lam, a, w, TL_SWEEP_DISC);
}

static tl_outcome run_pyramid(const tl_contact *p, const tl_pairs *t, const tl_options *o, const tl_stop *stop,
                              double *lam, tl_arena *a, tl_work *w)
{
    (void)o, (void)p;
    return run_shape(t, stop, lam, a, w, TL_SWEEP_PYRAMID);
}

static size_t momentum_bytes(const tl_contact *p, const tl_options *o)
{
    (void)o;
    return tl_momentum_bytes(p->space->n / 3, p->bodies ? p->bodies->count : 0) + TL_ARENA_ROOM(double, p->space->n) +
           tl_pairs_room(p);
}

static tl_outcome run_momentum(const tl_contact *p, const tl_pairs *t, const tl_options *o, const tl_stop *stop,
                               double *lam, tl_arena *a, tl_work *w)
{
    (void)o, (void)p;
    const int64_t before = w->products;
    tl_momentum m;
    double *look = TL_TAKE(a, double, 3 * (int64_t)t->contacts), *dv = TL_TAKE(a, double, tl_pairs_lanes(t));
    if (!tl_momentum_build(&m, t, a)) return (tl_outcome){.result = TL_BROKE_DOWN, .residual = NAN};
    int cap = stop->max_iterations ? stop->max_iterations : SWEEPS_DEFAULT;
    if (stop->max_products && stop->max_products < cap) cap = (int)stop->max_products;
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS,
                      .residual = tl_contact_momentum(&m, t, stop->tolerance, cap, lam, look, dv, w)};
    out.iterations = (int)(w->products - before);
    if (!isfinite(out.residual)) out.result = TL_BROKE_DOWN;
    if (out.residual <= stop->tolerance) out.result = TL_CONVERGED;
    return out;
}

const tl_contact_method tl_contact_pgs = {
    "pgs", "projected Gauss-Seidel with the exact friction disc", true, true, bytes, run_disc};
const tl_contact_method tl_contact_pgs_momentum = {
    "pgs-momentum", "the same with momentum, restarted contact by contact: crowds", true, true, momentum_bytes,
    run_momentum};
const tl_contact_method tl_contact_pgs_pyramid = {
    "pgs-pyramid", "the same with a box instead of the disc: friction depends on the direction", false, true, bytes,
    run_pyramid};
