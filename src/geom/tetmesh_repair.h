/* Inside of tetrahedral meshing: measures of one tet, sorting, and a boundary that is a manifold. */
#ifndef TL_GEOM_TETMESH_REPAIR_H
#define TL_GEOM_TETMESH_REPAIR_H

#include "geom/tetmesh.h"

/* Vertices of the face opposite of each vertex, counter-clockwise from outside. */
extern const int tl_tet_face[4][3];

static inline double tl_tet_volume(const tl_vec3 p[4])
{
    tl_vec3 a = tl_vec3_sub(p[1], p[0]), b = tl_vec3_sub(p[2], p[0]), c = tl_vec3_sub(p[3], p[0]);
    return tl_vec3_dot(tl_vec3_cross(a, b), c) / 6;
}

/* Stable counting sort: out = order rearranged so that key[order[i] * stride] ascends, keys in [0, keys). start:
 * room for keys + 1. */
void tl_sort_by_key(int64_t count, const int32_t *order, int32_t *out, const int32_t *key, int stride, int32_t keys,
                    int64_t *start);

/* Copies vertices and drops tets until each boundary edge has two boundary triangles and each boundary vertex one
 * fan of them. Leaves a good mesh as it is. */
talus_status tl_tetmesh_make_manifold(tl_tetmesh *m, int32_t *split_vertices, int32_t *removed_tets, talus_error *err);

#endif
