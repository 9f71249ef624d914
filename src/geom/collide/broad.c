#include "geom/collide/broad.h"

#include <string.h>

#include "base/radix.h"

#define LEVELS 32       /* sizes between 2^-31 of the largest and itself; smaller ones count as that */
#define FEW 8           /* chosen: boxes of a level below which a plain loop is as quick as a sort */
#define CELLS (1 << 20) /* along an axis; what lies beyond shares the last one */
#define FINE 16         /* places along x in a cell */

enum { LEVEL_NONE = -2, LEVEL_WIDE = -1 };

typedef struct search {
    int32_t count;
    const tl_box3 *box;
    const bool *moves;
    tl_arena *a;
    uint64_t *pair; /* a count + b, with a < b */
    int64_t pairs, room;
} search;

/* Without branches: most neighbours miss, on an axis that nobody can foresee. */
static bool overlap(const tl_box3 *a, const tl_box3 *b)
{
    return (a->lo.x <= b->hi.x) & (b->lo.x <= a->hi.x) & (a->lo.y <= b->hi.y) & (b->lo.y <= a->hi.y) &
           (a->lo.z <= b->hi.z) & (b->lo.z <= a->hi.z);
}

static talus_status no_memory(const search *s, talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "pairs of %d boxes: no memory", s->count);
}

/* Room for `more` pairs. The old list stays in the arena: all lists together take twice the last one. */
static talus_status grow(search *s, int64_t more, talus_error *err)
{
    if (s->pairs + more < s->room) return TALUS_OK;
    int64_t room = 2 * s->room + more + 1;
    uint64_t *pair = TL_TAKE(s->a, uint64_t, room);
    if (!pair) return no_memory(s, err);
    if (s->pairs > 0) memcpy(pair, s->pair, sizeof *pair * (size_t)s->pairs);
    s->pair = pair;
    s->room = room;
    return TALUS_OK;
}

/* Adds the pair if it is `near`, without a branch. Needs room for one. */
static void put(search *s, int32_t a, int32_t b, bool near)
{
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    s->pair[s->pairs] = (uint64_t)low * (uint64_t)s->count + (uint64_t)high;
    s->pairs += near & (s->moves[a] | s->moves[b]);
}

/* Power of two above the largest edge; INT32_MIN for a point. */
static int32_t exponent(const tl_box3 *b)
{
    int e;
    double edge = fmax(b->hi.x - b->lo.x, fmax(b->hi.y - b->lo.y, b->hi.z - b->lo.z));
    if (edge == 0) return INT32_MIN;
    frexp(edge, &e);
    return e;
}

static bool finite_box(const tl_box3 *b)
{
    double sum = fabs(b->lo.x) + fabs(b->lo.y) + fabs(b->lo.z) + fabs(b->hi.x) + fabs(b->hi.y) + fabs(b->hi.z);
    return sum < INFINITY;
}

/* level [count]: 0 for the smallest boxes, one more where edges double. */
static void sort_sizes(const search *s, int32_t *level, int32_t members[LEVELS])
{
    int32_t top = INT32_MIN;
    for (int32_t i = 0; i < s->count; i++) {
        const tl_box3 *b = &s->box[i];
        bool good = b->lo.x <= b->hi.x && b->lo.y <= b->hi.y && b->lo.z <= b->hi.z; /* no NaN, not empty */
        level[i] = !good ? LEVEL_NONE : finite_box(b) ? 0 : LEVEL_WIDE;
        if (level[i] == 0 && exponent(b) > top) top = exponent(b);
    }
    int32_t base = (top == INT32_MIN ? 0 : top) - (LEVELS - 1);
    memset(members, 0, sizeof *members * LEVELS);
    for (int32_t i = 0; i < s->count; i++) {
        if (level[i] < 0) continue;
        int32_t e = exponent(&s->box[i]);
        level[i] = e > base ? e - base : 0;
        members[level[i]]++;
    }
}

/* Boxes at `own` against each other and against all that are smaller, one by one. */
static talus_status search_plainly(search *s, const int32_t *level, int32_t own, talus_error *err)
{
    for (int32_t i = 0; i < s->count; i++) {
        if (level[i] != own) continue;
        TL_TRY(grow(s, s->count, err));
        for (int32_t j = 0; j < s->count; j++) {
            bool other = level[j] >= 0 && (own == LEVEL_WIDE || level[j] < own);
            put(s, i, j, (other | (level[j] == own && j > i)) & overlap(&s->box[i], &s->box[j]));
        }
    }
    return TALUS_OK;
}

/* Cells that no edge at this level is longer than, numbered along rows in x. */
typedef struct lattice {
    tl_vec3 lo;
    double per_metre;
    int row,
        layer; /* bits of a key below the row's and the layer's number: few, as the time of a sort goes with digits */
} lattice;

static uint64_t place(double x) { return 1 + (uint64_t)fmin(fmax(x, 0), CELLS); }
static int bits_of(uint64_t x)
{
    int bits = 0;
    for (; x > 0; x /= 2) bits++;
    return bits;
}
static uint64_t key_of(const lattice *l, tl_vec3 p)
{
    tl_vec3 x = tl_vec3_scale(l->per_metre, tl_vec3_sub(p, l->lo));
    return place(x.z) << l->layer | place(x.y) << l->row | place(FINE * x.x);
}

