#include "lab/bench/profile.h"
#include "lab/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/grid/state.h"

/* grid.c */
extern const tl_figure tl_figure7, tl_figure16;
/* sand.c */
extern const tl_figure tl_figure8, tl_figure10, tl_figure12, tl_figure14, tl_figure18;
static const tl_figure *const figures[] = {&tl_figure7,  &tl_figure8,  &tl_figure10, &tl_figure12,
                                           &tl_figure14, &tl_figure16, &tl_figure18};
#define FIGURES ((int)(sizeof figures / sizeof figures[0]))

void tl_profile_add(tl_profile *p, const tl_sim *sim)
{
    const tl_report *r = &sim->report;
    p->steps++;
    p->sweeps += r->sweeps;
    p->contacts += r->contacts;
    p->unknowns += tl_grid_state_of(&sim->state)->memories;
    for (int i = 0; i < r->phases; i++) {
        p->phase[i].name = r->phase[i].name;
        p->phase[i].seconds += r->phase[i].seconds;
        p->phase[i].cpu += r->phase[i].cpu;
    }
    if (r->phases > p->phases) p->phases = r->phases;
    for (int i = 0; i < r->solves; i++) {
        p->solve[i].name = r->solve[i].name;
        p->solve[i].iterations += r->solve[i].iterations;
        p->solve[i].certificate = fmax(p->solve[i].certificate, r->solve[i].certificate);
    }
    if (r->solves > p->solves) p->solves = r->solves;
}

static void send_header(tl_profile *p)
{
    tl_table *t = p->table;
    static const char *const fixed[] = {"variant", "frame", "steps", "sweeps", "cells", "contacts"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) tl_table_cell(t, "%s", fixed[i]);
    for (int i = 0; i < p->solves; i++) tl_table_cell(t, "%s its", p->solve[i].name);
    tl_table_cell(t, "CPU s");
    for (int i = 0; i < p->phases; i++) tl_table_cell(t, "%s", p->phase[i].name);
    tl_table_send(t, TALUS_ROW_HEADER);
    p->open = true;
}

void tl_profile_send(tl_profile *p, const char *variant, int64_t frame)
{
    tl_table *t = p->table;
    double cpu = 0;
    if (!p->steps) return;
    if (!p->open) send_header(p);
    tl_table_cell(t, "%s", variant);
    tl_table_cell(t, "%lld", (long long)frame);
    tl_table_cell(t, "%lld", (long long)p->steps);
    tl_table_cell(t, "%lld", (long long)p->sweeps);
    tl_table_cell(t, "%.0f", (double)p->unknowns / (double)p->steps);
    tl_table_cell(t, "%.1f", (double)p->contacts / (double)p->steps);
    for (int i = 0; i < p->solves; i++) tl_table_cell(t, "%lld", (long long)p->solve[i].iterations);
    for (int i = 0; i < p->phases; i++) cpu += p->phase[i].cpu;
    tl_table_cell(t, "%.4f", cpu);
    for (int i = 0; i < p->phases; i++) tl_table_cell(t, "%.4f", p->phase[i].cpu);
    tl_table_send(t, TALUS_ROW_DATA);
    *p = (tl_profile){.table = t, .open = true};
}

static bool after_step(void *user, const tl_sim *sim)
{
    tl_profile *p = user;
    tl_profile_add(p, sim);
    return p->table->stopped;
}

static talus_status run_frames(tl_profile *p, const char *name, tl_world *w, talus_error *err)
{
    const int64_t frames = (int64_t)llround(w->scene->duration * w->scene->fps);
    talus_status status = TALUS_OK;
    while (status == TALUS_OK && w->sim->state.frame < frames && !p->table->stopped) {
        status = tl_sim_frame(w->sim, after_step, p, err);
        tl_profile_send(p, name, w->sim->state.frame);
    }
    return p->table->stopped ? TALUS_OK : status;
}

/* A scene of the gallery to its end: small, of so many cells, or at the size of the paper. */
static talus_status profile_scene(const talus_bench_options *o, tl_profile *p, talus_error *err)
{
    char cells[32];
    const char *setting[] = {cells};
    tl_world w;
    snprintf(cells, sizeof cells, "cells=%d", o->size);
    tl_load_options load = {
        .size = o->all ? TL_SIZE_PAPER : TL_SIZE_SMALL, .setting_count = o->size ? 1 : 0, .setting = setting};
    TL_TRY(tl_world_gallery(&w, o->scenes, o->problem, &load, err));
    tl_table_line(p->table, TALUS_ROW_TITLE, "%s, %s; per frame, processor seconds by phase", o->problem,
                  o->all ? "size of the paper" : "small");
    talus_status status = run_frames(p, o->problem, &w, err);
    tl_world_close(&w);
    return status;
}

static talus_status bench_profile(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    bool known = !o->problem;
    for (int i = 0; i < FIGURES && !t->stopped; i++) {
        if (o->problem && strcmp(figures[i]->name, o->problem)) continue;
        tl_profile p = {.table = t};
        known = true;
        tl_table_line(t, TALUS_ROW_TITLE, "%s: %s; per frame, processor seconds by phase", figures[i]->name,
                      figures[i]->title);
        TL_TRY(figures[i]->run(o, &p, err));
    }
    tl_profile p = {.table = t};
    return known ? TALUS_OK : profile_scene(o, &p, err);
}

const tl_bench tl_bench_profile = {
    "profile",
    "every frame by phase: --scene NAME to its end (--all: paper size), or --problem fm-figure7, 8, 10, 12, 14, 16, 18",
    bench_profile};
