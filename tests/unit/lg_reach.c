/* What scenes and code ask of elastic bodies of engine lg acts: forces, torques, velocities, regions; what
 * bodies.csv says of them; what is refused. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "model/lg/whole.h"
#include "rigid.h"
#include "scene/load.h"
#include "tempdir.h"
#include <talus/scene.h>
#include <talus/sim.h>

#define PI_6 0.52359877559829887

static talus_error err;

#define REFUSED(CALL, TEXT)                                                                                            \
    do {                                                                                                               \
        assert_true((CALL) != TALUS_OK);                                                                               \
        if (!strstr(err.message, TEXT)) fail_msg("\"%s\" does not say \"%s\"", err.message, TEXT);                     \
    } while (0)

static const double *row(talus_sim *sim, const char *name, int i)
{
    talus_view v;
    CHECK_OK(talus_sim_view(sim, name, &v, &err));
    return (const double *)(const void *)((const char *)v.data + (size_t)i * v.stride);
}

static const char block[] =
    "return scene { talus = 1, engine = 'lg', duration = 9, fps = 100, gravity = {0, 0, 0}, bodies = { { name = "
    "'block', "
    "shape = box { size = {0.4, 0.2, 0.1} }, at = {1, 2, 3}, cells = {4, 2, 1}, %s material = elastic { "
    "density = 1000, young = 1e6, poisson = 0.3 } } } }";

/* From the scene, from code, and both: v = F t / m, spin = T t / I; a velocity that is set stays. */
static void forces_and_velocities_act(void **state)
{
    (void)state;
    const double mass = 8;
    for (int k = 0; k < 3; k++) {
        char text[700];
        talus_scene *scene;
        talus_sim *sim;
        snprintf(text, sizeof text, block, k == 1 ? "" : "force = {0, 16, 0}, torque = {0, 0, 0.01},");
        CHECK_OK(talus_scene_load_text(text, "block", NULL, &scene, &err));
        CHECK_OK(talus_sim_create(scene, NULL, &sim, &err));
        if (k) CHECK_OK(talus_sim_set_force(sim, 0, (const double[3]){0, 16, 0}, (const double[3]){0, 0, 0.01}, &err));
        for (int i = 0; i < 20; i++) CHECK_OK(talus_sim_step(sim, 0.01, &err));
        const double by = k == 2 ? 2 : 1;
        CHECK_NEAR(row(sim, "bodies.velocity", 0)[1], by * 16 * 0.2 / mass, 2e-3 * by);
        const double spin = row(sim, "bodies.spin", 0)[2], solid = by * 0.01 * 0.2 / (mass * (0.16 + 0.04) / 12);
        printf("spin %.5f, of a rigid box %.5f\n", spin, solid);
        assert_true(spin > 0.7 * solid && spin < 1.05 * solid); /* masses at the corners of cells turn less easily */
        CHECK_OK(talus_sim_set_force(sim, 0, NULL, NULL, &err));
        if (k == 1) {
            CHECK_OK(talus_sim_set_velocity(sim, 0, (const double[3]){3, 0, -1}, (const double[3]){0, 5, 0}, &err));
            CHECK_NEAR(row(sim, "bodies.velocity", 0)[0], 3, 1e-12);
            const double x = row(sim, "bodies.center", 0)[0];
            for (int i = 0; i < 20; i++) CHECK_OK(talus_sim_step(sim, 0.01, &err));
            CHECK_NEAR(row(sim, "bodies.center", 0)[0] - x, 0.6, 1e-6);
            CHECK_NEAR(row(sim, "bodies.velocity", 0)[2], -1, 1e-6);
            CHECK_NEAR(row(sim, "bodies.spin", 0)[1], 5, 0.05);
        }
        talus_sim_free(sim);
        talus_scene_free(scene);
    }
}

/* Turned, moved, and stretched along its own axis: the rotation nearest to it is that turn. */
static void poses_are_those_of_the_best_fit(void **state)
{
    (void)state;
    char text[700];
    snprintf(text, sizeof text,
             "engine = 'lg', gravity = {0, 0, 0}, bodies = { { name = 'block', shape = box { size = {0.4, 0.2, 0.1} }, "
             "at = {1, 2, "
             "3}, rotation_deg = {0, 0, 30}, cells = {4, 2, 1}, spin_rad_per_s = {0, 0, 2}, material = elastic { "
             "density = 1000, "
             "young = 1e5, poisson = 0.3 } } }");
    rigid_case c = rigid_open(NULL, "%s", text);
    double *q = tl_lg_state_of(&c.sim->state)->q;
    const double co = cos(PI_6), si = sin(PI_6); /* along the block */
    for (int64_t i = 0; i < c.sim->lg.nodes; i++) {
        const double x = q[3 * i] - 1, y = q[3 * i + 1] - 2, along = co * x + si * y;
        q[3 * i] += 0.05 * along * co;
        q[3 * i + 1] += 0.05 * along * si;
    }
    for (int k = 0; k < 25; k++) rigid_step(&c, 0.01);
    const tl_motion *m = rigid_body(&c, "block");
    const double angle = 2 * atan2(m->q.z, m->q.w);
    const tl_lg_body *b = &c.sim->lg.body[0];
    const tl_lg_whole now =
        tl_lg_whole_of(&c.sim->lg, b, tl_lg_state_of(&c.sim->state)->q, tl_lg_state_of(&c.sim->state)->v);
    printf("turned by %.5f rad, spin %.5f, mean of nodes %.5f rad/s\n", angle - PI_6, m->w.z, now.spin.z);
    CHECK_NEAR(angle - PI_6, 0.5, 0.02);
    CHECK_NEAR(m->w.z, now.spin.z, 1e-12);
    CHECK_NEAR(m->x.x, 1, 1e-9);
    rigid_close(&c);
}

