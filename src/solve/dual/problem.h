/* Kind "dual": pressure of a liquid, contact and friction of elastic and rigid solids in one problem, around one
 * linearisation of the solids.
 *
 *     H dv = -g + J^T lam + impulse Z p                 solids: kind "flex"
 *     u    = u* - dt mobility G p                       liquid: the caller's
 *     0 <= p  _|_  field(u) + outflow + Z^T dv >= 0     net outflow of cells (p >= 0 where liquid may leave its walls)
 *     Signorini and Coulomb between lam and c + J dv
 *
 * Solids, elastic or rigid, enter by H, Z and J alone. Eliminated they leave A = S + per_u Y^T H^-1 Y over p and lam,
 * Y = [impulse Z, J^T]: one solve with the factors of H per product. A is preconditioned by that of the pressure with
 * the diagonal of Y^T diag(H)^-1 Y added, and the part of A that `modes` span, six per body, is put right by
 * Woodbury's formula on p and lam together. [elasto-monolith spec 5, 17.3]
 *
 * Sand has a stress besides: the block of cones of kind "coupled", at frozen p. Its Hessian has the solids eliminated
 * too; what it does to them is a load beside that of p.
 *
 * A viscous liquid has a stress beside its pressure, s = 2 N D^T (W_F u + fixed + S dv), which acts on liquid and solids
 * alike; pressure may then pull. Stress and pressure are solved with the velocities as unknowns (kind "viscous"), where H
 * and what viscosity adds to it make the block of the solids.
 *
 * Certificate, from the problem alone: what the outflow misses, over what pressure has to undo; natural map of the
 * contacts and balance of the solids, m/s; cones as of kind "coupled". */
#ifndef TL_SOLVE_DUAL_PROBLEM_H
#define TL_SOLVE_DUAL_PROBLEM_H

#include "solve/coupled/problem.h"
#include "solve/flex/problem.h"
#include "solve/pressure/problem.h"
#include "solve/viscous/problem.h"

#define TL_DUAL_MODES 6 /* per part */

/* Stress of sand. */
typedef struct tl_dual_cones {
    tl_cones *cones;                             /* `push` moves what flows alone */
    void (*load)(const void *ctx, double *load); /* load [n + 6 rigid] N s += what s does to solids; ctx: cones' */
    int64_t faces;
    const double *u, *mass, *u_free; /* [faces] as of now; any unit; before any force */
    double *u_last;                  /* [faces] scratch */
    double spacing;                  /* m, over which a difference of u is one of g */
} tl_dual_cones;
/* The liquid's, in increments at the velocities as they are. */
typedef struct tl_dual_viscous {
    tl_viscous problem;                /* others: dv of the solids. `inverse` is filled in by the solver */
    void (*begin)(const void *liquid); /* u has no force of pressure and stress in it yet */
    const void *liquid;
    /* b of an increment; rest [n + 6 rigid], N s: what solids lack of their balance with the stress in force */
    void (*residual)(const void *ctx, const double *dv, const double *rest, double *b);
    void (*take)(const void *ctx, const double *b, const double *x, double *p, double *dv);
    void (*renew)(const void *ctx, const double *dv); /* the stress of the velocities is in force */
    void (*load)(const void *ctx, double *load);      /* += impulses of the stress in force, N s */
    void (*unbalanced)(const void *ctx, const double *dv, double *largest, double *error); /* m/s, of faces */
    /* H and what viscosity adds to it, and about its inverse */
    void (*solids_product)(const void *ctx, const double *x, double *y);
    talus_status (*solids_inverse)(const void *ctx, const double *r, double *z, talus_error *err);
    const double *drag;     /* [n + 6 rigid] kg, at least that on the diagonal */
    double spacing, volume; /* of a cell */
    const void *ctx;
} tl_dual_viscous;

typedef struct tl_dual {
    /* the liquid */
    tl_pressure pressure;                            /* S and its bounds; the rest is filled in by the solver */
    void (*field)(const void *ctx, double *g);       /* g [cells]: outflow of u as it is, 1/s */
    void (*push)(const void *ctx, const double *dp); /* u after a change of p */
    const void *ctx;
    int32_t faces;
    const double *u;              /* [faces] the caller's, as of now: what rounding leaves of its outflow is nothing */
    double spacing;               /* of faces, m */
    double per_g, per_u, impulse; /* as of kind "coupled": per_g = per_u impulse */
    const double *outflow;        /* [cells] of the solids at dv = 0, 1/s */
    const tl_csr *Z, *Zt;         /* [n + 6 rigid][cells], [cells][n + 6 rigid], 1/m */
    /* the solids */
    const tl_flex *flex;            /* g and c without pressure */
    const double *modes;            /* [n][6] fields of velocities, each of one part */
    const tl_dual_cones *sand;      /* NULL: none */
    const tl_dual_viscous *viscous; /* NULL: the liquid is not */
} tl_dual;

typedef struct tl_dual_certificate {
    double pressure; /* max |min(d p, g)| / max |b| */
    double
        stress; /* of cones; viscous: how far a face is from its balance, over the most that viscous forces do to one */
    tl_flex_certificate solids;
} tl_dual_certificate;

#endif
