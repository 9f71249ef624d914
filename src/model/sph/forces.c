#include "model/sph/forces.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "geom/collide/collider_data.h"
#include "model/rigid/motion.h"
#include "model/sph/lanes.h"
#include "model/sph/layers.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the forces between SPH particles");
}

/* In double: with the step's float, liquid and bodies would not exchange momentum to rounding. */
static double mass_of(const tl_sph_step *s, int32_t i)
{
    return s->sph->V0 * s->scene->materials[s->particle[i].material].density;
}

static double viscosity_of(const tl_sph_step *s, int32_t i)
{
    return s->scene->materials[s->particle[i].material].viscosity;
}

/* ---- smoothing ---- */

static bool any_viscous(const tl_scene *s)
{
    for (int i = 0; i < s->material_count; i++)
        if (s->materials[i].viscosity > 0) return true;
    return false;
}

/* Sum of h^3 W (v_j - v_i) over the neighbours of i, weighted by masses. */
static tl_d4 unlike_sum(const tl_sph_step *s, const tl_d4 *v, int32_t i)
{
    tl_d4 sum = {0};
    double mine = mass_of(s, i);
    if (viscosity_of(s, i) > 0) return sum;
    for (int64_t k = s->start[i]; k < s->start[i + 1]; k++) {
        int32_t j = s->neighbour[k];
        if (viscosity_of(s, j) > 0) continue;
        double w = (double)s->weight[k];
        if (!s->one_mass) w *= 2 * mass_of(s, j) / (mass_of(s, j) + mine);
        sum += w * (v[j] - v[i]);
    }
    return sum;
}

/* The same where all have one mass and none a viscosity: no branches, and half a line of the cache per neighbour. */
static tl_d4 alike_sum(const tl_sph_step *s, const tl_d4 *v, int32_t i)
{
    tl_d4 sum = {0}, own = v[i];
    for (int64_t k = s->start[i]; k < s->start[i + 1]; k++) sum += (double)s->weight[k] * (v[s->neighbour[k]] - own);
    return sum;
}

/* L v: differences to the neighbours. */
static void differences(const tl_sph_step *s, bool alike, const tl_d4 *v, tl_d4 *out)
{
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++) out[i] = alike ? alike_sum(s, v, i) : unlike_sum(s, v, i);
}

#define WEIGHTS (1 - 1 / TL_SPH_PI) /* sum of weights of a particle that is not compressed */
#define LONGEST                                                                                                        \
    0.4 /* of a step of fourth order, in times of the fastest decay: what falls per second is then the same */

/* v += share L v - part L L v */
static void smooth_once(tl_sph_step *s, double share, double part, tl_d4 *room[3])
{
    const bool alike = s->one_mass && !any_viscous(s->scene);
    tl_d4 *v = room[0], *off = room[1], *twice = room[2];
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++) v[i] = (tl_d4){s->v[i].x, s->v[i].y, s->v[i].z, 0};
    differences(s, alike, v, off);
    if (part > 0) differences(s, alike, off, twice);
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++) {
        tl_d4 now = v[i] + share * off[i];
        if (part > 0) now -= part * twice[i];
        s->v[i] = (tl_vec3){now[0], now[1], now[2]};
    }
}

talus_status tl_sph_smooth(tl_sph_step *s, double rate, double grain_rate, talus_error *err)
{
    const double times = fmax(1, ceil(grain_rate * s->dt / LONGEST)), dt = s->dt / times;
    const double share = -expm1(-rate * dt), part = -expm1(-grain_rate * dt) / (4 * WEIGHTS * WEIGHTS);
    size_t mark = tl_arena_mark(s->arena);
    tl_d4 *room[3];
    for (int k = 0; k < 3; k++)
        if (!(room[k] = TL_TAKE(s->arena, tl_d4, s->fluid))) return no_memory(err);
    for (int k = 0; k < (int)times; k++) smooth_once(s, share, part, room);
    tl_arena_release(s->arena, mark);
    return TALUS_OK;
}

/* ---- surface tension ---- */

