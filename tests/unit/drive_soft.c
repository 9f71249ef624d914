/* Elastic bodies come and go between steps: the others move as if nothing had happened, what came falls, turns, floats
 * and stands as bodies of the scene do, saved states go on with the same bits, and what is held cannot leave. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/sim.h>

#include "check.h"
#include "tempdir.h"

static talus_error err;

#define REFUSED(call, expected)                                                                                        \
    do {                                                                                                               \
        err.message[0] = '\0';                                                                                         \
        assert_int_not_equal((call), TALUS_OK);                                                                        \
        if (!strstr(err.message, expected)) fail_msg("message is '%s'", err.message);                                  \
    } while (0)

static talus_sim *open_sim(const char *text, talus_scene **scene)
{
    talus_sim *sim;
    talus_scene_options o = talus_scene_options_default();
    o.driven = 1;
    CHECK_OK(talus_scene_load_text(text, NULL, &o, scene, &err));
    CHECK_OK(talus_sim_create(*scene, NULL, &sim, &err));
    return sim;
}

static void close_sim(talus_sim *sim, talus_scene *scene)
{
    talus_sim_free(sim);
    talus_scene_free(scene);
}

static talus_view view_of(talus_sim *sim, const char *name)
{
    talus_view v;
    CHECK_OK(talus_sim_view(sim, name, &v, &err));
    return v;
}

static double number_at(talus_sim *sim, const char *name, int64_t i, int k)
{
    talus_view v = view_of(sim, name);
    const double *row = talus_view_row(&v, i);
    assert_non_null(row);
    return row[k];
}

/* m: how far nodes `first` to `first + count` of a are from those of b, of which the first is `other`. */
static double apart(talus_sim *a, int64_t first, int64_t count, talus_sim *b, int64_t other)
{
    double max = 0;
    talus_view x = view_of(a, "nodes.position"), y = view_of(b, "nodes.position");
    for (int64_t i = 0; i < count; i++) {
        const double *p = talus_view_row(&x, first + i), *q = talus_view_row(&y, other + i);
        for (int k = 0; k < 3; k++) max = fmax(max, fabs(p[k] - q[k]));
    }
    return max;
}

/* A clone, a state of bytes and one of a file go on with the same bits. */
static void goes_on(talus_sim *sim, const talus_scene *scene, double dt)
{
    char folder[TL_TEMPDIR_MAX], path[TL_TEMPDIR_MAX + 16];
    talus_sim *other[3];
    const size_t bytes = talus_sim_bytes(sim);
    char *saved = malloc(bytes);
    tl_tempdir_create(folder);
    snprintf(path, sizeof path, "%s/state.h5", folder);
    CHECK_OK(talus_sim_save_bytes(sim, saved, bytes, &err));
    CHECK_OK(talus_sim_save(sim, path, &err));
    for (int k = 0; k < 2; k++) CHECK_OK(talus_sim_create(scene, NULL, &other[k], &err));
    CHECK_OK(talus_sim_restore_bytes(other[0], saved, bytes, &err));
    CHECK_OK(talus_sim_restore(other[1], path, &err));
    CHECK_OK(talus_sim_clone(sim, &other[2], &err));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(talus_sim_step(sim, dt, &err));
        for (int k = 0; k < 3; k++) {
            CHECK_OK(talus_sim_step(other[k], dt, &err));
            assert_true(talus_sim_hash(other[k]) == talus_sim_hash(sim));
        }
    }
    for (int k = 0; k < 3; k++) talus_sim_free(other[k]);
    tl_tempdir_remove(folder);
    free(saved);
}

/* ---- others go on ---- */

#define SOFT "local soft = elastic { name = 'soft', density = 1000, young = 2e5, poisson = 0.3, friction = 0.5, "
#define CUBE "shape = box { size = 0.2 }, material = soft, cells = {2, 2, 2}, "
#define LONE(ENGINE, MODEL)                                                                                            \
    SOFT MODEL " } return scene { talus = 1, engine = " ENGINE ", duration = 5, dt_max = 0.005, gravity = "            \
               "{0, -9.81, 0}, bodies = { { name = 'floor', shape = half_space { normal = {0, 1, 0} }, kind = "        \
               "'static' }, { name = 'stone', shape = sphere { radius = 0.1 }, density = 500, at = {-1, 0.12, 0} }, "  \
               "{ name = 'first', " CUBE "at = {0, 0.12, 0}, spin_rad_per_s = {0.3, 0, 0.2} }, { name = 'second', "    \
               "shape = ball, " BALL "at = {1, 0.13, 0} } } }"
