/* Output files that are complete or absent: write to a temporary name beside the target, then sync
 * and rename. A crash at any moment leaves the old file, or none, and at most a `*.part-*` file. */
#ifndef TL_BASE_REPLACE_H
#define TL_BASE_REPLACE_H

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

#endif
