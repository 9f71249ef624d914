/* A simulation goes on bit for bit from a copy of its state and from a checkpoint. */
#ifndef TL_TESTS_SAVED_H
#define TL_TESTS_SAVED_H

#include "phase/sim.h"

/* Saves, then takes `steps` of dt with all three (0: as long as they want), comparing after each. The copy finds NaN
 * in its memory before every step. */
void check_saved_goes_on(tl_sim *sim, tl_scene *scene, int steps, double dt);

#endif
