#include "io/matrix_market.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/replace.h"
#include "base/text.h"

#define LINE_MAX_BYTES 1025 /* the format's limit of 1024 characters, and the end */

/* ---- writing ---- */

/* Where (j, i) is stored in row j, or -1. */
static int64_t find(const tl_csr *A, int32_t row, int32_t col)
{
    int64_t lo = A->start[row], hi = A->start[row + 1];
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (A->col[mid] < col)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < A->start[row + 1] && A->col[lo] == col ? lo : -1;
}

static bool is_symmetric(const tl_csr *A)
{
    if (A->rows != A->cols) return false;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            int64_t t = A->col[k] == i ? k : find(A, A->col[k], i);
            if (t < 0 || memcmp(&A->val[t], &A->val[k], sizeof(double)) != 0) return false;
        }
    return true;
}

static void put_comment(FILE *out, const char *comment)
{
    for (const char *line = comment; line && *line;) {
        size_t length = strcspn(line, "\n"), shown = length < 1000 ? length : 1000;
        fprintf(out, "%% %.*s\n", (int)shown, line);
        line += length + (line[length] == '\n');
    }
}

static void put_csr(FILE *out, const tl_csr *A, const char *comment)
{
    bool symmetric = is_symmetric(A);
    int64_t stored = 0;
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) stored += !symmetric || A->col[k] <= i;
    fprintf(out, "%%%%MatrixMarket matrix coordinate real %s\n", symmetric ? "symmetric" : "general");
    put_comment(out, comment);
    fprintf(out, "%d %d %lld\n", (int)A->rows, (int)A->cols, (long long)stored);
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            if (!symmetric || A->col[k] <= i) fprintf(out, "%d %d %.17g\n", (int)i + 1, (int)A->col[k] + 1, A->val[k]);
}

static void put_vector(FILE *out, int64_t n, const double *x, const char *comment)
{
    fprintf(out, "%%%%MatrixMarket matrix array real general\n");
    put_comment(out, comment);
    fprintf(out, "%lld 1\n", (long long)n);
    for (int64_t i = 0; i < n; i++) fprintf(out, "%.17g\n", x[i]);
}

/* A matrix or, with A NULL, a vector. */
static talus_status write_file(const char *path, const tl_csr *A, int64_t n, const double *x, const char *comment,
                               talus_error *err)
{
    tl_replace target;
    TL_TRY(tl_replace_begin(&target, path, err));
    FILE *out = fopen(target.temp, "w");
    if (!out) {
        talus_status status = TL_FAIL(err, TALUS_IO, "%s: cannot write it: %s", path, strerror(errno));
        tl_replace_discard(&target);
        return status;
    }
    tl_c_numbers c = tl_c_numbers_begin();
    if (A)
        put_csr(out, A, comment);
    else
        put_vector(out, n, x, comment);
    tl_c_numbers_end(c);
    int bad = ferror(out), closed = fclose(out);
    if (bad || closed != 0) {
        talus_status status = TL_FAIL(err, TALUS_IO, "%s: writing failed: %s", path, strerror(errno));
        tl_replace_discard(&target);
        return status;
    }
    return tl_replace_commit(&target, err);
}

talus_status tl_mm_write_csr(const char *path, const tl_csr *A, const char *comment, talus_error *err)
{
    return write_file(path, A, 0, NULL, comment, err);
}

talus_status tl_mm_write_vector(const char *path, int64_t n, const double *x, const char *comment, talus_error *err)
{
    return write_file(path, NULL, n, x, comment, err);
}

/* ---- reading ---- */

typedef struct reader {
    const char *path;
    FILE *in;
    int64_t bytes; /* of the file: bounds what a wrong size can make us allocate */
    long line;
    bool symmetric;
    char text[LINE_MAX_BYTES];
    talus_error *err;
} reader;

static talus_status bad_line(const reader *r, const char *what)
{
    return TL_FAIL(r->err, TALUS_BAD_INPUT, "%s:%ld: %s", r->path, r->line, what);
}

