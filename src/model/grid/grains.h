/* Coulomb friction of single grains against solids.
 *
 * Thin fronts and stray grains are in cells without a pressure, so no stress holds them and a floor would be ice to them. A grain that touches a solid
 * there gets the friction of a point: the normal impulse that keeps it out, times sin(angle), the same limit at which a layer of the material slips on
 * a floor [grid-granular spec 3.6, 6.13]. */
#ifndef TL_MODEL_GRID_GRAINS_H
#define TL_MODEL_GRID_GRAINS_H

#include "model/grid/transfer.h"

typedef struct tl_grains {
    const double *alpha;     /* [materials] sqrt 2 sin(angle); 0: a liquid */
    const double *rho;       /* [materials] kg/m^3 */
    const int32_t *number;   /* [cells] < 0: no pressure there */
    const tl_solids *solids; /* at the start of the step */
    const float *solid_phi;  /* tl_solids_field of them */
    double touch;            /* m: nearer than that to a solid is in contact */
    double gap, dt;          /* m that particles keep from solids; s */
    tl_vec3 push;            /* velocity that forces add in the step, m/s: already in u */
} tl_grains;

/* Changes the face velocities that such grains have a part in. Returns how many there are. */
int64_t tl_grains_stop(const tl_grid *g, const tl_grains *s, const tl_particles *p, tl_faces *faces);

#endif
