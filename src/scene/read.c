#include "scene/read.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

static const char where_key[] = "talus.where"; /* registry: table -> file and number of its constructor, weak keys */

void tl_reader_starved(tl_reader *r)
{
    r->status = TL_FAIL(r->err, TALUS_NO_MEMORY, "no memory for the scene");
    lua_pushnil(r->L);
    lua_error(r->L);
    abort(); /* lua_error does not return */
}

void *tl_reader_take(tl_reader *r, size_t bytes)
{
    tl_sandbox_charge(r->L, (int64_t)(bytes / 8));
    void *block = tl_arena_take_zero(&r->scene->arena, bytes);
    if (!block) tl_reader_starved(r);
    return block;
}

const char *tl_reader_text(tl_reader *r, const char *text)
{
    size_t n = strlen(text) + 1;
    return memcpy(tl_reader_take(r, n), text, n);
}

/* ---- problems ---- */

/* Same text but for digits: bodies[7].density and bodies[8].density. */
static bool alike(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a >= '0' && *a <= '9') a++;
        while (*b >= '0' && *b <= '9') b++;
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

#define PROBLEM_UNITS 1000 /* telling one costs about 10 us: the nearest name, its place, a look for others alike */

static void add_problem(tl_reader *r, tl_where where, bool note, const char *format, va_list args)
{
    tl_problem p = {.where = where, .note = note, .order = r->problem_count};
    char text[sizeof p.text];
    vsnprintf(text, sizeof text, format, args);
    tl_text_quote(p.text, sizeof p.text, text);
    if (!note) r->error_count++;
    for (int i = 0; i < r->problem_count; i++) {
        tl_problem *q = &r->problems[i];
        if (q->where.line != where.line || strcmp(q->where.file, where.file) || !alike(q->text, p.text)) continue;
        q->alike++;
        return;
    }
    if (r->problem_count < r->problem_room)
        r->problems[r->problem_count++] = p;
    else
        r->problem_dropped++;
}

void tl_read_problem(tl_reader *r, tl_where where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_problem(r, where, false, format, args);
    va_end(args);
    tl_sandbox_charge(r->L, PROBLEM_UNITS);
}

void tl_read_failure(tl_reader *r, tl_where where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_problem(r, where, false, format, args);
    va_end(args);
}

void tl_read_note(tl_reader *r, tl_where where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_problem(r, where, true, format, args);
    va_end(args);
}

static int by_place(const void *a, const void *b)
{
    const tl_problem *p = a, *q = b;
    int file = strcmp(p->where.file, q->where.file);
    if (file) return file;
    if (p->where.line != q->where.line) return p->where.line < q->where.line ? -1 : 1;
    return p->order - q->order;
}

void tl_read_sort_problems(tl_reader *r)
{
    qsort(r->problems, (size_t)r->problem_count, sizeof *r->problems, by_place);
}

/* ---- places ---- */

static void push_places(lua_State *L)
{
    if (luaL_getsubtable(L, LUA_REGISTRYINDEX, where_key)) return;
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
}

int tl_read_mark(lua_State *L)
{
    tl_sandbox *box = tl_sandbox_of(L);
    if (!box->loading || !lua_istable(L, 2)) {
        lua_settop(L, 2);
        return 1;
    }
    lua_Integer file = lua_tointeger(L, lua_upvalueindex(1));
    push_places(L);
    lua_pushvalue(L, 2);
    lua_pushinteger(L, file << 32 | (lua_tointeger(L, 1) & 0x7fffffff));
    lua_rawset(L, -3);
    lua_settop(L, 2);
    return 1;
}

