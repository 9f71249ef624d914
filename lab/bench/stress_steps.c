/* Frictional stress of steps under way, at the pressure that they ended with: how near the optimum a method comes for its work.
 *
 * A way is (E - E*) / |E*| above the optimum: E* is bounded from below by a long solve and its certificate, so that the number is one-sided and safe. Stress that is outside of its cones
 * is scaled back into them first; a method is not paid for friction that it cannot have. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sum.h"
#include "base/timer.h"
#include "lab/bench/table.h"
#include "model/grid/active.h"
#include "scene/load.h"
#include "step/grid.h"
#include "step/sim.h"

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

/* s becomes `to`, and velocities follow. */
static void set_stress(tl_friction *f, const double *to)
{
    for (int64_t i = 0; i < f->stress->n; i++) {
        f->ds[i] = to[i] - f->s[i];
        f->s[i] = to[i];
    }
    tl_stress_push(f->stress, f->c, f->ds);
}

/* Gap of s, scaled back into its cones. Leaves it there. */
static talus_status gap_of(tl_friction *f, const double *p, const kept *k, tl_arena *a, double *gap, talus_error *err)
{
    tl_cone_certificate c;
    TL_TRY(tl_friction_certify(f, p, a, &c, err)); /* finds radii */
    double Q[TL_STRESS_GROUP * TL_STRESS_GROUP];
    tl_stress_form(f->stress, Q);
    for (int32_t i = 0; i < f->stress->cells; i++) {
        double *s = f->s + TL_STRESS_GROUP * (int64_t)i, square = 0, scale;
        for (int m = 0; m < TL_STRESS_GROUP; m++)
            for (int n = 0; n < TL_STRESS_GROUP; n++) square += Q[TL_STRESS_GROUP * m + n] * s[m] * s[n];
        scale = square > f->radius[i] * f->radius[i] ? f->radius[i] / sqrt(square) : 1;
        for (int m = 0; m < TL_STRESS_GROUP; m++) {
            f->ds[TL_STRESS_GROUP * (int64_t)i + m] = (scale - 1) * s[m];
            s[m] *= scale;
        }
    }
    tl_stress_push(f->stress, f->c, f->ds);
    TL_TRY(tl_friction_certify(f, p, a, &c, err));
    *gap = (c.energy - k->lowest) / fabs(k->energy);
    return TALUS_OK;
}

/* By apgd, from a start, with so many products: one writes the problem, one begins, six estimate an eigenvalue. */
static talus_status by_apgd(tl_friction *f, const double *p, const double *from, int products, tl_arena *a,
                            talus_error *err)
{
    tl_friction_report report;
    set_stress(f, from);
    f->iterations = products - 8;
    f->learned = 0;
    return tl_friction_solve(f, p, 0, a, &report, err);
}

/* The best of jcsp on its way to so many products. */
static talus_status by_parts(tl_friction *f, const double *p, const kept *k, int64_t products, tl_arena *a,
                             double *best, int64_t *spent, talus_error *err)
{
    *best = INFINITY, *spent = 0;
    while (*spent < products) {
        tl_friction_report report;
        double gap, *mine = TL_TAKE(a, double, f->stress->n);
        if (!mine) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for stress");
        TL_TRY(tl_friction_solve(f, p, 1e-12, a, &report, err));
        *spent += report.work.products;
        if (!report.work.products) break;
        memcpy(mine, f->s, sizeof *mine * (size_t)f->stress->n);
        TL_TRY(gap_of(f, p, k, a, &gap, err));
        *best = fmin(*best, gap);
        set_stress(f, mine);
    }
    return TALUS_OK;
}

static talus_status find_reference(tl_friction *f, const double *p, kept *k, tl_arena *a, double *gap, talus_error *err)
{
    tl_cone_certificate c;
    tl_friction_report report;
    f->iterations = REFERENCE;
    TL_TRY(tl_friction_solve(f, p, REFERENCE_GAP, a, &report, err));
    TL_TRY(tl_friction_certify(f, p, a, &c, err));
    k->energy = c.energy;
    k->lowest = c.energy - c.gap;
    *gap = c.relative_gap;
    return TALUS_OK;
}

static talus_status recall(const taken *t, const tl_grid_view *view, tl_arena *a, double *past, talus_error *err)
{
    const tl_system *system = view->coupled->system;
    double *p = TL_TAKE(a, double, system->c.cells),
           *five = TL_TAKE(a, double, TL_STRESS_GROUP *(int64_t)system->c.cells);
    if (!p || !five) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for stress");
    tl_active_recall(view->grid, &system->active, &t->sim->state.grid, p, five);
    tl_stress_unpack(&system->stress, five, past);
    return TALUS_OK;
}

