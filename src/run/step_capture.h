/* A whole coupled step of liquid, sand, bodies and contacts as one HDF5 file, for bug reports and for checkers that trust nothing of ours.
 * Format: docs/capture-format.md, "Whole steps". */
#ifndef TL_RUN_STEP_CAPTURE_H
#define TL_RUN_STEP_CAPTURE_H

#include "step/grid.h"

/* note: free text, may be NULL. */
talus_status tl_step_capture(const char *path, const tl_grid_view *v, const char *note, talus_error *err);

/* The stress of the step at its final pressure as a problem of kind "cone", which `talus bench solvers --problem FILE` replays. Its matrix is written out by one product per unknown, so only small
 * ones are: colocated, solved whole, not more than TL_STRESS_CAPTURE_MAX unknowns. */
#define TL_STRESS_CAPTURE_MAX 20000
bool tl_stress_can_capture(const tl_grid_view *v);
talus_status tl_stress_capture(const char *path, const tl_grid_view *v, const char *note, talus_error *err);

#endif
