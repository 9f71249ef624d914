/* What a step does with nodes before and after velocities are found: prediction, places, reports, the state. */
#include <math.h>
#include <string.h>

#include "base/timer.h"
#include "model/lg/holds.h"
#include "model/rigid/motion.h"
#include "phase/elastic/trial.h"

#define TOLERANCE_PULL 1e-7   /* of what forces do in a step, g dt: 1e-8 m/s at 10 ms */
#define TOLERANCE_PLACE 1e-11 /* of the smallest extent, per step: rounding of elastic forces, where nothing pulls */
#define TOLERANCE_SPEED 1e-6  /* of the fastest node or body */

talus_status tl_elastic_no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a step of elastic bodies");
}

void tl_elastic_lap(tl_elastic_trial *s, tl_elastic_phase phase)
{
    double now = tl_seconds();
    s->seconds[phase] += now - s->mark;
    s->mark = now;
}

/* ---- predict ---- */

talus_status tl_elastic_begin_trial(tl_elastic_trial *s, tl_sim *sim, tl_elastic_data *data, tl_bodies *bodies,
                                    double dt, talus_error *err)
{
    tl_arena *a = &sim->arena;
    const int64_t n = 3 * (int64_t)sim->lg.nodes;
    *s = (tl_elastic_trial){.sim = sim,
                            .scene = sim->scene,
                            .lg = &sim->lg,
                            .data = data,
                            .fem = &data->fem,
                            .arena = a,
                            .bodies = bodies,
                            .h = dt,
                            .mark = tl_seconds()};
    double **const of_nodes[] = {&s->v_star, &s->x_star, &s->v,       &s->x,     &s->force, &s->g,
                                 &s->dv,     &s->trial,  &s->x_trial, &s->x_end, &s->v_end};
    for (size_t k = 0; k < sizeof of_nodes / sizeof *of_nodes; k++)
        if (!(*of_nodes[k] = TL_TAKE_ZERO(a, double, n))) return tl_elastic_no_memory(err);
    s->target = TL_TAKE(a, tl_vec3, s->lg->anchors + 1);
    s->source = TL_TAKE(a, tl_vec3, s->lg->anchors + 1);
    s->spring = TL_TAKE(a, tl_vec3, s->lg->anchors + 1);
    s->asked = TL_TAKE_ZERO(a, tl_vec3, s->lg->anchors + 1);
    s->reaction = TL_TAKE_ZERO(a, tl_vec3, s->lg->anchors + 1);
    s->he = TL_TAKE(a, double, s->fem->bodies + 1);
    s->v_rigid = TL_TAKE(a, double, 6 * (int64_t)sim->rigid.count + 1);
    s->scratch = TL_TAKE(a, double, tl_fem_scratch(s->fem));
    s->modes = TL_TAKE(a, tl_stable_modes, s->fem->elements + 1);
    s->now = tl_lg_state_of(&sim->state);
    s->hold_nodes = TL_TAKE(a, int32_t, s->now->holds + 1);
    if (!s->target || !s->source || !s->spring || !s->asked || !s->reaction || !s->hold_nodes || !s->he ||
        !s->v_rigid || !s->scratch || !s->modes)
        return tl_elastic_no_memory(err);
    s->rate = (tl_fem_rate){.from = s->now->q, .h = s->he};
    return TALUS_OK;
}

/* Force and torque on an elastic body, from the scene and from code, as accelerations of its nodes: a + alpha x (x -
 * centre); forces on single nodes, from code. */
static talus_status push_body(tl_elastic_trial *s, int b, talus_error *err)
{
    const tl_lg_body *body = &s->lg->body[b];
    const tl_lg_state *now = s->now;
    const tl_motion *m = &s->bodies->before[body->body];
    const tl_body *asked = &s->scene->bodies[body->body];
    double f[3], t[3];
    TL_TRY(tl_scene_timed(s->scene, &asked->force, s->sim->state.t, f, 3, err));
    TL_TRY(tl_scene_timed(s->scene, &asked->torque, s->sim->state.t, t, 3, err));
    tl_vec3 force = tl_vec3_add(m->force, tl_vec3_load(f)), torque = tl_vec3_add(m->torque, tl_vec3_load(t)),
            c = {0, 0, 0};
    double mass = 0;
    for (int32_t i = body->node; i < body->node + body->nodes; i++) {
        mass += s->lg->mass[i];
        c = tl_vec3_add_scaled(c, s->lg->mass[i], tl_vec3_load(now->q + 3 * (int64_t)i));
    }
    c = tl_vec3_scale(1 / mass, c);
    tl_vec3 alpha = {0, 0, 0};
    if (tl_vec3_norm(torque) > 0) {
        tl_mat3 I = tl_mat3_zero(), inverse;
        for (int32_t i = body->node; i < body->node + body->nodes; i++) {
            tl_vec3 r = tl_vec3_sub(tl_vec3_load(now->q + 3 * (int64_t)i), c);
            tl_mat3 square = tl_mat3_sub(tl_mat3_scale(tl_vec3_norm2(r), tl_mat3_identity()), tl_mat3_outer(r, r));
            I = tl_mat3_add_scaled(I, s->lg->mass[i], square);
        }
        if (tl_mat3_inverse(I, &inverse)) alpha = tl_mat3_mul_vec(inverse, torque);
    }
    tl_vec3 a = tl_vec3_add_scaled(s->scene->gravity, 1 / mass, force);
    for (int32_t i = body->node; i < body->node + body->nodes; i++) {
        tl_vec3 r = tl_vec3_sub(tl_vec3_load(now->q + 3 * (int64_t)i), c);
        tl_vec3 v = tl_vec3_load(now->v + 3 * (int64_t)i), all = tl_vec3_add(a, tl_vec3_cross(alpha, r));
        all = tl_vec3_add_scaled(all, 1 / s->lg->mass[i], tl_vec3_load(now->push + 3 * (int64_t)i));
        tl_vec3_store(tl_vec3_add_scaled(v, s->h, all), s->v_star + 3 * (int64_t)i);
    }
    return TALUS_OK;
}

