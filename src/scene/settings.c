/* --set key=value: parameters that a scene declares, and any key of its tables. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "scene/read.h"

static tl_where setting_place(tl_reader *r, const tl_setting *s)
{
    char text[256];
    snprintf(text, sizeof text, "--set %s", s->text);
    return (tl_where){tl_reader_text(r, text), 0};
}

/* Numbers, true, false, {a, b, c} of these; anything else is a text. Pushed. */
static void push_word(lua_State *L, const char *text, size_t n)
{
    char word[512], *end;
    while (n && isspace((unsigned char)*text)) text++, n--;
    while (n && isspace((unsigned char)text[n - 1])) n--;
    snprintf(word, sizeof word, "%.*s", (int)(n < 500 ? n : 500), text);
    double v = strtod(word, &end);
    if (!strcmp(word, "true") || !strcmp(word, "false"))
        lua_pushboolean(L, word[0] == 't');
    else if (*word && !*end && v > -1e15 && v < 1e15 && v == (double)(lua_Integer)v)
        lua_pushinteger(L, (lua_Integer)v);
    else if (*word && !*end)
        lua_pushnumber(L, v);
    else
        lua_pushstring(L, word);
}

static void push_value(lua_State *L, const char *text, bool as_text)
{
    size_t n = strlen(text);
    if (as_text) {
        lua_pushstring(L, text);
    } else if (n >= 2 && text[0] == '{' && text[n - 1] == '}') {
        lua_newtable(L);
        int count = 0;
        for (const char *c = text + 1; c < text + n - 1;) {
            size_t length = strcspn(c, ",}");
            push_word(L, c, length);
            lua_rawseti(L, -2, ++count);
            c += length + 1;
        }
    } else {
        push_word(L, text, n);
    }
}

/* ---- parameters ---- */

int tl_settings_params(lua_State *L)
{
    tl_sandbox *box = tl_sandbox_of(L);
    if (!box->loading || !box->user) return luaL_error(L, "a function of time cannot declare parameters");
    tl_reader *r = box->user;
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, "talus.params"); /* names, for messages */
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) return luaL_error(L, "params takes names: params { height = 0.3 }");
        lua_pushvalue(L, -2);
        lua_pushboolean(L, 1);
        lua_rawset(L, 2);
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, 3);
    }
    for (int i = 0; i < r->setting_count; i++) {
        tl_setting *s = &r->settings[i];
        const char *equals = strchr(s->text, '=');
        if (!equals) continue;
        lua_pushlstring(L, s->text, (size_t)(equals - s->text));
        int type = lua_rawget(L, 1);
        if (type == LUA_TNIL) {
            lua_pop(L, 1);
            continue;
        }
        s->used = true;
        push_value(L, equals + 1, type == LUA_TSTRING);
        if (lua_type(L, -1) != type || (type == LUA_TTABLE && lua_rawlen(L, -1) != lua_rawlen(L, -2))) {
            char want[96], got[96];
            tl_read_problem(r, setting_place(r, s), "the parameter %.*s must be like its default, %s, got %s",
                            (int)(equals - s->text), s->text, tl_read_describe(L, -2, want, sizeof want),
                            tl_read_describe(L, -1, got, sizeof got));
            lua_pop(L, 2);
            continue;
        }
        lua_pushlstring(L, s->text, (size_t)(equals - s->text));
        lua_insert(L, -2);
        lua_rawset(L, 3);
        lua_pop(L, 1);
    }
    lua_settop(L, 3);
    return 1;
}

/* ---- keys ---- */

