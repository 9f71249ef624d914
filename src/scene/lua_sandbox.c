#include "scene/lua_sandbox.h"

#include <lualib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/random.h"
#include "base/text.h"

#define TICK 100         /* instructions between two looks at the limits */
#define BYTES_PER_UNIT 8 /* chosen: filling the whole memory costs about as long as its units in instructions */
#define PRINT_LINES 200
#define PRINT_BYTES 4096 /* of a line that the script prints; the rest is cut off */

/* registry names of the script's globals: `names` holds them, `ours` marks those that it cannot change */
static const char names_key[] = "talus.names", ours_key[] = "talus.ours", globals_key[] = "talus.globals";

tl_sandbox *tl_sandbox_of(lua_State *L)
{
    void *ud;
    lua_getallocf(L, &ud);
    return ud;
}

/* ---- limits ---- */

static void remember_place(tl_sandbox *s, lua_Debug *ar)
{
    lua_getinfo(s->L, "Sl", ar);
    if (ar->source[0] == '=' && ar->source[1] == '#' && ar->currentline > 0) {
        s->chunk = atoi(ar->source + 2);
        s->line = ar->currentline;
    }
}

/* Where a refused allocation happened. Reading the call stack takes no memory, and the hook keeps its lines exact. */
static void remember_refusal(tl_sandbox *s)
{
    lua_Debug ar;
    for (int level = 0; s->L && lua_getstack(s->L, level, &ar); level++) {
        lua_getinfo(s->L, "S", &ar);
        if (ar.source[0] != '=' || ar.source[1] != '#') continue;
        remember_place(s, &ar);
        return;
    }
}

static void *allocate(void *ud, void *block, size_t old, size_t bytes)
{
    tl_sandbox *s = ud;
    size_t before = block ? old : 0; /* without a block, `old` is the kind of object */
    if (bytes == 0) {
        s->used -= before;
        tl_hook_free(block);
        return NULL;
    }
    if (bytes > before) {
        s->budget -= (int64_t)((bytes - before) / BYTES_PER_UNIT);
        bool text = !block && old == LUA_TSTRING && bytes > TL_SANDBOX_TEXT + 64; /* 64: the object's own header */
        bool full = s->used - before + bytes > TL_SANDBOX_MEMORY;
        if (s->budget < 0 || text || full) {
            if (!s->spent && !s->long_text && !s->full) remember_refusal(s);
            s->spent |= s->budget < 0;
            s->long_text |= text;
            s->full |= full;
            return NULL;
        }
    }
    void *fresh = tl_hook_realloc(block, bytes);
    if (!fresh && bytes <= before) fresh = block; /* a block that did not shrink is still good */
    if (!fresh) {
        s->starved = true;
        return NULL;
    }
    s->used = s->used - before + bytes;
    return fresh;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void stop_spent(lua_State *L, tl_sandbox *s)
{
    remember_refusal(s); /* there are no units left for the message, so Lua does not ask where it was */
    s->spent = true;
    luaL_error(L, "out of units");
}

static void tick(lua_State *L, lua_Debug *ar)
{
    tl_sandbox *s = tl_sandbox_of(L);
    remember_place(s, ar);
    s->budget -= TICK;
    if (s->ticks == 0) s->cpu_start = cpu_seconds(); /* not before: short functions of time ask no clock */
    if (++s->ticks % 64 == 0 && cpu_seconds() - s->cpu_start > TL_SANDBOX_CPU_SECONDS) s->budget = -1;
    if (s->budget < 0) stop_spent(L, s);
    lua_Debug deep;
    if (lua_getstack(L, TL_SANDBOX_DEPTH, &deep)) luaL_error(L, "calls are nested deeper than %d", TL_SANDBOX_DEPTH);
}

void tl_sandbox_allow(tl_sandbox *s, int64_t units)
{
    s->budget = s->given = units;
    s->spent = s->full = s->long_text = s->starved = false;
    s->ticks = 0;
}

void tl_sandbox_charge(lua_State *L, int64_t units)
{
    tl_sandbox *s = tl_sandbox_of(L);
    s->budget -= units < 0 ? 0 : units > s->budget ? s->budget + 1 : units;
    if (s->budget < 0) stop_spent(L, s);
}

/* ---- values as text ---- */

/* Text of any value, pushed; never an address. */
static const char *put_text(lua_State *L, int index)
{
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
    case LUA_TSTRING: lua_pushvalue(L, index); return lua_tostring(L, -1);
    case LUA_TBOOLEAN: return lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false");
    case LUA_TUSERDATA:
        if (luaL_getmetafield(L, index, "__name") == LUA_TSTRING) return lua_tostring(L, -1);
        return lua_pushliteral(L, "object");
    default: return lua_pushstring(L, luaL_typename(L, index));
    }
}

