/* What flows, in several parts: collected for a file, and dealt out again.
 *
 * In a file particles of each part follow those of the part before it, in the order that they have there: as many parts
 * go on bit for bit. What cells remember is in the order of keys, as one part has it, and goes to whom the cells
 * belong. */
#include <string.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "phase/grid/grid.h"

/* What runs in one part alone so far. */
static talus_status refuse(const tl_scene *s, int parts, talus_error *err)
{
    const char *named = s->solver.pressure.method, *file = s->file ? s->file : "scene";
    const tl_pressure_method *method = tl_pressure_method_find(named && *named ? named : "multigrid");
    const char *what = s->fill_count + s->emitter_count == 0            ? "bodies alone run"
                       : tl_scene_bends(s)                              ? "elastic bodies run"
                       : tl_scene_has_sand(s)                           ? "sand runs"
                       : tl_scene_is_viscous(s)                         ? "viscous liquid runs"
                       : method && !tl_pressure_method_in_parts(method) ? "this solver.pressure.method runs"
                                                                        : NULL;
    if (what) return TL_FAIL(err, TALUS_UNSUPPORTED, "%.200s: %s in one process so far, not in %d", file, what, parts);
    for (int i = 0; i < 3; i++)
        if (s->grid.periodic[i] && s->grid.cells[i] > 1 && s->grid.cells[i] % TL_GRID_EDGE)
            return TL_FAIL(err, TALUS_UNSUPPORTED,
                           "%.200s: in several processes a periodic axis has one cell or a multiple of %d, "
                           "grid.cells[%d] is %d",
                           file, TL_GRID_EDGE, i + 1, s->grid.cells[i]);
    return TALUS_OK;
}

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for what all processes have together");
}

/* Arrays of numbers about rows: where each goes. */
typedef struct order {
    int64_t count;
    uint64_t *key, *spare;
    int32_t *of, *spare_of;
} order;

static void order_free(order *o)
{
    tl_free(o->key);
    tl_free(o->spare);
    tl_free(o->of);
    tl_free(o->spare_of);
    *o = (order){0};
}

static talus_status order_make(order *o, int64_t count, talus_error *err)
{
    const int64_t n = count + 1;
    *o = (order){count, TL_NEW(uint64_t, n), TL_NEW(uint64_t, n), TL_NEW(int32_t, n), TL_NEW(int32_t, n)};
    if (o->key && o->spare && o->of && o->spare_of && n < INT32_MAX) return TALUS_OK;
    order_free(o);
    return n < INT32_MAX ? no_memory(err)
                         : TL_FAIL(err, TALUS_UNSUPPORTED, "%lld cells or particles for one file, at most 2^31 - 2",
                                   (long long)count);
}

/* Rows of a state that stay together: particles, what cells remember, ... */
typedef struct table {
    int64_t count;
    size_t bytes; /* of a row */
    void *row;
} table;

/* out->row on part 0, on the heap. */
static talus_status collect(const tl_comm *c, const table *mine, table *out, int64_t *counts, talus_error *err)
{
    int64_t bytes[TL_COMM_PARTS_MAX];
    tl_comm_share(c, sizeof mine->count, &mine->count, counts);
    *out = (table){0, mine->bytes, NULL};
    for (int32_t p = 0; p < c->parts; p++) {
        bytes[p] = counts[p] * (int64_t)mine->bytes;
        out->count += counts[p];
    }
    talus_status status = TALUS_OK;
    if (c->part == 0) {
        out->row = tl_alloc(mine->bytes * (size_t)(out->count + 1));
        if (!out->row) status = no_memory(err);
    }
    TL_TRY(tl_comm_agree(c, status, err));
    tl_comm_collect(c, bytes, mine->row, out->row);
    return TALUS_OK;
}

static void take_in_order(const order *o, const table *from, void *to)
{
    for (int64_t i = 0; i < o->count; i++)
        memcpy((char *)to + from->bytes * (size_t)i, (const char *)from->row + from->bytes * (size_t)o->of[i],
               from->bytes);
}