/* Of the differences of normals, N per N/m and h. Cohesion alone leaves drops locked as they are: cubes end with
 * moments of inertia that differ by 3 to 7 %, a brick of 15 x 12 x 10 h by 13 to 30 %; with 0.5 by 2 and 6 %. More
 * makes drops tremble. */
#define FLATTEN 0.5

/* Without its strength; R = 2h is the support. Positive: attracts. */
static double cohesion(double r, double R)
{
    double a = (R - r) * r, b = a * a * a, R2 = R * R;
    return r >= R ? 0 : 2 * r > R ? b : 2 * b - R2 * R2 * R2 / 64;
}

/* Work of moving two particles from r to out of reach. */
static double cohesion_work(double r, double R)
{
    enum { PARTS = 64 };
    double sum = 0, d = (R - r) / PARTS;
    for (int k = 0; k < PARTS; k++) sum += cohesion(r + (k + 0.5) * d, R) * d;
    return r < R ? sum : 0;
}

/* Work per area of parting a cubic lattice along a plane: each offset (a, b, c) with a > 0 crosses it a times per
 * particle. */
static double parting_work(double h)
{
    double sum = 0;
    for (int a = 1; a <= 2; a++)
        for (int b = -2; b <= 2; b++)
            for (int c = -2; c <= 2; c++) sum += a * cohesion_work(h * sqrt(a * a + b * b + c * c), 2 * h);
    return sum / (h * h);
}

/* h^4 times the sum of grad W over neighbours of its own liquid: into the liquid at its surface, 0 far inside. */
static tl_vec3 inward(const tl_sph_step *s, int32_t i)
{
    tl_vec3 sum = {0, 0, 0};
    for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
        if (s->particle[s->neighbour[k]].material == s->particle[i].material)
            sum = tl_vec3_add(sum, tl_sph_link_g(s, k));
    return sum;
}

talus_status tl_sph_tension(tl_sph_step *s, talus_error *err)
{
    double h = s->sph->h, unit = 2 / parting_work(h); /* force per N/m of tension */
    tl_vec3 *v = TL_TAKE(s->arena, tl_vec3, s->fluid), *n = TL_TAKE(s->arena, tl_vec3, s->fluid);
    if (!v || !n) return no_memory(err);
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++) n[i] = inward(s, i);
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++) {
        const tl_sph_particle *p = &s->particle[i];
        tl_vec3 sum = {0, 0, 0};
        double tension = s->scene->materials[p->material].surface_tension;
        if (tension > 0)
            for (int64_t k = s->start[i]; k < s->start[i + 1]; k++) {
                int32_t j = s->neighbour[k];
                const tl_sph_particle *q = &s->particle[j];
                tl_vec3 d = tl_vec3_sub(q->x, p->x);
                double r = tl_vec3_norm(d);
                if (q->material != p->material || !(r > 0)) continue;
                double bend = FLATTEN * h * tl_vec3_dot(tl_vec3_sub(n[j], n[i]), d) / r;
                sum = tl_vec3_add_scaled(sum, tension * (unit * cohesion(r, 2 * h) + bend) / r, d);
            }
        v[i] = tl_vec3_add_scaled(s->v[i], s->dt / mass_of(s, i), sum);
    }
    s->v = v;
    return TALUS_OK;
}

/* ---- viscosity ---- */

/* dt times the force per velocity difference of a pair; d = x_i - x_j. twice_mu: sum of both viscosities. */
static float coupling(const tl_sph_step *s, double twice_mu, tl_vec3 d)
{
    double V0 = s->sph->V0;
    return (float)(-s->dt * twice_mu * V0 * V0 * tl_sph_slope(s->sph->kernel, tl_vec3_norm(d)));
}

