/* Route "sum": H + J^T B B^T J of the outer iteration is written out and factored. Contacts that push enter a sparse
 * matrix, however many they are and whether or not their impulses are determined: W, which is dense and singular
 * then, is never formed. */
#include <stdlib.h>

#include "math/vec.h"
#include "solve/flex/inside.h"

typedef struct sum {
    const tl_flex *p;
    tl_flex_data *kept;
    bool *in;      /* [contacts] has entries in K */
    int32_t *mark; /* [n + 6 rigid] row that met this column last */
    int32_t *list; /* [n + 6 rigid] columns of a row or of a contact */
    double *side;  /* [n + 6 rigid][3] J^T B of a contact */
} sum;

/* ---- pattern ---- */

static int rising(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int32_t add_column(sum *s, int32_t row, int32_t col, int32_t count)
{
    if (s->mark[col] == row) return count;
    s->mark[col] = row;
    s->list[count] = col;
    return count + 1;
}

/* Columns of contacts that row i takes part in, behind the `count` that are in the list. */
static int32_t add_contacts(sum *s, int32_t i, int32_t count)
{
    const tl_csr *J = s->p->J, *Jt = s->p->Jt;
    int32_t last = -1;
    for (int64_t k = Jt->start[i]; k < Jt->start[i + 1]; k++) {
        const int32_t c = Jt->col[k] / 3;
        if (c == last || !s->in[c]) continue;
        last = c;
        for (int64_t e = J->start[3 * c]; e < J->start[3 * c + 3]; e++) count = add_column(s, i, J->col[e], count);
    }
    return count;
}

/* Columns of row i, rising, in s->list. part: that the row belongs to; parts: a rigid body's. */
static int32_t columns(sum *s, int32_t i, int32_t part)
{
    const tl_flex *p = s->p;
    int32_t count = 0;
    if (part < p->parts) {
        const tl_csr *H = p->part[part].H;
        const int64_t first = p->part[part].first, row = i - first;
        for (int64_t k = H->start[row]; k < H->start[row + 1]; k++)
            count = add_column(s, i, (int32_t)(first + H->col[k]), count);
    } else {
        const int32_t first = (int32_t)(i - (i - p->n) % 6);
        for (int32_t k = 0; k < 6; k++) count = add_column(s, i, first + k, count);
    }
    const int32_t own = count;
    if (p->contacts > 0) count = add_contacts(s, i, count);
    if (count > own) qsort(s->list, (size_t)count, sizeof *s->list, rising);
    return count;
}

static talus_status make_pattern(sum *s, talus_error *err)
{
    const tl_flex *p = s->p;
    const int32_t n = (int32_t)tl_flex_size(p);
    tl_csr *K = &s->kept->K;
    tl_csr fresh = {0};
    for (int pass = 0; pass < 2; pass++) {
        int64_t at = 0;
        int32_t part = 0;
        for (int32_t i = 0; i < n; i++) s->mark[i] = -1;
        for (int32_t i = 0; i < n; i++) {
            while (part < p->parts && i >= p->part[part].first + p->part[part].H->rows) part++;
            const int32_t count = columns(s, i, part);
            if (pass) memcpy(fresh.col + at, s->list, sizeof *s->list * (size_t)count);
            at += count;
            if (pass) fresh.start[i + 1] = at;
        }
        if (!pass) TL_TRY(tl_csr_create(&fresh, n, n, at, err));
    }
    tl_csr_free(K);
    *K = fresh;
    return TALUS_OK;
}

/* ---- values ---- */

static double *entry(const tl_csr *K, int32_t row, int32_t col)
{
    int64_t lo = K->start[row], hi = K->start[row + 1];
    while (lo + 1 < hi) {
        const int64_t mid = (lo + hi) / 2;
        if (K->col[mid] <= col)
            lo = mid;
        else
            hi = mid;
    }
    return &K->val[lo];
}

static void add_part(const sum *s, const tl_flex_part *part)
{
    const tl_csr *H = part->H, *K = &s->kept->K;
    for (int32_t i = 0; i < H->rows; i++) {
        const int64_t row = part->first + i;
        int64_t at = K->start[row];
        for (int64_t k = H->start[i]; k < H->start[i + 1] && H->col[k] <= i; k++) {
            while (K->col[at] < part->first + H->col[k]) at++;
            K->val[at] += H->val[k];
        }
    }
}

static void add_rigid(const sum *s, int64_t b)
{
    const tl_flex *p = s->p;
    const int32_t first = (int32_t)(p->n + 6 * b);
    const bool fixed = !(p->inv_mass[b] > 0);
    tl_mat3 inverse, I = tl_mat3_identity();
    memcpy(inverse.m, p->inv_inertia + 9 * b, sizeof inverse.m);
    if (!fixed) (void)tl_mat3_inverse(inverse, &I);
    for (int32_t k = 0; k < 3; k++) {
        *entry(&s->kept->K, first + k, first + k) += fixed ? 1 : 1 / p->inv_mass[b];
        for (int32_t d = 0; d <= k; d++) *entry(&s->kept->K, first + 3 + k, first + 3 + d) += I.m[k][d];
    }
}

static void add_contact(sum *s, int32_t c, const double B[9], int32_t rank)
{
    const tl_csr *J = s->p->J;
    int32_t count = 0;
    for (int k = 0; k < 3; k++)
        for (int64_t e = J->start[3 * c + k]; e < J->start[3 * c + k + 1]; e++) {
            int32_t at = 0;
            while (at < count && s->list[at] != J->col[e]) at++;
            if (at == count) {
                s->list[count++] = J->col[e];
                memset(s->side + 3 * (int64_t)at, 0, 3 * sizeof *s->side);
            }
            for (int32_t r = 0; r < rank; r++) s->side[3 * (int64_t)at + r] += J->val[e] * B[3 * r + k];
        }
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = 0; j < count; j++) {
            if (s->list[j] > s->list[i]) continue;
            double value = 0;
            for (int32_t r = 0; r < rank; r++) value += s->side[3 * (int64_t)i + r] * s->side[3 * (int64_t)j + r];
            *entry(&s->kept->K, s->list[i], s->list[j]) += value;
        }
}

