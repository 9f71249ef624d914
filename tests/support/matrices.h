/* Sparse matrices for tests of factorisations and orderings. The caller frees them. */
#ifndef TL_TESTS_MATRICES_H
#define TL_TESTS_MATRICES_H

#include "math/csr.h"

/* 7-point Laplacian of an nx x ny x nz grid with Dirichlet walls: 6 on the diagonal plus `shift`, -1 beside.
 * Eigenvalues shift + 6 - 2 cos(pi i/(nx+1)) - ... */
tl_csr matrix_poisson(int32_t nx, int32_t ny, int32_t nz, double shift);

/* Random sparse symmetric n x n, about `per_row` entries off the diagonal per row, diagonally dominant. */
tl_csr matrix_spd(int32_t n, int per_row, uint64_t seed);

/* [H B'; B -C]: H = matrix_spd(n), B m x n sparse, C = 1e-2 I. Exactly m negative eigenvalues. */
tl_csr matrix_kkt(int32_t n, int32_t m, uint64_t seed);

/* B[i][j] = A[perm[i]][perm[j]]; perm: new index -> old index. */
tl_csr matrix_permuted(const tl_csr *A, const int32_t *perm);

double *matrix_dense(const tl_csr *A); /* row-major, from tl_alloc */

#endif
