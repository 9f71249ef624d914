#include "io/capture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/hdf5_file.h"
#include "io/matrix_market.h"
#include "talus_version.h"

#define FORMAT "talus problem"
#define FORMAT_VERSION 1

/* ---- the rules, for writing and reading alike ---- */

static talus_status check_finite(const char *name, int64_t n, const double *x, talus_error *err)
{
    for (int64_t i = 0; x && i < n; i++)
        if (!isfinite(x[i]))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s[%lld] is %g, must be finite", name, (long long)i, x[i]);
    return TALUS_OK;
}

static talus_status check_linear(const tl_linear *p, talus_error *err)
{
    return check_finite("b", p->space->n, p->b, err);
}

static talus_status check_boxqp(const tl_boxqp *p, talus_error *err)
{
    TL_TRY(check_finite("b", p->space->n, p->b, err));
    TL_TRY(check_finite("diag", p->space->n, p->diag, err));
    for (int64_t i = 0; i < p->space->n; i++) {
        double lo = p->lo ? p->lo[i] : -INFINITY, hi = p->hi ? p->hi[i] : INFINITY;
        if (!(lo <= hi) || lo == INFINITY || hi == -INFINITY)
            return TL_FAIL(err, TALUS_BAD_INPUT, "bounds [%g, %g] of unknown %lld are empty", lo, hi, (long long)i);
        if (p->diag && !(p->diag[i] > 0))
            return TL_FAIL(err, TALUS_BAD_INPUT, "diag[%lld] is %g, must be > 0", (long long)i, p->diag[i]);
    }
    return TALUS_OK;
}

static talus_status check_contact(const tl_contact *p, talus_error *err)
{
    TL_TRY(tl_contact_check(p, err));
    const tl_contact_bodies *b = p->bodies;
    if (!b) return TALUS_OK;
    if (b->J->rows != p->space->n || b->J->cols != 6 * (int64_t)b->count)
        return TL_FAIL(err, TALUS_BAD_INPUT, "J is %d x %d, expected %lld x %lld", (int)b->J->rows, (int)b->J->cols,
                       (long long)p->space->n, 6 * (long long)b->count);
    TL_TRY(tl_csr_check(b->J, err));
    TL_TRY(check_finite("inv_inertia", 9 * (int64_t)b->count, b->inv_inertia, err));
    TL_TRY(check_finite("v_free", 6 * (int64_t)b->count, b->v_free, err));
    for (int32_t i = 0; i < b->count; i++)
        if (!(b->inv_mass[i] >= 0 && isfinite(b->inv_mass[i])))
            return TL_FAIL(err, TALUS_BAD_INPUT, "inv_mass[%d] is %g, must be >= 0 and finite", (int)i, b->inv_mass[i]);
    return TALUS_OK;
}

static talus_status check_extras(int64_t n, const double *x0, const double *solution, talus_error *err)
{
    TL_TRY(check_finite("x0", n, x0, err));
    return check_finite("solution", n, solution, err);
}

/* ---- rows of an operator that has none ---- */

typedef struct columns {
    int64_t *start; /* [n + 1] */
    int32_t *row;
    double *val;
    int64_t room;
    double *x, *y; /* [n] */
} columns;

static void columns_free(columns *c)
{
    tl_free(c->start);
    tl_free(c->row);
    tl_free(c->val);
    tl_free(c->x);
    tl_free(c->y);
}

static int columns_grow(columns *c, int64_t need)
{
    if (need <= c->room) return 1;
    int64_t room = 2 * need;
    int32_t *row = tl_realloc(c->row, sizeof *row * (size_t)room);
    if (!row) return 0;
    c->row = row;
    double *val = tl_realloc(c->val, sizeof *val * (size_t)room);
    if (!val) return 0;
    c->val = val;
    c->room = room;
    return 1;
}

