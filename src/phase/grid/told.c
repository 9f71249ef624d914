/* What a step in which something flows tells: forces on bodies, solves, phases. */
#include <math.h>
#include <string.h>

#include "model/grid/rules.h"
#include "phase/grid/trial.h"

const char *const tl_grid_phase_names[TL_GRID_PHASES] = {
    "particles to grid", "domains",        "system",          "solve",
    "extend velocities", "move particles", "correct density", "measure"};

static void add_hits(const tl_grid_trial *s, double *to)
{
    for (int64_t k = 0; k < 6 * (int64_t)s->sim->rigid.count; k++) to[k] += s->hits[k] / s->f.dt;
}

talus_status tl_grid_load_bodies(tl_grid_trial *s, talus_error *err)
{
    TL_TRY(tl_rule_load_static_bodies(&s->f, s->fluid, err));
    add_hits(s, s->fluid);
    if (!s->data->flow.alpha) return TALUS_OK;
    if (!s->data->flow.liquid_too) {
        memcpy(s->sand, s->fluid, 6 * sizeof *s->sand * (size_t)s->sim->rigid.count);
        return TALUS_OK;
    }
    tl_flow sand = s->f;
    const int32_t cells = s->f.system.c.cells;
    double *p = TL_TAKE(s->arena, double, cells);
    if (!p) return tl_grid_no_memory(err);
    for (int32_t i = 0; i < cells; i++) p[i] = s->friction.own[i] > 0 ? s->f.p[i] : 0;
    sand.p = p;
    tl_stress_solid_forces(&s->f.system.stress, &s->f.system.c, p, s->f.stress, s->sand);
    if (s->soft) TL_TRY(tl_wet_sand(s->wet, p, s->sand, err));
    TL_TRY(tl_rule_load_static_bodies(&sand, s->sand, err));
    add_hits(s, s->sand);
    return TALUS_OK;
}

static tl_report_solve told(const char *name, const char *method, int iterations, double certificate, double target,
                            tl_work work)
{
    const char *outcome = tl_result_name(certificate <= target ? TL_CONVERGED : TL_OUT_OF_ITERATIONS);
    return (tl_report_solve){name, method, outcome, iterations, certificate, target, work};
}

static void report_statics(const tl_grid_trial *s, tl_report *r)
{
    if (!s->statics.t) return;
    r->solve[r->solves] =
        told("static_stress", "least-energy", s->statics.evaluations, s->statics.distance, 1, (tl_work){0});
    r->solve[r->solves++].outcome = tl_result_name(TL_CONVERGED);
}

/* Of sand: solved, or settled; the lesser of the two stops the sweeps and judges them. What is selected at rest acts
 * in the next step, so that this is a finding and no target to be missed. */
static void report_solves(const tl_grid_trial *s, tl_report *r)
{
    const tl_scheme_report *c = &s->solved;
    const tl_coupled_certificate *q = &c->certificate;
    const double target = s->scene->solver.tolerance, off = s->b.joint.missed / s->b.tolerance;
    const double joint = fmax(q->joint, off > 1 ? off * target : 0), contact = fmax(fmax(q->normal, q->tangent), joint);
    r->solve[r->solves++] = told("pressure", c->pressure_method, c->pressure_iterations, fmin(q->pressure, c->settled),
                                 target, c->pressure_work);
    r->solve[r->solves++] =
        told("contact", tl_scheme_name(c->scheme), c->contact_iterations, contact, target, c->contact_work);
    if (s->f.stress)
        r->solve[r->solves++] = told("stress", s->data->friction->name, c->stress_iterations,
                                     fmin(q->stress, c->settled), target, c->stress_work);
    if (s->f.system.viscous.s)
        r->solve[r->solves++] =
            told("stress", c->pressure_method, c->stress_iterations, q->stress, target, c->stress_work);
    report_statics(s, r);
}

static void report_elastic(const tl_grid_trial *s, tl_report *r)
{
    const tl_elastic_trial *e = s->soft;
    const tl_dual_report *d = &s->wet->solved;
    const double target = s->scene->solver.tolerance, settled = s->f.stress ? d->settled : INFINITY;
    r->elastic = e->energy;
    r->sweeps = d->sweeps;
    r->solve[r->solves++] = told("pressure", tl_pressure_method_name(s->data->method), d->pressure_iterations,
                                 fmin(d->certificate.pressure, settled), target, d->pressure_work);
    r->unknowns = d->unknowns;
    r->nonzeros = d->nonzeros;
    if (s->f.stress)
        r->solve[r->solves++] = told("stress", s->data->friction->name, d->stress_iterations,
                                     fmin(d->certificate.stress, settled), target, d->stress_work);
    if (s->wet->viscous.ctx) {
        r->solve[r->solves - 1].method = "viscous-multigrid";
        r->solve[r->solves++] =
            told("stress", "viscous-multigrid", d->pressure_iterations, d->certificate.stress, target, (tl_work){0});
    }
    report_statics(s, r);
    r->solve[r->solves] =
        (tl_report_solve){.name = "elastic",
                          .method = tl_dual_scheme_name(s->data->dual),
                          .outcome = tl_result_name(e->converged ? TL_CONVERGED : TL_OUT_OF_ITERATIONS),
                          .iterations = e->iterations,
                          .certificate = e->correction,
                          .target = e->tolerance,
                          .work = {.factorizations = e->factors, .products = e->iterations}};
    r->solves++;
    tl_bodies_measure_nodes(&s->b, e->x_end, e->v_end, e->v_end, r);
    tl_elastic_report_contacts(e, r);
}

void tl_grid_fill_report(tl_grid_trial *s)
{
    tl_report *r = &s->sim->report;
    *r = (tl_report){.sweeps = s->solved.sweeps, .compression = NAN};
    tl_bodies_report(&s->b, r);
    for (int k = 0; k < TL_GRID_PHASES; k++)
        r->phase[r->phases++] = (tl_report_phase){tl_grid_phase_names[k], s->spent[k].seconds, s->spent[k].cpu};
    if (s->soft)
        report_elastic(s, r);
    else
        report_solves(s, r);
    tl_flow_report(&s->f, &s->measured, &s->totals, s->emitter, s->liquid_volume, r);
}
