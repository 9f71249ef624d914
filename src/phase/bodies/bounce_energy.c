/* Where on the line between stopped and parted an island ends: its energy (bounce.c has the rule). */
#include <math.h>

#include "model/rigid/motion.h"
#include "phase/bodies/bounce.h"

/* u . M v of one body, with the inertia of its pose q. */
static double product(const tl_rigid_body *body, tl_quat q, const double *u, const double *v)
{
    return body->mass * tl_vec3_dot(tl_vec3_load(u), tl_vec3_load(v)) +
           tl_vec3_dot(tl_vec3_load(u + 3), tl_rigid_angular_momentum(body, q, tl_vec3_load(v + 3)));
}

/* Work of scripted bodies through impulses l of a point. */
static double scripted_work(const tl_bodies *s, const tl_rigid_point *p, const double *l)
{
    if (tl_bodies_is_free(s, p->a) == tl_bodies_is_free(s, p->b)) return 0;
    int32_t i = tl_bodies_is_free(s, p->a) ? p->b : p->a;
    if (s->rigid->body[i].kind != TL_BODY_KINEMATIC) return 0;
    const double *v = s->v_free + 6 * (int64_t)i;
    tl_vec3 at = tl_vec3_cross(tl_vec3_load(v + 3), i == p->b ? p->arm_b : p->arm_a);
    tl_vec3 push = tl_rigid_point_force(p, l, i == p->b ? 1 : -1);
    return tl_vec3_dot(push, tl_vec3_add(tl_vec3_load(v), at));
}

/* Work of scripted bodies through impulse lam of a joint's row. */
static double scripted_row_work(const tl_bodies *s, const tl_joint_blocks *j, int64_t at, double lam)
{
    const tl_joint_row *row = &j->row[at];
    double work = 0;
    for (int side = 0; side < 2; side++) {
        const int32_t i = j->body[at / 3][side];
        if (i < 0 || s->rigid->body[i].kind != TL_BODY_KINEMATIC) continue;
        const double *v = s->v_free + 6 * (int64_t)i;
        work -= lam * (tl_vec3_dot(side ? row->push_b : row->push_a, tl_vec3_load(v)) +
                       tl_vec3_dot(side ? row->turn_b : row->turn_a, tl_vec3_load(v + 3)));
    }
    return work;
}

/* What joints did on the way, and what rows that do not hold do in the impact: beyond the stop, motors give what their
 * speed asks for. */
void tl_bounce_add_rows(tl_bounce *b)
{
    const tl_bodies *s = b->s;
    for (int32_t k = 0; s->joint.did && k < s->sim->joints.count; k++)
        tl_bounce_island_of_joint(b, &s->sim->joints.joint[k])->before += s->joint.did[k];
    for (int64_t at = 0; at < 3 * (int64_t)b->joints.count; at++) {
        const tl_joint *j = &s->sim->joints.joint[b->joint[at / 3]];
        const tl_joint_row *row = &b->joints.row[at];
        const int r = (int)(at - 3 * (int64_t)s->joint.first[b->joint[at / 3]]);
        tl_bounce_island *part = tl_bounce_island_of_joint(b, j);
        const double stop = b->stop[3 * b->points + at], d = b->back[3 * b->points + at] - stop;
        if (!(part->e > 0) || r >= j->rows) continue;
        part->before +=
            scripted_row_work(s, &s->joint.blocks, at, s->joint.lam[at]) + scripted_row_work(s, &b->joints, at, stop);
        part->slope -= scripted_row_work(s, &b->joints, at, d);
        if (j->law[r] == TL_ROW_HOLD) continue;
        part->before += 0.5 * stop * (tl_joint_row_speed(j, row, b->v) + tl_joint_row_speed(j, row, b->v_stop));
        if (j->law[r] == TL_ROW_MOTOR) part->slope += d * b->joints.bias[at];
        if (stop != 0 || d != 0) part->longest = 1; /* its bounds would have to be looked at */
    }
}

