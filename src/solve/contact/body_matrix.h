/* M + J^T D J over moving bodies: blocks of 6x6 on the graph of bodies that share a contact, open contacts included, so that
 * the pattern changes only when pairs do. */
#ifndef TL_SOLVE_CONTACT_BODY_MATRIX_H
#define TL_SOLVE_CONTACT_BODY_MATRIX_H

#include "math/factor.h"
#include "solve/contact/pairs.h"

typedef struct tl_body_matrix {
    tl_csr matrix; /* in the arena; both triangles */
    int64_t *slot; /* [m][4] where the blocks aa, ab, ba, bb of a contact begin in their body's first row; -1 = none */
} tl_body_matrix;

size_t tl_body_matrix_bytes(int64_t contacts, int64_t bodies);
void tl_body_matrix_build(tl_body_matrix *H, const tl_pairs *t, tl_arena *a); /* pattern; values undefined */
void tl_body_matrix_start(tl_body_matrix *H, const tl_pairs *t);              /* values = M */
void tl_body_matrix_add(tl_body_matrix *H, const tl_pairs *t, int32_t c, const double D[9]); /* += J_c^T D J_c */

/* The caller's factor, or a new one (AMD, LLT) when it is NULL; NULL when memory is refused. */
tl_factor *tl_body_factor(tl_factor *kept);

#endif
