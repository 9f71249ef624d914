/* Elastic bodies in the coupled problem of a liquid: what their nodes' velocities do to cells, and pressures to nodes.
 *
 *     outflow of cells   g = -G^T (W_F u + J v_rigid) + F^T v          v: velocities of nodes
 *     force on nodes     dx^3 F p
 *
 * Three forms of F, with P the pieces of the cut surface (each presses with the pressure of its cell), S and c covered
 * part of a face and its centroid, W the weight of the step, B_x interpolation of node velocities to x:
 *
 *     hybrid       F^T = P^T - G^T J_p,  J_p = (W - S) B_f - S (B_c - B_f)
 *     cut          F^T = P^T                     loses rotations
 *     complement   F^T = -G^T W B_f              makes the solid's part of a cut cell incompressible
 *
 * Hybrid keeps linear and angular momentum to rounding for any W in [0, 1], and for rigid motion it is what rigid
 * bodies have. [elasto-monolith spec 17.1] Beside a surface, B_f is the nearest place of it and the spin of the nodes
 * around: exact for rigid motion, weights near one.
 *
 * One pressure per cell makes buoyancy of first order: the offset adds the hydrostatic difference between where a piece
 * is and its cell's centre, in liquid that something holds. In liquid that falls there is no such difference. */
#ifndef TL_MODEL_COUPLING_SOFT_H
#define TL_MODEL_COUPLING_SOFT_H

#include "model/coupling/liquid.h"
#include "scene/scene.h"

typedef struct tl_soft_domain {
    const tl_skins *skins; /* cut */
    const tl_grid *grid;
    const tl_fractions *fractions;
    const tl_pieces *pieces; /* NULL: all liquid is held */
    const tl_system *system;
    tl_vec3 gravity;
    tl_soft_form form;
    bool plain; /* without offset, for comparison */
} tl_soft_domain;

typedef struct tl_soft {
    int32_t nodes;
    tl_csr Ft;      /* [cells of the system][3 nodes] 1/m */
    tl_csr F;       /* [3 nodes][cells] */
    double *offset; /* [3 nodes] N */
} tl_soft;

/* In the arena. */
talus_status tl_soft_build(tl_soft *out, const tl_soft_domain *d, tl_arena *a, talus_error *err);

/* Elastic bodies as stress meets them: J [faces of the system][3 nodes], W times the velocity at a face's centre. What
 * acts on a face acts on nodes by its transpose, so that linear and angular momentum are exchanged exactly; rigid
 * motion is what rigid bodies have. (Pressure has `Ft`.) In the arena. */
talus_status tl_soft_faces(tl_csr *J, const tl_soft_domain *d, tl_arena *a, talus_error *err);

/* What faces do not say of the stress in cells that a surface cuts: C [3 cells][3 nodes], 1/m, a row per cell and axis.
 * Faces put the normal stress of a cell along an axis on the places that are nearest to their centres, on the sides of
 * a block as much as on its top; C takes it to the pieces of the surface inside of the cell, as `Ft` does with
 * pressure. Rigid motion is not in it. In the arena. */
talus_status tl_soft_surface(tl_csr *C, const tl_soft_domain *d, tl_arena *a, talus_error *err);

/* T = A^T, in the arena. */
talus_status tl_soft_transpose(tl_csr *T, const tl_csr *A, tl_arena *a, talus_error *err);

#endif