/* Both ordered by the keys that rows of the first begin with; second: NULL or as many rows. */
static talus_status put_in_order(table *t, table *second, talus_error *err)
{
    order o;
    TL_TRY(order_make(&o, t->count, err));
    for (int64_t i = 0; i < t->count; i++) {
        memcpy(&o.key[i], (const char *)t->row + t->bytes * (size_t)i, sizeof *o.key);
        o.of[i] = (int32_t)i;
    }
    tl_radix_sort(t->count, o.key, o.of, o.spare, o.spare_of);
    talus_status status = TALUS_OK;
    for (int k = 0; k < 2 && status == TALUS_OK; k++) {
        table *x = k ? second : t;
        if (!x || !x->count) continue;
        void *row = tl_alloc(x->bytes * (size_t)(x->count + 1));
        if (!row) {
            status = no_memory(err);
            break;
        }
        take_in_order(&o, x, row);
        tl_free(x->row);
        x->row = row;
    }
    order_free(&o);
    return status;
}

enum { PARTICLES, CELLS, STRESS, REST, TABLES };

static void tables_of(const tl_grid_state *g, table out[TABLES])
{
    out[PARTICLES] = (table){g->particles.count, sizeof(tl_particle), g->particles.particle};
    out[CELLS] = (table){g->memories, sizeof(tl_cell_memory), g->memory};
    out[STRESS] = (table){g->stresses, 5 * sizeof(double), g->stress};
    out[REST] = (table){g->rests, sizeof(tl_rest_memory), g->rest};
}

/* The state takes the arrays of the tables. */
static void take_tables(tl_grid_state *g, const table t[TABLES])
{
    tl_free(g->particles.particle);
    tl_free(g->memory);
    tl_free(g->stress);
    tl_free(g->rest);
    g->particles = (tl_particles){t[PARTICLES].count, t[PARTICLES].count, t[PARTICLES].row};
    g->memories = g->memory_room = t[CELLS].count;
    g->memory = t[CELLS].row;
    g->stresses = g->stress_room = t[STRESS].count;
    g->stress = t[STRESS].row;
    g->rests = g->rest_room = t[REST].count;
    g->rest = t[REST].row;
}

static talus_status collect_all(const tl_comm *c, const tl_grid_state *mine, table all[TABLES], int64_t *particles,
                                talus_error *err)
{
    table own[TABLES];
    int64_t counts[TL_COMM_PARTS_MAX];
    tables_of(mine, own);
    for (int k = 0; k < TABLES; k++) TL_TRY(collect(c, &own[k], &all[k], k == PARTICLES ? particles : counts, err));
    talus_status status = TALUS_OK;
    if (c->part == 0) status = put_in_order(&all[CELLS], &all[STRESS], err);
    if (c->part == 0 && status == TALUS_OK) status = put_in_order(&all[REST], NULL, err);
    return tl_comm_agree(c, status, err);
}

/* cut: the shift of cubes, the splitters, how many particles each part has. */
static talus_status collect_state(tl_sim *sim, tl_state *whole, int64_t *cut, talus_error *err)
{
    const tl_owners *o = ((const tl_grid_data *)sim->engine_data)->owners;
    const tl_comm *c = sim->comm;
    table all[TABLES] = {{0}};
    cut[0] = o->shift;
    for (int32_t p = 0; p <= c->parts; p++) cut[1 + p] = o->splitter[p];
    talus_status status = collect_all(c, tl_grid_state_of(&sim->state), all, cut + 2 + c->parts, err);
    if (status == TALUS_OK && c->part == 0) {
        take_tables(tl_grid_state_of(whole), all);
        return TALUS_OK;
    }
    for (int k = 0; k < TABLES; k++) tl_free(all[k].row);
    return status;
}

