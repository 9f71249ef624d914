/* Sand comes to rest, keeps its volume and its own angle. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/world.h"
#include "model/grid/state.h"

#define PI 3.14159265358979323846

static talus_error err;

/* rest: what stands between the braces of scene { ... } after the usual keys. */
static tl_world open_case(const char *rest)
{
    tl_world c = {0};
    CHECK_OK(
        tl_world_open(&c, &err,
                      "local function sand(angle) return granular { density = 1600, friction_angle_deg = angle } end\n"
                      "return scene { talus = 1, engine = 'grid', duration = 10, fps = 50, %s }",
                      rest));
    return c;
}

static void run(tl_world *c, double t) { CHECK_OK(tl_world_until(c, t, 0, &err)); }

/* One grain on a floor, gravity turned by 20 degrees: its speed after some time, m/s. */
static double slide(double angle, double t)
{
    char rest[1024];
    const double tilt = 20 * PI / 180;
    snprintf(rest, sizeof rest,
             "dt_max = 5e-3, gravity = {%.17g, %.17g, 0}, grid = { cells = {40, 8, 8}, cell = 0.1 },"
             " fill = { { material = sand(%g), sampling = 'lattice', velocity = {0.4, 0, 0},"
             " shape = box { size = 0.05, center = {0.525, 0.025, 0.425} } } }",
             9.81 * sin(tilt), -9.81 * cos(tilt), angle);
    tl_world c = open_case(rest);
    assert_int_equal(tl_grid_state_of(&c.sim->state)->particles.count, 1);
    run(&c, t);
    double speed = tl_vec3_norm(tl_grid_state_of(&c.sim->state)->particles.particle[0].v);
    tl_world_close(&c);
    return speed;
}

/* Friction of a point is sin(angle): 30 degrees hold on the slope, 15 do not, and then a = g (sin 20 - sin 15 cos
 * 20) once the grain has landed. */
