/* W = J H^-1 J^T written out, from factors of parts. */
#include "solve/flex/inside.h"

/* Entries of row i whose columns lie in [from, to). */
static int64_t entries(const tl_csr *J, int64_t i, int64_t from, int64_t to, int64_t *count)
{
    int64_t low = J->start[i], high = J->start[i + 1], end;
    while (low < high && J->col[low] < from) low++;
    for (end = low; end < high && J->col[end] < to; end++) {
    }
    *count = end - low;
    return low;
}

static int64_t row_of(const int32_t *pick, int64_t i) { return pick ? 3 * (int64_t)pick[i / 3] + i % 3 : i; }

/* Through one part: lower triangle. number [part's unknowns] is scratch. */
static talus_status add_part(const tl_flex *p, const tl_flex_part *part, int64_t n, const int32_t *pick, double *W,
                             tl_arena *a, talus_error *err)
{
    const tl_csr *J = p->J;
    const int64_t from = part->first, to = from + part->H->rows;
    int64_t m = 0, rows = 0;
    int32_t *number = TL_TAKE(a, int32_t, to - from + 1), *row = TL_TAKE(a, int32_t, n + 1);
    if (!number || !row) return tl_flex_no_memory(err);
    for (int64_t i = 0; i < to - from; i++) number[i] = -1;
    for (int64_t i = 0; i < n; i++) {
        int64_t count, at = entries(J, row_of(pick, i), from, to, &count);
        if (count > 0) row[rows++] = (int32_t)i;
        for (int64_t k = at; k < at + count; k++) number[J->col[k] - from] = 0;
    }
    for (int64_t i = 0; i < to - from; i++) m += number[i] == 0;
    if (m == 0) return TALUS_OK;
    int32_t *index = TL_TAKE(a, int32_t, m);
    double *C = TL_TAKE(a, double, m *m), *D = TL_TAKE(a, double, rows *m);
    if (!index || !C || !D) return tl_flex_no_memory(err);
    m = 0;
    for (int64_t i = 0; i < to - from; i++)
        if (number[i] == 0) {
            index[m] = (int32_t)i;
            number[i] = (int32_t)m++;
        }
    TL_TRY(tl_factor_inverse_part(part->factor, m, index, C, err));
#pragma omp parallel for schedule(static) if (rows > 150)
    for (int64_t t = 0; t < m; t++)
        for (int64_t q = 0; q < rows; q++) {
            int64_t count, at = entries(J, row_of(pick, row[q]), from, to, &count);
            double sum = 0;
            for (int64_t k = at; k < at + count; k++) sum += J->val[k] * C[t * m + number[J->col[k] - from]];
            D[t * rows + q] = sum;
        }
#pragma omp parallel for schedule(dynamic, 16) if (rows > 150)
    for (int64_t r = 0; r < rows; r++) {
        int64_t count, at = entries(J, row_of(pick, row[r]), from, to, &count);
        double *out = W + row[r] * n;
        for (int64_t k = at; k < at + count; k++) {
            const double *line = D + number[J->col[k] - from] * rows, w = J->val[k];
            if (w == 0) continue;
            for (int64_t q = 0; q <= r; q++) out[row[q]] += w * line[q];
        }
    }
    return TALUS_OK;
}

/* Through rigid bodies: lower triangle. */
static talus_status add_rigid(const tl_flex *p, int64_t n, const int32_t *pick, double *W, tl_arena *a,
                              talus_error *err)
{
    const tl_csr *J = p->J;
    int32_t *row = TL_TAKE(a, int32_t, n + 1);
    double *full = TL_TAKE(a, double, 6 * n + 1);
    if (!row || !full) return tl_flex_no_memory(err);
    for (int64_t b = 0; b < p->rigid; b++) {
        int64_t rows = 0;
        if (!(p->inv_mass[b] > 0)) continue;
        for (int64_t i = 0; i < n; i++) {
            int64_t count, at = entries(J, row_of(pick, i), p->n + 6 * b, p->n + 6 * b + 6, &count);
            if (count == 0) continue;
            double *own = full + 6 * rows;
            memset(own, 0, 6 * sizeof *own);
            for (int64_t k = at; k < at + count; k++) own[J->col[k] - p->n - 6 * b] = J->val[k];
            row[rows++] = (int32_t)i;
        }
        const double *I = p->inv_inertia + 9 * b;
        for (int64_t r = 0; r < rows; r++) {
            double y[6], *x = full + 6 * r;
            for (int k = 0; k < 3; k++) {
                y[k] = p->inv_mass[b] * x[k];
                y[3 + k] = I[3 * k] * x[3] + I[3 * k + 1] * x[4] + I[3 * k + 2] * x[5];
            }
            for (int64_t q = 0; q <= r; q++) {
                double sum = 0;
                for (int k = 0; k < 6; k++) sum += y[k] * full[6 * q + k];
                W[row[r] * n + row[q]] += sum;
            }
        }
    }
    return TALUS_OK;
}

#define TILE 32 /* rows and columns that are mirrored together: two of them stay in the first cache */

/* The upper triangle from the lower one. */
static void mirror(int64_t n, double *W)
{
#pragma omp parallel for schedule(dynamic, 1) if (n > 300)
    for (int64_t from = 0; from < n; from += TILE)
        for (int64_t right = from; right < n; right += TILE)
            for (int64_t i = from; i < from + TILE && i < n; i++)
                for (int64_t j = right > i ? right : i + 1; j < right + TILE && j < n; j++) W[i * n + j] = W[j * n + i];
}

talus_status tl_flex_compliance(const tl_flex *p, int32_t contacts, const int32_t *pick, double *W, tl_arena *a,
                                talus_error *err)
{
    const int64_t n = 3 * (int64_t)contacts;
    memset(W, 0, sizeof *W * (size_t)(n * n));
    for (int32_t b = 0; b < p->parts; b++) {
        size_t mark = tl_arena_mark(a);
        TL_TRY(add_part(p, &p->part[b], n, pick, W, a, err));
        tl_arena_release(a, mark);
    }
    size_t mark = tl_arena_mark(a);
    TL_TRY(add_rigid(p, n, pick, W, a, err));
    tl_arena_release(a, mark);
    mirror(n, W);
    return TALUS_OK;
}
