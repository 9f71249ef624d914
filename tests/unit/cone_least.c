/* Least energy under balance, with cones as wide as the answer's own pressures: no multipliers promise less, by duality reckoned here. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "solve/cone/least.h"

#define GROUPS 12
#define SIZE 2
#define ROWS 8

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

/* Lower bound of Phi over all that balance, with radii alpha a*: multipliers t, group by group. */
static double bound(const tl_least *p, const double *radius, const double *t)
{
    double a[GROUPS], b[GROUPS * SIZE], y[ROWS], sum = 0;
    adjoint(p->ctx, t, a, b);
    for (int g = 0; g < GROUPS; g++) {
        double *v = b + SIZE * g;
        a[g] = p->frozen[g] ? p->a0[g] : fmax(0, a[g] / p->weight[g]);
        for (int k = 0; k < SIZE; k++)
            v[k] = p->frozen[g] ? p->b0[SIZE * g + k] : v[k] / (p->weight[g] * p->stiffness[g]);
        double length = hypot(v[0], v[1]);
        if (!p->frozen[g] && length > radius[g]) v[0] *= radius[g] / length, v[1] *= radius[g] / length;
    }
    product(p->ctx, a, b, y);
    for (int r = 0; r < ROWS; r++) sum += p->held[r] ? 0 : t[r] * (p->f[r] - y[r]);
    return tl_least_energy(p, a, b) + sum;
}

static void no_other_has_less(void **state)
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
            alpha[g] = 0.2 + 0.3 * fabs(pick((uint64_t)g, 62));
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
        const tl_least_stop stop = {.iterations = 200000, .residual = 1e-10};
        tl_least_report r;
        CHECK_OK(tl_least_ascend(&p, &stop, t, a, b, &arena, &r, &err));
        assert_true(r.residual <= 1e-10);
        CHECK_NEAR(r.gap, 0, 1e-8);
        assert_true(r.distance > 0);
        const double least = tl_least_energy(&p, a, b);
        double radius[GROUPS], other[ROWS];
        for (int g = 0; g < GROUPS; g++) radius[g] = alpha[g] * a[g];
        CHECK_REL(bound(&p, radius, t), least, 1e-8);
        for (uint64_t m = 0; m < 50; m++) {
            for (uint64_t i = 0; i < ROWS; i++) other[i] = held[i] ? 0 : t[i] + 0.3 * pick(100 * m + i, 80 + trial);
            assert_true(bound(&p, radius, other) <= least * (1 + 1e-9));
        }
        for (int g = 0; g < GROUPS; g++) assert_true(hypot(b[2 * g], b[2 * g + 1]) <= alpha[g] * a[g] * (1 + 1e-12));
        if (trial % 2) CHECK_NEAR(a[5], a0[5], 0);
        assert_true(t[3] == 0);
    }
    tl_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_other_has_less)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
