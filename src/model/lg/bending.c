#include "model/lg/bending.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FLAT 1e-6 /* rad: a rest angle of more is no flat rest shape */
#define RING_SINGLE                                                                                                    \
    0.1 /* of the energy of rings: 10 % too stiff against saddles along the squares, the middle held. Chosen */
#define RING_SCALE 0.976 /* the mean over directions of what that adds, taken out: 1 / 1.025 */
#define HINGE_SCALE 1.05 /* between a plate that is held at its rim (1) and a free strip (9/8), see bending.h */
#define FOLDED 1e-3      /* sum of two unit normals: below, triangles lie on each other and have no mean normal */

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

/* ---- clamps ---- */

/* [elements] Triangles all of whose nodes one handle holds: the sheet is clamped there. */
static talus_status find_clamped(const tl_lg_part *p, bool *clamped, talus_error *err)
{
    int32_t *held = TL_NEW_ZERO(int32_t, p->vertices + 1); /* 1 + handle */
    if (!held) return no_memory(err);
    for (int32_t k = 0; k < p->anchors; k++) held[p->anchor[k].vertex] = 1 + p->anchor[k].handle;
    for (int32_t t = 0; t < p->elements; t++) {
        const int32_t *v = p->element + 3 * (int64_t)t;
        clamped[t] = held[v[0]] && held[v[0]] == held[v[1]] && held[v[0]] == held[v[2]];
    }
    tl_free(held);
    return TALUS_OK;
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

/* c.x of an edge into row `at`. */
static void hinge_stencil(const tl_lg_part *p, const edge *e, int32_t node[4], double c[4])
{
    double h[2], area[2], share[2];
    for (int s = 0; s < 2; s++) share[s] = foot(p, e, e[s].opposite, &h[s], &area[s]);
    const int32_t nodes[4] = {e->a, e->b, e[0].opposite, e[1].opposite};
    const double all[4] = {-(1 - share[0]) / h[0] - (1 - share[1]) / h[1], -share[0] / h[0] - share[1] / h[1], 1 / h[0],
                           1 / h[1]};
    memcpy(node, nodes, sizeof nodes);
    memcpy(c, all, sizeof all);
}

static void hinge(const tl_lg_part *p, double k, const edge *e, const int *valence, const bool *clamped,
                  tl_bending *out)
{
    double h, area[2];
    for (int s = 0; s < 2; s++) (void)foot(p, e, e[s].opposite, &h, &area[s]);
    int32_t at = out->start[out->count];
    hinge_stencil(p, e, out->node + at, out->c + at);
    double length2 = tl_vec3_norm2(tl_vec3_sub(p->vertex[e->b], p->vertex[e->a]));
    double factor = 1; /* squares of four triangles: see bending.h */
    if (valence[e[0].opposite] == 4 && valence[e[1].opposite] == 4)
        factor = 2.0 / 3;
    else if (valence[e->a] == 4 || valence[e->b] == 4)
        factor = 4.0 / 3;
    if (clamped[e[0].triangle] != clamped[e[1].triangle])
        factor *= 2; /* all of the angle is on one side: see bending.h */
    out->weight[out->count++] = HINGE_SCALE * factor * k * length2 / (area[0] + area[1]);
    out->start[out->count] = at + 4;
}

static bool is_hinge(const edge *e, int64_t i, int64_t count)
{
    return i + 1 < count && e[i].a == e[i + 1].a && e[i].b == e[i + 1].b;
}

static talus_status hinges(const tl_lg_part *p, double k, const edge *e, const bool *clamped, tl_bending *out,
                           talus_error *err)
{
    int64_t count = 3 * (int64_t)p->elements;
    int *valence = TL_NEW_ZERO(int, p->vertices); /* triangles around it; a rim node has one neighbour more */
    if (!valence) return no_memory(err);
    for (int64_t i = 0; i < count; i++) valence[p->element[i]]++;
    for (int64_t i = 0; i < count; i++) /* nodes of a rim are no middles */
        if (!is_hinge(e, i, count) && !(i > 0 && is_hinge(e, i - 1, count))) valence[e[i].a] = valence[e[i].b] = 0;
    for (int64_t i = 0; i + 1 < count; i++)
        if (is_hinge(e, i, count)) hinge(p, k, &e[i], valence, clamped, out);
    tl_free(valence);
    return TALUS_OK;
}

/* ---- rings: curvature tensors of sheets that are flat at rest ---- */

/* A frame of the plane of the sheet, and whether all of it lies there. */
static bool is_flat(const tl_lg_part *p, tl_vec3 frame[2])
{
    const int32_t *t = p->element;
    tl_vec3 x0 = p->vertex[t[0]], a = tl_vec3_sub(p->vertex[t[1]], x0), n;
    n = tl_vec3_normalize(tl_vec3_cross(a, tl_vec3_sub(p->vertex[t[2]], x0)));
    frame[0] = tl_vec3_normalize(a);
    frame[1] = tl_vec3_cross(n, frame[0]);
    double size = 0, off = 0;
    for (int32_t v = 0; v < p->vertices; v++) {
        tl_vec3 r = tl_vec3_sub(p->vertex[v], x0);
        size = fmax(size, tl_vec3_norm(r));
        off = fmax(off, fabs(tl_vec3_dot(r, n)));
    }
    return off <= FLAT * size;
}

/* A triangle with its three hinges; tensor[i]: xx, yy, xy per angle of hinge i. From the divergence theorem, with
 * the gradient at an edge the mean of that of its triangles: integral of the curvature = sum over edges of length
 * angle/2 m m^T, m square to the edge. At the rim of a clamp the gradient is that of the clamp. */
typedef struct bent {
    int hinges;
    int32_t node[3][4];
    double c[3][4], tensor[3][3];
    double area, takes; /* takes: with what rim triangles, which lack a hinge, hand on */
    int takers;
} bent;

static talus_status know_triangles(const tl_lg_part *p, const tl_vec3 frame[2], const edge *e, const bool *clamped,
                                   bent *all)
{
    int64_t count = 3 * (int64_t)p->elements;
    for (int64_t i = 0; i < count; i++) {
        double h;
        (void)foot(p, &e[i], e[i].opposite, &h, &all[e[i].triangle].area);
        if (!is_hinge(e, i, count)) continue;
        tl_vec3 along = tl_vec3_sub(p->vertex[e[i].b], p->vertex[e[i].a]);
        double length = tl_vec3_norm(along), mx = tl_vec3_dot(along, frame[1]) / length,
               my = -tl_vec3_dot(along, frame[0]) / length;
        const double mm[3] = {mx * mx, my * my, mx * my};
        for (int s = 0; s < 2; s++) {
            bent *b = &all[e[i + s].triangle];
            double share = clamped[e[i].triangle] == clamped[e[i + 1].triangle] ? 0.5
                           : clamped[e[i + s].triangle]                         ? 0
                                                                                : 1;
            hinge_stencil(p, &e[i], b->node[b->hinges], b->c[b->hinges]);
            for (int j = 0; j < 3; j++) b->tensor[b->hinges][j] = share * length * mm[j];
            b->hinges++;
        }
    }
    for (int32_t t = 0; t < p->elements; t++) {
        all[t].takes = all[t].area;
        for (int i = 0; i < 9; i++) all[t].tensor[i / 3][i % 3] /= all[t].area;
    }
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < count; i++) {
            if (!is_hinge(e, i, count)) continue;
            bent *a = &all[e[i].triangle], *b = &all[e[i + 1].triangle];
            if ((a->hinges == 3) == (b->hinges == 3)) continue;
            bent *from = a->hinges == 3 ? b : a, *to = a->hinges == 3 ? a : b;
            if (pass == 0)
                from->takers++;
            else
                to->takes += from->area / from->takers;
        }
    return TALUS_OK;
}

