/* Every refused allocation on the way to a picture: a clean status, nothing kept. */
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "check.h"
#include "render/png.h"
#include "render/render.h"
#include "tempdir.h"

static talus_status picture(tl_picture *p, talus_error *err)
{
    const tl_vec3 at[2] = {{0, 0.5, 0}, {1, 0.5, 0}};
    const tl_colour colour[2] = {{1, 0, 0}, {0, 1, 0}};
    const float value[2] = {0, 1};
    tl_vec3 v[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int32_t t[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    tl_trimesh m = {4, 4, v, t};
    tl_picture_begin(p);
    TL_TRY(tl_picture_add_spheres(p,
                                  &(tl_picture_spheres){.count = 2,
                                                        .at = at,
                                                        .radius = 0.2,
                                                        .colour = colour,
                                                        .value = value,
                                                        .hi = 1,
                                                        .look = tl_look_matte(tl_colour_grey(1))},
                                  err));
    int mesh = tl_picture_add_mesh(p, &m, 30, err);
    if (mesh < 0) return err->status;
    TL_TRY(tl_picture_add_instance(p, mesh, tl_mat3_identity(), at[0], tl_look_glass(), err));
    return tl_picture_add_tank(p, (tl_box3){{0, 0, 0}, {1, 1, 1}}, true, err);
}

static talus_status whole(const char *path, talus_error *err)
{
    tl_picture p = {0};
    tl_image image = {0}, sheet = {0};
    tl_render_options o = tl_render_options_default();
    o.width = 16, o.height = 9, o.samples = 1;
    talus_status status = picture(&p, err);
    if (status == TALUS_OK) status = tl_render(&p, &o, &image, err);
    if (status == TALUS_OK) status = tl_image_contact_sheet(1, &image, NULL, 1, 16, &sheet, err);
    if (status == TALUS_OK) status = tl_png_write(&sheet, path, (tl_png_note[]){{"Title", "fault"}, {0}}, err);
    tl_image_free(&image);
    tl_image_free(&sheet);
    tl_picture_free(&p);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    char folder[TL_TEMPDIR_MAX], path[300];
    tl_tempdir_create(folder);
    snprintf(path, sizeof path, "%s/a.png", folder);
    talus_error err = {0};
    CHECK_OK(whole(path, &err));
    unlink(path);
    int64_t blocks = tl_alloc_read().live_blocks;
    int failed = 0;
    for (int64_t k = 1;; k++) {
        tl_alloc_fail_at(k);
        err = (talus_error){0};
        talus_status status = whole(path, &err);
        int happened = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        if (!happened) break;
        if (status == TALUS_OK) { /* zlib does with less, and a mask for text may be left out */
            unlink(path);
        } else {
            assert_int_equal(status, TALUS_NO_MEMORY);
            assert_true(err.message[0] != '\0');
            assert_int_equal(tl_tempdir_files(folder), 0);
            failed++;
        }
        assert_int_equal(tl_alloc_read().live_blocks, blocks);
    }
    assert_true(failed > 30);
    tl_tempdir_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
