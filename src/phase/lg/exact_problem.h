/* A correction of exact.h as a problem of kind "flex": exact_problem.c writes it, exact.c goes along its answers. */
#ifndef TL_PHASE_LG_EXACT_PROBLEM_H
#define TL_PHASE_LG_EXACT_PROBLEM_H

#include "phase/lg/exact.h"

#define TL_LG_EXACT_LEVELS 5 /* of convexity */
#define TL_LG_EXACT_FIRM 10  /* times all forces that do not balance: preload, see bond. Changes no answer */

/* Cables and joins as contacts. A cable pulls only: Signorini's law, without friction. Rows that hold both ways,
 * three together, are one contact that sticks: a preload far above their forces keeps it inside of its cone, and
 * what the preload does is taken away from g and c, so that it changes no answer. Their compliance is that of a body
 * of their own, of mass he^2, that each row hangs on by sqrt(compliance); rows that such a contact lacks hang on
 * that body alone. */
typedef struct tl_lg_exact_bond {
    int32_t count, row[3]; /* of bilaterals */
    double preload;        /* N */
} tl_lg_exact_bond;

/* One solve. Bodies that take part are parts of the problem, in their order. */
typedef struct tl_lg_exact_problem {
    tl_lg_exact *x;
    const tl_lg *lg;
    const tl_lg_rows *rows;
    double h, he;
    int32_t parts, *body, *part_of; /* [parts] bodies; [bodies] part, < 0: none */
    tl_flex_part *part;
    tl_flex p;
    tl_flex_solver solver;
    tl_csr J, Jt;
    double *mu, *g, *c, *lam, *dv; /* of the problem, see pose */
    double *now;                   /* [rows] m/s: gaps and slips at q over h, bodies where forces lead them */
    double *inv_inertia;
    double *shift, *shift_next, *shift_trial; /* [6 rigid] m: displacement of free bodies by forces */
    double *value, *moved;                    /* [rows] m; [6 rigid] m */
    int level;                                /* of convex: share of negative curvature that is left out */
    tl_contact_box *box; /* [blocks] of joints, behind contacts and bonds, with impulses as the problem has them */
    int32_t blocks;
    int32_t bonds;
    tl_lg_exact_bond *bond;
    double firm;  /* preloads over the forces that there are, see TL_LG_EXACT_FIRM */
    int64_t *col; /* [most] entries of a row */
    double *val;
    double *unload; /* [rows] N: the opposite of preloads */
} tl_lg_exact_problem;

/* Unknown are displacements over h, m/s; forces times he^2 / h. */
talus_status tl_lg_exact_pose(tl_lg_exact_problem *s, tl_arena *a, talus_error *err);
/* Values of J and of its transpose, whose pattern stays. */
void tl_lg_exact_rows(tl_lg_exact_problem *s);
/* Tension and pressure bend forces as well. Without: other users of the matrix ask for the material alone. */
void tl_lg_exact_load(const tl_lg_exact_problem *s, bool with);
/* What bends down too much has no factor: then with less of its negative part. */
talus_status tl_lg_exact_factor(tl_lg_exact_problem *s, talus_error *err);
/* Displacements of free bodies that these forces make; `joints`: those of joints too. */
void tl_lg_exact_shift(const tl_lg_exact_problem *s, const double *force, bool joints, double *shift);
/* Where the last correction led joints: what their rows are, and start from. */
talus_status tl_lg_exact_look(tl_lg_exact_problem *s, bool renew, talus_error *err);
/* Velocities of their rows, biases included, with free bodies moved by `shift` beyond their flight; to [all rows]. */
void tl_lg_exact_join(tl_lg_exact_problem *s, const double *shift, double *to);
/* Gaps and slips with free bodies moved by `shift` beyond their flight; NULL: not moved. */
void tl_lg_exact_values(tl_lg_exact_problem *s, const double *q, const double *shift);

#endif
