/* The text of a scene file, with the line of every table entry.
 *
 * Lua forgets where a table was written. So the text is gone through once, and each table constructor { ... } is
 * wrapped in a call that tells its number: box { size = s } becomes box(mark(7,{ size = s })). Lines stay what they
 * were. The reader keeps the number with the table and finds the line of each key here, also for tables made in
 * loops. */
#ifndef TL_SCENE_SOURCE_H
#define TL_SCENE_SOURCE_H

#include <stddef.h>

#include "base/status.h"

#define TL_SOURCE_BYTES ((size_t)1 << 20) /* longest file */

typedef struct tl_source_entry {
    int key, key_length; /* place in text; key_length 0: positional, number `index` */
    int index;
    int line;
    int next; /* entry of the same table, -1: last */
} tl_source_entry;

typedef struct tl_source_table {
    int line;        /* of the opening brace */
    int first, last; /* entries, -1: none */
} tl_source_table;

typedef struct tl_source {
    const char *file; /* as shown in messages; the caller's */
    char *text;       /* as read; [bytes], and a 0 */
    size_t bytes;
    char *marked; /* with the calls added */
    size_t marked_bytes;
    char mark[24]; /* name of the function to define; not a word of the text */
    int table_count, entry_count, field_count;
    tl_source_table *tables;
    tl_source_entry *entries;
    tl_source_entry *fields; /* assignments a.b.key = value */
} tl_source;

/* Takes a copy of the text, not of the file's name. */
talus_status tl_source_create(tl_source *s, const char *file, const char *text, size_t bytes, talus_error *err);
void tl_source_free(tl_source *s);

/* Find the tables and write `marked`. The text must be known to compile. Refuses the words `...` and `_ENV`, with bad
 * input and the line in *bad_line. */
talus_status tl_source_mark(tl_source *s, int file, int *bad_line, talus_error *err);

/* Line of an entry of a table; when the key is not written there, of an assignment to such a field if there is one
 * only, else of the table. key NULL: entry number `index`, 0: the table itself. *looked: entries visited. */
int tl_source_line(const tl_source *s, int table, const char *key, int index, int *looked);

#endif
