/* Frictional stress of sand on elastic bodies: the block of cones in the problem of pressure, contacts, elastic and
 * rigid solids (solve/dual), for phase/grid/wet.h.
 *
 * Stress meets a surface as it meets a rigid body: by the part of each face that the body covers, times the velocity
 * that the body has there; so it is as rough as the sand unless it has a friction of its own (model/coupling/slip.h).
 * The Hessian of the cones has the solids eliminated, one solve with the factors of H per product. */
#ifndef TL_PHASE_GRID_SANDY_H
#define TL_PHASE_GRID_SANDY_H

#include "model/coupling/soft_solid.h"
#include "model/grid/flow.h"
#include "phase/elastic/trial.h"
#include "solve/coupled/cones.h"

typedef struct tl_sandy {
    tl_elastic_trial *trial;
    tl_flow *flow;
    tl_coupling c; /* the system's lists with all solids; v [3 nodes + 6 rigid] as of now */
    tl_soft_solid solid;
    double *inv_mass;        /* [nodes] */
    double *r, *x;           /* [unknowns + 6 rigid] scratch of solves */
    double *u_free, *u_last; /* [faces] before any force, and scratch of the sweeps */
    double *mass;            /* [faces] of u, any unit */
    double *bends;           /* [faces] part that elastic bodies cover */
    const tl_friction *friction;
    tl_cones cones;      /* ctx: this */
    talus_status failed; /* of a solve */
    talus_error why;
} tl_sandy;

/* After tl_flow_assemble: J of all solids; flow->motion is set. d: as for tl_soft_build. */
talus_status tl_sandy_assemble(tl_sandy *s, tl_elastic_trial *trial, tl_flow *flow, const tl_soft_domain *d,
                               talus_error *err);
/* The block, from that of `friction` alone. system.c.u: velocities before any force; stress of the start acts after it
 * when warm, and is none else. */
void tl_sandy_pose(tl_sandy *s, const tl_friction *friction, const tl_cones *cones, bool warm);
/* load [unknowns + 6 rigid] N s += what stress does to solids; ctx: a tl_sandy. */
void tl_sandy_load(const void *ctx, double *load);
/* The same on nodes, held ones too: [3 nodes]. */
void tl_sandy_load_nodes(const tl_sandy *s, const double *stress, double *load);

#endif
