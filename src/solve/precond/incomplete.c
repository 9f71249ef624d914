/* Preconditioners of the form M = (D + L) D^-1 (D + L^T) on the pattern of A:
 *
 *   ssor   L and D are those of A (symmetric Gauss-Seidel)
 *   ic     incomplete Cholesky without fill; the diagonal is shifted until all pivots are positive
 *   mic    the same with dropped fill added to the diagonal, so that M keeps (most of) A's row sums
 *
 * Large matrices are cut into two contiguous halves, whatever the number of threads. Rows of the
 * second half that touch the first form the border, eliminated last; the other rows of the two
 * halves are then independent and run on two threads. The second half is eliminated backwards, so
 * that the halves meet at the border like a two-sided sweep: on grids the iteration count stays
 * that of the natural order (tests/agree/precond.c).
 *
 * All arrays are numbered in elimination order; `order` leads back. Application reads the factor
 * twice (12 bytes per nonzero of A in all) and is bound by bandwidth and by the latency of the row
 * recurrence. */
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "solve/precond/precond.h"

#define MAX_PARTS 2
#define MIC_TAU 0.97   /* share of the dropped fill that goes to the diagonal [Bridson2015 ch. 5] */
#define SHIFT_MAX 1e6  /* of the diagonal, relative; far beyond what dominance takes, unless rows are absurdly uneven */
#define MIC_SIGMA 0.25 /* below this share of a_ii a pivot is taken as a_ii [Bridson2015 ch. 5] */

typedef struct factor {
    int32_t n;
    int parts;
    int32_t part_begin[MAX_PARTS + 1]; /* inner rows of part k; the border follows the last part */
    int32_t *order;                    /* [n] elimination index -> row of A */
    int64_t *up_start;                 /* [n + 1] strictly upper rows */
    int32_t *up_col;
    double *up;         /* D L^T */
    int64_t *low_start; /* [n + 1] strictly lower rows: the transpose */
    int32_t *low_col;
    double *low;
    int64_t *low_at; /* [lower nonzeros] where the same value sits in `up` */
    double *up_A;    /* values of A on the upper pattern */
    double *diag_A;  /* diagonal of A */
    double *inverse; /* [n] 1 / d_i */
    double *t;       /* [n] work vector of apply */
} factor;

/* Two, not more: a part between two borders loses the two-sided sweep, and MIC(0) on a 128^3 Laplacian
 * then needs 128 iterations instead of 74 (one part: 76). */
static int parts_for(int32_t n) { return n < 2 * TL_PARALLEL_MIN ? 1 : 2; }

static void free_factor(factor *f)
{
    if (!f) return;
    void *arrays[] = {f->order, f->up_start, f->up_col, f->up,     f->low_start, f->low_col,
                      f->low,   f->low_at,   f->up_A,   f->diag_A, f->inverse,   f->t};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) tl_free(arrays[k]);
    tl_free(f);
}

/* True when row i of part `part` touches a row of an earlier part. */
static bool on_border(const tl_csr *A, int32_t i, int32_t part_first)
{
    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
        if (A->col[k] < part_first) return true;
    return false;
}

static void choose_order(factor *f, const tl_csr *A)
{
    int32_t at = 0, border = f->n;
    for (int p = 0; p < f->parts; p++) {
        int32_t first = (int32_t)((int64_t)f->n * p / f->parts), last = (int32_t)((int64_t)f->n * (p + 1) / f->parts);
        f->part_begin[p] = at;
        for (int32_t k = first; k < last; k++) {
            int32_t row = p % 2 ? first + last - 1 - k : k;
            if (p > 0 && on_border(A, row, first))
                f->order[--border] = row;
            else
                f->order[at++] = row;
        }
    }
    f->part_begin[f->parts] = at;
    /* the border was collected from the back */
    for (int32_t i = at, j = f->n - 1; i < j; i++, j--) {
        int32_t swap = f->order[i];
        f->order[i] = f->order[j];
        f->order[j] = swap;
    }
}

static void sort_row(int64_t count, int32_t *col, double *val)
{
    for (int64_t i = 1; i < count; i++) {
        int32_t c = col[i];
        double v = val[i];
        int64_t j = i;
        for (; j > 0 && col[j - 1] > c; j--) {
            col[j] = col[j - 1];
            val[j] = val[j - 1];
        }
        col[j] = c;
        val[j] = v;
    }
}

/* Row of the first entry that has no mirror image among the owned columns, or -1. Columns rise, so the rows above have
 * ticked off a row's lower entries in order by the time it is reached. */
static int32_t one_sided_row(const tl_csr *A, int64_t *ticked)
{
    for (int32_t i = 0; i < A->rows; i++) ticked[i] = A->start[i];
    for (int32_t i = 0; i < A->rows; i++) {
        if (ticked[i] < A->start[i + 1] && A->col[ticked[i]] < i) return i;
        for (int64_t k = ticked[i]; k < A->start[i + 1] && A->col[k] < A->rows; k++) {
            int32_t j = A->col[k];
            if (j == i) continue;
            if (ticked[j] == A->start[j + 1] || A->col[ticked[j]] != i) return i;
            ticked[j]++;
        }
    }
    return -1;
}

