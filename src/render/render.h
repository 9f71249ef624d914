/* From a picture to an image: a small path tracer over geom/rays.
 *
 * Light: a sun with an angular radius, a sky, and what surfaces send each other (two diffuse bounces). Glass is
 * thin: light passes straight, tinted, and a Fresnel part is mirrored once. Random numbers are counted by pixel and
 * sample, so an image has the same bits for any number of threads and on every run. Nothing adapts to time. */
#ifndef TL_RENDER_RENDER_H
#define TL_RENDER_RENDER_H

#include "render/film.h"
#include "render/picture.h"

typedef struct tl_render_options {
    int width, height;
    int samples; /* per pixel, 1 .. TL_RENDER_SAMPLES_MAX */
    int bounces; /* of diffuse light, 0 .. 16 */
    bool denoise;
    float exposure;
    uint64_t seed;
    /* Called from the calling thread with the share that is done, 0 to 1; not 0 stops with TALUS_INTERRUPTED. May be
     * NULL. */
    int (*progress)(void *user, double done);
    void *user;
} tl_render_options;
#define TL_RENDER_SAMPLES_MAX 65536

tl_render_options tl_render_options_default(void); /* 1280 x 720, 16 samples, denoised */

/* All stages, with legend and caption. out is created. */
talus_status tl_render(const tl_picture *p, const tl_render_options *o, tl_image *out, talus_error *err);

/* Only the tracing: linear radiance and the denoiser's guides. f is created. */
talus_status tl_render_trace(const tl_picture *p, const tl_render_options *o, tl_film *f, talus_error *err);

/* Radiance of the open, sunlit ground: what a background must be to meet it without an edge. */
tl_colour tl_render_open_ground(const tl_picture *p);

#endif
