/* Stops: liquid that one layer of samples does not hold.
 *
 * A wall is a sheet of samples. It lets through a lone fast particle, one in an edge, which has too few neighbours to
 * feel it, and now and then one of dense liquid where samples are irregular: a solve bounds the mean error of all
 * liquid, not that of one particle. So no particle comes nearer to the samples of a body than TL_SPH_NEAREST. What
 * would is led along that distance, and loses its speed towards the body in a blow without friction; the body gets the
 * opposite impulse, and moves back by what the particle was moved, so that momentum and the common centre of mass are
 * kept to rounding, angular momentum to second order in the step's length. Blows take energy and give none.
 *
 * The way of a particle is followed in the body's frame in pieces of a fifth of a spacing, so that walls with
 * samples on both sides hold whatever moves: a vessel needs walls of 1.5 spacings. Walls of the domain are the
 * step's. */
#ifndef TL_MODEL_SPH_STOP_H
#define TL_MODEL_SPH_STOP_H

#include "model/sph/sph.h"

/* Spacings from samples. Liquid rests at 0.73, samples push hardest at 2/3; at 1/4 they still push. */
#define TL_SPH_NEAREST 0.25

/* After all has moved: particles of `s` to places and velocities at the end of the step, from where and with the
 * velocity that they came with, s->v; `body` [scene bodies] the same of bodies, whose centres, velocities and mean
 * forces of liquid may change. Bodies started as s->bodies.motion. */
talus_status tl_sph_stop(tl_sph_step *s, tl_motion *body, talus_error *err);

/* Far outside of the domain, or through an open wall. */
bool tl_sph_gone(const tl_sph_step *s, tl_vec3 x);
/* A particle too near to a closed wall of the domain: the wall's blow takes what is left of the velocity towards it. */
void tl_sph_stop_at_walls(const tl_sph_step *s, tl_sph_particle *p);

#endif
