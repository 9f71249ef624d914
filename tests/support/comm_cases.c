#include "comm_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"

#define PARTS 4096
#define ITEM_MAX 56

/* ---- C1 ---- */

/* Sums of these depend on the order in which they are added. */
static double value_of(int part, int k)
{
    static const double values[] = {1e16, 1, -1e16, 1, 3, -1e16, 1e16, 0.1};
    return values[(part * 5 + k * 3) % 8];
}

static const char *reduce(const tl_comm *c)
{
    double mine[70], right[70];
    for (int count = 1; count <= 64; count += 9) {
        for (int k = 0; k < count; k++) {
            mine[k] = value_of(c->part, k);
            double total = 0; /* groups of 64 */
            for (int first = 0; first < c->parts; first += 64) {
                double group = value_of(first, k);
                for (int p = first + 1; p < c->parts && p < first + 64; p++) group += value_of(p, k);
                total = first ? total + group : group;
            }
            right[k] = total;
        }
        tl_comm_reduce(c, TL_REDUCE_SUM, count, mine);
        if (memcmp(mine, right, sizeof(double) * (size_t)count)) return "a sum is not the one in the order of parts";
    }
    double mixed[4] = {value_of(c->part, 0), c->part, -c->part, c->part == c->parts - 1 ? NAN : 1};
    const tl_reduce op[4] = {TL_REDUCE_SUM, TL_REDUCE_MAX, TL_REDUCE_MIN, TL_REDUCE_MAX};
    double sum = value_of(0, 0);
    for (int p = 1; p < c->parts && p < 64; p++) sum += value_of(p, 0);
    tl_comm_reduce_each(c, 4, op, mixed);
    if (c->parts <= 64 && mixed[0] != sum) return "a sum beside maxima is wrong";
    if (mixed[1] != c->parts - 1 || mixed[2] != -(c->parts - 1)) return "a maximum or minimum is wrong";
    if (!isnan(mixed[3])) return "NaN was lost in a maximum";
    return NULL;
}

static const char *share(const tl_comm *c)
{
    static const int widths[] = {1, 4, 24, 1000};
    for (int w = 0; w < 4; w++) {
        const size_t bytes = (size_t)widths[w];
        unsigned char mine[1000], *all = tl_alloc(bytes * (size_t)c->parts);
        for (size_t i = 0; i < bytes; i++) mine[i] = (unsigned char)(c->part * 7 + (int)i);
        tl_comm_share(c, bytes, mine, all);
        for (int p = 0; p < c->parts; p++)
            for (size_t i = 0; i < bytes; i++)
                if (all[bytes * (size_t)p + i] != (unsigned char)(p * 7 + (int)i)) return "shared bytes are wrong";
        tl_free(all);
    }
    int64_t *bytes = TL_NEW(int64_t, c->parts), total = 0; /* part p has 3 p bytes, and every third has none */
    for (int p = 0; p < c->parts; p++) total += bytes[p] = p % 3 == 2 ? 0 : 3 * p;
    unsigned char *all = tl_alloc((size_t)total + 1), *mine = tl_alloc((size_t)bytes[c->part] + 1);
    memset(mine, c->part, (size_t)bytes[c->part]);
    tl_comm_gather(c, bytes, mine, all);
    for (int64_t p = 0, at = 0; p < c->parts; p++)
        for (int64_t i = 0; i < bytes[p]; i++)
            if (all[at++] != (unsigned char)p) return "gathered rows are wrong";
    tl_free(mine);
    tl_free(all);
    tl_free(bytes);
    return NULL;
}

/* ---- agree (C17) ---- */

static const char *agree(const tl_comm *c)
{
    talus_error err = {TALUS_OK, "nothing"};
    if (tl_comm_agree(c, TALUS_OK, &err) != TALUS_OK) return "all good, and yet a failure";
    for (int bad = 0; bad < c->parts; bad++) {
        /* `bad` and the last part fail: told is the lower one */
        talus_status mine = c->part == bad            ? TL_FAIL(&err, TALUS_NO_MEMORY, "part %d has no memory", bad)
                            : c->part == c->parts - 1 ? TL_FAIL(&err, TALUS_IO, "the last part has no disk")
                                                      : TALUS_OK;
        char right[100];
        snprintf(right, sizeof right, "part %d has no memory", bad);
        if (tl_comm_agree(c, mine, &err) != TALUS_NO_MEMORY) return "not the status of the lowest part that failed";
        if (strcmp(err.message, right)) return "not the message of the lowest part that failed";
    }
    tl_arena a = {0};
    const int last = c->part == c->parts - 1;
    talus_status got = tl_comm_reserve(c, &a, last ? SIZE_MAX / 4 : 64, &err);
    if (got != TALUS_NO_MEMORY) return "one part without memory, and yet not all fail";
    tl_arena_free(&a);
    return NULL;
}

/* ---- parcels ---- */

static int64_t size_of(int from, int to) { return (from * 3 + to * 5) % 4 == 0 ? 0 : 1 + (from * 31 + to * 17) % 100; }

