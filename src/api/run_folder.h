/* The folder of a run, opened for those that come after it: pictures and export. */
#ifndef TL_API_RUN_FOLDER_H
#define TL_API_RUN_FOLDER_H

#include <talus/scene.h>

#include "io/body_table.h"
#include "io/run_json.h"
#include "model/lg/lg.h"

typedef struct tl_run_folder {
    tl_scene *scene; /* read again, with the run's settings */
    tl_body_table *table;
    tl_body_row *rows; /* [bodies + 1] room for one frame */
    tl_lg lg;          /* elastic bodies, meshed again; {0}: there are none */
    double *q, *v;     /* [lg.nodes][3] room for one frame */
    char folder[1100];
} tl_run_folder;

/* where: folders of shapes and meshes, problems and prints; size and settings are the run's. May be NULL. A scene that has changed since the
 * run is bad input. */
talus_status tl_run_folder_open(tl_run_folder *out, const char *folder, const talus_scene_options *where,
                                talus_error *err);
/* Positions and velocities of elastic nodes of a frame, by its number. Without elastic bodies nothing. */
talus_status tl_run_folder_nodes(tl_run_folder *f, int64_t frame, talus_error *err);
void tl_run_folder_close(tl_run_folder *f); /* leaves {0} */

/* Makes a folder unless it is there. */
talus_status tl_make_folder(const char *path, talus_error *err);

#endif
