/* Solving with A = M + h^2 (...), the matrix of the global step, for three interleaved right-hand sides.
 *
 *     factor   L of A = L L^T, in panels of 8 rows per supernode; subtrees on all cores, in a fixed order           (default)
 *     inverse  S = L^-1 by the same panels, whose rows are whole paths to the root: no index but ranges; A^-1 = S^T S  [Zeng2025 sec. 4]
 *     jacobi   D^-1, optionally with Chebyshev weights over the rounds of a step [Wang15]: for comparison
 *
 * Each body has its own factor; all of them together are one forest, and the solves of many small bodies share the
 * cores like those of a large one. L and S are kept in double, in float, or both: float halves the bytes that a
 * solve moves, and its rounding (1e-6 of the increment) is made good by the next round. Same bits for any number of
 * threads. A solver belongs to one h. */
#ifndef TL_MODEL_LG_SOLVER_H
#define TL_MODEL_LG_SOLVER_H

#include "model/lg/lg.h"

typedef enum tl_lg_method { TL_LG_FACTOR, TL_LG_INVERSE, TL_LG_JACOBI } tl_lg_method;
typedef enum tl_lg_precision { TL_LG_DOUBLE = 1, TL_LG_FLOAT = 2 } tl_lg_precision; /* may be joined */

typedef struct tl_lg_solver tl_lg_solver;

/* Analyses the patterns: once per scene. */
talus_status tl_lg_solver_create(tl_lg_solver **out, const tl_lg *lg, tl_lg_method method, int precisions,
                                 talus_error *err);
void tl_lg_solver_free(tl_lg_solver *s);
/* Factors for this h unless they are those in force. The step length of a solver is rounded to 36 bits
 * (tl_lg_round_step): frames that end on time differ in the last ones. */
talus_status tl_lg_solver_update(tl_lg_solver *s, double h, talus_error *err);
double tl_lg_round_step(double h);

/* One round of a step: A x = r, three coordinates of each node. */
typedef struct tl_lg_round {
    const tl_lg *lg;
    double h;        /* s, of A */
    const double *r; /* [nodes][3] */
} tl_lg_round;
/* A of it, [3 nodes][3 nodes]; tl_csr_free frees it. */
talus_status tl_lg_round_matrix(const tl_lg_round *p, tl_csr *out, talus_error *err);

/* x = A^-1 r; r, x [nodes][3], x may be r. Of jacobi: D^-1 r. */
void tl_lg_solve(const tl_lg_solver *s, tl_lg_precision p, const double *r, double *x);
/* The same where r is zero but in nodes marked in `from`, and x is wanted in those of `to` alone, others become
 * anything; NULL: all nodes. Reads the blocks of the factor above such nodes. Marks [nodes] are zero at first;
 * unmarking a node takes those of its way to the root, so do it for all. */
void tl_lg_solver_mark(const tl_lg_solver *s, int32_t node, uint8_t *part);
void tl_lg_solver_unmark(const tl_lg_solver *s, int32_t node, uint8_t *part);
void tl_lg_solve_part(const tl_lg_solver *s, tl_lg_precision p, const uint8_t *from, const uint8_t *to, const double *r,
                      double *x);
/* diag(A^-1) [nodes], computed at the first call after an update. */
talus_status tl_lg_solver_diagonal(tl_lg_solver *s, const double **diagonal, talus_error *err);

/* B = C A^-1 C^T of points, [count][count], both triangles, exactly symmetric; points of different bodies have 0.
 * Works on all cores. */
talus_status tl_lg_compliance(const tl_lg_solver *s, int32_t count, const tl_lg_point *point, double *B, tl_arena *a,
                              talus_error *err);

typedef struct tl_lg_solver_info {
    int64_t nonzeros_L;         /* without the zeros that supernodes store */
    int64_t nonzeros_S;         /* of the inverse factor: sum of depths in the elimination tree */
    int64_t stored_L, stored_S; /* numbers kept, padding included; S: 0 unless the method is inverse */
    size_t bytes;               /* of L or S in all precisions, indices included */
    int32_t supernodes, subtrees;
} tl_lg_solver_info;
tl_lg_solver_info tl_lg_solver_about(const tl_lg_solver *s);

#endif
