/* What a scene can call: shapes, materials, helpers. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/text.h"
#include "geom/mesh_distance.h"
#include "geom/tetmesh.h"
#include "scene/read.h"

#define SHAPE_TYPE "talus.shape"
#define MATERIAL_TYPE "talus.material"

typedef struct shape_object {
    int node; /* -1: its constructor found a problem */
} shape_object;
typedef struct material_object {
    int index;
} material_object;

int tl_build_shape_of(lua_State *L, int index)
{
    const shape_object *s = luaL_testudata(L, index, SHAPE_TYPE);
    return s ? s->node : -2;
}

int tl_build_material_of(lua_State *L, int index)
{
    const material_object *m = luaL_testudata(L, index, MATERIAL_TYPE);
    return m ? m->index : -2;
}

tl_reader *tl_build_reader(lua_State *L)
{
    tl_sandbox *box = tl_sandbox_of(L);
    if (!box->loading || !box->user) luaL_error(L, "a function of time cannot make shapes, materials or bodies");
    return box->user;
}

/* The line of the script that called us. */
tl_where tl_build_caller(lua_State *L, tl_reader *r)
{
    lua_Debug ar;
    for (int level = 1; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        int file;
        if (ar.currentline > 0 && sscanf(ar.source, "=#%d", &file) == 1 && file < r->source_count)
            return (tl_where){r->sources[file].file, ar.currentline};
    }
    return r->where;
}

/* ---- shapes ---- */

static int push_shape(lua_State *L, int node)
{
    shape_object *s = lua_newuserdatauv(L, sizeof *s, 0);
    s->node = node;
    luaL_setmetatable(L, SHAPE_TYPE);
    return 1;
}

static tl_node_cost cost_of(const tl_reader *r, int node) { return r->costs[node]; }

/* Keep what a new node costs; -1 after a problem when it is too much. */
static int keep_cost(tl_reader *r, int node, tl_node_cost cost, const char *name, tl_where where)
{
    tl_sandbox_charge(r->L, 100); /* a shape costs about 5 us */
    if (node >= TL_SHAPE_NODES_MAX) luaL_error(r->L, "a scene can make at most %d shapes", TL_SHAPE_NODES_MAX);
    if (node >= r->cost_room) {
        int room = 2 * node + 64;
        tl_node_cost *fresh = tl_realloc(r->costs, (size_t)room * sizeof *fresh);
        if (!fresh) tl_reader_starved(r);
        r->costs = fresh;
        r->cost_room = room;
    }
    r->costs[node] = cost;
    if (cost.cost > TL_SHAPE_COST_MAX)
        tl_read_problem(r, where, "%s visits %.0f primitives for each point, at most %d are allowed", name, cost.cost,
                        TL_SHAPE_COST_MAX);
    else if (cost.depth > TL_SHAPE_DEPTH_MAX)
        tl_read_problem(r, where, "%s has more than %d shapes inside each other", name, TL_SHAPE_DEPTH_MAX);
    else
        return node;
    return -1;
}

/* A maker's answer: its number, or -1 after a problem. */
static int made(tl_reader *r, int node, tl_node_cost cost, const talus_error *err, const char *name, tl_where where)
{
    if (node >= 0) return keep_cost(r, node, cost, name, where);
    if (err->status == TALUS_NO_MEMORY) tl_reader_starved(r);
    if (!strncmp(err->message, name, strlen(name)))
        tl_read_problem(r, where, "%s", err->message);
    else
        tl_read_problem(r, where, "%s: %s", name, err->message);
    return -1;
}

static tl_node_cost above(tl_node_cost a, double times) { return (tl_node_cost){times * a.cost, a.depth + 1}; }

static void add_paint(tl_reader *r, tl_paint paint)
{
    if (r->paint_count >= TL_SCENE_PAINTS_MAX)
        luaL_error(r->L, "a scene can paint at most %d shapes", TL_SCENE_PAINTS_MAX);
    if (r->paint_count == r->paint_room) {
        int room = r->paint_room ? 2 * r->paint_room : 16;
        tl_paint *fresh = tl_realloc(r->paints, (size_t)room * sizeof *fresh);
        if (!fresh) tl_reader_starved(r);
        r->paints = fresh;
        r->paint_room = room;
    }
    r->paints[r->paint_count++] = paint;
}

/* All paint is looked through for that of so many parts: about 1 ns each. */
static void charge_paint(tl_reader *r, int parts) { tl_sandbox_charge(r->L, (int64_t)r->paint_count * parts / 32); }

/* One way of moving a shape; its paint moves with it. */
typedef struct transform {
    tl_vec3 at;
    tl_quat q;
    tl_vec3 scale;
    int mirror; /* axis, or -1 */
} transform;

