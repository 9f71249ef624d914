/* Elastic surfaces that have gone through each other: edges of one that pass through triangles of another, or of the same body where the
 * scene lets it touch itself. Looks at all of them, whatever contacts were found. */
#include <math.h>

#include "model/lg/detect.h"

#define STACK 64
#define PARALLEL_EDGES 200

static tl_box3 around(const tl_lg_view *v, const int32_t *node, int count)
{
    tl_box3 b = {tl_lg_at(v->to, node[0]), tl_lg_at(v->to, node[0])};
    for (int k = 1; k < count; k++) {
        b.lo = tl_vec3_min(b.lo, tl_lg_at(v->to, node[k]));
        b.hi = tl_vec3_max(b.hi, tl_lg_at(v->to, node[k]));
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
            b = both(b, around(v, lg->surface[order[k]], 3));
        box[s->leaves + leaf] = b;
    }
    for (int32_t i = s->leaves - 1; i >= 1; i--) box[i] = both(box[2 * i], box[2 * i + 1]);
}

/* m: by how much the nearer end of edge pq is beyond the triangle that it passes through; 0: it does not. */
static double pierced(const tl_lg_view *v, const int32_t edge[2], const int32_t corner[3])
{
    for (int k = 0; k < 3; k++)
        if (corner[k] == edge[0] || corner[k] == edge[1]) return 0;
    tl_vec3 p = tl_lg_at(v->to, edge[0]), a = tl_lg_at(v->to, corner[0]), d = tl_vec3_sub(tl_lg_at(v->to, edge[1]), p);
    tl_vec3 u = tl_vec3_sub(tl_lg_at(v->to, corner[1]), a), w = tl_vec3_sub(tl_lg_at(v->to, corner[2]), a);
    tl_vec3 n = tl_vec3_cross(u, w), r = tl_vec3_sub(p, a);
    double area2 = tl_vec3_norm2(n), before = tl_vec3_dot(n, r), along = tl_vec3_dot(n, d), after = before + along;
    if (!(before * after < 0)) return 0;
    tl_vec3 x = tl_vec3_add_scaled(r, -before / along, d); /* in the plane, from a */
    double s = tl_vec3_dot(n, tl_vec3_cross(x, w)), t = tl_vec3_dot(n, tl_vec3_cross(u, x));
    if (s < 0 || t < 0 || s + t > area2) return 0;
    return fmin(fabs(before), fabs(after)) / sqrt(area2);
}

/* Edge e of body a against all triangles of body b. */
static double cross_edge(const tl_lg_view *v, const tl_box3 *box, int32_t e, int b, int64_t *count)
{
    const tl_lg *lg = v->lg;
    const tl_lg_skin_body *s = &lg->skin.body[b];
    const int32_t *edge = lg->skin.edge[e], *order = lg->skin.order + lg->body[b].triangle;
    int32_t stack[STACK], top = 0, triangles = lg->body[b].triangles;
    tl_box3 own = around(v, edge, 2);
    double deep = 0;
    stack[top++] = 1;
    while (top) {
        int32_t i = stack[--top];
        if (tl_lg_apart(&own, &box[s->tree + i])) continue;
        if (i < s->leaves) {
            stack[top++] = 2 * i + 1;
            stack[top++] = 2 * i;
            continue;
        }
        for (int32_t k = (i - s->leaves) * TL_SKIN_LEAF; k < (i - s->leaves + 1) * TL_SKIN_LEAF && k < triangles; k++) {
            double d = pierced(v, edge, lg->surface[order[k]]);
            *count += d > 0;
            deep = fmax(deep, d);
        }
    }
    return deep;
}

static bool touches_itself(const tl_lg_view *v, int body)
{
    int32_t b = v->lg->body[body].body;
    return b >= 0 && v->scene->bodies[b].self_contact;
}

talus_status tl_lg_crossings(const tl_lg_view *v, tl_arena *a, int64_t *count, double *depth, talus_error *err)
{
    const tl_lg *lg = v->lg;
    size_t mark = tl_arena_mark(a);
    tl_box3 *box = TL_TAKE(a, tl_box3, lg->skin.boxes + 1);
    bool *fitted = TL_TAKE_ZERO(a, bool, lg->bodies + 1);
    tl_box3 *whole = TL_TAKE(a, tl_box3, lg->bodies + 1);
    *count = 0;
    *depth = 0;
    if (!box || !fitted || !whole) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to look for crossings");
    for (int b = 0; b < lg->bodies; b++) whole[b] = tl_lg_swept(v, b);
    for (int i = 0; i < lg->bodies; i++)
        for (int k = 0; k < lg->bodies; k++) {
            if (i == k ? !touches_itself(v, i) : tl_lg_apart(&whole[i], &whole[k])) continue;
            if (!fitted[k]) refit(v, k, box), fitted[k] = true;
            const tl_lg_skin_body *s = &lg->skin.body[i];
            int64_t found = 0;
            double deep = 0;
#pragma omp parallel for schedule(static) reduction(+ : found) reduction(max : deep) if (s->edges > PARALLEL_EDGES)
            for (int32_t e = s->edge; e < s->edge + s->edges; e++) deep = fmax(deep, cross_edge(v, box, e, k, &found));
            *count += found;
            *depth = fmax(*depth, deep);
        }
    tl_arena_release(a, mark);
    return TALUS_OK;
}
