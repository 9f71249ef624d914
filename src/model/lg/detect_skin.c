/* Elastic surfaces against each other, and against themselves: nodes against triangles, sharp edges against sharp
 * edges.
 *
 * Looked at where the step begins, as far as both may move towards each other. A solid knows its outside: a node behind
 * a triangle, up to half an edge deep, is pushed out of it, and faces that look the same way do not touch. A cloth has
 * two sides, and what is near one of them stays there: nothing passes through a cloth on the way of a step (impacts.c).
 * Just beyond the rim of a face the face still counts, so that blocks that stand flush on each other do not find each
 * other's sides.
 *
 * Within one body: what shares a node, has neighbours in common, or is as near at rest does not count. */
#include <math.h>

#include "model/lg/detect.h"
#include "model/lg/holds.h"

#define KEPT 4   /* triangles of one node, or edges of one edge, with normals of their own */
#define SAME 0.8 /* cosine of normals that count as one */
#define RIM 0.05 /* of the mean edge: how far beyond a face it still counts. Chosen */
#define DEEP 0.5 /* of the mean edge: how deep a node may be inside. Chosen: beyond, the far side may be nearer */
#define EDGE_DEEP                                                                                                      \
    0.25 /* of the shortest edge: how deep edges may be behind each other; beyond, they may be those of far sides */
#define SHARP 0.966       /* cosine of 15 degrees between an edge's triangles: flatter ones are left to nodes. Chosen */
#define SHARP_FINE 0.9986 /* of 3 degrees: where a second look sees to it that bodies do not overlap */
#define BETWEEN 0.02      /* cosine: how far a normal may be beyond the faces of an edge */
#define END 0.02          /* of an edge: nearer to its ends the nodes count */
#define PARALLEL 0.1      /* sine: edges that are more parallel are left to nodes */
#define RISE 0.2          /* mean edges that what leaves an overlap would rise by, at most. Chosen */
#define STRAIN 0.03       /* where nothing falls: of the speed of shear waves, strains that leaving makes. Chosen */
#define ON 1e-6           /* of the mean edge: nearer ones have no direction of their own */
#define STACK 64
#define PARALLEL_NODES 200

/* What is derived of all surfaces once per step. */
typedef struct skins {
    tl_box3 *box;    /* [skin.boxes] swept, grown by slack and half thickness */
    tl_vec3 *normal; /* [triangles] unit, at the start */
    tl_vec3 *node;   /* [surface nodes] of solids: mean normal, unit; of cloth 0 */
    tl_vec3 *edge;   /* [edges] of sharp ones: half the sum of its triangles' normals; 0: not sharp */
} skins;

typedef struct hit {
    int32_t other; /* triangle or edge; -1: none */
    double weight[3];
    double own;  /* share along the own edge */
    double near; /* m: what hits are ranked by */
    bool rim;    /* nearest to a rim of the triangle: counts only if nothing else is nearer */
    tl_vec3 normal;
} hit;

typedef struct search {
    const tl_lg_view *v;
    const skins *s;
    int a, b;
    double half, slack, mu, restitution;
    hit *hit; /* [most of nodes, edges][KEPT] */
} search;

/* ---- once per step ---- */

static tl_box3 swept_triangle(const tl_lg_view *v, int32_t t)
{
    const int32_t *n = v->lg->surface[t];
    tl_box3 b = {tl_lg_at(v->from, n[0]), tl_lg_at(v->from, n[0])};
    for (int k = 0; k < 3; k++) {
        tl_vec3 x = tl_lg_at(v->from, n[k]), y = tl_lg_at(v->to, n[k]);
        b.lo = tl_vec3_min(b.lo, tl_vec3_min(x, y));
        b.hi = tl_vec3_max(b.hi, tl_vec3_max(x, y));
    }
    return b;
}

