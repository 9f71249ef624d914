/* Coulomb friction at dt = 10 ms: rest, threshold, sliding, rolling, carrying. Closed forms beside each check. */
#include "check.h"

#include "rigid.h"

#define G 9.81
static const double degree = 3.14159265358979323846 / 180;

/* A block on a horizontal plane; gravity is turned by `slope` from the vertical, downhill towards `azimuth` from x. */
static rigid_case block_on_slope(const char *size, double mu, double slope, double azimuth, const char *extra)
{
    double g = G * sin(slope);
    return rigid_open(
        NULL,
        "gravity = {%.17g, %.17g, %.17g}, %s bodies = {"
        "{ name = 'plane', kind = 'static', shape = plane { height = 0 }, friction = %.17g },"
        "{ name = 'block', shape = box { size = %s }, at = {0, 0.05, 0}, density = 1000, friction = %.17g } }",
        g * cos(azimuth), -G * cos(slope), g * sin(azimuth), extra, mu, size, mu);
}

static void block_rests_below_the_friction_angle(void **state)
{
    (void)state; /* atan 0.5 = 26.565 degrees */
    for (int k = 0; k <= 3; k++) {
        rigid_case c = block_on_slope("{0.2, 0.1, 0.2}", 0.5, 26 * degree, 15 * k * degree, "");
        rigid_run(&c, 1);
        const tl_motion *m = rigid_body(&c, "block");
        CHECK_LE(tl_vec3_norm(m->v) / 1.0, 1e-6); /* m/s after 1 s from rest: acceleration below 1e-6 m/s^2 */
        double weight = 1000 * 0.004 * G;
        CHECK_REL(rigid_normal_sum(&c), weight * cos(26 * degree), 1e-6);
        tl_vec3 f = m->contact_force;
        CHECK_REL(hypot(f.x, f.z), weight * sin(26 * degree), 1e-6);
        rigid_close(&c);
    }
}

static void block_slides_above_it(void **state)
{
    (void)state;
    for (int k = 0; k <= 6; k++) {
        rigid_case c = block_on_slope("{0.2, 0.1, 0.2}", 0.5, 40 * degree, 7.5 * k * degree, "");
        rigid_run(&c, 0.5);
        const tl_motion *m = rigid_body(&c, "block");
        double along = m->v.x * cos(7.5 * k * degree) + m->v.z * sin(7.5 * k * degree);
        CHECK_NEAR(along / 0.5, 2.5483, 1e-3); /* g (sin - 0.5 cos) */
        CHECK_LE(tl_vec3_norm(m->v) - along, 1e-6);
        CHECK_NEAR(m->x.y, 0.05, 2e-6);
        CHECK_REL(rigid_normal_sum(&c), 1000 * 0.004 * G * cos(40 * degree), 1e-6);
        rigid_close(&c);
    }
}

/* A friction pyramid holds sqrt 2 times too much across its corners: g (sin - sqrt 2 0.5 cos) = 0.9919. */
static void pyramid_depends_on_direction(void **state)
{
    (void)state;
    rigid_case c =
        block_on_slope("{0.2, 0.1, 0.2}", 0.5, 40 * degree, 45 * degree, "solver = { contact = 'pgs-pyramid' },");
    rigid_run(&c, 0.5);
    CHECK_NEAR(tl_vec3_norm(rigid_body(&c, "block")->v) / 0.5, 0.9919, 1e-3);
    rigid_close(&c);
}

/* A slope that is really tilted gives the same as gravity that is. */
static void tilted_plane(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        double b = k ? 40 : 26;
        rigid_case c =
            rigid_open(NULL,
                       "bodies = { { name = 'plane', kind = 'static', shape = plane {}, rotation_deg = {0, 0, %g}, "
                       "friction = 0.5 }, { name = 'block', shape = box { size = {0.2, 0.1, 0.2} }, at = {%.17g, "
                       "%.17g, 0}, rotation_deg = {0, 0, %g}, density = 1000, friction = 0.5 } }",
                       -b, 0.05 * sin(b * degree), 0.05 * cos(b * degree), -b);
        rigid_run(&c, 0.5);
        CHECK_NEAR(tl_vec3_norm(rigid_body(&c, "block")->v) / 0.5, k ? 2.5483 : 0, k ? 1e-3 : 1e-6);
        rigid_close(&c);
    }
}

/* The brick of the comparison of engines, along an axis, between, and along the diagonal: it holds 0.5 % below the
 * threshold and lets go 0.5 % above. */
