/* Structures that must stand at dt = 10 ms, and the angles and coefficients at which they must not. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "geom/collide/pairs.h"
#include "rigid.h"

/* Largest fall of any body since `begin` heights were taken. */
static double heights[256];
static void keep_heights(const rigid_case *c)
{
    assert_true(c->scene->body_count <= 256);
    for (int i = 0; i < c->scene->body_count; i++) heights[i] = c->sim->state.rigid.body[i].x.y;
}
static double drop(const rigid_case *c)
{
    double max = 0;
    for (int i = 0; i < c->scene->body_count; i++) max = fmax(max, heights[i] - c->sim->state.rigid.body[i].x.y);
    return max;
}

/* `masses` is Lua: from the bottom up, cubes of 0.2 m. */
static const char stack_lua[] =
    "function stack(masses) local b = { { kind = 'static', shape = plane {}, friction = 0.5 } }\n"
    "for i, m in ipairs(masses) do b[#b + 1] = { shape = box { size = 0.2 }, at = {0, 0.2 * i - 0.1, 0}, mass = m, "
    "friction = 0.5 } end\n"
    "return b end\n"
    "function equal(n) local m = {} for i = 1, n do m[i] = 8 end return m end\n";

static void stacks_do_not_sag(void **state)
{
    (void)state;
    static const char *const masses[] = {"equal(10)", "equal(30)", "{1, 1000}", "{1, 10, 100, 1000, 10000}"};
    static const double weight[] = {80, 240, 1001, 11111};
    for (int k = 0; k < 4; k++) {
        rigid_case c = rigid_open(stack_lua, "bodies = stack(%s)", masses[k]);
        keep_heights(&c);
        rigid_run(&c, 10);
        CHECK_LE(drop(&c), 1e-5); /* 1 mm is asked */
        CHECK_LE(c.sim->report.penetration, 1e-5);
        CHECK_LE(c.sim->report.force_balance, 1e-3);
        /* what the ground carries is everything */
        CHECK_REL(-c.sim->state.rigid.body[0].contact_force.y, 9.81 * weight[k], 1e-4);
        rigid_close(&c);
    }
}

/* Houses of cards with planks between the levels: `levels`, mu. Cards 1 x 0.6 x 0.02 m, 12 kg, 25 degrees from
 * vertical. */
static const char cards_lua[] =
    "function cards(levels, mu)\n"
    "  local b = { { kind = 'static', shape = plane {}, friction = mu } }\n"
    "  local L, W, T, a = 1, 0.6, 0.02, math.rad(25)\n"
    "  local high, wide = L * math.cos(a) + T * math.sin(a), L * math.sin(a) + T * math.cos(a)\n"
    "  local pitch, y = 2 * wide + 0.02, 0\n"
    "  for level = 1, levels do\n"
    "    local tents = levels - level + 1\n"
    "    for i = 1, tents do for side = -1, 1, 2 do\n"
    "      b[#b + 1] = { shape = box { size = {T, L, W} }, at = {(i - (tents + 1) / 2) * pitch + side * 0.5 * wide, y "
    "+ 0.5 * high, 0},\n"
    "        rotation_deg = {0, 0, side * 25}, mass = 12, friction = mu } end end\n"
    "    y = y + high\n"
    "    for i = 1, tents - 1 do b[#b + 1] = { shape = box { size = {pitch, T, W} }, at = {(i - tents / 2) * pitch, y "
    "+ 0.5 * T, 0},\n"
    "      mass = 12, friction = mu } end\n"
    "    y = y + T\n"
    "  end\n"
    "  return b\n"
    "end\n";

static void card_houses_stand(void **state)
{
    (void)state;
    static const int levels[] = {1, 2, 5};
    for (int k = 0; k < 3; k++) {
        rigid_case c = rigid_open(cards_lua, "bodies = cards(%d, 0.6)", levels[k]);
        keep_heights(&c);
        rigid_run(&c, 5);
        CHECK_LE(drop(&c), 1e-4); /* 1 mm is asked */
        rigid_close(&c);
    }
}

/* An A frame stands if and only if mu > tan(a)/2 - t/(2 L) = 0.22315 for these cards. */
static void a_frame_stands_down_to_its_limit(void **state)
{
    (void)state;
    for (int falls = 0; falls < 2; falls++) {
        rigid_case c = rigid_open(cards_lua, "bodies = cards(1, %g)", falls ? 0.2225 : 0.2240);
        keep_heights(&c);
        rigid_run(&c, falls ? 2 : 3);
        if (falls)
            assert_true(drop(&c) > 0.05);
        else
            CHECK_LE(drop(&c), 1e-5);
        rigid_close(&c);
    }
}

