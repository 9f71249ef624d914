#include "phase/bodies/bodies.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/timer.h"
#include "model/rigid/motion.h"
#include "solve/contact/sweeps.h"

#define TOLERANCE_PULL 1e-7   /* of what forces do in a step, g dt: 1e-8 m/s at 10 ms */
#define TOLERANCE_SPEED 1e-5  /* of the fastest body */
#define TOLERANCE_PLACE 1e-12 /* of the smallest extent, per step: rounding of places, where nothing pulls */
#define AIM_LEAST 1e-2        /* of the least tolerance */
#define AIM_SPEED 1e-6  /* of the fastest impact, where it is cheap: a wheel that rolls has none, whatever its speed */
#define LOOK_SHARE 4e-3 /* of the smallest extent: bodies that moved less are not looked at again */
#define LOOKS_MAX 4     /* per step that add points; nearly all steps need two at most */
#define DEEP 5e-3       /* of the smaller extent: what a pair may go deeper within a step, half of what is asked */
#define PARTS_MAX 16    /* of the longest step: shorter ones are not asked for */
#define PUSH_SHARE 0.2  /* of an overlap that one step takes away */
#define PUSH_SWEEPS 30
#define PUSH_REST 0.9    /* of the slop: what is left of an overlap that is pushed, so that the pushing ends */
#define BOUNCE_LEAST 2.0 /* g dt: slower approaches are rest, not impact */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a step of rigid bodies");
}

void tl_bodies_lap(tl_bodies *s, tl_bodies_phase phase) { tl_bodies_lap_to(s, &s->spent[phase]); }

void tl_bodies_lap_to(tl_bodies *s, tl_spent *spent)
{
    tl_spent now = {tl_seconds(), tl_cpu_seconds()};
    spent->seconds += now.seconds - s->mark.seconds;
    spent->cpu += now.cpu - s->mark.cpu;
    s->mark = now;
}

/* ---- phases ---- */

talus_status tl_bodies_begin(tl_bodies *s, tl_sim *sim, const tl_rigid_data *data, double dt, talus_error *err)
{
    int64_t n = sim->rigid.count;
    tl_arena *a = &sim->arena;
    *s = (tl_bodies){.sim = sim,
                     .scene = sim->scene,
                     .rigid = &sim->rigid,
                     .data = data,
                     .arena = a,
                     .dt = dt,
                     .mark = {tl_seconds(), tl_cpu_seconds()}};
    const int64_t all = n + sim->joints.frames;
    s->before = TL_TAKE_ZERO(a, tl_motion, all);
    s->body = TL_TAKE(a, tl_motion, all);
    s->pose = TL_TAKE(a, tl_pose, n);
    s->friction = TL_TAKE(a, double, n);
    s->v_free = TL_TAKE_ZERO(a, double, 6 * all);
    s->levers = TL_TAKE_ZERO(a, double, 3 * n);
    s->inv_mass = TL_TAKE_ZERO(a, double, all);
    s->inv_inertia = TL_TAKE_ZERO(a, double, 9 * all);
    s->v = TL_TAKE_ZERO(a, double, 6 * all);
    if (!s->before || !s->body || !s->pose || !s->friction || !s->v_free || !s->levers || !s->inv_mass ||
        !s->inv_inertia || !s->v)
        return no_memory(err);
    tl_rigid_begin_bodies(s->rigid, sim->state.rigid.body, s->before, s->pose);
    memcpy(s->body, s->before, sizeof *s->body * (size_t)all);
    for (int64_t i = 0; i < n; i++) s->body[i].correction_force = s->body[i].correction_torque = (tl_vec3){0, 0, 0};
    s->act = s->before;
    return TALUS_OK;
}

/* A scripted body gets the velocity that leads exactly to its pose at the end of the step. */
static talus_status follow(const tl_sim *sim, int32_t i, double dt, tl_motion *m, talus_error *err)
{
    const tl_body *b = &sim->scene->bodies[i];
    if (b->motion != TL_NO_FUNCTION) {
        double p[7];
        TL_TRY(tl_scene_evaluate(sim->scene, b->motion, sim->state.t + dt, p, 7, err));
        m->goal = (tl_pose){{p[0], p[1], p[2]}, tl_quat_normalize((tl_quat){p[3], p[4], p[5], p[6]})};
    }
    m->v = tl_vec3_scale(1 / dt, tl_vec3_sub(m->goal.at, m->x));
    m->w = tl_vec3_scale(1 / dt, tl_quat_difference(m->q, m->goal.rotation));
    return TALUS_OK;
}

