#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/timer.h"
#include "lab/bench/lg.h"
#include "lab/world.h"

#define SETTINGS 3

typedef struct scene_case {
    const char *name, *scene;
    const char *setting[SETTINGS]; /* until NULL */
    int first, last;               /* steps that count; with --repeats the last ones of them */
    double paper_ms;               /* of the frame of most contacts */
    int paper_contacts;            /* in that frame */
    double paper_S;                /* MiB */
    double limit_ms;               /* ours on two cores, 0: none */
} scene_case;

/* All rows of table 3 with contact, at the paper's material values. Steps are those in which most of the contact
 * happens. */
static const scene_case cases[] = {
    {"cloth on knives 5.1k", "cloth-knives", {"squares=50"}, 10, 30, 14.73, 760, 62.37, 0},
    {"cloth on knives 10.2k", "cloth-knives", {"squares=71"}, 10, 30, 21.42, 1190, 183.82, 0},
    {"cloth on knives 15.3k", "cloth-knives", {"squares=87"}, 10, 30, 33.02, 1780, 342.68, 0},
    {"sharp corner 5.1k", "cloth-corner", {"squares=50"}, 10, 40, 70.77, 4570, 62.37, 0},
    {"sharp corner 10.2k", "cloth-corner", {"squares=71"}, 10, 40, 277.36, 8620, 183.82, 150},
    {"squeezed ball 7.1k", "squeezed-ball", {"edge=0.01723"}, 12, 36, 46.15, 3180, 266.87, 70},
    {"squeezed ball 14.7k", "squeezed-ball", {"edge=0.01352"}, 12, 36, 102.01, 4620, 946.97, 0},
    {"newt in a gap 5.3k", "newt-gap", {"edge=0.0089", "young=1e7"}, 60, 90, 19.95, 420, 67.14, 0},
    {"newt in a gap 11.8k", "newt-gap", {"edge=0.0068", "young=1e7"}, 60, 90, 46.20, 730, 295.09, 0},
    {"gingerbread 11.1k", "gingerbread-pegs", {"edge=0.00525", "density=1000"}, 40, 70, 34.75, 740, 227.30, 0},
    {"gingerbread 19.5k", "gingerbread-pegs", {"edge=0.00435", "density=1000"}, 40, 70, 59.76, 800, 619.41, 0},
    {"soft gripper 10.3k", "soft-gripper", {"edge=0.0079", "paper=1"}, 30, 60, 21.49, 140, 120.00, 0},
    {"soft gripper 15.3k", "soft-gripper", {"edge=0.0069", "paper=1"}, 30, 60, 29.68, 130, 260.85, 0},
    {"soft gripper 20.4k", "soft-gripper", {"edge=0.0062", "paper=1"}, 30, 60, 38.62, 140, 467.58, 0},
};

typedef struct sums {
    int steps;
    double wall, cpu, worst, contacts, penetration;
    double detect, assemble, local, global, contact;
    int64_t max;             /* contacts */
    double there, cpu_there; /* s, of that step */
} sums;

static double phase_of(const tl_report *r, const char *name)
{
    for (int k = 0; k < r->phases; k++)
        if (!strcmp(r->phase[k].name, name)) return r->phase[k].seconds;
    return 0;
}

/* Counts steps from `first` on: the last ones have the most contacts. */
static talus_status run_steps(const scene_case *c, int first, tl_sim *sim, sums *s, talus_error *err)
{
    for (int k = 1; k <= c->last; k++) {
        double wall = tl_seconds(), cpu = tl_cpu_seconds();
        TL_TRY(tl_sim_step(sim, TL_BENCH_LG_DT, INFINITY, err));
        wall = tl_seconds() - wall;
        const tl_report *r = &sim->report;
        s->penetration = fmax(s->penetration, r->penetration);
        if (k < first) continue;
        s->steps++;
        s->wall += wall;
        cpu = tl_cpu_seconds() - cpu;
        s->cpu += cpu;
        if (r->contacts > s->max) s->max = r->contacts, s->there = wall, s->cpu_there = cpu;
        s->worst = fmax(s->worst, wall);
        s->contacts += (double)r->contacts;
        s->detect += phase_of(r, "detect");
        s->assemble += phase_of(r, "assemble");
        s->local += phase_of(r, "project");
        s->global += phase_of(r, "solve global") + phase_of(r, "balance");
        s->contact += phase_of(r, "solve contact");
    }
    return TALUS_OK;
}

