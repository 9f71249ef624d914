/* Images, text, PNG files and films. */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "pictures.h"
#include "render/mp4.h"
#include "render/png.h"
#include "tempdir.h"

static char folder[TL_TEMPDIR_MAX];

static int begin(void **state)
{
    (void)state;
    tl_tempdir_create(folder);
    return 0;
}
static int end(void **state)
{
    (void)state;
    tl_tempdir_remove(folder);
    return 0;
}

static void place(char *path, size_t room, const char *name) { snprintf(path, room, "%s/%s", folder, name); }

static tl_image gradient(int width, int height)
{
    talus_error err;
    tl_image m;
    CHECK_OK(tl_image_create(&m, width, height, 0, &err));
    for (int i = 0; i < width * height; i++)
        for (int k = 0; k < 3; k++) m.rgb[i][k] = (uint8_t)(i * (k + 1) + i / width);
    return m;
}

static int dark_pixels(const tl_image *m, int x0, int y0, int x1, int y1)
{
    int n = 0;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) n += m->rgb[y * m->width + x][1] < 128;
    return n;
}

static void png_comes_back(void **state)
{
    (void)state;
    talus_error err;
    char path[300];
    place(path, sizeof path, "a.png");
    tl_image m = gradient(37, 21), back;
    const tl_png_note notes[] = {{"Title", "hourglass"}, {"Frame", "12"}, {0}};
    CHECK_OK(tl_png_write(&m, path, notes, &err));
    assert_int_equal(tl_tempdir_files(folder), 1);
    assert_true(tl_test_png_read(&back, path));
    assert_int_equal(back.width, 37);
    assert_int_equal(back.height, 21);
    assert_memory_equal(back.rgb, m.rgb, 37 * 21 * 3);

    /* What libpng itself finds: 8-bit RGB, the sRGB chunk, both notes. */
    FILE *file = fopen(path, "rb");
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_read_info(png, info);
    assert_int_equal(png_get_bit_depth(png, info), 8);
    assert_int_equal(png_get_color_type(png, info), PNG_COLOR_TYPE_RGB);
    assert_true(png_get_valid(png, info, PNG_INFO_sRGB));
    png_textp text;
    assert_int_equal(png_get_text(png, info, &text, NULL), 2);
    assert_string_equal(text[0].key, "Title");
    assert_string_equal(text[0].text, "hourglass");
    assert_string_equal(text[1].text, "12");
    png_destroy_read_struct(&png, &info, NULL);
    fclose(file);
    tl_image_free(&m);
    tl_image_free(&back);
}

static void png_trouble_is_told(void **state)
{
    (void)state;
    talus_error err;
    char path[300];
    tl_image m = gradient(8, 8), back;
    place(path, sizeof path, "no-such-folder/a.png");
    assert_int_equal(tl_png_write(&m, path, NULL, &err), TALUS_IO);
    assert_non_null(strstr(err.message, path));
    assert_false(tl_test_png_read(&back, path));
    place(path, sizeof path, "not.png");
    FILE *f = fopen(path, "w");
    fputs("plain text", f);
    fclose(f);
    assert_false(tl_test_png_read(&back, path));
    assert_null(back.rgb);
    tl_image_free(&m);
}