static talus_status push_body(tl_bodies *s, int32_t i, tl_motion *m, talus_error *err)
{
    const tl_rigid_body *b = &s->rigid->body[i];
    const tl_body *asked = &s->scene->bodies[i];
    double f[3], t[3];
    TL_TRY(tl_scene_timed(s->scene, &asked->force, s->sim->state.t, f, 3, err));
    TL_TRY(tl_scene_timed(s->scene, &asked->torque, s->sim->state.t, t, 3, err));
    tl_vec3 force = tl_vec3_add(m->force, tl_vec3_load(f)), torque = tl_vec3_add(m->torque, tl_vec3_load(t));
    tl_mat3 inverse = tl_rigid_inverse_inertia(b, m->q);
    m->v = tl_vec3_add_scaled(tl_vec3_add_scaled(m->v, s->dt, s->scene->gravity), s->dt / b->mass, force);
    m->w = tl_vec3_add_scaled(m->w, s->dt, tl_mat3_mul_vec(inverse, torque));
    s->inv_mass[i] = 1 / b->mass;
    memcpy(s->inv_inertia + 9 * (int64_t)i, inverse.m, 9 * sizeof(double));
    return TALUS_OK;
}

/* What forces change of a body's velocity in this step, or the velocity that a script gives it, m/s. */
static double changed(const tl_bodies *s, int32_t i, const tl_motion *m)
{
    static const tl_motion rest;
    const tl_motion *was = s->rigid->body[i].kind == TL_BODY_FREE ? &s->before[i] : &rest;
    const double reach = s->rigid->body[i].reach < INFINITY ? s->rigid->body[i].reach : 0;
    return tl_vec3_norm(tl_vec3_sub(m->v, was->v)) + reach * tl_vec3_norm(tl_vec3_sub(m->w, was->w));
}

talus_status tl_bodies_predict(tl_bodies *s, talus_error *err)
{
    double fastest = 0, led = 0;
    s->pull = 0;
    for (int32_t i = 0; i < s->rigid->count; i++) {
        bool wall = i >= s->rigid->scene_count;
        tl_motion *m = &s->body[i];
        s->friction[i] = s->scene->domain.friction;
        if (!wall)
            TL_TRY(tl_scene_timed(s->scene, &s->scene->bodies[i].friction, s->sim->state.t, &s->friction[i], 1, err));
        if (s->rigid->body[i].kind == TL_BODY_KINEMATIC) TL_TRY(follow(s->sim, i, s->dt, m, err));
        if (s->rigid->body[i].kind == TL_BODY_FREE) {
            fastest = fmax(fastest, tl_vec3_norm(m->v));
            TL_TRY(push_body(s, i, m, err));
        }
        double *max = s->rigid->body[i].kind == TL_BODY_FREE ? &s->pull : &led;
        *max = fmax(*max, changed(s, i, m));
        tl_vec3_store(m->v, s->v_free + 6 * (int64_t)i);
        tl_vec3_store(m->w, s->v_free + 6 * (int64_t)i + 3);
    }
    TL_TRY(tl_bodies_joints_begin(s, err));
    s->pull = fmax(s->pull, tl_bodies_joints_pull(s));
    double asked = s->scene->solver.contact.tolerance;
    s->least = fmax(TOLERANCE_PULL * fmax(s->pull, led), TOLERANCE_PLACE * s->data->extent / s->dt);
    s->tolerance = asked > 0 ? asked : fmax(s->least, TOLERANCE_SPEED * fastest);
    tl_bodies_lap(s, TL_BODIES_PREDICT);
    return TALUS_OK;
}

talus_status tl_bodies_detect(tl_bodies *s, talus_error *err)
{
    s->view = (tl_rigid_view){s->rigid,
                              s->scene,
                              s->body,
                              s->pose,
                              s->friction,
                              s->resting,
                              s->scene->solver.contact.keep * s->data->slop,
                              &s->sim->joints};
    TL_TRY(tl_rigid_detect(&s->view, s->dt, &s->sim->state.rigid, s->arena, &s->contacts, err));
    tl_bodies_lap(s, TL_BODIES_DETECT);
    return TALUS_OK;
}

