#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "geom/tetmesh.h"
#include "math/factor.h"
#include "model/lg/bending.h"
#include "model/lg/cells.h"
#include "model/lg/holds.h"
#include "model/lg/lg.h"
#include "model/lg/pressure.h"

#define ALIKE 1e-6 /* of an edge: cells of a lattice differ by less */
#define FLAT 1e-10 /* of the cube (square) of its longest edge: an element of less volume (area) has none */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for elastic bodies");
}

static int corners_of(tl_lg_kind kind) { return kind == TL_LG_TETS ? 4 : kind == TL_LG_CLOTH ? 3 : 8; }

/* ---- checks ---- */

static double longest_edge(const tl_vec3 *x, int corners)
{
    double longest = 0;
    for (int a = 0; a < corners; a++)
        for (int b = 0; b < a; b++) longest = fmax(longest, tl_vec3_norm(tl_vec3_sub(x[a], x[b])));
    return longest;
}

static double measure(const tl_vec3 *x, int corners)
{
    tl_vec3 a = tl_vec3_sub(x[1], x[0]), b = tl_vec3_sub(x[2], x[0]);
    if (corners == 3) return 0.5 * tl_vec3_norm(tl_vec3_cross(a, b));
    if (corners == 8) return tl_vec3_dot(tl_vec3_cross(a, b), tl_vec3_sub(x[4], x[0]));
    return tl_vec3_dot(tl_vec3_cross(a, b), tl_vec3_sub(x[3], x[0])) / 6;
}

static void corners_at(const tl_lg_part *p, int32_t e, tl_vec3 x[8])
{
    int n = corners_of(p->kind);
    for (int a = 0; a < n; a++) x[a] = p->vertex[p->element[(int64_t)n * e + a]];
}

static talus_status check_numbers(const tl_lg_part *p, talus_error *err)
{
    if (p->vertices < 1 || p->elements < 1)
        return TL_FAIL(err, TALUS_BAD_INPUT, "elastic body \"%.60s\" has %d nodes and %d elements", p->name,
                       p->vertices, p->elements);
    if (!(p->young > 0 && p->young < INFINITY && p->poisson >= 0 && p->poisson < 0.5))
        return TL_FAIL(
            err, TALUS_BAD_INPUT,
            "elastic body \"%.60s\": Young's modulus must be > 0 and Poisson's ratio in [0, 0.5), got %g Pa and %g",
            p->name, p->young, p->poisson);
    if (!(p->density >= 0 && p->density < INFINITY))
        return TL_FAIL(err, TALUS_BAD_INPUT, "elastic body \"%.60s\": density must be >= 0, got %g kg/m^3", p->name,
                       p->density);
    if (p->kind == TL_LG_CLOTH && !(p->thickness > 0))
        return TL_FAIL(err, TALUS_BAD_INPUT, "cloth \"%.60s\": thickness must be > 0, got %g m", p->name, p->thickness);
    return TALUS_OK;
}

static talus_status check_elements(const tl_lg_part *p, talus_error *err)
{
    int n = corners_of(p->kind);
    const char *what = n == 4 ? "tetrahedron" : n == 3 ? "triangle" : "hexahedron";
    for (int32_t i = 0; i < p->vertices; i++)
        if (!isfinite(p->vertex[i].x) || !isfinite(p->vertex[i].y) || !isfinite(p->vertex[i].z))
            return TL_FAIL(err, TALUS_BAD_INPUT, "elastic body \"%.60s\": node %d is not at a finite place", p->name,
                           i);
    for (int32_t e = 0; e < p->elements; e++) {
        tl_vec3 x[8];
        for (int a = 0; a < n; a++) {
            int32_t v = p->element[(int64_t)n * e + a];
            if (v < 0 || v >= p->vertices)
                return TL_FAIL(err, TALUS_BAD_INPUT, "elastic body \"%.60s\": %s %d names node %d of %d", p->name, what,
                               e, v, p->vertices);
        }
        corners_at(p, e, x);
        double longest = longest_edge(x, n), size = measure(x, n);
        if (!(size > FLAT * pow(longest, n == 3 ? 2 : 3)))
            return TL_FAIL(err, TALUS_BAD_INPUT,
                           "elastic body \"%.60s\": %s %d of the rest shape has %s %g, must be > 0 (longest edge %g m)",
                           p->name, what, e, n == 3 ? "area" : "volume", size, longest);
    }
    return TALUS_OK;
}

