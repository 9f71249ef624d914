/* Schemes: orders of block solves for a coupled problem, by name.
 *
 *     p-c     pressure, then contact, once: the field does not know what contacts do to its walls
 *     c-p     contact, then pressure, once
 *     t-pn    tangential forces, then pressure and normal forces together, until still
 *     t-p-n   tangential forces, pressure, normal forces in turn, until still
 *     p-tn    pressure; contacts with their friction as one; in turn, until still
 *     tn-pn   contacts with their friction as one; pressure and normal forces as one; in turn, until still
 *
 *     pf-c, c-pf, t-f-pn, t-f-p-n    the same with cones f: one more block before the pressure's; the first two repeat it and the pressure until still
 *     f-p-c   cones, pressure, contacts with their friction, until still. Normal forces and friction of bodies that lie on several points in turn settle slowly, or never
 *
 * A scheme with nothing in contact is one pressure solve, or cones and pressure in turn. */
#ifndef TL_SOLVE_COUPLED_METHOD_H
#define TL_SOLVE_COUPLED_METHOD_H

#include "solve/contact/method.h"
#include "solve/coupled/cones.h"
#include "solve/pressure/method.h"

typedef struct tl_scheme tl_scheme;

int tl_scheme_count(void);
const tl_scheme *tl_scheme_at(int i);
const tl_scheme *tl_scheme_find(const char *name); /* NULL when unknown */
const char *tl_scheme_name(const tl_scheme *s);

typedef struct tl_scheme_report {
    const tl_scheme *scheme;
    tl_result result;
    int sweeps;
    tl_coupled_certificate certificate; /* computed apart from the blocks */
    double change;                      /* of p, s in the last sweep, over the largest p */
    double moved;   /* cones: of u in the last sweep, over what all forces did to it; root mean square by mass */
    double settled; /* cones: what stops the sweeps once contacts are solved, in tolerances' terms; INFINITY without */
    int pressure_iterations, stress_iterations, contact_iterations; /* sums over sweeps */
    tl_work pressure_work, stress_work, contact_work;
    const char *pressure_method;
    double pressure_seconds, stress_seconds, contact_seconds;
} tl_scheme_report;

/* What an earlier run of the same step cost. */
void tl_scheme_report_add(tl_scheme_report *to, const tl_scheme_report *earlier);

/* Velocities end in u and v. */
talus_status tl_scheme_run(tl_coupled *c, tl_scheme_report *out, talus_error *err);

#endif
