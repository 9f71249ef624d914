/* Matrices of liquid and solids at once, written out, as published; not meant for others.
 *
 * With y = (p, n) and A = S + per_u Y^T H^-1 Y of kind "dual", H = M + N, R = per_u^1/2 Y:
 *
 *     G       N = Q C Q^T, z = C Q^T dv: [S + R^T M^-1 R, -R^T M^-1 Q; ., C^-1 + Q^T M^-1 Q]   [Takahashi2022]
 *     Z1Z2    Z1 = 0.9 M, Z2 = H - Z1, z = dv: [S + R^T Z1^-1 R, -R^T Z1^-1 Z2; ., Z2 + Z2 Z1^-1 Z2]   [Zarifi2017]
 *     MASS    S + R^T M^-1 R: solids without their stiffness   [Otaduy2009]
 *
 * Eliminating z from the first two leaves A. Rigid bodies are dense, and multiplied factor by factor. */
#ifndef TL_SOLVE_DUAL_JOINT_H
#define TL_SOLVE_DUAL_JOINT_H

#include "solve/boxqp/method.h"
#include "solve/dual/work.h"

typedef enum tl_dual_form { TL_DUAL_G, TL_DUAL_G_SCALED, TL_DUAL_Z1Z2, TL_DUAL_MASS } tl_dual_form;

/* The matrix and its preconditioner, where they are not those of H already. */
talus_status tl_dual_join(tl_dual_solver *s, tl_dual_form form, int32_t normals, tl_dual_report *out, talus_error *err);
void tl_dual_joint_product(const tl_linop *A, const double *x, double *y); /* ctx: the solver */

#endif
