/* Every method of a kind on the same problem: same start, same target, same preconditioner, certificate
 * computed outside of the method. Problems are made up here or replayed from a captured file. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/text.h"
#include "bench/gen_boxqp.h"
#include "bench/gen_chain.h"
#include "bench/gen_cone.h"
#include "bench/gen_contact.h"
#include "bench/table.h"
#include "io/capture.h"
#include "solve/boxqp/method.h"
#include "solve/cone/method.h"
#include "solve/contact/method.h"
#include "solve/fixedpoint/method.h"
#include "solve/linear/method.h"

#define SIZE_DEFAULT 32
#define REPEATS_DEFAULT 3
#define REPEAT_UNTIL 2.0   /* seconds: a row that has taken this long is not repeated */
#define TOLERANCE_BOX 1e-5 /* [FM21 sec. 5]: residuals between 1e-3 and 1e-5 */
#define TOLERANCE_CONE 1e-6
#define TOLERANCE_CONTACT 1e-8 /* m/s: a ten-millionth of g dt at 10 ms */
#define PRODUCTS_MAX 10000
#define REPEATS_MAX 1000

/* What the tables share. */
typedef struct context {
    const talus_bench_options *o;
    tl_table *t;
    tl_arena arena;
    int repeats;
    int lines; /* sent so far */
} context;

static bool wanted(const char *name, const char *part) { return !part || strstr(name, part); }

/* x0 NULL: zero */
static void set_start(int64_t n, const double *x0, double *x)
{
    if (x0)
        memcpy(x, x0, sizeof *x * (size_t)n);
    else
        memset(x, 0, sizeof *x * (size_t)n);
}

static const char *const columns[] = {"method",   "precond", "iterations",  "outer",     "products", "best s",
                                      "median s", "outcome", "certificate", "violation", "energy",   NULL};

typedef struct line {
    const char *method, *precond;
    tl_outcome outcome;
    tl_work work;
    tl_timing timing;
    double certificate, violation, energy;
} line;

static void send_line(context *c, const line *l)
{
    c->lines++;
    tl_table_cell(c->t, "%s", l->method);
    tl_table_cell(c->t, "%s", l->precond);
    tl_table_cell(c->t, "%d", l->outcome.iterations);
    tl_table_cell(c->t, "%lld", (long long)l->work.outer);
    tl_table_cell(c->t, "%lld", (long long)l->work.products);
    tl_table_cell(c->t, "%.4f", l->timing.best);
    tl_table_cell(c->t, "%.4f", l->timing.median);
    tl_table_cell(c->t, "%s", tl_result_name(l->outcome.result));
    tl_table_cell(c->t, "%.1e", l->certificate);
    tl_table_cell(c->t, "%.1e", l->violation);
    tl_table_cell(c->t, "%.9g", l->energy);
    tl_table_send(c->t, TALUS_ROW_DATA);
}

/* Write a problem to the folder of --capture: NAME.h5 to replay, NAME-*.mtx for other tools. */
static talus_status capture(context *c, const char *name, const tl_captured *p, talus_error *err)
{
    if (!c->o->capture) return TALUS_OK;
    char path[512], prefix[480];
    if (snprintf(prefix, sizeof prefix, "%s/%s", c->o->capture, name) >= (int)sizeof prefix)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the folder name '%.60s...' is too long", c->o->capture);
    snprintf(path, sizeof path, "%s.h5", prefix);
    mkdir(c->o->capture, 0777); /* an existing folder is fine; a failure shows when the file is written */
    tl_capture_info info = {.note = name, .tolerance = NAN, .x0 = p->x0};
    if (p->kind == TL_KIND_BOXQP) TL_TRY(tl_capture_boxqp(path, &p->boxqp, &info, err));
    if (p->kind == TL_KIND_CONE) TL_TRY(tl_capture_cone(path, &p->cone, &info, err));
    if (p->kind == TL_KIND_LINEAR) TL_TRY(tl_capture_linear(path, &p->linear, &info, err));
    tl_captured *back;
    TL_TRY(tl_capture_load(path, &back, err));
    talus_status status = tl_captured_export(back, prefix, err);
    tl_captured_free(back);
    tl_table_line(c->t, TALUS_ROW_NOTE, "captured: %s and %s-*.mtx", path, prefix);
    return status;
}

/* ---- box QPs ---- */

