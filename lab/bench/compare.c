#include "lab/bench/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "solve/boxqp/method.h"
#include "solve/cone/method.h"
#include "solve/contact/method.h"
#include "solve/fixedpoint/method.h"
#include "solve/flex/route.h"
#include "solve/linear/method.h"
#include "solve/pressure/method.h"

#define REPEATS_MAX 1000
#define REPEAT_UNTIL 2.0 /* seconds: a row that has taken this long is not repeated */
#define PRODUCTS_MAX 10000
#define TOLERANCE_CONE 1e-6
#define TOLERANCE_CONTACT 1e-8 /* m/s: a ten-millionth of g dt at 10 ms */

/* One row of a table; the contact table shows the last three in place of precond, outer, violation and energy. */
typedef struct line {
    const char *method, *precond;
    tl_outcome outcome;
    tl_work work;
    double seconds; /* of one solve */
    tl_timing timing;
    double certificate, violation, energy;
    double balance, normal_sum;
} line;

/* A kind as the tables see it. `solve` runs method i once and fills outcome, work, seconds and certificates. */
typedef struct kind {
    const char *const *columns;
    void (*send)(tl_table *t, const line *l);
    int (*count)(void);
    const char *(*name)(int i);
    talus_status (*solve)(const void *problem, int i, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a,
                          line *l, talus_error *err);
} kind;

static const char *const columns[] = {"method",   "precond", "iterations",  "outer",     "products", "best s",
                                      "median s", "outcome", "certificate", "violation", "energy",   NULL};

static void send_line(tl_table *t, const line *l)
{
    tl_table_cell(t, "%s", l->method);
    tl_table_cell(t, "%s", l->precond);
    tl_table_cell(t, "%d", l->outcome.iterations);
    tl_table_cell(t, "%lld", (long long)l->work.outer);
    tl_table_cell(t, "%lld", (long long)l->work.products);
    tl_table_cell(t, "%.4f", l->timing.best);
    tl_table_cell(t, "%.4f", l->timing.median);
    tl_table_cell(t, "%s", tl_result_name(l->outcome.result));
    tl_table_cell(t, "%.1e", l->certificate);
    tl_table_cell(t, "%.1e", l->violation);
    tl_table_cell(t, "%.9g", l->energy);
    tl_table_send(t, TALUS_ROW_DATA);
}

static const char *const contact_columns[] = {"method",  "iterations",     "factors", "products",
                                              "best s",  "median s",       "outcome", "residual m/s",
                                              "balance", "sum of normals", NULL};

static const char *const flex_columns[] = {"method",      "iterations",     "factors", "products",
                                           "best s",      "median s",       "outcome", "residual m/s",
                                           "balance m/s", "sum of normals", NULL};

static void send_contact_line(tl_table *t, const line *l)
{
    tl_table_cell(t, "%s", l->method);
    tl_table_cell(t, "%d", l->outcome.iterations);
    tl_table_cell(t, "%lld", (long long)l->work.factorizations);
    tl_table_cell(t, "%lld", (long long)l->work.products);
    tl_table_cell(t, "%.5f", l->timing.best);
    tl_table_cell(t, "%.5f", l->timing.median);
    tl_table_cell(t, "%s", tl_result_name(l->outcome.result));
    tl_table_cell(t, "%.1e", l->certificate);
    tl_table_cell(t, "%.1e", l->balance);
    tl_table_cell(t, "%.9g", l->normal_sum);
    tl_table_send(t, TALUS_ROW_DATA);
}

/* ---- kinds ---- */

static const char *linear_name(int i) { return tl_linear_method_at(i)->name; }
static const char *boxqp_name(int i) { return tl_boxqp_method_at(i)->name; }
static const char *cone_name(int i) { return tl_cone_method_at(i)->name; }
static const char *contact_name(int i) { return tl_contact_method_at(i)->name; }
static const char *pressure_name(int i) { return tl_pressure_method_name(tl_pressure_method_at(i)); }
static const char *fixedpoint_name(int i) { return tl_fixedpoint_method_at(i)->name; }
static const char *flex_name(int i) { return tl_flex_route_at(i)->name; }

