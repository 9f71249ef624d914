/* The grid engine's part of the state: particles, pressures to start from, what emitters owe. Arrays are listed in
 * tl_state_parts. */
#ifndef TL_MODEL_GRID_STATE_H
#define TL_MODEL_GRID_STATE_H

#include <stdbool.h>

#include "base/status.h"
#include "math/vec.h"
#include "model/state.h"

/* 16 doubles, 2 int32: saved and hashed as plain numbers. */
typedef struct tl_particle {
    tl_vec3 x, v;
    tl_mat3 C;     /* m[a][b] = d v_a / d x_b, 1/s */
    double volume; /* m^3; mass = volume * density of its material; in 2D of the slab's full thickness */
    int32_t id;    /* given once, ascending */
    int32_t material;
} tl_particle;

typedef struct tl_particles {
    int64_t count, room;
    tl_particle *particle;
} tl_particles;

/* What a cell had at the end of the last step; solvers start from it. */
typedef struct tl_cell_memory {
    int64_t key;     /* tl_grid_key */
    double pressure; /* Pa */
} tl_cell_memory;

typedef struct tl_emitter_state {
    double owed; /* m^3 that came due and are not yet particles; less than one particle unless the emitter is blocked */
    double emitted; /* m^3 since the start, = sum over its particles */
    double due;     /* m^3 since the start, integral of the rate; = owed + emitted + refused */
    double refused; /* m^3 that no free place was found for and that were given up (see emit.h) */
} tl_emitter_state;

/* What the search for the stress at rest starts from, on the three lower faces of a cell (see
 * model/coupling/statics.h). */
typedef struct tl_rest_memory {
    int64_t key; /* tl_grid_key */
    double t[3]; /* displacement times a stiffness, Pa m */
} tl_rest_memory;

/* What a set of particles carries; doubles only. Affine part included in kinetic energy and angular momentum as what
 * P2G would give to the grid [Jiang2015]. */
typedef struct tl_particles_measure {
    double mass, volume;                /* kg, m^3 */
    double kinetic, potential;          /* J; potential zero at the origin */
    tl_vec3 first;                      /* kg m: sum of m x */
    double second;                      /* kg m^2: sum of m |x|^2 */
    tl_vec3 momentum, angular_momentum; /* about the origin */
    double fastest;                     /* m/s */
} tl_particles_measure;

/* All doubles, counts included (exact up to 2^53). */
typedef struct tl_grid_totals {
    double next_id;        /* of the next particle */
    double escaped;        /* particles lost since the start */
    double escaped_volume; /* m^3 of those */
    double initial_volume; /* m^3 of all fills */
    double statics;        /* 1: the stress at rest is being selected (model/coupling/statics.h) */
    double measured;       /* 1: `particles` is of the particles of this state, as the last step left them */
    double flow;           /* m/s of the fastest cell of a liquid in the last step */
    double lost;           /* J that the flow lost, less what parting crowds lifted (step/grid.c) */
    tl_particles_measure particles;
} tl_grid_totals;

typedef struct tl_grid_state {
    tl_particles particles;
    int64_t memories, memory_room;
    tl_cell_memory *memory; /* [memories] ascending by key */
    int64_t stresses, stress_room;
    double
        *stress; /* [stresses][5] Pa, of the same cells; stresses is `memories` where something is granular, else 0 */
    int64_t rests, rest_room;
    tl_rest_memory *rest; /* [rests] ascending by key */
    int64_t emitters;
    tl_emitter_state *emitter; /* [emitters] of the scene */
    int64_t totals_count;      /* 1; 0 when the engine has no grid */
    tl_grid_totals *totals;
} tl_grid_state;

void tl_grid_state_free(tl_grid_state *s); /* leaves {0} */

/* Room for `count` particles; contents stay. */
talus_status tl_particles_reserve(tl_particles *p, int64_t count, talus_error *err);
void tl_particles_free(tl_particles *p);
/* Room for `count` cell memories, with stress if wanted; contents stay. */
talus_status tl_grid_state_reserve_rest(tl_grid_state *s, int64_t count, talus_error *err);
talus_status tl_grid_state_reserve_memory(tl_grid_state *s, int64_t count, bool stress, talus_error *err);

/* Its section of a state (model/state.h); NULL where the engine has none. */
extern const tl_state_kind tl_grid_state_kind;
static inline tl_grid_state *tl_grid_state_of(const tl_state *s) { return tl_state_find(s, &tl_grid_state_kind); }

#endif
