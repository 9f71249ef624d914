#include "model/elastic/fem.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sum.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for finite elements");
}

/* ---- elements ---- */

/* An edge of a tetrahedron. */
typedef struct edge_of {
    int32_t low, high, tet;
} edge_of;

static int by_edge(const void *a, const void *b)
{
    const edge_of *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->tet > q->tet) - (p->tet < q->tet);
}

typedef struct tet {
    int32_t node[4];
    tl_vec3 gradient[4];
    double volume;
} tet;

/* What is being made, one body after the other. */
typedef struct making {
    tl_fem *f;
    tet *tets; /* of one body */
    int32_t count;
    edge_of *edge; /* of one body */
    int64_t room_nodes, nodes;
} making;

static void read_tets(making *m, const tl_lg_body *b)
{
    const tl_lg *lg = m->f->lg;
    m->count = 0;
    for (int32_t k = b->batch; k < b->batch + b->batches; k++)
        for (int l = 0; l < TL_LG_LANES; l++) {
            const tl_lg_tets *t = &lg->tets[k];
            if (!(t->V[l] > 0)) continue;
            tet *e = &m->tets[m->count++];
            e->volume = t->V[l];
            e->gradient[0] = (tl_vec3){0, 0, 0};
            for (int a = 0; a < 4; a++) e->node[a] = t->node[a][l];
            for (int a = 1; a < 4; a++) {
                e->gradient[a] = (tl_vec3){t->B[3 * (a - 1)][l], t->B[3 * (a - 1) + 1][l], t->B[3 * (a - 1) + 2][l]};
                e->gradient[0] = tl_vec3_sub(e->gradient[0], e->gradient[a]);
            }
        }
}

static void end_element(making *m, int body, double volume)
{
    tl_fem *f = m->f;
    f->volume[f->elements] = volume;
    f->owner[f->elements] = body;
    f->start[++f->elements] = m->nodes;
}

static void add_tets(making *m, int body)
{
    for (int32_t k = 0; k < m->count; k++) {
        const tet *e = &m->tets[k];
        for (int a = 0; a < 4; a++) {
            m->f->node[m->nodes] = e->node[a];
            m->f->gradient[m->nodes++] = e->gradient[a];
        }
        end_element(m, body, e->volume);
    }
}

