#include "model/grid/particles.h"

#include <string.h>

#include "base/parallel.h"
#include "base/radix.h"
#include "base/sum.h"
#include "model/grid/measure.h"
#include "model/grid/owners.h"

#define FAR_BLOCKS (1 << 17) /* see tl_grid_key */
#define PER_CELL 8           /* particles, about: two per edge */

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
        const uint64_t here = tl_grid_key(f, cell);
        tl_grid_unkey_block(here, b);
        if (f->owners && tl_owners_part(f->owners, b) != f->owners->comm->part) continue;
        key[i] = here;
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

/* The box of blocks of keys. */
static packing find_box(const tl_grid_frame *f, int64_t n, const uint64_t *of)
{
    int32_t lo[3] = {0, 0, 0}, hi[3] = {0, 0, 0};
    bool any = false;
    for (int64_t i = 0; i < n; i++) {
        int32_t b[3];
        if (of[i] == LOST) continue;
        tl_grid_unkey_block(of[i], b);
        for (int k = 0; k < 3; k++) {
            lo[k] = !any || b[k] < lo[k] ? b[k] : lo[k];
            hi[k] = !any || b[k] > hi[k] ? b[k] : hi[k];
        }
        any = true;
    }
    return (packing){{lo[0], lo[1], lo[2]},
                     (uint64_t)(hi[0] - lo[0]) + 1,
                     (uint64_t)(hi[1] - lo[1]) + 1,
                     (uint64_t)(hi[2] - lo[2]) + 1,
                     (uint64_t)f->size};
}

static talus_status order_keys(const packing *k, int64_t n, const uint64_t *raw, uint64_t *key, int32_t *order,
                               int64_t *kept, tl_arena *a, talus_error *err)
{
    const uint64_t end = k->nx * k->ny * k->nz * k->size; /* of those that are lost */
#pragma omp parallel for schedule(static) if (n > TL_PARALLEL_MIN)
    for (int64_t i = 0; i < n; i++) key[i] = raw[i] == LOST ? end : pack(k, raw[i]);
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
    return TALUS_OK;
}

talus_status tl_keys_order(const tl_grid_frame *f, int64_t n, const uint64_t *of, uint64_t *key, int32_t *order,
                           int64_t *kept, tl_arena *a, talus_error *err)
{
    size_t mark = tl_arena_mark(a);
    const packing k = find_box(f, n, of);
    TL_TRY(order_keys(&k, n, of, key, order, kept, a, err));
    tl_arena_release(a, mark);
    return TALUS_OK;
}

talus_status tl_particles_order(const tl_grid_frame *f, const tl_domain_spec *walls, const tl_particles *p,
                                uint64_t *key, int32_t *order, int64_t *kept, tl_arena *a, talus_error *err)
{
    int64_t n = p->count;
    size_t mark = tl_arena_mark(a);
    uint64_t *raw = TL_TAKE(a, uint64_t, n);
    if (!raw) return no_memory(n, err);
    const packing k = find_keys(f, walls, p, raw);
    TL_TRY(order_keys(&k, n, raw, key, order, kept, a, err));
    tl_arena_release(a, mark);
    return TALUS_OK;
}

