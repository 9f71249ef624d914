/* Output files that are complete or absent: write to a temporary name beside the target, then sync
 * and rename. A crash at any moment leaves the old file, or none, and at most a `*.part-*` file.
 *
 * A sync waits for the disk, some milliseconds each, and two processes on one disk wait for each other. Who writes many
 * files asks for them later, all at once: between tl_replace_later(true) and tl_replace_later(false) files of this
 * thread are renamed without a sync. A killed process leaves them complete; a power cut before tl_replace_sync need
 * not. */
#ifndef TL_BASE_REPLACE_H
#define TL_BASE_REPLACE_H

#include <stdbool.h>

#include "base/status.h"

typedef struct tl_replace {
    char *path; /* as the user named it */
    char *temp; /* an empty file that exists and is ours; write there */
} tl_replace;

talus_status tl_replace_begin(tl_replace *r, const char *path, talus_error *err);

/* The temporary file must be closed. r is {0} afterwards, whatever happened; on failure the
 * temporary file is gone and an old file of that name is as it was. */
talus_status tl_replace_commit(tl_replace *r, talus_error *err);
void tl_replace_discard(tl_replace *r); /* {0} is fine */

void tl_replace_later(bool later);
/* All that was written so far to the disk of this file or folder is on it. */
talus_status tl_replace_sync(const char *path, talus_error *err);

#endif
