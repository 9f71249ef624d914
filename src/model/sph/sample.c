/* Particles on surfaces: lattices on boxes, planes and walls, spirals on spheres, marched or random points on the
 * rest. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "geom/collide/collider_data.h"
#include "geom/surface.h"
#include "model/sph/cells.h"
#include "model/sph/thin.h"

#define SAMPLES_MAX 200000000
#define DARTS_APART 0.9   /* h: mean density of Poisson disks is then that of a lattice [Probst2023] */
#define PLANE_MARGIN 20.0 /* h around everything, at least, where a plane has no end */
/* Sum of W h^3 over a sample's own surface, at most. Marched vertices have up to 5 where a surface bends within h:
 * rest volumes that small touch nothing but each other. Lattices have 0.70, edges of boxes 0.74; 0.8 leaves rest
 * volumes of 1.03 h^3 in the mean (tests/unit/sph_sample.c). */
#define CROWDED 0.8
#define SAME_PLACE 0.25 /* h: samples of two static bodies nearer than this are one */
#define GOLDEN_ANGLE 2.39996322972865332

/* The surfaces and static points of a run while they are made. */
typedef struct maker {
    tl_sph *out;
    const tl_scene *scene;
    const tl_rigid *rigid;
    tl_box3 world;             /* where planes are sampled */
    int32_t *surface_of_shape; /* [shape nodes] -1: not made yet */
    tl_points fixed;           /* static points so far, heap */
    int32_t *fixed_body;
    uint8_t *fixed_meets;
    int64_t fixed_room;
    bool liquid;     /* there may be some */
    bool two_insets; /* of solids and liquid */
} maker;

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for surface particles");
}

tl_sph_options tl_sph_options_of(const tl_scene *s)
{
    return (tl_sph_options){s->sph.gamma, s->sph.inset, TL_SPH_LATTICE};
}

/* Sum of W h^3 over a flat lattice of spacing h, at a place d h above one of its points. */
static double sheet(double d)
{
    tl_sph_kernel k = tl_sph_kernel_of(1);
    double sum = 0;
    for (int i = -2; i <= 2; i++)
        for (int j = -2; j <= 2; j++) sum += tl_sph_w(k, sqrt(i * i + j * j + d * d));
    return sum;
}

/* ---- one shape ---- */

static talus_status points_take(tl_points *p, int64_t count, talus_error *err)
{
    *p = (tl_points){0};
    if (count > SAMPLES_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "%lld surface particles are more than the %d allowed; take a larger spacing", (long long)count,
                       SAMPLES_MAX);
    p->at = TL_NEW(tl_vec3, count + 1);
    p->normal = TL_NEW(tl_vec3, count + 1);
    if (p->at && p->normal) return TALUS_OK;
    tl_points_free(p);
    return no_memory(err);
}

/* Inset along an extent, so that both sides stay 2h apart where they can. */
static double inset_within(double extent, double h, double inset) { return fmax(0, fmin(inset, 0.5 * extent - h)); }

static talus_status sample_box(const tl_collider *c, double h, double inset, tl_points *out, tl_vec3 *sunk,
                               talus_error *err)
{
    double half[3] = {c->half.x, c->half.y, c->half.z};
    int64_t n[3];
    for (int k = 0; k < 3; k++) {
        half[k] -= inset_within(2 * half[k], h, inset);
        n[k] = (int64_t)fmin(fmax(1, round(2 * half[k] / h)), 1e6);
        if (half[k] < 0.25 * h) { /* two layers would be one */
            half[k] = 0;
            n[k] = 0;
        }
    }
    *sunk = tl_vec3_sub(c->half, tl_vec3_load(half));
    int64_t count = (n[0] + 1) * (n[1] + 1) * (n[2] + 1);
    if (n[0] > 1 && n[1] > 1 && n[2] > 1) count -= (n[0] - 1) * (n[1] - 1) * (n[2] - 1);
    TL_TRY(points_take(out, count, err));
    for (int64_t k = 0; k <= n[2]; k++)
        for (int64_t j = 0; j <= n[1]; j++) {
            bool inner = k > 0 && k < n[2] && j > 0 && j < n[1];
            for (int64_t i = 0; i <= n[0]; i += inner && n[0] > 0 ? n[0] : 1) {
                int64_t at[3] = {i, j, k};
                double p[3], normal[3];
                for (int a = 0; a < 3; a++) {
                    p[a] = n[a] ? half[a] * (2 * (double)at[a] / (double)n[a] - 1) : 0;
                    normal[a] = n[a] == 0 || at[a] == n[a] ? 1 : at[a] == 0 ? -1 : 0;
                }
                out->at[out->count] = tl_vec3_add(c->centre, tl_mat3_mul_vec(c->axes, tl_vec3_load(p)));
                out->normal[out->count++] = tl_vec3_normalize(tl_mat3_mul_vec(c->axes, tl_vec3_load(normal)));
            }
        }
    return TALUS_OK;
}