static int base_tostring(lua_State *L)
{
    luaL_checkany(L, 1);
    put_text(L, 1);
    return 1;
}

static int base_print(lua_State *L)
{
    tl_sandbox *s = tl_sandbox_of(L);
    int n = lua_gettop(L);
    luaL_Buffer b;
    lua_createtable(L, n, 0);
    for (int i = 1; i <= n; i++) {
        put_text(L, i);
        lua_rawseti(L, n + 1, i);
    }
    luaL_buffinit(L, &b);
    for (int i = 1; i <= n; i++) {
        if (i > 1) luaL_addstring(&b, "  ");
        lua_rawgeti(L, n + 1, i);
        luaL_addvalue(&b);
    }
    luaL_pushresult(&b);
    if (s->print && s->printed++ < PRINT_LINES) {
        char line[PRINT_BYTES];
        tl_text_quote(line, sizeof line, lua_tostring(L, -1));
        s->print(s->print_user, 1, line);
    }
    return 0;
}

/* ---- string ---- */

static size_t place(lua_Integer i, size_t length) /* 1-based, from the end when negative; 0: before the first */
{
    if (i >= 0) return (size_t)i;
    return (lua_Unsigned)-i > length ? 0 : length + 1 - (size_t)-i;
}

static int string_len(lua_State *L)
{
    size_t n;
    luaL_checklstring(L, 1, &n);
    lua_pushinteger(L, (lua_Integer)n);
    return 1;
}

static int string_sub(lua_State *L)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    size_t first = place(luaL_checkinteger(L, 2), n), last = place(luaL_optinteger(L, 3, -1), n);
    first = first < 1 ? 1 : first;
    last = last > n ? n : last;
    if (first > last)
        lua_pushliteral(L, "");
    else
        lua_pushlstring(L, text + first - 1, last - first + 1);
    return 1;
}

static int string_byte(lua_State *L)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    lua_Integer from = luaL_optinteger(L, 2, 1);
    size_t first = place(from, n), last = place(luaL_optinteger(L, 3, (lua_Integer)first), n);
    first = first < 1 ? 1 : first;
    last = last > n ? n : last;
    if (first > last) return 0;
    if (last - first >= TL_SANDBOX_VALUES)
        return luaL_error(L, "string.byte gives at most %d values", TL_SANDBOX_VALUES);
    luaL_checkstack(L, TL_SANDBOX_VALUES, "too many values");
    for (size_t i = first; i <= last; i++) lua_pushinteger(L, (unsigned char)text[i - 1]);
    return (int)(last - first + 1);
}

static int string_char(lua_State *L)
{
    char text[256];
    int n = lua_gettop(L);
    if (n > (int)sizeof text) return luaL_error(L, "string.char takes at most %d values", (int)sizeof text);
    for (int i = 1; i <= n; i++) {
        lua_Integer c = luaL_checkinteger(L, i);
        luaL_argcheck(L, c >= 0 && c <= 255, i, "value out of range");
        text[i - 1] = (char)c;
    }
    lua_pushlstring(L, text, (size_t)n);
    return 1;
}

static int change(lua_State *L, char (*of)(char), bool backwards)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    luaL_Buffer b;
    char *out = luaL_buffinitsize(L, &b, n);
    for (size_t i = 0; i < n; i++) out[i] = of(text[backwards ? n - 1 - i : i]);
    luaL_pushresultsize(&b, n);
    return 1;
}
static char as_is(char c) { return c; }
static char large(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 32) : c; }
static char little(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }
static int string_upper(lua_State *L) { return change(L, large, false); }
static int string_lower(lua_State *L) { return change(L, little, false); }
static int string_reverse(lua_State *L) { return change(L, as_is, true); }

