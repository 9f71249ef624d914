/* Joints of engine `lg`: between rigid bodies, rigid and elastic ones, and elastic ones. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rigid.h"

#define JELLY "material = elastic { density = 1000, young = 1e5, poisson = 0.3 }"

static void step(rigid_case *c, double dt) { rigid_step(c, fmin(dt, c->sim->engine->dt_wanted(c->sim))); }

/* Solves on target, places, momentum: what has to hold in every step. A solve may leave `target` m/s of a velocity, of
 * which places have a step's worth; momentum is what forces give, whatever they are, and where they act is known to
 * what places are. */
static void look(const rigid_case *c)
{
    const tl_report *r = &c->sim->report;
    const double mass = r->accounts.mass, size = r->accounts.gyration, left = r->solve[r->solves - 1].target;
    for (int k = 0; k < r->solves; k++) CHECK_LE(r->solve[k].certificate, r->solve[k].target);
    CHECK_LE(rigid_joints_off(c), r->dt * left);
    CHECK_LE(tl_vec3_norm(r->accounts.momentum_unexplained), 1e-11 * mass * fmax(1, 9.81 * r->dt));
    CHECK_LE(tl_vec3_norm(r->accounts.angular_unexplained), mass * size * left);
}

static double energy(const rigid_case *c)
{
    const tl_report *r = &c->sim->report;
    return r->kinetic + r->potential + r->elastic;
}

static tl_vec3 momentum(const rigid_case *c, tl_vec3 *angular)
{
    *angular = c->sim->report.angular_momentum;
    return c->sim->report.momentum;
}

/* What each kind leaves free, and everything that acts along it. */
static const char *const kinds[] = {
    "kind = 'fixed', at = {-0.15, 0, 0}",
    "kind = 'ball', at = {-0.15, 0, 0}, axis = {1, 0, 0}, limits = {0, 0.1}",
    "kind = 'hinge', at = {-0.15, 0, 0}, axis = {0, 0, 1}, friction = 0.05, limits = {-0.2, 0.2}",
    "kind = 'slider', at = {-0.15, 0, 0}, axis = {1, 0, 0}, motor = { position = 0.02, stiffness = 50, damping = 1 }",
    "kind = 'cylinder', at = {-0.15, 0, 0}, axis = {1, 0, 0}, limits = {-0.05, 0.05}",
    "kind = 'screw', at = {-0.15, 0, 0}, axis = {1, 0, 0}, pitch = 0.1",
    "kind = 'universal', at = {-0.15, 0, 0}, axis = {0, 1, 0}, axis_b = {0, 0, 1}",
    "kind = 'planar', at = {-0.15, 0, 0}, axis = {0, 0, 1}",
    "kind = 'distance', at_a = {0.05, 0, 0}, at_b = {-0.05, 0, 0}",
    "kind = 'rope', at_a = {0.05, 0, 0}, at_b = {-0.05, 0, 0}",
    "kind = 'spring', at_a = {0.05, 0, 0}, at_b = {-0.05, 0, 0}, stiffness = 100, damping = 1",
    "kind = 'fixed', at = {-0.15, 0, 0}, compliance = 1e-4",
};

/* In free flight, turning: nothing but the joint acts, so momentum and angular momentum stay, and energy falls. */
static void fly(const char *joint, bool soft_a)
{
    rigid_case c = rigid_open(NULL,
                              "engine = 'lg', gravity = {0, 0, 0}, bodies = { { name = 'a', shape = box { size = {0.2, "
                              "0.1, 0.1} }, at = {-0.3, "
                              "0, 0}, velocity = {0.2, 0, 0}, spin_rad_per_s = {1, 2, 0}, %s }, { name = 'b', shape = "
                              "box { size = 0.2 }, cells "
                              "= {2, 2, 2}, velocity = {1, 0.5, 0}, spin_rad_per_s = {0, 0, 3}, " JELLY
                              " } }, joints = { { name = 'j', a = 'a', b = 'b', %s } }",
                              soft_a ? "cells = {2, 1, 1}, " JELLY : "density = 1000", joint);
    const bool drives = strstr(joint, "motor") != NULL;
    step(&c, 0.005);
    tl_vec3 L, L0, p0 = momentum(&c, &L0);
    double last = energy(&c);
    for (int k = 0; k < 30; k++) {
        step(&c, 0.005);
        look(&c);
        CHECK_LE(tl_vec3_norm(tl_vec3_sub(momentum(&c, &L), p0)), 1e-8 * tl_vec3_norm(p0));
        CHECK_LE(tl_vec3_norm(tl_vec3_sub(L, L0)), 1e-8 * tl_vec3_norm(L0));
        if (!drives) CHECK_LE(energy(&c), last + 1e-9 * last);
        CHECK_LE(c.sim->report.accounts.energy_unexplained, 1e-9 * last);
        last = energy(&c);
    }
    rigid_close(&c);
}

static void every_kind_keeps_momentum(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) fly(kinds[k], k % 2);
}

