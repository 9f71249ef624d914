#include "model/sph/arrangement.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "model/sph/lanes.h"
#include "model/sph/layers.h"

/* Averages of the stress over neighbours. Half periods of a wave of 50 h in quiet water over the law's (jitter,
 * lattice), strength 1: none 0.977 and 0.990, one 0.986 and 0.991, three 0.992 and 0.993, eight 0.996 and 0.995; 0.950
 * and 0.959 with all of the stress. Still water after 2 s: 5.8, 3.5, 2.6, 2.8 mm/s. */
#define PASSES 3
/* Of sqrt(p / density), chosen: liquid whose neighbours move that fast against each other flows, and its particles
 * change places instead of resisting as rubber does. Taking the stress away there gives energy: 10 % of what a dam
 * break had, step by step; 0.3 % with 0.1, 0.04 % with 0.07, nothing with 0.05. Still water is at 0.01 to 0.03, small waves
 * at 0.01, a dam that breaks at 0.1 and more. */
#define QUIET 0.07
#define AROUND_MAX TL_SPH_HOLDS /* solids that a particle sees */
#define OWN (1 / TL_SPH_PI)     /* h^3 W(0) */

/* xx, yy, zz, xy, xz, yz, and two that are 0. */
typedef tl_f8 stress;

/* What a particle sees of one solid. */
typedef struct side {
    int32_t body;
    float q;    /* spacings from its surface */
    float n[3]; /* off it */
} side;

typedef struct sides {
    int32_t count;
    bool known; /* all are firm: what is behind others is not known (sph.h), and no stress is taken away beside them */
    side of[AROUND_MAX];
} sides;

/* For one step, on its arena. */
typedef struct work {
    tl_sph_step *s;
    double share;      /* of the step's length that the last one had, at most 1 */
    tl_d4 *at;         /* [fluid] place and pressure */
    stress *T, *other; /* [fluid] */
    sides *sides;      /* [edges] */
} work;

static stress stress_of(const tl_mat3 *m)
{
    return (stress){(float)m->m[0][0],
                    (float)m->m[1][1],
                    (float)m->m[2][2],
                    (float)m->m[0][1],
                    (float)m->m[0][2],
                    (float)m->m[1][2],
                    0,
                    0};
}

static tl_vec3 times(stress T, tl_vec3 v)
{
    const double xx = (double)T[0], yy = (double)T[1], zz = (double)T[2], xy = (double)T[3], xz = (double)T[4],
                 yz = (double)T[5];
    return (tl_vec3){xx * v.x + xy * v.y + xz * v.z, xy * v.x + yy * v.y + yz * v.z, xz * v.x + yz * v.y + zz * v.z};
}

/* ---- solids ---- */

static void look_around(const work *w, int32_t e)
{
    const tl_sph_step *s = w->s;
    sides *out = &w->sides[e];
    tl_vec3 off[AROUND_MAX] = {{0, 0, 0}}, x = s->particle[s->edge[e]].x;
    out->count = 0;
    out->known = true;
    for (int64_t k = s->edge_start[2 * e]; k < s->edge_start[2 * e + 2]; k++) {
        int32_t b = tl_sph_edge_body(s, e, k);
        int n = 0;
        out->known &= s->sph->body[b].firm;
        if (!out->known) break;
        while (n < out->count && out->of[n].body != b) n++;
        if (n == AROUND_MAX) continue;
        if (n == out->count) {
            double q = tl_sph_surface_distance(s, b, x) / s->sph->h;
            out->of[out->count++] = (side){.body = b, .q = (float)fmax(q, TL_SPH_CLOSEST)};
        }
        off[n] = tl_vec3_add_scaled(off[n], tl_sph_edge_weight(s, e, k), tl_vec3_sub(x, tl_sph_edge_place(s, e, k)));
    }
    if (!out->known) out->count = 0;
    for (int n = 0; n < out->count; n++) {
        tl_vec3 dir = tl_vec3_normalize(off[n]);
        out->of[n].n[0] = (float)dir.x, out->of[n].n[1] = (float)dir.y, out->of[n].n[2] = (float)dir.z;
    }
}

