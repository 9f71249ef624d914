/* Linear and box-QP solves, preconditioners and generators with the heap refusing at every point, and with
 * input that is not numbers. */
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "lab/bench/gen_boxqp.h"
#include "solve/boxqp/method.h"
#include "solve/linear/method.h"

static talus_error err;
static tl_boxqp_case problem;

static int set_up(void **state)
{
    (void)state;
    return tl_gen_wall_separation(&problem, 16, 1, &err);
}

static int tear_down(void **state)
{
    (void)state;
    tl_boxqp_case_free(&problem);
    return 0;
}

/* One attempt; returns its status and frees everything. */
typedef talus_status (*attempt)(int which, double *x);

static talus_status solve_boxqp(int which, double *x)
{
    tl_arena a = {0};
    tl_options o = tl_options_default();
    tl_boxqp_report r;
    talus_status status = tl_precond_create(&o.precond, tl_precond_find("mic"), &problem.A, &err);
    if (status == TALUS_OK)
        status = tl_boxqp_solve(tl_boxqp_method_at(which), &problem.qp, &o, &(tl_stop){1e-5, 0, 200}, x, &a, &r, &err);
    tl_precond_free(o.precond);
    tl_arena_free(&a);
    return status;
}

static talus_status solve_linear(int which, double *x)
{
    tl_arena a = {0};
    tl_options o = tl_options_default();
    tl_linear p = {&problem.space, problem.qp.A, problem.b};
    tl_linear_report r;
    talus_status status = tl_precond_create(&o.precond, tl_precond_find("jacobi"), &problem.A, &err);
    if (status == TALUS_OK)
        status = tl_linear_solve(tl_linear_method_at(which), &p, &o, &(tl_stop){1e-5, 0, 200}, x, &a, &r, &err);
    tl_precond_free(o.precond);
    tl_arena_free(&a);
    return status;
}

static talus_status generate(int which, double *x)
{
    (void)x;
    tl_boxqp_case c;
    talus_status status = which ? tl_gen_random_boxqp(&c, 20, 10, 20, 1, &err) : tl_gen_wall_separation(&c, 8, 1, &err);
    tl_boxqp_case_free(&c);
    return status;
}

static talus_status triplets(int which, double *x)
{
    (void)which, (void)x;
    int32_t row[3] = {0, 1, 0}, col[3] = {1, 1, 1};
    double val[3] = {1, 2, 3};
    tl_csr A = {0};
    talus_status status = tl_csr_from_triplets(&A, 2, 2, 3, row, col, val, &err);
    tl_csr_free(&A);
    return status;
}

static void sweep(attempt try_it, int which, int at_least)
{
    int64_t n = problem.space.n;
    double *x = TL_NEW(double, n);
    int failures = 0;
    for (int64_t k = 1;; k++) {
        int64_t live = tl_alloc_read().live_blocks;
        memcpy(x, problem.x0, sizeof *x * (size_t)n);
        tl_alloc_fail_at(k);
        talus_status status = try_it(which, x);
        int failed = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        assert_int_equal(tl_alloc_read().live_blocks, live);
        if (!failed) {
            assert_int_equal(status, TALUS_OK);
            break;
        }
        if (status == TALUS_OK) continue; /* refused a generous chunk, the arena went on with a smaller one */
        assert_int_equal(status, TALUS_NO_MEMORY);
        failures++;
        assert_memory_equal(x, problem.x0, sizeof *x * (size_t)n); /* the start is untouched */
    }
    assert_true(failures >= at_least);
    tl_free(x);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int k = 0; k < tl_boxqp_method_count(); k++) sweep(solve_boxqp, k, 10);
    for (int k = 0; k < tl_linear_method_count(); k++) sweep(solve_linear, k, 2);
    for (int k = 0; k < 2; k++) sweep(generate, k, 5);
    sweep(triplets, 0, 4);
}

