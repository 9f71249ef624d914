/* The local-global step of elastic solids and cloth, with contact and free rigid bodies [Zeng2025 algorithm 4].
 *
 *     predict             q~: where nodes go without forces (phase/lg/time.h); where anchors pull to; rigid bodies
 *                         likewise; q = q~
 *     detect              what may touch between q_t and q~; cables; forces of the last step
 *     repeat              `iterations` times
 *         project         local step: every element on its own
 *         balance         r: what forces and inertia leave over, contact forces included
 *         solve           global step: q += A^-1 r
 *         touch           contact forces for these positions, and the displacement that follows
 *         look again      in the first rounds: contacts that these positions show and the prediction did not
 *         mix             not after the last: the combination of rounds that leaves least to be done (math/anderson.h)
 *     solve free          Newton's method for what nothing touches, where rounds did not end
 *     solve touching      and for what touches, laws of contact included (phase/lg/exact.h, phase/lg/held.h)
 *     hold apart          nothing passes through cloth (phase/lg/apart.h)
 *     measure             velocities, energies, certificates of the gradient and of the contact laws
 *     move                free rigid bodies fly with the velocities that contacts leave them
 *     settle              velocities: land, damp, spin (phase/lg/time.h, phase/lg/damp.h)
 *     account             where momentum and energy went
 *     commit
 *
 * Differs from [Zeng2025]: rounds size forces by A, which is far stiffer than a body in bending, and find a part of
 * them only; what they leave is solved by Newton's method (tests/physics/lg_soft.c). Static steps have no rounds at
 * all: Newton's method finds the positions in which forces balance. */
#include "phase/lg/step.h"

#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "base/timer.h"
#include "model/lg/holds.h"
#include "model/rigid/motion.h"
#include "phase/accounts/lg.h"

#define LOOKS 3       /* after this many rounds, the first ones: later ones would have too few left to act. Chosen */
#define STOP 1e-6     /* of what the first round found: bodies that nothing touches are done then */
#define FREE_ROUNDS 2 /* before Newton's method takes over where nothing touches: they take out what is fast */
/* Share of the forces that corrections leave: above it the step is made again with half its length. Boxes pressed to a
 * twentieth: with 0.05 a step that left 0.03 made 6.5 J of 6200 in one of five, with 0.01 all make a third of that or
 * less and take as long. */
#define UNSOLVED 0.01
#define SHORTEST 0.1 /* of a whole step: shorter ones are not made again. Chosen */
/* Rad per step of rigid bodies that joints hold, as in engine "sph", whose integration of bodies this is. */
#define TURN_JOINT 0.05
/* What counts as slow: */
#define SLOW_PULL 1e-5  /* of what gravity does in a step, g h */
#define SLOW_SPEED 1e-6 /* of the fastest node or body */
#define SLOW_PLACE 1e-8 /* of the shortest mean edge, per step: rounding, where nothing pulls */

static double slow_speed(const tl_lg_step *s)
{
    double fastest = 0, edge = INFINITY;
    for (int64_t i = 0; i < s->lg->nodes; i++) fastest = fmax(fastest, tl_vec3_norm2(tl_vec3_load(s->now->v + 3 * i)));
    for (int32_t i = 0; i < s->sim->rigid.scene_count; i++)
        fastest = fmax(fastest, tl_vec3_norm2(s->sim->state.rigid.body[i].v));
    for (int b = 0; b < s->lg->bodies; b++) edge = fmin(edge, s->lg->skin.body[b].mean);
    return fmax(SLOW_PULL * tl_vec3_norm(s->scene->gravity) * s->h,
                fmax(SLOW_SPEED * sqrt(fastest), SLOW_PLACE * edge / s->h));
}

