/* The blocks of schemes. */
#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "base/sum.h"
#include "base/timer.h"
#include "solve/coupled/work.h"

#define TANGENT_SWEEPS 200  /* per block; each costs one pass over the contacts */
#define ITERATIONS_MAX 1000 /* of one pressure solve: ten times what hard ones take with mic */
#define FINEST 1e-14        /* what double precision can reach of the solver's own measure */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a coupled solve");
}

static talus_status run_pressure(tl_coupled *c, int32_t normals, tl_scheme_report *out, talus_error *err)
{
    tl_coupled_work *w = c->work;
    double begin = tl_seconds();
    tl_pressure *problem = normals ? &w->with_normals : &w->alone;
    tl_pressure_plan *plan = normals ? w->plan_with_normals : w->plan_alone;
    if (w->all + normals == 0) return TALUS_OK;
    memcpy(w->x0, c->p, sizeof *w->x0 * (size_t)w->n);
    for (int32_t j = 0; j < normals; j++) w->x0[w->n + j] = c->lam[3 * (int64_t)j] / w->scale[j];
    memcpy(w->x, w->x0, sizeof *w->x * ((size_t)w->n + (size_t)normals));
    c->gradient(c->ctx, w->g);
    tl_pressure_refresh(problem, w->x0);
    tl_pressure_product(problem, w->x0, w->b);
    for (int32_t i = 0; i < w->n; i++) w->b[i] -= c->per_g * w->g[i];
    if (normals) {
        tl_csr_mul(c->bodies.J, c->v, w->q);
        for (int32_t j = 0; j < normals; j++)
            w->b[w->n + j] -= c->per_u * w->scale[j] * (w->q[3 * (int64_t)j] + c->bias[3 * (int64_t)j]);
    }
    double max = tl_coupled_max(c, tl_max_abs(w->n + normals, w->b));
    w->b_pressure = fmax(w->b_pressure, tl_coupled_max(c, tl_max_abs(w->n, w->b)) / c->per_g);
    double target = TL_COUPLED_INNER * c->tolerance * c->per_g * w->b_pressure;
    tl_stop stop = {.tolerance = max > 0 ? fmax(target / max, FINEST) : 1,
                    .max_iterations = c->pressure_iterations > 0 ? c->pressure_iterations : ITERATIONS_MAX};
    tl_pressure_report report;
    tl_pressure_plan_start(plan, w->started ? TL_PRESSURE_WARM : TL_PRESSURE_NESTED);
    TL_TRY(tl_pressure_run(plan, problem, &stop, w->x, c->arena, c->history, &report, err));
    w->started = true;
    memcpy(c->p, w->x, sizeof *c->p * (size_t)w->n);
    for (int32_t i = 0; i < w->n; i++) w->x0[i] = w->x[i] - w->x0[i];
    w->dp = tl_coupled_max(c, tl_max_abs(w->n, w->x0));
    tl_coupled_push(c, w->x0);
    if (normals) {
        memset(w->dl, 0, sizeof *w->dl * 3 * (size_t)normals);
        for (int32_t j = 0; j < normals; j++) {
            double l = w->scale[j] * w->x[w->n + j];
            w->dl[3 * (int64_t)j] = l - c->lam[3 * (int64_t)j];
            c->lam[3 * (int64_t)j] = l;
        }
        tl_coupled_push_contacts(c, w->dl);
    }
    out->pressure_iterations += report.outcome.iterations;
    out->pressure_work.products += report.work.products;
    out->pressure_work.preconds += report.work.preconds;
    out->pressure_work.factorizations += report.work.factorizations;
    out->pressure_method = report.method;
    out->pressure_seconds += tl_seconds() - begin;
    return TALUS_OK;
}

talus_status tl_coupled_pressure(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    return c->viscous ? tl_coupled_run_viscous(c, out, err) : run_pressure(c, 0, out, err);
}

talus_status tl_coupled_pressure_normal(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    return run_pressure(c, c->work->points, out, err);
}

/* Without p there are no cones: the first sweep of a cold start has no s, and what has come apart since the last
 * step loses what it had. */
