/* Where liquid is: a signed distance at cell centres from the filling of cells.
 *
 * Differs from [FM21], which averages particle places (Zhu and Bridson): the hat-kernel filling of a half-space at
 * depth d (in cells) is 1 - (1-d)^2/2, so a filling has a depth. Of a flat pool that is exact whatever the sampling's
 * noise adds up to, and the volume inside the zero level follows the particles' volume (tests/unit/grid_levelset.c),
 * where radii of particles inflate it. Distances are clamped to one cell both ways; zero crossings and slopes between a
 * cell inside and one outside are what fractions and ghost-fluid distances need.
 *
 * The part of the kernel that lies in solids does not count: what particles put into cells in solids is folded back
 * to its mirror image, and the filling is measured against that of a full pool, folded likewise. Cells whose centre
 * is in a solid, up to 1.25 cells deep, take the value of the nearest place outside, half a particle spacing off the
 * surface; cells in the gap between two solids that of the cells beyond their open faces; deeper cells, and those
 * that a thin solid separates from that liquid, are air. */
#ifndef TL_MODEL_GRID_LEVELSET_H
#define TL_MODEL_GRID_LEVELSET_H

#include "model/grid/fractions.h"
#include "model/grid/state.h"

/* How full cells are: sums over cells are volumes, of particles and of what is outside of solids. */
typedef struct tl_fillings {
    double *fill;  /* [cells] of a cell's volume; what kernels put into solids is folded back; ghost: 0 */
    double *room;  /* [cells] the same of a full pool; ghost: 0 */
    uint8_t *deep; /* [cells] no air in the 27 cells around */
} tl_fillings;

/* Rules of how a surface is read near solids. Tests switch one off and see what it is there for. */
typedef struct tl_surface_rules {
    bool crowds; /* cells near slanted solids that hold what they have room for are not air */
    bool sides;  /* the two sides of a thin part of an elastic body have nothing to do with each other (sides.h) */
    /* along the gap between two solids, from the last one with its centre outside, that go on with the liquid */
    int wedge_cells;
} tl_surface_rules;
tl_surface_rules tl_surface_rules_default(void);

/* What a surface is read from. */
typedef struct tl_filled {
    const tl_grid *grid;
    const double *fill;            /* [cells] as in tl_faces */
    const tl_solids *solids;       /* NULL: none, and nothing of the next two */
    const tl_fractions *fractions; /* of solids */
    const float *solid_phi;        /* [cells] of tl_solids_field */
    double spacing;                /* of particles, m */
    const tl_particles *particles; /* sorted as the grid has them; NULL: sides of thin solids are not told apart */
    /* against gravity, unit, or 0 without any: surfaces at slanted solids are read as planes; NULL: they are extended
     * along the solid's normal (sand) */
    const tl_vec3 *up;
} tl_filled;

/* phi [cells] out: m, negative in liquid; ghost: +dx. excess (and full->deep) are of own cells only. excess [cells] out, or NULL: how much more than full a cell is,
 * of its volume. Below full counts only where no air is near, and cells that are mostly solid say nothing: 0. full
 * out, arrays in the arena. rules NULL: the defaults. */
talus_status tl_liquid_distance(const tl_filled *from, const tl_surface_rules *rules, tl_arena *a, double *phi,
                                double *excess, tl_fillings *full, talus_error *err);

/* Space that liquid takes up, m^3: all the room of cells that pressure keeps full, which have no air around; what is
 * in all others, at most their room (single cells are read to a tenth). So crowds read low and hollow liquid reads
 * high, unlike the sum of the particles' volumes, which cannot be wrong; and what moves as a whole, off a wall or
 * through the grid, reads the same wherever it is. pressed [cells]: 1 has a pressure above 0; NULL: all have. */
talus_status tl_liquid_volume(const tl_grid *g, const tl_fillings *full, const uint8_t *pressed, tl_arena *a,
                              double *out, talus_error *err);

/* Depth in cells of a flat surface whose hat-kernel filling is f: in [-1, 1], 0 at 1/2. */
double tl_depth_of_fill(double f);
double tl_fill_of_depth(double d); /* and back */

#endif
