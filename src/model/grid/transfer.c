#include "model/grid/transfer.h"

#include <stddef.h>
#include <string.h>

#include "base/comm.h"
#include "base/parallel.h"
#include "model/grid/eight.h"
#include "model/grid/stencil.h"

/* ---- to the grid ---- */

/* What one block's particles add to its neighbourhood, by the lower place of the row of two that each adds to: {m, m
 * u} of it and of the one behind. Rows of their own share no memory with the next: a load that overlaps a store of
 * the particle before waits for it. */
typedef struct gathered {
    double face[3][TL_GRID_HALO_MAX][4], fill[TL_GRID_HALO_MAX][2], volume[3][TL_GRID_HALO_MAX];
} gathered;

typedef double two __attribute__((vector_size(16)));
typedef double four __attribute__((vector_size(32)));

/* Eight particles, made ready for the faces of each axis and for cells. A row of two faces gets {m, m u} of both at
 * once: w (A + d B), d the velocity that the row has beyond the lowest one, B = {0, A[0], 0, A[2]}. */
typedef struct batch {
    double s[3][TL_EIGHT];     /* places, in cells from the block's corner */
    int64_t at[4][TL_EIGHT];   /* lowest place in the halo, of faces and of cells */
    tl_eight row[4][TL_EIGHT]; /* of each particle A[4], w[4]; cells: 1 - tz, tz, then w[4] */
    double d[3][3][TL_EIGHT];  /* of the rows behind the first */
} batch;

/* Lower places on the lattice `from` cells behind the halo's first, and how far behind them; beyond the
 * neighbourhood counts as on its border. */
static inline tl_eight_whole place_on(tl_eight from, int32_t end, tl_eight *t)
{
    tl_eight_whole low = __builtin_convertvector((tl_eight)((tl_eight_whole)from & (from > 0)), tl_eight_whole);
    const tl_eight_whole over = low > (int64_t)end;
    low = (low & ~over) | (((tl_eight_whole){0} + end) & over);
    *t = from - __builtin_convertvector(low, tl_eight);
    return low;
}

static inline void read_eight(const tl_particle *p, int count, tl_eight first[TL_EIGHT], tl_eight rest[TL_EIGHT])
{
    for (int l = 0; l < TL_EIGHT; l++) {
        const char *q = (const char *)&p[l < count ? l : count - 1];
        memcpy(&first[l], q, sizeof first[l]);
        memcpy(&rest[l], q + sizeof first[l], sizeof rest[l]);
    }
    tl_eight_turn(first);
    tl_eight_turn(rest);
}

static inline void prepare(const tl_grid *g, int32_t block, const tl_halo_shape *h, const double *rho,
                           const tl_particle *p, int count, batch *out)
{
    const double origin[3] = {g->f.origin.x, g->f.origin.y, g->f.origin.z}, dx = g->f.dx;
    tl_eight first[TL_EIGHT], rest[TL_EIGHT], density, t[2][3], w[4];
    tl_eight_whole low[2][3];
    read_eight(p, count, first, rest);
    for (int l = 0; l < TL_EIGHT; l++) density[l] = rho[p[l < count ? l : count - 1].material];
    for (int k = 0; k < 3; k++) {
        const tl_eight s = (first[k] - origin[k]) * g->f.per_dx - (double)g->corner[block][k];
        low[0][k] = place_on(s + 1, h->hi[k], &t[0][k]);
        low[1][k] = place_on(s + 0.5, h->hi[k], &t[1][k]);
        memcpy(out->s[k], &s, sizeof s);
    }
    const tl_eight volume = rest[7], m = density * volume, share = volume * (1 / (dx * dx * dx));
    const tl_eight C[9] = {first[6], first[7], rest[0], rest[1], rest[2], rest[3], rest[4], rest[5], rest[6]};
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        const tl_eight tx = t[k != 0][0], ty = t[k != 1][1], tz = t[k != 2][2], of = k < 3 ? m : share;
        const tl_eight_whole at = low[k != 0][0] * h->sx + low[k != 1][1] * h->sy + low[k != 2][2];
        memcpy(out->at[k], &at, sizeof at);
        w[0] = of * (1 - tx) * (1 - ty);
        w[1] = of * (1 - tx) * ty;
        w[2] = of * tx * (1 - ty);
        w[3] = of * tx * ty;
        tl_eight row[TL_EIGHT];
        if (k < 3) {
            const tl_eight c0 = dx * C[3 * k], c1 = dx * C[3 * k + 1], c2 = dx * C[3 * k + 2], both = c0 + c1;
            const tl_eight lowest = first[3 + k] - (c0 * tx + c1 * ty + c2 * tz);
            row[0] = 1 - tz, row[1] = (1 - tz) * lowest, row[2] = tz, row[3] = tz * (lowest + c2);
            for (int j = 0; j < 4; j++) row[4 + j] = w[j];
            memcpy(out->d[k][0], &c1, sizeof c1);
            memcpy(out->d[k][1], &c0, sizeof c0);
            memcpy(out->d[k][2], &both, sizeof both);
        } else {
            row[0] = 1 - tz, row[1] = tz, row[6] = row[7] = (tl_eight){0};
            for (int j = 0; j < 4; j++) row[2 + j] = w[j];
        }
        tl_eight_turn(row);
        memcpy(out->row[k], row, sizeof row);
    }
}

