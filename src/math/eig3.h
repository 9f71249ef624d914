/* Eigenvalues and eigenvectors of small symmetric matrices by Jacobi rotations: 3x3, and any order
 * up to 8 (the 5x5 groups of the cone solvers).
 *
 * Eigenvalues rise; eigenvectors are the columns of V, orthonormal to rounding also for repeated
 * eigenvalues. The backward error is a few 1e-16 of the largest eigenvalue, and small eigenvalues of
 * positive definite matrices with a graded diagonal keep relative accuracy. Entries of any size are safe. The
 * lower triangle is not read. An entry that is not finite gives NaN eigenvalues and V = I.
 * Large symmetric problems are not for here. */
#ifndef TL_MATH_EIG3_H
#define TL_MATH_EIG3_H

#include "math/vec.h"

#define TL_EIG_MAX 8

/* A = V diag(w) V^T, w[0] <= w[1] <= w[2], det V = +1. */
void tl_eig3(tl_mat3 A, double w[3], tl_mat3 *V);

/* A = V diag(w) V^T for 1 <= n <= TL_EIG_MAX; A and V [n*n] row-major, w [n] rising. V[i*n + k] is
 * entry i of eigenvector k; its determinant is +1 or -1. A and V may be the same array. */
void tl_eig_sym(int n, const double *A, double *w, double *V);

#endif
