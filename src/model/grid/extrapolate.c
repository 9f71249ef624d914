#include "model/grid/extrapolate.h"

#include <string.h>

#include "base/parallel.h"

#define ALONG 0.999999 /* of a normal along an axis */

/* How many faces of a block are known. */
enum { NONE, SOME, ALL };

typedef struct marks {
    const tl_grid *g;
    double *u;
    uint8_t *known, *next; /* [cells]; next: of this layer, in the blocks that changed */
    uint8_t *state;        /* [blocks + 1] */
    uint8_t *changed;      /* [blocks] */
} marks;

static uint8_t state_of(const marks *m, int32_t b)
{
    const uint8_t *known = m->known + (int64_t)b * m->g->f.size;
    int32_t there = 0;
    for (int32_t p = 0; p < m->g->f.size; p++) there += known[p] != 0;
    return there == 0 ? NONE : there == m->g->f.size ? ALL : SOME;
}

/* Something to do: an unknown face, and a known one here or beyond a side. */
static bool at_border(const marks *m, int32_t b)
{
    static const int side[6] = {-9, 9, -3, 3, -1, 1};
    if (m->state[b] == ALL) return false;
    bool near = m->state[b] == SOME;
    for (int k = 0; k < 6; k++) near |= m->state[m->g->near[b][TL_GRID_SELF + side[k]]] != NONE;
    return near;
}

/* 1 where known, from -1 to edge along each axis. */
static void read_marks(const tl_grid *g, int32_t b, const uint8_t *known, uint8_t *around)
{
    const int32_t *e = g->f.edge, *s = g->f.stride;
    int32_t n = 0;
    for (int32_t x = -1; x <= e[0]; x++)
        for (int32_t y = -1; y <= e[1]; y++) {
            int32_t bx = (x >= e[0]) - (x < 0), by = (y >= e[1]) - (y < 0);
            const int32_t *row = &g->near[b][TL_GRID_SELF + 9 * bx + 3 * by];
            int64_t at = (x - bx * e[0]) * s[0] + (y - by * e[1]) * s[1];
            const uint8_t *here = known + (int64_t)row[0] * g->f.size + at;
            around[n++] = known[(int64_t)row[-1] * g->f.size + at + e[2] - 1] != 0;
            for (int32_t z = 0; z < e[2]; z++) around[n + z] = here[z] != 0;
            n += e[2];
            around[n++] = known[(int64_t)row[1] * g->f.size + at] != 0;
        }
}

/* Mean of the known faces beside one. */
static double mean_beside(const marks *m, int32_t b, const int32_t at[3], int32_t cell)
{
    static const int side[3] = {9, 3, 1};
    const tl_grid *g = m->g;
    double sum = 0;
    int count = 0;
    for (int axis = 0; axis < 3; axis++) {
        int32_t e = g->f.edge[axis], stride = g->f.stride[axis], place = cell - b * g->f.size;
        const int32_t *near = &g->near[b][TL_GRID_SELF];
        const int32_t other[2] = {
            at[axis] > 0 ? cell - stride : near[-side[axis]] * g->f.size + place + (e - 1) * stride,
            at[axis] < e - 1 ? cell + stride : near[side[axis]] * g->f.size + place - (e - 1) * stride};
        for (int k = 0; k < 2; k++) {
            if (!m->known[other[k]]) continue;
            sum += m->u[other[k]];
            count++;
        }
    }
    return sum / count;
}

/* One layer of one block: unknown faces next to known ones take their mean. Reads known faces only, so the order of blocks does not
 * matter. */
