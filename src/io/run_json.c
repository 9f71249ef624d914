#include "io/run_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/replace.h"
#include "base/text.h"
#include "math/blas.h"
#include "scene/schema.h"
#include "talus_version.h"

#define FILE_MAX ((size_t)64 << 20) /* bytes of a run.json that are read: a scene's text has at most 1 MiB */

/* ---- writing ---- */

typedef struct writer {
    FILE *f;
    int depth;
    bool fresh; /* nothing yet in this object or list */
} writer;

/* Quoted; bytes that are no UTF-8 become the replacement character. */
static void put_quoted(FILE *f, const char *text)
{
    fputc('"', f);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int length = tl_text_character((const char *)s);
        if (length == 0) {
            fputs("\\ufffd", f);
            s++;
        } else if (length > 1) {
            fwrite(s, 1, (size_t)length, f);
            s += length;
        } else {
            if (*s == '"' || *s == '\\')
                fprintf(f, "\\%c", *s);
            else if (*s == '\n')
                fputs("\\n", f);
            else if (*s < 0x20 || *s == 0x7f)
                fprintf(f, "\\u%04x", *s);
            else
                fputc(*s, f);
            s++;
        }
    }
    fputc('"', f);
}

static void put_key(writer *w, const char *key)
{
    fprintf(w->f, "%s\n%*s", w->fresh ? "" : ",", 2 * w->depth, "");
    w->fresh = false;
    if (!key) return;
    put_quoted(w->f, key);
    fputs(": ", w->f);
}
static void put_text(writer *w, const char *key, const char *value)
{
    put_key(w, key);
    put_quoted(w->f, value ? value : "");
}
static void put_int(writer *w, const char *key, int64_t value)
{
    put_key(w, key);
    fprintf(w->f, "%" PRId64, value);
}
static void put_number(writer *w, const char *key, double value)
{
    put_key(w, key);
    if (isfinite(value))
        fprintf(w->f, "%.17g", value);
    else
        fputs("null", w->f);
}
static void put_bool(writer *w, const char *key, bool value)
{
    put_key(w, key);
    fputs(value ? "true" : "false", w->f);
}
static void put_vector(writer *w, const char *key, tl_vec3 v)
{
    put_key(w, key);
    fprintf(w->f, "[%.17g, %.17g, %.17g]", v.x, v.y, v.z);
}
static void put_open(writer *w, const char *key, char bracket)
{
    put_key(w, key);
    fputc(bracket, w->f);
    w->depth++;
    w->fresh = true;
}
static void put_close(writer *w, char bracket)
{
    w->depth--;
    if (!w->fresh) fprintf(w->f, "\n%*s", 2 * w->depth, "");
    fputc(bracket, w->f);
    w->fresh = false;
}

static void put_method(writer *w, const char *key, const tl_method_spec *m)
{
    put_open(w, key, '{');
    put_text(w, "method", m->method);
    put_text(w, "precond", m->precond);
    put_number(w, "tolerance", m->tolerance);
    put_int(w, "iterations", m->iterations);
    put_close(w, '}');
}

/* A word of the solver's table, as in scenes. */
static void put_word(writer *w, const char *key, int number)
{
    char word[64] = "";
    tl_schema_word_at(tl_schema_key(tl_schema_find("solver"), key)->words, number, word, sizeof word);
    put_text(w, key, word);
}

static void put_solver(writer *w, const tl_solver_spec *s)
{
    put_open(w, "solver", '{');
    put_text(w, "scheme", s->scheme);
    put_word(w, "stress", (int)s->stress);
    put_word(w, "cone", (int)s->cone);
    put_number(w, "tolerance", s->tolerance);
    put_int(w, "sweeps", s->sweeps);
    put_word(w, "on_unconverged", (int)s->on_unconverged);
    put_bool(w, "guard", s->guard);
    put_method(w, "pressure", &s->pressure);
    put_method(w, "friction", &s->friction);
    put_method(w, "elastic", &s->elastic);
    put_open(w, "contact", '{');
    put_text(w, "method", s->contact.method);
    put_number(w, "tolerance_m_s", s->contact.tolerance);
    put_int(w, "iterations", s->contact.iterations);
    put_number(w, "slop_m", s->contact.slop);
    put_number(w, "touch", s->contact.touch);
    put_number(w, "keep", s->contact.keep);
    put_close(w, '}');
    put_close(w, '}');
}

