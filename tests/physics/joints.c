/* Joints: places without drift, energy and momentum kept, periods, limits, motors, breaking, mass ratios, loops. */
#include "check.h"

#include <string.h>

#include "phase/rigid/rigid.h"
#include "rigid.h"

static void step(rigid_case *c, double dt) { rigid_step(c, fmin(dt, tl_rigid_dt_wanted(c->sim))); }

/* Steps until t, with what has to hold in each of them: places, momentum, and energy that does not rise. */
static void go(rigid_case *c, double t, double dt, bool keeps)
{
    double last = NAN;
    while (c->sim->state.t < t - 1e-9) {
        step(c, fmin(dt, t - c->sim->state.t));
        const tl_report *r = &c->sim->report;
        const double now = r->kinetic + r->potential;
        if (keeps && !isnan(last)) CHECK_LE(now - last, 1e-11 * (fabs(last) + r->kinetic + 1));
        last = now;
        CHECK_LE(rigid_joints_off(c), 1e-9);
        CHECK_LE(tl_vec3_norm(r->accounts.momentum_unexplained), 1e-10);
        CHECK_LE(tl_vec3_norm(r->accounts.angular_unexplained), 1e-10);
    }
}

#define ROD "shape = box { size = {0.05, 1, 0.05} }, mass = 1"

/* From horizontal: a quarter of its period is K(1/sqrt 2) sqrt(I/(m g l)), and at the lowest place w^2 = 2 m g l / I. */
static void pendulum_has_its_period(void **state)
{
    (void)state;
    rigid_case c = rigid_open(NULL, "bodies = { { name = 'rod', " ROD ", at = {0.5, 0, 0}, rotation_deg = {0, 0, 90} } "
                                    "}, joints = { { kind = 'hinge', a = 'rod', at = {0, 0, 0}, axis = {0, 0, 1} } }");
    const double inertia = (1 + 0.0025) / 12 + 0.25, quarter = 1.8540746773013719 * sqrt(inertia / (9.81 * 0.5));
    go(&c, quarter, 0.01, true);
    const double angle = rigid_joint(&c, 0)->position + acos(0.0), w = sqrt(2 * 9.81 * 0.5 / inertia);
    CHECK_LE(fabs(angle) / w, 1e-4 * 4 * quarter); /* 1e-4 of the period */
    CHECK_LE(fabs(c.sim->state.rigid.body[0].w.z + w), 1e-4 * w);
    rigid_close(&c);
}

/* In all directions and of all sizes, halves of steps agree to their square. */
static void double_pendulum_converges(void **state)
{
    (void)state;
    tl_vec3 end[3];
    for (int k = 0; k < 3; k++) {
        rigid_case c = rigid_open(
            NULL,
            "gravity = {0, 0, -9.81}, bodies = { { name = 'a', " ROD ", at = {0, 0.5, 0} }, { name = 'b', " ROD
            ", at = {0, 1.5, 0}, rotation_deg = {0, 90, 0} } }, joints = { { kind = 'hinge', a = 'a', at = {0, 0, "
            "0}, axis = {1, 0, 0} }, { kind = 'ball', a = 'b', b = 'a', at = {0, 1, 0} } }");
        go(&c, 1, 0.01 / (1 << (2 * k)), true);
        end[k] = c.sim->state.rigid.body[1].x;
        rigid_close(&c);
    }
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(end[0], end[2])), 1e-4);
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(end[1], end[2])), 4e-5);
}

