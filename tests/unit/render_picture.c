/* Pictures as data: framing, projection, normals at creases, refusals. */
#include <string.h>

#include "check.h"
#include "pictures.h"
#include "render/picture.h"

static tl_trimesh cube(tl_vec3 *v, int32_t (*t)[3])
{
    static const int32_t quads[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                        {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int i = 0; i < 8; i++) v[i] = (tl_vec3){i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1};
    for (int q = 0; q < 6; q++) {
        const int32_t *k = quads[q];
        memcpy(t[2 * q], (int32_t[]){k[0], k[1], k[2]}, sizeof t[0]);
        memcpy(t[2 * q + 1], (int32_t[]){k[0], k[2], k[3]}, sizeof t[0]);
    }
    return (tl_trimesh){8, 12, v, t};
}

static void frame_holds_the_subject(void **state)
{
    (void)state;
    const tl_vec3 views[] = {{0.55, 0.42, 1}, {1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {-1, 2, -0.3}};
    const tl_box3 boxes[] = {
        {{-1, -1, -1}, {1, 1, 1}}, {{5, 0, -3}, {25, 0.1, -2}}, {{1e-4, 0, 0}, {2e-4, 3e-3, 1e-4}}};
    for (int b = 0; b < 3; b++)
        for (int k = 0; k < 5; k++) {
            tl_picture p;
            tl_picture_begin(&p);
            p.camera.view = views[k];
            p.subject = boxes[b];
            tl_lens c = tl_lens_of(&p, 1280, 720);
            CHECK_NEAR(tl_vec3_dot(c.right, c.forward), 0, 1e-12);
            CHECK_NEAR(tl_vec3_norm(c.up), 1, 1e-12);
            double lo[2] = {1, 1}, hi[2] = {0, 0};
            for (int i = 0; i < 8; i++) {
                tl_box3 s = boxes[b];
                tl_vec3 q = {i & 1 ? s.hi.x : s.lo.x, i & 2 ? s.hi.y : s.lo.y, i & 4 ? s.hi.z : s.lo.z};
                double at[2];
                assert_true(tl_test_lens_project(&c, q, &at[0], &at[1]));
                for (int e = 0; e < 2; e++) lo[e] = fmin(lo[e], at[e]), hi[e] = fmax(hi[e], at[e]);
            }
            /* Inside with a margin, centred, and filling one direction: 0.78 of it, a little less in perspective. */
            for (int e = 0; e < 2; e++) {
                assert_true(lo[e] >= 0.1 && hi[e] <= 0.9);
                CHECK_NEAR(lo[e] + hi[e], 1, 0.02);
            }
            assert_true(fmax(hi[0] - lo[0], hi[1] - lo[1]) > 0.6);
        }
}

static void ray_and_projection_agree(void **state)
{
    (void)state;
    tl_picture p;
    tl_picture_begin(&p);
    p.camera.automatic = false;
    p.camera.eye = (tl_vec3){3, 2, 5};
    p.camera.target = (tl_vec3){0, 1, 0};
    tl_lens c = tl_lens_of(&p, 640, 480);
    for (int i = 0; i < 25; i++) {
        double x = 0.1 + 0.2 * (i % 5), y = 0.1 + 0.2 * (i / 5), u, v;
        tl_vec3 d = tl_lens_ray(&c, x, y);
        assert_true(tl_test_lens_project(&c, tl_vec3_add_scaled(c.eye, 7, d), &u, &v));
        CHECK_NEAR(u, x, 1e-12);
        CHECK_NEAR(v, y, 1e-12);
    }
    double u, v;
    assert_true(tl_test_lens_project(&c, p.camera.target, &u, &v));
    CHECK_NEAR(u, 0.5, 1e-12);
    assert_false(tl_test_lens_project(&c, (tl_vec3){6, 3, 10}, &u, &v));
    /* The vertical opening is fov_deg. */
    double top = acos(tl_vec3_dot(tl_lens_ray(&c, 0.5, 0), tl_lens_ray(&c, 0.5, 1)));
    CHECK_NEAR(top * 57.29577951308232, p.camera.fov_deg, 1e-9);
}

static void normals_stop_at_creases(void **state)
{
    (void)state;
    tl_vec3 v[8];
    int32_t t[12][3];
    tl_trimesh m = cube(v, t);
    talus_error err;
    tl_picture p;
    tl_picture_begin(&p);
    int sharp = tl_picture_add_mesh(&p, &m, 40, &err), round = tl_picture_add_mesh(&p, &m, 180, &err),
        flat = tl_picture_add_mesh(&p, &m, 0, &err);
    assert_int_equal(sharp, 0);
    assert_int_equal(p.mesh[sharp].vertices, 24); /* three normals at each corner */
    assert_int_equal(p.mesh[round].vertices, 8);
    assert_null(p.mesh[flat].normal);
    for (int i = 0; i < 24; i++) CHECK_NEAR(tl_vec3_max_abs(p.mesh[sharp].normal[i]), 1, 1e-12); /* axis-aligned */
    for (int i = 0; i < 12; i++) { /* outwards, and the same place as before */
        const int32_t *k = p.mesh[sharp].triangle[i];
        assert_true(tl_vec3_dot(p.mesh[sharp].normal[k[0]], p.mesh[sharp].vertex[k[0]]) > 0);
        for (int c = 0; c < 3; c++) assert_memory_equal(&p.mesh[sharp].vertex[k[c]], &v[t[i][c]], sizeof v[0]);
    }
    tl_picture_free(&p);
}

static void bounds_follow_instances_and_particles(void **state)
{
    (void)state;
    tl_vec3 v[8];
    int32_t t[12][3];
    tl_trimesh m = cube(v, t);
    talus_error err;
    tl_picture p;
    tl_picture_begin(&p);
    assert_true(tl_picture_bounds(&p).lo.x > tl_picture_bounds(&p).hi.x);
    int k = tl_picture_add_mesh(&p, &m, 0, &err);
    CHECK_OK(tl_picture_add_instance(&p, k, tl_mat3_diagonal(2, 1, 0.5), (tl_vec3){10, 0, 0}, tl_look_glass(), &err));
    const tl_picture_spheres one = {
        .count = 1, .at = &(tl_vec3){0, -5, 0}, .radius = 0.5, .look = tl_look_matte(tl_colour_grey(1))};
    CHECK_OK(tl_picture_add_spheres(&p, &one, &err));
    tl_box3 b = tl_picture_bounds(&p);
    CHECK_NEAR(b.lo.x, -0.5, 1e-12);
    CHECK_NEAR(b.hi.x, 12, 1e-12);
    CHECK_NEAR(b.lo.y, -5.5, 1e-12);
    CHECK_NEAR(b.hi.z, 0.5, 1e-12);
    tl_picture_free(&p);
}

static void wrong_parts_are_refused(void **state)
{
    (void)state;
    tl_vec3 v[8];
    int32_t t[12][3];
    tl_trimesh m = cube(v, t);
    talus_error err;
    tl_picture p;
    tl_picture_begin(&p);
    tl_look white = tl_look_matte(tl_colour_grey(1));
    assert_int_equal(tl_picture_add_instance(&p, 0, tl_mat3_identity(), v[0], white, &err), TALUS_BAD_INPUT);
    int k = tl_picture_add_mesh(&p, &m, 0, &err);
    assert_int_equal(tl_picture_add_instance(&p, k, tl_mat3_zero(), v[0], white, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_picture_add_instance(&p, k, tl_mat3_identity(), (tl_vec3){NAN, 0, 0}, white, &err),
                     TALUS_BAD_INPUT);
    assert_int_equal(tl_picture_add_instance(&p, k, tl_mat3_identity(), v[0], tl_look_matte(tl_colour_grey(2)), &err),
                     TALUS_BAD_INPUT);
    t[3][1] = 8;
    assert_int_equal(tl_picture_add_mesh(&p, &m, 30, &err), -1);
    assert_non_null(strstr(err.message, "triangle 3"));
    t[3][1] = 0;
    v[5].y = INFINITY;
    assert_int_equal(tl_picture_add_mesh(&p, &m, 0, &err), -1);
    assert_non_null(strstr(err.message, "vertex 5"));
    tl_picture_spheres one = {.count = 1, .at = &(tl_vec3){NAN, 0, 0}, .radius = 1, .look = white};
    assert_int_equal(tl_picture_add_spheres(&p, &one, &err), TALUS_BAD_INPUT);
    one.at = v;
    one.radius = 0;
    assert_int_equal(tl_picture_add_spheres(&p, &one, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_picture_add_tank(&p, (tl_box3){{0, 0, 0}, {1, 0, 1}}, true, &err), TALUS_BAD_INPUT);
    tl_picture_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frame_holds_the_subject), cmocka_unit_test(ray_and_projection_agree),
        cmocka_unit_test(normals_stop_at_creases), cmocka_unit_test(bounds_follow_instances_and_particles),
        cmocka_unit_test(wrong_parts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
