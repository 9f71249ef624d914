/* Round bodies of the SPH engine roll: the samples of a ball, wheel or capsule are no corners, and liquid elsewhere
 * changes nothing. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "model/sph/state.h"
#include "rigid.h"

static talus_error err;

#define H 0.02
#define SPEED 0.5

/* Half a second at 0.5 m/s from rolling without slip. Samples that turned with the body took 25 % (ball) and 75 %
 * (wheel) per second. 1 %: bumps of the floor's samples (0.003 h) are hills that it goes up and down, 0.1 to 0.4 %
 * of this speed. */
static void roll(const char *shape, double radius, double yaw)
{
    rigid_case c;
    char text[1200];
    double x = cos(yaw), z = -sin(yaw);
    snprintf(
        text, sizeof text,
        "engine = 'sph', dt_max = 2e-3, sph = { spacing = %g }, bodies = { { kind = 'static', shape = box { size = "
        "{1.2, 0.1, 1.2} }, at = {0, -0.05, 0}, friction = 0.5 }, { name = 'it', shape = %s, density = 1000, at = "
        "{0, %.17g, 0}, rotation_deg = {0, %.17g, 0}, velocity = {%.17g, 0, %.17g}, spin_rad_per_s = {%.17g, 0, "
        "%.17g}, friction = 0.5 } }",
        H, shape, radius, yaw * 57.29577951308232, SPEED * x, SPEED * z, SPEED * z / radius, -SPEED * x / radius);
    CHECK_OK(rigid_try(&c, NULL, "", text, &err));
    for (int i = 0; i < 250; i++) rigid_step(&c, 2e-3);
    const tl_motion *m = rigid_body(&c, "it");
    double v = hypot(m->v.x, m->v.z), w = hypot(m->w.x, m->w.z);
    CHECK_REL(v, SPEED, 0.01);
    CHECK_REL(v / w, radius, 0.005);
    CHECK_NEAR(m->x.y, radius, 0.12 * H);
    rigid_close(&c);
}

static void balls_and_wheels(void **state)
{
    (void)state;
    roll("sphere { radius = 0.12 }", 0.12, 0);
    roll("sphere { radius = 0.12 }", 0.12, 0.4);
    roll("sphere { radius = 0.07 }", 0.07, 0.8);
    roll("cylinder { radius = 0.12, height = 0.12 }:rotate {90, 0, 0}", 0.12, 0.3);
    roll("capsule { from = {0, 0, -0.05}, to = {0, 0, 0.05}, radius = 0.1 }", 0.1, 0);
}

/* Two free bodies, one or both round, hit each other off centre, without gravity. What does not turn a round body
 * about its axis must not get lost. The tolerance is that of flight: the contact forces of a step act at its start. */
static void momentum(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"sphere { radius = 0.1 }", "box { size = {0.3, 0.1, 0.2} }"},
                                           {"sphere { radius = 0.1 }", "sphere { radius = 0.07 }"},
                                           {"cylinder { radius = 0.1, height = 0.12 }", "box { size = 0.2 }"},
                                           {"cylinder { radius = 0.1, height = 0.12 }", "sphere { radius = 0.1 }"}};
    for (int k = 0; k < 4; k++) {
        rigid_case c;
        char text[900];
        snprintf(text, sizeof text,
                 "engine = 'sph', dt_max = 1e-3, gravity = {0, 0, 0}, sph = { spacing = 0.02 }, bodies = { { name = "
                 "'a', shape = %s, density = 1000, at = {0.02, 0.17, 0.01}, velocity = {0.2, -1, 0}, spin_rad_per_s = "
                 "{1, 2, 9}, friction = 0.5 }, { name = 'b', shape = %s, density = 700, at = {0, -0.08, 0}, "
                 "rotation_deg = {20, 10, 70}, friction = 0.5 } }",
                 pairs[k][0], pairs[k][1]);
        CHECK_OK(rigid_try(&c, NULL, "", text, &err));
        rigid_step(&c, 1e-3);
        tl_vec3 P = c.sim->report.momentum, L = c.sim->report.angular_momentum;
        double energy = c.sim->report.kinetic;
        for (int i = 0; i < 200; i++) rigid_step(&c, 1e-3);
        assert_true(tl_vec3_norm(rigid_body(&c, "b")->v) > 0.05); /* they have met */
        CHECK_LE(c.sim->report.kinetic, energy * (1 + 1e-9));
        CHECK_LE(tl_vec3_norm(tl_vec3_sub(c.sim->report.momentum, P)), 1e-12 * tl_vec3_norm(P));
        CHECK_LE(tl_vec3_norm(tl_vec3_sub(c.sim->report.angular_momentum, L)), 1e-10 * tl_vec3_norm(L));
        rigid_close(&c);
    }
}

static rigid_case with_drop(bool drop)
{
    rigid_case c;
    char text[900];
    snprintf(text, sizeof text,
             "engine = 'sph', dt_max = 2e-3, sph = { spacing = 0.05 }, bodies = { { kind = 'static', shape = plane {}, "
             "friction = 0.5 }, { name = 'box', shape = box { size = 0.4 }, density = 700, at = {0, 0.25, 0}, "
             "rotation_deg = {20, 10, 5}, friction = 0.5 }, { name = 'ring', shape = torus { radius = 0.3, tube = 0.1 "
             "}, density = 700, at = {0, 0.65, 0}, friction = 0.5 } }%s",
             drop ? ", fill = { { material = preset 'water', shape = box { size = 0.1, center = {0, 5, 0} } } }" : "");
    CHECK_OK(rigid_try(&c, NULL, "", text, &err));
    for (int i = 0; i < 150; i++) rigid_step(&c, 2e-3);
    return c;
}

/* A drop 5 m up: bodies and their motion have the same bits with it and without it. Insets of 0.5 h with liquid let
 * a box rest 0.2 h deeper. */
static void a_drop_far_away(void **state)
{
    (void)state;
    rigid_case dry = with_drop(false), wet = with_drop(true);
    assert_int_equal(tl_sph_state_of(&wet.sim->state)->count, 8);
    for (int k = 0; k < 2; k++) {
        const char *name = k ? "box" : "ring";
        const tl_motion *a = rigid_body(&dry, name), *b = rigid_body(&wet, name);
        assert_memory_equal(&a->x, &b->x, sizeof a->x);
        assert_memory_equal(&a->q, &b->q, sizeof a->q);
        assert_memory_equal(&a->v, &b->v, sizeof a->v);
        assert_memory_equal(&a->w, &b->w, sizeof a->w);
    }
    rigid_close(&dry);
    rigid_close(&wet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balls_and_wheels),
        cmocka_unit_test(momentum),
        cmocka_unit_test(a_drop_far_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
