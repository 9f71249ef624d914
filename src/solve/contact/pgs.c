/* Projected Gauss-Seidel with the exact disc, and with a pyramid (a box on the two tangents) for
 * comparison. Safe and cheap per sweep; hopeless under mass ratios, where it needs as many sweeps as the
 * ratio is large. */
#include "solve/contact/method.h"
#include "solve/contact/methods.h"
#include "solve/contact/sweeps.h"

#define REFRESH 10    /* sweeps between recomputations of dv from lam */
#define LOOK_EVERY 10 /* sweeps between residuals */

static double clamp(double x, double most) { return x > most ? most : x < -most ? -most : x; }

/* One contact: the normal, then friction at the velocity that the new normal leaves, both from the contact's own block. */
static void sweep_contact(const tl_pair *p, tl_sweep_shape shape, double *l, double *dv)
{
    double u[3], d[3];
    tl_pair_velocity(p, dv, u);
    double n = p->mu < 0 ? 0 : fmax(0, l[0] - p->w_n * u[0]), most = p->mu < 0 ? -p->mu : p->mu * n;
    d[0] = n - l[0];
    double t[2] = {l[1] - p->w_t * (u[1] + p->W[3] * d[0]), l[2] - p->w_t * (u[2] + p->W[6] * d[0])};
    if (shape == TL_SWEEP_DISC)
        tl_project_disc(most, t);
    else
        t[0] = clamp(t[0], most), t[1] = clamp(t[1], most);
    d[1] = t[0] - l[1];
    d[2] = t[1] - l[2];
    l[0] = n, l[1] = t[0], l[2] = t[1];
    tl_pair_push(p, d, dv);
}

void tl_contact_sweep(const tl_pairs *t, int count, tl_sweep_shape shape, double *lam, double *dv, tl_work *w)
{
    for (int sweep = 1; sweep <= count; sweep++) {
        for (int32_t c = 0; c < t->contacts; c++) sweep_contact(&t->pair[c], shape, lam + 3 * (int64_t)c, dv);
        if (sweep % REFRESH == 0) tl_pairs_push(t, lam, dv);
        if (w) w->products++, w->projections++;
    }
}

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

const tl_contact_method tl_contact_pgs = {
    "pgs", "projected Gauss-Seidel with the exact friction disc", true, true, bytes, run_disc};
const tl_contact_method tl_contact_pgs_pyramid = {
    "pgs-pyramid", "the same with a box instead of the disc: friction depends on the direction", false, true, bytes,
    run_pyramid};
