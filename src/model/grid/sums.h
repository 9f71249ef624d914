/* Sums over the faces of the grid, in fixed order: what matter on them has, for accounts. Of several parts those of
 * all. */
#ifndef TL_MODEL_GRID_SUMS_H
#define TL_MODEL_GRID_SUMS_H

#include "model/grid/fractions.h"
#include "model/grid/transfer.h"

typedef struct tl_flow_sums {
    double kinetic; /* J */
    double power;   /* W of gravity */
} tl_flow_sums;

tl_flow_sums tl_faces_sums(const tl_grid *g, const tl_faces *faces, double *const u[3], tl_vec3 gravity);

typedef struct tl_impulse {
    tl_vec3 linear, angular; /* N s; N m s about the origin */
} tl_impulse;

/* That of all parts. */
void tl_impulse_sum(const struct tl_comm *c, tl_impulse *i);

/* Momentum of matter on faces inside of solids: what becomes of it between two calls is theirs. */
tl_impulse tl_faces_closed(const tl_grid *g, const tl_faces *faces, const tl_fractions *fractions);

#endif
