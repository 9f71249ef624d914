/* Elastic surfaces that would meet on the way: nodes against triangles and edges against edges, of different bodies,
 * or of one that touches itself, along straight ways from v->from to v->to. By conservative advancement [Li2021,
 * sec. 5]: as far as two places cannot meet, again and again, until the way is done or little of the distance that
 * they began with is left. What was that near at the beginning already is left to contact. */
#include <math.h>

#include "model/lg/detect.h"

#define KEPT 4      /* of one node or edge that are told, the earliest */
#define LEFT 0.1    /* of the distance that contact keeps: nearer is an impact */
#define NEARER 0.9  /* of that at the beginning, if less: or contact that fails lets pairs come nearer to rounding */
#define ADVANCE 0.9 /* of what is left, in one go */
#define ADVANCES_MAX 500 /* more: as if they met, which they nearly do all the way */
#define ADVANCES_LOOK 16 /* then the rest of the way is looked at as a whole: what turns as one comes no nearer */
#define HALVINGS 5       /* of that way */
#define TOUCHING                                                                                                       \
    1e-4 /* of the shorter mean edge: solids that begin nearer touch, and contact says how they part. Chosen */
#define ON                                                                                                             \
    1e-12 /* of it: cloth has no inside to be pushed out of, so nothing may pass; nearer ones have no direction */
#define PARALLEL_ITEMS 200
#define STACK 64

typedef struct impact {
    int32_t other; /* triangle or edge; -1: none */
    double when;   /* share of the way */
    double own;    /* share along the own edge */
    double weight[3];
    double began; /* m: distance at the beginning */
    tl_vec3 normal;
} impact;

typedef struct search {
    const tl_lg_view *v;
    const tl_lg_trees *trees;
    int a, b;
    double touching, half; /* m: nearer ones touch; thickness between their middles */
    impact *found;         /* [items][KEPT] */
} search;

/* ---- two places ---- */

/* Nearest places of two segments, shares i and j. */
static void nearest_of_edges(const tl_vec3 x[4], double *i, double *j)
{
    const tl_vec3 a = tl_vec3_sub(x[1], x[0]), b = tl_vec3_sub(x[3], x[2]), r = tl_vec3_sub(x[0], x[2]);
    const double aa = tl_vec3_norm2(a), bb = tl_vec3_norm2(b), ab = tl_vec3_dot(a, b), ar = tl_vec3_dot(a, r),
                 br = tl_vec3_dot(b, r), D = aa * bb - ab * ab;
    *i = D > 0 ? fmin(1, fmax(0, (ab * br - bb * ar) / D)) : 0;
    *j = bb > 0 ? (ab * *i + br) / bb : 0;
    if (*j < 0 || *j > 1) {
        *j = *j < 0 ? 0 : 1;
        *i = aa > 0 ? fmin(1, fmax(0, (*j * ab - ar) / aa)) : 0;
    }
}

/* From the second to the first: a node x[0] and a triangle, or edges x[0] x[1] and x[2] x[3]. */
static tl_vec3 apart_of(const tl_vec3 x[4], bool edges, impact *at)
{
    if (edges) {
        double i, j;
        nearest_of_edges(x, &i, &j);
        at->own = i;
        at->weight[0] = 1 - j, at->weight[1] = j, at->weight[2] = 0;
        tl_vec3 p = tl_vec3_add_scaled(tl_vec3_scale(1 - i, x[0]), i, x[1]);
        return tl_vec3_sub(p, tl_vec3_add_scaled(tl_vec3_scale(1 - j, x[2]), j, x[3]));
    }
    tl_lg_nearest_place(x[0], x + 1, at->weight);
    tl_vec3 p = x[0];
    for (int k = 0; k < 3; k++) p = tl_vec3_add_scaled(p, -at->weight[k], x[1 + k]);
    return p;
}

static double longest(const tl_vec3 *d, int count)
{
    double max = 0;
    for (int k = 0; k < count; k++) max = fmax(max, tl_vec3_norm2(d[k]));
    return sqrt(max);
}

static tl_vec3 normal_of(const tl_lg_view *v, int32_t t)
{
    const int32_t *n = v->lg->surface[t];
    tl_vec3 x = tl_lg_at(v->from, n[0]);
    return tl_vec3_cross(tl_vec3_sub(tl_lg_at(v->from, n[1]), x), tl_vec3_sub(tl_lg_at(v->from, n[2]), x));
}