static talus_status sample_sphere(const tl_collider *c, double h, double inset, tl_points *out, tl_vec3 *sunk,
                                  talus_error *err)
{
    double below = inset_within(2 * c->radius, h, inset), r = c->radius - below;
    *sunk = (tl_vec3){below, below, below};
    double n = fmax(1, round(4 * TL_SPH_PI * r * r / (h * h)));
    TL_TRY(points_take(out, (int64_t)fmin(n, 1e15), err));
    for (int64_t i = 0; i < (int64_t)n; i++) {
        double z = 1 - (2 * (double)i + 1) / n, s = sqrt(fmax(0, 1 - z * z)), angle = GOLDEN_ANGLE * (double)i;
        tl_vec3 d = {s * cos(angle), s * sin(angle), z};
        out->at[out->count] = tl_vec3_add_scaled(c->centre, n > 1 ? r : 0, d);
        out->normal[out->count++] = d;
    }
    return TALUS_OK;
}

/* The part of the plane inside of `region`, both in the shape's frame. */
static talus_status sample_plane(const tl_collider *c, double h, double inset, const tl_box3 *region, const tl_pose *x,
                                 tl_points *out, talus_error *err)
{
    tl_vec3 normal = tl_mat3_column(c->axes, 0), t1 = tl_mat3_column(c->axes, 1), t2 = tl_mat3_column(c->axes, 2);
    tl_vec3 origin = tl_vec3_add_scaled(c->centre, -inset, normal);
    double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < 8; k++) {
        tl_vec3 corner = {k & 1 ? region->hi.x : region->lo.x, k & 2 ? region->hi.y : region->lo.y,
                          k & 4 ? region->hi.z : region->lo.z};
        tl_vec3 d = tl_vec3_sub(tl_pose_to_local(x, corner), origin);
        double u[2] = {tl_vec3_dot(d, t1) / h, tl_vec3_dot(d, t2) / h};
        for (int a = 0; a < 2; a++) {
            lo[a] = fmin(lo[a], floor(u[a]));
            hi[a] = fmax(hi[a], ceil(u[a]));
        }
    }
    double count = (hi[0] - lo[0] + 1) * (hi[1] - lo[1] + 1), slack = inset + 1e-9 * h;
    TL_TRY(points_take(out, (int64_t)fmin(count, 1e15), err));
    for (double j = lo[1]; j <= hi[1]; j++)
        for (double i = lo[0]; i <= hi[0]; i++) {
            tl_vec3 p = tl_vec3_add_scaled(tl_vec3_add_scaled(origin, h * i, t1), h * j, t2), w = tl_pose_apply(x, p);
            if (w.x < region->lo.x - slack || w.x > region->hi.x + slack || w.y < region->lo.y - slack ||
                w.y > region->hi.y + slack || w.z < region->lo.z - slack || w.z > region->hi.z + slack)
                continue;
            out->at[out->count] = p;
            out->normal[out->count++] = normal;
        }
    return TALUS_OK;
}