static talus_status probe_columns(columns *c, const tl_linop *A, const tl_space *s, talus_error *err)
{
    int64_t n = s->n;
    c->start = TL_NEW_ZERO(int64_t, n + 1);
    c->x = TL_NEW_ZERO(double, n);
    c->y = TL_NEW_ZERO(double, n);
    int good = c->start && c->x && c->y;
    for (int64_t j = 0; good && j < n; j++) {
        int64_t at = c->start[j];
        if (!(good = columns_grow(c, at + n))) break;
        c->x[j] = 1;
        tl_linop_apply(A, s, c->x, c->y, NULL);
        c->x[j] = 0;
        for (int64_t i = 0; i < n; i++)
            if (c->y[i] != 0) {
                c->row[at] = (int32_t)i;
                c->val[at++] = c->y[i];
            }
        c->start[j + 1] = at;
    }
    if (!good)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write out an operator of %lld unknowns", (long long)n);
    return TALUS_OK;
}

/* Rows from columns: visiting columns in order leaves each row's columns rising. */
static talus_status transpose(tl_csr *out, const columns *c, int32_t n, talus_error *err)
{
    int64_t nonzeros = c->start[n];
    TL_TRY(tl_csr_create(out, n, n, nonzeros, err));
    memset(out->start, 0, sizeof *out->start * ((size_t)n + 1));
    for (int64_t k = 0; k < nonzeros; k++) out->start[c->row[k] + 1]++;
    for (int32_t i = 0; i < n; i++) out->start[i + 1] += out->start[i];
    for (int32_t j = 0; j < n; j++)
        for (int64_t k = c->start[j]; k < c->start[j + 1]; k++) {
            int64_t at = out->start[c->row[k]]++;
            out->col[at] = j;
            out->val[at] = c->val[k];
        }
    for (int32_t i = n; i > 0; i--) out->start[i] = out->start[i - 1];
    out->start[0] = 0;
    return TALUS_OK;
}

static talus_status write_out(tl_csr *out, const tl_linop *A, const tl_space *s, talus_error *err)
{
    if (s->n > TL_CAPTURE_PROBE_MAX)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "the operator has no explicit rows and %lld unknowns; up to %d are written out", (long long)s->n,
                       TL_CAPTURE_PROBE_MAX);
    columns c = {0};
    talus_status status = probe_columns(&c, A, s, err);
    if (status == TALUS_OK) status = transpose(out, &c, (int32_t)s->n, err);
    columns_free(&c);
    return status;
}

/* ---- writing ---- */

static talus_status put_doubles(tl_h5 *f, const char *name, int64_t n, const double *x, talus_error *err)
{
    return x ? tl_h5_put_array(f, name, TL_H5_DOUBLE, n, x, err) : TALUS_OK;
}

static talus_status put_csr(tl_h5 *f, const char *name, const tl_csr *A, talus_error *err)
{
    char part[16];
    snprintf(part, sizeof part, "%s/start", name);
    TL_TRY(tl_h5_put_array(f, part, TL_H5_INT64, (int64_t)A->rows + 1, A->start, err));
    snprintf(part, sizeof part, "%s/col", name);
    TL_TRY(tl_h5_put_array(f, part, TL_H5_INT32, A->start[A->rows], A->col, err));
    snprintf(part, sizeof part, "%s/val", name);
    return tl_h5_put_array(f, part, TL_H5_DOUBLE, A->start[A->rows], A->val, err);
}

static talus_status put_linear(tl_h5 *f, const void *problem, talus_error *err)
{
    const tl_linear *p = problem;
    return put_doubles(f, "b", p->space->n, p->b, err);
}

static talus_status put_boxqp(tl_h5 *f, const void *problem, talus_error *err)
{
    const tl_boxqp *p = problem;
    int64_t n = p->space->n;
    TL_TRY(put_doubles(f, "b", n, p->b, err));
    TL_TRY(put_doubles(f, "lo", n, p->lo, err));
    TL_TRY(put_doubles(f, "hi", n, p->hi, err));
    return put_doubles(f, "diag", n, p->diag, err);
}

static talus_status put_cone(tl_h5 *f, const void *problem, talus_error *err)
{
    const tl_cone *p = problem;
    int64_t groups = p->space->n / p->size;
    TL_TRY(tl_h5_put_int(f, "group_size", p->size, err));
    TL_TRY(put_doubles(f, "b", p->space->n, p->b, err));
    TL_TRY(put_doubles(f, "radius", groups, p->radius, err));
    TL_TRY(put_doubles(f, "Q", (int64_t)p->size * p->size, p->Q, err));
    return put_doubles(f, "bound", groups, p->bound, err);
}

