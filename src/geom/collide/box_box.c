#include <string.h>

#include "geom/collide/pairs.h"
#include "geom/minmax.h"

/* Both boxes, each seen from the other. Index 0 is A, 1 is B; normals point out of B into A. */
typedef struct pair {
    const tl_obox *box[2];
    double half[2][3];
    double at[2][3];     /* at[r]: centre of the other box in the frame of box r */
    double dir[2][3][3]; /* dir[r][k][c]: component c, in the frame of box r, of edge direction k of the other */
    double extent;       /* smallest edge of both */
    double sliver;       /* m: an overlap narrower than this is passing by, not contact */
    double margin;
    tl_vec3 between; /* from B's centre to A's */
} pair;

typedef enum feature { FACE, EDGES, PARALLEL } feature;

/* The axis that separates best; code: 1 + what it is (faces of A, of B, edge pairs, parallel edge pairs). */
typedef struct choice {
    feature kind;
    int box, i, j; /* face i of box; edge i of A with edge j of B */
    int face[2];   /* the best face of each */
    double separation;
} choice;

static int32_t face_code(int box, int i) { return 1 + 3 * box + i; }
static int32_t edge_code(int i, int j) { return 7 + 3 * i + j; }
static int32_t parallel_code(int i, int j) { return 16 + 3 * i + j; }

/* The code of the same axis with A and B exchanged. */
static int32_t swapped_code(int32_t code)
{
    if (code >= 16) return parallel_code((code - 16) % 3, (code - 16) / 3);
    if (code >= 7) return edge_code((code - 7) % 3, (code - 7) / 3);
    return code >= 4 ? code - 3 : code >= 1 ? code + 3 : 0;
}

static double sign_of(double x) { return copysign(1, x); }

/* A corner of the polygon that is clipped. */
typedef struct corner {
    double u, v, w; /* in the plane of a face, and gap to it */
} corner;
/* A quad cut by four planes has at most 8; rounding may cut a flat one in every edge, each time half as many again. */
#define CORNERS_MAX 20

/* Keep what lies below `limit` along one coordinate (0: u, 1: v) times sign. */
static int clip(int count, const corner *in, corner *out, int along, double sign, double limit)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const corner *p = &in[i], *q = &in[i + 1 < count ? i + 1 : 0];
        double dp = sign * (along ? p->v : p->u) - limit, dq = sign * (along ? q->v : q->u) - limit;
        if (dp <= 0) out[kept++] = *p;
        if ((dp < 0 && dq > 0) || (dp > 0 && dq < 0)) {
            double s = dp / (dp - dq);
            out[kept++] = (corner){p->u + s * (q->u - p->u), p->v + s * (q->v - p->v), p->w + s * (q->w - p->w)};
        }
    }
    return kept;
}

/* At most four of the points: the deepest, the farthest from it, and the extremes on both sides of that line. A
 * later point must be better by more than a tie, so that equals do not change places from step to step. */
static int keep_four(int count, corner *p, double extent)
{
    if (count <= 4) return count;
    int pick[4] = {0, -1, -1, -1};
    double best = p[0].w;
    for (int i = 1; i < count; i++)
        if (p[i].w < best - 1e-5 * extent) {
            best = p[i].w;
            pick[0] = i;
        }
    const corner *o = &p[pick[0]];
    best = 0;
    for (int i = 0; i < count; i++) {
        double far = (p[i].u - o->u) * (p[i].u - o->u) + (p[i].v - o->v) * (p[i].v - o->v);
        if (far > 1.001 * best) {
            best = far;
            pick[1] = i;
        }
    }
    if (pick[1] < 0) return 1;
    double du = p[pick[1]].u - o->u, dv = p[pick[1]].v - o->v, max = 1e-3 * best, least = -1e-3 * best;
    for (int i = 0; i < count; i++) {
        double area = du * (p[i].v - o->v) - dv * (p[i].u - o->u);
        if (area > 1.001 * max) {
            max = area;
            pick[2] = i;
        }
        if (area < 1.001 * least) {
            least = area;
            pick[3] = i;
        }
    }
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (i == pick[0] || i == pick[1] || i == pick[2] || i == pick[3]) p[kept++] = p[i];
    return kept;
}

