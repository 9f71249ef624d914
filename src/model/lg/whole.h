/* An elastic body as one: centre of mass, momentum, and the rigid motion nearest to that of its nodes. */
#ifndef TL_MODEL_LG_WHOLE_H
#define TL_MODEL_LG_WHOLE_H

#include "model/lg/lg.h"
#include "model/rigid/rigid.h"

typedef struct tl_lg_whole {
    double mass;
    tl_vec3 centre, v; /* of mass; mean velocity */
    tl_vec3 L, spin;   /* about the centre; L = I spin, 0 for nodes on a line */
    tl_mat3 inverse;   /* of I; zero for these */
} tl_lg_whole;

/* Of body b with nodes at q and velocities v [nodes][3]. */
tl_lg_whole tl_lg_whole_of(const tl_lg *lg, const tl_lg_body *b, const double *q, const double *v);
/* Rotation that turns the rest shape best into q, by masses; `centre`: of the rest shape. */
tl_quat tl_lg_rotation_of(const tl_lg *lg, const tl_lg_body *b, const double *q, tl_vec3 *centre);
/* Centres of mass of elastic bodies are those of their nodes at the start, not of their shapes: regions weigh more
 * or less than others. */
talus_status tl_lg_give_centres(const tl_lg *lg, const tl_scene *s, tl_rigid *rigid, tl_rigid_state *start,
                                talus_error *err);
/* Adds the rigid motion that gives the body this velocity and spin (NULL: as it is); deformation goes on, and the
 * history that integration of second order looks back at moves alike. */
void tl_lg_set_velocity(const tl_lg *lg, tl_lg_state *s, const tl_lg_body *b, const tl_vec3 *velocity,
                        const tl_vec3 *spin);

#endif
