/* sweep.csv: a row per variant, from the tables that the runs left. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "run.h"

#define COLUMNS_MAX 64
#define DEFAULT_COLUMNS "t_s,kinetic_J,potential_J,elastic_J,max:penetration_m"

/* "max:penetration_m" of steps.csv, "ball.x_m" of bodies.csv. */
typedef struct column {
    char text[160]; /* as the user wrote it */
    enum { LAST, MIN, MAX, MEAN } what;
    char body[128]; /* "": steps.csv */
    char name[128];
    bool found; /* in any table */
    int at, name_at;
    double value, sum;
    long rows;
} column;

static bool read_column(column *c, const char *text, size_t length)
{
    static const char *const words[] = {"last:", "min:", "max:", "mean:"};
    snprintf(c->text, sizeof c->text, "%.*s", (int)length, text);
    const char *name = c->text;
    for (int i = 0; i < 4; i++)
        if (!strncmp(name, words[i], strlen(words[i]))) {
            c->what = (int)i;
            name += strlen(words[i]);
            break;
        }
    const char *dot = strrchr(name, '.');
    if (dot) snprintf(c->body, sizeof c->body, "%.*s", (int)(dot - name), name);
    snprintf(c->name, sizeof c->name, "%s", dot ? dot + 1 : name);
    return length < sizeof c->text && *c->name;
}

static int read_columns(column *list, const char *text)
{
    int n = 0;
    while (*text) {
        size_t length = strcspn(text, ",");
        if (n == COLUMNS_MAX || !read_column(&list[n++], text, length)) return -1;
        text += length + (text[length] == ',');
    }
    return n;
}

/* The i-th field of a line of RFC 4180, without its quotes; false when there is none. */
static bool field(const char *line, int i, char *out, size_t room)
{
    bool quoted = false;
    size_t n = 0;
    for (; *line && (quoted || (*line != '\n' && *line != '\r')); line++) {
        if (*line == '"') {
            if (quoted && line[1] == '"')
                line++;
            else {
                quoted = !quoted;
                continue;
            }
        } else if (*line == ',' && !quoted) {
            if (i-- == 0) break;
            continue;
        }
        if (i == 0 && n + 1 < room) out[n++] = *line;
    }
    out[n] = '\0';
    return i <= 0;
}

static int find_field(const char *line, const char *name)
{
    char text[256];
    for (int i = 0; field(line, i, text, sizeof text); i++)
        if (!strcmp(text, name)) return i;
    return -1;
}

static void take(column *c, const char *line)
{
    char text[256];
    if (c->at < 0) return;
    if (*c->body && (!field(line, c->name_at, text, sizeof text) || strcmp(text, c->body))) return;
    if (!field(line, c->at, text, sizeof text)) return;
    char *end;
    double v = strtod(text, &end);
    if (end == text) return;
    c->found = true;
    c->sum += v;
    c->rows++;
    if (c->rows == 1 || c->what == LAST || (c->what == MIN && v < c->value) || (c->what == MAX && v > c->value))
        c->value = v;
}

/* Every column that is in this file. A line that is not whole is not there. */
static void read_table(const char *folder, const char *file, column *list, int n, bool bodies)
{
    char path[2200], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "r");
    bool first = true;
    for (ssize_t got; f && (got = getline(&line, &room, f)) > 0 && line[got - 1] == '\n'; first = false)
        for (int i = 0; i < n; i++) {
            column *c = &list[i];
            if ((*c->body != '\0') != bodies) continue;
            if (first)
                c->at = find_field(line, c->name), c->name_at = find_field(line, "name");
            else
                take(c, line);
        }
    free(line);
    if (f) fclose(f);
}

static void put_text(FILE *f, const char *text)
{
    if (!text[strcspn(text, ",\"\n\r")]) {
        fputs(text, f);
        return;
    }
    fputc('"', f);
    for (; *text; text++) fputs(*text == '"' ? "\"\"" : (char[]){*text, 0}, f);
    fputc('"', f);
}

static const char *outcome(int code)
{
    return code == 0     ? "finished"
           : code == 130 ? "interrupted"
           : code == 2   ? "refused"
           : code < 0    ? "not run"
                         : "failed";
}

static void put_row(FILE *f, const cli_sweep *s, const char *parent, int variant, const cli_ending *e, column *list,
                    int n)
{
    char text[CLI_SETTING_ROOM], folder[2000];
    int at = snprintf(folder, sizeof folder, "%s/", parent);
    cli_plan_name(s->plan, variant, folder + at, sizeof folder - (size_t)at);
    fprintf(f, "%d,", variant + 1);
    put_text(f, folder + at);
    fprintf(f, ",%s", outcome(e->code));
    for (int i = 0; i < s->plan->axes; i++) {
        cli_plan_value(s->plan, variant, i, text, sizeof text);
        fputc(',', f);
        put_text(f, text);
    }
    for (int i = 0; i < n; i++) list[i].rows = 0, list[i].sum = 0, list[i].value = NAN, list[i].at = -1;
    read_table(folder, "steps.csv", list, n, false);
    read_table(folder, "bodies.csv", list, n, true);
    for (int i = 0; i < n; i++)
        fprintf(f, ",%.17g", list[i].what == MEAN && list[i].rows ? list[i].sum / (double)list[i].rows : list[i].value);
    fputc('\n', f);
}

static void put_head(FILE *f, const cli_sweep *s, const column *list, int n)
{
    fputs("variant,folder,outcome", f);
    for (int i = 0; i < s->plan->axes; i++) fputc(',', f), put_text(f, s->plan->axis[i].key);
    for (int i = 0; i < n; i++) fputc(',', f), put_text(f, list[i].text);
    fputc('\n', f);
}

static void tell_missing(const column *list, int n, const cli_ending *ending, int variants)
{
    bool any = false;
    for (int i = 0; i < variants; i++) any |= ending[i].code == 0;
    for (int i = 0; i < n && any; i++)
        if (!list[i].found)
            fprintf(stderr, "talus run: warning: no run has a column '%s'; see steps.csv and bodies.csv\n",
                    cli_plain(list[i].text));
}

bool cli_check_columns(const char *text)
{
    column *list = calloc(COLUMNS_MAX, sizeof *list);
    bool good = list && read_columns(list, text) > 0;
    if (!good)
        fprintf(stderr, "talus run: --columns must be NAME,max:NAME,BODY.NAME,..., at most %d, got '%s'\n", COLUMNS_MAX,
                cli_plain(text));
    free(list);
    return good;
}

bool cli_write_table(const cli_sweep *s, const char *parent, const cli_ending *ending)
{
    char path[600], part[620];
    column *list = calloc(COLUMNS_MAX, sizeof *list);
    int n = list ? read_columns(list, s->columns ? s->columns : DEFAULT_COLUMNS) : -1;
    snprintf(path, sizeof path, "%s/sweep.csv", parent);
    snprintf(part, sizeof part, "%s.part", path);
    mkdir(parent, 0777); /* when no run came so far */
    FILE *f = n >= 0 ? fopen(part, "w") : NULL;
    if (f) {
        put_head(f, s, list, n);
        for (int i = 0; i < s->plan->variants; i++) put_row(f, s, parent, i, &ending[i], list, n);
        tell_missing(list, n, ending, s->plan->variants);
    }
    bool good = f && !ferror(f);
    if (f && fclose(f) != 0) good = false;
    good = good && rename(part, path) == 0;
    if (!good) fprintf(stderr, "talus run: cannot write %s\n", cli_plain(path));
    free(list);
    return good;
}
