#include "geom/mesh_distance.h"

#include <string.h>

#include "base/alloc.h"
#include "geom/rays.h"
#include "geom/triangle_tree.h"
#include "geom/trimesh_edges.h"

struct tl_mesh_distance {
    tl_trimesh mesh;
    tl_rays *rays;
    tl_triangle_tree tree;
    tl_vec3 center;
    tl_vec3 *face_normal;   /* [triangles] unit; zero for a triangle without area */
    tl_vec3 *vertex_normal; /* [vertices] angle-weighted sum; zero where the winding number has to decide */
    int32_t (*across)[3];   /* [triangles] the triangle beyond edge k -> k+1 */
    bool cuts_itself;       /* then pseudo-normals mean nothing */
    bool open;              /* there is no inside; only mesh, rays and center are there */
};

/* ---- building ---- */

/* With the first two of the report's sentences. */
static talus_status refuse(const tl_trimesh_report *r, talus_error *err)
{
    char line[2][160] = {"", ""};
    int lines = tl_trimesh_explain(r, 2, line);
    return TL_FAIL(err, TALUS_BAD_INPUT, "a mesh must be closed to have a distance: %s%s%s", line[0],
                   lines > 1 ? "; " : "", line[1]);
}

static void set_face_normals(tl_mesh_distance *d)
{
    const tl_vec3 *v = d->mesh.vertex;
    for (int32_t t = 0; t < d->mesh.triangles; t++) {
        const int32_t *f = d->mesh.triangle[t];
        tl_vec3 a = v[f[0]], b = v[f[1]], c = v[f[2]];
        tl_vec3 n = tl_vec3_normalize(tl_vec3_cross(tl_vec3_sub(b, a), tl_vec3_sub(c, a)));
        d->face_normal[t] = tl_triangle_is_thin(a, b, c) ? tl_vec3_make(0, 0, 0) : n;
    }
}

static double angle_at(tl_vec3 a, tl_vec3 b, tl_vec3 c)
{
    tl_vec3 u = tl_vec3_sub(b, a), v = tl_vec3_sub(c, a);
    return atan2(tl_vec3_norm(tl_vec3_cross(u, v)), tl_vec3_dot(u, v));
}

/* Zero at vertices of triangles without area, and where surfaces touch in a point. fans [vertices]: scratch */
static void set_vertex_normals(tl_mesh_distance *d, const int32_t *fan, int32_t *fans)
{
    const tl_trimesh *m = &d->mesh;
    for (int32_t i = 0; i < m->vertices; i++) {
        d->vertex_normal[i] = tl_vec3_make(0, 0, 0);
        fans[i] = 0;
    }
    for (int32_t i = 0; i < 3 * m->triangles; i++) {
        const int32_t *f = m->triangle[i / 3];
        int32_t a = f[i % 3], b = f[(i + 1) % 3], c = f[(i + 2) % 3];
        double angle = angle_at(m->vertex[a], m->vertex[b], m->vertex[c]);
        d->vertex_normal[a] = tl_vec3_add_scaled(d->vertex_normal[a], angle, d->face_normal[i / 3]);
        bool thin = tl_vec3_norm2(d->face_normal[i / 3]) == 0;
        fans[a] += thin ? 2 : fan[i] == i;
    }
    for (int32_t i = 0; i < m->vertices; i++)
        if (fans[i] > 1) d->vertex_normal[i] = tl_vec3_make(0, 0, 0);
}

/* The mesh is closed: every edge has two sides. */
static void set_neighbours(tl_mesh_distance *d, const tl_trimesh_edges *e)
{
    memset(d->across, 0xff,
           sizeof *d->across * (size_t)d->mesh.triangles); /* -1 stays where a triangle repeats a vertex */
    for (int64_t i = 0; i + 1 < e->sides; i += 2) {
        int32_t s = e->side[i], t = e->side[i + 1];
        d->across[s / 3][s % 3] = t / 3;
        d->across[t / 3][t % 3] = s / 3;
    }
}

static talus_status set_normals(tl_mesh_distance *d, talus_error *err)
{
    tl_trimesh_edges e;
    TL_TRY(tl_trimesh_edges_create(&e, &d->mesh, err));
    int32_t *fan = TL_NEW(int32_t, 3 * (int64_t)d->mesh.triangles), *fans = TL_NEW(int32_t, d->mesh.vertices);
    talus_status status = TALUS_OK;
    if (!fan || !fans) {
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the normals of %d triangles", d->mesh.triangles);
    } else {
        tl_trimesh_fans(&e, &d->mesh, fan);
        set_face_normals(d);
        set_vertex_normals(d, fan, fans);
        set_neighbours(d, &e);
    }
    tl_free(fan);
    tl_free(fans);
    tl_trimesh_edges_free(&e);
    return status;
}

/* What tells inside from outside. */
static talus_status find_sides(tl_mesh_distance *d, talus_error *err)
{
    const tl_trimesh *m = &d->mesh;
    d->face_normal = TL_NEW(tl_vec3, m->triangles);
    d->vertex_normal = TL_NEW(tl_vec3, m->vertices);
    d->across = tl_alloc(sizeof *d->across * (size_t)m->triangles);
    if (!d->face_normal || !d->vertex_normal || !d->across)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the distance to %d triangles", m->triangles);
    TL_TRY(set_normals(d, err));
    TL_TRY(tl_triangle_tree_create(&d->tree, &d->mesh, err));
    d->cuts_itself = tl_triangle_tree_cuts(&d->tree) > 0;
    return TALUS_OK;
}

