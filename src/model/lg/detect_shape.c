/* Elastic surfaces against one shape by its signed distance.
 *
 * Everything is looked at in the shape's frame, in which its motion is part of the node's: from x0 to x1 with distances
 * d0 and d1. Nodes take the surface where they arrive, so that the frozen normal of a curved obstacle is that of the
 * end of the step; unless the way there turned the normal by more than 45 degrees (over an edge, or through something
 * thin): then where the way first meets the surface.
 *
 * Between nodes, edges and corners of the shape reach deepest where the distance is least along a mesh edge or
 * within a triangle. The distance of a convex shape is convex: tangent planes at what was looked at bound it from
 * below, their lowest common point is looked at next [Kelley60], which meets the kink of a knife's edge in a few
 * looks. The normal there is the mean of both sides' that is square to the mesh edge (triangle): square to the knife
 * as well. It is looked for where the nodes arrive, then where they start. Only what reaches deeper than the nodes
 * around by POKE of the edge is added. Shapes that are not convex may have several such places in a triangle, which
 * tangents miss: the samples of their surface are looked at too, the deepest in each look. */
#include <math.h>

#include "geom/collide/collider_data.h"
#include "geom/collide/general.h"
#include "model/lg/detect.h"
#include "model/lg/holds.h"

#define AGREE 0.7     /* cosine between normals at both ends of a node's way; below, the way is followed. Chosen */
#define WAY_MAX 16    /* looks along a way: each goes on by the distance that is free */
#define WAY_NEAR 1e-3 /* of the way: where it has arrived at the surface */
#define POKE                                                                                                           \
    0.02 /* of the edge. Chosen: cloth of 1 cm may be pressed in by 0.2 mm between nodes; a ball of radius 6 edges adds no points */
#define POKE_SHARP 0.005 /* of the edge, over sharp edges and corners: no smooth shape adds points by it */
#define LOW_MAX 16       /* looks for the lowest place */
#define LOW_NEAR 1e-4    /* of the edge: how well its depth is known */
#define LOW_SQUARE                                                                                                     \
    0.2 /* least size of the mean normal: below, both sides push against each other through something thin */
#define ONE_FACE 0.999999 /* cosine: nodes over one face have nothing lower between them */
#define REST 0.005        /* of the edge: nodes deeper than this do not rest, they came through */
#define FLAT 0.05   /* slope of a face along a mesh edge that may be rounding and tilt of faces at rest on each other */
#define FACING 0.1  /* cosine: a sample that looks along a triangle belongs to another one */
#define BEHIND 0.25 /* of the edge: of samples that overlap, which of them are told */
#define PARALLEL_NODES 500

typedef struct placed {
    const tl_collider *collider;
    tl_mat3 R0, R1;
    tl_vec3 at0, at1;
    tl_box3 swept; /* over the step, in the world */
} placed;

/* A node in the shape's frame. */
typedef struct spot {
    tl_vec3 x, n;
    double d;
} spot;
typedef struct tl_lg_probe {
    bool far;    /* too far to matter to it and to its neighbours: nothing else is known */
    spot at[2];  /* at both ends of the step */
    double move; /* m, relative to the shape */
} probe;

/* Where something touches: a place of the shape's surface, with its normal. */
typedef struct tl_lg_place {
    bool near;
    tl_vec3 s, n;
    double weight[3]; /* of the corners of what touches */
} place;

static tl_vec3 to_local(tl_mat3 R, tl_vec3 at, tl_vec3 x) { return tl_mat3_tmul_vec(R, tl_vec3_sub(x, at)); }

static placed placed_of(const tl_lg_view *v, int32_t o, const tl_box3 *swept)
{
    return (placed){v->rigid->body[o].collider,
                    tl_quat_to_mat3(v->before[o].rotation),
                    tl_quat_to_mat3(v->after[o].rotation),
                    v->before[o].at,
                    v->after[o].at,
                    *swept};
}

/* ---- nodes ---- */