static talus_status put_contact(tl_h5 *f, const void *problem, talus_error *err)
{
    const tl_contact *p = problem;
    const tl_contact_bodies *b = p->bodies;
    int64_t m = p->space->n / 3;
    TL_TRY(put_doubles(f, "blocks", 9 * m, p->blocks, err));
    TL_TRY(put_doubles(f, "q", 3 * m, p->q, err));
    TL_TRY(put_doubles(f, "mu", m, p->mu, err));
    if (!b) return TALUS_OK;
    TL_TRY(put_csr(f, "J", b->J, err));
    TL_TRY(put_doubles(f, "inv_mass", b->count, b->inv_mass, err));
    TL_TRY(put_doubles(f, "inv_inertia", 9 * (int64_t)b->count, b->inv_inertia, err));
    return put_doubles(f, "v_free", 6 * (int64_t)b->count, b->v_free, err);
}

static talus_status put_all(tl_h5 *f, const char *kind, const tl_csr *rows, const tl_capture_info *info,
                            talus_status (*put)(tl_h5 *, const void *, talus_error *), const void *problem,
                            talus_error *err)
{
    TL_TRY(tl_h5_put_text(f, "format", FORMAT, err));
    TL_TRY(tl_h5_put_int(f, "version", FORMAT_VERSION, err));
    TL_TRY(tl_h5_put_text(f, "kind", kind, err));
    TL_TRY(tl_h5_put_text(f, "talus", TALUS_VERSION_STRING, err));
    if (info->note && *info->note) TL_TRY(tl_h5_put_text(f, "note", info->note, err));
    if (!isnan(info->tolerance)) TL_TRY(tl_h5_put_number(f, "tolerance", info->tolerance, err));
    TL_TRY(put_csr(f, "A", rows, err));
    TL_TRY(put(f, problem, err));
    TL_TRY(put_doubles(f, "x0", rows->rows, info->x0, err));
    return put_doubles(f, "solution", rows->rows, info->solution, err);
}

static talus_status write_rows(const char *path, tl_kind kind, const tl_csr *rows, const tl_capture_info *info,
                               talus_status (*put)(tl_h5 *, const void *, talus_error *), const void *problem,
                               talus_error *err)
{
    tl_h5 *f;
    TL_TRY(tl_csr_check(rows, err));
    TL_TRY(tl_h5_create(&f, path, err));
    talus_status status = put_all(f, tl_kind_name(kind), rows, info, put, problem, err);
    if (status == TALUS_OK) return tl_h5_commit(f, err);
    tl_h5_discard(f);
    return status;
}

static talus_status save(const char *path, tl_kind kind, const tl_space *s, const tl_linop *A,
                         const tl_capture_info *info, talus_status (*put)(tl_h5 *, const void *, talus_error *),
                         const void *problem, talus_error *err)
{
    static const tl_capture_info nothing = {.tolerance = NAN};
    if (!info) info = &nothing;
    TL_TRY(check_extras(s->n, info->x0, info->solution, err));
    if (info->note && strlen(info->note) > TL_CAPTURE_NOTE_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the note has %zu bytes, at most %d are kept", strlen(info->note),
                       TL_CAPTURE_NOTE_MAX);
    if (A->csr) {
        if (A->csr->rows != s->n || A->csr->cols != s->n)
            return TL_FAIL(err, TALUS_BAD_INPUT, "the matrix is %d x %d, the problem has %lld unknowns",
                           (int)A->csr->rows, (int)A->csr->cols, (long long)s->n);
        return write_rows(path, kind, A->csr, info, put, problem, err);
    }
    tl_csr rows = {0};
    TL_TRY(write_out(&rows, A, s, err));
    talus_status status = write_rows(path, kind, &rows, info, put, problem, err);
    tl_csr_free(&rows);
    return status;
}

/* Before a rule looks at a problem, which may be a collective matter. */
static talus_status check_whole(const tl_space *s, talus_error *err)
{
    if (s->parts > 1)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "a problem on %d parts cannot be captured; gather it on one",
                       (int)s->parts);
    return TALUS_OK;
}

talus_status tl_capture_linear(const char *path, const tl_linear *p, const tl_capture_info *info, talus_error *err)
{
    TL_TRY(check_whole(p->space, err));
    TL_TRY(check_linear(p, err));
    return save(path, TL_KIND_LINEAR, p->space, &p->A, info, put_linear, p, err);
}

