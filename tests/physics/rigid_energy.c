#include "check.h"

#include "phase/rigid/rigid.h"
#include "rigid.h"

/* Energy of bodies that fall, land, bounce and rub never rises: by more than 1e-9 of itself in no step, whatever
 * restitution and friction. Rounding, and what the solver's target of 1e-8 m/s lets a body at rest creep up, stay
 * below. */

static const char *const crowd =
    "function crowd(seed, count, mu, e) math.randomseed(seed) local list = {}\n"
    "  for k = 0, count - 1 do\n"
    "    local r = function(a, b) return a + (b - a) * math.random() end\n"
    "    local shape = k % 3 == 1 and sphere { radius = r(0.04, 0.07) } or box { size = {r(0.08, 0.14), r(0.08, 0.14), "
    "r(0.08, 0.14)} }\n"
    "    list[k + 1] = { shape = shape, density = 1000, friction = mu, restitution = e,\n"
    "      at = {(k % 3 - 1) * 0.25, 0.4 + 0.3 * (k // 9), (k // 3 % 3 - 1) * 0.25},\n"
    "      rotation_deg = {r(0, 360), r(0, 360), r(0, 360)}, spin_rad_per_s = {r(-5, 5), r(-5, 5), r(-5, 5)} }\n"
    "  end\n"
    "  return list\n"
    "end\n";

static void energy_never_rises(void **state)
{
    (void)state;
    static const int counts[] = {1, 9, 30};
    static const double e[] = {0, 0.3, 0.7, 1}, mu[] = {0, 0.5};
    for (int n = 0; n < 3; n++)
        for (int k = 0; k < 8; k++) {
            rigid_case c = rigid_open(
                crowd,
                "fps = 200, dt_max = 0.005, domain = { min = {-0.5, 0, -0.5}, max = {0.5, 20, 0.5}, friction = %g, "
                "restitution = %g, y_max = 'open' }, bodies = crowd(%d, %d, %g, %g)",
                mu[k % 2], e[k / 2], 11 * n + k, counts[n], mu[k % 2], e[k / 2]);
            double max = 0, last = NAN;
            while (c.sim->state.t < (n < 2 ? 1.2 : 0.7)) {
                rigid_step(&c, fmin(0.005, tl_rigid_dt_wanted(c.sim)));
                double now = c.sim->report.kinetic + c.sim->report.potential;
                if (now > last) max = fmax(max, (now - last) / fabs(last));
                last = now;
            }
            CHECK_LE(max, 1e-9);
            rigid_close(&c);
        }
}

/* Boxes, balls, cylinders and capsules, poured. Samples of cylinders let impacts sink in, and pushing them out again
 * made energy: 2e-4 in single steps. */
static void energy_of_mixed_pours(void **state)
{
    (void)state;
    static const double mu[] = {0.5, 0}, e[] = {0, 0.5};
    for (int seed = 1; seed <= 4; seed++) {
        rigid_case c = rigid_open(
            "function pour(seed, mu, e) math.randomseed(seed) local list = {}\n"
            "  local function r(a, b) return a + (b - a) * math.random() end\n"
            "  for i = 0, 11 do\n"
            "    local shape = i % 4 == 0 and box { size = {r(.05, .09), r(.05, .09), r(.05, .09)} } or i % 4 == 1 and "
            "sphere { radius = r(.03, .05) } or i % 4 == 2 and cylinder { radius = r(.025, .045), height = r(.05, .08) "
            "} or capsule { from = {0, -.02, 0}, to = {0, .02, 0}, radius = r(.02, .03) }\n"
            "    list[i + 1] = { shape = shape, density = 500 * math.random(1, 3), friction = mu, restitution = e,\n"
            "      at = {(i % 2 - .5) * .15 + r(-.01, .01), .15 + .16 * (i // 4), (i // 2 % 2 - .5) * .15 + r(-.01, "
            ".01)}, rotation_deg = {r(0, 360), r(0, 360), r(0, 360)} }\n"
            "  end\n"
            "  return list\n"
            "end\n",
            "domain = { min = {-.175, 0, -.175}, max = {.175, 5, .175}, friction = %g, y_max = 'open' }, bodies = "
            "pour(%d, %g, %g)",
            mu[seed % 2], seed, mu[seed % 2], e[seed / 3]);
        double last = NAN;
        while (c.sim->state.t < 0.6) {
            rigid_step(&c, fmin(0.01, tl_rigid_dt_wanted(c.sim)));
            double now = c.sim->report.kinetic + c.sim->report.potential;
            if (now > last) CHECK_LE((now - last) / fabs(last), 1e-9);
            CHECK_LE(c.sim->report.penetration, 0.005 * 0.04);
            last = now;
        }
        rigid_close(&c);
    }
}