static talus_status begin_step(tl_lg_step *s, tl_sim *sim, double dt, talus_error *err)
{
    const tl_lg *lg = &sim->lg;
    tl_arena *a = &sim->arena;
    int64_t n = 3 * (int64_t)lg->nodes;
    *s = (tl_lg_step){.sim = sim,
                      .scene = sim->scene,
                      .lg = lg,
                      .now = tl_lg_state_of(&sim->state),
                      .data = sim->engine_data,
                      .arena = a,
                      .h = tl_lg_round_step(dt),
                      .mark = tl_seconds()};
    s->began = s->mark;
    s->slow = slow_speed(s);
    int64_t duals = TL_LG_LANES * lg->dual_rows;
    double **const of_nodes[] = {&s->qtil, &s->accel, &s->v, &s->r, &s->step, &s->trial, &s->after};
    for (size_t k = 0; k < sizeof of_nodes / sizeof *of_nodes; k++)
        if (!(*of_nodes[k] = TL_TAKE(a, double, n))) return tl_lg_no_memory(err);
    s->q = TL_TAKE(a, double, n + duals);
    s->from = TL_TAKE(a, double, n + duals);
    s->pushed = TL_TAKE_ZERO(a, bool, lg->bodies + 1);
    s->target = TL_TAKE(a, tl_vec3, lg->anchors);
    s->force = TL_TAKE(a, double, lg->force_count);
    s->missing = TL_TAKE(a, double, lg->bodies + 1);
    s->off2 = TL_TAKE(a, double, lg->bodies + 1);
    s->touched = TL_TAKE_ZERO(a, bool, lg->bodies + 1);
    if (!s->q || !s->from || !s->pushed || !s->target || !s->force || !s->missing || !s->off2 || !s->touched)
        return tl_lg_no_memory(err);
    s->u = s->q + n;
    TL_TRY(tl_anderson_begin_carrying(&s->mixer, n, duals, a, err));
    TL_TRY(tl_lg_time_begin(&s->time, lg, s->now, s->data->time, s->data->reach, s->h, a, err));
    s->he = s->time.he;
    TL_TRY(tl_bodies_begin(&s->bodies, sim, &s->data->rigid, s->h, err));
    TL_TRY(tl_lg_join_begin(&s->joined, &s->bodies, &s->data->grips, s->now->q, s->now->v, err));
    s->newton = (tl_lg_newton){.lg = lg,
                               .solver = s->data->solver,
                               .precision = s->data->precision,
                               .he = s->he,
                               .qtil = s->qtil,
                               .target = s->target,
                               .rows = &s->touch.rows,
                               .held = s->joined ? s->joined->of : NULL,
                               .q = s->q,
                               .r = s->r,
                               .step = s->step,
                               .trial = s->trial,
                               .force = s->force};
    return tl_lg_solver_update(s->data->solver, s->he, err);
}

/* Functions of time are read here and nowhere else. */
static talus_status predict(tl_lg_step *s, talus_error *err)
{
    const tl_lg *lg = s->lg;
    const tl_lg_state *now = s->now;
    tl_pose *handle = TL_TAKE(s->arena, tl_pose, lg->handles + 1);
    if (!handle) return tl_lg_no_memory(err);
    TL_TRY(tl_lg_handle_poses(lg, s->scene, s->sim->state.t + s->h, handle, err));
    tl_lg_lead(now, true, handle);
    tl_lg_targets(lg, handle, s->target);
    TL_TRY(tl_accounts_lg_begin(s->sim, s->target, s->arena, &s->elastic0, err));
    TL_TRY(tl_lg_load(s, err));
    tl_lg_time_predict(&s->time, lg, now, s->accel, s->qtil);
    memcpy(s->q, s->qtil, sizeof *s->q * 3 * (size_t)lg->nodes);
    if (lg->dual_rows) memcpy(s->u, now->u, sizeof *s->u * TL_LG_LANES * (size_t)lg->dual_rows);
    TL_TRY(tl_bodies_predict(&s->bodies, err));
    if (s->joined) TL_TRY(tl_lg_join_predict(s->joined, err));
    tl_lg_lap(s, TL_LG_PREDICT);
    return TALUS_OK;
}

