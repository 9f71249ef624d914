/* Every public function with every pointer NULL and every index out of range: a status, or a value that means none. */
#include "lab/bench.h"
#include "lab/validate.h"
#include <math.h>
#include <talus/build.h>
#include <talus/cluster.h>
#include <talus/mesh.h>
#include <talus/program.h>
#include <talus/render.h>
#include <talus/run.h>
#include <talus/sample.h>
#include <talus/scene.h>
#include <talus/sim.h>

#include "check.h"

static talus_error err;

#define REFUSED(call)                                                                                                  \
    do {                                                                                                               \
        err.message[0] = '\0';                                                                                         \
        assert_int_not_equal((call), TALUS_OK);                                                                        \
        assert_true(err.message[0] != '\0');                                                                           \
    } while (0)

static const char text[] = "return scene { talus = 1, engine = 'grid', duration = 1, bodies = { { shape = sphere { "
                           "radius = 0.1 }, density = 1 } } }";
static const int far_away[] = {-1, 1, 1000, INT32_MAX, INT32_MIN};
#define FAR_AWAY ((int)(sizeof far_away / sizeof far_away[0]))

static void scenes(void **state)
{
    (void)state;
    talus_scene *s;
    char line[100];
    REFUSED(talus_scene_load(NULL, NULL, &s, &err));
    REFUSED(talus_scene_load("x.lua", NULL, NULL, &err));
    REFUSED(talus_scene_load_text(NULL, NULL, NULL, &s, &err));
    REFUSED(talus_scene_load_text(text, NULL, NULL, NULL, &err));
    assert_int_equal(talus_scene_load(NULL, NULL, NULL, NULL), TALUS_BAD_INPUT);
    CHECK_OK(talus_scene_load_text(text, NULL, NULL, &s, NULL));
    const talus_scene *none = NULL;
    assert_string_equal(talus_scene_title(none), "");
    assert_string_equal(talus_scene_about(none), "");
    assert_string_equal(talus_scene_figure(none), "");
    assert_string_equal(talus_scene_engine(none), "");
    assert_true(talus_scene_minutes(none) == 0 && talus_scene_duration(none) == 0 && talus_scene_fps(none) == 0);
    assert_int_equal(talus_scene_count(none, TALUS_PART_BODIES), 0);
    assert_string_equal(talus_scene_body_name(none, 0), "");
    for (int i = 0; i < FAR_AWAY; i++) assert_string_equal(talus_scene_body_name(s, far_away[i]), "");
    assert_int_equal(talus_scene_count(s, (talus_scene_part)99), 0);
    assert_int_equal(talus_scene_summary(none, 0, line, 100), 0);
    assert_int_equal(talus_scene_summary(s, 0, NULL, 100), 0);
    assert_int_equal(talus_scene_summary(s, 0, line, 0), 0);
    talus_scene_reference(NULL, NULL);
    talus_scene_free(s);
    talus_scene_free(NULL);
}

