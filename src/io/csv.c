#include "io/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"

#define BLOCK ((size_t)1 << 16) /* bytes of one read */
#define CELL_BYTES 4096         /* of a text; the rest is cut off */

/* ---- going through a file ---- */

typedef struct walk {
    int64_t at, whole; /* bytes seen; end of the last whole line */
    bool quoted, in_number, has_number;
    int64_t number, last; /* first cell of this line; of the last one that counted */
    bool done;            /* met a line that is to go */
} walk;

static void walk_bytes(walk *w, const char *text, size_t bytes, int64_t max)
{
    for (size_t i = 0; i < bytes && !w->done; i++) {
        char ch = text[i];
        w->at++;
        if (ch == '"') w->quoted = !w->quoted;
        if (w->in_number && ch >= '0' && ch <= '9' && w->number < INT64_MAX / 16) {
            w->number = 10 * w->number + (ch - '0');
            w->has_number = true;
        } else {
            w->in_number = false;
        }
        if (ch != '\n' || w->quoted) continue;
        if (w->has_number && w->number > max) {
            w->done = true;
        } else {
            w->whole = w->at;
            if (w->has_number) w->last = w->number;
        }
        w->number = 0;
        w->has_number = false;
        w->in_number = true;
    }
}

static talus_status walk_file(int fd, const char *path, int64_t max, walk *w, talus_error *err)
{
    *w = (walk){.in_number = true, .last = -1};
    char *text = TL_NEW(char, BLOCK);
    if (!text) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to read %s", path);
    ssize_t got = 0;
    while (!w->done && (got = pread(fd, text, BLOCK, (off_t)w->at)) > 0) walk_bytes(w, text, (size_t)got, max);
    int why = errno;
    tl_free(text);
    return got < 0 ? TL_FAIL(err, TALUS_IO, "%s: cannot read it: %s", path, strerror(why)) : TALUS_OK;
}

static talus_status shorten(int fd, const char *path, int64_t bytes, talus_error *err)
{
    if (ftruncate(fd, (off_t)bytes) == 0 && fsync(fd) == 0) return TALUS_OK;
    return TL_FAIL(err, TALUS_IO, "%s: cannot cut it to %lld bytes: %s", path, (long long)bytes, strerror(errno));
}

talus_status tl_csv_cut(const char *path, int64_t last, int64_t *found, talus_error *err)
{
    *found = -1;
    int fd = tl_file_open(path, O_RDWR);
    if (fd < 0 && errno == ENOENT) return TALUS_OK;
    if (fd < 0) return TL_FAIL(err, TALUS_IO, "%s: %s", path, tl_file_reason());
    walk w;
    talus_status status = walk_file(fd, path, last, &w, err);
    if (status == TALUS_OK) status = shorten(fd, path, w.whole, err);
    if (status == TALUS_OK) *found = w.last;
    close(fd);
    return status;
}

/* ---- adding ---- */

talus_status tl_csv_open(tl_csv *c, const char *path, bool first, talus_error *err)
{
    *c = TL_CSV_CLOSED;
    size_t length = strlen(path);
    c->path = TL_NEW(char, length + 1);
    if (!c->path) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to write %s", path);
    memcpy(c->path, path, length + 1);
    c->fd = tl_file_open(path, O_RDWR | O_CREAT | (first ? O_TRUNC : 0));
    talus_status status =
        c->fd < 0 ? TL_FAIL(err, TALUS_IO, "%s: cannot write it: %s", path, tl_file_reason()) : TALUS_OK;
    walk w = {0};
    if (status == TALUS_OK && !first) status = walk_file(c->fd, path, INT64_MAX, &w, err);
    if (status == TALUS_OK && !first && w.at > w.whole) status = shorten(c->fd, path, w.whole, err);
    c->bytes = w.whole;
    if (status != TALUS_OK) tl_csv_close(c);
    return status;
}

void tl_csv_close(tl_csv *c)
{
    if (c->fd >= 0) close(c->fd);
    tl_free(c->path);
    tl_free(c->line);
    *c = TL_CSV_CLOSED;
}

