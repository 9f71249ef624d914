/* The table of `talus bench rigid`: rows of quick scenes, what passes and what must not. */
#include "check.h"

#include "lab/bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static talus_error err;

typedef struct rows {
    int yes, no, columns;
    char first[96];
} rows;

static int keep(void *user, talus_row_kind kind, int cells, const char *const *cell)
{
    rows *r = user;
    if (kind == TALUS_ROW_HEADER) r->columns = cells;
    if (kind != TALUS_ROW_DATA) return 0;
    if (!r->yes && !r->no) snprintf(r->first, sizeof r->first, "%s", cell[0]);
    r->yes += !strcmp(cell[4], "yes");
    r->no += !strcmp(cell[4], "NO");
    return 0;
}

static rows table(const char *scene, const char *method)
{
    rows r = {0};
    talus_bench_options o = talus_bench_options_default();
    o.table = "rigid";
    o.problem = scene;
    o.method = method;
    o.scenes = TL_SOURCE_DIR "/scenes";
    CHECK_OK(talus_bench_run(&o, keep, &r, &err));
    return r;
}

static void default_method_meets_the_targets(void **state)
{
    (void)state;
    rows r = table("slope", NULL);
    assert_string_equal(r.first, "slope 26: acceleration m/s2");
    assert_int_equal(r.columns, 15);
    assert_int_equal(r.no, 0);
    assert_int_equal(r.yes, 5);
    r = table("threshold diagonal", NULL);
    assert_int_equal(r.yes, 1);
    r = table("cards 2", NULL);
    assert_int_equal(r.yes, 2);
}

/* Negative controls: a pyramid holds the diagonal better than the cone, sweeps do not carry a mass ratio of 10^4. */
static void wrong_methods_miss_them(void **state)
{
    (void)state;
    rows r = table("slide 35 diagonal", "pgs-pyramid");
    assert_int_equal(r.no, 1);
    r = table("tower", "pgs-pyramid");
    assert_true(r.no >= 1);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    rows r = {0};
    talus_bench_options o = talus_bench_options_default();
    o.table = "rigid";
    assert_int_equal(talus_bench_run(&o, keep, &r, &err), TALUS_BAD_INPUT); /* no folder of scenes */
    o.scenes = TL_SOURCE_DIR "/scenes";
    o.method = "magic";
    assert_int_equal(talus_bench_run(&o, keep, &r, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "magic"));
}

static int keep_right(void *user, talus_row_kind kind, int cells, const char *const *cell)
{
    rows *r = user;
    if (kind == TALUS_ROW_DATA) r->yes += cells >= 4 && fabs(strtod(cell[2], NULL) - strtod(cell[1], NULL)) < 0.5;
    return 0;
}

/* talus has its column whether the others are installed or not. */
static void peers_have_a_table(void **state)
{
    (void)state;
    static const char *const scenes[] = {"creep", "cards", "wheel", "cradle"};
    for (int k = 0; k < 4; k++) {
        rows r = {0};
        talus_bench_options o = talus_bench_options_default();
        o.table = "peers";
        o.problem = scenes[k];
        CHECK_OK(talus_bench_run(&o, keep_right, &r, &err));
        assert_int_equal(r.yes, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_method_meets_the_targets),
        cmocka_unit_test(wrong_methods_miss_them),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(peers_have_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
