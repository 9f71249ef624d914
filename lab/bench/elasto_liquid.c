/* Tables 3 to 5 of [Takahashi2022]: liquid with elastic solids, schemes and preconditioners on one Newton correction from
 * the same start to the same target on the certificate of the whole problem, with the same kernels; with --all also on
 * frames. Processor seconds of the solve, one thread unless --threads: their machine has 8 cores. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/parallel.h"
#include "base/timer.h"
#include "lab/bench/table.h"
#include "lab/world.h"
#include "model/grid/state.h"

#define SETTINGS 8
#define ROWS 12
#define PAPER_CELLS 60 /* per metre, and above: meshes of the paper's size too */

typedef struct row {
    const char *name, *scheme, *precond, *pressure; /* the last two: NULL, the default */
    const char *published;                          /* NULL: it is not in the paper */
    double iterations, seconds;                     /* there, per frame */
} row;

/* A claim: `slow` takes `ratio` times the seconds of `fast`. */
typedef struct claim {
    const char *text, *slow, *fast;
    double ratio;
} claim;

typedef struct contest {
    const char *scene, *about;
    double start; /* s: everything is in contact */
    row row[ROWS];
    claim claim[6];
} contest;

static const contest table3 = {
    .scene = "beam-in-dam-break",
    .about = "a beam in a dam break",
    .start = 0.24,
    .row = {{"schur, multigrid (ours)", "pec", NULL, NULL, NULL, 0, 0},
            {"schur, MIC(0)", "pec", NULL, "mic", NULL, 0, 0},
            {"schur, UCG", "pec-ucg", NULL, NULL, NULL, 0, 0},
            {"g, IC(0)", "pec-g", "ic", NULL, "LDLT IC", 599, 58.0},
            {"g, SSOR", "pec-g", "ssor", NULL, "LDLT SSOR", 3511.4, 166.2},
            {"g, diagonal", "pec-g", "jacobi", NULL, NULL, 0, 0},
            {"g-scaled, IC(0)", "pec-g-scaled", "ic", NULL, NULL, 0, 0},
            {"Z1-Z2, IC(0)", "pec-z1z2", "ic", NULL, "Z1-Z2", 7255.6, 270.7},
            {"Z1-Z2, SSOR", "pec-z1z2", "ssor", NULL, NULL, 0, 0},
            {"ICA, IC(0)", "pec-ica", "ic", NULL, NULL, 0, 0}},
    .claim = {{"g with IC over Z1-Z2", "Z1-Z2, IC(0)", "g, IC(0)", 270.7 / 58},
              {"g with IC over g with SSOR", "g, SSOR", "g, IC(0)", 166.2 / 58},
              {"schur over g (prototype 20x and more)", "g, IC(0)", "schur, multigrid (ours)", 20},
              {"schur with the same kind of factor over g", "g, IC(0)", "schur, MIC(0)", 20}}};

static const contest table4 = {
    .scene = "soft-bowl",
    .about = "a bowl that lands with a rabbit of water in it",
    .start = 0.24,
    .row = {{"pec-gs (ours)", "pec-gs", NULL, NULL, "PEC LDLT GS", 20093.5, 1062.9},
            {"pec, schur (ours)", "pec", NULL, NULL, NULL, 0, 0},
            {"pec, schur MIC(0)", "pec", NULL, "mprgp", NULL, 0, 0},
            {"pec, g-scaled IC(0)", "pec-g-scaled", "ic", NULL, NULL, 0, 0},
            {"pec, g IC(0)", "pec-g", "ic", NULL, "PEC LDLT", 1900.1, 253.2},
            {"pec, UCG", "pec-ucg", NULL, NULL, "PEC UCG", 5414.2, 77.8},
            {"pec, Z1-Z2", "pec-z1z2", "ic", NULL, NULL, 0, 0},
            {"pec, ICA", "pec-ica", "ic", NULL, NULL, 0, 0},
            {"pe-ec", "pe-ec", NULL, NULL, "PE-EC", 456.3, 130.4},
            {"ec-pe", "ec-pe", NULL, NULL, "EC-PE", 601.8, 173.0}},
    .claim = {{"monolithic over Gauss-Seidel, schur", "pec-gs (ours)", "pec, schur (ours)", 1062.9 / 253.2},
              {"UCG over monolithic g", "pec, g-scaled IC(0)", "pec, UCG", 253.2 / 77.8},
              {"the same with MIC(0)", "pec-gs (ours)", "pec, schur MIC(0)", 1062.9 / 253.2},
              {"schur over g-scaled", "pec, g-scaled IC(0)", "pec, schur (ours)", 20}}};

static const contest table5 = {.scene = "viscous-beam",
                               .about = "a rabbit of honey on a beam",
                               .start = 0.12,
                               .row = {{"pvec (ours)", "pvec", NULL, NULL, "PVEC LDLT", 559.4, 84.4},
                                       {"pvec, UCG", "pvec-ucg", NULL, NULL, "PVEC UCG", 1537.3, 632.0},
                                       {"pve-ec", "pve-ec", NULL, NULL, NULL, 0, 0},
                                       {"ec-pve", "ec-pve", NULL, NULL, NULL, 0, 0}},
                               .claim = {{"monolithic over UCG", "pvec, UCG", "pvec (ours)", 632.0 / 84.4}}};

