/* The surface of a liquid that is known by its particles alone, for pictures. */
#ifndef TL_RENDER_LIQUID_SURFACE_H
#define TL_RENDER_LIQUID_SURFACE_H

#include "geom/trimesh.h"

/* Particles `spacing` apart at rest: where the distance to the weighted mean of the particles around is less than a
 * radius [Zhu2005], marched on a lattice of about one spacing. Particles outside of `box` are left out; an empty
 * mesh when none is left. Lattices of more than 48 million places are made coarser. Same for any number of threads. */
talus_status tl_liquid_surface(int32_t count, const tl_vec3 *at, double spacing, tl_box3 box, tl_trimesh *out,
                               talus_error *err);

#endif
