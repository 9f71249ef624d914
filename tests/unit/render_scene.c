/* Scenes and shapes as pictures: what is shared, what is cut out, which colours; and the library's own shapes. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "geom/surface.h"
#include "pictures.h"
#include "render/render.h"
#include "render/scene_picture.h"
#include "scene/load.h"

static tl_scene *load(const char *text)
{
    talus_error err = {0};
    tl_scene *s;
    tl_load_options o = {.shape_too = true, .no_files = true};
    CHECK_OK(tl_scene_load_text(&s, "test.lua", text, strlen(text), &o, &err));
    return s;
}

static void draw(tl_picture *p, const tl_scene *s, const char *view)
{
    talus_error err = {0};
    tl_scene_picture_options o = {.width = 320, .height = 180, .view = view};
    if (s->root >= 0)
        CHECK_OK(tl_picture_of_shape(p, s, s->root, &o, &err));
    else
        CHECK_OK(tl_picture_of_scene(p, s, &o, &err));
}

#define HEAD "return scene { talus = 1, engine = 'grid', duration = 1, grid = { cells = {32, 32, 32}, cell = 1/32 }, "

static void equal_blocks_share_a_surface(void **state)
{
    (void)state;
    tl_scene *s =
        load("local b, brick, ball = {}, box { size = {0.02, 0.01, 0.01} }, sphere { radius = 0.01 }\n"
             "for i = 1, 600 do b[i] = { shape = brick, density = 500, at = {0.1 + 0.001 * i, 0.5, 0.5} } end\n"
             "for i = 1, 20 do b[600 + i] = { shape = ball, density = 500, at = {0.02 * i + 0.2, 0.8, 0.5} } end\n" HEAD
             "bodies = b }");
    tl_picture p;
    draw(&p, s, NULL);
    assert_int_equal(p.meshes, 2);
    assert_int_equal(p.instances, 620);
    assert_int_equal(p.mesh[0].triangles, 12); /* a sharp box needs no marching */
    assert_true(p.mesh[1].triangles > 100);
    tl_colour a = p.instance[0].look.colour, c = p.instance[610].look.colour; /* kinds differ in colour */
    assert_true(fabsf(a.r / a.b - c.r / c.b) > 0.3f);
    tl_picture_free(&p);
    tl_scene_free(s);
}

static void fills_leave_room_for_bodies(void **state)
{
    (void)state;
    tl_scene *s =
        load("local sand = preset 'dry sand'\n" HEAD
             "fill = { { material = sand, shape = box { size = {0.5, 0.5, 0.5}, center = {0.5, 0.3, 0.5} } } },"
             "bodies = { { shape = sphere { radius = 0.15 }, at = {0.5, 0.3, 0.5}, density = 100, rotation_deg = {10, "
             "20, 30} } } }");
    tl_picture p;
    draw(&p, s, "top");
    assert_int_equal(p.clouds, 1);
    double expected = (0.125 - 4.0 / 3 * 3.14159 * 0.003375) * 64 * 64 * 64; /* half cells apart */
    CHECK_REL(p.cloud[0].count, expected, 0.03);                             /* jitter at the borders */
    for (int32_t i = 0; i < p.cloud[0].count; i++)
        assert_true(tl_vec3_norm(tl_vec3_sub(p.cloud[0].at[i], (tl_vec3){0.5, 0.3, 0.5})) >= 0.15);
    tl_picture_free(&p);
    tl_scene_free(s);
}

