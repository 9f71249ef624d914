/* Joints within a step of engine "lg": rows over nodes and free rigid bodies, part of every correction's problem (exact.h).
 *
 * Rounds know of them only what they did in the last step; corrections solve them together with all contacts. Rows ask
 * for places at the end of the step. They are straight, so each correction measures where its answer leads, and puts
 * right what the next one starts from. Impulses act where bodies are at the start of the step, and on elastic bodies
 * where nodes are at its end, seen from the centre of mass, which is moved back to the start: so forces and torques of
 * both sides cancel as the step's integration counts them.
 *
 * Velocities are chords of the way, as those of nodes (tl_bodies.straight): nothing takes out what leads away from a
 * joint, the next step turns it. */
#ifndef TL_PHASE_LG_JOINED_H
#define TL_PHASE_LG_JOINED_H

#include "model/lg/grips.h"
#include "model/lg/rows.h"
#include "phase/bodies/bodies.h"

typedef struct tl_lg_joined {
    tl_bodies *b;
    const tl_lg *lg;
    const tl_lg_grips *grips;
    double h;
    const double *from; /* [nodes][3] start of the step */
    bool *on;           /* [rigid->count] free bodies that joints hold */
    bool *of;           /* [lg bodies] */
    tl_lg_grasp *grasp; /* [grips] */
    int32_t *grip_of;   /* [joints][2]; -1: none */
    int32_t *place;     /* [rigid->count] in the rows' list of bodies; -1: not in */
    tl_vec3 *centre;    /* [lg bodies] of mass, at the start */
    double *chord;      /* [nodes][3] m/s */
    bool right;         /* places, as they were looked at last */
    double residual;    /* m/s: natural map of the last correction's problem */
} tl_lg_joined;

/* After tl_bodies_begin and before its predict. *out NULL: there are no joints. from: nodes at the start; v: how fast they
 * are. */
talus_status tl_lg_join_begin(tl_lg_joined **out, tl_bodies *b, const tl_lg_grips *grips, const double *from,
                              const double *v, talus_error *err);
/* Rows of the start, for rounds; after predict. */
talus_status tl_lg_join_predict(tl_lg_joined *j, talus_error *err);
/* Where the list of bodies has them. */
void tl_lg_join_number(tl_lg_joined *j, const tl_lg_rows *rows);

/* Looks where nodes q and bodies, moved [rows->bodies][6], end up: what rows start from and, to `renew`, the rows. Those of
 * the last correction stay the step's: forces are along them. */
talus_status tl_lg_join_look(tl_lg_joined *j, const tl_lg_rows *rows, const double *q, const double *moved, bool renew,
                             talus_error *err);
/* Velocities of rows with bodies moved by this, nodes as they were looked at: out [3 blocks] m/s, biases included. */
void tl_lg_join_velocities(tl_lg_joined *j, const tl_lg_rows *rows, const double *moved, double *out);
/* Forces: r [nodes][3] += scale times those on nodes; body_push [rows->bodies][6] += those on bodies. */
void tl_lg_join_push(const tl_lg_joined *j, double scale, double *r, double *body_push);
/* Entries of row k of all blocks, not in order: nodes by way of `column`, bodies behind `rigid`. */
int tl_lg_join_entries(const tl_lg_joined *j, int64_t k, int64_t (*column)(const void *ctx, int32_t node),
                       const void *ctx, int64_t rigid, int64_t *col, double *val);
int64_t tl_lg_join_entries_most(const tl_lg_joined *j, int32_t block);

/* Bodies have been moved: frames where nodes end up, with their velocities v, and what joints tell. */
talus_status tl_lg_join_end(tl_lg_joined *j, const double *q, const double *v, talus_error *err);

#endif
