/* Sorting particles into cells of edge 2h.
 *
 * A place is rounded to 2h / 2^22 and split into its cell and its place in the cell: differences of neighbours are
 * then exact in float, so a pair is found by both or by none, and what i sees of j is the exact opposite of what j
 * sees of i. */
#ifndef TL_MODEL_SPH_CELLS_H
#define TL_MODEL_SPH_CELLS_H

#include "model/sph/sph.h"

#define TL_SPH_UNITS 4194304.0  /* 2^22 per cell */
#define TL_SPH_BEYOND 16        /* items that may be read after the last of a sorted array */
#define TL_SPH_CELL_MAX 8388608 /* 2^23: farther from the origin is a mistake */

/* Room for a count that changes from step to step: whole steps of a sixteenth, so that the memory of one step fits
 * the next ones. */
static inline int64_t tl_sph_roomy(int64_t n)
{
    int64_t step = 1024;
    while (16 * step < n) step *= 2;
    return (n + step - 1) / step * step;
}

/* Places of particles. */
typedef struct tl_sph_places {
    int32_t count;
    const void *x; /* the first tl_vec3 */
    size_t stride; /* bytes from one to the next */
} tl_sph_places;

/* order [count], out: particle that comes k-th. Equal cells keep their order. Everything from the arena. bad: -1, or a
 * particle whose place cannot be, then nothing is sorted. */
talus_status tl_sph_sort(tl_sph_sorted *out, const tl_sph_places *p, double h, int32_t *order, int32_t *bad,
                         tl_arena *a, talus_error *err);

/* The cell of the table, along one axis, that holds what is in cell c. */
static inline int32_t tl_sph_cells_inside(const tl_sph_cells *t, int axis, int32_t c)
{
    int32_t k = c - t->low[axis];
    return k < 0 ? 0 : k >= t->n[axis] ? t->n[axis] - 1 : k;
}

/* Cells of the table, along one axis, that hold neighbours of something in cell c: first to last. */
static inline void tl_sph_cells_around(const tl_sph_cells *t, int axis, int32_t c, int32_t *first, int32_t *last)
{
    *first = tl_sph_cells_inside(t, axis, c - 1);
    *last = tl_sph_cells_inside(t, axis, c + 1);
}

#endif
