/* Detection gives the same list, in the same order, for any number of threads; and stays off the heap. */
#include "check.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "lg_view.h"

/* Large enough that every loop is shared: cloth on a box, a ball and another cloth, a block beside a roller, a
 * folded strip. */
static const char world[] =
    "engine = 'lg', domain = { min = {-2, -0.2, -2}, max = {2, 2, 2} }, bodies = {\n"
    "  { name = 'cloth', shape = box { size = {1, 0.004, 1} }, at = {0, 0.003, 0}, cells = {24, 1, 24}, thickness = "
    "0.004, self_contact = "
    "true, material = soft() },\n"
    "  { name = 'upper', shape = box { size = {0.8, 0.004, 0.8} }, at = {0.01, 0.009, 0.02}, rotation_deg = {0, 20, "
    "0}, cells = {17, 1, 17}, "
    "thickness = 0.004, material = soft() },\n"
    "  { name = 'block', shape = box { size = 0.3 }, at = {0.1, 0.163, 0}, cells = {9, 9, 9}, material = soft() },\n"
    "  { name = 'box', kind = 'static', shape = box { size = 0.31 }, at = {0.2, -0.155, 0.2} },\n"
    "  { name = 'ball', kind = 'static', shape = sphere { radius = 0.1 }, at = {-0.3, -0.1, 0} },\n"
    "  { name = 'ring', kind = 'static', shape = torus { radius = 0.1, tube = 0.03 }, at = {-0.3, -0.03, "
    "-0.3} },\n"
    "  { name = 'free', shape = box { size = 0.1 }, at = {-0.1, -0.052, -0.2}, rotation_deg = {10, 20, 30}, density = "
    "500 } }";
#define SOFT                                                                                                           \
    "function soft() return elastic { density = 1000, young = 1e6, poisson = 0.3, model = 'arap', friction = 0.5 } "   \
    "end\n"

static uint64_t look(lg_look *l, int threads)
{
    tl_threads_set(threads);
    lg_look_at(l);
    return tl_hash(1, l->found.contact, sizeof *l->found.contact * (size_t)l->found.count);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    int before = tl_threads(), kinds[4] = {0, 0, 0, 0};
    lg_look l = lg_look_open(SOFT, world);
    lg_look_move(&l, (tl_vec3){0.001, -0.004, 0.002});
    uint64_t one = look(&l, 1);
    for (int32_t k = 0; k < l.found.count; k++) {
        const tl_lg_contact *c = &l.found.contact[k];
        kinds[c->b.node[0] >= 0 ? 3 : c->a.node[1] < 0 ? 0 : c->a.node[2] < 0 ? 1 : 2]++;
    }
    assert_true(kinds[0] > 300 && kinds[1] > 10 && kinds[2] > 0 && kinds[3] > 1000);
    assert_true(look(&l, 2) == one);
    assert_true(look(&l, 3) == one);
    int64_t calls = tl_alloc_read().calls;
    assert_true(look(&l, 2) == one);
    assert_int_equal(tl_alloc_read().calls, calls);
    tl_threads_set(before);
    lg_look_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_do_not_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