/* Negative control: where crossed edges may win ties against faces, touching faces become single points, and the
 * house of five levels comes down by 0.6 mm in 3 s, where second looks catch it, with the same solver; with the rule
 * it loses 1e-9 m. After 1.5 s rounding decides whether it is 0.1 or 0.5 mm. */
static void without_the_face_rule_cards_sink(void **state)
{
    (void)state;
    tl_box_rules rules = tl_box_rules_default();
    for (int loose = 0; loose < 2; loose++) {
        if (loose) rules.face_margin = -1e-4, rules.hysteresis = 0;
        /* found anew in every step: points that are kept hold the house up without the rule too */
        rigid_case c = rigid_open(cards_lua, "bodies = cards(5, 0.6), solver = { contact = { keep = 0 } }");
        for (int32_t i = 0; i < c.sim->rigid.colliders; i++) c.sim->rigid.collider[i]->rules = &rules;
        keep_heights(&c);
        rigid_run(&c, 3);
        if (loose)
            assert_true(drop(&c) > 1e-4);
        else
            CHECK_LE(drop(&c), 1e-5);
        rigid_close(&c);
    }
}

/* Three cubes tip over together at tan = 1/3, 18.435 degrees. */
static void tower_tips_at_its_angle(void **state)
{
    (void)state;
    for (int tips = 0; tips < 2; tips++) {
        double b = (tips ? 18.5 : 18.3) * 3.14159265358979323846 / 180;
        rigid_case c = rigid_open(stack_lua, "gravity = {%.17g, %.17g, 0}, bodies = stack { 8, 8, 8 }", 9.81 * sin(b),
                                  -9.81 * cos(b));
        keep_heights(&c);
        rigid_run(&c, tips ? 3 : 5);
        double moved = tl_vec3_norm(tl_vec3_sub(c.sim->state.rigid.body[3].x, (tl_vec3){0, 0.5, 0}));
        if (tips)
            assert_true(moved > 0.05);
        else
            CHECK_LE(moved, 1e-6);
        rigid_close(&c);
    }
}

/* 1000 kg dropped 0.1 m on 1 kg: no deeper than 0.01 mm, at rest after 3 s. */
static void heavy_drops_on_light(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        NULL,
        "bodies = { { kind = 'static', shape = plane {}, friction = 0.5 }, { shape = box { size = 0.2 }, at = {0, 0.1, "
        "0}, "
        "mass = 1, friction = 0.5 }, { shape = box { size = 0.2 }, at = {0, 0.4, 0}, mass = 1000, friction = 0.5 } }");
    double deepest = 0;
    while (c.sim->state.t < 3) {
        rigid_step(&c, 0.01);
        deepest = fmax(deepest, c.sim->report.penetration);
    }
    CHECK_LE(deepest, 1e-5);
    CHECK_LE(c.sim->report.fastest, 1e-6);
    CHECK_NEAR(c.sim->state.rigid.body[2].x.y, 0.3, 1e-5);
    rigid_close(&c);
}

static void hear(void *user, int level, const char *message)
{
    if (level == 0) snprintf(user, 512, "%s", message);
}

/* A million tonnes on a gram. Impulses of 1e8 N s are rounded to 1e-8 N s, which moves a gram at 1e-5 m/s: this
 * cannot be exact, so the ratio is told; still nothing sinks in by more than the slop, and nothing is lost. */
static void mountain_on_a_pebble(void **state)
{
    (void)state;
    talus_error err;
    char told[512] = "";
    rigid_case c;
    tl_log log = {hear, told, 0};
    CHECK_OK(rigid_try(&c, &log, stack_lua, "bodies = stack { 0.001, 1e9 }", &err));
    assert_non_null(strstr(told, "1e+12"));
    keep_heights(&c);
    rigid_run(&c, 2);
    CHECK_LE(drop(&c), 1e-4);
    rigid_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_do_not_sag),
        cmocka_unit_test(card_houses_stand),
        cmocka_unit_test(a_frame_stands_down_to_its_limit),
        cmocka_unit_test(without_the_face_rule_cards_sink),
        cmocka_unit_test(tower_tips_at_its_angle),
        cmocka_unit_test(heavy_drops_on_light),
        cmocka_unit_test(mountain_on_a_pebble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
