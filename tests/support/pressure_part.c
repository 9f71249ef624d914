#include "pressure_part.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"

/* ---- owners ---- */

typedef struct cube {
    uint64_t key; /* along the curve */
    int32_t cells;
    int32_t owner;
} cube;

static uint64_t spread(uint64_t v)
{
    uint64_t out = 0;
    for (int b = 0; b < 20; b++) out |= (v >> b & 1) << (3 * b);
    return out;
}

static uint64_t key_of(const int32_t at[3], int together)
{
    uint64_t key = 0;
    for (int a = 0; a < 3; a++) key |= spread((uint64_t)(at[a] >> together)) << a;
    return key;
}

static int by_key(const void *a, const void *b)
{
    const uint64_t x = ((const cube *)a)->key, y = ((const cube *)b)->key;
    return (x > y) - (x < y);
}

static int32_t list_cubes(const tl_pressure *p, int together, cube *list)
{
    int32_t count = 0;
    for (int32_t i = 0; i < p->n; i++) list[i] = (cube){key_of(p->ijk[i], together), 1, 0};
    qsort(list, (size_t)p->n, sizeof *list, by_key);
    for (int32_t i = 0; i < p->n; i++) {
        if (count && list[count - 1].key == list[i].key)
            list[count - 1].cells++;
        else
            list[count++] = list[i];
    }
    return count;
}

/* owner [n] */
static void deal(const tl_pressure *p, tl_pressure_cut cut, int32_t parts, int32_t *owner)
{
    cube *list = TL_NEW(cube, p->n + 1);
    const int32_t count = list_cubes(p, cut.together, list);
    int64_t before = 0;
    for (int32_t k = 0; k < count; k++) {
        const int64_t middle = 2 * before + list[k].cells;
        list[k].owner = (int32_t)(middle * parts / (2 * (int64_t)p->n));
        if (cut.seed) list[k].owner = (int32_t)(tl_random_bits(cut.seed, list[k].key, 0) % (uint64_t)parts);
        before += list[k].cells;
    }
    for (int32_t i = 0; i < p->n; i++) {
        const cube want = {key_of(p->ijk[i], cut.together), 0, 0};
        owner[i] = ((const cube *)bsearch(&want, list, (size_t)count, sizeof *list, by_key))->owner;
    }
    tl_free(list);
}

/* ---- what bodies and contacts add ---- */

/* r = U^T x over all parts */
static void sum_over(const tl_pressure_part *q, const double *x, double *r, int32_t columns)
{
    const int64_t whole = q->of->p.n, length = whole + q->p.extras;
    memset(r, 0, sizeof *r * (size_t)columns);
    for (int32_t f = 0; f < columns; f++)
        for (int32_t i = 0; i < q->p.n; i++) r[f] += q->u[f * length + q->global[i]] * x[i];
    tl_comm_reduce(q->space.comm, TL_REDUCE_SUM, columns, r);
    for (int32_t f = 0; f < columns; f++)
        for (int32_t j = 0; j < q->p.extras; j++) r[f] += q->u[f * length + whole + j] * x[q->p.n + j];
}

static void spread_out(const tl_pressure_part *q, const double *r, double *y, int32_t columns)
{
    const int64_t whole = q->of->p.n, length = whole + q->p.extras;
    for (int32_t f = 0; f < columns; f++) {
        for (int32_t i = 0; i < q->p.n; i++) y[i] += q->u[f * length + q->global[i]] * r[f];
        for (int32_t j = 0; j < q->p.extras; j++) y[q->p.n + j] += q->u[f * length + whole + j] * r[f];
    }
}

static void gather_columns(const void *ctx, const double *x, double *r)
{
    const tl_pressure_part *q = ctx;
    sum_over(q, x, r, q->columns);
}

static void scatter_columns(const void *ctx, const double *r, double *y)
{
    const tl_pressure_part *q = ctx;
    spread_out(q, r, y, q->columns);
}

static void add_columns(const void *ctx, const double *x, double *y)
{
    const tl_pressure_part *q = ctx;
    double r[TL_COMM_VALUES_MAX];
    sum_over(q, x, r, q->columns);
    spread_out(q, r, y, q->columns);
}