typedef struct outcome {
    bool run, met;
    int steps, corrections, sweeps, missed;
    int64_t unknowns, nonzeros, iterations, products;
    double cpu, pressure, stress, touch, elastic; /* certificates over their targets, the worst */
} outcome;

static void note(outcome *out, const tl_report *r, bool one)
{
    double worst = 0;
    out->steps++;
    out->sweeps += r->sweeps;
    out->unknowns = r->unknowns > out->unknowns ? r->unknowns : out->unknowns;
    out->nonzeros = r->nonzeros > out->nonzeros ? r->nonzeros : out->nonzeros;
    for (int i = 0; i < r->solves; i++) {
        const tl_report_solve *s = &r->solve[i];
        const double over = s->certificate / s->target;
        if (!strcmp(s->name, "pressure")) {
            out->iterations += s->iterations;
            out->products += s->work.products;
            out->pressure = fmax(out->pressure, over);
            worst = fmax(worst, over);
        } else if (!strcmp(s->name, "stress")) {
            out->stress = fmax(out->stress, over);
            worst = fmax(worst, over);
        } else if (!strcmp(s->name, "contact")) {
            out->touch = fmax(out->touch, over);
            worst = fmax(worst, over);
        } else if (!strcmp(s->name, "elastic")) {
            out->corrections += s->iterations;
            out->elastic = fmax(out->elastic, over);
            if (!one) worst = fmax(worst, over);
        }
    }
    out->missed += !(worst <= 1);
    for (int i = 0; i < r->phases; i++)
        if (!strcmp(r->phase[i].name, "solve")) out->cpu += r->phase[i].cpu;
}

static talus_status open_row(const talus_bench_options *o, const contest *c, const row *v, bool one, tl_world *w,
                             talus_error *err)
{
    char text[SETTINGS][64];
    const char *setting[SETTINGS];
    int count = 0;
    if (o->size) snprintf(text[count++], sizeof text[0], "cells=%d", o->size);
    if (one) snprintf(text[count++], sizeof text[0], "fem.iterations=1");
    if (o->tolerance > 0) snprintf(text[count++], sizeof text[0], "solver.tolerance=%g", o->tolerance);
    snprintf(text[count++], sizeof text[0], "solver.on_unconverged=accept");
    if (v) snprintf(text[count++], sizeof text[0], "solver.scheme=%s", v->scheme);
    if (v && v->precond) snprintf(text[count++], sizeof text[0], "solver.elastic.precond=%s", v->precond);
    if (v && v->pressure) snprintf(text[count++], sizeof text[0], "solver.pressure.method=%s", v->pressure);
    for (int k = 0; k < count; k++) setting[k] = text[k];
    const tl_load_options load = {
        .size = o->size >= PAPER_CELLS ? TL_SIZE_PAPER : TL_SIZE_SMALL, .setting_count = count, .setting = setting};
    return tl_world_gallery(w, o->scenes, c->scene, &load, err);
}

/* One correction, or a frame, from `from`. */
static talus_status run_row(const talus_bench_options *o, const contest *c, const row *v, const tl_state *from,
                            double dt, bool one, outcome *out, talus_error *err)
{
    tl_world w = {0};
    talus_status status = open_row(o, c, v, one, &w, err);
    if (status == TALUS_OK) status = tl_state_copy(&w.sim->state, from, err);
    *out = (outcome){.run = true};
    if (status == TALUS_OK && one) {
        status = tl_sim_step(w.sim, dt, INFINITY, err);
        if (status == TALUS_OK) note(out, &w.sim->report, true);
    }
    const double until = status == TALUS_OK ? w.sim->state.t + 1 / w.sim->scene->fps : 0;
    while (status == TALUS_OK && !one && w.sim->state.t < until - 1e-9) {
        status = tl_sim_step(w.sim, 0, until, err);
        if (status == TALUS_OK) note(out, &w.sim->report, false);
    }
    out->met = status == TALUS_OK && out->missed == 0;
    tl_world_close(&w);
    return status;
}

static void send(tl_table *t, const row *v, const outcome *q, const talus_error *why)
{
    tl_table_cell(t, "%s", v->name);
    if (why) {
        tl_table_cell(t, "%.80s", why->message);
    } else {
        tl_table_cell(t, "%d", q->corrections);
        tl_table_cell(t, "%d", q->sweeps);
        tl_table_cell(t, q->unknowns ? "%.1f" : "-", 1e-3 * (double)q->unknowns);
        tl_table_cell(t, q->nonzeros ? "%.2f" : "-", 1e-6 * (double)q->nonzeros);
        tl_table_cell(t, "%lld", (long long)q->iterations);
        tl_table_cell(t, "%lld", (long long)q->products);
        tl_table_cell(t, "%.3f", q->cpu);
        tl_table_cell(t, "%.2g", fmax(q->pressure, q->stress));
        tl_table_cell(t, "%.2g", q->touch);
        tl_table_cell(t, "%.2g", q->elastic);
        tl_table_cell(t, "%d of %d", q->missed, q->steps);
        tl_table_cell(t, "%s", v->published ? v->published : "-");
        tl_table_cell(t, v->published ? "%.0f" : "-", v->iterations);
        tl_table_cell(t, v->published ? "%.1f" : "-", v->seconds);
    }
    tl_table_send(t, TALUS_ROW_DATA);
}

