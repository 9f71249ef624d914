/* Frictional stress by parts, on a small ball of sand, against solvers that share nothing with it: coordinate
 * descent on the dense matrix for boxes, the gap for cones. */
#include "solve/cone/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "check.h"
#include "lab/validate/still.h"

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
    s->edge_rule = TL_EDGE_WALL; /* as methods by parts have it */
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
    const tl_stress_edge e = tl_stress_edge_at(t, (int32_t)(i - 2 * (int64_t)t->cells));
    for (int k = 0; k < 4; k++)
        if (e.cell[k] < t->cells) r += 0.25 * 0.7 * s->p[e.cell[k]] / t->cell[e.cell[k]];
    return pyramid * r;
}

typedef struct dense {
    int64_t n;
    double *A, *x, *g;
} dense;

/* x[i] += d, and the gradient with it. */
static void move(dense *m, int64_t i, double d)
{
    m->x[i] += d;
    for (int64_t j = 0; d != 0 && j < m->n; j++) m->g[j] += m->A[m->n * i + j] * d;
}

static void descend(dense *m, const tl_still *s, double pyramid, int64_t i)
{
    double b = box(s, i, pyramid), a = m->A[m->n * i + i];
    if (a > 0) move(m, i, fmax(-b, fmin(b, m->x[i] - m->g[i] / a)) - m->x[i]);
}

/* Along (dx, dz) of a cell's diagonal, with all three boxes. */
static void exchange(dense *m, double b, int64_t x, int64_t z, double dx, double dz)
{
    double a = dx * dx * m->A[m->n * x + x] + 2 * dx * dz * m->A[m->n * x + z] + dz * dz * m->A[m->n * z + z];
    double t = a > 0 ? -(dx * m->g[x] + dz * m->g[z]) / a : 0;
    const double now[3] = {m->x[x], m->x[z], -m->x[x] - m->x[z]}, by[3] = {dx, dz, -dx - dz};
    for (int k = 0; k < 3; k++) {
        if (by[k] == 0) continue;
        double one = (-b - now[k]) / by[k], other = (b - now[k]) / by[k];
        t = fmin(fmax(t, fmin(one, other)), fmax(one, other));
    }
    move(m, x, t * dx);
    move(m, z, t * dz);
}

/* Energy at the optimum over boxes, of yy too if asked for: coordinate descent on rows of A. A hexagon's sides are
 * the directions of one component against one other: along those three nothing sticks. */
static double lowest(tl_still *s, double pyramid, bool hexagon)
{
    const tl_stress *t = &s->system.stress;
    dense m = {.n = t->n};
    int64_t n = m.n, diagonal = t->staggered ? 2 * (int64_t)t->cells : 0;
    m.A = calloc((size_t)(n * n), sizeof *m.A), m.x = calloc((size_t)n, sizeof *m.x);
    m.g = calloc((size_t)n, sizeof *m.g);
    double *g0 = calloc((size_t)n, sizeof *g0), start = energy(s), change = 0;
    assert_true(m.A && m.x && m.g && g0);
    for (int64_t j = 0; j < n; j++) {
        m.x[j] = 1;
        tl_stress_product(t, &s->system.c, m.x, m.A + n * j);
        m.x[j] = 0;
    }
    tl_stress_gradient(t, &s->system.c, g0);
    for (int64_t i = 0; i < n; i++) m.g[i] = g0[i];
    for (int sweep = 0; sweep < 400; sweep++) {
        for (int64_t i = 0; i < n; i++) {
            bool of_diagonal = t->staggered ? i < diagonal : i % 5 == TL_S_XX || i % 5 == TL_S_ZZ;
            if (!hexagon || !of_diagonal) descend(&m, s, pyramid, i);
        }
        for (int64_t c = 0; hexagon && c < t->cells; c++) {
            int64_t x = t->staggered ? 2 * c : 5 * c + TL_S_XX, z = t->staggered ? 2 * c + 1 : 5 * c + TL_S_ZZ;
            double b = box(s, x, pyramid);
            exchange(&m, b, x, z, 1, 0);
            exchange(&m, b, x, z, 0, 1);
            exchange(&m, b, x, z, 1, -1);
        }
    }
    for (int64_t i = 0; i < n; i++) change += 0.5 * m.x[i] * (m.g[i] + g0[i]); /* 1/2 x'Ax + g0'x, Ax = g - g0 */
    free(m.A), free(m.x), free(m.g), free(g0);
    return start + change;
}

