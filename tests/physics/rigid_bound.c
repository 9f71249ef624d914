/* solver.contact.bound: chains of rings and gears make no energy, where steps along chords and overlaps that are
 * pushed apart would; what is taken keeps momentum and angular momentum of what flies. */
#include "check.h"

#include "phase/rigid/rigid.h"
#include "rigid.h"

/* Largest rise of the energy in a step, of itself. */
static double worst_rise(rigid_case *c, double seconds, double dt)
{
    double max = 0, last = NAN;
    while (c->sim->state.t < seconds) {
        rigid_step(c, fmin(dt, tl_rigid_dt_wanted(c->sim)));
        const double now = c->sim->report.kinetic + c->sim->report.potential;
        if (now > last) max = fmax(max, (now - last) / fabs(last));
        last = now;
        CHECK_LE(tl_vec3_norm(c->sim->report.accounts.momentum_unexplained), 1e-10);
    }
    return max;
}

/* A chain of rings that swings down from its first link, sizes from 2 cm to 2 m. */
static void chains(void **state)
{
    (void)state;
    static const double size[] = {0.1, 0.01, 1}, mu[] = {0, 0.3, 0};
    for (int k = 0; k < 4; k++) {
        const double r = size[k % 3];
        rigid_case c = rigid_open("function chain(n, r, mu) local list = { { kind = 'static', shape = torus { radius = "
                                  "r, tube = 0.2 * r }, at = "
                                  "{0, 10 * r, 0}, rotation_deg = {90, 0, 0}, friction = mu } } for k = 1, n do list[k "
                                  "+ 1] = { shape = torus { radius "
                                  "= r, tube = 0.2 * r }, density = 1000, friction = mu, at = {1.55 * r * k, 10 * r, "
                                  "0}, rotation_deg = {90 * ((k + 1) "
                                  "% 2), 0, 0} } end return list end\n",
                                  "solver = { contact = { bound = %s } }, bodies = chain(5, %g, %g)",
                                  k < 3 ? "true" : "false", r, mu[k % 3]);
        const double scale = sqrt(r / 0.1), rise = worst_rise(&c, 0.7 * scale, 0.01 * scale);
        if (k < 3)
            CHECK_LE(rise, 1e-9);
        else
            assert_true(rise > 1e-5); /* without it */
        rigid_close(&c);
    }
}

static void gears(void **state)
{
    (void)state;
    static const char *const gear = "function gear(n, r) local parts = { cylinder { radius = r, height = 0.04 } } for "
                                    "i = 1, n do local a = math.rad(360 * i / "
                                    "n) parts[#parts + 1] = box { size = {0.03, 0.04, 0.03} }:move { (r + 0.01) * "
                                    "math.cos(a), 0, -(r + 0.01) * math.sin(a) } "
                                    "end return union(parts) end\n";
    for (int k = 0; k < 2; k++) {
        rigid_case c = rigid_open(gear,
                                  "solver = { contact = { bound = %s } }, domain = { min = {-1, 0, -1}, max = {1, 3, "
                                  "1}, friction = 0, y_max = 'open' }, "
                                  "bodies = { { shape = gear(12, 0.12), density = 1000, friction = 0, at = {0, 0.02, "
                                  "0}, spin_rad_per_s = {0, 10, 0} }, "
                                  "{ shape = gear(12, 0.12), density = 1000, friction = 0, at = {0.275, 0.02, 0}, "
                                  "rotation_deg = {0, 15, 0} } }",
                                  k ? "false" : "true");
        const double rise = worst_rise(&c, 0.6, 0.01);
        if (k == 0)
            CHECK_LE(rise, 1e-9);
        else
            assert_true(rise > 1e-6);
        rigid_close(&c);
    }
}

/* Two linked rings that fly: what is taken from their inner motion leaves momentum and angular momentum. */
static void flying_rings_keep_momentum(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL, "gravity = {0, 0, 0}, bodies = { { shape = torus { radius = 0.1, tube = 0.02 }, density = 1000, velocity "
              "= {1, 2, 0}, "
              "spin_rad_per_s = {5, 0, 9}, friction = 0 }, { shape = torus { radius = 0.1, tube = 0.02 }, density = "
              "500, friction = 0, "
              "at = {0.15, 0, 0}, rotation_deg = {90, 0, 0}, velocity = {-1, 0, 1}, spin_rad_per_s = {0, 7, 0} } }");
    rigid_step(&c, 1e-6);
    const tl_vec3 p = c.sim->report.momentum, L = c.sim->report.angular_momentum;
    CHECK_LE(worst_rise(&c, 1, 0.01), 1e-9);
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(c.sim->report.momentum, p)), 1e-12 * tl_vec3_norm(p));
    /* 3e-5, with the bound and without: places are pushed apart, momenta with them */
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(c.sim->report.angular_momentum, L)), 1e-4 * tl_vec3_norm(L));
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains),
        cmocka_unit_test(gears),
        cmocka_unit_test(flying_rings_keep_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