#define BALL "material = soft, edge = 0.08, "
#define WITH_BALL "local ball = sphere { radius = 0.1 } "

static const char *const lone[] = {WITH_BALL LONE("'grid'", ""), WITH_BALL LONE("'lg'", ""),
                                   WITH_BALL LONE("'lg', lg = { time = 'euler' }", "model = 'neo_hookean'")};

/* Of everything, at the end of the last step. */
static void momentum_of(talus_sim *sim, double out[3])
{
    talus_report r;
    talus_sim_report(sim, &r);
    memcpy(out, r.momentum, sizeof r.momentum);
}

/* One comes far away, flies and leaves: the rest are where they are without it, to what solvers leave. */
static void one_far_away(void **state)
{
    (void)state;
    const double at[3] = {7, 3, -2}, v[3] = {0.4, 1, -0.2}, w[3] = {2, -1, 3}, q[4] = {0.9, 0.1, 0.3, 0.2};
    for (size_t e = 0; e < sizeof lone / sizeof *lone; e++) {
        talus_scene *scene[2];
        talus_sim *a = open_sim(lone[e], &scene[0]), *b = open_sim(lone[e], &scene[1]);
        int body = -1;
        double before[3], after[3], centre[3], off = 0, unexplained[2] = {0, 0};
        CHECK_OK(talus_sim_advance(a, 0.1, &err));
        CHECK_OK(talus_sim_advance(b, 0.1, &err));
        assert_true(talus_sim_hash(a) == talus_sim_hash(b));
        const uint64_t generation = talus_sim_generation(b);
        const int64_t nodes = view_of(a, "nodes.mass").count;
        CHECK_OK(talus_sim_add_body(b, 3, at, q, v, w, &body, &err));
        assert_true(talus_sim_generation(b) > generation);
        assert_int_equal(body, 4);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(number_at(b, "bodies.position", 4, k), at[k], 1e-12);
            centre[k] = number_at(b, "bodies.center", 4, k); /* the mesh's is not the shape's */
        }
        assert_true(apart(a, 0, nodes, b, 0) == 0);
        for (int i = 0; i < 20; i++) {
            talus_report r;
            CHECK_OK(talus_sim_step(a, 0.005, &err));
            CHECK_OK(talus_sim_step(b, 0.005, &err));
            off = fmax(off, apart(a, 0, nodes, b, 0));
            talus_sim_report(a, &r);
            unexplained[0] = fmax(unexplained[0], fabs(r.energy_unexplained));
            talus_sim_report(b, &r);
            unexplained[1] = fmax(unexplained[1], fabs(r.energy_unexplained));
            CHECK_LE(fabs(r.momentum_unexplained[1]), 1e-9 * 9.81);
        }
        CHECK_LE(off, 1e-6);
        CHECK_LE(unexplained[1], 2 * unexplained[0] + 1e-6);
        const double t = 0.1, late = e == 1 ? 0 : 0.005; /* Euler's steps fall half a step ahead */
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(number_at(b, "bodies.center", 4, k),
                       centre[k] + t * v[k] - (k == 1 ? 0.5 * 9.81 * t * (t + late) : 0), 1e-9);
        goes_on(b, scene[1], 0.005);
        for (int i = 0; i < 3; i++) CHECK_OK(talus_sim_step(a, 0.005, &err));
        momentum_of(b, before);
        CHECK_OK(talus_sim_remove_body(b, 4, &err));
        for (int i = 0; i < 20; i++) {
            CHECK_OK(talus_sim_step(a, 0.005, &err));
            CHECK_OK(talus_sim_step(b, 0.005, &err));
            off = fmax(off, apart(a, 0, nodes, b, 0));
        }
        CHECK_LE(off, 1e-6);
        momentum_of(a, before);
        momentum_of(b, after);
        for (int k = 0; k < 3; k++) CHECK_NEAR(after[k], before[k], 1e-4);
        goes_on(b, scene[1], 0.005);
        close_sim(a, scene[0]);
        close_sim(b, scene[1]);
    }
}

