/* Stable Neo-Hookean energy of a deformation gradient: value, stress and the eigen-system of its Hessian.
 *
 * Per unit of rest volume, with Ic = |F|^2, J = det F:
 *
 *     log (default)   mu/2 (Ic - 3) + lam/2 (J - a)^2 - mu/2 log(Ic + 1),  mu = 4/3 muL, lam = lamL + 5/6 muL
 *     nolog           mu/2 (Ic - 3) - mu (J - 1) + lam/2 (J - 1)^2,        mu = muL, lam = lamL + muL
 *
 * Both are Hooke's law for small strains with the Lame constants muL, lamL, and finite for every F: flat, inverted
 * and collapsed elements need no care. Without the logarithm a body that is squashed to a point stays one, as F = 0
 * is a minimum [Smith2018]. The Hessian has nine eigenpairs in closed form: three twists, three flips, and a 3x3
 * block of scalings; negative ones are taken as zero, so that matrices made of it are never indefinite. */
#ifndef TL_MODEL_ELASTIC_MATERIAL_H
#define TL_MODEL_ELASTIC_MATERIAL_H

#include "math/vec.h"

typedef enum tl_stable_form { TL_STABLE_LOG, TL_STABLE_NOLOG } tl_stable_form;

typedef struct tl_stable {
    tl_stable_form form;
    double mu, lam, a; /* Pa, Pa, - */
    double rest;       /* J/m^3 at F = I, taken away */
} tl_stable;

/* young > 0 Pa, 0 <= poisson < 0.5. */
tl_stable tl_stable_make(tl_stable_form form, double young, double poisson);

double tl_stable_energy(const tl_stable *m, tl_mat3 F);  /* J/m^3, 0 at F = I */
tl_mat3 tl_stable_stress(const tl_stable *m, tl_mat3 F); /* P = d energy / dF, Pa */

/* d2 energy / dF2 in the frame F = U diag(s) V^T with proper rotations U, V. For directions given as U X V^T:
 *     scale   [i][k] between X_ii and X_kk
 *     twist, flip [k]  of (X_ij - X_ji)/sqrt2 and (X_ij + X_ji)/sqrt2, (i, j, k) cyclic */
typedef struct tl_stable_modes {
    tl_mat3 U, V;
    tl_mat3 F;                             /* the caller's */
    double scale[3][3], twist[3], flip[3]; /* Pa */
} tl_stable_modes;

/* project: negative eigenvalues become zero. */
void tl_stable_hessian(const tl_stable *m, tl_mat3 F, bool project, tl_stable_modes *out);
void tl_stable_project(tl_stable_modes *h);

/* Block between two nodes with rest gradients V^T b = ga, gb (already turned): d force_a / d x_b per unit of volume,
 * without its sign. */
tl_mat3 tl_stable_block(const tl_stable_modes *h, tl_vec3 ga, tl_vec3 gb);

#endif
