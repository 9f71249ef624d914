#include "render/render.h"

#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "geom/rays.h"
#include "render/sampler.h"

#define PI 3.14159265358979f
#define TILE 16   /* pixels; small enough to keep both cores busy until the end of a band */
#define BAND 32   /* rows between two calls of progress */
#define LAYERS 16 /* of glass that one ray may cross */
#define INDIRECT_MAX                                                                                                   \
    8 /* cap on what one bounce may add: no single bright pixels; white surfaces under the default light stay below 2 */
#define F0 0.04f /* Fresnel reflectance of an index of 1.5, head on */

/* ---- float vectors, relative to the centre of the ray scene ---- */

typedef struct v3 {
    float x, y, z;
} v3;
static inline v3 mk(float x, float y, float z) { return (v3){x, y, z}; }
static inline v3 from(tl_vec3 a) { return (v3){(float)a.x, (float)a.y, (float)a.z}; }
static inline v3 axpy(v3 a, float s, v3 b) { return (v3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
static inline v3 times(float s, v3 a) { return (v3){s * a.x, s * a.y, s * a.z}; }
static inline v3 minus(v3 a, v3 b) { return (v3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline float dot(v3 a, v3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline v3 cross(v3 a, v3 b) { return (v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
static inline v3 unit(v3 a)
{
    float n = dot(a, a);
    return n > 0 ? times(1 / sqrtf(n), a) : (v3){0, 1, 0};
}
static inline v3 mirror(v3 d, v3 n) { return axpy(d, -2 * dot(d, n), n); }
static inline void tangents(v3 n, v3 *a, v3 *b) /* [Duff17] */
{
    float s = copysignf(1, n.z), p = -1 / (s + n.z), q = n.x * n.y * p;
    *a = mk(1 + s * n.x * n.x * p, s * q, -s * n.x);
    *b = mk(q, s + n.y * n.y * p, -n.y);
}

/* ---- the picture as the tracer wants it ---- */

typedef struct thing { /* one geometry of a ray scene */
    tl_look look;
    const tl_picture_mesh *mesh; /* or a cloud: */
    const tl_picture_spheres *cloud;
    float normals[3][3]; /* instances: takes normals to the world */
} thing;

typedef struct tracer {
    const tl_picture *p;
    tl_rays *solid, *clear; /* clear is NULL when nothing is */
    thing *solids, *clears; /* [geometry id] */
    tl_rays **child;        /* [meshes] */
    int children;
    tl_vec3 center;
    float reach; /* largest distance of anything from the centre */
    v3 eye;
    tl_lens camera;
    v3 sun, sun_a, sun_b;
    float sun_spread; /* 1 - cos of its radius */
    bool has_sun;
    v3 focus; /* centre of things, and how far from it the ground turns into background */
    float fade_from, fade_to;
    v3 up; /* of the ground: up . x = ground */
    float ground;
    tl_colour bottom, ambient;
    int width, height, bounces, samples;
    uint64_t seed;
} tracer;

tl_colour tl_render_open_ground(const tl_picture *p)
{
    tl_vec3 sun = tl_vec3_normalize(p->light.sun);
    /* Sky radiance is linear in the height of the direction, so its irradiance is a third of the horizon's and two
     * of the zenith's. */
    tl_colour sky = tl_colour_mix(p->light.horizon, p->light.zenith, 2.f / 3);
    tl_colour e = tl_colour_add_scaled(sky, (float)fmax(sun.y, 0) / PI, p->light.sun_irradiance);
    return tl_colour_mul(e, p->ground.colour);
}

static talus_status make_child(tracer *t, int mesh, talus_error *err)
{
    const tl_picture_mesh *m = &t->p->mesh[mesh];
    if (t->child[mesh]) return TALUS_OK;
    tl_box3 b = {m->vertex[0], m->vertex[0]};
    for (int32_t i = 1; i < m->vertices; i++)
        b.lo = tl_vec3_min(b.lo, m->vertex[i]), b.hi = tl_vec3_max(b.hi, m->vertex[i]);
    tl_rays_options o = {.center = tl_vec3_scale(0.5, tl_vec3_add(b.lo, b.hi)), .like = t->solid};
    TL_TRY(tl_rays_create(&t->child[mesh], &o, err));
    TL_TRY(tl_rays_add_mesh(t->child[mesh], m->vertices, m->vertex, m->triangles, (const int32_t(*)[3])m->triangle,
                            NULL, err));
    return tl_rays_commit(t->child[mesh], err);
}

static talus_status add_instance(tracer *t, const tl_picture_instance *in, talus_error *err)
{
    bool clear = in->look.opacity < 1;
    TL_TRY(make_child(t, in->mesh, err));
    if (clear && !t->clear)
        TL_TRY(tl_rays_create(&t->clear, &(tl_rays_options){.center = t->center, .like = t->solid}, err));
    int32_t id;
    TL_TRY(tl_rays_add_instance(clear ? t->clear : t->solid, t->child[in->mesh], in->linear, in->at, &id, err));
    thing *s = clear ? &t->clears[id] : &t->solids[id];
    *s = (thing){.look = in->look, .mesh = &t->p->mesh[in->mesh]};
    tl_mat3 c = tl_mat3_cofactor(in->linear); /* inverse transpose times the determinant */
    double sign = tl_mat3_det(in->linear) < 0 ? -1 : 1;
    double scale = sign / fmax(tl_mat3_norm(c), 1e-300);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) s->normals[i][j] = (float)(scale * c.m[i][j]);
    return TALUS_OK;
}

static talus_status build_rays(tracer *t, talus_error *err)
{
    const tl_picture *p = t->p;
    /* One thread builds: with more, Embree's trees, and so ties between hits, could differ from run to run. */
    tl_rays_options o = {.center = t->center, .threads = 1};
    TL_TRY(tl_rays_create(&t->solid, &o, err));
    for (int i = 0; i < p->instances; i++)
        if (!p->instance[i].hidden) TL_TRY(add_instance(t, &p->instance[i], err));
    for (int i = 0; i < p->clouds; i++) {
        int32_t id;
        const tl_picture_spheres *c = &p->cloud[i];
        TL_TRY(tl_rays_add_spheres(t->solid, c->count, c->at, c->radius, &id, err));
        t->solids[id] = (thing){.look = c->look, .cloud = c};
    }
    if (t->clear) TL_TRY(tl_rays_commit(t->clear, err));
    return tl_rays_commit(t->solid, err);
}

static void end_tracer(tracer *t)
{
    tl_rays_free(t->clear);
    tl_rays_free(t->solid);
    for (int i = 0; i < t->children; i++) tl_rays_free(t->child[i]);
    tl_free(t->child);
    tl_free(t->solids);
    tl_free(t->clears);
}

static void set_lights(tracer *t)
{
    const tl_picture_light *l = &t->p->light;
    t->sun = unit(from(tl_vec3_normalize(l->sun)));
    tangents(t->sun, &t->sun_a, &t->sun_b);
    t->sun_spread = 1 - cosf((float)l->sun_radius_deg * PI / 180);
    t->has_sun = tl_colour_luminance(l->sun_irradiance) > 0;
    t->ambient = tl_colour_mix(l->horizon, l->zenith, 0.5f);
}

static talus_status begin_tracer(tracer *t, const tl_picture *p, const tl_render_options *o, talus_error *err)
{
    *t = (tracer){
        .p = p, .width = o->width, .height = o->height, .bounces = o->bounces, .samples = o->samples, .seed = o->seed};
    tl_box3 all = tl_picture_bounds(p), subject = tl_picture_subject(p);
    if (!(all.lo.x <= all.hi.x)) all = (tl_box3){{0, 0, 0}, {0, 0, 0}};
    t->center = tl_vec3_scale(0.5, tl_vec3_add(all.lo, all.hi));
    t->reach = (float)(0.5 * tl_vec3_norm(tl_vec3_sub(all.hi, all.lo)));
    t->camera = tl_lens_of(p, o->width, o->height);
    t->eye = from(tl_vec3_sub(t->camera.eye, t->center));
    set_lights(t);
    t->focus = from(tl_vec3_sub(tl_vec3_scale(0.5, tl_vec3_add(subject.lo, subject.hi)), t->center));
    double size = 0.5 * tl_vec3_norm(tl_vec3_sub(subject.hi, subject.lo));
    t->fade_to = (float)(p->ground.fade > 0 ? p->ground.fade : 9 * size);
    t->fade_from = 0.25f * t->fade_to;
    tl_vec3 up = tl_vec3_norm2(p->ground.normal) > 0 ? p->ground.normal : (tl_vec3){0, 1, 0};
    t->up = (v3){(float)up.x, (float)up.y, (float)up.z};
    t->ground = (float)(up.y * p->ground.height - tl_vec3_dot(up, t->center));
    t->bottom = p->bottom_is_ground && p->ground.present ? tl_render_open_ground(p) : p->bottom;

    t->child = TL_NEW_ZERO(tl_rays *, p->meshes + 1);
    t->solids = TL_NEW_ZERO(thing, p->instances + p->clouds + 1);
    t->clears = TL_NEW_ZERO(thing, p->instances + 1);
    talus_status status = TALUS_OK;
    if (t->child && t->solids && t->clears) {
        t->children = p->meshes;
        status = build_rays(t, err);
    } else {
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory to trace %d instances", p->instances);
    }
    if (status != TALUS_OK) end_tracer(t);
    return status;
}

/* ---- hits ---- */

typedef struct hit {
    float t;
    v3 at, flat, n; /* flat: geometric normal, n: shading normal; both towards where the ray came from */
    tl_colour colour;
    float roughness;
    bool ground;
} hit;

static tl_ray aim(v3 o, v3 d, float far)
{
    return (tl_ray){.origin = {o.x, o.y, o.z},
                    .direction = {d.x, d.y, d.z},
                    .tfar = far,
                    .mask = UINT32_MAX,
                    .primitive = TL_RAY_NONE,
                    .geometry = TL_RAY_NONE,
                    .instance = TL_RAY_NONE};
}

static v3 smooth_normal(const thing *s, const tl_ray *r)
{
    const int32_t *k = s->mesh->triangle[r->primitive];
    v3 a = from(s->mesh->normal[k[0]]), b = from(s->mesh->normal[k[1]]), c = from(s->mesh->normal[k[2]]);
    v3 n = axpy(axpy(times(1 - r->u - r->v, a), r->u, b), r->v, c);
    const float(*m)[3] = s->normals;
    return unit(mk(m[0][0] * n.x + m[0][1] * n.y + m[0][2] * n.z, m[1][0] * n.x + m[1][1] * n.y + m[1][2] * n.z,
                   m[2][0] * n.x + m[2][1] * n.y + m[2][2] * n.z));
}

static void apply_paint(const tl_picture_mesh *m, const tl_picture_legend *l, const tl_ray *r, hit *h)
{
    const int32_t *k = m->triangle[r->primitive];
    if (m->value && l->map) {
        float value = (1 - r->u - r->v) * m->value[k[0]] + r->u * m->value[k[1]] + r->v * m->value[k[2]];
        h->colour = tl_colour_map_eval(l->map, (float)((value - l->lo) / (l->hi - l->lo)));
    }
    for (int i = 0; i < m->paints; i++) {
        const tl_picture_paint *p = &m->paint[i];
        float d = (1 - r->u - r->v) * p->distance[k[0]] + r->u * p->distance[k[1]] + r->v * p->distance[k[2]];
        if (d < 0) h->colour = p->colour, h->roughness = p->roughness;
    }
}

static tl_colour sphere_colour(const tl_picture_spheres *c, uint32_t i)
{
    if (c->colour) return c->colour[i];
    if (c->value) return tl_colour_map_eval(c->map, (c->value[i] - c->lo) / (c->hi - c->lo));
    return c->look.colour;
}

static void fill_hit(const tracer *t, const tl_ray *r, v3 o, v3 d, hit *h)
{
    const thing *s = &t->solids[r->instance != TL_RAY_NONE ? r->instance : r->geometry];
    h->t = r->tfar;
    h->at = axpy(o, r->tfar, d);
    h->flat = mk(r->normal[0], r->normal[1], r->normal[2]);
    h->colour = s->look.colour;
    h->roughness = s->look.roughness;
    h->ground = false;
    if (s->cloud) { /* back onto the sphere: t is inexact when the eye is far */
        v3 c = from(tl_vec3_sub(s->cloud->at[r->primitive], t->center));
        h->flat = unit(minus(h->at, c));
        h->at = axpy(c, (float)s->cloud->radius, h->flat);
        h->colour = sphere_colour(s->cloud, r->primitive);
    } else {
        apply_paint(s->mesh, &t->p->legend, r, h);
    }
    h->n = s->mesh && s->mesh->normal ? smooth_normal(s, r) : h->flat;
    if (dot(h->flat, d) > 0) h->flat = times(-1, h->flat);
    if (dot(h->n, h->flat) < 0) h->n = times(-1, h->n);
}

static float near_line(float x, float cell)
{
    float k = x / cell;
    return fabsf(k - roundf(k));
}

static tl_colour ground_colour(const tracer *t, v3 at)
{
    const tl_picture_ground *g = &t->p->ground;
    float cell = (float)g->cell;
    if (!(cell > 0)) return g->colour;
    float x = near_line(at.x + (float)t->center.x, cell), z = near_line(at.z + (float)t->center.z, cell);
    return fminf(x, z) < 0.008f ? g->line : g->colour; /* lines 1.6 % of a cell wide */
}

static bool meets_ground(const tracer *t, v3 o, v3 d, float least)
{
    return t->p->ground.present && dot(t->up, d) < -least && dot(t->up, o) > t->ground;
}

/* Nearest solid or ground; false for a miss. */
static bool find(const tracer *t, v3 o, v3 d, hit *h)
{
    const bool ground = meets_ground(t, o, d, 1e-6f);
    float far = ground ? (t->ground - dot(t->up, o)) / dot(t->up, d) : INFINITY;
    tl_ray r = aim(o, d, far);
    tl_rays_intersect(t->solid, 1, &r);
    if (r.geometry != TL_RAY_NONE) {
        fill_hit(t, &r, o, d, h);
        return true;
    }
    if (!ground) return false;
    v3 at = axpy(o, far, d);
    at = axpy(at, t->ground - dot(t->up, at), t->up);
    *h = (hit){
        .t = far, .at = at, .flat = t->up, .n = t->up, .colour = ground_colour(t, at), .roughness = 1, .ground = true};
    return true;
}

/* Start of a ray that leaves the surface: beyond the rounding of the hit, which grows with the distance seen from. */
static v3 leave(const tracer *t, const hit *h) { return axpy(h->at, 4e-6f * t->reach + 1e-6f * h->t, h->flat); }

/* ---- light ---- */

static tl_colour sky(const tracer *t, v3 d)
{
    const tl_picture_light *l = &t->p->light;
    return d.y > 0 ? tl_colour_mix(l->horizon, l->zenith, d.y) : tl_colour_mix(l->horizon, l->nadir, -d.y);
}

static float fresnel(float cosine)
{
    float k = 1 - fminf(fmaxf(cosine, 0), 1), k2 = k * k;
    return F0 + (1 - F0) * k2 * k2 * k; /* [Schlick1994] */
}

/* Share that a rough coat mirrors: its facets rarely face a grazing eye edge on, so the rise towards the outline is
 * less the rougher it is. (1 - roughness)^2 follows the directional albedo of GGX within a few percent where it
 * matters. */
static float coat_share(float cosine, float roughness)
{
    float k = 1 - fminf(fmaxf(cosine, 0), 1), k2 = k * k, max = fmaxf((1 - roughness) * (1 - roughness), F0);
    return F0 + (max - F0) * k2 * k2 * k;
}

/* Share that one sheet of thin glass mirrors: both faces, all orders. */
static float sheet(float cosine)
{
    float f = fresnel(fabsf(cosine));
    return 2 * f / (1 + f);
}

static tl_colour sheet_passes(const tl_look *l, float cosine)
{
    return tl_colour_scale((1 - sheet(cosine)) * (1 - l->opacity), l->colour);
}

/* What reaches o from the sun's direction d: nothing behind solids, less behind glass. */
static tl_colour sunlight(const tracer *t, v3 o, v3 d)
{
    tl_ray r = aim(o, d, INFINITY);
    tl_rays_occluded(t->solid, 1, &r);
    if (r.tfar < 0) return tl_colour_grey(0);
    tl_colour e = t->p->light.sun_irradiance;
    float from_t = 0;
    for (int k = 0; t->clear && k < LAYERS; k++) {
        tl_ray g = aim(o, d, INFINITY);
        g.tnear = from_t;
        tl_rays_intersect(t->clear, 1, &g);
        if (g.geometry == TL_RAY_NONE) break;
        e = tl_colour_mul(
            e, sheet_passes(&t->clears[g.instance].look, g.normal[0] * d.x + g.normal[1] * d.y + g.normal[2] * d.z));
        from_t = g.tfar * (1 + 1e-5f) + 1e-5f * t->reach;
    }
    return e;
}

/* ---- the coat: GGX [Walter2007], visible normals [Heitz2018] ---- */

static float ggx_lambda(float cosine, float a2)
{
    float c2 = cosine * cosine;
    return 0.5f * (sqrtf(1 + a2 * fmaxf(1 - c2, 0) / fmaxf(c2, 1e-8f)) - 1);
}

/* Mirrored light of direction l seen from v, times the cosine of l. */
static float coat(v3 n, v3 v, v3 l, float alpha)
{
    v3 h = unit(axpy(v, 1, l));
    float nh = dot(n, h), nv = dot(n, v), nl = dot(n, l), a2 = alpha * alpha;
    if (nl <= 0 || nv <= 0 || nh <= 0) return 0;
    float k = nh * nh * (a2 - 1) + 1, D = a2 / (PI * k * k);
    return fresnel(dot(v, h)) * D / (4 * nv * (1 + ggx_lambda(nv, a2) + ggx_lambda(nl, a2)));
}

/* A mirrored direction; *weight gets its light's factor without the Fresnel part. */
static v3 sample_coat(v3 n, v3 v, float alpha, const float u[2], float *weight)
{
    v3 a, b;
    tangents(n, &a, &b);
    v3 w = mk(dot(v, a), dot(v, b), fmaxf(dot(v, n), 1e-4f));
    v3 s = unit(mk(alpha * w.x, alpha * w.y, w.z));
    float flat2 = s.x * s.x + s.y * s.y;
    v3 t1 = flat2 > 0 ? times(1 / sqrtf(flat2), mk(-s.y, s.x, 0)) : mk(1, 0, 0), t2 = cross(s, t1);
    float r = sqrtf(u[0]), phi = 2 * PI * u[1], p = r * cosf(phi), q = r * sinf(phi), m = 0.5f * (1 + s.z);
    q = (1 - m) * sqrtf(fmaxf(1 - p * p, 0)) + m * q;
    v3 h = axpy(axpy(times(p, t1), q, t2), sqrtf(fmaxf(1 - p * p - q * q, 0)), s);
    h = unit(mk(alpha * h.x, alpha * h.y, fmaxf(h.z, 1e-6f)));
    v3 l = axpy(times(2 * dot(w, h), h), -1, w);
    float a2 = alpha * alpha, gv = ggx_lambda(w.z, a2);
    *weight = l.z > 0 ? (1 + gv) / (1 + gv + ggx_lambda(l.z, a2)) : 0;
    return unit(axpy(axpy(times(l.x, a), l.y, b), l.z, n));
}

static v3 sample_diffuse(v3 n, const float u[2])
{
    v3 a, b;
    tangents(n, &a, &b);
    float r = sqrtf(u[0]), phi = 2 * PI * u[1];
    return unit(axpy(axpy(times(r * cosf(phi), a), r * sinf(phi), b), sqrtf(fmaxf(1 - u[0], 0)), n));
}

static v3 sample_sun(const tracer *t, const float u[2])
{
    float z = 1 - u[0] * t->sun_spread, r = sqrtf(fmaxf(1 - z * z, 0)), phi = 2 * PI * u[1];
    return axpy(axpy(times(z, t->sun), r * cosf(phi), t->sun_a), r * sinf(phi), t->sun_b);
}

/* ---- paths ---- */

/* Sunlight that the surface sends towards v, by its diffuse part and its coat. */
static tl_colour lit_by_sun(const tracer *t, const hit *h, v3 v, tl_sampler *s)
{
    float u[2];
    tl_sampler_next(s, u);
    if (!t->has_sun) return tl_colour_grey(0);
    v3 l = sample_sun(t, u);
    float nl = dot(h->n, l);
    if (nl <= 0 || dot(h->flat, l) <= 0) return tl_colour_grey(0);
    tl_colour e = sunlight(t, leave(t, h), l);
    bool coated = h->roughness < 1;
    float mirrored = coated ? coat(h->n, v, l, h->roughness * h->roughness) : 0;
    float diffuse = (coated ? 1 - coat_share(dot(h->n, v), h->roughness) : 1) * nl / PI;
    tl_colour f = tl_colour_add(tl_colour_scale(diffuse, h->colour), tl_colour_grey(mirrored));
    return tl_colour_mul(e, f);
}

static tl_colour cap(tl_colour c)
{
    float l = tl_colour_luminance(c);
    return l > INDIRECT_MAX ? tl_colour_scale(INDIRECT_MAX / l, c) : c;
}

/* Light leaving a first hit towards the eye. */
static tl_colour shade(const tracer *t, hit h, v3 d, tl_sampler *s)
{
    tl_colour light = {0, 0, 0}, through = {1, 1, 1};
    for (int depth = 0;; depth++) {
        v3 v = times(-1, d);
        tl_colour sun = tl_colour_mul(through, lit_by_sun(t, &h, v, s));
        light = tl_colour_add(light, depth ? cap(sun) : sun);

        float u[2], choice[2];
        tl_sampler_next(s, choice);
        tl_sampler_next(s, u);
        float mirrored = h.roughness < 1 ? coat_share(dot(h.n, v), h.roughness) : 0;
        /* The coat is followed for what the eye sees first; deeper it acts on sunlight only. */
        float pick = depth == 0 && mirrored > 0 ? fminf(0.1f + 0.9f * mirrored, 0.9f) : 0;
        if (choice[0] < pick) {
            float weight;
            d = sample_coat(h.n, v, h.roughness * h.roughness, u, &weight);
            through = tl_colour_scale(weight * mirrored / pick, through);
        } else {
            d = sample_diffuse(h.n, u);
            float share = depth == 0 ? (1 - mirrored) / (1 - pick) : 1;
            through = tl_colour_scale(share, tl_colour_mul(through, h.colour));
        }
        float below = dot(d, h.flat); /* interpolated normals may send light inside: fold it back */
        if (below <= 0) d = axpy(d, -2 * below, h.flat);

        v3 o = leave(t, &h);
        if (depth == t->bounces) {
            tl_ray r = aim(o, d, INFINITY);
            if (meets_ground(t, o, d, 0)) return light;
            tl_rays_occluded(t->solid, 1, &r);
            return r.tfar < 0 ? light : tl_colour_add(light, cap(tl_colour_mul(through, sky(t, d))));
        }
        if (!find(t, o, d, &h)) return tl_colour_add(light, cap(tl_colour_mul(through, sky(t, d))));
    }
}

/* What a sheet of glass mirrors: sky, or a surface in sun and even sky. */
static tl_colour mirrored_light(const tracer *t, v3 o, v3 d, tl_sampler *s)
{
    hit h;
    if (!find(t, o, d, &h)) return sky(t, d);
    return tl_colour_add(lit_by_sun(t, &h, times(-1, d), s),
                         tl_colour_scale(0.6f, tl_colour_mul(h.colour, t->ambient)));
}

static float smoothstep(float a, float b, float x)
{
    float k = fminf(fmaxf((x - a) / (b - a), 0), 1);
    return k * k * (3 - 2 * k);
}

static tl_colour background(const tracer *t, float y)
{
    return tl_colour_mix(t->p->top, t->bottom, smoothstep(-0.15f, 0.85f, y));
}

typedef struct sample {
    tl_colour radiance, over, albedo;
    v3 normal;
    float depth;
} sample;

/* Glass in front of the first solid: adds what it mirrors to s->over, returns what passes. */
static tl_colour cross_glass(const tracer *t, v3 d, float far, tl_sampler *s, sample *out)
{
    tl_colour through = {1, 1, 1};
    float from_t = 0;
    for (int k = 0; t->clear && k < LAYERS; k++) {
        tl_ray r = aim(t->eye, d, far);
        r.tnear = from_t;
        tl_rays_intersect(t->clear, 1, &r);
        if (r.geometry == TL_RAY_NONE) break;
        const thing *g = &t->clears[r.instance];
        v3 n = g->mesh->normal ? smooth_normal(g, &r) : mk(r.normal[0], r.normal[1], r.normal[2]);
        if (dot(n, d) > 0) n = times(-1, n);
        float mirrors = sheet(dot(n, d));
        hit h = {.t = r.tfar, .at = axpy(t->eye, r.tfar, d), .flat = n};
        tl_colour seen = mirrored_light(t, leave(t, &h), mirror(d, n), s);
        seen = tl_colour_add(
            tl_colour_scale(mirrors, seen), /* and a little milkiness in the tint */
            tl_colour_scale((1 - mirrors) * g->look.opacity * 0.6f, tl_colour_mul(g->look.colour, t->ambient)));
        out->over = tl_colour_add(out->over, tl_colour_mul(through, seen));
        through = tl_colour_mul(through, sheet_passes(&g->look, dot(n, d)));
        from_t = r.tfar * (1 + 1e-5f) + 1e-5f * t->reach;
    }
    return through;
}

static sample take_sample(const tracer *t, int x, int y, tl_sampler *s)
{
    float u[2];
    tl_sampler_next(s, u);
    /* Tent filter, one pixel to each side. */
    float fx = u[0] < 0.5f ? sqrtf(2 * u[0]) - 1 : 1 - sqrtf(2 - 2 * u[0]);
    float fy = u[1] < 0.5f ? sqrtf(2 * u[1]) - 1 : 1 - sqrtf(2 - 2 * u[1]);
    double px = (x + 0.5 + fx) / t->width, py = (y + 0.5 + fy) / t->height;
    v3 d = from(tl_lens_ray(&t->camera, px, py));
    sample out = {.depth = 0};
    hit h;
    bool found = find(t, t->eye, d, &h);
    tl_colour through = cross_glass(t, d, found ? h.t : INFINITY, s, &out);
    float faded = 1;
    if (found) {
        v3 away = minus(h.at, t->focus);
        faded = h.ground ? smoothstep(t->fade_from, t->fade_to, sqrtf(away.x * away.x + away.z * away.z)) : 0;
    }
    if (faded > 0)
        out.over = tl_colour_add(out.over, tl_colour_scale(faded, tl_colour_mul(through, background(t, (float)py))));
    if (faded < 0.999f) {
        through = tl_colour_scale(1 - faded, through);
        out.radiance = tl_colour_mul(through, shade(t, h, d, s));
        out.albedo = tl_colour_mul(through, h.colour);
        out.normal = h.n;
        out.depth = h.t;
    }
    return out;
}

static void trace_pixel(const tracer *t, tl_film *f, int x, int y)
{
    size_t i = (size_t)y * (size_t)t->width + (size_t)x;
    sample sum = {.depth = 0};
    float l1 = 0, l2 = 0, covered = 0;
    for (int k = 0; k < t->samples; k++) {
        tl_sampler s = {tl_random_bits(t->seed, i, 0), (uint32_t)k, 0};
        sample a = take_sample(t, x, y, &s);
        sum.radiance = tl_colour_add(sum.radiance, a.radiance);
        sum.over = tl_colour_add(sum.over, a.over);
        sum.albedo = tl_colour_add(sum.albedo, a.albedo);
        sum.normal = axpy(sum.normal, 1, a.normal);
        sum.depth += a.depth;
        if (a.depth > 0) {
            float l = tl_colour_luminance(a.radiance) / fmaxf(tl_colour_luminance(a.albedo), 0.02f);
            l1 += l, l2 += l * l, covered += 1;
        }
    }
    float w = 1 / (float)t->samples;
    f->radiance[i] = tl_colour_scale(w, sum.radiance);
    f->over[i] = tl_colour_scale(w, sum.over);
    f->albedo[i] = tl_colour_scale(w, sum.albedo);
    f->normal[i][0] = w * sum.normal.x, f->normal[i][1] = w * sum.normal.y, f->normal[i][2] = w * sum.normal.z;
    f->depth[i] = covered > 0 ? sum.depth / covered : 0;
    f->variance[i] = covered > 1 ? fmaxf(l2 - l1 * l1 / covered, 0) / (covered * (covered - 1)) : l1 * l1;
}

static talus_status trace_all(const tracer *t, const tl_render_options *o, tl_film *f, talus_error *err)
{
    int across = (t->width + TILE - 1) / TILE;
    for (int top = 0; top < t->height; top += BAND) {
        if (o->progress && o->progress(o->user, (double)top / t->height))
            return TL_FAIL(err, TALUS_INTERRUPTED, "rendering was stopped");
        int bottom = top + BAND < t->height ? top + BAND : t->height;
#pragma omp parallel for schedule(dynamic)
        for (int tile = 0; tile < across * (BAND / TILE); tile++) {
            int x0 = tile % across * TILE, y0 = top + tile / across * TILE;
            for (int y = y0; y < y0 + TILE && y < bottom; y++)
                for (int x = x0; x < x0 + TILE && x < t->width; x++) trace_pixel(t, f, x, y);
        }
    }
    if (o->progress) o->progress(o->user, 1);
    return TALUS_OK;
}

tl_render_options tl_render_options_default(void)
{
    return (tl_render_options){
        .width = 1280, .height = 720, .samples = 16, .bounces = 2, .denoise = true, .exposure = 1};
}

#define REACH_MAX 1e12 /* m; Embree ends the program where squares of a ray's numbers leave single precision */

static bool good_direction(tl_vec3 v) { return tl_vec3_norm(v) > 0 && tl_vec3_norm(v) < INFINITY; }

static talus_status check(const tl_picture *p, const tl_render_options *o, talus_error *err)
{
    const tl_picture_camera *c = &p->camera;
    if (o->samples < 1 || o->samples > TL_RENDER_SAMPLES_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "samples per pixel must be from 1 to %d, got %d", TL_RENDER_SAMPLES_MAX,
                       o->samples);
    if (o->bounces < 0 || o->bounces > 16)
        return TL_FAIL(err, TALUS_BAD_INPUT, "bounces must be from 0 to 16, got %d", o->bounces);
    if (!(c->fov_deg >= 1 && c->fov_deg <= 150))
        return TL_FAIL(err, TALUS_BAD_INPUT, "the camera's fov_deg must be from 1 to 150, got %g", c->fov_deg);
    if (!good_direction(c->automatic ? c->view : tl_vec3_sub(c->eye, c->target)))
        return TL_FAIL(err, TALUS_BAD_INPUT, "the camera's eye and target must be finite and apart");
    if (!good_direction(p->light.sun))
        return TL_FAIL(err, TALUS_BAD_INPUT, "the direction to the sun must be finite and not zero");
    tl_box3 all = tl_picture_bounds(p);
    double far = all.lo.x <= all.hi.x ? fmax(tl_vec3_norm(all.lo), tl_vec3_norm(all.hi)) : 0;
    if (!c->automatic) far = fmax(far, fmax(tl_vec3_norm(c->eye), tl_vec3_norm(c->target)));
    if (!(far <= REACH_MAX))
        return TL_FAIL(err, TALUS_BAD_INPUT, "what is drawn, and the camera, must be within %g m of the origin, got %g",
                       REACH_MAX, far);
    return TALUS_OK;
}

talus_status tl_render_trace(const tl_picture *p, const tl_render_options *o, tl_film *f, talus_error *err)
{
    *f = (tl_film){0};
    TL_TRY(check(p, o, err));
    tracer t;
    TL_TRY(tl_film_create(f, o->width, o->height, err));
    talus_status status = begin_tracer(&t, p, o, err);
    if (status == TALUS_OK) {
        status = trace_all(&t, o, f, err);
        end_tracer(&t);
    }
    if (status != TALUS_OK) tl_film_free(f);
    return status;
}

talus_status tl_render(const tl_picture *p, const tl_render_options *o, tl_image *out, talus_error *err)
{
    tl_film f;
    *out = (tl_image){0};
    TL_TRY(tl_render_trace(p, o, &f, err));
    talus_status status = o->denoise ? tl_film_denoise(&f, err) : TALUS_OK;
    if (status == TALUS_OK) status = tl_film_develop(&f, o->exposure, out, err);
    tl_film_free(&f);
    TL_TRY(status);
    if (p->legend.present)
        tl_image_legend(out, p->legend.map ? p->legend.map : tl_colour_map_at(0), p->legend.title, p->legend.lo,
                        p->legend.hi);
    if (p->caption[0]) tl_image_caption(out, p->caption);
    return TALUS_OK;
}