/* A node without element and anchor has an empty row in A. */
static talus_status check_nodes(const tl_lg_part *p, talus_error *err)
{
    int n = corners_of(p->kind);
    char *held = TL_NEW_ZERO(char, p->vertices);
    if (!held) return no_memory(err);
    for (int64_t k = 0; k < (int64_t)n * p->elements; k++) held[p->element[k]] = 1;
    for (int32_t k = 0; k < p->anchors; k++)
        if (p->anchor[k].vertex >= 0 && p->anchor[k].vertex < p->vertices) held[p->anchor[k].vertex] = 1;
    int32_t alone = 0;
    while (alone < p->vertices && held[alone]) alone++;
    tl_free(held);
    if (alone < p->vertices)
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "elastic body \"%.60s\": node %d belongs to no element and has no mass; it cannot be computed",
                       p->name, alone);
    return TALUS_OK;
}

static talus_status check_anchors(const tl_lg_part *p, int32_t handles, talus_error *err)
{
    for (int32_t k = 0; k < p->anchors; k++) {
        const tl_lg_anchor *a = &p->anchor[k];
        if (a->vertex < 0 || a->vertex >= p->vertices || a->handle < 0 || a->handle >= handles)
            return TL_FAIL(err, TALUS_BAD_INPUT,
                           "elastic body \"%.60s\": anchor %d holds node %d of %d by handle %d of %d", p->name, k,
                           a->vertex, p->vertices, a->handle, handles);
        if (!(a->weight > 0 && a->weight < INFINITY))
            return TL_FAIL(err, TALUS_BAD_INPUT, "elastic body \"%.60s\": anchor %d must have a weight > 0, got %g N/m",
                           p->name, k, a->weight);
    }
    return TALUS_OK;
}

static tl_lg_material material_of(const tl_lg_part *p)
{
    double E = p->young, nu = p->poisson;
    tl_lg_material m = {p->model, p->scheme, E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu)), 0};
    if (p->kind == TL_LG_CLOTH) m.lambda = E * nu / (1 - nu * nu);
    if (m.model == TL_LG_ARAP) m.lambda = 0;
    m.k = (2 * m.mu + m.lambda) * (p->weight > 0 ? p->weight : 1);
    return m;
}

/* ---- the pattern of A, and the order of elimination ---- */

static int by_number(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return (p > q) - (p < q);
}

/* Pairs of nodes (row n + column), as keys to be sorted. */
typedef struct pairs {
    int64_t count, room, *key;
} pairs;

static void add_clique(pairs *p, int64_t n, const int32_t *node, int count)
{
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++) p->key[p->count++] = node[a] * n + node[b];
}

/* All values zero. order [n]: vertex -> node. */
static talus_status pattern_of(const tl_lg_part *p, const tl_bending *bend, const int32_t *order, tl_csr *out,
                               talus_error *err)
{
    int c = corners_of(p->kind);
    int64_t n = p->vertices, room = (int64_t)p->elements * c * c + n + tl_bending_pairs(bend);
    pairs all = {0, room, TL_NEW(int64_t, room)};
    int32_t *node = TL_NEW(int32_t, TL_BENDING_NODES);
    if (!all.key || !node) {
        tl_free(all.key);
        tl_free(node);
        return no_memory(err);
    }
    for (int32_t e = 0; e < p->elements; e++) {
        for (int a = 0; a < c; a++) node[a] = order[p->element[(int64_t)c * e + a]];
        add_clique(&all, n, node, c);
    }
    for (int32_t k = 0; k < bend->count; k++) {
        int count = bend->start[k + 1] - bend->start[k];
        for (int a = 0; a < count; a++) node[a] = order[bend->node[bend->start[k] + a]];
        add_clique(&all, n, node, count);
    }
    for (int64_t i = 0; i < n; i++) all.key[all.count++] = i * n + i;
    qsort(all.key, (size_t)all.count, sizeof *all.key, by_number);
    int64_t unique = 0;
    for (int64_t k = 0; k < all.count; k++)
        if (k == 0 || all.key[k] != all.key[k - 1]) all.key[unique++] = all.key[k];
    talus_status status = tl_csr_create(out, p->vertices, p->vertices, unique, err);
    if (status == TALUS_OK) {
        memset(out->start, 0, sizeof *out->start * (size_t)(n + 1));
        for (int64_t k = 0; k < unique; k++) {
            out->start[all.key[k] / n + 1]++;
            out->col[k] = (int32_t)(all.key[k] % n);
            out->val[k] = 0;
        }
        for (int64_t i = 0; i < n; i++) out->start[i + 1] += out->start[i];
    }
    tl_free(all.key);
    tl_free(node);
    return status;
}

/* order[vertex] = place in the order of elimination. */
static talus_status eliminate(const tl_csr *pattern, int32_t *order, talus_error *err)
{
    tl_factor_options o = tl_factor_options_default();
    tl_factor *f = NULL;
    TL_TRY(tl_factor_create(&f, &o, err));
    talus_status status = tl_factor_analyse(f, pattern, err);
    if (status == TALUS_OK) {
        const int32_t *perm = tl_factor_info_of(f)->perm;
        for (int32_t i = 0; i < pattern->rows; i++) order[perm[i]] = i;
    }
    tl_factor_free(f);
    return status;
}

