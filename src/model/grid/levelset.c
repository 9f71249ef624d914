#include "model/grid/levelset.h"

#include <string.h>

#include "base/parallel.h"

double tl_depth_of_fill(double f)
{
    if (!(f > 0)) return -1;
    if (f >= 1) return 1;
    return f > 0.5 ? 1 - sqrt(2 * (1 - f)) : sqrt(2 * f) - 1;
}

double tl_fill_of_depth(double d)
{
    if (d <= -1 || d >= 1) return d > 0;
    return d > 0 ? 1 - 0.5 * (1 - d) * (1 - d) : 0.5 * (1 + d) * (1 + d);
}

#define EXTEND                                                                                                         \
    1.25 /* cells into solids: a face whose cube is not all solid has its centre at most 1.23 - 0.5 cells inside */
#define SURFACE_NOISE                                                                                                  \
    0.1 /* of a full cell: fillings fluctuate by half of that, and at a surface only what is too much counts */
#define LEAST_TOLD 0.5   /* of the kernel outside of solids: below, crowds are not looked for */
#define LEAST_CLEAR 0.05 /* of the kernel outside of solids: below, a filling says nothing */

/* Hat-kernel share of solids at a cell: (1/8, 3/4, 1/8) along each axis, exact for solids that end at faces; else some are `cut`. */
static double solid_share(const tl_grid *g, const double *around, int32_t at, bool *cut)
{
    static const double w[3] = {0.125, 0.75, 0.125};
    int32_t sx = (g->f.edge[1] + 2) * (g->f.edge[2] + 2), sy = g->f.edge[2] + 2;
    double sum = 0;
    for (int x = 0; x < 3; x++)
        for (int y = 0; y < 3; y++)
            for (int z = 0; z < 3; z++) {
                double part = around[at + (x - 1) * sx + (y - 1) * sy + z - 1];
                sum += w[x] * w[y] * w[z] * part;
                *cut |= part > 1e-9 && part < 1 - 1e-9;
            }
    return sum;
}

/* Share of solids in the kernel where they cut cells: by planes it is exact away from edges, by parts of cells right at edges and off by up
 * to 0.0625 elsewhere (with a plane at three quarters of the way to the next centre). */
#define CUT_ERROR 0.07
static double best_share(double by_cells, double by_plane)
{
    return fabs(by_cells - by_plane) < CUT_ERROR ? by_plane : by_cells;
}

/* Part of each cell's kernel that is outside of solids: the filling of a full pool. */
static void find_clear(const tl_grid *g, int32_t b, const double *solid_cell, const float *solid_phi, double *clear)
{
    int32_t id[TL_GRID_HALO_MAX], n = tl_grid_halo(g, b, id), sx = (g->f.edge[1] + 2) * (g->f.edge[2] + 2);
    double around[TL_GRID_HALO_MAX];
    bool solids = false;
    for (int32_t i = 0; i < n; i++) solids |= (around[i] = solid_cell[id[i]]) > 0;
    for (int32_t p = 0; p < g->f.size; p++) {
        const uint8_t *at = g->place[p];
        int32_t cell = b * g->f.size + p;
        clear[cell] = 1;
        if (!solids) continue;
        bool cut = false;
        double share = solid_share(g, around, (at[0] + 1) * sx + (at[1] + 1) * (g->f.edge[2] + 2) + at[2] + 1, &cut);
        if (cut) share = best_share(share, tl_fill_of_depth(-(double)solid_phi[cell] / g->f.dx));
        clear[cell] -= share;
    }
}

/* The eight cells around a place, and their trilinear weights; only cells whose centre is outside of solids count. Sum of weights. */
static double cells_outside(const tl_grid *g, const float *solid_phi, tl_vec3 x, int32_t id[8], double w[8])
{
    const double at[3] = {x.x, x.y, x.z};
    int32_t low[3];
    double t[3], sum = 0;
    for (int k = 0; k < 3; k++) {
        double s = tl_grid_scaled(&g->f, at[k], k) - 0.5, down = floor(s);
        low[k] = (int32_t)down;
        t[k] = s - down;
    }
    for (int c = 0; c < 8; c++) {
        id[c] = tl_grid_cell(g, low[0] + (c >> 2), low[1] + (c >> 1 & 1), low[2] + (c & 1));
        w[c] = (c & 4 ? t[0] : 1 - t[0]) * (c & 2 ? t[1] : 1 - t[1]) * (c & 1 ? t[2] : 1 - t[2]);
        if (!tl_grid_exists(g, id[c]) || solid_phi[id[c]] < 0) w[c] = 0;
        sum += w[c];
    }
    return sum;
}

/* What the kernels of particles put into cells whose centre is in a solid goes back to where its mirror image in the surface is (in corners
 * again), and so does what a full pool would have put there. A film on a wall along the grid then fills its cell as much as it is thick, wherever
 * in the cell its particles are. In the order of cells: no two threads write. */
static void fold(const tl_grid *g, const tl_solids *s, const float *solid_phi, double *fill, double *clear)
{
    for (int32_t cell = 0; cell < g->blocks * g->f.size; cell++) {
        if (!((double)solid_phi[cell] < 0) || !(clear[cell] > 0) || (double)solid_phi[cell] < -g->f.dx) continue;
        int32_t which, id[8], block = cell / g->f.size;
        tl_vec3 n, x = tl_grid_centre(g, cell);
        double d = -1, w[8];
        for (int k = 0; k < 3 && d < 0; k++) {
            d = tl_solids_distance(s, block, x, &which, &n);
            if (d < 0) x = tl_vec3_add_scaled(x, -2 * d, n);
        }
        double sum = cells_outside(g, solid_phi, x, id, w);
        if (!(sum > 1e-6)) continue;
        for (int c = 0; c < 8; c++)
            if (w[c] > 0) {
                fill[id[c]] += w[c] / sum * fill[cell];
                clear[id[c]] += w[c] / sum * clear[cell];
            }
    }
}

