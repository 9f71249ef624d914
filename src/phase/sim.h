/* A simulation: scene, state, what the engine keeps, and how one step is made, tried again and ended on time.
 *
 * An engine is an entry in a table. Its step derives everything from the state in the arena and writes the state in
 * its last phase only, which cannot fail; so a step that fails, or whose solver misses its target under
 * on_unconverged = "shrink_dt", is tried again with half the length, and nothing is lost. */
#ifndef TL_PHASE_SIM_H
#define TL_PHASE_SIM_H

#include "base/comm.h"
#include "base/log.h"
#include "model/contact_row.h"
#include "model/lg/lg.h"
#include "model/report.h"
#include "model/rigid/joints.h"
#include "model/state.h"

typedef struct tl_sim tl_sim;

/* Rows of an array that users see: `stride` bytes from one to the next. */
typedef struct tl_rows {
    const void *data;
    size_t stride;
    int64_t count;
} tl_rows;

/* A view: what frames, pictures and the library show of a simulation, by name. Arrays of one set ("particles.") have
 * as many rows. */
typedef struct tl_view {
    const char *name; /* "particles.position" */
    tl_number type;
    int width;     /* numbers in a row */
    size_t offset; /* bytes, of them in a row */
    tl_rows (*rows)(const tl_sim *sim);
    /* Of numbers that are computed when somebody looks: all rows, one after the other without gaps. `rows` then tells
     * how many, without data. NULL: they lie in memory. */
    void (*fill)(const tl_sim *sim, void *out);
} tl_view;

/* A point on a body that an engine computes with. */
typedef struct tl_sample {
    tl_vec3 at, v;
    int32_t id, body;
} tl_sample;

typedef struct tl_totals tl_totals;

typedef struct tl_engine_entry {
    /* Models and the first state, from sim->scene. Whether the scene is one that this engine can run is decided
     * here, with the reason. */
    talus_status (*begin)(tl_sim *sim, talus_error *err);
    void (*end)(tl_sim *sim);
    /* The longest step that accuracy and stability allow now, s. */
    double (*dt_wanted)(const tl_sim *sim);
    /* One try. On success the state is the new one and sim->report is filled (t, dt, step, retries are the
     * caller's); on failure the state is as it was. `again`: set when the try failed in a way that a shorter step
     * may cure. */
    talus_status (*step)(tl_sim *sim, double dt, bool *again, talus_error *err);
    /* Adds what its own matter has to `t`: all but rigid and elastic bodies, which are counted for every engine.
     * NULL: it has none. */
    talus_status (*measure)(tl_sim *sim, tl_totals *t, talus_error *err);
    /* Points on bodies that the engine computes with. Returns how many; out: NULL, or with room for all. NULL: it
     * has none. */
    int64_t (*samples)(const tl_sim *sim, tl_sample *out);
    const tl_view *views; /* [view_count] of its own matter */
    int view_count;
    const struct tl_parts_entry *parts; /* NULL: runs in one part alone */
} tl_engine_entry;

/* What an engine that runs in several parts does with what is dealt among them (tl_state_kind.is_dealt). Collective;
 * a failure is everybody's. */
typedef struct tl_parts_entry {
    /* What of it cannot run in so many. */
    talus_status (*refuse)(const tl_scene *s, int parts, talus_error *err);
    /* The end of the engine's own begin: matter is dealt out. */
    talus_status (*begin)(tl_sim *sim, talus_error *err);
    /* On part 0 the matter of all parts as one part would have it, in a copy of its state; and how it is cut, as
     * numbers [tl_cut_length(parts)] that are the engine's. */
    talus_status (*collect)(tl_sim *sim, tl_state *whole, int64_t *cut, talus_error *err);
    /* The other way: whole: on part 0. cut: as it was cut among as many parts, on all; NULL: anew. */
    talus_status (*deal)(tl_sim *sim, const tl_state *whole, const int64_t *cut, talus_error *err);
    /* Before a step: cuts anew where one part has much more to do than others, by counts alone. */
    talus_status (*rebalance)(tl_sim *sim, talus_error *err);
} tl_parts_entry;
static inline int64_t tl_cut_length(int64_t parts) { return 2 * parts + 2; }

/* The view of that name in the engine of `sim`; NULL: it has none. */
const tl_view *tl_sim_view(const tl_sim *sim, const char *name);
/* Its rows, beginning with its own numbers; {0} where the engine has no such view. Without data where they are to be
 * computed (tl_view.fill). */
tl_rows tl_sim_rows(const tl_sim *sim, const char *name);
size_t tl_view_row(const tl_view *v); /* bytes of a row without gaps */
/* All rows of a view one after the other, on the heap; NULL: no memory. */
void *tl_sim_pack(const tl_sim *sim, const tl_view *v);
/* Contact points of the last step, of rigid and elastic bodies; elastic ones only where they push. Returns how many;
 * out: NULL, or with room for all. */
int64_t tl_sim_contacts(const tl_sim *sim, tl_contact_row *out);
/* All engines, for lists of what there is; NULL after the last. */
const tl_engine_entry *tl_engine_at(int i);
/* Elastic bodies, in every engine that has them: "nodes.*", "elements.*", "holds.*", "handles.*", "cables.*". */
extern const tl_view tl_elastic_views[];
extern const int tl_elastic_view_count;

/* What all matter has together. */
struct tl_totals {
    double mass, second; /* kg; sum of m x^2 about the origin */
    tl_vec3 first;       /* sum of m x */
    double kinetic, potential, elastic;
    tl_vec3 momentum, angular; /* about the origin */
};