talus_status tl_capture_boxqp(const char *path, const tl_boxqp *p, const tl_capture_info *info, talus_error *err)
{
    TL_TRY(check_whole(p->space, err));
    TL_TRY(check_boxqp(p, err));
    return save(path, TL_KIND_BOXQP, p->space, &p->A, info, put_boxqp, p, err);
}

talus_status tl_capture_cone(const char *path, const tl_cone *p, const tl_capture_info *info, talus_error *err)
{
    TL_TRY(check_whole(p->space, err));
    TL_TRY(tl_cone_check(p, err));
    return save(path, TL_KIND_CONE, p->space, &p->A, info, put_cone, p, err);
}

talus_status tl_capture_contact(const char *path, const tl_contact *p, const tl_capture_info *info, talus_error *err)
{
    TL_TRY(check_whole(p->space, err));
    TL_TRY(check_contact(p, err));
    return save(path, TL_KIND_CONTACT, p->space, &p->W, info, put_contact, p, err);
}

talus_status tl_capture_fixedpoint(const char *path, const tl_fixedpoint *p, const tl_capture_info *info,
                                   talus_error *err)
{
    (void)p, (void)info;
    return TL_FAIL(err, TALUS_UNSUPPORTED,
                   "%s: a fixedpoint problem is made of callbacks and cannot be captured as data", path);
}

/* ---- reading ---- */

static talus_status get_doubles(tl_captured *c, tl_h5 *f, const char *name, int64_t count, const double **out,
                                talus_error *err)
{
    TL_ASSERT(c->arrays < TL_CAPTURED_ARRAYS);
    int64_t found; /* before count is believed */
    TL_TRY(tl_h5_count(f, name, TL_H5_DOUBLE, &found, err));
    double *data = TL_NEW(double, found);
    if (!data) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for array %s of %lld entries", name, (long long)found);
    c->array[c->arrays].name = name;
    c->array[c->arrays].count = found;
    c->array[c->arrays++].data = data;
    *out = data;
    return tl_h5_get_array(f, name, TL_H5_DOUBLE, count, data, err);
}

static talus_status get_optional(tl_captured *c, tl_h5 *f, const char *name, int64_t count, const double **out,
                                 talus_error *err)
{
    return tl_h5_has_array(f, name) ? get_doubles(c, f, name, count, out, err) : TALUS_OK;
}

/* Offsets are checked before they are used; tl_csr_check does the rest. */
static talus_status get_csr(tl_h5 *f, const char *name, int32_t cols, tl_csr *A, talus_error *err)
{
    char start[16], col[16], val[16];
    snprintf(start, sizeof start, "%s/start", name);
    snprintf(col, sizeof col, "%s/col", name);
    snprintf(val, sizeof val, "%s/val", name);
    int64_t offsets, nonzeros, values;
    TL_TRY(tl_h5_count(f, start, TL_H5_INT64, &offsets, err));
    TL_TRY(tl_h5_count(f, col, TL_H5_INT32, &nonzeros, err));
    TL_TRY(tl_h5_count(f, val, TL_H5_DOUBLE, &values, err));
    if (offsets < 1 || offsets - 1 > INT32_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "matrix %s has %lld row offsets", name, (long long)offsets);
    if (values != nonzeros)
        return TL_FAIL(err, TALUS_BAD_INPUT, "matrix %s has %lld columns for %lld values", name, (long long)nonzeros,
                       (long long)values);
    int32_t rows = (int32_t)(offsets - 1);
    TL_TRY(tl_csr_create(A, rows, cols < 0 ? rows : cols, nonzeros, err));
    TL_TRY(tl_h5_get_array(f, start, TL_H5_INT64, offsets, A->start, err));
    TL_TRY(tl_h5_get_array(f, col, TL_H5_INT32, nonzeros, A->col, err));
    TL_TRY(tl_h5_get_array(f, val, TL_H5_DOUBLE, nonzeros, A->val, err));
    for (int32_t i = 0; i <= rows; i++)
        if (A->start[i] < 0 || A->start[i] > nonzeros || (i == rows && A->start[i] != nonzeros))
            return TL_FAIL(err, TALUS_BAD_INPUT, "matrix %s: offset %d is %lld, with %lld entries in all", name, (int)i,
                           (long long)A->start[i], (long long)nonzeros);
    return tl_csr_check(A, err);
}

