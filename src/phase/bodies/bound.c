/* Contacts do not make energy (solver.contact.bound).
 *
 * A step moves bodies along chords, and pushes them apart where they overlap: both may lift what the velocities have
 * not paid for. So an island of bodies that touch, alone or with things that stand, has at most the energy that it
 * had: what it gained is taken from its velocities. First from how its bodies move against each other: velocities
 * less those of the rigid motion with the same momentum and angular momentum become smaller by one factor, so that
 * both are kept, and contacts part, touch and slip as before. Where that is too little and something that stands is
 * in touch, all velocities become smaller by one factor, and the impulse is that thing's. What has no speed gains
 * what pushing gives it. Islands with scripted bodies that move, and bodies with forces of their own, are left out:
 * their energy may rise.
 *
 * Islands with joints have their turn after all else, when velocities fit what joints hold; scaled velocities do so as
 * well. What motors with a given force, springs, friction and limits did is theirs to have (s->joint.did). Where
 * nothing else touches them, all of the rest is the time step's error, and is put right both ways: a pendulum keeps its
 * energy. Motors with a speed or place to keep leave an island out. */
#include <math.h>
#include <string.h>

#include "model/rigid/motion.h"
#include "phase/accounts/accounts.h"
#include "phase/bodies/bodies.h"

#define LEAST                                                                                                          \
    1e-10 /* of the island's kinetic energy: smaller gains are those of rounding, and of what a solve may leave */
#define INNER 0.1 /* of the energy of inner motion: what may be taken from it in a step */
#define OUTER 0.1 /* the same of all */

typedef struct island {
    double before, after, gained; /* J: kinetic at the start and the end, and all that it gained */
    double inner;                 /* J: kinetic of inner motion, at the end */
    double mass;
    tl_vec3 first, momentum, angular; /* kg m, kg m/s, kg m^2/s about the centre of mass */
    tl_mat3 inertia;                  /* about the centre of mass */
    tl_vec3 v, w;                     /* of the rigid motion */
    bool out, fixed;
    bool joined, both;           /* has joints; energy that was lost is given back too */
    double keep_inner, keep_all; /* factors */
} island;

static bool is_free(const tl_bodies *s, int32_t i) { return s->rigid->body[i].kind == TL_BODY_FREE; }

static int32_t root_of(int32_t *root, int32_t i)
{
    for (; root[i] != i; i = root[i]) root[i] = root[root[i]];
    return i;
}

static double kinetic(const tl_rigid_body *b, const tl_motion *m)
{
    return 0.5 * (b->mass * tl_vec3_norm2(m->v) + tl_vec3_dot(m->w, tl_rigid_angular_momentum(b, m->q, m->w)));
}

/* Inertia of a body where it is, about the island's centre c. */
static void add_inertia(const tl_rigid_body *b, const tl_motion *m, tl_vec3 c, tl_mat3 *I)
{
    tl_vec3 r = tl_vec3_sub(m->x, c);
    const double x[3] = {r.x, r.y, r.z};
    for (int k = 0; k < 3; k++) {
        tl_vec3 e = {k == 0, k == 1, k == 2}, own = tl_rigid_angular_momentum(b, m->q, e);
        const double column[3] = {own.x, own.y, own.z};
        for (int i = 0; i < 3; i++) I->m[i][k] += column[i] + b->mass * ((i == k ? tl_vec3_norm2(r) : 0) - x[i] * x[k]);
    }
}

static bool moves(const tl_motion *m) { return tl_vec3_norm2(m->v) > 0 || tl_vec3_norm2(m->w) > 0; }

static bool is_pulled(const tl_bodies *s, int32_t i)
{
    const double *v = s->v_free + 6 * (int64_t)i;
    tl_vec3 fell = tl_vec3_add_scaled(s->before[i].v, s->dt, s->scene->gravity);
    tl_vec3 more = tl_vec3_sub(tl_vec3_load(v), fell), turn = tl_vec3_sub(tl_vec3_load(v + 3), s->before[i].w);
    const tl_motion *m = &s->before[i];
    const bool called = tl_vec3_norm2(m->force) > 0 || tl_vec3_norm2(m->torque) > 0;
    const double *free = s->half.any && s->half.on[i] ? NULL : v; /* half-way, these are velocities there */
    return called || s->scene->bodies[i].force.function != TL_NO_FUNCTION ||
           s->scene->bodies[i].torque.function != TL_NO_FUNCTION ||
           (free && (tl_vec3_norm(more) > 1e-12 * (tl_vec3_norm(s->before[i].v) + tl_vec3_norm(fell)) ||
                     tl_vec3_norm2(turn) > 0));
}

