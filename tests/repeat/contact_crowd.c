/* Crowds of bodies: an island that is swept in two halves, with places solved by Newton, and many small islands side
 * by side give the same bits with one thread and with two, and answers that their certificates confirm. */
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/random.h"
#include "check.h"
#include "lab/bench/gen_contact.h"
#include "solve/contact/method.h"

static talus_error err;

/* Bodies get pushed about: something to solve in every contact. */
static void stir(tl_gen_contact *g, double speed)
{
    for (int64_t k = 0; k < 6 * (int64_t)g->bodies.count; k++)
        if (g->inv_mass[k / 6] > 0) g->v_free[k] += speed * (2 * tl_random(7, 1, (uint64_t)k) - 1);
    tl_contact_free_velocity(&g->bodies, NULL, g->data.q);
}

static tl_contact_report solve(const char *method, tl_gen_contact *g, int threads, double tolerance, uint64_t *hash)
{
    tl_arena a = {0};
    tl_options o = tl_options_default();
    tl_contact_report r;
    const int before = tl_threads();
    double *lam = TL_NEW(double, g->space.n);
    memset(lam, 0, sizeof *lam * (size_t)g->space.n);
    tl_threads_set(threads);
    CHECK_OK(tl_contact_solve(tl_contact_method_find(method), &g->problem, &o, &(tl_stop){tolerance, 0, 0}, lam, &a, &r,
                              &err));
    tl_threads_set(before);
    *hash = tl_hash(TL_HASH_START, lam, sizeof *lam * (size_t)g->space.n);
    tl_free(lam);
    tl_arena_free(&a);
    return r;
}

static void check_threads(const char *method, tl_gen_contact *g, double tolerance)
{
    uint64_t one, two, again;
    tl_contact_report r = solve(method, g, 1, tolerance, &one);
    assert_int_equal(r.outcome.result, TL_CONVERGED);
    CHECK_LE(r.certificate.residual, tolerance);
    solve(method, g, 2, tolerance, &two);
    solve(method, g, 2, tolerance, &again);
    assert_true(one == two && two == again);
}

/* Where it is only asked where bodies go, a crowd is left after some sweeps, and that is told; the next solve goes
 * on from there. */
static void ends_early_and_goes_on(tl_gen_contact *g, double tolerance)
{
    tl_arena a = {0};
    tl_options o = tl_options_default();
    tl_contact_report r;
    double *lam = TL_NEW(double, g->space.n);
    int64_t first = 0;
    memset(lam, 0, sizeof *lam * (size_t)g->space.n);
    for (int whole = 0; whole < 2; whole++) {
        bool early = false;
        o.early = whole ? NULL : &early;
        CHECK_OK(tl_contact_solve(tl_contact_method_find("newton-shift"), &g->problem, &o, &(tl_stop){tolerance, 0, 0},
                                  lam, &a, &r, &err));
        assert_true(early == !whole);
        assert_true((r.outcome.result == TL_CONVERGED) == whole);
        if (!whole) first = r.work.products;
    }
    assert_true(first <= 210);
    CHECK_LE(r.certificate.residual, tolerance);
    tl_free(lam);
    tl_arena_free(&a);
}

/* Cubes in layers, each on four of the layer below: one island of some thousand contacts. */
static void make_crowd(int side, int layers, tl_gen_contact *g)
{
    const int count = side * side * layers;
    const double down[3] = {0, -9.81, 0};
    tl_gen_box *box = TL_NEW(tl_gen_box, count);
    for (int i = 0; i < count; i++) {
        const int layer = i / (side * side);
        const double shift = layer % 2 * 0.1;
        box[i] = (tl_gen_box){
            {0.2 * (i % side) + shift, 0.1 + 0.2 * layer, 0.2 * (i / side % side) + shift}, {0.2, 0.2, 0.2}, 8};
    }
    CHECK_OK(tl_gen_contact_boxes(g, count, box, 0.5, down, 0.01, &err));
    tl_free(box);
    stir(g, 0.3);
}

static void a_crowd(void **state)
{
    (void)state;
    tl_gen_contact g;
    make_crowd(8, 6, &g);
    check_threads("pgs-momentum", &g, 1e-3);
    check_threads("newton-shift", &g, 3e-6);
    tl_gen_contact_free(&g);
    /* here a Newton step on all bodies is dear, and sweeps with all their momentum run away: to 1e15 m/s after 500 */
    make_crowd(12, 10, &g);
    ends_early_and_goes_on(&g, 1e-3);
    tl_gen_contact_free(&g);
}

/* 40 towers of 5 cubes that stand apart. */
static void many_small_islands(void **state)
{
    (void)state;
    enum { TOWERS = 40, HIGH = 5 };
    tl_gen_box box[TOWERS * HIGH];
    const double down[3] = {0, -9.81, 0};
    tl_gen_contact g;
    for (int i = 0; i < TOWERS * HIGH; i++)
        box[i] = (tl_gen_box){{(double)(i / HIGH), 0.1 + 0.2 * (i % HIGH), 0}, {0.2, 0.2, 0.2}, 8};
    CHECK_OK(tl_gen_contact_boxes(&g, TOWERS * HIGH, box, 0.5, down, 0.01, &err));
    check_threads("newton-shift", &g, 1e-8);
    uint64_t hash;
    tl_contact_report r = solve("newton-shift", &g, 2, 1e-8, &hash);
    CHECK_REL(r.certificate.normal_sum, TOWERS * 8 * 9.81 * 0.01 * HIGH * (HIGH + 1) / 2, 2e-6);
    stir(&g, 0.5);
    check_threads("newton-shift", &g, 1e-6);
    tl_gen_contact_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_crowd), cmocka_unit_test(many_small_islands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
