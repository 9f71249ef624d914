#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "model/sph/sweeps.h"

/* Pa per N/h^2: how much a change of friction counts beside one of pressure for the solver's direction. Chosen: next to
 * nothing, as at h = 2 cm when one N counted as one Pa. */
#define FRICTION_SHARE 4e-4
#define PARALLEL_NEAR 500   /* near particles from which a loop over them has two threads */
#define PARALLEL_FLUID 2000 /* fluid particles, of loops over pairs */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the system of particles");
}

static const double *contact_pressure(const tl_sph_step *s, const double *x) { return x + s->fluid; }
static tl_vec3 contact_lambda(const tl_sph_step *s, const double *x, int32_t k)
{
    return tl_vec3_load(x + s->fluid + s->contacts + 3 * (int64_t)k);
}

static double fluid_mass(const tl_sph_step *s, int32_t i)
{
    return s->scene->materials[s->particle[i].material].density * s->sph->V0;
}

/* Stored gradients are rounded, so they are not quite along the line d between their particles. Moved onto it,
 * forces turn nothing: this is for what moves particles. The system keeps the rounded ones everywhere, else it would
 * not be symmetric. */
static tl_vec3 along(tl_vec3 g, tl_vec3 d)
{
    double d2 = tl_vec3_norm2(d);
    return tl_vec3_scale(d2 > 0 ? tl_vec3_dot(g, d) / d2 : 0, d);
}

/* h^4 grad_i W_ij of liquid i and its neighbour k among edge_pair, along the line between them. */
static tl_vec3 edge_along(const tl_sph_step *s, int32_t e, int64_t k)
{
    int32_t j = s->edge_pair[k].j;
    tl_vec3 at = tl_sph_solid(s, k < s->edge_start[2 * e + 1] ? s->near[j].particle : j);
    return along(tl_sph_pair_g(&s->edge_pair[k]), tl_vec3_sub(s->particle[s->edge[e]].x, at));
}

/* ---- forces on bodies ---- */

/* Pressure of fluid on a surface particle, N. `central`: along the lines between particles. */
static tl_vec3 fluid_push(const tl_sph_step *s, const double *x, int32_t n, bool central)
{
    tl_vec3 sum = {0, 0, 0};
    for (int64_t k = s->near_start[n]; k < s->near_start[n + 1]; k++) {
        const tl_sph_pair *p = &s->near_pair[k];
        tl_vec3 g = tl_sph_pair_g(p);
        if (central) g = along(g, tl_vec3_sub(tl_sph_solid(s, s->near[n].particle), s->particle[p->j].x));
        sum = tl_vec3_add_scaled(sum, x[p->j], g);
    }
    return tl_vec3_scale(-s->sph->h * s->sph->h, sum);
}

/* Contact pressure and friction, with their moment about the centre of mass. */
static tl_sph_force contact_push(const tl_sph_step *s, const double *x, int32_t k)
{
    const tl_sph_contact *r = &s->contact[k];
    const double *p = contact_pressure(s, x);
    double own = r->V0 * r->V0 * p[k];
    tl_vec3 lam = tl_vec3_scale(r->Vt, contact_lambda(s, x, k)), force = {0, 0, 0}, rub = {0, 0, 0}, torque = {0, 0, 0};
    for (int64_t t = s->touch_start[k]; t < s->touch_start[k + 1]; t++) {
        const tl_sph_touch *j = &s->touch[t];
        double push = own;
        tl_vec3 f = lam;
        if (j->other >= 0) {
            const tl_sph_contact *o = &s->contact[j->other];
            push += o->V0 * o->V0 * p[j->other];
            f = tl_vec3_add_scaled(f, -o->Vt, contact_lambda(s, x, j->other));
        }
        force = tl_vec3_add_scaled(force, -push, j->g);
        torque = tl_vec3_add_scaled(torque, -push, j->turn);
        f = tl_vec3_scale(j->w, f);
        rub = tl_vec3_add(rub, f);
        torque = tl_vec3_add(torque, tl_vec3_cross(tl_sph_rub_at(s, r, j), f));
    }
    return (tl_sph_force){tl_vec3_add(force, rub), torque};
}

