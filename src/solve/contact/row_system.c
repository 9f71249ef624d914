#include "solve/contact/row_system.h"

#include <math.h>
#include <string.h>

#define SHARE 1e-10   /* of the diagonal, added to the factor: what no row decides, the least impulse does; chosen */
#define CORRECTIONS 6 /* at most, of an answer with that factor; */
#define RIGHT 1e-14   /* of the largest right side: it is put right */
#define SETS 30       /* of rows at bounds that are tried; then sweeps, which always lead somewhere */
#define SWEEPS 200

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for rows of joints");
}

static double lo_of(const tl_row_system *s, int32_t k) { return s->box[k / 3].lo[k % 3]; }
static double hi_of(const tl_row_system *s, int32_t k) { return s->box[k / 3].hi[k % 3]; }

/* ---- J and M ---- */

static double row_speed(const tl_row_system *s, int32_t k, const double *v)
{
    const tl_csr *J = s->bodies->J;
    double u = 0;
    for (int64_t e = J->start[k]; e < J->start[k + 1]; e++) u += J->val[e] * v[J->col[e]];
    return u;
}

/* v += M^-1 J_k^T lam */
static void push_row(const tl_row_system *s, int32_t k, double lam, double *v)
{
    const tl_csr *J = s->bodies->J;
    if (lam == 0) return;
    for (int64_t e = J->start[k]; e < J->start[k + 1]; e++) {
        const int32_t body = J->col[e] / 6, part = J->col[e] % 6;
        const double p = lam * J->val[e];
        double *u = v + 6 * (int64_t)body;
        if (part < 3) {
            u[part] += s->bodies->inv_mass[body] * p;
            continue;
        }
        const double *inverse = s->bodies->inv_inertia + 9 * (int64_t)body;
        for (int i = 0; i < 3; i++) u[3 + i] += inverse[3 * i + part - 3] * p;
    }
}

/* ---- the envelope ---- */

static bool moves(const tl_row_system *s, int32_t body) { return s->bodies->inv_mass[body] > 0; }

/* Rows that share a moving body lie in one envelope. Returns its size. */
static int64_t outline(tl_row_system *s, int32_t *seen)
{
    const tl_csr *J = s->bodies->J;
    int64_t size = 0;
    for (int32_t i = 0; i < s->bodies->count; i++) seen[i] = -1;
    for (int32_t k = 0; k < s->rows; k++) {
        int32_t first = k;
        for (int64_t e = J->start[k]; e < J->start[k + 1]; e++) {
            const int32_t body = J->col[e] / 6;
            if (!moves(s, body)) continue;
            if (seen[body] < 0) seen[body] = k;
            if (seen[body] < first) first = seen[body];
        }
        s->first[k] = first;
        s->start[k] = size - first;
        size += k - first + 1;
    }
    return size;
}

static void fill(tl_row_system *s, double *v)
{
    const tl_csr *J = s->bodies->J;
    for (int32_t k = 0; k < s->rows; k++) {
        push_row(s, k, 1, v);
        for (int32_t j = s->first[k]; j <= k; j++) s->A[s->start[k] + j] = row_speed(s, j, v);
        s->A[s->start[k] + k] += s->box[k / 3].give[k % 3];
        s->D[k] = s->A[s->start[k] + k];
        for (int64_t e = J->start[k]; e < J->start[k + 1]; e++)
            memset(v + 6 * (int64_t)(J->col[e] / 6), 0, 6 * sizeof *v);
    }
}

/* Rows that hold: between their bounds; in a push, those that have none. */
static bool holds(const tl_row_system *s, int32_t k)
{
    if (s->at[k] != TL_ROW_FREE) return false;
    return !s->pushed || (isinf(lo_of(s, k)) && isinf(hi_of(s, k)));
}

