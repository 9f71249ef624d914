/* Driving a simulation: what is set acts, is saved with the state, and goes on with the same bits; bodies and particles
 * come and go; steps call back and can be stopped; a forked process is told that it cannot go on. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <talus/sim.h>
#include <time.h>
#include <unistd.h>

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

/* `sim` and a fresh simulation that is given its state go on with the same bits: by bytes, by a file, as a clone. */
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
    CHECK_OK(talus_sim_restore_bytes(sim, saved, bytes, &err)); /* and back */
    for (int i = 0; i < 3; i++) CHECK_OK(talus_sim_step(sim, dt, &err));
    assert_true(talus_sim_hash(other[0]) == talus_sim_hash(sim));
    saved[bytes - 1] ^= 1;
    REFUSED(talus_sim_restore_bytes(sim, saved, bytes, &err), "");
    REFUSED(talus_sim_restore_bytes(sim, saved, bytes - 8, &err), "");
    REFUSED(talus_sim_restore_bytes(sim, saved, 5, &err), "cut short");
    REFUSED(talus_sim_save_bytes(sim, saved, bytes - 1, &err), "room");
    assert_true(talus_sim_hash(other[0]) == talus_sim_hash(sim));
    for (int k = 0; k < 3; k++) talus_sim_free(other[k]);
    tl_tempdir_remove(folder);
    free(saved);
}

/* ---- constants of the scene ---- */

static void gravity(void **state)
{
    (void)state;
    talus_scene *scene;
    talus_sim *sim = open_sim("return scene { talus = 1, engine = 'grid', duration = 1, bodies = { { shape = sphere { "
                              "radius = 0.1 }, density = 1000 } } }",
                              &scene);
    const double g[3] = {1, 2, -3};
    CHECK_OK(talus_sim_set_gravity(sim, g, &err));
    for (int i = 0; i < 10; i++) CHECK_OK(talus_sim_step(sim, 0.01, &err));
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(number_at(sim, "bodies.velocity", 0, k), 0.1 * g[k], 1e-12);
        CHECK_NEAR(number_at(sim, "bodies.center", 0, k), 0.005 * g[k], 1e-12);
    }
    goes_on(sim, scene, 0.01);
    CHECK_LE(fabs(number_at(sim, "energy.unexplained", 0, 0)), 1e-9);
    REFUSED(talus_sim_set_gravity(sim, (const double[3]){0, NAN, 0}, &err), "finite");
    close_sim(sim, scene);
}

#define SLOPE                                                                                                          \
    "local a = math.rad(20) local stone = solid { name = 'stone', density = 2000, friction = 0.8 } return scene { "    \
    "talus "                                                                                                           \
    "= 1, engine = 'grid', duration = 1, dt_max = 0.01, bodies = { { name = 'slope', shape = half_space { normal = "   \
    "{math.sin(a), math.cos(a), 0} }, kind = 'static', material = stone }, { name = 'brick', shape = box { size = "    \
    "{0.4, 0.1, 0.4} }, material = stone, at = {0.05 * math.sin(a), 0.05 * math.cos(a), 0}, rotation_deg = {0, 0, "    \
    "-20} "                                                                                                            \
    "} } }"

static double speed(talus_sim *sim, int body)
{
    return hypot(number_at(sim, "bodies.velocity", body, 0), number_at(sim, "bodies.velocity", body, 1));
}