/* Two bodies on a ball that fly and turn: nothing outside takes part. */
static void flying_pair_keeps_momentum(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL, "gravity = {0, 0, 0}, bodies = { { name = 'a', shape = box { size = {0.1, 0.3, 0.2} }, density = 1000, "
              "velocity = {1, 0, 0} }, { name = 'b', shape = box { size = {0.2, 0.1, 0.4} }, density = 500, at = {0.2, "
              "0, 0}, velocity = {1, 0, 0} } }, joints = { { kind = 'universal', a = 'a', b = 'b', at = {0.1, 0, 0}, "
              "axis = {0, 1, 0}, axis_b = {0, 0, 1} } }");
    tl_motion *m = c.sim->state.rigid.body;
    m[0].w = m[1].w = (tl_vec3){0, 6, 0};
    m[1].v = tl_vec3_add(m[1].v, tl_vec3_cross(m[1].w, (tl_vec3){0.1, 0, 0}));
    m[0].v = tl_vec3_add(m[0].v, tl_vec3_cross(m[0].w, (tl_vec3){-0.1, 0, 0}));
    m[0].w.x = m[1].w.x = 0;
    step(&c, 0.01);
    const tl_vec3 p = c.sim->report.momentum, L = c.sim->report.angular_momentum;
    const double energy = c.sim->report.kinetic;
    go(&c, 2, 0.01, true);
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(c.sim->report.momentum, p)), 1e-11);
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(c.sim->report.angular_momentum, L)), 1e-11);
    CHECK_LE(fabs(c.sim->report.kinetic - energy), 1e-9 * energy);
    rigid_close(&c);
}

/* A rope of links of 1 g that holds 10 kg: tension is the weight, and nothing creeps. */
static void heavy_on_light_chain(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        "function chain(n) local b, j = {}, {} for k = 1, n do b[k] = { name = 'l' .. k, shape = box { size = {0.01, "
        "0.1, 0.01} }, mass = 0.001, at = {0, -0.1 * k + 0.05, 0} } j[k] = { kind = 'ball', a = 'l' .. k, b = k > 1 "
        "and 'l' .. (k - 1) or nil, at = {0, -0.1 * (k - 1), 0} } end b[n + 1] = { name = 'load', shape = box { size = "
        "0.2 }, mass = 10, at = {0, -0.1 * n - 0.1, 0} } j[n + 1] = { kind = 'ball', a = 'load', b = 'l' .. n, at = "
        "{0, "
        "-0.1 * n, 0} } return b, j end\nlocal b, j = chain(8)\n",
        "bodies = b, joints = j");
    for (int k = 0; k < 50; k++) step(&c, 0.01);
    CHECK_LE(fabs(rigid_joint(&c, 8)->carries - 98.1), 1e-6 * 98.1);
    CHECK_LE(tl_vec3_norm(c.sim->state.rigid.body[8].v), 1e-9);
    CHECK_LE(rigid_joints_off(&c), 1e-9);
    rigid_close(&c);
}

/* A table on four legs that are welded to it and to the ground, and a door on two hinges: more than is needed. */
static void redundant_joints_hold(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL,
        "bodies = { { name = 'top', shape = box { size = {1, 0.05, 1} }, mass = 20, at = {0, 1, 0} }, { name = "
        "'l1', " ROD ", at = {0.4, 0.475, 0.4} }, { name = 'l2', " ROD ", at = {-0.4, 0.475, 0.4} }, { name = "
        "'l3', " ROD ", at = {0.4, 0.475, -0.4} }, { name = 'l4', " ROD ", at = {-0.4, 0.475, -0.4} } }, joints = "
        "{ { kind = 'fixed', a = 'top', b = 'l1' }, { kind = 'fixed', a = 'top', b = 'l2' }, { kind = 'fixed', a = "
        "'top', b = 'l3' }, { kind = 'fixed', a = 'top', b = 'l4' }, { kind = 'fixed', a = 'l1' }, { kind = "
        "'fixed', a = 'l2' }, { kind = 'fixed', a = 'l3' }, { kind = 'fixed', a = 'l4' } }");
    for (int k = 0; k < 100; k++) step(&c, 0.01);
    tl_vec3 sum = {0, 0, 0};
    for (int k = 4; k < 8; k++) sum = tl_vec3_add(sum, rigid_joint(&c, k)->on_a);
    CHECK_LE(fabs(sum.y - 24 * 9.81), 1e-6 * 24 * 9.81);
    CHECK_LE(c.sim->report.kinetic, 1e-18);
    CHECK_LE(c.sim->report.force_balance, 1e-6);
    rigid_close(&c);

    c = rigid_open(NULL,
                   "bodies = { { name = 'door', shape = box { size = {1, 2, 0.05} }, mass = 20, at = {0.5, 1, 0}, "
                   "spin_rad_per_s = {0, 1, 0}, velocity = {0, 0, -0.5} } }, joints = { { kind = 'hinge', a = "
                   "'door', at = {0, 0.3, 0}, axis = {0, 1, 0} }, { kind = 'hinge', a = 'door', at = {0, 1.7, 0}, "
                   "axis = {0, 1, 0} } }");
    go(&c, 3, 0.01, true);
    CHECK_LE(fabs(rigid_joint(&c, 0)->position - 3), 3 * 1e-4 / 12 * 1.1); /* (w dt)^2 / 12 of the angle */
    rigid_close(&c);
}

