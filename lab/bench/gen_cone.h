/* Cone problems for tests and benchmarks: random ones with a given spectrum, the frictional stress
 * of a sand box at frozen pressure, and the friction of stacked blocks at frozen normal force. */
#ifndef TL_BENCH_GEN_CONE_H
#define TL_BENCH_GEN_CONE_H

#include "solve/cone/problem.h"

/* A problem with all that it points to. Must not move while the problem is in use. */
typedef struct tl_gen_cone {
    tl_cone problem;
    tl_space space;
    tl_csr A;
    double *b, *radius;
    /* blocks: 1/2 v*'Mv* / dt of the velocities without friction. Adding E(x) gives the same
     * of the velocities with friction, so the minimum of kinetic + E is 0 exactly when all stick. */
    double kinetic;
} tl_gen_cone;

typedef struct tl_gen_cone_spec {
    uint64_t seed;
    int32_t size, groups; /* size 5: the stress form; otherwise the identity */
    double condition;     /* nonzero eigenvalues of A spread from 1 to this, evenly in the logarithm */
    int32_t null_modes;   /* eigenvalues that are zero; b then also pulls along their vectors */
    double tightness;     /* radius of a group over its length at the unconstrained minimum: < 1 binds */
    int32_t pinned, huge; /* every so-many-th group has radius 0, or 1000 times its length; 0 = none */
} tl_gen_cone_spec;

/* Full rows: groups * size up to about 1000. */
talus_status tl_gen_cone_random(tl_gen_cone *g, const tl_gen_cone_spec *spec, talus_error *err);

/* Sand box of nx * ny * nz cells (y up, 5 unknowns per cell, z fastest), walls below and around, free surface on
 * top: A = dt K'HK with the colocated stress operator of [FM21 eq. 44] without bodies, radius = alpha p with p
 * hydrostatic, b from gravity over one step and a collapsing velocity with noise. Rows have up to 200 entries. */
talus_status tl_gen_cone_stress(tl_gen_cone *g, int32_t nx, int32_t ny, int32_t nz, uint64_t seed, talus_error *err);

typedef struct tl_gen_cone_blocks_spec {
    int32_t columns, levels; /* cubes of 0.2 m and 8 kg, `columns` stacks side by side on a plane */
    double tilt_deg;         /* of the plane; downhill is tangent direction (cos, sin) of azimuth */
    double azimuth_deg;
    double friction; /* Coulomb coefficient of all contacts */
    double
        side_press; /* normal force between neighbouring stacks (and end walls), in weights of a cube; 0 = no contact */
    double mass_spread; /* masses vary by factors up to 1 + this, from the seed; 0 = all 8 kg */
    uint64_t seed;
} tl_gen_cone_blocks_spec;

/* Groups of 2: tangential forces (N) at the four corners of every touching pair of faces. A = dt B'M^-1 B,
 * b = -B'v*, radius = friction * normal force. The frozen normal forces carry the weight above and balance
 * the torque of the friction that a stuck or sliding stack needs; corners that would have to pull carry nothing
 * (such a stack tips). */
talus_status tl_gen_cone_blocks(tl_gen_cone *g, const tl_gen_cone_blocks_spec *spec, talus_error *err);

void tl_gen_cone_free(tl_gen_cone *g); /* leaves {0}; {0} is fine */

#endif
