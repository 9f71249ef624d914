#include "model/grid/owners.h"

#include <string.h>

#include "base/alloc.h"
#include "base/radix.h"

#define PER_PART_1 60000  /* cells per part from which two blocks per edge stay together */
#define PER_PART_2 250000 /* ... four */

talus_status tl_owners_make(tl_owners **out, const tl_comm *comm, talus_error *err)
{
    *out = NULL;
    if (tl_comm_alone(comm)) return TALUS_OK;
    tl_owners *o = TL_NEW_ZERO(tl_owners, 1);
    if (o) o->splitter = TL_NEW_ZERO(int64_t, comm->parts + 1);
    if (!o || !o->splitter) {
        tl_owners_free(o);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the parts of a run");
    }
    o->comm = comm;
    for (int32_t p = 1; p <= comm->parts; p++) o->splitter[p] = INT64_MAX;
    *out = o;
    return TALUS_OK;
}

void tl_owners_free(tl_owners *o)
{
    if (o) tl_free(o->splitter);
    tl_free(o);
}

/* The lowest bits, two apart. */
static uint64_t spread(uint64_t x)
{
    x &= 0x1fffff;
    x = (x | x << 32) & 0x1f00000000ffff;
    x = (x | x << 16) & 0x1f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    return (x | x << 2) & 0x1249249249249249;
}

int64_t tl_owners_number(const tl_owners *o, const int32_t block[3])
{
    uint64_t n = 0;
    for (int k = 0; k < 3; k++) n |= spread((uint64_t)(block[k] + TL_GRID_BIAS) >> o->shift) << (2 - k);
    return (int64_t)n;
}

static int32_t part_of(const tl_owners *o, int64_t number)
{
    int32_t lo = 0, hi = o->comm->parts - 1; /* the last part whose range begins at or before it */
    while (lo < hi) {
        int32_t mid = lo + (hi - lo + 1) / 2;
        if (o->splitter[mid] <= number)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

int32_t tl_owners_part(const tl_owners *o, const int32_t block[3]) { return part_of(o, tl_owners_number(o, block)); }

/* Cubes by number, each once; returns how many. */
static int64_t sorted(int64_t count, tl_cube *cube, uint64_t *key, int32_t *order, tl_cube *out, uint64_t *spare,
                      int32_t *spare_order)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++) key[i] = (uint64_t)cube[i].number, order[i] = (int32_t)i;
    tl_radix_sort(count, key, order, spare, spare_order);
    for (int64_t i = 0; i < count; i++) {
        const tl_cube *c = &cube[order[i]];
        if (!n || out[n - 1].number != c->number) out[n++] = (tl_cube){c->number, 0};
        out[n - 1].weight += c->weight;
    }
    return n;
}

/* Those of all parts: first each part's own, which are few once each is there but once. */
static talus_status gather(const tl_owners *o, int64_t count, const tl_cube *mine, int64_t *all, tl_cube **out,
                           tl_arena *a, talus_error *err)
{
    int64_t bytes[TL_COMM_PARTS_MAX], n = count;
    tl_cube *from = NULL;
    for (int pass = 0; pass < 2; pass++) {
        tl_cube *cube = TL_TAKE(a, tl_cube, n), *to = TL_TAKE(a, tl_cube, n);
        uint64_t *key = TL_TAKE(a, uint64_t, n), *spare = TL_TAKE(a, uint64_t, n);
        int32_t *order = TL_TAKE(a, int32_t, n), *spare_order = TL_TAKE(a, int32_t, n);
        const bool good = cube && to && key && spare && order && spare_order;
        TL_TRY(tl_comm_agree(
            o->comm, good ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory to cut %lld cubes", (long long)n),
            err));
        if (pass)
            tl_comm_gather(o->comm, bytes, from, cube);
        else
            for (int64_t i = 0; i < n; i++) cube[i] = mine[i];
        *all = sorted(n, cube, key, order, to, spare, spare_order);
        from = to;
        if (pass) break;
        const int64_t own = *all * (int64_t)sizeof *from;
        tl_comm_share(o->comm, sizeof own, &own, bytes);
        n = 0;
        for (int32_t p = 0; p < o->comm->parts; p++) n += bytes[p] / (int64_t)sizeof *from;
    }
    *out = from;
    return TALUS_OK;
}

static tl_cut judge(const tl_owners *o, int64_t count, const tl_cube *cube)
{
    tl_cut out = {.cubes = count};
    int64_t part = 0;
    int32_t p = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t owner = part_of(o, cube[i].number);
        if (owner != p) part = 0;
        p = owner;
        part += cube[i].weight;
        out.total += cube[i].weight;
        out.most = part > out.most ? part : out.most;
    }
    out.imbalance = out.total > 0 ? (double)out.most * o->comm->parts / (double)out.total : 1;
    return out;
}

/* A cube goes to the part in whose share of the whole its middle is. */
void tl_owners_cut_at(tl_owners *o, int64_t n, const tl_cube *cube, tl_cut *out)
{
    int64_t total = 0, before = 0;
    const int64_t parts = o->comm->parts;
    for (int64_t i = 0; i < n; i++) total += cube[i].weight;
    int32_t p = 0;
    for (int64_t i = 0; i < n && total > 0; before += cube[i++].weight)
        while (p + 1 < parts && (2 * before + cube[i].weight) * parts >= 2 * total * (p + 1))
            o->splitter[++p] = cube[i].number;
    while (total > 0 && p + 1 < parts) o->splitter[++p] = INT64_MAX;
    *out = judge(o, n, cube);
}

talus_status tl_owners_cut(tl_owners *o, int64_t count, const tl_cube *mine, tl_arena *a, tl_cut *out, talus_error *err)
{
    size_t mark = tl_arena_mark(a);
    tl_cube *cube;
    int64_t n;
    TL_TRY(gather(o, count, mine, &n, &cube, a, err));
    tl_owners_cut_at(o, n, cube, out);
    tl_arena_release(a, mark);
    return TALUS_OK;
}

talus_status tl_owners_weigh(const tl_owners *o, int64_t count, const tl_cube *mine, tl_arena *a, tl_cut *out,
                             talus_error *err)
{
    size_t mark = tl_arena_mark(a);
    tl_cube *cube;
    int64_t n;
    TL_TRY(gather(o, count, mine, &n, &cube, a, err));
    *out = judge(o, n, cube);
    tl_arena_release(a, mark);
    return TALUS_OK;
}

int tl_owners_shift_for(int64_t cells, int32_t parts)
{
    const int64_t each = cells / parts;
    return each < PER_PART_1 ? 0 : each < PER_PART_2 ? 1 : 2;
}
