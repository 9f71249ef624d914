/* Methods for box-constrained QPs, by name. See docs/methods.md for what each one does. */
#ifndef TL_SOLVE_BOXQP_METHOD_H
#define TL_SOLVE_BOXQP_METHOD_H

#include "solve/boxqp/problem.h"
#include "solve/options.h"
#include "solve/outcome.h"

typedef struct tl_boxqp_method {
    const char *name;    /* as in scene files: "mprgp" */
    const char *help;    /* one line */
    bool handles_bounds; /* plain CG is kept as the unconstrained reference */
    size_t (*bytes)(const tl_boxqp *p, const tl_options *o);
    /* x [n + halo]: start in, answer out. Takes at most bytes() from the arena, nothing from the heap. */
    tl_outcome (*run)(const tl_boxqp *p, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a, tl_work *w);
} tl_boxqp_method;

int tl_boxqp_method_count(void);
const tl_boxqp_method *tl_boxqp_method_at(int i);
const tl_boxqp_method *tl_boxqp_method_find(const char *name); /* NULL when unknown */

typedef struct tl_boxqp_report {
    tl_outcome outcome;
    tl_boxqp_certificate certificate; /* computed here, not by the method */
    tl_work work;                     /* the certificate's product is not counted */
    double seconds;
} tl_boxqp_report;

/* Solve and certify. Stops at certificate.optimality <= stop->tolerance. A "converged" that the
 * certificate does not confirm within a factor of 10 is reported as stalled. On failure (no memory) x is untouched. */
talus_status tl_boxqp_solve(const tl_boxqp_method *m, const tl_boxqp *p, const tl_options *o, const tl_stop *stop,
                            double *x, tl_arena *a, tl_boxqp_report *report, talus_error *err);

#endif
