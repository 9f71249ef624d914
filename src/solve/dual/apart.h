/* The pressure of a solved "dual" problem at the answers of the other blocks, as a problem for boxes: what captures
 * take. */
#ifndef TL_SOLVE_DUAL_APART_H
#define TL_SOLVE_DUAL_APART_H

#include "solve/boxqp/problem.h"
#include "solve/dual/method.h"

/* After tl_dual_solve, of a liquid that is not viscous. Rows are A's, to be freed; the rest is in the arena of `s`. One
 * solve with the solids' factors per cell that pushes them. */
talus_status tl_dual_pressure_apart(tl_dual_solver *s, tl_boxqp *out, tl_csr *A, talus_error *err);

#endif
