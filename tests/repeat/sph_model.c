/* The same bits for any number of threads, and no heap use from the second step on. */
#include "check.h"
#include "sph.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "solve/fixedpoint/method.h"

static const char crowd[] =
    "sph = { spacing = 0.01 }, domain = { min = {0, 0, 0}, max = {0.4, 0.5, 0.3} },"
    "fill = { { material = preset 'water', shape = box { size = {0.4, 0.15, 0.3}, center = {0.2, 0.08, 0.15} } } },"
    "bodies = { { shape = box { size = 0.12 }, at = {0.12, 0.22, 0.15}, density = 700, friction = 0.4 },"
    " { shape = box { size = {0.2, 0.05, 0.2} }, at = {0.15, 0.305, 0.15}, density = 2000, friction = 0.6 },"
    " { shape = sphere { radius = 0.06 }, at = {0.3, 0.2, 0.15}, density = 1500, friction = 0.3 } }";

/* Four steps' worth of solving, each from another shake; a hash of all that came out. */
static uint64_t solve(int threads, int64_t *heap)
{
    int before = tl_threads();
    talus_error err;
    tl_threads_set(threads);
    sph_case c = sph_open(NULL, crowd, NULL);
    uint64_t h = TL_HASH_START;
    for (int k = 0; k < 4; k++) {
        int64_t calls = tl_alloc_read().calls;
        sph_shake(&c, 1, k ? 0 : 0.002, 0.3); /* the same places, so that memory suffices */
        sph_step(&c, 1e-3);
        tl_stop stop = {.tolerance = 1e-6, .max_iterations = 15};
        const tl_options options = tl_options_default();
        tl_fixedpoint_report report;
        CHECK_OK(tl_fixedpoint_solve(tl_fixedpoint_method_find("nncg"), &c.problem, &options, &stop, c.x, &c.arena,
                                     &report, &err));
        tl_sph_finish(&c.step, c.x);
        h = tl_hash(h, c.x, sizeof *c.x * (size_t)c.problem.space->n);
        h = tl_hash(h, c.step.v, sizeof *c.step.v * (size_t)c.step.fluid);
        h = tl_hash(h, c.step.body_v, sizeof *c.step.body_v * (size_t)c.rigid.count);
        h = tl_hash(h, c.step.contact_force, sizeof *c.step.contact_force * (size_t)c.rigid.count);
        h = tl_hash(h, c.step.fluid_force, sizeof *c.step.fluid_force * (size_t)c.rigid.count);
        *heap = tl_alloc_read().calls - calls;
    }
    assert_true(c.step.fluid > 15000 && c.step.contacts > 200 && c.step.edges > 2000);
    sph_close(&c);
    tl_threads_set(before);
    return h;
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    int64_t heap;
    uint64_t one = solve(1, &heap);
    assert_int_equal(heap, 0);
    assert_true(one == solve(2, &heap));
    assert_int_equal(heap, 0);
    assert_true(one == solve(3, &heap));
    assert_true(one == solve(1, &heap));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_do_not_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
