/* Impacts at dt = 10 ms: momentum, bounce, depth, and nothing passes through anything. */
#include "check.h"

#include <string.h>

#include "model/rigid/motion.h"
#include "rigid.h"

static double phase_seconds(const tl_report *r, const char *name)
{
    for (int k = 0; k < r->phases; k++)
        if (!strcmp(r->phase[k].name, name)) return r->phase[k].seconds;
    fail_msg("there is no phase %s", name);
    return NAN;
}

/* Two boxes that hit each other askew, in space: momentum is kept to rounding by every method, however early it is
 * stopped, because velocities come from impulses at common points. So is angular momentum without restitution; with
 * it, bodies move on the velocities before the bounce, and x cross p does not know. */
static void colliding_bodies_keep_momentum(void **state)
{
    (void)state;
    static const char *const methods[] = {"newton-shift", "pgs", "apgd-shift", "admm", "staggered"};
    static const int caps[] = {1, 3, 10, 100};
    for (int m = 0; m < 5; m++)
        for (int k = 0; k < 8; k++) {
            double e = k % 2 ? 0.3 : 0;
            rigid_case c = rigid_open(NULL,
                                      "gravity = {0, 0, 0}, solver = { contact = { method = '%s', iterations = %d } }, "
                                      "bodies = { { shape = box { size = {0.3, 0.2, "
                                      "0.1} }, at = {-0.3, 0.05, 0}, rotation_deg = {20, 30, 40}, velocity = {2, 0.1, "
                                      "0}, spin_rad_per_s = {1, 2, 3}, mass = 3, friction "
                                      "= 0.4 }, { shape = box { size = {0.2, 0.2, 0.2} }, at = {0.2, 0, 0}, "
                                      "rotation_deg = {5, 15, 70}, velocity = {-1, 0, 0.2}, mass = "
                                      "0.5, friction = 0.4, restitution = %g } }",
                                      methods[m], caps[k / 2], e);
            rigid_step(&c, 1e-9);
            tl_report first = c.sim->report;
            bool touched = false;
            for (int i = 0; i < 30; i++) {
                rigid_step(&c, 0.01);
                touched |= c.sim->report.touching > 0;
                CHECK_LE(tl_vec3_norm(tl_vec3_sub(c.sim->report.momentum, first.momentum)), 1e-12);
                if (e > 0) continue;
                /* a push out of an overlap shifts places, too: only where the phase did nothing */
                if (phase_seconds(&c.sim->report, "stabilise") == 0)
                    CHECK_LE(tl_vec3_norm(tl_vec3_sub(c.sim->report.angular_momentum, first.angular_momentum)), 1e-12);
                else
                    first.angular_momentum = c.sim->report.angular_momentum;
            }
            assert_true(touched || caps[k / 2] < 100); /* some need a few iterations to push at all */
            rigid_close(&c);
        }
}

/* A ball dropped from h comes back to e^2 h. */
static void ball_bounces_to_its_height(void **state)
{
    (void)state;
    static const double es[] = {0.3, 0.5, 0.8, 1};
    for (int k = 0; k < 4; k++) {
        rigid_case c = rigid_open(NULL,
                                  "bodies = { { kind = 'static', shape = plane {}, friction = 0.3 }, { name = 'ball', "
                                  "shape = sphere { radius = 0.1 }, at "
                                  "= {0, 1.1, 0}, mass = 1, friction = 0.3, restitution = %g } }",
                                  es[k]);
        double top = 0;
        bool fell = false;
        while (c.sim->state.t < 1.3) {
            rigid_step(&c, 0.01);
            const tl_motion *m = rigid_body(&c, "ball");
            fell |= m->v.y > 0;
            if (fell) top = fmax(top, m->x.y - 0.1);
        }
        /* seen every 10 ms: the highest place may be 5 ms, or 1.2e-4 m, away */
        CHECK_NEAR(top, es[k] * es[k], 1.5e-4);
        rigid_close(&c);
    }
}

