#include "solve/contact/body_matrix.h"

#include <string.h>

#include "solve/contact/block6.h"

/* ---- order and pattern, on rows of bits ---- */

typedef struct bits {
    int32_t words;
    uint64_t *row; /* [bodies][words] */
} bits;

static uint64_t *row_of(const bits *g, int32_t i) { return g->row + (int64_t)i * g->words; }

/* Eliminates the body of least degree again and again; its neighbours become neighbours of each other. What is left in
 * its row is its column of the factor. */
static void eliminate(const bits *g, int32_t n, int32_t *degree, int32_t *place, int32_t *order)
{
    for (int32_t i = 0; i < n; i++) {
        degree[i] = 0;
        for (int32_t k = 0; k < g->words; k++) degree[i] += __builtin_popcountll(row_of(g, i)[k]);
    }
    for (int32_t at = 0; at < n; at++) {
        int32_t least = -1;
        for (int32_t i = 0; i < n; i++)
            if (degree[i] >= 0 && (least < 0 || degree[i] < degree[least])) least = i;
        place[least] = at;
        order[at] = least;
        degree[least] = -1;
        const uint64_t *from = row_of(g, least);
        for (int32_t k = 0; k < g->words; k++)
            for (uint64_t left = from[k]; left; left &= left - 1) {
                int32_t i = 64 * k + __builtin_ctzll(left), count = 0;
                uint64_t *row = row_of(g, i);
                for (int32_t j = 0; j < g->words; j++) row[j] |= from[j];
                row[i / 64] &= ~(UINT64_C(1) << i % 64);
                row[least / 64] &= ~(UINT64_C(1) << least % 64);
                for (int32_t j = 0; j < g->words; j++) count += __builtin_popcountll(row[j]);
                degree[i] = count;
            }
    }
}

/* Columns from the rows of bits, with the blocks left of each diagonal: filled row by row, so both rise. */
static bool fill_pattern(tl_body_matrix *H, const bits *g, const int32_t *order, int64_t *next, tl_arena *a)
{
    int32_t n = H->bodies;
    memset(H->left, 0, sizeof *H->left * ((size_t)n + 1));
    H->start[0] = 0;
    for (int32_t c = 0; c < n; c++) {
        const uint64_t *from = row_of(g, order[c]);
        int64_t count = 1;
        for (int32_t k = 0; k < g->words; k++)
            for (uint64_t rest = from[k]; rest; rest &= rest - 1, count++)
                H->left[H->place[64 * k + __builtin_ctzll(rest)] + 1]++;
        H->start[c + 1] = H->start[c] + count;
    }
    for (int32_t c = 0; c < n; c++) H->left[c + 1] += H->left[c];
    int64_t blocks = H->start[n], before = H->left[n];
    H->row = TL_TAKE(a, int32_t, blocks);
    H->left_at = TL_TAKE(a, int64_t, before);
    H->left_end = TL_TAKE(a, int64_t, before);
    H->left_col = TL_TAKE(a, int32_t, before);
    H->block = TL_TAKE(a, tl_block6, blocks);
    if (!H->row || !H->left_at || !H->left_end || !H->left_col || !H->block) return false;

    /* columns of each row, rising; then rows of each column, rising */
    memcpy(next, H->left, sizeof *next * (size_t)n);
    for (int32_t c = 0; c < n; c++) {
        const uint64_t *from = row_of(g, order[c]);
        for (int32_t k = 0; k < g->words; k++)
            for (uint64_t rest = from[k]; rest; rest &= rest - 1)
                H->left_at[next[H->place[64 * k + __builtin_ctzll(rest)]]++] = c;
    }
    for (int32_t c = 0; c < n; c++) H->row[H->start[c]] = c, next[c] = H->start[c] + 1;
    for (int32_t r = 0; r < n; r++)
        for (int64_t k = H->left[r]; k < H->left[r + 1]; k++) {
            int64_t c = H->left_at[k];
            H->row[next[c]] = r;
            H->left_at[k] = next[c]++;
            H->left_end[k] = H->start[c + 1];
            H->left_col[k] = (int32_t)c;
        }
    return true;
}

