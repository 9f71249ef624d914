/* The two sweeps over pairs of fluid particles that every iteration of the solver makes, in float. */
#ifndef TL_MODEL_SPH_SWEEPS_H
#define TL_MODEL_SPH_SWEEPS_H

#include "model/sph/sph.h"

/* Items that the sweeps may read beyond the end of p and a, and write beyond that of gathered. */
#define TL_SPH_ROOM 32

/* a = velocity that the pressures s->p give to fluid. */
void tl_sph_push_fluid(tl_sph_step *s);
/* r [fluid] = volume errors after the velocities a were added; bodies at rest. */
void tl_sph_fluid_residual(tl_sph_step *s, double *r);

#endif
