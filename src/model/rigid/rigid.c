#include "model/rigid/rigid.h"

#include <stdio.h>

#include "base/alloc.h"
#include "math/eig3.h"

#define MASS_CELLS 64 /* of the quadrature of shapes without a closed form: volumes to 1e-3 or better */

/* What one shape node gives to all bodies that use it. */
typedef struct node_parts {
    const tl_collider *collider; /* NULL: not made yet */
    bool weighed;
    tl_mass mass; /* of density 1 */
} node_parts;

static talus_status add_collider(tl_rigid *r, const tl_shape_tree *t, int node, const tl_collider **out,
                                 talus_error *err)
{
    TL_TRY(tl_collider_create(&r->collider[r->colliders], t, node, 0, err));
    *out = r->collider[r->colliders++];
    return TALUS_OK;
}

/* Messages of a body begin with its place in the scene file, where there is one. */
static talus_status body_failure(const tl_body *b, talus_status status, const char *why, talus_error *err)
{
    if (!b->where.file) return TL_FAIL(err, status, "body \"%.60s\": %.300s", b->name, why);
    return TL_FAIL(err, status, "%.120s:%d: body \"%.60s\": %.300s", b->where.file, b->where.line, b->name, why);
}

static talus_status weigh(tl_rigid_body *out, const tl_body *b, const tl_mass *m, talus_error *err)
{
    char why[160];
    double density = b->mass > 0 ? b->mass / m->volume : b->density;
    out->mass = density * m->volume;
    out->centre = m->center;
    out->inertia = tl_mat3_scale(density, m->inertia);
    if (b->has_inertia) {
        const tl_vec3 d = b->inertia, p = b->inertia_products;
        out->inertia = (tl_mat3){{{d.x, p.x, p.y}, {p.x, d.y, p.z}, {p.y, p.z, d.z}}};
        if (b->has_center) out->centre = b->center_of_mass;
    }
    if (!(b->mass >= 0 && b->density >= 0 && out->mass > 0 && isfinite(out->mass))) {
        snprintf(why, sizeof why, "a free body's mass must be > 0 kg and finite, got %g (density %g kg/m^3, %g m^3)",
                 out->mass, b->density, m->volume);
        return body_failure(b, TALUS_BAD_INPUT, why, err);
    }
    if (!tl_mat3_inverse(out->inertia, &out->inverse) || !isfinite(tl_mat3_max_abs(out->inverse))) {
        snprintf(why, sizeof why, "its moments of inertia (%g, %g, %g kg m^2) are too small to compute with",
                 out->inertia.m[0][0], out->inertia.m[1][1], out->inertia.m[2][2]);
        return body_failure(b, TALUS_BAD_INPUT, why, err);
    }
    return TALUS_OK;
}

/* An inertia with two moments that are equal up to rounding: its free rotation has a closed form. */
static void find_top(tl_rigid_body *b)
{
    double w[3];
    tl_mat3 V;
    tl_eig3(b->inertia, w, &V);
    const double same = 1e-12 * w[2];
    if (!(w[2] - w[1] <= same || w[1] - w[0] <= same)) return;
    const int along = w[2] - w[1] <= same ? 0 : 2;
    b->top = tl_mat3_column(V, along);
    b->along = w[along];
    b->across = 0.5 * (w[1] + w[along ? 0 : 2]);
}

/* What follows from collider, centre and inertia. */
static void measure_body(tl_rigid_body *b)
{
    b->reach = tl_collider_reach(b->collider, b->centre);
    b->extent = tl_collider_extent(b->collider);
    b->round = tl_collider_round_about(b->collider, b->centre, &b->axis);
    if (b->kind == TL_BODY_FREE) find_top(b);
}

/* ---- the 2D mode: bodies are prisms along the slab's axis, as thick as the slab ---- */

#define PRISM_SAMPLES 512 /* along the longer side of the section: areas to 1e-5 */
#define PRISM_DEPTH 4     /* cells: what is less deep is made as deep, so that its distances are those of a prism */

