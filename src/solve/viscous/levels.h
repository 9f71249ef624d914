/* Multigrid for velocities on faces: coarse faces are twice as large, interpolation is linear along and across the
 * normal, coarse matrices are P^T K P. Each axis has its own faces; what couples them is in the matrices.
 *
 * Smoothing by Chebyshev polynomials of the matrix over its absolute row sums, whose spectrum is below one: products
 * alone, so that the order of unknowns and threads do not matter. All in single precision; the cycle is symmetric and
 * positive definite. Memory follows the faces, not their bounding box. */
#ifndef TL_SOLVE_VISCOUS_LEVELS_H
#define TL_SOLVE_VISCOUS_LEVELS_H

#include <stdbool.h>

#include "base/arena.h"
#include "math/csr.h"

typedef struct tl_face_levels tl_face_levels;

/* open rows have entries; closed faces (none) are zero for whatever is interpolated beside them. */
talus_status tl_face_levels_build(tl_face_levels **out, const tl_csr *K, const int8_t *axis, const int32_t (*ijk)[3],
                                  const int32_t period[3], tl_arena *a, talus_error *err);

/* z = about K^-1 r, [faces] */
void tl_face_levels_cycle(tl_face_levels *l, const double *r, double *z);

#endif
