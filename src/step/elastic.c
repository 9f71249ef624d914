/* The step of elastic bodies by finite elements, with rigid ones.
 *
 *     predict             v* = v + h (gravity, forces); where held nodes go; rigid bodies likewise
 *     detect              what may touch between x and x + h v*; forces of the last step
 *     repeat              until corrections of velocities are below the tolerance
 *         balance         g = M (v - v*) - h f(x + h v)
 *         factor          H = M + h^2 K(x) of each body (true Hessians; projected ones where these are not definite) and W = J H^-1 J^T, unless the last correction was much smaller than the one before
 *         touch           contact impulses lam for u = J (v - H^-1 g) + W lam + bias: Signorini and Coulomb, exactly (solve/flex)
 *         search          v += step H^-1 (-g + J^T lam), as long as the exact penalty falls
 *         look again      once it has converged: contacts that these positions show and the prediction did not
 *     move                rigid bodies fly with the velocities that contacts leave them
 *     commit
 *
 * Implicit Euler: x = x_t + h v. The midpoint rule is the same step with h/2 and extrapolated: v_end = 2 v - v_t; it keeps linear and angular momentum to the
 * tolerance and damps nothing, but has no answer to impacts, so bodies with a contact in reach take Euler's step.
 *
 * The exact penalty: 1/2 |v - v*|_M^2 + elastic energy - friction impulses times slips + nu sum of closing beyond the gap, nu = 1.1 times the largest
 * normal impulse. Friction enters as a load: Coulomb's law has no potential. */
#include "step/elastic.h"

#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "base/timer.h"
#include "model/rigid/motion.h"
#include "step/accounts.h"
#include "step/elastic_trial.h"
#include "step/grid.h"

#define TOLERANCE_LEAST 1e-8 /* m/s */
#define TOLERANCE_SPEED 1e-6 /* of the fastest node or body */
#define LOOKS 3              /* second looks that may add contacts */
#define RESIST_ROUNDS 20     /* of rolling friction; each gains about a factor of it over the radius */
#define CONTACT_TIGHT 0.1    /* of the tolerance: what solves of rolling friction may leave */
#define EARLY_LOOK 1e3       /* of the tolerance: corrections below which the first looks are taken */

static const char *const phase_names[TL_ELASTIC_PHASES] = {"predict",    "detect",        "balance", "factor",
                                                           "compliance", "solve contact", "search",  "move"};

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

static talus_status begin_step(tl_elastic_trial *s, tl_sim *sim, tl_elastic_kept *kept, const tl_rigid_kept *rigid,
                               double dt, talus_error *err)
{
    tl_arena *a = &sim->arena;
    const int64_t n = 3 * (int64_t)sim->lg.nodes;
    *s = (tl_elastic_trial){.sim = sim,
                            .scene = sim->scene,
                            .lg = &sim->lg,
                            .kept = kept,
                            .fem = &kept->fem,
                            .arena = a,
                            .h = dt,
                            .mark = tl_seconds()};
    double **const of_nodes[] = {&s->v_star, &s->x_star, &s->v,       &s->x,     &s->force, &s->g,
                                 &s->dv,     &s->trial,  &s->x_trial, &s->x_end, &s->v_end};
    for (size_t k = 0; k < sizeof of_nodes / sizeof *of_nodes; k++)
        if (!(*of_nodes[k] = TL_TAKE_ZERO(a, double, n))) return tl_elastic_no_memory(err);
    s->target = TL_TAKE(a, tl_vec3, s->lg->anchors + 1);
    s->source = TL_TAKE(a, tl_vec3, s->lg->anchors + 1);
    s->spring = TL_TAKE(a, tl_vec3, s->lg->anchors + 1);
    s->he = TL_TAKE(a, double, s->fem->bodies + 1);
    s->v_rigid = TL_TAKE(a, double, 6 * (int64_t)sim->rigid.count + 1);
    s->scratch = TL_TAKE(a, double, tl_fem_scratch(s->fem));
    s->modes = TL_TAKE(a, tl_stable_modes, s->fem->elements + 1);
    if (!s->target || !s->source || !s->spring || !s->he || !s->v_rigid || !s->scratch || !s->modes)
        return tl_elastic_no_memory(err);
    s->rate = (tl_fem_rate){.from = sim->state.lg.q, .h = s->he};
    TL_TRY(tl_bodies_begin(&s->bodies, sim, rigid, dt, err));
    s->bodies.resists = rigid->resists;
    return TALUS_OK;
}

