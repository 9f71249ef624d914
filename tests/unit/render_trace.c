/* The tracer against closed forms: furnace, sun and shadow, glass, instances. */
#include <string.h>

#include "check.h"
#include "pictures.h"
#include "render/render.h"

#define SIDE 48

/* No ground, no sun, sky of radiance 1 everywhere; a white sphere of radius 1 fills half the frame. */
static void furnace(tl_picture *p)
{
    tl_picture_begin(p);
    p->ground.present = false;
    p->light.sun_irradiance = tl_colour_grey(0);
    p->light.zenith = p->light.horizon = p->light.nadir = tl_colour_grey(1);
    p->top = p->bottom = tl_colour_grey(1);
    p->camera.automatic = false;
    p->camera.eye = (tl_vec3){0, 0, 10};
    p->camera.target = (tl_vec3){0, 0, 0};
    p->camera.fov_deg = 20;
}

static tl_render_options small(int samples)
{
    tl_render_options o = tl_render_options_default();
    o.width = o.height = SIDE;
    o.samples = samples;
    return o;
}

static tl_colour pixel(const tl_film *f, int x, int y)
{
    size_t i = (size_t)y * (size_t)f->width + (size_t)x;
    return tl_colour_add(f->radiance[i], f->over[i]);
}

static void add_ball(tl_picture *p, tl_vec3 at, double radius, tl_look look)
{
    talus_error err;
    CHECK_OK(tl_picture_add_spheres(
        p, &(tl_picture_spheres){.count = 1, .at = &at, .radius = radius, .hi = 1, .look = look}, &err));
}

/* A square from -1 to 1 in x and z, facing up, as a mesh. */
static int add_square(tl_picture *p)
{
    talus_error err;
    const tl_vec3 v[4] = {{-1, 0, -1}, {1, 0, -1}, {1, 0, 1}, {-1, 0, 1}};
    const int32_t t[2][3] = {{0, 2, 1}, {0, 3, 2}};
    int m = tl_picture_add_triangles(p, 4, v, NULL, 2, t, &err);
    assert_true(m >= 0);
    return m;
}

/* A convex body of reflectance rho under radiance 1 from everywhere sends rho. Every sample is exact, so no noise is
 * allowed. */
static void convex_body_in_even_light(void **state)
{
    (void)state;
    talus_error err;
    tl_picture p;
    tl_film f;
    const float rho[] = {1, 0.25f};
    for (int k = 0; k < 2; k++) {
        furnace(&p);
        add_ball(&p, (tl_vec3){0, 0, 0}, 1, tl_look_matte(tl_colour_grey(rho[k])));
        tl_render_options o = small(4);
        CHECK_OK(tl_render_trace(&p, &o, &f, &err));
        CHECK_NEAR(pixel(&f, SIDE / 2, SIDE / 2).g, rho[k], 1e-5);
        CHECK_NEAR(pixel(&f, SIDE / 2 + 8, SIDE / 2 - 5).r, rho[k], 1e-5);
        CHECK_NEAR(pixel(&f, 1, 1).b, 1, 1e-6); /* background */
        tl_film_free(&f);
        tl_picture_free(&p);
    }
}

/* White matte bodies in a white world vanish, also when they light each other: each bounce is cut at the last, which
 * loses the light that would meet a surface once more. With 16 bounces little is left to lose. */
static void white_world_vanishes(void **state)
{
    (void)state;
    talus_error err;
    tl_picture p;
    tl_film f;
    furnace(&p);
    add_ball(&p, (tl_vec3){-0.9, 0, 0}, 0.8, tl_look_matte(tl_colour_grey(1)));
    add_ball(&p, (tl_vec3){0.9, 0, 0}, 0.8, tl_look_matte(tl_colour_grey(1)));
    tl_render_options o = small(256);
    o.bounces = 16;
    CHECK_OK(tl_render_trace(&p, &o, &f, &err));
    for (int x = 0; x < SIDE; x++) CHECK_NEAR(pixel(&f, x, SIDE / 2).g, 1, 0.02); /* the gap between them loses most */
    tl_film_free(&f);
    tl_picture_free(&p);
}

/* A coat splits light, it makes none: white under a coat stays white, but for the single scattering of GGX, which
 * loses a few percent when rough and nothing when smooth. */