/* Contacts with a force, and those they touch: in a pile, one of ten. */
static void find_reached(tl_sph_step *s, const double *x)
{
    memset(s->reached, 0, sizeof *s->reached * (size_t)s->contacts);
    for (int32_t k = 0; k < s->contacts; k++) {
        if (contact_pressure(s, x)[k] == 0 && tl_vec3_max_abs(contact_lambda(s, x, k)) == 0) continue;
        s->reached[k] = true;
        for (int64_t t = s->touch_start[k]; t < s->touch_start[k + 1]; t++)
            if (s->touch[t].other >= 0) s->reached[s->touch[t].other] = true;
    }
}

/* Velocities that all forces together give to bodies. */
static void push_bodies(tl_sph_step *s, const double *x, bool central)
{
    int32_t bodies = s->sph->bodies;
    find_reached(s, x);
#pragma omp parallel for schedule(static) if (s->nears >= PARALLEL_NEAR)
    for (int32_t k = 0; k < s->chunks; k++) {
        tl_sph_force sum = {{0, 0, 0}, {0, 0, 0}};
        for (int32_t n = s->chunk[k].begin; n < s->chunk[k].end; n++) {
            const tl_sph_near *near = &s->near[n];
            tl_vec3 f = fluid_push(s, x, n, central);
            sum.force = tl_vec3_add(sum.force, f);
            sum.torque = tl_vec3_add(sum.torque, tl_vec3_cross(near->arm, f));
            if (near->contact < 0 || !s->reached[near->contact]) continue;
            tl_sph_force c = contact_push(s, x, near->contact);
            sum.force = tl_vec3_add(sum.force, c.force);
            sum.torque = tl_vec3_add(sum.torque, c.torque);
        }
        s->chunk_sum[k] = sum;
    }
    for (int32_t b = 0; b < bodies; b++) s->add_v[b] = s->add_w[b] = (tl_vec3){0, 0, 0};
    for (int32_t k = 0, end; k < s->chunks; k = end) {
        int32_t b = s->chunk[k].body;
        tl_sph_force sum = {{0, 0, 0}, {0, 0, 0}};
        for (end = k; end < s->chunks && s->chunk[end].body == b; end++) {
            sum.force = tl_vec3_add(sum.force, s->chunk_sum[end].force);
            sum.torque = tl_vec3_add(sum.torque, s->chunk_sum[end].torque);
        }
        s->add_v[b] = tl_vec3_scale(s->dt * s->bodies.inv_mass[b], sum.force);
        s->add_w[b] = tl_vec3_scale(s->dt, tl_mat3_mul_vec(s->bodies.inv_inertia[b], sum.torque));
    }
    if (s->joined) s->joined->respond(s->joined->ctx, s->add_v, s->add_w);
}

void tl_sph_push_bodies(tl_sph_step *s, const double *x) { push_bodies(s, x, true); }

static tl_vec3 added(const tl_sph_step *s, int32_t body, tl_vec3 arm)
{
    return tl_vec3_add(s->add_v[body], tl_vec3_cross(s->add_w[body], arm));
}

/* ---- residuals ---- */

/* Moving bodies take part of the room away that fluid next to them has. */
static void edge_residual(const tl_sph_step *s, double *r)
{
    double rate = s->dt / s->sph->h;
#pragma omp parallel for schedule(static) if (s->edges >= PARALLEL_FLUID)
    for (int32_t e = 0; e < s->edges; e++) {
        double sum = 0;
        for (int64_t k = s->edge_start[2 * e]; k < s->edge_start[2 * e + 1]; k++) {
            const tl_sph_near *n = &s->near[s->edge_pair[k].j];
            sum += tl_vec3_dot(added(s, n->body, n->arm), tl_sph_pair_g(&s->edge_pair[k]));
        }
        r[s->edge[e]] += rate * sum;
    }
}