/* Triangles around the middle of a square. */
typedef struct ring {
    int count;
    int32_t of[4];
} ring;

/* Stencil of entry j of the mean tensor of triangles, `share` of each. */
static void add_mean(tl_bending *out, int triangles, const bent *const *t, const double *share, int j, double weight)
{
    int32_t at = out->start[out->count], n = 0;
    for (int k = 0; k < triangles; k++)
        for (int i = 0; i < 12; i++) {
            int32_t node = t[k]->node[i / 4][i % 4], m = 0;
            while (m < n && out->node[at + m] != node) m++;
            if (m == n) out->node[at + n] = node, out->c[at + n++] = 0;
            out->c[at + m] += share[k] * t[k]->tensor[i / 4][j] * t[k]->c[i / 4][i % 4];
        }
    out->weight[out->count++] = (j == 2 ? 2 : 1) * weight;
    out->start[out->count] = at + n;
}

/* Nodes that two triangles have in common. */
static int common(const tl_lg_part *p, int32_t a, int32_t b)
{
    int count = 0;
    for (int i = 0; i < 9; i++) count += p->element[3 * (int64_t)a + i / 3] == p->element[3 * (int64_t)b + i % 3];
    return count;
}

/* A square: mean over its two pairs of opposite triangles, whatever a rim has taken from one of them; and
 * RING_SINGLE of the energy of its triangles. */
