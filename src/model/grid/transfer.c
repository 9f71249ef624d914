#include "model/grid/transfer.h"

#include <stddef.h>
#include <string.h>

#include "base/parallel.h"
#include "model/grid/stencil.h"

/* ---- to the grid ---- */

/* What one block's particles add to its neighbourhood. Mass and momentum side by side: the two of a face and of the one behind it are one
 * vector. */
typedef struct gathered {
    double face[3][TL_GRID_HALO_MAX][2], fill[TL_GRID_HALO_MAX], volume[3][TL_GRID_HALO_MAX];
} gathered;

typedef double two __attribute__((vector_size(16)));
typedef double four __attribute__((vector_size(32)));

/* Lower places on the two lattices along each axis, that of its own faces (0) and that of the others' and of centres (1), in the halo, and how far behind them. s: in cells from the block's
 * corner; beyond the neighbourhood counts as on its border. */
typedef struct stencil {
    int32_t low[2][3];
    double t[2][3];
} stencil;

static inline void place_on(double from, int32_t end, int32_t *low, double *t)
{
    int32_t down = from > 0 ? (int32_t)from : 0;
    *low = down < end ? down : end;
    *t = from - *low;
}

static inline stencil stencil_of(const tl_halo_shape *h, const double s[3])
{
    stencil out;
    for (int k = 0; k < 3; k++) {
        place_on(s[k] + 1, h->hi[k], &out.low[0][k], &out.t[0][k]);
        place_on(s[k] + 0.5, h->hi[k], &out.low[1][k], &out.t[1][k]);
    }
    return out;
}

/* A row of two faces gets {m, m u} of both at once: w (A + d B), d the velocity that the row has beyond the lowest one. */
static inline void add_to_faces(const tl_halo_shape *h, const stencil *q, int axis, double m, const double c[3],
                                double v, double (*restrict face)[2])
{
    const double tx = q->t[axis != 0][0], ty = q->t[axis != 1][1], tz = q->t[axis != 2][2];
    const int32_t at = q->low[axis != 0][0] * h->sx + q->low[axis != 1][1] * h->sy + q->low[axis != 2][2];
    const double low = v - (c[0] * tx + c[1] * ty + c[2] * tz);
    const four along = {1 - tz, 1 - tz, tz, tz}, A = along * (four){1, low, 1, low + c[2]},
               B = along * (four){0, 1, 0, 1};
    const double w[4] = {m * (1 - tx) * (1 - ty), m * (1 - tx) * ty, m * tx * (1 - ty), m * tx * ty};
    const double d[4] = {0, c[1], c[0], c[0] + c[1]};
    for (int row = 0; row < 4; row++) {
        double *to = face[at + (row >> 1) * h->sx + (row & 1) * h->sy];
        four sum;
        memcpy(&sum, to, sizeof sum);
        sum += w[row] * (A + d[row] * B);
        memcpy(to, &sum, sizeof sum);
    }
}

static inline void add_to_cells(const tl_halo_shape *h, const stencil *q, double m, double *restrict sum)
{
    const double tx = q->t[1][0], ty = q->t[1][1], tz = q->t[1][2];
    const int32_t at = q->low[1][0] * h->sx + q->low[1][1] * h->sy + q->low[1][2];
    const two along = {1 - tz, tz};
    const double w[4] = {m * (1 - tx) * (1 - ty), m * (1 - tx) * ty, m * tx * (1 - ty), m * tx * ty};
    for (int row = 0; row < 4; row++) {
        double *to = sum + at + (row >> 1) * h->sx + (row & 1) * h->sy;
        two both;
        memcpy(&both, to, sizeof both);
        both += w[row] * along;
        memcpy(to, &both, sizeof both);
    }
}

static inline void add_to_lattice(const tl_halo_shape *h, const double s[3], int axis, double m, double *restrict sum)
{
    tl_corners q = tl_corners_of(h, s, axis);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double w = m * (i ? q.t[0] : 1 - q.t[0]) * (j ? q.t[1] : 1 - q.t[1]);
            int32_t at = q.at + i * h->sx + j * h->sy;
            sum[at] += w * (1 - q.t[2]);
            sum[at + 1] += w * q.t[2];
        }
}

static void gather_block(const tl_grid *g, int32_t block, const tl_particles *p, const double *rho, bool volumes,
                         gathered *b)
{
    tl_halo_shape h = tl_halo_shape_of(g);
    double dx = g->f.dx, per_cell = 1 / (dx * dx * dx);
    memset(b, 0, volumes ? sizeof *b : offsetof(gathered, volume));
    for (int32_t i = g->first[block]; i < g->first[block + 1]; i++) {
        const tl_particle *q = &p->particle[i];
        const double v[3] = {q->v.x, q->v.y, q->v.z};
        double s[3], m = rho[q->material] * q->volume;
        tl_place_in_block(g, block, q->x, s);
        const stencil at = stencil_of(&h, s);
#pragma GCC unroll 3
        for (int k = 0; k < 3; k++) {
            const double c[3] = {dx * q->C.m[k][0], dx * q->C.m[k][1], dx * q->C.m[k][2]};
            add_to_faces(&h, &at, k, m, c, v[k], b->face[k]);
        }
        for (int k = 0; k < 3 && volumes; k++) add_to_lattice(&h, s, k, q->volume, b->volume[k]);
        add_to_cells(&h, &at, q->volume * per_cell, b->fill);
    }
}

