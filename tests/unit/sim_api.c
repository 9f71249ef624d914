/* Scenes built by calls, and simulations through the public functions: what is read and set, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <talus/build.h>
#include <talus/sim.h>

#include "base/alloc.h"
#include "check.h"
#include "tempdir.h"

/* ---- building ---- */

static talus_build *ground_and_two(void)
{
    talus_build *b = talus_build_create();
    assert_non_null(b);
    talus_build_number(b, "duration", 2);
    talus_build_numbers(b, "gravity", 3, (double[]){0, -10, 0});
    talus_build_number(b, "dt_max", 0.01);
    talus_body_spec body = talus_body_spec_default();
    body.shape = talus_build_plane(b, 0);
    body.kind = "static";
    body.name = "ground";
    assert_int_equal(talus_build_body(b, &body), 0);

    /* Off its frame's origin, so that centre and position differ. */
    body = talus_body_spec_default();
    int box = talus_build_box(b, (double[]){0.2, 0.2, 0.2});
    body.shape = talus_build_place(b, box, (double[]){0.5, 0, 0}, NULL);
    body.name = "box";
    body.mass = 2;
    body.at[1] = 3.25;
    body.velocity[0] = 1.5;
    assert_int_equal(talus_build_body(b, &body), 1);

    body = talus_body_spec_default();
    body.shape = talus_build_sphere(b, 0.1);
    body.kind = "kinematic";
    body.name = "hand";
    body.at[0] = 10, body.at[1] = 1;
    assert_int_equal(talus_build_body(b, &body), 2);
    return b;
}

static talus_scene *finish(talus_build *b)
{
    talus_error err = {0};
    talus_scene *scene;
    CHECK_OK(talus_build_finish(b, NULL, &scene, &err));
    talus_build_free(b);
    return scene;
}

static void a_scene_is_built(void **state)
{
    (void)state;
    talus_scene *s = finish(ground_and_two());
    assert_int_equal(talus_scene_count(s, TALUS_PART_BODIES), 3);
    assert_string_equal(talus_scene_body_name(s, 1), "box");
    CHECK_NEAR(talus_scene_duration(s), 2, 0);
    talus_scene_free(s);
}

static void check_refused(talus_build *b, talus_status status, const char *words)
{
    talus_error err = {0};
    talus_scene *scene;
    assert_int_equal(talus_build_finish(b, NULL, &scene, &err), status);
    assert_null(scene);
    if (!strstr(err.message, words)) fail_msg("'%s' is not in '%s'", words, err.message);
    talus_build_free(b);
}

static void mistakes_are_told_as_in_files(void **state)
{
    (void)state;
    talus_build *b = ground_and_two();
    talus_body_spec body = talus_body_spec_default();
    body.shape = talus_build_sphere(b, 1);
    body.density = -2;
    talus_build_body(b, &body);
    check_refused(b, TALUS_BAD_INPUT, "bodies[4].density must be > 0 kg/m^3, got -2");

    b = ground_and_two();
    body.shape = talus_build_sphere(b, 1);
    body.density = NAN;
    talus_build_body(b, &body);
    check_refused(b, TALUS_BAD_INPUT, "bodies[4].density");

    b = ground_and_two();
    talus_build_number(b, "solver.tolerence", 1);
    check_refused(b, TALUS_BAD_INPUT, "did you mean 'tolerance'?");

    b = ground_and_two();
    talus_build_number(b, "os.exit()", 1);
    check_refused(b, TALUS_BAD_INPUT, "'os.exit()' is not a key of a scene");

    b = ground_and_two();
    body = talus_body_spec_default();
    body.shape = 99;
    body.mass = 1;
    assert_int_equal(talus_build_body(b, &body), -1);
    check_refused(b, TALUS_BAD_INPUT, "bodies[4]: 99 is not a shape");

    b = ground_and_two();
    talus_build_mesh(b, "no/such/file.obj", 1);
    check_refused(b, TALUS_IO, "cannot read no/such/file.obj");

    b = ground_and_two();
    talus_material_spec m = talus_material_spec_default();
    m.kind = "sold";
    talus_build_material(b, &m);
    check_refused(b, TALUS_BAD_INPUT, "did you mean 'solid'?");
}

