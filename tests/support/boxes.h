/* Boxes at a place, and how far apart they are, from their corners alone. */
#ifndef TL_TESTS_BOXES_H
#define TL_TESTS_BOXES_H

#include "geom/collide/pairs.h"

tl_obox box_at(tl_vec3 size, tl_vec3 at, tl_quat q);
double box_half(const tl_obox *b, int i);
tl_vec3 box_corner(const tl_obox *b, int c); /* bits of c: side along each axis */

/* Separation along the best of the 15 axes, from projected corners: negative for overlap, when it is the depth. */
double box_separation(const tl_obox *a, const tl_obox *b);

#endif
