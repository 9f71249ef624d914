/* Particles to faces and back, with affine velocities [Jiang2015], hat kernels (trilinear).
 *
 * To the grid: mass and momentum on faces, filling at cell centres. Scatter by blocks of one colour after the other
 * into a private buffer, so the order of additions does not depend on threads. Mass, momentum and angular momentum
 * are those of the particles to rounding (tests/unit/grid_transfer.c). Back: velocity and gradient of the
 * interpolant: affine fields return exactly. */
#ifndef TL_MODEL_GRID_TRANSFER_H
#define TL_MODEL_GRID_TRANSFER_H

#include "model/grid/measure.h"
#include "model/grid/solids.h"

typedef struct tl_faces {
    double *mass[3]; /* [cells] kg */
    double *u[3];    /* [cells] m/s; 0 where mass is 0 */
    double *rest
        [3]; /* [cells] mean density of the material on the face, kg/m^3; NULL when all materials in use have rho0 */
    double rho0;  /* kg/m^3: the density, or the smallest of several */
    double *fill; /* [cells] particle volume per cell volume at cell centres: density / rho0 of one material */
} tl_faces;

/* rho [materials]. Arrays of `out` in the arena. p sorted as for tl_grid_build. */
talus_status tl_particles_to_grid(const tl_grid *g, const tl_particles *p, const double *rho, int materials,
                                  tl_arena *a, tl_faces *out, talus_error *err);

/* Mean over particles around a cell's centre of a number that belongs to materials, by volume: value [materials],
 * fill of tl_faces. Cells without any take the mean of their neighbours that have one, two cells far; beyond: 0.
 * mean [cells] out. */
talus_status tl_particles_mean(const tl_grid *g, const tl_particles *p, const double *value, const double *fill,
                               tl_arena *a, double *mean, talus_error *err);

/* New velocities and gradients from u [3][cells], in place. known [3][cells]: faces with 0 do not count
 * (tl_extrapolate leaves the layer there); NULL: all count. A particle with no known face around keeps its velocity
 * and loses its gradient. */
void tl_grid_to_particles(const tl_grid *g, double *const u[3], uint8_t *const known[3], tl_particles *p);

typedef struct tl_advected {
    int64_t clipped; /* particles that a solid stopped */
    double deepest;  /* m inside of a solid before they were put out */
} tl_advected;
/* What moves particles, and what stops them. */
typedef struct tl_advection {
    double *const *u;       /* [3] */
    uint8_t *const *known;  /* [3] faces that have a velocity; NULL: all */
    const tl_solids *end;   /* solids at their end poses; NULL: none */
    const float *solid_phi; /* tl_solids_field at the start poses */
    double travel;          /* m: how far any solid's surface moved since, at most */
    double gap;             /* m that particles stay outside of solids */
    double dt;
} tl_advection;

/* Move particles by dt through u: midpoint rule, starting with their own velocities (which are u at their places
 * after tl_grid_to_particles). The way stops at solids at their end poses, slides along them, and ends `gap` metres
 * outside; there the velocity loses what points into the solid, and keeps the rest. Velocities are otherwise
 * untouched. */
tl_advected tl_particles_advect(const tl_grid *g, const tl_advection *by, tl_particles *p);

/* Particles of a block: what solids that stop them do to them, the energy of their affine velocities before they
 * move, and what they carry after. */
typedef struct tl_carried {
    tl_vec3 impulse; /* N s on particles */
    tl_vec3 turn;    /* N m s about the origin */
    double affine;   /* J */
    tl_particle_sums sums;
} tl_carried;

/* All in one pass over the particles: tl_grid_to_particles from u, tl_particles_advect through `by`,
 * tl_particles_bound_affine, sums. rho [materials] kg/m^3; carried [blocks] out, its affine energy where bounded
 * [blocks] is set. */
tl_advected tl_particles_carry(const tl_grid *g, double *const u[3], const tl_advection *by, const double *rho,
                               const uint8_t *bounded, tl_carried *carried, tl_particles *p);

/* Affine velocities of the blocks marked in `bounded` have no more energy than they had before particles moved: what
 * is more is taken from all in a block alike. */
void tl_particles_bound_affine(const tl_grid *g, const double *rho, const tl_carried *carried, const uint8_t *bounded,
                               tl_particles *p);

#define TL_GAP_CELLS 0.02 /* particles stay this far outside of solids, in cells; chosen */
/* Put a particle `gap` outside of whatever solid is nearest, again while that puts it into another; its velocity
 * loses what points into it. Between solids that leave it no room it loses its gradient: the faces around it are
 * theirs, or have nothing but what it brought itself, and what it read back would grow twofold in every step. False:
 * it was outside. `deepest` grows to how far it had to go. block: as in tl_solids_distance. */
bool tl_particle_put_outside(const tl_solids *s, int32_t block, double gap, tl_particle *p, double *deepest);

/* Velocity interpolated anywhere; `block`: one nearby, to look from. Unknown faces do not count; an axis without a
 * known face keeps what v had. False: there was such an axis. */
bool tl_grid_velocity(const tl_grid *g, int32_t block, double *const u[3], uint8_t *const known[3], tl_vec3 x,
                      tl_vec3 *v);

#endif