static bool spread(const marks *m, int32_t b, int layer)
{
    const tl_grid *g = m->g;
    const int32_t *e = g->f.edge, sx = (e[1] + 2) * (e[2] + 2), sy = e[2] + 2;
    uint8_t around[TL_GRID_HALO_MAX], wanted[TL_GRID_EDGE];
    bool any = false;
    read_marks(g, b, m->known, around);
    for (int32_t x = 0; x < e[0]; x++)
        for (int32_t y = 0; y < e[1]; y++) {
            const uint8_t *a = around + (x + 1) * sx + (y + 1) * sy + 1;
            uint8_t some = 0;
            for (int32_t z = 0; z < e[2]; z++)
                some |= wanted[z] =
                    (uint8_t)(~a[z] & (a[z - 1] | a[z + 1] | a[z - sy] | a[z + sy] | a[z - sx] | a[z + sx]));
            if (!some) continue;
            if (!any) memcpy(m->next + (int64_t)b * g->f.size, m->known + (int64_t)b * g->f.size, (size_t)g->f.size);
            any = true;
            int32_t first = b * g->f.size + x * g->f.stride[0] + y * g->f.stride[1];
            for (int32_t z = 0; z < e[2]; z++) {
                if (!wanted[z]) continue;
                if (m->u) m->u[first + z] = mean_beside(m, b, (const int32_t[3]){x, y, z}, first + z);
                m->next[first + z] = (uint8_t)(layer + 1);
            }
        }
    return any;
}

static void extrapolate(const marks *m, int layers)
{
    const tl_grid *g = m->g;
    const int32_t size = g->f.size;
    memset(m->known + (int64_t)g->blocks * size, 0, (size_t)size);
    m->state[g->blocks] = NONE;
#pragma omp parallel for schedule(static) if (g->blocks > 8)
    for (int32_t b = 0; b < g->blocks; b++) m->state[b] = state_of(m, b);
    for (int layer = 1; layer <= layers; layer++) {
#pragma omp parallel for schedule(dynamic, 8) if (g->blocks > 8)
        for (int32_t b = 0; b < g->blocks; b++) m->changed[b] = at_border(m, b) && spread(m, b, layer);
#pragma omp parallel for schedule(static) if (g->blocks > 8)
        for (int32_t b = 0; b < g->blocks; b++) {
            if (!m->changed[b]) continue;
            memcpy(m->known + (int64_t)b * size, m->next + (int64_t)b * size, (size_t)size);
            m->state[b] = state_of(m, b);
        }
    }
#pragma omp parallel for schedule(static) if (g->blocks > 8)
    for (int32_t b = 0; b <= g->blocks; b++)
        for (int32_t i = b * size; i < (b + 1) * size && m->u && m->state[b] != ALL; i++)
            if (!m->known[i]) m->u[i] = 0;
}

talus_status tl_extrapolate(const tl_grid *g, int layers, double *const u[3], uint8_t *const known[3], tl_arena *a,
                            talus_error *err)
{
    size_t start = tl_arena_mark(a);
    marks m = {.g = g,
               .next = TL_TAKE(a, uint8_t, g->cells),
               .state = TL_TAKE(a, uint8_t, (int64_t)g->blocks + 1),
               .changed = TL_TAKE(a, uint8_t, (int64_t)g->blocks + 1)};
    if (!m.next || !m.state || !m.changed)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to extrapolate on %lld cells", (long long)g->cells);
    for (int axis = 0; axis < 3; axis++) {
        m.u = u ? u[axis] : NULL;
        m.known = known[axis];
        extrapolate(&m, layers);
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

talus_status tl_clip_inflow(const tl_grid *g, const tl_solids *s, double *const open[3], double closed,
                            uint8_t *const known[3], const uint8_t *pressed, double *const u[3], tl_arena *a,
                            talus_error *err)
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
                if (open[k][i] > closed || !known[k][i]) continue;
                int32_t which;
                tl_vec3 n, at = tl_grid_face_centre(g, k, i), v = vector_at(g, k, i, u, known);
                tl_solids_distance(s, b, at, &which, &n);
                double into = tl_vec3_dot(tl_vec3_sub(v, tl_solids_velocity(s, which, at)), n);
                double along = k == 0 ? n.x : k == 1 ? n.y : n.z;
                bool held = pressed && fabs(along) > ALONG && (pressed[i] || pressed[tl_grid_step(g, i, k, -1)]);
                if (which != TL_SOLID_NONE && (into < 0 || held) && !tl_solids_gives(s, which))
                    clipped[k][i] -= into * along;
            }
    for (int k = 0; k < 3; k++) memcpy(u[k], clipped[k], sizeof(double) * (size_t)g->blocks * (size_t)g->f.size);
    tl_arena_release(a, start);
    return TALUS_OK;
}
