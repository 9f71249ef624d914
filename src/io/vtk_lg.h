/* Elastic bodies as a VTK file: all nodes as points with `velocity`, `id` (their number, the same in every frame)
 * and `body`, surfaces of solids and cloth as triangles with `body` (index in the scene; `names` in the field data). */
#ifndef TL_IO_VTK_LG_H
#define TL_IO_VTK_LG_H

#include "model/lg/holds.h"
#include "model/state.h"

/* hold [tl_lg_hold_count]: what anchors, handles, cables and joins do, as arrays `holds_...` in the field data;
 * NULL: not known. */
talus_status tl_vtk_nodes(const char *path, const tl_scene *scene, const tl_lg *lg, const tl_lg_hold *hold, double t,
                          const double *q, const double *v, talus_error *err);

/* Positions and velocities back from such a file of as many nodes. q, v [nodes][3]; v may be NULL. */
talus_status tl_vtk_nodes_read(const char *path, int32_t nodes, double *q, double *v, talus_error *err);

#endif
