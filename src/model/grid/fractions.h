/* How much of each dx-cube around a cell, face or edge is solid, and how much of the world is liquid there.
 *
 * Everything is built from eighths of cells: cubes of dx/2 with corners on the half lattice. The part of an eighth
 * below the plane that fits the distance there is exact for planes of any direction; cells, faces and edges take the
 * mean of their eight. So fractions of cells, of x-faces, ... each add up to the same volume. A second family, areas of
 * faces, serves the liquid mode: one family per step.
 *
 * Eighths and areas of elastic bodies are those of their cut surfaces (geom/clip.h), exact for the triangles.
 *
 * Per face: open + sum over listed solids + fixed + soft = 1, to rounding. Overlaps are scaled back, an opening below
 * 1e-6 is closed. */
#ifndef TL_MODEL_GRID_FRACTIONS_H
#define TL_MODEL_GRID_FRACTIONS_H

#include "model/grid/solids.h"
#include "model/grid/state.h"

typedef enum tl_weight_family { TL_WEIGHT_VOLUME, TL_WEIGHT_AREA } tl_weight_family;

#define TL_OPEN_FLOOR 1e-6 /* W_F below is 0 [grid-granular spec 3.1] */

/* Faces that a body covers, as a list. Body k, axis a: entries start[3 k + a] .. start[3 k + a + 1], ascending by
 * face. Only bodies that move (free and kinematic) have entries; static ones and walls are in `fixed`. */
typedef struct tl_covers {
    int32_t bodies;
    int64_t *start; /* [3 bodies + 1] */
    int32_t *face;
    double *weight; /* W_S,k in (0, 1] */
} tl_covers;

typedef struct tl_fractions {
    tl_weight_family family;
    double *open[3];      /* [cells] W_F; ghost: 1 */
    double *fixed[3];     /* [cells] W of static bodies and walls together */
    double *soft[3];      /* [cells] W of elastic bodies together; NULL: there are none */
    double *solid_cell;   /* [cells] W_S^p, all solids, by volume in both families; ghost: 0 */
    double *solid_kernel; /* [cells] share of all solids in the hat kernel around the centre; ghost: 0 */
    tl_covers covers;
} tl_fractions;

talus_status tl_solid_fractions(const tl_grid *g, const tl_solids *s, tl_weight_family family, tl_arena *a,
                                tl_fractions *out, talus_error *err);

/* Part of the cube around each edge that is solid, by volume, all solids: out [3][cells], edges by the cell at whose
 * lower end they lie; ghost: 0. */
talus_status tl_solid_edges(const tl_grid *g, const tl_solids *s, tl_arena *a, double *out[3], talus_error *err);

/* Part of a face that one elastic body covers by itself, before overlaps are scaled back: by area or by volume, within
 * [0, 1]. */
double tl_skin_weight(const tl_clip *c, tl_weight_family family, int axis, const int32_t cell[3]);

/* Liquid: W_L, or 0/1 by sign at the centre when `binary` (figure 2 of [FM21]). No clamps here: floors are the
 * operators' choice. */
typedef struct tl_liquid {
    double *cell;    /* [cells] W_L^p; ghost 0 */
    double *face[3]; /* [cells] W_L^u */
    double *edge[3]; /* [cells] W_L^e; NULL unless wanted */
} tl_liquid;
talus_status tl_liquid_fractions(const tl_grid *g, const double *phi, bool binary, bool faces, bool edges, tl_arena *a,
                                 tl_liquid *out, talus_error *err);

/* Part of the unit cube centred at 0 where c + g.x < 0. Exact. */
double tl_plane_in_cube(double c, const double g[3]);
/* Same for the unit square. */
double tl_plane_in_square(double c, const double g[2]);

#endif
