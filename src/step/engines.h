/* The entries of the table in sim.c. */
#ifndef TL_STEP_ENGINES_H
#define TL_STEP_ENGINES_H

#include "step/sim.h"

extern const tl_engine_entry tl_engine_grid, tl_engine_sph, tl_engine_lg;

#endif
