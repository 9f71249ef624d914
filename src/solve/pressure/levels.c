#include "solve/pressure/levels.h"

#include <string.h>

#include "base/radix.h"
#include "solve/pressure/blocks.h"
#include "solve/pressure/key.h"
#include "solve/pressure/levels_parts.h"

#define FEW_CELLS 40 /* a level this small is the coarsest [measured: more levels change nothing] */
#define FEW_EDGE 4
#define VOTES_MAX 16

typedef struct finer {
    const tl_level *level;
    const float *const *c; /* NULL above level 0, where every neighbour counts */
    bool split;
    int32_t *parent;
} finer;

static bool linked(const finer *f, int32_t i, int k)
{
    return f->level->nb[k][i] != f->level->none && (!f->c || f->c[k][i] > 0);
}

/* True when side k of a cell is inside its block. */
static bool inward(const int32_t at[3], int k) { return (at[k / 2] & 1) != (k & 1); }

typedef struct box {
    int32_t lo[3], hi[3];
} box;

static box bounds(const tl_level *l)
{
    box b = {{0, 0, 0}, {-1, -1, -1}};
    if (l->n == 0) return b;
    for (int a = 0; a < 3; a++) b.lo[a] = b.hi[a] = l->ijk[0][a];
    for (int32_t i = 0; i < l->n; i++)
        for (int a = 0; a < 3; a++) {
            int32_t v = l->ijk[i][a];
            b.lo[a] = v < b.lo[a] ? v : b.lo[a];
            b.hi[a] = v > b.hi[a] ? v : b.hi[a];
        }
    return b;
}

static bool small(const tl_level *l, box b)
{
    if (l->space) tl_level_bounds(l, b.lo, b.hi);
    bool few = l->total < FEW_CELLS;
    return few || (b.hi[0] - b.lo[0] < FEW_EDGE && b.hi[1] - b.lo[1] < FEW_EDGE && b.hi[2] - b.lo[2] < FEW_EDGE);
}

/* Blocks as keys of few bits, so that the sort needs few passes: colour, x, y, z counted from the least block. */
typedef struct packing {
    int32_t lo[3];
    int shift[4]; /* of x, y, z, colour */
} packing;

static packing pack(const box *b)
{
    packing p;
    int at = 0;
    for (int a = 2; a >= 0; a--) {
        p.lo[a] = tl_half(b->lo[a]);
        p.shift[a] = at;
        for (int32_t span = tl_half(b->hi[a]) - p.lo[a]; span > 0; span >>= 1) at++;
    }
    p.shift[3] = at;
    return p;
}

static uint64_t block_key(const packing *p, const int32_t at[3])
{
    int32_t block[3];
    uint64_t key = 0;
    for (int a = 0; a < 3; a++) {
        block[a] = tl_half(at[a]);
        key |= (uint64_t)(block[a] - p->lo[a]) << p->shift[a];
    }
    return key | (uint64_t)tl_cell_colour(block[0], block[1], block[2]) << p->shift[3];
}

/* Cells that have a parent, by block; returns how many. */
static int32_t sort_by_block(const finer *f, const packing *p, uint64_t *key, int32_t *cell, uint64_t *spare,
                             int32_t *spare_cell)
{
    const tl_level *l = f->level;
    int32_t count = 0;
    for (int32_t i = 0; i < l->n; i++) {
        bool alone = f->split;
        for (int k = 0; k < TL_PRESSURE_SIDES && alone; k++) alone = !linked(f, i, k);
        if (alone) continue;
        key[count] = block_key(p, l->ijk[i]);
        cell[count++] = i;
    }
    tl_radix_sort(count, key, cell, spare, spare_cell);
    return count;
}

static int octant(const int32_t at[3]) { return (at[0] & 1) << 2 | (at[1] & 1) << 1 | (at[2] & 1); }

/* True when all cells of a block hang together; false also when that takes a closer look. */
static bool connected(const finer *f, int32_t count, const int32_t *cell)
{
    unsigned there = 0, joined = 0, seen = 0;
    uint8_t open[8] = {0};
    for (int32_t m = 0; m < count; m++) {
        const int32_t *at = f->level->ijk[cell[m]];
        int o = octant(at);
        if (there >> o & 1) return false; /* two cells in one place */
        there |= 1u << o;
        for (int axis = 0; axis < 3; axis++)
            if (linked(f, cell[m], 2 * axis + !(at[axis] & 1))) open[o] |= (uint8_t)(1u << (o ^ (4 >> axis)));
        joined = m ? joined : 1u << o;
    }
    while (seen != joined) {
        unsigned next = joined & ~seen;
        seen = joined;
        for (int o = 0; o < 8; o++)
            if (next >> o & 1) joined |= open[o] & there;
    }
    return joined == there;
}

