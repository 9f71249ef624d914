#include "geom/collide/general.h"

#include "base/alloc.h"
#include "geom/mesh_distance.h"
#include "geom/shape_node.h"
#include "geom/surface.h"

#define FLAT_COS (1 - 1e-7) /* 0.03 degrees: rounding of distances from differences, not bends */

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

/* The normal is the same half a spacing away in four directions, read a little way inside. */
static bool on_face(const struct tl_general *g, int32_t i)
{
    tl_vec3 n = g->normal[i], inside = tl_vec3_add_scaled(g->at[i], -0.1 * g->spacing, n), t[2];
    tl_vec3_tangents(n, &t[0], &t[1]);
    for (int k = 0; k < 4; k++) {
        tl_vec3 p = tl_vec3_add_scaled(inside, k % 2 ? 0.5 * g->spacing : -0.5 * g->spacing, t[k / 2]);
        if (tl_vec3_dot(tl_shape_gradient(g->field.t, g->field.node, p), n) < FLAT_COS) return false;
    }
    return true;
}

static void find_flat(struct tl_general *g)
{
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t k = 0; k < g->balls; k++) {
        const tl_ball *b = &g->ball[k];
        bool alike = true;
        for (int32_t i = b->first; i < b->first + b->count; i++) {
            g->flat[i] = on_face(g, i) ? TL_FLAT : TL_NOT_FLAT;
            for (int32_t j = b->first; j < i; j++)
                alike &= !g->flat[i] || !g->flat[j] || tl_vec3_dot(g->normal[i], g->normal[j]) > FLAT_COS;
        }
        for (int32_t i = b->first; i < b->first + b->count; i++)
            if (g->flat[i] && alike) g->flat[i] = TL_FLAT_LEAF;
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

static void add_rim(struct tl_general *g, const placement *x, double y, double radius, double up)
{
    if (!(radius > 0)) return;
    tl_vec3 axis = tl_mat3_column(x->R, 1);
    g->rim[g->rims++] =
        (tl_rim){tl_vec3_add_scaled(x->at, x->scale * y, axis), tl_vec3_scale(up, axis), x->scale * radius};
}

static void find_rims(struct tl_general *g, const placement *x)
{
    const tl_shape_node *n = x->n;
    if (n->op == OP_CYLINDER && n->b.x == 0) {
        add_rim(g, x, -n->s, n->r, -1);
        add_rim(g, x, n->s, n->r, 1);
    } else if (n->op == OP_CONE) {
        add_rim(g, x, -n->q, n->r, -1);
        add_rim(g, x, n->q, n->s, 1);
    } else if (n->op == OP_HEMISPHERE) {
        add_rim(g, x, 0, n->r, -1);
    }
}

#define CORNERS_MAX 256

/* Tips and corners by their definition: sharp ones are cut off where they are thinner than the spacing. Returns their number. */
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
        const tl_trimesh *m = tl_mesh_distance_mesh(t->mesh[n->first]);
        for (int k = 0; k < m->vertices && m->vertices <= CORNERS_MAX; k++) corner[count++] = m->vertex[k];
    }
    for (int k = 0; k < count; k++) corner[k] = tl_vec3_add_scaled(x->at, x->scale, tl_mat3_mul_vec(x->R, corner[k]));
    return count;
}

/* Those that are not samples already. Seen from a little way outside, away from the middle, a tip's normal points at the viewer. */
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

/* Samples onto the surface that the field has: a point of A and the distance of B then speak of one pair of solids, and a contact moves
 * without doing work. Not further than half a spacing, which thin parts that the field has lost would be. */
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
    TL_TRY(tl_field_create(&g->field, t, node, cell, err));
    tl_points p;
    tl_vec3 corner[CORNERS_MAX];
    placement x = unplace(t, node);
    int corners = find_corners(t, &x, corner);
    TL_TRY(tl_sample_surface(t, node, cell, 0, TL_SAMPLE_LATTICE, 0, &p, err));
    g->spacing = cell;
    int32_t most = p.count + corners;
    g->at = TL_NEW(tl_vec3, most + 1);
    g->normal = TL_NEW(tl_vec3, most + 1);
    g->flat = TL_NEW(uint8_t, most + 1);
    g->ball = TL_NEW(tl_ball, 2 * (int64_t)most + 1);
    if (!g->at || !g->normal || !g->flat || !g->ball) {
        tl_points_free(&p);
        return TL_FAIL(err, TALUS_NO_MEMORY, "collider: no memory for %d surface points", most);
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
    find_rims(g, &x);
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
    tl_free(g->at);
    tl_free(g->normal);
    tl_free(g->flat);
    tl_free(g->ball);
    tl_free(g);
}

size_t tl_general_bytes(const struct tl_general *g)
{
    return sizeof *g + tl_field_bytes(&g->field) + (2 * sizeof(tl_vec3) + 1) * (size_t)g->samples +
           2 * sizeof(tl_ball) * (size_t)g->samples;
}

double tl_general_reach(const struct tl_general *g, tl_vec3 from)
{
    double reach = 0;
    for (int32_t i = 0; i < g->samples; i++) reach = tl_max(reach, tl_vec3_norm(tl_vec3_sub(g->at[i], from)));
    return reach;
}
