/* Minimal residuals [PaigeSaunders1975] for kind "viscous", with a block preconditioner:
 *
 *     velocities   one multigrid cycle of K (levels.h), and the 6x6 block of each body
 *     pressures    (G^T M^-1 G)^-1 by one cycle of kind "pressure", plus the diagonal of viscous cells:
 *                  what a pressure has to do is the sum of the two limits [Cahouet1988]
 *
 * Iterations hardly depend on viscosity or grid (`talus bench viscous`). */
#ifndef TL_SOLVE_VISCOUS_METHOD_H
#define TL_SOLVE_VISCOUS_METHOD_H

#include "solve/outcome.h"
#include "solve/viscous/problem.h"

typedef struct tl_viscous_plan tl_viscous_plan;

/* How velocities are preconditioned: to compare. */
typedef enum tl_viscous_precond { TL_VISCOUS_MULTIGRID, TL_VISCOUS_JACOBI } tl_viscous_precond;

/* Levels and vectors; all memory of a run, in the arena until that is released below it. */
talus_status tl_viscous_plan_make(tl_viscous_plan **plan, const tl_viscous *p, tl_viscous_precond precond, tl_arena *a,
                                  talus_error *err);

/* x = 0 in; b, x [faces + others + cells]. Stops where the residual is `tolerance` of what it was, in the norm of the
 * preconditioner: the caller certifies. */
tl_outcome tl_viscous_run(tl_viscous_plan *plan, const double *b, const tl_stop *stop, double *x, tl_work *w);

/* The same by uzawa.c, for comparison; the residual is that of divergence, root of its squares. */
talus_status tl_viscous_uzawa(const tl_viscous *p, const double *b, const tl_stop *stop, double *x, tl_arena *a,
                              tl_work *w, tl_outcome *out, talus_error *err);

#endif