static int64_t find_block(const tl_body_matrix *H, int32_t a, int32_t b)
{
    int32_t col = H->place[a] < H->place[b] ? H->place[a] : H->place[b], row = H->place[a] + H->place[b] - col;
    int64_t low = H->start[col], high = H->start[col + 1];
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (H->row[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void find_slots(tl_body_matrix *H, const tl_pairs *t)
{
    for (int32_t c = 0; c < t->contacts; c++) {
        int32_t a = t->pair[c].body[0], b = t->pair[c].body[1];
        int64_t *slot = H->slot + 3 * (int64_t)c;
        bool same = c > 0 && t->pair[c - 1].body[0] == a && t->pair[c - 1].body[1] == b;
        slot[0] = a < 0 ? -1 : H->start[H->place[a]];
        slot[1] = b < 0 ? -1 : H->start[H->place[b]];
        slot[2] = a < 0 || b < 0 ? -1 : same ? slot[-1] : find_block(H, a, b);
    }
}

bool tl_body_matrix_build(tl_body_matrix *H, const tl_pairs *t, tl_arena *a)
{
    int32_t n = t->moving;
    *H = (tl_body_matrix){.bodies = n};
    H->place = TL_TAKE(a, int32_t, n);
    H->start = TL_TAKE(a, int64_t, n + 1);
    H->left = TL_TAKE(a, int64_t, n + 1);
    H->inverse = TL_TAKE(a, double, 6 * (int64_t)n);
    H->slot = TL_TAKE(a, int64_t, 3 * (int64_t)t->contacts);
    H->scratch = TL_TAKE(a, double, tl_pairs_lanes(t));
    H->of_row = TL_TAKE(a, int64_t, TL_PANEL * (int64_t)n);
    int32_t *order = TL_TAKE(a, int32_t, n), *degree = TL_TAKE(a, int32_t, n);
    bits g = {.words = (n + 63) / 64};
    g.row = TL_TAKE_ZERO(a, uint64_t, (int64_t)n * g.words);
    if (!H->place || !H->start || !H->left || !H->inverse || !H->slot || !H->scratch || !H->of_row || !order ||
        !degree || !g.row)
        return false;
    for (int32_t c = 0; c < t->contacts; c++) {
        int32_t i = t->pair[c].body[0], j = t->pair[c].body[1];
        if (i < 0 || j < 0) continue;
        row_of(&g, i)[j / 64] |= UINT64_C(1) << j % 64;
        row_of(&g, j)[i / 64] |= UINT64_C(1) << i % 64;
    }
    eliminate(&g, n, degree, H->place, order);
    if (!fill_pattern(H, &g, order, H->of_row, a)) return false;
    find_slots(H, t);
    return true;
}

size_t tl_body_matrix_bytes(int64_t contacts, int64_t bodies)
{
    const int64_t n = bodies, blocks = n * (n + 1) / 2;
    return 3 * TL_ARENA_ROOM(int32_t, n) + 2 * TL_ARENA_ROOM(int64_t, n + 1) + TL_ARENA_ROOM(double, 6 * n) +
           TL_ARENA_ROOM(int64_t, 3 * contacts) + TL_ARENA_ROOM(double, TL_BODY_LANES *(n + 1)) +
           TL_ARENA_ROOM(int64_t, TL_PANEL * n) + TL_ARENA_ROOM(uint64_t, n * ((n + 63) / 64)) +
           2 * TL_ARENA_ROOM(int32_t, blocks) + 2 * TL_ARENA_ROOM(int64_t, blocks) + TL_ARENA_ROOM(tl_block6, blocks);
}

int64_t tl_body_matrix_products(const tl_body_matrix *H)
{
    int64_t all = 0;
    for (int64_t l = 0; l < H->left[H->bodies]; l++) all += H->left_end[l] - H->left_at[l];
    return all;
}

/* ---- values ---- */

void tl_body_matrix_start(tl_body_matrix *H, const tl_pairs *t)
{
    memset(H->block, 0, sizeof *H->block * (size_t)H->start[H->bodies]);
    for (int32_t i = 0; i < H->bodies; i++) {
        tl_block6 *B = &H->block[H->start[H->place[i]]];
        for (int k = 0; k < 3; k++) {
            B->col[k][k] = t->mass[i];
            for (int r = 0; r < 3; r++) B->col[3 + k][3 + r] = t->inertia[9 * (int64_t)i + 3 * r + k];
        }
    }
}

void tl_body_matrix_add(tl_body_matrix *H, const tl_pairs *t, int32_t c, const double D[9])
{
    const tl_pair *p = &t->pair[c];
    const int64_t *slot = H->slot + 3 * (int64_t)c;
    tl_lanes8 rows[2][3];
    for (int s = 0; s < 2; s++) {
        if (slot[s] < 0) continue;
        tl_block6_rows(p->J[s], rows[s]);
        tl_block6_add(&H->block[slot[s]], rows[s], D, p->J[s]);
    }
    if (slot[2] < 0) return;
    int later = H->place[p->body[0]] > H->place[p->body[1]] ? 0 : 1; /* the side whose rows the block has */
    tl_block6_add(&H->block[slot[2]], rows[later], D, p->J[1 - later]);
}

/* ---- factor and solve ---- */

/* 6x6 Cholesky, lower; what is above the diagonal is not read again. */
static bool factor_diagonal(tl_block6 *B, double inverse[6])
{
    for (int c = 0; c < 6; c++) {
        double pivot = B->col[c][c];
        if (!(pivot > 0 && pivot < INFINITY)) return false;
        inverse[c] = 1 / sqrt(pivot);
        B->col[c] *= inverse[c];
        for (int k = c + 1; k < 6; k++) B->col[k] -= B->col[c] * B->col[c][k];
    }
    return true;
}

/* X L^T = X, in place */
static inline void divide(tl_block6 *X, const tl_block6 *L, const double inverse[6])
{
    for (int c = 0; c < 6; c++) {
        X->col[c] *= inverse[c];
        for (int k = c + 1; k < 6; k++) X->col[k] -= X->col[c] * L->col[c][k];
    }
}

bool tl_body_matrix_panel(const tl_body_matrix *H, int32_t panel)
{
    int64_t work = 0;
    for (int32_t c = panel; c < H->bodies && c < panel + TL_PANEL; c++) {
        int64_t *rows = tl_body_matrix_rows(H, panel, c);
        for (int64_t k = H->start[c]; k < H->start[c + 1]; k++) rows[H->row[k]] = k;
        for (int64_t l = H->left[c]; l < H->left[c + 1]; l++) work += H->left_end[l] - H->left_at[l];
    }
    return work > TL_PANEL_WORK;
}

/* What blocks from .. to left of column c take from it. */
static void subtract_left(const tl_body_matrix *H, const int64_t *rows, int64_t from, int64_t to)
{
    for (int64_t l = from; l < to; l++) {
        const tl_block6 *B = &H->block[H->left_at[l]];
        for (int64_t k = H->left_at[l]; k < H->left_end[l]; k++)
            tl_block6_subtract(&H->block[rows[H->row[k]]], &H->block[k], B);
    }
}

bool tl_body_matrix_factor(tl_body_matrix *H)
{
    for (int32_t panel = 0; panel < H->bodies; panel += TL_PANEL) {
        const int32_t end = panel + TL_PANEL < H->bodies ? panel + TL_PANEL : H->bodies;
        const bool share = tl_body_matrix_panel(H, panel);
#pragma omp parallel for schedule(dynamic, 1) if (share)
        for (int32_t c = panel; c < end; c++)
            subtract_left(H, tl_body_matrix_rows(H, panel, c), H->left[c], tl_body_matrix_inside(H, panel, c));
        for (int32_t c = panel; c < end; c++) {
            subtract_left(H, tl_body_matrix_rows(H, panel, c), tl_body_matrix_inside(H, panel, c), H->left[c + 1]);
            tl_block6 *L = &H->block[H->start[c]];
            double *inverse = H->inverse + 6 * (int64_t)c;
            if (!factor_diagonal(L, inverse)) return false;
            for (int64_t k = H->start[c] + 1; k < H->start[c + 1]; k++) divide(&H->block[k], L, inverse);
        }
    }
    return true;
}

void tl_body_matrix_solve(tl_body_matrix *H, const double *b, double *x)
{
    tl_lanes8 *y = (tl_lanes8 *)H->scratch;
    for (int32_t i = 0; i < H->bodies; i++) y[H->place[i]] = ((const tl_lanes8 *)b)[i];
    for (int32_t c = 0; c < H->bodies; c++) {
        const tl_block6 *L = &H->block[H->start[c]];
        tl_lanes8 v = y[c];
        double z[6];
        for (int k = 0; k < 6; k++) {
            z[k] = v[k] * H->inverse[6 * (int64_t)c + k];
            v -= L->col[k] * z[k];
        }
        y[c] = (tl_lanes8){z[0], z[1], z[2], z[3], z[4], z[5], 0, 0};
        for (int64_t k = H->start[c] + 1; k < H->start[c + 1]; k++) {
            const tl_lanes8 *B = H->block[k].col;
            y[H->row[k]] -= (B[0] * z[0] + B[1] * z[1] + B[2] * z[2]) + (B[3] * z[3] + B[4] * z[4] + B[5] * z[5]);
        }
    }
    for (int32_t c = H->bodies - 1; c >= 0; c--) {
        const tl_block6 *L = &H->block[H->start[c]];
        tl_lanes8 sum[6] = {0};
        for (int64_t k = H->start[c] + 1; k < H->start[c + 1]; k++) {
            tl_lanes8 v = y[H->row[k]];
            for (int j = 0; j < 6; j++) sum[j] += H->block[k].col[j] * v;
        }
        tl_lanes8 z = y[c];
        for (int j = 5; j >= 0; j--) {
            tl_lanes8 s = sum[j];
            double rest = z[j] - (((s[0] + s[1]) + (s[2] + s[3])) + (s[4] + s[5]));
            for (int k = j + 1; k < 6; k++) rest -= L->col[j][k] * z[k];
            z[j] = rest * H->inverse[6 * (int64_t)c + j];
        }
        y[c] = z;
    }
    for (int32_t i = 0; i < H->bodies; i++) ((tl_lanes8 *)x)[i] = y[H->place[i]];
}
