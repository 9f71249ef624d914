/* Pressure solves with the heap refusing at every point, and with input that is not numbers. */
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "lab/bench/gen_pressure.h"
#include "lattice.h"
#include "solve/pressure/method.h"

static talus_error err;

/* Every allocation of a solve fails once: a clean status with x untouched, or success where the arena found a smaller
 * block; nothing lost. */
static void no_memory(void **state)
{
    (void)state;
    tl_pressure_case c;
    CHECK_OK(tl_gen_pressure(&c, TL_SCENE_DAM, 24, 1, 0, &err));
    double *x = TL_NEW(double, c.p.n);
    int refused = 0;
    for (int m = 0; m < tl_pressure_method_count(); m++)
        for (int64_t k = 1;; k++) {
            tl_arena a = {0};
            tl_pressure_options o = tl_pressure_options_default();
            tl_pressure_report r;
            o.mic_below = 0;
            for (int32_t i = 0; i < c.p.n; i++) x[i] = 7;
            int64_t blocks = tl_alloc_read().live_blocks;
            tl_alloc_fail_at(k);
            talus_status status =
                tl_pressure_solve(tl_pressure_method_at(m), &c.p, &o, &(tl_stop){1e-5, 200, 0}, x, &a, &r, &err);
            bool happened = tl_alloc_fail_happened();
            tl_alloc_fail_at(0);
            tl_arena_free(&a);
            assert_int_equal(tl_alloc_read().live_blocks, blocks);
            if (!happened) {
                CHECK_OK(status);
                break;
            }
            if (status == TALUS_OK) continue;
            refused++;
            assert_int_equal(status, TALUS_NO_MEMORY);
            for (int32_t i = 0; i < c.p.n; i++) CHECK_NEAR(x[i], 7, 0);
        }
    assert_true(refused >= tl_pressure_method_count());
    tl_free(x);
    tl_pressure_case_free(&c);
}

static void no_memory_generator(void **state)
{
    (void)state;
    for (int64_t k = 1;; k++) {
        tl_pressure_case c;
        int64_t blocks = tl_alloc_read().live_blocks;
        tl_alloc_fail_at(k);
        talus_status status = tl_gen_pressure(&c, TL_SCENE_TANK, 12, 1, 1, &err);
        bool happened = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        if (!happened) {
            CHECK_OK(status);
            tl_pressure_case_free(&c);
            assert_true(k > 10);
            break;
        }
        assert_int_equal(status, TALUS_NO_MEMORY);
        assert_int_equal(tl_alloc_read().live_blocks, blocks);
    }
}

/* Not-a-number in the right-hand side ends as broken down with an infinite certificate; in the start it is read as
 * zero. */
static void not_numbers(void **state)
{
    (void)state;
    tl_pressure_case c;
    tl_arena a = {0};
    CHECK_OK(tl_gen_pressure(&c, TL_SCENE_DAM, 24, 1, 0, &err));
    double *x = TL_NEW(double, c.p.n);
    for (int m = 0; m < tl_pressure_method_count(); m++) {
        const double bad[] = {NAN, INFINITY, -INFINITY};
        tl_pressure_options o = tl_pressure_options_default();
        tl_pressure_report r;
        o.mic_below = 0;
        for (int k = 0; k < 3; k++) {
            double keep = c.b[10];
            c.b[10] = bad[k];
            for (int32_t i = 0; i < c.p.n; i++) x[i] = 0;
            CHECK_OK(tl_pressure_solve(tl_pressure_method_at(m), &c.p, &o, &(tl_stop){1e-5, 200, 0}, x, &a, &r, &err));
            assert_int_equal(r.outcome.result, TL_BROKE_DOWN);
            assert_true(isinf(r.certificate.optimality));
            for (int32_t i = 0; i < c.p.n; i++) assert_true(isfinite(x[i]));
            c.b[10] = keep;
        }
        o.start = TL_PRESSURE_WARM;
        for (int32_t i = 0; i < c.p.n; i++) x[i] = i % 5 ? 0 : NAN;
        CHECK_OK(tl_pressure_solve(tl_pressure_method_at(m), &c.p, &o, &(tl_stop){1e-5, 400, 0}, x, &a, &r, &err));
        assert_int_equal(r.outcome.result, TL_CONVERGED);
    }
    tl_free(x);
    tl_arena_free(&a);
    tl_pressure_case_free(&c);
}

/* A right-hand side that no pressure can meet (a closed cavity that shrinks): never converged, never not a number. */
static void impossible(void **state)
{
    (void)state;
    tl_pressure_case c;
    tl_arena a = {0};
    tl_lattice_make(&c, &(tl_lattice){.size = {14, 14, 14}});
    for (int32_t i = 0; i < c.p.n; i++) c.b[i] = 1;
    double *x = TL_NEW_ZERO(double, c.p.n);
    for (int m = 0; m < tl_pressure_method_count(); m++) {
        tl_pressure_options o = tl_pressure_options_default();
        tl_pressure_report r;
        CHECK_OK(tl_pressure_solve(tl_pressure_method_at(m), &c.p, &o, &(tl_stop){1e-5, 300, 0}, x, &a, &r, &err));
        assert_true(r.outcome.result != TL_CONVERGED);
        for (int32_t i = 0; i < c.p.n; i++) assert_true(isfinite(x[i]));
    }
    tl_free(x);
    tl_arena_free(&a);
    tl_pressure_case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_memory), cmocka_unit_test(no_memory_generator),
                                       cmocka_unit_test(not_numbers), cmocka_unit_test(impossible)};
    return cmocka_run_group_tests_name("pressure", tests, NULL, NULL);
}
