/* Memory refused in a step of sand with a body: told, and the state is as it was. */
#include "check.h"

#include "base/alloc.h"
#include "lab/world.h"

static talus_error err;

static const char heap[] =
    "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50,"
    " grid = { cells = {12, 8, 8}, cell = 0.1 },"
    " fill = { { material = granular { density = 1600, friction_angle_deg = 30 }, shape = box { size = {0.6, 0.3, 0.6},"
    " center = {0.6, 0.15, 0.4} } } }, bodies = { { shape = box { size = {0.25, 0.2, 0.25} }, at = {0.6, 0.405, 0.4},"
    " density = 500 } }, solver = { scheme = 't-f-p-n'%s } }";

/* Every allocation of a step, from an arena that has nothing. */
static void refuse(const char *more)
{
    tl_world w;
    CHECK_OK(tl_world_open(&w, &err, heap, more));
    CHECK_OK(tl_world_steps(&w, 2, 5e-3, &err)); /* so that there is stress to remember */
    tl_sim *sim = w.sim;
    tl_state kept = {0};
    CHECK_OK(tl_state_copy(&kept, &sim->state, &err));
    uint64_t before = tl_state_hash(&sim->state);
    int failures = 0;
    for (int64_t k = 1;; k++) {
        tl_arena_free(&sim->arena);
        tl_state_free(&sim->state);
        CHECK_OK(tl_state_copy(&sim->state, &kept, &err));
        tl_alloc_fail_at(k);
        talus_status status = tl_sim_step(sim, 5e-3, INFINITY, &err);
        int delivered = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        if (status == TALUS_OK && !delivered) break;
        if (status == TALUS_OK) continue;
        assert_int_equal(status, TALUS_NO_MEMORY);
        assert_true(tl_state_hash(&sim->state) == before);
        failures++;
    }
    assert_true(failures > 0); /* the arena takes few, large blocks */
    tl_state_free(&kept);
    tl_world_close(&w);
}

static void whole_cone(void **state)
{
    (void)state;
    refuse("");
}

static void by_parts(void **state)
{
    (void)state;
    refuse(", friction = { method = 'jcsp' }");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_cone), cmocka_unit_test(by_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
