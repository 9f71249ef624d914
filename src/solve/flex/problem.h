/* Kind "flex": one Newton correction of bodies that deform, with contact and friction, as data.
 *
 * Unknown are corrections of velocities dv [n + 6 rigid] and impulses lam [3 contacts] with
 *
 *     H dv + g = J^T lam,     u = c + J dv,     Signorini and Coulomb between lam and u (solve/contact/problem.h)
 *
 * The last `boxes` of them are rows of joints instead, with bounds and compliances of their own. H is symmetric and
 * positive definite, one sparse block per deformable part and six by six for each rigid body. It is
 * inertia and stiffness, H = M + N with M diagonal, and ways to solve the problem (route.h) differ in what they do
 * about N. Where H, g, J come from is the caller's.
 *
 * Certificate, from the problem alone: the natural map of (lam, u) with u of the answer's dv, and what is missing in
 * the balance over the diagonal of H; both in m/s, spins as speeds at the radius of gyration. */
#ifndef TL_SOLVE_FLEX_PROBLEM_H
#define TL_SOLVE_FLEX_PROBLEM_H

#include "base/arena.h"
#include "math/csr.h"
#include "math/factor.h"
#include "solve/contact/problem.h"

typedef struct tl_flex_part {
    int64_t first;       /* of its unknowns */
    const tl_csr *H;     /* pattern of both triangles, values up to the diagonal of each row */
    const double *mass;  /* [H->rows] M, kg */
    const tl_csr *roots; /* N = roots^T roots, [any][H->rows]; NULL: not known */
    tl_factor *factor;   /* of H; NULL: there is none */
} tl_flex_part;

typedef enum tl_flex_law {
    TL_FLEX_CONE,    /* friction within a disc of radius mu lam_n */
    TL_FLEX_PYRAMID, /* within a box of that half-width along the two tangents */
    TL_FLEX_STICKY   /* equations instead: contacts neither part nor slide; for comparison */
} tl_flex_law;

typedef struct tl_flex {
    int32_t parts;
    const tl_flex_part *part;
    int64_t n; /* unknowns of all parts */
    int32_t rigid;
    const double *inv_mass, *inv_inertia; /* [rigid], [rigid][9]; 0: fixed, and J has no entries there */
    int32_t contacts;
    const tl_csr *J, *Jt;      /* [3 contacts][n + 6 rigid] and its transpose */
    const double *mu;          /* [contacts] */
    int32_t boxes;             /* of the contacts, the last: rows of joints, whose mu is not used; at least one moves */
    const tl_contact_box *box; /* [boxes] */
    const double *g;           /* [n]; rigid bodies start where nothing pushes them: 0 */
    const double *c;           /* [3 contacts] m/s, velocities at dv = 0 */
    tl_flex_law law;
} tl_flex;

typedef struct tl_flex_certificate {
    double residual; /* the larger of the next two */
    double contact;  /* natural map, m/s */
    double balance;  /* max |H dv + g - J^T lam| / H_ii, m/s */
} tl_flex_certificate;

/* The laws of block c; NULL: a contact. */
static inline const tl_contact_box *tl_flex_box(const tl_flex *p, int64_t c)
{
    return c >= p->contacts - p->boxes ? &p->box[c - (p->contacts - p->boxes)] : NULL;
}

static inline int64_t tl_flex_size(const tl_flex *p) { return p->n + 6 * (int64_t)p->rigid; }

/* Of a rigid body that moves, m: what its spins and torques are compared with speeds and forces by. 1 for fixed ones. */
double tl_flex_gyration(const tl_flex *p, int32_t body);
/* y = H x, and y = H^-1 x of the rigid bodies alone (the first n entries are left as they are). */
void tl_flex_product(const tl_flex *p, const double *x, double *y);
void tl_flex_rigid_inverse(const tl_flex *p, double *x);
void tl_flex_diagonal(const tl_flex *p, double *d); /* of H; 1 for fixed bodies */
/* Blocks of J D^-1 J^T of each contact, D [n] diagonal and rigid bodies as they are: masses of contacts. Rows that
 * move nothing have 1 on the diagonal. [contacts][9] */
void tl_flex_blocks(const tl_flex *p, const double *D, double *blocks);

talus_status tl_flex_certify(const tl_flex *p, const double *lam, const double *dv, tl_flex_certificate *out,
                             tl_arena *a, talus_error *err);

#endif
