/* A run: a simulation from its start or its checkpoint to its last frame, with all files of DIR (docs/running.md).
 *
 * What makes it safe to kill: at a frame the order is frame files, tables synced, checkpoint renamed into place. So
 * everything that the checkpoint says has happened is in the files; what the files have beyond it is cut away on
 * resume. A run that was killed before its first checkpoint begins anew. */
#ifndef TL_RUN_RUN_H
#define TL_RUN_RUN_H

#include <talus/run.h>

#include "phase/sim.h"

typedef struct tl_run_progress {
    int64_t frame, frames; /* reached, wanted */
    const tl_report *report;
    double seconds, seconds_left; /* of this process; negative: not known */
    const char *phase;            /* "step", "frame", "picture" */
} tl_run_progress;

typedef struct tl_run_options {
    const char *folder; /* NULL: runs/NAME by the scene's file */
    int64_t frames;     /* 0: all of the scene's duration */
    bool resume, history, no_pictures;
    const char *capture; /* problems that go to files: run/captures.h; NULL: none */
    const char *size;    /* how the scene was read, for run.json and messages */
    int settings;
    const char *const *setting;
    int (*progress)(void *user, const tl_run_progress *p); /* not 0: save and stop. May be NULL */
    void *user;
    tl_log log;
    const tl_comm
        *comm; /* the other processes of the run, which all do the same: the first has the files. NULL: none */
} tl_run_options;

/* result->folder is "" until the run has its folder. */
talus_status tl_run(const tl_scene *scene, const tl_run_options *o, talus_run_result *result, talus_error *err);

#endif
