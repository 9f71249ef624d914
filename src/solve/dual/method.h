/* Schemes for a "dual" problem, by name.
 *
 *     pec-gs   pressure; contacts with their friction at frozen pressure; in turn, until still
 *     pec      pressure and normal forces as one; contacts with their friction; in turn, until still
 *     pe-ec    pressure, then contact, once: pressure does not know what contacts do
 *     ec-pe    contact, then pressure, once
 *
 *     pvec     viscous: pressure, stress and solids as one; contacts with their friction at frozen forces of the liquid; in
 *              turn, until still
 *     pve-ec, ec-pve   the same once
 *
 *     pec-g, pec-g-scaled, pec-z1z2, pec-ica, pec-ucg   pec, pressure and normal forces with solids as published (ways.c);
 *     pvec-ucg                                          for comparison
 *
 * Without contacts all of them are one solve of the liquid. With stress of sand:
 *
 *     f-p-c    stress; pressure; contacts with their friction; in turn, until still
 */
#ifndef TL_SOLVE_DUAL_METHOD_H
#define TL_SOLVE_DUAL_METHOD_H

#include "solve/dual/problem.h"
#include "solve/flex/route.h"
#include "solve/pressure/method.h"

typedef struct tl_dual_scheme tl_dual_scheme;

int tl_dual_scheme_count(void);
const tl_dual_scheme *tl_dual_scheme_at(int i);
const tl_dual_scheme *tl_dual_scheme_find(const char *name); /* NULL when unknown */
const char *tl_dual_scheme_name(const tl_dual_scheme *s);
bool tl_dual_scheme_cones(const tl_dual_scheme *s);     /* it is for sand */
bool tl_dual_scheme_projected(const tl_dual_scheme *s); /* stiffness must have no negative eigenvalues */
/* Contacts are one block, with all their rows: joints may be among them. */
bool tl_dual_scheme_split(const tl_dual_scheme *s);
bool tl_dual_scheme_written(const tl_dual_scheme *s); /* writes a matrix out, and takes `precond` */
bool tl_dual_scheme_viscous(const tl_dual_scheme *s); /* for viscous liquids, and for these alone */

typedef struct tl_dual_report {
    tl_result result;
    int sweeps, pressure_iterations, contact_iterations, stress_iterations;
    tl_dual_certificate certificate; /* computed apart from the blocks */
    tl_work pressure_work, contact_work, stress_work;
    double settled;             /* sand: what stops the sweeps, as of kind "coupled"; 0 where nothing had to be done */
    double prepare;             /* s, of compliances */
    int64_t unknowns, nonzeros; /* of matrices that are written out, and of what they stand for; 0: none is */
} tl_dual_report;

/* Kept between the solves of a step: the plan of the pressure, and room. */
typedef struct tl_dual_solver {
    const tl_dual *p;
    const tl_dual_scheme *scheme;
    const tl_pressure_method *method;
    tl_flex_solver *contact; /* of a problem of its own, whose g and c are written here */
    double *g, *c;           /* those: [n], [3 contacts] */
    double tolerance;        /* of the pressure */
    double slack;            /* m/s, of contacts */
    int sweeps;              /* at most; 0: the scheme's own */
    int pressure_iterations, contact_iterations;
    const char *precond; /* of matrices that are written out; NULL, "": ic */
    bool plain_sweeps;   /* they are not mixed, for comparison */
    bool started;        /* p is worth starting from */
    bool solved;         /* p has been solved for in this step */
    bool swept;          /* sand: stress and pressure are those of an earlier correction */
    bool begun;          /* viscous: the liquid's base is noted */
    double free_viscous; /* m/s: what pressure and stress have to undo */
    tl_arena *arena;
    double *load; /* [n + 6 rigid] out: impulse Z p */
    struct tl_dual_work *work;
} tl_dual_solver;

/* For one set of contacts and one set of cells. */
talus_status tl_dual_begin(tl_dual_solver *s, talus_error *err);
/* p [cells], lam [3 contacts]: start in, answer out; dv [n + 6 rigid] answer. u of the caller has p of the start in
 * it. fresh: H is another one. */
talus_status tl_dual_solve(tl_dual_solver *s, bool fresh, double *p, double *lam, double *dv, tl_dual_report *out,
                           talus_error *err);

#endif
