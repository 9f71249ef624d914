/* talus_render_file: what it draws, what it refuses, and that a failure leaves no file. */
#include <stdio.h>
#include <string.h>
#include <talus/render.h>
#include <unistd.h>

#include "check.h"
#include "pictures.h"
#include "render/mp4.h"
#include "render/png.h"
#include "tempdir.h"

static char folder[TL_TEMPDIR_MAX], input[300], output[300];

static int begin(void **state)
{
    (void)state;
    tl_tempdir_create(folder);
    snprintf(output, sizeof output, "%s/out.png", folder);
    return 0;
}
static int end(void **state)
{
    (void)state;
    tl_tempdir_remove(folder);
    return 0;
}

static void write_input(const char *name, const char *text)
{
    snprintf(input, sizeof input, "%s/%s", folder, name);
    FILE *f = fopen(input, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static talus_render_options tiny(void)
{
    talus_render_options o = talus_render_options_default();
    o.width = 32, o.height = 18, o.samples = 1;
    return o;
}

static void good(const talus_render_options *o, int width, int height)
{
    talus_error err = {0};
    tl_image m;
    CHECK_OK(talus_render_file(input, output, o, &err));
    assert_true(tl_test_png_read(&m, output));
    assert_int_equal(m.width, width);
    assert_int_equal(m.height, height);
    tl_image_free(&m);
    unlink(output);
}

static void bad(const talus_render_options *o, talus_status expected, const char *word)
{
    talus_error err = {0};
    talus_status status = talus_render_file(input, output, o, &err);
    if (status != expected || !strstr(err.message, word))
        fail_msg("%s: '%s', expected '%s' in it", talus_status_name(status), err.message, word);
    assert_int_not_equal(access(output, F_OK), 0);
    talus_render_file(input, output, o, NULL); /* without a place for the message */
}

#define SHAPE "return sphere { radius = 0.1 } + box { size = {0.3, 0.02, 0.1} }"
#define SCENE                                                                                                          \
    "return scene { talus = 1, engine = 'grid', duration = 1, grid = { cells = {8, 8, 8}, cell = 0.1 },"               \
    "bodies = { { shape = sphere { radius = 0.2 }, at = {0.4, 0.4, 0.4}, density = 100 } },"                           \
    "render = { width = 40, height = 30, samples = 1 } }"

static void shapes_scenes_and_meshes(void **state)
{
    (void)state;
    talus_render_options o = tiny();
    write_input("shape.lua", SHAPE);
    good(&o, 32, 18);
    for (int i = 0; talus_render_view(i); i++) {
        o.view = talus_render_view(i);
        good(&o, 32, 18);
    }
    o = talus_render_options_default();
    write_input("scene.lua", SCENE);
    good(&o, 40, 30);
    o = tiny();
    good(&o, 32, 18);
    write_input("mesh.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"); /* one triangle: open, and shown */
    good(&o, 32, 18);
}

static int stop(void *user, double done)
{
    (void)user;
    return done >= 0;
}

static void trouble_is_told(void **state)
{
    (void)state;
    talus_render_options o = tiny();
    write_input("shape.lua", SHAPE);
    o.view = "inside";
    bad(&o, TALUS_BAD_INPUT, "inside");
    o = tiny(), o.width = 20000;
    bad(&o, TALUS_BAD_INPUT, "20000");
    o = tiny(), o.height = -5;
    bad(&o, TALUS_BAD_INPUT, "-5");
    o = tiny(), o.samples = 1000000;
    bad(&o, TALUS_BAD_INPUT, "samples");
    o = tiny(), o.progress = stop;
    bad(&o, TALUS_INTERRUPTED, "stopped");
    o = tiny();
    write_input("plane.lua", "return plane { height = 0 }");
    bad(&o, TALUS_BAD_INPUT, "without bounds");
    write_input("wrong.lua", "return 3");
    bad(&o, TALUS_BAD_INPUT, "wrong.lua:1");
    write_input("gone.lua",
                "local ball = sphere { radius = 1 }\nreturn scene { talus = 1, engine = 'lg', duration = 1,\n"
                "  bodies = { { name = 'gone', density = 1, shape = ball - ball } } }");
    bad(&o, TALUS_BAD_INPUT, "gone.lua:3: bodies[1] (gone): ");
    write_input("huge.lua", "return scale(sphere { radius = 1e9 }, 1e6)");
    bad(&o, TALUS_BAD_INPUT, "within 1e+12 m");
    write_input(
        "far.lua",
        "return scene { talus = 1, engine = 'lg', duration = 1, camera = { eye = {0, 0, 1e15}, target = {0, 0, 0} },\n"
        "  bodies = { { density = 1, shape = scale(sphere { radius = 1e9 }, 100) } } }");
    bad(&o, TALUS_BAD_INPUT, "within 1e+12 m");
    write_input("empty.obj", "v 0 0 0\n");
    bad(&o, TALUS_BAD_INPUT, "empty.obj");
    write_input("wrong.obj", "f 1 2 3\n");
    bad(&o, TALUS_BAD_INPUT, "wrong.obj");
    snprintf(input, sizeof input, "%s/nothing.lua", folder);
    bad(&o, TALUS_IO, "nothing.lua");
    write_input("shape.lua", SHAPE);
    snprintf(output, sizeof output, "%s/no/folder.png", folder);
    bad(&o, TALUS_IO, "folder.png");
}

static void sheets_and_turns(void **state)
{
    (void)state;
    talus_error err = {0};
    tl_image m, first;
    write_input("shape.lua", SHAPE);
    talus_render_options o = tiny();
    o.sheet = 1;
    CHECK_OK(talus_render_file(input, output, &o, &err));
    assert_true(tl_test_png_read(&m, output));
    assert_true(m.width >= 3 * 16 && m.height >= 2 * 9); /* six thumbnails of half the size, three in a row */
    tl_image_free(&m);

    o = tiny(), o.turn = 4;
    snprintf(output, sizeof output, "%s/turn-%%.png", folder);
    CHECK_OK(talus_render_file(input, output, &o, &err));
    char path[300];
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/turn-%04d.png", folder, i);
        assert_true(tl_test_png_read(i ? &m : &first, path));
        if (!i) continue;
        assert_int_equal(m.width, 32);
        assert_memory_not_equal(m.rgb, first.rgb,
                                (size_t)32 * 18 * 3); /* the light stays, so every side looks different */
        tl_image_free(&m);
    }
    tl_image_free(&first);
    snprintf(path, sizeof path, "%s/turn-%04d.png", folder, 4);
    assert_int_equal(access(path, F_OK), -1);

    snprintf(output, sizeof output, "%s/film.mp4", folder);
    if (tl_mp4_available())
        CHECK_OK(talus_render_file(input, output, &o, &err));
    else
        bad(&o, TALUS_UNSUPPORTED, "ffmpeg");
    snprintf(output, sizeof output, "%s/film.png", folder);
    bad(&o, TALUS_BAD_INPUT, "film.png");
    o.sheet = 1;
    bad(&o, TALUS_BAD_INPUT, "not both");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shapes_scenes_and_meshes, begin, end),
        cmocka_unit_test_setup_teardown(trouble_is_told, begin, end),
        cmocka_unit_test_setup_teardown(sheets_and_turns, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
