#include "solve/fixedpoint/problem.h"

#include <math.h>

#include "math/vec.h"

static bool pushes(const tl_projected *p, const double *x, const double *r, int32_t k)
{
    const int64_t at = (int64_t)p->pressures + k;
    return p->D[at] > 0 && (r[at] < 0 || x[at] > 0);
}

static double *friction_of(const tl_projected *p, double *x, int32_t k)
{
    return x + p->pressures + p->contacts + 3 * (int64_t)k;
}

static const double *slip_of(const tl_projected *p, const double *r, int32_t k)
{
    return r + p->pressures + p->contacts + 3 * (int64_t)k;
}

static double share_of(const tl_projected *p, int32_t k)
{
    const int32_t active = p->active[(int32_t)p->group[k]];
    return active > 1 ? active : 1;
}

static void evaluate(void *ctx, const double *x, double *r)
{
    const tl_projected *p = ctx;
    tl_csr_mul(p->A, x, r);
    for (int64_t i = 0; i < p->space.n; i++) r[i] += p->c[i];
    for (int32_t k = 0; k < p->contacts; k++) p->active[k] = 0;
    for (int32_t k = 0; k < p->contacts; k++) p->active[(int32_t)p->group[k]] += pushes(p, x, r, k);
}

static tl_vec3 shorten(tl_vec3 v, double max)
{
    double length = tl_vec3_norm(v);
    return length > max ? tl_vec3_scale(max / length, v) : v;
}

static void project(void *ctx, const double *x, const double *r, double *y)
{
    const tl_projected *p = ctx;
    for (int32_t i = 0; i < p->pressures; i++) y[i] = fmax(0, x[i] - p->relax * r[i] / p->D[i]);
    for (int32_t k = 0; k < p->contacts; k++) {
        const int64_t at = (int64_t)p->pressures + k;
        const double share = share_of(p, k);
        y[at] = p->D[at] > 0 ? fmin(p->max[k], fmax(0, x[at] - p->relax / (share * p->D[at]) * r[at])) : 0;
        const double max = p->friction[k] * y[at];
        tl_vec3 lam = {0, 0, 0};
        if (max > 0 && p->slip[k] > 0) {
            tl_vec3 step = shorten(tl_vec3_scale(-1 / (share * p->slip[k]), tl_vec3_load(slip_of(p, r, k))), max);
            lam = shorten(tl_vec3_add_scaled(tl_vec3_load(slip_of(p, x, k)), p->relax, step), max);
        }
        tl_vec3_store(lam, friction_of(p, y, k));
    }
}

static void clamp(void *ctx, double *x)
{
    const tl_projected *p = ctx;
    for (int32_t i = 0; i < p->pressures; i++) x[i] = fmax(0, x[i]);
    for (int32_t k = 0; k < p->contacts; k++) {
        const int64_t at = (int64_t)p->pressures + k;
        x[at] = p->D[at] > 0 ? fmin(p->max[k], fmax(0, x[at])) : 0;
        tl_vec3_store(shorten(tl_vec3_load(slip_of(p, x, k)), p->slip[k] > 0 ? p->friction[k] * x[at] : 0),
                      friction_of(p, x, k));
    }
}

/* 0 exactly where a, b >= 0 and one of them is 0 (Fischer-Burmeister). */
static double complementarity(double a, double b) { return fabs(a + b - sqrt(a * a + b * b)); }

typedef struct errors {
    double sum, worst;
    int64_t count;
} errors;

static void count(errors *e, double error)
{
    e->sum += error;
    if (!(error <= e->worst)) e->worst = error;
    e->count++;
}

static double measure(void *ctx, const double *x, const double *r)
{
    const tl_projected *p = ctx;
    errors e[3] = {{0, 0, 0}}; /* pressures, contacts that push, their friction: mean over as many */
    for (int32_t i = 0; i < p->pressures; i++) count(&e[0], complementarity(x[i] * p->D[i], r[i]));
    for (int32_t k = 0; k < p->contacts; k++) {
        const int64_t at = (int64_t)p->pressures + k;
        if (!pushes(p, x, r, k)) continue;
        const double share = share_of(p, k);
        count(&e[1], complementarity(x[at] * p->D[at] * share, r[at]));
        if (!(p->slip[k] > 0)) continue;
        const double left = p->friction[k] * x[at] - tl_vec3_norm(tl_vec3_load(slip_of(p, x, k)));
        count(&e[2], complementarity(p->rate * tl_vec3_norm(tl_vec3_load(slip_of(p, r, k))),
                                     p->rate * left * p->slip[k] * share));
    }
    e[2].count = e[1].count;
    double max = 0;
    for (int k = 0; k < 3; k++) {
        const double mean = e[k].count ? (k ? 1 : p->strict) * e[k].sum / (double)e[k].count : 0;
        if (!(mean <= max)) max = mean; /* NaN comes through */
        if (p->worst > 0 && e[k].worst / p->worst > max) max = e[k].worst / p->worst;
    }
    return max;
}

static talus_status check_array(const char *name, int64_t n, const double *x, double least, talus_error *err)
{
    for (int64_t i = 0; i < n; i++)
        if (!(x[i] >= least && isfinite(x[i])))
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s[%lld] is %g, must be finite and at least %g", name, (long long)i,
                           x[i], least);
    return TALUS_OK;
}

talus_status tl_projected_check(const tl_projected *p, talus_error *err)
{
    const int64_t m = p->contacts;
    TL_TRY(check_array("c", p->space.n, p->c, -INFINITY, err));
    TL_TRY(check_array("D", p->pressures + m, p->D, 0, err));
    TL_TRY(check_array("most", m, p->max, 0, err));
    TL_TRY(check_array("slip", m, p->slip, 0, err));
    TL_TRY(check_array("friction", m, p->friction, 0, err));
    TL_TRY(check_array("group", m, p->group, 0, err));
    for (int32_t i = 0; i < p->pressures; i++)
        if (!(p->D[i] > 0)) return TL_FAIL(err, TALUS_BAD_INPUT, "D[%d] is 0, must be > 0 of a pressure", (int)i);
    for (int64_t k = 0; k < m; k++)
        if (p->group[k] != floor(p->group[k]) || p->group[k] >= (double)m)
            return TL_FAIL(err, TALUS_BAD_INPUT, "group[%lld] is %g, must be one of 0 to %lld", (long long)k,
                           p->group[k], (long long)m - 1);
    if (!(p->relax > 0 && p->relax <= 1))
        return TL_FAIL(err, TALUS_BAD_INPUT, "relax must be in (0, 1], got %g", p->relax);
    const double more[3] = {p->rate, p->strict, p->worst};
    return check_array("rate, strict, worst", 3, more, 0, err);
}

tl_fixedpoint tl_projected_problem(tl_projected *p)
{
    return (tl_fixedpoint){.space = &p->space,
                           .apart = p->pressures,
                           .evaluate = evaluate,
                           .project = project,
                           .clamp = clamp,
                           .measure = measure,
                           .ctx = p};
}
