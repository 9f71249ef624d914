/* Signed distance to a closed triangle mesh. Embree finds the nearest triangle (float); the distance is then computed
 * in double, and the sign comes from angle-weighted pseudo-normals, confirmed by winding number where they disagree with a ray count. Pure queries, any thread. */
#ifndef TL_GEOM_MESH_DISTANCE_H
#define TL_GEOM_MESH_DISTANCE_H

#include "geom/trimesh.h"

typedef struct tl_mesh_distance tl_mesh_distance;

/* Copies the mesh. Refuses an open or non-manifold one with the plain report. */
talus_status tl_mesh_distance_create(tl_mesh_distance **out, const tl_trimesh *m, talus_error *err);
void tl_mesh_distance_free(tl_mesh_distance *d);
double tl_mesh_distance_at(const tl_mesh_distance *d, tl_vec3 p);
/* Nearest point of the surface; triangle may be NULL. */
tl_vec3 tl_mesh_distance_nearest(const tl_mesh_distance *d, tl_vec3 p, int32_t *triangle);
const tl_trimesh *tl_mesh_distance_mesh(const tl_mesh_distance *d);

#endif
