/* `talus bench profile`: one row per frame, whose phases add up to its processor time. */
#include "check.h"

#include "lab/bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static talus_error err;

typedef struct rows {
    int frames, columns, total; /* total: column of all processor seconds, phases are beyond it */
    int last;
} rows;

static int keep(void *user, talus_row_kind kind, int cells, const char *const *cell)
{
    rows *r = user;
    if (kind == TALUS_ROW_HEADER) {
        r->columns = cells;
        for (int i = 0; i < cells; i++)
            if (!strcmp(cell[i], "CPU s")) r->total = i;
    }
    if (kind != TALUS_ROW_DATA) return 0;
    double sum = 0;
    assert_int_equal(cells, r->columns);
    for (int i = r->total + 1; i < cells; i++) sum += atof(cell[i]);
    assert_true(fabs(sum - atof(cell[r->total])) < 1e-4 * cells); /* four decimals each */
    r->frames++;
    r->last = atoi(cell[1]);
    return 0;
}

static talus_status profile(const char *what, const char *method, int size, rows *r)
{
    talus_bench_options o = talus_bench_options_default();
    o.table = "profile";
    o.problem = what;
    o.method = method;
    o.size = size;
    o.scenes = TL_SOURCE_DIR "/scenes";
    *r = (rows){0};
    return talus_bench_run(&o, keep, r, &err);
}

static void figures_and_scenes(void **state)
{
    (void)state;
    rows r;
    CHECK_OK(profile("fm-figure10", "cone, apgd (ours)", 12, &r));
    assert_int_equal(r.frames, 30);
    assert_int_equal(r.last, 30);
    assert_true(r.total > 0 && r.columns > r.total + 8); /* grid: solve, particles, ... after those of bodies */
    CHECK_OK(profile("fm-figure7", "multigrid", 12, &r));
    assert_int_equal(r.frames, 21);
    CHECK_OK(profile("fm-figure16", "t-pn", 0, &r));
    assert_int_equal(r.frames, 50);
    CHECK_OK(profile("sand-column", NULL, 12, &r));
    assert_int_equal(r.frames, r.last);
    assert_true(r.frames >= 20);
    assert_int_equal(profile("fm-figure10", "no such variant", 12, &r), TALUS_BAD_INPUT);
    assert_int_not_equal(profile("no-such-scene", NULL, 0, &r), TALUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(figures_and_scenes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