static void images_refuse_hostile_sizes(void **state)
{
    (void)state;
    talus_error err;
    tl_image m;
    const int sizes[][2] = {{0, 5}, {5, 0}, {-1, -1}, {TL_IMAGE_SIDE_MAX + 1, 1}, {1 << 30, 1 << 30}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(tl_image_create(&m, sizes[i][0], sizes[i][1], 0, &err), TALUS_BAD_INPUT);
        assert_null(m.rgb);
    }
    tl_image one = gradient(4, 4), sheet;
    assert_int_equal(tl_image_contact_sheet(0, &one, NULL, 0, 100, &sheet, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_image_contact_sheet(1, &one, NULL, 0, 5, &sheet, &err), TALUS_BAD_INPUT);
    tl_image_free(&one);
}

/* Every glyph leaves ink, as wide as it says; no two letters look the same; text outside of the image is cut off. */
static void text_is_drawn(void **state)
{
    (void)state;
    talus_error err;
    uint8_t seen[95][20 * 20];
    for (int c = 33; c <= 126; c++) {
        tl_image m;
        CHECK_OK(tl_image_create(&m, 20, 20, 0xffffff, &err));
        tl_image_text(&m, 3, 15, 12, 0, (char[]){(char)c, 0});
        assert_true(dark_pixels(&m, 0, 0, 20, 20) > 0);
        for (int i = 0; i < 400; i++) seen[c - 33][i] = m.rgb[i][0];
        for (int k = 33; k < c; k++) assert_memory_not_equal(seen[c - 33], seen[k - 33], 400);
        tl_image_free(&m);
    }
    tl_image m;
    CHECK_OK(tl_image_create(&m, 30, 30, 0xffffff, &err));
    double w = tl_image_text(&m, 1000, 5, 12, 0, "far"), u = tl_image_text(&m, -500, -500, 12, 0, "away\x01\xff");
    assert_true(w > 10 && u > w);
    CHECK_NEAR(tl_image_text_width(24, "far"), 2 * w, 1e-9);
    assert_int_equal(dark_pixels(&m, 0, 0, 30, 30), 0);
    tl_image_free(&m);
}

static void legend_shows_its_ends(void **state)
{
    (void)state;
    talus_error err;
    tl_image m;
    CHECK_OK(tl_image_create(&m, 320, 180, 0xffffff, &err));
    tl_image_legend(&m, tl_colour_map_at(3), "speed (m/s)", 0, 12.5);
    assert_int_equal(dark_pixels(&m, 0, 0, 160, 180), 0); /* at the right edge */
    int top = 0, bottom = 0;                              /* the bar: dark below, bright above */
    for (int x = 160; x < 320; x++) top += m.rgb[56 * 320 + x][0] < 100, bottom += m.rgb[126 * 320 + x][0] < 100;
    assert_true(bottom > top + 5);
    tl_image_free(&m);
    CHECK_OK(tl_image_create(&m, 4, 4, 0xffffff, &err)); /* no room: nothing bad happens */
    tl_image_legend(&m, tl_colour_map_at(0), "a long title for a small image", -1e300, 1e300);
    tl_image_caption(&m, "caption");
    tl_image_free(&m);
}

static void sheet_holds_every_image(void **state)
{
    (void)state;
    talus_error err;
    tl_image im[5], sheet;
    const char *labels[5] = {"0.0 s", "0.1 s", "0.2 s", "0.3 s", "0.4 s"};
    const uint32_t colours[5] = {0xff0000, 0x00ff00, 0x0000ff, 0xffff00, 0x00ffff};
    for (int i = 0; i < 5; i++) CHECK_OK(tl_image_create(&im[i], 64, 36, colours[i], &err));
    CHECK_OK(tl_image_contact_sheet(5, im, labels, 0, 32, &sheet, &err));
    int count[5] = {0};
    for (int i = 0; i < sheet.width * sheet.height; i++)
        for (int k = 0; k < 5; k++)
            count[k] += sheet.rgb[i][0] == (colours[k] >> 16 & 255) && sheet.rgb[i][1] == (colours[k] >> 8 & 255) &&
                        sheet.rgb[i][2] == (colours[k] & 255);
    for (int k = 0; k < 5; k++) assert_int_equal(count[k], 32 * 18);
    for (int i = 0; i < 5; i++) tl_image_free(&im[i]);
    tl_image_free(&sheet);
}

/* Light is averaged, not codes: a checker of black and white shrinks to half the light, which is 188. */
static void shrinking_averages_light(void **state)
{
    (void)state;
    talus_error err;
    tl_image m, half;
    CHECK_OK(tl_image_create(&m, 8, 8, 0, &err));
    for (int i = 0; i < 64; i++)
        if ((i + i / 8) % 2) memset(m.rgb[i], 255, 3);
    CHECK_OK(tl_image_shrink(&m, 4, 4, &half, &err));
    for (int i = 0; i < 16; i++) assert_int_equal(half.rgb[i][0], 188);
    tl_image_free(&m);
    tl_image_free(&half);
}

/* ---- films, with a stand-in for ffmpeg ---- */

static void stand_in(const char *script)
{
    char path[300];
    place(path, sizeof path, "ffmpeg");
    FILE *f = fopen(path, "w");
    fprintf(f, "#!/bin/sh\n%s\n", script);
    fclose(f);
    assert_int_equal(chmod(path, 0755), 0);
    char all[400];
    snprintf(all, sizeof all, "%s:/usr/bin:/bin", folder);
    setenv("PATH", all, 1);
}

static void film_goes_through_ffmpeg(void **state)
{
    (void)state;
    talus_error err;
    tl_mp4 *f;
    char path[300];
    place(path, sizeof path, "film.mp4");
    stand_in("for last; do :; done; cat > \"$last\""); /* the last argument is the file */
    assert_true(tl_mp4_available());
    CHECK_OK(tl_mp4_begin(&f, path, 64, 36, 25, &err));
    tl_image m = gradient(64, 36), wrong = gradient(32, 36);
    for (int i = 0; i < 30; i++) CHECK_OK(tl_mp4_frame(f, &m, &err)); /* more than a socket holds */
    assert_int_equal(tl_mp4_frame(f, &wrong, &err), TALUS_BAD_INPUT);
    assert_int_not_equal(access(path, F_OK), 0); /* not there before its end */
    CHECK_OK(tl_mp4_end(f, &err));
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_size, 30 * 64 * 36 * 3);
    tl_image_free(&m);
    tl_image_free(&wrong);
}