/* A box that bounces comes to rest: the bounces below 2 g dt are none. */
static void bouncing_box_comes_to_rest(void **state)
{
    (void)state;
    rigid_case c = rigid_open(NULL, "bodies = { { kind = 'static', shape = plane {}, friction = 0.5 }, { name = 'b', "
                                    "shape = box { size = 0.2 }, at = {0, 0.6, "
                                    "0}, rotation_deg = {10, 20, 30}, mass = 8, friction = 0.5, restitution = 0.5 } }");
    double energy = INFINITY;
    while (c.sim->state.t < 4) {
        rigid_step(&c, 0.01);
        double now = c.sim->report.kinetic + c.sim->report.potential;
        assert_true(now <
                    energy + 0.02 * 8 * 9.81 * 0.6); /* one bounce may gain what a step of gravity is worth, no more */
        energy = now;
    }
    CHECK_LE(c.sim->report.kinetic, 1e-12);
    CHECK_NEAR(rigid_body(&c, "b")->x.y, 0.1, 2e-4);
    rigid_close(&c);
}

/* Equal balls, head on, e = 1: velocities are exchanged. */
static void equal_balls_exchange_velocities(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL, "gravity = {0, 0, 0}, bodies = { { name = 'a', shape = sphere { radius = 0.1 }, at = {-0.5, 0, 0}, "
              "velocity = {2, 0, 0}, mass "
              "= 1, restitution = 1 }, { name = 'b', shape = sphere { radius = 0.1 }, mass = 1, restitution = 1 } }");
    rigid_run(&c, 0.5);
    CHECK_NEAR(rigid_body(&c, "a")->v.x, 0, 1e-4);
    CHECK_NEAR(rigid_body(&c, "b")->v.x, 2, 1e-4);
    CHECK_NEAR(c.sim->report.kinetic, 2, 1e-3);
    rigid_close(&c);
}

/* Deepest overlap of any pair as it is, found from the poses alone; as a part of the smaller body. */
static double deepest_part(const rigid_case *c)
{
    const tl_rigid *r = &c->sim->rigid;
    double max = 0;
    for (int32_t i = 0; i < r->scene_count; i++)
        for (int32_t j = i + 1; j < r->scene_count; j++) {
            tl_pose a = tl_rigid_pose(&r->body[i], &c->sim->state.rigid.body[i]);
            tl_pose b = tl_rigid_pose(&r->body[j], &c->sim->state.rigid.body[j]);
            tl_touch touch[TL_TOUCHES_MAX];
            int32_t axis = 0;
            int n = tl_collide(r->body[i].collider, &a, r->body[j].collider, &b, 0, &axis, touch);
            for (int k = 0; k < n; k++) max = fmax(max, -touch[k].gap / fmin(r->body[i].extent, r->body[j].extent));
        }
    return max;
}

static const char bin_lua[] =
    "local s = 7\n"
    "local function r() s = (s * 1103515245 + 12345) % 2147483648 return s / 2147483648 end\n"
    "function bin(n, spin)\n"
    "  local b = { { kind = 'static', shape = plane {}, friction = 0.5 } }\n"
    "  for k, n in ipairs { {1, 0, 0}, {-1, 0, 0}, {0, 0, 1}, {0, 0, -1} } do b[#b + 1] = { kind = 'static', friction "
    "= 0.5,\n"
    "    shape = half_space { normal = n, point = {-0.5 * n[1], 0, -0.5 * n[3]} } } end\n"
    "  for i = 0, n - 1 do b[#b + 1] = { shape = box { size = {0.1 + 0.1 * r(), 0.1 + 0.1 * r(), 0.1 + 0.1 * r()} }, "
    "density = 500, friction = 0.5,\n"
    "    at = {(i % 3 - 1) * 0.32, 0.3 + 0.35 * math.floor(i / 9), (math.floor(i / 3) % 3 - 1) * 0.32}, rotation_deg = "
    "{360 * r(), 360 * r(), 360 * r()},\n"
    "    velocity = {0, -3, 0}, spin_rad_per_s = {spin * (r() - 0.5), spin * (r() - 0.5), spin * (r() - 0.5)} } end\n"
    "  return b\n"
    "end\n";

/* Boxes of 0.1 to 0.2 m thrown into a bin at 3 m/s, turning at up to 17 rad/s: no overlap beyond 1 %, and they come
 * to rest. */
