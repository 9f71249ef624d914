/* Joints beside elastic bodies in what flows. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "rigid.h"

#define JELLY "material = elastic { density = 1000, young = 1e5, poisson = 0.3, friction = 0.3 }"
#define STIFF "material = elastic { density = 1000, young = 1e7, poisson = 0.3, friction = 0.3 }"
#define WATER "liquid { density = 1000 }"
#define HONEY "viscous { density = 1000, viscosity = 10 }"
#define SAND "granular { density = 1600, friction_angle_deg = 35 }"

/* Places, momentum that nothing explains, solves: as in scenes without elastic bodies (joints_flow.c). */
static void check_step(const rigid_case *c)
{
    const tl_report *r = &c->sim->report;
    CHECK_LE(rigid_joints_off(c), 1e-7 * c->scene->grid.cell);
    CHECK_LE(tl_vec3_norm(r->accounts.momentum_unexplained), 1e-12 * r->accounts.mass);
    for (int k = 0; k < r->solves; k++) CHECK_LE(r->solve[k].certificate, r->solve[k].target);
}

/* A ball in still liquid, above or below what holds it, beside a neutral elastic block: weight less buoyancy, to what
 * cells of a third of its radius leave of buoyancy. Pressure presses the block together by 2 kPa over its stiffness, which
 * moves water: with 1e7 Pa by 2e-4 of its volume. */
static void hang(const char *material, const char *kind, double density, const char *scheme)
{
    const double d = 0.025, from = 6 * d + (density > 1000 ? 5 : -5) * d;
    rigid_case c = rigid_open(
        NULL,
        "grid = { cells = {20, 14, 14}, cell = %g }, gravity = {0, -9.81, 0}, fill = { { material = %s, shape = box { "
        "size = {%g, %g, %g}, center = {%g, %g, %g} } } }, bodies = { { name = 'ball', shape = sphere { radius = %g }, "
        "density = %g, at = {%g, %g, %g} }, { name = 'soft', shape = box { size = %g }, at = {%g, %g, %g}, cells = {2, "
        "2, "
        "2}, " STIFF " } }, joints = { { kind = '%s', a = 'ball', %s = {%g, %g, %g} } }, solver = { %s }",
        d, material, 20 * d, 12 * d, 14 * d, 10 * d, 6 * d, 7 * d, 3 * d, density, 6 * d, 6 * d, 7 * d, 4 * d, 14 * d,
        6 * d, 7 * d, kind, strcmp(kind, "ball") ? "at_a = {0, 0, 0}, at_b" : "at", 6 * d, from, 7 * d, scheme);
    for (int k = 0; k < 4; k++) {
        rigid_step(&c, 0.1 * sqrt(d));
        check_step(&c);
    }
    const double volume = 4.0 / 3 * acos(-1.0) * pow(3 * d, 3);
    CHECK_LE(fabs(rigid_joint(&c, 0)->on_a.y / ((density - 1000) * 9.81 * volume) - 1), 1e-3);
    rigid_close(&c);
}

static void hangs_with_weight_less_buoyancy(void **state)
{
    (void)state;
    hang(WATER, "ball", 2500, "");
    hang(WATER, "rope", 400, "scheme = 'pec'");
    hang(HONEY, "distance", 2500, "");
}

/* A led arm pushes a soft cube through water and through sand: joints hold, momentum is explained. */
static rigid_case open_stirred(const char *material, double torque)
{
    return rigid_open(
        NULL,
        "grid = { cells = {16, 12, 10}, cell = 0.05 }, fill = { { material = %s, shape = box { size = {0.8, 0.25, "
        "0.5}, "
        "center = {0.4, 0.125, 0.25} } } }, bodies = { { name = 'paddle', shape = box { size = {0.1, 0.4, 0.2} }, "
        "density "
        "= 800, at = {0.2, 0.3, 0.25} }, { name = 'soft', shape = box { size = 0.15 }, at = {0.45, 0.3, 0.25}, cells = "
        "{2, 2, 2}, " JELLY
        " } }, joints = { { kind = 'hinge', a = 'paddle', at = {0.2, 0.48, 0.25}, axis = {0, 0, 1}, "
        "limits = {-0.5, 1}, motor = { speed = 2, max = %g } } }",
        material, torque);
}

static void a_paddle_stirs(void **state)
{
    (void)state;
    static const char *const of[] = {WATER, SAND};
    for (int k = 0; k < 2; k++) {
        rigid_case c = open_stirred(of[k], k ? 1000 : 40); /* sand holds 40 N m by its weight */
        double turned = 0;
        for (int i = 0; i < 5; i++) {
            rigid_step(&c, 0.005);
            const tl_report *r = &c.sim->report;
            CHECK_LE(rigid_joints_off(&c), 1e-7 * c.scene->grid.cell);
            CHECK_LE(tl_vec3_norm(r->accounts.momentum_unexplained), 1e-9 * r->accounts.mass);
            turned = rigid_joint(&c, 0)->position;
        }
        CHECK_LE(0.004,
                 turned); /* a tenth of t^2 / 2 times 40 N m over the paddle's 0.3 kg m^2: it pushes what flows, too */
        rigid_close(&c);
    }
}

/* Small: it is stepped more than a hundred times. */
static rigid_case open_water(void)
{
    rigid_case c = rigid_open(
        NULL,
        "grid = { cells = {8, 8, 6}, cell = 0.05 }, fill = { { material = " WATER
        ", shape = box { size = {0.4, 0.2, 0.3}, center = {0.2, 0.1, 0.15} } } }, bodies = { { name = 'ball', shape = "
        "sphere { radius = 0.06 }, density = 2000, at = {0.12, 0.2, 0.15} }, { name = 'soft', shape = box { size = "
        "0.1 }, at = {0.28, 0.2, 0.15}, cells = {1, 1, 1}, " JELLY " } }, joints = { { kind = 'rope', a = 'ball', "
        "at_b = {0.12, 0.35, 0.15}, length = 0.16 } }");
    rigid_step(&c, 0.005);
    return c;
}

static void the_same_bits(void **state)
{
    (void)state;
    rigid_threads_and_saves(open_water, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hangs_with_weight_less_buoyancy),
        cmocka_unit_test(a_paddle_stirs),
        cmocka_unit_test(the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