/* First place of the way from x0 (outside) to x1 that is at the surface; x1 when there is none. */
static tl_vec3 follow(const tl_collider *c, tl_vec3 x0, tl_vec3 x1, double d, double length)
{
    double t = 0;
    for (int k = 0; k < WAY_MAX && d > WAY_NEAR * length; k++) {
        t += d / length;
        if (t >= 1) return x1;
        d = tl_collider_distance(c, tl_vec3_add_scaled(x0, t, tl_vec3_sub(x1, x0)), NULL);
    }
    return tl_vec3_add_scaled(x0, t, tl_vec3_sub(x1, x0));
}

/* Beyond `by` of the box at both ends of the way. */
static bool outside(const tl_box3 *box, tl_vec3 from, tl_vec3 to, double by)
{
    tl_vec3 lo = tl_vec3_min(from, to), hi = tl_vec3_max(from, to);
    return lo.x > box->hi.x + by || lo.y > box->hi.y + by || lo.z > box->hi.z + by || hi.x < box->lo.x - by ||
           hi.y < box->lo.y - by || hi.z < box->lo.z - by;
}

static void look(const placed *p, tl_vec3 from, tl_vec3 to, double reach, double around, probe *out, place *touch)
{
    const tl_collider *c = p->collider;
    spot *first = &out->at[0], *last = &out->at[1];
    touch->near = false;
    out->far = true;
    if (outside(&p->swept, from, to, reach + around)) return;
    first->x = to_local(p->R0, p->at0, from);
    last->x = to_local(p->R1, p->at1, to);
    out->move = tl_vec3_norm(tl_vec3_sub(last->x, first->x));
    first->d = tl_collider_distance(c, first->x, &first->n);
    if (first->d > reach + out->move + around) return;
    out->far = false;
    last->d = tl_collider_distance(c, last->x, &last->n);
    if (first->d > reach + out->move) return;
    spot at = *last;
    if (tl_vec3_dot(first->n, last->n) < AGREE && !(first->d <= 0 && last->d > 0)) {
        at.x = first->d > 0 ? follow(c, first->x, last->x, first->d, out->move) : first->x;
        at.d = tl_collider_distance(c, at.x, &at.n);
    }
    *touch = (place){true, tl_vec3_add_scaled(at.x, -at.d, at.n), at.n, {1, 0, 0}};
}

/* ---- between nodes ---- */

/* A tangent of the distance: value and normal at a place. */
typedef struct cut {
    double at, d, slope;
    tl_vec3 n;
} cut;

/* By how much a place must be deeper than the nodes around. Where one node stands out over a sharp edge it may be
 * less deep: faces that rest on each other touch at nodes and at the edge alike, and which is deeper would change
 * with every step. */
static double poke_of(const spot *a, const spot *b)
{
    double L = tl_vec3_norm(tl_vec3_sub(b->x, a->x));
    bool deep = fmin(a->d, b->d) <= -REST * L, rest = !deep && fmax(a->d, b->d) > POKE * L;
    return deep || tl_vec3_dot(a->n, b->n) >= AGREE ? POKE : rest ? -POKE : POKE_SHARP;
}

/* The lowest place inside of an edge, if it is deeper than the nodes by poke of the edge. */
static bool lowest_on_edge(const tl_collider *c, const spot *a, const spot *b, double reach, double poke, place *out)
{
    tl_vec3 e = tl_vec3_sub(b->x, a->x);
    double L = tl_vec3_norm(e), nodes = fmin(a->d, b->d), flat = poke < 0 ? FLAT * L : 0;
    if (!(tl_vec3_dot(a->n, e) < flat && tl_vec3_dot(b->n, e) > -flat && tl_vec3_dot(b->n, e) > tl_vec3_dot(a->n, e)))
        return false;
    e = tl_vec3_scale(1 / L, e);
    cut lo = {0, a->d, tl_vec3_dot(a->n, e), a->n}, hi = {L, b->d, tl_vec3_dot(b->n, e), b->n};
    double t = 0, low = 0;
    for (int k = 0; k <= LOW_MAX; k++) {
        t = (hi.d - lo.d + lo.slope * lo.at - hi.slope * hi.at) / (lo.slope - hi.slope);
        t = fmin(fmax(t, lo.at), hi.at);
        low = lo.d + lo.slope * (t - lo.at);
        if (low > reach || low > nodes - poke * L) return false;
        cut now = {.at = t};
        now.d = tl_collider_distance(c, tl_vec3_add_scaled(a->x, t, e), &now.n);
        now.slope = tl_vec3_dot(now.n, e);
        if (now.d - low <= LOW_NEAR * L || k == LOW_MAX) break;
        *(now.slope < 0 ? &lo : &hi) = now;
    }
    double share = hi.slope / (hi.slope - lo.slope);
    tl_vec3 n = tl_vec3_add_scaled(tl_vec3_scale(share, lo.n), 1 - share, hi.n);
    double square = tl_vec3_norm(n);
    if (square < LOW_SQUARE) return false;
    n = tl_vec3_scale(1 / square, n);
    *out =
        (place){true, tl_vec3_add_scaled(tl_vec3_add_scaled(a->x, t, e), -low / square, n), n, {1 - t / L, t / L, 0}};
    return true;
}