/* Half spaces as the ground: as slanted as they are, turned with their body; a wall is left out. */
static void floors_are_the_ground(void **state)
{
    (void)state;
    static const struct {
        const char *floor;
        double height, nx, ny;
    } of[] = {{"shape = half_space { normal = {3, 4, 0} }, at = {0, 0.25, 0}", 0.25, 0.6, 0.8},
              {"shape = half_space { normal = {0, 1, 0} }, at = {0, 0.5, 0}, rotation_deg = {0, 0, 30}", 0.5, -0.5,
               0.8660254037844387},
              {"shape = half_space { normal = {1, 0.1, 0} }", 0, 0, 0}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char text[600];
        tl_picture p;
        snprintf(
            text, sizeof text,
            HEAD
            "bodies = { { %s, kind = 'static' }, { shape = sphere { radius = 0.1 }, at = {0.5, 0.9, 0.5}, density = "
            "1 } } }",
            of[k].floor);
        tl_scene *s = load(text);
        draw(&p, s, NULL);
        CHECK_NEAR(p.ground.height, of[k].height, 1e-12);
        CHECK_NEAR(p.ground.normal.x, of[k].nx, 1e-12);
        CHECK_NEAR(p.ground.normal.y, of[k].ny, 1e-12);
        tl_picture_free(&p);
        tl_scene_free(s);
    }
}

/* A weight on a rope without a floor: the ground lies below it. The rope is drawn where it is asked for, from end to
 * end, moves with the weight, and is gone when it broke. */
static void joints_are_drawn(void **state)
{
    (void)state;
    tl_scene *s =
        load("return scene { talus = 1, engine = 'grid', duration = 1, bodies = { { name = 'a', shape = sphere "
             "{ radius = 0.1 }, density = 1, at = {0, -1, 0} } }, joints = { { kind = 'rope', a = 'a', at_b = "
             "{0, 0, 0} } }, render = { joints = true } }");
    talus_error err = {0};
    tl_picture p;
    draw(&p, s, NULL);
    CHECK_NEAR(p.ground.height, -1.1, 1e-9);
    assert_int_equal(p.instances, 2);
    const tl_picture_instance *rope = &p.instance[1];
    CHECK_NEAR(rope->at.y, -0.5, 1e-12);
    CHECK_NEAR(fabs(rope->linear.m[1][1]), 0.5, 1e-12); /* a box of edge 2 */
    tl_pose moved = {{2, 0, 0}, {1, 0, 0, 0}};
    tl_picture_pose_bodies(&p, s, &moved);
    CHECK_NEAR(rope->at.x, 1, 1e-12);
    CHECK_NEAR(fabs(rope->linear.m[0][1]), 1, 1e-12);
    tl_picture_free(&p);
    const bool broken = true;
    const tl_scene_picture_options o = {.width = 320, .height = 180, .broken = &broken};
    CHECK_OK(tl_picture_of_scene(&p, s, &o, &err));
    assert_int_equal(p.instances, 1);
    tl_picture_free(&p);
    tl_scene_free(s);
}

static void stage_follows_the_scene(void **state)
{
    (void)state;
    tl_scene *s = load(
        HEAD
        "bodies = { { shape = plane { height = 0.25 }, kind = 'static' },"
        "{ shape = sphere { radius = 0.1 }, at = {0.5, 0.5, 0.5}, density = 1, colour = '#ff0000', opacity = 0.2 } },"
        "render = { walls = 'glass' }, camera = { eye = {3, 2, 1}, target = {0, 0, 0}, fov_deg = 50 } }");
    tl_picture p;
    draw(&p, s, NULL);
    CHECK_NEAR(p.ground.height, 0.25, 1e-12); /* a floor becomes the ground */
    assert_false(p.camera.automatic);
    CHECK_NEAR(p.camera.fov_deg, 50, 0);
    int clear = 0;
    for (int i = 0; i < p.instances; i++) clear += p.instance[i].look.opacity < 1;
    assert_int_equal(clear, 2); /* the ball and the walls */
    tl_picture_free(&p);
    draw(&p, s, "front"); /* a named view wins */
    assert_true(p.camera.automatic);
    tl_picture_free(&p);
    talus_error err;
    tl_scene_picture_options o = {.width = 32, .height = 18, .view = "inside"};
    assert_int_equal(tl_picture_of_scene(&p, s, &o, &err), TALUS_BAD_INPUT);
    tl_picture_free(&p);
    tl_scene_free(s);
}

