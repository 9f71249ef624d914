/* Pieces of the cone kind against closed forms, differences and brute force. */
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "check.h"
#include "lab/bench/gen_cone.h"
#include "math/eig3.h"
#include "solve/cone/block.h"
#include "solve/cone/method.h"
#include "solve/cone/penalty.h"

static talus_error err;

static double normal(uint64_t id, uint64_t step) { return tl_random_normal(77, id, step); }

/* M = G'G with G [rows x m] random: rank min(rows, m). */
static void random_psd(int m, int rows, uint64_t id, double *M)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            M[i * m + j] = 0;
            for (int k = 0; k < rows; k++)
                M[i * m + j] += normal(id, (uint64_t)(k * m + i)) * normal(id, (uint64_t)(k * m + j));
        }
}

static void random_form(int m, uint64_t id, double *Q)
{
    random_psd(m, m, id, Q);
    for (int i = 0; i < m; i++) Q[i * m + i] += 0.2;
}

static void stress_form_is_frobenius(void **state)
{
    (void)state;
    double Q[25], s[5] = {1.3, -0.4, 2.0, 0.7, -2.2};
    tl_cone_stress_form(Q);
    double xx = s[0], xy = s[1], xz = s[2], yz = s[3], zz = s[4], yy = -xx - zz;
    double frobenius = xx * xx + yy * yy + zz * zz + 2 * (xy * xy + xz * xz + yz * yz);
    CHECK_REL(tl_cone_form(5, Q, s), frobenius, 1e-15);
}

static void metric_inverts_form(void **state)
{
    (void)state;
    for (int m = 1; m <= 5; m++) {
        double Q[25];
        tl_cone_metric q;
        random_form(m, (uint64_t)m, Q);
        assert_true(tl_cone_metric_of(&q, m, Q));
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) {
                double product = 0, rooted = 0;
                for (int k = 0; k < m; k++) {
                    product += Q[i * m + k] * q.inverse[k * m + j];
                    rooted += q.root_inv[i * m + k] * q.root_inv[j * m + k];
                }
                CHECK_NEAR(product, i == j, 1e-12);
                CHECK_NEAR(rooted, q.inverse[i * m + j], 1e-12);
            }
    }
}

/* min 1/2 |x|^2 - 2 x_0 over the unit disc: x = (1, 0), E = -3/2. */
static void certificate_by_hand(void **state)
{
    (void)state;
    int64_t start[3] = {0, 1, 2};
    int32_t col[2] = {0, 1};
    double val[2] = {1, 1}, b[2] = {2, 0}, r = 1;
    tl_csr A = {2, 2, start, col, val};
    tl_space space = tl_space_local(2);
    tl_cone p = {.space = &space, .A = tl_linop_csr(&A), .b = b, .radius = &r, .size = 2};
    tl_cone_identity(2, p.Q);
    tl_arena a = {0};
    tl_cone_certificate c;

    CHECK_OK(tl_cone_certify(&p, (double[]){1, 0}, &c, &a, &err));
    CHECK_NEAR(c.gap, 0, 0);
    CHECK_NEAR(c.violation, 0, 0);
    CHECK_NEAR(c.energy, -1.5, 0);
    /* half way: grad = (-3/2, 0), gap = -3/4 + 3/2, true distance 5/8 */
    CHECK_OK(tl_cone_certify(&p, (double[]){0.5, 0}, &c, &a, &err));
    CHECK_NEAR(c.gap, 0.75, 1e-15);
    CHECK_NEAR(c.relative_gap, 0.75 / 0.875, 1e-15);
    /* E = 0 with a gap */
    CHECK_OK(tl_cone_certify(&p, (double[]){0, 0}, &c, &a, &err));
    CHECK_NEAR(c.gap, 2, 0);
    assert_true(isinf(c.relative_gap));
    /* outside */
    CHECK_OK(tl_cone_certify(&p, (double[]){0, 3}, &c, &a, &err));
    CHECK_NEAR(c.violation, 2, 1e-15);
    CHECK_NEAR(c.relative_violation, 2, 1e-15);
    tl_arena_free(&a);
}

