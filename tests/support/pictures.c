#include "pictures.h"

#include <png.h>

bool tl_test_lens_project(const tl_lens *c, tl_vec3 p, double *x, double *y)
{
    tl_vec3 d = tl_vec3_sub(p, c->eye);
    double depth = tl_vec3_dot(d, c->forward);
    if (!(depth > 0)) return false;
    *x = 0.5 + 0.5 * tl_vec3_dot(d, c->right) / (depth * c->half_height * c->aspect);
    *y = 0.5 - 0.5 * tl_vec3_dot(d, c->up) / (depth * c->half_height);
    return true;
}

bool tl_test_png_read(tl_image *m, const char *path)
{
    *m = (tl_image){0};
    png_image png = {.version = PNG_IMAGE_VERSION};
    png_color white = {255, 255, 255};
    bool good = png_image_begin_read_from_file(&png, path);
    png.format = PNG_FORMAT_RGB;
    if (good && tl_image_create(m, (int)png.width, (int)png.height, 0, NULL) != TALUS_OK) good = false;
    if (good && !png_image_finish_read(&png, &white, m->rgb, 0, NULL)) good = false;
    png_image_free(&png);
    if (!good) tl_image_free(m);
    return good;
}
