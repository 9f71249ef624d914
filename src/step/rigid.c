/* The step of rigid bodies: the grid engine where nothing flows.
 *
 *     predict velocities      v* = v + dt (gravity, forces); scripted bodies get the velocity that leads to their pose
 *     detect contacts         points that may touch within dt
 *     match contacts          impulses of the last step, by position
 *     repeat                  until no fast body ends up inside of something that it was not told of
 *         assemble contacts   J, open gaps as bias: bodies land on each other, not inside
 *         solve contacts      v = v* + M^-1 J^T lam
 *         move bodies         place and rotation
 *         look again
 *     stabilise               overlaps deeper than the slop are pushed out: places only
 *     bounce                  restitution: velocities only, bodies have landed
 *     commit
 *
 * Velocities never see an overlap and places never see a bounce, so neither adds energy to the other. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/timer.h"
#include "model/rigid/contacts.h"
#include "model/rigid/motion.h"
#include "solve/contact/sweeps.h"
#include "step/engines.h"
#include "step/rigid.h"

#define TOLERANCE_LEAST 1e-8 /* m/s: 1e-7 of g dt at 10 ms */
#define TOLERANCE_SPEED 1e-5 /* of the fastest body */
#define LOOKS_MAX 3          /* second looks per step */
#define LOOK_MOVED 2e-4      /* m: bodies that moved less are not looked at again */
#define PUSH_SHARE 0.2       /* of an overlap that one step takes away */
#define PUSH_SWEEPS 30
#define BOUNCE_LEAST 2.0 /* g dt: slower approaches are rest, not impact */

enum phase { PREDICT, DETECT, ASSEMBLE, SOLVE, MOVE, LOOK, BOUNCE, STABILISE, PHASES };
static const char *const phase_names[PHASES] = {"predict", "detect",     "assemble", "solve contact",
                                                "move",    "look again", "bounce",   "stabilise"};

typedef struct rigid_step {
    tl_sim *sim;
    const tl_scene *scene;
    const tl_rigid *rigid;
    const tl_rigid_kept *kept;
    tl_arena *arena;
    double dt;
    /* begin */
    tl_motion *before; /* [count] start of the step, walls included */
    tl_motion *body;   /* [count] the state that is to be */
    tl_pose *pose;     /* [count] of the shapes' frames at the start */
    /* predict */
    double *friction;    /* [count] each one's own */
    double *v_free;      /* [6 count] */
    double *inv_mass;    /* [count] */
    double *inv_inertia; /* [count][9] */
    double tolerance;    /* m/s */
    /* detect, match */
    tl_rigid_view view;
    tl_rigid_contacts contacts;
    double *lam; /* [3 contacts] N s */
    /* assemble, solve */
    tl_rigid_problem p;
    tl_contact_report solved;
    double *v; /* [6 count] */
    /* stabilise */
    double penetration; /* m */
    double seconds[PHASES], mark;
} rigid_step;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a step of rigid bodies");
}

static void lap(rigid_step *s, enum phase phase)
{
    double now = tl_seconds();
    s->seconds[phase] += now - s->mark;
    s->mark = now;
}

/* ---- phases ---- */

static talus_status begin_step(rigid_step *s, tl_sim *sim, double dt, talus_error *err)
{
    int64_t n = sim->rigid.count;
    tl_arena *a = &sim->arena;
    *s = (rigid_step){.sim = sim,
                      .scene = sim->scene,
                      .rigid = &sim->rigid,
                      .kept = sim->own,
                      .arena = a,
                      .dt = dt,
                      .mark = tl_seconds()};
    s->before = TL_TAKE(a, tl_motion, n);
    s->body = TL_TAKE(a, tl_motion, n);
    s->pose = TL_TAKE(a, tl_pose, n);
    s->friction = TL_TAKE(a, double, n);
    s->v_free = TL_TAKE(a, double, 6 * n);
    s->inv_mass = TL_TAKE_ZERO(a, double, n);
    s->inv_inertia = TL_TAKE_ZERO(a, double, 9 * n);
    s->v = TL_TAKE(a, double, 6 * n);
    if (!s->before || !s->body || !s->pose || !s->friction || !s->v_free || !s->inv_mass || !s->inv_inertia || !s->v)
        return no_memory(err);
    tl_rigid_begin_bodies(s->rigid, sim->state.rigid.body, s->before, s->pose);
    memcpy(s->body, s->before, sizeof *s->body * (size_t)n);
    return TALUS_OK;
}

