#include "check.h"

#include "phase/rigid/rigid.h"
#include "rigid.h"

/* Rolling and spinning friction: lengths that, times the normal force, bound the torque at a contact. */

#define G 9.81
#define RADIUS 0.1

typedef struct wheel {
    const char *shape, *turned;
    double inertia; /* over m R^2 */
} wheel;

static const wheel wheels[] = {
    {"sphere { radius = 0.1 }", "{0, 0, 0}", 0.4},
    {"cylinder { radius = 0.1, height = 0.05 }", "{90, 0, 0}", 0.5},
    {"torus { radius = 0.075, tube = 0.025 }", "{90, 0, 0}", 0.5625 + 0.75 * 0.0625},
};

/* On a slope of a rad, from a speed, for a second: mean acceleration. Energy never rises. */
static double accelerate(const wheel *w, double rolling, double a, double speed, double dt)
{
    rigid_case c = rigid_open(
        NULL,
        "gravity = {%.17g, %.17g, 0}, bodies = { { kind = 'static', shape = half_space {}, friction = 0.8 }, { name = "
        "'w', shape = %s, density = 800, friction = 0.8, rolling_friction = %.17g, at = {0, 0.1, 0}, rotation_deg = "
        "%s, velocity = {%.17g, 0, 0}, spin_rad_per_s = {0, 0, %.17g} } }",
        G * sin(a), -G * cos(a), w->shape, rolling, w->turned, speed, -speed / RADIUS);
    double last = NAN;
    while (c.sim->state.t < 1) {
        rigid_step(&c, fmin(dt, tl_rigid_dt_wanted(c.sim)));
        double now = c.sim->report.kinetic + c.sim->report.potential;
        if (now > last) CHECK_LE((now - last) / fabs(last), 1e-9);
        last = now;
        assert_string_equal(c.sim->report.solve[0].outcome, "converged");
    }
    double out = (rigid_body(&c, "w")->v.x - speed) / c.sim->state.t;
    CHECK_NEAR(-rigid_body(&c, "w")->w.z * RADIUS, rigid_body(&c, "w")->v.x, 1e-3);
    rigid_close(&c);
    return out;
}

/* a = (g sin - g cos mu_r / R) / (1 + I / m R^2), on the level, uphill and down; below tan = mu_r / R it stays. */
static void wheels_slow_down(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof wheels / sizeof *wheels; k++) {
        const wheel *w = &wheels[k];
        const double rolling = 0.002, slow = G * rolling / RADIUS / (1 + w->inertia);
        CHECK_NEAR(accelerate(w, rolling, 0, 2, 0.01) / -slow, 1, 5e-3);
        CHECK_NEAR(accelerate(w, rolling, 0, 2, 0.004) / -slow, 1, 5e-3);
        CHECK_NEAR(accelerate(w, 5 * rolling, 0, 3, 0.01) / -slow, 5, 5e-2);
        double limit = atan(rolling / RADIUS);
        CHECK_NEAR(accelerate(w, rolling, 0.98 * limit, 0, 0.01), 0, 1e-8);
        for (int steep = 1; steep < 3; steep++) {
            double a = limit * (steep == 1 ? 1.02 : 4),
                   wanted = (G * sin(a) - G * cos(a) * rolling / RADIUS) / (1 + w->inertia);
            CHECK_NEAR(accelerate(w, rolling, a, 0, 0.01), wanted, 1e-2 * wanted);
        }
    }
}

