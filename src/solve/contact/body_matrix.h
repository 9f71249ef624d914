/* M + J^T D J over moving bodies and its Cholesky factor: blocks of 6x6 on the graph of bodies that share a contact.
 *
 * Blocks are added where the factor will be: in elimination order (least degree first, ties by number), room for the
 * fill included, and factored in place, left-looking by panels of block columns. Order and fill are found anew for
 * each problem, on rows of bits: bodies^2 / 8 bytes, which limits this to some thousand bodies. */
#ifndef TL_SOLVE_CONTACT_BODY_MATRIX_H
#define TL_SOLVE_CONTACT_BODY_MATRIX_H

#include "solve/contact/pairs.h"

typedef struct tl_block6 {
    tl_lanes8 col[6]; /* rows 6 and 7 are 0 */
} tl_block6;

typedef struct tl_body_matrix {
    int32_t bodies;
    int32_t *place; /* [bodies] position of a body in the order */
    int64_t *start; /* [bodies + 1] into row, block: columns of the lower triangle */
    int32_t *row;   /* positions, diagonal first, rising */
    tl_block6 *block;
    double *inverse;   /* [bodies][6] of the factor's diagonal */
    int64_t *left;     /* [bodies + 1] into left_at, left_end: blocks of a row before its diagonal, by column */
    int64_t *left_at;  /* block */
    int64_t *left_end; /* end of that block's column */
    int32_t *left_col; /* that column */
    int64_t *slot;     /* [contacts][3] blocks that a contact adds to: own, own, between; -1 = none */
    double *scratch;   /* [bodies + 1][8] */
    int64_t *of_row;   /* [TL_PANEL][bodies] scratch: block of a column of the panel at a row */
} tl_body_matrix;

/* Columns are factored in panels: what columns before the panel take from its columns is independent, and shared by
 * all threads where that is worth it; the rest goes column by column. Every block has its products in the same
 * order, whatever the threads. */
#define TL_PANEL 16
#define TL_PANEL_WORK 4000 /* products of blocks, some 50 us */

/* Whether a panel that begins at column c is shared; puts down which block of its columns is at which row. */
bool tl_body_matrix_panel(const tl_body_matrix *H, int32_t c);
/* First of the left blocks of column c that belongs to the panel beginning at `panel`. */
static inline int64_t tl_body_matrix_inside(const tl_body_matrix *H, int32_t panel, int32_t c)
{
    int64_t l = H->left[c + 1];
    while (l > H->left[c] && H->left_col[l - 1] >= panel) l--;
    return l;
}
static inline int64_t *tl_body_matrix_rows(const tl_body_matrix *H, int32_t panel, int32_t c)
{
    return H->of_row + (int64_t)(c - panel) * H->bodies;
}

/* Pattern; values undefined. Takes from the arena what the fill needs: false when memory is refused. */
bool tl_body_matrix_build(tl_body_matrix *H, const tl_pairs *t, tl_arena *a);

size_t tl_body_matrix_bytes(int64_t contacts, int64_t bodies); /* the most that build takes: all blocks filled */
int64_t tl_body_matrix_products(const tl_body_matrix *H);      /* of blocks, in one factor */

void tl_body_matrix_start(tl_body_matrix *H, const tl_pairs *t);                             /* values = M */
void tl_body_matrix_add(tl_body_matrix *H, const tl_pairs *t, int32_t c, const double D[9]); /* += J_c^T D J_c */

bool tl_body_matrix_factor(tl_body_matrix *H); /* in place; false at a pivot that is not positive */
void tl_body_matrix_solve(tl_body_matrix *H, const double *b, double *x); /* lanes of bodies; x may be b */

#endif
