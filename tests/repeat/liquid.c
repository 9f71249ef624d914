/* Liquid or sand with bodies in contact and an open emitter: same bits for any number of threads, after a copy of the state and after a checkpoint. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "base/parallel.h"
#include "saved.h"
#include "scene/load.h"
#include "step/sim.h"

static talus_error err;

/* Large enough that loops are shared between threads. */
static const char text[] =
    "local water = %s\n"
    "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, solver = { %s },\n"
    "  grid = { cells = {32, 24, 20}, cell = 0.04, cfl = 2 },\n"
    "  fill = { { material = water, shape = box { size = {0.6, 0.5, 0.8}, center = {0.3, 0.25, 0.4} } } },\n"
    "  emitters = { { material = water, shape = box { size = {0.16, 0.12, 0.16}, center = {1, 0.8, 0.4} },\n"
    "    velocity = {0, -1, 0}, rate = 0.02 } },\n"
    "  bodies = { { name = 'lower', shape = box { size = 0.2 }, at = {0.8, 0.1, 0.4}, density = 600, friction = 0.4 "
    "},\n"
    "    { name = 'upper', shape = box { size = 0.16 }, at = {0.82, 0.28, 0.4}, density = 900, friction = 0.4 },\n"
    "    { name = 'ball', shape = sphere { radius = 0.1 }, at = {0.3, 0.45, 0.4}, density = 300 } } }";

typedef struct liquid_case {
    tl_scene *scene;
    tl_sim *sim;
} liquid_case;

typedef struct what {
    const char *material, *solver;
} what;
static const what cases[] = {
    {"liquid { density = 1000 }", "scheme = 't-pn'"},
    {"liquid { density = 1000 }", "scheme = 't-p-n'"},
    {"granular { density = 1600, friction_angle_deg = 30 }",
     "scheme = 't-f-pn', sweeps = 2, friction = { iterations = 4 }"},
    {"granular { density = 1600, friction_angle_deg = 30 }",
     "scheme = 't-f-p-n', sweeps = 2, stress = 'staggered', friction = { method = 'narain', iterations = 4 }"},
};
enum { CASES = sizeof cases / sizeof *cases };

static liquid_case open_case(const what *w)
{
    liquid_case c = {0};
    char filled[2048];
    int bytes = snprintf(filled, sizeof filled, text, w->material, w->solver);
    assert_true(bytes > 0 && bytes < (int)sizeof filled);
    tl_load_options o = {.no_files = true};
    CHECK_OK(tl_scene_load_text(&c.scene, "repeat.lua", filled, (size_t)bytes, &o, &err));
    CHECK_OK(tl_sim_create(&c.sim, c.scene, NULL, &err));
    return c;
}

static void close_case(liquid_case *c)
{
    tl_sim_free(c->sim);
    tl_scene_free(c->scene);
}

static void step(tl_sim *sim) { CHECK_OK(tl_sim_step(sim, 0.01, INFINITY, &err)); }

#define STEPS 6

static void run(const what *w, int threads, uint64_t hash[STEPS])
{
    tl_threads_set(threads);
    liquid_case c = open_case(w);
    bool touched = false, slid = false;
    for (int i = 0; i < STEPS; i++) {
        step(c.sim);
        hash[i] = tl_state_hash(&c.sim->state);
        touched |= c.sim->report.touching > 0;
        slid |= c.sim->report.solve[1].iterations > 0;
    }
    assert_true(touched && slid);
    assert_true(c.sim->report.solve[0].iterations > 0);
    assert_true(c.sim->state.grid.emitter[0].emitted > 0);
    close_case(&c);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    int before = tl_threads();
    for (int s = 0; s < CASES; s++) {
        uint64_t one[STEPS], two[STEPS];
        run(&cases[s], 1, one);
        run(&cases[s], 2, two);
        for (int k = 0; k < STEPS; k++) assert_true(one[k] == two[k]);
    }
    tl_threads_set(before);
}

static void go_on_from_a_save(const what *w)
{
    liquid_case c = open_case(w);
    for (int i = 0; i < 5; i++) step(c.sim);
    double emitted = c.sim->state.grid.emitter[0].emitted;
    check_saved_goes_on(c.sim, c.scene, 5, 0.01);
    assert_true(c.sim->state.grid.emitter[0].emitted > emitted); /* open across the save */
    close_case(&c);
}

static void a_saved_state_goes_on_the_same(void **state)
{
    (void)state;
    for (int s = 1; s < 3; s++) go_on_from_a_save(&cases[s]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_do_not_matter),
                                       cmocka_unit_test(a_saved_state_goes_on_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
