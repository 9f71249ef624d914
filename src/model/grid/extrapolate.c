#include "model/grid/extrapolate.h"

#include <string.h>

#include "base/comm.h"
#include "base/parallel.h"

#define ALONG 0.999999 /* of a normal along an axis */

/* Marks of a block as bits: a word per slab of x, face (y, z) at bit 8 y + z. */
#define ROW 8
typedef uint64_t slabs[TL_GRID_EDGE];

typedef struct marks {
    const tl_grid *g;
    double *u, *mean;           /* [cells] faces of the layer that is made have their values here until all are found */
    uint8_t *known;             /* [cells] */
    slabs *now, *next;          /* [blocks + 1]: known faces, and those of the layer that is made */
    uint8_t *near;              /* [blocks + 1] something is known */
    uint8_t *changed;           /* [blocks] */
    uint64_t all, low_y, low_z; /* faces of a slab that exist, and those with y = 0, z = 0 */
} marks;

static bool read_block(const marks *m, int32_t b)
{
    const int32_t *e = m->g->f.edge;
    const uint8_t *known = m->known + (int64_t)b * m->g->f.size;
    uint64_t some = 0;
    for (int32_t x = 0; x < e[0]; x++) {
        uint64_t word = 0;
        for (int32_t y = 0; y < e[1]; y++, known += e[2]) {
            uint64_t row = 0;
            memcpy(&row, known, (size_t)e[2]);
            if (!row) continue;
            for (int32_t z = 0; z < e[2]; z++) word |= (uint64_t)(known[z] != 0) << (ROW * y + z);
        }
        m->now[b][x] = word;
        some |= word;
    }
    return some != 0;
}

/* Known faces beside those of a slab, below and above along each axis. */
static void look_beside(const marks *m, int32_t b, int32_t x, uint64_t side[6])
{
    const int32_t *e = m->g->f.edge, *near = &m->g->near[b][TL_GRID_SELF];
    const uint64_t a = m->now[b][x];
    const int last_y = ROW * (e[1] - 1), last_z = e[2] - 1;
    side[0] = x > 0 ? m->now[b][x - 1] : m->now[near[-9]][e[0] - 1];
    side[1] = x < e[0] - 1 ? m->now[b][x + 1] : m->now[near[9]][0];
    side[2] = a << ROW | (m->now[near[-3]][x] >> last_y & m->low_y);
    side[3] = a >> ROW | (m->now[near[3]][x] & m->low_y) << last_y;
    side[4] = (a << 1 & ~m->low_z) | (m->now[near[-1]][x] >> last_z & m->low_z);
    side[5] = (a >> 1 & ~(m->low_z << last_z)) | (m->now[near[1]][x] & m->low_z) << last_z;
}

/* Mean of the known faces beside one, side by side in a fixed order. */
static double mean_beside(const marks *m, int32_t b, const int32_t at[3], const uint64_t side[6])
{
    static const int across[6] = {-9, 9, -3, 3, -1, 1};
    const tl_grid_frame *f = &m->g->f;
    const int32_t place = at[0] * f->stride[0] + at[1] * f->stride[1] + at[2];
    const int bit = ROW * at[1] + at[2];
    double sum = 0;
    int count = 0;
    for (int k = 0; k < 6; k++) {
        if (!(side[k] >> bit & 1)) continue;
        int axis = k / 2, dir = k & 1 ? 1 : -1;
        bool here = at[axis] + dir >= 0 && at[axis] + dir < f->edge[axis];
        int32_t block = here ? b : m->g->near[b][TL_GRID_SELF + across[k]];
        sum += m->u[block * f->size + place + dir * (here ? 1 : 1 - f->edge[axis]) * f->stride[axis]];
        count++;
    }
    return sum / count;
}

