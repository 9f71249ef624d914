/* Every kind of problem that a run can capture: the file holds the problem that was met, whose answer has the
 * certificate that the run told; looking changes nothing; what a step has not got is told. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/bench/compare.h"
#include "lab/world.h"
#include "run/captures.h"
#include "tempdir.h"

static talus_error err;
static char folder[TL_TEMPDIR_MAX], heard[4000];

static void hear(void *user, int level, const char *message)
{
    (void)user, (void)level;
    snprintf(heard + strlen(heard), sizeof heard - strlen(heard), "%s\n", message);
}

/* One step with `wishes` after `steps` others; the same bits as without. */
static void run(const char *text, const char *wishes, int steps, double dt)
{
    tl_captures c = {.folder = folder, .log = {hear, NULL, 2}};
    tl_world w, blind;
    heard[0] = 0;
    CHECK_OK(tl_captures_read(&c, wishes, &err));
    CHECK_OK(tl_world_text(&w, text, NULL, &err));
    CHECK_OK(tl_world_text(&blind, text, NULL, &err));
    c.sim = w.sim;
    w.sim->look = tl_captures_look;
    w.sim->look_user = &c;
    CHECK_OK(tl_world_steps(&w, steps + 1, dt, &err));
    CHECK_OK(tl_world_steps(&blind, steps + 1, dt, &err));
    assert_true(tl_state_hash(&w.sim->state) == tl_state_hash(&blind.sim->state));
    tl_captures_tell(&c);
    tl_world_close(&w);
    tl_world_close(&blind);
}

static tl_captured *load(const char *name)
{
    char path[TL_TEMPDIR_MAX + 40];
    tl_captured *c;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK_OK(tl_capture_load(path, &c, &err));
    return c;
}

/* Certificates of the answer in the file: from the problem as it was read, and as the run told it. */
static void compare(const char *name, tl_kind kind, double tolerance)
{
    tl_captured *c = load(name);
    tl_arena arena = {0};
    double certificate;
    assert_int_equal(c->kind, kind);
    CHECK_OK(tl_compare_answer(c, &certificate, &arena, &err));
    print_message("%s: %lld unknowns, certificate %.3e, told %.3e\n", name, (long long)c->space.n, certificate,
                  c->certificate);
    assert_true(c->space.n > 0 && certificate > 0);
    CHECK_REL(certificate, c->certificate, tolerance);
    tl_arena_free(&arena);
    tl_captured_free(c);
}

/* The same where the run measures a block together with others and tells no number of its own. */
static void within(const char *name, tl_kind kind, double targets)
{
    tl_captured *c = load(name);
    tl_arena arena = {0};
    double certificate;
    assert_int_equal(c->kind, kind);
    CHECK_OK(tl_compare_answer(c, &certificate, &arena, &err));
    print_message("%s: %lld unknowns, certificate %.3e, target %.3e\n", name, (long long)c->space.n, certificate,
                  c->tolerance);
    assert_true(c->space.n > 0 && isnan(c->certificate));
    CHECK_LE(certificate, targets * c->tolerance);
    tl_arena_free(&arena);
    tl_captured_free(c);
}

static int count_row(void *user, talus_row_kind kind, int cells, const char *const *cell)
{
    (void)cells, (void)cell;
    *(int *)user += kind == TALUS_ROW_DATA;
    return 0;
}

/* Every method of the kind ends with a row of its own. */
static void replay(const char *name, int least)
{
    char path[TL_TEMPDIR_MAX + 40];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    talus_bench_options o = talus_bench_options_default();
    o.table = "solvers";
    o.problem = path;
    o.repeats = 1;
    int rows = 0;
    CHECK_OK(talus_bench_run(&o, count_row, &rows, &err));
    print_message("%s: %d rows\n", name, rows);
    assert_true(rows >= least);
}

