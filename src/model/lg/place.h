/* Places of the world at the start as points of an elastic body: which element holds them, with which weights. For
 * cables, joins and fine surfaces that are drawn instead of coarse ones. Elements are sorted into cells once; a
 * place outside of all of them takes the element that it misses least, and its weights go on linearly. */
#ifndef TL_MODEL_LG_PLACE_H
#define TL_MODEL_LG_PLACE_H

#include "model/lg/lg.h"

typedef struct tl_lg_finder tl_lg_finder;

talus_status tl_lg_finder_create(tl_lg_finder **out, const tl_lg *lg, int body, talus_error *err);
void tl_lg_finder_free(tl_lg_finder *f); /* NULL is fine */

/* How far outside the place is, in sizes of the element: 0 inside; negative weights of a tetrahedron, height over a
 * cloth in mean edges. */
double tl_lg_find(const tl_lg_finder *f, tl_vec3 place, tl_lg_point *out);

tl_vec3 tl_lg_point_at(const tl_lg_point *p, const double *q); /* q [nodes][3] */

#endif
