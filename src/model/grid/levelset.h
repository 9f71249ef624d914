/* Where liquid is: a signed distance at cell centres from the filling of cells.
 *
 * Differs from [FM21], which averages particle places (Zhu and Bridson): the hat-kernel filling of a half-space at depth d (in cells) is
 * 1 - (1-d)^2/2, so a filling has a depth. Of a flat pool that is exact whatever the sampling's noise adds up to, and the volume inside the zero
 * level follows the particles' volume (tests/unit/grid_levelset.c), where radii of particles inflate it. Distances are clamped to one
 * cell both ways; zero crossings and slopes between a cell inside and one outside are what fractions and ghost-fluid distances need.
 *
 * The part of the kernel that lies in solids does not count: what particles put into cells in solids is folded back to its mirror image, and
 * the filling is measured against that of a full pool, folded likewise. Cells whose centre is in a solid, up to 1.25 cells
 * deep, take the value of the nearest place outside, half a particle spacing off the surface; cells in the gap
 * between two solids that of the cells beyond their open faces; deeper cells, and those that a thin solid
 * separates from that liquid, are air. */
#ifndef TL_MODEL_GRID_LEVELSET_H
#define TL_MODEL_GRID_LEVELSET_H

#include "model/grid/fractions.h"

/* phi [cells] out: m, negative in liquid; ghost: +dx. fill as in tl_faces, solid_phi of tl_solids_field, spacing of
 * particles, m. Without solids f and solid_phi may be NULL. up: against gravity, unit, or 0 without any: surfaces at
 * slanted solids are read as planes; NULL: they are extended along the solid's normal (sand). excess [cells] out, or
 * NULL: how much more than full a cell is, of its volume. Below full counts only where no air is near, and cells
 * that are mostly solid say nothing: 0. */
talus_status tl_liquid_distance(const tl_grid *g, const double *fill, const tl_fractions *f, const tl_solids *s,
                                const float *solid_phi, double spacing, const tl_vec3 *up, tl_arena *a, double *phi,
                                double *excess, talus_error *err);

/* Depth in cells of a flat surface whose hat-kernel filling is f: in [-1, 1], 0 at 1/2. */
double tl_depth_of_fill(double f);
double tl_fill_of_depth(double d); /* and back */

#endif
