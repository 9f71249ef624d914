/* Simple meshes by formula, for tests and pictures. Closed ones are oriented outwards and share their vertices. */
#ifndef TL_GEOM_TRIMESH_MAKE_H
#define TL_GEOM_TRIMESH_MAKE_H

#include "geom/trimesh.h"

/* Sphere around the origin from an icosahedron cut `level` times: 20 * 4^level triangles, level 0..9. */
talus_status tl_trimesh_icosphere(tl_trimesh *m, double radius, int level, talus_error *err);
/* Box around the origin, full edges; each face a lattice of cells^2 squares of two triangles. */
talus_status tl_trimesh_box(tl_trimesh *m, tl_vec3 size, int cells, talus_error *err);
/* Around y: `around` cells along the ring, `across` around the tube, both >= 3. */
talus_status tl_trimesh_torus(tl_trimesh *m, double ring_radius, double tube_radius, int around, int across,
                              talus_error *err);
/* Open sheet in y = 0 around the origin, seen from +y; nx times nz squares. */
talus_status tl_trimesh_sheet(tl_trimesh *m, double size_x, double size_z, int nx, int nz, talus_error *err);
/* x -> linear x + at for every vertex; a mirroring `linear` also flips the triangles. */
void tl_trimesh_transform(tl_trimesh *m, tl_mat3 linear, tl_vec3 at);
/* m becomes m and `more` side by side. */
talus_status tl_trimesh_append(tl_trimesh *m, const tl_trimesh *more, talus_error *err);

#endif