/* Of talus/drive.h and what is saved in memory. */
static void drives(talus_sim *s, const double *v, const double *bad)
{
    char room[8];
    talus_sim *other;
    const int32_t id = 0;
    const uint64_t before = talus_sim_hash(s);
    for (int i = 0; i < FAR_AWAY; i++) {
        REFUSED(talus_sim_place(s, far_away[i], v, v, &err));
        REFUSED(talus_sim_set_friction(s, far_away[i], 1, &err));
        REFUSED(talus_sim_add_body(s, far_away[i], v, v, v, v, NULL, &err));
        REFUSED(talus_sim_remove_body(s, far_away[i], &err));
        REFUSED(talus_sim_set_pressure(s, far_away[i], 1, &err));
        REFUSED(talus_sim_set_handle(s, far_away[i], v, v, &err));
        REFUSED(talus_sim_set_cable(s, far_away[i], 1, &err));
        REFUSED(talus_sim_set_motor(s, far_away[i], 1, &err));
        REFUSED(talus_sim_set_rate(s, far_away[i], 1, &err));
        REFUSED(talus_sim_set_material(s, far_away[i], "density", 1, &err));
    }
    REFUSED(talus_sim_place(NULL, 0, v, v, &err));
    REFUSED(talus_sim_place(s, 0, bad, NULL, &err));
    REFUSED(talus_sim_place(s, 0, NULL, bad, &err));
    REFUSED(talus_sim_set_friction(NULL, 0, 1, &err));
    REFUSED(talus_sim_set_friction(s, 0, NAN, &err));
    REFUSED(talus_sim_add_body(NULL, 0, v, v, v, v, NULL, &err));
    REFUSED(talus_sim_add_body(s, 0, NULL, v, v, v, NULL, &err));
    REFUSED(talus_sim_add_body(s, 0, bad, v, v, v, NULL, &err));
    REFUSED(talus_sim_add_body(s, 0, v, bad, v, v, NULL, &err));
    REFUSED(talus_sim_add_body(s, 0, v, v, bad, v, NULL, &err));
    REFUSED(talus_sim_remove_body(NULL, 0, &err));
    REFUSED(talus_sim_set_pressure(NULL, 0, 1, &err));
    REFUSED(talus_sim_set_handle(NULL, 0, v, v, &err));
    REFUSED(talus_sim_set_cable(NULL, 0, 1, &err));
    REFUSED(talus_sim_set_motor(NULL, 0, 1, &err));
    REFUSED(talus_sim_set_rate(NULL, 0, 1, &err));
    REFUSED(talus_sim_set_gravity(NULL, v, &err));
    REFUSED(talus_sim_set_gravity(s, NULL, &err));
    REFUSED(talus_sim_set_gravity(s, bad, &err));
    REFUSED(talus_sim_set_material(NULL, 0, "density", 1, &err));
    REFUSED(talus_sim_set_material(s, 0, NULL, 1, &err));
    REFUSED(talus_sim_add_particles(NULL, 0, 1, v, v, v, NULL, &err));
    REFUSED(talus_sim_add_particles(s, 0, 1, NULL, v, v, NULL, &err));
    REFUSED(talus_sim_add_particles(s, 0, -1, v, v, v, NULL, &err));
    REFUSED(talus_sim_add_particles(s, 0, 1, v, v, v, NULL, &err));
    REFUSED(talus_sim_remove_particles(NULL, 1, &id, &err));
    REFUSED(talus_sim_remove_particles(s, 1, NULL, &err));
    REFUSED(talus_sim_remove_particles(s, -1, &id, &err));
    REFUSED(talus_sim_remove_particles(s, 1, &id, &err));
    REFUSED(talus_sim_clone(NULL, &other, &err));
    REFUSED(talus_sim_clone(s, NULL, &err));
    REFUSED(talus_sim_on_step(NULL, NULL, NULL, NULL, &err));
    REFUSED(talus_sim_save_bytes(NULL, room, sizeof room, &err));
    REFUSED(talus_sim_save_bytes(s, NULL, sizeof room, &err));
    REFUSED(talus_sim_save_bytes(s, room, sizeof room, &err));
    REFUSED(talus_sim_restore_bytes(NULL, room, sizeof room, &err));
    REFUSED(talus_sim_restore_bytes(s, NULL, sizeof room, &err));
    REFUSED(
        talus_sim_restore_bytes(s,
                                "what is this, and whence? It has some more than a hundred letters, so that a whole "
                                "header can be read of it ...................................",
                                140, &err));
    assert_int_equal(talus_sim_bytes(NULL), 0);
    REFUSED(talus_sim_cost(NULL, &(talus_cost){0}, &err));
    REFUSED(talus_sim_cost(s, NULL, &err));
    assert_int_equal(talus_sim_material(NULL, "x"), -1);
    assert_int_equal(talus_sim_material(s, NULL), -1);
    assert_int_equal(talus_sim_joint(NULL, "x"), -1);
    assert_int_equal(talus_sim_joint(s, NULL), -1);
    talus_sim_cancel(NULL, 1);
    talus_view_reference(NULL, NULL);
    assert_int_equal(talus_view_info_at(0, NULL), 0);
    assert_true(talus_sim_hash(s) == before);
}

