/* What acts between particles besides pressure and friction: smoothing, viscosity, surface tension. All of it
 * between pairs with opposite forces, so momentum is kept to rounding. Read after tl_sph_contacts, before
 * tl_sph_system: it changes predicted velocities. */
#ifndef TL_MODEL_SPH_FORCES_H
#define TL_MODEL_SPH_FORCES_H

#include "model/sph/sph.h"
#include "solve/linear/problem.h"

/* Numerical viscosity, of liquids that have none of their own: with the differences to the neighbours
 *
 *     L v = sum_j V0 W_ij (v_j - v_i)      weighted by masses where they differ
 *     dv/dt = rate L v - grain_rate L L v / (4 (1 - 1/pi)^2)
 *
 * rate, 1/s: as a kinematic viscosity it is 0.15 rate h^2, m^2/s, whatever the step. grain_rate, 1/s: of fourth order,
 * it takes the noise of single particles out, that of the shortest waves at this rate (no eigenvalue of L is beyond
 * -2 (1 - 1/pi)); of waves of 10 h a 500th of that. */
talus_status tl_sph_smooth(tl_sph_step *s, double rate, double grain_rate, talus_error *err);

/* Within a material, after [Akinci2013]. Cohesion of pairs: attracts beyond 0.7 h, repels below; its strength
 * follows from the work of parting a cubic lattice of particles along a plane, which is twice the surface tension,
 * N/m. And forces that even out the surface's normals; differs from [Akinci2013] in that they act along the line of
 * a pair, so that they turn nothing. A drop of 8 h swings at 0.75 of the speed that its tension should give it.
 * Liquid does not wet solids. */
talus_status tl_sph_tension(tl_sph_step *s, talus_error *err);

/* Newtonian viscosity by the pairwise Laplacian of [Morris1997], backward Euler. No slip at the surfaces of solids, not
 * at their samples: velocities are mirrored there.
 *
 *     (M + dt K) x = M v*      x: velocities of liquid (3 each), then of bodies (v and w about the centre of mass, 6 each)
 *
 * K is symmetric positive semidefinite, free bodies are part of it, others are given. The system is scaled by its
 * diagonal. */
typedef struct tl_sph_viscosity {
    tl_sph_step *step;
    tl_space space;
    double *x;         /* [n] scaled: start in, answer out */
    double *b, *scale; /* [n] */
    tl_mat3 *moment;   /* [fluid] sum of V0 |W'|/r d d^T over all around, walls included: 1 where particles are even */
    float *k, *k_edge, *k_near; /* N s/m per pair, times dt: as neighbour, edge_pair, near_pair */
    int32_t *edge_of;           /* [fluid] number among edges, -1: none */
    tl_vec3 *v;                 /* [fluid] scratch of a product */
    tl_vec3 *body_v, *body_w;   /* [bodies] scratch */
    tl_sph_force *chunk, *drag; /* [chunks]; [bodies] mean force of viscosity on bodies, N and N m, after apply */
    tl_mat3 *inertia;           /* [bodies] world frame */
} tl_sph_viscosity;

/* `v` and `out` point into the step's arena and into each other; `v` must stay where it is. */
talus_status tl_sph_viscosity_begin(tl_sph_viscosity *v, tl_sph_step *s, tl_linear *out, talus_error *err);
/* Velocities of the step from the forces that belong to x. */
void tl_sph_viscosity_apply(tl_sph_viscosity *v, tl_sph_step *s);

#endif