static void merge(int32_t *root, int32_t a, int32_t b)
{
    int32_t i = root_of(root, a), j = root_of(root, b);
    root[i < j ? j : i] = i < j ? i : j;
}

static bool has_force(const tl_bodies *s, int32_t i)
{
    const tl_body *b = &s->scene->bodies[i];
    bool any = false;
    for (int k = 0; k < 3; k++) any = any || b->force.value[k] != 0 || b->torque.value[k] != 0;
    return any;
}

/* Joints of the step, those that broke in it included. */
static void link_joints(const tl_bodies *s, int32_t *root, island *part, int pass)
{
    for (int32_t k = 0; s->joint.now && k < s->sim->joints.count; k++) {
        const tl_joint *j = &s->sim->joints.joint[k];
        const bool a = is_free(s, j->a), b = j->b >= 0 && is_free(s, j->b);
        if (s->joint.first[k] == s->joint.first[k + 1]) continue;
        if (pass == 0 && a && b) merge(root, j->a, j->b);
        if (pass == 0) continue;
        island *of = &part[root_of(root, a ? j->a : j->b)];
        of->joined = true;
        of->gained += s->joint.did ? s->joint.did[k] : 0;
        const int motor = j->spec->motor.kind;
        if (motor == TL_MOTOR_SPEED || motor == TL_MOTOR_POSITION) of->out = true;
        if ((a && has_force(s, j->a)) || (b && has_force(s, j->b))) of->out = true;
        if (a && b) of->fixed = of->fixed || j->spec->kind == TL_JOINT_GEAR;
        if (a && b) continue;
        of->fixed = true;
        const int32_t other = a ? j->b : j->a;
        if (other >= 0 && moves(&s->body[other])) of->out = true;
    }
}

/* Islands of what pushes or overlaps, and of joints. */
static void link(tl_bodies *s, int32_t *root, island *part, bool *touched)
{
    for (int32_t i = 0; i < s->rigid->count; i++) root[i] = i;
    for (int pass = 0; pass < 2; pass++) {
        link_joints(s, root, part, pass);
        for (int32_t k = 0; k < s->contacts.count; k++) {
            const tl_rigid_point *p = &s->contacts.point[k];
            const bool a = is_free(s, p->a), b = is_free(s, p->b);
            if (!(s->lam[3 * (int64_t)k] > 0 || p->gap < 0)) continue;
            if (pass == 0 && a && b) merge(root, p->a, p->b);
            if (pass == 1) touched[root_of(root, a ? p->a : p->b)] = true;
            if (pass == 0 || a == b) continue;
            island *of = &part[root_of(root, a ? p->a : p->b)];
            of->fixed = true;
            if (moves(&s->body[a ? p->b : p->a])) of->out = true;
        }
    }
}

static void add_up(tl_bodies *s, int32_t *root, island *part)
{
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        island *of = &part[root_of(root, i)];
        if (!is_free(s, i) || of->out) continue;
        const tl_rigid_body *b = &s->rigid->body[i];
        const tl_motion *m = &s->body[i];
        if (is_pulled(s, i)) of->out = true;
        if (s->half.barred) of->gained -= s->half.given[i];
        of->before += kinetic(b, s->half.stops ? &s->act[i] : &s->before[i]); /* what was stopped is gone */
        of->after += kinetic(b, m);
        of->gained -= b->mass * tl_vec3_dot(s->scene->gravity, tl_vec3_sub(m->x, s->before[i].x));
        of->mass += b->mass;
        of->first = tl_vec3_add_scaled(of->first, b->mass, m->x);
        of->momentum = tl_vec3_add_scaled(of->momentum, b->mass, m->v);
    }
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        island *of = &part[root_of(root, i)];
        if (!is_free(s, i) || of->out) continue;
        const tl_rigid_body *b = &s->rigid->body[i];
        const tl_motion *m = &s->body[i];
        tl_vec3 c = tl_vec3_scale(1 / of->mass, of->first), r = tl_vec3_sub(m->x, c);
        of->angular = tl_vec3_add(of->angular, tl_vec3_add(tl_rigid_angular_momentum(b, m->q, m->w),
                                                           tl_vec3_scale(b->mass, tl_vec3_cross(r, m->v))));
        add_inertia(b, m, c, &of->inertia);
    }
}

