/* What steps do around their physics: retries, policies, columns of tables and what a checkpoint keeps. Small faults
 * in these change no operator, so nothing else would notice. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "io/checkpoint.h"
#include "io/csv_run.h"
#include "model/lg/state.h"
#include "phase/accounts/accounts.h"
#include "phase/sim.h"
#include "scene/load.h"
#include "tempdir.h"

static talus_error err;
static tl_scene *scene;
static tl_sim *sim;

static void open_sim(const char *text)
{
    CHECK_OK(tl_scene_load_text(&scene, "policies", text, strlen(text), NULL, &err));
    CHECK_OK(tl_sim_create(&sim, scene, NULL, &err));
}
static void close_sim(void)
{
    tl_sim_free(sim);
    tl_scene_free(scene);
}

static const char two[] =
    "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, dt_max = 0.016, bodies = {"
    " { shape = box { size = 0.2 }, density = 500, at = {0, 1, 0} }, { shape = sphere { radius = 0.1 }, density = 500, "
    "at = {1, 1, 0} } } }";

/* ---- retries ---- */

static double longest_good, tried[32];
static int tries;

static talus_status picky(tl_sim *s, double dt, bool *again, talus_error *e)
{
    tried[tries++] = dt;
    *again = true;
    s->report = (tl_report){0};
    return dt <= longest_good ? TALUS_OK : TL_FAIL(e, TALUS_BAD_INPUT, "too long");
}

/* A length that fails is halved until it is good, the next steps grow from there, and time goes on by what was made. */
static void retries_halve_and_grow_again(void **state)
{
    (void)state;
    open_sim(two);
    tl_engine_entry engine = *sim->engine;
    engine.step = picky;
    sim->engine = &engine;
    longest_good = 0.005;
    tries = 0;
    CHECK_OK(tl_sim_step(sim, 0.016, INFINITY, &err));
    assert_int_equal(tries, 3);
    assert_true(tried[0] == 0.016 && tried[1] == 0.008 && tried[2] == 0.004);
    assert_true(sim->report.dt == 0.004 && sim->report.retries == 2 && sim->state.t == 0.004);
    double next = sim->state.dt_next;
    assert_true(next > 0.004 && next < 0.008);
    tries = 0;
    longest_good = 1;
    CHECK_OK(tl_sim_step(sim, 0.016, INFINITY, &err));
    assert_true(tries == 1 && tried[0] == next); /* not the length that had failed */
    assert_true(sim->state.t == 0.004 + next);
    for (int i = 0; i < 8; i++) CHECK_OK(tl_sim_step(sim, 0.016, INFINITY, &err));
    assert_true(sim->report.dt == 0.016 && sim->state.dt_next == 0);
    longest_good = 0; /* never: the state stays, and the shortest length is dt_max / 1024 */
    tries = 0;
    double t = sim->state.t;
    int64_t step = sim->state.step;
    assert_int_equal(tl_sim_step(sim, 0.016, INFINITY, &err), TALUS_BAD_INPUT);
    assert_true(sim->state.t == t && sim->state.step == step && tries == 11);
    close_sim();
}

/* ---- NaN ---- */

/* All engines say it in the same words: which body, in which phase. */
static void nan_is_told_with_body_and_phase(void **state)
{
    (void)state;
    static const char *const engine[] = {"grid", "lg"}, *const phase[] = {"search", "measure"};
    open_sim(two);
    sim->state.rigid.body[1].v.x = NAN;
    assert_int_equal(tl_sim_step(sim, 0.016, INFINITY, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "became NaN or infinite in move: place ("));
    close_sim();
    for (int e = 0; e < 2; e++) {
        char text[400], wanted[80];
        snprintf(text, sizeof text,
                 "return scene { talus = 1, engine = '%s', duration = 1, fps = 50, dt_max = 0.016, bodies = {"
                 " { name = 'jelly', shape = box { size = 0.2 }, cells = {1, 1, 1}, at = {0, 1, 0}, material = elastic "
                 "{ density = 1000, young = 1e5, poisson = 0.3 } } } }",
                 engine[e]);
        snprintf(wanted, sizeof wanted, "body \"jelly\" became NaN or infinite in %s: place (", phase[e]);
        open_sim(text);
        tl_lg_state_of(&sim->state)->v[4] = NAN;
        assert_int_equal(tl_sim_step(sim, 0.016, INFINITY, &err), TALUS_BAD_INPUT);
        if (!strstr(err.message, wanted)) fail_msg("%s: %s", engine[e], err.message);
        close_sim();
    }
}

/* ---- the guard ---- */

/* The first body ends the step at 10 km/s, and nothing says why. */
static talus_status wild(tl_sim *s, double dt, bool *again, talus_error *e)
{
    tl_motion body[2] = {s->state.rigid.body[0], s->state.rigid.body[1]};
    double m = s->rigid.body[0].mass;
    body[0].v = (tl_vec3){1e4, 0, 0};
    s->report = (tl_report){
        .kinetic = 0.5 * m * 1e8, .potential = s->start.potential, .momentum = {1e4 * m, 0, 0}, .fastest = 1e4};
    tries++;
    return tl_accounts_end(s, dt, body, again, e);
}