/* Velocities of held nodes lead to where they have to be. */
void tl_elastic_lead_held(const tl_elastic_trial *s, double *v)
{
    const double *from = s->now->q;
    for (int32_t k = 0; k < s->lg->anchors; k++) {
        if (!s->fem->is_held[k]) continue;
        const double t[3] = {s->target[k].x, s->target[k].y, s->target[k].z};
        for (int64_t c = 0, i = 3 * (int64_t)s->lg->anchor[k].vertex; c < 3; c++)
            v[i + c] = (t[c] - from[i + c]) / s->h;
    }
}

/* What pushes held nodes goes into what holds them: v* of push_body is about to be overwritten. */
static void keep_asked(tl_elastic_trial *s)
{
    for (int32_t k = 0; k < s->lg->anchors; k++) {
        if (!tl_elastic_leads(s, k)) continue;
        const int32_t i = s->lg->anchor[k].vertex;
        tl_vec3 dv = tl_vec3_sub(tl_vec3_load(s->v_star + 3 * (int64_t)i), tl_vec3_load(s->now->v + 3 * (int64_t)i));
        s->asked[k] = tl_vec3_scale(s->lg->mass[i], tl_vec3_add_scaled(dv, -s->h, s->scene->gravity));
    }
}

/* Functions of time are read here and nowhere else. */
talus_status tl_elastic_predict(tl_elastic_trial *s, talus_error *err)
{
    const tl_lg_state *now = s->now;
    const int64_t n = 3 * (int64_t)s->lg->nodes;
    tl_pose *handle = TL_TAKE(s->arena, tl_pose, s->lg->handles + 1);
    if (!handle) return tl_elastic_no_memory(err);
    TL_TRY(tl_lg_handle_poses(s->lg, s->scene, s->sim->state.t + s->h, handle, err));
    tl_lg_lead(now, true, handle);
    tl_lg_targets(s->lg, handle, s->target);
    TL_TRY(tl_lg_handle_poses(s->lg, s->scene, s->sim->state.t, handle, err));
    tl_lg_lead(now, false, handle);
    tl_lg_targets(s->lg, handle, s->source);
    for (int b = 0; b < s->lg->bodies; b++) TL_TRY(push_body(s, b, err));
    keep_asked(s);
    tl_elastic_lead_held(s, s->v_star);
    memcpy(s->v, now->v, sizeof *s->v * (size_t)n);
    tl_elastic_lead_held(s, s->v);
    for (int64_t i = 0; i < n; i++) s->x_star[i] = now->q[i] + s->h * s->v_star[i];
    double fastest2 = 0, pull2 = 0;
    for (int32_t i = 0; i < s->lg->nodes; i++) {
        const tl_vec3 v = tl_vec3_load(now->v + 3 * (int64_t)i), star = tl_vec3_load(s->v_star + 3 * (int64_t)i);
        fastest2 = fmax(fastest2, tl_vec3_norm2(v));
        pull2 = fmax(pull2, tl_vec3_norm2(tl_vec3_sub(star, v)));
    }
    for (int32_t i = 0; i < s->sim->rigid.count; i++) fastest2 = fmax(fastest2, tl_vec3_norm2(s->bodies->before[i].v));
    s->pull = fmax(sqrt(pull2), s->bodies->pull);
    const double least = fmax(TOLERANCE_PULL * s->pull, TOLERANCE_PLACE * s->bodies->data->extent / s->h);
    double asked = s->scene->solver.contact.tolerance;
    s->tolerance = asked > 0 ? asked : fmax(least, TOLERANCE_SPEED * sqrt(fastest2));
    memcpy(s->v_rigid, s->bodies->v_free, sizeof *s->v_rigid * 6 * (size_t)s->sim->rigid.count);
    tl_elastic_lap(s, TL_ELASTIC_PREDICT);
    return TALUS_OK;
}

