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

/* Volume by counting points, to a few percent of a shape that is not thin. */
static double rough_volume(const tl_shape_tree *t, int node, tl_box3 b, double spacing)
{
    int64_t inside = 0;
    for (double x = b.lo.x + spacing / 2; x < b.hi.x; x += spacing)
        for (double y = b.lo.y + spacing / 2; y < b.hi.y; y += spacing)
            for (double z = b.lo.z + spacing / 2; z < b.hi.z; z += spacing) inside += tl_shape_distance(t, node, (tl_vec3){x, y, z}) < 0;
    return (double)inside * spacing * spacing * spacing;
}

/* Chords of length s cut about 3/8 (s/r)^2 off a ball of radius r, 0.4 % at ten edges across; flat walls need less. So: ten edges across the
 * smallest feature where that gives up to 100 000 tets (12 in a cube of the lattice), else down to four, and never more
 * than two million tets. Chosen on the shapes of tests/unit/tetmesh_stuff.c. */
double tl_tetmesh_suggested_edge(const tl_shape_tree *t, int node)
{
    tl_box3 b = tl_shape_bounds(t, node);
    tl_vec3 size = tl_vec3_sub(b.hi, b.lo);
    double feature = tl_shape_feature_size(t, node), largest = fmax(size.x, fmax(size.y, size.z));
    if (!(largest > 0 && largest < INFINITY)) return NAN;
    double cube = 12 * rough_volume(t, node, b, largest / 32);
    double fine = fmin(feature / 10, largest / 20), coarse = fmin(feature / 4, largest / 20);
    return fmax(fmax(fine, fmin(coarse, cbrt(cube / 1e5))), cbrt(cube / 2e6));
}
