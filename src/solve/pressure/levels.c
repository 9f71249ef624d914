#include "solve/pressure/levels.h"

#include "base/radix.h"
#include "solve/pressure/key.h"

#define FEW_CELLS 40 /* a level this small is the coarsest [measured: more levels change nothing] */
#define FEW_EDGE 4

typedef struct finer {
    const tl_level *level;
    const float *const *c; /* NULL above level 0, where every neighbour counts */
    bool split;
    int32_t *parent;
} finer;

static bool linked(const finer *f, int32_t i, int k)
{
    return f->level->nb[k][i] < f->level->n && (!f->c || f->c[k][i] > 0);
}

/* True when side k of a cell is inside its block. */
static bool inward(const int32_t at[3], int k) { return (at[k / 2] & 1) != (k & 1); }

static bool small(const tl_level *l)
{
    if (l->n < FEW_CELLS) return true;
    int32_t lo[3], hi[3];
    for (int a = 0; a < 3; a++) lo[a] = hi[a] = l->ijk[0][a];
    for (int32_t i = 0; i < l->n; i++)
        for (int a = 0; a < 3; a++) {
            int32_t v = l->ijk[i][a];
            lo[a] = v < lo[a] ? v : lo[a];
            hi[a] = v > hi[a] ? v : hi[a];
        }
    for (int a = 0; a < 3; a++)
        if (hi[a] - lo[a] >= FEW_EDGE) return false;
    return true;
}

/* Cells that have a parent, by block; returns how many. */
static int32_t sort_by_block(const finer *f, uint64_t *key, int32_t *cell, uint64_t *spare, int32_t *spare_cell)
{
    const tl_level *l = f->level;
    int32_t count = 0;
    for (int32_t i = 0; i < l->n; i++) {
        bool alone = f->split;
        for (int k = 0; k < TL_PRESSURE_SIDES && alone; k++) alone = !linked(f, i, k);
        if (alone) continue;
        key[count] = tl_cell_key(tl_half(l->ijk[i][0]), tl_half(l->ijk[i][1]), tl_half(l->ijk[i][2]));
        cell[count++] = i;
    }
    tl_radix_sort(count, key, cell, spare, spare_cell);
    return count;
}

/* Label every cell of a block by the first cell that it is connected to inside the block. */
static void label_block(const finer *f, int32_t count, const int32_t *cell, int32_t *label)
{
    const tl_level *l = f->level;
    for (int32_t m = 0; m < count; m++) label[cell[m]] = f->split ? cell[m] : cell[0];
    for (bool changed = f->split; changed;) {
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

/* Number the connected sets block by block. child and start (when given) list their cells; returns the count of sets. */
static int32_t number_sets(const finer *f, int32_t count, const uint64_t *key, const int32_t *cell, int32_t *label,
                           int32_t *start, int32_t *child, int32_t *red)
{
    int32_t sets = 0, placed = 0;
    *red = 0;
    for (int32_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && key[to] == key[from]; to++) continue;
        if (!start) label_block(f, to - from, cell + from, label);
        for (int32_t m = from; m < to; m++) {
            int32_t first = cell[m];
            if (label[first] != first) continue; /* labels are least members, and members come in rising order */
            if (start) {
                start[sets] = placed;
                for (int32_t t = m; t < to; t++)
                    if (label[cell[t]] == first) {
                        f->parent[cell[t]] = sets;
                        child[placed++] = cell[t];
                    }
            }
            sets++;
            *red += !(key[from] >> 60);
        }
    }
    if (start) start[sets] = placed;
    return sets;
}

/* The coarse cell that most faces on side k of I lead to; none = n. */
static int32_t most_met(const finer *f, const tl_level *c, int32_t I, int k)
{
    int32_t met[64], votes[64], found = 0, best = c->n, most = 0;
    for (int32_t s = c->start[I]; s < c->start[I + 1]; s++) {
        int32_t i = c->child[s];
        if (inward(f->level->ijk[i], k) || !linked(f, i, k)) continue;
        int32_t J = f->parent[f->level->nb[k][i]], m = 0;
        if (J == I || (J < c->red) == (I < c->red)) continue; /* around a periodic axis of odd length */
        while (m < found && met[m] != J) m++;
        if (m == 64) continue;
        if (m == found) met[found] = J, votes[found++] = 0;
        votes[m]++;
    }
    for (int32_t m = 0; m < found; m++)
        if (votes[m] > most || (votes[m] == most && met[m] < best)) best = met[m], most = votes[m];
    return best;
}

static void join_neighbours(const finer *f, const tl_level *c, int32_t *const nb[TL_PRESSURE_SIDES])
{
    for (int32_t I = 0; I < c->n; I++)
        for (int k = 0; k < TL_PRESSURE_SIDES; k++) nb[k][I] = most_met(f, c, I, k);
    for (int32_t I = 0; I < c->n; I++)
        for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
            int32_t J = nb[k][I];
            if (J < c->n && nb[k ^ 1][J] != I) nb[k][I] = c->n;
        }
}

/* The level above `f`; c->n = 0 when nothing is left to join. */
static talus_status coarsen(const finer *f, tl_level *c, double *scratch, tl_arena *a, talus_error *err)
{
    int32_t n = f->level->n;
    uint64_t *key = (uint64_t *)scratch, *spare = key + n;
    int32_t *cell = (int32_t *)(spare + n), *spare_cell = cell + n;
    int32_t count = sort_by_block(f, key, cell, spare, spare_cell);
    int32_t *label = (int32_t *)spare;
    c->n = number_sets(f, count, key, cell, label, NULL, NULL, &c->red);

    int32_t(*ijk)[3] = tl_arena_take(a, sizeof *ijk * (size_t)c->n), *start = TL_TAKE(a, int32_t, c->n + 1);
    int32_t *child = TL_TAKE(a, int32_t, count), *nb[TL_PRESSURE_SIDES];
    bool taken = ijk && start && child;
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        nb[k] = TL_TAKE(a, int32_t, c->n);
        taken = taken && nb[k];
        c->nb[k] = nb[k];
    }
    if (!taken) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a level of %d cells", c->n);
    c->ijk = (const int32_t(*)[3])ijk;
    c->start = start;
    c->child = child;

    for (int32_t i = 0; i < n; i++) f->parent[i] = c->n;
    number_sets(f, count, key, cell, label, start, child, &c->red);
    for (int32_t I = 0; I < c->n; I++)
        for (int axis = 0; axis < 3; axis++) ijk[I][axis] = tl_half(f->level->ijk[child[start[I]]][axis]);
    join_neighbours(f, c, nb);
    return TALUS_OK;
}

talus_status tl_levels_build(tl_levels *l, const tl_pressure *p, bool split, double *scratch, tl_arena *a,
                             talus_error *err)
{
    *l = (tl_levels){.count = 1, .level[0] = {.n = p->n, .red = p->red, .ijk = p->ijk}};
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) l->level[0].nb[k] = p->nb[k];
    while (l->count < TL_LEVELS_MAX && !small(&l->level[l->count - 1])) {
        tl_level *fine = &l->level[l->count - 1], *coarse = fine + 1;
        finer f = {
            .level = fine, .c = l->count == 1 ? p->c : NULL, .split = split, .parent = TL_TAKE(a, int32_t, fine->n)};
        if (!f.parent) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a level of %d cells", fine->n);
        TL_TRY(coarsen(&f, coarse, scratch, a, err));
        if (coarse->n == 0) break;
        fine->parent = f.parent;
        l->count++;
    }
    return TALUS_OK;
}
