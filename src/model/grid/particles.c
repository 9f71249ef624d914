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
        if (f->periodic[k]) {
            if (!isfinite(at[k])) return false;
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

/* Keys in a box of blocks, numbered without gaps: same order as tl_grid_key, and few enough bits for two or three passes of the sort. */
typedef struct packing {
    int32_t lo[3]; /* block coordinates */
    uint64_t nx, ny, nz, size;
} packing;

static uint64_t pack(const packing *k, uint64_t key)
{
    int32_t b[3];
    uint64_t place = tl_grid_unkey_block(key, b);
    return ((((uint64_t)(b[0] - k->lo[0])) * k->ny + (uint64_t)(b[1] - k->lo[1])) * k->nz +
            (uint64_t)(b[2] - k->lo[2])) *
               k->size +
           place;
}

#define LOST UINT64_MAX

/* Keys of all particles, and the box of their blocks. */
static packing find_keys(const tl_grid_frame *f, const tl_domain_spec *walls, const tl_particles *p, uint64_t *key)
{
    int32_t x0 = INT32_MAX, y0 = INT32_MAX, z0 = INT32_MAX, x1 = INT32_MIN, y1 = INT32_MIN, z1 = INT32_MIN;
#pragma omp parallel for schedule(static) reduction(min                                                                \
                                                    : x0, y0, z0)                                                      \
    reduction(max                                                                                                      \
              : x1, y1, z1) if (p->count > TL_PARALLEL_MIN)
    for (int64_t i = 0; i < p->count; i++) {
        tl_vec3 x = p->particle[i].x;
        int32_t cell[3], b[3];
        key[i] = LOST;
        if (!locate(f, walls, &x, cell)) continue;
        key[i] = tl_grid_key(f, cell);
        tl_grid_unkey_block(key[i], b);
        x0 = b[0] < x0 ? b[0] : x0;
        y0 = b[1] < y0 ? b[1] : y0;
        z0 = b[2] < z0 ? b[2] : z0;
        x1 = b[0] > x1 ? b[0] : x1;
        y1 = b[1] > y1 ? b[1] : y1;
        z1 = b[2] > z1 ? b[2] : z1;
    }
    if (x0 > x1) x0 = y0 = z0 = x1 = y1 = z1 = 0;
    return (packing){
        {x0, y0, z0}, (uint64_t)(x1 - x0) + 1, (uint64_t)(y1 - y0) + 1, (uint64_t)(z1 - z0) + 1, (uint64_t)f->size};
}

talus_status tl_particles_order(const tl_grid_frame *f, const tl_domain_spec *walls, const tl_particles *p,
                                uint64_t *key, int32_t *order, int64_t *kept, tl_arena *a, talus_error *err)
{
    int64_t n = p->count;
    size_t mark = tl_arena_mark(a);
    uint64_t *raw = TL_TAKE(a, uint64_t, n), *spare = TL_TAKE(a, uint64_t, n);
    int32_t *spare_order = TL_TAKE(a, int32_t, n);
    if (!raw || !spare || !spare_order)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to sort %lld particles", (long long)n);
    packing k = find_keys(f, walls, p, raw);
    uint64_t end = k.nx * k.ny * k.nz * k.size; /* of those that are lost */
#pragma omp parallel for schedule(static) if (n > TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) {
        key[i] = raw[i] == LOST ? end : pack(&k, raw[i]);
        order[i] = (int32_t)i;
    }
    tl_radix_sort(n, key, order, spare, spare_order);
    for (*kept = n; *kept > 0 && key[*kept - 1] == end;) --*kept;
#pragma omp parallel for schedule(static) if (n > TL_PARALLEL_MIN)
    for (int64_t i = 0; i < *kept; i++) key[i] = raw[order[i]];
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
        if (f->periodic[0] || f->periodic[1] || f->periodic[2]) locate(f, walls, &out->particle[i].x, cell);
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}

enum { MASS, VOLUME, KINETIC, HEIGHT, PX, PY, PZ, LX, LY, LZ, SUMS };

/* On the grid's terms: of each axis' faces, the second moment of the hat weights is f (1 - f) dx^2 along each direction. */
double tl_particle_affine(const tl_grid_frame *f, const tl_particle *p, double arm[3][3])
{
    const double x[3] = {p->x.x, p->x.y, p->x.z};
    double spin = 0;
    for (int b = 0; b < 3; b++) {
        double s = tl_grid_scaled(f, x[b], b), t = s - floor(s), half = t + 0.5 - (t >= 0.5);
        double own = t * (1 - t) * f->dx * f->dx, other = half * (1 - half) * f->dx * f->dx;
        for (int axis = 0; axis < 3; axis++) {
            arm[axis][b] = (axis == b ? own : other) * p->C.m[axis][b];
            spin += arm[axis][b] * p->C.m[axis][b];
        }
    }
    return spin;
}

static void add_particle(const tl_grid_frame *f, const tl_particle *p, double rho, tl_vec3 gravity, double *sum)
{
    const double x[3] = {p->x.x, p->x.y, p->x.z}, v[3] = {p->v.x, p->v.y, p->v.z};
    double m = rho * p->volume, arm[3][3], spin = tl_particle_affine(f, p, arm);
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