/* Any text survives quoting; every bit of a number does. */
static void values_arrive_as_given(void **state)
{
    (void)state;
    talus_build *b = talus_build_create();
    const char *title = "a \"quoted\" \\ title\nof two lines, 100 %d";
    talus_build_word(b, "title", title);
    talus_build_number(b, "duration", 0.1 + 0.2);
    talus_build_flag(b, "output.frames", 0);
    talus_material_spec m = talus_material_spec_default();
    m.name = "oak", m.density = 700, m.friction = 0.3;
    talus_body_spec body = talus_body_spec_default();
    body.shape = talus_build_capsule(b, (double[]){0, 0, 0}, (double[]){0, 1.0 / 3, 0}, 0.1);
    body.material = talus_build_material(b, &m);
    talus_build_body(b, &body);
    talus_build_contact(b, "oak", "oak", 0.2, TALUS_NOT_GIVEN);
    talus_scene *s = finish(b);
    assert_string_equal(talus_scene_title(s), title);
    CHECK_NEAR(talus_scene_duration(s), 0.1 + 0.2, 0);
    assert_int_equal(talus_scene_count(s, TALUS_PART_CONTACTS), 1);
    talus_scene_free(s);
}

static const double *row(talus_sim *sim, const char *name, int i)
{
    talus_error err = {0};
    talus_view v;
    CHECK_OK(talus_sim_view(sim, name, &v, &err));
    assert_int_equal(v.type, TALUS_FLOAT64);
    assert_true(i < v.count);
    return (const double *)((const char *)v.data + (size_t)i * v.stride);
}

/* Rolling friction of a body, of a material and of a pair: a ball slows down by g mu_r / R / (1 + 2/5). */
static void balls_slow_down(void **state)
{
    (void)state;
    const double mu = 2e-3, radius = 0.1, slows = 10 * mu / radius / 1.4;
    for (int by = 0; by < 3; by++) {
        talus_build *b = talus_build_create();
        talus_build_number(b, "duration", 2);
        talus_build_numbers(b, "gravity", 3, (double[]){0, -10, 0});
        talus_body_spec body = talus_body_spec_default();
        body.shape = talus_build_plane(b, 0);
        body.kind = "static";
        body.name = "ground";
        talus_build_body(b, &body);
        body = talus_body_spec_default();
        body.shape = talus_build_sphere(b, radius);
        body.name = "ball";
        body.at[1] = radius;
        body.velocity[0] = 1;
        body.spin[2] = -1 / radius;
        talus_material_spec m = talus_material_spec_default();
        m.density = 1000;
        m.rolling_friction = by == 1 ? mu : TALUS_NOT_GIVEN;
        body.material = talus_build_material(b, &m);
        body.rolling_friction = by == 0 ? mu : TALUS_NOT_GIVEN;
        talus_build_body(b, &body);
        talus_pair_spec pair = talus_pair_spec_default();
        pair.one = "ball", pair.other = "ground", pair.rolling_friction = mu, pair.spinning_friction = 0.5 * mu;
        if (by == 2) talus_build_pair(b, &pair);
        talus_scene *s = finish(b);
        talus_sim *sim;
        talus_error err = {0};
        CHECK_OK(talus_sim_create(s, NULL, &sim, &err));
        for (int k = 0; k < 100; k++) CHECK_OK(talus_sim_step(sim, 0.01, &err));
        CHECK_REL(row(sim, "bodies.velocity", 1)[0], 1 - slows, 1e-3);
        talus_sim_free(sim);
        talus_scene_free(s);
    }
}

static void texts_are_scenes(void **state)
{
    (void)state;
    talus_error err = {0};
    talus_scene *s;
    const char *hand = "return scene { talus = 1, engine = 'grid', duration = 1, bodies = {"
                       "{ shape = sphere { radius = 1 }, kind = 'kinematic' } } }";
    assert_int_equal(talus_scene_load_text(hand, NULL, NULL, &s, &err), TALUS_BAD_INPUT); /* who would move it? */
    assert_non_null(strstr(err.message, "motion is missing"));
    talus_scene_options o = talus_scene_options_default();
    o.driven = 1;
    CHECK_OK(talus_scene_load_text(hand, NULL, &o, &s, &err));
    talus_scene_free(s);
    const char *file = "return shape_file 'duck'";
    assert_int_equal(talus_scene_load_text(file, NULL, NULL, &s, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "cannot read files"));
}

/* ---- a simulation ---- */