/* Force and torque on an elastic body, from the scene and from code, as accelerations of its nodes: a + alpha x (x - centre); forces on single nodes, from code. */
static talus_status push_body(tl_elastic_trial *s, int b, talus_error *err)
{
    const tl_lg_body *body = &s->lg->body[b];
    const tl_lg_state *now = &s->sim->state.lg;
    const tl_motion *m = &s->bodies.before[body->body];
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
    const double *from = s->sim->state.lg.q;
    for (int32_t k = 0; k < s->lg->anchors; k++) {
        if (!s->fem->is_held[k]) continue;
        const double t[3] = {s->target[k].x, s->target[k].y, s->target[k].z};
        for (int64_t c = 0, i = 3 * (int64_t)s->lg->anchor[k].vertex; c < 3; c++)
            v[i + c] = (t[c] - from[i + c]) / s->h;
    }
}

/* Functions of time are read here and nowhere else. */
static talus_status predict(tl_elastic_trial *s, talus_error *err)
{
    const tl_lg_state *now = &s->sim->state.lg;
    const int64_t n = 3 * (int64_t)s->lg->nodes;
    tl_pose *handle = TL_TAKE(s->arena, tl_pose, s->lg->handles + 1);
    if (!handle) return tl_elastic_no_memory(err);
    TL_TRY(tl_lg_handle_poses(s->lg, s->scene, s->sim->state.t + s->h, handle, err));
    tl_lg_lead(now, true, handle);
    tl_lg_targets(s->lg, handle, s->target);
    TL_TRY(tl_lg_handle_poses(s->lg, s->scene, s->sim->state.t, handle, err));
    tl_lg_lead(now, false, handle);
    tl_lg_targets(s->lg, handle, s->source);
    TL_TRY(tl_bodies_predict(&s->bodies, err));
    for (int b = 0; b < s->lg->bodies; b++) TL_TRY(push_body(s, b, err));
    tl_elastic_lead_held(s, s->v_star);
    memcpy(s->v, now->v, sizeof *s->v * (size_t)n);
    tl_elastic_lead_held(s, s->v);
    for (int64_t i = 0; i < n; i++) s->x_star[i] = now->q[i] + s->h * s->v_star[i];
    double fastest2 = 0;
    for (int32_t i = 0; i < s->lg->nodes; i++)
        fastest2 = fmax(fastest2, tl_vec3_norm2(tl_vec3_load(now->v + 3 * (int64_t)i)));
    for (int32_t i = 0; i < s->sim->rigid.count; i++) fastest2 = fmax(fastest2, tl_vec3_norm2(s->bodies.before[i].v));
    double asked = s->scene->solver.contact.tolerance;
    s->tolerance = asked > 0 ? asked : fmax(TOLERANCE_LEAST, TOLERANCE_SPEED * sqrt(fastest2));
    memcpy(s->v_rigid, s->bodies.v_free, sizeof *s->v_rigid * 6 * (size_t)s->sim->rigid.count);
    tl_elastic_lap(s, TL_ELASTIC_PREDICT);
    return TALUS_OK;
}

/* ---- rolling and spinning friction ---- */