static void field_gets_a_legend(void **state)
{
    (void)state;
    tl_scene *s = load(
        "local w = preset 'water'\n" HEAD
        "fill = { { material = w, shape = sphere { radius = 0.1, center = {0.3, 0.5, 0.5} }, velocity = {3, 4, 0} },"
        "         { material = w, shape = sphere { radius = 0.1, center = {0.7, 0.5, 0.5} } } }, render = { colour_by "
        "= 'speed' } }");
    tl_picture p;
    draw(&p, s, NULL);
    assert_true(p.legend.present);
    CHECK_NEAR(p.legend.lo, 0, 0);
    CHECK_NEAR(p.legend.hi, 5, 1e-12);
    CHECK_NEAR(p.cloud[0].value[0], 5, 1e-6);
    tl_picture_free(&p);
    tl_scene_free(s);
}

/* The instance of a body. */
static const tl_picture_instance *shown(const tl_picture *p, int body)
{
    for (int i = 0; i < p->instances; i++)
        if (p->instance[i].owner == body) return &p->instance[i];
    fail_msg("body %d is not in the picture", body);
    return NULL;
}

#define LOOSE                                                                                                          \
    "return scene { talus = 1, engine = 'lg', duration = 1, bodies = {"                                                \
    "{ shape = box { size = {1, 1, 1} }, density = 1, at = {0, 0.5, 0} },"                                             \
    "{ shape = sphere { radius = 0.5 }, density = 1, at = {2, 0.5, 0} },"                                              \
    "{ shape = plane {}, kind = 'static' } } }"

static void other_states_move_what_is_there(void **state)
{
    (void)state;
    tl_scene *s = load(LOOSE);
    tl_pose pose[3];
    for (int i = 0; i < 3; i++) pose[i] = (tl_pose){s->bodies[i].at, s->bodies[i].rotation};
    tl_picture p, q;
    talus_error err;
    draw(&p, s, NULL);

    /* Moved and turned, the surfaces as they were. */
    const tl_vec3 *vertices = p.mesh[0].vertex;
    pose[0] = (tl_pose){{0.5, 3, 0}, tl_quat_from_axis_angle((tl_vec3){0, 0, 1}, 0.5)};
    tl_picture_pose_bodies(&p, s, pose);
    assert_ptr_equal(p.mesh[0].vertex, vertices);
    CHECK_NEAR(shown(&p, 0)->at.y, 3, 0);
    CHECK_NEAR(shown(&p, 0)->linear.m[0][0], cos(0.5), 1e-15);

    /* The same state drawn from nothing has the same things in the same places. */
    tl_scene_picture_options o = {.width = 320, .height = 180, .poses = pose};
    CHECK_OK(tl_picture_of_scene(&q, s, &o, &err));
    for (int i = 0; i < 2; i++) assert_memory_equal(&shown(&q, i)->linear, &shown(&p, i)->linear, sizeof(tl_mat3));
    tl_picture_free(&p);
    tl_picture_free(&q);
    tl_scene_free(s);
}

static void stray_bodies_do_not_move_the_camera(void **state)
{
    (void)state;
    tl_scene *s = load(LOOSE);
    tl_pose pose[3];
    for (int i = 0; i < 3; i++) pose[i] = (tl_pose){s->bodies[i].at, s->bodies[i].rotation};
    tl_picture p;
    talus_error err;
    tl_scene_picture_options o = {.width = 320, .height = 180, .poses = pose};
    const double far[] = {-50, -1e7, -1e30, NAN};
    tl_box3 frame = {{1, 1, 1}, {-1, -1, -1}};
    for (int i = 0; i < 4; i++) {
        pose[0].at.y = far[i];
        CHECK_OK(tl_picture_of_scene(&p, s, &o, &err));
        assert_int_equal(shown(&p, 0)->hidden, i > 0);
        CHECK_NEAR(tl_picture_subject(&p).lo.x, 1.5, 0.01); /* only the ball; a marched surface */
        tl_picture_free(&p);
        tl_scene_frame_add(&frame, s, pose);
    }
    CHECK_NEAR(frame.lo.x, 1.5, 1e-12);
    /* Everything gone: what was there at the start is framed. */
    pose[1].at.y = -1e7;
    CHECK_OK(tl_picture_of_scene(&p, s, &o, &err));
    CHECK_NEAR(tl_picture_subject(&p).lo.x, -0.5, 1e-12);
    tl_picture_free(&p);
    tl_scene_free(s);

    /* Outside of the domain at the start. */
    s = load(HEAD "bodies = { { shape = sphere { radius = 0.1 }, at = {0.5, 0.5, 0.5}, density = 1 },"
                  "{ shape = sphere { radius = 0.1 }, at = {300, 0.5, 0.5}, density = 1 } } }");
    draw(&p, s, NULL);
    assert_true(shown(&p, 1)->aside || shown(&p, 1)->hidden);
    CHECK_NEAR(tl_picture_subject(&p).hi.x, 0.6, 0.01);
    tl_picture_free(&p);
    tl_scene_free(s);
}

