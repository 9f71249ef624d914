#include "model/grid/particles.h"

#include "base/parallel.h"
#include "base/radix.h"
#include "base/sum.h"

#define FAR_BLOCKS (1 << 17) /* see tl_grid_key */

/* Wrap along periodic axes, then the cell; false: out of the world. */
static bool locate(const tl_grid_frame *f, const tl_domain_spec *walls, tl_vec3 *x, int32_t cell[3])
{
    double at[3] = {x->x, x->y, x->z};
    const double origin[3] = {f->origin.x, f->origin.y, f->origin.z};
    for (int k = 0; k < 3; k++) {
        double length = f->count[k] * f->dx, s;
        if (!isfinite(at[k])) return false;
        if (f->periodic[k]) {
            at[k] -= length * floor((at[k] - origin[k]) / length);
            if (at[k] >= origin[k] + length) at[k] = origin[k]; /* -1e-300 wraps to the far end */
        }
        s = floor(tl_grid_scaled(f, at[k], k));
        if (f->periodic[k]) {
            s = s < 0 ? 0 : s > f->count[k] - 1 ? f->count[k] - 1 : s;
        } else {
            if (!(fabs(s) < (double)f->edge[k] * (FAR_BLOCKS - 2))) return false;
            if (walls->wall[2 * k] == TL_WALL_OPEN && s < -TL_GRID_MARGIN) return false;
            if (walls->wall[2 * k + 1] == TL_WALL_OPEN && s >= f->count[k] + TL_GRID_MARGIN) return false;
        }
        cell[k] = (int32_t)s;
    }
    *x = (tl_vec3){at[0], at[1], at[2]};
    return true;
}

#define LOST UINT64_MAX

talus_status tl_particles_order(const tl_grid_frame *f, const tl_domain_spec *walls, const tl_particles *p,
                                uint64_t *key, int32_t *order, int64_t *kept, tl_arena *a, talus_error *err)
{
    int64_t n = p->count;
    size_t mark = tl_arena_mark(a);
    uint64_t *spare = TL_TAKE(a, uint64_t, n);
    int32_t *spare_order = TL_TAKE(a, int32_t, n);
    if (!spare || !spare_order) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to sort %lld particles", (long long)n);
#pragma omp parallel for schedule(static) if (n > TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) {
        tl_vec3 x = p->particle[i].x;
        int32_t cell[3];
        key[i] = locate(f, walls, &x, cell) ? tl_grid_key(f, cell) : LOST;
        order[i] = (int32_t)i;
    }
    tl_radix_sort(n, key, order, spare, spare_order);
    for (*kept = n; *kept > 0 && key[*kept - 1] == LOST;) --*kept;

    /* within a cell by id: a few particles each, nearly in order */
    for (int64_t i = 1; i < *kept; i++) {
        int32_t o = order[i];
        int64_t j = i;
        for (; j > 0 && key[j - 1] == key[i] && p->particle[order[j - 1]].id > p->particle[o].id; j--)
            order[j] = order[j - 1];
        order[j] = o;
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}

talus_status tl_particles_sort(const tl_grid_frame *f, const tl_domain_spec *walls, const tl_particles *from,
                               tl_particles *out, uint64_t *key, double *lost_volume, tl_arena *a, talus_error *err)
{
    TL_ASSERT(out->room >= from->count);
    size_t mark = tl_arena_mark(a);
    int32_t *order = TL_TAKE(a, int32_t, from->count);
    if (!order) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to sort %lld particles", (long long)from->count);
    TL_TRY(tl_particles_order(f, walls, from, key, order, &out->count, a, err));
    *lost_volume = 0;
    for (int64_t i = out->count; i < from->count; i++) *lost_volume += from->particle[order[i]].volume;
#pragma omp parallel for schedule(static) if (out->count > TL_PARALLEL_MIN)
    for (int64_t i = 0; i < out->count; i++) {
        int32_t cell[3];
        out->particle[i] = from->particle[order[i]];
        locate(f, walls, &out->particle[i].x, cell);
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}

enum { MASS, VOLUME, KINETIC, HEIGHT, PX, PY, PZ, LX, LY, LZ, SUMS };

/* Affine part on the grid's terms: of each axis' faces, the second moment of the hat weights is f (1 - f) dx^2 along each direction. */
static void add_particle(const tl_grid_frame *f, const tl_particle *p, double rho, tl_vec3 gravity, double *sum)
{
    const double x[3] = {p->x.x, p->x.y, p->x.z}, v[3] = {p->v.x, p->v.y, p->v.z};
    double m = rho * p->volume, arm[3][3]; /* arm[a][b]: mean of (face - x)_b (C (face - x))_a over the faces of a */
    double spin = 0;
    for (int axis = 0; axis < 3; axis++)
        for (int b = 0; b < 3; b++) {
            double s = tl_grid_scaled(f, x[b], b) - (axis == b ? 0 : 0.5), t = s - floor(s);
            double moment = t * (1 - t) * f->dx * f->dx;
            arm[axis][b] = moment * p->C.m[axis][b];
            spin += arm[axis][b] * p->C.m[axis][b];
        }
    sum[MASS] += m;
    sum[VOLUME] += p->volume;
    sum[KINETIC] += 0.5 * m * (tl_vec3_norm2(p->v) + spin);
    sum[HEIGHT] -= m * tl_vec3_dot(gravity, p->x);
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        sum[PX + k] += m * v[k];
        sum[LX + k] += m * (x[i] * v[j] - x[j] * v[i] + arm[j][i] - arm[i][j]);
    }
}

talus_status tl_particles_measures(const tl_grid_frame *f, const tl_particles *p, const double *rho, tl_vec3 gravity,
                                   tl_arena *a, tl_particles_measure *out, talus_error *err)
{
    tl_blocks blocks = tl_blocks_of(p->count);
    size_t mark = tl_arena_mark(a);
    double(*part)[SUMS] = tl_arena_take_zero(a, sizeof *part * (size_t)(blocks.count + 1));
    double *fastest = TL_TAKE_ZERO(a, double, blocks.count + 1);
    if (!part || !fastest) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for sums over particles");
#pragma omp parallel for schedule(static) if (p->count > TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++)
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++) {
            add_particle(f, &p->particle[i], rho[p->particle[i].material], gravity, part[b]);
            fastest[b] = fmax(fastest[b], tl_vec3_norm2(p->particle[i].v));
        }
    double sum[SUMS] = {0}, most = 0;
    for (int b = 0; b < blocks.count; b++) {
        for (int k = 0; k < SUMS; k++) sum[k] += part[b][k];
        most = fmax(most, fastest[b]);
    }
    *out = (tl_particles_measure){.mass = sum[MASS],
                                  .volume = sum[VOLUME],
                                  .kinetic = sum[KINETIC],
                                  .potential = sum[HEIGHT],
                                  .momentum = tl_vec3_load(sum + PX),
                                  .angular_momentum = tl_vec3_load(sum + LX),
                                  .fastest = sqrt(most)};
    tl_arena_release(a, mark);
    return TALUS_OK;
}

double tl_particles_dt(const tl_grid_frame *f, double cfl, double fastest, double extra, tl_vec3 gravity)
{
    /* (v + g dt) dt = cfl dx */
    double v = fmax(fastest, extra), g = tl_vec3_norm(gravity), way = cfl * f->dx;
    double dt = 2 * way / (v + sqrt(v * v + 4 * g * way));
    return isfinite(dt) ? dt : INFINITY;
}
