/* Liquids in places they should not be, and where nothing is: handled or told, and no number that is not one. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "lab/world.h"
#include "model/grid/state.h"

static talus_error err;
static char heard[4096];

static void hear(void *user, int level, const char *message)
{
    (void)user;
    size_t n = strlen(heard);
    snprintf(heard + n, sizeof heard - n, "%d: %s\n", level, message);
}
static const tl_log log_all = {hear, NULL, 1};

/* rest: what stands between the braces of scene { ... } after the usual keys. */
static tl_world open_case(const char *rest)
{
    tl_world c = {0};
    char text[2048];
    int bytes = snprintf(text, sizeof text,
                         "local water = liquid { density = 1000 }\n"
                         "return scene { talus = 1, engine = 'grid', duration = 10, fps = 50, %s }",
                         rest);
    assert_true(bytes > 0 && bytes < (int)sizeof text);
    tl_load_options o = {.no_files = true};
    heard[0] = 0;
    CHECK_OK(tl_scene_load_text(&c.scene, "case.lua", text, (size_t)bytes, &o, &err));
    CHECK_OK(tl_world_begin(&c, &log_all, &err));
    return c;
}

static bool finite3(tl_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static void check_numbers(const tl_sim *sim)
{
    const tl_grid_state *g = tl_grid_state_of(&sim->state);
    for (int64_t i = 0; i < g->particles.count; i++) {
        const tl_particle *p = &g->particles.particle[i];
        assert_true(finite3(p->x) && finite3(p->v));
        for (int k = 0; k < 9; k++) assert_true(isfinite(p->C.m[k / 3][k % 3]));
    }
    for (int64_t i = 0; i < g->memories; i++) assert_true(isfinite(g->memory[i].pressure));
    for (int32_t i = 0; i < sim->rigid.scene_count; i++) {
        const tl_motion *m = &sim->state.rigid.body[i];
        assert_true(finite3(m->x) && finite3(m->v) && finite3(m->w) && finite3(m->fluid_force) &&
                    finite3(m->fluid_torque));
    }
    const tl_report *r = &sim->report;
    assert_true(isfinite(r->liquid_volume) && isfinite(r->volume_error) && isfinite(r->kinetic) &&
                isfinite(r->potential));
    for (int k = 0; k < r->solves; k++) assert_true(isfinite(r->solve[k].certificate));
}

static void run(tl_world *c, int frames)
{
    for (int k = 0; k < frames; k++) {
        CHECK_OK(tl_sim_frame(c->sim, NULL, NULL, &err));
        check_numbers(c->sim);
    }
}

/* No particles at all until the tap opens, and none left after all have gone. */
static void empty_grid(void **state)
{
    (void)state;
    tl_world c = open_case("grid = { cells = {8, 8, 8}, cell = 0.1 }, emitters = { { material = water, shape = box { "
                           "size = 0.3, center = {0.4, 0.4, 0.4} }, velocity = {0, 0, 0}, rate = 0.05, start = 0.04, "
                           "stop = 0.2 } }, domain = { y_min = 'open' }, bodies = { { shape = sphere { radius = 0.1 "
                           "}, at = {0.2, 0.6, 0.2}, density = 500 } }");
    run(&c, 1);
    assert_int_equal(tl_grid_state_of(&c.sim->state)->particles.count, 0);
    assert_int_equal(c.sim->report.liquid_volume, 0);
    run(&c, 8);
    assert_true(tl_grid_state_of(&c.sim->state)->particles.count > 0);
    run(&c, 60);
    const tl_grid_totals *t = tl_grid_state_of(&c.sim->state)->totals;
    assert_int_equal(tl_grid_state_of(&c.sim->state)->particles.count, 0);
    assert_true(t->escaped > 0);
    CHECK_REL(t->escaped_volume, tl_grid_state_of(&c.sim->state)->emitter->emitted, 1e-12);
    assert_int_equal(c.sim->report.escaped, (int64_t)t->escaped + 1); /* the ball left too */
    tl_world_close(&c);
}

/* Particles at any speed, beside the walls and not numbers: lost and counted, or kept inside. */
static void flung_out(void **state)
{
    (void)state;
    tl_world c = open_case("grid = { cells = {10, 10, 10}, cell = 0.1 }, dt_min = 1e-7, fill = { { material = water, "
                           "shape = box { size = {1, 0.4, 1}, center = {0.5, 0.2, 0.5} } } }");
    run(&c, 2);
    tl_particle *p = tl_grid_state_of(&c.sim->state)->particles.particle;
    int64_t n = tl_grid_state_of(&c.sim->state)->particles.count;
    p[10].v = (tl_vec3){300, 200, -100};
    p[20].x = (tl_vec3){0.5, -0.25, 0.5}; /* in the floor */
    p[30].x = (tl_vec3){1e30, 0, 0};
    p[40].x = (tl_vec3){NAN, 0, 0};
    run(&c, 2);
    assert_int_equal(c.sim->report.escaped, 2);
    assert_int_equal(tl_grid_state_of(&c.sim->state)->particles.count, n - 2);
    for (int64_t i = 0; i < n - 2; i++) {
        tl_vec3 x = tl_grid_state_of(&c.sim->state)->particles.particle[i].x;
        assert_true(fmin(x.x, fmin(x.y, x.z)) > 0 && fmax(x.x, fmax(x.y, x.z)) < 1);
    }
    tl_world_close(&c);
}

/* A body falls out of an open side while liquid is there. */
static void body_leaves(void **state)
{
    (void)state;
    tl_world c = open_case(
        "grid = { cells = {10, 10, 10}, cell = 0.1 }, domain = { x_max = 'open' }, fill = { { material = water, shape "
        "= "
        "box { size = {0.5, 0.5, 1}, center = {0.25, 0.25, 0.5} } } }, bodies = { { name = 'ball', shape = sphere { "
        "radius = 0.15 }, at = {0.6, 0.5, 0.5}, velocity = {6, 0, 0}, density = 500 } }");
    run(&c, 40);
    assert_true(c.sim->state.rigid.body[0].x.x > 2);
    assert_int_equal(c.sim->state.rigid.body[0].fluid_force.y, 0);
    assert_true(c.sim->report.escaped >= 1);
    tl_world_close(&c);
}

/* Full to the lid, no surface: no pressure level is better than another, and nothing moves. A lid that is pushed in
 * cannot go. */
static void closed_cavity(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "", ", bodies = { { shape = sphere { radius = 0.2 }, at = {0.5, 0.5, 0.5}, density = 2000 } }"};
    for (int k = 0; k < 2; k++) {
        char rest[600];
        snprintf(rest, sizeof rest,
                 "grid = { cells = {8, 8, 8}, cell = 0.125 }, fill = { { material = water, shape = box { size = 1, "
                 "center = {0.5, 0.5, 0.5} } } }%s",
                 bodies[k]);
        tl_world c = open_case(rest);
        run(&c, 10);
        CHECK_NEAR(c.sim->report.volume_error, 0, 0.01);
        if (k == 0) assert_true(c.sim->report.fastest < 1e-2);
        assert_int_equal(c.sim->report.escaped, 0);
        tl_world_close(&c);
    }
}

