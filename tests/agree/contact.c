/* Contact methods on problems with known answers: sums of normals under mass ratios, sticking and sliding on
 * a slope in every direction, and what the relaxation and the pyramid get wrong. */
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "lab/bench/gen_contact.h"
#include "solve/contact/method.h"

static talus_error err;
static tl_arena arena;

static tl_contact_report solve(const char *method, const tl_contact *p, double *lam)
{
    tl_options o = tl_options_default();
    tl_contact_report r;
    memset(lam, 0, sizeof *lam * (size_t)p->space->n);
    int cap = !strncmp(method, "newton", 6) ? 300 : 5000;
    CHECK_OK(tl_contact_solve(tl_contact_method_find(method), p, &o, &(tl_stop){1e-8, cap, 0}, lam, &arena, &r, &err));
    return r;
}

/* The residual 1e-8 m/s of each interface adds up along a chain of supports: 1e-6 of the sum covers ten levels. */
static void check_sum(const char *name, tl_gen_contact *g, double sum, int skip_products)
{
    double *lam = TL_NEW(double, g->space.n);
    for (int i = 0; i < tl_contact_method_count(); i++) {
        const tl_contact_method *m = tl_contact_method_at(i);
        bool products = !strncmp(m->name, "pgs", 3) || !strncmp(m->name, "apgd", 4);
        if (skip_products && products) continue; /* mass ratios: these do not get there */
        tl_contact_report r = solve(m->name, &g->problem, lam);
        if (r.outcome.result != TL_CONVERGED && m->true_coulomb)
            fail_msg("%s on %s: %s at %g", m->name, name, tl_result_name(r.outcome.result), r.certificate.residual);
        CHECK_REL(r.certificate.normal_sum, sum, 2e-6);
        CHECK_LE(r.certificate.cone_violation, 1e-9 * sum + (strcmp(m->name, "pgs-pyramid") ? 0 : sum));
    }
    tl_free(lam);
    tl_gen_contact_free(g);
}

static void sums_of_normals(void **state)
{
    (void)state;
    tl_gen_contact g;
    double mass[10] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, tower[5] = {1, 10, 100, 1000, 10000};
    for (int k = 0; k < 3; k++) {
        const double mu[3] = {0, 0.5, 1e6};
        CHECK_OK(tl_gen_contact_stack(&g, 10, mass, mu[k], &err));
        check_sum("stack of 10", &g, 4 * 9.81 * 0.01 * 55, 1);
    }
    CHECK_OK(tl_gen_contact_stack(&g, 5, tower, 0.5, &err));
    check_sum("tower", &g, 5328.8901, 1);
    CHECK_OK(tl_gen_contact_wall(&g, 5, 4, 1, 0.6, &err));
    check_sum("wall", &g, 23.544, 0);
    CHECK_OK(tl_gen_contact_wall(&g, 5, 4, 1000, 0.6, &err));
    check_sum("wall, top x1000", &g, 7863.696, 1);
}

/* A rod that slides on its end: friction follows the normal force and turns the end into the ground, W_nn = 2 but
 * W_nn + mu W_nt . e = 7. A normal step of 1 / W_nn overshoots by 2.5 and sweeps take turns between two states for
 * ever. The answer is lam_n = 0.1 / 7. */
static void a_rod_that_digs_in(void **state)
{
    (void)state;
    static const char *const sweeps[] = {"pgs", "pgs-momentum", "newton-shift"};
    double x = 0.1, y = 0.5, inv_mass[1] = {1}, inv_inertia[9] = {100, 0, 0, 0, 100, 0, 0, 0, 100};
    double v_free[6] = {2, -0.1, 0, 0, 0, 0}, v[6], q[3], blocks[9], mu[1] = {1}, lam[3];
    double val[18] = {0, 1, 0, 0, 0, x, 1, 0, 0, 0, 0, -y, 0, 0, 1, y, -x, 0};
    int64_t start[4] = {0, 6, 12, 18};
    int32_t col[18];
    for (int k = 0; k < 18; k++) col[k] = k % 6;
    tl_csr J = {.rows = 3, .cols = 6, .start = start, .col = col, .val = val};
    tl_contact_bodies bodies = {1, inv_mass, inv_inertia, &J, v_free};
    tl_contact_operator op = {&bodies, v};
    tl_space space = tl_space_local(3);
    tl_contact_assembled d;
    CHECK_OK(tl_contact_assemble(&d, &bodies, NULL, &err));
    memcpy(blocks, d.blocks, sizeof blocks);
    tl_contact_assembled_free(&d);
    tl_contact_free_velocity(&bodies, NULL, q);
    tl_contact p = {&space, tl_contact_operator_linop(&op), blocks, q, mu, &bodies, false, NULL, 0};
    for (int i = 0; i < 3; i++) {
        tl_contact_report r = solve(sweeps[i], &p, lam);
        assert_int_equal(r.outcome.result, TL_CONVERGED);
        CHECK_REL(lam[0], 0.1 / 7, 1e-6);
        CHECK_REL(lam[1], -0.1 / 7, 1e-6);
        CHECK_LE((double)r.work.products, 400);
    }
}

