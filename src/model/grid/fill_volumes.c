#include "model/grid/fill_volumes.h"

#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "model/grid/stencil.h"

#define FINEST                                                                                                         \
    3 /* halvings of a half cell where something cuts it: a plane is then within 1/500 of the cell's volume */
#define ITERATIONS 100 /* of conjugate gradients; a jittered fill takes about 20 */
#define CLOSE 1e-6     /* of a full cell: fillings nearer than that are met */
/* Of a cell's diagonal. Fillings are met to a thousandth, and one that particles reach with less than a thirtieth
 * (its root) of a kernel is not met at the price of volumes that are far from the others'. */
#define SOFT 1e-3
#define LEAST 0.2 /* of an equal share; at the rim of a shape a cell may want less than nothing */
#define MOST 2.5

typedef struct fitting {
    const tl_shape_tree *shapes;
    int fills;
    int *shape; /* [fills] */
    const tl_grid *g;
    const tl_solids *solids;
    tl_particles *p;
    double *part;   /* [cells][8] of half cells: filled part, bit 2: upper half along x, 1: y, 0: z */
    double *change; /* [count] m^3 */
    uint8_t *
        off; /* [cells] 1: equal shares do not fill it as they should. Particles that reach none of these keep theirs */
} fitting;

/* Filled part of a cube of edge h around x, by the distances at its centre: as if planes lay across an axis. */
static double filled(const fitting *q, int32_t block, tl_vec3 x, double h, double *nearest)
{
    int32_t which;
    tl_vec3 n;
    double d = tl_solids_distance(q->solids, block, x, &which, &n), sum = 0;
    double open = fmin(1, fmax(0, 0.5 + d / h));
    *nearest = fabs(d);
    for (int i = 0; i < q->fills; i++) {
        double e = tl_shape_distance(q->shapes, q->shape[i], x);
        *nearest = fmin(*nearest, fabs(e));
        sum += fmin(1, fmax(0, 0.5 - e / h));
    }
    return fmin(1, sum) * open;
}

static double filled_finely(const fitting *q, int32_t block, tl_vec3 x, double h, int halvings)
{
    double nearest, part = filled(q, block, x, h, &nearest), sum = 0;
    if (!halvings || nearest > 0.867 * h) return part;
    int flat = q->g->f.flat_axis;
    for (int k = 0; k < 8; k++) {
        double e = 0.25 * h;
        tl_vec3 y = {x.x + (flat == 0 ? 0
                            : k & 4   ? e
                                      : -e),
                     x.y + (flat == 1 ? 0
                            : k & 2   ? e
                                      : -e),
                     x.z + (flat == 2 ? 0
                            : k & 1   ? e
                                      : -e)};
        if (flat >= 0 && (k >> (2 - flat) & 1)) continue;
        sum += filled_finely(q, block, y, 0.5 * h, halvings - 1);
    }
    return sum / (flat >= 0 ? 4 : 8);
}

static void find_parts(const fitting *q)
{
    const tl_grid *g = q->g;
    double e = 0.25 * g->f.dx;
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++)
        for (int32_t cell = b * g->f.size; cell < (b + 1) * g->f.size; cell++) {
            tl_vec3 c = tl_grid_centre(g, cell);
            for (int k = 0; k < 8; k++) {
                int flat = g->f.flat_axis;
                tl_vec3 x = {c.x + (flat == 0 ? 0
                                    : k & 4   ? e
                                              : -e),
                             c.y + (flat == 1 ? 0
                                    : k & 2   ? e
                                              : -e),
                             c.z + (flat == 2 ? 0
                                    : k & 1   ? e
                                              : -e)};
                bool same = flat >= 0 && (k >> (2 - flat) & 1);
                q->part[8 * (int64_t)cell + k] =
                    same ? q->part[8 * (int64_t)cell + k - (1 << (2 - flat))] : filled_finely(q, b, x, 2 * e, FINEST);
            }
        }
}