/* A rigid rod on a hinge, from horizontal: a quarter of its period is K(1/sqrt 2) sqrt(I/(m g l)). Velocities are half
 * a step ahead of places, (1/2) dt, and the rule is of second order beside that. */
static void a_rod_swings(void **state)
{
    (void)state;
    const double dt = 1e-3, inertia = (1 + 0.0025) / 12 + 0.25,
                 quarter = 1.8540746773013719 * sqrt(inertia / (9.81 * 0.5));
    rigid_case c = rigid_open(
        NULL, "engine = 'lg', dt_max = 0.001, bodies = { { name = 'rod', shape = box { size = {0.05, 1, 0.05} }, "
              "mass = 1, at = {0.5, 0, 0}, rotation_deg = {0, 0, 90} }, { name = 'soft', shape = box { size "
              "= 0.2 }, at = {0, 0, 1}, cells = {2, 2, 2}, " JELLY
              " } }, joints = { { kind = 'hinge', a = 'rod', at = {0, 0, 0}, axis = {0, 0, 1} } }");
    double last = 0, t = 0;
    while (rigid_joint(&c, 0)->position > -acos(0.0)) {
        last = rigid_joint(&c, 0)->position;
        t = c.sim->state.t;
        step(&c, dt);
        const tl_report *r = &c.sim->report;
        CHECK_LE(r->solve[r->solves - 1].certificate, r->solve[r->solves - 1].target);
        CHECK_LE(rigid_joints_off(&c), 1e-9);
    }
    const double now = rigid_joint(&c, 0)->position, crossed = t + dt * (last + acos(0.0)) / (last - now);
    CHECK_LE(fabs(crossed + 0.5 * dt - quarter), 1e-4 * 4 * quarter);
    rigid_close(&c);
}

/* A soft beam on a hinge that a motor holds: force and torque are those of its weight, where it sags to. */
static void a_motor_holds_a_beam(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL,
        "engine = 'lg', bodies = { { name = 'beam', shape = box { size = {0.4, 0.1, 0.1} }, cells = {4, 1, 1}, "
        "material = elastic { density = 1000, young = 1e6, poisson = 0.3, damping = 0.5 } } }, joints = { { kind = "
        "'hinge', a = 'beam', at = {-0.2, 0, 0}, axis = {0, 0, 1}, grip = 0.15, motor = { position = 0 } } }");
    while (c.sim->state.t < 4) step(&c, 0.02);
    look(&c);
    const double weight = 4 * 9.81, lever = rigid_body(&c, "beam")->x.x + 0.2;
    CHECK_LE(fabs(rigid_joint(&c, 0)->on_a.y - weight), 1e-6 * weight);
    CHECK_LE(fabs(rigid_joint(&c, 0)->motor - weight * lever), 1e-6 * weight * lever);
    rigid_close(&c);
}

/* 10 kg of jelly on links of 1 g that are welded to it and to each other, from at rest: 1e4 between neighbours. */
static void light_links_hold_jelly(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL,
        "engine = 'lg', bodies = { { name = 'load', shape = box { size = {0.2, 0.25, 0.2} }, cells = {2, 2, 2}, "
        "material = elastic { density = 1000, young = 1e6, poisson = 0.3, damping = 0.5 } }, { name = 'one', shape = "
        "sphere { radius = 0.05 }, mass = 0.001, at = {0, 0.4, 0} }, { name = 'two', shape = sphere { radius = 0.05 "
        "}, mass = 0.001, at = {0, 0.6, 0} } }, joints = { { kind = 'fixed', a = 'load', b = 'one', at = {0, 0.1, "
        "0} }, { kind = 'fixed', a = 'one', b = 'two', at = {0, 0.5, 0} }, { kind = 'ball', a = 'two', at = {0, 0.7, "
        "0} } "
        "}");
    while (c.sim->state.t < 3) {
        step(&c, 0.02);
        look(&c);
    }
    const double weight = 10 * 9.81;
    CHECK_LE(fabs(rigid_joint(&c, 0)->on_a.y - weight), 1e-6 * weight);
    CHECK_LE(fabs(rigid_joint(&c, 2)->on_a.y - weight - 0.002 * 9.81), 1e-6 * weight);
    rigid_close(&c);
}

/* What a joint bears until it breaks: a cube that is put on it in one step weighs more than that. */
static void it_breaks_at_its_value(void **state)
{
    (void)state;
    for (int strong = 0; strong < 2; strong++) {
        rigid_case c = rigid_open(
            NULL,
            "engine = 'lg', bodies = { { name = 'soft', shape = box { size = 0.2 }, cells = {2, 2, 2}, " JELLY
            " } }, joints = { { kind = 'ball', a = 'soft', at = {0, 0, 0}, breaks_at = %s } }",
            strong ? "200" : "10");
        double most = 0;
        for (int k = 0; k < 10; k++) {
            step(&c, 0.01);
            most = fmax(most, rigid_joint(&c, 0)->carries);
        }
        assert_true((rigid_joint(&c, 0)->broken > 0) == !strong);
        if (!strong) CHECK_LE(10, most);
        if (strong) CHECK_LE(most, 200);
        if (strong) look(&c);
        rigid_close(&c);
    }
}