/* After defaults and --set; 0 and "" leave a choice to the engine. */
static void put_in_force(writer *w, const tl_scene *s)
{
    put_open(w, "in_force", '{');
    put_text(w, "engine", tl_engine_name(s->engine));
    put_number(w, "duration_s", s->duration);
    put_number(w, "fps", s->fps);
    put_number(w, "dt_max_s", s->dt_max);
    put_number(w, "dt_min_s", s->dt_min);
    put_vector(w, "gravity_m_s2", s->gravity);
    put_int(w, "seed", s->seed);
    put_int(w, "bodies", s->body_count);
    put_int(w, "materials", s->material_count);
    put_int(w, "fills", s->fill_count);
    put_int(w, "emitters", s->emitter_count);
    put_solver(w, &s->solver);
    put_open(w, "output", '{');
    put_bool(w, "frames", s->output.frames);
    put_bool(w, "bodies", s->output.bodies);
    put_bool(w, "history", s->output.history);
    put_int(w, "checkpoint_every", s->output.checkpoint_every);
    put_int(w, "images_every", s->output.images_every);
    put_close(w, '}');
    put_close(w, '}');
}

/* "Intel(R) Xeon(R) ..." */
static void cpu_name(char *out, size_t room)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    snprintf(out, room, "unknown");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon || !colon[1]) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, room, "%s", colon + 2);
        break;
    }
    if (f) fclose(f);
}

static talus_status read_text(const char *path, size_t max, char **out, talus_error *err)
{
    *out = NULL;
    FILE *f = tl_file_reader(path);
    if (!f) return TL_FAIL(err, TALUS_IO, "%s: %s", path, tl_file_reason());
    long size = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    talus_status status = TALUS_OK;
    if (size < 0 || (size_t)size > max)
        status = TL_FAIL(err, TALUS_IO, "%s: cannot be read, or more than %zu bytes", path, max);
    else if (!(*out = TL_NEW_ZERO(char, (size_t)size + 1)))
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory to read %s", path);
    else {
        rewind(f);
        if (fread(*out, 1, (size_t)size, f) != (size_t)size)
            status = TL_FAIL(err, TALUS_IO, "%s: cannot read it", path);
    }
    fclose(f);
    if (status != TALUS_OK) {
        tl_free(*out);
        *out = NULL;
    }
    return status;
}

static const struct {
    const char *name;
    size_t at;
} limits[] = {{"missed", offsetof(tl_accept_spec, missed)},           {"momentum", offsetof(tl_accept_spec, momentum)},
              {"energy", offsetof(tl_accept_spec, energy)},           {"volume", offsetof(tl_accept_spec, volume)},
              {"penetration", offsetof(tl_accept_spec, penetration)}, {"escaped", offsetof(tl_accept_spec, escaped)}};
#define LIMITS (sizeof limits / sizeof limits[0])

static void put_accept(writer *w, const tl_accept_spec *a)
{
    put_open(w, "accept", '{');
    for (size_t k = 0; k < LIMITS; k++) {
        double x = *(const double *)((const char *)a + limits[k].at);
        if (x > 0) put_number(w, limits[k].name, x);
    }
    put_close(w, '}');
}

static void put_verdict(writer *w, const talus_verdict *v)
{
    if (!v || !v->lines) return;
    put_open(w, "verdict", '{');
    put_int(w, "steps", v->steps);
    put_bool(w, "good", v->bad == 0);
    put_bool(w, "refused", v->refused > 0);
    for (int k = 0; k < v->lines; k++) {
        const talus_verdict_line *l = &v->line[k];
        put_open(w, l->name, '{');
        put_number(w, "value", l->value);
        put_number(w, "limit", l->limit);
        put_bool(w, "good", !l->bad && !l->refused);
        put_text(w, "text", l->text);
        if (*l->remedy) put_text(w, "remedy", l->remedy);
        put_close(w, '}');
    }
    put_close(w, '}');
}