static talus_status time_boxqp(context *c, const tl_boxqp_method *m, const char *shown, const tl_boxqp *qp,
                               const double *x0, double *x, const tl_options *o, const tl_stop *stop, talus_error *err)
{
    double seconds[REPEATS_MAX], spent = 0;
    tl_boxqp_report report;
    int done = 0;
    while (done < c->repeats && spent < REPEAT_UNTIL) {
        set_start(qp->space->n, x0, x);
        TL_TRY(tl_boxqp_solve(m, qp, o, stop, x, &c->arena, NULL, &report, err));
        spent += seconds[done++] = report.seconds;
    }
    line l = {.method = shown,
              .precond = o->precond ? o->precond->kind->name : "none",
              .outcome = report.outcome,
              .work = report.work,
              .timing = tl_timing_of(done, seconds),
              .certificate = report.certificate.optimality,
              .violation = report.certificate.violation,
              .energy = report.certificate.energy};
    send_line(c, &l);
    return TALUS_OK;
}

/* Methods with a line search appear twice, as in the paper: one try, and up to five. */
static talus_status time_boxqp_variants(context *c, const tl_boxqp_method *m, const tl_boxqp *qp, const double *x0,
                                        double *x, tl_options *o, const tl_stop *stop, talus_error *err)
{
    bool searches = !strcmp(m->name, "pip") || !strcmp(m->name, "auglag");
    for (int tries = 1; tries <= (searches ? 5 : 1); tries += 4) {
        char shown[40];
        snprintf(shown, sizeof shown, searches ? "%s (%d ls)" : "%s", m->name, tries);
        o->line_searches = tries;
        if (c->t->stopped) return TALUS_OK;
        TL_TRY(time_boxqp(c, m, shown, qp, x0, x, o, stop, err));
    }
    return TALUS_OK;
}

static talus_status compare_boxqp(context *c, const char *title, const tl_boxqp *qp, const double *x0, talus_error *err)
{
    if (!qp->A.csr) return TL_FAIL(err, TALUS_UNSUPPORTED, "%s: the comparison needs explicit rows", title);
    tl_stop stop = {c->o->tolerance > 0 ? c->o->tolerance : TOLERANCE_BOX, 0, PRODUCTS_MAX};
    int64_t n = qp->space->n;
    tl_table_line(c->t, TALUS_ROW_TITLE, "%s: %lld unknowns, target %.0e, at most %d products, %d threads", title,
                  (long long)n, stop.tolerance, PRODUCTS_MAX, tl_threads());
    tl_table_header(c->t, columns);
    double *x = TL_NEW(double, n);
    if (!x) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld unknowns", (long long)n);
    static const char *const preconds[] = {"none", "mic"};
    talus_status status = TALUS_OK;
    for (int k = 0; k < 2 && status == TALUS_OK; k++) {
        tl_options o = tl_options_default();
        if (k > 0) status = tl_precond_create(&o.precond, tl_precond_find(preconds[k]), qp->A.csr, err);
        for (int i = 0; i < tl_boxqp_method_count() && status == TALUS_OK; i++)
            if (wanted(tl_boxqp_method_at(i)->name, c->o->method))
                status = time_boxqp_variants(c, tl_boxqp_method_at(i), qp, x0, x, &o, &stop, err);
        tl_precond_free(o.precond);
    }
    tl_free(x);
    return status;
}

/* ---- cone problems ---- */

static talus_status time_cone(context *c, const tl_cone_method *m, const tl_cone *p, const double *x0, double *x,
                              const tl_stop *stop, talus_error *err)
{
    double seconds[REPEATS_MAX], spent = 0;
    tl_options o = tl_options_default();
    tl_cone_report report;
    int done = 0;
    while (done < c->repeats && spent < REPEAT_UNTIL) {
        set_start(p->space->n, x0, x);
        TL_TRY(tl_cone_solve(m, p, &o, stop, x, &c->arena, NULL, &report, err));
        spent += seconds[done++] = report.seconds;
    }
    line l = {.method = m->name,
              .precond = "-",
              .outcome = report.outcome,
              .work = report.work,
              .timing = tl_timing_of(done, seconds),
              .certificate = report.certificate.relative_gap,
              .violation = report.certificate.relative_violation,
              .energy = report.certificate.energy};
    send_line(c, &l);
    return TALUS_OK;
}