static lattice lattice_of(const search *s, const int32_t *level, int32_t own, int32_t *count)
{
    lattice l = {.lo = {INFINITY, INFINITY, INFINITY}};
    tl_vec3 hi = {-INFINITY, -INFINITY, -INFINITY};
    double edge = 0;
    *count = 0;
    for (int32_t i = 0; i < s->count; i++) {
        if (level[i] < 0 || level[i] > own) continue;
        tl_vec3 e = tl_vec3_sub(s->box[i].hi, s->box[i].lo);
        l.lo = tl_vec3_min(l.lo, s->box[i].lo);
        hi = tl_vec3_max(hi, s->box[i].hi);
        edge = fmax(edge, fmax(e.x, fmax(e.y, e.z)));
        ++*count;
    }
    l.per_metre = edge > 1e-300 ? 1 / (edge * (1 + 1e-9)) : 1; /* rounding may not carry a box over two cells */
    tl_vec3 cells = tl_vec3_scale(l.per_metre, tl_vec3_sub(hi, l.lo));
    l.row = bits_of(place(FINE * cells.x) + 1);
    l.layer = l.row + bits_of(place(cells.y) + 1);
    return l;
}

/* The same with cells: low corners of boxes that overlap are in neighbouring cells. The members near a box in one
 * row are one stretch of the sorted list, whose start only moves forward. */
static talus_status search_cells(search *s, const int32_t *level, int32_t own, int32_t members, talus_error *err)
{
    tl_arena *a = s->a;
    int32_t n;
    lattice l = lattice_of(s, level, own, &n);
    uint64_t *key = TL_TAKE(a, uint64_t, n), *spare_key = TL_TAKE(a, uint64_t, n);
    uint64_t *member_key = TL_TAKE(a, uint64_t, members);
    int32_t *id = TL_TAKE(a, int32_t, n), *spare_id = TL_TAKE(a, int32_t, n), *member = TL_TAKE(a, int32_t, members);
    tl_box3 *member_box = TL_TAKE(a, tl_box3, members);
    if (!key || !spare_key || !member_key || !id || !spare_id || !member || !member_box) return no_memory(s, err);

    n = 0;
    for (int32_t i = 0; i < s->count; i++) {
        if (level[i] < 0 || level[i] > own) continue;
        key[n] = key_of(&l, s->box[i].lo);
        id[n++] = i;
    }
    tl_radix_sort(n, key, id, spare_key, spare_id);
    int32_t m = 0;
    for (int32_t k = 0; k < n; k++)
        if (level[id[k]] == own) {
            member[m] = id[k];
            member_box[m] = s->box[id[k]];
            member_key[m++] = key[k];
        }

    int32_t start[9] = {0}, before = 0; /* members up to k */
    for (int32_t k = 0; k < n; k++) {
        bool mine = level[id[k]] == own; /* then pairs with members before k are in the list already */
        const tl_box3 b = s->box[id[k]];
        uint64_t high = key_of(&l, b.hi), in_row = ((uint64_t)1 << l.row) - 1, in_layer = ((uint64_t)1 << l.layer) - 1;
        uint64_t width = (high & in_row) - (key[k] & in_row);
        bool last_layer = (high ^ key[k]) <= in_layer, last_row = ((high ^ key[k]) & in_layer) <= in_row;
        before += mine;
        for (int r = mine ? 4 : 0; r < 9; r++) {
            if ((r % 3 == 2 && last_row) || (r / 3 == 2 && last_layer)) continue; /* it does not reach that far */
            uint64_t row =
                (uint64_t)(r / 3 - 1) * ((uint64_t)1 << l.layer) + (uint64_t)(r % 3 - 1) * ((uint64_t)1 << l.row);
            uint64_t here = key[k] + row, from = here > FINE ? here - FINE - 1 : 0, to = here + width;
            while (start[r] < m && member_key[start[r]] < from) start[r]++;
            int32_t q = mine && r == 4 ? before : start[r], end = q;
            while (end < m && member_key[end] <= to) end++;
            TL_TRY(grow(s, end - q, err));
            for (; q < end; q++) put(s, id[k], member[q], overlap(&b, &member_box[q]));
        }
    }
    return TALUS_OK;
}

talus_status tl_broad_pairs(int32_t count, const tl_box3 *box, const bool *moves, tl_arena *a, tl_near_pair **pairs,
                            int64_t *pair_count, talus_error *err)
{
    *pairs = NULL;
    *pair_count = 0;
    search s = {.count = count, .box = box, .moves = moves, .a = a};
    int32_t *level = TL_TAKE(a, int32_t, count), members[LEVELS];
    if (!level) return no_memory(&s, err);
    TL_TRY(grow(&s, 8 * (int64_t)count, err));

    /* level by level: each against itself and what is smaller */
    sort_sizes(&s, level, members);
    TL_TRY(search_plainly(&s, level, LEVEL_WIDE, err));
    for (int32_t k = 0; k < LEVELS; k++) {
        if (members[k] > FEW)
            TL_TRY(search_cells(&s, level, k, members[k], err));
        else if (members[k] > 0)
            TL_TRY(search_plainly(&s, level, k, err));
    }

    uint64_t *spare = TL_TAKE(a, uint64_t, s.pairs);
    int32_t *none = TL_TAKE(a, int32_t, 2 * s.pairs);
    tl_near_pair *out = TL_TAKE(a, tl_near_pair, s.pairs);
    if (!spare || !none || !out) return no_memory(&s, err);
    memset(none, 0, sizeof *none * (size_t)s.pairs);
    tl_radix_sort(s.pairs, s.pair, none, spare, none + s.pairs);
    for (int64_t i = 0; i < s.pairs; i++)
        out[i] = (tl_near_pair){(int32_t)(s.pair[i] / (uint64_t)count), (int32_t)(s.pair[i] % (uint64_t)count)};
    *pairs = out;
    *pair_count = s.pairs;
    return TALUS_OK;
}
