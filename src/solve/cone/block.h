/* The exact minimiser of one group: min 1/2 x'Bx - c'x subject to x'Qx <= r^2, B symmetric
 * positive semidefinite of size up to TL_CONE_MAX. Coordinates y with x = S y in which Q is the
 * identity and B diagonal are found once (tl_cone_block_factor); each minimisation is then one
 * scalar equation in the multiplier theta, |y(theta)| = r with y_i = c_i / (w_i + theta). */
#ifndef TL_SOLVE_CONE_BLOCK_H
#define TL_SOLVE_CONE_BLOCK_H

#include "solve/cone/group.h"

/* w [size] eigenvalues of B relative to Q, those below rounding set to exactly 0;
 * S [size x size] by rows: S'QS = I, S'BS = diag(w). */
void tl_cone_block_factor(const tl_cone_metric *q, const double *B, double *w, double *S);

/* x [size] out. Where the minimiser is not unique (B singular), the one with the smallest x'Qx. */
void tl_cone_block_minimise(int size, const double *w, const double *S, const double *c, double r, double *x);

#endif
