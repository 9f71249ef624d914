#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "io/capture_inside.h"

/* ---- writing ---- */

/* Matrices of all parts as one, block by block. */
static talus_status stack(const tl_flex *p, bool roots, tl_csr *out, talus_error *err)
{
    int64_t rows = 0, nonzeros = 0;
    for (int32_t b = 0; b < p->parts; b++) {
        const tl_csr *A = roots ? p->part[b].roots : p->part[b].H;
        rows += A->rows;
        nonzeros += A->start[A->rows];
    }
    if (rows > INT32_MAX || p->n > INT32_MAX)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "%lld rows are too many for a file", (long long)rows);
    TL_TRY(tl_csr_create(out, (int32_t)rows, (int32_t)p->n, nonzeros, err));
    int64_t at = 0, used = 0;
    for (int32_t b = 0; b < p->parts; b++) {
        const tl_csr *A = roots ? p->part[b].roots : p->part[b].H;
        for (int32_t i = 0; i < A->rows; i++) {
            for (int64_t k = A->start[i]; k < A->start[i + 1]; k++, used++) {
                out->col[used] = (int32_t)p->part[b].first + A->col[k];
                out->val[used] = A->val[k];
            }
            out->start[++at] = used;
        }
    }
    return TALUS_OK;
}

/* Values beyond the diagonal from those before it, which are met in rising order of their rows. */
static talus_status mirror(tl_csr *A, talus_error *err)
{
    int64_t *next = TL_NEW(int64_t, (int64_t)A->rows + 1);
    if (!next) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write a matrix of %d rows", (int)A->rows);
    for (int32_t i = 0; i < A->rows; i++) {
        next[i] = A->start[i];
        for (int64_t k = A->start[i]; k < A->start[i + 1] && A->col[k] <= i; k++) {
            const int32_t j = A->col[k];
            next[i] = k + 1;
            if (j < i) A->val[next[j]++] = A->val[k];
        }
    }
    tl_free(next);
    return TALUS_OK;
}

static talus_status put_stacked(tl_h5 *f, const char *name, const tl_flex *p, bool roots, talus_error *err)
{
    tl_csr all = {0};
    talus_status status = stack(p, roots, &all, err);
    if (status == TALUS_OK && !roots) status = mirror(&all, err);
    if (status == TALUS_OK) status = tl_csr_check(&all, err);
    if (status == TALUS_OK) status = tl_capture_put_csr(f, name, &all, err);
    tl_csr_free(&all);
    return status;
}

static talus_status put_parts(tl_h5 *f, const tl_flex *p, bool roots, double *first, double *mass, talus_error *err)
{
    double rows = 0;
    for (int32_t b = 0; b < p->parts; b++) {
        first[b] = (double)p->part[b].first;
        memcpy(mass + p->part[b].first, p->part[b].mass, sizeof *mass * (size_t)p->part[b].H->rows);
    }
    TL_TRY(tl_capture_put_doubles(f, "first", p->parts, first, err));
    TL_TRY(tl_capture_put_doubles(f, "mass", p->n, mass, err));
    TL_TRY(put_stacked(f, "A", p, false, err));
    if (!roots) return TALUS_OK;
    for (int32_t b = 0; b < p->parts; b++) {
        first[b] = rows;
        rows += p->part[b].roots->rows;
    }
    TL_TRY(tl_capture_put_doubles(f, "root", p->parts, first, err));
    return put_stacked(f, "R", p, true, err);
}

static talus_status put_boxes(tl_h5 *f, const tl_flex *p, double *x, talus_error *err)
{
    const int64_t n = 3 * (int64_t)p->boxes;
    double *lo = x, *hi = x + n, *give = x + 2 * n;
    for (int64_t k = 0; k < n; k++) {
        lo[k] = p->box[k / 3].lo[k % 3];
        hi[k] = p->box[k / 3].hi[k % 3];
        give[k] = p->box[k / 3].give[k % 3];
    }
    TL_TRY(tl_capture_put_doubles(f, "lo", n, lo, err));
    TL_TRY(tl_capture_put_doubles(f, "hi", n, hi, err));
    return tl_capture_put_doubles(f, "give", n, give, err);
}