static talus_status solve_linear(const void *p, int i, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a,
                                 line *l, talus_error *err)
{
    tl_linear_report r;
    TL_TRY(tl_linear_solve(tl_linear_method_at(i), p, o, stop, x, a, &r, err));
    l->outcome = r.outcome, l->work = r.work, l->seconds = r.seconds;
    l->certificate = r.certificate.residual;
    return TALUS_OK;
}

static talus_status solve_boxqp(const void *p, int i, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a,
                                line *l, talus_error *err)
{
    tl_boxqp_report r;
    TL_TRY(tl_boxqp_solve(tl_boxqp_method_at(i), p, o, stop, x, a, &r, err));
    l->outcome = r.outcome, l->work = r.work, l->seconds = r.seconds;
    l->certificate = r.certificate.optimality, l->violation = r.certificate.violation;
    l->energy = r.certificate.energy;
    return TALUS_OK;
}

static talus_status solve_cone(const void *p, int i, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a,
                               line *l, talus_error *err)
{
    tl_cone_report r;
    TL_TRY(tl_cone_solve(tl_cone_method_at(i), p, o, stop, x, a, &r, err));
    l->outcome = r.outcome, l->work = r.work, l->seconds = r.seconds;
    l->certificate = r.certificate.relative_gap, l->violation = r.certificate.relative_violation;
    l->energy = r.certificate.energy;
    return TALUS_OK;
}

static talus_status solve_contact(const void *p, int i, const tl_options *o, const tl_stop *stop, double *x,
                                  tl_arena *a, line *l, talus_error *err)
{
    /* a Newton step costs a factor, an iteration of the others little more than a product */
    tl_stop own = *stop;
    own.max_iterations = strncmp(contact_name(i), "newton", 6) ? 5000 : 300;
    tl_contact_report r;
    TL_TRY(tl_contact_solve(tl_contact_method_at(i), p, o, &own, x, a, &r, err));
    l->outcome = r.outcome, l->work = r.work, l->seconds = r.seconds;
    l->certificate = r.certificate.residual, l->balance = r.certificate.balance;
    l->normal_sum = r.certificate.normal_sum;
    return TALUS_OK;
}

/* From the start that is given: zero is one as well. */
static talus_status solve_pressure(const void *p, int i, const tl_options *o, const tl_stop *stop, double *x,
                                   tl_arena *a, line *l, talus_error *err)
{
    (void)o;
    tl_pressure_report r;
    tl_pressure_options own = tl_pressure_options_default();
    own.start = TL_PRESSURE_WARM;
    TL_TRY(tl_pressure_solve(tl_pressure_method_at(i), p, &own, stop, x, a, &r, err));
    l->outcome = r.outcome, l->work = r.work, l->seconds = r.seconds;
    l->certificate = r.certificate.optimality, l->violation = r.certificate.violation;
    l->energy = r.certificate.energy;
    return TALUS_OK;
}

static talus_status solve_fixedpoint(const void *p, int i, const tl_options *o, const tl_stop *stop, double *x,
                                     tl_arena *a, line *l, talus_error *err)
{
    tl_fixedpoint_report r;
    TL_TRY(tl_fixedpoint_solve(tl_fixedpoint_method_at(i), p, o, stop, x, a, &r, err));
    l->outcome = r.outcome, l->work = r.work, l->seconds = r.seconds;
    l->certificate = r.certificate.residual, l->violation = r.certificate.violation;
    return TALUS_OK;
}