static inline void add_to_faces(const tl_halo_shape *h, const batch *q, int axis, int l, double (*restrict face)[4])
{
    const double *from = (const double *)&q->row[axis][l];
    const int64_t at = q->at[axis][l];
    four A;
    memcpy(&A, from, sizeof A);
    const four B = __builtin_shufflevector(A, (four){0}, 4, 0, 4, 2);
    const four of[4] = {A, A + q->d[axis][0][l] * B, A + q->d[axis][1][l] * B, A + q->d[axis][2][l] * B};
    for (int row = 0; row < 4; row++) {
        double *to = face[at + (row >> 1) * h->sx + (row & 1) * h->sy];
        four sum;
        memcpy(&sum, to, sizeof sum);
        sum += from[4 + row] * of[row];
        memcpy(to, &sum, sizeof sum);
    }
}

static inline void add_to_cells(const tl_halo_shape *h, const batch *q, int l, double (*restrict sum)[2])
{
    const double *from = (const double *)&q->row[3][l];
    two along;
    memcpy(&along, from, sizeof along);
    for (int row = 0; row < 4; row++) {
        double *to = sum[q->at[3][l] + (row >> 1) * h->sx + (row & 1) * h->sy];
        two both;
        memcpy(&both, to, sizeof both);
        both += from[2 + row] * along;
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
    const int32_t end = g->first[block + 1];
    batch q;
    memset(b, 0, volumes ? sizeof *b : offsetof(gathered, volume));
    for (int32_t i = g->first[block]; i < end; i += TL_EIGHT) {
        const int count = end - i < TL_EIGHT ? end - i : TL_EIGHT;
        tl_eight_ahead(&p->particle[i]);
        prepare(g, block, &h, rho, &p->particle[i], count, &q);
        for (int l = 0; l < count; l++) {
            for (int k = 0; k < 3; k++) add_to_faces(&h, &q, k, l, b->face[k]);
            add_to_cells(&h, &q, l, b->fill);
            const double s[3] = {q.s[0][l], q.s[1][l], q.s[2][l]};
            for (int k = 0; k < 3 && volumes; k++) add_to_lattice(&h, s, k, p->particle[i + l].volume, b->volume[k]);
        }
    }
}

/* One row of a neighbourhood: `length` cells of a block, and one at each end. Where there is nothing, memory is left
 * alone; cells that do not exist have nothing, and all threads share them. */
static inline void add_row(const int32_t *id, int32_t length, const double *restrict from, double *restrict to)
{
    int any = 0;
    for (int32_t z = 0; z < length; z++) any |= from[1 + z] != 0;
    if (from[0] != 0) to[id[0]] += from[0];
    for (int32_t z = 0; z < length && any; z++) to[id[1] + z] += from[1 + z];
    if (from[length + 1] != 0) to[id[length + 1]] += from[length + 1];
}

static inline void add_faces(const int32_t *id, int32_t length, const double (*restrict from)[4], double *restrict mass,
                             double *restrict momentum)
{
    double part[2][TL_GRID_EDGE + 2];
    for (int k = 0; k < 2; k++) {
        part[k][0] = from[0][k];
        for (int32_t z = 1; z < length + 2; z++) part[k][z] = from[z][k] + from[z - 1][2 + k];
    }
    add_row(id, length, part[0], mass);
    add_row(id, length, part[1], momentum);
}

static inline void add_cells(const int32_t *id, int32_t length, const double (*restrict from)[2], double *restrict fill)
{
    double part[TL_GRID_EDGE + 2];
    part[0] = from[0][0];
    for (int32_t z = 1; z < length + 2; z++) part[z] = from[z][0] + from[z - 1][1];
    add_row(id, length, part, fill);
}

static inline void add_rows(const tl_grid *g, int32_t block, int32_t length, const gathered *b, tl_faces *out)
{
    const tl_halo_shape h = tl_halo_shape_of(g);
    int32_t id[TL_GRID_HALO_MAX], n = tl_grid_halo(g, block, id);
    for (int32_t i = 0; i < n; i += h.sy) {
        for (int k = 0; k < 3; k++) {
            add_faces(id + i, length, &b->face[k][i], out->mass[k], out->u[k]);
            if (out->rest[0]) add_row(id + i, length, &b->volume[k][i], out->rest[k]);
        }
        add_cells(id + i, length, &b->fill[i], out->fill);
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
    const int64_t n = tl_grid_owned_cells(g);
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

/* What particles of other parts put into own blocks. */
static void add_up_parts(const tl_grid *g, tl_faces *out)
{
    for (int k = 0; k < 3; k++) {
        tl_grid_add_halo(g, out->mass[k]);
        tl_grid_add_halo(g, out->u[k]);
        if (out->rest[k]) tl_grid_add_halo(g, out->rest[k]);
    }
    tl_grid_add_halo(g, out->fill);
}

static void refresh_parts(const tl_grid *g, tl_faces *out)
{
    tl_grid_refresh3(g, out->mass);
    tl_grid_refresh3(g, out->u);
    if (out->rest[0]) tl_grid_refresh3(g, out->rest);
    tl_grid_refresh(g, sizeof(double), out->fill);
}

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
    talus_status status = TALUS_OK;
    if (!good) status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for velocities on %lld cells", (long long)g->cells);
    TL_TRY(tl_comm_agree(g->comm, status, err));

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
    add_up_parts(g, out);
    if (p->count || g->comm) divide(g, out, TINY_MASS * rho0 * g->f.dx * g->f.dx * g->f.dx);
    refresh_parts(g, out);
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
    for (int64_t c = 0; c < n; c++) {
        const int32_t i = (int32_t)c;
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
    talus_status status = TALUS_OK;
    if (!known || !next)
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for means of %lld cells", (long long)g->cells);
    TL_TRY(tl_comm_agree(g->comm, status, err));
    for (int32_t c = 0; c < g->colours; c++) {
        int32_t from = g->colour_start[c], to = g->colour_start[c + 1];
#pragma omp parallel for schedule(dynamic) if (to - from > 1)
        for (int32_t i = from; i < to; i++)
            if (g->first[g->by_colour[i]] < g->first[g->by_colour[i] + 1])
                mean_block(g, g->by_colour[i], p, value, mean);
    }
    tl_grid_add_halo(g, mean);
    tl_grid_refresh(g, sizeof *mean, mean);
#pragma omp parallel for schedule(static) if (n > TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) {
        known[i] = fill[i] > TINY_MASS;
        mean[i] = known[i] ? mean[i] / fill[i] : 0;
    }
    spread_mean(g, mean, known, next);
    spread_mean(g, mean, next, known);
    tl_grid_refresh(g, sizeof *mean, mean);
    return TALUS_OK;
}

/* ---- back to particles ---- */

void tl_grid_to_particles(const tl_grid *g, double *const u[3], uint8_t *const known[3], tl_particles *p)
{
    tl_halo_shape h = tl_halo_shape_of(g);
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->owned; b++) {
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
