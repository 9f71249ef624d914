/* Triangle meshes by formula beside those of geom/trimesh_make.h, and what tests do with meshes. */
#ifndef TL_TESTS_MESHES_H
#define TL_TESTS_MESHES_H

#include "geom/trimesh_make.h"

/* Around y: `around` cells along the ring, `across` around the tube, both >= 3. */
talus_status tl_test_mesh_torus(tl_trimesh *m, double ring_radius, double tube_radius, int around, int across,
                                talus_error *err);
/* Open sheet in y = 0 around the origin, seen from +y; nx times nz squares. */
talus_status tl_test_mesh_sheet(tl_trimesh *m, double size_x, double size_z, int nx, int nz, talus_error *err);
void tl_test_mesh_flip(tl_trimesh *m); /* turns the surface inside out */
/* x -> linear x + at for every vertex; a mirroring `linear` also flips the triangles. */
void tl_test_mesh_transform(tl_trimesh *m, tl_mat3 linear, tl_vec3 at);
/* m becomes m and `more` side by side. */
talus_status tl_test_mesh_append(tl_trimesh *m, const tl_trimesh *more, talus_error *err);

#endif