static int string_rep(lua_State *L)
{
    size_t n, between;
    const char *text = luaL_checklstring(L, 1, &n);
    lua_Integer times = luaL_checkinteger(L, 2);
    const char *separator = luaL_optlstring(L, 3, "", &between);
    if (times <= 0 || n + between == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    if ((lua_Unsigned)times > TL_SANDBOX_TEXT / (n + between))
        return luaL_error(L, "string.rep makes texts of at most %d bytes", (int)TL_SANDBOX_TEXT);
    tl_sandbox_charge(L, times);
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (lua_Integer i = 0; i < times; i++) {
        luaL_addlstring(&b, text, n);
        if (i + 1 < times) luaL_addlstring(&b, separator, between);
    }
    luaL_pushresult(&b);
    return 1;
}

/* One item of a format: flags, width and precision of at most two digits each, as in Lua. */
static int read_item(lua_State *L, const char *from, char *item)
{
    size_t n = 1 + strspn(from + 1, "-+ #0");
    size_t digits = strspn(from + n, "0123456789");
    bool good = n <= 6 && digits <= 2;
    n += digits;
    if (from[n] == '.') {
        digits = strspn(from + n + 1, "0123456789");
        good = good && digits <= 2;
        n += 1 + digits;
    }
    if (!good || !from[n] || !strchr("dixXceEfgGs", from[n]))
        return luaL_error(L, "string.format knows %%d %%i %%x %%X %%c %%e %%E %%f %%g %%G %%s %%%% with short widths");
    memcpy(item, from, n + 1);
    item[n + 1] = 0;
    return (int)n + 1;
}

static void add_item(lua_State *L, luaL_Buffer *b, const char *item, int length, int argument)
{
    char text[512], longer[32]; /* the longest: %99.99f of 1e308 */
    char kind = item[length - 1];
    if (kind == 's') {
        if (length == 2) {
            lua_pushvalue(L, argument);
            luaL_addvalue(b);
            return;
        }
        snprintf(text, sizeof text, item, lua_tostring(L, argument));
    } else if (strchr("dixX", kind)) {
        snprintf(longer, sizeof longer, "%.*sll%c", length - 1, item, kind);
        snprintf(text, sizeof text, longer, (long long)luaL_checkinteger(L, argument));
    } else if (kind == 'c') {
        snprintf(text, sizeof text, item, (int)(luaL_checkinteger(L, argument) & 127));
    } else {
        snprintf(text, sizeof text, item, luaL_checknumber(L, argument));
    }
    luaL_addstring(b, text);
}

static int string_format(lua_State *L)
{
    size_t n;
    const char *format = luaL_checklstring(L, 1, &n);
    int arguments = lua_gettop(L);
    for (int i = 2; i <= arguments;
         i++) { /* values for %s as text, in their places, before the buffer uses the stack */
        if (lua_type(L, i) == LUA_TNUMBER || lua_type(L, i) == LUA_TSTRING) continue;
        put_text(L, i);
        lua_replace(L, i);
    }
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    int next = 2;
    for (const char *c = format; c < format + n; c++) {
        if (*c != '%') {
            luaL_addchar(&b, *c);
            continue;
        }
        if (c[1] == '%') {
            luaL_addchar(&b, *++c);
            continue;
        }
        char item[16];
        int length = read_item(L, c, item);
        if (next > arguments) return luaL_error(L, "string.format has no value for '%s'", item);
        if (item[length - 1] == 's' && length > 2) {
            size_t size;
            luaL_tolstring(L, next, &size);
            luaL_argcheck(L, size < 256 && strlen(lua_tostring(L, -1)) == size, next, "too long for a width");
            lua_replace(L, next);
        }
        add_item(L, &b, item, length, next++);
        c += length - 1;
    }
    luaL_pushresult(&b);
    return 1;
}

static const luaL_Reg string_functions[] = {
    {"len", string_len},   {"sub", string_sub},         {"byte", string_byte},
    {"char", string_char}, {"upper", string_upper},     {"lower", string_lower},
    {"rep", string_rep},   {"reverse", string_reverse}, {"format", string_format},
    {NULL, NULL},
};

/* ---- tables ---- */

typedef bool less_fn(lua_State *L, int a, int b);

/* Stable merge sort of the list of n items at `list`, with a second list for the room. */
static void merge_sort(lua_State *L, int list, lua_Integer n, less_fn *less)
{
    int levels = 1;
    while (((lua_Integer)1 << levels) < n) levels++;
    tl_sandbox_charge(L, 16 * n * levels);
    lua_createtable(L, (int)n, 0);
    int from = list, to = lua_gettop(L), room = to;
    for (lua_Integer width = 1; width < n; width *= 2) {
        for (lua_Integer start = 1; start <= n; start += 2 * width) {
            lua_Integer a = start, middle = start + width <= n ? start + width : n + 1, b = middle;
            lua_Integer end = start + 2 * width <= n ? start + 2 * width : n + 1;
            for (lua_Integer k = start; k < end; k++) {
                bool second = a == middle;
                if (a < middle && b < end) {
                    lua_rawgeti(L, from, b);
                    lua_rawgeti(L, from, a);
                    second = less(L, lua_gettop(L) - 1, lua_gettop(L));
                    lua_pop(L, 2);
                }
                lua_rawgeti(L, from, second ? b++ : a++);
                lua_rawseti(L, to, k);
            }
        }
        int swap = from;
        from = to;
        to = swap;
    }
    if (from != list)
        for (lua_Integer i = 1; i <= n; i++) {
            lua_rawgeti(L, from, i);
            lua_rawseti(L, list, i);
        }
    lua_remove(L, room);
}

static bool key_less(lua_State *L, int a, int b)
{
    bool text_a = lua_type(L, a) == LUA_TSTRING, text_b = lua_type(L, b) == LUA_TSTRING;
    if (text_a != text_b) return text_b;
    return lua_compare(L, a, b, LUA_OPLT);
}

/* Keys of the table at index as a new list on the stack, numbers first, then texts, each in order. */
static void put_keys(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    lua_newtable(L);
    int list = lua_gettop(L);
    lua_Integer n = 0;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        int type = lua_type(L, -2);
        if (type != LUA_TNUMBER && type != LUA_TSTRING)
            luaL_error(L, "keys must be numbers or texts, this table has a %s", luaL_typename(L, -2));
        lua_pushvalue(L, -2);
        lua_rawseti(L, list, ++n);
    }
    if (n > 1) merge_sort(L, list, n, key_less);
}

