/* One picture of a simulation as it is, with the scene's camera and sizes. */
#ifndef TL_RUN_PICTURE_H
#define TL_RUN_PICTURE_H

#include "phase/sim.h"

/* progress: as in render/render.h. The PNG is complete or absent. */
talus_status tl_run_picture(const tl_sim *sim, const char *path, int (*progress)(void *user, double done), void *user,
                            talus_error *err);

#endif