static void contact_residual(const tl_sph_step *s, double *r)
{
    double *volume = r + s->fluid, *slip = volume + s->contacts;
#pragma omp parallel for schedule(static) if (s->contacts >= PARALLEL_NEAR)
    for (int32_t k = 0; k < s->contacts; k++) {
        const tl_sph_contact *c = &s->contact[k];
        volume[k] = 0;
        tl_vec3_store((tl_vec3){0, 0, 0}, slip + 3 * (int64_t)k);
        if (c->far) continue;
        tl_vec3 v = c->slip, d;
        double rate = 0;
        for (int64_t t = s->touch_start[k]; t < s->touch_start[k + 1]; t++) {
            const tl_sph_touch *j = &s->touch[t];
            rate += tl_sph_approach(j, s->add_v, s->add_w, c->body);
            tl_vec3 m = tl_sph_rub_at(s, c, j);
            if (j->other >= 0) {
                tl_vec3 between = tl_vec3_sub(s->bodies.motion[c->body].x, s->bodies.motion[j->body].x);
                d = tl_vec3_sub(added(s, c->body, m), added(s, j->body, tl_vec3_add(m, between)));
            } else {
                d = added(s, c->body, m);
            }
            v = tl_vec3_add_scaled(v, c->Vt * j->w, d);
        }
        volume[k] = c->Verr - c->V0 * s->dt * rate;
        tl_vec3_store(tl_vec3_add_scaled(v, -tl_vec3_dot(v, c->normal), c->normal), slip + 3 * (int64_t)k);
    }
}

static bool pushes(const tl_sph_step *s, const double *x, const double *r, int32_t k)
{
    return s->contact[k].D > 0 && !s->contact[k].far && (r[s->fluid + k] < 0 || x[s->fluid + k] > 0);
}

static void count_active(tl_sph_step *s, const double *x, const double *r)
{
    for (int32_t b = 0; b < s->sph->bodies; b++) s->active[b] = 0;
    for (int32_t k = 0; k < s->contacts; k++) s->active[s->contact[k].body] += pushes(s, x, r, k);
    for (int32_t b = 0; b < s->sph->bodies; b++) s->sharing[b] = s->active[b] > 1 ? s->active[b] : 1;
    const tl_sph_joined *q = s->joined;
    for (int32_t b = 0; q && b < s->sph->bodies; b++) {
        double sum = 0;
        if (q->number[b] < 0) continue;
        const double *along = q->along + (int64_t)q->number[b] * q->count;
        for (int32_t o = 0; o < s->sph->bodies; o++)
            if (q->number[o] >= 0) sum += along[q->number[o]] * s->active[o];
        s->sharing[b] = fmax(1, sum);
    }
}

static void evaluate(void *ctx, const double *x, double *r)
{
    tl_sph_step *s = ctx;
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < s->fluid; i++) s->p[i] = (float)x[i];
    tl_sph_push_fluid(s);
    push_bodies(s, x, false);
    tl_sph_fluid_residual(s, r);
    edge_residual(s, r);
    contact_residual(s, r);
    count_active(s, x, r);
}

/* ---- one projected step ---- */

static tl_vec3 shorten(tl_vec3 v, double max)
{
    double length = tl_vec3_norm(v);
    return length > max ? tl_vec3_scale(max / length, v) : v;
}

/* Contacts of one body that push share the work. Differs from [Probst2023]: the friction step is shortened after it
 * was divided by their number, else sliding friction needs as many steps to build up. */
static void project_contact(const tl_sph_step *s, const double *x, const double *r, double *y, int32_t k)
{
    const tl_sph_contact *c = &s->contact[k];
    int64_t at = s->fluid + k, lam = s->fluid + s->contacts + 3 * (int64_t)k;
    double share = s->sharing[c->body];
    y[at] = c->D > 0 && !c->far ? fmin(c->max, fmax(0, x[at] - s->relax / (share * c->D) * r[at])) : 0;
    double max = c->mu * c->force * y[at];
    tl_vec3 l = {0, 0, 0};
    if (s->given)
        l = s->given[k];
    else if (max > 0 && c->Dl > 0) {
        tl_vec3 t = shorten(tl_vec3_scale(-1 / (share * c->Dl), tl_vec3_load(r + lam)), max);
        l = shorten(tl_vec3_add_scaled(tl_vec3_load(x + lam), s->relax, t), max);
    }
    tl_vec3_store(l, y + lam);
}