static void refit(const tl_lg_view *v, int body, tl_box3 *all)
{
    const tl_lg *lg = v->lg;
    const tl_lg_skin_body *s = &lg->skin.body[body];
    const int32_t *order = lg->skin.order + lg->body[body].triangle;
    int32_t count = lg->body[body].triangles;
    double grow = tl_lg_slack(v, body) + tl_lg_half(lg, body);
    tl_box3 *box = all + s->tree;
#pragma omp parallel for schedule(static) if (count > PARALLEL_NODES)
    for (int32_t leaf = 0; leaf < s->leaves; leaf++) {
        tl_box3 b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
        for (int32_t k = leaf * TL_SKIN_LEAF; k < (leaf + 1) * TL_SKIN_LEAF && k < count; k++) {
            tl_box3 t = swept_triangle(v, order[k]);
            b = (tl_box3){tl_vec3_min(b.lo, t.lo), tl_vec3_max(b.hi, t.hi)};
        }
        box[s->leaves + leaf] = tl_lg_grown(b, grow);
    }
    for (int32_t i = s->leaves - 1; i >= 1; i--)
        box[i] =
            (tl_box3){tl_vec3_min(box[2 * i].lo, box[2 * i + 1].lo), tl_vec3_max(box[2 * i].hi, box[2 * i + 1].hi)};
}

static void find_normals(const tl_lg_view *v, int body, const skins *s)
{
    const tl_lg *lg = v->lg;
    const tl_lg_skin *skin = &lg->skin;
    const tl_lg_skin_body *b = &skin->body[body];
    bool solid = lg->body[body].kind != TL_LG_CLOTH;
    for (int32_t k = b->node; k < b->node + b->nodes; k++) s->node[k] = (tl_vec3){0, 0, 0};
    for (int32_t t = lg->body[body].triangle; t < lg->body[body].triangle + lg->body[body].triangles; t++) {
        const int32_t *n = lg->surface[t];
        tl_vec3 x = tl_lg_at(v->from, n[0]);
        tl_vec3 area = tl_vec3_cross(tl_vec3_sub(tl_lg_at(v->from, n[1]), x), tl_vec3_sub(tl_lg_at(v->from, n[2]), x));
        s->normal[t] = tl_vec3_normalize_or(area, (tl_vec3){0, 0, 0});
        for (int k = 0; k < 3 && solid; k++) s->node[skin->place[n[k]]] = tl_vec3_add(s->node[skin->place[n[k]]], area);
    }
    for (int32_t k = b->node; k < b->node + b->nodes; k++)
        s->node[k] = tl_vec3_normalize_or(s->node[k], (tl_vec3){0, 0, 0});
    for (int32_t e = b->edge; e < b->edge + b->edges; e++) {
        const int32_t *t = skin->sides[e];
        s->edge[e] = s->normal[t[0]];
        if (t[1] < 0) continue;
        bool flat = tl_vec3_dot(s->normal[t[0]], s->normal[t[1]]) > (v->solids_again ? SHARP_FINE : SHARP);
        s->edge[e] = flat ? (tl_vec3){0, 0, 0} : tl_vec3_scale(0.5, tl_vec3_add(s->normal[t[0]], s->normal[t[1]]));
        if (!solid || flat) continue;
        /* only edges that stick out: the far corner of the one lies behind the other */
        int32_t far = -1;
        for (int k = 0; k < 3; k++)
            if (lg->surface[t[1]][k] != skin->edge[e][0] && lg->surface[t[1]][k] != skin->edge[e][1])
                far = lg->surface[t[1]][k];
        tl_vec3 over = tl_vec3_sub(tl_lg_at(v->from, far), tl_lg_at(v->from, skin->edge[e][0]));
        if (tl_vec3_dot(over, s->normal[t[0]]) > 0) s->edge[e] = (tl_vec3){0, 0, 0};
    }
}

/* ---- a node and a triangle ---- */

void tl_lg_nearest_place(tl_vec3 p, const tl_vec3 x[3], double w[3])
{
    tl_vec3 ab = tl_vec3_sub(x[1], x[0]), ac = tl_vec3_sub(x[2], x[0]), ap = tl_vec3_sub(p, x[0]),
            bp = tl_vec3_sub(p, x[1]), cp = tl_vec3_sub(p, x[2]);
    double d1 = tl_vec3_dot(ab, ap), d2 = tl_vec3_dot(ac, ap), d3 = tl_vec3_dot(ab, bp), d4 = tl_vec3_dot(ac, bp),
           d5 = tl_vec3_dot(ab, cp), d6 = tl_vec3_dot(ac, cp);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    w[0] = w[1] = w[2] = 0;
    if (d1 <= 0 && d2 <= 0)
        w[0] = 1;
    else if (d3 >= 0 && d4 <= d3)
        w[1] = 1;
    else if (d6 >= 0 && d5 <= d6)
        w[2] = 1;
    else if (vc <= 0 && d1 >= 0 && d3 <= 0)
        w[1] = d1 / (d1 - d3), w[0] = 1 - w[1];
    else if (vb <= 0 && d2 >= 0 && d6 <= 0)
        w[2] = d2 / (d2 - d6), w[0] = 1 - w[2];
    else if (va <= 0 && d4 >= d3 && d5 >= d6)
        w[2] = (d4 - d3) / (d4 - d3 + d5 - d6), w[1] = 1 - w[2];
    else {
        double sum = va + vb + vc;
        w[1] = vb / sum, w[2] = vc / sum, w[0] = 1 - w[1] - w[2];
    }
}

