#include "model/grid/grid.h"

#include <string.h>

#include "base/parallel.h"
#include "base/radix.h"
#include "model/grid/owners.h"

#define AXIS_BITS TL_GRID_AXIS_BITS
#define PLACE_BITS TL_GRID_PLACE_BITS
#define BIAS TL_GRID_BIAS

static int32_t floor_div(int32_t a, int32_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }
static int32_t wrapped(int32_t a, int32_t n) { return a - n * floor_div(a, n); }

tl_grid_frame tl_grid_frame_of(const tl_scene *s)
{
    tl_grid_frame f = {.origin = s->grid.origin, .dx = s->grid.cell, .per_dx = 1 / s->grid.cell, .flat_axis = -1};
    for (int k = 0; k < 3; k++) {
        f.count[k] = s->grid.cells[k];
        f.periodic[k] = s->grid.periodic[k];
        f.edge[k] = TL_GRID_EDGE;
        while (f.periodic[k] && f.count[k] % f.edge[k]) f.edge[k]--;
        if (f.count[k] == 1 && f.periodic[k] && f.flat_axis < 0) f.flat_axis = k;
    }
    f.flat = f.flat_axis >= 0;
    f.stride[2] = 1;
    f.stride[1] = f.edge[2];
    f.stride[0] = f.edge[1] * f.edge[2];
    f.size = f.edge[0] * f.stride[0];
    return f;
}

static int64_t block_key(const int32_t block[3])
{
    int64_t key = 0;
    for (int k = 0; k < 3; k++) key = key << AXIS_BITS | (block[k] + BIAS);
    return key;
}

static void block_unkey(int64_t key, int32_t block[3])
{
    for (int k = 2; k >= 0; k--) {
        block[k] = (int32_t)(key & ((1 << AXIS_BITS) - 1)) - BIAS;
        key >>= AXIS_BITS;
    }
}

static void place_of(const tl_grid_frame *f, int32_t place, int32_t out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = place / f->stride[k];
        place -= out[k] * f->stride[k];
    }
}

void tl_grid_unkey(const tl_grid_frame *f, uint64_t key, int32_t cell[3])
{
    int32_t block[3];
    block_unkey((int64_t)(key >> PLACE_BITS), block);
    place_of(f, (int32_t)(key & ((1 << PLACE_BITS) - 1)), cell);
    for (int k = 0; k < 3; k++) cell[k] += block[k] * f->edge[k];
}

uint64_t tl_grid_key_of(const tl_grid *g, int32_t cell)
{
    int32_t b = cell / g->f.size;
    return (uint64_t)g->key[b] << PLACE_BITS | (uint64_t)(cell - b * g->f.size);
}

