#include "io/capture_inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/matrix_market.h"
#include "talus_version.h"

#define FORMAT "talus problem"
#define FORMAT_VERSION 1

/* ---- the rules, for writing and reading alike ---- */

talus_status tl_capture_check_finite(const char *name, int64_t n, const double *x, talus_error *err)
{
    for (int64_t i = 0; x && i < n; i++)
        if (!isfinite(x[i]))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s[%lld] is %g, must be finite", name, (long long)i, x[i]);
    return TALUS_OK;
}

static talus_status check_linear(const tl_linear *p, talus_error *err)
{
    return tl_capture_check_finite("b", p->space->n, p->b, err);
}

static talus_status check_boxqp(const tl_boxqp *p, talus_error *err)
{
    TL_TRY(tl_capture_check_finite("b", p->space->n, p->b, err));
    TL_TRY(tl_capture_check_finite("diag", p->space->n, p->diag, err));
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
    TL_TRY(tl_capture_check_finite("inv_inertia", 9 * (int64_t)b->count, b->inv_inertia, err));
    TL_TRY(tl_capture_check_finite("v_free", 6 * (int64_t)b->count, b->v_free, err));
    for (int32_t i = 0; i < b->count; i++)
        if (!(b->inv_mass[i] >= 0 && isfinite(b->inv_mass[i])))
            return TL_FAIL(err, TALUS_BAD_INPUT, "inv_mass[%d] is %g, must be >= 0 and finite", (int)i, b->inv_mass[i]);
    return TALUS_OK;
}

static talus_status check_pressure(const tl_pressure *p, talus_error *err)
{
    if (p->extras > 0)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "%d unknowns are appended to the cells' own", (int)p->extras);
    if (p->extra.add && !p->extra.scatter)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "what bodies add to the matrix is not known as U U^T");
    for (int k = 0; k < TL_PRESSURE_SIDES; k++)
        for (int32_t i = 0; i < p->n; i++)
            if (p->nb[k][i] < 0 || p->nb[k][i] > p->n)
                return TL_FAIL(err, TALUS_BAD_INPUT, "cell %d has neighbour %d of %d cells", (int)i, (int)p->nb[k][i],
                               (int)p->n);
    return tl_pressure_check(p, err);
}

static talus_status check_extras(int64_t n, const double *x0, const double *solution, talus_error *err)
{
    TL_TRY(tl_capture_check_finite("x0", n, x0, err));
    return tl_capture_check_finite("solution", n, solution, err);
}

/* ---- rows of an operator that has none ---- */

typedef struct unit {
    const tl_linop *A;
    const tl_space *space;
    double *x; /* [n] zeros */
} unit;

static void column_of(void *ctx, int32_t j, double *y)
{
    const unit *u = ctx;
    u->x[j] = 1;
    tl_linop_apply(u->A, u->space, u->x, y, NULL);
    u->x[j] = 0;
}

static talus_status write_out(tl_csr *out, const tl_linop *A, const tl_space *s, talus_error *err)
{
    if (s->n > TL_CAPTURE_PROBE_MAX)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "the operator has no explicit rows and %lld unknowns; up to %d are written out", (long long)s->n,
                       TL_CAPTURE_PROBE_MAX);
    unit u = {A, s, TL_NEW_ZERO(double, s->n)};
    talus_status status =
        u.x ? tl_csr_from_columns(out, (int32_t)s->n, (int32_t)s->n, column_of, &u, err)
            : TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write out an operator of %lld unknowns", (long long)s->n);
    tl_free(u.x);
    return status;
}

/* ---- writing ---- */

talus_status tl_capture_put_doubles(tl_h5 *f, const char *name, int64_t n, const double *x, talus_error *err)
{
    return x ? tl_h5_put_array(f, name, TL_H5_DOUBLE, n, x, err) : TALUS_OK;
}

talus_status tl_capture_put_csr(tl_h5 *f, const char *name, const tl_csr *A, talus_error *err)
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
    return tl_capture_put_doubles(f, "b", p->space->n, p->b, err);
}

