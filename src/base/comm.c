#include "base/comm.h"

#include <stdio.h>
#include <string.h>

#define GROUP 64               /* parts that are added one after the other */
#define ROOM TL_COMM_PARTS_MAX /* doubles of all parts together */
#define MESSAGE_BYTES sizeof(((talus_error *)0)->message)

static const tl_comm *joined;

void tl_comm_join(const tl_comm *c) { joined = c; }
const tl_comm *tl_comm_joined(void) { return joined; }

static double combine(tl_reduce op, double a, double b)
{
    if (op == TL_REDUCE_SUM) return a + b;
    if (b != b || a != a) return a != a ? a : b;
    return (op == TL_REDUCE_MAX ? b > a : b < a) ? b : a;
}

/* Groups of parts, then the groups: what a tree of groups of processes would give as well. */
static double combined(const tl_comm *c, tl_reduce op, const double *all, int count, int k)
{
    double total = 0;
    for (int32_t first = 0; first < c->parts; first += GROUP) {
        const int32_t end = first + GROUP < c->parts ? first + GROUP : c->parts;
        double group = all[(int64_t)first * count + k];
        for (int32_t p = first + 1; p < end; p++) group = combine(op, group, all[(int64_t)p * count + k]);
        total = first ? combine(op, total, group) : group;
    }
    return total;
}

void tl_comm_reduce_each(const tl_comm *c, int count, const tl_reduce *op, double *values)
{
    if (tl_comm_alone(c)) return;
    double room[ROOM];
    const int at_once = ROOM / c->parts; /* values */
    c->traffic->reduces++;
    for (int from = 0; from < count; from += at_once) {
        const int n = count - from < at_once ? count - from : at_once;
        c->ops->share(c, sizeof(double) * (size_t)n, values + from, room);
        for (int k = 0; k < n; k++) values[from + k] = combined(c, op[from + k], room, n, k);
    }
    c->traffic->bytes += (int64_t)sizeof(double) * count * (c->parts - 1);
}

void tl_comm_reduce(const tl_comm *c, tl_reduce op, int count, double *values)
{
    tl_reduce each[TL_COMM_VALUES_MAX];
    TL_ASSERT(count <= TL_COMM_VALUES_MAX);
    for (int k = 0; k < count; k++) each[k] = op;
    tl_comm_reduce_each(c, count, each, values);
}

void tl_comm_sums(const tl_comm *c, int64_t count, double *values)
{
    if (tl_comm_alone(c)) return;
    for (int64_t from = 0; from < count; from += TL_COMM_VALUES_MAX)
        tl_comm_reduce(c, TL_REDUCE_SUM, (int)(count - from < TL_COMM_VALUES_MAX ? count - from : TL_COMM_VALUES_MAX),
                       values + from);
}

talus_status tl_comm_agree(const tl_comm *c, talus_status mine, talus_error *err)
{
    if (tl_comm_alone(c)) return mine;
    double failed = mine == TALUS_OK ? c->parts : c->part;
    const tl_reduce least = TL_REDUCE_MIN;
    tl_comm_reduce_each(c, 1, &least, &failed);
    if (failed >= c->parts) return TALUS_OK;
    /* as a row of that part alone */
    struct {
        int32_t status;
        char message[MESSAGE_BYTES];
    } told = {.status = (int32_t)mine, .message = ""}, here;
    const bool mine_it_is = (int32_t)failed == c->part;
    if (mine_it_is && err) snprintf(told.message, sizeof told.message, "%s", err->message);
    int64_t bytes[TL_COMM_PARTS_MAX] = {0};
    bytes[(int32_t)failed] = sizeof told;
    c->ops->gather(c, bytes, &told, &here);
    if (!mine_it_is) tl_fail(err, (talus_status)here.status, "%s", here.message);
    return (talus_status)here.status;
}

talus_status tl_comm_reserve(const tl_comm *c, tl_arena *a, size_t bytes, talus_error *err)
{
    return tl_comm_agree(c, tl_arena_reserve(a, bytes, err), err);
}

#define FLAGS ((int64_t)1 << 22) /* of all parts at once */