/* The same for eight faces in a row along z, of blocks that are as wide. */
#define LANES 8
typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef int64_t whole __attribute__((vector_size(8 * LANES)));
static void spread_row(const marks *m, int32_t b, int32_t x, int32_t y, const uint64_t side[6])
{
    static const whole bit = {1, 2, 4, 8, 16, 32, 64, 128};
    const tl_grid_frame *f = &m->g->f;
    const int32_t *near = &m->g->near[b][TL_GRID_SELF], sx = f->stride[0], sy = f->stride[1];
    const int32_t in_block = x * sx + y * sy, at = b * f->size + in_block;
    /* along x and y; along z the row itself, shifted */
    const int32_t from[6] = {x > 0 ? at - sx : near[-9] * f->size + in_block + (f->edge[0] - 1) * sx,
                             x < f->edge[0] - 1 ? at + sx : near[9] * f->size + in_block - x * sx,
                             y > 0 ? at - sy : near[-3] * f->size + in_block + (f->edge[1] - 1) * sy,
                             y < f->edge[1] - 1 ? at + sy : near[3] * f->size + in_block - y * sy,
                             near[-1] * f->size + in_block + LANES - 1,
                             near[1] * f->size + in_block};
    double row[6][LANES];
    for (int k = 0; k < 4; k++) memcpy(row[k], m->u + from[k], sizeof row[k]);
    row[4][0] = m->u[from[4]];
    memcpy(row[4] + 1, m->u + at, sizeof row[4] - sizeof(double));
    memcpy(row[5], m->u + at + 1, sizeof row[5] - sizeof(double));
    row[5][LANES - 1] = m->u[from[5]];
    lanes sum = {0}, count = {0}, mean;
    for (int k = 0; k < 6; k++) {
        const whole there = (((whole){0} + (int64_t)(side[k] >> ROW * y & 0xff)) & bit) != 0;
        lanes u;
        memcpy(&u, row[k], sizeof u);
        sum += (lanes)((whole)u & there);
        count += (lanes)((whole)((lanes){0} + 1) & there);
    }
    mean = sum / count;
    memcpy(m->mean + at, &mean, sizeof mean);
}

/* Something may be known beside a face of the block. */
static bool at_border(const marks *m, int32_t b)
{
    const int32_t *near = &m->g->near[b][TL_GRID_SELF];
    return m->near[b] || m->near[near[-9]] || m->near[near[9]] || m->near[near[-3]] || m->near[near[3]] ||
           m->near[near[-1]] || m->near[near[1]];
}

/* One layer of one block: unknown faces next to known ones take their mean. Reads known faces only, so the order of
 * blocks does not matter. */
static bool spread(const marks *m, int32_t b)
{
    const bool rows = m->g->f.edge[2] == LANES;
    uint64_t any = 0;
    for (int32_t x = 0; x < m->g->f.edge[0]; x++) {
        m->next[b][x] = 0;
        if (m->now[b][x] == m->all) continue;
        uint64_t side[6];
        look_beside(m, b, x, side);
        uint64_t wanted = (side[0] | side[1] | side[2] | side[3] | side[4] | side[5]) & ~m->now[b][x] & m->all;
        any |= m->next[b][x] = wanted;
        if (!m->u) continue;
        for (int32_t y = 0; y < m->g->f.edge[1] && rows; y++)
            if (wanted >> ROW * y & 0xff) spread_row(m, b, x, y, side);
        for (uint64_t left = rows ? 0 : wanted; left; left &= left - 1) {
            int bit = __builtin_ctzll(left);
            const int32_t at[3] = {x, bit / ROW, bit % ROW};
            m->mean[b * m->g->f.size + x * m->g->f.stride[0] + at[1] * m->g->f.stride[1] + at[2]] =
                mean_beside(m, b, at, side);
        }
    }
    return any != 0;
}

static void keep_layer(const marks *m, int32_t b, int layer)
{
    const tl_grid_frame *f = &m->g->f;
    for (int32_t x = 0; x < f->edge[0]; x++) {
        for (uint64_t left = m->next[b][x]; left; left &= left - 1) {
            int bit = __builtin_ctzll(left);
            const int32_t i = b * f->size + x * f->stride[0] + bit / ROW * f->stride[1] + bit % ROW;
            m->known[i] = (uint8_t)(layer + 1);
            if (m->u) m->u[i] = m->mean[i];
        }
        m->now[b][x] |= m->next[b][x];
    }
    m->near[b] = 1;
}

static void clear_unknown(const marks *m, int32_t b)
{
    const tl_grid_frame *f = &m->g->f;
    for (int32_t x = 0; x < f->edge[0]; x++) {
        if (m->now[b][x] == m->all) continue;
        for (uint64_t left = m->all & ~m->now[b][x]; left; left &= left - 1) {
            int bit = __builtin_ctzll(left);
            m->u[b * f->size + x * f->stride[0] + bit / ROW * f->stride[1] + bit % ROW] = 0;
        }
    }
}

static void extrapolate(const marks *m, int layers)
{
    const tl_grid *g = m->g;
    const int32_t size = g->f.size;
    memset(m->known + (int64_t)g->blocks * size, 0, (size_t)size);
    memset(m->now[g->blocks], 0, sizeof(slabs));
    m->near[g->blocks] = 0;
#pragma omp parallel for schedule(static) if (g->blocks > 8)
    for (int32_t b = 0; b < g->blocks; b++) m->near[b] = read_block(m, b);
    for (int layer = 1; layer <= layers; layer++) {
#pragma omp parallel for schedule(dynamic, 8) if (g->blocks > 8)
        for (int32_t b = 0; b < g->blocks; b++) m->changed[b] = at_border(m, b) && spread(m, b);
#pragma omp parallel for schedule(static) if (g->blocks > 8)
        for (int32_t b = 0; b < g->blocks; b++)
            if (m->changed[b]) keep_layer(m, b, layer);
    }
    if (!m->u) return;
#pragma omp parallel for schedule(static) if (g->blocks > 8)
    for (int32_t b = 0; b <= g->blocks; b++) {
        if (m->near[b])
            clear_unknown(m, b);
        else
            memset(m->u + (int64_t)b * size, 0, sizeof(double) * (size_t)size);
    }
}

