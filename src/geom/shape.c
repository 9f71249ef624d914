#include <string.h>

#include "base/alloc.h"
#include "geom/mesh_distance.h"
#include "geom/polygon.h"
#include "geom/shape_node.h"
#include "geom/tetmesh.h"
#include "math/quat.h"

#define LENGTH_MAX 1e9 /* m; keeps squares and cubes far from overflow */
#define DEPTH_MAX 200  /* about 3 KB of stack each when gradients blend */
#define COST_MAX 1e6   /* primitives under one node, shared ones counted each time */

tl_shape_tree *tl_shape_tree_create(void) { return TL_NEW_ZERO(tl_shape_tree, 1); }

void tl_shape_tree_free(tl_shape_tree *t)
{
    if (!t) return;
    for (int i = 0; i < t->meshes; i++) {
        if (!t->mesh[i].shared) tl_mesh_distance_free(t->mesh[i].distance);
        if (t->mesh[i].tets) tl_tetmesh_free(t->mesh[i].tets);
        tl_free(t->mesh[i].tets);
    }
    tl_free(t->node);
    tl_free(t->child);
    tl_free(t->point);
    tl_free(t->bvh);
    tl_free(t->mesh);
    tl_free(t);
}

int tl_shape_node_count(const tl_shape_tree *t) { return t->nodes; }
tl_box3 tl_shape_bounds(const tl_shape_tree *t, int node) { return t->node[node].box; }
double tl_shape_feature_size(const tl_shape_tree *t, int node) { return t->node[node].feature; }

bool tl_shape_bounded(const tl_shape_tree *t, int node)
{
    tl_vec3 edge = tl_vec3_sub(t->node[node].box.hi, t->node[node].box.lo);
    return edge.x < INFINITY && edge.y < INFINITY && edge.z < INFINITY;
}

tl_shape_kind tl_shape_kind_of(const tl_shape_tree *t, int node)
{
    static const tl_shape_kind kind[] = {
        [OP_BOX] = TL_SHAPE_BOX,
        [OP_SPHERE] = TL_SHAPE_SPHERE,
        [OP_ELLIPSOID] = TL_SHAPE_ELLIPSOID,
        [OP_HEMISPHERE] = TL_SHAPE_HEMISPHERE,
        [OP_CYLINDER] = TL_SHAPE_CYLINDER,
        [OP_CAPSULE] = TL_SHAPE_CAPSULE,
        [OP_CONE] = TL_SHAPE_CONE,
        [OP_TORUS] = TL_SHAPE_TORUS,
        [OP_HALF_SPACE] = TL_SHAPE_HALF_SPACE,
        [OP_REVOLVE] = TL_SHAPE_REVOLVE,
        [OP_EXTRUDE] = TL_SHAPE_EXTRUDE,
        [OP_MESH] = TL_SHAPE_MESH,
    };
    while (t->node[node].op == OP_PLACE) node = t->child[t->node[node].first];
    return t->node[node].op < OP_UNION ? kind[t->node[node].op] : TL_SHAPE_OPERATION;
}

/* ---- room ---- */

