#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "scene/read.h"

#define CALL_UNITS 200000    /* of one call: about 5 ms */
#define CHECK_UNITS 40000000 /* of all calls of a purity check together */
#define ENTRY_UNITS 100      /* of starting a call */
#define FAILURE_UNITS 1000   /* of telling that one is wrong */
#define CHECK_TIMES 16

int tl_function_add(tl_reader *r, const tl_key *key, int index, int count, const char *path, tl_where where)
{
    tl_scene_lua *f = r->scene->lua;
    if (f->count == f->room) {
        int room = f->room ? 2 * f->room : 16;
        tl_function *fresh = tl_realloc(f->functions, (size_t)room * sizeof *fresh);
        if (!fresh) tl_reader_starved(r);
        f->functions = fresh;
        f->room = room;
    }
    lua_pushvalue(r->L, index);
    lua_Debug ar;
    lua_pushvalue(r->L, -1);
    lua_getinfo(r->L, ">S", &ar);
    int file;
    if (sscanf(ar.source, "=#%d", &file) == 1 && file < r->source_count)
        where = (tl_where){r->sources[file].file, ar.linedefined};
    tl_function made = {
        .count = count, .key = key, .path = tl_reader_text(r, path), .where = where, .rest = {0, 0, 0, 1, 0, 0, 0}};
    made.reference = luaL_ref(r->L, LUA_REGISTRYINDEX);
    f->functions[f->count] = made;
    r->scene->function_count = f->count + 1;
    return f->count++;
}

/* ---- one call ---- */

typedef struct pose {
    tl_vec3 at;
    tl_quat rotation;
} pose;

#define FREE                                                                                                           \
    {                                                                                                                  \
        -1e15, 1e15, false                                                                                             \
    }
static const tl_key pose_keys[] = {
    {"at", TL_VEC3, offsetof(pose, at), "m", FREE, "{0, 0, 0}", "", NULL, NULL, 0, 0, false},
    {"rotation", TL_ROTATION, offsetof(pose, rotation), "", FREE, "{1, 0, 0, 0}", "", NULL, NULL, 0, 0, false},
    {"rotation_deg", TL_ANGLES_DEG, offsetof(pose, rotation), "degrees", FREE, "", "", NULL, NULL, 0, 0, true},
    {"rotation_rad", TL_ANGLES_RAD, offsetof(pose, rotation), "rad", FREE, "", "", NULL, NULL, 0, 0, true},
};
static const tl_context pose_context = {"pose", "a pose", "", NULL, pose_keys, 4, sizeof(pose), NULL, false};

typedef struct call {
    tl_reader *reader;
    const tl_function *function;
    double t, value[7];
    char path[TL_PATH_MAX];
} call;

static bool given(lua_State *L, const char *key)
{
    lua_pushstring(L, key);
    lua_rawget(L, -2);
    bool there = !lua_isnil(L, -1);
    lua_pop(L, 1);
    return there;
}

/* Keys that are not there keep the value at rest. */
static void read_pose(call *c, lua_State *L)
{
    pose p;
    bool table = lua_type(L, -1) == LUA_TTABLE;
    if (!tl_read_table(c->reader, &pose_context, -1, &p, c->path, c->function->where) || !table) return;
    memcpy(c->value, c->function->rest, sizeof c->value);
    if (given(L, "at")) tl_vec3_store(p.at, c->value);
    if (given(L, "rotation") || given(L, "rotation_deg") || given(L, "rotation_rad")) {
        double q[4] = {p.rotation.w, p.rotation.x, p.rotation.y, p.rotation.z};
        memcpy(c->value + 3, q, sizeof q);
    }
}

static int run_call(lua_State *L)
{
    call *c = lua_touserdata(L, 1);
    const tl_function *f = c->function;
    lua_rawgeti(L, LUA_REGISTRYINDEX, f->reference);
    lua_pushnumber(L, c->t);
    lua_call(L, 1, 1);
    tl_key plain = *f->key;
    if (f->count == 7) {
        read_pose(c, L);
    } else if (f->count == 3) {
        tl_vec3 v = {0, 0, 0};
        plain.type = TL_VEC3;
        tl_read_value(c->reader, &plain, -1, &v, c->path, f->where);
        tl_vec3_store(v, c->value);
    } else {
        plain.type = TL_NUMBER;
        tl_read_value(c->reader, &plain, -1, c->value, c->path, f->where);
    }
    return 0;
}

