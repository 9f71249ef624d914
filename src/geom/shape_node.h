/* Inside of a shape tree: shape.c makes nodes, shape_eval.c reads them, shape_mass.c integrates them. */
#ifndef TL_GEOM_SHAPE_NODE_H
#define TL_GEOM_SHAPE_NODE_H

#include "geom/minmax.h"
#include "geom/shape.h"

typedef enum tl_shape_op {
    OP_BOX,
    OP_SPHERE,
    OP_ELLIPSOID,
    OP_HEMISPHERE,
    OP_CYLINDER,
    OP_CAPSULE,
    OP_CONE,
    OP_TORUS,
    OP_HALF_SPACE,
    OP_REVOLVE,
    OP_EXTRUDE,
    OP_MESH,
    OP_UNION, /* operations from here on */
    OP_INTERSECT,
    OP_SUBTRACT,
    OP_SMOOTH_UNION,
    OP_SMOOTH_SUBTRACT,
    OP_SHELL,
    OP_OFFSET,
    OP_PLACE,
    OP_STRETCH,
    OP_MIRROR
} tl_shape_op;

/* What a, b, r, s mean:
 *   box a half edges without rounding, r rounding      sphere, hemisphere r       ellipsoid a radii
 *   cylinder r radius and s half height without b.x, the rounding                 torus r ring, s tube
 *   capsule a start, b unit direction, q length, r and s radii (q = 0: the sphere that holds the other)
 *   cone r bottom, s top, q half height                half space a unit normal, q offset
 *   extrude q half height                              shell, offset, smooth q
 *   place a position, R rotation, q scale              stretch a factors, q smallest       mirror count = axis */
typedef struct tl_shape_node {
    tl_shape_op op;
    bool exact;           /* outside its box, never less than the distance to the box */
    int32_t first, count; /* children in tree->child; of profiles: points in tree->point; of a mesh: its place */
    int32_t bvh;          /* first entry in tree->bvh, or -1 */
    int32_t depth;
    double cost; /* primitives that one distance may visit */
    tl_vec3 a, b;
    double r, s, q;
    tl_mat3 R;
    tl_box3 box;
    double feature;
} tl_shape_node;

/* Boxes over the children of a large union; a leaf has child >= 0, an inner entry's first half follows it. */
typedef struct tl_shape_bvh {
    tl_box3 box;
    int32_t child, second;
} tl_shape_bvh;

#define TL_SHAPE_BVH_MIN                                                                                               \
    7 /* children from which boxes over boxes win over a plain loop (measured on rows of spheres) */

/* A mesh of the tree. */
typedef struct tl_shape_meshed {
    struct tl_mesh_distance *distance;
    struct tl_tetmesh *tets; /* inside of it, or NULL */
    bool shared;             /* the distance belongs to an earlier one */
} tl_shape_meshed;

struct tl_shape_tree {
    int32_t nodes, children, points, entries, meshes;
    int32_t nodes_room, children_room, points_room, entries_room, meshes_room;
    tl_shape_node *node;
    int32_t *child;
    double (*point)[2];
    tl_shape_bvh *bvh;
    struct tl_shape_meshed *mesh;
};

/* min over weights w >= 0, sum w = 1, of  w.d + k/2 (|w|^2 - 1):  of two values the usual quadratic blend, of many
 * symmetric in them. Smooth, and its gradient w is a mean: a blend of distances keeps the Lipschitz constant 1. Values
 * more than k above the least have no weight. Only the TL_BLEND_MAX least values count. */
#define TL_BLEND_MAX 32
typedef struct tl_shape_blend {
    int count;
    double width;
    double value[TL_BLEND_MAX]; /* rising */
    tl_vec3 gradient[TL_BLEND_MAX];
} tl_shape_blend;
static inline void tl_shape_blend_begin(tl_shape_blend *b, double width)
{
    b->count = 0;
    b->width = width;
}
/* Values of at least this do not matter. */
static inline double tl_shape_blend_limit(const tl_shape_blend *b)
{
    return b->count ? b->value[0] + b->width : INFINITY;
}
void tl_shape_blend_add(tl_shape_blend *b, double value, const tl_vec3 *gradient);
double tl_shape_blend_end(const tl_shape_blend *b, tl_vec3 *gradient);

/* Distance, and its plain gradient (not normalised) when g is not NULL. */
double tl_shape_eval(const tl_shape_tree *t, int node, tl_vec3 p, tl_vec3 *g);

/* Signed distance to a box: a lower bound of the distance to anything in it. */
static inline double tl_box3_distance(const tl_box3 *b, tl_vec3 p)
{
    double x = tl_max(b->lo.x - p.x, p.x - b->hi.x), y = tl_max(b->lo.y - p.y, p.y - b->hi.y),
           z = tl_max(b->lo.z - p.z, p.z - b->hi.z), m = tl_max(x, tl_max(y, z));
    if (m <= 0) return m;
    x = tl_max(x, 0);
    y = tl_max(y, 0);
    z = tl_max(z, 0);
    return sqrt(x * x + y * y + z * z);
}

#endif
