#include "geom/rays.h"

#include <embree3/rtcore.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"

typedef enum kind { MESH, SPHERES, INSTANCE } kind;

typedef struct part {
    kind kind;
    RTCGeometry geometry;
    int32_t vertices;
    const tl_vec3 *vertex; /* the caller's, for nearest points */
    const int32_t (*triangle)[3];
    tl_vec3 child_center;
    float normals[3][3]; /* instance: inverse transpose of its linear part */
} part;

struct tl_rays {
    RTCDevice device;
    RTCScene scene;
    tl_vec3 center;
    part *parts;
    int32_t count, room;
    double reach; /* largest |coordinate| of a mesh vertex relative to the centre */
    bool committed;
};

_Static_assert(sizeof(tl_ray) == sizeof(struct RTCRayHit), "tl_ray is Embree's ray");
_Static_assert(offsetof(tl_ray, tfar) == offsetof(struct RTCRayHit, ray.tfar), "tl_ray is Embree's ray");
_Static_assert(offsetof(tl_ray, mask) == offsetof(struct RTCRayHit, ray.mask), "tl_ray is Embree's ray");
_Static_assert(offsetof(tl_ray, normal) == offsetof(struct RTCRayHit, hit.Ng_x), "tl_ray is Embree's ray");
_Static_assert(offsetof(tl_ray, instance) == offsetof(struct RTCRayHit, hit.instID), "tl_ray is Embree's ray");

static talus_status ask(RTCDevice device, const char *what, talus_error *err)
{
    enum RTCError code = rtcGetDeviceError(device);
    if (code == RTC_ERROR_NONE) return TALUS_OK;
    if (code == RTC_ERROR_OUT_OF_MEMORY) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to %s (Embree)", what);
    return TL_FAIL(err, TALUS_UNSUPPORTED, "cannot %s: Embree reports error %d", what, (int)code);
}

talus_status tl_rays_create(tl_rays **out, const tl_rays_options *options, talus_error *err)
{
    tl_rays_options o = options ? *options : (tl_rays_options){0};
    *out = NULL;
    tl_rays *r = TL_NEW_ZERO(tl_rays, 1);
    if (!r) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a ray scene");
    r->center = o.center;
    if (o.like) {
        r->device = o.like->device;
        rtcRetainDevice(r->device);
    } else {
        char config[64];
        snprintf(config, sizeof config, "threads=%d,set_affinity=0", o.threads > 0 ? o.threads : tl_threads());
        r->device = rtcNewDevice(config);
    }
    if (r->device) r->scene = rtcNewScene(r->device);
    if (!r->scene) {
        talus_status status = ask(r->device, "start a ray scene", err);
        if (status == TALUS_OK) status = TL_FAIL(err, TALUS_UNSUPPORTED, "Embree cannot start a ray scene");
        tl_rays_free(r);
        return status;
    }
    rtcSetSceneFlags(r->scene, RTC_SCENE_FLAG_ROBUST);
    *out = r;
    return TALUS_OK;
}

void tl_rays_free(tl_rays *r)
{
    if (!r) return;
    for (int32_t i = 0; i < r->count; i++) rtcReleaseGeometry(r->parts[i].geometry);
    if (r->scene) rtcReleaseScene(r->scene);
    if (r->device) rtcReleaseDevice(r->device);
    tl_free(r->parts);
    tl_free(r);
}

/* ---- geometry ---- */

/* Room for one more part, and a geometry to fill. */
static talus_status begin_part(tl_rays *r, kind k, enum RTCGeometryType type, part *p, talus_error *err)
{
    if (r->count == r->room) {
        int32_t room = r->room ? 2 * r->room : 8;
        part *parts = tl_realloc(r->parts, sizeof *parts * (size_t)room);
        if (!parts) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for geometry %d of a ray scene", r->count);
        r->parts = parts;
        r->room = room;
    }
    *p = (part){.kind = k, .geometry = rtcNewGeometry(r->device, type)};
    return p->geometry ? TALUS_OK : ask(r->device, "make geometry", err);
}

static talus_status end_part(tl_rays *r, const part *p, talus_status status, int32_t *id, talus_error *err)
{
    if (status == TALUS_OK) {
        rtcSetGeometryMask(p->geometry, UINT32_MAX);
        rtcCommitGeometry(p->geometry);
        rtcAttachGeometryByID(r->scene, p->geometry, (unsigned)r->count);
        status = ask(r->device, "add geometry", err);
    }
    if (status != TALUS_OK) {
        rtcReleaseGeometry(p->geometry);
        return status;
    }
    if (id) *id = r->count;
    r->parts[r->count++] = *p;
    r->committed = false;
    return TALUS_OK;
}

