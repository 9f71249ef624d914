/* Inside of the scene reader: from Lua values to the structs of scene/scene.h, by the schema.
 *
 * Nothing stops at the first mistake: each becomes a problem with its place, and the field keeps its default, so
 * that the rest of the file is looked at as well. Lua errors (no memory, a limit) leave by longjmp; everything a
 * reader owns hangs on tl_reader, and tl_scene_load cleans up. */
#ifndef TL_SCENE_READ_H
#define TL_SCENE_READ_H

#include <pthread.h>

#include "scene/load.h"
#include "scene/lua_sandbox.h"
#include "scene/schema.h"
#include "scene/source.h"

#define TL_PROBLEMS_MAX 200
#define TL_PATH_MAX 160
#define TL_LIST_MAX 100000 /* items of bodies, fills, ... */
#define TL_SHAPE_NODES_MAX 100000
#define TL_SHAPE_COST_MAX 100000 /* primitives that one evaluation of a shape may visit */
#define TL_SCENE_PAINTS_MAX 20000
#define TL_SHAPE_DEPTH_MAX 100 /* operations inside operations */

typedef struct tl_problem {
    tl_where where;
    bool note;
    int alike; /* further ones at the same place that differ in an index only */
    int order;
    char text[400];
} tl_problem;

/* A function of time. */
typedef struct tl_function {
    int reference; /* in the Lua registry */
    int count;     /* numbers that it gives */
    const tl_key *key;
    const char *path;
    tl_where where;
    double rest[7]; /* poses: what the function leaves out */
} tl_function;

struct tl_scene_lua {
    pthread_mutex_t one; /* at a time: simulations of one scene may run in several threads */
    tl_sandbox *box;
    int count, room;
    tl_function *functions;
};

/* A --set of the user. */
typedef struct tl_setting {
    const char *text; /* "grid.cell=0.1" */
    bool used;
    const void *table; /* where its value went, and the key; for the place in messages */
    char key[64];
    int index; /* of an entry of a vector, in place of the key */
} tl_setting;

/* How much a shape node costs to evaluate: primitives visited, operations above each other. */
typedef struct tl_node_cost {
    double cost;
    int depth;
} tl_node_cost;

#define TL_READER_MESHES 64 /* mesh files of a scene */

typedef struct tl_reader {
    tl_sandbox *box;
    lua_State *L;
    tl_scene *scene;
    const tl_load_options *options;
    tl_source *sources;
    int source_count, source_room;
    tl_problem *problems;
    int problem_count, problem_room, problem_dropped, error_count;
    tl_material *materials;
    int material_count, material_room;
    tl_paint *paints;
    int paint_count, paint_room;
    tl_node_cost *costs;
    int cost_room;
    bool engine_wrong; /* then nothing is said about keys of other engines */
    tl_setting *settings;
    int setting_count;
    tl_arena imports; /* of the file that import {} is reading */
    int files_open;   /* shape files that are being read */
    char *held;       /* text of a file until it is copied; freed whatever happens */
    int meshes;       /* read so far */
    struct {
        const char *path;
        int node;
    } mesh[TL_READER_MESHES]; /* the first of each file, for those that follow */
    talus_status status;      /* of a failure that is not the scene's fault */
    talus_error *err;
    tl_where where; /* fallback when a table has no place of its own */
} tl_reader;

/* A table that has just been read, for the rules. */
typedef struct tl_seen {
    const tl_context *context;
    uint64_t given; /* bit i: key i is there */
    uint64_t good;  /* bit i: it is there and right */
    int table;      /* stack index */
    const char *path;
    tl_where where;
} tl_seen;

_Noreturn void tl_reader_starved(tl_reader *r);   /* no memory of ours: ends the load */
void *tl_reader_take(tl_reader *r, size_t bytes); /* zeroed, lives as long as the scene */
const char *tl_reader_text(tl_reader *r, const char *text);

