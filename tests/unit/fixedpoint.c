/* Fixed-point problems: the certificate on hand-made points, both methods on pillars and on a cone,
 * whole and in parts. */
#include "check.h"
#include "lab/bench/gen_chain.h"
#include "solve/fixedpoint/method.h"
#include "solve/vecops.h"
#include "split.h"

static tl_arena arena;
static talus_error err;

/* ---- one block that slides: p >= 0, |t| <= mu p, the bound of t moves with p ---- */

typedef struct block {
    double mu, normal, tangent; /* free velocities */
} block;

static void block_evaluate(void *ctx, const double *x, double *r)
{
    block *b = ctx;
    r[0] = x[0] + b->normal;
    r[1] = x[1] + b->tangent;
}
static void block_cone(double mu, double *x)
{
    x[0] = fmax(0, x[0]);
    x[1] = fmin(fmax(x[1], -mu * x[0]), mu * x[0]);
}
static void block_project(void *ctx, const double *x, const double *r, double *y)
{
    y[0] = x[0] - 0.5 * r[0];
    y[1] = x[1] - 0.5 * r[1];
    block_cone(((block *)ctx)->mu, y);
}
static void block_clamp(void *ctx, double *x) { block_cone(((block *)ctx)->mu, x); }

static tl_fixedpoint block_problem(block *b, const tl_space *s)
{
    return (tl_fixedpoint){
        .space = s, .evaluate = block_evaluate, .project = block_project, .clamp = block_clamp, .ctx = b};
}

static void certificate_by_hand(void **state)
{
    (void)state;
    tl_space s = tl_space_local(2);
    block b = {.mu = 0.5, .normal = -1, .tangent = -3};
    tl_fixedpoint p = block_problem(&b, &s);
    tl_fixedpoint_certificate c;

    /* presses with 1, slides with friction 0.5 */
    CHECK_OK(tl_fixedpoint_certify(&p, (double[]){1, 0.5}, &c, &arena, &err));
    CHECK_NEAR(c.change, 0, 0);
    CHECK_NEAR(c.residual, 0, 0);
    CHECK_NEAR(c.violation, 0, 0);
    assert_true(isnan(c.measure));

    /* from (0.6, 0) the step goes to (0.8, 0.4) */
    CHECK_OK(tl_fixedpoint_certify(&p, (double[]){0.6, 0}, &c, &arena, &err));
    CHECK_NEAR(c.change, 0.4, 1e-15);

    /* weights change what counts: 10 on p, 1 on t */
    p.weight = (double[]){10, 1};
    CHECK_OK(tl_fixedpoint_certify(&p, (double[]){0.6, 0}, &c, &arena, &err));
    CHECK_NEAR(c.change, 2, 1e-14);

    /* outside of the cone by 0.25 in t, and below zero by 0.1 in p */
    CHECK_OK(tl_fixedpoint_certify(&p, (double[]){1, 0.75}, &c, &arena, &err));
    CHECK_NEAR(c.violation, 0.25, 1e-15);
    CHECK_OK(tl_fixedpoint_certify(&p, (double[]){-0.1, 0}, &c, &arena, &err));
    CHECK_NEAR(c.violation, 1, 1e-14);

    /* fmax drops a NaN in p, the difference to x does not */
    CHECK_OK(tl_fixedpoint_certify(&p, (double[]){NAN, 0}, &c, &arena, &err));
    assert_false(c.change <= 1e300);
}

