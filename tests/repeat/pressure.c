/* Pressure solves: the same bits for one, two and three threads with every kind of step taken, no heap use once the
 * arena has settled, memory that follows the cells and not the box around them. */
#include <omp.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "check.h"
#include "lab/bench/gen_pressure.h"
#include "lattice.h"
#include "solve/pressure/method.h"

static talus_error err;

#define CELL_BYTES 220 /* of a solve, the problem's own arrays included */
#define PROBLEM_BYTES 84
#define START_BYTES 8 /* the caller's x */

static uint64_t hash_of(const tl_pressure_method *m, const tl_pressure *p, int threads, double *x, tl_arena *a,
                        tl_pressure_report *r)
{
    tl_pressure_options o = tl_pressure_options_default();
    tl_threads_set(threads);
    memset(x, 0, sizeof *x * (size_t)p->n);
    CHECK_OK(tl_pressure_solve(m, p, &o, &(tl_stop){1e-8, 60, 0}, x, a, r, &err));
    uint64_t h = tl_hash(TL_HASH_START, x, sizeof *x * (size_t)p->n);
    return tl_hash(h, &r->certificate, sizeof r->certificate);
}

/* P10 */
static void threads(void **state)
{
    (void)state;
    tl_pressure_case c;
    tl_arena a = {0};
    CHECK_OK(tl_gen_pressure(&c, TL_SCENE_SPHERE, 64, 2, 0, &err));
    assert_true(c.p.n > 2 * TL_PARALLEL_MIN); /* two levels run on several threads */
    double *x = TL_NEW(double, c.p.n);
    for (int k = 0; k < tl_pressure_method_count(); k++) {
        const tl_pressure_method *m = tl_pressure_method_at(k);
        tl_pressure_report r;
        uint64_t one = hash_of(m, &c.p, 1, x, &a, &r);
        if (tl_pressure_method_bounded(m)) assert_true(r.releases > 0 && r.expansions > 0);
        for (int t = 1; t < 4; t++)
            if (hash_of(m, &c.p, t, x, &a, &r) != one)
                fail_msg("%s: other bits on %d threads", tl_pressure_method_name(m), t);
    }
    tl_threads_set(2);
    tl_free(x);
    tl_arena_free(&a);
    tl_pressure_case_free(&c);
}

static void no_heap(void **state)
{
    (void)state;
    tl_pressure_case c;
    tl_arena a = {0};
    CHECK_OK(tl_gen_pressure(&c, TL_SCENE_DAM, 40, 2, 0, &err));
    double *x = TL_NEW(double, c.p.n);
    for (int k = 0; k < tl_pressure_method_count(); k++) {
        tl_pressure_report r;
        hash_of(tl_pressure_method_at(k), &c.p, 2, x, &a, &r);
        tl_arena_reset(&a);
        int64_t calls = tl_alloc_read().calls;
        hash_of(tl_pressure_method_at(k), &c.p, 2, x, &a, &r);
        assert_int_equal(tl_alloc_read().calls, calls);
    }
    tl_free(x);
    tl_arena_free(&a);
    tl_pressure_case_free(&c);
}

static size_t plan_bytes(const char *method, const tl_pressure *p)
{
    tl_arena a = {0};
    tl_pressure_plan *plan;
    tl_pressure_options o = tl_pressure_options_default();
    CHECK_OK(tl_pressure_plan_make(&plan, tl_pressure_method_find(method), p, &o, &a, &err));
    size_t bytes = tl_pressure_plan_bytes(plan);
    CHECK_LE((double)bytes, (double)a.high_water);
    tl_arena_free(&a);
    return bytes;
}

/* P15: little memory per cell, and no more when drops of the same liquid lie a hundred thousand cells apart. */
static void memory(void **state)
{
    (void)state;
    const char *const names[] = {"multigrid", "mic"};
    tl_pressure_case c;
    CHECK_OK(tl_gen_pressure(&c, TL_SCENE_DAM, 48, 1, 0, &err));
    for (int k = 0; k < 2; k++)
        CHECK_LE((double)plan_bytes(names[k], &c.p) / c.p.n, CELL_BYTES - PROBLEM_BYTES - START_BYTES);

    int32_t(*at)[3] = tl_alloc(sizeof *at * (size_t)c.p.n);
    memcpy(at, c.ijk, sizeof *at * (size_t)c.p.n);
    size_t near = plan_bytes("multigrid", &c.p);
    for (int32_t i = 0; i < c.p.n;
         i++) /* the same cells with more room between left and right; links across stay links */
        if (at[i][0] >= 20) at[i][0] += 100000;
    c.p.ijk = (const int32_t(*)[3])at;
    size_t far = plan_bytes("multigrid", &c.p);
    CHECK_LE((double)far, 1.05 * (double)near);
    tl_free(at);
    tl_pressure_case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads), cmocka_unit_test(no_heap), cmocka_unit_test(memory)};
    return cmocka_run_group_tests_name("pressure", tests, NULL, NULL);
}
