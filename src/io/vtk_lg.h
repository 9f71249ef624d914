/* Elastic bodies as a VTK file: all nodes as points with `velocity`, surfaces of solids and cloth as triangles with `body` (index in the scene; `names` in
 * the field data). */
#ifndef TL_IO_VTK_LG_H
#define TL_IO_VTK_LG_H

#include "model/lg/lg.h"
#include "model/state.h"

talus_status tl_vtk_nodes(const char *path, const tl_scene *scene, const tl_lg *lg, const tl_state *s,
                          talus_error *err);

#endif
