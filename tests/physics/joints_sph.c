/* Joints in engine sph: swings, what hangs in water, redundant legs, motors, limits, breaking, momentum, same bits. */
#include "check.h"

#include <string.h>

#include "base/parallel.h"
#include "phase/sph/sph.h"
#include "rigid.h"
#include "saved.h"

/* Steps as a run has them, with what holds in each: places to 1e-9 m, momentum to rounding, all solves. */
static void go(rigid_case *c, double seconds, double dt, bool met)
{
    const double until = c->sim->state.t + seconds;
    while (c->sim->state.t < until - 1e-9) {
        rigid_step(c, fmin(until - c->sim->state.t, fmin(dt, tl_sph_dt_wanted(c->sim))));
        const tl_report *r = &c->sim->report;
        const double moves = r->accounts.mass * (r->fastest + 9.81 * dt);
        CHECK_LE(rigid_joints_off(c), 1e-9);
        CHECK_LE(tl_vec3_norm(r->accounts.momentum_unexplained), 1e-11 * moves);
        CHECK_LE(r->accounts.energy_unexplained, 1e-9 * moves);
        for (int k = 0; met && k < r->solves; k++) CHECK_LE(r->solve[k].certificate, r->solve[k].target);
    }
}

#define SPH "engine = 'sph', sph = { spacing = 0.05 }, "
#define BALL (4.0 / 3 * 3.14159265358979323846 * 0.12 * 0.12 * 0.12) /* m^3 */
#define ROD "shape = box { size = {0.5, 0.1, 0.1} }, density = 1000"

/* From horizontal, in three directions. Velocities are half a step ahead of places, which starts the swing half a step
 * early; beyond that the rule is of second order: (w dt)^2 / 24 is 2e-5 here. After ten swings the angle is the same. */
static void pendulum_keeps_its_swing(void **state)
{
    (void)state;
    static const char *const way[] = {"gravity = {0, -9.81, 0}, bodies = { { name = 'rod', at = {0.25, 0, 0}, ",
                                      "gravity = {0, 9.81, 0}, bodies = { { name = 'rod', at = {-0.25, 0, 0}, ",
                                      "gravity = {0, -9.81, 0}, bodies = { { name = 'rod', at = {-0.25, 0, 0}, "};
    static const double side[] = {1, 1, -1};
    const double dt = 0.004, inertia = 0.26 / 12 + 0.0625, period = 4 * 1.8540746773013719 * sqrt(inertia / 2.4525);
    for (int k = 0; k < 3; k++) {
        rigid_case c = rigid_open(NULL,
                                  SPH "%s" ROD " } }, joints = { { kind = 'hinge', a = 'rod', at = {0, 0, 0}, axis "
                                      "= {0, 0, 1} } }",
                                  way[k]);
        go(&c, 0.25 * period - 0.5 * dt, dt, true);
        const double w = sqrt(2 * 2.4525 / inertia);
        CHECK_LE(fabs(rigid_joint(&c, 0)->position + side[k] * acos(0.0)), 2e-4 * period * w);
        CHECK_LE(fabs(rigid_joint(&c, 0)->speed + side[k] * w), 1e-3 * w);
        double far = 0;
        for (int i = 0; i < 10; i++) {
            far = 0;
            for (int n = 0; n < 35; n++) {
                go(&c, period / 35, dt, true);
                far = fmax(far, -side[k] * rigid_joint(&c, 0)->position);
            }
        }
        CHECK_LE(fabs(far - acos(-1.0)), 0.01); /* looked at 35 times in a period: (2 pi / 70)^2 / 2 of it at most */
        rigid_close(&c);
    }
}

/* N, upwards: of still liquid on the ball, a mean; what joint, liquid and gravity give is its mass times its
 * acceleration in every step. */