/* Boxes that slide over flush neighbours overlap their sides by round-off; a contact there would trip them. What is
 * missed this way is found with the right normal one step later, at most a sliver deep. */
static bool is_sliver(int count, const corner *p, double width)
{
    double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY}, gap = INFINITY;
    for (int i = 0; i < count; i++) {
        lo[0] = tl_min(lo[0], p[i].u);
        hi[0] = tl_max(hi[0], p[i].u);
        lo[1] = tl_min(lo[1], p[i].v);
        hi[1] = tl_max(hi[1], p[i].v);
        gap = tl_min(gap, p[i].w);
    }
    return gap > -width && (hi[0] - lo[0] < width || hi[1] - lo[1] < width);
}

/* Corners of the other box's nearest face, cut to the outline of face i of box r grown by `grow`. Coordinates of r's
 * frame; w is the gap. */
static int face_corners(const pair *p, int r, int i, double grow, corner out[CORNERS_MAX])
{
    int iu = (i + 1) % 3, iv = (i + 2) % 3;
    double side = sign_of(p->at[r][i]);
    const double *h = p->half[1 - r], (*dir)[3] = p->dir[r];

    /* its face that looks at ours most squarely */
    int k = 0;
    for (int c = 1; c < 3; c++)
        if (fabs(dir[c][i]) > fabs(dir[k][i]) + 1e-9) k = c;
    int ku = (k + 1) % 3, kv = (k + 2) % 3;
    double toward = -side * sign_of(dir[k][i]) * h[k];

    corner quad[CORNERS_MAX], other[CORNERS_MAX], *from = quad, *to = other;
    for (int c = 0; c < 4; c++) {
        double su = c == 1 || c == 2 ? h[ku] : -h[ku], sv = c >= 2 ? h[kv] : -h[kv];
        double x[3];
        for (int e = 0; e < 3; e++) x[e] = p->at[r][e] + toward * dir[k][e] + su * dir[ku][e] + sv * dir[kv][e];
        quad[c] = (corner){x[iu], x[iv], side * x[i] - p->half[r][i]};
    }
    int count = 4;
    const double limit[2] = {p->half[r][iu] + grow, p->half[r][iv] + grow};
    for (int along = 0; along < 2; along++)
        for (int s = -1; s <= 1; s += 2) {
            count = clip(count, from, to, along, s, limit[along]);
            corner *t = from;
            from = to;
            to = t;
        }
    if (is_sliver(count, from, p->sliver)) return 0;
    int kept = 0;
    double merge = 1e-4 * p->extent;
    for (int c = 0; c < count; c++) {
        bool fresh = from[c].w <= p->margin;
        for (int o = 0; o < kept && fresh; o++)
            fresh = fabs(out[o].u - from[c].u) > merge || fabs(out[o].v - from[c].v) > merge;
        if (fresh) out[kept++] = from[c];
    }
    return kept;
}

static int face_points(const pair *p, int r, int i, tl_touch *out)
{
    corner at[CORNERS_MAX];
    int count = face_corners(p, r, i, 1e-5 * p->extent, at);
    count = keep_four(count, at, p->extent);
    const tl_obox *box = p->box[r];
    double side = sign_of(p->at[r][i]);
    tl_vec3 u = box->axis[(i + 1) % 3], v = box->axis[(i + 2) % 3], outward = tl_vec3_scale(side, box->axis[i]);
    tl_vec3 normal = r == 1 ? outward : tl_vec3_neg(outward);
    for (int c = 0; c < count; c++) {
        tl_vec3 x = tl_vec3_add_scaled(box->centre, p->half[r][i] + 0.5 * at[c].w, outward);
        x = tl_vec3_add_scaled(tl_vec3_add_scaled(x, at[c].u, u), at[c].v, v);
        out[c] = (tl_touch){x, normal, at[c].w, false};
    }
    return count;
}

