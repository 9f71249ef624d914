#include "geom/collide/field.h"

#include <string.h>

#include "base/alloc.h"
#include "geom/mesh_distance.h"
#include "geom/shape_node.h"
#include "geom/trimesh.h"

#define PAD 3    /* lattice points around the shape's box */
#define FINER 4  /* cells per cell asked for, where values and not only bounds are read from the lattice */
#define COARSE 4 /* cells along an edge of a block; blocks far from the surface are filled from their corners */
#define BAND 5   /* cells around the surface where no such block begins */
/* Primitives up to which asking the shape costs no more than a few lattice reads, and triangles up to which a mesh
 * has flat faces worth an exact edge. Chosen: 8 primitives take some 100 ns. */
#define EXACT_COST 8
#define EXACT_TRIANGLES 200
#define PLAIN_COST 2 /* as quick as the lattice: none is made */

static bool exact_enough(const tl_shape_tree *t, int node)
{
    const tl_shape_node *n = &t->node[node];
    while (n->op == OP_PLACE) n = &t->node[t->child[n->first]];
    if (n->op == OP_MESH) return tl_mesh_distance_mesh(t->mesh[n->first].distance)->triangles <= EXACT_TRIANGLES;
    return n->cost <= EXACT_COST;
}

static bool is_tight(const tl_shape_tree *t, int node)
{
    const tl_shape_node *n = &t->node[node];
    bool kept = n->op == OP_UNION || n->op == OP_MIRROR || n->op == OP_PLACE || (n->op == OP_OFFSET && n->q >= 0);
    if (n->op < OP_UNION) return true;
    if (n->op == OP_SHELL) { /* its hollow is the inside of what it was made of */
        const tl_shape_node *c = &t->node[t->child[n->first]];
        while (c->op == OP_PLACE) c = &t->node[t->child[c->first]];
        return c->op < OP_UNION;
    }
    for (int k = 0; k < n->count && kept; k++) kept = is_tight(t, t->child[n->first + k]);
    return kept;
}

static int64_t at(const tl_field *f, int i, int j, int k) { return ((int64_t)k * f->n[1] + j) * f->n[0] + i; }

static double lattice_size(tl_field *f)
{
    tl_vec3 e = tl_vec3_sub(f->box.hi, f->box.lo);
    double a = ceil(e.x / f->cell), b = ceil(e.y / f->cell), c = ceil(e.z / f->cell);
    f->n[0] = (int)tl_min(a, 1e6) + 2 * PAD + 1;
    f->n[1] = (int)tl_min(b, 1e6) + 2 * PAD + 1;
    f->n[2] = (int)tl_min(c, 1e6) + 2 * PAD + 1;
    return (a + 2 * PAD + 1) * (b + 2 * PAD + 1) * (c + 2 * PAD + 1);
}

/* Point `i` of a block along an axis of n points: the last one ends at the lattice's border. */
static int block_end(int begin, int n) { return begin + COARSE < n - 1 ? begin + COARSE : n - 1; }

static double distance_at(const tl_field *f, int i, int j, int k)
{
    return tl_shape_distance(f->t, f->node, tl_vec3_add_scaled(f->origin, f->cell, (tl_vec3){i, j, k}));
}

/* Distances at every COARSE-th point along each axis, and at the borders. */
static void fill_coarse(const tl_field *f, float *value)
{
    const int *n = f->n;
#pragma omp parallel for schedule(dynamic)
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1] && (k % COARSE == 0 || k == n[2] - 1); j++)
            for (int i = 0; i < n[0] && (j % COARSE == 0 || j == n[1] - 1); i++)
                if (i % COARSE == 0 || i == n[0] - 1) value[at(f, i, j, k)] = (float)distance_at(f, i, j, k);
}

/* The points of one block that are not its corners: by the shape where its surface is near, else between the
 * corners. */
static void fill_block(const tl_field *f, float *value, const int lo[3])
{
    const int hi[3] = {block_end(lo[0], f->n[0]), block_end(lo[1], f->n[1]), block_end(lo[2], f->n[2])};
    double corner[8], least = INFINITY;
    for (int c = 0; c < 8; c++) {
        corner[c] = value[at(f, c & 1 ? hi[0] : lo[0], c & 2 ? hi[1] : lo[1], c & 4 ? hi[2] : lo[2])];
        least = tl_min(least, fabs(corner[c]));
    }
    bool near = least < (BAND + 1.74 * COARSE) * f->cell;
    for (int k = lo[2]; k <= hi[2]; k++)
        for (int j = lo[1]; j <= hi[1]; j++)
            for (int i = lo[0]; i <= hi[0]; i++) {
                bool ends[3] = {i == lo[0] || i == hi[0], j == lo[1] || j == hi[1], k == lo[2] || k == hi[2]};
                if (ends[0] && ends[1] && ends[2]) continue;
                /* faces shared with the next block are that one's, unless the lattice ends */
                if ((i == hi[0] && i < f->n[0] - 1) || (j == hi[1] && j < f->n[1] - 1) ||
                    (k == hi[2] && k < f->n[2] - 1))
                    continue;
                double d = 0, u[3] = {(double)(i - lo[0]) / (hi[0] - lo[0]), (double)(j - lo[1]) / (hi[1] - lo[1]),
                                      (double)(k - lo[2]) / (hi[2] - lo[2])};
                for (int c = 0; c < 8 && !near; c++)
                    d += corner[c] * (c & 1 ? u[0] : 1 - u[0]) * (c & 2 ? u[1] : 1 - u[1]) * (c & 4 ? u[2] : 1 - u[2]);
                value[at(f, i, j, k)] = (float)(near ? distance_at(f, i, j, k) : d);
            }
}