static talus_status put_boxqp(tl_h5 *f, const void *problem, talus_error *err)
{
    const tl_boxqp *p = problem;
    int64_t n = p->space->n;
    TL_TRY(tl_capture_put_doubles(f, "b", n, p->b, err));
    TL_TRY(tl_capture_put_doubles(f, "lo", n, p->lo, err));
    TL_TRY(tl_capture_put_doubles(f, "hi", n, p->hi, err));
    return tl_capture_put_doubles(f, "diag", n, p->diag, err);
}

static talus_status put_cone(tl_h5 *f, const void *problem, talus_error *err)
{
    const tl_cone *p = problem;
    int64_t groups = p->space->n / p->size;
    TL_TRY(tl_h5_put_int(f, "group_size", p->size, err));
    TL_TRY(tl_capture_put_doubles(f, "b", p->space->n, p->b, err));
    TL_TRY(tl_capture_put_doubles(f, "radius", groups, p->radius, err));
    TL_TRY(tl_capture_put_doubles(f, "Q", (int64_t)p->size * p->size, p->Q, err));
    return tl_capture_put_doubles(f, "bound", groups, p->bound, err);
}

static talus_status put_contact(tl_h5 *f, const void *problem, talus_error *err)
{
    const tl_contact *p = problem;
    const tl_contact_bodies *b = p->bodies;
    int64_t m = p->space->n / 3;
    TL_TRY(tl_capture_put_doubles(f, "blocks", 9 * m, p->blocks, err));
    TL_TRY(tl_capture_put_doubles(f, "q", 3 * m, p->q, err));
    TL_TRY(tl_capture_put_doubles(f, "mu", m, p->mu, err));
    if (!b) return TALUS_OK;
    TL_TRY(tl_capture_put_csr(f, "J", b->J, err));
    TL_TRY(tl_capture_put_doubles(f, "inv_mass", b->count, b->inv_mass, err));
    TL_TRY(tl_capture_put_doubles(f, "inv_inertia", 9 * (int64_t)b->count, b->inv_inertia, err));
    return tl_capture_put_doubles(f, "v_free", 6 * (int64_t)b->count, b->v_free, err);
}

typedef struct unit_body {
    const tl_pressure *p;
    double *r; /* [columns] zeros */
} unit_body;

static void column_of_bodies(void *ctx, int32_t j, double *y)
{
    const unit_body *u = ctx;
    memset(y, 0, sizeof *y * (size_t)u->p->n);
    u->r[j] = 1;
    u->p->extra.scatter(u->p->extra.ctx, u->r, y);
    u->r[j] = 0;
}

static talus_status put_bodies(tl_h5 *f, const tl_pressure *p, talus_error *err)
{
    tl_csr U = {0};
    unit_body u = {p, TL_NEW_ZERO(double, p->extra.columns + 1)};
    talus_status status = u.r ? tl_csr_from_columns(&U, p->n, p->extra.columns, column_of_bodies, &u, err)
                              : TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write %d columns", p->extra.columns);
    if (status == TALUS_OK) status = tl_h5_put_int(f, "columns", U.cols, err);
    if (status == TALUS_OK) status = tl_capture_put_csr(f, "U", &U, err);
    tl_csr_free(&U);
    tl_free(u.r);
    return status;
}

static talus_status put_pressure(tl_h5 *f, const void *problem, talus_error *err)
{
    const tl_pressure *p = problem;
    const int32_t n = p->n;
    double *value = TL_NEW(double, 6 * (int64_t)n + 1);
    int32_t *side = TL_NEW(int32_t, 6 * (int64_t)n + 1);
    talus_status status = value && side ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write a pressure");
    if (status == TALUS_OK) status = tl_h5_put_int(f, "red", p->red, err);
    if (status == TALUS_OK) status = tl_h5_put_int(f, "unilateral", p->unilateral, err);
    if (status == TALUS_OK) status = tl_h5_put_array(f, "ijk", TL_H5_INT32, 3 * (int64_t)n, n ? p->ijk[0] : side, err);
    for (int64_t i = 0; status == TALUS_OK && i < 6 * (int64_t)n; i++) {
        side[i] = p->nb[i / n][i % n];
        value[i] = p->c[i / n][i % n];
    }
    if (status == TALUS_OK) status = tl_h5_put_array(f, "nb", TL_H5_INT32, 6 * (int64_t)n, side, err);
    if (status == TALUS_OK) status = tl_capture_put_doubles(f, "c", 6 * (int64_t)n, value, err);
    for (int64_t i = 0; status == TALUS_OK && i < n; i++) value[i] = p->dir[i], value[n + i] = p->ar[i];
    if (status == TALUS_OK) status = tl_capture_put_doubles(f, "dir", n, value, err);
    if (status == TALUS_OK) status = tl_capture_put_doubles(f, "ar", n, value + n, err);
    if (status == TALUS_OK) status = tl_capture_put_doubles(f, "d", n, p->d, err);
    if (status == TALUS_OK) status = tl_capture_put_doubles(f, "b", n, p->b, err);
    tl_free(value);
    tl_free(side);
    return status == TALUS_OK && p->extra.add ? put_bodies(f, p, err) : status;
}