static void couple_liquid(tl_sph_viscosity *v)
{
    const tl_sph_step *s = v->step;
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++) {
        double mu = viscosity_of(s, i);
        tl_mat3 whole = tl_mat3_zero();
        for (int64_t k = s->start[i]; k < s->start[i + 1]; k++) {
            int32_t j = s->neighbour[k];
            double other = viscosity_of(s, j), both = mu + other > 0 ? 4 * mu * other / (mu + other) : 0;
            tl_vec3 d = tl_vec3_sub(s->particle[i].x, s->particle[j].x);
            v->k[k] = coupling(s, both, d);
            double part = -s->sph->V0 * tl_sph_slope(s->sph->kernel, tl_vec3_norm(d));
            whole = tl_mat3_add(whole, tl_mat3_outer(tl_vec3_scale(part, d), d));
        }
        v->moment[i] = whole;
    }
}

/* ---- no slip ---- */

#define AROUND_MAX 8     /* solids that hold a particle */
#define MOMENT_LEAST 0.5 /* of a particle at a flat free surface, across it */

/* h times twice the sum of |W'|/r z/d over all layers beyond a flat wall, z from a particle that is d = q h in front
 * of it. Velocities are mirrored at the wall: beyond it they go on as they fall from the particle to the wall, so
 * the difference to one at z is z/d of that to the wall. */
static double mirrored(double q)
{
    double sum = 0;
    for (int k = 0; k < TL_SPH_LAYERS; k++) sum += 2 * tl_sph_plane_weight(TL_SPH_LAYER(q, k)) * TL_SPH_LAYER(q, k) / q;
    return sum;
}

typedef struct holder {
    int32_t body;
    double weight; /* sum of W over its samples */
    tl_vec3 off;   /* of W times the way from them to the particle */
    double q;      /* distance from its surface, spacings */
    double whole;  /* dt times the force per velocity of all its samples together */
} holder;

/* A particle is held by each solid as by a flat wall at its surface, and its samples share that by weight. */
static void couple_edge(tl_sph_viscosity *v, int32_t e)
{
    const tl_sph_step *s = v->step;
    int32_t i = s->edge[e];
    double h = s->sph->h, mu = viscosity_of(s, i), strength = s->dt * mu * s->sph->V0 / (h * h);
    holder held[AROUND_MAX];
    int count = 0;
    for (int64_t k = s->edge_start[2 * e]; k < s->edge_start[2 * e + 2]; k++) {
        int32_t b = tl_sph_edge_body(s, e, k);
        int n = 0;
        while (n < count && held[n].body != b) n++;
        v->k_edge[k] = 0;
        if (n == AROUND_MAX || !(mu > 0)) continue;
        if (n == count) {
            double d = tl_sph_surface_distance(s, b, s->particle[i].x) / h;
            d = fmax(d, TL_SPH_CLOSEST);
            held[count++] = (holder){.body = b, .q = d, .whole = strength * mirrored(d)};
        }
        double w = tl_sph_edge_weight(s, e, k);
        held[n].weight += w;
        held[n].off = tl_vec3_add_scaled(held[n].off, w, tl_vec3_sub(s->particle[i].x, tl_sph_edge_place(s, e, k)));
    }
    for (int n = 0; n < count; n++)
        v->moment[i] = tl_mat3_add(v->moment[i], tl_sph_moments_beyond(held[n].q, tl_vec3_normalize(held[n].off)));
    for (int64_t k = s->edge_start[2 * e]; k < s->edge_start[2 * e + 2] && count; k++) {
        int n = 0;
        while (n < count && held[n].body != tl_sph_edge_body(s, e, k)) n++;
        if (n < count && held[n].weight > 0)
            v->k_edge[k] = (float)(held[n].whole * tl_sph_edge_weight(s, e, k) / held[n].weight);
    }
}

/* Where particles are not evenly around, the sums that stand for the Laplacian of a quadratic velocity are not 1:
 * thin places would have less viscosity. Each pair is corrected by the moment along its line. */
static float fair(const tl_sph_viscosity *v, int32_t i, int32_t j, tl_vec3 d)
{
    tl_vec3 e = tl_vec3_normalize(d);
    double m =
        0.5 * (tl_vec3_dot(e, tl_mat3_mul_vec(v->moment[i], e)) + tl_vec3_dot(e, tl_mat3_mul_vec(v->moment[j], e)));
    return (float)(1 / fmax(m, MOMENT_LEAST));
}

