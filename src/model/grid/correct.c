#include "model/grid/correct.h"

#include <string.h>

#include "base/parallel.h"
#include "base/radix.h"
#include "model/grid/transfer.h"

#define FURTHEST 0.2 /* of the spacing, per sweep: chosen, keeps neighbours neighbours */
#define SOFT 0.1     /* over spacing^2, in the denominator of [Macklin2013 eq. 11] */
#define SUPPORT 2    /* spacings: the sum over a lattice of spacing s is then 1.0000 in 3D, 1.0009 in 2D */

/* What the loops over neighbours read, sorted by cell. */
typedef struct crowd {
    const tl_grid *g;
    int32_t *start;                   /* [cells + 1] particles of each cell */
    double (*x)[3], *volume, *lambda; /* [n] */
    double spacing, dx, length[3];    /* length: of periodic axes, else 0 */
} crowd;

/* Cubic spline of support h and its derivative. */
static double kernel(double r, double h, bool flat, double *slope)
{
    double q = r / h, pi = 3.14159265358979323846, sigma = flat ? 40 / (7 * pi * h * h) : 8 / (pi * h * h * h);
    if (q >= 1) return *slope = 0;
    if (q > 0.5) {
        *slope = -6 * sigma / h * (1 - q) * (1 - q);
        return 2 * sigma * (1 - q) * (1 - q) * (1 - q);
    }
    *slope = 6 * sigma / h * q * (3 * q - 2);
    return sigma * (6 * q * q * (q - 1) + 1);
}

typedef void (*pair_fn)(const crowd *c, int32_t i, int32_t j, const double d[3], double r, double *sum);

/* Every neighbour of i within the kernel's support, itself not included. `cells`: 27 cells around its own. */
static void neighbours(const crowd *c, int32_t i, const int32_t *cells, pair_fn pair, double *sum)
{
    double h = SUPPORT * c->spacing;
    for (int k = 0; k < 27; k++) {
        if (!tl_grid_exists(c->g, cells[k])) continue;
        for (int32_t j = c->start[cells[k]]; j < c->start[cells[k] + 1]; j++) {
            double d[3], r2 = 0;
            for (int m = 0; m < 3; m++) {
                d[m] = c->x[i][m] - c->x[j][m];
                if (c->length[m] > 0) d[m] -= c->length[m] * round(d[m] / c->length[m]);
                r2 += d[m] * d[m];
            }
            if (j != i && r2 < h * h) pair(c, i, j, d, sqrt(r2), sum);
        }
    }
}

/* sum: density, gradient (3), sum of squared gradients. Volumes of the slab's thickness count per area. */
static void add_density(const crowd *c, int32_t i, int32_t j, const double d[3], double r, double *sum)
{
    (void)i;
    bool flat = c->g->f.flat_axis >= 0;
    double slope, share = flat ? c->volume[j] / c->dx : c->volume[j];
    sum[0] += share * kernel(r, SUPPORT * c->spacing, flat, &slope);
    if (!(r > 0)) return;
    for (int m = 0; m < 3; m++) {
        double g = share * slope * d[m] / r;
        sum[1 + m] += g;
        sum[4] += g * g;
    }
}

/* sum: displacement (3). */
static void add_shift(const crowd *c, int32_t i, int32_t j, const double d[3], double r, double *sum)
{
    bool flat = c->g->f.flat_axis >= 0;
    double slope, share = flat ? c->volume[j] / c->dx : c->volume[j];
    kernel(r, SUPPORT * c->spacing, flat, &slope);
    if (!(r > 0)) return;
    for (int m = 0; m < 3; m++) sum[m] += (c->lambda[i] + c->lambda[j]) * share * slope * d[m] / r;
}

/* Cells around a cell, each once (short periodic axes repeat them). */
static void cells_around(const tl_grid *g, int32_t cell, int32_t out[27])
{
    for (int k = 0; k < 27; k++) {
        int32_t c = cell;
        const int by[3] = {k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
        for (int m = 0; m < 3; m++)
            if (by[m]) c = tl_grid_step(g, c, m, by[m]);
        out[k] = c;
        for (int j = 0; j < k; j++)
            if (out[j] == c) out[k] = (int32_t)g->cells;
    }
}

static double solve_lambdas(crowd *c)
{
    const tl_grid *g = c->g;
    double worst = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : worst) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++)
        for (int32_t cell = b * g->f.size; cell < (b + 1) * g->f.size; cell++) {
            int32_t around[27];
            if (c->start[cell] < c->start[cell + 1]) cells_around(g, cell, around);
            for (int32_t i = c->start[cell]; i < c->start[cell + 1]; i++) {
                double sum[5] = {0}, slope;
                bool flat = g->f.flat_axis >= 0;
                double share = flat ? c->volume[i] / c->dx : c->volume[i];
                sum[0] = share * kernel(0, SUPPORT * c->spacing, flat, &slope);
                neighbours(c, i, around, add_density, sum);
                double own = sum[1] * sum[1] + sum[2] * sum[2] + sum[3] * sum[3];
                double soft = SOFT / (c->spacing * c->spacing);
                c->lambda[i] = sum[0] > 1 ? (1 - sum[0]) / (own + sum[4] + soft) : 0;
                worst = fmax(worst, sum[0]);
            }
        }
    return worst;
}

