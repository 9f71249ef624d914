/* Stable Neo-Hookean material and its elements: derivatives against differences, Hooke at rest, closed forms. */
#include "check.h"

#include "base/random.h"
#include "math/eig3.h"
#include "model/elastic/material.h"

/* V1: random, inverted, flat, collapsed gradients. */
static tl_mat3 sample(int sort, uint64_t id)
{
    tl_mat3 F;
    for (int k = 0; k < 9; k++) F.m[k / 3][k % 3] = (k % 4 == 0) + 0.75 * (2 * tl_random(5, id, (uint64_t)k) - 1);
    if (sort == 1) F = tl_mat3_mul(tl_mat3_diagonal(1, 1, -1), F); /* inverted, mostly */
    if (sort == 2) F = tl_mat3_mul(tl_mat3_diagonal(1, 1, 0), F);  /* flat */
    if (sort == 3) F = tl_mat3_scale(1e-3, F);                     /* nearly a point */
    return F;
}

static tl_mat3 stress_slope(const tl_stable *m, tl_mat3 F, tl_mat3 D)
{
    const double eps = 1e-6;
    tl_mat3 up = tl_stable_stress(m, tl_mat3_add_scaled(F, eps, D)),
            down = tl_stable_stress(m, tl_mat3_add_scaled(F, -eps, D));
    return tl_mat3_scale(0.5 / eps, tl_mat3_sub(up, down));
}

/* Hessian times e b^T, through blocks with unit gradients. */
static tl_mat3 hessian_times(const tl_stable_modes *h, tl_vec3 e, tl_vec3 b)
{
    tl_mat3 out;
    for (int r = 0; r < 3; r++) {
        tl_vec3 unit = {r == 0, r == 1, r == 2};
        tl_vec3 f = tl_mat3_mul_vec(tl_stable_block(h, tl_mat3_tmul_vec(h->V, unit), tl_mat3_tmul_vec(h->V, b)), e);
        out.m[0][r] = f.x, out.m[1][r] = f.y, out.m[2][r] = f.z;
    }
    return out;
}

static void derivatives_match_differences(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++) {
        tl_stable m = tl_stable_make((tl_stable_form)form, 1e4, 0.49);
        for (uint64_t id = 0; id < 400; id++) {
            tl_mat3 F = sample((int)(id % 4), id), P = tl_stable_stress(&m, F);
            double scale = m.mu + m.lam;
            for (int k = 0; k < 9; k++) {
                tl_mat3 D = tl_mat3_zero();
                const double eps = 1e-6;
                D.m[k / 3][k % 3] = 1;
                double up = tl_stable_energy(&m, tl_mat3_add_scaled(F, eps, D)),
                       down = tl_stable_energy(&m, tl_mat3_add_scaled(F, -eps, D));
                CHECK_NEAR(P.m[k / 3][k % 3], 0.5 * (up - down) / eps, 2e-8 * scale);
                tl_stable_modes h;
                tl_stable_hessian(&m, F, false, &h);
                tl_vec3 e = {k / 3 == 0, k / 3 == 1, k / 3 == 2}, b = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
                tl_mat3 exact = hessian_times(&h, e, b), differences = stress_slope(&m, F, D);
                CHECK_LE(tl_mat3_max_abs(tl_mat3_sub(exact, differences)), 1e-8 * scale);
            }
        }
    }
}

/* V2: at F = I both are Hooke's law, lambda tr(D) I + mu (D + D^T). */
static void hooke_at_rest(void **state)
{
    (void)state;
    const double young = 1e4, nu = 0.3, mu = young / (2 * (1 + nu)), lambda = young * nu / ((1 + nu) * (1 - 2 * nu));
    for (int form = 0; form < 2; form++) {
        tl_stable m = tl_stable_make((tl_stable_form)form, young, nu);
        tl_stable_modes h;
        tl_stable_hessian(&m, tl_mat3_identity(), true, &h);
        for (int k = 0; k < 9; k++) {
            tl_vec3 e = {k / 3 == 0, k / 3 == 1, k / 3 == 2}, b = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
            tl_mat3 exact = hessian_times(&h, e, b), D = tl_mat3_outer(e, b), hooke;
            hooke = tl_mat3_scale(mu, tl_mat3_add(D, tl_mat3_transpose(D)));
            for (int i = 0; i < 3; i++) hooke.m[i][i] += lambda * tl_vec3_dot(e, b);
            CHECK_LE(tl_mat3_max_abs(tl_mat3_sub(exact, hooke)), 1e-14 * (lambda + 2 * mu));
        }
        CHECK_LE(fabs(tl_stable_energy(&m, tl_mat3_identity())), 1e-12 * young);
        CHECK_LE(tl_mat3_max_abs(tl_stable_stress(&m, tl_mat3_identity())), 1e-12 * young);
    }
}

/* Projected blocks of a whole element are never indefinite: eigenvalues of 3x3 pairs of directions. */
static void projected_modes_are_not_negative(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < 400; id++) {
        tl_stable m = tl_stable_make((tl_stable_form)(id % 2), 1e4, 0.49);
        tl_stable_modes h;
        tl_mat3 F = sample((int)(id % 4), id), A, V;
        double w[3];
        tl_stable_hessian(&m, F, true, &h);
        for (int i = 0; i < 3; i++) {
            assert_true(h.twist[i] >= 0 && h.flip[i] >= 0);
            for (int k = 0; k < 3; k++) A.m[i][k] = h.scale[i][k];
        }
        tl_eig3(A, w, &V);
        CHECK_LE(-w[0], 1e-14 * fabs(w[2]));
    }
}

/* V3: uniaxial stretch 1.5; l2 from the condition of no side force. */
static void uniaxial(void **state)
{
    (void)state;
    static const double expected[2][2] = {{0.818989013, 3684.723777}, {0.819213715, 3532.189908}};
    for (int form = 0; form < 2; form++) {
        tl_stable m = tl_stable_make((tl_stable_form)form, 1e4, 0.49);
        double low = 0.5, high = 1.2, l = 1;
        for (int k = 0; k < 60; k++) {
            l = 0.5 * (low + high);
            if (tl_stable_stress(&m, tl_mat3_diagonal(1.5, l, l)).m[1][1] > 0)
                high = l;
            else
                low = l;
        }
        CHECK_NEAR(l, expected[form][0], 1e-9);
        CHECK_NEAR(tl_stable_stress(&m, tl_mat3_diagonal(1.5, l, l)).m[0][0], expected[form][1], 1e-5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_match_differences),
        cmocka_unit_test(hooke_at_rest),
        cmocka_unit_test(projected_modes_are_not_negative),
        cmocka_unit_test(uniaxial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
