/* solver.contact.rest: islands at rest are left alone, and nothing differs by more than the solver's target from a
 * run without it. */
#include "check.h"

#include <math.h>

#include "rigid.h"

/* Five piles of boxes, cylinders and balls in hollows; something happens to them after one second. */
static const char piles[] =
    "bodies = { { kind = 'static', shape = plane {}, friction = 0.6 } }\n"
    "for k = 0, 4 do for i = 0, 5 do bodies[#bodies + 1] = { name = 'p' .. k .. i, density = 800, friction = 0.6,\n"
    "  shape = i % 2 == 0 and box { size = {0.3, 0.1, 0.3} } or cylinder { radius = 0.12, height = 0.1 },\n"
    "  at = {2 * k, 0.05 + 0.1 * i, 0}, rotation_deg = {0, 7 * i, 0} } end end\n";

static bool rests(const rigid_case *c, const char *name)
{
    const tl_motion *m = rigid_body(c, name);
    return tl_vec3_norm(m->v) == 0 && tl_vec3_norm(m->w) == 0;
}

static rigid_case open_piles(bool rest, const char *more)
{
    return rigid_open(piles, "solver = { contact = { rest = %s } }, bodies = (function() %s return bodies end)()",
                      rest ? "true" : "false", more);
}

/* Largest distance of any body between two runs, m. */
static double apart(const rigid_case *a, const rigid_case *b)
{
    double max = 0;
    for (int64_t i = 0; i < a->sim->state.rigid.count; i++)
        max = fmax(max, tl_vec3_norm(tl_vec3_sub(a->sim->state.rigid.body[i].x, b->sim->state.rigid.body[i].x)));
    return max;
}

static void what_rests_costs_no_solve(void **state)
{
    (void)state;
    rigid_case with = open_piles(true, ""), without = open_piles(false, "");
    for (int i = 0; i < 100; i++) {
        rigid_step(&with, 0.01);
        rigid_step(&without, 0.01);
    }
    for (int k = 0; k < 5; k++) {
        char name[4] = {'p', (char)('0' + k), '5', 0};
        assert_true(rests(&with, name));
    }
    assert_int_equal(with.sim->report.solve[0].work.products, 0);
    assert_int_equal(with.sim->report.contacts, without.sim->report.contacts); /* they are still there */
    assert_int_equal(with.sim->report.touching, without.sim->report.touching);
    CHECK_LE(apart(&with, &without), 1e-8);
    CHECK_LE(tl_vec3_norm(with.sim->report.accounts.momentum_unexplained), 1e-12);
    const tl_motion *m = rigid_body(&with, "p00"), *n = rigid_body(&without, "p00");
    CHECK_LE(tl_vec3_norm(tl_vec3_sub(m->contact_force, n->contact_force)), 1e-3);
    rigid_close(&with);
    rigid_close(&without);
}

/* A ball hits one pile, a scripted plate pushes another, a force of the caller's pulls at a third, a fourth stands
 * on a plate that tilts away; the fifth never wakes. */
static void what_comes_near_wakes_them(void **state)
{
    (void)state;
    static const char more[] =
        "table.insert(bodies, { name = 'ball', shape = sphere { radius = 0.1 }, density = 2000, at = {0.05, 6, 0.02} })"
        "table.insert(bodies, { name = 'plate', friction = 0.6, shape = box { size = {0.1, 0.4, 0.4} }, motion = "
        "function(t) "
        "return { at = {1.75 + 0.3 * math.max(0, t - 0.8), 0.25, 0} } end })"
        "table.insert(bodies, { name = 'lift', friction = 0.6, shape = box { size = {0.6, 0.1, 0.6} }, motion = "
        "function(t) "
        "return { at = {10, 0.05 + 0.2 * math.max(0, t - 0.9), 0} } end })"
        "table.insert(bodies, { name = 'load', friction = 0.6, density = 500, shape = box { size = 0.2 }, at = {10, "
        "0.2, 0} })";
    rigid_case with = open_piles(true, more), without = open_piles(false, more);
    bool slept = true;
    for (int i = 0; i < 130; i++) {
        if (i == 100)
            for (int k = 0; k < 2; k++) {
                tl_sim *sim = k ? without.sim : with.sim;
                sim->state.rigid.body[rigid_number(&with, "p25")].force = (tl_vec3){60, 0, 0};
            }
        if (i == 75)
            assert_true(rests(&with, "p05") && rests(&with, "p15") && rests(&with, "p25") && rests(&with, "load"));
        rigid_step(&with, 0.01);
        rigid_step(&without, 0.01);
        if (i > 75) slept = slept && rests(&with, "p35");
        if (i == 105) { /* before tumbling makes small differences large */
            CHECK_LE(tl_vec3_norm(tl_vec3_sub(rigid_body(&with, "p25")->x, rigid_body(&without, "p25")->x)), 1e-6);
            assert_true(rigid_body(&with, "p25")->v.x > 0.01);
        }
    }

    assert_true(slept);
    CHECK_NEAR(rigid_body(&with, "load")->x.y, rigid_body(&without, "load")->x.y, 1e-6);
    assert_true(rigid_body(&with, "load")->x.y > 0.26);
    CHECK_NEAR(rigid_body(&with, "p10")->x.x, rigid_body(&without, "p10")->x.x, 1e-4);
    assert_true(rigid_body(&with, "p10")->x.x > 2.02);
    assert_true(!rests(&with, "p05"));
    rigid_close(&with);
    rigid_close(&without);
}

/* Velocities of nought alone do not make a body rest: it also has to be held. */
static void a_body_stopped_by_hand_falls(void **state)
{
    (void)state;
    rigid_case c =
        rigid_open(NULL, "solver = { contact = { rest = true } }, bodies = { { kind = 'static', friction = 0.1, "
                         "shape = half_space { normal = {-0.5, 1, 0} } }, { name = 'b', friction = 0.1, density = 500, "
                         "shape = box { size = 0.2 }, rotation_deg = {0, 0, 26.565}, at = {0, 0.1118, 0} } }");
    for (int i = 0; i < 40; i++) rigid_step(&c, 0.01);
    c.sim->state.rigid.body[rigid_number(&c, "b")].v = c.sim->state.rigid.body[rigid_number(&c, "b")].w =
        (tl_vec3){0, 0, 0};
    for (int i = 0; i < 20; i++) rigid_step(&c, 0.01);
    assert_true(tl_vec3_norm(rigid_body(&c, "b")->v) > 0.3);
    rigid_close(&c);
}

/* Some rest, some fall. */
static rigid_case open_falling(void)
{
    rigid_case c = open_piles(
        true, "table.insert(bodies, { shape = sphere { radius = 0.1 }, density = 2000, at = {0.05, 3, 0.02} })");
    for (int i = 0; i < 60; i++) rigid_step(&c, 0.01);
    return c;
}

static void threads_and_saves_do_not_matter(void **state)
{
    (void)state;
    rigid_threads_and_saves(open_falling, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rests_costs_no_solve),
        cmocka_unit_test(what_comes_near_wakes_them),
        cmocka_unit_test(a_body_stopped_by_hand_falls),
        cmocka_unit_test(threads_and_saves_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