static int32_t sort_edges(making *m)
{
    static const int pair[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    for (int32_t k = 0; k < m->count; k++)
        for (int p = 0; p < 6; p++) {
            int32_t a = m->tets[k].node[pair[p][0]], b = m->tets[k].node[pair[p][1]];
            m->edge[6 * k + p] = (edge_of){a < b ? a : b, a < b ? b : a, k};
        }
    qsort(m->edge, (size_t)m->count * 6, sizeof *m->edge, by_edge);
    int32_t edges = 0;
    for (int32_t k = 0; k < 6 * m->count; k++)
        edges += k == 0 || m->edge[k].low != m->edge[k - 1].low || m->edge[k].high != m->edge[k - 1].high;
    return edges;
}

/* F of an edge: mean over its tetrahedra, weighted by volume. */
static void add_smoothed(making *m, int body)
{
    tl_fem *f = m->f;
    for (int32_t k = 0, end; k < 6 * m->count; k = end) {
        double volume = 0;
        for (end = k; end < 6 * m->count && m->edge[end].low == m->edge[k].low && m->edge[end].high == m->edge[k].high;
             end++)
            volume += m->tets[m->edge[end].tet].volume / 6;
        int64_t first = m->nodes;
        for (int32_t e = k; e < end; e++) {
            const tet *t = &m->tets[m->edge[e].tet];
            for (int a = 0; a < 4; a++) {
                int64_t at = first;
                while (at < m->nodes && f->node[at] != t->node[a]) at++;
                if (at == m->nodes) {
                    f->node[at] = t->node[a];
                    f->gradient[at] = (tl_vec3){0, 0, 0};
                    m->nodes++;
                }
                f->gradient[at] = tl_vec3_add_scaled(f->gradient[at], t->volume / 6 / volume, t->gradient[a]);
            }
        }
        end_element(m, body, volume);
    }
}

/* Node of a corner of a cell of tl_lg_bar; bits of `corner`: x, y, z. */
static int32_t corner_node(const tl_lg *lg, int body, const int n[3], const int cell[3], int corner)
{
    int i = cell[0] + (corner & 1), j = cell[1] + (corner >> 1 & 1), k = cell[2] + (corner >> 2 & 1);
    int32_t first = lg->body[body].node;
    return lg->node_of[first + i + (n[0] + 1) * (j + (n[1] + 1) * k)];
}

static const int glass_sign[TL_FEM_GLASS] = {3, 6, 5, 7}; /* bits of the axes whose signs are multiplied */

double tl_fem_glass_weight(int mode, int corner)
{
    int ups = __builtin_popcount((unsigned)(corner & glass_sign[mode]));
    int axes = __builtin_popcount((unsigned)glass_sign[mode]);
    return (axes - ups) % 2 ? -0.125 : 0.125;
}

/* Stiffness of the modes: what a cell of Hooke's material has in bending (xy, yz, zx), and its mean for xyz. Three
 * quarters of it where several cells share the bending, because all of it twists too stiffly: measured, tip of a
 * cantilever 15.4, 14.9 mm with 2, 4 cells across (theory 14.9), torsion 1.47, 1.13. */
static void set_glass(tl_fem_body *b, const tl_fem_part *p, const double h[3])
{
    static const int axis[3][2] = {{0, 1}, {1, 2}, {2, 0}};
    double volume = h[0] * h[1] * h[2], share = 0.75;
    int thin = 0;
    for (int k = 0; k < 3; k++) thin += p->cells[k] == 1;
    if (thin) share = 1;
    for (int m = 0; m < 3; m++) {
        double a = h[axis[m][0]], c = h[axis[m][1]];
        b->glass[m] = share * p->young * 16 / (a * a * c * c) * volume * (a * a + c * c) / 24;
    }
    b->glass[3] =
        share * p->young * volume * (4.0 / 9) * (1 / (h[0] * h[0]) + 1 / (h[1] * h[1]) + 1 / (h[2] * h[2])) / 3;
}

static void add_hexes(making *m, int body, const tl_fem_part *p)
{
    tl_fem *f = m->f;
    const int *n = p->cells;
    tl_vec3 edge[3];
    double h[3];
    for (int k = 0; k < 3; k++) {
        int32_t a = corner_node(f->lg, body, n, (const int[3]){0, 0, 0}, 0);
        int32_t b = corner_node(f->lg, body, n, (const int[3]){0, 0, 0}, 1 << k);
        edge[k] = tl_vec3_sub(tl_vec3_load(f->lg->rest + 3 * (int64_t)b), tl_vec3_load(f->lg->rest + 3 * (int64_t)a));
        h[k] = tl_vec3_norm(edge[k]);
    }
    f->body[body].hex = true;
    set_glass(&f->body[body], p, h);
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++) {
                for (int c = 0; c < 8; c++) {
                    tl_vec3 b = {0, 0, 0};
                    for (int d = 0; d < 3; d++)
                        b = tl_vec3_add_scaled(b, (c >> d & 1 ? 0.25 : -0.25) / (h[d] * h[d]), edge[d]);
                    f->node[m->nodes] = corner_node(f->lg, body, n, (const int[3]){i, j, k}, c);
                    f->gradient[m->nodes++] = b;
                }
                end_element(m, body, h[0] * h[1] * h[2]);
            }
}

