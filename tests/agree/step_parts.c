/* Whole steps in several parts, as threads, against one (tests/support/step_cases.h). */
#include "check.h"
#include "split.h"
#include "step_cases.h"

static void run_case(int which, int parts)
{
    int part = 0;
    const char *wrong = tl_split_case(parts, tl_step_cases[which].run, &part);
    if (wrong) fail_msg("%d parts: %s", parts, wrong);
}

static void dam(void **state)
{
    (void)state;
    run_case(0, 2);
    run_case(0, 3);
}
static void crowds(void **state)
{
    (void)state;
    run_case(1, 4);
}
static void bodies(void **state)
{
    (void)state;
    run_case(2, 3);
}
static void drops(void **state)
{
    (void)state;
    run_case(3, 2);
    run_case(3, 5);
}
static void tap(void **state)
{
    (void)state;
    run_case(4, 3);
}
static void trough(void **state)
{
    (void)state;
    run_case(5, 3);
    run_case(5, 4);
    assert_int_equal(tl_step_case_count, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dam),   cmocka_unit_test(crowds), cmocka_unit_test(bodies),
        cmocka_unit_test(drops), cmocka_unit_test(tap),    cmocka_unit_test(trough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
