/* Contact points between two solids.
 *
 * A collider is what detection knows of a shape: an exact primitive where the shape is one, else samples of its surface
 * and its signed distance (both directions are searched). Colliders are made once per shape and shared by bodies; poses
 * are those of the shape's own frame. Which pairs are near is geom/collide/broad.h; what friction does at a point, and
 * matching points from step to step, is the model's (model/rigid). Pure functions of their arguments, any thread.
 *
 * What decides whether structures stand [rigid-contact spec, section 5]: faces win against edge-edge axes by a
 * margin; parallel edges that meet are an edge contact along the bisector of their wedges; the four points kept do
 * not flicker; open points of the next feature are kept beside an edge contact, so that impacts do not sink in. */
#ifndef TL_GEOM_COLLIDE_H
#define TL_GEOM_COLLIDE_H

#include "geom/shape.h"
#include "math/pose.h"

typedef enum tl_collider_kind {
    TL_COLLIDER_SPHERE,
    TL_COLLIDER_BOX,
    TL_COLLIDER_HALF_SPACE, /* static bodies and walls only */
    TL_COLLIDER_GENERAL     /* any bounded shape */
} tl_collider_kind;

typedef struct tl_collider tl_collider;

/* One contact point. */
typedef struct tl_touch {
    tl_vec3 at;     /* world, halfway between the two surfaces */
    tl_vec3 normal; /* unit, out of B into A: A moving along it opens the gap */
    double gap;     /* m along the normal; negative: overlap */
    bool
        /* of a general shape: a mark on its surface, which goes where it goes; else the nearest place, which stays
         * as it rolls */
        carried;
} tl_touch;
#define TL_TOUCHES_MAX 32 /* of one pair; primitives give at most 8 */

/* `cell`: spacing of surface samples and of the distance field of a general shape, m; 0: from its size and features.
 * The tree must live as long: gaps of general shapes are read from it. */
talus_status tl_collider_create(tl_collider **out, const tl_shape_tree *t, int node, double cell, talus_error *err);
void tl_collider_free(tl_collider *c); /* NULL is fine */
tl_collider_kind tl_collider_kind_of(const tl_collider *c);
tl_box3 tl_collider_bounds(const tl_collider *c, const tl_pose *x); /* in the world; infinite for half-spaces */
double tl_collider_reach(const tl_collider *c, tl_vec3 from); /* largest distance of its surface from a local point */
/* Which turning about a local point, its centre of mass, leaves the solid where it is: about any axis (a ball),
 * about one, which is set (bodies of revolution), or none. */
typedef enum tl_collider_round { TL_NOT_ROUND, TL_ROUND_AXIS, TL_ROUND_BALL } tl_collider_round;
tl_collider_round tl_collider_round_about(const tl_collider *c, tl_vec3 centre, tl_vec3 *axis);
double tl_collider_extent(const tl_collider *c); /* smallest extent, m: scales slop and matching */
/* Signed distance of a local point, with its unit gradient if wanted: exact for primitives, else the field's
 * (geom/collide/field.h). */
double tl_collider_distance(const tl_collider *c, tl_vec3 p, tl_vec3 *gradient);
bool tl_collider_flat(const tl_collider *c); /* nothing but plane faces: a box, a half-space, a small convex mesh */
int32_t tl_collider_samples(const tl_collider *c); /* surface points of a general one, else 0 */

/* Contact points with gap <= margin, in a fixed order; returns their number. `axis` is what the pair remembers
 * between steps (hysteresis of the separating axis): 0 at first, then what the last call left there. Order of
 * arguments only flips the normals. A pair of half-spaces gives none. */
int tl_collide(const tl_collider *A, const tl_pose *a, const tl_collider *B, const tl_pose *b, double margin,
               int32_t *axis, tl_touch out[TL_TOUCHES_MAX]);

/* False: no point of theirs is deeper than `depth` >= 0 in the other, as tl_collide would find it. Quick where they
 * are apart. */
bool tl_collide_may_overlap(const tl_collider *A, const tl_pose *a, const tl_collider *B, const tl_pose *b,
                            double depth);

/* Keep at most `max` of `count` points: the deepest, then those that span the largest area, and never all of one
 * side of a hollow; stable under small motions. In place, returns the number kept. */
int tl_touches_reduce(int count, tl_touch *touch, int max);

#endif