/* Cholesky of rows that hold; others are rows of the identity. */
static void factor(tl_row_system *s)
{
    for (int32_t i = 0; i < s->rows; i++) {
        const double *A = s->A + s->start[i];
        double *L = s->L + s->start[i];
        for (int32_t j = s->first[i]; j < i; j++) {
            const double *other = s->L + s->start[j];
            double sum = A[j];
            if (!holds(s, i) || !holds(s, j)) sum = 0;
            for (int32_t k = s->first[i] > s->first[j] ? s->first[i] : s->first[j]; k < j; k++) sum -= L[k] * other[k];
            L[j] = sum / other[j];
        }
        double pivot = (1 + SHARE) * s->D[i];
        for (int32_t k = s->first[i]; k < i; k++) pivot -= L[k] * L[k];
        L[i] = holds(s, i) ? sqrt(fmax(pivot, 0.5 * SHARE * s->D[i])) : 1;
    }
    s->factored = true;
}

static void substitute(const tl_row_system *s, double *x)
{
    for (int32_t i = 0; i < s->rows; i++) {
        const double *L = s->L + s->start[i];
        for (int32_t k = s->first[i]; k < i; k++) x[i] -= L[k] * x[k];
        x[i] /= L[i];
    }
    for (int32_t i = s->rows - 1; i >= 0; i--) {
        const double *L = s->L + s->start[i];
        x[i] /= L[i];
        for (int32_t k = s->first[i]; k < i; k++) x[k] -= L[k] * x[i];
    }
}

/* out = A x */
static void multiply(const tl_row_system *s, const double *x, double *out)
{
    for (int32_t i = 0; i < s->rows; i++) {
        const double *A = s->A + s->start[i];
        double sum = A[i] * x[i];
        for (int32_t k = s->first[i]; k < i; k++) {
            sum += A[k] * x[k];
            out[k] += A[k] * x[i];
        }
        out[i] = sum;
    }
}

/* x of free rows with A x = rhs there, and x of the others as it is. */
static void solve_free(tl_row_system *s, const double *rhs, double *x)
{
    double size = 0;
    if (!s->factored) factor(s);
    for (int32_t i = 0; i < s->rows; i++) {
        if (holds(s, i)) x[i] = 0;
        size = fmax(size, fabs(rhs[i]));
    }
    for (int round = 0; round < CORRECTIONS; round++) {
        double off = 0;
        multiply(s, x, s->r);
        for (int32_t i = 0; i < s->rows; i++) {
            s->r[i] = holds(s, i) ? rhs[i] - s->r[i] : 0;
            off = fmax(off, fabs(s->r[i]));
        }
        if (!(off > RIGHT * size)) return;
        substitute(s, s->r);
        for (int32_t i = 0; i < s->rows; i++)
            if (holds(s, i)) x[i] += s->r[i];
    }
}

/* ---- answers ---- */

/* Rows that pull the wrong way leave or join their bounds. True: the set is another one. */
static bool change_set(tl_row_system *s)
{
    bool changed = false;
    multiply(s, s->x, s->r);
    for (int32_t k = 0; k < s->rows; k++) {
        const double lo = lo_of(s, k), hi = hi_of(s, k), u = s->r[k] + s->b[k];
        const int now = (int)s->at[k];
        if (now == TL_ROW_FREE && s->x[k] < lo) s->at[k] = TL_ROW_LO;
        if (now == TL_ROW_FREE && s->x[k] > hi) s->at[k] = TL_ROW_HI;
        if (now == TL_ROW_LO && u < 0 && lo < hi) s->at[k] = TL_ROW_FREE;
        if (now == TL_ROW_HI && u > 0 && lo < hi) s->at[k] = TL_ROW_FREE;
        changed |= (int)s->at[k] != now;
    }
    if (changed) s->factored = false;
    return changed;
}

static void set_bounds(tl_row_system *s)
{
    for (int32_t k = 0; k < s->rows; k++) {
        if (s->at[k] == TL_ROW_IDLE) s->x[k] = 0;
        if (s->at[k] == TL_ROW_LO) s->x[k] = lo_of(s, k);
        if (s->at[k] == TL_ROW_HI) s->x[k] = hi_of(s, k);
    }
}