/* Tangent planes over a triangle, in coordinates of its plane: c + g.y. */
typedef struct plane {
    double c, g[2];
    tl_vec3 n;
} plane;

static double det2(const double a[2], const double b[2]) { return a[0] * b[1] - a[1] * b[0]; }

/* Weights of three slopes that add up to none; false: there are none, or slopes are alike. */
static bool level(const plane *p, const plane *q, const plane *r, double w[3])
{
    double a = det2(q->g, r->g), b = det2(r->g, p->g), c = det2(p->g, q->g), sum = a + b + c;
    if (!(fabs(sum) > 1e-12)) return false;
    w[0] = a / sum, w[1] = b / sum, w[2] = c / sum;
    return w[0] >= 0 && w[1] >= 0 && w[2] >= 0;
}

static bool lowest_in_triangle(const tl_collider *c, const spot *const corner[3], double reach, double poke, place *out)
{
    tl_vec3 x0 = corner[0]->x, u = tl_vec3_sub(corner[1]->x, x0), b = tl_vec3_sub(corner[2]->x, x0);
    double L = tl_vec3_norm(u), nodes = fmin(corner[0]->d, fmin(corner[1]->d, corner[2]->d));
    if (!(L > 0)) return false;
    u = tl_vec3_scale(1 / L, u);
    double bu = tl_vec3_dot(b, u);
    tl_vec3 v = tl_vec3_add_scaled(b, -bu, u);
    double bv = tl_vec3_norm(v);
    if (!(bv > 0)) return false;
    v = tl_vec3_scale(1 / bv, v);
    const double at[3][2] = {{0, 0}, {L, 0}, {bu, bv}};
    plane p[3];
    double w[3], y[2] = {0, 0}, low = 0;
    for (int k = 0; k < 3; k++) {
        p[k] = (plane){0, {tl_vec3_dot(corner[k]->n, u), tl_vec3_dot(corner[k]->n, v)}, corner[k]->n};
        p[k].c = corner[k]->d - p[k].g[0] * at[k][0] - p[k].g[1] * at[k][1];
    }
    if (!level(&p[0], &p[1], &p[2], w)) return false;
    for (int k = 0; k <= LOW_MAX; k++) {
        double r[2] = {p[0].g[0] - p[2].g[0], p[0].g[1] - p[2].g[1]},
               s[2] = {p[1].g[0] - p[2].g[0], p[1].g[1] - p[2].g[1]}, D = det2(r, s);
        double e = p[2].c - p[0].c, f = p[2].c - p[1].c;
        y[0] = (e * s[1] - f * r[1]) / D;
        y[1] = (f * r[0] - e * s[0]) / D;
        low = p[0].c + p[0].g[0] * y[0] + p[0].g[1] * y[1];
        if (low > reach || low > nodes - poke * L) return false;
        plane now;
        double d = tl_collider_distance(c, tl_vec3_add_scaled(tl_vec3_add_scaled(x0, y[0], u), y[1], v), &now.n);
        now.g[0] = tl_vec3_dot(now.n, u);
        now.g[1] = tl_vec3_dot(now.n, v);
        now.c = d - now.g[0] * y[0] - now.g[1] * y[1];
        if (d - low <= LOW_NEAR * L || k == LOW_MAX) break;
        int changed = 0;
        for (; changed < 3; changed++) {
            plane kept = p[changed];
            p[changed] = now;
            if (level(&p[0], &p[1], &p[2], w)) break;
            p[changed] = kept;
        }
        if (changed == 3) break;
    }
    double second = y[1] / bv, first = (y[0] - second * bu) / L;
    if (!(first > 0 && second > 0 && first + second < 1) || !level(&p[0], &p[1], &p[2], w)) return false;
    tl_vec3 n = {0, 0, 0};
    for (int k = 0; k < 3; k++) n = tl_vec3_add_scaled(n, w[k], p[k].n);
    double square = tl_vec3_norm(n);
    if (square < LOW_SQUARE) return false;
    n = tl_vec3_scale(1 / square, n);
    tl_vec3 x = tl_vec3_add_scaled(tl_vec3_add_scaled(x0, y[0], u), y[1], v);
    *out = (place){true, tl_vec3_add_scaled(x, -low / square, n), n, {1 - first - second, first, second}};
    return true;
}