/* Places are right to the slop, so a point that carries and is apart by far less still touches. A solve leaves
 * points apart by its tolerance times dt. If these gaps had to close first, points of a heap that cannot give way
 * would have to lose their forces to others, all anew in every step: such problems have no solution near the last
 * one, and methods stall. */
static void keep_touching(tl_bodies *s)
{
    const double max = s->scene->solver.contact.touch * s->data->slop;
    for (int32_t k = 0; k < s->contacts.count; k++) {
        tl_rigid_point *p = &s->contacts.point[k];
        if (s->lam[3 * (int64_t)k] > 0 && p->gap > 0 && p->gap <= max && !p->half) p->gap = 0;
    }
}

talus_status tl_bodies_match(tl_bodies *s, talus_error *err)
{
    s->lam = TL_TAKE(s->arena, double, 3 * (int64_t)s->contacts.count);
    if (!s->lam) return no_memory(err);
    tl_rigid_match(s->rigid, &s->contacts, &s->sim->state.rigid, s->dt, s->lam);
    keep_touching(s);
    return TALUS_OK;
}

/* Approaches up to here are rest, faster ones impacts, m/s. */
double tl_bodies_resting_speed(const tl_bodies *s) { return BOUNCE_LEAST * s->dt * tl_vec3_norm(s->scene->gravity); }

double tl_bodies_impact_speed(const tl_bodies *s, const tl_rigid_point *p, const double *v)
{
    double first = tl_rigid_point_speed(p, v), last = tl_rigid_point_speed(p, s->v_free);
    double gap = fmax(tl_rigid_point_room(p), 0), gains = (last - first) / s->dt;
    if (!(last < 0 && gap + s->dt * last < 0)) return 1;
    return -sqrt(fmax(0, first * first - 2 * gains * gap));
}

talus_status tl_bodies_assemble(tl_bodies *s, talus_error *err)
{
    if (s->resists) {
        TL_TRY(tl_rigid_find_resist(s->rigid, &s->contacts, s->arena, &s->resist, err));
        s->resist_lam = TL_TAKE_ZERO(s->arena, double, 3 * (int64_t)s->resist.count);
        if (!s->resist_lam) return no_memory(err);
        tl_rigid_set_resist(&s->resist, &s->contacts, s->lam, NULL);
    }
    TL_TRY(tl_bodies_joints_assemble(s, err));
    const tl_contact_bodies bodies = {s->rigid->count, s->inv_mass, s->inv_inertia, NULL, s->v_free};
    TL_TRY(tl_rigid_problem_build(&s->p, &bodies, &s->contacts, s->resists ? &s->resist : NULL, &s->joint.blocks, s->dt,
                                  s->arena, err));
    double impact = 0, rest = tl_bodies_resting_speed(s);
    for (int64_t k = 0; k < s->contacts.count; k++) impact = fmax(impact, -s->p.q[3 * k] - rest);
    s->aim = fmin(s->tolerance, fmax(AIM_LEAST * s->least, AIM_SPEED * impact));
    tl_bodies_lap(s, TL_BODIES_ASSEMBLE);
    return TALUS_OK;
}

double tl_bodies_update_resist(tl_bodies *s)
{
    if (!s->resist.count) return 0;
    double change = tl_rigid_set_resist(&s->resist, &s->contacts, s->lam, &s->p);
    for (int32_t k = 0; k < s->resist.count; k++) s->p.mu[s->contacts.count + k] = -fmax(s->resist.radius[k], DBL_MIN);
    return change;
}

