/* import { file = "robot.urdf" }: a robot's links and joints as tables of bodies and joints, as a scene has them.
 *
 * The answer has the lists `bodies` and `joints`, the same tables by their names in `body` and `joint`, for scenes that
 * give a joint its motor, and `effort`, the largest forces of the file. Each table knows the line of its element, so
 * that whatever is found wrong later is told with the robot's file and line. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "scene/import.h"
#include "scene/read.h"

static const char imports_key[] = "talus.imports"; /* registry: what import returned -> true */

typedef struct maker {
    tl_reader *r;
    lua_State *L;
    const tl_import *m;
    const char *prefix;
    char folder[PATH_MAX]; /* of the robot's file, below the scene's: "" or "robots/" */
    int source;
} maker;

/* ---- values ---- */

static void set_number(lua_State *L, const char *key, double v)
{
    lua_pushnumber(L, v);
    lua_setfield(L, -2, key);
}

static void set_list(lua_State *L, const char *key, int n, const double *v)
{
    lua_createtable(L, n, 0);
    for (int k = 0; k < n; k++) {
        lua_pushnumber(L, v[k]);
        lua_rawseti(L, -2, k + 1);
    }
    lua_setfield(L, -2, key);
}

static void set_vec3(lua_State *L, const char *key, tl_vec3 v)
{
    const double list[3] = {v.x, v.y, v.z};
    set_list(L, key, 3, list);
}

static void set_rotation(lua_State *L, tl_quat q)
{
    const double list[4] = {q.w, q.x, q.y, q.z};
    set_list(L, "rotation", 4, list);
}

static void set_name(const maker *k, const char *key, const char *name)
{
    lua_pushfstring(k->L, "%s%s", k->prefix, name);
    lua_setfield(k->L, -2, key);
}

/* A table that knows its element. */
static void begin(const maker *k, const tl_xml *e)
{
    luaL_checkstack(k->L, 12, "a robot is too large");
    lua_newtable(k->L);
    tl_read_set_where(k->L, -1, k->source, e->number);
}

/* ---- shapes ---- */

/* The table on top of the stack becomes the shape that the scene's function of this name makes of it. */
static void call_shape(const maker *k, const char *name)
{
    lua_getfield(k->L, LUA_REGISTRYINDEX, "talus.globals");
    lua_getfield(k->L, -1, name);
    lua_remove(k->L, -2);
    lua_insert(k->L, -2);
    lua_call(k->L, 1, 1);
}

static void stretch(const maker *k, tl_vec3 factors)
{
    lua_getfield(k->L, LUA_REGISTRYINDEX, "talus.globals");
    lua_getfield(k->L, -1, "scale");
    lua_remove(k->L, -2);
    lua_insert(k->L, -2);
    lua_newtable(k->L);
    set_vec3(k->L, "v", factors);
    lua_getfield(k->L, -1, "v");
    lua_remove(k->L, -2);
    lua_call(k->L, 2, 1);
}

/* Factors that differ act in the mesh's own frame: it is placed afterwards, inside of a union. */
static void push_mesh(const maker *k, const tl_import_shape *s)
{
    lua_State *L = k->L;
    const bool even = s->size.x == s->size.y && s->size.y == s->size.z;
    lua_pushfstring(L, "%s%s", k->folder, s->file);
    lua_setfield(L, -2, "file");
    if (even) set_number(L, "scale", s->size.x);
    if (even) set_vec3(L, "center", s->pose.at), set_rotation(L, s->pose.rotation);
    call_shape(k, "mesh");
    if (even) return;
    stretch(k, s->size);
    static const char *const moves[] = {"rotate", "move"};
    for (int i = 0; i < 2; i++) {
        lua_getfield(L, LUA_REGISTRYINDEX, "talus.globals");
        lua_getfield(L, -1, moves[i]);
        lua_remove(L, -2);
        lua_insert(L, -2);
        lua_newtable(L);
        if (i == 0) set_rotation(L, s->pose.rotation), lua_getfield(L, -1, "rotation");
        if (i == 1) set_vec3(L, "at", s->pose.at), lua_getfield(L, -1, "at");
        lua_remove(L, -2);
        lua_call(L, 2, 1);
    }
}

