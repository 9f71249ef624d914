#include "model/lg/hessian.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "math/svd3.h"
#include "model/elastic/material.h"
#include "model/lg/holds.h"
#include "model/lg/pressure.h"
#include "model/lg/prox.h"

#define FLAT 1e-6 /* stretch of a triangle below which its direction is taken as any */

struct tl_lg_hessian {
    const tl_lg *lg;
    tl_csr *pattern;    /* [bodies] that of A and pairs of nodes that a cable runs between; no rows: A's alone */
    tl_csr *matrix;     /* [bodies] */
    tl_factor **factor; /* [bodies] NULL: not asked for yet */
    double **mass;      /* [bodies] */
    double *tension;    /* [cables] N */
    double *pressure;   /* [bodies] Pa */
};

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the curvature of elastic bodies");
}

talus_status tl_lg_hessian_create(tl_lg_hessian **out, const tl_lg *lg, talus_error *err)
{
    tl_lg_hessian *h = *out = TL_NEW_ZERO(tl_lg_hessian, 1);
    if (!h) return no_memory(err);
    h->lg = lg;
    h->pattern = TL_NEW_ZERO(tl_csr, lg->bodies + 1);
    h->matrix = TL_NEW_ZERO(tl_csr, lg->bodies + 1);
    h->tension = TL_NEW_ZERO(double, (lg->holds ? lg->holds->cables : 0) + 1);
    h->pressure = TL_NEW_ZERO(double, lg->bodies + 1);
    h->factor = TL_NEW_ZERO(tl_factor *, lg->bodies + 1);
    h->mass = TL_NEW_ZERO(double *, lg->bodies + 1);
    if (h->pattern && h->matrix && h->factor && h->mass && h->tension && h->pressure) return TALUS_OK;
    tl_lg_hessian_free(h);
    *out = NULL;
    return no_memory(err);
}

void tl_lg_hessian_free(tl_lg_hessian *h)
{
    if (!h) return;
    for (int b = 0; b < h->lg->bodies; b++) {
        if (h->pattern) tl_csr_free(&h->pattern[b]);
        if (h->matrix) tl_csr_free(&h->matrix[b]);
        if (h->factor) tl_factor_free(h->factor[b]);
        if (h->mass) tl_free(h->mass[b]);
    }
    tl_free(h->pattern);
    tl_free(h->tension);
    tl_free(h->pressure);
    tl_free(h->matrix);
    tl_free(h->factor);
    tl_free(h->mass);
    tl_free(h);
}

const tl_csr *tl_lg_hessian_matrix(const tl_lg_hessian *h, int body) { return &h->matrix[body]; }
tl_factor *tl_lg_hessian_factor(const tl_lg_hessian *h, int body) { return h->factor[body]; }
const double *tl_lg_hessian_mass(const tl_lg_hessian *h, int body) { return h->mass[body]; }

void tl_lg_hessian_press(tl_lg_hessian *h, int body, double pressure) { h->pressure[body] = pressure; }

static const tl_csr *pattern_of(const tl_lg_hessian *h, int b)
{
    return h->pattern[b].rows ? &h->pattern[b] : &h->lg->pattern[b];
}

/* ---- cables ---- */

static bool is_in(const tl_lg_hessian *h, int b, const tl_lg_cable *c)
{
    return c->nodes > 0 && h->lg->owner[c->node[0]] == b;
}

/* Nodes of a segment, of the body, with the weight that each has in its vector. */
static int segment_nodes(const tl_lg_body *body, const tl_lg_cable *c, int segment, int32_t node[8], double weight[8])
{
    int count = 0;
    for (int end = 0; end < 2; end++) {
        const tl_lg_point *p = &c->point[segment + end];
        for (int j = 0; j < 4 && p->node[j] >= 0; j++) {
            node[count] = p->node[j] - body->node;
            weight[count++] = (end ? 1 : -1) * p->weight[j];
        }
    }
    return count;
}

static bool has(const int32_t *list, int64_t count, int32_t wanted)
{
    for (int64_t k = 0; k < count; k++)
        if (list[k] == wanted) return true;
    return false;
}