static double energy_at(const tl_gen_cone *g, const double *x, double *Ax)
{
    double e = 0;
    tl_csr_mul(&g->A, x, Ax);
    for (int64_t i = 0; i < g->space.n; i++) e += x[i] * (0.5 * Ax[i] - g->b[i]);
    return e;
}

/* E(x) - min E <= gap at random feasible points. */
static void gap_is_a_bound(void **state)
{
    (void)state;
    for (int size = 2; size <= 5; size += 3) {
        tl_gen_cone g;
        tl_gen_cone_spec spec = {.seed = 5, .size = size, .groups = 20, .condition = 100, .tightness = 0.6};
        CHECK_OK(tl_gen_cone_random(&g, &spec, &err));
        int64_t n = g.space.n;
        tl_arena a = {0};
        double *x = TL_NEW_ZERO(double, n), *Ax = TL_NEW(double, n);
        tl_options o = tl_options_default();
        tl_cone_report r;
        CHECK_OK(tl_cone_solve(tl_cone_method_find("pgs"), &g.problem, &o,
                               &(tl_stop){.tolerance = 1e-13, .max_iterations = 20000}, x, &a, &r, &err));
        double lowest = energy_at(&g, x, Ax);
        for (uint64_t k = 0; k < 50; k++) {
            for (int64_t i = 0; i < n; i++) x[i] += 0.3 * normal((uint64_t)i, k);
            for (int64_t j = 0; j < n / size; j++) tl_cone_project(size, g.problem.Q, g.radius[j], x + j * size);
            tl_cone_certificate c;
            CHECK_OK(tl_cone_certify(&g.problem, x, &c, &a, &err));
            CHECK_REL(c.energy, energy_at(&g, x, Ax), 1e-12);
            CHECK_LE(c.energy - lowest, c.gap * (1 + 1e-9));
            CHECK_LE(c.relative_violation, 1e-14);
        }
        tl_free(x);
        tl_free(Ax);
        tl_arena_free(&a);
        tl_gen_cone_free(&g);
    }
}

/* KKT of one block: inside with zero gradient, or on the rim with gradient -theta Q x, theta >= 0. */
static void check_block(int m, const double *Q, const double *B, const double *c, double r)
{
    tl_cone_metric q;
    double w[5], S[25], x[5] = {0}, grad[5], Qx[5] = {0}, scale = 0;
    assert_true(tl_cone_metric_of(&q, m, Q));
    tl_cone_block_factor(&q, B, w, S);
    tl_cone_block_minimise(m, w, S, c, r, x);

    tl_cone_mul(m, Q, x, Qx);
    double length = sqrt(tl_cone_dot(m, Qx, x));
    CHECK_LE(length, r * (1 + 1e-13));
    tl_cone_mul(m, B, x, grad);
    for (int i = 0; i < m; i++) scale = fmax(scale, fabs(c[i]) + fabs(grad[i])), grad[i] -= c[i];
    double theta = length > (1 - 1e-9) * r ? -tl_cone_dot(m, grad, x) / (length * length) : 0;
    CHECK_LE(-theta * r, 1e-10 * scale); /* Q and B have condition up to 1e4 here */
    for (int i = 0; i < m; i++) CHECK_NEAR(grad[i] + theta * Qx[i], 0, 1e-9 * scale);
}

static void block_minimiser_meets_kkt(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < 400; k++) {
        int m = k % 2 ? 5 : 2, rank = (int)(k % (uint64_t)(m + 1)); /* B = 0 included */
        double Q[25], B[25], c[5];
        if (k % 3)
            random_form(m, 1000 + k, Q);
        else if (m == 5)
            tl_cone_stress_form(Q);
        else
            tl_cone_identity(m, Q);
        random_psd(m, rank, 2000 + k, B);
        for (int i = 0; i < m; i++) c[i] = normal(3000 + k, (uint64_t)i);
        check_block(m, Q, B, c, 0.3);
        check_block(m, Q, B, c, 1e-7);
        check_block(m, Q, B, c, rank == m ? 1e6 : 10);
    }
}