static void add_value(tl_csr *A, int32_t i, int32_t j, double value)
{
    int64_t lo = A->start[i], hi = A->start[i + 1] - 1;
    while (lo < hi) {
        int64_t mid = (lo + hi) / 2;
        if (A->col[mid] < j)
            lo = mid + 1;
        else
            hi = mid;
    }
    A->val[lo] += value;
}

/* ---- elements ---- */

typedef struct placed {
    int32_t first, element; /* lowest node */
} placed;
static int by_place(const void *a, const void *b)
{
    const placed *p = a, *q = b;
    if (p->first != q->first) return (p->first > q->first) - (p->first < q->first);
    return (p->element > q->element) - (p->element < q->element);
}

/* Edge matrix of a triangle in a frame of its own, and back: B = D^-1, row-major. */
static void triangle_inverse(const tl_vec3 x[3], double B[4])
{
    tl_vec3 a = tl_vec3_sub(x[1], x[0]), b = tl_vec3_sub(x[2], x[0]), t = tl_vec3_normalize(a);
    double a0 = tl_vec3_norm(a), b0 = tl_vec3_dot(b, t), b1 = tl_vec3_norm(tl_vec3_cross(t, b));
    B[0] = 1 / a0; /* D = [a0 b0; 0 b1] */
    B[1] = -b0 / (a0 * b1);
    B[2] = 0;
    B[3] = 1 / b1;
}

static void tet_inverse(const tl_vec3 x[4], double B[9])
{
    tl_mat3 D = tl_mat3_from_columns(tl_vec3_sub(x[1], x[0]), tl_vec3_sub(x[2], x[0]), tl_vec3_sub(x[3], x[0])),
            inverse;
    (void)tl_mat3_inverse(D, &inverse); /* positive volume was checked */
    memcpy(B, inverse.m, 9 * sizeof *B);
}

/* g_a . g_b for all corners. */
static void gradient_products(const double *B, int corners, double out[4][4])
{
    int d = corners - 1;
    double g[4][3] = {{0}};
    for (int a = 0; a < d; a++)
        for (int k = 0; k < d; k++) {
            g[a + 1][k] = B[d * a + k];
            g[0][k] -= B[d * a + k];
        }
    for (int a = 0; a < corners; a++)
        for (int b = 0; b < corners; b++) {
            out[a][b] = 0;
            for (int k = 0; k < d; k++) out[a][b] += g[a][k] * g[b][k];
        }
}

/* Signs of the modes xy, yz, zx, xyz at a corner, over 8. */
static double hex_mode(int mode, int corner)
{
    static const int bits[4] = {3, 6, 5, 7};
    int sign = 1;
    for (int k = 0; k < 3; k++)
        if (bits[mode] & 1 << k) sign *= corner & 1 << k ? 1 : -1;
    return sign / 8.0;
}

/* The cells of a body are those of one lattice, or the modes of hex.h would not be blind to turning. */
static talus_status find_lattice(tl_lg_body *b, const tl_lg_part *p, talus_error *err)
{
    tl_vec3 edge[3], x[8];
    tl_lg_lattice *g = &b->lattice;
    for (int32_t e = 0; e < p->elements; e++) {
        corners_at(p, e, x);
        if (e == 0)
            for (int k = 0; k < 3; k++) edge[k] = tl_vec3_sub(x[1 << k], x[0]);
        for (int a = 0; a < 8; a++) {
            tl_vec3 at = x[0];
            for (int k = 0; k < 3; k++)
                if (a & 1 << k) at = tl_vec3_add(at, edge[k]);
            if (!(tl_vec3_norm(tl_vec3_sub(at, x[a])) <= ALIKE * tl_vec3_norm(edge[0])))
                return TL_FAIL(err, TALUS_BAD_INPUT, "elastic body \"%.60s\": cell %d is not like the first one",
                               p->name, e);
        }
    }
    tl_mat3 D = tl_mat3_from_columns(edge[0], edge[1], edge[2]), inverse;
    double h[3], mean = 0, E = p->model == TL_LG_ARAP ? 2 * b->material.mu : p->young, G = b->material.mu;
    (void)tl_mat3_inverse(D, &inverse); /* positive volume was checked */
    memcpy(g->B, inverse.m, sizeof g->B);
    for (int c = 0; c < 3; c++) {
        h[c] = tl_vec3_norm(edge[c]);
        mean += 1 / (3 * h[c] * h[c]);
        g->axis[c] = edge[c].x / h[c], g->axis[3 + c] = edge[c].y / h[c], g->axis[6 + c] = edge[c].z / h[c];
        for (int k = 0; k < c; k++)
            if (!(fabs(tl_vec3_dot(edge[c], edge[k])) <= ALIKE * h[c] * h[k]))
                return TL_FAIL(err, TALUS_BAD_INPUT, "elastic body \"%.60s\": cells must have right angles", p->name);
    }
    g->volume = h[0] * h[1] * h[2];
    for (int m = 0; m < 3; m++) { /* mode of axes i, j; the third is l */
        int i = m, j = (m + 1) % 3, l = (m + 2) % 3;
        double per = 16 * g->volume / (h[i] * h[i] * h[j] * h[j]);
        g->stiffness[m][i] = E * per * h[j] * h[j] / 12;
        g->stiffness[m][j] = E * per * h[i] * h[i] / 12;
        g->stiffness[m][l] = G * per * (h[i] * h[i] + h[j] * h[j]) / 24;
        g->stiffness[3][m] = E * g->volume * 4 / 9 * mean;
    }
    return TALUS_OK;
}

