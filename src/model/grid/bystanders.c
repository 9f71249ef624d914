#include "model/grid/bystanders.h"

#include <string.h>

#include "model/grid/owners.h"

/* Particles of another part have left its blocks by TL_GRID_MARGIN cells at most, and those that a particle is told of
 * are within two cells of it: one for its own density, one more for that of those beside it. */
#define REACH (TL_GRID_MARGIN + 2)
#define CACHED 64 /* blocks; particles come by block */

typedef struct around {
    int32_t block[3];
    bool known, alone; /* all blocks around are ours */
    int32_t part[27];
} around;

static void look(const tl_grid_frame *f, const int32_t block[3], around *out)
{
    const tl_owners *o = f->owners;
    memcpy(out->block, block, sizeof out->block);
    out->known = out->alone = true;
    for (int k = 0; k < 27; k++) {
        const int32_t by[3] = {k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
        int64_t key;
        const bool named = tl_grid_neighbour_key(f, block, by, &key);
        out->part[k] = named ? tl_owners_part_of_key(o, (uint64_t)key << TL_GRID_PLACE_BITS) : o->comm->part;
        out->alone &= out->part[k] == o->comm->part;
    }
}

/* Parts that own a block within reach; returns how many. */
static int find_parts(const tl_grid_frame *f, const around *q, const int32_t cell[3], int32_t out[26])
{
    int n = 0;
    bool near[3][3];
    for (int k = 0; k < 3; k++) {
        const int32_t at = cell[k] - q->block[k] * f->edge[k];
        near[k][0] = at < REACH;
        near[k][1] = true;
        near[k][2] = at >= f->edge[k] - REACH;
    }
    for (int k = 0; k < 27; k++) {
        int m = 0;
        if (q->part[k] == f->owners->comm->part || !near[0][k / 9] || !near[1][k / 3 % 3] || !near[2][k % 3]) continue;
        while (m < n && out[m] != q->part[k]) m++;
        if (m == n) out[n++] = q->part[k];
    }
    return n;
}

static int parts_near(const tl_grid_frame *f, tl_vec3 x, around cache[CACHED], int32_t out[26])
{
    static const tl_domain_spec nowhere;
    int32_t cell[3], block[3];
    if (!tl_particle_locate(f, &nowhere, &x, cell)) return 0;
    tl_grid_unkey_block(tl_grid_key(f, cell), block);
    around *q = &cache[((block[0] & 3) << 4 | (block[1] & 3) << 2 | (block[2] & 3)) % CACHED];
    if (!q->known || memcmp(q->block, block, sizeof block)) look(f, block, q);
    return q->alone ? 0 : find_parts(f, q, cell, out);
}

/* Counted, then listed. */
static talus_status list_told(tl_bystanders *b, const tl_grid_frame *f, const tl_particles *p, tl_arena *a,
                              talus_error *err)
{
    around cache[CACHED];
    int32_t to[26];
    for (int pass = 0; pass < 2; pass++) {
        if (pass) {
            b->which = TL_TAKE(a, int32_t, b->told);
            b->to = TL_TAKE(a, int32_t, b->told);
            if (!b->which || !b->to)
                return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld particles near other parts",
                               (long long)b->told);
        }
        b->told = 0;
        memset(cache, 0, sizeof cache);
        for (int64_t i = 0; i < p->count; i++) {
            const int n = parts_near(f, p->particle[i].x, cache, to);
            for (int k = 0; k < n; k++, b->told++)
                if (pass) b->which[b->told] = (int32_t)i, b->to[b->told] = to[k];
        }
    }
    return TALUS_OK;
}

talus_status tl_bystanders_find(tl_bystanders *b, const tl_grid_frame *f, const tl_particles *p, tl_arena *a,
                                talus_error *err)
{
    TL_TRY(tl_comm_agree(b->comm, list_told(b, f, p, a, err), err));
    tl_bystander *row = TL_TAKE(a, tl_bystander, b->told);
    talus_status status = row ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for particles near other parts");
    TL_TRY(tl_comm_agree(b->comm, status, err));
    for (int64_t k = 0; k < b->told; k++) {
        const tl_particle *q = &p->particle[b->which[k]];
        row[k] = (tl_bystander){q->x, q->volume, 0};
        for (int m = 0; m < 9; m++) row[k].strain2 += q->C.m[m / 3][m % 3] * q->C.m[m / 3][m % 3];
    }
    const tl_comm_rows out = {b->told, sizeof *row, row, b->to};
    tl_comm_rows in;
    TL_TRY(tl_comm_agree(b->comm, tl_comm_send_rows(b->comm, &out, &in, a, err), err));
    b->count = in.count;
    b->of = in.row;
    return TALUS_OK;
}

talus_status tl_bystanders_bring(const tl_bystanders *b, const float *own, float *theirs, tl_arena *a, talus_error *err)
{
    float *row = TL_TAKE(a, float, b->told);
    talus_status status = row ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for particles near other parts");
    TL_TRY(tl_comm_agree(b->comm, status, err));
    for (int64_t k = 0; k < b->told; k++) row[k] = own[b->which[k]];
    const tl_comm_rows out = {b->told, sizeof *row, row, b->to};
    tl_comm_rows in;
    TL_TRY(tl_comm_agree(b->comm, tl_comm_send_rows(b->comm, &out, &in, a, err), err));
    TL_ASSERT(in.count == b->count);
    if (in.count) memcpy(theirs, in.row, sizeof *theirs * (size_t)in.count);
    return TALUS_OK;
}
