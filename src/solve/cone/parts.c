#include "solve/cone/parts.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "solve/boxqp/method.h"
#include "solve/cone/methods.h"
#include "solve/cone/parts_inside.h"

#define TOLERANCE 1e-5 /* of a part's box QP */
#define SEARCHES 10    /* halvings of a line search */
#define OMEGA 1.3      /* of overrelaxation; 1 to 1.6 differ by 10 % of the products. Chosen */

/* [grid-granular spec 5, 10]; the damping of the cone is below 0.4, which the penalty's curvature needs in 3D. */
tl_parts_options tl_parts_default(void)
{
    return (tl_parts_options){
        .pyramid = sqrt(0.5), .loose = 3, .damping = 0.3, .penalty = 100, .newton = 1, .iterations = 50};
}

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a cone problem by parts");
}

/* ---- boxes ---- */

static void narrow(double x, double d, double box, double *lo, double *hi)
{
    double a = (-box - x) / d, b = (box - x) / d;
    *lo = fmax(*lo, fmin(a, b));
    *hi = fmin(*hi, fmax(a, b));
}

/* Every entry that an unknown changes stays in its box, the eliminated component as well where that has one. */
static void find_bounds(const tl_parts_solve *k, double *lo, double *hi)
{
    const tl_part *p = k->part;
    for (int64_t j = 0; j < p->count; j++) {
        lo[j] = -INFINITY, hi[j] = INFINITY;
        double sum = 0, d = 0;
        for (int e = 0; e < p->entries; e++) {
            int64_t i = tl_parts_entry_of(k->t, p, j, e);
            narrow(k->x[i], p->d[e], tl_parts_box(k, i), &lo[j], &hi[j]);
            sum -= k->x[i], d -= p->d[e];
        }
        if (k->plan->rule->held && p->entries == 2 && d != 0)
            narrow(sum, d, tl_parts_box(k, tl_parts_entry_of(k->t, p, j, 0)), &lo[j], &hi[j]);
        if (lo[j] > hi[j]) lo[j] = hi[j] = 0.5 * (lo[j] + hi[j]); /* boxes that do not meet: the cone shrank */
    }
}

/* ---- the cone by a penalty: c = (1 - |x|^2 / r^2) / 2 >= 0 ---- */

static double penalty_of(const tl_parts_solve *k, int32_t group)
{
    double r = k->p->radius[group];
    return k->t->o.penalty * k->t->largest * r * r / 2;
}

/* min(c - g / mu, 0) */
static double excess_of(const tl_parts_solve *k, int32_t group, const double *at)
{
    double r2 = k->p->radius[group] * k->p->radius[group];
    return fmin(0, 0.5 * (1 - tl_parts_form(k, at) / r2) - k->plan->multiplier[group] / penalty_of(k, group));
}

/* Slope and curvature of the penalty along a part of one component. Never negative: c is concave and the excess too.
 * Groups that share an unknown couple it with their others: the diagonal takes the sum of the row, or all of them
 * would go the whole way at once. Shares are 1, or 1 / n of n unknowns. */
static void penalty_of_unknown(const tl_parts_solve *k, int64_t j, double *slope, double *curvature)
{
    int32_t group;
    int component;
    double share, at[TL_CONE_MAX], q[TL_CONE_MAX];
    for (int w = 0; tl_parts_seer(k, tl_parts_entry_of(k->t, k->part, j, 0), w, &group, &component, &share); w++) {
        double r2 = k->p->radius[group] * k->p->radius[group];
        if (!(r2 > 0)) continue;
        tl_parts_see(k, k->x, group, at);
        tl_cone_mul(k->m, k->p->Q, at, q);
        double mu = penalty_of(k, group), e = excess_of(k, group, at), c1 = -q[component] / r2,
               c2 = -k->p->Q[k->m * component + component] / r2;
        *slope += share * mu * e * c1;
        if (e < 0) *curvature += share * mu * (c1 * c1 + e * c2);
    }
}

static void update_multipliers(tl_parts_solve *k)
{
    double at[TL_CONE_MAX];
    for (int32_t i = 0; i < k->t->groups; i++) {
        if (k->p->radius[i] > 0) tl_parts_see(k, k->x, i, at);
        k->plan->multiplier[i] = k->p->radius[i] > 0 ? -penalty_of(k, i) * excess_of(k, i, at) : 0;
    }
}

static double penalty_energy(const tl_parts_solve *k, const double *x)
{
    double sum = 0, at[TL_CONE_MAX];
    for (int32_t i = 0; i < k->t->groups; i++) {
        if (!(k->p->radius[i] > 0)) continue;
        tl_parts_see(k, x, i, at);
        double e = excess_of(k, i, at);
        sum += 0.5 * penalty_of(k, i) * e * e;
    }
    return sum;
}

/* ---- one part ---- */

/* y [n] = what x [count] of the part is in entries, added. */
static void expand(const tl_parts_solve *k, const double *x, double *y)
{
    for (int64_t j = 0; j < k->part->count; j++)
        for (int e = 0; e < k->part->entries; e++) y[tl_parts_entry_of(k->t, k->part, j, e)] += k->part->d[e] * x[j];
}