/* Problems that steps solve, as whoever looks is shown them. */
typedef enum tl_shown_kind {
    TL_SHOWN_STEP, /* tl_grid_view (phase/grid/grid.h): all that is coupled in a step on the grid, once it is solved */
    TL_SHOWN_CONTACT,    /* tl_contact; answer [3m] */
    TL_SHOWN_FIXEDPOINT, /* tl_sph_step; answer [n] of tl_sph_problem */
    TL_SHOWN_ROUND,      /* tl_lg_round; answer [nodes][3] */
    TL_SHOWN_FLEX,       /* tl_shown_flex, which has the answer */
    TL_SHOWN_DUAL /* tl_dual_solver (solve/dual/method.h) of a correction of elastic bodies in what flows; answer: p */
} tl_shown_kind;

typedef struct tl_shown_flex {
    const struct tl_flex *problem;
    const double *lam, *dv; /* [3 contacts], [n + 6 rigid] */
} tl_shown_flex;

typedef struct tl_shown {
    tl_shown_kind kind;
    const void *problem;  /* valid during the call */
    const double *answer; /* NULL: it is in the problem */
    double certificate;   /* of the answer; NAN: the kind has none */
    double tolerance;     /* of the solve; NAN: it has none */
} tl_shown;

struct tl_sim {
    const tl_scene *scene; /* not owned; must live longer */
    const tl_comm *comm;   /* the other parts of the run; NULL: there are none */
    int comm_mark;         /* plans of a step go with its end */
    const tl_engine_entry *engine;
    bool empty; /* while the engine begins: its state will be another one's, what takes long to make may be left out */
    tl_state state;
    tl_rigid rigid;
    tl_joints joints;
    tl_lg lg;                 /* elastic bodies, whichever engine moves them; {0}: none */
    tl_report report;         /* of the last step */
    tl_totals start, flowing; /* of the state that a try begins with; of its particles on the grid alone */
    tl_totals came;           /* of matter that came (less what left) in it */
    tl_accounts accounts;     /* of the try; see phase/accounts/accounts.h */
    tl_arena arena;           /* of a step, emptied at its begin */
    void *engine_data;        /* what else the engine keeps: caches that do not change results */
    tl_history *history;      /* NULL unless wanted: [TL_REPORT_SOLVES] */
    tl_log log;
    int64_t tries; /* steps begun so far, those that failed too */
    /* Is shown every problem that a step has solved, before anything moves; NULL: nobody looks. Not TALUS_OK: the
     * step fails with it. */
    talus_status (*look)(void *user, const tl_shown *shown, talus_error *err);
    void *look_user;
};

/* Whether this part writes files and talks for all. */
static inline bool tl_sim_tells(const tl_sim *sim) { return !sim->comm || sim->comm->part == 0; }

/* Of several parts all go on, or none: for what may fail on one of them alone. */
#define TL_TRY_ALL(sim, expr) TL_TRY(tl_comm_agree((sim)->comm, (expr), err))

/* What a step calls after a solve: costs nothing when nobody looks. */
static inline talus_status tl_sim_show(const tl_sim *sim, tl_shown shown, talus_error *err)
{
    return sim->look ? sim->look(sim->look_user, &shown, err) : TALUS_OK;
}

talus_status tl_sim_create(tl_sim **out, const tl_scene *scene, const tl_log *log, talus_error *err);
/* One part of a run of several: every call is made by all of them, and the scene is the same. Matter is in parts, all
 * else is in every part, to the bit. Only the first has a log. comm must live longer. */
talus_status tl_sim_create_part(tl_sim **out, const tl_scene *scene, const tl_comm *comm, const tl_log *log,
                                talus_error *err);
/* Whether the scene runs in several parts, or why not. */
talus_status tl_sim_refuse_parts(const tl_scene *s, int parts, talus_error *err);
/* The state of all parts on part 0 as one part would have it, {0} on the others. cut: where not NULL, how it is cut
 * among them, [tl_cut_length(parts)] on all. */
talus_status tl_sim_collect(tl_sim *sim, tl_state *whole, int64_t *cut, talus_error *err);
/* The other way: from `whole` on part 0, which begins with the same scene. cut: NULL: anew, by what is there. */
talus_status tl_sim_deal(tl_sim *sim, const tl_state *whole, const int64_t *cut, talus_error *err);
/* Of the state; of several parts the hash of their hashes, in their order. */
uint64_t tl_sim_hash(const tl_sim *sim);
/* For a state that is read or copied from elsewhere before anything else is done: SPH's fills are left out, which take
 * long to part. */
talus_status tl_sim_create_empty(tl_sim **out, const tl_scene *scene, const tl_log *log, talus_error *err);
void tl_sim_free(tl_sim *sim);

/* The one judge of solver.on_unconverged, for every engine: called with the report filled and the state as it was. A
 * solve of the report that missed its target is an error, and `again` says whether a shorter step is to be tried; or
 * it is accepted. */
talus_status tl_sim_judge(const tl_sim *sim, bool *again, talus_error *err);

/* One step of at most `dt` (<= 0: as long as the engine wants, at most scene->dt_max), never beyond `until`; a step
 * that comes within rounding of `until` ends exactly there. Tries again with half the length down to scene->dt_min,
 * then fails with the last reason and the state as it was. */
talus_status tl_sim_step(tl_sim *sim, double dt, double until, talus_error *err);
/* Steps until the next frame, state.frame + 1 at (frame + 1) / fps exactly. `stop`, asked after each step, ends
 * early: interrupted, with a good state between frames. After the step that reaches the frame its answer is not
 * needed: the frame is complete, and the caller goes on or not. May be NULL. */
talus_status tl_sim_frame(tl_sim *sim, bool (*stop)(void *user, const tl_sim *sim), void *user, talus_error *err);

#endif
