/* Linear and box-QP methods, preconditioners and kernels: the same bits for one and two threads and on
 * a rerun, on sizes where two threads really run; no heap use once the arena has settled. */
#include <omp.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/sum.h"
#include "check.h"
#include "lab/bench/gen_boxqp.h"
#include "solve/boxqp/method.h"
#include "solve/linear/method.h"

static talus_error err;
static int most_threads; /* that a loop of the problem's size was given */

static void apply_noted(const tl_linop *A, const double *x, double *y)
{
#pragma omp parallel if (A->csr->rows >= TL_PARALLEL_MIN)
    {
#pragma omp single
        if (omp_get_num_threads() > most_threads) most_threads = omp_get_num_threads();
    }
    tl_csr_mul(A->csr, x, y);
}

/* 100^3 cells give about 106 000 unknowns: loops, dots and both halves of the preconditioners run on two threads. */
static tl_boxqp_case problem;

static int set_up(void **state)
{
    (void)state;
    CHECK_OK(tl_gen_wall_separation(&problem, 100, 1, &err));
    problem.qp.A.apply = apply_noted;
    return problem.space.n < 3 * TL_PARALLEL_MIN;
}

static int tear_down(void **state)
{
    (void)state;
    tl_boxqp_case_free(&problem);
    return 0;
}

static uint64_t boxqp_hash(const tl_boxqp_method *m, tl_options *o, int threads, double *x, tl_arena *a)
{
    tl_threads_set(threads);
    most_threads = 0;
    memcpy(x, problem.x0, sizeof *x * (size_t)problem.space.n);
    tl_boxqp_report r;
    CHECK_OK(tl_boxqp_solve(m, &problem.qp, o, &(tl_stop){1e-6, 0, 40}, x, a, &r, &err));
    assert_int_equal(most_threads, threads);
    uint64_t h = tl_hash(TL_HASH_START, x, sizeof *x * (size_t)problem.space.n);
    return tl_hash(h, &r.certificate, sizeof r.certificate);
}

static void boxqp_methods(void **state)
{
    (void)state;
    tl_arena a = {0};
    double *x = TL_NEW(double, problem.space.n);
    tl_threads_set(2);
    for (int pre = 0; pre < tl_precond_count(); pre++) {
        tl_options o = tl_options_default();
        CHECK_OK(tl_precond_create(&o.precond, tl_precond_at(pre), &problem.A, &err));
        for (int k = 0; k < tl_boxqp_method_count(); k++) {
            if (pre != 1 && pre != 4 && k > 0)
                continue; /* every method with jacobi and mic, every preconditioner with mprgp */
            const tl_boxqp_method *m = tl_boxqp_method_at(k);
            uint64_t one = boxqp_hash(m, &o, 1, x, &a);
            tl_arena_reset(&a);
            int64_t calls = tl_alloc_read().calls;
            uint64_t two = boxqp_hash(m, &o, 2, x, &a);
            assert_int_equal(tl_alloc_read().calls, calls);
            if (one != two) fail_msg("%s with %s: other bits on two threads", m->name, tl_precond_at(pre)->name);
        }
        tl_precond_free(o.precond);
    }
    tl_free(x);
    tl_arena_free(&a);
}

static void linear_methods(void **state)
{
    (void)state;
    tl_arena a = {0};
    int64_t n = problem.space.n;
    double *x = TL_NEW(double, n);
    tl_linear p = {&problem.space, problem.qp.A, problem.b};
    for (int k = 0; k < tl_linear_method_count(); k++)
        for (int pre = 0; pre < tl_precond_count(); pre++) {
            uint64_t hash[2];
            for (int threads = 1; threads <= 2; threads++) {
                tl_threads_set(threads);
                tl_options o = tl_options_default();
                CHECK_OK(
                    tl_precond_create(&o.precond, tl_precond_at(pre), &problem.A, &err)); /* built on that many, too */
                memset(x, 0, sizeof *x * (size_t)n);
                tl_linear_report r;
                most_threads = 0;
                CHECK_OK(tl_linear_solve(tl_linear_method_at(k), &p, &o, &(tl_stop){1e-8, 30, 0}, x, &a, &r, &err));
                assert_int_equal(most_threads, threads);
                hash[threads - 1] = tl_hash(TL_HASH_START, x, sizeof *x * (size_t)n);
                tl_precond_free(o.precond);
            }
            assert_true(hash[0] == hash[1]);
        }
    tl_free(x);
    tl_arena_free(&a);
}

static void sums(void **state)
{
    (void)state;
    int64_t n = problem.space.n;
    double result[2][3];
    for (int threads = 1; threads <= 2; threads++) {
        tl_threads_set(threads);
        result[threads - 1][0] = tl_sum(n, problem.b);
        result[threads - 1][1] = tl_dot(n, problem.b, problem.diag);
        result[threads - 1][2] = tl_max_abs(n, problem.b);
    }
    assert_memory_equal(result[0], result[1], sizeof result[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxqp_methods),
        cmocka_unit_test(linear_methods),
        cmocka_unit_test(sums),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
