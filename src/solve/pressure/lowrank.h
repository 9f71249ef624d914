/* A preconditioner of S + U U^T from one of S: what free bodies add to the matrix, and the unknowns appended to the
 * cells.
 *
 *     P = B - B U (I + U^T B U)^-1 U^T B,      B = (V, 1/e)        [Woodbury]
 *
 * V is the preconditioner of the free cells, e a small part of the diagonal of appended rows, which S does not have;
 * free rows only, so P is 0 where a bound holds. Two applications of V per application of P, and one per column of U
 * for its set-up; nothing of the size of U is stored. V is linear and symmetric, so P is symmetric and positive. */
#ifndef TL_SOLVE_PRESSURE_LOWRANK_H
#define TL_SOLVE_PRESSURE_LOWRANK_H

#include "solve/pressure/precond.h"
#include "solve/pressure/problem.h"

typedef struct tl_lowrank {
    const tl_comm *comm; /* sums over cells of all parts; appended rows are the same on all */
    int32_t n, extras, columns;
    tl_pressure_extra extra;
    double *C;        /* [columns][columns] U^T V U of the cells */
    double *K;        /* [columns][columns] factor of I + U^T B U */
    double *rows;     /* [extras][columns] U of the appended rows */
    double *r;        /* [columns] */
    double *z, *t;    /* [n + extras + 1] */
    uint8_t *is_free; /* [extras] */
    bool made;        /* C is there */
    bool aged;        /* V's free cells are others than C's */
    bool ready;       /* K is there */
} tl_lowrank;

/* Columns for which the set-up still pays. */
#define TL_LOWRANK_MAX 128
/* Steps of CG on one set of free cells after which columns of another set are made again. */
#define TL_LOWRANK_STAYED 12

bool tl_lowrank_take(tl_lowrank *w, const tl_pressure *p, tl_arena *a); /* false: no memory */
void tl_lowrank_attach(tl_lowrank *w, const tl_pressure *p);            /* before each solve */

/* V's free cells changed. C is kept: most changes are small, and a column costs an application of V. P is then only
 * about what it should be. */
void tl_lowrank_age(tl_lowrank *w);
/* is_free is set: make K, and C where there is none. Returns applications of V. */
int tl_lowrank_fit(tl_lowrank *w, const tl_pressure_precond *V);
/* The same with a new C. */
int tl_lowrank_renew(tl_lowrank *w, const tl_pressure_precond *V);
/* z.g with z = P g [n + extras], which stays in w->z. */
double tl_lowrank_apply(tl_lowrank *w, const tl_pressure_precond *V, const double *g, double size);

#endif
