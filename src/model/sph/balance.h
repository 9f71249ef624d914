/* Better warm starts: loads in balance from body to body.
 *
 * A start that remembers forces of earlier steps has the right pattern at each contact, but what a heavy body
 * changed must still travel through all that carry it, which takes the solver long where masses differ. Here the
 * forces of each pair of bodies get one common factor, all factors together the ones that leave the least energy: a
 * small system, solved by conjugate gradients with the forces as its basis. Factors keep pressures positive and
 * friction in its cones. */
#ifndef TL_MODEL_SPH_BALANCE_H
#define TL_MODEL_SPH_BALANCE_H

#include "model/sph/sph.h"

/* x: a start, in and out; kept where factors do not lower the solver's error. */
talus_status tl_sph_balance(tl_sph_step *s, const tl_fixedpoint *p, double *x, tl_arena *a, talus_error *err);

#endif
