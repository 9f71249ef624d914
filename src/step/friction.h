/* Frictional stress at frozen pressure: minimise the energy over |s|_F <= alpha p in every cell, the block "f" of staggered projections. [FM21 sec. 4.2],
 * [Narain2010]
 *
 * Groups of five at cells (colocated), the exact cone, any method of kind "cone"; or by parts (step/stress_parts.h), the only way for the staggered arrangement. Works in increments: the problem is written at the velocities as they
 * are, so that what earlier blocks left is seen, and nothing drifts. */
#ifndef TL_STEP_FRICTION_H
#define TL_STEP_FRICTION_H

#include "model/coupling/slip.h"
#include "solve/cone/method.h"
#include "step/stress_parts.h"

typedef struct tl_friction {
    const tl_stress *stress;
    tl_coupling *c;
    const double *
        alpha; /* [cells] sqrt 2 sin(angle) of what is there; 0: liquid; of a solid with a friction of its own that coefficient instead of the sine */
    const double *cohesion;       /* [cells] sqrt 2 times the shear that they bear without pressure, Pa; NULL: none */
    tl_slip_cells slip;           /* whose pressure cones take */
    const double *own;            /* [cells] sqrt 2 sin(angle) of the material, at solids too */
    double *s;                    /* [n] Pa: start in, answer out; acts on the velocities already */
    const tl_cone_method *method; /* NULL: by parts */
    int iterations;               /* of one solve, at most */
    const tl_parts_rule *rule;    /* of parts */
    tl_parts_options parts;
    /* kept between solves */
    tl_space space;
    double *radius, *bound;  /* [cells] */
    double *b, *before, *ds; /* [n] */
    double most;             /* Pa: largest radius that a solve of this step had */
    double learned;          /* by apgd of the matrix, which is the same in all sweeps of a step */
    tl_parts split;
} tl_friction;

typedef struct tl_friction_report {
    tl_outcome outcome;
    tl_work work;
    double change; /* largest of |ds|, Pa */
} tl_friction_report;

/* Rate of shear, |sym grad of (W_F u + J v)|_F without its trace: rate [cells], 1/s. scratch [n]. Uses c->y. */
void tl_friction_rates(const tl_stress *t, const tl_coupling *c, double *scratch, double *rate);

/* Takes room and bounds. The caller has filled the first part. */
talus_status tl_friction_begin(tl_friction *f, tl_arena *a, talus_error *err);

/* p [cells]: the unknown of the pressure, W_L^p p. */
talus_status tl_friction_solve(tl_friction *f, const double *p, double tolerance, tl_arena *a, tl_friction_report *out,
                               talus_error *err);

/* No pressure anywhere: the stress is taken back. Returns the largest that there was, Pa. */
double tl_friction_drop(tl_friction *f);

/* Colocated: the problem at p and the velocities as they are, whose answer is to be s. Lives as long as f and until its next solve. */
tl_cone tl_friction_problem(const tl_friction *f, const double *p);

/* Colocated: of s in the problem at p and the velocities as they are, whose energies do not depend on s. */
talus_status tl_friction_certify(const tl_friction *f, const double *p, tl_arena *a, tl_cone_certificate *out,
                                 talus_error *err);

/* Of s at p and the velocities as they are: gap over energy (1 where no friction acts yet and some could), and how far outside of the cones, over the largest radius
 * that a solve of this step had: sand that comes apart in its last sweep has cones of size zero. The larger. Colocated stress is
 * measured against the cone whatever its method, staggered against its boxes. */
talus_status tl_friction_error(const tl_friction *f, const double *p, tl_arena *a, double *out, talus_error *err);

#endif