/* Joint friction holds up to its torque; a limit ends the swing there; a rope breaks at what it bears. */
static void limits_friction_and_breaking(void **state)
{
    (void)state;
    const char *const bar =
        "bodies = { { name = 'rod', " ROD ", at = {0.5, 0, 0}, rotation_deg = {0, 0, 90} } }, joints "
        "= { { kind = 'hinge', a = 'rod', at = {0, 0, 0}, axis = {0, 0, 1}, %s } }";
    rigid_case c = rigid_open(NULL, bar, "friction = 4.91");
    for (int k = 0; k < 20; k++) step(&c, 0.01);
    CHECK_LE(fabs(c.sim->state.rigid.body[0].w.z), 1e-9);
    rigid_close(&c);
    c = rigid_open(NULL, bar, "friction = 4.90"); /* 4.905 is what its weight does */
    for (int k = 0; k < 20; k++) step(&c, 0.01);
    assert_true(c.sim->state.rigid.body[0].w.z < -1e-3);
    rigid_close(&c);
    c = rigid_open(NULL, bar, "limits = {-0.5, 0.5}");
    for (int k = 0; k < 150; k++) step(&c, 0.01);
    CHECK_LE(fabs(rigid_joint(&c, 0)->position + 0.5), 1e-6);
    CHECK_LE(fabs(c.sim->state.rigid.body[0].w.z), 1e-9);
    rigid_close(&c);
    for (int k = 0; k < 2; k++) {
        c = rigid_open(NULL,
                       "bodies = { { name = 'ball', shape = sphere { radius = 0.1 }, mass = 1 } }, joints = { { "
                       "kind = 'rope', a = 'ball', at_b = {0, 1, 0}, breaks_at = %.9g } }",
                       9.81 * (k ? 1 - 1e-6 : 1 + 1e-6));
        for (int i = 0; i < 20; i++) step(&c, 0.01);
        assert_int_equal(rigid_joint(&c, 0)->broken > 0, k);
        rigid_close(&c);
    }
}

/* Motors: a speed, a place, both held by exactly the torque that inverse dynamics asks for. */
static void motors_have_the_torque_of_inverse_dynamics(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL,
        "bodies = { { name = 'rod', " ROD ", at = {0.5, 0, 0}, rotation_deg = {0, 0, 90} } }, joints = { { kind = "
        "'hinge', a = 'rod', at = {0, 0, 0}, axis = {0, 0, 1}, motor = { position = function(t) return 0.5 * "
        "math.sin(3 * t) end } } }");
    const double inertia = (1 + 0.0025) / 12 + 0.25, dt = 1e-3;
    double worst = 0;
    for (int k = 0; k < 400; k++) {
        step(&c, dt);
        const double t = c.sim->state.t - 0.5 * c.sim->report.dt, angle = 0.5 * sin(3 * t);
        CHECK_LE(fabs(rigid_joint(&c, 0)->position - 0.5 * sin(3 * c.sim->state.t)), 1e-10);
        if (k > 2)
            worst = fmax(worst, fabs(rigid_joint(&c, 0)->motor - (9.81 * 0.5 * cos(angle) - 9 * inertia * angle)));
    }
    CHECK_LE(worst, 1e-5);
    rigid_close(&c);
}

