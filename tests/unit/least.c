/* Least energy under balance: the rows balance, cones hold, and another method finds no less energy with the same
 * cones. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "solve/least/method.h"

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

enum { ALL = GROUPS * (1 + SIZE) };

/* Coordinates in which Phi is half the square of the length. */
static double scale_of(const tl_least *p, int c)
{
    int g = c < GROUPS ? c : (c - GROUPS) / SIZE;
    return sqrt(p->weight[g] * (c < GROUPS ? 1 : p->stiffness[g]));
}

/* Rows that are not held, and frozen groups as they are, as an orthonormal basis with right sides. Returns how many. */
static int balance_basis(const tl_least *p, const dense *K, double basis[][ALL], double *right)
{
    int count = 0;
    for (int r = 0; r < ROWS + ALL; r++) {
        int column = r - ROWS, g = column < GROUPS ? column : (column - GROUPS) / SIZE;
        if (r < ROWS ? p->held[r] : !p->frozen[g]) continue;
        double *e = basis[count], norm = 0;
        for (int c = 0; c < ALL; c++)
            e[c] = (r >= ROWS ? c == column : c < GROUPS ? K->a[r][c] : K->b[r][c - GROUPS]) / scale_of(p, c);
        right[count] = r < ROWS ? p->f[r] : column < GROUPS ? p->a0[column] : p->b0[column - GROUPS];
        for (int o = 0; o < count; o++) {
            double dot = 0;
            for (int c = 0; c < ALL; c++) dot += e[c] * basis[o][c];
            for (int c = 0; c < ALL; c++) e[c] -= dot * basis[o][c];
            right[count] -= dot * right[o];
        }
        for (int c = 0; c < ALL; c++) norm += e[c] * e[c];
        for (int c = 0; c < ALL; c++) e[c] /= sqrt(norm);
        right[count++] /= sqrt(norm);
    }
    return count;
}

/* The least energy with cones as wide as those of `a`, by another method: the point nearest to zero that balances
 * and is within the cones, found by projecting on one and the other in turn [Boyle1986]. */
static double other_method(const tl_least *p, const dense *K, const double *a)
{
    static double basis[ROWS + ALL][ALL];
    double right[ROWS + ALL], x[ALL] = {0}, kept[ALL] = {0}, energy = 0;
    int rows = balance_basis(p, K, basis, right);
    for (int round = 0; round < 40000; round++) {
        for (int o = 0; o < rows; o++) {
            double off = -right[o];
            for (int c = 0; c < ALL; c++) off += basis[o][c] * x[c];
            for (int c = 0; c < ALL; c++) x[c] -= off * basis[o][c];
        }
        for (int c = 0; c < ALL; c++) x[c] += kept[c], kept[c] = x[c];
        for (int g = 0; g < GROUPS; g++) {
            if (p->frozen[g]) continue;
            double *b = x + GROUPS + SIZE * g, radius = p->alpha[g] * a[g] * scale_of(p, GROUPS + SIZE * g);
            double length = hypot(b[0], b[1]);
            x[g] = fmax(0, x[g]);
            for (int c = 0; c < SIZE && length > radius; c++) b[c] *= radius / length;
        }
        for (int c = 0; c < ALL; c++) kept[c] -= x[c];
    }
    for (int c = 0; c < ALL; c++)
        if (!p->frozen[c < GROUPS ? c : (c - GROUPS) / SIZE]) energy += 0.5 * x[c] * x[c];
    return energy;
}

static void another_method_finds_no_less(void **state)
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
        tl_least_stop stop = {.iterations = 200000, .residual = 1e-10};
        CHECK_OK(tl_least_ascend(&p, &stop, t, a, b, &arena, &r, &err));
        assert_true(r.residual < 1e-10);
        assert_true(fabs(r.gap) < 1e-8 && r.distance > 0);
        if (!frozen[5])
            assert_true(tl_least_energy(&p, a, b) < energy); /* its cones may be narrower than the start's */
        for (int g = 0; g < GROUPS; g++) assert_true(hypot(b[2 * g], b[2 * g + 1]) <= alpha[g] * a[g] * (1 + 1e-12));
        if (trial % 2) CHECK_NEAR(a[5], a0[5], 0);
        assert_true(t[3] == 0);
        CHECK_REL(other_method(&p, &K, a), tl_least_energy(&p, a, b), 1e-6);
    }
    tl_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(another_method_finds_no_less)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
