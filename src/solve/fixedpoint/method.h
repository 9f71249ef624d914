/* Methods for fixed-point problems, by name. See docs/methods.md for what each one does. */
#ifndef TL_SOLVE_FIXEDPOINT_METHOD_H
#define TL_SOLVE_FIXEDPOINT_METHOD_H

#include "solve/fixedpoint/problem.h"
#include "solve/options.h"
#include "solve/outcome.h"

typedef struct tl_fixedpoint_method {
    const char *name; /* as in scene files: "nncg" */
    const char *help; /* one line */
    size_t (*bytes)(const tl_fixedpoint *p, const tl_options *o);
    /* x [n + halo]: start in, feasible answer out. Takes at most bytes() from the arena, nothing from the heap. */
    tl_outcome (*run)(const tl_fixedpoint *p, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a,
                      tl_work *w);
} tl_fixedpoint_method;

int tl_fixedpoint_method_count(void);
const tl_fixedpoint_method *tl_fixedpoint_method_at(int i);
const tl_fixedpoint_method *tl_fixedpoint_method_find(const char *name); /* NULL when unknown */

typedef struct tl_fixedpoint_report {
    tl_outcome outcome;
    tl_fixedpoint_certificate certificate; /* computed here, not by the method */
    tl_work work;                          /* products: evaluations; the certificate's is not counted */
    double seconds;
} tl_fixedpoint_report;

/* Solve and certify. Stops at certificate.residual <= stop->tolerance. A "converged" that the
 * certificate does not confirm within a factor of 10 is reported as stalled. On failure (no memory) x is untouched. */
talus_status tl_fixedpoint_solve(const tl_fixedpoint_method *m, const tl_fixedpoint *p, const tl_options *o,
                                 const tl_stop *stop, double *x, tl_arena *a, tl_fixedpoint_report *report,
                                 talus_error *err);

/* For the methods: one step at x and what it tells. */
typedef struct tl_fixedpoint_step {
    double *r, *y;   /* residual fields at x, then y - x (r is free once y is there); the step's end */
    double residual; /* the stopping measure at x */
    double square;   /* |y - x|^2 over all parts */
} tl_fixedpoint_step;

/* Sum of the squares of d_i from `first` on, all in one unit; over all parts. */
double tl_fixedpoint_square(const tl_fixedpoint *p, int64_t first, const double *d);
/* Refresh x's halo, evaluate, project, measure. s->r and s->y [n + halo] are the caller's. */
void tl_fixedpoint_look(const tl_fixedpoint *p, double *x, tl_fixedpoint_step *s, tl_work *w);
/* The same at the start, without an evaluation where the problem knows it. */
void tl_fixedpoint_look_first(const tl_fixedpoint *p, double *x, tl_fixedpoint_step *s, tl_work *w);
/* A look, written to out and to the history; whether a method ends with it that moves x by steps alone. */
bool tl_fixedpoint_ends(const tl_fixedpoint *p, const tl_options *o, const tl_stop *stop, double *x,
                        tl_fixedpoint_step *s, tl_work *w, tl_outcome *out);

#endif