static tl_vec3 mean(const tl_vec3 x[3], const double w[3])
{
    return tl_vec3_add_scaled(tl_vec3_add_scaled(tl_vec3_scale(w[0], x[0]), w[1], x[1]), w[2], x[2]);
}

static bool adjoins(const tl_lg *lg, int32_t node, int32_t t)
{
    for (int k = 0; k < 3; k++) {
        if (lg->surface[t][k] == node) return true;
        /* a neighbour of a corner: the two share an edge of the skin next to t */
        const int32_t *sides = lg->skin.sides[lg->skin.corner_edge[t][k]];
        for (int i = 0; i < 2; i++)
            for (int c = 0; c < 3 && sides[i] >= 0; c++)
                if (lg->surface[sides[i]][c] == node) return true;
    }
    return false;
}

static bool near_at_rest(const tl_lg *lg, int32_t node, int32_t t, double reach)
{
    tl_vec3 x[3], p = tl_lg_at(lg->rest, node);
    double w[3];
    for (int k = 0; k < 3; k++) x[k] = tl_lg_at(lg->rest, lg->surface[t][k]);
    tl_lg_nearest_place(p, x, w);
    return tl_vec3_norm(tl_vec3_sub(p, mean(x, w))) <= reach;
}

/* Whether a place p, whose nearest place of a solid's triangle t is on its rim or at a corner (weights w), lies
 * inside of the solid there, as below an edge that bends inwards: no face has it in front of its middle. By the mean
 * normal of the edge's faces, or of the node. */
static bool inside_at_rim(const search *s, int32_t t, const double w[3], tl_vec3 apart)
{
    const tl_lg_skin *skin = &s->v->lg->skin;
    int corner = w[0] == 1 ? 0 : w[1] == 1 ? 1 : w[2] == 1 ? 2 : -1;
    if (corner >= 0) return tl_vec3_dot(apart, s->s->node[skin->place[s->v->lg->surface[t][corner]]]) < 0;
    int across = w[0] == 0 ? 0 : w[1] == 0 ? 1 : 2;
    const int32_t *sides = skin->sides[skin->corner_edge[t][across]];
    if (sides[1] < 0) return false;
    return tl_vec3_dot(apart, tl_vec3_add(s->s->normal[sides[0]], s->s->normal[sides[1]])) < 0;
}

/* Whether and how the node touches triangle t. */
static bool node_on_triangle(const search *s, int32_t node, int32_t t, hit *out)
{
    const tl_lg_view *v = s->v;
    const tl_lg *lg = v->lg;
    const int32_t *n = lg->surface[t];
    if (!(tl_vec3_norm2(s->s->normal[t]) > 0)) return false; /* collapsed: its neighbours remain */
    if (s->a == s->b && adjoins(lg, node, t)) return false;
    tl_vec3 p = tl_lg_at(v->from, node), x[3], normal = s->s->normal[t], y[3];
    double w[3], L = lg->skin.body[s->b].mean;
    for (int k = 0; k < 3; k++) x[k] = tl_lg_at(v->from, n[k]), y[k] = tl_lg_at(v->to, n[k]);
    tl_lg_nearest_place(p, x, w);
    tl_vec3 at = mean(x, w), apart = tl_vec3_sub(p, at);
    tl_vec3 move = tl_vec3_sub(tl_vec3_sub(tl_lg_at(v->to, node), p), tl_vec3_sub(mean(y, w), at));
    double distance = tl_vec3_norm(apart), reach = s->slack + s->half + tl_vec3_norm(move);
    double height = tl_vec3_dot(apart, normal), beside = sqrt(fmax(0, distance * distance - height * height));
    bool solid = lg->body[s->b].kind != TL_LG_CLOTH, rim = beside > RIM * L;
    if (distance > reach && !(solid && height < 0 && height > -DEEP * L)) return false;
    if (!solid) {
        if (height < 0) normal = tl_vec3_neg(normal);
        rim = beside > fmin(RIM * L, fabs(height)) && distance > ON * L;
        if (rim) normal = tl_vec3_scale(1 / distance, apart);
    } else if (height < 0 && beside > 1e-6 * L) {
        if (distance > DEEP * L || !inside_at_rim(s, t, w, apart))
            return false; /* others are nearer, or it is outside */
        normal = tl_vec3_scale(-1 / distance, apart);
        rim = true;
    } else if (beside > RIM * L) {
        normal = tl_vec3_scale(1 / distance, apart);
    } else if (height < -DEEP * L)
        return false;
    if (lg->body[s->a].kind != TL_LG_CLOTH && tl_vec3_dot(normal, s->s->node[lg->skin.place[node]]) > 0) return false;
    if (s->a == s->b && near_at_rest(lg, node, t, fmax(reach, 0.5 * L))) return false;
    *out = (hit){t, {w[0], w[1], w[2]}, 0, distance, rim, normal};
    return true;
}

