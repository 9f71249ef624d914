/* Joints beside, on and under elastic bodies of engine `grid`. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "phase/rigid/rigid.h"
#include "rigid.h"

/* A step of at most dt, with what has to hold in it: places, momentum, no energy from nothing, solves that end.
 * angular: what contacts of soft bodies with those that turn lose, of the angular momentum of all falling for a second:
 * their two sides act at places that are off by what these move in a step. */
static void step(rigid_case *c, double dt, double angular)
{
    rigid_step(c, fmin(dt, tl_rigid_dt_wanted(c->sim)));
    const tl_report *r = &c->sim->report;
    const double mass = r->accounts.mass, size = r->accounts.gyration, g = tl_vec3_norm(c->scene->gravity);
    CHECK_LE(rigid_joints_off(c), fmax(1e-9 * size, r->dt * r->solve[1].target)); /* what a solve may leave */
    CHECK_LE(tl_vec3_norm(r->accounts.momentum_unexplained), 1e-11 * mass * g);
    CHECK_LE(tl_vec3_norm(r->accounts.angular_unexplained), fmax(1e-11, angular) * mass * g * size);
    CHECK_LE(r->accounts.energy_unexplained, 1e-9 * mass * g * size);
    for (int k = 0; k < r->solves; k++) CHECK_LE(r->solve[k].certificate, r->solve[k].target);
}

static void go(rigid_case *c, double t, double angular)
{
    while (c->sim->state.t < t - 1e-9) step(c, fmin(0.01, t - c->sim->state.t), angular);
}

#define ROD "shape = box { size = {0.05, 1, 0.05} }, mass = 1"
#define JELLY "material = elastic { density = 1000, young = 1e5, poisson = 0.3, friction = 0.4 }"

/* From horizontal: a quarter of its period is K(1/sqrt 2) sqrt(I/(m g l)), and at the lowest place w^2 = 2 m g l / I. */
static void pendulum_beside_a_soft_body(void **state)
{
    (void)state;
    rigid_case c =
        rigid_open(NULL, "engine = 'grid', bodies = { { name = 'rod', " ROD
                         ", at = {0.5, 0, 0}, rotation_deg = {0, 0, 90} }, { name = 'floor', kind = "
                         "'static', shape = plane {}, at = {0, -2, 0} }, { name = 'soft', shape = box { "
                         "size = 0.2 }, at = {0, -1.9, 0}, cells = {2, 2, 2}, " JELLY
                         " } }, joints = { { kind = 'hinge', a = 'rod', at = {0, 0, 0}, axis = {0, 0, 1} } }");
    const double inertia = (1 + 0.0025) / 12 + 0.25, quarter = 1.8540746773013719 * sqrt(inertia / (9.81 * 0.5));
    go(&c, quarter, 0);
    const double angle = rigid_joint(&c, 0)->position + acos(0.0), w = sqrt(2 * 9.81 * 0.5 / inertia);
    CHECK_LE(fabs(angle) / w, 1e-4 * 4 * quarter); /* 1e-4 of the period */
    CHECK_LE(fabs(c.sim->state.rigid.body[0].w.z + w), 1e-4 * w);
    rigid_close(&c);
}

/* A hammer on a hinge hits a soft block: what the hinge gives and the floor is told, energy only falls once it has
 * come down, and what it leans on in the end carries all. */
static void hammer_hits_a_block(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL, "engine = 'grid', bodies = { { name = 'hammer', shape = box { size = {0.6, 0.1, 0.1} }, mass = 2, at = "
              "{0.3, 0, 0} }, { name = 'floor', kind = 'static', shape = plane {}, at = {0, -0.6, 0} }, { name = "
              "'soft', shape = box { size = 0.2 }, at = {0.25, -0.5, 0}, cells = {3, 3, 3}, " JELLY
              " } }, joints = { { kind = 'hinge', a = 'hammer', at = {0, 0, 0}, axis = {0, 0, 1} } }");
    double last = INFINITY;
    while (c.sim->state.t < 2) {
        step(&c, 0.01, 1e-3);
        const tl_report *r = &c.sim->report;
        const double now = r->kinetic + r->potential + r->elastic;
        CHECK_LE(now - last, 1e-9 * 60);
        last = now;
    }
    /* the hinge, the block's weight and the hammer's are all there is: the floor carries what is left */
    const double weight = (2 + 8) * 9.81, hinge = rigid_joint(&c, 0)->on_a.y,
                 floor = rigid_body(&c, "floor")->contact_force.y;
    CHECK_LE(fabs(hinge - floor - weight), 1e-5 * weight);
    rigid_close(&c);
}