/* Sets that come back: one row after the other, which takes energy of the problem away each time. */
static void sweep(tl_row_system *s)
{
    for (int32_t k = 0; k < s->rows; k++) s->x[k] = tl_contact_clamp(s->x[k], lo_of(s, k), hi_of(s, k));
    for (int round = 0; round < SWEEPS; round++) {
        multiply(s, s->x, s->r);
        for (int32_t k = 0; k < s->rows; k++) {
            if (s->at[k] == TL_ROW_IDLE) continue;
            const double x = tl_contact_clamp(s->x[k] - (s->r[k] + s->b[k]) / s->D[k], lo_of(s, k), hi_of(s, k)),
                         d = x - s->x[k];
            s->x[k] = x;
            for (int32_t j = s->first[k]; j <= k; j++) s->r[j] += s->A[s->start[k] + j] * d;
            for (int32_t j = k + 1; j < s->rows; j++)
                if (s->first[j] <= k) s->r[j] += s->A[s->start[j] + k] * d;
        }
    }
}

void tl_row_system_respond(tl_row_system *s, double *v)
{
    if (s->pushed) s->pushed = s->factored = false;
    bool again = true;
    for (int32_t k = 0; k < s->rows; k++) {
        s->b[k] = row_speed(s, k, v) + s->bias[k];
        s->rhs[k] = -s->b[k];
        s->x[k] = s->lam[k];
    }
    for (int round = 0; round < SETS && again; round++) {
        set_bounds(s);
        solve_free(s, s->rhs, s->x);
        again = change_set(s);
    }
    if (again) sweep(s);
    memcpy(s->lam, s->x, sizeof *s->lam * (size_t)s->rows);
    for (int32_t k = 0; k < s->rows; k++) push_row(s, k, s->lam[k], v);
}

void tl_row_system_push(tl_row_system *s, double *v)
{
    if (!s->pushed) s->factored = false;
    s->pushed = true;
    for (int32_t k = 0; k < s->rows; k++) {
        s->rhs[k] = -row_speed(s, k, v);
        s->x[k] = 0;
    }
    solve_free(s, s->rhs, s->x);
    for (int32_t k = 0; k < s->rows; k++) push_row(s, k, s->x[k], v);
}

double tl_row_system_residual(const tl_row_system *s, const double *v, const double *lam)
{
    double max = 0;
    for (int32_t k = 0; k < s->rows; k++) {
        if (s->at[k] == TL_ROW_IDLE) continue;
        const double u = row_speed(s, k, v) + s->bias[k] + s->box[k / 3].give[k % 3] * lam[k];
        const double e = s->D[k] * fabs(lam[k] - tl_contact_clamp(lam[k] - u / s->D[k], lo_of(s, k), hi_of(s, k)));
        if (!(e <= max)) max = e; /* NaN comes through */
    }
    return max;
}

talus_status tl_row_system_begin(tl_row_system *out, const tl_contact_bodies *bodies, const tl_contact_box *box,
                                 const double *bias, const double *lam, tl_arena *a, talus_error *err)
{
    const int32_t n = bodies->J->rows;
    *out = (tl_row_system){.bodies = bodies, .box = box, .bias = bias, .rows = n};
    out->first = TL_TAKE(a, int32_t, n);
    out->start = TL_TAKE(a, int64_t, n);
    int32_t *seen = TL_TAKE(a, int32_t, bodies->count);
    double *v = TL_TAKE_ZERO(a, double, 6 * (int64_t)bodies->count), *room = TL_TAKE(a, double, 6 * (int64_t)n);
    out->at = tl_arena_take(a, sizeof *out->at * (size_t)n);
    if (!out->first || !out->start || !seen || !v || !room || !out->at) return no_memory(err);
    double **const part[] = {&out->D, &out->lam, &out->b, &out->x, &out->r, &out->rhs};
    for (int i = 0; i < 6; i++) *part[i] = room + (int64_t)i * n;
    const int64_t size = outline(out, seen);
    out->A = TL_TAKE(a, double, size);
    out->L = TL_TAKE(a, double, size);
    if (!out->A || !out->L) return no_memory(err);
    fill(out, v);
    for (int32_t k = 0; k < n; k++) {
        const double lo = lo_of(out, k), hi = hi_of(out, k);
        out->lam[k] = tl_contact_clamp(lam[k], lo, hi);
        out->at[k] = !(out->D[k] > 0) || (lo == 0 && hi == 0) ? TL_ROW_IDLE
                     : lo == hi || out->lam[k] <= lo          ? TL_ROW_LO
                     : out->lam[k] >= hi                      ? TL_ROW_HI
                                                              : TL_ROW_FREE;
    }
    return TALUS_OK;
}
