/* Parameters of the methods. One plain struct: a method reads the fields that its header names and
 * ignores the rest; tl_options_default gives the values that the tables are made with. */
#ifndef TL_SOLVE_OPTIONS_H
#define TL_SOLVE_OPTIONS_H

#include <stdbool.h>

#include "base/work.h"
#include "solve/precond/precond.h"

typedef struct tl_options {
    tl_precond *precond;    /* built for the problem's A; NULL = none. Methods that solve with
                               A + diagonal update it and restore plain A before they return */
    int line_searches;      /* pip, auglag: step lengths tried per Newton step (1 = full step only) */
    double penalty;         /* auglag, admm, auglag-ipn: relative to the diagonal of A; 0 = the method's default */
    double inner_tolerance; /* relative residual of inner linear solves; 0 = the method's default */
    double relaxation;      /* admm: over-relaxation in (0, 2) */
    double box_looseness;   /* auglag-ipn: kappa, size of the auxiliary box relative to the cone */
    int least_iterations;   /* jacobi, nncg: made even when the target is reached before; 0 */
    double slow;            /* newton of contacts: m/s that forces give in a step, g dt; 0 = from the problem */
    double aim;             /* newton of contacts: below the tolerance, gone on to while that is cheap; 0 = none */
    bool *early;            /* newton of contacts: islands of many bodies may end early, near enough to see where
                               bodies go, and this is set where one did; NULL = not */
    int newton_steps;       /* auglag-ipn: Newton steps per multiplier update */
    tl_history *history;    /* of the iterations; NULL = not kept */
    bool trusted; /* cone: the caller has made the data itself and certifies the answer: neither is looked at */
} tl_options;

tl_options tl_options_default(void);

#endif