static void push_shape(const maker *k, const tl_import_shape *s)
{
    static const char *const names[] = {"box", "sphere", "capsule", "cylinder", "mesh", "half_space"};
    static const tl_quat y_to_z = {0.70710678118654752440, 0.70710678118654752440, 0, 0};
    lua_State *L = k->L;
    begin(k, s->from);
    if (s->kind == TL_IMPORT_MESH) {
        push_mesh(k, s);
        return;
    }
    const tl_vec3 end = tl_quat_rotate(s->pose.rotation, (tl_vec3){0, 0, 0.5 * s->size.z});
    if (s->kind == TL_IMPORT_BOX) set_vec3(L, "size", s->size);
    if (s->kind != TL_IMPORT_BOX && s->kind != TL_IMPORT_PLANE) set_number(L, "radius", s->size.x);
    if (s->kind == TL_IMPORT_CYLINDER) set_number(L, "height", s->size.z);
    if (s->kind == TL_IMPORT_BOX) set_rotation(L, s->pose.rotation);
    if (s->kind == TL_IMPORT_CYLINDER) set_rotation(L, tl_quat_normalize(tl_quat_mul(s->pose.rotation, y_to_z)));
    if (s->kind == TL_IMPORT_CAPSULE) {
        set_vec3(L, "from", tl_vec3_sub(s->pose.at, end));
        set_vec3(L, "to", tl_vec3_add(s->pose.at, end));
    } else if (s->kind == TL_IMPORT_PLANE) {
        set_vec3(L, "normal", tl_quat_rotate(s->pose.rotation, (tl_vec3){0, 0, 1}));
        set_vec3(L, "point", s->pose.at);
    } else {
        set_vec3(L, "center", s->pose.at);
    }
    call_shape(k, names[s->kind]);
}

static void push_shapes(const maker *k, const tl_import_link *l)
{
    if (l->shape_count == 1) {
        push_shape(k, l->shapes);
        return;
    }
    begin(k, l->from);
    int n = 0;
    for (const tl_import_shape *s = l->shapes; s; s = s->next) {
        push_shape(k, s);
        lua_rawseti(k->L, -2, ++n);
    }
    call_shape(k, "union");
}

/* ---- bodies ---- */

static void set_mass(const maker *k, const tl_import_link *l)
{
    const double(*I)[3] = l->inertia.m;
    if (l->still) return;
    if (!(l->mass > 0)) {
        set_number(k->L, "density", l->density);
        return;
    }
    set_number(k->L, "mass", l->mass);
    if (!(tl_mat3_trace(l->inertia) > 0)) return;
    set_vec3(k->L, "center_of_mass", l->centre);
    set_vec3(k->L, "inertia", (tl_vec3){I[0][0], I[1][1], I[2][2]});
    if (I[0][1] != 0 || I[0][2] != 0 || I[1][2] != 0)
        set_vec3(k->L, "inertia_products", (tl_vec3){I[0][1], I[0][2], I[1][2]});
}

static void push_body(const maker *k, const tl_import_link *l)
{
    lua_State *L = k->L;
    begin(k, l->from);
    set_name(k, "name", l->name);
    push_shapes(k, l);
    lua_setfield(L, -2, "shape");
    if (l->still) lua_pushliteral(L, "static"), lua_setfield(L, -2, "kind");
    set_vec3(L, "at", l->pose.at);
    set_rotation(L, l->pose.rotation);
    set_mass(k, l);
    if (l->friction >= 0) set_number(L, "friction", l->friction);
    if (l->rolling > 0) set_number(L, "rolling_friction", l->rolling);
    if (l->spinning > 0) set_number(L, "spinning_friction", l->spinning);
    if (l->colour[3] < 0) return;
    set_list(L, "colour", 3, l->colour);
    set_number(L, "opacity", l->colour[3]);
}

/* ---- joints ---- */

/* The link whose body a joint holds, TL_IMPORT_WORLD: none. */
static int holder(const tl_import *m, int link) { return link < 0 ? TL_IMPORT_WORLD : m->link[link].stands; }

static bool is_there(const tl_import *m, const tl_import_joint *j, int a, int b)
{
    const bool still_a = a < 0 || m->link[a].still, still_b = b < 0 || m->link[b].still;
    const bool tree = m->link[j->a].joint == j - m->joint;
    return !j->dropped && a != b && !(still_a && still_b) && !(tree && m->link[j->a].hold == TL_IMPORT_FREE);
}

static void set_motor(const maker *k, const tl_import_joint *j)
{
    lua_State *L = k->L;
    if (j->motor == TL_MOTOR_NONE) return;
    begin(k, j->from);
    set_number(L, j->motor == TL_MOTOR_FORCE ? "force" : "position", j->motor == TL_MOTOR_FORCE ? 0 : j->target);
    if (j->motor == TL_MOTOR_POSITION) {
        if (j->stiffness > 0) set_number(L, "stiffness", j->stiffness);
        set_number(L, "damping", j->damping);
        if (j->max > 0) set_number(L, "max", j->max);
    }
    lua_setfield(L, -2, "motor");
}

