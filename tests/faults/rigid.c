/* Memory refused while a simulation is made or stepped: no memory is told, the state is as it was, nothing is left
 * behind. */
#include "check.h"

#include "base/alloc.h"
#include "refused.h"
#include "rigid.h"

static talus_error err;

static const char pile[] =
    "bodies = { { kind = 'static', shape = plane {}, friction = 0.5 }, { shape = box { size = 0.2 }, at = {0, 0.1, 0}, "
    "mass = 1, friction = 0.5 }, { shape = box { size = 0.2 }, at = {0.05, "
    "0.35, 0}, rotation_deg = {10, 20, 30}, velocity = {0, -2, 0}, spin_rad_per_s = {5, 0, 3}, mass = 2, friction = "
    "0.5, restitution = 0.3 }, { shape = sphere { radius = 0.1 }, at = {0.1, "
    "0.6, 0}, velocity = {0, -3, 0}, density = 500, friction = 0.5 } }";

static void create(void **state)
{
    (void)state;
    rigid_case c = rigid_open(NULL, "%s", pile);
    assert_true(check_create_refused(c.scene) > 5);
    rigid_close(&c);
}

/* Every allocation of every one of 5 steps of 60 bodies that fall, land and bounce: the try that fails changes
 * nothing. The arena asks twice where it may do with less; then the step is good. */
static void step(void **state)
{
    (void)state;
    rigid_case c = rigid_open("bodies = { { kind = 'static', shape = plane {}, friction = 0.5 } } for i = 0, 59 do "
                              "bodies[#bodies + 1] = { shape = i % 9 == 4 and sphere { radius = 0.1 } or box { "
                              "size = 0.2 }, at = {0.21 * (i % 9), 0.12 + 0.21 * (i // 9), 0}, mass = 1, velocity = "
                              "{0, -0.5, 0}, spin_rad_per_s = {0, 0, i % 5}, friction = 0.5, restitution = "
                              "0.3 } end",
                              "bodies = bodies");
    int failures = 0;
    for (int i = 0; i < 5; i++) {
        tl_state kept = {0};
        CHECK_OK(tl_state_copy(&kept, &c.sim->state, &err));
        uint64_t before = tl_state_hash(&c.sim->state);
        for (int64_t k = 1;; k++) {
            /* so that there is something to refuse */
            tl_arena_free(&c.sim->arena);
            tl_state_free(&c.sim->state);
            CHECK_OK(tl_state_copy(&c.sim->state, &kept, &err));
            tl_alloc_fail_at(k);
            talus_status status = tl_sim_step(c.sim, 0.01, INFINITY, &err);
            int delivered = tl_alloc_fail_happened();
            tl_alloc_fail_at(0);
            if (status == TALUS_OK && !delivered) break;
            if (status == TALUS_OK) continue;
            assert_int_equal(status, TALUS_NO_MEMORY);
            assert_true(tl_state_hash(&c.sim->state) == before);
            failures++;
        }
        tl_state_free(&kept);
    }
    assert_true(c.sim->report.touching > 20);
    assert_true(failures > 8);
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(create), cmocka_unit_test(step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
