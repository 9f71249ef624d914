/* Inside of a collider: collider.c makes and places it, the pair files read it.
 *
 * Primitives are exact and hold everything here; a general shape has its samples and distances behind `field`. */
#ifndef TL_GEOM_COLLIDER_DATA_H
#define TL_GEOM_COLLIDER_DATA_H

#include "geom/collide/collide.h"

struct tl_general;   /* general.c */
struct tl_hull;      /* hull.h */
struct tl_box_rules; /* pairs.h */

/* All in the shape's own frame. */
struct tl_collider {
    tl_collider_kind kind;
    tl_vec3 centre; /* of a sphere or box; of a half-space: the point of its plane nearest to the origin */
    tl_vec3 half;   /* half edges of a box */
    tl_mat3 axes;   /* columns: unit directions of a box's edges; of a half-space: the first is its outward normal */
    double radius;  /* of a sphere */
    tl_box3 bounds; /* infinite for a half-space */
    double extent;  /* smallest, m; infinite for a half-space */
    struct tl_general *field;         /* of a general shape, else NULL */
    struct tl_hull *hull;             /* of a convex mesh with few faces, else NULL */
    const struct tl_box_rules *rules; /* of a box against boxes; NULL: the default ones */
};

/* A placed box, half-space or sphere: world coordinates. */
typedef struct tl_obox {
    tl_vec3 centre, half;
    tl_vec3 axis[3]; /* unit, right-handed up to sign */
} tl_obox;

static inline tl_obox tl_obox_of(const tl_collider *c, const tl_pose *x)
{
    tl_mat3 R = tl_mat3_mul(tl_quat_to_mat3(x->rotation), c->axes);
    return (tl_obox){
        tl_pose_apply(x, c->centre), c->half, {tl_mat3_column(R, 0), tl_mat3_column(R, 1), tl_mat3_column(R, 2)}};
}

#endif