/* x relative to the centre, as float; false when it does not fit. */
static bool local(const tl_rays *r, tl_vec3 x, float *out)
{
    tl_vec3 d = tl_vec3_sub(x, r->center);
    out[0] = (float)d.x;
    out[1] = (float)d.y;
    out[2] = (float)d.z;
    return isfinite(d.x) && isfinite(d.y) && isfinite(d.z) && tl_vec3_max_abs(d) < 1e18; /* squares fit in a float */
}

static talus_status fill_vertices(tl_rays *r, int32_t n, const tl_vec3 *vertex, float (*out)[4], talus_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        if (!local(r, vertex[i], out[i]))
            return TL_FAIL(err, TALUS_BAD_INPUT, "vertex %d is at (%g, %g, %g): not finite, or too far away for rays",
                           i, vertex[i].x, vertex[i].y, vertex[i].z);
        out[i][3] = 0;
        r->reach = fmax(r->reach, tl_vec3_max_abs(tl_vec3_sub(vertex[i], r->center)));
    }
    return TALUS_OK;
}

static talus_status fill_mesh(tl_rays *r, const part *p, int32_t triangles, talus_error *err)
{
    /* stride 16: Embree reads four floats per vertex */
    float(*x)[4] =
        rtcSetNewGeometryBuffer(p->geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 16, (size_t)p->vertices);
    uint32_t(*f)[3] =
        rtcSetNewGeometryBuffer(p->geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, (size_t)triangles);
    TL_TRY(ask(r->device, "hold a mesh", err));
    if (p->vertices > 0) TL_TRY(fill_vertices(r, p->vertices, p->vertex, x, err));
    for (int32_t t = 0; t < triangles; t++)
        for (int k = 0; k < 3; k++) {
            int32_t v = p->triangle[t][k];
            if (v < 0 || v >= p->vertices)
                return TL_FAIL(err, TALUS_BAD_INPUT, "triangle %d names vertex %d of %d", t, v, p->vertices);
            f[t][k] = (uint32_t)v;
        }
    return TALUS_OK;
}

talus_status tl_rays_add_mesh(tl_rays *r, int32_t vertices, const tl_vec3 *vertex, int32_t triangles,
                              const int32_t (*triangle)[3], int32_t *id, talus_error *err)
{
    part p;
    TL_TRY(begin_part(r, MESH, RTC_GEOMETRY_TYPE_TRIANGLE, &p, err));
    p.vertices = vertices;
    p.vertex = vertex;
    p.triangle = triangle;
    return end_part(r, &p, fill_mesh(r, &p, triangles, err), id, err);
}

static talus_status fill_spheres(tl_rays *r, RTCGeometry g, int32_t count, const tl_vec3 *center, double radius,
                                 talus_error *err)
{
    float(*x)[4] = rtcSetNewGeometryBuffer(g, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4, 16, (size_t)count);
    TL_TRY(ask(r->device, "hold spheres", err));
    for (int32_t i = 0; i < count; i++) {
        if (!local(r, center[i], x[i]) || !(radius >= 0 && radius < 1e18))
            return TL_FAIL(err, TALUS_BAD_INPUT,
                           "sphere %d at (%g, %g, %g) with radius %g: not finite, or too large for rays", i,
                           center[i].x, center[i].y, center[i].z, radius);
        x[i][3] = (float)radius;
    }
    return TALUS_OK;
}

talus_status tl_rays_add_spheres(tl_rays *r, int32_t count, const tl_vec3 *center, double radius, int32_t *id,
                                 talus_error *err)
{
    part p;
    TL_TRY(begin_part(r, SPHERES, RTC_GEOMETRY_TYPE_SPHERE_POINT, &p, err));
    return end_part(r, &p, fill_spheres(r, p.geometry, count, center, radius, err), id, err);
}

/* The transform between the two scenes' own coordinates, each relative to its centre. */
static talus_status place(const tl_rays *r, part *p, tl_mat3 linear, tl_vec3 at, talus_error *err)
{
    tl_mat3 inverse;
    tl_vec3 shift = tl_vec3_sub(tl_vec3_add(tl_mat3_mul_vec(linear, p->child_center), at), r->center);
    if (!tl_mat3_inverse(linear, &inverse) || !(tl_vec3_max_abs(shift) < 1e18))
        return TL_FAIL(err, TALUS_BAD_INPUT, "an instance's transform must be finite and invertible");
    float m[12]; /* columns */
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m[3 * j + i] = (float)linear.m[i][j];
            p->normals[i][j] = (float)inverse.m[j][i];
        }
    }
    m[9] = (float)shift.x;
    m[10] = (float)shift.y;
    m[11] = (float)shift.z;
    rtcSetGeometryTransform(p->geometry, 0, RTC_FORMAT_FLOAT3X4_COLUMN_MAJOR, m);
    return TALUS_OK;
}

