#include "solve/viscous/levels.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"

#define LEVELS_MAX 16
#define DIRECT_MAX 300 /* unknowns of a level that is solved by a factor */
#define COARSENS 0.7   /* of the faces, at most: a level that keeps more is the last one */
#define DEGREE 3 /* of the polynomial before and after each coarse level: 2 costs 10 % more iterations, 4 gains 2 % */
#define LAST_DEGREE 8  /* where no factor is made */
#define RANGE 0.1      /* of the largest eigenvalue: what the polynomial damps begins here */
#define WORTH_TWO 2500 /* rows */

typedef struct matrix {
    int32_t rows;
    int64_t *start; /* [rows + 1] */
    int32_t *col;
    double *val;
} matrix;

typedef struct level {
    int32_t n;
    int8_t *axis;
    int32_t (*ijk)[3];
    int32_t period[3];
    bool *open;      /* [n] an unknown */
    matrix A, P, T;  /* P [n][next level], T = P^T; none at the last level */
    double *inverse; /* [n] of absolute row sums; 0 without an unknown */
    double *b, *x, *r, *d, *e;
} level;

struct tl_face_levels {
    int count;
    level level[LEVELS_MAX];
    int32_t dense, *which; /* unknowns of the last level, for its factor; 0: smoothed */
    double *factor;        /* [dense][dense] L of L L^T */
    double *y;             /* [dense] */
};

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the levels of a viscous liquid");
}

/* ---- coarse faces ---- */

typedef struct table {
    uint32_t mask;
    int32_t *number; /* [mask + 1] -1: empty */
    const level *of;
} table;

static uint32_t hash(int axis, const int32_t c[3])
{
    uint64_t h = (uint64_t)(uint32_t)c[0] * 0x9e3779b97f4a7c15u + (uint64_t)(uint32_t)c[1] * 0xc2b2ae3d27d4eb4fu +
                 (uint64_t)(uint32_t)c[2] * 0x165667b19e3779f9u + (uint64_t)(uint32_t)axis * 0xd6e8feb86659fd93u;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    return (uint32_t)(h >> 32);
}

/* Place of a face in the table: its own, or the empty one that would be. */
static uint32_t place(const table *t, int axis, const int32_t c[3])
{
    uint32_t at = hash(axis, c) & t->mask;
    for (;; at = (at + 1) & t->mask) {
        int32_t k = t->number[at];
        if (k < 0) return at;
        const int32_t *q = t->of->ijk[k];
        if (t->of->axis[k] == axis && q[0] == c[0] && q[1] == c[1] && q[2] == c[2]) return at;
    }
}

static bool halves(const level *l, int k) { return l->period[k] == 0 || l->period[k] % 2 == 0; }

static int32_t half(int32_t c) { return c >= 0 ? c / 2 : -((1 - c) / 2); }

/* Coarse faces: one wherever a face lies in its plane; numbered as these come. */
static bool find_faces(const level *fine, level *coarse, table *t, tl_arena *a)
{
    uint32_t size = 64;
    while (size < 2 * (uint32_t)fine->n) size *= 2;
    *t = (table){size - 1, TL_TAKE(a, int32_t, size), coarse};
    coarse->axis = TL_TAKE(a, int8_t, fine->n);
    coarse->ijk = tl_arena_take(a, sizeof *coarse->ijk * (size_t)fine->n);
    coarse->open = TL_TAKE(a, bool, fine->n);
    if (!t->number || !coarse->axis || !coarse->ijk || !coarse->open) return false;
    memset(t->number, 0xff, sizeof *t->number * size);
    for (int k = 0; k < 3; k++) coarse->period[k] = halves(fine, k) ? fine->period[k] / 2 : fine->period[k];
    coarse->n = 0;
    for (int32_t f = 0; f < fine->n; f++) {
        int axis = fine->axis[f];
        int32_t c[3];
        if (halves(fine, axis) && fine->ijk[f][axis] % 2) continue;
        for (int k = 0; k < 3; k++) c[k] = halves(fine, k) ? half(fine->ijk[f][k]) : fine->ijk[f][k];
        int32_t *number = &t->number[place(t, axis, c)];
        if (*number < 0) {
            *number = coarse->n;
            coarse->axis[coarse->n] = (int8_t)axis;
            memcpy(coarse->ijk[coarse->n], c, sizeof c);
            coarse->open[coarse->n++] = false;
        }
        coarse->open[*number] |= fine->open[f];
    }
    return true;
}