/* A motor of bounded torque turns a soft block: as fast as that allows, then as fast as it is told. */
static void a_motor_turns_jelly(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL,
        "engine = 'lg', gravity = {0, 0, 0}, bodies = { { name = 'soft', shape = box { size = 0.2 }, cells = {2, 2, "
        "2}, "
        "material = elastic { density = 1000, young = 1e6, poisson = 0.3, damping = 0.1 } } }, joints = { { kind = "
        "'hinge', a = 'soft', at = {0, 0, 0}, axis = {0, 0, 1}, motor = { speed = 2, max = 0.5 } } }");
    tl_vec3 L, before;
    step(&c, 0.01);
    (void)momentum(&c, &before);
    step(&c, 0.01);
    (void)momentum(&c, &L);
    CHECK_LE(fabs(rigid_joint(&c, 0)->motor - 0.5), 1e-9);
    CHECK_LE(fabs(L.z - before.z - 0.5 * c.sim->report.dt), 1e-7 * 0.5 * c.sim->report.dt);
    while (c.sim->state.t < 1) {
        step(&c, 0.01);
        look(&c);
    }
    CHECK_LE(fabs(rigid_joint(&c, 0)->speed - 2), 1e-4 * 2); /* chords of arcs: (w dt)^2 / 3 */
    rigid_close(&c);
}

static rigid_case open_mixed(void)
{
    rigid_case c = rigid_open(
        NULL,
        "engine = 'lg', bodies = { { name = 'floor', kind = 'static', shape = plane {}, at = {0, -0.35, 0} }, { name = "
        "'arm', shape = box { size = {0.5, 0.1, 0.1} }, density = 500, at = {-0.35, 0, 0} }, { name = 'soft', shape = "
        "box { size = 0.2 }, cells = {2, 2, 2}, " JELLY
        " }, { name = 'other', shape = box { size = 0.2 }, at = {0.21, 0, 0}, cells = {2, 2, 2}, " JELLY
        " } }, joints = { { kind = 'hinge', a = 'arm', at = {-0.6, 0, 0}, axis = {0, 0, 1}, friction = 0.1 }, { kind = "
        "'fixed', a = 'arm', b = 'soft', at = {-0.1, 0, 0} }, { kind = 'hinge', a = 'soft', b = 'other', at = {0.105, "
        "0, 0}, axis = {0, 0, 1}, limits = {-0.5, 0.5}, motor = { speed = 3, max = 1 } } }");
    while (c.sim->state.t < 0.25) step(&c, 0.01);
    return c;
}

static void the_same_bits(void **state)
{
    (void)state;
    rigid_threads_and_saves(open_mixed, 6);
}

/* The same arm falls onto the floor and comes to lie: solves on target, energy only falls but for what its motor gives. */
static void an_arm_comes_to_lie(void **state)
{
    (void)state;
    rigid_case c = open_mixed();
    while (c.sim->state.t < 1) {
        step(&c, 0.01);
        const tl_report *r = &c.sim->report;
        for (int k = 0; k < r->solves; k++) CHECK_LE(r->solve[k].certificate, r->solve[k].target);
        CHECK_LE(tl_vec3_norm(r->accounts.momentum_unexplained), 1e-9 * r->accounts.mass);
        CHECK_LE(r->accounts.energy_unexplained, 1e-6 * r->accounts.mass);
    }
    rigid_close(&c);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const char *const scene =
        "engine = 'lg', %s bodies = { { name = 'soft', shape = box { size = 0.2 }, cells = {2, 2, 2}, " JELLY
        " } }, joints = { { name = 'hook', kind = 'ball', a = 'soft', at = {0, %s, 0}, grip = 0.05 } }";
    static const char *const cases[][3] = {
        {"", "0.3", "joint \"hook\" finds 0 nodes of \"soft\""},
        {"lg = { time = 'static' },", "0", "time = \"static\""},
        {"lg = { global_step = 'jacobi' },", "0", "jacobi"},
        {"lg = { local_step = 'prox' },", "0", "local_step"},
        {"lg = { corrections = 0 },", "0", "corrections"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[2000];
        talus_error err;
        rigid_case c;
        snprintf(text, sizeof text, scene, cases[k][0], cases[k][1]);
        const talus_status status = rigid_try(&c, NULL, NULL, text, &err);
        if (status == TALUS_OK || !strstr(err.message, cases[k][2])) fail_msg("%s: %s", cases[k][2], err.message);
        rigid_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_keeps_momentum), cmocka_unit_test(a_rod_swings),
        cmocka_unit_test(a_motor_holds_a_beam),      cmocka_unit_test(light_links_hold_jelly),
        cmocka_unit_test(it_breaks_at_its_value),    cmocka_unit_test(a_motor_turns_jelly),
        cmocka_unit_test(an_arm_comes_to_lie),       cmocka_unit_test(the_same_bits),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