talus_status tl_rays_add_instance(tl_rays *r, const tl_rays *child, tl_mat3 linear, tl_vec3 at, int32_t *id,
                                  talus_error *err)
{
    if (child->device != r->device) return TL_FAIL(err, TALUS_BAD_INPUT, "an instance must share its scene's device");
    if (!child->committed) return TL_FAIL(err, TALUS_BAD_INPUT, "a scene must be committed before it is instanced");
    for (int32_t i = 0; i < child->count; i++)
        if (child->parts[i].kind == INSTANCE)
            return TL_FAIL(err, TALUS_UNSUPPORTED,
                           "instances cannot be nested: geometry %d of the child is an instance", i);
    part p;
    TL_TRY(begin_part(r, INSTANCE, RTC_GEOMETRY_TYPE_INSTANCE, &p, err));
    p.child_center = child->center;
    rtcSetGeometryInstancedScene(p.geometry, child->scene);
    rtcSetGeometryTimeStepCount(p.geometry, 1);
    return end_part(r, &p, place(r, &p, linear, at, err), id, err);
}

talus_status tl_rays_commit(tl_rays *r, talus_error *err)
{
    rtcCommitScene(r->scene);
    TL_TRY(ask(r->device, "build the tree of a ray scene", err));
    r->committed = true;
    return TALUS_OK;
}

/* ---- rays ---- */

/* Unit, and out of the instance's space. */
static void finish(const tl_rays *r, tl_ray *ray)
{
    float n[3] = {ray->normal[0], ray->normal[1], ray->normal[2]};
    if (ray->instance != TL_RAY_NONE) {
        const part *p = &r->parts[ray->instance];
        for (int i = 0; i < 3; i++)
            n[i] = p->normals[i][0] * ray->normal[0] + p->normals[i][1] * ray->normal[1] +
                   p->normals[i][2] * ray->normal[2];
    }
    double length = sqrt((double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2]); /* squares of tiny areas */
    double scale = length > 0 ? 1 / length : 0;
    for (int i = 0; i < 3; i++) ray->normal[i] = (float)(n[i] * scale);
}

void tl_rays_intersect(const tl_rays *r, int32_t count, tl_ray *ray)
{
    TL_ASSERT(r->committed);
    if (count <= 0) return;
    for (int32_t i = 0; i < count; i++) ray[i].primitive = ray[i].geometry = ray[i].instance = TL_RAY_NONE;
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    if (count == 1) {
        rtcIntersect1(r->scene, &context, (struct RTCRayHit *)(void *)ray);
    } else {
        context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
        rtcIntersect1M(r->scene, &context, (struct RTCRayHit *)(void *)ray, (unsigned)count, sizeof *ray);
    }
    for (int32_t i = 0; i < count; i++)
        if (ray[i].geometry != TL_RAY_NONE) finish(r, &ray[i]);
}

void tl_rays_occluded(const tl_rays *r, int32_t count, tl_ray *ray)
{
    TL_ASSERT(r->committed);
    if (count <= 0) return;
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    if (count == 1)
        rtcOccluded1(r->scene, &context, (struct RTCRay *)(void *)ray);
    else
        rtcOccluded1M(r->scene, &context, (struct RTCRay *)(void *)ray, (unsigned)count, sizeof *ray);
}

/* ---- nearest point ---- */

/* The nearest point so far. */
typedef struct nearest {
    double distance2;
    tl_vec3 point;
    tl_feature feature;
} nearest;

static void look_at_edge(nearest *best, tl_vec3 p, tl_vec3 a, tl_vec3 b, tl_feature at_a, tl_feature at_b,
                         tl_feature inside)
{
    tl_vec3 ab = tl_vec3_sub(b, a);
    double t = tl_vec3_dot(tl_vec3_sub(p, a), ab), length2 = tl_vec3_norm2(ab);
    tl_feature f = !(t > 0) ? at_a : t >= length2 ? at_b : inside;
    tl_vec3 q = f == at_a ? a : f == at_b ? b : tl_vec3_add_scaled(a, t / length2, ab);
    double d2 = tl_vec3_norm2(tl_vec3_sub(p, q));
    if (d2 < best->distance2) *best = (nearest){d2, q, f};
}

