/* No memory in one part of several, at any allocation of a start and of steps: all parts fail alike and nobody waits
 * for ever (split.h ends the program then), the state is as it was, and the run goes on. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "model/grid/state.h"
#include "phase/sim.h"
#include "scene/load.h"
#include "split.h"

#define PARTS 3
#define STEPS 2
#define MOST 4000 /* allocations: more than there are */

static const char SCENE[] =
    "local water = liquid { density = 1000 }\n"
    "return scene { talus = 1, engine = 'grid', duration = 5, fps = 100, grid = { cells = {48, 32, 1}, cell = 1/32, "
    "cfl "
    "= 2, periodic = {false, false, true} }, fill = { { material = water, shape = box { center = {0.4, 0.4, 0}, size = "
    "{0.8, 0.8, 1} } } }, bodies = { { shape = sphere { radius = 0.15 }, at = {1.1, 0.15, 0}, density = 500 } } }\n";

static tl_scene *scene;
static int64_t fail_at;
static bool failed, ended; /* whether it came to it; whether anything was left to fail */

static _Thread_local char said[512];

static void meet(const tl_comm *c)
{
    int here = 0, all[PARTS];
    tl_comm_share(c, sizeof here, &here, all);
}

/* What all parts have to say must be the same. */
static const char *same(const tl_comm *c, talus_status status, const talus_error *err)
{
    static const char *const known = "no memory";
    talus_status all[PARTS];
    tl_comm_share(c, sizeof status, &status, all);
    for (int p = 1; p < PARTS; p++)
        if (all[p] != all[0]) return "parts end a call differently";
    snprintf(said, sizeof said, "%s", err->message);
    if (status != TALUS_OK && status != TALUS_NO_MEMORY) return said;
    return status == TALUS_OK || strstr(said, known) ? NULL : said;
}

static const char *step(const tl_comm *c, tl_sim *sim)
{
    talus_error err = {TALUS_OK, ""};
    const uint64_t before = tl_sim_hash(sim);
    const talus_status status = tl_sim_step(sim, 0, INFINITY, &err);
    const char *wrong = same(c, status, &err);
    if (wrong || status == TALUS_OK) return wrong;
    if (tl_sim_hash(sim) != before) return "a step that failed has changed the state";
    return tl_sim_step(sim, 0, INFINITY, &err) == TALUS_OK ? NULL : "the step after one without memory failed";
}

static const char *part_of_case(const tl_comm *c)
{
    tl_sim *sim = NULL;
    talus_error err = {TALUS_OK, ""};
    meet(c);
    if (c->part == 0) tl_alloc_fail_at(fail_at);
    meet(c);
    const talus_status made = tl_sim_create_part(&sim, scene, c, NULL, &err);
    const char *wrong = same(c, made, &err);
    for (int k = 0; k < STEPS && sim && !wrong; k++) wrong = step(c, sim);
    meet(c);
    if (c->part == 0) {
        failed = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
    }
    meet(c);
    tl_sim_free(sim);
    return wrong;
}

static void any_allocation(void **state)
{
    (void)state;
    int times = 0;
    tl_load_options o = {.no_files = true};
    talus_error err;
    assert_int_equal(tl_scene_load_text(&scene, "case.lua", SCENE, sizeof SCENE - 1, &o, &err), TALUS_OK);
    ended = false;
    for (fail_at = 1; fail_at < MOST && !ended; fail_at += 1 + fail_at / 40) {
        int part = 0;
        const char *wrong = tl_split_case(PARTS, part_of_case, &part);
        if (wrong) fail_msg("allocation %lld, part %d: %s", (long long)fail_at, part, wrong);
        times += failed;
        ended = !failed;
    }
    tl_scene_free(scene);
    assert_true(ended && times > 50);
}

/* A particle of the last part is spoilt: all give the step up, with one message, and leave the state alone. */
static const char *spoilt_part(const tl_comm *c)
{
    tl_sim *sim = NULL;
    talus_error err = {TALUS_OK, ""};
    if (tl_sim_create_part(&sim, scene, c, NULL, &err) != TALUS_OK) return "no simulation";
    const tl_particles *p = &tl_grid_state_of(&sim->state)->particles;
    if (c->part == PARTS - 1) p->particle[p->count / 2].C.m[0][1] = NAN;
    const uint64_t before = tl_sim_hash(sim);
    const talus_status status = tl_sim_step(sim, 0, INFINITY, &err);
    char all[PARTS][sizeof err.message];
    tl_comm_share(c, sizeof err.message, err.message, all);
    const char *wrong = status == TALUS_OK                      ? "a step with NaN went well"
                        : memcmp(all[0], all[1], sizeof all[0]) ? "parts say different things"
                        : tl_sim_hash(sim) != before            ? "a step that failed has changed the state"
                                                                : NULL;
    tl_sim_free(sim);
    return wrong;
}

static void not_a_number(void **state)
{
    (void)state;
    int part = 0;
    tl_load_options o = {.no_files = true};
    talus_error err;
    assert_int_equal(tl_scene_load_text(&scene, "case.lua", SCENE, sizeof SCENE - 1, &o, &err), TALUS_OK);
    const char *wrong = tl_split_case(PARTS, spoilt_part, &part);
    if (wrong) fail_msg("part %d: %s", part, wrong);
    tl_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_allocation), cmocka_unit_test(not_a_number)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
