/* Shapes: signed distances built from primitives by set operations.
 *
 * A shape is a node in a tree of plain data (tl_shape_tree); nodes refer to earlier nodes, so the tree is a directed
 * acyclic graph and evaluation cannot loop. Distances are in metres, negative inside. Lengths are full edges;
 * primitives are centred at the origin with y as their axis unless said otherwise.
 *
 * The zero set is always right, and every distance is Lipschitz with constant 1: a ball of radius |distance| never
 * holds a surface. Primitives are exact. A union is exact outside, if its parts are; intersect, subtract and shell
 * inside. Elsewhere, and for blends and stretches, distances are lower bounds in size. docs/shapes.md has the table.
 *
 * Makers return the new node's number, or -1 with a message in err (bad parameter, no memory); the tree stays as it
 * was. Shapes may nest 200 deep and hold 10^6 primitives, repeated ones counted each time. */
#ifndef TL_GEOM_SHAPE_H
#define TL_GEOM_SHAPE_H

#include <stddef.h>

#include "base/status.h"
#include "math/vec.h"

typedef struct tl_box3 {
    tl_vec3 lo, hi; /* lo > hi on every axis: empty */
} tl_box3;

typedef struct tl_shape_tree tl_shape_tree; /* owns its nodes, profiles and mesh distances */

tl_shape_tree *tl_shape_tree_create(void); /* NULL when memory is refused */
void tl_shape_tree_free(tl_shape_tree *t);

/* primitives */
int tl_shape_box(tl_shape_tree *t, tl_vec3 size, double round,
                 talus_error *err); /* round: radius of the edges, inside size */
int tl_shape_sphere(tl_shape_tree *t, double radius, talus_error *err);
int tl_shape_ellipsoid(tl_shape_tree *t, tl_vec3 radii, talus_error *err);
int tl_shape_hemisphere(tl_shape_tree *t, double radius, talus_error *err); /* y >= 0 half; flat face at y = 0 */
int tl_shape_cylinder(tl_shape_tree *t, double radius, double height, double round, talus_error *err);
int tl_shape_capsule(tl_shape_tree *t, tl_vec3 a, tl_vec3 b, double radius_a, double radius_b,
                     talus_error *err); /* round cone when radii differ */
int tl_shape_cone(tl_shape_tree *t, double radius_bottom, double radius_top, double height, talus_error *err);
int tl_shape_torus(tl_shape_tree *t, double ring_radius, double tube_radius, talus_error *err); /* around y */
int tl_shape_half_space(tl_shape_tree *t, tl_vec3 normal, double offset,
                        talus_error *err); /* n.p <= offset; unbounded */
/* Closed polygon profile (radius, y) turned around y, and (x, z) polygon extruded to `height` along y. Simple polygons
 * only. */
int tl_shape_revolve(tl_shape_tree *t, int points, const double (*profile)[2], talus_error *err);
int tl_shape_extrude(tl_shape_tree *t, int points, const double (*profile)[2], double height, talus_error *err);

/* A closed triangle mesh by its exact distance (geom/mesh_distance.h); takes ownership of `distance` on success. */
struct tl_mesh_distance;
int tl_shape_mesh(tl_shape_tree *t, struct tl_mesh_distance *distance, talus_error *err);
/* The mesh of a node that tl_shape_mesh made, once more: the distance is shared, not prepared anew. */
int tl_shape_mesh_again(tl_shape_tree *t, int node, talus_error *err);
/* Tetrahedra that fill a mesh, for elastic bodies of that shape: `node` is what tl_shape_mesh made. Takes ownership
 * of what `tets` holds and leaves {0} there on success. */
struct tl_tetmesh;
struct tl_trimesh;
talus_status tl_shape_give_tets(tl_shape_tree *t, int node, struct tl_tetmesh *tets, talus_error *err);

/* operations */
int tl_shape_union(tl_shape_tree *t, int count, const int *nodes, talus_error *err);
int tl_shape_intersect(tl_shape_tree *t, int count, const int *nodes, talus_error *err);
int tl_shape_subtract(tl_shape_tree *t, int from, int count, const int *nodes, talus_error *err);
/* blend: width in m of the seam; where two surfaces meet, blend/4 is added, and at most blend/2 where many do. The
 * order of the parts does not matter. Smooth subtract takes away blend/4 more. */