/* Label every cell of a block by the first cell that it is connected to inside the block. */
static void label_block(const finer *f, int32_t count, const int32_t *cell, int32_t *label)
{
    const tl_level *l = f->level;
    bool apart = f->split && count > 1 && !connected(f, count, cell);
    for (int32_t m = 0; m < count; m++) label[cell[m]] = apart ? cell[m] : cell[0];
    for (bool changed = apart; changed;) {
        changed = false;
        for (int32_t m = 0; m < count; m++) {
            int32_t i = cell[m];
            for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
                if (!inward(l->ijk[i], k) || !linked(f, i, k)) continue;
                int32_t j = l->nb[k][i], least = label[i] < label[j] ? label[i] : label[j];
                changed |= label[i] != label[j];
                label[i] = label[j] = least;
            }
        }
    }
}

/* Cells of a finer level in the order of their blocks. */
typedef struct by_block {
    int32_t count;
    const uint64_t *key; /* [count] of a cell's block */
    const int32_t *cell; /* [count] */
    int colour_bit;      /* of the key: 0 is red */
} by_block;

/* Number the connected sets block by block, and list their cells; returns the count of sets. */
static int32_t number_sets(const finer *f, const by_block *sorted, int32_t *label, int32_t *start, int32_t *child,
                           int32_t *red)
{
    const uint64_t *key = sorted->key;
    const int32_t *cell = sorted->cell;
    int32_t sets = 0, placed = 0;
    *red = 0;
    for (int32_t from = 0, to; from < sorted->count; from = to) {
        for (to = from + 1; to < sorted->count && key[to] == key[from]; to++) continue;
        label_block(f, to - from, cell + from, label);
        for (int32_t m = from; m < to; m++) {
            int32_t first = cell[m];
            if (label[first] != first) continue; /* labels are least members, and members come in rising order */
            start[sets] = placed;
            for (int32_t t = m; t < to; t++)
                if (label[cell[t]] == first) {
                    f->parent[cell[t]] = sets;
                    child[placed++] = cell[t];
                }
            sets++;
            *red += !(key[from] >> sorted->colour_bit);
        }
    }
    start[sets] = placed;
    return sets;
}

/* Coarse cells that are met on a side, with the faces that lead there. */
typedef struct votes {
    int32_t met[VOTES_MAX], faces[VOTES_MAX], count;
} votes;

static void vote(votes *v, int32_t J)
{
    int32_t m = 0;
    while (m < v->count && v->met[m] != J) m++;
    if (m == VOTES_MAX) return; /* never seen: four faces lead out of a block, or a few more between split cells */
    if (m == v->count) v->met[v->count] = J, v->faces[v->count++] = 0;
    v->faces[m]++;
}

static bool is_red(const tl_level *l, int32_t J)
{
    return J < l->red || (J > l->none && J - l->none - 1 < l->space->copies[TL_RED]);
}

/* nb[k][I]: the coarse cell that most faces on side k of I lead to, or `none`. */
static void most_met(const finer *f, const tl_level *c, int32_t I, int32_t *const nb[TL_PRESSURE_SIDES])
{
    votes side[TL_PRESSURE_SIDES];
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) side[k].count = 0;
    for (int32_t s = c->start[I]; s < c->start[I + 1]; s++) {
        int32_t i = c->child[s];
        for (int axis = 0; axis < 3; axis++) {
            int k = 2 * axis + (f->level->ijk[i][axis] & 1); /* the outward side */
            if (!linked(f, i, k)) continue;
            int32_t J = f->parent[f->level->nb[k][i]];
            if (J == I || is_red(c, J) == (I < c->red)) continue; /* around a periodic axis of odd length */
            vote(&side[k], J);
        }
    }
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        int32_t best = c->none, max = 0;
        for (int32_t m = 0; m < side[k].count; m++) {
            int32_t faces = side[k].faces[m], J = side[k].met[m];
            if (faces > max || (faces == max && J < best)) best = J, max = faces;
        }
        nb[k][I] = best;
    }
}

static void meet_rows(const finer *f, const tl_level *c, int32_t *const nb[TL_PRESSURE_SIDES], int32_t from, int32_t to)
{
    for (int32_t I = from; I < to; I++) most_met(f, c, I, nb);
}

/* Neighbours that choose each other stay. choice: of copies, as numbers of their neighbours' owners. */
static void keep_mutual(const tl_level *c, int32_t *const nb[TL_PRESSURE_SIDES],
                        const int32_t (*choice)[TL_PRESSURE_SIDES])
{
    for (int k = 0; k < TL_PRESSURE_SIDES; k++)
        for (int32_t I = 0; I < c->n; I++) {
            int32_t J = nb[k][I];
            if (J != c->none && (J < c->n ? nb[k ^ 1][J] : choice[J - c->none - 1][k ^ 1]) != I) nb[k][I] = c->none;
        }
}

static talus_status join_neighbours(const finer *f, tl_level *c, int32_t *const nb[TL_PRESSURE_SIDES], tl_arena *a,
                                    talus_error *err)
{
    TL_FOR_BLOCKS(0, c->n, meet_rows(f, c, nb, from, to));
    const int32_t(*choice)[TL_PRESSURE_SIDES] = NULL;
    size_t mark = tl_arena_mark(a);
    if (c->space) TL_TRY(tl_level_choices(c, &choice, a, err));
    keep_mutual(c, nb, choice);
    tl_arena_release(a, mark);
    return c->space ? tl_comm_agree(c->space->comm, tl_level_borders(c, a, err), err) : TALUS_OK;
}