static talus_status next_line(reader *r)
{
    r->line++;
    if (!fgets(r->text, sizeof r->text, r->in)) {
        if (ferror(r->in))
            return TL_FAIL(r->err, TALUS_IO, "%s:%ld: cannot read: %s", r->path, r->line, strerror(errno));
        return bad_line(r, "the file ends too early");
    }
    if (!strchr(r->text, '\n') && !feof(r->in))
        return bad_line(r, "line is longer than 1023 characters, or holds a zero byte");
    return TALUS_OK;
}

/* The next line that is neither a comment nor blank. */
static talus_status next_data(reader *r)
{
    do TL_TRY(next_line(r));
    while (r->text[0] == '%' || r->text[strspn(r->text, " \t\r\n")] == '\0');
    return TALUS_OK;
}

static talus_status read_banner(reader *r, const char *layout)
{
    char banner[32], object[32], found[32], field[32], shape[32];
    TL_TRY(next_line(r));
    if (sscanf(r->text, "%31s %31s %31s %31s %31s", banner, object, found, field, shape) != 5 ||
        strcasecmp(banner, "%%MatrixMarket") != 0)
        return bad_line(r, "must begin with %%MatrixMarket and four words");
    if (strcasecmp(object, "matrix") != 0 || strcasecmp(found, layout) != 0)
        return TL_FAIL(r->err, TALUS_UNSUPPORTED, "%s:%ld: expected \"matrix %s\", got \"%s %s\"", r->path, r->line,
                       layout, object, found);
    if (strcasecmp(field, "real") != 0 && strcasecmp(field, "integer") != 0)
        return TL_FAIL(r->err, TALUS_UNSUPPORTED, "%s:%ld: entries must be real or integer, got \"%s\"", r->path,
                       r->line, field);
    r->symmetric = strcasecmp(shape, "symmetric") == 0;
    if (!r->symmetric && strcasecmp(shape, "general") != 0)
        return TL_FAIL(r->err, TALUS_UNSUPPORTED, "%s:%ld: shape must be general or symmetric, got \"%s\"", r->path,
                       r->line, shape);
    return TALUS_OK;
}

/* One nonnegative integer at *at; moves on. */
static bool take_int(char **at, int64_t *value)
{
    char *end;
    errno = 0;
    long long v = strtoll(*at, &end, 10);
    if (end == *at || errno || v < 0) return false;
    *at = end;
    *value = v;
    return true;
}

static bool take_number(char **at, double *value)
{
    char *end;
    *value = strtod(*at, &end);
    if (end == *at) return false;
    *at = end;
    return true;
}

static bool at_end(const char *at) { return at[strspn(at, " \t\r\n")] == '\0'; }

typedef struct triplets {
    int32_t *row, *col;
    double *val;
    int64_t count;
} triplets;

static talus_status read_entries(reader *r, int64_t rows, int64_t cols, int64_t stored, triplets *t)
{
    for (int64_t k = 0; k < stored; k++) {
        int64_t i, j;
        double v;
        TL_TRY(next_data(r));
        char *at = r->text;
        if (!take_int(&at, &i) || !take_int(&at, &j) || !take_number(&at, &v) || !at_end(at))
            return bad_line(r, "expected row, column and value");
        if (i < 1 || i > rows || j < 1 || j > cols)
            return TL_FAIL(r->err, TALUS_BAD_INPUT, "%s:%ld: entry (%lld, %lld) is outside of a %lld x %lld matrix",
                           r->path, r->line, (long long)i, (long long)j, (long long)rows, (long long)cols);
        if (r->symmetric && j > i) return bad_line(r, "entry above the diagonal of a symmetric matrix");
        if (!isfinite(v)) return bad_line(r, "value is not finite");
        t->row[t->count] = (int32_t)(i - 1);
        t->col[t->count] = (int32_t)(j - 1);
        t->val[t->count++] = v;
        if (r->symmetric && i != j) {
            t->row[t->count] = (int32_t)(j - 1);
            t->col[t->count] = (int32_t)(i - 1);
            t->val[t->count++] = v;
        }
    }
    return TALUS_OK;
}

