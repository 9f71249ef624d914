/* Fixed-point methods give the same bits for one and two threads, and leave the heap alone once the
 * arena has its size. */
#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "check.h"
#include "lab/bench/gen_chain.h"
#include "solve/fixedpoint/method.h"
#include "solve/vecops.h"
#include "split.h"

static void same_bits_for_one_and_two_threads(void **state)
{
    (void)state;
    talus_error err;
    const int32_t n = 50000;
    assert_true(n >= TL_PARALLEL_MIN && tl_blocks_of(n).count >= 2); /* the loops do use two threads */
    tl_chain ch;
    tl_arena arena = {0};
    CHECK_OK(tl_chain_create(&ch, n, n / 2, 1e6 * CHAIN_G, &err));
    tl_space s = tl_space_local(n);
    tl_chain_part part = {&s, &ch.A, ch.c, ch.nu};
    double *x = TL_NEW(double, n), *weight = TL_NEW(double, n);
    tl_vec_fill(n, 1 / CHAIN_G, weight);
    tl_options o = tl_options_default();
    tl_stop stop = {.tolerance = 1e-12, .max_iterations = 40};
    int before = tl_threads();

    for (int m = 0; m < tl_fixedpoint_method_count(); m++) {
        tl_fixedpoint p = tl_chain_problem(&part, 0);
        p.weight = weight;
        uint64_t hash[2];
        int64_t calls = 0;
        for (int threads = 1; threads <= 2; threads++) {
            tl_threads_set(threads);
            assert_int_equal(tl_threads(), threads);
            tl_fixedpoint_report r;
            for (int32_t i = 0; i < n; i++) x[i] = CHAIN_G * (i % 7);
            CHECK_OK(tl_fixedpoint_solve(tl_fixedpoint_method_at(m), &p, &o, &stop, x, &arena, &r, &err));
            assert_int_equal(r.outcome.iterations, 40);
            hash[threads - 1] = tl_hash(TL_HASH_START, x, sizeof(double) * (size_t)n);
            hash[threads - 1] = tl_hash(hash[threads - 1], &r.certificate.change, sizeof(double));
            hash[threads - 1] = tl_hash(hash[threads - 1], &r.outcome.residual, sizeof(double));
            if (threads == 1)
                calls = tl_alloc_read().calls;
            else
                assert_int_equal(tl_alloc_read().calls, calls);
        }
        assert_true(hash[0] == hash[1]);
    }
    tl_threads_set(before);
    tl_free(x);
    tl_free(weight);
    tl_arena_free(&arena);
    tl_chain_free(&ch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_for_one_and_two_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