static talus_status compare(const taken *t, const tl_grid_view *view, tl_arena *a, kept *k, talus_error *err)
{
    tl_friction *f = view->coupled->friction;
    const double *p = view->coupled->p;
    double reference, cold, warm, parts;
    int64_t spent;
    TL_TRY(recall(t, view, a, k->past, err));
    TL_TRY(find_reference(f, p, k, a, &reference, err));
    TL_TRY(by_apgd(f, p, k->zero, WORK, a, err));
    TL_TRY(gap_of(f, p, k, a, &cold, err));
    TL_TRY(by_apgd(f, p, k->past, WORK, a, err));
    TL_TRY(gap_of(f, p, k, a, &warm, err));
    tl_friction other = {.stress = f->stress,
                         .c = f->c,
                         .alpha = f->alpha,
                         .s = f->s,
                         .rule = tl_parts_rule_find("jcsp"),
                         .parts = tl_parts_default()};
    set_stress(f, k->past);
    TL_TRY(tl_friction_begin(&other, a, err));
    TL_TRY(by_parts(&other, p, k, 4 * WORK, a, &parts, &spent, err));
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

static talus_status look(void *user, const tl_grid_view *view, talus_error *err)
{
    const taken *t = user;
    tl_friction *f = view->coupled->friction;
    tl_coupling *c = &view->coupled->system->c;
    tl_arena *a = view->coupled->b->arena;
    if (!f || f->stress->staggered || !f->method)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the step has no colocated stress");
    size_t mark = tl_arena_mark(a);
    kept k = {.u = TL_TAKE(a, double, c->faces),
              .v = TL_TAKE(a, double, c->solid.n),
              .s = TL_TAKE(a, double, f->stress->n),
              .past = TL_TAKE(a, double, f->stress->n),
              .zero = TL_TAKE_ZERO(a, double, f->stress->n)};
    if (!k.u || !k.v || !k.s || !k.past || !k.zero) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for stress");
    const tl_friction before = *f;
    memcpy(k.u, c->u, sizeof *k.u * (size_t)c->faces);
    memcpy(k.v, c->v, sizeof *k.v * (size_t)c->solid.n);
    memcpy(k.s, f->s, sizeof *k.s * (size_t)f->stress->n);
    talus_status status = compare(t, view, a, &k, err);
    memcpy(c->u, k.u, sizeof *k.u * (size_t)c->faces);
    memcpy(c->v, k.v, sizeof *k.v * (size_t)c->solid.n);
    memcpy(f->s, k.s, sizeof *k.s * (size_t)f->stress->n);
    *f = before;
    tl_arena_release(a, mark);
    return status;
}

static talus_status run_case(const talus_bench_options *o, tl_table *t, const step_case *c, talus_error *err)
{
    char path[1200], shapes[1100], cells[32];
    const char *set[] = {cells};
    tl_scene *scene = NULL;
    tl_sim *sim = NULL;
    step_case what = *c;
    if (o->size) what.size = o->size;
    snprintf(path, sizeof path, "%.1000s/%.80s/%.80s.lua", o->scenes, what.scene, what.scene);
    snprintf(shapes, sizeof shapes, "%.1000s/shapes", o->scenes);
    snprintf(cells, sizeof cells, "cells=%d", what.size);
    tl_load_options load = {.size = TL_SIZE_SMALL, .setting_count = 1, .setting = set, .shapes_folder = shapes};
    talus_status status = tl_scene_load(&scene, path, &load, err);
    if (status == TALUS_OK) status = tl_sim_create(&sim, scene, NULL, err);
    while (status == TALUS_OK && sim->state.frame < what.frame) status = tl_sim_frame(sim, NULL, NULL, err);
    if (status == TALUS_OK) {
        taken user = {t, &what, sim};
        sim->probe = look;
        sim->probe_user = &user;
        status = tl_sim_step(sim, 0, INFINITY, err);
    }
    tl_sim_free(sim);
    tl_scene_free(scene);
    return status;
}

static talus_status bench_stress_steps(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const columns[] = {
        "scene",        "cells/m",  "t s",         "cells", "cold, 40: %", "last step, 40: %",
        "jcsp, 160: %", "products", "certificate", NULL};
    if (!o->scenes) return TL_FAIL(err, TALUS_BAD_INPUT, "this table needs the folder of talus' scenes");
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
