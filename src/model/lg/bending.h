/* Bending of flat cloth as quadratic stencils: energy 1/2 weight |sum c_k x_k|^2, zero at rest.
 *
 *     hinge  per interior edge: c.x is the angle between the two triangles (to first order), weight 3 k |e|^2 / (A1 + A2)
 *     ring   per interior node: c.x is the cotangent Laplacian, weight k / A of the node (a third of its ring) */
#ifndef TL_MODEL_LG_BENDING_H
#define TL_MODEL_LG_BENDING_H

#include "model/lg/lg.h"

#define TL_BENDING_NODES 512 /* of one stencil */

typedef struct tl_bending {
    int32_t count;
    int32_t *start; /* [count + 1] */
    int32_t *node;  /* [start[count]] vertices of the part */
    double *c;      /* [start[count]] 1/m (hinge), - (ring) */
    double *weight; /* [count] */
} tl_bending;

/* Nothing for solids and limp cloth. Refuses edges of three triangles, and rest shapes that are not flat. */
talus_status tl_bending_make(tl_bending *out, const tl_lg_part *p, talus_error *err);
void tl_bending_free(tl_bending *b);
/* Pairs of nodes over all stencils. */
int64_t tl_bending_pairs(const tl_bending *b);

#endif
