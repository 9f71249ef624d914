#include "geom/collide/collider_data.h"

#include "base/alloc.h"
#include "geom/collide/general.h"
#include "geom/collide/hull.h"
#include "geom/collide/pairs.h"
#include "geom/mesh_distance.h"
#include "geom/shape_node.h"

/* ---- from a shape ---- */

static double smallest(tl_vec3 a) { return tl_min(a.x, tl_min(a.y, a.z)); }

/* A box, sphere or half-space under any number of placements; false for what is none of them. */
static bool primitive_of(const tl_shape_tree *t, int node, tl_collider *c)
{
    /* the placements together: p -> scale R p + at */
    tl_mat3 R = tl_mat3_identity();
    tl_vec3 at = {0, 0, 0};
    double scale = 1;
    const tl_shape_node *n = &t->node[node];
    for (; n->op == OP_PLACE; n = &t->node[t->child[n->first]]) {
        at = tl_vec3_add_scaled(at, scale, tl_mat3_mul_vec(R, n->a));
        R = tl_mat3_mul(R, n->R);
        scale *= n->q;
    }
    c->centre = at;
    c->axes = R;
    if (n->op == OP_SPHERE) {
        c->kind = TL_COLLIDER_SPHERE;
        c->radius = scale * n->r;
        c->extent = 2 * c->radius;
    } else if (n->op == OP_BOX && n->r == 0) {
        c->kind = TL_COLLIDER_BOX;
        c->half = tl_vec3_scale(scale, n->a);
        c->extent = 2 * smallest(c->half);
    } else if (n->op == OP_HALF_SPACE) {
        tl_vec3 normal = tl_mat3_mul_vec(R, n->a), t1, t2;
        tl_vec3_tangents(normal, &t1, &t2);
        c->kind = TL_COLLIDER_HALF_SPACE;
        c->axes = tl_mat3_from_columns(normal, t1, t2);
        c->centre = tl_vec3_scale(tl_vec3_dot(normal, at) + scale * n->q, normal);
        c->extent = INFINITY;
    } else
        return false;
    return true;
}

/* The faces of a small convex mesh; nothing for other shapes. */
static talus_status find_hull(const tl_shape_tree *t, int node, tl_collider *c, talus_error *err)
{
    tl_mat3 R = tl_mat3_identity();
    tl_vec3 at = {0, 0, 0};
    double scale = 1;
    tl_hull h;
    const tl_shape_node *n = &t->node[node];
    for (; n->op == OP_PLACE; n = &t->node[t->child[n->first]]) {
        at = tl_vec3_add_scaled(at, scale, tl_mat3_mul_vec(R, n->a));
        R = tl_mat3_mul(R, n->R);
        scale *= n->q;
    }
    if (n->op != OP_MESH || !tl_hull_of_mesh(tl_mesh_distance_mesh(t->mesh[n->first].distance), &h)) return TALUS_OK;
    c->hull = TL_NEW(tl_hull, 1);
    if (!c->hull) return TL_FAIL(err, TALUS_NO_MEMORY, "collider: no memory");
    for (int k = 0; k < h.vertices; k++) h.vertex[k] = tl_vec3_scale(scale, h.vertex[k]);
    for (int f = 0; f < h.faces; f++) h.offset[f] *= scale;
    *c->hull = tl_hull_placed(&h, R, at);
    return TALUS_OK;
}

talus_status tl_collider_create(tl_collider **out, const tl_shape_tree *t, int node, double cell, talus_error *err)
{
    *out = NULL;
    if (node < 0 || node >= tl_shape_node_count(t))
        return TL_FAIL(err, TALUS_BAD_INPUT, "collider: the tree has no shape %d", node);
    if (!(cell >= 0 && cell < INFINITY))
        return TL_FAIL(err, TALUS_BAD_INPUT, "collider: cell must be at least 0, got %g", cell);
    tl_collider c = {.bounds = tl_shape_bounds(t, node)};
    if (!primitive_of(t, node, &c)) {
        c.kind = TL_COLLIDER_GENERAL;
        c.extent = smallest(tl_vec3_sub(c.bounds.hi, c.bounds.lo));
        TL_TRY(tl_general_create(&c.field, t, node, cell, err));
        talus_status status = find_hull(t, node, &c, err);
        if (status != TALUS_OK) {
            tl_general_free(c.field);
            return status;
        }
    }
    *out = TL_NEW(tl_collider, 1);
    if (!*out) {
        tl_general_free(c.field);
        tl_free(c.hull);
        return TL_FAIL(err, TALUS_NO_MEMORY, "collider: no memory");
    }
    **out = c;
    return TALUS_OK;
}

void tl_collider_free(tl_collider *c)
{
    if (!c) return;
    tl_general_free(c->field);
    tl_free(c->hull);
    tl_free(c);
}

/* ---- questions ---- */