static void sims(void **state)
{
    (void)state;
    talus_scene *scene;
    talus_sim *s;
    talus_view view;
    const double v[4] = {1, 0, 0, 0}, bad[4] = {NAN, INFINITY, 0, 0};
    CHECK_OK(talus_scene_load_text(text, NULL, NULL, &scene, &err));
    REFUSED(talus_sim_create(NULL, NULL, &s, &err));
    REFUSED(talus_sim_create(scene, NULL, NULL, &err));
    CHECK_OK(talus_sim_create(scene, NULL, &s, NULL));
    REFUSED(talus_sim_step(NULL, 0, &err));
    REFUSED(talus_sim_step(s, NAN, &err));
    REFUSED(talus_sim_advance(NULL, 1, &err));
    REFUSED(talus_sim_advance(s, NAN, &err));
    assert_true(talus_sim_time(NULL) == 0 && talus_sim_steps(NULL) == 0 && talus_sim_hash(NULL) == 0 &&
                talus_sim_generation(NULL) == 0);
    REFUSED(talus_sim_view(NULL, "bodies.mass", &view, &err));
    REFUSED(talus_sim_view(s, NULL, &view, &err));
    REFUSED(talus_sim_view(s, "bodies.mass", NULL, &err));
    REFUSED(talus_sim_view(s, "", &view, &err));
    assert_int_equal(talus_sim_body(NULL, "x"), -1);
    assert_int_equal(talus_sim_body(s, NULL), -1);
    for (int i = 0; i < FAR_AWAY; i++) {
        assert_true(far_away[i] > 0 && far_away[i] < 50 ? talus_sim_view_name(far_away[i]) != NULL
                                                        : !talus_sim_view_name(far_away[i]));
        REFUSED(talus_sim_set_force(s, far_away[i], v, v, &err));
        REFUSED(talus_sim_set_velocity(s, far_away[i], v, v, &err));
        REFUSED(talus_sim_set_pose(s, far_away[i], v, v, &err));
    }
    REFUSED(talus_sim_set_force(NULL, 0, v, v, &err));
    REFUSED(talus_sim_set_node_forces(NULL, 0, 1, v, &err));
    REFUSED(talus_sim_set_velocity(NULL, 0, v, v, &err));
    REFUSED(talus_sim_set_pose(NULL, 0, v, v, &err));
    REFUSED(talus_sim_set_force(s, 0, bad, NULL, &err));
    REFUSED(talus_sim_set_velocity(s, 0, NULL, bad, &err));
    CHECK_OK(talus_sim_set_force(s, 0, NULL, NULL, NULL));
    CHECK_OK(talus_sim_set_velocity(s, 0, NULL, NULL, NULL));
    REFUSED(talus_sim_save(NULL, "x", &err));
    REFUSED(talus_sim_save(s, NULL, &err));
    REFUSED(talus_sim_save(s, "/nowhere/at/all", &err));
    REFUSED(talus_sim_restore(NULL, "x", &err));
    REFUSED(talus_sim_restore(s, NULL, &err));
    REFUSED(talus_sim_restore(s, "/dev/null", &err));
    drives(s, v, bad);
    talus_report report;
    talus_sim_report(s, NULL);
    talus_sim_report(NULL, &report);
    assert_int_equal(report.step, 0);
    talus_sim_report(s, &report);
    talus_sim_free(s);
    talus_sim_free(NULL);
    talus_scene_free(scene);
}

static void builds(void **state)
{
    (void)state;
    const double v[3] = {1, 1, 1};
    const int shapes[2] = {0, 0};
    talus_build *none = NULL;
    talus_scene *s;
    talus_build_free(none);
    talus_build_number(none, "x", 1);
    talus_build_numbers(none, "x", 1, v);
    talus_build_flag(none, "x", 1);
    talus_build_word(none, "x", "y");
    talus_build_contact(none, "a", "b", 1, 1);
    talus_build_pair(none, NULL);
    talus_build_fill(none, 0, 0, v);
    talus_build_domain(none, v, v);
    assert_null(talus_build_text(none));
    REFUSED(talus_build_finish(none, NULL, &s, &err));
    assert_int_equal(talus_build_box(none, v), -1);
    assert_int_equal(talus_build_sphere(none, 1), -1);
    assert_int_equal(talus_build_cylinder(none, 1, 1), -1);
    assert_int_equal(talus_build_plane(none, 0), -1);
    assert_int_equal(talus_build_intersect(none, 2, shapes), -1);
    assert_int_equal(talus_build_subtract(none, 2, NULL), -1);
    assert_int_equal(talus_build_place(none, 0, v, NULL), -1);
    for (int i = 0; i < 19; i++) { /* one mistake each; the builder tells it at the end */
        talus_build *b = talus_build_create();
        switch (i) {
        case 0: talus_build_number(b, NULL, 1); break;
        case 1: talus_build_numbers(b, NULL, 3, v); break;
        case 2: talus_build_numbers(b, "gravity", 3, NULL); break;
        case 3: talus_build_word(b, "engine", NULL); break;
        case 4: talus_build_word(b, NULL, "x"); break;
        case 5: assert_int_equal(talus_build_box(b, NULL), -1); break;
        case 6: assert_int_equal(talus_build_capsule(b, NULL, v, 1), -1); break;
        case 7: assert_int_equal(talus_build_half_space(b, v, NULL), -1); break;
        case 8: assert_int_equal(talus_build_mesh(b, NULL, 1), -1); break;
        case 9: assert_int_equal(talus_build_union(b, 2, NULL), -1); break;
        case 10: assert_int_equal(talus_build_union(b, 2, shapes), -1); break;
        case 11: assert_int_equal(talus_build_shape(b, NULL), -1); break;
        case 12: assert_int_equal(talus_build_material(b, NULL), -1); break;
        case 13: assert_int_equal(talus_build_preset(b, NULL), -1); break;
        case 14: assert_int_equal(talus_build_body(b, NULL), -1); break;
        case 15: talus_build_contact(b, NULL, "b", 1, 1); break;
        case 16: talus_build_domain(b, v, NULL); break;
        case 17: talus_build_pair(b, NULL); break;
        case 18: talus_build_pair(b, &(talus_pair_spec){.one = "a"}); break;
        }
        REFUSED(talus_build_finish(b, NULL, &s, &err));
        REFUSED(talus_build_finish(b, NULL, NULL, &err));
        talus_build_free(b);
    }
}

