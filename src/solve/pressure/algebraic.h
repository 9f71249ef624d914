/* Pressures by solvers of another library (base/algebra.h), where a run has one: preconditioners of the free cells in
 * place of multigrid, and a whole method for variational inequalities. What bodies add is left out of them. */
#ifndef TL_SOLVE_PRESSURE_ALGEBRAIC_H
#define TL_SOLVE_PRESSURE_ALGEBRAIC_H

#include "base/algebra.h"
#include "solve/outcome.h"
#include "solve/pressure/precond.h"
#include "solve/pressure/problem.h"

typedef struct tl_algebraic {
    const tl_algebra_ops *ops;
    tl_algebra *solver;
    const tl_pressure *p;
    double *values;   /* [7 n] */
    double *r, *z;    /* [n] */
    uint8_t *is_free; /* [length] */
    bool rebuild;     /* false: of all cells, masked */
    bool set;         /* values are there */
} tl_algebraic;

/* solver: as base/algebra.h has it. Collective. */
talus_status tl_algebraic_take(tl_algebraic *s, const char *solver, const tl_pressure *p, tl_arena *a,
                               talus_error *err);
void tl_algebraic_attach(tl_algebraic *s, const tl_pressure *p, bool rebuild); /* before each solve */
tl_pressure_precond tl_algebraic_precond(tl_algebraic *s);

/* x [n]: start in, answer out. target: largest projected gradient. */
tl_outcome tl_algebraic_bounded(tl_algebraic *s, double lo, double target, const tl_stop *stop, double *x, tl_work *w);

#endif