/* A brick at rest slides as Coulomb says when friction is taken away, by the body or by its material. */
static void friction(void **state)
{
    (void)state;
    for (int by_material = 0; by_material < 2; by_material++) {
        talus_scene *scene;
        talus_sim *sim = open_sim(SLOPE, &scene);
        const double angle = 20 * 3.14159265358979323846 / 180;
        CHECK_OK(talus_sim_advance(sim, 0.5, &err));
        CHECK_LE(speed(sim, 1), 1e-6);
        if (by_material) CHECK_OK(talus_sim_set_material(sim, talus_sim_material(sim, "stone"), "friction", 0.1, &err));
        for (int b = 0; b < 2 && !by_material; b++) CHECK_OK(talus_sim_set_friction(sim, b, 0.1, &err));
        CHECK_OK(talus_sim_advance(sim, 0.8, &err));
        CHECK_REL(speed(sim, 1), 0.3 * 9.81 * (sin(angle) - 0.1 * cos(angle)), 1e-3);
        goes_on(sim, scene, 0.01);
        if (!by_material) {
            for (int b = 0; b < 2; b++) CHECK_OK(talus_sim_set_friction(sim, b, -1, &err)); /* the scene's: it stops */
            CHECK_OK(talus_sim_advance(sim, 2, &err));
            CHECK_LE(speed(sim, 1), 1e-6);
        }
        close_sim(sim, scene);
    }
}

/* A wheel on a hinge turns as fast as its motor is told to, and as the scene says again when it is let go. */
static void motors(void **state)
{
    (void)state;
    talus_scene *scene;
    talus_sim *sim = open_sim(
        "return scene { talus = 1, engine = 'grid', duration = 1, gravity = {0, 0, 0}, dt_max = 0.01, "
        "bodies = { { name = 'wheel', shape = cylinder { radius = 0.2, height = 0.1 }, density = 500 } }, joints = "
        "{ { name = 'axle', kind = 'hinge', a = 'wheel', at = {0, 0, 0}, axis = {0, 1, 0}, motor = "
        "{ speed = 1 } }, } }",
        &scene);
    const int axle = talus_sim_joint(sim, "axle");
    assert_int_equal(axle, 0);
    assert_int_equal(talus_sim_joint(sim, "shaft"), -1);
    CHECK_OK(talus_sim_advance(sim, 0.1, &err));
    CHECK_NEAR(number_at(sim, "joints.speed", 0, 0), 1, 1e-9);
    CHECK_OK(talus_sim_set_motor(sim, axle, -3, &err));
    CHECK_OK(talus_sim_advance(sim, 0.2, &err));
    CHECK_NEAR(number_at(sim, "joints.speed", 0, 0), -3, 1e-9);
    CHECK_NEAR(number_at(sim, "bodies.spin", 0, 1), -3, 1e-9);
    CHECK_NEAR(number_at(sim, "joints.target", 0, 0), -3, 0);
    goes_on(sim, scene, 0.05);
    REFUSED(talus_sim_set_motor(sim, axle, INFINITY, &err), "must be finite");
    CHECK_OK(talus_sim_set_motor(sim, axle, NAN, &err));
    CHECK_OK(talus_sim_advance(sim, 0.4, &err));
    CHECK_NEAR(number_at(sim, "joints.speed", 0, 0), 1, 1e-9);
    close_sim(sim, scene);
}

static void materials_are_checked(void **state)
{
    (void)state;
    talus_scene *scene;
    talus_sim *sim = open_sim(SLOPE, &scene);
    const uint64_t before = talus_sim_hash(sim);
    REFUSED(talus_sim_set_material(sim, 0, "stiffness", 1, &err), "no number");
    REFUSED(talus_sim_set_material(sim, 0, "colour", 1, &err), "no number");
    REFUSED(talus_sim_set_material(sim, 0, "friction", -1, &err), "must be");
    REFUSED(talus_sim_set_material(sim, 1, "friction", 1, &err), "there is no material 1");
    assert_int_equal(talus_sim_material(sim, "wood"), -1);
    assert_true(talus_sim_hash(sim) == before);
    close_sim(sim, scene);
}

