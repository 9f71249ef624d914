/* The operator A + diag(d), for barrier, penalty and splitting methods. d may change between products. */
#ifndef TL_SOLVE_SHIFTED_H
#define TL_SOLVE_SHIFTED_H

#include "solve/linop.h"

typedef struct tl_shifted {
    const tl_linop *A;
    const double *d; /* [n] */
    int64_t n;
} tl_shifted;

tl_linop tl_linop_shifted(const tl_shifted *ctx); /* keeps the pointer */

#endif