static void project(void *ctx, const double *x, const double *r, double *y)
{
    const tl_sph_step *s = ctx;
    const double *D = s->D;
    double relax = s->relax;
    if (s->only != TL_SPH_ALL) memcpy(y, x, sizeof *y * (size_t)s->space.n);
    if (s->only != TL_SPH_CONTACTS)
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN)
        for (int32_t i = 0; i < s->fluid; i++) {
            double p = x[i] - relax * r[i] / D[i];
            y[i] = p > 0 ? p : 0;
        }
    if (s->only != TL_SPH_LIQUID)
#pragma omp parallel for schedule(static) if (s->contacts >= TL_PARALLEL_MIN)
        for (int32_t k = 0; k < s->contacts; k++) project_contact(s, x, r, y, k);
}

static void clamp(void *ctx, double *x)
{
    const tl_sph_step *s = ctx;
    if (s->only != TL_SPH_CONTACTS)
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN)
        for (int32_t i = 0; i < s->fluid; i++) x[i] = x[i] > 0 ? x[i] : 0;
    if (s->only != TL_SPH_LIQUID)
#pragma omp parallel for schedule(static) if (s->contacts >= TL_PARALLEL_MIN)
        for (int32_t k = 0; k < s->contacts; k++) {
            const tl_sph_contact *c = &s->contact[k];
            double *p = x + s->fluid + k, *lam = x + s->fluid + s->contacts + 3 * (int64_t)k;
            *p = c->D > 0 && !c->far && *p > 0 ? fmin(c->max, *p) : 0;
            double max = c->Dl > 0 ? c->mu * c->force * *p : 0;
            tl_vec3_store(s->given ? s->given[k] : shorten(tl_vec3_load(lam), max), lam);
        }
}

/* ---- errors without dimension ---- */

/* 0 exactly where a, b >= 0 and one of them is 0 (Fischer-Burmeister). */
static double complementarity(double a, double b) { return fabs(a + b - sqrt(a * a + b * b)); }

/* Mean over liquid; `worst`: the largest of one particle. */
static double fluid_error(const tl_sph_step *s, const double *x, const double *r, double *worst)
{
    *worst = 0;
    if (!s->fluid) return 0;
    tl_blocks blocks = tl_blocks_of(s->fluid);
    double part[TL_BLOCKS_MAX], max[TL_BLOCKS_MAX];
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++) {
        double lane[TL_LANES] = {0}, high[TL_LANES] = {0};
        int64_t i = tl_block_begin(blocks, b), end = tl_block_end(blocks, b);
        for (; i + TL_LANES <= end; i += TL_LANES)
            for (int l = 0; l < TL_LANES; l++) {
                double e = complementarity(x[i + l] * s->D[i + l], r[i + l]);
                lane[l] += e;
                high[l] = e > high[l] ? e : high[l];
            }
        for (; i < end; i++) {
            double e = complementarity(x[i] * s->D[i], r[i]);
            lane[0] += e;
            high[0] = e > high[0] ? e : high[0];
        }
        part[b] = tl_lanes_total(lane);
        max[b] = high[0];
        for (int l = 1; l < TL_LANES; l++) max[b] = fmax(max[b], high[l]);
    }
    for (int b = 0; b < blocks.count; b++) *worst = fmax(*worst, max[b]);
    return tl_sum_ordered(blocks.count, part) / s->fluid;
}