/* The place is told apart from the message: a problem list has a field for it. */
static talus_status evaluate(const tl_scene *s, int function, double t, double *value, tl_where *where,
                             talus_error *err)
{
    const tl_function *f = &s->lua->functions[function];
    tl_sandbox *box = s->lua->box;
    lua_State *L = box->L;
    tl_scene nothing = {.shapes = NULL}; /* texts of messages, should one be kept */
    tl_problem problem[4];
    tl_reader r = {
        .box = box, .L = L, .scene = &nothing, .problems = problem, .problem_room = 4, .err = err, .where = f->where};
    call c = {.reader = &r, .function = f, .t = t};
    snprintf(c.path, sizeof c.path, "%.100s(%.10g)", f->path, t);

    void *user = box->user;
    box->user = &r;
    *where = f->where;
    int top = lua_gettop(L);
    lua_pushcfunction(L, run_call);
    lua_pushlightuserdata(L, &c);
    int status = tl_sandbox_call(box, 1, 0);
    box->user = user;
    tl_arena_free(&nothing.arena);

    talus_status result = TALUS_OK;
    if (r.status != TALUS_OK ||
        (status == LUA_ERRMEM && box->starved && !box->spent && !box->full && !box->long_text)) {
        result = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %s", c.path);
    } else if (status != LUA_OK) {
        char reason[300];
        result = TL_FAIL(err, TALUS_BAD_INPUT, "%s: %s", c.path, tl_sandbox_reason(box, reason, sizeof reason));
    } else if (r.problem_count) {
        result = TL_FAIL(err, TALUS_BAD_INPUT, "%s", problem[0].text);
    } else {
        memcpy(value, c.value, (size_t)f->count * sizeof *value);
    }
    lua_settop(L, top);
    return result;
}

talus_status tl_scene_evaluate(const tl_scene *s, int function, double t, double *out, int count, talus_error *err)
{
    if (function < 0 || function >= s->function_count)
        return TL_FAIL(err, TALUS_BAD_INPUT, "the scene has %d functions of time, there is no number %d",
                       s->function_count, function);
    const tl_function *f = &s->lua->functions[function];
    if (count != f->count)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%s gives %d numbers, %d were asked for", f->path, f->count, count);
    talus_error why;
    tl_where where;
    pthread_mutex_lock(&s->lua->one);
    tl_sandbox_allow(s->lua->box, CALL_UNITS);
    talus_status status = evaluate(s, function, t, out, &where, &why);
    pthread_mutex_unlock(&s->lua->one);
    if (status == TALUS_OK) return status;
    return TL_FAIL(err, status, "%s:%d: %.400s", where.file, where.line, why.message);
}

talus_status tl_scene_timed(const tl_scene *s, const tl_timed *v, double t, double *out, int count, talus_error *err)
{
    if (v->function >= 0) return tl_scene_evaluate(s, v->function, t, out, count, err);
    memcpy(out, v->value, (size_t)count * sizeof *out);
    return TALUS_OK;
}

/* ---- purity ---- */

/* Times over the whole duration, none of them a round number of frames; the second order visits them scattered. */
static double check_time(const tl_scene *s, int i) { return s->duration * (i + 0.37 * (i % 3)) / CHECK_TIMES; }

static void check_one(tl_reader *r, int function, int64_t *units)
{
    const tl_scene *s = r->scene;
    const tl_function *f = &s->lua->functions[function];
    double first[CHECK_TIMES][7], again[7];
    talus_error err;
    tl_where where;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < CHECK_TIMES; k++) {
            int i = pass ? (7 * k + 5) % CHECK_TIMES : k;
            double t = check_time(s, i);
            tl_sandbox_allow(s->lua->box, CALL_UNITS);
            talus_status status = evaluate(s, function, t, pass ? again : first[i], &where, &err);
            *units -= ENTRY_UNITS + CALL_UNITS - s->lua->box->budget;
            if (status == TALUS_NO_MEMORY) tl_reader_starved(r);
            if (status != TALUS_OK) {
                tl_read_failure(r, where, "%s", err.message);
                *units -= FAILURE_UNITS;
                return;
            }
            if (pass && memcmp(again, first[i], (size_t)f->count * sizeof *again)) {
                tl_read_failure(r, where,
                                "%s(%.10g) must depend on the time only, but gave another answer when asked again",
                                f->path, t);
                *units -= FAILURE_UNITS;
                return;
            }
        }
}

void tl_functions_check(tl_reader *r)
{
    int64_t units = CHECK_UNITS;
    for (int i = 0; i < r->scene->function_count && units > 0; i++) check_one(r, i, &units);
    if (units <= 0)
        tl_read_failure(
            r, r->scene->lua->functions[0].where,
            "the scene's %d functions of time take too long: more than %d units of work for %d calls of each",
            r->scene->function_count, CHECK_UNITS, 2 * CHECK_TIMES);
}