/* Free flight from y = 3.25 with 1.5 m/s along x; the scheme's own error is of the order of dt. */
static void steps_and_views(void **state)
{
    (void)state;
    talus_error err = {0};
    talus_scene *scene = finish(ground_and_two());
    talus_sim *sim;
    CHECK_OK(talus_sim_create(scene, NULL, &sim, &err));
    assert_int_equal(talus_sim_body(sim, "box"), 1);
    assert_int_equal(talus_sim_body(sim, "bax"), -1);
    uint64_t generation = talus_sim_generation(sim), hash = talus_sim_hash(sim);
    CHECK_NEAR(row(sim, "bodies.position", 1)[0], 0, 1e-15);
    CHECK_NEAR(row(sim, "bodies.center", 1)[0], 0.5, 1e-15);
    CHECK_NEAR(row(sim, "bodies.mass", 1)[0], 2, 1e-12);

    CHECK_OK(talus_sim_step(sim, 0.01, &err));
    assert_true(talus_sim_generation(sim) > generation);
    assert_true(talus_sim_hash(sim) != hash);
    CHECK_NEAR(talus_sim_time(sim), 0.01, 1e-15);
    assert_int_equal(talus_sim_steps(sim), 1);
    CHECK_OK(talus_sim_advance(sim, 0.5, &err));
    CHECK_NEAR(talus_sim_time(sim), 0.5, 0);
    CHECK_OK(talus_sim_advance(sim, 0.5, &err)); /* already there */
    CHECK_NEAR(row(sim, "bodies.center", 1)[0], 0.5 + 0.75, 1e-12);
    CHECK_NEAR(row(sim, "bodies.position", 1)[0], 0.75, 1e-12);
    CHECK_NEAR(row(sim, "bodies.center", 1)[1], 3.25 - 0.5 * 10 * 0.25, 0.06);
    CHECK_NEAR(row(sim, "bodies.velocity", 1)[1], -5, 1e-12);
    CHECK_NEAR(row(sim, "bodies.rotation", 1)[0], 1, 1e-12);

    talus_report r;
    talus_sim_report(sim, &r);
    assert_int_equal(r.step, talus_sim_steps(sim));
    CHECK_NEAR(r.time, 0.5, 0);
    CHECK_NEAR(r.kinetic, 0.5 * 2 * (1.5 * 1.5 + 25), 1e-9);
    CHECK_NEAR(r.momentum[0], 3, 1e-12);
    assert_true(r.phases > 0);

    for (int i = 0; talus_sim_view_name(i); i++) {
        talus_view v;
        CHECK_OK(talus_sim_view(sim, talus_sim_view_name(i), &v, &err));
        assert_true(v.components >= 1 && v.stride >= (v.type == TALUS_INT32 ? 4 : 8));
    }
    talus_view v;
    assert_int_equal(talus_sim_view(sim, "bodies.positon", &v, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "did you mean 'bodies.position'?"));
    talus_sim_free(sim);
    talus_scene_free(scene);
}

/* A box at rest on the ground: its contacts carry m g, and lie under it. */
static void contacts_are_seen(void **state)
{
    (void)state;
    talus_error err = {0};
    talus_build *b = ground_and_two();
    talus_body_spec body = talus_body_spec_default();
    body.shape = talus_build_box(b, (double[]){0.4, 0.2, 0.4});
    body.mass = 3;
    body.at[0] = -2, body.at[1] = 0.1;
    int index = talus_build_body(b, &body);
    talus_scene *scene = finish(b);
    talus_sim *sim;
    CHECK_OK(talus_sim_create(scene, NULL, &sim, &err));
    CHECK_OK(talus_sim_advance(sim, 0.1, &err));
    talus_view pair;
    CHECK_OK(talus_sim_view(sim, "contacts.bodies", &pair, &err));
    assert_int_equal(pair.type, TALUS_INT32);
    assert_true(pair.count >= 3);
    double up = 0;
    for (int i = 0; i < pair.count; i++) {
        const int32_t *ab = (const int32_t *)((const char *)pair.data + (size_t)i * pair.stride);
        assert_int_equal(ab[0], 0);
        assert_int_equal(ab[1], index);
        up -= row(sim, "contacts.force", i)[1]; /* on the ground, which is the first of the two */
        CHECK_NEAR(row(sim, "contacts.normal", i)[1], -1, 1e-9);
        CHECK_NEAR(row(sim, "contacts.position", i)[1], 0, 1e-4); /* the depth that contacts settle at */
        assert_true(fabs(row(sim, "contacts.position", i)[0] + 2) < 0.21);
        assert_true(fabs(row(sim, "contacts.gap", i)[0]) < 1e-3);
    }
    CHECK_REL(up, 30.0, 1e-3); /* the solver's own target */
    CHECK_REL(row(sim, "bodies.force", index)[1], 30.0, 1e-3);
    talus_report r;
    talus_sim_report(sim, &r);
    assert_int_equal(r.contacts, pair.count);
    assert_true(r.solves >= 1 && r.solve[0].method && r.solve[0].certificate >= 0);
    talus_sim_free(sim);
    talus_scene_free(scene);
}