/* The next part of a path: a name, or an index in brackets (index >= 1). False at a mistake. */
static bool next_part(const char **path, char *name, size_t room, int *index)
{
    const char *c = *path;
    *index = 0;
    if (*c == '[') {
        char *end;
        long v = strtol(c + 1, &end, 10);
        if (*end != ']' || v < 1 || v > TL_LIST_MAX) return false;
        *index = (int)v;
        c = end + 1;
    } else {
        size_t n = 0;
        while (isalnum((unsigned char)c[n]) || c[n] == '_' || c[n] == ' ' || c[n] == '-') n++;
        if (!n || n >= room) return false;
        memcpy(name, c, n);
        name[n] = 0;
        c += n;
    }
    if (*c == '.') {
        c++;
        if (!*c) return false;
    } else if (*c && *c != '[') {
        return false;
    }
    *path = c;
    return true;
}

static void unknown_name(tl_reader *r, const tl_setting *s, const tl_context *c, const char *name, bool first)
{
    lua_State *L = r->L;
    const char *names[256] = {0};
    int n = 0;
    luaL_getsubtable(L, LUA_REGISTRYINDEX, "talus.params");
    if (first) {
        for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
            if (n < 128) names[n++] = lua_tostring(L, -2);
    }
    for (int i = 0; i < c->key_count; i++) names[n++] = c->keys[i].name;
    const char *near = tl_text_nearest(name, names);
    tl_read_problem(r, setting_place(r, s), "'%s' is not a key of %s%s%s%s%s", name, c->article,
                    first ? ", nor a parameter of it" : "", near ? "; did you mean '" : "", near ? near : "",
                    near ? "'?" : "");
    lua_pop(L, 1);
}