static void set_gear(const maker *k, const tl_import_joint *g)
{
    const tl_import *m = k->m;
    static const char *const keys[] = {"axis", "axis_b"};
    for (int i = 0; i < 2; i++) {
        const tl_import_joint *j = &m->joint[g->geared[i]];
        set_vec3(k->L, keys[i], tl_quat_rotate(m->link[j->a].pose.rotation, j->axis));
    }
    set_number(k->L, "ratio", g->ratio);
}

static void set_place(const maker *k, const tl_import_joint *j)
{
    lua_State *L = k->L;
    const tl_pose *pose = &k->m->link[j->a].pose;
    const double limits[2] = {j->limits[0] - j->start, j->limits[1] - j->start};
    set_vec3(L, "at", tl_pose_apply(pose, j->at));
    if (tl_vec3_norm(j->axis) > 0 && j->kind != TL_JOINT_BALL && j->kind != TL_JOINT_FIXED)
        set_vec3(L, "axis", tl_quat_rotate(pose->rotation, j->axis));
    if (j->kind == TL_JOINT_UNIVERSAL) set_vec3(L, "axis_b", tl_quat_rotate(pose->rotation, j->axis_b));
    if (j->limited) set_list(L, "limits", 2, limits);
    if (j->friction > 0) set_number(L, "friction", j->friction);
}

static bool push_joint(const maker *k, const tl_import_joint *j)
{
    static const char *const kinds[] = {"fixed",  "ball", "hinge", "slider", "cylinder", "universal",
                                        "planar", "",     "",      "",       "gear"}; /* by tl_joint_kind */
    int a = holder(k->m, j->a), b = holder(k->m, j->b);
    if (!is_there(k->m, j, a, b)) return false;
    if (a < 0) a = b, b = TL_IMPORT_WORLD; /* a loop that ends in the world */
    begin(k, j->from);
    set_name(k, "name", j->name);
    lua_pushstring(k->L, kinds[j->kind]);
    lua_setfield(k->L, -2, "kind");
    set_name(k, "a", k->m->link[a].name);
    if (b >= 0) set_name(k, "b", k->m->link[b].name);
    if (j->kind == TL_JOINT_GEAR)
        set_gear(k, j);
    else
        set_place(k, j);
    set_motor(k, j);
    return true;
}

/* ---- the answer ---- */

/* The table on top of the stack goes to the end of answer[list] and to answer[by_name][name]; it is popped. */
static void keep(lua_State *L, int answer, const char *list, const char *by_name, const char *name)
{
    lua_getfield(L, answer, list);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    lua_pop(L, 1);
    lua_getfield(L, answer, by_name);
    lua_insert(L, -2);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

static int push_answer(lua_State *L)
{
    static const char *const parts[] = {"bodies", "joints", "body", "joint", "effort"};
    lua_newtable(L);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        lua_newtable(L);
        lua_setfield(L, -2, parts[i]);
    }
    luaL_getsubtable(L, LUA_REGISTRYINDEX, imports_key);
    lua_pushvalue(L, -2);
    lua_pushboolean(L, 1);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    return lua_gettop(L);
}

static void make_tables(const maker *k, int answer)
{
    lua_State *L = k->L;
    for (int i = 0; i < k->m->link_count; i++) {
        const tl_import_link *l = &k->m->link[i];
        if (l->stands != i || !l->shape_count) continue;
        push_body(k, l);
        keep(L, answer, "bodies", "body", l->name);
    }
    for (int i = 0; i < k->m->joint_count; i++) {
        const tl_import_joint *j = &k->m->joint[i];
        if (!push_joint(k, j)) continue;
        keep(L, answer, "joints", "joint", j->name);
        if (!(j->effort > 0)) continue;
        lua_getfield(L, answer, "effort");
        set_number(L, j->name, j->effort);
        lua_pop(L, 1);
    }
}

/* Lines of all elements, by their numbers. */
static void keep_lines(const tl_xml *e, tl_source *s)
{
    s->tables[e->number] = (tl_source_table){e->line, -1, -1};
    for (const tl_xml *c = e->child; c; c = c->next) keep_lines(c, s); /* at most TL_XML_DEPTH deep */
}

static int add_source(tl_reader *r, const tl_import *m, const char *file, size_t bytes)
{
    const int number = tl_reader_add_source(r, file, r->held, bytes);
    if (number < 0) return -1;
    tl_source *s = &r->sources[number];
    s->tables = TL_NEW_ZERO(tl_source_table, m->elements);
    if (!s->tables) tl_reader_starved(r);
    s->table_count = m->elements;
    keep_lines(m->root, s);
    return number;
}