/* ---- the end ---- */

void tl_elastic_end_nodes(tl_elastic_trial *s)
{
    const tl_lg_state *now = s->now;
    for (int b = 0; b < s->fem->bodies; b++) {
        const tl_fem_body *body = &s->fem->body[b];
        bool middle = s->he[b] < s->h;
        for (int32_t i = body->node; i < body->node + body->nodes; i++)
            for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3; k++) {
                s->x_end[k] = now->q[k] + s->h * s->v[k];
                s->v_end[k] = middle && s->fem->place[i] >= 0 ? 2 * s->v[k] - now->v[k] : s->v[k];
            }
    }
    s->energy =
        tl_fem_forces(s->fem, s->x_end, NULL, NULL, s->scratch) + tl_elastic_springs(s, s->x_end, s->target, NULL);
}

void tl_elastic_report_contacts(const tl_elastic_trial *s, tl_report *r)
{
    r->contacts = s->rows.contacts;
    for (int64_t k = 0; k < s->rows.contacts; k++) r->touching += s->lam[3 * k] > 0;
    r->penetration = fmax(s->depth, s->bodies->penetration);
    for (int32_t k = s->contacts.shapes; k < s->rows.soft; k++)
        if (s->lam[3 * (int64_t)k] > 0) r->penetration = fmax(r->penetration, -s->h * s->u[3 * (int64_t)k]);
    const double contact = fmax(s->contact, fmax(s->bodies->joint.missed, s->stopped));
    /* solved to a share of the target, judged by the target */
    const char *method = s->flex.law == TL_FLEX_PYRAMID ? "pgs-pyramid-dense" : "newton-dense";
    tl_result result = contact <= s->tolerance ? TL_CONVERGED : s->solved.outcome.result;
    r->solve[r->solves] = (tl_report_solve){
        .name = "contact",
        .method = s->data->schur ? method : s->data->route->name,
        .outcome = tl_result_name(result == TL_CONVERGED && !(contact <= s->tolerance) ? TL_STALLED : result),
        .iterations = s->contact_iterations,
        .certificate = contact,
        .target = s->tolerance,
        .work = s->work};
    r->solve[r->solves++].work.history = NULL;
}

/* Forces between elastic and other bodies, added to those that rigid ones exert on each other. */
/* Forces between elastic and other bodies, added to those that rigid ones exert on each other. */
static void sum_contacts(const tl_elastic_trial *s)
{
    for (int32_t c = 0; c < s->rows.soft; c++) {
        const tl_lg_contact *k = &s->contacts.contact[c];
        tl_vec3 f = tl_vec3_scale(1 / s->h, tl_fem_link_force(&s->rows.link[c], s->lam + 3 * (int64_t)c));
        tl_bodies_add_contact(s->bodies, k->body_a, k->body_b, k->at, f);
    }
}

/* Bodies' tables show the centre of mass of an elastic body. */
void tl_elastic_place_bodies(const tl_elastic_trial *s)
{
    const tl_lg *lg = s->lg;
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        tl_motion *m = &s->bodies->body[body->body];
        tl_vec3 x = {0, 0, 0}, v = {0, 0, 0};
        for (int32_t i = body->node; i < body->node + body->nodes; i++) {
            x = tl_vec3_add_scaled(x, lg->mass[i] / body->mass, tl_vec3_load(s->x_end + 3 * (int64_t)i));
            v = tl_vec3_add_scaled(v, lg->mass[i] / body->mass, tl_vec3_load(s->v_end + 3 * (int64_t)i));
        }
        m->x = x;
        m->v = v;
    }
}

/* What anchors and handles did in this step; levers are those of stresses, places those of the end. */
static void sum_holds(const tl_elastic_trial *s)
{
    tl_lg_state *to = s->now;
    tl_lg_holds_open(to, s->hold_nodes);
    for (int32_t k = 0; k < s->lg->anchors; k++) {
        const tl_lg_anchor *a = &s->lg->anchor[k];
        tl_lg_holds_add(&to->hold[a->handle], &s->hold_nodes[a->handle], tl_vec3_load(s->x + 3 * (int64_t)a->vertex),
                        tl_vec3_scale(1 / s->h, s->reaction[k]));
    }
    tl_lg_holds_close(to, s->hold_nodes);
}

void tl_elastic_commit(tl_elastic_trial *s)
{
    tl_lg_state *to = s->now;
    sum_holds(s);
    sum_contacts(s);
    tl_lg_led(to);
    memcpy(to->q, s->x_end, sizeof *to->q * 3 * (size_t)s->lg->nodes);
    memcpy(to->v, s->v_end, sizeof *to->v * 3 * (size_t)s->lg->nodes);
    if (s->rows.soft) memcpy(to->contact, s->memory, sizeof *s->memory * (size_t)s->rows.soft);
    to->contacts = s->rows.soft;
}
