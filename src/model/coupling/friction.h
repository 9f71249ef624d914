/* Frictional stress at frozen pressure as a cone problem: minimise the energy over |s|_F <= alpha p in every cell.
 * [FM21 sec. 4.2], [Narain2010]
 *
 * The problem is written at the velocities as they are, so that what earlier blocks left is seen, and nothing
 * drifts: its answer is s itself. Groups of five at cells (colocated) with the exact cone; or in parts, shears at
 * edges (staggered) among them, whose box is the mean of the cells around (cells without an unknown count as zero),
 * and the cone of a cell sees the mean of its four edges per axis. */
#ifndef TL_MODEL_COUPLING_FRICTION_H
#define TL_MODEL_COUPLING_FRICTION_H

#include "model/coupling/slip.h"
#include "solve/cone/problem.h"
#include "solve/coupled/problem.h"

typedef struct tl_friction {
    const tl_stress *stress;
    tl_coupling *c;
    /* [cells] sqrt 2 sin(angle) of what is there; 0: liquid; of a solid with a friction of its own that coefficient
     * instead of the sine */
    const double *alpha;
    const double *cohesion;        /* [cells] sqrt 2 times the shear that they bear without pressure, Pa; NULL: none */
    tl_slip_cells slip;            /* whose pressure cones take */
    const double *own;             /* [cells] sqrt 2 sin(angle) of the material, at solids too */
    double *s;                     /* [n] Pa: start in, answer out; acts on the velocities already */
    const tl_parts_options *parts; /* NULL: whole */
    /* kept between solves */
    tl_space space;
    double *radius, *bound; /* [cells] */
    double *b, *g;          /* [n] */
    double *weight, *moved; /* [faces] of parts: dt W_F mobility; scratch */
    tl_cone_parts split;
} tl_friction;

/* Takes room and bounds. The caller has filled the first part. `f` must stay where it is. */
talus_status tl_friction_begin(tl_friction *f, tl_arena *a, talus_error *err);

/* The problem at p and the velocities as they are, whose answer is to be s. p [cells]: the unknown of the pressure,
 * W_L^p p. Lives as long as f and until the next one. */
tl_cone tl_friction_problem(const tl_friction *f, const double *p);

/* As a block of the coupled problem; methods are the caller's to fill in. */
tl_cones tl_friction_cones(tl_friction *f);

#endif
