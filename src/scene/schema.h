/* The words of the scene language: one table of keys per kind of table that a scene can hold.
 *
 * A key is one line: name, type, place in its struct, unit, range, default, help. Reading, validation, messages and
 * docs/scene-reference.md all come from it. What depends on several keys is in scene/rules.c. */
#ifndef TL_SCENE_SCHEMA_H
#define TL_SCENE_SCHEMA_H

#include <stdint.h>

#include "scene/scene.h"

typedef enum tl_type {
    TL_NUMBER,     /* double */
    TL_INTEGER,    /* int */
    TL_SEED,       /* int64_t */
    TL_BOOLEAN,    /* bool */
    TL_TEXT,       /* const char * */
    TL_CHOICE,     /* int: number of the word in `words` */
    TL_WORD,       /* const char *: the word itself */
    TL_VEC3,       /* tl_vec3 */
    TL_SIZE3,      /* tl_vec3; one number stands for three */
    TL_INTEGER3,   /* int[3] */
    TL_BOOLEAN3,   /* bool[3] */
    TL_RANGE,      /* double[2], first <= second */
    TL_NAMES2,     /* const char *[2] */
    TL_ROTATION,   /* tl_quat; forms in docs/scene-reference.md */
    TL_ANGLES_DEG, /* tl_quat from angles about x, then y, then z */
    TL_ANGLES_RAD,
    TL_COLOUR,   /* tl_vec3, sRGB */
    TL_SHAPE,    /* int: node; -1: none */
    TL_SHAPES,   /* tl_shape_list: positional entries of an operation */
    TL_PROFILE,  /* tl_profile */
    TL_PATH,     /* tl_cable_path */
    TL_MATERIAL, /* int: index; -1: none */
    TL_TIMED1,   /* tl_timed, a number */
    TL_TIMED3,   /* tl_timed, a vector */
    TL_POSE,     /* int: function that gives a pose */
    TL_TABLE,    /* struct in place, described by `inside` */
    TL_LIST      /* pointer at offset, int count at count_offset, items described by `inside` */
} tl_type;

typedef struct tl_range {
    double low, high;
    bool above; /* low itself is not allowed */
} tl_range;

#define TL_ON_GRID (1u << TL_ENGINE_GRID)
#define TL_ON_SPH (1u << TL_ENGINE_SPH)
#define TL_ON_LG (1u << TL_ENGINE_LG)

typedef struct tl_context tl_context;

typedef struct tl_key {
    const char *name;
    tl_type type;
    size_t offset;
    const char *unit;     /* "" when it has none */
    tl_range range;       /* of numbers, and of each entry of a vector */
    const char *fallback; /* as in a scene; "": none, the field stays zero or -1; NULL: the key must be given */
    const char *help;
    const char *words;        /* choices: "grid|sph|lg" */
    const tl_context *inside; /* tables and lists */
    size_t count_offset;      /* lists */
    unsigned engines;         /* 0: every engine */
    bool alias;               /* another form of an earlier key at the same offset */
} tl_key;

struct tl_context {
    const char *name;    /* as in messages and on the page: "body" */
    const char *article; /* "a body" */
    const char *help;
    const char *example; /* for the page; may be NULL */
    const tl_key *keys;
    int key_count; /* at most 64 */
    size_t size;
    const char *shorthand; /* the key that a bare text stands for; NULL: none */
    bool has_where;        /* the struct begins with a tl_where */
};

/* What shape constructors read. One struct for all; each has its own keys. */
#define TL_PROFILE_POINTS 1024
#define TL_PATH_POINTS 64
typedef struct tl_profile {
    int count;
    double (*point)[2];
} tl_profile;
typedef struct tl_shape_list {
    int count;
    int *node;
} tl_shape_list;
typedef struct tl_shape_args {
    tl_where where;
    tl_vec3 center, size, radii, from, to, normal, point;
    tl_quat rotation;
    double radius, radius_top, radius_to, tube, height, round, blend, thickness, by, scale;
    tl_profile profile;
    tl_shape_list shapes;
    const char *file;
} tl_shape_args;

/* What import {} reads. */
typedef struct tl_import_args {
    tl_where where;
    const char *file, *prefix;
    tl_vec3 at;
    tl_quat rotation;
    int up; /* of the file: 0 z, 1 y */
    bool fixed_base;
    double density;
} tl_import_args;

/* Every context, for the page and the tests: i = 0, 1, ... until NULL. The first is the scene itself. */
const tl_context *tl_schema_at(int i);
const tl_context *tl_schema_find(const char *name); /* NULL when unknown */
const tl_key *tl_schema_key(const tl_context *c, const char *name);
const tl_context *tl_schema_material(tl_material_kind kind); /* what a material of that kind has */
bool tl_schema_in_range(const tl_key *key, double value);
/* Number of `word` among words "a|b|c", -1 when it is not one; and the i-th word in `text`, false at the end. */
int tl_schema_word(const char *words, const char *word);
bool tl_schema_word_at(const char *words, int i, char *text, size_t room);

typedef struct tl_preset {
    const char *name, *source; /* where the numbers come from */
    tl_material material;      /* name and where are left to the caller */
} tl_preset;
const tl_preset *tl_preset_at(int i); /* until NULL */

/* The reference page, as Markdown, a piece at a time. */
void tl_schema_page(void (*write)(void *user, const char *text), void *user);

/* Words of solver.pressure, solver.scheme and solver.friction that fit what a scene runs with; the schema lists
 * those of all. */
#define TL_LIQUID_PRESSURE_WORDS                                                                                       \
    "multigrid|mic|multigrid-double|cg-multigrid|cg-mic|cg|mprgp|mprgp-original|admm|pip|auglag"
#define TL_LIQUID_SCHEME_WORDS "p-c|c-p|t-pn|t-p-n|p-tn|tn-pn"
#define TL_SOFT_SCHEME_WORDS "pec|pec-gs|pe-ec|ec-pe|pec-g|pec-g-scaled|pec-z1z2|pec-ica|pec-ucg"
#define TL_JOINT_SCHEME_WORDS "pec-g|pec-g-scaled|pec-z1z2|pec-ica"
#define TL_SOFT_SAND_SCHEME_WORDS "f-p-c"
#define TL_VISCOUS_SOFT_SCHEME_WORDS "pvec|pve-ec|ec-pve|pvec-ucg"
#define TL_SAND_SCHEME_WORDS "pf-c|c-pf|t-f-pn|t-f-p-n|f-p-c"
#define TL_STAGGERED_WORDS "primal-dual|jcsp|jcsp-pyramid|narain|narain-printed|box"
#define TL_COLOCATED_WORDS "apgd|auglag-ipn|" TL_STAGGERED_WORDS
#define TL_SPH_PRESSURE_WORDS "nncg|jacobi|interlinked"

#endif