static void particles_of_a_state_are_shown(void **state)
{
    (void)state;
    tl_scene *s = load("local w = preset 'water'\n" HEAD
                       "fill = { { material = w, shape = sphere { radius = 0.1, center = {0.3, 0.5, 0.5} } } },"
                       "render = { colour_by = 'speed', range = {0, 2} } }");
    tl_vec3 at[2] = {{0.1, 0.2, 0.3}, {0.4, 0.5, 0.6}};
    float value[2] = {1, 2};
    tl_pose none;
    tl_scene_cloud cloud = {.count = 2, .at = at, .value = value, .material = 0, .spacing = 0.01};
    tl_scene_picture_options o = {.width = 320, .height = 180, .poses = &none, .clouds = 1, .cloud = &cloud};
    tl_picture p;
    talus_error err;
    CHECK_OK(tl_picture_of_scene(&p, s, &o, &err));
    assert_int_equal(p.clouds, 1); /* the fill is the start's */
    assert_int_equal(p.cloud[0].count, 2);
    CHECK_NEAR(p.cloud[0].value[1], 2, 0);
    cloud.count = 1;
    CHECK_OK(tl_picture_set_clouds(&p, s, 1, &cloud, &err));
    assert_int_equal(p.clouds, 1);
    assert_int_equal(p.cloud[0].count, 1);
    tl_picture_free(&p);
    tl_scene_free(s);
}

/* First colour seen where `at` appears in the picture. */
static tl_colour colour_seen(const tl_picture *p, tl_vec3 at)
{
    talus_error err;
    tl_film f;
    tl_render_options o = tl_render_options_default();
    o.width = 160, o.height = 90, o.samples = 1, o.bounces = 0;
    CHECK_OK(tl_render_trace(p, &o, &f, &err));
    tl_lens c = tl_lens_of(p, 160, 90);
    double x, y;
    assert_true(tl_test_lens_project(&c, at, &x, &y));
    tl_colour seen = f.albedo[(int)(y * 90) * 160 + (int)(x * 160)];
    tl_film_free(&f);
    return seen;
}

/* Paint moves, turns, scales and mirrors with its shape, and survives set operations. */
static void paint_stays_where_it_was_put(void **state)
{
    (void)state;
    tl_scene *s = load("local ball = sphere { radius = 1 }\n"
                       "ball:paint('#ffffff'); ball:paint(sphere { radius = 0.5, center = {0, 0, 1} }, '#ff0000')\n"
                       "local one = ball:rotate({0, 90, 0}):scale(0.1):move({1, 0, 0})\n" /* spot towards +x */
                       "local more = mirror(one, 'x') + box { size = {0.1, 0.1, 0.1} }\n"
                       "return more");
    tl_picture p;
    draw(&p, s, "right");
    tl_colour spot = colour_seen(&p, (tl_vec3){1.1, 0, 0}), side = colour_seen(&p, (tl_vec3){1.0, 0.09, 0});
    CHECK_NEAR(spot.g, 0, 0.01);
    CHECK_NEAR(side.g, 1, 0.01);
    tl_picture_free(&p);
    draw(&p, s, "left");
    spot = colour_seen(&p, (tl_vec3){-1.1, 0, 0});
    CHECK_NEAR(spot.g, 0, 0.01);
    CHECK_NEAR(spot.r, 1, 0.01);
    tl_picture_free(&p);
    tl_scene_free(s);

    /* A body's own colour replaces what is painted all over, not the spots. */
    s = load("local ball = sphere { radius = 0.1 }\n"
             "ball:paint('#ffffff'); ball:paint(sphere { radius = 0.05, center = {0, 0, 0.1} }, '#ff0000')\n" HEAD
             "bodies = { { shape = ball, at = {0.5, 0.5, 0.5}, density = 1, colour = '#00ff00' } }, render = { ground "
             "= false } }");
    draw(&p, s, "front");
    spot = colour_seen(&p, (tl_vec3){0.5, 0.5, 0.6}), side = colour_seen(&p, (tl_vec3){0.5, 0.585, 0.5});
    CHECK_NEAR(spot.r, 1, 0.01);
    CHECK_NEAR(side.g, 1, 0.01);
    CHECK_NEAR(side.r, 0, 0.01);
    tl_picture_free(&p);
    tl_scene_free(s);
}