/* Rows on part 0, to the parts to[count]; mine->row on the heap. */
static talus_status deal(const tl_comm *c, const table *all, const int32_t *to, table *mine, talus_error *err)
{
    int64_t counts[TL_COMM_PARTS_MAX] = {0}, bytes[TL_COMM_PARTS_MAX], at[TL_COMM_PARTS_MAX], sum = 0;
    char *grouped = NULL;
    talus_status status = TALUS_OK;
    if (c->part == 0) {
        for (int64_t i = 0; i < all->count; i++) counts[to[i]]++;
        for (int32_t p = 0; p < c->parts; sum += counts[p++]) at[p] = sum;
        grouped = tl_alloc(all->bytes * (size_t)(all->count + 1));
        if (!grouped) status = no_memory(err);
        for (int64_t i = 0; grouped && i < all->count; i++)
            memcpy(grouped + all->bytes * (size_t)at[to[i]]++, (const char *)all->row + all->bytes * (size_t)i,
                   all->bytes);
    }
    tl_comm_tell(c, sizeof *counts * c->parts, counts);
    *mine = (table){counts[c->part], all->bytes, NULL};
    if (status == TALUS_OK) {
        mine->row = tl_alloc(all->bytes * (size_t)(mine->count + 1));
        if (!mine->row) status = no_memory(err);
    }
    status = tl_comm_agree(c, status, err);
    for (int32_t p = 0; p < c->parts; p++) bytes[p] = counts[p] * (int64_t)all->bytes;
    if (status == TALUS_OK) tl_comm_deal(c, bytes, grouped, mine->row);
    tl_free(grouped);
    return status;
}

/* Whom rows belong to that begin with keys of cells. */
static void by_keys(const tl_owners *o, const table *t, int32_t *to)
{
    for (int64_t i = 0; i < t->count; i++) {
        uint64_t key;
        memcpy(&key, (const char *)t->row + t->bytes * (size_t)i, sizeof key);
        to[i] = tl_owners_part_of_key(o, key);
    }
}

static talus_status deal_all(tl_sim *sim, const table all[TABLES], const int64_t *particles, table mine[TABLES],
                             talus_error *err)
{
    const tl_grid_data *data = sim->engine_data;
    int64_t most = 0;
    for (int k = 0; k < TABLES; k++) most = all[k].count > most ? all[k].count : most;
    int32_t *to = TL_NEW(int32_t, most + 1);
    talus_status status = tl_comm_agree(sim->comm, to ? TALUS_OK : no_memory(err), err);
    for (int k = 0; k < TABLES && status == TALUS_OK; k++) {
        if (k == PARTICLES && particles) {
            int64_t i = 0;
            for (int32_t p = 0; p < sim->comm->parts; p++)
                for (int64_t n = 0; n < particles[p] && i < all[k].count; n++) to[i++] = p;
            while (i < all[k].count) to[i++] = 0;
        } else if (k == PARTICLES) {
            const tl_particle *p = all[k].row;
            for (int64_t i = 0; i < all[k].count; i++)
                to[i] = tl_particle_part(&data->flow.frame, &sim->scene->domain, p[i].x);
        } else if (k != STRESS) { /* which goes with its cells */
            by_keys(data->owners, &all[k], to);
        }
        status = deal(sim->comm, &all[k], to, &mine[k], err);
    }
    tl_free(to);
    return status;
}

static talus_status deal_state(tl_sim *sim, const tl_state *whole, const int64_t *cut, talus_error *err)
{
    const tl_comm *c = sim->comm;
    tl_grid_data *data = sim->engine_data;
    tl_owners *o = data->owners;
    table all[TABLES] = {{0, sizeof(tl_particle), NULL},
                         {0, sizeof(tl_cell_memory), NULL},
                         {0, 5 * sizeof(double), NULL},
                         {0, sizeof(tl_rest_memory), NULL}},
          mine[TABLES] = {{0}};
    const tl_grid_state *from = c->part == 0 ? tl_grid_state_of(whole) : NULL;
    if (from) tables_of(from, all);
    if (cut) {
        o->shift = (int)cut[0];
        for (int32_t p = 0; p <= c->parts; p++) o->splitter[p] = cut[1 + p];
    } else {
        static const tl_particles none = {0};
        TL_TRY(tl_particles_cut(&data->flow.frame, &sim->scene->domain, from ? &from->particles : &none, &sim->arena,
                                err));
    }
    talus_status status = deal_all(sim, all, cut ? cut + 2 + c->parts : NULL, mine, err);
    if (status == TALUS_OK)
        take_tables(tl_grid_state_of(&sim->state), mine);
    else
        for (int k = 0; k < TABLES; k++) tl_free(mine[k].row);
    return status;
}

