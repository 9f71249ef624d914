/* Pictures read back: where a point appears in one, and what a file holds. */
#ifndef TL_TESTS_PICTURES_H
#define TL_TESTS_PICTURES_H

#include "render/image.h"
#include "render/picture.h"

/* Where a point appears, 0..1 from the upper left; false when it is behind the eye. */
bool tl_test_lens_project(const tl_lens *c, tl_vec3 p, double *x, double *y);
/* Any PNG, as 8-bit RGB; false, and no image, when it cannot be read. */
bool tl_test_png_read(tl_image *m, const char *path);

#endif
