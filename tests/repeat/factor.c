#include "check.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "math/factor.h"
#include "matrices.h"

static talus_error err;

static uint64_t hash_csr(uint64_t hash, const tl_csr *A)
{
    hash = tl_hash(hash, A->start, sizeof(int64_t) * ((size_t)A->rows + 1));
    hash = tl_hash(hash, A->col, sizeof(int32_t) * (size_t)A->start[A->rows]);
    return tl_hash(hash, A->val, sizeof(double) * (size_t)A->start[A->rows]);
}

/* Orders, factors, solutions, products: all bits. */
static uint64_t everything(int threads)
{
    tl_threads_set(threads);
    uint64_t hash = TL_HASH_START;
    tl_csr A = matrix_poisson(24, 18, 16, 0.01); /* 6912 rows, 46 000 nonzeros: loops of ours go parallel */
    double *d = TL_NEW(double, A.rows), *x = TL_NEW(double, 3 * A.rows);
    for (int32_t i = 0; i < A.rows; i++) d[i] = 1.0 / (1 + i % 13);

    tl_csr C, T;
    CHECK_OK(tl_csr_gram(&C, &A, d, &err));
    hash = hash_csr(hash, &C);
    CHECK_OK(tl_csr_transpose(&T, &C, &err));
    hash = hash_csr(hash, &T);
    tl_csr_free(&T);
    tl_csr_free(&C);

    for (int kind = 0; kind < 2; kind++) {
        tl_factor_options o = tl_factor_options_default();
        o.kind = kind == 0 ? TL_FACTOR_LLT : TL_FACTOR_LDLT;
        o.order = kind == 0 ? TL_ORDER_METIS : TL_ORDER_AMD;
        tl_factor *f;
        CHECK_OK(tl_factor_create(&f, &o, &err));
        CHECK_OK(tl_factor_update(f, &A, &err));
        for (int k = 1; k <= 3; k += 2) {
            for (int32_t i = 0; i < k * A.rows; i++) x[i] = i % 17 - 8;
            CHECK_OK(tl_factor_solve(f, k, x, x, &err));
            hash = tl_hash(hash, x, sizeof(double) * (size_t)(k * A.rows));
        }
        tl_csr Lt;
        CHECK_OK(tl_factor_lower(f, &Lt, NULL, &err));
        hash = hash_csr(hash, &Lt);
        tl_csr_free(&Lt);
        tl_factor_free(f);
    }
    tl_free(d);
    tl_free(x);
    tl_csr_free(&A);
    return hash;
}

static void same_bits_for_any_thread_count(void **state)
{
    (void)state;
    uint64_t one = everything(1);
    for (int threads = 2; threads <= 4; threads++) assert_true(everything(threads) == one);
    assert_true(everything(1) == one);
}

/* Factors at work in several threads at once do not disturb each other (METIS shares rand()). */
static void same_bits_side_by_side(void **state)
{
    (void)state;
    enum { N = 6 };
    uint64_t hash[N];
    tl_threads_set(2);
#pragma omp parallel for schedule(dynamic, 1) num_threads(3)
    for (int t = 0; t < N; t++) {
        talus_error mine;
        tl_csr A = matrix_poisson(14, 13, 12, 0.01);
        tl_factor_options o = tl_factor_options_default();
        tl_factor *f;
        hash[t] = TL_HASH_START;
        if (tl_factor_create(&f, &o, &mine) == TALUS_OK) {
            tl_csr Lt;
            if (tl_factor_update(f, &A, &mine) == TALUS_OK && tl_factor_lower(f, &Lt, NULL, &mine) == TALUS_OK) {
                hash[t] = hash_csr(hash[t], &Lt);
                tl_csr_free(&Lt);
            }
            tl_factor_free(f);
        }
        tl_csr_free(&A);
    }
    assert_true(hash[0] != TL_HASH_START);
    for (int t = 1; t < N; t++) assert_true(hash[t] == hash[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_for_any_thread_count),
        cmocka_unit_test(same_bits_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
