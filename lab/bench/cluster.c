/* Several processes: what a run in parts costs and sends, beside the model of docs/cluster.md. Without mpirun: one
 * process and the model. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timer.h"
#include "lab/bench/table.h"
#include "lab/world.h"
#include "model/parts_model.h"
#include "phase/grid/grid.h"
#include "phase/grid/trial.h"
#include "scene/load.h"

#define SIZE 48 /* cells per edge of the tank, and of each process's when they grow with it */
#define STEPS 8 /* that are measured, after one that is not */
#define TEXT_MAX 1000

/* Half a tank of water falls; n cells per edge, `wide` of them side by side. */
static talus_status open_tank(tl_world *w, int n, int wide, talus_error *err)
{
    char text[TEXT_MAX];
    *w = (tl_world){0};
    const int length = snprintf(
        text, sizeof text,
        "local water = liquid { density = 1000 }\n"
        "return scene { talus = 1, engine = 'grid', duration = 5, fps = 50, grid = { cells = {%d, %d, %d}, cell = "
        "1/%d, "
        "cfl = 2, correct_density = false }, fill = { { material = water, shape = box { center = {0.25, 0.4, %d/2}, "
        "size = {0.5, 0.8, %d} } } } }\n",
        n, n, n * wide, n, wide, wide);
    const tl_load_options load = {.no_files = true};
    TL_TRY(tl_scene_load_text(&w->scene, "tank.lua", text, (size_t)length, &load, err));
    const talus_status status = tl_sim_create_part(&w->sim, w->scene, tl_comm_joined(), NULL, err);
    if (status != TALUS_OK) tl_world_close(w);
    return status;
}

typedef struct spent {
    double cpu, clock; /* s, of this process */
    double iterations;
    tl_comm_traffic sent;
} spent;

static talus_status take_steps(tl_world *w, int steps, spent *out, talus_error *err)
{
    static const tl_comm_traffic none = {0};
    const tl_comm *c = tl_comm_joined();
    tl_grid_data *data = w->sim->engine_data;
    TL_TRY(tl_comm_agree(c, tl_sim_step(w->sim, 0, INFINITY, err), err));
    memset(data->sent, 0, sizeof data->sent);
    const tl_comm_traffic before = c ? *c->traffic : none;
    const double cpu = tl_cpu_seconds(), clock = tl_seconds();
    *out = (spent){0};
    for (int k = 0; k < steps; k++) {
        TL_TRY(tl_comm_agree(c, tl_sim_step(w->sim, 0, INFINITY, err), err));
        out->iterations += w->sim->report.solve[0].iterations;
    }
    out->cpu = tl_cpu_seconds() - cpu;
    out->clock = tl_seconds() - clock;
    const tl_comm_traffic now = c ? *c->traffic : none;
    out->sent = (tl_comm_traffic){.gets = now.gets - before.gets,
                                  .adds = now.adds - before.adds,
                                  .reduces = now.reduces - before.reduces,
                                  .gathers = now.gathers - before.gathers,
                                  .sends = now.sends - before.sends,
                                  .bytes = now.bytes - before.bytes,
                                  .seconds = now.seconds - before.seconds,
                                  .cpu = now.cpu - before.cpu};
    return TALUS_OK;
}

static const char *const columns[] = {"tank",           "processes", "cells",      "particles",  "uneven", "ms cpu",
                                      "of it messages", "ms clock",  "messages s", "iterations", "gets",   "adds",
                                      "sums",           "gathers",   "sends",      "MB",         "model",  NULL};

static void row_of(tl_table *t, const char *name, const tl_world *w, const spent *s, int steps)
{
    const tl_comm *c = tl_comm_joined();
    const int parts = tl_comm_alone(c) ? 1 : c->parts;
    const tl_grid_data *data = w->sim->engine_data;
    const tl_network net = tl_network_good();
    const double cells = tl_comm_sum(c, (double)tl_grid_state_of(&w->sim->state)->memories),
                 cpu = tl_comm_sum(c, s->cpu), most = tl_comm_max(c, (double)s->sent.bytes),
                 waited = tl_comm_sum(c, s->sent.seconds) / parts;
    const tl_parts_model m = tl_parts_model_of(&net, parts, cells / parts, false);
    tl_table_cell(t, "%s", name);
    tl_table_cell(t, "%d", parts);
    tl_table_cell(t, "%.0f", cells);
    tl_table_cell(t, "%lld", (long long)w->sim->report.particles);
    tl_table_cell(t, "%.3f", data->cut.imbalance > 0 ? data->cut.imbalance : 1);
    tl_table_cell(t, "%.1f", 1e3 * cpu / steps);
    tl_table_cell(t, "%.1f", 1e3 * tl_comm_sum(c, s->sent.cpu) / steps);
    tl_table_cell(t, "%.1f", 1e3 * s->clock / steps);
    tl_table_cell(t, "%.3f", waited / steps);
    tl_table_cell(t, "%.1f", s->iterations / steps);
    const int64_t counts[] = {s->sent.gets, s->sent.adds, s->sent.reduces, s->sent.gathers, s->sent.sends};
    for (int k = 0; k < 5; k++) tl_table_cell(t, "%.0f", (double)counts[k] / steps);
    tl_table_cell(t, "%.2f", 1e-6 * most / steps);
    tl_table_cell(t, "%.2f", m.step_alone / m.step);
    tl_table_send(t, TALUS_ROW_DATA);
}

