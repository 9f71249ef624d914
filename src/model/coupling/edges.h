/* Which edges of the grid carry a shear stress, and the lists of a tl_stress. Done in two parts: edges first, for
 * they add faces to the coupled problem; their places in the lists of faces when these are numbered. */
#ifndef TL_MODEL_COUPLING_EDGES_H
#define TL_MODEL_COUPLING_EDGES_H

#include "model/coupling/stress.h"
#include "model/grid/active.h"

typedef struct tl_edges {
    int32_t count;
    int32_t *id;    /* [count] cell at whose lower end the edge lies; by axis, then id */
    int8_t *axis;   /* [count] */
    double *weight; /* [count] W_L^e */
    int32_t *of[3]; /* [grid cells] number of an edge, -1: off */
} tl_edges;

/* `liquid` with edges. active->number: of cells with an unknown. staggered: those of tl_active_edge; else every edge
 * that touches one of these cells and obeys the rule. */
talus_status tl_edges_find(tl_edges *out, const tl_grid *g, const tl_active *active, const double *fill,
                           const tl_liquid *liquid, const tl_fractions *f, bool staggered, tl_edge_rule rule,
                           tl_arena *a, talus_error *err);

/* The four faces that end at an edge, as in tl_stress_edge: axes and ids. */
void tl_edge_faces(const tl_grid *g, int axis, int32_t id, int face_axis[4], int32_t face_id[4]);

/* of [3][grid cells]: number of a face in the lists, -1: none. c: cells, faces. liquid NULL: all cells weigh one. */
talus_status tl_stress_build(tl_stress *out, const tl_edges *e, const tl_grid *g, const tl_active *active,
                             const tl_liquid *liquid, const tl_coupling *c, int32_t *const of[3],
                             const int32_t *face_id, const int8_t *face_axis, bool staggered, tl_edge_rule rule,
                             tl_arena *a, talus_error *err);

#endif