static void threshold_of_a_brick(void **state)
{
    (void)state;
    for (int k = 0; k <= 2; k++)
        for (int above = 0; above < 2; above++) {
            double slope = atan(above ? 0.5025 : 0.4975);
            rigid_case c = block_on_slope("{0.4, 0.1, 0.4}", 0.5, slope, 22.5 * k * degree, "");
            rigid_run(&c, 2);
            double speed = tl_vec3_norm(rigid_body(&c, "block")->v);
            if (above)
                CHECK_REL(speed / 2, G * (sin(slope) - 0.5 * cos(slope)), 1e-3);
            else
                CHECK_LE(speed, 1e-7);
            rigid_close(&c);
        }
}

static void half_the_load_does_not_creep(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        rigid_case c = block_on_slope("{0.4, 0.1, 0.4}", 0.5, atan(0.25), 45 * k * degree, "");
        rigid_run(&c, 10);
        tl_vec3 x = tl_vec3_sub(rigid_body(&c, "block")->x, (tl_vec3){0, 0.05, 0});
        CHECK_LE(tl_vec3_norm(x) / 10, 1e-7); /* m/s */
        rigid_close(&c);
    }
}

static void brick_slides_as_it_should(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        rigid_case c = block_on_slope("{0.4, 0.1, 0.4}", 0.5, 35 * degree, 45 * k * degree, "");
        rigid_run(&c, 1);
        CHECK_REL(tl_vec3_norm(rigid_body(&c, "block")->v), 1.6088, 5e-3);
        rigid_close(&c);
    }
}

/* True Coulomb friction does not lift what slides: 5 m/s, mu 0.5, after 20 steps 5 - 0.2 g / 2 = 4.019 m/s on the
 * ground. The convex relaxation lifts it by centimetres. */
static void sliding_does_not_dilate(void **state)
{
    (void)state;
    for (int convex = 0; convex < 2; convex++) {
        rigid_case c = rigid_open(
            NULL,
            "solver = { contact = '%s' }, bodies = { { kind = 'static', shape = plane {}, friction = 0.5 }, { name "
            "= 'b', shape = box { size = {0.4, 0.1, 0.4} }, at = {0, 0.05, 0}, velocity = {5, 0, 0}, density = "
            "1000, friction = 0.5 } }",
            convex ? "newton-convex" : "newton-shift");
        for (int i = 0; i < 20; i++) rigid_step(&c, 0.01);
        const tl_motion *m = rigid_body(&c, "b");
        if (convex) {
            assert_true(m->x.y - 0.05 > 0.02);
        } else {
            CHECK_NEAR(m->v.x, 4.019, 1e-3);
            CHECK_LE(m->x.y - 0.05, 2e-6);
        }
        rigid_close(&c);
    }
}

/* A ball set down at 1 m/s without spin slips until v = w R = 5/7, then rolls; on a slope it rolls at 5/7 g sin. */
static void ball_rolls_without_slipping(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL, "bodies = { { kind = 'static', shape = plane {}, friction = 0.5 }, { name = 'ball', shape = sphere { "
              "radius = 0.1 }, at = {0, 0.1, 0}, velocity = {1, 0, 0}, density = 1000, friction = 0.5 } }");
    rigid_run(&c, 1);
    const tl_motion *m = rigid_body(&c, "ball");
    CHECK_REL(m->v.x, 5.0 / 7, 5e-3);
    CHECK_REL(-m->w.z * 0.1, m->v.x, 1e-6);
    rigid_close(&c);

    double b = 20 * degree;
    c = rigid_open(NULL,
                   "gravity = {%.17g, %.17g, 0}, bodies = { { kind = 'static', shape = plane {}, friction = 0.5 }, { "
                   "name = 'ball', "
                   "shape = sphere { radius = 0.1 }, at = {0, 0.1, 0}, density = 1000, friction = 0.5 } }",
                   G * sin(b), -G * cos(b));
    rigid_run(&c, 1);
    m = rigid_body(&c, "ball");
    CHECK_REL(m->v.x, 5.0 / 7 * G * sin(b), 5e-3);
    CHECK_REL(-m->w.z * 0.1, m->v.x, 5e-3);
    rigid_close(&c);
}

/* A belt that is scripted to move at 0.5 m/s carries a box: mu g until it has the belt's speed, then at rest on it. */
static void belt_carries_a_box(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL, "bodies = { { name = 'belt', shape = box { size = {20, 0.2, 1} }, friction = 0.5, motion = function(t) "
              "return { at = {0.5 * t, -0.1, 0} } end }, { name = 'box', shape = box { size = {0.2, 0.2, 0.2} }, at = "
              "{0, 0.1, 0}, density = 500, friction = 0.5 } }");
    for (int i = 0; i < 5; i++) rigid_step(&c, 0.01);
    CHECK_NEAR(rigid_body(&c, "box")->v.x, 0.5 * G * 0.05, 1e-6);
    rigid_run(&c, 1);
    CHECK_NEAR(rigid_body(&c, "box")->v.x, 0.5, 1e-6);
    CHECK_NEAR(rigid_body(&c, "belt")->x.x, 0.5 * c.sim->state.t, 1e-9);
    rigid_close(&c);
}