void tl_fem_lump(tl_lg *lg, int body, const int cells[3])
{
    const tl_lg_body *b = &lg->body[body];
    double share = b->mass / (8.0 * cells[0] * cells[1] * cells[2]);
    memset(lg->mass + b->node, 0, sizeof *lg->mass * (size_t)b->nodes);
    for (int k = 0; k < cells[2]; k++)
        for (int j = 0; j < cells[1]; j++)
            for (int i = 0; i < cells[0]; i++)
                for (int c = 0; c < 8; c++) lg->mass[corner_node(lg, body, cells, (const int[3]){i, j, k}, c)] += share;
}

static talus_status make_elements(making *m, const tl_fem_part *part, talus_error *err)
{
    tl_fem *f = m->f;
    const tl_lg *lg = f->lg;
    int64_t max = 0, elements = 0, nodes = 0;
    for (int b = 0; b < lg->bodies; b++) {
        int64_t tets = (int64_t)lg->body[b].batches * TL_LG_LANES;
        max = tets > max ? tets : max;
        elements += (part[b].kind == TL_FEM_SMOOTHED ? 6 : 1) * tets;
        nodes += (part[b].kind == TL_FEM_SMOOTHED ? 24 : 4) * tets;
    }
    if (elements > INT32_MAX) return TL_FAIL(err, TALUS_UNSUPPORTED, "too many elastic elements");
    f->start = TL_NEW_ZERO(int64_t, elements + 1);
    f->volume = TL_NEW(double, elements + 1);
    f->owner = TL_NEW(int32_t, elements + 1);
    f->node = TL_NEW(int32_t, nodes + 1);
    f->gradient = TL_NEW(tl_vec3, nodes + 1);
    m->tets = TL_NEW(tet, max + 1);
    m->edge = TL_NEW(edge_of, 6 * max + 1);
    if (!f->start || !f->volume || !f->owner || !f->node || !f->gradient || !m->tets || !m->edge) return no_memory(err);
    for (int b = 0; b < lg->bodies; b++) {
        read_tets(m, &lg->body[b]);
        if (part[b].kind == TL_FEM_HEX) {
            add_hexes(m, b, &part[b]);
        } else if (part[b].kind == TL_FEM_TETS) {
            add_tets(m, b);
        } else {
            sort_edges(m);
            add_smoothed(m, b);
        }
    }
    return TALUS_OK;
}

/* ---- who is held ---- */

static talus_status find_held(tl_fem *f, const bool *soft, talus_error *err)
{
    const tl_lg *lg = f->lg;
    f->place = TL_NEW_ZERO(int32_t, lg->nodes + 1);
    f->spring = TL_NEW_ZERO(double, lg->nodes + 1);
    f->is_held = TL_NEW_ZERO(bool, lg->anchors + 1);
    if (!f->place || !f->spring || !f->is_held) return no_memory(err);
    for (int32_t k = 0; k < lg->anchors; k++) {
        const tl_lg_anchor *a = &lg->anchor[k];
        f->is_held[k] = !(soft && soft[k]);
        if (f->is_held[k])
            f->place[a->vertex] = -1;
        else
            f->spring[a->vertex] += a->weight;
    }
    for (int b = 0; b < f->bodies; b++) {
        tl_fem_body *body = &f->body[b];
        for (int32_t i = body->node; i < body->node + body->nodes; i++) {
            if (f->place[i] < 0)
                f->held++;
            else
                f->place[i] = body->unknown++;
        }
    }
    return TALUS_OK;
}

/* ---- patterns ---- */

static talus_status make_pull(tl_fem *f, talus_error *err)
{
    int64_t n = f->lg->nodes, total = f->start[f->elements];
    f->pull_start = TL_NEW_ZERO(int64_t, n + 2);
    f->pull = tl_alloc(sizeof *f->pull * (size_t)(total + 1));
    if (!f->pull_start || !f->pull) return no_memory(err);
    for (int64_t k = 0; k < total; k++) f->pull_start[f->node[k] + 2]++;
    for (int64_t i = 0; i < n; i++) f->pull_start[i + 2] += f->pull_start[i + 1];
    for (int32_t e = 0; e < f->elements; e++)
        for (int64_t k = f->start[e]; k < f->start[e + 1]; k++) {
            int32_t *p = f->pull[f->pull_start[f->node[k] + 1]++];
            p[0] = e;
            p[1] = (int32_t)(k - f->start[e]);
        }
    return TALUS_OK;
}