/* c in the range of a singular B: the null component stays at 0 when the rest fits (the hard
 * case of trust regions), and the disc still cuts when it does not. */
static void block_minimiser_hard_case(void **state)
{
    (void)state;
    double Q[4], w[2], S[4], x[2];
    tl_cone_identity(2, Q);
    tl_cone_metric q;
    tl_cone_metric_of(&q, 2, Q);
    tl_cone_block_factor(&q, (double[]){4, 0, 0, 0}, w, S);
    tl_cone_block_minimise(2, w, S, (double[]){2, 0}, 1, x);
    CHECK_NEAR(x[0], 0.5, 1e-15);
    CHECK_NEAR(x[1], 0, 1e-15);
    tl_cone_block_minimise(2, w, S, (double[]){8, 0}, 1, x);
    CHECK_NEAR(x[0], 1, 1e-15);
    tl_cone_block_minimise(2, w, S, (double[]){0, -3}, 1, x); /* pulls along the null direction */
    CHECK_NEAR(x[1], -1, 1e-15);
    tl_cone_block_minimise(2, w, S, (double[]){0, 0}, 1, x);
    CHECK_NEAR(x[0] * x[0] + x[1] * x[1], 0, 0);
}

static void penalty_derivatives(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < 60; k++) {
        int m = k % 2 ? 5 : 2;
        double Q[25] = {0}, x[5] = {0}, grad[5], H[25], w[5], V[25], r = 0.8, stiff = 30,
               eta = 0.1 * tl_random(8, k, 0);
        random_form(m, 500 + k, Q);
        for (int i = 0; i < m; i++) x[i] = 0.7 * normal(600 + k, (uint64_t)i);
        tl_cone_penalty_gradient(m, Q, r, stiff, eta, x, grad);
        tl_cone_penalty_hessian(m, Q, r, stiff, eta, x, H);
        double size = fabs(tl_cone_penalty_energy(m, Q, r, stiff, eta, x)) + 1;
        for (int i = 0; i < m; i++) {
            double h = 1e-5, up[5], down[5], g_up[5], g_down[5];
            memcpy(up, x, sizeof up);
            memcpy(down, x, sizeof down);
            up[i] += h, down[i] -= h;
            double slope =
                (tl_cone_penalty_energy(m, Q, r, stiff, eta, up) - tl_cone_penalty_energy(m, Q, r, stiff, eta, down)) /
                (2 * h);
            /* central differences: h^2 times third derivatives plus rounding / h, both below 1e-7 of the energy
             * scale */
            CHECK_NEAR(grad[i], slope, 1e-6 * size);
            tl_cone_penalty_gradient(m, Q, r, stiff, eta, up, g_up);
            tl_cone_penalty_gradient(m, Q, r, stiff, eta, down, g_down);
            for (int j = 0; j < m; j++) CHECK_NEAR(H[j * m + i], (g_up[j] - g_down[j]) / (2 * h), 1e-5 * size);
        }
        tl_eig_sym(m, H, w, V);
        CHECK_LE(-w[0], 1e-12 * fabs(w[m - 1]));
    }
}

/* Stacks on a slope stick below atan(eta) (kinetic + E = 0) and slide as one above it, with
 * a = g (sin - eta cos) in any direction; for a cube with eta = 0.5 at 40 degrees that is 2.5483
 * m/s^2 (spec case V8). Stacks of two have eta = 0.25: at 0.5 they would tip. */