/* *block has room for `want` items of `size` bytes afterwards. */
static bool grow(void **block, int32_t *room, int32_t want, size_t size)
{
    if (want <= *room) return true;
    int32_t more = *room * 2 > want ? *room * 2 : want + 8;
    void *larger = tl_realloc(*block, size * (size_t)more);
    if (!larger) return false;
    *block = larger;
    *room = more;
    return true;
}
#define GROW(t, array, count, more)                                                                                    \
    grow((void **)&(t)->array, &(t)->count##_room, (t)->count + (more), sizeof *(t)->array)

static int no_memory(const char *what, talus_error *err)
{
    TL_FAIL(err, TALUS_NO_MEMORY, "%s: no memory for another shape", what);
    return -1;
}

/* ---- checks ---- */

static bool length_good(const char *what, const char *name, double value, talus_error *err)
{
    if (value > 0 && value <= LENGTH_MAX) return true;
    TL_FAIL(err, TALUS_BAD_INPUT, "%s: %s must be > 0 and at most %g m, got %g", what, name, LENGTH_MAX, value);
    return false;
}

static bool vector_good(const char *what, const char *name, tl_vec3 v, talus_error *err)
{
    if (fabs(v.x) <= LENGTH_MAX && fabs(v.y) <= LENGTH_MAX && fabs(v.z) <= LENGTH_MAX) return true;
    TL_FAIL(err, TALUS_BAD_INPUT, "%s: %s must be within %g m, got (%g, %g, %g)", what, name, LENGTH_MAX, v.x, v.y,
            v.z);
    return false;
}

static bool range_good(const char *what, const char *name, double value, double least, double max, talus_error *err)
{
    if (value >= least && value <= max) return true;
    TL_FAIL(err, TALUS_BAD_INPUT, "%s: %s must be from %g to %g, got %g", what, name, least, max, value);
    return false;
}

static bool nodes_good(const tl_shape_tree *t, const char *what, int count, const int *nodes, talus_error *err)
{
    for (int i = 0; i < count; i++)
        if (nodes[i] < 0 || nodes[i] >= t->nodes) {
            TL_FAIL(err, TALUS_BAD_INPUT, "%s: shape %d is number %d, but the tree has %d", what, i, nodes[i],
                    t->nodes);
            return false;
        }
    return true;
}

/* ---- bounds ---- */

static double support(const tl_shape_tree *t, const tl_shape_node *n, tl_vec3 u);

static double support_of_points(const tl_shape_tree *t, const tl_shape_node *n, double x, double y)
{
    double s = -INFINITY;
    for (int i = 0; i < n->count; i++) s = tl_max(s, t->point[n->first + i][0] * x + t->point[n->first + i][1] * y);
    return s;
}

static double support_of_children(const tl_shape_tree *t, const tl_shape_node *n, tl_vec3 u)
{
    double s = n->op == OP_INTERSECT ? INFINITY : -INFINITY;
    tl_shape_blend b;
    tl_shape_blend_begin(&b, n->q * tl_vec3_norm(u));
    for (int i = 0; i < n->count; i++) {
        double si = support(t, &t->node[t->child[n->first + i]], u);
        s = n->op == OP_INTERSECT ? tl_min(s, si) : tl_max(s, si);
        tl_shape_blend_add(&b, -si, NULL);
    }
    return n->op != OP_SMOOTH_UNION || s == INFINITY ? s : -tl_shape_blend_end(&b, NULL);
}

/* How far the shape reaches along u: the least bound known of u.p. Every node's distance is at least u.p - support for
 * unit u, which makes the bounds of offsets and blends right, also where distances are only lower bounds. */
static double support(const tl_shape_tree *t, const tl_shape_node *n, tl_vec3 u)
{
    double length = tl_vec3_norm(u), flat = sqrt(u.x * u.x + u.z * u.z);
    const tl_shape_node *child = n->op >= OP_UNION ? &t->node[t->child[n->first]] : NULL;
    switch (n->op) {
    case OP_BOX: return fabs(u.x) * n->a.x + fabs(u.y) * n->a.y + fabs(u.z) * n->a.z + n->r * length;
    case OP_SPHERE: return n->r * length;
    case OP_ELLIPSOID: return tl_vec3_norm(tl_vec3_mul(n->a, u));
    case OP_HEMISPHERE: return n->r * (u.y >= 0 ? length : flat);
    case OP_CYLINDER: return n->r * flat + n->s * fabs(u.y) + n->b.x * length;
    case OP_CAPSULE: return tl_vec3_dot(n->a, u) + tl_max(n->r * length, n->q * tl_vec3_dot(n->b, u) + n->s * length);
    case OP_CONE: return tl_max(n->r * flat - n->q * u.y, n->s * flat + n->q * u.y);
    case OP_TORUS: return n->r * flat + n->s * length;
    case OP_HALF_SPACE: /* bounded along its normal; a tilt of rounding size does not count */
        return tl_vec3_norm(tl_vec3_sub(u, tl_vec3_scale(length, n->a))) < 1e-12 * length ? n->q * length : INFINITY;
    case OP_REVOLVE: return support_of_points(t, n, flat, u.y);
    case OP_EXTRUDE: return support_of_points(t, n, u.x, u.z) + n->q * fabs(u.y);
    case OP_MESH: {
        const tl_trimesh *m = tl_mesh_distance_mesh(t->mesh[n->first].distance);
        double s = -INFINITY;
        for (int32_t i = 0; i < m->vertices; i++) s = tl_max(s, tl_vec3_dot(u, m->vertex[i]));
        return s;
    }
    case OP_UNION:
    case OP_INTERSECT:
    case OP_SMOOTH_UNION: return support_of_children(t, n, u);
    case OP_SUBTRACT:
    case OP_SMOOTH_SUBTRACT:
    case OP_SHELL: return support(t, child, u);
    case OP_OFFSET: return support(t, child, u) + n->q * length;
    case OP_PLACE: return tl_vec3_dot(n->a, u) + n->q * support(t, child, tl_mat3_tmul_vec(n->R, u));
    case OP_STRETCH: /* its distance is kept above that of its box only */
        return (u.x != 0 ? tl_max(u.x * n->box.lo.x, u.x * n->box.hi.x) : 0) +
               (u.y != 0 ? tl_max(u.y * n->box.lo.y, u.y * n->box.hi.y) : 0) +
               (u.z != 0 ? tl_max(u.z * n->box.lo.z, u.z * n->box.hi.z) : 0);
    case OP_MIRROR: {
        tl_vec3 v = {n->count == 0 ? -u.x : u.x, n->count == 1 ? -u.y : u.y, n->count == 2 ? -u.z : u.z};
        return tl_max(support(t, child, u), support(t, child, v));
    }
    }
    return INFINITY;
}

static tl_box3 find_bounds(const tl_shape_tree *t, const tl_shape_node *n)
{
    if (n->op == OP_STRETCH) {
        tl_box3 b = t->node[t->child[n->first]].box;
        return (tl_box3){tl_vec3_mul(n->a, b.lo), tl_vec3_mul(n->a, b.hi)};
    }
    return (tl_box3){
        {-support(t, n, (tl_vec3){-1, 0, 0}), -support(t, n, (tl_vec3){0, -1, 0}), -support(t, n, (tl_vec3){0, 0, -1})},
        {support(t, n, (tl_vec3){1, 0, 0}), support(t, n, (tl_vec3){0, 1, 0}), support(t, n, (tl_vec3){0, 0, 1})}};
}

static double shortest_edge(tl_box3 b) { return tl_min(b.hi.x - b.lo.x, tl_min(b.hi.y - b.lo.y, b.hi.z - b.lo.z)); }

/* ---- boxes over boxes ---- */

static tl_box3 box_join(tl_box3 a, tl_box3 b) { return (tl_box3){tl_vec3_min(a.lo, b.lo), tl_vec3_max(a.hi, b.hi)}; }

static double middle(const tl_box3 *b, int axis)
{
    double lo = axis == 0   ? b->lo.x
                : axis == 1 ? b->lo.y
                            : b->lo.z,
           hi = axis == 0   ? b->hi.x
                : axis == 1 ? b->hi.y
                            : b->hi.z;
    double m = 0.5 * (lo + hi);
    return fabs(m) < INFINITY ? m : 0; /* unbounded shapes go anywhere */
}

/* Put the k smallest of list[0..n) first, by (middle, number). */
static void select_first(const tl_shape_tree *t, int32_t *list, int n, int k, int axis)
{
    int lo = 0, hi = n - 1;
    while (lo < hi) {
        int32_t pivot = list[lo + (hi - lo) / 2];
        double m = middle(&t->node[pivot].box, axis);
        int i = lo, j = hi;
        while (i <= j) {
            for (;; i++) {
                double v = middle(&t->node[list[i]].box, axis);
                if (!(v < m || (v == m && list[i] < pivot))) break;
            }
            for (;; j--) {
                double v = middle(&t->node[list[j]].box, axis);
                if (!(v > m || (v == m && list[j] > pivot))) break;
            }
            if (i <= j) {
                int32_t swap = list[i];
                list[i++] = list[j];
                list[j--] = swap;
            }
        }
        if (k <= j)
            hi = j;
        else if (k >= i)
            lo = i;
        else
            return;
    }
}

/* Room for 2 n - 1 entries is there. Sorts `list`. */
static void build_bvh(tl_shape_tree *t, int32_t *list, int n)
{
    int32_t at = t->entries++;
    tl_box3 box = t->node[list[0]].box;
    for (int i = 1; i < n; i++) box = box_join(box, t->node[list[i]].box);
    t->bvh[at] = (tl_shape_bvh){.box = box, .child = n == 1 ? list[0] : -1};
    if (n == 1) return;

    /* halve along the axis on which the middles spread most */
    int axis = 0;
    double widest = -1;
    for (int a = 0; a < 3; a++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int i = 0; i < n; i++) {
            double m = middle(&t->node[list[i]].box, a);
            lo = tl_min(lo, m);
            hi = tl_max(hi, m);
        }
        if (hi - lo > widest) {
            widest = hi - lo;
            axis = a;
        }
    }
    select_first(t, list, n, n / 2, axis);
    build_bvh(t, list, n / 2);
    t->bvh[at].second = t->entries;
    build_bvh(t, list + n / 2, n - n / 2);
}