static void both_methods_find_the_sliding_block(void **state)
{
    (void)state;
    tl_space s = tl_space_local(2);
    tl_options o = tl_options_default();
    tl_stop stop = {.tolerance = 1e-13, .max_iterations = 1000};
    const struct {
        block b;
        double p, t;
    } cases[] = {{{0.5, -1, -3}, 1, 0.5}, {{0.5, -1, 0.2}, 1, -0.2}, {{0.5, 0.3, -3}, 0, 0}};
    for (int i = 0; i < tl_fixedpoint_method_count(); i++)
        for (int k = 0; k < 3; k++) {
            block b = cases[k].b;
            tl_fixedpoint p = block_problem(&b, &s);
            double x[2] = {7, -9}; /* not feasible */
            tl_fixedpoint_report r;
            CHECK_OK(tl_fixedpoint_solve(tl_fixedpoint_method_at(i), &p, &o, &stop, x, &arena, &r, &err));
            assert_int_equal(r.outcome.result, TL_CONVERGED);
            CHECK_NEAR(x[0], cases[k].p, 1e-12);
            CHECK_NEAR(x[1], cases[k].t, 1e-12);
            CHECK_NEAR(r.certificate.violation, 0, 0);
        }
}

/* ---- pillars ---- */

static tl_fixedpoint_report solve_chain(const tl_chain *ch, const char *method, int with_measure, double tolerance,
                                        double *x)
{
    tl_space s = tl_space_local(ch->A.rows);
    tl_chain_part part = {&s, &ch->A, ch->c, ch->nu};
    tl_fixedpoint p = tl_chain_problem(&part, with_measure);
    tl_options o = tl_options_default();
    tl_stop stop = {.tolerance = tolerance, .max_iterations = 200000};
    tl_fixedpoint_report r;
    const tl_fixedpoint_method *m = tl_fixedpoint_method_find(method);
    assert_non_null(m);
    tl_vec_fill(s.n, 0, x);
    CHECK_OK(tl_fixedpoint_solve(m, &p, &o, &stop, x, &arena, &r, &err));
    return r;
}

static void nncg_beats_jacobi_and_more_so_on_high_pillars(void **state)
{
    (void)state;
    double last_ratio = 0;
    for (int32_t n = 10; n <= 40; n *= 2) {
        tl_chain ch;
        double jacobi[40], nncg[40];
        CHECK_OK(tl_chain_create(&ch, n, 0, 0, &err));
        tl_fixedpoint_report rj = solve_chain(&ch, "jacobi", 1, 1e-5, jacobi);
        tl_fixedpoint_report rn = solve_chain(&ch, "nncg", 1, 1e-5, nncg);
        print_message("pillar of %d: jacobi %d, nncg %d iterations to 1e-5\n", n, rj.outcome.iterations,
                      rn.outcome.iterations);
        assert_int_equal(rj.outcome.result, TL_CONVERGED);
        assert_int_equal(rn.outcome.result, TL_CONVERGED);
        CHECK_LE(rn.certificate.measure, 1e-5);
        CHECK_LE(rj.certificate.measure, 1e-5);
        assert_true(rn.work.products >= rn.outcome.iterations);
        double ratio = (double)rj.outcome.iterations / rn.outcome.iterations;
        assert_true(ratio > 3 && ratio > last_ratio);
        last_ratio = ratio;
        tl_chain_free(&ch);
    }
}

/* What the start leaves may be told: one evaluation less, the same answer. Told wrong, the answer is right all the same,
 * since what ends a solve is evaluated. */
static void start_that_is_known_saves_an_evaluation(void **state)
{
    (void)state;
    tl_space s = tl_space_local(2);
    block b = {.mu = 0.5, .normal = -1, .tangent = -3};
    tl_fixedpoint p = block_problem(&b, &s);
    tl_options o = tl_options_default();
    tl_stop stop = {.tolerance = 1e-9, .max_iterations = 1000};
    tl_fixedpoint_report r[3];
    double start[2] = {0.6, 0.1}, known[2], wrong[2] = {0.2, 0.1};
    block_evaluate(&b, start, known);
    for (int k = 0; k < 3; k++) {
        double x[2] = {start[0], start[1]};
        p.at_start = k == 0 ? NULL : k == 1 ? known : wrong;
        CHECK_OK(tl_fixedpoint_solve(tl_fixedpoint_method_find("nncg"), &p, &o, &stop, x, &arena, &r[k], &err));
        assert_int_equal(r[k].outcome.result, TL_CONVERGED);
        CHECK_NEAR(x[0], 1, 1e-8);
        CHECK_NEAR(x[1], 0.5, 1e-8);
    }
    assert_int_equal(r[1].outcome.iterations, r[0].outcome.iterations);
    assert_int_equal(r[1].work.products, r[0].work.products - 1);
}