/* One cell into its lane, like add_element. A has the largest stiffness of each mode: the local step never
 * overshoots. */
static void add_hex(tl_lg *lg, tl_lg_body *b, const tl_lg_part *p, const int32_t *order, int32_t e, int64_t place)
{
    const tl_lg_lattice *g = &b->lattice;
    const int32_t *corner = p->element + 8 * (int64_t)e;
    tl_lg_hexes *t = &lg->hexes[b->batch + place / TL_LG_LANES];
    int lane = (int)(place % TL_LG_LANES), last = lane == 0 ? TL_LG_LANES : lane + 1;
    t->V[lane] = g->volume;
    b->volume += g->volume;
    b->mass += p->density * g->volume;
    for (int l = lane; l < last; l++)
        for (int a = 0; a < 8; a++) t->node[a][l] = b->node + order[corner[a]];
    tl_csr *A = &lg->pattern[b - lg->body];
    for (int a = 0; a < 8; a++) {
        lg->mass[b->node + order[corner[a]]] += p->density * g->volume / 8;
        for (int c = 0; c < 8; c++) {
            double sum = 0, ga[3] = {0}, gc[3] = {0};
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++) {
                    ga[k] += (a & 1 << j ? 0.25 : -0.25) * g->B[3 * j + k];
                    gc[k] += (c & 1 << j ? 0.25 : -0.25) * g->B[3 * j + k];
                }
            for (int k = 0; k < 3; k++) sum += b->material.k * g->volume * ga[k] * gc[k];
            for (int m = 0; m < 4; m++)
                sum += fmax(fmax(g->stiffness[m][0], g->stiffness[m][1]), g->stiffness[m][2]) * hex_mode(m, a) *
                       hex_mode(m, c);
            add_value(A, order[corner[a]], order[corner[c]], sum);
        }
    }
}

/* One element into its lane; its stiffness into A, its mass onto nodes. */
static void add_element(tl_lg *lg, tl_lg_body *b, const tl_lg_part *p, const int32_t *order, int32_t e, int64_t place)
{
    int c = corners_of(p->kind), d = c - 1, lane = (int)(place % TL_LG_LANES);
    int64_t batch = b->batch + place / TL_LG_LANES;
    tl_vec3 x[8];
    double B[9], G[4][4];
    corners_at(p, e, x);
    double size = measure(x, c) * (c == 3 ? p->thickness : 1), V = size * (p->stiffer ? p->stiffer[e] : 1),
           mass = p->density * size * (p->heavier ? p->heavier[e] : 1);
    (c == 4 ? tet_inverse : triangle_inverse)(x, B);
    gradient_products(B, c, G);
    int32_t *node = c == 4 ? lg->tets[batch].node[0] : lg->triangles[batch].node[0];
    double *lanes = c == 4 ? lg->tets[batch].B[0] : lg->triangles[batch].B[0];
    (c == 4 ? lg->tets[batch].V : lg->triangles[batch].V)[lane] = V;
    int last = lane == 0 ? TL_LG_LANES : lane + 1; /* the first one stands in for lanes that stay empty */
    for (int l = lane; l < last; l++) {
        for (int a = 0; a < c; a++) node[a * TL_LG_LANES + l] = b->node + order[p->element[(int64_t)c * e + a]];
        for (int k = 0; k < d * d; k++) lanes[k * TL_LG_LANES + l] = B[k];
    }
    b->volume += size;
    b->mass += mass;
    tl_csr *A = &lg->pattern[b - lg->body];
    for (int a = 0; a < c; a++) {
        int32_t i = order[p->element[(int64_t)c * e + a]];
        lg->mass[b->node + i] += mass / c;
        for (int k = 0; k < c; k++) add_value(A, i, order[p->element[(int64_t)c * e + k]], b->material.k * V * G[a][k]);
    }
}

