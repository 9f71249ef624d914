/* Newton's method for elastic bodies that no contact, cable or join holds. It minimises the energy of a step
 *
 *     1/2 |q - q~|_M^2 + he^2 (Psi(q) - work of contact forces)
 *
 * by conjugate gradients on its curvature, A as preconditioner, every body by itself, and a line search over all of
 * them. An iteration costs about as much as a round of lg.c, and ends where rounds would after many. */
#ifndef TL_PHASE_LG_NEWTON_H
#define TL_PHASE_LG_NEWTON_H

#include "model/lg/rows.h"
#include "model/lg/solver.h"

typedef struct tl_lg_newton {
    const tl_lg *lg;
    const tl_lg_solver *solver;
    tl_lg_precision precision;
    double he;
    const double *qtil;     /* [3 nodes] */
    const tl_vec3 *target;  /* [anchors] */
    const double *pressure; /* [bodies] Pa; NULL: none */
    const tl_lg_rows *rows; /* whose forces act on nodes, NULL: none */
    double *q;              /* [3 nodes] the positions that are to be */
    double *r, *step, *trial, *force;
    /* from tl_lg_newton_begin on */
    const bool *held;                 /* [bodies] that joints hold: left out; NULL: none */
    bool *of, *open;                  /* [bodies] that take part; whose system is not solved yet */
    double *d, *p, *left, *product;   /* [3 nodes] */
    double *size, *rz, *first, *bend; /* [bodies] */
} tl_lg_newton;

/* All bodies take part but those with nodes in `rows`. */
talus_status tl_lg_newton_begin(tl_lg_newton *w, tl_arena *arena, talus_error *err);
/* r of what takes part at q, one correction with at most `max` iterations, search. Returns the iterations made; -1:
 * no body takes part. */
int tl_lg_newton_correct(tl_lg_newton *w, int max);
/* q += length step, as far as the energy falls: r and step are given, and r points down. Returns the length. */
double tl_lg_newton_search(tl_lg_newton *w);
/* r at x without contact forces, of all bodies. */
void tl_lg_newton_residual(tl_lg_newton *w, const double *x, double *r);

#endif