static int by_number(const void *a, const void *b)
{
    int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return (p > q) - (p < q);
}

/* Neighbours of a node among the unknown ones, itself included, rising. */
static int32_t neighbours(const tl_fem *f, int32_t node, int32_t *mark, int32_t *list)
{
    int32_t count = 0;
    for (int64_t p = f->pull_start[node]; p < f->pull_start[node + 1]; p++) {
        int32_t e = f->pull[p][0];
        for (int64_t k = f->start[e]; k < f->start[e + 1]; k++) {
            int32_t other = f->node[k];
            if (f->place[other] < 0 || mark[other] == node + 1) continue;
            mark[other] = node + 1;
            list[count++] = f->place[other];
        }
    }
    qsort(list, (size_t)count, sizeof *list, by_number);
    return count;
}

static talus_status make_pattern(tl_fem *f, int b, int32_t *mark, int32_t *list, talus_error *err)
{
    tl_fem_body *body = &f->body[b];
    int64_t blocks = 0;
    for (int32_t i = body->node; i < body->node + body->nodes; i++)
        if (f->place[i] >= 0) blocks += neighbours(f, i, mark, list);
    memset(mark, 0, sizeof *mark * (size_t)f->lg->nodes);
    TL_TRY(tl_csr_create(&body->A, 3 * body->unknown, 3 * body->unknown, 9 * blocks, err));
    tl_csr *A = &body->A;
    memset(A->val, 0, sizeof *A->val * (size_t)(9 * blocks));
    for (int32_t i = body->node; i < body->node + body->nodes; i++) {
        if (f->place[i] < 0) continue;
        int32_t count = neighbours(f, i, mark, list);
        for (int c = 0; c < 3; c++) {
            int32_t row = 3 * f->place[i] + c;
            A->start[row + 1] = A->start[row] + 3 * count;
            for (int32_t k = 0; k < 3 * count; k++) A->col[A->start[row] + k] = 3 * list[k / 3] + k % 3;
        }
    }
    return TALUS_OK;
}

static int32_t find_block(const tl_csr *A, int32_t a, int32_t b)
{
    int64_t first = A->start[3 * a], low = 0, high = (A->start[3 * a + 1] - first) / 3;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (A->col[first + 3 * middle] <= 3 * b)
            low = middle;
        else
            high = middle;
    }
    return (int32_t)low;
}

static talus_status make_slots(tl_fem *f, talus_error *err)
{
    f->slot_start = TL_NEW_ZERO(int64_t, f->elements + 1);
    if (!f->slot_start) return no_memory(err);
    for (int32_t e = 0; e < f->elements; e++) {
        int64_t n = f->start[e + 1] - f->start[e];
        f->slot_start[e + 1] = f->slot_start[e] + n * n;
    }
    f->slot = TL_NEW(int32_t, f->slot_start[f->elements] + 1);
    if (!f->slot) return no_memory(err);
#pragma omp parallel for schedule(static)
    for (int32_t e = 0; e < f->elements; e++) {
        int64_t n = f->start[e + 1] - f->start[e];
        const int32_t *node = f->node + f->start[e];
        for (int64_t a = 0; a < n; a++)
            for (int64_t b = 0; b < n; b++) {
                int32_t i = f->place[node[a]], j = f->place[node[b]];
                f->slot[f->slot_start[e] + a * n + b] = i < 0 || j < 0 ? -1 : find_block(&f->body[f->owner[e]].A, i, j);
            }
    }
    return TALUS_OK;
}

