/* Kind "linear": A x = b with A symmetric; positive (semi)definite for CG, any sign for CR.
 * Certificate: residual = max|b - Ax| / max|b| (absolute when b = 0). */
#ifndef TL_SOLVE_LINEAR_PROBLEM_H
#define TL_SOLVE_LINEAR_PROBLEM_H

#include "solve/linop.h"

typedef struct tl_linear {
    const tl_space *space;
    tl_linop A;
    const double *b; /* [n] */
} tl_linear;

typedef struct tl_linear_certificate {
    double residual;
} tl_linear_certificate;

/* x [n + halo]; scratch from the arena, given back. */
talus_status tl_linear_certify(const tl_linear *p, double *x, tl_linear_certificate *out, tl_arena *a,
                               talus_error *err);

#endif
