/* Frictional stress of steps under way, at the pressure that they ended with: how near the optimum a method comes for
 * its work.
 *
 * A way is (E - E*) / |E*| above the optimum: E* is bounded from below by a long solve and its certificate, so that
 * the number is one-sided and safe. Stress that is outside of its cones is scaled back into them first; a method is
 * not paid for friction that it cannot have. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sum.h"
#include "base/timer.h"
#include "lab/bench/table.h"
#include "lab/world.h"
#include "model/grid/active.h"
#include "phase/grid/grid.h"

#define WORK 40         /* products of K and of K^T */
#define REFERENCE 20000 /* iterations, at most */
#define REFERENCE_GAP 1e-4

typedef struct step_case {
    const char *scene;
    int frame, size; /* cells per metre */
} step_case;
static const step_case cases[] = {{"sand-column", 5, 80},  {"sand-column", 10, 80}, {"sand-column", 20, 80},
                                  {"sand-column", 10, 96}, {"sand-boxes", 10, 80},  {"sand-boxes", 10, 96}};
#define CASES ((int)(sizeof cases / sizeof *cases))

typedef struct taken {
    tl_table *table;
    const step_case *what;
    const tl_sim *sim;
} taken;

/* The step's velocities and answer, given back when all is done. */
typedef struct kept {
    double *u, *v, *s, *past, *zero;
    double lowest, energy; /* bound from below, of the best that was found */
} kept;

/* Frictional stress of the step, as a problem and as a block that methods work on. */
typedef struct stress {
    tl_friction *f;
    tl_cones *c;
} stress;

static talus_status certify(stress x, const double *p, tl_arena *a, tl_cone_certificate *out, talus_error *err)
{
    const tl_cone problem = tl_friction_problem(x.f, p);
    return tl_cone_certify(&problem, x.f->s, out, a, err);
}

/* s becomes `to`, and velocities follow. */
static void set_stress(stress x, const double *to)
{
    for (int64_t i = 0; i < x.c->n; i++) {
        x.c->ds[i] = to[i] - x.c->s[i];
        x.c->s[i] = to[i];
    }
    x.c->push(x.c->ctx, x.c->ds);
}

/* Gap of s, scaled back into its cones. Leaves it there. */
static talus_status gap_of(stress x, const double *p, const kept *k, tl_arena *a, double *gap, talus_error *err)
{
    tl_cone_certificate c;
    const tl_friction *f = x.f;
    TL_TRY(certify(x, p, a, &c, err)); /* finds radii */
    double Q[TL_STRESS_GROUP * TL_STRESS_GROUP];
    tl_stress_form(f->stress, Q);
    for (int32_t i = 0; i < f->stress->cells; i++) {
        double *s = f->s + TL_STRESS_GROUP * (int64_t)i, square = 0, scale;
        for (int m = 0; m < TL_STRESS_GROUP; m++)
            for (int n = 0; n < TL_STRESS_GROUP; n++) square += Q[TL_STRESS_GROUP * m + n] * s[m] * s[n];
        scale = square > f->radius[i] * f->radius[i] ? f->radius[i] / sqrt(square) : 1;
        for (int m = 0; m < TL_STRESS_GROUP; m++) {
            x.c->ds[TL_STRESS_GROUP * (int64_t)i + m] = (scale - 1) * s[m];
            s[m] *= scale;
        }
    }
    x.c->push(x.c->ctx, x.c->ds);
    TL_TRY(certify(x, p, a, &c, err));
    *gap = (c.energy - k->lowest) / fabs(k->energy);
    return TALUS_OK;
}

/* By apgd, from a start, with so many products: one writes the problem, one begins, six estimate an eigenvalue. */
static talus_status by_apgd(stress x, const double *p, const double *from, int products, tl_arena *a, talus_error *err)
{
    tl_cones_report report;
    set_stress(x, from);
    x.c->iterations = products - 8;
    x.c->learned = 0;
    return tl_cones_solve(x.c, p, 0, a, &report, err);
}

/* The best of jcsp on its way to so many products. */
static talus_status by_parts(stress x, const double *p, const kept *k, int64_t products, tl_arena *a, double *best,
                             int64_t *spent, talus_error *err)
{
    *best = INFINITY, *spent = 0;
    while (*spent < products) {
        tl_cones_report report;
        double gap, *mine = TL_TAKE(a, double, x.c->n);
        if (!mine) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for stress");
        TL_TRY(tl_cones_solve(x.c, p, 1e-12, a, &report, err));
        *spent += report.work.products;
        if (!report.work.products) break;
        memcpy(mine, x.c->s, sizeof *mine * (size_t)x.c->n);
        TL_TRY(gap_of(x, p, k, a, &gap, err));
        *best = fmin(*best, gap);
        set_stress(x, mine);
    }
    return TALUS_OK;
}

static talus_status find_reference(stress x, const double *p, kept *k, tl_arena *a, double *gap, talus_error *err)
{
    tl_cone_certificate c;
    tl_cones_report report;
    x.c->iterations = REFERENCE;
    TL_TRY(tl_cones_solve(x.c, p, REFERENCE_GAP, a, &report, err));
    TL_TRY(certify(x, p, a, &c, err));
    k->energy = c.energy;
    k->lowest = c.energy - c.gap;
    *gap = c.relative_gap;
    return TALUS_OK;
}