/* Upper rows of the permuted matrix, sorted; their transpose with links into the upper values. */
static void fill_pattern(factor *f, const tl_csr *A, const int32_t *rank)
{
    int64_t out = 0;
    f->up_start[0] = 0;
    memset(f->low_start, 0, sizeof(int64_t) * ((size_t)f->n + 1));
    for (int32_t i = 0; i < f->n; i++) {
        int32_t row = f->order[i];
        f->diag_A[i] = 0;
        for (int64_t k = A->start[row]; k < A->start[row + 1]; k++) {
            if (A->col[k] >= f->n) continue; /* owned by another part of the space */
            int32_t j = rank[A->col[k]];
            if (j == i) f->diag_A[i] = A->val[k];
            if (j <= i) continue;
            f->up_col[out] = j;
            f->up_A[out++] = A->val[k];
            f->low_start[j + 1]++;
        }
        sort_row(out - f->up_start[i], f->up_col + f->up_start[i], f->up_A + f->up_start[i]);
        f->up_start[i + 1] = out;
    }
    for (int32_t i = 0; i < f->n; i++) f->low_start[i + 1] += f->low_start[i];
    for (int32_t i = 0; i < f->n; i++)
        for (int64_t k = f->up_start[i]; k < f->up_start[i + 1]; k++) {
            int64_t at = f->low_start[f->up_col[k]]++;
            f->low_col[at] = i;
            f->low_at[at] = k;
        }
    for (int32_t i = f->n; i > 0; i--) f->low_start[i] = f->low_start[i - 1];
    f->low_start[0] = 0;
}

static talus_status create_factor(tl_precond *P, const tl_csr *A, talus_error *err)
{
    factor *f = TL_NEW_ZERO(factor, 1);
    int32_t n = A->rows, *rank = TL_NEW(int32_t, n);
    int64_t upper = 0;
    for (int32_t i = 0; i < n; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) upper += A->col[k] < n && A->col[k] != i;
    upper /= 2;
    if (f && rank) {
        f->n = n;
        f->parts = parts_for(n);
        f->order = TL_NEW(int32_t, n);
        f->up_start = TL_NEW(int64_t, (int64_t)n + 1);
        f->low_start = TL_NEW(int64_t, (int64_t)n + 1);
        f->up_col = TL_NEW(int32_t, upper);
        f->low_col = TL_NEW(int32_t, upper);
        f->low_at = TL_NEW(int64_t, upper);
        f->up = TL_NEW(double, upper);
        f->low = TL_NEW(double, upper);
        f->up_A = TL_NEW(double, upper);
        f->diag_A = TL_NEW(double, n);
        f->inverse = TL_NEW(double, n);
        f->t = TL_NEW(double, n);
    }
    if (!f || !rank || !f->order || !f->up_start || !f->low_start || !f->up_col || !f->low_col || !f->low_at ||
        !f->up || !f->low || !f->up_A || !f->diag_A || !f->inverse || !f->t) {
        free_factor(f);
        tl_free(rank);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a preconditioner of %d rows", n);
    }
    int32_t one_sided = one_sided_row(A, f->low_start);
    if (one_sided >= 0) {
        free_factor(f);
        tl_free(rank);
        return TL_FAIL(err, TALUS_BAD_INPUT,
                       "a preconditioner needs a symmetric pattern; row %d has an entry on one side", one_sided);
    }
    choose_order(f, A);
    for (int32_t i = 0; i < n; i++) rank[f->order[i]] = i;
    fill_pattern(f, A, rank);
    tl_free(rank);
    P->data = f;
    P->kind->update(P, NULL);
    return TALUS_OK;
}

static void free_precond(tl_precond *P) { free_factor(P->data); }

/* Copy D L^T into lower rows, so that both sweeps of apply stream. */
static void copy_lower(factor *f)
{
#pragma omp parallel for schedule(static) if (f->n >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < f->n; i++)
        for (int64_t k = f->low_start[i]; k < f->low_start[i + 1]; k++) f->low[k] = f->up[f->low_at[k]];
}

static double diagonal(const factor *f, int32_t i, double shift, const double *add_diag)
{
    return (1 + shift) * f->diag_A[i] + (add_diag ? add_diag[f->order[i]] : 0);
}

static void ssor_update(tl_precond *P, const double *add_diag)
{
    factor *f = P->data;
    memcpy(f->up, f->up_A, sizeof(double) * (size_t)f->up_start[f->n]);
    for (int32_t i = 0; i < f->n; i++) {
        double d = diagonal(f, i, 0, add_diag);
        f->inverse[i] = d > 0 ? 1 / d : 1;
    }
    copy_lower(f);
}