/* Of both sides of an edge. */
static tl_vec3 edge_normal(const tl_lg_view *v, int32_t e)
{
    const int32_t *t = v->lg->skin.sides[e];
    tl_vec3 n = normal_of(v, t[0]);
    return t[1] < 0 ? n : tl_vec3_add(n, normal_of(v, t[1]));
}

/* Whether the two begin outside of each other: a solid lets go what is inside. apart: from the other, which is
 * triangle or edge `other`, to the own edge or node. */
static bool is_outside(const search *s, bool edges, int32_t own, int32_t other, tl_vec3 apart)
{
    const tl_lg *lg = s->v->lg;
    if (lg->body[s->b].kind != TL_LG_CLOTH &&
        !(tl_vec3_dot(apart, edges ? edge_normal(s->v, other) : normal_of(s->v, other)) > 0))
        return false;
    return lg->body[s->a].kind == TL_LG_CLOTH || !edges || tl_vec3_dot(apart, edge_normal(s->v, own)) < 0;
}

/* m: what contact keeps, or less where they begin nearer. */
static double kept_apart(const search *s, double began) { return fmin(began, s->half + s->touching); }

/* m: two that came nearer than this have met. */
static double met_at(const search *s, double began) { return fmin(LEFT * (s->half + s->touching), NEARER * began); }

/* Whether planes (of edges: lines) stay further apart than `least` from `at` to `end`. Their distance is
 * r . (a x b) / |a x b|, a cubic over the root of a quartic: coefficients in Bernstein's form bound both. side: of the
 * cubic at the beginning. */
static bool stays_apart(const tl_vec3 at[4], const tl_vec3 end[4], bool edges, double side, double least, int halvings)
{
    const int root = edges ? 2 : 1;
    tl_vec3 a[2], b[2], r[2], n[3], middle[4];
    for (int k = 0; k < 2; k++) {
        const tl_vec3 *x = k ? end : at;
        a[k] = edges ? tl_vec3_sub(x[1], x[0]) : tl_vec3_sub(x[2], x[1]);
        b[k] = tl_vec3_sub(x[3], x[root]);
        r[k] = tl_vec3_sub(x[root], x[0]);
    }
    n[0] = tl_vec3_cross(a[0], b[0]);
    n[1] = tl_vec3_scale(0.5, tl_vec3_add(tl_vec3_cross(a[0], b[1]), tl_vec3_cross(a[1], b[0])));
    n[2] = tl_vec3_cross(a[1], b[1]);
    const double v[4] = {tl_vec3_dot(r[0], n[0]), (tl_vec3_dot(r[1], n[0]) + 2 * tl_vec3_dot(r[0], n[1])) / 3,
                         (2 * tl_vec3_dot(r[1], n[1]) + tl_vec3_dot(r[0], n[2])) / 3, tl_vec3_dot(r[1], n[2])};
    if (side == 0) side = v[0] > 0 ? 1 : -1;
    if (!(side * v[0] > least * tl_vec3_norm(n[0])) || !(side * v[3] > least * tl_vec3_norm(n[2]))) return false;
    const double max = least * longest(n, 3);
    if (side * v[1] > max && side * v[2] > max && side * v[0] > max && side * v[3] > max) return true;
    if (halvings == 0) return false;
    for (int k = 0; k < 4; k++) middle[k] = tl_vec3_scale(0.5, tl_vec3_add(at[k], end[k]));
    return stays_apart(at, middle, edges, side, least, halvings - 1) &&
           stays_apart(middle, end, edges, side, least, halvings - 1);
}

