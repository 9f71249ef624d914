#include "model/sph/stop.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "geom/collide/collider_data.h"
#include "model/rigid/motion.h"

#define BEYOND 4.0 /* spacings: liquid that is so far outside of the domain is gone */

#define PIECE 0.2    /* spacings of a way that are looked at together */
#define LEAP 0.5     /* spacings: shorter ways cannot lead through a wall */
#define PUSHES 4     /* of a piece: a corner has three faces */
#define WEDGED 0.05  /* spacings too near after that: it stays where it was */
#define AROUND_MAX 8 /* bodies that a particle is stopped by */

/* ---- distance from samples ---- */

/* Of a box given by its half edges, with its outward unit gradient. */
static double box_distance(tl_vec3 half, tl_vec3 p, tl_vec3 *gradient)
{
    const double x[3] = {p.x, p.y, p.z}, e[3] = {half.x, half.y, half.z};
    double out[3], n[3] = {0, 0, 0}, beyond = 0;
    int nearest = 0;
    for (int k = 0; k < 3; k++) {
        out[k] = fabs(x[k]) - e[k];
        if (out[k] > out[nearest]) nearest = k;
        if (out[k] > 0) beyond += out[k] * out[k];
    }
    beyond = sqrt(beyond);
    for (int k = 0; k < 3; k++) {
        double along = beyond > 0 ? fmax(0, out[k]) / beyond : k == nearest;
        n[k] = copysign(along, x[k]);
    }
    *gradient = (tl_vec3){n[0], n[1], n[2]};
    return beyond > 0 ? beyond : out[nearest];
}

/* From the surface that the samples of body b lie on, in its shape's frame. gradient may be NULL. */
static double distance(const tl_sph_step *s, int32_t b, tl_vec3 p, tl_vec3 *gradient)
{
    const tl_collider *c = s->rigid->body[b].collider;
    tl_vec3 sunk = s->sph->body[b].wet_sunk;
    int node = s->scene->bodies[b].shape;
    if (c->kind == TL_COLLIDER_BOX) {
        tl_mat3 to = tl_mat3_transpose(c->axes);
        tl_vec3 n;
        double d = box_distance(tl_vec3_sub(c->half, sunk), tl_mat3_mul_vec(to, tl_vec3_sub(p, c->centre)), &n);
        if (gradient) *gradient = tl_mat3_mul_vec(c->axes, n);
        return d;
    }
    if (gradient) *gradient = tl_shape_gradient(s->scene->shapes, node, p);
    return tl_shape_distance(s->scene->shapes, node, p) + sunk.x;
}

/* ---- who is near what ---- */

/* Scene's bodies that the particle of edge e has samples of as neighbours. */
static int around(const tl_sph_step *s, int32_t e, int32_t out[AROUND_MAX])
{
    int count = 0;
    for (int64_t k = s->edge_start[2 * e]; k < s->edge_start[2 * e + 2]; k++) {
        int32_t j = s->edge_pair[k].j, b = k < s->edge_start[2 * e + 1] ? s->near[j].body : s->sph->body_of[j];
        bool known = b >= s->rigid->scene_count || count == AROUND_MAX;
        for (int i = 0; i < count && !known; i++) known = out[i] == b;
        if (!known) out[count++] = b;
    }
    return count;
}

static tl_pose pose_of(const tl_sph_step *s, const tl_motion *m, int32_t b)
{
    return tl_rigid_pose(&s->rigid->body[b], &m[b]);
}

/* Its way in the shape's frame of body b. */
typedef struct way {
    tl_vec3 from, to;
    double length;
} way;

static way way_of(const tl_sph_step *s, const tl_motion *body, int32_t i, int32_t b)
{
    tl_pose start = pose_of(s, s->bodies.motion, b), end = pose_of(s, body, b);
    tl_vec3 was = tl_vec3_add_scaled(s->particle[i].x, -s->dt, s->v[i]);
    way w = {.from = tl_pose_to_local(&start, was), .to = tl_pose_to_local(&end, s->particle[i].x)};
    w.length = tl_vec3_norm(tl_vec3_sub(w.to, w.from));
    return w;
}

static bool is_near(const tl_sph_step *s, const tl_motion *body, int32_t e)
{
    int32_t b[AROUND_MAX];
    int n = around(s, e, b);
    for (int k = 0; k < n; k++) {
        way w = way_of(s, body, s->edge[e], b[k]);
        if (w.length > LEAP * s->sph->h || distance(s, b[k], w.to, NULL) < TL_SPH_NEAREST * s->sph->h) return true;
    }
    return false;
}

/* ---- blows ---- */

/* Takes the velocity of particle i against direction n, world, relative to body b where the particle is. */
static void strike(tl_sph_step *s, tl_motion *m, int32_t i, int32_t b, tl_vec3 n)
{
    tl_sph_particle *p = &s->particle[i];
    tl_mat3 inverse = tl_rigid_inverse_inertia(&s->rigid->body[b], m->q);
    tl_vec3 arm = tl_vec3_sub(p->x, m->x), turn = tl_vec3_cross(arm, n);
    double share = s->bodies.inv_mass[b], inv_m = (double)s->inv_m[i];
    double toward = tl_vec3_dot(n, tl_vec3_sub(p->v, tl_vec3_add(m->v, tl_vec3_cross(m->w, arm))));
    if (toward >= 0) return;
    tl_vec3 spin = share > 0 ? tl_mat3_mul_vec(inverse, turn) : (tl_vec3){0, 0, 0};
    double blow = -toward / (inv_m + share + tl_vec3_dot(turn, spin)); /* N s */
    p->v = tl_vec3_add_scaled(p->v, blow * inv_m, n);
    m->v = tl_vec3_add_scaled(m->v, -blow * share, n);
    m->w = tl_vec3_add_scaled(m->w, -blow, spin);
    m->fluid_force = tl_vec3_add_scaled(m->fluid_force, -blow / s->dt, n);
    m->fluid_torque = tl_vec3_add_scaled(m->fluid_torque, -blow / s->dt, turn);
}