/* A bar that hangs gets twice as long when its material is half as stiff. */
static void stiffness(void **state)
{
    (void)state;
    talus_scene *scene;
    talus_sim *sim = open_sim("return scene { talus = 1, engine = 'lg', duration = 1, dt_max = 0.02, lg = { time = "
                              "'euler' }, bodies = { { shape = box { size = {0.1, 0.4, 0.1} }, cells = {1, 4, 1}, "
                              "material = elastic { density = 1000, young = 1e6, poisson = 0 }, anchor = box { size = "
                              "{1, 0.01, 1}, center = {0, 0.2, 0} } } } }",
                              &scene);
    double length[2];
    for (int k = 0; k < 2; k++) {
        if (k) CHECK_OK(talus_sim_set_material(sim, 0, "young", 5e5, &err));
        CHECK_OK(talus_sim_advance(sim, 1.5 * (k + 1), &err));
        talus_view x = view_of(sim, "nodes.position");
        double low = 0;
        for (int64_t i = 0; i < x.count; i++) low = fmin(low, ((const double *)talus_view_row(&x, i))[1]);
        length[k] = -0.2 - low;
    }
    CHECK_REL(length[1], 2 * length[0], 0.01);
    goes_on(sim, scene, 0.02);
    close_sim(sim, scene);
}

#define POOL(engine, more)                                                                                             \
    "return scene { talus = 1, engine = '" engine "', duration = 1, dt_max = 0.01, " more                              \
    ", fill = { { material = liquid { name = 'water', density = 1000 }, shape = box { size = {0.8, 0.2, 0.8}, center " \
    "= {0.5, 0.1, "                                                                                                    \
    "0.5} } } }, emitters = { { material = liquid { name = 'jet', density = 1000 }, shape = box { size = {0.2, 0.1, "  \
    "0.2}, center = "                                                                                                  \
    "{0.5, 0.8, 0.5} }, velocity = {0, -1, 0}, rate = 0.01 } } }"
static const char *const pools[] = {
    POOL("grid", "grid = { cells = {10, 10, 10}, cell = 0.1 }"),
    POOL("sph", "sph = { spacing = 0.05 }, domain = { min = {0, 0, 0}, max = {1, 1, 1} }")};

static void rates(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        talus_scene *scene;
        talus_sim *sim = open_sim(pools[k], &scene);
        CHECK_OK(talus_sim_set_rate(sim, 0, 0, &err));
        CHECK_OK(talus_sim_advance(sim, 0.1, &err));
        const int64_t before = view_of(sim, "particles.id").count;
        CHECK_OK(talus_sim_set_rate(sim, 0, 0.02, &err));
        CHECK_OK(talus_sim_advance(sim, 0.2, &err));
        const double each = number_at(sim, "particles.volume", 0, 0), owed = number_at(sim, "emitters.owed", 0, 0);
        const double came = (double)(view_of(sim, "particles.id").count - before) * (k ? each : 0.05 * 0.05 * 0.05);
        CHECK_NEAR(came + owed, 0.1 * 0.02, 1e-9);
        goes_on(sim, scene, 0.005);
        CHECK_OK(talus_sim_set_rate(sim, 0, -1, &err));
        REFUSED(talus_sim_set_rate(sim, 1, 0.1, &err), "there is no emitter 1");
        close_sim(sim, scene);
    }
}

/* ---- what comes and goes ---- */

