/* Solids with a friction of their own against sand.
 *
 * Samples of stress reach over a wall, so a wall is as rough as the sand. Where a solid has a coefficient mu that is
 * less, the sand slips along it:
 *
 *     |shear| <= mu p    p: what the solid bears
 *
 * A cell with an unknown and a single open face lies in the solid: its pressure and the normal stress of the cell
 * beyond this face, taken to the surface between them, are what the solid bears, and its shears act along the solid
 * alone. Its cone is the solid's, without a diagonal part (which would bear load and leave the pressure), and the
 * edges there take their shear from such cells only. Where the surface passes the middle half of a cell there is
 * none of them: the edge then passes on the part mu / sin(angle) of what sand has there. */
#ifndef TL_MODEL_COUPLING_SLIP_H
#define TL_MODEL_COUPLING_SLIP_H

#include "model/coupling/liquid.h"

typedef struct tl_slip {
    const tl_grid *grid;
    const tl_fractions *fractions; /* as tl_liquid_system left them */
    const tl_solids *solids;
    const double *friction; /* [solids] coefficient of a body; negative: the material's */
    double walls;           /* of the domain's walls */
} tl_slip;

/* Coefficient of the solid that is nearest to a place in an existing block; negative: the material's. */
double tl_slip_at(const tl_slip *s, int32_t block, tl_vec3 x);

/* [cells] what limits the shear: (1 - part) p of the cell itself and part of p - normal . s of cell `beside`, all
 * true stresses, not below 0. */
typedef struct tl_slip_cells {
    int32_t *beside; /* NULL: no solid has a friction of its own */
    double *part;
    double *normal; /* [cells][5] */
} tl_slip_cells;

static inline double tl_slip_load(const tl_slip_cells *c, int32_t i, double own, double beside, const double *s)
{
    const double *n = c->normal + TL_STRESS_GROUP * (int64_t)i, *g = s + TL_STRESS_GROUP * (int64_t)c->beside[i];
    double sum = 0;
    for (int k = 0; k < TL_STRESS_GROUP; k++) sum += n[k] * g[k];
    double load = (1 - c->part[i]) * own + c->part[i] * (beside - sum);
    return load > 0 ? load : 0;
}

/* The lists of a colocated stress with edges "load", and alpha [cells]: sqrt 2 sin(angle) in, cones out. Before
 * bounds are taken. */
talus_status tl_slip_apply(const tl_slip *s, tl_system *system, double *alpha, tl_slip_cells *out, tl_arena *a,
                           talus_error *err);

#endif
