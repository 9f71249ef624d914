#include "check.h"

#include <math.h>

#include "math/anderson.h"

#define N 40

/* y = target + a contraction towards it: rates from 0.99 to 0 and a kink, as bounds make it. */
static void map(const double *x, double *y)
{
    for (int i = 0; i < N; i++) {
        double rate = i < 3 ? 0.99 - 0.05 * i : 0.2 / (1 + i), target = i % 7 - 3;
        y[i] = fmax(-2.5, target + rate * (x[i] - target));
    }
}

static double left(const double *x)
{
    double max = 0, y[N];
    map(x, y);
    for (int i = 0; i < N; i++) max = fmax(max, fabs(y[i] - x[i]));
    return max;
}

static void slow_map_gets_fast(void **state)
{
    (void)state;
    double x[N] = {0}, plain[N] = {0}, y[N];
    tl_anderson m;
    tl_arena a = {0};
    talus_error err;
    CHECK_OK(tl_arena_reserve(&a, 1 << 20, &err));
    CHECK_OK(tl_anderson_begin(&m, N, &a, &err));
    for (int k = 0; k < 25; k++) {
        map(plain, plain);
        map(x, y);
        tl_anderson_next(&m, x, y, x);
    }
    assert_true(left(plain) > 1e-2);
    assert_true(left(x) < 1e-10);
    for (int i = 0; i < N; i++) CHECK_NEAR(x[i], fmax(-2.5, i % 7 - 3), 1e-7); /* 0.99: 100 times what is left */
    tl_arena_free(&a);
}

/* A map that drives apart: the memory is emptied, and what goes on is the map itself. */
static void growth_empties_the_memory(void **state)
{
    (void)state;
    double x[2] = {1, 1}, y[2] = {2, 1.5}, next[2];
    tl_anderson m;
    tl_arena a = {0};
    talus_error err;
    CHECK_OK(tl_arena_reserve(&a, 1 << 20, &err));
    CHECK_OK(tl_anderson_begin(&m, 2, &a, &err));
    tl_anderson_next(&m, x, y, next);
    CHECK_NEAR(next[0], 2, 0);
    y[0] = 12;
    tl_anderson_next(&m, x, y, next);
    assert_int_equal(m.count, 1);
    CHECK_NEAR(next[0], 12, 0);
    CHECK_NEAR(next[1], 1.5, 0);
    tl_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_map_gets_fast),
        cmocka_unit_test(growth_empties_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
