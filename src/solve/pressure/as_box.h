/* A pressure problem handed to the methods for boxes without a grid behind them: those that [FM21 tab. 1] compares.
 *
 * They see products with A, its diagonal and the bounds; their preconditioner is the incomplete factor "mic" of the
 * 7-point matrix, written out as rows. For comparison: the methods of this kind are the ones to use. */
#ifndef TL_SOLVE_PRESSURE_AS_BOX_H
#define TL_SOLVE_PRESSURE_AS_BOX_H

#include "solve/boxqp/method.h"
#include "solve/pressure/problem.h"

/* x [n + extras]: start in, answer out, untouched when there is no memory. Rows and factors live for the call alone. */
talus_status tl_pressure_as_box(const tl_boxqp_method *m, const tl_pressure *p, const tl_stop *stop, double *x,
                                tl_arena *a, tl_work *work, tl_outcome *out, talus_error *err);

#endif
