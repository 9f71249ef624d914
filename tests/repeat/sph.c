/* Whole runs of the SPH engine: same bits for any number of threads, after a copy of the state and after a
 * checkpoint; no heap use once settled. */
#include "check.h"

#include "base/alloc.h"
#include "base/parallel.h"
#include "model/sph/state.h"
#include "rigid.h"
#include "saved.h"

/* Viscous and tense liquid with an emitter, boxes in contact, a ball, a paddle that moves. */
static const char world[] =
    "honey = viscous { density = 1200, viscosity = 2, surface_tension = 0.5 }\n"
    "water = liquid { density = 1000 }\n"
    "function paddle(t) return { at = {0.45, 0.1 + 0.1 * t, 0.25}, rotation_rad = {0, 3 * t, 0} } end\n";
static const char scene[] =
    "engine = 'sph', dt_max = 2e-3, sph = { spacing = 0.025 },\n"
    "domain = { min = {0, 0, 0}, max = {0.6, 0.8, 0.5}, friction = 0.3 },\n"
    "fill = { { material = water, shape = box { size = {0.2, 0.4, 0.46}, center = {0.12, 0.22, 0.25} } },\n"
    "  { material = honey, shape = box { size = {0.12, 0.12, 0.12}, center = {0.5, 0.5, 0.25} } } },\n"
    "emitters = { { material = water, shape = box { size = 0.1, center = {0.3, 0.6, 0.25} }, velocity = {0, -1, 0}, "
    "rate = 0.005 } },\n"
    "bodies = { { shape = box { size = 0.1 }, at = {0.3, 0.048, 0.2}, density = 700, friction = 0.4 },\n"
    "  { shape = box { size = {0.14, 0.06, 0.14} }, at = {0.3, 0.126, 0.2}, density = 2000, friction = 0.6 },\n"
    "  { shape = sphere { radius = 0.05 }, at = {0.3, 0.205, 0.2}, density = 400, friction = 0.3 },\n"
    "  { shape = box { size = {0.16, 0.16, 0.04} }, motion = paddle } }";

static void run(int threads, uint64_t hash[3])
{
    tl_threads_set(threads);
    rigid_case c = rigid_open(world, scene);
    for (int i = 0; i < 30; i++) {
        rigid_step(&c, 0);
        hash[i / 10] = tl_state_hash(&c.sim->state);
    }
    assert_true(c.sim->report.particles > 1500 && c.sim->report.contacts > 50);
    assert_int_equal(c.sim->report.escaped, 0);
    rigid_close(&c);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    int before = tl_threads();
    uint64_t one[3], two[3];
    run(1, one);
    run(2, two);
    tl_threads_set(before);
    for (int k = 0; k < 3; k++) assert_true(one[k] == two[k]);
    assert_true(one[0] != one[1]);
}

static void a_saved_state_goes_on_the_same(void **state)
{
    (void)state;
    rigid_case c = rigid_open(world, scene);
    for (int i = 0; i < 12; i++) rigid_step(&c, 0);
    assert_true(tl_sph_state_of(&c.sim->state)->memories > 4);
    check_saved_goes_on(c.sim, c.scene, 8, 0);
    rigid_close(&c);
}

/* What is made for a state that is read has no fills, which take long to part. */
static void what_awaits_a_state_is_empty(void **state)
{
    (void)state;
    tl_sim *sim;
    talus_error err;
    rigid_case c = rigid_open(world, scene);
    CHECK_OK(tl_sim_create_empty(&sim, c.scene, NULL, &err));
    assert_true(tl_sph_state_of(&c.sim->state)->count > 100);
    assert_int_equal(tl_sph_state_of(&sim->state)->count, 0);
    tl_sim_free(sim);
    rigid_close(&c);
}

static void every_number_is_in_the_hash(void **state)
{
    (void)state;
    rigid_case c = rigid_open(world, scene);
    for (int i = 0; i < 5; i++) rigid_step(&c, 0);
    tl_sph_state *s = tl_sph_state_of(&c.sim->state);
    uint64_t whole = tl_state_hash(&c.sim->state);
    const struct {
        void *bytes;
        size_t size;
    } parts[] = {{&s->particle[s->count - 1], sizeof *s->particle},
                 {&s->memory[s->memories - 1], sizeof *s->memory},
                 {s->emitter, sizeof *s->emitter},
                 {s->counter, sizeof *s->counter}};
    for (int p = 0; p < 4; p++)
        for (size_t k = 0; k < parts[p].size; k++) {
            unsigned char *b = (unsigned char *)parts[p].bytes + k;
            *b ^= 1;
            assert_true(tl_state_hash(&c.sim->state) != whole);
            *b ^= 1;
        }
    assert_true(tl_state_hash(&c.sim->state) == whole);
    rigid_close(&c);
}

/* A box that rests in a pool. The arena may still grow while water sloshes, never again after. */
static void settled_scenes_stay_off_the_heap(void **state)
{
    (void)state;
    rigid_case c =
        rigid_open(NULL, "engine = 'sph', dt_max = 2e-3, sph = { spacing = 0.03 },\n"
                         "domain = { min = {0, 0, 0}, max = {0.3, 0.6, 0.3} },\n"
                         "fill = { { material = liquid { density = 1000 }, shape = box { size = {0.3, 0.15, "
                         "0.3}, center = {0.15, 0.075, 0.15} } } },\n"
                         "bodies = { { shape = box { size = 0.1 }, at = {0.15, 0.2, 0.15}, density = 500 } }");
    for (int i = 0; i < 200; i++) rigid_step(&c, 2e-3);
    int64_t calls = tl_alloc_read().calls;
    for (int i = 0; i < 50; i++) rigid_step(&c, 2e-3);
    assert_int_equal(tl_alloc_read().calls, calls);
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_saved_state_goes_on_the_same),
        cmocka_unit_test(what_awaits_a_state_is_empty),
        cmocka_unit_test(every_number_is_in_the_hash),
        cmocka_unit_test(settled_scenes_stay_off_the_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
