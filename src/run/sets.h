/* Sets of an engine's views that no writer knows by name: each with places ("points.position") becomes a cloud of
 * points in frames/. */
#ifndef TL_RUN_SETS_H
#define TL_RUN_SETS_H

#include "phase/sim.h"

#define TL_SETS_MAX 8

/* Their names ("points"), each once; text of `room` bytes for each. Returns how many. */
int tl_sets(const tl_sim *sim, char out[TL_SETS_MAX][32]);
/* frames/SET-NNNN.vtp: points with all arrays of the set. */
talus_status tl_set_write(const char *path, const tl_sim *sim, const char *set, talus_error *err);

#endif
