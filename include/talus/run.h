/* Runs: a scene in, a folder of frames, tables, checkpoints and pictures out (docs/running.md).
 *
 * A run may be killed at any moment and continued: the result is the same, bit for bit. Files that are written once
 * are complete or absent; tables grow by whole lines and are cut back to the checkpoint on resume. */
#ifndef TALUS_RUN_H
#define TALUS_RUN_H

#include <talus/render.h>
#include <talus/scene.h>
#include <talus/sim.h>
#include <talus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How far a run is, for a live line. */
typedef struct talus_progress {
    int64_t frame, frames; /* reached, wanted */
    const talus_report *report;
    double seconds, seconds_left; /* since the start; estimate, negative when not known */
    const char *phase;            /* "step", "frame", "picture", "save" (interrupted) */
} talus_progress;

typedef struct talus_run_options {
    const char *folder; /* NULL: runs/NAME, or runs/NAME-2, ... when that exists */
    int frames;         /* 0: all of the scene's duration */
    int resume;         /* 1: go on from the folder's checkpoint; a finished run is left as it is */
    int history;        /* 1: keep every solver's iteration curve, as if output.history were set */
    int no_pictures;    /* 1: none, not even of the last frame */
    /* "KIND@STEP,...": problems that go to DIR/KIND-STEP.h5 as that step solves them; KIND: step, pressure, stress,
     * contact, fixedpoint, rounds (docs/capture-format.md). NULL: none */
    const char *capture;
    const talus_scene_options *scene; /* how the scene is read; NULL: the defaults */
    /* Called after every step and now and then besides. Not 0: save, TALUS_INTERRUPTED (talus_cancel does so inside
     * of a step). May be NULL. */
    int (*progress)(void *user, const talus_progress *progress);
    talus_log_fn log; /* warnings and notes */
    void *user;       /* for both */
} talus_run_options;

TALUS_API talus_run_options talus_run_options_default(void);

/* How good the answer is, from steps.csv: a line each for solves, momentum, energy, volume, penetration and what
 * escaped (docs/running.md). */
#define TALUS_VERDICT_LINES 8
typedef struct talus_verdict_line {
    char name[16];
    double value, limit; /* as a share; value NaN: not accounted for by the engine */
    int bad;             /* 1: above the limit */
    int refused;         /* 1: and the limit is one of the scene's `accept` */
    char text[400];      /* what was found */
    char remedy[120];    /* what to change; "" where it is good */
} talus_verdict_line;
typedef struct talus_verdict {
    int64_t steps;
    double time; /* s, simulated */
    int lines, bad, refused;
    talus_verdict_line line[TALUS_VERDICT_LINES];
} talus_verdict;

/* What came out; texts are in `folder` and `picture` ("" for none). */
typedef struct talus_run_result {
    char folder[1024], picture[1200];
    int64_t frames, steps;
    uint64_t hash;         /* of the final state */
    talus_verdict verdict; /* also of a run that failed or was interrupted; no lines without a step */
} talus_run_result;

/* On failure and interruption the folder holds a valid checkpoint (if a frame was reached) and run.json says how it
 * ended. */
TALUS_API talus_status talus_run(const char *scene, const talus_run_options *options, talus_run_result *result,
                                 talus_error *err);

/* The verdict of a run folder as it is now: finished, interrupted, or still going. */
TALUS_API talus_status talus_run_verdict(const char *folder, talus_verdict *out, talus_error *err);

/* Pictures of the frames of a run: images/frame-0001.png, ..., sheet.png, and film.mp4 when ffmpeg is there.
 * `every`: of how many frames one is drawn, 0 chooses about 100; `only`: this frame alone, negative: all. */
TALUS_API talus_status talus_render_run(const char *folder, int every, int only, const talus_render_options *options,
                                        talus_error *err);

/* Surfaces of bodies with index and velocity, of one frame (negative: all), to files in the folder `output`, which
 * is made: bodies-0001.ply, ... format: "ply", "obj" or "vtk". scene: where shapes and meshes lie; NULL: beside the
 * scene. */
TALUS_API talus_status talus_export(const char *folder, const char *format, int frame, const char *output,
                                    const talus_scene_options *scene, talus_error *err);

#ifdef __cplusplus
}
#endif
#endif
