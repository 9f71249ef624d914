/* Matrix Market text files: what other tools read.
 *
 * Written: "coordinate real symmetric" (lower triangle) when the matrix equals its transpose bit for
 * bit, else "coordinate real general"; vectors as "array real general" with one column. Numbers
 * have 17 digits, so reading gives the same bits; infinite bounds are written inf and -inf.
 * Files are complete or absent (base/replace.h); numbers use the point whatever the locale. */
#ifndef TL_IO_MATRIX_MARKET_H
#define TL_IO_MATRIX_MARKET_H

#include "math/csr.h"

/* comment: one line or several, or NULL. */
talus_status tl_mm_write_csr(const char *path, const tl_csr *A, const char *comment, talus_error *err);
talus_status tl_mm_write_vector(const char *path, int64_t n, const double *x, const char *comment, talus_error *err);

#endif
