/* Gauss-Seidel sweeps over contacts: methods of their own, a start for Newton, and its fallback. */
#ifndef TL_SOLVE_CONTACT_SWEEPS_H
#define TL_SOLVE_CONTACT_SWEEPS_H

#include "base/work.h"
#include "solve/contact/pairs.h"

typedef enum tl_sweep_shape { TL_SWEEP_DISC, TL_SWEEP_PYRAMID } tl_sweep_shape;

/* `count` sweeps: normal, then friction with step w_t, in contact order; dv must be M^-1 J^T lam on entry and is
 * on exit (recomputed every 10 sweeps, so rounding does not gather). Each sweep counts as one product. */
void tl_contact_sweep(const tl_pairs *t, int count, tl_sweep_shape shape, double *lam, double *dv, tl_work *w);

#endif
