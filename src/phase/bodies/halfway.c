/* Second order while bodies touch: impulses act half-way.
 *
 * In an island of bodies that touch, turn, and have no impact, the step is
 *     fly half a step, velocities as they are        free flight keeps energy and angular momentum
 *     all impulses at once                           gravity, forces, contacts, with the places and levers that are found there
 *     fly the other half
 * which is the same forwards and backwards in time. Contacts ask for twice the mean of the velocities before and after:
 *     0 <= lam_n  _|_  u_n + u_n' >= -2 gap / dt     lam_t opposes u_t + u_t'
 * with the gap of the start of the step, so that a point that touches there touches at the end. What contacts do to the
 * energy is lam . (u + u') / 2, and the fall has the same mean: without slip energy is kept, with slip it falls,
 * whatever the step.
 *
 * The mean alone would throw back what is not as it should be at the start: a body that has slid and comes to rest
 * would slide back and forth for ever. So velocities which the start should not have are taken out of it: an
 * approach (that is an impact, and it only loses energy), and slip that friction works against. */
#include <math.h>
#include <string.h>

#include "model/rigid/motion.h"
#include "phase/bodies/bodies.h"

#define TURN_LEAST 1e-3 /* rad: within a step; bodies that turn less are as exact as that without */
#define SINK 0.05       /* of the slop: how deep an approach of the start may lead before it is stopped there */

/* Bodies of an island, at most: in a heap something always lands or slips, so that most of its steps are refused
 * after they are solved, and contacts that ask for the mean of two velocities pass jitter on for ever where all
 * others would stop it. Measured, 200 mixed bodies poured: 16.2 s for 9.7, 5.4 % of the steps miss their target for
 * 0.3 %. */
#define BODIES_MAX 40

/* Of the resting speed, 2 g dt: slower velocities are mostly the rule's own error, of second order. Measured: with
 * 0.5 a capsule of 100 rad/s, whose places of contact are known to 1 um, jumps by 20 um, with 0.05 by 2; a top at
 * 0.25 rad per step sinks by 0.3 um per s with 0.5, by 2 with 0.05, by 20 when all is taken out. */
#define SMALL 0.05

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for contacts half-way through a step");
}

static bool is_free(const tl_bodies *s, int32_t i) { return s->rigid->body[i].kind == TL_BODY_FREE; }

static int32_t root_of(int32_t *root, int32_t i)
{
    for (; root[i] != i; i = root[i]) root[i] = root[root[i]];
    return i;
}

static int32_t island_of(const tl_bodies *s, const tl_rigid_point *p)
{
    return root_of(s->half.island, is_free(s, p->a) ? p->a : p->b);
}

/* An approach that the mean velocity would take inside, m/s; 0 or less. */
static double sinks(const tl_bodies *s, const tl_rigid_point *p, const double *v)
{
    return fmin(0, tl_rigid_point_speed(p, v) + 2 * fmax(0, tl_rigid_point_room(p)) / s->dt);
}

/* ---- which islands ---- */

static void find_islands(tl_bodies *s)
{
    int32_t *root = s->half.island;
    for (int32_t i = 0; i < s->rigid->count; i++) root[i] = i;
    for (int32_t k = 0; k < s->contacts.count; k++) {
        const tl_rigid_point *p = &s->contacts.point[k];
        if (!is_free(s, p->a) || !is_free(s, p->b)) continue;
        int32_t i = root_of(root, p->a), j = root_of(root, p->b);
        root[i < j ? j : i] = i < j ? i : j;
    }
    for (int32_t k = 0; k < s->sim->joints.count; k++) {
        const tl_joint *p = &s->sim->joints.joint[k];
        if (p->b < 0 || !is_free(s, p->a) || !is_free(s, p->b)) continue;
        int32_t i = root_of(root, p->a), j = root_of(root, p->b);
        root[i < j ? j : i] = i < j ? i : j;
    }
}

/* Islands of too many bodies. */
static void refuse_heaps(tl_bodies *s, int32_t *count)
{
    memset(count, 0, sizeof *count * (size_t)s->rigid->count);
    for (int32_t i = 0; i < s->rigid->count; i++) {
        int32_t island = root_of(s->half.island, i);
        if (is_free(s, i) && ++count[island] > BODIES_MAX) s->half.refused[island] = true;
    }
}

/* What something else pushes whose places are those of the start. */
static void refuse_barred(tl_bodies *s)
{
    for (int32_t i = 0; i < s->rigid->count && s->half.barred; i++)
        if (s->half.barred[i]) s->half.refused[root_of(s->half.island, i)] = true;
}

