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
 * Certificate, from the problem alone: what the outflow misses, over what pressure has to undo; natural map of the
 * contacts and balance of the solids, m/s; cones as of kind "coupled". */
#ifndef TL_SOLVE_DUAL_PROBLEM_H
#define TL_SOLVE_DUAL_PROBLEM_H

#include "solve/coupled/problem.h"
#include "solve/flex/problem.h"
#include "solve/pressure/problem.h"

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

typedef struct tl_dual {
    /* the liquid */
    tl_pressure pressure;                            /* S and its bounds; the rest is filled in by the solver */
    void (*field)(const void *ctx, double *g);       /* g [cells]: outflow of u as it is, 1/s */
    void (*push)(const void *ctx, const double *dp); /* u after a change of p */
    const void *ctx;
    double per_g, per_u, impulse; /* as of kind "coupled": per_g = per_u impulse */
    const double *outflow;        /* [cells] of the solids at dv = 0, 1/s */
    const tl_csr *Z, *Zt;         /* [n + 6 rigid][cells], [cells][n + 6 rigid], 1/m */
    /* the solids */
    const tl_flex *flex;       /* g and c without pressure */
    const double *modes;       /* [n][6] fields of velocities, each of one part */
    const tl_dual_cones *sand; /* NULL: none */
} tl_dual;

typedef struct tl_dual_certificate {
    double pressure; /* max |min(d p, g)| / max |b| */
    double stress;   /* of cones; 0 without */
    tl_flex_certificate solids;
} tl_dual_certificate;

#endif