/* Thinner than two cells: told before the first step, and runs. */
static void thin_plate(void **state)
{
    (void)state;
    tl_world c = open_case(
        "grid = { cells = {10, 10, 10}, cell = 0.1 }, fill = { { material = water, shape = box { size = {1, 0.4, 1}, "
        "center = {0.5, 0.7, 0.5} } } }, bodies = { { name = 'plate', shape = box { size = {0.8, 0.05, 0.8} }, at = "
        "{0.5, 0.45, 0.5}, density = 800 }, { name = 'shelf', kind = 'static', shape = box { size = {1, 0.03, 0.4} }, "
        "at = {0.5, 0.2, 0.5} } }");
    assert_non_null(strstr(heard, "plate"));
    assert_non_null(strstr(heard, "shelf"));
    run(&c, 15);
    assert_int_equal(c.sim->report.escaped, 0);
    tl_world_close(&c);
}

/* An emitter in a body has no free place: what is due is refused and counted, and it is told once. A fill in a body
 * is told before the first step. One beyond the domain is refused by the reader. */
static void emitter_in_a_wall(void **state)
{
    (void)state;
    tl_world c = open_case(
        "grid = { cells = {10, 10, 10}, cell = 0.1 }, emitters = { { material = water, shape = box { size = 0.2, "
        "center "
        "= {0.5, 0.5, 0.5} }, velocity = {0, -1, 0}, rate = 0.05 } }, fill = { { material = water, shape = sphere { "
        "radius = 0.1, center = {0.5, 0.5, 0.5} } } }, bodies = { { name = 'rock', kind = 'static', shape = box { size "
        "= "
        "0.5 }, at = {0.5, 0.5, 0.5} } }");
    assert_non_null(strstr(heard, "no fill has room"));
    run(&c, 30);
    const tl_emitter_state *e = tl_grid_state_of(&c.sim->state)->emitter;
    assert_int_equal(tl_grid_state_of(&c.sim->state)->particles.count, 0);
    assert_true(e->refused > 0);
    CHECK_REL(e->due, 0.05 * 0.6, 1e-9);
    CHECK_REL(e->owed + e->refused, e->due, 1e-12);
    char *told = strstr(heard, "emitters[1] finds no free place");
    assert_non_null(told);
    assert_null(strstr(told + 1, "emitters[1] finds no free place"));
    tl_world_close(&c);

    const char text[] =
        "return scene { talus = 1, engine = 'grid', duration = 1, grid = { cells = {8, 8, 8}, cell = 0.1 "
        "}, emitters = { { material = liquid { density = 1000 }, shape = box { size = 0.1, center = {0, "
        "-1, 0} }, velocity = {0, 0, 0}, rate = 1 } } }";
    tl_load_options o = {.no_files = true};
    tl_scene *scene;
    assert_int_equal(tl_scene_load_text(&scene, "case.lua", text, sizeof text - 1, &o, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "emitters[1].shape must overlap the domain"));
}

