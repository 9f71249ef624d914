/* The block of cones at frozen p: any method of kind "cone", in increments. */
#ifndef TL_SOLVE_COUPLED_CONES_H
#define TL_SOLVE_COUPLED_CONES_H

#include "solve/cone/method.h"
#include "solve/coupled/problem.h"

typedef struct tl_cones_report {
    tl_outcome outcome;
    tl_work work;
    double change; /* largest of |ds| */
} tl_cones_report;

/* Takes room; p [groups]: any, for the parts of the problem. */
talus_status tl_cones_begin(tl_cones *c, const double *p, tl_arena *a, talus_error *err);

talus_status tl_cones_solve(tl_cones *c, const double *p, double tolerance, tl_arena *a, tl_cones_report *out,
                            talus_error *err);

/* No p anywhere: s is taken back. Returns the largest that there was. */
double tl_cones_drop(tl_cones *c);

/* Of s at p and the velocities as they are: gap over energy (1 where nothing acts yet and something could), and how
 * far outside of the cones, over the largest radius that a solve had: what comes apart in its last sweep has cones
 * of size zero. The larger. Groups with unknowns of their own are measured against the cone whatever the method,
 * others against their boxes or by their duals (solve/cone/parts.h). */
talus_status tl_cones_error(const tl_cones *c, const double *p, tl_arena *a, double *out, talus_error *err);

#endif