/* x: impulses, then velocities. A row of balance is what is missing in it, m/s. */
static talus_status solve_flex(const void *problem, int i, const tl_options *o, const tl_stop *stop, double *x,
                               tl_arena *a, line *l, talus_error *err)
{
    (void)o;
    const tl_flex *p = problem;
    const tl_flex_route *route = tl_flex_route_at(i);
    const int64_t m = 3 * (int64_t)p->contacts;
    const tl_stop own = {.tolerance = stop->tolerance}; /* as many iterations as the route may take */
    tl_flex_data *data;
    tl_flex_solver s;
    tl_flex_report r = {.outcome = {.result = TL_NOT_APPLICABLE}};
    l->certificate = l->balance = l->normal_sum = NAN;
    l->outcome = r.outcome, l->work = r.work, l->seconds = 0;
    for (int32_t b = 0; b < p->parts; b++)
        if ((route->needs & TL_FLEX_ROOTS) && !p->part[b].roots) return TALUS_OK; /* the file has none */
    TL_TRY(tl_flex_data_create(&data, err));
    const size_t mark = tl_arena_mark(a);
    talus_status status = tl_flex_begin(&s, route, data, p, a, err);
    if (status == TALUS_OK) status = tl_flex_solve(&s, true, true, &own, x, x + m, &r, err);
    tl_arena_release(a, mark);
    tl_flex_data_free(data);
    TL_TRY(status);
    l->outcome = r.outcome, l->work = r.work, l->seconds = r.prepare + r.seconds;
    l->certificate = r.certificate.contact, l->balance = r.certificate.balance, l->normal_sum = 0;
    for (int64_t k = 0; k < m; k += 3) l->normal_sum += x[k];
    return TALUS_OK;
}

static const kind linear = {columns, send_line, tl_linear_method_count, linear_name, solve_linear};
static const kind boxqp = {columns, send_line, tl_boxqp_method_count, boxqp_name, solve_boxqp};
static const kind cone = {columns, send_line, tl_cone_method_count, cone_name, solve_cone};
static const kind contact = {contact_columns, send_contact_line, tl_contact_method_count, contact_name, solve_contact};
static const kind pressure = {columns, send_line, tl_pressure_method_count_all, pressure_name, solve_pressure};
static const kind fixedpoint = {columns, send_line, tl_fixedpoint_method_count, fixedpoint_name, solve_fixedpoint};

static const kind flex = {flex_columns, send_contact_line, tl_flex_route_count, flex_name, solve_flex};

/* ---- comparison ---- */

/* A problem of some kind with what is common to all its rows. */
typedef struct task {
    const kind *k;
    const void *problem;
    int64_t n;
    const double *x0;
    double *x;
    tl_stop stop;
} task;

static talus_status time_row(tl_compare *c, const task *j, int method, const char *shown, const tl_options *o,
                             talus_error *err)
{
    double seconds[REPEATS_MAX], spent = 0;
    int done = 0;
    line l = {.method = shown, .precond = o->precond ? o->precond->kind->name : "none"};
    while (done < c->repeats && done < REPEATS_MAX && spent < REPEAT_UNTIL) {
        for (int64_t i = 0; i < j->n; i++) j->x[i] = j->x0 ? j->x0[i] : 0;
        TL_TRY(j->k->solve(j->problem, method, o, &j->stop, j->x, &c->arena, &l, err));
        spent += seconds[done++] = l.seconds;
    }
    l.timing = tl_timing_of(done, seconds);
    j->k->send(c->t, &l);
    c->lines++;
    return TALUS_OK;
}

/* Methods with a line search appear twice, as in the paper: one try, and up to five. */
static talus_status time_method(tl_compare *c, const task *j, int method, tl_options *o, talus_error *err)
{
    const char *name = j->k->name(method);
    if (c->t->stopped || (c->o->method && !strstr(name, c->o->method))) return TALUS_OK;
    if (strcmp(name, "pip") && strcmp(name, "auglag")) return time_row(c, j, method, name, o, err);
    for (o->line_searches = 1; o->line_searches <= 5 && !c->t->stopped; o->line_searches += 4) {
        char shown[40];
        snprintf(shown, sizeof shown, "%s (%d ls)", name, o->line_searches);
        TL_TRY(time_row(c, j, method, shown, o, err));
    }
    return TALUS_OK;
}

/* Every method, once for each preconditioner of the list (ended by NULL; "none" = without). */
static talus_status compare(tl_compare *c, task *j, const tl_csr *A, const char *const *preconds, talus_error *err)
{
    tl_table_header(c->t, j->k->columns);
    j->x = TL_NEW(double, j->n);
    if (!j->x) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld unknowns", (long long)j->n);
    talus_status status = TALUS_OK;
    for (; *preconds && status == TALUS_OK; preconds++) {
        tl_options o = tl_options_default();
        if (strcmp(*preconds, "none")) status = tl_precond_create(&o.precond, tl_precond_find(*preconds), A, err);
        for (int i = 0; i < j->k->count() && status == TALUS_OK; i++) status = time_method(c, j, i, &o, err);
        tl_precond_free(o.precond);
    }
    tl_free(j->x);
    return status;
}