static talus_status sample_general(const maker *m, int node, double extent, double inset, tl_points *out, tl_vec3 *sunk,
                                   talus_error *err)
{
    const tl_shape_tree *t = m->scene->shapes;
    const double h = m->out->h;
    const bool random = m->out->options.sampling == TL_SPH_POISSON;
    tl_sampling how = random ? TL_SAMPLE_POISSON : TL_SAMPLE_LATTICE;
    double apart = random ? DARTS_APART * h : h, below = inset_within(extent, h, inset);
    *sunk = (tl_vec3){below, below, below};
    TL_TRY(tl_sample_surface(t, node, apart, below, how, 1, out, err));
    if (out->count > 0) return TALUS_OK;
    tl_points_free(out); /* thin everywhere */
    *sunk = (tl_vec3){0, 0, 0};
    return tl_sample_surface(t, node, apart, 0, how, 1, out, err);
}

static bool regular(const maker *m, const tl_collider *c) /* a lattice or a spiral, or meant to be random */
{
    return m->out->options.sampling == TL_SPH_POISSON || c->kind == TL_COLLIDER_BOX || c->kind == TL_COLLIDER_SPHERE ||
           c->kind == TL_COLLIDER_HALF_SPACE;
}

/* Points in the shape's frame. `x`: pose of the shape, for planes. */
static talus_status sample(const maker *m, int node, const tl_collider *c, const tl_pose *x, double inset,
                           tl_points *out, tl_vec3 *sunk, talus_error *err)
{
    const tl_shape_tree *t = m->scene->shapes;
    double h = m->out->h;
    bool random = m->out->options.sampling == TL_SPH_POISSON;
    *out = (tl_points){0};
    *sunk = (tl_vec3){inset, inset, inset};
    if (c->kind == TL_COLLIDER_HALF_SPACE) return sample_plane(c, h, inset, &m->world, x, out, err);
    if (!tl_shape_bounded(t, node))
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "its surface has no end; of such shapes the sph engine has half-spaces only");
    if (c->kind == TL_COLLIDER_BOX && !random) return sample_box(c, h, inset, out, sunk, err);
    if (c->kind == TL_COLLIDER_SPHERE && !random) return sample_sphere(c, h, inset, out, sunk, err);
    TL_TRY(sample_general(m, node, c->extent, inset, out, sunk, err));
    if (!out->count) return TL_FAIL(err, TALUS_BAD_INPUT, "no particles fit its surface; take a smaller sph.spacing");
    return TALUS_OK;
}