/* Shapes that are no primitives roll down 10 degrees at g sin / (1 + I / (m R^2)): nothing ahead of the lowest place
 * holds them up. For 2 s, up to 0.3 rad per step. Samples ahead taken for corners cost the cylinder 2.5 % and the
 * torus 7.5 %. */
static void round_shapes_roll(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        double radius, inertia; /* inertia: of m R^2 */
    } roller[] = {{"cylinder { radius = 0.1, height = 0.4 }", 0.1, 0.5},
                  {"torus { radius = 0.1, tube = 0.03 }", 0.13, (0.01 + 0.75 * 0.0009) / 0.0169},
                  {"capsule { radius = 0.1, from = {0, -0.1, 0}, to = {0, 0.1, 0} }", 0.1, 0.46}};
    const double slope = 10 * 0.017453292519943295;
    for (int k = 0; k < 3; k++) {
        rigid_case c = rigid_open(NULL,
                                  "gravity = {%.17g, %.17g, 0}, bodies = { { kind = 'static', shape = plane {}, "
                                  "friction = 0.5 }, { name = 'b', shape = %s, at = {0, %g, 0}, rotation_deg = {90, 0, "
                                  "0}, density = 1000, friction = 0.5 } }",
                                  G * sin(slope), -G * cos(slope), roller[k].shape, roller[k].radius);
        rigid_run(&c, 2);
        const tl_motion *b = rigid_body(&c, "b");
        CHECK_REL(b->v.x, 2 * G * sin(slope) / (1 + roller[k].inertia), 0.005);
        CHECK_REL(-b->w.z * roller[k].radius, b->v.x, 1e-3);
        rigid_close(&c);
    }
}

/* A scripted pusher moves a box of 8 kg at its own speed against friction, and feels mu m g. */
static void pusher_pushes(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL,
        "bodies = { { kind = 'static', shape = plane {}, friction = 0.5 }, { name = 'pusher', shape = box { size = "
        "{0.1, 0.1, 0.1} }, friction = 0, motion = function(t) return { at = {-0.25 + 0.3 * t, 0.1, 0} } end }, { "
        "name = 'box', shape = box { size = {0.2, 0.2, 0.2} }, at = {0, 0.1, 0}, mass = 8, friction = 0.5 } }");
    rigid_run(&c, 2);
    CHECK_NEAR(rigid_body(&c, "box")->v.x, 0.3, 1e-6);
    CHECK_NEAR(rigid_body(&c, "box")->x.x, -0.25 + 0.6 + 0.15, 1e-5);
    CHECK_REL(-rigid_body(&c, "pusher")->contact_force.x, 0.5 * 8 * G, 1e-4); /* m tolerance / dt is 2.4e-3 N */
    rigid_close(&c);
}

/* Friction may be a function of time: the block is let go at 0.5 s. */
static void friction_of_time(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL,
        "gravity = {%.17g, %.17g, 0}, bodies = { { kind = 'static', shape = plane {}, friction = function(t) return t "
        "< "
        "0.495 and 0.5 or 0 end }, { name = 'b', shape = box { size = {0.2, 0.1, 0.2} }, at = {0, 0.05, 0}, mass = 4, "
        "friction = 0.5 } }",
        G * sin(0.2), -G * cos(0.2));
    rigid_run(&c, 0.5);
    CHECK_LE(tl_vec3_norm(rigid_body(&c, "b")->v), 1e-7);
    rigid_run(&c, 0.5);
    CHECK_REL(rigid_body(&c, "b")->v.x, 0.5 * G * sin(0.2), 1e-6);
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_rests_below_the_friction_angle),
        cmocka_unit_test(block_slides_above_it),
        cmocka_unit_test(pyramid_depends_on_direction),
        cmocka_unit_test(tilted_plane),
        cmocka_unit_test(threshold_of_a_brick),
        cmocka_unit_test(half_the_load_does_not_creep),
        cmocka_unit_test(brick_slides_as_it_should),
        cmocka_unit_test(sliding_does_not_dilate),
        cmocka_unit_test(ball_rolls_without_slipping),
        cmocka_unit_test(round_shapes_roll),
        cmocka_unit_test(belt_carries_a_box),
        cmocka_unit_test(pusher_pushes),
        cmocka_unit_test(friction_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