static talus_status add_elements(tl_lg *lg, tl_lg_body *b, const tl_lg_part *p, const int32_t *order, talus_error *err)
{
    int c = corners_of(p->kind);
    if (c == 8) TL_TRY(find_lattice(b, p, err));
    placed *sorted = TL_NEW(placed, p->elements);
    if (!sorted) return no_memory(err);
    for (int32_t e = 0; e < p->elements; e++) {
        int32_t first = INT32_MAX;
        for (int a = 0; a < c; a++) {
            int32_t i = order[p->element[(int64_t)c * e + a]];
            first = i < first ? i : first;
        }
        sorted[e] = (placed){first, e};
    }
    qsort(sorted, (size_t)p->elements, sizeof *sorted, by_place);
    for (int32_t k = 0; k < p->elements; k++) (c == 8 ? add_hex : add_element)(lg, b, p, order, sorted[k].element, k);
    tl_free(sorted);
    int32_t *owner = c == 8 ? lg->hex_body : c == 4 ? lg->tet_body : lg->triangle_body;
    for (int32_t k = 0; k < b->batches; k++) owner[b->batch + k] = (int32_t)(b - lg->body);
    return TALUS_OK;
}

/* ---- bending, anchors, surface ---- */

/* Stencils onto A of the body and, in the numbering of all nodes, as triplets for K. */
static void add_bending(tl_lg *lg, const tl_lg_body *b, const tl_bending *bend, const int32_t *order, int32_t *row,
                        int32_t *col, double *val, int64_t *count)
{
    tl_csr *A = &lg->pattern[b - lg->body];
    for (int32_t k = 0; k < bend->count; k++)
        for (int32_t s = bend->start[k]; s < bend->start[k + 1]; s++)
            for (int32_t t = bend->start[k]; t < bend->start[k + 1]; t++) {
                int32_t i = order[bend->node[s]], j = order[bend->node[t]];
                double value = bend->weight[k] * bend->c[s] * bend->c[t];
                add_value(A, i, j, value);
                row[*count] = b->node + i;
                col[*count] = b->node + j;
                val[(*count)++] = value;
            }
}

static void add_hinges(tl_lg *lg, const tl_lg_body *b, const tl_bending *bend, const int32_t *order)
{
    for (int32_t k = 0; k < bend->count; k++) {
        if (bend->beta[k] == 0) continue;
        tl_lg_hinge *h = &lg->hinge[lg->hinges++];
        h->weight = bend->weight[k];
        h->beta = bend->beta[k];
        for (int s = 0; s < 4; s++) {
            h->node[s] = b->node + order[bend->node[bend->start[k] + s]];
            h->c[s] = bend->c[bend->start[k] + s];
        }
    }
}

static int by_anchor_node(const void *a, const void *b)
{
    const tl_lg_anchor *p = a, *q = b;
    if (p->vertex != q->vertex) return (p->vertex > q->vertex) - (p->vertex < q->vertex);
    return (p->handle > q->handle) - (p->handle < q->handle);
}

static void add_anchors(tl_lg *lg, const tl_lg_body *b, const tl_lg_part *p, const int32_t *order)
{
    tl_lg_anchor *mine = lg->anchor + lg->anchors;
    for (int32_t k = 0; k < p->anchors; k++) {
        tl_lg_anchor a = p->anchor[k];
        int32_t i = order[a.vertex];
        a.vertex = b->node + i;
        lg->anchor_weight[a.vertex] += a.weight;
        add_value(&lg->pattern[b - lg->body], i, i, a.weight);
        mine[k] = a;
    }
    qsort(mine, (size_t)p->anchors, sizeof *mine, by_anchor_node);
    lg->anchors += p->anchors;
}

static talus_status surface_of(const tl_lg_part *p, tl_trimesh *out, int32_t *vertex_of, talus_error *err)
{
    if (p->kind == TL_LG_HEXES) { /* that of six tetrahedra per cell: diagonals of neighbours match */
        int32_t(*tet)[4] = tl_alloc(sizeof *tet * 6 * (size_t)p->elements);
        if (!tet) return no_memory(err);
        for (int32_t e = 0; e < p->elements; e++) tl_lg_split_cell(p->element + 8 * (int64_t)e, tet + 6 * (int64_t)e);
        tl_tetmesh cut = {p->vertices, 6 * p->elements, (tl_vec3 *)(uintptr_t)p->vertex, tet, NULL};
        talus_status status = tl_tetmesh_boundary(&cut, out, vertex_of, err);
        tl_free(tet);
        return status;
    }
    tl_tetmesh m = {p->vertices, p->elements, (tl_vec3 *)(uintptr_t)p->vertex, (int32_t(*)[4])(uintptr_t)p->element,
                    NULL};
    return tl_tetmesh_boundary(&m, out, vertex_of, err);
}

