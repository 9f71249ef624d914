#include "geom/collide/general.h"

#include "base/alloc.h"
#include "geom/mesh_distance.h"
#include "geom/shape_node.h"
#include "geom/surface.h"

#define FLAT_COS (1 - 1e-7) /* 0.03 degrees: rounding of distances from differences, not bends */
#define SMOOTH_COS 0.95     /* 18 degrees over 0.15 spacings: an edge, not a bend */
#define ROUND_CORNERS                                                                                                  \
    24 /* of an extruded polygon, from which on one with all corners on a circle is meant to be round */

/* Spacing of samples and field: an edge takes 24 to 64 of them, as many as the smallest feature asks for. */
static double default_cell(const tl_shape_tree *t, int node)
{
    tl_box3 box = tl_shape_bounds(t, node);
    double edge = tl_vec3_max_abs(tl_vec3_sub(box.hi, box.lo)), feature = tl_shape_feature_size(t, node);
    return tl_max(tl_min(edge / 24, 0.7 * feature), edge / 64);
}

/* ---- the tree of balls ---- */

static double coordinate(tl_vec3 p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

static void swap(struct tl_general *g, int32_t i, int32_t j)
{
    tl_vec3 p = g->at[i], n = g->normal[i];
    g->at[i] = g->at[j];
    g->normal[i] = g->normal[j];
    g->at[j] = p;
    g->normal[j] = n;
}

/* Order samples lo .. hi such that none before `middle` is greater along the axis than any after. */
static void split(struct tl_general *g, int32_t lo, int32_t hi, int32_t middle, int axis)
{
    while (hi - lo > 1) {
        double pivot = coordinate(g->at[lo + (hi - lo) / 2], axis);
        int32_t i = lo, j = hi - 1;
        while (i <= j) {
            while (coordinate(g->at[i], axis) < pivot) i++;
            while (coordinate(g->at[j], axis) > pivot) j--;
            if (i <= j) swap(g, i++, j--);
        }
        if (middle <= j)
            hi = j + 1;
        else if (middle >= i)
            lo = i;
        else
            return;
    }
}

static void build(struct tl_general *g, int32_t first, int32_t count)
{
    tl_ball *b = &g->ball[g->balls++];
    tl_vec3 lo = g->at[first], hi = lo;
    for (int32_t i = first; i < first + count; i++) {
        lo = tl_vec3_min(lo, g->at[i]);
        hi = tl_vec3_max(hi, g->at[i]);
    }
    *b = (tl_ball){.centre = tl_vec3_scale(0.5, tl_vec3_add(lo, hi)), .first = first};
    for (int32_t i = first; i < first + count; i++)
        b->radius = tl_max(b->radius, tl_vec3_norm(tl_vec3_sub(g->at[i], b->centre)));
    if (count <= TL_BALL_LEAF) {
        b->count = count;
    } else {
        tl_vec3 e = tl_vec3_sub(hi, lo);
        int axis = e.x >= e.y && e.x >= e.z ? 0 : e.y >= e.z ? 1 : 2;
        split(g, first, first + count, first + count / 2, axis);
        build(g, first, count / 2);
        build(g, first + count / 2, count - count / 2);
    }
    b->next = g->balls;
}

/* Smallest cosine between a sample's normal and those `aside` in four directions, read a little way inside. */
static double bends(const struct tl_general *g, int32_t i, double inside, double aside)
{
    tl_vec3 n = g->normal[i], at = tl_vec3_add_scaled(g->at[i], -inside, n), t[2];
    double least = 1;
    tl_vec3_tangents(n, &t[0], &t[1]);
    for (int k = 0; k < 4; k++) {
        tl_vec3 p = tl_vec3_add_scaled(at, k % 2 ? aside : -aside, t[k / 2]);
        least = tl_min(least, tl_vec3_dot(tl_shape_gradient(g->field.t, g->field.node, p), n));
    }
    return least;
}

static bool has_mesh(const tl_shape_tree *t, int node)
{
    const tl_shape_node *n = &t->node[node];
    bool found = n->op == OP_MESH;
    for (int k = 0; n->op >= OP_UNION && k < (n->op == OP_MIRROR ? 1 : n->count) && !found; k++)
        found = has_mesh(t, t->child[n->first + k]);
    return found;
}

/* Meshes are as their facets are: they have no curved faces. */
static uint8_t flatness(const struct tl_general *g, int32_t i, bool mesh)
{
    const double h = g->spacing;
    if (bends(g, i, 0.1 * h, 0.5 * h) >= FLAT_COS) return TL_FLAT;
    return !mesh && bends(g, i, 0.05 * h, 0.15 * h) > SMOOTH_COS ? TL_CURVED : TL_NOT_FLAT;
}

static void find_flat(struct tl_general *g)
{
    const bool mesh = has_mesh(g->field.t, g->field.node);
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t k = 0; k < g->balls; k++) {
        const tl_ball *b = &g->ball[k];
        bool alike = true;
        for (int32_t i = b->first; i < b->first + b->count; i++) {
            g->flat[i] = flatness(g, i, mesh);
            for (int32_t j = b->first; j < i; j++)
                alike &= g->flat[i] != TL_FLAT || g->flat[j] != TL_FLAT ||
                         tl_vec3_dot(g->normal[i], g->normal[j]) > FLAT_COS;
        }
        for (int32_t i = b->first; i < b->first + b->count; i++)
            if (g->flat[i] == TL_FLAT && alike) g->flat[i] = TL_FLAT_LEAF;
    }
}

