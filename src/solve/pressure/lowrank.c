#include "solve/pressure/lowrank.h"

#include <string.h>

#include "base/sum.h"
#include "math/small_chol.h"
#include "solve/pressure/space.h"

#define SOFT                                                                                                           \
    1e-3 /* e, of the diagonal of an appended row: contacts beyond what bodies can move in make U U^T singular */

static double soft_part(const tl_lowrank *w) { return w->extra.rest > 0 ? w->extra.rest : SOFT; }

bool tl_lowrank_take(tl_lowrank *w, const tl_pressure *p, tl_arena *a)
{
    int64_t all = (int64_t)p->n + p->extras + 1, c = p->extra.columns;
    *w = (tl_lowrank){.comm = tl_pressure_comm(p->space), .n = p->n, .extras = p->extras, .columns = p->extra.columns};
    if (c == 0 || c > TL_LOWRANK_MAX) {
        w->columns = 0;
        return true;
    }
    w->C = TL_TAKE(a, double, c *c);
    w->K = TL_TAKE(a, double, c *c);
    w->rows = TL_TAKE(a, double, p->extras *c + 1);
    w->r = TL_TAKE(a, double, c);
    w->z = TL_TAKE(a, double, all);
    w->t = TL_TAKE(a, double, all);
    w->is_free = TL_TAKE(a, uint8_t, p->extras + 1);
    return w->C && w->K && w->rows && w->r && w->z && w->t && w->is_free;
}

/* t = column c of U */
static void column(const tl_lowrank *w, int32_t c)
{
    memset(w->r, 0, sizeof *w->r * (size_t)w->columns);
    memset(w->t, 0, sizeof *w->t * ((size_t)w->n + (size_t)w->extras));
    w->r[c] = 1;
    w->extra.scatter(w->extra.ctx, w->r, w->t);
}

void tl_lowrank_attach(tl_lowrank *w, const tl_pressure *p)
{
    w->extra = p->extra;
    w->made = w->aged = w->ready = false;
    if (!w->extras) return;
    for (int32_t c = 0; c < w->columns; c++) {
        column(w, c);
        for (int32_t j = 0; j < w->extras; j++) w->rows[(int64_t)j * w->columns + c] = w->t[w->n + j];
    }
}

void tl_lowrank_age(tl_lowrank *w) { w->aged = w->made; }

/* C: one application of V per column */
static void make_cells(tl_lowrank *w, const tl_pressure_precond *V)
{
    const int32_t n = w->columns;
    for (int32_t c = 0; c < n; c++) {
        column(w, c);
        double size = tl_comm_max(w->comm, tl_max_abs(w->n, w->t));
        memset(w->C + (int64_t)c * n, 0, sizeof *w->C * (size_t)n);
        if (!(size > 0)) continue;
        V->apply(V->ctx, w->t, size);
        V->direction(V->ctx, 0, w->z);
        memset(w->z + w->n, 0, sizeof *w->z * (size_t)w->extras);
        w->extra.gather(w->extra.ctx, w->z, w->C + (int64_t)c * n);
    }
}

int tl_lowrank_fit(tl_lowrank *w, const tl_pressure_precond *V)
{
    const int32_t n = w->columns;
    int applied = w->made ? 0 : n;
    if (!w->made) make_cells(w, V);
    w->made = true;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k <= i; k++) /* V is symmetric to single precision alone */
            w->K[(int64_t)i * n + k] = w->K[(int64_t)k * n + i] =
                0.5 * (w->C[(int64_t)i * n + k] + w->C[(int64_t)k * n + i]) + (i == k);
    for (int32_t j = 0; j < w->extras; j++) {
        if (!w->is_free[j]) continue;
        const double *u = w->rows + (int64_t)j * n, soft = 1 / (soft_part(w) * w->extra.diag[j]);
        for (int32_t i = 0; i < n; i++)
            if (u[i] != 0)
                for (int32_t k = 0; k < n; k++) w->K[(int64_t)i * n + k] += soft * u[i] * u[k];
    }
    w->ready = tl_small_chol(n, w->K);
    return applied;
}

int tl_lowrank_renew(tl_lowrank *w, const tl_pressure_precond *V)
{
    w->made = w->aged = false;
    return tl_lowrank_fit(w, V);
}

/* z = B t */
static void base(tl_lowrank *w, const tl_pressure_precond *V, const double *t, double size)
{
    V->apply(V->ctx, t, size);
    V->direction(V->ctx, 0, w->z);
    for (int32_t j = 0; j < w->extras; j++)
        w->z[w->n + j] = w->is_free[j] ? t[w->n + j] / (soft_part(w) * w->extra.diag[j]) : 0;
}

double tl_lowrank_apply(tl_lowrank *w, const tl_pressure_precond *V, const double *g, double size)
{
    const int64_t all = (int64_t)w->n + w->extras;
    base(w, V, g, size);
    w->extra.gather(w->extra.ctx, w->z, w->r);
    tl_small_chol_solve(w->columns, w->K, w->r);
    for (int32_t c = 0; c < w->columns; c++) w->r[c] = -w->r[c];
    memcpy(w->t, g, sizeof *g * (size_t)all);
    w->extra.scatter(w->extra.ctx, w->r, w->t);
    base(w, V, w->t, tl_comm_max(w->comm, tl_max_abs(w->n, w->t)));
    const bool counted = tl_comm_alone(w->comm) || w->comm->part == 0;
    return tl_comm_sum(w->comm, tl_dot(counted ? all : w->n, w->z, g));
}
