/* Even samples out of too many. */
#ifndef TL_MODEL_SPH_THIN_H
#define TL_MODEL_SPH_THIN_H

#include "base/arena.h"
#include "geom/surface.h"

/* Takes away the most crowded point, again and again, until the sum of W over a point's neighbours, itself included,
 * is `max` / h^3 or less everywhere, or `keep` points are left. A flat lattice of spacing h has 0.7006. Points that
 * stay keep their order. O(n log n) */
talus_status tl_sph_thin(tl_points *p, double h, double max, int32_t keep, tl_arena *a, talus_error *err);

#endif
