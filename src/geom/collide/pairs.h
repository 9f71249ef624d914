/* Exact contact points of primitive pairs; collide.h says what a point is, collider.c chooses the function.
 *
 * All take placed primitives and give points with gap <= margin, normals out of the second into the first, in a fixed order. */
#ifndef TL_GEOM_COLLIDE_PAIRS_H
#define TL_GEOM_COLLIDE_PAIRS_H

#include "geom/collide/collider_data.h"

/* One point. Where a sphere's centre lies on what it touches, or inside a box halfway between two faces, the normal is that of
 * the first candidate; centres that coincide give the y axis. */
int tl_sphere_sphere(tl_vec3 a, double ra, tl_vec3 b, double rb, double margin, tl_touch *out);
int tl_sphere_box(tl_vec3 a, double ra, const tl_obox *b, double margin, tl_touch *out);
int tl_sphere_half_space(tl_vec3 a, double ra, tl_vec3 at, tl_vec3 normal, double margin, tl_touch *out);

/* At most 8 points: every corner that is near the plane. */
int tl_box_half_space(const tl_obox *a, tl_vec3 at, tl_vec3 normal, double margin, tl_touch *out);

#endif
