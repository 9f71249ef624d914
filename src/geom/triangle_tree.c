#include "geom/triangle_tree.h"

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/radix.h"

#define PI 3.141592653589793

struct tl_tree_patch {
    tl_vec3 center; /* of area */
    tl_vec3 normal; /* sum of area normals */
    double radius;  /* of a ball around center that holds the triangles */
    double area;
};

/* ---- building ---- */

static uint64_t spread(uint64_t x) /* 21 bits, two zeros after each */
{
    x &= 0x1fffff;
    x = (x | x << 32) & 0x1f00000000ffff;
    x = (x | x << 16) & 0x1f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    return (x | x << 2) & 0x1249249249249249;
}

static uint64_t step_of(double x, double lo, double hi)
{
    double f = hi > lo ? (x - lo) / (hi - lo) : 0;
    return (uint64_t)(f * 2097151.0);
}

static const int32_t *corners(const tl_triangle_tree *tree, int32_t place)
{
    return tree->mesh->triangle[tree->order[place]];
}

static talus_status sort(tl_triangle_tree *tree, talus_error *err)
{
    const tl_trimesh *m = tree->mesh;
    tl_box3 all = tl_trimesh_bounds(m);
    int32_t n = m->triangles;
    uint64_t *key = TL_NEW(uint64_t, n), *spare = TL_NEW(uint64_t, n);
    int32_t *spare_order = TL_NEW(int32_t, n);
    talus_status status = TALUS_OK;
    if (!key || !spare || !spare_order) {
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory to sort %d triangles", n);
    } else {
        for (int32_t t = 0; t < n; t++) {
            tl_vec3 a = m->vertex[m->triangle[t][0]], b = m->vertex[m->triangle[t][1]],
                    c = m->vertex[m->triangle[t][2]];
            tl_vec3 x =
                tl_vec3_scale(0.5, tl_vec3_add(tl_vec3_min(a, tl_vec3_min(b, c)), tl_vec3_max(a, tl_vec3_max(b, c))));
            tree->order[t] = t;
            key[t] = spread(step_of(x.x, all.lo.x, all.hi.x)) << 2 | spread(step_of(x.y, all.lo.y, all.hi.y)) << 1 |
                     spread(step_of(x.z, all.lo.z, all.hi.z));
        }
        tl_radix_sort(n, key, tree->order, spare, spare_order);
    }
    tl_free(key);
    tl_free(spare);
    tl_free(spare_order);
    return status;
}

