/* Memory refused while particles are made or a step is prepared: no memory is told, nothing is left behind. */
#include "check.h"
#include "model/sph/state.h"
#include "sph.h"

#include "base/alloc.h"

static talus_error err;

static const char crowd[] =
    "sph = { spacing = h }, domain = { min = {0, 0, 0}, max = {0.3, 0.4, 0.3} },"
    "fill = { { material = preset 'water', shape = box { size = {0.3, 0.1, 0.3}, center = {0.15, 0.06, 0.15} } } },"
    "bodies = { { shape = box { size = 0.12 }, at = {0.12, 0.15, 0.15}, density = 700, friction = 0.4 },"
    " { shape = cylinder { radius = 0.05, height = 0.1 }, at = {0.15, 0.27, 0.15}, density = 1500, friction = 0.3 },"
    " { kind = 'static', shape = torus { radius = 0.08, tube = 0.03 }, at = {0.15, 0.05, 0.15} } }";

static void create(void **state)
{
    (void)state;
    sph_case c = sph_open("h = 0.04", crowd, NULL);
    int64_t live = tl_alloc_read().live_blocks;
    int failures = 0;
    for (int64_t k = 1;; k++) {
        tl_sph sph;
        tl_sph_state fluid;
        tl_alloc_fail_at(k);
        talus_status status = tl_sph_create(&sph, c.scene, &c.rigid, NULL, &err);
        if (status == TALUS_OK) {
            status = tl_sph_state_begin(&fluid, &sph, c.scene, &err);
            if (status == TALUS_OK) tl_sph_state_free(&fluid);
            tl_sph_free(&sph);
        }
        int delivered = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        assert_int_equal(tl_alloc_read().live_blocks, live);
        if (!delivered) {
            assert_int_equal(status, TALUS_OK);
            break;
        }
        if (status != TALUS_OK) { /* arenas and samplers may do with less */
            assert_int_equal(status, TALUS_NO_MEMORY);
            assert_true(err.message[0]);
            failures++;
        }
    }
    assert_true(failures > 20);
    sph_close(&c);
}

static void step(void **state)
{
    (void)state;
    sph_case c = sph_open("h = 0.015", crowd, NULL); /* a step needs more than one chunk of the arena */
    int failures = 0;
    for (int64_t k = 1;; k++) {
        tl_arena_free(&c.arena); /* so that there is something to refuse */
        tl_alloc_fail_at(k);
        talus_status status = sph_try_step(&c, 1e-3, &err);
        int delivered = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        if (!delivered) {
            assert_int_equal(status, TALUS_OK);
            break;
        }
        if (status != TALUS_OK) {
            assert_int_equal(status, TALUS_NO_MEMORY);
            failures++;
        }
    }
    assert_true(failures > 0); /* the arena asks twice where it may do with less; then the step is good */
    sph_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(create), cmocka_unit_test(step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
