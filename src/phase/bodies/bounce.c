/* Restitution: bodies have landed, what remains are velocities.
 *
 * Bodies that touch form islands. In each that an impact has reached, two contact problems are solved where the bodies
 * have landed: one that only stops them (e = 0) and one in which points part at e times the speed of impact. The answer
 * lies on the line between both, where the island's energy is
 *     E = E_stopped + e^2 (E_before + work of forces and scripted bodies - E_stopped - what rubbing took) - rubbing
 * what normal impulses took in the landing comes back times e^2, what friction took does not, and friction goes on
 * along the line. E is not more than it was before, whatever several contacts and the levers of a step do together.
 * Impulses on that line stay in their cones and points on it do not approach, for both ends are such. Where all points
 * of an island bounce alike the line may be followed beyond its second end, at most twice as far; else it ends there.
 *
 * Joints link islands too, and their rows are part of both problems: what they hold, they hold during the impact, so
 * every velocity on the line fits them. What motors and scripted bodies give through them is work done; what limits and
 * joint friction take does not come back.
 *
 * With impacts = "sequence" the second end is what single impacts lead to, the fastest approach first: Newton's
 * cradle. Joints take part once these are over. */
#include <math.h>
#include <string.h>

#include "model/rigid/motion.h"
#include "phase/bodies/bounce.h"

#define ALIKE 0.8   /* cosine: normals of one point before and after a step */
#define STRIKES 200 /* single impacts per point; a chain of n takes about n, a ball that rattles more */