/* One row of a neighbourhood: `length` cells of a block, and one at each end. Those of blocks that do not exist are left out: nothing
 * is there, and all threads share them. */
static inline void add_row(const int32_t *id, int32_t exist, int32_t length, const double *restrict from,
                           double *restrict to)
{
    if (id[0] < exist) to[id[0]] += from[0];
    if (id[1] < exist)
        for (int32_t z = 0; z < length; z++) to[id[1] + z] += from[1 + z];
    if (id[length + 1] < exist) to[id[length + 1]] += from[length + 1];
}

static inline void add_faces(const int32_t *id, int32_t exist, int32_t length, const double (*restrict from)[2],
                             double *restrict mass, double *restrict momentum)
{
    double part[2][TL_GRID_EDGE + 2];
    for (int32_t z = 0; z < length + 2; z++) part[0][z] = from[z][0], part[1][z] = from[z][1];
    add_row(id, exist, length, part[0], mass);
    add_row(id, exist, length, part[1], momentum);
}

static inline void add_rows(const tl_grid *g, int32_t block, int32_t length, const gathered *b, tl_faces *out)
{
    const tl_halo_shape h = tl_halo_shape_of(g);
    const int32_t exist = g->blocks * g->f.size;
    int32_t id[TL_GRID_HALO_MAX], n = tl_grid_halo(g, block, id);
    for (int32_t i = 0; i < n; i += h.sy) {
        for (int k = 0; k < 3; k++) {
            add_faces(id + i, exist, length, &b->face[k][i], out->mass[k], out->u[k]);
            if (out->rest[0]) add_row(id + i, exist, length, &b->volume[k][i], out->rest[k]);
        }
        add_row(id + i, exist, length, &b->fill[i], out->fill);
    }
}

static void add_block(const tl_grid *g, int32_t block, const gathered *b, tl_faces *out)
{
    if (g->f.edge[2] == TL_GRID_EDGE)
        add_rows(g, block, TL_GRID_EDGE, b, out);
    else
        add_rows(g, block, g->f.edge[2], b, out);
}

/* Momentum over mass. Masses so small that the quotient means nothing count as none. */
static void divide(const tl_grid *g, tl_faces *out, double tiny)
{
    int64_t n = (int64_t)g->blocks * g->f.size;
#pragma omp parallel for schedule(static) if (n > TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            double m = out->mass[k][i];
            if (out->rest[0]) out->rest[k][i] = m > tiny ? m / out->rest[k][i] : out->rho0;
            if (m > tiny)
                out->u[k][i] /= m;
            else
                out->mass[k][i] = out->u[k][i] = 0;
        }
}

/* A face with less than this part of a cell's mass has none: its velocity is noise of 1e-16 over nothing. */
#define TINY_MASS 1e-12

talus_status tl_particles_to_grid(const tl_grid *g, const tl_particles *p, const double *rho, int materials,
                                  tl_arena *a, tl_faces *out, talus_error *err)
{
    bool volumes = false;
    double rho0 = INFINITY;
    for (int k = 0; k < materials; k++) {
        volumes |= rho[k] != rho[0];
        rho0 = fmin(rho0, rho[k]);
    }
    *out = (tl_faces){.rho0 = materials ? rho0 : 0};
    bool good = true;
    for (int k = 0; k < 3; k++) {
        good &= (out->mass[k] = TL_TAKE_ZERO(a, double, g->cells)) != NULL;
        good &= (out->u[k] = TL_TAKE_ZERO(a, double, g->cells)) != NULL;
        if (volumes) good &= (out->rest[k] = TL_TAKE_ZERO(a, double, g->cells)) != NULL;
    }
    good &= (out->fill = TL_TAKE_ZERO(a, double, g->cells)) != NULL;
    if (!good) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for velocities on %lld cells", (long long)g->cells);

    for (int32_t c = 0; c < g->colours; c++) {
        int32_t from = g->colour_start[c], to = g->colour_start[c + 1];
#pragma omp parallel for schedule(dynamic) if (to - from > 1)
        for (int32_t i = from; i < to; i++) {
            int32_t b = g->by_colour[i];
            if (g->first[b] == g->first[b + 1]) continue;
            gathered mine;
            gather_block(g, b, p, rho, volumes, &mine);
            add_block(g, b, &mine, out);
        }
    }
    if (p->count) divide(g, out, TINY_MASS * rho0 * g->f.dx * g->f.dx * g->f.dx);
    return TALUS_OK;
}

/* ---- means at cells ---- */

