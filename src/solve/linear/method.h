/* Methods for symmetric linear systems, by name. */
#ifndef TL_SOLVE_LINEAR_METHOD_H
#define TL_SOLVE_LINEAR_METHOD_H

#include "solve/linear/problem.h"
#include "solve/options.h"
#include "solve/outcome.h"

typedef struct tl_linear_method {
    const char *name;
    const char *help;
    size_t (*bytes)(const tl_linear *p, const tl_options *o);
    /* x [n + halo]: start in, answer out. Takes at most bytes() from the arena, nothing from the heap. */
    tl_outcome (*run)(const tl_linear *p, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a, tl_work *w);
} tl_linear_method;

int tl_linear_method_count(void);
const tl_linear_method *tl_linear_method_at(int i);
const tl_linear_method *tl_linear_method_find(const char *name); /* NULL when unknown */

typedef struct tl_linear_report {
    tl_outcome outcome;
    tl_linear_certificate certificate; /* computed here, not by the method */
    tl_work work;
    double seconds;
} tl_linear_report;

/* Solve and certify; stops at certificate.residual <= stop->tolerance. */
talus_status tl_linear_solve(const tl_linear_method *m, const tl_linear *p, const tl_options *o, const tl_stop *stop,
                             double *x, tl_arena *a, tl_linear_report *report, talus_error *err);

#endif
