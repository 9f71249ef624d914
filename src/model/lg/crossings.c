/* Elastic surfaces that have gone through each other: edges of one that pass through triangles of another, or of the
 * same body where the scene lets it touch itself. Looks at all of them, whatever contacts were found. */
#include <math.h>

#include "model/lg/detect.h"

#define STACK 64
#define PARALLEL_EDGES 200
#define PASSAGES_MAX 8 /* of one edge through one body that are told apart */

tl_box3 tl_lg_box_of(const tl_lg_view *v, const int32_t *node, int count)
{
    tl_box3 b = {tl_lg_at(v->to, node[0]), tl_lg_at(v->to, node[0])};
    for (int k = 0; k < count; k++) {
        tl_vec3 p = tl_lg_at(v->from, node[k]), q = tl_lg_at(v->to, node[k]);
        b.lo = tl_vec3_min(b.lo, tl_vec3_min(p, q));
        b.hi = tl_vec3_max(b.hi, tl_vec3_max(p, q));
    }
    return b;
}

static tl_box3 both(tl_box3 a, tl_box3 b) { return (tl_box3){tl_vec3_min(a.lo, b.lo), tl_vec3_max(a.hi, b.hi)}; }

/* Boxes of a body's tree where its nodes are. */
static void refit(const tl_lg_view *v, int body, tl_box3 *all)
{
    const tl_lg *lg = v->lg;
    const tl_lg_skin_body *s = &lg->skin.body[body];
    const int32_t *order = lg->skin.order + lg->body[body].triangle, count = lg->body[body].triangles;
    tl_box3 *box = all + s->tree;
    for (int32_t leaf = 0; leaf < s->leaves; leaf++) {
        tl_box3 b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
        for (int32_t k = leaf * TL_SKIN_LEAF; k < (leaf + 1) * TL_SKIN_LEAF && k < count; k++)
            b = both(b, tl_lg_box_of(v, lg->surface[order[k]], 3));
        box[s->leaves + leaf] = b;
    }
    for (int32_t i = s->leaves - 1; i >= 1; i--) box[i] = both(box[2 * i], box[2 * i + 1]);
}

/* Where an edge passes through triangles of one body. */
typedef struct passage {
    double at; /* share of the edge */
    bool in;   /* into the body, seen from its first node */
} passage;

typedef struct passages {
    int count; /* also of those beyond PASSAGES_MAX, which are not kept */
    passage passage[PASSAGES_MAX];
    double beyond; /* m: most that the nearer end is beyond a triangle */
} passages;

static void pierce(const tl_lg_view *v, const int32_t edge[2], const int32_t corner[3], passages *out)
{
    for (int k = 0; k < 3; k++)
        if (corner[k] == edge[0] || corner[k] == edge[1]) return;
    tl_vec3 p = tl_lg_at(v->to, edge[0]), a = tl_lg_at(v->to, corner[0]), d = tl_vec3_sub(tl_lg_at(v->to, edge[1]), p);
    tl_vec3 u = tl_vec3_sub(tl_lg_at(v->to, corner[1]), a), w = tl_vec3_sub(tl_lg_at(v->to, corner[2]), a);
    tl_vec3 n = tl_vec3_cross(u, w), r = tl_vec3_sub(p, a);
    double area2 = tl_vec3_norm2(n), before = tl_vec3_dot(n, r), along = tl_vec3_dot(n, d), after = before + along;
    if (!(before * after < 0)) return;
    tl_vec3 x = tl_vec3_add_scaled(r, -before / along, d); /* in the plane, from a */
    double s = tl_vec3_dot(n, tl_vec3_cross(x, w)), t = tl_vec3_dot(n, tl_vec3_cross(u, x));
    if (s < 0 || t < 0 || s + t > area2) return;
    double beyond = fmin(fabs(before), fabs(after)) / sqrt(area2);
    if (beyond == 0) return;
    out->beyond = fmax(out->beyond, beyond);
    int k = out->count++;
    if (k >= PASSAGES_MAX) return;
    passage mine = {-before / along, along < 0};
    for (; k > 0 && out->passage[k - 1].at > mine.at; k--) out->passage[k] = out->passage[k - 1];
    out->passage[k] = mine;
}

static double to_box(tl_vec3 p, const tl_box3 *b)
{
    tl_vec3 d = tl_vec3_max(tl_vec3_sub(b->lo, p), tl_vec3_sub(p, b->hi));
    return tl_vec3_norm(tl_vec3_max(d, (tl_vec3){0, 0, 0}));
}