static void even_out(tl_sph_viscosity *v)
{
    const tl_sph_step *s = v->step;
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++)
        for (int64_t k = s->start[i]; k < s->start[i + 1]; k++) {
            int32_t j = s->neighbour[k];
            v->k[k] *= fair(v, i, j, tl_vec3_sub(s->particle[i].x, s->particle[j].x));
        }
    for (int32_t e = 0; e < s->edges; e++) {
        int32_t i = s->edge[e];
        for (int64_t k = s->edge_start[2 * e]; k < s->edge_start[2 * e + 2]; k++)
            v->k_edge[k] *= fair(v, i, i, tl_vec3_sub(s->particle[i].x, tl_sph_edge_place(s, e, k)));
    }
}

/* The same pair as its liquid has it. */
static float of_edge(const tl_sph_viscosity *v, int32_t near, int32_t i)
{
    const tl_sph_step *s = v->step;
    int32_t e = v->edge_of[i];
    for (int64_t k = s->edge_start[2 * e]; k < s->edge_start[2 * e + 1]; k++)
        if (s->edge_pair[k].j == near) return v->k_edge[k];
    return 0;
}

static void couple_solids(tl_sph_viscosity *v)
{
    const tl_sph_step *s = v->step;
#pragma omp parallel for schedule(dynamic, 256) if (s->edges >= TL_PARALLEL_MIN / 8)
    for (int32_t e = 0; e < s->edges; e++) couple_edge(v, e);
    even_out(v);
#pragma omp parallel for schedule(static) if (s->nears >= TL_PARALLEL_MIN / 8)
    for (int32_t r = 0; r < s->nears; r++)
        for (int64_t k = s->near_start[r]; k < s->near_start[r + 1]; k++)
            v->k_near[k] = of_edge(v, r, s->near_pair[k].j);
}

static tl_vec3 at_arm(const tl_vec3 *body_v, const tl_vec3 *body_w, int32_t body, tl_vec3 arm)
{
    return tl_vec3_add(body_v[body], tl_vec3_cross(body_w[body], arm));
}

/* Velocity of a surface particle that has no unknowns, as the step predicts it. */
static tl_vec3 given_velocity(const tl_sph_step *s, int32_t number)
{
    int32_t body = s->sph->body_of[number];
    return at_arm(s->body_v, s->body_w, body, tl_vec3_sub(tl_sph_solid(s, number), s->bodies.motion[body].x));
}

/* Impulse on liquid particle i: sum k (v_j - v_i). `given`: with the velocities of what has no unknowns, else as if
 * it rested. */
static tl_vec3 impulse_on_liquid(const tl_sph_viscosity *w, int32_t i, const tl_vec3 *v, const tl_vec3 *body_v,
                                 const tl_vec3 *body_w, bool given)
{
    const tl_sph_step *s = w->step;
    tl_vec3 sum = {0, 0, 0};
    for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
        sum = tl_vec3_add_scaled(sum, w->k[k], tl_vec3_sub(v[s->neighbour[k]], v[i]));
    int32_t e = w->edge_of[i];
    if (e < 0) return sum;
    int64_t k = s->edge_start[2 * e];
    for (; k < s->edge_start[2 * e + 1]; k++) {
        const tl_sph_near *n = &s->near[s->edge_pair[k].j];
        sum = tl_vec3_add_scaled(sum, w->k_edge[k], tl_vec3_sub(at_arm(body_v, body_w, n->body, n->arm), v[i]));
    }
    for (; k < s->edge_start[2 * e + 2]; k++) {
        tl_vec3 other = given ? given_velocity(s, s->edge_pair[k].j) : (tl_vec3){0, 0, 0};
        sum = tl_vec3_add_scaled(sum, w->k_edge[k], tl_vec3_sub(other, v[i]));
    }
    return sum;
}

