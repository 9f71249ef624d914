/* An engine is a folder and a line: the toy of this folder in a scene, its views, a run that is cut and resumed, its
 * frames and accounts. */
#include <stdio.h>
#include <string.h>
#include <talus/run.h>
#include <talus/sim.h>

#include "check.h"
#include "tempdir.h"

static const char text[] = "return scene { talus = 1, engine = 'toy', duration = 1, fps = 20, gravity = {0, -10, 0}, "
                           "bodies = { { kind = 'static', shape = plane { height = 0 } } } }";

/* Height of a point that fell from 1 m and bounces for ever, t seconds later. */
static double height(double t)
{
    double fall = sqrt(2 / 10.0), since = fmod(t + fall, 2 * fall) - fall; /* since the last top */
    return 1 - 5 * since * since;
}

static double seen(talus_sim *sim, const char *name, int component)
{
    talus_error err = {0};
    talus_view v;
    CHECK_OK(talus_sim_view(sim, name, &v, &err));
    assert_int_equal(v.count, 1);
    return ((const double *)v.data)[component];
}

static void it_bounces(void **state)
{
    (void)state;
    talus_error err = {0};
    talus_scene *scene;
    talus_sim *sim;
    CHECK_OK(talus_scene_load_text(text, "toy.lua", NULL, &scene, &err));
    assert_string_equal(talus_scene_engine(scene), "toy");
    CHECK_OK(talus_sim_create(scene, NULL, &sim, &err));
    for (double t = 0.03; t < 4; t += 0.17) {
        CHECK_OK(talus_sim_advance(sim, t, &err));
        CHECK_NEAR(seen(sim, "points.position", 1), height(t), 1e-9);
        CHECK_NEAR(0.5 * pow(seen(sim, "points.velocity", 1), 2) + 10 * seen(sim, "points.position", 1), 10, 1e-9);
    }
    talus_sim_free(sim);
    talus_scene_free(scene);
}

static void bodies_are_refused(void **state)
{
    (void)state;
    talus_error err = {0};
    talus_scene *scene;
    talus_sim *sim;
    CHECK_OK(talus_scene_load_text("return scene { talus = 1, engine = 'toy', duration = 1, bodies = { { shape = "
                                   "sphere { radius = 1 }, density = 1 } } }",
                                   "toy.lua", NULL, &scene, &err));
    assert_int_equal(talus_sim_create(scene, NULL, &sim, &err), TALUS_BAD_INPUT);
    assert_non_null(strstr(err.message, "no other bodies"));
    talus_scene_free(scene);
}

static int exists(const char *folder, const char *file)
{
    char path[TL_TEMPDIR_MAX + 64];
    snprintf(path, sizeof path, "%s/run/%s", folder, file);
    FILE *f = fopen(path, "r");
    if (f) fclose(f);
    return f != NULL;
}

static void a_run_has_frames_and_goes_on(void **state)
{
    (void)state;
    talus_error err = {0};
    char dir[TL_TEMPDIR_MAX], scene[TL_TEMPDIR_MAX + 16], folder[TL_TEMPDIR_MAX + 16];
    tl_tempdir_create(dir);
    snprintf(scene, sizeof scene, "%s/toy.lua", dir);
    snprintf(folder, sizeof folder, "%s/run", dir);
    FILE *f = fopen(scene, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    talus_run_options o = talus_run_options_default();
    talus_run_result whole, first, rest;
    o.folder = folder;
    o.no_pictures = 1;
    o.frames = 7;
    CHECK_OK(talus_run(scene, &o, &first, &err));
    assert_true(exists(dir, "frames/points-0007.vtp") && !exists(dir, "frames/points-0008.vtp"));
    o.frames = 0;
    o.resume = 1;
    CHECK_OK(talus_run(scene, &o, &rest, &err));
    assert_true(exists(dir, "frames/points-0020.vtp") && exists(dir, "run.pvd"));
    talus_verdict v;
    CHECK_OK(talus_run_verdict(folder, &v, &err));
    assert_int_equal(v.bad, 0);
    snprintf(folder, sizeof folder, "%s/two", dir);
    o.resume = 0;
    CHECK_OK(talus_run(scene, &o, &whole, &err));
    assert_true(whole.hash == rest.hash && whole.hash != first.hash);
    tl_tempdir_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_bounces),
        cmocka_unit_test(bodies_are_refused),
        cmocka_unit_test(a_run_has_frames_and_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
