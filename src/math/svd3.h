/* Singular values of a 3x3 matrix in the signed convention of elasticity, and the polar
 * decomposition built on them.
 *
 * Both factors are proper rotations for every input, also when F is singular or inverted; the price
 * is that the last singular value carries the sign of det F. One-sided Jacobi: |F - U S V^T| and the
 * departure of U, V from orthogonality are a few 1e-16 (of s[0] and of 1). Entries are scaled first,
 * so any finite size is safe. */
#ifndef TL_MATH_SVD3_H
#define TL_MATH_SVD3_H

#include "math/vec.h"

/* F = U diag(s) V^T with det U = det V = +1 and s[0] >= s[1] >= |s[2]|, s[1] >= 0.
 *
 * s[2] < 0 exactly when det F < 0, as far as det F can be told from rounding: below about
 * 1e-16 s[0] the sign of s[2] is noise. Where singular values vanish the columns of U that they
 * leave free are completed to a rotation; F = 0 gives U = V = I. An entry that is not finite gives
 * NaN singular values and U = V = I. */
void tl_svd3(tl_mat3 F, tl_mat3 *U, double s[3], tl_mat3 *V);

/* F = R S, R = U V^T a rotation (always), S = V diag(s) V^T exactly symmetric.
 *
 * det F > 0: the usual polar decomposition, S positive definite. Inverted F: S has one negative
 * eigenvalue, the one of smallest size. R is then still the rotation nearest to F, unique while
 * s[1] + s[2] > 0; in the cases where it is not (rank one or zero, or an inverted F with
 * s[1] = -s[2]) it is one of the nearest rotations. S may be NULL. */
void tl_polar3(tl_mat3 F, tl_mat3 *R, tl_mat3 *S);

#endif