/* Whether the two come as near to each other as an impact. */
static bool meet(const search *s, const int32_t node[4], bool edges, int32_t own, impact *out)
{
    tl_vec3 x[4], d[4], mean = {0, 0, 0};
    for (int k = 0; k < 4; k++) {
        x[k] = tl_lg_at(s->v->from, node[k]);
        d[k] = tl_vec3_sub(tl_lg_at(s->v->to, node[k]), x[k]);
        mean = tl_vec3_add_scaled(mean, 0.25, d[k]);
    }
    for (int k = 0; k < 4; k++) d[k] = tl_vec3_sub(d[k], mean);
    const int mine = edges ? 2 : 1;
    const double speed = longest(d, mine) + longest(d + mine, 4 - mine);
    tl_vec3 apart = apart_of(x, edges, out);
    double distance = tl_vec3_norm(apart), way = 0;
    out->began = distance;
    const double goal = met_at(s, distance);
    if (distance < s->touching || speed < distance - goal) return false;
    if (!is_outside(s, edges, own, out->other, apart)) return false;
    for (int tries = 0; tries < ADVANCES_MAX; tries++) {
        if (tries % ADVANCES_LOOK == ADVANCES_LOOK - 1) {
            tl_vec3 end[4];
            for (int k = 0; k < 4; k++) end[k] = tl_vec3_add_scaled(x[k], 1 - way, d[k]);
            if (stays_apart(x, end, edges, 0, goal, HALVINGS)) return false;
        }
        const double go = ADVANCE * (distance - 0.5 * goal) / speed;
        way += go;
        if (way >= 1) return false;
        for (int k = 0; k < 4; k++) x[k] = tl_vec3_add_scaled(x[k], go, d[k]);
        apart = apart_of(x, edges, out);
        distance = tl_vec3_norm(apart);
        if (distance < goal) break;
    }
    if (!(distance > 0)) return false;
    out->when = way;
    out->normal = tl_vec3_scale(1 / distance, apart);
    return true;
}

/* ---- search ---- */

static void keep(impact kept[KEPT], const impact *i)
{
    int at = KEPT;
    while (at > 0 && (kept[at - 1].other < 0 || i->when < kept[at - 1].when)) at--;
    if (at == KEPT) return;
    for (int k = KEPT - 1; k > at; k--) kept[k] = kept[k - 1];
    kept[at] = *i;
}

static void try_node(const search *s, int32_t i, int32_t t, impact kept[KEPT])
{
    const int32_t *n = s->v->lg->surface[t], node[4] = {i, n[0], n[1], n[2]};
    impact found = {.other = t};
    if (i == n[0] || i == n[1] || i == n[2]) return;
    if (meet(s, node, false, i, &found)) keep(kept, &found);
}

static void try_edge(const search *s, int32_t e, int32_t t, impact kept[KEPT])
{
    const tl_lg_skin *skin = &s->v->lg->skin;
    for (int k = 0; k < 3; k++) {
        const int32_t f = skin->corner_edge[t][k], *p = skin->edge[e], *q = skin->edge[f],
                      node[4] = {p[0], p[1], q[0], q[1]};
        impact found = {.other = f};
        if (skin->sides[f][0] != t || (s->a == s->b && f <= e)) continue;
        if (p[0] == q[0] || p[0] == q[1] || p[1] == q[0] || p[1] == q[1]) continue;
        if (meet(s, node, true, e, &found)) keep(kept, &found);
    }
}

static void look(const search *s, const int32_t *node, int count, int32_t item, impact kept[KEPT])
{
    const tl_lg *lg = s->v->lg;
    const tl_lg_skin_body *b = &lg->skin.body[s->b];
    const tl_box3 *tree = s->trees->box + b->tree, own = tl_lg_box_of(s->v, node, count);
    const int32_t *order = lg->skin.order + lg->body[s->b].triangle, triangles = lg->body[s->b].triangles;
    int32_t stack[STACK], top = 0;
    for (int k = 0; k < KEPT; k++) kept[k].other = -1;
    stack[top++] = 1;
    while (top) {
        const int32_t i = stack[--top];
        if (tl_lg_apart(&own, &tree[i])) continue;
        if (i < b->leaves) {
            stack[top++] = 2 * i + 1;
            stack[top++] = 2 * i;
            continue;
        }
        for (int32_t k = (i - b->leaves) * TL_SKIN_LEAF; k < (i - b->leaves + 1) * TL_SKIN_LEAF && k < triangles; k++)
            if (count == 1)
                try_node(s, item, order[k], kept);
            else
                try_edge(s, item, order[k], kept);
    }
}