static double solved(const char *rule, bool staggered, int steps, double *gap, double *best)
{
    tl_still s;
    begin(&s, rule, staggered);
    s.options.newton = steps;
    s.options.damping = 0.3;
    assemble(&s);
    if (best) *best = lowest(&s, s.options.pyramid, tl_cone_method_find(rule)->rule->held);
    tl_cones_report report;
    CHECK_OK(tl_cones_solve(&s.cones, s.p, 1e-10, &s.sim->arena, &report, &err));
    CHECK_OK(tl_cones_error(&s.cones, s.p, &s.sim->arena, gap, &err));
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
    static const char *const rules[3] = {"jcsp-pyramid", "narain", "box"};
    double start = start_energy();
    for (int staggered = 0; staggered < 2; staggered++)
        for (int k = 0; k < 3; k++) {
            double gap, best, after = solved(rules[k], staggered, 150, &gap, &best);
            assert_true(best < 0.95 * start); /* there is something to win */
            CHECK_NEAR((after - best) / (start - best), 0, 1e-3);
            if (staggered) CHECK_LE(gap, 0.02);
        }
}

/* As printed, yy is bound as well, and two directions for three boxes stick: part of what is to win over the hexagon
 * stays. Random velocities are the hardest case. */
static void printed_order_sticks(void **state)
{
    (void)state;
    double gap, best, start = start_energy();
    for (int staggered = 0; staggered < 2; staggered++) {
        double after = solved("narain-printed", staggered, 60, &gap, &best), left = (after - best) / (start - best);
        assert_true(left > 5e-3); /* 0.026 and 0.016 */
        CHECK_LE(left, 0.05);
    }
}

/* Component by component with a stiff penalty stops short of the cone's optimum, which apgd reaches. [grid-granular
 * spec 5] */
static void cone_by_penalty_stops_short(void **state)
{
    (void)state;
    double gap, exact_gap;
    tl_still s;
    begin(&s, NULL, false);
    s.stress_iterations = 500;
    assemble(&s);
    double start = energy(&s);
    tl_cones_report report;
    CHECK_OK(tl_cones_solve(&s.cones, s.p, 1e-9, &s.sim->arena, &report, &err));
    CHECK_OK(tl_cones_error(&s.cones, s.p, &s.sim->arena, &exact_gap, &err));
    double exact = energy(&s);
    tl_still_end(&s);
    CHECK_LE(exact_gap, 1e-6);
    double after = solved("jcsp", false, 200, &gap, NULL);
    assert_true(after < start);
    CHECK_LE((after - exact) / (start - exact), 0.58); /* the worst of the spec's prototypes; 0.35 here */
    assert_true(gap > 10 * exact_gap);
}

/* Part of the energy that friction takes from a ball that is squeezed and sheared; random motion would compare how
 * arrangements see noise. */
static double taken(const char *rule, bool staggered, double penalty, double *gap)
{
    tl_still s;
    begin(&s, rule, staggered);
    s.stress_iterations = s.options.iterations = 1000;
    s.options.newton = rule && !strcmp(rule, "jcsp") ? 200 : 1;
    s.options.penalty = penalty;
    CHECK_OK(tl_still_assemble(&s, &err));
    tl_coupling *c = &s.system.c;
    for (int32_t f = 0; f < c->faces; f++) {
        tl_vec3 x = tl_grid_face_centre(&s.grid, s.system.axis[f], s.system.id[f]);
        const double u[3] = {x.x + x.y, -2 * x.y, x.z + 0.5 * x.y};
        c->u[f] = u[s.system.axis[f]];
    }
    for (int32_t i = 0; i < c->cells; i++) s.p[i] = 500 * s.system.stress.cell[i];
    double start = energy(&s);
    tl_cones_report report;
    CHECK_OK(tl_cones_solve(&s.cones, s.p, 1e-9, &s.sim->arena, &report, &err));
    CHECK_OK(tl_cones_error(&s.cones, s.p, &s.sim->arena, gap, &err));
    double end = energy(&s);
    tl_still_end(&s);
    return 1 - end / start;
}

static void staggered_cone_is_as_strong(void **state)
{
    (void)state;
    double gap[4], colocated = taken(NULL, false, 1, &gap[0]), whole = taken("primal-dual", true, 1, &gap[1]);
    double soft = taken("jcsp", true, 1, &gap[2]), stiff = taken("jcsp", true, 100, &gap[3]);
    CHECK_LE(gap[0], 1e-6);
    CHECK_LE(gap[1], 1e-6);
    CHECK_REL(whole, colocated, 0.06);  /* 0.155 and 0.149: a coarse ball, half of its cells at the surface */
    assert_true(stiff < 0.6 * whole);   /* 0.070: one component at a time sticks between four cones */
    assert_true(gap[2] > 1e3 * gap[1]); /* soft ones give way instead */
    assert_true(soft < whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_reach_the_optimum),
        cmocka_unit_test(printed_order_sticks),
        cmocka_unit_test(cone_by_penalty_stops_short),
        cmocka_unit_test(staggered_cone_is_as_strong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