/* V0 = gamma / (sum of W over the surface's own particles, itself included). */
static talus_status rest_volumes(const tl_sph *c, tl_sph_surface *s, tl_arena *a, talus_error *err)
{
    size_t mark = tl_arena_mark(a);
    tl_sph_sorted sorted;
    int32_t bad, *order = TL_TAKE(a, int32_t, s->touching);
    if (!order) return no_memory(err);
    const tl_sph_places places = {s->touching, s->at, sizeof *s->at};
    TL_TRY(tl_sph_sort(&sorted, &places, c->h, order, &bad, a, err));
    if (bad >= 0) return TL_FAIL(err, TALUS_BAD_INPUT, "a shape is too far from its origin for sph.spacing %g m", c->h);
    const tl_sph_cells *t = &sorted.cells;
#pragma omp parallel for schedule(dynamic, 256)
    for (int32_t k = 0; k < s->touching; k++) {
        tl_vec3 x = s->at[order[k]];
        int32_t lo[3], hi[3];
        double sum = 0;
        for (int d = 0; d < 3; d++) tl_sph_cells_around(t, d, sorted.cell[d][k], &lo[d], &hi[d]);
        for (int32_t z = lo[2]; z <= hi[2]; z++)
            for (int32_t y = lo[1]; y <= hi[1]; y++) {
                int64_t row = ((int64_t)z * t->n[1] + y) * t->n[0];
                for (int32_t j = t->start[row + lo[0]]; j < t->start[row + hi[0] + 1]; j++)
                    sum += tl_sph_w(c->kernel, tl_vec3_norm(tl_vec3_sub(x, s->at[order[j]])));
            }
        s->V0[order[k]] = c->options.gamma / sum;
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}

/* ---- all bodies ---- */

static talus_status body_failure(const maker *m, int32_t i, talus_status status, const char *why, talus_error *err)
{
    const tl_body *b = &m->scene->bodies[i];
    if (!b->where.file) return TL_FAIL(err, status, "body \"%.60s\": %.300s", b->name, why);
    return TL_FAIL(err, status, "%.120s:%d: body \"%.60s\": %.300s", b->where.file, b->where.line, b->name, why);
}

/* Samples of one shape: those that meet solids, then those that meet only liquid. */
typedef struct samples {
    tl_points at;
    int32_t touching, dry;
    tl_vec3 sunk, wet_sunk;
} samples;

static talus_status append(tl_points *p, const tl_points *more, talus_error *err)
{
    tl_points out;
    TL_TRY(points_take(&out, (int64_t)p->count + more->count, err));
    for (int k = 0; k < 2; k++) {
        const tl_points *from = k ? more : p;
        memcpy(out.at + out.count, from->at, sizeof *out.at * (size_t)from->count);
        memcpy(out.normal + out.count, from->normal, sizeof *out.normal * (size_t)from->count);
        out.count += from->count;
    }
    tl_points_free(p);
    *p = out;
    return TALUS_OK;
}

/* Liquid has samples of its own where insets differ, and where crowded ones, with which solids cannot touch
 * (CROWDED), were taken away: with the rest that of letter-chain would be crushed, by 0.44 in 1.8 s. Without liquid
 * nothing would ever meet them. */
static talus_status sample_body(const maker *m, int32_t i, const tl_pose *x, samples *out, talus_error *err)
{
    const tl_sph *c = m->out;
    const tl_rigid_body *b = &m->rigid->body[i];
    int node = m->scene->bodies[i].shape;
    bool thins = b->kind != TL_BODY_STATIC && !regular(m, b->collider), wet = m->liquid && (m->two_insets || thins);
    tl_points more;
    TL_TRY(sample(m, node, b->collider, x, c->options.inset * c->h, &out->at, &out->sunk, err));
    if (thins) TL_TRY(tl_sph_thin(&out->at, c->h, CROWDED, 1, &m->out->memory, err));
    out->touching = out->at.count;
    out->dry = wet ? out->at.count : 0;
    out->wet_sunk = out->sunk;
    if (!wet) return TALUS_OK;
    TL_TRY(sample(m, node, b->collider, x, c->wet_inset * c->h, &more, &out->wet_sunk, err));
    talus_status status = append(&out->at, &more, err);
    tl_points_free(&more);
    return status;
}

static talus_status add_surface(maker *m, const samples *p, int32_t *number, talus_error *err)
{
    tl_sph *c = m->out;
    tl_sph_surface *s = &c->surface[c->surfaces];
    tl_arena *a = &c->memory;
    int32_t n = p->at.count;
    *s = (tl_sph_surface){.count = n,
                          .touching = p->touching,
                          .dry = p->dry,
                          .at = TL_TAKE(a, tl_vec3, n),
                          .normal = TL_TAKE(a, tl_vec3, n),
                          .V0 = TL_TAKE(a, double, p->touching),
                          .sunk = p->sunk,
                          .wet_sunk = p->wet_sunk};
    if (!s->at || !s->normal || !s->V0) return no_memory(err);
    memcpy(s->at, p->at.at, sizeof *s->at * (size_t)n);
    memcpy(s->normal, p->at.normal, sizeof *s->normal * (size_t)n);
    TL_TRY(rest_volumes(c, s, a, err));
    *number = c->surfaces++;
    return TALUS_OK;
}

static uint8_t meets(int32_t k, int32_t touching, int32_t dry)
{
    return (uint8_t)((k < touching ? TL_SPH_MEETS_SOLIDS : 0) | (k >= dry ? TL_SPH_MEETS_LIQUID : 0));
}

static talus_status add_fixed(maker *m, const tl_points *p, int32_t touching, int32_t dry, const tl_pose *x,
                              int32_t body, talus_error *err)
{
    int64_t want = (int64_t)m->fixed.count + p->count;
    if (want > SAMPLES_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "more than %d particles on static surfaces", SAMPLES_MAX);
    if (want > m->fixed_room) {
        int64_t room = want + want / 2 + 64;
        tl_vec3 *at = tl_realloc(m->fixed.at, sizeof *at * (size_t)room);
        if (!at) return no_memory(err);
        m->fixed.at = at;
        int32_t *of = tl_realloc(m->fixed_body, sizeof *of * (size_t)room);
        if (!of) return no_memory(err);
        m->fixed_body = of;
        uint8_t *met = tl_realloc(m->fixed_meets, sizeof *met * (size_t)room);
        if (!met) return no_memory(err);
        m->fixed_meets = met;
        m->fixed_room = room;
    }
    for (int32_t k = 0; k < p->count; k++) {
        m->fixed.at[m->fixed.count] = tl_pose_apply(x, p->at[k]);
        m->fixed_meets[m->fixed.count] = meets(k, touching, dry);
        m->fixed_body[m->fixed.count++] = body;
    }
    return TALUS_OK;
}

static tl_pose scene_pose(const tl_scene *s, int32_t i)
{
    return (tl_pose){s->bodies[i].at, tl_quat_normalize(s->bodies[i].rotation)};
}

static talus_status add_body(maker *m, int32_t i, talus_error *err)
{
    tl_sph *c = m->out;
    const tl_rigid_body *b = &m->rigid->body[i];
    int node = m->scene->bodies[i].shape;
    bool moves = b->kind != TL_BODY_STATIC;
    tl_pose x = scene_pose(m->scene, i);
    samples p = {0};
    talus_error why;
    talus_status status = TALUS_OK;
    tl_sph_body *out = &c->body[i];
    *out = (tl_sph_body){.surface = moves ? m->surface_of_shape[node] : -1, .first = -1};
    out->thin = b->extent < 2 * c->h;
    /* Rings touch from within, too, and links of a net start where samples that turn with them just do: with still
     * ones grains-in-net began 2.5 % deep. */
    bool ring = tl_collider_distance(b->collider, b->centre, NULL) > 0;
    out->round = out->thin || ring ? TL_NOT_ROUND : b->round;
    out->firm = m->two_insets && !(b->extent < 2 * (1 + TL_SPH_INSET_WET) * c->h) && regular(m, b->collider);
    if (out->surface < 0) {
        status = sample_body(m, i, &x, &p, &why);
        if (status == TALUS_OK && moves) status = add_surface(m, &p, &m->surface_of_shape[node], &why);
        if (status == TALUS_OK && !moves) status = add_fixed(m, &p.at, p.touching, p.dry, &x, i, &why);
        out->count = p.at.count;
        out->sunk = p.sunk;
        out->wet_sunk = p.wet_sunk;
        tl_points_free(&p.at);
        if (status != TALUS_OK) return body_failure(m, i, status, why.message, err);
    }
    if (moves) {
        out->surface = m->surface_of_shape[node];
        const tl_sph_surface *s = &c->surface[out->surface];
        out->count = s->count;
        out->sunk = s->sunk;
        out->wet_sunk = s->wet_sunk;
    }
    return TALUS_OK;
}

/* The closed walls of the domain together: one lattice on the box around it; an edge belongs to the first of its
 * walls. */
static talus_status add_lattice(maker *m, double inset, int32_t touching, int32_t dry, talus_error *err)
{
    const tl_domain_spec *d = &m->scene->domain;
    tl_sph *c = m->out;
    double lo[3] = {d->box.lo.x, d->box.lo.y, d->box.lo.z}, hi[3] = {d->box.hi.x, d->box.hi.y, d->box.hi.z}, n[3];
    tl_pose here = {{0, 0, 0}, tl_quat_identity()};
    int32_t body = m->rigid->scene_count;
    for (int a = 0; a < 3; a++) {
        lo[a] -= inset;
        hi[a] += inset;
        n[a] = fmax(1, round((hi[a] - lo[a]) / c->h));
    }
    for (int k = 0; k < 6 && body < m->rigid->count; k++) {
        if (d->wall[k] != TL_WALL_CLOSED) continue;
        int a = k / 2, u = (a + 1) % 3, v = (a + 2) % 3;
        tl_points p;
        TL_TRY(points_take(&p, (int64_t)fmin((n[u] + 1) * (n[v] + 1), 1e15), err));
        for (double j = 0; j <= n[v]; j++)
            for (double i = 0; i <= n[u]; i++) {
                double at[3] = {0, 0, 0}, q[3];
                at[a] = k % 2 ? n[a] : 0;
                at[u] = i;
                at[v] = j;
                bool taken = false;
                for (int w = 0; w < k; w++)
                    taken |= d->wall[w] == TL_WALL_CLOSED && at[w / 2] == (w % 2 ? n[w / 2] : 0);
                if (taken) continue;
                for (int e = 0; e < 3; e++) q[e] = lo[e] + (hi[e] - lo[e]) * at[e] / n[e];
                p.at[p.count++] = tl_vec3_load(q);
            }
        talus_status status = add_fixed(m, &p, touching, dry, &here, body, err);
        c->body[body].surface = c->body[body].first = -1;
        c->body[body].firm = m->two_insets;
        c->body[body++].count += p.count;
        tl_points_free(&p);
        TL_TRY(status);
    }
    return TALUS_OK;
}

static talus_status add_walls(maker *m, talus_error *err)
{
    const tl_sph *c = m->out;
    bool wet = m->liquid && m->two_insets;
    TL_TRY(add_lattice(m, c->options.inset * c->h, SAMPLES_MAX, wet ? SAMPLES_MAX : 0, err));
    return wet ? add_lattice(m, c->wet_inset * c->h, 0, 0, err) : TALUS_OK;
}

static void grow(tl_box3 *box, tl_vec3 p, double by)
{
    tl_vec3 d = {by, by, by};
    box->lo = tl_vec3_min(box->lo, tl_vec3_sub(p, d));
    box->hi = tl_vec3_max(box->hi, tl_vec3_add(p, d));
}

/* Planes end with the domain, or else well beyond everything that has an end. */
static tl_box3 find_world(const tl_scene *s, const tl_rigid *r, double h)
{
    if (s->domain.bounded) return s->domain.box;
    tl_box3 box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = 0; i < s->fill_count + s->emitter_count; i++) {
        int node = i < s->fill_count ? s->fills[i].shape : s->emitters[i - s->fill_count].shape;
        if (!tl_shape_bounded(s->shapes, node)) continue;
        tl_box3 b = tl_shape_bounds(s->shapes, node);
        grow(&box, b.lo, 0);
        grow(&box, b.hi, 0);
    }
    for (int32_t i = 0; i < r->scene_count; i++) {
        tl_pose x = scene_pose(s, i);
        if (r->body[i].reach < INFINITY) grow(&box, tl_pose_apply(&x, r->body[i].centre), r->body[i].reach);
    }
    if (!(box.lo.x <= box.hi.x)) box = (tl_box3){{0, 0, 0}, {0, 0, 0}};
    tl_box3 matter = box; /* what may fall, and where on a plane it would land */
    for (int32_t i = 0; i < r->scene_count; i++) {
        const tl_collider *c = r->body[i].collider;
        if (c->kind != TL_COLLIDER_HALF_SPACE) continue;
        tl_pose x = scene_pose(s, i);
        tl_vec3 at = tl_pose_apply(&x, c->centre), normal = tl_quat_rotate(x.rotation, tl_mat3_column(c->axes, 0));
        for (int k = 0; k < 8; k++) {
            tl_vec3 p = {k & 1 ? matter.hi.x : matter.lo.x, k & 2 ? matter.hi.y : matter.lo.y,
                         k & 4 ? matter.hi.z : matter.lo.z};
            grow(&box, tl_vec3_add_scaled(p, -tl_vec3_dot(tl_vec3_sub(p, at), normal), normal), 0);
        }
    }
    double margin = fmax(PLANE_MARGIN * h, tl_vec3_norm(tl_vec3_sub(box.hi, box.lo)));
    grow(&box, box.lo, margin);
    grow(&box, box.hi, margin);
    return box;
}