static void coat_keeps_energy(void **state)
{
    (void)state;
    talus_error err;
    tl_picture p;
    tl_film f;
    const float rough[] = {0.05f, 0.3f, 0.8f}, lost[] = {0.002f, 0.01f, 0.04f};
    for (int k = 0; k < 3; k++) {
        furnace(&p);
        add_ball(&p, (tl_vec3){0, 0, 0}, 1, tl_look_glossy(tl_colour_grey(1), rough[k]));
        tl_render_options o = small(512);
        CHECK_OK(tl_render_trace(&p, &o, &f, &err));
        float v = pixel(&f, SIDE / 2, SIDE / 2).g;
        CHECK_LE(v, 1.01);
        CHECK_LE(1 - lost[k] - 0.01, v); /* 0.01: noise of 512 samples */
        tl_film_free(&f);
        tl_picture_free(&p);
    }
}

/* Sun only: radiance rho E cos / pi in the open, nothing in the shadow. */
static void sun_and_shadow(void **state)
{
    (void)state;
    talus_error err;
    tl_picture p;
    tl_film f;
    furnace(&p);
    p.light.zenith = p.light.horizon = p.light.nadir = tl_colour_grey(0);
    p.light.sun_irradiance = tl_colour_grey(3);
    p.light.sun = (tl_vec3){0, 2, 0};
    p.light.sun_radius_deg = 0.25;
    p.camera.eye = (tl_vec3){0, 8, 8};
    p.camera.target = (tl_vec3){0, 0, 0};
    int m = add_square(&p);
    CHECK_OK(tl_picture_add_instance(&p, m, tl_mat3_identity(), (tl_vec3){0, 0, 0}, tl_look_matte(tl_colour_grey(0.5f)),
                                     &err));
    add_ball(&p, (tl_vec3){0.5, 3, 0.4}, 0.3, tl_look_matte(tl_colour_grey(0.5f)));
    tl_render_options o = small(16);
    o.bounces = 0;
    CHECK_OK(tl_render_trace(&p, &o, &f, &err));
    tl_lens c = tl_lens_of(&p, SIDE, SIDE);
    double x, y;
    assert_true(tl_test_lens_project(&c, (tl_vec3){-0.5, 0, -0.4}, &x, &y));
    CHECK_REL(pixel(&f, (int)(x * SIDE), (int)(y * SIDE)).g, 0.5 * 3 / 3.14159265,
              1e-4); /* cos within 1e-5 of 1 over the disc */
    assert_true(tl_test_lens_project(&c, (tl_vec3){0.5, 0, 0.4}, &x, &y));
    CHECK_NEAR(pixel(&f, (int)(x * SIDE), (int)(y * SIDE)).g, 0, 0);
    tl_film_free(&f);

    /* A tilted sun: Lambert's cosine. */
    p.light.sun = (tl_vec3){1, 1, 0};
    CHECK_OK(tl_render_trace(&p, &o, &f, &err));
    assert_true(tl_test_lens_project(&c, (tl_vec3){0.5, 0, -0.6}, &x, &y));
    CHECK_REL(pixel(&f, (int)(x * SIDE), (int)(y * SIDE)).g, 0.5 * 3 * 0.70710678 / 3.14159265,
              2e-3); /* noise of the disc: 0.25 deg */
    tl_film_free(&f);
    tl_picture_free(&p);
}

/* The open ground's closed form is what the tracer finds far from things. */
static void open_ground(void **state)
{
    (void)state;
    talus_error err;
    tl_picture p;
    tl_film f;
    tl_picture_begin(&p);
    p.camera.automatic = false;
    p.camera.eye = (tl_vec3){0, 3, 3};
    p.camera.target = (tl_vec3){0, 0, 0};
    p.camera.fov_deg = 5;
    p.ground.fade = 1000;
    tl_render_options o = small(256);
    CHECK_OK(tl_render_trace(&p, &o, &f, &err));
    tl_colour expected = tl_render_open_ground(&p);
    float sum = 0;
    for (int i = 0; i < SIDE * SIDE; i++) sum += pixel(&f, i % SIDE, i / SIDE).b;
    CHECK_REL(sum / (SIDE * SIDE), expected.b, 1e-3);
    tl_film_free(&f);
    tl_picture_free(&p);
}

