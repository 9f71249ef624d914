/* All solids of a step as one tl_coupled_solid: elastic bodies by the velocities of their nodes, three each, and behind
 * them the twists of rigid bodies, six each. Stress of sand meets both through it.
 *
 * An elastic body gives way by what its factored Hessian says, which is the caller's; bounds take the masses of nodes
 * alone, which are never too small: stiffness only adds to inertia. */
#ifndef TL_MODEL_COUPLING_SOFT_SOLID_H
#define TL_MODEL_COUPLING_SOFT_SOLID_H

#include "model/coupling/rigid_solid.h"
#include "model/coupling/soft.h"

typedef struct tl_soft_solid {
    const tl_rigid_solid *rigid;
    int32_t nodes;
    tl_csr J, Jt;           /* [faces][3 nodes] and its transpose */
    const double *inv_mass; /* [nodes] 1/kg; 0: held */
    tl_csr C, Ct;           /* [3 cells][3 nodes], see tl_soft_surface */
    double *scratch;        /* [3 nodes] */
    double *cells;          /* [3 cells] */
    double *e;              /* [3 cells] */
    /* v = H^-1 r, [3 nodes + 6 bodies] both; 0 for what is held */
    void (*solve)(const void *ctx, const double *r, double *v);
    const void *ctx;
} tl_soft_solid;

/* J of the domain's bodies and room, from the arena; rigid, inv_mass, solve and ctx are there. */
talus_status tl_soft_solid_build(tl_soft_solid *s, const tl_soft_domain *d, tl_arena *a, talus_error *err);

tl_coupled_solid tl_soft_solid_view(const tl_soft_solid *s); /* keeps the pointer; one product at a time */

#endif
