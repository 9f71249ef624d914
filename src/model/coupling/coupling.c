#include "model/coupling/coupling.h"

#include <string.h>

#include "base/parallel.h"
#include "model/coupling/rigid_solid.h"

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the operators of a coupled step");
}

talus_status tl_coupling_make_room(tl_coupling *c, tl_arena *a, talus_error *err)
{
    c->u = TL_TAKE(a, double, c->faces);
    c->v = TL_TAKE(a, double, c->solid.n);
    c->y = TL_TAKE(a, double, c->faces);
    c->r = TL_TAKE(a, double, c->solid.n);
    c->dv = TL_TAKE(a, double, c->solid.n);
    return c->u && c->v && c->y && c->r && c->dv ? TALUS_OK : no_memory(err);
}

void tl_coupling_gradient(const tl_coupling *c, const double *p, double *y)
{
    const double per_dx = 1 / c->dx;
    const int32_t n = c->cells;
#pragma omp parallel for schedule(static) if (c->faces >= TL_PARALLEL_MIN)
    for (int32_t f = 0; f < c->faces; f++) {
        double high = c->high[f] != n ? p[c->high[f]] : 0, low = c->low[f] != n ? p[c->low[f]] : 0;
        y[f] = (high - low) * per_dx;
    }
}

void tl_coupling_adjoint(const tl_coupling *c, const double *y, double *out)
{
    const double per_dx = 1 / c->dx;
#pragma omp parallel for schedule(static) if (c->cells >= TL_PARALLEL_MIN / 2)
    for (int32_t i = 0; i < c->cells; i++) {
        const int32_t *f = c->face + 6 * (int64_t)i;
        out[i] = ((y[f[0]] - y[f[1]]) + (y[f[2]] - y[f[3]]) + (y[f[4]] - y[f[5]])) * per_dx;
    }
}

void tl_coupling_blend(const tl_coupling *c, double *y)
{
#pragma omp parallel for schedule(static) if (c->faces >= TL_PARALLEL_MIN)
    for (int32_t f = 0; f < c->faces; f++) y[f] = c->fluid[f] * c->u[f];
    if (c->solid.n) c->solid.sample(&c->solid, c->v, y);
}

void tl_coupling_push(tl_coupling *c, const double *f)
{
    const double dt = c->dt;
#pragma omp parallel for schedule(static) if (c->faces >= TL_PARALLEL_MIN)
    for (int32_t k = 0; k < c->faces; k++) c->u[k] -= dt * (c->mobility[k] * f[k]);
    if (!c->solid.n) return;
    c->solid.gather(&c->solid, f, c->r);
    c->solid.inverse_mass(&c->solid, c->r, c->dv);
    const double volume = c->dx * c->dx * c->dx;
    for (int64_t k = 0; k < c->solid.n; k++) c->v[k] -= dt * volume * c->dv[k];
}

void tl_coupling_pressure_gradient(const tl_coupling *c, double *g)
{
    tl_coupling_blend(c, c->y);
    tl_coupling_adjoint(c, c->y, g);
#pragma omp parallel for schedule(static) if (c->cells >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < c->cells; i++) g[i] = -g[i];
}

void tl_coupling_push_pressure(tl_coupling *c, const double *dp)
{
    tl_coupling_gradient(c, dp, c->y);
    tl_coupling_push(c, c->y);
}

/* ---- G^T J ---- */

typedef struct cell_bodies {
    int count;
    int32_t body[16];
    double val[16][6];
} cell_bodies;

/* Free bodies on the faces of a cell, rising. */
static void bodies_of_cell(const tl_coupling *c, const tl_rigid_solid *s, int32_t cell, cell_bodies *out)
{
    out->count = 0;
    for (int k = 0; k < 6; k++) {
        int32_t f = c->face[6 * (int64_t)cell + k];
        double sign = (k & 1 ? -1 : 1) / c->dx;
        for (int32_t i = s->first[f]; i < s->first[f + 1]; i++) {
            const tl_solid_row *r = &s->row[s->by_face[i]];
            if (!(s->inv_mass[r->body] > 0)) continue;
            int at = 0;
            while (at < out->count && out->body[at] < r->body) at++;
            if (at == out->count || out->body[at] != r->body) {
                if (out->count == 16) continue;
                for (int m = out->count++; m > at; m--) {
                    out->body[m] = out->body[m - 1];
                    memcpy(out->val[m], out->val[m - 1], sizeof out->val[m]);
                }
                out->body[at] = r->body;
                memset(out->val[at], 0, sizeof out->val[at]);
            }
            double *v = out->val[at];
            v[r->axis] += sign * r->weight;
            v[3] += sign * r->turn.x;
            v[4] += sign * r->turn.y;
            v[5] += sign * r->turn.z;
        }
    }
}

