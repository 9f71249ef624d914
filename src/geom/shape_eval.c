#include "geom/mesh_distance.h"
#include "geom/polygon.h"
#include "geom/shape_node.h"

/* ---- pieces ---- */

static const tl_vec3 up = {0, 1, 0};

static double sphere_at(tl_vec3 p, double radius, tl_vec3 *g)
{
    if (g) *g = tl_vec3_normalize_or(p, up);
    return tl_vec3_norm(p) - radius;
}

/* From (r, y) around the y axis back to space. */
static void turn(tl_vec3 p, double r, const double g2[2], tl_vec3 *g)
{
    double x = r > 0 ? p.x / r : 1, z = r > 0 ? p.z / r : 0;
    *g = (tl_vec3){g2[0] * x, g2[1], g2[0] * z};
}

/* Two slabs at signed distances u and v, at right angles. */
static double slabs(double u, double v, double *gu, double *gv)
{
    if (u <= 0 && v <= 0) {
        *gu = u > v;
        *gv = !(u > v);
        return u > v ? u : v;
    }
    double a = tl_max(u, 0), b = tl_max(v, 0), d = sqrt(a * a + b * b);
    *gu = a / d;
    *gv = b / d;
    return d;
}

static double box_at(const tl_shape_node *n, tl_vec3 p, tl_vec3 *g)
{
    tl_vec3 q = {fabs(p.x) - n->a.x, fabs(p.y) - n->a.y, fabs(p.z) - n->a.z};
    tl_vec3 o = {tl_max(q.x, 0), tl_max(q.y, 0), tl_max(q.z, 0)};
    double out = tl_vec3_norm(o), in = tl_min(tl_max(q.x, tl_max(q.y, q.z)), 0);
    if (g) {
        tl_vec3 d =
            out > 0 ? tl_vec3_scale(1 / out, o) : (tl_vec3){q.x == in, q.x != in && q.y == in, q.x != in && q.y != in};
        *g = (tl_vec3){copysign(d.x, p.x), copysign(d.y, p.y), copysign(d.z, p.z)};
    }
    return out + in - n->r;
}

/* Nearest point x of the ellipsoid: x_i = e_i^2 p_i / (e_i^2 + t) with sum (x_i / e_i)^2 = 1. With s = t / e_min^2,
 * the secular equation in the form 1/|z(s)| = 1 is almost linear and Newton's steps rise to the root [MS83]. */
static double ellipsoid_at(const tl_shape_node *n, tl_vec3 point, tl_vec3 *g)
{
    double e[3] = {n->a.x, n->a.y, n->a.z}, p[3] = {fabs(point.x), fabs(point.y), fabs(point.z)}, z[3], r[3];
    double least = tl_min(e[0], tl_min(e[1], e[2])), s = -1;
    for (int i = 0; i < 3; i++) {
        z[i] = p[i] / e[i];
        r[i] = (e[i] / least) * (e[i] / least);
        s = tl_max(s, r[i] * (z[i] - 1)); /* no term alone exceeds 1 at the root */
    }

    bool middle = false; /* so near to the plane across the least axis that both halves are as near */
    for (int k = 0; k < 100; k++) {
        double sum = 0, slope = 0;
        for (int i = 0; i < 3; i++) {
            double w = s + r[i], y = w > 0 ? r[i] * z[i] / w : 0;
            sum += y * y;
            slope += y > 0 ? y * y / w : 0;
        }
        middle = sum < 1 && s <= -1;
        if (middle || slope == 0) break;
        double step = (sqrt(sum) - 1) * sum / slope;
        s += step;
        if (!(step > 1e-16 * (1 + fabs(s)))) break;
    }

    double d2 = 0, x[3], used = 0;
    int flat = e[0] == least ? 0 : e[1] == least ? 1 : 2;
    for (int i = 0; i < 3; i++) {
        double w = s + r[i];
        x[i] = w > 0 ? r[i] * p[i] / w : 0;
        used += x[i] / e[i] * (x[i] / e[i]);
        double d = w > 0 ? p[i] * s / w : p[i];
        if (!middle || i != flat) d2 += d * d;
    }
    if (middle) {
        x[flat] = e[flat] * sqrt(tl_max(0, 1 - used));
        d2 += (p[flat] - x[flat]) * (p[flat] - x[flat]);
    }
    if (g) {
        tl_vec3 m = {x[0] / (e[0] * e[0]), x[1] / (e[1] * e[1]), x[2] / (e[2] * e[2])};
        m = tl_vec3_normalize_or(m, up);
        *g = (tl_vec3){copysign(m.x, point.x), copysign(m.y, point.y), copysign(m.z, point.z)};
    }
    return copysign(sqrt(d2), s);
}