/* ---- what marching rounds off ---- */

/* The primitive under all placements, which together are p -> scale R p + at. */
typedef struct placement {
    const tl_shape_node *n;
    tl_mat3 R;
    tl_vec3 at;
    double scale;
} placement;

static placement unplace(const tl_shape_tree *t, int node)
{
    placement x = {&t->node[node], tl_mat3_identity(), {0, 0, 0}, 1};
    for (; x.n->op == OP_PLACE; x.n = &t->node[t->child[x.n->first]]) {
        x.at = tl_vec3_add_scaled(x.at, x.scale, tl_mat3_mul_vec(x.R, x.n->a));
        x.R = tl_mat3_mul(x.R, x.n->R);
        x.scale *= x.n->q;
    }
    return x;
}

/* A rim of the primitive's frame: around y at height y. Left out where the whole shape has cut it off or covers it. */
static void add_rim(struct tl_general *g, const placement *x, double y, double radius, double tube, double up,
                    double outward)
{
    if (g->rims == TL_RIMS_MAX || !(radius + tube > 0)) return;
    tl_vec3 axis = tl_mat3_column(x->R, 1), u = tl_mat3_column(x->R, 0), v = tl_mat3_column(x->R, 2);
    tl_rim rim = {tl_vec3_add_scaled(x->at, x->scale * y, axis), tl_vec3_scale(up, axis), x->scale * radius,
                  x->scale * tube, outward};
    for (int k = 0; k < 32; k++) {
        double angle = k * (6.283185307179586 / 32);
        tl_vec3 out = tl_vec3_add_scaled(tl_vec3_scale(cos(angle), u), sin(angle), v);
        tl_vec3 way = tl_vec3_normalize(tl_vec3_add_scaled(rim.axis, outward, out)),
                at = tl_vec3_add_scaled(rim.centre, rim.radius, out);
        double d = tl_shape_distance(g->field.t, g->field.node, tl_vec3_add_scaled(at, rim.tube, way));
        if (fabs(d) > 1e-6 * (rim.radius + rim.tube)) return;
    }
    g->rim[g->rims++] = rim;
}

/* Corners of a profile that stand out, as circles; those on the axis are points, and samples. */
static void add_profile_rims(struct tl_general *g, const placement *x)
{
    const tl_shape_node *n = x->n;
    const double(*p)[2] = (const double(*)[2])g->field.t->point + n->first;
    double area = 0;
    for (int k = 0; k < n->count; k++) {
        const double *a = p[k], *b = p[(k + 1) % n->count];
        area += a[0] * b[1] - a[1] * b[0];
    }
    for (int k = 0; k < n->count; k++) {
        const double *a = p[(k + n->count - 1) % n->count], *b = p[k], *c = p[(k + 1) % n->count];
        double turn = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
        /* out of the profile at this corner: across the line between its neighbours */
        double outward = copysign(1, area * (c[1] - a[1])), up = copysign(1, area * (a[0] - c[0]));
        if (turn * area > 0 && b[0] > 0) add_rim(g, x, b[1], b[0], 0, up, outward);
    }
}