static talus_status detect(tl_lg_step *s, talus_error *err)
{
    tl_bodies *b = &s->bodies;
    const tl_pose *after;
    TL_TRY(tl_bodies_poses_ahead(b, NULL, &after, err));
    s->view = (tl_lg_view){.lg = s->lg,
                           .rigid = &s->sim->rigid,
                           .scene = s->scene,
                           .from = s->now->q,
                           .to = s->qtil,
                           .body = b->body,
                           .before = b->pose,
                           .after = after,
                           .friction = b->friction,
                           .length = s->now->length,
                           .joints = &s->sim->joints,
                           .h = s->h};
    if (!s->time.rests) {
        TL_TRY(tl_lg_detect(&s->view, s->arena, &s->contacts, err));
        tl_lg_mend_planes(&s->view, &s->contacts);
        TL_TRY(tl_lg_detect_rigid(&s->view, &s->sim->state.rigid, s->arena, &b->view, &b->contacts, err));
    }
    TL_TRY(tl_bodies_match(b, err));
    tl_lg_lap(s, TL_LG_DETECT);
    if (s->scene->lg.global == TL_LG_JACOBI && s->contacts.count)
        return TL_FAIL(
            err, TALUS_UNSUPPORTED,
            "global_step \"jacobi\" has no factor, so there is no compliance of contacts: take \"factor\" or "
            "\"inverse\"");
    s->hold_nodes = TL_TAKE(s->arena, int32_t, tl_lg_hold_count(s->lg, s->scene) + 1);
    if (!s->hold_nodes) return tl_lg_no_memory(err);
    TL_TRY(tl_lg_bilateral_rows(&s->view, s->sim->state.t + s->h, s->arena, &s->bilateral, err));
    s->rows = (tl_lg_rows_of){.lg = s->lg,
                              .solver = s->data->solver,
                              .columns = s->data->columns,
                              .precision = s->data->precision,
                              .h = s->h,
                              .he = s->he,
                              .from = s->now->q,
                              .soft = &s->contacts,
                              .rigid = &s->sim->rigid,
                              .body = b->body,
                              .hard = &b->contacts,
                              .slop = s->data->rigid.slop,
                              .bilateral = &s->bilateral,
                              .joined = s->joined ? s->joined->on : NULL,
                              .compliance = (tl_lg_compliance_kind)s->scene->lg.compliance};
    TL_TRY(tl_lg_touch_begin(&s->touch, &s->scene->lg, &s->rows, s->joined, s->now, b, s->arena, err));
    tl_lg_lap(s, TL_LG_ASSEMBLE);
    return TALUS_OK;
}

static bool newton_serves(const tl_lg_step *s)
{
    return !s->data->searches && s->scene->lg.global != TL_LG_JACOBI && s->scene->lg.local != TL_LG_LOCAL_PROX;
}

/* Rounds of a step, as long as they find anything to do. */
static talus_status iterate(tl_lg_step *s, talus_error *err)
{
    const int64_t n = 3 * (int64_t)s->lg->nodes, all = n + TL_LG_LANES * s->lg->dual_rows;
    const bool by_newton = s->scene->lg.mixing == 0 && newton_serves(s);
    const bool mixes = s->scene->lg.mixing == 0 && !s->data->searches && s->scene->lg.global != TL_LG_JACOBI;
    bool changed;
    for (int k = 0; k < s->scene->lg.iterations; k++) {
        TL_TRY(tl_cancel_check(err));
        memcpy(s->from, s->q, sizeof *s->q * (size_t)all);
        tl_lg_project(s);
        tl_lg_balance(s);
        tl_lg_solve_global(s, k);
        const tl_lg_round round = {s->lg, s->he, s->r};
        TL_TRY(tl_sim_show(s->sim, (tl_shown){TL_SHOWN_ROUND, &round, s->step, NAN, NAN}, err));
        TL_TRY(tl_lg_touch_nodes(s, err));
        if (k < LOOKS) TL_TRY(tl_lg_look_again(s, &changed, err));
        s->rounds = k + 1;
        if (by_newton && !s->touch.rows.rows && s->rounds == FREE_ROUNDS) break; /* unless something came to touch */
        if (s->joined && s->rounds == FREE_ROUNDS) break;                        /* joints are for corrections alone */
        if (tl_lg_is_late(s) || s->rounds == s->scene->lg.iterations ||
            (!s->touch.rows.rows && s->left <= STOP * STOP * s->found))
            break;
        if (mixes) tl_anderson_next(&s->mixer, s->from, s->q, s->q);
        tl_lg_lap(s, TL_LG_SOLVE);
    }
    if (s->data->searches && s->lg->dual_rows) TL_TRY(tl_lg_renew_duals(s, err));
    if (by_newton && !tl_lg_is_late(s)) TL_TRY(tl_lg_solve_free(s, err));
    if (s->joined) return tl_lg_solve_touching(s, err);
    return !by_newton || tl_lg_is_late(s) ? TALUS_OK : tl_lg_solve_touching(s, err);
}