/* What an island had, and what was done to its bodies on their way. */
void tl_bounce_add_bodies(tl_bounce *b, const double *v_before)
{
    const tl_bodies *s = b->s;
    for (int32_t i = 0; i < s->rigid->scene_count; i++) {
        const tl_rigid_body *body = &s->rigid->body[i];
        tl_bounce_island *part = &b->part[tl_bounce_root(b->root, i)];
        if (!tl_bodies_is_free(s, i) || !(part->e > 0)) continue;
        const double *was = v_before + 6 * (int64_t)i, *fell = s->v_free + 6 * (int64_t)i,
                     *stop = b->v_stop + 6 * (int64_t)i, *back = b->v_back + 6 * (int64_t)i;
        tl_vec3 moved = tl_vec3_sub(s->body[i].x, s->before[i].x);
        double d[6], turned[6] = {0}, torque[6] = {0};
        for (int k = 0; k < 6; k++) d[k] = back[k] - stop[k];
        for (int k = 3; k < 6; k++) torque[k] = fell[k] - was[k], turned[k] = b->v[6 * (int64_t)i + k];
        /* gravity and forces, whose impulses are the change of velocities without contacts */
        double work = body->mass / s->dt * tl_vec3_dot(moved, tl_vec3_sub(tl_vec3_load(fell), tl_vec3_load(was)));
        part->before +=
            0.5 * product(body, s->before[i].q, was, was) + work + product(body, s->before[i].q, torque, turned);
        part->stopped += 0.5 * product(body, s->body[i].q, stop, stop);
        part->slope += product(body, s->body[i].q, stop, d);
        part->curve += 0.5 * product(body, s->body[i].q, d, d);
    }
}

static double row_speed(const tl_csr *J, int64_t row, const double *v)
{
    double u = 0;
    for (int64_t k = J->start[row]; k < J->start[row + 1]; k++) u += J->val[k] * v[J->col[k]];
    return u;
}

/* What friction of point k did in the landing and when it stopped, and does beyond. */
static void add_rubbing(tl_bounce *b, int64_t k, const double d[3], tl_bounce_island *part)
{
    const tl_bodies *s = b->s;
    const double *early = s->half.any ? s->half.early : s->v_free;
    for (int i = 1; i < 3; i++) {
        const int64_t row = 3 * k + i, landing = 3 * (int64_t)b->from[k] + i;
        const double stop = row_speed(&b->p.J, row, b->v_stop), back = row_speed(&b->p.J, row, b->v_back);
        part->rubbed +=
            0.5 * s->lam[landing] * (row_speed(&s->p.J, landing, early) + row_speed(&s->p.J, landing, s->v)) +
            0.5 * b->stop[row] * (row_speed(&b->p.J, row, b->v) + stop);
        part->rub_slope += d[i] * stop;
        part->rub_curve += 0.5 * d[i] * (back - stop);
    }
}

/* Work of scripted bodies and of friction, and how far cones let the line go on. */
void tl_bounce_add_points(tl_bounce *b)
{
    const tl_bodies *s = b->s;
    for (int64_t k = 0; k < b->points; k++) {
        const tl_rigid_point *p = &s->bounce.points.point[k], *first = &s->contacts.point[b->from[k]];
        tl_bounce_island *part = &b->part[tl_bounce_island_of(b, p)];
        const double *stop = b->stop + 3 * k, *back = b->back + 3 * k, *landed = s->lam + 3 * (int64_t)b->from[k];
        double d[3], far[3];
        for (int i = 0; i < 3; i++) d[i] = back[i] - stop[i], far[i] = stop[i] + TL_BOUNCE_BEYOND * d[i];
        part->before += scripted_work(s, first, landed) + scripted_work(s, p, stop);
        add_rubbing(b, k, d, part);
        part->slope -= scripted_work(s, p, d);
        bool inside = far[0] >= 0 && hypot(far[1], far[2]) <= p->friction * far[0] * (1 + 1e-12);
        part->longest = part->alike && inside && part->longest > 1 ? TL_BOUNCE_BEYOND : 1;
    }
}

/* Largest s with s slope + s^2 curve = room. */
static double reach(double slope, double curve, double room)
{
    if (!(curve > 0)) return 0;
    const double half = 0.5 * slope / curve, root = half * half + room / curve;
    return fmax(0, -half + sqrt(fmax(0, root)));
}

/* Where the energy is as it should be, within [0, longest]: never more than there was. */
void tl_bounce_choose(tl_bounce_island *p)
{
    const double lost = fmax(0, p->before - p->stopped), pushed = fmax(0, lost + fmin(0, p->rubbed));
    const double curve = p->curve - p->rub_curve;
    const double asked = curve > 0 ? reach(p->slope - p->rub_slope, curve, p->e * p->e * pushed) : p->longest;
    p->share = fmin(fmin(asked, reach(p->slope, p->curve, lost)), p->longest);
}
