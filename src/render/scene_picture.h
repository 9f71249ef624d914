/* From a scene to a picture of its first state or of any other; from a shape to its portrait.
 *
 * Bodies become marched surfaces, as fine as the image can show; bodies that share a shape share the surface. Fills
 * become particles, less those inside bodies. Bodies that state no colour wear their shape's paint, or take a colour of
 * the palette by shape and material.
 *
 * The automatic camera frames what is inside of the domain and has not flown far from where the scene began; what is
 * very far away is not drawn at all. A film makes its picture once, gives `frame`, and then only moves bodies and
 * particles. */
#ifndef TL_RENDER_SCENE_PICTURE_H
#define TL_RENDER_SCENE_PICTURE_H

#include "math/pose.h"
#include "render/picture.h"
#include "scene/scene.h"

/* Particles of a state that share a material. */
typedef struct tl_scene_cloud {
    int32_t count;
    const tl_vec3 *at;
    const float *value; /* of the field that render.colour_by names; NULL: the material's colour */
    int material;
    double spacing; /* m; a particle's radius is half of it, or render.particle_radius */
} tl_scene_cloud;

/* What of a liquid is shown: in the domain, and not so far away that it would be the picture. */
tl_box3 tl_scene_cloud_box(const tl_scene *s, const tl_scene_cloud *c);

/* An elastic body as it is now: drawn instead of its shape. */
typedef struct tl_scene_soft {
    int body;
    int32_t vertices, triangles;
    const tl_vec3 *at, *normal;
    const tl_vec3 *rest; /* where vertices are in the body's frame when nothing is bent: paint is found there */
    const int32_t (*triangle)[3];
    const float *value; /* [vertices] of the field that render.colour_by names; NULL: the material's colour and paint */
} tl_scene_soft;

typedef struct tl_scene_picture_options {
    int width, height;      /* of the image to come: surfaces need not be finer than its pixels */
    const char *view;       /* a name below, or NULL: the scene's camera, else from the front corner */
    int32_t particles_most; /* of one fill, 0: 4 million; more are thinned out */
    const tl_pose *poses;   /* [body_count] of the shapes' frames; NULL: the scene's start, fills included */
    int clouds;             /* with poses: the particles of that state */
    const tl_scene_cloud *cloud;
    int softs; /* with poses: elastic bodies of that state */
    const tl_scene_soft *soft;
    const bool *broken;   /* [joint_count] joints that are not drawn; NULL: all are, where render.joints asks for it */
    const tl_box3 *frame; /* what the automatic camera holds; NULL: what is there */
} tl_scene_picture_options;

/* Named points of view, i = 0, 1, ... until NULL: "corner", "front" (from +z), "back", "right" (from +x), ... */
const char *tl_view_name(int i);
bool tl_view_direction(const char *name, tl_vec3 *towards_eye);

/* p is begun here; free it whatever is returned. */
talus_status tl_picture_of_scene(tl_picture *p, const tl_scene *s, const tl_scene_picture_options *o, talus_error *err);

/* Another state of the same scene: only instances move, no surface is made again. */
void tl_picture_pose_bodies(tl_picture *p, const tl_scene *s, const tl_pose *poses);
/* Joints that are broken are not drawn, others are. broken [joint_count]. */
void tl_picture_show_joints(tl_picture *p, const bool *broken);
/* Other particles instead of those that are there. */
talus_status tl_picture_set_clouds(tl_picture *p, const tl_scene *s, int clouds, const tl_scene_cloud *cloud,
                                   talus_error *err);
/* The same elastic bodies in another state: vertices and normals, nothing else. */
void tl_picture_pose_softs(tl_picture *p, int softs, const tl_scene_soft *soft);
/* Adds a state's bodies to what a film must frame, by the rule of the automatic camera. Begin with lo > hi. */
void tl_scene_frame_add(tl_box3 *frame, const tl_scene *s, const tl_pose *poses);

/* A shape on its own, standing on the ground at its lowest point; paints of `s` apply. */
talus_status tl_picture_of_shape(tl_picture *p, const tl_scene *s, int node, const tl_scene_picture_options *o,
                                 talus_error *err);

#endif
