/* Exact contact points of primitive pairs; collide.h says what a point is, collider.c chooses the function.
 *
 * All take placed primitives and give points with gap <= margin, normals out of the second into the first, in a
 * fixed order. */
#ifndef TL_GEOM_COLLIDE_PAIRS_H
#define TL_GEOM_COLLIDE_PAIRS_H

#include "geom/collide/collider_data.h"

/* One point. Where a sphere's centre lies on what it touches, or inside a box halfway between two faces, the normal
 * is that of the first candidate; centres that coincide give the y axis. */
int tl_sphere_sphere(tl_vec3 a, double ra, tl_vec3 b, double rb, double margin, tl_touch *out);
int tl_sphere_box(tl_vec3 a, double ra, const tl_obox *b, double margin, tl_touch *out);
int tl_sphere_half_space(tl_vec3 a, double ra, tl_vec3 at, tl_vec3 normal, double margin, tl_touch *out);

/* At most 8 points: every corner that is near the plane. */
int tl_box_half_space(const tl_obox *a, tl_vec3 at, tl_vec3 normal, double margin, tl_touch *out);

/* What decides a box-box contact. Lengths are parts of the smallest edge of both, so that small boxes behave like
 * large ones [rigid-contact spec, section 5]. With a negative face_margin edges win ties, and structures fall: the
 * negative control of tests and benchmarks. */
typedef struct tl_box_rules {
    double face_margin;     /* an edge-edge axis must separate this much better than the best face */
    double hysteresis;      /* last step's face, or pair of parallel edges, may be this much worse and stays */
    double parallel_margin; /* parallel edges win unless this much worse than the best face */
    double flat_cos;        /* faces at a smaller angle than this lie flat on each other: no parallel edges */
} tl_box_rules;

static inline tl_box_rules tl_box_rules_default(void) { return (tl_box_rules){2e-3, 4e-3, 4e-3, 0.9998}; }

/* The features that touch or are nearest, then others within the margin that lie opposite each other: a corner over
 * a face, edges that cross, the corners of two faces' common area. What would have to come round an edge first is
 * left out, for most of it passes by; fast bodies are looked at again where they end up (model/rigid). `axis` as in
 * tl_collide. 0.2 us for boxes flat on each other, 0.6 us for others. */
#define TL_BOX_POINTS 8
int tl_box_box(const tl_obox *a, const tl_obox *b, double margin, const tl_box_rules *rules, int32_t *axis,
               tl_touch out[TL_BOX_POINTS]);

#endif
