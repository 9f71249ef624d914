/* Sparse factors of symmetric matrices: P A P^T = L L^T or L D L^T, behind one interface.
 *
 *     tl_factor_options o = tl_factor_options_default();
 *     TL_TRY(tl_factor_create(&f, &o, err));
 *     TL_TRY(tl_factor_update(f, &A, err));         analyse if the pattern is new, then compute
 *     TL_TRY(tl_factor_solve(f, 1, b, x, err));
 *     tl_factor_free(f);
 *
 * The library that does the work (CHOLMOD today) is one entry of a table in factor.c and shows nowhere
 * else. A factor keeps its workspace, so one factor serves one thread at a time; several factors are
 * independent. BLAS runs on one thread: the same A gives the same bits. Incomplete factors and the
 * choice between direct and iterative solvers are left to solve/. */
#ifndef TL_MATH_FACTOR_H
#define TL_MATH_FACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "math/csr.h"
#include "math/perm.h"

typedef struct tl_factor tl_factor;

typedef enum tl_factor_kind {
    TL_FACTOR_LLT, /* supernodal, positive definite only; 3 to 12 times faster than LDLT to compute in 3D */
    TL_FACTOR_LDLT /* simplicial; D may have either sign. Stable for quasi-definite matrices
                      ([H B'; B -C], H and C positive definite): there is no pivoting beyond the ordering */
} tl_factor_kind;

typedef struct tl_factor_options {
    tl_factor_kind kind;
    tl_order order;
    const int32_t *perm; /* for TL_ORDER_GIVEN only: [n], new -> old, read by analyse */
    const char *backend; /* NULL: the first of the table */
} tl_factor_options;

tl_factor_options tl_factor_options_default(void); /* LLT, METIS */

talus_status tl_factor_create(tl_factor **f, const tl_factor_options *options, talus_error *err);
void tl_factor_free(tl_factor *f); /* NULL is fine */

/* Order and analyse the pattern of A (square, symmetric, both triangles stored; of values only those up to the
 * diagonal of each row are used, and here none is read). Natural and given orders are kept as they are; the others
 * end with a postordering. */
talus_status tl_factor_analyse(tl_factor *f, const tl_csr *A, talus_error *err);

/* True when A has exactly the pattern last analysed. Compares all columns: 4 bytes per nonzero. */
bool tl_factor_fits(const tl_factor *f, const tl_csr *A);

/* Compute L from the values of A, with the analysis as it is.
 *
 * TALUS_BAD_INPUT     nothing analysed, another pattern, or values that are not finite
 * TALUS_NOT_DEFINITE  LLT: a pivot <= 0; LDLT: a pivot = 0. tl_factor_info names the column.
 *
 * After a failure there is no factor to solve with, but the analysis stands. */
talus_status tl_factor_compute(tl_factor *f, const tl_csr *A, talus_error *err);

/* Analyse when A does not fit, then compute. */
talus_status tl_factor_update(tl_factor *f, const tl_csr *A, talus_error *err);

/* A x = b for k right-hand sides one after the other: b, x [k][n]. x may be b. Allocates at the first
 * call for each k up to 8 (more go in groups of 8), then no more. The bits of a solution may depend on k. */
talus_status tl_factor_solve(tl_factor *f, int k, const double *b, double *x, talus_error *err);

/* Entries of A^-1 between some unknowns: C [count][count], exactly symmetric, index [count] without repetition.
 * Forward substitution of unit vectors along the paths of the elimination tree that they lie on, then one product:
 * for some hundred unknowns five to ten times cheaper than solves. On all threads, same bits for any number of them.
 * Keeps its work between calls. LLT only. */
talus_status tl_factor_inverse_part(tl_factor *f, int64_t count, const int32_t *index, double *C, talus_error *err);

typedef struct tl_factor_info {
    int32_t n;
    const int32_t *perm; /* [n], new -> old, in force; valid until the next analyse */
    int64_t nonzeros;    /* of L with its diagonal, without the zeros that supernodes store */
    double flops;        /* to compute LL^T once */
    int32_t negative;    /* LDLT: negative pivots of the last compute; 0 for LLT */
    int32_t bad_column;  /* column of A (original numbering) where the last compute stopped, or -1 */
} tl_factor_info;

const tl_factor_info *tl_factor_info_of(const tl_factor *f);

/* L in compressed columns, copied out: row j of Lt is column j of L, diagonal first, rows rising, in the
 * factor's numbering. LLT: P A P^T = L L^T. LDLT: the diagonal of L is 1 and D [n] holds the pivots.
 * D may be NULL; LLT sets it to 1. Zeros stored by supernodes are copied too. */
talus_status tl_factor_lower(const tl_factor *f, tl_csr *Lt, double *D, talus_error *err);

#endif
