#include "solve/contact/body_matrix.h"

#include <string.h>

/* Bodies that each body shares a contact with, itself included, rising and once each. */
typedef struct graph {
    int64_t *start;
    int32_t *near;
} graph;

static int32_t compare_insert(int32_t *list, int32_t count, int32_t value)
{
    int32_t k = count;
    while (k > 0 && list[k - 1] > value) k--;
    if (k > 0 && list[k - 1] == value) return count;
    memmove(list + k + 1, list + k, sizeof *list * (size_t)(count - k));
    list[k] = value;
    return count + 1;
}

/* Room for every contact twice, then packed. */
static void build_graph(const tl_pairs *t, graph *g, int32_t *degree, int64_t *room)
{
    memset(room, 0, sizeof *room * ((size_t)t->moving + 1));
    for (int32_t c = 0; c < t->contacts; c++)
        if (t->pair[c].body[0] >= 0 && t->pair[c].body[1] >= 0)
            room[t->pair[c].body[0] + 1]++, room[t->pair[c].body[1] + 1]++;
    for (int32_t i = 0; i < t->moving; i++) room[i + 1] += room[i] + 1;
    for (int32_t i = 0; i < t->moving; i++) g->near[room[i]] = i, degree[i] = 1;
    for (int32_t c = 0; c < t->contacts; c++) {
        int32_t a = t->pair[c].body[0], b = t->pair[c].body[1];
        if (a < 0 || b < 0) continue;
        degree[a] = compare_insert(g->near + room[a], degree[a], b);
        degree[b] = compare_insert(g->near + room[b], degree[b], a);
    }
    g->start[0] = 0;
    for (int32_t i = 0; i < t->moving; i++) {
        memmove(g->near + g->start[i], g->near + room[i], sizeof(int32_t) * (size_t)degree[i]);
        g->start[i + 1] = g->start[i] + degree[i];
    }
}

static int64_t block_at(const graph *g, const tl_csr *H, int32_t row, int32_t col)
{
    if (row < 0 || col < 0) return -1;
    for (int64_t k = g->start[row]; k < g->start[row + 1]; k++)
        if (g->near[k] == col) return H->start[6 * (int64_t)row] + 6 * (k - g->start[row]);
    return -1;
}

size_t tl_body_matrix_bytes(int64_t m, int64_t b)
{
    int64_t blocks = b + 2 * m;
    return TL_ARENA_ROOM(int64_t, b + 1) * 2 + TL_ARENA_ROOM(int32_t, blocks) + TL_ARENA_ROOM(int32_t, b) +
           TL_ARENA_ROOM(int64_t, 6 * b + 1) + TL_ARENA_ROOM(int32_t, 36 * blocks) +
           TL_ARENA_ROOM(double, 36 * blocks) + TL_ARENA_ROOM(int64_t, 4 * m);
}

void tl_body_matrix_build(tl_body_matrix *out, const tl_pairs *t, tl_arena *a)
{
    int64_t b = t->moving, m = t->contacts;
    graph g = {TL_TAKE(a, int64_t, b + 1), TL_TAKE(a, int32_t, b + 2 * m)};
    int64_t *room = TL_TAKE(a, int64_t, b + 1);
    int32_t *degree = TL_TAKE(a, int32_t, b);
    build_graph(t, &g, degree, room);
    tl_csr *H = &out->matrix;
    *H = (tl_csr){.rows = (int32_t)(6 * b), .cols = (int32_t)(6 * b)};
    H->start = TL_TAKE(a, int64_t, 6 * b + 1);
    H->col = TL_TAKE(a, int32_t, 36 * g.start[b]);
    H->val = TL_TAKE(a, double, 36 * g.start[b]);
    int64_t at = 0;
    H->start[0] = 0;
    for (int32_t i = 0; i < b; i++)
        for (int r = 0; r < 6; r++) {
            for (int64_t k = g.start[i]; k < g.start[i + 1]; k++)
                for (int c = 0; c < 6; c++) H->col[at++] = 6 * g.near[k] + c;
            H->start[6 * i + r + 1] = at;
        }
    out->slot = TL_TAKE(a, int64_t, 4 * m);
    for (int32_t c = 0; c < m; c++)
        for (int k = 0; k < 4; k++)
            out->slot[4 * (int64_t)c + k] = block_at(&g, H, t->pair[c].body[k / 2], t->pair[c].body[k % 2]);
}

void tl_body_matrix_start(tl_body_matrix *out, const tl_pairs *t)
{
    tl_csr *H = &out->matrix;
    memset(H->val, 0, sizeof(double) * (size_t)H->start[H->rows]);
    for (int32_t i = 0; i < t->moving; i++) /* the diagonal block of body i starts at column 6 i */
        for (int r = 0; r < 6; r++)
            for (int64_t k = H->start[6 * i + r]; k < H->start[6 * i + r + 1]; k++) {
                int c = H->col[k] - 6 * i;
                if (c < 0 || c > 5) continue;
                if (r < 3 && c == r) H->val[k] = t->mass[i];
                if (r > 2 && c > 2) H->val[k] = t->inertia[9 * (int64_t)i + 3 * (r - 3) + c - 3];
            }
}

/* 6x6 block at `slot` of the rows of `body` += Ja^T D Jb. */
static void add_block(tl_csr *H, int32_t body, int64_t slot, const double *Ja, const double D[9], const double *Jb)
{
    double DJ[18];
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 6; k++)
            DJ[6 * r + k] = D[3 * r] * Jb[k] + D[3 * r + 1] * Jb[6 + k] + D[3 * r + 2] * Jb[12 + k];
    int64_t stride = H->start[6 * (int64_t)body + 1] - H->start[6 * (int64_t)body];
    for (int i = 0; i < 6; i++) {
        double *row = H->val + slot + i * stride;
        for (int k = 0; k < 6; k++) row[k] += Ja[i] * DJ[k] + Ja[6 + i] * DJ[6 + k] + Ja[12 + i] * DJ[12 + k];
    }
}

void tl_body_matrix_add(tl_body_matrix *H, const tl_pairs *t, int32_t c, const double D[9])
{
    const tl_pair *p = &t->pair[c];
    for (int k = 0; k < 4; k++) {
        int64_t slot = H->slot[4 * (int64_t)c + k];
        if (slot >= 0) add_block(&H->matrix, p->body[k / 2], slot, p->J[k / 2], D, p->J[k % 2]);
    }
}

tl_factor *tl_body_factor(tl_factor *kept)
{
    if (kept) return kept;
    tl_factor_options o = tl_factor_options_default();
    o.order = TL_ORDER_AMD;
    tl_factor *f = NULL;
    return tl_factor_create(&f, &o, NULL) == TALUS_OK ? f : NULL;
}