static void bodies(void **state)
{
    (void)state;
    talus_scene *scene;
    talus_sim *sim =
        open_sim("return scene { talus = 1, engine = 'grid', duration = 1, dt_max = 0.01, domain = { min = "
                 "{-1, 0, -1}, max = {1, 2, 1} }, bodies = { { name = 'post', shape = box { size = 0.2 }, "
                 "kind = 'static', at = {-0.8, 0.1, 0} }, { name = 'box', shape = box { size = 0.2 }, at = "
                 "{0, 0.1, 0}, density = 500 } } }",
                 &scene);
    int body = -1;
    CHECK_OK(talus_sim_advance(sim, 0.2, &err));
    CHECK_OK(talus_sim_set_friction(sim, 1, 0.25, &err));
    CHECK_OK(talus_sim_add_body(sim, 1, (const double[3]){0, 0.35, 0}, NULL, NULL, NULL, &body, &err));
    assert_int_equal(body, 2);
    assert_int_equal(view_of(sim, "bodies.mass").count, 3);
    CHECK_NEAR(number_at(sim, "bodies.mass", 2, 0), 4, 1e-12);
    CHECK_OK(talus_sim_advance(sim, 0.8, &err));
    CHECK_NEAR(number_at(sim, "bodies.position", 2, 1), 0.3, 2e-3);
    CHECK_REL(number_at(sim, "bodies.force", 2, 1), 4 * 9.81, 1e-3); /* it stands on the first */
    goes_on(sim, scene, 0.01);
    assert_int_equal(view_of(sim, "surface.position").count, 3 * 8);
    CHECK_OK(talus_sim_remove_body(sim, 1, &err)); /* the one below: the other falls */
    assert_int_equal(view_of(sim, "bodies.mass").count, 2);
    assert_int_equal(view_of(sim, "surface.position").count, 2 * 8);
    CHECK_OK(talus_sim_advance(sim, talus_sim_time(sim) + 0.6, &err));
    CHECK_NEAR(number_at(sim, "bodies.position", 1, 1), 0.1, 2e-3);
    goes_on(sim, scene, 0.01);
    CHECK_OK(talus_sim_place(sim, 1, (const double[3]){0.5, 1, 0.5}, (const double[4]){2, 0, 0, 0}, &err));
    CHECK_NEAR(number_at(sim, "bodies.position", 1, 1), 1, 1e-15);
    REFUSED(talus_sim_remove_body(sim, 2, &err), "there is no body 2");
    REFUSED(talus_sim_add_body(sim, 5, (const double[3]){0, 1, 0}, NULL, NULL, NULL, NULL, &err), "there is no body 5");
    REFUSED(talus_sim_place(sim, 0, NULL, NULL, &err), "free");
    close_sim(sim, scene);
}

/* Joints keep what they hold when bodies get other numbers; what they hold cannot leave. */
static void bodies_beside_joints(void **state)
{
    (void)state;
    talus_scene *scene[2];
    talus_sim *sim[2];
    for (int k = 0; k < 2; k++)
        sim[k] =
            open_sim("return scene { talus = 1, engine = 'grid', duration = 5, dt_max = 0.01, bodies = { { name = "
                     "'stone', shape = sphere { radius = 0.1 }, density = 500, at = {5, 0, 0} }, { name = 'upper', "
                     "shape = box { size = {0.5, 0.05, 0.05} }, density = 1000, at = {0.25, 0, 0} }, { name = "
                     "'lower', shape = box { size = {0.5, 0.05, 0.05} }, density = 1000, at = {0.75, 0, 0} } }, "
                     "joints = { { name = 'shoulder', kind = 'hinge', a = 'upper', at = {0, 0, 0}, axis = {0, 0, "
                     "1} }, { name = 'elbow', kind = 'hinge', a = 'lower', b = 'upper', at = {0.5, 0, 0}, axis = "
                     "{0, 0, 1}, motor = { speed = 1, max = 0.1 } } } }",
                     &scene[k]);
    for (int k = 0; k < 2; k++) CHECK_OK(talus_sim_advance(sim[k], 0.5, &err));
    REFUSED(talus_sim_remove_body(sim[0], 1, &err), "joint 0 (\"shoulder\") holds it");
    REFUSED(talus_sim_remove_body(sim[0], 2, &err), "joint 1 (\"elbow\") holds it");
    CHECK_OK(talus_sim_set_motor(sim[0], 1, 2, &err));
    CHECK_OK(talus_sim_set_motor(sim[1], 1, 2, &err));
    CHECK_OK(talus_sim_remove_body(sim[0], 0, &err));
    CHECK_OK(talus_sim_add_body(sim[0], 1, (const double[3]){3, 0, 0}, NULL, NULL, NULL, NULL, &err));
    REFUSED(talus_sim_remove_body(sim[0], 1, &err), "joint 1");
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < 2; k++) CHECK_OK(talus_sim_step(sim[k], 0.01, &err));
        for (int b = 0; b < 2; b++)
            for (int k = 0; k < 3; k++)
                CHECK_NEAR(number_at(sim[0], "bodies.position", b, k), number_at(sim[1], "bodies.position", b + 1, k),
                           1e-9);
    }
    CHECK_NEAR(number_at(sim[0], "joints.motor", 1, 0), number_at(sim[1], "joints.motor", 1, 0), 1e-9);
    goes_on(sim[0], scene[0], 0.01);
    CHECK_OK(talus_sim_remove_body(sim[0], 2, &err)); /* the copy */
    goes_on(sim[0], scene[0], 0.01);
    for (int k = 0; k < 2; k++) close_sim(sim[k], scene[k]);
}