/* Impulses on free bodies, [bodies]. */
static void impulses_on_bodies(const tl_sph_viscosity *w, const tl_vec3 *v, const tl_vec3 *body_v,
                               const tl_vec3 *body_w, tl_sph_force *out)
{
    const tl_sph_step *s = w->step;
#pragma omp parallel for schedule(static) if (s->nears >= TL_PARALLEL_MIN / 8)
    for (int32_t c = 0; c < s->chunks; c++) {
        tl_sph_force sum = {{0, 0, 0}, {0, 0, 0}};
        for (int32_t r = s->chunk[c].begin; r < s->chunk[c].end; r++) {
            tl_vec3 mine = at_arm(body_v, body_w, s->near[r].body, s->near[r].arm), f = {0, 0, 0};
            for (int64_t k = s->near_start[r]; k < s->near_start[r + 1]; k++)
                f = tl_vec3_add_scaled(f, w->k_near[k], tl_vec3_sub(v[s->near_pair[k].j], mine));
            sum.force = tl_vec3_add(sum.force, f);
            sum.torque = tl_vec3_add(sum.torque, tl_vec3_cross(s->near[r].arm, f));
        }
        w->chunk[c] = sum;
    }
    memset(out, 0, sizeof *out * (size_t)s->rigid->count);
    for (int32_t c = 0; c < s->chunks; c++) {
        tl_sph_force *b = &out[s->chunk[c].body];
        b->force = tl_vec3_add(b->force, w->chunk[c].force);
        b->torque = tl_vec3_add(b->torque, w->chunk[c].torque);
    }
}

static void unscale(const tl_sph_viscosity *w, const double *x)
{
    const tl_sph_step *s = w->step;
    const double *d = w->scale;
    int64_t n = 3 * (int64_t)s->fluid;
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++) {
        int64_t k = 3 * (int64_t)i;
        w->v[i] = (tl_vec3){d[k] * x[k], d[k + 1] * x[k + 1], d[k + 2] * x[k + 2]};
    }
    for (int32_t b = 0; b < s->rigid->count; b++) {
        int64_t k = n + 6 * (int64_t)b;
        w->body_v[b] = (tl_vec3){d[k] * x[k], d[k + 1] * x[k + 1], d[k + 2] * x[k + 2]};
        w->body_w[b] = (tl_vec3){d[k + 3] * x[k + 3], d[k + 4] * x[k + 4], d[k + 5] * x[k + 5]};
    }
}

static void product(const tl_linop *A, const double *x, double *y)
{
    const tl_sph_viscosity *w = A->ctx;
    const tl_sph_step *s = w->step;
    const double *d = w->scale;
    unscale(w, x);
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++) {
        tl_vec3 f = impulse_on_liquid(w, i, w->v, w->body_v, w->body_w, false);
        tl_vec3 a = tl_vec3_sub(tl_vec3_scale(mass_of(s, i), w->v[i]), f);
        int64_t k = 3 * (int64_t)i;
        y[k] = d[k] * a.x, y[k + 1] = d[k + 1] * a.y, y[k + 2] = d[k + 2] * a.z;
    }
    impulses_on_bodies(w, w->v, w->body_v, w->body_w, w->drag);
    for (int32_t b = 0; b < s->rigid->count; b++) {
        int64_t k = 3 * (int64_t)s->fluid + 6 * (int64_t)b;
        if (!(s->bodies.inv_mass[b] > 0)) {
            memcpy(y + k, x + k, 6 * sizeof *y);
            continue;
        }
        tl_vec3 p = tl_vec3_sub(tl_vec3_scale(1 / s->bodies.inv_mass[b], w->body_v[b]), w->drag[b].force);
        tl_vec3 L = tl_vec3_sub(tl_mat3_mul_vec(w->inertia[b], w->body_w[b]), w->drag[b].torque);
        y[k] = d[k] * p.x, y[k + 1] = d[k + 1] * p.y, y[k + 2] = d[k + 2] * p.z;
        y[k + 3] = d[k + 3] * L.x, y[k + 4] = d[k + 4] * L.y, y[k + 5] = d[k + 5] * L.z;
    }
}