static void pillar_carries_its_weight(void **state)
{
    (void)state;
    tl_chain ch;
    double x[20];
    CHECK_OK(tl_chain_create(&ch, 20, 0, 0, &err));
    for (int m = 0; m < tl_fixedpoint_method_count(); m++) {
        tl_fixedpoint_report r = solve_chain(&ch, tl_fixedpoint_method_at(m)->name, 0, 1e-11, x);
        assert_int_equal(r.outcome.result, TL_CONVERGED);
        CHECK_LE(r.certificate.residual, 1e-10);
        /* a change of 1e-11 is an error of about (n / 1.2)^2 times that at relaxation 1/2 */
        for (int i = 0; i < 20; i++) CHECK_NEAR(x[i], CHAIN_G * (20 - i), 1e-8);
    }
    tl_chain_free(&ch);
}

static void pull_opens_one_gap(void **state)
{
    (void)state;
    /* blocks 12 to 19 weigh 8 g; a pull of 10 g at block 12 lifts them, the rest stays */
    tl_chain ch;
    double x[20];
    CHECK_OK(tl_chain_create(&ch, 20, 12, 10 * CHAIN_G, &err));
    for (int m = 0; m < tl_fixedpoint_method_count(); m++) {
        tl_fixedpoint_report r = solve_chain(&ch, tl_fixedpoint_method_at(m)->name, 0, 1e-11, x);
        assert_int_equal(r.outcome.result, TL_CONVERGED);
        CHECK_NEAR(r.certificate.violation, 0, 0);
        for (int i = 0; i < 12; i++) CHECK_NEAR(x[i], CHAIN_G * (12 - i), 1e-8);
        CHECK_NEAR(x[12], 0, 1e-8);
        /* eight blocks rise together: block 13 + k is pushed by the share of those above it */
        for (int i = 13; i < 20; i++) CHECK_NEAR(x[i], (20 - i) * 10 * CHAIN_G / 8, 1e-8);
    }
    tl_chain_free(&ch);
}

static void limits_are_kept(void **state)
{
    (void)state;
    tl_chain ch;
    CHECK_OK(tl_chain_create(&ch, 20, 0, 0, &err));
    tl_space s = tl_space_local(20);
    tl_chain_part part = {&s, &ch.A, ch.c, ch.nu};
    tl_fixedpoint p = tl_chain_problem(&part, 1);
    tl_options o = tl_options_default();
    for (int m = 0; m < tl_fixedpoint_method_count(); m++) {
        double x[20] = {0}, residual[16];
        int64_t products[16];
        tl_history history = {.capacity = 16, .residual = residual, .products = products};
        tl_stop stop = {.tolerance = 1e-12, .max_iterations = 5};
        tl_fixedpoint_report r;
        o.history = &history;
        CHECK_OK(tl_fixedpoint_solve(tl_fixedpoint_method_at(m), &p, &o, &stop, x, &arena, &r, &err));
        o.history = NULL;
        assert_int_equal(r.outcome.result, TL_OUT_OF_ITERATIONS);
        assert_int_equal(r.outcome.iterations, 5);
        CHECK_NEAR(r.certificate.violation, 0, 0);
        CHECK_NEAR(r.outcome.residual, r.certificate.residual, 0); /* what the method says is what x has */
        assert_true(history.count >= 6);

        /* warm start from the answer: nothing to do */
        for (int i = 0; i < 20; i++) x[i] = CHAIN_G * (20 - i);
        CHECK_OK(tl_fixedpoint_solve(tl_fixedpoint_method_at(m), &p, &o, &stop, x, &arena, &r, &err));
        assert_int_equal(r.outcome.result, TL_CONVERGED);
        assert_int_equal(r.outcome.iterations, 0);

        /* too much relaxation grows without bound and is caught */
        part.nu = 3;
        stop = (tl_stop){.tolerance = 1e-12, .max_iterations = 100000};
        for (int i = 0; i < 20; i++) x[i] = i % 2 ? 1e300 : 0;
        CHECK_OK(tl_fixedpoint_solve(tl_fixedpoint_method_at(m), &p, &o, &stop, x, &arena, &r, &err));
        assert_int_equal(r.outcome.result, TL_BROKE_DOWN);
        part.nu = 0.5;
    }
    tl_chain_free(&ch);
    assert_null(tl_fixedpoint_method_find("no such method"));
    assert_null(tl_fixedpoint_method_at(tl_fixedpoint_method_count()));
}