static double hemisphere_at(const tl_shape_node *n, tl_vec3 p, tl_vec3 *g)
{
    double r = sqrt(p.x * p.x + p.z * p.z), g2[2];
    if (p.y >= 0) {
        double d = tl_vec3_norm(p) - n->r;
        if (d >= -p.y) return sphere_at(p, n->r, g);
        if (g) *g = (tl_vec3){0, -1, 0};
        return -p.y;
    }
    double d = slabs(r - n->r, -p.y, &g2[0], &g2[1]);
    g2[1] = -g2[1];
    if (g) turn(p, r, g2, g);
    return d;
}

static double cylinder_at(const tl_shape_node *n, tl_vec3 p, tl_vec3 *g)
{
    double r = sqrt(p.x * p.x + p.z * p.z), g2[2];
    double d = slabs(r - n->r, fabs(p.y) - n->s, &g2[0], &g2[1]) - n->b.x;
    g2[1] = copysign(g2[1], p.y);
    if (g) turn(p, r, g2, g);
    return d;
}

/* The hull of two spheres. In the (radius, height) plane its side is a straight line whose normal leans by the radii's
 * difference. */
static double capsule_at(const tl_shape_node *n, tl_vec3 point, tl_vec3 *g)
{
    tl_vec3 p = tl_vec3_sub(point, n->a);
    if (n->q == 0) return sphere_at(p, n->r, g);
    double y = tl_vec3_dot(p, n->b);
    tl_vec3 out = tl_vec3_add_scaled(p, -y, n->b);
    double x = tl_vec3_norm(out), lean = (n->r - n->s) / n->q, flat = sqrt(1 - lean * lean);
    double center = y - x * lean / flat;
    if (center <= 0) return sphere_at(p, n->r, g);
    if (center >= n->q) return sphere_at(tl_vec3_add_scaled(p, -n->q, n->b), n->s, g);
    if (g) {
        tl_vec3 t1, t2;
        tl_vec3_tangents(n->b, &t1, &t2);
        *g = tl_vec3_add_scaled(tl_vec3_scale(flat, tl_vec3_normalize_or(out, t1)), lean, n->b);
    }
    return x * flat + y * lean - n->r;
}

static double lathe_at(int count, const double (*profile)[2], tl_vec3 p, tl_vec3 *g)
{
    double r = sqrt(p.x * p.x + p.z * p.z), g2[2];
    double d = tl_polygon_distance(count, profile, true, r, p.y, g ? g2 : NULL);
    if (g) turn(p, r, g2, g);
    return d;
}

static double cone_at(const tl_shape_node *n, tl_vec3 p, tl_vec3 *g)
{
    double h = n->q, trapezoid[4][2] = {{0, -h}, {n->r, -h}, {n->s, h}, {0, h}};
    if (n->s == 0) return lathe_at(3, (const double(*)[2])trapezoid, p, g);
    if (n->r == 0) return lathe_at(3, (const double(*)[2])(trapezoid + 1), p, g);
    return lathe_at(4, (const double(*)[2])trapezoid, p, g);
}

static double torus_at(const tl_shape_node *n, tl_vec3 p, tl_vec3 *g)
{
    double r = sqrt(p.x * p.x + p.z * p.z), u = r - n->r, d = sqrt(u * u + p.y * p.y);
    double g2[2] = {d > 0 ? u / d : 1, d > 0 ? p.y / d : 0};
    if (g) turn(p, r, g2, g);
    return d - n->s;
}

static double extrude_at(const tl_shape_tree *t, const tl_shape_node *n, tl_vec3 p, tl_vec3 *g)
{
    double g2[2], gu, gv;
    double u = tl_polygon_distance(n->count, (const double(*)[2])(t->point + n->first), false, p.x, p.z, g ? g2 : NULL);
    double d = slabs(u, fabs(p.y) - n->q, &gu, &gv);
    if (g) *g = (tl_vec3){gu * g2[0], copysign(gv, p.y), gu * g2[1]};
    return d;
}