/* A ball that spins on the spot stops after w I / (mu_s m g), and stays where it is; without, it spins on. */
static void spinning_stops(void **state)
{
    (void)state;
    static const double length[] = {0.01, 0.002, 0};
    for (int k = 0; k < 3; k++) {
        rigid_case c = rigid_open(
            NULL,
            "bodies = { { name = 'floor', kind = 'static', shape = half_space {}, friction = 0.8 }, { name = "
            "'b', shape = sphere { radius = 0.1 }, density = 1000, friction = 0.8, spinning_friction = 0.5, at = "
            "{0, 0.1, 0}, spin_rad_per_s = {0, 12, 0} } }, contacts = { { between = {'b', 'floor'}, "
            "spinning_friction = %.17g } }",
            length[k]);
        double stops = length[k] > 0 ? 12 * 0.4 * RADIUS * RADIUS / (length[k] * G) : INFINITY,
               end = fmin(1.5 * stops, 0.5);
        while (c.sim->state.t < end) {
            rigid_step(&c, 0.01);
            double t = c.sim->state.t;
            CHECK_NEAR(rigid_body(&c, "b")->w.y, 12 * fmax(0, 1 - t / stops), 1e-6);
        }
        CHECK_NEAR(rigid_body(&c, "b")->x.x, 0, 1e-9);
        rigid_close(&c);
    }
}

/* Two balls, one on the other, between walls, that roll on each other: angular momentum of both is changed by
 * nothing but their contacts with what stands; and a heap of balls comes to rest. */
static void heaps_rest(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        "local list = { { kind = 'static', shape = half_space {}, friction = 0.6 } }\n"
        "for k = 0, 9 do list[#list + 1] = { shape = sphere { radius = 0.05 }, density = 1000, friction = 0.6, "
        "rolling_friction = 0.003, spinning_friction = 0.001, at = {0.06 * (k % 2), 0.06 + 0.11 * k, 0.02 * (k % 3)} } "
        "end\n",
        "bodies = list");
    double last = NAN;
    while (c.sim->state.t < 3) {
        rigid_step(&c, fmin(0.01, tl_rigid_dt_wanted(c.sim)));
        double now = c.sim->report.kinetic + c.sim->report.potential;
        if (now > last) CHECK_LE((now - last) / fabs(last), 1e-9);
        last = now;
    }
    CHECK_LE(c.sim->report.kinetic, 1e-8);
    rigid_close(&c);
}

/* A body's own key, its material's, the walls' and a pair's: the same motion; the larger of both sides counts, and a
 * pair's decides. */
static void from_materials_and_walls(void **state)
{
    (void)state;
    static const struct {
        const char *walls, *material, *body, *contacts;
    } ways[] = {{"", "", "rolling_friction = 0.004, spinning_friction = 0.002,", ""},
                {"", "rolling_friction = 0.004, spinning_friction = 0.002,", "", ""},
                {"rolling_friction = 0.004, spinning_friction = 0.002,", "", "", ""},
                {"rolling_friction = 0.004,", "spinning_friction = 0.002,", "rolling_friction = 0.001,", ""},
                {"rolling_friction = 0.1,", "spinning_friction = 0.1,", "",
                 "contacts = { { between = {'m', 'walls'}, rolling_friction = 0.004, spinning_friction = 0.002 } },"}};
    tl_motion first = {.x = {0, 0, 0}};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        rigid_case c = rigid_open(
            NULL,
            "domain = { min = {-5, 0, -5}, max = {5, 5, 5}, friction = 0.8, %s }, %s bodies = { { name = 'w', shape = "
            "sphere { radius = 0.1 }, material = solid { name = 'm', density = 800, friction = 0.8, %s }, %s at = {0, "
            "0.1, 0}, velocity = {1, 0, 0}, spin_rad_per_s = {0, 3, -10} } }",
            ways[k].walls, ways[k].contacts, ways[k].material, ways[k].body);
        rigid_run(&c, 0.5);
        const tl_motion *m = rigid_body(&c, "w");
        if (k == 0) first = *m;
        CHECK_NEAR(m->v.x, 1 - 0.5 * G * 0.004 / RADIUS / 1.4, 2e-3);
        CHECK_LE(m->w.y, 3 - 0.5);
        CHECK_NEAR(tl_vec3_norm(tl_vec3_sub(m->x, first.x)), 0, 0);
        CHECK_NEAR(tl_vec3_norm(tl_vec3_sub(m->w, first.w)), 0, 0);
        rigid_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_materials_and_walls),
        cmocka_unit_test(wheels_slow_down),
        cmocka_unit_test(spinning_stops),
        cmocka_unit_test(heaps_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