static double measure(void *ctx, const double *x, const double *r)
{
    tl_sph_step *s = ctx;
    int64_t active = 0;
    double contact = 0, friction = 0, high[3] = {0}, rate = s->dt / s->sph->h;
    for (int32_t k = 0; k < s->contacts && s->only != TL_SPH_LIQUID; k++) {
        if (!pushes(s, x, r, k)) continue;
        const tl_sph_contact *c = &s->contact[k];
        const double *slip = r + s->fluid + s->contacts + 3 * (int64_t)k;
        double p = x[s->fluid + k], share = s->sharing[c->body];
        active++;
        double e = complementarity(p * c->D * share, r[s->fluid + k]);
        contact += e;
        high[1] = fmax(high[1], e);
        if (!(c->Dl > 0) || s->given) continue;
        double left = c->mu * c->force * p - tl_vec3_norm(contact_lambda(s, x, k));
        e = complementarity(rate * tl_vec3_norm(tl_vec3_load(slip)), rate * left * c->Dl * share);
        friction += e;
        high[2] = fmax(high[2], e);
    }
    if (s->only != TL_SPH_CONTACTS) s->error[0] = fluid_error(s, x, r, &s->worst[0]);
    if (s->only != TL_SPH_LIQUID) s->worst[1] = high[1], s->worst[2] = high[2];
    if (s->only != TL_SPH_LIQUID) s->error[1] = active ? contact / (double)active : 0;
    if (s->only != TL_SPH_LIQUID) s->error[2] = active ? friction / (double)active : 0;
    double max = 0, part = s->scene->sph.worst > 0 ? 1 / s->scene->sph.worst : 0;
    for (int k = s->only == TL_SPH_CONTACTS; k < (s->only == TL_SPH_LIQUID ? 1 : 3); k++) {
        double mean = k ? s->error[k] : s->strict * s->error[k];
        if (!(mean <= max)) max = mean; /* NaN comes through */
        if (part * s->worst[k] > max) max = part * s->worst[k];
    }
    return max;
}

talus_status tl_sph_problem(tl_sph_step *s, tl_fixedpoint *out, talus_error *err)
{
    tl_arena *a = s->arena;
    int32_t bodies = s->sph->bodies;
    s->space = tl_space_local((int64_t)s->fluid + 4 * (int64_t)s->contacts);
    s->p = TL_TAKE_ZERO(a, float, s->fluid + TL_SPH_ROOM);
    s->a = tl_arena_take_zero(a, sizeof *s->a * (size_t)(s->fluid + TL_SPH_ROOM));
    s->gathered =
        tl_arena_take_zero(a, sizeof *s->gathered * (size_t)(s->candidates + TL_SPH_ROOM) * (size_t)tl_threads());
    s->chunk_sum = TL_TAKE(a, tl_sph_force, s->chunks);
    s->add_v = TL_TAKE_ZERO(a, tl_vec3, bodies);
    s->add_w = TL_TAKE_ZERO(a, tl_vec3, bodies);
    s->active = TL_TAKE_ZERO(a, int32_t, bodies);
    s->sharing = TL_TAKE_ZERO(a, double, bodies);
    s->reached = TL_TAKE(a, bool, s->contacts);
    s->contact_force = TL_TAKE_ZERO(a, tl_sph_force, bodies);
    s->fluid_force = TL_TAKE_ZERO(a, tl_sph_force, bodies);
    s->dv = TL_TAKE(a, tl_vec3, s->fluid);
    s->at_p = TL_TAKE(a, tl_d4, s->fluid);
    if (!s->at_p || !s->p || !s->a || !s->gathered || !s->chunk_sum || !s->add_v || !s->add_w || !s->active ||
        !s->sharing || !s->reached || !s->contact_force || !s->fluid_force || !s->dv)
        return no_memory(err);
    *out = (tl_fixedpoint){.space = &s->space,
                           .apart = s->fluid,
                           .forces = 3 * (int64_t)s->contacts,
                           .unit = FRICTION_SHARE / (s->sph->h * s->sph->h),
                           .evaluate = evaluate,
                           .project = project,
                           .clamp = clamp,
                           .measure = measure,
                           .ctx = s};
    return TALUS_OK;
}

/* ---- in double ---- */

