/* bodies.csv of a run, read back frame by frame: where bodies were and how they moved.
 *
 * The table may be as long as it likes: it is looked through once, for where frames begin. A frame without a row for
 * every body (the run was stopped in the middle of it, or is still writing) is not there. */
#ifndef TL_IO_BODY_TABLE_H
#define TL_IO_BODY_TABLE_H

#include <stddef.h>

#include "base/status.h"
#include "math/pose.h"

typedef struct tl_body_table tl_body_table;

typedef struct tl_body_row {
    tl_pose pose;           /* of the shape's frame */
    tl_vec3 velocity, spin; /* of the centre of mass; rad/s, world frame */
} tl_body_row;

/* Columns are found by name. Not a table of this many bodies: bad input. */
talus_status tl_body_table_open(tl_body_table **out, const char *path, int bodies, talus_error *err);
void tl_body_table_close(tl_body_table *t); /* NULL is fine */

int64_t tl_body_table_frames(const tl_body_table *t);           /* how many there are */
int64_t tl_body_table_frame(const tl_body_table *t, int64_t i); /* the number of the i-th, ascending */
/* The i-th frame: its time and a row for each body. */
talus_status tl_body_table_read(tl_body_table *t, int64_t i, double *time, tl_body_row *rows, talus_error *err);

#endif