static const char *parcels(const tl_comm *c)
{
    tl_arena a = {0};
    tl_parcel *out = TL_NEW(tl_parcel, c->parts), *in;
    int count = 0, arrivals, right = 0;
    for (int p = c->parts - 1; p >= 0; p--) { /* in no special order */
        const int64_t bytes = size_of(c->part, p);
        if (!bytes) continue;
        out[count] = (tl_parcel){p, bytes, tl_arena_take(&a, (size_t)bytes)};
        memset(out[count++].data, c->part + 2 * p, (size_t)bytes);
    }
    talus_error err;
    if (tl_comm_send(c, count, out, &arrivals, &in, &a, &err) != TALUS_OK) return "a failure";
    for (int p = 0; p < c->parts; p++) {
        const int64_t bytes = size_of(p, c->part);
        if (!bytes) continue;
        if (right >= arrivals || in[right].part != p || in[right].bytes != bytes) return "a parcel is not in its place";
        for (int64_t i = 0; i < bytes; i++)
            if (((unsigned char *)in[right].data)[i] != (unsigned char)(p + 2 * c->part)) return "a parcel was damaged";
        right++;
    }
    if (right != arrivals) return "parcels came that nobody sent";
    tl_free(out);
    tl_arena_free(&a);
    return NULL;
}

/* ---- C2 ---- */

/* Part p owns some entries, every third part none; the global number is p * 1000 + index. */
static int32_t owned_of(int part) { return part % 3 == 2 ? 0 : 40 + 13 * part % 50; }

/* Random entries of others, some twice; part 3 has none. */
static int32_t halo_of(int part, int parts, int32_t *owner, int32_t *index)
{
    int32_t n = 0;
    for (int k = 0; k < 150 && part != 3; k++) {
        int p = (int)(tl_random_bits(11, (uint64_t)part, (uint64_t)k) % (uint64_t)parts);
        if (p == part || !owned_of(p)) continue;
        owner[n] = p;
        index[n++] = (int32_t)(tl_random_bits(12, (uint64_t)part, (uint64_t)k) % (uint64_t)owned_of(p));
    }
    return n;
}

static unsigned char byte_of(int part, int32_t index, size_t i)
{
    return (unsigned char)(part * 37 + index * 11 + (int)i);
}

static const char *get_all(const tl_comm *c, tl_halo *h, const tl_halo_source *s)
{
    static const size_t items[] = {1, 4, 8, 24, 27, ITEM_MAX};
    for (int w = 0; w < 6; w++) {
        const size_t item = items[w];
        unsigned char *owned = tl_alloc(item * (size_t)(s->owned + 1)), *halo = tl_alloc(item * (size_t)(s->halo + 1));
        for (int64_t k = 0; k < s->owned; k++)
            for (size_t i = 0; i < item; i++) owned[(size_t)k * item + i] = byte_of(c->part, (int32_t)k, i);
        tl_comm_get(c, h, item, owned, halo);
        for (int64_t k = 0; k < s->halo; k++)
            for (size_t i = 0; i < item; i++)
                if (halo[(size_t)k * item + i] != byte_of(s->part[k], s->index[k], i)) return "a copy is wrong";
        tl_free(owned);
        tl_free(halo);
    }
    return NULL;
}

/* What part p's copy k brings: sums that depend on their order. */
static double brought(int p, int64_t k, int i) { return value_of(p, (int)k + i) + (double)k; }

static const char *add_all(const tl_comm *c, tl_halo *h, const tl_halo_source *s, int count)
{
    double *owned = TL_NEW(double, s->owned *count + 1), *halo = TL_NEW(double, s->halo *count + 1);
    double *right = TL_NEW(double, s->owned *count + 1);
    int32_t owner[150], index[150];
    for (int64_t k = 0; k < s->owned * count; k++) right[k] = owned[k] = 0.5 * (double)k;
    for (int64_t k = 0; k < s->halo; k++)
        for (int i = 0; i < count; i++) halo[k * count + i] = brought(c->part, k, i);
    for (int p = 0; p < c->parts; p++) {
        const int32_t n = halo_of(p, c->parts, owner, index);
        for (int32_t k = 0; k < n; k++)
            for (int i = 0; owner[k] == c->part && i < count; i++)
                right[(int64_t)index[k] * count + i] += brought(p, k, i);
    }
    tl_comm_add(c, h, count, halo, owned);
    const int same = !memcmp(owned, right, sizeof(double) * (size_t)(s->owned * count));
    tl_free(owned);
    tl_free(halo);
    tl_free(right);
    return same ? NULL : "a sum of copies is not the one in the order of parts";
}

static const char *plans(const tl_comm *c)
{
    int32_t owner[150], index[150];
    const int mark = tl_comm_mark(c);
    const tl_halo_source s = {owned_of(c->part), c->parts > 1 ? halo_of(c->part, c->parts, owner, index) : 0, owner,
                              index};
    talus_error err;
    tl_halo *h, *second;
    if (tl_comm_plan(c, &s, &h, &err) != TALUS_OK) return "a failure";
    const char *wrong = get_all(c, h, &s);
    if (wrong) return wrong;
    if (tl_comm_plan(c, &s, &second, &err) != TALUS_OK) return "a failure";
    for (int count = 1; count <= 7; count += 3)
        if (c->parts > 1 && (wrong = add_all(c, second, &s, count))) return wrong;
    tl_comm_release(c, mark);
    return tl_comm_mark(c) == mark ? NULL : "plans are left";
}

const tl_comm_case tl_comm_cases[] = {
    {"sums are in the order of parts, and the same on all", reduce},
    {"rows of all parts", share},
    {"one failure is everybody's, with the message of the lowest part", agree},
    {"parcels arrive in the order of their senders", parcels},
    {"copies are right, and their sums in order", plans},
};
const int tl_comm_case_count = sizeof tl_comm_cases / sizeof tl_comm_cases[0];