static void particles(void **state)
{
    (void)state;
    const double at[6] = {0.3, 0.6, 0.3, 0.4, 0.6, 0.3}, v[6] = {0, 0, 0, 0, -1, 0};
    for (int k = 0; k < 2; k++) {
        talus_scene *scene;
        talus_sim *sim = open_sim(pools[k], &scene);
        int64_t first;
        talus_report report;
        CHECK_OK(talus_sim_set_rate(sim, 0, 0, &err));
        CHECK_OK(talus_sim_advance(sim, 0.05, &err));
        const int64_t before = view_of(sim, "particles.id").count;
        CHECK_OK(talus_sim_add_particles(sim, 0, 2, at, v, NULL, &first, &err));
        assert_int_equal(first, before);
        CHECK_OK(talus_sim_step(sim, 0.01, &err));
        talus_sim_report(sim, &report);
        assert_int_equal(report.particles, before + 2);
        if (!isnan(report.energy_unexplained)) CHECK_LE(fabs(report.energy_unexplained), 1e-3 * fabs(report.potential));
        CHECK_LE(fabs(report.momentum_unexplained[1]), 1e-6 * 1000 * 0.128);
        goes_on(sim, scene, 0.005);
        CHECK_OK(talus_sim_remove_particles(sim, 2, (const int32_t[2]){(int32_t)first + 1, (int32_t)first}, &err));
        assert_int_equal(view_of(sim, "particles.id").count, before);
        goes_on(sim, scene, 0.005);
        REFUSED(talus_sim_remove_particles(sim, 1, (const int32_t[1]){(int32_t)first}, &err), "not there");
        REFUSED(talus_sim_remove_particles(sim, 2, (const int32_t[2]){1, 1}, &err), "twice");
        REFUSED(talus_sim_add_particles(sim, 7, 1, at, NULL, NULL, NULL, &err), "there is no material 7");
        REFUSED(talus_sim_add_particles(sim, 0, 1, (const double[3]){5, 0, 0}, NULL, NULL, NULL, &err), "outside");
        REFUSED(talus_sim_add_particles(sim, 0, 1, at, NULL, (const double[1]){-1}, NULL, &err), "volume");
        if (k) REFUSED(talus_sim_add_particles(sim, 0, 1, at, NULL, (const double[1]){1}, NULL, &err), "one volume");
        close_sim(sim, scene);
    }
}

/* ---- called back, and stopped ---- */

typedef struct calls {
    int before, after, stop_after;
} calls;

static int note_before(void *user, talus_sim *sim)
{
    calls *c = user;
    c->before++;
    talus_error e;
    assert_int_not_equal(talus_sim_step(sim, 0.01, &e), TALUS_OK);
    assert_int_not_equal(talus_sim_remove_body(sim, 0, &e), TALUS_OK);
    assert_int_equal(talus_sim_set_force(sim, 1, (const double[3]){0, 4 * 9.81, 0}, NULL, &e), TALUS_OK);
    return 0;
}
static int note_after(void *user, talus_sim *sim)
{
    (void)sim;
    calls *c = user;
    return ++c->after == c->stop_after;
}

