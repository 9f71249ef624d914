/* Gauss-Seidel sweeps with momentum over the contacts of an island: a method of its own, and a start for Newton.
 *
 * Each sweep starts from where the last two lead to,
 *     y = sweep(x),   x' = y + beta (y - y_before),   beta = age / (age + 3)
 * and a contact whose momentum turned against it loses most of its age and may not grow as old again for a while. One
 * age for all contacts does not do: a few that circle keep circling while the sum over all falls, or stop everyone.
 *
 * Velocities are scaled by the roots of masses and inertias, so that one set of rows serves both ways, u = q + J v
 * and v += J^T d. Large islands are cut into two halves and the contacts between them, which does not depend on the
 * threads: halves are swept at the same time, then what is between. */
#ifndef TL_SOLVE_CONTACT_MOMENTUM_H
#define TL_SOLVE_CONTACT_MOMENTUM_H

#include "base/arena.h"
#include "base/work.h"
#include "solve/contact/pairs.h"

typedef struct tl_momentum_row {
    tl_lanes8 J[2][3]; /* rows n t1 t2 on both bodies, scaled */
    double q[3];
    double W[5]; /* W_nn, W_nt1, W_nt2, W_t1n, W_t2n */
    double w_n, w_t, mu;
    int32_t place[2];
    int32_t contact; /* of the island */
} tl_momentum_row;

typedef struct tl_momentum {
    int32_t contacts;
    tl_momentum_row *row;   /* [contacts] first half, second half, between */
    int32_t end[3];         /* of these, into row */
    int64_t lanes[3];       /* velocities of the first half: lanes[0] to lanes[1]; of the second: to lanes[2] */
    double *x, *y, *before; /* [3 contacts] as rows */
    double *age, *oldest;   /* [contacts] */
    double max;             /* age that none grows beyond */
    double *v;              /* [lanes[2]] */
    bool alone;             /* one thread is faster: the machine is busy */
} tl_momentum;

size_t tl_momentum_bytes(int64_t contacts, int64_t bodies);
/* Rows of the island, from the arena; false when memory is refused. */
bool tl_momentum_build(tl_momentum *m, const tl_pairs *t, tl_arena *a);

void tl_momentum_start(tl_momentum *m, const double *lam); /* [3 contacts], of the island */
/* Sweeps without momentum come nearer; with it, where friction follows the normals of bodies that lock each other,
 * they may run away. A residual far above that of the first start: begin again from best [3 contacts], with less
 * momentum. True when it was so. */
bool tl_momentum_back(tl_momentum *m, double residual, double first, const double *best);
void tl_momentum_sweep(tl_momentum *m, int count, tl_work *w);
void tl_momentum_answer(const tl_momentum *m, double *lam); /* what the last sweep led to */

/* From lam to lam, the best that was looked at, until its residual is at most `tolerance`, at most `cap` sweeps; out
 * [lanes of t] scratch. Returns the residual, m/s. */
double tl_contact_momentum(tl_momentum *m, const tl_pairs *t, double tolerance, int cap, double *lam, double *look,
                           double *out, tl_work *w);

#endif
