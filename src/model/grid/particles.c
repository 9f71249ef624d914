#include "model/grid/particles.h"

#include "base/parallel.h"
#include "base/radix.h"
#include "base/sum.h"
#include "model/grid/measure.h"

#define FAR_BLOCKS (1 << 17) /* see tl_grid_key */

bool tl_particle_locate(const tl_grid_frame *f, const tl_domain_spec *walls, tl_vec3 *x, int32_t cell[3])
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

/* Keys in a box of blocks, numbered without gaps: same order as tl_grid_key, and few enough bits for two or three
 * passes of the sort. */
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
        if (!tl_particle_locate(f, walls, &x, cell)) continue;
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

static talus_status no_memory(int64_t n, talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to sort %lld particles", (long long)n);
}

#define SPARSE 8 /* cells of the box per particle up to which counting beats a sort by digits */

/* Order of packed keys below `end`, by counting: one place per cell of the box. Those at the end are lost. */
static talus_status count_order(int64_t n, int64_t end, const uint64_t *key, int32_t *order, int64_t *kept, tl_arena *a,
                                talus_error *err)
{
    int32_t *place = TL_TAKE_ZERO(a, int32_t, end + 2), sum = 0;
    if (!place) return no_memory(n, err);
    for (int64_t i = 0; i < n; i++) place[key[i] + 1]++;
    for (int64_t c = 0; c <= end; c++) {
        sum += place[c];
        place[c] = sum;
    }
    *kept = place[end];
    for (int64_t i = 0; i < n; i++) order[place[key[i]]++] = (int32_t)i;
    return TALUS_OK;
}

talus_status tl_particles_order(const tl_grid_frame *f, const tl_domain_spec *walls, const tl_particles *p,
                                uint64_t *key, int32_t *order, int64_t *kept, tl_arena *a, talus_error *err)
{
    int64_t n = p->count;
    size_t mark = tl_arena_mark(a);
    uint64_t *raw = TL_TAKE(a, uint64_t, n);
    if (!raw) return no_memory(n, err);
    packing k = find_keys(f, walls, p, raw);
    uint64_t end = k.nx * k.ny * k.nz * k.size; /* of those that are lost */
#pragma omp parallel for schedule(static) if (n > TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) key[i] = raw[i] == LOST ? end : pack(&k, raw[i]);
    if (end < SPARSE * (uint64_t)n) {
        TL_TRY(count_order(n, (int64_t)end, key, order, kept, a, err));
    } else {
        uint64_t *spare = TL_TAKE(a, uint64_t, n);
        int32_t *spare_order = TL_TAKE(a, int32_t, n);
        if (!spare || !spare_order) return no_memory(n, err);
        for (int64_t i = 0; i < n; i++) order[i] = (int32_t)i;
        tl_radix_sort(n, key, order, spare, spare_order);
        for (*kept = n; *kept > 0 && key[*kept - 1] == end;) --*kept;
    }
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
    if (!order) return no_memory(from->count, err);
    TL_TRY(tl_particles_order(f, walls, from, key, order, &out->count, a, err));
    *lost_volume = 0;
    for (int64_t i = out->count; i < from->count; i++) *lost_volume += from->particle[order[i]].volume;
#pragma omp parallel for schedule(static) if (out->count > TL_PARALLEL_MIN)
    for (int64_t i = 0; i < out->count; i++) {
        int32_t cell[3];
        out->particle[i] = from->particle[order[i]];
        if (f->periodic[0] || f->periodic[1] || f->periodic[2]) tl_particle_locate(f, walls, &out->particle[i].x, cell);
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}

tl_particles_measure tl_particle_sums_total(int64_t count, const tl_particle_sums *part, size_t stride, tl_vec3 gravity)
{
    tl_particle_sums all = {0};
    for (int64_t b = 0; b < count; b++) {
        const tl_particle_sums *q = (const tl_particle_sums *)((const char *)part + (size_t)b * stride);
        all.mass += q->mass;
        all.volume += q->volume;
        all.kinetic += q->kinetic;
        all.second += q->second;
        for (int k = 0; k < 3; k++) {
            all.first[k] += q->first[k];
            all.p[k] += q->p[k];
            all.L[k] += q->L[k];
        }
        all.fastest2 = fmax(all.fastest2, q->fastest2);
    }
    tl_vec3 first = tl_vec3_load(all.first);
    return (tl_particles_measure){.mass = all.mass,
                                  .volume = all.volume,
                                  .kinetic = all.kinetic,
                                  .potential = -tl_vec3_dot(gravity, first),
                                  .first = first,
                                  .second = all.second,
                                  .momentum = tl_vec3_load(all.p),
                                  .angular_momentum = tl_vec3_load(all.L),
                                  .fastest = sqrt(all.fastest2)};
}

talus_status tl_particles_measures(const tl_grid_frame *f, const tl_particles *p, const double *rho, tl_vec3 gravity,
                                   tl_arena *a, tl_particles_measure *out, talus_error *err)
{
    tl_blocks blocks = tl_blocks_of(p->count);
    size_t mark = tl_arena_mark(a);
    tl_particle_sums *part = TL_TAKE_ZERO(a, tl_particle_sums, blocks.count + 1);
    if (!part) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for sums over particles");
#pragma omp parallel for schedule(static) if (p->count > TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++) {
        tl_particle_sums mine = {0};
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++)
            tl_particle_sums_add(f, &p->particle[i], rho[p->particle[i].material], &mine);
        part[b] = mine;
    }
    *out = tl_particle_sums_total(blocks.count, part, sizeof *part, gravity);
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