static double mesh_at(const tl_mesh_distance *m, tl_vec3 p, tl_vec3 *g)
{
    double d = tl_mesh_distance_at(m, p);
    if (!g) return d;
    int32_t k;
    tl_vec3 away = tl_vec3_sub(p, tl_mesh_distance_nearest(m, p, &k));
    const tl_trimesh *mesh = tl_mesh_distance_mesh(m);
    const tl_vec3 *v = mesh->vertex;
    const int32_t *c = mesh->triangle[k];
    if (fabs(d) > 1e-9 * tl_vec3_max_abs(p)) { /* nearer, the difference is mostly rounding */
        *g = tl_vec3_normalize_or(tl_vec3_scale(d < 0 ? -1 : 1, away), up);
    } else {
        *g = tl_vec3_normalize_or(tl_vec3_cross(tl_vec3_sub(v[c[1]], v[c[0]]), tl_vec3_sub(v[c[2]], v[c[0]])), up);
    }
    return d;
}

/* ---- many children ---- */

/* A child's distance, not less than its box's (see tl_shape_node.exact). */
static double child_at(const tl_shape_tree *t, int node, double box, tl_vec3 p, tl_vec3 *g)
{
    const tl_shape_node *n = &t->node[node];
    double d = tl_shape_eval(t, node, p, g);
    if (n->exact || d >= box) return d;
    if (g) {
        tl_vec3 nearest = tl_vec3_min(tl_vec3_max(p, n->box.lo), n->box.hi);
        *g = tl_vec3_normalize_or(tl_vec3_sub(p, nearest), up);
    }
    return box;
}

/* Calls `visit` for the children whose boxes are nearer than *limit, which falls during the walk. */
typedef struct visitor {
    double limit; /* a box at this distance or beyond cannot matter */
    double best;
    tl_vec3 gradient;
    tl_shape_blend *blend; /* NULL: plain minimum */
} visitor;

static void visit(const tl_shape_tree *t, int child, double box, tl_vec3 p, bool slope, visitor *v)
{
    tl_vec3 g;
    double d = child_at(t, child, box, p, slope ? &g : NULL);
    if (v->blend) {
        if (d < v->limit) tl_shape_blend_add(v->blend, d, slope ? &g : NULL);
        v->limit = tl_shape_blend_limit(v->blend);
    } else if (d < v->best) {
        v->best = v->limit = d;
        if (slope) v->gradient = g;
    }
}

static void visit_all(const tl_shape_tree *t, const tl_shape_node *n, tl_vec3 p, bool slope, visitor *v)
{
    if (n->bvh < 0) {
        for (int i = 0; i < n->count; i++) {
            int child = t->child[n->first + i];
            double box = tl_box3_distance(&t->node[child].box, p);
            if (box < v->limit) visit(t, child, box, p, slope, v);
        }
        return;
    }
    struct {
        int32_t entry;
        double box;
    } stack[64]; /* halved at every level: one entry per level waits */
    int top = 0;
    stack[top].entry = n->bvh;
    stack[top++].box = tl_box3_distance(&t->bvh[n->bvh].box, p);
    while (top > 0) {
        double box = stack[--top].box;
        if (box >= v->limit) continue;
        int32_t at = stack[top].entry;
        const tl_shape_bvh *e = &t->bvh[at];
        if (e->child >= 0) {
            visit(t, e->child, box, p, slope, v);
            continue;
        }
        double first = tl_box3_distance(&t->bvh[at + 1].box, p), second = tl_box3_distance(&t->bvh[e->second].box, p);
        bool swap = second < first; /* the nearer half goes on top */
        stack[top].entry = swap ? at + 1 : e->second;
        stack[top++].box = swap ? first : second;
        stack[top].entry = swap ? e->second : at + 1;
        stack[top++].box = swap ? second : first;
    }
}

static double union_at(const tl_shape_tree *t, const tl_shape_node *n, tl_vec3 p, tl_vec3 *g)
{
    visitor v = {.limit = INFINITY, .best = INFINITY};
    visit_all(t, n, p, g != NULL, &v);
    if (g) *g = v.gradient;
    return v.best;
}

