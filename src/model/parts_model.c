#include "model/parts_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/grid/emit.h"
#include "model/grid/owners.h"

#define PEERS_MAX 13          /* neighbours of a part [measured] */
#define HALO 6.4              /* cells of a halo over n^(2/3) [measured] */
#define SOLVE_SECONDS 0.75e-6 /* of a cold solve, per cell */
#define STEP_SECONDS 6.5e-6   /* of a whole liquid step, per cell with a pressure */
#define CYCLES 14.            /* of a cold solve, with those of the nested start */
#define REDUCES 76            /* of a cold solve */
#define STEP_GETS 61          /* beside the solve [measured, as the rest] */
#define STEP_REDUCES 127
#define STEP_HALO_BYTES 4200. /* per cell of a halo: what it takes are whole blocks */
#define GETS 8                /* of a visit of a level */
#define MANY 64               /* processes: from here on levels that all have would be collected */

tl_network tl_network_good(void) { return (tl_network){2e-6, 0.4e-6, 1e9}; }

/* Cells of level 0 per cell of a level [measured up to 3]. */
static const double coarser[] = {1, 7, 50, 330, 2000, 12000};

static double get(const tl_network *net, double peers, double bytes)
{
    return net->latency + fmax(peers - 1, 0) * net->overhead + bytes / net->bandwidth;
}

/* Visits of a level in a cycle: W everywhere, or W from the first two levels alone. */
static double visits(int level, bool lean) { return lean && level > 2 ? 4 : ldexp(1, level); }

/* Messages and repeated work of a solve with `whole` as the first level that all have. */
static double solve_extra(const tl_network *net, double processes, double cells, int whole, bool lean)
{
    const double peers = fmin(processes - 1, PEERS_MAX), rounds = log2(processes), own = SOLVE_SECONDS * cells;
    double seconds = REDUCES * 2 * net->latency * rounds;
    for (int l = 0; l < whole; l++) {
        const double bytes = 0.5 * HALO * pow(cells / coarser[l], 2. / 3) * sizeof(float);
        seconds += CYCLES * visits(l, lean) * GETS * get(net, peers, bytes);
    }
    const double gathered = processes * cells / coarser[whole] * sizeof(float);
    seconds += CYCLES * visits(whole - 1, lean) * (net->latency * rounds + gathered / net->bandwidth);
    const double repeated = !lean ? pow(4, -whole) : whole == 3 ? 1. / 64 : whole == 4 ? 1. / 500 : 1. / 3000;
    return seconds + own * (processes - 1) * repeated;
}

tl_parts_model tl_parts_model_of(const tl_network *net, int64_t processes, double cells, bool collected)
{
    tl_parts_model m = {.solve_alone = SOLVE_SECONDS * cells, .step_alone = STEP_SECONDS * cells, .whole = 3};
    const double p = (double)processes, rounds = log2(p);
    m.solve = m.solve_alone;
    m.step = m.step_alone;
    if (processes < 2) return m;
    const int last = 3 + tl_owners_shift_for((int64_t)(cells * p), (int32_t)processes);
    double extra = INFINITY;
    for (int whole = 3; whole <= last; whole++) {
        if (!collected && whole != (processes > 8 ? last : 3)) continue;
        const double now = collected && processes > MANY ? solve_extra(net, MANY, cells, whole, true) +
                                                               solve_extra(net, p / MANY, cells, whole, true)
                                                         : solve_extra(net, p, cells, whole, collected);
        if (now < extra) m.whole = whole;
        extra = fmin(extra, now);
    }
    m.solve += extra;
    m.step += extra + STEP_REDUCES * 2 * net->latency * rounds + STEP_GETS * get(net, fmin(p - 1, PEERS_MAX), 0) +
              STEP_HALO_BYTES * HALO * pow(cells, 2. / 3) / net->bandwidth;
    return m;
}

/* ---- a first cut ---- */

#define PARTICLE_BYTES 136
#define STEP_PARTICLE_BYTES 149 /* of a step at the end of a frame: sorted, and parted where crowded [measured] */
#define CELL_BYTES 291          /* of a step, per cell of the grid [measured] */
#define FRAME_BYTES 132         /* per particle of all: gathered, and written */
#define SAVE_BYTES 409          /* per particle of all: gathered, as a file, as an array of it */
#define START_BYTES 290         /* per particle of all: fills are made and sorted by the first process */

/* Blocks with matter, by number along the curve. */
typedef struct block {
    int64_t number;
    int32_t at[3];
    double particles, cells;
} block;

