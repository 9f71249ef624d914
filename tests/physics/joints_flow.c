/* Joints in what flows: forces of what hangs, floats and is carried, momentum, places, the same bits again. */
#include "check.h"

#include <string.h>

#include "base/parallel.h"
#include "rigid.h"
#include "saved.h"

/* Places of all joints, m, momentum that nothing explains, and solves that all reached their targets. */
static void check_step(const rigid_case *c)
{
    const tl_report *r = &c->sim->report;
    CHECK_LE(rigid_joints_off(c), 1e-7 * c->scene->grid.cell);
    CHECK_LE(tl_vec3_norm(r->accounts.momentum_unexplained), 1e-12 * r->accounts.mass);
    CHECK_LE(fabs(r->accounts.energy_unexplained), 1e-9 * r->accounts.mass * r->accounts.gyration);
    for (int k = 0; k < r->solves; k++) CHECK_LE(r->solve[k].certificate, r->solve[k].target);
}

/* A ball in still liquid, above or below what holds it: weight less buoyancy. `up`: which way, and the cell. */
typedef struct hanging {
    const char *kind, *material, *scheme;
    double density, cell;
    int up; /* axis against gravity */
} hanging;

static double force_of_hanging(const hanging *h)
{
    const double d = h->cell, side = h->density > 1000 ? 1 : -1;
    double at[3] = {7 * d, 7 * d, 7 * d}, from[3], g[3] = {0, 0, 0}, size[3] = {14 * d, 14 * d, 14 * d},
           centre[3] = {7 * d, 7 * d, 7 * d};
    memcpy(from, at, sizeof at);
    at[h->up] = 6 * d;
    from[h->up] = at[h->up] + side * 4 * d;
    g[h->up] = -9.81;
    size[h->up] = 12 * d;
    centre[h->up] = 6 * d;
    rigid_case c = rigid_open(
        NULL,
        "grid = { cells = {14, 14, 14}, cell = %g }, gravity = {%g, %g, %g}, fill = { { material = %s, shape = box { "
        "size = {%g, %g, %g}, center = {%g, %g, %g} } } }, bodies = { { name = 'ball', shape = sphere { radius = %g }, "
        "density = %g, at = {%g, %g, %g} } }, joints = { { kind = '%s', a = 'ball', %s = {%g, %g, %g} } }, solver = { "
        "%s }",
        d, g[0], g[1], g[2], h->material, size[0], size[1], size[2], centre[0], centre[1], centre[2], 3 * d, h->density,
        at[0], at[1], at[2], h->kind, strcmp(h->kind, "ball") ? "at_a = {0, 0, 0}, at_b" : "at", from[0], from[1],
        from[2], h->scheme);
    for (int k = 0; k < 4; k++) {
        rigid_step(&c, 0.1 * sqrt(d)); /* as many parts of the time in which it would fall a cell, whatever its size */
        check_step(&c);
    }
    const tl_vec3 f = rigid_joint(&c, 0)->on_a;
    const double all[3] = {f.x, f.y, f.z}, volume = 4.0 / 3 * acos(-1.0) * pow(3 * d, 3);
    rigid_close(&c);
    return all[h->up] / ((h->density - 1000) * 9.81 * volume);
}

#define WATER "liquid { density = 1000 }"

