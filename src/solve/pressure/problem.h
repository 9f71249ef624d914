/* Kind "pressure": minimise 1/2 x'Ax - b'x over x = (q, lambda), with q >= 0 where liquid may leave its walls.
 *
 * q lives on the active cells of a grid, lambda are a few more unknowns that bodies bring (normal contact forces):
 *
 *     A = [ S 0 ] + E        (S q)_i = d_i q_i - sum_k c_k(i) q_nb_k(i)      d_i = sum_k c_k(i) + dir_i
 *         [ 0 0 ]
 *
 * S is the 7-point matrix of the liquid, E anything symmetric, positive semidefinite that is cheap to apply: the
 * low-rank part of rigid bodies, contact rows. Preconditioners are built from S and, where E comes as U U^T, from that
 * too (lowrank.h); else from the diagonal of E's own rows, and E acts in the products with A alone. The grid engine's
 * pressure p becomes q = W_L^p p, so that no column scaling is left; its gradient is the one here over W_L^p. Boxes
 * without a grid behind them are kind "boxqp".
 *
 * What the arrays must be (tl_pressure_check looks):
 *  - units: c is 1 on a full face between two full cells; whatever factor dt/(rho dx^2) the equations have goes into b.
 *    lambda is scaled by the caller until its diagonal is like a cell's (about 6): one tolerance then serves both.
 *  - order: cells of even i+j+k ("red") come first, then the odd ones, so that nb_k(i) has the other colour.
 *    Lexicographic inside a colour is best for speed. tl_pressure_order makes this order from any list of coordinates.
 *  - periodic axes: nb wraps; their length is even, or 1 with nothing coupled along it.
 *  - one float matrix: round c and dir to float once, where they are made, use them everywhere (symmetry is then
 *    exact), and add d from the rounded ones in double.
 *
 * Increment form: pass b = A x0 - g(x0) with g the gradient from the current velocities, and start from x0.
 *
 * Certificate, from the problem alone: g = Ax - b, projected: e_i = g_i where x_i > 0 or no bound acts, min(g_i, 0)
 * at the bound; optimality = max|e_i| / max|b_i|. */
#ifndef TL_SOLVE_PRESSURE_PROBLEM_H
#define TL_SOLVE_PRESSURE_PROBLEM_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/comm.h"

/* Sides of a cell, as everywhere in this kind: -x +x -y +y -z +z; the opposite of k is k ^ 1. */
#define TL_PRESSURE_SIDES 6

/* Cells in several parts (base/comm.h): copies of what neighbours in other parts own stand behind the zero of a vector,
 * red ones first. A part may own or copy nothing. */
typedef struct tl_pressure_space {
    const tl_comm *comm;
    int32_t together;            /* aligned cubes of 2^together cells per edge have one owner */
    int32_t copies[2];           /* of red cells, of black ones */
    const int32_t *part, *index; /* [copies]: copy h is cell index[h] of part[h]; in this order within a colour */
    tl_halo *plan[2];            /* of red copies, of black ones */
} tl_pressure_space;

/* plan[], from the rest; n: own cells. They go when the comm is released to a mark that was taken before. */
talus_status tl_pressure_space_plan(tl_pressure_space *s, int32_t n, talus_error *err);

/* The symmetric part E. Same bits for any thread count, nothing allocated. With several parts the first two are
 * collective: U^T x is summed over cells of all parts, appended unknowns are the same everywhere. */
typedef struct tl_pressure_extra {
    void (*add)(const void *ctx, const double *x, double *y); /* y += E x; both [n + extras] */
    const void *ctx;
    const double *diag; /* [extras] of the appended rows of E, > 0; NULL when there are none */
    /* The same as E = U U^T, for preconditioners that know it; columns = 0: left out of them. */
    int32_t columns;
    void (*gather)(const void *ctx, const double *x, double *r);  /* r [columns] = U^T x */
    void (*scatter)(const void *ctx, const double *r, double *y); /* y [n + extras] += U r */
    double rest; /* part of diag that U U^T lacks, for preconditioners; 0: a thousandth */
} tl_pressure_extra;

