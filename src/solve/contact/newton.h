/* One island of bodies that touch, solved by Newton: what crowd.c hands islands, and parts of large ones, to. */
#ifndef TL_SOLVE_CONTACT_NEWTON_H
#define TL_SOLVE_CONTACT_NEWTON_H

#include "base/arena.h"
#include "solve/contact/body_matrix.h"
#include "solve/outcome.h"

typedef struct tl_newton_ask {
    bool shift; /* true Coulomb friction; else the convex relaxation */
    double aim; /* m/s, at most the tolerance: gone on to while that is cheap */
    tl_stop stop;
    bool *early; /* see tl_options */
    double slow; /* m/s: see tl_options; 0: tl_pairs_speed */
} tl_newton_ask;

#define TL_NEWTON_AIM_MAX 500 /* contacts: larger islands stop at the tolerance */

/* From lam to lam [3 contacts]. Scratch comes from the arena and goes back; a refusal ends as TL_BROKE_DOWN with lam
 * as it was. */
tl_outcome tl_newton_island(const tl_pairs *t, const tl_newton_ask *ask, double *lam, tl_arena *a, tl_work *w);

/* What a Newton step costs, in sweeps: 5, and one more for as many products of blocks in its factor as there are
 * contacts (measured, 200 to 1000 bodies). */
int64_t tl_newton_step_cost(const tl_body_matrix *H, int32_t contacts);

size_t tl_newton_bytes(int32_t contacts, int32_t bodies); /* the most that it takes, whatever the fill */

/* Residual of lam for that problem, m/s; out [lanes]: the velocities that it causes. */
double tl_newton_residual(const tl_pairs *t, bool shift, const double *lam, double *out);

#endif
