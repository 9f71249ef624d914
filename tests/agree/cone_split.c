/* Every cone method on a space split in parts reaches the certificate that it reaches on one. */
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "lab/bench/gen_cone.h"
#include "solve/cone/method.h"
#include "split.h"

static talus_error err;

typedef struct job {
    tl_split *split;
    const tl_gen_cone *g;
    const tl_cone_method *method;
    tl_stop stop;
    double *x;                /* global */
    tl_cone_report report[4]; /* one per part */
    int poison;               /* part whose b gets a NaN; -1 = none */
    talus_status status[4];
} job;

static int solve_part(int part, void *user)
{
    job *j = user;
    const tl_space *s = tl_split_space(j->split, part);
    int64_t begin = tl_split_begin(j->split, part), n = s->n, room = n + s->halo;
    int32_t size = j->g->problem.size;
    double *x = TL_NEW(double, room + 1), *b = TL_NEW(double, n + 1);
    tl_arena a = {0};
    tl_split_scatter(j->split, j->x, part, x);
    memcpy(b, j->g->b + begin, sizeof *b * (size_t)n);
    if (part == j->poison) b[n - 1] = NAN;

    tl_cone p = j->g->problem;
    p.space = s;
    p.A = tl_linop_csr(tl_split_csr(j->split, part));
    p.b = b;
    p.radius = j->g->radius + begin / size;
    tl_options o = tl_options_default();
    talus_error local;
    j->status[part] = tl_cone_solve(j->method, &p, &o, &j->stop, x, &a, &j->report[part], &local);
    tl_split_gather(j->split, x, part, j->x);
    tl_free(x);
    tl_free(b);
    tl_arena_free(&a);
    return 0;
}

static void run_split(const tl_gen_cone *g, int parts)
{
    tl_split *split = tl_split_create(&g->A, parts, g->problem.size);
    assert_non_null(split);
    tl_arena a = {0};
    double *x = TL_NEW(double, g->space.n);
    for (int i = 0; i < tl_cone_method_count(); i++) {
        const tl_cone_method *m = tl_cone_method_at(i);
        tl_stop stop = {.tolerance = 1e-8, .max_products = 20000};
        job j = {split, g, m, stop, x, .poison = -1};
        memset(x, 0, sizeof *x * (size_t)g->space.n);
        assert_int_equal(tl_split_run(split, solve_part, &j), 0);
        for (int k = 0; k < parts; k++) {
            assert_int_equal(j.status[k], TALUS_OK);
            assert_int_equal(j.report[k].outcome.result, TL_CONVERGED);
            /* all parts see one certificate */
            assert_memory_equal(&j.report[k].certificate, &j.report[0].certificate, sizeof j.report[k].certificate);
        }

        /* and it is the certificate of the whole */
        tl_cone_certificate whole;
        CHECK_OK(tl_cone_certify(&g->problem, x, &whole, &a, &err));
        CHECK_LE(fabs(whole.relative_gap), 1e-8 * (m->feasible ? 1.001 : 10));
        CHECK_LE(whole.relative_violation, m->feasible ? 1e-12 : 1e-7);
        CHECK_REL(j.report[0].certificate.energy, whole.energy, 1e-12);

        tl_options o = tl_options_default();
        tl_cone_report alone;
        memset(x, 0, sizeof *x * (size_t)g->space.n);
        CHECK_OK(tl_cone_solve(m, &g->problem, &o, &stop, x, &a, &alone, &err));
        CHECK_REL(whole.energy, alone.certificate.energy, m->feasible ? 2e-8 : 1e-6);
        /* a true Gauss-Seidel: the same sweeps in the same order (rounding of the stop test aside) */
        if (!strcmp(m->name, "pgs"))
            assert_in_range(j.report[0].outcome.iterations, alone.outcome.iterations - 1, alone.outcome.iterations + 1);
    }
    tl_free(x);
    tl_arena_free(&a);
    tl_split_free(split);
}

static void random_groups(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        tl_gen_cone g;
        tl_gen_cone_spec spec = {.seed = 40 + (uint64_t)k,
                                 .size = k % 2 ? 5 : 2,
                                 .groups = 11 + k,
                                 .condition = 100,
                                 .null_modes = k / 3 * 5,
                                 .tightness = k % 3 ? 0.6 : 2,
                                 .pinned = 6};
        CHECK_OK(tl_gen_cone_random(&g, &spec, &err));
        run_split(&g, 2);
        if (k < 2) run_split(&g, 3);
        tl_gen_cone_free(&g);
    }
}

static void sparse_rows(void **state)
{
    (void)state;
    tl_gen_cone g;
    tl_gen_cone_blocks_spec blocks = {
        .columns = 2, .levels = 2, .tilt_deg = 20, .friction = 0.5, .side_press = 0.5, .mass_spread = 1, .seed = 4};
    CHECK_OK(tl_gen_cone_blocks(&g, &blocks, &err));
    run_split(&g, 2);
    tl_gen_cone_free(&g);
}

/* Wrong input in one part is refused in all, and nobody waits for ever. */
static void one_bad_part(void **state)
{
    (void)state;
    tl_gen_cone g;
    tl_gen_cone_spec spec = {.seed = 4, .size = 2, .groups = 10, .condition = 10, .tightness = 1};
    CHECK_OK(tl_gen_cone_random(&g, &spec, &err));
    tl_split *split = tl_split_create(&g.A, 2, 2);
    assert_non_null(split);
    double x[20] = {0};
    for (int i = 0; i < tl_cone_method_count(); i++) {
        job j = {split, &g, tl_cone_method_at(i), {.tolerance = 1e-8, .max_products = 1000}, x, .poison = 1};
        assert_int_equal(tl_split_run(split, solve_part, &j), 0);
        assert_int_equal(j.status[0], TALUS_BAD_INPUT);
        assert_int_equal(j.status[1], TALUS_BAD_INPUT);
    }
    tl_split_free(split);
    tl_gen_cone_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_groups),
        cmocka_unit_test(sparse_rows),
        cmocka_unit_test(one_bad_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
