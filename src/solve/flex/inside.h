/* What routes share among each other; not for callers. */
#ifndef TL_SOLVE_FLEX_INSIDE_H
#define TL_SOLVE_FLEX_INSIDE_H

#include "solve/flex/law.h"
#include "solve/flex/route.h"
#include "solve/precond/precond.h"

/* Roots of one part's N: N = Q diag(1 / sigma) Q^T. */
typedef struct tl_flex_roots {
    int64_t first, count; /* of its unknowns among all z */
    tl_csr Q, Qt;
    double *sigma;  /* [count] */
    double *weight; /* [part's n] 1 / mass that goes with it */
    tl_csr A;       /* diag(sigma) + Q^T weight Q, where it is formed */
    tl_precond *P;  /* of A */
    tl_csr N;       /* what is factored */
    tl_factor *ldlt;
} tl_flex_roots;

struct tl_flex_data {
    int32_t parts;
    tl_flex_roots *roots; /* [parts] */
    tl_csr *H;            /* [parts] both triangles */
    tl_precond **P;       /* [parts] of H */
    tl_csr K;             /* of "sum" */
    tl_factor *sum;       /* of K */
    tl_csr joint;         /* of liquid and bodies at once (solve/dual/joint.c) */
    tl_precond *of_joint;
};
talus_status tl_flex_data_fit(tl_flex_data *k, int32_t parts, talus_error *err);
/* N, less what goes with the mass, as L D L^T: all of r but first, weight, A and P. `scaled`: L with the roots of D in
 * it, and tl_flex_roots_mass of M beside it. */
talus_status tl_flex_roots_factor(tl_flex_roots *r, const tl_flex_part *part, bool scaled, talus_error *err);
double tl_flex_roots_mass(bool scaled);
void tl_flex_roots_empty(tl_flex_roots *r); /* but for N and its factor */
/* Both triangles from the lower one; allocates at the first call. diag [rows]: taken from the diagonal; NULL:
 * nothing. */
talus_status tl_flex_whole(tl_csr *out, const tl_csr *lower, const double *diag, double share, talus_error *err);

/* (H + J^T B B^T J) x = r, B of contact c: rank[c] columns of three at B + 9 c. eta: relative residual of the
 * route's own system. */
typedef struct tl_flex_linear {
    void *ctx;
    talus_status (*solve)(void *ctx, const double *B, const int32_t *rank, const double *r, double eta, double *x,
                          tl_flex_report *report, talus_error *err);
    void (*product)(void *ctx, const double *x, double *y); /* NULL: H of the problem */
} tl_flex_linear;

/* The outer iteration: an augmented Lagrangian over impulses, Newton with an exact line search over velocities, De
 * Saxce's shifts. */
talus_status tl_flex_newton(const tl_flex *p, const tl_flex_linear *linear, const tl_stop *stop, double *lam,
                            double *dv, tl_arena *a, tl_flex_report *report, talus_error *err);

/* Preconditioned conjugate gradients from zero. Returns iterations. */
typedef struct tl_flex_cg {
    int64_t n;
    void *ctx;
    void (*apply)(void *ctx, const double *x, double *y);
    void (*precond)(void *ctx, const double *r, double *z);
    double *r, *z, *d, *q; /* [n] */
} tl_flex_cg;
bool tl_flex_cg_take(tl_flex_cg *cg, int64_t n, tl_arena *a);
int tl_flex_cg_run(tl_flex_cg *cg, const double *b, double *x, double eta, int max, tl_work *w);

/* x = H^-1 b by factors of parts. */
talus_status tl_flex_factor_solve(const tl_flex *p, const double *b, double *x, talus_error *err);
/* W [3 count][3 count] of the contacts in pick (NULL: the first `count`), exactly symmetric. */
talus_status tl_flex_compliance(const tl_flex *p, int32_t count, const int32_t *pick, double *W, tl_arena *a,
                                talus_error *err);

talus_status tl_flex_no_memory(talus_error *err);

extern const tl_flex_route tl_flex_schur, tl_flex_schur_last, tl_flex_ucg, tl_flex_ucg_mprgp, tl_flex_g,
    tl_flex_g_scaled, tl_flex_g_matfree, tl_flex_nf, tl_flex_ic, tl_flex_admm, tl_flex_ica, tl_flex_sum;

#endif