/* Rims of all primitives that the shape is made of; what is cut out of it has none that it would roll on. */
static void find_rims(struct tl_general *g, placement x)
{
    const tl_shape_tree *t = g->field.t;
    for (; x.n->op == OP_PLACE; x.n = &t->node[t->child[x.n->first]]) {
        x.at = tl_vec3_add_scaled(x.at, x.scale, tl_mat3_mul_vec(x.R, x.n->a));
        x.R = tl_mat3_mul(x.R, x.n->R);
        x.scale *= x.n->q;
    }
    const tl_shape_node *n = x.n;
    switch (n->op) {
    case OP_CYLINDER:
        add_rim(g, &x, -n->s, n->r, n->b.x, -1, 1);
        add_rim(g, &x, n->s, n->r, n->b.x, 1, 1);
        break;
    case OP_CONE:
        if (n->r > 0) add_rim(g, &x, -n->q, n->r, 0, -1, 1);
        if (n->s > 0) add_rim(g, &x, n->q, n->s, 0, 1, 1);
        break;
    case OP_HEMISPHERE: add_rim(g, &x, 0, n->r, 0, -1, 1); break;
    case OP_TORUS: add_rim(g, &x, 0, n->r, n->s, 1, 1); break;
    case OP_CAPSULE: {
        placement end = x;
        tl_vec3 along = tl_mat3_mul_vec(x.R, n->b), u, v;
        tl_vec3_tangents(along, &u, &v);
        end.R = tl_mat3_from_columns(v, along, u);
        end.at = tl_vec3_add_scaled(x.at, x.scale, tl_mat3_mul_vec(x.R, n->a));
        add_rim(g, &end, 0, 0, n->r, -1, 1);
        if (n->q > 0) add_rim(g, &end, n->q, 0, n->s, 1, 1);
        break;
    }
    case OP_REVOLVE: add_profile_rims(g, &x); break;
    case OP_UNION:
    case OP_INTERSECT:
    case OP_SUBTRACT:
    case OP_SHELL:
        for (int k = 0; k < (n->op == OP_SUBTRACT ? 1 : n->count); k++) {
            placement part = x;
            part.n = &t->node[t->child[n->first + k]];
            find_rims(g, part);
        }
        break;
    default: break;
    }
}

/* A cylinder, rounded or not, or a capsule of one radius. */
static void find_tube(struct tl_general *g, const placement *x)
{
    const tl_shape_node *n = x->n;
    tl_vec3 from = {0, -n->s, 0}, along = {0, 1, 0};
    double length = 2 * n->s, radius = n->r + n->b.x;
    if (n->op == OP_CAPSULE && n->r == n->s && n->q > 0) {
        from = n->a;
        along = n->b;
        length = n->q;
        radius = n->r;
    } else if (n->op != OP_CYLINDER)
        return;
    g->complete = g->rims == 2;
    g->tube = (tl_tube){tl_vec3_add_scaled(x->at, x->scale, tl_mat3_mul_vec(x->R, from)), tl_mat3_mul_vec(x->R, along),
                        x->scale * length, x->scale * radius};
}

/* Samples on a rim, which speaks for them. */
static void mark_rims(struct tl_general *g)
{
    for (int32_t i = 0; i < g->samples; i++)
        for (int k = 0; k < g->rims; k++) {
            const tl_rim *rim = &g->rim[k];
            tl_vec3 d = tl_vec3_sub(g->at[i], rim->centre);
            double up = tl_vec3_dot(d, rim->axis), out = tl_vec3_norm(tl_vec3_add_scaled(d, -up, rim->axis));
            if (rim->tube == 0 && hypot(up, out - rim->radius) < 0.02 * g->spacing) g->on_rim[i] = (uint8_t)(k + 1);
        }
}

/* ---- what turning does not move ---- */

/* All axes that a shape may be turned about without changing: none, one line, all lines through a point. */
typedef struct turning {
    enum { NO_AXIS, ONE_AXIS, ANY_AXIS } kind;
    tl_vec3 at, along; /* unit */
} turning;

