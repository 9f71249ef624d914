/* Kind "coupled": blocks of one energy, each the unknown of a kind of its own.
 *
 *     p >= 0     _|_  g = -G^T (W u + J v)  >= 0        kind "pressure": a field, on cells
 *     lam_n >= 0 _|_  B_n^T v + bias        >= 0,  and lam_t minimises the energy over |lam_t| <= mu lam_n at frozen lam_n        kind "contact"
 *     lam_k minimises the energy and 1/2 give lam_k^2 over lo <= lam_k <= hi        rows of joints, the last blocks of kind "contact"
 *     s          minimises the energy over cones whose radii follow p, at frozen p        kind "cone"; may be missing
 *     s = 2 N D^T (W u + J v)     together with p, which then is free        kind "viscous"; may be missing, never with cones
 *
 * Velocities u of the field are the caller's, six per body are in v; all forces act on both. Blocks work on
 * velocities as they are and push increments, so that any order may follow any other, and an answer is certified on
 * the whole problem at its final velocities, whatever the last block was. [FM21 sec. 4.3, 5.3] */
#ifndef TL_SOLVE_COUPLED_PROBLEM_H
#define TL_SOLVE_COUPLED_PROBLEM_H

#include "base/work.h"
#include "solve/cone/problem.h"
#include "solve/contact/problem.h"
#include "solve/pressure/problem.h"
#include "solve/viscous/problem.h"

/* G^T J, what a unit velocity of a body does to cells: sparse columns, six per body. One row per cell and body. */
typedef struct tl_body_cells {
    int32_t bodies, rows;
    int32_t *first; /* [bodies + 1] into cell */
    int32_t *cell;  /* [rows] rising within a body */
    double *val;    /* [rows][6] */
    uint8_t *wet;   /* [bodies] has rows, of several parts in any */
    double *blocks; /* [6 (rows / TL_BODY_CELLS_BLOCK + 1)] scratch of gathers */
} tl_body_cells;
#define TL_BODY_CELLS_BLOCK 2048 /* rows per partial sum of a gather */

/* The block of cones. */
typedef struct tl_cones {
    int64_t n;
    int32_t groups;
    double *s;                                            /* [n] start in, in force already; answer out */
    tl_cone (*problem)(const void *ctx, const double *p); /* at p and the velocities as they are: its answer is s */
    void (*push)(const void *ctx, const double *ds);      /* velocities after a change of s */
    const void *ctx;
    tl_cone_parts *parts; /* NULL: the problem has none */
    const struct tl_cone_method *method;
    int iterations; /* of one solve, at most */
    /* kept between solves, tl_cones_begin */
    double *before, *ds; /* [n] */
    double max;          /* largest radius that a solve had */
    double learned;      /* by apgd of the matrix, which is the same in all sweeps */
} tl_cones;

/* The block of a viscous liquid: stress and pressure at once. */
typedef struct tl_coupled_viscous {
    tl_viscous problem;
    void (*begin)(const void *ctx);               /* velocities are as they are without p and s */
    void (*residual)(const void *ctx, double *b); /* right side of an increment, at the velocities as they are */
    void (*take)(const void *ctx, const double *b, double *x, double *scratch, double *p); /* p, s, u, v after it */
    /* m/s, at the velocities as they are: the largest that viscous forces do to a face in the step, and how far one is
     * from its balance, others held */
    void (*unbalanced)(const void *ctx, double *largest, double *error);
    const void *ctx;
} tl_coupled_viscous;

/* How well an answer solves the whole problem, from the velocities of the end alone. Zero is exact; a block without
 * unknowns is exact. Each block is measured against its own b: the largest entry of what it has to undo, before any
 * force or given the other blocks' answers, whichever is more. One |b| for both would measure the field against what
 * a heavy body on the floor needs, which is larger by sqrt(6 m / (rho dx^3)) in the scaled unknowns; and b before
 * any force alone is 0 for a liquid that falls together with its vessel. */
typedef struct tl_coupled_certificate {
    double pressure; /* max |min(d p, g)| / max |b_p|, d: diagonal of the Hessian */
    double normal;   /* the same of lam_n */
    /* rows of joints: natural map of kind "contact", over the fastest that they have to undo. What is below the
     * tolerance of a solve of contacts alone is exact enough */
    double joint;
    /* cones: gap of s at frozen p over its energy, or how far outside of its cones, over the largest. Viscous: how
     * far a velocity is from the balance of its face, others held, over the largest that viscous forces do to one */
    double stress;
    double tangent; /* gap of lam_t at frozen lam_n over its energy, or a tenth of what these could do */
} tl_coupled_certificate;

typedef struct tl_coupled {
    /* the field */
    tl_pressure pressure;                            /* S and its bounds; b and E are filled in by the solver */
    double *p;                                       /* [n] start in, answer out */
    void (*gradient)(const void *ctx, double *g);    /* g [n] at the velocities as they are */
    void (*push)(const void *ctx, const double *dp); /* u and v after a change of p */
    const void *ctx;
    double per_g;      /* from g to the units of S */
    double per_u;      /* from a row of a contact to these, before its own scale */
    double impulse;    /* of bodies: M dv = -impulse (G^T J)^T dp */
    tl_body_cells wet; /* G^T J of free bodies */
    int64_t faces;
    const double *u;    /* [faces] as of now */
    const double *mass; /* [faces] of u, in any unit; NULL without cones */
    double spacing;     /* over which a difference of u is one of g */
    /* bodies and their contacts */
    tl_contact contact;
    tl_contact_bodies bodies;    /* v_free: without any force of this problem */
    const double *bias;          /* [3m] */
    double *lam;                 /* [3m] start in, answer out */
    double *v;                   /* [6 bodies] as of now; the answer at the end */
    tl_cones *cones;             /* NULL: none */
    tl_coupled_viscous *viscous; /* NULL: none */
    /* how it is to be solved */
    const struct tl_scheme *scheme; /* NULL: chosen from the masses */
    const struct tl_pressure_method *pressure_method;
    const struct tl_contact_method *contact_method;
    bool warm;                /* p is worth starting from */
    bool plain_sweeps;        /* those of a field with contacts are not mixed, for comparison */
    double tolerance;         /* of the certificate */
    double contact_tolerance; /* of one solve of contacts, in the units of v */
    int sweeps;               /* at most; 0: the scheme's own */
    int pressure_iterations;  /* at most per solve; 0: the method's own */
    int contact_iterations;
    tl_history *history; /* [2] of field and contacts, or NULL */
    tl_arena *arena;
    struct tl_coupled_work *work; /* of the solver */
} tl_coupled;

#endif
