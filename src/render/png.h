/* Images to PNG files, through libpng. */
#ifndef TL_RENDER_PNG_H
#define TL_RENDER_PNG_H

#include "render/image.h"

/* Text chunks of the file; end the list with a NULL key. Keys: 1 to 79 printable ASCII characters. */
typedef struct tl_png_note {
    const char *key, *text;
} tl_png_note;

/* Written beside `path` and renamed: complete or absent. notes may be NULL. */
talus_status tl_png_write(const tl_image *m, const char *path, const tl_png_note *notes, talus_error *err);

#endif