/* ---- adding nodes ---- */

static int add(tl_shape_tree *t, tl_shape_node n, const char *what, talus_error *err)
{
    if (!GROW(t, node, nodes, 1)) return no_memory(what, err);
    n.bvh = -1;
    n.depth = 1;
    n.cost = n.op == OP_MESH ? 20 : n.op == OP_REVOLVE || n.op == OP_EXTRUDE ? 1 + n.count / 8 : 1;
    n.exact = true;
    n.box = find_bounds(t, &n);
    t->node[t->nodes] = n;
    return t->nodes++;
}

/* An operation on `count` children, taken from `nodes`. */
static int add_operation(tl_shape_tree *t, tl_shape_node n, int count, const int *nodes, const char *what,
                         talus_error *err)
{
    if (!nodes_good(t, what, count, nodes, err)) return -1;
    int firsts = n.op == OP_SUBTRACT ? 1 : 0; /* children that the boxes leave out */
    bool many =
        (n.op == OP_UNION || n.op == OP_SMOOTH_UNION || n.op == OP_SUBTRACT) && count - firsts >= TL_SHAPE_BVH_MIN;
    n.bvh = -1;
    n.depth = 1;
    n.exact = n.op == OP_UNION || n.op == OP_MIRROR || n.op == OP_PLACE || n.op == OP_SHELL ||
              (n.op == OP_OFFSET && n.q >= 0);
    n.first = t->children;
    if (n.op != OP_MIRROR) n.count = count;
    double feature = INFINITY;
    for (int i = 0; i < count; i++) {
        const tl_shape_node *c = &t->node[nodes[i]];
        if (c->depth + 1 > n.depth) n.depth = c->depth + 1;
        n.cost += n.op == OP_MIRROR ? 2 * c->cost : c->cost;
        n.exact &= c->exact;
        feature = tl_min(feature, c->feature);
    }
    if (n.depth > DEPTH_MAX) {
        TL_FAIL(err, TALUS_BAD_INPUT,
                "%s: shapes may nest %d deep at most (name all parts in one union instead of adding them one by one)",
                what, DEPTH_MAX);
        return -1;
    }
    if (n.cost > COST_MAX) {
        TL_FAIL(err, TALUS_BAD_INPUT,
                "%s: a shape may have %g primitives at most, repeated ones counted each time, got %g", what, COST_MAX,
                n.cost);
        return -1;
    }
    if (!GROW(t, node, nodes, 1) || !GROW(t, child, children, many ? 2 * count : count) ||
        (many && !GROW(t, bvh, entries, 2 * count)))
        return no_memory(what, err);

    for (int i = 0; i < count; i++) t->child[t->children + i] = nodes[i];
    n.feature = n.op == OP_SHELL                         ? tl_min(feature, n.q)
                : n.op == OP_OFFSET                      ? feature + 2 * n.q
                : n.op == OP_PLACE || n.op == OP_STRETCH ? feature * n.q
                                                         : feature;
    n.box = find_bounds(t, &n);
    double thin = shortest_edge(n.box);
    if (!(thin > 0)) {
        TL_FAIL(err, TALUS_BAD_INPUT, "%s: nothing is left of the shape", what);
        return -1;
    }
    n.feature = n.feature > 0 ? tl_min(n.feature, thin) : thin;
    if (many) {
        int32_t *scratch = t->child + t->children + count;
        memcpy(scratch, t->child + t->children + firsts, sizeof *scratch * (size_t)(count - firsts));
        n.bvh = t->entries;
        build_bvh(t, scratch, count - firsts);
    }
    t->children += count;
    t->node[t->nodes] = n;
    return t->nodes++;
}

