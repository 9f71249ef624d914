/* A whole coupled step of liquid, sand, bodies and contacts as one HDF5 file, for bug reports and for checkers that
 * trust nothing of ours. Format: docs/capture-format.md, "Whole steps". */
#ifndef TL_RUN_STEP_CAPTURE_H
#define TL_RUN_STEP_CAPTURE_H

#include "phase/grid/grid.h"

/* note: free text, may be NULL. */
talus_status tl_step_capture(const char *path, const tl_grid_view *v, const char *note, talus_error *err);

#endif