typedef struct tl_pressure {
    const tl_pressure_space *space;       /* NULL: all cells are here */
    int32_t n;                            /* active cells, here those of this part */
    int32_t red;                          /* of these, cells [0, red) have even i + j + k */
    const int32_t (*ijk)[3];              /* [n] coordinates; negative ones are fine, |.| < 2^19 */
    const int32_t *nb[TL_PRESSURE_SIDES]; /* [n] each: neighbour on that side: a cell, `none`, or a copy behind it */
    int32_t none;                         /* missing neighbour: n; in several parts n + extras, or more */
    const float *c[TL_PRESSURE_SIDES];    /* [n] each, >= 0, 0 where nb is missing; c_k(i) = c_k^1(nb_k(i)) exactly */
    const float *dir;                     /* [n] couplings to p = 0 (free surface), summed over faces; >= 0 */
    const float *ar;         /* [n] open area of these faces, in faces; 0 where dir stands for something else */
    const float *own;        /* [n] part of dir that is a diagonal and no face, as of solids; NULL: none */
    const double *d;         /* [n] sum_k c_k + dir; > 0 */
    int32_t extras;          /* unknowns appended after the cells, always >= 0 */
    tl_pressure_extra extra; /* add = NULL: none (extras = 0) */
    const double *b;         /* [n + extras] */
    bool unilateral;         /* q >= 0; false: q is free */
} tl_pressure;

/* Entries of a vector whose neighbours are read: in several parts cells, appended unknowns, a zero, copies. */
static inline int64_t tl_pressure_length(const tl_pressure *p)
{
    int64_t all = (int64_t)p->n + p->extras, none = p->none, least = none > all ? none : all;
    return least + 1 + (p->space ? p->space->copies[0] + p->space->copies[1] : 0);
}

/* The zero, and copies as their owners have them. x [tl_pressure_length]; nothing to do with one part. */
void tl_pressure_refresh(const tl_pressure *p, double *x);

/* Everything said above about the arrays, with the first cell that breaks it. For tests and checked builds: one
 * pass. Collective. */
talus_status tl_pressure_check(const tl_pressure *p, talus_error *err);
/* The same but for b: velocities that are not finite are an outcome of the solve, not a broken list. */
talus_status tl_pressure_check_rows(const tl_pressure *p, talus_error *err);

/* order [n]: solver cell s is the caller's cell order[s], red first, lexicographic inside a colour; *red: how many
 * are red. No cell twice. Scratch from the arena, given back. */
talus_status tl_pressure_order(int32_t n, const int32_t (*ijk)[3], int32_t *order, int32_t *red, tl_arena *a,
                               talus_error *err);

/* nb[k] [n] from coordinates in that order, all cells here; period[axis] = 0, or the length of a periodic axis (coordinates in [0,
 * length)). Neighbours behind a closed face (c = 0) may be left in. Fails when the cells are not in that order. */
talus_status tl_pressure_neighbours(int32_t n, int32_t red, const int32_t (*ijk)[3], const int32_t period[3],
                                    int32_t *const nb[TL_PRESSURE_SIDES], talus_error *err);

/* y [n + extras] = A x. With several parts x has its copies, and they are fresh. */
void tl_pressure_product(const tl_pressure *p, const double *x, double *y);

typedef struct tl_pressure_certificate {
    double optimality; /* max|e_i| / max|b_i|  (absolute when b = 0) */
    double violation;  /* largest -x_i where x_i >= 0 is asked for */
    double energy;     /* 1/2 x'Ax - b'x */
} tl_pressure_certificate;

/* x [n + extras]; scratch from the arena, given back. Collective; the same numbers on all parts. */
talus_status tl_pressure_certify(const tl_pressure *p, const double *x, tl_pressure_certificate *out, tl_arena *a,
                                 talus_error *err);

#endif