/* One or two coarse places along an axis, and their weights. */
static int along(const level *fine, bool normal, int k, int32_t c, int32_t at[2], double w[2])
{
    int count = 1;
    at[0] = c, w[0] = 1;
    if (!halves(fine, k)) return 1;
    at[0] = half(c);
    if (normal && c % 2 == 0) return 1;
    count = 2;
    at[1] = normal || c % 2 ? at[0] + 1 : at[0] - 1;
    w[0] = normal ? 0.5 : 0.75;
    w[1] = 1 - w[0];
    int32_t period = fine->period[k] / 2;
    for (int i = 0; i < 2 && period; i++) at[i] = (at[i] + period) % period;
    return count;
}

/* Row of P: the weights of faces that are there add up to one; closed ones have the value zero. */
static int row_of(const level *fine, const level *coarse, const table *t, int32_t f, int32_t col[8], double val[8])
{
    int32_t at[3][2];
    double w[3][2], all = 0;
    int count[3], n = 0, axis = fine->axis[f];
    for (int k = 0; k < 3; k++) count[k] = along(fine, k == axis, k, fine->ijk[f][k], at[k], w[k]);
    for (int x = 0; x < count[0]; x++)
        for (int y = 0; y < count[1]; y++)
            for (int z = 0; z < count[2]; z++) {
                const int32_t c[3] = {at[0][x], at[1][y], at[2][z]};
                int32_t number = t->number[place(t, axis, c)];
                double weight = w[0][x] * w[1][y] * w[2][z];
                if (number < 0) continue;
                all += weight;
                if (!coarse->open[number]) continue;
                int i = 0;
                while (i < n && col[i] != number) i++;
                if (i == n) val[n] = 0, col[n++] = number;
                val[i] += weight;
            }
    for (int i = 0; i < n; i++) val[i] /= all;
    return n;
}

static bool take_matrix(matrix *m, int32_t rows, tl_arena *a)
{
    *m = (matrix){.rows = rows, .start = TL_TAKE_ZERO(a, int64_t, (int64_t)rows + 1)};
    return m->start != NULL;
}

/* start holds counts shifted by one; they become offsets. */
static bool take_entries(matrix *m, tl_arena *a)
{
    for (int32_t i = 0; i < m->rows; i++) m->start[i + 1] += m->start[i];
    m->col = TL_TAKE(a, int32_t, m->start[m->rows]);
    m->val = TL_TAKE(a, double, m->start[m->rows]);
    return m->col && m->val;
}

static bool interpolate(level *fine, const level *coarse, const table *t, tl_arena *a)
{
    matrix *P = &fine->P;
    if (!take_matrix(P, fine->n, a)) return false;
#pragma omp parallel for schedule(static) if (fine->n >= WORTH_TWO)
    for (int32_t f = 0; f < fine->n; f++) {
        int32_t col[8];
        double val[8];
        P->start[f + 1] = fine->open[f] ? row_of(fine, coarse, t, f, col, val) : 0;
    }
    if (!take_entries(P, a)) return false;
#pragma omp parallel for schedule(static) if (fine->n >= WORTH_TWO)
    for (int32_t f = 0; f < fine->n; f++) {
        int32_t col[8];
        double val[8];
        if (!fine->open[f]) continue;
        int n = row_of(fine, coarse, t, f, col, val);
        memcpy(P->col + P->start[f], col, sizeof *col * (size_t)n);
        memcpy(P->val + P->start[f], val, sizeof *val * (size_t)n);
    }
    return true;
}

