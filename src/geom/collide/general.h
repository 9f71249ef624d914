/* Contact of shapes that are no primitives: points of each surface against the distance of the other.
 *
 * Surface points are the vertices of a marched surface, which lie on edges and corners too, in a tree of balls: only those near the other
 * body are looked at. The normal at a point of A is that of B's distance a little way into A, where edges of B do not blur
 * it. Between the points the gap of curved surfaces is smaller by spacing^2 curvature / 8: the deepest
 * points are moved to where the sum of both distances is least across the normal, which is the gap itself. Circular rims are
 * searched along the circle, edges of boxes along the edge. At most four points are kept of all that push in about the same
 * direction: those that span the most area, where a point that is open counts less the further a body would
 * have to turn to close it. */
#ifndef TL_GEOM_COLLIDE_GENERAL_H
#define TL_GEOM_COLLIDE_GENERAL_H

#include "geom/collide/collider_data.h"
#include "geom/collide/field.h"

/* A ball around samples first .. first + count. Nodes follow their parents; `next` is the first that is not below this one. */
#define TL_BALL_LEAF 6
typedef struct tl_ball {
    tl_vec3 centre;
    double radius;
    int32_t first, count; /* count 0: not a leaf */
    int32_t next;
} tl_ball;

typedef struct tl_rim {
    tl_vec3 centre, axis; /* unit, out of the flat face */
    double radius;
} tl_rim;

/* Whether a sample lies on a plane face, and whether all such samples of its leaf lie on the same, so that one speaks for them. */
typedef enum tl_flatness { TL_NOT_FLAT, TL_FLAT, TL_FLAT_LEAF } tl_flatness;

struct tl_general {
    tl_field field;
    double spacing;
    int32_t samples, balls;
    tl_vec3 *at, *normal; /* [samples] by ball; normals of edges and corners are means */
    uint8_t
        *flat; /* [samples] 1: on a face, with all others of its leaf that are not on an edge; one speaks for them */
    tl_ball *ball;
    int rims;
    tl_rim rim[2];
};

talus_status tl_general_create(struct tl_general **out, const tl_shape_tree *t, int node, double cell,
                               talus_error *err);
void tl_general_free(struct tl_general *g);
size_t tl_general_bytes(const struct tl_general *g);
double tl_general_reach(const struct tl_general *g, tl_vec3 from);

/* As tl_collide; A is general, B anything. */
int tl_general_touches(const tl_collider *A, const tl_pose *a, const tl_collider *B, const tl_pose *b, double margin,
                       tl_touch out[TL_TOUCHES_MAX]);

#endif