static talus_status recall(const taken *t, const tl_grid_view *view, tl_arena *a, double *past, talus_error *err)
{
    const tl_system *system = &view->flow->system;
    double *p = TL_TAKE(a, double, system->c.cells),
           *five = TL_TAKE(a, double, TL_STRESS_GROUP *(int64_t)system->c.cells);
    if (!p || !five) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for stress");
    tl_active_recall(&view->flow->grid, &system->active, tl_grid_state_of(&t->sim->state), p, five);
    tl_stress_unpack(&system->stress, five, past);
    return TALUS_OK;
}

static talus_status compare(const taken *t, const tl_grid_view *view, tl_arena *a, kept *k, talus_error *err)
{
    tl_friction *f = view->friction;
    const stress x = {f, view->cones};
    const double *p = view->flow->p;
    const tl_parts_options options = tl_parts_default();
    double reference, cold, warm, parts;
    int64_t spent;
    TL_TRY(recall(t, view, a, k->past, err));
    TL_TRY(find_reference(x, p, k, a, &reference, err));
    TL_TRY(by_apgd(x, p, k->zero, WORK, a, err));
    TL_TRY(gap_of(x, p, k, a, &cold, err));
    TL_TRY(by_apgd(x, p, k->past, WORK, a, err));
    TL_TRY(gap_of(x, p, k, a, &warm, err));
    set_stress(x, k->past);
    tl_friction other = {.stress = f->stress, .c = f->c, .alpha = f->alpha, .s = f->s, .parts = &options};
    TL_TRY(tl_friction_begin(&other, a, err));
    tl_cones cones = tl_friction_cones(&other);
    cones.method = tl_cone_method_find("jcsp");
    TL_TRY(tl_cones_begin(&cones, p, a, err));
    TL_TRY(by_parts((stress){&other, &cones}, p, k, 4 * WORK, a, &parts, &spent, err));
    tl_table_cell(t->table, "%s", t->what->scene);
    tl_table_cell(t->table, "%d", t->what->size);
    tl_table_cell(t->table, "%.2f", view->t);
    tl_table_cell(t->table, "%d", f->stress->cells);
    tl_table_cell(t->table, "%.4f", 100 * cold);
    tl_table_cell(t->table, "%.4f", 100 * warm);
    tl_table_cell(t->table, "%.4f", 100 * parts);
    tl_table_cell(t->table, "%lld", (long long)spent);
    tl_table_cell(t->table, "%.1e", reference);
    tl_table_send(t->table, TALUS_ROW_DATA);
    return TALUS_OK;
}

static talus_status look(void *user, const tl_shown *shown, talus_error *err)
{
    if (shown->kind != TL_SHOWN_STEP) return TALUS_OK;
    const taken *t = user;
    const tl_grid_view *view = shown->problem;
    tl_friction *f = view->friction;
    tl_coupling *c = &view->flow->system.c;
    tl_arena *a = view->b->arena;
    if (!f || f->stress->staggered || f->parts)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the step has no colocated stress");
    size_t mark = tl_arena_mark(a);
    kept k = {.u = TL_TAKE(a, double, c->faces),
              .v = TL_TAKE(a, double, c->solid.n),
              .s = TL_TAKE(a, double, f->stress->n),
              .past = TL_TAKE(a, double, f->stress->n),
              .zero = TL_TAKE_ZERO(a, double, f->stress->n)};
    if (!k.u || !k.v || !k.s || !k.past || !k.zero) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for stress");
    const tl_cones before = *view->cones;
    memcpy(k.u, c->u, sizeof *k.u * (size_t)c->faces);
    memcpy(k.v, c->v, sizeof *k.v * (size_t)c->solid.n);
    memcpy(k.s, f->s, sizeof *k.s * (size_t)f->stress->n);
    talus_status status = compare(t, view, a, &k, err);
    memcpy(c->u, k.u, sizeof *k.u * (size_t)c->faces);
    memcpy(c->v, k.v, sizeof *k.v * (size_t)c->solid.n);
    memcpy(f->s, k.s, sizeof *k.s * (size_t)f->stress->n);
    *view->cones = before;
    tl_arena_release(a, mark);
    return status;
}

static talus_status run_case(const talus_bench_options *o, tl_table *t, const step_case *c, talus_error *err)
{
    char cells[32];
    const char *set[] = {cells};
    tl_world w;
    step_case what = *c;
    if (o->size) what.size = o->size;
    snprintf(cells, sizeof cells, "cells=%d", what.size);
    tl_load_options load = {.size = TL_SIZE_SMALL, .setting_count = 1, .setting = set};
    TL_TRY(tl_world_gallery(&w, o->scenes, what.scene, &load, err));
    talus_status status = tl_world_frames(&w, what.frame, err);
    if (status == TALUS_OK) {
        taken user = {t, &what, w.sim};
        w.sim->look = look;
        w.sim->look_user = &user;
        status = tl_world_steps(&w, 1, 0, err);
    }
    tl_world_close(&w);
    return status;
}

static talus_status bench_stress_steps(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const columns[] = {
        "scene",        "cells/m",  "t s",         "cells", "cold, 40: %", "last step, 40: %",
        "jcsp, 160: %", "products", "certificate", NULL};
    tl_table_line(
        t, TALUS_ROW_TITLE,
        "stress of steps under way: energy above the optimum, in percent of it, after 40 products from nothing "
        "and from the last step's, and the best of jcsp on its way to four times that");
    tl_table_header(t, columns);
    for (int i = 0; i < CASES && !t->stopped; i++)
        if (!o->problem || strstr(cases[i].scene, o->problem)) TL_TRY(run_case(o, t, &cases[i], err));
    return TALUS_OK;
}

const tl_bench tl_bench_stress_steps = {"stress-steps", "stress of steps under way: energy above the optimum for work",
                                        bench_stress_steps};