static double buoyancy(const char *ball, double density, const char *joints)
{
    rigid_case c = rigid_open(
        NULL,
        "engine = 'sph', sph = { spacing = 0.03 }, domain = { min = {0, 0, 0}, max = {0.5, 0.5, 0.5} }, fill = { { "
        "material = liquid { density = 1000 }, shape = box { size = {0.5, 0.46, 0.5}, center = {0.25, 0.23, 0.25} } } "
        "}, bodies = { { name = 'ball', shape = sphere { radius = 0.12 }, %s, at = {0.25, 0.24, 0.25} } }%s",
        ball, joints);
    const double mass = BALL * density, dt = 0.002;
    double sum = 0;
    for (int i = 0; i < 240; i++) {
        const tl_vec3 v = rigid_body(&c, "ball")->v;
        go(&c, dt, dt, false);
        const tl_motion *m = rigid_body(&c, "ball");
        if (i >= 120) sum += m->fluid_force.y / 120;
        if (!(density > 0)) continue;
        tl_vec3 left = tl_vec3_add(m->fluid_force, rigid_joint(&c, 0)->on_a);
        left = tl_vec3_add(left, (tl_vec3){0, -9.81 * mass, 0});
        left = tl_vec3_add_scaled(left, -mass / dt, tl_vec3_sub(m->v, v));
        CHECK_LE(tl_vec3_norm(left), 1e-9 * 9.81 * mass);
    }
    rigid_close(&c);
    return sum;
}

/* In the mean it is that of a ball which does not move, within the 2 % that means of still water have here (sph_still
 * has how good that is: balls of 4 h displace too little, and this water still settles). From below on a rope, too. */
static void hangs_in_water(void **state)
{
    (void)state;
    const double full = 9810 * BALL, still = buoyancy("kind = 'static'", 0, "");
    const double down = buoyancy("density = 2500", 2500,
                                 ", joints = { { a = 'ball', kind = 'ball', at = {0.25, 0.5, "
                                 "0.25} } }"),
                 up = buoyancy("density = 200", 200,
                               ", joints = { { a = 'ball', kind = 'rope', at_a = {0, 0, 0}, "
                               "at_b = {0.25, 0.02, 0.25} } }");
    CHECK_LE(fabs(down - still), 0.02 * full);
    CHECK_LE(fabs(up - still), 0.02 * full);
}

/* Four legs fixed to a top that carries a load: three times as many rows as needed, forces that add up. */
static void redundant_legs_carry(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        "local b = { { name = 'top', shape = box { size = {0.8, 0.1, 0.8} }, density = 700, at = {0, 0.55, 0} }, { "
        "name "
        "= 'load', shape = box { size = {0.3, 0.3, 0.3} }, density = 2000, at = {0.1, 0.79, 0} }, { name = 'floor', "
        "kind = 'static', shape = plane {} } } local j = {} for x = -1, 1, 2 do for z = -1, 1, 2 do local n = 'leg' .. "
        "x .. z b[#b + 1] = { name = n, shape = box { size = {0.1, 0.46, 0.1} }, density = 700, at = {0.35 * x, 0.27, "
        "0.35 * z} } j[#j + 1] = { kind = 'fixed', a = n, b = 'top', at = {0.35 * x, 0.5, 0.35 * z} } end end",
        "engine = 'sph', sph = { spacing = 0.05 }, bodies = b, joints = j");
    go(&c, 0.6, 0.002, false);
    double sum = 0;
    for (int k = 0; k < 4; k++) sum -= rigid_joint(&c, k)->on_a.y;
    CHECK_LE(fabs(sum / (9.81 * (0.064 * 700 + 0.027 * 2000)) - 1), 1e-4);
    CHECK_LE(c.sim->report.fastest, 1e-4);
    rigid_close(&c);
}

