/* Inner friction of elastic bodies (Kelvin and Voigt): a stress of `damping` seconds times that of the rate of strain.
 * After the step of positions, velocities v become those with
 *
 *     (M + h damping K) v' = M v,     K: curvature of the elastic energy where nodes are
 *
 * for all but the body's rigid motion, which deforms nothing. A swing of angular frequency w falls as exp(-damping
 * w^2 t / 2); momentum and angular momentum of what nothing holds stay, and kinetic energy never rises, however long
 * the step. */
#ifndef TL_PHASE_LG_DAMP_H
#define TL_PHASE_LG_DAMP_H

#include "model/lg/hessian.h"

/* A step of elastic bodies at its end; [nodes][3]. v and `before` change alike. */
typedef struct tl_lg_moved {
    const tl_lg *lg;
    tl_lg_hessian *hessian;
    double h; /* s */
    const double *q;
    double *v, *before; /* before: the history that integration of second order looks back at, NULL: none */
} tl_lg_moved;

/* Of one body. held [nodes][3] N s, out: what anchors gave its nodes to stay where they are. */
talus_status tl_lg_damp(const tl_lg_moved *m, int body, double damping, double *held, tl_arena *a, talus_error *err);

#endif