/* Velocity that leads exactly to the scripted pose at the end of the step. */
static talus_status follow_script(const rigid_step *s, int32_t i, tl_motion *m, talus_error *err)
{
    const tl_body *b = &s->scene->bodies[i];
    if (b->motion != TL_NO_FUNCTION) {
        double p[7];
        TL_TRY(tl_scene_evaluate(s->scene, b->motion, s->sim->state.t + s->dt, p, 7, err));
        m->goal = (tl_pose){{p[0], p[1], p[2]}, tl_quat_normalize((tl_quat){p[3], p[4], p[5], p[6]})};
    }
    m->v = tl_vec3_scale(1 / s->dt, tl_vec3_sub(m->goal.at, m->x));
    m->w = tl_vec3_scale(1 / s->dt, tl_quat_difference(m->q, m->goal.rotation));
    return TALUS_OK;
}

static talus_status push_body(rigid_step *s, int32_t i, tl_motion *m, talus_error *err)
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

/* Functions of time are read here and nowhere else. */
static talus_status predict_velocities(rigid_step *s, talus_error *err)
{
    double fastest = 0;
    for (int32_t i = 0; i < s->rigid->count; i++) {
        bool wall = i >= s->rigid->scene_count;
        tl_motion *m = &s->body[i];
        s->friction[i] = s->scene->domain.friction;
        if (!wall)
            TL_TRY(tl_scene_timed(s->scene, &s->scene->bodies[i].friction, s->sim->state.t, &s->friction[i], 1, err));
        if (s->rigid->body[i].kind == TL_BODY_KINEMATIC) TL_TRY(follow_script(s, i, m, err));
        if (s->rigid->body[i].kind == TL_BODY_FREE) {
            fastest = fmax(fastest, tl_vec3_norm(m->v));
            TL_TRY(push_body(s, i, m, err));
        }
        tl_vec3_store(m->v, s->v_free + 6 * (int64_t)i);
        tl_vec3_store(m->w, s->v_free + 6 * (int64_t)i + 3);
    }
    double asked = s->scene->solver.contact.tolerance;
    s->tolerance = asked > 0 ? asked : fmax(TOLERANCE_LEAST, TOLERANCE_SPEED * fastest);
    lap(s, PREDICT);
    return TALUS_OK;
}

static talus_status detect_contacts(rigid_step *s, talus_error *err)
{
    s->view = (tl_rigid_view){s->rigid, s->scene, s->body, s->pose, s->friction};
    TL_TRY(tl_rigid_detect(&s->view, s->dt, &s->sim->state.rigid, s->arena, &s->contacts, err));
    lap(s, DETECT);
    return TALUS_OK;
}

static talus_status match_contacts(rigid_step *s, talus_error *err)
{
    s->lam = TL_TAKE(s->arena, double, 3 * (int64_t)s->contacts.count);
    if (!s->lam) return no_memory(err);
    tl_rigid_match(s->rigid, &s->contacts, &s->sim->state.rigid, s->dt, s->lam);
    return TALUS_OK;
}

static talus_status assemble_contacts(rigid_step *s, talus_error *err)
{
    TL_TRY(tl_rigid_problem_build(&s->p, s->rigid, s->before, &s->contacts, s->inv_mass, s->inv_inertia, s->v_free,
                                  s->dt, s->arena, err));
    lap(s, ASSEMBLE);
    return TALUS_OK;
}

/* A solver that misses its target is the scene's to judge. */
static talus_status judge(const rigid_step *s, bool *again, talus_error *err)
{
    const tl_contact_report *r = &s->solved;
    tl_unconverged policy = s->scene->solver.on_unconverged;
    if (!isfinite(r->certificate.residual)) {
        *again = true;
        return TL_FAIL(err, TALUS_NOT_DEFINITE, "contact method \"%s\" left the numbers", s->kept->method->name);
    }
    if (r->outcome.result == TL_CONVERGED || policy == TL_UNCONVERGED_ACCEPT) return TALUS_OK;
    *again = policy == TL_UNCONVERGED_SHRINK_DT;
    return TL_FAIL(err, TALUS_NOT_DEFINITE, "contact method \"%s\": %s, residual %.3g m/s, wanted %.3g m/s",
                   s->kept->method->name, tl_result_name(r->outcome.result), r->certificate.residual, s->tolerance);
}