talus_status tl_capture_put_flex(tl_h5 *f, const void *problem, talus_error *err)
{
    const tl_flex *p = problem;
    const int64_t m = p->contacts;
    bool roots = p->parts > 0;
    for (int32_t b = 0; b < p->parts; b++) roots = roots && p->part[b].roots && p->part[b].roots->start;
    double *x = TL_NEW(double, p->parts + p->n + 9 * (int64_t)p->boxes + 1);
    if (!x) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write %lld unknowns", (long long)p->n);
    talus_status status = put_parts(f, p, roots, x, x + p->parts, err);
    if (status == TALUS_OK && p->boxes) status = put_boxes(f, p, x, err);
    tl_free(x);
    TL_TRY(status);
    TL_TRY(tl_h5_put_int(f, "law", p->law, err));
    TL_TRY(tl_capture_put_csr(f, "J", p->J, err));
    TL_TRY(tl_capture_put_doubles(f, "g", p->n, p->g, err));
    TL_TRY(tl_capture_put_doubles(f, "c", 3 * m, p->c, err));
    TL_TRY(tl_capture_put_doubles(f, "mu", m, p->mu, err));
    TL_TRY(tl_capture_put_doubles(f, "inv_mass", p->rigid, p->inv_mass, err));
    return tl_capture_put_doubles(f, "inv_inertia", 9 * (int64_t)p->rigid, p->inv_inertia, err);
}

/* ---- reading ---- */

/* [parts] offsets from 0 that rise, below `end`. */
static talus_status check_offsets(const char *name, int32_t parts, const double *first, int64_t end, talus_error *err)
{
    for (int32_t b = 0; b < parts; b++)
        if (!(first[b] >= (b ? first[b - 1] : 0) && first[b] <= (double)end) || first[b] != floor(first[b]) ||
            (b == 0 && first[b] != 0))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s[%d] is %g: offsets rise from 0 to at most %lld", name, (int)b,
                           first[b], (long long)end);
    return TALUS_OK;
}

/* Rows and columns of one part out of the matrix of all. */
static talus_status cut(const tl_csr *all, int64_t row, int64_t rows, int64_t col, int64_t cols, tl_csr *out,
                        talus_error *err)
{
    const int64_t from = all->start[row];
    TL_TRY(tl_csr_create(out, (int32_t)rows, (int32_t)cols, all->start[row + rows] - from, err));
    for (int64_t i = 0; i <= rows; i++) out->start[i] = all->start[row + i] - from;
    for (int64_t k = 0; k < out->start[rows]; k++) {
        const int64_t j = all->col[from + k] - col;
        if (j < 0 || j >= cols)
            return TL_FAIL(err, TALUS_BAD_INPUT, "a part's rows from %lld have column %lld of another part",
                           (long long)row, (long long)(j + col));
        out->col[k] = (int32_t)j;
        out->val[k] = all->val[from + k];
    }
    return TALUS_OK;
}

/* Symmetric, with a diagonal that is positive. */
static talus_status check_matrix(const tl_csr *H, talus_error *err)
{
    tl_csr T = {0};
    TL_TRY(tl_csr_transpose(&T, H, err));
    bool same = true;
    for (int64_t k = 0; k < H->start[H->rows] && same; k++) same = T.col[k] == H->col[k] && T.val[k] == H->val[k];
    for (int32_t i = 0; i <= H->rows && same; i++) same = T.start[i] == H->start[i];
    tl_csr_free(&T);
    if (!same) return TL_FAIL(err, TALUS_BAD_INPUT, "matrix A is not symmetric");
    for (int32_t i = 0; i < H->rows; i++) {
        bool positive = false;
        for (int64_t k = H->start[i]; k < H->start[i + 1]; k++) positive |= H->col[k] == i && H->val[k] > 0;
        if (!positive) return TL_FAIL(err, TALUS_BAD_INPUT, "matrix A has no positive diagonal in row %d", (int)i);
    }
    return TALUS_OK;
}