static int apply(tl_reader *r, int node, const transform *t, const char *name, tl_where where)
{
    talus_error err = {0};
    tl_shape_tree *shapes = r->scene->shapes;
    const double rotation[4] = {t->q.w, t->q.x, t->q.y, t->q.z};
    bool even = t->scale.x == t->scale.y && t->scale.y == t->scale.z;
    int to = t->mirror >= 0 ? tl_shape_mirror(shapes, node, t->mirror, &err)
             : even         ? tl_shape_place(shapes, node, t->at, rotation, t->scale.x, &err)
                            : tl_shape_stretch(shapes, node, t->scale, &err);
    return made(r, to, above(cost_of(r, node), t->mirror >= 0 ? 2 : 1), &err, name, where);
}

static int apply_painted(tl_reader *r, int node, const transform *t, const char *name, tl_where where)
{
    int to = apply(r, node, t, name, where), count = r->paint_count;
    charge_paint(r, 1);
    for (int i = 0; i < count && to >= 0; i++) {
        tl_paint p = r->paints[i];
        if (p.node != node) continue;
        if (p.region >= 0) p.region = apply(r, p.region, t, name, where);
        p.node = p.region == -1 && r->paints[i].region >= 0 ? -1 : to;
        if (p.node >= 0) add_paint(r, p);
    }
    return to;
}

static int place(tl_reader *r, int node, tl_vec3 at, tl_quat q, double scale, const char *name, tl_where where)
{
    bool moved = at.x != 0 || at.y != 0 || at.z != 0 || q.x != 0 || q.y != 0 || q.z != 0 || scale != 1;
    if (node < 0 || !moved) return node;
    return apply_painted(r, node, &(transform){at, q, {scale, scale, scale}, -1}, name, where);
}

static int make_mesh(tl_reader *r, const tl_shape_args *a, talus_error *err);
static int make_sheet(tl_reader *r, const tl_shape_args *a, talus_error *err);

typedef int maker_fn(tl_reader *r, const tl_shape_args *a, talus_error *err);

static int make_box(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    return tl_shape_box(r->scene->shapes, a->size, a->round, err);
}
static int make_sphere(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    return tl_shape_sphere(r->scene->shapes, a->radius, err);
}
static int make_hemisphere(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    return tl_shape_hemisphere(r->scene->shapes, a->radius, err);
}
static int make_ellipsoid(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    return tl_shape_ellipsoid(r->scene->shapes, a->radii, err);
}
static int make_cylinder(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    return tl_shape_cylinder(r->scene->shapes, a->radius, a->height, a->round, err);
}
static int make_capsule(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    return tl_shape_capsule(r->scene->shapes, a->from, a->to, a->radius, a->radius_to > 0 ? a->radius_to : a->radius,
                            err);
}
static int make_cone(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    return tl_shape_cone(r->scene->shapes, a->radius, a->radius_top, a->height, err);
}
static int make_torus(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    if (a->tube < a->radius) return tl_shape_torus(r->scene->shapes, a->radius, a->tube, err);
    TL_FAIL(err, TALUS_BAD_INPUT, "tube must be < radius = %g m, got %g", a->radius, a->tube);
    return -1;
}
static int make_plane(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    return tl_shape_half_space(r->scene->shapes, (tl_vec3){0, 1, 0}, a->height, err);
}
static int make_half_space(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    double length = tl_vec3_norm(a->normal);
    if (!(length > 1e-12)) {
        TL_FAIL(err, TALUS_BAD_INPUT, "normal must not be zero, got {%g, %g, %g}", a->normal.x, a->normal.y,
                a->normal.z);
        return -1;
    }
    tl_vec3 n = tl_vec3_scale(1 / length, a->normal);
    return tl_shape_half_space(r->scene->shapes, n, tl_vec3_dot(n, a->point), err);
}
/* The test for crossings looks at every pair of edges. */
static const tl_profile *charged_profile(tl_reader *r, const tl_profile *p)
{
    tl_sandbox_charge(r->L, (int64_t)p->count * p->count / 4);
    return p;
}
static int make_revolve(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    const tl_profile *p = charged_profile(r, &a->profile);
    return tl_shape_revolve(r->scene->shapes, p->count, (const double(*)[2])p->point, err);
}
static int make_extrude(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    const tl_profile *p = charged_profile(r, &a->profile);
    return tl_shape_extrude(r->scene->shapes, p->count, (const double(*)[2])p->point, a->height, err);
}
static int make_union(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    return tl_shape_union(r->scene->shapes, a->shapes.count, a->shapes.node, err);
}
static int make_intersect(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    return tl_shape_intersect(r->scene->shapes, a->shapes.count, a->shapes.node, err);
}
static int make_smooth_union(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    return tl_shape_smooth_union(r->scene->shapes, a->shapes.count, a->shapes.node, a->blend, err);
}
static int make_subtract(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    if (a->shapes.count > 1)
        return tl_shape_subtract(r->scene->shapes, a->shapes.node[0], a->shapes.count - 1, a->shapes.node + 1, err);
    TL_FAIL(err, TALUS_BAD_INPUT, "needs two shapes or more, got 1");
    return -1;
}
static int make_smooth_subtract(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    int node = a->shapes.node[0];
    if (a->shapes.count < 2) {
        TL_FAIL(err, TALUS_BAD_INPUT, "needs two shapes or more, got 1");
        return -1;
    }
    tl_node_cost cost = cost_of(r, node);
    for (int i = 1; i < a->shapes.count && node >= 0; i++) {
        cost = (tl_node_cost){cost.cost + cost_of(r, a->shapes.node[i]).cost, cost.depth + 1};
        node = tl_shape_smooth_subtract(r->scene->shapes, node, a->shapes.node[i], a->blend, err);
        if (node >= 0) node = keep_cost(r, node, cost, "smooth_subtract", a->where);
        if (node < 0 && err->status == TALUS_OK) TL_FAIL(err, TALUS_BAD_INPUT, "too large");
    }
    return node;
}
static int make_shell(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    if (a->shapes.count == 1) return tl_shape_shell(r->scene->shapes, a->shapes.node[0], a->thickness, err);
    TL_FAIL(err, TALUS_BAD_INPUT, "takes one shape, got %d", a->shapes.count);
    return -1;
}
static int make_offset(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    if (a->shapes.count == 1) return tl_shape_offset(r->scene->shapes, a->shapes.node[0], a->by, err);
    TL_FAIL(err, TALUS_BAD_INPUT, "takes one shape, got %d", a->shapes.count);
    return -1;
}