static talus_status make_patterns(tl_fem *f, talus_error *err)
{
    int32_t *mark = TL_NEW_ZERO(int32_t, f->lg->nodes + 1), *list = TL_NEW(int32_t, f->lg->nodes + 1);
    talus_status status = mark && list ? TALUS_OK : no_memory(err);
    for (int b = 0; b < f->bodies && status == TALUS_OK; b++) {
        memset(mark, 0, sizeof *mark * (size_t)f->lg->nodes);
        status = make_pattern(f, b, mark, list, err);
    }
    tl_free(mark);
    tl_free(list);
    return status == TALUS_OK ? make_slots(f, err) : status;
}

/* ---- the whole ---- */

static talus_status make(making *m, const tl_fem_part *part, const bool *soft, talus_error *err)
{
    tl_fem *f = m->f;
    f->body = TL_NEW_ZERO(tl_fem_body, f->bodies + 1);
    if (!f->body) return no_memory(err);
    for (int b = 0; b < f->bodies; b++)
        f->body[b] = (tl_fem_body){
            .law = part[b].law,
            .damping = part[b].damping,
            .lame = {part[b].young * part[b].poisson / ((1 + part[b].poisson) * (1 - 2 * part[b].poisson)),
                     0.5 * part[b].young / (1 + part[b].poisson)},
            .node = f->lg->body[b].node,
            .nodes = f->lg->body[b].nodes};
    TL_TRY(make_elements(m, part, err));
    TL_TRY(find_held(f, soft, err));
    TL_TRY(make_pull(f, err));
    return make_patterns(f, err);
}

talus_status tl_fem_create(tl_fem *out, const tl_lg *lg, const tl_fem_part *part, const bool *soft, talus_error *err)
{
    *out = (tl_fem){.lg = lg, .bodies = lg->bodies};
    making m = {.f = out};
    talus_status status = make(&m, part, soft, err);
    tl_free(m.tets);
    tl_free(m.edge);
    if (status != TALUS_OK) tl_fem_free(out);
    return status;
}

void tl_fem_free(tl_fem *f)
{
    for (int b = 0; b < f->bodies && f->body; b++) tl_csr_free(&f->body[b].A);
    void *const blocks[] = {f->body, f->start,      f->node, f->gradient, f->volume, f->owner,  f->slot_start,
                            f->slot, f->pull_start, f->pull, f->place,    f->spring, f->is_held};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) tl_free(blocks[k]);
    *f = (tl_fem){0};
}

/* ---- at given positions ---- */

static tl_mat3 gradient_of(const tl_fem *f, const double *x, int32_t e)
{
    tl_mat3 F = tl_mat3_zero();
    for (int64_t k = f->start[e]; k < f->start[e + 1]; k++) {
        const double *p = x + 3 * (int64_t)f->node[k];
        const double b[3] = {f->gradient[k].x, f->gradient[k].y, f->gradient[k].z};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) F.m[i][j] += p[i] * b[j];
    }
    return F;
}

static tl_vec3 glass_sum(const tl_fem *f, const double *x, int32_t e, int m)
{
    const int32_t *node = f->node + f->start[e];
    tl_vec3 sum = {0, 0, 0};
    for (int c = 0; c < 8; c++)
        sum = tl_vec3_add_scaled(sum, tl_fem_glass_weight(m, c), tl_vec3_load(x + 3 * (int64_t)node[c]));
    return sum;
}

/* Sums over the corners of a hex that its centre does not see, times their stiffness: [4][3]. Returns their energy.
 * rate: with damping, or NULL. */