static talus_status get_parts(tl_captured *c, tl_h5 *f, talus_error *err)
{
    tl_flex *p = &c->flex;
    int64_t parts;
    const double *first, *mass, *root = NULL;
    TL_TRY(tl_h5_count(f, "first", TL_H5_DOUBLE, &parts, err));
    if (parts > p->n)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%lld parts of %lld unknowns", (long long)parts, (long long)p->n);
    TL_TRY(tl_capture_get_doubles(c, f, "first", parts, &first, err));
    TL_TRY(tl_capture_get_doubles(c, f, "mass", p->n, &mass, err));
    TL_TRY(check_offsets("first", (int32_t)parts, first, p->n, err));
    TL_TRY(check_matrix(&c->A, err));
    for (int64_t i = 0; i < p->n; i++)
        if (!(mass[i] > 0 && isfinite(mass[i])))
            return TL_FAIL(err, TALUS_BAD_INPUT, "mass[%lld] is %g, must be > 0", (long long)i, mass[i]);
    if (tl_h5_has_array(f, "R/start")) {
        TL_TRY(tl_capture_get_csr(f, "R", (int32_t)p->n, &c->R, err));
        TL_TRY(tl_capture_get_doubles(c, f, "root", parts, &root, err));
        TL_TRY(check_offsets("root", (int32_t)parts, root, c->R.rows, err));
    }
    p->parts = (int32_t)parts;
    c->part = TL_NEW_ZERO(tl_flex_part, parts + 1);
    c->H = TL_NEW_ZERO(tl_csr, 2 * parts + 1);
    if (!c->part || !c->H) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld parts", (long long)parts);
    p->part = c->part;
    for (int64_t b = 0; b < parts; b++) {
        const int64_t at = (int64_t)first[b], end = b + 1 < parts ? (int64_t)first[b + 1] : p->n;
        TL_TRY(cut(&c->A, at, end - at, at, end - at, &c->H[b], err));
        c->part[b] = (tl_flex_part){.first = at, .H = &c->H[b], .mass = mass + at};
        if (!root) continue;
        const int64_t row = (int64_t)root[b], last = b + 1 < parts ? (int64_t)root[b + 1] : c->R.rows;
        TL_TRY(cut(&c->R, row, last - row, at, end - at, &c->H[parts + b], err));
        c->part[b].roots = &c->H[parts + b];
    }
    return TALUS_OK;
}

static talus_status get_boxes(tl_captured *c, tl_h5 *f, talus_error *err)
{
    tl_flex *p = &c->flex;
    int64_t n;
    const double *lo, *hi, *give;
    TL_TRY(tl_h5_count(f, "lo", TL_H5_DOUBLE, &n, err));
    if (n % 3 != 0 || n / 3 > p->contacts)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%lld rows of joints among %d contacts", (long long)n, (int)p->contacts);
    TL_TRY(tl_capture_get_doubles(c, f, "lo", n, &lo, err));
    TL_TRY(tl_capture_get_doubles(c, f, "hi", n, &hi, err));
    TL_TRY(tl_capture_get_doubles(c, f, "give", n, &give, err));
    if (!(c->box = TL_NEW(tl_contact_box, n / 3 + 1)))
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld rows of joints", (long long)n);
    for (int64_t k = 0; k < n; k++) {
        if (!(lo[k] <= hi[k]) || lo[k] == INFINITY || hi[k] == -INFINITY || !(give[k] >= 0 && isfinite(give[k])))
            return TL_FAIL(err, TALUS_BAD_INPUT, "row %lld of joints has bounds [%g, %g] and gives %g", (long long)k,
                           lo[k], hi[k], give[k]);
        c->box[k / 3].lo[k % 3] = lo[k];
        c->box[k / 3].hi[k % 3] = hi[k];
        c->box[k / 3].give[k % 3] = give[k];
    }
    p->box = c->box;
    p->boxes = (int32_t)(n / 3);
    return TALUS_OK;
}