typedef struct blocks {
    int64_t count, room;
    block *block;
} blocks;

static talus_status add_block(blocks *b, const block *add, talus_error *err)
{
    if (b->count >= b->room) {
        const int64_t room = 2 * b->room + 1024;
        block *larger = tl_realloc(b->block, sizeof *larger * (size_t)room);
        if (!larger) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a plan of %lld blocks", (long long)room);
        b->block = larger;
        b->room = room;
    }
    b->block[b->count++] = *add;
    return TALUS_OK;
}

/* The first fill that has a place; -1: none. */
static int fill_at(const tl_scene *s, tl_vec3 x, double near, bool *sure)
{
    *sure = true;
    for (int i = 0; i < s->fill_count; i++) {
        const double d = tl_shape_distance(s->shapes, s->fills[i].shape, x);
        *sure &= fabs(d) > near;
        if (d < 0) return i;
    }
    return -1;
}

static tl_vec3 place(const tl_grid_frame *f, const double cell[3])
{
    return (tl_vec3){f->origin.x + f->dx * cell[0], f->origin.y + f->dx * cell[1], f->origin.z + f->dx * cell[2]};
}

static double per_cell(const tl_scene *s, const tl_grid_frame *f, int fill)
{
    const double per = f->dx / tl_spacing_of(s, s->fills[fill].spacing);
    return f->flat ? per * per : per * per * per;
}

/* What fills have in a block, by the middles of its cells. */
static void count_block(const tl_scene *s, const tl_grid_frame *f, const int32_t at[3], block *out)
{
    double middle[3];
    bool sure;
    for (int k = 0; k < 3; k++) middle[k] = (at[k] + 0.5) * f->edge[k];
    const double half = 0.5 * f->dx * sqrt(f->edge[0] * f->edge[0] + f->edge[1] * f->edge[1] + f->edge[2] * f->edge[2]);
    const int all = fill_at(s, place(f, middle), half, &sure);
    *out = (block){.at = {at[0], at[1], at[2]}};
    if (sure) {
        out->cells = all < 0 ? 0 : f->size;
        out->particles = all < 0 ? 0 : f->size * per_cell(s, f, all);
        return;
    }
    for (int32_t p = 0; p < f->size; p++) {
        const int32_t in[3] = {p / f->stride[0], p / f->stride[1] % f->edge[1], p % f->edge[2]};
        double cell[3];
        for (int k = 0; k < 3; k++) cell[k] = (double)at[k] * f->edge[k] + in[k] + 0.5;
        const int fill = fill_at(s, place(f, cell), 0, &sure);
        if (fill < 0 || cell[0] > f->count[0] || cell[1] > f->count[1] || cell[2] > f->count[2]) continue;
        out->cells += 1;
        out->particles += per_cell(s, f, fill);
    }
}

static int by_number(const void *a, const void *b)
{
    const block *p = a, *q = b;
    return (p->number > q->number) - (p->number < q->number);
}

static talus_status find_blocks(const tl_scene *s, const tl_grid_frame *f, blocks *out, talus_error *err)
{
    int32_t at[3], n[3];
    for (int k = 0; k < 3; k++) n[k] = (f->count[k] + f->edge[k] - 1) / f->edge[k];
    for (at[0] = 0; at[0] < n[0]; at[0]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++)
            for (at[2] = 0; at[2] < n[2]; at[2]++) {
                block b;
                count_block(s, f, at, &b);
                if (b.cells > 0) TL_TRY(add_block(out, &b, err));
            }
    return TALUS_OK;
}

/* Which of the blocks around matter are a part's, and which of others' touch these: 27 around each. */
static void count_around(const blocks *all, const tl_owners *o, int32_t part, const int32_t n[3], uint8_t *seen,
                         tl_parts_plan *out)
{
    enum { MATTER = 1, OWN = 2, HALO_BLOCK = 4 };
    const int64_t span[3] = {(int64_t)(n[1] + 2) * (n[2] + 2), n[2] + 2, 1}, total = (n[0] + 2) * span[0];
    memset(seen, 0, (size_t)total);
    for (int64_t i = 0; i < all->count; i++) { /* matter needs blocks around it, at most one along each axis */
        const int32_t *at = all->block[i].at;
        for (int k = 0; k < 27; k++) {
            const int32_t b[3] = {at[0] + k / 9 - 1, at[1] + k / 3 % 3 - 1, at[2] + k % 3 - 1};
            const int64_t id = (b[0] + 1) * span[0] + (b[1] + 1) * span[1] + b[2] + 1;
            if (seen[id] & MATTER) continue;
            seen[id] |= MATTER;
            if (tl_owners_part(o, b) == part) seen[id] |= OWN;
        }
    }
    for (int64_t id = 0; id < total; id++) {
        if (!(seen[id] & OWN)) continue;
        out->most_blocks++;
        for (int k = 0; k < 27; k++) {
            const int64_t near = id + (k / 9 - 1) * span[0] + (k / 3 % 3 - 1) * span[1] + k % 3 - 1;
            if (near < 0 || near >= total || seen[near] & (OWN | HALO_BLOCK) || !(seen[near] & MATTER)) continue;
            seen[near] |= HALO_BLOCK;
            out->halo_blocks++;
        }
    }
}