static void add(tl_csv *c, const char *text, size_t bytes)
{
    if (c->used + bytes > c->room) {
        size_t room = 2 * (c->used + bytes) + 256;
        char *line = tl_realloc(c->line, room);
        if (!line) {
            c->no_memory = true;
            return;
        }
        c->line = line;
        c->room = room;
    }
    memcpy(c->line + c->used, text, bytes);
    c->used += bytes;
}

static void next_cell(tl_csv *c)
{
    if (c->used) add(c, ",", 1);
}

/* Lines stay lines: control characters are quoted as in messages. A cell that a table program would take for a
 * formula begins with an apostrophe, which makes it text there. */
void tl_csv_text(tl_csv *c, const char *text)
{
    char plain[CELL_BYTES];
    tl_text_quote(plain, sizeof plain, text);
    next_cell(c);
    bool formula = *plain && strchr("=+-@", *plain), quoted = strpbrk(plain, "\",") != NULL;
    if (quoted) add(c, "\"", 1);
    if (formula) add(c, "'", 1);
    for (const char *p = plain; *p; p++) add(c, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    if (quoted) add(c, "\"", 1);
}

void tl_csv_int(tl_csv *c, int64_t value)
{
    char text[32];
    next_cell(c);
    add(c, text, (size_t)snprintf(text, sizeof text, "%" PRId64, value));
}

static void add_number(tl_csv *c, double value)
{
    char text[40];
    next_cell(c);
    if (isnan(value))
        add(c, "nan", 3);
    else if (fabs(value) < 1e15 && value == (double)(int64_t)value && (value != 0 || !signbit(value)))
        add(c, text, (size_t)snprintf(text, sizeof text, "%" PRId64, (int64_t)value)); /* the same digits, sooner */
    else
        add(c, text, (size_t)snprintf(text, sizeof text, "%.17g", value));
}

void tl_csv_numbers(tl_csv *c, int count, const double *value)
{
    tl_c_numbers point = tl_c_numbers_begin();
    for (int i = 0; i < count; i++) add_number(c, value[i]);
    tl_c_numbers_end(point);
}

void tl_csv_number(tl_csv *c, double value) { tl_csv_numbers(c, 1, &value); }

talus_status tl_csv_end(tl_csv *c, talus_error *err)
{
    add(c, "\n", 1);
    size_t bytes = c->used;
    c->used = 0;
    if (c->no_memory) {
        c->no_memory = false;
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a line of %s", c->path);
    }
    size_t done = 0;
    while (done < bytes) {
        ssize_t n = pwrite(c->fd, c->line + done, bytes - done, (off_t)(c->bytes + (int64_t)done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += (size_t)n;
    }
    if (done < bytes) {
        int why = errno;
        (void)!ftruncate(c->fd, (off_t)c->bytes);
        return TL_FAIL(err, TALUS_IO, "%s: cannot write it: %s", c->path, strerror(why));
    }
    c->bytes += (int64_t)bytes;
    return TALUS_OK;
}

talus_status tl_csv_end_header(tl_csv *c, talus_error *err)
{
    if (c->bytes == 0) return tl_csv_end(c, err);
    size_t bytes = c->used;
    c->used = 0;
    char *there = TL_NEW(char, bytes + 1);
    if (c->no_memory || !there) {
        c->no_memory = false;
        tl_free(there);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the first line of %s", c->path);
    }
    bool same = pread(c->fd, there, bytes + 1, 0) == (ssize_t)bytes + 1 && there[bytes] == '\n' &&
                !memcmp(there, c->line, bytes);
    tl_free(there);
    if (same) return TALUS_OK;
    return TL_FAIL(err, TALUS_BAD_INPUT,
                   "%s has other columns than this run would write: it was made by another version", c->path);
}

talus_status tl_csv_sync(tl_csv *c, talus_error *err)
{
    if (c->fd < 0 || fsync(c->fd) == 0) return TALUS_OK;
    return TL_FAIL(err, TALUS_IO, "%s: cannot sync it: %s", c->path, strerror(errno));
}
