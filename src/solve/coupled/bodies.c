/* Bodies in the Hessian of the field, and what contacts do to them. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "solve/coupled/work.h"

/* ---- G^T J ---- */

static void gather_block(const tl_body_cells *b, const double *p, int32_t begin, int32_t end, double out[6])
{
    memset(out, 0, 6 * sizeof *out);
    for (int32_t i = begin; i < end; i++)
        for (int k = 0; k < 6; k++) out[k] += b->val[6 * (int64_t)i + k] * p[b->cell[i]];
}

/* Forces on wet bodies, of all parts. */
static void add_up_parts(const tl_coupled *c, double *r)
{
    double *sums = c->work->sums;
    int64_t n = 0;
    for (int32_t k = 0; k < c->wet.bodies; k++)
        if (c->wet.wet[k]) memcpy(sums + 6 * n++, r + 6 * (int64_t)k, 6 * sizeof *r);
    tl_comm_sums(tl_coupled_comm(c), 6 * n, sums);
    n = 0;
    for (int32_t k = 0; k < c->wet.bodies; k++)
        if (c->wet.wet[k]) memcpy(r + 6 * (int64_t)k, sums + 6 * n++, 6 * sizeof *r);
}

/* r [6 bodies] = (G^T J)^T p */
static void gather_cells(const tl_coupled *c, const double *p, double *r)
{
    const tl_body_cells *b = &c->wet;
    for (int32_t k = 0; k < b->bodies; k++) {
        int32_t begin = b->first[k], end = b->first[k + 1],
                blocks = (end - begin + TL_BODY_CELLS_BLOCK - 1) / TL_BODY_CELLS_BLOCK;
#pragma omp parallel for schedule(static) if (blocks > 4)
        for (int32_t j = 0; j < blocks; j++) {
            int32_t from = begin + j * TL_BODY_CELLS_BLOCK,
                    to = from + TL_BODY_CELLS_BLOCK < end ? from + TL_BODY_CELLS_BLOCK : end;
            gather_block(b, p, from, to, b->blocks + 6 * (int64_t)j);
        }
        double *out = r + 6 * (int64_t)k;
        memset(out, 0, 6 * sizeof *out);
        for (int32_t j = 0; j < blocks; j++)
            for (int i = 0; i < 6; i++) out[i] += b->blocks[6 * (int64_t)j + i];
    }
    if (tl_coupled_comm(c)) add_up_parts(c, r);
}

/* y [cells] += scale G^T J z */
static void add_cells(const tl_body_cells *b, double scale, const double *z, double *y)
{
    for (int32_t k = 0; k < b->bodies; k++) {
        const double *t = z + 6 * (int64_t)k;
#pragma omp parallel for schedule(static) if (b->first[k + 1] - b->first[k] >= TL_PARALLEL_MIN / 4)
        for (int32_t i = b->first[k]; i < b->first[k + 1]; i++) {
            const double *v = b->val + 6 * (int64_t)i;
            y[b->cell[i]] +=
                scale * ((v[0] * t[0] + v[1] * t[1] + v[2] * t[2]) + (v[3] * t[3] + v[4] * t[4] + v[5] * t[5]));
        }
    }
}

/* ---- the part of bodies and normal forces in the Hessian ---- */

/* dv = M^-1 r of all bodies */
static void accelerate(const tl_coupled *c, const double *r, double *dv)
{
    for (int32_t b = 0; b < c->bodies.count; b++) {
        const double *I = c->bodies.inv_inertia + 9 * (int64_t)b, *f = r + 6 * (int64_t)b;
        double *o = dv + 6 * (int64_t)b;
        for (int k = 0; k < 3; k++) {
            o[k] = c->bodies.inv_mass[b] * f[k];
            o[3 + k] = I[3 * k] * f[3] + I[3 * k + 1] * f[4] + I[3 * k + 2] * f[5];
        }
    }
}

