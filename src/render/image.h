/* 8-bit images and what is drawn on them: text, colour bars, thumbnails. */
#ifndef TL_RENDER_IMAGE_H
#define TL_RENDER_IMAGE_H

#include <stdbool.h>

#include "base/status.h"
#include "render/colour.h"

#define TL_IMAGE_SIDE_MAX 16384

typedef struct tl_image {
    int width, height;
    uint8_t (*rgb)[3]; /* [height][width], sRGB */
} tl_image;

talus_status tl_image_create(tl_image *m, int width, int height, uint32_t colour, talus_error *err); /* 0xrrggbb */
void tl_image_free(tl_image *m);                                                                     /* leaves {0} */

/* Strokes of our own making: ASCII 32..126; anything else shows as a box. (x, y): left end of the base line, in pixels;
 * size: height of capitals, pixels. Drawing outside of the image is cut off. Returns the width. */
double tl_image_text(tl_image *m, double x, double y, double size, uint32_t colour, const char *text);
double tl_image_text_width(double size, const char *text);

/* A colour bar at the right edge with its title and numbers at both ends and between. */
void tl_image_legend(tl_image *m, const tl_colour_map *map, const char *title, double lo, double hi);
void tl_image_caption(tl_image *m, const char *text); /* lower left */

/* Area average: for thumbnails. out is created. */
talus_status tl_image_shrink(const tl_image *m, int width, int height, tl_image *out, talus_error *err);

/* Thumbnails in a grid, `columns` wide (0: as square as it comes), each with its label below (labels may be NULL). */
talus_status tl_image_contact_sheet(int count, const tl_image *images, const char *const *labels, int columns,
                                    int thumb_width, tl_image *out, talus_error *err);

#endif
