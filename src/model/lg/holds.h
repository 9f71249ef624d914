/* Cables and joins of a scene, found in the meshes once at the start; what bilateral.h makes rows of in every step. */
#ifndef TL_MODEL_LG_HOLDS_H
#define TL_MODEL_LG_HOLDS_H

#include "model/lg/lg.h"

typedef struct tl_lg_cable {
    int32_t points;
    tl_lg_point *point; /* [points] */
    int32_t nodes;
    int32_t *node; /* [nodes] of all its points, each once */
    double length; /* m at the start */
} tl_lg_cable;

/* A node that keeps to a place: of another elastic body, of a rigid one, or of the frame of its join. */
typedef struct tl_lg_bond {
    int32_t node, join;
    tl_lg_point to; /* node[0] < 0: no elastic body */
    int32_t rigid;  /* of the scene; -1: none */
    tl_vec3 local;  /* m, in the frame of the rigid body's shape, or from the join's origin */
} tl_lg_bond;

struct tl_lg_holds {
    int32_t cables, bonds;
    tl_lg_cable *cable; /* [cables], in the scene's order */
    tl_lg_bond *bond;
    /* [lg nodes] rigid body and elastic body of lg that a node is bound to, which it does not touch; -1: none. NULL: no
     * node is bound */
    int32_t *rigid_of, *soft_of;
};

static inline int32_t tl_lg_hold_count(const tl_lg *lg, const tl_scene *s)
{
    return lg->bodies + s->handle_count + s->cable_count + s->join_count;
}
/* Rows of the state that say who they are, with no forces yet. */
talus_status tl_lg_holds_begin(tl_lg_state *out, const tl_lg *lg, const tl_scene *s, talus_error *err);

/* Forces of a step, node by node: between the two calls torques are about the origin. nodes [rows]: counted here. */
void tl_lg_holds_open(tl_lg_state *s, int32_t *nodes);
static inline void tl_lg_holds_add(tl_lg_hold *h, int32_t *nodes, tl_vec3 at, tl_vec3 force)
{
    h->at = tl_vec3_add(h->at, at);
    h->force = tl_vec3_add(h->force, force);
    h->torque = tl_vec3_add(h->torque, tl_vec3_cross(at, force));
    ++*nodes;
}
void tl_lg_holds_close(tl_lg_state *s, const int32_t *nodes);

/* *out is to be freed whatever is returned. Refuses points outside of their body and joins without nodes. */
talus_status tl_lg_holds_create(tl_lg_holds **out, const tl_lg *lg, const tl_scene *s, talus_error *err);
void tl_lg_holds_free(tl_lg_holds *h); /* NULL is fine */

#endif