static talus_status compare_cone(context *c, const char *title, const tl_cone *p, const double *x0, talus_error *err)
{
    tl_stop stop = {c->o->tolerance > 0 ? c->o->tolerance : TOLERANCE_CONE, 0, PRODUCTS_MAX};
    int64_t n = p->space->n;
    tl_table_line(c->t, TALUS_ROW_TITLE, "%s: %lld groups of %d, target gap %.0e |E|, at most %d products, %d threads",
                  title, (long long)(n / p->size), p->size, stop.tolerance, PRODUCTS_MAX, tl_threads());
    tl_table_header(c->t, columns);
    double *x = TL_NEW(double, n);
    if (!x) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld unknowns", (long long)n);
    talus_status status = TALUS_OK;
    for (int i = 0; i < tl_cone_method_count() && status == TALUS_OK && !c->t->stopped; i++)
        if (wanted(tl_cone_method_at(i)->name, c->o->method))
            status = time_cone(c, tl_cone_method_at(i), p, x0, x, &stop, err);
    tl_free(x);
    return status;
}

/* ---- linear systems ---- */

static talus_status time_linear(context *c, const tl_linear_method *m, const tl_linear *p, const double *x0, double *x,
                                const tl_options *o, const tl_stop *stop, talus_error *err)
{
    double seconds[REPEATS_MAX], spent = 0;
    tl_linear_report report;
    int done = 0;
    while (done < c->repeats && spent < REPEAT_UNTIL) {
        set_start(p->space->n, x0, x);
        TL_TRY(tl_linear_solve(m, p, o, stop, x, &c->arena, NULL, &report, err));
        spent += seconds[done++] = report.seconds;
    }
    line l = {.method = m->name,
              .precond = o->precond ? o->precond->kind->name : "none",
              .outcome = report.outcome,
              .work = report.work,
              .timing = tl_timing_of(done, seconds),
              .certificate = report.certificate.residual};
    send_line(c, &l);
    return TALUS_OK;
}

static talus_status compare_linear(context *c, const char *title, const tl_linear *p, const double *x0,
                                   talus_error *err)
{
    tl_stop stop = {c->o->tolerance > 0 ? c->o->tolerance : TOLERANCE_BOX, 0, PRODUCTS_MAX};
    int64_t n = p->space->n;
    tl_table_line(c->t, TALUS_ROW_TITLE, "%s: %lld unknowns, target %.0e, at most %d products, %d threads", title,
                  (long long)n, stop.tolerance, PRODUCTS_MAX, tl_threads());
    tl_table_header(c->t, columns);
    double *x = TL_NEW(double, n);
    if (!x) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld unknowns", (long long)n);
    talus_status status = TALUS_OK;
    for (int k = 0; k < tl_precond_count() && status == TALUS_OK; k++) {
        tl_options o = tl_options_default();
        status = tl_precond_create(&o.precond, tl_precond_at(k), p->A.csr, err);
        for (int i = 0; i < tl_linear_method_count() && status == TALUS_OK && !c->t->stopped; i++)
            if (wanted(tl_linear_method_at(i)->name, c->o->method))
                status = time_linear(c, tl_linear_method_at(i), p, x0, x, &o, &stop, err);
        tl_precond_free(o.precond);
    }
    tl_free(x);
    return status;
}

/* ---- fixed points ---- */

static talus_status time_fixedpoint(context *c, const tl_fixedpoint_method *m, const tl_fixedpoint *p, double *x,
                                    const tl_stop *stop, talus_error *err)
{
    double seconds[REPEATS_MAX], spent = 0;
    tl_options o = tl_options_default();
    tl_fixedpoint_report report;
    int done = 0;
    while (done < c->repeats && spent < REPEAT_UNTIL) {
        memset(x, 0, sizeof(double) * (size_t)p->space->n);
        TL_TRY(tl_fixedpoint_solve(m, p, &o, stop, x, &c->arena, NULL, &report, err));
        spent += seconds[done++] = report.seconds;
    }
    line l = {.method = m->name,
              .precond = "-",
              .outcome = report.outcome,
              .work = report.work,
              .timing = tl_timing_of(done, seconds),
              .certificate = report.certificate.residual,
              .violation = report.certificate.violation};
    send_line(c, &l);
    return TALUS_OK;
}

static talus_status compare_fixedpoint(context *c, const char *title, const tl_fixedpoint *p, talus_error *err)
{
    tl_stop stop = {c->o->tolerance > 0 ? c->o->tolerance : TOLERANCE_BOX, 0, 10 * PRODUCTS_MAX};
    int64_t n = p->space->n;
    tl_table_line(c->t, TALUS_ROW_TITLE, "%s: %lld unknowns, target %.0e, at most %d evaluations", title, (long long)n,
                  stop.tolerance, 10 * PRODUCTS_MAX);
    tl_table_header(c->t, columns);
    double *x = TL_NEW(double, n);
    if (!x) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld unknowns", (long long)n);
    talus_status status = TALUS_OK;
    for (int i = 0; i < tl_fixedpoint_method_count() && status == TALUS_OK && !c->t->stopped; i++)
        if (wanted(tl_fixedpoint_method_at(i)->name, c->o->method))
            status = time_fixedpoint(c, tl_fixedpoint_method_at(i), p, x, &stop, err);
    tl_free(x);
    return status;
}

