/* Newton's method for elastic bodies that touch. Rounds move nodes by A^-1 of what is left of the forces, and contact
 * forces are sized by the same A, so they hold together; but where A is far stiffer than the body they find a part of
 * the forces only. A correction takes what the rounds ended with as given, who touches, who sticks, who slides, and
 * solves
 *
 *     | H  J^T | | d |   | r |        H: curvature of the step's energy, free rigid bodies with their masses
 *     | J   0  | | x | = | 0 |        J: rows that are held: gaps of what touches, slips of what sticks, cables, joins
 *
 * by conjugate gradients with A for H in the preconditioner, whose Schur complement J A^-1 J^T is a dense factor. So
 * forces are sized by the matrix that moves the nodes. Friction of what slides stays as it is. Forces become those
 * that balance; a round and the contact laws come after it. */
#ifndef TL_PHASE_LG_HELD_H
#define TL_PHASE_LG_HELD_H

#include "phase/lg/contact.h"
#include "phase/lg/newton.h"

/* How far corrections have come. */
typedef struct tl_lg_corrections {
    /* What the forces that balance nothing could still do, r A^-1 r with the held rows taking theirs; INFINITY before
     * the first. */
    double left;
    /* Nothing has changed: `left` is not smaller than it was; no iterations are allowed; or a correction cannot be made
     * (too many rows: left is INFINITY). */
    bool done;
    double *q, *force; /* [3 nodes], [rows]: of before, unless done */
} tl_lg_corrections;

/* One correction of w->q and of the forces of t, from where a round ended, in at most `max` iterations. */
talus_status tl_lg_held_correct(tl_lg_newton *w, tl_lg_touch *t, int max, tl_lg_corrections *c, tl_arena *a,
                                talus_error *err);

#endif
