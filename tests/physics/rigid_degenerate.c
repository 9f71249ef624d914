/* What a user can do wrong, and what the world can: a clear message or right behaviour, and nothing lost. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "rigid.h"

static talus_error err;

static char heard[4096];
static void hear(void *user, int level, const char *message)
{
    (void)user;
    size_t n = strlen(heard);
    snprintf(heard + n, sizeof heard - n, "%d: %s\n", level, message);
}
static const tl_log log_all = {hear, NULL, 1};

/* A step that is shorter than asked for because something turns is told, once; balls and slow bodies cut nothing. */
static void turning_that_cuts_steps_is_told(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        rigid_case c;
        char text[400];
        snprintf(text, sizeof text,
                 "bodies = { { kind = 'static', shape = plane {} }, { name = 'wheel', density = 500, at = {0, 0.1, 0}, "
                 "shape = %s, "
                 "spin_rad_per_s = {0, %g, 0} } }",
                 k == 1 ? "sphere { radius = 0.1 }" : "cylinder { radius = 0.1, height = 0.2 }", k == 2 ? 10.0 : 60.0);
        heard[0] = 0;
        CHECK_OK(rigid_try(&c, &log_all, NULL, text, &err));
        for (int frame = 0; frame < 3; frame++) CHECK_OK(tl_sim_frame(c.sim, NULL, NULL, &err));
        const char *told =
            strstr(heard, "body \"wheel\" turns at 60 rad/s, so steps are 2.5 ms and not the 10 ms asked for");
        assert_true((k == 0) == (told != NULL));
        assert_true(!told || !strstr(told + 5, "body \"wheel\" turns"));
        rigid_close(&c);
    }
}

static void check_refused(const char *text, talus_status status, const char *says)
{
    rigid_case c;
    assert_int_equal(rigid_try(&c, NULL, NULL, text, &err), status);
    if (!strstr(err.message, says)) fail_msg("\"%s\" does not say \"%s\"", err.message, says);
    assert_null(c.sim);
}

static void what_is_not_there_is_named(void **state)
{
    (void)state;
    check_refused(
        "grid = { cells = {8, 8, 8}, cell = 0.1 }, fill = { { material = viscous { density = 1600, viscosity = "
        "30 }, shape = box { size = 0.2, center = {0.2, 0.2, 0.2} } }, { material = granular { density = "
        "1600, friction_angle_deg = 30 }, shape = box { size = 0.2, center = {0.6, 0.2, 0.6} } } }, bodies = "
        "{ { shape = box { size = 0.2 }, at = {0.6, 0.6, 0.6}, cells = {1, 1, 1}, material = elastic { young "
        "= 1e5, poisson = 0.3, density = 1000 } } }",
        TALUS_UNSUPPORTED, "sand and viscous liquid in one scene");
}

static void zero_mass_is_refused(void **state)
{
    (void)state;
    check_refused("bodies = { { shape = box { size = 0.1 }, mass = 0 } }", TALUS_BAD_INPUT, "mass");
    check_refused("bodies = { { shape = box { size = 0.1 }, density = 0 } }", TALUS_BAD_INPUT, "density");

    /* past the reader, as a caller of the API may: the model refuses as well */
    rigid_case c = rigid_open(NULL, "bodies = { { name = 'nothing', shape = box { size = 0.1 }, mass = 1 } }");
    tl_sim *sim;
    c.scene->bodies[0].mass = 0;
    assert_int_equal(tl_sim_create(&sim, c.scene, NULL, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "nothing"));
    assert_null(sim);
    c.scene->bodies[0].mass = NAN;
    assert_int_equal(tl_sim_create(&sim, c.scene, NULL, &err), TALUS_BAD_INPUT);
    c.scene->bodies[0].mass = 1e-200; /* inertia is lost */
    assert_int_equal(tl_sim_create(&sim, c.scene, NULL, &err), TALUS_BAD_INPUT);
    rigid_close(&c);
}

