/* The problem of a step of particles as data: rows instead of sums over neighbours. For captures: one residual per
 * unknown. */
#ifndef TL_MODEL_SPH_WRITTEN_H
#define TL_MODEL_SPH_WRITTEN_H

#include "model/sph/sph.h"
#include "solve/fixedpoint/problem.h"

#define TL_SPH_WRITTEN_MAX 20000 /* unknowns: as many residuals, a minute or two */

/* After tl_sph_problem. All of it lives in the arena but A, which tl_csr_free frees. Unsupported: more unknowns, or
 * friction that is not solved for. */
talus_status tl_sph_write_down(tl_sph_step *s, tl_projected *out, tl_csr *A, tl_arena *a, talus_error *err);

#endif