static void callbacks(void **state)
{
    (void)state;
    talus_scene *scene;
    talus_sim *sim =
        open_sim("return scene { talus = 1, engine = 'grid', duration = 1, dt_max = 0.01, bodies = { { shape "
                 "= plane {}, kind = 'static' }, { shape = box { size = 0.2 }, at = {0, 1, 0}, density = 500 "
                 "} } }",
                 &scene);
    calls c = {.stop_after = 6};
    CHECK_OK(talus_sim_on_step(sim, note_before, note_after, &c, &err));
    CHECK_OK(talus_sim_advance(sim, 0.05, &err));
    assert_int_equal(c.before, 5);
    assert_int_equal(c.after, 5);
    CHECK_NEAR(number_at(sim, "bodies.center", 1, 1), 1, 1e-12); /* the force that is set there carries it */
    assert_int_equal(talus_sim_advance(sim, 0.2, &err), TALUS_INTERRUPTED);
    assert_int_equal(talus_sim_steps(sim), 6);
    CHECK_OK(talus_sim_on_step(sim, NULL, NULL, NULL, &err));
    CHECK_OK(talus_sim_advance(sim, 0.2, &err));
    close_sim(sim, scene);
}

/* Each would take minutes. */
#define LONG_STEPS                                                                                                     \
    "return scene { talus = 1, engine = 'sph', duration = 1, sph = { spacing = 0.03, iterations_least = 100000 }, "    \
    "domain = { min = {0, 0, 0}, max = {1, 1, 1} }, fill = { { material = liquid { density = 1000 }, "                 \
    "shape = box { size = {0.5, 0.4, 0.5}, center = {0.4, 0.2, 0.4} } } } }"

static void *cancel_soon(void *sim)
{
    const struct timespec wait = {0, 200000000};
    nanosleep(&wait, NULL);
    talus_sim_cancel(sim, 1);
    return NULL;
}

static void stopped_from_another_thread(void **state)
{
    (void)state;
    talus_scene *scene, *second;
    talus_sim *sim = open_sim(LONG_STEPS, &scene), *other = open_sim(SLOPE, &second);
    const uint64_t before = talus_sim_hash(sim);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, sim), 0);
    assert_int_equal(talus_sim_advance(sim, 0.1, &err), TALUS_INTERRUPTED);
    pthread_join(thread, NULL);
    assert_true(talus_sim_hash(sim) == before);
    assert_int_equal(talus_sim_step(sim, 0.01, &err), TALUS_INTERRUPTED); /* until it is taken back */
    CHECK_OK(talus_sim_step(other, 0.01, &err));                          /* of the others nobody spoke */
    talus_sim_cancel(sim, 0);
    talus_sim_cancel(NULL, 1);
    close_sim(sim, scene);
    close_sim(other, second);
}

typedef struct shared {
    talus_sim *sim;
    talus_status status;
    atomic_bool begun;
} shared;

static int tell_begun(void *user, talus_sim *sim)
{
    (void)sim;
    atomic_store(&((shared *)user)->begun, true);
    return 0;
}

static void *advance_long(void *user)
{
    shared *s = user;
    talus_error own;
    s->status = talus_sim_advance(s->sim, 0.1, &own);
    return NULL;
}

/* A thread that comes while another one makes a step is told; one that frees the simulation ends that step first. */
static void a_second_thread(void **state)
{
    (void)state;
    talus_scene *scene;
    shared s = {.sim = open_sim(LONG_STEPS, &scene)};
    talus_view v;
    pthread_t thread;
    CHECK_OK(talus_sim_on_step(s.sim, tell_begun, NULL, &s, &err));
    assert_int_equal(pthread_create(&thread, NULL, advance_long, &s), 0);
    while (!atomic_load(&s.begun)) nanosleep(&(struct timespec){0, 1000000}, NULL);
    REFUSED(talus_sim_step(s.sim, 0.01, &err), "another thread is using");
    REFUSED(talus_sim_view(s.sim, "particles.position", &v, &err), "another thread is using");
    REFUSED(talus_sim_set_gravity(s.sim, (double[]){0, 0, 0}, &err), "another thread is using");
    assert_true(talus_sim_hash(s.sim) == 0);
    talus_sim_free(s.sim);
    pthread_join(thread, NULL);
    assert_int_equal(s.status, TALUS_INTERRUPTED);
    talus_scene_free(scene);
}

/* Two threads set and look at once, thousands of times: each call is done whole or refused, none is lost half-way. */
typedef struct rival {
    talus_sim *sim;
    atomic_int *ready;
    double number;
    int done, refused, wrong;
} rival;