tl_collider_kind tl_collider_kind_of(const tl_collider *c) { return c->kind; }
double tl_collider_extent(const tl_collider *c) { return c->extent; }

bool tl_collider_flat(const tl_collider *c)
{
    return c->kind == TL_COLLIDER_BOX || c->kind == TL_COLLIDER_HALF_SPACE || c->hull;
}

int32_t tl_collider_samples(const tl_collider *c) { return c->field ? c->field->samples : 0; }

/* Half edges of the world box around a box of these half edges turned by R. */
static tl_vec3 turned_half(tl_mat3 R, tl_vec3 half)
{
    return (tl_vec3){fabs(R.m[0][0]) * half.x + fabs(R.m[0][1]) * half.y + fabs(R.m[0][2]) * half.z,
                     fabs(R.m[1][0]) * half.x + fabs(R.m[1][1]) * half.y + fabs(R.m[1][2]) * half.z,
                     fabs(R.m[2][0]) * half.x + fabs(R.m[2][1]) * half.y + fabs(R.m[2][2]) * half.z};
}

tl_box3 tl_collider_bounds(const tl_collider *c, const tl_pose *x)
{
    tl_vec3 centre = c->centre, half = {c->radius, c->radius, c->radius};
    tl_mat3 R = tl_quat_to_mat3(x->rotation);
    switch (c->kind) {
    case TL_COLLIDER_SPHERE: break;
    case TL_COLLIDER_BOX: half = turned_half(tl_mat3_mul(R, c->axes), c->half); break;
    case TL_COLLIDER_HALF_SPACE: return (tl_box3){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    case TL_COLLIDER_GENERAL:
        centre = tl_vec3_scale(0.5, tl_vec3_add(c->bounds.lo, c->bounds.hi));
        half = turned_half(R, tl_vec3_scale(0.5, tl_vec3_sub(c->bounds.hi, c->bounds.lo)));
        break;
    }
    centre = tl_pose_apply(x, centre);
    return (tl_box3){tl_vec3_sub(centre, half), tl_vec3_add(centre, half)};
}

double tl_collider_reach(const tl_collider *c, tl_vec3 from)
{
    tl_vec3 d = tl_vec3_sub(from, c->centre), h = c->half;
    switch (c->kind) {
    case TL_COLLIDER_SPHERE: return tl_vec3_norm(d) + c->radius;
    case TL_COLLIDER_BOX: d = tl_mat3_tmul_vec(c->axes, d); break;
    case TL_COLLIDER_HALF_SPACE: return INFINITY;
    case TL_COLLIDER_GENERAL: return tl_general_reach(c->field, from);
    }
    return tl_vec3_norm((tl_vec3){fabs(d.x) + h.x, fabs(d.y) + h.y, fabs(d.z) + h.z});
}

tl_collider_round tl_collider_round_about(const tl_collider *c, tl_vec3 centre, tl_vec3 *axis)
{
    tl_vec3 off = tl_vec3_sub(centre, c->centre);
    if (c->kind == TL_COLLIDER_GENERAL) return tl_general_axis(c->field, centre, axis) ? TL_ROUND_AXIS : TL_NOT_ROUND;
    if (c->kind != TL_COLLIDER_SPHERE) return TL_NOT_ROUND;
    *axis = tl_vec3_normalize_or(off, (tl_vec3){0, 1, 0});
    return tl_vec3_norm(off) <= 1e-6 * c->radius ? TL_ROUND_BALL : TL_ROUND_AXIS;
}

/* ---- pairs ---- */

static tl_vec3 plane_normal(const tl_collider *c, const tl_pose *x)
{
    return tl_quat_rotate(x->rotation, tl_mat3_column(c->axes, 0));
}

/* Which of two general bodies is looked at first may depend on nothing but what they are and where: the larger
 * shape, then the place. */
static bool general_first(const tl_collider *A, const tl_pose *a, const tl_collider *B, const tl_pose *b)
{
    const double key[2][8] = {
        {A->field->samples, a->at.x, a->at.y, a->at.z, a->rotation.w, a->rotation.x, a->rotation.y, a->rotation.z},
        {B->field->samples, b->at.x, b->at.y, b->at.z, b->rotation.w, b->rotation.x, b->rotation.y, b->rotation.z}};
    for (int i = 0; i < 8; i++)
        if (key[0][i] != key[1][i]) return key[0][i] > key[1][i];
    return true;
}

static tl_hull hull_of(const tl_collider *c, const tl_pose *x)
{
    if (c->kind == TL_COLLIDER_GENERAL) return tl_hull_placed(c->hull, tl_quat_to_mat3(x->rotation), x->at);
    tl_obox box = tl_obox_of(c, x);
    return tl_hull_of_box(&box);
}

/* By faces where both have such; -1: by the general search. */
static int collide_hulls(const tl_collider *A, const tl_pose *a, const tl_collider *B, const tl_pose *b, double margin,
                         int32_t *axis, tl_touch *out)
{
    if (!B->hull || !(A->hull || A->kind == TL_COLLIDER_BOX || A->kind == TL_COLLIDER_HALF_SPACE)) return -1;
    tl_hull other = hull_of(B, b);
    if (A->kind == TL_COLLIDER_HALF_SPACE) {
        int count = tl_hull_half_space(&other, tl_pose_apply(a, A->centre), plane_normal(A, a), margin, out);
        for (int i = 0; i < count; i++) out[i].normal = tl_vec3_neg(out[i].normal);
        return count;
    }
    tl_hull one = hull_of(A, a);
    return tl_hull_hull(&one, &other, tl_min(A->extent, B->extent), margin, axis, out);
}

/* The box around a general shape is further from a plane than the margin: said of most walls. */
static bool far_from_plane(const tl_collider *c, const tl_pose *x, tl_vec3 at, tl_vec3 normal, double margin)
{
    tl_vec3 middle = tl_vec3_scale(0.5, tl_vec3_add(c->bounds.lo, c->bounds.hi)),
            half = tl_vec3_scale(0.5, tl_vec3_sub(c->bounds.hi, c->bounds.lo)),
            n = tl_quat_rotate(tl_quat_conjugate(x->rotation), normal);
    double reach = fabs(n.x) * half.x + fabs(n.y) * half.y + fabs(n.z) * half.z;
    return tl_vec3_dot(normal, tl_vec3_sub(tl_pose_apply(x, middle), at)) > reach + margin;
}

/* A->kind <= B->kind. */
static int collide_ordered(const tl_collider *A, const tl_pose *a, const tl_collider *B, const tl_pose *b,
                           double margin, int32_t *axis, tl_touch *out)
{
    tl_vec3 at = tl_pose_apply(a, A->centre), to = tl_pose_apply(b, B->centre);
    tl_obox box;
    if (B->kind == TL_COLLIDER_GENERAL) {
        if (A->kind == TL_COLLIDER_HALF_SPACE && far_from_plane(B, b, at, plane_normal(A, a), margin)) return 0;
        int faces = collide_hulls(A, a, B, b, margin, axis, out);
        if (faces >= 0) return faces;
        int count = tl_general_touches(B, b, A, a, margin, out);
        for (int i = 0; i < count; i++) out[i].normal = tl_vec3_neg(out[i].normal);
        return count;
    }
    if (A->kind == TL_COLLIDER_SPHERE) switch (B->kind) {
        case TL_COLLIDER_SPHERE: return tl_sphere_sphere(at, A->radius, to, B->radius, margin, out);
        case TL_COLLIDER_BOX: box = tl_obox_of(B, b); return tl_sphere_box(at, A->radius, &box, margin, out);
        case TL_COLLIDER_HALF_SPACE: return tl_sphere_half_space(at, A->radius, to, plane_normal(B, b), margin, out);
        case TL_COLLIDER_GENERAL: return 0;
        }
    if (A->kind == TL_COLLIDER_BOX && B->kind == TL_COLLIDER_HALF_SPACE) {
        box = tl_obox_of(A, a);
        return tl_box_half_space(&box, to, plane_normal(B, b), margin, out);
    }
    if (A->kind == TL_COLLIDER_BOX && B->kind == TL_COLLIDER_BOX) {
        tl_obox other = tl_obox_of(B, b);
        tl_box_rules rules = A->rules ? *A->rules : tl_box_rules_default();
        box = tl_obox_of(A, a);
        return tl_box_box(&box, &other, margin, &rules, axis, out);
    }
    return 0;
}

bool tl_collide_may_overlap(const tl_collider *A, const tl_pose *a, const tl_collider *B, const tl_pose *b,
                            double depth)
{
    if (A->kind != TL_COLLIDER_GENERAL && B->kind != TL_COLLIDER_GENERAL) return true;
    if (A->kind != TL_COLLIDER_GENERAL) return tl_collide_may_overlap(B, b, A, a, depth);
    if (B->kind == TL_COLLIDER_HALF_SPACE &&
        far_from_plane(A, a, tl_pose_apply(b, B->centre), plane_normal(B, b), -depth))
        return false;
    return (A->hull && B->hull) || tl_general_may_overlap(A, a, B, b, depth);
}

int tl_collide(const tl_collider *A, const tl_pose *a, const tl_collider *B, const tl_pose *b, double margin,
               int32_t *axis, tl_touch out[TL_TOUCHES_MAX])
{
    bool in_order = A->kind == TL_COLLIDER_GENERAL && B->kind == TL_COLLIDER_GENERAL ? general_first(A, a, B, b)
                                                                                     : A->kind <= B->kind;
    if (in_order) return collide_ordered(A, a, B, b, margin, axis, out);
    int count = collide_ordered(B, b, A, a, margin, axis, out);
    for (int i = 0; i < count; i++) out[i].normal = tl_vec3_neg(out[i].normal);
    return count;
}
