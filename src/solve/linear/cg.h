/* Preconditioned conjugate gradients as an inner solver: absolute target, caller's work space. */
#ifndef TL_SOLVE_LINEAR_CG_H
#define TL_SOLVE_LINEAR_CG_H

#include "solve/linear/method.h"

typedef struct tl_cg_target {
    double residual_max; /* stop when max|b - Ax| <= this */
    int max_iterations;  /* 0 = no limit */
    bool confirm;        /* recompute the residual at the end, and go on if rounding hid the truth */
    bool record;         /* one history line per iteration */
} tl_cg_target;

size_t tl_cg_bytes(const tl_space *s);

/* Solve from x. P may be NULL. Obeys stop->max_products. */
tl_outcome tl_cg_run(const tl_linear *problem, const tl_precond *P, double *x, const tl_cg_target *target,
                     const tl_stop *stop, tl_arena *a, tl_work *w);

#endif
