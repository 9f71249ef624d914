/* Contact laws: values, slopes against differences, and the places where the formulas divide by nothing. */
#include "check.h"

#include "model/lg/ncp.h"

static void slopes_are_derivatives(void **state)
{
    (void)state;
    static const double gaps[] = {-2e-3, -1e-6, 0, 1e-6, 3e-3}, forces[] = {-5, 0, 1e-3, 40, 1e4};
    const double r = 1e-5, eps = 1e-6;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            double g = gaps[i], f = forces[j], size = hypot(g, r * f);
            if (!(size > 0)) continue;
            tl_ncp n = tl_ncp_normal(TL_NCP_FISCHER_BURMEISTER, g, f, r);
            double dg = eps * size, df = eps * size / r; /* central differences: second order, rounding 1e-10 */
            double by_gap = (tl_ncp_normal(TL_NCP_FISCHER_BURMEISTER, g + dg, f, r).value -
                             tl_ncp_normal(TL_NCP_FISCHER_BURMEISTER, g - dg, f, r).value) /
                            (2 * dg),
                   by_force = (tl_ncp_normal(TL_NCP_FISCHER_BURMEISTER, g, f + df, r).value -
                               tl_ncp_normal(TL_NCP_FISCHER_BURMEISTER, g, f - df, r).value) /
                              (2 * df);
            CHECK_NEAR(n.slope_gap, by_gap, 1e-8);
            CHECK_NEAR(n.slope_force / r, by_force / r, 1e-8);
            CHECK_NEAR(n.value, g + r * f - size, 1e-14 * size + 1e-18);
        }
    tl_ncp zero = tl_ncp_normal(TL_NCP_FISCHER_BURMEISTER, 0, 0, r);
    CHECK_NEAR(zero.slope_gap, 1 - sqrt(0.5), 1e-15);
    CHECK_NEAR(zero.slope_force, (1 - sqrt(0.5)) * r, 1e-20);
}

/* Next to a solution the printed differences have no digits left. */
static void no_cancellation(void **state)
{
    (void)state;
    tl_ncp n = tl_ncp_normal(TL_NCP_FISCHER_BURMEISTER, 1e-14, 1, 1); /* touching, gap of 1e-14: value = gap */
    CHECK_REL(n.value, 1e-14, 1e-12);
    CHECK_REL(n.slope_force, 0.5e-28, 1e-12);
    n = tl_ncp_normal(TL_NCP_FISCHER_BURMEISTER, 1, 1e-14, 1); /* open */
    CHECK_REL(n.slope_gap, 0.5e-28, 1e-12);
}

static void minimum_map(void **state)
{
    (void)state;
    tl_ncp n = tl_ncp_normal(TL_NCP_MINIMUM, 1e-3, 2, 1e-3);
    assert_true(n.value == 1e-3 && n.slope_gap == 1 && n.slope_force == 0);
    n = tl_ncp_normal(TL_NCP_MINIMUM, 1e-3, 0.5, 1e-3);
    assert_true(n.value == 0.5e-3 && n.slope_gap == 0 && n.slope_force == 1e-3);
}

/* Sliding, f = mu N against the slip: drag f = u. At rest below the cone: none. */
static void drag_at_solutions(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (double r = 1e-9; r < 1e3; r *= 10) {
            CHECK_REL(tl_ncp_drag((tl_ncp_kind)kind, 0.02, 50, 50, r), 0.02 / 50, 1e-12);
            assert_true(tl_ncp_drag((tl_ncp_kind)kind, 0, 20, 50, r) == 0);
            assert_true(tl_ncp_drag((tl_ncp_kind)kind, 0, 0, 50, r) == 0);
        }
    CHECK_REL(tl_ncp_drag(TL_NCP_PRINTED, 0.02, 50, 50, 1e-6), 1e-6 * 0.02 / 50, 1e-12);
}

static void drag_is_bounded(void **state)
{
    (void)state;
    assert_true(tl_ncp_drag(TL_NCP_FISCHER_BURMEISTER, 0, 2.5, 1, 1) == 1e3 * 1.5); /* printed: -6 */
    for (double u = 0; u < 3; u += 0.25)
        for (double f = 0; f < 5; f += 0.25) {
            double d = tl_ncp_drag(TL_NCP_FISCHER_BURMEISTER, u, f, 1, 1);
            assert_true(d >= 0 && isfinite(d));
        }
    assert_true(isfinite(tl_ncp_drag(TL_NCP_FISCHER_BURMEISTER, 1, 0, 1e-300, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_are_derivatives), cmocka_unit_test(no_cancellation), cmocka_unit_test(minimum_map),
        cmocka_unit_test(drag_at_solutions),      cmocka_unit_test(drag_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
