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

/* Where edges may be. */
typedef struct tl_edge_domain {
    const tl_grid *grid;
    const tl_active *active; /* number: of cells with an unknown */
    const double *fill;      /* [cells] as in tl_faces */
    const tl_liquid *liquid; /* with edges */
    const tl_fractions *fractions;
    bool staggered; /* those of tl_active_edge; else every edge that touches one of these cells and obeys the rule */
    tl_edge_rule rule;
} tl_edge_domain;

talus_status tl_edges_find(tl_edges *out, const tl_edge_domain *d, tl_arena *a, talus_error *err);

/* The four faces that end at an edge, as in tl_stress_edge: axes and ids. */
void tl_edge_faces(const tl_grid *g, int axis, int32_t id, int face_axis[4], int32_t face_id[4]);

/* d->liquid NULL: all cells weigh one; fill and fractions are not read. */
talus_status tl_stress_build(tl_stress *out, const tl_edges *e, const tl_edge_domain *d, const tl_face_lists *lists,
                             tl_arena *a, talus_error *err);

#endif
