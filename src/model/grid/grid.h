/* The grid of one step: a staggered grid that exists only around matter.
 *
 * Cells come in blocks of 8 x 8 x 8, kept where a particle is within TL_GRID_MARGIN cells, so that memory and work
 * follow what is occupied and not the box. Nothing ends at the domain's walls: they are solids like others
 * (model/grid/solids.h), and the cells behind them exist like any others near matter. Periodic axes wrap. A slab of one
 * cell is the 2D mode: blocks are then 8 x 8 x 1 and a cell is its own neighbour along that axis.
 *
 * A cell has an id, block * size + place, place = (x * edge[1] + y) * edge[2] + z: z runs fastest. Every array over
 * cells has g->cells entries; the last block is a ghost that stands for all cells that do not exist, and a neighbour
 * that is not there has its id in it. Arrays keep a harmless value there (0, or air). Values that belong to faces,
 * edges and corners use the id of the cell at whose lower end they lie:
 *
 *     face of axis a   [a][i]  lower face of cell i along a, centre at (i - e_a/2)
 *     edge of axis a   [a][i]  edge parallel to a, at the lower end of cell i along both other axes
 *
 * Blocks are sorted by key and cells of a block by place; both depend on positions alone, so the order is the same
 * in every run. Lives in an arena; what is on it (velocities, fractions, ...) belongs to the files that write it.
 *
 * Where a run has several parts (owners.h), a part's grid has its own blocks first and then, as a halo, those of other
 * parts that touch them. Who writes an array over cells sees to it that it is right on both before anybody else reads
 * it: what depends on cells nearby is computed for own blocks, or for all with what is known here, and
 * tl_grid_refresh then brings the owners' values to the halo. Sums go over own blocks. */
#ifndef TL_MODEL_GRID_H
#define TL_MODEL_GRID_H

#include "base/arena.h"
#include "math/vec.h"
#include "scene/scene.h"

#define TL_GRID_EDGE 8
#define TL_GRID_MARGIN 3      /* cells around each particle's cell that exist: CFL 3 at mid-step, and the stencil */
#define TL_GRID_FAR (1 << 20) /* cells from the origin beyond which a particle is lost, along any axis */
#define TL_GRID_SELF 13       /* of near[27] */
/* Keys: 18 bits per axis for blocks, 9 for the place inside. */
#define TL_GRID_AXIS_BITS 18
#define TL_GRID_PLACE_BITS 9
#define TL_GRID_BIAS (1 << (TL_GRID_AXIS_BITS - 1))
#define TL_GRID_EDGE_BITS 3
_Static_assert(TL_GRID_EDGE == 1 << TL_GRID_EDGE_BITS, "blocks of whole edges are found by a shift");

/* What does not change in a run. */
typedef struct tl_grid_frame {
    tl_vec3 origin;    /* lower corner of cell (0, 0, 0) */
    double dx, per_dx; /* m, 1/m */
    int32_t count[3];  /* cells of the domain */
    bool periodic[3];
    int32_t edge[3];          /* cells of a block: 8, along a periodic axis the largest divisor of count up to 8 */
    int32_t stride[3];        /* of a step to the next cell inside of a block */
    int32_t size;             /* cells of a block */
    bool flat;                /* one axis is a slab of one cell */
    int flat_axis;            /* which; -1: none */
    struct tl_owners *owners; /* of blocks; NULL: there is one part */
} tl_grid_frame;

typedef struct tl_grid {
    tl_grid_frame f;
    int32_t owned;        /* blocks of this part */
    int32_t blocks;       /* with the halo, without the ghost */
    int64_t cells;        /* (blocks + 1) * size: length of every array over cells, ghost included */
    int64_t *key;         /* [blocks] ascending, own ones and then the halo's */
    int32_t (*corner)[3]; /* [blocks + 1] coordinates of the block's first cell; ghost: 0 */
    int32_t (*near)
        [27]; /* [blocks + 1] neighbour blocks by (dx+1)*9 + (dy+1)*3 + (dz+1); not there: blocks. Ghost: all ghost */
    uint8_t (*place)[3];        /* [size] coordinates inside of a block */
    int32_t colours;            /* blocks of one colour share no neighbour: 8, or more on odd periodic axes */
    int32_t *by_colour;         /* [owned] block numbers, colour by colour, ascending */
    int32_t *colour_start;      /* [colours + 1] */
    int32_t *first;             /* [blocks + 1] sorted particles of block b are first[b] .. first[b + 1] */
    const struct tl_comm *comm; /* NULL: there is one part */
    struct tl_halo *halo;       /* of whole blocks; NULL likewise */
    const int32_t *halo_part, *halo_block; /* [blocks - owned] whose they are, and their numbers there */
} tl_grid;

