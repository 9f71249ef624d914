/* Signed distance of a general shape as contact reads it: smooth, with its gradient, in tens of nanoseconds.
 *
 * Shapes of few primitives are asked themselves. Others are sampled on a lattice and read as a quadratic B-spline:
 * value and gradient are continuous, so that contact normals turn smoothly as a body moves, which trilinear values do
 * not give. The coefficients are corrected such that quadratics are reproduced: the error is of third order on smooth
 * surfaces; edges are rounded by about a quarter of a cell. The whole box of the shape is kept, at most TL_FIELD_MAX
 * values; away from the surface they are read between every fourth lattice point. */
#ifndef TL_GEOM_COLLIDE_FIELD_H
#define TL_GEOM_COLLIDE_FIELD_H

#include "geom/shape.h"

#define TL_FIELD_MAX (1 << 20) /* 4 MB; a finer cell is made coarser until it fits */

typedef struct tl_field {
    const tl_shape_tree *t; /* must outlive the field */
    int node;
    bool exact; /* values from the shape; the lattice, if there is one, only bounds them */
    bool tight; /* outside of the shape its distances are true ones, not lower bounds (geom/shape.h) */
    double cell;
    tl_box3 box; /* of the shape */
    tl_vec3 origin;
    int n[3];     /* lattice points; 0: none */
    float *value; /* [n2][n1][n0] coefficients */
    int m[3];     /* blocks of four cells along an edge */
    float *rough; /* [m2][m1][m0] distance in the middle of a block */
} tl_field;

/* `cell`: spacing of contact points; the lattice is four times as fine where distances are read from it. */
talus_status tl_field_create(tl_field *out, const tl_shape_tree *t, int node, double cell, talus_error *err);
void tl_field_free(tl_field *f);

/* Distance and plain gradient (not normalised; may be NULL). Outside of the lattice: from the surface point that its
 * border names. */
double tl_field_at(const tl_field *f, tl_vec3 p, tl_vec3 *gradient);
/* True when the distance is surely more than `reach`: mostly by a lattice so rough that it stays in the cache. */
bool tl_field_is_far(const tl_field *f, tl_vec3 p, double reach);

#endif