static int pairs_step(lua_State *L)
{
    for (lua_Integer i = lua_tointeger(L, lua_upvalueindex(2)) + 1;; i++) {
        lua_pushinteger(L, i);
        lua_replace(L, lua_upvalueindex(2));
        if (lua_rawgeti(L, lua_upvalueindex(1), i) == LUA_TNIL) return 1;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, 1) != LUA_TNIL) return 2;
        lua_pop(L, 2); /* taken out during the walk */
        tl_sandbox_charge(L, 2);
    }
}

static int base_pairs(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    put_keys(L, 1);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, pairs_step, 2);
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

static bool value_less(lua_State *L, int a, int b)
{
    int top = lua_gettop(L);
    if (lua_isnil(L, 2)) return lua_compare(L, a, b, LUA_OPLT);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, a);
    lua_pushvalue(L, b);
    lua_call(L, 2, 1);
    bool less = lua_toboolean(L, -1);
    lua_settop(L, top);
    return less;
}

static int table_sort(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    lua_Integer n = (lua_Integer)lua_rawlen(L, 1);
    if (n > 1) merge_sort(L, 1, n, value_less);
    return 0;
}

static int table_unpack(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_Integer first = luaL_optinteger(L, 2, 1), last = luaL_optinteger(L, 3, (lua_Integer)lua_rawlen(L, 1));
    if (first > last) return 0;
    if ((lua_Unsigned)last - (lua_Unsigned)first >= TL_SANDBOX_VALUES)
        return luaL_error(L, "table.unpack gives at most %d values", TL_SANDBOX_VALUES);
    luaL_checkstack(L, TL_SANDBOX_VALUES, "too many values");
    int n = (int)(last - first) + 1;
    for (int i = 0; i < n; i++) lua_geti(L, 1, first + i);
    return n;
}

