#include "saved.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "io/checkpoint.h"
#include "tempdir.h"

/* Steps must not read what they did not write: all of their memory becomes NaN. */
static void spoil_memory(tl_sim *sim)
{
    size_t bytes = sim->arena.high_water;
    tl_arena_reset(&sim->arena);
    void *all = tl_arena_take(&sim->arena, bytes);
    assert_non_null(all);
    memset(all, 0xff, bytes);
}

void check_saved_goes_on(tl_sim *sim, tl_scene *scene, int steps, double dt)
{
    talus_error err;
    char folder[TL_TEMPDIR_MAX], path[TL_TEMPDIR_MAX + 20];
    tl_sim *copied, *loaded;
    tl_tempdir_create(folder);
    snprintf(path, sizeof path, "%s/saved.h5", folder);
    CHECK_OK(tl_checkpoint_save(path, &sim->state, scene, "", &err));
    CHECK_OK(tl_sim_create(&copied, scene, NULL, &err));
    CHECK_OK(tl_state_copy(&copied->state, &sim->state, &err));
    CHECK_OK(tl_sim_create_empty(&loaded, scene, NULL, &err));
    CHECK_OK(tl_checkpoint_load(path, &loaded->state, scene, loaded->rigid.count, NULL, &err));
    for (int i = 0; i < steps; i++) {
        CHECK_OK(tl_sim_step(sim, dt, INFINITY, &err));
        spoil_memory(copied);
        CHECK_OK(tl_sim_step(copied, dt, INFINITY, &err));
        CHECK_OK(tl_sim_step(loaded, dt, INFINITY, &err));
        assert_true(tl_state_hash(&copied->state) == tl_state_hash(&sim->state));
        assert_true(tl_state_hash(&loaded->state) == tl_state_hash(&sim->state));
    }
    tl_sim_free(copied);
    tl_sim_free(loaded);
    tl_tempdir_remove(folder);
}
