/* Simulations: make one from a scene, step it, look at it, push it, save it.
 *
 *     talus_scene *scene;  talus_sim *sim;  talus_error err;
 *     talus_scene_load("tower.lua", NULL, &scene, &err);
 *     talus_sim_create(scene, NULL, &sim, &err);
 *     while (talus_sim_time(sim) < 2) talus_sim_step(sim, 0.01, &err);
 *
 * Several simulations may live in one process, each used by one thread at a time. A step that fails leaves the simulation as it was.
 * Same build, same machine, same calls: same bits, for any number of threads and after talus_sim_restore. */
#ifndef TALUS_SIM_H
#define TALUS_SIM_H

#include <stddef.h>
#include <stdint.h>
#include <talus/export.h>
#include <talus/scene.h>
#include <talus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct talus_sim talus_sim;

typedef struct talus_sim_options {
    talus_log_fn log; /* warnings and notes; NULL: nowhere */
    void *log_user;
} talus_sim_options;

/* The scene must live as long as the simulation; several simulations may share one only within one thread. */
TALUS_API talus_status talus_sim_create(const talus_scene *scene, const talus_sim_options *options, talus_sim **out,
                                        talus_error *err);
TALUS_API void talus_sim_free(talus_sim *sim);

/* One step of dt seconds, or shorter when accuracy or a retry asks for it: talus_sim_time says how far it got. dt <= 0: as long as the
 * engine wants. */
TALUS_API talus_status talus_sim_step(talus_sim *sim, double dt, talus_error *err);
/* Steps until exactly t. */
TALUS_API talus_status talus_sim_advance(talus_sim *sim, double t, talus_error *err);
/* Asks every simulation of this process to leave what it is doing, a step or its set-up: that call returns TALUS_INTERRUPTED soon, with the
 * simulation as it was before the step. Stays asked for until talus_cancel(0). May be called from any thread and from a signal handler. */
TALUS_API void talus_cancel(int wanted);
TALUS_API double talus_sim_time(const talus_sim *sim);
TALUS_API int64_t talus_sim_steps(const talus_sim *sim);
TALUS_API uint64_t talus_sim_hash(const talus_sim *sim); /* of the whole state: equal states, equal hashes */

/* ---- looking ---- */

typedef enum talus_type { TALUS_FLOAT64, TALUS_FLOAT32, TALUS_INT32, TALUS_INT64 } talus_type;

/* An array inside of the simulation: `count` items of `components` numbers, `stride` bytes from item to item. Valid until the
 * next step, restore or free. */
typedef struct talus_view {
    const void *data;
    int64_t count;
    int components;
    talus_type type;
    size_t stride;
} talus_view;

/* Bodies, in the scene's order; world frame:
 *   "bodies.position"  of the shape's frame, m            "bodies.rotation"  w x y z
 *   "bodies.center"    of mass, m                         "bodies.mass"      kg; 0: not free
 *   "bodies.velocity"  of the centre of mass, m/s         "bodies.spin"      rad/s
 *   "bodies.force", "bodies.torque"                       of all contacts, mean over the last step: N, N m about the centre of mass
 *   "bodies.fluid_force", "bodies.fluid_torque"           of liquid, mean over the last step
 *   "bodies.mean_force", "bodies.mean_torque", "bodies.mean_fluid_force", "bodies.mean_fluid_torque"
 *                                                         the same four, means over the frame so far; without frames, over the run
 *   "bodies.push", "bodies.push_torque"                   what talus_sim_set_force set
 * Contact points of the last step:
 *   "contacts.bodies"  two indices; from the number of bodies on they are walls of the domain
 *   "contacts.position" m      "contacts.normal"  out of the second body into the first
 *   "contacts.force"   on the first body, N               "contacts.gap"     m, at the start of the step; negative: overlap
 * Nodes of elastic bodies (engines "lg" and "grid"), none in other engines; ids as in frames:
 *   "nodes.position"   m      "nodes.velocity"  m/s      "nodes.body"  index of its body among the elastic ones
 *   "nodes.mass"       kg     "nodes.push"      N, what talus_sim_set_node_forces set
 * What anchors, handles, cables and joins do to elastic bodies in the last step (engine "lg"), none in other engines; first one entry per elastic body (its anchor), then the scene's handles,
 * cables and joins in their order; zero before the first step and after a restore:
 *   "holds.kind"       0 anchor, 1 handle, 2 cable, 3 join   "holds.number"   of the scene's bodies, handles, cables or joins
 *   "holds.position"   m, mean of the nodes it holds         "holds.tension"  N, of a cable
 *   "holds.force", "holds.torque"                            on the body: N, N m about that place
 * Liquid of the sph engine; the order may change from step to step, ids stay:
 *   "particles.position", "particles.velocity"  m, m/s   "particles.pressure"  Pa
 *   "particles.id", "particles.material"                 whole numbers
 * An unknown name is bad input; the message has the nearest one. */
