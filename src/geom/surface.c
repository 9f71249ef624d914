#include "geom/surface.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "geom/shape_node.h"
#include "geom/surface_parts.h"

#define CELLS_MAX 4000 /* along an edge: 10^8 blocks at most, 500 MB of block numbers */

/* Share of the wanted edge that a lattice cube has, and the shortest and longest edge kept: gives a mean of 1.0
 * (tests/unit/surface.c). */
#define CUBE 1.0
#define SHORTEST 0.7
#define LONGEST 1.5

/* ---- a shape ---- */

typedef tl_march_shape_context shape_source;

static double depth_at(const tl_march_source *s, tl_vec3 p)
{
    const shape_source *c = s->ctx;
    return tl_shape_distance(c->t, c->node, p) + c->inset;
}

static double shape_value(const tl_march_source *s, int i, int j, int k, bool centre)
{
    double h = centre ? 0.5 : 0;
    tl_vec3 p = {s->origin.x + s->cell * (i + h), s->origin.y + s->cell * (j + h), s->origin.z + s->cell * (k + h)};
    return depth_at(s, p);
}

/* Distances are Lipschitz with constant 1: no zero within |d|. */
static int shape_sign(const tl_march_source *s, tl_vec3 middle, double half)
{
    double d = depth_at(s, middle), reach = 1.7320508075688773 * half * (1 + 1e-9);
    return d > reach ? 1 : d < -reach ? -1 : 0;
}

/* Regula falsi that halves the weight of an end that stays (Illinois); every third time that this is needed, the
 * bracket itself. */
static tl_vec3 shape_crossing(const tl_march_source *s, tl_vec3 in, double a, tl_vec3 out, double b)
{
    tl_vec3 along = tl_vec3_sub(out, in);
    double lo = 0, hi = 1, x = 0.5;
    int stayed = 0; /* times in a row that hi (> 0) or lo (< 0) was not replaced */
    for (int k = 0; k < 100 && hi - lo > 1e-14; k++) {
        x = abs(stayed) % 3 == 2 ? 0.5 * (lo + hi) : lo - a * (hi - lo) / (b - a);
        if (!(x > lo && x < hi)) x = 0.5 * (lo + hi);
        double d = depth_at(s, tl_vec3_add_scaled(in, x, along));
        if (fabs(d) < 1e-12 * s->cell) break;
        if (d < 0) {
            lo = x;
            a = d;
            stayed = stayed > 0 ? stayed + 1 : 1;
            if (stayed > 1) b *= 0.5;
        } else {
            hi = x;
            b = d;
            stayed = stayed < 0 ? stayed - 1 : -1;
            if (stayed < -1) a *= 0.5;
        }
    }
    return tl_vec3_add_scaled(in, x, along);
}

static tl_vec3 shape_normal(const tl_march_source *s, tl_vec3 p)
{
    const shape_source *c = s->ctx;
    return tl_shape_gradient(c->t, c->node, p);
}

static tl_vec3 shape_project(const tl_march_source *s, tl_vec3 p)
{
    const shape_source *c = s->ctx;
    for (int k = 0; k < 3; k++) {
        tl_vec3 g;
        double d = tl_shape_eval(c->t, c->node, p, &g) + c->inset, slope = tl_vec3_norm2(g);
        if (fabs(d) < 1e-13 * s->cell || !(slope > 1e-6)) break;
        p = tl_vec3_add_scaled(p, -d / slope, g);
    }
    return p;
}

tl_march_source tl_march_shape_source(const tl_shape_tree *t, int node, double cell, double inset,
                                      tl_march_shape_context *context)
{
    *context = (tl_march_shape_context){t, node, inset};
    return (tl_march_source){.cell = cell,
                             .ctx = context,
                             .value = shape_value,
                             .sign = shape_sign,
                             .crossing = shape_crossing,
                             .normal = shape_normal,
                             .project = shape_project};
}

/* ---- from lattice to mesh ---- */

static talus_status march(const tl_march_source *s, double edge, tl_march_mesh *m, talus_error *err)
{
    TL_TRY(tl_march_lattice(s, m, err));
    talus_status status = tl_march_improve(m, s, SHORTEST * edge, LONGEST * edge, err);
    if (status != TALUS_OK) tl_march_mesh_free(m);
    return status;
}

static talus_status copy_mesh(tl_march_mesh *m, tl_trimesh *out, talus_error *err)
{
    talus_status status = tl_trimesh_create(out, m->vertices, m->triangles, err);
    if (status == TALUS_OK && m->triangles > 0) {
        memcpy(out->vertex, m->vertex, sizeof *m->vertex * (size_t)m->vertices);
        memcpy(out->triangle, m->triangle, sizeof *m->triangle * (size_t)m->triangles);
    }
    tl_march_mesh_free(m);
    return status;
}

