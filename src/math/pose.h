/* Where something is: world point of a local point p is at + rotation p rotation*. */
#ifndef TL_MATH_POSE_H
#define TL_MATH_POSE_H

#include "math/quat.h"

typedef struct tl_pose {
    tl_vec3 at;
    tl_quat rotation; /* unit */
} tl_pose;

static inline tl_vec3 tl_pose_apply(const tl_pose *x, tl_vec3 p)
{
    return tl_vec3_add(x->at, tl_quat_rotate(x->rotation, p));
}
static inline tl_vec3 tl_pose_to_local(const tl_pose *x, tl_vec3 world)
{
    return tl_quat_rotate(tl_quat_conjugate(x->rotation), tl_vec3_sub(world, x->at));
}

#endif
