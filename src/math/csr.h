/* Sparse matrices in compressed rows, int64 offsets and int32 columns.
 *
 * Column indices rise within a row; no duplicates. A symmetric matrix stores both triangles.
 * Products run on all threads over blocks of rows, each row summed in column order: same bits for
 * any thread count. One product of a 7-point matrix moves 12 bytes per nonzero and 24 per row and
 * is bandwidth bound. */
#ifndef TL_MATH_CSR_H
#define TL_MATH_CSR_H

#include <stdint.h>

#include "base/status.h"

typedef struct tl_csr {
    int32_t rows, cols;
    int64_t *start; /* [rows + 1] */
    int32_t *col;   /* [start[rows]] */
    double *val;    /* [start[rows]] */
} tl_csr;

/* Heap arrays for `nonzeros` entries; start[0] = 0, the rest uninitialised. */
talus_status tl_csr_create(tl_csr *A, int32_t rows, int32_t cols, int64_t nonzeros, talus_error *err);
void tl_csr_free(tl_csr *A); /* leaves {0}; {0} is fine */

/* From (row, col, val) triplets in any order; duplicates are added in the order given. */
talus_status tl_csr_from_triplets(tl_csr *A, int32_t rows, int32_t cols, int64_t count, const int32_t *row,
                                  const int32_t *col, const double *val, talus_error *err);

/* Of an operator without rows: column j is what `column` writes to y [rows], of which the zeros are left out. */
typedef void tl_csr_column(void *ctx, int32_t j, double *y);
talus_status tl_csr_from_columns(tl_csr *A, int32_t rows, int32_t cols, tl_csr_column *column, void *ctx,
                                 talus_error *err);

/* Offsets rise, columns in range and rising, values finite. The message names the first bad row. */
talus_status tl_csr_check(const tl_csr *A, talus_error *err);

void tl_csr_mul(const tl_csr *A, const double *x, double *y);                   /* y = A x */
void tl_csr_mul_add(const tl_csr *A, double scale, const double *x, double *y); /* y += scale A x */

void tl_csr_diagonal(const tl_csr *A, double *diag); /* 0 where no entry is stored */

talus_status tl_csr_transpose(tl_csr *T, const tl_csr *A, talus_error *err);
/* C = A^T diag(d) A; d NULL means identity. */
talus_status tl_csr_gram(tl_csr *C, const tl_csr *A, const double *d, talus_error *err);

#endif
