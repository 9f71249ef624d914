#include "model/sph/yield.h"

#include <math.h>

#define RISE 1.1  /* times the limit: rough contacts may raise energy a little */
#define ROUNDS 40 /* of all bodies; what is too fast after them is not pushed at all, and then nothing is */

static double turning(const tl_sph_step *s, int32_t body, tl_vec3 a, tl_vec3 b)
{
    tl_quat back = tl_quat_conjugate(s->bodies.motion[body].q);
    return tl_vec3_dot(tl_quat_rotate(back, a), tl_mat3_mul_vec(s->rigid->body[body].inertia, tl_quat_rotate(back, b)));
}

/* Half of it, times the mass, is an energy. */
static double product(const tl_sph_step *s, int32_t b, const tl_sph_motion *p, const tl_sph_motion *q)
{
    return tl_vec3_dot(p->v, q->v) + turning(s, b, p->w, q->w) / s->rigid->body[b].mass;
}

double tl_sph_whole_speed(const tl_sph_step *s, int32_t body, tl_vec3 v, tl_vec3 w)
{
    if (s->rigid->body[body].kind != TL_BODY_FREE) return 0;
    tl_sph_motion m = {v, w};
    return sqrt(fmax(0, product(s, body, &m, &m)));
}

/* ---- what one unknown does to one body ---- */

static tl_sph_motion moved_by(const tl_sph_step *s, int32_t b, tl_vec3 force, tl_vec3 torque)
{
    return (tl_sph_motion){tl_vec3_scale(s->dt * s->bodies.inv_mass[b], force),
                           tl_vec3_scale(s->dt, tl_mat3_mul_vec(s->bodies.inv_inertia[b], torque))};
}

/* Pressure and friction of contact k on its own body, or on one that it meets. */
static tl_sph_motion contact_on(const tl_sph_step *s, const double *x, int32_t k, int32_t b)
{
    const tl_sph_contact *r = &s->contact[k];
    bool own = r->body == b;
    double push = r->V0 * r->V0 * x[s->fluid + k];
    tl_vec3 lam = tl_vec3_scale(r->Vt, tl_vec3_load(x + s->fluid + s->contacts + 3 * (int64_t)k));
    tl_vec3 force = {0, 0, 0}, torque = {0, 0, 0};
    for (int64_t t = s->touch_start[k]; t < s->touch_start[k + 1]; t++) {
        const tl_sph_touch *j = &s->touch[t];
        if (!own && j->body != b) continue;
        tl_vec3 at = tl_sph_rub_at(s, r, j), rub = tl_vec3_scale(own ? j->w : -j->w, lam);
        if (!own) at = tl_vec3_add(at, tl_vec3_sub(s->bodies.motion[r->body].x, s->bodies.motion[b].x));
        force = tl_vec3_add(force, tl_vec3_add_scaled(rub, own ? -push : push, j->g));
        torque = tl_vec3_add_scaled(torque, own ? -push : push, own ? j->turn : j->back);
        torque = tl_vec3_add(torque, tl_vec3_cross(at, rub));
    }
    return moved_by(s, b, force, torque);
}

/* Pressure of the liquid particle of edge e. */
static tl_sph_motion liquid_on(const tl_sph_step *s, const double *x, int32_t e, int32_t b)
{
    double push = s->sph->h * s->sph->h * x[s->edge[e]];
    tl_vec3 force = {0, 0, 0}, torque = {0, 0, 0};
    for (int64_t k = s->edge_start[2 * e]; k < s->edge_start[2 * e + 1]; k++) {
        const tl_sph_near *n = &s->near[s->edge_pair[k].j];
        if (n->body != b) continue;
        tl_vec3 f = tl_vec3_scale(push, tl_sph_pair_g(&s->edge_pair[k]));
        force = tl_vec3_add(force, f);
        torque = tl_vec3_add(torque, tl_vec3_cross(n->arm, f));
    }
    return moved_by(s, b, force, torque);
}