/* A step may solve more than once: work adds up, the certificate is the last one's. */
static void add_work(tl_contact_report *r, const tl_contact_report *earlier)
{
    r->outcome.iterations += earlier->outcome.iterations;
    r->work.products += earlier->work.products;
    r->work.preconds += earlier->work.preconds;
    r->work.projections += earlier->work.projections;
    r->work.factorizations += earlier->work.factorizations;
    r->work.outer += earlier->work.outer;
    r->seconds += earlier->seconds;
}

static talus_status solve_contacts(rigid_step *s, bool *again, talus_error *err)
{
    tl_stop stop = {.tolerance = s->tolerance, .max_iterations = s->kept->iterations};
    tl_options options = tl_options_default();
    tl_contact_report before = s->solved;
    TL_TRY(tl_contact_solve(s->kept->method, &s->p.problem, &options, &stop, s->lam, s->arena, s->sim->history,
                            &s->solved, err));
    add_work(&s->solved, &before);
    tl_contact_velocities(&s->p.bodies, s->lam, s->v);
    lap(s, SOLVE);
    return judge(s, again, err);
}

static bool finite3(tl_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static talus_status move_bodies(rigid_step *s, bool *again, talus_error *err)
{
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        const tl_rigid_body *b = &s->rigid->body[i];
        tl_motion *m = &s->body[i];
        m->x = s->before[i].x;
        m->q = s->before[i].q;
        if (b->kind == TL_BODY_FREE) {
            m->v = tl_vec3_load(s->v + 6 * (int64_t)i);
            m->w = tl_vec3_load(s->v + 6 * (int64_t)i + 3);
            tl_rigid_fly(b, s->dt, m);
        } else if (b->kind == TL_BODY_KINEMATIC) {
            m->x = m->goal.at;
            m->q = m->goal.rotation;
        }
        if (finite3(m->x) && finite3(m->v) && finite3(m->w) && isfinite(tl_quat_norm2(m->q))) continue;
        *again = true;
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "body \"%.60s\" left the numbers: place (%g, %g, %g) m, velocity (%g, %g, %g) m/s, spin (%g, "
                       "%g, %g) rad/s",
                       s->scene->bodies[i].name, m->x.x, m->x.y, m->x.z, m->v.x, m->v.y, m->v.z, m->w.x, m->w.y,
                       m->w.z);
    }
    lap(s, MOVE);
    return TALUS_OK;
}

/* Points that moved into each other unseen become contacts of the start; `more` tells whether there are any. */
static talus_status look_again(rigid_step *s, bool *more, talus_error *err)
{
    int32_t n = s->rigid->count, any = 0;
    bool *fast = TL_TAKE(s->arena, bool, n);
    tl_pose *end = TL_TAKE(s->arena, tl_pose, n);
    *more = false;
    if (!fast || !end) return no_memory(err);
    for (int32_t i = 0; i < n; i++) {
        const tl_motion *m = &s->body[i];
        double reach = s->rigid->body[i].reach < INFINITY ? s->rigid->body[i].reach : 0;
        fast[i] = s->dt * (tl_vec3_norm(m->v) + tl_vec3_norm(m->w) * reach) > LOOK_MOVED;
        any += fast[i];
    }
    if (!any) return TALUS_OK;
    for (int32_t i = 0; i < n; i++) end[i] = tl_rigid_pose(&s->rigid->body[i], &s->body[i]);
    tl_rigid_view start = s->view;
    start.body = s->before;
    tl_rigid_contacts all;
    int32_t *from;
    TL_TRY(
        tl_rigid_detect_again(&start, end, fast, s->v, s->dt, s->kept->slop, &s->contacts, s->arena, &all, &from, err));
    if (all.count > s->contacts.count) {
        double *lam = TL_TAKE_ZERO(s->arena, double, 3 * (int64_t)all.count);
        if (!lam) return no_memory(err);
        for (int32_t k = 0; k < all.count; k++)
            if (from[k] >= 0) memcpy(lam + 3 * (int64_t)k, s->lam + 3 * (int64_t)from[k], 3 * sizeof *lam);
        s->contacts = all;
        s->lam = lam;
        *more = true;
    }
    lap(s, LOOK);
    return TALUS_OK;
}

/* Normal velocity when the point touched, from those at both ends of the step; positive: it did not. */
static double impact_speed(const rigid_step *s, const tl_rigid_point *p, const double *v_before)
{
    double first = tl_rigid_point_speed(p, s->before, v_before), last = tl_rigid_point_speed(p, s->before, s->v_free);
    double gap = fmax(p->gap, 0);
    if (!(last < 0 && gap + s->dt * last < 0)) return 1;
    return first + fmin(1, gap / (-last * s->dt)) * (last - first);
}

