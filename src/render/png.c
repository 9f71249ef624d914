#include "render/png.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/replace.h"

typedef struct trouble {
    jmp_buf back;
    char text[128];
    bool no_memory; /* however zlib words it */
} trouble;

static void on_error(png_structp png, png_const_charp message)
{
    trouble *t = png_get_error_ptr(png);
    snprintf(t->text, sizeof t->text, "%s", message);
    longjmp(t->back, 1);
}
static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}
static png_voidp take(png_structp png, png_alloc_size_t bytes)
{
    trouble *t = png_get_mem_ptr(png);
    void *block = tl_hook_malloc(bytes);
    if (!block) t->no_memory = true;
    return block;
}
static void give(png_structp png, png_voidp block)
{
    (void)png;
    tl_hook_free(block);
}

static void put_notes(png_structp png, png_infop info, const tl_png_note *notes)
{
    for (; notes && notes->key; notes++) {
        png_text t = {.compression = PNG_TEXT_COMPRESSION_NONE, .key = (char *)notes->key, .text = (char *)notes->text};
        png_set_text(png, info, &t, 1);
    }
}

/* longjmp comes back here: nothing that changes after setjmp is read afterwards. */
static bool encode(const tl_image *m, FILE *file, const tl_png_note *notes, trouble *t)
{
    png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, t, on_error, on_warning, t, take, give);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        t->no_memory = true;
        png_destroy_write_struct(&png, NULL);
        return false;
    }
    if (setjmp(t->back)) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)m->width, (png_uint_32)m->height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    put_notes(png, info, notes);
    png_write_info(png, info);
    for (int y = 0; y < m->height; y++) png_write_row(png, m->rgb[(size_t)y * (size_t)m->width]);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return true;
}

talus_status tl_png_write(const tl_image *m, const char *path, const tl_png_note *notes, talus_error *err)
{
    tl_replace r;
    TL_TRY(tl_replace_begin(&r, path, err));
    FILE *file = fopen(r.temp, "wb");
    if (!file) {
        int why = errno;
        tl_replace_discard(&r);
        return TL_FAIL(err, TALUS_IO, "%s: cannot write it: %s", path, strerror(why));
    }
    trouble t = {.text = ""};
    errno = 0;
    bool good = encode(m, file, notes, &t);
    int why = errno;
    if (good && fflush(file) != 0) {
        good = false;
        why = errno;
        snprintf(t.text, sizeof t.text, "the last bytes were refused");
    }
    fclose(file);
    if (good) return tl_replace_commit(&r, err);
    tl_replace_discard(&r);
    if (t.no_memory) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write %s", path);
    return TL_FAIL(err, TALUS_IO, "%s: cannot write it as PNG: %s%s%s", path, t.text, why ? ": " : "",
                   why ? strerror(why) : "");
}
