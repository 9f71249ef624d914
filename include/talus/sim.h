/* Simulations: make one from a scene, step it, save it. What there is to see is in talus/views.h, how to push it in
 * talus/drive.h; this header has both.
 *
 *     talus_scene *scene;  talus_sim *sim;  talus_error err;
 *     talus_scene_load("tower.lua", NULL, &scene, &err);
 *     talus_sim_create(scene, NULL, &sim, &err);
 *     while (talus_sim_time(sim) < 2) talus_sim_step(sim, 0.01, &err);
 *
 * Several simulations may live in one process, each used by one thread at a time: one that comes while another is
 * in a call is told so. A process that fork makes cannot use them, and is told so. A step that fails leaves the simulation as
 * it was. Same build, same machine, same calls: same bits, for any number of threads and after talus_sim_restore. */
#ifndef TALUS_SIM_H
#define TALUS_SIM_H

#include <stddef.h>
#include <stdint.h>
#include <talus/drive.h>
#include <talus/export.h>
#include <talus/scene.h>
#include <talus/status.h>
#include <talus/views.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct talus_sim talus_sim;

typedef struct talus_sim_options {
    talus_log_fn log; /* warnings and notes; NULL: nowhere */
    void *log_user;
} talus_sim_options;

/* The scene must live as long as the simulation; several simulations may share one, in several threads too. */
TALUS_API talus_status talus_sim_create(const talus_scene *scene, const talus_sim_options *options, talus_sim **out,
                                        talus_error *err);
/* In a callback of its own: it is freed once the call in progress has returned, with TALUS_INTERRUPTED. While another
 * thread makes a step of it, that step is asked to end and waited for. */
TALUS_API void talus_sim_free(talus_sim *sim);

/* Another one in the same state, of the same scene, which goes its own way. */
TALUS_API talus_status talus_sim_clone(const talus_sim *sim, talus_sim **out, talus_error *err);

/* ---- time ---- */

/* One step of dt seconds, or shorter when accuracy or a retry asks for it: talus_sim_time says how far it got. dt <=
 * 0: as long as the engine wants. */
TALUS_API talus_status talus_sim_step(talus_sim *sim, double dt, talus_error *err);
/* Steps until exactly t. */
TALUS_API talus_status talus_sim_advance(talus_sim *sim, double t, talus_error *err);
/* Functions that are called before and after every step, those within talus_sim_advance too; NULL: none. They may look
 * and drive (talus/drive.h), but not step, restore, change materials, or add and remove bodies. Not 0: the call in
 * progress returns TALUS_INTERRUPTED, before or after that step. */
typedef int (*talus_step_fn)(void *user, talus_sim *sim);
TALUS_API talus_status talus_sim_on_step(talus_sim *sim, talus_step_fn before, talus_step_fn after, void *user,
                                         talus_error *err);
/* Asks for a step that is being made to be left: that call returns TALUS_INTERRUPTED soon, with the simulation as it
 * was before the step. Stays asked for until it is taken back by 0. The first asks every simulation of the process, in
 * its set-up too, and may be called from any thread and from a signal handler; the second asks one, from any thread. */
TALUS_API void talus_cancel(int wanted);
TALUS_API void talus_sim_cancel(talus_sim *sim, int wanted);
TALUS_API double talus_sim_time(const talus_sim *sim);
TALUS_API int64_t talus_sim_steps(const talus_sim *sim);
/* Of the whole state: equal states, equal hashes. 0 while another thread makes a step. */
TALUS_API uint64_t talus_sim_hash(const talus_sim *sim);

/* ---- saving ---- */

/* The whole state in one HDF5 file, complete or absent. */
TALUS_API talus_status talus_sim_save(const talus_sim *sim, const char *path, talus_error *err);
/* Into a simulation of the same scene. On failure the simulation is as it was. */
TALUS_API talus_status talus_sim_restore(talus_sim *sim, const char *path, talus_error *err);
/* The same in memory, for the same build of the library: room of at least talus_sim_bytes. */
TALUS_API size_t talus_sim_bytes(const talus_sim *sim);
TALUS_API talus_status talus_sim_save_bytes(const talus_sim *sim, void *out, size_t room, talus_error *err);
TALUS_API talus_status talus_sim_restore_bytes(talus_sim *sim, const void *data, size_t bytes, talus_error *err);

/* ---- what it costs ---- */

/* What there is, and how long the rest of the scene's duration will take on this machine, as it is now: two steps are
 * made for the purpose and undone. A flow that becomes faster needs shorter steps, and so more of them. */
typedef struct talus_cost {
    int64_t particles, cells, nodes, elements, bodies; /* cells: of a grid, with a particle in them */
    size_t bytes;                                      /* of the state and of a step */
    double dt, steps;                                  /* s; to the end */
    double seconds_per_step, seconds;                  /* by the clock; all steps together */
    int at_least; /* 1: a step was interrupted (talus_cancel, talus_sim_cancel): it takes longer than that */
} talus_cost;
TALUS_API talus_status talus_sim_cost(talus_sim *sim, talus_cost *out, talus_error *err);

/* ---- report of the last step ---- */

#define TALUS_REPORT_SOLVES 8
#define TALUS_REPORT_PHASES 16
typedef struct talus_report {
    int64_t step;
    double time, dt;
    int retries;
    int phases, solves;
    struct {
        const char *name;
        double seconds;
    } phase[TALUS_REPORT_PHASES];
    struct {
        const char *name, *method, *outcome;
        int iterations;
        int64_t products, factorizations;
        double certificate, target;
    } solve[TALUS_REPORT_SOLVES];
    double kinetic, potential, elastic;      /* J */
    double momentum[3], angular_momentum[3]; /* kg m/s, kg m^2/s about the origin */
    int64_t contacts, touching;
    double penetration; /* m, deepest overlap of two surfaces at the end of the step */
    double force_balance;
    double liquid_volume, particle_volume; /* m^3 that liquid or sand takes up; that its particles add up to */
    double volume_error;                   /* by what part it takes up more than it is due */
    double compression;                    /* SPH: mean of how much denser than at rest particles are; NaN elsewhere */
    int64_t particles, escaped;
    double fastest; /* m/s */
    size_t peak_bytes;
    /* what external forces, walls and scripted bodies do not explain: NaN where the engine does not account for it
     * (docs/running.md) */
    double momentum_unexplained[3], angular_unexplained[3]; /* kg m/s, kg m^2/s */
    double energy_unexplained;                              /* J */
} talus_report;
TALUS_API void talus_sim_report(const talus_sim *sim, talus_report *out);

#ifdef __cplusplus
}
#endif
#endif