/* The kernel's integral over what is filled: of a half cell its value at the centre, (1/4, 3/4, 3/4, 1/4) along each
 * axis. */
static double wanted(const fitting *q, int32_t cell)
{
    const tl_grid *g = q->g;
    double sum = 0;
    for (int x = -1; x <= 1; x++) {
        int32_t at_x = x ? tl_grid_step(g, cell, 0, x) : cell;
        for (int y = -1; y <= 1; y++) {
            int32_t at_y = y ? tl_grid_step(g, at_x, 1, y) : at_x;
            for (int z = -1; z <= 1; z++) {
                int32_t at = z ? tl_grid_step(g, at_y, 2, z) : at_y;
                const double *part = q->part + 8 * (int64_t)at;
                if (!tl_grid_exists(g, at)) continue;
                for (int k = 0; k < 8; k++) {
                    double wx = x == 0 ? 0.75 : (k >> 2 & 1) == (x < 0) ? 0.25 : 0;
                    double wy = y == 0 ? 0.75 : (k >> 1 & 1) == (y < 0) ? 0.25 : 0;
                    double wz = z == 0 ? 0.75 : (k & 1) == (z < 0) ? 0.25 : 0;
                    sum += 0.125 * wx * wy * wz * part[k];
                }
            }
        }
    }
    return sum;
}

/* out [cells] = fillings of the particles' volumes, or of their change */
static void fillings(const fitting *q, bool change, double *out)
{
    const tl_grid *g = q->g;
    tl_halo_shape h = tl_halo_shape_of(g);
    double per_cell = 1 / (g->f.dx * g->f.dx * g->f.dx);
    memset(out, 0, sizeof *out * (size_t)g->cells);
    for (int32_t c = 0; c < g->colours; c++) {
        int32_t from = g->colour_start[c], to = g->colour_start[c + 1];
#pragma omp parallel for schedule(dynamic) if (to - from > 1)
        for (int32_t n = from; n < to; n++) {
            int32_t b = g->by_colour[n], id[TL_GRID_HALO_MAX];
            if (g->first[b] == g->first[b + 1]) continue;
            int32_t cells = tl_grid_halo(g, b, id);
            double mine[TL_GRID_HALO_MAX] = {0};
            for (int32_t i = g->first[b]; i < g->first[b + 1]; i++) {
                double s[3], v = per_cell * (change ? q->change[i] : q->p->particle[i].volume);
                tl_place_in_block(g, b, q->p->particle[i].x, s);
                tl_corners at = tl_corners_of(&h, s, 3);
                for (int k = 0; k < 8; k++)
                    mine[at.at + (k >> 2) * h.sx + (k >> 1 & 1) * h.sy + (k & 1)] +=
                        v * (k & 4 ? at.t[0] : 1 - at.t[0]) * (k & 2 ? at.t[1] : 1 - at.t[1]) *
                        (k & 1 ? at.t[2] : 1 - at.t[2]);
            }
            for (int32_t i = 0; i < cells; i++)
                if (mine[i] != 0) out[id[i]] += mine[i];
        }
    }
}