/* A place of a surface. */
typedef struct place {
    double distance; /* m, to what it is the nearest of */
    int32_t triangle;
    double weight[3];
    tl_vec3 at;
} place;

/* The place of body b's surface that is nearest to p. */
static place to_surface(const tl_lg_view *v, const tl_box3 *box, tl_vec3 p, int b)
{
    const tl_lg *lg = v->lg;
    const tl_lg_skin_body *s = &lg->skin.body[b];
    const int32_t *order = lg->skin.order + lg->body[b].triangle;
    int32_t stack[STACK], top = 0, triangles = lg->body[b].triangles;
    place best = {.distance = INFINITY, .triangle = -1};
    stack[top++] = 1;
    while (top) {
        int32_t i = stack[--top];
        if (!(to_box(p, &box[s->tree + i]) < best.distance)) continue;
        if (i < s->leaves) {
            stack[top++] = 2 * i + 1;
            stack[top++] = 2 * i;
            continue;
        }
        for (int32_t k = (i - s->leaves) * TL_SKIN_LEAF; k < (i - s->leaves + 1) * TL_SKIN_LEAF && k < triangles; k++) {
            tl_vec3 x[3];
            double w[3];
            for (int c = 0; c < 3; c++) x[c] = tl_lg_at(v->to, lg->surface[order[k]][c]);
            tl_lg_nearest_place(p, x, w);
            tl_vec3 at = tl_vec3_add_scaled(tl_vec3_add_scaled(tl_vec3_scale(w[0], x[0]), w[1], x[1]), w[2], x[2]);
            double distance = tl_vec3_norm(tl_vec3_sub(p, at));
            if (distance < best.distance) best = (place){distance, order[k], {w[0], w[1], w[2]}, at};
        }
    }
    return best;
}

/* Edge e of body a against all triangles of body b. m: how deep it is. In a solid: how far from the surface an end
 * is that lies inside, or the middle of what lies between two passages; two edges that have just passed each other
 * are not as deep as their ends are far. Cloth has no inside: by how much the nearer end is beyond. Of a solid:
 * where the edge is deepest, as a share of it, and the surface nearest to that. */
static double cross_edge(const tl_lg_view *v, const tl_box3 *box, int a, int32_t e, int b, int64_t *count,
                         double *where, place *out)
{
    const tl_lg *lg = v->lg;
    const tl_lg_skin_body *s = &lg->skin.body[b];
    const int32_t *edge = lg->skin.edge[e], *order = lg->skin.order + lg->body[b].triangle;
    int32_t stack[STACK], top = 0, triangles = lg->body[b].triangles;
    tl_box3 own = tl_lg_box_of(v, edge, 2);
    passages found;
    found.count = 0;
    found.beyond = 0;
    stack[top++] = 1;
    while (top) {
        int32_t i = stack[--top];
        if (tl_lg_apart(&own, &box[s->tree + i])) continue;
        if (i < s->leaves) {
            stack[top++] = 2 * i + 1;
            stack[top++] = 2 * i;
            continue;
        }
        for (int32_t k = (i - s->leaves) * TL_SKIN_LEAF; k < (i - s->leaves + 1) * TL_SKIN_LEAF && k < triangles; k++)
            pierce(v, edge, lg->surface[order[k]], &found);
    }
    *count += found.count;
    if (found.count == 0 || found.count > PASSAGES_MAX || a == b || lg->body[b].kind == TL_LG_CLOTH)
        return found.beyond;
    tl_vec3 p = tl_lg_at(v->to, edge[0]), d = tl_vec3_sub(tl_lg_at(v->to, edge[1]), p);
    double deep = 0;
    for (int k = 0; k <= found.count; k++) {
        bool inside = k < found.count ? !found.passage[k].in : found.passage[k - 1].in;
        if (!inside) continue;
        double at = k == 0 ? 0 : k == found.count ? 1 : 0.5 * (found.passage[k - 1].at + found.passage[k].at);
        place near = to_surface(v, box, tl_vec3_add_scaled(p, at, d), b);
        if (!(near.distance > deep)) continue;
        deep = near.distance;
        *where = at;
        *out = near;
    }
    return fmin(deep, found.beyond);
}

static bool touches_itself(const tl_lg_view *v, int body)
{
    int32_t b = v->lg->body[body].body;
    return b >= 0 && v->scene->bodies[b].self_contact;
}

