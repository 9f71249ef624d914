/* What the tracer measures per pixel, and how it becomes an image: denoise, then develop.
 *
 * The denoiser is an edge-avoiding a-trous wavelet [Dammertz2010] on radiance divided by surface colour, guided by
 * normal, depth, colour and the measured variance, as in [Schied2017]. Every pixel is computed alone, so threads
 * change no bit. */
#ifndef TL_RENDER_FILM_H
#define TL_RENDER_FILM_H

#include "base/status.h"
#include "render/colour.h"
#include "render/image.h"

typedef struct tl_film {
    int width, height;
    tl_colour *radiance; /* [height][width], mean of the samples */
    tl_colour *over;     /* reflections of glass in front, added after denoising */
    tl_colour *albedo;   /* mean colour of what is seen first; 1 for the background */
    float (*normal)[3];  /* mean; zero for the background */
    float *depth;        /* mean distance, m; background: 0 counts */
    float *variance;     /* of the mean luminance over albedo */
    void *memory;        /* all of the above */
} tl_film;

/* Refuses sides below 1 or above TL_IMAGE_SIDE_MAX. */
talus_status tl_film_create(tl_film *f, int width, int height, talus_error *err);
void tl_film_free(tl_film *f); /* leaves {0} */

talus_status tl_film_denoise(tl_film *f, talus_error *err);

/* Exposure, tone curve, sRGB, 8 bits with an ordered dither of one step (gradients without bands). */
talus_status tl_film_develop(const tl_film *f, float exposure, tl_image *out, talus_error *err);

#endif