/* Charges the script for the work; raises when that is spent. */
void tl_read_problem(tl_reader *r, tl_where where, const char *format, ...) TL_PRINTF(3, 4);
void tl_read_failure(tl_reader *r, tl_where where, const char *format, ...)
    TL_PRINTF(3, 4); /* the same, never raises */
void tl_read_note(tl_reader *r, tl_where where, const char *format, ...) TL_PRINTF(3, 4);
void tl_read_sort_problems(tl_reader *r);

/* Place of a table, or of one of its entries (key, or index > 0). */
tl_where tl_read_where(tl_reader *r, int table, const char *key, int index, tl_where otherwise);
void tl_read_keep_where(lua_State *L, int table, int from); /* a copy has the place of its original */
void tl_read_set_where(lua_State *L, int table, int source, int number);
int tl_read_mark(lua_State *L); /* the function of tl_source: mark(number, table) */

/* Fill `object` from the table at `index`. `path` is shown in messages: "bodies[2]". False when there was a problem. */
bool tl_read_table(tl_reader *r, const tl_context *c, int index, void *object, const char *path, tl_where where);
bool tl_read_value(tl_reader *r, const tl_key *key, int index, void *field, const char *path, tl_where where);
/* "-2", "\"red\"", "a table", ... */
const char *tl_read_describe(lua_State *L, int index, char *text, size_t room);

bool tl_seen_has(const tl_seen *s, const char *key);
bool tl_seen_good(const tl_seen *s, const char *key);
tl_where tl_seen_where(tl_reader *r, const tl_seen *s, const char *key);
void tl_rules_of(tl_reader *r, const tl_seen *seen, void *object); /* rules.c */
/* Of joints (rules_joints.c): one of them, its motor, and all with the bodies they name. */
void tl_rules_joint(tl_reader *r, const tl_seen *seen, tl_joint_spec *j);
void tl_rules_motor(tl_reader *r, const tl_seen *seen, tl_motor_spec *m);
void tl_rules_joints(tl_reader *r, tl_scene *s);

/* Shapes and materials as Lua objects (build.c). */
int tl_build_shape_of(lua_State *L, int index);    /* node, -1 when broken, -2 when it is not a shape */
int tl_build_material_of(lua_State *L, int index); /* index, -1 broken, -2 not a material */
void tl_build_open(tl_reader *r);
tl_reader *tl_build_reader(lua_State *L);             /* raises when the script has ended */
tl_where tl_build_caller(lua_State *L, tl_reader *r); /* the line of the script that called us */
talus_status tl_build_find_file(tl_reader *r, const char *name, const char *other, char *path, talus_error *err);
void tl_build_folder(const char *file, char *folder, size_t room);

/* Robots from files (import.c). */
int tl_import_call(lua_State *L);                    /* import { file = ... } */
void tl_import_merge(lua_State *L, int scene_table); /* scene { import { ... }, ... } */

/* Files (files.c): the text of a file below a folder; whether it may be read is decided on the resolved path. */
talus_status tl_file_resolve(const char *folder, const char *name, char *path, size_t room, talus_error *err);
talus_status tl_file_read(const char *path, char **text, size_t *bytes, talus_error *err);

/* A file whose lines messages name: its number, -1 after a problem. Frees r->held. */
int tl_reader_add_source(tl_reader *r, const char *file, const char *text, size_t bytes);
/* Compile, mark and run one file; its result is left on the stack. False after a problem. Frees r->held. */
bool tl_reader_run(tl_reader *r, const char *file, const char *text, size_t bytes);

/* --set (settings.c) */
int tl_settings_params(lua_State *L); /* params { name = default } */
void tl_settings_apply(tl_reader *r, int scene_table);
void tl_settings_unused(tl_reader *r); /* a shape has parameters only */

/* Functions of time (functions.c) */
int tl_function_add(tl_reader *r, const tl_key *key, int index, int count, const char *path, tl_where where);
void tl_functions_check(tl_reader *r); /* purity: problems */

#endif
