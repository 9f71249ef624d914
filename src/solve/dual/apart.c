#include "solve/dual/apart.h"

#include <math.h>
#include <string.h>

#include "solve/dual/work.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the pressure of a coupled problem");
}

typedef struct columns {
    const tl_dual_solver *s;
    double *x; /* [cells] 0 between calls */
} columns;

/* Solids answer cells that push them; the other columns are the stencil's. */
static void column(void *ctx, int32_t j, double *y)
{
    const columns *c = ctx;
    const tl_pressure *p = &c->s->work->problem[0];
    const tl_csr *Zt = c->s->p->Zt;
    if (Zt->start[j + 1] > Zt->start[j]) {
        c->x[j] = 1;
        tl_pressure_product(p, c->x, y);
        c->x[j] = 0;
        return;
    }
    memset(y, 0, sizeof *y * (size_t)p->n);
    y[j] = p->d[j];
    for (int k = 0; k < TL_PRESSURE_SIDES; k++)
        if (p->c[k][j] > 0) y[p->nb[k][j]] -= (double)p->c[k][j];
}

talus_status tl_dual_pressure_apart(tl_dual_solver *s, tl_boxqp *out, tl_csr *A, talus_error *err)
{
    tl_dual_work *w = s->work;
    const int32_t n = w->cells;
    columns c = {s, TL_TAKE_ZERO(s->arena, double, n + 1)};
    double *b = TL_TAKE(s->arena, double, n + 1), *diagonal = TL_TAKE(s->arena, double, n + 1);
    double *lo = TL_TAKE(s->arena, double, n + 1), *hi = TL_TAKE(s->arena, double, n + 1);
    *A = (tl_csr){0};
    if (!c.x || !b || !diagonal || !lo || !hi) return no_memory(err);
    TL_TRY(tl_csr_from_columns(A, n, n, column, &c, err));
    tl_dual_outflow(s, w->gap);
    tl_csr_mul(A, w->p, b);
    tl_csr_diagonal(A, diagonal);
    for (int32_t i = 0; i < n; i++) {
        b[i] -= s->p->per_g * w->gap[i];
        lo[i] = s->p->pressure.unilateral ? 0 : -INFINITY;
        hi[i] = INFINITY;
    }
    out->A = tl_linop_csr(A);
    out->b = b;
    out->lo = lo;
    out->hi = hi;
    out->diag = diagonal;
    return TALUS_OK;
}