static void fill_leaf(tl_triangle_tree *tree, int32_t leaf)
{
    tl_box3 *box = &tree->box[tree->leaves + leaf];
    struct tl_tree_patch *patch = &tree->patch[tree->leaves + leaf];
    *box = (tl_box3){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    *patch = (struct tl_tree_patch){0};
    tl_vec3 sum = {0, 0, 0};
    int64_t first = (int64_t)leaf * TL_TREE_LEAF, n = tree->mesh->triangles;
    for (int64_t i = first; i < first + TL_TREE_LEAF && i < n; i++) {
        const int32_t *f = corners(tree, (int32_t)i);
        const tl_vec3 *v = tree->mesh->vertex;
        tl_vec3 area = tl_vec3_scale(0.5, tl_vec3_cross(tl_vec3_sub(v[f[1]], v[f[0]]), tl_vec3_sub(v[f[2]], v[f[0]])));
        double size = tl_vec3_norm(area);
        for (int k = 0; k < 3; k++) {
            box->lo = tl_vec3_min(box->lo, v[f[k]]);
            box->hi = tl_vec3_max(box->hi, v[f[k]]);
            sum = tl_vec3_add_scaled(sum, size / 3, v[f[k]]);
        }
        patch->normal = tl_vec3_add(patch->normal, area);
        patch->area += size;
    }
    patch->center = tl_vec3_scale(patch->area > 0 ? 1 / patch->area : 0, sum);
}

static void fill_inner(tl_triangle_tree *tree, int32_t node)
{
    const tl_box3 *b = &tree->box[2 * node];
    const struct tl_tree_patch *p = &tree->patch[2 * node];
    tree->box[node] = (tl_box3){tl_vec3_min(b[0].lo, b[1].lo), tl_vec3_max(b[0].hi, b[1].hi)};
    double area = p[0].area + p[1].area, share = area > 0 ? p[1].area / area : 0;
    tree->patch[node] = (struct tl_tree_patch){
        .center = tl_vec3_add(tl_vec3_scale(1 - share, p[0].center), tl_vec3_scale(share, p[1].center)),
        .normal = tl_vec3_add(p[0].normal, p[1].normal),
        .area = area,
    };
}

/* To the farthest corner of the box. */
static void set_radius(tl_triangle_tree *tree, int32_t node)
{
    struct tl_tree_patch *p = &tree->patch[node];
    if (!(tree->box[node].lo.x <= tree->box[node].hi.x)) return;
    tl_vec3 to = tl_vec3_max(tl_vec3_sub(tree->box[node].hi, p->center), tl_vec3_sub(p->center, tree->box[node].lo));
    p->radius = tl_vec3_norm(to);
}

talus_status tl_triangle_tree_create(tl_triangle_tree *tree, const tl_trimesh *m, talus_error *err)
{
    *tree = (tl_triangle_tree){.mesh = m, .leaves = 1};
    while ((int64_t)tree->leaves * TL_TREE_LEAF < m->triangles) tree->leaves *= 2;
    tree->order = TL_NEW(int32_t, m->triangles);
    tree->box = TL_NEW(tl_box3, 2 * (int64_t)tree->leaves);
    tree->patch = TL_NEW(struct tl_tree_patch, 2 * (int64_t)tree->leaves);
    talus_status status = TALUS_OK;
    if (!tree->order || !tree->box || !tree->patch)
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a tree of %d triangles", m->triangles);
    if (status == TALUS_OK) status = sort(tree, err);
    if (status != TALUS_OK) {
        tl_triangle_tree_free(tree);
        return status;
    }
#pragma omp parallel for schedule(static) if (tree->leaves > 4096)
    for (int32_t i = 0; i < tree->leaves; i++) fill_leaf(tree, i);
    for (int32_t i = tree->leaves - 1; i > 0; i--) fill_inner(tree, i);
    for (int32_t i = 1; i < 2 * tree->leaves; i++) set_radius(tree, i);
    return TALUS_OK;
}

void tl_triangle_tree_free(tl_triangle_tree *tree)
{
    tl_free(tree->order);
    tl_free(tree->box);
    tl_free(tree->patch);
    *tree = (tl_triangle_tree){0};
}

/* ---- triangles that cut ---- */

/* Sign of the volume of (a, b, c, d), positive when d is below abc seen counter-clockwise; 0 when rounding
 * could turn it. Bound of the plain double evaluation: [Shewchuk1997]. */
static int side(tl_vec3 a, tl_vec3 b, tl_vec3 c, tl_vec3 d)
{
    tl_vec3 u = tl_vec3_sub(a, d), v = tl_vec3_sub(b, d), w = tl_vec3_sub(c, d);
    double det = tl_vec3_dot(u, tl_vec3_cross(v, w));
    double size = (fabs(v.y * w.z) + fabs(v.z * w.y)) * fabs(u.x) + (fabs(v.z * w.x) + fabs(v.x * w.z)) * fabs(u.y) +
                  (fabs(v.x * w.y) + fabs(v.y * w.x)) * fabs(u.z);
    double bound = 8e-16 * size;
    return det > bound ? 1 : det < -bound ? -1 : 0;
}

/* The corner that is alone on its side of a plane, or -1 when the triangle touches the plane at most. With one
 * on each side and one in the plane, either would do. */
static int lone(const int s[3])
{
    int plus = (s[0] > 0) + (s[1] > 0) + (s[2] > 0), minus = (s[0] < 0) + (s[1] < 0) + (s[2] < 0);
    if (plus == 0 || minus == 0) return -1;
    int wanted = plus == 1 ? 1 : -1;
    return s[0] == wanted ? 0 : s[1] == wanted ? 1 : 2;
}

/* Each triangle meets the line of the two planes in a piece between the two edges at its lone corner. With both
 * turned so that the lone corners lie on positive sides, ends of the pieces are in the order that signs of
 * volumes of edge pairs tell; the pieces must overlap by more than a point. [Guigue2003] */
bool tl_triangles_cut(const tl_vec3 s[3], const tl_vec3 t[3])
{
    int of_s[3], of_t[3];
    for (int k = 0; k < 3; k++) of_s[k] = side(t[0], t[1], t[2], s[k]);
    int i = lone(of_s);
    if (i < 0) return false;
    for (int k = 0; k < 3; k++) of_t[k] = side(s[0], s[1], s[2], t[k]);
    int j = lone(of_t);
    if (j < 0) return false;
    bool turn_s = of_t[j] < 0, turn_t = of_s[i] < 0;
    tl_vec3 s1 = s[(i + (turn_s ? 2 : 1)) % 3], s2 = s[(i + (turn_s ? 1 : 2)) % 3];
    tl_vec3 t1 = t[(j + (turn_t ? 2 : 1)) % 3], t2 = t[(j + (turn_t ? 1 : 2)) % 3];
    return side(s[i], s1, t[j], t1) < 0 && side(s[i], s2, t[j], t2) > 0;
}

static bool apart(const tl_box3 *a, const tl_box3 *b)
{
    return a->lo.x > b->hi.x || a->lo.y > b->hi.y || a->lo.z > b->hi.z || b->lo.x > a->hi.x || b->lo.y > a->hi.y ||
           b->lo.z > a->hi.z;
}

static int64_t cuts_in_leaf(const tl_triangle_tree *tree, int32_t place, int32_t leaf)
{
    const tl_vec3 *v = tree->mesh->vertex;
    const int32_t *f = corners(tree, place);
    tl_vec3 s[3] = {v[f[0]], v[f[1]], v[f[2]]};
    int64_t found = 0, first = (int64_t)leaf * TL_TREE_LEAF;
    for (int64_t i = first; i < first + TL_TREE_LEAF && i < tree->mesh->triangles; i++) {
        if (i <= place) continue; /* each pair once */
        const int32_t *g = corners(tree, (int32_t)i);
        tl_vec3 t[3] = {v[g[0]], v[g[1]], v[g[2]]};
        found += tl_triangles_cut(s, t);
    }
    return found;
}

static int64_t cuts_of(const tl_triangle_tree *tree, int32_t place)
{
    const int32_t *f = corners(tree, place);
    const tl_vec3 *v = tree->mesh->vertex;
    tl_box3 box = {tl_vec3_min(v[f[0]], tl_vec3_min(v[f[1]], v[f[2]])),
                   tl_vec3_max(v[f[0]], tl_vec3_max(v[f[1]], v[f[2]]))};
    int32_t stack[64], top = 0;
    int64_t found = 0;
    stack[top++] = 1;
    while (top > 0) {
        int32_t node = stack[--top];
        if (apart(&box, &tree->box[node])) continue;
        if (node >= tree->leaves) {
            found += cuts_in_leaf(tree, place, node - tree->leaves);
        } else {
            stack[top++] = 2 * node;
            stack[top++] = 2 * node + 1;
        }
    }
    return found;
}

int64_t tl_triangle_tree_cuts(const tl_triangle_tree *tree)
{
    int64_t found = 0; /* an integer: any order of adding gives the same */
    if (tree->mesh->triangles == 0) return 0;
#pragma omp parallel for schedule(dynamic, 256) reduction(+ : found) if (tree->mesh->triangles > 1000)
    for (int32_t i = 0; i < tree->mesh->triangles; i++) found += cuts_of(tree, i);
    return found;
}

/* ---- winding ---- */

double tl_triangle_winding(tl_vec3 p, tl_vec3 a, tl_vec3 b, tl_vec3 c)
{
    a = tl_vec3_sub(a, p);
    b = tl_vec3_sub(b, p);
    c = tl_vec3_sub(c, p);
    double la = tl_vec3_norm(a), lb = tl_vec3_norm(b), lc = tl_vec3_norm(c);
    double y = tl_vec3_dot(a, tl_vec3_cross(b, c));
    double x = la * lb * lc + tl_vec3_dot(a, b) * lc + tl_vec3_dot(b, c) * la + tl_vec3_dot(c, a) * lb;
    return atan2(y, x) / (2 * PI);
}

static double winding_of_leaf(const tl_triangle_tree *tree, int32_t leaf, tl_vec3 p)
{
    const tl_vec3 *v = tree->mesh->vertex;
    int64_t first = (int64_t)leaf * TL_TREE_LEAF;
    double sum = 0;
    for (int64_t i = first; i < first + TL_TREE_LEAF && i < tree->mesh->triangles; i++) {
        const int32_t *f = corners(tree, (int32_t)i);
        sum += tl_triangle_winding(p, v[f[0]], v[f[1]], v[f[2]]);
    }
    return sum;
}

double tl_triangle_tree_winding(const tl_triangle_tree *tree, tl_vec3 p)
{
    const double far = 3; /* radii; [Barill2018] use 2, which doubles the speed and the error */
    int32_t stack[64], top = 0;
    double sum = 0;
    stack[top++] = 1;
    while (top > 0) {
        int32_t node = stack[--top];
        const struct tl_tree_patch *patch = &tree->patch[node];
        tl_vec3 to = tl_vec3_sub(patch->center, p);
        double d = tl_vec3_norm(to);
        if (patch->area == 0 || d > far * patch->radius) {
            if (patch->area > 0) sum += tl_vec3_dot(to, patch->normal) / (4 * PI * d * d * d);
        } else if (node >= tree->leaves) {
            sum += winding_of_leaf(tree, node - tree->leaves, p);
        } else {
            stack[top++] = 2 * node;
            stack[top++] = 2 * node + 1;
        }
    }
    return sum;
}