/* True when a face of the cell has rows. */
static bool touches(const tl_coupling *c, const int32_t *first, int32_t cell)
{
    const int32_t *f = c->face + 6 * (int64_t)cell;
    for (int k = 0; k < 6; k++)
        if (first[f[k] + 1] > first[f[k]]) return true;
    return false;
}

talus_status tl_body_cells_build(tl_body_cells *out, const tl_coupling *c, const tl_rigid_solid *s, tl_arena *a,
                                 talus_error *err)
{
    *out = (tl_body_cells){.bodies = s->bodies};
    const int32_t *first = s->first;
    out->first = TL_TAKE_ZERO(a, int32_t, (int64_t)s->bodies + 1);
    out->wet = TL_TAKE_ZERO(a, uint8_t, s->bodies);
    TL_TRY(tl_comm_agree(s->comm, out->first && out->wet ? TALUS_OK : no_memory(err), err));
    cell_bodies here;
    for (int32_t i = 0; i < c->cells; i++) {
        if (!touches(c, first, i)) continue;
        bodies_of_cell(c, s, i, &here);
        for (int k = 0; k < here.count; k++) out->first[here.body[k] + 1]++;
    }
    for (int32_t b = 0; b < s->bodies; b++) out->first[b + 1] += out->first[b];
    out->rows = out->first[s->bodies];
    out->cell = TL_TAKE(a, int32_t, out->rows);
    out->val = TL_TAKE(a, double, 6 * (int64_t)out->rows);
    out->blocks = TL_TAKE(a, double, 6 * ((int64_t)out->rows / TL_BODY_CELLS_BLOCK + 1));
    TL_TRY(tl_comm_agree(s->comm, out->cell && out->val && out->blocks ? TALUS_OK : no_memory(err), err));
    for (int32_t b = 0; b < s->bodies; b++) out->wet[b] = out->first[b + 1] > out->first[b];
    TL_TRY(tl_comm_any(s->comm, s->bodies, out->wet, a, err));
    for (int32_t i = 0; i < c->cells; i++) {
        if (!touches(c, first, i)) continue;
        bodies_of_cell(c, s, i, &here);
        for (int k = 0; k < here.count; k++) {
            int32_t at = out->first[here.body[k]]++;
            out->cell[at] = i;
            memcpy(out->val + 6 * (int64_t)at, here.val[k], 6 * sizeof *out->val);
        }
    }
    for (int32_t b = s->bodies; b > 0; b--) out->first[b] = out->first[b - 1];
    out->first[0] = 0;
    return TALUS_OK;
}

/* ---- rows ---- */

talus_status tl_coupling_rows(const tl_coupling *c, tl_csr *out, tl_arena *a, talus_error *err)
{
    const double scale = c->dt / (c->dx * c->dx);
    const int32_t n = c->cells;
    *out = (tl_csr){n, n, TL_TAKE(a, int64_t, (int64_t)n + 1), TL_TAKE(a, int32_t, 7 * (int64_t)n),
                    TL_TAKE(a, double, 7 * (int64_t)n)};
    if (!out->start || !out->col || !out->val) return no_memory(err);
    out->start[0] = 0;
    for (int32_t i = 0; i < n; i++) {
        int64_t begin = out->start[i], at = begin;
        double sum = 0;
        out->col[at] = i;
        at++;
        for (int k = 0; k < 6; k++) {
            int32_t f = c->face[6 * (int64_t)i + k], other = k & 1 ? c->high[f] : c->low[f];
            double h = scale * c->fluid[f] * c->mobility[f];
            if (other == i) continue; /* an axis of one cell */
            sum += h;
            if (other == n || !(h > 0)) continue;
            out->col[at] = other;
            out->val[at++] = -h;
        }
        out->val[begin] = sum > 0 ? sum : 1;
        /* columns rise; two faces to one cell (periodic axes of two cells) become one entry */
        for (int64_t k = begin + 1; k < at; k++)
            for (int64_t m = k; m > begin && out->col[m] < out->col[m - 1]; m--) {
                int32_t col = out->col[m];
                double val = out->val[m];
                out->col[m] = out->col[m - 1], out->val[m] = out->val[m - 1];
                out->col[m - 1] = col, out->val[m - 1] = val;
            }
        int64_t last = begin;
        for (int64_t k = begin + 1; k < at; k++) {
            if (out->col[k] == out->col[last])
                out->val[last] += out->val[k];
            else
                out->col[++last] = out->col[k], out->val[last] = out->val[k];
        }
        out->start[i + 1] = last + 1;
    }
    return TALUS_OK;
}