/* Torques between rigid bodies, from the points between them, with what elastic bodies push as given. Adds to the work; v: velocities that follow. */
static talus_status find_torques(tl_elastic_trial *s, const double *pushed, double *lam, double *v, talus_error *err)
{
    tl_bodies *b = &s->bodies;
    const size_t points = 3 * (size_t)b->contacts.count, more = 3 * (size_t)b->resist.count;
    tl_stop stop = {.tolerance = CONTACT_TIGHT * s->tolerance, .max_iterations = b->kept->iterations};
    tl_options options = tl_options_default();
    tl_contact_report solved;
    b->p.bodies.v_free = pushed;
    tl_contact_free_velocity(&b->p.bodies, b->p.bias, b->p.q);
    for (int round = 0; round < RESIST_ROUNDS; round++) {
        TL_TRY(tl_contact_solve(b->kept->method, &b->p.problem, &options, &stop, lam, b->arena, b->sim->history,
                                &solved, err));
        s->work.products += solved.work.products;
        s->work.factorizations += solved.work.factorizations;
        s->contact_iterations += solved.outcome.iterations;
        memcpy(b->lam, lam, points * sizeof *lam);
        memcpy(b->resist_lam, lam + points, more * sizeof *lam);
        if (!(tl_bodies_update_resist(b) > stop.tolerance)) break;
    }
    tl_contact_velocities(&b->p.bodies, lam, v);
    b->p.bodies.v_free = b->v_free;
    return TALUS_OK;
}

/* Impulses of rolling and spinning friction act on rigid bodies like a force of the scene; their bounds follow the normal impulses, which follow them. Repeated until
 * velocities agree with those of the step: at once where elastic bodies do not touch the rigid ones that roll. */
static talus_status resist(tl_elastic_trial *s, bool *again, talus_error *err)
{
    tl_bodies *b = &s->bodies;
    const int64_t n = 6 * (int64_t)s->sim->rigid.count, points = 3 * (int64_t)b->contacts.count,
                  rows = points + 3 * (int64_t)b->resist.count;
    if (!b->resist.count) return TALUS_OK;
    double *plain = TL_TAKE(s->arena, double, n), *turned = TL_TAKE_ZERO(s->arena, double, n),
           *pushed = TL_TAKE(s->arena, double, n), *v = TL_TAKE(s->arena, double, n),
           *lam = TL_TAKE_ZERO(s->arena, double, rows + 1), off = INFINITY;
    if (!plain || !turned || !pushed || !v || !lam) return tl_elastic_no_memory(err);
    memcpy(plain, b->v_free, sizeof *plain * (size_t)n);
    for (int round = 0; round < RESIST_ROUNDS && off > s->tolerance; round++) {
        /* without torques and points between rigid bodies */
        memset(lam, 0, sizeof *lam * (size_t)rows);
        if (points) memcpy(lam, s->lam + 3 * (int64_t)s->rows.soft, sizeof *lam * (size_t)points);
        b->p.bodies.v_free = s->v_rigid;
        tl_contact_velocities(&b->p.bodies, lam, v);
        for (int64_t i = 0; i < n; i++) pushed[i] = 2 * s->v_rigid[i] - v[i] - turned[i];
        if (points) memcpy(lam, s->lam + 3 * (int64_t)s->rows.soft, sizeof *lam * (size_t)points);
        memcpy(lam + points, b->resist_lam, sizeof *lam * (size_t)(rows - points));
        TL_TRY(find_torques(s, pushed, lam, v, err));
        off = 0;
        for (int64_t i = 0; i < n; i++) {
            double reach = i % 6 < 3 ? 1 : fmin(s->sim->rigid.body[i / 6].reach, 1);
            if (s->bodies.inv_mass[i / 6] > 0) off = fmax(off, reach * fabs(v[i] - s->v_rigid[i]));
        }
        if (!(off > s->tolerance)) break;
        memset(lam, 0, sizeof *lam * (size_t)points);
        b->p.bodies.v_free = pushed;
        tl_contact_velocities(&b->p.bodies, lam, v);
        b->p.bodies.v_free = b->v_free;
        for (int64_t i = 0; i < n; i++) {
            turned[i] = v[i] - pushed[i];
            b->v_free[i] = plain[i] + turned[i];
        }
        TL_TRY(tl_elastic_newton(s, s->tolerance, again, err));
    }
    memcpy(b->v_free, plain, sizeof *plain * (size_t)n);
    s->contact = fmax(s->contact, off > s->tolerance ? off : 0);
    s->converged &= off <= s->tolerance;
    return TALUS_OK;
}