/* change [count] = transpose of fillings, times lambda */
static void spread_back(const fitting *q, const double *lambda)
{
    const tl_grid *g = q->g;
    tl_halo_shape h = tl_halo_shape_of(g);
#pragma omp parallel for schedule(dynamic) if (g->blocks > 1)
    for (int32_t b = 0; b < g->blocks; b++) {
        if (g->first[b] == g->first[b + 1]) continue;
        int32_t id[TL_GRID_HALO_MAX], cells = tl_grid_halo(g, b, id);
        double mine[TL_GRID_HALO_MAX];
        bool off[TL_GRID_HALO_MAX];
        for (int32_t i = 0; i < cells; i++) {
            mine[i] = tl_grid_exists(g, id[i]) ? lambda[id[i]] : 0;
            off[i] = tl_grid_exists(g, id[i]) && q->off[id[i]];
        }
        for (int32_t i = g->first[b]; i < g->first[b + 1]; i++) {
            double s[3], sum = 0;
            tl_place_in_block(g, b, q->p->particle[i].x, s);
            tl_corners at = tl_corners_of(&h, s, 3);
            bool any = false;
            for (int k = 0; k < 8; k++) any |= off[at.at + (k >> 2) * h.sx + (k >> 1 & 1) * h.sy + (k & 1)];
            for (int k = 0; k < 8 && any; k++)
                sum += mine[at.at + (k >> 2) * h.sx + (k >> 1 & 1) * h.sy + (k & 1)] * (k & 4 ? at.t[0] : 1 - at.t[0]) *
                       (k & 2 ? at.t[1] : 1 - at.t[1]) * (k & 1 ? at.t[2] : 1 - at.t[2]);
            q->change[i] = q->p->particle[i].volume * sum;
        }
    }
}

/* The change W^T lambda with (W V W^T + soft) lambda = r: nearest to equal shares, measured by these. */
static talus_status fit(const fitting *q, double *r, tl_arena *a, talus_error *err)
{
    int64_t n = q->g->cells;
    double *x = TL_TAKE_ZERO(a, double, n), *d = TL_TAKE(a, double, n), *y = TL_TAKE(a, double, n);
    if (!x || !d || !y) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the volumes of a fill");
    memcpy(d, r, sizeof *d * (size_t)n);
    double rr = tl_dot(n, r, r);
    for (int k = 0; k < ITERATIONS; k++) {
        double worst = 0;
        for (int64_t i = 0; i < n; i++) worst = fmax(worst, fabs(r[i]));
        if (worst < CLOSE) break;
        spread_back(q, d);
        fillings(q, true, y);
        for (int64_t i = 0; i < n; i++) y[i] += SOFT * d[i];
        double dy = tl_dot(n, d, y);
        if (!(dy > 0)) break;
        double step = rr / dy, before = rr;
        for (int64_t i = 0; i < n; i++) {
            x[i] += step * d[i];
            r[i] -= step * y[i];
        }
        rr = tl_dot(n, r, r);
        for (int64_t i = 0; i < n; i++) d[i] = r[i] + rr / before * d[i];
    }
    spread_back(q, x);
    return TALUS_OK;
}

talus_status tl_fill_volumes(const tl_scene *s, const tl_grid *g, const tl_solids *solids, tl_particles *p, tl_arena *a,
                             talus_error *err)
{
    for (int i = 0; i < s->fill_count; i++)
        if (s->materials[s->fills[i].material].kind == TL_MATERIAL_GRANULAR) return TALUS_OK;
    fitting q = {s->shapes,
                 s->fill_count,
                 TL_TAKE(a, int, s->fill_count),
                 g,
                 solids,
                 p,
                 TL_TAKE_ZERO(a, double, 8 * g->cells),
                 TL_TAKE(a, double, p->count),
                 TL_TAKE(a, uint8_t, g->cells)};
    double *r = TL_TAKE(a, double, g->cells);
    if (!q.shape || !q.part || !q.change || !q.off || !r)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the volumes of a fill");
    for (int i = 0; i < q.fills; i++) q.shape[i] = s->fills[i].shape;
    find_parts(&q);
    fillings(&q, false, r);
    for (int32_t i = 0; i < g->cells; i++) {
        r[i] = tl_grid_exists(g, i) ? wanted(&q, i) - r[i] : 0;
        q.off[i] = fabs(r[i]) > CLOSE;
    }
    TL_TRY(fit(&q, r, a, err));
    for (int64_t i = 0; i < p->count; i++) {
        double *v = &p->particle[i].volume;
        *v = fmin(MOST * *v, fmax(LEAST * *v, *v + q.change[i]));
    }
    return TALUS_OK;
}