/* ---- primitives ---- */

int tl_shape_box(tl_shape_tree *t, tl_vec3 size, double round, talus_error *err)
{
    if (!length_good("box", "size.x", size.x, err) || !length_good("box", "size.y", size.y, err) ||
        !length_good("box", "size.z", size.z, err))
        return -1;
    double least = tl_min(size.x, tl_min(size.y, size.z));
    if (!range_good("box", "round", round, 0, 0.5 * least, err)) return -1;
    tl_vec3 half = {0.5 * size.x - round, 0.5 * size.y - round, 0.5 * size.z - round};
    return add(t, (tl_shape_node){.op = OP_BOX, .a = half, .r = round, .feature = least}, "box", err);
}

int tl_shape_sphere(tl_shape_tree *t, double radius, talus_error *err)
{
    if (!length_good("sphere", "radius", radius, err)) return -1;
    return add(t, (tl_shape_node){.op = OP_SPHERE, .r = radius, .feature = 2 * radius}, "sphere", err);
}

int tl_shape_ellipsoid(tl_shape_tree *t, tl_vec3 radii, talus_error *err)
{
    if (!length_good("ellipsoid", "radii.x", radii.x, err) || !length_good("ellipsoid", "radii.y", radii.y, err) ||
        !length_good("ellipsoid", "radii.z", radii.z, err))
        return -1;
    double least = tl_min(radii.x, tl_min(radii.y, radii.z)), max = tl_vec3_max_abs(radii);
    if (!(max <= 1e4 * least)) {
        TL_FAIL(err, TALUS_BAD_INPUT,
                "ellipsoid: the largest of radii must be at most 1e4 times the smallest, got %g and %g", max, least);
        return -1;
    }
    return add(t, (tl_shape_node){.op = OP_ELLIPSOID, .a = radii, .feature = 2 * least}, "ellipsoid", err);
}