/* Gauss-Seidel shows why residual alone does not do: under 1:10000 it leaves most of the weight hanging. */
static void gauss_seidel_fails_under_mass_ratio(void **state)
{
    (void)state;
    tl_gen_contact g;
    double tower[5] = {1, 10, 100, 1000, 10000}, lam[60];
    CHECK_OK(tl_gen_contact_stack(&g, 5, tower, 0.5, &err));
    tl_contact_report r = solve("pgs", &g.problem, lam);
    assert_int_equal(r.outcome.result, TL_OUT_OF_ITERATIONS);
    assert_true(r.certificate.balance > 0.5);
    CHECK_LE(solve("newton-shift", &g.problem, lam).certificate.balance, 1e-5);
    tl_gen_contact_free(&g);
}

/* Acceleration of a block (0.4 x 0.1 x 0.4 m, 8 kg) on a slope: gravity tilted by `deg` towards `azimuth`. */
static void slope(const char *method, double deg, double azimuth_deg, double a[3], double *normal_sum)
{
    const double g = 9.81, dt = 0.01, b = deg * M_PI / 180, z = azimuth_deg * M_PI / 180;
    tl_gen_box box = {.center = {0, 0.05, 0}, .size = {0.4, 0.1, 0.4}, .mass = 8};
    double gravity[3] = {g * sin(b) * cos(z), -g * cos(b), g * sin(b) * sin(z)}, lam[12], v[6];
    tl_gen_contact c;
    CHECK_OK(tl_gen_contact_boxes(&c, 1, &box, 0.5, gravity, dt, &err));
    assert_int_equal(c.space.n, 12);
    *normal_sum = solve(method, &c.problem, lam).certificate.normal_sum;
    tl_contact_velocities(&c.bodies, lam, v);
    for (int k = 0; k < 3; k++) a[k] = v[k] / dt;
    tl_gen_contact_free(&c);
}

static void sticks_and_slides(void **state)
{
    (void)state;
    const double g = 9.81, rad = M_PI / 180;
    static const char *const exact[] = {"newton-shift", "apgd-shift", "admm", "pgs", "staggered"};
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++)
        for (double azimuth = 0; azimuth <= 45; azimuth += 7.5) {
            double a[3], sum;
            slope(exact[i], 26, azimuth, a, &sum);                         /* tan 26 < 0.5 */
            CHECK_LE(sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), 1e-5); /* 1e-8 m/s over dt, with room */
            CHECK_REL(sum, 8 * g * cos(26 * rad) * 0.01, 1e-6);
            slope(exact[i], 40, azimuth, a, &sum);
            CHECK_NEAR(hypot(a[0], a[2]), g * (sin(40 * rad) - 0.5 * cos(40 * rad)), 1e-5); /* 2.5483 */
            CHECK_NEAR(a[1], 0, 1e-5);
            CHECK_NEAR(a[0] * sin(azimuth * rad) - a[2] * cos(azimuth * rad), 0, 1e-5); /* straight downhill */
            CHECK_REL(sum, 8 * g * cos(40 * rad) * 0.01, 1e-6);
        }
    /* negative controls */
    double a[3], sum;
    slope("pgs-pyramid", 40, 45, a, &sum);
    CHECK_NEAR(hypot(a[0], a[2]), g * (sin(40 * rad) - sqrt(2) * 0.5 * cos(40 * rad)), 1e-4); /* 0.9919 */
    slope("newton-convex", 40, 0, a, &sum);
    CHECK_NEAR(a[1], 0.5 * a[0], 1e-4); /* the relaxation lifts: u_n = mu |u_t| */
    assert_true(a[1] > 0.5);
}

static void needs_bodies(void **state)
{
    (void)state;
    tl_gen_contact g;
    double mass = 1, lam[12] = {0};
    CHECK_OK(tl_gen_contact_stack(&g, 1, &mass, 0.5, &err));
    tl_contact bare = g.problem;
    bare.bodies = NULL;
    for (int i = 0; i < tl_contact_method_count(); i++)
        assert_int_equal(solve(tl_contact_method_at(i)->name, &bare, lam).outcome.result, TL_NOT_APPLICABLE);
    tl_gen_contact_free(&g);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tl_gen_contact g;
    CHECK_OK(tl_gen_contact_wall(&g, 6, 5, 1, 0.6, &err));
    double *lam = TL_NEW(double, g.space.n);
    for (int i = 0; i < tl_contact_method_count(); i++)
        for (int64_t k = 1;; k++) {
            int64_t live = tl_alloc_read().live_blocks;
            tl_arena a = {0};
            tl_options o = tl_options_default();
            tl_contact_report r;
            memset(lam, 0, sizeof *lam * (size_t)g.space.n);
            tl_alloc_fail_at(k);
            talus_status status =
                tl_contact_solve(tl_contact_method_at(i), &g.problem, &o, &(tl_stop){1e-6, 40, 0}, lam, &a, &r, &err);
            int failed = tl_alloc_fail_happened();
            tl_alloc_fail_at(0);
            tl_arena_free(&a);
            assert_int_equal(tl_alloc_read().live_blocks, live);
            for (int64_t j = 0; j < g.space.n; j++) assert_true(isfinite(lam[j]));
            if (!failed) {
                assert_int_equal(status, TALUS_OK);
                break;
            }
        }
    tl_free(lam);
    tl_gen_contact_free(&g);
}

static int tear_down(void **state)
{
    (void)state;
    tl_arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rod_that_digs_in),
        cmocka_unit_test(sums_of_normals),
        cmocka_unit_test(gauss_seidel_fails_under_mass_ratio),
        cmocka_unit_test(sticks_and_slides),
        cmocka_unit_test(needs_bodies),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