static const struct {
    const char *name;
    maker_fn *make;
} makers[] = {
    {"box", make_box},
    {"sphere", make_sphere},
    {"hemisphere", make_hemisphere},
    {"ellipsoid", make_ellipsoid},
    {"cylinder", make_cylinder},
    {"capsule", make_capsule},
    {"cone", make_cone},
    {"torus", make_torus},
    {"plane", make_plane},
    {"half_space", make_half_space},
    {"revolve", make_revolve},
    {"extrude", make_extrude},
    {"mesh", make_mesh},
    {"sheet", make_sheet},
    {"union", make_union},
    {"intersect", make_intersect},
    {"subtract", make_subtract},
    {"shell", make_shell},
    {"offset", make_offset},
    {"smooth_union", make_smooth_union},
    {"smooth_subtract", make_smooth_subtract},
};
#define MAKERS ((int)(sizeof makers / sizeof *makers))

/* union(a, b) and shell(a, 0.01): the arguments as the table that union { a, b } and shell { a, thickness = 0.01 }
 * have. */
static void arguments_to_table(lua_State *L, const tl_context *c)
{
    int n = lua_gettop(L), shapes = 0;
    lua_newtable(L);
    for (int i = 1; i <= n; i++) {
        lua_pushvalue(L, i);
        if (lua_type(L, i) == LUA_TNUMBER && c->key_count > 1)
            lua_setfield(L, n + 1, c->keys[1].name);
        else
            lua_rawseti(L, n + 1, ++shapes);
    }
    lua_replace(L, 1);
    lua_settop(L, 1);
}

static int shape_constructor(lua_State *L)
{
    tl_reader *r = tl_build_reader(L);
    int number = (int)lua_tointeger(L, lua_upvalueindex(1));
    const tl_context *c = tl_schema_find(makers[number].name);
    tl_where where = tl_build_caller(L, r);
    if (tl_build_shape_of(L, 1) != -2 && c->keys[0].type == TL_SHAPES) arguments_to_table(L, c);
    tl_shape_args a = {.where = where, .rotation = {1, 0, 0, 0}};
    if (!tl_read_table(r, c, 1, &a, c->name, where)) return push_shape(L, -1);

    tl_node_cost cost = {1, 1};
    for (int i = 0; i < a.shapes.count; i++) {
        tl_node_cost part = cost_of(r, a.shapes.node[i]);
        cost.cost += part.cost;
        if (part.depth >= cost.depth) cost.depth = part.depth + 1;
    }
    if (a.profile.count) cost.cost = a.profile.count;
    talus_error err = {0};
    int node = made(r, makers[number].make(r, &a, &err), cost, &err, c->name, a.where);
    charge_paint(r, a.shapes.count);
    for (int i = 0, count = r->paint_count; i < count && node >= 0; i++) /* the parts' paint */
        for (int k = 0; k < a.shapes.count; k++) {
            tl_paint p = r->paints[i];
            if (p.node != a.shapes.node[k]) continue;
            if (p.region < 0 && a.shapes.count > 1) p.region = p.node;
            p.node = node;
            add_paint(r, p);
        }
    double scale = !strcmp(c->name, "mesh") || !strcmp(c->name, "sheet") ? a.scale : 1;
    return push_shape(L, place(r, node, a.center, a.rotation, scale, c->name, a.where));
}

