/* Blocks of a grid that several parts share: whose they are, and what a part keeps of others'. */
#include <string.h>

#include "base/radix.h"
#include "model/grid/owners.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the parts of a grid");
}

/* Ascending, each once; returns how many are left. */
static talus_status sort_keys(int64_t *count, int64_t *key, tl_arena *a, talus_error *err)
{
    size_t mark = tl_arena_mark(a);
    const int64_t n = *count;
    uint64_t *k = TL_TAKE(a, uint64_t, n), *spare = TL_TAKE(a, uint64_t, n);
    int32_t *value = TL_TAKE_ZERO(a, int32_t, n), *spare_value = TL_TAKE(a, int32_t, n);
    if (!k || !spare || !value || !spare_value) return no_memory(err);
    for (int64_t i = 0; i < n; i++) k[i] = (uint64_t)key[i];
    tl_radix_sort(n, k, value, spare, spare_value);
    *count = 0;
    for (int64_t i = 0; i < n; i++)
        if (!i || k[i] != k[i - 1]) key[(*count)++] = (int64_t)k[i];
    tl_arena_release(a, mark);
    return TALUS_OK;
}

static bool is_there(int64_t count, const int64_t *key, int64_t wanted)
{
    int64_t lo = 0, hi = count;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (key[mid] < wanted)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < count && key[lo] == wanted;
}

static int32_t part_of(const tl_owners *o, int64_t key)
{
    return tl_owners_part_of_key(o, (uint64_t)key << TL_GRID_PLACE_BITS);
}