/* Whether static point a stays where it and b are at the same place: that of a wall, else the earlier one. A wall
 * that loses samples to a body pushes liquid along itself with the rest, and forces on the body are no longer those
 * of its weight (validate V9). */
static bool stays(const maker *m, int32_t a, int32_t b)
{
    bool wall_a = m->fixed_body[a] >= m->rigid->scene_count, wall_b = m->fixed_body[b] >= m->rigid->scene_count;
    return wall_a != wall_b ? wall_a : a < b;
}

/* Whether a point of another body that stays is at the same place. `k`: k-th by cells. */
static bool doubled(const maker *m, const tl_sph_sorted *sorted, const int32_t *order, int32_t k)
{
    const tl_sph_cells *t = &sorted->cells;
    double same = SAME_PLACE * m->out->h;
    int32_t lo[3], hi[3], own = order[k];
    for (int d = 0; d < 3; d++) tl_sph_cells_around(t, d, sorted->cell[d][k], &lo[d], &hi[d]);
    for (int32_t z = lo[2]; z <= hi[2]; z++)
        for (int32_t y = lo[1]; y <= hi[1]; y++) {
            int64_t row = ((int64_t)z * t->n[1] + y) * t->n[0];
            for (int32_t j = t->start[row + lo[0]]; j < t->start[row + hi[0] + 1]; j++) {
                int32_t other = order[j];
                if (m->fixed_body[other] != m->fixed_body[own] && (m->fixed_meets[other] & m->fixed_meets[own]) &&
                    stays(m, other, own) &&
                    tl_vec3_norm2(tl_vec3_sub(m->fixed.at[other], m->fixed.at[own])) < same * same)
                    return true;
            }
        }
    return false;
}

