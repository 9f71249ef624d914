/* Memory refused while a state is made or a grid is derived from it: told, nothing lost, nothing left behind. */
#include "check.h"

#include "base/alloc.h"
#include "grid.h"
#include "model/grid/correct.h"
#include "model/grid/emit.h"
#include "model/grid/extrapolate.h"

static talus_error err;

static grid_case open_case(void)
{
    return grid_open(
        "grid = { cells = {16, 16, 16}, cell = 0.1 }, fill = { { material = water, shape = box { center = {0.8, 0.2, "
        "0.8}, size = {0.8, 0.4, 0.8} } }, { material = heavy, shape = sphere { center = {0.8, 1.1, 0.8}, radius = 0.2 "
        "}, sampling = "
        "'blue_noise' } }, emitters = { { material = water, shape = sphere { center = {0.4, 1.2, 0.4}, radius = 0.15 "
        "}, velocity = {0, 0, "
        "0}, rate = 1 } }, bodies = { { shape = sphere { radius = 0.2 }, at = {0.8, 0.3, 0.8}, density = 500 } }");
}

static void beginning(void **state)
{
    (void)state;
    grid_case c = open_case();
    int64_t blocks = tl_alloc_read().live_blocks;
    int failures = 0;
    for (int64_t k = 1;; k++) {
        tl_grid_state fresh;
        tl_alloc_fail_at(k);
        const tl_fill_bodies bodies = {&c.rigid, c.state.rigid.body, NULL};
        talus_status status = tl_grid_state_begin(&fresh, c.scene, &c.f, &bodies, &err);
        int delivered = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        if (status == TALUS_OK) {
            assert_int_equal(fresh.particles.count, tl_grid_state_of(&c.state)->particles.count);
            tl_grid_state_free(&fresh);
            if (!delivered) break;
            continue; /* the arena did with less */
        }
        assert_int_equal(status, TALUS_NO_MEMORY);
        assert_null(fresh.particles.particle);
        assert_int_equal(tl_alloc_read().live_blocks, blocks);
        failures++;
    }
    assert_true(failures > 5);
    grid_close(&c);
}

/* Everything that takes from the arena, from a fresh one each time, so that there is something to refuse. */
static talus_status everything(grid_case *c)
{
    tl_emission e;
    tl_emitter_state now = {0}, next;
    tl_correction moved;
    tl_particles_measure m;
    uint8_t *known[3];
    double next_id = 1e6;
    TL_TRY(grid_try_derive(c, TL_WEIGHT_VOLUME, &err));
    for (int k = 0; k < 3; k++) {
        known[k] = TL_TAKE_ZERO(&c->arena, uint8_t, c->g.cells);
        if (!known[k]) return TL_FAIL(&err, TALUS_NO_MEMORY, "no memory");
    }
    TL_TRY(tl_extrapolate(&c->g, 3, c->faces.u, known, &c->arena, &err));
    TL_TRY(tl_clip_inflow(&c->g, &(tl_covered){&c->solids, c->fractions.open, 0, NULL}, known, c->faces.u, &c->arena,
                          &err));
    TL_TRY(tl_particles_spread(&c->f, &c->solids, &(tl_spread){.sweeps = 1, .gap = 0.001}, &c->sorted, &c->arena,
                               &moved, &err));
    TL_TRY(tl_particles_measures(&c->f, &c->sorted, c->rho, (tl_vec3){0, 0, 0}, &c->arena, &m, &err));
    TL_TRY(tl_emitters_read(c->scene, 0, &e, &err));
    tl_particles more = {0};
    const tl_emitting step = {c->scene, &c->f, &c->solids, &e, 0.01, NULL};
    talus_status status = tl_particles_emit(&step, &now, &next, &more, &next_id, &c->arena, &err);
    assert_true(status != TALUS_OK || more.count > 0);
    tl_particles_free(&more);
    return status;
}

static void deriving(void **state)
{
    (void)state;
    grid_case c = open_case();
    uint64_t before = tl_state_hash(&c.state);
    int failures = 0;
    for (int64_t k = 1;; k++) {
        tl_arena_free(&c.arena);
        tl_alloc_fail_at(k);
        talus_status status = everything(&c);
        int delivered = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        assert_true(tl_state_hash(&c.state) == before);
        if (status == TALUS_OK && !delivered) break;
        if (status == TALUS_OK) continue;
        assert_int_equal(status, TALUS_NO_MEMORY);
        failures++;
    }
    assert_true(failures > 3);

    /* copies of the state */
    tl_state copy = {0};
    int64_t blocks = tl_alloc_read().live_blocks;
    for (int64_t k = 1;; k++) {
        tl_alloc_fail_at(k);
        talus_status status = tl_state_copy(&copy, &c.state, &err);
        tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        if (status == TALUS_OK) break;
        assert_int_equal(status, TALUS_NO_MEMORY);
        assert_int_equal(tl_alloc_read().live_blocks, blocks);
    }
    assert_true(tl_state_hash(&copy) == before);
    tl_state_free(&copy);
    grid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(beginning), cmocka_unit_test(deriving)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
