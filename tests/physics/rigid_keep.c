/* solver.contact.keep: bodies that stand on each other and hardly move against each other keep their contact points. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "rigid.h"

#define SLOP 1e-4 /* m, of bodies of this size */

/* Stacks of boxes and of cylinders, one of both on a plate that a script carries about, and what rolls: a ball, a
 * cylinder on its side. */
static const char stacks[] =
    "bodies = { { kind = 'static', shape = plane {}, friction = 0.6 } }\n"
    "for k = 0, 2 do for i = 0, 5 do bodies[#bodies + 1] = { name = 's' .. k .. i, density = 800, friction = 0.6,\n"
    "  shape = (k == 0 or k == 2 and i % 2 == 0) and box { size = {0.3, 0.1, 0.3} } or cylinder { radius = 0.12, "
    "height = 0.1 },\n"
    "  at = {2 * k, 0.05 + 0.1 * i + (k == 2 and 0.1 or 0), 0}, rotation_deg = {0, 7 * i, 0} } end end\n"
    "bodies[#bodies + 1] = { name = 'plate', friction = 0.6, shape = box { size = {0.6, 0.1, 0.6} },\n"
    "  motion = function(t) return { at = {4 + 0.25 * t * t, 0.05 + 0.05 * t * t, 0} } end }\n"
    "bodies[#bodies + 1] = { name = 'ball', friction = 0.6, density = 800, shape = sphere { radius = 0.1 }, at = {0, "
    "0.1, 2} }\n"
    "bodies[#bodies + 1] = { name = 'log', friction = 0.6, density = 800, shape = cylinder { radius = 0.1, height = "
    "0.3 },\n"
    "  at = {2, 0.1, 2}, rotation_deg = {90, 0, 0} }\n";

static rigid_case open_stacks(const char *keep)
{
    return rigid_open(stacks, "solver = { contact = { %s } }, bodies = bodies", keep);
}

/* First point of two bodies in the state. */
static tl_rigid_memory *point_of(const rigid_case *c, const char *one, const char *other)
{
    int32_t i = rigid_number(c, one), j = rigid_number(c, other), a = i < j ? i : j, b = i < j ? j : i;
    for (int64_t k = 0; k < c->sim->state.rigid.contacts; k++) {
        tl_rigid_memory *m = &c->sim->state.rigid.contact[k];
        if (m->a == a && m->b == b) return m;
    }
    return NULL;
}

static int64_t kept(const rigid_case *c)
{
    int64_t count = 0;
    for (int64_t k = 0; k < c->sim->state.rigid.contacts; k++) count += c->sim->state.rigid.contact[k].found.margin > 0;
    return count;
}

static double fastest(const rigid_case *c, const char *name) { return tl_vec3_norm(rigid_body(c, name)->v); }

/* Both runs come to the same, and points of stacks are those of long ago. */
static void stacks_keep_their_points(void **state)
{
    (void)state;
    rigid_case with = open_stacks(""), without = open_stacks("keep = 0");
    for (int i = 0; i < 50; i++) rigid_step(&with, 0.01), rigid_step(&without, 0.01);
    const char *pairs[][2] = {{"s01", "s02"}, {"s11", "s12"}, {"s21", "s22"}, {"s20", "plate"}};
    tl_rigid_found then[4];
    for (int k = 0; k < 4; k++) then[k] = point_of(&with, pairs[k][0], pairs[k][1])->found;
    for (int i = 0; i < 20; i++) rigid_step(&with, 0.01), rigid_step(&without, 0.01);
    for (int k = 0; k < 4; k++) {
        tl_rigid_found now = point_of(&with, pairs[k][0], pairs[k][1])->found;
        assert_true(now.margin > 0);
        assert_memory_equal(&now, &then[k], sizeof now);
    }
    for (int64_t i = 0; i < with.sim->state.rigid.count; i++)
        CHECK_LE(tl_vec3_norm(tl_vec3_sub(with.sim->state.rigid.body[i].x, without.sim->state.rigid.body[i].x)), 1e-9);
    assert_int_equal(with.sim->report.contacts, without.sim->report.contacts);
    rigid_close(&with);
    rigid_close(&without);
}

/* Where the points of a pair are and how far apart, kept or found anew, after one body was moved by hand. */
static void moved_stack(double by, bool *same, double *gap, double *anew)
{
    double found[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        rigid_case c = open_stacks(k ? "keep = 0, touch = 0" : "touch = 0");
        for (int i = 0; i < 20; i++) rigid_step(&c, 0.01);
        tl_motion *m = &c.sim->state.rigid.body[rigid_number(&c, "s05")];
        m->x = tl_vec3_add(m->x, (tl_vec3){0.6 * by, 0.8 * by, 0});
        tl_rigid_memory then = *point_of(&c, "s04", "s05");
        rigid_step(&c, 0.01);
        found[k] = point_of(&c, "s04", "s05")->gap;
        if (k == 0) *same = !memcmp(&then.at_a, &point_of(&c, "s04", "s05")->at_a, sizeof then.at_a);
        rigid_close(&c);
    }
    *gap = found[0];
    *anew = found[1];
}

static void gaps_are_those_of_now(void **state)
{
    (void)state;
    double gap, anew;
    bool same;
    moved_stack(0.0005 * SLOP, &same, &gap, &anew);
    assert_true(same);
    CHECK_NEAR(gap, anew, 1e-12);
    CHECK_NEAR(gap, 0.0004 * SLOP, 1e-10);
    moved_stack(0.002 * SLOP, &same, &gap, &anew);
    assert_true(!same);
    CHECK_NEAR(gap, anew, 1e-12);
}

/* Behind a place that lags a body at rest would start to roll, at 1e-6 to 1e-5 m/s. */
static void what_may_roll_is_found_anew(void **state)
{
    (void)state;
    rigid_case c = open_stacks("keep = 0.1");
    for (int i = 0; i < 200; i++) rigid_step(&c, 0.01);
    assert_true(kept(&c) > 0);
    for (int64_t k = 0; k < c.sim->state.rigid.contacts; k++) {
        const tl_rigid_memory *m = &c.sim->state.rigid.contact[k];
        if (m->a == rigid_number(&c, "ball") || m->b == rigid_number(&c, "ball") || m->a == rigid_number(&c, "log") ||
            m->b == rigid_number(&c, "log"))
            CHECK_NEAR(m->found.margin, 0, 0);
    }
    CHECK_LE(fastest(&c, "ball"), 1e-8);
    CHECK_LE(fastest(&c, "log"), 1e-8);
    CHECK_LE(fastest(&c, "s05"), 1e-8);
    CHECK_LE(fastest(&c, "s15"), 1e-8);
    rigid_close(&c);
}

static rigid_case open_kept(void)
{
    rigid_case c = open_stacks("");
    for (int i = 0; i < 40; i++) rigid_step(&c, 0.01);
    assert_true(kept(&c) > 0);
    return c;
}

static void threads_and_saves_do_not_matter(void **state)
{
    (void)state;
    rigid_threads_and_saves(open_kept, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_keep_their_points),
        cmocka_unit_test(gaps_are_those_of_now),
        cmocka_unit_test(what_may_roll_is_found_anew),
        cmocka_unit_test(threads_and_saves_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
