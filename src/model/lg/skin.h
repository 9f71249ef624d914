/* The surface of elastic bodies as contact sees it: nodes, edges and triangles, each once, and a tree over the
 * triangles. Topology and rest shape only: places are the step's. Made once per scene. */
#ifndef TL_MODEL_LG_SKIN_H
#define TL_MODEL_LG_SKIN_H

#include <stdbool.h>

#include "base/status.h"

#define TL_SKIN_LEAF 4 /* triangles of a leaf */

/* Of one body: ranges of the lists below, and its tree. */
typedef struct tl_lg_skin_body {
    int32_t node, nodes;
    int32_t edge, edges;
    double mean, shortest, longest; /* edge at rest, m */
    int32_t leaves; /* power of two: box `tree + i` has children 2i and 2i + 1, the root is 1, leaf k is leaves + k */
    int32_t tree;   /* first of 2 leaves boxes */
} tl_lg_skin_body;

typedef struct tl_lg_skin {
    tl_lg_skin_body *body; /* [bodies] */
    int32_t nodes, edges, boxes;
    int32_t *node;             /* [nodes] ascending */
    int32_t *place;            /* [lg nodes] where it is in `node`; -1: inside */
    int32_t (*edge)[2];        /* [edges] nodes, lower first; by body, ascending */
    int32_t (*sides)[2];       /* [edges] its triangles; the second is -1 at a rim. Of more than two: the first two */
    int32_t (*corner_edge)[3]; /* [triangles] the edge opposite of each corner */
    int32_t *order;            /* [triangles] of lg->surface, leaf by leaf within a body's range */
} tl_lg_skin;

struct tl_lg;
talus_status tl_lg_skin_make(tl_lg_skin *out, const struct tl_lg *lg, talus_error *err);
void tl_lg_skin_free(tl_lg_skin *s); /* leaves {0} */

#endif