static double shift(const crowd *c, const int32_t *of, const tl_solids *s, double gap, tl_particles *p)
{
    const tl_grid *g = c->g;
    double furthest = 0, most = FURTHEST * c->spacing;
#pragma omp parallel for schedule(dynamic) reduction(max : furthest) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++)
        for (int32_t cell = b * g->f.size; cell < (b + 1) * g->f.size; cell++) {
            int32_t around[27];
            if (c->start[cell] < c->start[cell + 1]) cells_around(g, cell, around);
            for (int32_t i = c->start[cell]; i < c->start[cell + 1]; i++) {
                double d[3] = {0};
                neighbours(c, i, around, add_shift, d);
                tl_vec3 way = tl_vec3_load(d);
                double length = tl_vec3_norm(way);
                if (!(length > 0)) continue;
                if (length > most) way = tl_vec3_scale(most / length, way);
                tl_particle *q = &p->particle[of[i]];
                q->x = tl_vec3_add(tl_vec3_load(c->x[i]), way);
                tl_vec3 kept = q->v;
                double deepest = 0;
                if (s) tl_particle_put_outside(s, INT32_MAX, gap, q, &deepest);
                q->v = kept;
                furthest = fmax(furthest, fmin(length, most));
            }
        }
    return furthest;
}

/* The crowd of particles where they are now. */
static talus_status gather(const tl_grid_frame *f, const tl_particles *p, tl_arena *a, tl_grid *g, crowd *c,
                           int32_t **order, talus_error *err)
{
    const tl_domain_spec nowhere = {0};
    int64_t n = p->count, kept;
    uint64_t *key = TL_TAKE(a, uint64_t, n);
    *order = TL_TAKE(a, int32_t, n);
    *c = (crowd){.g = g, .dx = f->dx};
    c->x = tl_arena_take(a, sizeof *c->x * (size_t)n);
    c->volume = TL_TAKE(a, double, n);
    c->lambda = TL_TAKE(a, double, n);
    if (!key || !*order || !c->x || !c->volume || !c->lambda)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to spread %lld particles", (long long)n);
    TL_TRY(tl_particles_order(f, &nowhere, p, key, *order, &kept, a, err));
    TL_TRY(tl_grid_build(g, f, kept, key, a, err));
    c->start = TL_TAKE(a, int32_t, g->cells + 1);
    if (!c->start) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to spread %lld particles", (long long)n);
    int32_t at = 0;
    for (int64_t i = 0; i <= g->cells; i++) {
        c->start[i] = at;
        if (i >= (int64_t)g->blocks * f->size) continue;
        uint64_t here = tl_grid_key_of(g, (int32_t)i);
        while (at < kept && key[at] == here) at++;
    }
    double volume = 0;
    for (int64_t i = 0; i < kept; i++) {
        const tl_particle *q = &p->particle[(*order)[i]];
        tl_vec3_store(q->x, c->x[i]);
        volume += c->volume[i] = q->volume;
    }
    volume /= (double)(kept ? kept : 1);
    c->spacing = f->flat_axis >= 0 ? sqrt(volume / f->dx) : cbrt(volume);
    if (c->spacing > f->dx / SUPPORT * (1 + 1e-9))
        c->spacing = f->dx / SUPPORT; /* neighbours are looked for in 27 cells */
    for (int k = 0; k < 3; k++) c->length[k] = f->periodic[k] ? f->count[k] * f->dx : 0;
    return TALUS_OK;
}

talus_status tl_particles_spread(const tl_grid_frame *f, const tl_solids *s, int sweeps, double gap, tl_particles *p,
                                 tl_arena *a, tl_correction *out, talus_error *err)
{
    *out = (tl_correction){0};
    for (int k = 0; k < sweeps && p->count; k++) {
        size_t mark = tl_arena_mark(a);
        tl_grid g;
        crowd c;
        int32_t *order;
        TL_TRY(gather(f, p, a, &g, &c, &order, err));
        double worst = solve_lambdas(&c);
        if (k == 0) out->worst = worst;
        out->furthest += shift(&c, order, s, gap, p);
        tl_arena_release(a, mark);
    }
    return TALUS_OK;
}