static const char *const without[] = {"none", NULL};

static tl_stop stop_at(const tl_compare *c, double tolerance)
{
    return (tl_stop){c->o->tolerance > 0 ? c->o->tolerance : tolerance, 0, PRODUCTS_MAX};
}

static talus_status needs_rows(const tl_linop *A, const char *title, talus_error *err)
{
    return A->csr ? TALUS_OK : TL_FAIL(err, TALUS_UNSUPPORTED, "%s: the comparison needs explicit rows", title);
}

static void send_title(tl_compare *c, const char *title, const task *j)
{
    tl_table_line(c->t, TALUS_ROW_TITLE, "%s: %lld unknowns, target %.0e, at most %lld products, %d threads", title,
                  (long long)j->n, j->stop.tolerance, (long long)j->stop.max_products, tl_threads());
}

talus_status tl_compare_linear(tl_compare *c, const char *title, const tl_linear *p, const double *x0, talus_error *err)
{
    static const char *const preconds[] = {"none", "jacobi", "ssor", "ic", "mic", NULL};
    task j = {.k = &linear, .problem = p, .n = p->space->n, .x0 = x0, .stop = stop_at(c, TL_COMPARE_TOLERANCE)};
    TL_TRY(needs_rows(&p->A, title, err));
    send_title(c, title, &j);
    return compare(c, &j, p->A.csr, preconds, err);
}

talus_status tl_compare_boxqp(tl_compare *c, const char *title, const tl_boxqp *p, const double *x0, talus_error *err)
{
    static const char *const preconds[] = {"none", "mic", NULL};
    task j = {.k = &boxqp, .problem = p, .n = p->space->n, .x0 = x0, .stop = stop_at(c, TL_COMPARE_TOLERANCE)};
    TL_TRY(needs_rows(&p->A, title, err));
    send_title(c, title, &j);
    return compare(c, &j, p->A.csr, preconds, err);
}

talus_status tl_compare_cone(tl_compare *c, const char *title, const tl_cone *p, const double *x0, talus_error *err)
{
    task j = {.k = &cone, .problem = p, .n = p->space->n, .x0 = x0, .stop = stop_at(c, TOLERANCE_CONE)};
    tl_table_line(c->t, TALUS_ROW_TITLE, "%s: %lld groups of %d, target gap %.0e |E|, at most %d products, %d threads",
                  title, (long long)(j.n / p->size), p->size, j.stop.tolerance, PRODUCTS_MAX, tl_threads());
    return compare(c, &j, NULL, without, err);
}

talus_status tl_compare_contact(tl_compare *c, const char *title, const tl_contact *p, const double *x0,
                                talus_error *err)
{
    task j = {.k = &contact, .problem = p, .n = p->space->n, .x0 = x0, .stop = stop_at(c, TOLERANCE_CONTACT)};
    j.stop.max_products = 0;
    tl_table_line(c->t, TALUS_ROW_TITLE, "%s: %lld contacts, target %.0e m/s%s", title, (long long)(j.n / 3),
                  j.stop.tolerance, x0 ? "" : ", from zero impulses");
    return compare(c, &j, NULL, without, err);
}

talus_status tl_compare_pressure(tl_compare *c, const char *title, const tl_pressure *p, const double *x0,
                                 talus_error *err)
{
    task j = {.k = &pressure, .problem = p, .n = p->n + p->extras, .x0 = x0, .stop = stop_at(c, TL_COMPARE_TOLERANCE)};
    send_title(c, title, &j);
    return compare(c, &j, NULL, without, err);
}

talus_status tl_compare_fixedpoint(tl_compare *c, const char *title, const tl_fixedpoint *p, const double *x0,
                                   talus_error *err)
{
    task j = {.k = &fixedpoint, .problem = p, .n = p->space->n, .x0 = x0, .stop = stop_at(c, TL_COMPARE_TOLERANCE)};
    j.stop.max_products = 10 * PRODUCTS_MAX; /* an evaluation counts as a product */
    send_title(c, title, &j);
    return compare(c, &j, NULL, without, err);
}