/* One over the root of the diagonal, nearly: torques count with the trace of the inertia. */
static void choose_scale(tl_sph_viscosity *w)
{
    const tl_sph_step *s = w->step;
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++) {
        double sum = mass_of(s, i);
        for (int64_t k = s->start[i]; k < s->start[i + 1]; k++) sum += w->k[k];
        int32_t e = w->edge_of[i];
        if (e >= 0)
            for (int64_t k = s->edge_start[2 * e]; k < s->edge_start[2 * e + 2]; k++) sum += w->k_edge[k];
        for (int k = 0; k < 3; k++) w->scale[3 * (int64_t)i + k] = 1 / sqrt(sum);
    }
    double *d = w->scale + 3 * (int64_t)s->fluid;
    for (int32_t b = 0; b < s->rigid->count; b++) {
        bool is_free = s->bodies.inv_mass[b] > 0;
        for (int k = 0; k < 3; k++) d[6 * (int64_t)b + k] = is_free ? 1 / s->bodies.inv_mass[b] : 1;
        for (int k = 3; k < 6; k++) d[6 * (int64_t)b + k] = is_free ? tl_mat3_trace(w->inertia[b]) / 3 : 1;
    }
    for (int32_t r = 0; r < s->nears; r++)
        for (int64_t k = s->near_start[r]; k < s->near_start[r + 1]; k++)
            for (int c = 0; c < 6; c++)
                d[6 * (int64_t)s->near[r].body + c] +=
                    w->k_near[k] * (c < 3 ? 1 : 2.0 / 3 * tl_vec3_norm2(s->near[r].arm));
    for (int64_t k = 0; k < 6 * (int64_t)s->rigid->count; k++) d[k] = 1 / sqrt(d[k]);
}

static void store_scaled(tl_vec3 a, const double *d, double *out)
{
    out[0] = a.x * d[0], out[1] = a.y * d[1], out[2] = a.z * d[2];
}
static void store_unscaled(tl_vec3 a, const double *d, double *out)
{
    out[0] = a.x / d[0], out[1] = a.y / d[1], out[2] = a.z / d[2];
}

/* b = scaled (M v* + what given velocities push); x starts from v*. */
static void right_side(tl_sph_viscosity *w)
{
    const tl_sph_step *s = w->step;
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++) {
        int64_t k = 3 * (int64_t)i;
        tl_vec3 p = tl_vec3_scale(mass_of(s, i), s->v[i]);
        int32_t e = w->edge_of[i];
        if (e >= 0)
            for (int64_t q = s->edge_start[2 * e + 1]; q < s->edge_start[2 * e + 2]; q++)
                p = tl_vec3_add_scaled(p, w->k_edge[q], given_velocity(s, s->edge_pair[q].j));
        store_scaled(p, w->scale + k, w->b + k);
        store_unscaled(s->v[i], w->scale + k, w->x + k);
    }
    for (int32_t b = 0; b < s->rigid->count; b++) {
        int64_t k = 3 * (int64_t)s->fluid + 6 * (int64_t)b;
        memset(w->b + k, 0, 6 * sizeof *w->b);
        memset(w->x + k, 0, 6 * sizeof *w->x);
        if (!(s->bodies.inv_mass[b] > 0)) continue;
        store_scaled(tl_vec3_scale(1 / s->bodies.inv_mass[b], s->body_v[b]), w->scale + k, w->b + k);
        store_scaled(tl_mat3_mul_vec(w->inertia[b], s->body_w[b]), w->scale + k + 3, w->b + k + 3);
        store_unscaled(s->body_v[b], w->scale + k, w->x + k);
        store_unscaled(s->body_w[b], w->scale + k + 3, w->x + k + 3);
    }
}

