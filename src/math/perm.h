/* Permutations, and orderings that make sparse factors small.
 *
 * A permutation is an array perm[new] = old, as CHOLMOD has it: row k of the reordered matrix is row perm[k] of the
 * original one. */
#ifndef TL_MATH_PERM_H
#define TL_MATH_PERM_H

#include <stdint.h>

#include "base/status.h"
#include "math/csr.h"

/* Each of 0..n-1 exactly once; the message names the first entry that is out of range or repeated. */
talus_status tl_perm_check(int32_t n, const int32_t *perm, talus_error *err);

typedef enum tl_order {
    TL_ORDER_AMD,     /* approximate minimum degree: fast, good in 2D and for small systems */
    TL_ORDER_METIS,   /* nested dissection: 1.5 times less fill than AMD in 3D, ten times its time */
    TL_ORDER_RCM,     /* reverse Cuthill-McKee: small bandwidth, for incomplete factors and locality */
    TL_ORDER_NATURAL, /* the identity */
    TL_ORDER_GIVEN    /* the caller's own; only where a permutation can be passed */
} tl_order;

/* An ordering of a square matrix with a symmetric pattern (both triangles stored; values unused).
 * The same matrix gives the same order. METIS draws from the C library's rand() after seeding
 * it: one METIS ordering runs at a time, and the program's own rand() sequence restarts. */
talus_status tl_perm_order(tl_order order, const tl_csr *A, int32_t *perm, talus_error *err);

#endif