/* The middle of each block, where it is not cut off by the border. */
static void fill_rough(tl_field *f, const float *value)
{
    const int half = COARSE / 2, *n = f->n;
    for (int k = 0; k < f->m[2]; k++)
        for (int j = 0; j < f->m[1]; j++)
            for (int i = 0; i < f->m[0]; i++) {
                int x = i * COARSE + half, y = j * COARSE + half, z = k * COARSE + half;
                f->rough[((int64_t)k * f->m[1] + j) * f->m[0] + i] =
                    value[at(f, x < n[0] ? x : n[0] - 1, y < n[1] ? y : n[1] - 1, z < n[2] ? z : n[2] - 1)];
            }
}

/* Distances into `value`, then coefficients into f->value: a quadratic x^2 read through the B-spline gains h^2/4, an
 * eighth of its second difference. */
static void fill(tl_field *f, float *value)
{
    const int *n = f->n;
    fill_coarse(f, value);
#pragma omp parallel for schedule(dynamic)
    for (int k = 0; k < n[2] - 1; k += COARSE)
        for (int j = 0; j < n[1] - 1; j += COARSE)
            for (int i = 0; i < n[0] - 1; i += COARSE) fill_block(f, value, (const int[3]){i, j, k});
#pragma omp parallel for schedule(static)
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++) {
                int64_t q = at(f, i, j, k), y = n[0], z = (int64_t)n[0] * n[1];
                bool border = i == 0 || j == 0 || k == 0 || i == n[0] - 1 || j == n[1] - 1 || k == n[2] - 1;
                double around = border ? 6.0 * value[q]
                                       : (double)value[q - 1] + value[q + 1] + value[q - y] + value[q + y] +
                                             value[q - z] + value[q + z];
                f->value[q] = (float)(value[q] - (around - 6.0 * value[q]) / 8);
            }
}

talus_status tl_field_create(tl_field *out, const tl_shape_tree *t, int node, double cell, talus_error *err)
{
    tl_field f = {.t = t,
                  .node = node,
                  .exact = exact_enough(t, node),
                  .tight = is_tight(t, node),
                  .cell = cell,
                  .box = tl_shape_bounds(t, node)};
    *out = (tl_field){0};
    if (!f.exact) f.cell /= FINER;
    if (!f.exact || t->node[node].cost > PLAIN_COST) {
        while (lattice_size(&f) > TL_FIELD_MAX) f.cell *= 1.1;
        int64_t size = (int64_t)f.n[0] * f.n[1] * f.n[2];
        f.origin = tl_vec3_add_scaled(f.box.lo, -PAD * f.cell, (tl_vec3){1, 1, 1});
        for (int k = 0; k < 3; k++) f.m[k] = (f.n[k] - 1) / COARSE + 1;
        f.value = TL_NEW_ZERO(float, size + 1); /* rows are read four at a time */
        f.rough = TL_NEW(float, (int64_t)f.m[0] * f.m[1] * f.m[2]);
        float *value = TL_NEW(float, size);
        if (!f.value || !f.rough || !value) {
            tl_field_free(&f);
            tl_free(value);
            return TL_FAIL(err, TALUS_NO_MEMORY, "distance field: no memory for %lld values", (long long)size);
        }
        fill(&f, value);
        fill_rough(&f, value);
        tl_free(value);
    }
    *out = f;
    return TALUS_OK;
}

void tl_field_free(tl_field *f)
{
    tl_free(f->value);
    tl_free(f->rough);
    *f = (tl_field){0};
}

/* ---- reading ---- */

/* Nearest lattice point with neighbours on both sides; `u` in [-1/2, 1/2] from it. */
static int nearest(double x, int n, double *u)
{
    int i = (int)(x + 0.5);
    i = i < 1 ? 1 : i > n - 2 ? n - 2 : i;
    *u = x - i;
    return i;
}

static void weights(double u, double w[3], double d[3])
{
    double a = 0.5 - u, b = 0.5 + u;
    w[0] = 0.5 * a * a;
    w[1] = 0.75 - u * u;
    w[2] = 0.5 * b * b;
    d[0] = -a;
    d[1] = -2 * u;
    d[2] = b;
}

typedef float row4f __attribute__((vector_size(16)));
typedef double row4 __attribute__((vector_size(32)));

/* Three values along x, and one more that its weight of 0 takes away. */
static row4 row_of(const float *v)
{
    row4f r;
    memcpy(&r, v, sizeof r);
    return __builtin_convertvector(r, row4);
}
static double sum_row(row4 a) { return a[0] + a[1] + a[2]; }