/* The slab's axis of a scene in which something flows; -1: none. */
static int slab_axis(const tl_scene *s)
{
    if (s->engine != TL_ENGINE_GRID || s->fill_count + s->emitter_count == 0) return -1;
    for (int k = 0; k < 3; k++)
        if (s->grid.periodic[k] && s->grid.cells[k] == 1) return k;
    return -1;
}

static void set(tl_vec3 *v, int k, double x) { *(k == 0 ? &v->x : k == 1 ? &v->y : &v->z) = x; }
static double get(tl_vec3 v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

/* Mass of density 1 of the prism over the section through the middle of a shape, turned like the body at its start. */
static void weigh_prism(const tl_scene *s, const tl_body *b, int axis, tl_mass *out)
{
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    const tl_shape_tree *shapes = s->shapes;
    const int shape = b->shape;
    tl_quat q = tl_quat_normalize(b->rotation), back = {q.w, -q.x, -q.y, -q.z};
    tl_box3 box = tl_shape_bounds(shapes, shape);
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int k = 0; k < 8; k++) {
        tl_vec3 corner = {k & 4 ? box.hi.x : box.lo.x, k & 2 ? box.hi.y : box.lo.y, k & 1 ? box.hi.z : box.lo.z};
        corner = tl_quat_rotate(q, corner);
        for (int m = 0; m < 3; m++) {
            lo[m] = fmin(lo[m], get(corner, m));
            hi[m] = fmax(hi[m], get(corner, m));
        }
    }
    double h = fmax(hi[i] - lo[i], hi[j] - lo[j]) / PRISM_SAMPLES, area = 0, mi = 0, mj = 0, m2 = 0;
    for (int u = -1; lo[i] + u * h < hi[i] + h; u++)
        for (int v = -1; lo[j] + v * h < hi[j] + h; v++) {
            tl_vec3 p = {0, 0, 0};
            double a = lo[i] + (u + 0.5) * h, c = lo[j] + (v + 0.5) * h;
            set(&p, axis, 0.5 * (lo[axis] + hi[axis]));
            set(&p, i, a);
            set(&p, j, c);
            double d = tl_shape_distance(shapes, shape, tl_quat_rotate(back, p));
            double w = fmin(1, fmax(0, 0.5 - d / h)) * h * h;
            area += w;
            mi += w * a;
            mj += w * c;
            m2 += w * (a * a + c * c);
        }
    tl_vec3 centre = {0, 0, 0};
    set(&centre, axis, 0.5 * (lo[axis] + hi[axis]));
    set(&centre, i, area > 0 ? mi / area : 0);
    set(&centre, j, area > 0 ? mj / area : 0);
    double turn =
        area > 0 ? m2 - (mi * mi + mj * mj) / area : 0; /* about the slab's axis, the only one it turns about */
    out->volume = area * s->grid.cell;
    out->center = tl_quat_rotate(back, centre);
    out->inertia = tl_mat3_diagonal(turn * s->grid.cell, turn * s->grid.cell, turn * s->grid.cell);
}

/* A body's shape, as deep as distances of a prism need: a node of r->prisms. TL_SHAPE_NOT_DEEP: it stays as it is, and
 * is a prism as far inside as half its depth. -1: no memory. */
static int deepen(tl_rigid *r, const tl_scene *s, const tl_body *b, int axis, talus_error *err)
{
    tl_vec3 along = {axis == 0, axis == 1, axis == 2};
    if (!r->prisms && !(r->prisms = tl_shape_tree_create()))
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for bodies of a slab"), -1;
    along = tl_quat_rotate(tl_quat_conjugate(tl_quat_normalize(b->rotation)), along);
    return tl_shape_deepen(r->prisms, s->shapes, b->shape, along, PRISM_DEPTH * s->grid.cell, err);
}

/* Cloth from a file stands in the table of bodies as the box around it: what it touches with is its nodes, and it
 * weighs what they do. */
