/* Kind "viscous": velocities and pressures of one implicit step of a viscous liquid, a saddle point
 *
 *     [ K   G ] [ u ]   [ f ]        K = M + C, symmetric, positive definite; C: viscous forces
 *     [ G^T 0 ] [ q ] = [ h ]        q: pressure times the length of the step
 *
 * u: velocities on faces, and behind them those of solids that move freely. The stress itself is eliminated: it follows
 * from velocities, s = 2 N D^T u. In the other form, stress and pressure as unknowns with the positive definite matrix
 * Y^T M^-1 Y + (N^-1 / 2 dt, 0), the condition grows with the viscosity without end, because what viscosity leaves of a
 * strain is a difference of large numbers; here it does not (docs/methods.md has the measurement).
 *
 * Products with the whole matrix are the caller's, exact; rows of K on the faces and the matrix of pressure serve the
 * preconditioner, in single precision. All vectors are [faces | others | cells] in one piece. */
#ifndef TL_SOLVE_VISCOUS_PROBLEM_H
#define TL_SOLVE_VISCOUS_PROBLEM_H

#include "math/csr.h"
#include "solve/pressure/problem.h"

typedef struct tl_viscous {
    int32_t faces, cells;
    int64_t others; /* velocities of solids, six per body; rows of what does not move freely are zero */
    void (*product)(const void *ctx, const double *x, double *y); /* y = A x */
    const void *ctx;
    /* for preconditioners */
    tl_csr K;                /* of faces alone; a row without entries is no unknown */
    const int8_t *axis;      /* [faces] normal */
    const int32_t (*ijk)[3]; /* [faces] cell above the face */
    const int32_t *period;   /* [3] cells of a periodic axis, 0: not periodic */
    const double *solid;     /* [others / 6][36] inverse of the blocks of K on bodies */
    /* z = about the inverse of K on all that moves besides faces, instead of `solid`; NULL: bodies alone */
    void (*inverse)(const void *of, const double *r, double *z);
    const void *inverse_of;
    tl_pressure pressure; /* of G^T M^-1 G, in its own units; b and extra part are not read */
    double per_pressure;  /* (G^T M^-1 G)^-1 = per_pressure S^-1 */
    const double *give;   /* [cells] (G^T C^-1 G)^-1 is about this, a diagonal */
} tl_viscous;

#endif
