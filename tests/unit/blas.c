#include "check.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "math/blas.h"

static void one_thread_after_setup(void **state)
{
    (void)state;
    openblas_set_num_threads(2);
#pragma omp parallel num_threads(2)
    tl_blas_setup();
    assert_int_equal(openblas_get_num_threads(), 1);
    tl_blas_setup();
    assert_int_equal(openblas_get_num_threads(), 1);
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
    if (better) assert_true(!strcmp(better, "SkylakeX") || !strcmp(better, "Haswell") || !strcmp(better, "Sandybridge"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_after_setup),
        cmocka_unit_test(better_core_only_for_a_fallback_nobody_chose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