/* Keys rise, neighbours are blocks or the ghost and mutual, every block has one colour. For checked builds, where a
 * grid is handed on. */
talus_status tl_grid_check(const tl_grid *g, talus_error *err);

tl_grid_frame tl_grid_frame_of(const tl_scene *s);

/* Blocks around cells of particles. `cell_key` [n]: tl_grid_key of each particle, ascending (tl_particles_sort). n =
 * 0 gives a grid with no block but the ghost. Blocks in arena. Of several parts collective: blocks around particles of
 * all, the halo's plan until tl_comm_release. */
talus_status tl_grid_build(tl_grid *out, const tl_grid_frame *f, int64_t n, const uint64_t *cell_key, tl_arena *a,
                           talus_error *err);

/* Key of a cell, whether it exists or not: block key * 512 + place; ascending keys are ascending ids. Coordinates
 * within +- 2 FAR, already wrapped along periodic axes (tl_grid_wrap). */
static inline uint64_t tl_grid_key(const tl_grid_frame *f, const int32_t cell[3])
{
    int64_t key = 0;
    int32_t place = 0;
    for (int k = 0; k < 3; k++) {
        int32_t e = f->edge[k], b = e == TL_GRID_EDGE ? cell[k] >> 3 : (cell[k] - (cell[k] < 0 ? e - 1 : 0)) / e;
        key = key << TL_GRID_AXIS_BITS | (b + TL_GRID_BIAS);
        place += (cell[k] - b * e) * f->stride[k];
    }
    return (uint64_t)key << TL_GRID_PLACE_BITS | (uint64_t)place;
}
/* Coordinates of the block of a key; returns the place. */
static inline uint64_t tl_grid_unkey_block(uint64_t key, int32_t block[3])
{
    uint64_t rest = key >> TL_GRID_PLACE_BITS;
    for (int k = 2; k >= 0; k--) {
        block[k] = (int32_t)(rest & ((1u << TL_GRID_AXIS_BITS) - 1)) - TL_GRID_BIAS;
        rest >>= TL_GRID_AXIS_BITS;
    }
    return key & ((1u << TL_GRID_PLACE_BITS) - 1);
}
void tl_grid_unkey(const tl_grid_frame *f, uint64_t key, int32_t cell[3]);
/* Key of the block `by` blocks away; false: beyond what keys can name. */
bool tl_grid_neighbour_key(const tl_grid_frame *f, const int32_t block[3], const int32_t by[3], int64_t *key);
/* Several parts: from the blocks around own particles, g->key [g->blocks] ascending, to own blocks and halo. */
talus_status tl_grid_agree(tl_grid *g, tl_arena *a, talus_error *err);
/* Number of the block with this key, or g->blocks. By bisection. */
int32_t tl_grid_find(const tl_grid *g, int64_t block_key);
/* Id of a cell by coordinates (wrapped here), or one in the ghost. By bisection: for tests and rare questions. */
int32_t tl_grid_cell(const tl_grid *g, int32_t x, int32_t y, int32_t z);
uint64_t tl_grid_key_of(const tl_grid *g, int32_t cell); /* of an existing cell */
/* The same, from a block nearby: of neighbours without a search. */
static inline int32_t tl_grid_cell_near(const tl_grid *g, int32_t block, const int32_t c[3])
{
    int32_t by[3], place = 0;
    for (int k = 0; k < 3; k++) {
        int32_t e = g->f.edge[k], local = c[k] - g->corner[block][k];
        by[k] = (local >= e) - (local < 0);
        if (local < -e || local >= 2 * e) return tl_grid_cell(g, c[0], c[1], c[2]);
        place += (local - by[k] * e) * g->f.stride[k];
    }
    return g->near[block][TL_GRID_SELF + 9 * by[0] + 3 * by[1] + by[2]] * g->f.size + place;
}

