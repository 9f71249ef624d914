/* Islands at rest: bodies that touch, do not move, and that nothing comes near keep their places, contact points and
 * forces, and are not looked at again (solver.contact.rest).
 *
 * Nothing but the state tells who rests. At the end of a step, an island in which no body moved by more than the solver
 * can tell from nothing (1e-7 of g dt, or the tolerance asked for) gets velocities of exactly 0. A body with such
 * velocities rests in the next step while
 *     its remembered contact forces carry its weight, within the same measure, and lie in the friction cones of now,
 *     nothing pulls at it: no force or torque of the scene's or the caller's,
 *     and all that it touches rests too, or does not move at all.
 * Whatever moves and comes near one of its bodies wakes the whole island, before anything is solved. So no velocity
 * differs by more than the solver's target from what it would be. */
#include <math.h>
#include <string.h>

#include "model/rigid/motion.h"
#include "phase/bodies/bodies.h"

#define BALANCE 2.0 /* of that: velocities before and after the step that found the forces */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for bodies at rest");
}

static double slow(const tl_bodies *s)
{
    return s->scene->solver.contact.tolerance > 0 ? s->scene->solver.contact.tolerance : s->least;
}

static bool is_free(const tl_bodies *s, int32_t i) { return s->rigid->body[i].kind == TL_BODY_FREE; }

static bool is_zero(tl_vec3 v) { return v.x == 0 && v.y == 0 && v.z == 0; }

/* Neither falls, nor is driven. */
static bool stands(const tl_bodies *s, int32_t i)
{
    return !is_free(s, i) && is_zero(s->body[i].v) && is_zero(s->body[i].w);
}

static bool nothing_pulls(const tl_bodies *s, int32_t i)
{
    const tl_body *asked = &s->scene->bodies[i];
    const tl_motion *m = &s->before[i];
    if (asked->force.function != TL_NO_FUNCTION || asked->torque.function != TL_NO_FUNCTION) return false;
    for (int k = 0; k < 3; k++)
        if (asked->force.value[k] != 0 || asked->torque.value[k] != 0) return false;
    return is_zero(m->force) && is_zero(m->torque);
}

/* Whether the force of a remembered point lies in its cone. */
static bool holds(const tl_bodies *s, const tl_rigid_memory *c)
{
    const int32_t scene = s->rigid->scene_count;
    const double own[2] = {s->friction[c->a], s->friction[c->b]};
    double friction, restitution, n = tl_vec3_dot(c->force, c->normal);
    tl_scene_pair(s->scene, c->a < scene ? c->a : -1, c->b < scene ? c->b : -1, own, &friction, &restitution);
    tl_vec3 t = tl_vec3_add_scaled(c->force, -n, c->normal);
    return n >= 0 && tl_vec3_norm(t) <= friction * n * (1 + 1e-9) + 1e-300;
}

/* Bodies that stand still and that their remembered forces hold, as far as each alone can tell. */
static void find_held(tl_bodies *s, tl_vec3 *force, tl_vec3 *torque)
{
    const tl_rigid_state *r = &s->sim->state.rigid;
    const int32_t n = s->rigid->scene_count;
    for (int32_t i = 0; i < s->rigid->count; i++) {
        s->resting[i] =
            i < n && is_free(s, i) && is_zero(s->before[i].v) && is_zero(s->before[i].w) && nothing_pulls(s, i);
        force[i] = torque[i] = (tl_vec3){0, 0, 0};
    }
    for (int32_t k = 0; k < s->sim->joints.count; k++) { /* what joints hold is solved in every step */
        const tl_joint *j = &s->sim->joints.joint[k];
        s->resting[j->a] = false;
        if (j->b >= 0) s->resting[j->b] = false;
    }
    for (int64_t k = 0; k < r->contacts; k++) {
        const tl_rigid_memory *c = &r->contact[k];
        tl_vec3 on_a = tl_pose_apply(&s->pose[c->a], c->at_a), on_b = tl_pose_apply(&s->pose[c->b], c->at_b);
        tl_vec3 at = tl_vec3_scale(0.5, tl_vec3_add(on_a, on_b));
        if (!holds(s, c)) s->resting[c->a] = s->resting[c->b] = false;
        force[c->a] = tl_vec3_add(force[c->a], c->force);
        force[c->b] = tl_vec3_sub(force[c->b], c->force);
        torque[c->a] = tl_vec3_add(torque[c->a], tl_vec3_cross(tl_vec3_sub(at, s->before[c->a].x), c->force));
        torque[c->b] = tl_vec3_sub(torque[c->b], tl_vec3_cross(tl_vec3_sub(at, s->before[c->b].x), c->force));
    }
    for (int32_t i = 0; i < n; i++) {
        if (!s->resting[i]) continue;
        const tl_rigid_body *b = &s->rigid->body[i];
        tl_vec3 a = tl_vec3_add_scaled(s->scene->gravity, 1 / b->mass, force[i]);
        tl_vec3 turn = tl_mat3_mul_vec(tl_rigid_inverse_inertia(b, s->before[i].q), torque[i]);
        s->resting[i] = s->dt * (tl_vec3_norm(a) + b->reach * tl_vec3_norm(turn)) <= BALANCE * slow(s);
    }
}