/* NaN anywhere ends in an outcome, never in an endless loop or a "converged". */
static void not_a_number(void **state)
{
    (void)state;
    tl_arena a = {0};
    double *x = TL_NEW(double, problem.space.n);
    double *place[3] = {&problem.b[5], &problem.A.val[40], &x[7]};
    for (int k = 0; k < tl_boxqp_method_count(); k++)
        for (int where = 0; where < 3; where++) {
            memcpy(x, problem.x0, sizeof *x * (size_t)problem.space.n);
            double keep = *place[where];
            *place[where] = NAN;
            tl_boxqp_report r;
            tl_options o = tl_options_default();
            CHECK_OK(
                tl_boxqp_solve(tl_boxqp_method_at(k), &problem.qp, &o, &(tl_stop){1e-5, 0, 2000}, x, &a, &r, &err));
            *place[where] = keep;
            assert_true(r.outcome.result != TL_CONVERGED);
        }
    tl_free(x);
    tl_arena_free(&a);
}

static void edges(void **state)
{
    (void)state;
    tl_arena a = {0};
    tl_options o = tl_options_default();
    /* nothing to solve */
    int64_t start[1] = {0};
    tl_csr empty = {.start = start};
    tl_space none = tl_space_local(0);
    double dummy = 0;
    tl_boxqp qp = {.space = &none, .A = tl_linop_csr(&empty), .b = &dummy, .lo = &dummy, .hi = &dummy};
    for (int k = 0; k < tl_boxqp_method_count(); k++) {
        tl_boxqp_report r;
        CHECK_OK(tl_boxqp_solve(tl_boxqp_method_at(k), &qp, &o, &(tl_stop){1e-5, 0, 100}, &dummy, &a, &r, &err));
        assert_int_equal(r.outcome.result, TL_CONVERGED);
    }
    /* bounds that pin everything */
    double one[2] = {1, 1}, A_val[2] = {2, 2}, b[2] = {10, -10}, x[2] = {0, 0};
    int64_t A_start[3] = {0, 1, 2};
    int32_t A_col[2] = {0, 1};
    tl_csr A = {2, 2, A_start, A_col, A_val};
    tl_space two = tl_space_local(2);
    tl_boxqp pinned = {.space = &two, .A = tl_linop_csr(&A), .b = b, .lo = one, .hi = one, .diag = A_val};
    tl_boxqp_report r;
    CHECK_OK(tl_boxqp_solve(tl_boxqp_method_find("mprgp"), &pinned, &o, &(tl_stop){1e-10, 0, 100}, x, &a, &r, &err));
    assert_int_equal(r.outcome.result, TL_CONVERGED);
    CHECK_NEAR(x[0], 1, 0);
    CHECK_NEAR(x[1], 1, 0);
    /* unbounded below: negative curvature direction with no bound in the way */
    A_val[0] = -1;
    tl_boxqp falls = {.space = &two, .A = tl_linop_csr(&A), .b = b};
    x[0] = x[1] = 0;
    CHECK_OK(tl_boxqp_solve(tl_boxqp_method_find("mprgp"), &falls, &o, &(tl_stop){1e-10, 0, 100}, x, &a, &r, &err));
    assert_true(r.outcome.result != TL_CONVERGED);
    /* certificates of what is not finite excuse nothing */
    tl_boxqp_certificate c;
    double endless[2] = {-INFINITY, 1}, nowhere[2] = {NAN, 1};
    A_val[0] = 2;
    tl_boxqp pulled = {.space = &two, .A = tl_linop_csr(&A), .b = endless, .lo = one};
    x[0] = x[1] = 5;
    CHECK_OK(tl_boxqp_certify(&pulled, x, &c, &a, &err));
    assert_true(c.optimality == INFINITY);
    CHECK_OK(tl_boxqp_certify(&pinned, nowhere, &c, &a, &err));
    assert_true(c.optimality == INFINITY && c.violation == INFINITY);
    /* no matrix at all: a linear program over the box */
    A_val[0] = A_val[1] = 0;
    double low[2] = {-1, -1}, high[2] = {2, 2};
    tl_boxqp flat = {.space = &two, .A = tl_linop_csr(&A), .b = b, .lo = low, .hi = high};
    x[0] = x[1] = 0;
    CHECK_OK(tl_boxqp_solve(tl_boxqp_method_find("mprgp"), &flat, &o, &(tl_stop){1e-10, 0, 100}, x, &a, &r, &err));
    assert_int_equal(r.outcome.result, TL_CONVERGED);
    CHECK_NEAR(x[0], 2, 0);
    CHECK_NEAR(x[1], -1, 0);
    tl_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(not_a_number),
        cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
