/* Cone problems by parts: the ways of [FM21] and [Narain2010], for comparison with the exact cone solved whole.
 *
 *     jcsp             each component on its own, all from the same gradient, added with a damping; the cone by a penalty with multipliers inside of a
 *                      loose box [FM21 sec. 4.3.3 to 4.3.5]
 *     jcsp-pyramid     the same with a box for every component instead of the cone
 *     narain           the same boxes, one part after the other, each sees what those before it did: the eliminated component; the first two; the others in
 *                      turn [Narain2010 supplement 2]
 *     narain-printed   as printed: the eliminated one in a box of its own, then the first against the second with their sum held
 *     box              boxes, all components at once
 *     primal-dual      the cone, all components at once: a dual per group pulls what it sees into the cone [Condat2013]
 *
 * jcsp-pyramid, narain and box solve one problem in three ways: boxes of every unknown; what is eliminated reaches
 * twice as far. narain-printed has another answer, for two reasons (tests/agree/stress_order.c): its eliminated
 * component is bound; and along it and the difference of the first two alone it sticks to the sides of the hexagon that
 * three boxes leave, whose sides are the directions of one component against one other.
 *
 * The box of an unknown that several groups see is the mean of theirs, by what they see of it. A part is a direction
 * in the space of components times a scalar per place. Its problem is a box QP in increments, by mprgp, on columns
 * of D of its own: a product with one component costs what one component does, which the comparison of [FM21 tab. 2]
 * is about. */
#ifndef TL_SOLVE_CONE_PARTS_H
#define TL_SOLVE_CONE_PARTS_H

#include "solve/cone/method.h"

typedef enum tl_parts_order { TL_PARTS_JACOBI, TL_PARTS_SEQUENCE, TL_PARTS_TOGETHER, TL_PARTS_DUAL } tl_parts_order;

typedef struct tl_parts_rule {
    tl_parts_order order;
    bool cone; /* by penalty or dual; else boxes alone */
    bool held; /* the eliminated component has its own box, and the sum of the first two stays where it left that */
} tl_parts_rule;

tl_parts_options tl_parts_default(void);

/* Cones that share unknowns are weak, for two reasons. An unknown is held by the weakest of the groups that see it:
 * where one of them has a radius of zero it carries nothing, whoever solves it (validate grid V9s). And by
 * components: when all cones around are stiff, unknowns can only move together along their surfaces, which no
 * component does alone, so old values stay and no longer oppose the gradient. Hence this soft penalty for jcsp;
 * primal-dual does without. */
#define TL_PARTS_SOFT 1.0

/* Columns of the parts, steps of the dual, multipliers of zero: before the first solve with `m` and this A. */
talus_status tl_cone_parts_begin(tl_cone_parts *parts, const tl_cone_method *m, const tl_cone *p, tl_arena *a,
                                 talus_error *err);

/* Where groups share unknowns, over the energy: the gap of boxes, see tl_cone; that of cones with the duals of the
 * method, or how far what a group sees is outside of its cone over the largest radius, whichever is more. */
talus_status tl_cone_parts_gap(const tl_cone *p, double *x, tl_arena *a, double *out, talus_error *err);

#endif