/* A corner of a box within a triangle: exact, and found also where the nodes around see only two of its faces. */
static bool corner_in_triangle(const tl_collider *c, const spot *const at[3], double reach, double poke, place *out)
{
    if (tl_vec3_dot(at[0]->n, at[1]->n) > ONE_FACE && tl_vec3_dot(at[0]->n, at[2]->n) > ONE_FACE) return false;
    tl_vec3 a = tl_vec3_sub(at[1]->x, at[0]->x), b = tl_vec3_sub(at[2]->x, at[0]->x), n = tl_vec3_cross(a, b);
    double area2 = tl_vec3_norm2(n), L2 = tl_vec3_norm2(a), nodes = fmin(at[0]->d, fmin(at[1]->d, at[2]->d)),
           outer = fmax(at[0]->d, fmax(at[1]->d, at[2]->d)), best = reach;
    bool found = false, rest = nodes > -REST * sqrt(L2) && outer > POKE * sqrt(L2);
    if (!(area2 > 1e-12 * L2 * L2)) return false;
    tl_vec3 unit = tl_vec3_scale(1 / sqrt(area2), n);
    for (int k = 0; k < 8; k++) {
        const double sign[3] = {k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1};
        tl_vec3 corner = tl_vec3_add(
            c->centre,
            tl_mat3_mul_vec(c->axes, (tl_vec3){sign[0] * c->half.x, sign[1] * c->half.y, sign[2] * c->half.z}));
        tl_vec3 r = tl_vec3_sub(corner, at[0]->x);
        double height = tl_vec3_dot(unit, r);
        if (fabs(height) > reach) continue;
        double second = tl_vec3_dot(n, tl_vec3_cross(a, r)) / area2,
               first = tl_vec3_dot(n, tl_vec3_cross(r, b)) / area2;
        if (!(first > 0 && second > 0 && first + second < 1)) continue;
        /* out of the corner: between its three faces' normals */
        tl_vec3 local = tl_mat3_tmul_vec(c->axes, unit);
        double along[3] = {sign[0] * local.x, sign[1] * local.y, sign[2] * local.z};
        double out_of = along[0] + along[1] + along[2] > 0 ? 1 : -1, gap = -out_of * height;
        bool inside = out_of * along[0] > -FLAT && out_of * along[1] > -FLAT && out_of * along[2] > -FLAT;
        if (!inside || gap > best || gap > nodes + (rest ? POKE : -poke) * sqrt(L2)) continue;
        found = true;
        best = gap;
        *out = (place){true, corner, tl_vec3_scale(out_of, unit), {1 - first - second, first, second}};
    }
    return found;
}

/* ---- samples of the shape ---- */

/* A triangle at both ends of the step, in the shape's frame, where its samples stay. */
typedef struct facet {
    tl_vec3 x0, unit[2], first[2], a, b,
        n; /* unit, first: a corner, at the start and the end; others where it is looked at */
    double area2, L;
} facet;

static bool facet_of(const probe *const p[3], int end, facet *out)
{
    for (int k = 0; k < 2; k++) {
        out->first[k] = p[0]->at[k].x;
        tl_vec3 n = tl_vec3_cross(tl_vec3_sub(p[1]->at[k].x, out->first[k]), tl_vec3_sub(p[2]->at[k].x, out->first[k]));
        double size = tl_vec3_norm(n);
        if (!(size > 0)) return false;
        out->unit[k] = tl_vec3_scale(1 / size, n);
        if (k == end) out->n = n, out->area2 = size * size;
    }
    out->x0 = out->first[end];
    out->a = tl_vec3_sub(p[1]->at[end].x, out->x0);
    out->b = tl_vec3_sub(p[2]->at[end].x, out->x0);
    out->L = tl_vec3_norm(out->a);
    return true;
}

