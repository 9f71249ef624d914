/* Contact of shapes that are no primitives: points of each surface against the distance of the other.
 *
 * Surface points are the vertices of a marched surface, which lie on edges and corners too, in a tree of balls: only
 * those near the other body are looked at. The normal at a point of A is that of B's distance a little way into A,
 * where edges of B do not blur it. Between the points the gap of curved surfaces is smaller by spacing^2 curvature / 8:
 * the deepest points are moved to where the sum of both distances is least across the normal, which is the gap itself.
 * Circular rims are searched along the circle, edges of boxes along the edge, the sides of cylinders and capsules along
 * their axis: against each other, boxes, spheres and planes these need no samples. Of a smooth curved surface only
 * places nearest of all around them are kept: a mark beside them would hold up a body that rolls. At most four points
 * are kept of all that push in about the same direction: those that span the most area, where a point that is open
 * counts less the further a body would have to turn to close it. A point of a plane face pushes square to that face,
 * and so do edges that lie in it.
 *
 * Bodies deep in each other (half a wall and more) may be pushed out of the far side. */
#ifndef TL_GEOM_COLLIDE_GENERAL_H
#define TL_GEOM_COLLIDE_GENERAL_H

#include "geom/collide/collider_data.h"
#include "geom/collide/field.h"

/* A ball around samples first .. first + count. Nodes follow their parents; `next` is the first that is not below
 * this one. */
#define TL_BALL_LEAF 6
typedef struct tl_ball {
    tl_vec3 centre;
    double radius;
    int32_t first, count; /* count 0: not a leaf */
    int32_t next;
} tl_ball;

/* A circle that a ball of radius `tube` runs along: the edge of a cylinder (tube 0), of a rounded one, a torus, the
 * end of a capsule (radius 0). Where it touches is a function of the pose, not a mark: a wheel stands on the place
 * below its axle at all times. */
typedef struct tl_rim {
    tl_vec3 centre, axis; /* unit, out of the flat face */
    double radius, tube;
    double outward; /* 1: it looks away from its axis; -1: towards it, as the mouth of a bore does */
} tl_rim;
#define TL_RIMS_MAX 48

/* The round side of a cylinder or capsule: all that is `radius` away from a stretch of its axis. */
typedef struct tl_tube {
    tl_vec3 from, along; /* unit */
    double length, radius;
} tl_tube;

/* What the surface is at a sample: plane (and whether all such samples of its leaf lie on the same plane, so that
 * one speaks for them), smooth but curved, or an edge or corner. */
typedef enum tl_flatness { TL_NOT_FLAT, TL_FLAT, TL_FLAT_LEAF, TL_CURVED } tl_flatness;

struct tl_general {
    tl_shape_tree *round; /* the cylinder that stands for an extruded polygon of many corners on a circle; NULL: none */
    tl_field field;
    double spacing;
    int32_t samples, balls;
    tl_vec3 *at, *normal; /* [samples] by ball; normals of edges and corners are means */
    uint8_t *flat;        /* [samples] tl_flatness */
    uint8_t *on_rim;      /* [samples] 1 + the rim that it lies on, 0: on none */
    tl_ball *ball;
    int rims;
    tl_rim rim[TL_RIMS_MAX];
    bool
        /* convex, and nothing but rims, a tube and flat ends: against others of that kind samples are not needed */
        complete;
    tl_tube tube;
};

talus_status tl_general_create(struct tl_general **out, const tl_shape_tree *t, int node, double cell,
                               talus_error *err);
void tl_general_free(struct tl_general *g);
double tl_general_reach(const struct tl_general *g, tl_vec3 from);
/* The axis through `centre` about which it may be turned without a change, unit; false: there is none. */
bool tl_general_axis(const struct tl_general *g, tl_vec3 centre, tl_vec3 *axis);

/* As tl_collide; A is general, B anything. */
int tl_general_touches(const tl_collider *A, const tl_pose *a, const tl_collider *B, const tl_pose *b, double margin,
                       tl_touch out[TL_TOUCHES_MAX]);
bool tl_general_may_overlap(const tl_collider *A, const tl_pose *a, const tl_collider *B, const tl_pose *b,
                            double depth);

#endif