/* Those that touch something and turn, unless something else is known of them. */
static bool choose(tl_bodies *s)
{
    bool any = false, *on = s->half.on;
    memset(on, 0, sizeof *on * (size_t)s->rigid->count);
    for (int32_t k = 0; k < s->contacts.count && !s->half.barred; k++) {
        const tl_rigid_point *p = &s->contacts.point[k];
        for (int side = 0; side < 2; side++) {
            int32_t i = side ? p->b : p->a;
            if (is_free(s, i) && s->dt * tl_vec3_norm(s->before[i].w) > TURN_LEAST) on[island_of(s, p)] = true;
        }
    }
    for (int32_t k = 0; k < s->sim->joints.count; k++) { /* joints are of second order, whatever turns */
        const tl_joint *j = &s->sim->joints.joint[k];
        on[root_of(s->half.island, is_free(s, j->a) ? j->a : j->b)] = true;
    }
    for (int32_t i = s->rigid->count - 1; i >= 0; i--) { /* an island's root is its first body */
        int32_t island = root_of(s->half.island, i);
        on[i] = is_free(s, i) && on[island] && !s->half.refused[island];
        any |= on[i];
    }
    return any;
}

/* Islands with impacts that part again are the bounce's. */
static void refuse_bounces(tl_bodies *s, const double *v_start)
{
    const double slow = tl_bodies_resting_speed(s);
    for (int32_t k = 0; k < s->contacts.count; k++) {
        const tl_rigid_point *p = &s->contacts.point[k];
        if (p->restitution > 0 && !(p->gap > 0) && tl_rigid_point_speed(p, v_start) < -slow)
            s->half.refused[island_of(s, p)] = true;
    }
}

/* ---- approaches of the start ---- */

/* Open, and comes fast: whether it closes is seen half-way. */
static bool may_miss(const tl_bodies *s, const tl_rigid_point *p, const double *v_start)
{
    return p->gap > s->data->slop && tl_rigid_point_speed(p, v_start) < -tl_bodies_resting_speed(s);
}

/* Islands where something touches and approaches at the start: sinking [bodies], by root. False: none. */
static bool find_sinking(const tl_bodies *s, const double *v_start, bool *sinking)
{
    bool any = false;
    memset(sinking, 0, sizeof *sinking * (size_t)s->rigid->count);
    for (int32_t k = 0; k < s->contacts.count; k++) {
        const tl_rigid_point *p = &s->contacts.point[k];
        int32_t island = island_of(s, p);
        if (s->half.on[island] && !may_miss(s, p, v_start) &&
            -0.5 * s->dt * sinks(s, p, v_start) > SINK * s->data->slop)
            any = sinking[island] = true;
    }
    return any;
}