TALUS_API talus_status talus_sim_view(talus_sim *sim, const char *name, talus_view *out, talus_error *err);
TALUS_API const char *talus_sim_view_name(int i); /* i = 0, 1, ... until NULL */
/* Goes up whenever views may have become stale. */
TALUS_API uint64_t talus_sim_generation(const talus_sim *sim);
TALUS_API int talus_sim_body(const talus_sim *sim, const char *name); /* index; -1: none of that name */

/* ---- pushing ---- */

/* Force (N, at the centre of mass) and torque (N m) on a free body, world frame, on top of the scene's; they stay until changed and are part
 * of what is saved. */
TALUS_API talus_status talus_sim_set_force(talus_sim *sim, int body, const double force[3], const double torque[3],
                                           talus_error *err);
/* Forces (N, world frame) on nodes first, first + 1, ... of elastic bodies, counted as in the view "nodes.position"; force [count][3], NULL: none. On top of all
 * others; they stay until changed and are part of what is saved. What acts on a node that is held goes into what holds it. */
TALUS_API talus_status talus_sim_set_node_forces(talus_sim *sim, int64_t first, int64_t count, const double *force,
                                                 talus_error *err);
/* Pressure (Pa) along the outward normals of the surface of an elastic body (engine "lg"), or of the part that the scene's pressure_in names, on top of the scene's; it stays
 * until changed and is part of what is saved. */
TALUS_API talus_status talus_sim_set_pressure(talus_sim *sim, int body, double pressure, talus_error *err);
TALUS_API talus_status talus_sim_set_velocity(talus_sim *sim, int body, const double velocity[3], const double spin[3],
                                              talus_error *err);
/* A kinematic body without a motion of the scene's (talus_scene_options.driven): where its shape's frame is at the end of the next step, which it
 * reaches at constant velocity. The rotation need not be of unit length. Without another call it rests there. */
TALUS_API talus_status talus_sim_set_pose(talus_sim *sim, int body, const double position[3], const double rotation[4],
                                          talus_error *err);

/* A handle of the scene without a motion (engines "lg" and "grid"): where its frame is at the end of the next step. It starts at the scene's `at`, not turned, and nodes keep their
 * places in it. Without another call it rests there. NULL: as before. */
TALUS_API talus_status talus_sim_set_handle(talus_sim *sim, int handle, const double position[3],
                                            const double rotation[4], talus_error *err);
/* Length (m) of a cable whose length the scene does not give as a function of time, from the next step on. */
TALUS_API talus_status talus_sim_set_cable(talus_sim *sim, int cable, double length, talus_error *err);

/* ---- saving ---- */

/* The whole state in one HDF5 file, complete or absent. */
TALUS_API talus_status talus_sim_save(const talus_sim *sim, const char *path, talus_error *err);
/* Into a simulation of the same scene. On failure the simulation is as it was. */
TALUS_API talus_status talus_sim_restore(talus_sim *sim, const char *path, talus_error *err);

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
    double penetration; /* m */
    double force_balance;
    double liquid_volume, particle_volume, volume_error;
    int64_t particles, escaped;
    double fastest; /* m/s */
    size_t peak_bytes;
    /* what external forces, walls and scripted bodies do not explain: NaN where the engine does not account for it (docs/running.md) */
    double momentum_unexplained[3], angular_unexplained[3]; /* kg m/s, kg m^2/s */
    double energy_unexplained;                              /* J */
} talus_report;
TALUS_API void talus_sim_report(const talus_sim *sim, talus_report *out);

#ifdef __cplusplus
}
#endif
#endif