static void single_grain(void **state)
{
    (void)state;
    assert_true(slide(30, 0.05) > 0.1);
    CHECK_NEAR(slide(30, 0.5), 0, 1e-9);
    double a = 9.81 * (sin(20 * PI / 180) - sin(15 * PI / 180) * cos(20 * PI / 180));
    CHECK_REL((slide(15, 0.5) - slide(15, 0.3)) / 0.2, a,
              0.02); /* the way out of the floor differs from step to step */
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Speed that one grain in a thousand exceeds. */
static double speed_of_most(const tl_particles *p)
{
    double *v = malloc(sizeof *v * (size_t)p->count);
    assert_non_null(v);
    for (int64_t i = 0; i < p->count; i++) v[i] = tl_vec3_norm(p->particle[i].v);
    qsort(v, (size_t)p->count, sizeof *v, rising);
    double max = v[p->count * 999 / 1000];
    free(v);
    return max;
}

#define SLAB                                                                                                           \
    "dt_max = 5e-3, grid = { cells = {48, 16, 1}, cell = 0.025, origin = {-0.6, 0, 0}, periodic = {false, false, "     \
    "true}%s },"

/* Surface, foot and stray grains too: shear in the corners of the slope, grains that the floor holds, faces without
 * a pressure that go with the pile. Without any one of these, grains creep at centimetres per second for as long as
 * one looks. */
static void pile_rests(void **state)
{
    (void)state;
    double volume[2];
    for (int k = 0; k < 2; k++) {
        char rest[1024];
        snprintf(rest, sizeof rest,
                 "dt_max = 5e-3, grid = { cells = {96, 20, 1}, cell = 0.0125, origin = {-0.6, 0, 0}, periodic = "
                 "{false, false, "
                 "true}%s }, fill = { { material = sand(30), shape = box { size = {0.2, 0.2, 0.0125}, center = {0, "
                 "0.1, 0.00625} } } }",
                 k ? ", correct_density = false" : "");
        tl_world c = open_case(rest);
        run(&c, 0.3);
        assert_true(c.sim->report.fastest > 0.3);
        run(&c, 1);
        assert_true(speed_of_most(&tl_grid_state_of(&c.sim->state)->particles) < 1e-3);
        volume[k] = c.sim->report.volume_error;
        tl_world_close(&c);
    }
    CHECK_NEAR(volume[0], 0, 0.015);           /* 80 of 330 cells are at the surface */
    assert_true(volume[1] < volume[0] - 0.01); /* grains end up inside of each other */
}

/* In 3D the foot has corners of its own; of 20 degrees it is thin, and a fringe of single grains lies around it. */
static void round_piles_rest(void **state)
{
    (void)state;
    for (int angle = 20; angle <= 40; angle += 10) {
        char rest[1024];
        snprintf(rest, sizeof rest,
                 "dt_max = 0.01, grid = { cells = {32, 8, 32}, cell = 0.03125, origin = {-0.5, 0, -0.5} },"
                 " fill = { { material = sand(%d), shape = cylinder { radius = 0.16, height = 0.16, center "
                 "= {0, 0.08, 0} } } }",
                 angle);
        tl_world c = open_case(rest);
        run(&c, 1);
        assert_true(speed_of_most(&tl_grid_state_of(&c.sim->state)->particles) < 1e-3);
        /* a stray grain that the pile behind it speeds up would be metres per second */
        assert_true(c.sim->report.fastest < 0.01);
        tl_world_close(&c);
    }
}

/* Sand hits a free ball in free space: linear momentum of both is kept to rounding, whatever touches, goes with
 * something else or is put out of the ball. */
static void sand_hits_a_free_ball(void **state)
{
    (void)state;
    const char *const how[3] = {"", "solver = { edges = 'wall' },", "solver = { edges = 'strict', tolerance = 1e-2 },"};
    for (int k = 0; k < 3; k++) {
        char rest[1024];
        snprintf(
            rest, sizeof rest,
            "gravity = {0, 0, 0}, %s grid = { cells = {24, 16, 16}, cell = 0.03 },"
            " fill = { { material = sand(30), velocity = {1, 0.1, 0}, shape = box { size = 0.15, center = {0.13, "
            "0.22, 0.24} } } },"
            " bodies = { { name = 'ball', shape = sphere { radius = 0.07 }, at = {0.32, 0.25, 0.24}, density = %d } }",
            how[k], k == 1 ? 300 : 1500);
        tl_world c = open_case(rest);
        run(&c, 0.02);
        const tl_vec3 before = c.sim->report.momentum;
        run(&c, 0.26);
        const tl_vec3 after = c.sim->report.momentum;
        assert_true(c.sim->state.rigid.body[0].v.x > 0.1); /* it was hit */
        CHECK_NEAR(tl_vec3_norm(tl_vec3_sub(after, before)) / tl_vec3_norm(before), 0, 1e-12);
        tl_world_close(&c);
    }
}

/* The same beside that: each way covers other faces, some by no more than rounding, and a face that is the solid's
 * has to give all it gets to it. */
static void sand_hits_free_bodies(void **state)
{
    (void)state;
    static const struct {
        double v[3], gap, density;
        const char *shape;
    } of[] = {{{1, 0.1, 0}, 0, 1500, "sphere { radius = 0.07 }"},
              {{0.97, 0.05, 0.02}, 0, 1500, "sphere { radius = 0.07 }"},
              {{1, 0, 0}, 0, 1500, "sphere { radius = 0.07 }"},
              {{0.9, 0.13, -0.05}, 0, 1500, "sphere { radius = 0.07 }"},
              {{1.2, 0.02, 0}, 0, 1500, "sphere { radius = 0.07 }"},
              {{1.351, -0.063, 0.022}, 0.003, 300, "sphere { radius = 0.0714 }"},
              {{1.1, -0.1, 0.03}, -0.004, 4000, "sphere { radius = 0.0577 }"},
              {{1.1, 0.07, 0}, 0.002, 1500, "box { size = 0.12 }"},
              {{0.9, 0, 0.1}, 0.001, 800, "cylinder { radius = 0.06, height = 0.1 }"}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char rest[1024];
        snprintf(rest, sizeof rest,
                 "gravity = {0, 0, 0}, grid = { cells = {24, 16, 16}, cell = 0.03 },"
                 " fill = { { material = sand(30), velocity = {%g, %g, %g}, shape = box { size = 0.15, center = {0.13, "
                 "0.22, 0.24} } } },"
                 " bodies = { { name = 'body', shape = %s, at = {%g, 0.25, 0.24}, density = %g } }",
                 of[k].v[0], of[k].v[1], of[k].v[2], of[k].shape, 0.32 + of[k].gap, of[k].density);
        tl_world c = open_case(rest);
        run(&c, 0.02);
        const double all = tl_vec3_norm(c.sim->report.momentum);
        for (int frame = 2; frame <= 13; frame++) {
            const tl_vec3 before = c.sim->report.momentum;
            run(&c, 0.02 * frame);
            CHECK_NEAR(tl_vec3_norm(tl_vec3_sub(c.sim->report.momentum, before)) / all, 0, 2e-13);
        }
        assert_true(c.sim->state.rigid.body[0].v.x > 0.05); /* it was hit */
        tl_world_close(&c);
    }
}

/* Grains in a cup and beside a slanted board, of which solids cover all faces: what they have goes with them, or is
 * on the solid's account. */
static void covered_grains_keep_their_momentum(void **state)
{
    (void)state;
    static const char *const rest[] = {
        "gravity = {0, 0, 0}, grid = { cells = {28, 20, 20}, cell = 0.03 },"
        " fill = { { material = sand(30), velocity = {1.5, 0.1, 0.05}, shape = box { size = 0.12, center = {0.13, "
        "0.29, 0.3} } } },"
        " bodies = { { shape = cylinder { radius = 0.15, height = 0.2 } - cylinder { radius = 0.11, height = 0.2, "
        "center = {0, 0.05, 0} },"
        " at = {0.36, 0.3, 0.3}, rotation_deg = {0, 0, 70}, density = 900 } }",
        "grid = { cells = {64, 36, 12}, cell = 0.02, origin = {-0.64, 0, -0.12} },"
        " bodies = { { kind = 'static', shape = box { size = {0.9, 0.06, 0.4} }, at = {-0.3, 0.25, 0}, rotation_deg = "
        "{0, 0, -25},"
        " friction = 0.2, sand_friction = 'own' } },"
        " fill = { { material = sand(32), shape = box { size = {0.2, 0.12, 0.16}, center = {-0.4, 0.43, 0.003} } } }"};
    for (int k = 0; k < 2; k++) {
        tl_world c = open_case(rest[k]);
        double max = 0, worst = 0;
        for (int frame = 1; frame <= 20; frame++) {
            run(&c, 0.02 * frame);
            max = fmax(max, tl_vec3_norm(c.sim->report.momentum));
            worst = fmax(worst, tl_vec3_norm(c.sim->report.accounts.momentum_unexplained));
        }
        CHECK_LE(worst, 1e-12 * max);
        tl_world_close(&c);
    }
}

/* Sand that an emitter lets go is packed for a moment and then falls apart: stress of the last step without any
 * pressure in this one. It falls freely, whatever the rate. */
static void emitted_sand_falls(void **state)
{
    (void)state;
    const double rate[2] = {3e-4, 6e-4};
    for (int k = 0; k < 2; k++) {
        char rest[1024];
        snprintf(rest, sizeof rest,
                 "dt_max = 0.01, grid = { cells = {32, 48, 1}, cell = 0.01, periodic = {false, false, true} },"
                 " emitters = { { material = sand(30), rate = %g, velocity = {0, %g, 0},"
                 " shape = box { size = {0.06, 0.03, 0.01}, center = {0.16, 0.44, 0.005} } } }",
                 rate[k], -0.5 * k);
        tl_world c = open_case(rest);
        run(&c, 0.25);
        double fastest = 0;
        for (int64_t i = 0; i < tl_grid_state_of(&c.sim->state)->particles.count; i++)
            fastest = fmax(fastest, -tl_grid_state_of(&c.sim->state)->particles.particle[i].v.y);
        CHECK_REL(fastest, 9.81 * 0.25 + 0.5 * k,
                  0.1); /* the first grains, let go in the first steps; none has reached the floor */
        run(&c, 0.6);
        assert_true(tl_grid_state_of(&c.sim->state)->particles.count > 500);
        tl_world_close(&c);
    }
}

/* Loads of a silo 12 cells wide and four times as high, N: on the floor, friction and thrust of a wall. Sand is
 * dropped from `drop` m. */
static void weigh_silo(double drop, const char *solver, double *floor, double *shear, double *thrust, double *sum)
{
    char rest[1500];
    snprintf(
        rest, sizeof rest,
        "%s grid = { cells = {18, 66, 1}, cell = 0.01, periodic = {false, false, true}, origin = {-0.03, -0.03, 0} },"
        " bodies = { { name = 'floor', kind = 'static', shape = box { size = {0.18, 0.03, 0.5} }, at = {0.06, -0.015, "
        "0} }, { name = 'left', kind = 'static', shape = box { size = {0.03, 0.6, 0.5} }, at = {-0.015, 0.3, 0} },"
        " { name = 'right', kind = 'static', shape = box { size = {0.03, 0.6, 0.5} }, at = {0.135, 0.3, 0} } },"
        " fill = { { material = sand(30), shape = box { size = {0.12, 0.48, 0.01}, center = {0.06, %g, 0.005} } } }",
        solver, 0.24 + drop);
    tl_world c = open_case(rest);
    run(&c, 1.2);
    const tl_motion *m = c.sim->state.rigid.body;
    *floor = -m[0].fluid_force.y;
    *shear = -m[1].fluid_force.y;
    *thrust = -m[1].fluid_force.x;
    *sum = -(m[0].fluid_force.y + m[1].fluid_force.y + m[2].fluid_force.y);
    tl_world_close(&c);
}

/* Sand at rest has one stress, whatever it was before: walls carry what friction lets them (Janssen), pulled down by
 * the sand, and all loads add up to the weight. Without the rule the impact stays: 13 N of 11 on the floor, and
 * walls pushed up. */
static void silo_at_rest(void **state)
{
    (void)state;
    const double weight = 1600 * 9.81 * 0.12 * 0.48 * 0.01;
    double floor[4], shear, thrust, sum;
    const char *const solver[3] = {"", "solver = { tolerance = 1e-3 },", "solver = { tolerance = 1e-5, sweeps = 40 },"};
    for (int k = 0; k < 4; k++) {
        weigh_silo(k < 3 ? 0.03 : 0, k < 3 ? solver[k] : "", &floor[k], &shear, &thrust, &sum);
        CHECK_REL(sum, weight, k == 1 ? 5e-4 : 1e-4);
        assert_true(shear > 0);
        CHECK_REL(shear / thrust, 0.5, 0.06);     /* mobilised: sin of 30 degrees */
        CHECK_REL(floor[k] / weight, 0.432, 0.1); /* (1 - exp(-2)) / 2: K = 1 - sin, depth 2 W */
    }
    CHECK_REL(floor[1], floor[0], 0.02);
    CHECK_REL(floor[2], floor[0], 0.02);
    CHECK_REL(floor[3], floor[0], 0.06); /* grains lie otherwise after a fall */
    weigh_silo(0.03, "solver = { static_stress = 'none' },", &floor[0], &shear, &thrust, &sum);
    assert_true(floor[0] > 0.9 * weight);
}

/* A layer slides down floors with a friction of their own as a block would, in any direction; on a floor that is
 * rougher than the sand, as inside of it. */
static void sand_slips_on_floors(void **state)
{
    (void)state;
    const double mu[4] = {0, 0.3, 0.3, 2}, azimuth[4] = {0, 0, 0.5, 0};
    for (int k = 0; k < 4; k++) {
        char rest[1024];
        const double b = 0.5;
        snprintf(rest, sizeof rest,
                 "dt_max = 0.01, gravity = {%g, %g, %g}, grid = { cells = {4, 14, 4}, cell = 0.02, periodic = {true, "
                 "false, true} },"
                 " domain = { friction = %g, sand_friction = 'own' },"
                 " fill = { { material = sand(30), shape = box { size = {0.08, 0.16, 0.08}, center = {0.04, 0.08, "
                 "0.04} } } }",
                 9.81 * sin(b) * cos(azimuth[k]), -9.81 * cos(b), 9.81 * sin(b) * sin(azimuth[k]), mu[k]);
        tl_world c = open_case(rest);
        run(&c, 0.08);
        double before = hypot(c.sim->report.momentum.x, c.sim->report.momentum.z);
        run(&c, 0.16);
        double after = hypot(c.sim->report.momentum.x, c.sim->report.momentum.z);
        double mass = 1600 * c.sim->report.particle_volume;
        CHECK_NEAR((after - before) / mass / 0.08, 9.81 * (sin(b) - fmin(mu[k], 0.5) * cos(b)), 5e-3);
        tl_world_close(&c);
    }
}

/* Potential energy that a bank of cohesive sand with an upright side has lost after half a second, of what it had. */
static double lost_by_cut(double high)
{
    char rest[1024];
    snprintf(rest, sizeof rest,
             "dt_max = 0.01, grid = { cells = {40, 20, 1}, cell = 0.015, periodic = {false, false, true} },"
             " fill = { { material = granular { density = 1600, friction_angle_deg = 30, cohesion = 400 },"
             " shape = box { size = {0.3, %g, 0.015}, center = {0.15, %g, 0.0075} } } }",
             high, 0.5 * high);
    tl_world c = open_case(rest);
    run(&c, 0.01);
    double before = c.sim->report.potential;
    run(&c, 0.5);
    double lost = 1 - c.sim->report.potential / before;
    tl_world_close(&c);
    return lost;
}

/* An upright cut stands up to 4 c tan(45 + angle / 2) / (rho g), 0.177 m, by a plane of slip; cracks take some of
 * that. Layers hold c cos(angle) more than friction. */
static void cohesive_sand(void **state)
{
    (void)state;
    CHECK_LE(lost_by_cut(0.135), 0.01);
    assert_true(lost_by_cut(0.21) > 0.05);
    const double b = 40 * PI / 180, needs = 1600 * 9.81 * 0.16 * (sin(b) - 0.5 * cos(b)) / cos(PI / 6);
    for (int k = 0; k < 2; k++) {
        char rest[1024];
        snprintf(rest, sizeof rest,
                 "dt_max = 0.01, gravity = {%g, %g, 0}, grid = { cells = {4, 14, 1}, cell = 0.02, periodic = {true, "
                 "false, true} },"
                 " fill = { { material = granular { density = 1600, friction_angle_deg = 30, cohesion = %g },"
                 " shape = box { size = {0.08, 0.16, 0.02}, center = {0.04, 0.08, 0.01} } } }",
                 9.81 * sin(b), -9.81 * cos(b), (k ? 0.9 : 1.1) * needs);
        tl_world c = open_case(rest);
        run(&c, 0.3);
        double speed = c.sim->report.momentum.x / (1600 * c.sim->report.particle_volume);
        if (k)
            assert_true(speed > 0.05);
        else
            CHECK_LE(fabs(speed), 2e-3);
        tl_world_close(&c);
    }
}

/* With angle_means = "slope" a layer slips at the angle itself. Fast flow has the friction of its rate: between the
 * two angles, mu(I); with the size of grains alone up to 1.685 times the friction. */
static void angles_of_sand(void **state)
{
    (void)state;
    const double tilt[6] = {29, 31, 33, 33, 33, 33};
    const char *law[6] = {"", "", "", ", dynamic_friction_angle_deg = 40, grain_size = 0.02", ", grain_size = 0.02",
                          ""};
    double speed[6];
    char same[96];
    snprintf(same, sizeof same, ", dynamic_friction_angle_deg = %.17g, grain_size = 0.02",
             atan(1.685 * tan(PI / 6)) * 180 / PI);
    law[5] = same;
    for (int k = 0; k < 6; k++) {
        char rest[1024];
        const double b = tilt[k] * PI / 180;
        snprintf(rest, sizeof rest,
                 "dt_max = 0.01, gravity = {%g, %g, 0}, grid = { cells = {4, 14, 1}, cell = 0.02, periodic = {true, "
                 "false, true} },"
                 " fill = { { material = granular { density = 1600, friction_angle_deg = 30, angle_means = 'slope'%s },"
                 " shape = box { size = {0.08, 0.16, 0.02}, center = {0.04, 0.08, 0.01} } } }",
                 9.81 * sin(b), -9.81 * cos(b), law[k]);
        tl_world c = open_case(rest);
        run(&c, 0.6);
        speed[k] = c.sim->report.momentum.x / (1600 * c.sim->report.particle_volume);
        tl_world_close(&c);
    }
    CHECK_LE(fabs(speed[0]), 2e-3);
    CHECK_NEAR(speed[1], 0.6 * 9.81 * (sin(31 * PI / 180) - tan(PI / 6) * cos(31 * PI / 180)), 0.03);
    assert_true(speed[3] > 0.01 && speed[3] < 0.9 * speed[2]);
    assert_true(speed[4] > 0.01 && speed[4] < speed[3]);
    CHECK_NEAR(speed[4], speed[5], 1e-4);
}

/* Water that reaches sand ends the run with the reason, and the state as it was; as mud both go on. */
static void water_on_sand_is_refused(void **state)
{
    (void)state;
    for (int mud = 0; mud < 2; mud++) {
        char rest[1024];
        snprintf(
            rest, sizeof rest,
            "dt_max = 0.01, grid = { cells = {24, 12, 1}, cell = 0.025, periodic = {false, false, true}, mixture = "
            "'%s' },"
            " fill = { { material = sand(30), shape = box { size = {0.2, 0.1, 0.025}, center = {0.5, 0.05, 0.0125} } },"
            " { material = liquid { density = 1000 }, shape = box { size = {0.2, 0.2, 0.025}, center = {0.1, 0.1, "
            "0.0125} } } }",
            mud ? "mud" : "none");
        tl_world c = open_case(rest);
        talus_status status = TALUS_OK;
        while (status == TALUS_OK && c.sim->state.t < 0.3) status = tl_sim_step(c.sim, 0, 0.3, &err);
        assert_int_equal(status, mud ? TALUS_OK : TALUS_UNSUPPORTED);
        if (!mud) assert_non_null(strstr(err.message, "liquid covers sand at {"));
        tl_world_close(&c);
    }
}

/* Faces that are all but inside of the plate feel forces that nothing balances: with them, grains at its edge leave
 * at 15 times its speed whenever its lower side passes a face of the grid. */
static void pressed_plate(void **state)
{
    (void)state;
    tl_world c = open_case(
        "dt_max = 0.01, grid = { cells = {24, 16, 1}, cell = 0.025, periodic = {false, false, true} },"
        " fill = { { material = sand(30), shape = box { size = {0.6, 0.2, 0.025}, center = {0.3, 0.1, 0.0125} } } },"
        " bodies = { { name = 'plate', shape = box { size = {0.15, 0.075, 0.1} }, at = {0.3, 0.2425, 0.0125},"
        " motion = function(t) return { at = {0.3, 0.2425 - 0.1 * t, 0.0125} } end } }");
    double fastest = 0, force;
    while (c.sim->state.t < 0.82) {
        CHECK_OK(tl_sim_step(c.sim, 0, 0.82, &err));
        fastest = fmax(fastest, c.sim->report.fastest);
    }
    force = c.sim->state.rigid.body[0].fluid_force.y;
    assert_true(force > 80); /* N of 130 in the end: the sand is pressed */
    assert_true(fastest < 0.6);
    tl_world_close(&c);
}

/* Where 99 % of a material's grains are, from the middle. */
static double reach_of(const tl_particles *p, int material)
{
    double *x = malloc(sizeof *x * (size_t)p->count);
    int64_t n = 0;
    assert_non_null(x);
    for (int64_t i = 0; i < p->count; i++)
        if (p->particle[i].material == material) x[n++] = fabs(p->particle[i].x.x);
    assert_true(n > 50);
    qsort(x, (size_t)n, sizeof *x, rising);
    double far = x[n * 99 / 100];
    free(x);
    return far;
}

static void two_sands(void **state)
{
    (void)state;
    char rest[1024];
    snprintf(
        rest, sizeof rest,
        SLAB
        " fill = { { material = sand(20), shape = box { size = {0.1, 0.2, 0.025}, center = {-0.05, 0.1, 0.0125} } },"
        " { material = sand(40), shape = box { size = {0.1, 0.2, 0.025}, center = {0.05, 0.1, 0.0125} } } }",
        "");
    tl_world c = open_case(rest);
    run(&c, 0.8);
    const tl_particles *p = &tl_grid_state_of(&c.sim->state)->particles;
    int smooth = c.scene->fills[0].material, rough = c.scene->fills[1].material;
    assert_true(reach_of(p, smooth) > 1.2 * reach_of(p, rough));
    tl_world_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_grain),          cmocka_unit_test(pile_rests),
        cmocka_unit_test(round_piles_rest),      cmocka_unit_test(emitted_sand_falls),
        cmocka_unit_test(silo_at_rest),          cmocka_unit_test(sand_hits_a_free_ball),
        cmocka_unit_test(sand_hits_free_bodies), cmocka_unit_test(covered_grains_keep_their_momentum),
        cmocka_unit_test(pressed_plate),         cmocka_unit_test(water_on_sand_is_refused),
        cmocka_unit_test(cohesive_sand),         cmocka_unit_test(angles_of_sand),
        cmocka_unit_test(sand_slips_on_floors),  cmocka_unit_test(two_sands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