static void add_bodies(const void *ctx, const double *x, double *y)
{
    const tl_pressure_part *q = ctx;
    const tl_pressure_case *of = q->of;
    double r[TL_COMM_VALUES_MAX] = {0};
    int32_t *local = TL_NEW(int32_t, of->p.n);
    for (int32_t i = 0; i < of->p.n; i++) local[i] = -1;
    for (int32_t i = 0; i < q->p.n; i++) local[q->global[i]] = i;
    for (int b = 0; b < of->bodies; b++)
        for (int32_t m = 0; m < of->body[b].count; m++)
            for (int f = 0; f < 6 && local[of->body[b].cell[m]] >= 0; f++)
                r[6 * b + f] += of->body[b].u[m][f] * x[local[of->body[b].cell[m]]];
    tl_comm_reduce(q->space.comm, TL_REDUCE_SUM, 6 * of->bodies, r);
    for (int b = 0; b < of->bodies; b++)
        for (int32_t m = 0; m < of->body[b].count; m++)
            for (int f = 0; f < 6 && local[of->body[b].cell[m]] >= 0; f++)
                y[local[of->body[b].cell[m]]] += of->body[b].u[m][f] * of->body[b].inverse[f] * r[6 * b + f];
    tl_free(local);
}

/* ---- the share ---- */

typedef struct copy {
    int32_t part, index, cell;
} copy;

static int by_owner(const void *a, const void *b)
{
    const copy *x = a, *y = b;
    return x->part != y->part ? (x->part > y->part) - (x->part < y->part)
                              : (x->index > y->index) - (x->index < y->index);
}

/* The other cells that own ones of this colour have as neighbours. Numbers them in `local`. */
static void list_copies(tl_pressure_part *q, const int32_t *owner, int32_t *local, const int32_t *index, int colour)
{
    const tl_pressure *w = &q->of->p;
    const int32_t me = q->space.comm->part, from = colour ? w->red : 0, to = colour ? w->n : w->red;
    const int32_t before = colour ? q->space.copies[0] : 0;
    copy *list = tl_alloc(sizeof *list * (size_t)(w->n + 1));
    int32_t n = 0;
    for (int32_t j = from; j < to; j++) {
        bool wanted = false;
        for (int k = 0; k < TL_PRESSURE_SIDES && owner[j] != me; k++)
            wanted |= w->nb[k][j] != w->none && owner[w->nb[k][j]] == me;
        if (wanted) list[n++] = (copy){owner[j], index[j], j};
    }
    qsort(list, (size_t)n, sizeof *list, by_owner);
    for (int32_t h = 0; h < n; h++) {
        q->part[before + h] = list[h].part;
        q->index[before + h] = list[h].index;
        local[list[h].cell] = q->p.none + 1 + before + h;
    }
    q->space.copies[colour] = n;
    tl_free(list);
}

static void fill_rows(tl_pressure_part *q, const int32_t *local)
{
    const tl_pressure *w = &q->of->p;
    for (int32_t i = 0; i < q->p.n; i++) {
        const int32_t g = q->global[i];
        memcpy(q->ijk[i], w->ijk[g], sizeof q->ijk[i]);
        for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
            q->nb[k][i] = w->nb[k][g] == w->none ? q->p.none : local[w->nb[k][g]];
            q->c[k][i] = w->c[k][g];
        }
        q->dir[i] = w->dir[g];
        q->ar[i] = w->ar[g];
        q->d[i] = w->d[g];
        q->b[i] = w->b[g];
    }
    for (int32_t j = 0; j < q->p.extras; j++) q->b[q->p.n + j] = w->b[w->n + j];
}

static void take(tl_pressure_part *q, int32_t n)
{
    const int32_t all = n + q->of->p.extras + 1, others = q->of->p.n + 1;
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        q->nb[k] = TL_NEW(int32_t, all);
        q->c[k] = TL_NEW(float, all);
    }
    q->global = TL_NEW(int32_t, all);
    q->ijk = tl_alloc(sizeof *q->ijk * (size_t)all);
    q->dir = TL_NEW(float, all);
    q->ar = TL_NEW(float, all);
    q->d = TL_NEW(double, all);
    q->b = TL_NEW(double, all);
    q->part = TL_NEW(int32_t, others);
    q->index = TL_NEW(int32_t, others);
}