static void blocks_stick_and_slide(void **state)
{
    (void)state;
    tl_arena a = {0};
    for (int k = 0; k < 16; k++) {
        bool stack = k % 4 >= 2, slide = k >= 8;
        tl_gen_cone g;
        tl_gen_cone_blocks_spec spec = {.columns = 1 + k % 2,
                                        .levels = stack ? 2 : 1,
                                        .azimuth_deg = 15.0 * k,
                                        .friction = stack ? 0.25 : 0.5,
                                        .mass_spread = 1,
                                        .seed = 9};
        spec.tilt_deg = stack ? (slide ? 20 : 13.5) : slide ? 40 : 26;
        CHECK_OK(tl_gen_cone_blocks(&g, &spec, &err));
        CHECK_OK(tl_csr_check(&g.A, &err));
        double *x = TL_NEW_ZERO(double, g.space.n);
        tl_options o = tl_options_default();
        tl_cone_report r;
        CHECK_OK(tl_cone_solve(tl_cone_method_find("pgs"), &g.problem, &o,
                               &(tl_stop){.tolerance = 1e-11, .max_iterations = 20000}, x, &a, &r, &err));
        double mass = 0, accel = 2.5483;
        for (int i = 0; i < spec.columns * spec.levels; i++) mass += 8 * (1 + tl_random(spec.seed, (uint64_t)i, 0));
        if (stack) accel = 1.05062;                         /* 9.81 (sin 20 - cos 20 / 4) */
        double sliding = 0.5 * mass * accel * accel * 0.01; /* 1/2 m (a dt)^2 / dt */
        if (slide)
            CHECK_REL(g.kinetic + r.certificate.energy, sliding, 1e-4); /* accel has five digits */
        else
            CHECK_NEAR(g.kinetic + r.certificate.energy, 0, 1e-9 * g.kinetic);
        tl_free(x);
        tl_gen_cone_free(&g);
    }
    tl_arena_free(&a);
}

/* A constant stress pulls on no interior face, so A s vanishes away from walls and surface; and A is symmetric. */
static void sand_box_operator(void **state)
{
    (void)state;
    tl_gen_cone g;
    CHECK_OK(tl_gen_cone_stress(&g, 7, 7, 7, 3, &err));
    CHECK_OK(tl_csr_check(&g.A, &err));
    int32_t n = g.A.rows;
    double *s = TL_NEW(double, n), *t = TL_NEW(double, n), *y = TL_NEW(double, n), *z = TL_NEW(double, n);
    for (int i = 0; i < n; i++) s[i] = 1 + i % 5, t[i] = normal((uint64_t)i, 1);
    tl_csr_mul(&g.A, s, y);
    int64_t middle = 5 * ((3 * 7 + 3) * 7 + 3);
    double scale = g.A.val[0] * 5;
    for (int i = 0; i < 5; i++) CHECK_NEAR(y[middle + i], 0, 1e-12 * scale);
    tl_csr_mul(&g.A, t, z);
    double left = 0, right = 0;
    for (int i = 0; i < n; i++) left += t[i] * y[i], right += s[i] * z[i];
    CHECK_REL(left, right, 1e-10);
    tl_free(s);
    tl_free(t);
    tl_free(y);
    tl_free(z);
    tl_gen_cone_free(&g);
}

static void apply_rows(const tl_linop *A, const double *x, double *y) { tl_csr_mul(A->ctx, x, y); }