static const char pool[] =
    "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {14, 10, 8}, cell = 0.08 },\n"
    "  fill = { { material = liquid { density = 1000 }, shape = box { size = {1.12, 0.4, 0.64}, center = {0.56, 0.2, "
    "0.32} } } },\n"
    "  bodies = { { shape = box { size = 0.2 }, at = {0.4, 0.1, 0.3}, density = 2500 }, { shape = box { size = 0.2 }, "
    "at = {0.4, 0.3, 0.3}, density = 1500 } } }";

static void pressure_of_a_pool(void **state)
{
    (void)state;
    run(pool, "pressure@4,contact@4,stress@4,fixedpoint@4,rounds@4,step@4,contact@99", 3, 0.01);
    compare("pressure-4.h5", TL_KIND_PRESSURE, 0.01);
    replay("pressure-4.h5", 11);
    assert_non_null(strstr(heard, "stress@4 is not captured: nothing in it is granular"));
    assert_non_null(strstr(heard, "fixedpoint@4 is not captured: engine \"sph\" solves it"));
    assert_non_null(strstr(heard, "rounds@4 is not captured: engine \"lg\" makes them"));
    assert_non_null(strstr(heard, "contact@99 is not captured: the run ends after step 4"));
    assert_null(strstr(heard, "pressure@4"));
    /* contacts of the coupled problem: the answer is one of theirs, to what the step wants of its contacts */
    tl_captured *c = load("contact-4.h5");
    tl_arena arena = {0};
    double certificate;
    CHECK_OK(tl_compare_answer(c, &certificate, &arena, &err));
    assert_true(c->space.n > 0);
    CHECK_LE(certificate, 1e-3); /* m/s; g dt is 0.1 */
    replay("contact-4.h5", 8);
    tl_arena_free(&arena);
    tl_captured_free(c);
}

static void stress_of_sand(void **state)
{
    (void)state;
    run("return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {10, 8, 6}, cell = 0.08 "
        "},\n"
        "  fill = { { material = granular { density = 1500, friction_angle_deg = 30 }, shape = box { size = {0.4, 0.4, "
        "0.32}, center = {0.36, 0.2, 0.24} } } } }",
        "stress@4,pressure@4,contact@4", 3, 0.01);
    /* the step measures what is outside against the largest cone of its sweeps, the file against that of the end */
    compare("stress-4.h5", TL_KIND_CONE, 0.2);
    compare("pressure-4.h5", TL_KIND_PRESSURE, 0.01);
    replay("stress-4.h5", 3);
    assert_non_null(strstr(heard, "contact@4 is not captured: no bodies are in contact in it"));
}

static void contact_of_a_stack(void **state)
{
    (void)state;
    run("return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, bodies = { { kind = 'static', shape = "
        "half_space { normal = {0, 1, 0}, point = {0, 0, 0} } }, { shape = box { size = 0.2 }, at = {0, 0.1, 0}, "
        "density = 1000 }, { shape = box { size = 0.2 }, at = {0.05, 0.3, 0}, density = 1000, velocity = {0.3, 0, 0} } "
        "} }",
        "contact@2", 1, 0.01);
    compare("contact-2.h5", TL_KIND_CONTACT, 1e-3);
    replay("contact-2.h5", 8);
}

/* Liquid in single precision: the run's certificate and that of the rows differ by its rounding. */
static void fixedpoint_of_particles(void **state)
{
    (void)state;
    run("return scene { talus = 1, engine = 'sph', duration = 1, fps = 100, sph = { spacing = 0.05 }, domain = { min = "
        "{0, 0, 0}, max = {0.4, 1, 0.4} }, fill = { { material = preset 'water', shape = box { size = {0.4, 0.3, 0.4}, "
        "center = {0.2, 0.15, 0.2} } } }, bodies = { { shape = box { size = 0.2 }, at = {0.2, 0.42, 0.2}, density = "
        "500 "
        "} } }",
        "fixedpoint@5", 4, 2e-3);
    compare("fixedpoint-5.h5", TL_KIND_FIXEDPOINT, 0.02);
    replay("fixedpoint-5.h5", 3);
    run("return scene { talus = 1, engine = 'sph', duration = 1, fps = 100, sph = { spacing = 0.04 }, bodies = { { "
        "kind "
        "= 'static', shape = box { size = {1, 0.08, 1} }, at = {0, -0.04, 0}, friction = 0.4 }, { shape = box { size = "
        "0.2 }, at = {0, 0.1, 0}, density = 1000, friction = 0.4, velocity = {0.5, 0, 0} } } }",
        "fixedpoint@6", 5, 2e-3);
    compare("fixedpoint-6.h5", TL_KIND_FIXEDPOINT, 0.02);
}

