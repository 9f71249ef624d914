#include "check.h"

#include "rigid.h"

/* Wheels of radius 0.1 m, axle along y. */
static const char *const wheels[] = {
    "cylinder { radius = 0.1, height = 0.05 }",
    "cylinder { radius = 0.1, height = 0.01 }",
    "cylinder { radius = 0.1, height = 0.05, round = 0.01 }",
    "cone { radius = 0.1, radius_top = 0.1, height = 0.06 }",
    "revolve { profile = { {0.05, -0.02}, {0.09, -0.02}, {0.1, -0.01}, {0.1, 0.01}, {0.09, 0.02}, {0.05, 0.02} } }",
    "subtract { cylinder { radius = 0.1, height = 0.05 }, cylinder { radius = 0.06, height = 0.2 } }",
    "union { cylinder { radius = 0.1, height = 0.03 }, cylinder { radius = 0.03, height = 0.1 } }",
    "shell { cylinder { radius = 0.1, height = 0.08 }, thickness = 0.01 }",
    "capsule { from = {0, -0.1, 0}, to = {0, 0.1, 0}, radius = 0.1 }",
    "ellipsoid { radii = {0.1, 0.05, 0.1} }",
    "torus { radius = 0.075, tube = 0.025 }",
    "extrude { profile = circle, height = 0.05 }",
};
static const char *const circle = "local circle = {}\n"
                                  "for k = 1, 48 do\n"
                                  "  local a = 2 * math.pi * k / 48\n"
                                  "  circle[k] = {0.1 * math.cos(a), 0.1 * math.sin(a)}\n"
                                  "end\n";

/* On the level, 2 s in steps of 10 ms or what they are shortened to: nothing takes a wheel's energy and nothing
 * turns it aside. What touches is the place below the axle at all times; marks on the rim ahead of it, with the
 * levers of the start of a step, took 6 to 50 % of the speed. 0.5 %, 0.5 % and 1 mm are asked. */
static void wheels_keep_their_speed(void **state)
{
    (void)state;
    static const double speed[] = {2, 10}, heading[] = {0, 0.6};
    for (size_t k = 0; k < sizeof wheels / sizeof *wheels; k++)
        for (int s = 0; s < 2; s++) {
            double c = cos(heading[(k + (size_t)s) % 2]), z = sin(heading[(k + (size_t)s) % 2]), v = speed[s];
            rigid_case w = rigid_open(
                circle,
                "bodies = { { kind = 'static', shape = box { size = {90, 1, 90} }, at = {0, -0.5, 0}, friction = 0.5 "
                "}, "
                "{ name = 'w', shape = %s, density = 800, friction = 0.5, at = {0, 0.1, 0}, rotation = { axis = "
                "{%.17g, 0, %.17g}, angle_deg = 90 }, velocity = {%.17g, 0, %.17g}, "
                "spin_rad_per_s = {%.17g, 0, %.17g} } }",
                wheels[k], c, z, v * c, v * z, v / 0.1 * z, -v / 0.1 * c);
            talus_error err;
            double aside = 0, up = 0;
            for (int frame = 0; frame < 200; frame++) {
                CHECK_OK(tl_sim_frame(w.sim, NULL, NULL, &err));
                const tl_motion *m = rigid_body(&w, "w");
                aside = fmax(aside, fabs(c * m->x.z - z * m->x.x));
                up = fmax(up, fabs(m->x.y - 0.1));
            }
            const tl_motion *m = rigid_body(&w, "w");
            double along = c * m->v.x + z * m->v.z, rolls = -(c * m->w.z - z * m->w.x) * 0.1;
            CHECK_NEAR(along / v, 1, 5e-4);
            CHECK_NEAR(rolls / along, 1, 5e-4);
            CHECK_LE(aside, 1e-3);
            CHECK_LE(up, 1e-5);
            rigid_close(&w);
        }
}

/* Down a slope of 20 degrees: a = g sin / (1 + I / m R^2), whatever the wheel. */
static void wheels_roll_down_slopes(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        double inertia; /* over m R^2 */
    } wheel[] = {
        {"cylinder { radius = 0.1, height = 0.05 }", 0.5},
        {"torus { radius = 0.075, tube = 0.025 }", 0.5625 + 0.75 * 0.0625},
        {"subtract { cylinder { radius = 0.1, height = 0.05 }, cylinder { radius = 0.06, height = 0.2 } }", 0.5 * 1.36},
        {"ellipsoid { radii = {0.1, 0.05, 0.1} }", 0.4}};
    const double a = 20 * acos(-1) / 180;
    for (size_t k = 0; k < sizeof wheel / sizeof *wheel; k++) {
        rigid_case w = rigid_open(
            NULL,
            "gravity = {%.17g, %.17g, 0}, bodies = { { kind = 'static', shape = half_space {}, friction = 0.5 }, "
            "{ name = 'w', shape = %s, density = 800, friction = 0.5, at = {0, 0.1, 0}, rotation_deg = {90, 0, 0} } }",
            9.81 * sin(a), -9.81 * cos(a), wheel[k].shape);
        talus_error err;
        for (int frame = 0; frame < 100; frame++) CHECK_OK(tl_sim_frame(w.sim, NULL, NULL, &err));
        const tl_motion *m = rigid_body(&w, "w");
        CHECK_NEAR(m->v.x / (9.81 * sin(a) / (1 + wheel[k].inertia)), 1, 2e-3); /* masses by quadrature: 1e-3 */
        CHECK_NEAR(-m->w.z * 0.1 / m->v.x, 1, 5e-4);
        rigid_close(&w);
    }
}

/* A disc that lies flat, partly over an edge, stays; so does one that stands on its face and one on its side. */
static void discs_rest(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL, "bodies = { { kind = 'static', shape = box { size = {1, 1, 1} }, at = {0, -0.5, 0}, friction = 0.5 }, "
              "{ name = 'over', shape = cylinder { radius = 0.1, height = 0.02 }, density = 800, friction = 0.5, "
              "at = {0.47, 0.01, 0} }, "
              "{ name = 'flat', shape = cylinder { radius = 0.1, height = 0.02, round = 0.005 }, density = 800, "
              "friction = 0.5, "
              "at = {-0.2, 0.01, 0} }, "
              "{ name = 'side', shape = cylinder { radius = 0.05, height = 0.2 }, density = 800, friction = 0.5, "
              "at = {0, 0.05, 0.3}, rotation_deg = {90, 0, 0} } }");
    rigid_run(&c, 2);
    CHECK_NEAR(rigid_body(&c, "over")->x.x, 0.47, 1e-6);
    CHECK_NEAR(rigid_body(&c, "over")->x.y, 0.01, 1e-6);
    CHECK_NEAR(rigid_body(&c, "flat")->x.y, 0.01, 1e-6);
    CHECK_NEAR(rigid_body(&c, "side")->x.x, 0, 1e-6);
    CHECK_NEAR(rigid_body(&c, "side")->x.y, 0.05, 1e-6);
    CHECK_LE(c.sim->report.kinetic, 1e-12);
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wheels_keep_their_speed),
        cmocka_unit_test(wheels_roll_down_slopes),
        cmocka_unit_test(discs_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