/* The sample that reaches deepest through a triangle. Tangents of the distance find one place, and bound it from below
 * where the shape is convex: of a rabbit several toes and the tip of an ear may stand on one triangle, between its
 * nodes. A sample counts when it looks at the triangle and was in front of it, or at most `behind`, where the step
 * began. gap: in, what to be below; out, below 0 behind the triangle. */
static bool sample_in_triangle(const tl_collider *c, const facet *t, int end, double behind, place *out, double *gap)
{
    const struct tl_general *g = c->field;
    const tl_vec3 middle = tl_vec3_add_scaled(t->x0, 1.0 / 3, tl_vec3_add(t->a, t->b));
    const tl_vec3 from[3] = {tl_vec3_sub(t->x0, middle), tl_vec3_sub(tl_vec3_add(t->x0, t->a), middle),
                             tl_vec3_sub(tl_vec3_add(t->x0, t->b), middle)};
    double radius2 = 0;
    bool found = false;
    for (int k = 0; k < 3; k++) radius2 = fmax(radius2, tl_vec3_norm2(from[k]));
    const double radius = sqrt(radius2) + fmax(0, *gap);
    for (int32_t i = 0; i < g->balls;) {
        const tl_ball *ball = &g->ball[i];
        const double far = radius + ball->radius;
        if (tl_vec3_norm2(tl_vec3_sub(ball->centre, middle)) > far * far) {
            i = ball->next;
            continue;
        }
        i++;
        for (int32_t k = ball->first; k < ball->first + ball->count; k++) {
            const tl_vec3 r = tl_vec3_sub(g->at[k], t->x0);
            const double height = tl_vec3_dot(t->unit[end], r);
            if (!(height < *gap) || tl_vec3_dot(g->normal[k], t->unit[end]) >= -FACING) continue;
            const double second = tl_vec3_dot(t->n, tl_vec3_cross(t->a, r)) / t->area2,
                         first = tl_vec3_dot(t->n, tl_vec3_cross(r, t->b)) / t->area2;
            if (!(first > 0 && second > 0 && first + second < 1)) continue;
            if (tl_vec3_dot(t->unit[0], tl_vec3_sub(g->at[k], t->first[0])) < -behind * t->L) continue;
            found = true;
            *gap = height;
            *out = (place){true, g->at[k], tl_vec3_scale(-1, t->unit[end]), {1 - first - second, first, second}};
        }
    }
    return found;
}

/* ---- the whole ---- */

typedef struct search {
    const tl_lg_view *v;
    int body;
    int32_t obstacle;
    placed shape;
    double half, slack, mu, restitution;
    probe *probe; /* [surface nodes of the body] */
    place *place; /* [most of nodes, edges, triangles] */
} search;

static talus_status emit(const search *s, int corners, const int32_t *node, int32_t point, const place *at,
                         tl_lg_found *f, talus_error *err)
{
    const placed *p = &s->shape;
    bool is_free = s->v->rigid->body[s->obstacle].kind == TL_BODY_FREE;
    tl_lg_contact c = {.a = {{-1, -1, -1, -1}, {0, 0, 0, 0}},
                       .b = {{-1, -1, -1, -1}, {0, 0, 0, 0}},
                       .rigid = is_free ? s->obstacle : -1,
                       .body_a = s->v->lg->body[s->body].body,
                       .body_b = s->obstacle,
                       .point = point,
                       .obstacle = s->obstacle,
                       .mu = s->mu,
                       .restitution = s->restitution};
    for (int k = 0; k < corners; k++) c.a.node[k] = node[k], c.a.weight[k] = at->weight[k];
    c.normal = tl_mat3_mul_vec(p->R1, at->n);
    c.at = tl_vec3_add(p->at0, tl_mat3_mul_vec(p->R0, at->s));
    tl_vec3 end = is_free ? c.at : tl_vec3_add(p->at1, tl_mat3_mul_vec(p->R1, at->s));
    c.drag = tl_vec3_scale(1 / s->v->h, tl_vec3_sub(end, c.at));
    c.offset = tl_vec3_dot(c.normal, end) + s->half;
    return tl_lg_found_add(f, &c, err);
}

