/* What the SPH engine must remember between steps: fluid particles, warm starts of surface particles, what emitters
 * gave.
 *
 * Particles are stored in the order of the last step's cells; ids say who is who. Surface particles of bodies are
 * not here: they follow from the bodies' motion and the samples (model/sph/sph.h), and their number there is the id
 * of their warm start. */
#ifndef TL_MODEL_SPH_STATE_H
#define TL_MODEL_SPH_STATE_H

#include <stdint.h>

#include "base/status.h"
#include "math/vec.h"
#include "model/state.h"

/* One cache line. */
typedef struct tl_sph_particle {
    tl_vec3 x, v;
    double p;         /* pressure, Pa: the next solve's start, and output */
    int32_t id;       /* 0, 1, ... in the order of creation */
    int32_t material; /* the scene's */
} tl_sph_particle;

/* A surface particle that touched something solid. */
typedef struct tl_sph_memory {
    double p;       /* Pa */
    tl_vec3 lambda; /* friction force, N, world frame */
    int32_t particle;
    int32_t zero; /* fills the struct: its bytes are hashed and saved */
} tl_sph_memory;

typedef struct tl_sph_emitter {
    double due;      /* m^3 asked for and not given yet */
    int64_t layers;  /* given so far */
    int64_t skipped; /* particles that found their place taken */
} tl_sph_emitter;

typedef struct tl_sph_counters {
    int64_t next_id;
    int64_t lost; /* particles that left for good, and are not stored any more */
    double dt;    /* s: the step that pressures are of; 0: none yet */
} tl_sph_counters;

typedef struct tl_sph_state {
    int64_t count, room;
    tl_sph_particle *particle;
    int64_t memories, memory_room;
    tl_sph_memory *memory; /* [memories] rising particle */
    int64_t emitters;      /* the scene's, fixed */
    tl_sph_emitter *emitter;
    int64_t counters; /* 1 when the engine is in use */
    tl_sph_counters *counter;
} tl_sph_state;

void tl_sph_state_free(tl_sph_state *s); /* leaves {0} */
/* Room for so many; contents stay. On failure nothing has changed but room. */
talus_status tl_sph_state_reserve(tl_sph_state *s, int64_t particles, int64_t memories, talus_error *err);

/* Its section of a state (model/state.h); NULL where the engine has none. */
extern const tl_state_kind tl_sph_state_kind;
static inline tl_sph_state *tl_sph_state_of(const tl_state *s) { return tl_state_find(s, &tl_sph_state_kind); }

#endif