/* x: in cells, from the first lattice point. */
static double spline_value(const tl_field *f, tl_vec3 x)
{
    double u[3], wx[3], wy[3], wz[3], none[3];
    int i = nearest(x.x, f->n[0], &u[0]), j = nearest(x.y, f->n[1], &u[1]), k = nearest(x.z, f->n[2], &u[2]);
    weights(u[0], wx, none);
    weights(u[1], wy, none);
    weights(u[2], wz, none);
    const float *v = f->value + at(f, i - 1, j - 1, k - 1);
    row4 sum = {0};
    for (int c = 0; c < 3; c++) {
        const float *r = v + (int64_t)c * f->n[1] * f->n[0];
        sum += wz[c] * (wy[0] * row_of(r) + wy[1] * row_of(r + f->n[0]) + wy[2] * row_of(r + 2 * (int64_t)f->n[0]));
    }
    return sum_row(sum * (row4){wx[0], wx[1], wx[2], 0});
}

static double spline(const tl_field *f, tl_vec3 x, tl_vec3 *gradient)
{
    double u[3], wx[3], wy[3], wz[3], dx[3], dy[3], dz[3];
    int i = nearest(x.x, f->n[0], &u[0]), j = nearest(x.y, f->n[1], &u[1]), k = nearest(x.z, f->n[2], &u[2]);
    weights(u[0], wx, dx);
    weights(u[1], wy, dy);
    weights(u[2], wz, dz);
    const float *v = f->value + at(f, i - 1, j - 1, k - 1);
    row4 sum = {0}, along_y = {0}, along_z = {0}, w = {wx[0], wx[1], wx[2], 0};
    for (int c = 0; c < 3; c++) {
        const float *r = v + (int64_t)c * f->n[1] * f->n[0];
        row4 r0 = row_of(r), r1 = row_of(r + f->n[0]), r2 = row_of(r + 2 * (int64_t)f->n[0]);
        row4 plane = wy[0] * r0 + wy[1] * r1 + wy[2] * r2;
        sum += wz[c] * plane;
        along_z += dz[c] * plane;
        along_y += wz[c] * (dy[0] * r0 + dy[1] * r1 + dy[2] * r2);
    }
    *gradient = tl_vec3_scale(1 / f->cell, (tl_vec3){sum_row(sum * (row4){dx[0], dx[1], dx[2], 0}),
                                                     sum_row(along_y * w), sum_row(along_z * w)});
    return sum_row(sum * w);
}

double tl_field_at(const tl_field *f, tl_vec3 p, tl_vec3 *gradient)
{
    if (f->exact) return tl_shape_eval(f->t, f->node, p, gradient);
    tl_vec3 x = tl_vec3_scale(1 / f->cell, tl_vec3_sub(p, f->origin)), lo = {0.5, 0.5, 0.5},
            hi = {f->n[0] - 1.5, f->n[1] - 1.5, f->n[2] - 1.5}, c = tl_vec3_min(tl_vec3_max(x, lo), hi);
    if (c.x == x.x && c.y == x.y && c.z == x.z) return gradient ? spline(f, x, gradient) : spline_value(f, x);
    tl_vec3 slope;
    double d = spline(f, c, &slope);
    tl_vec3 border = tl_vec3_add_scaled(f->origin, f->cell, c);
    slope = tl_vec3_normalize_or(slope, (tl_vec3){0, 1, 0});
    tl_vec3 away = tl_vec3_sub(p, tl_vec3_add_scaled(border, -d, slope));
    if (gradient) *gradient = tl_vec3_normalize_or(away, slope);
    return tl_vec3_norm(away);
}

/* Half a diagonal of a cell, what the correction may have added at an edge, and away from the surface what blocks
 * filled from their corners may be off by. */
static double slack(double v, double cell) { return (v < (BAND - 1) * cell ? 1.25 : 3) * cell; }

bool tl_field_is_far(const tl_field *f, tl_vec3 p, double reach)
{
    if (!f->value) return tl_shape_distance(f->t, f->node, p) > reach;
    tl_vec3 x = tl_vec3_scale(1 / f->cell, tl_vec3_sub(p, f->origin));
    if (!(x.x >= 0 && x.y >= 0 && x.z >= 0 && x.x <= f->n[0] - 1 && x.y <= f->n[1] - 1 && x.z <= f->n[2] - 1))
        return tl_box3_distance(&f->box, p) > reach;
    int i = (int)(x.x + 0.5), j = (int)(x.y + 0.5), k = (int)(x.z + 0.5);
    double rough = f->rough[((int64_t)(k / COARSE) * f->m[1] + j / COARSE) * f->m[0] + i / COARSE],
           off = 0.8661 * (COARSE + 1) * f->cell;
    if (rough - off - slack(rough - off, f->cell) > reach) return true;
    if (rough + off - f->cell <= reach) return false;
    double v = f->value[at(f, i, j, k)];
    return v - slack(v, f->cell) > reach;
}
