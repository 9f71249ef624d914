/* A box tree over the triangles of a mesh in double, for what Embree does not offer: pairs of triangles that
 * cut each other, and winding numbers. Nearest points and rays are in geom/rays.h.
 *
 * Triangles are put in Morton order and grouped in leaves of TL_TREE_LEAF; above them is a complete binary
 * tree. Depends on the mesh alone. The mesh is kept by pointer. Queries are pure. */
#ifndef TL_GEOM_TRIANGLE_TREE_H
#define TL_GEOM_TRIANGLE_TREE_H

#include "geom/trimesh.h"

#define TL_TREE_LEAF 4

typedef struct tl_triangle_tree {
    const tl_trimesh *mesh;
    int32_t leaves; /* power of two; node i has children 2i, 2i+1, the root is 1, leaf k is node leaves + k */
    int32_t *order; /* [triangles] */
    tl_box3 *box;   /* [2 leaves]; empty where there are no triangles */
    struct tl_tree_patch *patch; /* [2 leaves], for winding numbers */
} tl_triangle_tree;

talus_status tl_triangle_tree_create(tl_triangle_tree *tree, const tl_trimesh *m, talus_error *err);
void tl_triangle_tree_free(tl_triangle_tree *tree); /* leaves {0} */

/* Pairs of triangles that cut each other along a piece of line. Touching, sharing a vertex or an edge, and
 * overlapping in one plane do not count, and neither does what rounding cannot tell from touching. */
int64_t tl_triangle_tree_cuts(const tl_triangle_tree *tree);

/* How often the surface winds around p: 1 inside, 0 outside of a closed mesh. Far groups of triangles count as
 * dipoles, which is within 0.02 of the exact sum (tests/unit/triangle_tree.c); O(log n). [Barill2018] */
double tl_triangle_tree_winding(const tl_triangle_tree *tree, tl_vec3 p);
/* One triangle's exact share. [Oosterom1983] */
double tl_triangle_winding(tl_vec3 p, tl_vec3 a, tl_vec3 b, tl_vec3 c);

/* Do two triangles cut each other, in the sense above? */
bool tl_triangles_cut(const tl_vec3 s[3], const tl_vec3 t[3]);

#endif