/* Static bodies that touch, like tiles, have samples of both at their seams: twice the density, a bump to whatever
 * slides over them. */
static talus_status merge_fixed(maker *m, talus_error *err)
{
    tl_sph *c = m->out;
    tl_arena *a = &c->memory;
    size_t mark = tl_arena_mark(a);
    int32_t n = m->fixed.count, bad = -1, left = 0;
    tl_sph_sorted sorted;
    int32_t *order = TL_TAKE(a, int32_t, n);
    bool *gone = TL_TAKE_ZERO(a, bool, n);
    if (!order || !gone) return no_memory(err);
    const tl_sph_places places = {n, m->fixed.at, sizeof *m->fixed.at};
    TL_TRY(tl_sph_sort(&sorted, &places, c->h, order, &bad, a, err));
    if (bad >= 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "a static surface is too far from the origin for sph.spacing %g m", c->h);
#pragma omp parallel for schedule(dynamic, 1024)
    for (int32_t k = 0; k < n; k++) gone[order[k]] = doubled(m, &sorted, order, k);
    for (int32_t i = 0; i < n; i++) {
        if (gone[i]) {
            c->body[m->fixed_body[i]].count--;
            continue;
        }
        m->fixed.at[left] = m->fixed.at[i];
        m->fixed_meets[left] = m->fixed_meets[i];
        m->fixed_body[left++] = m->fixed_body[i];
    }
    m->fixed.count = left;
    tl_arena_release(a, mark);
    return TALUS_OK;
}