int tl_shape_hemisphere(tl_shape_tree *t, double radius, talus_error *err)
{
    if (!length_good("hemisphere", "radius", radius, err)) return -1;
    return add(t, (tl_shape_node){.op = OP_HEMISPHERE, .r = radius, .feature = radius}, "hemisphere", err);
}

int tl_shape_cylinder(tl_shape_tree *t, double radius, double height, double round, talus_error *err)
{
    if (!length_good("cylinder", "radius", radius, err) || !length_good("cylinder", "height", height, err) ||
        !range_good("cylinder", "round", round, 0, tl_min(radius, 0.5 * height), err))
        return -1;
    return add(t,
               (tl_shape_node){.op = OP_CYLINDER,
                               .r = radius - round,
                               .s = 0.5 * height - round,
                               .b = {round, 0, 0},
                               .feature = tl_min(2 * radius, height)},
               "cylinder", err);
}

int tl_shape_capsule(tl_shape_tree *t, tl_vec3 a, tl_vec3 b, double radius_a, double radius_b, talus_error *err)
{
    if (!vector_good("capsule", "a", a, err) || !vector_good("capsule", "b", b, err) ||
        !length_good("capsule", "radius_a", radius_a, err) || !length_good("capsule", "radius_b", radius_b, err))
        return -1;
    tl_shape_node n = {
        .op = OP_CAPSULE, .a = a, .r = radius_a, .s = radius_b, .feature = 2 * tl_min(radius_a, radius_b)};
    tl_vec3 along = tl_vec3_sub(b, a);
    n.q = tl_vec3_norm(along);
    if (n.q <= fabs(radius_a - radius_b) * (1 + 1e-12)) { /* one sphere holds the other */
        n.q = 0;
        n.a = radius_a >= radius_b ? a : b;
        n.r = n.s = tl_max(radius_a, radius_b);
        n.feature = 2 * n.r;
    } else {
        n.b = tl_vec3_scale(1 / n.q, along);
    }
    return add(t, n, "capsule", err);
}

int tl_shape_cone(tl_shape_tree *t, double radius_bottom, double radius_top, double height, talus_error *err)
{
    if (!range_good("cone", "radius_bottom", radius_bottom, 0, LENGTH_MAX, err) ||
        !range_good("cone", "radius_top", radius_top, 0, LENGTH_MAX, err) ||
        !length_good("cone", "height", height, err))
        return -1;
    double max = tl_max(radius_bottom, radius_top);
    if (max == 0) {
        TL_FAIL(err, TALUS_BAD_INPUT, "cone: one of radius_bottom and radius_top must be > 0, both are 0");
        return -1;
    }
    return add(
        t,
        (tl_shape_node){
            .op = OP_CONE, .r = radius_bottom, .s = radius_top, .q = 0.5 * height, .feature = tl_min(2 * max, height)},
        "cone", err);
}

int tl_shape_torus(tl_shape_tree *t, double ring_radius, double tube_radius, talus_error *err)
{
    if (!length_good("torus", "ring_radius", ring_radius, err)) return -1;
    if (!(tube_radius > 0 && tube_radius < ring_radius)) {
        TL_FAIL(err, TALUS_BAD_INPUT, "torus: tube_radius must be > 0 and less than ring_radius = %g, got %g",
                ring_radius, tube_radius);
        return -1;
    }
    double hole = ring_radius - tube_radius;
    return add(
        t,
        (tl_shape_node){.op = OP_TORUS, .r = ring_radius, .s = tube_radius, .feature = 2 * tl_min(tube_radius, hole)},
        "torus", err);
}