/* y += E x, x = (q, lambda): impulses on bodies, what they do to velocities, what those compress and close. */
static void add_bodies(const void *ctx, const double *x, double *y, int32_t normals)
{
    const tl_coupled *c = ctx;
    const tl_coupled_work *w = c->work;
    const tl_csr *J = c->bodies.J;
    gather_cells(c, x, w->r);
    for (int64_t k = 0; k < 6 * (int64_t)w->bodies; k++) w->r[k] *= -c->impulse;
    for (int32_t j = 0; j < normals; j++)
        for (int64_t k = J->start[3 * (int64_t)j]; k < J->start[3 * (int64_t)j + 1]; k++)
            w->r[J->col[k]] += J->val[k] * w->scale[j] * x[w->n + j];
    accelerate(c, w->r, w->dv);
    add_cells(&c->wet, -c->per_g, w->dv, y);
    for (int32_t j = 0; j < normals; j++) {
        double u = 0;
        for (int64_t k = J->start[3 * (int64_t)j]; k < J->start[3 * (int64_t)j + 1]; k++)
            u += J->val[k] * w->dv[J->col[k]];
        y[w->n + j] += c->per_u * w->scale[j] * u;
    }
}

void tl_coupled_add_alone(const void *ctx, const double *x, double *y) { add_bodies(ctx, x, y, 0); }
void tl_coupled_add_with_normals(const void *ctx, const double *x, double *y)
{
    add_bodies(ctx, x, y, ((const tl_coupled *)ctx)->work->points);
}

/* ---- the same as U U^T. Without contacts it would cost more than it saves, unless bodies are a hundred times
 * lighter than the field ---- */

/* out = L t or L^T t of a body, L L^T = per_u M^-1 */
void tl_coupled_through_root(const tl_coupled_work *w, int32_t b, bool transposed, const double *t, double out[6])
{
    const double *L = w->root + 10 * (int64_t)b;
    for (int k = 0; k < 3; k++) {
        out[k] = L[9] * t[k];
        out[3 + k] = 0;
        for (int m = 0; m < 3; m++) out[3 + k] += (transposed ? L[3 * m + k] : L[3 * k + m]) * t[3 + m];
    }
}

static void gather(const void *ctx, const double *x, double *r, int32_t normals)
{
    const tl_coupled *c = ctx;
    const tl_coupled_work *w = c->work;
    const tl_csr *J = c->bodies.J;
    gather_cells(c, x, w->r);
    for (int64_t k = 0; k < 6 * (int64_t)w->bodies; k++) w->r[k] *= -c->impulse;
    for (int32_t j = 0; j < normals; j++)
        for (int64_t k = J->start[3 * (int64_t)j]; k < J->start[3 * (int64_t)j + 1]; k++)
            w->r[J->col[k]] += J->val[k] * w->scale[j] * x[w->n + j];
    for (int32_t k = 0; k < w->moving; k++)
        tl_coupled_through_root(w, w->mover[k], true, w->r + 6 * (int64_t)w->mover[k], r + 6 * (int64_t)k);
}

static void scatter(const void *ctx, const double *r, double *y, int32_t normals)
{
    const tl_coupled *c = ctx;
    const tl_coupled_work *w = c->work;
    const tl_csr *J = c->bodies.J;
    memset(w->dv, 0, sizeof *w->dv * 6 * (size_t)w->bodies);
    for (int32_t k = 0; k < w->moving; k++)
        tl_coupled_through_root(w, w->mover[k], false, r + 6 * (int64_t)k, w->dv + 6 * (int64_t)w->mover[k]);
    add_cells(&c->wet, -c->impulse, w->dv, y);
    for (int32_t j = 0; j < normals; j++) {
        double u = 0;
        for (int64_t k = J->start[3 * (int64_t)j]; k < J->start[3 * (int64_t)j + 1]; k++)
            u += J->val[k] * w->dv[J->col[k]];
        y[w->n + j] += w->scale[j] * u;
    }
}

void tl_coupled_gather(const void *ctx, const double *x, double *r)
{
    gather(ctx, x, r, ((const tl_coupled *)ctx)->work->points);
}
void tl_coupled_scatter(const void *ctx, const double *r, double *y)
{
    scatter(ctx, r, y, ((const tl_coupled *)ctx)->work->points);
}
void tl_coupled_gather_alone(const void *ctx, const double *x, double *r) { gather(ctx, x, r, 0); }
void tl_coupled_scatter_alone(const void *ctx, const double *r, double *y) { scatter(ctx, r, y, 0); }

