/* Cone methods: the same bits for one and two threads, on a rerun, and no heap use once settled. */
#include <omp.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "check.h"
#include "lab/bench/gen_cone.h"
#include "solve/cone/method.h"

static talus_error err;
static int most_threads;

/* The rows of the problem, noting how many threads a loop of its size gets. */
static void apply_noted(const tl_linop *A, const double *x, double *y)
{
#pragma omp parallel if (A->csr->rows >= TL_PARALLEL_MIN)
    {
#pragma omp single
        if (omp_get_num_threads() > most_threads) most_threads = omp_get_num_threads();
    }
    tl_csr_mul(A->csr, x, y);
}

static uint64_t hash_of_run(const tl_cone_method *m, tl_gen_cone *g, int threads, double *x, tl_arena *a)
{
    tl_options o = tl_options_default();
    tl_cone_report r;
    tl_threads_set(threads);
    most_threads = 0;
    memset(x, 0, sizeof *x * (size_t)g->space.n);
    CHECK_OK(tl_cone_solve(m, &g->problem, &o, &(tl_stop){.tolerance = 1e-10, .max_products = 25}, x, a, &r, &err));
    assert_int_equal(most_threads, threads);
    assert_true(r.certificate.energy < 0);
    uint64_t h = tl_hash(TL_HASH_START, x, sizeof *x * (size_t)g->space.n);
    h = tl_hash(h, &r.certificate, sizeof r.certificate);
    return tl_hash(h, &r.outcome.iterations, sizeof r.outcome.iterations);
}

static void same_bits(tl_gen_cone *g)
{
    tl_arena a = {0};
    assert_true(g->space.n >= 60000);
    g->problem.A.apply = apply_noted;
    double *x = TL_NEW(double, g->space.n);
    for (int i = 0; i < tl_cone_method_count(); i++) {
        const tl_cone_method *m = tl_cone_method_at(i);
        uint64_t one = hash_of_run(m, g, 1, x, &a);
        tl_arena_reset(&a);
        int64_t calls = tl_alloc_read().calls;
        assert_true(hash_of_run(m, g, 2, x, &a) == one);
        assert_int_equal(tl_alloc_read().calls, calls); /* settled: the arena has the room */
    }
    tl_free(x);
    tl_arena_free(&a);
}

static void stress(void **state)
{
    (void)state;
    tl_gen_cone g;
    CHECK_OK(tl_gen_cone_stress(&g, 20, 31, 20, 1, &err));
    same_bits(&g);
    tl_gen_cone_free(&g);
}

static void blocks(void **state)
{
    (void)state;
    tl_gen_cone g;
    tl_gen_cone_blocks_spec spec = {.columns = 40,
                                    .levels = 96,
                                    .tilt_deg = 25,
                                    .azimuth_deg = 10,
                                    .friction = 0.5,
                                    .side_press = 0.3,
                                    .mass_spread = 1,
                                    .seed = 2};
    CHECK_OK(tl_gen_cone_blocks(&g, &spec, &err));
    same_bits(&g);
    tl_gen_cone_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stress),
        cmocka_unit_test(blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
