/* Liquid or sand with bodies in contact and an open emitter: same bits for any number of threads, after a copy of
 * the state and after a checkpoint. */
#include "check.h"

#include "base/parallel.h"
#include "lab/world.h"
#include "model/grid/state.h"
#include "saved.h"

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

typedef struct what {
    const char *material, *solver;
    int works; /* solve of the report that has to do something, beside pressure */
} what;
enum { CONTACT = 1, STRESS };
static const what cases[] = {
    {"liquid { density = 1000 }", "scheme = 't-pn'", CONTACT},
    {"liquid { density = 1000 }", "scheme = 't-p-n'", CONTACT},
    {"viscous { density = 1000, viscosity = 3 }", "scheme = 'p-tn', sweeps = 1, tolerance = 1e-2", STRESS},
    {"granular { density = 1600, friction_angle_deg = 30 }",
     "scheme = 't-f-pn', sweeps = 2, friction = { iterations = 4 }", CONTACT},
    {"granular { density = 1600, friction_angle_deg = 30 }",
     "scheme = 't-f-p-n', sweeps = 2, stress = 'staggered', friction = { method = 'narain', iterations = 4 }", CONTACT},
};
enum { CASES = sizeof cases / sizeof *cases };

static tl_world open_case(const what *w)
{
    tl_world c = {0};
    CHECK_OK(tl_world_open(&c, &err, text, w->material, w->solver));
    return c;
}

static void step(tl_sim *sim) { CHECK_OK(tl_sim_step(sim, 0.01, INFINITY, &err)); }

#define STEPS 6

static void run(const what *w, int threads, uint64_t hash[STEPS])
{
    tl_threads_set(threads);
    tl_world c = open_case(w);
    bool touched = false, worked = false;
    for (int i = 0; i < STEPS; i++) {
        step(c.sim);
        hash[i] = tl_state_hash(&c.sim->state);
        touched |= c.sim->report.touching > 0;
        worked |= c.sim->report.solve[w->works].iterations > 0;
    }
    assert_true(touched && worked);
    assert_true(c.sim->report.solve[0].iterations > 0);
    assert_true(tl_grid_state_of(&c.sim->state)->emitter[0].emitted > 0);
    tl_world_close(&c);
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
    tl_world c = open_case(w);
    for (int i = 0; i < 5; i++) step(c.sim);
    double emitted = tl_grid_state_of(&c.sim->state)->emitter[0].emitted;
    check_saved_goes_on(c.sim, c.scene, 5, 0.01);
    assert_true(tl_grid_state_of(&c.sim->state)->emitter[0].emitted > emitted); /* open across the save */
    tl_world_close(&c);
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
