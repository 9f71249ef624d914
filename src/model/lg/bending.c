#include "model/lg/bending.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FLAT 1e-6   /* rad: a rest angle of more is no flat rest shape */
#define FOLDED 1e-3 /* sum of two unit normals: below, triangles lie on each other and have no mean normal */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for bending of cloth");
}

/* Triangle `triangle` has the edge from a to b (a < b) opposite of corner `opposite`. */
typedef struct edge {
    int32_t a, b, triangle, opposite;
} edge;

static int by_ends(const void *x, const void *y)
{
    const edge *p = x, *q = y;
    if (p->a != q->a) return (p->a > q->a) - (p->a < q->a);
    if (p->b != q->b) return (p->b > q->b) - (p->b < q->b);
    return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

static void list_edges(const tl_lg_part *p, edge *out)
{
    for (int32_t t = 0; t < p->elements; t++)
        for (int k = 0; k < 3; k++) {
            int32_t a = p->element[3 * (int64_t)t + (k + 1) % 3], b = p->element[3 * (int64_t)t + (k + 2) % 3];
            out[3 * (int64_t)t + k] = (edge){a < b ? a : b, a < b ? b : a, t, p->element[3 * (int64_t)t + k]};
        }
    qsort(out, 3 * (size_t)p->elements, sizeof *out, by_ends);
}

/* ---- hinges ---- */

/* Share of b in the foot of `apex` on the edge from a to b, its height, and twice the area. */
static double foot(const tl_lg_part *p, const edge *e, int32_t apex, double *height, double *area)
{
    tl_vec3 a = p->vertex[e->a], along = tl_vec3_sub(p->vertex[e->b], a), up = tl_vec3_sub(p->vertex[apex], a);
    double length2 = tl_vec3_norm2(along);
    *area = 0.5 * tl_vec3_norm(tl_vec3_cross(along, up));
    *height = 2 * *area / sqrt(length2);
    return tl_vec3_dot(along, up) / length2;
}

static void hinge(const tl_lg_part *p, double k, const edge *e, tl_bending *out)
{
    double h[2], area[2], share[2];
    for (int s = 0; s < 2; s++) share[s] = foot(p, e, e[s].opposite, &h[s], &area[s]);
    int32_t at = out->start[out->count];
    const int32_t node[4] = {e->a, e->b, e[0].opposite, e[1].opposite};
    const double c[4] = {-(1 - share[0]) / h[0] - (1 - share[1]) / h[1], -share[0] / h[0] - share[1] / h[1], 1 / h[0],
                         1 / h[1]};
    memcpy(out->node + at, node, sizeof node);
    memcpy(out->c + at, c, sizeof c);
    double length2 = tl_vec3_norm2(tl_vec3_sub(p->vertex[e->b], p->vertex[e->a]));
    out->weight[out->count++] = 3 * k * length2 / (area[0] + area[1]);
    out->start[out->count] = at + 4;
}

static void hinges(const tl_lg_part *p, double k, const edge *e, tl_bending *out)
{
    int64_t count = 3 * (int64_t)p->elements;
    for (int64_t i = 0; i + 1 < count; i++)
        if (e[i].a == e[i + 1].a && e[i].b == e[i + 1].b) hinge(p, k, &e[i], out);
}

/* ---- one-ring ---- */

static double cotangent(tl_vec3 apex, tl_vec3 a, tl_vec3 b)
{
    tl_vec3 x = tl_vec3_sub(a, apex), y = tl_vec3_sub(b, apex);
    return tl_vec3_dot(x, y) / tl_vec3_norm(tl_vec3_cross(x, y));
}

typedef struct half {
    int32_t from, to;
    double weight; /* half a cotangent */
} half;

static int by_from(const void *x, const void *y)
{
    const half *p = x, *q = y;
    if (p->from != q->from) return (p->from > q->from) - (p->from < q->from);
    return (p->to > q->to) - (p->to < q->to);
}

static talus_status rings(const tl_lg_part *p, double k, const edge *e, tl_bending *out, talus_error *err)
{
    int64_t count = 3 * (int64_t)p->elements;
    half *spoke = TL_NEW(half, 2 * count);
    double *area = TL_NEW_ZERO(double, p->vertices);
    char *rim = TL_NEW_ZERO(char, p->vertices);
    talus_status status = spoke && area && rim ? TALUS_OK : no_memory(err);
    for (int64_t i = 0; i < count && status == TALUS_OK; i++) {
        double w = 0.5 * cotangent(p->vertex[e[i].opposite], p->vertex[e[i].a], p->vertex[e[i].b]);
        spoke[2 * i] = (half){e[i].a, e[i].b, w};
        spoke[2 * i + 1] = (half){e[i].b, e[i].a, w};
        double h, size;
        (void)foot(p, &e[i], e[i].opposite, &h, &size);
        area[e[i].opposite] += size / 3;
        bool shared = (i > 0 && e[i - 1].a == e[i].a && e[i - 1].b == e[i].b) ||
                      (i + 1 < count && e[i + 1].a == e[i].a && e[i + 1].b == e[i].b);
        if (!shared) rim[e[i].a] = rim[e[i].b] = 1;
    }
    if (status == TALUS_OK) qsort(spoke, 2 * (size_t)count, sizeof *spoke, by_from);
    for (int64_t i = 0; i < 2 * count && status == TALUS_OK;) {
        int32_t from = spoke[i].from, at = out->start[out->count], n = 1;
        double sum = 0;
        for (; i < 2 * count && spoke[i].from == from; i++) {
            if (rim[from]) continue;
            sum += spoke[i].weight;
            if (n > 1 && out->node[at + n - 1] == spoke[i].to) {
                out->c[at + n - 1] += spoke[i].weight;
            } else if (n < TL_BENDING_NODES) {
                out->node[at + n] = spoke[i].to;
                out->c[at + n++] = spoke[i].weight;
            } else {
                status = TL_FAIL(err, TALUS_UNSUPPORTED, "cloth \"%.60s\": node %d has more than %d neighbours",
                                 p->name, from, TL_BENDING_NODES - 1);
            }
        }
        if (rim[from]) continue;
        out->node[at] = from;
        out->c[at] = -sum;
        out->weight[out->count++] = k / area[from];
        out->start[out->count] = at + n;
    }
    tl_free(spoke);
    tl_free(area);
    tl_free(rim);
    return status;
}

/* ---- the whole ---- */

static talus_status check_edges(const tl_lg_part *p, const edge *e, talus_error *err)
{
    int64_t count = 3 * (int64_t)p->elements;
    for (int64_t i = 0; i + 2 < count; i++)
        if (e[i].a == e[i + 2].a && e[i].b == e[i + 2].b)
            return TL_FAIL(err, TALUS_BAD_INPUT, "cloth \"%.60s\": three triangles share the edge of nodes %d and %d",
                           p->name, e[i].a, e[i].b);
    return TALUS_OK;
}

/* Mean normal of the triangles 0 1 2 and 1 0 3, with what its derivative needs; false: folded flat, or a triangle without area. */
typedef struct wedge {
    tl_vec3 n[2], mean;
    double area2[2], sum; /* lengths of the area vectors, and of n[0] + n[1] */
} wedge;

static bool wedge_of(const tl_vec3 x[4], wedge *w)
{
    tl_vec3 e = tl_vec3_sub(x[1], x[0]);
    tl_vec3 area[2] = {tl_vec3_cross(e, tl_vec3_sub(x[2], x[0])), tl_vec3_cross(tl_vec3_sub(x[3], x[0]), e)};
    for (int k = 0; k < 2; k++) {
        w->area2[k] = tl_vec3_norm(area[k]);
        if (!(w->area2[k] > 1e-12 * tl_vec3_norm2(e))) return false;
        w->n[k] = tl_vec3_scale(1 / w->area2[k], area[k]);
    }
    w->mean = tl_vec3_add(w->n[0], w->n[1]);
    w->sum = tl_vec3_norm(w->mean);
    if (!(w->sum > FOLDED)) return false;
    w->mean = tl_vec3_scale(1 / w->sum, w->mean);
    return true;
}

static tl_vec3 across(tl_vec3 a, tl_vec3 n) { return tl_vec3_add_scaled(a, -tl_vec3_dot(a, n), n); }

double tl_lg_hinge_force(const tl_lg_hinge *h, const tl_vec3 x[4], tl_vec3 force[4])
{
    wedge w;
    for (int k = 0; k < 4 && force; k++) force[k] = (tl_vec3){0, 0, 0};
    if (!wedge_of(x, &w)) return 0.5 * h->weight * h->beta * h->beta;
    tl_vec3 b = {0, 0, 0};
    for (int k = 0; k < 4; k++) b = tl_vec3_add_scaled(b, h->c[k], tl_vec3_sub(x[k], x[0]));
    double pull = h->weight * h->beta;
    if (force) {
        for (int k = 0; k < 4; k++) force[k] = tl_vec3_scale(pull * h->c[k], w.mean);
        /* b.mean as the normals turn */
        tl_vec3 e = tl_vec3_sub(x[1], x[0]), g = tl_vec3_scale(pull / w.sum, across(b, w.mean));
        for (int k = 0; k < 2; k++) {
            tl_vec3 f = tl_vec3_sub(x[2 + k], x[0]), turn = tl_vec3_scale(1 / w.area2[k], across(g, w.n[k]));
            if (k) turn = tl_vec3_neg(turn); /* its area vector is f x e */
            tl_vec3 at_e = tl_vec3_cross(f, turn), at_f = tl_vec3_cross(turn, e);
            force[1] = tl_vec3_add(force[1], at_e);
            force[2 + k] = tl_vec3_add(force[2 + k], at_f);
            force[0] = tl_vec3_sub(force[0], tl_vec3_add(at_e, at_f));
        }
    }
    return pull * (0.5 * h->beta - tl_vec3_dot(b, w.mean));
}

/* Rest values: along the mean normal of a hinge. */
static talus_status find_rest(const tl_lg_part *p, const tl_bending *b, talus_error *err)
{
    for (int32_t k = 0; k < b->count; k++) {
        const int32_t *node = b->node + b->start[k];
        tl_vec3 sum = {0, 0, 0};
        double size = 0;
        for (int32_t s = 0; s < b->start[k + 1] - b->start[k]; s++) {
            tl_vec3 r = tl_vec3_sub(p->vertex[node[s]], p->vertex[node[0]]);
            sum = tl_vec3_add_scaled(sum, b->c[b->start[k] + s], r);
            size += fabs(b->c[b->start[k] + s]) * tl_vec3_norm(r);
        }
        b->beta[k] = 0;
        if (tl_vec3_norm(sum) <= FLAT * size) continue;
        if (p->bending == TL_LG_RING)
            return TL_FAIL(err, TALUS_UNSUPPORTED,
                           "cloth \"%.60s\" is not flat at rest (near node %d): bending \"ring\" needs a flat rest "
                           "shape, \"hinge\" does not",
                           p->name, node[0]);
        wedge w;
        const tl_vec3 x[4] = {p->vertex[node[0]], p->vertex[node[1]], p->vertex[node[2]], p->vertex[node[3]]};
        if (!wedge_of(x, &w))
            return TL_FAIL(err, TALUS_BAD_INPUT,
                           "cloth \"%.60s\" is folded flat at rest along the edge of nodes %d and %d", p->name, node[0],
                           node[1]);
        b->beta[k] = tl_vec3_dot(sum, w.mean);
    }
    return TALUS_OK;
}

static talus_status make(tl_bending *out, const tl_lg_part *p, const edge *e, talus_error *err)
{
    double k = p->stiffness, t = p->thickness;
    if (k < 0) k = p->young * t * t * t / (12 * (1 - p->poisson * p->poisson));
    TL_TRY(check_edges(p, e, err));
    if (p->bending == TL_LG_HINGE)
        hinges(p, k, e, out);
    else
        TL_TRY(rings(p, k, e, out, err));
    return find_rest(p, out, err);
}

talus_status tl_bending_make(tl_bending *out, const tl_lg_part *p, talus_error *err)
{
    *out = (tl_bending){0};
    if (p->kind != TL_LG_CLOTH || p->bending == TL_LG_LIMP || p->stiffness == 0) return TALUS_OK;
    int64_t n = 3 * (int64_t)p->elements;
    edge *e = TL_NEW(edge, n);
    out->start = TL_NEW_ZERO(int32_t, n + p->vertices + 1);
    out->node = TL_NEW(int32_t, 6 * n + p->vertices +
                                    1); /* hinges: 4 per edge; rings: both directions of every edge and the centres */
    out->c = TL_NEW(double, 6 * n + p->vertices + 1);
    out->weight = TL_NEW(double, n + p->vertices + 1);
    out->beta = TL_NEW(double, n + p->vertices + 1);
    talus_status status =
        e && out->start && out->node && out->c && out->weight && out->beta ? TALUS_OK : no_memory(err);
    if (status == TALUS_OK) {
        list_edges(p, e);
        status = make(out, p, e, err);
    }
    tl_free(e);
    if (status != TALUS_OK) tl_bending_free(out);
    return status;
}

void tl_bending_free(tl_bending *b)
{
    tl_free(b->start);
    tl_free(b->node);
    tl_free(b->c);
    tl_free(b->weight);
    tl_free(b->beta);
    *b = (tl_bending){0};
}

int64_t tl_bending_pairs(const tl_bending *b)
{
    int64_t pairs = 0;
    for (int32_t k = 0; k < b->count; k++) {
        int64_t n = b->start[k + 1] - b->start[k];
        pairs += n * n;
    }
    return pairs;
}