static talus_status put_fixedpoint(tl_h5 *f, const void *problem, talus_error *err)
{
    const tl_projected *p = problem;
    TL_TRY(tl_h5_put_int(f, "contacts", p->contacts, err));
    TL_TRY(tl_h5_put_number(f, "relax", p->relax, err));
    TL_TRY(tl_h5_put_number(f, "rate", p->rate, err));
    TL_TRY(tl_h5_put_number(f, "strict", p->strict, err));
    TL_TRY(tl_h5_put_number(f, "worst", p->worst, err));
    TL_TRY(tl_capture_put_doubles(f, "c", p->space.n, p->c, err));
    TL_TRY(tl_capture_put_doubles(f, "D", p->pressures + (int64_t)p->contacts, p->D, err));
    TL_TRY(tl_capture_put_doubles(f, "most", p->contacts, p->max, err));
    TL_TRY(tl_capture_put_doubles(f, "slip", p->contacts, p->slip, err));
    TL_TRY(tl_capture_put_doubles(f, "friction", p->contacts, p->friction, err));
    return tl_capture_put_doubles(f, "group", p->contacts, p->group, err);
}

/* rows NULL: the kind has its own. */
static talus_status put_all(tl_h5 *f, const char *kind, int64_t n, const tl_csr *rows, const tl_capture_info *info,
                            talus_status (*put)(tl_h5 *, const void *, talus_error *), const void *problem,
                            talus_error *err)
{
    TL_TRY(tl_h5_put_text(f, "format", FORMAT, err));
    TL_TRY(tl_h5_put_int(f, "version", FORMAT_VERSION, err));
    TL_TRY(tl_h5_put_text(f, "kind", kind, err));
    TL_TRY(tl_h5_put_text(f, "talus", TALUS_VERSION_STRING, err));
    if (info->note && *info->note) TL_TRY(tl_h5_put_text(f, "note", info->note, err));
    if (!isnan(info->tolerance)) TL_TRY(tl_h5_put_number(f, "tolerance", info->tolerance, err));
    if (info->certificate > 0) TL_TRY(tl_h5_put_number(f, "certificate", info->certificate, err));
    if (rows) TL_TRY(tl_capture_put_csr(f, "A", rows, err));
    TL_TRY(put(f, problem, err));
    TL_TRY(tl_capture_put_doubles(f, "x0", n, info->x0, err));
    return tl_capture_put_doubles(f, "solution", n, info->solution, err);
}