int tl_shape_half_space(tl_shape_tree *t, tl_vec3 normal, double offset, talus_error *err)
{
    double length = tl_vec3_norm(normal);
    if (!(length > 1e-9 && length < 1e9)) {
        TL_FAIL(err, TALUS_BAD_INPUT, "half space: normal must have a length from 1e-9 to 1e9, got (%g, %g, %g)",
                normal.x, normal.y, normal.z);
        return -1;
    }
    if (!range_good("half space", "offset", offset, -LENGTH_MAX, LENGTH_MAX, err)) return -1;
    return add(
        t,
        (tl_shape_node){.op = OP_HALF_SPACE, .a = tl_vec3_scale(1 / length, normal), .q = offset, .feature = INFINITY},
        "half space", err);
}

/* Copies the points, counter-clockwise. */
static bool keep_profile(tl_shape_tree *t, int points, const double (*profile)[2], bool lathe, const char *what,
                         talus_error *err)
{
    if (tl_polygon_check(points, profile, lathe, what, err) != TALUS_OK) return false;
    if (!GROW(t, point, points, points)) return no_memory(what, err), false;
    bool flip = tl_polygon_area(points, profile) < 0;
    for (int i = 0; i < points; i++) {
        const double *p = profile[flip ? points - 1 - i : i];
        t->point[t->points + i][0] = p[0];
        t->point[t->points + i][1] = p[1];
    }
    return true;
}

static int add_profile(tl_shape_tree *t, tl_shape_node n, const char *what, talus_error *err)
{
    double thin = tl_polygon_thickness(n.count, (const double(*)[2])(t->point + n.first), n.op == OP_REVOLVE);
    n.feature = n.op == OP_EXTRUDE ? tl_min(thin, 2 * n.q) : thin;
    int node = add(t, n, what, err);
    if (node < 0) return -1;
    t->node[node].feature = tl_min(n.feature, shortest_edge(t->node[node].box));
    t->points += n.count;
    return node;
}

int tl_shape_revolve(tl_shape_tree *t, int points, const double (*profile)[2], talus_error *err)
{
    if (!keep_profile(t, points, profile, true, "revolve", err)) return -1;
    return add_profile(t, (tl_shape_node){.op = OP_REVOLVE, .first = t->points, .count = points}, "revolve", err);
}

int tl_shape_extrude(tl_shape_tree *t, int points, const double (*profile)[2], double height, talus_error *err)
{
    if (!length_good("extrude", "height", height, err) || !keep_profile(t, points, profile, false, "extrude", err))
        return -1;
    return add_profile(t, (tl_shape_node){.op = OP_EXTRUDE, .first = t->points, .count = points, .q = 0.5 * height},
                       "extrude", err);
}

int tl_shape_mesh(tl_shape_tree *t, tl_mesh_distance *distance, talus_error *err)
{
    if (!GROW(t, mesh, meshes, 1)) return no_memory("mesh", err);
    t->mesh[t->meshes++] = (tl_shape_meshed){.distance = distance};
    int node = add(t, (tl_shape_node){.op = OP_MESH, .first = t->meshes - 1}, "mesh", err);
    if (node < 0) {
        t->meshes--;
        return -1;
    }
    t->node[node].feature = tl_mesh_distance_is_open(distance) ? 0 : shortest_edge(t->node[node].box);
    return node;
}

int tl_shape_mesh_again(tl_shape_tree *t, int node, talus_error *err)
{
    int again = tl_shape_mesh(t, t->mesh[t->node[node].first].distance, err);
    if (again >= 0) t->mesh[t->node[again].first].shared = true;
    return again;
}

talus_status tl_shape_give_tets(tl_shape_tree *t, int node, tl_tetmesh *tets, talus_error *err)
{
    tl_shape_meshed *m = &t->mesh[t->node[node].first];
    m->tets = TL_NEW(tl_tetmesh, 1);
    if (!m->tets) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for tetrahedra");
    *m->tets = *tets;
    *tets = (tl_tetmesh){0};
    return TALUS_OK;
}

static tl_vec3 placed_at(const tl_shape_node *n, tl_vec3 p)
{
    return tl_vec3_add_scaled(n->a, n->q, tl_mat3_mul_vec(n->R, p));
}

bool tl_shape_is_sheet(const tl_shape_tree *t, int node)
{
    const tl_shape_node *n = &t->node[node];
    if (n->op == OP_PLACE || n->op == OP_OFFSET) return tl_shape_is_sheet(t, t->child[n->first]);
    return n->op == OP_MESH && tl_mesh_distance_is_open(t->mesh[n->first].distance);
}

