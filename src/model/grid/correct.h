/* Particle-level density correction: spreads particles that crowd, never pulls any together.
 *
 * Advection lets particles drift into clumps although the flow keeps volumes [FM21 4.1.2]. Position-based: the SPH
 * density of each particle from neighbours within two spacings; where it is above rest, pairs move apart. Centres of
 * mass of cells stay, so that this does no work against gravity. Nothing happens where the material is at rest
 * density or below. Solids push back (particles end outside). */
#ifndef TL_MODEL_GRID_CORRECT_H
#define TL_MODEL_GRID_CORRECT_H

#include "model/grid/particles.h"
#include "model/grid/solids.h"

typedef struct tl_correction {
    double worst;    /* largest density over rest before, 1 = rest */
    double furthest; /* m that a particle moved */
} tl_correction;

typedef struct tl_spread {
    int sweeps;      /* one or more */
    double gap;      /* m between solids and particles */
    double strained; /* s: particles go no further than neighbours move past each other in this time; 0: they do */
} tl_spread;

/* Sweeps over particles at their present places; moves x only. */
talus_status tl_particles_spread(const tl_grid_frame *f, const tl_solids *s, const tl_spread *how, tl_particles *p,
                                 tl_arena *a, tl_correction *out, talus_error *err);

#endif
