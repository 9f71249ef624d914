/* Who owns which block of the grid, where a run has several parts (base/comm.h).
 *
 * Cubes of 2^shift blocks per edge stay together. They are numbered along a Morton curve, and each part owns a range of
 * these numbers, so that all parts know the owner of any place, and a part's blocks lie beside each other. Where the
 * curve is cut follows from counts of particles and cells alone, never from times: the same run is cut in the same
 * places. */
#ifndef TL_MODEL_OWNERS_H
#define TL_MODEL_OWNERS_H

#include "base/arena.h"
#include "base/comm.h"
#include "model/grid/grid.h"

typedef struct tl_owners {
    const tl_comm *comm; /* two parts or more */
    int shift;
    int64_t *splitter; /* [parts + 1] part p owns cubes with numbers from splitter[p] up to, without, splitter[p + 1] */
} tl_owners;

/* NULL: there is one part. */
static inline const tl_comm *tl_frame_comm(const tl_grid_frame *f) { return f->owners ? f->owners->comm : NULL; }

/* What a part has in a cube; several entries may be of one cube. */
typedef struct tl_cube {
    int64_t number, weight;
} tl_cube;

/* For a run of `comm`, everything with part 0 until it is cut. comm alone: *out is NULL. */
talus_status tl_owners_make(tl_owners **out, const tl_comm *comm, talus_error *err);
void tl_owners_free(tl_owners *o);

int64_t tl_owners_number(const tl_owners *o, const int32_t block[3]); /* of the cube with this block */
int32_t tl_owners_part(const tl_owners *o, const int32_t block[3]);
static inline int32_t tl_owners_part_of_key(const tl_owners *o, uint64_t cell_key)
{
    int32_t block[3];
    tl_grid_unkey_block(cell_key, block);
    return tl_owners_part(o, block);
}

/* What a cut gave: most of a part over the mean. */
typedef struct tl_cut {
    int64_t cubes, total, most;
    double imbalance;
} tl_cut;

/* Cuts anew by all parts' cubes, mine [count] of this one: collective, and every part finds the same. Without any
 * weight nothing changes. */
talus_status tl_owners_cut(tl_owners *o, int64_t count, const tl_cube *mine, tl_arena *a, tl_cut *out,
                           talus_error *err);
/* The same from all cubes, ascending by number, each once. */
void tl_owners_cut_at(tl_owners *o, int64_t count, const tl_cube *cube, tl_cut *out);
/* The same weights under the cut that there is. */
talus_status tl_owners_weigh(const tl_owners *o, int64_t count, const tl_cube *mine, tl_arena *a, tl_cut *out,
                             talus_error *err);
/* Blocks per edge that stay together, as a shift: whole cubes halve what crosses parts, and are too coarse for few
 * cells per part. [measured on a full tank: cluster.md] */
int tl_owners_shift_for(int64_t cells, int32_t parts);

#endif
