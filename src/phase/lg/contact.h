/* Contact of elastic bodies within a step: laws, their solution, what is remembered.
 *
 * Rounds of the local-global step give positions q that know the forces of the last round. A contact step then
 * linearises the laws of all rows (model/lg/ncp.h) and solves
 *
 *     exact        (W + E / w) x = -phi / w                       w: slope of a law in its gap or slip, E: in its force
 *     symmetric    (w W w + E) x = -phi + w (H q before - H q)    forces are w lambda
 *
 * by conjugate residuals with Jacobi scaling; lambda += x / he^2, friction is cut to its disc, and rows see the
 * displacement that follows. `inner` such steps work on rows alone; q follows at once (matrix-free, where products
 * move all nodes) or by one solve at the end (explicit). [Zeng2025 sec. 5] */
#ifndef TL_PHASE_LG_CONTACT_H
#define TL_PHASE_LG_CONTACT_H

#include "base/work.h"
#include "model/lg/rows.h"
#include "phase/lg/joined.h"

/* How well laws hold, from positions and forces alone. */
typedef struct tl_lg_laws {
    double normal;      /* m: largest |min(gap, he^2 W lambda)|; of two-sided rows |value - target + e lambda| */
    double friction;    /* m/s: largest R |f - nearest of the disc to f - slip / (h R)|, R = he^2 W / h */
    double excess;      /* N: largest |f| - mu N */
    double creep;       /* m/s: largest slip speed below the cone */
    int64_t creeping;   /* contacts */
    double penetration; /* m */
    double normal_sum;  /* N */
    int64_t touching;
} tl_lg_laws;

typedef struct tl_lg_touch {
    const tl_lg_spec *spec;
    tl_lg_rows rows;
    tl_lg_joined *joined; /* NULL: there are no joints */
    double h, he;         /* s: slips and rigid bodies are of h, what a force does to nodes of he^2 (phase/lg/time.h) */
    double *lam;          /* [rows] N */
    double *force;        /* [rows] N: lam, or weighted by slopes */
    double *value;        /* [rows] m: gaps, slips, bilateral values + e lam */
    double *law_value;    /* [rows] m: when laws were linearised */
    double *slope, *add, *rhs;                /* [rows] of the linear system */
    double *scale, *x, *t, *product, *before; /* [rows] */
    double *landed;                           /* [soft contacts] N s: what of their impulses landing took back, <= 0 */
    double *body_moved, *body_free; /* [bodies][6] with and without contacts: displacement and turn over the step */
    tl_work work;
    int64_t steps; /* contact steps made */
} tl_lg_touch;

/* Forces of the last step where the same points touch again, `past` sorted as tl_lg_memory says; of rigid bodies those of
 * b->lam. joined NULL: there are no joints. */
talus_status tl_lg_touch_begin(tl_lg_touch *t, const tl_lg_spec *spec, const tl_lg_rows_of *from, tl_lg_joined *joined,
                               const tl_lg_state *past, const tl_bodies *b, tl_arena *a, talus_error *err);
/* Between two rounds, with more contacts and others in new places; origin [from->soft->count]: which of the soft
 * contacts of before it is and whose forces it keeps, -1: none. */
talus_status tl_lg_touch_again(tl_lg_touch *t, const tl_lg_rows_of *from, const int32_t *origin, const double *v_free,
                               tl_arena *a, talus_error *err);
/* r += he^2 H^T force, of joints too */
void tl_lg_touch_push(tl_lg_touch *t, double *r);
/* Contact steps from positions q [lg nodes][3], which follow. */
talus_status tl_lg_touch_solve(tl_lg_touch *t, double *q, tl_arena *a, talus_error *err);
/* For the positions q. Penetration is that of contacts between elastic bodies, from `shapes` on: planes of shapes are
 * tangents, tl_lg_depth knows better, and tl_bodies_find_depth of rigid bodies. Slips slower than
 * `slow` are rest, m/s. */
tl_lg_laws tl_lg_touch_laws(tl_lg_touch *t, int32_t shapes, double slow, const double *q);
/* What the next step begins with, [count] in the arena. */
talus_status tl_lg_touch_remember(const tl_lg_touch *t, const tl_lg_contacts *soft, tl_arena *a, tl_lg_memory **out,
                                  int64_t *count, talus_error *err);

#endif
