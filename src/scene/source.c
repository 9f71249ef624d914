#include "scene/source.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* ---- words ---- */

typedef enum word_kind { END, NAME, KEYWORD, NUMBER, TEXT, SIGN } word_kind;

typedef struct word {
    word_kind kind;
    size_t at, length;
    int line; /* where it begins */
} word;

typedef struct scanner {
    const char *text;
    size_t bytes, at;
    int line;
} scanner;

static bool is_keyword(const char *text, size_t n)
{
    static const char *const words[] = {"and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
                                        "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
                                        "repeat",   "return", "then", "true", "until",  "while"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && !memcmp(words[i], text, n)) return true;
    return false;
}

static char peek(const scanner *s, size_t ahead) { return s->at + ahead < s->bytes ? s->text[s->at + ahead] : 0; }

static void step(scanner *s)
{
    if (s->text[s->at] == '\n') s->line++;
    s->at++;
}

/* Level of a long bracket [==[ at the current place, -1 when there is none. */
static int long_bracket(const scanner *s)
{
    if (peek(s, 0) != '[') return -1;
    size_t n = 1;
    while (peek(s, n) == '=') n++;
    return peek(s, n) == '[' ? (int)n - 1 : -1;
}

static void skip_long(scanner *s, int level)
{
    for (s->at += (size_t)level + 2; s->at < s->bytes; step(s)) {
        if (peek(s, 0) != ']') continue;
        size_t n = 1;
        while (peek(s, n) == '=') n++;
        if (n == (size_t)level + 1 && peek(s, n) == ']') {
            s->at += n + 1;
            return;
        }
    }
}

static void skip_quoted(scanner *s)
{
    char quote = s->text[s->at++];
    while (s->at < s->bytes && s->text[s->at] != quote) {
        if (s->text[s->at] == '\\' && s->at + 1 < s->bytes) {
            s->at++;
            if (s->text[s->at] == 'z') { /* \z skips white space, new lines included */
                s->at++;
                while (isspace((unsigned char)peek(s, 0))) step(s);
                continue;
            }
        }
        step(s);
    }
    if (s->at < s->bytes) s->at++;
}

static void skip_space(scanner *s)
{
    while (s->at < s->bytes) {
        if (isspace((unsigned char)s->text[s->at])) {
            step(s);
        } else if (peek(s, 0) == '-' && peek(s, 1) == '-') {
            s->at += 2;
            int level = long_bracket(s);
            if (level >= 0)
                skip_long(s, level);
            else
                while (s->at < s->bytes && s->text[s->at] != '\n') s->at++;
        } else {
            return;
        }
    }
}

static word next_word(scanner *s)
{
    skip_space(s);
    word w = {END, s->at, 0, s->line};
    if (s->at >= s->bytes) return w;
    char c = peek(s, 0);
    if (isalpha((unsigned char)c) || c == '_') {
        while (isalnum((unsigned char)peek(s, 0)) || peek(s, 0) == '_') s->at++;
        w.kind = is_keyword(s->text + w.at, s->at - w.at) ? KEYWORD : NAME;
    } else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)peek(s, 1)))) {
        while (isalnum((unsigned char)peek(s, 0)) || peek(s, 0) == '.' ||
               (strchr("+-", peek(s, 0)) && peek(s, 0) && strchr("eEpP", s->text[s->at - 1])))
            s->at++;
        w.kind = NUMBER;
    } else if (c == '"' || c == '\'') {
        skip_quoted(s);
        w.kind = TEXT;
    } else if (long_bracket(s) >= 0) {
        skip_long(s, long_bracket(s));
        w.kind = TEXT;
    } else {
        static const char *const pairs[] = {"...", "..", "==", "~=", "<=", ">=", "//", "::", "<<", ">>"};
        size_t n = 1;
        for (int i = 0; i < 10 && n == 1; i++)
            if (s->bytes - s->at >= strlen(pairs[i]) && !memcmp(s->text + s->at, pairs[i], strlen(pairs[i])))
                n = strlen(pairs[i]);
        s->at += n;
        w.kind = SIGN;
    }
    w.length = s->at - w.at;
    return w;
}

static bool is(const scanner *s, word w, const char *text)
{
    return w.length == strlen(text) && !memcmp(s->text + w.at, text, w.length);
}

/* ---- tables ---- */