/* A stack stands; a body before it leaves, another comes after: contacts keep who they are by other numbers, so solves
 * begin where they were and the stack does not move. */
#define STACK(ENGINE)                                                                                                  \
    SOFT "} return scene { talus = 1, engine = " ENGINE ", duration = 5, dt_max = 0.005, domain = { min = {-4, 0, "    \
         "-4}, max = {4, 4, 4} }, bodies = { { name = 'far', " CUBE "at = {-3, 0.1, 0} }, { name = 'stone', shape = "  \
         "sphere { radius = 0.1 }, density = 500, at = {-2, 0.1, 0} }, { name = 'low', " CUBE "at = {0, 0.1, 0} }, "   \
         "{ name = 'up', shape = box { size = 0.15 }, material = soft, cells = {3, 2, 1}, at = {0.02, 0.275, 0.01}, "  \
         "rotation_deg = {0, 20, 0} } } }"

static void among_contacts(void **state)
{
    (void)state;
    static const char *const scenes[] = {STACK("'grid'"), STACK("'lg', lg = { time = 'euler' }")};
    for (int e = 0; e < 2; e++) {
        talus_scene *scene[2];
        talus_sim *a = open_sim(scenes[e], &scene[0]), *b = open_sim(scenes[e], &scene[1]);
        CHECK_OK(talus_sim_advance(a, 0.5, &err));
        CHECK_OK(talus_sim_advance(b, 0.5, &err));
        const int64_t all = view_of(a, "nodes.mass").count, first = 27, rest = all - first;
        const int64_t touching = view_of(a, "contacts.gap").count;
        for (int way = 0; way < 3; way++) {
            if (way == 0) CHECK_OK(talus_sim_remove_body(b, 0, &err));
            if (way == 1) CHECK_OK(talus_sim_remove_body(b, 0, &err)); /* the stone */
            if (way == 2) CHECK_OK(talus_sim_add_body(b, 0, (const double[3]){3, 2, 0}, NULL, NULL, NULL, NULL, &err));
            assert_true(apart(a, first, rest, b, 0) == 0 || way > 0);
            if (way == 0) { /* what touches is there at once, those of the body that left are not */
                talus_view v = view_of(b, "contacts.bodies");
                assert_in_range(v.count, touching / 2, touching - 4);
                for (int64_t i = 0; i < v.count; i++) {
                    const int32_t *pair = talus_view_row(&v, i);
                    assert_in_range(pair[0], 0, 2);
                    assert_in_range(pair[1], 0, 2 + 6);
                }
            }
            for (int i = 0; i < 5; i++) {
                CHECK_OK(talus_sim_step(a, 0.005, &err));
                CHECK_OK(talus_sim_step(b, 0.005, &err));
                CHECK_LE(apart(a, first, rest, b, 0), 1e-8);
            }
        }
        goes_on(b, scene[1], 0.005);
        close_sim(a, scene[0]);
        close_sim(b, scene[1]);
    }
}

/* ---- what is held ---- */

#define HELD(ENGINE, MORE)                                                                                             \
    SOFT "} return scene { talus = 1, engine = " ENGINE                                                                \
         ", duration = 5, dt_max = 0.01, bodies = { { name = 'post', " CUBE                                            \
         "at = {0, 1, 0}, anchor = half_space { normal = {0, -1, 0}, point = {0, 0.09, 0} } }, { name = 'led', " CUBE  \
         "at = {1, 1, 0} }, { name = 'plain', " CUBE "at = {2, 1, 0} }, { name = 'stone', shape = sphere { radius = "  \
         "0.1 }, density = 500, at = {3, 0.1, 0} }, { name = 'lead', shape = sphere { radius = 0.1 }, density = 900, " \
         "at = {4, 0.1, 0} } }, handles = { { body = 'led', shape = box { size = {0.3, 0.05, 0.3}, center = {1, 1.1, " \
         "0} }, at = {1, 1.1, 0} } }" MORE " }"

