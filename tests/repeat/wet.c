/* Elastic and rigid bodies that touch in a liquid, viscous or not: same bits for any number of threads, and after a
 * checkpoint. */
#include "check.h"

#include "base/parallel.h"
#include "lab/world.h"
#include "saved.h"

static talus_error err;

static void open_bath(tl_world *w, const char *liquid)
{
    CHECK_OK(tl_world_open(
        w, &err,
        "return scene { talus = 1, engine = 'grid', duration = 1, fps = 100, grid = { cells = {8, 7, 8}, cell = 0.1 "
        "},"
        " fill = { { material = %s, shape = box { size = {0.8, 0.5, 0.6}, center = {0.4, 0.25, 0.3} } } },"
        " bodies = {"
        "  { shape = box { size = {0.4, 0.2, 0.4} }, at = {0.35, 0.1001, 0.4}, cells = {2, 2, 2},"
        "    material = elastic { density = 1500, young = 1e5, poisson = 0.3 } },"
        "  { shape = box { size = 0.2 }, at = {0.37, 0.3002, 0.38}, material = solid { density = 3000 } } } }",
        liquid));
}

static void threads_do_not_matter(void **state)
{
    const char *const liquid = *state;
    const int before = tl_threads();
    uint64_t hash[2][2];
    for (int t = 0; t < 2; t++) {
        tl_world w;
        tl_threads_set(t + 1);
        open_bath(&w, liquid);
        for (int k = 0; k < 2; k++) {
            CHECK_OK(tl_world_steps(&w, 1, 0.01, &err));
            hash[t][k] = tl_state_hash(&w.sim->state);
        }
        assert_true(w.sim->report.touching > 3);
        tl_world_close(&w);
    }
    for (int k = 0; k < 2; k++) assert_true(hash[0][k] == hash[1][k]);
    tl_threads_set(before);
}

static void a_saved_state_goes_on_the_same(void **state)
{
    tl_world w;
    open_bath(&w, *state);
    CHECK_OK(tl_world_steps(&w, 1, 0.01, &err));
    check_saved_goes_on(w.sim, w.scene, 1, 0.01);
    tl_world_close(&w);
}

int main(void)
{
    static char water[] = "liquid { density = 1000 }", honey[] = "viscous { density = 1000, viscosity = 2 }";
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(threads_do_not_matter, water),
                                       cmocka_unit_test_prestate(threads_do_not_matter, honey),
                                       cmocka_unit_test_prestate(a_saved_state_goes_on_the_same, water),
                                       cmocka_unit_test_prestate(a_saved_state_goes_on_the_same, honey)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