/* Bound to this shape by a join: what is bound does not touch. */
static bool is_bound(const search *s, int32_t node)
{
    const tl_lg_holds *h = s->v->lg->holds;
    return h && h->rigid_of && h->rigid_of[node] == s->obstacle;
}

static talus_status nodes(const search *s, tl_lg_found *f, talus_error *err)
{
    const tl_lg_skin *skin = &s->v->lg->skin;
    const tl_lg_skin_body *b = &skin->body[s->body];
#pragma omp parallel for schedule(static) if (b->nodes > PARALLEL_NODES)
    for (int32_t k = 0; k < b->nodes; k++) {
        int32_t i = skin->node[b->node + k];
        look(&s->shape, tl_lg_at(s->v->from, i), tl_lg_at(s->v->to, i), s->slack + s->half, b->longest, &s->probe[k],
             &s->place[k]);
        if (is_bound(s, i)) s->probe[k].far = true, s->place[k].near = false;
    }
    for (int32_t k = 0; k < b->nodes; k++) {
        int32_t i = skin->node[b->node + k];
        if (s->place[k].near) TL_TRY(emit(s, 1, &i, i, &s->place[k], f, err));
    }
    return TALUS_OK;
}

static talus_status edges(const search *s, tl_lg_found *f, talus_error *err)
{
    const tl_lg_skin *skin = &s->v->lg->skin;
    const tl_lg_skin_body *b = &skin->body[s->body];
#pragma omp parallel for schedule(static) if (b->edges > PARALLEL_NODES)
    for (int32_t k = 0; k < b->edges; k++) {
        const int32_t *e = skin->edge[b->edge + k];
        const probe *p = &s->probe[skin->place[e[0]] - b->node], *q = &s->probe[skin->place[e[1]] - b->node];
        s->place[k].near = false;
        double reach = s->slack + s->half + fmax(p->move, q->move);
        for (int end = 1; end >= 0 && !p->far && !q->far; end--)
            if (lowest_on_edge(s->shape.collider, &p->at[end], &q->at[end], reach, poke_of(&p->at[end], &q->at[end]),
                               &s->place[k]))
                break;
    }
    for (int32_t k = 0; k < b->edges; k++)
        if (s->place[k].near)
            TL_TRY(emit(s, 2, skin->edge[b->edge + k], s->v->lg->nodes + b->edge + k, &s->place[k], f, err));
    return TALUS_OK;
}

/* Of convex shapes the lowest place is found by tangents. Not of cloth, which has no front; engine lg does not look
 * again for what is left between the places that it has. */
static bool has_samples(const search *s)
{
    const tl_collider *c = s->shape.collider;
    return s->v->solids_again && c->field && !c->hull && !c->field->complete &&
           s->v->lg->body[s->body].kind != TL_LG_CLOTH;
}

/* The deepest place of a triangle at one end of the step. */
static bool touch_triangle(const search *s, const probe *const p[3], int end, double reach, bool box, place *out)
{
    const tl_collider *c = s->shape.collider;
    const spot *const corner[3] = {&p[0]->at[end], &p[1]->at[end], &p[2]->at[end]};
    const bool low = (box ? corner_in_triangle : lowest_in_triangle)(c, corner, reach, box ? POKE_SHARP : POKE, out);
    facet t;
    place sample;
    double gap = reach;
    if (!has_samples(s) || !facet_of(p, end, &t)) return low;
    for (int k = 0; k < 3; k++) gap = fmin(gap, corner[k]->d - POKE * t.L);
    if (low) {
        tl_vec3 x = {0, 0, 0};
        for (int i = 0; i < 3; i++) x = tl_vec3_add_scaled(x, out->weight[i], corner[i]->x);
        gap = fmin(gap, tl_vec3_dot(out->n, tl_vec3_sub(x, out->s)));
    }
    if (!sample_in_triangle(c, &t, end, REST, &sample, &gap)) return low;
    *out = sample;
    return true;
}