static void what_is_held(void **state)
{
    (void)state;
    static const char *const scenes[] = {
        HELD("'grid'", ""),
        HELD("'lg'", ", joins = { { body = 'plain', to = 'stone', shape = box { size = {0.3, 0.05, 0.3}, center = {2, "
                     "0.9, 0} } } }, cables = { { body = 'led', points = { {0.95, 0.95, 0}, {1.05, 0.95, 0} } } "
                     "}")};
    for (int e = 0; e < 2; e++) {
        talus_scene *scene;
        talus_sim *sim = open_sim(scenes[e], &scene);
        int body = -1;
        CHECK_OK(talus_sim_advance(sim, 0.1, &err));
        REFUSED(talus_sim_remove_body(sim, 1, &err), "handle 0 holds it");
        for (int k = 2; k < 4 && e; k++) REFUSED(talus_sim_remove_body(sim, k, &err), "join 0 holds it");
        assert_int_equal(view_of(sim, "bodies.mass").count, 5);
        /* a copy of what is held by a handle is free; one that has an anchor stands where it begins */
        CHECK_OK(talus_sim_add_body(sim, 1, (const double[3]){1, 5, 1}, NULL, NULL, NULL, &body, &err));
        CHECK_OK(talus_sim_add_body(sim, 0, (const double[3]){0, 5, 1}, (const double[4]){0, 1, 0, 0}, NULL, NULL,
                                    &body, &err));
        assert_int_equal(body, 6);
        assert_int_equal(view_of(sim, "holds.force").count, e ? 5 + 3 : 5 + 1);
        CHECK_OK(talus_sim_remove_body(sim, 4, &err)); /* nothing holds it: numbers after it change */
        CHECK_OK(talus_sim_advance(sim, 3, &err));
        CHECK_LE(number_at(sim, "bodies.position", 4, 1), 5 - 30);
        CHECK_NEAR(number_at(sim, "bodies.position", 5, 1), 5, 0.02);
        CHECK_NEAR(number_at(sim, "holds.force", 4, 1), 8 * 9.81, 0.01 * 8 * 9.81);
        CHECK_NEAR(number_at(sim, "holds.position", 4, 1), 4.9, 1e-3); /* on its head: the anchor is below */
        CHECK_NEAR(number_at(sim, "holds.force", 5, 1), 8 * 9.81, 0.5 * 8 * 9.81);
        goes_on(sim, scene, 0.01);
        CHECK_OK(talus_sim_set_handle(sim, 0, (const double[3]){1, 1.2, 0}, NULL, &err));
        CHECK_OK(talus_sim_remove_body(sim, 5, &err));
        CHECK_OK(talus_sim_remove_body(sim, 4, &err));
        CHECK_OK(talus_sim_remove_body(sim, 0, &err));
        CHECK_NEAR(number_at(sim, "handles.position", 0, 1), 1.2, 1e-15);
        CHECK_OK(talus_sim_advance(sim, talus_sim_time(sim) + 0.1, &err));
        goes_on(sim, scene, 0.01);
        close_sim(sim, scene);
    }
}

/* An elastic body is led by its pose as a rigid one is: its anchor goes there, what hangs on it follows. */
static void led_by_its_pose(void **state)
{
    (void)state;
    static const char *const engines[] = {"grid", "lg"};
    for (int e = 0; e < 2; e++) {
        char text[600];
        talus_scene *scene;
        snprintf(text, sizeof text,
                 SOFT "damping = 0.01 } return scene { talus = 1, engine = '%s', duration = 5, dt_max = 0.01, bodies = "
                      "{ { kind = 'kinematic', " CUBE
                      "at = {0, 1, 0}, anchor = half_space { normal = {0, -1, 0}, point = {0, 0.09, 0} } } } }",
                 engines[e]);
        talus_sim *sim = open_sim(text, &scene);
        double worst = 0;
        for (int i = 1; i <= 200; i++) {
            const double x = 0.002 * (i < 100 ? i : 100);
            CHECK_OK(talus_sim_set_pose(sim, 0, (const double[3]){x, 1 - x, 0}, NULL, &err));
            CHECK_OK(talus_sim_step(sim, 0.01, &err));
            worst = fmax(worst, fabs(number_at(sim, "holds.position", 0, 0) - x));
            if (i == 50) goes_on(sim, scene, 0.01);
            if (i == 50) CHECK_NEAR(number_at(sim, "holds.position", 0, 0), 0.1, 0.002); /* nobody led it further */
        }
        CHECK_LE(worst, 0.002); /* lg: by springs */
        CHECK_NEAR(number_at(sim, "bodies.position", 0, 0), 0.2, 1e-3);
        CHECK_NEAR(number_at(sim, "holds.position", 0, 1), 0.9, 1e-3);
        CHECK_NEAR(number_at(sim, "holds.force", 0, 1), 8 * 9.81, 0.01 * 8 * 9.81);
        close_sim(sim, scene);
    }
}