static bool finite3(tl_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

/* The one message of all engines. A node of an elastic body has no spin. */
static talus_status check_finite(const char *name, const char *phase, const tl_motion *m, bool *again, talus_error *err)
{
    if (finite3(m->x) && finite3(m->v) && finite3(m->w) && isfinite(tl_quat_norm2(m->q))) return TALUS_OK;
    *again = true;
    char spin[80] = "";
    if (tl_vec3_norm2(m->w) != 0)
        (void)snprintf(spin, sizeof spin, ", spin (%g, %g, %g) rad/s", m->w.x, m->w.y, m->w.z);
    return TL_FAIL(err, TALUS_BAD_INPUT,
                   "body \"%.60s\" became NaN or infinite in %s: place (%g, %g, %g) m, velocity (%g, %g, %g) m/s%s",
                   name, phase, m->x.x, m->x.y, m->x.z, m->v.x, m->v.y, m->v.z, spin);
}

talus_status tl_bodies_check_nodes(const tl_lg *lg, const char *phase, const double *x, const double *v, bool *again,
                                   talus_error *err)
{
    for (int32_t i = 0; i < lg->nodes; i++) {
        const tl_motion m = {.x = tl_vec3_load(x + 3 * (int64_t)i), .v = tl_vec3_load(v + 3 * (int64_t)i)};
        TL_TRY(check_finite(lg->body[lg->owner[i]].name, phase, &m, again, err));
    }
    return TALUS_OK;
}

talus_status tl_bodies_poses(const tl_bodies *s, const tl_pose **out, talus_error *err)
{
    tl_pose *pose = TL_TAKE(s->arena, tl_pose, s->rigid->count);
    if (!pose) return no_memory(err);
    for (int32_t i = 0; i < s->rigid->count; i++) pose[i] = tl_rigid_pose(&s->rigid->body[i], &s->body[i]);
    *out = pose;
    return TALUS_OK;
}

talus_status tl_bodies_poses_ahead(const tl_bodies *s, const double *v, const tl_pose **out, talus_error *err)
{
    tl_pose *pose = TL_TAKE(s->arena, tl_pose, s->rigid->count);
    if (!pose) return no_memory(err);
    for (int32_t i = 0; i < s->rigid->count; i++) {
        tl_motion m = s->body[i];
        const tl_rigid_body *b = &s->rigid->body[i];
        if (b->kind == TL_BODY_FREE && !b->elastic) {
            if (v) m.v = tl_vec3_load(v + 6 * (int64_t)i), m.w = tl_vec3_load(v + 6 * (int64_t)i + 3);
            tl_rigid_fly(b, s->dt, &m);
        } else if (b->kind == TL_BODY_KINEMATIC)
            m.x = m.goal.at, m.q = m.goal.rotation;
        pose[i] = tl_rigid_pose(b, &m);
    }
    *out = pose;
    return TALUS_OK;
}

bool tl_bodies_flies(const tl_bodies *s, int32_t i)
{
    const double *v = s->v + 6 * (int64_t)i, *fell = s->v_free + 6 * (int64_t)i;
    if (s->straight || (s->half.any && s->half.on[i])) return false;
    return s->rigid->body[i].kind == TL_BODY_FREE && !memcmp(v, fell, 3 * sizeof *v);
}

/* What flight left out of dt v. */
static tl_vec3 flight_lag(const tl_bodies *s, int32_t i)
{
    const double *fell = s->v_free + 6 * (int64_t)i;
    if (!tl_bodies_flies(s, i)) return (tl_vec3){0, 0, 0};
    return tl_vec3_scale(-0.5 * s->dt, tl_vec3_sub(tl_vec3_load(fell), s->before[i].v));
}

talus_status tl_bodies_move(tl_bodies *s, bool *again, talus_error *err)
{
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        const tl_rigid_body *b = &s->rigid->body[i];
        tl_motion *m = &s->body[i];
        bool half = s->half.any && s->half.on[i];
        if (s->resting && s->resting[i]) continue;
        m->x = half ? s->act[i].x : s->before[i].x;
        m->q = half ? s->act[i].q : s->before[i].q;
        if (b->kind == TL_BODY_FREE) {
            m->v = tl_vec3_load(s->v + 6 * (int64_t)i);
            m->w = tl_vec3_load(s->v + 6 * (int64_t)i + 3);
            tl_rigid_fly(b, half ? 0.5 * s->dt : s->dt, m);
            m->x = tl_vec3_add(m->x, flight_lag(s, i)); /* untouched bodies fall on a parabola */
        } else if (b->kind == TL_BODY_KINEMATIC) {
            m->x = m->goal.at;
            m->q = m->goal.rotation;
        }
        TL_TRY(check_finite(s->scene->bodies[i].name, "move", m, again, err));
    }
    tl_bodies_lap(s, TL_BODIES_MOVE);
    return TALUS_OK;
}