/* Whole blocks by a shift: this is asked for every face. */
static inline int32_t tl_grid_block_of(const tl_grid *g, int32_t cell)
{
    return g->f.size == TL_GRID_EDGE * TL_GRID_EDGE * TL_GRID_EDGE ? cell >> 9 : cell / g->f.size;
}
static inline bool tl_grid_exists(const tl_grid *g, int32_t cell) { return cell < (int64_t)g->blocks * g->f.size; }
static inline bool tl_grid_owns(const tl_grid *g, int32_t cell) { return cell < (int64_t)g->owned * g->f.size; }
static inline int32_t tl_grid_owned_cells(const tl_grid *g) { return (int32_t)((int64_t)g->owned * g->f.size); }
/* Cells that sums go over. With one part the ghost is among them, which has nothing. */
static inline int64_t tl_grid_summed(const tl_grid *g) { return g->comm ? tl_grid_owned_cells(g) : g->cells; }

/* The halo's values of an array over cells, of `item` bytes each, are those of their owners. */
void tl_grid_refresh(const tl_grid *g, size_t item, void *x);
void tl_grid_refresh3(const tl_grid *g, double *const x[3]);
/* Owners' values += the halo's, which are to be refreshed. */
void tl_grid_add_halo(const tl_grid *g, double *x);

/* Coordinate k of a place in cells from the origin. One formula for all, so that nobody rounds a particle into
 * another cell. */
static inline double tl_grid_scaled(const tl_grid_frame *f, double x, int k)
{
    double origin = k == 0 ? f->origin.x : k == 1 ? f->origin.y : f->origin.z;
    return (x - origin) * f->per_dx;
}

/* Neighbour of a cell one step along an axis, dir = -1 or +1. */
static inline int32_t tl_grid_step(const tl_grid *g, int32_t cell, int axis, int dir)
{
    int32_t b = tl_grid_block_of(g, cell), p = cell - b * g->f.size, e = g->f.edge[axis];
    int32_t c = g->place[p][axis] + dir;
    if (c >= 0 && c < e) return cell + dir * g->f.stride[axis];
    static const int step[3] = {9, 3, 1};
    int32_t nb = g->near[b][TL_GRID_SELF + dir * step[axis]];
    return nb * g->f.size + p - dir * (e - 1) * g->f.stride[axis];
}

/* Coordinates of an existing cell. */
static inline void tl_grid_at(const tl_grid *g, int32_t cell, int32_t out[3])
{
    int32_t b = tl_grid_block_of(g, cell), p = cell - b * g->f.size;
    for (int k = 0; k < 3; k++) out[k] = g->corner[b][k] + g->place[p][k];
}
static inline tl_vec3 tl_grid_centre(const tl_grid *g, int32_t cell)
{
    int32_t c[3];
    tl_grid_at(g, cell, c);
    double h = g->f.dx;
    return (tl_vec3){g->f.origin.x + (c[0] + 0.5) * h, g->f.origin.y + (c[1] + 0.5) * h,
                     g->f.origin.z + (c[2] + 0.5) * h};
}
static inline tl_vec3 tl_grid_face_centre(const tl_grid *g, int axis, int32_t face)
{
    tl_vec3 p = tl_grid_centre(g, face);
    double half = 0.5 * g->f.dx;
    if (axis == 0) p.x -= half;
    if (axis == 1) p.y -= half;
    if (axis == 2) p.z -= half;
    return p;
}

/* The neighbourhood of one block: ids of cells from -1 to edge along each axis (two more per axis than the block),
 * for loops that would otherwise ask tl_grid_step everywhere. Index ((x+1) * (edge[1]+2) + (y+1)) * (edge[2]+2) +
 * (z+1). */
#define TL_GRID_HALO_MAX 1000
int32_t tl_grid_halo(const tl_grid *g, int32_t block, int32_t id[TL_GRID_HALO_MAX]); /* returns their number */

#endif