static talus_status get_linear(tl_captured *c, tl_h5 *f, talus_error *err)
{
    c->linear = (tl_linear){.space = &c->space, .A = tl_linop_csr(&c->A)};
    TL_TRY(get_doubles(c, f, "b", c->space.n, &c->linear.b, err));
    return check_linear(&c->linear, err);
}

static talus_status get_boxqp(tl_captured *c, tl_h5 *f, talus_error *err)
{
    tl_boxqp *p = &c->boxqp;
    *p = (tl_boxqp){.space = &c->space, .A = tl_linop_csr(&c->A)};
    TL_TRY(get_doubles(c, f, "b", c->space.n, &p->b, err));
    TL_TRY(get_optional(c, f, "lo", c->space.n, &p->lo, err));
    TL_TRY(get_optional(c, f, "hi", c->space.n, &p->hi, err));
    TL_TRY(get_optional(c, f, "diag", c->space.n, &p->diag, err));
    return check_boxqp(p, err);
}

static talus_status get_cone(tl_captured *c, tl_h5 *f, talus_error *err)
{
    tl_cone *p = &c->cone;
    *p = (tl_cone){.space = &c->space, .A = tl_linop_csr(&c->A)};
    int64_t size;
    TL_TRY(tl_h5_get_int(f, "group_size", &size, err));
    if (size < 1 || size > TL_CONE_MAX || c->space.n % size != 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "group_size %lld must be 1 to %d and divide %lld unknowns",
                       (long long)size, TL_CONE_MAX, (long long)c->space.n);
    p->size = (int32_t)size;
    int64_t groups = c->space.n / size;
    const double *Q;
    TL_TRY(get_doubles(c, f, "b", c->space.n, &p->b, err));
    TL_TRY(get_doubles(c, f, "radius", groups, &p->radius, err));
    TL_TRY(get_doubles(c, f, "Q", size * size, &Q, err));
    memcpy(p->Q, Q, sizeof(double) * (size_t)(size * size));
    TL_TRY(get_optional(c, f, "bound", groups, &p->bound, err));
    return tl_cone_check(p, err);
}

static talus_status get_bodies(tl_captured *c, tl_h5 *f, talus_error *err)
{
    tl_contact_bodies *b = &c->bodies;
    int64_t count;
    TL_TRY(tl_h5_count(f, "inv_mass", TL_H5_DOUBLE, &count, err));
    if (count > INT32_MAX / 6) return TL_FAIL(err, TALUS_BAD_INPUT, "%lld bodies are too many", (long long)count);
    b->count = (int32_t)count;
    b->J = &c->J;
    TL_TRY(get_csr(f, "J", 6 * b->count, &c->J, err));
    TL_TRY(get_doubles(c, f, "inv_mass", count, &b->inv_mass, err));
    TL_TRY(get_doubles(c, f, "inv_inertia", 9 * count, &b->inv_inertia, err));
    return get_doubles(c, f, "v_free", 6 * count, &b->v_free, err);
}

static talus_status get_contact(tl_captured *c, tl_h5 *f, talus_error *err)
{
    tl_contact *p = &c->contact;
    *p = (tl_contact){.space = &c->space, .W = tl_linop_csr(&c->A)};
    int64_t m = c->space.n / 3;
    TL_TRY(get_doubles(c, f, "blocks", 9 * m, &p->blocks, err));
    TL_TRY(get_doubles(c, f, "q", 3 * m, &p->q, err));
    TL_TRY(get_doubles(c, f, "mu", m, &p->mu, err));
    if (tl_h5_has_array(f, "inv_mass")) {
        TL_TRY(get_bodies(c, f, err));
        p->bodies = &c->bodies;
    }
    return check_contact(p, err);
}

static const struct {
    const char *name;
    talus_status (*get)(tl_captured *, tl_h5 *, talus_error *);
} kinds[] = {
    [TL_KIND_LINEAR] = {"linear", get_linear},
    [TL_KIND_BOXQP] = {"boxqp", get_boxqp},
    [TL_KIND_CONE] = {"cone", get_cone},
    [TL_KIND_CONTACT] = {"contact", get_contact},
};

const char *tl_kind_name(tl_kind kind) { return kinds[kind].name; }