static talus_status write_rows(const char *path, tl_kind kind, int64_t n, const tl_csr *rows,
                               const tl_capture_info *info, talus_status (*put)(tl_h5 *, const void *, talus_error *),
                               const void *problem, talus_error *err)
{
    tl_h5 *f;
    if (rows) TL_TRY(tl_csr_check(rows, err));
    TL_TRY(tl_h5_create(&f, path, err));
    talus_status status = put_all(f, tl_kind_name(kind), n, rows, info, put, problem, err);
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
    if (!A) return write_rows(path, kind, s->n, NULL, info, put, problem, err);
    if (A->csr) {
        if (A->csr->rows != s->n || A->csr->cols != s->n)
            return TL_FAIL(err, TALUS_BAD_INPUT, "the matrix is %d x %d, the problem has %lld unknowns",
                           (int)A->csr->rows, (int)A->csr->cols, (long long)s->n);
        return write_rows(path, kind, s->n, A->csr, info, put, problem, err);
    }
    tl_csr rows = {0};
    TL_TRY(write_out(&rows, A, s, err));
    talus_status status = write_rows(path, kind, s->n, &rows, info, put, problem, err);
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

talus_status tl_capture_pressure(const char *path, const tl_pressure *p, const tl_capture_info *info, talus_error *err)
{
    const tl_space space = tl_space_local(p->n);
    TL_TRY(check_pressure(p, err));
    return save(path, TL_KIND_PRESSURE, &space, NULL, info, put_pressure, p, err);
}

talus_status tl_capture_fixedpoint(const char *path, const tl_projected *p, const tl_capture_info *info,
                                   talus_error *err)
{
    const tl_linop A = tl_linop_csr(p->A);
    TL_TRY(check_whole(&p->space, err));
    TL_TRY(tl_projected_check(p, err));
    return save(path, TL_KIND_FIXEDPOINT, &p->space, &A, info, put_fixedpoint, p, err);
}

talus_status tl_capture_flex(const char *path, const tl_flex *p, const tl_capture_info *info, talus_error *err)
{
    const tl_space space = tl_space_local(3 * (int64_t)p->contacts + tl_flex_size(p));
    return save(path, TL_KIND_FLEX, &space, NULL, info, tl_capture_put_flex, p, err);
}

/* ---- reading ---- */

talus_status tl_capture_get_doubles(tl_captured *c, tl_h5 *f, const char *name, int64_t count, const double **out,
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
    return tl_h5_has_array(f, name) ? tl_capture_get_doubles(c, f, name, count, out, err) : TALUS_OK;
}

/* Offsets are checked before they are used; tl_csr_check does the rest. */
talus_status tl_capture_get_csr(tl_h5 *f, const char *name, int32_t cols, tl_csr *A, talus_error *err)
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
    TL_TRY(tl_capture_get_doubles(c, f, "b", c->space.n, &c->linear.b, err));
    return check_linear(&c->linear, err);
}

static talus_status get_boxqp(tl_captured *c, tl_h5 *f, talus_error *err)
{
    tl_boxqp *p = &c->boxqp;
    *p = (tl_boxqp){.space = &c->space, .A = tl_linop_csr(&c->A)};
    TL_TRY(tl_capture_get_doubles(c, f, "b", c->space.n, &p->b, err));
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
    TL_TRY(tl_capture_get_doubles(c, f, "b", c->space.n, &p->b, err));
    TL_TRY(tl_capture_get_doubles(c, f, "radius", groups, &p->radius, err));
    TL_TRY(tl_capture_get_doubles(c, f, "Q", size * size, &Q, err));
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
    TL_TRY(tl_capture_get_csr(f, "J", 6 * b->count, &c->J, err));
    TL_TRY(tl_capture_get_doubles(c, f, "inv_mass", count, &b->inv_mass, err));
    TL_TRY(tl_capture_get_doubles(c, f, "inv_inertia", 9 * count, &b->inv_inertia, err));
    return tl_capture_get_doubles(c, f, "v_free", 6 * count, &b->v_free, err);
}

static talus_status get_contact(tl_captured *c, tl_h5 *f, talus_error *err)
{
    tl_contact *p = &c->contact;
    *p = (tl_contact){.space = &c->space, .W = tl_linop_csr(&c->A)};
    int64_t m = c->space.n / 3;
    TL_TRY(tl_capture_get_doubles(c, f, "blocks", 9 * m, &p->blocks, err));
    TL_TRY(tl_capture_get_doubles(c, f, "q", 3 * m, &p->q, err));
    TL_TRY(tl_capture_get_doubles(c, f, "mu", m, &p->mu, err));
    for (int64_t i = 0; i < m; i++) p->resists |= p->mu[i] < 0;
    if (tl_h5_has_array(f, "inv_mass")) {
        TL_TRY(get_bodies(c, f, err));
        p->bodies = &c->bodies;
    }
    return check_contact(p, err);
}

static void gather_bodies(const void *ctx, const double *x, double *r)
{
    const tl_captured *c = ctx;
    memset(r, 0, sizeof *r * (size_t)c->J.cols);
    for (int32_t i = 0; i < c->J.rows; i++)
        for (int64_t k = c->J.start[i]; k < c->J.start[i + 1]; k++) r[c->J.col[k]] += c->J.val[k] * x[i];
}

