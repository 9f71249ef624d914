/* How a solve is asked to stop, and how it ended. Missing the target is an outcome, not an error:
 * the certificate (computed outside the method) says how good the answer is. */
#ifndef TL_SOLVE_OUTCOME_H
#define TL_SOLVE_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/work.h"

typedef struct tl_stop {
    double tolerance;     /* on the kind's certificate measure, relative as the kind defines it */
    int max_iterations;   /* of the method's innermost loop; 0 = no limit */
    int64_t max_products; /* with A; 0 = no limit */
} tl_stop;

typedef enum tl_result {
    TL_CONVERGED = 0,
    TL_OUT_OF_ITERATIONS, /* or products */
    TL_STALLED,           /* no further progress is possible in double precision or by this method */
    TL_BROKE_DOWN,        /* a division by zero, negative curvature, NaN */
    TL_BUDGET_SPENT, /* a fixed number of rounds is the rule that stops: above its target, and not asked to reach it */
    TL_NOT_APPLICABLE, /* the method cannot treat this problem (it needs explicit rows, say) */
    TL_INFEASIBLE      /* the problem has no solution; the answer misses its constraints by the least that one can */
} tl_result;

const char *tl_result_name(tl_result r); /* "converged", "out of iterations", ... */

typedef struct tl_outcome {
    tl_result result;
    int iterations;  /* of the innermost loop */
    double residual; /* the method's own measure at the end */
} tl_outcome;

/* True when the budget of products is used up, or when the user wants to leave: asked in every round of every
 * method. */
static inline bool tl_stop_spent(const tl_stop *stop, const tl_work *w)
{
    return (stop->max_products > 0 && w->products >= stop->max_products) || tl_cancelled();
}

#endif