static talus_status get_header(tl_captured *c, tl_h5 *f, talus_error *err)
{
    char format[32], kind[32];
    int64_t version;
    TL_TRY(tl_h5_get_text(f, "format", format, sizeof format, err));
    if (strcmp(format, FORMAT) != 0)
        return TL_FAIL(err, TALUS_BAD_INPUT, "format is \"%s\", expected \"" FORMAT "\"", format);
    TL_TRY(tl_h5_get_int(f, "version", &version, err));
    if (version != FORMAT_VERSION)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "format version %lld; this talus reads version %d", (long long)version,
                       FORMAT_VERSION);
    TL_TRY(tl_h5_get_text(f, "kind", kind, sizeof kind, err));
    size_t k = 0, count = sizeof kinds / sizeof kinds[0];
    while (k < count && strcmp(kinds[k].name, kind) != 0) k++;
    if (k == count)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "kind \"%s\" is not known (linear, boxqp, cone, contact)", kind);
    c->kind = (tl_kind)k;

    c->tolerance = NAN;
    if (tl_h5_has_value(f, "talus")) TL_TRY(tl_h5_get_text(f, "talus", c->version, sizeof c->version, err));
    if (tl_h5_has_value(f, "note")) TL_TRY(tl_h5_get_text(f, "note", c->note, sizeof c->note, err));
    if (tl_h5_has_value(f, "tolerance")) TL_TRY(tl_h5_get_number(f, "tolerance", &c->tolerance, err));
    return TALUS_OK;
}

static talus_status get_all(tl_captured *c, tl_h5 *f, talus_error *err)
{
    TL_TRY(get_header(c, f, err));
    TL_TRY(get_csr(f, "A", -1, &c->A, err));
    c->space = tl_space_local(c->A.rows);
    TL_TRY(kinds[c->kind].get(c, f, err));
    TL_TRY(get_optional(c, f, "x0", c->space.n, &c->x0, err));
    TL_TRY(get_optional(c, f, "solution", c->space.n, &c->solution, err));
    return check_extras(c->space.n, c->x0, c->solution, err);
}

/* Put the file's name in front of a message that lacks it. */
static void name_file(talus_error *err, const char *path)
{
    if (!err || strncmp(err->message, path, strlen(path)) == 0) return;
    talus_error inner = *err;
    tl_fail(err, inner.status, "%s: %s", path, inner.message);
}

talus_status tl_capture_load(const char *path, tl_captured **out, talus_error *err)
{
    *out = NULL;
    tl_h5 *f;
    TL_TRY(tl_h5_open(&f, path, err));
    tl_captured *c = TL_NEW_ZERO(tl_captured, 1);
    talus_status status = c ? get_all(c, f, err) : TL_FAIL(err, TALUS_NO_MEMORY, "no memory to read it");
    tl_h5_close(f);
    if (status != TALUS_OK) {
        name_file(err, path);
        tl_captured_free(c);
        return status;
    }
    *out = c;
    return TALUS_OK;
}

void tl_captured_free(tl_captured *c)
{
    if (!c) return;
    tl_csr_free(&c->A);
    tl_csr_free(&c->J);
    for (int i = 0; i < c->arrays; i++) tl_free(c->array[i].data);
    tl_free(c);
}

/* ---- Matrix Market ---- */

talus_status tl_captured_export(const tl_captured *c, const char *prefix, talus_error *err)
{
    size_t room = strlen(prefix) + 32;
    char *path = TL_NEW(char, room);
    if (!path) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to export %s", prefix);
    char comment[64];
    snprintf(comment, sizeof comment, "talus problem, kind %s", tl_kind_name(c->kind));

    snprintf(path, room, "%s-A.mtx", prefix);
    talus_status status = tl_mm_write_csr(path, &c->A, comment, err);
    if (status == TALUS_OK && c->J.start) {
        snprintf(path, room, "%s-J.mtx", prefix);
        status = tl_mm_write_csr(path, &c->J, comment, err);
    }
    for (int i = 0; status == TALUS_OK && i < c->arrays; i++) {
        snprintf(path, room, "%s-%s.mtx", prefix, c->array[i].name);
        status = tl_mm_write_vector(path, c->array[i].count, c->array[i].data, comment, err);
    }
    tl_free(path);
    return status;
}
