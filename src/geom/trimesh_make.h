/* Simple closed meshes by formula, oriented outwards and share their vertices. */
#ifndef TL_GEOM_TRIMESH_MAKE_H
#define TL_GEOM_TRIMESH_MAKE_H

#include "geom/trimesh.h"

/* Sphere around the origin from an icosahedron cut `level` times: 20 * 4^level triangles, level 0..9. */
talus_status tl_trimesh_icosphere(tl_trimesh *m, double radius, int level, talus_error *err);
/* Box around the origin, full edges; each face a lattice of cells^2 squares of two triangles. */
talus_status tl_trimesh_box(tl_trimesh *m, tl_vec3 size, int cells, talus_error *err);

#endif
