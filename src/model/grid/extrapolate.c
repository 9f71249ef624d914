#include "model/grid/extrapolate.h"

#include <string.h>

#include "base/parallel.h"

/* One layer of one block: unknown faces next to known ones take their mean. Reads known faces only, so the order of blocks does not
 * matter; marks go to `next`. */
static void spread(const tl_grid *g, int32_t b, int layer, double *u, const uint8_t *known, uint8_t *next)
{
    const int32_t sx = (g->f.edge[1] + 2) * (g->f.edge[2] + 2), sy = g->f.edge[2] + 2;
    const int32_t step[6] = {-sx, sx, -sy, sy, -1, 1};
    int32_t id[TL_GRID_HALO_MAX], n;
    uint8_t around[TL_GRID_HALO_MAX], some = 0;
    memcpy(next + b * g->f.size, known + b * g->f.size, (size_t)g->f.size);
    if (!memchr(known + b * g->f.size, 0, (size_t)g->f.size)) return;
    n = tl_grid_halo(g, b, id);
    for (int32_t i = 0; i < n; i++) some |= around[i] = known[id[i]];
    if (!some) return;
    for (int32_t p = 0; p < g->f.size; p++) {
        int32_t cell = b * g->f.size + p;
        const uint8_t *at = g->place[p];
        int32_t here = (at[0] + 1) * sx + (at[1] + 1) * sy + at[2] + 1;
        if (around[here]) continue;
        double sum = 0;
        int count = 0;
        for (int k = 0; k < 6; k++)
            if (around[here + step[k]]) {
                sum += u[id[here + step[k]]];
                count++;
            }
        if (!count) continue;
        u[cell] = sum / count;
        next[cell] = (uint8_t)(layer + 1);
    }
}

talus_status tl_extrapolate(const tl_grid *g, int layers, double *const u[3], uint8_t *const known[3], tl_arena *a,
                            talus_error *err)
{
    size_t start = tl_arena_mark(a);
    int64_t inner = (int64_t)g->blocks * g->f.size;
    uint8_t *next = TL_TAKE(a, uint8_t, g->cells);
    if (!next) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to extrapolate on %lld cells", (long long)g->cells);
    for (int axis = 0; axis < 3; axis++) {
        memset(known[axis] + inner, 0, (size_t)g->f.size);
        for (int layer = 1; layer <= layers; layer++) {
#pragma omp parallel for schedule(static) if (g->blocks > 8)
            for (int32_t b = 0; b < g->blocks; b++) spread(g, b, layer, u[axis], known[axis], next);
            memcpy(known[axis], next, (size_t)inner);
        }
#pragma omp parallel for schedule(static) if (g->blocks > 8)
        for (int64_t i = 0; i < g->cells; i++)
            if (!known[axis][i]) u[axis][i] = 0;
    }
    tl_arena_release(a, start);
    return TALUS_OK;
}

/* Velocity vector at a face: its own component, and the mean of the four nearest known ones of the others. */
static tl_vec3 vector_at(const tl_grid *g, int axis, int32_t face, double *const u[3], uint8_t *const known[3])
{
    double v[3];
    int32_t before = tl_grid_step(g, face, axis, -1);
    for (int k = 0; k < 3; k++) {
        if (k == axis) {
            v[k] = u[k][face];
            continue;
        }
        const int32_t four[4] = {face, before, tl_grid_step(g, face, k, 1), tl_grid_step(g, before, k, 1)};
        double sum = 0;
        int n = 0;
        for (int i = 0; i < 4; i++)
            if (known[k][four[i]]) {
                sum += u[k][four[i]];
                n++;
            }
        v[k] = n ? sum / n : 0;
    }
    return tl_vec3_load(v);
}

talus_status tl_clip_inflow(const tl_grid *g, const tl_solids *s, double *const open[3], uint8_t *const known[3],
                            double *const u[3], tl_arena *a, talus_error *err)
{
    size_t start = tl_arena_mark(a);
    double *clipped[3];
    for (int k = 0; k < 3; k++)
        if (!(clipped[k] = TL_TAKE(a, double, g->cells)))
            return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to clip velocities on %lld cells", (long long)g->cells);
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++)
        for (int32_t i = b * g->f.size; i < (b + 1) * g->f.size; i++)
            for (int k = 0; k < 3; k++) {
                clipped[k][i] = u[k][i];
                if (open[k][i] > 0 || !known[k][i]) continue;
                int32_t which;
                tl_vec3 n, at = tl_grid_face_centre(g, k, i), v = vector_at(g, k, i, u, known);
                tl_solids_distance(s, b, at, &which, &n);
                double into = tl_vec3_dot(tl_vec3_sub(v, tl_solids_velocity(s, which, at)), n);
                if (which != TL_SOLID_NONE && into < 0) clipped[k][i] -= into * (k == 0 ? n.x : k == 1 ? n.y : n.z);
            }
    for (int k = 0; k < 3; k++) memcpy(u[k], clipped[k], sizeof(double) * (size_t)g->blocks * (size_t)g->f.size);
    tl_arena_release(a, start);
    return TALUS_OK;
}
