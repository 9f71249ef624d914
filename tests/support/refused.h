/* What happens when memory is refused. */
#ifndef TL_TESTS_REFUSED_H
#define TL_TESTS_REFUSED_H

#include "phase/sim.h"

/* Makes a simulation with the k-th allocation refused, for every k: it says so and leaves nothing behind. Returns
 * how often it did. */
int check_create_refused(tl_scene *scene);

#endif
