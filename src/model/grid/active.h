/* Which cells carry a pressure, and which edges a shear stress. [grid-granular spec 3.5] */
#ifndef TL_MODEL_GRID_ACTIVE_H
#define TL_MODEL_GRID_ACTIVE_H

#include "model/grid/fractions.h"
#include "model/grid/state.h"

#define TL_ACTIVE_FILL 0.4   /* of rho0: filling + W_S^p [FM21 4.1.1] */
#define TL_ACTIVE_LIQUID 0.1 /* W_L^p; a sliver in a wall cell otherwise gives pressures of 1e16 Pa */

/* Compact numbering of active cells, ascending by id. */
typedef struct tl_active {
    int32_t count;
    int32_t *cell;    /* [count] ids */
    int32_t *number;  /* [cells] of each cell, -1: not active; ghost -1 */
    uint8_t *edge[3]; /* [cells] 1: carries a staggered shear stress; NULL unless wanted */
} tl_active;

talus_status tl_active_cells(const tl_grid *g, const double *fill, const tl_liquid *l, const tl_fractions *f,
                             bool edges, tl_arena *a, tl_active *out, talus_error *err);

/* Whether a staggered shear stress lives on edge `cell` of axis k: by the four cells around it and the four faces
 * that end at it. */
bool tl_active_edge(const tl_grid *g, const double *fill, const tl_liquid *l, const tl_fractions *f, int k,
                    int32_t cell);

/* Pressures of the last step on today's active cells, in whatever order these are numbered: p [active->count], 0 for
 * cells that had none. Returns how many had one. stress [active->count][5] likewise; NULL: not wanted. */
int32_t tl_active_recall(const tl_grid *g, const tl_active *s, const tl_grid_state *past, double *p, double *stress);
/* The other way, into `to` with room for them (tl_grid_state_reserve_memory). */
void tl_active_remember(const tl_grid *g, const tl_active *s, const double *p, const double *stress, tl_grid_state *to);

#endif