/* A function that gives NaN from 0.05 s on: the message has its place, the state is that of the last good step. */
static void nan_of_a_function_stops_the_step(void **state)
{
    (void)state;
    static const char *const keys[] = {"force", "torque", "friction"};
    for (int k = 0; k < 4; k++) {
        char text[512];
        if (k < 3)
            snprintf(text, sizeof text,
                     "duration = 0.01, bodies = { { name = 'b', shape = box { size = 0.1 }, mass = 1,\n%s = "
                     "function(t) local x = t < 0.045 and 1 or 0/0 return %s end } }",
                     keys[k], k < 2 ? "{x, 0, 0}" : "x");
        else
            snprintf(text, sizeof text,
                     "duration = 0.01, bodies = { { name = 'b', shape = box { size = 0.1 },\nmotion = function(t) "
                     "return { at = {t < 0.045 and t or 0/0, 0, 0} } end } }");
        rigid_case c;
        CHECK_OK(rigid_try(&c, NULL, NULL, text, &err));
        talus_status status = TALUS_OK;
        uint64_t before = 0;
        for (int i = 0; i < 10 && status == TALUS_OK; i++) {
            before = tl_state_hash(&c.sim->state);
            status = tl_sim_step(c.sim, 0.01, INFINITY, &err);
        }
        assert_int_equal(status, TALUS_BAD_INPUT);
        if (!strstr(err.message, "case.lua:3:")) fail_msg("no place in \"%s\"", err.message);
        assert_true(tl_state_hash(&c.sim->state) == before);
        rigid_close(&c);
    }
}

/* A force that overflows: no number is kept, shorter steps do not help, the reason names the body. */
static void overflow_is_told(void **state)
{
    (void)state;
    rigid_case c = rigid_open(NULL, "bodies = { { name = 'rocket', shape = box { size = 0.1 }, mass = 1 } }");
    c.sim->state.rigid.body[0].force.x = 1e308;
    c.sim->state.rigid.body[0].v.x = 1e308;
    uint64_t before = tl_state_hash(&c.sim->state);
    c.sim->state.rigid.body[0].force.x = INFINITY;
    uint64_t with = tl_state_hash(&c.sim->state);
    assert_true(before != with);
    assert_int_equal(tl_sim_step(c.sim, 0.01, INFINITY, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "rocket"));
    assert_true(tl_state_hash(&c.sim->state) == with);
    rigid_close(&c);
}

/* Two boxes that start 2 cm inside of each other, one 1 cm in the ground: told, pushed apart without a kick, at rest
 * in the end. */
static void overlapping_start(void **state)
{
    (void)state;
    rigid_case c;
    heard[0] = 0;
    CHECK_OK(rigid_try(&c, &log_all, NULL,
                       "bodies = { { name = 'ground', kind = 'static', shape = plane {}, friction = 0.5 }, { name = "
                       "'low', shape = box { size = 0.2 }, at = {0, 0.09, 0}, "
                       "mass = 8, friction = 0.5 }, { name = 'high', shape = box { size = 0.2 }, at = {0, 0.27, 0}, "
                       "mass = 8, friction = 0.5 } }",
                       &err));
    assert_non_null(strstr(heard, "\"ground\" and \"low\" overlap by 0.01 m"));
    assert_non_null(strstr(heard, "\"low\" and \"high\" overlap by 0.02 m"));
    double fastest = 0;
    while (c.sim->state.t < 2) {
        rigid_step(&c, 0.01);
        fastest = fmax(fastest, c.sim->report.fastest);
    }
    CHECK_LE(fastest, 0.02); /* m/s: 20 % of 2 cm in 10 ms would be 0.4 m/s if it went into velocities */
    CHECK_LE(c.sim->report.penetration, 2.2e-3 * 0.2); /* the slop of boxes of 0.2 m */
    CHECK_NEAR(rigid_body(&c, "high")->x.y, 0.3, 1e-3);
    rigid_close(&c);
}

/* Same place, same shape: no direction is better than another; it must neither crash nor explode. */
static void two_bodies_in_one_place(void **state)
{
    (void)state;
    static const char *const shapes[] = {"box { size = 0.2 }", "sphere { radius = 0.1 }"};
    for (int k = 0; k < 2; k++) {
        rigid_case c = rigid_open(NULL,
                                  "bodies = { { kind = 'static', shape = plane {}, friction = 0.5 }, { shape = %s, at "
                                  "= {0, 0.1, 0}, mass = 8, friction = 0.5 }, { shape = %s, "
                                  "at = {0, 0.1, 0}, mass = 8, friction = 0.5 } }",
                                  shapes[k], shapes[k]);
        double fastest = 0;
        while (c.sim->state.t < 2) {
            rigid_step(&c, 0.01);
            fastest = fmax(fastest, c.sim->report.fastest);
        }
        CHECK_LE(fastest, 3);
        rigid_close(&c);
    }
}

/* A body outside of the domain: told once, counted, kept. Behind a closed wall it is inside of the solid, and comes
 * back slowly. */