static double glass_of(const tl_fem *f, const double *x, const tl_fem_rate *rate, int32_t e, double *out)
{
    const tl_fem_body *b = &f->body[f->owner[e]];
    double energy = 0;
    for (int m = 0; m < TL_FEM_GLASS; m++) {
        tl_vec3 sum = glass_sum(f, x, e, m), force = tl_vec3_scale(b->glass[m], sum);
        energy += 0.5 * b->glass[m] * tl_vec3_norm2(sum);
        if (rate) {
            tl_vec3 change = tl_vec3_sub(sum, glass_sum(f, rate->from, e, m));
            double viscous = b->glass[m] * b->damping / rate->h[f->owner[e]];
            energy += 0.5 * viscous * tl_vec3_norm2(change);
            force = tl_vec3_add_scaled(force, viscous, change);
        }
        tl_vec3_store(force, out + 3 * m);
    }
    return energy;
}

/* Viscous part: second Piola stress, Pa, and its energy per volume. */
static double viscous(const tl_fem_body *b, tl_mat3 F, tl_mat3 before, double h, tl_mat3 *S)
{
    tl_mat3 dE = tl_mat3_scale(
        0.5, tl_mat3_sub(tl_mat3_mul(tl_mat3_transpose(F), F), tl_mat3_mul(tl_mat3_transpose(before), before)));
    double trace = dE.m[0][0] + dE.m[1][1] + dE.m[2][2], sum = 0;
    *S = tl_mat3_scale(2 * b->lame[1] * b->damping / h, dE);
    for (int i = 0; i < 3; i++) S->m[i][i] += b->lame[0] * b->damping / h * trace;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) sum += 0.5 * S->m[i][k] * dE.m[i][k];
    return sum;
}

double tl_fem_forces(const tl_fem *f, const double *x, const tl_fem_rate *rate, double *force, double *scratch)
{
    double *energy = scratch, *stress = scratch + f->elements, *glass = stress + 9 * (int64_t)f->elements;
#pragma omp parallel for schedule(static)
    for (int32_t e = 0; e < f->elements; e++) {
        const tl_stable *law = &f->body[f->owner[e]].law;
        tl_mat3 F = gradient_of(f, x, e);
        energy[e] = f->volume[e] * tl_stable_energy(law, F);
        const tl_fem_body *body = &f->body[f->owner[e]];
        tl_mat3 S = tl_mat3_zero();
        bool damps = rate && body->damping > 0;
        if (body->hex) energy[e] += glass_of(f, x, damps ? rate : NULL, e, glass + 12 * (int64_t)e);
        if (damps)
            energy[e] += f->volume[e] * viscous(body, F, gradient_of(f, rate->from, e), rate->h[f->owner[e]], &S);
        if (!force) continue;
        tl_mat3 P = tl_mat3_scale(f->volume[e], tl_stable_stress(law, F));
        if (damps) P = tl_mat3_add_scaled(P, f->volume[e], tl_mat3_mul(F, S));
        memcpy(stress + 9 * (int64_t)e, P.m, sizeof P.m);
    }
    if (force) {
#pragma omp parallel for schedule(static)
        for (int32_t i = 0; i < f->lg->nodes; i++) {
            double sum[3] = {0, 0, 0};
            for (int64_t p = f->pull_start[i]; p < f->pull_start[i + 1]; p++) {
                const double *P = stress + 9 * (int64_t)f->pull[p][0];
                tl_vec3 b = f->gradient[f->start[f->pull[p][0]] + f->pull[p][1]];
                for (int c = 0; c < 3; c++) sum[c] -= P[3 * c] * b.x + P[3 * c + 1] * b.y + P[3 * c + 2] * b.z;
                if (!f->body[f->owner[f->pull[p][0]]].hex) continue;
                const double *g = glass + 12 * (int64_t)f->pull[p][0];
                for (int m = 0; m < TL_FEM_GLASS; m++)
                    for (int c = 0; c < 3; c++) sum[c] -= tl_fem_glass_weight(m, f->pull[p][1]) * g[3 * m + c];
            }
            memcpy(force + 3 * (int64_t)i, sum, sizeof sum);
        }
    }
    return tl_sum(f->elements, energy);
}