/* Which factors take the gain away; false: nothing to do. */
static bool choose(island *p)
{
    p->keep_inner = p->keep_all = 1;
    p->gained += p->after - p->before;
    const double gained = p->both ? fabs(p->gained) : p->gained;
    if (p->out || !(p->mass > 0) || !(gained > (p->both ? 0 : LEAST) * fmax(p->before, p->after))) return false;
    tl_mat3 inverse;
    p->v = tl_vec3_scale(1 / p->mass, p->momentum);
    p->inner = 0;
    if (tl_mat3_inverse(p->inertia, &inverse)) {
        p->w = tl_mat3_mul_vec(inverse, p->angular);
        p->inner = p->after - 0.5 * tl_vec3_dot(p->momentum, p->v) - 0.5 * tl_vec3_dot(p->angular, p->w);
    }
    double left = p->gained;
    if (p->inner > 1e-9 * p->after && !(p->joined && p->fixed)) { /* else its bodies move as one */
        double take = fmax(fmin(left, INNER * p->inner), -INNER * p->inner);
        p->keep_inner = sqrt(1 - take / p->inner);
        left -= take;
    }
    double rest = p->after - (p->gained - left);
    if (p->fixed && rest > 0) p->keep_all = sqrt(1 - fmax(fmin(left / rest, OUTER), -OUTER));
    return true;
}

talus_status tl_bodies_bound(tl_bodies *s, bool joined, talus_error *err)
{
    const int64_t n = s->rigid->count;
    int32_t *root = TL_TAKE(s->arena, int32_t, n);
    island *part = TL_TAKE_ZERO(s->arena, island, n);
    bool *act = TL_TAKE_ZERO(s->arena, bool, n), *touched = TL_TAKE_ZERO(s->arena, bool, n);
    if (joined && !s->joint.now) return TALUS_OK;
    if (!root || !part || !act || !touched) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the energy of islands");
    link(s, root, part, touched);
    for (int32_t i = 0; i < n && s->half.barred; i++)
        if (s->half.barred[i] && is_free(s, i)) touched[root_of(root, i)] = true;
    for (int32_t i = 0; i < n; i++) { /* what nothing touches flies exactly */
        part[i].out = part[i].out || part[i].joined != joined || !(touched[i] || joined);
        part[i].both = joined && !touched[i];
        part[i].gained = -part[i].gained; /* what joints did */
    }
    add_up(s, root, part);
    for (int32_t i = 0; i < n; i++) act[i] = root[i] == i && choose(&part[i]);
    tl_vec3 impulse = {0, 0, 0}, angular = {0, 0, 0};
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        const int32_t at = root_of(root, i);
        const island *of = &part[at];
        if (!is_free(s, i) || !act[at]) continue;
        const tl_rigid_body *b = &s->rigid->body[i];
        tl_motion *m = &s->body[i];
        tl_vec3 c = tl_vec3_scale(1 / of->mass, of->first);
        tl_vec3 rigid = tl_vec3_add(of->v, tl_vec3_cross(of->w, tl_vec3_sub(m->x, c)));
        tl_bodies_correct(s, i, tl_vec3_add_scaled(rigid, of->keep_inner, tl_vec3_sub(m->v, rigid)),
                          tl_vec3_add_scaled(of->w, of->keep_inner, tl_vec3_sub(m->w, of->w)));
        tl_vec3 p = tl_vec3_scale((of->keep_all - 1) * b->mass, m->v),
                L = tl_vec3_scale(of->keep_all - 1, tl_rigid_angular_momentum(b, m->q, m->w));
        impulse = tl_vec3_add(impulse, p);
        angular = tl_vec3_add(angular, tl_vec3_add(L, tl_vec3_cross(m->x, p)));
        tl_bodies_correct(s, i, tl_vec3_scale(of->keep_all, m->v), tl_vec3_scale(of->keep_all, m->w));
        tl_vec3_store(m->v, s->v + 6 * (int64_t)i);
        tl_vec3_store(m->w, s->v + 6 * (int64_t)i + 3);
    }
    tl_accounts_fixed(s->sim, impulse, angular);
    return TALUS_OK;
}