static bool transpose(const matrix *P, int32_t cols, matrix *T, tl_arena *a)
{
    if (!take_matrix(T, cols, a)) return false;
    for (int64_t k = 0; k < P->start[P->rows]; k++) T->start[P->col[k] + 1]++;
    if (!take_entries(T, a)) return false;
    for (int32_t f = 0; f < P->rows; f++)
        for (int64_t k = P->start[f]; k < P->start[f + 1]; k++) {
            int64_t at = T->start[P->col[k]]++;
            T->col[at] = f;
            T->val[at] = P->val[k];
        }
    for (int32_t i = cols; i > 0; i--) T->start[i] = T->start[i - 1];
    T->start[0] = 0;
    return true;
}

/* ---- products of matrices ---- */

/* Which columns a row of B C has: seen [cols] holds the last row that had one. */
static int64_t count_row(const matrix *B, const matrix *C, int32_t row, int32_t *seen)
{
    int64_t n = 0;
    for (int64_t k = B->start[row]; k < B->start[row + 1]; k++) {
        int32_t mid = B->col[k];
        for (int64_t j = C->start[mid]; j < C->start[mid + 1]; j++)
            if (seen[C->col[j]] != row) seen[C->col[j]] = row, n++;
    }
    return n;
}

/* at [cols] holds the place of a column in the last row that had it: below the start of this one where it is new. */
static void fill_row(const matrix *B, const matrix *C, int32_t row, int64_t *at, matrix *out)
{
    int64_t end = out->start[row];
    for (int64_t k = B->start[row]; k < B->start[row + 1]; k++) {
        int32_t mid = B->col[k];
        double b = B->val[k];
        for (int64_t j = C->start[mid]; j < C->start[mid + 1]; j++) {
            int32_t col = C->col[j];
            if (at[col] < out->start[row]) {
                at[col] = end;
                out->col[end] = col;
                out->val[end++] = 0;
            }
            out->val[at[col]] += b * C->val[j];
        }
    }
}

/* Each thread takes rising rows; a row does not depend on who takes it. */
static bool multiply(const matrix *B, const matrix *C, int32_t cols, matrix *out, tl_arena *a)
{
    int threads = B->rows >= WORTH_TWO ? tl_threads() : 1;
    if (!take_matrix(out, B->rows, a)) return false;
    int64_t *marks = TL_TAKE(a, int64_t, (int64_t)threads * cols);
    if (!marks) return false;
    int32_t *seen = (int32_t *)marks;
    memset(marks, 0xff, sizeof *marks * (size_t)threads * (size_t)cols);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int t = 0; t < threads; t++) {
        int32_t from = (int32_t)((int64_t)B->rows * t / threads), to = (int32_t)((int64_t)B->rows * (t + 1) / threads);
        for (int32_t i = from; i < to; i++) out->start[i + 1] = count_row(B, C, i, seen + (int64_t)t * cols);
    }
    if (!take_entries(out, a)) return false;
    memset(marks, 0xff, sizeof *marks * (size_t)threads * (size_t)cols);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int t = 0; t < threads; t++) {
        int32_t from = (int32_t)((int64_t)B->rows * t / threads), to = (int32_t)((int64_t)B->rows * (t + 1) / threads);
        for (int32_t i = from; i < to; i++) fill_row(B, C, i, marks + (int64_t)t * cols, out);
    }
    return true;
}

/* ---- levels ---- */

static bool take_vectors(level *l, tl_arena *a)
{
    double **v[] = {&l->inverse, &l->b, &l->x, &l->r, &l->d, &l->e};
    for (int k = 0; k < 6; k++)
        if (!(*v[k] = TL_TAKE_ZERO(a, double, l->n))) return false;
    for (int32_t i = 0; i < l->n; i++) {
        double sum = 0;
        for (int64_t k = l->A.start[i]; k < l->A.start[i + 1]; k++) sum += fabs(l->A.val[k]);
        l->inverse[i] = sum > 0 ? 1 / sum : 0;
    }
    return true;
}

