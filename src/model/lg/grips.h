/* Grips: regions of elastic bodies that joints hold.
 *
 * All nodes within `grip` of the anchor, weighted by mass and by 1 - (distance / grip)^2. A grip's frame is the rigid
 * motion nearest to theirs: x = sum w q, and R of sum w (q - x) r0^T = R S. Both are smooth in q, with the derivative
 *
 *     x' = sum w q',     omega = G sum w (R r0) x q',     G = R (tr S - S)^-1 R^T
 *
 * and what a row does to the frame, force f and torque t about x, goes to nodes by its transpose
 *
 *     w (f + (G t) x (R r0))
 *
 * which sums to f, and to the torque t about x whatever the deformation, because turning all nodes turns the frame. So
 * a joint between a grip and anything else exchanges momentum and angular momentum to rounding, and a region is held
 * by its mean motion: it deforms freely. */
#ifndef TL_MODEL_LG_GRIPS_H
#define TL_MODEL_LG_GRIPS_H

#include "model/lg/lg.h"
#include "model/rigid/joints.h"

typedef struct tl_lg_grip {
    int32_t joint, side, body; /* body of lg */
    int32_t count, *node;
    double *weight; /* [count] */
    tl_vec3 *rest;  /* [count] r0, world directions at the start */
} tl_lg_grip;

typedef struct tl_lg_grips {
    int32_t count;
    tl_lg_grip *grip;      /* [count] */
    tl_joint_frame *frame; /* [joints][2]; NULL: no joint holds an elastic body */
} tl_lg_grips;

/* A grip now. */
typedef struct tl_lg_grasp {
    tl_vec3 x;
    tl_quat q;
    tl_mat3 R, G;
} tl_lg_grasp;

/* For nodes q [nodes][3] and bodies at the start. Refuses grips with too few nodes, or with nodes on a line, by the
 * joint's name. On failure what was made is freed. */
talus_status tl_lg_grips_create(tl_lg_grips *out, const tl_lg *lg, const tl_scene *s, const double *q,
                                talus_error *err);
void tl_lg_grips_free(tl_lg_grips *g); /* leaves {0} */

tl_lg_grasp tl_lg_grip_at(const tl_lg_grip *g, const double *q);
/* How fast x and R change where nodes do so by v [nodes][3]. */
void tl_lg_grip_speed(const tl_lg_grip *g, const tl_lg_grasp *now, const double *v, tl_vec3 *linear, tl_vec3 *spin);
/* Of node k: what a force and a torque on the frame are on it. */
static inline tl_vec3 tl_lg_grip_share(const tl_lg_grip *g, const tl_lg_grasp *now, int32_t k, tl_vec3 force,
                                       tl_vec3 torque)
{
    const tl_vec3 turn = tl_vec3_cross(tl_mat3_mul_vec(now->G, torque), tl_mat3_mul_vec(now->R, g->rest[k]));
    return tl_vec3_scale(g->weight[k], tl_vec3_add(force, turn));
}

#endif