/* dv, add_v, add_w of x. Every pair gives and takes the same, to rounding; `central`: and turns nothing. */
static void push_all(tl_sph_step *s, const double *x, bool central)
{
    double scale = -s->dt * s->sph->h * s->sph->h;
    tl_d4 *at = s->at_p;
#pragma omp parallel for schedule(static) if (s->fluid >= PARALLEL_FLUID)
    for (int32_t i = 0; i < s->fluid; i++)
        at[i] = (tl_d4){s->particle[i].x.x, s->particle[i].x.y, s->particle[i].x.z, x[i]};
#pragma omp parallel for schedule(static) if (s->fluid >= PARALLEL_FLUID)
    for (int32_t i = 0; i < s->fluid; i++) {
        tl_vec3 sum = {0, 0, 0};
        const tl_d4 own = at[i];
        for (int64_t k = s->start[i]; k < s->start[i + 1]; k++) {
            const tl_d4 other = at[s->neighbour[k]], d = own - other;
            tl_vec3 g = tl_sph_link_g(s, k);
            if (central) g = along(g, (tl_vec3){d[0], d[1], d[2]});
            sum = tl_vec3_add_scaled(sum, own[3] + other[3], g);
        }
        s->dv[i] = tl_vec3_scale(scale / fluid_mass(s, i), sum);
    }
#pragma omp parallel for schedule(static) if (s->edges >= PARALLEL_FLUID)
    for (int32_t e = 0; e < s->edges; e++) {
        int32_t i = s->edge[e];
        tl_vec3 sum = {0, 0, 0};
        for (int64_t k = s->edge_start[2 * e]; k < s->edge_start[2 * e + 2]; k++)
            sum = tl_vec3_add(sum, central ? edge_along(s, e, k) : tl_sph_pair_g(&s->edge_pair[k]));
        s->dv[i] = tl_vec3_add_scaled(s->dv[i], scale * x[i] / fluid_mass(s, i), sum);
    }
    push_bodies(s, x, central);
}

void tl_sph_residual(tl_sph_step *s, const double *x, double *r)
{
    double rate = s->dt / s->sph->h;
    push_all(s, x, false);
#pragma omp parallel for schedule(static) if (s->fluid >= PARALLEL_FLUID)
    for (int32_t i = 0; i < s->fluid; i++) {
        double sum = 0;
        for (int64_t k = s->start[i]; k < s->start[i + 1]; k++)
            sum += tl_vec3_dot(tl_vec3_sub(s->dv[i], s->dv[s->neighbour[k]]), tl_sph_link_g(s, k));
        r[i] = s->Verr[i] - rate * sum;
    }
#pragma omp parallel for schedule(static) if (s->edges >= PARALLEL_FLUID)
    for (int32_t e = 0; e < s->edges; e++) {
        double sum = 0;
        for (int64_t k = s->edge_start[2 * e]; k < s->edge_start[2 * e + 2]; k++)
            sum += tl_vec3_dot(s->dv[s->edge[e]], tl_sph_pair_g(&s->edge_pair[k]));
        r[s->edge[e]] -= rate * sum;
    }
    edge_residual(s, r);
    contact_residual(s, r);
    count_active(s, x, r);
}

static void add_force(tl_sph_force *to, tl_vec3 force, tl_vec3 torque)
{
    to->force = tl_vec3_add(to->force, force);
    to->torque = tl_vec3_add(to->torque, torque);
}

/* Forces on every body, by what they come from; in the order of particles. */
static void list_forces(tl_sph_step *s, const double *x)
{
    double h2 = s->sph->h * s->sph->h;
    for (int32_t n = 0; n < s->nears; n++) {
        const tl_sph_near *near = &s->near[n];
        tl_vec3 f = fluid_push(s, x, n, true);
        add_force(&s->fluid_force[near->body], f, tl_vec3_cross(near->arm, f));
        if (near->contact < 0) continue;
        const tl_sph_contact *c = &s->contact[near->contact];
        tl_sph_force mine = contact_push(s, x, near->contact);
        add_force(&s->contact_force[near->body], mine.force, mine.torque);
        tl_vec3 lam = contact_lambda(s, x, near->contact);
        double push = c->V0 * c->V0 * contact_pressure(s, x)[near->contact];
        for (int64_t t = s->touch_start[near->contact]; t < s->touch_start[near->contact + 1]; t++) {
            const tl_sph_touch *j = &s->touch[t];
            if (j->other >= 0) continue;
            tl_vec3 between = tl_vec3_sub(s->bodies.motion[near->body].x, s->bodies.motion[j->body].x);
            tl_vec3 m = tl_vec3_add(tl_sph_rub_at(s, c, j), between), normal = tl_vec3_scale(push, j->g),
                    rub = tl_vec3_scale(-c->Vt * j->w, lam);
            add_force(&s->contact_force[j->body], tl_vec3_add(normal, rub),
                      tl_vec3_add(tl_vec3_scale(push, j->back), tl_vec3_cross(m, rub)));
        }
    }
    for (int32_t e = 0; e < s->edges; e++)
        for (int64_t k = s->edge_start[2 * e + 1]; k < s->edge_start[2 * e + 2]; k++) {
            int32_t j = s->edge_pair[k].j, body = s->sph->body_of[j];
            tl_vec3 f = tl_vec3_scale(h2 * x[s->edge[e]], edge_along(s, e, k));
            tl_vec3 arm = tl_vec3_sub(tl_sph_solid(s, j), s->bodies.motion[body].x);
            add_force(&s->fluid_force[body], f, tl_vec3_cross(arm, f));
        }
}

