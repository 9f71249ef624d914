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

#endif