/* What is open at a place: a table { with its number, or anything else that hides commas: ( [ and blocks. */
typedef struct frame {
    int table;   /* -1: not a table */
    int entries; /* positional ones so far */
    bool call;   /* f { ... }: the call brackets are ours as well */
} frame;

typedef struct marker {
    tl_source *source;
    scanner scan;
    frame *open;
    int depth, room;
    int table_room, entry_room, field_room;
    size_t copied, marked_room;
    bool starved;
} marker;

static void *grow(marker *m, void *block, int count, int *room, size_t size)
{
    if (count < *room) return block;
    int more = *room ? 2 * *room : 64;
    void *fresh = tl_realloc(block, (size_t)more * size);
    if (!fresh) {
        m->starved = true;
        return block;
    }
    *room = more;
    return fresh;
}

static void write_text(marker *m, const char *text, size_t n)
{
    tl_source *s = m->source;
    if (!n) return;
    if (s->marked_bytes + n > m->marked_room) {
        size_t more = 2 * (s->marked_bytes + n);
        char *fresh = tl_realloc(s->marked, more);
        if (!fresh) {
            m->starved = true;
            return;
        }
        s->marked = fresh;
        m->marked_room = more;
    }
    memcpy(s->marked + s->marked_bytes, text, n);
    s->marked_bytes += n;
}

static void copy_to(marker *m, size_t at)
{
    write_text(m, m->source->text + m->copied, at - m->copied);
    m->copied = at;
}

static void push(marker *m, int table, bool call)
{
    m->open = grow(m, m->open, m->depth, &m->room, sizeof *m->open);
    if (m->starved) return;
    m->open[m->depth++] = (frame){table, 0, call};
}

static void open_table(marker *m, word w, bool call)
{
    tl_source *s = m->source;
    s->tables = grow(m, s->tables, s->table_count, &m->table_room, sizeof *s->tables);
    if (m->starved) return;
    char before[48];
    int n = snprintf(before, sizeof before, "%s%s(%d,{", call ? "(" : "", s->mark, s->table_count);
    copy_to(m, w.at);
    write_text(m, before, (size_t)n);
    m->copied = w.at + 1;
    push(m, s->table_count, call);
    s->tables[s->table_count++] = (tl_source_table){w.line, -1, -1};
}

static void close_table(marker *m, word w)
{
    copy_to(m, w.at + 1);
    write_text(m, "))", m->open[m->depth - 1].call ? 2 : 1);
    m->depth--;
}

/* An entry of the innermost table begins with w; `after` follows it. */
static void add_entry(marker *m, word w, word after, word third, word fourth)
{
    tl_source *s = m->source;
    frame *f = &m->open[m->depth - 1];
    tl_source_table *t = &s->tables[f->table];
    tl_source_entry e = {0, 0, 0, w.line, -1};
    if (w.kind == NAME && is(&m->scan, after, "=")) {
        e.key = (int)w.at;
        e.key_length = (int)w.length;
    } else if (is(&m->scan, w, "[")) { /* ["key"] = value; other keys are not known before the script runs */
        if (after.kind != TEXT || !is(&m->scan, third, "]") || !is(&m->scan, fourth, "=") || after.length < 3) return;
        e.key = (int)after.at + 1;
        e.key_length = (int)after.length - 2;
    } else {
        e.index = ++f->entries;
    }
    s->entries = grow(m, s->entries, s->entry_count, &m->entry_room, sizeof *s->entries);
    if (m->starved) return;
    if (t->last >= 0)
        s->entries[t->last].next = s->entry_count;
    else
        t->first = s->entry_count;
    t->last = s->entry_count;
    s->entries[s->entry_count++] = e;
}

static void add_field(marker *m, word w)
{
    tl_source *s = m->source;
    s->fields = grow(m, s->fields, s->field_count, &m->field_room, sizeof *s->fields);
    if (!m->starved) s->fields[s->field_count++] = (tl_source_entry){(int)w.at, (int)w.length, 0, w.line, -1};
}

/* A call f { ... }: the brace follows something that can be called. */
static bool can_be_called(const scanner *s, word w)
{
    return w.kind == NAME || w.kind == TEXT || is(s, w, ")") || is(s, w, "]") || is(s, w, "}");
}

static talus_status refuse(const scanner *s, word w, int *bad_line, talus_error *err)
{
    *bad_line = w.line;
    if (is(s, w, "...")) return TL_FAIL(err, TALUS_BAD_INPUT, "'...' is not available in scenes; name the arguments");
    if (w.kind == NAME && is(s, w, "_ENV")) return TL_FAIL(err, TALUS_BAD_INPUT, "'_ENV' is not available in scenes");
    return TALUS_OK;
}