void tl_grid_count_messages(tl_sim *sim, int phase)
{
    tl_grid_data *data = sim->engine_data;
    const tl_comm_traffic now = *sim->comm->traffic, was = data->sent_before;
    tl_comm_traffic *to = &data->sent[phase];
    to->gets += now.gets - was.gets;
    to->adds += now.adds - was.adds;
    to->reduces += now.reduces - was.reduces;
    to->gathers += now.gathers - was.gathers;
    to->sends += now.sends - was.sends;
    to->bytes += now.bytes - was.bytes;
    to->seconds += now.seconds - was.seconds;
    to->cpu += now.cpu - was.cpu;
    data->sent_before = now;
}

/* ---- cut anew ---- */

#define LOOK_STEPS 10    /* steps between two looks at the cut */
#define UNEVEN 1.15      /* most over mean from which the world is cut anew */
#define WORTH 0.97       /* of what it was, else all stays */
#define PRESSURE_WORTH 3 /* a cell with a pressure costs as much as so many particles */

/* What this part has to do in cubes. */
static talus_status weigh(tl_sim *sim, tl_cube **out, int64_t *count, talus_error *err)
{
    const tl_grid_data *data = sim->engine_data;
    const tl_grid_state *g = tl_grid_state_of(&sim->state);
    tl_cube *cube = TL_TAKE(&sim->arena, tl_cube, g->particles.count + g->memories);
    if (!cube) return no_memory(err);
    int64_t n = tl_particles_cubes(&data->flow.frame, &sim->scene->domain, &g->particles, cube);
    for (int64_t i = 0; i < g->memories; i++) {
        int32_t block[3];
        tl_grid_unkey_block((uint64_t)g->memory[i].key, block);
        const int64_t number = tl_owners_number(data->owners, block);
        if (!n || cube[n - 1].number != number) cube[n++] = (tl_cube){number, 0};
        cube[n - 1].weight += PRESSURE_WORTH;
    }
    *out = cube;
    *count = n;
    return TALUS_OK;
}

/* What a cell remembers, in one row. */
typedef struct memory_row {
    tl_cell_memory cell;
    double stress[5];
} memory_row;

static talus_status pack_memories(const tl_grid_state *g, table *out, talus_error *err)
{
    memory_row *row = TL_NEW(memory_row, g->memories + 1);
    *out = (table){g->memories, sizeof *row, row};
    if (!row) return no_memory(err);
    for (int64_t i = 0; i < g->memories; i++) {
        row[i] = (memory_row){g->memory[i], {0}};
        if (i < g->stresses) memcpy(row[i].stress, g->stress + 5 * i, sizeof row[i].stress);
    }
    return TALUS_OK;
}

static talus_status pack_rests(const tl_grid_state *g, table *out, talus_error *err)
{
    *out = (table){g->rests, sizeof(tl_rest_memory), TL_NEW(tl_rest_memory, g->rests + 1)};
    if (!out->row) return no_memory(err);
    if (g->rests) memcpy(out->row, g->rest, sizeof *g->rest * (size_t)g->rests);
    return TALUS_OK;
}

/* Rows that begin with keys of cells go to the owners of these. */
static talus_status pick_leavers(const tl_owners *o, table *t, tl_comm_rows *out, tl_arena *a, talus_error *err)
{
    int32_t *to = TL_TAKE(a, int32_t, t->count);
    char *row = tl_arena_take(a, t->bytes * (size_t)t->count), *kept = t->row;
    *out = (tl_comm_rows){.bytes = t->bytes, .row = row, .part = TL_TAKE(a, int32_t, t->count)};
    if (!to || !row || !out->part) return no_memory(err);
    by_keys(o, t, to);
    for (int64_t i = 0; i < t->count; i++) {
        const char *from = (const char *)t->row + t->bytes * (size_t)i;
        if (to[i] == o->comm->part) {
            memmove(kept, from, t->bytes);
            kept += t->bytes;
            continue;
        }
        memcpy(row + t->bytes * (size_t)out->count, from, t->bytes);
        out->part[out->count++] = to[i];
    }
    t->count -= out->count;
    return TALUS_OK;
}