static void forces_velocities_poses(void **state)
{
    (void)state;
    talus_error err = {0};
    talus_scene *scene = finish(ground_and_two());
    talus_sim *sim;
    CHECK_OK(talus_sim_create(scene, NULL, &sim, &err));
    CHECK_OK(talus_sim_set_force(sim, 1, (double[]){0, 20 + 4, 0}, NULL, &err)); /* weight, and 2 m/s^2 */
    CHECK_OK(talus_sim_set_velocity(sim, 1, (double[]){0, 0, 0}, NULL, &err));
    CHECK_OK(talus_sim_advance(sim, 0.5, &err));
    CHECK_NEAR(row(sim, "bodies.velocity", 1)[1], 1, 1e-12);
    CHECK_NEAR(row(sim, "bodies.push", 1)[1], 24, 0);
    CHECK_OK(talus_sim_set_force(sim, 1, NULL, (double[]){0, 0.1, 0}, &err));
    CHECK_OK(talus_sim_step(sim, 0.01, &err));
    assert_true(row(sim, "bodies.spin", 1)[1] > 0);

    /* The hand goes where it is told, at constant velocity, and then rests. */
    CHECK_OK(talus_sim_set_pose(sim, 2, (double[]){10.1, 1, 0}, (double[]){2, 0, 0, 0}, &err));
    CHECK_OK(talus_sim_step(sim, 0.01, &err));
    CHECK_NEAR(row(sim, "bodies.position", 2)[0], 10.1, 1e-12);
    CHECK_NEAR(row(sim, "bodies.velocity", 2)[0], 10, 1e-9);
    CHECK_OK(talus_sim_step(sim, 0.01, &err));
    CHECK_NEAR(row(sim, "bodies.position", 2)[0], 10.1, 1e-12);
    CHECK_NEAR(row(sim, "bodies.velocity", 2)[0], 0, 0);
    talus_sim_free(sim);
    talus_scene_free(scene);
}

/* A bar that is held at one end and pulled by its end nodes gets longer by F L / (E A); a free one moves as its mass
 * says, and keeps the forces when it is restored. Both engines that have nodes. */