/* a + b, a - b, a * b */
static int shape_operator(lua_State *L)
{
    int number = (int)lua_tointeger(L, lua_upvalueindex(1));
    lua_pushinteger(L, number);
    lua_pushcclosure(L, shape_constructor, 1);
    lua_insert(L, 1);
    lua_call(L, 2, 1);
    return 1;
}

/* ---- moving shapes about ---- */

static int shape_argument(lua_State *L, const char *name)
{
    int node = tl_build_shape_of(L, 1);
    if (node == -2) luaL_error(L, "%s takes a shape first, got %s", name, luaL_typename(L, 1));
    return node;
}

#define FREE                                                                                                           \
    {                                                                                                                  \
        -1e15, 1e15, false                                                                                             \
    }
static int shape_move(lua_State *L)
{
    static const tl_key key = {"move", TL_VEC3, 0, "m", FREE, NULL, "", NULL, NULL, 0, 0, false};
    tl_reader *r = tl_build_reader(L);
    int node = shape_argument(L, "move");
    tl_where where = tl_build_caller(L, r);
    tl_vec3 by;
    lua_settop(L, 2);
    if (!tl_read_value(r, &key, 2, &by, "move", where)) node = -1;
    return push_shape(L, node < 0 ? -1 : place(r, node, by, tl_quat_identity(), 1, "move", where));
}

static int shape_rotate(lua_State *L)
{
    static const tl_key angles = {"rotate", TL_ANGLES_DEG, 0, "degrees", FREE, NULL, "", NULL, NULL, 0, 0, false};
    static const tl_key rotation = {"rotate", TL_ROTATION, 0, "", FREE, NULL, "", NULL, NULL, 0, 0, false};
    tl_reader *r = tl_build_reader(L);
    int node = shape_argument(L, "rotate");
    tl_where where = tl_build_caller(L, r);
    tl_quat q;
    lua_settop(L, 2);
    bool other = lua_istable(L, 2) && lua_rawlen(L, 2) != 3;
    if (!tl_read_value(r, other ? &rotation : &angles, 2, &q, "rotate", where)) node = -1;
    return push_shape(L, node < 0 ? -1 : place(r, node, (tl_vec3){0, 0, 0}, q, 1, "rotate", where));
}

static int shape_scale(lua_State *L)
{
    static const tl_key key = {"scale", TL_SIZE3, 0, "", {0, 1e6, true}, NULL, "", NULL, NULL, 0, 0, false};
    tl_reader *r = tl_build_reader(L);
    int node = shape_argument(L, "scale");
    tl_where where = tl_build_caller(L, r);
    tl_vec3 f;
    lua_settop(L, 2);
    if (!tl_read_value(r, &key, 2, &f, "scale", where) || node < 0) return push_shape(L, -1);
    return push_shape(L, apply_painted(r, node, &(transform){{0, 0, 0}, tl_quat_identity(), f, -1}, "scale", where));
}

static int shape_mirror(lua_State *L)
{
    static const tl_key key = {"mirror", TL_CHOICE, 0, "", FREE, NULL, "", "x|y|z", NULL, 0, 0, false};
    tl_reader *r = tl_build_reader(L);
    int node = shape_argument(L, "mirror"), axis;
    tl_where where = tl_build_caller(L, r);
    lua_settop(L, 2);
    if (!tl_read_value(r, &key, 2, &axis, "mirror", where) || node < 0) return push_shape(L, -1);
    return push_shape(
        L, apply_painted(r, node, &(transform){{0, 0, 0}, tl_quat_identity(), {1, 1, 1}, axis}, "mirror", where));
}

/* paint(shape, colour), or paint(shape, region, colour): for pictures. A table in the colour's place says more:
 * { "#rrggbb", gloss = 0.5, opacity = 1 }. Gives the shape back. */
static int shape_paint(lua_State *L)
{
    static const tl_key keys[] = {{"colour", TL_COLOUR, 0, "", {0, 1, false}, NULL, "", NULL, NULL, 0, 0, false},
                                  {"gloss", TL_NUMBER, 0, "", {0, 1, false}, NULL, "", NULL, NULL, 0, 0, false},
                                  {"opacity", TL_NUMBER, 0, "", {0, 1, false}, NULL, "", NULL, NULL, 0, 0, false}};
    tl_reader *r = tl_build_reader(L);
    tl_where where = tl_build_caller(L, r);
    tl_paint p = {.node = shape_argument(L, "paint"), .region = tl_build_shape_of(L, 2), .gloss = 0.5, .opacity = 1};
    int colour = p.region == -2 ? 2 : 3;
    lua_settop(L, colour);
    if (p.region == -2) p.region = -1;
    bool good = true;
    if (lua_istable(L, colour) && lua_rawlen(L, colour) < 3) {
        double *const more[] = {&p.gloss, &p.opacity};
        for (lua_pushnil(L); lua_next(L, colour); lua_pop(L, 1)) {
            const char *word = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
            if (!word || !strcmp(word, keys[1].name) || !strcmp(word, keys[2].name)) continue;
            tl_read_problem(r, where, "paint has no key '%.60s'; there are gloss and opacity", word);
            good = false;
        }
        for (int k = 0; k < 2; k++) {
            if (lua_getfield(L, colour, keys[k + 1].name) != LUA_TNIL)
                good &= tl_read_value(r, &keys[k + 1], -1, more[k], keys[k + 1].name, where);
            lua_pop(L, 1);
        }
        lua_rawgeti(L, colour, 1);
        colour = lua_gettop(L);
    }
    good &= tl_read_value(r, &keys[0], colour, &p.colour, "paint", where);
    if (good && p.node >= 0) add_paint(r, p);
    lua_settop(L, 1);
    return 1;
}

