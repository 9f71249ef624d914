/* Particles: what the grid engine carries from step to step.
 *
 * A particle has a place, a velocity with its first derivatives (APIC [Jiang2015]), a volume that does not change, a
 * material and an id that is never used again. 136 bytes. Order in memory is that of cells at the start of the last
 * step; only ids are stable. */
#ifndef TL_MODEL_GRID_PARTICLES_H
#define TL_MODEL_GRID_PARTICLES_H

#include "model/grid/grid.h"
#include "model/grid/state.h"

/* Wraps a place along periodic axes and tells its cell; false: out of the world. */
bool tl_particle_locate(const tl_grid_frame *f, const tl_domain_spec *walls, tl_vec3 *x, int32_t cell[3]);

/* Where each particle is: key [count] of cells, ascending, and order [count] of particles; ties stay in the order
 * they are in, which the state keeps. The first `kept` are in the world (see below), the others come last. A domain
 * of {0} has closed walls only. */
talus_status tl_particles_order(const tl_grid_frame *f, const tl_domain_spec *walls, const tl_particles *p,
                                uint64_t *key, int32_t *order, int64_t *kept, tl_arena *a, talus_error *err);

/* The same from keys of cells [n], UINT64_MAX for what is nowhere. */
talus_status tl_keys_order(const tl_grid_frame *f, int64_t n, const uint64_t *of, uint64_t *key, int32_t *order,
                           int64_t *kept, tl_arena *a, talus_error *err);

typedef struct tl_lost {
    int64_t count;
    double volume; /* m^3 */
} tl_lost;
/* Sort by cell; out->particle [room >= from->count], not in place; key [from->count] ascending, of the out->count
 * that stay. Places are wrapped along periodic axes. Left out, with their volume counted: particles that are not
 * finite, further than TL_GRID_FAR cells away, or more than TL_GRID_MARGIN cells beyond an open wall; and, without
 * being counted, those of other parts. O(n). */
talus_status tl_particles_sort(const tl_grid_frame *f, const tl_domain_spec *walls, const tl_particles *from,
                               tl_particles *out, uint64_t *key, tl_lost *lost, tl_arena *a, talus_error *err);

/* Several parts: particles of each are sent to the owners of their places and stand behind the others there, in the
 * order of the senders; those that were sent stay where they are until the sort leaves them out. Collective. */
talus_status tl_particles_migrate(const tl_grid_frame *f, const tl_domain_spec *walls, tl_particles *all, tl_arena *a,
                                  talus_error *err);

/* What a part has in cubes of its owners (owners.h): one entry per particle, but for those that follow one of the same
 * cube. Returns how many; out [count]. */
struct tl_cube;
int64_t tl_particles_cubes(const tl_grid_frame *f, const tl_domain_spec *walls, const tl_particles *p,
                           struct tl_cube *out);
/* Cuts the world by the particles that part 0 has. Collective. */
talus_status tl_particles_cut(const tl_grid_frame *f, const tl_domain_spec *walls, const tl_particles *p, tl_arena *a,
                              talus_error *err);
/* Whose place that is; what is nowhere is part 0's. */
int32_t tl_particle_part(const tl_grid_frame *f, const tl_domain_spec *walls, tl_vec3 x);

/* That of all parts. */
void tl_particles_measure_sum(const struct tl_comm *c, tl_particles_measure *m);
/* rho [materials] kg/m^3. Fixed-order sums, of all parts. */
talus_status tl_particles_measures(const tl_grid_frame *f, const tl_particles *p, const double *rho, tl_vec3 gravity,
                                   tl_arena *a, tl_particles_measure *out, talus_error *err);

/* Longest step in which no particle crosses more than `cfl` cells, speeds after gravity included; INFINITY when
 * nothing moves. `extra`: speed of the fastest body surface. */
double tl_particles_dt(const tl_grid_frame *f, double cfl, double fastest, double extra, tl_vec3 gravity);

#endif
