/* A simulation: scene, state, what the engine keeps, and how one step is made, tried again and ended on time.
 *
 * An engine is an entry in a table. Its step derives everything from the state in the arena and writes the state in its last phase
 * only, which cannot fail; so a step that fails, or whose solver misses its target under on_unconverged = "shrink_dt", is tried again
 * with half the length, and nothing is lost. */
#ifndef TL_STEP_SIM_H
#define TL_STEP_SIM_H

#include "base/log.h"
#include "model/lg/lg.h"
#include "model/report.h"
#include "model/sph/sph.h"
#include "model/state.h"

typedef struct tl_sim tl_sim;
struct tl_grid_view; /* step/grid.h */

typedef struct tl_engine_entry {
    const char *name; /* as in scenes */
    /* Models and the first state, from sim->scene. Whether the scene is one that this engine can run is decided here, with the reason. */
    talus_status (*begin)(tl_sim *sim, talus_error *err);
    void (*end)(tl_sim *sim);
    /* The longest step that accuracy and stability allow now, s. */
    double (*dt_wanted)(const tl_sim *sim);
    /* One try. On success the state is the new one and sim->report is filled (t, dt, step, retries are the caller's); on failure the
     * state is as it was. `again`: set when the try failed in a way that a shorter step may cure. */
    talus_status (*step)(tl_sim *sim, double dt, bool *again, talus_error *err);
} tl_engine_entry;

/* What all matter has together. */
typedef struct tl_totals {
    double mass, second; /* kg; sum of m x^2 about the origin */
    tl_vec3 first;       /* sum of m x */
    double kinetic, potential, elastic;
    tl_vec3 momentum, angular; /* about the origin */
} tl_totals;

struct tl_sim {
    const tl_scene *scene; /* not owned; must live longer */
    const tl_engine_entry *engine;
    tl_state state;
    tl_rigid rigid;
    tl_sph sph;               /* engine "sph", else {0} */
    tl_lg lg;                 /* elastic bodies of the lg engine; {0} in others */
    struct tl_lg_hold *hold;  /* [tl_lg_hold_count] of the last step of engine "lg"; NULL in others */
    tl_report report;         /* of the last step */
    tl_totals start, flowing; /* of the state that a try begins with; of its particles on the grid alone */
    tl_totals came;           /* of matter that came (less what left) in it */
    tl_accounts accounts;     /* of the try; see step/accounts.h */
    tl_arena arena;           /* of a step, emptied at its begin */
    void *own;                /* what else the engine keeps: caches that do not change results */
    tl_history *history;      /* NULL unless wanted: [TL_REPORT_SOLVES] */
    tl_log log;
    /* Sees the coupled problem of every step of engine "grid" once it is solved; NULL: nobody does. Not TALUS_OK: the step fails with it. */
    talus_status (*probe)(void *user, const struct tl_grid_view *view, talus_error *err);
    void *probe_user;
};

talus_status tl_sim_create(tl_sim **out, const tl_scene *scene, const tl_log *log, talus_error *err);
void tl_sim_free(tl_sim *sim);

/* One step of at most `dt` (<= 0: as long as the engine wants, at most scene->dt_max), never beyond `until`; a step that comes within
 * rounding of `until` ends exactly there. Tries again with half the length down to scene->dt_min, then fails with the last reason and
 * the state as it was. */
talus_status tl_sim_step(tl_sim *sim, double dt, double until, talus_error *err);
/* Steps until the next frame, state.frame + 1 at (frame + 1) / fps exactly. `stop`, asked after each step, ends early: interrupted, with a
 * good state between frames. After the step that reaches the frame its answer is not needed: the frame is complete, and the caller
 * goes on or not. May be NULL. */
talus_status tl_sim_frame(tl_sim *sim, bool (*stop)(void *user, const tl_sim *sim), void *user, talus_error *err);

#endif
