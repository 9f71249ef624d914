/* Same bits for any number of threads, after a copy of the state and after a checkpoint; no heap use once settled. */
#include "check.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "rigid.h"
#include "saved.h"

/* Three materials, a cloth with bending, a turning handle, two sizes of factors. */
static const char world[] =
    "function stuff(m) return elastic { density = 1000, young = 1e6, poisson = 0.4, model = m } end\n"
    "bodies = { { name = 'a', shape = box { size = {1, 0.4, 0.4} }, cells = {14, 6, 6}, material = stuff 'arap' },\n"
    "  { name = 'b', shape = box { size = {1, 0.4, 0.4} }, at = {0, 1, 0}, cells = {6, 3, 3}, velocity = {1, 0, 0}, "
    "spin_rad_per_s = {0, "
    "20, 0}, material = stuff 'neo_hookean' },\n"
    "  { name = 'c', shape = box { size = {1, 0.001, 1} }, at = {0, 2, 0}, cells = {20, 1, 20}, thickness = 0.001, "
    "anchor = box { size = "
    "{0.01, 1, 1}, center = {-0.5, 0, 0} }, material = stuff 'corotated' } }\n"
    "handles = { { body = 'a', shape = box { size = {0.01, 1, 1}, center = {-0.5, 0, 0} }, at = {-0.5, 0, 0}, motion = "
    "function(t) return { "
    "rotation_rad = {2 * t, 0, 0} } end } }\n";
#define SCENE                                                                                                          \
    "engine = 'lg', bodies = bodies, handles = handles, lg = { iterations = 4, global_step = '%s', precision = '%s' }"

static void run(int threads, const char *global, const char *precision, uint64_t hash[3])
{
    tl_threads_set(threads);
    rigid_case c = rigid_open(world, SCENE, global, precision);
    for (int i = 0; i < 6; i++) {
        rigid_step(&c, i < 4 ? 0.01 : 0.005); /* another factor */
        hash[i / 2] = tl_state_hash(&c.sim->state);
    }
    assert_true(c.sim->report.elastic > 0.1);
    rigid_close(&c);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    static const char *const ways[][2] = {
        {"factor", "float"}, {"factor", "double"}, {"inverse", "double"}, {"jacobi", "double"}};
    int before = tl_threads();
    for (int w = 0; w < 4; w++) {
        uint64_t one[3], two[3];
        run(1, ways[w][0], ways[w][1], one);
        run(2, ways[w][0], ways[w][1], two);
        for (int k = 0; k < 3; k++) assert_true(one[k] == two[k]);
    }
    tl_threads_set(before);
}

static void a_saved_state_goes_on_the_same(void **state)
{
    (void)state;
    rigid_case c = rigid_open(world, SCENE, "factor", "float");
    for (int i = 0; i < 5; i++) rigid_step(&c, 0.01);
    check_saved_goes_on(c.sim, c.scene, 5, 0.01);
    rigid_close(&c);
}

/* Soft on soft on the floor, a rigid box on top, a turning roller beside, a cloth, a join: all kinds of rows. */
static const char crowd[] =
    "function stuff(m) return elastic { density = 1000, young = 1e5, poisson = 0.3, model = m, friction = 0.4 } end\n"
    "bodies = { { name = 'floor', kind = 'static', shape = plane {}, friction = 0.4 },\n"
    "  { name = 'a', shape = box { size = {1, 0.4, 1} }, at = {0, 0.2, 0}, cells = {10, 4, 10}, material = stuff "
    "'neo_hookean' },\n"
    "  { name = 'b', shape = box { size = {0.4, 0.3, 0.4} }, at = {0.05, 0.551, 0.02}, cells = {5, 4, 5}, velocity = "
    "{0.5, 0, 0}, material = stuff 'arap' },\n"
    "  { name = 'box', shape = box { size = 0.2 }, at = {0, 0.802, 0}, density = 400, friction = 0.4 },\n"
    "  { name = 'crate', shape = box { size = 0.2 }, at = {0, 1.003, 0}, density = 400, friction = 0.4 },\n"
    "  { name = 'roller', shape = sphere { radius = 0.2 }, at = {0.69, 0.2, 0}, friction = 0.8, motion = function(t) "
    "return { rotation_rad = {0, 0, 5 * t} } end },\n"
    "  { name = 'c', shape = box { size = {1, 0.001, 1} }, at = {0, 1.106, 0}, cells = {12, 1, 12}, thickness = 0.002, "
    "material = stuff 'corotated' } }\n"
    "joins = { { body = 'c', shape = box { size = {0.05, 0.1, 2}, center = {-0.5, 1.106, 0} } } }\n";
#define CROWDED                                                                                                        \
    "engine = 'lg', bodies = bodies, joins = joins, lg = { iterations = 3, inner = 2, compliance = '%s', precision = " \
    "'%s' }"

static void run_crowd(int threads, const char *compliance, const char *precision, uint64_t hash[3])
{
    tl_threads_set(threads);
    rigid_case c = rigid_open(crowd, CROWDED, compliance, precision);
    int64_t touching = 0;
    for (int i = 0; i < 9; i++) {
        rigid_step(&c, 0.01);
        hash[i / 3] = tl_state_hash(&c.sim->state);
        touching = c.sim->report.touching > touching ? c.sim->report.touching : touching;
    }
    assert_true(touching > 100);
    rigid_close(&c);
}

static void threads_do_not_matter_to_contacts(void **state)
{
    (void)state;
    static const char *const ways[][2] = {{"explicit", "float"}, {"matrix-free", "float"}, {"explicit", "double"}};
    int before = tl_threads();
    for (int w = 0; w < 3; w++) {
        uint64_t one[3], two[3];
        run_crowd(1, ways[w][0], ways[w][1], one);
        run_crowd(2, ways[w][0], ways[w][1], two);
        for (int k = 0; k < 3; k++) assert_true(one[k] == two[k]);
    }
    tl_threads_set(before);
}

/* The copy has no columns of the compliance, and no memory but the state's. */
static void contacts_go_on_the_same(void **state)
{
    (void)state;
    static const char *const ways[] = {"explicit", "matrix-free"};
    for (int w = 0; w < 2; w++) {
        rigid_case c = rigid_open(crowd, CROWDED, ways[w], "float");
        for (int i = 0; i < 6; i++) rigid_step(&c, 0.01);
        check_saved_goes_on(c.sim, c.scene, 4, 0.01);
        rigid_close(&c);
    }
}

static void settled_scenes_stay_off_the_heap(void **state)
{
    (void)state;
    /* Lua's functions of time do allocate, and so does CHOLMOD inside of every factor that corrections make */
    rigid_case c = rigid_open(world, "engine = 'lg', lg = { corrections = 0 }, bodies = bodies");
    for (int i = 0; i < 3; i++) rigid_step(&c, 0.01);
    int64_t calls = tl_alloc_read().calls;
    for (int i = 0; i < 5; i++) rigid_step(&c, 0.01);
    assert_int_equal(tl_alloc_read().calls, calls);
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_saved_state_goes_on_the_same),
        cmocka_unit_test(threads_do_not_matter_to_contacts),
        cmocka_unit_test(contacts_go_on_the_same),
        cmocka_unit_test(settled_scenes_stay_off_the_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
