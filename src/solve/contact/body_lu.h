/* M + J^T D J with blocks D that are not symmetric, and its LU factor: the Newton matrix of true Coulomb friction,
 * where the limit of the friction follows the normal force but not the other way round. Pattern, order and lower
 * blocks are those of a tl_body_matrix. Pivots are chosen within the 6x6 blocks of bodies only. */
#ifndef TL_SOLVE_CONTACT_BODY_LU_H
#define TL_SOLVE_CONTACT_BODY_LU_H

#include "solve/contact/body_matrix.h"

typedef struct tl_body_lu {
    tl_body_matrix *H;  /* whose pattern and blocks are used: a Cholesky factor that it held is gone */
    tl_block6 *upper;   /* [blocks] at the place of each lower block: the one across the diagonal, transposed */
    tl_block6 *inverse; /* [bodies] of the diagonal blocks */
} tl_body_lu;

bool tl_body_lu_build(tl_body_lu *f, tl_body_matrix *H, tl_arena *a);                /* false when memory is refused */
size_t tl_body_lu_bytes(int64_t bodies);                                             /* the most that build takes */
void tl_body_lu_start(tl_body_lu *f, const tl_pairs *t);                             /* values = M */
void tl_body_lu_add(tl_body_lu *f, const tl_pairs *t, int32_t c, const double D[9]); /* += J_c^T D J_c */
bool tl_body_lu_factor(tl_body_lu *f);                                               /* false at a singular block */
void tl_body_lu_solve(const tl_body_lu *f, const double *b, double *x);              /* lanes of bodies; x may be b */

#endif
