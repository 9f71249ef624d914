/* Made-up box QPs for tests and benchmarks; every one is a function of its parameters alone. */
#ifndef TL_BENCH_GEN_BOXQP_H
#define TL_BENCH_GEN_BOXQP_H

#include "solve/boxqp/problem.h"

/* A problem that owns its arrays. `qp.space` points into the struct: do not copy it by value. */
typedef struct tl_boxqp_case {
    tl_space space;
    tl_csr A;
    double *b, *lo, *hi, *diag; /* [n] */
    double *x0;                 /* [n] common start, strictly inside the bounds */
    tl_boxqp qp;
} tl_boxqp_case;

void tl_boxqp_case_free(tl_boxqp_case *c);

/* Pressure of liquid in a spherical container, some of it on the roof [FM21 fig. 4].
 *
 * A cube of `cells`^3 cells holds a ball-shaped container. Liquid lies at its bottom and hangs from its
 * roof under wavy surfaces; its velocity is free fall plus a divergence-free stir that presses it
 * on the wall in some places and pulls it off in others. Cut faces carry their open area (many tiny
 * ones), free surfaces are second order (ghost fluid), 0 <= p. About 0.09 cells^3 unknowns. */
talus_status tl_gen_wall_separation(tl_boxqp_case *c, int cells, uint64_t seed, talus_error *err);

/* Dense random problem: A with the given condition number (eigenvalues log-uniform, random basis),
 * `rank` <= n of them nonzero; bounds on both sides, about a third of them active at the solution. */
talus_status tl_gen_random_boxqp(tl_boxqp_case *c, int n, double condition, int rank, uint64_t seed, talus_error *err);

#endif
