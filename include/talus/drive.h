/* Driving a simulation: forces, velocities, poses, handles, cables; gravity, friction, emitters, materials; bodies and
 * particles that come and go.
 *
 * What is set acts from the next step on, stays until it is changed, and is part of what is saved, unless it says
 * otherwise. Indices of bodies, handles, cables, emitters and materials are those of the scene, from 0 on. A call that
 * is refused changes nothing. */
#ifndef TALUS_DRIVE_H
#define TALUS_DRIVE_H

#include <stdint.h>
#include <talus/export.h>
#include <talus/status.h>
#include <talus/views.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- by name; -1: there is none ---- */

TALUS_API int talus_sim_body(const talus_sim *sim, const char *name);
TALUS_API int talus_sim_material(const talus_sim *sim, const char *name);
TALUS_API int talus_sim_joint(const talus_sim *sim, const char *name);

/* ---- bodies ---- */

/* Force (N, at the centre of mass) and torque (N m) on a free body, world frame, on top of the scene's; NULL: none. */
TALUS_API talus_status talus_sim_set_force(talus_sim *sim, int body, const double force[3], const double torque[3],
                                           talus_error *err);
/* Of a free body, at once; of an elastic one, of all its nodes. NULL: as it is. */
TALUS_API talus_status talus_sim_set_velocity(talus_sim *sim, int body, const double velocity[3], const double spin[3],
                                              talus_error *err);
/* A kinematic body without a motion of the scene's (talus_scene_options.driven): where its shape's frame is at the
 * end of the next step, which it reaches at constant velocity; of an elastic one its anchor. The rotation need not be of unit length. Without
 * another call it rests there. NULL: as before. */
TALUS_API talus_status talus_sim_set_pose(talus_sim *sim, int body, const double position[3], const double rotation[4],
                                          talus_error *err);
/* Puts a free rigid body somewhere else at once; velocities stay. NULL: as it is. */
TALUS_API talus_status talus_sim_place(talus_sim *sim, int body, const double position[3], const double rotation[4],
                                       talus_error *err);
/* Coulomb friction of a body, for pairs that the scene says nothing about; negative: the scene's again. */
TALUS_API talus_status talus_sim_set_friction(talus_sim *sim, int body, double friction, talus_error *err);

/* A copy of body `like`, with its shape, material, kind and name, as the last body: *body is its index. NULL: not
 * turned, at rest. An elastic one (engines "grid" and "lg") begins undeformed; it has the anchor of the one that it is
 * a copy of, at its own place, but not its handles, cables and joins, and its nodes come after all others. Others go on
 * as they would without it, to what solves leave. Costs as much as making the simulation, and so does removing. */
TALUS_API talus_status talus_sim_add_body(talus_sim *sim, int like, const double position[3], const double rotation[4],
                                          const double velocity[3], const double spin[3], int *body, talus_error *err);
/* A body leaves; those after it move up by one. What a joint, a handle, a cable or a join holds cannot. */
TALUS_API talus_status talus_sim_remove_body(talus_sim *sim, int body, talus_error *err);

/* ---- joints ---- */

/* What the motor of a joint is to reach or to push with, instead of the scene's: m, m/s or N, or rad, rad/s or N m, as
 * the scene's motor has it. NAN: the scene's again. */
TALUS_API talus_status talus_sim_set_motor(talus_sim *sim, int joint, double target, talus_error *err);

/* ---- elastic bodies ---- */

/* Forces (N, world frame) on nodes first, first + 1, ... of elastic bodies, counted as in the view "nodes.position";
 * force [count][3], NULL: none. On top of all others. What acts on a node that is held goes into what holds it. */
TALUS_API talus_status talus_sim_set_node_forces(talus_sim *sim, int64_t first, int64_t count, const double *force,
                                                 talus_error *err);
/* Pressure (Pa) along the outward normals of the surface of an elastic body (engine "lg"), or of the part that the
 * scene's pressure_in names, on top of the scene's. */
TALUS_API talus_status talus_sim_set_pressure(talus_sim *sim, int body, double pressure, talus_error *err);
/* A handle of the scene without a motion (engines "lg" and "grid"): where its frame is at the end of the next step.
 * It starts at the scene's `at`, not turned, and nodes keep their places in it. Without another call it rests there.
 * NULL: as before. */
TALUS_API talus_status talus_sim_set_handle(talus_sim *sim, int handle, const double position[3],
                                            const double rotation[4], talus_error *err);
/* Length (m) of a cable whose length the scene does not give as a function of time. */
TALUS_API talus_status talus_sim_set_cable(talus_sim *sim, int cable, double length, talus_error *err);

/* ---- liquid and sand ---- */

/* Of an emitter, m^3/s, while it is open; negative: the scene's again. */
TALUS_API talus_status talus_sim_set_rate(talus_sim *sim, int emitter, double rate, talus_error *err);
/* Particles of a material that the scene fills or emits (engines "grid" and "sph"): position, velocity [count][3]
 * (NULL: at rest), volume [count] m^3 (NULL: that of the material's particles; engine "sph" has one for all). Ids
 * follow the largest so far: *first is that of the first one; may be NULL. */
TALUS_API talus_status talus_sim_add_particles(talus_sim *sim, int material, int64_t count, const double *position,
                                               const double *velocity, const double *volume, int64_t *first,
                                               talus_error *err);
/* Those with these ids leave, each of which must be there. */
TALUS_API talus_status talus_sim_remove_particles(talus_sim *sim, int64_t count, const int32_t *id, talus_error *err);

/* ---- everything ---- */

TALUS_API talus_status talus_sim_set_gravity(talus_sim *sim, const double gravity[3], talus_error *err);
/* A number of a material by its key in the scene (docs/scene-reference.md): "friction_angle_deg", "viscosity", "young",
 * "friction", ... Costs as much as making the simulation. */
TALUS_API talus_status talus_sim_set_material(talus_sim *sim, int material, const char *key, double value,
                                              talus_error *err);

#ifdef __cplusplus
}
#endif
#endif