talus_status tl_lg_plant_trees(tl_lg_trees *t, const tl_lg_view *v, tl_arena *a, talus_error *err)
{
    const tl_lg *lg = v->lg;
    *t = (tl_lg_trees){.box = TL_TAKE(a, tl_box3, lg->skin.boxes + 1),
                       .whole = TL_TAKE(a, tl_box3, lg->bodies + 1),
                       .fitted = TL_TAKE_ZERO(a, bool, lg->bodies + 1)};
    if (!t->box || !t->whole || !t->fitted) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to look for crossings");
    for (int b = 0; b < lg->bodies; b++) t->whole[b] = tl_lg_swept(v, b);
    return TALUS_OK;
}

bool tl_lg_may_cross(tl_lg_trees *t, const tl_lg_view *v, int i, int k)
{
    if (i == k ? !touches_itself(v, i) : tl_lg_apart(&t->whole[i], &t->whole[k])) return false;
    if (i != k && tl_lg_is_jointed(v, i, v->lg->body[k].body)) return false;
    if (!t->fitted[k]) refit(v, k, t->box), t->fitted[k] = true;
    return true;
}

talus_status tl_lg_crossings(const tl_lg_view *v, tl_arena *a, int64_t *count, double *depth, talus_error *err)
{
    const tl_lg *lg = v->lg;
    size_t mark = tl_arena_mark(a);
    tl_lg_trees t;
    *count = 0;
    *depth = 0;
    TL_TRY(tl_lg_plant_trees(&t, v, a, err));
    for (int i = 0; i < lg->bodies; i++)
        for (int k = 0; k < lg->bodies; k++) {
            if (!tl_lg_may_cross(&t, v, i, k)) continue;
            const tl_lg_skin_body *s = &lg->skin.body[i];
            int64_t found = 0;
            double deep = 0;
#pragma omp parallel for schedule(static) reduction(+ : found) reduction(max : deep) if (s->edges > PARALLEL_EDGES)
            for (int32_t e = s->edge; e < s->edge + s->edges; e++) {
                double at;
                place near;
                deep = fmax(deep, cross_edge(v, t.box, i, e, k, &found, &at, &near));
            }
            *count += found;
            *depth = fmax(*depth, deep);
        }
    tl_arena_release(a, mark);
    return TALUS_OK;
}

/* A contact between the deepest place of edge e, of body a, and the surface of body b nearest to it. */
static tl_lg_contact contact_of(const tl_lg_view *v, int a, int32_t e, int b, double at, const place *near)
{
    const tl_lg *lg = v->lg;
    const int32_t *edge = lg->skin.edge[e], *corner = lg->surface[near->triangle];
    bool node = at == 0 || at == 1;
    tl_vec3 p = tl_vec3_add_scaled(tl_vec3_scale(1 - at, tl_lg_at(v->to, edge[0])), at, tl_lg_at(v->to, edge[1]));
    tl_lg_contact c = {
        .a = {{edge[node && at == 1], node ? -1 : edge[1], -1, -1}, {node ? 1 : 1 - at, node ? 0 : at}},
        .b = {{corner[0], corner[1], corner[2], -1}, {near->weight[0], near->weight[1], near->weight[2]}},
        .rigid = -1,
        .body_a = lg->body[a].body,
        .body_b = lg->body[b].body,
        .point = node ? edge[at == 1] : lg->nodes + e,
        .obstacle = v->rigid->count + near->triangle,
        .feature = 2, /* neither a face's middle nor its rim */
        .normal = tl_vec3_scale(1 / near->distance, tl_vec3_sub(near->at, p)),
        .at = near->at};
    c.mu = tl_lg_pair_friction(v, a, c.body_b, &c.restitution);
    c.offset = tl_lg_leaves_slowly(v, &c);
    return c;
}

talus_status tl_lg_pierced(const tl_lg_view *v, double depth, tl_lg_found *out, talus_error *err)
{
    const tl_lg *lg = v->lg;
    tl_lg_trees t;
    TL_TRY(tl_lg_plant_trees(&t, v, out->a, err));
    for (int i = 0; i < lg->bodies; i++)
        for (int k = 0; k < lg->bodies; k++) {
            if (i == k || lg->body[k].kind == TL_LG_CLOTH || !tl_lg_may_cross(&t, v, i, k)) continue;
            const tl_lg_skin_body *s = &lg->skin.body[i];
            for (int32_t e = s->edge; e < s->edge + s->edges; e++) {
                int64_t found = 0;
                double at = 0;
                place near = {.triangle = -1};
                if (!(cross_edge(v, t.box, i, e, k, &found, &at, &near) > depth) || near.triangle < 0) continue;
                tl_lg_contact c = contact_of(v, i, e, k, at, &near);
                TL_TRY(tl_lg_found_add(out, &c, err));
            }
        }
    return TALUS_OK;
}