/* Joints of islands half-way; the others are none of this. */
static bool stop_joints(const tl_bodies *s, tl_joint_blocks *out)
{
    *out = s->joint.stop;
    out->box = TL_TAKE(s->arena, tl_contact_box, out->count);
    for (int32_t k = 0; out->box && k < out->count; k++) {
        const int32_t a = out->body[k][0], b = out->body[k][1];
        out->box[k] = s->joint.stop.box[k];
        if (!s->half.on[is_free(s, a) ? a : b]) out->box[k] = (tl_contact_box){{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    }
    return out->box || !out->count;
}

/* What touches and approaches at the start, or moves as joints forbid, is stopped there: an impact without
 * restitution, which loses energy. v_start, and v_free with it, change. */
static talus_status stop(tl_bodies *s, const bool *sinking, double *v_start, tl_contact_report *solved,
                         talus_error *err)
{
    int32_t n = s->rigid->count, m = s->contacts.count;
    tl_rigid_contacts *c = &s->half.stopped;
    *c = (tl_rigid_contacts){.point = TL_TAKE(s->arena, tl_rigid_point, m)};
    if (!c->point) return no_memory(err);
    for (int32_t k = 0; k < m; k++) {
        if (!sinking[island_of(s, &s->contacts.point[k])] || may_miss(s, &s->contacts.point[k], v_start)) continue;
        c->point[c->count] = s->contacts.point[k];
        c->point[c->count++].half = true; /* open points may close with the mean velocity */
    }
    tl_rigid_problem p;
    double *lam = TL_TAKE_ZERO(s->arena, double, 3 * ((int64_t)c->count + s->joint.stop.count)),
           *v = TL_TAKE(s->arena, double, 6 * (int64_t)n);
    tl_joint_blocks joints;
    if (!lam || !v || !stop_joints(s, &joints)) return no_memory(err);
    const tl_contact_bodies bodies = {n, s->inv_mass, s->inv_inertia, NULL, v_start};
    TL_TRY(tl_rigid_problem_build(&p, &bodies, c, NULL, &joints, s->dt, s->arena, err));
    tl_stop until = {.tolerance = s->tolerance, .max_iterations = s->data->iterations};
    tl_options options = tl_options_default();
    options.history = s->sim->history;
    options.aim = s->tolerance;
    options.slow = s->pull;
    TL_TRY(tl_contact_solve(s->data->method, &p.problem, &options, &until, lam, s->arena, solved, err));
    const double certificate = solved->certificate.residual;
    TL_TRY(tl_sim_show(s->sim, (tl_shown){TL_SHOWN_CONTACT, &p.problem, lam, certificate, until.tolerance}, err));
    tl_contact_velocities(&p.bodies, lam, v);
    double *v_free = TL_TAKE(s->arena, double, 6 * (int64_t)n);
    if (!v_free) return no_memory(err);
    for (int64_t k = 0; k < 6 * (int64_t)n; k++) {
        v_free[k] = s->v_free[k] + (v[k] - v_start[k]);
        v_start[k] = v[k];
    }
    s->v_free = v_free;
    s->half.lam = lam;
    s->half.stops = true;
    return TALUS_OK;
}

/* ---- half-way ---- */

/* Where bodies are then, velocities before the impulses, and what impulses meet there. */
static talus_status fly_half(tl_bodies *s, const double *v_start, talus_error *err)
{
    int32_t n = s->rigid->count;
    tl_motion *act = TL_TAKE(s->arena, tl_motion, n);
    double *v_free = TL_TAKE(s->arena, double, 6 * (int64_t)n),
           *inv_inertia = TL_TAKE(s->arena, double, 9 * (int64_t)n), *early = TL_TAKE(s->arena, double, 6 * (int64_t)n);
    tl_pose *pose = TL_TAKE(s->arena, tl_pose, n);
    if (!act || !v_free || !inv_inertia || !early || !pose) return no_memory(err);
    memcpy(act, s->before, sizeof *act * (size_t)n);
    memcpy(v_free, s->v_free, 6 * sizeof *v_free * (size_t)n);
    memcpy(early, s->v_free, 6 * sizeof *early * (size_t)n);
    memcpy(inv_inertia, s->inv_inertia, 9 * sizeof *inv_inertia * (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        const tl_rigid_body *b = &s->rigid->body[i];
        const int64_t at = 6 * (int64_t)i;
        tl_motion *m = &act[i];
        if (s->half.on[i]) {
            m->v = tl_vec3_load(v_start + at);
            m->w = tl_vec3_load(v_start + at + 3);
            tl_vec3 torque = tl_rigid_angular_momentum(b, m->q, tl_vec3_sub(tl_vec3_load(v_free + at + 3), m->w));
            tl_rigid_fly(b, 0.5 * s->dt, m);
            tl_mat3 inverse = tl_rigid_inverse_inertia(b, m->q);
            memcpy(inv_inertia + 9 * (int64_t)i, inverse.m, sizeof inverse.m);
            tl_vec3_store(m->v, early + at);
            tl_vec3_store(m->w, early + at + 3);
            tl_vec3_store(tl_vec3_add(m->w, tl_mat3_mul_vec(inverse, torque)), v_free + at + 3);
        } else if (b->kind == TL_BODY_KINEMATIC) {
            m->v = s->body[i].v;
            m->w = s->body[i].w;
            m->x = tl_vec3_add_scaled(m->x, 0.5 * s->dt, m->v);
            m->q = tl_quat_normalize(tl_quat_mul(tl_quat_exp(tl_vec3_scale(0.5 * s->dt, m->w)), m->q));
        }
        pose[i] = tl_rigid_pose(b, m);
    }
    s->act = act;
    s->v_free = v_free;
    s->inv_inertia = inv_inertia;
    s->half.early = early;
    s->half.pose = pose;
    return TALUS_OK;
}

/* Share of a velocity which the start should not have that is taken out: all of what an impact or slip has left,
 * little of what is the rule's own error, which comes and goes. */
static double taken(const tl_bodies *s, double speed)
{
    double small = SMALL * tl_bodies_resting_speed(s);
    return speed < small ? speed / small : 1;
}

/* A point that was not among those of the start: where its marks on both bodies were then. */
static tl_rigid_point at_start(const tl_bodies *s, const tl_rigid_point *p)
{
    tl_rigid_point q = *p;
    tl_vec3 a = tl_pose_apply(&s->pose[p->a], p->at_a), b = tl_pose_apply(&s->pose[p->b], p->at_b);
    q.at = tl_vec3_scale(0.5, tl_vec3_add(a, b));
    q.arm_a = tl_vec3_sub(a, s->before[p->a].x);
    q.arm_b = tl_vec3_sub(b, s->before[p->b].x);
    q.gap = fmax(fmin(0, p->gap), p->gap + tl_vec3_dot(p->normal, tl_vec3_sub(a, b)));
    return q;
}

/* What the law takes from the start: gap, and velocities that it should not have. `fast`: it was open and came fast.
 * Returns false when it would close, whatever the impulses: an impact. */
static bool meet_start(tl_bodies *s, const double *v_start, const tl_rigid_point *first, tl_rigid_point *p)
{
    const double *early = s->half.early, slow = tl_bodies_resting_speed(s);
    tl_vec3 u = tl_rigid_point_velocity(p, early), was = tl_rigid_point_velocity(first, v_start);
    double normal = tl_vec3_dot(p->normal, u), speed = tl_vec3_dot(was, first->normal), sink = sinks(s, first, v_start);
    was = tl_vec3_add_scaled(was, -speed, first->normal);
    p->gap = first->gap;
    p->early[0] = normal - taken(s, -sink) * sink;
    p->early[1] = tl_vec3_dot(p->t1, u);
    p->early[2] = tl_vec3_dot(p->t2, u);
    was = tl_vec3_scale(taken(s, tl_vec3_norm(was)), was);
    p->slip[0] = tl_vec3_dot(p->t1, was);
    p->slip[1] = tl_vec3_dot(p->t2, was);
    p->fast = speed < -slow && p->gap > s->data->slop;
    return !(p->fast && p->gap + s->dt * normal < 0);
}

/* Contacts half-way. `again`: something would close there, whatever the impulses, in an island of `among` (by root;
 * NULL: all). */
static talus_status look_half(tl_bodies *s, const bool *among, const double *v_start, bool *again, talus_error *err)
{
    tl_rigid_view view = s->view;
    tl_rigid_contacts c;
    int32_t *from;
    view.body = s->act;
    view.pose = s->half.pose;
    *again = false;
    TL_TRY(tl_rigid_detect_half(&view, s->dt, s->half.on, &s->contacts, s->arena, &c, &from, err));
    for (int32_t k = 0; k < c.count; k++) {
        tl_rigid_point back, *first = &back;
        if (!c.point[k].half) continue;
        if (from[k] >= 0)
            first = &s->contacts.point[from[k]];
        else
            back = at_start(s, &c.point[k]);
        if (meet_start(s, v_start, first, &c.point[k]) || (among && !among[island_of(s, first)])) continue;
        *again = s->half.refused[island_of(s, &c.point[k])] = true;
    }
    s->contacts = c;
    return TALUS_OK;
}

/* ---- phases ---- */

static talus_status begin(tl_bodies *s, talus_error *err)
{
    int64_t n = s->rigid->count;
    s->half.on = TL_TAKE_ZERO(s->arena, bool, n);
    s->half.refused = TL_TAKE_ZERO(s->arena, bool, n);
    s->half.island = TL_TAKE(s->arena, int32_t, n);
    s->half.gain = TL_TAKE(s->arena, double, n);
    s->half.v_free = s->v_free;
    s->half.inv_inertia = s->inv_inertia;
    s->half.contacts = s->contacts;
    int32_t *count = TL_TAKE(s->arena, int32_t, n);
    if (!s->half.on || !s->half.refused || !s->half.island || !s->half.gain || !count) return no_memory(err);
    find_islands(s);
    refuse_heaps(s, count);
    return TALUS_OK;
}

static void from_the_start(tl_bodies *s, double *v_start)
{
    s->v_free = s->half.v_free;
    s->inv_inertia = s->half.inv_inertia;
    s->contacts = s->half.contacts;
    s->act = s->before;
    s->half.stopped.count = 0;
    s->half.stops = false;
    for (int32_t i = 0; i < s->rigid->count; i++) {
        const tl_motion *m = is_free(s, i) ? &s->before[i] : &s->body[i];
        tl_vec3_store(m->v, v_start + 6 * (int64_t)i);
        tl_vec3_store(m->w, v_start + 6 * (int64_t)i + 3);
    }
}

/* In the step before, with all the friction it had: it goes on, and that is no error of the start. */
static bool slid(const tl_rigid_point *p, const double *l)
{
    return l[0] > 0 && hypot(l[1], l[2]) > 0.999 * p->friction * l[0];
}

talus_status tl_bodies_halfway(tl_bodies *s, tl_contact_report *solved, bool *any, talus_error *err)
{
    double *v_start = TL_TAKE(s->arena, double, 6 * (int64_t)s->rigid->count);
    bool *sinking = TL_TAKE(s->arena, bool, s->rigid->count);
    *any = false;
    if (!v_start || !sinking) return no_memory(err);
    if (!s->half.on) TL_TRY(begin(s, err));
    refuse_barred(s);
    for (bool again = true; again;) {
        *any = false;
        from_the_start(s, v_start);
        refuse_bounces(s, v_start);
        s->half.any = choose(s);
        if (!s->half.any) break;
        *any = find_sinking(s, v_start, sinking) || tl_bodies_joints_forbid(s, v_start);
        if (*any) { /* where other impacts come anyway, the start need not be solved for that */
            TL_TRY(fly_half(s, v_start, err));
            TL_TRY(look_half(s, sinking, v_start, &again, err));
            if (again) continue;
            from_the_start(s, v_start);
            TL_TRY(stop(s, sinking, v_start, solved, err));
        }
        TL_TRY(fly_half(s, v_start, err));
        TL_TRY(look_half(s, NULL, v_start, &again, err));
    }
    TL_TRY(tl_bodies_match(s, err));
    for (int32_t k = 0; k < s->contacts.count && s->half.any; k++) {
        tl_rigid_point *p = &s->contacts.point[k];
        if (slid(p, s->lam + 3 * (int64_t)k)) p->slip[0] = p->slip[1] = 0;
        p->early[1] -= p->slip[0];
        p->early[2] -= p->slip[1];
    }
    tl_bodies_lap(s, TL_BODIES_DETECT);
    return TALUS_OK;
}

/* Contacts of an island may not add energy: where they do, slip that they worked with is not taken out. */
static bool gains(tl_bodies *s)
{
    double *gain = s->half.gain;
    bool any = false;
    memset(gain, 0, sizeof *gain * (size_t)s->rigid->count);
    for (int32_t k = 0; k < s->contacts.count; k++) {
        const tl_rigid_point *p = &s->contacts.point[k];
        const double *l = s->lam + 3 * (int64_t)k;
        if (!p->half || !(l[0] > 0)) continue;
        tl_vec3 twice = tl_vec3_add(tl_rigid_point_velocity(p, s->v), tl_rigid_point_velocity(p, s->half.early));
        double work = 0.5 * s->dt * tl_vec3_dot(tl_rigid_point_force(p, l, s->dt), twice);
        gain[island_of(s, p)] += work - s->aim * l[0];
    }
    for (int32_t k = 0; k < s->contacts.count; k++) {
        tl_rigid_point *p = &s->contacts.point[k];
        double *slip = p->slip;
        const double *l = s->lam + 3 * (int64_t)k;
        if (!p->half || !(gain[island_of(s, p)] > 0) || !(l[1] * slip[0] + l[2] * slip[1] > 0)) continue;
        p->early[1] += slip[0];
        p->early[2] += slip[1];
        slip[0] = slip[1] = 0;
        any = true;
    }
    return any;
}

talus_status tl_bodies_halfway_check(tl_bodies *s, tl_contact_report *solved, bool *again, talus_error *err)
{
    bool hit = false, stopped;
    for (int32_t k = 0; k < s->contacts.count && s->half.any; k++)
        if (s->contacts.point[k].fast && s->lam[3 * (int64_t)k] > 0)
            hit = s->half.refused[island_of(s, &s->contacts.point[k])] = true;
    if (hit) TL_TRY(tl_bodies_halfway(s, solved, &stopped, err));
    *again = hit || (s->half.any && gains(s));
    return TALUS_OK;
}

bool tl_bodies_halfway_refuse(tl_bodies *s, const tl_rigid_contacts *c, const int32_t *from)
{
    bool any = false;
    for (int32_t k = 0; k < c->count && s->half.any; k++) {
        if (from[k] >= 0 || !s->half.on[island_of(s, &c->point[k])]) continue;
        any = s->half.refused[island_of(s, &c->point[k])] = true;
    }
    return any;
}