/* The adjoint. */
static void contract(const tl_parts_solve *k, const double *y, double *x)
{
    for (int64_t j = 0; j < k->part->count; j++) {
        x[j] = 0;
        for (int e = 0; e < k->part->entries; e++) x[j] += k->part->d[e] * y[tl_parts_entry_of(k->t, k->part, j, e)];
    }
}

static void product(const tl_linop *A, const double *x, double *out)
{
    const tl_parts_solve *k = A->ctx;
    const tl_part *p = k->part;
    memset(k->y, 0, sizeof *k->y * (size_t)k->t->rows);
    for (int64_t j = 0; j < p->count; j++) {
        double v = k->unit[j] * x[j];
        for (int64_t e = p->start[j]; e < p->start[j + 1]; e++) k->y[p->row[e]] += p->val[e] * v;
    }
    k->t->weigh(k->t->ctx, k->y);
#pragma omp parallel for schedule(static) if (p->count >= TL_PARALLEL_MIN)
    for (int64_t j = 0; j < p->count; j++) {
        double sum = k->stiff[j] * k->unit[j] * x[j];
        for (int64_t e = p->start[j]; e < p->start[j + 1]; e++) sum += p->val[e] * k->y[p->row[e]];
        out[j] = k->unit[j] * sum;
    }
}

/* Units that make the diagonal 1, E aside. */
static void find_units(tl_parts_solve *k)
{
    const tl_part *p = k->part;
    for (int64_t j = 0; j < p->count; j++) {
        double d = k->stiff[j];
        for (int64_t e = p->start[j]; e < p->start[j + 1]; e++) d += p->val[e] * p->val[e] * k->t->weight[p->row[e]];
        k->unit[j] = 1 / sqrt(d > 0 ? d : k->t->largest);
    }
}

/* ---- symmetric overrelaxation, E aside: the matrix is not there, what its rows did so far is known in y ---- */

static void ssor_update(tl_precond *P, const double *add) { ((tl_parts_solve *)P->data)->pin = add; }

/* One unknown: what is left of its row, over its diagonal 1. */
static void relax(const tl_parts_solve *k, int64_t j, const double *r, double *z)
{
    const tl_part *p = k->part;
    const double *weight = k->t->weight, u = k->unit[j];
    double sum = k->stiff[j] * u * z[j];
    for (int64_t e = p->start[j]; e < p->start[j + 1]; e++) sum += p->val[e] * k->y[p->row[e]];
    double dz = OMEGA * (r[j] - u * sum);
    z[j] += dz;
    for (int64_t e = p->start[j]; e < p->start[j + 1]; e++) k->y[p->row[e]] += weight[p->row[e]] * p->val[e] * u * dz;
}

static void ssor_apply(const tl_precond *P, const double *r, double *z)
{
    const tl_parts_solve *k = P->data;
    const int64_t n = k->part->count;
    memset(k->y, 0, sizeof *z * (size_t)k->t->rows);
    memset(z, 0, sizeof *z * (size_t)n);
    for (int64_t j = 0; j < n; j++)
        if (!k->pin || !(k->pin[j] > 0)) relax(k, j, r, z);
    for (int64_t j = n - 1; j >= 0; j--)
        if (!k->pin || !(k->pin[j] > 0)) relax(k, j, r, z);
}

static const tl_precond_kind ssor = {.name = "ssor", .update = ssor_update, .apply = ssor_apply};

/* Change of the part that minimises its quadratic model inside of its box, added to dx. */
static talus_status solve_part(tl_parts_solve *k, talus_error *err)
{
    const int64_t n = k->part->count;
    const tl_parts_options *o = &k->t->o;
    if (n == 0) return TALUS_OK;
    size_t mark = tl_arena_mark(k->arena);
    double *b = TL_TAKE(k->arena, double, n), *lo = TL_TAKE(k->arena, double, n), *hi = TL_TAKE(k->arena, double, n);
    double *x = TL_TAKE_ZERO(k->arena, double, n);
    if (!b || !lo || !hi || !x) return no_memory(err);
    contract(k, k->g, b);
    for (int64_t j = 0; j < n; j++) {
        double slope = 0, curvature = 0;
        if (k->plan->rule->cone) penalty_of_unknown(k, j, &slope, &curvature);
        k->stiff[j] = curvature + o->stiffen * k->t->largest;
        b[j] = -b[j] - slope;
    }
    if (o->as_energy && o->stiffen > 0) {
        contract(k, k->x, x);
        for (int64_t j = 0; j < n; j++) b[j] -= o->stiffen * k->t->largest * x[j];
    }
    find_bounds(k, lo, hi);
    find_units(k);
    for (int64_t j = 0; j < n; j++) {
        b[j] *= k->unit[j];
        lo[j] /= k->unit[j], hi[j] /= k->unit[j];
        x[j] = fmin(hi[j], fmax(lo[j], 0));
    }
    k->space = tl_space_local(n);
    tl_boxqp problem = {
        .space = &k->space, .A = {product, NULL, k}, .b = b, .lo = lo, .hi = hi, .norm = tl_parts_rows(k, k->wide)};
    tl_stop stop = {.tolerance = TOLERANCE, .max_iterations = o->iterations};
    tl_options options = tl_options_default();
    tl_precond precond = {.kind = &ssor, .data = k};
    if (o->ssor) options.precond = &precond;
    tl_boxqp_report report;
    TL_TRY(tl_boxqp_solve(tl_boxqp_method_find("mprgp"), &problem, &options, &stop, x, k->arena, &report, err));
    k->work->products += report.work.products;
    k->work->preconds += report.work.preconds;
    k->work->projections++;
    for (int64_t j = 0; j < n; j++) x[j] *= k->unit[j];
    expand(k, x, k->dx);
    tl_arena_release(k->arena, mark);
    return TALUS_OK;
}