static turning both(turning a, turning b, double size)
{
    const turning none = {.kind = NO_AXIS};
    tl_vec3 d = tl_vec3_sub(b.at, a.at);
    double far = tl_vec3_norm(d);
    if (a.kind == NO_AXIS || b.kind == NO_AXIS) return none;
    if (a.kind == ANY_AXIS && b.kind == ANY_AXIS)
        return far > size ? (turning){ONE_AXIS, a.at, tl_vec3_scale(1 / far, d)} : a;
    turning line = a.kind == ONE_AXIS ? a : b;
    bool meet = tl_vec3_norm(tl_vec3_cross(line.along, d)) <= size,
         parallel = a.kind != b.kind || tl_vec3_norm(tl_vec3_cross(a.along, b.along)) <= 1e-9;
    return meet && parallel ? line : none;
}

/* Of a node placed by x; places that differ by less than `size` are the same. */
static turning turning_of(const tl_shape_tree *t, placement x, double size)
{
    for (; x.n->op == OP_PLACE; x.n = &t->node[t->child[x.n->first]]) {
        x.at = tl_vec3_add_scaled(x.at, x.scale, tl_mat3_mul_vec(x.R, x.n->a));
        x.R = tl_mat3_mul(x.R, x.n->R);
        x.scale *= x.n->q;
    }
    const tl_shape_node *n = x.n;
    turning out = {.kind = NO_AXIS, .at = x.at, .along = tl_mat3_column(x.R, 1)};
    switch (n->op) {
    case OP_SPHERE: out.kind = ANY_AXIS; break;
    case OP_ELLIPSOID:
        for (int k = 0; k < 3; k++) {
            double r[3] = {n->a.x, n->a.y, n->a.z};
            if (r[(k + 1) % 3] != r[(k + 2) % 3]) continue;
            out.kind = ONE_AXIS;
            out.along = tl_mat3_column(x.R, k);
        }
        break;
    case OP_HEMISPHERE:
    case OP_CYLINDER:
    case OP_CONE:
    case OP_TORUS:
    case OP_REVOLVE: out.kind = ONE_AXIS; break;
    case OP_CAPSULE:
        out.kind = n->q > 0 ? ONE_AXIS : ANY_AXIS;
        out.at = tl_vec3_add_scaled(x.at, x.scale, tl_mat3_mul_vec(x.R, n->a));
        out.along = tl_mat3_mul_vec(x.R, n->b);
        break;
    case OP_UNION:
    case OP_INTERSECT:
    case OP_SUBTRACT:
    case OP_SMOOTH_UNION:
    case OP_SMOOTH_SUBTRACT:
    case OP_SHELL:
    case OP_OFFSET:
        for (int k = 0; k < n->count; k++) {
            placement part = x;
            part.n = &t->node[t->child[n->first + k]];
            turning one = turning_of(t, part, size);
            out = k ? both(out, one, size) : one;
        }
        break;
    default: break;
    }
    return out;
}

bool tl_general_axis(const struct tl_general *g, tl_vec3 centre, tl_vec3 *axis)
{
    const tl_shape_tree *t = g->field.t;
    double size = 1e-6 * tl_vec3_norm(tl_vec3_sub(g->field.box.hi, g->field.box.lo));
    turning x = turning_of(t, (placement){&t->node[g->field.node], tl_mat3_identity(), {0, 0, 0}, 1}, size);
    if (x.kind == ANY_AXIS) x.along = tl_vec3_normalize_or(tl_vec3_sub(centre, x.at), (tl_vec3){0, 1, 0});
    *axis = x.along;
    return x.kind != NO_AXIS && tl_vec3_norm(tl_vec3_cross(x.along, tl_vec3_sub(centre, x.at))) <= size;
}

/* ---- what stands for a shape ---- */

/* Corners of an extruded polygon on one circle, and enough of them. */
static bool is_round(const tl_shape_tree *t, const tl_shape_node *n, double middle[2], double *radius)
{
    if (n->op != OP_EXTRUDE || n->count < ROUND_CORNERS) return false;
    const double(*p)[2] = (const double(*)[2])t->point + n->first;
    double least = INFINITY, max = 0, edge = 0;
    middle[0] = middle[1] = 0;
    for (int k = 0; k < n->count; k++) middle[0] += p[k][0] / n->count, middle[1] += p[k][1] / n->count;
    for (int k = 0; k < n->count; k++) {
        const double *q = p[(k + 1) % n->count];
        double r = hypot(p[k][0] - middle[0], p[k][1] - middle[1]);
        least = tl_min(least, r);
        max = tl_max(max, r);
        edge = tl_max(edge, hypot(q[0] - p[k][0], q[1] - p[k][1]));
    }
    *radius = max;
    return max - least <= 1e-3 * max && edge <= 6.3 / ROUND_CORNERS * max;
}