static void outside_of_the_domain(void **state)
{
    (void)state;
    rigid_case c;
    heard[0] = 0;
    CHECK_OK(rigid_try(&c, &log_all, NULL,
                       "domain = { min = {-1, 0, -1}, max = {1, 2, 1}, x_max = 'open' }, bodies = { { name = 'gone', "
                       "shape = box { size = 0.1 }, at = {3, 1, 0}, mass = 1 }, { name "
                       "= 'stuck', shape = box { size = 0.1 }, at = {0, -0.5, 0}, mass = 1 } }",
                       &err));
    rigid_run(&c, 1);
    char *first = strstr(heard, "\"gone\" has left");
    assert_non_null(first);
    assert_null(strstr(first + 1, "\"gone\" has left"));
    assert_true(c.sim->report.escaped >= 1);
    assert_true(isfinite(rigid_body(&c, "gone")->x.y));
    CHECK_NEAR(rigid_body(&c, "stuck")->x.y, 0.05, 1e-3);
    rigid_close(&c);
}

/* on_unconverged: accept goes on and says so, fail stops at once, shrink_dt stops when steps get too short. The
 * state is kept. */
static void unconverged_is_the_scenes_to_judge(void **state)
{
    (void)state;
    static const char *const words[] = {"accept", "fail", "shrink_dt"};
    for (int k = 0; k < 3; k++) {
        rigid_case c = rigid_open("local b = { { kind = 'static', shape = plane {}, friction = 0.5 } } for i = 1, 8 do "
                                  "b[#b + 1] = { shape = box { size = 0.2 }, at = {0, 0.2 * i - "
                                  "0.1, 0}, mass = 10 ^ (i % 4), friction = 0.5 } end bodies = b",
                                  "solver = { on_unconverged = '%s', contact = { method = 'pgs', iterations = 10, "
                                  "tolerance = 1e-9 } }, bodies = bodies",
                                  words[k]);
        uint64_t before = tl_state_hash(&c.sim->state);
        talus_status status = tl_sim_step(c.sim, 0.01, INFINITY, &err);
        if (k == 0) {
            assert_int_equal(status, TALUS_OK);
            assert_string_equal(c.sim->report.solve[0].outcome, "out of iterations");
        } else {
            assert_true(status != TALUS_OK);
            assert_non_null(strstr(err.message, "pgs"));
            assert_true((strstr(err.message, "shorter steps") != NULL) == (k == 2));
            assert_true(tl_state_hash(&c.sim->state) == before);
        }
        rigid_close(&c);
    }
}

/* A solve that misses its target at 10 ms and meets it at less: the step is tried again, told, and grows back as
 * warm starts get better. */
static void shorter_steps_are_tried_and_grow_back(void **state)
{
    (void)state;
    static const char lua[] = "bodies = { { kind = 'static', shape = plane {}, friction = 0.5 } } for i = 1, 2 do "
                              "bodies[#bodies + 1] = { shape = box { size = 0.2 }, at = {0, 0.2 * i - 0.1, 0}, mass "
                              "= 8, friction = 0.5 } end";
    /* ten sweeps leave 1.8e-3 m/s at 10 ms, and half of that at 5 ms */
    static const char text[] =
        "solver = { on_unconverged = 'shrink_dt', contact = { method = 'pgs', iterations = 10, "
        "tolerance = 1.2e-3, keep = 0 } }, bodies = bodies"; /* jitter: when depends on all bits */
    rigid_case c;
    heard[0] = 0;
    CHECK_OK(rigid_try(&c, &log_all, lua, text, &err));
    CHECK_OK(tl_sim_step(c.sim, 0.01, 1, &err));
    assert_int_equal(c.sim->report.retries, 1);
    CHECK_NEAR(c.sim->report.dt, 0.005, 1e-15);
    assert_non_null(strstr(heard, "again with half"));
    while (c.sim->state.t < 1) CHECK_OK(tl_sim_step(c.sim, 0.01, 1, &err));
    assert_true(c.sim->state.t == 1);
    CHECK_NEAR(c.sim->report.dt, 0.01, 2e-4); /* equal parts of what was left */
    assert_true(c.sim->state.dt_next == 0);
    rigid_close(&c);
}

/* No bodies at all, and bodies without contacts. */
static void empty_worlds(void **state)
{
    (void)state;
    rigid_case c = rigid_open(NULL, "bodies = {}");
    rigid_run(&c, 0.1);
    assert_int_equal(c.sim->report.contacts, 0);
    assert_true(c.sim->report.kinetic == 0);
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turning_that_cuts_steps_is_told),
        cmocka_unit_test(what_is_not_there_is_named),
        cmocka_unit_test(zero_mass_is_refused),
        cmocka_unit_test(nan_of_a_function_stops_the_step),
        cmocka_unit_test(overflow_is_told),
        cmocka_unit_test(overlapping_start),
        cmocka_unit_test(two_bodies_in_one_place),
        cmocka_unit_test(outside_of_the_domain),
        cmocka_unit_test(unconverged_is_the_scenes_to_judge),
        cmocka_unit_test(shorter_steps_are_tried_and_grow_back),
        cmocka_unit_test(empty_worlds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