static void attach(tl_pressure_part *q, int32_t red)
{
    const tl_pressure *w = &q->of->p;
    q->p.red = red;
    q->p.space = &q->space;
    q->p.ijk = (const int32_t(*)[3])q->ijk;
    q->p.dir = q->dir;
    q->p.ar = q->ar;
    q->p.d = q->d;
    q->p.b = q->b;
    q->p.unilateral = w->unilateral;
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        q->p.nb[k] = q->nb[k];
        q->p.c[k] = q->c[k];
    }
    q->space.part = q->part;
    q->space.index = q->index;
    if (!w->extra.add) return;
    q->p.extra = (tl_pressure_extra){.add = q->u ? add_columns : add_bodies, .ctx = q, .diag = w->extra.diag};
    if (!w->extra.columns) return;
    q->p.extra.columns = w->extra.columns;
    q->p.extra.gather = gather_columns;
    q->p.extra.scatter = scatter_columns;
}

const char *tl_pressure_part_make(tl_pressure_part *out, const tl_pressure_case *whole, tl_pressure_cut cut,
                                  const tl_comm *c)
{
    const tl_pressure *w = &whole->p;
    const double *u = out->u;
    const int32_t columns = out->columns;
    *out = (tl_pressure_part){.of = whole, .u = u, .columns = columns};
    int32_t *owner = TL_NEW(int32_t, w->n + 1), *local = TL_NEW(int32_t, w->n + 1), *index = TL_NEW(int32_t, w->n + 1);
    int32_t count[TL_COMM_PARTS_MAX] = {0}, red = 0, n = 0;
    deal(w, cut, c->parts, owner);
    for (int32_t i = 0; i < w->n; i++) index[i] = count[owner[i]]++;
    take(out, count[c->part]);
    for (int32_t i = 0; i < w->n; i++) {
        if (owner[i] != c->part) continue;
        local[i] = n;
        out->global[n++] = i;
        red += i < w->red;
    }
    out->p.n = n;
    out->p.extras = w->extras;
    out->p.none = n + w->extras + cut.gap;
    out->space = (tl_pressure_space){.comm = c, .together = cut.together};
    for (int colour = 0; colour < 2; colour++) list_copies(out, owner, local, index, colour);
    fill_rows(out, local);
    attach(out, red);
    tl_free(owner);
    tl_free(local);
    tl_free(index);
    talus_error err;
    return tl_pressure_space_plan(&out->space, n, &err) == TALUS_OK ? NULL : "no plan of halos";
}

void tl_pressure_part_free(tl_pressure_part *q)
{
    for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
        tl_free(q->nb[k]);
        tl_free(q->c[k]);
    }
    tl_free(q->global);
    tl_free(q->ijk);
    tl_free(q->dir);
    tl_free(q->ar);
    tl_free(q->d);
    tl_free(q->b);
    tl_free(q->part);
    tl_free(q->index);
}

void tl_pressure_part_scatter(const tl_pressure_part *q, const double *all, double *x)
{
    for (int32_t i = 0; i < q->p.n; i++) x[i] = all[q->global[i]];
    for (int32_t j = 0; j < q->p.extras; j++) x[q->p.n + j] = all[q->of->p.n + j];
}

void tl_pressure_part_gather(const tl_pressure_part *q, const double *x, double *all)
{
    const tl_comm *c = q->space.comm;
    const int64_t rows = q->of->p.n;
    int64_t bytes[TL_COMM_PARTS_MAX], n = q->p.n, count[TL_COMM_PARTS_MAX];
    tl_comm_share(c, sizeof n, &n, count);
    int32_t *number = TL_NEW(int32_t, rows + 1);
    double *value = TL_NEW(double, rows + 1);
    for (int32_t p = 0; p < c->parts; p++) bytes[p] = count[p] * (int64_t)sizeof *number;
    tl_comm_gather(c, bytes, q->global, number);
    for (int32_t p = 0; p < c->parts; p++) bytes[p] = count[p] * (int64_t)sizeof *value;
    tl_comm_gather(c, bytes, x, value);
    for (int64_t r = 0; r < rows; r++) all[number[r]] = value[r];
    for (int32_t j = 0; j < q->p.extras; j++) all[rows + j] = x[q->p.n + j];
    tl_free(number);
    tl_free(value);
}
