/* Profiles: what every frame of a run costs, by phase. One row per frame of every variant, so that figures of the
 * papers are plotted from them as they are printed (--csv). A figure names variants of a table; runs of a figure
 * hand their steps to tl_profile_add and send a row at the end of each frame. */
#ifndef TL_BENCH_PROFILE_H
#define TL_BENCH_PROFILE_H

#include "lab/bench/table.h"
#include "model/report.h"
#include "phase/sim.h"

/* Sums over the steps of a frame. */
typedef struct tl_profile {
    tl_table *table;
    bool open; /* columns were sent: they follow from the first step */
    int64_t steps, sweeps, contacts, unknowns;
    int phases, solves;
    tl_report_phase phase[TL_REPORT_PHASES];
    tl_report_solve solve[TL_REPORT_SOLVES]; /* iterations and products of all steps, the largest certificate */
} tl_profile;

void tl_profile_add(tl_profile *p, const tl_sim *sim);
/* A row, and the sums start again. Nothing where no step was made. */
void tl_profile_send(tl_profile *p, const char *variant, int64_t frame);

/* A figure of a paper: name as in --problem. */
typedef struct tl_figure {
    const char *name, *title;
    talus_status (*run)(const talus_bench_options *o, tl_profile *p, talus_error *err);
} tl_figure;

#endif