static void anchors_without_a_node_are_refused(void **state)
{
    (void)state;
    static const char *const held[] = {"anchor = sphere { radius = 0.01, center = {5, 0, 0} }",
                                       "pressure_in = sphere { radius = 0.01, center = {5, 0, 0} }"};
    static const char *const why[] = {"its anchor holds none of its nodes", "its pressure_in holds no triangle"};
    for (int k = 0; k < 2; k++) {
        char text[600];
        rigid_case c;
        snprintf(text, sizeof text,
                 "engine = 'lg', bodies = { { name = 'block', shape = box { size = 1 }, cells = {1, 1, 1}, %s, "
                 "material = elastic { "
                 "density = 1000, young = 1e6, poisson = 0.3 } } }",
                 held[k]);
        REFUSED(rigid_try(&c, NULL, NULL, text, &err), why[k]);
    }
}

/* Two cubes of six tetrahedra in a row, regions 1 and 2: pulled by a force at one end, the one that is ten times as
 * stiff gives a tenth. */
static void regions_have_their_own_stiffness(void **state)
{
    (void)state;
    char folder[TL_TEMPDIR_MAX], path[TL_TEMPDIR_MAX + 40];
    static const int cube[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};
    tl_tempdir_create(folder);
    snprintf(path, sizeof path, "%s/bar.msh", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n12\n");
    for (int i = 0; i < 12; i++) fprintf(f, "%d %d %d %d\n", i + 1, i / 4, i % 2, i / 2 % 2);
    fprintf(f, "$EndNodes\n$Elements\n12\n");
    for (int e = 0; e < 12; e++) {
        fprintf(f, "%d 4 2 %d %d", e + 1, e / 6 + 1, e / 6 + 1);
        for (int k = 0; k < 4; k++) {
            const int bits = cube[e % 6][k], y = bits & 1, z = bits >> 1 & 1, x = bits >> 2;
            fprintf(f, " %d", 4 * (e / 6 + x) + y + 2 * z + 1);
        }
        fprintf(f, "\n");
    }
    fprintf(f, "$EndElements\n");
    fclose(f);
    snprintf(path, sizeof path, "%s/scene.lua", folder);
    f = fopen(path, "w");
    assert_non_null(f);
    fprintf(
        f,
        "return scene { talus = 1, engine = 'lg', duration = 1, gravity = {0, 0, 0}, lg = { time = 'static' }, bodies "
        "= { { "
        "name = 'bar', shape = mesh { file = 'bar.msh' }, anchor = box { size = {0.01, 9, 9} }, anchor_weight = 1e9, "
        "pressure "
        "= 1000, pressure_in = box { size = {0.01, 9, 9}, center = {2, 0, 0} }, material = elastic { density = 1000, "
        "young = 1e5, poisson = 0, model = 'corotated' } } }, regions = { { body = 'bar', region = 2, material = "
        "elastic { "
        "density = 2000, young = 1e6, poisson = 0, model = 'corotated' } } } }");
    fclose(f);
    rigid_case c = {0};
    CHECK_OK(tl_scene_load(&c.scene, path, &(tl_load_options){0}, &err));
    CHECK_OK(tl_sim_create(&c.sim, c.scene, NULL, &err));
    CHECK_OK(tl_sim_step(c.sim, 0.01, INFINITY, &err));
    double at[2] = {0, 0};
    const tl_lg *lg = &c.sim->lg;
    for (int64_t i = 0; i < lg->nodes; i++)
        for (int k = 0; k < 2; k++)
            if (fabs(lg->rest[3 * i] - 1 - k) < 1e-9) at[k] += 0.25 * (tl_lg_state_of(&c.sim->state)->q[3 * i] - 1 - k);
    printf("soft part longer by %.6f, stiff one by %.6f; mass %.1f kg\n", at[0], at[1] - at[0], lg->body[0].mass);
    CHECK_NEAR(at[0], 0.01, 1e-5);
    CHECK_NEAR(at[1] - at[0], 0.001, 1e-6);
    CHECK_NEAR(lg->body[0].mass, 3000, 1e-6);
    rigid_close(&c);
    tl_tempdir_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_and_velocities_act), cmocka_unit_test(poses_are_those_of_the_best_fit),
        cmocka_unit_test(anchors_without_a_node_are_refused), cmocka_unit_test(regions_have_their_own_stiffness)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
