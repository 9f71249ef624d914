/* The loop around a preconditioner: MPRGP [Dostal2005] for q >= 0 on one level, with three changes that pressure needs:
 *
 *   - expansion always projects the whole CG step [Kruzik2020], guarded by the exact change of energy;
 *   - violated cells, and cells hardly held by their bound, are released together by a preconditioned, projected step;
 *   - the preconditioner follows the free set at every restart of CG.
 *
 * Without bounds it is the method of conjugate gradients. */
#ifndef TL_SOLVE_PRESSURE_BOUNDED_H
#define TL_SOLVE_PRESSURE_BOUNDED_H

#include "solve/outcome.h"
#include "solve/pressure/lowrank.h"
#include "solve/pressure/precond.h"
#include "solve/pressure/problem.h"

/* One level's problem: the finest with what bodies add, or a coarse one. */
typedef struct tl_pressure_system {
    const tl_pressure_space *space; /* NULL: all cells are here */
    int32_t n, extras, none;
    const int32_t *nb[TL_PRESSURE_SIDES];
    const float *c[TL_PRESSURE_SIDES];
    const double *d, *b;
    tl_pressure_extra extra;
    double lo, lo_extra; /* 0 or -INFINITY: of cells, of appended unknowns */
    tl_lowrank
        *lowrank; /* what bodies add, for the preconditioner; NULL: left out, and appended rows by their diagonal */
} tl_pressure_system;

/* [tl_pressure_length] each: the entry behind the last unknown is 0. Where a neighbour is missing, an entry is read and
 * multiplied by 0; with several parts it is this one, and copies stand behind it. */
typedef struct tl_pressure_vectors {
    double *x, *g, *p, *q, *trial;
} tl_pressure_vectors;

typedef struct tl_pressure_counts {
    int releases, expansions;
} tl_pressure_counts;

/* Collective: every sum is over all parts, so that all of them take the same steps. x: start in, answer out; the vectors may come back exchanged. patience: iterations within which the residual must
 * fall tenfold, else the result is TL_STALLED (0: no such rule). */
tl_outcome tl_pressure_bounded(const tl_pressure_system *s, const tl_pressure_precond *P, tl_pressure_vectors *v,
                               const tl_stop *stop, int patience, tl_pressure_counts *counts, tl_work *w);

#endif