/* ---- the system ---- */

static talus_status linear(void *ctx, const double *B, const int32_t *rank, const double *r, double eta, double *x,
                           tl_flex_report *report, talus_error *err)
{
    sum *s = ctx;
    const tl_flex *p = s->p;
    tl_csr *K = &s->kept->K;
    (void)eta;
    bool fits = K->start != NULL;
    for (int32_t c = 0; c < p->contacts; c++) {
        fits &= s->in[c] || !rank[c];
        s->in[c] |= rank[c] > 0;
    }
    if (!fits) TL_TRY(make_pattern(s, err));
    memset(K->val, 0, sizeof *K->val * (size_t)K->start[K->rows]);
    for (int32_t b = 0; b < p->parts; b++) add_part(s, &p->part[b]);
    for (int64_t b = 0; b < p->rigid; b++) add_rigid(s, b);
    for (int32_t c = 0; c < p->contacts; c++)
        if (rank[c]) add_contact(s, c, B + 9 * (int64_t)c, rank[c]);
    report->work.factorizations++;
    report->unknowns = K->rows;
    report->nonzeros = K->start[K->rows];
    TL_TRY(tl_factor_update(s->kept->sum, K, err));
    report->work.products++;
    return tl_factor_solve(s->kept->sum, 1, r, x, err);
}

static talus_status solve(tl_flex_solver *s, const tl_stop *stop, double *lam, double *dv, tl_flex_report *r,
                          talus_error *err)
{
    const tl_flex *p = s->p;
    const int64_t n = tl_flex_size(p);
    if (n >= INT32_MAX)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "%lld unknowns are too many for one matrix", (long long)n);
    size_t mark = tl_arena_mark(s->arena);
    sum ctx = {.p = p,
               .kept = s->kept,
               .in = TL_TAKE_ZERO(s->arena, bool, p->contacts + 1),
               .mark = TL_TAKE(s->arena, int32_t, n + 1),
               .list = TL_TAKE(s->arena, int32_t, n + 1),
               .side = TL_TAKE(s->arena, double, 3 * n + 3)};
    if (!ctx.in || !ctx.mark || !ctx.list || !ctx.side) return tl_flex_no_memory(err);
    if (!s->kept->sum) {
        tl_factor_options options = tl_factor_options_default();
        options.order = TL_ORDER_AMD; /* analysed whenever others push */
        TL_TRY(tl_factor_create(&s->kept->sum, &options, err));
    }
    tl_csr_free(&s->kept->K);
    const tl_flex_linear way = {.ctx = &ctx, .solve = linear};
    TL_TRY(tl_flex_newton(p, &way, stop, lam, dv, s->arena, r, err));
    tl_arena_release(s->arena, mark);
    return TALUS_OK;
}

const tl_flex_route tl_flex_sum = {
    "sum", "stiffness and contacts in one sparse matrix, factored in every iteration", 0, NULL, NULL, solve};
