#include "io/body_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"

static const char *const names[] = {"frame",
                                    "t_s",
                                    "body",
                                    "x_m",
                                    "y_m",
                                    "z_m",
                                    "rotation_w",
                                    "rotation_x",
                                    "rotation_y",
                                    "rotation_z",
                                    "velocity_x_m_s",
                                    "velocity_y_m_s",
                                    "velocity_z_m_s",
                                    "spin_x_rad_s",
                                    "spin_y_rad_s",
                                    "spin_z_rad_s"};
#define COLUMNS ((int)(sizeof names / sizeof names[0]))
enum { FRAME, TIME, BODY, FIRST };

#define CELLS_MAX 256

typedef struct place {
    int64_t frame;
    long offset;
    int line;
} place;

struct tl_body_table {
    FILE *f;
    char *path;
    int bodies;
    int column[COLUMNS]; /* cell of a line */
    int64_t frames, room;
    place *at; /* [frames] */
    char *line;
    size_t line_room;
};

/* Cells of a line in place: quotes are taken off. Returns how many, at most CELLS_MAX. */
static int split(char *line, char **cell)
{
    int n = 0;
    for (char *c = line; n < CELLS_MAX;) {
        char *to = c;
        cell[n++] = c;
        if (*c == '"') {
            for (c++; *c && (*c != '"' || c[1] == '"'); c++) {
                if (*c == '"') c++;
                *to++ = *c;
            }
            if (*c) c++;
        } else
            while (*c && *c != ',' && *c != '\n' && *c != '\r') *to++ = *c++;
        char end = *c;
        *to = 0;
        if (end != ',') return n;
        c++;
    }
    return n;
}

/* A whole line; false at the end and at half a line. */
static bool next_line(tl_body_table *t)
{
    size_t used = 0;
    for (;;) {
        if (t->line_room - used < 2) {
            char *larger = tl_realloc(t->line, 2 * t->line_room + 4096);
            if (!larger) return false;
            t->line = larger;
            t->line_room = 2 * t->line_room + 4096;
        }
        if (!fgets(t->line + used, (int)(t->line_room - used), t->f)) return false;
        used += strlen(t->line + used);
        if (used && t->line[used - 1] == '\n') return true;
    }
}

static talus_status read_header(tl_body_table *t, talus_error *err)
{
    char *cell[CELLS_MAX];
    int n = next_line(t) ? split(t->line, cell) : 0;
    for (int k = 0; k < COLUMNS; k++) {
        t->column[k] = -1;
        for (int i = 0; i < n; i++)
            if (!strcmp(cell[i], names[k])) t->column[k] = i;
        if (t->column[k] < 0)
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s: not a table of bodies, it has no column %s", t->path, names[k]);
    }
    return TALUS_OK;
}

static bool add_place(tl_body_table *t, place p)
{
    if (t->frames == t->room) {
        int64_t room = 2 * t->room + 256;
        place *larger = tl_realloc(t->at, sizeof *larger * (size_t)room);
        if (!larger) return false;
        t->at = larger;
        t->room = room;
    }
    t->at[t->frames++] = p;
    return true;
}

/* Where each frame begins; the last one only when it is whole. Lines are sorted by frame and body. */
static talus_status find_frames(tl_body_table *t, talus_error *err)
{
    int rows = 0, line = 1;
    for (long offset = ftell(t->f); line++, next_line(t); offset = ftell(t->f)) {
        char *cell[CELLS_MAX], *end;
        int n = split(t->line, cell);
        if (n <= t->column[BODY] || n <= t->column[FRAME])
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s:%d: too few cells", t->path, line);
        long long frame = strtoll(cell[t->column[FRAME]], &end, 10);
        int body = atoi(cell[t->column[BODY]]);
        bool starts = t->frames == 0 || frame != t->at[t->frames - 1].frame;
        if (*end || (starts ? rows != (t->frames ? t->bodies : 0) : false) || body != (starts ? 0 : rows))
            return TL_FAIL(err, TALUS_BAD_INPUT,
                           "%s:%d: frame %s, body %s is out of order; each frame must have bodies 0 to %d", t->path,
                           line, cell[t->column[FRAME]], cell[t->column[BODY]], t->bodies - 1);
        if (starts && !add_place(t, (place){frame, offset, line}))
            return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to read %s", t->path);
        rows = starts ? 1 : rows + 1;
    }
    if (ferror(t->f)) return TL_FAIL(err, TALUS_IO, "%s: cannot read it: %s", t->path, strerror(errno));
    if (t->frames && rows < t->bodies) t->frames--;
    return TALUS_OK;
}

talus_status tl_body_table_open(tl_body_table **out, const char *path, int bodies, talus_error *err)
{
    *out = NULL;
    tl_body_table *t = TL_NEW_ZERO(tl_body_table, 1);
    if (!t || !(t->path = TL_NEW(char, strlen(path) + 1))) {
        tl_free(t);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to read %s", path);
    }
    strcpy(t->path, path);
    t->bodies = bodies;
    t->f = tl_file_reader(path);
    talus_status status =
        t->f ? read_header(t, err) : TL_FAIL(err, TALUS_IO, "%s: cannot read it: %s", path, tl_file_reason());
    if (status == TALUS_OK) status = find_frames(t, err);
    if (status != TALUS_OK)
        tl_body_table_close(t);
    else
        *out = t;
    return status;
}

void tl_body_table_close(tl_body_table *t)
{
    if (!t) return;
    if (t->f) fclose(t->f);
    tl_free(t->path);
    tl_free(t->at);
    tl_free(t->line);
    tl_free(t);
}

int64_t tl_body_table_frames(const tl_body_table *t) { return t->frames; }
int64_t tl_body_table_frame(const tl_body_table *t, int64_t i) { return t->at[i].frame; }

static talus_status read_row(tl_body_table *t, int line, double value[COLUMNS], talus_error *err)
{
    char *cell[CELLS_MAX], *end;
    if (!next_line(t)) return TL_FAIL(err, TALUS_IO, "%s:%d: the line is gone", t->path, line);
    int n = split(t->line, cell);
    for (int k = 0; k < COLUMNS; k++) {
        const char *text = t->column[k] < n ? cell[t->column[k]] : "";
        value[k] = strtod(text, &end);
        if (!*text || *end)
            return TL_FAIL(err, TALUS_BAD_INPUT, "%s:%d: %s must be a number, got '%.40s'", t->path, line, names[k],
                           text);
    }
    return TALUS_OK;
}

talus_status tl_body_table_read(tl_body_table *t, int64_t i, double *time, tl_body_row *rows, talus_error *err)
{
    const place *at = &t->at[i];
    if (fseek(t->f, at->offset, SEEK_SET) != 0)
        return TL_FAIL(err, TALUS_IO, "%s: cannot read it: %s", t->path, strerror(errno));
    talus_status status = TALUS_OK;
    tl_c_numbers numbers = tl_c_numbers_begin();
    for (int b = 0; b < t->bodies && status == TALUS_OK; b++) {
        double v[COLUMNS];
        status = read_row(t, at->line + b, v, err);
        if (status != TALUS_OK) break;
        *time = v[TIME];
        const double *p = v + FIRST;
        rows[b] = (tl_body_row){
            .pose = {{p[0], p[1], p[2]}, {p[3], p[4], p[5], p[6]}},
            .velocity = {p[7], p[8], p[9]},
            .spin = {p[10], p[11], p[12]},
        };
    }
    tl_c_numbers_end(numbers);
    return status;
}
