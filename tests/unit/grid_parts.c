/* The grid in several parts, as threads, against one (tests/support/grid_cases.h). */
#include "check.h"
#include "grid_cases.h"
#include "split.h"

static void run_case(int which)
{
    static const int parts[] = {2, 3, 8};
    for (size_t k = which ? 1 : 0; k < sizeof parts / sizeof parts[0]; k++) {
        int part = 0;
        const char *wrong = tl_split_case(parts[k], tl_grid_cases[which].run, &part);
        if (wrong) fail_msg("part %d of %d: %s", part, parts[k], wrong);
    }
}

static void cuts(void **state)
{
    (void)state;
    run_case(0);
}
static void particles(void **state)
{
    (void)state;
    run_case(1);
}
static void around(void **state)
{
    (void)state;
    run_case(2);
}
static void derived(void **state)
{
    (void)state;
    run_case(3);
    assert_int_equal(tl_grid_case_count, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts),
        cmocka_unit_test(particles),
        cmocka_unit_test(around),
        cmocka_unit_test(derived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