/* ---- two edges ---- */

/* n is square to the edge: it lies between the normals of its faces if it is no further from their mean than they
 * are. */
static bool between_faces(tl_vec3 n, tl_vec3 half_sum)
{
    return tl_vec3_dot(n, half_sum) > tl_vec3_norm2(half_sum) - BETWEEN;
}

static bool edge_on_edge(const search *s, int32_t e, int32_t f, hit *out)
{
    const tl_lg_view *v = s->v;
    const tl_lg *lg = v->lg;
    const int32_t *p = lg->skin.edge[e], *q = lg->skin.edge[f];
    if (p[0] == q[0] || p[0] == q[1] || p[1] == q[0] || p[1] == q[1]) return false;
    tl_vec3 x = tl_lg_at(v->from, p[0]), y = tl_lg_at(v->from, q[0]), a = tl_vec3_sub(tl_lg_at(v->from, p[1]), x),
            b = tl_vec3_sub(tl_lg_at(v->from, q[1]), y), r = tl_vec3_sub(x, y), n = tl_vec3_cross(a, b);
    double aa = tl_vec3_norm2(a), bb = tl_vec3_norm2(b), ab = tl_vec3_dot(a, b), ar = tl_vec3_dot(a, r),
           br = tl_vec3_dot(b, r), D = aa * bb - ab * ab;
    if (!(D > PARALLEL * PARALLEL * aa * bb)) return false;
    double i = (ab * br - bb * ar) / D, j = (aa * br - ab * ar) / D;
    if (!(i > END && i < 1 - END && j > END && j < 1 - END)) return false;
    tl_vec3 apart = tl_vec3_sub(tl_vec3_add_scaled(x, i, a), tl_vec3_add_scaled(y, j, b));
    n = tl_vec3_normalize(n);
    bool solid_a = lg->body[s->a].kind != TL_LG_CLOTH, solid_b = lg->body[s->b].kind != TL_LG_CLOTH;
    double side = solid_b   ? tl_vec3_dot(n, s->s->edge[f])
                  : solid_a ? -tl_vec3_dot(n, s->s->edge[e])
                            : tl_vec3_dot(n, apart);
    if (side < 0) n = tl_vec3_neg(n);
    if ((solid_b && !between_faces(n, s->s->edge[f])) || (solid_a && !between_faces(tl_vec3_neg(n), s->s->edge[e])))
        return false;
    double gap = tl_vec3_dot(n, apart), L = fmin(lg->skin.body[s->a].mean, lg->skin.body[s->b].mean),
           shortest = fmin(lg->skin.body[s->a].shortest, lg->skin.body[s->b].shortest);
    tl_vec3 to_a = tl_vec3_add(tl_vec3_scale(1 - i, tl_lg_at(v->to, p[0])), tl_vec3_scale(i, tl_lg_at(v->to, p[1]))),
            to_b = tl_vec3_add(tl_vec3_scale(1 - j, tl_lg_at(v->to, q[0])), tl_vec3_scale(j, tl_lg_at(v->to, q[1])));
    double reach = s->slack + s->half + tl_vec3_norm(tl_vec3_sub(tl_vec3_sub(to_a, to_b), apart));
    if (gap > reach || gap < -EDGE_DEEP * shortest) return false;
    if (s->a == s->b && (near_at_rest(lg, p[0], lg->skin.sides[f][0], fmax(reach, 0.5 * L)) ||
                         near_at_rest(lg, p[1], lg->skin.sides[f][0], fmax(reach, 0.5 * L))))
        return false;
    *out = (hit){f, {1 - j, j, 0}, i, fabs(gap), false, n};
    return true;
}