/* The pattern of A with the pairs of nodes around each segment of a cable. */
static talus_status add_cables_to_pattern(tl_lg_hessian *h, int b, talus_error *err)
{
    const tl_lg_holds *holds = h->lg->holds;
    const tl_csr *P = &h->lg->pattern[b];
    int64_t more = 0;
    for (int i = 0; holds && i < holds->cables; i++)
        if (is_in(h, b, &holds->cable[i])) more += 64 * (int64_t)(holds->cable[i].points - 1);
    if (more == 0 || h->pattern[b].rows) return TALUS_OK;
    int32_t *list = TL_NEW(int32_t, P->rows + 1), node[8];
    double weight[8];
    tl_csr wider = {0};
    talus_status status =
        list ? tl_csr_create(&wider, P->rows, P->rows, P->start[P->rows] + more, err) : no_memory(err);
    int64_t end = 0;
    for (int32_t r = 0; r < P->rows && status == TALUS_OK; r++) {
        int64_t count = P->start[r + 1] - P->start[r];
        memcpy(list, P->col + P->start[r], sizeof *list * (size_t)count);
        for (int i = 0; i < holds->cables; i++)
            for (int k = 0; is_in(h, b, &holds->cable[i]) && k + 1 < holds->cable[i].points; k++) {
                const int nodes = segment_nodes(&h->lg->body[b], &holds->cable[i], k, node, weight);
                if (!has(node, nodes, r)) continue;
                for (int j = 0; j < nodes; j++) {
                    if (has(list, count, node[j])) continue;
                    int64_t at = count++;
                    for (; at > 0 && list[at - 1] > node[j]; at--) list[at] = list[at - 1];
                    list[at] = node[j];
                }
            }
        memcpy(wider.col + end, list, sizeof *list * (size_t)count);
        wider.start[r + 1] = end += count;
    }
    tl_free(list);
    if (status != TALUS_OK) {
        tl_csr_free(&wider);
        return status;
    }
    h->pattern[b] = wider;
    return TALUS_OK;
}

void tl_lg_hessian_pull(tl_lg_hessian *h, int32_t cable, double tension) { h->tension[cable] = tension; }

/* The pattern with a block for each entry. */
static talus_status begin_body(tl_lg_hessian *h, int b, talus_error *err)
{
    TL_TRY(add_cables_to_pattern(h, b, err));
    const tl_csr *P = pattern_of(h, b);
    const tl_lg_body *body = &h->lg->body[b];
    tl_csr *H = &h->matrix[b];
    const tl_factor_options options = {TL_FACTOR_LLT, TL_ORDER_NATURAL, NULL, NULL};
    if (P->rows > INT32_MAX / 3)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "\"%s\" has too many nodes for a matrix of its curvature", body->name);
    tl_csr_free(H); /* of an attempt that failed */
    tl_free(h->mass[b]);
    h->mass[b] = NULL;
    TL_TRY(tl_csr_create(H, 3 * P->rows, 3 * P->rows, 9 * P->start[P->rows], err));
    for (int32_t i = 0; i < P->rows; i++)
        for (int c = 0; c < 3; c++) {
            int64_t at = H->start[3 * i + c];
            for (int64_t k = P->start[i]; k < P->start[i + 1]; k++)
                for (int d = 0; d < 3; d++) H->col[at++] = 3 * P->col[k] + d;
            H->start[3 * i + c + 1] = at;
        }
    h->mass[b] = TL_NEW(double, 3 * (int64_t)body->nodes);
    if (!h->mass[b]) return no_memory(err);
    for (int64_t k = 0; k < 3 * (int64_t)body->nodes; k++) h->mass[b][k] = h->lg->mass[body->node + k / 3];
    tl_factor *factor;
    TL_TRY(tl_factor_create(&factor, &options, err));
    talus_status status = tl_factor_analyse(factor, H, err);
    if (status != TALUS_OK) {
        tl_factor_free(factor);
        return status;
    }
    h->factor[b] = factor;
    return TALUS_OK;
}