/* The cylinder around such a polygon, in the place of the shape. */
static talus_status make_round(struct tl_general *g, const tl_shape_tree **t, int *node, talus_error *err)
{
    placement x = unplace(*t, *node);
    double middle[2], radius;
    if (!is_round(*t, x.n, middle, &radius)) return TALUS_OK;
    g->round = tl_shape_tree_create();
    if (!g->round) return TL_FAIL(err, TALUS_NO_MEMORY, "collider: no memory");
    tl_vec3 at = tl_vec3_add_scaled(x.at, x.scale, tl_mat3_mul_vec(x.R, (tl_vec3){middle[0], 0, middle[1]}));
    tl_quat q = tl_quat_from_mat3(x.R);
    talus_error why;
    int wheel = tl_shape_cylinder(g->round, radius, 2 * x.n->q, 0, &why);
    if (wheel >= 0) wheel = tl_shape_place(g->round, wheel, at, (const double[4]){q.w, q.x, q.y, q.z}, x.scale, &why);
    if (wheel < 0) return TL_FAIL(err, why.status, "%s", why.message);
    *t = g->round;
    *node = wheel;
    return TALUS_OK;
}

#define CORNERS_MAX 256

/* Tips and corners by their definition: sharp ones are cut off where they are thinner than the spacing. Returns
 * their number. */
static int find_corners(const tl_shape_tree *t, const placement *x, tl_vec3 corner[CORNERS_MAX])
{
    const tl_shape_node *n = x->n;
    int count = 0;
    if (n->op == OP_CONE) {
        if (n->r == 0) corner[count++] = (tl_vec3){0, -n->q, 0};
        if (n->s == 0) corner[count++] = (tl_vec3){0, n->q, 0};
    } else if (n->op == OP_EXTRUDE && 2 * n->count <= CORNERS_MAX) {
        for (int k = 0; k < 2 * n->count; k++) {
            const double *p = t->point[n->first + k / 2];
            corner[count++] = (tl_vec3){p[0], k % 2 ? n->q : -n->q, p[1]};
        }
    } else if (n->op == OP_REVOLVE) {
        for (int k = 0; k < n->count && count < CORNERS_MAX; k++)
            if (t->point[n->first + k][0] == 0) corner[count++] = (tl_vec3){0, t->point[n->first + k][1], 0};
    } else if (n->op == OP_MESH) {
        const tl_trimesh *m = tl_mesh_distance_mesh(t->mesh[n->first].distance);
        for (int k = 0; k < m->vertices && m->vertices <= CORNERS_MAX; k++) corner[count++] = m->vertex[k];
    }
    for (int k = 0; k < count; k++) corner[k] = tl_vec3_add_scaled(x->at, x->scale, tl_mat3_mul_vec(x->R, corner[k]));
    return count;
}

/* Those that are not samples already. Seen from a little way outside, away from the middle, a tip's normal points at
 * the viewer. */
static void add_corners(struct tl_general *g, int count, const tl_vec3 *corner)
{
    int32_t marched = g->samples;
    const tl_field *f = &g->field;
    tl_vec3 middle = tl_vec3_scale(0.5, tl_vec3_add(f->box.lo, f->box.hi));
    for (int k = 0; k < count; k++) {
        bool known = false;
        for (int32_t i = 0; i < marched; i++)
            known |= tl_vec3_norm(tl_vec3_sub(g->at[i], corner[k])) < 1e-6 * g->spacing;
        if (known) continue;
        tl_vec3 out = tl_vec3_normalize_or(tl_vec3_sub(corner[k], middle), (tl_vec3){0, 1, 0});
        g->at[g->samples] = corner[k];
        g->normal[g->samples++] =
            tl_shape_gradient(f->t, f->node, tl_vec3_add_scaled(corner[k], 0.1 * g->spacing, out));
    }
}