/* ---- search ---- */

static bool nearer(const hit *h, const hit *than)
{
    return h->near < than->near || (h->near == than->near && h->other < than->other);
}

/* Keeps the nearest ones whose normals differ; equal ones by number. The last place is that of the nearest at a rim. */
static void keep(hit kept[KEPT], const hit *h)
{
    hit *rim = &kept[KEPT - 1];
    if (h->rim) {
        if (rim->other < 0 || nearer(h, rim)) *rim = *h;
        return;
    }
    int at = KEPT - 1;
    for (int k = KEPT - 2; k >= 0; k--) {
        bool same = kept[k].other >= 0 && tl_vec3_dot(kept[k].normal, h->normal) >= SAME;
        if (same && !nearer(h, &kept[k])) return;
        if (same || (kept[k].other < 0 && (at == KEPT - 1 || kept[at].other < 0))) at = k;
    }
    if (at < KEPT - 1) kept[at] = *h;
}

/* Drops a rim that is not nearest; closes up. */
static void settle(hit kept[KEPT])
{
    hit *rim = &kept[KEPT - 1];
    for (int k = 0; k < KEPT - 1; k++)
        if (kept[k].other >= 0 && rim->other >= 0 && !nearer(rim, &kept[k])) rim->other = -1;
    for (int k = 0; k < KEPT - 1; k++)
        for (int l = k + 1; l < KEPT && kept[k].other < 0; l++) {
            kept[k] = kept[l];
            kept[l].other = -1;
        }
}

typedef void touches(const search *s, int32_t mine, int32_t triangle, hit kept[KEPT]);

static void node_touches(const search *s, int32_t node, int32_t triangle, hit kept[KEPT])
{
    hit h;
    if (node_on_triangle(s, node, triangle, &h)) keep(kept, &h);
}

static void edge_touches(const search *s, int32_t edge, int32_t triangle, hit kept[KEPT])
{
    const tl_lg_skin *skin = &s->v->lg->skin;
    hit h;
    for (int k = 0; k < 3; k++) {
        int32_t f = skin->corner_edge[triangle][k];
        bool first = skin->sides[f][0] == triangle && (s->a != s->b || f > edge);
        if (first && tl_vec3_norm2(s->s->edge[f]) > 0 && edge_on_edge(s, edge, f, &h)) keep(kept, &h);
    }
}

/* All triangles of body b whose box meets `box`. */
static void descend(const search *s, const tl_box3 *box, touches *look, int32_t mine, hit kept[KEPT])
{
    const tl_lg *lg = s->v->lg;
    const tl_lg_skin_body *b = &lg->skin.body[s->b];
    const tl_box3 *tree = s->s->box + b->tree;
    const int32_t *order = lg->skin.order + lg->body[s->b].triangle;
    int32_t stack[STACK], top = 0, count = lg->body[s->b].triangles;
    for (int k = 0; k < KEPT; k++) kept[k].other = -1;
    stack[top++] = 1;
    while (top > 0) {
        int32_t i = stack[--top];
        if (tl_lg_apart(&tree[i], box)) continue;
        if (i < b->leaves) {
            stack[top++] = 2 * i + 1;
            stack[top++] = 2 * i;
            continue;
        }
        for (int32_t k = (i - b->leaves) * TL_SKIN_LEAF; k < (i - b->leaves + 1) * TL_SKIN_LEAF && k < count; k++)
            look(s, mine, order[k], kept);
    }
    settle(kept);
}

static tl_box3 way(const tl_lg_view *v, int32_t node)
{
    tl_vec3 a = tl_lg_at(v->from, node), b = tl_lg_at(v->to, node);
    return (tl_box3){tl_vec3_min(a, b), tl_vec3_max(a, b)};
}

