/* How one body moves without contacts, and what a set of bodies carries: energy, momentum. */
#ifndef TL_MODEL_RIGID_MOTION_H
#define TL_MODEL_RIGID_MOTION_H

#include "model/rigid/rigid.h"

/* World frame. */
tl_mat3 tl_rigid_inverse_inertia(const tl_rigid_body *b, tl_quat q);
tl_vec3 tl_rigid_angular_momentum(const tl_rigid_body *b, tl_quat q, tl_vec3 w); /* about the centre of mass */

/* Place and rotation after dt of free flight with the velocities given; the centre moves straight, w changes so that
 * the angular momentum does not. Exact where two moments of inertia are equal; else by the implicit midpoint rule on
 * the rotation group, in substeps of at most 0.05 rad: angular momentum exact to rounding, and so is the energy,
 * which is put right at the end. */
void tl_rigid_fly(const tl_rigid_body *b, double dt, tl_motion *m);

/* Of free bodies; potential energy is zero at the origin. */
typedef struct tl_rigid_measures {
    double kinetic, potential;          /* J */
    tl_vec3 momentum, angular_momentum; /* kg m/s; about the origin, kg m^2/s */
    double fastest;                     /* m/s, of any point of any body, kinematic ones included */
} tl_rigid_measures;
tl_rigid_measures tl_rigid_measure(const tl_rigid *r, const tl_motion *body, tl_vec3 gravity);

#endif
