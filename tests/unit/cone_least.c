/* Least energy under balance: the bound holds for any multipliers, and meets the energy where the rows balance. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "solve/cone/least.h"

#define GROUPS 12
#define SIZE 2
#define ROWS 14

static talus_error err;

/* K as a dense matrix: columns a of each group, then b. */
typedef struct dense {
    double a[ROWS][GROUPS], b[ROWS][GROUPS * SIZE];
} dense;

static double pick(uint64_t i, uint64_t what) { return 2 * tl_random(what, i, 1) - 1; }

static void product(const void *ctx, const double *a, const double *b, double *y)
{
    const dense *K = ctx;
    for (int r = 0; r < ROWS; r++) {
        y[r] = 0;
        for (int g = 0; g < GROUPS; g++) y[r] += K->a[r][g] * a[g];
        for (int g = 0; g < GROUPS * SIZE; g++) y[r] += K->b[r][g] * b[g];
    }
}

static void adjoint(const void *ctx, const double *t, double *a, double *b)
{
    const dense *K = ctx;
    for (int g = 0; g < GROUPS; g++) a[g] = 0;
    for (int g = 0; g < GROUPS * SIZE; g++) b[g] = 0;
    for (int r = 0; r < ROWS; r++) {
        for (int g = 0; g < GROUPS; g++) a[g] += K->a[r][g] * t[r];
        for (int g = 0; g < GROUPS * SIZE; g++) b[g] += K->b[r][g] * t[r];
    }
}

static void bound_meets_energy(void **state)
{
    (void)state;
    tl_arena arena = {0};
    for (uint64_t trial = 0; trial < 10; trial++) {
        dense K;
        double a0[GROUPS], b0[GROUPS * SIZE], f[ROWS], w[GROUPS], k[GROUPS], alpha[GROUPS], t[ROWS] = {0}, a[GROUPS],
                                                                                            b[GROUPS * SIZE];
        uint8_t held[ROWS] = {0}, frozen[GROUPS] = {0};
        held[3] = 1;
        frozen[5] = trial % 2;
        for (int r = 0; r < ROWS; r++) {
            for (int g = 0; g < GROUPS; g++) K.a[r][g] = pick((uint64_t)(r * 100 + g), 10 + trial);
            for (int g = 0; g < GROUPS * SIZE; g++) K.b[r][g] = pick((uint64_t)(r * 100 + g), 30 + trial);
        }
        /* an admissible start, half of it on its cones */
        for (int g = 0; g < GROUPS; g++) {
            a0[g] = 1 + fabs(pick((uint64_t)g, 50 + trial));
            w[g] = 0.5 + fabs(pick((uint64_t)g, 60));
            k[g] = 0.5 + fabs(pick((uint64_t)g, 61));
            alpha[g] = 0.3 + 0.5 * fabs(pick((uint64_t)g, 62));
            double angle = 3 * pick((uint64_t)g, 70 + trial), length = (g % 2 ? 1 : 0.4) * alpha[g] * a0[g];
            b0[2 * g] = length * cos(angle);
            b0[2 * g + 1] = length * sin(angle);
        }
        product(&K, a0, b0, f);
        tl_least p = {.rows = ROWS,
                      .groups = GROUPS,
                      .size = SIZE,
                      .f = f,
                      .held = held,
                      .weight = w,
                      .stiffness = k,
                      .alpha = alpha,
                      .frozen = frozen,
                      .a0 = a0,
                      .b0 = b0,
                      .product = product,
                      .adjoint = adjoint,
                      .ctx = &K};
        tl_cone_identity(SIZE, p.Q);
        const double energy = tl_least_energy(&p, a0, b0);
        tl_least_report r;
        /* any multipliers: a bound on what is admissible */
        for (uint64_t i = 0; i < ROWS; i++) t[i] = 0.3 * pick(i, 80 + trial);
        tl_least_stop once = {.iterations = 1, .energy = energy};
        CHECK_OK(tl_least_ascend(&p, &once, t, a, b, &arena, &r, &err));
        assert_true(r.bound <= energy);
        memset(t, 0, sizeof t);
        tl_least_stop stop = {.iterations = 200000, .energy = energy, .residual = 1e-10};
        CHECK_OK(tl_least_ascend(&p, &stop, t, a, b, &arena, &r, &err));
        assert_true(r.residual < 1e-10);
        double least = tl_least_energy(&p, a, b);
        CHECK_REL(r.bound, least, 1e-8); /* no gap: no other method could find less */
        assert_true(least < energy && r.excess > 0 && r.excess < 1);
        for (int g = 0; g < GROUPS; g++) assert_true(hypot(b[2 * g], b[2 * g + 1]) <= alpha[g] * a[g] * (1 + 1e-12));
        if (trial % 2) CHECK_NEAR(a[5], a0[5], 0);
        assert_true(t[3] == 0);
    }
    tl_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bound_meets_energy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
