/* Liquid fractions from the distance at cell centres. */
#include <string.h>

#include "base/parallel.h"
#include "model/grid/eighths.h"

#define ROUNDING 1e-12 /* a surface that ends at an eighth's side leaves nothing in it, not 1e-17 */

/* One eighth of the cube between eight centres, at the end of centre `end`: there the field is trilinear. v: values
 * at the centres, bit k of the index set for the upper one along axis k (2: x, 1: y, 0: z). Value and slopes at a
 * quarter of the way; an eighth is half as wide as the distance of centres. */
static double eighth(const double v[8], int end)
{
    double c = 0, g[3] = {0, 0, 0};
    for (int k = 0; k < 8; k++) {
        int same = ~(k ^ end);
        double wx = same & 4 ? 0.75 : 0.25, wy = same & 2 ? 0.75 : 0.25, wz = same & 1 ? 0.75 : 0.25;
        c += wx * wy * wz * v[k];
        g[0] += (k & 4 ? 0.5 : -0.5) * wy * wz * v[k];
        g[1] += wx * (k & 2 ? 0.5 : -0.5) * wz * v[k];
        g[2] += wx * wy * (k & 1 ? 0.5 : -0.5) * v[k];
    }
    double part = tl_plane_in_cube(c, g);
    return part < ROUNDING ? 0 : part > 1 - ROUNDING ? 1 : part;
}

/* Eighths of one block's cells, and of the halves of cells before it: cube by cube between centres. */
static void block_eighths(const tl_grid *g, const double *around, tl_eighths *out)
{
    const int32_t *e = g->f.edge, sx = (e[1] + 2) * (e[2] + 2), sy = e[2] + 2;
    for (int32_t x = 0; x <= e[0]; x++)
        for (int32_t y = 0; y <= e[1]; y++)
            for (int32_t z = 0; z <= e[2]; z++) {
                double v[8];
                int inside = 0;
                for (int k = 0; k < 8; k++) {
                    v[k] = around[(x + (k >> 2)) * sx + (y + (k >> 1 & 1)) * sy + z + (k & 1)];
                    inside += v[k] < 0;
                }
                for (int k = 0; k < 8; k++) {
                    int32_t i = 2 * x + (k >> 2), j = 2 * y + (k >> 1 & 1), l = 2 * z + (k & 1);
                    if (i >= out->n[0] || j >= out->n[1] || l >= out->n[2]) continue;
                    out->part[(i * out->n[1] + j) * out->n[2] + l] = inside % 8 ? eighth(v, k) : inside / 8;
                }
            }
}

/* No surface near: all the same. */
static int same_sign(int32_t n, const double *v)
{
    int32_t inside = 0;
    for (int32_t i = 0; i < n; i++) inside += v[i] < 0;
    return inside == 0 ? 0 : inside == n ? 1 : -1;
}

/* Cells of a block with a change of sign among the 27 around them; the others are all in or all out. around: as of
 * tl_grid_halo. */
static void near_surface(const tl_grid *g, const double *around, uint8_t *count)
{
    const int32_t *e = g->f.edge, sy = e[2] + 2, sx = (e[1] + 2) * sy, n = (e[0] + 2) * sx;
    uint8_t in[TL_GRID_HALO_MAX + 2 * TL_GRID_EDGE], sum[TL_GRID_HALO_MAX + 2 * TL_GRID_EDGE];
    for (int32_t i = 0; i < n; i++) in[i] = around[i] < 0;
    for (int32_t i = 0; i < n - 2; i++) sum[i] = (uint8_t)(in[i] + in[i + 1] + in[i + 2]);
    for (int32_t i = 0; i < n - 2 - 2 * sy; i++) in[i] = (uint8_t)(sum[i] + sum[i + sy] + sum[i + 2 * sy]);
    for (int32_t i = 0; i < n - 2 - 2 * sy - 2 * sx; i++) count[i] = (uint8_t)(in[i] + in[i + sx] + in[i + 2 * sx]);
}

