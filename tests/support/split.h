/* A vector space split in parts inside one process: what a cluster would do, without one.
 *
 * The rows of a global matrix are cut into contiguous ranges; each part gets its rows with columns
 * renumbered (owned first, then the halo) and a tl_space whose reductions and exchanges meet the
 * other parts at a barrier. tl_split_run starts one thread per part, so any solve that is right on
 * MPI ranks runs here unchanged. Values are combined in part order: results repeat bit for bit.
 *
 *     tl_split *s = tl_split_create(&A, 2, 1);
 *     tl_split_run(s, solve_part, &job);     // int solve_part(int part, void *user)
 *
 * Parts that disagree on which reduction comes next, or a part that returns while others wait,
 * would hang a cluster; here they end the program with a message that names the parts.
 * cmocka's checks work in the main thread only: a part reports by its return value. */
#ifndef TL_TESTS_SPLIT_H
#define TL_TESTS_SPLIT_H

#include "math/csr.h"
#include "solve/space.h"

typedef struct tl_split tl_split;

/* A: square, kept by pointer during this call only; NULL: parts that share no matrix. Cuts are multiples of `group` rows, which must
 * divide A->rows; with fewer groups than parts some parts own nothing. NULL when memory is refused
 * or an argument is wrong. */
tl_split *tl_split_create(const tl_csr *A, int parts, int group);
void tl_split_free(tl_split *s);

int tl_split_parts(const tl_split *s);
const tl_space *tl_split_space(const tl_split *s, int part);
const tl_comm *tl_split_comm(const tl_split *s, int part); /* the same parts, base/comm.h */
const tl_csr *tl_split_csr(const tl_split *s, int part);   /* rows: owned; columns: owned, then halo */
int64_t tl_split_begin(const tl_split *s, int part);       /* global index of the part's first entry */

/* Copy between a global vector [A->rows] and a part's local one [n + halo]. Scatter fills the halo
 * as well; gather reads owned entries only. */
void tl_split_scatter(const tl_split *s, const double *global, int part, double *local);
void tl_split_gather(const tl_split *s, const double *local, int part, double *global);

/* Run fn once per part, each in a thread of its own whose parallel loops have one thread. Returns
 * the first nonzero answer in part order, 0 when all gave 0, -1 when a thread could not start. */
int tl_split_run(tl_split *s, int (*fn)(int part, void *user), void *user);

/* A case on so many threads: what is wrong on the first part where something is, which part that is; NULL: nothing. */
const char *tl_split_case(int parts, const char *(*run)(const tl_comm *c), int *part);

#endif