/* Static points sorted by place, once for the run. */
static talus_status sort_fixed(maker *m, talus_error *err)
{
    tl_sph *c = m->out;
    tl_arena *a = &c->memory;
    int32_t bad = -1, moving = c->free_count + c->kinematic_count;
    c->static_count = m->fixed.count;
    c->fixed = TL_TAKE(a, tl_vec3, c->static_count);
    int32_t *order = TL_TAKE(a, int32_t, c->static_count);
    if (!c->fixed || !order) return no_memory(err);
    const tl_sph_places places = {c->static_count, m->fixed.at, sizeof *m->fixed.at};
    TL_TRY(tl_sph_sort(&c->walls, &places, c->h, order, &bad, a, err));
    if (bad >= 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "a static surface is too far from the origin for sph.spacing %g m", c->h);
    for (int32_t k = 0; k < c->static_count; k++) {
        c->fixed[k] = m->fixed.at[order[k]];
        c->body_of[moving + k] = m->fixed_body[order[k]];
        c->meets[moving + k] = m->fixed_meets[order[k]];
    }
    return TALUS_OK;
}

static talus_status number_particles(maker *m, talus_error *err)
{
    tl_sph *c = m->out;
    int64_t next = 0;
    for (int kinematic = 0; kinematic < 2; kinematic++) {
        for (int32_t i = 0; i < m->rigid->scene_count; i++) {
            if (m->rigid->body[i].kind != (kinematic ? TL_BODY_KINEMATIC : TL_BODY_FREE)) continue;
            c->body[i].first = (int32_t)next;
            next += c->body[i].count;
            if (next + m->fixed.count > SAMPLES_MAX)
                return TL_FAIL(err, TALUS_BAD_INPUT, "more than %d surface particles; take a larger sph.spacing",
                               SAMPLES_MAX);
        }
        if (!kinematic) c->free_count = (int32_t)next;
    }
    c->kinematic_count = (int32_t)next - c->free_count;
    c->body_of = TL_TAKE(&c->memory, int32_t, next + m->fixed.count);
    c->meets = TL_TAKE(&c->memory, uint8_t, next + m->fixed.count);
    if (!c->body_of || !c->meets) return no_memory(err);
    for (int32_t i = 0; i < m->rigid->scene_count; i++)
        for (int32_t k = 0; c->body[i].first >= 0 && k < c->body[i].count; k++) {
            const tl_sph_surface *s = &c->surface[c->body[i].surface];
            c->body_of[c->body[i].first + k] = i;
            c->meets[c->body[i].first + k] = meets(k, s->touching, s->dry);
        }
    return TALUS_OK;
}

