/* Signed distance to a closed triangle mesh, negative inside.
 *
 * Embree finds the candidates (geom/rays.h), distances are compared in double: the result is the mesh's own
 * within a few units in the last place of its coordinates. The sign comes from the angle-weighted
 * pseudo-normal of the nearest face, edge or vertex [Baerentzen2005], and from the winding number where that
 * is in doubt: normals square to the direction, triangles without area, surfaces that touch in a point. A mesh
 * that cuts itself always asks the winding number, so overlapping parts are one solid; the distance is then
 * still to the nearest triangle, also to one inside of the solid. Queries are pure: any thread, no memory. */
#ifndef TL_GEOM_MESH_DISTANCE_H
#define TL_GEOM_MESH_DISTANCE_H

#include "geom/trimesh.h"

typedef struct tl_mesh_distance tl_mesh_distance;

/* Copies the mesh. Refuses one that is open, not manifold along edges or inside out, with
 * the plain report. Outside parallel regions. */
talus_status tl_mesh_distance_create(tl_mesh_distance **out, const tl_trimesh *m, talus_error *err);
/* To a surface that need not be closed: never negative. */
talus_status tl_mesh_distance_create_open(tl_mesh_distance **out, const tl_trimesh *m, talus_error *err);
void tl_mesh_distance_free(tl_mesh_distance *d);
/* NaN for NaN. Beyond 1e18 m, the distance to the mesh's centre. */
double tl_mesh_distance_at(const tl_mesh_distance *d, tl_vec3 p);
/* Nearest point of the surface; triangle may be NULL. */
tl_vec3 tl_mesh_distance_nearest(const tl_mesh_distance *d, tl_vec3 p, int32_t *triangle);
bool tl_mesh_distance_is_open(const tl_mesh_distance *d);
const tl_trimesh *tl_mesh_distance_mesh(const tl_mesh_distance *d);

#endif
