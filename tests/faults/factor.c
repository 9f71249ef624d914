#include "check.h"

#include "base/alloc.h"
#include "base/sum.h"
#include "math/factor.h"
#include "matrices.h"

static talus_error err;

/* Everything a factor does, stopping at the first failure. */
static talus_status run(tl_factor *f, const tl_csr *A, const double *b, double *x)
{
    TL_TRY(tl_factor_update(f, A, &err));
    TL_TRY(tl_factor_solve(f, 1, b, x, &err));
    TL_TRY(tl_factor_solve(f, 3, b, x, &err));
    tl_csr Lt;
    TL_TRY(tl_factor_lower(f, &Lt, NULL, &err));
    tl_csr_free(&Lt);
    return TALUS_OK;
}

/* The k-th allocation fails, for every k: no memory is reported, the same object works when asked again, and
 * nothing is left behind. A failure may also pass unseen (CHOLMOD only wanted to shrink a block). */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (tl_order order = TL_ORDER_AMD; order <= TL_ORDER_NATURAL; order++) {
            tl_csr A = kind == 0 ? matrix_poisson(6, 6, 6, 0) : matrix_kkt(150, 66, 1);
            double b[3 * 216], x[3 * 216], r[216];
            for (int i = 0; i < 3 * 216; i++) b[i] = i % 7;
            tl_factor_options o = tl_factor_options_default();
            o.kind = kind == 0 ? TL_FACTOR_LLT : TL_FACTOR_LDLT;
            o.order = order;

            tl_alloc_stats before = tl_alloc_read();
            int failures = 0, delivered = 1;
            for (int64_t k = 1; delivered; k++) {
                tl_factor *f = NULL;
                tl_alloc_fail_at(k);
                talus_status status = tl_factor_create(&f, &o, &err);
                if (status == TALUS_OK) status = run(f, &A, b, x);
                delivered = tl_alloc_fail_happened();
                tl_alloc_fail_at(0);
                if (status != TALUS_OK) {
                    assert_int_equal(status, TALUS_NO_MEMORY);
                    assert_true(delivered);
                    failures++;
                }
                if (f) {
                    CHECK_OK(run(f, &A, b, x));
                    CHECK_OK(tl_factor_solve(f, 1, b, x, &err));
                    tl_csr_mul(&A, x, r);
                    for (int i = 0; i < 216; i++) CHECK_NEAR(r[i], b[i], 1e-9); /* wrong answers are off by 1 */
                }
                tl_factor_free(f);
                assert_int_equal(tl_alloc_read().live_blocks, before.live_blocks);
                assert_int_equal(tl_alloc_read().live_bytes, before.live_bytes);
            }
            assert_true(failures > 20); /* ours are about ten: CHOLMOD's own are among them */
            tl_csr_free(&A);
        }
}

/* A failure while refactorising leaves the analysis, and no factor to solve with. */
static void refactorising_may_fail(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        tl_csr A = matrix_poisson(7, 7, 7, 0);
        double x[343] = {0};
        tl_factor_options o = tl_factor_options_default();
        o.kind = kind == 0 ? TL_FACTOR_LLT : TL_FACTOR_LDLT;
        tl_factor *f;
        CHECK_OK(tl_factor_create(&f, &o, &err));
        CHECK_OK(tl_factor_update(f, &A, &err));
        int64_t k = 1;
        for (;; k++) {
            tl_alloc_fail_at(k);
            talus_status status = tl_factor_compute(f, &A, &err);
            int delivered = tl_alloc_fail_happened();
            tl_alloc_fail_at(0);
            if (!delivered) break;
            if (status != TALUS_OK) {
                assert_int_equal(status, TALUS_NO_MEMORY);
                assert_int_equal(tl_factor_solve(f, 1, x, x, &err), TALUS_BAD_INPUT);
                assert_true(tl_factor_fits(f, &A));
            }
            CHECK_OK(tl_factor_compute(f, &A, &err));
            CHECK_OK(tl_factor_solve(f, 1, x, x, &err));
        }
        assert_true(k > 3);
        tl_factor_free(f);
        tl_csr_free(&A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(refactorising_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