static talus_status add_sheet(tl_rigid *r, const tl_scene *s, const tl_body *b, tl_rigid_body *out, talus_error *err)
{
    tl_box3 box = tl_shape_bounds(s->shapes, b->shape);
    tl_vec3 size = tl_vec3_sub(box.hi, box.lo), middle = tl_vec3_scale(0.5, tl_vec3_add(box.lo, box.hi));
    talus_error why = {0};
    tl_mass mass;
    if (!r->prisms && !(r->prisms = tl_shape_tree_create()))
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for cloth");
    int node = tl_shape_box(r->prisms, size, 0, &why);
    if (node >= 0) node = tl_shape_place(r->prisms, node, middle, (const double[4]){1, 0, 0, 0}, 1, &why);
    talus_status status = node < 0 ? why.status : add_collider(r, r->prisms, node, &out->collider, &why);
    if (status == TALUS_OK) status = tl_shape_mass(r->prisms, node, MASS_CELLS, &mass, &why);
    if (status != TALUS_OK) return body_failure(b, status, why.message, err);
    if (b->kind == TL_BODY_FREE) TL_TRY(weigh(out, b, &mass, err));
    measure_body(out);
    out->extent = b->thickness;
    r->count++;
    return TALUS_OK;
}

static talus_status add_body(tl_rigid *r, const tl_scene *s, int i, node_parts *parts, talus_error *err)
{
    const tl_body *b = &s->bodies[i];
    tl_rigid_body *out = &r->body[r->count];
    node_parts *node = &parts[b->shape];
    talus_error why;
    talus_status status;
    *out = (tl_rigid_body){.kind = b->kind};
    out->elastic = b->material >= 0 && s->materials[b->material].kind == TL_MATERIAL_ELASTIC;
    if (out->elastic && tl_shape_is_sheet(s->shapes, b->shape)) return add_sheet(r, s, b, out, err);
    int slab = slab_axis(s), deep = slab >= 0 ? deepen(r, s, b, slab, err) : TL_SHAPE_NOT_DEEP;
    if (deep == -1) return err ? err->status : TALUS_NO_MEMORY;
    if (deep >= 0) {
        if ((status = add_collider(r, r->prisms, deep, &out->collider, &why)) != TALUS_OK)
            return body_failure(b, status, why.message, err);
    } else {
        if (!node->collider && (status = add_collider(r, s->shapes, b->shape, &node->collider, &why)) != TALUS_OK)
            return body_failure(b, status, why.message, err);
        out->collider = node->collider;
    }
    if (b->kind == TL_BODY_FREE && slab >= 0 && tl_shape_bounded(s->shapes, b->shape)) {
        tl_mass prism;
        weigh_prism(s, b, slab, &prism);
        TL_TRY(weigh(out, b, &prism, err));
    } else if (b->kind == TL_BODY_FREE) {
        if (!node->weighed && (status = tl_shape_mass(s->shapes, b->shape, MASS_CELLS, &node->mass, &why)) != TALUS_OK)
            return body_failure(b, status, why.message, err);
        node->weighed = true;
        TL_TRY(weigh(out, b, &node->mass, err));
    }
    measure_body(out);
    r->count++;
    return TALUS_OK;
}

/* Everything beyond a closed wall is solid. Along a periodic axis there are none. */
static talus_status add_walls(tl_rigid *r, const tl_scene *s, talus_error *err)
{
    if (!s->domain.bounded) return TALUS_OK;
    r->walls = tl_shape_tree_create();
    if (!r->walls) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the domain's walls");
    const double lo[3] = {s->domain.box.lo.x, s->domain.box.lo.y, s->domain.box.lo.z};
    const double hi[3] = {s->domain.box.hi.x, s->domain.box.hi.y, s->domain.box.hi.z};
    for (int k = 0; k < 6; k++) {
        int axis = k / 2;
        if (s->domain.wall[k] != TL_WALL_CLOSED || (s->engine == TL_ENGINE_GRID && s->grid.periodic[axis])) continue;
        double inward[3] = {0, 0, 0};
        inward[axis] = k % 2 ? -1 : 1;
        int node = tl_shape_half_space(r->walls, tl_vec3_load(inward), k % 2 ? -hi[axis] : lo[axis], err);
        if (node < 0) return err ? err->status : TALUS_NO_MEMORY;
        tl_rigid_body *b = &r->body[r->count];
        *b = (tl_rigid_body){.kind = TL_BODY_STATIC};
        TL_TRY(add_collider(r, r->walls, node, &b->collider, err));
        measure_body(b);
        r->count++;
    }
    return TALUS_OK;
}