/* A point under a large plate sees less sky than one beside it. */
static void plate_occludes_the_sky(void **state)
{
    (void)state;
    talus_error err;
    tl_picture p;
    tl_film f;
    furnace(&p);
    p.ground.present = true;
    p.ground.fade = 1000;
    p.ground.colour = tl_colour_grey(1);
    p.camera.eye = (tl_vec3){0, 2, 12};
    p.camera.target = (tl_vec3){0, 0, 0};
    int m = add_square(&p);
    CHECK_OK(tl_picture_add_instance(&p, m, tl_mat3_identity(), (tl_vec3){0, 0.5, 0}, tl_look_matte(tl_colour_grey(0)),
                                     &err));
    tl_render_options o = small(256);
    o.bounces = 0;
    CHECK_OK(tl_render_trace(&p, &o, &f, &err));
    tl_lens c = tl_lens_of(&p, SIDE, SIDE);
    double x, y;
    assert_true(tl_test_lens_project(&c, (tl_vec3){0, 0, 0}, &x, &y));
    /* Form factor of a centred square plate of half edge a = 1 at height h = 0.5: 4 (2/pi)(...)/4 with X = Y = 2 per
     * quarter: F = 4/(2 pi) * 2 * X/sqrt(1+X^2) atan(X/sqrt(1+X^2)), X = a/h. */
    double X = 2, s = X / sqrt(1 + X * X), plate = 4 / (2 * 3.14159265358979) * 2 * s * atan(s);
    CHECK_NEAR(pixel(&f, (int)(x * SIDE), (int)(y * SIDE)).g, 1 - plate,
               0.03); /* 256 scrambled samples, a pixel is 0.09 wide */
    tl_film_free(&f);
    tl_picture_free(&p);
}

/* Thin glass in front of an even background: what it mirrors and passes of radiance 1 sums to 1, tint aside. */
static void clear_glass_in_even_light(void **state)
{
    (void)state;
    talus_error err;
    tl_picture p;
    tl_film f;
    furnace(&p);
    p.camera.eye = (tl_vec3){3, 8, 3};
    int m = add_square(&p);
    tl_look glass = {tl_colour_grey(1), 1, 1e-7f};
    CHECK_OK(tl_picture_add_instance(&p, m, tl_mat3_identity(), (tl_vec3){0, 0, 0}, glass, &err));
    CHECK_OK(tl_picture_add_instance(&p, m, tl_mat3_identity(), (tl_vec3){0, -0.1, 0}, glass, &err));
    tl_render_options o = small(4);
    CHECK_OK(tl_render_trace(&p, &o, &f, &err));
    for (int i = 0; i < SIDE * SIDE; i++) CHECK_NEAR(pixel(&f, i % SIDE, i / SIDE).g, 1, 1e-5);
    tl_film_free(&f);
    tl_picture_free(&p);
}

/* An instance with rotation, stretch and shift covers the pixels that its transform says, with its normal. */
static void instance_is_where_it_should_be(void **state)
{
    (void)state;
    talus_error err;
    tl_picture p;
    tl_film f;
    furnace(&p);
    int m = add_square(&p);
    /* The square stands upright towards the eye, 1.6 wide and 0.8 high, centred at (0.4, -0.2, 0). */
    tl_mat3 linear = {{{0.8, 0, 0}, {0, 0, -0.4}, {0, 1, 0}}};
    CHECK_OK(
        tl_picture_add_instance(&p, m, linear, (tl_vec3){0.4, -0.2, 0}, tl_look_matte(tl_colour_grey(0.5f)), &err));
    tl_render_options o = small(4);
    CHECK_OK(tl_render_trace(&p, &o, &f, &err));
    tl_lens c = tl_lens_of(&p, SIDE, SIDE);
    for (int i = 0; i < SIDE * SIDE; i++) {
        double u = (i % SIDE + 0.5) / SIDE, v = (i / SIDE + 0.5) / SIDE;
        tl_vec3 d = tl_lens_ray(&c, u, v), q = tl_vec3_add_scaled(c.eye, -c.eye.z / d.z, d);
        double away = fmax(fabs(q.x - 0.4) - 0.8, fabs(q.y + 0.2) - 0.4), px = 2 * 10 * tan(10 * 0.01745329) / SIDE;
        if (away < -1.5 * px) {
            CHECK_NEAR(f.normal[i][2], 1, 1e-5);
            CHECK_NEAR(f.albedo[i].r, 0.5, 1e-5);
        } else if (away > 1.5 * px) {
            CHECK_NEAR(f.albedo[i].r, 0, 0);
        }
    }
    tl_film_free(&f);
    tl_picture_free(&p);
}

