/* Cone solves with the heap refusing at every point, and with input that is not numbers. */
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "lab/bench/gen_cone.h"
#include "solve/cone/method.h"

static talus_error err;

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tl_gen_cone g;
    CHECK_OK(tl_gen_cone_stress(&g, 8, 8, 8, 1, &err)); /* above the arena's smallest chunk, so a refusal is final */
    tl_options o = tl_options_default();
    tl_stop stop = {.tolerance = 1e-6, .max_products = 20};
    double *x = TL_NEW(double, g.space.n);
    for (int i = 0; i < tl_cone_method_count(); i++) {
        int failures = 0;
        for (int64_t k = 1;; k++) {
            int64_t live = tl_alloc_read().live_blocks;
            tl_arena a = {0};
            tl_cone_report r;
            for (int64_t j = 0; j < g.space.n; j++) x[j] = 0.01 * (double)j;
            tl_alloc_fail_at(k);
            talus_status status = tl_cone_solve(tl_cone_method_at(i), &g.problem, &o, &stop, x, &a, &r, &err);
            int failed = tl_alloc_fail_happened();
            tl_alloc_fail_at(0);
            tl_arena_free(&a);
            assert_int_equal(tl_alloc_read().live_blocks, live);
            assert_int_equal(status, failed ? TALUS_NO_MEMORY : TALUS_OK);
            if (!failed) break;
            failures++;
            for (int64_t j = 0; j < g.space.n; j++) CHECK_NEAR(x[j], 0.01 * (double)j, 0);
        }
        assert_true(failures >= 1);
    }
    tl_free(x);
    tl_gen_cone_free(&g);
}

static talus_status generate(int kind, tl_gen_cone *g)
{
    tl_gen_cone_spec random = {.seed = 3, .size = 2, .groups = 8, .condition = 50, .tightness = 0.6};
    tl_gen_cone_blocks_spec blocks = {.columns = 2, .levels = 2, .tilt_deg = 10, .friction = 0.4, .side_press = 1};
    return kind == 0   ? tl_gen_cone_random(g, &random, &err)
           : kind == 1 ? tl_gen_cone_stress(g, 3, 3, 3, 1, &err)
                       : tl_gen_cone_blocks(g, &blocks, &err);
}

static void generators_clean_up(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        int failures = 0;
        for (int64_t k = 1;; k++) {
            int64_t live = tl_alloc_read().live_blocks;
            tl_gen_cone g;
            tl_alloc_fail_at(k);
            talus_status status = generate(kind, &g);
            int failed = tl_alloc_fail_happened();
            tl_alloc_fail_at(0);
            assert_int_equal(status, failed ? TALUS_NO_MEMORY : TALUS_OK);
            tl_gen_cone_free(&g);
            assert_int_equal(tl_alloc_read().live_blocks, live);
            if (!failed) break;
            failures++;
        }
        assert_true(failures >= 3);
    }
}

/* In the vectors: refused by name, x untouched. In A: found while iterating, x stays numbers. */
static void not_a_number(void **state)
{
    (void)state;
    tl_gen_cone g;
    tl_gen_cone_spec spec = {.seed = 3, .size = 5, .groups = 12, .condition = 50, .tightness = 0.6};
    CHECK_OK(tl_gen_cone_random(&g, &spec, &err));
    tl_options o = tl_options_default();
    tl_stop stop = {.tolerance = 1e-6, .max_iterations = 100000};
    tl_arena a = {0};
    double x[60], bad[3] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < tl_cone_method_count(); i++)
        for (int k = 0; k < 3; k++) {
            const tl_cone_method *m = tl_cone_method_at(i);
            tl_cone_report r;
            double *place[4] = {&g.b[7], &g.radius[3], &x[11], &g.problem.Q[6]};
            for (int where = 0; where < 4; where++) {
                for (int j = 0; j < 60; j++) x[j] = 0.5;
                double keep = *place[where];
                *place[where] = bad[k];
                assert_int_equal(tl_cone_solve(m, &g.problem, &o, &stop, x, &a, &r, &err), TALUS_BAD_INPUT);
                *place[where] = keep;
                for (int j = 0; j < 60; j++) CHECK_NEAR(x[j], 0.5, 0);
            }
            double keep = g.A.val[60 * 31 + 31];
            g.A.val[60 * 31 + 31] = bad[k];
            CHECK_OK(tl_cone_solve(m, &g.problem, &o, &stop, x, &a, &r, &err));
            g.A.val[60 * 31 + 31] = keep;
            assert_int_equal(r.outcome.result, TL_BROKE_DOWN);
            for (int j = 0; j < 60; j++) assert_true(isfinite(x[j]));
        }
    tl_arena_free(&a);
    tl_gen_cone_free(&g);
}

/* An A that is not positive semidefinite breaks the promise of the kind: any outcome, but it ends. */
static void indefinite(void **state)
{
    (void)state;
    tl_gen_cone g;
    tl_gen_cone_spec spec = {.seed = 3, .size = 2, .groups = 12, .condition = 50, .tightness = 0.6};
    CHECK_OK(tl_gen_cone_random(&g, &spec, &err));
    for (int j = 0; j < 24; j++) g.A.val[j * 24 + j] -= 20;
    tl_options o = tl_options_default();
    tl_arena a = {0};
    for (int i = 0; i < tl_cone_method_count(); i++) {
        double x[24] = {0};
        tl_cone_report r;
        CHECK_OK(tl_cone_solve(tl_cone_method_at(i), &g.problem, &o,
                               &(tl_stop){.tolerance = 1e-8, .max_products = 5000}, x, &a, &r, &err));
        for (int j = 0; j < 24; j++) assert_true(isfinite(x[j]));
    }
    tl_arena_free(&a);
    tl_gen_cone_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(generators_clean_up),
        cmocka_unit_test(not_a_number),
        cmocka_unit_test(indefinite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