/* What touches something that moves, directly or through others, does not rest. */
static void wake_touching(tl_bodies *s)
{
    const tl_rigid_state *r = &s->sim->state.rigid;
    for (bool more = true; more;) {
        more = false;
        for (int64_t k = 0; k < r->contacts; k++) {
            const int32_t a = r->contact[k].a, b = r->contact[k].b;
            const bool still_a = s->resting[a] || stands(s, a), still_b = s->resting[b] || stands(s, b);
            if (s->resting[a] && !still_b) s->resting[a] = false, more = true;
            if (s->resting[b] && !still_a) s->resting[b] = false, more = true;
        }
    }
}

/* What moves comes near: wakes, and then what that touches. True when something woke. */
static bool wake_near(tl_bodies *s, const tl_near_pair *pair, int64_t pairs)
{
    bool any = false;
    for (int64_t k = 0; k < pairs; k++) {
        const int32_t a = pair[k].a, b = pair[k].b;
        const bool still_a = s->resting[a] || stands(s, a), still_b = s->resting[b] || stands(s, b);
        if (still_a == still_b) continue;
        if (s->resting[a]) s->resting[a] = false, any = true;
        if (s->resting[b]) s->resting[b] = false, any = true;
    }
    return any;
}

talus_status tl_bodies_rest(tl_bodies *s, talus_error *err)
{
    const int64_t n = s->rigid->count;
    s->resting = TL_TAKE(s->arena, bool, n);
    tl_vec3 *force = TL_TAKE(s->arena, tl_vec3, n), *torque = TL_TAKE(s->arena, tl_vec3, n);
    if (!s->resting || !force || !torque) return no_memory(err);
    find_held(s, force, torque);
    wake_touching(s);
    bool any = false;
    for (int32_t i = 0; i < n && !any; i++) any = s->resting[i];
    if (!any) return TALUS_OK;
    tl_near_pair *pair;
    int64_t pairs;
    const tl_rigid_view view = {s->rigid, s->scene, s->body, s->pose, s->friction, NULL, 0, NULL};
    TL_TRY(tl_rigid_near(&view, s->dt, s->arena, &pair, &pairs, err));
    while (wake_near(s, pair, pairs)) wake_touching(s);
    for (int32_t i = 0; i < n; i++) {
        if (!s->resting[i]) continue;
        s->body[i] = s->before[i];
        s->inv_mass[i] = 0;
        memset(s->inv_inertia + 9 * (int64_t)i, 0, 9 * sizeof(double));
        memset(s->v_free + 6 * (int64_t)i, 0, 6 * sizeof(double));
    }
    tl_bodies_lap(s, TL_BODIES_PREDICT);
    return TALUS_OK;
}

/* ---- the end of the step ---- */

static int32_t root_of(int32_t *root, int32_t i)
{
    for (; root[i] != i; i = root[i]) root[i] = root[root[i]];
    return i;
}

/* Moved by nothing that a solve could tell from rest, by its velocity and by where it is. */
static bool stayed(const tl_bodies *s, int32_t i)
{
    const tl_rigid_body *b = &s->rigid->body[i];
    const tl_motion *now = &s->body[i], *was = &s->before[i];
    double moved =
        tl_vec3_norm(tl_vec3_sub(now->x, was->x)) + b->reach * tl_vec3_norm(tl_quat_difference(was->q, now->q));
    return tl_vec3_norm(now->v) + b->reach * tl_vec3_norm(now->w) <= slow(s) && moved <= s->dt * slow(s);
}

talus_status tl_bodies_settle(tl_bodies *s, bool solved, talus_error *err)
{
    const int32_t n = s->rigid->count;
    int32_t *root = TL_TAKE(s->arena, int32_t, n);
    bool *moves = TL_TAKE_ZERO(s->arena, bool, n), *touches = TL_TAKE_ZERO(s->arena, bool, n);
    if (!root || !moves || !touches) return no_memory(err);
    if (!solved) return TALUS_OK;
    for (int32_t i = 0; i < n; i++) root[i] = i;
    for (int32_t k = 0; k < s->contacts.count; k++) {
        const tl_rigid_point *p = &s->contacts.point[k];
        touches[p->a] = touches[p->b] = true;
        if (!is_free(s, p->a) || !is_free(s, p->b)) continue;
        int32_t i = root_of(root, p->a), j = root_of(root, p->b);
        root[i < j ? j : i] = i < j ? i : j;
    }
    for (int32_t i = 0; i < n; i++)
        if (is_free(s, i) && !s->resting[i] && !(touches[i] && stayed(s, i))) moves[root_of(root, i)] = true;
    for (int32_t i = 0; i < n; i++) {
        if (!is_free(s, i) || s->resting[i] || moves[root_of(root, i)]) continue;
        tl_bodies_correct(s, i, (tl_vec3){0, 0, 0}, (tl_vec3){0, 0, 0});
    }
    return TALUS_OK;
}