/* Nothing passes through anything on the way from where the step began. */
static talus_status hold_apart(tl_lg_step *s, talus_error *err)
{
    if (s->time.rests || !s->scene->lg.guard) return TALUS_OK;
    s->view.from = s->now->q;
    TL_TRY(tl_lg_hold_apart(&s->view, s->he, s->q, s->arena, &s->apart, err));
    tl_lg_lap(s, TL_LG_DETECT);
    tl_lg_apart_tell(&s->apart, s->lg, &s->sim->log, s->sim->state.t + s->h, &s->data->told_apart);
    return TALUS_OK;
}

/* Where corrections have not ended, what is left may make energy, or leave elements inside out: a shorter step has less
 * to solve. Not for rounds alone, which run in real time. */
static talus_status ask_shorter(const tl_lg_step *s, bool *again, talus_error *err)
{
    const double whole = fmin(s->scene->dt_max > 0 ? s->scene->dt_max : INFINITY, 1 / s->scene->fps);
    double missing = 0;
    for (int b = 0; b < s->lg->bodies; b++) missing = fmax(missing, s->missing[b]);
    if (!s->unsolved || !s->touch.rows.rows || s->h < fmax(SHORTEST * whole, 2 * s->scene->dt_min) || tl_lg_is_late(s))
        return TALUS_OK;
    if (s->apart.impacts == 0 && missing < UNSOLVED) return TALUS_OK;
    *again = true;
    return TL_FAIL(err, TALUS_BAD_INPUT,
                   "contact of elastic bodies is not solved to the end: %.2g of the forces is left", missing);
}

/* The gradient of g itself, contact forces included. */
static talus_status measure(tl_lg_step *s, bool *again, talus_error *err)
{
    tl_lg_time_velocities(&s->time, s->lg, s->q, s->v);
    TL_TRY(tl_bodies_check_nodes(s->lg, "measure", s->q, s->v, again, err));
    tl_lg_find_residual(s);
    if (!s->time.rests) {
        tl_lg_judge(s);
        if (!s->data->told_fast) TL_TRY(tl_lg_watch_swings(s, err));
    }
    tl_lg_lap(s, TL_LG_MEASURE);
    return TALUS_OK;
}

/* Velocities of free bodies, impulses between them. */
static talus_status move(tl_lg_step *s, bool *again, talus_error *err)
{
    tl_bodies *b = &s->bodies;
    const tl_lg_rows *r = &s->touch.rows;
    memcpy(b->v, b->v_free, sizeof *b->v * 6 * (size_t)s->sim->rigid.count);
    for (int32_t i = 0; i < r->bodies; i++)
        for (int k = 0; k < 6; k++) b->v[6 * (int64_t)r->body[i] + k] = s->touch.body_moved[6 * (int64_t)i + k] / s->h;
    for (int64_t k = 0; k < 3 * (int64_t)b->contacts.count; k++)
        b->lam[k] = s->h * s->touch.force[3 * (int64_t)r->soft + k];
    TL_TRY(tl_bodies_move(b, again, err));
    if (s->joined) TL_TRY(tl_lg_join_end(s->joined, s->q, s->v, err));
    TL_TRY(tl_bodies_make_room(b, err));
    return TALUS_OK;
}