void tl_fem_modes(const tl_fem *f, const double *x, bool project, tl_stable_modes *modes)
{
#pragma omp parallel for schedule(static)
    for (int32_t e = 0; e < f->elements; e++) {
        modes[e].F = gradient_of(f, x, e);
        tl_stable_hessian(&f->body[f->owner[e]].law, modes[e].F, project, &modes[e]);
    }
}

/* F (lambda a b^T + mu (a.b) 1 + mu b a^T) F^T */
static tl_mat3 viscous_block(const tl_fem_body *body, tl_mat3 F, tl_vec3 a, tl_vec3 b)
{
    tl_mat3 C = tl_mat3_scale(body->lame[0], tl_mat3_outer(a, b));
    C = tl_mat3_add_scaled(C, body->lame[1], tl_mat3_outer(b, a));
    C = tl_mat3_add_scaled(C, body->lame[1] * tl_vec3_dot(a, b), tl_mat3_identity());
    return tl_mat3_mul(F, tl_mat3_mul_t(C, F));
}

/* Row of blocks of one node, up to its own block. */
static void add_row(const tl_fem *f, int32_t i, double h, const tl_stable_modes *modes, double *row[3])
{
    const double h2 = h * h;
    for (int64_t p = f->pull_start[i]; p < f->pull_start[i + 1]; p++) {
        int32_t e = f->pull[p][0], a = f->pull[p][1];
        int64_t n = f->start[e + 1] - f->start[e];
        const int32_t *node = f->node + f->start[e], *slot = f->slot + f->slot_start[e] + a * n;
        const tl_vec3 *b = f->gradient + f->start[e];
        const tl_fem_body *own = &f->body[f->owner[e]];
        tl_vec3 ga = tl_vec3_scale(h2 * f->volume[e], tl_mat3_tmul_vec(modes[e].V, b[a]));
        for (int64_t k = 0; k < n; k++) {
            if (slot[k] < 0 || f->place[node[k]] > f->place[i]) continue;
            tl_mat3 K = tl_stable_block(&modes[e], ga, tl_mat3_tmul_vec(modes[e].V, b[k]));
            if (own->damping > 0) /* of damping what is never indefinite: change of stress, at the F there is */
                K = tl_mat3_add_scaled(K, h * own->damping * f->volume[e], viscous_block(own, modes[e].F, b[a], b[k]));
            for (int c = 0; c < 3; c++)
                for (int d = 0; d < 3; d++) row[c][3 * (int64_t)slot[k] + d] += K.m[c][d];
            if (!own->hex) continue;
            double G = 0;
            for (int m = 0; m < TL_FEM_GLASS; m++)
                G += own->glass[m] * tl_fem_glass_weight(m, a) * tl_fem_glass_weight(m, (int)k);
            for (int c = 0; c < 3; c++) row[c][3 * (int64_t)slot[k] + c] += (h2 + h * own->damping) * G;
        }
    }
}

void tl_fem_matrix(const tl_fem *f, int b, double h, const tl_stable_modes *modes, tl_csr *A)
{
    const tl_fem_body *body = &f->body[b];
#pragma omp parallel for schedule(static)
    for (int32_t i = body->node; i < body->node + body->nodes; i++) {
        if (f->place[i] < 0) continue;
        int32_t r = 3 * f->place[i];
        double *row[3] = {A->val + A->start[r], A->val + A->start[r + 1], A->val + A->start[r + 2]};
        int64_t length = A->start[r + 1] - A->start[r];
        for (int c = 0; c < 3; c++) memset(row[c], 0, sizeof(double) * (size_t)length);
        add_row(f, i, h, modes, row);
        int64_t own = 3 * (int64_t)find_block(A, f->place[i], f->place[i]);
        for (int c = 0; c < 3; c++) row[c][own + c] += f->lg->mass[i] + h * h * f->spring[i];
    }
}
