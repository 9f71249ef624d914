/* The folder of a run: which one, whose it is, and what is taken away before a run goes on.
 *
 * One run at a time: the folder is locked (flock) until it is closed or its process ends, however it ends. Nothing
 * of others is overwritten: a folder that holds anything is refused unless it is that of a run and the caller
 * resumes it. */
#ifndef TL_RUN_FOLDER_H
#define TL_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define TL_FOLDER_ROOM 1024
#define TL_PATH_ROOM (TL_FOLDER_ROOM + 128)

typedef struct tl_folder {
    char path[TL_FOLDER_ROOM];
    int lock;   /* file descriptor; -1: none */
    bool fresh; /* nothing of a run was in it */
} tl_folder;

/* asked: NULL is runs/NAME, or runs/NAME-2, ... when that exists; with `resume`, the last of these that does. Made
 * when it is missing, with frames/ and images/ in it. */
talus_status tl_folder_open(tl_folder *f, const char *asked, const char *name, bool resume, talus_error *err);
void tl_folder_close(tl_folder *f);

/* A folder inside of a run's folder, that may be there already; a link is refused. */
talus_status tl_folder_make_part(const char *path, talus_error *err);
void tl_folder_file(const tl_folder *f, const char *name, char out[TL_PATH_ROOM]);

/* Removes files of ours, by the names that runs write: half-written ones (run.json.part-PID-K), and frames, images
 * and kept checkpoints of frames above `frame` (-1: all). */
talus_status tl_folder_clean(const tl_folder *f, int64_t frame, talus_error *err);

#endif