static tl_vec3 normal_of(const side *a) { return (tl_vec3){(double)a->n[0], (double)a->n[1], (double)a->n[2]}; }

/* ---- the stress ---- */

/* S_i of the liquid around it. */
static stress of_liquid(const work *w, int32_t i)
{
    const tl_sph_step *s = w->s;
    const float scale = (float)(0.5 * TL_SPH_G_UNIT / s->sph->h);
    const tl_d4 own = w->at[i];
    stress sum = {0};
    for (int64_t k = s->start[i]; k < s->start[i + 1]; k++) {
        const tl_d4 other = w->at[s->neighbour[k]];
        const int16_t *g = s->link[k].g;
        const float p = -scale * (float)(own[3] + other[3]), x = (float)(own[0] - other[0]),
                    y = (float)(own[1] - other[1]), z = (float)(own[2] - other[2]);
        const float gx = p * (float)g[0], gy = p * (float)g[1], gz = p * (float)g[2];
        sum += (stress){gx * x, gy * y, gz * z, gx * y, gx * z, gy * z, 0, 0};
    }
    return sum;
}

/* Mean square of the velocity differences to its neighbours, (m/s)^2. */
static double stirred(const tl_sph_step *s, int32_t i)
{
    double sum = 0, all = 0;
    for (int64_t k = s->start[i]; k < s->start[i + 1]; k++) {
        all += (double)s->weight[k];
        sum += (double)s->weight[k] * tl_vec3_norm2(tl_vec3_sub(s->v[s->neighbour[k]], s->v[i]));
    }
    return all > 0 ? sum / all : 0;
}

/* How much of its stress is taken away: all where it is quiet. Not of liquids that have a viscosity of their own, as of
 * numerical viscosity, nor of those with surface tension: their pairs attract each other, too, and what both leave is
 * no stress of pressure. */
static float part_of(const work *w, int32_t i)
{
    const tl_sph_step *s = w->s;
    const tl_material *m = &s->scene->materials[s->particle[i].material];
    if (m->viscosity > 0 || m->surface_tension > 0 || !(w->at[i][3] > 0)) return 0;
    const double r = stirred(s, i) * m->density / (QUIET * QUIET * w->at[i][3]);
    return (float)(w->share * s->scene->sph.arrangement / (1 + r * r));
}

/* T_i before it is averaged. */
static stress without_pressure(const work *w, int32_t i, stress S)
{
    const float p = (S[0] + S[1] + S[2]) / 3;
    return part_of(w, i) * ((stress){p, p, p, 0, 0, 0, 0, 0} - S);
}

static void find_stress(const work *w)
{
    const tl_sph_step *s = w->s;
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++) w->T[i] = of_liquid(w, i);
#pragma omp parallel for schedule(dynamic, 256) if (s->edges >= TL_PARALLEL_MIN / 8)
    for (int32_t e = 0; e < s->edges; e++) {
        look_around(w, e);
        if (!w->sides[e].known) w->T[s->edge[e]] = (stress){0};
        for (int n = 0; n < w->sides[e].count; n++) {
            const side *a = &w->sides[e].of[n];
            tl_mat3 m = tl_mat3_scale(w->at[s->edge[e]][3], tl_sph_moments_beyond((double)a->q, normal_of(a)));
            w->T[s->edge[e]] += stress_of(&m);
        }
    }
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++) w->T[i] = without_pressure(w, i, w->T[i]);
}

static void average(work *w)
{
    const tl_sph_step *s = w->s;
    const stress *T = w->T;
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++) {
        float all = (float)OWN;
        stress sum = all * T[i];
        for (int64_t k = s->start[i]; k < s->start[i + 1]; k++) {
            all += s->weight[k];
            sum += s->weight[k] * T[s->neighbour[k]];
        }
        w->other[i] = sum / all;
    }
    stress *mean = w->other;
    w->other = w->T;
    w->T = mean;
}

/* ---- the force ---- */