static talus_status read_csr(reader *r, tl_csr *A, triplets *t)
{
    int64_t rows, cols, stored;
    TL_TRY(read_banner(r, "coordinate"));
    TL_TRY(next_data(r));
    char *at = r->text;
    if (!take_int(&at, &rows) || !take_int(&at, &cols) || !take_int(&at, &stored) || !at_end(at))
        return bad_line(r, "expected rows, columns and number of entries");
    if (r->symmetric && rows != cols) return bad_line(r, "a symmetric matrix must be square");
    if (rows > r->bytes || cols > r->bytes || stored > r->bytes || rows > INT32_MAX || cols > INT32_MAX)
        return TL_FAIL(r->err, TALUS_BAD_INPUT,
                       "%s:%ld: %lld x %lld with %lld entries cannot be in a file of %lld bytes", r->path, r->line,
                       (long long)rows, (long long)cols, (long long)stored, (long long)r->bytes);

    int64_t room = r->symmetric ? 2 * stored : stored;
    t->row = TL_NEW(int32_t, room);
    t->col = TL_NEW(int32_t, room);
    t->val = TL_NEW(double, room);
    if (!t->row || !t->col || !t->val)
        return TL_FAIL(r->err, TALUS_NO_MEMORY, "no memory for %lld entries of %s", (long long)room, r->path);
    TL_TRY(read_entries(r, rows, cols, stored, t));
    return tl_csr_from_triplets(A, (int32_t)rows, (int32_t)cols, t->count, t->row, t->col, t->val, r->err);
}

static talus_status read_vector(reader *r, int64_t *n, double **x)
{
    int64_t rows, cols;
    TL_TRY(read_banner(r, "array"));
    TL_TRY(next_data(r));
    char *at = r->text;
    if (!take_int(&at, &rows) || !take_int(&at, &cols) || !at_end(at)) return bad_line(r, "expected rows and columns");
    if (cols != 1) return bad_line(r, "a vector has one column");
    if (rows > r->bytes) return bad_line(r, "more entries than the file has bytes");
    *x = TL_NEW(double, rows);
    if (!*x) return TL_FAIL(r->err, TALUS_NO_MEMORY, "no memory for %lld entries of %s", (long long)rows, r->path);
    for (int64_t i = 0; i < rows; i++) {
        TL_TRY(next_data(r));
        at = r->text;
        if (!take_number(&at, &(*x)[i]) || !at_end(at)) return bad_line(r, "expected one number");
        if (isnan((*x)[i])) return bad_line(r, "value is not a number");
    }
    *n = rows;
    return TALUS_OK;
}

static talus_status open_reader(reader *r, const char *path, talus_error *err)
{
    *r = (reader){.path = path, .err = err};
    struct stat info;
    r->in = tl_file_reader(path);
    if (!r->in || fstat(fileno(r->in), &info) != 0) {
        talus_status status = TL_FAIL(err, TALUS_IO, "%s: %s", path, tl_file_reason());
        if (r->in) fclose(r->in);
        return status;
    }
    r->bytes = (int64_t)info.st_size;
    return TALUS_OK;
}

talus_status tl_mm_read_csr(const char *path, tl_csr *A, talus_error *err)
{
    *A = (tl_csr){0};
    reader r;
    TL_TRY(open_reader(&r, path, err));
    triplets t = {0};
    tl_c_numbers c = tl_c_numbers_begin();
    talus_status status = read_csr(&r, A, &t);
    tl_c_numbers_end(c);
    fclose(r.in);
    tl_free(t.row);
    tl_free(t.col);
    tl_free(t.val);
    return status;
}

talus_status tl_mm_read_vector(const char *path, int64_t *n, double **x, talus_error *err)
{
    *x = NULL;
    *n = 0;
    reader r;
    TL_TRY(open_reader(&r, path, err));
    tl_c_numbers c = tl_c_numbers_begin();
    talus_status status = read_vector(&r, n, x);
    tl_c_numbers_end(c);
    fclose(r.in);
    if (status != TALUS_OK) {
        tl_free(*x);
        *x = NULL;
    }
    return status;
}
