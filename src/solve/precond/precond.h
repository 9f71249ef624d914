/* Preconditioners: z = M^-1 r with M close to A, symmetric positive definite.
 *
 * Built once from explicit rows; tl_precond_update refreshes the values for A + diag(add) without
 * allocating, which is what barrier and penalty methods need. On a split space the preconditioner
 * acts on owned rows and columns only (block Jacobi between parts). Application gives the same
 * bits for any thread count; it uses work space of the preconditioner's, so one call at a time. */
#ifndef TL_SOLVE_PRECOND_H
#define TL_SOLVE_PRECOND_H

#include "base/status.h"
#include "base/work.h"
#include "math/csr.h"

typedef struct tl_precond tl_precond;

typedef struct tl_precond_kind {
    const char *name; /* as in scene files: "mic" */
    const char *help;
    /* Allocate and compute for A (the owned square part of its rows, whose pattern must be symmetric). A must
     * outlive the result. */
    talus_status (*create)(tl_precond *P, const tl_csr *A, talus_error *err);
    void (*update)(tl_precond *P, const double *add_diag); /* add_diag NULL = plain A */
    void (*apply)(const tl_precond *P, const double *r, double *z);
    void (*free)(tl_precond *P);
} tl_precond_kind;

struct tl_precond {
    const tl_precond_kind *kind;
    const tl_csr *A;
    double shift; /* what was added to the diagonal, relative, to get through (0 = nothing) */
    void *data;
};

int tl_precond_count(void);
const tl_precond_kind *tl_precond_at(int i);
const tl_precond_kind *tl_precond_find(const char *name); /* NULL when unknown */

talus_status tl_precond_create(tl_precond **P, const tl_precond_kind *kind, const tl_csr *A, talus_error *err);
void tl_precond_update(tl_precond *P, const double *add_diag, tl_work *w);
/* z = M^-1 r; P NULL copies. r and z must not overlap. */
void tl_precond_apply(const tl_precond *P, int64_t n, const double *r, double *z, tl_work *w);
void tl_precond_free(tl_precond *P);

#endif
