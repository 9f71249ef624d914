#include "base/alloc.h"
#include "math/csr.h"

static talus_status grow(tl_csr *T, int64_t *room, int64_t need, talus_error *err)
{
    if (need <= *room) return TALUS_OK;
    int32_t *col = tl_realloc(T->col, sizeof *col * 2 * (size_t)need);
    if (col) T->col = col;
    double *val = tl_realloc(T->val, sizeof *val * 2 * (size_t)need);
    if (val) T->val = val;
    if (!col || !val) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write out an operator of %d columns", T->rows);
    *room = 2 * need;
    return TALUS_OK;
}

static talus_status write_columns(tl_csr *T, tl_csr_column *column, void *ctx, double *y, talus_error *err)
{
    int64_t room = 1, at = 0;
    for (int32_t j = 0; j < T->rows; j++) {
        TL_TRY(grow(T, &room, at + T->cols, err));
        column(ctx, j, y);
        for (int32_t i = 0; i < T->cols; i++)
            if (y[i] != 0) {
                T->col[at] = i;
                T->val[at++] = y[i];
            }
        T->start[j + 1] = at;
    }
    return TALUS_OK;
}

talus_status tl_csr_from_columns(tl_csr *A, int32_t rows, int32_t cols, tl_csr_column *column, void *ctx,
                                 talus_error *err)
{
    tl_csr T = {0}; /* its rows are the columns */
    double *y = TL_NEW_ZERO(double, rows);
    talus_status status = y ? tl_csr_create(&T, cols, rows, 1, err)
                            : TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write out an operator of %d rows", rows);
    if (status == TALUS_OK) status = write_columns(&T, column, ctx, y, err);
    if (status == TALUS_OK) status = tl_csr_transpose(A, &T, err);
    tl_csr_free(&T);
    tl_free(y);
    return status;
}
