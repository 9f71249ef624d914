/* Methods for frictional contact, by name. See docs/methods.md for what each one does. All of the table need the bodies
 * behind W and leave W itself alone. tl_contact_solve also takes a method of the caller's. */
#ifndef TL_SOLVE_CONTACT_METHOD_H
#define TL_SOLVE_CONTACT_METHOD_H

#include "solve/contact/pairs.h"
#include "solve/options.h"
#include "solve/outcome.h"

typedef struct tl_contact_method {
    const char *name;  /* as in scene files */
    const char *help;  /* one line */
    bool true_coulomb; /* false: solves the convex relaxation, which lifts sliding bodies */
    bool on_bodies;    /* wants pairs; not applicable where they cannot be built */
    size_t (*bytes)(const tl_contact *p, const tl_options *o); /* without the pairs */
    /* lam [n + halo]: start in, answer out; t: NULL unless on_bodies. Takes at most bytes() from the arena, nothing
     * from the heap. */
    tl_outcome (*run)(const tl_contact *p, const tl_pairs *t, const tl_options *o, const tl_stop *stop, double *lam,
                      tl_arena *a, tl_work *w);
} tl_contact_method;

int tl_contact_method_count(void);
const tl_contact_method *tl_contact_method_at(int i);
const tl_contact_method *tl_contact_method_find(const char *name); /* NULL when unknown */

typedef struct tl_contact_report {
    tl_outcome outcome;
    tl_contact_certificate certificate; /* computed here, not by the method */
    tl_work work;                       /* the certificate's product is not counted */
    double seconds;
} tl_contact_report;

/* Solve and certify. Stops at certificate.residual <= stop->tolerance (m/s). A "converged" that the certificate does
 * not confirm within a factor of 10 is reported as stalled. On failure (no memory) lam is untouched. */
talus_status tl_contact_solve(const tl_contact_method *m, const tl_contact *p, const tl_options *o, const tl_stop *stop,
                              double *lam, tl_arena *a, tl_contact_report *report, talus_error *err);

#endif