/* A step of half the length may be tried. */
static bool may_shorten(const tl_bodies *s)
{
    double longest = s->scene->dt_max > 0 ? s->scene->dt_max : 1 / s->scene->fps;
    return 0.5 * s->dt >= fmax(s->scene->dt_min, longest / PARTS_MAX);
}

talus_status tl_bodies_look_again(tl_bodies *s, int looks, bool *more, bool *again, talus_error *err)
{
    int32_t n = s->rigid->count, any = 0;
    bool *fast = TL_TAKE(s->arena, bool, n);
    const tl_pose *end;
    *more = false;
    if (!fast) return no_memory(err);
    for (int32_t i = 0; i < n; i++) {
        const tl_motion *m = &s->body[i];
        double reach = s->rigid->body[i].reach < INFINITY ? s->rigid->body[i].reach : 0;
        fast[i] = s->dt * (tl_vec3_norm(m->v) + tl_rigid_turn(&s->rigid->body[i], m) * reach) >
                  LOOK_SHARE * s->rigid->body[i].extent;
        any += fast[i];
    }
    if (!any) return TALUS_OK;
    TL_TRY(tl_bodies_poses(s, &end, err));
    tl_rigid_view start = s->view;
    start.body = s->before;
    tl_rigid_contacts all;
    int32_t *from;
    double deeper;
    const tl_rigid_way way = {&start, end, s->v, s->dt, fast, &s->contacts, s->data->slop};
    TL_TRY(tl_rigid_detect_again(&way, s->arena, &all, &from, &deeper, err));
    if (looks == LOOKS_MAX && deeper > DEEP && may_shorten(s)) {
        *again = true;
        return TL_FAIL(err, TALUS_NOT_DEFINITE, "bodies move into each other by %.2g %% of their size", 100 * deeper);
    }
    if (tl_bodies_halfway_refuse(s, &all, from)) {
        bool stopped;
        tl_contact_report solved; /* an impact that is stopped again is judged with the rest */
        TL_TRY(tl_bodies_halfway(s, &solved, &stopped, err));
        *more = true;
    } else if (looks < LOOKS_MAX && all.count > s->contacts.count) {
        double *lam = TL_TAKE_ZERO(s->arena, double, 3 * (int64_t)all.count);
        if (!lam) return no_memory(err);
        for (int32_t k = 0; k < all.count; k++)
            if (from[k] >= 0) memcpy(lam + 3 * (int64_t)k, s->lam + 3 * (int64_t)from[k], 3 * sizeof *lam);
        s->contacts = all;
        s->lam = lam;
        *more = true;
    }
    tl_bodies_lap(s, TL_BODIES_LOOK);
    return TALUS_OK;
}

double tl_bodies_end_gaps(const tl_bodies *s, double *gap)
{
    double least = 0;
    for (int32_t k = 0; k < s->contacts.count; k++) {
        const tl_rigid_point *p = &s->contacts.point[k];
        double u = tl_rigid_point_speed(p, s->v);
        if (p->half) u = 0.5 * (u + tl_rigid_point_speed(p, s->half.early));
        gap[k] = p->gap + p->bend + s->dt * u +
                 tl_vec3_dot(p->normal, tl_vec3_sub(flight_lag(s, p->a), flight_lag(s, p->b)));
        least = fmin(least, gap[k]);
    }
    return least;
}

/* Places that joints hold stay where they are; limits keep the room that is left, springs and motors do nothing. */
static void hold_joints(const tl_bodies *s, double *q, tl_contact_box *boxes)
{
    for (int32_t k = 0; s->joint.now && k < s->sim->joints.count; k++) {
        const tl_joint *j = &s->sim->joints.joint[k];
        tl_joint_row row[TL_JOINT_ROWS];
        double turn[2];
        if (s->joint.first[k] == s->joint.first[k + 1]) continue;
        tl_joint_measure(j, s->body, &s->joint.now[k], row, turn);
        for (int r = 0; r < j->rows; r++) {
            const int64_t at = 3 * (int64_t)s->joint.first[k] + r;
            tl_contact_box *box = &boxes[at / 3];
            const bool holds = j->law[r] == TL_ROW_HOLD, limits = j->law[r] == TL_ROW_LIMIT;
            q[at] = limits ? fmax(0, row[r].x) : 0;
            box->lo[at % 3] = holds ? -INFINITY : 0;
            box->hi[at % 3] = holds || limits ? INFINITY : 0;
            box->give[at % 3] = 0;
        }
    }
}

