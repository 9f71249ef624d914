/* The folder of a run, opened for those that come after it: pictures and export.
 *
 * A finished, interrupted or failed run can be opened from any folder: run.json holds the scene's text and says
 * where its file lay. What is drawn comes from bodies.csv and frames/; a run that wrote neither is drawn from its
 * checkpoints. */
#ifndef TL_API_RUN_FOLDER_H
#define TL_API_RUN_FOLDER_H

#include <talus/scene.h>

#include "io/body_table.h"
#include "io/run_json.h"
#include "model/lg/lg.h"
#include "run/clouds.h"

/* Where one frame is. */
typedef struct tl_run_frame {
    int64_t number, row; /* row: of the table; -1: in none */
    bool last;           /* of checkpoints: checkpoint.h5 */
} tl_run_frame;

typedef struct tl_run_folder {
    tl_scene *scene;      /* read again, with the run's settings */
    int64_t frames;       /* at least 1 */
    tl_run_frame *frame;  /* [frames] in ascending order */
    tl_body_table *table; /* NULL: no bodies, or frames are checkpoints */
    tl_sim *sim;          /* frames are checkpoints: what they are loaded into; else NULL */
    tl_body_row *rows;    /* [bodies + 1] of the frame that was read */
    tl_lg lg;             /* elastic bodies, meshed again; {0}: there are none */
    double *q, *v;        /* [lg.nodes][3] of the frame that was read */
    int64_t *broke;       /* [joints + 1] frames in which joints were first seen broken; INT64_MAX: never */
    bool *broken;         /* [joints + 1] in the frame that was read */
    char folder[1100];
} tl_run_folder;

/* where: folders of shapes and meshes, problems and prints; size and settings are the run's. May be NULL. A scene
 * whose files have changed since the run is bad input. */
talus_status tl_run_folder_open(tl_run_folder *out, const char *folder, const talus_scene_options *where,
                                talus_error *err);
/* The i-th frame into rows, q and v. clouds: its particles, to be freed by the caller; NULL: not wanted. */
talus_status tl_run_folder_read(tl_run_folder *f, int64_t i, double *t, tl_clouds *clouds, talus_error *err);
/* Index of the frame of this number; bad input when there is none. */
talus_status tl_run_folder_find(const tl_run_folder *f, int64_t number, int64_t *out, talus_error *err);
void tl_run_folder_close(tl_run_folder *f); /* leaves {0} */

/* Makes a folder unless it is there. */
talus_status tl_make_folder(const char *path, talus_error *err);

#endif
