/* What is: everything that is needed to continue a run bit for bit, and nothing else.
 *
 * Times and rigid bodies are there in every run. What else a model remembers is a section, which the engine adds
 * when it begins: a struct that only the model knows, with a table entry (tl_state_kind) that lists its arrays by
 * name. Checkpoints, hashes and copies are made from these lists, so an array that is in one survives a restart, and
 * one that is not does not exist. */
#ifndef TL_MODEL_STATE_H
#define TL_MODEL_STATE_H

#include "model/rigid/rigid.h"
#include "scene/scene.h"

typedef enum tl_number { TL_NUMBER_F64, TL_NUMBER_F32, TL_NUMBER_I32, TL_NUMBER_I64 } tl_number;

/* One array of the state. `count` items of `width` numbers of one type; several arrays may share a count. Structs
 * that mix types are listed once per run of equal types through `stride` and `offset`. */
typedef struct tl_state_part {
    const char *name; /* "bodies/motion" */
    tl_number type;
    int width;
    size_t stride, offset; /* bytes */
    int64_t *count;
    void **data;
    int64_t *room; /* items allocated; NULL: count is fixed for a run, and must match */
} tl_state_part;

#define TL_STATE_PARTS_MAX 64

/* A model's section: a struct of counts and pointers to arrays of its own, all zero at first. */
typedef struct tl_state_kind {
    const char *name;
    size_t bytes; /* of the struct */
    int (*parts)(void *section, tl_state_part *out);
    void (*free)(void *section); /* its arrays */
    /* What was read from a file: every index is held against its bounds. `path` is for messages. */
    talus_status (*check)(const void *section, const tl_scene *scene, int32_t bodies, const char *path,
                          talus_error *err);
    /* Whether a run of several parts deals this array out among them; NULL: every part has all of all, to the bit. */
    bool (*is_dealt)(const char *name);
} tl_state_kind;

#define TL_STATE_SECTIONS_MAX 6

typedef struct tl_state {
    double t;       /* s */
    int64_t step;   /* steps made */
    int64_t frame;  /* frames reached: t = frame / fps at the last one */
    double dt_next; /* what the step control would take next, s; 0: not known */
    tl_rigid_state rigid;
    int sections;
    struct tl_state_section {
        const tl_state_kind *kind;
        void *data;
    } section[TL_STATE_SECTIONS_MAX];
} tl_state;

/* A new section, all zero. NULL: no memory. */
void *tl_state_add(tl_state *s, const tl_state_kind *kind);
/* The section of that kind; NULL: there is none. */
void *tl_state_find(const tl_state *s, const tl_state_kind *kind);

int tl_state_parts(tl_state *s, tl_state_part out[TL_STATE_PARTS_MAX]);

void tl_state_free(tl_state *s); /* leaves {0} */
/* The same sections and counts, arrays not there yet (NULL): to be filled from elsewhere. */
talus_status tl_state_like(tl_state *out, const tl_state *s, talus_error *err);
/* `to`: {0} or another state. On failure it is as it was. */
talus_status tl_state_copy(tl_state *to, const tl_state *from, talus_error *err);
uint64_t tl_state_hash(const tl_state *s); /* of all numbers, times included */
/* Of what all parts of a run have alike. */
uint64_t tl_state_hash_alike(const tl_state *s);
/* Times and what all parts have alike, from part 0 to the others. Collective. */
struct tl_comm;
talus_status tl_state_tell(tl_state *s, const struct tl_comm *c, talus_error *err);
/* Parts of one array of structs share their data: the first of them makes it. */
bool tl_state_part_is_first(const tl_state_part *part, int k);

/* Tags (id, material) of particles that a file gave: ids below `end`, each at most once; materials that flow. `what`
 * and `path` are for messages. */
talus_status tl_state_check_tags(const char *path, const char *what, const tl_scene *scene, const int32_t *tag,
                                 size_t stride, int64_t count, double end, talus_error *err);

#endif
