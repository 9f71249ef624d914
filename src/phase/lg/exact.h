/* Newton's method for elastic bodies that touch, laws of contact included. Rounds size contact forces by A, which is
 * far stiffer than a stiff body is in bending; where they end short of the target, corrections by the true curvature H
 * take over:
 *
 *     H d - r = J^T f,     gaps and slips at q + d,     Signorini and Coulomb between them and f
 *
 * is one problem of kind "flex" (solve/flex/problem.h) per correction, forces and displacement together, free rigid
 * bodies with their masses. A search along d on the step's energy with an exact penalty for gaps makes it converge
 * from where rounds ended. */
#ifndef TL_PHASE_LG_EXACT_H
#define TL_PHASE_LG_EXACT_H

#include "model/lg/hessian.h"
#include "phase/lg/contact.h"
#include "phase/lg/newton.h"
#include "solve/flex/route.h"

typedef struct tl_lg_exact {
    const struct tl_sim *sim; /* whom corrections are shown by */
    tl_lg_newton *w;
    tl_lg_touch *t;
    tl_lg_hessian *hessian;
    tl_flex_data *data;
    bool *of;          /* [bodies] take part; those with nodes in rows join */
    const char *route; /* of solve/flex/route.h */
    double target;     /* share of a body's displacement by forces that the last correction may have */
    double slack;      /* m/s, of contact laws */
    double slow;       /* m/s, see tl_lg_step */
    int max;           /* corrections */
    double until;      /* s, tl_seconds: none begins after it, but the first */
    /* out */
    int made;
    bool converged;
} tl_lg_exact;

/* From w->q and the forces of t, which follow. Fails with TALUS_UNSUPPORTED where too many contacts push; nothing
 * has changed then. */
talus_status tl_lg_exact_solve(tl_lg_exact *x, tl_arena *a, talus_error *err);

#endif
