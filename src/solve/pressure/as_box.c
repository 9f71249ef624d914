#include "solve/pressure/as_box.h"

#include <math.h>

#include "base/radix.h"
#include "solve/pressure/key.h"

#define PLACE (((uint64_t)1 << 60) - 1) /* of a key, without its colour */

static talus_status no_memory(int32_t n, talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a pressure solve of %d cells as a box", n);
}

/* Unknowns of the box are those of the problem with cells in lexicographic order, which incomplete factors want: box
 * unknown r is unknown order[r], and row[order[r]] = r. */
typedef struct box {
    const tl_pressure *p;
    int32_t all;
    int32_t *order, *row; /* [all] */
    double *x, *y;        /* [all] in the problem's order */
    tl_csr S;
} box;

static void gather(const box *q, const double *from, double *to)
{
    for (int32_t r = 0; r < q->all; r++) to[r] = from[q->order[r]];
}

static void scatter(const box *q, const double *from, double *to)
{
    for (int32_t r = 0; r < q->all; r++) to[q->order[r]] = from[r];
}

static void product(const tl_linop *A, const double *x, double *y)
{
    const box *q = A->ctx;
    scatter(q, x, q->x);
    tl_pressure_product(q->p, q->x, q->y);
    gather(q, q->y, y);
}

static bool number(box *q, tl_arena *a)
{
    const tl_pressure *p = q->p;
    q->order = TL_TAKE(a, int32_t, q->all);
    q->row = TL_TAKE(a, int32_t, q->all);
    q->x = TL_TAKE(a, double, q->all);
    q->y = TL_TAKE(a, double, q->all);
    size_t mark = tl_arena_mark(a);
    uint64_t *key = TL_TAKE(a, uint64_t, 2 * (int64_t)p->n);
    int32_t *spare = TL_TAKE(a, int32_t, p->n);
    if (!q->order || !q->row || !q->x || !q->y || !key || !spare) return false;
    for (int32_t i = 0; i < q->all; i++) q->order[i] = i;
    for (int32_t i = 0; i < p->n; i++) key[i] = tl_cell_key(p->ijk[i][0], p->ijk[i][1], p->ijk[i][2]) & PLACE;
    tl_radix_sort(p->n, key, q->order, key + p->n, spare);
    for (int32_t r = 0; r < q->all; r++) q->row[q->order[r]] = r;
    tl_arena_release(a, mark);
    return true;
}

/* A row's entries by column. */
static void put(const tl_csr *S, int64_t begin, int64_t *end, int32_t col, double val)
{
    int64_t at = (*end)++;
    for (; at > begin && S->col[at - 1] > col; at--) {
        S->col[at] = S->col[at - 1];
        S->val[at] = S->val[at - 1];
    }
    S->col[at] = col;
    S->val[at] = val;
}

static double diagonal(const tl_pressure *p, int32_t i) { return i < p->n ? p->d[i] : p->extra.diag[i - p->n]; }

/* The 7-point matrix, and the diagonal of what bodies append. */
static bool write_rows(box *q, tl_arena *a)
{
    const tl_pressure *p = q->p;
    const int64_t max = (TL_PRESSURE_SIDES + 1) * (int64_t)q->all;
    q->S = (tl_csr){.rows = q->all,
                    .cols = q->all,
                    .start = TL_TAKE(a, int64_t, (int64_t)q->all + 1),
                    .col = TL_TAKE(a, int32_t, max),
                    .val = TL_TAKE(a, double, max)};
    if (!q->S.start || !q->S.col || !q->S.val) return false;
    int64_t end = q->S.start[0] = 0;
    for (int32_t r = 0; r < q->all; r++) {
        const int64_t begin = end;
        const int32_t i = q->order[r];
        put(&q->S, begin, &end, r, diagonal(p, i));
        for (int k = 0; k < TL_PRESSURE_SIDES && i < p->n; k++)
            if (p->c[k][i] > 0) put(&q->S, begin, &end, q->row[p->nb[k][i]], -(double)p->c[k][i]);
        q->S.start[r + 1] = end;
    }
    return true;
}

/* Bounds, diagonal and right side. */
static bool write_box(const box *q, tl_boxqp *out, tl_arena *a)
{
    const tl_pressure *p = q->p;
    double *lo = TL_TAKE(a, double, q->all), *hi = TL_TAKE(a, double, q->all), *diag = TL_TAKE(a, double, q->all);
    double *b = TL_TAKE(a, double, q->all);
    if (!lo || !hi || !diag || !b) return false;
    for (int32_t r = 0; r < q->all; r++) {
        lo[r] = r >= p->n || p->unilateral ? 0 : -INFINITY;
        hi[r] = INFINITY;
        diag[r] = diagonal(p, q->order[r]);
    }
    gather(q, p->b, b);
    out->lo = lo;
    out->hi = hi;
    out->diag = diag;
    out->b = b;
    return true;
}

talus_status tl_pressure_as_box(const tl_boxqp_method *m, const tl_pressure *p, const tl_stop *stop, double *x,
                                tl_arena *a, tl_work *work, tl_outcome *out, talus_error *err)
{
    box q = {.p = p, .all = p->n + p->extras};
    const tl_space space = tl_space_local(q.all);
    tl_boxqp problem = {.space = &space};
    tl_options o = tl_options_default();
    size_t mark = tl_arena_mark(a);
    double *v = TL_TAKE(a, double, q.all);
    if (!v || !number(&q, a) || !write_rows(&q, a) || !write_box(&q, &problem, a)) return no_memory(p->n, err);
    problem.A = p->extra.add ? (tl_linop){.apply = product, .ctx = &q} : tl_linop_csr(&q.S);
    TL_TRY(tl_precond_create(&o.precond, tl_precond_find("mic"), &q.S, err));
    talus_status status = tl_arena_reserve(a, m->bytes(&problem, &o), err);
    if (status == TALUS_OK) {
        gather(&q, x, v);
        *out = m->run(&problem, &o, stop, v, a, work);
        scatter(&q, v, x);
    }
    tl_precond_free(o.precond);
    tl_arena_release(a, mark);
    return status;
}
