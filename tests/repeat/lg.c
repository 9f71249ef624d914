/* Same bits for any number of threads, after a copy of the state and after a checkpoint; no heap use once settled. */
#include "check.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "io/checkpoint.h"
#include "rigid.h"
#include "tempdir.h"

static talus_error err;

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
    char folder[TL_TEMPDIR_MAX], path[TL_TEMPDIR_MAX + 20];
    tl_tempdir_create(folder);
    snprintf(path, sizeof path, "%s/lg.h5", folder);
    rigid_case c = rigid_open(world, SCENE, "factor", "float");
    for (int i = 0; i < 5; i++) rigid_step(&c, 0.01);
    CHECK_OK(tl_checkpoint_save(path, &c.sim->state, c.scene, "", &err));
    tl_sim *copied, *loaded;
    CHECK_OK(tl_sim_create(&copied, c.scene, NULL, &err));
    CHECK_OK(tl_state_copy(&copied->state, &c.sim->state, &err));
    CHECK_OK(tl_sim_create(&loaded, c.scene, NULL, &err));
    CHECK_OK(tl_checkpoint_load(path, &loaded->state, c.scene, loaded->rigid.count, NULL, &err));
    for (int i = 0; i < 5; i++) {
        rigid_step(&c, 0.01);
        CHECK_OK(tl_sim_step(copied, 0.01, INFINITY, &err));
        CHECK_OK(tl_sim_step(loaded, 0.01, INFINITY, &err));
        assert_true(tl_state_hash(&copied->state) == tl_state_hash(&c.sim->state));
        assert_true(tl_state_hash(&loaded->state) == tl_state_hash(&c.sim->state));
    }
    tl_sim_free(copied);
    tl_sim_free(loaded);
    rigid_close(&c);
    tl_tempdir_remove(folder);
}

static void settled_scenes_stay_off_the_heap(void **state)
{
    (void)state;
    rigid_case c = rigid_open(world, "engine = 'lg', bodies = bodies"); /* Lua's functions of time do allocate */
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
        cmocka_unit_test(settled_scenes_stay_off_the_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