/* Samples onto the surface that the field has: a point of A and the distance of B then speak of one pair of solids,
 * and a contact moves without doing work. Not further than half a spacing, which thin parts that the field has lost
 * would be. */
static void settle(struct tl_general *g)
{
    const tl_field *f = &g->field;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < g->samples; i++) {
        tl_vec3 p = g->at[i], slope;
        for (int step = 0; step < 6; step++) {
            double d = tl_field_at(f, p, &slope), s2 = tl_vec3_norm2(slope);
            if (fabs(d) < 1e-9 * g->spacing || !(s2 > 0.01)) break;
            p = tl_vec3_add_scaled(p, -d / s2, slope);
        }
        if (!(tl_vec3_norm(tl_vec3_sub(p, g->at[i])) < 0.5 * g->spacing)) continue;
        tl_field_at(f, p, &slope);
        g->at[i] = p;
        g->normal[i] = tl_vec3_normalize_or(slope, g->normal[i]);
    }
}

/* ---- life ---- */

static talus_status make(struct tl_general *g, const tl_shape_tree *t, int node, double cell, talus_error *err)
{
    TL_TRY(make_round(g, &t, &node, err));
    TL_TRY(tl_field_create(&g->field, t, node, cell, err));
    tl_points p;
    tl_vec3 corner[CORNERS_MAX];
    placement x = unplace(t, node);
    int corners = find_corners(t, &x, corner);
    TL_TRY(tl_sample_surface(t, node, cell, 0, TL_SAMPLE_LATTICE, 0, &p, err));
    g->spacing = cell;
    int32_t max = p.count + corners;
    g->at = TL_NEW(tl_vec3, max + 1);
    g->normal = TL_NEW(tl_vec3, max + 1);
    g->flat = TL_NEW(uint8_t, max + 1);
    g->on_rim = TL_NEW_ZERO(uint8_t, max + 1);
    g->ball = TL_NEW(tl_ball, 2 * (int64_t)max + 1);
    if (!g->at || !g->normal || !g->flat || !g->on_rim || !g->ball) {
        tl_points_free(&p);
        return TL_FAIL(err, TALUS_NO_MEMORY, "collider: no memory for %d surface points", max);
    }
    for (int32_t i = 0; i < p.count; i++) {
        g->at[i] = p.at[i];
        g->normal[i] = p.normal[i];
    }
    g->samples = p.count;
    tl_points_free(&p);
    if (g->samples == 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "collider: the shape is empty, or thinner than %g m", cell);
    add_corners(g, corners, corner);
    if (!g->field.exact) settle(g);
    build(g, 0, g->samples);
    find_flat(g);
    find_rims(g, (placement){&t->node[node], tl_mat3_identity(), {0, 0, 0}, 1});
    mark_rims(g);
    find_tube(g, &x);
    return TALUS_OK;
}

talus_status tl_general_create(struct tl_general **out, const tl_shape_tree *t, int node, double cell, talus_error *err)
{
    *out = NULL;
    if (!tl_shape_bounded(t, node))
        return TL_FAIL(err, TALUS_BAD_INPUT, "collider: a shape that is not a half-space must be bounded");
    struct tl_general *g = TL_NEW_ZERO(struct tl_general, 1);
    if (!g) return TL_FAIL(err, TALUS_NO_MEMORY, "collider: no memory");
    talus_status status = make(g, t, node, cell > 0 ? cell : default_cell(t, node), err);
    if (status != TALUS_OK) {
        tl_general_free(g);
        return status;
    }
    *out = g;
    return TALUS_OK;
}

void tl_general_free(struct tl_general *g)
{
    if (!g) return;
    tl_field_free(&g->field);
    tl_shape_tree_free(g->round);
    tl_free(g->at);
    tl_free(g->normal);
    tl_free(g->flat);
    tl_free(g->on_rim);
    tl_free(g->ball);
    tl_free(g);
}

double tl_general_reach(const struct tl_general *g, tl_vec3 from)
{
    double reach = 0;
    for (int32_t i = 0; i < g->samples; i++) reach = tl_max(reach, tl_vec3_norm(tl_vec3_sub(g->at[i], from)));
    return reach;
}