talus_status tl_march_shape(const tl_shape_tree *t, int node, double edge, double inset, tl_march_mesh *out,
                            talus_error *err)
{
    if (!tl_shape_bounded(t, node)) return TL_FAIL(err, TALUS_BAD_INPUT, "surface: the shape must be bounded");
    if (!(edge > 0 && edge < INFINITY)) return TL_FAIL(err, TALUS_BAD_INPUT, "surface: edge must be > 0, got %g", edge);
    tl_box3 box = tl_shape_bounds(t, node);
    tl_vec3 size = tl_vec3_sub(box.hi, box.lo);
    double longest = tl_max(size.x, tl_max(size.y, size.z));
    if (!(longest / edge <= CELLS_MAX))
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "surface: edge must be at least %g, %d cells along the longest side, got %g",
                       longest / CELLS_MAX, CELLS_MAX, edge);

    tl_march_shape_context context;
    tl_march_source s = tl_march_shape_source(t, node, CUBE * edge, inset, &context);
    double *origin[3] = {&s.origin.x, &s.origin.y, &s.origin.z}, lo[3] = {box.lo.x, box.lo.y, box.lo.z},
           d[3] = {size.x, size.y, size.z};
    for (int a = 0; a < 3; a++) {
        /* two cubes of margin, and an odd part of one: faces of the shape should not fall on planes of the lattice */
        s.cells[a] = (int)ceil(d[a] / s.cell) + 5;
        *origin[a] = lo[a] - s.cell * (2 + 0.3183 - 0.0471 * a);
    }
    TL_TRY(march(&s, edge, out, err));
    if (out->triangles > 0) return TALUS_OK;
    tl_march_mesh_free(out);
    if (inset == 0)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "surface: an edge of %g finds nothing of the shape; its smallest feature is %g", edge,
                       tl_shape_feature_size(t, node));
    return TL_FAIL(err, TALUS_BAD_INPUT,
                   "surface: an edge of %g finds nothing of the shape %g below its surface; its smallest feature is %g",
                   edge, inset, tl_shape_feature_size(t, node));
}

talus_status tl_surface_march(const tl_shape_tree *t, int node, double edge, tl_trimesh *out, talus_error *err)
{
    tl_march_mesh m;
    *out = (tl_trimesh){0};
    TL_TRY(tl_march_shape(t, node, edge, 0, &m, err));
    return copy_mesh(&m, out, err);
}

/* ---- a field of samples ---- */

typedef struct field_source {
    int n[3];
    const float *value;
} field_source;

/* Sample (i, j, k) sits at corner (i + 1, j + 1, k + 1): one layer of outside all around. */
static double field_at(const field_source *f, int i, int j, int k, double outside)
{
    bool in = i >= 1 && j >= 1 && k >= 1 && i <= f->n[0] && j <= f->n[1] && k <= f->n[2];
    return in ? f->value[((int64_t)(i - 1) * f->n[1] + (j - 1)) * f->n[2] + (k - 1)] : outside;
}

static double field_value(const tl_march_source *s, int i, int j, int k, bool centre)
{
    if (!centre) return field_at(s->ctx, i, j, k, s->cell);
    double sum = 0;
    for (int c = 0; c < 8; c++) sum += field_at(s->ctx, i + (c & 1), j + (c >> 1 & 1), k + (c >> 2), s->cell);
    return sum / 8;
}

static int field_sign(const tl_march_source *s, tl_vec3 middle, double half)
{
    double m[3] = {middle.x - s->origin.x, middle.y - s->origin.y, middle.z - s->origin.z};
    int lo[3], hi[3];
    for (int a = 0; a < 3; a++) {
        lo[a] = (int)floor((m[a] - half) / s->cell + 1e-6);
        hi[a] = (int)ceil((m[a] + half) / s->cell - 1e-6);
    }
    bool in = field_at(s->ctx, lo[0], lo[1], lo[2], s->cell) < 0;
    for (int i = lo[0]; i <= hi[0]; i++)
        for (int j = lo[1]; j <= hi[1]; j++)
            for (int k = lo[2]; k <= hi[2]; k++)
                if ((field_at(s->ctx, i, j, k, s->cell) < 0) != in) return 0;
    return in ? -1 : 1;
}

static tl_vec3 field_crossing(const tl_march_source *s, tl_vec3 in, double a, tl_vec3 out, double b)
{
    (void)s;
    return tl_vec3_add_scaled(in, a < b ? a / (a - b) : 0.5, tl_vec3_sub(out, in));
}

talus_status tl_surface_march_field(int nx, int ny, int nz, const float *value, tl_vec3 origin, double cell,
                                    tl_trimesh *out, talus_error *err)
{
    *out = (tl_trimesh){0};
    if (nx < 1 || ny < 1 || nz < 1 || nx > CELLS_MAX || ny > CELLS_MAX || nz > CELLS_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "surface: a field must have 1 to %d samples along each axis, got %d x %d x %d", CELLS_MAX, nx,
                       ny, nz);
    if (!(cell > 0 && cell < INFINITY)) return TL_FAIL(err, TALUS_BAD_INPUT, "surface: cell must be > 0, got %g", cell);
    field_source f = {{nx, ny, nz}, value};
    tl_march_source s = {.origin = tl_vec3_sub(origin, (tl_vec3){cell, cell, cell}),
                         .cell = cell,
                         .cells = {nx + 3, ny + 3, nz + 3},
                         .ctx = &f,
                         .value = field_value,
                         .sign = field_sign,
                         .crossing = field_crossing};
    tl_march_mesh m;
    TL_TRY(march(&s, cell, &m, err));
    return copy_mesh(&m, out, err);
}
