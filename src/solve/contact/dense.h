/* Contact problems whose W is written out: what deforms couples every contact of a body with every other, so W is
 * dense.
 *
 * "newton-dense" is newton-shift seen from the impulses: velocities are H^-1 J^T y, so u = q + W y and the factor of
 * H is never needed again once W is there. One Newton step factors I + B^T W B over contacts that push, where B B^T
 * is the slope of the projection onto the cone. */
#ifndef TL_SOLVE_CONTACT_DENSE_H
#define TL_SOLVE_CONTACT_DENSE_H

#include "solve/contact/method.h"

typedef struct tl_contact_dense {
    int64_t n;       /* 3 contacts */
    const double *W; /* [n][n] exactly symmetric */
    /* What solves of one W after the other share: the last derivative of the natural map, factored. Set `factored`
     * to false with a new W. NULL: nothing is shared. */
    struct tl_contact_slope *slope;
} tl_contact_dense;

typedef struct tl_contact_slope {
    double *lu;    /* [n][n] */
    int32_t *swap; /* [n] */
    bool factored;
} tl_contact_slope;

tl_linop tl_contact_dense_linop(const tl_contact_dense *W); /* keeps the pointer */

/* Not in the table of methods: it wants a W of tl_contact_dense_linop, else it is not applicable. The pyramid: a box
 * on the two tangents, for comparison. */
extern const tl_contact_method tl_contact_newton_dense, tl_contact_pyramid_dense;

#endif
