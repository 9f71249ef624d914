#include "solve/pressure/algebraic.h"

#include "base/sum.h"
#include "solve/pressure/space.h"

#define ENTRIES (1 + TL_PRESSURE_SIDES) /* of a row */
#define MAX_OUTER 200

/* Number of a cell or copy over all parts. */
static int64_t number(const tl_pressure *p, const int64_t *first, int32_t j)
{
    const int32_t h = j - p->none - 1;
    return h < 0 ? first[p->space->comm->part] + j : first[p->space->part[h]] + p->space->index[h];
}

static void write_pattern(const tl_pressure *p, int64_t *row, int64_t *col, int64_t *entries)
{
    int64_t first[TL_COMM_PARTS_MAX], count[TL_COMM_PARTS_MAX], own = p->n, at = 0;
    tl_comm_share(p->space->comm, sizeof own, &own, count);
    for (int32_t q = 0; q < p->space->comm->parts; q++) {
        first[q] = at;
        at += count[q];
    }
    *entries = 0;
    for (int32_t i = 0; i < p->n; i++)
        for (int k = -1; k < TL_PRESSURE_SIDES; k++) {
            const int32_t j = k < 0 ? i : p->nb[k][i];
            if (j == p->none) continue;
            row[*entries] = number(p, first, i);
            col[(*entries)++] = number(p, first, j);
        }
}

talus_status tl_algebraic_take(tl_algebraic *s, const char *solver, const tl_pressure *p, tl_arena *a, talus_error *err)
{
    const int64_t all = ENTRIES * (int64_t)p->n;
    *s = (tl_algebraic){.ops = p->space->comm->algebra};
    s->values = TL_TAKE(a, double, all);
    s->r = TL_TAKE(a, double, p->n);
    s->z = TL_TAKE(a, double, p->n);
    s->is_free = TL_TAKE(a, uint8_t, tl_pressure_length(p));
    size_t mark = tl_arena_mark(a);
    int64_t *row = TL_TAKE(a, int64_t, all), *col = TL_TAKE(a, int64_t, all), entries;
    talus_status status = TALUS_OK;
    if (!s->values || !s->r || !s->z || !s->is_free || !row || !col)
        status = TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the matrix of %d cells", p->n);
    TL_TRY(tl_comm_agree(p->space->comm, status, err));
    write_pattern(p, row, col, &entries);
    s->solver = s->ops->make(p->space->comm, solver, &(tl_algebra_pattern){p->n, entries, row, col});
    tl_arena_release(a, mark);
    return TALUS_OK;
}

void tl_algebraic_attach(tl_algebraic *s, const tl_pressure *p, bool rebuild)
{
    s->p = p;
    s->rebuild = rebuild;
    s->set = false;
}

/* The matrix of the free cells, and the diagonal of the others: none has a place of its own. */
static void write_values(tl_algebraic *s, bool whole)
{
    const tl_pressure *p = s->p;
    int64_t at = 0;
    for (int32_t i = 0; i < p->n; i++) {
        s->values[at++] = p->d[i];
        for (int k = 0; k < TL_PRESSURE_SIDES; k++) {
            const int32_t j = p->nb[k][i];
            if (j != p->none) s->values[at++] = whole || (s->is_free[i] && s->is_free[j]) ? -(double)p->c[k][i] : 0;
        }
    }
    s->ops->set(s->solver, s->values);
    s->set = true;
}

static bool fit(void *ctx, const tl_pressure_free *f)
{
    tl_algebraic *s = ctx;
    const tl_pressure *p = s->p;
    bool changed = !s->set;
    for (int32_t i = 0; i < p->n; i++) {
        const bool is = tl_pressure_is_free(f, i);
        changed |= is != s->is_free[i];
        s->is_free[i] = is;
    }
    changed = tl_comm_max(p->space->comm, changed) > 0;
    if (!changed || (s->set && !s->rebuild)) return false;
    tl_pressure_get_both(p->space, sizeof *s->is_free, s->is_free, p->none);
    write_values(s, !s->rebuild);
    return true;
}

static double apply(void *ctx, const double *g, double size)
{
    tl_algebraic *s = ctx;
    const tl_pressure *p = s->p;
    (void)size;
    for (int32_t i = 0; i < p->n; i++) s->r[i] = s->is_free[i] ? g[i] : 0;
    s->ops->apply(s->solver, s->r, s->z);
    for (int32_t i = 0; i < p->n; i++)
        if (!s->is_free[i]) s->z[i] = 0;
    return tl_comm_sum(p->space->comm, tl_dot(p->n, s->z, g));
}

static void direction(void *ctx, double beta, double *out)
{
    const tl_algebraic *s = ctx;
    for (int32_t i = 0; i < s->p->n; i++) out[i] = beta == 0 ? s->z[i] : s->z[i] + beta * out[i];
}

tl_pressure_precond tl_algebraic_precond(tl_algebraic *s) { return (tl_pressure_precond){s, fit, apply, direction}; }

tl_outcome tl_algebraic_bounded(tl_algebraic *s, double lo, double target, const tl_stop *stop, double *x, tl_work *w)
{
    const tl_pressure *p = s->p;
    write_values(s, true);
    const int max = stop->max_iterations ? stop->max_iterations : MAX_OUTER;
    const tl_algebra_told told = s->ops->bounded(s->solver, p->b, lo, target, max, x);
    w->outer += told.outer;
    w->preconds += told.inner;
    w->products += told.inner + told.outer;
    for (int32_t i = 0; i < p->n; i++) x[i] = x[i] > lo ? x[i] : lo;
    return (tl_outcome){told.good ? TL_CONVERGED : TL_STALLED, told.outer, told.residual / target * stop->tolerance};
}