/* ---- one solve ---- */

/* Largest of 1, 1/2, 1/4, ... that lowers energy and penalty; 0 when none does. */
static double search(tl_parts_solve *k)
{
    double slope = tl_dot(k->n, k->g, k->dx), now = penalty_energy(k, k->x), length = 1;
    tl_linop_apply(&k->p->A, k->p->space, k->dx, k->wide, k->work);
    double bend = tl_dot(k->n, k->dx, k->wide);
    for (int i = 0; i < SEARCHES; i++, length *= 0.5) {
        for (int64_t j = 0; j < k->n; j++) k->wide[j] = k->x[j] + length * k->dx[j];
        if (length * slope + 0.5 * length * length * bend + penalty_energy(k, k->wide) <= now) return length;
    }
    return 0;
}

static talus_status solve_boxes(tl_parts_solve *k, tl_outcome *out, talus_error *err)
{
    const tl_parts_options *o = &k->t->o;
    const tl_parts_order order = k->plan->rule->order;
    if (!o->keep) memset(k->plan->multiplier, 0, sizeof *k->plan->multiplier * (size_t)k->t->groups);
    for (; out->iterations < o->newton; out->iterations++) {
        tl_parts_gradient(k);
        for (int i = 0; i < k->plan->parts; i++) {
            k->part = &k->plan->part[i];
            TL_TRY(solve_part(k, err));
            if (order != TL_PARTS_SEQUENCE) continue;
            tl_parts_apply(k, 1);
            tl_parts_gradient(k);
        }
        if (order == TL_PARTS_TOGETHER) tl_parts_apply(k, 1);
        if (order == TL_PARTS_JACOBI) tl_parts_apply(k, o->line_search ? search(k) : o->damping);
        if (k->plan->rule->cone) update_multipliers(k);
    }
    return TALUS_OK;
}

/* Vectors of a solve, of a part, and of its box QP. */
static size_t bytes(const tl_cone *p, const tl_options *o)
{
    (void)o;
    return p->parts ? 18 * TL_ARENA_ROOM(double, p->space->n) + TL_ARENA_ROOM(double, p->parts->rows) : 0;
}

static tl_outcome run(const tl_cone *p, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a, tl_work *w)
{
    tl_parts_solve k;
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS};
    (void)o, (void)stop;
    if (!p->parts || !p->parts->plan) return (tl_outcome){.result = TL_NOT_APPLICABLE};
    if (!(p->parts->largest > 0)) return out;
    if (tl_parts_solve_begin(&k, p, x, a, w, NULL) != TALUS_OK) return (tl_outcome){.result = TL_BROKE_DOWN};
    if (k.plan->rule->order == TL_PARTS_DUAL) {
        tl_parts_solve_dual(&k);
        out.iterations = k.t->o.iterations;
    } else if (solve_boxes(&k, &out, NULL) != TALUS_OK) {
        out.result = TL_BROKE_DOWN;
    }
    return out;
}

static const tl_parts_rule jcsp = {TL_PARTS_JACOBI, true, false}, pyramid = {TL_PARTS_JACOBI, false, false},
                           narain = {TL_PARTS_SEQUENCE, false, false}, printed = {TL_PARTS_SEQUENCE, false, true},
                           together = {TL_PARTS_TOGETHER, false, false}, dual = {TL_PARTS_DUAL, true, false};

const tl_cone_method tl_cone_by_parts[] = {
    {"jcsp", "each component alone, damped; cone by penalty and multipliers", false, bytes, run, &jcsp},
    {"jcsp-pyramid", "each component alone, damped; boxes", false, bytes, run, &pyramid},
    {"narain", "one part after the other: yy, xx with zz, shears; boxes", false, bytes, run, &narain},
    {"narain-printed", "the same; yy in a box, then xx against zz at their sum", false, bytes, run, &printed},
    {"box", "all components at once; boxes", false, bytes, run, &together},
    {"primal-dual", "all components at once; cone by a dual tensor per cell", false, bytes, run, &dual},
    {0},
};