static talus_status make(maker *m, talus_error *err)
{
    tl_sph *c = m->out;
    int nodes = m->scene->shapes ? tl_shape_node_count(m->scene->shapes) : 0;
    c->bodies = m->rigid->count;
    c->body = TL_TAKE_ZERO(&c->memory, tl_sph_body, c->bodies);
    c->surface = TL_TAKE_ZERO(&c->memory, tl_sph_surface, c->bodies);
    m->surface_of_shape = TL_NEW(int32_t, nodes + 1);
    if (!c->body || !c->surface || !m->surface_of_shape) return no_memory(err);
    for (int k = 0; k < nodes; k++) m->surface_of_shape[k] = -1;
    for (int32_t i = 0; i < m->rigid->scene_count; i++) TL_TRY(add_body(m, i, err));
    TL_TRY(add_walls(m, err));
    TL_TRY(merge_fixed(m, err));
    TL_TRY(number_particles(m, err));
    return sort_fixed(m, err);
}

talus_status tl_sph_create(tl_sph *out, const tl_scene *s, const tl_rigid *r, const tl_sph_options *o, talus_error *err)
{
    double h = s->sph.spacing;
    *out = (tl_sph){.h = h, .V0 = h * h * h, .kernel = tl_sph_kernel_of(h), .options = o ? *o : tl_sph_options_of(s)};
    out->sheet = sheet(1);
    out->wet_inset = out->options.inset < 0 ? TL_SPH_INSET_WET : out->options.inset;
    if (out->options.inset < 0) out->options.inset = TL_SPH_INSET;
    maker m = {.out = out, .scene = s, .rigid = r, .world = find_world(s, r, h)};
    m.liquid = s->fill_count > 0 || s->emitter_count > 0;
    m.two_insets = out->wet_inset != out->options.inset;
    talus_status status = make(&m, err);
    tl_free(m.fixed.at);
    tl_free(m.fixed_body);
    tl_free(m.fixed_meets);
    tl_free(m.surface_of_shape);
    if (status != TALUS_OK) tl_sph_free(out);
    return status;
}

void tl_sph_free(tl_sph *s)
{
    tl_arena_free(&s->memory);
    *s = (tl_sph){0};
}