/* Torque of a motor is weight times arm; speeds are those asked for; a force and a spring do what they say. */
static void motors_do_as_asked(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL, SPH "bodies = { { name = 'a', " ROD ", at = {0.25, 0, 0} }, { name = 'b', " ROD
                  ", at = {0.25, 0, 1} }, { name = 'c', " ROD ", at = {0.25, 0, 2} }, { name = 'd', " ROD
                  ", at = {0.25, 0, 3} } }, joints = { { kind = 'hinge', a = 'a', at = {0, 0, 0}, axis = {0, 0, 1}, "
                  "motor = { position = 0 } }, { kind = 'hinge', a = 'b', at = {0, 0, 1}, axis = {0, 0, 1}, motor = { "
                  "speed = 0.5, max = 100 } }, { kind = 'slider', a = 'c', at = {0.25, 0, 2}, axis = {0, 1, 0}, motor "
                  "= { force = 150 } }, { kind = 'slider', a = 'd', at = {0.25, 0, 3}, axis = {0, 1, 0}, friction = "
                  "60, limits = {-0.02, 1} } }");
    go(&c, 0.2, 0.004, true);
    CHECK_LE(fabs(rigid_joint(&c, 0)->motor / (5 * 9.81 * 0.25) - 1), 1e-9);
    CHECK_LE(fabs(rigid_joint(&c, 0)->position), 1e-10);
    CHECK_LE(fabs(rigid_joint(&c, 1)->speed - 0.5), 1e-9);
    CHECK_LE(fabs(rigid_body(&c, "c")->v.y / ((150 / 5.0 - 9.81) * 0.2) - 1), 1e-9);
    CHECK_LE(fabs(rigid_body(&c, "d")->v.y), 1e-9); /* friction holds its weight of 49 N */
    rigid_close(&c);
}

/* Motors with a bound press boxes on a plane: they stop there, and the plane bears weight and motor. While rows between
 * their bounds counted as fixed, contacts saw nothing that could move and let the boxes through. */
static void bounded_motors_press(void **state)
{
    (void)state;
    static const double max[3] = {3, 50, 400};
    for (int k = 0; k < 3; k++) {
        rigid_case c =
            rigid_open(NULL,
                       "engine = 'sph', sph = { spacing = 0.02 }, bodies = { { kind = 'static', shape = plane "
                       "{} }, { name = 'box', shape = box { size = 0.1 }, density = 1000, at = {0, 0.08, 0} } "
                       "}, joints = { { kind = 'slider', a = 'box', at = {0, 0.08, 0}, axis = {0, 1, 0}, motor "
                       "= { speed = -0.5, max = %g } } }",
                       max[k]);
        for (int n = 0; n < 75; n++) rigid_step(&c, 0.004);
        const tl_motion *box = rigid_body(&c, "box");
        print_message("max %g N: bears %.4f N of %.4f, lies at %.4f m\n", max[k], box->contact_force.y, 9.81 + max[k],
                      box->x.y);
        CHECK_REL(box->contact_force.y, 9.81 + max[k], 0.01);
        CHECK_NEAR(box->x.y, 0.05, 0.002);
        CHECK_REL(rigid_joint(&c, 0)->motor, -max[k], 0.01);
        rigid_close(&c);
    }
}

#define HANGS (9.81 / 200) /* m: how far 1 kg stretches 200 N/m */

/* 1 kg that falls from where its spring is without load: farthest from where it would hang, in the second that ends at
 * `seconds`, m. */
static double swing_of(const char *joint, int axis, double dt, double seconds)
{
    static const char *const gravity[3] = {"-9.81, 0, 0", "0, -9.81, 0", "0, 0, -9.81"};
    static const char *const at[3] = {"1, 0, 0", "0, 1, 0", "0, 0, 1"};
    rigid_case c = rigid_open(NULL,
                              "engine = 'sph', sph = { spacing = 0.02 }, gravity = {%s}, bodies = { { name = 'a', "
                              "shape = box { size = 0.1 }, density = 1000 } }, joints = { { a = 'a', at_a = {0, 0, 0}, "
                              "at_b = {%s}, %s } }",
                              gravity[axis], at[axis], joint);
    const int steps = (int)lround(seconds / dt), last = (int)lround(1 / dt);
    double far = 0;
    for (int n = 0; n < steps; n++) {
        rigid_step(&c, dt);
        CHECK_LE(c.sim->report.accounts.energy_unexplained, 1e-12);
        const tl_vec3 x = rigid_body(&c, "a")->x;
        const double up[3] = {x.x, x.y, x.z};
        if (n >= steps - last) far = fmax(far, fabs(up[axis] + HANGS));
    }
    rigid_close(&c);
    return far;
}