static void forces_on_nodes(void **state)
{
    (void)state;
    static const char *const engines[] = {"grid", "lg"};
    talus_error err = {0};
    char folder[TL_TEMPDIR_MAX], path[600], text[1024];
    tl_tempdir_create(folder);
    snprintf(path, sizeof path, "%s/state.h5", folder);
    for (int e = 0; e < 2; e++) {
        talus_scene *scene;
        talus_sim *sim, *other;
        snprintf(text, sizeof text,
                 "return scene { talus = 1, engine = '%s', duration = 9, gravity = {0, 0, 0}, bodies = { { name = "
                 "'held', shape = box { size = {1, 0.2, 0.2} }, cells = {5, 1, 1}, anchor = box { size = {0.01, 1, 1}, "
                 "center = {-0.5, 0, 0} }, material = elastic { density = 1000, young = 1e6, poisson = 0 } }, { name = "
                 "'free', at = {0, 3, 0}, shape = box { size = {1, 0.2, 0.2} }, cells = {5, 1, 1}, material = elastic "
                 "{ density = 1000, young = 1e6, poisson = 0 } } } }",
                 engines[e]);
        CHECK_OK(talus_scene_load_text(text, "nodes", NULL, &scene, &err));
        CHECK_OK(talus_sim_create(scene, NULL, &sim, &err));
        CHECK_OK(talus_sim_create(scene, NULL, &other, &err));
        talus_view x, body;
        CHECK_OK(talus_sim_view(sim, "nodes.position", &x, &err));
        CHECK_OK(talus_sim_view(sim, "nodes.body", &body, &err));
        const int64_t nodes = x.count;
        double *force = TL_NEW_ZERO(double, 3 * nodes), *place = TL_NEW(double, 3 * nodes);
        int32_t *owner = TL_NEW(int32_t, nodes);
        int corner = -1;
        memcpy(place, x.data, 3 * sizeof *place * (size_t)nodes);
        memcpy(owner, body.data, sizeof *owner * (size_t)nodes);
        for (int64_t i = 0; i < nodes; i++) {
            if (place[3 * i] < 0.499) continue;
            force[3 * i] = owner[i] == 0 ? 25 : 0; /* four nodes: 100 N over 0.04 m^2 of 1e6 Pa */
            force[3 * i + 2] = owner[i] == 1 ? 1 : 0;
            if (owner[i] == 0) corner = (int)i;
        }
        CHECK_OK(talus_sim_set_node_forces(sim, 0, nodes, force, &err));
        CHECK_NEAR(row(sim, "nodes.push", corner)[0], 25, 0);
        for (int k = 0; k < 50; k++) CHECK_OK(talus_sim_step(sim, 0.1, &err));
        CHECK_NEAR(row(sim, "nodes.position", corner)[0] - place[3 * corner], 100 / (0.04 * 1e6),
                   e == 0 ? 2e-5 : 2e-4); /* lg anchors by springs, which give too */
        CHECK_NEAR(row(sim, "bodies.velocity", 1)[2], 4.0 / 40 * talus_sim_time(sim), 1e-6);

        CHECK_OK(talus_sim_save(sim, path, &err));
        CHECK_OK(talus_sim_restore(other, path, &err));
        CHECK_OK(talus_sim_step(sim, 0.1, &err));
        CHECK_OK(talus_sim_step(other, 0.1, &err));
        assert_true(talus_sim_hash(sim) == talus_sim_hash(other));

        CHECK_OK(talus_sim_set_node_forces(sim, 0, nodes, NULL, &err));
        double v = row(sim, "bodies.velocity", 1)[2];
        CHECK_OK(talus_sim_step(sim, 0.1, &err));
        CHECK_NEAR(row(sim, "bodies.velocity", 1)[2], v, e == 0 ? 1e-7 : 1e-3); /* lg takes two steps to notice */

        uint64_t hash = talus_sim_hash(sim);
        const struct {
            int64_t first, count;
            double value;
            const char *words;
        } wrong[] = {{-1, 1, 1, "from node -1 on"},
                     {0, nodes + 1, 1, "the first is 0"},
                     {nodes, 1, 1, "the first is 0"},
                     {INT64_MAX, 1, 1, "the first is 0"},
                     {3, 1, NAN, "the force on node 3 must be finite, got nan"}};
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            force[0] = wrong[k].value;
            assert_int_equal(talus_sim_set_node_forces(sim, wrong[k].first, wrong[k].count, force, &err),
                             TALUS_BAD_INPUT);
            if (!strstr(err.message, wrong[k].words)) fail_msg("'%s' is not in '%s'", wrong[k].words, err.message);
        }
        assert_true(talus_sim_hash(sim) == hash);
        tl_free(force);
        tl_free(place);
        tl_free(owner);
        talus_sim_free(sim);
        talus_sim_free(other);
        talus_scene_free(scene);
    }
    tl_tempdir_remove(folder);
}

/* Bodies that do not say how fine they are get a mesh that runs; the summary says how many nodes and for how long. */
static void elastic_meshes_are_planned(void **state)
{
    (void)state;
    talus_error err = {0};
    for (int bodies = 1; bodies <= 3; bodies += 2) {
        char text[1200], line[300];
        int n = snprintf(text, sizeof text, "return scene { talus = 1, engine = 'grid', duration = 1, bodies = {");
        for (int b = 0; b < bodies; b++)
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "{ name = 'egg %d', at = {0, %d, 0}, shape = ellipsoid { radii = {0.08, 0.05, 0.05} }, "
                          "material = elastic { density = 1000, young = 1e5, poisson = 0.3 } },",
                          b, b);
        snprintf(text + n, sizeof text - (size_t)n, "} }");
        talus_scene *scene;
        talus_sim *sim;
        talus_view x;
        CHECK_OK(talus_scene_load_text(text, "eggs", NULL, &scene, &err));
        int told = 0;
        for (int i = 0; talus_scene_summary(scene, i, line, sizeof line); i++)
            told |= strstr(line, "finite elements: about 1.5e+03 nodes") && strstr(line, "minutes in all");
        assert_true(told);
        CHECK_OK(talus_sim_create(scene, NULL, &sim, &err));
        CHECK_OK(talus_sim_view(sim, "nodes.position", &x, &err));
        assert_in_range(x.count, 1200, 2000);
        talus_sim_free(sim);
        talus_scene_free(scene);
    }
}