static void put_all(FILE *f, const tl_run_record *r, const tl_scene *scene)
{
    char cpu[128];
    writer w = {f, 1, true};
    cpu_name(cpu, sizeof cpu);
    fputc('{', f);
    put_text(&w, "talus", TALUS_VERSION_STRING);
    put_text(&w, "compiler", TALUS_COMPILER_STRING);
    put_text(&w, "cpu", cpu);
    put_text(&w, "blas_core", tl_blas_core());
    put_int(&w, "threads", r->threads);
    if (r->processes > 1) put_int(&w, "processes", r->processes);
    put_text(&w, "started", r->started);
    put_text(&w, "ended", r->ended);
    put_int(&w, "resumed", r->resumed);
    put_text(&w, "outcome", r->outcome);
    put_text(&w, "message", r->message);
    put_int(&w, "frames", r->frames);
    put_int(&w, "frames_wanted", r->frames_wanted);
    put_int(&w, "steps", r->steps);
    put_number(&w, "t", r->t);
    put_number(&w, "seconds", r->seconds);
    put_text(&w, "state_hash", r->state_hash);
    put_text(&w, "title", scene->title);
    put_text(&w, "scene_file", r->scene_file);
    put_text(&w, "scene_folder", r->scene_folder);
    put_text(&w, "scene_hash", r->scene_hash);
    put_text(&w, "size", r->size);
    put_open(&w, "settings", '[');
    for (int i = 0; i < r->settings; i++) put_text(&w, NULL, r->setting[i]);
    put_close(&w, ']');
    put_int(&w, "open_walls", r->open_walls);
    put_accept(&w, &scene->accept);
    put_verdict(&w, r->verdict);
    put_in_force(&w, scene);
    put_text(&w, "scene_text", scene->text);
    fputs("\n}\n", f);
}

talus_status tl_run_json_write(const char *path, const tl_run_record *r, const tl_scene *scene, talus_error *err)
{
    tl_replace target = {0};
    talus_status status = tl_replace_begin(&target, path, err);
    FILE *f = status == TALUS_OK ? fopen(target.temp, "wb") : NULL;
    if (f) {
        tl_c_numbers point = tl_c_numbers_begin();
        put_all(f, r, scene);
        tl_c_numbers_end(point);
        bool good = fflush(f) == 0 && !ferror(f);
        int reason = errno;
        if (fclose(f) != 0 && good) good = false, reason = errno;
        if (!good) status = TL_FAIL(err, TALUS_IO, "%s: cannot write it: %s", path, strerror(reason));
    } else if (status == TALUS_OK) {
        status = TL_FAIL(err, TALUS_IO, "%s: cannot write it: %s", path, strerror(errno));
    }
    if (status == TALUS_OK) return tl_replace_commit(&target, err);
    tl_replace_discard(&target);
    return status;
}

/* ---- reading: strings are unescaped where they lie ---- */

typedef struct reader {
    char *at;
    int depth;
} reader;

static void skip_space(reader *r) { r->at += strspn(r->at, " \t\r\n"); }

static bool take(reader *r, char c)
{
    skip_space(r);
    if (*r->at != c) return false;
    r->at++;
    return true;
}