/* A stretched spring has energy: a ball on one goes up and down with all of it. */
static void springs_keep_their_energy(void **state)
{
    (void)state;
    rigid_case c = rigid_open(NULL, "bodies = { { name = 'ball', shape = sphere { radius = 0.1 }, mass = 1 } }, joints "
                                    "= { { kind = 'spring', a = 'ball', at_b = {0, 1, 0}, length = 0.5, stiffness = "
                                    "200 } }");
    double most = 0;
    for (int k = 0; k < 100; k++) {
        step(&c, 0.01);
        const tl_report *r = &c.sim->report;
        CHECK_LE(fabs(r->kinetic + r->potential + r->elastic - 25), 1e-6 * 25); /* 200 / 2 (1 - 0.5)^2 */
        CHECK_LE(fabs(r->accounts.energy_unexplained), 1e-9 * 25);
        most = fmax(most, r->kinetic);
    }
    assert_true(most > 5);
    rigid_close(&c);
}

static double total(const rigid_case *c)
{
    const tl_report *r = &c->sim->report;
    return r->kinetic + r->potential + (isnan(r->elastic) ? 0 : r->elastic);
}

/* A double pendulum that swings against a wall, and a pair in flight that a ball hits, without and with friction:
 * joints hold in the impact, all of the energy comes back from perfectly elastic ones, none is made, momentum stays. */
static void jointed_bodies_bounce(void **state)
{
    (void)state;
    for (int rubs = 0; rubs < 2; rubs++) {
        rigid_case c = rigid_open(
            NULL,
            "bodies = { { name = 'a', " ROD ", at = {0.5, 0, 0}, rotation_deg = {0, 0, 90}, restitution = 1, "
            "friction = %g }, { name = 'b', " ROD ", at = {1.5, 0, 0}, rotation_deg = {0, 0, 90}, restitution = 1, "
            "friction = %g }, { kind = 'static', shape = box { size = {0.5, 4, 1} }, at = {-0.5, -1.5, 0}, "
            "restitution = 1, friction = %g } }, joints = { { kind = 'hinge', a = 'a', at = {0, 0, 0}, axis = {0, 0, "
            "1} }, { kind = 'hinge', a = 'b', b = 'a', at = {1, 0, 0}, axis = {0, 0, 1} } }",
            0.3 * rubs, 0.3 * rubs, 0.3 * rubs);
        go(&c, 1.2, 0.01, true);
        if (!rubs) CHECK_LE(fabs(total(&c)), 1e-9);
        if (rubs) assert_true(total(&c) < -1e-3);
        assert_true(c.sim->state.rigid.body[1].x.x > -0.3);
        rigid_close(&c);
    }
    rigid_case c = rigid_open(
        NULL, "gravity = {0, 0, 0}, bodies = { { name = 'a', shape = box { size = 0.2 }, mass = 1, restitution = 1, "
              "friction = 0.3 }, { name = 'b', shape = box { size = 0.2 }, mass = 1, at = {0.3, 0, 0} }, { name = 'c', "
              "shape = sphere { radius = 0.1 }, mass = 1, at = {-0.5, 0.08, 0.03}, velocity = {3, 0, 0}, restitution = "
              "1, friction = 0.3 } }, joints = { { kind = 'ball', a = 'a', b = 'b', at = {0.15, 0, 0} } }");
    go(&c, 0.4, 0.01, true);
    CHECK_LE(fabs(c.sim->report.momentum.x - 3), 1e-12);
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(c.sim->report.angular_momentum, (tl_vec3){0, 0.09, -0.24})), 1e-12);
    assert_true(c.sim->state.rigid.body[1].v.x > 0.1);
    rigid_close(&c);
}

/* On a line as on a rod: a weight on a rope whirls with all its energy, whatever the length; one that falls into its
 * rope loses what it has along it, and the accounts say so. */