/* ---- elements ---- */

/* First and second derivatives of the energy by the d stretches of an element, and its curvature for turns. */
static void bend_stretches(const tl_lg_material *m, int d, const double *s, double *first, double second[3][3],
                           double twist[3], double flip[3])
{
    const bool log_law = m->model == TL_LG_NEO_HOOKEAN;
    double trace = 0, log_j = 0, inverse[3] = {1, 1, 1}; /* of the logarithm: slope */
    for (int i = 0; i < d; i++) {
        const double kept = fmax(s[i], STRESS_LEAST);
        inverse[i] = 1 / kept;
        trace += s[i];
        log_j += log(kept) + (s[i] - kept) * inverse[i];
    }
    const double rest = m->mu - m->lambda * log_j;
    for (int i = 0; i < d; i++) {
        first[i] = log_law ? m->mu * s[i] - rest * inverse[i] : 2 * m->mu * (s[i] - 1) + m->lambda * (trace - d);
        for (int j = 0; j < d; j++) second[i][j] = m->lambda * (log_law ? inverse[i] * inverse[j] : 1);
        second[i][i] += log_law ? m->mu : 2 * m->mu;
        if (log_law && s[i] > STRESS_LEAST) second[i][i] += rest * inverse[i] * inverse[i];
    }
    for (int i = 0; i < d; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        if (j >= d) continue;
        const double sum = s[i] + s[j], apart = s[i] - s[j];
        flip[k] = fabs(apart) > FLAT ? (first[i] - first[j]) / apart : second[i][i] - second[i][j];
        twist[k] = sum > FLAT ? (first[i] + first[j]) / sum : 0;
    }
}

/* That share of the negative eigenvalues goes. */
static void make_convex(tl_stable_modes *m, double share)
{
    tl_stable_modes all = *m;
    if (share == 0) return;
    tl_stable_project(&all);
    for (int i = 0; i < 3; i++) {
        m->twist[i] += share * (all.twist[i] - m->twist[i]);
        m->flip[i] += share * (all.flip[i] - m->flip[i]);
        for (int k = 0; k < 3; k++) m->scale[i][k] += share * (all.scale[i][k] - m->scale[i][k]);
    }
}

/* Second derivatives of the energy of a solid element. */
static void solid_modes(const tl_lg_material *m, tl_mat3 F, double convex, tl_stable_modes *out)
{
    double s[3], first[3];
    tl_svd3(F, &out->U, s, &out->V);
    bend_stretches(m, 3, s, first, out->scale, out->twist, out->flip);
    make_convex(out, convex);
}

/* Of a triangle, F 3x2: a third direction, the normal, along which its tension holds it. */
static void sheet_modes(const tl_lg_material *m, tl_vec3 a, tl_vec3 b, double convex, tl_stable_modes *out)
{
    double aa = tl_vec3_norm2(a), bb = tl_vec3_norm2(b), ab = tl_vec3_dot(a, b);
    double angle = 0.5 * atan2(2 * ab, aa - bb), co = cos(angle), si = sin(angle), s[3] = {0, 0, 0}, first[3];
    tl_vec3 u[2] = {tl_vec3_add_scaled(tl_vec3_scale(co, a), si, b), tl_vec3_add_scaled(tl_vec3_scale(-si, a), co, b)};
    for (int i = 0; i < 2; i++) s[i] = tl_vec3_norm(u[i]);
    tl_vec3 t1, t2, one = s[0] > 0 ? tl_vec3_scale(1 / s[0], u[0]) : (tl_vec3){1, 0, 0};
    tl_vec3_tangents(one, &t1, &t2);
    if (s[1] > FLAT * s[0]) t1 = tl_vec3_scale(1 / s[1], u[1]);
    out->U = tl_mat3_from_columns(one, t1, tl_vec3_cross(one, t1));
    out->V = tl_mat3_identity();
    out->V.m[0][0] = co, out->V.m[0][1] = -si, out->V.m[1][0] = si, out->V.m[1][1] = co;
    memset(out->scale, 0, sizeof out->scale);
    bend_stretches(m, 2, s, first, out->scale, out->twist, out->flip);
    for (int i = 0; i < 2; i++) out->twist[1 - i] = out->flip[1 - i] = s[i] > FLAT ? first[i] / s[i] : 0;
    make_convex(out, convex);
}