static void field_is_shown_by_its_map(void **state)
{
    (void)state;
    talus_error err;
    tl_picture p;
    tl_film f;
    furnace(&p);
    const float value = 3;
    const tl_picture_spheres one = {.count = 1,
                                    .at = &(tl_vec3){0, 0, 0},
                                    .radius = 1,
                                    .value = &value,
                                    .map = tl_colour_map_at(0),
                                    .lo = 1,
                                    .hi = 5,
                                    .look = tl_look_matte(tl_colour_grey(1))};
    CHECK_OK(tl_picture_add_spheres(&p, &one, &err));
    tl_render_options o = small(2);
    CHECK_OK(tl_render_trace(&p, &o, &f, &err));
    tl_colour half = tl_colour_map_eval(tl_colour_map_at(0), 0.5f);
    CHECK_NEAR(f.albedo[SIDE * SIDE / 2 + SIDE / 2].r, half.r, 1e-6);
    tl_film_free(&f);
    tl_picture_free(&p);
}

/* Denoising removes noise and keeps the mean: flat ground under sky, few samples. */
static void denoiser_smooths(void **state)
{
    (void)state;
    talus_error err;
    tl_picture p;
    tl_film f;
    tl_picture_begin(&p);
    p.camera.automatic = false;
    p.camera.eye = (tl_vec3){0, 3, 3};
    p.camera.target = (tl_vec3){0, 0, 0};
    p.camera.fov_deg = 5;
    p.ground.fade = 1000;
    tl_render_options o = small(4);
    CHECK_OK(tl_render_trace(&p, &o, &f, &err));
    double before[2] = {0}, after[2] = {0};
    for (int i = 0; i < SIDE * SIDE; i++) before[0] += f.radiance[i].b, before[1] += f.radiance[i].b * f.radiance[i].b;
    CHECK_OK(tl_film_denoise(&f, &err));
    for (int i = 0; i < SIDE * SIDE; i++) after[0] += f.radiance[i].b, after[1] += f.radiance[i].b * f.radiance[i].b;
    double n = SIDE * SIDE, v0 = before[1] / n - pow(before[0] / n, 2), v1 = after[1] / n - pow(after[0] / n, 2);
    CHECK_REL(after[0], before[0], 0.01);
    CHECK_LE(v1, 0.05 * v0); /* 5 levels reach 61 pixels: far more than 20 are averaged */
    tl_film_free(&f);
    tl_picture_free(&p);
}

static int stop_at_half(void *user, double done)
{
    *(double *)user = done;
    return done >= 0.5;
}

static void progress_can_stop(void **state)
{
    (void)state;
    talus_error err;
    tl_picture p;
    tl_image m;
    furnace(&p);
    tl_render_options o = small(1);
    double done = -1;
    o.height = 128;
    o.progress = stop_at_half;
    o.user = &done;
    assert_int_equal(tl_render(&p, &o, &m, &err), TALUS_INTERRUPTED);
    assert_null(m.rgb);
    CHECK_NEAR(done, 0.5, 0);
    tl_picture_free(&p);
}

static void refused(const tl_picture *p, tl_render_options o, const char *word)
{
    talus_error err = {0};
    tl_image m;
    assert_int_equal(tl_render(p, &o, &m, &err), TALUS_BAD_INPUT);
    assert_null(m.rgb);
    if (!strstr(err.message, word)) fail_msg("'%s' does not name '%s'", err.message, word);
}

static void hostile_options_are_refused(void **state)
{
    (void)state;
    tl_picture p;
    tl_picture_begin(&p);
    tl_render_options o = small(1);
    o.width = 0, refused(&p, o, "0 x 48");
    o.width = 1 << 20, refused(&p, o, "1048576");
    o = small(0), refused(&p, o, "samples");
    o = small(TL_RENDER_SAMPLES_MAX + 1), refused(&p, o, "samples");
    o = small(1), o.bounces = -1, refused(&p, o, "bounces");
    o = small(1), p.camera.fov_deg = 180, refused(&p, o, "fov_deg");
    tl_picture_begin(&p);
    p.camera.view = (tl_vec3){0, 0, 0}, refused(&p, o, "eye");
    tl_picture_begin(&p);
    p.light.sun = (tl_vec3){NAN, 1, 0}, refused(&p, o, "sun");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convex_body_in_even_light),
        cmocka_unit_test(white_world_vanishes),
        cmocka_unit_test(coat_keeps_energy),
        cmocka_unit_test(sun_and_shadow),
        cmocka_unit_test(open_ground),
        cmocka_unit_test(plate_occludes_the_sky),
        cmocka_unit_test(clear_glass_in_even_light),
        cmocka_unit_test(instance_is_where_it_should_be),
        cmocka_unit_test(field_is_shown_by_its_map),
        cmocka_unit_test(denoiser_smooths),
        cmocka_unit_test(progress_can_stop),
        cmocka_unit_test(hostile_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
