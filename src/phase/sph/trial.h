/* One try of a step of the SPH engine: what its phases derive, grouped by the phase that writes it. */
#ifndef TL_PHASE_SPH_TRIAL_H
#define TL_PHASE_SPH_TRIAL_H

#include "model/sph/contact_list.h"
#include "phase/accounts/sph.h"
#include "phase/bodies/bodies.h"
#include "phase/sph/sph.h"
#include "solve/contact/row_system.h"
#include "solve/linear/method.h"

#define TL_SPH_VISCOUS_TOLERANCE 1e-8

typedef enum tl_sph_phase {
    TL_SPH_PLACE,
    TL_SPH_NEIGHBOURS,
    TL_SPH_PREDICT,
    TL_SPH_SYSTEM,
    TL_SPH_SOLVE,
    TL_SPH_MOVE,
    TL_SPH_EMIT,
    TL_SPH_PHASES
} tl_sph_phase;

typedef struct tl_sph_trial {
    tl_sim *sim;
    const tl_scene *scene;
    const tl_rigid *rigid;
    const tl_sph_data *data;
    tl_arena *arena;
    double dt;
    tl_bodies b; /* place: velocities of scripted bodies lead to their goals in b.before, too */
    /* neighbours .. system */
    tl_sph_step f;
    double *speed; /* [scene_count] predicted, m/s, of any point of a body */
    double *whole; /* [scene_count] predicted, m/s: with which it would have its energy if it did not turn */
    double liquid; /* of the fastest particle */
    tl_linear_report viscous;
    const tl_sph_force *drag;    /* of viscosity and of the stress taken away, on bodies; NULL: none */
    const tl_sph_joined *joined; /* NULL: no joint holds */
    struct answer *answer;       /* what is behind it */
    double joint_residual;       /* m/s */
    /* solve */
    double *x;
    double *start; /* what the last steps left; NULL: cold start */
    tl_fixedpoint_report solved;
    /* move, emit */
    int32_t stay; /* particles that are left */
    tl_sph_births births;
    tl_sph_contact_list shown;
    tl_sph_account account;
    double seconds[TL_SPH_PHASES], mark;
} tl_sph_trial;

talus_status tl_sph_no_memory(talus_error *err);
void tl_sph_lap(tl_sph_trial *s, tl_sph_phase phase); /* what was spent since the last lap goes to `phase` */

/* Pressures >= 0 and friction in its cones, together; velocities with them. `again`: a shorter step may help. */
talus_status tl_sph_solve(tl_sph_trial *s, bool *again, talus_error *err);
/* Joints (joints.c): velocities without contacts that they allow, and what they make of pushes; after the solve and
 * the move, places that are right, with the velocities that lead there. */
talus_status tl_sph_join(tl_sph_trial *s, bool *again, talus_error *err);
talus_status tl_sph_settle_joints(tl_sph_trial *s, bool *again, talus_error *err);
void tl_sph_fill_report(const tl_sph_trial *s);

#endif
