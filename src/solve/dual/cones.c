/* Stress of sand beside pressure and contacts: blocks in turn, as of kind "coupled". */
#include "solve/coupled/cones.h"

#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "base/sum.h"
#include "solve/dual/work.h"

#define MOVED 10.0 /* tolerances: of the impulse, what a last sweep may change of it, as of kind "coupled" */

static tl_cones *cones_of(const tl_dual_solver *s) { return s->p->sand->cones; }

/* Without p there are no cones. */
talus_status tl_dual_stress(tl_dual_solver *s, tl_dual_report *out, talus_error *err)
{
    tl_dual_work *w = s->work;
    tl_cones_report report;
    if (!(tl_max_abs(w->cells, w->p) > 0)) {
        w->ds = tl_cones_drop(cones_of(s));
        return w->ds > 0 ? tl_dual_settle(s, err) : TALUS_OK;
    }
    TL_TRY(tl_cones_solve(cones_of(s), w->p, TL_DUAL_INNER * s->tolerance, s->arena, &report, err));
    w->ds = report.change;
    out->stress_iterations += report.outcome.iterations;
    out->stress_work.products += report.work.products;
    out->stress_work.projections += report.work.projections;
    return tl_dual_settle(s, err);
}

/* ---- where a sweep begins ---- */

static void in_solver_units(const tl_dual_work *w, double *x)
{
    memcpy(x, w->p, sizeof *x * (size_t)w->cells);
    for (int32_t j = 0; j < w->contacts; j++) x[w->cells + j] = w->lam[3 * (int64_t)j] / w->scale[j];
}

/* The next sweep begins with the pressures and normal forces that the last ones point at; stress and friction follow
 * from these in the sweep itself. */
static talus_status mix(tl_dual_solver *s, int sweep, talus_error *err)
{
    tl_dual_work *w = s->work;
    const int64_t all = (int64_t)w->cells + w->contacts;
    in_solver_units(w, w->x0);
    if (sweep == 1) {
        w->mixing.count = 0;
        w->mixing.best = INFINITY;
        memcpy(w->went, w->x0, sizeof *w->went * (size_t)all);
        return TALUS_OK;
    }
    tl_anderson_next(&w->mixing, w->went, w->x0, w->went);
    for (int64_t i = 0; i < all; i++)
        if (i >= w->cells || s->p->pressure.unilateral) w->went[i] = fmax(w->went[i], 0);
    for (int32_t i = 0; i < w->cells; i++) w->x0[i] = w->went[i] - w->p[i];
    memcpy(w->p, w->went, sizeof *w->p * (size_t)w->cells);
    /* rows of joints go on from where their last solve left them */
    for (int32_t j = 0; j < w->contacts - s->p->flex->boxes; j++)
        w->lam[3 * (int64_t)j] = w->scale[j] * w->went[w->cells + j];
    s->p->push(s->p->ctx, w->x0);
    return tl_dual_settle(s, err);
}

/* ---- when it is enough ---- */

static double distance2(const tl_dual_cones *c, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t f = 0; f < c->faces; f++) sum += c->mass[f] * (a[f] - b[f]) * (a[f] - b[f]);
    return sum;
}

/* Of u in the last sweep, over what all forces did to it. */
static double moved(const tl_dual_cones *c)
{
    const double all = distance2(c, c->u, c->u_free), last = distance2(c, c->u, c->u_last);
    memcpy(c->u_last, c->u, sizeof *c->u * (size_t)c->faces);
    return all > 0 ? sqrt(last / all) : 0;
}

static double changed(const tl_dual_work *w)
{
    const double max = tl_max_abs(w->cells, w->p);
    return max > 0 ? fmax(w->dp, w->ds) / max : 0;
}

static bool enough(const tl_dual_solver *s, const tl_dual_report *r)
{
    const tl_dual_certificate *c = &r->certificate;
    const bool exact = c->pressure <= s->tolerance && c->stress <= s->tolerance;
    return c->solids.contact <= s->slack && (exact || r->settled <= s->tolerance);
}

/* Solids at stress and pressure of the last correction hardly move: less than what the outflow of a cell may miss. */
static talus_status still_fits(tl_dual_solver *s, tl_dual_report *out, bool *fits, talus_error *err)
{
    tl_dual_work *w = s->work;
    *fits = false;
    if (!s->swept) return TALUS_OK;
    TL_TRY(tl_dual_run_block(s, tl_dual_contact, out, err));
    double max = 0;
    for (int64_t i = 0; i < s->p->flex->n; i++) max = fmax(max, fabs(w->dv[i]));
    *fits = max <= TL_DUAL_INNER * s->tolerance * w->b_pressure * s->p->sand->spacing;
    if (!*fits) return TALUS_OK;
    TL_TRY(tl_dual_certify(s, &out->certificate, err));
    out->result = out->certificate.solids.contact <= s->slack ? TL_CONVERGED : TL_OUT_OF_ITERATIONS;
    return TALUS_OK;
}

talus_status tl_dual_sweep_cones(tl_dual_solver *s, tl_dual_report *out, talus_error *err)
{
    const tl_dual_cones *sand = s->p->sand;
    const int max = s->sweeps > 0 ? s->sweeps : s->scheme->sweeps;
    bool certified = false, fits;
    TL_TRY(still_fits(s, out, &fits, err));
    if (fits) return TALUS_OK;
    memcpy(sand->u_last, sand->u, sizeof *sand->u * (size_t)sand->faces);
    for (; out->sweeps < max && !(certified && enough(s, out)); out->sweeps++) {
        TL_TRY(tl_cancel_check(err));
        if (out->sweeps > 0 && !s->plain_sweeps) TL_TRY(mix(s, out->sweeps, err));
        for (int k = 0; k < TL_DUAL_BLOCKS; k++) TL_TRY(tl_dual_run_block(s, s->scheme->block[k], out, err));
        out->settled = fmin(changed(s->work), moved(sand) / MOVED);
        certified = out->settled <= s->tolerance || out->sweeps + 1 >= max;
        if (certified) TL_TRY(tl_dual_certify(s, &out->certificate, err));
    }
    s->swept = true;
    out->result = enough(s, out) ? TL_CONVERGED : TL_OUT_OF_ITERATIONS;
    return TALUS_OK;
}