talus_status tl_comm_any(const tl_comm *c, int64_t count, uint8_t *flag, tl_arena *a, talus_error *err)
{
    if (tl_comm_alone(c)) return TALUS_OK;
    size_t mark = tl_arena_mark(a);
    const int64_t most = FLAGS / c->parts, at_once = count < most ? count : most;
    TL_TRY(tl_comm_reserve(c, a, TL_ARENA_ROOM(uint8_t, at_once * c->parts), err));
    uint8_t *all = TL_TAKE(a, uint8_t, at_once * c->parts);
    for (int64_t from = 0; from < count; from += at_once) {
        const int64_t n = count - from < at_once ? count - from : at_once;
        tl_comm_share(c, (size_t)n, flag + from, all);
        for (int32_t p = 0; p < c->parts; p++)
            for (int64_t k = 0; k < n; k++) flag[from + k] |= all[p * n + k];
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}

void tl_comm_share(const tl_comm *c, size_t bytes, const void *mine, void *all)
{
    if (tl_comm_alone(c)) {
        memcpy(all, mine, bytes);
        return;
    }
    c->ops->share(c, bytes, mine, all);
    c->traffic->gathers++;
    c->traffic->bytes += (int64_t)bytes * (c->parts - 1);
}

void tl_comm_gather(const tl_comm *c, const int64_t *bytes, const void *mine, void *all)
{
    if (tl_comm_alone(c)) {
        memcpy(all, mine, (size_t)bytes[0]);
        return;
    }
    c->ops->gather(c, bytes, mine, all);
    c->traffic->gathers++;
    for (int32_t p = 0; p < c->parts; p++) c->traffic->bytes += p == c->part ? 0 : bytes[p];
}

#define PIECE ((int64_t)1 << 26) /* bytes: of each part at a time */

/* Between part 0 and the others, a piece of each. */
static void in_pieces(const tl_comm *c, const int64_t *bytes, char *mine, char *all, bool to_first)
{
    int64_t most = 0, at = 0;
    for (int32_t p = 0; p < c->parts; p++) most = bytes[p] > most ? bytes[p] : most;
    for (int64_t from = 0; from < most; from += PIECE) {
        tl_parcel parcel[TL_COMM_PARTS_MAX];
        int n = 0;
        at = 0;
        for (int32_t p = 0; p < c->parts; at += bytes[p++]) {
            const int64_t left = bytes[p] - from, now = left < PIECE ? left : PIECE;
            if (p == 0 || now <= 0 || (c->part != 0 && c->part != p)) continue;
            parcel[n++] = c->part == 0 ? (tl_parcel){p, now, all + at + from} : (tl_parcel){0, now, mine + from};
            c->traffic->bytes += (c->part == 0) == to_first ? now : 0;
        }
        const bool sends = (c->part == 0) != to_first;
        c->ops->send(c, sends ? n : 0, parcel, sends ? 0 : n, parcel);
    }
    c->traffic->sends++;
}

void tl_comm_collect(const tl_comm *c, const int64_t *bytes, const void *mine, void *all)
{
    if ((tl_comm_alone(c) || c->part == 0) && bytes[0]) memcpy(all, mine, (size_t)bytes[0]);
    if (!tl_comm_alone(c)) in_pieces(c, bytes, (char *)(uintptr_t)mine, all, true);
}

void tl_comm_deal(const tl_comm *c, const int64_t *bytes, const void *all, void *mine)
{
    if ((tl_comm_alone(c) || c->part == 0) && bytes[0]) memcpy(mine, all, (size_t)bytes[0]);
    if (!tl_comm_alone(c)) in_pieces(c, bytes, mine, (char *)(uintptr_t)all, false);
}

void tl_comm_tell(const tl_comm *c, int64_t bytes, void *data)
{
    if (tl_comm_alone(c)) return;
    const bool first = c->part == 0;
    const int n = first ? c->parts - 1 : 1;
    for (int64_t from = 0; from < bytes; from += PIECE) {
        const int64_t now = bytes - from < PIECE ? bytes - from : PIECE;
        tl_parcel parcel[TL_COMM_PARTS_MAX];
        for (int k = 0; k < n; k++) parcel[k] = (tl_parcel){first ? k + 1 : 0, now, (char *)data + from};
        c->ops->send(c, first ? n : 0, parcel, first ? 0 : n, parcel);
        c->traffic->bytes += first ? 0 : now;
    }
    c->traffic->sends++;
}

talus_status tl_comm_send(const tl_comm *c, int count, const tl_parcel *out, int *arrivals, tl_parcel **in, tl_arena *a,
                          talus_error *err)
{
    *arrivals = 0;
    *in = NULL;
    if (tl_comm_alone(c)) {
        *arrivals = count; /* to itself, if at all */
        *in = TL_TAKE(a, tl_parcel, count);
        if (!*in) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %d parcels", count);
        for (int k = 0; k < count; k++) (*in)[k] = out[k];
        return TALUS_OK;
    }
    TL_TRY(tl_comm_reserve(c, a, TL_ARENA_ROOM(int64_t, c->parts) + TL_ARENA_ROOM(tl_parcel, c->parts), err));
    int64_t *bytes = TL_TAKE(a, int64_t, c->parts), all = 0;
    tl_parcel *got = TL_TAKE(a, tl_parcel, c->parts);
    c->ops->announce(c, count, out, bytes);
    for (int32_t p = 0; p < c->parts; p++) all += (bytes[p] + 63) / 64 * 64;
    TL_TRY(tl_comm_reserve(c, a, (size_t)all, err));
    char *room = tl_arena_take(a, (size_t)all);
    for (int32_t p = 0; p < c->parts; p++) {
        if (!bytes[p]) continue;
        got[(*arrivals)++] = (tl_parcel){p, bytes[p], room};
        room += (bytes[p] + 63) / 64 * 64;
        c->traffic->bytes += p == c->part ? 0 : bytes[p];
    }
    c->ops->send(c, count, out, *arrivals, got);
    c->traffic->sends++;
    *in = got;
    return TALUS_OK;
}

/* Rows by part, one parcel for each. */
static talus_status pack_rows(const tl_comm *c, const tl_comm_rows *out, tl_parcel **parcel, int *parcels, tl_arena *a,
                              talus_error *err)
{
    int64_t *at = TL_TAKE_ZERO(a, int64_t, c->parts + 1);
    char *room = tl_arena_take(a, out->bytes * (size_t)out->count);
    *parcels = 0;
    *parcel = TL_TAKE(a, tl_parcel, c->parts);
    if (!at || !room || !*parcel)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld rows of other parts", (long long)out->count);
    for (int64_t i = 0; i < out->count; i++) at[out->part[i] + 1]++;
    for (int32_t p = 0; p < c->parts; p++) {
        at[p + 1] += at[p];
        if (at[p + 1] > at[p])
            (*parcel)[(*parcels)++] =
                (tl_parcel){p, (at[p + 1] - at[p]) * (int64_t)out->bytes, room + out->bytes * (size_t)at[p]};
    }
    for (int64_t i = 0; i < out->count; i++)
        memcpy(room + out->bytes * (size_t)at[out->part[i]]++, (const char *)out->row + out->bytes * (size_t)i,
               out->bytes);
    return TALUS_OK;
}

talus_status tl_comm_send_rows(const tl_comm *c, const tl_comm_rows *out, tl_comm_rows *in, tl_arena *a,
                               talus_error *err)
{
    tl_parcel *parcel, *got;
    int parcels, arrivals;
    *in = (tl_comm_rows){.bytes = out->bytes};
    TL_TRY(tl_comm_agree(c, pack_rows(c, out, &parcel, &parcels, a, err), err));
    TL_TRY(tl_comm_send(c, parcels, parcel, &arrivals, &got, a, err));
    for (int k = 0; k < arrivals; k++) in->count += got[k].bytes / (int64_t)out->bytes;
    in->row = tl_arena_take(a, in->bytes * (size_t)in->count);
    in->part = TL_TAKE(a, int32_t, in->count);
    if (!in->row || !in->part)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for %lld rows of other parts", (long long)in->count);
    int64_t at = 0;
    for (int k = 0; k < arrivals; k++) {
        const int64_t n = got[k].bytes / (int64_t)out->bytes;
        memcpy((char *)in->row + in->bytes * (size_t)at, got[k].data, (size_t)got[k].bytes);
        for (int64_t i = 0; i < n; i++) in->part[at++] = got[k].part;
    }
    return TALUS_OK;
}

talus_status tl_comm_plan(const tl_comm *c, const tl_halo_source *s, tl_halo **out, talus_error *err)
{
    *out = NULL;
    if (tl_comm_alone(c)) return TALUS_OK;
    *out = c->ops->plan(c, s);
    talus_status status =
        *out ? TALUS_OK : TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a halo of %lld entries", (long long)s->halo);
    return tl_comm_agree(c, status, err);
}

void tl_comm_get(const tl_comm *c, tl_halo *h, size_t item, const void *owned, void *halo)
{
    if (!h) return;
    c->traffic->gets++;
    c->ops->get(c, h, item, owned, halo);
}

void tl_comm_add(const tl_comm *c, tl_halo *h, int count, const double *halo, double *owned)
{
    if (!h) return;
    c->traffic->adds++;
    c->ops->add(c, h, count, halo, owned);
}

int tl_comm_mark(const tl_comm *c) { return tl_comm_alone(c) ? 0 : c->ops->mark(c); }
void tl_comm_release(const tl_comm *c, int mark)
{
    if (!tl_comm_alone(c)) c->ops->release(c, mark);
}