/* A soft block on two seats: one on a slider whose motor holds its place, one at the end of an arm on a hinge whose
 * motor does, with a block of its own. Forces and the torque are those of weights and levers. unit: of lengths, m; up:
 * the axis against gravity. */
static rigid_case open_seats(double unit, int up)
{
    static const char *const axes[] = {"function at(x, y, z) return { y, z, x } end\n",
                                       "function at(x, y, z) return { x, y, z } end\n",
                                       "function at(x, y, z) return { z, x, y } end\n"};
    char lua[600];
    snprintf(lua, sizeof lua,
             "local u = %.17g\n%sfunction box_of(x, y, z) return box { size = at(x * u, y * u, z * u) } end\n"
             "function put(x, y, z) return at(x * u, y * u, z * u) end\n"
             "local jelly = elastic { density = 1000 / u, young = 1e5 * u, poisson = 0.3, friction = 0.5 }\n",
             unit, axes[up]);
    return rigid_open(
        lua,
        "engine = 'grid', gravity = at(0, -9.81 * u, 0), bodies = { { name = 'seat', shape = box_of(0.4, 0.1, "
        "0.4), density = 500 / u, at = put(-0.5, 0, 0) }, { name = 'arm', shape = box_of(0.8, 0.1, 0.4), density = "
        "500 / u, at = put(0.6, 0, 0) }, { name = 'one', shape = box_of(0.2, 0.2, 0.2), cells = {2, 2, 2}, at = "
        "put(-0.5, 0.15, 0), material = jelly }, { name = 'two', shape = box_of(0.2, 0.2, 0.2), cells = {2, 2, 2}, "
        "at = put(0.4, 0.15, 0), material = jelly } }, joints = { { kind = 'slider', a = 'seat', at = put(-0.5, 0, "
        "0), axis = at(0, 1, 0), motor = { position = 0 } }, { kind = 'hinge', a = 'arm', at = put(1, 0, 0), axis "
        "= at(0, 0, 1), motor = { position = 0 } } }");
}

static void seats_of(double unit, int up)
{
    rigid_case c = open_seats(unit, up);
    go(&c, 1.5, 1e-3);
    const double g = 9.81 * unit, u2 = unit * unit, seat = 500 * 0.016 * u2, arm = 500 * 0.032 * u2,
                 cube = 1000 * 0.008 * u2;
    CHECK_LE(fabs(rigid_joint(&c, 0)->motor - (seat + cube) * g), 1e-6 * (seat + cube) * g);
    CHECK_LE(fabs(rigid_joint(&c, 1)->carries - (arm + cube) * g), 1e-6 * (arm + cube) * g);
    const double torque = unit * g * (arm * 0.4 + cube * 0.6);
    CHECK_LE(fabs(fabs(rigid_joint(&c, 1)->motor) - torque), 1e-6 * torque);
    CHECK_LE(rigid_joints_off(&c), 1e-12 * unit);
    rigid_close(&c);
}

static void motors_hold_soft_loads(void **state)
{
    (void)state;
    seats_of(1, 1);
    seats_of(0.01, 2);
    seats_of(20, 0);
}

/* A stack of plates of 1 g that are welded to each other, the last but one on a slider, hold a tray with a soft cube of
 * 8 kg: each bears the weight. */
