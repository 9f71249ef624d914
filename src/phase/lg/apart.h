/* The last guard against surfaces that pass through cloth, which has no inside that contact could push them out of
 * again: where the way of a step would lead elastic surfaces through one another, whatever contact was found and
 * solved, impulses along the normals of these impacts hold them apart: the least by masses, without friction, none
 * that pulls. They keep momentum and make no kinetic energy beyond that of the way. New impacts join until there are
 * none. Where that does not end, as in cloth without room, what would meet moves as one rigid piece in this step,
 * with the momentum that its nodes had. */
#ifndef TL_PHASE_LG_APART_H
#define TL_PHASE_LG_APART_H

#include "base/log.h"
#include "model/lg/contact.h"

typedef struct tl_lg_apart {
    int64_t impacts; /* that were held */
    double moved;    /* m: most that a node was held back */
    int32_t stiff;   /* nodes of pieces that moved as one */
    bool free;       /* nothing passes through anything now */
} tl_lg_apart;

/* v: from the start of the step. q [nodes][3] where it ends, in and out. he, s: anchors are held with their weight
 * he^2. */
talus_status tl_lg_hold_apart(const tl_lg_view *v, double he, double *q, tl_arena *a, tl_lg_apart *out,
                              talus_error *err);

/* What was told already: each is told once. */
typedef struct tl_lg_apart_told {
    bool impulses, pieces;
} tl_lg_apart_told;

/* t, s: the end of the step. */
void tl_lg_apart_tell(const tl_lg_apart *p, const tl_lg *lg, const tl_log *log, double t, tl_lg_apart_told *told);

#endif