talus_status tl_coupled_stress(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    tl_coupled_work *w = c->work;
    double begin = tl_seconds();
    tl_cones_report report;
    if (!c->cones) return TALUS_OK;
    if (!(tl_coupled_max(c, tl_max_abs(w->n, c->p)) > 0)) {
        w->ds = tl_cones_drop(c->cones);
        return TALUS_OK;
    }
    TL_TRY(tl_cones_solve(c->cones, c->p, TL_COUPLED_INNER * c->tolerance, c->arena, &report, err));
    w->ds = report.change;
    out->stress_iterations += report.outcome.iterations;
    out->stress_work.products += report.work.products;
    out->stress_work.projections += report.work.projections;
    out->stress_seconds += tl_seconds() - begin;
    return TALUS_OK;
}

/* Largest change of p and s in the last blocks, over the largest p. */
double tl_coupled_changed(const tl_coupled *c)
{
    double max = tl_coupled_max(c, tl_max_abs(c->work->n, c->p));
    return max > 0 ? fmax(c->work->dp, c->work->ds) / max : 0;
}

/* Staggered projections without contacts, for schemes that do these once. */
talus_status tl_coupled_pressure_stress(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    if (c->work->held) {
        tl_coupled_push(c, c->p);
        c->cones->push(c->cones->ctx, c->cones->s);
    }
    c->work->held = false;
    int max = c->sweeps > 0 ? c->sweeps : TL_COUPLED_CONE_SWEEPS;
    for (int k = 0; k < max && (k == 0 || tl_coupled_changed(c) > c->tolerance); k++) {
        TL_TRY(tl_cancel_check(err));
        TL_TRY(tl_coupled_stress(c, out, err));
        TL_TRY(tl_coupled_pressure(c, out, err));
    }
    return TALUS_OK;
}

/* Fastest that contacts close without forces, m/s: open gaps are part of q. */
static double approach(const tl_coupled_work *w)
{
    double max = 0;
    for (int32_t j = 0; j < w->points; j++) max = fmax(max, -w->q[3 * (int64_t)j]);
    return max;
}

/* Contacts that stop at their own target leave pressures where they are, just above theirs; with cones sweeps are
 * mixed over both. */
static double contact_target(const tl_coupled *c)
{
    const tl_coupled_work *w = c->work;
    const double of = TL_COUPLED_INNER * c->tolerance;
    double target = c->contact_tolerance;
    if (c->cones) return target;
    if (w->points) target = fmin(target, of * w->b_normal);
    if (w->m > w->points) target = fmin(target, of * w->b_joint);
    return target;
}

/* Contacts with the friction coefficients `mu` at frozen pressure; l [3m] start in, answer out, already part of v. */
static talus_status run_contact(tl_coupled *c, const double *mu, double *l, tl_scheme_report *out, talus_error *err)
{
    tl_coupled_work *w = c->work;
    double begin = tl_seconds();
    for (int32_t k = 0; k < 3 * w->m; k++) w->dl[k] = -l[k];
    tl_coupled_push_contacts(c, w->dl);
    memcpy(w->base, c->v, sizeof *w->base * 6 * (size_t)w->bodies);
    tl_contact_free_velocity(&w->free_bodies, c->bias, w->q);
    w->b_normal = fmax(w->b_normal, approach(w));
    w->b_joint = fmax(w->b_joint, tl_coupled_largest_row(w->q + 3 * (int64_t)w->points, w->m - w->points, 0, 2));
    w->contact.mu = mu;
    tl_stop stop = {.tolerance = contact_target(c), .max_iterations = c->contact_iterations};
    tl_options options = tl_options_default();
    options.history = c->history ? c->history + 1 : NULL;
    tl_contact_report report;
    TL_TRY(tl_contact_solve(c->contact_method, &w->contact, &options, &stop, l, c->arena, &report, err));
    tl_coupled_push_contacts(c, l);
    out->contact_iterations += report.outcome.iterations;
    out->contact_work.products += report.work.products;
    out->contact_work.factorizations += report.work.factorizations;
    out->contact_seconds += tl_seconds() - begin;
    return TALUS_OK;
}

