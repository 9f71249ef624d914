#include "solve/pressure/levels_parts.h"

#include <string.h>

#include "base/radix.h"
#include "solve/pressure/key.h"

static talus_status no_memory(const tl_level *l, talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a level of %lld cells", (long long)l->total);
}

void tl_level_bounds(const tl_level *l, int32_t lo[3], int32_t hi[3])
{
    static const tl_reduce op[] = {TL_REDUCE_MIN, TL_REDUCE_MIN, TL_REDUCE_MIN,
                                   TL_REDUCE_MAX, TL_REDUCE_MAX, TL_REDUCE_MAX};
    double value[6];
    for (int a = 0; a < 3; a++) {
        value[a] = l->n ? lo[a] : INT32_MAX;
        value[3 + a] = l->n ? hi[a] : INT32_MIN;
    }
    tl_comm_reduce_each(l->space->comm, 6, op, value);
    for (int a = 0; a < 3; a++) {
        lo[a] = (int32_t)value[a];
        hi[a] = (int32_t)value[3 + a];
    }
}

talus_status tl_level_borders(tl_level *l, tl_arena *a, talus_error *err)
{
    int32_t *border = NULL;
    for (int pass = 0; pass < 2; pass++) { /* count, then list */
        l->borders = 0;
        for (int32_t i = 0; i < l->n; i++) {
            bool any = false;
            for (int k = 0; k < TL_PRESSURE_SIDES; k++) any |= l->nb[k][i] > l->none;
            if (any && pass) border[l->borders] = i;
            l->borders += any;
        }
        if (pass == 0 && !(border = TL_TAKE(a, int32_t, l->borders))) return no_memory(l, err);
    }
    l->border = border;
    return TALUS_OK;
}

/* ---- copies of coarse cells ---- */

typedef struct found {
    uint64_t *key; /* colour, part, index */
    int32_t *copy; /* of the finer level */
} found;

#define PART_BITS 12
#define INDEX_BITS 31

/* Copies of `fine` that have a parent, by that parent; returns how many. got [copies]: ~number of black parents. */
static int32_t sort_parents(const tl_pressure_space *s, const int32_t *got, found *f, uint64_t *spare,
                            int32_t *spare_copy)
{
    int32_t n = 0;
    for (int32_t h = 0; h < tl_pressure_copies(s); h++) {
        if (got[h] == TL_NO_PARENT) continue;
        const bool black = got[h] < 0;
        f->key[n] = (uint64_t)black << (PART_BITS + INDEX_BITS) | (uint64_t)s->part[h] << INDEX_BITS |
                    (uint64_t)(black ? ~got[h] : got[h]);
        f->copy[n++] = h;
    }
    tl_radix_sort(n, f->key, f->copy, spare, spare_copy);
    return n;
}

static talus_status take_copies(int32_t copies, tl_pressure_space **s, int32_t **part, int32_t **index, tl_arena *a)
{
    *s = TL_TAKE_ZERO(a, tl_pressure_space, 1);
    *part = TL_TAKE(a, int32_t, copies);
    *index = TL_TAKE(a, int32_t, copies);
    return *s && *part && *index ? TALUS_OK : TALUS_NO_MEMORY;
}

/* Distinct parents become copies behind the zero of the coarse level; parent [copies] of `fine`. */
static void number_copies(int32_t n, const found *f, int32_t none, int32_t *parent, tl_pressure_space *s, int32_t *part,
                          int32_t *index)
{
    int32_t last = -1;
    for (int32_t m = 0; m < n; m++) {
        if (m == 0 || f->key[m] != f->key[m - 1]) {
            last++;
            part[last] = (int32_t)(f->key[m] >> INDEX_BITS) & ((1 << PART_BITS) - 1);
            index[last] = (int32_t)(f->key[m] & INT32_MAX);
            s->copies[f->key[m] >> (PART_BITS + INDEX_BITS)]++;
        }
        parent[f->copy[m]] = none + 1 + last;
    }
}