/* Without rows: estimated and given bounds lead to the same energy; pgs declines. */
static void matrix_free(void **state)
{
    (void)state;
    tl_gen_cone g;
    tl_gen_cone_spec spec = {.seed = 12, .size = 5, .groups = 20, .condition = 300, .null_modes = 5, .tightness = 0.8};
    CHECK_OK(tl_gen_cone_random(&g, &spec, &err));
    tl_arena a = {0};
    tl_options o = tl_options_default();
    tl_stop stop = {.tolerance = 1e-9, .max_products = 50000};
    tl_cone_report r;
    double x[100] = {0}, bound[20];
    CHECK_OK(tl_cone_solve(tl_cone_method_find("apgd"), &g.problem, &o, &stop, x, &a, &r, &err));
    assert_int_equal(r.outcome.result, TL_CONVERGED);
    double energy = r.certificate.energy;

    tl_cone free = g.problem;
    free.A = (tl_linop){.apply = apply_rows, .ctx = &g.A};
    for (int k = 0; k < 20; k++) bound[k] = 320; /* condition / smallest eigenvalue of Q, rounded up */
    for (int k = 0; k < 2; k++) {
        free.bound = k ? bound : NULL;
        memset(x, 0, sizeof x);
        CHECK_OK(tl_cone_solve(tl_cone_method_find("apgd"), &free, &o, &stop, x, &a, &r, &err));
        assert_int_equal(r.outcome.result, TL_CONVERGED);
        CHECK_REL(r.certificate.energy, energy, 2e-9);
        memset(x, 0, sizeof x);
        CHECK_OK(tl_cone_solve(tl_cone_method_find("auglag-ipn"), &free, &o, &stop, x, &a, &r, &err));
        assert_int_equal(r.outcome.result, TL_CONVERGED);
        CHECK_REL(r.certificate.energy, energy, 1e-7); /* violation 1e-9, not a gap, bounds this one */
    }
    CHECK_OK(tl_cone_solve(tl_cone_method_find("pgs"), &free, &o, &stop, x, &a, &r, &err));
    assert_int_equal(r.outcome.result, TL_NOT_APPLICABLE);
    tl_arena_free(&a);
    tl_gen_cone_free(&g);
}

/* Nothing pulls, nothing may move, A = 0: answers known in advance. */
static void degenerate_problems(void **state)
{
    (void)state;
    int64_t start[5] = {0, 1, 2, 3, 4};
    int32_t col[4] = {0, 1, 2, 3};
    double val[4] = {1, 2, 0, 0}, b[4] = {0}, r[2] = {1, 2}, x[4];
    tl_csr A = {4, 4, start, col, val};
    tl_space space = tl_space_local(4);
    tl_cone p = {.space = &space, .A = tl_linop_csr(&A), .b = b, .radius = r, .size = 2};
    tl_cone_identity(2, p.Q);
    tl_arena a = {0};
    tl_options o = tl_options_default();
    tl_stop stop = {.tolerance = 1e-10, .max_iterations = 10000};
    for (int i = 0; i < tl_cone_method_count(); i++) {
        const tl_cone_method *m = tl_cone_method_at(i);
        tl_cone_report report;
        memcpy(x, (double[]){3, 3, 3, 3}, sizeof x);
        memset(b, 0, sizeof b);
        CHECK_OK(tl_cone_solve(m, &p, &o, &stop, x, &a, &report, &err));
        for (int k = 0; k < 4; k++) CHECK_NEAR(x[k], 0, 0);
        CHECK_NEAR(report.certificate.relative_gap, 0, 0);

        b[0] = 5;
        r[0] = 0; /* the only pull is on a pinned group */
        memcpy(x, (double[]){3, 3, 3, 3}, sizeof x);
        CHECK_OK(tl_cone_solve(m, &p, &o, &stop, x, &a, &report, &err));
        assert_int_equal(report.outcome.result, TL_CONVERGED);
        for (int k = 0; k < 2; k++) CHECK_NEAR(x[k], 0, 0);

        if (m->feasible) { /* linear in the second group: to the rim along b */
            r[0] = 1;
            b[2] = 3, b[3] = 4;
            memset(x, 0, sizeof x);
            CHECK_OK(tl_cone_solve(m, &p, &o, &stop, x, &a, &report, &err));
            assert_int_equal(report.outcome.result, TL_CONVERGED);
            CHECK_NEAR(x[2], 1.2, 1e-4); /* gap 1e-10 |E| bounds the angle by its root */
            CHECK_NEAR(x[3], 1.6, 1e-4);
        }
    }
    tl_arena_free(&a);
}