static talus_status triangles(const search *s, tl_lg_found *f, talus_error *err)
{
    const tl_lg *lg = s->v->lg;
    const tl_lg_skin_body *b = &lg->skin.body[s->body];
    int32_t first = lg->body[s->body].triangle, count = lg->body[s->body].triangles;
    bool box = tl_collider_kind_of(s->shape.collider) == TL_COLLIDER_BOX;
#pragma omp parallel for schedule(static) if (count > PARALLEL_NODES)
    for (int32_t k = 0; k < count; k++) {
        const probe *p[3];
        bool far = false;
        double move = 0;
        for (int c = 0; c < 3; c++) {
            p[c] = &s->probe[lg->skin.place[lg->surface[first + k][c]] - b->node];
            far |= p[c]->far;
            if (!p[c]->far) move = fmax(move, p[c]->move);
        }
        s->place[k].near = false;
        for (int end = 1; end >= 0 && !far; end--)
            if (touch_triangle(s, p, end, s->slack + s->half + move, box, &s->place[k])) break;
    }
    for (int32_t k = 0; k < count; k++)
        if (s->place[k].near)
            TL_TRY(emit(s, 3, lg->surface[first + k], lg->nodes + lg->skin.edges + first + k, &s->place[k], f, err));
    return TALUS_OK;
}

talus_status tl_lg_scratch_take(tl_lg_scratch *out, const tl_lg *lg, tl_arena *a, talus_error *err)
{
    int32_t max = 0, most_nodes = 0;
    for (int k = 0; k < lg->bodies; k++) {
        const tl_lg_skin_body *b = &lg->skin.body[k];
        most_nodes = b->nodes > most_nodes ? b->nodes : most_nodes;
        max = b->nodes > max ? b->nodes : max;
        max = b->edges > max ? b->edges : max;
        max = lg->body[k].triangles > max ? lg->body[k].triangles : max;
    }
    *out = (tl_lg_scratch){TL_TAKE(a, probe, most_nodes), TL_TAKE(a, place, max)};
    if (!out->probe || !out->place)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for contacts of %d nodes", most_nodes);
    return TALUS_OK;
}

talus_status tl_lg_detect_shape(const tl_lg_view *v, const tl_lg_scratch *scratch, int body, int32_t obstacle,
                                const tl_box3 *swept, tl_lg_found *f, talus_error *err)
{
    search s = {v,
                body,
                obstacle,
                placed_of(v, obstacle, swept),
                tl_lg_half(v->lg, body),
                tl_lg_slack(v, body),
                0,
                0,
                scratch->probe,
                scratch->place};
    s.mu = tl_lg_pair_friction(v, body, obstacle, &s.restitution);
    TL_TRY(nodes(&s, f, err));
    if (tl_collider_kind_of(s.shape.collider) == TL_COLLIDER_HALF_SPACE) return TALUS_OK; /* nodes are lowest */
    TL_TRY(edges(&s, f, err));
    return triangles(&s, f, err);
}

/* ---- how deep ---- */

/* Of a place between nodes. Tangents bound the distance of convex shapes only: what the distance itself does not
 * confirm is not deep. */
static double depth_at(const search *s, const place *at, const spot *const corner[3], int corners)
{
    tl_vec3 x = {0, 0, 0};
    for (int k = 0; k < corners; k++) x = tl_vec3_add_scaled(x, at->weight[k], corner[k]->x);
    if (tl_collider_distance(s->shape.collider, x, NULL) >= s->half) return 0;
    return s->half - tl_vec3_dot(at->n, tl_vec3_sub(x, at->s));
}

static double depth_of_edge(const search *s, const int32_t node[2])
{
    const int32_t *of = s->v->lg->skin.place, first = s->v->lg->skin.body[s->body].node;
    const probe *p = &s->probe[of[node[0]] - first], *q = &s->probe[of[node[1]] - first];
    const spot *const corner[3] = {&p->at[1], &q->at[1], NULL};
    place at;
    if (p->far || q->far || !lowest_on_edge(s->shape.collider, corner[0], corner[1], s->half, 0, &at)) return 0;
    return depth_at(s, &at, corner, 2);
}

/* Whether no other triangle that a sample lies above or below is nearer: what is just below a top is behind the sides
 * too, and by much more. */