/* How fast overlaps leave, m/s: as what rises by RISE, 0.2 m/s with edges of 1 cm on earth. */
static double push_out(const tl_lg_view *v, int32_t node)
{
    const int body = v->lg->owner[node];
    const double g = tl_vec3_norm(v->scene->gravity);
    if (g > 0) return sqrt(2 * g * RISE * v->lg->skin.body[body].mean);
    return STRAIN * sqrt(v->lg->body[body].material.mu / v->lg->body[body].density);
}

double tl_lg_leaves_slowly(const tl_lg_view *v, const tl_lg_contact *c)
{
    const double *start = v->start ? v->start : v->from;
    double gap = -c->offset, leaves = push_out(v, c->a.node[0]) * v->h;
    for (int k = 0; k < 4 && c->a.node[k] >= 0; k++)
        gap += c->a.weight[k] * tl_vec3_dot(c->normal, tl_lg_at(start, c->a.node[k]));
    for (int k = 0; k < 4 && c->b.node[k] >= 0; k++)
        gap -= c->b.weight[k] * tl_vec3_dot(c->normal, tl_lg_at(start, c->b.node[k]));
    return -gap > leaves ? c->offset + gap + leaves : c->offset;
}

/* Surfaces that a join binds to each other do not touch there: contact between what is held in one place would only
 * fight the join over what is rounding. */
static bool are_bound(const search *s, int own, const int32_t *node, int others, const int32_t *other)
{
    const tl_lg_holds *h = s->v->lg->holds;
    if (!h || !h->soft_of) return false;
    for (int k = 0; k < own; k++)
        if (h->soft_of[node[k]] == s->b) return true;
    for (int k = 0; k < others; k++)
        if (h->soft_of[other[k]] == s->a) return true;
    return false;
}

static talus_status emit(const search *s, int own, const int32_t *node, int32_t point, const hit *h, tl_lg_found *f,
                         talus_error *err)
{
    const tl_lg *lg = s->v->lg;
    bool edge = own == 2;
    const int32_t *other = edge ? lg->skin.edge[h->other] : lg->surface[h->other];
    if (are_bound(s, own, node, edge ? 2 : 3, other)) return TALUS_OK;
    tl_lg_contact c = {.a = {{-1, -1, -1, -1}, {0, 0, 0, 0}},
                       .b = {{-1, -1, -1, -1}, {0, 0, 0, 0}},
                       .rigid = -1,
                       .body_a = lg->body[s->a].body,
                       .body_b = lg->body[s->b].body,
                       .point = point,
                       .obstacle = s->v->rigid->count + h->other + (edge ? lg->surface_triangles : 0),
                       .feature = h->rim,
                       .normal = h->normal,
                       .offset = s->half,
                       .mu = s->mu,
                       .restitution = s->restitution};
    for (int k = 0; k < own; k++) c.a.node[k] = node[k];
    c.a.weight[0] = edge ? 1 - h->own : 1;
    if (edge) c.a.weight[1] = h->own;
    for (int k = 0; k < (edge ? 2 : 3); k++) {
        c.b.node[k] = other[k];
        c.b.weight[k] = h->weight[k];
        c.at = tl_vec3_add_scaled(c.at, h->weight[k], tl_lg_at(s->v->from, other[k]));
    }
    c.offset = tl_lg_leaves_slowly(s->v, &c);
    return tl_lg_found_add(f, &c, err);
}

static talus_status nodes(const search *s, tl_lg_found *f, talus_error *err)
{
    const tl_lg_skin *skin = &s->v->lg->skin;
    const tl_lg_skin_body *a = &skin->body[s->a];
    double grow = tl_lg_slack(s->v, s->a) + tl_lg_half(s->v->lg, s->a);
#pragma omp parallel for schedule(dynamic, 64) if (a->nodes > PARALLEL_NODES)
    for (int32_t k = 0; k < a->nodes; k++) {
        int32_t i = skin->node[a->node + k];
        tl_box3 box = tl_lg_grown(way(s->v, i), grow);
        descend(s, &box, node_touches, i, s->hit + KEPT * (int64_t)k);
    }
    for (int32_t k = 0; k < a->nodes; k++) {
        int32_t i = skin->node[a->node + k];
        for (const hit *h = s->hit + KEPT * (int64_t)k; h < s->hit + KEPT * (int64_t)(k + 1) && h->other >= 0; h++)
            TL_TRY(emit(s, 1, &i, i, h, f, err));
    }
    return TALUS_OK;
}