/* The face when p is above it. Else the nearest point lies on an edge whose line has p on its outer side
 * (p - q is a non-negative sum of outward edge normals), so the others need no look. */
tl_vec3 tl_triangle_nearest(tl_vec3 p, tl_vec3 a, tl_vec3 b, tl_vec3 c, tl_feature *feature)
{
    tl_vec3 ab = tl_vec3_sub(b, a), bc = tl_vec3_sub(c, b), ca = tl_vec3_sub(a, c);
    tl_vec3 ap = tl_vec3_sub(p, a), bp = tl_vec3_sub(p, b), cp = tl_vec3_sub(p, c);
    tl_vec3 n = tl_vec3_cross(bc, ca);
    double n2 = tl_vec3_norm2(n), longest2 = fmax(tl_vec3_norm2(ab), fmax(tl_vec3_norm2(bc), tl_vec3_norm2(ca)));
    bool thin = !(n2 > 1e-28 * longest2 * longest2); /* height below 1e-14 of the longest edge: the normal is noise */
    bool out_ab = tl_vec3_dot(tl_vec3_cross(ab, ap), n) < 0;
    bool out_bc = tl_vec3_dot(tl_vec3_cross(bc, bp), n) < 0;
    bool out_ca = tl_vec3_dot(tl_vec3_cross(ca, cp), n) < 0;
    if (!thin && !out_ab && !out_bc && !out_ca) {
        *feature = TL_ON_FACE;
        return tl_vec3_add_scaled(p, -tl_vec3_dot(n, ap) / n2, n);
    }
    nearest best = {INFINITY, a, TL_ON_A};
    if (thin || out_ab) look_at_edge(&best, p, a, b, TL_ON_A, TL_ON_B, TL_ON_AB);
    if (thin || out_bc) look_at_edge(&best, p, b, c, TL_ON_B, TL_ON_C, TL_ON_BC);
    if (thin || out_ca) look_at_edge(&best, p, c, a, TL_ON_C, TL_ON_A, TL_ON_CA);
    *feature = best.feature;
    return best.point;
}

typedef struct query {
    const tl_rays *r;
    tl_vec3 p;
    double slack; /* what float coordinates may add to a distance */
    tl_near best;
} query;

static bool visit(struct RTCPointQueryFunctionArguments *a)
{
    query *q = a->userPtr;
    if (a->context->instStackSize > 0) return false;
    const part *m = &q->r->parts[a->geomID];
    const int32_t *f = m->triangle[a->primID];
    tl_feature feature;
    tl_vec3 point = tl_triangle_nearest(q->p, m->vertex[f[0]], m->vertex[f[1]], m->vertex[f[2]], &feature);
    double d2 = tl_vec3_norm2(tl_vec3_sub(q->p, point));
    int32_t geometry = (int32_t)a->geomID, triangle = (int32_t)a->primID;
    bool nearer = d2 < q->best.distance2;
    bool earlier = d2 == q->best.distance2 &&
                   (geometry < q->best.geometry || (geometry == q->best.geometry && triangle < q->best.triangle));
    if (!nearer && !earlier) return false;
    q->best = (tl_near){geometry, triangle, feature, point, d2};
    if (!nearer) return false;
    float radius = nextafterf((float)(sqrt(d2) + q->slack), INFINITY);
    if (!(radius < a->query->radius)) return false;
    a->query->radius = radius;
    return true;
}

tl_near tl_rays_nearest(const tl_rays *r, tl_vec3 p, double radius)
{
    TL_ASSERT(r->committed);
    tl_vec3 d = tl_vec3_sub(p, r->center);
    query q = {.r = r, .p = p, .best = {.geometry = -1, .triangle = -1, .distance2 = INFINITY}};
    if (!(tl_vec3_max_abs(d) < 1e18) || !(radius >= 0)) return q.best;
    /* Rounding of vertex, point and Embree's own differences: a few units in the last place of the largest
     * coordinate. */
    q.slack = 8 * 0x1p-24 * (tl_vec3_max_abs(d) + r->reach);
    if (radius < 1e18) q.best.distance2 = radius * radius;
    struct RTCPointQuery start = {.x = (float)d.x,
                                  .y = (float)d.y,
                                  .z = (float)d.z,
                                  .radius = radius < 1e18 ? (float)(radius + q.slack) : INFINITY};
    struct RTCPointQueryContext context;
    rtcInitPointQueryContext(&context);
    rtcPointQuery(r->scene, &start, &context, visit, &q);
    if (q.best.triangle < 0) q.best.distance2 = INFINITY;
    return q.best;
}