talus_status tl_level_share(const tl_level *fine, int32_t *parent, tl_level *c, int32_t *scratch, tl_arena *a,
                            talus_error *err)
{
    const tl_pressure_space *of = fine->space;
    const int32_t copies = tl_pressure_copies(of), red = of->copies[TL_RED];
    tl_pressure_space *s;
    int32_t *part, *index, *got = parent + fine->none + 1;
    talus_status status = take_copies(copies, &s, &part, &index, a);
    size_t mark = tl_arena_mark(a);
    found f = {TL_TAKE(a, uint64_t, copies), TL_TAKE(a, int32_t, copies)};
    uint64_t *spare = TL_TAKE(a, uint64_t, copies);
    int32_t *spare_copy = TL_TAKE(a, int32_t, copies);
    if (status || !f.key || !f.copy || !spare || !spare_copy) status = no_memory(c, err);
    TL_TRY(tl_comm_agree(of->comm, status, err));

    for (int32_t i = 0; i < fine->n; i++)
        scratch[i] = parent[i] != TL_NO_PARENT && parent[i] >= c->red ? ~parent[i] : parent[i];
    tl_comm_get(of->comm, of->plan[TL_RED], sizeof *got, scratch, got);
    tl_comm_get(of->comm, of->plan[TL_BLACK], sizeof *got, scratch, got + red);
    *s = (tl_pressure_space){.comm = of->comm, .together = of->together - 1, .part = part, .index = index};
    const int32_t n = sort_parents(of, got, &f, spare, spare_copy);
    for (int32_t i = fine->n; i < fine->none + 1 + copies; i++) parent[i] = c->none;
    number_copies(n, &f, c->none, got, s, part, index);
    tl_arena_release(a, mark);
    c->space = s;
    c->total = (int64_t)tl_comm_sum(of->comm, c->n);
    return tl_pressure_space_plan(s, c->n, err);
}

talus_status tl_level_choices(const tl_level *c, const int32_t (**choice)[TL_PRESSURE_SIDES], tl_arena *a,
                              talus_error *err)
{
    const tl_pressure_space *s = c->space;
    const size_t item = sizeof **choice;
    int32_t(*rows)[TL_PRESSURE_SIDES] = tl_arena_take(a, item * (size_t)tl_level_length(c));
    TL_TRY(tl_comm_agree(s->comm, rows ? TALUS_OK : no_memory(c, err), err));
    for (int32_t I = 0; I < c->n; I++)
        for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
            const int32_t J = c->nb[k][I];
            rows[I][k] = J > c->none ? s->index[J - c->none - 1] : ~J;
        }
    tl_pressure_get_both(s, item, rows, c->none);
    *choice = (const int32_t(*)[TL_PRESSURE_SIDES])(rows + c->none + 1);
    return TALUS_OK;
}

/* ---- all cells on every part ---- */

typedef struct row {
    int32_t at[3];
    int32_t nb[TL_PRESSURE_SIDES]; /* row of all parts, -1: none */
} row;

typedef struct whole {
    int32_t n;
    int64_t *count, *first; /* [parts] */
    int32_t *place;         /* [n] */
    int32_t (*ijk)[3];
    int32_t *nb[TL_PRESSURE_SIDES], *at;
    void *mine, *all;
} whole;

typedef struct sorting {
    row *mine, *all;
    uint64_t *key, *spare;
    int32_t *order, *spare_order;
} sorting;

static bool take_whole(whole *w, const tl_level *c, tl_arena *a)
{
    const int32_t parts = c->space->comm->parts;
    *w = (whole){.n = (int32_t)c->total};
    w->count = TL_TAKE(a, int64_t, parts);
    w->first = TL_TAKE(a, int64_t, parts);
    w->place = TL_TAKE(a, int32_t, w->n);
    w->ijk = tl_arena_take(a, sizeof *w->ijk * (size_t)w->n);
    w->at = TL_TAKE(a, int32_t, c->n);
    w->mine = tl_arena_take(a, TL_GATHERED_BYTES * (size_t)c->n);
    w->all = tl_arena_take(a, TL_GATHERED_BYTES * (size_t)w->n);
    bool good = w->count && w->first && w->place && w->ijk && w->at && w->mine && w->all;
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        w->nb[k] = TL_TAKE(a, int32_t, w->n);
        good = good && w->nb[k];
    }
    return good;
}

static bool take_sorting(sorting *s, const whole *w, const tl_level *c, tl_arena *a)
{
    *s = (sorting){TL_TAKE(a, row, c->n),      TL_TAKE(a, row, w->n),     TL_TAKE(a, uint64_t, w->n),
                   TL_TAKE(a, uint64_t, w->n), TL_TAKE(a, int32_t, w->n), TL_TAKE(a, int32_t, w->n)};
    return s->mine && s->all && s->key && s->spare && s->order && s->spare_order;
}

