/* Curvature of a step's energy, 1/2 |q - q~|_M^2 + he^2 Psi(q), as a matrix over the coordinates of one body's nodes,
 * and its factor. The matrix A of rounds is the same for every q and for every direction; this one knows how stretched
 * and turned elements are, so that a correction by it is Newton's.
 *
 * Without negative eigenvalues of elements (convex = 1) the matrix is positive definite for every q; with all of
 * them (0) Newton's method is quadratic near its end, where there is a factor; between, that share of them is left
 * out. What turns of hexahedra do to their hourglass modes and of bent hinges to their normals is left out as well:
 * Newton's method stays right and takes a correction more. */
#ifndef TL_MODEL_LG_HESSIAN_H
#define TL_MODEL_LG_HESSIAN_H

#include "model/lg/lg.h"

typedef struct tl_lg_hessian tl_lg_hessian;

/* Nothing is made for a body before it is asked for. Keeps lg. */
talus_status tl_lg_hessian_create(tl_lg_hessian **out, const tl_lg *lg, talus_error *err);
void tl_lg_hessian_free(tl_lg_hessian *h); /* NULL is fine */

/* Tension of a cable of lg->holds, N, for what follows: a line that is pulled resists being pushed aside. */
void tl_lg_hessian_pull(tl_lg_hessian *h, int32_t cable, double tension);
/* Pressure on a body, Pa, for what follows; convex leaves that share of its curvature out, as it has no definite
 * sign. At a rim: its symmetric part. */
void tl_lg_hessian_press(tl_lg_hessian *h, int body, double pressure);
/* Matrix and factor of a body at q [lg nodes][3]. TALUS_NOT_DEFINITE: it takes more of `convex`, 0 to 1. */
talus_status tl_lg_hessian_update(tl_lg_hessian *h, int body, double he, const double *q, double convex,
                                  talus_error *err);
/* Values stand up to the diagonal of each row. */
const tl_csr *tl_lg_hessian_matrix(const tl_lg_hessian *h, int body);
tl_factor *tl_lg_hessian_factor(const tl_lg_hessian *h, int body);
const double *tl_lg_hessian_mass(const tl_lg_hessian *h, int body); /* [3 nodes of the body] kg */

#endif