static talus_status check_flex(const tl_flex *p, talus_error *err)
{
    TL_TRY(tl_capture_check_finite("g", p->n, p->g, err));
    TL_TRY(tl_capture_check_finite("c", 3 * (int64_t)p->contacts, p->c, err));
    TL_TRY(tl_capture_check_finite("inv_inertia", 9 * (int64_t)p->rigid, p->inv_inertia, err));
    for (int32_t k = 0; k < p->contacts - p->boxes; k++)
        if (!(p->mu[k] >= 0 && isfinite(p->mu[k])))
            return TL_FAIL(err, TALUS_BAD_INPUT, "mu[%d] is %g, must be >= 0 and finite", (int)k, p->mu[k]);
    for (int32_t b = 0; b < p->rigid; b++) {
        if (!(p->inv_mass[b] >= 0 && isfinite(p->inv_mass[b])))
            return TL_FAIL(err, TALUS_BAD_INPUT, "inv_mass[%d] is %g, must be >= 0 and finite", (int)b, p->inv_mass[b]);
        if (p->inv_mass[b] > 0) continue;
        for (int64_t k = 0; k < p->J->start[p->J->rows]; k++)
            if (p->J->col[k] >= p->n && (p->J->col[k] - p->n) / 6 == b)
                return TL_FAIL(err, TALUS_BAD_INPUT, "J has entries of body %d, which is fixed", (int)b);
    }
    return TALUS_OK;
}

talus_status tl_capture_get_flex(tl_captured *c, tl_h5 *f, talus_error *err)
{
    tl_flex *p = &c->flex;
    int64_t contacts, rigid, law;
    TL_TRY(tl_h5_count(f, "mu", TL_H5_DOUBLE, &contacts, err));
    TL_TRY(tl_h5_count(f, "inv_mass", TL_H5_DOUBLE, &rigid, err));
    TL_TRY(tl_h5_get_int(f, "law", &law, err));
    if (contacts > INT32_MAX / 3 || rigid > INT32_MAX / 9 || c->A.rows + 6 * rigid > INT32_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%lld contacts and %lld bodies are too many", (long long)contacts,
                       (long long)rigid);
    if (law < TL_FLEX_CONE || law > TL_FLEX_STICKY)
        return TL_FAIL(err, TALUS_BAD_INPUT, "law %lld is not one of 0 (cone), 1 (pyramid), 2 (sticky)",
                       (long long)law);
    *p = (tl_flex){.n = c->A.rows,
                   .rigid = (int32_t)rigid,
                   .contacts = (int32_t)contacts,
                   .J = &c->J,
                   .Jt = &c->Jt,
                   .law = (tl_flex_law)law};
    TL_TRY(get_parts(c, f, err));
    TL_TRY(tl_capture_get_csr(f, "J", (int32_t)(p->n + 6 * rigid), &c->J, err));
    if (c->J.rows != 3 * contacts)
        return TL_FAIL(err, TALUS_BAD_INPUT, "J has %d rows for %lld contacts", (int)c->J.rows, (long long)contacts);
    TL_TRY(tl_csr_transpose(&c->Jt, &c->J, err));
    TL_TRY(tl_capture_get_doubles(c, f, "mu", contacts, &p->mu, err));
    TL_TRY(tl_capture_get_doubles(c, f, "g", p->n, &p->g, err));
    TL_TRY(tl_capture_get_doubles(c, f, "c", 3 * contacts, &p->c, err));
    TL_TRY(tl_capture_get_doubles(c, f, "inv_mass", rigid, &p->inv_mass, err));
    TL_TRY(tl_capture_get_doubles(c, f, "inv_inertia", 9 * rigid, &p->inv_inertia, err));
    if (tl_h5_has_array(f, "lo")) TL_TRY(get_boxes(c, f, err));
    c->space = tl_space_local(3 * contacts + tl_flex_size(p));
    return check_flex(p, err);
}

void tl_captured_free_flex(tl_captured *c)
{
    for (int32_t b = 0; c->H && b < 2 * c->flex.parts; b++) tl_csr_free(&c->H[b]);
    tl_csr_free(&c->Jt);
    tl_csr_free(&c->R);
    tl_free(c->H);
    tl_free(c->part);
    tl_free(c->box);
}
