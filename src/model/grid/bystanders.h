/* Particles of other parts near own ones, as what corrects densities sees them: places, volumes and how much they are
 * strained. Asked for after particles have moved, and before they go to the owners of their places. */
#ifndef TL_MODEL_BYSTANDERS_H
#define TL_MODEL_BYSTANDERS_H

#include "base/comm.h"
#include "model/grid/particles.h"

typedef struct tl_bystander {
    tl_vec3 x;
    double volume;
    double strain2; /* 1/s^2: squares of the velocity's derivatives */
} tl_bystander;

typedef struct tl_bystanders {
    const tl_comm *comm; /* NULL: there is one part, and there are none */
    int64_t count;
    tl_bystander *of;
    int64_t told;        /* own ones that are bystanders elsewhere */
    int32_t *which, *to; /* [told] their numbers, and to whom */
} tl_bystanders;

/* All that may be within two cells of where own particles are. Collective; out->comm is there. */
talus_status tl_bystanders_find(tl_bystanders *out, const tl_grid_frame *f, const tl_particles *p, tl_arena *a,
                                talus_error *err);
/* theirs [count] = a number of each, of whom own [p->count] is ours. */
talus_status tl_bystanders_bring(const tl_bystanders *b, const float *own, float *theirs, tl_arena *a,
                                 talus_error *err);

#endif