static void light_links_hold_a_soft_load(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        "local n, b, j = 6, {}, {}\nfor k = 1, n do b[k] = { name = 'l' .. k, shape = box { size = {0.1, 0.1, 0.1} }, "
        "mass = 0.001, at = {0, -0.1 * k + 0.05, 0} } j[k] = { kind = k == n and 'slider' or 'fixed', axis = k == n "
        "and "
        "{1, 0, 0} or nil, a = 'l' .. k, b = k > 1 and 'l' .. (k - 1) or nil, at = {0, -0.1 * (k - 1), 0} } end b[n + "
        "1] = { name = 'tray', shape = box { size = {0.4, 0.02, 0.4} }, mass = 2, at = {0, -0.1 * n - 0.41, 0} } j[n + "
        "1] = { kind = 'fixed', a = 'tray', b = 'l' .. n, at = {0, -0.1 * n, 0} }\nb[n + 2] = { name = 'soft', shape = "
        "box { size = 0.2 }, at = {0, -0.1 * n - 0.3, 0}, cells = {2, 2, 2}, material = elastic { density = 1000, "
        "young = 1e5, poisson = 0.3, friction = 0.5 } }\n",
        "engine = 'grid', bodies = b, joints = j");
    go(&c, 1, 1e-3);
    CHECK_LE(fabs(rigid_joint(&c, 6)->carries - 98.1), 1e-6 * 98.1);
    CHECK_LE(fabs(rigid_joint(&c, 0)->carries - 98.1 - 0.006 * 9.81), 1e-6 * 98.1);
    CHECK_LE(rigid_joints_off(&c), 1e-11);
    rigid_close(&c);
}

/* A seat that bears a soft cube and is pulled down more and more breaks when it carries what the scene states. */
static void breaks_under_a_soft_load(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL,
        "engine = 'grid', bodies = { { name = 'seat', shape = box { size = {0.4, 0.1, 0.4} }, mass = 2, force = "
        "function(t) return {0, -40 * math.max(0, t - 0.5), 0} end }, { name = 'soft', shape = box { size = 0.2 }, "
        "at = {0, 0.15, 0}, cells = {2, 2, 2}, " JELLY " } }, joints = { { kind = 'fixed', a = 'seat', breaks_at "
        "= 130 } }");
    double last = 0;
    while (!(rigid_joint(&c, 0)->broken > 0) && c.sim->state.t < 2) {
        last = rigid_joint(&c, 0)->carries;
        step(&c, 0.01, 1e-3);
    }
    CHECK_LE(last, 130 * (1 + 1e-12));
    CHECK_LE(130, rigid_joint(&c, 0)->carries);
    CHECK_LE(rigid_joint(&c, 0)->carries, 130 + 40 * 0.011);
    /* forces of the seat and the cube at rest, and of the pull: t = 0.5 + (130 - 98.1) / 40 */
    CHECK_LE(fabs(c.sim->state.t - 0.5 - (130 - 98.1) / 40), 0.03);
    const double at = c.sim->state.t;
    go(&c, at + 0.2, 1e-3);
    CHECK_LE(rigid_body(&c, "seat")->x.y, -0.1);
    rigid_close(&c);
}

static rigid_case open_hit(void)
{
    rigid_case c = rigid_open(
        NULL, "engine = 'grid', bodies = { { name = 'hammer', shape = box { size = {0.6, 0.1, 0.1} }, mass = 2, at = "
              "{0.3, 0, 0} }, { name = 'end', shape = box { size = 0.1 }, mass = 0.3, at = {0.65, 0, 0} }, { name = "
              "'floor', kind = 'static', shape = plane {}, at = {0, -0.3, 0} }, { name = 'soft', shape = box { size = "
              "0.2 }, at = {0.25, -0.2, 0}, cells = {2, 2, 2}, " JELLY
              " } }, joints = { { kind = 'hinge', a = 'hammer', at = {0, 0, 0}, axis = {0, 0, 1}, friction = 0.1, "
              "limits = {-1, 1} }, { kind = 'ball', a = 'end', b = 'hammer', at = {0.6, 0, 0} }, { kind = 'spring', a "
              "= 'end', at_b = {1, 0.4, 0}, stiffness = 20, damping = 0.1, length = 0.3 } }");
    go(&c, 0.15, 1e-2);
    return c;
}

