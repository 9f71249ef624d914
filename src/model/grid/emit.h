/* Particles from fills at the start and from emitters later.
 *
 * A particle stands for one lattice cube of its fill, or for an equal share of it (blue noise). Of liquids it stands
 * for what the fill has of the cube, at its centre of mass, and volumes are fitted to the fillings of cells
 * (fill_volumes.h). Bodies and walls are cut out of fills; where fills overlap, the first one has the place.
 * Emitters owe rate * dt every step and pay in whole particles, at places of their shape that nothing is near; what
 * they cannot place stays owed up to the volume of the shape, the rest is refused and counted. So at any time due =
 * emitted + owed + refused. */
#ifndef TL_MODEL_GRID_EMIT_H
#define TL_MODEL_GRID_EMIT_H

#include "model/grid/solids.h"
#include "model/grid/state.h"

/* What fills are cut by: bodies where they are, elastic ones by their meshes, as the flow sees them. */
typedef struct tl_fill_bodies {
    const tl_rigid *rigid;
    const tl_motion *motion; /* [rigid->count] */
    const tl_skins *skins;   /* NULL: nothing bends */
} tl_fill_bodies;

/* First state: particles of all fills, emitters that owe nothing. */
talus_status tl_grid_state_begin(tl_grid_state *out, const tl_scene *s, const tl_grid_frame *f,
                                 const tl_fill_bodies *bodies, talus_error *err);

/* Of one emitter at the start of a step. */
typedef struct tl_emission {
    double rate; /* m^3/s */
    tl_vec3 velocity;
    bool open; /* start <= t < stop */
} tl_emission;
talus_status tl_emitters_read(const tl_scene *s, double t, tl_emission *out, talus_error *err);

/* What emitters see of a step. */
typedef struct tl_emitting {
    const tl_scene *scene;
    const tl_grid_frame *frame;
    const tl_solids *solids;     /* no particle starts in one */
    const tl_emission *emission; /* [scene->emitter_count] */
    double dt;
    const struct tl_comm *comm; /* several parts: all decide the same, and the first has the particles; NULL: one */
} tl_emitting;

/* What one step adds. next [scene->emitter_count] becomes the emitters' new state; the new particles are put behind
 * p->count (room is reserved here), ids from *next_id on. */
talus_status tl_particles_emit(const tl_emitting *e, const tl_emitter_state *now, tl_emitter_state *next,
                               tl_particles *p, double *next_id, tl_arena *a, talus_error *err);

/* Spacing of particles that a fill or emitter asks for: its own, or half a cell. */
double tl_spacing_of(const tl_scene *s, double asked);
/* m^3 of a particle at that spacing; in 2D of the slab's full thickness. */
double tl_particle_volume(const tl_grid_frame *f, double spacing);

#endif