/* ---- contact ---- */

static const char *const contact_columns[] = {"method",  "iterations",     "factors", "products",
                                              "best s",  "median s",       "outcome", "residual m/s",
                                              "balance", "sum of normals", NULL};

static talus_status time_contact(context *c, const tl_contact_method *m, const tl_contact *p, double *lam,
                                 talus_error *err)
{
    double seconds[REPEATS_MAX], spent = 0;
    tl_options o = tl_options_default();
    tl_stop stop = {c->o->tolerance > 0 ? c->o->tolerance : TOLERANCE_CONTACT,
                    strncmp(m->name, "newton", 6) ? 5000 : 300, 0};
    tl_contact_report report;
    int done = 0;
    while (done < c->repeats && spent < REPEAT_UNTIL) {
        memset(lam, 0, sizeof(double) * (size_t)p->space->n);
        TL_TRY(tl_contact_solve(m, p, &o, &stop, lam, &c->arena, NULL, &report, err));
        spent += seconds[done++] = report.seconds;
    }
    tl_timing timing = tl_timing_of(done, seconds);
    tl_table_cell(c->t, "%s", m->name);
    tl_table_cell(c->t, "%d", report.outcome.iterations);
    tl_table_cell(c->t, "%lld", (long long)report.work.factorizations);
    tl_table_cell(c->t, "%lld", (long long)report.work.products);
    tl_table_cell(c->t, "%.5f", timing.best);
    tl_table_cell(c->t, "%.5f", timing.median);
    tl_table_cell(c->t, "%s", tl_result_name(report.outcome.result));
    tl_table_cell(c->t, "%.1e", report.certificate.residual);
    tl_table_cell(c->t, "%.1e", report.certificate.balance);
    tl_table_cell(c->t, "%.9g", report.certificate.normal_sum);
    tl_table_send(c->t, TALUS_ROW_DATA);
    c->lines++;
    return TALUS_OK;
}

static talus_status compare_contact(context *c, const char *title, const tl_contact *p, talus_error *err)
{
    int64_t n = p->space->n;
    tl_table_line(c->t, TALUS_ROW_TITLE, "%s: %lld contacts, target %.0e m/s, from zero impulses", title,
                  (long long)(n / 3), c->o->tolerance > 0 ? c->o->tolerance : TOLERANCE_CONTACT);
    tl_table_header(c->t, contact_columns);
    double *lam = TL_NEW(double, n);
    if (!lam) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld unknowns", (long long)n);
    talus_status status = TALUS_OK;
    for (int i = 0; i < tl_contact_method_count() && status == TALUS_OK && !c->t->stopped; i++)
        if (wanted(tl_contact_method_at(i)->name, c->o->method))
            status = time_contact(c, tl_contact_method_at(i), p, lam, err);
    tl_free(lam);
    return status;
}

/* ---- problems ---- */

static talus_status wall_separation(context *c, int size, talus_error *err)
{
    tl_boxqp_case wall;
    TL_TRY(tl_gen_wall_separation(&wall, size, 1, err));
    tl_captured as = {.kind = TL_KIND_BOXQP, .boxqp = wall.qp, .x0 = wall.x0};
    talus_status status = capture(c, "wall-separation", &as, err);
    if (status == TALUS_OK)
        status = compare_boxqp(c, "Wall separation, liquid on the roof of a ball", &wall.qp, wall.x0, err);
    tl_boxqp_case_free(&wall);
    return status;
}

/* The step after: the stir has changed by a twentieth, the start is the pressure of the step before. This
 * is how a simulation meets the problem; for CG the step before was solved without bounds as well. */