static talus_status build(tl_mesh_distance *d, const tl_trimesh *m, talus_error *err)
{
    TL_TRY(tl_trimesh_copy(&d->mesh, m, err));
    if (!d->open) TL_TRY(find_sides(d, err));
    TL_TRY(tl_rays_create(&d->rays, &(tl_rays_options){.center = d->center}, err));
    TL_TRY(tl_rays_add_mesh(d->rays, m->vertices, d->mesh.vertex, m->triangles, (const int32_t(*)[3])d->mesh.triangle,
                            NULL, err));
    return tl_rays_commit(d->rays, err);
}

static talus_status create(tl_mesh_distance **out, const tl_trimesh *m, bool open, talus_error *err)
{
    *out = NULL;
    for (int32_t t = 0; t < m->triangles; t++)
        for (int k = 0; k < 3; k++)
            if (m->triangle[t][k] < 0 || m->triangle[t][k] >= m->vertices)
                return TL_FAIL(err, TALUS_BAD_INPUT, "triangle %d names vertex %d of %d", t, m->triangle[t][k],
                               m->vertices);
    tl_trimesh_report r;
    TL_TRY(tl_trimesh_check_surface(m, &r, err));
    if (!open && (!r.closed || r.inverted)) return refuse(&r, err);
    double size = tl_vec3_max_abs(tl_vec3_sub(r.bounds.hi, r.bounds.lo));
    if (!(size > 1e-12 && size < 1e15)) /* Embree squares floats */
        return TL_FAIL(err, TALUS_BAD_INPUT, "a mesh must be between 1e-12 and 1e15 across to have a distance, got %g",
                       size);

    tl_mesh_distance *d = TL_NEW_ZERO(tl_mesh_distance, 1);
    if (!d) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the distance to a mesh");
    d->center = tl_vec3_scale(0.5, tl_vec3_add(r.bounds.lo, r.bounds.hi));
    d->open = open;
    talus_status status = build(d, m, err);
    if (status != TALUS_OK) {
        tl_mesh_distance_free(d);
        return status;
    }
    *out = d;
    return TALUS_OK;
}

talus_status tl_mesh_distance_create(tl_mesh_distance **out, const tl_trimesh *m, talus_error *err)
{
    return create(out, m, false, err);
}

talus_status tl_mesh_distance_create_open(tl_mesh_distance **out, const tl_trimesh *m, talus_error *err)
{
    return create(out, m, true, err);
}

void tl_mesh_distance_free(tl_mesh_distance *d)
{
    if (!d) return;
    tl_rays_free(d->rays);
    tl_triangle_tree_free(&d->tree);
    tl_free(d->face_normal);
    tl_free(d->vertex_normal);
    tl_free(d->across);
    tl_trimesh_free(&d->mesh);
    tl_free(d);
}

bool tl_mesh_distance_is_open(const tl_mesh_distance *d) { return d->open; }
const tl_trimesh *tl_mesh_distance_mesh(const tl_mesh_distance *d) { return &d->mesh; }

/* ---- queries ---- */

/* Normal of the face, edge or vertex: p is outside when (p - nearest) . normal > 0 [Baerentzen2005]. Zero: not
 * known. */
static tl_vec3 pseudo_normal(const tl_mesh_distance *d, const tl_near *n)
{
    tl_vec3 here = d->face_normal[n->triangle], none = {0, 0, 0};
    if (n->feature == TL_ON_FACE) return here;
    if (n->feature <= TL_ON_C) return d->vertex_normal[d->mesh.triangle[n->triangle][n->feature - TL_ON_A]];
    int32_t beyond = d->across[n->triangle][n->feature - TL_ON_AB];
    if (beyond < 0 || tl_vec3_norm2(here) == 0) return none;
    tl_vec3 there = d->face_normal[beyond];
    return tl_vec3_norm2(there) == 0 ? none : tl_vec3_add(here, there);
}

/* The normal decides unless it is missing or so square to the direction of p that rounding may have chosen its sign. On
 * the surface itself nothing can tell. */
static bool is_inside(const tl_mesh_distance *d, const tl_near *n, tl_vec3 p)
{
    tl_vec3 from = tl_vec3_sub(p, n->point), normal = pseudo_normal(d, n);
    double along = tl_vec3_dot(from, normal), unsure = 1e-4 * sqrt(n->distance2) * tl_vec3_norm(normal);
    if (!d->cuts_itself && (fabs(along) > unsure || n->distance2 == 0)) return along < 0;
    return tl_triangle_tree_winding(&d->tree, p) > 0.5;
}

double tl_mesh_distance_at(const tl_mesh_distance *d, tl_vec3 p)
{
    tl_near n = tl_rays_nearest(d->rays, p, INFINITY);
    if (n.triangle < 0)
        return tl_vec3_norm(tl_vec3_sub(p, d->center)); /* NaN, or so far away that the mesh has no size */
    double distance = sqrt(n.distance2);
    return !d->open && is_inside(d, &n, p) ? -distance : distance;
}

tl_vec3 tl_mesh_distance_nearest(const tl_mesh_distance *d, tl_vec3 p, int32_t *triangle)
{
    tl_near n = tl_rays_nearest(d->rays, p, INFINITY);
    if (n.triangle < 0) { /* as above: any point of the mesh will do */
        n.triangle = 0;
        n.point = d->mesh.vertex[d->mesh.triangle[0][0]];
    }
    if (triangle) *triangle = n.triangle;
    return n.point;
}
