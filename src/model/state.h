/* What is: everything that is needed to continue a run bit for bit, and nothing else.
 *
 * Each engine uses the parts it has. tl_state_parts lists every array by name; checkpoints, hashes and copies are made from that list,
 * so an array that is in the list survives a restart, and one that is not does not exist. */
#ifndef TL_MODEL_STATE_H
#define TL_MODEL_STATE_H

#include "model/grid/state.h"
#include "model/lg/state.h"
#include "model/rigid/rigid.h"
#include "model/sph/state.h"

typedef struct tl_state {
    double t;       /* s */
    int64_t step;   /* steps made */
    int64_t frame;  /* frames reached: t = frame / fps at the last one */
    double dt_next; /* what the step control would take next, s; 0: not known */
    tl_rigid_state rigid;
    tl_grid_state grid; /* all zero in other engines */
    tl_sph_state sph;
    tl_lg_state lg; /* elastic nodes; all zero in other engines */
} tl_state;

typedef enum tl_number { TL_NUMBER_F64, TL_NUMBER_F32, TL_NUMBER_I32, TL_NUMBER_I64 } tl_number;

/* One array of the state. `count` items of `width` numbers of one type; several arrays may share a count. Structs that mix types are
 * listed once per run of equal types through `stride` and `offset`. */
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
int tl_state_parts(tl_state *s, tl_state_part out[TL_STATE_PARTS_MAX]);

void tl_state_free(tl_state *s); /* leaves {0} */
/* `to`: {0} or a state of the same scene, which keeps its memory. On failure it is as it was. */
talus_status tl_state_copy(tl_state *to, const tl_state *from, talus_error *err);
uint64_t tl_state_hash(const tl_state *s); /* of all numbers, times included */

#endif
