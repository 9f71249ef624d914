/* Scenes of elastic bodies that ask for the impossible or the odd: handled, or refused with a clear message. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
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
        const tl_lg_state *s = tl_lg_state_of(&c->sim->state);
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
        lowest[piece] = fmin(lowest[piece], tl_lg_state_of(&c.sim->state)->q[3 * i + 1]);
        middle[piece] += tl_lg_state_of(&c.sim->state)->q[3 * i];
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
        if (lg->rest[3 * i] < -0.49)
            CHECK_NEAR(tl_lg_state_of(&c.sim->state)->q[3 * i], -0.5 + 0.75 * 0.3 - 0.25 * 0.1, 1e-3);
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
    for (int32_t i = 0; i < c.sim->lg.nodes; i++) assert_true(tl_lg_state_of(&c.sim->state)->q[3 * i + 1] > -1e-3);
    CHECK_LE(c.sim->report.fastest, 20);
    rigid_close(&c);
}

/* A closing press with nowhere to go, to a twentieth: flat, inverted, but numbers; and it springs back when let go.
 * At 5 ms: with steps of 10 ms, in which the press goes from a third of its height to nothing, 4 of 12 boxes of 2 to
 * 4 cells across end with a corner inside out, 8 of 12 by rounds alone. */
static void crushed(void **state)
{
    (void)state;
    static const char *const models[] = {"arap", "corotated", "neo_hookean"};
    for (int m = 0; m < 6; m++) {
        const double dt = m < 3 ? 0.005 : 0.01;
        rigid_case c =
            rigid_open(SOFT,
                       "engine = 'lg', gravity = {0, 0, 0}, bodies = { { name = 'a', shape = box { size = 0.2 }, cells "
                       "= {2, 2, 2}, material = soft '%s' },\n"
                       "{ name = 'low', kind = 'static', shape = box { size = {1, 0.2, 1} }, at = {0, -0.2, 0} },\n"
                       "{ name = 'high', kind = 'kinematic', shape = box { size = {1, 0.2, 1} }, motion = function(t) "
                       "return { at = {0, math.max(0.2 - 0.5 * t, 0.01 + math.max(t - 0.6, 0)), 0} } end } }",
                       models[m % 3]);
        double max = 0, made = 0;
        while (c.sim->state.t < 3) {
            rigid_step(&c, dt);
            max = fmax(max, c.sim->report.elastic);
            made += fmax(0, c.sim->accounts.energy_unexplained);
        }
        CHECK_LE(made, 1e-3 * max); /* steps that do not end made more than there was */
        if (m == 5) {               /* it may rest in modes that have no barrier */
            rigid_close(&c);
            continue;
        }
        double far = 0; /* its diagonal: it may have turned */
        for (int32_t i = 0; i < c.sim->lg.nodes; i++)
            for (int32_t j = 0; j < i; j++)
                far = fmax(far,
                           tl_vec3_norm(tl_vec3_sub(tl_vec3_load(tl_lg_state_of(&c.sim->state)->q + 3 * (int64_t)i),
                                                    tl_vec3_load(tl_lg_state_of(&c.sim->state)->q + 3 * (int64_t)j))));
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

#define HELD(at)                                                                                                       \
    "{ name = 'bar', shape = box { size = {1, 0.1, 0.1} }, at = " at                                                   \
    ", cells = {10, 1, 1}, anchor = box { size = {0.01, 1, 1}, center = {-0.5, 0, 0} }, material = soft() }"
#define STATIC "engine = 'lg', lg = { time = 'static' }, "

/* Static steps: what has no place of rest is refused, what would touch is told in the step that finds it, and then
 * nothing has moved. */
static void nothing_to_rest_on(void **state)
{
    (void)state;
    refused(STATIC "bodies = { { name = 'a', shape = box { size = 1 }, cells = {1, 1, 1}, material = soft() } }",
            "held by no anchor");
    refused(STATIC "bodies = { " HELD("{0, 1, 0}") ", { name = 'stone', shape = box { size = 0.1 }, density = 1 } }",
            "free rigid bodies, got \"stone\"");
    refused(STATIC
            "joins = { { body = 'bar', shape = box { size = {0.01, 1, 1}, center = {0.5, 1, 0} } } }, bodies = { " HELD(
                "{0, 1, 0}") " }",
            "cables and joins");
    rigid_case c = rigid_open(SOFT, STATIC "bodies = { " HELD("{0, 0.1, 0}") ", " FLOOR " }");
    double before = tl_lg_state_of(&c.sim->state)->q[1];
    assert_int_not_equal(tl_sim_step(c.sim, 0.01, INFINITY, &err), TALUS_OK);
    assert_non_null(strstr(err.message, "knows no contact"));
    assert_true(tl_lg_state_of(&c.sim->state)->q[1] == before);
    rigid_close(&c);
}

/* A bar far from the origin comes to rest as it does there. */
static void rests_anywhere(void **state)
{
    (void)state;
    double low[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        rigid_case c = k ? rigid_open(SOFT, STATIC "bodies = { " HELD("{4000, 3000, -5000}") " }")
                         : rigid_open(SOFT, STATIC "bodies = { " HELD("{0, 0, 0}") " }");
        rigid_step(&c, 0.01);
        CHECK_LE(c.sim->report.solve[0].certificate, 1e-6); /* positions have 1e-12 m there */
        for (int64_t i = 0; i < c.sim->lg.nodes; i++)
            low[k] = fmin(low[k], tl_lg_state_of(&c.sim->state)->q[3 * i + 1] - c.sim->lg.rest[3 * i + 1]);
        rigid_close(&c);
    }
    CHECK_REL(low[1], low[0], 1e-6);
}

static void hear(void *user, int level, const char *message)
{
    (void)level;
    const char *at = strstr(message, "swings with a period of ");
    if (at) *(double *)user = strtod(at + strlen("swings with a period of "), NULL);
}

/* Steps too long for what swings are told with its period, and only then: 1.875^2 sqrt(E h^2 / 12 rho) / L^2, here
 * 0.0558 s and 0.558 s. A bar that its anchors carry along does not swing. */
static void too_stiff_for_the_step(void **state)
{
    (void)state;
    static const char *const young[] = {"1e9", "1e7", "1e9"};
    for (int k = 0; k < 3; k++) {
        char text[700];
        double heard = 0;
        rigid_case c;
        const tl_log log = {hear, &heard, 0};
        snprintf(
            text, sizeof text,
            "engine = 'lg', gravity = %s, bodies = { { name = 'bar', shape = box { size = {1, 0.1, 0.1} }, %s cells "
            "= {20, 2, 2}, anchor = box { size = {0.01, 1, 1}, center = {-0.5, 0, 0} }, material = elastic { density = "
            "1000, young = %s, poisson = 0.3, model = 'corotated' } } }",
            k == 2 ? "{0, 0, 0}" : "{0, -100, 0}",
            k == 2 ? "kind = 'kinematic', motion = function(t) return { at = {0.5 * t * t, 0, 0} } end," : "",
            young[k]);
        assert_int_equal(rigid_try(&c, &log, NULL, text, &err), TALUS_OK);
        for (int i = 0; i < 20; i++) rigid_step(&c, 0.01);
        if (k == 0)
            CHECK_REL(heard, 0.0558, 0.15);
        else
            assert_true(heard == 0);
        rigid_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_pieces),
        cmocka_unit_test(handles_that_contradict),
        cmocka_unit_test(overlaps_at_the_start),
        cmocka_unit_test(crushed),
        cmocka_unit_test(scenes_that_cannot_be),
        cmocka_unit_test(nothing_to_rest_on),
        cmocka_unit_test(rests_anywhere),
        cmocka_unit_test(too_stiff_for_the_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
