#include "model/grid/levelset.h"

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

/* Hat-kernel share of solids at a cell: (1/8, 3/4, 1/8) along each axis, exact for solids that end at faces. */
static double solid_share(const tl_grid *g, const double *around, int32_t at)
{
    static const double w[3] = {0.125, 0.75, 0.125};
    int32_t sx = (g->f.edge[1] + 2) * (g->f.edge[2] + 2), sy = g->f.edge[2] + 2;
    double sum = 0;
    for (int x = 0; x < 3; x++)
        for (int y = 0; y < 3; y++)
            for (int z = 0; z < 3; z++) sum += w[x] * w[y] * w[z] * around[at + (x - 1) * sx + (y - 1) * sy + z - 1];
    return sum;
}

/* Share of solids in the kernel, from both: by planes it is exact away from edges, by parts of cells right at edges and off by up
 * to 0.0625 where a plane cuts cells (at a quarter and three quarters of the way to the next). */
#define CUT_ERROR 0.07
static double best_share(double by_cells, double by_plane)
{
    return fabs(by_cells - by_plane) < CUT_ERROR ? by_plane : by_cells;
}

static void from_fill(const tl_grid *g, int32_t b, const double *fill, const double *solid_cell, const float *solid_phi,
                      double *phi, double *excess)
{
    int32_t id[TL_GRID_HALO_MAX], n = tl_grid_halo(g, b, id), sx = (g->f.edge[1] + 2) * (g->f.edge[2] + 2);
    double around[TL_GRID_HALO_MAX];
    bool solids = false;
    for (int32_t i = 0; solid_cell && i < n; i++) solids |= (around[i] = solid_cell[id[i]]) > 0;
    for (int32_t p = 0; p < g->f.size; p++) {
        const uint8_t *at = g->place[p];
        int32_t cell = b * g->f.size + p;
        double clear = 1;
        phi[cell] = g->f.dx;
        if (excess) excess[cell] = 0;
        if (!(fill[cell] > 0)) continue;
        if (solids) {
            double share = solid_share(g, around, (at[0] + 1) * sx + (at[1] + 1) * (g->f.edge[2] + 2) + at[2] + 1);
            double depth = solid_phi ? -(double)solid_phi[cell] / g->f.dx : 0;
            clear -= solid_phi ? best_share(share, tl_fill_of_depth(depth)) : share;
        }
        if (clear > LEAST_CLEAR) phi[cell] = -g->f.dx * tl_depth_of_fill(fill[cell] / clear);
        if (excess && clear > LEAST_TOLD) excess[cell] = fill[cell] / clear - 1;
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
    const double at[3] = {x.x, x.y, x.z};
    int32_t low[3];
    double t[3], sum = 0, weight = 0;
    for (int k = 0; k < 3; k++) {
        double s = tl_grid_scaled(&g->f, at[k], k) - 0.5, down = floor(s);
        low[k] = (int32_t)down;
        t[k] = s - down;
    }
    for (int c = 0; c < 8; c++) {
        double w = (c & 4 ? t[0] : 1 - t[0]) * (c & 2 ? t[1] : 1 - t[1]) * (c & 1 ? t[2] : 1 - t[2]);
        int32_t id = tl_grid_cell(g, low[0] + (c >> 2), low[1] + (c >> 1 & 1), low[2] + (c & 1));
        if (!tl_grid_exists(g, id) || solid_phi[id] < 0) continue;
        sum += w * phi[id];
        weight += w;
    }
    if (!(weight > 1e-6)) return false;
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
    if (!raw || !settled)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a distance on %lld cells", (long long)g->cells);
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++) from_fill(g, b, fill, solid_cell, s ? solid_phi : NULL, raw, excess);
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
