/* Methods for boxes on pressure problems, by their names in scenes: the answer of multigrid, the same bits for any
 * number of threads, and a clean refusal when memory runs out. */
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "check.h"
#include "lab/bench/gen_pressure.h"
#include "solve/pressure/method.h"

static talus_error err;

static const char *const names[] = {"mprgp", "mprgp-original", "admm", "pip", "auglag", "cg"};
#define NAMES ((int)(sizeof names / sizeof names[0]))

static void solve(const char *name, const tl_pressure *p, double tolerance, double *x, tl_pressure_report *r)
{
    tl_arena a = {0};
    const tl_pressure_options o = tl_pressure_options_default();
    memset(x, 0, sizeof *x * (size_t)p->n);
    CHECK_OK(tl_pressure_solve(tl_pressure_method_find(name), p, &o, &(tl_stop){tolerance, 20000, 0}, x, &a, r, &err));
    tl_arena_free(&a);
}

static void same_answer(void **state)
{
    (void)state;
    for (int scene = 0; scene < 2; scene++) {
        tl_pressure_case c;
        tl_pressure_report r;
        CHECK_OK(tl_gen_pressure(&c, scene ? TL_SCENE_DAM : TL_SCENE_SPHERE, 20, 1, 0, &err));
        double *x = TL_NEW(double, c.p.n), *free = TL_NEW(double, c.p.n), *y = TL_NEW(double, c.p.n), max = 0;
        solve("multigrid", &c.p, 1e-9, x, &r);
        solve("cg-mic", &c.p, 1e-9, free, &r);
        for (int32_t i = 0; i < c.p.n; i++) max = fmax(max, x[i]);
        for (int k = 0; k < NAMES; k++) {
            const tl_pressure_method *m = tl_pressure_method_find(names[k]);
            solve(names[k], &c.p, 1e-7, y, &r);
            assert_string_equal(r.method, names[k]);
            assert_int_equal(r.outcome.result, TL_CONVERGED);
            assert_int_equal(tl_pressure_method_bounded(m), strcmp(names[k], "cg") != 0);
            double off = 0;
            for (int32_t i = 0; i < c.p.n; i++)
                off = fmax(off, fabs(y[i] - (tl_pressure_method_bounded(m) ? x : free)[i]));
            print_message("%s: %d iterations, off by %.1e\n", names[k], r.outcome.iterations, off / max);
            CHECK_LE(off / max, 1e-4);
        }
        tl_free(x);
        tl_free(free);
        tl_free(y);
        tl_pressure_case_free(&c);
    }
}

static void same_bits(void **state)
{
    (void)state;
    tl_pressure_case c;
    tl_pressure_report r;
    CHECK_OK(tl_gen_pressure(&c, TL_SCENE_DAM, 32, 1, 0, &err));
    double *x = TL_NEW(double, c.p.n);
    for (int k = 0; k < NAMES; k++) {
        uint64_t hash[2];
        for (int threads = 1; threads <= 2; threads++) {
            tl_threads_set(threads);
            solve(names[k], &c.p, 1e-2, x, &r);
            hash[threads - 1] = tl_hash(TL_HASH_START, x, sizeof *x * (size_t)c.p.n);
        }
        assert_true(hash[0] == hash[1]);
    }
    tl_threads_set(1);
    tl_free(x);
    tl_pressure_case_free(&c);
}

static void no_memory(void **state)
{
    (void)state;
    tl_pressure_case c;
    CHECK_OK(tl_gen_pressure(&c, TL_SCENE_DAM, 16, 1, 0, &err));
    double *x = TL_NEW(double, c.p.n);
    for (int m = 0; m < NAMES; m++)
        for (int64_t k = 1;; k++) {
            tl_arena a = {0};
            const tl_pressure_options o = tl_pressure_options_default();
            tl_pressure_report r;
            for (int32_t i = 0; i < c.p.n; i++) x[i] = 7;
            int64_t blocks = tl_alloc_read().live_blocks;
            tl_alloc_fail_at(k);
            talus_status status = tl_pressure_solve(tl_pressure_method_find(names[m]), &c.p, &o,
                                                    &(tl_stop){1e-2, 2000, 0}, x, &a, &r, &err);
            bool happened = tl_alloc_fail_happened();
            tl_alloc_fail_at(0);
            tl_arena_free(&a);
            assert_int_equal(tl_alloc_read().live_blocks, blocks);
            if (!happened) {
                CHECK_OK(status);
                assert_true(k > 2);
                break;
            }
            if (status == TALUS_OK) continue;
            assert_int_equal(status, TALUS_NO_MEMORY);
            for (int32_t i = 0; i < c.p.n; i++) CHECK_NEAR(x[i], 7, 0);
        }
    tl_free(x);
    tl_pressure_case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_answer), cmocka_unit_test(same_bits),
                                       cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