/* The library's own function, after a charge for the list it may walk. */
static int charged(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    tl_sandbox_charge(L, (lua_Integer)lua_rawlen(L, 1));
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* ---- math ---- */

static tl_sandbox *only_while_loading(lua_State *L, const char *what)
{
    tl_sandbox *s = tl_sandbox_of(L);
    if (!s->loading) luaL_error(L, "a function of time must not use %s: its answer may depend on the time only", what);
    return s;
}

static int math_random(lua_State *L)
{
    tl_sandbox *s = only_while_loading(L, "math.random");
    double r = tl_random(s->random_seed, s->random_count++, 0);
    if (lua_gettop(L) == 0) {
        lua_pushnumber(L, r);
        return 1;
    }
    lua_Integer low = lua_gettop(L) == 1 ? 1 : luaL_checkinteger(L, 1);
    lua_Integer high = luaL_checkinteger(L, lua_gettop(L) == 1 ? 1 : 2);
    luaL_argcheck(L, low <= high, 2, "interval is empty");
    luaL_argcheck(L, (lua_Unsigned)high - (lua_Unsigned)low < (lua_Unsigned)1 << 50, 2, "interval is too large");
    lua_pushinteger(L, low + (lua_Integer)floor(r * ((double)(high - low) + 1)));
    return 1;
}

static int math_randomseed(lua_State *L)
{
    tl_sandbox *s = only_while_loading(L, "math.randomseed");
    s->random_seed = (uint64_t)luaL_checkinteger(L, 1);
    s->random_count = 0;
    return 0;
}

/* ---- globals ---- */

static const char *const left_out[] = {
    "io",           "os",         "package", "debug",          "require", "load",
    "loadfile",     "loadstring", "dofile",  "collectgarbage", "warn",    "getmetatable",
    "setmetatable", "rawequal",   "rawget",  "rawlen",         "rawset",  "pcall",
    "xpcall",       "coroutine",  "utf8",    "next",           "select",  "_G",
    "arg",          NULL,
};
static const char *const left_out_of_libraries[] = {
    "string.find",     "string.match",  "string.gmatch", "string.gsub", "string.dump", "string.pack",
    "string.packsize", "string.unpack", "table.pack",    "table.move",  NULL,
};

static bool listed(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(word, *list)) return true;
    return false;
}

/* The name in the table at `index` that is nearest to `word`; pushes what keeps it alive. */
static const char *nearest_key(lua_State *L, int index, const char *word)
{
    const char *best = NULL;
    put_keys(L, index);
    int list = lua_gettop(L);
    for (lua_Integer i = 1; lua_rawgeti(L, list, i) == LUA_TSTRING; i++) {
        const char *name = lua_tostring(L, -1);
        const char *choice[] = {best ? best : name, name, NULL};
        if (name[0] != '_') best = tl_text_nearest(word, choice);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return best;
}

/* __index of `names` (upvalue 1: "") and of a library (its name): what is not there is a mistake. */
static int missing_name(lua_State *L)
{
    const char *library = lua_tostring(L, lua_upvalueindex(1));
    if (lua_type(L, 2) != LUA_TSTRING) return luaL_error(L, "names are texts");
    const char *word = lua_tostring(L, 2);
    char full[80];
    snprintf(full, sizeof full, "%s%s%.60s", library, *library ? "." : "", word);
    if (listed(full, *library ? left_out_of_libraries : left_out))
        return luaL_error(L, "'%s' is not available in scenes", full);
    const char *near = nearest_key(L, 1, word);
    if (near)
        return luaL_error(L, "there is no '%s'; did you mean '%s%s%s'?", full, library, *library ? "." : "", near);
    return luaL_error(L, "there is no '%s'", full);
}

/* __newindex of the script's globals. */
static int write_global(lua_State *L)
{
    tl_sandbox *s = tl_sandbox_of(L);
    const char *word = luaL_checkstring(L, 2);
    if (!s->loading)
        return luaL_error(
            L, "a function of time must not write the global '%s': its answer may depend on the time only", word);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, ours_key);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, -2) != LUA_TNIL)
        return luaL_error(L, "'%s' is a name of talus; write 'local %s' for one of your own", word, word);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, names_key);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 3);
    lua_rawset(L, -3);
    return 0;
}

