/* Multigrid on the free cells: coefficients of the coarse levels, and one symmetric W-cycle as a preconditioner.
 *
 * A child i of coarse cell I gives its couplings to other coarse cells half their value (a coarse cell is 4 faces wide
 * and twice as far away) and its couplings to p = 0 in series with half its own width; cells at their bound are p = 0
 * cells. Diagonals of its own are summed. Transfers are constant, P: residuals are summed, corrections copied. Two
 * red-black Gauss-Seidel sweeps down, two up, in reverse order.
 *
 * The second visit of the W makes 2 B - B A B of a level's cycle B, positive while the eigenvalues of B A are below 2:
 * they are where P^T A P <= 2 A', A' the matrix above, because corrections then go at most twice too far and smoothing
 * shortens them. Half a coupling is just that. Couplings to coarse cells that are no neighbours (levels.h) are in
 * P^T A P alone; a level above which a cell lost more of these than it has left is visited once. (There P^T A P was
 * 6000 A' beside a ball in honey, and the cycle not definite.)
 *
 * With several parts each half sweep of a level that is in parts ends with the copies of its colour, the free set of
 * copies is known wherever coefficients are made, and the first whole level is gathered: its coefficients for each free
 * set, its right-hand side on each way down. Coefficients and cycle are then those of one part.
 *
 * tl_cycle is compiled for float and for double (cycle_float.c, cycle_double.c); the coefficients are float in both. */
#ifndef TL_SOLVE_PRESSURE_CYCLE_H
#define TL_SOLVE_PRESSURE_CYCLE_H

#include "solve/pressure/levels.h"
#include "solve/pressure/precond.h"

/* A level's matrix. Level 0 reads the problem's; others are made from the level below. */
typedef struct tl_coarse {
    const float *c[TL_PRESSURE_SIDES], *dir, *ar, *own;               /* [n]; own: NULL, none */
    const double *d;                                                  /* [n] */
    float *made_c[TL_PRESSURE_SIDES], *made_dir, *made_ar, *made_own; /* the same, writable; NULL at level 0 */
    double *made_d;
    uint8_t *state; /* [n]; NULL at level 0 */
} tl_coarse;

typedef struct tl_cycle tl_cycle;

typedef struct tl_cycle_kind {
    tl_cycle *(*take)(const tl_levels *l, tl_arena *a); /* NULL when memory is refused; the rest is collective */
    void (*attach)(tl_cycle *c, const tl_pressure *p);  /* level 0's coefficients */
    /* Take `base` as the finest level with this free set (NULL: all cells), and make the levels above. rebuild =
     * false keeps this hierarchy from then on and masks what is not free. */
    void (*reset)(tl_cycle *c, int base, const tl_pressure_free *f, bool rebuild);
    const tl_coarse *(*coarse)(const tl_cycle *c, int level);
    tl_pressure_precond (*precond)(tl_cycle *c);
} tl_cycle_kind;

extern const tl_cycle_kind tl_cycle_float, tl_cycle_double;

#endif
