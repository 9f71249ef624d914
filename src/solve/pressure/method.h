/* Methods for the pressure, by name. See docs/methods.md for what each one does.
 *
 *     multigrid         bounded; hierarchy of the free cells (the default)
 *     mic               bounded; modified incomplete Cholesky factor of the free cells: reference, small problems, retries
 *     cg-multigrid      the same two without bounds: conjugate gradients, the reference for cost
 *     cg-mic
 *     multigrid-double  multigrid with a cycle in double precision, to show that single is enough
 *     mprgp, mprgp-original, admm, pip, auglag, cg    those of [FM21 tab. 1], for comparison (as_box.h)
 *     petsc-hypre, petsc-gamg    bounded, algebraic multigrid of PETSc for the free cells; petsc-vi: all of it is PETSc's
 *                       (several processes alone: base/algebra.h)
 *
 * The structure of the cells (levels, orders) is a plan, made once per active set and good for any number of solves
 * with it, with other coefficients' values, b, start or bounds; only n, red, ijk, nb and which c are zero must stay:
 *
 *     tl_pressure_plan *plan;
 *     TL_TRY(tl_pressure_plan_make(&plan, method, &problem, &options, arena, err));
 *     TL_TRY(tl_pressure_run(plan, &problem, &stop, x, arena, NULL, &report, err));
 *
 * The plan holds all the memory of a run and lives in the arena until that is released below it.
 *
 * A problem in several parts (its space) is solved by the methods with multigrid: all parts make the same calls, and
 * take the same steps as one part alone would but for the rounding of sums. Plans of halos go with the comm's mark. */
#ifndef TL_SOLVE_PRESSURE_METHOD_H
#define TL_SOLVE_PRESSURE_METHOD_H

#include "solve/outcome.h"
#include "solve/pressure/problem.h"

typedef struct tl_pressure_method tl_pressure_method;

int tl_pressure_method_count(void);     /* of this kind: without those for boxes, which can be found by name alone */
int tl_pressure_method_count_all(void); /* with those; not those of PETSc */
const tl_pressure_method *tl_pressure_method_at(int i);
const tl_pressure_method *tl_pressure_method_find(const char *name); /* NULL when unknown */
const char *tl_pressure_method_name(const tl_pressure_method *m);    /* as in scene files: "multigrid" */
bool tl_pressure_method_bounded(const tl_pressure_method *m);        /* false: ignores the bounds */
bool tl_pressure_method_in_parts(const tl_pressure_method *m);       /* solves problems in several parts */

typedef enum tl_pressure_start {
    TL_PRESSURE_NESTED, /* q from the coarse levels, x's cells are not read (appended unknowns are): no pressure of the last
                           step, or more than 2 % new cells. The methods without levels start from a small constant */
    TL_PRESSURE_WARM /* x as given, clipped to the bounds */
} tl_pressure_start;

typedef struct tl_pressure_options {
    tl_pressure_start start;
    int32_t mic_below; /* multigrid: fewer cells are solved by mic, which is quicker there (0 = never) */
    bool retry;   /* multigrid: go on with mic when 30 iterations without bodies do not reduce the residual tenfold; in
                     several parts with multigrid-double */
    bool rebuild; /* false: preconditioner of all cells, masked; to show what the free set's is worth */
    bool split;   /* false: a coarse cell joins all its children, also across a thin solid */
    int whole; /* several parts: the first level that every part has all of; 0: 3 up to 8 parts, then the last that can be */
} tl_pressure_options;

tl_pressure_options tl_pressure_options_default(void);

typedef struct tl_pressure_plan tl_pressure_plan;

/* The plan keeps the pointers ijk and nb of the problem; other arrays may be others in a run. */
talus_status tl_pressure_plan_make(tl_pressure_plan **plan, const tl_pressure_method *m, const tl_pressure *p,
                                   const tl_pressure_options *o, tl_arena *a, talus_error *err);
size_t tl_pressure_plan_bytes(const tl_pressure_plan *plan); /* structure and work space of a run together */
void tl_pressure_plan_start(tl_pressure_plan *plan, tl_pressure_start start); /* for the next runs */

typedef struct tl_pressure_report {
    tl_outcome outcome;
    tl_pressure_certificate certificate; /* computed here, not by the method */
    tl_work work;                        /* of the finest level; the certificate's product is not counted.
                                            factorizations: rebuilds for another free set */
    int releases, expansions;            /* iterations that let cells off their bound, that put cells on it */
    double nested_products;              /* of the nested start, in products of the finest level */
    const char *method;                  /* what ended the solve: "mic" for small problems and after a retry */
    double seconds;
} tl_pressure_report;

/* Solve and certify: x [n + extras], start in, answer out. Stops at certificate.optimality <= stop->tolerance (1e-5
 * in production). A "converged" that the certificate does not confirm within a factor of 10 is reported as stalled.
 * A run takes a vector for the certificate from the arena, and what mic needs when it has to step in; iterations
 * take nothing. On failure (no memory for the plan or the certificate), and when the numbers are not finite, x is
 * untouched. */
talus_status tl_pressure_run(tl_pressure_plan *plan, const tl_pressure *p, const tl_stop *stop, double *x, tl_arena *a,
                             tl_history *history, tl_pressure_report *report, talus_error *err);

/* Plan, run, and give the arena back. */
talus_status tl_pressure_solve(const tl_pressure_method *m, const tl_pressure *p, const tl_pressure_options *o,
                               const tl_stop *stop, double *x, tl_arena *a, tl_pressure_report *report,
                               talus_error *err);

#endif
