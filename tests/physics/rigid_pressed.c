#include "check.h"

#include <string.h>

#include "rigid.h"

/* A box between a floor and a press that comes down at 0.3 m/s has no velocity that both contacts allow. The solve
 * ends, says so, and gives the box a velocity between both. */
static void a_press_ends_as_infeasible(void **state)
{
    (void)state;
    static const double turn[] = {0, 17, 45};
    for (int k = 0; k < 3; k++) {
        rigid_case c = rigid_open(
            NULL,
            "bodies = { { kind = 'static', shape = box { size = {2, 0.2, 2} }, at = {0, -0.1, 0}, friction = 0.5 }, "
            "{ friction = 0.5, shape = box { size = {0.5, 0.1, 0.5} }, motion = function(t) return { "
            "at = {0, 0.14 - 0.3 * t, 0} } end }, { name = 'b', friction = 0.5, density = 1000, "
            "shape = box { size = {0.1, 0.08, 0.12} }, at = {0.02, 0.04, 0.01}, rotation_deg = {0, %g, 0} } }",
            turn[k]);
        bool told = false;
        talus_error err;
        for (int frame = 0; frame < 20; frame++) {
            CHECK_OK(tl_sim_frame(c.sim, NULL, NULL, &err));
            told |= !strcmp(c.sim->report.solve[0].outcome, "infeasible");
            CHECK_LE(tl_vec3_norm(rigid_body(&c, "b")->v), 0.6);
            CHECK_LE(c.sim->report.solve[0].iterations, 400);
        }
        assert_true(told);
        rigid_close(&c);
    }
}

/* An arm whose tip moves at 1.25 m/s turns through a bin of boxes and jams them against walls and floor. Forces of a
 * jam once grew without bound, were carried on to the next step, and threw bodies out at 26 km/s. What is pressed
 * out of a wedge may be fast, not that fast. */
static void an_arm_does_not_throw(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 2; seed++) {
        rigid_case c = rigid_open(
            "local list = { { name = 'arm', friction = 0.5, shape = box { size = {0.98, 0.08, 0.05} }, "
            "motion = function(t) return { at = {0, 0.06, 0}, rotation_rad = {0, 2.5 * t, 0} } end } }\n",
            "domain = { min = {-0.5, 0, -0.5}, max = {0.5, 2, 0.5}, friction = 0.5, y_max = 'open' }, "
            "bodies = (function() math.randomseed(%d) for k = 0, 11 do "
            "table.insert(list, { shape = box { size = {0.06 + 0.06 * math.random(), 0.06 + 0.06 * math.random(), "
            "0.06 + 0.06 * math.random()} }, density = 1000, friction = 0.5, at = {0.7 * math.random() - 0.35, "
            "0.16 + 0.13 * (k // 6), 0.7 * math.random() - 0.35}, rotation_deg = {360 * math.random(), "
            "360 * math.random(), 360 * math.random()} }) end return list end)()",
            seed);
        talus_error err;
        for (int frame = 0; frame < 150; frame++) {
            CHECK_OK(tl_sim_frame(c.sim, NULL, NULL, &err));
            CHECK_LE(c.sim->report.fastest, 60);
        }
        rigid_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_press_ends_as_infeasible),
        cmocka_unit_test(an_arm_does_not_throw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
