#include "solve/linop.h"

static void apply_csr(const tl_linop *A, const double *x, double *y) { tl_csr_mul(A->csr, x, y); }

tl_linop tl_linop_csr(const tl_csr *A) { return (tl_linop){.apply = apply_csr, .csr = A}; }

void tl_linop_apply(const tl_linop *A, const tl_space *s, double *x, double *y, tl_work *w)
{
    if (s->exchange) s->exchange(s, x);
    A->apply(A, x, y);
    if (w) w->products++;
}