static void scatter_bodies(const void *ctx, const double *r, double *y)
{
    const tl_captured *c = ctx;
    for (int32_t i = 0; i < c->J.rows; i++)
        for (int64_t k = c->J.start[i]; k < c->J.start[i + 1]; k++) y[i] += c->J.val[k] * r[c->J.col[k]];
}

static void add_bodies(const void *ctx, const double *x, double *y)
{
    const tl_captured *c = ctx;
    gather_bodies(c, x, c->moved);
    scatter_bodies(c, c->moved, y);
}

static talus_status get_bodies_of_field(tl_captured *c, tl_h5 *f, talus_error *err)
{
    int64_t columns;
    TL_TRY(tl_h5_get_int(f, "columns", &columns, err));
    if (columns < 0 || columns > INT32_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%lld columns of bodies", (long long)columns);
    TL_TRY(tl_capture_get_csr(f, "U", (int32_t)columns, &c->J, err));
    if (c->J.rows != c->pressure.n)
        return TL_FAIL(err, TALUS_BAD_INPUT, "U has %d rows for %d cells", (int)c->J.rows, (int)c->pressure.n);
    if (!(c->moved = TL_NEW(double, columns + 1)))
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld columns of bodies", (long long)columns);
    c->pressure.extra = (tl_pressure_extra){
        .add = add_bodies, .ctx = c, .columns = (int32_t)columns, .gather = gather_bodies, .scatter = scatter_bodies};
    return TALUS_OK;
}

static talus_status get_pressure(tl_captured *c, tl_h5 *f, talus_error *err)
{
    tl_pressure *p = &c->pressure;
    int64_t count, red, unilateral;
    const double *sides, *dir, *ar;
    TL_TRY(tl_h5_count(f, "b", TL_H5_DOUBLE, &count, err));
    if (count > INT32_MAX / 9) return TL_FAIL(err, TALUS_BAD_INPUT, "%lld cells are too many", (long long)count);
    TL_TRY(tl_h5_get_int(f, "red", &red, err));
    TL_TRY(tl_h5_get_int(f, "unilateral", &unilateral, err));
    if (red < 0 || red > count)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%lld red cells of %lld", (long long)red, (long long)count);
    c->space = tl_space_local(count);
    *p = (tl_pressure){.n = (int32_t)count, .none = (int32_t)count, .red = (int32_t)red, .unilateral = unilateral != 0};
    TL_TRY(tl_capture_get_doubles(c, f, "b", count, &p->b, err));
    TL_TRY(tl_capture_get_doubles(c, f, "c", 6 * count, &sides, err));
    TL_TRY(tl_capture_get_doubles(c, f, "dir", count, &dir, err));
    TL_TRY(tl_capture_get_doubles(c, f, "ar", count, &ar, err));
    TL_TRY(tl_capture_get_doubles(c, f, "d", count, &p->d, err));
    c->cells = TL_NEW(int32_t, 9 * count + 1);
    c->coefficient = TL_NEW(float, 8 * count + 1);
    if (!c->cells || !c->coefficient)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld cells", (long long)count);
    TL_TRY(tl_h5_get_array(f, "ijk", TL_H5_INT32, 3 * count, c->cells, err));
    TL_TRY(tl_h5_get_array(f, "nb", TL_H5_INT32, 6 * count, c->cells + 3 * count, err));
    for (int64_t i = 0; i < 6 * count; i++) c->coefficient[i] = (float)sides[i];
    for (int64_t i = 0; i < count; i++) {
        c->coefficient[6 * count + i] = (float)dir[i];
        c->coefficient[7 * count + i] = (float)ar[i];
    }
    p->ijk = (const int32_t(*)[3])c->cells;
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        p->nb[k] = c->cells + (3 + k) * count;
        p->c[k] = c->coefficient + k * count;
    }
    p->dir = c->coefficient + 6 * count;
    p->ar = c->coefficient + 7 * count;
    if (tl_h5_has_array(f, "U/start")) TL_TRY(get_bodies_of_field(c, f, err));
    return check_pressure(p, err);
}

