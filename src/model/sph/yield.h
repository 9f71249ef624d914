/* Contacts that give way. A body in a place too narrow for it has no solution: pressures grow against each other,
 * and what is left of them throws it. Bodies have a speed that no contact may drive them beyond; where the answer
 * does, the pressures and friction that drive the body that way (not those that resist) get one common factor, the
 * largest that keeps it within. All of them act between pairs, so linear and angular momentum are kept to rounding:
 * what drove it gets as much less of a push back. */
#ifndef TL_MODEL_SPH_YIELD_H
#define TL_MODEL_SPH_YIELD_H

#include "model/sph/sph.h"

typedef struct tl_sph_motion {
    tl_vec3 v, w;
} tl_sph_motion;

/* m/s: the speed with which a free body would have its energy if it did not turn. */
double tl_sph_whole_speed(const tl_sph_step *s, int32_t body, tl_vec3 v, tl_vec3 w);

/* limit [bodies]: whole speeds, at least those of the predicted velocities. x: the answer, made smaller where it
 * must be. part [bodies]: out, what is left of the forces that drove a body, 1 where nothing gave way. Returns how
 * many bodies have less. */
int32_t tl_sph_yield(tl_sph_step *s, const double *limit, double *x, double *part);

#endif