static void phases_of(tl_table *t, const tl_world *w, int steps)
{
    static const char *const names[] = {"phase", "gets",     "adds",        "sums", "gathers",
                                        "sends", "MB, most", "messages ms", NULL};
    const tl_comm *c = tl_comm_joined();
    const tl_grid_data *data = w->sim->engine_data;
    tl_table_line(t, TALUS_ROW_TITLE, "Messages of a step by phase, of the tank of one size");
    tl_table_header(t, names);
    for (int k = 0; k < TL_GRID_PHASES; k++) {
        const tl_comm_traffic *s = &data->sent[k];
        const double most = tl_comm_max(c, (double)s->bytes), waited = tl_comm_sum(c, s->seconds) / c->parts;
        const int64_t counts[] = {s->gets, s->adds, s->reduces, s->gathers, s->sends};
        tl_table_cell(t, "%s", tl_grid_phase_names[k]);
        for (int i = 0; i < 5; i++) tl_table_cell(t, "%.1f", (double)counts[i] / steps);
        tl_table_cell(t, "%.3f", 1e-6 * most / steps);
        tl_table_cell(t, "%.1f", 1e3 * waited / steps);
        tl_table_send(t, TALUS_ROW_DATA);
    }
}

/* Efficiency by the model: as it is, and with levels that all have collected among few. */
static void model_rows(const talus_bench_options *o, tl_table *t)
{
    static const char *const names[] = {"cells each",       "processes",       "solve", "step",
                                        "solve, collected", "step, collected", NULL};
    static const double sizes[] = {1e5, 4e5, 1.6e6};
    static const int processes[] = {8, 64, 512, 4096};
    tl_network net = tl_network_good();
    if (o->latency > 0) net.latency = 1e-6 * o->latency;
    if (o->overhead > 0) net.overhead = 1e-6 * o->overhead;
    if (o->bandwidth > 0) net.bandwidth = 1e9 * o->bandwidth;
    tl_table_line(t, TALUS_ROW_TITLE,
                  "Efficiency by the model, latency %.3g us, overhead %.3g us, %.3g GB/s of each process; imbalance, "
                  "noise and shared memory bandwidth are not in it",
                  1e6 * net.latency, 1e6 * net.overhead, 1e-9 * net.bandwidth);
    tl_table_header(t, names);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            const tl_parts_model as_is = tl_parts_model_of(&net, processes[k], sizes[i], false),
                                 few = tl_parts_model_of(&net, processes[k], sizes[i], true);
            tl_table_cell(t, "%.0f", sizes[i]);
            tl_table_cell(t, "%d", processes[k]);
            tl_table_cell(t, "%.2f", as_is.solve_alone / as_is.solve);
            tl_table_cell(t, "%.2f", as_is.step_alone / as_is.step);
            tl_table_cell(t, "%.2f", few.solve_alone / few.solve);
            tl_table_cell(t, "%.2f", few.step_alone / few.step);
            tl_table_send(t, TALUS_ROW_DATA);
        }
}

static talus_status run_tanks(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    const tl_comm *c = tl_comm_joined();
    const int parts = tl_comm_alone(c) ? 1 : c->parts, n = o->size > 0 ? o->size : SIZE,
              steps = o->repeats > 0 ? o->repeats : STEPS;
    static const char *const names[] = {"one size", "grows with them"};
    tl_table_line(t, TALUS_ROW_TITLE,
                  "Half a tank of water in %d process%s, %d cells per edge; per step: processor time of all, in "
                  "messages also while they wait; clock of the first; messages s: on their way or waiting, mean; MB: "
                  "of the one with most",
                  parts, parts == 1 ? "" : "es", n);
    tl_table_header(t, columns);
    for (int k = 0; k < (parts > 1 ? 2 : 1); k++) {
        tl_world w;
        spent s;
        TL_TRY(open_tank(&w, n, k ? parts : 1, err));
        talus_status status = take_steps(&w, steps, &s, err);
        if (status == TALUS_OK) row_of(t, names[k], &w, &s, steps);
        if (status == TALUS_OK && parts > 1 && k == 0) {
            phases_of(t, &w, steps);
            tl_table_line(t, TALUS_ROW_TITLE, "The tank that grows with the processes");
            tl_table_header(t, columns);
        }
        tl_world_close(&w);
        TL_TRY(status);
    }
    return TALUS_OK;
}

static talus_status run(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    TL_TRY(run_tanks(o, t, err));
    model_rows(o, t);
    return TALUS_OK;
}

extern const tl_bench tl_bench_cluster;
const tl_bench tl_bench_cluster = {
    "cluster", "liquid in the processes that mpirun started: time, messages by phase, and the model for more", run};