static void turning_boxes_do_not_sink_in(void **state)
{
    (void)state;
    rigid_case c = rigid_open(bin_lua, "bodies = bin(36, 20)");
    double deepest = 0, first = 0, last = 0;
    while (c.sim->state.t < 4) {
        rigid_step(&c, 0.01);
        deepest = fmax(deepest, deepest_part(&c));
        /* heights are above the floor: neither contacts nor pushing out may give energy */
        double energy = c.sim->report.kinetic + c.sim->report.potential;
        if (c.sim->state.step == 1) first = last = energy;
        CHECK_LE(energy - last, 1e-4 * first);
        last = energy;
    }
    CHECK_LE(deepest, 0.01);
    CHECK_LE(c.sim->report.kinetic / 36, 1e-8);
    CHECK_LE(c.sim->report.penetration, 1.1 * 2e-3 * 0.1); /* the slop: of the smallest box */
    rigid_close(&c);
}

/* Deepest overlap of any two shapes as they are now, every pair looked at. */
static double deepest_of_all(const rigid_case *c)
{
    const tl_rigid *r = &c->sim->rigid;
    double depth = 0;
    for (int32_t i = 0; i < r->count; i++)
        for (int32_t j = i + 1; j < r->count; j++) {
            tl_touch touch[TL_TOUCHES_MAX];
            int32_t axis = 0;
            if (r->body[i].kind != TL_BODY_FREE && r->body[j].kind != TL_BODY_FREE) continue;
            tl_motion still = {.q = {1, 0, 0, 0}};
            const tl_motion *m = c->sim->state.rigid.body;
            tl_pose a = tl_rigid_pose(&r->body[i], i < r->scene_count ? &m[i] : &still),
                    b = tl_rigid_pose(&r->body[j], j < r->scene_count ? &m[j] : &still);
            int count = tl_collide(r->body[i].collider, &a, r->body[j].collider, &b, 0, &axis, touch);
            for (int k = 0; k < count; k++) depth = fmax(depth, -touch[k].gap);
        }
    return depth;
}

/* What is told is how deep shapes are in each other where the step has put them, in every engine that has bodies. */
static void told_depth_is_that_of_shapes(void **state)
{
    (void)state;
    static const char *const scene[] = {"bodies = bin(18, 20)",
                                        "engine = 'sph', sph = { spacing = 0.04 }, bodies = bin(4, 5), dt_max = 2e-3"};
    for (int k = 0; k < 2; k++) {
        rigid_case c = rigid_open(bin_lua, "%s", scene[k]);
        double most = 0;
        for (int i = 0; i < (k ? 150 : 100); i++) {
            rigid_step(&c, k ? 2e-3 : 0.01);
            double depth = deepest_of_all(&c);
            CHECK_NEAR(c.sim->report.penetration, depth, 1e-12 + 1e-3 * depth); /* axes that were kept */
            most = fmax(most, depth);
        }
        assert_true(most > 1e-5); /* there was something to see */
        rigid_close(&c);
    }
}

/* An oblique impact with friction that bounces: momentum and angular momentum stay to rounding, and the bodies part.
 * With the levers of the start of the step 2e-2 of the latter was lost. */
static void bounce_keeps_angular_momentum(void **state)
{
    (void)state;
    static const char *const shape[] = {"sphere { radius = 0.1 }", "box { size = {0.2, 0.2, 0.2} }"};
    for (int k = 0; k < 2; k++) {
        rigid_case c = rigid_open(
            NULL,
            "gravity = {0, 0, 0}, bodies = { { shape = %s, at = {-0.3, 0.1, 0}, velocity = {1, 0, 0}, spin_rad_per_s = "
            "{0, 1, 2}, density = 1000, friction = 0.3, restitution = 0.9 }, { shape = %s, at = {0.3, 0, 0}, "
            "velocity = {-0.5, 0, 0}, density = 1000, friction = 0.3, restitution = 0.9 } }",
            shape[k], shape[k]);
        rigid_step(&c, 0.01);
        tl_vec3 p = c.sim->report.momentum, L = c.sim->report.angular_momentum;
        rigid_run(&c, 1);
        CHECK_LE(tl_vec3_norm(tl_vec3_sub(c.sim->report.momentum, p)), 1e-12);
        CHECK_LE(tl_vec3_norm(tl_vec3_sub(c.sim->report.angular_momentum, L)), 1e-12);
        assert_true(c.sim->state.rigid.body[1].v.x > 0.1); /* it was met */
        rigid_close(&c);
    }
}

/* A ball thrown at the ground: it parts at e times its normal speed whatever friction does, without friction it does
 * not turn, with much it rolls; only friction and what e leaves out take energy, and angular momentum is accounted for
 * while it flies and when it lands. */
