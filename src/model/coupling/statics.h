/* Which stress sand at rest has.
 *
 * Sand of the grid engine is rigid-plastic: at rest every (p, s) that balances the weight inside of the cones is an
 * answer, and staggered projections return the one that they were started from, the stress of the last impact. Of all
 * that make the same force on every face that can move, this picks the one of least elastic energy,
 *
 *     sum over cells of V ( p^2 / (2 K) + |s|_F^2 / (4 G) ),   V: sand in the cell, at least a quarter of it
 *
 * among those whose shear is at most alpha times the pressure of the answer itself: the stress of an elastic-plastic
 * skeleton on which gravity is switched on once, and which slides without dilating (kind "least",
 * solve/least/problem.h). [Haar1909] has the principle with the cones of the unknown pressure, which is associated
 * flow. Only G / K matters, and follows from the pressure at rest in a confined layer, K0 = 1 - sin(angle)
 * [Jaky1944]. Velocities of the step stay as they are: what changes is what the next step starts from. It runs where
 * little flows, begins when the stress is further than BEGIN from the one selected and ends nearer than LEAST; both
 * the multipliers (an elastic displacement) and whether it is at work are in the state. */
#ifndef TL_MODEL_COUPLING_STATICS_H
#define TL_MODEL_COUPLING_STATICS_H

#include "model/coupling/friction.h"
#include "model/coupling/liquid.h"
#include "solve/least/problem.h"

typedef struct tl_statics {
    const tl_system *system;
    const tl_coupling *motion;   /* its lists, with all solids at their velocities */
    const double *bends;         /* [faces] part that elastic bodies cover: they keep their load. NULL: none */
    const tl_friction *friction; /* colocated; s as the scheme left it, velocities in force */
    const double *p;             /* [cells] as the scheme left it, W_L^p p */
    const double *solid;         /* [cells of the grid] part of a cell that is solid: it does not give way */
    double gravity;              /* m/s^2 */
    double tolerance;            /* of the scheme */
    bool on;                     /* in: it was at work in the last step; out: it is */
    double *t;                   /* [faces] in: of the last step; out */
    double *p_next, *s_next;     /* [cells], [n] out: what the next step starts from */
    /* the search, written by tl_statics_pose; its caller finds moves, a and b */
    bool wanted;
    tl_least least;
    tl_least_stop stop;
    double *moves; /* [rows] start in, answer out */
    double *a, *b; /* [cells], [n] Pa: pressure and stress, out */
    struct tl_balance *balance;
    /* out */
    int evaluations;
    double flows, fast; /* parts of the cells */
    double
        /* energy of the difference between the scheme's stress and the selected one, over that of the first; 0 where
         * it was not looked at */
        distance;
} tl_statics;

/* Whether the rule looks for a stress, and the problem that selects it; what the next step starts from is what is
 * there until tl_statics_take. */
talus_status tl_statics_pose(tl_statics *q, tl_arena *a, talus_error *err);

/* What was found: t for the next step, and as much of the stress as it may begin with. */
void tl_statics_take(tl_statics *q, const tl_least_report *found);

#endif