/* The surface, between nodes as well, against shapes where they end up. */
static talus_status measure_depth(tl_lg_step *s, talus_error *err)
{
    const tl_pose *end;
    TL_TRY(tl_bodies_poses(&s->bodies, &end, err));
    s->view.from = s->view.to = s->q;
    s->view.before = s->view.after = end;
    TL_TRY(tl_lg_depth(&s->view, s->arena, &s->depth, err));
    TL_TRY(tl_bodies_find_depth(&s->bodies, err));
    if (s->time.rests && s->depth > s->data->rigid.slop)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "elastic bodies at rest are %.3g m deep in others: lg.time = \"static\" knows no contact; take "
                       "\"euler\", which comes to rest soon",
                       s->depth);
    tl_lg_lap(s, TL_LG_MEASURE);
    return TALUS_OK;
}

static double kinetic(const tl_lg_step *s)
{
    double sum = 2 * tl_rigid_measure(&s->sim->rigid, s->bodies.body, s->scene->gravity).kinetic;
    for (int64_t k = 0; k < 3 * (int64_t)s->lg->nodes; k++) sum += s->lg->mass[k / 3] * s->v[k] * s->v[k];
    return 0.5 * sum;
}

static talus_status damp(tl_lg_step *s, talus_error *err)
{
    if (!(s->damped = TL_TAKE_ZERO(s->arena, double, 3 * (int64_t)s->lg->nodes + 1))) return tl_lg_no_memory(err);
    const tl_lg_moved moved = {.lg = s->lg,
                               .hessian = s->data->hessian,
                               .h = s->h,
                               .q = s->q,
                               .v = s->v,
                               .before = s->time.second ? s->time.v_was : NULL};
    s->viscous = -kinetic(s);
    for (int b = 0; b < s->lg->bodies && !s->time.rests; b++) {
        const int32_t body = s->lg->body[b].body;
        const double damping = body < 0 ? 0 : s->scene->materials[s->scene->bodies[body].material].damping;
        if (damping > 0) TL_TRY(tl_lg_damp(&moved, b, damping, s->damped, s->arena, err));
    }
    s->viscous += kinetic(s);
    return TALUS_OK;
}

/* Velocities that positions alone do not give. */
static talus_status settle(tl_lg_step *s, talus_error *err)
{
    const tl_lg *lg = s->lg;
    bool *held = TL_TAKE_ZERO(s->arena, bool, lg->bodies + 1);
    if (!held) return tl_lg_no_memory(err);
    s->landed = kinetic(s);
    tl_lg_time_land(&s->time, &s->touch, &s->contacts, s->q, s->bodies.before, s->bodies.body, s->v);
    s->landed -= kinetic(s);
    TL_TRY(damp(s, err));
    TL_TRY(tl_lg_touch_remember(&s->touch, &s->contacts, s->arena, &s->memory, &s->memories, err));
    TL_TRY(tl_lg_contacts_reserve(s->now, s->memories, err));
    for (int32_t k = 0; k < lg->anchors; k++) held[lg->owner[lg->anchor[k].vertex]] = true;
    for (int b = 0; b < lg->bodies; b++) s->touched[b] = s->touched[b] || s->pushed[b];
    tl_lg_time_spin(&s->time, lg, s->now, held, s->touched, s->q, s->v);
    tl_lg_lap(s, TL_LG_MEASURE);
    return TALUS_OK;
}