/* Direction i of A across direction j of B, from B towards A; false when they are almost parallel. */
static bool edge_normal(const pair *p, int i, int j, tl_vec3 *normal)
{
    tl_vec3 n = tl_vec3_cross(p->box[0]->axis[i], p->box[1]->axis[j]);
    double length2 = tl_vec3_norm2(n);
    if (!(length2 > 1e-6)) return false;
    *normal = tl_vec3_scale((tl_vec3_dot(n, p->between) < 0 ? -1 : 1) / sqrt(length2), n);
    return true;
}

/* The middle of the edge of box r that is farthest along the direction. */
static tl_vec3 edge_middle(const pair *p, int r, int edge, tl_vec3 direction)
{
    const tl_obox *box = p->box[r];
    tl_vec3 x = box->centre;
    for (int k = 0; k < 3; k++)
        if (k != edge)
            x = tl_vec3_add_scaled(x, sign_of(tl_vec3_dot(direction, box->axis[k])) * p->half[r][k], box->axis[k]);
    return x;
}

/* The two facing edges in directions i and j. `beyond`: how far past an end the nearest points of their lines are,
 * m; negative: that far inside both. */
static tl_touch edge_point(const pair *p, int i, int j, tl_vec3 normal, double *beyond)
{
    tl_vec3 ea = edge_middle(p, 0, i, tl_vec3_neg(normal)), eb = edge_middle(p, 1, j, normal);
    tl_vec3 a = p->box[0]->axis[i], b = p->box[1]->axis[j], d = tl_vec3_sub(eb, ea);
    double c = tl_vec3_dot(a, b), da = tl_vec3_dot(a, d), db = tl_vec3_dot(b, d), s2 = 1 - c * c;
    double s = (da - c * db) / s2, t = (c * da - db) / s2;
    double ha = p->half[0][i], hb = p->half[1][j];
    *beyond = tl_max(fabs(s) - ha, fabs(t) - hb);
    s = tl_min(tl_max(s, -ha), ha);
    t = tl_min(tl_max(t, -hb), hb);
    tl_vec3 on_a = tl_vec3_add_scaled(ea, s, a), on_b = tl_vec3_add_scaled(eb, t, b);
    return (tl_touch){tl_vec3_scale(0.5, tl_vec3_add(on_a, on_b)), normal, -tl_vec3_dot(normal, d), false};
}

/* Edges along direction `er` of box r and `eo` of the other, almost parallel, that meet at face i of r. The normal
 * is the bisector of their wedges; false unless both edges are the outermost along it. */
typedef struct bevel {
    int r, iu, iw, er, eo;
    double su, sw; /* which edge of r */
    double nu, nw; /* normal out of r */
    double q[3];   /* middle of the other's edge, in r's frame */
    double separation;
} bevel;

static bool bevel_make(const pair *p, int r, int i, int er, int eo, bevel *out)
{
    int iu = 3 - i - er;
    double sw = sign_of(p->at[r][i]);
    const double *h = p->half[1 - r], (*dir)[3] = p->dir[r];
    bevel v = {.r = r, .iu = iu, .iw = i, .er = er, .eo = eo, .sw = sw};
    double mu = 0, mw = 0, s[3] = {0, 0, 0};
    memcpy(v.q, p->at[r], sizeof v.q);
    for (int k = 0; k < 3; k++)
        if (k != eo) {
            s[k] = sign_of(sw * dir[k][i]);
            for (int c = 0; c < 3; c++) v.q[c] -= s[k] * h[k] * dir[k][c];
            mu += s[k] * dir[k][iu];
            mw += s[k] * dir[k][i];
        }
    v.su = sign_of(v.q[iu]);
    v.nu = v.su + mu;
    v.nw = sw + mw;
    double length = sqrt(v.nu * v.nu + v.nw * v.nw);
    if (!(length > 1e-3)) return false;
    v.nu /= length;
    v.nw /= length;
    if (v.nu * v.su < 0 || v.nw * sw < 0) return false;
    for (int k = 0; k < 3; k++)
        if (k != eo && s[k] * (v.nu * dir[k][iu] + v.nw * dir[k][i]) < 0) return false;
    v.separation = v.nu * (v.q[iu] - v.su * p->half[r][iu]) + v.nw * (v.q[i] - sw * p->half[r][i]);
    *out = v;
    return true;
}

