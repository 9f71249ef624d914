#include "phase/lg/step.h"

#include <math.h>

#include "model/lg/holds.h"
#include "solve/outcome.h"

static const char *const phase_names[TL_LG_PHASES] = {"predict", "detect",       "assemble",      "project",
                                                      "balance", "solve global", "solve contact", "measure"};

/* Contact, and friction where there is any: how well the laws hold, whatever the solver thinks. */
static void report_contacts(const tl_lg_step *s, tl_report *r)
{
    static const char *const laws[] = {"fischer-burmeister", "minimum", "minimum-printed"};
    const tl_lg_laws *l = &s->laws;
    const double target = tl_lg_contact_target(s);
    r->contacts = s->touch.rows.contacts;
    r->touching = l->touching;
    r->penetration = fmax(fmax(s->depth, s->bodies.penetration), l->penetration);
    r->solve[r->solves] =
        (tl_report_solve){.name = "contact",
                          .method = laws[s->scene->lg.ncp],
                          .outcome = tl_result_name(l->normal <= target * s->h ? TL_CONVERGED : TL_BUDGET_SPENT),
                          .iterations = (int)s->touch.steps,
                          .certificate = l->normal / s->h,
                          .target = target,
                          .work = s->touch.work};
    r->solve[r->solves++].work.history = NULL;
    r->solve[r->solves++] =
        (tl_report_solve){.name = "friction",
                          .method = laws[s->scene->lg.ncp],
                          .outcome = tl_result_name(l->friction <= target ? TL_CONVERGED : TL_BUDGET_SPENT),
                          .iterations = (int)s->touch.steps,
                          .certificate = l->friction,
                          .target = target};
}

/* Rows of joints in the last correction, and what places are off by. */
static void report_joints(const tl_lg_step *s, tl_report *r)
{
    const double off = fmax(s->joined->residual, s->bodies.joint.missed), target = tl_lg_contact_target(s);
    r->solve[r->solves++] = (tl_report_solve){.name = "joint",
                                              .method = "newton",
                                              .outcome = tl_result_name(off <= target ? TL_CONVERGED : TL_STALLED),
                                              .iterations = (int)s->touch.steps,
                                              .certificate = off,
                                              .target = target};
}

void tl_lg_fill_report(const tl_lg_step *s)
{
    static const char *const methods[] = {"factor", "inverse", "jacobi"};
    const tl_lg *lg = s->lg;
    tl_report *r = &s->sim->report;
    *r = (tl_report){
        .phases = TL_LG_PHASES, .solves = 1, .force_balance = NAN, .compression = NAN, .elastic = s->elastic};
    for (int k = 0; k < TL_LG_PHASES; k++)
        r->phase[k] = (tl_report_phase){.name = phase_names[k], .seconds = s->seconds[k]};
    double *p = s->trial;
    for (int64_t k = 0; k < 3 * (int64_t)lg->nodes; k++) p[k] = tl_lg_time_momentum(&s->time, s->v, k);
    tl_bodies_measure(&s->bodies, r);
    tl_bodies_measure_nodes(&s->bodies, s->q, s->v, p, r);
    double missing = 0, target = s->time.rests ? tl_lg_static_target(s) : s->scene->solver.tolerance;
    for (int b = 0; b < lg->bodies; b++) missing = fmax(missing, s->missing[b]);
    r->solve[0] = (tl_report_solve){.name = "elastic",
                                    .method = methods[s->scene->lg.global],
                                    .outcome = tl_result_name(missing <= target ? TL_CONVERGED : TL_BUDGET_SPENT),
                                    .iterations = s->rounds,
                                    .certificate = missing,
                                    .target = target};
    r->solve[0].work.products = r->solve[0].work.projections = s->rounds;
    report_contacts(s, r);
    if (s->joined) report_joints(s, r);
}

/* Forces between elastic and other bodies, added to those that rigid ones exert on each other. */
static void sum_contact_forces(const tl_lg_step *s)
{
    for (int32_t c = 0; c < s->touch.rows.soft; c++) {
        const tl_lg_contact *k = &s->contacts.contact[c];
        const tl_lg_link *link = &s->touch.rows.link[c];
        tl_vec3 f = tl_vec3_add_scaled(tl_lg_link_force(link, s->touch.force + 3 * (int64_t)c),
                                       s->touch.landed[c] / s->h, link->axis[0]);
        tl_bodies_add_contact(&s->bodies, k->body_a, k->body_b, k->at, f);
    }
}

/* What anchors, handles, cables and joins did to elastic bodies in this step. */
static void sum_hold_forces(const tl_lg_step *s)
{
    const tl_lg *lg = s->lg;
    const tl_scene *scene = s->scene;
    const tl_lg_rows *r = &s->touch.rows;
    tl_lg_hold *hold = s->now->hold;
    int32_t *nodes = s->hold_nodes;
    const int32_t cable = lg->bodies + scene->handle_count;
    tl_lg_holds_open(s->now, nodes);
    for (int32_t k = 0; k < lg->anchors; k++) {
        const tl_lg_anchor *a = &lg->anchor[k];
        tl_vec3 x = tl_vec3_load(s->q + 3 * (int64_t)a->vertex);
        tl_vec3 pull = tl_vec3_scale(a->weight, tl_vec3_sub(s->target[k], x));
        const double share = a->weight / lg->anchor_weight[a->vertex] / s->h; /* of what inner friction met there */
        pull = tl_vec3_add_scaled(pull, share, tl_vec3_load(s->damped + 3 * (int64_t)a->vertex));
        tl_lg_holds_add(&hold[a->handle], &nodes[a->handle], x, pull);
    }
    for (int32_t b = 0; b < r->bilateral.count; b++) { /* cables first, then three rows per bond */
        const tl_lg_bilateral *row = &r->bilateral.row[b];
        bool pulls = b < scene->cable_count;
        double pull = s->touch.force[3 * (int64_t)r->contacts + b];
        int32_t i = cable + (pulls ? b : scene->cable_count + lg->holds->bond[(b - scene->cable_count) / 3].join);
        if (pulls) hold[i].tension = pull;
        for (int32_t k = row->first; k < row->first + (pulls ? row->count : 1); k++) {
            const tl_lg_term *t = &r->bilateral.term[k];
            tl_lg_holds_add(&hold[i], &nodes[i], tl_vec3_load(s->q + 3 * (int64_t)t->node),
                            tl_vec3_scale(pull, t->along));
        }
    }
    tl_lg_holds_close(s->now, nodes);
}

void tl_lg_sum_forces(const tl_lg_step *s)
{
    sum_contact_forces(s);
    sum_hold_forces(s);
}