static talus_status account(tl_lg_step *s, talus_error *err)
{
    const tl_lg_state *now = s->now;
    const tl_accounts_lg x = {.h = s->h,
                              .he = s->he,
                              .p0 = s->time.p,
                              .accel = s->accel,
                              .landed = s->landed,
                              .viscous = s->viscous,
                              .lg = s->lg,
                              .q0 = now->q,
                              .v0 = now->v,
                              .q1 = s->q,
                              .v1 = s->v,
                              .qtil = s->qtil,
                              .r = s->r,
                              .target = s->target,
                              .pressure = s->pressure,
                              .elastic0 = s->elastic0,
                              .elastic = s->elastic,
                              .touch = &s->touch,
                              .contacts = &s->contacts,
                              .b = &s->bodies};
    tl_accounts_lg_damped(s->sim, s->damped, s->q);
    return tl_accounts_lg_end(s->sim, &x, s->arena, err);
}

/* Bodies' tables show the rigid motion nearest to that of the nodes. */
static void place_bodies(const tl_lg_step *s)
{
    const tl_lg *lg = s->lg;
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_body *body = &lg->body[b];
        tl_motion *m = &s->bodies.body[body->body];
        tl_lg_whole now = tl_lg_whole_of(lg, body, s->q, s->v);
        if (!(now.mass > 0)) continue;
        tl_vec3 rest;
        tl_quat turned = tl_lg_rotation_of(lg, body, s->q, &rest);
        m->x = now.centre;
        m->v = now.v;
        m->w = now.spin;
        m->q = tl_quat_normalize(tl_quat_mul(turned, lg->body[b].start));
    }
}

static void commit(tl_lg_step *s)
{
    tl_lg_state *to = s->now;
    tl_bodies_commit(&s->bodies);
    tl_lg_sum_forces(s);
    memcpy(to->q, s->q, sizeof *s->q * 3 * (size_t)s->lg->nodes);
    memcpy(to->v, s->v, sizeof *s->v * 3 * (size_t)s->lg->nodes);
    memcpy(to->q_before, s->time.q_was, sizeof *s->v * 3 * (size_t)s->lg->nodes);
    memcpy(to->v_before, s->time.v_was, sizeof *s->v * 3 * (size_t)s->lg->nodes);
    to->step_before[0] = s->h;
    to->step_before[1] = s->time.second ? s->time.ratio : 0;
    if (s->lg->dual_rows) memcpy(to->u, s->u, sizeof *s->u * TL_LG_LANES * (size_t)s->lg->dual_rows);
    if (s->memories) memcpy(to->contact, s->memory, sizeof *s->memory * (size_t)s->memories);
    to->contacts = s->memories;
    tl_lg_led(to);
}

static talus_status step(tl_sim *sim, double dt, bool *again, talus_error *err)
{
    tl_lg_step s;
    *again = false;
    TL_TRY(begin_step(&s, sim, dt, err));
    TL_TRY(predict(&s, err));
    TL_TRY(detect(&s, err));
    TL_TRY(s.time.rests ? tl_lg_find_balance(&s, err) : iterate(&s, err));
    TL_TRY(hold_apart(&s, err));
    TL_TRY(ask_shorter(&s, again, err));
    TL_TRY(measure(&s, again, err));
    TL_TRY(move(&s, again, err));
    TL_TRY(settle(&s, err));
    TL_TRY(measure_depth(&s, err));
    TL_TRY(account(&s, err));
    TL_TRY(tl_cancel_check(err));
    place_bodies(&s);
    tl_lg_fill_report(&s);
    tl_lg_tell(&s);
    TL_TRY(tl_sim_judge(sim, again, err));
    TL_TRY(tl_accounts_end(sim, s.h, s.bodies.body, again, err));

    commit(&s);
    return TALUS_OK;
}

static double dt_wanted(const tl_sim *sim)
{
    const double max = sim->scene->dt_max > 0 ? sim->scene->dt_max : 1 / sim->scene->fps;
    return sim->joints.count ? tl_rigid_joint_limit(sim, TURN_JOINT, max) : INFINITY;
}

extern const tl_engine_entry tl_engine_lg; /* in scene/engines.def */
const tl_engine_entry tl_engine_lg = {tl_lg_begin, tl_lg_end, dt_wanted, step, NULL, NULL, NULL, 0, NULL};