/* Cells above those of `f`, without neighbours; c->n = 0 when nothing is left to join. */
static talus_status make_cells(const finer *f, const box *b, tl_level *c, double *scratch,
                               int32_t *nb[TL_PRESSURE_SIDES], tl_arena *a, talus_error *err)
{
    int32_t n = f->level->n;
    uint64_t *key = (uint64_t *)scratch, *spare = key + n;
    int32_t *cell = (int32_t *)(spare + n), *spare_cell = cell + n;
    packing p = pack(b);
    int32_t count = sort_by_block(f, &p, key, cell, spare, spare_cell);

    int32_t *label = (int32_t *)spare, *first = spare_cell; /* [n], [sets + 1] */
    int32_t *child = TL_TAKE(a, int32_t, count);
    if (!child || !f->parent) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a level above %d cells", n);
    for (int32_t i = 0; i < n; i++) f->parent[i] = TL_NO_PARENT;
    const by_block sorted = {count, key, cell, p.shift[3]};
    c->n = c->none = c->own = number_sets(f, &sorted, label, first, child, &c->red);
    c->total = c->n;

    int32_t(*ijk)[3] = tl_arena_take(a, sizeof *ijk * (size_t)c->n), *start = TL_TAKE(a, int32_t, c->n + 1);
    bool taken = ijk && start;
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        nb[k] = TL_TAKE(a, int32_t, c->n);
        taken = taken && nb[k];
        c->nb[k] = nb[k];
    }
    if (!taken) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a level of %d cells", c->n);
    memcpy(start, first, sizeof *start * (size_t)(c->n + 1));
    c->ijk = (const int32_t(*)[3])ijk;
    c->start = start;
    c->child = child;
    for (int32_t I = 0; I < c->n; I++)
        for (int axis = 0; axis < 3; axis++) ijk[I][axis] = tl_half(f->level->ijk[child[start[I]]][axis]);
    return TALUS_OK;
}

/* The level above `f`. */
static talus_status coarsen(const finer *f, const box *b, tl_level *c, double *scratch, tl_arena *a, talus_error *err)
{
    const tl_pressure_space *s = f->level->space;
    int32_t *nb[TL_PRESSURE_SIDES];
    *c = (tl_level){0};
    TL_TRY(tl_comm_agree(tl_pressure_comm(s), make_cells(f, b, c, scratch, nb, a, err), err));
    if (s) TL_TRY(tl_level_share(f->level, f->parent, c, (int32_t *)scratch, a, err));
    for (int32_t i = 0; i < f->level->n; i++)
        if (f->parent[i] == TL_NO_PARENT) f->parent[i] = c->none;
    return join_neighbours(f, c, nb, a, err);
}

static talus_status first_level(tl_level *l, const tl_pressure *p, tl_arena *a, talus_error *err)
{
    *l = (tl_level){.n = p->n, .red = p->red, .own = p->n, .space = p->space, .ijk = p->ijk, .none = p->none};
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) l->nb[k] = p->nb[k];
    l->total = (int64_t)tl_comm_sum(tl_pressure_comm(p->space), p->n);
    return p->space ? tl_comm_agree(p->space->comm, tl_level_borders(l, a, err), err) : TALUS_OK;
}

static talus_status build(tl_levels *l, const tl_pressure *p, tl_levels_how how, double *scratch, tl_arena *a,
                          talus_error *err)
{
    int64_t room = p->n; /* cells that the scratch is good for */
    TL_TRY(first_level(&l->level[0], p, a, err));
    for (l->count = 1; l->count < TL_LEVELS_MAX; l->count++) {
        tl_level *fine = &l->level[l->count - 1], *coarse = fine + 1;
        const box b = bounds(fine);
        const bool last = small(fine, b);
        if (fine->space && l->count > 1 && (last || l->count - 1 == how.whole)) {
            TL_TRY(tl_level_make_whole(l, l->count - 1, a, err));
            l->count--; /* and look at it again */
            continue;
        }
        if (last) break;
        if (!fine->space && fine->n > room) {
            room = fine->n;
            scratch = TL_TAKE(a, double, 3 * room + 1);
            if (!scratch) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a level above %d cells", fine->n);
        }
        finer f = {.level = fine, .c = l->count == 1 ? p->c : NULL, .split = how.split};
        f.parent = TL_TAKE(a, int32_t, fine->space ? tl_level_length(fine) : fine->n);
        TL_TRY(coarsen(&f, &b, coarse, scratch, a, err));
        if (coarse->total == 0) break;
        fine->parent = f.parent;
    }
    return TALUS_OK;
}

talus_status tl_levels_build(tl_levels *l, const tl_pressure *p, tl_levels_how how, double *scratch, tl_arena *a,
                             talus_error *err)
{
    *l = (tl_levels){.count = 1};
    TL_TRY(tl_comm_agree(tl_pressure_comm(p->space), build(l, p, how, scratch, a, err), err));
    while (l->whole < l->count && l->level[l->whole].space) l->whole++;
    return TALUS_OK;
}