talus_status tl_particles_sort(const tl_grid_frame *f, const tl_domain_spec *walls, const tl_particles *from,
                               tl_particles *out, uint64_t *key, tl_lost *lost, tl_arena *a, talus_error *err)
{
    TL_ASSERT(out->room >= from->count);
    size_t mark = tl_arena_mark(a);
    int32_t *order = TL_TAKE(a, int32_t, from->count);
    if (!order) return no_memory(from->count, err);
    TL_TRY(tl_particles_order(f, walls, from, key, order, &out->count, a, err));
    *lost = (tl_lost){0, 0};
    for (int64_t i = out->count; i < from->count; i++) {
        tl_vec3 x = from->particle[order[i]].x;
        int32_t cell[3];
        if (f->owners && tl_particle_locate(f, walls, &x, cell)) continue; /* of another part */
        lost->count++;
        lost->volume += from->particle[order[i]].volume;
    }
#pragma omp parallel for schedule(static) if (out->count > TL_PARALLEL_MIN)
    for (int64_t i = 0; i < out->count; i++) {
        int32_t cell[3];
        out->particle[i] = from->particle[order[i]];
        if (f->periodic[0] || f->periodic[1] || f->periodic[2]) tl_particle_locate(f, walls, &out->particle[i].x, cell);
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}

/* Whose place a particle is at; -1: ours, or out of the world. */
static int32_t gone_to(const tl_grid_frame *f, const tl_domain_spec *walls, tl_vec3 x)
{
    int32_t cell[3];
    if (!tl_particle_locate(f, walls, &x, cell)) return -1;
    const int32_t part = tl_owners_part_of_key(f->owners, tl_grid_key(f, cell));
    return part == f->owners->comm->part ? -1 : part;
}

static talus_status pack_leavers(const tl_grid_frame *f, const tl_domain_spec *walls, const tl_particles *p,
                                 tl_comm_rows *out, tl_arena *a, talus_error *err)
{
    *out = (tl_comm_rows){.bytes = sizeof(tl_particle)};
    int32_t *to = TL_TAKE(a, int32_t, p->count);
    if (!to) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for particles that leave");
#pragma omp parallel for schedule(static) if (p->count > TL_PARALLEL_MIN)
    for (int64_t i = 0; i < p->count; i++) to[i] = gone_to(f, walls, p->particle[i].x);
    for (int64_t i = 0; i < p->count; i++) out->count += to[i] >= 0;
    tl_particle *row = TL_TAKE(a, tl_particle, out->count);
    out->row = row;
    out->part = TL_TAKE(a, int32_t, out->count);
    if (!row || !out->part) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for particles that leave");
    out->count = 0;
    for (int64_t i = 0; i < p->count; i++) {
        if (to[i] < 0) continue;
        row[out->count] = p->particle[i];
        out->part[out->count++] = to[i];
    }
    return TALUS_OK;
}

talus_status tl_particles_migrate(const tl_grid_frame *f, const tl_domain_spec *walls, tl_particles *all, tl_arena *a,
                                  talus_error *err)
{
    if (!f->owners) return TALUS_OK;
    const tl_comm *c = f->owners->comm;
    size_t mark = tl_arena_mark(a);
    tl_comm_rows out, in;
    TL_TRY(tl_comm_agree(c, pack_leavers(f, walls, all, &out, a, err), err));
    TL_TRY(tl_comm_agree(c, tl_comm_send_rows(c, &out, &in, a, err), err));
    TL_TRY(tl_comm_agree(c, tl_particles_reserve(all, all->count + in.count, err), err));
    if (in.count) memcpy(all->particle + all->count, in.row, in.bytes * (size_t)in.count);
    all->count += in.count;
    tl_arena_release(a, mark);
    return TALUS_OK;
}

int64_t tl_particles_cubes(const tl_grid_frame *f, const tl_domain_spec *walls, const tl_particles *p, tl_cube *out)
{
    int64_t n = 0;
    for (int64_t i = 0; i < p->count; i++) {
        tl_vec3 x = p->particle[i].x;
        int32_t cell[3], block[3];
        if (!tl_particle_locate(f, walls, &x, cell)) continue;
        tl_grid_unkey_block(tl_grid_key(f, cell), block);
        const int64_t cube = tl_owners_number(f->owners, block);
        if (!n || out[n - 1].number != cube) out[n++] = (tl_cube){cube, 0};
        out[n - 1].weight++;
    }
    return n;
}

talus_status tl_particles_cut(const tl_grid_frame *f, const tl_domain_spec *walls, const tl_particles *p, tl_arena *a,
                              talus_error *err)
{
    tl_owners *o = f->owners;
    size_t mark = tl_arena_mark(a);
    tl_cut cut;
    const bool first = o->comm->part == 0;
    o->shift =
        tl_owners_shift_for((int64_t)tl_comm_sum(o->comm, first ? (double)p->count : 0) / PER_CELL, o->comm->parts);
    tl_cube *cube = TL_TAKE(a, tl_cube, first ? p->count : 1);
    talus_status status = cube ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory to cut the world in parts");
    TL_TRY(tl_comm_agree(o->comm, status, err));
    const int64_t n = first ? tl_particles_cubes(f, walls, p, cube) : 0;
    TL_TRY(tl_owners_cut(o, n, cube, a, &cut, err));
    tl_arena_release(a, mark);
    return TALUS_OK;
}

int32_t tl_particle_part(const tl_grid_frame *f, const tl_domain_spec *walls, tl_vec3 x)
{
    int32_t cell[3];
    return tl_particle_locate(f, walls, &x, cell) ? tl_owners_part_of_key(f->owners, tl_grid_key(f, cell)) : 0;
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

void tl_particles_measure_sum(const tl_comm *c, tl_particles_measure *m)
{
    if (tl_comm_alone(c)) return;
    double sum[] = {m->mass,
                    m->volume,
                    m->kinetic,
                    m->potential,
                    m->second,
                    m->first.x,
                    m->first.y,
                    m->first.z,
                    m->momentum.x,
                    m->momentum.y,
                    m->momentum.z,
                    m->angular_momentum.x,
                    m->angular_momentum.y,
                    m->angular_momentum.z};
    tl_comm_reduce(c, TL_REDUCE_SUM, sizeof sum / sizeof *sum, sum);
    *m = (tl_particles_measure){.mass = sum[0],
                                .volume = sum[1],
                                .kinetic = sum[2],
                                .potential = sum[3],
                                .second = sum[4],
                                .first = tl_vec3_load(sum + 5),
                                .momentum = tl_vec3_load(sum + 8),
                                .angular_momentum = tl_vec3_load(sum + 11),
                                .fastest = tl_comm_max(c, m->fastest)};
}

talus_status tl_particles_measures(const tl_grid_frame *f, const tl_particles *p, const double *rho, tl_vec3 gravity,
                                   tl_arena *a, tl_particles_measure *out, talus_error *err)
{
    tl_blocks blocks = tl_blocks_of(p->count);
    size_t mark = tl_arena_mark(a);
    tl_particle_sums *part = TL_TAKE_ZERO(a, tl_particle_sums, blocks.count + 1);
    talus_status status = part ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for sums over particles");
    TL_TRY(tl_comm_agree(tl_frame_comm(f), status, err));
#pragma omp parallel for schedule(static) if (p->count > TL_PARALLEL_MIN)
    for (int b = 0; b < blocks.count; b++) {
        tl_particle_sums mine = {0};
        for (int64_t i = tl_block_begin(blocks, b); i < tl_block_end(blocks, b); i++)
            tl_particle_sums_add(f, &p->particle[i], rho[p->particle[i].material], &mine);
        part[b] = mine;
    }
    *out = tl_particle_sums_total(blocks.count, part, sizeof *part, gravity);
    tl_particles_measure_sum(tl_frame_comm(f), out);
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