/* Lower factor of a 3x3 matrix; columns of axes that do not turn are 0. */
static void root3(const double *A, double scale, double L[9])
{
    memset(L, 0, 9 * sizeof *L);
    for (int j = 0; j < 3; j++) {
        double d = scale * A[4 * j];
        for (int k = 0; k < j; k++) d -= L[3 * j + k] * L[3 * j + k];
        if (!(d > 1e-12 * scale * A[4 * j])) continue;
        L[4 * j] = sqrt(d);
        for (int i = j + 1; i < 3; i++) {
            double sum = scale * A[3 * i + j];
            for (int k = 0; k < j; k++) sum -= L[3 * i + k] * L[3 * j + k];
            L[3 * i + j] = sum / L[4 * j];
        }
    }
}

static bool in_contact(const tl_coupled *c, int32_t b)
{
    const tl_csr *J = c->bodies.J;
    for (int64_t k = 0; k < J->start[J->rows]; k++)
        if (J->col[k] / 6 == b) return true;
    return false;
}

/* Free bodies that touch the field or another body, and their roots. */
static void find_movers(tl_coupled *c)
{
    tl_coupled_work *w = c->work;
    for (int32_t b = 0; b < w->bodies; b++) {
        if (!(c->bodies.inv_mass[b] > 0)) continue;
        if (!c->wet.wet[b] && !in_contact(c, b)) continue;
        root3(c->bodies.inv_inertia + 9 * (int64_t)b, c->per_u, w->root + 10 * (int64_t)b);
        w->root[10 * (int64_t)b + 9] = sqrt(c->per_u * c->bodies.inv_mass[b]);
        w->mover[w->moving++] = b;
    }
}

/* Diagonal of E: cells at free bodies, then normal forces. */
static void fill_diagonal(tl_coupled *c)
{
    tl_coupled_work *w = c->work;
    const tl_body_cells *wet = &c->wet;
    memset(w->diag, 0, sizeof *w->diag * (size_t)w->n);
    for (int32_t b = 0; b < wet->bodies; b++)
        for (int32_t i = wet->first[b]; i < wet->first[b + 1]; i++) {
            const double *v = wet->val + 6 * (int64_t)i, *I = c->bodies.inv_inertia + 9 * (int64_t)b;
            double sum = c->bodies.inv_mass[b] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
            for (int k = 0; k < 3; k++) sum += v[3 + k] * (I[3 * k] * v[3] + I[3 * k + 1] * v[4] + I[3 * k + 2] * v[5]);
            w->diag[wet->cell[i]] += c->per_g * c->impulse * sum;
        }
    for (int32_t j = 0; j < w->points; j++) {
        double W = c->contact.blocks[9 * (int64_t)j];
        w->scale[j] = sqrt(TL_COUPLED_LAMBDA_DIAGONAL / (c->per_u * W));
        w->diag[w->n + j] = TL_COUPLED_LAMBDA_DIAGONAL;
    }
    for (int32_t j = w->points; j < w->m; j++) {
        const double *W = c->contact.blocks + 9 * (int64_t)j, max = fmax(W[0], fmax(W[4], W[8]));
        w->scale[j] = max > 0 ? sqrt(TL_COUPLED_LAMBDA_DIAGONAL / (c->per_u * max)) : 1;
    }
}

/* ---- velocities ---- */

/* v += M^-1 J^T dl of the contacts */
void tl_coupled_push_contacts(tl_coupled *c, const double *dl)
{
    tl_coupled_work *w = c->work;
    const tl_csr *J = c->bodies.J;
    memset(w->r, 0, sizeof *w->r * 6 * (size_t)w->bodies);
    for (int32_t i = 0; i < J->rows; i++)
        if (dl[i] != 0)
            for (int64_t k = J->start[i]; k < J->start[i + 1]; k++) w->r[J->col[k]] += J->val[k] * dl[i];
    accelerate(c, w->r, w->dv);
    for (int64_t k = 0; k < 6 * (int64_t)w->bodies; k++) c->v[k] += w->dv[k];
}

double tl_coupled_largest_row(const double *u, int32_t m, int first, int last)
{
    double max = 0;
    for (int32_t j = 0; j < m; j++)
        for (int k = first; k <= last; k++) max = fmax(max, fabs(u[3 * (int64_t)j + k]));
    return max;
}

void tl_coupled_find_bodies(tl_coupled *c)
{
    fill_diagonal(c);
    find_movers(c);
}