void tl_shape_blend_add(tl_shape_blend *b, double value, const tl_vec3 *gradient)
{
    if (b->count == TL_BLEND_MAX && value >= b->value[TL_BLEND_MAX - 1]) return;
    int i = b->count < TL_BLEND_MAX ? b->count++ : TL_BLEND_MAX - 1;
    for (; i > 0 && b->value[i - 1] > value; i--) {
        b->value[i] = b->value[i - 1];
        if (gradient) b->gradient[i] = b->gradient[i - 1];
    }
    b->value[i] = value;
    if (gradient) b->gradient[i] = *gradient;
}

double tl_shape_blend_end(const tl_shape_blend *b, tl_vec3 *gradient)
{
    /* w_i = (level - d_i) / k where positive; sums of d - d_0 keep the digits */
    double k = b->width, sum = 0, level = k;
    int m = 1;
    for (; m < b->count; m++) {
        double d = b->value[m] - b->value[0];
        if (d >= level) break;
        sum += d;
        level = (k + sum) / (m + 1);
    }
    double out = 0, squares = 0;
    if (gradient) *gradient = (tl_vec3){0, 0, 0};
    for (int i = 0; i < m; i++) {
        double d = b->value[i] - b->value[0], w = k > 0 ? (level - d) / k : 1;
        out += w * d;
        squares += w * w;
        if (gradient) *gradient = tl_vec3_add_scaled(*gradient, w, b->gradient[i]);
    }
    return b->value[0] + out + 0.5 * k * (squares - 1);
}

static double smooth_union_at(const tl_shape_tree *t, const tl_shape_node *n, tl_vec3 p, tl_vec3 *g)
{
    tl_shape_blend b;
    tl_shape_blend_begin(&b, n->q);
    visitor v = {.limit = INFINITY, .best = INFINITY, .blend = &b};
    visit_all(t, n, p, g != NULL, &v);
    return tl_shape_blend_end(&b, g);
}

static double intersect_at(const tl_shape_tree *t, const tl_shape_node *n, tl_vec3 p, tl_vec3 *g)
{
    double d = -INFINITY;
    for (int i = 0; i < n->count; i++) {
        tl_vec3 gi;
        double di = tl_shape_eval(t, t->child[n->first + i], p, g ? &gi : NULL);
        if (di > d) {
            d = di;
            if (g) *g = gi;
        }
    }
    return d;
}

/* Children: what is cut, then what is taken away. */
static double subtract_at(const tl_shape_tree *t, const tl_shape_node *n, tl_vec3 p, tl_vec3 *g)
{
    double d = tl_shape_eval(t, t->child[n->first], p, g);
    tl_shape_node rest = {.first = n->first + 1, .count = n->count - 1, .bvh = n->bvh};
    visitor v = {.limit = -d, .best = -d}; /* only what reaches above d matters */
    visit_all(t, &rest, p, g != NULL, &v);
    if (-v.best > d && g) *g = tl_vec3_neg(v.gradient);
    return tl_max(d, -v.best);
}

static double smooth_subtract_at(const tl_shape_tree *t, const tl_shape_node *n, tl_vec3 p, tl_vec3 *g)
{
    tl_vec3 ga, gb;
    double a = -tl_shape_eval(t, t->child[n->first], p, g ? &ga : NULL);
    double b = tl_shape_eval(t, t->child[n->first + 1], p, g ? &gb : NULL);
    if (g) ga = tl_vec3_neg(ga);
    tl_shape_blend s;
    tl_shape_blend_begin(&s, n->q);
    tl_shape_blend_add(&s, a, g ? &ga : NULL);
    tl_shape_blend_add(&s, b, g ? &gb : NULL);
    double d = -tl_shape_blend_end(&s, g);
    if (g) *g = tl_vec3_neg(*g);
    return d;
}

static double mirror_at(const tl_shape_tree *t, const tl_shape_node *n, tl_vec3 p, tl_vec3 *g)
{
    tl_vec3 s = {n->count == 0 ? -1 : 1, n->count == 1 ? -1 : 1, n->count == 2 ? -1 : 1}, q = tl_vec3_mul(s, p), gq;
    int child = t->child[n->first];
    const tl_box3 *box = &t->node[child].box;
    double bp = tl_box3_distance(box, p), bq = tl_box3_distance(box, q);
    bool flipped = bq < bp; /* the nearer box first */
    double d = child_at(t, child, flipped ? bq : bp, flipped ? q : p, g);
    if (g && flipped) *g = tl_vec3_mul(s, *g);
    if ((flipped ? bp : bq) >= d) return d;
    double other = child_at(t, child, flipped ? bp : bq, flipped ? p : q, g ? &gq : NULL);
    if (other < d && g) *g = flipped ? gq : tl_vec3_mul(s, gq);
    return tl_min(d, other);
}