/* Energy from nothing is tried with shorter steps, then refused by name with the state as it was; without the guard
 * it passes. */
static void energy_from_nothing_is_refused(void **state)
{
    (void)state;
    static const char text[] =
        "return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, dt_max = 0.016, solver = { guard = %s },"
        " bodies = { { name = 'rocket', shape = box { size = 0.2 }, density = 500, at = {0, 1, 0} },"
        " { name = 'other', shape = sphere { radius = 0.1 }, density = 500, at = {1, 1, 0} } } }";
    for (int guarded = 0; guarded < 2; guarded++) {
        char now[600];
        snprintf(now, sizeof now, text, guarded ? "true" : "false");
        open_sim(now);
        tl_engine_entry engine = *sim->engine;
        engine.step = wild;
        sim->engine = &engine;
        tries = 0;
        uint64_t before = tl_state_hash(&sim->state);
        talus_status status = tl_sim_step(sim, 0.016, INFINITY, &err);
        if (guarded) {
            assert_int_equal(status, TALUS_NOT_DEFINITE);
            assert_true(tries > 1);
            assert_non_null(strstr(err.message, "that nothing explains"));
            assert_non_null(strstr(err.message, "\"rocket\" (1e+04 m/s)"));
            assert_null(strstr(err.message, "other"));
            assert_true(tl_state_hash(&sim->state) == before);
        } else {
            assert_int_equal(status, TALUS_OK);
            assert_int_equal(tries, 1);
            assert_true(sim->report.accounts.energy_unexplained > 1e8);
        }
        close_sim();
    }
}

/* ---- policies ---- */

static const char sph[] =
    "return scene { talus = 1, engine = 'sph', duration = 1, fps = 50, sph = { spacing = 0.1, iterations_least = -1 },"
    " domain = { min = {0, 0, 0}, max = {1, 1, 1} }, solver = { on_unconverged = '%s', tolerance = 1e-14, pressure = { "
    "iterations = 1 } },"
    " fill = { { material = liquid { density = 1000 }, shape = box { size = {0.9, 0.5, 0.9}, center = {0.5, 0.3, 0.5} "
    "} } } }";

static void what_misses_its_target_is_a_matter_of_policy(void **state)
{
    (void)state;
    static const char *const policies[] = {"accept", "fail", "shrink_dt"};
    for (int i = 0; i < 3; i++) {
        char text[800];
        snprintf(text, sizeof text, sph, policies[i]);
        open_sim(text);
        uint64_t before = tl_state_hash(&sim->state);
        talus_status status = tl_sim_step(sim, 0.01, INFINITY, &err);
        assert_int_equal(status == TALUS_OK, i == 0);
        assert_int_equal(tl_state_hash(&sim->state) == before, i != 0);
        close_sim();
    }
}

/* The one judge of all engines: rounds of "lg" that leave more than their target are a miss as well. */
static void rounds_that_miss_are_judged_too(void **state)
{
    (void)state;
    static const char *const policies[] = {"accept", "fail", "shrink_dt"};
    for (int i = 0; i < 3; i++) {
        char text[800];
        snprintf(
            text, sizeof text,
            "return scene { talus = 1, engine = 'lg', duration = 1, fps = 50, lg = { iterations = 1, corrections = 0 },"
            " solver = { on_unconverged = '%s', tolerance = 1e-12 }, bodies = { { shape = box { size = {0.4, 0.1, 0.1} "
            "},"
            " cells = {4, 1, 1}, spin_rad_per_s = {0, 5, 0}, anchor = box { size = 0.1, center = {-0.2, 0, 0} },"
            " material = elastic { young = 1e4, poisson = 0.3, density = 1000 } } } }",
            policies[i]);
        open_sim(text);
        uint64_t before = tl_state_hash(&sim->state);
        talus_status status = tl_sim_step(sim, 0.02, INFINITY, &err);
        assert_int_equal(status == TALUS_OK, i == 0);
        if (i) assert_non_null(strstr(err.message, "elastic by"));
        assert_int_equal(tl_state_hash(&sim->state) == before, i != 0);
        close_sim();
    }
}

/* ---- tables and checkpoints ---- */