/* Over V0, without solids. Each pair's part has the same bits on both sides, so that momentum is kept. */
static tl_vec3 force_of_liquid(const work *w, int32_t i)
{
    const tl_sph_step *s = w->s;
    const stress own = w->T[i];
    tl_vec3 sum = {0, 0, 0};
    for (int64_t k = s->start[i]; k < s->start[i + 1]; k++) {
        const stress T = own + w->T[s->neighbour[k]];
        const int16_t *g = s->link[k].g;
        const float gx = (float)g[0], gy = (float)g[1], gz = (float)g[2];
        sum.x += (double)(T[0] * gx + T[3] * gy + T[4] * gz);
        sum.y += (double)(T[3] * gx + T[1] * gy + T[5] * gz);
        sum.z += (double)(T[4] * gx + T[5] * gy + T[2] * gz);
    }
    return tl_vec3_scale(-TL_SPH_G_UNIT / s->sph->h, sum);
}

/* Force of the liquid of edge e on what it sees, at the nearest place of each surface; returns its sum over V0. */
static tl_vec3 push_solids(const work *w, int32_t e, tl_sph_force *on)
{
    const tl_sph_step *s = w->s;
    const double h = s->sph->h;
    int32_t i = s->edge[e];
    tl_vec3 sum = {0, 0, 0};
    for (int n = 0; n < w->sides[e].count; n++) {
        const side *a = &w->sides[e].of[n];
        tl_vec3 dir = normal_of(a), at = tl_vec3_add_scaled(s->particle[i].x, -h * (double)a->q, dir);
        tl_vec3 f = times(w->T[i], tl_vec3_scale(-2 * tl_sph_pull_beyond((double)a->q) / h, dir));
        tl_vec3 whole = tl_vec3_scale(s->sph->V0, f), arm = tl_vec3_sub(at, s->bodies.motion[a->body].x);
        sum = tl_vec3_add(sum, f);
        on[a->body].force = tl_vec3_add(on[a->body].force, whole);
        on[a->body].torque = tl_vec3_add(on[a->body].torque, tl_vec3_cross(arm, whole));
    }
    return sum;
}

static void push(const work *w, tl_sph_force *on)
{
    tl_sph_step *s = w->s;
    const tl_material *of = s->scene->materials;
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN / 8)
    for (int32_t i = 0; i < s->fluid; i++)
        s->v[i] = tl_vec3_add_scaled(s->v[i], s->dt / of[s->particle[i].material].density, force_of_liquid(w, i));
    for (int32_t e = 0; e < s->edges; e++) {
        int32_t i = s->edge[e];
        s->v[i] = tl_vec3_add_scaled(s->v[i], -s->dt / of[s->particle[i].material].density, push_solids(w, e, on));
    }
    for (int32_t b = 0; b < s->rigid->count; b++) {
        if (!(s->bodies.inv_mass[b] > 0)) continue;
        tl_vec3 spin = tl_mat3_mul_vec(s->bodies.inv_inertia[b], on[b].torque);
        s->body_v[b] = tl_vec3_add_scaled(s->body_v[b], s->dt * s->bodies.inv_mass[b], on[b].force);
        s->body_w[b] = tl_vec3_add_scaled(s->body_w[b], s->dt, spin);
    }
}

talus_status tl_sph_take_stress(tl_sph_step *s, double last_dt, tl_sph_force **on, talus_error *err)
{
    tl_arena *a = s->arena;
    *on = TL_TAKE_ZERO(a, tl_sph_force, s->rigid->count);
    size_t mark = tl_arena_mark(a);
    work w = {.s = s,
              .share = fmin(1, last_dt / s->dt),
              .at = TL_TAKE(a, tl_d4, s->fluid),
              .T = TL_TAKE(a, stress, s->fluid),
              .other = TL_TAKE(a, stress, s->fluid),
              .sides = TL_TAKE(a, sides, s->edges)};
    if (!*on || !w.at || !w.T || !w.other || !w.sides)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the stress between SPH particles");
    for (int32_t i = 0; i < s->fluid; i++) {
        const tl_sph_particle *p = &s->particle[i];
        w.at[i] = (tl_d4){p->x.x, p->x.y, p->x.z, p->p};
    }
    find_stress(&w);
    for (int k = 0; k < PASSES; k++) average(&w);
    push(&w, *on);
    tl_arena_release(a, mark);
    return TALUS_OK;
}