/* Row of a cell or a copy of level c among those of all parts. */
static int32_t row_of(const whole *w, const tl_level *c, int32_t J)
{
    if (J == c->none) return -1;
    const int32_t h = J - c->none - 1;
    return h < 0 ? (int32_t)w->first[c->space->comm->part] + J
                 : (int32_t)w->first[c->space->part[h]] + c->space->index[h];
}

static void bring_rows(whole *w, const tl_level *c, sorting *s)
{
    const tl_comm *comm = c->space->comm;
    int64_t bytes[TL_COMM_PARTS_MAX], own = c->n, at = 0;
    tl_comm_share(comm, sizeof own, &own, w->count);
    for (int32_t p = 0; p < comm->parts; p++) {
        w->first[p] = at;
        at += w->count[p];
        bytes[p] = w->count[p] * (int64_t)sizeof(row);
    }
    for (int32_t I = 0; I < c->n; I++) {
        memcpy(s->mine[I].at, c->ijk[I], sizeof s->mine[I].at);
        for (int k = 0; k < TL_PRESSURE_SIDES; k++) s->mine[I].nb[k] = row_of(w, c, c->nb[k][I]);
    }
    tl_comm_gather(comm, bytes, s->mine, s->all);
}

/* By colour and coordinates; cells in one place have one owner and stay in its order. Returns how many are red. */
static int32_t sort_rows(whole *w, sorting *s)
{
    int32_t red = 0;
    for (int32_t r = 0; r < w->n; r++) {
        const int32_t *at = s->all[r].at;
        s->key[r] = tl_cell_key(at[0], at[1], at[2]);
        s->order[r] = r;
        red += !tl_cell_colour(at[0], at[1], at[2]);
    }
    tl_radix_sort(w->n, s->key, s->order, s->spare, s->spare_order);
    for (int32_t I = 0; I < w->n; I++) w->place[s->order[I]] = I;
    for (int32_t I = 0; I < w->n; I++) {
        const row *r = &s->all[s->order[I]];
        memcpy(w->ijk[I], r->at, sizeof r->at);
        for (int k = 0; k < TL_PRESSURE_SIDES; k++) w->nb[k][I] = r->nb[k] < 0 ? w->n : w->place[r->nb[k]];
    }
    return red;
}

talus_status tl_level_make_whole(tl_levels *l, int k, tl_arena *a, talus_error *err)
{
    tl_level *c = &l->level[k], *fine = c - 1;
    const tl_comm *comm = c->space->comm;
    tl_gathered *g = TL_TAKE(a, tl_gathered, 1);
    whole w;
    sorting s;
    bool good = c->total <= INT32_MAX && g && take_whole(&w, c, a);
    size_t mark = tl_arena_mark(a);
    good = good && take_sorting(&s, &w, c, a);
    TL_TRY(tl_comm_agree(comm, good ? TALUS_OK : no_memory(c, err), err));
    bring_rows(&w, c, &s);
    const int32_t red = sort_rows(&w, &s);
    tl_arena_release(a, mark);

    int32_t *parent = (int32_t *)fine->parent;
    for (int64_t i = 0; i < tl_level_length(fine); i++) {
        const int32_t r = row_of(&w, c, parent[i]);
        parent[i] = r < 0 ? w.n : w.place[r];
    }
    for (int32_t I = 0; I < c->n; I++) w.at[I] = w.place[row_of(&w, c, I)];
    *g = (tl_gathered){comm, w.count, w.n, w.place, w.mine, w.all};
    *c = (tl_level){.n = w.n,
                    .red = red,
                    .total = w.n,
                    .gathered = g,
                    .ijk = (const int32_t(*)[3])w.ijk,
                    .none = w.n,
                    .own = c->n,
                    .at = w.at,
                    .start = c->start,
                    .child = c->child};
    for (int side = 0; side < TL_PRESSURE_SIDES; side++) c->nb[side] = w.nb[side];
    return TALUS_OK;
}

void tl_gathered_bring(const tl_gathered *g, size_t item)
{
    int64_t bytes[TL_COMM_PARTS_MAX];
    for (int32_t p = 0; p < g->comm->parts; p++) bytes[p] = g->count[p] * (int64_t)item;
    tl_comm_gather(g->comm, bytes, g->mine, g->all);
}