static talus_status take_room(tl_sph_viscosity *w, talus_error *err)
{
    const tl_sph_step *s = w->step;
    tl_arena *a = s->arena;
    int64_t n = w->space.n, bodies = s->rigid->count;
    w->x = TL_TAKE(a, double, n);
    w->b = TL_TAKE(a, double, n);
    w->scale = TL_TAKE(a, double, n);
    w->moment = TL_TAKE(a, tl_mat3, s->fluid);
    w->k = TL_TAKE(a, float, s->start[s->fluid]);
    w->k_edge = TL_TAKE(a, float, s->edge_start[2 * s->edges]);
    w->k_near = TL_TAKE(a, float, s->near_start[s->nears]);
    w->edge_of = TL_TAKE(a, int32_t, s->fluid);
    w->v = TL_TAKE(a, tl_vec3, s->fluid);
    w->body_v = TL_TAKE(a, tl_vec3, bodies);
    w->body_w = TL_TAKE(a, tl_vec3, bodies);
    w->chunk = TL_TAKE(a, tl_sph_force, s->chunks);
    w->drag = TL_TAKE(a, tl_sph_force, bodies);
    w->inertia = TL_TAKE(a, tl_mat3, bodies);
    bool all = w->x && w->b && w->scale && w->moment && w->k && w->k_edge && w->k_near && w->edge_of && w->v &&
               w->body_v && w->body_w && w->chunk && w->drag && w->inertia;
    return all ? TALUS_OK : no_memory(err);
}

talus_status tl_sph_viscosity_begin(tl_sph_viscosity *w, tl_sph_step *s, tl_linear *out, talus_error *err)
{
    *w = (tl_sph_viscosity){.step = s, .space = tl_space_local(3 * (int64_t)s->fluid + 6 * (int64_t)s->rigid->count)};
    TL_TRY(take_room(w, err));
    for (int32_t i = 0; i < s->fluid; i++) w->edge_of[i] = -1;
    for (int32_t e = 0; e < s->edges; e++) w->edge_of[s->edge[e]] = e;
    for (int32_t b = 0; b < s->rigid->count; b++) {
        tl_mat3 R = tl_quat_to_mat3(s->bodies.motion[b].q);
        w->inertia[b] = tl_mat3_symmetric(tl_mat3_mul(R, tl_mat3_mul_t(s->rigid->body[b].inertia, R)));
    }
    couple_liquid(w);
    couple_solids(w);
    choose_scale(w);
    right_side(w);
    *out = (tl_linear){.space = &w->space, .A = {.apply = product, .ctx = w}, .b = w->b};
    return TALUS_OK;
}

/* Impulses on what has no unknowns: scripted and static bodies and walls feel what liquid feels of them. */
static void impulses_on_given(const tl_sph_viscosity *w, const tl_vec3 *v, tl_sph_force *out)
{
    const tl_sph_step *s = w->step;
    for (int32_t e = 0; e < s->edges; e++)
        for (int64_t k = s->edge_start[2 * e + 1]; k < s->edge_start[2 * e + 2]; k++) {
            int32_t j = s->edge_pair[k].j, b = s->sph->body_of[j];
            tl_vec3 f = tl_vec3_scale(w->k_edge[k], tl_vec3_sub(v[s->edge[e]], given_velocity(s, j)));
            tl_vec3 arm = tl_vec3_sub(tl_sph_solid(s, j), s->bodies.motion[b].x);
            out[b].force = tl_vec3_add(out[b].force, f);
            out[b].torque = tl_vec3_add(out[b].torque, tl_vec3_cross(arm, f));
        }
}

void tl_sph_viscosity_apply(tl_sph_viscosity *w, tl_sph_step *s)
{
    unscale(w, w->x);
    impulses_on_bodies(w, w->v, w->body_v, w->body_w, w->drag);
    impulses_on_given(w, w->v, w->drag);
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++)
        s->v[i] =
            tl_vec3_add_scaled(s->v[i], 1 / mass_of(s, i), impulse_on_liquid(w, i, w->v, w->body_v, w->body_w, true));
    for (int32_t b = 0; b < s->rigid->count; b++) {
        if (s->bodies.inv_mass[b] > 0) {
            s->body_v[b] = tl_vec3_add_scaled(s->body_v[b], s->bodies.inv_mass[b], w->drag[b].force);
            s->body_w[b] = tl_vec3_add(s->body_w[b], tl_mat3_mul_vec(s->bodies.inv_inertia[b], w->drag[b].torque));
        }
        w->drag[b].force = tl_vec3_scale(1 / s->dt, w->drag[b].force);
        w->drag[b].torque = tl_vec3_scale(1 / s->dt, w->drag[b].torque);
    }
}
