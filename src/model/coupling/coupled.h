/* The coupled problem of a step as data for the solvers: kind "coupled" of solve/coupled/problem.h. */
#ifndef TL_MODEL_COUPLING_COUPLED_H
#define TL_MODEL_COUPLING_COUPLED_H

#include "model/coupling/liquid.h"
#include "model/rigid/contacts.h"
#include "solve/coupled/problem.h"

/* The field of pressure, p [cells] start in, answer out, and its cones, NULL: none. Velocities are those of s->c,
 * from s->c.u as it is when the solve begins. How it is solved is left to the caller. */
/* Of a viscous liquid the field is pressure and stress, and pressure may pull. */
talus_status tl_system_coupled(tl_coupled *out, tl_system *s, double *p, tl_cones *cones, bool unilateral, tl_arena *a,
                               talus_error *err);

/* Bodies without forces of the problem, and their contacts: lam [3 contacts] N s, start in, answer out. Anew
 * whenever contacts are assembled. */
void tl_system_contacts(tl_coupled *out, const tl_rigid_problem *p, double *lam);

#endif
