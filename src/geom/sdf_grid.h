/* A narrow band of signed distance on a regular grid: what contact detection and volume fractions read.
 *
 * Trilinear values; the gradient is the exact gradient of the interpolant, so the two never disagree. Blocks of 8^3
 * cells are kept only where they come within `band` of the surface: memory grows with the surface's area. Beyond, the
 * distance is a lower bound with the right sign, and the gradient that of a coarser interpolant (one value per block
 * corner); outside of the grid both are those of the shape's box. Values are floats. */
#ifndef TL_GEOM_SDF_GRID_H
#define TL_GEOM_SDF_GRID_H

#include "geom/shape.h"

typedef struct tl_sdf_grid tl_sdf_grid;
/* Bounded shapes only; cell > 0, band >= 0 (m). Costs one distance per sample of the kept blocks. */
talus_status tl_sdf_grid_create(tl_sdf_grid **out, const tl_shape_tree *t, int node, double cell, double band,
                                talus_error *err);
void tl_sdf_grid_free(tl_sdf_grid *g);
double tl_sdf_grid_distance(const tl_sdf_grid *g, tl_vec3 p);
tl_vec3 tl_sdf_grid_gradient(const tl_sdf_grid *g, tl_vec3 p); /* not normalised: d distance / d p */
size_t tl_sdf_grid_bytes(const tl_sdf_grid *g);

#endif