static void hangs_with_weight_less_buoyancy(void **state)
{
    (void)state;
    static const hanging cases[] = {{"ball", WATER, "", 2500, 0.025, 1},
                                    {"rope", WATER, "", 2500, 0.005, 0},
                                    {"distance", WATER, "scheme = 't-pn'", 100, 0.5, 2},
                                    {"ball", WATER, "scheme = 't-p-n'", 1e7, 0.025, 0},
                                    {"rope", WATER, "scheme = 'tn-pn'", 100, 0.025, 1},
                                    {"ball", "viscous { density = 1000, viscosity = 10 }", "", 500, 0.025, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) CHECK_LE(fabs(force_of_hanging(&cases[k]) - 1), 1e-3);
}

/* Sand, or water, in a bucket on a hinge: all of the weight. */
static void bucket_carries(void **state)
{
    (void)state;
    static const char *const of[] = {"granular { density = 1600, friction_angle_deg = 35 }", WATER};
    static const char *const scheme[] = {"", "scheme = 't-f-pn'", "scheme = 'p-tn'"};
    for (int k = 0; k < 3; k++) {
        rigid_case c = rigid_open(
            NULL,
            "grid = { cells = {14, 14, 14}, cell = 0.05 }, fill = { { material = %s, shape = box { size = {0.2, 0.125, "
            "0.2}, center = {0.35, 0.3175, 0.35} } } }, bodies = { { name = 'bucket', shape = box { size = {0.4, 0.25, "
            "0.4} } - box { size = {0.2, 0.25, 0.2}, center = {0, 0.1, 0} }, density = 2000, at = {0.35, 0.28, 0.35} } "
            "}, joints = { { kind = 'hinge', a = 'bucket', at = {0.35, 0.48, 0.35}, axis = {0, 0, 1} } }, solver = { "
            "%s }",
            of[k == 2], scheme[k]);
        double sum = 0;
        for (int i = 0; i < 30; i++) {
            rigid_step(&c, 0.01);
            check_step(&c);
            if (i >= 20) sum += rigid_joint(&c, 0)->on_a.y / 10;
        }
        CHECK_LE(fabs(sum / (9.81 * c.sim->report.accounts.mass) - 1), 1e-3);
        rigid_close(&c);
    }
}

/* A rod on a hinge that swings in water: it loses what it has, and the anchor stays. In all directions alike. */
static void pendulum_loses_energy(void **state)
{
    (void)state;
    double first = NAN, angle = NAN;
    for (int flip = 0; flip < 2; flip++) {
        rigid_case c = rigid_open(
            NULL,
            "grid = { cells = {16, 16, 10}, cell = 0.04 }, gravity = {0, %g, 0}, fill = { { material = " WATER
            ", shape = box { size = {0.64, 0.52, 0.4}, center = {0.32, %g, 0.2} } } }, bodies = { { name = 'rod', "
            "shape "
            "= box { size = {0.1, 0.3, 0.1} }, density = 3000, at = {0.38, %g, 0.2}, rotation_deg = {0, 0, %d} } }, "
            "joints = { { kind = 'hinge', a = 'rod', at = {0.32, %g, 0.2}, axis = {0, 0, %d} } }",
            flip ? 9.81 : -9.81, flip ? 0.64 - 0.26 : 0.26, flip ? 0.64 - 0.24 : 0.24, flip ? -30 : 30,
            flip ? 0.64 - 0.4 : 0.4, flip ? -1 : 1);
        for (int i = 0; i < 40; i++) {
            rigid_step(&c, 0.005);
            check_step(&c);
            const double now = c.sim->report.kinetic + c.sim->report.potential;
            if (i == 0) first = now;
            CHECK_LE(now - first, 1e-9 * fabs(first));
        }
        assert_true(rigid_joint(&c, 0)->position < -0.05);                    /* it moves */
        if (flip) CHECK_LE(fabs(rigid_joint(&c, 0)->position - angle), 1e-4); /* what solves are right to */
        angle = rigid_joint(&c, 0)->position;
        rigid_close(&c);
    }
}

/* Two floats on a hinge, one of them driven against a limit, in water that also carries a stone on a rope. */
static rigid_case open_floats(void)
{
    rigid_case c = rigid_open(
        NULL,
        "grid = { cells = {24, 14, 12}, cell = 0.05 }, fill = { { material = " WATER
        ", shape = box { size = {1.2, 0.4, 0.6}, center = {0.6, 0.2, 0.3} } } }, bodies = { { name = 'a', shape = box "
        "{ "
        "size = {0.3, 0.15, 0.2} }, density = 500, at = {0.4, 0.42, 0.3} }, { name = 'b', shape = box { size = {0.3, "
        "0.15, 0.2} }, density = 300, at = {0.72, 0.42, 0.3} }, { name = 'stone', shape = sphere { radius = 0.08 }, "
        "density = 2500, at = {0.4, 0.2, 0.3} } }, joints = { { kind = 'hinge', a = 'a', b = 'b', at = {0.56, 0.45, "
        "0.3}, axis = {0, 0, 1}, limits = {-0.4, 0.4}, motor = { speed = 1, max = 3 } }, { kind = 'rope', a = 'stone', "
        "b = 'a', at_a = {0, 0, 0}, at_b = {0, 0, 0} } }");
    for (int k = 0; k < 3; k++) rigid_step(&c, 0.01);
    return c;
}

static void floats_keep_momentum(void **state)
{
    (void)state;
    rigid_case c = open_floats();
    for (int k = 0; k < 20; k++) {
        rigid_step(&c, 0.01);
        const tl_report *r = &c.sim->report;
        CHECK_LE(tl_vec3_norm(r->accounts.momentum_unexplained), 1e-12 * r->accounts.mass);
    }
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
        check_saved_goes_on(c.sim, c.scene, 2, 0.01);
        hash[threads - 1] = tl_state_hash(&c.sim->state);
        rigid_close(&c);
    }
    tl_threads_set(before);
    assert_true(hash[0] == hash[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hangs_with_weight_less_buoyancy),
        cmocka_unit_test(bucket_carries),
        cmocka_unit_test(pendulum_loses_energy),
        cmocka_unit_test(floats_keep_momentum),
        cmocka_unit_test(same_bits_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
