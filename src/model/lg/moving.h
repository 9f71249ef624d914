/* The state of elastic bodies goes over into a simulation with other bodies: some came, some left, the rest have other
 * numbers. A body that stays has the same mesh in both, so its nodes, duals and surface keep their order; only where
 * they begin differs. */
#ifndef TL_MODEL_LG_MOVING_H
#define TL_MODEL_LG_MOVING_H

#include "model/lg/lg.h"
#include "model/rigid/rigid.h"

/* One of the two simulations. */
typedef struct tl_lg_side {
    const tl_lg *lg;
    const tl_rigid *rigid;
    tl_lg_state *state;
} tl_lg_side;

/* `to` is fresh. became [was->rigid->count]: numbers that bodies and walls of `was` have in `to`; -1: gone. Fails
 * before it has changed anything. */
talus_status tl_lg_state_move(const tl_lg_side *to, const tl_lg_side *was, const int32_t *became, talus_error *err);

/* How an elastic body begins that comes while others have run. */
typedef struct tl_lg_arrival {
    tl_pose from, to; /* of the shape's frame: in the scene, and wanted */
    tl_vec3 v, w;     /* of the centre of mass; rad/s */
    tl_vec3 gravity;  /* m/s^2 */
    bool anchored;    /* its anchor is led to `to` */
} tl_lg_arrival;

/* Body b, undeformed, with the history of a free flight where integration looks back. `m`: its row of the table. */
void tl_lg_arrive(const tl_lg *lg, tl_lg_state *s, int b, const tl_lg_arrival *a, tl_motion *m);
/* Leads the anchor of body b to a pose: the next step ends there. `at`: where it is, of one that was not led yet. */
void tl_lg_lead_body(tl_lg_state *s, int b, const tl_pose *at, const tl_pose *to);

#endif