/* ---- assembly ---- */

/* H[a][b] += scale block, a and b nodes of the body; of pairs of nodes the one in the lower triangle alone is kept. */
static void add_block(tl_csr *H, const tl_csr *P, int32_t a, int32_t b, double scale, const tl_mat3 *block)
{
    int64_t low = P->start[a], high = P->start[a + 1];
    if (b > a) return;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (P->col[middle] <= b)
            low = middle;
        else
            high = middle;
    }
    for (int c = 0; c < 3; c++) {
        double *row = H->val + H->start[3 * a + c] + 3 * (low - P->start[a]);
        for (int d = 0; d < 3; d++) row[d] += scale * block->m[c][d];
    }
}

/* Nodes of an element with gradients g, turned by V^T here. */
static void add_element(tl_csr *H, const tl_csr *P, const tl_stable_modes *modes, double scale, int count,
                        const int32_t *node, const tl_vec3 *g)
{
    tl_vec3 turned[8];
    for (int a = 0; a < count; a++) turned[a] = tl_mat3_mul_vec(tl_mat3_transpose(modes->V), g[a]);
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++) {
            if (node[b] > node[a]) continue;
            tl_mat3 block = tl_stable_block(modes, turned[a], turned[b]);
            add_block(H, P, node[a], node[b], scale, &block);
        }
}

static void add_tets(const tl_lg_hessian *h, const tl_lg_body *body, const tl_lg_tets *t, double he2, const double *q,
                     double convex)
{
    tl_csr *H = &h->matrix[body - h->lg->body];
    const tl_csr *P = pattern_of(h, (int)(body - h->lg->body));
    for (int l = 0; l < TL_LG_LANES; l++) {
        if (!(t->V[l] > 0)) continue;
        tl_vec3 g[4] = {{0, 0, 0}};
        tl_mat3 F = tl_mat3_zero();
        int32_t node[4];
        for (int a = 1; a < 4; a++) {
            g[a] = (tl_vec3){t->B[3 * a - 3][l], t->B[3 * a - 2][l], t->B[3 * a - 1][l]};
            g[0] = tl_vec3_sub(g[0], g[a]);
            F = tl_mat3_add(F, tl_mat3_outer(tl_vec3_sub(tl_vec3_load(q + 3 * (int64_t)t->node[a][l]),
                                                         tl_vec3_load(q + 3 * (int64_t)t->node[0][l])),
                                             g[a]));
        }
        for (int a = 0; a < 4; a++) node[a] = t->node[a][l] - body->node;
        tl_stable_modes modes;
        solid_modes(&body->material, F, convex, &modes);
        add_element(H, P, &modes, he2 * t->V[l], 4, node, g);
    }
}

static void add_triangles(const tl_lg_hessian *h, const tl_lg_body *body, const tl_lg_triangles *t, double he2,
                          const double *q, double convex)
{
    tl_csr *H = &h->matrix[body - h->lg->body];
    const tl_csr *P = pattern_of(h, (int)(body - h->lg->body));
    for (int l = 0; l < TL_LG_LANES; l++) {
        if (!(t->V[l] > 0)) continue;
        tl_vec3 g[3] = {{0, 0, 0}}, column[2] = {{0, 0, 0}, {0, 0, 0}};
        int32_t node[3];
        for (int a = 1; a < 3; a++) {
            g[a] = (tl_vec3){t->B[2 * a - 2][l], t->B[2 * a - 1][l], 0};
            g[0] = tl_vec3_sub(g[0], g[a]);
            tl_vec3 edge =
                tl_vec3_sub(tl_vec3_load(q + 3 * (int64_t)t->node[a][l]), tl_vec3_load(q + 3 * (int64_t)t->node[0][l]));
            column[0] = tl_vec3_add_scaled(column[0], g[a].x, edge);
            column[1] = tl_vec3_add_scaled(column[1], g[a].y, edge);
        }
        for (int a = 0; a < 3; a++) node[a] = t->node[a][l] - body->node;
        tl_stable_modes modes;
        sheet_modes(&body->material, column[0], column[1], convex, &modes);
        add_element(H, P, &modes, he2 * t->V[l], 3, node, g);
    }
}