static void film_trouble_is_told(void **state)
{
    (void)state;
    talus_error err;
    tl_mp4 *f;
    char path[300];
    place(path, sizeof path, "film.mp4");
    tl_image m = gradient(256, 256);

    stand_in("echo 'no such codec' >&2; exit 3");
    CHECK_OK(tl_mp4_begin(&f, path, 256, 256, 25, &err));
    talus_status status = TALUS_OK;
    for (int i = 0; i < 100 && status == TALUS_OK; i++)
        status = tl_mp4_frame(f, &m, &err); /* must not die of SIGPIPE */
    assert_int_equal(status, TALUS_IO);
    assert_int_equal(tl_mp4_end(f, &err), TALUS_IO);
    assert_non_null(strstr(err.message, "no such codec"));
    assert_non_null(strstr(err.message, "3"));
    assert_int_not_equal(access(path, F_OK), 0);

    stand_in("sleep 60");
    CHECK_OK(tl_mp4_begin(&f, path, 256, 256, 25, &err));
    tl_mp4_discard(f);
    assert_int_equal(tl_tempdir_files(folder), 1); /* the stand-in alone */

    assert_int_equal(tl_mp4_begin(&f, path, 255, 256, 25, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_mp4_begin(&f, path, 256, 256, NAN, &err), TALUS_BAD_INPUT);
    setenv("PATH", folder, 1);
    char program[300];
    place(program, sizeof program, "ffmpeg");
    unlink(program);
    assert_false(tl_mp4_available());
    assert_int_equal(tl_mp4_begin(&f, path, 256, 256, 25, &err), TALUS_UNSUPPORTED);
    assert_non_null(strstr(err.message, "ffmpeg"));
    tl_image_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(png_comes_back, begin, end),
        cmocka_unit_test_setup_teardown(png_trouble_is_told, begin, end),
        cmocka_unit_test(images_refuse_hostile_sizes),
        cmocka_unit_test(text_is_drawn),
        cmocka_unit_test(legend_shows_its_ends),
        cmocka_unit_test(sheet_holds_every_image),
        cmocka_unit_test(shrinking_averages_light),
        cmocka_unit_test_setup_teardown(film_goes_through_ffmpeg, begin, end),
        cmocka_unit_test_setup_teardown(film_trouble_is_told, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