static void add_square(const tl_lg_part *p, const bent *all, const int32_t *triangle, double k, tl_bending *out)
{
    const bent *known[4];
    int32_t at[4];
    double share[4], area = 0, one = 1;
    int n = 0;
    for (int i = 0; i < 4; i++) {
        area += all[triangle[i]].area;
        if (all[triangle[i]].hinges < 3) continue;
        at[n] = triangle[i];
        known[n++] = &all[triangle[i]];
    }
    for (int i = 0; i < n; i++) {
        int opposite = 0;
        for (int o = 0; o < n; o++) opposite += o != i && common(p, at[i], at[o]) == 1;
        share[i] = n == 3 ? (opposite ? 0.25 : 0.5) : 1.0 / n;
    }
    for (int j = 0; j < 3 && n > 0; j++) {
        add_mean(out, n, known, share, j, (1 - RING_SINGLE) * RING_SCALE * k * area);
        for (int i = 0; i < n; i++)
            add_mean(out, 1, known + i, &one, j, RING_SINGLE * RING_SCALE * k * share[i] * area);
    }
}

/* Energy k/2 (xx^2 + yy^2 + 2 xy^2) per area. Tensors of single triangles scatter about that of the surface; the
 * mean over the four triangles of a square does not, but lets its middle node go free: so a part of the energy is
 * that of triangles. Other meshes have triangles alone. */
static talus_status rings(const tl_lg_part *p, const tl_vec3 frame[2], double k, const edge *e, const bool *clamped,
                          tl_bending *out, talus_error *err)
{
    bent *all = TL_NEW_ZERO(bent, p->elements);
    ring *of = TL_NEW_ZERO(ring, p->vertices);
    talus_status status = all && of ? know_triangles(p, frame, e, clamped, all) : no_memory(err);
    for (int64_t i = 0; i < 3 * (int64_t)p->elements && status == TALUS_OK; i++) {
        ring *r = &of[p->element[i]];
        if (r->count < 4) r->of[r->count] = (int32_t)(i / 3);
        r->count++;
    }
    for (int64_t i = 0; i < 3 * (int64_t)p->elements && status == TALUS_OK; i++)
        if (!is_hinge(e, i, 3 * (int64_t)p->elements) && !(i > 0 && is_hinge(e, i - 1, 3 * (int64_t)p->elements)))
            of[e[i].a].count = of[e[i].b].count = 0; /* nodes of a rim are no middles */
    for (int32_t t = 0; t < p->elements && status == TALUS_OK; t++) {
        bool square = false;
        for (int c = 0; c < 3; c++) square = square || of[p->element[3 * (int64_t)t + c]].count == 4;
        const bent *one = &all[t];
        double whole = 1;
        for (int j = 0; j < 3 && !square && one->hinges == 3; j++) add_mean(out, 1, &one, &whole, j, k * one->takes);
    }
    for (int32_t v = 0; v < p->vertices && status == TALUS_OK; v++)
        if (of[v].count == 4) add_square(p, all, of[v].of, k, out);
    tl_free(all);
    tl_free(of);
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

/* Mean normal of the triangles 0 1 2 and 1 0 3, with what its derivative needs; false: folded flat, or a triangle
 * without area. */
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

static talus_status make(tl_bending *out, const tl_lg_part *p, const edge *e, bool *clamped, talus_error *err)
{
    double k = p->stiffness, t = p->thickness;
    if (k < 0) k = p->young * t * t * t / (12 * (1 - p->poisson * p->poisson));
    tl_vec3 frame[2];
    TL_TRY(check_edges(p, e, err));
    TL_TRY(find_clamped(p, clamped, err));
    if (p->bending == TL_LG_RING && is_flat(p, frame)) return rings(p, frame, k, e, clamped, out, err);
    TL_TRY(hinges(p, k, e, clamped, out, err));
    return find_rest(p, out, err);
}

talus_status tl_bending_make(tl_bending *out, const tl_lg_part *p, talus_error *err)
{
    *out = (tl_bending){0};
    if (p->kind != TL_LG_CLOTH || p->bending == TL_LG_LIMP || p->stiffness == 0) return TALUS_OK;
    int64_t n = 3 * (int64_t)p->elements;
    edge *e = TL_NEW(edge, n);
    bool *clamped = TL_NEW(bool, p->elements + 1);
    int64_t stencils = n + 3 * (int64_t)p->vertices, entries = 12 * n + 3 * (int64_t)p->vertices;
    out->start =
        TL_NEW_ZERO(int32_t, stencils + 1); /* three per triangle of up to 12 nodes, or per node with its ring */
    out->node = TL_NEW(int32_t, entries + 1);
    out->c = TL_NEW(double, entries + 1);
    out->weight = TL_NEW(double, stencils + 1);
    out->beta = TL_NEW_ZERO(double, stencils + 1);
    talus_status status =
        e && clamped && out->start && out->node && out->c && out->weight && out->beta ? TALUS_OK : no_memory(err);
    if (status == TALUS_OK) {
        list_edges(p, e);
        status = make(out, p, e, clamped, err);
    }
    tl_free(e);
    tl_free(clamped);
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