/* ---- files ---- */

void tl_build_folder(const char *file, char *folder, size_t room)
{
    const char *slash = strrchr(file, '/');
    if (!slash)
        snprintf(folder, room, ".");
    else
        snprintf(folder, room, "%.*s", slash == file ? 1 : (int)(slash - file), file);
}

/* In the scene's folder, else in the other one. The message is that of the first when neither has it. */
talus_status tl_build_find_file(tl_reader *r, const char *name, const char *other, char *path, talus_error *err)
{
    char folder[PATH_MAX];
    talus_error second;
    if (r->options->no_files) return TL_FAIL(err, TALUS_BAD_INPUT, "this scene cannot read files");
    tl_build_folder(r->scene->file, folder, sizeof folder);
    talus_status status = tl_file_resolve(folder, name, path, PATH_MAX, err);
    if (status == TALUS_IO && other && tl_file_resolve(other, name, path, PATH_MAX, &second) == TALUS_OK)
        return TALUS_OK;
    return status;
}

static bool has_ending(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n > m && !strcasecmp(name + n - m, ending);
}

/* A closed surface; of tetrahedra, which stay in *tets, the boundary. */
static talus_status read_surface(const char *path, tl_trimesh *surface, tl_tetmesh *tets, talus_error *err)
{
    *tets = (tl_tetmesh){0};
    if (!has_ending(path, ".msh") && !has_ending(path, ".vtk")) return tl_trimesh_read(surface, path, err);
    TL_TRY(tl_tetmesh_read(tets, path, err));
    return tl_tetmesh_boundary(tets, surface, NULL, err);
}

/* Prepared once per file: tables of bodies call mesh {} for each. */
static void remember_mesh(tl_reader *r, const char *path, int node)
{
    r->mesh[r->meshes - 1].path = tl_reader_text(r, path);
    r->mesh[r->meshes - 1].node = node;
}

static int make_mesh(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    char path[PATH_MAX];
    if (tl_build_find_file(r, a->file, r->options->mesh_folder, path, err) != TALUS_OK) return -1;
    for (int k = 0; k < r->meshes && k < TL_READER_MESHES; k++)
        if (r->mesh[k].path && !strcmp(r->mesh[k].path, path))
            return tl_shape_mesh_again(r->scene->shapes, r->mesh[k].node, err);
    if (++r->meshes > TL_READER_MESHES) {
        TL_FAIL(err, TALUS_BAD_INPUT, "a scene can read at most %d mesh files", TL_READER_MESHES);
        return -1;
    }
    tl_trimesh mesh = {0};
    tl_tetmesh tets;
    tl_mesh_distance *distance = NULL;
    talus_status status = read_surface(path, &mesh, &tets, err);
    if (status == TALUS_OK) {
        talus_error why = {0};
        status = tl_mesh_distance_create(&distance, &mesh, &why);
        if (status != TALUS_OK) TL_FAIL(err, status, "%.200s: %s", a->file, why.message);
    }
    tl_trimesh_free(&mesh);
    int node = status == TALUS_OK ? tl_shape_mesh(r->scene->shapes, distance, err) : -1;
    if (node < 0) tl_mesh_distance_free(distance);
    if (node >= 0 && !tets.tets) remember_mesh(r, path, node); /* tetrahedra belong to one shape: read again */
    if (node >= 0 && tets.tets && tl_shape_give_tets(r->scene->shapes, node, &tets, err) != TALUS_OK) node = -1;
    tl_tetmesh_free(&tets);
    return node;
}

static int make_sheet(tl_reader *r, const tl_shape_args *a, talus_error *err)
{
    char path[PATH_MAX];
    tl_trimesh mesh = {0};
    tl_mesh_distance *distance = NULL;
    if (++r->meshes > TL_READER_MESHES)
        return TL_FAIL(err, TALUS_BAD_INPUT, "a scene can read at most %d mesh files", TL_READER_MESHES), -1;
    if (tl_build_find_file(r, a->file, r->options->mesh_folder, path, err) != TALUS_OK) return -1;
    if (tl_trimesh_read(&mesh, path, err) != TALUS_OK) return -1;
    talus_error why = {0};
    talus_status status = tl_trimesh_drop_unused(&mesh, &why);
    if (status == TALUS_OK) status = tl_mesh_distance_create_open(&distance, &mesh, &why);
    tl_trimesh_free(&mesh);
    if (status != TALUS_OK) return TL_FAIL(err, status, "%.200s: %s", a->file, why.message), -1;
    int node = tl_shape_mesh(r->scene->shapes, distance, err);
    if (node < 0) return tl_mesh_distance_free(distance), -1;
    return tl_shape_offset(r->scene->shapes, node, 0.5 * a->thickness / a->scale, err); /* scaled with the mesh */
}