/* The same for tori that hang in each other and swing. */
static void energy_of_a_chain(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        "local list = { { kind = 'static', shape = torus { radius = 0.1, tube = 0.02 }, at = {0, 1, 0}, rotation_deg = "
        "{90, 0, 0}, friction = 0.3 } }\n"
        "for k = 1, 5 do list[k + 1] = { shape = torus { radius = 0.1, tube = 0.02 }, density = 1000, friction = 0.3, "
        "at = {0.155 * k, 1, 0}, rotation_deg = {90 * ((k + 1) % 2), 0, 0} } end\n",
        "bodies = list");
    double last = NAN;
    while (c.sim->state.t < 1.2) {
        rigid_step(&c, fmin(0.01, tl_rigid_dt_wanted(c.sim)));
        double now = c.sim->report.kinetic + c.sim->report.potential;
        if (now > last) CHECK_LE((now - last) / fabs(last), 1e-9);
        last = now;
    }
    rigid_close(&c);
}

/* A ball comes back to e^2 of its height, every time, in long steps and short: flight is exact, and the energy of an
 * impact is counted where it happens. */
static void a_ball_keeps_e2_of_its_height(void **state)
{
    (void)state;
    static const double e[] = {1, 0.9, 0.5}, dt[] = {0.01, 0.005, 0.013};
    for (int k = 0; k < 9; k++) {
        rigid_case c = rigid_open(NULL,
                                  "domain = { min = {-5, 0, -5}, max = {5, 20, 5}, restitution = %g, y_max = 'open' }, "
                                  "bodies = { { name = 'b', shape = sphere { radius = 0.1 }, mass = 1, restitution = "
                                  "%g, at = {0, 1.1, 0} } }",
                                  e[k % 3], e[k % 3]);
        double was = 0;
        int bounces = 0;
        while (c.sim->state.t < 4 && bounces < 4) {
            rigid_step(&c, dt[k / 3]);
            const tl_motion *m = rigid_body(&c, "b");
            if (was < 0 && m->v.y > 0) {
                double height = m->x.y - 0.1 + 0.5 * m->v.y * m->v.y / 9.81;
                CHECK_NEAR(height / pow(e[k % 3], 2 * ++bounces), 1, 1e-6);
            }
            was = m->v.y;
        }
        assert_true(bounces == 4);
        rigid_close(&c);
    }
}

/* Without anything near, a body falls on its parabola, and a spinning one keeps energy and angular momentum. */
static void flight_is_exact(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL, "bodies = { { name = 'b', shape = box { size = {0.4, 0.2, 0.1} }, density = 1000, velocity = {1, 2, 3}, "
              "spin_rad_per_s = {3, 7, -5} } }");
    rigid_step(&c, 1e-9);
    tl_report first = c.sim->report;
    rigid_run(&c, 2);
    const tl_motion *m = rigid_body(&c, "b");
    CHECK_NEAR(m->x.y, 2 * 2 - 0.5 * 9.81 * 4, 1e-7);
    CHECK_NEAR(m->x.x, 2, 1e-7);
    CHECK_NEAR(c.sim->report.kinetic + c.sim->report.potential, first.kinetic + first.potential, 1e-9 * first.kinetic);
    rigid_close(&c);
}

/* Five balls that touch, the first comes at 1 m/s: together they part as one row, in sequence the last one leaves
 * alone. Both keep momentum and energy. */
static void cradle(void **state)
{
    (void)state;
    static const char *const words[] = {"together", "sequence"};
    for (int k = 0; k < 2; k++) {
        rigid_case c =
            rigid_open("local row = {}\nfor k = 0, 4 do row[k + 1] = { name = 'b' .. k, shape = sphere { radius = 0.05 "
                       "}, mass = 1, "
                       "friction = 0, restitution = 1, at = {0.1 * k - (k == 0 and 0.173 or 0), 0, 0}, velocity = {k "
                       "== 0 and 1 or 0, 0, 0} } end\n",
                       "gravity = {0, 0, 0}, solver = { contact = { impacts = '%s' } }, bodies = row", words[k]);
        rigid_run(&c, 0.5);
        CHECK_NEAR(c.sim->report.kinetic, 0.5, 1e-9);
        CHECK_NEAR(c.sim->report.momentum.x, 1, 1e-9);
        CHECK_NEAR(rigid_body(&c, "b4")->v.x, k ? 1 : 0.4, 1e-6);
        CHECK_NEAR(rigid_body(&c, "b0")->v.x, k ? 0 : -0.6, 1e-6);
        rigid_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_never_rises), cmocka_unit_test(energy_of_mixed_pours),
        cmocka_unit_test(energy_of_a_chain),  cmocka_unit_test(a_ball_keeps_e2_of_its_height),
        cmocka_unit_test(flight_is_exact),    cmocka_unit_test(cradle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