/* The two ends of the stretch that the edges share. */
static int bevel_points(const pair *p, const bevel *v, tl_touch *out)
{
    const tl_obox *box = p->box[v->r];
    const double *along = p->dir[v->r][v->eo];
    double hr = p->half[v->r][v->er], ho = p->half[1 - v->r][v->eo] * fabs(along[v->er]);
    double lo = tl_max(-hr, v->q[v->er] - ho), hi = tl_min(hr, v->q[v->er] + ho);
    if (!(hi - lo > p->sliver)) return 0;
    tl_vec3 normal = tl_vec3_add_scaled(tl_vec3_scale(v->nu, box->axis[v->iu]), v->nw, box->axis[v->iw]);
    int count = 0;
    for (int end = 0; end < 2; end++) {
        double e = end ? hi : lo, s = (e - v->q[v->er]) / along[v->er];
        double u = v->su * p->half[v->r][v->iu], w = v->sw * p->half[v->r][v->iw];
        double du = v->q[v->iu] + s * along[v->iu] - u, dw = v->q[v->iw] + s * along[v->iw] - w;
        double gap = v->nu * du + v->nw * dw;
        if (!(gap <= p->margin)) continue;
        tl_vec3 x = tl_vec3_add_scaled(box->centre, e, box->axis[v->er]);
        x = tl_vec3_add_scaled(tl_vec3_add_scaled(x, u + 0.5 * du, box->axis[v->iu]), w + 0.5 * dw, box->axis[v->iw]);
        out[count++] = (tl_touch){x, v->r == 1 ? normal : tl_vec3_neg(normal), gap, false};
    }
    return count;
}

/* ---- features that lie opposite each other, beside the nearest ones ---- */

typedef struct list {
    int count;
    tl_touch *touch;
    double apart; /* m: of two nearer than this, with like normals or a smaller gap of the first, the first stays */
} list;

static void list_add(list *l, tl_touch t)
{
    int worst = -1;
    for (int i = 0; i < l->count; i++) {
        const tl_touch *o = &l->touch[i];
        if ((o->gap <= t.gap || tl_vec3_dot(o->normal, t.normal) > 0.9) &&
            tl_vec3_norm2(tl_vec3_sub(o->at, t.at)) < l->apart * l->apart)
            return;
        if (worst < 0 || o->gap > l->touch[worst].gap) worst = i;
    }
    if (l->count < TL_BOX_POINTS)
        l->touch[l->count++] = t;
    else if (l->touch[worst].gap > t.gap)
        l->touch[worst] = t;
}

/* Corners of the other box over a face of box r. */
static void add_corners(const pair *p, int r, list *l)
{
    const double *h = p->half[1 - r], (*dir)[3] = p->dir[r];
    for (int c = 0; c < 8; c++) {
        double x[3], gap = 0;
        int outside = 0, face = 0;
        for (int e = 0; e < 3; e++) {
            x[e] = p->at[r][e] + (c & 1 ? h[0] : -h[0]) * dir[0][e] + (c & 2 ? h[1] : -h[1]) * dir[1][e] +
                   (c & 4 ? h[2] : -h[2]) * dir[2][e];
            double over = fabs(x[e]) - p->half[r][e];
            if (over > -p->sliver) {
                outside++;
                face = e;
                gap = over;
            }
        }
        if (outside != 1 || !(gap >= 0 && gap <= p->margin)) continue;
        const tl_obox *box = p->box[r];
        tl_vec3 outward = tl_vec3_scale(sign_of(x[face]), box->axis[face]), at = box->centre;
        for (int e = 0; e < 3; e++) at = tl_vec3_add_scaled(at, x[e], box->axis[e]);
        list_add(l, (tl_touch){tl_vec3_add_scaled(at, -0.5 * gap, outward), r == 1 ? outward : tl_vec3_neg(outward),
                               gap, false});
    }
}

