/* The blocks of schemes, and the certificate. */
#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "solve/coupled/cones.h"
#include "solve/dual/work.h"
#include "solve/flex/inside.h"

#define ITERATIONS_MAX 1000 /* of one pressure solve */
#define ROUNDING                                                                                                       \
    1e-10            /* of velocities over their spacing, as of kind "coupled": what falls freely has no more to undo */
#define FINEST 1e-14 /* what double precision can reach of the solver's own measure */

talus_status tl_dual_settle(tl_dual_solver *s, talus_error *err)
{
    tl_dual_work *w = s->work;
    const tl_flex *f = s->p->flex;
    tl_csr_mul(s->p->Z, w->p, w->load);
    for (int64_t i = 0; i < w->n; i++) w->load[i] *= s->p->impulse;
    if (s->p->sand) s->p->sand->load(s->p->sand->cones->ctx, w->load);
    if (w->contacts > 0)
        tl_csr_mul(f->Jt, w->lam, w->r);
    else
        memset(w->r, 0, sizeof *w->r * (size_t)w->n);
    for (int64_t i = 0; i < w->n; i++) w->r[i] += w->load[i] - (i < f->n ? f->g[i] : 0);
    return tl_flex_factor_solve(f, w->r, w->dv, err);
}

double tl_dual_noise(const tl_dual_solver *s) { return ROUNDING * tl_max_abs(s->p->faces, s->p->u) / s->p->spacing; }

void tl_dual_outflow(tl_dual_solver *s, double *g)
{
    tl_dual_work *w = s->work;
    s->p->field(s->p->ctx, g);
    for (int32_t i = 0; i < w->cells; i++) g[i] += s->p->outflow[i];
    tl_csr_mul_add(s->p->Zt, 1, w->dv, g);
}

void tl_dual_pose(tl_dual_solver *s, int32_t normals)
{
    tl_dual_work *w = s->work;
    const tl_dual *p = s->p;
    const tl_pressure *problem = &w->problem[normals > 0];
    memcpy(w->x0, w->p, sizeof *w->x0 * (size_t)w->cells);
    for (int32_t j = 0; j < normals; j++) w->x0[w->cells + j] = w->lam[3 * (int64_t)j] / w->scale[j];
    memcpy(w->x, w->x0, sizeof *w->x * ((size_t)w->cells + (size_t)normals));
    tl_dual_outflow(s, w->gap);
    tl_pressure_product(problem, w->x0, w->b);
    for (int32_t i = 0; i < w->cells; i++) w->b[i] -= p->per_g * w->gap[i];
    if (normals) {
        tl_csr_mul(p->flex->J, w->dv, w->u);
        for (int32_t j = 0; j < normals; j++)
            w->b[w->cells + j] -= p->per_u * w->scale[j] * (w->u[3 * (int64_t)j] + p->flex->c[3 * (int64_t)j]);
    }
    w->b_pressure = fmax(fmax(w->b_pressure, tl_dual_noise(s)), tl_max_abs(w->cells, w->b) / p->per_g);
}

/* Gradient of an unknown at p, lam and dv as they are, tl_dual_pose having been there. */
double tl_dual_gradient(const tl_dual_solver *s, int32_t i)
{
    const tl_dual_work *w = s->work;
    if (i < w->cells) return s->p->per_g * w->gap[i];
    const int32_t j = i - w->cells;
    return s->p->per_u * w->scale[j] * (w->u[3 * (int64_t)j] + s->p->flex->c[3 * (int64_t)j]);
}

double tl_dual_left(const tl_dual_solver *s, int32_t normals)
{
    const tl_dual_work *w = s->work;
    double max = 0;
    for (int32_t i = 0; i < w->cells + normals; i++) {
        const double g = tl_dual_gradient(s, i);
        const bool bounded = i >= w->cells || s->p->pressure.unilateral;
        const double e = bounded && !(w->x0[i] > 0) ? fmin(g, 0) : g;
        max = fabs(e) > max || isnan(e) ? fabs(e) : max;
    }
    return max / (s->p->per_g * w->b_pressure);
}

talus_status tl_dual_take(tl_dual_solver *s, int32_t normals, talus_error *err)
{
    tl_dual_work *w = s->work;
    s->started = true;
    for (int32_t i = 0; i < w->cells; i++) {
        w->p[i] = w->x[i];
        w->x0[i] = w->x[i] - w->x0[i];
    }
    w->dp = tl_max_abs(w->cells, w->x0);
    s->p->push(s->p->ctx, w->x0);
    for (int32_t j = 0; j < normals; j++) w->lam[3 * (int64_t)j] = w->scale[j] * w->x[w->cells + j];
    return tl_dual_settle(s, err);
}