/* ---- move, measure, commit ---- */

static talus_status judge(const tl_elastic_trial *s, bool *again, talus_error *err)
{
    tl_unconverged policy = s->scene->solver.on_unconverged;
    if (s->converged || policy == TL_UNCONVERGED_ACCEPT) return TALUS_OK;
    *again = policy == TL_UNCONVERGED_SHRINK_DT;
    return TL_FAIL(err, TALUS_NOT_DEFINITE,
                   "elastic bodies: %d corrections of velocities, the last of %.3g m/s, wanted %.3g m/s", s->iterations,
                   s->correction, s->tolerance);
}

static void end_nodes(tl_elastic_trial *s)
{
    const tl_lg_state *now = &s->sim->state.lg;
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

/* Overlaps of rigid bodies are pushed out: what that costs. */
static talus_status stabilise(tl_elastic_trial *s, talus_error *err)
{
    tl_totals before = {0}, after = {0};
    tl_totals_add_bodies(&before, s->sim, s->bodies.body);
    TL_TRY(tl_bodies_stabilise(&s->bodies, err));
    tl_totals_add_bodies(&after, s->sim, s->bodies.body);
    tl_accounts_energy(s->sim, TL_ENERGY_CORRECTIONS,
                       after.potential + after.kinetic - before.potential - before.kinetic);
    return TALUS_OK;
}

/* Restitution between rigid bodies, as in scenes without elastic ones: velocities only, they have landed. */
static talus_status bounce(tl_elastic_trial *s, talus_error *err)
{
    tl_bodies *b = &s->bodies;
    tl_contact_report solved;
    bool any;
    TL_TRY(tl_accounts_before_bounce(b, err));
    TL_TRY(tl_bodies_bounce(b, &solved, &any, err));
    if (!any) return TALUS_OK;
    tl_accounts_bounce(b);
    s->contact = fmax(s->contact, solved.certificate.residual);
    s->work.products += solved.work.products;
    s->work.factorizations += solved.work.factorizations;
    s->work.projections += solved.work.projections;
    s->contact_iterations += solved.outcome.iterations;
    return TALUS_OK;
}

static talus_status move(tl_elastic_trial *s, bool *again, talus_error *err)
{
    tl_bodies *b = &s->bodies;
    memcpy(b->v, s->v_rigid, sizeof *b->v * 6 * (size_t)s->sim->rigid.count);
    if (b->contacts.count)
        memcpy(b->lam, s->lam + 3 * (int64_t)s->rows.soft, 3 * sizeof *b->lam * (size_t)b->contacts.count);
    TL_TRY(tl_bodies_move(b, again, err));
    TL_TRY(tl_bodies_make_room(b, err));
    end_nodes(s);
    tl_elastic_account(s);
    TL_TRY(stabilise(s, err));
    TL_TRY(bounce(s, err));
    TL_TRY(tl_elastic_remember(s, err));
    tl_pose *end = TL_TAKE(s->arena, tl_pose, s->sim->rigid.count);
    if (!end) return tl_elastic_no_memory(err);
    for (int32_t i = 0; i < s->sim->rigid.count; i++) end[i] = tl_rigid_pose(&s->sim->rigid.body[i], &b->body[i]);
    s->view.from = s->view.to = s->x_end;
    s->view.before = s->view.after = end;
    TL_TRY(tl_lg_depth(&s->view, s->arena, &s->depth, err));
    tl_elastic_lap(s, TL_ELASTIC_MOVE);
    return TALUS_OK;
}

static void report_contacts(const tl_elastic_trial *s, tl_report *r)
{
    r->contacts = s->rows.contacts;
    for (int64_t k = 0; k < s->rows.contacts; k++) r->touching += s->lam[3 * k] > 0;
    r->penetration = fmax(s->depth, fmax(0, s->bodies.penetration));
    for (int32_t k = s->contacts.shapes; k < s->rows.soft; k++)
        if (s->lam[3 * (int64_t)k] > 0) r->penetration = fmax(r->penetration, -s->h * s->u[3 * (int64_t)k]);
    /* solved to a share of the target, judged by the target */
    const char *method = s->flex.law == TL_FLEX_PYRAMID ? "pgs-pyramid-dense" : "newton-dense";
    tl_result result = s->contact <= s->tolerance ? TL_CONVERGED : s->solved.outcome.result;
    r->solve[r->solves] = (tl_report_solve){
        .name = "contact",
        .method = s->kept->schur ? method : s->kept->route->name,
        .outcome = tl_result_name(result == TL_CONVERGED && !(s->contact <= s->tolerance) ? TL_STALLED : result),
        .iterations = s->contact_iterations,
        .certificate = s->contact,
        .target = s->tolerance,
        .work = s->work};
    r->solve[r->solves++].work.history = NULL;
}

static void fill_report(const tl_elastic_trial *s)
{
    const tl_lg *lg = s->lg;
    tl_report *r = &s->sim->report;
    tl_rigid_measures rigid = tl_rigid_measure(&s->sim->rigid, s->bodies.body, s->scene->gravity);
    *r = (tl_report){.phases = TL_ELASTIC_PHASES,
                     .solves = 1,
                     .force_balance = NAN,
                     .elastic = s->energy,
                     .kinetic = rigid.kinetic,
                     .potential = rigid.potential,
                     .momentum = rigid.momentum,
                     .angular_momentum = rigid.angular_momentum};
    for (int k = 0; k < TL_ELASTIC_PHASES; k++)
        r->phase[k] = (tl_report_phase){.name = phase_names[k], .seconds = s->seconds[k]};
    r->solve[0] = (tl_report_solve){.name = "elastic",
                                    .method = s->kept->route->name,
                                    .outcome = tl_result_name(s->converged ? TL_CONVERGED : TL_OUT_OF_ITERATIONS),
                                    .iterations = s->iterations,
                                    .certificate = s->correction,
                                    .target = s->tolerance,
                                    .work = {.factorizations = s->factors, .products = s->iterations}};
    double fastest2 = 0;
    for (int32_t i = 0; i < lg->nodes; i++) {
        tl_vec3 x = tl_vec3_load(s->x_end + 3 * (int64_t)i), v = tl_vec3_load(s->v_end + 3 * (int64_t)i);
        double m = lg->mass[i];
        r->kinetic += 0.5 * m * tl_vec3_norm2(v);
        r->potential -= m * tl_vec3_dot(s->scene->gravity, x);
        r->momentum = tl_vec3_add_scaled(r->momentum, m, v);
        r->angular_momentum = tl_vec3_add_scaled(r->angular_momentum, m, tl_vec3_cross(x, v));
        fastest2 = fmax(fastest2, tl_vec3_norm2(v));
    }
    r->fastest = fmax(sqrt(fastest2), rigid.fastest);
    report_contacts(s, r);
    tl_rigid_report_lost(s->sim, s->bodies.body, s->bodies.kept->lost, r);
}

/* Forces between elastic and other bodies, added to those that rigid ones exert on each other. */
static void sum_contact_forces(const tl_elastic_trial *s)
{
    tl_motion *body = s->sim->state.rigid.body;
    const int32_t scene = s->sim->rigid.scene_count;
    for (int32_t c = 0; c < s->rows.soft; c++) {
        const tl_lg_contact *k = &s->contacts.contact[c];
        tl_vec3 f = tl_vec3_scale(1 / s->h, tl_fem_link_force(&s->rows.link[c], s->lam + 3 * (int64_t)c));
        const int32_t side[2] = {k->body_a, k->body_b};
        for (int e = 0; e < 2; e++) {
            if (side[e] < 0 || side[e] >= scene) continue;
            tl_motion *m = &body[side[e]];
            tl_vec3 lever = tl_vec3_sub(k->at, s->bodies.before[side[e]].x);
            m->contact_force = tl_vec3_add_scaled(m->contact_force, e ? -1 : 1, f);
            m->contact_torque = tl_vec3_add_scaled(m->contact_torque, e ? -1 : 1, tl_vec3_cross(lever, f));
        }
    }
}

/* Bodies' tables show the centre of mass of an elastic body. */
static void place_bodies(const tl_elastic_trial *s)
{
    const tl_lg *lg = s->lg;
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        tl_motion *m = &s->bodies.body[body->body];
        tl_vec3 x = {0, 0, 0}, v = {0, 0, 0};
        for (int32_t i = body->node; i < body->node + body->nodes; i++) {
            x = tl_vec3_add_scaled(x, lg->mass[i] / body->mass, tl_vec3_load(s->x_end + 3 * (int64_t)i));
            v = tl_vec3_add_scaled(v, lg->mass[i] / body->mass, tl_vec3_load(s->v_end + 3 * (int64_t)i));
        }
        m->x = x;
        m->v = v;
    }
}