static void oblique_bounces(void **state)
{
    (void)state;
    static const double friction[] = {0, 0.03, 0.3, 1};
    for (int k = 0; k < 8; k++) {
        const double mu = friction[k / 2], e = k % 2 ? 0.6 : 1, down = sqrt(2 * 9.81 * 0.4);
        rigid_case c =
            rigid_open(NULL,
                       "bodies = { { kind = 'static', shape = plane {}, friction = %g, restitution = %g }, { "
                       "name = 'ball', shape = sphere { radius = 0.1 }, mass = 2, at = {0, 0.5, 0}, velocity "
                       "= {3, 0, 0}, friction = %g, restitution = %g } }",
                       mu, e, mu, e);
        double rubbed = 0;
        while (rigid_body(&c, "ball")->v.y <= 0) {
            rigid_step(&c, 0.01);
            const tl_accounts *a = &c.sim->report.accounts;
            rubbed += a->energy[TL_ENERGY_FRICTION];
            CHECK_LE(fabs(a->energy_unexplained), 1e-9);
            CHECK_LE(tl_vec3_norm(a->angular_unexplained), 1e-12);
        }
        const tl_motion *m = rigid_body(&c, "ball");
        const double push = 2 * (1 + e) * down * mu, slip = 3 - 1.75 * push; /* 1/m + r^2/I = 1.75 / kg */
        CHECK_NEAR(m->v.y, e * down, 1e-3 * down);
        CHECK_NEAR(m->v.x + 0.1 * m->w.z, fmax(0, slip), 0.05);
        if (mu == 0) CHECK_LE(fabs(m->w.z), 1e-12);
        if (mu > 0) assert_true(rubbed < 0);
        rigid_close(&c);
    }
}

/* 50 m/s against a board of 2 cm: steps shorten on the way in, nothing passes. */
static void bullet_does_not_pass(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL,
        "gravity = {0, 0, 0}, bodies = { { kind = 'static', shape = box { size = {0.02, 1, 1} }, friction = 0.5 }, { "
        "name = 'ball', shape "
        "= sphere { radius = 0.01 }, at = {-2, 0.1, 0.2}, velocity = {50, 0, 0}, density = 7800, friction = 0.5 } }");
    double shortest = 1;
    while (c.sim->state.t < 0.1) {
        rigid_step(&c, 0.01);
        shortest = fmin(shortest, c.sim->report.dt);
    }
    CHECK_NEAR(rigid_body(&c, "ball")->x.x, -0.02, 1e-4);
    CHECK_LE(shortest, 2 * 0.01 / 50 + 1e-12);
    rigid_close(&c);
}

/* Something that falls out of the world at any speed does not shorten the steps of what stays. */
static void lost_bodies_do_not_slow_the_rest(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL, "domain = { min = {-1, 0, -1}, max = {1, 2, 1}, y_min = 'open' }, bodies = { { name = 'ball', shape = "
              "sphere { radius = 0.01 }, at = "
              "{0, 1, 0}, mass = 1 }, { name = 'board', kind = 'static', shape = box { size = {0.5, 0.1, 0.5} }, at = "
              "{0.5, 0.5, 0}, friction = 0.5 "
              "}, { name = 'box', shape = box { size = 0.1 }, at = {0.5, 0.6, 0}, mass = 1, friction = 0.5 } }");
    rigid_run(&c, 8);
    CHECK_NEAR(c.sim->report.dt, 0.01, 1e-12);
    assert_true(rigid_body(&c, "ball")->v.y < -70);
    assert_int_equal(c.sim->report.escaped, 1);
    CHECK_NEAR(rigid_body(&c, "box")->x.y, 0.6, 1e-6);
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colliding_bodies_keep_momentum), cmocka_unit_test(ball_bounces_to_its_height),
        cmocka_unit_test(bouncing_box_comes_to_rest),     cmocka_unit_test(equal_balls_exchange_velocities),
        cmocka_unit_test(turning_boxes_do_not_sink_in),   cmocka_unit_test(told_depth_is_that_of_shapes),
        cmocka_unit_test(bounce_keeps_angular_momentum),  cmocka_unit_test(oblique_bounces),
        cmocka_unit_test(bullet_does_not_pass),           cmocka_unit_test(lost_bodies_do_not_slow_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
