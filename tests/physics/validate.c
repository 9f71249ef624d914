/* The quick cases of `talus validate`: every number of theirs passes. */
#include "lab/validate.h"

#include "check.h"

static int row(void *user, const talus_check_row *r)
{
    (void)user;
    if (!r->passed)
        print_error("%s %s: %s is %.9g, expected %.9g +- %.3g\n", r->group, r->name, r->quantity, r->measured,
                    r->expected, r->tolerance);
    return 0;
}

static void quick_cases_pass(void **state)
{
    (void)state;
    int ran = 0;
    for (int i = 0; talus_validate_name(i); i++) {
        if (!talus_validate_quick(i)) continue;
        talus_error err = {0};
        int failed = 0;
        CHECK_OK(talus_validate_run(i, row, NULL, &failed, &err));
        assert_int_equal(failed, 0);
        ran++;
    }
    assert_true(ran > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quick_cases_pass)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