static void commit(tl_elastic_trial *s)
{
    tl_lg_state *to = &s->sim->state.lg;
    tl_bodies_commit(&s->bodies);
    sum_contact_forces(s);
    tl_lg_led(to);
    memcpy(to->q, s->x_end, sizeof *to->q * 3 * (size_t)s->lg->nodes);
    memcpy(to->v, s->v_end, sizeof *to->v * 3 * (size_t)s->lg->nodes);
    if (s->rows.soft) memcpy(to->contact, s->memory, sizeof *s->memory * (size_t)s->rows.soft);
    to->contacts = s->rows.soft;
}

talus_status tl_elastic_step(tl_sim *sim, tl_elastic_kept *kept, const tl_rigid_kept *rigid, double dt, bool *again,
                             talus_error *err)
{
    tl_elastic_trial s;
    *again = false;
    TL_TRY(begin_step(&s, sim, kept, rigid, dt, err));
    TL_TRY(predict(&s, err));
    TL_TRY(tl_elastic_detect(&s, err));
    for (bool more = true, end = false; more || !end; s.looks += more) {
        end |= !more || s.looks == LOOKS;
        TL_TRY(tl_elastic_newton(&s, end ? s.tolerance : EARLY_LOOK * s.tolerance, again, err));
        more = false;
        if (s.looks < LOOKS) TL_TRY(tl_elastic_look_again(&s, &more, err));
    }
    TL_TRY(resist(&s, again, err));
    TL_TRY(judge(&s, again, err));
    TL_TRY(move(&s, again, err));
    TL_TRY(tl_cancel_check(err));
    place_bodies(&s);
    fill_report(&s);
    TL_TRY(tl_accounts_end(sim, dt, s.bodies.body, again, err));
    commit(&s);
    return TALUS_OK;
}

talus_status tl_elastic_first(tl_sim *sim, double dt, tl_elastic_trial *s, talus_error *err)
{
    tl_grid_kept *kept = sim->own;
    bool again;
    tl_arena_reset(&sim->arena);
    TL_TRY(begin_step(s, sim, kept->elastic, &kept->rigid, dt, err));
    TL_TRY(predict(s, err));
    TL_TRY(tl_elastic_detect(s, err));
    return tl_elastic_first_correction(s, &again, err);
}
