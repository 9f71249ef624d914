/* Contacts as the methods see them: each touches at most two moving bodies, with dense 3x6 blocks
 * padded to the width of vector registers.
 *
 * Work is done on the change of body velocities that the impulses cause, dv = M^-1 J^T lam, so that
 * u = q + J dv and W is never needed. All sums run in contact order. */
#ifndef TL_SOLVE_CONTACT_PAIRS_H
#define TL_SOLVE_CONTACT_PAIRS_H

#include <math.h>
#include <stdbool.h>

#include "solve/contact/problem.h"

/* Fixed small vectors (gcc and clang); the compiler picks the registers. */
typedef double tl_lanes4 __attribute__((vector_size(32), may_alias));
typedef double tl_lanes8 __attribute__((vector_size(64), may_alias));

#define TL_BODY_LANES 8 /* doubles per body in velocity vectors: linear, angular, two zeros */

typedef struct tl_pair {
    tl_lanes4 J[2][6];  /* by columns (linear, angular velocity): rows n t1 t2 0 */
    tl_lanes8 MJ[2][3]; /* J M^-1 by rows n t1 t2 */
    tl_lanes4 q;
    double W[9];     /* diagonal block of the problem's W */
    double w_n, w_t; /* masses of the contact, kg (tl_contact_scales) */
    double mu;
    const tl_contact_box *box; /* rows of joints; NULL: a contact */
    double scripted;  /* part of the normal velocity that bodies without a mass bring, m/s; negative: they press */
    int32_t body[2];  /* numbers of moving bodies, -1 where there is none */
    int32_t place[2]; /* of their velocities: body, or `moving`, a place that stays 0 */
} tl_pair;

typedef struct tl_pairs {
    int32_t contacts, moving; /* bodies with a mass, numbered anew */
    bool joined;              /* some blocks are rows of joints */
    tl_pair *pair;            /* [contacts] */
    int32_t *of_moving;       /* [moving] -> body of the problem */
    double *mass;             /* [moving] kg */
    double *inertia;          /* [moving][9] world frame */
    double *inv_inertia;      /* [moving][9] */
    double *gyration;         /* [moving] m: turns rad/s into the m/s that its rim moves at */
} tl_pairs;

size_t tl_pairs_bytes(const tl_contact *p);

/* From the arena (reserved by the caller). False when the problem has no bodies, a contact touches more than two
 * moving ones, or an inverse inertia is singular. */
bool tl_pairs_build(const tl_contact *p, tl_pairs *out, tl_arena *a);

/* Doubles in a velocity vector; 64-byte aligned, as the arena gives them. */
static inline int64_t tl_pairs_lanes(const tl_pairs *t) { return TL_BODY_LANES * ((int64_t)t->moving + 1); }
static inline size_t tl_pairs_room(const tl_contact *p) /* for one of them, before pairs are built */
{
    return TL_ARENA_ROOM(double, TL_BODY_LANES *((p->bodies ? (int64_t)p->bodies->count : 0) + 1));
}

/* dv [lanes] = M^-1 J^T lam. */
void tl_pairs_push(const tl_pairs *t, const double *lam, double *dv);

/* u - q = J dv of one contact; the fourth lane is 0. */
static inline tl_lanes4 tl_pair_change(const tl_pair *c, const double *dv)
{
    const double *a = dv + TL_BODY_LANES * (int64_t)c->place[0], *b = dv + TL_BODY_LANES * (int64_t)c->place[1];
    const tl_lanes4 *A = c->J[0], *B = c->J[1];
    tl_lanes4 x = A[0] * a[0] + A[1] * a[1] + A[2] * a[2], y = A[3] * a[3] + A[4] * a[4] + A[5] * a[5];
    tl_lanes4 z = B[0] * b[0] + B[1] * b[1] + B[2] * b[2], w = B[3] * b[3] + B[4] * b[4] + B[5] * b[5];
    return (x + y) + (z + w);
}

/* u of one contact. */
static inline void tl_pair_velocity(const tl_pair *c, const double *dv, double u[3])
{
    tl_lanes4 all = c->q + tl_pair_change(c, dv);
    for (int k = 0; k < 3; k++) u[k] = all[k];
}

/* dv += M^-1 J^T d for one contact. */
static inline void tl_pair_push(const tl_pair *c, const double d[3], double *dv)
{
    tl_lanes8 *a = (tl_lanes8 *)(dv + TL_BODY_LANES * (int64_t)c->place[0]);
    tl_lanes8 *b = (tl_lanes8 *)(dv + TL_BODY_LANES * (int64_t)c->place[1]);
    *a += c->MJ[0][0] * d[0] + c->MJ[0][1] * d[1] + c->MJ[0][2] * d[2];
    *b += c->MJ[1][0] * d[0] + c->MJ[1][1] * d[1] + c->MJ[1][2] * d[2];
}

/* Natural-map residual of one contact, m/s: the certificate's max(e_n, e_t). */
double tl_pair_residual(const tl_pair *c, const double u[3], const double lam[3]);

/* Joint rows within their bounds. */
static inline void tl_project_box(const tl_contact_box *box, const double x[3], double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = tl_contact_clamp(x[k], box->lo[k], box->hi[k]);
}

/* Fastest velocity that a contact which closes would have without impulses, m/s: what residuals are compared with. */
double tl_pairs_speed(const tl_pairs *t);

/* Largest over contacts for lam, with dv (scratch, [lanes]) recomputed from it. */
double tl_pairs_residual(const tl_pairs *t, const double *lam, double *dv);

/* De Saxce shift of a contact: mu |u_t| where it slides or is open, none where its friction stays clear of the cone's
 * mantle: there it sticks, its u_t is the method's error, and a large mu would blow that up. In between (0.9 to 1 of
 * the friction it may use; chosen) in proportion: a switch makes contacts at the mantle flip for ever. */
static inline double tl_pair_shift(const tl_pair *c, const double u[3], const double lam[3])
{
    if (c->mu < 0) return 0;
    double full = c->mu * sqrt(u[1] * u[1] + u[2] * u[2]), max = c->mu * lam[0];
    if (!(max > 0)) return full;
    double used = sqrt(lam[1] * lam[1] + lam[2] * lam[2]) / max;
    return full * fmin(1, fmax(0, 10 * used - 9));
}

/* Friction in its disc of radius mu lam_n; lam_n at least 0. */
static inline void tl_project_disc(double radius, double t[2])
{
    double length = sqrt(t[0] * t[0] + t[1] * t[1]);
    if (length > radius) {
        double s = length > 0 ? radius / length : 0;
        t[0] *= s;
        t[1] *= s;
    }
}

/* Friction of a resistance, mu < 0: in its disc, no normal. */
static inline void tl_project_resistance(double mu, const double x[3], double out[3])
{
    out[0] = 0, out[1] = x[1], out[2] = x[2];
    tl_project_disc(-mu, out + 1);
}

/* Nearest point of the cone |t| <= mu n: inside, polar (to zero) or mantle. */
static inline void tl_project_cone(double mu, const double x[3], double out[3])
{
    if (mu < 0) {
        tl_project_resistance(mu, x, out);
        return;
    }
    double length = sqrt(x[1] * x[1] + x[2] * x[2]);
    if (length <= mu * x[0]) {
        out[0] = x[0], out[1] = x[1], out[2] = x[2];
    } else if (mu * length <= -x[0]) {
        out[0] = out[1] = out[2] = 0;
    } else {
        double n = (x[0] + mu * length) / (1 + mu * mu);
        out[0] = n;
        out[1] = mu * n * x[1] / length;
        out[2] = mu * n * x[2] / length;
    }
}

#endif
