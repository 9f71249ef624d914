/* Elastic bodies of engine "grid" when memory is refused: a clean status, the state unchanged, nothing left behind. */
#include "check.h"

#include "base/alloc.h"
#include "refused.h"
#include "rigid.h"

static talus_error err;

static const char world[] =
    "engine = 'grid', bodies = { { name = 'floor', kind = 'static', shape = plane {} }, { name = 'a', shape = box { "
    "size = {1, 0.4, 1} }, at = {0, 0.1999, 0}, cells = {2, 1, 2}, material = elastic { density = 1000, young = 1e5, "
    "poisson = 0.3 } }, { name = 'b', shape = box { size = 0.3 }, at = {0, 0.549, 0}, cells = {1, 1, 1}, material = "
    "elastic { density = 1000, young = 1e5, poisson = 0.3 } }, { name = 'box', shape = box { size = 0.2 }, at = {0, "
    "0.798, 0}, density = 400 } }, fem = { elements = '%s' }";

static void create(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        rigid_case c = rigid_open(NULL, world, way ? "smoothed" : "tets");
        assert_true(check_create_refused(c.scene) > 50);
        rigid_close(&c);
    }
}

static void step(void **state)
{
    (void)state;
    int failures = 0;
    rigid_case first = rigid_open(NULL, world, "tets");
    rigid_step(&first, 0.01);
    assert_true(first.sim->report.touching > 8);
    uint64_t goal = tl_state_hash(&first.sim->state);
    for (int64_t k = 1;; k++) {
        tl_sim *sim;
        CHECK_OK(tl_sim_create(&sim, first.scene, NULL, &err));
        uint64_t before = tl_state_hash(&sim->state);
        tl_alloc_fail_at(k);
        talus_status status = tl_sim_step(sim, 0.01, INFINITY, &err);
        int delivered = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        if (status != TALUS_OK) {
            assert_int_equal(status, TALUS_NO_MEMORY);
            assert_true(tl_state_hash(&sim->state) == before);
            failures++;
            CHECK_OK(tl_sim_step(sim, 0.01, INFINITY, &err));
            assert_true(tl_state_hash(&sim->state) == goal);
        }
        tl_sim_free(sim);
        if (!delivered) break;
    }
    assert_true(failures > 10);
    rigid_close(&first);
}

/* Routes for comparison keep matrices on the heap: the same, at some of the allocations. */
static void routes(void **state)
{
    (void)state;
    static const char *const names[] = {"g-scaled", "nf", "ic", "ucg-mprgp", "admm", "ica", "schur-last", "sum"};
    for (size_t r = 0; r < sizeof names / sizeof *names; r++) {
        rigid_case first = rigid_open(NULL,
                                      "engine = 'grid', bodies = { { name = 'floor', kind = 'static', shape = plane {} "
                                      "}, { name = 'a', shape = box { size = 0.4 }, at = {0, 0.1999, 0}, "
                                      "cells = {1, 1, 1}, material = elastic { density = 1000, young = 1e4, poisson = "
                                      "0.3 } } }, solver = { elastic = '%s' }",
                                      names[r]);
        rigid_step(&first, 0.01);
        assert_true(first.sim->report.touching > 0);
        uint64_t goal = tl_state_hash(&first.sim->state);
        int failures = 0;
        for (int64_t k = 1, delivered = 1; delivered; k += 1 + k / 8) {
            tl_sim *sim;
            CHECK_OK(tl_sim_create(&sim, first.scene, NULL, &err));
            uint64_t before = tl_state_hash(&sim->state);
            tl_alloc_fail_at(k);
            talus_status status = tl_sim_step(sim, 0.01, INFINITY, &err);
            delivered = tl_alloc_fail_happened();
            tl_alloc_fail_at(0);
            if (status != TALUS_OK) {
                assert_int_equal(status, TALUS_NO_MEMORY);
                assert_true(tl_state_hash(&sim->state) == before);
                failures++;
                CHECK_OK(tl_sim_step(sim, 0.01, INFINITY, &err));
                assert_true(tl_state_hash(&sim->state) == goal);
            }
            tl_sim_free(sim);
        }
        assert_true(failures > 5);
        rigid_close(&first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create),
        cmocka_unit_test(step),
        cmocka_unit_test(routes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
