/* Schemes of liquid with elastic and rigid solids, and their preconditioners: nodes of all of them after the same step
 * from the same start, to a tight target. Those that go once miss where things touch,
 * and say so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sum.h"
#include "check.h"
#include "lab/world.h"
#include "model/lg/state.h"
#include "solve/dual/method.h"

static talus_error err;

#define CELLS 10
#define TARGET 1e-8 /* of what the liquid has to undo */
/* Of the fastest node: Newton's corrections end at 1e-6 of it, and a pressure's error is TARGET times the condition of
 * the problem, some 1e3 here. */
#define SAME 1e-5

typedef struct setting {
    const char *bodies;
    double viscosity;
    int steps; /* before those that are compared */
    bool touches;
} setting;

/* A dam beside a beam that is clamped at its foot, of water and of honey. */
#define DAM                                                                                                            \
    "{ name = 'beam', shape = box { size = {0.12, 0.5, 0.24} }, at = {0.56, 0.25, 0.3}, friction = 0.3, cells = {1, "  \
    "4, 2}, anchor = box { center = {0, -0.25, 0}, size = {1, 0.01, 1} }, material = elastic { density = 200, young "  \
    "= "                                                                                                               \
    "3e4, poisson = 0.4 } }"
static const setting beam = {DAM, 0, 6, false}, honey = {DAM, 4, 4, false};
/* A slab on the floor with a cube on it, both in the liquid. */
#define PILE                                                                                                           \
    "{ name = 'slab', shape = box { size = {0.42, 0.16, 0.3} }, at = {0.3, 0.0801, 0.3}, friction = 0.3, cells = {3, " \
    "2,"                                                                                                               \
    " 2}, material = elastic { density = 1500, young = 1e5, poisson = 0.3 } }, { name = 'cube', shape = box { size = " \
    "0.15 }, at = {0.32, 0.2354, 0.3}, density = 3000, friction = 0.3 }"
static const setting pile = {PILE, 0, 3, true};

/* It goes once: where bodies touch, Newton's corrections have nothing to converge to. */
static bool once(const char *scheme) { return strstr(scheme, "-ec") || strstr(scheme, "ec-p"); }

static void open_world(const setting *q, const char *scheme, const char *precond, tl_world *w)
{
    char text[64] = "";
    if (*precond) snprintf(text, sizeof text, ", elastic = { precond = '%s' }", precond);
    CHECK_OK(tl_world_open(
        w, &err,
        "local eta = %g return scene { talus = 1, engine = 'grid', duration = 1, fps = 50,"
        " grid = { cells = {%d, %d, 7}, cell = 0.09 }, fem = { iterations = %d },"
        " solver = { scheme = '%s', tolerance = %g%s },"
        " fill = { { material = eta > 0 and viscous { density = 1000, viscosity = eta } or liquid { density = 1000 },"
        "   shape = box { size = {0.5, 0.5, 0.6}, center = {0.25, 0.25, 0.3} } } }, bodies = { %s } }",
        q->viscosity, CELLS, CELLS, once(scheme) ? 3 : 60, scheme, TARGET, text, q->bodies));
}

static bool all_met(const tl_sim *sim)
{
    bool met = true;
    for (int i = 0; i < sim->report.solves; i++) met &= sim->report.solve[i].certificate <= sim->report.solve[i].target;
    return met;
}

/* Velocities of nodes after one step from `from` [3 nodes]. */
static bool step(const setting *q, const char *scheme, const char *precond, const tl_state *from, double *v)
{
    tl_world w;
    open_world(q, scheme, precond, &w);
    CHECK_OK(tl_state_copy(&w.sim->state, from, &err));
    CHECK_OK(tl_world_steps(&w, 1, 0.01, &err));
    memcpy(v, tl_lg_state_of(&w.sim->state)->v, 3 * sizeof *v * (size_t)w.sim->lg.nodes);
    const bool met = all_met(w.sim);
    if (getenv("TALUS_TEST_SHOW"))
        for (int i = 0; i < w.sim->report.solves; i++)
            print_message("%-14s %-7s %-9s %5d its, %6lld products, %.1e of %.1e, %d sweeps\n", scheme, precond,
                          w.sim->report.solve[i].name, w.sim->report.solve[i].iterations,
                          (long long)w.sim->report.solve[i].work.products, w.sim->report.solve[i].certificate,
                          w.sim->report.solve[i].target, w.sim->report.sweeps);
    tl_world_close(&w);
    return met;
}

static double difference(int32_t n, const double *a, const double *b)
{
    double max = 0;
    for (int32_t i = 0; i < n; i++) max = fmax(max, fabs(a[i] - b[i]));
    return max;
}

static void compare(const setting *q)
{
    static const char *const preconds[] = {"ic", "ssor", "jacobi"};
    tl_world w;
    open_world(q, q->viscosity > 0 ? "pvec" : "pec-gs", "", &w);
    CHECK_OK(tl_world_steps(&w, q->steps, 0.01, &err));
    const int32_t n = 3 * w.sim->lg.nodes;
    double *best = TL_NEW(double, n), *v = TL_NEW(double, n);
    assert_true(step(q, q->viscosity > 0 ? "pvec" : "pec-gs", "", &w.sim->state, best));
    const double fastest = tl_max_abs(n, best);
    assert_true(fastest > 0.05);
    assert_true(!q->touches || w.sim->report.touching > 3);
    int compared = 0;
    for (int i = 0; i < tl_dual_scheme_count(); i++) {
        const tl_dual_scheme *s = tl_dual_scheme_at(i);
        const char *name = tl_dual_scheme_name(s);
        if (tl_dual_scheme_cones(s) || tl_dual_scheme_viscous(s) != (q->viscosity > 0)) continue;
        const bool written = tl_dual_scheme_written(s);
        for (int k = 0; k < (written && !q->touches ? 3 : 1); k++) {
            const bool met = step(q, name, written ? preconds[k] : "", &w.sim->state, v);
            const double off = difference(n, v, best) / fastest;
            if (once(name) && (q->touches || !met)) { /* a foot's points may be enough for a miss */
                assert_false(met);
                continue;
            }
            if (getenv("TALUS_TEST_SHOW")) print_message("  off by %.1e\n", off);
            if (!met || !(off <= SAME))
                fail_msg("%s %s: %s, nodes off by %.2g of %.2g m/s", name, written ? preconds[k] : "",
                         met ? "met" : "missed", off * fastest, fastest);
            compared++;
        }
    }
    assert_true(compared >= (q->viscosity > 0 ? 2 : q->touches ? 7 : 17));
    tl_free(best), tl_free(v);
    tl_world_close(&w);
}

static void beam_in_a_dam(void **state)
{
    (void)state;
    compare(&beam);
}

static void pile_in_water(void **state)
{
    (void)state;
    compare(&pile);
}

static void beam_in_honey(void **state)
{
    (void)state;
    compare(&honey);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(beam_in_a_dam), cmocka_unit_test(pile_in_water),
                                       cmocka_unit_test(beam_in_honey)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