static talus_status add_surface(tl_lg *lg, tl_lg_body *b, const tl_lg_part *p, const int32_t *order, talus_error *err)
{
    tl_trimesh boundary = {0};
    int32_t *vertex_of = TL_NEW(int32_t, p->vertices);
    if (!vertex_of) return no_memory(err);
    talus_status status = TALUS_OK;
    if (p->kind != TL_LG_CLOTH) status = surface_of(p, &boundary, vertex_of, err);
    if (status == TALUS_OK) {
        int32_t count = p->kind != TL_LG_CLOTH ? boundary.triangles : p->elements;
        void *fresh = tl_realloc(lg->surface, sizeof *lg->surface * (size_t)(lg->surface_triangles + count));
        if (fresh)
            lg->surface = fresh;
        else
            status = no_memory(err);
        for (int32_t t = 0; t < count && fresh; t++) {
            for (int k = 0; k < 3; k++) {
                int32_t v =
                    p->kind != TL_LG_CLOTH ? vertex_of[boundary.triangle[t][k]] : p->element[3 * (int64_t)t + k];
                lg->surface[lg->surface_triangles + t][k] = b->node + order[v];
            }
        }
        b->triangle = lg->surface_triangles;
        b->triangles = fresh ? count : 0;
        lg->surface_triangles += b->triangles;
    }
    tl_trimesh_free(&boundary);
    tl_free(vertex_of);
    return status;
}

/* ---- forces of corners onto nodes ---- */

static talus_status make_pull(tl_lg *lg, talus_error *err)
{
    int64_t n = lg->nodes, tets = (int64_t)lg->tet_batches * 4 * TL_LG_LANES,
            triangles = (int64_t)lg->triangle_batches * 3 * TL_LG_LANES,
            elements = tets + triangles + (int64_t)lg->hex_batches * 8 * TL_LG_LANES,
            corners = elements + (lg->hinges + TL_LG_LANES - 1) / TL_LG_LANES * 4 * TL_LG_LANES;
    lg->force_count = 3 * corners;
    if (lg->force_count > INT32_MAX)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "too many elastic elements: %lld corners", (long long)corners);
    lg->pull_start = TL_NEW_ZERO(int64_t, n + 2);
    lg->pull = TL_NEW(int32_t, corners + 1);
    if (!lg->pull_start || !lg->pull) return no_memory(err);
    for (int pass = 0; pass < 2; pass++) {
        int64_t *start = lg->pull_start + (pass == 0 ? 2 : 1);
        const int64_t all = (int64_t)lg->tet_batches + lg->triangle_batches + lg->hex_batches;
        for (int64_t batch = 0; batch < all; batch++) {
            bool tet = batch < lg->tet_batches, hex = batch >= (int64_t)lg->tet_batches + lg->triangle_batches;
            int64_t k = tet   ? batch
                        : hex ? batch - lg->tet_batches - lg->triangle_batches
                              : batch - lg->tet_batches,
                    from = tet   ? 96 * k
                           : hex ? 3 * (tets + triangles) + 192 * k
                                 : 3 * tets + 72 * k;
            const int32_t *node = tet ? lg->tets[k].node[0] : hex ? lg->hexes[k].node[0] : lg->triangles[k].node[0];
            const double *V = tet ? lg->tets[k].V : hex ? lg->hexes[k].V : lg->triangles[k].V;
            for (int l = 0; l < TL_LG_LANES; l++)
                for (int a = 0; a < (tet ? 4 : hex ? 8 : 3) && V[l] > 0; a++) {
                    int64_t at = start[node[a * TL_LG_LANES + l]]++;
                    if (pass) lg->pull[at] = (int32_t)(from + 24 * a + l);
                }
        }
        for (int32_t k = 0; k < lg->hinges; k++)
            for (int a = 0; a < 4; a++) {
                int64_t at = start[lg->hinge[k].node[a]]++;
                if (pass) lg->pull[at] = (int32_t)(3 * elements + 96 * (k / TL_LG_LANES) + 8 * 3 * a + k % TL_LG_LANES);
            }
        for (int64_t i = 0; i < n && !pass; i++) lg->pull_start[i + 2] += lg->pull_start[i + 1];
    }
    return TALUS_OK;
}

/* ---- the whole ---- */