static talus_status open_scene(const talus_bench_options *o, const scene_case *c, tl_world *w, talus_error *err)
{
    const char *setting[SETTINGS + 1] = {"lg.corrections=0"}; /* rounds alone, as the paper makes them */
    int settings = 1;
    for (int k = 0; k < SETTINGS && c->setting[k]; k++) setting[settings++] = c->setting[k];
    const tl_load_options load = {.size = TL_SIZE_PAPER, .setting_count = settings, .setting = setting};
    return tl_world_gallery(w, o->scenes, c->scene, &load, err);
}

talus_status tl_bench_lg_scene_sizes(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    for (size_t k = 5; k < sizeof cases / sizeof *cases && !t->stopped; k++) { /* cloth has its own rows */
        tl_world w;
        TL_TRY(open_scene(o, &cases[k], &w, err));
        talus_status status = tl_bench_lg_size(cases[k].name, "-", w.sim, cases[k].paper_S, t, err);
        tl_world_close(&w);
        TL_TRY(status);
    }
    return TALUS_OK;
}

static talus_status time_scene(const talus_bench_options *o, const scene_case *c, tl_table *t, talus_error *err)
{
    tl_world w;
    sums s = {0};
    TL_TRY(open_scene(o, c, &w, err));
    int first = o->repeats > 0 && c->last - o->repeats >= c->first ? c->last - o->repeats + 1 : c->first;
    talus_status status = run_steps(c, first, w.sim, &s, err);
    if (status == TALUS_OK) {
        double ms = 1e3 / s.steps;
        tl_table_cell(t, "%s", c->name);
        tl_table_cell(t, "%d", w.sim->lg.nodes);
        tl_table_cell(t, "%.0f", s.contacts / s.steps);
        tl_table_cell(t, "%.1f", ms * s.wall);
        tl_table_cell(t, "%.1f", ms * s.cpu);
        tl_table_cell(t, "%.1f", ms * s.detect);
        tl_table_cell(t, "%.1f", ms * s.assemble);
        tl_table_cell(t, "%.1f", ms * s.local);
        tl_table_cell(t, "%.1f", ms * s.global);
        tl_table_cell(t, "%.1f", ms * s.contact);
        tl_table_cell(t, "%.1e", s.penetration);
        tl_table_cell(t, "%.2f", TL_BENCH_LG_DT * s.steps / s.wall);
        tl_table_cell(t, "%lld", (long long)s.max);
        tl_table_cell(t, "%.1f", 1e3 * s.there);
        tl_table_cell(t, "%.1f", 1e3 * s.cpu_there);
        tl_table_cell(t, "%d", c->paper_contacts);
        tl_table_cell(t, "%.2f", c->paper_ms);
        tl_table_cell(t, "%s", c->limit_ms <= 0 ? "-" : ms * s.cpu / tl_threads() <= c->limit_ms ? "held" : "missed");
        tl_table_send(t, TALUS_ROW_DATA);
    }
    tl_world_close(&w);
    return status;
}

talus_status tl_bench_lg_scenes(const talus_bench_options *o, tl_table *t, talus_error *err)
{
    static const char *const header[] = {"scene",          "nodes",     "contacts",      "ms",     "cpu ms",
                                         "detect",         "B",         "local",         "global", "contact",
                                         "depth, m",       "real time", "most contacts", "its ms", "its cpu ms",
                                         "paper contacts", "paper ms",  "target",        NULL};
    bool all = !o->problem || !strcmp(o->problem, "scenes");
    tl_table_line(
        t, TALUS_ROW_NOTE,
        "scenes with contact, paper size: mean of steps of 10 ms in which they touch, %d threads; B: compliance "
        "of contacts; depth: deepest penetration so far; then the step of most contacts, which the paper's numbers are "
        "of; target: processor time over threads",
        tl_threads());
    tl_table_header(t, header);
    for (size_t k = 0; k < sizeof cases / sizeof *cases && !t->stopped; k++)
        if (all || strstr(cases[k].name, o->problem)) TL_TRY(time_scene(o, &cases[k], t, err));
    return TALUS_OK;
}