/* Factors of parts, which a file has not. */
static talus_status make_factors(const tl_flex *p, tl_flex_part *part, talus_error *err)
{
    const tl_factor_options o = tl_factor_options_default();
    for (int32_t b = 0; b < p->parts; b++) {
        part[b] = p->part[b];
        TL_TRY(tl_factor_create(&part[b].factor, &o, err));
        TL_TRY(tl_factor_update(part[b].factor, part[b].H, err));
    }
    return TALUS_OK;
}

talus_status tl_compare_flex(tl_compare *c, const char *title, const tl_flex *p, const double *x0, talus_error *err)
{
    tl_flex with_factors = *p;
    task j = {.k = &flex,
              .problem = &with_factors,
              .n = 3 * (int64_t)p->contacts + tl_flex_size(p),
              .x0 = x0,
              .stop = stop_at(c, TOLERANCE_CONTACT)};
    tl_flex_part *part = TL_NEW_ZERO(tl_flex_part, p->parts + 1);
    if (!part) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d parts", (int)p->parts);
    with_factors.part = part;
    tl_table_line(c->t, TALUS_ROW_TITLE, "%s: %d contacts, %d of them rows of joints, %lld velocities, target %.0e m/s",
                  title, (int)p->contacts, (int)p->boxes, (long long)tl_flex_size(p), j.stop.tolerance);
    talus_status status = make_factors(p, part, err);
    if (status == TALUS_OK) status = compare(c, &j, NULL, without, err);
    for (int32_t b = 0; b < p->parts; b++) tl_factor_free(part[b].factor);
    tl_free(part);
    return status;
}

talus_status tl_compare_answer(const tl_captured *p, double *out, tl_arena *a, talus_error *err)
{
    *out = NAN;
    if (!p->solution) return TALUS_OK;
    union {
        tl_boxqp_certificate boxqp;
        tl_cone_certificate cone;
        tl_contact_certificate contact;
        tl_pressure_certificate pressure;
        tl_fixedpoint_certificate fixedpoint;
        tl_flex_certificate flex;
    } q;
    double *x = (double *)p->solution; /* no halo: nothing is written */
    switch (p->kind) {
    case TL_KIND_LINEAR: {
        double max = 0, b = 0;
        for (int64_t i = 0; i < p->space.n; i++) {
            double left = p->linear.b[i];
            for (int64_t k = p->A.start[i]; k < p->A.start[i + 1]; k++) left -= p->A.val[k] * x[p->A.col[k]];
            max = fmax(max, fabs(left));
            b = fmax(b, fabs(p->linear.b[i]));
        }
        *out = b > 0 ? max / b : max;
        break;
    }
    case TL_KIND_BOXQP:
        TL_TRY(tl_boxqp_certify(&p->boxqp, x, &q.boxqp, a, err));
        *out = q.boxqp.optimality;
        break;
    case TL_KIND_CONE:
        TL_TRY(tl_cone_certify(&p->cone, x, &q.cone, a, err));
        *out = fmax(q.cone.relative_gap, q.cone.relative_violation);
        break;
    case TL_KIND_CONTACT:
        TL_TRY(tl_contact_certify(&p->contact, x, &q.contact, a, err));
        *out = q.contact.residual;
        break;
    case TL_KIND_PRESSURE:
        TL_TRY(tl_pressure_certify(&p->pressure, x, &q.pressure, a, err));
        *out = q.pressure.optimality;
        break;
    case TL_KIND_FIXEDPOINT:
        TL_TRY(tl_fixedpoint_certify(&p->fixedpoint, x, &q.fixedpoint, a, err));
        *out = q.fixedpoint.residual;
        break;
    case TL_KIND_FLEX:
        TL_TRY(tl_flex_certify(&p->flex, x, x + 3 * (int64_t)p->flex.contacts, &q.flex, a, err));
        *out = q.flex.residual;
        break;
    }
    return TALUS_OK;
}