static talus_status size_all(tl_lg *lg, int parts, const tl_lg_part *part, int32_t handles, talus_error *err)
{
    int64_t nodes = 0, tets = 0, triangles = 0, hexes = 0, anchors = 0;
    lg->bodies = parts;
    lg->handles = handles;
    lg->body = TL_NEW_ZERO(tl_lg_body, parts + 1);
    lg->pattern = TL_NEW_ZERO(tl_csr, parts + 1);
    if (!lg->body || !lg->pattern) return no_memory(err);
    for (int i = 0; i < parts; i++) {
        const tl_lg_part *p = &part[i];
        tl_lg_body *b = &lg->body[i];
        TL_TRY(check_numbers(p, err));
        TL_TRY(check_elements(p, err));
        TL_TRY(check_nodes(p, err));
        TL_TRY(check_anchors(p, handles, err));
        int64_t *batches = p->kind == TL_LG_TETS ? &tets : p->kind == TL_LG_CLOTH ? &triangles : &hexes;
        *b = (tl_lg_body){.body = p->body,
                          .kind = p->kind,
                          .material = material_of(p),
                          .node = (int32_t)nodes,
                          .nodes = p->vertices,
                          .batch = (int32_t)*batches,
                          .batches = (p->elements + TL_LG_LANES - 1) / TL_LG_LANES,
                          .dual_row = -1,
                          .density = p->density,
                          .thickness = p->thickness};
        b->start = tl_quat_norm2(p->rotation) > 0 ? p->rotation : tl_quat_identity();
        snprintf(b->name, sizeof b->name, "%.60s", p->name);
        if (p->scheme == TL_LG_ADMM) {
            b->dual_row = lg->dual_rows;
            lg->dual_rows += (int64_t)b->batches * (p->kind == TL_LG_CLOTH ? 6 : 9);
        }
        *batches += b->batches;
        nodes += p->vertices;
        anchors += p->anchors;
        if (nodes > INT32_MAX / 3)
            return TL_FAIL(err, TALUS_UNSUPPORTED, "too many elastic nodes: %lld", (long long)nodes);
    }
    lg->nodes = (int32_t)nodes;
    lg->tet_batches = (int32_t)tets;
    lg->triangle_batches = (int32_t)triangles;
    lg->hex_batches = (int32_t)hexes;
    lg->rest = TL_NEW(double, 3 * nodes + 1);
    lg->start_v = TL_NEW(double, 3 * nodes + 1);
    lg->mass = TL_NEW_ZERO(double, nodes + 1);
    lg->node_of = TL_NEW(int32_t, nodes + 1);
    lg->owner = TL_NEW(int32_t, nodes + 1);
    lg->tets = TL_NEW_ZERO(tl_lg_tets, tets + 1);
    lg->triangles = TL_NEW_ZERO(tl_lg_triangles, triangles + 1);
    lg->hexes = TL_NEW_ZERO(tl_lg_hexes, hexes + 1);
    lg->hex_body = TL_NEW(int32_t, hexes + 1);
    lg->tet_body = TL_NEW(int32_t, tets + 1);
    lg->triangle_body = TL_NEW(int32_t, triangles + 1);
    lg->anchor = TL_NEW(tl_lg_anchor, anchors + 1);
    lg->anchor_weight = TL_NEW_ZERO(double, nodes + 1);
    bool all = lg->rest && lg->start_v && lg->mass && lg->node_of && lg->owner && lg->tets && lg->triangles &&
               lg->tet_body && lg->triangle_body && lg->hexes && lg->hex_body && lg->anchor && lg->anchor_weight;
    return all ? TALUS_OK : no_memory(err);
}

static void place_nodes(tl_lg *lg, const tl_lg_body *b, const tl_lg_part *p, const int32_t *order)
{
    tl_vec3 centre = {0, 0, 0};
    for (int32_t v = 0; v < p->vertices; v++)
        centre = tl_vec3_add_scaled(centre, lg->mass[b->node + order[v]] / (b->mass > 0 ? b->mass : 1), p->vertex[v]);
    for (int32_t v = 0; v < p->vertices; v++) {
        int32_t i = b->node + order[v];
        tl_vec3 spun = tl_vec3_cross(p->spin, tl_vec3_sub(p->vertex[v], centre));
        lg->node_of[b->node + v] = i;
        lg->owner[i] = (int32_t)(b - lg->body);
        tl_vec3_store(p->vertex[v], lg->rest + 3 * (int64_t)i);
        tl_vec3_store(tl_vec3_add(p->velocity, spun), lg->start_v + 3 * (int64_t)i);
    }
}

typedef struct making {
    tl_bending *bend; /* [parts] */
    int32_t *order;   /* of one part */
    int64_t triplets;
    int32_t *row, *col;
    double *val;
} making;