static void wrong_arguments_are_told(void **state)
{
    (void)state;
    talus_error err = {0};
    talus_scene *scene = finish(ground_and_two());
    talus_sim *sim;
    CHECK_OK(talus_sim_create(scene, NULL, &sim, &err));
    uint64_t hash = talus_sim_hash(sim);
    const double up[3] = {0, 1, 0}, bad[3] = {0, NAN, 0}, zero[4] = {0, 0, 0, 0};
#define REFUSED(call, text)                                                                                            \
    do {                                                                                                               \
        assert_int_equal(call, TALUS_BAD_INPUT);                                                                       \
        if (!strstr(err.message, text)) fail_msg("'%s' is not in '%s'", text, err.message);                            \
    } while (0)
    REFUSED(talus_sim_set_force(sim, 3, up, up, &err), "there is no body 3, the scene has 3");
    REFUSED(talus_sim_set_force(sim, -1, up, up, &err), "there is no body -1");
    REFUSED(talus_sim_set_force(sim, 0, up, up, &err), "a force is for free bodies, body 0 (ground) is static");
    REFUSED(talus_sim_set_force(sim, 1, bad, up, &err), "the force of body 1 must be finite, got nan at [1]");
    REFUSED(talus_sim_set_velocity(sim, 2, up, up, &err), "body 2 (hand) is kinematic");
    REFUSED(talus_sim_set_velocity(sim, 1, up, bad, &err), "the spin of body 1");
    REFUSED(talus_sim_set_pose(sim, 1, up, NULL, &err), "a pose is for kinematic bodies");
    REFUSED(talus_sim_set_pose(sim, 2, up, zero, &err), "must not be zero");
    REFUSED(talus_sim_set_node_forces(sim, 0, 0, NULL, &err), "has no elastic bodies");
    REFUSED(talus_sim_step(sim, NAN, &err), "got nan");
    REFUSED(talus_sim_advance(sim, -1, &err), "at least 0 s, got -1 s");
    REFUSED(talus_sim_advance(sim, INFINITY, &err), "must be finite");
    assert_true(talus_sim_hash(sim) == hash); /* nothing was half done */
    talus_sim_free(sim);
    talus_scene_free(scene);
}

static void save_and_restore(void **state)
{
    (void)state;
    talus_error err = {0};
    talus_scene *scene = finish(ground_and_two());
    talus_sim *a, *b;
    char folder[TL_TEMPDIR_MAX], path[600];
    tl_tempdir_create(folder);
    snprintf(path, sizeof path, "%s/state.h5", folder);
    CHECK_OK(talus_sim_create(scene, NULL, &a, &err));
    CHECK_OK(talus_sim_create(scene, NULL, &b, &err));
    CHECK_OK(talus_sim_set_force(a, 1, (double[]){1, 2, 3}, NULL, &err));
    CHECK_OK(talus_sim_advance(a, 0.3, &err));
    CHECK_OK(talus_sim_save(a, path, &err));
    CHECK_OK(talus_sim_advance(a, 1, &err));
    CHECK_OK(talus_sim_restore(b, path, &err));
    CHECK_NEAR(talus_sim_time(b), 0.3, 0);
    CHECK_OK(talus_sim_advance(b, 1, &err));
    assert_true(talus_sim_hash(a) == talus_sim_hash(b));

    uint64_t hash = talus_sim_hash(b);
    remove(path);
    assert_int_not_equal(talus_sim_restore(b, path, &err), TALUS_OK);
    assert_true(talus_sim_hash(b) == hash);
    talus_sim_free(a);
    talus_sim_free(b);
    talus_scene_free(scene);
    tl_tempdir_remove(folder);
}