talus_status tl_shape_triangles(const tl_shape_tree *t, int node, tl_trimesh *out, bool *found, talus_error *err)
{
    const tl_shape_node *n = &t->node[node];
    *out = (tl_trimesh){0};
    *found = n->op == OP_MESH;
    if (n->op == OP_MESH) return tl_trimesh_copy(out, tl_mesh_distance_mesh(t->mesh[n->first].distance), err);
    if (n->op != OP_PLACE && n->op != OP_OFFSET) return TALUS_OK;
    TL_TRY(tl_shape_triangles(t, t->child[n->first], out, found, err));
    for (int32_t v = 0; v < out->vertices && n->op == OP_PLACE; v++) out->vertex[v] = placed_at(n, out->vertex[v]);
    return TALUS_OK;
}

talus_status tl_shape_tets(const tl_shape_tree *t, int node, tl_tetmesh *out, bool *found, talus_error *err)
{
    const tl_shape_node *n = &t->node[node];
    *out = (tl_tetmesh){0};
    *found = false;
    if (n->op == OP_PLACE) {
        TL_TRY(tl_shape_tets(t, t->child[n->first], out, found, err));
        for (int32_t v = 0; v < out->vertices; v++) out->vertex[v] = placed_at(n, out->vertex[v]);
    } else if (n->op == OP_MESH && t->mesh[n->first].tets) {
        const tl_tetmesh *own = t->mesh[n->first].tets;
        TL_TRY(tl_tetmesh_create(out, own->vertices, own->tets, err));
        memcpy(out->vertex, own->vertex, sizeof *own->vertex * (size_t)own->vertices);
        memcpy(out->tet, own->tet, sizeof *own->tet * (size_t)own->tets);
        if (own->region) {
            out->region = TL_NEW(int32_t, own->tets);
            if (!out->region) {
                tl_tetmesh_free(out);
                return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for tetrahedra");
            }
            memcpy(out->region, own->region, sizeof *own->region * (size_t)own->tets);
        }
        *found = true;
    }
    return TALUS_OK;
}

/* ---- operations ---- */

static bool count_good(const char *what, int count, int least, talus_error *err)
{
    if (count >= least && count <= 1000000) return true;
    TL_FAIL(err, TALUS_BAD_INPUT, "%s: needs %d to 1000000 shapes, got %d", what, least, count);
    return false;
}

int tl_shape_union(tl_shape_tree *t, int count, const int *nodes, talus_error *err)
{
    if (!count_good("union", count, 1, err)) return -1;
    return add_operation(t, (tl_shape_node){.op = OP_UNION}, count, nodes, "union", err);
}

int tl_shape_intersect(tl_shape_tree *t, int count, const int *nodes, talus_error *err)
{
    if (!count_good("intersect", count, 1, err)) return -1;
    return add_operation(t, (tl_shape_node){.op = OP_INTERSECT}, count, nodes, "intersect", err);
}

int tl_shape_subtract(tl_shape_tree *t, int from, int count, const int *nodes, talus_error *err)
{
    if (!count_good("subtract", count, 1, err)) return -1;
    int *all = TL_NEW(int, count + 1);
    if (!all) return no_memory("subtract", err);
    all[0] = from;
    memcpy(all + 1, nodes, sizeof *all * (size_t)count);
    int node = add_operation(t, (tl_shape_node){.op = OP_SUBTRACT}, count + 1, all, "subtract", err);
    tl_free(all);
    return node;
}

int tl_shape_smooth_union(tl_shape_tree *t, int count, const int *nodes, double blend, talus_error *err)
{
    if (!count_good("smooth union", count, 1, err) || !length_good("smooth union", "blend", blend, err)) return -1;
    return add_operation(t, (tl_shape_node){.op = OP_SMOOTH_UNION, .q = blend}, count, nodes, "smooth union", err);
}

int tl_shape_smooth_subtract(tl_shape_tree *t, int from, int what, double blend, talus_error *err)
{
    if (!length_good("smooth subtract", "blend", blend, err)) return -1;
    return add_operation(t, (tl_shape_node){.op = OP_SMOOTH_SUBTRACT, .q = blend}, 2, (int[]){from, what},
                         "smooth subtract", err);
}

