/* Tables that grow by whole lines: the files that a run adds to, and cuts back when it is resumed.
 *
 * RFC 4180 with plain newlines: cells that hold a comma, a quote or a newline are quoted. Numbers have 17
 * significant digits, which is every bit of a double, and a point whatever the program's locale. A line reaches the
 * file in one piece; what a full disk cut off is taken away again. The first cell of every line is a whole number
 * that never falls: by it a table is cut. */
#ifndef TL_IO_CSV_H
#define TL_IO_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct tl_csv {
    int fd; /* -1: not open */
    char *path;
    int64_t bytes; /* of whole lines */
    char *line;    /* the one that is being made */
    size_t used, room;
    bool no_memory; /* for a cell of it */
} tl_csv;

#define TL_CSV_CLOSED ((tl_csv){.fd = -1})

/* `first`: of a new table, whatever was there is gone. Else lines are added behind the whole ones that are there;
 * the file may be missing. */
talus_status tl_csv_open(tl_csv *c, const char *path, bool first, talus_error *err);
void tl_csv_close(tl_csv *c);

/* Cells of one line, left to right; then its end, which writes it. */
void tl_csv_text(tl_csv *c, const char *text);
void tl_csv_int(tl_csv *c, int64_t value);
void tl_csv_number(tl_csv *c, double value); /* nan, inf, -inf when not finite */
void tl_csv_numbers(tl_csv *c, int count, const double *value);
talus_status tl_csv_end(tl_csv *c, talus_error *err);
/* The line of names: written to an empty table; else the table's first line must be the same. */
talus_status tl_csv_end_header(tl_csv *c, talus_error *err);

talus_status tl_csv_sync(tl_csv *c, talus_error *err);

/* Take away lines whose first cell is above `last`, and half a line at the end. *found: the first cell of the last
 * line that stays, or -1 without one. A file that is missing counts as empty. */
talus_status tl_csv_cut(const char *path, int64_t last, int64_t *found, talus_error *err);

#endif
