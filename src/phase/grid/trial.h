/* A step of the grid engine in which something flows, and those of its parts that are not phases of the box in
 * step/grid.c: elastic bodies' own iteration, and what is told at the end. */
#ifndef TL_PHASE_GRID_TRIAL_H
#define TL_PHASE_GRID_TRIAL_H

#include "model/coupling/statics.h"
#include "phase/accounts/flow.h"
#include "phase/grid/grid.h"
#include "phase/grid/wet.h"

/* As of the report. */
enum tl_grid_phase {
    TL_GRID_TO_GRID,
    TL_GRID_DOMAINS,
    TL_GRID_SYSTEM,
    TL_GRID_SOLVE,
    TL_GRID_EXTEND,
    TL_GRID_MOVE,
    TL_GRID_CORRECT,
    TL_GRID_MEASURE,
    TL_GRID_PHASES
};

typedef struct tl_grid_trial {
    tl_bodies b;
    tl_flow f;
    tl_sim *sim;
    const tl_scene *scene;
    tl_grid_data *data;
    tl_arena *arena;
    /* particles to grid */
    tl_emitter_state *emitter; /* [emitters] */
    tl_grid_totals totals;
    /* assemble, pose problem, run scheme */
    int64_t recalled;   /* cells with a pressure of the last step */
    tl_statics statics; /* p_next NULL: not wanted */
    tl_friction friction;
    tl_cones cones;
    tl_coupled coupled;
    tl_scheme_report solved;
    /* after it */
    double *fluid; /* [6 bodies] force and torque */
    double *hits;  /* [6 bodies] of it, what single grains and drops do, N s and N m s */
    double *sand;  /* [6 bodies] of these, what cells with sand do */
    double liquid_volume;
    tl_particles_measure measured;
    tl_flow_account account;
    /* elastic bodies: NULL without */
    tl_elastic_trial *soft;
    tl_wet *wet;
    tl_spent spent[TL_GRID_PHASES];
} tl_grid_trial;

static inline talus_status tl_grid_no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a step of the grid engine");
}

static inline void tl_grid_lap(tl_grid_trial *s, enum tl_grid_phase phase)
{
    tl_bodies_lap_to(&s->b, &s->spent[phase]);
    if (s->sim->comm) tl_grid_count_messages(s->sim, phase);
}

/* Newton until velocities are in balance; as long as second looks find contacts that were not seen. */
talus_status tl_grid_solve_elastic(tl_grid_trial *s, bool *again, talus_error *err);
/* Contacts for the next step, how deep bodies are in each other, and where tables show them. */
talus_status tl_grid_end_elastic(tl_grid_trial *s, talus_error *err);
/* Forces of what flows, on static bodies too, and the part of them that sand has: where a cell holds some of it, all of
 * its pressure and stress. Where there is sand at all, single grains are sand. */
talus_status tl_grid_load_bodies(tl_grid_trial *s, talus_error *err);
void tl_grid_fill_report(tl_grid_trial *s);

#endif
