#include "solve/coupled/cones.h"

#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "solve/cone/parts.h"

talus_status tl_cones_begin(tl_cones *c, const double *p, tl_arena *a, talus_error *err)
{
    c->before = TL_TAKE(a, double, c->n);
    c->ds = TL_TAKE(a, double, c->n);
    if (!c->before || !c->ds) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a block of cones");
    if (!c->parts || !c->method->rule || !c->n) return TALUS_OK;
    const tl_cone problem = c->problem(c->ctx, p);
    return tl_cone_parts_begin(c->parts, c->method, &problem, a, err);
}

double tl_cones_drop(tl_cones *c)
{
    double max = tl_max_abs(c->n, c->s);
    if (!(max > 0)) return 0;
    for (int64_t i = 0; i < c->n; i++) {
        c->ds[i] = -c->s[i];
        c->s[i] = 0;
    }
    c->push(c->ctx, c->ds);
    return max;
}

talus_status tl_cones_solve(tl_cones *c, const double *p, double tolerance, tl_arena *a, tl_cones_report *out,
                            talus_error *err)
{
    *out = (tl_cones_report){.outcome.result = TL_CONVERGED};
    if (c->n == 0) return TALUS_OK;
    tl_cone problem = c->problem(c->ctx, p);
    problem.learned = &c->learned;
    c->max = fmax(c->max, tl_max_abs(c->groups, problem.radius));
    memcpy(c->before, c->s, sizeof *c->s * (size_t)c->n);
    tl_stop stop = {.tolerance = tolerance, .max_iterations = c->iterations};
    tl_options options = tl_options_default();
    options.trusted = true;
    tl_cone_report report;
    TL_TRY(tl_cone_solve(c->method, &problem, &options, &stop, c->s, a, &report, err));
    for (int64_t i = 0; i < c->n; i++) c->ds[i] = c->s[i] - c->before[i];
    c->push(c->ctx, c->ds);
    *out = (tl_cones_report){report.outcome, report.work, tl_max_abs(c->n, c->ds)};
    return TALUS_OK;
}

talus_status tl_cones_error(const tl_cones *c, const double *p, tl_arena *a, double *out, talus_error *err)
{
    *out = 0;
    if (c->n == 0) return TALUS_OK;
    const tl_cone problem = c->problem(c->ctx, p);
    if (problem.parts && problem.parts->seen.rows) return tl_cone_parts_gap(&problem, c->s, a, out, err);
    tl_cone_certificate q;
    TL_TRY(tl_cone_certify(&problem, c->s, &q, a, err));
    double gap = q.energy != 0 ? q.relative_gap : q.gap > 0 ? 1 : 0;
    double largest = fmax(c->max, tl_max_abs(c->groups, problem.radius));
    *out = fmax(gap, q.violation > 0 && largest > 0 ? q.violation / largest : 0);
    if (isnan(q.energy) || isnan(q.violation)) *out = NAN;
    return TALUS_OK;
}
