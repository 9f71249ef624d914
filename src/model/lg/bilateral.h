/* Rows that are not contacts: cables, hard anchors, anything linear in node positions.
 *
 *     value(q) = sum over terms of along . q[node]  -  axis . (how far the body's point has moved)
 *     two-sided   value(q) - target = -compliance lambda              a spring of stiffness 1/compliance; 0 holds exactly
 *     one-sided   0 <= value(q) - target + compliance lambda  _|_  lambda >= 0
 *
 * lambda is a force if `along` are directions: node gets along lambda, N. A cable of length l(q) that may not grow
 * beyond l_most is one-sided with along = -dl/dq at the positions of the last look, target = value - (l_most - l)
 * there, and lambda is its tension. What is not linear is linearised anew before every round, see
 * tl_lg_bilaterals.renew. Solved together with the contacts by the step. */
#ifndef TL_MODEL_LG_BILATERAL_H
#define TL_MODEL_LG_BILATERAL_H

#include <stdbool.h>

#include "model/lg/contact.h"

#define TL_LG_COMPLIANCE_LEAST 1e-9 /* m/N of rows that users ask for: contradictory ones then end in the middle */

typedef struct tl_lg_term {
    int32_t node;
    tl_vec3 along;
} tl_lg_term;

typedef struct tl_lg_bilateral {
    int32_t first, count; /* of terms; a node at most once per row */
    int32_t id;           /* who it is in the next step, >= 0, rising over the rows */
    bool one_sided;
    int32_t body;  /* free body of tl_rigid that takes -axis lambda at `lever` from its centre; -1: none */
    int32_t place; /* of it in tl_lg_rows.body, which sets it; -1: none */
    tl_vec3 axis, lever;
    double target;     /* m, at the end of the step */
    double compliance; /* m/N, >= 0 */
} tl_lg_bilateral;

typedef struct tl_lg_bilaterals {
    int32_t count, terms;
    tl_lg_bilateral *row; /* [count] */
    tl_lg_term *term;     /* [terms] */
    /* Before each round: `along` and `target` for positions q [nodes][3]; which nodes there are stays. NULL: nothing
     * changes. Must not allocate. */
    void (*renew)(struct tl_lg_bilaterals *b, const double *q);
    void *ctx; /* for renew */
} tl_lg_bilaterals;

/* Rows of a step that ends at time t, at its predicted positions v->to. Lives in the arena. */
talus_status tl_lg_bilateral_rows(const tl_lg_view *v, double t, tl_arena *a, tl_lg_bilaterals *out, talus_error *err);

#endif
