/* A linear operator: a callback, and its explicit rows when they exist. */
#ifndef TL_SOLVE_LINOP_H
#define TL_SOLVE_LINOP_H

#include "base/work.h"
#include "math/csr.h"
#include "solve/space.h"

typedef struct tl_linop {
    /* y = A x on this part: x has owned entries and a fresh halo, y gets the owned rows. */
    void (*apply)(const struct tl_linop *A, const double *x, double *y);
    const tl_csr *csr; /* the same rows, written out (columns: owned, then halo); NULL when matrix-free */
    const void *ctx;
} tl_linop;

tl_linop tl_linop_csr(const tl_csr *A); /* keeps the pointer */

/* y = A x, after refreshing x's halo; counted as one product (w may be NULL). */
void tl_linop_apply(const tl_linop *A, const tl_space *s, double *x, double *y, tl_work *w);

#endif
