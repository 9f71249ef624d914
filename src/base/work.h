/* What a solver spent, counted beside the seconds so that methods compare across machines. */
#ifndef TL_BASE_WORK_H
#define TL_BASE_WORK_H

#include <stdint.h>

/* One line per iteration of a method, kept when the caller asks for it. */
typedef struct tl_history {
    int capacity, count;
    double *residual;  /* [capacity], the method's own measure */
    int64_t *products; /* [capacity], products with A so far */
} tl_history;

typedef struct tl_work {
    int64_t products;       /* products with the problem's operator A */
    int64_t preconds;       /* applications of a preconditioner */
    int64_t projections;    /* projections on the feasible set, per vector */
    int64_t factorizations; /* exact or incomplete */
    int64_t outer;          /* outer iterations (multiplier updates, barrier steps) */
    tl_history *history;    /* NULL unless asked for */
} tl_work;

static inline void tl_work_record(tl_work *w, double residual)
{
    tl_history *h = w->history;
    if (!h || h->count >= h->capacity) return;
    h->residual[h->count] = residual;
    h->products[h->count++] = w->products;
}

#endif
