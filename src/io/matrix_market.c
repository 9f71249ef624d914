#include "io/matrix_market.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/replace.h"
#include "base/text.h"

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
