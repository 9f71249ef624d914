/* A pillar of blocks as a fixed-point problem.
 *
 * n unit masses in a column; x_i >= 0 is the force below block i, r = A x + c the acceleration of
 * each gap: A = tridiag(-1, 2, -1) with A_00 = 1 (the ground does not move), c_0 = -g. At rest
 * x_i = g (n - i). A pull `lift` on block k opens the gap below it when lift > g (n - k).
 * One step: y = max(0, x - nu r / A_ii). */
#ifndef TL_BENCH_GEN_CHAIN_H
#define TL_BENCH_GEN_CHAIN_H

#include "math/csr.h"
#include "solve/fixedpoint/problem.h"

#define CHAIN_G 9.81

typedef struct tl_chain {
    tl_csr A;  /* [n x n] */
    double *c; /* [n] */
    double nu; /* relaxation */
} tl_chain;

talus_status tl_chain_create(tl_chain *ch, int32_t n, int32_t k, double lift, talus_error *err);
void tl_chain_free(tl_chain *ch);

/* What a part sees of it; also serves the whole (`A` the chain's, space local). */
typedef struct tl_chain_part {
    const tl_space *space;
    const tl_csr *A; /* local rows */
    const double *c; /* local */
    double nu;
} tl_chain_part;

/* The problem on one part; `with_measure`: the mean Fischer-Burmeister error instead of the largest change. */
tl_fixedpoint tl_chain_problem(tl_chain_part *part, int with_measure);

#endif
