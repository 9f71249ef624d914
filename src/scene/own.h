/* A simulation's own copy of a scene, whose numbers may change while it runs: gravity, bodies, joints, emitters and
 * materials are its own; shapes, functions of time, texts and all the rest are the original's, which must live longer. */
#ifndef TL_SCENE_OWN_H
#define TL_SCENE_OWN_H

#include "scene/scene.h"

/* origin [bodies]: which bodies it has, in this order, each as often as it is named; NULL: those of the scene. */
talus_status tl_scene_own_create(tl_scene **out, const tl_scene *s, int bodies, const int32_t *origin,
                                 talus_error *err);
void tl_scene_own_free(tl_scene *own); /* NULL is fine */

#endif