/* Subtract l_ik (row k of D L^T) from row i; what falls outside of row i's pattern is returned. */
static double eliminate(factor *f, int32_t i, int32_t k, double l_ik)
{
    double dropped = 0;
    int64_t own = f->up_start[i], own_end = f->up_start[i + 1];
    int64_t lower = f->low_start[i], lower_end = f->low_start[i + 1];
    for (int64_t q = f->up_start[k]; q < f->up_start[k + 1]; q++) {
        int32_t j = f->up_col[q];
        if (j == i) continue;
        if (j < i) { /* an entry left of the diagonal: symmetric to one that its own row keeps or drops */
            while (lower < lower_end && f->low_col[lower] < j) lower++;
            if (lower == lower_end || f->low_col[lower] != j) dropped += l_ik * f->up[q];
        } else {
            while (own < own_end && f->up_col[own] < j) own++;
            if (own < own_end && f->up_col[own] == j)
                f->up[own] -= l_ik * f->up[q];
            else
                dropped += l_ik * f->up[q];
        }
    }
    return dropped;
}

/* Rows [begin, end) in order. Returns false at a pivot that is not positive (ic only). */
static bool factor_rows(factor *f, int32_t begin, int32_t end, double tau, double sigma, double shift,
                        const double *add_diag)
{
    for (int32_t i = begin; i < end; i++) {
        double a_ii = diagonal(f, i, shift, add_diag), d = a_ii;
        for (int64_t k = f->up_start[i]; k < f->up_start[i + 1]; k++) f->up[k] = f->up_A[k];
        for (int64_t k = f->low_start[i]; k < f->low_start[i + 1]; k++) {
            int32_t row = f->low_col[k];
            double u = f->up[f->low_at[k]], l = u * f->inverse[row];
            d -= l * u + tau * eliminate(f, i, row, l);
        }
        if (sigma > 0 && d < sigma * a_ii) d = a_ii;
        if (!(d > 0)) {
            if (sigma == 0 && a_ii > 0) return false;
            d = 1; /* a row without a positive diagonal is left alone */
        }
        f->inverse[i] = 1 / d;
    }
    return true;
}

static bool factorize(factor *f, double tau, double sigma, double shift, const double *add_diag)
{
    bool good[MAX_PARTS];
#pragma omp parallel for schedule(static) if (f->parts > 1)
    for (int p = 0; p < f->parts; p++)
        good[p] = factor_rows(f, f->part_begin[p], f->part_begin[p + 1], tau, sigma, shift, add_diag);
    for (int p = 0; p < f->parts; p++)
        if (!good[p]) return false;
    if (!factor_rows(f, f->part_begin[f->parts], f->n, tau, sigma, shift, add_diag)) return false;
    copy_lower(f);
    return true;
}

static void ic_update(tl_precond *P, const double *add_diag)
{
    P->shift = 0;
    while (!factorize(P->data, 0, 0, P->shift, add_diag)) {
        if (P->shift > SHIFT_MAX) { /* not a number somewhere: any defined factor will do */
            factorize(P->data, 0, MIC_SIGMA, P->shift, add_diag);
            return;
        }
        P->shift = P->shift > 0 ? 2 * P->shift : 1e-3;
    }
}

static void mic_update(tl_precond *P, const double *add_diag) { factorize(P->data, MIC_TAU, MIC_SIGMA, 0, add_diag); }

static void forward(const factor *f, int32_t begin, int32_t end, const double *restrict r, double *t)
{
    for (int32_t i = begin; i < end; i++) {
        double s = r[f->order[i]];
        for (int64_t k = f->low_start[i]; k < f->low_start[i + 1]; k++) s -= f->low[k] * t[f->low_col[k]];
        t[i] = s * f->inverse[i];
    }
}

static void backward(const factor *f, int32_t begin, int32_t end, double *t, double *restrict z)
{
    for (int32_t i = end; i-- > begin;) {
        double s = 0;
        for (int64_t k = f->up_start[i]; k < f->up_start[i + 1]; k++) s += f->up[k] * t[f->up_col[k]];
        t[i] -= s * f->inverse[i];
        z[f->order[i]] = t[i];
    }
}

static void apply(const tl_precond *P, const double *r, double *z)
{
    const factor *f = P->data;
    int32_t border = f->part_begin[f->parts];
#pragma omp parallel for schedule(static) if (f->parts > 1)
    for (int p = 0; p < f->parts; p++) forward(f, f->part_begin[p], f->part_begin[p + 1], r, f->t);
    forward(f, border, f->n, r, f->t);
    backward(f, border, f->n, f->t, z);
#pragma omp parallel for schedule(static) if (f->parts > 1)
    for (int p = 0; p < f->parts; p++) backward(f, f->part_begin[p], f->part_begin[p + 1], f->t, z);
}

const tl_precond_kind tl_precond_ssor = {"ssor",      "symmetric Gauss-Seidel", create_factor, ssor_update, apply,
                                         free_precond};
const tl_precond_kind tl_precond_ic = {"ic",          "incomplete Cholesky without fill, shifted where it breaks down",
                                       create_factor, ic_update,
                                       apply,         free_precond};
const tl_precond_kind tl_precond_mic = {
    "mic", "modified incomplete Cholesky (tau 0.97, sigma 0.25)", create_factor, mic_update, apply, free_precond};
