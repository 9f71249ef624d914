/* Frictional stress by parts, on a small ball of sand, against solvers that share nothing with it: coordinate descent on the dense matrix for boxes, the gap for cones. */
#include "step/stress_parts.h"

#include <stdlib.h>

#include "base/random.h"
#include "check.h"
#include "validate/still.h"

static talus_error err;

static const char *const space =
    "return scene { talus = 1, engine = 'grid', duration = 1, gravity = {0, 0, 0},"
    " grid = { cells = {8, 8, 8}, cell = 0.1, origin = {-0.4, -0.4, -0.4} },"
    " domain = { x_min = 'open', x_max = 'open', y_min = 'open', y_max = 'open', z_min = 'open', z_max = 'open' },"
    " bodies = { { kind = 'static', shape = sphere { radius = 0.1 }, at = {9, 9, 9} } } }";

static double value(int64_t i) { return 2 * tl_random(5, (uint64_t)i, 0) - 1; }
static double ball(tl_vec3 x) { return tl_vec3_norm(x) - 0.26; }

/* Random velocities and pressures of a ball of sand. */
static void begin(tl_still *s, const char *parts, bool staggered)
{
    CHECK_OK(tl_still_begin(s, space, &err));
    s->phi = ball;
    s->alpha = 0.7;
    s->family = TL_WEIGHT_VOLUME;
    s->parts = parts;
    s->staggered = staggered;
}

static void assemble(tl_still *s)
{
    CHECK_OK(tl_still_assemble(s, &err));
    for (int32_t f = 0; f < s->system.c.faces; f++) s->system.c.u[f] = value(f);
    for (int32_t i = 0; i < s->system.c.cells; i++) s->p[i] = 800 * fabs(value(i + 5000));
}

static double energy(const tl_still *s)
{
    const tl_coupling *c = &s->system.c;
    double sum = 0;
    for (int32_t f = 0; f < c->faces; f++)
        if (c->fluid[f] > 0) sum += 0.5 * c->fluid[f] / c->mobility[f] * c->u[f] * c->u[f];
    return sum / c->dt;
}

/* Half-width of the box of entry i, by its definition. */
static double box(const tl_still *s, int64_t i, double pyramid)
{
    const tl_stress *t = &s->system.stress;
    double r = 0;
    if (!t->staggered) return pyramid * 0.7 * s->p[i / 5] / t->cell[i / 5];
    if (i < 2 * (int64_t)t->cells) return pyramid * 0.7 * s->p[i / 2] / t->cell[i / 2];
    const tl_stress_edge *e = &t->edge[i - 2 * (int64_t)t->cells];
    for (int k = 0; k < 4; k++)
        if (e->cell[k] < t->cells) r += 0.25 * 0.7 * s->p[e->cell[k]] / t->cell[e->cell[k]];
    return pyramid * r;
}

/* Energy at the optimum over boxes: coordinate descent on rows of A. */
static double lowest(tl_still *s, double pyramid)
{
    const tl_stress *t = &s->system.stress;
    int64_t n = t->n;
    double *A = calloc((size_t)(n * n), sizeof *A), *x = calloc((size_t)n, sizeof *x),
           *g = calloc((size_t)n, sizeof *g);
    assert_true(A && x && g);
    double start = energy(s), change = 0;
    for (int64_t j = 0; j < n; j++) {
        x[j] = 1;
        tl_stress_product(t, &s->system.c, x, A + n * j);
        x[j] = 0;
    }
    tl_stress_gradient(t, &s->system.c, g);
    double *g0 = calloc((size_t)n, sizeof *g0);
    assert_true(g0 != NULL);
    for (int64_t i = 0; i < n; i++) g0[i] = g[i];
    for (int sweep = 0; sweep < 400; sweep++)
        for (int64_t i = 0; i < n; i++) {
            if (!(A[n * i + i] > 0)) continue;
            double b = box(s, i, pyramid), to = fmax(-b, fmin(b, x[i] - g[i] / A[n * i + i])), d = to - x[i];
            x[i] = to;
            for (int64_t j = 0; d != 0 && j < n; j++) g[j] += A[n * i + j] * d;
        }
    for (int64_t i = 0; i < n; i++) change += 0.5 * x[i] * (g[i] + g0[i]); /* 1/2 x'Ax + g0'x, Ax = g - g0 */
    free(A), free(x), free(g), free(g0);
    return start + change;
}

static double solved(const char *rule, bool staggered, int steps, double *gap, double *best)
{
    tl_still s;
    begin(&s, rule, staggered);
    s.options.newton = steps;
    s.options.damping = 0.3;
    assemble(&s);
    if (best) *best = lowest(&s, s.options.pyramid);
    tl_friction_report report;
    CHECK_OK(tl_friction_solve(&s.friction, s.p, 1e-10, &s.sim->arena, &report, &err));
    CHECK_OK(tl_friction_error(&s.friction, s.p, &s.sim->arena, gap, &err));
    double after = energy(&s);
    tl_still_end(&s);
    return after;
}

static double start_energy(void)
{
    tl_still s;
    begin(&s, "box", false);
    assemble(&s);
    double e = energy(&s);
    tl_still_end(&s);
    return e;
}

/* Boxes: the least energy, whatever the way; stress itself is not unique. */
static void boxes_reach_the_optimum(void **state)
{
    (void)state;
    static const char *const rules[2] = {"jcsp-pyramid", "box"};
    double start = start_energy();
    for (int staggered = 0; staggered < 2; staggered++)
        for (int k = 0; k < 2; k++) {
            double gap, best, after = solved(rules[k], staggered, 150, &gap, &best);
            assert_true(best < 0.95 * start); /* there is something to win */
            CHECK_NEAR((after - best) / (start - best), 0, 1e-3);
            if (staggered) CHECK_LE(gap, 0.02);
        }
}

/* The order of narain bounds yy as well: a smaller set, so never less energy. And with two directions for three diagonal boxes it stops where only a
 * third (one component alone) goes on: 0.13 of what is to win stays here, random velocities being the hardest case. */
static void narain_stays_inside(void **state)
{
    (void)state;
    double gap, best, start = start_energy();
    for (int staggered = 0; staggered < 2; staggered++) {
        double after = solved("narain", staggered, 60, &gap, &best);
        assert_true(after >= best);
        CHECK_LE((after - best) / (start - best), 0.2);
    }
}

/* Component by component with a stiff penalty stops short of the cone's optimum, which apgd reaches. [grid-granular spec 5] */
static void cone_by_penalty_stops_short(void **state)
{
    (void)state;
    double gap, exact_gap;
    tl_still s;
    begin(&s, NULL, false);
    s.stress_iterations = 500;
    assemble(&s);
    double start = energy(&s);
    tl_friction_report report;
    CHECK_OK(tl_friction_solve(&s.friction, s.p, 1e-9, &s.sim->arena, &report, &err));
    CHECK_OK(tl_friction_error(&s.friction, s.p, &s.sim->arena, &exact_gap, &err));
    double exact = energy(&s);
    tl_still_end(&s);
    CHECK_LE(exact_gap, 1e-6);
    double after = solved("jcsp", false, 200, &gap, NULL);
    assert_true(after < start);
    CHECK_LE((after - exact) / (start - exact), 0.58); /* the worst of the spec's prototypes; 0.35 here */
    assert_true(gap > 10 * exact_gap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_reach_the_optimum),
        cmocka_unit_test(narain_stays_inside),
        cmocka_unit_test(cone_by_penalty_stops_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