/* ---- the tree ---- */

static double place_at(const tl_shape_tree *t, const tl_shape_node *n, tl_vec3 p, tl_vec3 *g)
{
    tl_vec3 q = tl_vec3_scale(1 / n->q, tl_mat3_tmul_vec(n->R, tl_vec3_sub(p, n->a)));
    double d = n->q * tl_shape_eval(t, t->child[n->first], q, g);
    if (g) *g = tl_mat3_mul_vec(n->R, *g);
    return d;
}

static double stretch_at(const tl_shape_tree *t, const tl_shape_node *n, tl_vec3 p, tl_vec3 *g)
{
    tl_vec3 q = {p.x / n->a.x, p.y / n->a.y, p.z / n->a.z};
    double d = n->q * tl_shape_eval(t, t->child[n->first], q, g), box = tl_box3_distance(&n->box, p);
    if (g) *g = (tl_vec3){g->x * n->q / n->a.x, g->y * n->q / n->a.y, g->z * n->q / n->a.z};
    if (d >= box || box <= 0) return d;
    if (g) *g = tl_vec3_normalize_or(tl_vec3_sub(p, tl_vec3_min(tl_vec3_max(p, n->box.lo), n->box.hi)), up);
    return box;
}

static double shell_at(const tl_shape_tree *t, const tl_shape_node *n, tl_vec3 p, tl_vec3 *g)
{
    double d = tl_shape_eval(t, t->child[n->first], p, g);
    if (d >= -0.5 * n->q) return d;
    if (g) *g = tl_vec3_neg(*g);
    return -(d + n->q);
}

double tl_shape_eval(const tl_shape_tree *t, int node, tl_vec3 p, tl_vec3 *g)
{
    const tl_shape_node *n = &t->node[node];
    switch (n->op) {
    case OP_BOX: return box_at(n, p, g);
    case OP_SPHERE: return sphere_at(p, n->r, g);
    case OP_ELLIPSOID: return ellipsoid_at(n, p, g);
    case OP_HEMISPHERE: return hemisphere_at(n, p, g);
    case OP_CYLINDER: return cylinder_at(n, p, g);
    case OP_CAPSULE: return capsule_at(n, p, g);
    case OP_CONE: return cone_at(n, p, g);
    case OP_TORUS: return torus_at(n, p, g);
    case OP_HALF_SPACE:
        if (g) *g = n->a;
        return tl_vec3_dot(n->a, p) - n->q;
    case OP_REVOLVE: return lathe_at(n->count, (const double(*)[2])(t->point + n->first), p, g);
    case OP_EXTRUDE: return extrude_at(t, n, p, g);
    case OP_MESH: return mesh_at(t->mesh[n->first].distance, p, g);
    case OP_UNION: return union_at(t, n, p, g);
    case OP_INTERSECT: return intersect_at(t, n, p, g);
    case OP_SUBTRACT: return subtract_at(t, n, p, g);
    case OP_SMOOTH_UNION: return smooth_union_at(t, n, p, g);
    case OP_SMOOTH_SUBTRACT: return smooth_subtract_at(t, n, p, g);
    case OP_SHELL: return shell_at(t, n, p, g);
    case OP_OFFSET: return tl_shape_eval(t, t->child[n->first], p, g) - n->q;
    case OP_PLACE: return place_at(t, n, p, g);
    case OP_STRETCH: return stretch_at(t, n, p, g);
    case OP_MIRROR: return mirror_at(t, n, p, g);
    }
    return INFINITY;
}

double tl_shape_distance(const tl_shape_tree *t, int node, tl_vec3 p) { return tl_shape_eval(t, node, p, NULL); }

tl_vec3 tl_shape_gradient(const tl_shape_tree *t, int node, tl_vec3 p)
{
    tl_vec3 g = up;
    tl_shape_eval(t, node, p, &g);
    return tl_vec3_normalize_or(g, up);
}