/* Bodies in a fill are cut out of it, to half a particle; an overlap of bodies is told before the first step. */
static void bodies_are_cut_out(void **state)
{
    (void)state;
    tl_world c = open_case(
        "grid = { cells = {12, 12, 12}, cell = 0.1 }, fill = { { material = water, shape = box { size = {1.2, 0.8, "
        "1.2}, "
        "center = {0.6, 0.4, 0.6} } } }, bodies = { { name = 'left', shape = box { size = 0.4 }, at = {0.4, 0.4, 0.6}, "
        "density = 900 }, { name = 'right', shape = box { size = 0.4 }, at = {0.75, 0.4, 0.6}, density = 900 } }");
    assert_non_null(strstr(heard, "overlap by 0.05 m at the start"));
    CHECK_REL(tl_grid_state_of(&c.sim->state)->totals->initial_volume, 1.2 * 0.8 * 1.2 - 0.75 * 0.4 * 0.4, 0.005);
    const tl_particles *p = &tl_grid_state_of(&c.sim->state)->particles;
    for (int64_t i = 0; i < p->count; i++) {
        tl_vec3 x = p->particle[i].x;
        assert_false(x.x > 0.2 && x.x < 0.95 && x.y > 0.2 && x.y < 0.6 && x.z > 0.4 && x.z < 0.8);
    }
    run(&c, 2);
    tl_world_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_grid),         cmocka_unit_test(flung_out),  cmocka_unit_test(body_leaves),
        cmocka_unit_test(closed_cavity),      cmocka_unit_test(thin_plate), cmocka_unit_test(emitter_in_a_wall),
        cmocka_unit_test(bodies_are_cut_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