static void ropes_keep_and_jerk(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        static const char *const kind[] = {"rope", "distance", "rope"};
        const double length = k == 2 ? 0.02 : 0.5, speed = k == 2 ? 0 : 10;
        rigid_case c = rigid_open(NULL,
                                  "bodies = { { name = 'ball', shape = sphere { radius = 0.1 }, mass = 1, at = {%g, 0, "
                                  "0}, velocity = {0, %g, 0} } }, joints = { { kind = '%s', a = 'ball', at_b = {0, 0, "
                                  "0} } }",
                                  length, speed, kind[k]);
        step(&c, 0.01);
        const double before = total(&c);
        go(&c, 1, 0.01, true);
        CHECK_LE(fabs(total(&c) - before), 1e-9 * (fabs(before) + 9.81 * length));
        rigid_close(&c);
    }
    rigid_case c = rigid_open(NULL, "bodies = { { name = 'ball', shape = sphere { radius = 0.1 }, mass = 1, at = {0.5, "
                                    "0.5, 0} } }, joints = { { kind = 'rope', a = 'ball', at_b = {0, 0, 0}, length = 1 "
                                    "} }");
    double jerk = 0;
    while (c.sim->state.t < 2) {
        step(&c, 0.01);
        jerk += c.sim->report.accounts.energy[TL_ENERGY_CONTACT];
    }
    const double low = sqrt(0.75), along = 0.75 * 9.81 * (0.5 + low); /* cos^2 of its kinetic energy there */
    CHECK_LE(fabs(total(&c) - 9.81 * 0.5 + along), 1e-3 * along);     /* of second order in the step's way */
    CHECK_LE(fabs(jerk + along), 1e-3 * along);
    rigid_close(&c);
}

/* Velocities that a joint forbids end in an impact without restitution when the run begins. */
static void forbidden_velocities_are_stopped(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL, "gravity = {0, 0, 0}, bodies = { { name = 'a', shape = sphere { radius = 0.1 }, mass = 1, velocity = {2, "
              "1, 0} }, { name = 'b', shape = sphere { radius = 0.1 }, mass = 3, at = {1, 0, 0}, velocity = {-1, 0, 2} "
              "} }, joints = { { kind = 'distance', a = 'a', b = 'b' } }");
    go(&c, 0.5, 0.01, true);
    const tl_vec3 p = c.sim->report.momentum, L = c.sim->report.angular_momentum;
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(p, (tl_vec3){-1, 1, 6})), 1e-11);
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(L, (tl_vec3){0, -6, 0})), 1e-11);
    CHECK_LE(fabs(c.sim->report.kinetic - (2.5 + 7.5 - 0.5 * 0.75 * 9)), 1e-9); /* reduced mass 0.75, 3 m/s */
    rigid_close(&c);
}

/* Without gravity a motor presses a block on the ground: all solves reach their target, and nothing is made. */
static void motors_press_without_gravity(void **state)
{
    (void)state;
    static const char *const motor[] = {"speed = -1, max = 50", "position = -0.5, max = 50", "force = -20",
                                        "position = -0.5, stiffness = 200, damping = 20"};
    for (int k = 0; k < 4; k++) {
        rigid_case c = rigid_open(
            NULL,
            "gravity = {0, 0, 0}, bodies = { { kind = 'static', shape = box { size = {2, 0.2, 2} }, at = {0, -0.1, 0} "
            "}, { name = 'block', shape = box { size = 0.2 }, mass = 1, at = {0, 0.15, 0} } }, joints = { { kind = "
            "'slider', a = 'block', at = {0, 0.15, 0}, axis = {0, 1, 0}, motor = { %s } } }",
            motor[k]);
        for (int i = 0; i < 60; i++) {
            step(&c, 0.01);
            CHECK_LE(c.sim->report.solve[0].certificate, c.sim->report.solve[0].target);
            CHECK_LE(c.sim->report.accounts.energy_unexplained, 1e-7);
        }
        CHECK_LE(fabs(c.sim->state.rigid.body[1].x.y - 0.1), 1e-6);
        rigid_close(&c);
    }
}