/* Keys of the 26 blocks around one; those that keys cannot name are left out. */
static int keys_around(const tl_grid_frame *f, int64_t key, int64_t out[26])
{
    int32_t block[3];
    int n = 0;
    tl_grid_unkey_block((uint64_t)key << TL_GRID_PLACE_BITS, block);
    for (int k = 0; k < 27; k++) {
        const int32_t by[3] = {k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
        if (k != TL_GRID_SELF && tl_grid_neighbour_key(f, block, by, &out[n])) n++;
    }
    return n;
}

/* Others' blocks near own particles are told to their owners; own blocks are those that anybody is near. */
static talus_status find_own(tl_grid *g, int64_t **own, int64_t *count, tl_arena *a, talus_error *err)
{
    const tl_owners *o = g->f.owners;
    tl_comm_rows out = {.bytes = sizeof(int64_t), .row = TL_TAKE(a, int64_t, g->blocks)}, in;
    out.part = TL_TAKE(a, int32_t, g->blocks);
    TL_TRY(tl_comm_agree(o->comm, out.row && out.part ? TALUS_OK : no_memory(err), err));
    int32_t mine = 0;
    for (int32_t b = 0; b < g->blocks; b++) {
        const int32_t part = part_of(o, g->key[b]);
        if (part == o->comm->part) {
            g->key[mine++] = g->key[b];
            continue;
        }
        ((int64_t *)out.row)[out.count] = g->key[b];
        out.part[out.count++] = part;
    }
    TL_TRY(tl_comm_agree(o->comm, tl_comm_send_rows(o->comm, &out, &in, a, err), err));
    *count = mine + in.count;
    talus_status status = (*own = TL_TAKE(a, int64_t, *count)) ? TALUS_OK : no_memory(err);
    if (status == TALUS_OK) {
        memcpy(*own, g->key, sizeof **own * (size_t)mine);
        if (in.count) memcpy(*own + mine, in.row, sizeof **own * (size_t)in.count);
        status = sort_keys(count, *own, a, err);
    }
    return tl_comm_agree(o->comm, status, err);
}

typedef struct told {
    int64_t key;
    int32_t number, unused;
} told;

/* Own blocks are told to the owners of blocks around them, whether these exist or not. */
static talus_status tell_around(const tl_grid *g, int64_t count, const int64_t *own, tl_comm_rows *in, tl_arena *a,
                                talus_error *err)
{
    const tl_owners *o = g->f.owners;
    tl_comm_rows out = {.bytes = sizeof(told)};
    for (int pass = 0; pass < 2; pass++) {
        if (pass) {
            out.row = TL_TAKE(a, told, out.count);
            out.part = TL_TAKE(a, int32_t, out.count);
            TL_TRY(tl_comm_agree(o->comm, out.row && out.part ? TALUS_OK : no_memory(err), err));
            out.count = 0;
        }
        for (int64_t b = 0; b < count; b++) {
            int64_t around[26];
            int32_t to[26];
            const int n = keys_around(&g->f, own[b], around);
            int parts = 0;
            for (int k = 0; k < n; k++) {
                const int32_t part = part_of(o, around[k]);
                int m = 0;
                while (m < parts && to[m] != part) m++;
                if (part == o->comm->part || m < parts) continue;
                to[parts++] = part;
            }
            for (int m = 0; m < parts; m++, out.count++) {
                if (!pass) continue;
                ((told *)out.row)[out.count] = (told){.key = own[b], .number = (int32_t)b};
                out.part[out.count] = to[m];
            }
        }
    }
    return tl_comm_agree(o->comm, tl_comm_send_rows(o->comm, &out, in, a, err), err);
}

/* What is told and lies beside an own block is the halo, sorted by key. */
static talus_status take_halo(tl_grid *g, int64_t count, const int64_t *own, const tl_comm_rows *in, tl_arena *a,
                              talus_error *err)
{
    const int64_t n = in->count;
    const told *from = in->row;
    int32_t *part = TL_TAKE(a, int32_t, n), *block = TL_TAKE(a, int32_t, n);
    g->key = TL_TAKE(a, int64_t, count + n);
    size_t mark = tl_arena_mark(a);
    uint64_t *key = TL_TAKE(a, uint64_t, n), *spare = TL_TAKE(a, uint64_t, n);
    int32_t *order = TL_TAKE(a, int32_t, n), *spare_order = TL_TAKE(a, int32_t, n);
    if (!part || !block || !g->key || !key || !spare || !order || !spare_order) return no_memory(err);
    if (count + n >= INT32_MAX) return TL_FAIL(err, TALUS_NO_MEMORY, "more than 2^31 blocks of a grid in one part");
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t around[26];
        const int m = keys_around(&g->f, from[i].key, around);
        bool beside = false;
        for (int k = 0; k < m && !beside; k++) beside = is_there(count, own, around[k]);
        if (!beside) continue;
        key[kept] = (uint64_t)from[i].key;
        order[kept++] = (int32_t)i;
    }
    tl_radix_sort(kept, key, order, spare, spare_order);
    memcpy(g->key, own, sizeof *own * (size_t)count);
    for (int64_t i = 0; i < kept; i++) {
        g->key[count + i] = (int64_t)key[i];
        part[i] = in->part[order[i]];
        block[i] = from[order[i]].number;
    }
    tl_arena_release(a, mark);
    g->owned = (int32_t)count;
    g->blocks = (int32_t)(count + kept);
    g->halo_part = part;
    g->halo_block = block;
    return TALUS_OK;
}

talus_status tl_grid_agree(tl_grid *g, tl_arena *a, talus_error *err)
{
    int64_t *own, count;
    tl_comm_rows in;
    TL_TRY(find_own(g, &own, &count, a, err));
    TL_TRY(tell_around(g, count, own, &in, a, err));
    TL_TRY(tl_comm_agree(g->comm, take_halo(g, count, own, &in, a, err), err));
    const tl_halo_source source = {g->owned, g->blocks - g->owned, g->halo_part, g->halo_block};
    return tl_comm_plan(g->comm, &source, &g->halo, err);
}

void tl_grid_refresh(const tl_grid *g, size_t item, void *x)
{
    const size_t block = item * (size_t)g->f.size;
    if (g->comm) tl_comm_get(g->comm, g->halo, block, x, (char *)x + block * (size_t)g->owned);
}

void tl_grid_refresh3(const tl_grid *g, double *const x[3])
{
    for (int k = 0; k < 3; k++) tl_grid_refresh(g, sizeof *x[k], x[k]);
}

void tl_grid_add_halo(const tl_grid *g, double *x)
{
    if (g->comm) tl_comm_add(g->comm, g->halo, g->f.size, x + (int64_t)g->owned * g->f.size, x);
}
