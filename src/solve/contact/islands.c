#include "solve/contact/islands.h"

#include <string.h>

size_t tl_islands_bytes(const tl_contact *p)
{
    int64_t m = p->space->n / 3, b = p->bodies ? p->bodies->count : 0;
    return 3 * TL_ARENA_ROOM(int32_t, b) + TL_ARENA_ROOM(tl_pairs, b + 1) + TL_ARENA_ROOM(int32_t, b + 2) +
           TL_ARENA_ROOM(int32_t, m) + TL_ARENA_ROOM(tl_pair, m) + TL_ARENA_ROOM(int32_t, b) +
           2 * TL_ARENA_ROOM(double, b) + 2 * TL_ARENA_ROOM(double, 9 * b) + 64;
}

/* Smallest body of the set, with the way there halved. */
static int32_t root_of(int32_t *parent, int32_t i)
{
    for (; parent[i] != i; i = parent[i]) parent[i] = parent[parent[i]];
    return i;
}

static int32_t a_body(const tl_pair *p) { return p->body[0] >= 0 ? p->body[0] : p->body[1]; }

/* What islands are made of: all contacts (some is NULL), or some of them. Bodies then have the velocities dv
 * already. */
typedef struct source {
    const tl_pairs *t;
    const bool *some;
    const double *dv;
} source;

static bool is_in(const source *w, int32_t c) { return !w->some || w->some[c]; }

/* island [bodies]: number by first contact, -1 without one. Returns how many. */
static int32_t number_islands(const source *w, int32_t *parent, int32_t *island)
{
    const tl_pairs *t = w->t;
    int32_t count = 0;
    for (int32_t i = 0; i < t->moving; i++) parent[i] = i, island[i] = -1;
    for (int32_t c = 0; c < t->contacts; c++) {
        if (!is_in(w, c) || t->pair[c].body[0] < 0 || t->pair[c].body[1] < 0) continue;
        int32_t i = root_of(parent, t->pair[c].body[0]), j = root_of(parent, t->pair[c].body[1]);
        parent[i < j ? j : i] = i < j ? i : j;
    }
    for (int32_t c = 0; c < t->contacts; c++) {
        if (!is_in(w, c)) continue;
        int32_t root = root_of(parent, a_body(&t->pair[c]));
        if (island[root] < 0) island[root] = count++;
    }
    for (int32_t i = 0; i < t->moving; i++) island[i] = island[root_of(parent, i)];
    return count;
}

/* Bodies and contacts of each island side by side; `local` [bodies]: number within the island. */
static bool gather(const source *w, const int32_t *island, int32_t *local, tl_islands *out, tl_arena *a)
{
    const tl_pairs *t = w->t;
    tl_pairs all = {.pair = TL_TAKE(a, tl_pair, t->contacts),
                    .of_moving = TL_TAKE(a, int32_t, t->moving),
                    .mass = TL_TAKE(a, double, t->moving),
                    .gyration = TL_TAKE(a, double, t->moving),
                    .inertia = TL_TAKE(a, double, 9 * (int64_t)t->moving),
                    .inv_inertia = TL_TAKE(a, double, 9 * (int64_t)t->moving)};
    if (!all.pair || !all.of_moving || !all.mass || !all.gyration || !all.inertia || !all.inv_inertia) return false;
    memset(out->island, 0, sizeof *out->island * (size_t)out->count);
    for (int32_t i = 0; i < t->moving; i++)
        if (island[i] >= 0) local[i] = out->island[island[i]].moving++;
    for (int32_t c = 0; c < t->contacts; c++)
        if (is_in(w, c)) out->island[island[a_body(&t->pair[c])]].contacts++;
    int32_t bodies = 0;
    out->first[0] = 0;
    for (int32_t k = 0; k < out->count; k++) {
        tl_pairs *s = &out->island[k];
        s->pair = all.pair + out->first[k];
        s->of_moving = all.of_moving + bodies;
        s->mass = all.mass + bodies;
        s->gyration = all.gyration + bodies;
        s->inertia = all.inertia + 9 * (int64_t)bodies;
        s->inv_inertia = all.inv_inertia + 9 * (int64_t)bodies;
        bodies += s->moving;
        out->first[k + 1] = out->first[k] + s->contacts;
        s->contacts = 0;
    }
    for (int32_t i = 0; i < t->moving; i++) {
        if (island[i] < 0) continue;
        tl_pairs *s = &out->island[island[i]];
        int32_t k = local[i];
        s->of_moving[k] = t->of_moving[i];
        s->mass[k] = t->mass[i];
        s->gyration[k] = t->gyration[i];
        memcpy(s->inertia + 9 * (int64_t)k, t->inertia + 9 * (int64_t)i, 9 * sizeof(double));
        memcpy(s->inv_inertia + 9 * (int64_t)k, t->inv_inertia + 9 * (int64_t)i, 9 * sizeof(double));
    }
    for (int32_t c = 0; c < t->contacts; c++) {
        if (!is_in(w, c)) continue;
        int32_t at = island[a_body(&t->pair[c])];
        tl_pairs *s = &out->island[at];
        tl_pair *p = &s->pair[s->contacts];
        *p = t->pair[c];
        s->joined = s->joined || p->box;
        if (w->some) p->q += tl_pair_change(p, w->dv);
        for (int side = 0; side < 2; side++) {
            if (p->body[side] >= 0) p->body[side] = local[p->body[side]];
            p->place[side] = p->body[side] >= 0 ? p->body[side] : s->moving;
        }
        out->contact[out->first[at] + s->contacts++] = c;
    }
    return true;
}

static bool build(const source *w, tl_islands *out, tl_arena *a)
{
    const tl_pairs *t = w->t;
    int32_t *parent = TL_TAKE(a, int32_t, t->moving), *island = TL_TAKE(a, int32_t, t->moving);
    if (!parent || !island) return false;
    out->count = number_islands(w, parent, island);
    out->island = TL_TAKE(a, tl_pairs, out->count);
    out->first = TL_TAKE(a, int32_t, out->count + 1);
    out->contact = TL_TAKE(a, int32_t, t->contacts);
    if (!out->island || !out->first || !out->contact) return false;
    if (out->count > 1 || w->some) return gather(w, island, parent, out, a);
    out->island[0] = *t;
    out->first[0] = 0;
    out->first[1] = t->contacts;
    for (int32_t c = 0; c < t->contacts; c++) out->contact[c] = c;
    return true;
}

void tl_islands_build(const tl_pairs *t, tl_islands *out, tl_arena *a)
{
    bool built = build(&(source){t, NULL, NULL}, out, a);
    TL_ASSERT(built); /* room was reserved */
    (void)built;
}

bool tl_islands_some(const tl_pairs *t, const bool *some, const double *dv, tl_islands *out, tl_arena *a)
{
    return build(&(source){t, some, dv}, out, a);
}