/* Gaps at the end of the step. Returns the least. */
static double end_gaps(const rigid_step *s, double *gap)
{
    double least = 0;
    for (int32_t k = 0; k < s->contacts.count; k++) {
        const tl_rigid_point *p = &s->contacts.point[k];
        gap[k] = p->gap + s->dt * tl_rigid_point_speed(p, s->before, s->v);
        least = fmin(least, gap[k]);
    }
    return least;
}

/* Points that touch and bodies where they have landed, as a problem of its own for what the bounce adds: with the levers of the end,
 * where its impulses act, the angular momentum stays what it was. What is still open is the next step's. from [points]: their
 * numbers in s->contacts. */
static talus_status assemble_landed(rigid_step *s, int32_t *from, talus_error *err)
{
    int64_t n = s->rigid->count, m = s->contacts.count;
    tl_rigid_contacts landed = {.point = TL_TAKE(s->arena, tl_rigid_point, m)};
    double *v = TL_TAKE(s->arena, double, 6 * n), *inv_inertia = TL_TAKE_ZERO(s->arena, double, 9 * n);
    double *gap = TL_TAKE(s->arena, double, m);
    if (!landed.point || !v || !inv_inertia || !gap) return no_memory(err);
    for (int32_t i = 0; i < n; i++) {
        tl_vec3_store(s->body[i].v, v + 6 * (int64_t)i);
        tl_vec3_store(s->body[i].w, v + 6 * (int64_t)i + 3);
        if (s->rigid->body[i].kind != TL_BODY_FREE) continue;
        tl_mat3 inverse = tl_rigid_inverse_inertia(&s->rigid->body[i], s->body[i].q);
        memcpy(inv_inertia + 9 * (int64_t)i, inverse.m, sizeof inverse.m);
    }
    end_gaps(s, gap);
    for (int32_t k = 0; k < m; k++) {
        if (!(s->lam[3 * (int64_t)k] > 0 || gap[k] <= 0)) continue;
        tl_rigid_point *p = &landed.point[landed.count];
        *p = s->contacts.point[k];
        tl_pose a = tl_rigid_pose(&s->rigid->body[p->a], &s->body[p->a]),
                b = tl_rigid_pose(&s->rigid->body[p->b], &s->body[p->b]);
        p->at = tl_vec3_scale(0.5, tl_vec3_add(tl_pose_apply(&a, p->at_a), tl_pose_apply(&b, p->at_b)));
        p->gap = 0;
        from[landed.count++] = k;
    }
    return tl_rigid_problem_build(&s->p, s->rigid, s->body, &landed, s->inv_mass, inv_inertia, v, s->dt, s->arena, err);
}

/* Bodies that came together faster than resting ones do part again, at e times that speed. They have landed already:
 * places keep the velocities without the bounce. */
static talus_status bounce(rigid_step *s, bool *again, talus_error *err)
{
    const double slow = BOUNCE_LEAST * s->dt * tl_vec3_norm(s->scene->gravity);
    const int64_t m = s->contacts.count;
    bool any = false;
    for (int64_t k = 0; k < m && !any; k++) any = s->contacts.point[k].restitution > 0 && s->lam[3 * k] > 0;
    if (!any) return TALUS_OK;
    double *v_before = TL_TAKE_ZERO(s->arena, double, 6 * (int64_t)s->rigid->count);
    double *part = TL_TAKE_ZERO(s->arena, double, m), *lam = TL_TAKE_ZERO(s->arena, double, 3 * m), *landing = s->lam;
    int32_t *from = TL_TAKE(s->arena, int32_t, m);
    if (!v_before || !part || !lam || !from) return no_memory(err);
    for (int32_t i = 0; i < s->rigid->count; i++) {
        const tl_motion *b = s->rigid->body[i].kind == TL_BODY_FREE ? &s->before[i] : &s->body[i];
        tl_vec3_store(b->v, v_before + 6 * (int64_t)i);
        tl_vec3_store(b->w, v_before + 6 * (int64_t)i + 3);
    }
    any = false;
    for (int64_t k = 0; k < m; k++) {
        const tl_rigid_point *p = &s->contacts.point[k];
        if (!(p->restitution > 0 && landing[3 * k] > 0)) continue;
        double speed = impact_speed(s, p, v_before);
        if (!(speed < -slow)) continue;
        part[k] = p->restitution * speed;
        any = true;
    }
    if (!any) return TALUS_OK;
    TL_TRY(assemble_landed(s, from, err));
    int64_t touching = s->p.space.n / 3;
    for (int64_t k = 0; k < touching; k++) s->p.bias[3 * k] = part[from[k]];
    tl_contact_free_velocity(&s->p.bodies, s->p.bias, s->p.q);
    s->lam = lam;
    talus_status status = solve_contacts(s, again, err);
    s->lam = landing;
    TL_TRY(status);
    for (int64_t k = 0; k < 3 * touching; k++) s->lam[3 * (int64_t)from[k / 3] + k % 3] += lam[k];
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        if (s->rigid->body[i].kind != TL_BODY_FREE) continue;
        s->body[i].v = tl_vec3_load(s->v + 6 * (int64_t)i);
        s->body[i].w = tl_vec3_load(s->v + 6 * (int64_t)i + 3);
    }
    lap(s, BOUNCE);
    return TALUS_OK;
}