static int shape_file(lua_State *L)
{
    tl_reader *r = tl_build_reader(L);
    const char *name = luaL_checkstring(L, 1);
    tl_where where = tl_build_caller(L, r);
    lua_settop(L, 1);
    size_t n = 0;
    while (isalnum((unsigned char)name[n]) || name[n] == '_' || name[n] == '-') n++;
    if (!n || name[n] || n > 60)
        return luaL_error(L, "shape_file takes a name of letters, digits, - and _, got '%s'", name);

    luaL_getsubtable(L, LUA_REGISTRYINDEX, "talus.files"); /* a file is read once */
    lua_pushvalue(L, 1);
    int kind = lua_rawget(L, -2);
    if (kind == LUA_TBOOLEAN) return luaL_error(L, "shape_file: '%s' reads itself", name);
    if (kind != LUA_TNIL) return 1;
    lua_pop(L, 1);
    lua_pushvalue(L, 1);
    lua_pushboolean(L, 1);
    lua_rawset(L, 2);

    char file[80], path[PATH_MAX];
    size_t bytes = 0;
    talus_error err = {0};
    snprintf(file, sizeof file, "%s.lua", name);
    talus_status status = tl_build_find_file(r, file, r->options->shapes_folder, path, &err);
    if (status == TALUS_OK) status = tl_file_read(path, &r->held, &bytes, &err);
    if (status == TALUS_NO_MEMORY) tl_reader_starved(r);
    bool good = false;
    if (status != TALUS_OK) {
        tl_read_problem(r, where, "shape_file: %s", err.message);
    } else if (++r->files_open > 8) {
        return luaL_error(L, "shape files are nested deeper than 8");
    } else {
        good = tl_reader_run(r, path, r->held, bytes);
        r->files_open--;
    }
    if (!good) push_shape(L, -1);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, -2);
    lua_rawset(L, 2);
    return 1;
}

/* ---- materials ---- */

static int push_material(lua_State *L, int index)
{
    material_object *m = lua_newuserdatauv(L, sizeof *m, 1);
    m->index = index;
    luaL_setmetatable(L, MATERIAL_TYPE);
    return 1;
}

static int add_material(tl_reader *r, const tl_material *m)
{
    if (r->material_count >= TL_LIST_MAX) luaL_error(r->L, "a scene can make at most %d materials", TL_LIST_MAX);
    if (r->material_count == r->material_room) {
        int room = r->material_room ? 2 * r->material_room : 16;
        tl_material *fresh = tl_realloc(r->materials, (size_t)room * sizeof *fresh);
        if (!fresh) tl_reader_starved(r);
        r->materials = fresh;
        r->material_room = room;
    }
    r->materials[r->material_count] = *m;
    return r->material_count++;
}

static const char *const material_names[] = {"granular", "liquid", "viscous", "elastic",
                                             "solid"}; /* by tl_material_kind */

static int material_constructor(lua_State *L)
{
    tl_reader *r = tl_build_reader(L);
    tl_material_kind kind = (tl_material_kind)lua_tointeger(L, lua_upvalueindex(1));
    tl_where where = tl_build_caller(L, r);
    lua_settop(L, 1);
    tl_material m = {.where = where, .kind = kind, .friction = {TL_NO_FUNCTION, {0}}};
    bool good = tl_read_table(r, tl_schema_find(material_names[kind]), 1, &m, material_names[kind], where);
    push_material(L, good ? add_material(r, &m) : -1);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1); /* for --set */
    return 1;
}

