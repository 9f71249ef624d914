/* Rows of joints alone, answered again and again: bodies come in as all other impulses leave them, and go out as the
 * rows let them. For solves that have pushes of another kind, in which joints are part of every step's response.
 *
 *     lam_k minimises (u_k + 1/2 give_k lam_k) lam_k over lo_k <= lam_k <= hi_k,   u = J (v + M^-1 J^T lam) + bias
 *
 * the law of kind "contact" with blocks of boxes and nothing else (solve/contact/problem.h). Which rows are at a bound
 * is found as an active set that begins with the last one; the others are solved with the envelope of J M^-1 J^T,
 * factored once for each set: the cost of an answer is that of two triangles. Rows that say the same (loops, doors on
 * two hinges) share by the least lam^T D lam, D the diagonal: the factor has a little of D added, and its answer is put
 * right until that is gone. */
#ifndef TL_SOLVE_CONTACT_ROW_SYSTEM_H
#define TL_SOLVE_CONTACT_ROW_SYSTEM_H

#include "base/arena.h"
#include "solve/contact/problem.h"

typedef struct tl_row_system {
    const tl_contact_bodies *bodies; /* J [rows x 6 count]; v_free is not used */
    const tl_contact_box *box;       /* [rows / 3] */
    const double *bias;              /* [rows] m/s */
    int32_t rows;
    int32_t *first; /* [rows] the first column of a row of the envelope */
    int64_t *start; /* [rows] where column 0 of a row would be, in A and L */
    double *A, *L;  /* J M^-1 J^T and what gives; its factor, of free rows */
    double *D;      /* [rows] */
    enum { TL_ROW_FREE, TL_ROW_LO, TL_ROW_HI, TL_ROW_IDLE } * at; /* [rows] idle: moves nothing, or is not used */
    bool factored, pushed;                                        /* `pushed`: for pushes */
    double *lam;                                                  /* [rows] N s, of the last answer */
    double *b, *x, *r, *rhs;                                      /* [rows] scratch */
} tl_row_system;

/* lam [rows]: where the first answer begins; copied. Bodies, boxes and bias stay the caller's; all else is the
 * arena's. */
talus_status tl_row_system_begin(tl_row_system *out, const tl_contact_bodies *bodies, const tl_contact_box *box,
                                 const double *bias, const double *lam, tl_arena *a, talus_error *err);

/* v [6 count]: velocities without the rows, then with them. */
void tl_row_system_respond(tl_row_system *s, double *v);

/* What a push changes once it is strong: rows that have bounds (motors, friction, limits) let go, the others hold. Linear
 * and symmetric. With rows that are between their bounds held, a body that a motor presses on the ground would move by
 * nothing, and no contact would have a say before its push is there. */
void tl_row_system_push(tl_row_system *s, double *v);

/* Natural map at velocities v, which are with lam, m/s: the certificate of these rows. */
double tl_row_system_residual(const tl_row_system *s, const double *v, const double *lam);

#endif