static void *set_often(void *user)
{
    rival *r = user;
    talus_error e;
    const double force[3] = {r->number, r->number, r->number};
    atomic_fetch_add(r->ready, 1);
    while (atomic_load(r->ready) < 2) {
    }
    for (int i = 0; i < 20000; i++) {
        talus_view v;
        const talus_status status = talus_sim_set_force(r->sim, 1, force, force, &e);
        r->done += status == TALUS_OK;
        r->refused += status == TALUS_UNSUPPORTED && strstr(e.message, "another thread is using");
        if (i % 1000 == 0 && talus_sim_add_body(r->sim, 1, force, NULL, NULL, NULL, NULL, &e) == TALUS_OK)
            r->wrong += talus_sim_view(r->sim, "bodies.mass", &v, &e) == TALUS_OK && v.count < 3;
    }
    return NULL;
}

static void two_threads_at_once(void **state)
{
    (void)state;
    talus_scene *scene;
    atomic_int ready = 0;
    rival r[2] = {{.number = 1}, {.number = 2}};
    pthread_t thread[2];
    talus_sim *sim = open_sim(SLOPE, &scene);
    for (int k = 0; k < 2; k++) r[k].sim = sim, r[k].ready = &ready;
    for (int k = 0; k < 2; k++) assert_int_equal(pthread_create(&thread[k], NULL, set_often, &r[k]), 0);
    for (int k = 0; k < 2; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(r[k].done + r[k].refused, 20000);
        assert_int_equal(r[k].wrong, 0);
    }
    talus_view v = view_of(sim, "bodies.push");
    const double *force = talus_view_row(&v, 1);
    assert_true(force[0] == force[1] && force[1] == force[2]);
    CHECK_OK(talus_sim_step(sim, 0.001, &err)); /* nobody uses it any more */
    close_sim(sim, scene);
}

/* Simulations of one scene in two threads: functions of time are one at a time, and the bits are those of one thread. */
#define BY_FUNCTIONS                                                                                                   \
    "return scene { talus = 1, engine = 'grid', duration = 1, dt_max = 0.001, bodies = { { shape = sphere { radius = " \
    "0.1 }, density = 100, force = function(t) local s = {} for i = 1, 20 do s[i] = math.sin(t * i) end return "       \
    "{s[1], s[2], s[3]} end } } }"

static void *run_one(void *user)
{
    const talus_scene *const *scene = user;
    talus_sim *sim;
    talus_error e;
    uint64_t *hash = calloc(1, sizeof *hash);
    if (talus_sim_create(*scene, NULL, &sim, &e) != TALUS_OK) return hash;
    for (int i = 0; i < 500; i++)
        if (talus_sim_step(sim, 0.001, &e) != TALUS_OK) break;
    *hash = talus_sim_hash(sim);
    talus_sim_free(sim);
    return hash;
}

static void one_scene_in_two_threads(void **state)
{
    (void)state;
    talus_scene *scene;
    pthread_t thread[2];
    void *hash[2], *alone;
    CHECK_OK(talus_scene_load_text(BY_FUNCTIONS, NULL, NULL, &scene, &err));
    alone = run_one(&scene);
    for (int k = 0; k < 2; k++) assert_int_equal(pthread_create(&thread[k], NULL, run_one, &scene), 0);
    for (int k = 0; k < 2; k++) {
        pthread_join(thread[k], &hash[k]);
        assert_true(*(uint64_t *)hash[k] == *(uint64_t *)alone);
        free(hash[k]);
    }
    free(alone);
    talus_scene_free(scene);
}

static int free_it(void *user, talus_sim *sim)
{
    ++*(int *)user;
    talus_sim_free(sim);
    return 0;
}

