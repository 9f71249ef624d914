/* Matrix Market text files: what other tools read, and how a user hands us a matrix.
 *
 * Written: "coordinate real symmetric" (lower triangle) when the matrix equals its transpose bit for
 * bit, else "coordinate real general"; vectors as "array real general" with one column. Numbers
 * have 17 digits, so reading gives the same bits; infinite bounds are written inf and -inf.
 * Read: coordinate or array, real or integer, general or symmetric. Messages name file and line.
 * Files are complete or absent (base/replace.h); numbers use the point whatever the locale. */
#ifndef TL_IO_MATRIX_MARKET_H
#define TL_IO_MATRIX_MARKET_H

#include "math/csr.h"

/* comment: one line or several, or NULL. */
talus_status tl_mm_write_csr(const char *path, const tl_csr *A, const char *comment, talus_error *err);
talus_status tl_mm_write_vector(const char *path, int64_t n, const double *x, const char *comment, talus_error *err);

/* Coordinate files; duplicates are added. The matrix is the caller's, to free with tl_csr_free. */
talus_status tl_mm_read_csr(const char *path, tl_csr *A, talus_error *err);

/* Array files with one column; *x is the caller's, to free with tl_free. NaN is refused. */
talus_status tl_mm_read_vector(const char *path, int64_t *n, double **x, talus_error *err);

#endif