/* Cells alone, and these by their own eighths only. */
static void cell_fractions(const tl_grid *g, int32_t b, const double *around, tl_liquid *out)
{
    const int32_t *e = g->f.edge, sy = e[2] + 2, sx = (e[1] + 2) * sy;
    uint8_t count[TL_GRID_HALO_MAX];
    near_surface(g, around, count);
    for (int32_t p = 0; p < g->f.size; p++) {
        const uint8_t *at = g->place[p];
        const int32_t low = at[0] * sx + at[1] * sy + at[2];
        double part[8], *to = &out->cell[b * g->f.size + p];
        *to = count[low] == 27;
        if (count[low] % 27 == 0) continue;
        for (int k = 0; k < 8; k++) {
            const int32_t first = low + (k >> 2) * sx + (k >> 1 & 1) * sy + (k & 1);
            double v[8];
            int inside = 0;
            for (int j = 0; j < 8; j++) {
                v[j] = around[first + (j >> 2) * sx + (j >> 1 & 1) * sy + (j & 1)];
                inside += v[j] < 0;
            }
            part[k] = inside % 8 ? eighth(v, 7 ^ k) : inside / 8;
        }
        *to = 0.125 * (((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7])));
    }
}

static void block_fractions(const tl_grid *g, int32_t b, const double *phi, tl_liquid *out)
{
    int32_t id[TL_GRID_HALO_MAX], n = tl_grid_halo(g, b, id);
    double around[TL_GRID_HALO_MAX];
    for (int32_t i = 0; i < n; i++) around[i] = phi[id[i]];
    int same = same_sign(n, around);
    if (same < 0 && !out->face[0] && !out->edge[0]) {
        cell_fractions(g, b, around, out);
        return;
    }
    tl_eighths parts;
    tl_eighths_begin(g, &parts);
    if (same < 0) block_eighths(g, around, &parts);
    for (int32_t p = 0; p < g->f.size; p++) {
        int32_t cell = b * g->f.size + p;
        const uint8_t *at = g->place[p];
        out->cell[cell] = same < 0 ? tl_eighths_cell(&parts, at) : same;
        for (int k = 0; k < 3; k++) {
            if (out->face[k]) out->face[k][cell] = same < 0 ? tl_eighths_face(&parts, at, k) : same;
            if (out->edge[k]) out->edge[k][cell] = same < 0 ? tl_eighths_edge(&parts, at, k) : same;
        }
    }
}

/* 0 or 1 by the sign of the distance at the place itself, the mean of cells around it. */
static void block_binary(const tl_grid *g, int32_t b, const double *phi, tl_liquid *out)
{
    for (int32_t p = 0; p < g->f.size; p++) {
        int32_t cell = b * g->f.size + p;
        out->cell[cell] = phi[cell] < 0;
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            int32_t ci = tl_grid_step(g, cell, i, -1), cj = tl_grid_step(g, cell, j, -1);
            if (out->face[k]) out->face[k][cell] = phi[cell] + phi[tl_grid_step(g, cell, k, -1)] < 0;
            if (out->edge[k]) out->edge[k][cell] = phi[cell] + phi[ci] + phi[cj] + phi[tl_grid_step(g, ci, j, -1)] < 0;
        }
    }
}

talus_status tl_liquid_fractions(const tl_grid *g, const double *phi, bool binary, bool faces, bool edges, tl_arena *a,
                                 tl_liquid *out, talus_error *err)
{
    *out = (tl_liquid){.cell = TL_TAKE(a, double, g->cells)};
    bool good = out->cell != NULL;
    for (int k = 0; k < 3; k++) {
        if (faces) good &= (out->face[k] = TL_TAKE(a, double, g->cells)) != NULL;
        if (edges) good &= (out->edge[k] = TL_TAKE(a, double, g->cells)) != NULL;
    }
    if (!good)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for liquid fractions of %lld cells", (long long)g->cells);
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++) (binary ? block_binary : block_fractions)(g, b, phi, out);
    int64_t ghost = (int64_t)g->blocks * g->f.size;
    memset(out->cell + ghost, 0, sizeof(double) * (size_t)g->f.size);
    for (int k = 0; k < 3; k++) {
        if (faces) memset(out->face[k] + ghost, 0, sizeof(double) * (size_t)g->f.size);
        if (edges) memset(out->edge[k] + ghost, 0, sizeof(double) * (size_t)g->f.size);
    }
    return TALUS_OK;
}