static talus_status create(tl_rigid *out, const tl_scene *s, node_parts **parts, talus_error *err)
{
    int nodes = s->shapes ? tl_shape_node_count(s->shapes) : 0, max = s->body_count + 6;
    *parts = TL_NEW_ZERO(node_parts, nodes + 1);
    out->body = TL_NEW_ZERO(tl_rigid_body, max);
    out->collider = TL_NEW_ZERO(tl_collider *, max);
    if (!*parts || !out->body || !out->collider)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d bodies", s->body_count);
    for (int i = 0; i < s->body_count; i++) TL_TRY(add_body(out, s, i, *parts, err));
    out->scene_count = out->count;
    return add_walls(out, s, err);
}

talus_status tl_rigid_create(tl_rigid *out, const tl_scene *s, talus_error *err)
{
    node_parts *parts = NULL;
    talus_error why = {0};
    *out = (tl_rigid){0};
    talus_status status = create(out, s, &parts, err ? err : &why);
    tl_free(parts);
    if (status != TALUS_OK) tl_rigid_free(out);
    return status;
}

void tl_rigid_free(tl_rigid *r)
{
    for (int32_t i = 0; i < r->colliders; i++) tl_collider_free(r->collider[i]);
    tl_free(r->collider);
    tl_free(r->body);
    tl_shape_tree_free(r->walls);
    tl_shape_tree_free(r->prisms);
    *r = (tl_rigid){0};
}

static talus_status first_pose(const tl_scene *s, const tl_body *b, tl_pose *out, talus_error *err)
{
    *out = (tl_pose){b->at, tl_quat_normalize(b->rotation)};
    if (b->kind != TL_BODY_KINEMATIC || b->motion == TL_NO_FUNCTION) return TALUS_OK;
    double p[7];
    TL_TRY(tl_scene_evaluate(s, b->motion, 0, p, 7, err));
    *out = (tl_pose){{p[0], p[1], p[2]}, tl_quat_normalize((tl_quat){p[3], p[4], p[5], p[6]})};
    return TALUS_OK;
}

talus_status tl_rigid_state_begin(tl_rigid_state *out, const tl_rigid *r, const tl_scene *s, talus_error *err)
{
    *out = (tl_rigid_state){.count = r->scene_count};
    out->body = TL_NEW_ZERO(tl_motion, r->scene_count + 1);
    if (!out->body) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the motion of %d bodies", (int)r->scene_count);
    for (int32_t i = 0; i < r->scene_count; i++) {
        const tl_body *b = &s->bodies[i];
        tl_motion *m = &out->body[i];
        tl_pose at;
        talus_status status = first_pose(s, b, &at, err);
        if (status != TALUS_OK) {
            tl_rigid_state_free(out);
            return status;
        }
        m->x = tl_pose_apply(&at, r->body[i].centre);
        m->q = at.rotation;
        m->goal = at;
        if (b->kind != TL_BODY_FREE) continue;
        m->v = b->velocity;
        m->w = b->spin;
    }
    return TALUS_OK;
}

static talus_status reserve(tl_rigid_memory **point, int64_t *has, int64_t count, talus_error *err)
{
    if (*has >= count) return TALUS_OK;
    int64_t room = count + count / 2 + 16;
    tl_rigid_memory *fresh = tl_realloc(*point, sizeof *fresh * (size_t)room);
    if (!fresh) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld contacts", (long long)count);
    *point = fresh;
    *has = room;
    return TALUS_OK;
}

talus_status tl_rigid_contacts_reserve(tl_rigid_state *s, int64_t count, int64_t impacts, talus_error *err)
{
    TL_TRY(reserve(&s->contact, &s->contact_room, count, err));
    return reserve(&s->impact, &s->impact_room, impacts, err);
}

void tl_rigid_state_free(tl_rigid_state *s)
{
    tl_free(s->body);
    tl_free(s->contact);
    tl_free(s->impact);
    *s = (tl_rigid_state){0};
}