static talus_status make(tl_lg *lg, making *m, int parts, const tl_lg_part *part, int32_t handles, talus_error *err)
{
    TL_TRY(size_all(lg, parts, part, handles, err));
    m->bend = TL_NEW_ZERO(tl_bending, parts + 1);
    m->order = TL_NEW(int32_t, lg->nodes + 1);
    if (!m->bend || !m->order) return no_memory(err);
    int64_t room = 0, bent = 0;
    for (int i = 0; i < parts; i++) {
        TL_TRY(tl_bending_make(&m->bend[i], &part[i], err));
        room += tl_bending_pairs(&m->bend[i]);
        for (int32_t k = 0; k < m->bend[i].count; k++) bent += m->bend[i].beta[k] != 0;
    }
    lg->hinge = TL_NEW(tl_lg_hinge, bent + 1);
    m->row = TL_NEW(int32_t, room + 1);
    m->col = TL_NEW(int32_t, room + 1);
    m->val = TL_NEW(double, room + 1);
    if (!m->row || !m->col || !m->val || !lg->hinge) return no_memory(err);
    for (int i = 0; i < parts; i++) {
        tl_lg_body *b = &lg->body[i];
        int32_t *order = m->order + b->node;
        for (int32_t v = 0; v < part[i].vertices; v++) order[v] = v;
        TL_TRY(pattern_of(&part[i], &m->bend[i], order, &lg->pattern[i], err));
        TL_TRY(eliminate(&lg->pattern[i], order, err));
        tl_csr_free(&lg->pattern[i]);
        TL_TRY(pattern_of(&part[i], &m->bend[i], order, &lg->pattern[i], err));
        TL_TRY(add_elements(lg, b, &part[i], order, err));
        add_bending(lg, b, &m->bend[i], order, m->row, m->col, m->val, &m->triplets);
        add_hinges(lg, b, &m->bend[i], order);
        add_anchors(lg, b, &part[i], order);
        TL_TRY(add_surface(lg, b, &part[i], order, err));
        place_nodes(lg, b, &part[i], order);
    }
    TL_TRY(tl_csr_from_triplets(&lg->K, lg->nodes, lg->nodes, m->triplets, m->row, m->col, m->val, err));
    TL_TRY(tl_lg_skin_make(&lg->skin, lg, err));
    TL_TRY(tl_lg_press_begin(lg, parts, part, err));
    return make_pull(lg, err);
}

talus_status tl_lg_create(tl_lg *out, int parts, const tl_lg_part *part, int32_t handles, talus_error *err)
{
    making m = {0};
    *out = (tl_lg){0};
    talus_status status = make(out, &m, parts, part, handles, err);
    for (int i = 0; i < parts && m.bend; i++) tl_bending_free(&m.bend[i]);
    tl_free(m.bend);
    tl_free(m.order);
    tl_free(m.row);
    tl_free(m.col);
    tl_free(m.val);
    if (status != TALUS_OK) tl_lg_free(out);
    return status;
}

void tl_lg_free(tl_lg *lg)
{
    for (int i = 0; i < lg->bodies && lg->pattern; i++) tl_csr_free(&lg->pattern[i]);
    tl_csr_free(&lg->K);
    tl_lg_holds_free(lg->holds);
    tl_lg_skin_free(&lg->skin);
    void *const blocks[] = {lg->body,          lg->rest,   lg->mass,      lg->start_v,       lg->node_of,
                            lg->owner,         lg->tets,   lg->triangles, lg->tet_body,      lg->pull,
                            lg->pattern,       lg->anchor, lg->surface,   lg->triangle_body, lg->pull_start,
                            lg->anchor_weight, lg->hinge,  lg->hexes,     lg->hex_body,      lg->loaded};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) tl_free(blocks[k]);
    *lg = (tl_lg){0};
}

talus_status tl_lg_state_begin(tl_lg_state *out, const tl_lg *lg, talus_error *err)
{
    *out = (tl_lg_state){.nodes = lg->nodes, .dual_rows = lg->dual_rows, .steps_kept = 1, .handles = lg->handles};
    out->bodies = lg->bodies;
    out->pressure = TL_NEW_ZERO(double, out->bodies + 1);
    out->cables = lg->holds ? lg->holds->cables : 0;
    out->led = TL_NEW_ZERO(double, 14 * out->handles + 1);
    out->length = TL_NEW(double, out->cables + 1);
    out->q = TL_NEW(double, 3 * (int64_t)lg->nodes + 1);
    out->v = TL_NEW(double, 3 * (int64_t)lg->nodes + 1);
    out->push = TL_NEW_ZERO(double, 3 * (int64_t)lg->nodes + 1);
    out->u = TL_NEW_ZERO(double, TL_LG_LANES * lg->dual_rows + 1);
    out->q_before = TL_NEW_ZERO(double, 3 * (int64_t)lg->nodes + 1);
    out->v_before = TL_NEW_ZERO(double, 3 * (int64_t)lg->nodes + 1);
    out->step_before = TL_NEW_ZERO(double, 2);
    if (!out->q || !out->v || !out->push || !out->u || !out->q_before || !out->v_before || !out->step_before ||
        !out->led || !out->length || !out->pressure)
        return no_memory(err);
    for (int64_t i = 0; i < out->cables; i++) out->length[i] = -1;
    memcpy(out->q, lg->rest, sizeof(double) * 3 * (size_t)lg->nodes);
    memcpy(out->v, lg->start_v, sizeof(double) * 3 * (size_t)lg->nodes);
    return TALUS_OK;
}