static void wrong_paint_is_told(void **state)
{
    (void)state;
    const char *const wrong[] = {
        "local s = sphere { radius = 1 }; s:paint('red'); return s", "return paint(3, '#ffffff')",
        "return sphere { radius = 1 }:paint({ '#ffffff', gloss = 2 })", "return sphere { radius = 1 }:paint()",
        "return sphere { radius = 1 }:paint({ '#ffffff', glos = 1 })"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        talus_error err = {0};
        tl_scene *s;
        tl_load_options o = {.shape_too = true, .no_files = true};
        assert_int_equal(tl_scene_load_text(&s, "test.lua", wrong[i], strlen(wrong[i]), &o, &err), TALUS_BAD_INPUT);
        assert_non_null(strstr(err.message, "test.lua:1"));
    }
}

/* The shapes that come with talus: closed and manifold at twice the suggested edge, 0.2 to 0.3 m long, standing on y
 * = 0 in the middle. */
static void library_shapes_are_good(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double edge;
        int components; /* the hourglass has an inside of its own */
    } shapes[] = {
        {"rabbit", 0.012, 1}, {"duck", 0.012, 1}, {"bowl", 0.006, 1}, {"torus", 0.012, 1}, {"hourglass", 0.004, 2}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        char path[512];
        talus_error err = {0};
        tl_scene *s;
        tl_trimesh m;
        tl_trimesh_report r;
        snprintf(path, sizeof path, "%s/scenes/shapes/%s.lua", TL_SOURCE_DIR, shapes[i].name);
        CHECK_OK(tl_scene_load(&s, path, &(tl_load_options){.shape_only = true}, &err));
        CHECK_OK(tl_surface_march(s->shapes, s->root, shapes[i].edge, &m, &err));
        CHECK_OK(tl_trimesh_check(&m, &r, &err));
        if (!r.closed || r.inverted || r.nonmanifold_vertices) fail_msg("%s is not a closed manifold", shapes[i].name);
        assert_int_equal(r.components, shapes[i].components);
        tl_vec3 d = tl_vec3_sub(r.bounds.hi, r.bounds.lo);
        assert_true(tl_vec3_max_abs(d) >= 0.2 && tl_vec3_max_abs(d) <= 0.3);
        CHECK_NEAR(r.bounds.lo.y, 0, 1e-3);
        CHECK_NEAR(r.bounds.lo.x + r.bounds.hi.x, 0, 0.01);
        CHECK_NEAR(r.bounds.lo.z + r.bounds.hi.z, 0, 0.002);
        tl_trimesh_free(&m);
        tl_scene_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floors_are_the_ground),
        cmocka_unit_test(other_states_move_what_is_there),
        cmocka_unit_test(stray_bodies_do_not_move_the_camera),
        cmocka_unit_test(particles_of_a_state_are_shown),
        cmocka_unit_test(equal_blocks_share_a_surface),
        cmocka_unit_test(fills_leave_room_for_bodies),
        cmocka_unit_test(joints_are_drawn),
        cmocka_unit_test(stage_follows_the_scene),
        cmocka_unit_test(field_gets_a_legend),
        cmocka_unit_test(paint_stays_where_it_was_put),
        cmocka_unit_test(wrong_paint_is_told),
        cmocka_unit_test(library_shapes_are_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
