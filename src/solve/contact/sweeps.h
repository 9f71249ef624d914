/* Gauss-Seidel sweeps over contacts: methods of their own, a start for Newton, and its fallback. */
#ifndef TL_SOLVE_CONTACT_SWEEPS_H
#define TL_SOLVE_CONTACT_SWEEPS_H

#include "base/work.h"
#include "solve/contact/pairs.h"

typedef enum tl_sweep_shape { TL_SWEEP_DISC, TL_SWEEP_PYRAMID } tl_sweep_shape;

/* `count` sweeps: normal, then friction with step w_t, in contact order; dv must be M^-1 J^T lam on entry and is
 * on exit (recomputed every 10 sweeps, so rounding does not gather). Each sweep counts as one product. */
void tl_contact_sweep(const tl_pairs *t, int count, tl_sweep_shape shape, double *lam, double *dv, tl_work *w);

/* Sweeps with momentum: each starts from where the last two lead to,
 *     y = sweep(x),   x' = y + beta (y - y_before),   beta = age / (age + 3)
 * and a contact whose momentum turned against it loses most of its age and may not grow as old again for a while. One age for all contacts does not do: a few that
 * circle keep circling while the sum over all falls, or stop everyone. */
typedef struct tl_momentum {
    const tl_pairs *t;
    double *x, *y, *before; /* [3 contacts] scratch */
    double *age, *oldest;   /* [contacts] scratch */
    double *dv, *out;       /* [lanes] scratch */
} tl_momentum;

/* From lam to lam, the best that was looked at, until its residual is at most `tolerance`, at most `cap` sweeps. Returns the
 * residual, m/s. */
double tl_contact_momentum(const tl_momentum *s, double tolerance, int cap, double *lam, tl_work *w);

#endif