static bool meets(const tl_sph_step *s, int32_t k, int32_t b)
{
    bool found = s->contact[k].body == b;
    for (int64_t t = s->touch_start[k]; t < s->touch_start[k + 1] && !found; t++) found = s->touch[t].body == b;
    return found;
}

/* ---- giving way ---- */

/* Calls for every unknown that drives body b, one that adds to the energy of motion u: with factor < 0 sums what
 * they do, else scales them. */
static tl_sph_motion drivers(const tl_sph_step *s, int32_t b, const tl_sph_motion *u, double factor, double *x)
{
    tl_sph_motion sum = {{0, 0, 0}, {0, 0, 0}};
    for (int32_t k = 0; k < s->contacts; k++) {
        if (!(x[s->fluid + k] > 0) || !meets(s, k, b)) continue;
        tl_sph_motion m = contact_on(s, x, k, b);
        if (!(product(s, b, &m, u) > 0)) continue;
        sum = (tl_sph_motion){tl_vec3_add(sum.v, m.v), tl_vec3_add(sum.w, m.w)};
        if (factor < 0) continue;
        double *lam = x + s->fluid + s->contacts + 3 * (int64_t)k;
        x[s->fluid + k] *= factor;
        for (int d = 0; d < 3; d++) lam[d] *= factor;
    }
    for (int32_t e = 0; e < s->edges; e++) {
        if (!(x[s->edge[e]] > 0) || s->edge_start[2 * e] == s->edge_start[2 * e + 1]) continue;
        tl_sph_motion m = liquid_on(s, x, e, b);
        if (!(product(s, b, &m, u) > 0)) continue;
        sum = (tl_sph_motion){tl_vec3_add(sum.v, m.v), tl_vec3_add(sum.w, m.w)};
        if (factor >= 0) x[s->edge[e]] *= factor;
    }
    return sum;
}

/* The largest part of the drivers' push D that leaves u - (1 - part) D within limit; where none does, the one that
 * leaves the least energy. */
static double part_of(const tl_sph_step *s, int32_t b, const tl_sph_motion *u, const tl_sph_motion *D, double limit)
{
    double square = product(s, b, D, D), mixed = product(s, b, u, D);
    double over = product(s, b, u, u) - limit * limit, root = mixed * mixed - square * over;
    if (!(square > 0)) return 0;
    double less = root > 0 ? (mixed - sqrt(root)) / square : mixed / square;
    return fmin(1, fmax(0, 1 - less));
}

int32_t tl_sph_yield(tl_sph_step *s, const double *limit, double *x, double *part)
{
    int32_t gave = 0, bodies = s->sph->bodies;
    for (int32_t b = 0; b < bodies; b++) part[b] = 1;
    for (int round = 0; round < ROUNDS + bodies; round++) {
        bool all = true;
        tl_sph_push_bodies(s, x);
        for (int32_t b = 0; b < bodies; b++) {
            tl_sph_motion u = {tl_vec3_add(s->body_v[b], s->add_v[b]), tl_vec3_add(s->body_w[b], s->add_w[b])};
            if (!(tl_sph_whole_speed(s, b, u.v, u.w) > RISE * limit[b])) continue;
            if (!all) tl_sph_push_bodies(s, x); /* an earlier one of this round has changed */
            u = (tl_sph_motion){tl_vec3_add(s->body_v[b], s->add_v[b]), tl_vec3_add(s->body_w[b], s->add_w[b])};
            tl_sph_motion D = drivers(s, b, &u, -1, x);
            double now = round < ROUNDS ? part_of(s, b, &u, &D, limit[b]) : 0;
            drivers(s, b, &u, now, x);
            part[b] *= now;
            all = false;
        }
        if (all) break;
    }
    for (int32_t b = 0; b < bodies; b++) gave += part[b] < 1;
    return gave;
}
