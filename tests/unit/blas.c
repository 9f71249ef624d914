#include "check.h"

#include <lapacke.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "math/blas.h"

/* The Cholesky factor of a 400 x 400 matrix: large enough for OpenBLAS to use threads if it may. */
static uint64_t factor_bits(void)
{
    enum { N = 400 };
    double *A = TL_NEW(double, N *N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) A[i * N + j] = i == j ? 10 : 1.0 / (1 + abs(i - j));
    assert_int_equal(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', N, A, N), 0);
    uint64_t hash = tl_hash(TL_HASH_START, A, sizeof(double) * N * N);
    tl_free(A);
    return hash;
}

static int team_of_four(void)
{
    int size = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    size = omp_get_num_threads();
    return size;
}

static void one_thread_between_begin_and_end(void **state)
{
    (void)state;
    int threads = tl_threads();
    tl_threads_set(1);
    uint64_t one = factor_bits();
    for (int t = 2; t <= 4; t++) {
        tl_threads_set(t);
        tl_blas_scope before = tl_blas_begin();
        assert_int_equal(tl_threads(), 1);
        assert_int_equal(team_of_four(), 1);
        tl_blas_scope inner = tl_blas_begin(); /* nested */
        assert_true(factor_bits() == one);
        tl_blas_end(inner);
        assert_true(factor_bits() == one);
        tl_blas_end(before);
        assert_int_equal(tl_threads(), t); /* our own loops have theirs back */
        assert_int_equal(team_of_four(), 4);
    }
    tl_threads_set(threads);
}

static void better_core_only_for_a_fallback_nobody_chose(void **state)
{
    (void)state;
    const char *core = tl_blas_core();
    assert_non_null(core);
    assert_true(strlen(core) > 0);
    setenv("OPENBLAS_CORETYPE", "Prescott", 1);
    assert_null(tl_blas_better_core()); /* the user's choice */
    unsetenv("OPENBLAS_CORETYPE");
    const char *better = tl_blas_better_core();
    if (strcmp(core, "Prescott") != 0) {
        assert_null(better);
        return;
    }
#if defined(__AVX2__) && defined(__x86_64__)
    assert_non_null(better); /* this test itself was built for AVX2 */
#endif
    if (better)
        assert_true(!strcmp(better, "SkylakeX") || !strcmp(better, "Haswell") || !strcmp(better, "Sandybridge"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_between_begin_and_end),
        cmocka_unit_test(better_core_only_for_a_fallback_nobody_chose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
