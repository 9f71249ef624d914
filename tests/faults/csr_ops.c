#include "check.h"

#include "base/alloc.h"
#include "math/perm.h"
#include "matrices.h"

static talus_error err;
static int32_t perm[216];

static talus_status transpose(tl_csr *C, const tl_csr *A) { return tl_csr_transpose(C, A, &err); }
static talus_status gram(tl_csr *C, const tl_csr *A) { return tl_csr_gram(C, A, NULL, &err); }
static talus_status rcm(tl_csr *C, const tl_csr *A)
{
    *C = (tl_csr){0};
    return tl_perm_order(TL_ORDER_RCM, A, perm, &err);
}
static talus_status amd(tl_csr *C, const tl_csr *A)
{
    *C = (tl_csr){0};
    return tl_perm_order(TL_ORDER_AMD, A, perm, &err);
}
static talus_status metis(tl_csr *C, const tl_csr *A)
{
    *C = (tl_csr){0};
    return tl_perm_order(TL_ORDER_METIS, A, perm, &err);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static talus_status (*const operations[])(tl_csr *, const tl_csr *) = {transpose, gram, rcm, amd, metis};
    tl_csr A = matrix_poisson(6, 6, 6, 0);
    for (size_t t = 0; t < sizeof operations / sizeof operations[0]; t++) {
        int64_t before = tl_alloc_read().live_blocks, k = 1;
        for (int delivered = 1; delivered; k++) {
            tl_csr C;
            tl_alloc_fail_at(k);
            talus_status status = operations[t](&C, &A);
            delivered = tl_alloc_fail_happened();
            tl_alloc_fail_at(0);
            if (status != TALUS_OK) {
                assert_int_equal(status, TALUS_NO_MEMORY);
                assert_true(delivered);
                assert_null(C.start);
            }
            tl_csr_free(&C);
            assert_int_equal(tl_alloc_read().live_blocks, before);
        }
        assert_true(k > 2);
    }
    tl_csr_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
