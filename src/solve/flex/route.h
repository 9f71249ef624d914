/* Ways to solve a "flex" problem, by name as in scene files (`solver.elastic`). All end in the same impulses and
 * velocities, or say that they did not.
 *
 *     schur        W = J H^-1 J^T written out for contacts that push, Newton on it (solve/contact/dense.h). The default
 *     schur-last   the same; nodes that contacts hang on are eliminated last, so that W lies at the end of the factor
 *     ucg          nothing written out: conjugate gradients on W, two triangular solves per product [Overby2017]
 *     ucg-mprgp    H^-1 by inner conjugate gradients instead of a factor
 *     g            N = Q C Q^T is factored instead of H; unknown are impulses and C Q^T dv, with M^-1 between them [Takahashi2022]
 *     g-scaled     unknown are C^1/2 Q^T dv, and a thousandth of M goes into the factor: no pivot vanishes
 *     g-matfree    the same without forming Q^T M^-1 Q, for which only a diagonal preconditioner is left
 *     nf           the same with the roots of N that elements give (many more unknowns)
 *     ic           an incomplete factor of N in place of N: another H, made good by the caller's Newton iteration
 *     admm         alternating directions between velocities and contact laws, W written out
 *     sum          H + J^T B B^T J of the outer iteration written out and factored: for contacts in thousands, or more of them than coordinates
 *     ica          contacts with M in place of H, bodies with H, in turns [Otaduy2009]
 *
 * All but schur, schur-last, admm and ica share one outer iteration (newton.c), so that they differ in their linear
 * systems alone. */
#ifndef TL_SOLVE_FLEX_ROUTE_H
#define TL_SOLVE_FLEX_ROUTE_H

#include "solve/flex/problem.h"
#include "solve/outcome.h"

typedef struct tl_flex_report {
    tl_outcome outcome;
    tl_flex_certificate certificate; /* computed here, not by the route */
    tl_work work;            /* products with the route's operator; of schur, admm and ica: with W, or solves with H */
    int64_t inner;           /* iterations of solvers inside of products */
    int64_t unknowns;        /* of the linear systems inside */
    int64_t nonzeros;        /* that a product reads, both ways */
    double prepare, seconds; /* of matrices, and of the solve */
} tl_flex_report;

typedef struct tl_flex_data tl_flex_data; /* matrices of a route, between solves: heap */

typedef struct tl_flex_solver {
    const struct tl_flex_route *route;
    tl_flex_data *kept;
    const tl_flex *p;
    tl_arena *arena; /* everything else */
    const double
        *now;    /* [3 contacts] velocities before the correction, for a first guess at what will push; NULL: none */
    double near; /* m/s: of those, what may push */
    bool
        /* `now` and lam are good enough to start with what they say; else the first start is what closes without
         * impulses */
        warm;
    void *data; /* the route's, in the arena */
} tl_flex_solver;

enum {
    TL_FLEX_FACTOR = 1,       /* needs the factor of H */
    TL_FLEX_SEMIDEFINITE = 2, /* needs N without negative eigenvalues */
    TL_FLEX_ROOTS = 4,        /* needs roots */
    TL_FLEX_LAST = 8,         /* wants the nodes of contacts last in the factor */
    TL_FLEX_OTHER_H = 16      /* solves with another H than the problem's */
};

typedef struct tl_flex_route {
    const char *name, *help;
    unsigned needs;
    talus_status (*begin)(tl_flex_solver *s, talus_error *err); /* for these contacts; may be NULL */
    talus_status (*matrix)(tl_flex_solver *s, tl_flex_report *r, talus_error *err); /* H is new */
    /* lam: start in, answer out; dv: answer. stop: tolerance in m/s; 0 iterations: as many as the route may take. */
    talus_status (*solve)(tl_flex_solver *s, const tl_stop *stop, double *lam, double *dv, tl_flex_report *r,
                          talus_error *err);
} tl_flex_route;

int tl_flex_route_count(void);
const tl_flex_route *tl_flex_route_at(int i);
const tl_flex_route *tl_flex_route_find(const char *name); /* NULL when unknown */

talus_status tl_flex_data_create(tl_flex_data **out, talus_error *err);
void tl_flex_data_free(tl_flex_data *k); /* NULL is fine */

/* For one set of contacts. p and what it points to may get other values, but not another size, between solves. */
talus_status tl_flex_begin(tl_flex_solver *s, const tl_flex_route *route, tl_flex_data *kept, const tl_flex *p,
                           tl_arena *a, talus_error *err);
/* fresh: H has other values than in the last solve. The certificate is looked at when `certify`. */
talus_status tl_flex_solve(tl_flex_solver *s, bool fresh, bool certify, const tl_stop *stop, double *lam, double *dv,
                           tl_flex_report *r, talus_error *err);

#endif
