/* Contact assembly, its generators and fixed-point solves with the heap refusing at every point. */
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "lab/bench/gen_chain.h"
#include "lab/bench/gen_contact.h"
#include "solve/fixedpoint/method.h"

static talus_error err;

static talus_status stack(void)
{
    tl_gen_contact g;
    double mass[3] = {1, 2, 3};
    talus_status status = tl_gen_contact_stack(&g, 3, mass, 0.5, &err); /* assembles W from the bodies */
    tl_gen_contact_free(&g);
    return status;
}

static talus_status wall(void)
{
    tl_gen_contact g;
    talus_status status = tl_gen_contact_wall(&g, 2, 2, 1, 0.5, &err);
    tl_gen_contact_free(&g);
    return status;
}

static int which_method;

/* Large enough that the arena's smallest chunk does not do, so a refusal is final. */
static talus_status fixedpoint(void)
{
    enum { n = 9000 };
    static double x[n];
    tl_chain chain = {0};
    tl_arena a = {0};
    talus_status status = tl_chain_create(&chain, n, 0, 0, &err);
    if (status == TALUS_OK) {
        tl_space space = tl_space_local(n);
        tl_chain_part whole = {&space, &chain.A, chain.c, chain.nu};
        tl_fixedpoint p = tl_chain_problem(&whole, 0);
        tl_options o = tl_options_default();
        tl_fixedpoint_report r;
        memset(x, 0, sizeof x);
        status = tl_fixedpoint_solve(tl_fixedpoint_method_at(which_method), &p, &o, &(tl_stop){1e-6, 0, 20}, x, &a, &r,
                                     &err);
        if (status != TALUS_OK)
            for (int i = 0; i < n; i++) CHECK_NEAR(x[i], 0, 0); /* the start is untouched */
    }
    tl_chain_free(&chain);
    tl_arena_free(&a);
    return status;
}

static void sweep(talus_status (*attempt)(void), int at_least)
{
    int failures = 0;
    for (int64_t k = 1;; k++) {
        int64_t live = tl_alloc_read().live_blocks;
        tl_alloc_fail_at(k);
        talus_status status = attempt();
        int failed = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        assert_int_equal(tl_alloc_read().live_blocks, live);
        if (!failed) {
            assert_int_equal(status, TALUS_OK);
            break;
        }
        if (status == TALUS_OK) continue; /* the arena went on with a smaller chunk */
        assert_int_equal(status, TALUS_NO_MEMORY);
        failures++;
    }
    assert_true(failures >= at_least);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    sweep(stack, 8);
    sweep(wall, 8);
    for (which_method = 0; which_method < tl_fixedpoint_method_count(); which_method++) sweep(fixedpoint, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
