#include "check.h"

#include "model/rigid/motion.h"
#include "rigid.h"

#define STEPS 10000

/* A box of three different edges, thrown near its unstable axis, dt 10 ms, 100 s. Torque-free: angular momentum is
 * constant, and so is the energy. 1e-6 and 1e-3 are asked; the midpoint rule keeps the first to rounding and lets
 * the second swing, not drift. */
static void free_rotation_keeps_angular_momentum_and_energy(void **state)
{
    (void)state;
    static const double spins[][3] = {{0.1, 3, 0.05}, {0.3, 10, 0.2}, {8, 2, -5}};
    for (int k = 0; k < 3; k++) {
        rigid_case c =
            rigid_open(NULL,
                       "gravity = {0, 0, 0}, bodies = { { name = 'b', shape = box { size = {0.4, 0.2, 0.1} }, "
                       "density = 1000, rotation_deg = {10, 20, 30}, velocity = {0.5, 0, 0}, "
                       "spin_rad_per_s = {%g, %g, %g} } }",
                       spins[k][0], spins[k][1], spins[k][2]);
        rigid_step(&c, 1e-9);
        tl_report first = c.sim->report;
        double swing = 0;
        for (int i = 0; i < STEPS; i++) {
            rigid_step(&c, 0.01);
            swing = fmax(swing, fabs(c.sim->report.kinetic / first.kinetic - 1));
        }
        tl_vec3 off = tl_vec3_sub(c.sim->report.angular_momentum, first.angular_momentum);
        CHECK_LE(tl_vec3_norm(off) / tl_vec3_norm(first.angular_momentum), 1e-6);
        CHECK_LE(swing, 1e-3);
        CHECK_NEAR(rigid_body(&c, "b")->x.x, 0.5 * STEPS * 0.01, 1e-9);
        rigid_close(&c);
    }
}

/* Forces of the scene, of the caller and gravity add up: semi-implicit Euler gives v = a t exactly. */
static void forces_add_up(void **state)
{
    (void)state;
    rigid_case c =
        rigid_open(NULL, "gravity = {0, -10, 0}, bodies = { { name = 'b', shape = sphere { radius = 0.1 }, "
                         "mass = 2, force = function(t) return {2 * t, 0, 0} end, torque = {0, 0, 0.004} } }");
    c.sim->state.rigid.body[0].force = (tl_vec3){0, 0, 6};
    for (int i = 0; i < 100; i++) rigid_step(&c, 0.01);
    const tl_motion *m = rigid_body(&c, "b");
    CHECK_NEAR(m->v.x, 0.01 * 0.01 * 99 * 100 / 2, 1e-12); /* sum of dt t / m over the starts of the steps */
    CHECK_NEAR(m->v.y, -10, 1e-12);
    CHECK_NEAR(m->v.z, 3, 1e-12);
    CHECK_NEAR(m->w.z, 0.004 / (0.4 * 2 * 0.01), 1e-12);
    rigid_close(&c);
}

/* A scripted body is where its script says, and its velocity is the difference of poses. */
static void scripted_bodies_follow_exactly(void **state)
{
    (void)state;
    rigid_case c =
        rigid_open(NULL, "bodies = { { name = 'k', shape = box { size = {1, 1, 1} }, motion = function(t) return { "
                         "at = {t * t, 0, 0}, rotation_rad = {0, 0, 2 * t} } end } }");
    rigid_run(&c, 1);
    const tl_motion *m = rigid_body(&c, "k");
    CHECK_NEAR(m->x.x, 1, 1e-12);
    CHECK_NEAR(m->v.x, (1 - 0.99 * 0.99) / 0.01, 1e-9);
    CHECK_NEAR(m->w.z, 2, 1e-9);
    rigid_close(&c);
}

/* Frames come exactly on time, whatever dt_max is. */
static void frames_are_on_time(void **state)
{
    (void)state;
    rigid_case c =
        rigid_open(NULL, "fps = 30, dt_max = 0.007, bodies = { { shape = sphere { radius = 0.1 }, mass = 2 } }");
    talus_error err;
    for (int k = 1; k <= 30; k++) {
        CHECK_OK(tl_sim_frame(c.sim, NULL, NULL, &err));
        assert_true(c.sim->state.t == k / 30.0);
        assert_int_equal(c.sim->state.frame, k);
    }
    assert_int_equal(c.sim->state.step, 150); /* 1/30 s in 5 equal steps */
    rigid_close(&c);
}

/* Two equal moments of inertia: a closed form, so that one long step and many short ones end in the same place. */
static void symmetric_tops_fly_exactly(void **state)
{
    (void)state;
    static const char *const shapes[] = {"cylinder { radius = 0.1, height = 0.3, rotation_deg = {20, 40, 60} }",
                                         "cone { radius = 0.1, height = 0.1 }", "box { size = {0.1, 0.1, 0.4} }",
                                         "torus { radius = 0.1, tube = 0.03 }"};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        tl_motion end[2];
        for (int fine = 0; fine < 2; fine++) {
            rigid_case c = rigid_open(
                NULL,
                "fps = 10, dt_max = 0.1, gravity = {0, 0, 0}, bodies = { { name = 'b', shape = %s, density = 1000, "
                "rotation_deg = {10, 20, 30}, spin_rad_per_s = {20, 5, -30} } }",
                shapes[k]);
            for (int step = 0; step < (fine ? 1000 : 2); step++) rigid_step(&c, fine ? 2e-4 : 0.1);
            end[fine] = *rigid_body(&c, "b");
            rigid_close(&c);
        }
        CHECK_NEAR(tl_vec3_norm(tl_quat_difference(end[0].q, end[1].q)), 0, 1e-9);
        CHECK_NEAR(tl_vec3_norm(tl_vec3_sub(end[0].w, end[1].w)), 0, 1e-8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symmetric_tops_fly_exactly),
        cmocka_unit_test(free_rotation_keeps_angular_momentum_and_energy),
        cmocka_unit_test(forces_add_up),
        cmocka_unit_test(scripted_bodies_follow_exactly),
        cmocka_unit_test(frames_are_on_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