static talus_status edges(const search *s, tl_lg_found *f, talus_error *err)
{
    const tl_lg_skin *skin = &s->v->lg->skin;
    const tl_lg_skin_body *a = &skin->body[s->a];
    double grow = tl_lg_slack(s->v, s->a) + tl_lg_half(s->v->lg, s->a);
#pragma omp parallel for schedule(dynamic, 64) if (a->edges > PARALLEL_NODES)
    for (int32_t k = 0; k < a->edges; k++) {
        const int32_t *e = skin->edge[a->edge + k];
        s->hit[KEPT * (int64_t)k].other = -1;
        if (!(tl_vec3_norm2(s->s->edge[a->edge + k]) > 0)) continue;
        tl_box3 p = way(s->v, e[0]), q = way(s->v, e[1]),
                box = tl_lg_grown((tl_box3){tl_vec3_min(p.lo, q.lo), tl_vec3_max(p.hi, q.hi)}, grow);
        descend(s, &box, edge_touches, a->edge + k, s->hit + KEPT * (int64_t)k);
    }
    for (int32_t k = 0; k < a->edges; k++)
        for (const hit *h = s->hit + KEPT * (int64_t)k; h < s->hit + KEPT * (int64_t)(k + 1) && h->other >= 0; h++)
            TL_TRY(emit(s, 2, skin->edge[a->edge + k], s->v->lg->nodes + a->edge + k, h, f, err));
    return TALUS_OK;
}

/* ---- the whole ---- */

static bool touches_itself(const tl_lg_view *v, int body)
{
    int32_t b = v->lg->body[body].body;
    return b >= 0 && v->scene->bodies[b].self_contact;
}

static talus_status take(skins *s, hit **hits, const tl_lg_view *v, tl_arena *a, talus_error *err)
{
    const tl_lg_skin *skin = &v->lg->skin;
    *s = (skins){.box = TL_TAKE(a, tl_box3, skin->boxes),
                 .normal = TL_TAKE(a, tl_vec3, v->lg->surface_triangles),
                 .node = TL_TAKE(a, tl_vec3, skin->nodes),
                 .edge = TL_TAKE(a, tl_vec3, skin->edges)};
    int32_t max = 0;
    for (int b = 0; b < v->lg->bodies; b++) {
        max = skin->body[b].nodes > max ? skin->body[b].nodes : max;
        max = skin->body[b].edges > max ? skin->body[b].edges : max;
    }
    *hits = TL_TAKE(a, hit, KEPT * (int64_t)max);
    if (!s->box || !s->normal || !s->node || !s->edge || !*hits)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for contacts between elastic bodies");
    return TALUS_OK;
}

static bool pair_near(const tl_lg_view *v, const tl_box3 *box, int a, int b)
{
    if (a == b) return touches_itself(v, a);
    return !tl_lg_apart(&box[a], &box[b]) && !tl_lg_is_jointed(v, a, v->lg->body[b].body);
}

talus_status tl_lg_detect_skins(const tl_lg_view *v, const tl_box3 *box, tl_lg_found *f, talus_error *err)
{
    skins s = {0};
    hit *hits = NULL;
    bool *ready = TL_TAKE_ZERO(f->a, bool, v->lg->bodies);
    if (!ready) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d elastic bodies", v->lg->bodies);
    for (int a = 0; a < v->lg->bodies; a++)
        for (int b = a; b < v->lg->bodies; b++) {
            if (!pair_near(v, box, a, b)) continue;
            if (!hits) TL_TRY(take(&s, &hits, v, f->a, err));
            const int two[2] = {a, b};
            for (int k = 0; k < 2; k++) {
                if (ready[two[k]]) continue;
                refit(v, two[k], s.box);
                find_normals(v, two[k], &s);
                ready[two[k]] = true;
            }
            search now = {
                v, &s, a,   b, tl_lg_half(v->lg, a) + tl_lg_half(v->lg, b), fmin(tl_lg_slack(v, a), tl_lg_slack(v, b)),
                0, 0,  hits};
            now.mu = tl_lg_pair_friction(v, a, v->lg->body[b].body, &now.restitution);
            TL_TRY(nodes(&now, f, err));
            TL_TRY(edges(&now, f, err));
            if (a == b) continue;
            now.a = b, now.b = a;
            TL_TRY(nodes(&now, f, err));
        }
    return TALUS_OK;
}
