/* Contacts as the methods see them: each touches at most two moving bodies, with dense 3x6 blocks.
 *
 * Work is done on the change of body velocities that the impulses cause, dv = M^-1 J^T lam, so that
 * u = q + J dv and W is never needed. All sums run in contact order. */
#ifndef TL_SOLVE_CONTACT_PAIRS_H
#define TL_SOLVE_CONTACT_PAIRS_H

#include <math.h>
#include <stdbool.h>

#include "solve/contact/problem.h"

typedef struct tl_pair {
    int32_t body[2];  /* numbers of moving bodies, -1 where there is none */
    double J[2][18];  /* 3x6 row by row: rows n t1 t2, columns linear, angular velocity */
    double MJ[2][18]; /* J M^-1, same layout */
    double w_n, w_t;  /* masses of the contact, kg (tl_contact_scales) */
    double mu;
    double q[3];
} tl_pair;

typedef struct tl_pairs {
    int32_t contacts, moving; /* bodies with a mass, numbered anew */
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

/* dv [6 moving] = M^-1 J^T lam. */
void tl_pairs_push(const tl_pairs *t, const double *lam, double *dv);

/* u of one contact. */
static inline void tl_pair_velocity(const tl_pair *c, const double *dv, double u[3])
{
    for (int r = 0; r < 3; r++) u[r] = c->q[r];
    for (int s = 0; s < 2; s++) {
        if (c->body[s] < 0) continue;
        const double *v = dv + 6 * (int64_t)c->body[s], *J = c->J[s];
        for (int r = 0; r < 3; r++)
            u[r] += J[6 * r] * v[0] + J[6 * r + 1] * v[1] + J[6 * r + 2] * v[2] + J[6 * r + 3] * v[3] +
                    J[6 * r + 4] * v[4] + J[6 * r + 5] * v[5];
    }
}

/* dv += M^-1 J^T d for one contact. */
static inline void tl_pair_push(const tl_pair *c, const double d[3], double *dv)
{
    for (int s = 0; s < 2; s++) {
        if (c->body[s] < 0) continue;
        double *v = dv + 6 * (int64_t)c->body[s];
        const double *MJ = c->MJ[s];
        for (int k = 0; k < 6; k++) v[k] += MJ[k] * d[0] + MJ[6 + k] * d[1] + MJ[12 + k] * d[2];
    }
}

/* Natural-map residual of one contact, m/s: the certificate's max(e_n, e_t). */
double tl_pair_residual(const tl_pair *c, const double u[3], const double lam[3]);

/* Largest over contacts for lam, with dv (scratch, [6 moving]) recomputed from it. */
double tl_pairs_residual(const tl_pairs *t, const double *lam, double *dv);

/* De Saxce shift of a contact: mu |u_t| where it slides. A contact strictly inside of its cone sticks, and its u_t is
 * rounding, which a large mu would blow up. */
static inline double tl_pair_shift(const tl_pair *c, const double u[3], const double lam[3])
{
    double most = c->mu * lam[0];
    if (!(lam[0] > 0) || hypot(lam[1], lam[2]) < 0.999 * most) return 0;
    return c->mu * hypot(u[1], u[2]);
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

/* Nearest point of the cone |t| <= mu n: inside, polar (to zero) or mantle. */
static inline void tl_project_cone(double mu, const double x[3], double out[3])
{
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
