#include <math.h>

#include "geom/tetmesh.h"

typedef struct node_of {
    const tl_shape_tree *tree;
    int node;
} node_of;

static double distance_at(const void *ctx, tl_vec3 p)
{
    const node_of *n = ctx;
    return tl_shape_distance(n->tree, n->node, p);
}

talus_status tl_tetmesh_from_shape_reported(const tl_shape_tree *t, int node, double edge, tl_tetmesh *out, tl_lattice_report *report, talus_error *err)
{
    node_of n = {t, node};
    return tl_tetmesh_from_field((tl_field){distance_at, &n}, tl_shape_bounds(t, node), edge, out, report, err);
}

talus_status tl_tetmesh_from_shape(const tl_shape_tree *t, int node, double edge, tl_tetmesh *out, talus_error *err)
{
    return tl_tetmesh_from_shape_reported(t, node, edge, out, NULL, err);
}

/* Chords of length s cut about 3/8 (s/r)^2 of a ball of radius r off: 0.6 % at sixteen edges across the thinnest part. Round bodies get that;
 * a small part on a large body weighs less, and no edge is longer than a twelfth of the largest extent. */
double tl_tetmesh_suggested_edge(const tl_shape_tree *t, int node)
{
    tl_box3 b = tl_shape_bounds(t, node);
    tl_vec3 size = tl_vec3_sub(b.hi, b.lo);
    double feature = tl_shape_feature_size(t, node), largest = fmax(size.x, fmax(size.y, size.z));
    return fmin(feature / 4, largest / 16);
}