/* w = 14.1 / s. Forces by the place of a step's end took exp(-k dt t / 2m) of the swing: 49, 5.5, 1.0 mm in successive
 * seconds of steps of 20 ms. It starts half a step early, which makes it larger by (w dt)^2 / 8, and may be looked at
 * half a step beside its farthest, as much less. Dampers take exp(-c t / 2m), 0.5 % in half a step. What steps do not resolve dies out. */
static void springs_keep_their_swing(void **state)
{
    (void)state;
    static const char *const soft[2] = {"kind = 'spring', length = 1, stiffness = 200",
                                        "kind = 'distance', compliance = 0.005"};
    for (int kind = 0; kind < 2; kind++)
        for (int axis = 0; axis < 3; axis++) {
            const double dt = kind ? 0.01 : 0.02, off = 200 * dt * dt / 8;
            for (int second = 1; second <= 3; second += 2)
                CHECK_REL(swing_of(soft[kind], axis, dt, second), HANGS, 1.1 * off);
        }
    const double off = 200 * 0.01 * 0.01 / 8, w = sqrt(200 - 1);
    for (int second = 2; second <= 3; second++) {
        double far = 0;
        for (double t = second - 1; t < second; t += 1e-3)
            far = fmax(far, HANGS * exp(-t) * fabs(cos(w * t) + sin(w * t) / w));
        CHECK_REL(swing_of("kind = 'spring', length = 1, stiffness = 200, damping = 2", 0, 0.01, second), far,
                  1.1 * off + 0.5 * 0.01);
    }
    CHECK_LE(swing_of("kind = 'spring', length = 1, stiffness = 20000", 1, 0.02, 2) - HANGS * 0.99, off);
}

/* A slide that falls on its limit, and a pin that breaks at the step in which it carries more than it can. */
static void limits_and_breaking(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL, SPH "bodies = { { name = 'a', " ROD ", at = {0, 0, 0} }, { name = 'b', " ROD
                  ", at = {0, 0, 1}, force = function(t) return {0, -1000 * t, 0} end } }, joints = { { kind = "
                  "'slider', a = 'a', at = {0, 0, 0}, axis = {0, 1, 0}, limits = {-0.05, 1} }, { kind = 'fixed', a = "
                  "'b', at = {0, 0, 1}, breaks_at = 148 } }");
    go(&c, 0.2, 0.004, true);
    CHECK_LE(fabs(rigid_joint(&c, 0)->position + 0.05), 1e-9);
    assert_true(rigid_joint(&c, 1)->broken > 0);
    double fell = 0; /* from 0.104 s: the step that begins at 0.1 s carries 149.05 N and is the last that is held */
    for (int n = 26; n < 50; n++) fell += 0.004 * (49.05 + 1000 * 0.004 * n) / 5;
    CHECK_LE(fabs(rigid_body(&c, "b")->v.y + fell), 1e-9 * fell);
    rigid_close(&c);
}

