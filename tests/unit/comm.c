/* Parts of a run as threads: sums, messages and halos are right for any number of parts (tests/support/comm_cases.h). */
#include "base/comm.h"
#include "check.h"
#include "comm_cases.h"
#include "split.h"

static void run_case(int which)
{
    static const int parts[] = {1, 2, 3, 5, 8, 70};
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        int part = 0;
        const char *wrong = tl_split_case(parts[k], tl_comm_cases[which].run, &part);
        if (wrong) fail_msg("part %d of %d: %s", part, parts[k], wrong);
    }
}

static void sums(void **state)
{
    (void)state;
    run_case(0);
}
static void rows(void **state)
{
    (void)state;
    run_case(1);
}
static void failures(void **state)
{
    (void)state;
    run_case(2);
}
static void parcels(void **state)
{
    (void)state;
    run_case(3);
}
static void halos(void **state)
{
    (void)state;
    run_case(4);
    assert_int_equal(tl_comm_case_count, 5);
}

/* One part without an implementation: NULL is a tl_comm. */
static void nobody_else(void **state)
{
    (void)state;
    talus_error err;
    double x = 3;
    tl_halo *h;
    const tl_halo_source none = {7, 0, NULL, NULL};
    tl_comm_reduce(NULL, TL_REDUCE_SUM, 1, &x);
    assert_true(x == 3 && tl_comm_sum(NULL, 2) == 2 && tl_comm_max(NULL, -1) == -1);
    assert_int_equal(tl_comm_agree(NULL, TALUS_IO, &err), TALUS_IO);
    assert_int_equal(tl_comm_plan(NULL, &none, &h, &err), TALUS_OK);
    assert_null(h);
    tl_comm_get(NULL, h, 8, &x, NULL);
    assert_int_equal(tl_comm_mark(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),    cmocka_unit_test(rows),  cmocka_unit_test(failures),
        cmocka_unit_test(parcels), cmocka_unit_test(halos), cmocka_unit_test(nobody_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