int tl_shape_shell(tl_shape_tree *t, int node, double thickness, talus_error *err)
{
    if (!nodes_good(t, "shell", 1, &node, err)) return -1;
    double max = 0.5 * shortest_edge(t->node[node].box);
    if (!(thickness > 0 && thickness < max)) {
        TL_FAIL(err, TALUS_BAD_INPUT,
                "shell: thickness must be > 0 and less than %g, half of the shape's shortest side, got %g", max,
                thickness);
        return -1;
    }
    return add_operation(t, (tl_shape_node){.op = OP_SHELL, .q = thickness}, 1, &node, "shell", err);
}

int tl_shape_offset(tl_shape_tree *t, int node, double by, talus_error *err)
{
    if (!range_good("offset", "by", by, -LENGTH_MAX, LENGTH_MAX, err)) return -1;
    return add_operation(t, (tl_shape_node){.op = OP_OFFSET, .q = by}, 1, &node, "offset", err);
}

int tl_shape_place(tl_shape_tree *t, int node, tl_vec3 at, const double rotation[4], double scale, talus_error *err)
{
    tl_quat q = {rotation[0], rotation[1], rotation[2], rotation[3]};
    double norm = sqrt(tl_quat_norm2(q));
    if (!vector_good("place", "at", at, err) || !length_good("place", "scale", scale, err)) return -1;
    if (!(fabs(norm - 1) < 1e-6)) {
        TL_FAIL(err, TALUS_BAD_INPUT, "place: rotation must be a quaternion of length 1, got length %g", norm);
        return -1;
    }
    tl_shape_node n = {.op = OP_PLACE, .a = at, .q = scale, .R = tl_quat_to_mat3(tl_quat_normalize(q))};
    return add_operation(t, n, 1, &node, "place", err);
}

/* Which axis a unit vector is along; -1: none. */
static int axis_along(tl_vec3 v)
{
    const double a[3] = {fabs(v.x), fabs(v.y), fabs(v.z)};
    for (int k = 0; k < 3; k++)
        if (a[k] > 1 - 1e-12) return k;
    return -1;
}

int tl_shape_deepen(tl_shape_tree *to, const tl_shape_tree *from, int node, tl_vec3 along, double depth,
                    talus_error *err)
{
    const tl_shape_node n = from->node[node];
    int axis = axis_along(along), made = TL_SHAPE_NOT_DEEP;
    if (n.op == OP_BOX && axis >= 0 && !(n.r > 0)) {
        double size[3] = {2 * n.a.x, 2 * n.a.y, 2 * n.a.z};
        size[axis] = tl_max(size[axis], depth);
        made = tl_shape_box(to, (tl_vec3){size[0], size[1], size[2]}, 0, err);
    } else if (n.op == OP_CYLINDER && axis == 1 && !(n.b.x > 0)) {
        made = tl_shape_cylinder(to, n.r, tl_max(2 * n.s, depth), 0, err);
    } else if (n.op == OP_EXTRUDE && axis == 1) {
        made = tl_shape_extrude(to, n.count, (const double(*)[2])(from->point + n.first), tl_max(2 * n.q, depth), err);
    } else if (n.op == OP_PLACE) {
        made = tl_shape_deepen(to, from, from->child[n.first], tl_mat3_tmul_vec(n.R, along), depth / n.q, err);
        if (made < 0) return made;
        made = add_operation(to, (tl_shape_node){.op = OP_PLACE, .a = n.a, .q = n.q, .R = n.R}, 1, &made, "place", err);
    } else
        return TL_SHAPE_NOT_DEEP;
    return made;
}

int tl_shape_stretch(tl_shape_tree *t, int node, tl_vec3 factors, talus_error *err)
{
    if (!range_good("stretch", "factors.x", factors.x, 1e-3, 1e3, err) ||
        !range_good("stretch", "factors.y", factors.y, 1e-3, 1e3, err) ||
        !range_good("stretch", "factors.z", factors.z, 1e-3, 1e3, err))
        return -1;
    double least = tl_min(factors.x, tl_min(factors.y, factors.z));
    return add_operation(t, (tl_shape_node){.op = OP_STRETCH, .a = factors, .q = least}, 1, &node, "stretch", err);
}

int tl_shape_mirror(tl_shape_tree *t, int node, int axis, talus_error *err)
{
    if (axis < 0 || axis > 2) {
        TL_FAIL(err, TALUS_BAD_INPUT, "mirror: axis must be 0 (x), 1 (y) or 2 (z), got %d", axis);
        return -1;
    }
    return add_operation(t, (tl_shape_node){.op = OP_MIRROR, .count = axis}, 1, &node, "mirror", err);
}
