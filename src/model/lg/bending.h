/* Bending of cloth as quadratic stencils: energy 1/2 weight |sum c_k x_k|^2, zero at rest where that is flat.
 *
 * Where a hinge is bent at rest, the target is not zero but the rest vector turned with the cloth: c.x of an
 * unstretched hinge is the sum of two unit vectors, both square to the edge, and so points along the mean normal n of
 * its triangles: energy 1/2 weight |c.x - beta n|^2, beta the rest value. Its gradient takes the turning of n along, so
 * that forces keep momentum and angular momentum.
 *
 * k is in N m: rolled to a cylinder, a sheet has k/2 curvature^2 per area.
 *
 *     hinge  per interior edge: c.x is the angle between its triangles (to first order), weight k |e|^2 / (A1 + A2), which is exact on equilateral triangles. On squares of four
 *            triangles, with their middle nodes free to find their place, an edge of squares counts 2/3 of that and a diagonal 4/3: then bending is the same in all
 *            directions and exactly k for a plate that is held at its rim (derived: per square, with weights a of edges and b of diagonals, the energy is that of
 *            1/2 a (xx - yy)^2 + 1/2 ab/(a + b) (xx + yy)^2 + 2 b xy^2, curvatures xx, yy, xy). Poisson's ratio of bending is -1/3 on both, so a
 *            free strip is 11 % softer than a held plate: both are off by about half of that.
 *            At the rim of a clamp, a triangle with all its nodes on one handle, the sheet is level right to the edge: the angle there is one over half the distance, half the
 *            area has that curvature, and the hinge counts twice. (A chain of nodes x_i h apart, clamped up to x_1: mirrored, curvature 2 x_2 / h^2 over h/2.)
 *     ring   curvature tensors of triangles from the angles at their edges, and their means over squares: Poisson's ratio 0. Rest shapes that are not flat have hinges. */
#ifndef TL_MODEL_LG_BENDING_H
#define TL_MODEL_LG_BENDING_H

#include "model/lg/lg.h"

#define TL_BENDING_NODES 512 /* of one stencil */

typedef struct tl_bending {
    int32_t count;
    int32_t *start; /* [count + 1] */
    int32_t *node;  /* [start[count]] vertices of the part */
    double *c;      /* [start[count]] 1/m (hinge), - (ring) */
    double *weight; /* [count] */
    double *beta;   /* [count] 0: flat at rest */
} tl_bending;

/* Nothing for solids and limp cloth. Refuses edges of three triangles, and rings of rest shapes that are not flat. */
talus_status tl_bending_make(tl_bending *out, const tl_lg_part *p, talus_error *err);
void tl_bending_free(tl_bending *b);
/* Force of hinge h at its four nodes beyond that of K, N (NULL: not wanted), and the energy beyond that of K, J. */
double tl_lg_hinge_force(const tl_lg_hinge *h, const tl_vec3 x[4], tl_vec3 force[4]);
/* Pairs of nodes over all stencils. */
int64_t tl_bending_pairs(const tl_bending *b);

#endif