static void rounds_of_a_bar(void **state)
{
    (void)state;
    run("return scene { talus = 1, engine = 'lg', duration = 1, fps = 100, lg = { precision = 'double' }, bodies = { { "
        "name = 'bar', shape = box { size = {0.6, 0.1, 0.1} }, cells = {6, 1, 1}, material = elastic { density = 1000, "
        "young = 1e5, poisson = 0.3 } } }, handles = { { body = 'bar', shape = box { size = {0.02, 1, 1}, center = "
        "{-0.3, 0, 0} } } } }",
        "rounds@2", 1, 0.01);
    tl_captured *c = load("rounds-2.h5");
    tl_arena arena = {0};
    double certificate;
    assert_int_equal(c->kind, TL_KIND_LINEAR);
    CHECK_OK(tl_compare_answer(c, &certificate, &arena, &err));
    assert_true(c->space.n == 3 * 7 * 4);
    CHECK_LE(certificate, 1e-12); /* a factor in double precision */
    replay("rounds-2.h5", 4);
    tl_arena_free(&arena);
    tl_captured_free(c);
}

/* Elastic bodies: dry with joints, in water, and of engine lg. Corrections have a file each; all routes replay them, but
 * those that need roots, which files lack, say so. */
#define SOFT "material = elastic { density = 1000, young = 2e4, poisson = 0.3, friction = 0.4 }"
static void contact_of_elastic_bodies(void **state)
{
    (void)state;
    run("return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, bodies = { { kind = 'static', shape = "
        "plane "
        "{}, friction = 0.4 }, { shape = box { size = 0.2 }, at = {0, 0.1, 0}, cells = {2, 2, 2}, " SOFT " }, { name = "
        "'a', shape = box { size = 0.1 }, at = {0, 0.25, 0}, density = 500, velocity = {0.2, 0, 0} }, { name = 'b', "
        "shape = box { size = 0.1 }, at = {0.2, 0.3, 0}, density = 500 } }, joints = { { kind = 'hinge', a = 'a', b = "
        "'b', at = {0.1, 0.3, 0}, axis = {0, 0, 1}, friction = 0.1 } } }",
        "contact@3", 2, 0.01);
    tl_captured *c = load("contact-3.h5");
    assert_true(c->kind == TL_KIND_FLEX && c->flex.boxes > 0 && c->flex.contacts > c->flex.boxes && c->flex.rigid >= 2);
    assert_true(c->flex.parts == 1 && c->flex.n == 3 * 27);
    tl_captured_free(c);
    compare("contact-3.h5", TL_KIND_FLEX, 1e-3);
    replay("contact-3.h5", 12);
    run("return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {10, 10, 10}, cell = 0.08 "
        "}, fill = { { material = liquid { density = 1000 }, shape = box { size = {0.8, 0.3, 0.8}, center = {0.4, "
        "0.15, "
        "0.4} } } }, bodies = { { shape = box { size = 0.24 }, at = {0.4, 0.119, 0.4}, cells = {2, 2, 2}, " SOFT
        " }, { shape = box { size = 0.2 }, at = {0.4, 0.338, 0.42}, density = 800 } } }",
        "contact@2,pressure@2,stress@2,step@2", 1, 0.01);
    compare("contact-2.h5", TL_KIND_FLEX, 1e-3);
    replay("contact-2.h5", 12);
    within("pressure-2.h5", TL_KIND_BOXQP, 1);
    replay("pressure-2.h5", 12);
    assert_non_null(strstr(heard, "stress@2 is not captured: nothing in it is granular"));
    assert_non_null(strstr(heard, "step@2 is not captured: elastic bodies are part of it"));
    run("return scene { talus = 1, engine = 'lg', duration = 1, fps = 50, bodies = { { kind = 'static', shape = plane "
        "{}, friction = 0.4 }, { shape = box { size = 0.2 }, at = {0, 0.101, 0}, cells = {2, 2, 2}, material = "
        "elastic { density = 1000, young = 1e7, poisson = 0.3, friction = 0.4 } }, { shape = box { size = 0.1 }, at = "
        "{0, 0.253, 0}, density = 500 } } }",
        "contact@4", 3, 0.01);
    within("contact-4.h5", TL_KIND_FLEX, 10);
    replay("contact-4.h5", 12);
}