static int material_preset(lua_State *L)
{
    tl_reader *r = tl_build_reader(L);
    const char *name = luaL_checkstring(L, 1), *names[32] = {0};
    for (int i = 0; tl_preset_at(i) && i < 31; i++) {
        const tl_preset *p = tl_preset_at(i);
        names[i] = p->name;
        if (strcmp(p->name, name)) continue;
        tl_material m = p->material;
        m.where = tl_build_caller(L, r);
        m.name = p->name;
        if (m.kind <= TL_MATERIAL_VISCOUS) m.friction.function = TL_NO_FUNCTION;
        return push_material(L, add_material(r, &m));
    }
    char list[256] = "";
    for (int i = 0; names[i]; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s\"%s\"", i ? ", " : "", names[i]);
    const char *near = tl_text_nearest(name, names);
    tl_read_problem(r, tl_build_caller(L, r), "preset must be one of %s, got \"%.60s\"%s%s%s", list, name,
                    near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return push_material(L, -1);
}

/* ---- the rest ---- */

/* scene { ... } is the table itself: it is read when the file has ended. */
static int scene_constructor(lua_State *L)
{
    if (lua_type(L, 1) != LUA_TTABLE) return luaL_error(L, "scene takes a table { ... }, got %s", luaL_typename(L, 1));
    lua_settop(L, 1);
    tl_import_merge(L, 1);
    return 1;
}

/* A copy of a table and of the tables in it, with the same place in the file. */
static void copy_table(lua_State *L, int from, int depth)
{
    from = lua_absindex(L, from);
    luaL_checkstack(L, 8, "tables are nested too deeply");
    lua_newtable(L);
    int to = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, from);) {
        tl_sandbox_charge(L, 4);
        if (depth > 0 && lua_type(L, -1) == LUA_TTABLE) {
            copy_table(L, -1, depth - 1);
            lua_remove(L, -2);
        }
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, to);
    }
    tl_read_keep_where(L, to, from);
}

static int prelude_copy(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    copy_table(L, 1, 2);
    return 1;
}

/* Helpers that are shorter in Lua. Errors point at the scene's line, because this text is not a file of the user's. */
static const char prelude[] =
    "local copy = ...\n"
    "local function vector(v, what)\n"
    "  if type(v) == 'number' then return {v, v, v} end\n"
    "  if type(v) ~= 'table' or #v ~= 3 then error(what .. ' must be a number or three numbers {x, y, z}', 0) end\n"
    "  for i = 1, 3 do if type(v[i]) ~= 'number' then error(what .. ' must be a number or three numbers {x, y, z}', 0) "
    "end end\n"
    "  return v\n"
    "end\n"
    "local function count(v, what)\n"
    "  if math.type(v) ~= 'integer' or v < 1 or v > 100000 then error(what .. ' must be a whole number from 1 to "
    "100000', 0) end\n"
    "  return v\n"
    "end\n"
    "local function number(v, what, default)\n"
    "  if v == nil and default then return default end\n"
    "  if type(v) ~= 'number' then error(what .. ' must be a number', 0) end\n"
    "  return v\n"
    "end\n"
    "local function read(t, name, known)\n"
    "  if type(t) ~= 'table' then error(name .. ' takes a table { ... }', 0) end\n"
    "  for k in pairs(t) do\n"
    "    if not known[k] then error(name .. '.' .. tostring(k) .. ' is not a key; there are ' .. known.list, 0) end\n"
    "  end\n"
    "end\n"
    "local function make(name, body, i, at, angle)\n"
    "  local b\n"
    "  if type(body) == 'function' then b = body(i, at)\n"
    "  elseif type(body) == 'table' then b = copy(body)\n"
    "  else error(name .. '.body must be a body { ... } or a function that returns one', 0) end\n"
    "  if type(b) ~= 'table' then error(name .. '.body must return a body { ... }', 0) end\n"
    "  if type(body) == 'table' then\n"
    "    if b.name then b.name = b.name .. ' ' .. i end\n"
    "    local o = vector(b.at or 0, name .. '.body.at')\n"
    "    b.at = {at[1] + o[1], at[2] + o[2], at[3] + o[3]}\n"
    "  elseif b.at == nil then b.at = at end\n"
    "  if angle and b.rotation == nil and b.rotation_deg == nil and b.rotation_rad == nil then b.rotation_deg = {0, "
    "angle, 0} end\n"
    "  return b\n"
    "end\n"
    "local grid_keys = {count = true, spacing = true, at = true, body = true, list = 'count, spacing, at, body'}\n"
    "local function grid_of(t)\n"
    "  read(t, 'grid_of', grid_keys)\n"
    "  local n, s, at = vector(t.count, 'grid_of.count'), vector(t.spacing, 'grid_of.spacing'), vector(t.at or 0, "
    "'grid_of.at')\n"
    "  for i = 1, 3 do count(n[i], 'grid_of.count') end\n"
    "  local list, i = {}, 0\n"
    "  for y = 0, n[2] - 1 do for z = 0, n[3] - 1 do for x = 0, n[1] - 1 do\n"
    "    i = i + 1\n"
    "    list[i] = make('grid_of', t.body, i, {at[1] + x * s[1], at[2] + y * s[2], at[3] + z * s[3]})\n"
    "  end end end\n"
    "  return list\n"
    "end\n"
    "local stack_keys = {count = true, step = true, at = true, body = true, turn_deg = true, list = 'count, step, at, "
    "turn_deg, body'}\n"
    "local function stack_of(t)\n"
    "  read(t, 'stack_of', stack_keys)\n"
    "  local n, at, list = count(t.count, 'stack_of.count'), vector(t.at or 0, 'stack_of.at'), {}\n"
    "  local s = type(t.step) == 'number' and {0, t.step, 0} or vector(t.step, 'stack_of.step')\n"
    "  local turn = number(t.turn_deg, 'stack_of.turn_deg', 0)\n"
    "  for i = 1, n do\n"
    "    local k = i - 1\n"
    "    list[i] = make('stack_of', t.body, i, {at[1] + k * s[1], at[2] + k * s[2], at[3] + k * s[3]}, turn ~= 0 and k "
    "* turn or nil)\n"
    "  end\n"
    "  return list\n"
    "end\n"
    "local ring_keys = {count = true, radius = true, at = true, body = true, start_deg = true, list = 'count, radius, "
    "at, start_deg, body'}\n"
    "local function ring_of(t)\n"
    "  read(t, 'ring_of', ring_keys)\n"
    "  local n, at, list = count(t.count, 'ring_of.count'), vector(t.at or 0, 'ring_of.at'), {}\n"
    "  local r, start = number(t.radius, 'ring_of.radius'), number(t.start_deg, 'ring_of.start_deg', 0)\n"
    "  for i = 1, n do\n"
    "    local deg = start + (i - 1) * 360 / n\n"
    "    local a = math.rad(deg)\n"
    "    list[i] = make('ring_of', t.body, i, {at[1] + r * math.cos(a), at[2], at[3] - r * math.sin(a)}, deg)\n"
    "  end\n"
    "  return list\n"
    "end\n"
    "local function join(lists)\n"
    "  if type(lists) ~= 'table' then error('join takes a list of lists { a, b, ... }', 0) end\n"
    "  local all, n = {}, 0\n"
    "  for _, list in ipairs(lists) do\n"
    "    if type(list) ~= 'table' then error('join takes a list of lists { a, b, ... }', 0) end\n"
    "    for _, item in ipairs(list) do n = n + 1; all[n] = item end\n"
    "  end\n"
    "  return all\n"
    "end\n"
    "return {grid_of = grid_of, stack_of = stack_of, ring_of = ring_of, join = join}\n";