/* The same contact problem for a displacement, friction kept: without it leaning bodies would slide. */
static talus_status stabilise(rigid_step *s, talus_error *err)
{
    int64_t m = s->contacts.count;
    double *gap = TL_TAKE(s->arena, double, m), slop = s->kept->slop;
    if (!gap) return no_memory(err);
    s->penetration = 0 - end_gaps(s, gap); /* 0, not -0 */
    if (!(s->penetration > slop)) return TALUS_OK;
    for (int64_t k = 0; k < m; k++) {
        double over = gap[k] + slop;
        s->p.q[3 * k] = over < 0 ? PUSH_SHARE * over : over;
        s->p.q[3 * k + 1] = s->p.q[3 * k + 2] = 0;
    }
    tl_pairs t;
    TL_TRY(tl_arena_reserve(s->arena, tl_pairs_bytes(&s->p.problem), err));
    if (!tl_pairs_build(&s->p.problem, &t, s->arena)) return TALUS_OK;
    double *push = TL_TAKE_ZERO(s->arena, double, 3 * m), *d = TL_TAKE_ZERO(s->arena, double, tl_pairs_lanes(&t));
    if (!push || !d) return no_memory(err);
    tl_contact_sweep(&t, PUSH_SWEEPS, TL_SWEEP_DISC, push, d, NULL);
    for (int32_t k = 0; k < t.moving; k++) {
        tl_motion *b = &s->body[t.of_moving[k]];
        b->x = tl_vec3_add(b->x, tl_vec3_load(d + TL_BODY_LANES * (int64_t)k));
        b->q = tl_quat_normalize(tl_quat_mul(tl_quat_exp(tl_vec3_load(d + TL_BODY_LANES * (int64_t)k + 3)), b->q));
    }
    lap(s, STABILISE);
    return TALUS_OK;
}

/* Room for what commit writes. */
static talus_status make_room(rigid_step *s, talus_error *err)
{
    tl_rigid_state *r = &s->sim->state.rigid;
    if (r->contact_room >= s->contacts.count) return TALUS_OK;
    int64_t room = s->contacts.count + s->contacts.count / 2 + 16;
    tl_rigid_memory *fresh = tl_realloc(r->contact, sizeof *fresh * (size_t)room);
    if (!fresh) return no_memory(err);
    r->contact = fresh;
    r->contact_room = room;
    return TALUS_OK;
}

static void sum_contact_forces(rigid_step *s)
{
    for (int32_t i = 0; i < s->rigid->count; i++)
        s->body[i].contact_force = s->body[i].contact_torque = (tl_vec3){0, 0, 0};
    for (int32_t k = 0; k < s->contacts.count; k++) {
        const tl_rigid_point *p = &s->contacts.point[k];
        tl_vec3 f = tl_rigid_point_force(p, s->lam + 3 * (int64_t)k, s->dt);
        tl_motion *a = &s->body[p->a], *b = &s->body[p->b];
        a->contact_force = tl_vec3_add(a->contact_force, f);
        b->contact_force = tl_vec3_sub(b->contact_force, f);
        a->contact_torque = tl_vec3_add(a->contact_torque, tl_vec3_cross(tl_vec3_sub(p->at, s->before[p->a].x), f));
        b->contact_torque = tl_vec3_sub(b->contact_torque, tl_vec3_cross(tl_vec3_sub(p->at, s->before[p->b].x), f));
    }
}

