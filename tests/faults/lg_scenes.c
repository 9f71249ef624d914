/* Scenes of elastic bodies that ask for the impossible or the odd: handled, or refused with a clear message. */
#include "check.h"

#include <string.h>

#include "rigid.h"

static talus_error err;

#define SOFT                                                                                                           \
    "function soft(m) return elastic { density = 1000, young = 1e5, poisson = 0.3, model = m or 'neo_hookean' } end\n"
#define FLOOR "{ name = 'floor', kind = 'static', shape = plane {}, friction = 0.5 }"

static void run(rigid_case *c, int steps)
{
    for (int k = 0; k < steps; k++) {
        rigid_step(c, 0.01);
        const tl_lg_state *s = &c->sim->state.lg;
        for (int64_t i = 0; i < 3 * s->nodes; i++) assert_true(isfinite(s->q[i]) && isfinite(s->v[i]));
    }
}

/* One body of two pieces: both fall, both land, neither pulls on the other. */
static void two_pieces(void **state)
{
    (void)state;
    rigid_case c = rigid_open(
        SOFT, "engine = 'lg', bodies = { { name = 'pair', shape = union { sphere { radius = 0.1, center = {-0.3, "
              "0.15, 0} }, sphere { radius = 0.1, center = {0.3, 0.35, 0} } }, edge = 0.06, material = soft() }, " FLOOR
              " }");
    run(&c, 60);
    const tl_lg *lg = &c.sim->lg;
    double lowest[2] = {1, 1}, middle[2] = {0, 0}, count[2] = {0, 0};
    for (int32_t i = 0; i < lg->nodes; i++) {
        int piece = lg->rest[3 * i] > 0;
        lowest[piece] = fmin(lowest[piece], c.sim->state.lg.q[3 * i + 1]);
        middle[piece] += c.sim->state.lg.q[3 * i];
        count[piece]++;
    }
    for (int k = 0; k < 2; k++) {
        CHECK_NEAR(lowest[k], 0, 0.02);
        CHECK_NEAR(middle[k] / count[k], k ? 0.3 : -0.3, 0.02);
    }
    rigid_close(&c);
}

/* Two handles want the same nodes in two places: the mean, by their weights, and finite forces. */
static void handles_that_contradict(void **state)
{
    (void)state;
    rigid_case c = rigid_open(SOFT, "engine = 'lg', gravity = {0, 0, 0}, bodies = { { name = 'bar', shape = box { size "
                                    "= {1, 0.2, 0.2} }, cells = {5, 1, 1}, material = soft "
                                    "'arap' } }, handles = { { body = 'bar', shape = box { size = {0.01, 1, 1}, center "
                                    "= {-0.5, 0, 0} }, weight = 3e6, motion = function(t) return { "
                                    "at = {0.3, 0, 0} } end }, { body = 'bar', shape = box { size = {0.01, 1, 1}, "
                                    "center = {-0.5, 0, 0} }, weight = 1e6, motion = function(t) return { at = "
                                    "{-0.1, 0, 0} } end } }");
    run(&c, 300);
    const tl_lg *lg = &c.sim->lg;
    for (int32_t i = 0; i < lg->nodes; i++)
        if (lg->rest[3 * i] < -0.49) CHECK_NEAR(c.sim->state.lg.q[3 * i], -0.5 + 0.75 * 0.3 - 0.25 * 0.1, 1e-3);
    rigid_close(&c);
}

/* Begins inside of the floor by most of its height, and inside another: comes out, and stays a number. */
static void overlaps_at_the_start(void **state)
{
    (void)state;
    rigid_case c = rigid_open(SOFT, "engine = 'lg', bodies = { { name = 'a', shape = box { size = 0.2 }, at = {0, "
                                    "-0.05, 0}, cells = {2, 2, 2}, material = "
                                    "soft() }, { name = 'b', shape = box { size = 0.2 }, at = {0.05, 0.12, 0.03}, "
                                    "cells = {2, 2, 2}, material = soft() }, " FLOOR " }");
    run(&c, 100);
    for (int32_t i = 0; i < c.sim->lg.nodes; i++) assert_true(c.sim->state.lg.q[3 * i + 1] > -1e-3);
    CHECK_LE(c.sim->report.fastest, 20);
    rigid_close(&c);
}

/* A closing press with nowhere to go: flat, inverted, but numbers; and it springs back when let go. */
static void crushed(void **state)
{
    (void)state;
    static const char *const models[] = {"arap", "corotated", "neo_hookean"};
    for (int m = 0; m < 3; m++) {
        rigid_case c =
            rigid_open(SOFT,
                       "engine = 'lg', gravity = {0, 0, 0}, bodies = { { name = 'a', shape = box { size = 0.2 }, cells "
                       "= {2, 2, 2}, material = soft '%s' },\n"
                       "{ name = 'low', kind = 'static', shape = box { size = {1, 0.2, 1} }, at = {0, -0.2, 0} },\n"
                       "{ name = 'high', kind = 'kinematic', shape = box { size = {1, 0.2, 1} }, motion = function(t) "
                       "return { at = {0, math.max(0.2 - 0.5 * t, 0.01 + math.max(t - 0.6, 0)), 0} } end } }",
                       models[m]);
        run(&c, 200);
        double far = 0; /* its diagonal: it may have turned */
        for (int32_t i = 0; i < c.sim->lg.nodes; i++)
            for (int32_t j = 0; j < i; j++)
                far = fmax(far, tl_vec3_norm(tl_vec3_sub(tl_vec3_load(c.sim->state.lg.q + 3 * (int64_t)i),
                                                         tl_vec3_load(c.sim->state.lg.q + 3 * (int64_t)j))));
        CHECK_NEAR(far, 0.2 * sqrt(3), 0.02);
        rigid_close(&c);
    }
}

static void refused(const char *text, const char *why)
{
    rigid_case c;
    assert_int_not_equal(rigid_try(&c, NULL, SOFT, text, &err), TALUS_OK);
    if (!strstr(err.message, why)) fail_msg("\"%s\" does not say \"%s\"", err.message, why);
}

static void scenes_that_cannot_be(void **state)
{
    (void)state;
    refused("engine = 'lg', bodies = { " FLOOR " }", "needs an elastic body");
    refused("engine = 'lg', bodies = { { shape = sphere { radius = 0.1 }, thickness = 0.01, material = soft() } }",
            "flat box");
    refused("engine = 'lg', bodies = { { shape = sphere { radius = 0.1 }, cells = {1, 1, 1}, material = soft() } }",
            "cells are for boxes");
    refused("engine = 'lg', bodies = { { name = 'a', shape = box { size = 1 }, cells = {1, 1, 1}, material = soft() } "
            "}, handles = { { body = 'a', shape "
            "= sphere { radius = 0.1, center = {5, 0, 0} } } }",
            "holds none of its nodes");
    refused("engine = 'lg', bodies = { { name = 'a', shape = box { size = 1 }, self_contact = true, density = 1 } }",
            "self_contact is for elastic bodies");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_pieces),
        cmocka_unit_test(handles_that_contradict),
        cmocka_unit_test(overlaps_at_the_start),
        cmocka_unit_test(crushed),
        cmocka_unit_test(scenes_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
