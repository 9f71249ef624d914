/* Frictional stress by parts: the ways of [FM21] and [Narain2010] to solve block "f", for comparison with the exact cone solved whole (tl_friction).
 *
 *     jcsp             each component on its own, all from the same velocities, added with a damping; the cone by a penalty with multipliers inside of a
 *                      loose box [FM21 sec. 4.3.3 to 4.3.5]
 *     jcsp-pyramid     the same with a box for every component instead of the cone
 *     narain           the same boxes, one part after the other, each sees what those before it did: yy; xx with zz; xy; yz; xz [Narain2010 supplement 2]
 *     narain-printed   as printed: yy in a box of its own, then xx against zz with their sum held
 *     box              boxes, all components at once
 *     primal-dual      the cone, all components at once: a dual tensor per cell pulls the stress at its centre into the cone [Condat2013]
 *
 * jcsp-pyramid, narain and box solve one problem in three ways: boxes of xx, zz and the shears; what is eliminated, yy, reaches twice as far. narain-printed has
 * another answer, for two reasons (tests/agree/stress_order.c): its yy is bound; and along yy and xx - zz alone it sticks to the sides of the hexagon
 * that three boxes leave of the diagonal, whose sides are the directions of one component against one other.
 *
 * Works on both arrangements of stress. Staggered shears belong to edges: their box is the mean of the cells around (cells without an unknown count as zero), and
 * the cone of a cell sees the mean of its four edges per axis.
 * A part is a direction in the space of components times a scalar per cell, or one per edge. Its problem is a box QP in increments, by mprgp, on columns
 * of D of its own: a product with one component costs what one component does, which the comparison of [FM21 tab. 2] is about. */
#ifndef TL_STEP_STRESS_PARTS_H
#define TL_STEP_STRESS_PARTS_H

#include "model/coupling/stress.h"
#include "solve/outcome.h"

typedef enum tl_parts_order { TL_PARTS_JACOBI, TL_PARTS_SEQUENCE, TL_PARTS_TOGETHER, TL_PARTS_DUAL } tl_parts_order;

typedef struct tl_parts_rule {
    const char *name, *help;
    tl_parts_order order;
    bool cone; /* by penalty or dual; else boxes alone */
    bool held; /* yy has its own box, and xx + zz stays where that of yy left it */
} tl_parts_rule;

int tl_parts_rule_count(void);
const tl_parts_rule *tl_parts_rule_at(int i);
const tl_parts_rule *tl_parts_rule_find(const char *name); /* NULL when unknown */

typedef struct tl_parts_options {
    double pyramid;   /* half-width of boxes over alpha p: 1/sqrt 2 lets a single shear reach what the cone does */
    double loose;     /* kappa: auxiliary boxes of the cone over alpha p / sqrt 2; below 1.1547 they cut it; 0: none */
    double damping;   /* gamma of jacobi orders */
    double penalty;   /* mu over (largest row sum of A) (alpha p)^2 / 2 */
    bool keep;        /* multipliers go on from solve to solve; else they start from zero */
    bool line_search; /* instead of the damping */
    int newton;       /* steps per solve */
    int iterations;   /* of a part's box QP, at most */
    double stiffen;   /* xi: added to the diagonal of the Hessian, times it */
    bool as_energy;   /* ... and to the energy: stress then resists being there, which melts heaps [FM21 fig. 5] */
    bool ssor; /* box QPs preconditioned by symmetric overrelaxation [FM21 sec. 5.2.1]; else by their diagonals */
} tl_parts_options;
tl_parts_options tl_parts_default(void);

/* Staggered cones are weak, for two reasons. An edge is held by the weakest of its four cells: where the surface passes through a cell's centre its pressure is zero
 * there, and the edges below it carry no shear, whoever solves it (validate grid V9s). And by components: when all four cones are stiff, shears can only move together
 * along their surfaces, which no component does alone, so old stress stays and no longer opposes the flow. Hence this soft penalty for jcsp; primal-dual does without. */
#define TL_PARTS_SOFT 1.0

struct tl_part;

typedef struct tl_parts {
    const tl_parts_rule *rule;
    tl_parts_options o;
    const tl_stress *stress;
    tl_coupling *c;
    int parts;
    struct tl_part *part;
    double *weight;      /* [faces] dt W_F mobility */
    double *multiplier;  /* [cells] g >= 0 */
    double *dual;        /* [cells][5] of primal-dual; goes on from solve to solve */
    double *tau, *sigma; /* [n], [cells] its steps */
    double most;         /* largest row sum of |A| */
} tl_parts;

/* bound [cells]: tl_stress_bounds. */
talus_status tl_parts_begin(tl_parts *s, const tl_parts_rule *rule, const tl_parts_options *o, const tl_stress *stress,
                            tl_coupling *c, const double *bound, tl_arena *a, talus_error *err);

/* s [n]: start in (in force), answer out, velocities pushed. radius [cells]: alpha p. */
talus_status tl_parts_solve(tl_parts *split, const double *radius, double *s, tl_arena *a, tl_outcome *out,
                            tl_work *work, talus_error *err);

/* For arrangements that have no groups, over the energy: the gap of boxes at the velocities as they are, see tl_cone; that of cones with the duals of the method, or
 * how far the stress at a centre is outside of them over the largest radius, whichever is more. */
talus_status tl_parts_gap(const tl_parts *split, const double *radius, const double *s, tl_arena *a, double *out,
                          talus_error *err);

#endif