void tl_read_set_where(lua_State *L, int table, int source, int number)
{
    table = lua_absindex(L, table);
    push_places(L);
    lua_pushvalue(L, table);
    lua_pushinteger(L, (lua_Integer)source << 32 | number);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

void tl_read_keep_where(lua_State *L, int table, int from)
{
    table = lua_absindex(L, table);
    from = lua_absindex(L, from);
    push_places(L);
    lua_pushvalue(L, table);
    lua_pushvalue(L, from);
    lua_rawget(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

tl_where tl_read_where(tl_reader *r, int table, const char *key, int index, tl_where otherwise)
{
    lua_State *L = r->L;
    const void *address = lua_topointer(L, table);
    for (int i = r->setting_count - 1; i >= 0; i--) /* the last one counts */
        if (r->settings[i].table == address &&
            (key ? !strcmp(r->settings[i].key, key) : index && r->settings[i].index == index)) {
            char text[256];
            snprintf(text, sizeof text, "--set %s", r->settings[i].text);
            return (tl_where){tl_reader_text(r, text), 0};
        }
    table = lua_absindex(L, table);
    push_places(L);
    lua_pushvalue(L, table);
    lua_rawget(L, -2);
    tl_where where = otherwise;
    if (lua_isinteger(L, -1)) {
        lua_Integer code = lua_tointeger(L, -1);
        int file = (int)(code >> 32);
        if (file >= 0 && file < r->source_count) {
            int looked;
            where.file = r->sources[file].file;
            where.line = tl_source_line(&r->sources[file], (int)(code & 0x7fffffff), key, index, &looked);
            tl_sandbox_charge(L, looked / 8);
        }
    }
    lua_pop(L, 2);
    return where;
}

/* ---- values in messages ---- */

const char *tl_read_describe(lua_State *L, int index, char *text, size_t room)
{
    switch (lua_type(L, index)) {
    case LUA_TNIL: snprintf(text, room, "nothing"); break;
    case LUA_TBOOLEAN: snprintf(text, room, "%s", lua_toboolean(L, index) ? "true" : "false"); break;
    case LUA_TNUMBER:
        if (lua_isinteger(L, index))
            snprintf(text, room, "%lld", (long long)lua_tointeger(L, index));
        else if (isnan(lua_tonumber(L, index))) /* its sign is chance */
            snprintf(text, room, "nan");
        else
            snprintf(text, room, "%.10g", lua_tonumber(L, index));
        break;
    case LUA_TSTRING: {
        const char *value = lua_tostring(L, index);
        snprintf(text, room, strlen(value) > 60 ? "\"%.60s...\"" : "\"%.60s\"", value);
        break;
    }
    case LUA_TTABLE: {
        index = lua_absindex(L, index);
        size_t n = lua_rawlen(L, index), found = 0;
        for (size_t i = 1; i <= n && i < 100; i++) {
            found += lua_rawgeti(L, index, (lua_Integer)i) != LUA_TNIL;
            lua_pop(L, 1);
        }
        if (found < n && n < 100)
            snprintf(text, room, "a list with holes");
        else if (n)
            snprintf(text, room, "a list of %zu", n);
        else
            snprintf(text, room, "a table");
        break;
    }
    case LUA_TFUNCTION: snprintf(text, room, "a function"); break;
    default:
        snprintf(text, room,
                 tl_build_shape_of(L, index) != -2      ? "a shape"
                 : tl_build_material_of(L, index) != -2 ? "a material"
                                                        : "an object");
    }
    return text;
}

static const char *describe_range(const tl_key *key, char *text, size_t room)
{
    const double far = 1e15;
    const tl_range *a = &key->range;
    const char *space = *key->unit ? " " : "";
    bool low = a->low > -far, high = a->high < far;
    if (low && high && a->low == a->high)
        snprintf(text, room, "%.10g", a->low);
    else if (low && high)
        snprintf(text, room, a->above ? "> %.10g and <= %.10g%s%s" : "from %.10g to %.10g%s%s", a->low, a->high, space,
                 key->unit);
    else if (low)
        snprintf(text, room, "%s %.10g%s%s", a->above ? ">" : ">=", a->low, space, key->unit);
    else
        snprintf(text, room, "between -1e15 and 1e15%s%s", space, key->unit);
    return text;
}

static const char *describe_words(const char *words, char *text, size_t room)
{
    char word[64];
    size_t n = (size_t)snprintf(text, room, "one of");
    for (int i = 0; tl_schema_word_at(words, i, word, sizeof word) && n < room; i++)
        n += (size_t)snprintf(text + n, room - n, "%s \"%s\"", i ? "," : "", word);
    return text;
}

static const char *in_unit(const tl_key *key, const char *what, char *text, size_t room)
{
    snprintf(text, room, "%s%s%s", what, *key->unit ? " in " : "", key->unit);
    return text;
}

/* What a key takes, for "x must be ..., got y". */
static const char *describe_type(const tl_key *key, char *text, size_t room)
{
    char range[80];
    describe_range(key, range, sizeof range);
    switch (key->type) {
    case TL_NUMBER: snprintf(text, room, "a number %s", range); break;
    case TL_INTEGER:
    case TL_SEED: snprintf(text, room, "a whole number %s", range); break;
    case TL_BOOLEAN: snprintf(text, room, "true or false"); break;
    case TL_TEXT: snprintf(text, room, "a text"); break;
    case TL_CHOICE:
    case TL_WORD: describe_words(key->words, text, room); break;
    case TL_VEC3: in_unit(key, "three numbers {x, y, z}", text, room); break;
    case TL_SIZE3: in_unit(key, "a number or three numbers {x, y, z}", text, room); break;
    case TL_INTEGER3: snprintf(text, room, "three whole numbers {x, y, z}"); break;
    case TL_BOOLEAN3: snprintf(text, room, "three of true or false {x, y, z}"); break;
    case TL_RANGE: snprintf(text, room, "two numbers {low, high}"); break;
    case TL_NAMES2: snprintf(text, room, "two names {\"a\", \"b\"}"); break;
    case TL_ROTATION: snprintf(text, room, "a rotation: {w, x, y, z} or { axis = {x, y, z}, angle_deg = a }"); break;
    case TL_ANGLES_DEG: snprintf(text, room, "three angles {x, y, z} in degrees"); break;
    case TL_ANGLES_RAD: snprintf(text, room, "three angles {x, y, z} in rad"); break;
    case TL_COLOUR: snprintf(text, room, "a colour: {r, g, b} from 0 to 1, or \"#rrggbb\""); break;
    case TL_SHAPE: snprintf(text, room, "a shape, such as box { size = {1, 1, 1} }"); break;
    case TL_SHAPES: snprintf(text, room, "a shape"); break;
    case TL_PROFILE: snprintf(text, room, "a list of 3 to %d points {a, b}", TL_PROFILE_POINTS); break;
    case TL_PATH: snprintf(text, room, "a list of 2 to %d points {x, y, z}", TL_PATH_POINTS); break;
    case TL_MATERIAL: snprintf(text, room, "a material, such as preset \"water\""); break;
    case TL_TIMED1: snprintf(text, room, "a number %s, or a function of time", range); break;
    case TL_TIMED3: in_unit(key, "three numbers {x, y, z}, or a function of time,", text, room); break;
    case TL_POSE: snprintf(text, room, "a function of time that returns { at = ..., rotation = ... }"); break;
    case TL_TABLE: snprintf(text, room, "a table { ... }"); break;
    case TL_LIST: snprintf(text, room, "a list { {...}, {...} }"); break;
    }
    return text;
}

static bool wrong(tl_reader *r, const tl_key *key, int index, const char *path, tl_where where)
{
    char want[256], got[96];
    tl_read_problem(r, where, "%s must be %s, got %s", path, describe_type(key, want, sizeof want),
                    tl_read_describe(r->L, index, got, sizeof got));
    return false;
}

static bool read_number(tl_reader *r, const tl_key *key, int index, double *out, const char *path, tl_where where)
{
    lua_State *L = r->L;
    char want[256], got[96];
    if (lua_type(L, index) != LUA_TNUMBER) return wrong(r, key, index, path, where);
    double v = lua_tonumber(L, index);
    const tl_range *a = &key->range;
    if (v >= a->low && v <= a->high && !(a->above && v == a->low)) {
        *out = v;
        return true;
    }
    if (v > a->high && a->high >= 1e15 && a->low > -1e15) /* the limit that no key mentions */
        snprintf(want, sizeof want, "<= %.10g%s%s", a->high, *key->unit ? " " : "", key->unit);
    else
        describe_range(key, want, sizeof want);
    tl_read_problem(r, where, "%s must be %s, got %s", path, want, tl_read_describe(L, index, got, sizeof got));
    return false;
}

static bool read_whole(tl_reader *r, const tl_key *key, int index, int64_t *out, const char *path, tl_where where)
{
    double v;
    if (lua_type(r->L, index) == LUA_TNUMBER && !lua_isinteger(r->L, index)) {
        v = lua_tonumber(r->L, index);
        if (v != floor(v)) return wrong(r, key, index, path, where);
    }
    if (!read_number(r, key, index, &v, path, where)) return false;
    *out = (int64_t)v;
    return true;
}

static bool read_truth(tl_reader *r, const tl_key *key, int index, bool *out, const char *path, tl_where where)
{
    if (lua_type(r->L, index) != LUA_TBOOLEAN) return wrong(r, key, index, path, where);
    *out = lua_toboolean(r->L, index);
    return true;
}

/* ---- vectors ---- */

/* A list of exactly n entries and nothing else. */
static bool is_list_of(lua_State *L, int index, int n)
{
    if (lua_type(L, index) != LUA_TTABLE || lua_rawlen(L, index) != (size_t)n) return false;
    index = lua_absindex(L, index);
    int found = 0;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
        if (++found > n || !lua_isinteger(L, -2)) {
            lua_pop(L, 2);
            return false;
        }
    return found == n;
}

static bool read_numbers(tl_reader *r, const tl_key *key, int index, int n, double *out, const char *path,
                         tl_where where)
{
    lua_State *L = r->L;
    if (!is_list_of(L, index, n)) return wrong(r, key, index, path, where);
    index = lua_absindex(L, index);
    double v[4];
    bool good = true;
    for (int i = 0; i < n; i++) {
        char entry[TL_PATH_MAX];
        snprintf(entry, sizeof entry, "%.140s[%d]", path, i + 1);
        tl_key number = *key;
        number.type = TL_NUMBER;
        lua_rawgeti(L, index, i + 1);
        good &= read_number(r, &number, -1, &v[i], entry, tl_read_where(r, index, NULL, i + 1, where));
        lua_pop(L, 1);
    }
    if (good) memcpy(out, v, (size_t)n * sizeof *v);
    return good;
}

static bool read_vec3(tl_reader *r, const tl_key *key, int index, tl_vec3 *out, const char *path, tl_where where)
{
    double v[3];
    if (key->type == TL_SIZE3 && lua_type(r->L, index) == LUA_TNUMBER) {
        if (!read_number(r, key, index, v, path, where)) return false;
        v[1] = v[2] = v[0];
    } else if (!read_numbers(r, key, index, 3, v, path, where)) {
        return false;
    }
    *out = tl_vec3_load(v);
    return true;
}

static bool read_three(tl_reader *r, const tl_key *key, int index, void *field, const char *path, tl_where where)
{
    lua_State *L = r->L;
    if (!is_list_of(L, index, 3)) return wrong(r, key, index, path, where);
    index = lua_absindex(L, index);
    bool good = true;
    for (int i = 0; i < 3; i++) {
        char entry[TL_PATH_MAX];
        snprintf(entry, sizeof entry, "%.140s[%d]", path, i + 1);
        tl_where place = tl_read_where(r, index, NULL, i + 1, where);
        tl_key single = *key;
        single.type = key->type == TL_INTEGER3 ? TL_INTEGER : TL_BOOLEAN;
        lua_rawgeti(L, index, i + 1);
        int64_t whole = 0;
        if (key->type == TL_INTEGER3) {
            good &= read_whole(r, &single, -1, &whole, entry, place);
            ((int *)field)[i] = (int)whole;
        } else {
            good &= read_truth(r, &single, -1, (bool *)field + i, entry, place);
        }
        lua_pop(L, 1);
    }
    return good;
}

/* ---- rotations, colours ---- */

static tl_quat from_angles(const double rad[3])
{
    tl_quat x = tl_quat_from_axis_angle((tl_vec3){1, 0, 0}, rad[0]),
            y = tl_quat_from_axis_angle((tl_vec3){0, 1, 0}, rad[1]);
    return tl_quat_mul(tl_quat_from_axis_angle((tl_vec3){0, 0, 1}, rad[2]), tl_quat_mul(y, x));
}

typedef struct axis_angle {
    tl_vec3 axis;
    double deg, rad;
} axis_angle;
static const tl_key axis_keys[] = {
    {"axis",
     TL_VEC3,
     offsetof(axis_angle, axis),
     "",
     {-1e15, 1e15, false},
     NULL,
     "any length but zero",
     NULL,
     NULL,
     0,
     0,
     false},
    {"angle_deg",
     TL_NUMBER,
     offsetof(axis_angle, deg),
     "degrees",
     {-1e15, 1e15, false},
     "",
     "turn about the axis",
     NULL,
     NULL,
     0,
     0,
     false},
    {"angle_rad",
     TL_NUMBER,
     offsetof(axis_angle, rad),
     "rad",
     {-1e15, 1e15, false},
     "",
     "turn about the axis",
     NULL,
     NULL,
     0,
     0,
     false},
};
static const tl_context axis_context = {"rotation", "a rotation",       "",   NULL, axis_keys,
                                        3,          sizeof(axis_angle), NULL, false};

static bool read_rotation(tl_reader *r, const tl_key *key, int index, tl_quat *out, const char *path, tl_where where)
{
    lua_State *L = r->L;
    if (lua_type(L, index) != LUA_TTABLE) return wrong(r, key, index, path, where);
    tl_key number = *key;
    if (lua_rawlen(L, index)) {
        double q[4];
        if (!read_numbers(r, &number, index, 4, q, path, where)) return false;
        double size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        if (fabs(size - 1) > 0.01) {
            tl_read_problem(r, where, "%s must be a unit quaternion {w, x, y, z}, got length %.6g", path, sqrt(size));
            return false;
        }
        *out = tl_quat_normalize((tl_quat){q[0], q[1], q[2], q[3]});
        return true;
    }
    axis_angle a;
    if (!tl_read_table(r, &axis_context, index, &a, path, where)) return false;
    double length = tl_vec3_norm(a.axis);
    if (!(length > 1e-12)) {
        tl_read_problem(r, where, "%s.axis must not be zero, got {%.6g, %.6g, %.6g}", path, a.axis.x, a.axis.y,
                        a.axis.z);
        return false;
    }
    *out = tl_quat_from_axis_angle(tl_vec3_scale(1 / length, a.axis), a.rad + a.deg * (3.14159265358979323846 / 180));
    return true;
}

static bool read_angles(tl_reader *r, const tl_key *key, int index, tl_quat *out, const char *path, tl_where where)
{
    double v[3];
    if (!read_numbers(r, key, index, 3, v, path, where)) return false;
    for (int i = 0; i < 3 && key->type == TL_ANGLES_DEG; i++) v[i] *= 3.14159265358979323846 / 180;
    *out = from_angles(v);
    return true;
}

static bool colour_from_text(const char *text, tl_vec3 *out)
{
    unsigned long v;
    char *end;
    if (strlen(text) != 7 || text[0] != '#' || strspn(text + 1, "0123456789abcdefABCDEF") != 6) return false;
    v = strtoul(text + 1, &end, 16);
    *out = (tl_vec3){(double)(v >> 16) / 255, (double)(v >> 8 & 255) / 255, (double)(v & 255) / 255};
    return true;
}

static bool read_colour(tl_reader *r, const tl_key *key, int index, tl_vec3 *out, const char *path, tl_where where)
{
    if (lua_type(r->L, index) == LUA_TSTRING)
        return colour_from_text(lua_tostring(r->L, index), out) || wrong(r, key, index, path, where);
    return read_vec3(r, key, index, out, path, where);
}

/* ---- words and objects ---- */

static bool read_word(tl_reader *r, const tl_key *key, int index, void *field, const char *path, tl_where where)
{
    if (lua_type(r->L, index) != LUA_TSTRING) return wrong(r, key, index, path, where);
    const char *text = lua_tostring(r->L, index);
    int number = tl_schema_word(key->words, text);
    if (number >= 0) {
        if (key->type == TL_CHOICE)
            *(int *)field = number;
        else
            *(const char **)field = tl_reader_text(r, text);
        return true;
    }
    char words[24][64], want[256];
    const char *names[25] = {0};
    for (int i = 0; i < 24 && tl_schema_word_at(key->words, i, words[i], sizeof *words); i++) names[i] = words[i];
    const char *near = tl_text_nearest(text, names);
    tl_read_problem(r, where, "%s must be %s, got \"%.60s\"%s%s%s", path, describe_words(key->words, want, sizeof want),
                    text, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return false;
}

static bool read_text(tl_reader *r, const tl_key *key, int index, const char **out, const char *path, tl_where where)
{
    if (lua_type(r->L, index) != LUA_TSTRING) return wrong(r, key, index, path, where);
    *out = tl_reader_text(r, lua_tostring(r->L, index));
    return true;
}

static bool read_names(tl_reader *r, const tl_key *key, int index, const char **out, const char *path, tl_where where)
{
    lua_State *L = r->L;
    if (!is_list_of(L, index, 2)) return wrong(r, key, index, path, where);
    index = lua_absindex(L, index);
    for (int i = 0; i < 2; i++) {
        bool text = lua_rawgeti(L, index, i + 1) == LUA_TSTRING;
        if (text) out[i] = tl_reader_text(r, lua_tostring(L, -1));
        lua_pop(L, 1);
        if (!text) return wrong(r, key, index, path, where);
    }
    return true;
}

static bool read_object(tl_reader *r, const tl_key *key, int index, int *out, const char *path, tl_where where)
{
    int number = key->type == TL_SHAPE ? tl_build_shape_of(r->L, index) : tl_build_material_of(r->L, index);
    if (number == -2) return wrong(r, key, index, path, where);
    *out = number; /* -1: its own constructor has told what is wrong */
    return number >= 0;
}

static bool read_profile(tl_reader *r, const tl_key *key, int index, tl_profile *out, const char *path, tl_where where)
{
    lua_State *L = r->L;
    size_t n = lua_type(L, index) == LUA_TTABLE ? lua_rawlen(L, index) : 0;
    if (n < 3 || n > TL_PROFILE_POINTS || !is_list_of(L, index, (int)n)) return wrong(r, key, index, path, where);
    index = lua_absindex(L, index);
    tl_key point = *key;
    point.type = TL_RANGE;
    bool good = true;
    out->count = (int)n;
    out->point = tl_reader_take(r, n * sizeof *out->point);
    for (int i = 0; i < (int)n; i++) {
        char entry[TL_PATH_MAX];
        snprintf(entry, sizeof entry, "%.140s[%d]", path, i + 1);
        lua_rawgeti(L, index, i + 1);
        good &= read_numbers(r, &point, -1, 2, out->point[i], entry, tl_read_where(r, index, NULL, i + 1, where));
        lua_pop(L, 1);
    }
    return good;
}

static bool read_path(tl_reader *r, const tl_key *key, int index, tl_cable_path *out, const char *path, tl_where where)
{
    lua_State *L = r->L;
    size_t n = lua_type(L, index) == LUA_TTABLE ? lua_rawlen(L, index) : 0;
    if (n < 2 || n > TL_PATH_POINTS || !is_list_of(L, index, (int)n)) return wrong(r, key, index, path, where);
    index = lua_absindex(L, index);
    tl_key point = *key;
    point.type = TL_VEC3;
    bool good = true;
    out->count = (int)n;
    out->at = tl_reader_take(r, n * sizeof *out->at);
    for (int i = 0; i < (int)n; i++) {
        char entry[TL_PATH_MAX];
        snprintf(entry, sizeof entry, "%.140s[%d]", path, i + 1);
        lua_rawgeti(L, index, i + 1);
        good &= read_vec3(r, &point, -1, &out->at[i], entry, tl_read_where(r, index, NULL, i + 1, where));
        lua_pop(L, 1);
    }
    return good;
}

static bool read_timed(tl_reader *r, const tl_key *key, int index, tl_timed *out, const char *path, tl_where where)
{
    int count = key->type == TL_TIMED1 ? 1 : 3;
    if (lua_type(r->L, index) == LUA_TFUNCTION) {
        out->function = tl_function_add(r, key, index, count, path, where);
        return true;
    }
    out->function = TL_NO_FUNCTION;
    return count == 1 ? read_number(r, key, index, out->value, path, where)
                      : read_numbers(r, key, index, 3, out->value, path, where);
}

/* ---- tables and lists ---- */

static void put_defaults(tl_reader *r, const tl_context *c, void *object);
static bool read_fields(tl_reader *r, const tl_context *c, int index, void *object, const char *path, tl_where where);

static bool read_list(tl_reader *r, const tl_key *key, int index, void *base, const char *path, tl_where where)
{
    lua_State *L = r->L;
    if (lua_type(L, index) != LUA_TTABLE) return wrong(r, key, index, path, where);
    index = lua_absindex(L, index);
    size_t n = lua_rawlen(L, index), found = 0;
    if (n > TL_LIST_MAX) {
        tl_read_problem(r, where, "%s must have at most %d entries, got %zu", path, TL_LIST_MAX, n);
        return false;
    }
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        if (lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= (lua_Integer)n) {
            found++;
            continue;
        }
        char got[96];
        bool text = lua_type(L, -2) == LUA_TSTRING;
        tl_where place = tl_read_where(r, index, text ? lua_tostring(L, -2) : NULL, 0, where);
        tl_read_problem(r, place, "%s must be a list { {...}, {...} }, got the key %s", path,
                        tl_read_describe(L, -2, got, sizeof got));
        lua_pop(L, 2);
        return false;
    }
    if (found != n) {
        tl_read_problem(r, where, "%s must be a list without holes, got %zu of %zu entries", path, found, n);
        return false;
    }
    size_t size = key->inside->size;
    char *items = tl_reader_take(r, n * size);
    *(void **)(void *)((char *)base + key->offset) = items;
    if (n) put_defaults(r, key->inside, items); /* their texts are parsed once */
    for (size_t i = 1; i < n; i++) memcpy(items + i * size, items, size);
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        char entry[TL_PATH_MAX];
        snprintf(entry, sizeof entry, "%.140s[%zu]", path, i + 1);
        tl_where place = tl_read_where(r, index, NULL, (int)i + 1, where);
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        good &= read_fields(r, key->inside, -1, items + i * size, entry, place);
        lua_pop(L, 1);
    }
    *(int *)(void *)((char *)base + key->count_offset) = (int)n;
    return good;
}

/* Positional entries of a constructor: shapes. */
static bool read_parts(tl_reader *r, const tl_key *key, int table, tl_shape_list *out, const char *path, tl_where where)
{
    lua_State *L = r->L;
    int n = (int)lua_rawlen(L, table);
    if (n > 4096) {
        tl_read_problem(r, where, "%s takes at most 4096 shapes, got %d", path, n);
        return false;
    }
    out->count = n;
    out->node = tl_reader_take(r, (size_t)n * sizeof *out->node);
    bool good = true;
    for (int i = 0; i < n; i++) {
        char entry[TL_PATH_MAX];
        snprintf(entry, sizeof entry, "%.140s[%d]", path, i + 1);
        lua_rawgeti(L, table, i + 1);
        out->node[i] = tl_build_shape_of(L, -1);
        if (out->node[i] == -2) wrong(r, key, -1, entry, tl_read_where(r, table, NULL, i + 1, where));
        good &= out->node[i] >= 0;
        lua_pop(L, 1);
    }
    return good;
}

bool tl_read_value(tl_reader *r, const tl_key *key, int index, void *field, const char *path, tl_where where)
{
    int64_t whole;
    double pair[2];
    switch (key->type) {
    case TL_NUMBER: return read_number(r, key, index, field, path, where);
    case TL_INTEGER:
        if (!read_whole(r, key, index, &whole, path, where)) return false;
        *(int *)field = (int)whole;
        return true;
    case TL_SEED: return read_whole(r, key, index, field, path, where);
    case TL_BOOLEAN: return read_truth(r, key, index, field, path, where);
    case TL_TEXT: return read_text(r, key, index, field, path, where);
    case TL_CHOICE:
    case TL_WORD: return read_word(r, key, index, field, path, where);
    case TL_VEC3:
    case TL_SIZE3: return read_vec3(r, key, index, field, path, where);
    case TL_INTEGER3:
    case TL_BOOLEAN3: return read_three(r, key, index, field, path, where);
    case TL_RANGE:
        if (!read_numbers(r, key, index, 2, pair, path, where)) return false;
        if (pair[0] > pair[1]) {
            tl_read_problem(r, where, "%s must be {low, high} with low <= high, got {%.10g, %.10g}", path, pair[0],
                            pair[1]);
            return false;
        }
        memcpy(field, pair, sizeof pair);
        return true;
    case TL_NAMES2: return read_names(r, key, index, field, path, where);
    case TL_ROTATION: return read_rotation(r, key, index, field, path, where);
    case TL_ANGLES_DEG:
    case TL_ANGLES_RAD: return read_angles(r, key, index, field, path, where);
    case TL_COLOUR: return read_colour(r, key, index, field, path, where);
    case TL_SHAPE:
    case TL_MATERIAL: return read_object(r, key, index, field, path, where);
    case TL_PROFILE: return read_profile(r, key, index, field, path, where);
    case TL_PATH: return read_path(r, key, index, field, path, where);
    case TL_TIMED1:
    case TL_TIMED3: return read_timed(r, key, index, field, path, where);
    case TL_POSE:
        if (lua_type(r->L, index) != LUA_TFUNCTION) return wrong(r, key, index, path, where);
        *(int *)field = tl_function_add(r, key, index, 7, path, where);
        return true;
    case TL_TABLE:
        if (lua_type(r->L, index) != LUA_TTABLE && !(key->inside->shorthand && lua_type(r->L, index) == LUA_TSTRING))
            return wrong(r, key, index, path, where);
        return tl_read_table(r, key->inside, index, field, path, where);
    case TL_SHAPES:
    case TL_LIST: break; /* read by tl_read_table, which knows the struct around them */
    }
    return false;
}

/* ---- defaults ---- */

static void fill_default(tl_reader *r, const tl_key *key, char *object)
{
    void *field = object + key->offset;
    const char *text = key->fallback ? key->fallback : "";
    double v[4] = {0, 0, 0, 0};
    const char *number = text;
    if (*text == '{')
        for (int k = 0; k < 4 && (*number == '{' || *number == ','); k++) v[k] = strtod(number + 1, (char **)&number);
    else
        v[0] = strtod(text, NULL);
    switch (key->type) {
    case TL_NUMBER: *(double *)field = v[0]; break;
    case TL_INTEGER: *(int *)field = (int)v[0]; break;
    case TL_SEED: *(int64_t *)field = (int64_t)v[0]; break;
    case TL_BOOLEAN: *(bool *)field = !strcmp(text, "true"); break;
    case TL_TEXT:
    case TL_WORD: *(const char **)field = text; break;
    case TL_CHOICE: *(int *)field = *text ? tl_schema_word(key->words, text) : 0; break;
    case TL_VEC3:
    case TL_SIZE3: *(tl_vec3 *)field = tl_vec3_load(v); break;
    case TL_RANGE: memcpy(field, v, 2 * sizeof *v); break;
    case TL_NAMES2: ((const char **)field)[0] = ((const char **)field)[1] = ""; break;
    case TL_ROTATION: *(tl_quat *)field = tl_quat_identity(); break;
    case TL_COLOUR: colour_from_text(text, field); break;
    case TL_SHAPE:
    case TL_MATERIAL: *(int *)field = -1; break;
    case TL_POSE: *(int *)field = TL_NO_FUNCTION; break;
    case TL_TIMED1:
    case TL_TIMED3: *(tl_timed *)field = (tl_timed){TL_NO_FUNCTION, {v[0], v[1], v[2]}}; break;
    case TL_TABLE: put_defaults(r, key->inside, field); break;
    case TL_INTEGER3: /* zero is their default */
    case TL_BOOLEAN3:
    case TL_ANGLES_DEG:
    case TL_ANGLES_RAD:
    case TL_SHAPES:
    case TL_PROFILE:
    case TL_PATH:
    case TL_LIST: break;
    }
}

static void put_defaults(tl_reader *r, const tl_context *c, void *object)
{
    for (int i = 0; i < c->key_count; i++)
        if (!c->keys[i].alias) fill_default(r, &c->keys[i], object);
}

/* ---- a table by its context ---- */

static void entry_path(char *out, const char *path, const char *key)
{
    if (*path)
        snprintf(out, TL_PATH_MAX, "%.100s.%.50s", path, key);
    else
        snprintf(out, TL_PATH_MAX, "%.150s", key);
}

static bool engine_has(tl_reader *r, const tl_key *key, const char *path, tl_where where)
{
    if (!key->engines || r->engine_wrong || key->engines & 1u << r->scene->engine) return true;
    char list[64] = "";
    for (int i = 0; i < TL_ENGINES; i++)
        if (key->engines & 1u << i)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s\"%s\"", *list ? " or " : "",
                     tl_engine_name((tl_engine)i));
    tl_read_problem(r, where, "%s is for engine = %s, this scene has \"%s\"", path, list,
                    tl_engine_name(r->scene->engine));
    return false;
}

static void unknown_key(tl_reader *r, const tl_context *c, const char *word, const char *path, tl_where where)
{
    const char *names[65] = {0};
    char list[256] = "";
    for (int i = 0; i < c->key_count; i++) {
        names[i] = c->keys[i].name;
        size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = tl_text_nearest(word, names);
    for (int i = 0; !near && i < c->key_count; i++) /* friction for friction_angle_deg */
        if (!strncmp(names[i], word, strlen(word))) near = names[i];
    if (near)
        tl_read_problem(r, where, "%s is not a key of %s; did you mean '%s'?", path, c->article, near);
    else
        tl_read_problem(r, where, "%s is not a key of %s; there are %s%s", path, c->article, list,
                        strlen(list) > 250 ? "..." : "");
}

/* Keys that the context does not have. */
static bool check_names(tl_reader *r, const tl_context *c, int table, const char *path, tl_where where)
{
    lua_State *L = r->L;
    bool good = true, positional = false;
    for (int i = 0; i < c->key_count; i++) positional |= c->keys[i].type == TL_SHAPES;
    lua_Integer n = positional ? (lua_Integer)lua_rawlen(L, table) : 0;
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        char full[TL_PATH_MAX], got[96];
        if (lua_type(L, -2) == LUA_TSTRING) {
            const char *word = lua_tostring(L, -2);
            if (tl_schema_key(c, word)) continue;
            entry_path(full, path, word);
            unknown_key(r, c, word, full, tl_read_where(r, table, word, 0, where));
        } else if (lua_isinteger(L, -2)) {
            lua_Integer i = lua_tointeger(L, -2);
            if (i >= 1 && i <= n) continue;
            snprintf(full, sizeof full, "%.120s[%lld]", path, (long long)i);
            int place = i > 0 && i < 1000000 ? (int)i : 0;
            tl_read_problem(r, tl_read_where(r, table, NULL, place, where),
                            "%s has no name; the keys of %s are named, as in %s = ...", full, c->article,
                            c->keys[0].name);
        } else {
            tl_read_problem(r, where, "%s%skeys must be names, got %s", path, *path ? ": " : "",
                            tl_read_describe(L, -2, got, sizeof got));
        }
        good = false;
    }
    return good;
}

/* Two keys that write the same field, such as rotation and rotation_deg. */
static bool check_aliases(tl_reader *r, const tl_seen *s)
{
    const tl_context *c = s->context;
    bool good = true;
    for (int i = 0; i < c->key_count; i++)
        for (int j = i + 1; j < c->key_count; j++)
            if (c->keys[j].alias && c->keys[i].offset == c->keys[j].offset && s->given >> i & s->given >> j & 1) {
                tl_read_problem(r, tl_seen_where(r, s, c->keys[j].name), "%s%shas both %s and %s; give one of them",
                                s->path, *s->path ? " " : "", c->keys[i].name, c->keys[j].name);
                good = false;
            }
    return good;
}

static bool read_entry(tl_reader *r, const tl_key *key, int table, char *object, const char *path, tl_where where,
                       bool *given)
{
    lua_State *L = r->L;
    char full[TL_PATH_MAX];
    bool good = true;
    if (key->type == TL_SHAPES) {
        tl_shape_list *list = (tl_shape_list *)(void *)(object + key->offset);
        *given = lua_rawlen(L, table) > 0;
        if (!*given) tl_read_problem(r, where, "%s needs shapes: %s", path, key->help);
        return *given && read_parts(r, key, table, list, path, where);
    }
    lua_pushstring(L, key->name);
    lua_rawget(L, table);
    *given = !lua_isnil(L, -1);
    if (*given || !key->fallback) entry_path(full, path, key->name);
    if (*given) {
        tl_where place = tl_read_where(r, table, key->name, 0, where);
        good = engine_has(r, key, full, place);
        if (!good)
            ;
        else if (key->type == TL_LIST)
            good = read_list(r, key, -1, object, full, place);
        else
            good = tl_read_value(r, key, -1, object + key->offset, full, place);
    } else if (!key->fallback) {
        char want[256];
        tl_read_problem(r, where, "%s is missing; it must be %s", full, describe_type(key, want, sizeof want));
        good = false;
    }
    lua_pop(L, 1);
    return good;
}

bool tl_read_table(tl_reader *r, const tl_context *c, int index, void *object, const char *path, tl_where where)
{
    put_defaults(r, c, object);
    return read_fields(r, c, index, object, path, where);
}

/* What the table gives, over the defaults that the object has already. */
static bool read_fields(tl_reader *r, const tl_context *c, int index, void *object, const char *path, tl_where where)
{
    lua_State *L = r->L;
    luaL_checkstack(L, 20, "tables are nested too deeply");
    index = lua_absindex(L, index);
    if (c->shorthand && lua_type(L, index) == LUA_TSTRING) {
        const tl_key *key = tl_schema_key(c, c->shorthand);
        return tl_read_value(r, key, index, (char *)object + key->offset, path, where);
    }
    if (lua_type(L, index) != LUA_TTABLE) {
        char got[96];
        tl_read_problem(r, where, "%s must be %s { ... }, got %s", *path ? path : "the result of the file", c->article,
                        tl_read_describe(L, index, got, sizeof got));
        return false;
    }
    where = tl_read_where(r, index, NULL, 0, where);
    if (c->has_where) *(tl_where *)object = where;
    tl_seen seen = {c, 0, 0, index, path, where};
    bool good = true;
    tl_sandbox_charge(L, 2 * c->key_count);
    for (int i = 0; i < c->key_count; i++) {
        bool given, right = read_entry(r, &c->keys[i], index, object, path, where, &given);
        good &= right;
        if (!right && !strcmp(c->keys[i].name, "engine")) r->engine_wrong = true;
        seen.given |= (uint64_t)given << i;
        seen.good |= (uint64_t)(given && right) << i;
    }
    good &= check_names(r, c, index, path, where);
    good &= check_aliases(r, &seen);
    int before = r->error_count;
    tl_rules_of(r, &seen, object);
    return good && r->error_count == before;
}

/* ---- for the rules ---- */

static int key_number(const tl_seen *s, const char *key)
{
    return (int)(tl_schema_key(s->context, key) - s->context->keys);
}
bool tl_seen_has(const tl_seen *s, const char *key) { return s->given >> key_number(s, key) & 1; }
bool tl_seen_good(const tl_seen *s, const char *key) { return s->good >> key_number(s, key) & 1; }
tl_where tl_seen_where(tl_reader *r, const tl_seen *s, const char *key)
{
    return tl_read_where(r, s->table, key, 0, s->where);
}