static bool is_nearest(const search *s, tl_vec3 sample, double gap)
{
    const tl_lg_body *b = &s->v->lg->body[s->body];
    const tl_vec3 x = tl_vec3_add(s->shape.at1, tl_mat3_mul_vec(s->shape.R1, sample));
    for (int32_t k = b->triangle; k < b->triangle + b->triangles; k++) {
        const int32_t *t = s->v->lg->surface[k];
        const tl_vec3 x0 = tl_lg_at(s->v->to, t[0]), r = tl_vec3_sub(x, x0),
                      u = tl_vec3_sub(tl_lg_at(s->v->to, t[1]), x0), v = tl_vec3_sub(tl_lg_at(s->v->to, t[2]), x0),
                      n = tl_vec3_cross(u, v);
        const double area2 = tl_vec3_norm2(n), second = tl_vec3_dot(n, tl_vec3_cross(u, r)),
                     first = tl_vec3_dot(n, tl_vec3_cross(r, v)), height2 = tl_vec3_dot(n, r) * tl_vec3_dot(n, r);
        if (first > 0 && second > 0 && first + second < area2 && height2 < 0.99 * gap * gap * area2) return false;
    }
    return true;
}

static double depth_of_triangle(const search *s, const int32_t node[3])
{
    const int32_t *of = s->v->lg->skin.place, first = s->v->lg->skin.body[s->body].node;
    const spot *corner[3];
    const probe *p[3];
    place at;
    facet t;
    for (int k = 0; k < 3; k++) {
        p[k] = &s->probe[of[node[k]] - first];
        if (p[k]->far) return 0;
        corner[k] = &p[k]->at[1];
    }
    if (tl_collider_kind_of(s->shape.collider) != TL_COLLIDER_BOX) {
        double gap = s->half, deep = 0;
        if (has_samples(s) && facet_of(p, 1, &t) && sample_in_triangle(s->shape.collider, &t, 1, BEHIND, &at, &gap) &&
            is_nearest(s, at.s, gap))
            deep = s->half - gap;
        if (lowest_in_triangle(s->shape.collider, corner, s->half, 0, &at))
            deep = fmax(deep, depth_at(s, &at, corner, 3));
        return deep;
    }
    double reach = s->half + 0.5 * s->v->lg->skin.body[s->body].longest;
    return corner_in_triangle(s->shape.collider, corner, reach, 0, &at) ? depth_at(s, &at, corner, 3) : 0;
}

double tl_lg_depth_in_shape(const tl_lg_view *v, const tl_lg_scratch *scratch, int body, int32_t obstacle,
                            const tl_box3 *swept)
{
    const tl_lg_skin *skin = &v->lg->skin;
    const tl_lg_skin_body *b = &skin->body[body];
    const search s = {v, body,           obstacle,      placed_of(v, obstacle, swept), tl_lg_half(v->lg, body), 0, 0,
                      0, scratch->probe, scratch->place};
    double depth = 0;
#pragma omp parallel for schedule(static) reduction(max : depth) if (b->nodes > PARALLEL_NODES)
    for (int32_t k = 0; k < b->nodes; k++) {
        tl_vec3 x = tl_lg_at(v->to, skin->node[b->node + k]);
        look(&s.shape, x, x, s.half, b->longest, &s.probe[k], &s.place[k]);
        if (is_bound(&s, skin->node[b->node + k])) s.probe[k].far = true;
        if (!s.probe[k].far) depth = fmax(depth, s.half - s.probe[k].at[1].d);
    }
    if (tl_collider_kind_of(s.shape.collider) == TL_COLLIDER_HALF_SPACE) return depth;
#pragma omp parallel for schedule(static) reduction(max : depth) if (b->edges > PARALLEL_NODES)
    for (int32_t k = 0; k < b->edges; k++) depth = fmax(depth, depth_of_edge(&s, skin->edge[b->edge + k]));
    int32_t first = v->lg->body[body].triangle, count = v->lg->body[body].triangles;
#pragma omp parallel for schedule(static) reduction(max : depth) if (count > PARALLEL_NODES)
    for (int32_t k = 0; k < count; k++) depth = fmax(depth, depth_of_triangle(&s, v->lg->surface[first + k]));
    return depth;
}