void tl_sph_finish(tl_sph_step *s, const double *x)
{
    push_all(s, x, true);
#pragma omp parallel for schedule(static) if (s->fluid >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < s->fluid; i++) s->v[i] = tl_vec3_add(s->v[i], s->dv[i]);
    for (int32_t b = 0; b < s->sph->bodies; b++) {
        s->body_v[b] = tl_vec3_add(s->body_v[b], s->add_v[b]);
        s->body_w[b] = tl_vec3_add(s->body_w[b], s->add_w[b]);
    }
    list_forces(s, x);
}

/* ---- from step to step ---- */

void tl_sph_warm_start(const tl_sph_step *s, const tl_sph_state *state, double keep, double *x)
{
    for (int32_t i = 0; i < s->fluid; i++) x[i] = keep * s->particle[i].p;
    int64_t m = 0;
    for (int32_t k = 0; k < s->contacts; k++) {
        const tl_sph_contact *c = &s->contact[k];
        int32_t particle = s->near[c->near].particle;
        double *p = x + s->fluid + k, *lam = x + s->fluid + s->contacts + 3 * (int64_t)k;
        while (m < state->memories && state->memory[m].particle < particle) m++;
        *p = 0;
        tl_vec3_store((tl_vec3){0, 0, 0}, lam);
        if (m == state->memories || state->memory[m].particle != particle || !(c->D > 0) || c->far) continue;
        *p = fmax(0, state->memory[m].p);
        tl_vec3 l = state->memory[m].lambda;
        l = tl_vec3_add_scaled(l, -tl_vec3_dot(l, c->normal), c->normal);
        tl_vec3_store(shorten(l, c->Dl > 0 ? c->mu * c->force * *p : 0), lam);
    }
}

talus_status tl_sph_give_friction(tl_sph_step *s, const tl_sph_state *state, talus_error *err)
{
    s->given = TL_TAKE_ZERO(s->arena, tl_vec3, s->contacts + 1);
    int32_t *sharing = TL_TAKE_ZERO(s->arena, int32_t, s->sph->bodies + 1);
    double *p = TL_TAKE_ZERO(s->arena, double, s->contacts + 1);
    if (!s->given || !sharing || !p) return no_memory(err);
    int64_t m = 0;
    for (int32_t k = 0; k < s->contacts; k++) {
        int32_t particle = s->near[s->contact[k].near].particle;
        while (m < state->memories && state->memory[m].particle < particle) m++;
        if (m < state->memories && state->memory[m].particle == particle) p[k] = fmax(0, state->memory[m].p);
        sharing[s->contact[k].body] += p[k] > 0;
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        const tl_sph_contact *c = &s->contact[k];
        if (!(p[k] > 0) || !(c->Dl > 0)) continue;
        tl_vec3 slip = tl_vec3_add_scaled(c->slip, -tl_vec3_dot(c->slip, c->normal), c->normal);
        s->given[k] = shorten(tl_vec3_scale(-1 / (c->Dl * sharing[c->body]), slip), c->mu * c->force * p[k]);
    }
    return TALUS_OK;
}

int64_t tl_sph_remember(const tl_sph_step *s, const double *x, tl_sph_memory *out)
{
    int64_t n = 0;
    for (int32_t k = 0; k < s->contacts; k++) {
        double p = contact_pressure(s, x)[k];
        if (!(p > 0)) continue;
        out[n++] = (tl_sph_memory){
            .p = p, .lambda = contact_lambda(s, x, k), .particle = s->near[s->contact[k].near].particle};
    }
    return n;
}