static talus_status no_memory(talus_error *err) { return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a bounce"); }

static void merge(int32_t *root, int32_t a, int32_t b)
{
    int32_t i = tl_bounce_root(root, a), j = tl_bounce_root(root, b);
    root[i < j ? j : i] = i < j ? i : j;
}

static bool touches(const tl_bounce *b, int64_t k) { return b->s->lam[3 * k] > 0 || b->gap[k] <= 0; }

/* Islands of what touches, and which of them an impact has reached. */
static bool find_impacts(tl_bounce *b, const double *v_before)
{
    tl_bodies *s = b->s;
    bool any = false;
    const double slow = tl_bodies_resting_speed(s);
    for (int32_t i = 0; i < s->rigid->count; i++) {
        b->root[i] = i;
        b->part[i] = (tl_bounce_island){.alike = true};
    }
    for (int64_t k = 0; k < s->contacts.count; k++) {
        const tl_rigid_point *p = &s->contacts.point[k];
        if (!touches(b, k) || !tl_bodies_is_free(s, p->a) || !tl_bodies_is_free(s, p->b)) continue;
        merge(b->root, p->a, p->b);
    }
    for (int32_t k = 0; s->joint.now && k < s->sim->joints.count; k++) {
        const tl_joint *j = &s->sim->joints.joint[k];
        if (s->joint.first[k] == s->joint.first[k + 1] || j->b < 0 || !tl_bodies_is_free(s, j->a) ||
            !tl_bodies_is_free(s, j->b))
            continue;
        merge(b->root, j->a, j->b);
    }
    for (int64_t k = 0; k < s->contacts.count; k++) {
        const tl_rigid_point *p = &s->contacts.point[k];
        b->e[k] = 0;
        if (p->half || !(p->restitution > 0 && s->lam[3 * k] > 0)) continue;
        b->speed[k] = tl_bodies_impact_speed(s, p, v_before);
        if (!(b->speed[k] < -slow)) continue;
        tl_bounce_island *part = &b->part[tl_bounce_island_of(b, p)];
        b->e[k] = p->restitution;
        part->e = fmax(part->e, b->e[k]);
        any = true;
    }
    for (int64_t k = 0; k < s->contacts.count; k++) {
        tl_bounce_island *part = &b->part[tl_bounce_island_of(b, &s->contacts.point[k])];
        if (s->lam[3 * k] > 0 && b->e[k] != part->e) part->alike = false;
    }
    return any;
}

/* Their joints; those of other islands have no part in it. */
static talus_status add_joints(tl_bounce *b, talus_error *err)
{
    tl_bodies *s = b->s;
    TL_TRY(tl_bodies_joints_land(s, &b->joints, err));
    if (!b->joints.count) return TALUS_OK;
    b->joint = TL_TAKE(s->arena, int32_t, b->joints.count);
    s->joint.struck = TL_TAKE_ZERO(s->arena, bool, s->sim->joints.count);
    if (!b->joint || !s->joint.struck) return no_memory(err);
    for (int32_t k = 0; k < s->sim->joints.count; k++) {
        const bool in = tl_bounce_island_of_joint(b, &s->sim->joints.joint[k])->e > 0;
        s->joint.struck[k] = in;
        for (int32_t at = s->joint.first[k]; at < s->joint.first[k + 1]; at++) {
            b->joint[at] = k;
            if (!in) b->joints.box[at] = (tl_contact_box){{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        }
    }
    return TALUS_OK;
}

/* ---- where points are when bodies have landed ---- */

/* Marks on both bodies went where they rolled and slid to: the place is that of the nearest point where they touch
 * now, with its normal, so that a ball is pushed through its centre. Without one, halfway between the marks. */
static void land(const tl_bounce *b, tl_rigid_point *p)
{
    const tl_bodies *s = b->s;
    const tl_rigid_body *body[2] = {&s->rigid->body[p->a], &s->rigid->body[p->b]};
    const tl_pose pose[2] = {tl_rigid_pose(body[0], &s->body[p->a]), tl_rigid_pose(body[1], &s->body[p->b])};
    const tl_vec3 mark[2] = {tl_pose_apply(&pose[0], p->at_a), tl_pose_apply(&pose[1], p->at_b)};
    double nearest = INFINITY;
    tl_touch touch[TL_TOUCHES_MAX];
    int32_t axis = p->axis;
    p->at = tl_vec3_scale(0.5, tl_vec3_add(mark[0], mark[1]));
    const int count = tl_collide(body[0]->collider, &pose[0], body[1]->collider, &pose[1], s->data->slop, &axis, touch);
    for (int k = 0; k < count; k++) {
        const double off =
            fmin(tl_vec3_norm(tl_vec3_sub(touch[k].at, mark[0])), tl_vec3_norm(tl_vec3_sub(touch[k].at, mark[1])));
        if (!(off < nearest) || tl_vec3_dot(touch[k].normal, p->normal) < ALIKE) continue;
        nearest = off;
        p->at = touch[k].at;
        p->normal = touch[k].normal;
    }
    tl_vec3_tangents(p->normal, &p->t1, &p->t2);
    p->arm_a = tl_vec3_sub(p->at, s->body[p->a].x);
    p->arm_b = tl_vec3_sub(p->at, s->body[p->b].x);
    p->gap = p->bend = 0;
}

/* Components of an impulse of point `from` along the normal and the tangents of `to`; added to out. */
static void turn_to(const tl_rigid_point *from, const double *lam, double share, const tl_rigid_point *to, double *out)
{
    const tl_vec3 f = tl_rigid_point_force(from, lam, 1);
    out[0] += share * tl_vec3_dot(f, to->normal);
    out[1] += share * tl_vec3_dot(f, to->t1);
    out[2] += share * tl_vec3_dot(f, to->t2);
}

/* Points of those islands, with the levers of where they are now. */
static talus_status assemble(tl_bounce *b, talus_error *err)
{
    tl_bodies *s = b->s;
    int64_t n = s->rigid->count, m = s->contacts.count;
    tl_rigid_contacts landed = {.point = TL_TAKE(s->arena, tl_rigid_point, m)};
    double *inv_inertia = TL_TAKE_ZERO(s->arena, double, 9 * n);
    if (!landed.point || !inv_inertia) return no_memory(err);
    for (int32_t i = 0; i < n; i++) {
        tl_vec3_store(s->body[i].v, b->v + 6 * (int64_t)i);
        tl_vec3_store(s->body[i].w, b->v + 6 * (int64_t)i + 3);
        if (!tl_bodies_is_free(s, i)) continue;
        tl_mat3 inverse = tl_rigid_inverse_inertia(&s->rigid->body[i], s->body[i].q);
        memcpy(inv_inertia + 9 * (int64_t)i, inverse.m, sizeof inverse.m);
    }
    for (int32_t k = 0; k < m; k++) {
        if (!touches(b, k) || !(b->part[tl_bounce_island_of(b, &s->contacts.point[k])].e > 0)) continue;
        landed.point[landed.count] = s->contacts.point[k];
        land(b, &landed.point[landed.count]);
        b->from[landed.count++] = k;
    }
    b->points = landed.count;
    s->bounce.points = landed;
    TL_TRY(add_joints(b, err));
    const tl_contact_bodies bodies = {s->rigid->count, s->inv_mass, inv_inertia, NULL, b->v};
    return tl_rigid_problem_build(&b->p, &bodies, &landed, NULL, &b->joints, s->dt, s->arena, err);
}

static talus_status solve(tl_bounce *b, bool back, double *lam, double *v, tl_contact_report *solved, talus_error *err)
{
    tl_bodies *s = b->s;
    for (int64_t k = 0; k < b->points; k++)
        b->p.bias[3 * k] = back && b->e[b->from[k]] > 0 ? b->e[b->from[k]] * b->speed[b->from[k]] : 0;
    tl_contact_free_velocity(&b->p.bodies, b->p.bias, b->p.q);
    tl_stop stop = {.tolerance = s->tolerance, .max_iterations = s->data->iterations};
    tl_options options = tl_options_default();
    options.history = s->sim->history;
    options.aim = s->aim;
    options.slow = s->pull;
    TL_TRY(tl_contact_solve(s->data->method, &b->p.problem, &options, &stop, lam, s->arena, solved, err));
    const double certificate = solved->certificate.residual;
    TL_TRY(tl_sim_show(s->sim, (tl_shown){TL_SHOWN_CONTACT, &b->p.problem, lam, certificate, stop.tolerance}, err));
    tl_contact_velocities(&b->p.bodies, lam, v);
    return TALUS_OK;
}

/* ---- one after the other ---- */

/* A single impact of a point whose normal velocity is u[0]: it parts at e times that, friction stops the slip or
 * slides. */
static void strike(const tl_pair *c, double e, double *l, double *dv)
{
    double u[3], d[3];
    tl_pair_velocity(c, dv, u);
    d[0] = -(1 + e) * c->w_n * u[0];
    double t[2] = {-c->w_t * (u[1] + c->W[3] * d[0]), -c->w_t * (u[2] + c->W[6] * d[0])};
    tl_project_disc(c->mu * d[0], t);
    d[1] = t[0], d[2] = t[1];
    for (int k = 0; k < 3; k++) l[k] += d[k];
    tl_pair_push(c, d, dv);
}

/* The fastest approach first, until none is left, from the velocities without any contact. lam: what is added to the
 * impulses of the landing. Slow approaches do not bounce. Returns false when that takes too long: then they part
 * together. */
static talus_status strike_all(tl_bounce *b, double *lam, bool *done, talus_error *err)
{
    tl_bodies *s = b->s;
    tl_pairs t;
    const double slow = tl_bodies_resting_speed(s);
    *done = false;
    for (int64_t k = 0; k < b->points; k++) b->p.bias[3 * k] = 0;
    tl_contact_free_velocity(&b->p.bodies, b->p.bias, b->p.q);
    TL_TRY(tl_arena_reserve(s->arena, tl_pairs_bytes(&b->p.problem) + tl_pairs_room(&b->p.problem), err));
    size_t mark = tl_arena_mark(s->arena);
    if (tl_pairs_build(&b->p.problem, &t, s->arena)) {
        double *dv = TL_TAKE(s->arena, double, tl_pairs_lanes(&t));
        memset(lam, 0, 3 * sizeof *lam * (size_t)b->points);
        for (int64_t k = 0; k < b->points; k++)
            turn_to(&s->contacts.point[b->from[k]], s->lam + 3 * (int64_t)b->from[k], -1, &s->bounce.points.point[k],
                    lam + 3 * k);
        tl_pairs_push(&t, lam, dv);
        for (int64_t blow = 0; blow < STRIKES * b->points && !*done; blow++) {
            int32_t next = -1;
            double fastest = -s->tolerance;
            for (int32_t c = 0; c < (int32_t)b->points; c++) {
                double u[3];
                tl_pair_velocity(&t.pair[c], dv, u);
                if (u[0] < fastest) fastest = u[0], next = c;
            }
            *done = next < 0;
            if (!*done)
                strike(&t.pair[next], fastest < -slow ? s->contacts.point[b->from[next]].restitution : 0,
                       lam + 3 * (int64_t)next, dv);
        }
    }
    tl_arena_release(s->arena, mark);
    return TALUS_OK;
}

/* Where single impacts led, joints hold: an impact without restitution of all points and rows. lam [rows] grows. */
static talus_status hold_struck(tl_bounce *b, double *lam, double *v, tl_contact_report *solved, talus_error *err)
{
    const int64_t rows = 3 * (b->points + b->joints.count);
    tl_contact_velocities(&b->p.bodies, lam, v);
    if (!b->joints.count) return TALUS_OK;
    double *more = TL_TAKE_ZERO(b->s->arena, double, rows),
           *struck = TL_TAKE(b->s->arena, double, 6 * b->s->rigid->count);
    if (!more || !struck) return no_memory(err);
    memcpy(struck, v, 6 * sizeof *struck * (size_t)b->s->rigid->count);
    b->p.bodies.v_free = struck;
    TL_TRY(solve(b, false, more, v, solved, err));
    b->p.bodies.v_free = b->v;
    for (int64_t k = 0; k < rows; k++) lam[k] += more[k];
    return TALUS_OK;
}

/* ---- the answer ---- */

/* Impulses of joints in the impact are theirs too; what motors gave counts as work of theirs. */
static void keep_rows(tl_bounce *b)
{
    tl_bodies *s = b->s;
    if (!b->joints.count) return;
    s->joint.impact = b->joints;
    s->joint.impact_lam = b->stop + 3 * b->points;
    for (int64_t at = 0; at < 3 * (int64_t)b->joints.count; at++) {
        const int32_t k = b->joint[at / 3];
        const tl_joint *j = &s->sim->joints.joint[k];
        const int r = (int)(at - 3 * (int64_t)s->joint.first[k]);
        const double share = tl_bounce_island_of_joint(b, j)->share;
        double *lam = &s->joint.impact_lam[at];
        *lam += share * (b->back[3 * b->points + at] - *lam);
        if (r >= j->rows || j->law[r] == TL_ROW_HOLD || *lam == 0) continue;
        const double was = tl_joint_row_speed(j, &b->joints.row[at], b->v),
                     stop = tl_joint_row_speed(j, &b->joints.row[at], b->v_stop),
                     back = tl_joint_row_speed(j, &b->joints.row[at], b->v_back);
        const double work = 0.5 * *lam * (was + stop + share * (back - stop));
        s->joint.did[k] += work;
        if (j->law[r] == TL_ROW_MOTOR) s->joint.impact_motors += work;
    }
}

/* What the impulse of a point turns bodies by beyond that of its lever in s->contacts. */
static void tell_levers(const tl_bounce *b, int64_t k)
{
    tl_bodies *s = b->s;
    const tl_rigid_point *was = &s->contacts.point[b->from[k]], *is = &s->bounce.points.point[k];
    const tl_vec3 impulse = tl_rigid_point_force(is, s->bounce.lam + 3 * k, 1);
    double *on_a = s->levers + 3 * (int64_t)was->a, *on_b = s->levers + 3 * (int64_t)was->b;
    tl_vec3 a = tl_vec3_cross(tl_vec3_sub(is->arm_a, was->arm_a), impulse),
            c = tl_vec3_cross(tl_vec3_sub(is->arm_b, was->arm_b), impulse);
    tl_vec3_store(tl_vec3_add(tl_vec3_load(on_a), a), on_a);
    tl_vec3_store(tl_vec3_sub(tl_vec3_load(on_b), c), on_b);
}

talus_status tl_bodies_bounce(tl_bodies *s, tl_contact_report *solved, bool *any, talus_error *err)
{
    const int64_t m = s->contacts.count, n = s->rigid->count;
    *any = false;
    for (int64_t k = 0; k < m && !*any; k++) *any = s->contacts.point[k].restitution > 0 && s->lam[3 * k] > 0;
    if (!*any) return TALUS_OK;
    tl_arena *a = s->arena;
    tl_bounce b = {.s = s,
                   .root = TL_TAKE(a, int32_t, n),
                   .part = TL_TAKE(a, tl_bounce_island, n),
                   .e = TL_TAKE(a, double, m),
                   .speed = TL_TAKE(a, double, m),
                   .gap = TL_TAKE(a, double, m),
                   .from = TL_TAKE(a, int32_t, m),
                   .v = TL_TAKE(a, double, 6 * n)};
    double *v_before = TL_TAKE_ZERO(a, double, 6 * n);
    const int64_t blocks = s->joint.now ? s->joint.first[s->sim->joints.count] : 0;
    b.stop = TL_TAKE_ZERO(a, double, 3 * (m + blocks));
    b.back = TL_TAKE_ZERO(a, double, 3 * (m + blocks));
    b.v_stop = TL_TAKE(a, double, 6 * n);
    b.v_back = TL_TAKE(a, double, 6 * n);
    if (!b.root || !b.part || !b.e || !b.speed || !b.gap || !b.from || !b.v || !v_before || !b.stop || !b.back ||
        !b.v_stop || !b.v_back)
        return no_memory(err);
    for (int32_t i = 0; i < n; i++) {
        const tl_motion *from = s->rigid->body[i].kind == TL_BODY_KINEMATIC ? &s->body[i] : &s->before[i];
        tl_vec3_store(from->v, v_before + 6 * (int64_t)i);
        tl_vec3_store(from->w, v_before + 6 * (int64_t)i + 3);
    }
    tl_bodies_end_gaps(s, b.gap);
    *any = find_impacts(&b, v_before);
    if (!*any) return TALUS_OK;

    TL_TRY(assemble(&b, err));
    tl_contact_report first;
    TL_TRY(solve(&b, false, b.stop, b.v_stop, &first, err));
    bool in_turn = s->scene->solver.contact.impacts == TL_IMPACTS_SEQUENCE;
    if (in_turn) TL_TRY(strike_all(&b, b.back, &in_turn, err));
    if (in_turn) {
        *solved = first;
        TL_TRY(hold_struck(&b, b.back, b.v_back, solved, err));
    } else {
        memcpy(b.back, b.stop, 3 * sizeof *b.back * (size_t)(m + blocks));
        TL_TRY(solve(&b, true, b.back, b.v_back, solved, err));
    }
    if (first.certificate.residual > solved->certificate.residual) solved->certificate = first.certificate;
    if (solved->outcome.result == TL_CONVERGED) solved->outcome.result = first.outcome.result;

    for (int32_t i = 0; i < n; i++) b.part[i].longest = TL_BOUNCE_BEYOND;
    tl_bounce_add_bodies(&b, v_before);
    tl_bounce_add_points(&b);
    tl_bounce_add_rows(&b);
    for (int32_t i = 0; i < n && in_turn; i++) b.part[i].longest = 1;
    for (int32_t i = 0; i < n; i++) tl_bounce_choose(&b.part[i]);
    for (int64_t k = 0; k < b.points; k++) {
        const tl_rigid_point *p = &s->bounce.points.point[k], *found = &s->contacts.point[b.from[k]];
        const double share = b.part[tl_bounce_island_of(&b, p)].share;
        for (int i = 0; i < 3; i++) b.stop[3 * k + i] += share * (b.back[3 * k + i] - b.stop[3 * k + i]);
        turn_to(p, b.stop + 3 * k, 1, found, s->lam + 3 * (int64_t)b.from[k]);
    }
    s->bounce.lam = b.stop;
    keep_rows(&b);
    for (int64_t k = 0; k < b.points; k++) tell_levers(&b, k);
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        const tl_bounce_island *part = &b.part[tl_bounce_root(b.root, i)];
        if (!tl_bodies_is_free(s, i) || !(part->e > 0)) continue;
        double *v = s->v + 6 * (int64_t)i;
        for (int k = 0; k < 6; k++)
            v[k] = b.v_stop[6 * (int64_t)i + k] +
                   part->share * (b.v_back[6 * (int64_t)i + k] - b.v_stop[6 * (int64_t)i + k]);
        s->body[i].v = tl_vec3_load(v);
        s->body[i].w = tl_vec3_load(v + 3);
    }
    tl_bodies_lap(s, TL_BODIES_BOUNCE);
    return TALUS_OK;
}