/* Weight of corner `a` in an hourglass mode, as in hex.h. */
static double glass_weight(int mode, int a)
{
    static const int axes[4] = {3, 6, 5, 7};
    int low = __builtin_popcount((unsigned)(~a & axes[mode]));
    return low % 2 ? -0.125 : 0.125;
}

static void add_glass(tl_csr *H, const tl_csr *P, const tl_lg_lattice *lattice, tl_mat3 R, double he2,
                      const int32_t *node)
{
    tl_mat3 T = tl_mat3_zero(), stiff[4];
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) T.m[i][c] += R.m[i][k] * lattice->axis[3 * k + c];
    for (int m = 0; m < 4; m++) {
        tl_mat3 by = T;
        for (int i = 0; i < 3; i++)
            for (int c = 0; c < 3; c++) by.m[i][c] *= lattice->stiffness[m][c];
        stiff[m] = tl_mat3_mul_t(by, T);
    }
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 8; b++) {
            if (node[b] > node[a]) continue;
            tl_mat3 block = tl_mat3_zero();
            for (int m = 0; m < 4; m++)
                block = tl_mat3_add_scaled(block, glass_weight(m, a) * glass_weight(m, b), stiff[m]);
            add_block(H, P, node[a], node[b], he2, &block);
        }
}

static void add_hexes(const tl_lg_hessian *h, const tl_lg_body *body, const tl_lg_hexes *t, double he2, const double *q,
                      double convex)
{
    const tl_lg_lattice *lattice = &body->lattice;
    tl_csr *H = &h->matrix[body - h->lg->body];
    const tl_csr *P = pattern_of(h, (int)(body - h->lg->body));
    tl_vec3 g[8];
    for (int a = 0; a < 8; a++) {
        double side[3] = {a & 1 ? 0.25 : -0.25, a & 2 ? 0.25 : -0.25, a & 4 ? 0.25 : -0.25}, sum[3] = {0, 0, 0};
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) sum[k] += side[j] * lattice->B[3 * j + k];
        g[a] = tl_vec3_load(sum);
    }
    for (int l = 0; l < TL_LG_LANES; l++) {
        if (!(t->V[l] > 0)) continue;
        tl_mat3 F = tl_mat3_zero();
        int32_t node[8];
        for (int a = 0; a < 8; a++) {
            node[a] = t->node[a][l] - body->node;
            F = tl_mat3_add(F, tl_mat3_outer(tl_vec3_load(q + 3 * (int64_t)t->node[a][l]), g[a]));
        }
        tl_stable_modes modes;
        solid_modes(&body->material, F, convex, &modes);
        add_element(H, P, &modes, he2 * lattice->volume, 8, node, g);
        add_glass(H, P, lattice, tl_mat3_mul_t(modes.U, modes.V), he2, node);
    }
}

/* Inertia, bending, anchors: the same for every q. */
static void add_constant(const tl_lg_hessian *h, const tl_lg_body *body, double he2)
{
    const tl_lg *lg = h->lg;
    tl_csr *H = &h->matrix[body - lg->body];
    const tl_csr *P = pattern_of(h, (int)(body - lg->body)), *K = &lg->K;
    const tl_mat3 one = tl_mat3_identity();
    memset(H->val, 0, sizeof *H->val * (size_t)H->start[H->rows]);
    for (int32_t i = 0; i < body->nodes; i++) {
        const int32_t node = body->node + i;
        add_block(H, P, i, i, lg->mass[node] + he2 * lg->anchor_weight[node], &one);
        for (int64_t k = K->start[node]; k < K->start[node + 1]; k++)
            add_block(H, P, i, K->col[k] - body->node, he2 * K->val[k], &one);
    }
}

