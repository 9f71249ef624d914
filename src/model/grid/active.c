#include "model/grid/active.h"

#include <string.h>

#include "base/parallel.h"

static bool has_open_face(const tl_grid *g, const tl_fractions *f, int32_t cell)
{
    for (int k = 0; k < 3; k++)
        if (f->open[k][cell] > 0 || f->open[k][tl_grid_step(g, cell, k, 1)] > 0) return true;
    return false;
}

bool tl_active_edge(const tl_grid *g, const double *fill, const tl_liquid *l, const tl_fractions *f, int k,
                    int32_t cell)
{
    if (l->edge[k][cell] < TL_ACTIVE_LIQUID) return false;
    int i = (k + 1) % 3, j = (k + 2) % 3;
    int32_t ci = tl_grid_step(g, cell, i, -1), cj = tl_grid_step(g, cell, j, -1), cij = tl_grid_step(g, ci, j, -1);
    const int32_t around[4] = {cell, ci, cj, cij};
    double sum = 0;
    for (int c = 0; c < 4; c++) sum += fill[around[c]] + f->solid_cell[around[c]];
    if (sum < 4 * TL_ACTIVE_FILL) return false;
    return f->open[i][cell] > 0 || f->open[i][cj] > 0 || f->open[j][cell] > 0 || f->open[j][ci] > 0;
}

talus_status tl_active_cells(const tl_grid *g, const double *fill, const tl_liquid *l, const tl_fractions *f,
                             bool edges, tl_arena *a, tl_active *out, talus_error *err)
{
    *out = (tl_active){.number = TL_TAKE(a, int32_t, g->cells)};
    int32_t *count = TL_TAKE(a, int32_t, g->blocks + 1);
    bool good = out->number && count;
    for (int k = 0; k < 3 && edges; k++) good &= (out->edge[k] = TL_TAKE_ZERO(a, uint8_t, g->cells)) != NULL;
    if (!good) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for active cells among %lld", (long long)g->cells);
#pragma omp parallel for schedule(static) if (g->blocks > 8)
    for (int32_t b = 0; b <= g->blocks; b++) {
        count[b] = 0;
        for (int32_t i = b * g->f.size; i < (b + 1) * g->f.size; i++) {
            bool on = b < g->blocks && l->cell[i] >= TL_ACTIVE_LIQUID && fill[i] + f->solid_cell[i] >= TL_ACTIVE_FILL &&
                      has_open_face(g, f, i);
            out->number[i] = on ? count[b]++ : -1;
            for (int k = 0; k < 3 && edges && b < g->blocks; k++) out->edge[k][i] = tl_active_edge(g, fill, l, f, k, i);
        }
    }
    int32_t total = 0;
    for (int32_t b = 0; b <= g->blocks; b++) {
        int32_t n = count[b];
        count[b] = total;
        total += n;
    }
    out->count = total;
    out->cell = TL_TAKE(a, int32_t, total);
    if (!out->cell) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d active cells", (int)total);
#pragma omp parallel for schedule(static) if (g->blocks > 8)
    for (int32_t b = 0; b < g->blocks; b++)
        for (int32_t i = b * g->f.size; i < (b + 1) * g->f.size; i++)
            if (out->number[i] >= 0) out->cell[out->number[i] += count[b]] = i;
    return TALUS_OK;
}

/* Ids rise with keys; the numbering of `s` need not. */
int32_t tl_active_recall(const tl_grid *g, const tl_active *s, const tl_grid_state *past, double *p, double *stress)
{
    int32_t found = 0;
    int64_t at = 0;
    for (int32_t i = 0; tl_grid_owns(g, i); i++) {
        if (s->number[i] < 0) continue;
        int64_t key = (int64_t)tl_grid_key_of(g, i);
        while (at < past->memories && past->memory[at].key < key) at++;
        bool there = at < past->memories && past->memory[at].key == key;
        p[s->number[i]] = there ? past->memory[at].pressure : 0;
        for (int k = 0; k < 5 && stress; k++)
            stress[5 * (int64_t)s->number[i] + k] = there && at < past->stresses ? past->stress[5 * at + k] : 0;
        found += there;
    }
    return found;
}

void tl_active_remember(const tl_grid *g, const tl_active *s, const double *p, const double *stress, tl_grid_state *to)
{
    TL_ASSERT(to->memory_room >= s->count);
    int32_t count = 0;
    for (int32_t i = 0; tl_grid_owns(g, i); i++) {
        int64_t k = s->number[i];
        if (k < 0) continue;
        if (stress) memcpy(to->stress + 5 * (int64_t)count, stress + 5 * k, 5 * sizeof *stress);
        to->memory[count++] = (tl_cell_memory){(int64_t)tl_grid_key_of(g, i), p[k]};
    }
    to->memories = count;
    to->stresses = stress ? count : 0;
}