static void files(void **state)
{
    (void)state;
    talus_mesh *m;
    talus_verdict verdict;
    const char *name, *value;
    int count;
    REFUSED(talus_run(NULL, NULL, NULL, &err));
    REFUSED(talus_cluster_begin(NULL, NULL, NULL, &err));
    REFUSED(talus_cluster_begin("/nowhere/libtalus-cluster.so", NULL, NULL, &err));
    talus_cluster_cost plan;
    REFUSED(talus_cluster_plan(NULL, 2, &plan, &err));
    talus_cluster_end();
    REFUSED(talus_run_verdict(NULL, &verdict, &err));
    REFUSED(talus_run_verdict("/nowhere", NULL, &err));
    REFUSED(talus_render_run(NULL, 0, -1, NULL, &err));
    REFUSED(talus_render_file(NULL, "x.png", NULL, &err));
    REFUSED(talus_render_file("x.lua", NULL, NULL, &err));
    REFUSED(talus_export(NULL, "ply", -1, "x", NULL, &err));
    REFUSED(talus_export("x", NULL, -1, "x", NULL, &err));
    REFUSED(talus_export("x", "ply", -1, NULL, NULL, &err));
    REFUSED(talus_mesh_from_shape(NULL, NULL, &m, &err));
    REFUSED(talus_mesh_from_shape("sphere { radius = 1 }", NULL, NULL, &err));
    REFUSED(talus_mesh_read(NULL, &m, &err));
    REFUSED(talus_mesh_read("x.obj", NULL, &err));
    REFUSED(talus_mesh_write(NULL, "x.obj", &err));
    REFUSED(talus_mesh_writable(TALUS_MESH_SURFACE, NULL, &err));
    REFUSED(talus_mesh_again(NULL, NULL, &m, &err));
    assert_int_equal(talus_mesh_is_file(NULL), 0);
    assert_int_equal(talus_mesh_figure(NULL, 0, &name, &value), 0);
    assert_null(talus_mesh_note(NULL, 0));
    assert_null(talus_mesh_vertices(NULL, &count));
    assert_null(talus_mesh_elements(NULL, &count));
    (void)talus_mesh_kind_of(NULL);
    talus_mesh_free(NULL);
    REFUSED(talus_bench_run(NULL, NULL, NULL, &err));
    REFUSED(talus_validate_run(0, NULL, NULL, NULL, &err));
    for (int i = 0; i < FAR_AWAY; i++) {
        if (far_away[i] > 0 && far_away[i] < 100) continue;
        assert_null(talus_bench_name(far_away[i]));
        assert_null(talus_render_view(far_away[i]));
        REFUSED(talus_validate_run(far_away[i], NULL, NULL, NULL, &err));
    }
    assert_null(talus_nearest_name(NULL, NULL));
    const int threads = talus_threads();
    talus_threads_set(-5);
    assert_int_equal(talus_threads(), 1);
    talus_threads_set(threads);
    assert_int_equal(talus_abi(), TALUS_ABI);
    assert_true(talus_sample_latin(1, 0, 5, 5) == 0 && talus_sample_latin(1, 0, -1, 5) == 0);
    assert_true(talus_sample_random(1, -1, -1) >= 0 && talus_sample_random(1, -1, -1) < 1);
    assert_int_equal(talus_signals_end(), 0); /* without a begin */
    talus_signals_begin();
    assert_int_equal(talus_signals_end(), 0);
    assert_non_null(talus_status_name((talus_status)99));
    talus_plain_text(NULL, NULL, 0);
    talus_program_start(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scenes), cmocka_unit_test(sims), cmocka_unit_test(builds),
                                       cmocka_unit_test(files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