/* A line under tension resists being pushed aside: T / l across each segment. That is convex; of a cable that pushes it
 * is left out. */
static void add_cables(const tl_lg_hessian *h, int b, double he2, const double *q)
{
    const tl_lg_holds *holds = h->lg->holds;
    const tl_lg_body *body = &h->lg->body[b];
    for (int i = 0; holds && i < holds->cables; i++) {
        const tl_lg_cable *c = &holds->cable[i];
        if (!is_in(h, b, c) || !(h->tension[i] > 0)) continue;
        for (int k = 0; k + 1 < c->points; k++) {
            int32_t node[8];
            double weight[8];
            const int nodes = segment_nodes(body, c, k, node, weight);
            tl_vec3 d = {0, 0, 0};
            for (int j = 0; j < nodes; j++)
                d = tl_vec3_add_scaled(d, weight[j], tl_vec3_load(q + 3 * (int64_t)(body->node + node[j])));
            const double l = tl_vec3_norm(d);
            if (!(l > 0)) continue;
            const tl_vec3 u = tl_vec3_scale(1 / l, d);
            const double along[3] = {u.x, u.y, u.z};
            tl_mat3 across = tl_mat3_identity();
            for (int e = 0; e < 9; e++) across.m[e / 3][e % 3] -= along[e / 3] * along[e % 3];
            for (int j = 0; j < nodes; j++)
                for (int m = 0; m < nodes; m++)
                    add_block(&h->matrix[b], pattern_of(h, b), node[j], node[m],
                              he2 * h->tension[i] / l * weight[j] * weight[m], &across);
        }
    }
}

/* Slope of the forces on corners a and b of a triangle, by each other's places: how far the third one is from the
 * middle between them, as a cross product. Parts of edges that two triangles share are those of p times the volume;
 * the diagonal's cancel around a node. */
static void add_pressure(const tl_lg_hessian *h, int b, double he2, const double *q, double convex)
{
    const tl_lg_body *body = &h->lg->body[b];
    const double by = he2 * (1 - convex) * tl_lg_loaded_with(body, h->pressure[b]) / 6;
    for (int32_t t = body->load; t < body->load + body->loads && by != 0; t++) {
        const int32_t *node = h->lg->loaded[t];
        for (int k = 0; k < 3; k++) {
            const int32_t a = node[k], e = node[(k + 1) % 3], c = node[(k + 2) % 3];
            const tl_vec3 middle = tl_vec3_scale(
                              0.5, tl_vec3_add(tl_vec3_load(q + 3 * (int64_t)a), tl_vec3_load(q + 3 * (int64_t)e))),
                          w = tl_vec3_sub(tl_vec3_load(q + 3 * (int64_t)c), middle);
            const tl_mat3 cross = {{{0, -w.z, w.y}, {w.z, 0, -w.x}, {-w.y, w.x, 0}}};
            add_block(&h->matrix[b], pattern_of(h, b), a - body->node, e - body->node, by, &cross);
            add_block(&h->matrix[b], pattern_of(h, b), e - body->node, a - body->node, -by, &cross);
        }
    }
}

talus_status tl_lg_hessian_update(tl_lg_hessian *h, int b, double he, const double *q, double convex, talus_error *err)
{
    const tl_lg_body *body = &h->lg->body[b];
    const double he2 = he * he;
    if (!h->factor[b]) TL_TRY(begin_body(h, b, err));
    add_constant(h, body, he2);
    add_cables(h, b, he2, q);
    add_pressure(h, b, he2, q, convex);
    for (int32_t k = body->batch; k < body->batch + body->batches; k++) {
        if (body->kind == TL_LG_TETS)
            add_tets(h, body, &h->lg->tets[k], he2, q, convex);
        else if (body->kind == TL_LG_CLOTH)
            add_triangles(h, body, &h->lg->triangles[k], he2, q, convex);
        else
            add_hexes(h, body, &h->lg->hexes[k], he2, q, convex);
    }
    return tl_factor_compute(h->factor[b], &h->matrix[b], err);
}
