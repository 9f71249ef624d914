/* A scene and its simulation: opened from a text or from the gallery, run on, closed. What every bench, every
 * validated case and most tests begin and end with. */
#ifndef TL_LAB_WORLD_H
#define TL_LAB_WORLD_H

#include "phase/sim.h"
#include "scene/load.h"

typedef struct tl_world {
    tl_scene *scene;
    tl_sim *sim;
} tl_world;

/* All of these leave {0} behind when they fail. */

/* `format`: a scene, with printf's conversions for the numbers after it. No files are read. */
talus_status tl_world_open(tl_world *w, talus_error *err, const char *format, ...) TL_PRINTF(3, 4);
/* The same of a text as it is; load: settings and more, NULL: none, and no files. */
talus_status tl_world_text(tl_world *w, const char *text, const tl_load_options *load, talus_error *err);
/* A scene of the gallery by its name. scenes: folder of the gallery, NULL is bad input. load: size and settings;
 * shapes are those of the gallery. */
talus_status tl_world_gallery(tl_world *w, const char *scenes, const char *name, const tl_load_options *load,
                              talus_error *err);
/* The simulation of w->scene, which is loaded. log: may be NULL. */
talus_status tl_world_begin(tl_world *w, const tl_log *log, talus_error *err);
void tl_world_close(tl_world *w); /* leaves {0}; {0} is fine */

/* Until t. dt: of a step at most, s; 0: as the engine likes. */
talus_status tl_world_until(tl_world *w, double t, double dt, talus_error *err);
talus_status tl_world_steps(tl_world *w, int count, double dt, talus_error *err);
talus_status tl_world_frames(tl_world *w, int64_t until, talus_error *err);

#endif