static talus_status emit(const search *s, bool edge, int32_t item, const impact *i, tl_lg_found *f, talus_error *err)
{
    const tl_lg *lg = s->v->lg;
    const int32_t *other = edge ? lg->skin.edge[i->other] : lg->surface[i->other];
    tl_lg_contact c = {.a = {{item, -1, -1, -1}, {1, 0, 0, 0}},
                       .b = {{-1, -1, -1, -1}, {0, 0, 0, 0}},
                       .rigid = -1,
                       .body_a = lg->body[s->a].body,
                       .body_b = lg->body[s->b].body,
                       .point = edge ? lg->nodes + item : item,
                       .obstacle = s->v->rigid->count + i->other + (edge ? lg->surface_triangles : 0),
                       .feature = TL_LG_ON_THE_WAY,
                       .normal = i->normal};
    if (edge) {
        for (int k = 0; k < 2; k++) c.a.node[k] = lg->skin.edge[item][k];
        c.a.weight[0] = 1 - i->own, c.a.weight[1] = i->own;
    }
    for (int k = 0; k < (edge ? 2 : 3); k++) {
        c.b.node[k] = other[k];
        c.b.weight[k] = i->weight[k];
        c.at = tl_vec3_add_scaled(c.at, i->weight[k], tl_lg_at(s->v->from, other[k]));
    }
    c.mu = tl_lg_pair_friction(s->v, s->a, lg->body[s->b].body, &c.restitution);
    c.offset = kept_apart(s, i->began);
    return tl_lg_found_add(f, &c, err);
}

/* Nodes of body a, or its edges, against body b. */
static talus_status against(const search *s, bool edge, tl_lg_found *f, talus_error *err)
{
    const tl_lg_skin *skin = &s->v->lg->skin;
    const tl_lg_skin_body *a = &skin->body[s->a];
    const int32_t first = edge ? a->edge : a->node, count = edge ? a->edges : a->nodes;
#pragma omp parallel for schedule(dynamic, 64) if (count > PARALLEL_ITEMS)
    for (int32_t k = 0; k < count; k++) {
        const int32_t *node = edge ? skin->edge[first + k] : &skin->node[first + k];
        look(s, node, edge ? 2 : 1, edge ? first + k : *node, s->found + KEPT * (int64_t)k);
    }
    for (int32_t k = 0; k < count; k++)
        for (const impact *i = s->found + KEPT * (int64_t)k; i < s->found + KEPT * (int64_t)(k + 1) && i->other >= 0;
             i++)
            TL_TRY(emit(s, edge, edge ? first + k : skin->node[first + k], i, f, err));
    return TALUS_OK;
}

talus_status tl_lg_impacts(const tl_lg_view *v, bool solids, tl_arena *a, tl_lg_contacts *out, talus_error *err)
{
    const tl_lg *lg = v->lg;
    tl_lg_found f = {.a = a};
    tl_lg_trees trees;
    int32_t max = 0;
    TL_TRY(tl_lg_plant_trees(&trees, v, a, err));
    for (int b = 0; b < lg->bodies; b++) {
        const tl_lg_skin_body *s = &lg->skin.body[b];
        max = s->nodes > max ? s->nodes : max;
        max = s->edges > max ? s->edges : max;
    }
    impact *found = TL_TAKE(a, impact, KEPT * (int64_t)max + 1);
    if (!found) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for impacts of elastic bodies");
    for (int i = 0; i < lg->bodies; i++)
        for (int k = 0; k < lg->bodies; k++) {
            if (!tl_lg_may_cross(&trees, v, i, k)) continue;
            const bool cloth = lg->body[i].kind == TL_LG_CLOTH || lg->body[k].kind == TL_LG_CLOTH;
            if (!cloth && !solids) continue;
            const double edge = fmin(lg->skin.body[i].mean, lg->skin.body[k].mean);
            search s = {.v = v,
                        .trees = &trees,
                        .a = i,
                        .b = k,
                        .touching = (cloth ? ON : TOUCHING) * edge,
                        .half = tl_lg_half(lg, i) + tl_lg_half(lg, k),
                        .found = found};
            TL_TRY(against(&s, false, &f, err));
            if (i <= k) TL_TRY(against(&s, true, &f, err));
        }
    *out = (tl_lg_contacts){f.count, f.contact, 0, 0};
    return TALUS_OK;
}
