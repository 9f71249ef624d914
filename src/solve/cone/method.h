/* Methods for cone-constrained QPs, by name. See docs/methods.md for what each one does. */
#ifndef TL_SOLVE_CONE_METHOD_H
#define TL_SOLVE_CONE_METHOD_H

#include "solve/cone/problem.h"
#include "solve/options.h"
#include "solve/outcome.h"

typedef struct tl_cone_method {
    const char *name; /* as in scene files: "apgd" */
    const char *help; /* one line */
    bool feasible;    /* the answer satisfies the cones to rounding, whenever the method stops */
    size_t (*bytes)(const tl_cone *p, const tl_options *o);
    /* x [n + halo]: start in, answer out. Takes at most bytes() from the arena, nothing from the heap. */
    tl_outcome (*run)(const tl_cone *p, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a, tl_work *w);
    const struct tl_parts_rule *rule; /* by parts (parts.h); NULL: works with A and groups */
} tl_cone_method;

int tl_cone_method_count(void); /* without those by parts, which can be found by name alone */
const tl_cone_method *tl_cone_method_at(int i);
const tl_cone_method *tl_cone_method_find(const char *name); /* NULL when unknown */

typedef struct tl_cone_report {
    tl_outcome outcome;
    tl_cone_certificate certificate; /* computed here, not by the method */
    tl_work work;                    /* the certificate's product is not counted */
    double seconds;                  /* of the method alone */
} tl_cone_report;

/* Solve and certify. Stops at relative_gap <= stop->tolerance, measured by the method as it goes; methods that
 * are not `feasible` also ask for relative_violation <= tolerance. A "converged" that the certificate does not
 * confirm within a factor of 10 is reported as stalled. The start is projected where a method needs it. When b
 * vanishes on every group that can move, x = 0 is the answer and no method runs.
 *
 * Wrong input (see tl_cone_check; also a start that is not finite) and missing memory are failures
 * and leave x untouched. Collective on a split space. */
talus_status tl_cone_solve(const tl_cone_method *m, const tl_cone *p, const tl_options *o, const tl_stop *stop,
                           double *x, tl_arena *a, tl_cone_report *report, talus_error *err);

#endif
