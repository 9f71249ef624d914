#include "model/sph/cells.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"

#define CELLS_PER_PARTICLE 64 /* of the table, at most; hollow tanks need some 15 */
#define CELLS_LEAST (1 << 22)
#define BINS 1024

static const tl_vec3 *place(const void *x, size_t stride, int32_t i)
{
    return (const tl_vec3 *)((const char *)x + stride * (size_t)i);
}

static bool split(double x, double scale, int32_t *cell, float *at)
{
    double u = x * scale;
    if (!(fabs(u) < TL_SPH_UNITS * TL_SPH_CELL_MAX)) return false;
    int64_t k = llrint(u);
    *cell = (int32_t)(k >> 22);
    *at = (float)(k & 0x3fffff);
    return true;
}

/* Cells and places of all, in their old order. Returns a particle whose place cannot be, or -1. */
static int32_t split_all(int32_t n, const void *x, size_t stride, double h, int32_t *const cell[3], float *const at[3])
{
    double scale = TL_SPH_UNITS / (2 * h);
    tl_blocks blocks = tl_blocks_of(n);
    int32_t bad[TL_BLOCKS_MAX];
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++) {
        bad[b] = -1;
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
            const tl_vec3 *p = place(x, stride, (int32_t)i);
            const bool x_good = split(p->x, scale, &cell[0][i], &at[0][i]),
                       y_good = split(p->y, scale, &cell[1][i], &at[1][i]),
                       z_good = split(p->z, scale, &cell[2][i], &at[2][i]);
            if (!(x_good && y_good && z_good) && bad[b] < 0) bad[b] = (int32_t)i;
        }
    }
    for (int b = 0; b < blocks.count; b++)
        if (bad[b] >= 0) return bad[b];
    return -1;
}

static void range(int32_t n, const int32_t *cell, int32_t *low, int32_t *high)
{
    tl_blocks blocks = tl_blocks_of(n);
    int32_t lo[TL_BLOCKS_MAX], hi[TL_BLOCKS_MAX];
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++) {
        lo[b] = INT32_MAX;
        hi[b] = INT32_MIN;
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
            lo[b] = cell[i] < lo[b] ? cell[i] : lo[b];
            hi[b] = cell[i] > hi[b] ? cell[i] : hi[b];
        }
    }
    *low = blocks.count ? INT32_MAX : 0;
    *high = blocks.count ? INT32_MIN : 0;
    for (int b = 0; b < blocks.count; b++) {
        *low = lo[b] < *low ? lo[b] : *low;
        *high = hi[b] > *high ? hi[b] : *high;
    }
}

/* Cuts off what few particles need on an axis: at least an eighth of the range, on the emptier side. */
static void trim(int32_t n, const int32_t *cell, int32_t *low, int32_t *high)
{
    int64_t count[BINS] = {0}, width = ((int64_t)*high - *low) / BINS + 1, few = n / 256;
    for (int32_t i = 0; i < n; i++) {
        int64_t c = cell[i] < *low ? *low : cell[i] > *high ? *high : cell[i];
        count[(c - *low) / width]++;
    }
    int bins = (int)(((int64_t)*high - *low) / width) + 1, first = 0, last = bins - 1, cut = bins / 8 + 1;
    int64_t left = 0, right = 0;
    while (first < last && left + count[first] <= few) left += count[first++];
    while (last > first && right + count[last] <= few) right += count[last--];
    if (first + bins - 1 - last < cut) {
        left = right = 0;
        for (int k = 0; k < cut; k++) {
            left += count[k];
            right += count[bins - 1 - k];
        }
        first = left < right ? cut : 0;
        last = left < right ? bins - 1 : bins - 1 - cut;
    }
    int64_t new_high = *low + (last + 1) * width - 1;
    *low = (int32_t)(*low + first * width);
    if (new_high < *high) *high = (int32_t)new_high;
}

static void choose_table(tl_sph_cells *t, int32_t n, int32_t *const cell[3])
{
    int32_t high[3];
    for (int k = 0; k < 3; k++) range(n, cell[k], &t->low[k], &high[k]);
    for (;;) {
        double all = 1;
        int longest = 0;
        for (int k = 0; k < 3; k++) {
            t->n[k] = high[k] - t->low[k] + 1;
            all *= t->n[k];
            if (t->n[k] > t->n[longest]) longest = k;
        }
        if (all <= (double)CELLS_PER_PARTICLE * n + CELLS_LEAST) return;
        trim(n, cell[longest], &t->low[longest], &high[longest]);
    }
}

/* Counting sort, stable. */
static void sort(tl_sph_cells *t, int32_t n, int32_t *const cell[3], int32_t *key, int32_t *order)
{
    int64_t cells = (int64_t)t->n[0] * t->n[1] * t->n[2];
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < n; i++)
        key[i] = (tl_sph_cells_inside(t, 2, cell[2][i]) * t->n[1] + tl_sph_cells_inside(t, 1, cell[1][i])) * t->n[0] +
                 tl_sph_cells_inside(t, 0, cell[0][i]);
    int32_t *start = t->start;
    memset(start, 0, sizeof *start * (size_t)(cells + 1));
    for (int32_t i = 0; i < n; i++) start[key[i] + 1]++;
    for (int64_t c = 0; c < cells; c++) start[c + 1] += start[c];
    for (int32_t i = 0; i < n; i++) order[start[key[i]]++] = i;
    for (int64_t c = cells; c > 0; c--) start[c] = start[c - 1];
    start[0] = 0;
}

static talus_status no_memory(int32_t n, talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to sort %d particles", n);
}

/* data [n] (4 bytes each) in the new order. */
static void permute(int32_t n, void *data, const int32_t *order, void *spare)
{
    const uint32_t *from = spare;
    uint32_t *to = data;
    memcpy(spare, data, sizeof *to * (size_t)n);
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < n; i++) to[i] = from[order[i]];
}

talus_status tl_sph_sort(tl_sph_sorted *out, const tl_sph_places *p, double h, int32_t *order, int32_t *bad,
                         tl_arena *a, talus_error *err)
{
    const int32_t n = p->count;
    *out = (tl_sph_sorted){.count = n};
    for (int k = 0; k < 3; k++) {
        out->cell[k] = TL_TAKE(a, int32_t, n + TL_SPH_BEYOND);
        out->at[k] = TL_TAKE(a, float, n + TL_SPH_BEYOND);
        if (!out->cell[k] || !out->at[k]) return no_memory(n, err);
        memset(out->cell[k] + n, 0, sizeof(int32_t) * TL_SPH_BEYOND);
        memset(out->at[k] + n, 0, sizeof(float) * TL_SPH_BEYOND);
    }
    *bad = split_all(n, p->x, p->stride, h, out->cell, out->at);
    if (*bad >= 0) return TALUS_OK;
    tl_sph_cells *t = &out->cells;
    choose_table(t, n, out->cell);
    t->start = TL_TAKE(a, int32_t, tl_sph_roomy((int64_t)t->n[0] * t->n[1] * t->n[2] + 1));
    size_t mark = tl_arena_mark(a);
    int32_t *key = TL_TAKE(a, int32_t, n);
    if (!t->start || !key) return no_memory(n, err);
    sort(t, n, out->cell, key, order);
    for (int k = 0; k < 3; k++) {
        permute(n, out->cell[k], order, key);
        permute(n, out->at[k], order, key);
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}
