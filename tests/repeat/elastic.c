/* Elastic bodies of engine "grid": same bits for any number of threads, after a copy of the state and after a
 * checkpoint. */
#include "check.h"

#include "base/alloc.h"
#include "base/parallel.h"
#include "rigid.h"
#include "saved.h"

/* Soft on soft on the floor, rigid boxes on top, a turning roller beside, a held end that turns, one that spins
 * freely. */
static const char world[] =
    "function stuff(E) return elastic { density = 1000, young = E, poisson = 0.4, friction = 0.4 } end\n"
    "bodies = { { name = 'floor', kind = 'static', shape = plane {}, friction = 0.4 },\n"
    "  { name = 'a', shape = box { size = {1, 0.4, 1} }, at = {0, 0.2, 0}, cells = {6, 3, 6}, material = stuff(1e5) "
    "},\n"
    "  { name = 'b', shape = box { size = {0.4, 0.3, 0.4} }, at = {0.05, 0.551, 0.02}, cells = {3, 2, 3}, velocity = "
    "{0.5, 0, 0}, material = stuff(1e6) },\n"
    "  { name = 'box', shape = box { size = 0.2 }, at = {0, 0.802, 0}, density = 400, friction = 0.4 },\n"
    "  { name = 'crate', shape = box { size = 0.2 }, at = {0, 1.003, 0}, density = 400, friction = 0.4 },\n"
    "  { name = 'roller', shape = sphere { radius = 0.2 }, at = {0.69, 0.2, 0}, friction = 0.8, motion = function(t) "
    "return { rotation_rad = {0, 0, 5 * t} } end },\n"
    "  { name = 'c', shape = box { size = {1, 0.2, 0.2} }, at = {0, 3, 0}, cells = {8, 2, 2}, material = stuff(1e5), "
    "spin_rad_per_s = {1, 2, 3} },\n"
    "  { name = 'd', shape = box { size = {1, 0.2, 0.2} }, at = {0, 4, 0}, cells = {8, 2, 2}, material = stuff(1e5) } "
    "}\n"
    "handles = { { body = 'd', shape = box { size = {0.01, 9, 1}, center = {-0.5, 0, 0} }, at = {-0.5, 4, 0}, motion = "
    "function(t) return { rotation_rad = {2 * t, 0, 0} } end } }\n";
#define SCENE "engine = 'grid', bodies = bodies, handles = handles, fem = { integrator = '%s', elements = '%s' }"

static void run(int threads, const char *rule, const char *elements, uint64_t hash[3])
{
    tl_threads_set(threads);
    rigid_case c = rigid_open(world, SCENE, rule, elements);
    int64_t touching = 0;
    for (int i = 0; i < 6; i++) {
        rigid_step(&c, 0.01);
        hash[i / 2] = tl_state_hash(&c.sim->state);
        touching = c.sim->report.touching > touching ? c.sim->report.touching : touching;
    }
    assert_true(touching > 40);
    rigid_close(&c);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    static const char *const ways[][2] = {{"euler", "tets"}, {"euler", "auto"}, {"midpoint", "smoothed"}};
    int before = tl_threads();
    for (int w = 0; w < 3; w++) {
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
    rigid_case c = rigid_open(world, SCENE, "midpoint", "tets");
    for (int i = 0; i < 4; i++) rigid_step(&c, 0.01);
    check_saved_goes_on(c.sim, c.scene, 3, 0.01);
    rigid_close(&c);
}

/* Every route: two threads, and a state that was saved. A soft block on the floor, held at a side so that the
 * published "g" has an answer, and a rigid box on top. */
static void routes_repeat_too(void **state)
{
    (void)state;
    static const char *const names[] = {"schur",     "schur-last", "ucg", "ucg-mprgp", "g",   "g-scaled",
                                        "g-matfree", "nf",         "ic",  "admm",      "ica", "sum"};
    int before = tl_threads();
    for (size_t r = 0; r < sizeof names / sizeof *names; r++) {
        uint64_t hash[2];
        for (int threads = 1; threads <= 2; threads++) {
            tl_threads_set(threads);
            rigid_case c = rigid_open(
                NULL,
                "engine = 'grid', bodies = { { name = 'floor', kind = 'static', shape = plane {}, friction = 0.4 }, { "
                "name = 'a', shape = box { size = 0.4 }, at = {0, 0.1999, 0}, cells = {1, 1, 1}, anchor = box { size = "
                "{0.01, 1, 1}, center = {-0.2, 0, 0} }, material = elastic { density = 1000, young = 1e4, poisson = "
                "0.3, friction = 0.4 } }, { name = 'box', shape = box { size = 0.1 }, at = {0.1, 0.4505, 0.01}, "
                "density = 500, friction = 0.4 } }, fem = { iterations = 3 }, solver = { elastic = '%s' }",
                names[r]);
            rigid_step(&c, 0.01);
            assert_true(c.sim->report.touching > 1);
            hash[threads - 1] = tl_state_hash(&c.sim->state);
            if (threads == 2) check_saved_goes_on(c.sim, c.scene, 2, 0.01);
            rigid_close(&c);
        }
        if (hash[0] != hash[1]) fail_msg("route %s has other bits with two threads", names[r]);
    }
    tl_threads_set(before);
}

/* A block that lies on the floor: once it has settled, a step takes nothing from the heap, but for the six blocks
 * that CHOLMOD takes for each factor. */
static void rest_leaves_the_heap_alone(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL,
        "engine = 'grid', bodies = { { name = 'floor', kind = 'static', shape = plane {}, friction = 0.5 }, { "
        "name = 'a', shape = box { size = 0.2 }, at = {0, 0.1, 0}, cells = {5, 5, 5}, material = elastic { density "
        "= 1000, young = 1e5, poisson = 0.4, friction = 0.5 } } }");
    for (int i = 0; i < 25; i++) rigid_step(&c, 0.01);
    tl_alloc_stats before = tl_alloc_read();
    int64_t factors = 0;
    for (int i = 0; i < 5; i++) {
        rigid_step(&c, 0.01);
        factors += c.sim->report.solve[0].work.factorizations;
    }
    assert_true(c.sim->report.touching > 20);
    assert_int_equal(tl_alloc_read().calls - before.calls, 6 * factors);
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_saved_state_goes_on_the_same),
        cmocka_unit_test(routes_repeat_too),
        cmocka_unit_test(rest_leaves_the_heap_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