/* Open points of a face. */
static void add_open(const pair *p, int r, int i, list *l)
{
    tl_touch t[4];
    int count = face_points(p, r, i, t);
    for (int k = 0; k < count; k++)
        if (t[k].gap > 0) list_add(l, t[k]);
}

/* Edges that cross with a gap between them. */
static void add_edges(const pair *p, list *l)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            tl_vec3 normal;
            double beyond;
            if (!edge_normal(p, i, j, &normal)) continue;
            tl_touch t = edge_point(p, i, j, normal, &beyond);
            if (t.gap >= 0 && t.gap <= p->margin && beyond <= -p->sliver) list_add(l, t);
        }
}

/* ---- the choice ---- */

/* False when the boxes are farther apart than the margin. */
static bool choose(const pair *p, const tl_box_rules *rules, int32_t last, choice *best, bevel *v)
{
    double face_margin = rules->face_margin * p->extent;
    double stay = rules->hysteresis * p->extent;
    double together = rules->parallel_margin * p->extent;
    double tie = 1e-5 * p->extent; /* round-off between equals: the first wins */

    /* faces; `score` is the separation with what counts in favour of last step's */
    double score = -INFINITY, of_box[2] = {-INFINITY, -INFINITY};
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < 3; i++) {
            const double *h = p->half[1 - r], (*dir)[3] = p->dir[r];
            double s = fabs(p->at[r][i]) - p->half[r][i] -
                       (h[0] * fabs(dir[0][i]) + h[1] * fabs(dir[1][i]) + h[2] * fabs(dir[2][i]));
            if (s > p->margin) return false;
            double mine = s + (face_code(r, i) == last ? stay : 0);
            if (mine > of_box[r]) {
                of_box[r] = mine;
                best->face[r] = i;
            }
            if (mine > score + tie) {
                score = mine;
                best->box = r;
                best->i = i;
                best->separation = s;
            }
        }
    choice face = *best;
    double face_score = score;

    /* edge pairs: separation along the cross product of the directions */
    score += face_margin;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double(*C)[3] = p->dir[1];
            double c = C[i][j], length2 = 1 - c * c;
            if (!(length2 > 1e-6)) continue;
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            double reach = p->half[0][i1] * fabs(C[i2][j]) + p->half[0][i2] * fabs(C[i1][j]) +
                           p->half[1][j1] * fabs(C[i][j2]) + p->half[1][j2] * fabs(C[i][j1]);
            /* a_i x b_j . d, with d in A's frame */
            double far = fabs(p->at[0][i2] * C[i1][j] - p->at[0][i1] * C[i2][j]);
            double s = (far - reach) / sqrt(length2);
            if (s > p->margin) return false;
            if (s > score + tie) {
                score = s;
                best->kind = EDGES;
                best->i = i;
                best->j = j;
                best->separation = s;
            }
        }

    /* parallel edges against the best face */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double(*C)[3] = p->dir[1];
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            int er = face.box ? j : i, eo = face.box ? i : j;
            if (face.i == er || fabs(C[i][j]) < 0.9998) continue;
            double slant = C[i1][j] * C[i1][j] + C[i2][j] * C[i2][j];
            double length = tl_min(p->half[0][i], p->half[1][j]);
            if (slant * length * length > together * together) continue;
            double flat = 0;
            for (int k = 0; k < 3; k++)
                for (int m = 0; m < 3; m++)
                    if (k != i && m != j) flat = tl_max(flat, fabs(C[k][m]));
            if (flat >= rules->flat_cos) continue;
            if (!bevel_make(p, face.box, face.i, er, eo, v)) continue;
            double allowed = together + (last == parallel_code(i, j) ? stay : 0);
            if (v->separation > p->margin) return false;
            if (v->separation >= face_score - allowed) {
                best->kind = PARALLEL;
                best->i = i;
                best->j = j;
                best->separation = v->separation;
            }
        }
    return true;
}