/* A ball hits a chain that floats: joints pass momentum on, and keep it. */
static void chain_keeps_momentum(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        "local b, j = { { name = 'ball', shape = sphere { radius = 0.15 }, density = 2000, at = {0.25, 0.4, 0.02}, "
        "velocity = {0, -3, 0} } }, {} for i = 1, 4 do b[#b + 1] = { name = 'l' .. i, shape = box { size = {0.4, 0.1, "
        "0.1} }, density = 100 * 10 ^ i, at = {0.4 * i - 0.2, 0, 0} } if i > 1 then j[#j + 1] = { kind = i == 3 and "
        "'hinge' or 'ball', axis = i == 3 and {0, 0, 1} or nil, a = 'l' .. i, b = 'l' .. (i - 1), at = {0.4 * i - 0.4, "
        "0, 0} } end end",
        SPH "gravity = {0, 0, 0}, bodies = b, joints = j");
    const tl_report *r = &c.sim->report;
    go(&c, 0.01, 0.002, true);
    const tl_vec3 p = r->momentum, L = r->angular_momentum;
    go(&c, 0.4, 0.002, true);
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(r->momentum, p)), 1e-11 * tl_vec3_norm(p));
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(r->angular_momentum, L)), 1e-8 * tl_vec3_norm(L));
    assert_true(rigid_body(&c, "ball")->v.y > -2.5 && tl_vec3_norm(rigid_body(&c, "l4")->v) > 1e-3); /* it was hit */
    rigid_close(&c);
}

/* Two floats on a hinge that is driven against a limit, a stone on a rope, a flap on the wall. */
static rigid_case open_floats(void)
{
    rigid_case c = rigid_open(
        NULL,
        "engine = 'sph', sph = { spacing = 0.05 }, domain = { min = {0, 0, 0}, max = {1.2, 0.8, 0.6} }, fill = { { "
        "material = liquid { density = 1000 }, shape = box { size = {1.2, 0.4, 0.6}, center = {0.6, 0.2, 0.3} } } }, "
        "bodies = { { name = 'a', shape = box { size = {0.3, 0.15, 0.2} }, density = 500, at = {0.4, 0.42, 0.3} }, { "
        "name = 'b', shape = box { size = {0.3, 0.15, 0.2} }, density = 300, at = {0.72, 0.42, 0.3} }, { name = "
        "'stone', shape = sphere { radius = 0.08 }, density = 2500, at = {0.4, 0.2, 0.3} }, { name = 'flap', shape = "
        "box { size = {0.05, 0.3, 0.4} }, density = 800, at = {1.05, 0.3, 0.3} } }, joints = { { kind = 'hinge', a = "
        "'a', b = 'b', at = {0.56, 0.45, 0.3}, axis = {0, 0, 1}, limits = {-0.4, 0.4}, motor = { speed = 1, max = 3 } "
        "}, { kind = 'rope', a = 'stone', b = 'a', at_a = {0, 0, 0}, at_b = {0, 0, 0} }, { kind = 'hinge', a = 'flap', "
        "at = {1.05, 0.45, 0.3}, axis = {0, 0, 1} } }");
    for (int k = 0; k < 3; k++) rigid_step(&c, 0.002);
    return c;
}

static void floats_hold_together(void **state)
{
    (void)state;
    rigid_case c = open_floats();
    go(&c, 0.4, 0.002, false);
    assert_true(rigid_joint(&c, 0)->motor != 0 && rigid_joint(&c, 1)->carries > 1);
    rigid_close(&c);
}

static void same_bits_again(void **state)
{
    (void)state;
    uint64_t hash[2];
    const int before = tl_threads();
    for (int threads = 1; threads <= 2; threads++) {
        tl_threads_set(threads);
        rigid_case c = open_floats();
        check_saved_goes_on(c.sim, c.scene, 4, 0.002);
        hash[threads - 1] = tl_state_hash(&c.sim->state);
        rigid_close(&c);
    }
    tl_threads_set(before);
    assert_true(hash[0] == hash[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_keeps_its_swing), cmocka_unit_test(hangs_in_water),
        cmocka_unit_test(redundant_legs_carry),     cmocka_unit_test(motors_do_as_asked),
        cmocka_unit_test(limits_and_breaking),      cmocka_unit_test(chain_keeps_momentum),
        cmocka_unit_test(floats_hold_together),     cmocka_unit_test(same_bits_again),
        cmocka_unit_test(bounded_motors_press),     cmocka_unit_test(springs_keep_their_swing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
