/* Small elastic bodies for tests, and an independent way to the end of a step: Newton with scalar elements and a
 * dense matrix. */
#ifndef TL_TESTS_LG_H
#define TL_TESTS_LG_H

#include "model/lg/solver.h"

typedef struct lg_body {
    tl_lg_part part;
    tl_vec3 *vertex;
    int32_t *element;
    tl_lg_anchor *anchor;
} lg_body;

/* A bar of cells (thickness 0) or a sheet across z of cells[0] x cells[1] squares, with its lower end in x held.
 * Fails the test on any error. */
lg_body lg_body_make(const int cells[3], tl_vec3 size, double thickness, tl_lg_model model, tl_lg_scheme scheme,
                     double young, double poisson);
/* Rolls the rest shape of a sheet up along x, to a cylinder of this radius. */
void lg_body_roll(lg_body *b, double radius);
void lg_body_free(lg_body *b);

/* One step problem: minimise g from qtil. */
typedef struct lg_problem {
    tl_lg lg;
    tl_lg_solver *solver;
    double h;
    double *q, *qtil, *u, *force, *r, *step; /* as in src/step/lg.c */
    tl_vec3 *target;
} lg_problem;

/* qtil: rest positions, bent and shaken by `size`. */
void lg_problem_make(lg_problem *p, const lg_body *b, double h, double size, tl_lg_method method, int precisions);
void lg_problem_free(lg_problem *p);
void lg_rounds(lg_problem *p, int count, tl_lg_precision precision);

/* g(q), elements by tl_svd3, bending by cotangents; and its gradient [3 nodes] (may be NULL). */
double lg_reference(const lg_body *b, const lg_problem *p, const double *q, double *gradient);
/* The minimiser near q, in place; gradient to rounding. */
void lg_newton(const lg_body *b, const lg_problem *p, double *q);

#endif