/* ---- split in parts ---- */

typedef struct job {
    tl_split *split;
    const tl_chain *chain;
    const tl_fixedpoint_method *method;
    double *x; /* global, gathered */
    tl_fixedpoint_report report[3];
} job;

static int solve_part(int number, void *user)
{
    job *j = user;
    const tl_space *s = tl_split_space(j->split, number);
    tl_chain_part part = {s, tl_split_csr(j->split, number), j->chain->c + tl_split_begin(j->split, number),
                          j->chain->nu};
    tl_fixedpoint p = tl_chain_problem(&part, 1);
    tl_options o = tl_options_default();
    tl_stop stop = {.tolerance = 1e-9, .max_iterations = 100000};
    tl_arena a = {0};
    double *x = tl_space_take(s, &a);
    tl_vec_fill(s->n + s->halo, 0, x);
    int status = (int)tl_fixedpoint_solve(j->method, &p, &o, &stop, x, &a, &j->report[number], NULL);
    tl_split_gather(j->split, x, number, j->x);
    tl_arena_free(&a);
    return status;
}

static void same_answer_in_parts(void **state)
{
    (void)state;
    tl_chain ch;
    double x[30];
    CHECK_OK(tl_chain_create(&ch, 30, 12, 25 * CHAIN_G, &err));
    for (int parts = 2; parts <= 3; parts++)
        for (int m = 0; m < tl_fixedpoint_method_count(); m++) {
            job j = {
                .split = tl_split_create(&ch.A, parts, 1), .chain = &ch, .method = tl_fixedpoint_method_at(m), .x = x};
            assert_int_equal(tl_split_run(j.split, solve_part, &j), 0);
            for (int p = 0; p < parts; p++) {
                assert_int_equal(j.report[p].outcome.result, TL_CONVERGED);
                assert_int_equal(j.report[p].outcome.iterations, j.report[0].outcome.iterations);
                CHECK_LE(j.report[p].certificate.measure, 1e-9);
            }
            for (int i = 0; i < 12; i++) CHECK_NEAR(x[i], CHAIN_G * (12 - i), 1e-4);
            for (int i = 13; i < 30; i++) CHECK_NEAR(x[i], (30 - i) * 25 * CHAIN_G / 18, 1e-4);
            tl_split_free(j.split);
        }
    tl_chain_free(&ch);
}

static int give_back(void **state)
{
    (void)state;
    tl_arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certificate_by_hand),
        cmocka_unit_test(both_methods_find_the_sliding_block),
        cmocka_unit_test(nncg_beats_jacobi_and_more_so_on_high_pillars),
        cmocka_unit_test(start_that_is_known_saves_an_evaluation),
        cmocka_unit_test(pillar_carries_its_weight),
        cmocka_unit_test(pull_opens_one_gap),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(same_answer_in_parts),
    };
    return cmocka_run_group_tests(tests, NULL, give_back);
}