static talus_status regroup(const tl_owners *o, table *t, tl_arena *a, talus_error *err)
{
    tl_comm_rows out, in;
    TL_TRY(tl_comm_agree(o->comm, pick_leavers(o, t, &out, a, err), err));
    TL_TRY(tl_comm_agree(o->comm, tl_comm_send_rows(o->comm, &out, &in, a, err), err));
    void *larger = tl_realloc(t->row, t->bytes * (size_t)(t->count + in.count + 1));
    talus_status status = larger ? TALUS_OK : no_memory(err);
    if (larger) {
        t->row = larger;
        if (in.count) memcpy((char *)t->row + t->bytes * (size_t)t->count, in.row, t->bytes * (size_t)in.count);
        t->count += in.count;
        status = put_in_order(t, NULL, err);
    }
    return tl_comm_agree(o->comm, status, err);
}

static talus_status move_memories(tl_sim *sim, table *cells, table *rests, talus_error *err)
{
    const tl_owners *o = ((const tl_grid_data *)sim->engine_data)->owners;
    tl_grid_state *g = tl_grid_state_of(&sim->state);
    talus_status status = pack_memories(g, cells, err);
    if (status == TALUS_OK) status = pack_rests(g, rests, err);
    TL_TRY(tl_comm_agree(o->comm, status, err));
    TL_TRY(regroup(o, cells, &sim->arena, err));
    TL_TRY(regroup(o, rests, &sim->arena, err));
    const bool stress = tl_comm_max(o->comm, (double)g->stresses) > 0;
    status = tl_grid_state_reserve_memory(g, cells->count, stress, err);
    if (status == TALUS_OK) status = tl_grid_state_reserve_rest(g, rests->count, err);
    TL_TRY(tl_comm_agree(o->comm, status, err));
    const memory_row *row = cells->row;
    g->memories = cells->count;
    g->stresses = stress ? cells->count : 0;
    g->rests = rests->count;
    for (int64_t i = 0; i < cells->count; i++) {
        g->memory[i] = row[i].cell;
        if (stress) memcpy(g->stress + 5 * i, row[i].stress, sizeof row[i].stress);
    }
    if (rests->count) memcpy(g->rest, rests->row, sizeof *g->rest * (size_t)rests->count);
    return TALUS_OK;
}

/* Particles go to the owners of their places in every step. */
static talus_status cut_anew(tl_sim *sim, int64_t count, const tl_cube *cube, talus_error *err)
{
    tl_grid_data *data = sim->engine_data;
    tl_owners *o = data->owners;
    const size_t bytes = sizeof *o->splitter * (size_t)(o->comm->parts + 1);
    const tl_cut before = data->cut;
    int64_t splitter[TL_COMM_PARTS_MAX + 1];
    memcpy(splitter, o->splitter, bytes);
    table cells = {0}, rests = {0};
    talus_status status = tl_owners_cut(o, count, cube, &sim->arena, &data->cut, err);
    if (status == TALUS_OK && data->cut.imbalance < WORTH * before.imbalance) {
        status = move_memories(sim, &cells, &rests, err);
        if (status == TALUS_OK)
            tl_log_write(&sim->log, 2, "t = %.6g s: cut anew among %d processes: most over mean was %.3g, is %.3g",
                         sim->state.t, o->comm->parts, before.imbalance, data->cut.imbalance);
    } else {
        data->cut = before;
        memcpy(o->splitter, splitter, bytes);
    }
    if (status != TALUS_OK) memcpy(o->splitter, splitter, bytes);
    tl_free(cells.row);
    tl_free(rests.row);
    return status;
}

static talus_status rebalance(tl_sim *sim, talus_error *err)
{
    tl_grid_data *data = sim->engine_data;
    tl_cube *cube = NULL;
    int64_t count = 0;
    if (sim->state.step % LOOK_STEPS) return TALUS_OK;
    size_t mark = tl_arena_mark(&sim->arena);
    TL_TRY(tl_comm_agree(sim->comm, weigh(sim, &cube, &count, err), err));
    TL_TRY(tl_owners_weigh(data->owners, count, cube, &sim->arena, &data->cut, err));
    if (data->cut.imbalance > UNEVEN) TL_TRY(cut_anew(sim, count, cube, err));
    tl_arena_release(&sim->arena, mark);
    return TALUS_OK;
}

const tl_parts_entry tl_grid_parts = {refuse, tl_grid_begin_parts, collect_state, deal_state, rebalance};
