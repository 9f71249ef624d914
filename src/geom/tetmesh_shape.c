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

talus_status tl_tetmesh_from_shape_reported(const tl_shape_tree *t, int node, double edge, tl_tetmesh *out,
                                            tl_lattice_report *report, talus_error *err)
{
    node_of n = {t, node};
    return tl_tetmesh_from_field((tl_field){distance_at, &n}, tl_shape_bounds(t, node), edge, out, report, err);
}

talus_status tl_tetmesh_from_shape(const tl_shape_tree *t, int node, double edge, tl_tetmesh *out, talus_error *err)
{
    return tl_tetmesh_from_shape_reported(t, node, edge, out, NULL, err);
}

/* Try an edge. Returns the mesh's error of volume, relative, or 1 where the lattice is too coarse for the boundary. */
static double error_at(const tl_shape_tree *t, int node, double edge, double volume)
{
    tl_tetmesh m;
    tl_lattice_report r;
    tl_tet_quality q;
    if (tl_tetmesh_from_shape_reported(t, node, edge, &m, &r, NULL) != TALUS_OK) return 1;
    bool good = tl_tetmesh_quality(&m, &q, NULL) == TALUS_OK && r.split_vertices + r.removed_tets == 0;
    tl_tetmesh_free(&m);
    return good ? fabs(q.volume / volume - 1) : 1;
}

/* Cubes of the lattice over the whole box: of a thin or long shape nearly all are empty, but those near it are visited.
 * The lattice comes in blocks, so there are 16 in any direction. */
static double lattice_size(tl_vec3 size, double edge)
{
    return (size.x / edge + 16) * (size.y / edge + 16) * (size.z / edge + 16);
}

/* The error falls with the square of the edge. 0.6 % leaves room for other orientations and for the reference,
 * which is good to 0.1 %. */
double tl_tetmesh_suggested_edge(const tl_shape_tree *t, int node)
{
    tl_box3 b = tl_shape_bounds(t, node);
    tl_vec3 size = tl_vec3_sub(b.hi, b.lo);
    double largest = fmax(size.x, fmax(size.y, size.z)), target = 0.006, edge = largest / 12;
    if (!(largest > 0 && largest < INFINITY)) return NAN;
    tl_mass mass;
    if (tl_shape_mass(t, node, 96, &mass, NULL) != TALUS_OK || !(mass.volume > 0)) return largest / 20;
    double least = cbrt(12 * mass.volume / 2e6); /* twelve tets in a cube of the lattice */
    for (double error = 1; error > target && edge > least && lattice_size(size, edge) < 2e7;) {
        error = error_at(t, node, edge, mass.volume);
        if (error > target) edge *= fmax(0.7, fmin(0.92, sqrt(0.9 * target / error)));
    }
    return fmax(edge, least);
}