/* Directions that a particle was pushed in, in the shape's frame. */
typedef struct pushes {
    int count;
    tl_vec3 n[PUSHES];
} pushes;

/* One piece: to `at` and out of what is too near. False: wedged. */
static bool go(const tl_sph_step *s, int32_t b, tl_vec3 *at, pushes *done)
{
    double h = s->sph->h, nearest = TL_SPH_NEAREST * h, d = 0;
    for (int k = 0; k < PUSHES; k++) {
        tl_vec3 n;
        d = distance(s, b, *at, NULL);
        if (d >= nearest) return true;
        distance(s, b, *at, &n);
        *at = tl_vec3_add_scaled(*at, fmin(nearest - d, PIECE * h), n);
        done->n[done->count < PUSHES ? done->count++ : PUSHES - 1] = n;
    }
    return distance(s, b, *at, NULL) >= nearest - WEDGED * h;
}

/* Follows particle i past body b. */
static void lead(tl_sph_step *s, tl_motion *body, int32_t i, int32_t b)
{
    static const tl_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    way w = way_of(s, body, i, b);
    int pieces = 1 + (int)fmin(w.length / (PIECE * s->sph->h), 1000);
    tl_vec3 at = w.from, step = tl_vec3_scale(1.0 / pieces, tl_vec3_sub(w.to, w.from));
    pushes done = {0};
    bool wedged = false;
    for (int k = 0; k < pieces && !wedged; k++) {
        tl_vec3 was = at;
        at = tl_vec3_add(at, step);
        wedged = !go(s, b, &at, &done);
        if (wedged && k > 0) at = was;
    }
    if (!done.count) return;
    tl_pose end = pose_of(s, body, b);
    tl_vec3 to = tl_pose_apply(&end, at), moved = tl_vec3_sub(to, s->particle[i].x);
    s->particle[i].x = to;
    if (!s->joined || s->joined->number[b] < 0) /* joints hold it where it is */
        body[b].x = tl_vec3_add_scaled(body[b].x, -s->bodies.inv_mass[b] / (double)s->inv_m[i], moved);
    for (int k = 0; k < done.count; k++) strike(s, &body[b], i, b, tl_quat_rotate(end.rotation, done.n[k]));
    for (int k = 0; k < 6 && wedged; k++)
        strike(s, &body[b], i, b, tl_vec3_scale(k < 3 ? 1 : -1, axes[k % 3])); /* moves with the body */
}

talus_status tl_sph_stop(tl_sph_step *s, tl_motion *body, talus_error *err)
{
    bool *stopped = TL_TAKE(s->arena, bool, s->edges + 1);
    if (!stopped) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for stops of liquid");
#pragma omp parallel for schedule(dynamic, 256) if (s->edges >= TL_PARALLEL_MIN / 8)
    for (int32_t e = 0; e < s->edges; e++) stopped[e] = is_near(s, body, e);
    for (int32_t e = 0; e < s->edges; e++) {
        int32_t b[AROUND_MAX];
        int n = stopped[e] ? around(s, e, b) : 0;
        for (int k = 0; k < (n > 1 ? 2 * n : n); k++) lead(s, body, s->edge[e], b[k % n]);
    }
    return TALUS_OK;
}

/* ---- walls ---- */

/* Far outside of the domain, or through an open wall: gone. */
bool tl_sph_gone(const tl_sph_step *s, tl_vec3 x)
{
    const tl_domain_spec *d = &s->scene->domain;
    if (!d->bounded) return false;
    double beyond = BEYOND * s->sph->h, p[3] = {x.x, x.y, x.z};
    const double lo[3] = {d->box.lo.x, d->box.lo.y, d->box.lo.z}, hi[3] = {d->box.hi.x, d->box.hi.y, d->box.hi.z};
    for (int k = 0; k < 3; k++) {
        if (p[k] < lo[k] - (d->wall[2 * k] == TL_WALL_OPEN ? 0 : beyond)) return true;
        if (p[k] > hi[k] + (d->wall[2 * k + 1] == TL_WALL_OPEN ? 0 : beyond)) return true;
    }
    return false;
}

/* The wall's blow takes what is left of the velocity towards it. */
static void stop_at(double *x, double *v, double sign, double wall)
{
    if (sign * (*x - wall) >= 0) return;
    *x = wall;
    *v = sign * fmax(0, sign * *v);
}

/* As bodies stop liquid (model/sph/stop.h): a fifth of what falls in growing-pillar would leave it. */
void tl_sph_stop_at_walls(const tl_sph_step *s, tl_sph_particle *p)
{
    const tl_domain_spec *d = &s->scene->domain;
    if (!d->bounded) return;
    double off = (TL_SPH_NEAREST - s->sph->wet_inset) * s->sph->h;
    double *x[3] = {&p->x.x, &p->x.y, &p->x.z}, *v[3] = {&p->v.x, &p->v.y, &p->v.z};
    const double lo[3] = {d->box.lo.x, d->box.lo.y, d->box.lo.z}, hi[3] = {d->box.hi.x, d->box.hi.y, d->box.hi.z};
    for (int k = 0; k < 3; k++) {
        if (d->wall[2 * k] == TL_WALL_CLOSED) stop_at(x[k], v[k], 1, lo[k] + off);
        if (d->wall[2 * k + 1] == TL_WALL_CLOSED) stop_at(x[k], v[k], -1, hi[k] - off);
    }
}