static void the_last_one(void **state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        talus_scene *scene;
        talus_sim *sim = open_sim(lone[e], &scene);
        CHECK_OK(talus_sim_step(sim, 0.005, &err));
        CHECK_OK(talus_sim_remove_body(sim, 2, &err));
        if (e) REFUSED(talus_sim_remove_body(sim, 2, &err), "last elastic one");
        if (!e) CHECK_OK(talus_sim_remove_body(sim, 2, &err));
        assert_int_equal(view_of(sim, "nodes.mass").count == 0, !e);
        CHECK_OK(talus_sim_advance(sim, 0.5, &err));
        goes_on(sim, scene, 0.005);
        CHECK_NEAR(number_at(sim, "bodies.position", 1, 1), 0.1, 2e-3);
        REFUSED(talus_sim_add_body(sim, 7, (const double[3]){0, 1, 0}, NULL, NULL, NULL, NULL, &err), "no body 7");
        close_sim(sim, scene);
    }
}

/* ---- in liquid ---- */

#define POOL                                                                                                           \
    "local water = liquid { density = 1000 } local soft = elastic { name = 'soft', density = 500, young = 1e5, "       \
    "poisson = 0.3 } return scene { talus = 1, engine = 'grid', duration = 2, grid = { cells = {10, 10, 10}, cell = "  \
    "0.1 }, fill = { { material = water, shape = box { size = {1, 0.5, 1}, center = {0.5, 0.25, 0.5} } } }, bodies = " \
    "{ { name = 'raft', shape = box { size = 0.25 }, material = soft, cells = {2, 2, 2}, at = {0.3, 0.55, 0.3} } } }"

/* A second raft falls in: water and both rafts have the momentum that gravity gives, energy is explained as it was, and
 * the second floats as the first does. */
static void in_liquid(void **state)
{
    (void)state;
    talus_scene *scene;
    talus_sim *sim = open_sim(POOL, &scene);
    talus_report r;
    int body;
    double lost = 0;
    CHECK_OK(talus_sim_advance(sim, 0.3, &err));
    const int64_t particles = view_of(sim, "particles.id").count;
    CHECK_OK(talus_sim_add_body(sim, 0, (const double[3]){0.7, 0.7, 0.7}, NULL, NULL, NULL, &body, &err));
    assert_int_equal(view_of(sim, "particles.id").count, particles);
    goes_on(sim, scene, 0.01);
    while (talus_sim_time(sim) < 1) {
        CHECK_OK(talus_sim_step(sim, 0.02, &err));
        talus_sim_report(sim, &r);
        lost += r.energy_unexplained;
        for (int k = 0; k < 3; k++) CHECK_LE(fabs(r.momentum_unexplained[k]), 1e-6 * 500 * 9.81 * 0.02);
    }
    CHECK_LE(lost, 0.02 * 8 * 9.81 * 0.2); /* none made: of what its fall gave */
    CHECK_NEAR(number_at(sim, "bodies.position", 1, 1), number_at(sim, "bodies.position", 0, 1), 0.06);
    CHECK_OK(talus_sim_remove_body(sim, 0, &err));
    for (int i = 0; i < 5; i++) {
        CHECK_OK(talus_sim_step(sim, 0.02, &err));
        talus_sim_report(sim, &r);
        for (int k = 0; k < 3; k++) CHECK_LE(fabs(r.momentum_unexplained[k]), 1e-6 * 500 * 9.81 * 0.02);
    }
    goes_on(sim, scene, 0.01);
    close_sim(sim, scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_far_away),    cmocka_unit_test(among_contacts), cmocka_unit_test(what_is_held),
        cmocka_unit_test(led_by_its_pose), cmocka_unit_test(the_last_one),   cmocka_unit_test(in_liquid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