/* What gives slowly swings with its period and all its energy: (w dt)^2 / 12 longer, as the rule has it. */
static void compliance_swings(void **state)
{
    (void)state;
    rigid_case c = rigid_open(NULL, "gravity = {0, 0, 0}, bodies = { { name = 'ball', shape = sphere { radius = 0.1 }, "
                                    "mass = 1, velocity = {0, 1, 0} } }, joints = { { kind = 'fixed', a = 'ball', "
                                    "compliance = 0.01 } }");
    double last = 1, down = NAN;
    for (int k = 0; k < 130; k++) {
        step(&c, 0.01);
        const double v = c.sim->state.rigid.body[0].v.y;
        CHECK_LE(fabs(total(&c) - 0.5), 1e-9);
        if (last > 0 && v <= 0) down = c.sim->state.t - c.sim->report.dt * v / (v - last);
        last = v;
    }
    CHECK_NEAR(down, 2.5 * acos(-1.0) / 10 * (1 + 0.01 / 12), 2e-5); /* the second time: five quarters */
    rigid_close(&c);
}

/* Springs that break: what was in them is gone, and told. */
static void broken_springs_lose_what_they_had(void **state)
{
    (void)state;
    rigid_case c = rigid_open(NULL, "bodies = { { name = 'ball', shape = sphere { radius = 0.1 }, mass = 1 } }, joints "
                                    "= { { kind = 'spring', a = 'ball', at_b = {0, 1, 0}, length = 1, stiffness = 100, "
                                    "breaks_at = 15 } }");
    double told = 0;
    for (int k = 0; k < 40; k++) {
        step(&c, 0.01);
        told += c.sim->report.accounts.energy[TL_ENERGY_CONTACT];
        CHECK_LE(fabs(c.sim->report.accounts.energy_unexplained), 1e-9);
    }
    assert_true(rigid_joint(&c, 0)->broken > 0);
    CHECK_LE(fabs(total(&c) - told), 1e-9);  /* it started with nothing */
    assert_true(told < -1.1 && told > -1.4); /* 15 N: 1.125 J, and what a step adds */
    rigid_close(&c);
}

static rigid_case falling_chain(void)
{
    rigid_case c = rigid_open(
        "function chain(n) local b, j = { { kind = 'static', shape = plane {} } }, {} for k = 1, n do b[k + 1] = { "
        "name "
        "= 'l' .. k, shape = box { size = {0.05, 0.3, 0.05} }, density = 500, at = {0.02 * k, 0.3 * k, 0} } if k > 1 "
        "then j[k - 1] = { kind = k % 2 == 0 and 'ball' or 'hinge', a = 'l' .. k, b = 'l' .. (k - 1), at = {0.02 * k - "
        "0.01, 0.3 * k - 0.15, 0}, axis = k % 2 == 1 and {0, 0, 1} or nil } end end return b, j end\nlocal b, j = "
        "chain(6)\n",
        "bodies = b, joints = j");
    for (int k = 0; k < 60; k++) step(&c, 0.01);
    return c;
}

static void threads_and_saves(void **state)
{
    (void)state;
    rigid_threads_and_saves(falling_chain, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_has_its_period),
        cmocka_unit_test(double_pendulum_converges),
        cmocka_unit_test(flying_pair_keeps_momentum),
        cmocka_unit_test(heavy_on_light_chain),
        cmocka_unit_test(redundant_joints_hold),
        cmocka_unit_test(limits_friction_and_breaking),
        cmocka_unit_test(motors_have_the_torque_of_inverse_dynamics),
        cmocka_unit_test(springs_keep_their_energy),
        cmocka_unit_test(jointed_bodies_bounce),
        cmocka_unit_test(ropes_keep_and_jerk),
        cmocka_unit_test(forbidden_velocities_are_stopped),
        cmocka_unit_test(motors_press_without_gravity),
        cmocka_unit_test(compliance_swings),
        cmocka_unit_test(broken_springs_lose_what_they_had),
        cmocka_unit_test(threads_and_saves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