static talus_status run_pressure(tl_dual_solver *s, int32_t normals, tl_dual_report *out, talus_error *err)
{
    tl_dual_work *w = s->work;
    if (w->cells == 0) return TALUS_OK;
    tl_dual_pose(s, normals);
    /* at less than the target it would change again with each correction of contacts and nodes */
    if (s->solved && tl_dual_left(s, normals) <= s->tolerance) return TALUS_OK;
    s->solved = true;
    double max = tl_max_abs(w->cells + normals, w->b),
           target = TL_DUAL_INNER * s->tolerance * s->p->per_g * w->b_pressure;
    tl_stop stop = {.tolerance = max > 0 ? fmax(target / max, FINEST) : 1,
                    .max_iterations = s->pressure_iterations > 0 ? s->pressure_iterations : ITERATIONS_MAX};
    tl_pressure_report report;
    tl_pressure_plan_start(w->plan[normals > 0], s->started ? TL_PRESSURE_WARM : TL_PRESSURE_NESTED);
    TL_TRY(tl_pressure_run(w->plan[normals > 0], &w->problem[normals > 0], &stop, w->x, s->arena, NULL, &report, err));
    out->pressure_iterations += report.outcome.iterations;
    out->pressure_work.products += report.work.products;
    out->pressure_work.preconds += report.work.preconds;
    out->pressure_work.factorizations += report.work.factorizations;
    return tl_dual_take(s, normals, err);
}

talus_status tl_dual_pressure(tl_dual_solver *s, tl_dual_report *out, talus_error *err)
{
    return run_pressure(s, 0, out, err);
}

talus_status tl_dual_pressure_normal(tl_dual_solver *s, tl_dual_report *out, talus_error *err)
{
    return run_pressure(s, s->work->contacts, out, err);
}

/* The solids with the load of the pressure as given: in g of what deforms, in c for rigid bodies, whose velocities of
 * it are left in w->w. */
static void load_solids(tl_dual_solver *s)
{
    tl_dual_work *w = s->work;
    const tl_flex *f = s->p->flex;
    for (int64_t i = 0; i < f->n; i++) s->g[i] = f->g[i] - w->load[i];
    memset(w->w, 0, sizeof *w->w * (size_t)f->n);
    memcpy(w->w + f->n, w->load + f->n, sizeof *w->w * (size_t)(w->n - f->n));
    tl_flex_rigid_inverse(f, w->w);
    if (!w->contacts) return;
    tl_csr_mul(f->J, w->w, s->c);
    for (int64_t k = 0; k < 3 * (int64_t)w->contacts; k++) s->c[k] += f->c[k];
}

talus_status tl_dual_contact(tl_dual_solver *s, tl_dual_report *out, talus_error *err)
{
    tl_dual_work *w = s->work;
    const tl_flex *f = s->p->flex;
    tl_flex_report report;
    if (!w->contacts) return TALUS_OK;
    load_solids(s);
    const tl_stop stop = {.tolerance = s->slack, .max_iterations = s->contact_iterations};
    TL_TRY(tl_flex_solve(s->contact, w->fresh, false, &stop, w->lam, w->dv, &report, err));
    w->fresh = false;
    for (int64_t i = f->n; i < w->n; i++) w->dv[i] += w->w[i];
    out->contact_iterations += report.outcome.iterations;
    out->contact_work.products += report.work.products;
    out->contact_work.factorizations += report.work.factorizations;
    out->contact_work.projections += report.work.projections;
    out->contact_work.outer += report.work.outer;
    out->prepare += report.prepare;
    return TALUS_OK;
}

/* At p, lam and dv as they are. */
talus_status tl_dual_certify(tl_dual_solver *s, tl_dual_certificate *out, talus_error *err)
{
    tl_dual_work *w = s->work;
    const tl_flex *f = s->p->flex;
    *out = (tl_dual_certificate){0};
    double max = 0;
    tl_dual_outflow(s, w->gap);
    for (int32_t i = 0; i < w->cells; i++) {
        double d = w->d[i] / s->p->per_g;
        double e = fabs(s->p->pressure.unilateral ? fmin(d * w->p[i], w->gap[i]) : w->gap[i]);
        max = e > max || isnan(e) ? e : max;
    }
    out->pressure = w->b_pressure > 0 ? max / w->b_pressure : max;
    if (s->p->sand) TL_TRY(tl_cones_error(s->p->sand->cones, w->p, s->arena, &out->stress, err));
    if (s->p->viscous) out->stress = tl_dual_viscous_error(s);
    load_solids(s);
    for (int64_t i = f->n; i < w->n; i++) w->dv[i] -= w->w[i];
    talus_status status = tl_flex_certify(s->contact->p, w->lam, w->dv, &out->solids, s->arena, err);
    for (int64_t i = f->n; i < w->n; i++) w->dv[i] += w->w[i];
    return status;
}