static talus_status walk(marker *m, int *bad_line, talus_error *err)
{
    scanner *s = &m->scan;
    word before = {0}, w = next_word(s), after = next_word(s), third = next_word(s), fourth = next_word(s);
    bool entry = false; /* w begins an entry of the innermost table */
    while (w.kind != END && !m->starved) {
        TL_TRY(refuse(s, w, bad_line, err));
        frame *top = m->depth ? &m->open[m->depth - 1] : NULL;
        if (entry && !is(s, w, "}")) add_entry(m, w, after, third, fourth);
        entry = false;

        if (is(s, w, "{")) {
            open_table(m, w, can_be_called(s, before));
            entry = true;
        } else if (is(s, w, "}") && top && top->table >= 0) {
            close_table(m, w);
        } else if ((is(s, w, ",") || is(s, w, ";")) && top && top->table >= 0) {
            entry = true;
        } else if (is(s, w, "(") || is(s, w, "[") ||
                   (w.kind == KEYWORD &&
                    (is(s, w, "function") || is(s, w, "do") || is(s, w, "if") || is(s, w, "repeat")))) {
            push(m, -1, false);
        } else if ((is(s, w, ")") || is(s, w, "]") || (w.kind == KEYWORD && (is(s, w, "end") || is(s, w, "until")))) &&
                   top && top->table < 0) {
            m->depth--;
        } else if (w.kind == NAME && is(s, before, ".") && is(s, after, "=")) {
            add_field(m, w);
        }
        before = w;
        w = after;
        after = third;
        third = fourth;
        fourth = next_word(s);
    }
    copy_to(m, m->source->bytes);
    return m->starved ? TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the text of %s", m->source->file) : TALUS_OK;
}

/* ---- in and out ---- */

static char *copy(const char *text, size_t n)
{
    char *out = tl_alloc(n + 1);
    if (!out) return NULL;
    memcpy(out, text, n);
    out[n] = 0;
    return out;
}

talus_status tl_source_create(tl_source *s, const char *file, const char *text, size_t bytes, talus_error *err)
{
    *s = (tl_source){0};
    if (bytes > TL_SOURCE_BYTES)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the file has %zu bytes, at most %zu are read", bytes, TL_SOURCE_BYTES);
    s->file = file;
    s->text = copy(text, bytes);
    s->bytes = bytes;
    if (s->text) return TALUS_OK;
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the text of %s", file);
}

void tl_source_free(tl_source *s)
{
    tl_free(s->text);
    tl_free(s->marked);
    tl_free(s->tables);
    tl_free(s->entries);
    tl_free(s->fields);
    *s = (tl_source){0};
}

talus_status tl_source_mark(tl_source *s, int file, int *bad_line, talus_error *err)
{
    *bad_line = 1;
    long number = file; /* each file has a name of its own: the scene goes on after a shape_file in it has been read */
    for (;; number += 65536) {
        snprintf(s->mark, sizeof s->mark, "_t%ld", number);
        if (!strstr(s->text, s->mark)) break;
    }
    marker m = {.source = s, .scan = {s->text, s->bytes, 0, 1}};
    talus_status status = walk(&m, bad_line, err);
    tl_free(m.open);
    return status;
}

static bool same(const tl_source *s, const tl_source_entry *e, const char *key, int index)
{
    if (!key) return e->key_length == 0 && e->index == index;
    return (size_t)e->key_length == strlen(key) && !memcmp(s->text + e->key, key, (size_t)e->key_length);
}

int tl_source_line(const tl_source *s, int table, const char *key, int index, int *looked)
{
    *looked = 0;
    if (table < 0 || table >= s->table_count) return 1;
    const tl_source_table *t = &s->tables[table];
    for (int i = t->first; i >= 0 && (key || index); i = s->entries[i].next) {
        ++*looked;
        if (same(s, &s->entries[i], key, index)) return s->entries[i].line;
    }
    int found = 0, line = t->line;
    for (int i = 0; key && i < s->field_count; i++)
        if (same(s, &s->fields[i], key, 0)) {
            found++;
            line = s->fields[i].line;
        }
    if (key) *looked += s->field_count;
    return found == 1 ? line : t->line;
}
