#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "model/rigid/contacts.h"
#include "model/rigid/motion.h"
#include "phase/rigid/rigid.h"

#define ITERATIONS_MAX 500   /* of methods that have no limit of their own */
#define ITERATIONS_RATIO 300 /* with masses of TOLD_RATIO and more */
#define SLOP 2e-3            /* of the smallest extent of all free bodies: 0.1 mm of a brick of 5 cm */
#define MOVE_REACHES 2.0     /* a body near others moves at most so many of its radii per step, */
#define TURN_MAX                                                                                                       \
    0.15 /* and turns at most so many rad: margins and linear gaps hold that far, and a top keeps its tilt to 0.1 degrees */
/* Rad, times the root of w^2 + |dw/dt| and the step, of bodies that joints hold: pendula, alone and in chains, are then
 * right to 1e-4 of their length after a second, whatever their size (tests/physics/joints.c). Of second order: half
 * of it is right to a quarter. */
#define TURN_JOINT 0.02
#define SLACK 1e-6                  /* of its length: a rope that is shorter by less is taut */
#define TOLD_OVERLAPS 5             /* pairs named before the first step */
#define JOINTS_ALONE "newton-shift" /* solves them where an engine has no contact method */
#define TOLD_RATIO 1e9              /* of masses: above, rounding shows in the motion of the lightest */