static talus_status wall_separation_warm(context *c, int size, talus_error *err)
{
    tl_boxqp_case wall, other = {0};
    TL_TRY(tl_gen_wall_separation(&wall, size, 1, err));
    talus_status status = tl_gen_wall_separation(&other, size, 2, err);
    tl_options o = tl_options_default();
    if (status == TALUS_OK) status = tl_precond_create(&o.precond, tl_precond_find("mic"), &wall.A, err);
    if (status == TALUS_OK) {
        tl_boxqp_report before;
        tl_stop stop = {c->o->tolerance > 0 ? c->o->tolerance : TOLERANCE_BOX, 0, 0};
        const char *first = c->o->method && !strcmp(c->o->method, "cg") ? "cg" : "mprgp";
        status =
            tl_boxqp_solve(tl_boxqp_method_find(first), &wall.qp, &o, &stop, wall.x0, &c->arena, NULL, &before, err);
    }
    tl_precond_free(o.precond);
    if (status == TALUS_OK) {
        for (int32_t i = 0; i < wall.A.rows; i++) wall.b[i] += 0.05 * (other.b[i] - wall.b[i]);
        tl_captured as = {.kind = TL_KIND_BOXQP, .boxqp = wall.qp, .x0 = wall.x0};
        status = capture(c, "wall-separation-warm", &as, err);
        if (status == TALUS_OK)
            status = compare_boxqp(c, "Wall separation, the step after, warm start", &wall.qp, wall.x0, err);
    }
    tl_boxqp_case_free(&other);
    tl_boxqp_case_free(&wall);
    return status;
}

static talus_status pressure_linear(context *c, int size, talus_error *err)
{
    tl_boxqp_case wall;
    TL_TRY(tl_gen_wall_separation(&wall, size, 1, err));
    tl_linear p = {&wall.space, wall.qp.A, wall.b};
    tl_captured as = {.kind = TL_KIND_LINEAR, .linear = p};
    talus_status status = capture(c, "pressure-linear", &as, err);
    if (status == TALUS_OK)
        status = compare_linear(c, "The same pressure without bounds, as a linear system", &p, NULL, err);
    tl_boxqp_case_free(&wall);
    return status;
}

static talus_status random_box(context *c, int size, talus_error *err)
{
    tl_boxqp_case box;
    int n = size < 8 ? 60 : size > 64 ? 600 : 10 * size;
    TL_TRY(tl_gen_random_boxqp(&box, n, 1e4, n, 1, err));
    tl_captured as = {.kind = TL_KIND_BOXQP, .boxqp = box.qp, .x0 = box.x0};
    talus_status status = capture(c, "random-box", &as, err);
    if (status == TALUS_OK)
        status = compare_boxqp(c, "Random box QP, condition 1e4, full matrix", &box.qp, box.x0, err);
    tl_boxqp_case_free(&box);
    return status;
}

static talus_status sand_box(context *c, int size, talus_error *err)
{
    tl_gen_cone sand;
    int n = size < 4 ? 4 : size > 32 ? 32 : size / 2;
    TL_TRY(tl_gen_cone_stress(&sand, n, n, n, 1, err));
    tl_captured as = {.kind = TL_KIND_CONE, .cone = sand.problem};
    talus_status status = capture(c, "sand-box", &as, err);
    if (status == TALUS_OK)
        status = compare_cone(c, "Frictional stress in a sand box at frozen pressure", &sand.problem, NULL, err);
    tl_gen_cone_free(&sand);
    return status;
}

static talus_status friction_blocks(context *c, int size, talus_error *err)
{
    tl_gen_cone blocks;
    tl_gen_cone_blocks_spec spec = {.columns = size < 4    ? 4
                                               : size > 64 ? 64
                                                           : size,
                                    .levels = 5,
                                    .tilt_deg = 30,
                                    .azimuth_deg = 22.5,
                                    .friction = 0.5,
                                    .side_press = 0.2,
                                    .mass_spread = 2,
                                    .seed = 1};
    TL_TRY(tl_gen_cone_blocks(&blocks, &spec, err));
    tl_captured as = {.kind = TL_KIND_CONE, .cone = blocks.problem};
    talus_status status = capture(c, "friction-blocks", &as, err);
    if (status == TALUS_OK)
        status = compare_cone(c, "Friction of stacked blocks at frozen normal force", &blocks.problem, NULL, err);
    tl_gen_cone_free(&blocks);
    return status;
}

static talus_status pillar(context *c, int size, talus_error *err)
{
    tl_chain chain;
    int n = size > 100 ? 100 : size < 2 ? 2 : size;
    TL_TRY(tl_chain_create(&chain, n, 0, 0, err));
    tl_space space = tl_space_local(n);
    tl_chain_part whole = {&space, &chain.A, chain.c, chain.nu};
    tl_fixedpoint p = tl_chain_problem(&whole, 1);
    talus_status status = compare_fixedpoint(c, "Pillar of blocks, each resting on the one below", &p, err);
    tl_chain_free(&chain);
    return status;
}

