/* The public handle of a scene, for the other public functions that take one. */
#ifndef TL_API_SCENE_H
#define TL_API_SCENE_H

#include <talus/scene.h>

#include "scene/load.h"

struct talus_scene {
    tl_scene *scene;
};

/* Public options as the reader's own. A wrong size is bad input. */
talus_status tl_scene_options_from(const talus_scene_options *o, tl_load_options *out, talus_error *err);

#endif
