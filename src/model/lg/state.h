/* Elastic nodes: what changes during a run of the local-global engine. */
#ifndef TL_MODEL_LG_STATE_H
#define TL_MODEL_LG_STATE_H

#include "model/state.h"
#include <stdint.h>

/* `obstacle` of a row that is not a contact (model/lg/bilateral.h): `point` is its id, force[0] its multiplier. */
#define TL_LG_MEMORY_ROW INT32_MIN

/* A contact that the next step starts from; sorted by obstacle, point, feature. */
typedef struct tl_lg_memory {
    int32_t point;    /* what touches: a node, or a number that the detection gives to a place of a surface */
    int32_t obstacle; /* what it touches: a body of the scene, a wall, or another place */
    int32_t feature;  /* of the obstacle */
    int32_t body,
        other; /* of the scene, for frames: the one that touches and the one touched; walls come after the scene's */
    int32_t unused;
    double force[3];  /* on the point, world frame, N: mean over the last step */
    double normal[3]; /* out of the obstacle */
    double at[3];     /* m */
    double gap;       /* m, at the end of the step */
    double
        landed[3]; /* N, beyond `force`: what kept it from leaving at once (phase/lg/time.h); no step starts from it */
} tl_lg_memory;

/* What an anchor, a handle, a cable or a join did to its elastic body in the last step. */
typedef enum tl_lg_hold_kind { TL_LG_ANCHORED, TL_LG_LED, TL_LG_PULLED, TL_LG_JOINED } tl_lg_hold_kind;
typedef struct tl_lg_hold {
    int32_t kind;          /* tl_lg_hold_kind */
    int32_t number;        /* of the scene's bodies, handles, cables or joins */
    tl_vec3 at;            /* m, mean place of its nodes */
    tl_vec3 force, torque; /* N and N m about `at`, in the world's frame */
    double tension;        /* N, of a cable */
} tl_lg_hold;

typedef struct tl_lg_state {
    int64_t nodes;
    double *q, *v; /* [nodes][3] m, m/s; order: tl_lg.node_of */
    double *push;  /* [nodes][3] N, forces that code set (talus_sim_set_node_forces); they stay until changed */
    double *q_before, *v_before; /* the same a step before, for integration of second order (phase/lg/time.h) */
    int64_t steps_kept;          /* 1 */
    double *step_before; /* [2] s, its length, 0: there was none; over that of the one before, 0: implicit Euler */
    int64_t dual_rows;   /* lane rows, see tl_lg.dual_row */
    double *u;           /* [dual_rows][8] scaled duals of elements that are solved by ADMM: stress = (w/V) u */
    int64_t contacts, contact_room;
    tl_lg_memory *contact;
    /* what code leads: poses of handles, bodies' own first; and lengths of cables */
    int64_t handles, cables;
    double
        *led; /* [handles][14] place and rotation where the next step begins and where it ends; rotation 0: not led */
    double *length; /* [cables] m; < 0: the scene's */
    int64_t bodies;
    double *pressure; /* [bodies] Pa, that code set (talus_sim_set_pressure), on top of the scene's */
    int64_t holds;
    tl_lg_hold *hold; /* [holds] one per elastic body (its anchor), then the scene's handles, cables and joins */
} tl_lg_state;

/* Of entry k of nodes: what forces change at once, per mass; see phase/lg/time.h. v itself with implicit Euler. */
static inline double tl_lg_state_momentum(const tl_lg_state *s, int64_t k)
{
    double w = s->step_before[1];
    return ((1 + 2 * w) * s->v[k] - w * s->v_before[k]) / (1 + w);
}

/* Memories stand sorted by obstacle, point, feature. NULL: nothing touched there. */
void tl_lg_memory_sort(tl_lg_memory *m, int64_t count);
const tl_lg_memory *tl_lg_memory_find(const tl_lg_state *past, int32_t point, int32_t obstacle, int32_t feature);
talus_status tl_lg_contacts_reserve(tl_lg_state *s, int64_t count, talus_error *err); /* room for so many */

/* Its section of a state (model/state.h); NULL where the engine has none. */
extern const tl_state_kind tl_lg_state_kind;
static inline tl_lg_state *tl_lg_state_of(const tl_state *s) { return tl_state_find(s, &tl_lg_state_kind); }

#endif