static int32_t count_open(const level *l)
{
    int32_t n = 0;
    for (int32_t i = 0; i < l->n; i++) n += l->open[i];
    return n;
}

/* The next level; false in `more` where there is none to gain. A coarse face without an interpolated one is closed. */
static talus_status coarsen(level *fine, level *coarse, bool *more, tl_arena *a, talus_error *err)
{
    table t;
    matrix AP;
    *more = false;
    if (!find_faces(fine, coarse, &t, a)) return no_memory(err);
    if (count_open(coarse) > COARSENS * count_open(fine) || !coarse->n) return TALUS_OK;
    if (!interpolate(fine, coarse, &t, a) || !transpose(&fine->P, coarse->n, &fine->T, a)) return no_memory(err);
    if (!multiply(&fine->A, &fine->P, coarse->n, &AP, a) || !multiply(&fine->T, &AP, coarse->n, &coarse->A, a))
        return no_memory(err);
    for (int32_t i = 0; i < coarse->n; i++) coarse->open[i] = coarse->A.start[i + 1] > coarse->A.start[i];
    *more = take_vectors(coarse, a);
    return *more ? TALUS_OK : no_memory(err);
}

static double entry(const matrix *A, int32_t row, int32_t col)
{
    for (int64_t k = A->start[row]; k < A->start[row + 1]; k++)
        if (A->col[k] == col) return A->val[k];
    return 0;
}

/* L L^T of the last level; a pivot that is not positive leaves it to the polynomial. */
static talus_status factorise(tl_face_levels *l, tl_arena *a, talus_error *err)
{
    const level *last = &l->level[l->count - 1];
    int32_t n = count_open(last), at = 0;
    if (n > DIRECT_MAX) return TALUS_OK;
    l->which = TL_TAKE(a, int32_t, n);
    l->factor = TL_TAKE(a, double, (int64_t)n *n);
    l->y = TL_TAKE(a, double, n);
    if (!l->which || !l->factor || !l->y) return no_memory(err);
    for (int32_t i = 0; i < last->n; i++)
        if (last->open[i]) l->which[at++] = i;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j <= i; j++) {
            double *L = l->factor, sum = entry(&last->A, l->which[i], l->which[j]);
            for (int32_t k = 0; k < j; k++) sum -= L[(int64_t)i * n + k] * L[(int64_t)j * n + k];
            if (i == j && !(sum > 0)) return TALUS_OK;
            L[(int64_t)i * n + j] = i == j ? sqrt(sum) : sum / L[(int64_t)j * n + j];
        }
    l->dense = n;
    return TALUS_OK;
}

talus_status tl_face_levels_build(tl_face_levels **out, const tl_csr *K, const int8_t *axis, const int32_t (*ijk)[3],
                                  const int32_t period[3], tl_arena *a, talus_error *err)
{
    tl_face_levels *l = *out = TL_TAKE_ZERO(a, tl_face_levels, 1);
    if (!l) return no_memory(err);
    level *first = &l->level[0];
    *first = (level){.n = K->rows,
                     .axis = (int8_t *)axis,
                     .ijk = (int32_t(*)[3])ijk,
                     .open = TL_TAKE(a, bool, K->rows),
                     .A = {K->rows, K->start, K->col, K->val}};
    memcpy(first->period, period, sizeof first->period);
    if (!first->open || !take_vectors(first, a)) return no_memory(err);
    for (int32_t i = 0; i < K->rows; i++) first->open[i] = K->start[i + 1] > K->start[i];
    bool more = true;
    for (l->count = 1; l->count < LEVELS_MAX && more; l->count += more) {
        if (count_open(&l->level[l->count - 1]) <= DIRECT_MAX) break;
        TL_TRY(coarsen(&l->level[l->count - 1], &l->level[l->count], &more, a, err));
    }
    return factorise(l, a, err);
}