static void from_fill(const tl_grid *g, int32_t b, const double *fill, const double *clear, double *phi, double *excess)
{
    for (int32_t cell = b * g->f.size; cell < (b + 1) * g->f.size; cell++) {
        double full = clear ? clear[cell] : 1;
        phi[cell] = g->f.dx;
        if (excess) excess[cell] = 0;
        if (!(fill[cell] > 0)) continue;
        if (full > LEAST_CLEAR) phi[cell] = -g->f.dx * tl_depth_of_fill(fill[cell] / full);
        if (excess && full > LEAST_TOLD) excess[cell] = fill[cell] / full - 1;
    }
}

/* A cell with no air around it is a cell deep, however its filling fluctuates. Fractions of cells outside of solids do not see the
 * difference; what is extended into solids does. */
static void settle(const tl_grid *g, int32_t b, const double *raw, const float *solid_phi, double *phi, double *excess)
{
    int32_t id[TL_GRID_HALO_MAX], n = tl_grid_halo(g, b, id);
    int32_t sx = (g->f.edge[1] + 2) * (g->f.edge[2] + 2), sy = g->f.edge[2] + 2;
    bool air[TL_GRID_HALO_MAX];
    for (int32_t i = 0; i < n; i++)
        air[i] = !tl_grid_exists(g, id[i]) || (raw[id[i]] >= 0 && !(solid_phi && solid_phi[id[i]] < 0));
    for (int32_t p = 0; p < g->f.size; p++) {
        const uint8_t *at = g->place[p];
        const bool *here = &air[(at[0] + 1) * sx + (at[1] + 1) * sy + at[2] + 1];
        bool any = false;
        for (int k = 0; k < 9; k++) {
            const bool *row = here + (k / 3 - 1) * sx + (k % 3 - 1) * sy;
            any |= row[-1] || row[0] || row[1];
        }
        int32_t cell = b * g->f.size + p;
        phi[cell] = any ? raw[cell] : -g->f.dx;
        if (any && excess) excess[cell] = fmax(excess[cell] - SURFACE_NOISE, 0);
    }
}

/* Trilinear value at x from cells whose centre is outside of solids; false: there is none. */
static bool value_outside(const tl_grid *g, const double *phi, const float *solid_phi, tl_vec3 x, double *out)
{
    int32_t id[8];
    double w[8], sum = 0, weight = cells_outside(g, solid_phi, x, id, w);
    if (!(weight > 1e-6)) return false;
    for (int c = 0; c < 8; c++)
        if (w[c] > 0) sum += w[c] * phi[id[c]];
    *out = sum / weight;
    return true;
}

/* Into solids, one cell deep: the value at the nearest place outside. `from` is the field before any extension. */
static void extend(const tl_grid *g, int32_t b, const double *from, const tl_solids *s, const float *solid_phi,
                   double off, double *phi)
{
    for (int32_t p = 0; p < g->f.size; p++) {
        int32_t cell = b * g->f.size + p, which;
        double value;
        phi[cell] = from[cell];
        if (solid_phi[cell] >= off) continue;
        phi[cell] = g->f.dx;
        if (solid_phi[cell] < -EXTEND * g->f.dx) continue;
        tl_vec3 n, x = tl_grid_centre(g, cell);
        double d = tl_solids_distance(s, b, x, &which, &n);
        if (value_outside(g, from, solid_phi, tl_vec3_add_scaled(x, off - d, n), &value)) phi[cell] = value;
    }
}

talus_status tl_liquid_distance(const tl_grid *g, const double *fill, const double *solid_cell, const tl_solids *s,
                                const float *solid_phi, double spacing, tl_arena *a, double *phi, double *excess,
                                talus_error *err)
{
    size_t mark = tl_arena_mark(a);
    double *raw = TL_TAKE(a, double, g->cells), *settled = s ? TL_TAKE(a, double, g->cells) : phi;
    double *clear = s ? TL_TAKE(a, double, g->cells) : NULL, *folded = s ? TL_TAKE(a, double, g->cells) : NULL;
    if (!raw || !settled || (s && (!clear || !folded)))
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a distance on %lld cells", (long long)g->cells);
    if (s) {
        memcpy(folded, fill, sizeof *fill * (size_t)g->cells);
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
        for (int32_t b = 0; b < g->blocks; b++) find_clear(g, b, solid_cell, solid_phi, clear);
        fold(g, s, solid_phi, folded, clear);
        fill = folded;
    }
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++) from_fill(g, b, fill, clear, raw, excess);
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++) settle(g, b, raw, s ? solid_phi : NULL, settled, excess);
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++)
        if (s) extend(g, b, settled, s, solid_phi, 0.5 * spacing, phi);
    for (int32_t p = 0; p < g->f.size; p++) {
        phi[(int64_t)g->blocks * g->f.size + p] = g->f.dx;
        if (excess) excess[(int64_t)g->blocks * g->f.size + p] = 0;
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}