static char *put_utf8(char *to, unsigned long c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

static bool take_hex4(reader *r, unsigned long *out)
{
    char digits[5] = {0};
    for (int k = 0; k < 4; k++)
        if (!strchr("0123456789abcdefABCDEF", r->at[k]) || !(digits[k] = r->at[k])) return false;
    *out = strtoul(digits, NULL, 16);
    r->at += 4;
    return true;
}

static bool take_escape(reader *r, char **to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    char c = *r->at++;
    const char *known = c ? strchr(from, c) : NULL;
    if (known) {
        *(*to)++ = into[known - from];
        return true;
    }
    unsigned long code, low;
    if (c != 'u' || !take_hex4(r, &code)) return false;
    if (code >= 0xd800 && code < 0xdc00 && r->at[0] == '\\' && r->at[1] == 'u') {
        r->at += 2;
        if (!take_hex4(r, &low)) return false;
        code = 0x10000 + ((code - 0xd800) << 10) + (low & 0x3ff);
    }
    if (code == 0) code = 0xfffd; /* texts end at a 0 here */
    *to = put_utf8(*to, code);
    return true;
}

/* NULL: not a string. What it becomes is never longer than what it was. */
static char *take_string(reader *r)
{
    if (!take(r, '"')) return NULL;
    char *begin = r->at, *to = begin;
    while (*r->at != '"') {
        if (!*r->at) return NULL;
        if (*r->at == '\\') {
            r->at++;
            if (!take_escape(r, &to)) return NULL;
        } else {
            *to++ = *r->at++;
        }
    }
    r->at++;
    *to = '\0';
    return begin;
}

static bool skip_value(reader *r);

static bool skip_members(reader *r, char end)
{
    if (++r->depth > 32) return false;
    if (!take(r, end)) {
        do {
            if (end == '}' && (!take_string(r) || !take(r, ':'))) return false;
            if (!skip_value(r)) return false;
        } while (take(r, ','));
        if (!take(r, end)) return false;
    }
    r->depth--;
    return true;
}

static bool skip_value(reader *r)
{
    skip_space(r);
    if (*r->at == '"') return take_string(r) != NULL;
    if (take(r, '{')) return skip_members(r, '}');
    if (take(r, '[')) return skip_members(r, ']');
    size_t length = strspn(r->at, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");
    r->at += length;
    return length > 0;
}

static bool take_settings(reader *r, tl_run_record *out)
{
    if (!take(r, '[')) return false;
    if (take(r, ']')) return true;
    do {
        const char *text = take_string(r);
        if (!text || out->settings == TL_RUN_SETTINGS_MAX) return false;
        out->setting[out->settings++] = text;
    } while (take(r, ','));
    return take(r, ']');
}

static bool take_number(reader *r, double *out)
{
    char *end;
    skip_space(r);
    *out = strtod(r->at, &end);
    bool good = end > r->at && fabs(*out) < 1e15; /* below, every whole number is one */
    r->at = end;
    return good;
}

static bool take_accept(reader *r, tl_accept_spec *out)
{
    if (!take(r, '{')) return false;
    if (take(r, '}')) return true;
    do {
        double x;
        const char *key = take_string(r);
        if (!key || !take(r, ':') || !take_number(r, &x)) return false;
        for (size_t k = 0; k < LIMITS; k++)
            if (!strcmp(key, limits[k].name)) *(double *)((char *)out + limits[k].at) = x;
    } while (take(r, ','));
    return take(r, '}');
}

static bool take_member(reader *r, tl_run_record *out)
{
    const struct {
        const char *key, **text;
    } texts[] = {
        {"scene_file", &out->scene_file}, {"scene_hash", &out->scene_hash}, {"size", &out->size},
        {"started", &out->started},       {"ended", &out->ended},           {"outcome", &out->outcome},
        {"message", &out->message},       {"state_hash", &out->state_hash}, {"scene_folder", &out->scene_folder},
        {"scene_text", &out->scene_text}};
    const char *key = take_string(r);
    double x;
    if (!key || !take(r, ':')) return false;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!strcmp(key, texts[i].key)) return (*texts[i].text = take_string(r)) != NULL;
    if (!strcmp(key, "settings")) return take_settings(r, out);
    if (!strcmp(key, "accept")) return take_accept(r, &out->accept);
    skip_space(r);
    if (!strchr("-0123456789", *r->at)) return skip_value(r);
    if (!take_number(r, &x)) return false;
    if (!strcmp(key, "frames")) out->frames = (int64_t)x;
    if (!strcmp(key, "frames_wanted")) out->frames_wanted = (int64_t)x;
    if (!strcmp(key, "steps")) out->steps = (int64_t)x;
    if (!strcmp(key, "resumed")) out->resumed = (int)fmin(fmax(x, 0), 1e9);
    if (!strcmp(key, "threads")) out->threads = (int)fmin(fmax(x, 0), 1e9);
    if (!strcmp(key, "open_walls")) out->open_walls = x != 0;
    if (!strcmp(key, "t")) out->t = x;
    if (!strcmp(key, "seconds")) out->seconds = x;
    return true;
}

static bool take_record(reader *r, tl_run_record *out)
{
    if (!take(r, '{')) return false;
    do {
        if (!take_member(r, out)) return false;
    } while (take(r, ','));
    return take(r, '}');
}

talus_status tl_run_json_read(tl_run_record *out, const char *path, talus_error *err)
{
    *out = (tl_run_record){.scene_file = "",
                           .scene_hash = "",
                           .scene_folder = "",
                           .scene_text = "",
                           .size = "",
                           .started = "",
                           .ended = "",
                           .outcome = "",
                           .message = "",
                           .state_hash = ""};
    TL_TRY(read_text(path, FILE_MAX, &out->memory, err));
    reader r = {out->memory, 0};
    tl_c_numbers point = tl_c_numbers_begin();
    bool good = take_record(&r, out);
    tl_c_numbers_end(point);
    if (good) return TALUS_OK;
    long at = (long)(r.at - out->memory);
    tl_run_record_free(out);
    return TL_FAIL(err, TALUS_BAD_INPUT, "%s: not the record of a run (byte %ld)", path, at);
}

void tl_run_record_free(tl_run_record *r)
{
    tl_free(r->memory);
    *r = (tl_run_record){0};
}