talus_status tl_coupled_contact(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    return run_contact(c, c->contact.mu, c->lam, out, err);
}

talus_status tl_coupled_normal(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    tl_coupled_work *w = c->work;
    const int64_t points = 3 * (int64_t)w->points, joints = 3 * (int64_t)w->m - points;
    for (int32_t j = 0; j < w->points; j++) {
        w->l[3 * (int64_t)j] = c->lam[3 * (int64_t)j];
        w->l[3 * (int64_t)j + 1] = w->l[3 * (int64_t)j + 2] = 0;
    }
    memcpy(w->l + points, c->lam + points, sizeof *w->l * (size_t)joints);
    TL_TRY(run_contact(c, w->no_friction, w->l, out, err));
    for (int32_t j = 0; j < w->points; j++) c->lam[3 * (int64_t)j] = w->l[3 * (int64_t)j];
    memcpy(c->lam + points, w->l + points, sizeof *w->l * (size_t)joints);
    return TALUS_OK;
}

/* Friction at frozen normal forces: Gauss-Seidel with the exact disc. [grid-granular spec 4: 1e-9 after 50 sweeps] */
talus_status tl_coupled_tangent(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    tl_coupled_work *w = c->work;
    double begin = tl_seconds(), *dv = w->pairs.contacts ? TL_TAKE(c->arena, double, tl_pairs_lanes(&w->pairs)) : NULL;
    if (!dv) return w->pairs.contacts ? no_memory(err) : TALUS_OK;
    memset(dv, 0, sizeof *dv * (size_t)tl_pairs_lanes(&w->pairs));
    memset(w->dl, 0, sizeof *w->dl * 3 * (size_t)w->m);
    tl_csr_mul(c->bodies.J, c->v, w->q);
    for (int32_t j = 0; j < w->points; j++)
        for (int k = 0; k < 3; k++) w->pairs.pair[j].q[k] = w->q[3 * (int64_t)j + k];
    const double enough = 0.1 * TL_COUPLED_INNER * c->tolerance * fmax(w->b_tangent, TL_COUPLED_REST * w->b_normal);
    double max = INFINITY;
    for (int sweep = 0; sweep < TANGENT_SWEEPS && max > enough; sweep++) {
        max = 0;
        for (int32_t j = 0; j < w->points; j++) {
            const tl_pair *p = &w->pairs.pair[j];
            double u[3], *l = c->lam + 3 * (int64_t)j;
            tl_pair_velocity(p, dv, u);
            double t[2] = {l[1] - p->w_t * u[1], l[2] - p->w_t * u[2]};
            tl_project_disc(c->contact.mu[j] * fmax(l[0], 0), t);
            double d[3] = {0, t[0] - l[1], t[1] - l[2]};
            max = fmax(max, hypot(d[1], d[2]) / p->w_t);
            for (int k = 1; k < 3; k++) {
                w->dl[3 * (int64_t)j + k] += d[k];
                l[k] += d[k];
            }
            tl_pair_push(p, d, dv);
        }
        out->contact_iterations++;
        out->contact_work.products++;
    }
    tl_coupled_push_contacts(c, w->dl);
    out->contact_seconds += tl_seconds() - begin;
    return TALUS_OK;
}

/* Friction that the normal forces of the end do not carry. */
void tl_coupled_clip_tangent(tl_coupled *c)
{
    tl_coupled_work *w = c->work;
    bool any = false;
    memset(w->dl, 0, sizeof *w->dl * 3 * (size_t)w->m);
    for (int32_t j = 0; j < w->points; j++) {
        double *l = c->lam + 3 * (int64_t)j, t[2] = {l[1], l[2]};
        tl_project_disc(c->contact.mu[j] * fmax(l[0], 0), t);
        for (int k = 0; k < 2; k++) {
            w->dl[3 * (int64_t)j + 1 + k] = t[k] - l[1 + k];
            any = any || t[k] != l[1 + k];
            l[1 + k] = t[k];
        }
    }
    if (any) tl_coupled_push_contacts(c, w->dl);
}