/* ---- the cycle ---- */

static double row_times(const matrix *A, int32_t i, const double *x)
{
    double sum = 0;
    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) sum += A->val[k] * x[A->col[k]];
    return sum;
}

/* x += polynomial of the residual r; r is kept up to date but for the last step. */
static void smooth(level *l, int degree)
{
    const double hi = 1, lo = RANGE, theta = 0.5 * (hi + lo), delta = 0.5 * (hi - lo), sigma = theta / delta;
    double rho = 1 / sigma;
#pragma omp parallel for schedule(static) if (l->n >= WORTH_TWO)
    for (int32_t i = 0; i < l->n; i++) {
        l->d[i] = l->inverse[i] * l->r[i] / theta;
        l->x[i] += l->d[i];
    }
    for (int k = 1; k < degree; k++) {
        double next = 1 / (2 * sigma - rho), keep = next * rho, add = 2 * next / delta;
#pragma omp parallel for schedule(static) if (l->n >= WORTH_TWO)
        for (int32_t i = 0; i < l->n; i++) {
            l->r[i] -= row_times(&l->A, i, l->d);
            l->e[i] = keep * l->d[i] + add * l->inverse[i] * l->r[i];
            l->x[i] += l->e[i];
        }
        double *swap = l->d;
        l->d = l->e;
        l->e = swap;
        rho = next;
    }
}

static void solve_last(tl_face_levels *l)
{
    level *last = &l->level[l->count - 1];
    const int32_t n = l->dense;
    const double *L = l->factor;
    double *y = l->y;
    for (int32_t i = 0; i < n; i++) {
        y[i] = last->b[l->which[i]];
        for (int32_t k = 0; k < i; k++) y[i] -= L[(int64_t)i * n + k] * y[k];
        y[i] /= L[(int64_t)i * n + i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        y[i] /= L[(int64_t)i * n + i];
        for (int32_t k = 0; k < i; k++) y[k] -= L[(int64_t)i * n + k] * y[i];
        last->x[l->which[i]] = y[i];
    }
}

/* x = about A^-1 b of a level. */
static void cycle(tl_face_levels *l, int at)
{
    level *here = &l->level[at];
    if (at == l->count - 1 && l->dense) {
        solve_last(l);
        return;
    }
    memset(here->x, 0, sizeof *here->x * (size_t)here->n);
    memcpy(here->r, here->b, sizeof *here->r * (size_t)here->n);
    smooth(here, at == l->count - 1 ? LAST_DEGREE : DEGREE);
    if (at == l->count - 1) return;
    level *next = &l->level[at + 1];
#pragma omp parallel for schedule(static) if (here->n >= WORTH_TWO)
    for (int32_t i = 0; i < here->n; i++) here->r[i] -= row_times(&here->A, i, here->d);
#pragma omp parallel for schedule(static) if (next->n >= WORTH_TWO)
    for (int32_t i = 0; i < next->n; i++) next->b[i] = row_times(&here->T, i, here->r);
    cycle(l, at + 1);
#pragma omp parallel for schedule(static) if (here->n >= WORTH_TWO)
    for (int32_t i = 0; i < here->n; i++) here->x[i] += row_times(&here->P, i, next->x);
#pragma omp parallel for schedule(static) if (here->n >= WORTH_TWO)
    for (int32_t i = 0; i < here->n; i++) here->r[i] = here->b[i] - row_times(&here->A, i, here->x);
    smooth(here, DEGREE);
}

void tl_face_levels_cycle(tl_face_levels *l, const double *r, double *z)
{
    level *first = &l->level[0];
    memcpy(first->b, r, sizeof *r * (size_t)first->n);
    cycle(l, 0);
    memcpy(z, first->x, sizeof *z * (size_t)first->n);
}
