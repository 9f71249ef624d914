/* Volumes of the particles of a fill, so that the filling of every cell is that of the shape.
 *
 * Particles are points of a quadrature: where a shape or a solid cuts their lattice, or places are random, equal
 * volumes give cells up to half a particle too much or too little, and liquid that should start at rest starts with
 * waves. Volumes are chosen so that the hat-kernel filling of each cell is the integral of the kernel over the fills
 * outside of solids; of all that do, those nearest to equal ones. */
#ifndef TL_MODEL_GRID_FILL_VOLUMES_H
#define TL_MODEL_GRID_FILL_VOLUMES_H

#include "model/grid/solids.h"
#include "model/grid/state.h"

/* p sorted as for tl_grid_build; solids at the poses of the start. Volumes in: equal shares. Only liquids: scenes
 * with sand are left as they are. */
talus_status tl_fill_volumes(const tl_scene *s, const tl_grid *g, const tl_solids *solids, tl_particles *p, tl_arena *a,
                             talus_error *err);

#endif