static const outcome *of(const contest *c, const outcome *found, const char *name)
{
    for (int k = 0; k < ROWS && c->row[k].name; k++)
        if (!strcmp(c->row[k].name, name)) return &found[k];
    return NULL;
}

static void tell(const claim *q, const contest *c, const outcome *found, tl_table *t)
{
    const outcome *a = of(c, found, q->slow), *b = of(c, found, q->fast);
    if (!a || !b || !a->run || !b->run || !(b->cpu > 0) || !(b->products > 0)) return;
    const double ours = a->cpu / b->cpu, work = (double)a->products / (double)b->products,
                 its = b->iterations ? (double)a->iterations / (double)b->iterations : NAN;
    const char *missed = !a->met ? q->slow : !b->met ? q->fast : NULL;
    tl_table_line(t, TALUS_ROW_NOTE,
                  "%s: %.3gx there; %.3gx in seconds, %.3gx in iterations, %.3gx in products here: %s%s%s", q->text,
                  q->ratio, ours, its, work,
                  (ours > q->ratio / 2 && ours < q->ratio * 2) ? "reproduced"
                  : ours > 1 && q->ratio > 1                   ? "the same wins, by another factor"
                                                               : "refuted",
                  missed ? "; did not reach the target: " : "", missed ? missed : "");
}

static talus_status compare(const talus_bench_options *o, const contest *c, const tl_state *from, double dt, bool one,
                            tl_table *t, talus_error *err)
{
    static const char *const header[] = {
        "scheme",      "corrections",  "sweeps",      "unknowns, k", "nnz, M",  "iterations", "products", "cpu s",
        "liquid over", "contact over", "Newton over", "missed",      "paper's", "its",        "s",        NULL};
    outcome found[ROWS] = {{0}};
    tl_table_header(t, header);
    for (int k = 0; k < ROWS && c->row[k].name && !t->stopped; k++) {
        const row *v = &c->row[k];
        talus_error why = {0};
        if (o->method && !strstr(v->name, o->method) && !strstr(v->scheme, o->method)) continue;
        talus_status status = run_row(o, c, v, from, dt, one, &found[k], &why);
        if (status == TALUS_NO_MEMORY || status == TALUS_INTERRUPTED) {
            if (err) *err = why;
            return status;
        }
        send(t, v, &found[k], status == TALUS_OK ? NULL : &why);
    }
    for (int k = 0; k < (int)(sizeof c->claim / sizeof *c->claim) && c->claim[k].text; k++)
        tell(&c->claim[k], c, found, t);
    return TALUS_OK;
}

static bool wanted(const talus_bench_options *o, const char *part)
{
    return o->problem ? !strcmp(o->problem, part) : o->all || !strcmp(part, "correction");
}

static talus_status run_contest(const talus_bench_options *o, const contest *c, tl_table *t, talus_error *err)
{
    tl_world w = {0};
    talus_status status = open_row(o, c, NULL, false, &w, err);
    if (status == TALUS_OK) status = tl_world_until(&w, c->start, 0, err);
    const double dt = status == TALUS_OK ? w.sim->report.dt : 0;
    for (int k = 0; k < 2 && status == TALUS_OK; k++) {
        const bool one = k == 0;
        if (!wanted(o, one ? "correction" : "frame")) continue;
        tl_table_line(
            t, TALUS_ROW_NOTE,
            "%s at %.2f s: %s of %.4g s, %lld cells with a pressure, %d nodes, %lld contacts, liquid to %.0e, "
            "%d threads; the paper's: per frame of 1/50 s, 8 cores",
            c->about, c->start, one ? "one Newton correction" : "a frame", one ? dt : 1 / w.sim->scene->fps,
            (long long)tl_grid_state_of(&w.sim->state)->memories, w.sim->lg.nodes, (long long)w.sim->report.contacts,
            w.sim->scene->solver.tolerance, tl_threads());
        status = compare(o, c, &w.sim->state, dt, one, t, err);
    }
    tl_world_close(&w);
    return status;
}

#define TABLE(number, about)                                                                                           \
    static talus_status run##number(const talus_bench_options *o, tl_table *t, talus_error *err)                       \
    {                                                                                                                  \
        return run_contest(o, &table##number, t, err);                                                                 \
    }                                                                                                                  \
    const tl_bench tl_bench_em_table##number = {"em-table" #number, "[Takahashi2022 tab. " #number "]: " about,        \
                                                run##number};
TABLE(3, "a beam in a dam break, matrices and preconditioners")
TABLE(4, "a bowl lands with liquid in it, orders of pressure, elasticity and contact")
TABLE(5, "a rabbit of honey on a beam, monolithic and UCG")
