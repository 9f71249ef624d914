#include "step/friction.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "solve/cone/group.h"

#define NO_PRESSURE 1e-6 /* of the largest: cones of less are points [grid-granular spec 6.10] */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for frictional stress");
}

talus_status tl_friction_begin(tl_friction *f, tl_arena *a, talus_error *err)
{
    int64_t n = f->stress->n;
    int32_t cells = f->stress->cells;
    f->radius = TL_TAKE(a, double, cells);
    f->bound = TL_TAKE(a, double, cells);
    f->b = TL_TAKE(a, double, n);
    f->before = TL_TAKE(a, double, n);
    f->ds = TL_TAKE(a, double, n);
    if (!f->radius || !f->bound || !f->b || !f->before || !f->ds) return no_memory(err);
    f->space = tl_space_local(n);
    size_t mark = tl_arena_mark(a);
    double *scratch = TL_TAKE(a, double, f->stress->faces);
    if (!scratch) return no_memory(err);
    tl_stress_bounds(f->stress, f->c, scratch, f->bound);
    tl_arena_release(a, mark);
    return f->method ? TALUS_OK : tl_parts_begin(&f->split, f->rule, &f->parts, f->stress, f->c, f->bound, a, err);
}

void tl_friction_rates(const tl_stress *t, const tl_coupling *c, double *scratch, double *rate)
{
    double Q[TL_STRESS_GROUP * TL_STRESS_GROUP];
    tl_cone_metric q;
    tl_stress_form(t, Q);
    tl_cone_metric_of(&q, TL_STRESS_GROUP, Q);
    tl_stress_gradient(t, c, scratch);
    for (int32_t i = 0; i < t->cells; i++)
        rate[i] = sqrt(fmax(0, tl_cone_form(TL_STRESS_GROUP, q.inverse, scratch + TL_STRESS_GROUP * (int64_t)i)));
}

static void find_radii(const tl_friction *f, const double *p)
{
    double most = tl_max_abs(f->stress->cells, p);
#pragma omp parallel for schedule(static) if (f->stress->cells >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < f->stress->cells; i++) {
        double load = p[i] / f->stress->cell[i];
        if (f->slip.beside) {
            int32_t k = f->slip.beside[i];
            load = tl_slip_load(&f->slip, i, load, p[k] / f->stress->cell[k], f->s);
        }
        f->radius[i] = p[i] > NO_PRESSURE * most ? f->alpha[i] * load : 0;
        if (f->cohesion) f->radius[i] += f->cohesion[i];
    }
}

static double largest_radius(const tl_friction *f) { return tl_max_abs(f->stress->cells, f->radius); }

double tl_friction_drop(tl_friction *f)
{
    int64_t n = f->stress->n;
    double most = tl_max_abs(n, f->s);
    if (!(most > 0)) return 0;
    for (int64_t i = 0; i < n; i++) {
        f->ds[i] = -f->s[i];
        f->s[i] = 0;
    }
    tl_stress_push(f->stress, f->c, f->ds);
    return most;
}

static void product(const tl_linop *A, const double *x, double *y)
{
    const tl_friction *f = A->ctx;
    tl_stress_product(f->stress, f->c, x, y);
}

/* The problem whose answer is s itself: b = A s - g, g the gradient with s in force. */
static tl_cone problem_of(const tl_friction *f)
{
    tl_cone p = {.space = &f->space,
                 .A = {product, NULL, f},
                 .b = f->b,
                 .radius = f->radius,
                 .size = TL_STRESS_GROUP,
                 .bound = f->bound};
    tl_stress_form(f->stress, p.Q);
    tl_stress_product(f->stress, f->c, f->s, f->b);
    tl_stress_gradient(f->stress, f->c, f->ds);
    for (int64_t i = 0; i < f->stress->n; i++) f->b[i] -= f->ds[i];
    return p;
}

static talus_status solve_by_parts(tl_friction *f, tl_arena *a, tl_friction_report *out, talus_error *err)
{
    int64_t n = f->stress->n;
    size_t mark = tl_arena_mark(a);
    memcpy(f->before, f->s, sizeof *f->s * (size_t)n);
    TL_TRY(tl_parts_solve(&f->split, f->radius, f->s, a, &out->outcome, &out->work, err));
    for (int64_t i = 0; i < n; i++) f->ds[i] = f->s[i] - f->before[i];
    out->change = tl_max_abs(n, f->ds);
    tl_arena_release(a, mark);
    return TALUS_OK;
}

talus_status tl_friction_solve(tl_friction *f, const double *p, double tolerance, tl_arena *a, tl_friction_report *out,
                               talus_error *err)
{
    int64_t n = f->stress->n;
    *out = (tl_friction_report){.outcome.result = TL_CONVERGED};
    if (n == 0) return TALUS_OK;
    find_radii(f, p);
    f->most = fmax(f->most, largest_radius(f));
    if (!f->method) return solve_by_parts(f, a, out, err);
    tl_cone problem = problem_of(f);
    problem.learned = &f->learned;
    memcpy(f->before, f->s, sizeof *f->s * (size_t)n);
    tl_stop stop = {.tolerance = tolerance, .max_iterations = f->iterations};
    tl_options options = tl_options_default();
    options.trusted = true;
    tl_cone_report report;
    TL_TRY(tl_cone_solve(f->method, &problem, &options, &stop, f->s, a, NULL, &report, err));
    for (int64_t i = 0; i < n; i++) f->ds[i] = f->s[i] - f->before[i];
    tl_stress_push(f->stress, f->c, f->ds);
    *out = (tl_friction_report){report.outcome, report.work, tl_max_abs(n, f->ds)};
    return TALUS_OK;
}

tl_cone tl_friction_problem(const tl_friction *f, const double *p)
{
    find_radii(f, p);
    return problem_of(f);
}

talus_status tl_friction_certify(const tl_friction *f, const double *p, tl_arena *a, tl_cone_certificate *out,
                                 talus_error *err)
{
    tl_cone problem = tl_friction_problem(f, p);
    return tl_cone_certify(&problem, f->s, out, a, err);
}

talus_status tl_friction_error(const tl_friction *f, const double *p, tl_arena *a, double *out, talus_error *err)
{
    *out = 0;
    if (f->stress->n == 0) return TALUS_OK;
    find_radii(f, p);
    if (f->stress->staggered) return tl_parts_gap(&f->split, f->radius, f->s, a, out, err);
    tl_cone_certificate c;
    TL_TRY(tl_friction_certify(f, p, a, &c, err));
    double gap = c.energy != 0 ? c.relative_gap : c.gap > 0 ? 1 : 0;
    double largest = fmax(f->most, largest_radius(f));
    *out = fmax(gap, c.violation > 0 && largest > 0 ? c.violation / largest : 0);
    if (isnan(c.energy) || isnan(c.violation)) *out = NAN;
    return TALUS_OK;
}
