/* ADMM on pairs: a method of its own, and Newton's cold start. */
#ifndef TL_SOLVE_CONTACT_ADMM_H
#define TL_SOLVE_CONTACT_ADMM_H

#include "base/work.h"
#include "solve/contact/body_matrix.h"
#include "solve/outcome.h"

typedef struct tl_admm {
    const tl_pairs *t;
    tl_body_matrix *H; /* built; its values are overwritten */
    double kappa;      /* penalty over the contact's own mass, to begin with */
    double *z, *lam;   /* [3 contacts] scratch */
    double *dv, *rhs;  /* lanes of bodies, scratch */
} tl_admm;

/* From lam, at most `cap` iterations; lam gets the best iterate, out->residual its residual. */
void tl_admm_run(tl_admm *s, const tl_stop *stop, int cap, double *lam, tl_outcome *out, tl_work *w);

#endif
