/* Opening files that others may have put in our way: a pipe that never answers, a device, a link to somewhere else. */
#ifndef TL_BASE_FILE_H
#define TL_BASE_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* For reading, regular files only, links followed. NULL: see tl_file_reason. */
FILE *tl_file_reader(const char *path);

/* open() for a table of ours: a regular file that is no link, above descriptors 0 to 2, where talk goes. -1: see
 * tl_file_reason. */
int tl_file_open(const char *path, int flags);

/* Why the last of the above failed, or errno in words. */
const char *tl_file_reason(void);

bool tl_file_is_folder(const char *path); /* one that is no link */
bool tl_file_is_link(const char *path);

#endif
