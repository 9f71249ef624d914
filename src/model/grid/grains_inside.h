/* What a grain in contact gets and gives: for the files that stop grains. Functions of their own in each, so that both
 * are compiled as if they stood alone. */
#ifndef TL_MODEL_GRAINS_INSIDE_H
#define TL_MODEL_GRAINS_INSIDE_H

#include "model/grid/grains.h"
#include "model/grid/stencil.h"

static bool is_free(const tl_grains *s, int32_t which) { return which >= 0 && s->inv_mass && s->inv_mass[which] > 0; }

static tl_vec3 load3(const double *v) { return (tl_vec3){v[0], v[1], v[2]}; }

static tl_vec3 turn_of(const double *I, tl_vec3 t)
{
    return (tl_vec3){I[0] * t.x + I[1] * t.y + I[2] * t.z, I[3] * t.x + I[4] * t.y + I[5] * t.z,
                     I[6] * t.x + I[7] * t.y + I[8] * t.z};
}

/* Velocity of a solid where a grain touches it, forces of the step included. */
static tl_vec3 solid_velocity(const tl_grains *s, int32_t which, tl_vec3 x)
{
    if (!is_free(s, which)) return tl_solids_velocity(s->solids, which, x);
    const double *v = s->body_v + 6 * (int64_t)which;
    return tl_vec3_add(load3(v), tl_vec3_cross(load3(v + 3), tl_solids_arm(s->solids, which, x)));
}

/* Part of an impulse's effect on the relative velocity along n that is the grain's: 1 / m over 1 / m and what the
 * body gives way. */
static double grain_share(const tl_grains *s, int32_t which, tl_vec3 x, tl_vec3 n, double m)
{
    if (!is_free(s, which)) return 1;
    tl_vec3 t = tl_vec3_cross(tl_solids_arm(s->solids, which, x), n);
    double body = s->inv_mass[which] + tl_vec3_dot(t, turn_of(s->inv_inertia + 9 * (int64_t)which, t));
    return 1 / (1 + m * body);
}

static void push_body(const tl_grains *s, int32_t which, tl_vec3 x, tl_vec3 impulse)
{
    tl_grain_account *got = s->account;
    if (s->load && which >= 0) {
        double *l = s->load + 6 * (int64_t)which;
        tl_vec3_store(tl_vec3_add(load3(l), impulse), l);
        tl_vec3_store(tl_vec3_add(load3(l + 3), tl_vec3_cross(tl_solids_arm(s->solids, which, x), impulse)), l + 3);
    }
    if (!is_free(s, which)) {
        if (got) got->fixed = tl_vec3_sub(got->fixed, impulse);
        if (got) got->turned = tl_vec3_sub(got->turned, tl_vec3_cross(x, impulse));
        return;
    }
    double *v = s->body_v + 6 * (int64_t)which;
    tl_vec3 from = solid_velocity(s, which, x);
    tl_vec3 w =
        turn_of(s->inv_inertia + 9 * (int64_t)which, tl_vec3_cross(tl_solids_arm(s->solids, which, x), impulse));
    tl_vec3_store(tl_vec3_add_scaled(load3(v), s->inv_mass[which], impulse), v);
    tl_vec3_store(tl_vec3_add(load3(v + 3), w), v + 3);
    if (got) got->given += 0.5 * tl_vec3_dot(impulse, tl_vec3_add(from, solid_velocity(s, which, x)));
}

/* Coefficient between a grain and a solid: the material's sin(angle), or the solid's own where that is less. */
static double friction_of(const tl_grains *s, int32_t which, const tl_particle *p)
{
    double material = s->alpha[p->material] / sqrt(2), own = -1;
    if (s->friction) own = which >= 0 ? s->friction[which] : s->walls;
    return own >= 0 ? fmin(own, material) : material;
}

static bool rides(const tl_grains *s, int32_t which) { return s->riders && which >= 0 && s->solids->solid[which].skin; }

/* Change of a grain's velocity by the solid that it touches: nothing is left of what goes into it, and friction
 * takes its coefficient times that from what slides. A free body gets the opposite impulse; what either then moves
 * makes up for the relative velocity together. */
static tl_vec3 impulse(const tl_grains *s, int32_t which, tl_vec3 n, const tl_particle *p)
{
    const bool rider = rides(s, which);
    double m = s->rho[p->material] * p->volume;
    tl_vec3 u = rider ? tl_solids_velocity(s->solids, which, p->x) : solid_velocity(s, which, p->x);
    tl_vec3 v = tl_vec3_sub(tl_vec3_add(p->v, s->push), u);
    double into = -tl_vec3_dot(v, n);
    if (!(into > 0)) return (tl_vec3){0, 0, 0};
    double normal = into * (rider ? 1 : grain_share(s, which, p->x, n, m));
    tl_vec3 slip = tl_vec3_add_scaled(v, into, n), dv = tl_vec3_scale(normal, n);
    double speed = tl_vec3_norm(slip), max = s->alpha ? friction_of(s, which, p) * normal : 0;
    if (speed > 0 && max > 0) {
        tl_vec3 along = tl_vec3_scale(1 / speed, slip);
        dv = tl_vec3_add_scaled(dv, -fmin(speed * (rider ? 1 : grain_share(s, which, p->x, along, m)), max), along);
    }
    if (!rider) push_body(s, which, p->x, tl_vec3_scale(-m, dv));
    return dv;
}

/* What a grain changes on its faces: dv more, and its gradient less. */
static void add(const tl_grid *g, const int32_t *id, const tl_halo_shape *h, const double place[3],
                const tl_particle *p, double m, tl_vec3 dv, tl_faces *faces)
{
    double d[3], dx = g->f.dx;
    tl_vec3_store(dv, d);
    for (int a = 0; a < 3; a++) {
        tl_corners q = tl_corners_of(h, place, a);
        const double *c = p->C.m[a], *t = q.t;
        for (int k = 0; k < 8; k++) {
            int32_t at = id[q.at + (k >> 2) * h->sx + (k >> 1 & 1) * h->sy + (k & 1)];
            if (!(faces->mass[a][at] > 0)) continue;
            const double to[3] = {k & 4 ? 1 - t[0] : -t[0], k & 2 ? 1 - t[1] : -t[1], k & 1 ? 1 - t[2] : -t[2]};
            double w = (k & 4 ? t[0] : 1 - t[0]) * (k & 2 ? t[1] : 1 - t[1]) * (k & 1 ? t[2] : 1 - t[2]);
            double du = d[a] - dx * (c[0] * to[0] + c[1] * to[1] + c[2] * to[2]);
            faces->u[a][at] += w * m * du / faces->mass[a][at];
        }
    }
}

/* Place of a grain's cell in the halo of its block. */
static int32_t cell_of(const tl_grid *g, const tl_halo_shape *h, const double place[3])
{
    int32_t c[3];
    for (int k = 0; k < 3; k++) {
        int32_t at = (int32_t)floor(place[k]);
        c[k] = at < 0 ? 0 : at >= g->f.edge[k] ? g->f.edge[k] - 1 : at;
    }
    return (c[0] + 1) * h->sx + (c[1] + 1) * h->sy + c[2] + 1;
}

static bool beside_pressure(const tl_grains *s, const tl_halo_shape *h, const int32_t *id, int32_t cell)
{
    for (int k = 0; k < 9; k++) {
        const int32_t *row = id + cell + (k / 3 - 1) * h->sx + (k % 3 - 1) * h->sy;
        if (s->number[row[-1]] >= 0 || s->number[row[0]] >= 0 || s->number[row[1]] >= 0) return true;
    }
    return false;
}

#endif
