/* Accounts of the local-global step. Forces f are those of its end; accelerations a = (q1 - q~) / he^2 + a_ext
 * (lg_time.h):
 *
 *     E1 - E0 = 1/2 m (v1^2 - v0^2) - m a . (q1 - q0) + (Psi1 - Psi0 - grad Psi1 . (q1 - q0))      the integration: time_step
 *               + f . (q1 - q0), work of pressure, what landing takes                                             contacts, cables, handles
 *               - r . (q1 - q0) / he^2                                          what the rounds left unbalanced: unexplained
 *
 * Momentum is that of p of lg_time.h. With implicit Euler the first line is -1/2 m |v1 - v0|^2. All this is exact,
 * so energy that is unexplained here is that of a solve that has not ended. */
#ifndef TL_PHASE_ACCOUNTS_LG_H
#define TL_PHASE_ACCOUNTS_LG_H

#include "phase/accounts/accounts.h"
#include "phase/lg/contact.h"

/* What the step knows at its end, before anything is written. */
typedef struct tl_accounts_lg {
    double h, he;
    double landed;  /* J, that landing took, from nodes and bodies */
    double viscous; /* J, that inner friction gave */
    const tl_lg *lg;
    const double *p0, *accel;               /* [3 nodes] p at the start; a_ext */
    const double *q0, *v0, *q1, *v1, *qtil; /* [3 nodes] */
    const double *r;                        /* [3 nodes] what is left over, kg m, contact forces included */
    const tl_vec3 *target;                  /* [anchors] at the end */
    const double *pressure;                 /* [bodies] Pa; NULL: none */
    double elastic0, elastic;               /* J, of nodes at the start and at the end */
    const tl_lg_touch *touch;
    const tl_lg_contacts *contacts;
    tl_bodies *b;
} tl_accounts_lg;

/* Elastic energy that the step starts with, before and after handles have moved: target of the end, q of the start. */
talus_status tl_accounts_lg_begin(tl_sim *sim, const tl_vec3 *target, tl_arena *a, double *elastic, talus_error *err);
talus_status tl_accounts_lg_end(tl_sim *sim, const tl_accounts_lg *x, tl_arena *a, talus_error *err);
/* What anchors at places q gave nodes against inner friction, N s: held [3 nodes]. */
void tl_accounts_lg_damped(tl_sim *sim, const double *held, const double *q);

#endif
