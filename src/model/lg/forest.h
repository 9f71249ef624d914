/* Inside of the solver: the factors of all bodies as one forest of dense blocks. solver.c solves with it, forest.c
 * makes it, paths.c goes up from single nodes (inverse factor, diagonal, compliance). */
#ifndef TL_MODEL_LG_FOREST_H
#define TL_MODEL_LG_FOREST_H

#include "math/csr.h"
#include "model/lg/solver.h"

#define WIDTH 32 /* columns of a block at most; wider supernodes are chains of blocks */
#define BINS 8   /* groups of subtrees that go to cores; fixed, so that sums do not depend on threads */
#define ROUND(n) (((size_t)(n) + 15) / 16 * 16) /* numbers of a planar vector, whole cache lines */

/* Consecutive rows, in the forest's order. */
typedef struct run {
    int32_t first, count;
} run;

/* Columns [first, first + width) of L or S with `rows` rows below their diagonal block. `tri`: the inverse of the
 * diagonal block of L, which is the diagonal block of S; `panel`: the rows below, in panels of 8. */
typedef struct block {
    int32_t first, width, rows;
    int32_t parent; /* block of its first row, -1: a root */
    int32_t run, runs;
    int32_t body, column; /* where its first column comes from: body and its node */
    int64_t tri, panel;   /* offsets of values */
} block;

/* L, or S = L^-1: the same blocks with other rows. Blocks of subtrees come first, bin after bin, then what is above
 * them, body after body; parents come after their children. */
typedef struct layer {
    bool inverse;
    int32_t n, first_top, blocks, bins, crowns;
    block *block;
    run *run;
    int32_t *bin;       /* [bins + 1] first block */
    int32_t *crown;     /* [crowns + 1] first block */
    int32_t *place;     /* [n] node -> row */
    size_t buffer;      /* numbers of work per bin and crown */
    int64_t tri, panel; /* numbers stored */
    int64_t runs;
    double *tri_double, *panel_double; /* NULL: not kept */
    float *tri_float, *panel_float;
} layer;

struct tl_lg_solver {
    const tl_lg *lg;
    tl_lg_method method;
    int precisions;
    double h;            /* of the factors; 0: none yet */
    tl_factor **factor;  /* [bodies] */
    tl_csr *A;           /* [bodies] */
    layer L, S;          /* S: only for the inverse method, shares bin, crown, place with L */
    int32_t *block_of;   /* [n] row -> block */
    double *work_double; /* of solves */
    float *work_float;
    double *inverse_diagonal; /* of jacobi: 1 / A_ii */
    double *diagonal;         /* of A^-1 */
    bool diagonal_known;
    int64_t nonzeros_L, nonzeros_S;
};

/* Blocks of L from the patterns of all factors, values not. */
talus_status tl_forest_make(tl_lg_solver *s, talus_error *err);
/* Values of L from the factors. */
talus_status tl_forest_fill(tl_lg_solver *s, talus_error *err);
void tl_forest_free(tl_lg_solver *s);

/* S from L: its blocks, then its values. */
talus_status tl_forest_invert_make(tl_lg_solver *s, talus_error *err);
talus_status tl_forest_invert(tl_lg_solver *s, talus_error *err);

#endif