static void mean_block(const tl_grid *g, int32_t block, const tl_particles *p, const double *value, double *sum)
{
    tl_halo_shape h = tl_halo_shape_of(g);
    int32_t id[TL_GRID_HALO_MAX], n = tl_grid_halo(g, block, id);
    double mine[TL_GRID_HALO_MAX] = {0}, per_cell = 1 / (g->f.dx * g->f.dx * g->f.dx);
    for (int32_t i = g->first[block]; i < g->first[block + 1]; i++) {
        const tl_particle *q = &p->particle[i];
        double s[3];
        tl_place_in_block(g, block, q->x, s);
        add_to_lattice(&h, s, 3, value[q->material] * q->volume * per_cell, mine);
    }
    for (int32_t i = 0; i < n; i++)
        if (mine[i] != 0) sum[id[i]] += mine[i];
}

/* One layer further: `known` says who has a value. */
static void spread_mean(const tl_grid *g, double *mean, const uint8_t *known, uint8_t *next)
{
    int64_t n = (int64_t)g->blocks * g->f.size;
#pragma omp parallel for schedule(static) if (n > TL_PARALLEL_MIN)
    for (int32_t i = 0; i < n; i++) {
        next[i] = known[i];
        if (known[i]) continue;
        double sum = 0;
        int count = 0;
        for (int k = 0; k < 6; k++) {
            int32_t j = tl_grid_step(g, i, k / 2, k & 1 ? 1 : -1);
            if (!tl_grid_exists(g, j) || !known[j]) continue;
            sum += mean[j];
            count++;
        }
        if (!count) continue;
        mean[i] = sum / count;
        next[i] = 1;
    }
}

talus_status tl_particles_mean(const tl_grid *g, const tl_particles *p, const double *value, const double *fill,
                               tl_arena *a, double *mean, talus_error *err)
{
    int64_t n = (int64_t)g->blocks * g->f.size;
    memset(mean, 0, sizeof *mean * (size_t)g->cells);
    uint8_t *known = TL_TAKE_ZERO(a, uint8_t, g->cells), *next = TL_TAKE_ZERO(a, uint8_t, g->cells);
    if (!known || !next) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for means of %lld cells", (long long)g->cells);
    for (int32_t c = 0; c < g->colours; c++) {
        int32_t from = g->colour_start[c], to = g->colour_start[c + 1];
#pragma omp parallel for schedule(dynamic) if (to - from > 1)
        for (int32_t i = from; i < to; i++)
            if (g->first[g->by_colour[i]] < g->first[g->by_colour[i] + 1])
                mean_block(g, g->by_colour[i], p, value, mean);
    }
#pragma omp parallel for schedule(static) if (n > TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) {
        known[i] = fill[i] > TINY_MASS;
        mean[i] = known[i] ? mean[i] / fill[i] : 0;
    }
    spread_mean(g, mean, known, next);
    spread_mean(g, mean, next, known);
    return TALUS_OK;
}

/* ---- back to particles ---- */

void tl_grid_to_particles(const tl_grid *g, double *const u[3], uint8_t *const known[3], tl_particles *p)
{
    tl_halo_shape h = tl_halo_shape_of(g);
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++) {
        if (g->first[b] == g->first[b + 1]) continue;
        int32_t id[TL_GRID_HALO_MAX];
        tl_face_halo around;
        tl_grid_halo(g, b, id);
        tl_face_halo_read(g, id, u, known, &around);
        for (int32_t i = g->first[b]; i < g->first[b + 1]; i++) tl_to_particle(g, b, &h, &around, &p->particle[i]);
    }
}

/* ---- anywhere ---- */

static bool velocity_from(const tl_grid *g, int32_t block, double *const u[3], uint8_t *const known[3], tl_vec3 x,
                          double v[3])
{
    const double at[3] = {x.x, x.y, x.z};
    bool all = true;
    for (int k = 0; k < 3; k++) {
        int32_t low[3];
        double t[3], sum = 0, weight = 0;
        for (int j = 0; j < 3; j++) {
            double s = tl_grid_scaled(&g->f, at[j], j) - (j == k ? 0 : 0.5), down = floor(s);
            if (!(fabs(down) < TL_GRID_FAR)) return false;
            low[j] = (int32_t)down;
            t[j] = s - down;
        }
        for (int c = 0; c < 8; c++) {
            const int32_t cell[3] = {low[0] + (c >> 2), low[1] + (c >> 1 & 1), low[2] + (c & 1)};
            int32_t id = tl_grid_cell_near(g, block, cell);
            double w = (c & 4 ? t[0] : 1 - t[0]) * (c & 2 ? t[1] : 1 - t[1]) * (c & 1 ? t[2] : 1 - t[2]);
            if (!tl_grid_exists(g, id) || (known && !known[k][id])) continue;
            sum += w * u[k][id];
            weight += w;
        }
        if (weight > 1e-9)
            v[k] = sum / weight;
        else
            all = false;
    }
    return all;
}

bool tl_grid_velocity(const tl_grid *g, int32_t block, double *const u[3], uint8_t *const known[3], tl_vec3 x,
                      tl_vec3 *v)
{
    double out[3] = {v->x, v->y, v->z};
    bool all = g->blocks > 0 && velocity_from(g, block, u, known, x, out);
    *v = tl_vec3_load(out);
    return all;
}
