/* Edges of a triangle mesh with the triangles that use them. */
#ifndef TL_GEOM_TRIMESH_EDGES_H
#define TL_GEOM_TRIMESH_EDGES_H

#include "geom/trimesh.h"

/* A side is 3 t + k: the edge from corner k to corner k+1 of triangle t. Sides of one edge stand together, by
 * triangle. Triangles that name a vertex twice have no sides here. */
typedef struct tl_trimesh_edges {
    int64_t sides;
    uint64_t *key; /* [sides] smaller vertex << 32 | larger vertex; ascending */
    int32_t *side; /* [sides] */
} tl_trimesh_edges;

talus_status tl_trimesh_edges_create(tl_trimesh_edges *e, const tl_trimesh *m, talus_error *err);
void tl_trimesh_edges_free(tl_trimesh_edges *e); /* leaves {0} */

static inline int64_t tl_trimesh_edge_end(const tl_trimesh_edges *e, int64_t first)
{
    int64_t i = first + 1;
    while (i < e->sides && e->key[i] == e->key[first]) i++;
    return i;
}

/* Corners joined through an edge at the same vertex carry the same number: fans of triangles. fan [3 triangles];
 * -1 for triangles without sides. A vertex with more than one fan is not manifold. */
void tl_trimesh_fans(const tl_trimesh_edges *e, const tl_trimesh *m, int32_t *fan);

/* tl_trimesh_check without the search for self-intersections. */
talus_status tl_trimesh_check_surface(const tl_trimesh *m, tl_trimesh_report *out, talus_error *err);

/* Height below 1e-14 of the longest edge: a normal would be noise. */
bool tl_triangle_is_thin(tl_vec3 a, tl_vec3 b, tl_vec3 c);

#endif