static void the_same_bits(void **state)
{
    (void)state;
    rigid_threads_and_saves(open_hit, 6);
}

/* Every kind under a soft cube: places, momentum and solves. */
static void every_kind_acts(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "{ kind = 'fixed', a = 'a', compliance = 1e-4 }",
        "{ kind = 'ball', a = 'a', at = {0.3, 0, 0}, axis = {0, 1, 0}, limits = {0, 0.4} }",
        "{ kind = 'hinge', a = 'a', at = {0.3, 0, 0}, axis = {0, 0, 1}, limits = {-0.3, 0.3}, friction = 0.5 }",
        "{ kind = 'slider', a = 'a', at = {0, 0, 0}, axis = {0.3, 1, 0}, limits = {-0.05, 0.05} }",
        "{ kind = 'cylinder', a = 'a', at = {0, 0, 0}, axis = {0, 1, 0}, motor = { position = 0, stiffness = 5000, "
        "damping = 200 } }",
        "{ kind = 'screw', a = 'a', at = {0, 0, 0}, axis = {0, 1, 0}, pitch = 0.05, motor = { speed = 2, max = 3 } }",
        "{ kind = 'universal', a = 'a', at = {0.1, 0, 0}, axis = {1, 0, 0}, axis_b = {0, 0, 1} }",
        "{ kind = 'planar', a = 'a', at = {0, 0, 0}, axis = {0.2, 1, 0} }",
        "{ kind = 'distance', a = 'a', at_a = {0, 0.05, 0}, at_b = {0.1, 1, 0} }",
        "{ kind = 'rope', a = 'a', at_a = {0, 0.05, 0}, at_b = {0, 1, 0}, length = 1 }",
        "{ kind = 'spring', a = 'a', at_b = {0, 1, 0}, stiffness = 2000, damping = 20 }",
        "{ kind = 'gear', a = 'a', b = 'c', axis = {0, 0, 1}, ratio = -2 }, { kind = 'hinge', a = 'a', at = {0.1, 0, "
        "0}, axis = {0, 0, 1} }, { kind = 'hinge', a = 'c', at = {1, 0, 0}, axis = {0, 0, 1} }"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        rigid_case c =
            rigid_open(NULL,
                       "engine = 'grid', bodies = { { name = 'a', shape = box { size = {0.5, 0.1, 0.4} }, "
                       "mass = 3 }, { name = 'soft', shape = box { size = 0.2 }, at = {0, 0.16, 0}, cells = "
                       "{2, 2, 2}, " JELLY " }, { name = 'c', shape = box { size = 0.2 }, mass = 1, at = {1, "
                       "0, 0} } }, joints = { %s }",
                       kinds[k]);
        while (c.sim->state.t < 0.25) {
            rigid_step(&c, fmin(0.01, tl_rigid_dt_wanted(c.sim)));
            const tl_report *r = &c.sim->report;
            const double weight = r->accounts.mass * 9.81;
            if (k > 0) CHECK_LE(rigid_joints_off(&c), 1e-9);
            CHECK_LE(tl_vec3_norm(r->accounts.momentum_unexplained), 1e-12 * weight);
            CHECK_LE(r->accounts.energy_unexplained, 1e-4 * weight); /* m: an overlap that parts */
            for (int i = 0; i < r->solves; i++) CHECK_LE(r->solve[i].certificate, r->solve[i].target);
        }
        rigid_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_beside_a_soft_body),
        cmocka_unit_test(hammer_hits_a_block),
        cmocka_unit_test(motors_hold_soft_loads),
        cmocka_unit_test(light_links_hold_a_soft_load),
        cmocka_unit_test(breaks_under_a_soft_load),
        cmocka_unit_test(every_kind_acts),
        cmocka_unit_test(the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