static int write_library(lua_State *L)
{
    return luaL_error(L, "'%s' cannot be changed", lua_tostring(L, lua_upvalueindex(1)));
}

void tl_sandbox_define(tl_sandbox *s, const char *name)
{
    lua_State *L = s->L;
    luaL_getsubtable(L, LUA_REGISTRYINDEX, names_key);
    lua_insert(L, -2);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, ours_key);
    lua_pushboolean(L, 1);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

/* An empty table in front of the one on top: reads go through, writes go to `write`. Both end up off the stack but
 * the front. */
static void put_front(lua_State *L, const char *name, lua_CFunction write)
{
    int inside = lua_gettop(L);
    lua_createtable(L, 0, 1); /* metatable of the inside: its missing names */
    lua_pushstring(L, name);
    lua_pushcclosure(L, missing_name, 1);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, inside);
    lua_newtable(L);
    lua_createtable(L, 0, 2);
    lua_pushvalue(L, inside);
    lua_setfield(L, -2, "__index");
    lua_pushstring(L, name);
    lua_pushcclosure(L, write, 1);
    lua_setfield(L, -2, "__newindex");
    lua_setmetatable(L, -2);
    lua_remove(L, inside);
}

static void copy_fields(lua_State *L, int from, const char *const *fields, bool charge)
{
    for (; *fields; fields++) {
        lua_getfield(L, from, *fields);
        if (charge) lua_pushcclosure(L, charged, 1);
        lua_setfield(L, -2, *fields);
    }
}

static int open_libraries(lua_State *L)
{
    static const char *const base[] = {"assert", "error", "ipairs", "tonumber", "type", NULL};
    static const char *const table[] = {"insert", "remove", "concat", NULL};
    static const char *const math[] = {"abs",  "ceil", "floor",      "max",        "min",       "sqrt", "sin",
                                       "cos",  "tan",  "asin",       "acos",       "atan",      "exp",  "log",
                                       "fmod", "modf", "deg",        "rad",        "tointeger", "type", "ult",
                                       "pi",   "huge", "maxinteger", "mininteger", NULL};
    tl_sandbox *s = tl_sandbox_of(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, names_key);
    put_front(L, "", write_global);
    lua_setfield(L, LUA_REGISTRYINDEX, globals_key);

    luaL_requiref(L, "_G", luaopen_base, 0);
    int all = lua_gettop(L);
    for (int i = 0; base[i]; i++) {
        lua_getfield(L, all, base[i]);
        tl_sandbox_define(s, base[i]);
    }
    lua_pushcfunction(L, base_tostring);
    tl_sandbox_define(s, "tostring");
    lua_pushcfunction(L, base_print);
    tl_sandbox_define(s, "print");
    lua_pushcfunction(L, base_pairs);
    tl_sandbox_define(s, "pairs");

    luaL_requiref(L, LUA_TABLIBNAME, luaopen_table, 0);
    lua_newtable(L);
    copy_fields(L, -2, table, true);
    lua_pushcfunction(L, table_sort);
    lua_setfield(L, -2, "sort");
    lua_pushcfunction(L, table_unpack);
    lua_setfield(L, -2, "unpack");
    put_front(L, "table", write_library);
    tl_sandbox_define(s, "table");

    luaL_requiref(L, LUA_MATHLIBNAME, luaopen_math, 0);
    lua_newtable(L);
    copy_fields(L, -2, math, false);
    lua_pushcfunction(L, math_random);
    lua_setfield(L, -2, "random");
    lua_pushcfunction(L, math_randomseed);
    lua_setfield(L, -2, "randomseed");
    put_front(L, "math", write_library);
    tl_sandbox_define(s, "math");

    lua_newtable(L);
    luaL_setfuncs(L, string_functions, 0);
    put_front(L, "string", write_library);
    lua_pushliteral(L, ""); /* ("x"):rep goes to the same functions */
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
    tl_sandbox_define(s, "string");
    lua_settop(L, 0);
    return 0;
}