/* The same contact problem for a displacement, friction kept: without it leaning bodies would slide. */
talus_status tl_bodies_stabilise(tl_bodies *s, talus_error *err)
{
    int64_t m = s->contacts.count;
    double *gap = TL_TAKE(s->arena, double, m), slop = s->data->slop;
    if (!gap) return no_memory(err);
    if (!(-tl_bodies_end_gaps(s, gap) > slop)) return TALUS_OK;
    for (int64_t k = 0; k < m; k++) {
        double over = gap[k] + PUSH_REST * slop;
        s->p.q[3 * k] = over < 0 ? PUSH_SHARE * over : over;
        s->p.q[3 * k + 1] = s->p.q[3 * k + 2] = 0;
    }
    const int64_t resist = s->resist.count, held = s->joint.blocks.count; /* that does not resist a push */
    for (int64_t k = m; k < m + resist; k++) s->p.mu[k] = -DBL_MIN;
    memset(s->p.q + 3 * m, 0, 3 * sizeof *s->p.q * (size_t)resist);
    if (held) {
        tl_contact_box *boxes = TL_TAKE_ZERO(s->arena, tl_contact_box, held);
        if (!boxes) return no_memory(err);
        hold_joints(s, s->p.q + 3 * (m + resist), boxes);
        s->p.problem.box = boxes;
    }
    tl_pairs t;
    TL_TRY(tl_arena_reserve(s->arena, tl_pairs_bytes(&s->p.problem), err));
    if (!tl_pairs_build(&s->p.problem, &t, s->arena)) return TALUS_OK;
    double *push = TL_TAKE_ZERO(s->arena, double, 3 * (m + resist + held)),
           *d = TL_TAKE_ZERO(s->arena, double, tl_pairs_lanes(&t));
    if (!push || !d) return no_memory(err);
    tl_contact_sweep(&t, PUSH_SWEEPS, TL_SWEEP_DISC, push, d, NULL);
    for (int32_t k = 0; k < t.moving; k++) {
        tl_motion *b = &s->body[t.of_moving[k]];
        b->x = tl_vec3_add(b->x, tl_vec3_load(d + TL_BODY_LANES * (int64_t)k));
        b->q = tl_quat_normalize(tl_quat_mul(tl_quat_exp(tl_vec3_load(d + TL_BODY_LANES * (int64_t)k + 3)), b->q));
    }
    tl_bodies_lap(s, TL_BODIES_STABILISE);
    return TALUS_OK;
}

talus_status tl_bodies_find_depth(tl_bodies *s, talus_error *err)
{
    const tl_pose *end;
    tl_rigid_view start = {
        .rigid = s->rigid, .scene = s->scene, .pose = s->pose, .absent = s->view.absent, .joints = &s->sim->joints};
    TL_TRY(tl_bodies_poses(s, &end, err));
    TL_TRY(tl_rigid_depth(&start, end, s->contacts.point ? &s->contacts : NULL, s->arena, &s->penetration, err));
    tl_bodies_lap(s, TL_BODIES_LOOK);
    return TALUS_OK;
}

void tl_bodies_correct(tl_bodies *s, int32_t i, tl_vec3 v, tl_vec3 w)
{
    const tl_rigid_body *b = &s->rigid->body[i];
    tl_motion *m = &s->body[i];
    const tl_vec3 dv = tl_vec3_sub(v, m->v), dL = tl_rigid_angular_momentum(b, m->q, tl_vec3_sub(w, m->w));
    m->correction_force = tl_vec3_add_scaled(m->correction_force, b->mass / s->dt, dv);
    m->correction_torque = tl_vec3_add_scaled(m->correction_torque, 1 / s->dt, dL);
    m->v = v;
    m->w = w;
}

talus_status tl_bodies_make_room(tl_bodies *s, talus_error *err)
{
    tl_rigid_state *r = &s->sim->state.rigid;
    const int64_t room = s->contacts.count + (s->resting ? r->contacts : 0);
    s->memory = TL_TAKE(s->arena, tl_rigid_memory, room);
    if (!s->memory) return no_memory(err);
    return tl_rigid_contacts_reserve(r, room, s->half.stopped.count, err);
}
