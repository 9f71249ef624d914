#include "model/rigid/motion.h"

#define SUBSTEP_ANGLE 0.05 /* rad; energy of a free box is then kept to 2e-4 (tests/physics/rigid_flight.c) */
#define SUBSTEPS_MAX 64
#define MIDPOINT_ROUNDS 8 /* each gains a factor of about 40 */
#define ENERGY_ROUNDS 4   /* of a Newton method that starts from 1e-4 */
#define ENERGY_TURN 0.01  /* rad: what a substep of the rule may be off by, and be put right */

tl_mat3 tl_rigid_inverse_inertia(const tl_rigid_body *b, tl_quat q)
{
    tl_mat3 R = tl_quat_to_mat3(q);
    return tl_mat3_symmetric(tl_mat3_mul(R, tl_mat3_mul_t(b->inverse, R)));
}

static tl_vec3 turned(const tl_mat3 *local, tl_quat q, tl_vec3 v)
{
    return tl_quat_rotate(q, tl_mat3_mul_vec(*local, tl_quat_rotate(tl_quat_conjugate(q), v)));
}

tl_vec3 tl_rigid_angular_momentum(const tl_rigid_body *b, tl_quat q, tl_vec3 w) { return turned(&b->inertia, q, w); }

/* The angular momentum fixes w for a rotation, and the energy should be 1/2 w.L as before: turned about L x w, the
 * way that changes it most, by the little that the midpoint rule is off. */
static void keep_energy(const tl_rigid_body *b, tl_vec3 L, double twice, tl_motion *m)
{
    for (int round = 0; round < ENERGY_ROUNDS; round++) {
        tl_vec3 way = tl_vec3_cross(L, m->w);
        double off = 0.5 * (tl_vec3_dot(L, m->w) - twice), steep = tl_vec3_norm2(way);
        if (!(fabs(off) > 1e-15 * twice && steep > 1e-18 * tl_vec3_norm2(L) * tl_vec3_norm2(m->w))) return;
        tl_vec3 turn = tl_vec3_scale(off / steep, way);
        if (!(tl_vec3_norm(turn) < ENERGY_TURN)) return;
        m->q = tl_quat_normalize(tl_quat_mul(tl_quat_exp(turn), m->q));
        m->w = turned(&b->inverse, m->q, L);
    }
}

/* Two equal moments: the body turns about its own axis while both turn about the angular momentum, each at a
 * constant rate. */
static void turn_top(const tl_rigid_body *b, double dt, tl_vec3 L, tl_motion *m)
{
    double spin = tl_vec3_dot(L, tl_quat_rotate(m->q, b->top)) * (1 / b->along - 1 / b->across);
    tl_quat own = tl_quat_exp(tl_vec3_scale(dt * spin, b->top)), around = tl_quat_exp(tl_vec3_scale(dt / b->across, L));
    m->q = tl_quat_normalize(tl_quat_mul(around, tl_quat_mul(m->q, own)));
    m->w = turned(&b->inverse, m->q, L);
}

void tl_rigid_fly(const tl_rigid_body *b, double dt, tl_motion *m)
{
    m->x = tl_vec3_add_scaled(m->x, dt, m->v);
    tl_vec3 L = tl_rigid_angular_momentum(b, m->q, m->w);
    if (b->across > 0) {
        turn_top(b, dt, L, m);
        return;
    }
    int substeps = (int)fmin(1 + dt * tl_vec3_norm(m->w) / SUBSTEP_ANGLE, SUBSTEPS_MAX);
    double h = dt / substeps, twice = tl_vec3_dot(L, m->w);
    for (int k = 0; k < substeps; k++) {
        /* w at the middle of the substep, from the rotation that it leads to there */
        tl_vec3 w = m->w;
        for (int round = 0; round < MIDPOINT_ROUNDS; round++) {
            tl_quat middle = tl_quat_mul(tl_quat_exp(tl_vec3_scale(0.5 * h, w)), m->q);
            tl_vec3 better = turned(&b->inverse, middle, L);
            double change = tl_vec3_max_abs(tl_vec3_sub(better, w));
            w = better;
            if (!(change > 1e-12 * tl_vec3_max_abs(w))) break; /* the next one would gain two digits more */
        }
        m->q = tl_quat_normalize(tl_quat_mul(tl_quat_exp(tl_vec3_scale(h, w)), m->q));
        m->w = turned(&b->inverse, m->q, L);
    }
    keep_energy(b, L, twice, m);
}

tl_rigid_measures tl_rigid_measure(const tl_rigid *r, const tl_motion *body, tl_vec3 gravity)
{
    tl_rigid_measures out = {0};
    for (int32_t i = 0; i < r->scene_count; i++) {
        const tl_rigid_body *b = &r->body[i];
        const tl_motion *m = &body[i];
        if (b->elastic) continue;
        double speed = tl_vec3_norm(m->v);
        if (b->reach < INFINITY) speed += tl_vec3_norm(m->w) * b->reach;
        out.fastest = fmax(out.fastest, speed);
        if (b->kind != TL_BODY_FREE) continue;
        tl_vec3 p = tl_vec3_scale(b->mass, m->v), L = tl_rigid_angular_momentum(b, m->q, m->w);
        out.kinetic += 0.5 * (tl_vec3_dot(p, m->v) + tl_vec3_dot(L, m->w));
        out.potential -= b->mass * tl_vec3_dot(gravity, m->x);
        out.momentum = tl_vec3_add(out.momentum, p);
        out.angular_momentum = tl_vec3_add(out.angular_momentum, tl_vec3_add(tl_vec3_cross(m->x, p), L));
    }
    return out;
}