static talus_status get_fixedpoint(tl_captured *c, tl_h5 *f, talus_error *err)
{
    tl_projected *p = &c->projected;
    int64_t m, n = c->space.n;
    TL_TRY(tl_h5_get_int(f, "contacts", &m, err));
    if (m < 0 || 4 * m > n || m > INT32_MAX / 4)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%lld contacts among %lld unknowns", (long long)m, (long long)n);
    *p = (tl_projected){.space = c->space, .pressures = (int32_t)(n - 4 * m), .contacts = (int32_t)m, .A = &c->A};
    TL_TRY(tl_h5_get_number(f, "relax", &p->relax, err));
    TL_TRY(tl_h5_get_number(f, "rate", &p->rate, err));
    TL_TRY(tl_h5_get_number(f, "strict", &p->strict, err));
    TL_TRY(tl_h5_get_number(f, "worst", &p->worst, err));
    TL_TRY(tl_capture_get_doubles(c, f, "c", n, &p->c, err));
    TL_TRY(tl_capture_get_doubles(c, f, "D", n - 3 * m, &p->D, err));
    TL_TRY(tl_capture_get_doubles(c, f, "most", m, &p->max, err));
    TL_TRY(tl_capture_get_doubles(c, f, "slip", m, &p->slip, err));
    TL_TRY(tl_capture_get_doubles(c, f, "friction", m, &p->friction, err));
    TL_TRY(tl_capture_get_doubles(c, f, "group", m, &p->group, err));
    if (!(p->active = c->active = TL_NEW_ZERO(int32_t, m + 1)))
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld contacts", (long long)m);
    c->fixedpoint = tl_projected_problem(p);
    return tl_projected_check(p, err);
}

static const struct {
    const char *name;
    bool rows; /* has A */
    talus_status (*get)(tl_captured *, tl_h5 *, talus_error *);
} kinds[] = {
    [TL_KIND_LINEAR] = {"linear", true, get_linear},
    [TL_KIND_BOXQP] = {"boxqp", true, get_boxqp},
    [TL_KIND_CONE] = {"cone", true, get_cone},
    [TL_KIND_CONTACT] = {"contact", true, get_contact},
    [TL_KIND_PRESSURE] = {"pressure", false, get_pressure},
    [TL_KIND_FIXEDPOINT] = {"fixedpoint", true, get_fixedpoint},
    [TL_KIND_FLEX] = {"flex", true, tl_capture_get_flex},
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
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "kind \"%s\" is not known (linear, boxqp, cone, contact, pressure, fixedpoint, flex)", kind);
    c->kind = (tl_kind)k;

    c->tolerance = c->certificate = NAN;
    if (tl_h5_has_value(f, "certificate")) TL_TRY(tl_h5_get_number(f, "certificate", &c->certificate, err));
    if (tl_h5_has_value(f, "talus")) TL_TRY(tl_h5_get_text(f, "talus", c->version, sizeof c->version, err));
    if (tl_h5_has_value(f, "note")) TL_TRY(tl_h5_get_text(f, "note", c->note, sizeof c->note, err));
    if (tl_h5_has_value(f, "tolerance")) TL_TRY(tl_h5_get_number(f, "tolerance", &c->tolerance, err));
    return TALUS_OK;
}

static talus_status get_all(tl_captured *c, tl_h5 *f, talus_error *err)
{
    TL_TRY(get_header(c, f, err));
    if (kinds[c->kind].rows) TL_TRY(tl_capture_get_csr(f, "A", -1, &c->A, err));
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
    tl_captured_free_flex(c);
    for (int i = 0; i < c->arrays; i++) tl_free(c->array[i].data);
    tl_free(c->moved);
    tl_free(c->cells);
    tl_free(c->active);
    tl_free(c->coefficient);
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
    talus_status status = kinds[c->kind].rows ? tl_mm_write_csr(path, &c->A, comment, err) : TALUS_OK;
    if (status == TALUS_OK && c->J.start) {
        snprintf(path, room, "%s-%s.mtx", prefix, c->kind == TL_KIND_PRESSURE ? "U" : "J");
        status = tl_mm_write_csr(path, &c->J, comment, err);
    }
    for (int i = 0; status == TALUS_OK && i < c->arrays; i++) {
        snprintf(path, room, "%s-%s.mtx", prefix, c->array[i].name);
        status = tl_mm_write_vector(path, c->array[i].count, c->array[i].data, comment, err);
    }
    tl_free(path);
    return status;
}
