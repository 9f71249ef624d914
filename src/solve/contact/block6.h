/* Products of 6x6 blocks that both factors of body matrices are made of. */
#ifndef TL_SOLVE_CONTACT_BLOCK6_H
#define TL_SOLVE_CONTACT_BLOCK6_H

#include "solve/contact/body_matrix.h"

/* J of one side by rows, from its columns. */
static inline void tl_block6_rows(const tl_lanes4 J[6], tl_lanes8 row[3])
{
    for (int r = 0; r < 3; r++) row[r] = (tl_lanes8){J[0][r], J[1][r], J[2][r], J[3][r], J[4][r], J[5][r], 0, 0};
}

/* B += rows^T D cols */
static inline void tl_block6_add(tl_block6 *B, const tl_lanes8 row[3], const double D[9], const tl_lanes4 col[6])
{
    tl_lanes8 R[3];
    for (int k = 0; k < 3; k++) R[k] = row[0] * D[k] + row[1] * D[3 + k] + row[2] * D[6 + k];
    for (int c = 0; c < 6; c++) B->col[c] += R[0] * col[c][0] + R[1] * col[c][1] + R[2] * col[c][2];
}

/* C -= A B^T */
static inline void tl_block6_subtract(tl_block6 *C, const tl_block6 *A, const tl_block6 *B)
{
    tl_lanes8 c0 = C->col[0], c1 = C->col[1], c2 = C->col[2], c3 = C->col[3], c4 = C->col[4], c5 = C->col[5];
    for (int k = 0; k < 6; k++) {
        const double *b = (const double *)&B->col[k];
        tl_lanes8 a = A->col[k];
        c0 -= a * b[0];
        c1 -= a * b[1];
        c2 -= a * b[2];
        c3 -= a * b[3];
        c4 -= a * b[4];
        c5 -= a * b[5];
    }
    C->col[0] = c0, C->col[1] = c1, C->col[2] = c2, C->col[3] = c3, C->col[4] = c4, C->col[5] = c5;
}

#endif
