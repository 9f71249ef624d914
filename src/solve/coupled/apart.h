/* One block of a problem that is solved, as a problem of its own kind at the answers of the others: what captures
 * and comparisons take. */
#ifndef TL_SOLVE_COUPLED_APART_H
#define TL_SOLVE_COUPLED_APART_H

#include "solve/coupled/method.h"

/* After tl_scheme_run; the answer is c->p. Bodies are in it as U U^T. Valid until the arena of `c` is given back. */
talus_status tl_coupled_field_apart(tl_coupled *c, tl_pressure *out, talus_error *err);
/* The same of the contacts; the answer is c->lam. */
talus_status tl_coupled_contact_apart(tl_coupled *c, tl_contact *out, talus_error *err);

#endif
