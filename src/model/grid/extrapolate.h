/* Velocities beyond matter: faces without a value of their own take the mean of known neighbours, layer by layer. */
#ifndef TL_MODEL_GRID_EXTRAPOLATE_H
#define TL_MODEL_GRID_EXTRAPOLATE_H

#include "model/grid/solids.h"

#define TL_EXTRAPOLATE_LAYERS 3

/* known [3][cells] in: 1 where u has a value, else 0. Out: k + 1 for faces of layer k <= layers; the rest stays 0
 * with u = 0. A layer reads only the one before: no order of visits. u NULL: only the layers are wanted. */
talus_status tl_extrapolate(const tl_grid *g, int layers, double *const u[3], uint8_t *const known[3], tl_arena *a,
                            talus_error *err);

/* Faces that solids cover. */
typedef struct tl_covered {
    const tl_solids *solids;
    double *const *open; /* [3][cells] covered: at most `closed` */
    double closed;
    /* [cells] liquid that pressure holds against solids beside it, which does not leave them either: faces there take
     * on the solid's velocity along its normal; NULL: none */
    const uint8_t *pressed;
} tl_covered;

/* Takes away the part of the velocity that flows into the solid, relative to the solid's own. What slides along it
 * stays. */
talus_status tl_clip_inflow(const tl_grid *g, const tl_covered *c, uint8_t *const known[3], double *const u[3],
                            tl_arena *a, talus_error *err);

#endif
