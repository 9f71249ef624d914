/* Solvers of another library for a symmetric matrix whose rows are in parts: what the library of clusters brings along
 * (src/cluster), for problems where ours stall and as an independent check. All of it is collective. */
#ifndef TL_BASE_ALGEBRA_H
#define TL_BASE_ALGEBRA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/comm.h"

typedef struct tl_algebra tl_algebra;

/* Where entries are; rows and columns are numbered over all parts, one part after the other. */
typedef struct tl_algebra_pattern {
    int64_t rows; /* of this part */
    int64_t entries;
    const int64_t *row, *col; /* [entries] */
} tl_algebra_pattern;

typedef struct tl_algebra_told {
    bool good;
    int outer, inner; /* iterations, and those of the linear solves inside */
    double residual;  /* 2-norm of what is left */
} tl_algebra_told;

typedef struct tl_algebra_ops {
    /* solver: "hypre", "gamg": preconditioners; "vi": minimises with x >= lo. Lives until the comm's mark is released. */
    tl_algebra *(*make)(const tl_comm *c, const char *solver, const tl_algebra_pattern *A);
    void (*set)(tl_algebra *s, const double *values); /* [entries]; the next apply or bounded is set up for them */
    void (*apply)(tl_algebra *s, const double *r, double *z); /* z = about A^-1 r, [rows] */
    /* A x >= b, x >= lo, one of both equal; x [rows]: start in, answer out. target: of the residual's 2-norm */
    tl_algebra_told (*bounded)(tl_algebra *s, const double *b, double lo, double target, int max_iterations, double *x);
    /* Settings of the library as on its command line; false: it does not take them. */
    bool (*options)(const char *text);
    const char *(*version)(void);
} tl_algebra_ops;

#endif