static void remember_contacts(const rigid_step *s)
{
    tl_rigid_state *r = &s->sim->state.rigid;
    r->contacts = s->contacts.count;
    for (int32_t k = 0; k < s->contacts.count; k++) {
        const tl_rigid_point *p = &s->contacts.point[k];
        bool same = k > 0 && p[-1].a == p->a && p[-1].b == p->b;
        r->contact[k] = (tl_rigid_memory){.a = p->a,
                                          .b = p->b,
                                          .axis = p->axis,
                                          .point = same ? r->contact[k - 1].point + 1 : 0,
                                          .at_a = p->at_a,
                                          .at_b = p->at_b,
                                          .force = tl_rigid_point_force(p, s->lam + 3 * (int64_t)k, s->dt),
                                          .normal = p->normal,
                                          .gap = p->gap};
    }
}

/* Bodies outside of the domain go on; whoever watches is told once. */
static int64_t count_lost(const rigid_step *s)
{
    const tl_box3 *box = &s->scene->domain.box;
    int64_t count = 0;
    for (int32_t i = 0; i < s->rigid->scene_count && s->scene->domain.bounded; i++) {
        tl_vec3 x = s->body[i].x;
        double r = s->rigid->body[i].reach;
        bool out = x.x + r < box->lo.x || x.y + r < box->lo.y || x.z + r < box->lo.z || x.x - r > box->hi.x ||
                   x.y - r > box->hi.y || x.z - r > box->hi.z;
        count += out;
        if (out && !s->kept->lost[i])
            tl_log_write(&s->sim->log, 0, "t = %.6g s: body \"%s\" has left the domain, at (%.4g, %.4g, %.4g) m",
                         s->sim->state.t, s->scene->bodies[i].name, x.x, x.y, x.z);
        s->kept->lost[i] = out;
    }
    return count;
}

static void fill_report(const rigid_step *s)
{
    tl_report *r = &s->sim->report;
    *r = (tl_report){.phases = PHASES, .solves = 1, .force_balance = NAN};
    for (int k = 0; k < PHASES; k++) r->phase[k] = (tl_report_phase){phase_names[k], s->seconds[k]};
    const tl_contact_report *c = &s->solved;
    r->solve[0] = (tl_report_solve){"contact",
                                    s->kept->method->name,
                                    tl_result_name(c->outcome.result),
                                    c->outcome.iterations,
                                    c->certificate.residual,
                                    s->tolerance,
                                    c->work};
    r->solve[0].work.history = NULL;
    r->force_balance = c->certificate.balance;
    r->contacts = s->contacts.count;
    for (int32_t k = 0; k < s->contacts.count; k++) r->touching += s->lam[3 * (int64_t)k] > 0;
    r->penetration = s->penetration;
    r->escaped = count_lost(s);
    tl_rigid_measures now = tl_rigid_measure(s->rigid, s->body, s->scene->gravity);
    r->kinetic = now.kinetic;
    r->potential = now.potential;
    r->momentum = now.momentum;
    r->angular_momentum = now.angular_momentum;
    r->fastest = now.fastest;
}

static void commit(rigid_step *s)
{
    sum_contact_forces(s);
    fill_report(s);
    remember_contacts(s);
    memcpy(s->sim->state.rigid.body, s->body, sizeof *s->body * (size_t)s->rigid->scene_count);
}

static talus_status step(tl_sim *sim, double dt, bool *again, talus_error *err)
{
    rigid_step s;
    *again = false;
    TL_TRY(begin_step(&s, sim, dt, err));
    TL_TRY(predict_velocities(&s, err));
    TL_TRY(detect_contacts(&s, err));
    TL_TRY(match_contacts(&s, err));
    bool more = true;
    for (int looks = 0; more; looks++) {
        TL_TRY(assemble_contacts(&s, err));
        TL_TRY(solve_contacts(&s, again, err));
        TL_TRY(move_bodies(&s, again, err));
        more = false;
        if (looks < LOOKS_MAX) TL_TRY(look_again(&s, &more, err));
    }
    TL_TRY(make_room(&s, err));
    TL_TRY(stabilise(&s, err));
    TL_TRY(bounce(&s, again, err));
    commit(&s);
    return TALUS_OK;
}

const tl_engine_entry tl_engine_grid = {"grid", tl_rigid_begin, tl_rigid_end, tl_rigid_dt_wanted, step};