/* Every allocation of building, creating and looking fails once. */
/* Asked to leave: no step is made, whoever asks for it, and afterwards all goes on as if nothing had been. */
static void cancelled_steps_leave_no_trace(void **state)
{
    (void)state;
    talus_error err = {0};
    talus_scene *scene = finish(ground_and_two());
    talus_sim *a, *b;
    CHECK_OK(talus_sim_create(scene, NULL, &a, &err));
    CHECK_OK(talus_sim_create(scene, NULL, &b, &err));
    for (int i = 0; i < 20; i++) {
        uint64_t before = talus_sim_hash(a), generation = talus_sim_generation(a);
        talus_cancel(1);
        assert_int_equal(talus_sim_step(a, 0, &err), TALUS_INTERRUPTED);
        assert_int_equal(talus_sim_advance(a, 100, &err), TALUS_INTERRUPTED);
        talus_cancel(0);
        assert_true(talus_sim_hash(a) == before && talus_sim_generation(a) == generation);
        CHECK_OK(talus_sim_step(a, 0, &err));
        CHECK_OK(talus_sim_step(b, 0, &err));
        assert_true(talus_sim_hash(a) == talus_sim_hash(b));
    }
    talus_sim_free(a);
    talus_sim_free(b);
    talus_scene_free(scene);
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    for (int64_t k = 1;; k++) {
        talus_error err = {0};
        talus_scene *scene = NULL;
        talus_sim *sim = NULL;
        talus_view v;
        tl_alloc_fail_at(k);
        talus_build *b = talus_build_create();
        talus_status status = b ? TALUS_OK : TALUS_NO_MEMORY;
        if (b) {
            talus_build_number(b, "duration", 2);
            talus_body_spec body = talus_body_spec_default();
            body.shape = talus_build_sphere(b, 1);
            body.mass = 1;
            talus_build_body(b, &body);
            status = talus_build_finish(b, NULL, &scene, &err);
        }
        if (status == TALUS_OK) status = talus_sim_create(scene, NULL, &sim, &err);
        if (status == TALUS_OK) status = talus_sim_view(sim, "contacts.position", &v, &err);
        int happened = tl_alloc_fail_happened();
        tl_alloc_fail_at(0);
        talus_sim_free(sim);
        talus_scene_free(scene);
        talus_build_free(b);
        if (!happened) {
            assert_int_equal(status, TALUS_OK);
            break;
        }
        if (status != TALUS_OK) assert_int_equal(status, TALUS_NO_MEMORY);
    }
}

/* Handles and cables from code: a bar is pulled by 1 mm, its cable pulls as well; what they bear can be looked at, and
 * all of it is part of what is saved. */
static void handles_and_cables_from_code(void **state)
{
    (void)state;
    static const char *const engines[] = {"grid", "lg"};
    talus_error err = {0};
    for (int e = 0; e < 2; e++) {
        char text[900], path[] = "handles.h5";
        talus_scene *scene;
        talus_sim *sim, *other;
        snprintf(text, sizeof text,
                 "return scene { talus = 1, engine = '%s', duration = 9, fps = 20, gravity = {0, 0, 0}, bodies = { { "
                 "name = 'bar', shape = box { size = {1, 0.2, 0.2} }, cells = {5, 1, 1}, anchor = box { size = {0.01, "
                 "1, 1}, center = {-0.5, 0, 0} }, material = elastic { density = 1000, young = 1e6, poisson = 0 } } }, "
                 "handles = { { body = 'bar', shape = box { size = {0.01, 1, 1}, center = {0.5, 0, 0} }, at = {0.5, 0, "
                 "0} } }%s }",
                 engines[e],
                 e ? ", cables = { { body = 'bar', points = { {-0.3, 0.05, 0}, {0.3, 0.05, 0} }, length = 2 } }" : "");
        CHECK_OK(talus_scene_load_text(text, "handles", NULL, &scene, &err));
        CHECK_OK(talus_sim_create(scene, NULL, &sim, &err));
        CHECK_OK(talus_sim_create(scene, NULL, &other, &err));
        talus_view x, holds;
        int end = -1;
        CHECK_OK(talus_sim_view(sim, "nodes.position", &x, &err));
        for (int i = 0; i < x.count; i++)
            if (row(sim, "nodes.position", i)[0] > 0.499) end = i;
        for (int k = 1; k <= 60; k++) {
            CHECK_OK(talus_sim_set_handle(sim, 0, (const double[3]){0.5 + 1e-3 * fmin(1, 0.1 * k), 0, 0}, NULL, &err));
            CHECK_OK(talus_sim_step(sim, 0.05, &err));
        }
        CHECK_NEAR(row(sim, "nodes.position", end)[0], 0.501, e ? 1e-4 : 1e-9); /* lg holds by springs */
        CHECK_OK(talus_sim_view(sim, "holds.force", &holds, &err));
        assert_int_equal(holds.count, e ? 3 : 2); /* anchor, handle, cable */
        CHECK_NEAR(row(sim, "holds.force", 1)[0], 40, 2);
        CHECK_NEAR(row(sim, "holds.force", 0)[0], -row(sim, "holds.force", 1)[0], 0.5);
        if (e) {
            CHECK_OK(talus_sim_set_cable(sim, 0, 0.59, &err));
            for (int k = 0; k < 20; k++) CHECK_OK(talus_sim_step(sim, 0.05, &err));
            assert_true(*row(sim, "holds.tension", 2) > 10);
        }
        CHECK_OK(talus_sim_set_handle(sim, 0, NULL, (const double[4]){2, 0.02, 0, 0}, &err));
        CHECK_OK(talus_sim_save(sim, path, &err));
        CHECK_OK(talus_sim_restore(other, path, &err));
        CHECK_OK(talus_sim_step(sim, 0.05, &err));
        CHECK_OK(talus_sim_step(other, 0.05, &err));
        assert_true(talus_sim_hash(sim) == talus_sim_hash(other));
        REFUSED(talus_sim_set_handle(sim, 1, NULL, NULL, &err), "there is no handle 1, the scene has 1");
        REFUSED(talus_sim_set_handle(sim, 0, (const double[3]){0, NAN, 0}, NULL, &err), "finite, got nan at [1]");
        REFUSED(talus_sim_set_handle(sim, 0, NULL, (const double[4]){0, 0, 0, 0}, &err), "must not be zero");
        REFUSED(talus_sim_set_cable(sim, 1, 1, &err), "there is no cable 1");
        if (e) REFUSED(talus_sim_set_cable(sim, 0, -1, &err), "must be finite and not negative, got -1");
        remove(path);
        talus_sim_free(sim);
        talus_sim_free(other);
        talus_scene_free(scene);
    }
}

