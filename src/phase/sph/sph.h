/* The step of the SPH engine, in three files: sph_begin.c makes a simulation, says how long a step may be and lets
 * emitters give; sph_fit.c makes room for solids in fills; sph.c is the step. */
#ifndef TL_PHASE_SPH_SPH_H
#define TL_PHASE_SPH_SPH_H

#include "model/sph/sph.h"
#include "phase/rigid/rigid.h"
#include "solve/fixedpoint/method.h"

/* Spacings in the longest step that a scene allows: whoever moves faster needs steps of less than a millionth of it,
 * which no run would end with. */
#define TL_SPH_ABSURD 1e6

/* Places where an emitter puts particles: a lattice in its shape. */
typedef struct tl_sph_inlet {
    int32_t count;
    tl_vec3 *at;  /* [count] */
    tl_box3 near; /* holds what may be in the way */
} tl_sph_inlet;

/* sim->engine_data: decided once; nothing here changes a result. */
typedef struct tl_sph_data {
    tl_rigid_data rigid; /* who is lost; bodies have no contacts of their own */
    tl_sph sph;          /* samples of bodies */
    const tl_fixedpoint_method *method;
    tl_stop stop;
    tl_sph_inlet *inlet; /* [emitter_count] */
    bool viscous;        /* a material has a viscosity, */
    bool tense;          /* or a surface tension */
    bool *squeezed;      /* [scene_count] body was told to be in a place too narrow for it */
} tl_sph_data;

static inline tl_sph *tl_sph_of(const tl_sim *sim) { return &((tl_sph_data *)sim->engine_data)->sph; }

talus_status tl_sph_engine_begin(tl_sim *sim, talus_error *err);
void tl_sph_engine_end(tl_sim *sim);

/* Fills of t = 0: what is inside of solids is taken away, what is too near to their samples pushed out, and whatever is
 * pressed together is parted, so that the volume that is left of a fill has its count (sph_fit.c). */
talus_status tl_sph_fit_fills(tl_sim *sim, talus_error *err);

/* Nothing moves more than cfl spacings: fluid, and any point of a body. Surface tension: a capillary wave of two
 * spacings is resolved. */
double tl_sph_dt_wanted(const tl_sim *sim);
double tl_sph_absurd(const tl_sim *sim); /* m/s: no step is short enough for this */
talus_status tl_sph_measure(tl_sim *sim, tl_totals *t, talus_error *err);
int64_t tl_sph_samples(const tl_sim *sim, tl_sample *out);
extern const tl_view tl_sph_views[];
#define TL_SPH_VIEWS 8

/* What emitters add to the particles at the end of a step. */
typedef struct tl_sph_births {
    int32_t count;
    tl_sph_particle *particle; /* [count] ids not yet given */
    tl_sph_emitter *emitter;   /* [emitter_count] as they are to be */
} tl_sph_births;

/* A particle is born at a place of its emitter that is a spacing away from all `count` others, as many as the rate
 * asks for; what finds no place waits, up to the volume of the shape. Births never overlap, so they make no
 * pressure. */
talus_status tl_sph_emit(const tl_sim *sim, double dt, int32_t count, const tl_sph_particle *particle, tl_arena *a,
                         tl_sph_births *out, talus_error *err);

#endif