/* Each number in the column that has its name. */
static void columns_hold_what_they_say(void **state)
{
    (void)state;
    char dir[TL_TEMPDIR_MAX], path[TL_TEMPDIR_MAX + 64], text[4096];
    tl_tempdir_create(dir);
    snprintf(path, sizeof path, "%s/bodies.csv", dir);
    open_sim(two);
    tl_motion *m = &sim->state.rigid.body[0];
    tl_vec3 *const vectors[] = {&m->v, &m->w, &m->contact_force, &m->contact_torque, &m->fluid_force, &m->fluid_torque};
    for (int k = 0; k < 6; k++) *vectors[k] = (tl_vec3){10 * k + 1, 10 * k + 2, 10 * k + 3};
    tl_csv c;
    CHECK_OK(tl_csv_open(&c, path, true, &err));
    CHECK_OK(tl_csv_bodies_header(&c, &err));
    CHECK_OK(tl_csv_bodies_rows(&c, scene, &sim->rigid, &sim->state, &err));
    tl_csv_close(&c);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    static const char *const names[] = {"velocity_x_m_s",       "spin_x_rad_s",    "contact_force_x_N",
                                        "contact_torque_x_N_m", "fluid_force_x_N", "fluid_torque_x_N_m"};
    int column[6] = {0};
    for (int k = 0; k < 6; k++) {
        const char *at = strstr(text, names[k]);
        assert_non_null(at);
        for (const char *p = text; p < at; p++) column[k] += *p == ',';
    }
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    for (int k = 0; k < 6; k++) {
        const char *cell = text;
        double x[3];
        for (int n = 0; n < column[k]; n++) cell = strchr(cell, ',') + 1;
        assert_int_equal(sscanf(cell, "%lf,%lf,%lf", &x[0], &x[1], &x[2]), 3);
        for (int a = 0; a < 3; a++) assert_true(x[a] == 10 * k + 1 + a);
    }
    close_sim();
    remove(path);
    tl_tempdir_remove(dir);
}

static void checkpoints_keep_the_step_control(void **state)
{
    (void)state;
    char dir[TL_TEMPDIR_MAX], path[TL_TEMPDIR_MAX + 64];
    tl_tempdir_create(dir);
    snprintf(path, sizeof path, "%s/c.h5", dir);
    open_sim(two);
    sim->state.dt_next = 0.00123;
    sim->state.t = 0.5;
    sim->state.step = 77;
    sim->state.frame = 3;
    CHECK_OK(tl_checkpoint_save(path, &sim->state, scene, NULL, &err));
    uint64_t hash = tl_state_hash(&sim->state);
    sim->state.dt_next = sim->state.t = 0;
    sim->state.step = sim->state.frame = 0;
    CHECK_OK(tl_checkpoint_load(path, &sim->state, scene, sim->rigid.count, NULL, &err));
    assert_true(sim->state.dt_next == 0.00123 && sim->state.t == 0.5 && sim->state.step == 77 && sim->state.frame == 3);
    assert_true(tl_state_hash(&sim->state) == hash);
    close_sim();
    remove(path);
    tl_tempdir_remove(dir);
}

/* ---- forces of what flows ---- */

/* The torque in the table is what turns the body: from rest, without contacts, I w / dt. A slanted bar has torques
 * about two axes. */
static void fluid_torque_is_what_turns_a_body(void **state)
{
    (void)state;
    open_sim("return scene { talus = 1, engine = 'grid', duration = 1, fps = 50, grid = { cells = {10, 10, 10}, cell = "
             "0.1 },"
             " fill = { { material = liquid { density = 1000 }, shape = box { size = {1, 0.6, 1}, center = {0.5, 0.3, "
             "0.5} } } },"
             " bodies = { { shape = box { size = {0.5, 0.2, 0.2} }, density = 700, at = {0.5, 0.5, 0.5}, rotation_deg "
             "= {10, 20, 30} } } }");
    const double dt = 1e-3;
    CHECK_OK(tl_sim_step(sim, dt, INFINITY, &err));
    const tl_motion *m = &sim->state.rigid.body[0];
    tl_mat3 R = tl_quat_to_mat3(m->q), I = tl_mat3_mul(R, tl_mat3_mul_t(sim->rigid.body[0].inertia, R));
    tl_vec3 turned = tl_vec3_scale(1 / sim->report.dt, tl_mat3_mul_vec(I, m->w));
    double size = tl_vec3_norm(turned);
    assert_true(size > 1e-3);
    if (!(tl_vec3_norm(tl_vec3_sub(turned, m->fluid_torque)) < 0.02 * size))
        fail_msg("torque %g %g %g, but it turns as by %g %g %g", m->fluid_torque.x, m->fluid_torque.y,
                 m->fluid_torque.z, turned.x, turned.y, turned.z);
    close_sim();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retries_halve_and_grow_again),
        cmocka_unit_test(nan_is_told_with_body_and_phase),
        cmocka_unit_test(energy_from_nothing_is_refused),
        cmocka_unit_test(what_misses_its_target_is_a_matter_of_policy),
        cmocka_unit_test(rounds_that_miss_are_judged_too),
        cmocka_unit_test(columns_hold_what_they_say),
        cmocka_unit_test(checkpoints_keep_the_step_control),
        cmocka_unit_test(fluid_torque_is_what_turns_a_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
