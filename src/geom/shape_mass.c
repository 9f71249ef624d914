#include "base/alloc.h"
#include "geom/mesh_distance.h"
#include "geom/shape_node.h"

static const double pi = 3.14159265358979323846;

/* ---- closed forms ---- */

static tl_mass symmetric_mass(double volume, tl_vec3 center, tl_vec3 second)
{
    /* second: integrals of (x-c)^2, (y-c)^2, (z-c)^2 over the volume */
    return (tl_mass){volume, center, tl_mat3_diagonal(second.y + second.z, second.z + second.x, second.x + second.y)};
}

/* Solid of revolution around y, piece by piece. Integrals of 1, y, y^2 and x^2 (= z^2). */
typedef struct lathe {
    double v, y, yy, xx;
} lathe;

/* A piece with radius^2 = c0 + c1 y + c2 y^2 from y0 to y1 (negative when y1 < y0): integrands of degree <= 4, so
 * three Gauss points are exact. */
static void lathe_add(lathe *m, double y0, double y1, double c0, double c1, double c2)
{
    static const double at[3] = {-0.77459666924148337704, 0, 0.77459666924148337704},
                        weight[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
    double mid = 0.5 * (y0 + y1), half = 0.5 * (y1 - y0);
    for (int k = 0; k < 3; k++) {
        double y = mid + half * at[k], r2 = c0 + y * (c1 + y * c2), w = weight[k] * half * pi * r2;
        m->v += w;
        m->y += w * y;
        m->yy += w * y * y;
        m->xx += w * r2 / 4;
    }
}

static void lathe_ball(lathe *m, double y0, double y1, double center, double radius)
{
    lathe_add(m, y0, y1, radius * radius - center * center, 2 * center, -1);
}

static void lathe_line(lathe *m, double r0, double y0, double r1, double y1)
{
    if (y1 == y0) return;
    double k = (r1 - r0) / (y1 - y0), c = r0 - k * y0;
    lathe_add(m, y0, y1, c * c, 2 * c * k, k * k);
}

static tl_mass lathe_end(const lathe *m)
{
    double c = m->y / m->v;
    return symmetric_mass(m->v, (tl_vec3){0, c, 0}, (tl_vec3){m->xx, m->yy - m->v * c * c, m->xx});
}

static tl_mass moved(tl_mass m, tl_vec3 at, tl_mat3 R, double s)
{
    double s3 = s * s * s;
    return (tl_mass){s3 * m.volume, tl_vec3_add(at, tl_vec3_scale(s, tl_mat3_mul_vec(R, m.center))),
                     tl_mat3_scale(s3 * s * s, tl_mat3_mul(R, tl_mat3_mul_t(m.inertia, R)))};
}

static tl_mat3 point_inertia(double volume, tl_vec3 r)
{
    return tl_mat3_scale(volume, tl_mat3_sub(tl_mat3_scale(tl_vec3_norm2(r), tl_mat3_identity()), tl_mat3_outer(r, r)));
}

static tl_mass joined(tl_mass a, tl_mass b)
{
    tl_mass m = {.volume = a.volume + b.volume};
    m.center =
        tl_vec3_scale(1 / m.volume, tl_vec3_add(tl_vec3_scale(a.volume, a.center), tl_vec3_scale(b.volume, b.center)));
    m.inertia = tl_mat3_add(tl_mat3_add(a.inertia, point_inertia(a.volume, tl_vec3_sub(a.center, m.center))),
                            tl_mat3_add(b.inertia, point_inertia(b.volume, tl_vec3_sub(b.center, m.center))));
    return m;
}

static tl_mass capsule_mass(const tl_shape_node *n)
{
    lathe m = {0};
    double lean = n->q > 0 ? (n->r - n->s) / n->q : 0;
    tl_vec3 axis = n->q > 0 ? n->b : (tl_vec3){0, 1, 0}, t1, t2;
    if (n->q == 0) {
        lathe_ball(&m, -n->r, n->r, 0, n->r);
    } else { /* the side touches the spheres at height center + lean radius */
        double flat = sqrt(1 - lean * lean), y0 = lean * n->r, y1 = n->q + lean * n->s;
        lathe_ball(&m, -n->r, y0, 0, n->r);
        lathe_line(&m, flat * n->r, y0, flat * n->s, y1);
        lathe_ball(&m, y1, n->q + n->s, n->q, n->s);
    }
    tl_vec3_tangents(axis, &t1, &t2);
    return moved(lathe_end(&m), n->a, tl_mat3_from_columns(t2, axis, t1), 1);
}

static tl_mass extrude_mass(const tl_shape_tree *t, const tl_shape_node *n)
{
    double area = 0, x = 0, z = 0, xx = 0, zz = 0, xz = 0;
    for (int i = 0; i < n->count; i++) {
        const double *a = t->point[n->first + i], *b = t->point[n->first + (i + 1) % n->count];
        double s = 0.5 * (a[0] * b[1] - b[0] * a[1]), sx = a[0] + b[0], sz = a[1] + b[1]; /* triangle with the origin */
        area += s;
        x += s * sx / 3;
        z += s * sz / 3;
        xx += s / 12 * (sx * sx + a[0] * a[0] + b[0] * b[0]);
        zz += s / 12 * (sz * sz + a[1] * a[1] + b[1] * b[1]);
        xz += s / 12 * (sx * sz + a[0] * a[1] + b[0] * b[1]);
    }
    double h = 2 * n->q, cx = x / area, cz = z / area;
    tl_mass m = symmetric_mass(area * h, (tl_vec3){cx, 0, cz},
                               (tl_vec3){h * (xx - area * cx * cx), area * h * h * h / 12, h * (zz - area * cz * cz)});
    m.inertia.m[0][2] = m.inertia.m[2][0] = -h * (xz - area * cx * cz);
    return m;
}

static tl_mass cone_mass(const tl_shape_node *n)
{
    lathe m = {0};
    lathe_line(&m, n->r, -n->q, n->s, n->q);
    return lathe_end(&m);
}

static tl_mass ball_mass(double radius, double from)
{
    lathe m = {0};
    lathe_ball(&m, from, radius, 0, radius);
    return lathe_end(&m);
}

static tl_mass revolve_mass(const tl_shape_tree *t, const tl_shape_node *n)
{
    lathe m = {0};
    for (int i = 0; i < n->count; i++) {
        const double *a = t->point[n->first + i], *b = t->point[n->first + (i + 1) % n->count];
        lathe_line(&m, a[0], a[1], b[0], b[1]);
    }
    return lathe_end(&m);
}

static bool apart(const tl_box3 *a, const tl_box3 *b)
{
    return a->hi.x <= b->lo.x || b->hi.x <= a->lo.x || a->hi.y <= b->lo.y || b->hi.y <= a->lo.y || a->hi.z <= b->lo.z ||
           b->hi.z <= a->lo.z;
}

static bool exact_mass(const tl_shape_tree *t, int node, tl_mass *m);

/* Parts whose boxes do not overlap simply add up. Looked for among up to 1000 parts: the search is quadratic. */
static bool union_mass(const tl_shape_tree *t, const tl_shape_node *n, tl_mass *m)
{
    if (n->count > 1000) return false;
    for (int i = 0; i < n->count; i++) {
        int child = t->child[n->first + i];
        for (int j = 0; j < i; j++)
            if (!apart(&t->node[child].box, &t->node[t->child[n->first + j]].box)) return false;
        tl_mass part;
        if (!exact_mass(t, child, &part)) return false;
        *m = i ? joined(*m, part) : part;
    }
    return true;
}

static bool mirror_mass(const tl_shape_tree *t, const tl_shape_node *n, tl_mass *m)
{
    int child = t->child[n->first], axis = n->count;
    const tl_box3 *b = &t->node[child].box;
    double lo = axis == 0   ? b->lo.x
                : axis == 1 ? b->lo.y
                            : b->lo.z,
           hi = axis == 0   ? b->hi.x
                : axis == 1 ? b->hi.y
                            : b->hi.z;
    if ((lo < 0 && hi > 0) || !exact_mass(t, child, m)) return false;
    tl_mat3 flip = tl_mat3_diagonal(axis == 0 ? -1 : 1, axis == 1 ? -1 : 1, axis == 2 ? -1 : 1);
    *m = joined(*m, moved(*m, (tl_vec3){0, 0, 0}, flip, 1));
    return true;
}

/* False when there is no closed form. */
static bool exact_mass(const tl_shape_tree *t, int node, tl_mass *m)
{
    const tl_shape_node *n = &t->node[node];
    tl_vec3 origin = {0, 0, 0}, a = n->a;
    double v;
    switch (n->op) {
    case OP_BOX:
        v = 8 * a.x * a.y * a.z;
        *m = symmetric_mass(v, origin, (tl_vec3){v * a.x * a.x / 3, v * a.y * a.y / 3, v * a.z * a.z / 3});
        return n->r == 0;
    case OP_SPHERE: *m = ball_mass(n->r, -n->r); return true;
    case OP_HEMISPHERE: *m = ball_mass(n->r, 0); return true;
    case OP_ELLIPSOID:
        v = 4.0 / 3 * pi * a.x * a.y * a.z;
        *m = symmetric_mass(v, origin, (tl_vec3){v * a.x * a.x / 5, v * a.y * a.y / 5, v * a.z * a.z / 5});
        return true;
    case OP_CYLINDER: *m = cone_mass(&(tl_shape_node){.r = n->r, .s = n->r, .q = n->s}); return n->b.x == 0;
    case OP_CAPSULE: *m = capsule_mass(n); return true;
    case OP_CONE: *m = cone_mass(n); return true;
    case OP_TORUS: {
        v = 2 * pi * pi * n->r * n->s * n->s;
        double x = v * (0.5 * n->r * n->r + 0.375 * n->s * n->s);
        *m = symmetric_mass(v, origin, (tl_vec3){x, v * n->s * n->s / 4, x});
        return true;
    }
    case OP_REVOLVE: *m = revolve_mass(t, n); return true;
    case OP_EXTRUDE: *m = extrude_mass(t, n); return true;
    case OP_MESH: *m = tl_trimesh_mass(tl_mesh_distance_mesh(t->mesh[n->first].distance)); return true;
    case OP_PLACE:
        if (!exact_mass(t, t->child[n->first], m)) return false;
        *m = moved(*m, n->a, n->R, n->q);
        return true;
    case OP_UNION: return union_mass(t, n, m);
    case OP_MIRROR: return mirror_mass(t, n, m);
    default: return false;
    }
}

/* ---- quadrature ---- */

typedef struct moments {
    double v;
    tl_vec3 first;
    double xx, yy, zz, xy, yz, zx;
} moments;

static void add_cube(moments *m, tl_vec3 c, double half, double fraction)
{
    double v = 8 * half * half * half * fraction, own = half * half / 3;
    m->v += v;
    m->first = tl_vec3_add_scaled(m->first, v, c);
    m->xx += v * (c.x * c.x + own);
    m->yy += v * (c.y * c.y + own);
    m->zz += v * (c.z * c.z + own);
    m->xy += v * c.x * c.y;
    m->yz += v * c.y * c.z;
    m->zx += v * c.z * c.x;
}

static double cube(double x) { return x > 0 ? x * x * x : 0; }

/* Part of the cube [-1,1]^3 with n.x + d < 0. */
static double plane_fraction(tl_vec3 n, double d)
{
    double largest = tl_vec3_max_abs(n);
    if (!(largest > 0)) return d < 0;
    /* a face along the plane is tilted by 1e-3 about its middle: the volume stays, the formula keeps its digits */
    double a = tl_max(fabs(n.x), 1e-3 * largest), b = tl_max(fabs(n.y), 1e-3 * largest),
           c = tl_max(fabs(n.z), 1e-3 * largest);
    double total = a + b + c, x = 0.5 * (total - d); /* in a unit cube with corner 0: a x + b y + c z < x */
    if (x <= 0) return 0;
    if (x >= total) return 1;
    double sum =
        cube(x) - cube(x - a) - cube(x - b) - cube(x - c) + cube(x - a - b) + cube(x - b - c) + cube(x - c - a);
    return tl_min(tl_max(sum / (6 * a * b * c), 0), 1);
}

/* Moments about `origin`, which is near: no digits are lost for a shape far from 0. Cubes far from the surface are
 * whole or empty by the Lipschitz bound; the smallest ones are cut by the tangent plane. */
static void integrate(const tl_shape_tree *t, int node, tl_vec3 origin, tl_vec3 c, double half, int levels, moments *m)
{
    tl_vec3 g;
    double d = tl_shape_eval(t, node, tl_vec3_add(origin, c), levels == 0 ? &g : NULL),
           reach = 1.7320508075688773 * half;
    if (d >= reach) return;
    if (d <= -reach) {
        add_cube(m, c, half, 1);
        return;
    }
    if (levels == 0) {
        add_cube(m, c, half, plane_fraction(g, d / half));
        return;
    }
    for (int k = 0; k < 8; k++) {
        tl_vec3 s = {(k & 1) ? 0.5 : -0.5, (k & 2) ? 0.5 : -0.5, (k & 4) ? 0.5 : -0.5};
        integrate(t, node, origin, tl_vec3_add_scaled(c, half, s), 0.5 * half, levels - 1, m);
    }
}

talus_status tl_shape_mass(const tl_shape_tree *t, int node, int cells, tl_mass *out, talus_error *err)
{
    if (!tl_shape_bounded(t, node)) return TL_FAIL(err, TALUS_BAD_INPUT, "mass: the shape must be bounded");
    if (exact_mass(t, node, out)) return TALUS_OK;
    if (cells < 1 || cells > 2048)
        return TL_FAIL(err, TALUS_BAD_INPUT, "mass: cells must be from 1 to 2048, got %d", cells);

    /* blocks of 8 cells, each cell cut once more */
    tl_box3 box = tl_shape_bounds(t, node);
    tl_vec3 edge = tl_vec3_sub(box.hi, box.lo);
    double block = 8 * tl_max(edge.x, tl_max(edge.y, edge.z)) / cells;
    int nx = (int)ceil(edge.x / block), ny = (int)ceil(edge.y / block), nz = (int)ceil(edge.z / block),
        count = nx * ny * nz;
    moments *part = TL_NEW_ZERO(moments, count);
    if (!part) return TL_FAIL(err, TALUS_NO_MEMORY, "mass: no memory for %d blocks", count);
    tl_vec3 middle = tl_vec3_scale(0.5, tl_vec3_add(box.lo, box.hi));
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < count; i++) {
        tl_vec3 c = {block * (i % nx + 0.5 - 0.5 * nx), block * (i / nx % ny + 0.5 - 0.5 * ny),
                     block * (i / nx / ny + 0.5 - 0.5 * nz)};
        integrate(t, node, middle, c, 0.5 * block, 4, &part[i]);
    }

    moments m = {0};
    for (int i = 0; i < count; i++) {
        m.v += part[i].v;
        m.first = tl_vec3_add(m.first, part[i].first);
        m.xx += part[i].xx;
        m.yy += part[i].yy;
        m.zz += part[i].zz;
        m.xy += part[i].xy;
        m.yz += part[i].yz;
        m.zx += part[i].zx;
    }
    tl_free(part);
    if (!(m.v > 0))
        return TL_FAIL(err, TALUS_BAD_INPUT, "mass: the shape has no volume at %d cells along its longest edge", cells);
    tl_vec3 c = tl_vec3_scale(1 / m.v, m.first);
    tl_mat3 second = {{{m.xx, m.xy, m.zx}, {m.xy, m.yy, m.yz}, {m.zx, m.yz, m.zz}}};
    second = tl_mat3_add_scaled(second, -m.v, tl_mat3_outer(c, c));
    *out = (tl_mass){m.v, tl_vec3_add(middle, c),
                     tl_mat3_sub(tl_mat3_scale(tl_mat3_trace(second), tl_mat3_identity()), second)};
    return TALUS_OK;
}
