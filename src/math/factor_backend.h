/* What a library must offer to serve math/factor.h. Included by factor.c, perm.c and the back ends only. */
#ifndef TL_MATH_FACTOR_BACKEND_H
#define TL_MATH_FACTOR_BACKEND_H

#include "math/factor.h"

/* The caller has checked sizes, patterns and the order of calls; it keeps `info` and sets info->n. */
typedef struct tl_factor_backend {
    const char *name;
    void *(*create)(tl_factor_kind kind); /* NULL: no memory */
    void (*free)(void *state);
    /* perm: NULL, or the order to keep. Drops an earlier analysis first, also when it fails. Sets perm,
     * nonzeros and flops of info. */
    talus_status (*analyse)(void *state, const tl_csr *A, tl_order order, const int32_t *perm, tl_factor_info *info,
                            talus_error *err);
    /* Sets negative and bad_column. */
    talus_status (*compute)(void *state, const tl_csr *A, tl_factor_info *info, talus_error *err);
    talus_status (*solve)(void *state, int k, const double *b, double *x, talus_error *err);             /* [k][n] */
    talus_status (*part)(void *state, int64_t count, const int32_t *index, double *C, talus_error *err); /* of A^-1 */
    talus_status (*lower)(const void *state, tl_csr *Lt, double *D, talus_error *err);
} tl_factor_backend;

extern const tl_factor_backend tl_factor_cholmod;

/* AMD and METIS, which come with CHOLMOD. */
talus_status tl_cholmod_order(tl_order order, const tl_csr *A, int32_t *perm, talus_error *err);

#endif
