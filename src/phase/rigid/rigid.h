/* The step of rigid bodies, in two files: rigid_begin.c makes a simulation and says how long a step may be, rigid.c
 * is the step; what it shares with other steps is in bodies.h. */
#ifndef TL_PHASE_RIGID_RIGID_H
#define TL_PHASE_RIGID_RIGID_H

#include "phase/sim.h"
#include "solve/contact/method.h"

/* Decided once; nothing here changes a result. */
typedef struct tl_rigid_data {
    const tl_contact_method *method;
    int iterations; /* 0: the method's own */
    double slop;    /* m */
    double extent;  /* m: smallest of all free bodies, of all bounded ones where none is free; 0: there is none */
    bool resists;   /* there is rolling or spinning friction */
    bool *lost;     /* [scene_count] body was told to be outside of the domain */
    bool *turned;   /* one: it was told that turning bodies cut steps */
} tl_rigid_data;

/* Bodies of the scene, their first state, and `k` ({0} before), which the caller keeps. */
talus_status tl_rigid_begin(tl_sim *sim, tl_rigid_data *k, talus_error *err);
void tl_rigid_end(tl_rigid_data *k);
/* Joints alone, after sim->rigid and its state; k->method NULL: gets one that solves them. */
talus_status tl_rigid_begin_joints(tl_sim *sim, tl_rigid_data *k, const tl_joint_frame *frame, talus_error *err);

/* A free body that may touch something within the longest step moves at most twice its radius per step, and turns at
 * most 0.15 rad: so far margins and linear gaps can be trusted. Bodies that fly freely have no limit. */
double tl_rigid_dt_wanted(const tl_sim *sim);

/* What joints ask for: bodies and lines that they hold turn by `turn` rad, times the root of w^2 + |dw/dt|. At most dt. */
double tl_rigid_joint_limit(const tl_sim *sim, double turn, double dt);

/* One try; see tl_engine_entry. */
talus_status tl_rigid_step(tl_sim *sim, const tl_rigid_data *data, double dt, bool *again, talus_error *err);

/* Whoever watches is told once when a step of dt was cut because a body turns. */
void tl_rigid_tell_turning(const tl_sim *sim, const tl_rigid_data *k, double dt);

/* Motions and poses of the scene's bodies and the walls, [rigid->count]. */
void tl_rigid_begin_bodies(const tl_rigid *r, const tl_motion *from, tl_motion *body, tl_pose *pose);

/* Free bodies, elastic ones too, that are wholly outside of the domain go on: they are counted in the report, and
 * whoever watches is told once. lost [scene_count]: who was told of. */
void tl_rigid_report_lost(const tl_sim *sim, const tl_motion *body, bool *lost, tl_report *r);

#endif