/* A cube of no Poisson's ratio under tension all around gets longer by p / E in every direction; what is saved knows
 * of it. */
static void pressure_from_code(void **state)
{
    (void)state;
    char path[] = "sim_api_pressure.h5";
    talus_error err;
    talus_scene *scene;
    talus_sim *sim, *other;
    const char *text = "return scene { talus = 1, engine = 'lg', duration = 1, gravity = {0, 0, 0}, lg = { time = "
                       "'static' }, bodies = "
                       "{ { shape = plane { height = -5 }, kind = 'static' }, { name = 'cube', shape = box { size = 1 "
                       "}, cells = {2, 2, 2}, "
                       "anchor = box { size = 2 }, anchor_weight = 1e-3, pressure = 400, material = elastic { density "
                       "= 1000, young = 1e6, "
                       "poisson = 0, model = 'corotated' } } } }";
    CHECK_OK(talus_scene_load_text(text, "pressure", NULL, &scene, &err));
    CHECK_OK(talus_sim_create(scene, NULL, &sim, &err));
    CHECK_OK(talus_sim_create(scene, NULL, &other, &err));
    talus_view x;
    int corner = -1;
    CHECK_OK(talus_sim_view(sim, "nodes.position", &x, &err));
    for (int i = 0; i < x.count; i++) {
        const double *at = row(sim, "nodes.position", i);
        if (at[0] > 0.4 && at[1] > 0.4 && at[2] > 0.4) corner = i;
    }
    CHECK_OK(talus_sim_set_pressure(sim, 1, 600, &err));
    CHECK_OK(talus_sim_save(sim, path, &err));
    CHECK_OK(talus_sim_restore(other, path, &err));
    CHECK_OK(talus_sim_step(sim, 0.01, &err));
    CHECK_OK(talus_sim_step(other, 0.01, &err));
    for (int k = 0; k < 3; k++) CHECK_NEAR(row(sim, "nodes.position", corner)[k], 0.5 * 1.001, 2e-6);
    assert_true(talus_sim_hash(sim) == talus_sim_hash(other));
    REFUSED(talus_sim_set_pressure(sim, 0, 1, &err), "a pressure is for elastic bodies");
    REFUSED(talus_sim_set_pressure(sim, 2, 1, &err), "there is no body 2, the scene has 2");
    REFUSED(talus_sim_set_pressure(sim, 1, NAN, &err), "must be finite");
    remove(path);
    talus_sim_free(sim);
    talus_sim_free(other);
    talus_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scene_is_built),
        cmocka_unit_test(mistakes_are_told_as_in_files),
        cmocka_unit_test(values_arrive_as_given),
        cmocka_unit_test(balls_slow_down),
        cmocka_unit_test(texts_are_scenes),
        cmocka_unit_test(steps_and_views),
        cmocka_unit_test(contacts_are_seen),
        cmocka_unit_test(forces_velocities_poses),
        cmocka_unit_test(forces_on_nodes),
        cmocka_unit_test(elastic_meshes_are_planned),
        cmocka_unit_test(wrong_arguments_are_told),
        cmocka_unit_test(save_and_restore),
        cmocka_unit_test(no_memory_is_a_status),
        cmocka_unit_test(cancelled_steps_leave_no_trace),
        cmocka_unit_test(handles_and_cables_from_code),
        cmocka_unit_test(pressure_from_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