static void freed_by_its_own_callback(void **state)
{
    (void)state;
    for (int before = 0; before < 2; before++) {
        talus_scene *scene;
        talus_sim *sim = open_sim(SLOPE, &scene);
        int times = 0;
        CHECK_OK(talus_sim_on_step(sim, before ? free_it : NULL, before ? NULL : free_it, &times, &err));
        assert_int_equal(talus_sim_advance(sim, 0.1, &err), TALUS_INTERRUPTED);
        assert_int_equal(times, 1);
        talus_scene_free(scene);
    }
}

/* What a run costs is told from what there is, and the simulation does not notice. */
static void costs(void **state)
{
    (void)state;
    talus_scene *scene;
    talus_cost cost;
    talus_sim *sim = open_sim(pools[0], &scene);
    CHECK_OK(talus_sim_advance(sim, 0.1, &err));
    const uint64_t before = talus_sim_hash(sim);
    CHECK_OK(talus_sim_cost(sim, &cost, &err));
    assert_true(talus_sim_hash(sim) == before);
    assert_int_equal(cost.particles, view_of(sim, "particles.id").count);
    assert_true(cost.cells >= 128 && cost.cells <= 400); /* 8 x 2 x 8 cells, and what splashes and falls */
    assert_true(cost.bytes > talus_sim_bytes(sim) && cost.seconds_per_step > 0 && !cost.at_least);
    CHECK_NEAR(cost.steps, ceil(0.9 / cost.dt * (1 - 1e-12)), 0);
    CHECK_REL(cost.seconds, cost.steps * cost.seconds_per_step, 1e-12);
    talus_sim_cancel(sim, 1);
    CHECK_OK(talus_sim_cost(sim, &cost, &err));
    assert_true(cost.at_least);
    assert_true(talus_sim_hash(sim) == before);
    close_sim(sim, scene);
}

/* In the child: 0 when everything was refused with a reason, and a simulation of its own runs. */
static int child(talus_sim *sim, talus_scene *scene)
{
    talus_view v;
    talus_sim *own;
    const double up[3] = {0, 1, 0};
    alarm(60); /* ends a child that hangs */
    if (talus_sim_step(sim, 0.01, &err) != TALUS_UNSUPPORTED || !strstr(err.message, "fork")) return 1;
    if (talus_sim_advance(sim, 1, &err) == TALUS_OK || talus_sim_view(sim, "bodies.mass", &v, &err) == TALUS_OK)
        return 2;
    if (talus_sim_set_force(sim, 1, up, NULL, &err) == TALUS_OK || talus_sim_clone(sim, &own, &err) == TALUS_OK)
        return 3;
    if (talus_sim_save(sim, "never", &err) == TALUS_OK || talus_sim_restore(sim, "never", &err) == TALUS_OK) return 4;
    talus_sim_free(sim);
    if (talus_sim_create(scene, NULL, &own, &err) != TALUS_OK || talus_sim_step(own, 0.01, &err) != TALUS_OK) return 5;
    talus_sim_free(own);
    return 0;
}

static void a_forked_process_is_told(void **state)
{
    (void)state;
    talus_scene *scene;
    talus_sim *sim = open_sim(SLOPE, &scene);
    CHECK_OK(talus_sim_step(sim, 0.01, &err));
    const pid_t process = fork();
    if (process == 0) _exit(child(sim, scene));
    int status = -1;
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    CHECK_OK(talus_sim_step(sim, 0.01, &err)); /* and here it goes on */
    close_sim(sim, scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gravity),
        cmocka_unit_test(friction),
        cmocka_unit_test(motors),
        cmocka_unit_test(materials_are_checked),
        cmocka_unit_test(stiffness),
        cmocka_unit_test(rates),
        cmocka_unit_test(bodies),
        cmocka_unit_test(bodies_beside_joints),
        cmocka_unit_test(particles),
        cmocka_unit_test(callbacks),
        cmocka_unit_test(stopped_from_another_thread),
        cmocka_unit_test(a_second_thread),
        cmocka_unit_test(two_threads_at_once),
        cmocka_unit_test(one_scene_in_two_threads),
        cmocka_unit_test(freed_by_its_own_callback),
        cmocka_unit_test(costs),
        cmocka_unit_test(a_forked_process_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