/* Cubes in their order; weights are eighths of cells. */
static int64_t cubes_of(const blocks *b, tl_cube *cube)
{
    int64_t n = 0;
    for (int64_t i = 0; i < b->count; i++) {
        if (!n || cube[n - 1].number != b->block[i].number) cube[n++] = (tl_cube){b->block[i].number, 0};
        cube[n - 1].weight += (int64_t)(b->block[i].particles + 3 * b->block[i].cells);
    }
    return n;
}

static void judge_most(const blocks *b, const tl_owners *o, const tl_grid_frame *f, uint8_t *seen, tl_parts_plan *out)
{
    int32_t most = 0, n[3];
    double best = -1, particles = 0, cells = 0;
    for (int64_t i = 0; i < b->count; i++) {
        const int32_t part = tl_owners_part(o, b->block[i].at);
        if (i && part != tl_owners_part(o, b->block[i - 1].at)) particles = cells = 0;
        particles += b->block[i].particles;
        cells += b->block[i].cells;
        if (particles > best) best = particles, most = part, out->most_cells = cells;
    }
    out->most_particles = best;
    for (int k = 0; k < 3; k++) n[k] = (f->count[k] + f->edge[k] - 1) / f->edge[k];
    count_around(b, o, most, n, seen, out);
    const double grid = (double)(out->most_blocks + out->halo_blocks) * f->size;
    out->bytes = out->most_particles * (2 * PARTICLE_BYTES + STEP_PARTICLE_BYTES) + grid * CELL_BYTES;
    out->bytes_first = out->particles * fmax(FRAME_BYTES, SAVE_BYTES);
    out->bytes_start = out->particles * START_BYTES;
}

static talus_status plan_of(const tl_scene *s, const tl_grid_frame *f, int processes, blocks *b, tl_parts_plan *out,
                            talus_error *err)
{
    const tl_comm many = {.parts = processes};
    tl_owners *o;
    TL_TRY(find_blocks(s, f, b, err));
    for (int64_t i = 0; i < b->count; i++) {
        out->particles += b->block[i].particles;
        out->cells += b->block[i].cells;
    }
    out->blocks = b->count;
    out->imbalance = 1;
    TL_TRY(tl_owners_make(&o, &many, err));
    tl_owners one = {.comm = &many, .splitter = (int64_t[]){0, INT64_MAX}};
    tl_owners *cut = o ? o : &one;
    cut->shift = out->shift = o ? tl_owners_shift_for((int64_t)out->cells, processes) : 0;
    for (int64_t i = 0; i < b->count; i++) b->block[i].number = tl_owners_number(cut, b->block[i].at);
    if (b->count) qsort(b->block, (size_t)b->count, sizeof *b->block, by_number);
    tl_cube *cube = TL_NEW(tl_cube, b->count + 1);
    const double room =
        (double)(f->count[0] / f->edge[0] + 4) * (f->count[1] / f->edge[1] + 4) * (f->count[2] / f->edge[2] + 4);
    uint8_t *seen = TL_NEW(uint8_t, (int64_t)room);
    talus_status status =
        cube && seen ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a plan of %d processes", processes);
    if (status == TALUS_OK) {
        tl_cut found = {.imbalance = 1};
        if (o) tl_owners_cut_at(o, cubes_of(b, cube), cube, &found);
        out->imbalance = found.imbalance;
        judge_most(b, cut, f, seen, out);
    }
    tl_free(cube);
    tl_free(seen);
    tl_owners_free(o);
    return status;
}

talus_status tl_parts_plan_make(const tl_scene *s, int processes, tl_parts_plan *out, talus_error *err)
{
    const tl_grid_frame f = tl_grid_frame_of(s);
    blocks b = {0};
    *out = (tl_parts_plan){0};
    talus_status status = plan_of(s, &f, processes, &b, out, err);
    tl_free(b.block);
    return status;
}