talus_status tl_extrapolate(const tl_grid *g, int layers, double *const u[3], uint8_t *const known[3], tl_arena *a,
                            talus_error *err)
{
    size_t start = tl_arena_mark(a);
    const int64_t n = (int64_t)g->blocks + 1;
    marks m = {.g = g,
               .now = TL_TAKE(a, slabs, n),
               .next = TL_TAKE(a, slabs, n),
               .near = TL_TAKE(a, uint8_t, n),
               .changed = TL_TAKE(a, uint8_t, n),
               .mean = u ? TL_TAKE(a, double, g->cells) : NULL};
    talus_status status = TALUS_OK;
    if ((u && !m.mean) || !m.now || !m.next || !m.near || !m.changed)
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory to extrapolate on %lld cells", (long long)g->cells);
    TL_TRY(tl_comm_agree(g->comm, status, err));
    for (int32_t y = 0; y < g->f.edge[1]; y++) {
        for (int32_t z = 0; z < g->f.edge[2]; z++) m.all |= (uint64_t)1 << (ROW * y + z);
        m.low_z |= (uint64_t)1 << ROW * y;
    }
    for (int32_t z = 0; z < g->f.edge[2]; z++) m.low_y |= (uint64_t)1 << z;
    for (int axis = 0; axis < 3; axis++) {
        m.u = u ? u[axis] : NULL;
        m.known = known[axis];
        extrapolate(&m, layers);
        if (u) tl_grid_refresh(g, sizeof(double), u[axis]);
        tl_grid_refresh(g, sizeof(uint8_t), known[axis]);
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

/* What a face in a solid keeps. A normal along the face's axis asks for its own velocity alone, one across it for
 * nothing: so it is at the walls of a domain. */
static double clip_face(const tl_grid *g, const tl_solids *s, int32_t b, int k, int32_t i, double *const u[3],
                        uint8_t *const known[3], const uint8_t *pressed)
{
    int32_t which;
    tl_vec3 n, at = tl_grid_face_centre(g, k, i);
    tl_solids_distance(s, b, at, &which, &n);
    const double along = k == 0 ? n.x : k == 1 ? n.y : n.z;
    if (along == 0 || which == TL_SOLID_NONE || tl_solids_gives(s, which)) return u[k][i];
    double own[3] = {0, 0, 0};
    own[k] = u[k][i];
    tl_vec3 v = fabs(along) == 1 ? tl_vec3_load(own) : vector_at(g, k, i, u, known);
    double into = tl_vec3_dot(tl_vec3_sub(v, tl_solids_velocity(s, which, at)), n);
    bool held = pressed && fabs(along) > ALONG && (pressed[i] || pressed[tl_grid_step(g, i, k, -1)]);
    return into < 0 || held ? u[k][i] - into * along : u[k][i];
}

talus_status tl_clip_inflow(const tl_grid *g, const tl_covered *c, uint8_t *const known[3], double *const u[3],
                            tl_arena *a, talus_error *err)
{
    const tl_solids *s = c->solids;
    double *const *open = c->open, closed = c->closed;
    size_t start = tl_arena_mark(a);
    double *clipped[3];
    talus_status status = TALUS_OK;
    for (int k = 0; k < 3; k++)
        if (!(clipped[k] = TL_TAKE(a, double, g->cells)) && status == TALUS_OK)
            status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory to clip velocities on %lld cells", (long long)g->cells);
    TL_TRY(tl_comm_agree(g->comm, status, err));
    /* all are read before any is written */
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->owned; b++)
        for (int k = 0; k < 3 && tl_solids_touch(s, g, b); k++)
            for (int32_t i = b * g->f.size; i < (b + 1) * g->f.size; i++)
                if (!(open[k][i] > closed) && known[k][i])
                    clipped[k][i] = clip_face(g, s, b, k, i, u, known, c->pressed);
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->owned; b++)
        for (int k = 0; k < 3 && tl_solids_touch(s, g, b); k++)
            for (int32_t i = b * g->f.size; i < (b + 1) * g->f.size; i++)
                if (!(open[k][i] > closed) && known[k][i]) u[k][i] = clipped[k][i];
    tl_grid_refresh3(g, u);
    tl_arena_release(a, start);
    return TALUS_OK;
}