static talus_status no_memory(talus_error *err) { return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for rigid bodies"); }

/* ---- begin and end of a simulation ---- */

static double smallest_extent(const tl_rigid *r)
{
    double free = INFINITY, all = INFINITY;
    for (int32_t i = 0; i < r->scene_count; i++) {
        if (r->body[i].kind == TL_BODY_FREE) free = fmin(free, r->body[i].extent);
        all = fmin(all, r->body[i].extent);
    }
    const double least = isfinite(free) ? free : all;
    return isfinite(least) ? least : 0;
}

static const char *method_name(const tl_solver_spec *s)
{
    if (s->contact.method && *s->contact.method) return s->contact.method;
    return s->cone == TL_CONE_PYRAMID ? "pgs-pyramid" : "newton-shift";
}

static const char *name_of(const tl_sim *sim, int32_t i)
{
    return i < sim->rigid.scene_count ? sim->scene->bodies[i].name : "walls";
}

void tl_rigid_begin_bodies(const tl_rigid *r, const tl_motion *from, tl_motion *body, tl_pose *pose)
{
    memcpy(body, from, sizeof *body * (size_t)r->scene_count);
    for (int32_t i = r->scene_count; i < r->count; i++) body[i] = (tl_motion){.q = tl_quat_identity()};
    for (int32_t i = 0; i < r->count; i++) pose[i] = tl_rigid_pose(&r->body[i], &body[i]);
}

/* Overlaps of the scene are the user's to know of; they are pushed apart slowly, without a kick. */
static talus_status tell_overlaps(tl_sim *sim, double slop, talus_error *err)
{
    const tl_rigid *r = &sim->rigid;
    tl_arena *a = &sim->arena;
    tl_motion *body = TL_TAKE(a, tl_motion, r->count);
    tl_pose *pose = TL_TAKE(a, tl_pose, r->count);
    double *friction = TL_TAKE_ZERO(a, double, r->count);
    if (!body || !pose || !friction) return no_memory(err);
    tl_rigid_begin_bodies(r, sim->state.rigid.body, body, pose);
    tl_rigid_view view = {r, sim->scene, body, pose, friction, NULL, 0, &sim->joints};
    tl_rigid_contacts c;
    TL_TRY(tl_rigid_detect(&view, 0, &sim->state.rigid, a, &c, err));
    int32_t told = 0, more = 0;
    for (int32_t k = 0; k < c.count;) {
        int32_t begin = k;
        double deepest = 0;
        for (; k < c.count && c.point[k].a == c.point[begin].a && c.point[k].b == c.point[begin].b; k++)
            deepest = fmin(deepest, c.point[k].gap);
        if (!(deepest < -2 * slop)) continue;
        if (told++ < TOLD_OVERLAPS)
            tl_log_write(&sim->log, 0, "bodies \"%s\" and \"%s\" overlap by %.3g m at the start",
                         name_of(sim, c.point[begin].a), name_of(sim, c.point[begin].b), -deepest);
        else
            more++;
    }
    if (more) tl_log_write(&sim->log, 0, "%d more pairs of bodies overlap at the start", (int)more);
    return TALUS_OK;
}

/* Forces that hold the heaviest up are rounded to 1e-16 of themselves, which is no longer small for the lightest. */
static bool tell_mass_ratio(const tl_sim *sim)
{
    int32_t light = -1, heavy = -1;
    const tl_rigid_body *b = sim->rigid.body;
    for (int32_t i = 0; i < sim->rigid.scene_count; i++) {
        if (b[i].kind != TL_BODY_FREE) continue;
        if (light < 0 || b[i].mass < b[light].mass) light = i;
        if (heavy < 0 || b[i].mass > b[heavy].mass) heavy = i;
    }
    if (light < 0 || !(b[heavy].mass > TOLD_RATIO * b[light].mass)) return false;
    tl_log_write(
        &sim->log, 0,
        "masses from %.3g kg (\"%s\") to %.3g kg (\"%s\"), a ratio of %.3g: forces between them have %d good digits",
        b[light].mass, name_of(sim, light), b[heavy].mass, name_of(sim, heavy), b[heavy].mass / b[light].mass,
        (int)fmax(0, 16 - log10(b[heavy].mass / b[light].mass)));
    return true;
}

talus_status tl_rigid_begin_joints(tl_sim *sim, tl_rigid_data *k, const tl_joint_frame *frame, talus_error *err)
{
    k->extent = smallest_extent(&sim->rigid);
    if (!k->method) k->method = tl_contact_method_find(JOINTS_ALONE);
    TL_TRY(tl_joints_create(&sim->joints, sim->scene, &sim->rigid, &sim->state.rigid, frame, err));
    if (!sim->joints.count) return TALUS_OK;
    if (strncmp(k->method->name, "newton", 6))
        return TL_FAIL(err, TALUS_UNSUPPORTED, "contact method \"%s\" has no joints; newton-shift and newton-convex do",
                       k->method->name);
    tl_joint_state *state = tl_state_add(&sim->state, &tl_joints_kind);
    if (!state) return no_memory(err);
    return tl_joint_state_begin(state, &sim->joints, err);
}

talus_status tl_rigid_begin(tl_sim *sim, tl_rigid_data *k, talus_error *err)
{
    const tl_scene *s = sim->scene;
    k->method = tl_contact_method_find(method_name(&s->solver));
    if (!k->method)
        return TL_FAIL(err, TALUS_BAD_INPUT, "there is no contact method \"%.60s\"", method_name(&s->solver));
    TL_TRY(tl_rigid_create(&sim->rigid, s, err));
    TL_TRY(tl_rigid_state_begin(&sim->state.rigid, &sim->rigid, s, err));
    TL_TRY(tl_rigid_begin_joints(sim, k, NULL, err));
    k->slop = s->solver.contact.slop > 0 ? s->solver.contact.slop : SLOP * k->extent;
    k->lost = TL_NEW_ZERO(bool, sim->rigid.scene_count + 1);
    k->turned = TL_NEW_ZERO(bool, 1);
    if (!k->lost || !k->turned) return no_memory(err);
    k->iterations = s->solver.contact.iterations;
    if (tell_mass_ratio(sim) && !k->iterations) k->iterations = ITERATIONS_RATIO;
    if (!k->iterations && strncmp(k->method->name, "newton", 6)) k->iterations = ITERATIONS_MAX;
    k->resists = tl_scene_turning(s);
    if (k->resists && !strcmp(k->method->name, "staggered"))
        return TL_FAIL(err, TALUS_UNSUPPORTED, "contact method \"staggered\" has no rolling or spinning friction");
    return tell_overlaps(sim, k->slop, err);
}

void tl_rigid_end(tl_rigid_data *k)
{
    tl_free(k->lost);
    tl_free(k->turned);
    *k = (tl_rigid_data){0};
}

/* ---- how long a step may be ---- */

/* True when body i may touch something within dt. */
static bool meets(const tl_sim *sim, int32_t i, double dt)
{
    const tl_rigid *r = &sim->rigid;
    const tl_motion *body = sim->state.rigid.body;
    tl_pose pose = tl_rigid_pose(&r->body[i], &body[i]);
    tl_box3 box = tl_collider_bounds(r->body[i].collider, &pose);
    for (int32_t j = 0; j < r->count; j++) {
        tl_motion other = j < r->scene_count ? body[j] : (tl_motion){.q = tl_quat_identity()};
        double d = dt * tl_vec3_norm(tl_vec3_sub(body[i].v, other.v)) + r->body[i].reach;
        if (r->body[j].reach < INFINITY) {
            d += dt * tl_rigid_turn(&r->body[j], &other) * r->body[j].reach;
            double far = d + r->body[i].reach + r->body[j].reach; /* most are: said quickly */
            if (tl_vec3_norm2(tl_vec3_sub(body[i].x, other.x)) > far * far) continue;
        }
        tl_pose there = tl_rigid_pose(&r->body[j], &other);
        tl_box3 b = tl_collider_bounds(r->body[j].collider, &there);
        tl_touch touch[TL_TOUCHES_MAX];
        int32_t axis = 0;
        if (j == i || b.lo.x - d > box.hi.x || b.hi.x + d < box.lo.x || b.lo.y - d > box.hi.y ||
            b.hi.y + d < box.lo.y || b.lo.z - d > box.hi.z || b.hi.z + d < box.lo.z)
            continue;
        if (tl_collide(r->body[i].collider, &pose, r->body[j].collider, &there, d, &axis, touch)) return true;
    }
    return false;
}

/* Wholly outside of the domain: it goes on, and nothing waits for it. */
static bool outside(const tl_sim *sim, int32_t i, tl_vec3 x)
{
    const tl_box3 *box = &sim->scene->domain.box;
    double r = sim->rigid.body[i].reach;
    return sim->scene->domain.bounded && (x.x + r < box->lo.x || x.y + r < box->lo.y || x.z + r < box->lo.z ||
                                          x.x - r > box->hi.x || x.y - r > box->hi.y || x.z - r > box->hi.z);
}

/* A ball may turn as fast as it likes: its surface stays, and it has no gyroscopic motion. */
static double turn_limit(const tl_rigid_body *b, const tl_motion *m)
{
    return b->round == TL_ROUND_BALL ? INFINITY : TURN_MAX / tl_vec3_norm(m->w);
}

/* What joints, contacts and what flows do to body i, from their forces in the last step: m/s^2 and rad/s^2. False: no
 * joint. */
static bool moved_by_joints(const tl_sim *sim, const tl_joint_state *state, int32_t i, tl_vec3 *linear,
                            tl_vec3 *angular)
{
    const tl_motion *m = &sim->state.rigid.body[i];
    tl_vec3 force = tl_vec3_add(m->contact_force, m->fluid_force),
            torque = tl_vec3_add(m->contact_torque, m->fluid_torque);
    bool held = false;
    for (int32_t k = 0; k < sim->joints.count; k++) {
        const tl_joint *j = &sim->joints.joint[k];
        const tl_joint_memory *now = &state->joint[k];
        if ((j->a != i && j->b != i) || now->broken > 0) continue;
        held = true;
        const tl_vec3 lever = tl_vec3_sub(now->at, m->x);
        const double way = j->a == i ? 1 : -1;
        force = tl_vec3_add_scaled(force, way, now->on_a);
        torque = tl_vec3_add_scaled(torque, way, tl_vec3_add(now->torque_on_a, tl_vec3_cross(lever, now->on_a)));
    }
    *linear = tl_vec3_scale(1 / sim->rigid.body[i].mass, force);
    *angular = tl_mat3_mul_vec(tl_rigid_inverse_inertia(&sim->rigid.body[i], m->q), torque);
    return held;
}

/* Velocity and acceleration of one end of a line, under gravity and joints. */
static void end_of_line(const tl_sim *sim, const tl_joint_state *state, const tl_joint *j, int side, tl_vec3 out[3])
{
    const int32_t i = side ? j->b : j->a;
    out[0] = j->at[side];
    out[1] = out[2] = (tl_vec3){0, 0, 0};
    if (i < 0) return;
    const tl_motion *m = &sim->state.rigid.body[i];
    const tl_vec3 arm = tl_quat_rotate(m->q, j->at[side]), rim = tl_vec3_cross(m->w, arm);
    tl_vec3 linear, angular;
    out[0] = tl_vec3_add(m->x, arm);
    out[1] = tl_vec3_add(m->v, rim);
    if (sim->rigid.body[i].kind != TL_BODY_FREE) return;
    (void)moved_by_joints(sim, state, i, &linear, &angular);
    out[2] = tl_vec3_add(tl_vec3_add(sim->scene->gravity, linear),
                         tl_vec3_add(tl_vec3_cross(angular, arm), tl_vec3_cross(m->w, rim)));
}

/* The line of a distance or a taut rope turns as a body does, though what hangs on it may not: rad^2/s^2. */
static double line_turns(const tl_sim *sim, const tl_joint_state *state, const tl_joint *j)
{
    tl_vec3 a[3], b[3], d[3];
    if (j->soft[0] || j->soft[1]) return 0; /* elastic bodies have no step to ask for */
    end_of_line(sim, state, j, 0, a);
    end_of_line(sim, state, j, 1, b);
    for (int k = 0; k < 3; k++) d[k] = tl_vec3_sub(a[k], b[k]);
    const double length = tl_vec3_norm(d[0]), slack = j->spec->length - length;
    if (!(length > 0) || (j->spec->kind == TL_JOINT_ROPE && slack > SLACK * j->spec->length)) return 0;
    const tl_vec3 along = tl_vec3_scale(1 / length, d[0]);
    const double speed = tl_vec3_norm(tl_vec3_cross(along, d[1])) / length,
                 rate = tl_vec3_norm(tl_vec3_cross(along, d[2])) / length;
    return speed * speed + rate;
}

/* How fast gravity may begin to turn a body about a joint, rad/s^2: nobody knows the forces of the first step. */
static double first_turn(const tl_sim *sim, const tl_joint *j, int side)
{
    const int32_t i = side ? j->b : j->a;
    if (i < 0 || j->soft[side] || sim->rigid.body[i].kind != TL_BODY_FREE) return 0;
    const tl_rigid_body *b = &sim->rigid.body[i];
    const double lever = tl_vec3_norm(j->at[side]), own = tl_mat3_trace(b->inertia) / (3 * b->mass);
    return tl_vec3_norm(sim->scene->gravity) * lever / (lever * lever + own);
}

/* What joints make of second order is right while bodies and lines turn by little. */
double tl_rigid_joint_limit(const tl_sim *sim, double turn, double dt)
{
    if (!sim->joints.count) return dt;
    const tl_joint_state *state = tl_state_find(&sim->state, &tl_joints_kind);
    for (int32_t i = 0; i < sim->rigid.scene_count; i++) {
        tl_vec3 linear, angular;
        if (sim->rigid.body[i].kind != TL_BODY_FREE || !moved_by_joints(sim, state, i, &linear, &angular)) continue;
        dt = fmin(dt, turn / sqrt(tl_vec3_norm2(sim->state.rigid.body[i].w) + tl_vec3_norm(angular)));
    }
    for (int32_t k = 0; k < sim->joints.count; k++) {
        const tl_joint *j = &sim->joints.joint[k];
        const bool line = j->spec->kind == TL_JOINT_DISTANCE || j->spec->kind == TL_JOINT_ROPE;
        if (state->joint[k].broken > 0) continue;
        if (line) dt = fmin(dt, turn / sqrt(line_turns(sim, state, j)));
        if (!line && sim->state.step == 0)
            dt = fmin(dt, turn / sqrt(fmax(first_turn(sim, j, 0), first_turn(sim, j, 1))));
    }
    return dt;
}

double tl_rigid_dt_wanted(const tl_sim *sim)
{
    const tl_rigid *r = &sim->rigid;
    double max = sim->scene->dt_max > 0 ? sim->scene->dt_max : 1 / sim->scene->fps,
           dt = tl_rigid_joint_limit(sim, TURN_JOINT, max);
    for (int32_t i = 0; i < r->scene_count; i++) {
        if (r->body[i].kind != TL_BODY_FREE) continue;
        const tl_motion *m = &sim->state.rigid.body[i];
        if (outside(sim, i, m->x)) continue;
        double limit = fmin(MOVE_REACHES * r->body[i].reach / tl_vec3_norm(m->v), turn_limit(&r->body[i], m));
        if (limit < dt && meets(sim, i, max)) dt = limit;
    }
    return dt;
}

void tl_rigid_tell_turning(const tl_sim *sim, const tl_rigid_data *k, double dt)
{
    const double max = sim->scene->dt_max > 0 ? sim->scene->dt_max : 1 / sim->scene->fps;
    for (int32_t i = 0; i < sim->rigid.scene_count && !*k->turned; i++) {
        if (sim->rigid.body[i].kind != TL_BODY_FREE) continue;
        const tl_motion *m = &sim->state.rigid.body[i];
        const double limit = turn_limit(&sim->rigid.body[i], m);
        if (!(limit < max && dt <= limit * (1 + 1e-9) && meets(sim, i, max))) continue;
        *k->turned = true;
        tl_log_write(
            &sim->log, 0,
            "t = %.6g s: body \"%s\" turns at %.3g rad/s, so steps are %.3g ms and not the %.3g ms asked for: one that "
            "touches something turns by at most %g rad in a step",
            sim->state.t, sim->scene->bodies[i].name, tl_vec3_norm(m->w), 1e3 * dt, 1e3 * max, TURN_MAX);
    }
}

void tl_rigid_report_lost(const tl_sim *sim, const tl_motion *body, bool *lost, tl_report *r)
{
    for (int32_t i = 0; i < sim->rigid.scene_count; i++) {
        if (sim->rigid.body[i].kind != TL_BODY_FREE) continue;
        tl_vec3 x = body[i].x;
        bool out = outside(sim, i, x);
        r->bodies++;
        r->bodies_escaped += out;
        if (out && !lost[i])
            tl_log_write(&sim->log, 0, "t = %.6g s: body \"%s\" has left the domain, at (%.4g, %.4g, %.4g) m",
                         sim->state.t, sim->scene->bodies[i].name, x.x, x.y, x.z);
        lost[i] = out;
    }
    r->escaped += r->bodies_escaped;
}
