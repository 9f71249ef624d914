/* What files of captured problems share: arrays and matrices in and out (capture.c). Kinds of which there is more to
 * say have a file of their own. */
#ifndef TL_IO_CAPTURE_INSIDE_H
#define TL_IO_CAPTURE_INSIDE_H

#include "io/capture.h"
#include "io/hdf5_file.h"

talus_status tl_capture_check_finite(const char *name, int64_t n, const double *x, talus_error *err);
talus_status tl_capture_put_doubles(tl_h5 *f, const char *name, int64_t n, const double *x, talus_error *err);
talus_status tl_capture_put_csr(tl_h5 *f, const char *name, const tl_csr *A, talus_error *err);
/* The array must have `count` entries; it belongs to c. */
talus_status tl_capture_get_doubles(tl_captured *c, tl_h5 *f, const char *name, int64_t count, const double **out,
                                    talus_error *err);
/* cols < 0: square. What is read is a sound matrix. */
talus_status tl_capture_get_csr(tl_h5 *f, const char *name, int32_t cols, tl_csr *A, talus_error *err);

/* capture_flex.c */
talus_status tl_capture_put_flex(tl_h5 *f, const void *problem, talus_error *err);
talus_status tl_capture_get_flex(tl_captured *c, tl_h5 *f, talus_error *err);
void tl_captured_free_flex(tl_captured *c);

#endif
