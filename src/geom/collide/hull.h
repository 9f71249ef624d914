/* Convex bodies with few plane faces: small meshes such as prisms and cubes, and boxes that meet them.
 *
 * What touches lies on a face of one of the two in all contacts of stacks and on floors: separating axes find that
 * face, and clipping the other body's face against it gives the points, as for boxes (pairs.h). Where two edges part
 * them better, or nothing is left of the clipping, the answer is "not here", and the general search (general.h)
 * takes over. */
#ifndef TL_GEOM_COLLIDE_HULL_H
#define TL_GEOM_COLLIDE_HULL_H

#include "geom/collide/collider_data.h"
#include "geom/trimesh.h"

#define TL_HULL_VERTICES 24
#define TL_HULL_FACES 24
#define TL_HULL_CORNERS 12 /* of a face */
#define TL_HULL_EDGES 48

typedef struct tl_hull {
    int vertices, faces, edges;
    tl_vec3 vertex[TL_HULL_VERTICES];
    tl_vec3 normal[TL_HULL_FACES]; /* unit, outward */
    double offset[TL_HULL_FACES];  /* of its plane along the normal */
    int corners[TL_HULL_FACES];
    uint8_t corner[TL_HULL_FACES][TL_HULL_CORNERS]; /* in order around the normal */
    uint8_t edge[TL_HULL_EDGES][2];
    uint8_t sides[TL_HULL_EDGES][2]; /* faces that meet there */
} tl_hull;

/* False for what is not convex, not closed, or has more than fits. */
bool tl_hull_of_mesh(const tl_trimesh *m, tl_hull *out);
tl_hull tl_hull_of_box(const tl_obox *b);                        /* in the world */
tl_hull tl_hull_placed(const tl_hull *h, tl_mat3 R, tl_vec3 at); /* p -> R p + at */

/* As tl_collide, both in the world; -1: to be searched otherwise. */
int tl_hull_hull(const tl_hull *a, const tl_hull *b, double extent, double margin, int32_t *axis,
                 tl_touch out[TL_TOUCHES_MAX]);
int tl_hull_half_space(const tl_hull *a, tl_vec3 at, tl_vec3 normal, double margin, tl_touch out[TL_TOUCHES_MAX]);

#endif
