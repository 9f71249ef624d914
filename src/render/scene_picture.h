/* From a scene to a picture of its first state; from a shape to its portrait.
 *
 * Bodies become marched surfaces, as fine as the image can show; bodies that share a shape share the surface. Fills become particles, less those
 * inside bodies. Bodies that state no colour wear their shape's paint, or take a colour of the palette by shape and material. */
#ifndef TL_RENDER_SCENE_PICTURE_H
#define TL_RENDER_SCENE_PICTURE_H

#include "render/picture.h"
#include "scene/scene.h"

typedef struct tl_scene_picture_options {
    int width, height;      /* of the image to come: surfaces need not be finer than its pixels */
    const char *view;       /* a name below, or NULL: the scene's camera, else from the front corner */
    int32_t particles_most; /* of one fill, 0: 4 million; more are thinned out */
} tl_scene_picture_options;

/* Named points of view, i = 0, 1, ... until NULL: "corner", "front" (from +z), "back", "right" (from +x), ... */
const char *tl_view_name(int i);
bool tl_view_direction(const char *name, tl_vec3 *towards_eye);

/* p is begun here; free it whatever is returned. */
talus_status tl_picture_of_scene(tl_picture *p, const tl_scene *s, const tl_scene_picture_options *o, talus_error *err);

/* A shape on its own, standing on the ground at its lowest point; paints of `s` apply. */
talus_status tl_picture_of_shape(tl_picture *p, const tl_scene *s, int node, const tl_scene_picture_options *o,
                                 talus_error *err);

#endif
