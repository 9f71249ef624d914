/* One run and its talk, for `talus run` and for the processes of a sweep. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <talus/run.h>

#include "plan.h"

#define CLI_SETTINGS_MAX 64
#define CLI_JOBS_MAX 256

typedef struct cli_talk {
    bool quiet, live;
    bool line_open; /* a live line stands on the terminal */
    double last;    /* seconds of the last line */
    int64_t tenth;  /* of the frames, told last */
    int problems;
    int progress_to; /* a pipe that gets cli_share instead of lines; 0: none */
} cli_talk;

/* What a process of a sweep tells of its run. */
typedef struct cli_share {
    int64_t frame, frames;
} cli_share;

/* Ctrl-C and its kin leave the step and save. */
void cli_catch_signals(void);
void cli_end_line(cli_talk *t);
void cli_print_left(double seconds, char *text, size_t room);
/* Returns the exit status. */
int cli_run_one(const char *scene, const talus_run_options *o, cli_talk *t);

/* Runs all variants of a plan, `jobs` at a time in processes of their own, and writes sweep.csv. Returns the exit
 * status: how many failed, 101 for more than 100; 130 interrupted. */
typedef struct cli_sweep {
    const char *scene;
    const cli_plan *plan;
    const talus_run_options *run; /* folder: that of the sweep; NULL: runs/NAME-sweep-KEY */
    int jobs, threads;            /* threads: of each process; 0: the cores are shared out */
    const char *columns;          /* of sweep.csv; NULL: the default ones */
} cli_sweep;
int cli_run_sweep(const cli_sweep *s, cli_talk *t);

/* How a variant ended. */
typedef struct cli_ending {
    int code;       /* exit status of its process; -1: it was not run */
    double seconds; /* by the clock */
} cli_ending;
bool cli_check_columns(const char *text); /* false after a message on stderr */
/* sweep.csv in `parent`, complete or absent; false after a message on stderr. */
bool cli_write_table(const cli_sweep *s, const char *parent, const cli_ending *ending);

#endif