talus_status tl_sandbox_create(tl_sandbox **out, talus_error *err)
{
    *out = NULL;
    tl_sandbox *s = TL_NEW_ZERO(tl_sandbox, 1);
    if (!s) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the scene's script");
    s->loading = true;
    s->random_seed = 1;
    s->chunk = -1;
    tl_sandbox_allow(s, INT64_MAX / 2);
    s->L = lua_newstate(allocate, s);
    bool good = s->L != NULL;
    if (good) {
        lua_pushcfunction(s->L, open_libraries);
        good = lua_pcall(s->L, 0, 0, 0) == LUA_OK;
    }
    if (!good) {
        tl_sandbox_free(s);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the scene's script");
    }
    lua_sethook(s->L, tick, LUA_MASKCOUNT, TICK);
    *out = s;
    return TALUS_OK;
}

void tl_sandbox_free(tl_sandbox *s)
{
    if (!s) return;
    if (s->L) lua_close(s->L);
    tl_free(s);
}

void tl_sandbox_seal(tl_sandbox *s) { s->loading = false; }

/* ---- running ---- */

typedef struct load_job {
    const char *text;
    size_t bytes;
    int number;
} load_job;

static int load_chunk(lua_State *L)
{
    const load_job *job = lua_touserdata(L, 1);
    char name[16];
    snprintf(name, sizeof name, "=#%d", job->number);
    if (luaL_loadbufferx(L, job->text, job->bytes, name, "t") != LUA_OK) return lua_error(L);
    lua_getfield(L, LUA_REGISTRYINDEX, globals_key);
    lua_setupvalue(L, -2, 1);
    return 1;
}

static int on_error(lua_State *L)
{
    tl_sandbox *s = tl_sandbox_of(L);
    lua_Debug ar;
    for (int level = 1; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline > 0 && ar.source[0] == '=' && ar.source[1] == '#') {
            s->chunk = atoi(ar.source + 2);
            s->line = ar.currentline;
            break;
        }
    }
    return 1;
}

int tl_sandbox_call(tl_sandbox *s, int arguments, int results)
{
    lua_State *L = s->L;
    int function = lua_gettop(L) - arguments;
    lua_pushcfunction(L, on_error);
    lua_insert(L, function);
    int status = lua_pcall(L, arguments, results, function);
    lua_remove(L, function);
    return status;
}

int tl_sandbox_load(tl_sandbox *s, const char *text, size_t bytes, int number)
{
    load_job job = {text, bytes, number};
    s->chunk = number;
    s->line = 1;
    lua_pushcfunction(s->L, load_chunk);
    lua_pushlightuserdata(s->L, &job);
    int status = lua_pcall(s->L, 1, 1, 0);
    int chunk, line;
    if (status != LUA_OK && lua_type(s->L, -1) == LUA_TSTRING &&
        sscanf(lua_tostring(s->L, -1), "#%d:%d:", &chunk, &line) == 2)
        s->line = line;
    return status;
}

const char *tl_sandbox_reason(tl_sandbox *s, char *text, size_t room)
{
    const char *message =
        lua_type(s->L, -1) == LUA_TSTRING ? lua_tostring(s->L, -1) : "the script raised an error that is not a text";
    if (s->spent)
        snprintf(text, room, "the script did not end within its %lld units of work (instructions and memory traffic)",
                 (long long)s->given);
    else if (s->long_text)
        snprintf(text, room, "the script made a text longer than %d bytes", (int)TL_SANDBOX_TEXT);
    else if (s->full)
        snprintf(text, room, "the script needs more than %d MB", (int)(TL_SANDBOX_MEMORY >> 20));
    else {
        int used = 0, chunk, line;
        if (sscanf(message, "#%d:%d: %n", &chunk, &line, &used) != 2) used = 0;
        bool deep = strstr(message, "C stack overflow") || strstr(message, "too many C levels") ||
                    strstr(message, "too many registers");
        snprintf(text, room, "%s", deep ? "the text is nested too deeply" : message + used);
    }
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127) *c = '?';
    return text;
}