/* The item of a list by index or by its name. Pushed; nil after a problem. */
static void push_item(tl_reader *r, const tl_setting *s, int list, const char *name, int index)
{
    lua_State *L = r->L;
    int n = (int)lua_rawlen(L, list);
    for (int i = 1; !index && i <= n; i++) {
        if (lua_rawgeti(L, list, i) == LUA_TTABLE) {
            lua_pushliteral(L, "name");
            if (lua_rawget(L, -2) == LUA_TSTRING && !strcmp(lua_tostring(L, -1), name)) index = i;
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
    if (index >= 1 && index <= n) {
        lua_rawgeti(L, list, index);
        return;
    }
    if (index)
        tl_read_problem(r, setting_place(r, s), "the list has %d entries, there is no [%d]", n, index);
    else
        tl_read_problem(r, setting_place(r, s), "no entry of the list is named '%s'", name);
    lua_pushnil(L);
}

static void set_last(tl_reader *r, tl_setting *s, const tl_key *key, const char *name, const char *value)
{
    bool text = key->type == TL_TEXT || key->type == TL_CHOICE || key->type == TL_WORD ||
                (key->type == TL_COLOUR && *value == '#');
    lua_pushstring(r->L, name);
    push_value(r->L, value, text);
    lua_rawset(r->L, -3);
    s->table = lua_topointer(r->L, -1);
    snprintf(s->key, sizeof s->key, "%s", name);
}

/* Walk down from the table on top of the stack and set the value. */
static void apply_one(tl_reader *r, tl_setting *s, const char *path, const char *value)
{
    static const char *const kinds[] = {"granular", "liquid", "viscous", "elastic", "solid"};
    lua_State *L = r->L;
    const tl_context *c = tl_schema_find("scene");
    char name[64];
    int index;
    bool first = true;
    while (next_part(&path, name, sizeof name, &index)) {
        const tl_key *key = index ? NULL : tl_schema_key(c, name);
        if (!key) {
            if (index)
                tl_read_problem(r, setting_place(r, s), "[%d] does not follow a list", index);
            else
                unknown_name(r, s, c, name, first);
            return;
        }
        first = false;
        if (!*path) {
            if (key->type == TL_TABLE || key->type == TL_LIST || key->type == TL_SHAPE || key->type == TL_MATERIAL ||
                key->type == TL_POSE)
                tl_read_problem(r, setting_place(r, s), "%s is not a single value; name one inside of it", name);
            else
                set_last(r, s, key, name, value);
            return;
        }
        lua_pushstring(L, name);
        lua_rawget(L, -2);
        if (key->type == TL_TABLE) {
            if (lua_isnil(L, -1)) {
                lua_pop(L, 1);
                lua_newtable(L);
                lua_pushstring(L, name);
                lua_pushvalue(L, -2);
                lua_rawset(L, -4);
            }
            c = key->inside;
        } else if (key->type == TL_LIST && lua_istable(L, -1)) {
            if (!next_part(&path, name, sizeof name, &index)) break;
            push_item(r, s, lua_gettop(L), name, index);
            if (lua_isnil(L, -1)) return;
            c = key->inside;
        } else if (key->type == TL_MATERIAL && tl_build_material_of(L, -1) >= 0) {
            int material = tl_build_material_of(L, -1);
            lua_getiuservalue(L, -1, 1);
            if (!lua_istable(L, -1)) {
                tl_read_problem(r, setting_place(r, s),
                                "a preset cannot be changed; write the material out in the scene");
                return;
            }
            c = tl_schema_find(kinds[r->materials[material].kind]);
            const tl_key *last = tl_schema_key(c, path);
            if (!last) {
                unknown_name(r, s, c, path, false);
                return;
            }
            set_last(r, s, last, path, value);
            tl_read_table(r, c, -1, &r->materials[material], c->name, r->materials[material].where);
            return;
        } else if ((key->type == TL_VEC3 || key->type == TL_INTEGER3 || key->type == TL_BOOLEAN3) &&
                   lua_istable(L, -1)) {
            if (!next_part(&path, name, sizeof name, &index) || *path || index < 1 || index > 3) break;
            lua_newtable(L); /* a copy: other bodies may share the vector */
            for (int i = 1; i <= 3; i++) {
                lua_rawgeti(L, -2, i);
                lua_rawseti(L, -2, i);
            }
            tl_read_keep_where(L, -1, -2);
            lua_pushstring(L, key->name);
            lua_pushvalue(L, -2);
            lua_rawset(L, -5);
            push_value(L, value, false);
            lua_rawseti(L, -2, index);
            s->table = lua_topointer(L, -1);
            s->index = index;
            return;
        } else {
            break;
        }
        if (!lua_istable(L, -1)) {
            tl_read_problem(r, setting_place(r, s), "%s is not a table", name);
            return;
        }
    }
    tl_read_problem(r, setting_place(r, s),
                    "cannot follow this key; write it as in grid.cell, bodies[2].density or bodies.board.density");
}

void tl_settings_unused(tl_reader *r)
{
    lua_State *L = r->L;
    for (int i = 0; i < r->setting_count; i++) {
        const tl_setting *s = &r->settings[i];
        if (s->used) continue;
        char name[64];
        const char *names[129] = {0};
        int n = 0;
        luaL_getsubtable(L, LUA_REGISTRYINDEX, "talus.params");
        for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
            if (n < 128) names[n++] = lua_tostring(L, -2);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(s->text, "="), s->text);
        const char *near = tl_text_nearest(name, names);
        tl_read_problem(r, setting_place(r, s), "'%s' is not a parameter of the shape%s%s%s", name,
                        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        lua_pop(L, 1);
    }
}

void tl_settings_apply(tl_reader *r, int scene_table)
{
    lua_State *L = r->L;
    for (int i = 0; i < r->setting_count; i++) {
        tl_setting *s = &r->settings[i];
        if (s->used) continue;
        const char *equals = strchr(s->text, '=');
        char path[256];
        if (!equals || equals == s->text || (size_t)(equals - s->text) >= sizeof path) {
            tl_read_problem(r, setting_place(r, s), "must be key=value");
            continue;
        }
        snprintf(path, sizeof path, "%.*s", (int)(equals - s->text), s->text);
        int top = lua_gettop(L);
        luaL_checkstack(L, 40, "too many tables inside each other");
        lua_pushvalue(L, scene_table);
        apply_one(r, s, path, equals + 1);
        lua_settop(L, top);
    }
}