/* Stacks and walls whose normals must add up to a known sum; the last two punish methods that look at residuals alone. */
static talus_status contact_walls(context *c, int size, talus_error *err)
{
    (void)size;
    static const double tower[5] = {1, 10, 100, 1000, 10000};
    static const struct {
        const char *title;
        int rows, bricks;
        double top;
    } walls[] = {{"Wall of 5 rows of 4 bricks (sum 23.544 N s)", 5, 4, 1},
                 {"Wall of 10 rows of 8 bricks (sum 172.656 N s)", 10, 8, 1},
                 {"Wall of 5 rows of 4 bricks, top row x1000 (sum 7863.696 N s)", 5, 4, 1000}};
    tl_gen_contact g;
    for (size_t k = 0; k < sizeof walls / sizeof walls[0] && !c->t->stopped; k++) {
        TL_TRY(tl_gen_contact_wall(&g, walls[k].rows, walls[k].bricks, walls[k].top, 0.6, err));
        talus_status status = compare_contact(c, walls[k].title, &g.problem, err);
        tl_gen_contact_free(&g);
        TL_TRY(status);
    }
    TL_TRY(tl_gen_contact_stack(&g, 5, tower, 0.5, err));
    talus_status status =
        compare_contact(c, "Tower of 1, 10, ... 10000 kg upwards (sum 5328.8901 N s)", &g.problem, err);
    tl_gen_contact_free(&g);
    return status;
}

static const struct {
    const char *name;
    talus_status (*run)(context *c, int size, talus_error *err);
} problems[] = {
    {"wall-separation", wall_separation},
    {"wall-separation-warm", wall_separation_warm},
    {"pressure-linear", pressure_linear},
    {"random-box", random_box},
    {"sand-box", sand_box},
    {"friction-blocks", friction_blocks},
    {"pillar", pillar},
    {"contact-walls", contact_walls},
};

/* A captured problem with every method of its kind, from its own start and to its own target when it has them. */
static talus_status replay(context *c, const char *path, talus_error *err)
{
    tl_captured *p;
    TL_TRY(tl_capture_load(path, &p, err));
    talus_bench_options as_captured = *c->o;
    if (!(as_captured.tolerance > 0) && p->tolerance > 0) as_captured.tolerance = p->tolerance;
    c->o = &as_captured;
    talus_status status = TALUS_OK;
    switch (p->kind) {
    case TL_KIND_LINEAR: status = compare_linear(c, path, &p->linear, p->x0, err); break;
    case TL_KIND_BOXQP: status = compare_boxqp(c, path, &p->boxqp, p->x0, err); break;
    case TL_KIND_CONE: status = compare_cone(c, path, &p->cone, p->x0, err); break;
    case TL_KIND_CONTACT: status = compare_contact(c, path, &p->contact, err); break;
    }
    tl_captured_free(p);
    return status;
}

static bool is_file(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    return length > 3 && !strcmp(name + length - 3, ".h5");
}

static talus_status run(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    context c = {.o = o, .t = t, .repeats = o->repeats ? o->repeats : REPEATS_DEFAULT};
    int size = o->size ? o->size : SIZE_DEFAULT, known = 0;
    talus_status status = TALUS_OK;
    if (is_file(o->problem)) {
        known++;
        status = replay(&c, o->problem, err);
    }
    for (size_t i = 0; i < sizeof problems / sizeof problems[0] && status == TALUS_OK && !t->stopped; i++) {
        if (is_file(o->problem) || !wanted(problems[i].name, o->problem)) continue;
        known++;
        status = problems[i].run(&c, size, err);
    }
    tl_arena_free(&c.arena);
    if (status == TALUS_OK && !known) {
        const char *names[sizeof problems / sizeof problems[0] + 1] = {0};
        for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) names[i] = problems[i].name;
        const char *near = tl_text_nearest(o->problem, names);
        return TL_FAIL(err, TALUS_BAD_INPUT, "no problem '%s'; %s%s%s see 'talus bench --help'", o->problem,
                       near ? "did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    if (status == TALUS_OK && !c.lines && !t->stopped)
        return TL_FAIL(err, TALUS_BAD_INPUT, "no method of these problems has '%s' in its name", o->method);
    return status;
}

const tl_bench tl_bench_solvers = {
    "solvers", "every solver method on the same problems: iterations, products, seconds, outcome, certificate", run};