/* Where the file is, as messages and meshes say it: beside the scene. */
static void name_file(const tl_reader *r, const char *name, char *shown, char *folder)
{
    char scene[PATH_MAX];
    tl_build_folder(r->scene->file, scene, sizeof scene);
    if (snprintf(shown, PATH_MAX, "%s/%s", scene, name) >= PATH_MAX) shown[PATH_MAX - 1] = 0;
    const char *slash = strrchr(name, '/');
    snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - name) + 1 : 0, name);
}

static bool read_robot(tl_reader *r, tl_import *m, const tl_import_args *a, const char *shown, size_t *bytes)
{
    char path[PATH_MAX];
    talus_error err = {0};
    talus_status status = tl_build_find_file(r, a->file, NULL, path, &err);
    if (status == TALUS_OK) status = tl_file_read(path, &r->held, bytes, &err);
    if (status == TALUS_NO_MEMORY) tl_reader_starved(r);
    if (status != TALUS_OK) {
        tl_read_problem(r, a->where, "import: %s", err.message);
        return false;
    }
    tl_sandbox_charge(r->L, (int64_t)*bytes / 4 + 1000);
    status = tl_import_read(m, r->held, *bytes, &err);
    if (status == TALUS_NO_MEMORY) tl_reader_starved(r);
    if (status == TALUS_OK) return true;
    tl_read_problem(r, (tl_where){tl_reader_text(r, shown), m->line}, "%s", err.message);
    return false;
}

int tl_import_call(lua_State *L)
{
    static const tl_quat z_to_y = {0.70710678118654752440, -0.70710678118654752440, 0, 0};
    tl_reader *r = tl_build_reader(L);
    tl_where where = tl_build_caller(L, r);
    tl_import_args a = {.where = where, .rotation = {1, 0, 0, 0}};
    lua_settop(L, 1);
    const bool good = tl_read_table(r, tl_schema_find("import"), 1, &a, "import", where);
    const int answer = push_answer(L);
    if (!good) return 1;
    tl_arena_reset(&r->imports);
    tl_import m = {.arena = &r->imports, .density = a.density, .fixed_base = a.fixed_base};
    m.pose = (tl_pose){a.at, tl_quat_normalize(a.up == 0 ? tl_quat_mul(a.rotation, z_to_y) : a.rotation)};
    maker k = {.r = r, .L = L, .m = &m, .prefix = a.prefix};
    char shown[PATH_MAX];
    size_t bytes = 0;
    name_file(r, a.file, shown, k.folder);
    if (!read_robot(r, &m, &a, shown, &bytes)) return 1;
    k.source = add_source(r, &m, shown, bytes);
    if (k.source < 0) return 1;
    for (int i = 0; i < m.note_count; i++)
        tl_read_note(r, (tl_where){r->sources[k.source].file, m.note[i].line}, "%s", m.note[i].text);
    make_tables(&k, answer);
    lua_settop(L, answer);
    return 1;
}

/* ---- scene { import { ... }, ... } ---- */

static bool is_import(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, imports_key);
    lua_pushvalue(L, index);
    const bool is = lua_rawget(L, -2) == LUA_TBOOLEAN;
    lua_pop(L, 2);
    return is;
}

/* scene[key] becomes a list of what it had and of all entries of the list on top of the stack, which is popped. */
static void append(lua_State *L, int scene, const char *key)
{
    const int from = lua_gettop(L);
    lua_newtable(L);
    lua_getfield(L, scene, key);
    lua_Integer n = 0;
    for (int part = 0; part < 2; part++) {
        const int list = part ? from : from + 2;
        if (!lua_istable(L, list)) continue;
        if (!part) tl_read_keep_where(L, from + 1, list);
        const lua_Integer count = (lua_Integer)lua_rawlen(L, list);
        tl_sandbox_charge(L, 2 * count);
        for (lua_Integer i = 1; i <= count; i++) {
            lua_rawgeti(L, list, i);
            lua_rawseti(L, from + 1, ++n);
        }
    }
    lua_settop(L, from + 1);
    lua_setfield(L, scene, key);
    lua_settop(L, from - 1);
}

void tl_import_merge(lua_State *L, int scene_table)
{
    const lua_Integer n = (lua_Integer)lua_rawlen(L, scene_table);
    static const char *const keys[] = {"bodies", "joints"};
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, scene_table, i);
        if (lua_istable(L, -1) && is_import(L, -1)) {
            for (int k = 0; k < 2; k++) {
                lua_getfield(L, -1, keys[k]);
                append(L, scene_table, keys[k]);
            }
            lua_pushnil(L);
            lua_rawseti(L, scene_table, i);
        }
        lua_pop(L, 1);
    }
}
