/* Streaming loops of the methods, fused so that each vector is read once. All are bandwidth bound
 * and give the same bits for any thread count. Sums are local: pass them to tl_space_sum. */
#ifndef TL_SOLVE_VECOPS_H
#define TL_SOLVE_VECOPS_H

#include <stdint.h>

void tl_vec_copy(int64_t n, const double *x, double *y);
void tl_vec_fill(int64_t n, double value, double *x);
void tl_vec_add(int64_t n, double a, const double *x, double *y);          /* y += a x */
void tl_vec_add_to(int64_t n, const double *x, double b, double *y);       /* y = x + b y */
void tl_vec_sub(int64_t n, const double *x, const double *y, double *out); /* out = x - y; out may be x or y */

/* x += a p and r -= a q in one pass; returns sum r^2 and, in *r_max, max|r|. */
double tl_vec_cg_step(int64_t n, double a, const double *p, const double *q, double *x, double *r, double *r_max);

/* max over local entries of |.|, where NaN counts as infinity. */
double tl_vec_max_abs(int64_t n, const double *x);

#endif