static void open_prelude(tl_reader *r)
{
    lua_State *L = r->L;
    if (luaL_loadbufferx(L, prelude, sizeof prelude - 1, "=talus", "t") != LUA_OK) lua_error(L);
    lua_getfield(L, LUA_REGISTRYINDEX, "talus.globals");
    lua_setupvalue(L, -2, 1);
    lua_pushcfunction(L, prelude_copy);
    lua_call(L, 1, 1);
    for (lua_pushnil(L); lua_next(L, -2);) tl_sandbox_define(r->box, lua_tostring(L, -2));
    lua_pop(L, 1);
}

static void define(tl_reader *r, const char *name, lua_CFunction f, int upvalue)
{
    lua_pushinteger(r->L, upvalue);
    lua_pushcclosure(r->L, f, 1);
    tl_sandbox_define(r->box, name);
}

/* Metatable of our objects: methods of shapes are the functions of the same name. */
static void define_type(tl_reader *r, const char *type, const char *shown)
{
    static const luaL_Reg methods[] = {{"move", shape_move},     {"rotate", shape_rotate}, {"scale", shape_scale},
                                       {"mirror", shape_mirror}, {"paint", shape_paint},   {NULL, NULL}};
    static const char *const operators[][2] = {{"__add", "union"}, {"__sub", "subtract"}, {"__mul", "intersect"}};
    lua_State *L = r->L;
    luaL_newmetatable(L, type);
    lua_pushstring(L, shown);
    lua_setfield(L, -2, "__name");
    lua_newtable(L);
    if (!strcmp(type, SHAPE_TYPE)) {
        luaL_setfuncs(L, methods, 0);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < MAKERS; i++)
                if (!strcmp(operators[k][1], makers[i].name)) {
                    lua_pushinteger(L, i);
                    lua_pushcclosure(L, shape_operator, 1);
                    lua_setfield(L, -3, operators[k][0]);
                }
    }
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}

void tl_build_open(tl_reader *r)
{
    lua_State *L = r->L;
    define_type(r, SHAPE_TYPE, "shape");
    define_type(r, MATERIAL_TYPE, "material");
    for (int i = 0; i < MAKERS; i++) define(r, makers[i].name, shape_constructor, i);
    for (int i = 0; i < 5; i++) define(r, material_names[i], material_constructor, i);
    define(r, "move", shape_move, 0);
    define(r, "rotate", shape_rotate, 0);
    define(r, "scale", shape_scale, 0);
    define(r, "mirror", shape_mirror, 0);
    define(r, "paint", shape_paint, 0);
    define(r, "shape_file", shape_file, 0);
    define(r, "import", tl_import_call, 0);
    define(r, "preset", material_preset, 0);
    define(r, "scene", scene_constructor, 0);
    define(r, "params", tl_settings_params, 0);
    lua_pushstring(L, r->options->size == TL_SIZE_PAPER ? "paper" : "small");
    tl_sandbox_define(r->box, "size");
    open_prelude(r);
}
