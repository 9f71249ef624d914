/* Kind "contact": Signorini contact with Coulomb friction, as data.
 *
 * Each of the m contacts has three unknowns, the impulses lam = (lam_n, lam_t1, lam_t2) in N s, and
 * a relative velocity u = W lam + q in m/s with the same three components (normal: positive when
 * the bodies part). Asked for, per contact:
 *     0 <= lam_n  _|_  u_n >= 0          no pulling, no approach, and not both a push and a gap
 *     lam_t minimises u_t . lam_t over |lam_t| <= mu lam_n      friction opposes the slip, in a disc
 * A contact with mu < 0 is a resistance: no normal (lam_n = 0, its row is not used), and lam_t minimises u_t . lam_t
 * over |lam_t| <= -mu, in N s. Rolling and spinning friction are such, with rows that turn bodies and a radius that
 * follows the normal force of their contact (model/rigid). Blocks from `plain` on are rows of joints: three impulses
 * that know nothing of each other, each within bounds of its own that may be infinite, and each with a compliance:
 *     lam_k minimises (u_k + 1/2 give_k lam_k) lam_k over lo_k <= lam_k <= hi_k
 * A row that holds both ways has no bounds, a limit one, friction and motors two; a row that is not used has lo = hi
 * = 0. The certificate is the same natural map, e_k = |lam_k - P(lam_k - w_k (u_k + give_k lam_k))| / w_k with w_k = 1 /
 * (W_kk + give_k). W = J M^-1 J^T is symmetric positive semidefinite and often
 * singular (four points carry a face); q = J v_free + bias is the velocity that the contacts would have without
 * impulses. Where contacts come from, what the bias is and what becomes of the velocities is the caller's.
 *
 * Certificate, from the problem alone: the natural map in m/s, with the contact's own masses
 *     w_n = 1 / W_nn,   w_t = 1 / (largest eigenvalue of the tangent block)
 *     e_n = | lam_n - max(0, lam_n - w_n u_n) | / w_n
 *     e_t = | lam_t - P(lam_t - w_t u_t) | / w_t,   P: onto the disc of radius mu max(lam_n, 0)
 * It is absolute on purpose: measured relative to |lam|, a force that is 20 % wrong under a mass
 * ratio of 1000 passes as converged (tests/unit/contact.c). A velocity error e leaves a body of mass
 * m with a force error of about m e / dt, whatever the mass ratio. */
#ifndef TL_SOLVE_CONTACT_PROBLEM_H
#define TL_SOLVE_CONTACT_PROBLEM_H

#include <math.h>
#include <stdbool.h>

#include "solve/linop.h"

/* Laws of three rows of joints. */
typedef struct tl_contact_box {
    double lo[3], hi[3]; /* N s, lo <= hi; may be infinite */
    double give[3];      /* m/s per N s, >= 0 */
} tl_contact_box;

/* The bodies behind W, for force balance and for tl_contact_assemble. */
typedef struct tl_contact_bodies {
    int32_t count;
    const double *inv_mass;    /* [count] 1/kg; 0 = fixed */
    const double *inv_inertia; /* [count][9] world frame, row by row, symmetric; 0 = fixed */
    const tl_csr *J;           /* [3m x 6 count]: from (linear, angular) velocities to u */
    const double *v_free;      /* [6 count] velocities after the step without contact impulses */
} tl_contact_bodies;

typedef struct tl_contact {
    const tl_space *space; /* n = 3m; the three unknowns of a contact live on the same part */
    tl_linop W;
    const double *blocks;            /* [m][9] diagonal 3x3 blocks of W, row by row, order n t1 t2 */
    const double *q;                 /* [3m] m/s */
    const double *mu;                /* [m] >= 0; negative: a resistance, see below */
    const tl_contact_bodies *bodies; /* NULL when not known; single part only */
    bool resists;                    /* some mu are negative */
    const tl_contact_box *box;       /* [boxes] of the last blocks, whose mu is negative and not used; NULL: none */
    int64_t boxes;
} tl_contact;

typedef struct tl_contact_certificate {
    double residual;        /* max of the next two, m/s: the measure that solves stop on */
    double normal, tangent; /* max e_n, max e_t over contacts, m/s */
    double cone_violation;  /* largest of -lam_n and |lam_t| - mu max(lam_n, 0), at least 0; N s */
    double normal_sum;      /* sum of lam_n, N s */
    /* sum m |v_out| / sum m |v_free| over moving bodies, v_out = v_free + M^-1 J^T lam (linear parts):
     * in a scene at rest, the fraction of the free momentum that the contacts fail to carry, so 0
     * is right and 1 is free fall. Without meaning while bodies move. NAN without bodies. */
    double balance;
} tl_contact_certificate;

/* lam [n + halo]; scratch from the arena, given back. NaN in, NaN out. */
talus_status tl_contact_certify(const tl_contact *p, double *lam, tl_contact_certificate *out, tl_arena *a,
                                talus_error *err);

size_t tl_contact_certify_bytes(const tl_contact *p); /* of that scratch */

/* n a multiple of 3, q finite, mu finite and >= 0, blocks symmetric with positive diagonal, bodies
 * only on a single part. Local to this part; the message names the contact. */
talus_status tl_contact_check(const tl_contact *p, talus_error *err);

/* Masses of one contact, kg, from its diagonal block. */
static inline void tl_contact_scales(const double *block, double *w_n, double *w_t)
{
    double a = block[4], b = block[8], c = block[5];
    double largest = 0.5 * (a + b) + hypot(0.5 * (a - b), c);
    *w_n = 1 / block[0];
    *w_t = 1 / largest;
}

static inline double tl_contact_clamp(double x, double lo, double hi) { return x < lo ? lo : x > hi ? hi : x; }

/* Natural map of one block of joint rows, m/s; W: its diagonal block. */
double tl_contact_box_residual(const tl_contact_box *box, const double *W, const double u[3], const double lam[3]);

/* What tl_contact needs, computed from bodies: W = J M^-1 J^T (exactly symmetric, one dense 3x3 per
 * pair of contacts that share a moving body), its diagonal blocks, q = J v_free + bias. */
typedef struct tl_contact_assembled {
    tl_csr W;
    double *blocks; /* [m][9] */
    double *q;      /* [3m] */
} tl_contact_assembled;

/* bias [3m] m/s, NULL for none. Cost: sum over bodies of (its contacts)^2. */
talus_status tl_contact_assemble(tl_contact_assembled *out, const tl_contact_bodies *bodies, const double *bias,
                                 talus_error *err);
void tl_contact_assembled_free(tl_contact_assembled *c); /* leaves {0}; {0} is fine */

/* The same without writing W out, and without the heap: cost and room of one pass over J. */
typedef struct tl_contact_operator {
    const tl_contact_bodies *bodies;
    double *v; /* [6 count] scratch: one product at a time */
} tl_contact_operator;

tl_linop tl_contact_operator_linop(const tl_contact_operator *op); /* W; keeps the pointer */
void tl_contact_free_velocity(const tl_contact_bodies *bodies, const double *bias, double *q); /* [3m] */

/* v [6 count] = v_free + M^-1 J^T lam, summed in contact order. */
void tl_contact_velocities(const tl_contact_bodies *bodies, const double *lam, double *v);

#endif