static void limits_and_history(void **state)
{
    (void)state;
    tl_gen_cone g;
    tl_gen_cone_spec spec = {.seed = 12, .size = 2, .groups = 60, .condition = 1e4, .tightness = 3};
    CHECK_OK(tl_gen_cone_random(&g, &spec, &err));
    tl_arena a = {0};
    tl_options o = tl_options_default();
    for (int i = 0; i < tl_cone_method_count(); i++) {
        const tl_cone_method *m = tl_cone_method_at(i);
        double x[120] = {0}, residual[500];
        int64_t products[500];
        tl_history h = {.capacity = 500, .residual = residual, .products = products};
        tl_cone_report r;
        o.history = &h;
        CHECK_OK(tl_cone_solve(m, &g.problem, &o, &(tl_stop){.tolerance = 1e-14, .max_products = 30}, x, &a, &r, &err));
        o.history = NULL;
        assert_int_equal(r.outcome.result, TL_OUT_OF_ITERATIONS);
        assert_in_range(r.work.products, 20, 33);
        assert_true(h.count > 0 && products[h.count - 1] <= r.work.products);
        for (int k = 1; k < h.count; k++) assert_true(products[k] >= products[k - 1]);
        CHECK_OK(
            tl_cone_solve(m, &g.problem, &o, &(tl_stop){.tolerance = 1e-14, .max_iterations = 7}, x, &a, &r, &err));
        assert_int_equal(r.outcome.result, TL_OUT_OF_ITERATIONS);
        assert_true(r.outcome.iterations <= 7);
        /* the start counts: from an answer, the same answer is near */
        if (!m->feasible) continue;
        tl_stop easy = {.tolerance = 1e-6, .max_products = 100000};
        CHECK_OK(tl_cone_solve(m, &g.problem, &o, &easy, x, &a, &r, &err));
        int64_t cold = r.work.products;
        CHECK_OK(tl_cone_solve(m, &g.problem, &o, &easy, x, &a, &r, &err));
        assert_int_equal(r.outcome.result, TL_CONVERGED);
        assert_true(r.work.products < 20 && r.work.products < cold);
    }
    tl_arena_free(&a);
    tl_gen_cone_free(&g);
}

static void wrong_input_is_named(void **state)
{
    (void)state;
    tl_gen_cone g;
    tl_gen_cone_spec spec = {.seed = 1, .size = 2, .groups = 4, .condition = 10, .tightness = 1};
    CHECK_OK(tl_gen_cone_random(&g, &spec, &err));
    tl_cone p = g.problem;
    p.Q[0] = -1;
    assert_int_equal(tl_cone_check(&p, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "positive definite"));
    p = g.problem;
    p.Q[1] = 0.5;
    assert_int_equal(tl_cone_check(&p, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "symmetric"));
    p = g.problem;
    p.size = 3;
    assert_int_equal(tl_cone_check(&p, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "groups of 3"));
    g.radius[2] = INFINITY;
    assert_int_equal(tl_cone_check(&g.problem, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "radius[2]"));
    tl_gen_cone_free(&g);
    spec.condition = 0.5;
    assert_int_equal(tl_gen_cone_random(&g, &spec, &err), TALUS_BAD_INPUT);
    assert_null(tl_cone_method_find("sor"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stress_form_is_frobenius),  cmocka_unit_test(metric_inverts_form),
        cmocka_unit_test(certificate_by_hand),       cmocka_unit_test(gap_is_a_bound),
        cmocka_unit_test(block_minimiser_meets_kkt), cmocka_unit_test(block_minimiser_hard_case),
        cmocka_unit_test(penalty_derivatives),       cmocka_unit_test(blocks_stick_and_slide),
        cmocka_unit_test(sand_box_operator),         cmocka_unit_test(matrix_free),
        cmocka_unit_test(degenerate_problems),       cmocka_unit_test(limits_and_history),
        cmocka_unit_test(wrong_input_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
