/* Boxes for the stress of a column of sand that collapses: all components at once, each alone, and one part after
 * the other end at the same velocities; the printed order, which has other boxes, does not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "lab/validate/still.h"

#define CELLS 12

static talus_error err;

static double column(tl_vec3 x) { return fmax(hypot(x.x, x.z) - 0.3, x.y - 0.5); }

static void begin(tl_still *s, const char *rule, bool staggered)
{
    char text[512];
    snprintf(text, sizeof text,
             "return scene { talus = 1, engine = 'grid', duration = 1,"
             " grid = { cells = {%d, %d, %d}, cell = 1 / %d, origin = {-0.5, 0, -0.5} },"
             " bodies = { { kind = 'static', shape = sphere { radius = 0.1 }, at = {9, 9, 9} } } }",
             CELLS, CELLS * 3 / 4, CELLS, CELLS);
    CHECK_OK(tl_still_begin(s, text, &err));
    s->phi = column;
    s->alpha = 0.81; /* 35 degrees */
    s->density = 1600;
    s->family = TL_WEIGHT_VOLUME;
    s->parts = rule;
    s->staggered = staggered;
    s->edge_rule = TL_EDGE_WALL; /* as methods by parts have it */
    s->dt = 0.01;
    s->options.damping = 0.5;
}

typedef struct flow {
    int32_t faces;
    double *u; /* of open faces, m/s */
} flow;

static flow keep(tl_still *s)
{
    const tl_coupling *c = &s->system.c;
    flow out = {c->faces, calloc((size_t)c->faces, sizeof(double))};
    assert_non_null(out.u);
    for (int32_t f = 0; f < c->faces; f++)
        if (c->fluid[f] > 0) out.u[f] = c->u[f];
    tl_still_end(s);
    return out;
}

/* Root mean square of the difference over that of a. */
static double apart(const flow *a, const flow *b)
{
    double sum = 0, difference = 0;
    assert_int_equal(a->faces, b->faces);
    for (int32_t f = 0; f < a->faces; f++) {
        sum += a->u[f] * a->u[f];
        difference += (a->u[f] - b->u[f]) * (a->u[f] - b->u[f]);
    }
    assert_true(sum > 0);
    return sqrt(difference / sum);
}

/* Spreads by u = (x, -2 y, z) 1/s under the pressure of its weight, which stays: 150 steps leave nothing to gain. */
static flow at_frozen_pressure(const char *rule, bool staggered)
{
    tl_still s;
    tl_cones_report report;
    begin(&s, rule, staggered);
    s.options.newton = 150;
    CHECK_OK(tl_still_assemble(&s, &err));
    tl_coupling *c = &s.system.c;
    for (int32_t f = 0; f < c->faces; f++) {
        tl_vec3 x = tl_grid_face_centre(&s.grid, s.system.axis[f], s.system.id[f]);
        c->u[f] = s.system.axis[f] == 0 ? x.x : s.system.axis[f] == 1 ? -2 * x.y : x.z;
    }
    for (int32_t i = 0; i < c->cells; i++) {
        double depth = 0.5 - tl_grid_centre(&s.grid, s.system.active.cell[i]).y;
        s.p[i] = depth > 0 ? 1600 * 9.81 * depth * s.system.stress.cell[i] : 0;
    }
    CHECK_OK(tl_cones_solve(&s.cones, s.p, 1e-10, &s.sim->arena, &report, &err));
    return keep(&s);
}

/* One step from rest, pressure and stress in turn. */
static flow in_turn(const char *rule, bool staggered)
{
    tl_still s;
    begin(&s, rule, staggered);
    s.options.newton = 10;
    s.sweeps = 60;
    s.tolerance = 1e-7;
    CHECK_OK(tl_still_solve(&s, &err));
    return keep(&s);
}

static void compare(flow (*solve)(const char *rule, bool staggered), double sequence, double jacobi)
{
    for (int staggered = 0; staggered < 2; staggered++) {
        flow all = solve("box", staggered), each = solve("jcsp-pyramid", staggered), order = solve("narain", staggered),
             printed = solve("narain-printed", staggered);
        CHECK_LE(apart(&all, &order), sequence);
        CHECK_LE(apart(&all, &each), jacobi);
        assert_true(apart(&all, &printed) > 0.1);
        free(all.u), free(each.u), free(order.u), free(printed.u);
    }
}

static void one_answer_at_frozen_pressure(void **state)
{
    (void)state;
    compare(at_frozen_pressure, 1e-4, 0.01); /* jcsp is damped and slower: 0.005 is left */
}

/* Projections in turn are not settled after 60 sweeps either: pressures still change by 4e-3 of the largest.
 * [grid-granular spec 6.9] */
static void one_answer_in_turn(void **state)
{
    (void)state;
    compare(in_turn, 1e-2, 0.04);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_answer_at_frozen_pressure),
                                       cmocka_unit_test(one_answer_in_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
