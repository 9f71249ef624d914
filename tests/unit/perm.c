#include "check.h"

#include <string.h>

#include "base/alloc.h"
#include "math/perm.h"
#include "matrices.h"

static talus_error err;

static void check_names_the_first_fault(void **state)
{
    (void)state;
    int32_t good[] = {2, 0, 1}, range[] = {0, 3, 1}, negative[] = {0, -1, 1}, twice[] = {1, 2, 1};
    CHECK_OK(tl_perm_check(3, good, &err));
    CHECK_OK(tl_perm_check(0, good, &err));
    assert_int_equal(tl_perm_check(3, range, &err), TALUS_BAD_INPUT);
    assert_string_equal(err.message, "perm[1] = 3 is outside 0..2");
    assert_int_equal(tl_perm_check(3, negative, &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_perm_check(3, twice, &err), TALUS_BAD_INPUT);
    assert_string_equal(err.message, "perm[2] = 1 appears a second time");
}

/* Nonzeros of L when rows are eliminated in the given order, by the definition: merge columns up the tree. */
static int64_t fill(const tl_csr *A, const int32_t *perm)
{
    int32_t n = A->rows;
    tl_csr B;
    B = matrix_permuted(A, perm);
    int32_t *parent = TL_NEW(int32_t, n), *mark = TL_NEW(int32_t, n);
    int64_t total = 0;
    for (int32_t i = 0; i < n; i++) {
        parent[i] = -1;
        mark[i] = i;
        total++;
        for (int64_t k = B.start[i]; k < B.start[i + 1] && B.col[k] < i; k++)
            for (int32_t j = B.col[k]; mark[j] != i; j = parent[j]) { /* row i of L: paths in the elimination tree */
                if (parent[j] < 0) parent[j] = i;
                total++;
                mark[j] = i;
            }
    }
    tl_free(parent);
    tl_free(mark);
    tl_csr_free(&B);
    return total;
}

static int32_t bandwidth(const tl_csr *A, const int32_t *perm)
{
    tl_csr B;
    B = matrix_permuted(A, perm);
    int32_t widest = 0;
    for (int32_t i = 0; i < B.rows; i++)
        for (int64_t k = B.start[i]; k < B.start[i + 1]; k++)
            if (i - B.col[k] > widest) widest = i - B.col[k];
    tl_csr_free(&B);
    return widest;
}

static void orderings_are_permutations_with_little_fill(void **state)
{
    (void)state;
    tl_csr A = matrix_poisson(12, 12, 12, 0);
    int32_t *perm = TL_NEW(int32_t, A.rows), *again = TL_NEW(int32_t, A.rows);
    CHECK_OK(tl_perm_order(TL_ORDER_NATURAL, &A, perm, &err));
    int64_t natural = fill(&A, perm);
    const tl_order orders[] = {TL_ORDER_AMD, TL_ORDER_METIS, TL_ORDER_RCM};
    for (int t = 0; t < 3; t++) {
        CHECK_OK(tl_perm_order(orders[t], &A, perm, &err));
        CHECK_OK(tl_perm_check(A.rows, perm, &err));
        CHECK_OK(tl_perm_order(orders[t], &A, again, &err));
        assert_memory_equal(perm, again, sizeof(int32_t) * (size_t)A.rows);
        /* measured 0.33 and 0.27 of the natural order's fill; RCM only keeps the band */
        if (orders[t] != TL_ORDER_RCM) assert_true(fill(&A, perm) < natural / 2);
    }
    tl_csr_free(&A);
    tl_free(perm);
    tl_free(again);
}

static void rcm_recovers_the_band_of_a_shuffled_strip(void **state)
{
    (void)state;
    /* a 3 x 100 strip, shuffled: the best band is 3 */
    tl_csr A = matrix_poisson(3, 100, 1, 0), B;
    int32_t perm[300];
    for (int32_t i = 0; i < 300; i++) perm[i] = (int32_t)(i * 77 % 300); /* 77 is prime to 300 */
    B = matrix_permuted(&A, perm);
    assert_true(bandwidth(&B, perm) > 50);
    CHECK_OK(tl_perm_order(TL_ORDER_RCM, &B, perm, &err));
    CHECK_OK(tl_perm_check(300, perm, &err));
    assert_true(bandwidth(&B, perm) <= 4); /* levels of a corner start are diagonals of up to 3 nodes */
    tl_csr_free(&A);
    tl_csr_free(&B);

    /* no edges at all, one row, no row */
    for (int32_t n = 0; n <= 5; n++) {
        tl_csr D;
        int32_t at[5] = {0, 1, 2, 3, 4};
        double one[5] = {1, 1, 1, 1, 1};
        CHECK_OK(tl_csr_from_triplets(&D, n, n, n, at, at, one, &err));
        for (tl_order order = TL_ORDER_AMD; order <= TL_ORDER_NATURAL; order++) {
            CHECK_OK(tl_perm_order(order, &D, perm, &err));
            CHECK_OK(tl_perm_check(n, perm, &err));
        }
        assert_int_equal(tl_perm_order(TL_ORDER_GIVEN, &D, perm, &err), TALUS_BAD_INPUT);
        tl_csr_free(&D);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_names_the_first_fault),
        cmocka_unit_test(orderings_are_permutations_with_little_fill),
        cmocka_unit_test(rcm_recovers_the_band_of_a_shuffled_strip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