static int points_of(const pair *p, const tl_box_rules *rules, int32_t *axis, tl_touch *out)
{
    choice best = {.kind = FACE};
    bevel v;
    if (!choose(p, rules, *axis, &best, &v)) {
        *axis = 0;
        return 0;
    }
    list l = {0, out, 0.05 * p->extent};
    double flat = 0;
    switch (best.kind) {
    case FACE:
        *axis = face_code(best.box, best.i);
        l.count = face_points(p, best.box, best.i, out);
        for (int k = 0; k < 3; k++) flat = tl_max(flat, fabs(p->dir[best.box][k][best.i]));
        break;
    case EDGES: {
        tl_vec3 normal;
        double beyond;
        *axis = edge_code(best.i, best.j);
        edge_normal(p, best.i, best.j, &normal);
        out[l.count++] = edge_point(p, best.i, best.j, normal, &beyond);
        if (beyond > -p->sliver && out[0].gap > 0) l.count = 0; /* passing by */
        break;
    }
    case PARALLEL:
        *axis = parallel_code(best.i, best.j);
        l.count = bevel_points(p, &v, out);
        break;
    }
    /* flat faces have said all; else whatever could touch within the margin after the first has */
    if (flat < rules->flat_cos || best.separation > l.apart || !l.count) {
        if (best.kind != FACE || best.box != 0) add_open(p, 0, best.face[0], &l);
        if (best.kind != FACE || best.box != 1) add_open(p, 1, best.face[1], &l);
        add_corners(p, 0, &l);
        add_corners(p, 1, &l);
        add_edges(p, &l);
    }
    return l.count;
}

/* The same pair comes in the same order whatever the caller's: by size, and equal boxes along a direction in which
 * no structure is built, so that round-off does not exchange them. */
static bool out_of_order(const tl_obox *a, const tl_obox *b)
{
    const tl_vec3 along = {0.5377261, 0.6614378, 0.5228757}; /* chosen */
    int size = memcmp(&a->half, &b->half, sizeof a->half);
    if (size) return size > 0;
    double x = tl_vec3_dot(along, tl_vec3_sub(a->centre, b->centre));
    return x != 0 ? x < 0 : memcmp(a, b, sizeof *a) > 0;
}

int tl_box_box(const tl_obox *a, const tl_obox *b, double margin, const tl_box_rules *rules, int32_t *axis,
               tl_touch out[TL_BOX_POINTS])
{
    bool swap = out_of_order(a, b);
    pair p = {.box = {swap ? b : a, swap ? a : b}, .margin = margin};
    p.between = tl_vec3_sub(p.box[0]->centre, p.box[1]->centre);
    for (int r = 0; r < 2; r++) {
        tl_vec3_store(p.box[r]->half, p.half[r]);
        for (int k = 0; k < 3; k++) p.at[r][k] = (r ? 1 : -1) * tl_vec3_dot(p.box[r]->axis[k], p.between);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double c = tl_vec3_dot(p.box[0]->axis[i], p.box[1]->axis[j]);
            p.dir[1][i][j] = c;
            p.dir[0][j][i] = c;
        }
    tl_vec3 least = tl_vec3_min(a->half, b->half);
    p.extent = 2 * tl_min(least.x, tl_min(least.y, least.z));
    p.sliver = 2e-3 * p.extent;

    int32_t known = swap ? swapped_code(*axis) : *axis;
    int count = points_of(&p, rules, &known, out);
    *axis = swap ? swapped_code(known) : known;
    if (swap)
        for (int i = 0; i < count; i++) out[i].normal = tl_vec3_neg(out[i].normal);
    return count;
}