/* Sand on a block that yields, and honey beside one, whose stress and pressure are one problem. */
static void stress_beside_elastic_bodies(void **state)
{
    (void)state;
    run("return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {10, 10, 8}, cell = 0.08 "
        "}, fill = { { material = granular { density = 1500, friction_angle_deg = 30 }, shape = box { size = {0.5, "
        "0.3, 0.4}, center = {0.4, 0.4, 0.32} } } }, bodies = { { shape = box { size = 0.24 }, at = {0.4, 0.12, "
        "0.32}, cells = {2, 2, 2}, " SOFT " } } }",
        "stress@4,pressure@4", 3, 0.01);
    within("stress-4.h5", TL_KIND_CONE, 10);
    within("pressure-4.h5", TL_KIND_BOXQP, 10);
    replay("stress-4.h5", 3);
    replay("pressure-4.h5", 12);
    run("return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {8, 8, 8}, cell = 0.08 "
        "}, fill = { { material = viscous { density = 1000, viscosity = 50 }, shape = box { size = {0.64, 0.3, 0.64}, "
        "center = {0.32, 0.15, 0.32} } } }, bodies = { { shape = box { size = 0.24 }, at = {0.32, 0.12, 0.32}, cells "
        "= {2, 2, 2}, " SOFT " } } }",
        "pressure@2", 1, 0.01);
    assert_non_null(
        strstr(heard, "pressure@2 is not captured: pressure and stress of a viscous liquid are one problem"));
}

static void wishes_are_read(void **state)
{
    (void)state;
    tl_captures c = {.folder = folder};
    static const char *const bad[] = {"",           "pressure",   "pressure@",       "@3",        "pressure@0",
                                      "contact@-1", "contact@2x", "contact@2,",      "presure@3", "contact@3 ,step@2",
                                      "contact@@3", "contact 3",  "contact@3;step@4"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(tl_captures_read(&c, bad[i], &err), TALUS_BAD_INPUT);
    assert_int_equal(tl_captures_read(&c, "presure@3", &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "did you mean \"pressure\"?"));
    CHECK_OK(tl_captures_read(&c, NULL, &err));
    assert_int_equal(c.count, 0);
    CHECK_OK(tl_captures_read(&c, "step@1,contact@20", &err));
    assert_true(c.count == 2 && c.wish[1].step == 20);
}

static int begin(void **state)
{
    (void)state;
    tl_tempdir_create(folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    tl_tempdir_remove(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pressure_of_a_pool),
        cmocka_unit_test(stress_of_sand),
        cmocka_unit_test(contact_of_a_stack),
        cmocka_unit_test(fixedpoint_of_particles),
        cmocka_unit_test(rounds_of_a_bar),
        cmocka_unit_test(contact_of_elastic_bodies),
        cmocka_unit_test(stress_beside_elastic_bodies),
        cmocka_unit_test(wishes_are_read),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
