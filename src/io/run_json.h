/* run.json: what ran, with which settings, on what, and how it ended. Written at the start and at the end of a run,
 * complete or absent; read again when a run is resumed, drawn or exported. */
#ifndef TL_IO_RUN_JSON_H
#define TL_IO_RUN_JSON_H

#include <stdbool.h>
#include <talus/run.h>

#include "scene/scene.h"

#define TL_RUN_SETTINGS_MAX 128

/* Texts are not owned when writing; in a record that was read they lie in `memory`. Times are as `date -u +%FT%TZ`
 * prints them. */
typedef struct tl_run_record {
    const char *scene_file, *scene_hash; /* hash: 16 hexadecimal digits */
    const char *scene_folder;            /* of scene_file, from the root; "": not known */
    const char *scene_text;              /* read back; written is that of the scene */
    const char *size;                    /* "small" or "paper" */
    int settings;
    const char *setting[TL_RUN_SETTINGS_MAX];
    int threads, processes;      /* 0 processes: as 1, and not written */
    const char *started, *ended; /* ended: "" while it runs */
    int resumed;                 /* how often */
    const char *outcome;         /* "running", "finished", "interrupted", "failed" */
    const char *message;         /* why it failed, else "" */
    int64_t frames, frames_wanted, steps;
    double t, seconds;            /* simulated; of this machine's time, all parts of a resumed run together */
    const char *state_hash;       /* of the last checkpoint, 16 hexadecimal digits */
    const talus_verdict *verdict; /* written where there is one; not read */
    tl_accept_spec accept;        /* read; what is written is the scene's */
    int open_walls;               /* 1: of a domain that lets matter out */
    char *memory;
} tl_run_record;

/* `scene`: for its text and the settings in force. */
talus_status tl_run_json_write(const char *path, const tl_run_record *r, const tl_scene *scene, talus_error *err);

/* Any JSON with these keys; those that are missing are "" or 0. */
talus_status tl_run_json_read(tl_run_record *out, const char *path, talus_error *err);
void tl_run_record_free(tl_run_record *r); /* of a record that was read; leaves {0} */

#endif