int tl_shape_smooth_union(tl_shape_tree *t, int count, const int *nodes, double blend, talus_error *err);
int tl_shape_smooth_subtract(tl_shape_tree *t, int from, int what, double blend, talus_error *err);
/* Hollow: a wall of this thickness inwards from the surface. Parts of a union should overlap by more than that: where
 * they only touch, a wall stays between them. */
int tl_shape_shell(tl_shape_tree *t, int node, double thickness, talus_error *err);
/* Grown (and rounded) by `by`; negative shrinks. */
int tl_shape_offset(tl_shape_tree *t, int node, double by, talus_error *err);
/* p -> R (scale p) + at; rotation is a unit quaternion given as (w, x, y, z); scale > 0, uniform. */
int tl_shape_place(tl_shape_tree *t, int node, tl_vec3 at, const double rotation[4], double scale, talus_error *err);
/* A copy in another tree of a box, cylinder or extrusion, placed any number of times, that is at least `depth` long
 * along a unit vector of its frame: its distances in the middle are those of a prism without ends.
 * TL_SHAPE_NOT_DEEP: another shape, a rounded one, or one that lies askew. */
#define TL_SHAPE_NOT_DEEP (-2)
int tl_shape_deepen(tl_shape_tree *to, const tl_shape_tree *from, int node, tl_vec3 along, double depth,
                    talus_error *err);
/* Each axis by its own factor, 1e-3 to 1e3. */
int tl_shape_stretch(tl_shape_tree *t, int node, tl_vec3 factors, talus_error *err);
/* Union with the mirror image through the plane axis = 0; axis 0 is x. */
int tl_shape_mirror(tl_shape_tree *t, int node, int axis, talus_error *err);

/* queries; pure, any thread */
double tl_shape_distance(const tl_shape_tree *t, int node, tl_vec3 p);
/* Unit vector towards larger distance; central differences where no closed form is kept. Never NaN: at a
 * point without a gradient (a sphere's centre) some unit vector. */
tl_vec3 tl_shape_gradient(const tl_shape_tree *t, int node, tl_vec3 p);
tl_box3 tl_shape_bounds(const tl_shape_tree *t, int node); /* infinite on unbounded axes */
bool tl_shape_bounded(const tl_shape_tree *t, int node);
double tl_shape_feature_size(const tl_shape_tree *t, int node); /* smallest length that a surface must resolve, m */
int tl_shape_node_count(const tl_shape_tree *t);
/* For exact primitive pairs in contact detection: what a node is when it is a placed primitive. */
typedef enum tl_shape_kind {
    TL_SHAPE_BOX,
    TL_SHAPE_SPHERE,
    TL_SHAPE_ELLIPSOID,
    TL_SHAPE_HEMISPHERE,
    TL_SHAPE_CYLINDER,
    TL_SHAPE_CAPSULE,
    TL_SHAPE_CONE,
    TL_SHAPE_TORUS,
    TL_SHAPE_HALF_SPACE,
    TL_SHAPE_REVOLVE,
    TL_SHAPE_EXTRUDE,
    TL_SHAPE_MESH,
    TL_SHAPE_OPERATION
} tl_shape_kind;
tl_shape_kind tl_shape_kind_of(const tl_shape_tree *t, int node);
/* Whether a node is a placed sheet: a surface without an inside, offset to both sides. */
bool tl_shape_is_sheet(const tl_shape_tree *t, int node);
/* Triangles of a placed mesh or sheet (a mesh that was offset), in the frame of `node`: a copy in *out, and true in
 * *found. */
talus_status tl_shape_triangles(const tl_shape_tree *t, int node, struct tl_trimesh *out, bool *found,
                                talus_error *err);
/* Tetrahedra of a placed mesh that has them, in the frame of `node`: a copy in *out, and true in *found. */
talus_status tl_shape_tets(const tl_shape_tree *t, int node, struct tl_tetmesh *out, bool *found, talus_error *err);

/* Mass properties for density 1: exact for primitives where simple, else by quadrature on a lattice of `cells` along
 * the longest edge. inertia about the centre of mass. */
typedef struct tl_mass {
    double volume;
    tl_vec3 center;
    tl_mat3 inertia;
} tl_mass;
talus_status tl_shape_mass(const tl_shape_tree *t, int node, int cells, tl_mass *out, talus_error *err);

#endif
