/* Viscous stress with solids that a problem of their own solves (kind "dual"): elastic bodies and rigid ones are one
 * vector dv [n] of velocities on top of those at hand, with the matrix H.
 *
 *     e = D^T (W_F u + fixed + S dv)                       strain of the blend
 *     M (u - base) + dt W_F (G p + D s) = 0                liquid
 *     H dv / dx^3 + dt S^T D s - dt Z p = rest             solids
 *
 * S: what a solid's motion is on faces, weights in the complement form; Z: what pressure does to solids, hybrid form.
 * Both close for rigid motions, so that bodies and liquid that move or turn together are not strained.
 * [elasto-monolith spec 17.1 row V11] */
#ifndef TL_MODEL_COUPLING_VISCOUS_SOFT_H
#define TL_MODEL_COUPLING_VISCOUS_SOFT_H

#include "model/coupling/viscous.h"
#include "solve/dual/problem.h"

typedef struct tl_viscous_soft {
    tl_viscous_stress *stress;
    int64_t n, rigid;                                             /* velocities; of these the last 6 per rigid body */
    const double *gyration;                                       /* [rigid / 6] m, > 0 */
    const tl_csr *S, *St;                                         /* [faces][n], [n][faces] */
    const tl_csr *Z, *Zt;                                         /* [n][cells], [cells][n] 1/m */
    const double *fixed;                                          /* [faces] at dv = 0 */
    const double *outflow;                                        /* [cells] at dv = 0, 1/s */
    void (*inertia)(const void *ctx, const double *x, double *y); /* y = H x */
    /* z = about (H + drag)^-1 r of what deforms: the first n - 6 rigid */
    talus_status (*inverse)(const void *ctx, const double *r, double *z, talus_error *err);
    void *ctx;
    /* filled in */
    const double *solid; /* as in tl_viscous */
    double *z;           /* [n] scratch */
    double *drag;        /* [n] kg, kg m^2: at least what viscosity adds to H, on its diagonal */
} tl_viscous_soft;

/* What is above `filled in` is given; f->p [cells] as in tl_viscous_coupled. Keeps the pointers. */
talus_status tl_viscous_soft_make(tl_dual_viscous *out, tl_viscous_soft *v, const double *p, tl_arena *a,
                                  talus_error *err);

#endif