static int32_t find_between(const tl_grid *g, int32_t lo, int32_t end, int64_t key)
{
    int32_t hi = end;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (g->key[mid] < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < end && g->key[lo] == key ? lo : g->blocks;
}

int32_t tl_grid_find(const tl_grid *g, int64_t key)
{
    const int32_t own = find_between(g, 0, g->owned, key);
    return own < g->blocks || g->owned == g->blocks ? own : find_between(g, g->owned, g->blocks, key);
}

int32_t tl_grid_cell(const tl_grid *g, int32_t x, int32_t y, int32_t z)
{
    int32_t c[3] = {x, y, z};
    for (int k = 0; k < 3; k++)
        if (g->f.periodic[k]) c[k] = wrapped(c[k], g->f.count[k]);
    uint64_t key = tl_grid_key(&g->f, c);
    return tl_grid_find(g, (int64_t)(key >> PLACE_BITS)) * g->f.size + (int32_t)(key & ((1 << PLACE_BITS) - 1));
}

bool tl_grid_neighbour_key(const tl_grid_frame *f, const int32_t block[3], const int32_t by[3], int64_t *key)
{
    int32_t there[3];
    for (int k = 0; k < 3; k++) {
        there[k] = block[k] + by[k];
        if (f->periodic[k]) there[k] = wrapped(there[k], f->count[k] / f->edge[k]);
        if (there[k] < -BIAS || there[k] >= BIAS) return false;
    }
    *key = block_key(there);
    return true;
}

/* Blocks with particles: keys, and on which sides a particle is within the margin: bit (sx+1)*9 + (sy+1)*3 + (sz+1). */
static int32_t occupied(const tl_grid_frame *f, int64_t n, const uint64_t *cell_key, int64_t *key, uint32_t *sides)
{
    int32_t count = 0;
    uint32_t around[1 << PLACE_BITS] = {0}; /* of each place */
    for (int32_t place = 0; place < f->size; place++) {
        int32_t p[3];
        uint32_t reach[3]; /* bits of -1, 0, 1 */
        place_of(f, place, p);
        for (int k = 0; k < 3; k++)
            reach[k] = 2u | (p[k] < TL_GRID_MARGIN ? 1u : 0u) | (p[k] >= f->edge[k] - TL_GRID_MARGIN ? 4u : 0u);
        for (int k = 0; k < 27; k++)
            if (reach[0] >> k / 9 & reach[1] >> k / 3 % 3 & reach[2] >> k % 3 & 1u) around[place] |= 1u << k;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t b = (int64_t)(cell_key[i] >> PLACE_BITS);
        if (!count || key[count - 1] != b) {
            key[count] = b;
            sides[count++] = 0;
        }
        sides[count - 1] |= around[cell_key[i] & ((1 << PLACE_BITS) - 1)];
    }
    return count;
}

/* Keys of one occupied block's surroundings. `far`: blocks that the margin spans, per axis (more than one where
 * blocks are thin). */
static int64_t surroundings(const tl_grid_frame *f, int64_t key, uint32_t sides, uint64_t *out)
{
    int32_t block[3], far[3], by[3];
    int64_t n = 0;
    block_unkey(key, block);
    for (int k = 0; k < 3; k++) far[k] = (TL_GRID_MARGIN + f->edge[k] - 1) / f->edge[k];
    for (by[0] = -far[0]; by[0] <= far[0]; by[0]++)
        for (by[1] = -far[1]; by[1] <= far[1]; by[1]++)
            for (by[2] = -far[2]; by[2] <= far[2]; by[2]++) {
                int side = 0;
                int64_t there;
                for (int k = 0; k < 3; k++) side = side * 3 + (by[k] > 0) - (by[k] < 0) + 1;
                if (sides >> side & 1u && tl_grid_neighbour_key(f, block, by, &there)) out[n++] = (uint64_t)there;
            }
    return n;
}

static void find_near(tl_grid *g)
{
#pragma omp parallel for schedule(static) if (g->blocks > 256)
    for (int32_t b = 0; b <= g->blocks; b++) {
        int32_t block[3];
        if (b < g->blocks) block_unkey(g->key[b], block);
        for (int k = 0; k < 27; k++) {
            const int32_t by[3] = {k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
            int64_t key;
            g->near[b][k] =
                b < g->blocks && tl_grid_neighbour_key(&g->f, block, by, &key) ? tl_grid_find(g, key) : g->blocks;
        }
        for (int k = 0; k < 3; k++) g->corner[b][k] = b < g->blocks ? block[k] * g->f.edge[k] : 0;
    }
}

/* Two colours per axis; where an odd number of blocks closes a ring, its last one gets a third. */
static void find_colours(tl_grid *g, uint8_t *colour)
{
    int32_t ring[3];
    for (int k = 0; k < 3; k++) ring[k] = g->f.periodic[k] ? g->f.count[k] / g->f.edge[k] : 0;
    memset(g->colour_start, 0, sizeof *g->colour_start * (size_t)(g->colours + 1));
    for (int32_t b = 0; b < g->owned; b++) {
        int32_t block[3], c = 0;
        block_unkey(g->key[b], block);
        for (int k = 0; k < 3; k++)
            c = c * 3 + (ring[k] > 1 && ring[k] % 2 && block[k] == ring[k] - 1 ? 2 : block[k] & 1);
        colour[b] = (uint8_t)c;
        g->colour_start[c + 1]++;
    }
    for (int32_t c = 0; c < g->colours; c++) g->colour_start[c + 1] += g->colour_start[c];
    int32_t at[27];
    memcpy(at, g->colour_start, sizeof at);
    for (int32_t b = 0; b < g->owned; b++) g->by_colour[at[colour[b]]++] = b;
}

/* Blocks around particles: sorted, each once. */
static talus_status list_blocks(tl_grid *out, int64_t n, const uint64_t *cell_key, tl_arena *a, talus_error *err)
{
    const tl_grid_frame *f = &out->f;
    int64_t max = 0;
    for (int64_t i = 0; i < n; i++) max += !i || cell_key[i] >> PLACE_BITS != cell_key[i - 1] >> PLACE_BITS;
    int64_t *key = TL_TAKE(a, int64_t, max);
    uint32_t *sides = TL_TAKE(a, uint32_t, max);
    if (!key || !sides) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a grid");
    int32_t count = occupied(f, n, cell_key, key, sides);

    int64_t per_block = 1;
    for (int k = 0; k < 3; k++) per_block *= 2 * ((TL_GRID_MARGIN + f->edge[k] - 1) / f->edge[k]) + 1;
    uint64_t *all = TL_TAKE(a, uint64_t, per_block * count);
    out->key = TL_TAKE(a, int64_t, per_block * count);
    if (!all || !out->key) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a grid");
    size_t mark = tl_arena_mark(a);
    uint64_t *spare = TL_TAKE(a, uint64_t, per_block * count);
    int32_t *value = TL_TAKE(a, int32_t, per_block * count), *spare_value = TL_TAKE(a, int32_t, per_block * count);
    if (!spare || !value || !spare_value) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a grid");
    int64_t total = 0;
    for (int32_t b = 0; b < count; b++) total += surroundings(f, key[b], sides[b], all + total);
    memset(value, 0, sizeof *value * (size_t)total);
    tl_radix_sort(total, all, value, spare, spare_value);
    tl_arena_release(a, mark);
    for (int64_t i = 0; i < total; i++)
        if (!i || all[i] != all[i - 1]) out->key[out->blocks++] = (int64_t)all[i];
    out->owned = out->blocks;
    return TALUS_OK;
}

static talus_status take_room(tl_grid *out, uint8_t **colour, tl_arena *a, talus_error *err)
{
    out->cells = ((int64_t)out->blocks + 1) * out->f.size;
    if (out->cells > INT32_MAX)
        return TL_FAIL(err, TALUS_NO_MEMORY, "the grid needs %lld cells, at most 2^31 can be numbered",
                       (long long)out->cells);
    out->corner = tl_arena_take(a, sizeof *out->corner * (size_t)(out->blocks + 1));
    out->near = tl_arena_take(a, sizeof *out->near * (size_t)(out->blocks + 1));
    out->place = tl_arena_take(a, sizeof *out->place * (size_t)out->f.size);
    out->by_colour = TL_TAKE(a, int32_t, out->owned);
    out->colour_start = TL_TAKE(a, int32_t, out->colours + 1);
    out->first = TL_TAKE(a, int32_t, out->blocks + 1);
    *colour = TL_TAKE(a, uint8_t, out->blocks);
    if (!out->corner || !out->near || !out->place || !out->by_colour || !out->colour_start || !out->first || !*colour)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a grid of %d blocks", (int)out->blocks);
    return TALUS_OK;
}

talus_status tl_grid_build(tl_grid *out, const tl_grid_frame *f, int64_t n, const uint64_t *cell_key, tl_arena *a,
                           talus_error *err)
{
    *out = (tl_grid){.f = *f, .colours = 27, .comm = f->owners ? f->owners->comm : NULL};
    uint8_t *colour = NULL;
    TL_TRY(tl_comm_agree(out->comm, list_blocks(out, n, cell_key, a, err), err));
    if (out->comm) TL_TRY(tl_grid_agree(out, a, err));
    TL_TRY(tl_comm_agree(out->comm, take_room(out, &colour, a, err), err));
    for (int32_t p = 0; p < f->size; p++) {
        int32_t at[3];
        place_of(f, p, at);
        for (int k = 0; k < 3; k++) out->place[p][k] = (uint8_t)at[k];
    }
    int64_t i = 0;
    for (int32_t b = 0; b < out->blocks; b++) {
        out->first[b] = (int32_t)i;
        while (i < n && (int64_t)(cell_key[i] >> PLACE_BITS) == out->key[b]) i++;
    }
    out->first[out->blocks] = (int32_t)i;
    find_near(out);
    find_colours(out, colour);
    TL_VALIDATE(tl_grid_check(out, err));
    return TALUS_OK;
}

talus_status tl_grid_check(const tl_grid *g, talus_error *err)
{
    for (int32_t b = 0; b < g->blocks; b++) {
        if (b && b != g->owned && g->key[b] <= g->key[b - 1])
            return TL_FAIL(err, TALUS_BAD_INPUT, "key of block %d does not rise", b);
        if (g->first[b + 1] < g->first[b]) return TL_FAIL(err, TALUS_BAD_INPUT, "particles of block %d end early", b);
        for (int k = 0; k < 27; k++) {
            const int32_t n = g->near[b][k];
            if (n < 0 || n > g->blocks || (n < g->blocks && g->near[n][26 - k] != b))
                return TL_FAIL(err, TALUS_BAD_INPUT, "block %d has neighbour %d of %d, which does not have it", b, n,
                               g->blocks);
        }
    }
    int64_t coloured = 0;
    for (int32_t c = 0; c < g->colours; c++)
        for (int32_t i = g->colour_start[c]; i < g->colour_start[c + 1]; i++, coloured++)
            if (i > g->colour_start[c] && g->by_colour[i] <= g->by_colour[i - 1])
                return TL_FAIL(err, TALUS_BAD_INPUT, "blocks of colour %d do not rise", c);
    if (coloured != g->owned)
        return TL_FAIL(err, TALUS_BAD_INPUT, "%lld blocks of %d have a colour", (long long)coloured, g->owned);
    return TALUS_OK;
}

int32_t tl_grid_halo(const tl_grid *g, int32_t block, int32_t id[TL_GRID_HALO_MAX])
{
    const int32_t *e = g->f.edge, *s = g->f.stride;
    int32_t n = 0;
    for (int32_t x = -1; x <= e[0]; x++)
        for (int32_t y = -1; y <= e[1]; y++) {
            int32_t bx = (x >= e[0]) - (x < 0), by = (y >= e[1]) - (y < 0);
            const int32_t *row = &g->near[block][TL_GRID_SELF + 9 * bx + 3 * by];
            int32_t at = (x - bx * e[0]) * s[0] + (y - by * e[1]) * s[1];
            id[n++] = row[-1] * g->f.size + at + e[2] - 1;
            const int32_t from = row[0] * g->f.size + at;
            if (e[2] == TL_GRID_EDGE)
                for (int32_t z = 0; z < TL_GRID_EDGE; z++) id[n + z] = from + z;
            else
                for (int32_t z = 0; z < e[2]; z++) id[n + z] = from + z;
            n += e[2];
            id[n++] = row[1] * g->f.size + at;
        }
    return n;
}
