#include "model/coupling/viscous_soft.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "model/coupling/liquid.h"

#define SHEAR (16.0 / 3) /* sum of |2 a H^-1 b| over the six faces of a cell, for any of its rows a */
#define SWELL 6.0        /* and of its outflow */
/* Of these sums on the diagonal of the solids' preconditioner: sums bound what neighbours in the mesh do not feel
 * together. A ball of 3 cells, 20 Pa s, iterations of two steps with 1, 0.15, 0.02, 0.002: 224, 115, 79, 63 (1e7 Pa), 1207,
 * 727, 705, 809 (1e4 Pa) */
#define SHARE 0.02

static double volume_of(const tl_coupling *c) { return c->dx * c->dx * c->dx; }
static const tl_coupling *lists_of(const tl_viscous_soft *v) { return &v->stress->system->c; }

/* ---- products ---- */

/* [n] out += scale S^T (D s - h) of t->e, t->h; leaves the bracket in t->force. */
static void push_solids(const tl_viscous_soft *v, double scale, double *out)
{
    tl_viscous_on_solids(v->stress);
    tl_csr_mul_add(v->St, scale, v->stress->force, out);
}

static void product(const void *ctx, const double *x, double *out)
{
    const tl_viscous_soft *v = ctx;
    const tl_viscous_stress *t = v->stress;
    const tl_coupling *c = lists_of(v);
    const double *z = x + c->faces, *q = z + v->n;
    double *oz = out + c->faces, *oq = oz + v->n;
#pragma omp parallel for schedule(static) if (c->faces >= TL_PARALLEL_MIN)
    for (int32_t f = 0; f < c->faces; f++) c->y[f] = c->fluid[f] * x[f];
    tl_coupling_adjoint(c, c->y, oq);
    tl_csr_mul_add(v->Zt, -1, z, oq);
    tl_csr_mul_add(v->S, 1, z, c->y);
    tl_viscous_forces(t, x, c->y);
#pragma omp parallel for schedule(static) if (c->cells >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < c->cells; i++) t->q[i] = q[i] + t->bulk[i] * oq[i];
    v->inertia(v->ctx, z, oz);
    for (int64_t k = 0; k < v->n; k++) oz[k] /= volume_of(c);
    push_solids(v, c->dt, oz);
    tl_csr_mul_add(v->Z, -1, t->q, oz);
    tl_coupling_gradient(c, t->q, c->y);
#pragma omp parallel for schedule(static) if (c->faces >= TL_PARALLEL_MIN)
    for (int32_t f = 0; f < c->faces; f++)
        out[f] = c->mobility[f] > 0 ? c->fluid[f] * (x[f] / c->mobility[f] + c->y[f] + c->dt * t->force[f]) : 0;
    for (int32_t k = 0; k < t->holds; k++) out[t->held[k]] += c->dt * t->h[k];
}

/* y = (H + dx^3 dt S^T D 2 N D^T S) x */
static void solids_product(const void *ctx, const double *x, double *y)
{
    const tl_viscous_soft *v = ctx;
    const tl_viscous_stress *t = v->stress;
    const tl_coupling *c = lists_of(v);
    tl_csr_mul(v->S, x, c->y);
    tl_viscous_forces(t, NULL, c->y);
    v->inertia(v->ctx, x, y);
    push_solids(v, volume_of(c) * c->dt, y);
}

/* z = about its inverse times r */
static talus_status solids_inverse(const void *ctx, const double *r, double *z, talus_error *err)
{
    const tl_viscous_soft *v = ctx;
    const int64_t first = v->n - v->rigid;
    const double per = 1 / volume_of(lists_of(v));
    TL_TRY(v->inverse(v->ctx, r, z, err));
    tl_viscous_through_root(v->stress, true, r + first, v->z);
    for (int64_t b = 0; b < v->rigid / 6; b++) {
        double at[6];
        for (int i = 0; i < 6; i++) {
            at[i] = 0;
            for (int j = 0; j < 6; j++) at[i] += per * v->solid[36 * b + 6 * i + j] * v->z[6 * b + j];
        }
        memcpy(v->z + 6 * b, at, sizeof at);
    }
    tl_viscous_through_root(v->stress, false, v->z, z + first);
    return TALUS_OK;
}

/* ---- what a solve reads and writes ---- */

/* Strain stress of the velocities as they are: t->e. Outflow: g [cells]; NULL: not wanted. */
static void stress_at(const tl_viscous_soft *v, const double *dv, double *g)
{
    const tl_viscous_stress *t = v->stress;
    const tl_coupling *c = lists_of(v);
    for (int32_t f = 0; f < c->faces; f++) c->y[f] = c->fluid[f] * c->u[f];
    if (g) {
        tl_coupling_adjoint(c, c->y, g);
        for (int32_t i = 0; i < c->cells; i++) g[i] = v->outflow[i] - g[i];
        tl_csr_mul_add(v->Zt, 1, dv, g);
    }
    for (int32_t f = 0; f < c->faces; f++) c->y[f] += v->fixed[f];
    tl_csr_mul_add(v->S, 1, dv, c->y);
    tl_viscous_forces(t, c->u, c->y);
}

/* Right side of an increment. rest [n], N s: what solids lack of their balance with the stress in force. */
static void residual(const void *ctx, const double *dv, const double *rest, double *b)
{
    const tl_viscous_soft *v = ctx;
    const tl_viscous_stress *t = v->stress;
    const tl_coupling *c = lists_of(v);
    double *bz = b + c->faces, *bq = bz + v->n;
    stress_at(v, dv, bq);
    tl_viscous_balance(t, b);
    for (int64_t k = 0; k < t->system->stress.n; k++) t->e[k] -= t->s[k];
    for (int32_t k = 0; k < t->holds; k++) t->h[k] -= t->hold[k];
    for (int32_t i = 0; i < c->cells; i++) t->q[i] = t->bulk[i] * bq[i];
    for (int64_t k = 0; k < v->n; k++) bz[k] = rest[k] / volume_of(c);
    push_solids(v, -c->dt, bz);
    tl_csr_mul_add(v->Z, -1, t->q, bz);
    tl_coupling_gradient(c, t->q, c->y);
    for (int32_t f = 0; f < c->faces; f++) b[f] = c->mobility[f] > 0 ? c->fluid[f] * c->y[f] - b[f] : 0;
}

/* Velocities, stress and pressure with the increment x of the right side b. */
static void take(const void *ctx, const double *b, const double *x, double *p, double *dv)
{
    const tl_viscous_soft *v = ctx;
    const tl_viscous_stress *t = v->stress;
    const tl_coupling *c = lists_of(v);
    const double *z = x + c->faces, *q = z + v->n, *bq = b + c->faces + v->n;
    for (int32_t f = 0; f < c->faces; f++) c->y[f] = c->fluid[f] * x[f];
    tl_coupling_adjoint(c, c->y, t->q);
    tl_csr_mul_add(v->Zt, -1, z, t->q);
    /* what the bulk viscosity resists of the divergence that is left acts as a pressure, on liquid and bodies alike */
    for (int32_t i = 0; i < c->cells; i++) p[i] += (q[i] + t->bulk[i] * (t->q[i] - bq[i])) / c->dt;
    for (int32_t f = 0; f < c->faces; f++) c->u[f] += x[f];
    for (int64_t k = 0; k < v->n; k++) dv[k] += z[k];
}

/* The stress of the velocities as they are is in force. */
static void renew(const void *ctx, const double *dv)
{
    const tl_viscous_soft *v = ctx;
    stress_at(v, dv, NULL);
    tl_viscous_renew(v->stress);
}

/* Impulses of the stress in force on solids, N s. */
static void load(const void *ctx, double *out)
{
    const tl_viscous_soft *v = ctx;
    const tl_viscous_stress *t = v->stress;
    const tl_coupling *c = lists_of(v);
    memcpy(t->e, t->s, sizeof *t->e * (size_t)t->system->stress.n);
    memcpy(t->h, t->hold, sizeof *t->h * (size_t)t->holds);
    push_solids(v, -c->dt * volume_of(c), out);
}

static void unbalanced(const void *ctx, const double *dv, double *largest, double *error)
{
    const tl_viscous_soft *v = ctx;
    stress_at(v, dv, NULL);
    tl_viscous_judge(v->stress, largest, error);
}

/* ---- what viscosity adds to solids ---- */

/* Row of |D 2 N D^T| dt at a face of weight one, summed. */
static double row_sum(const tl_viscous_soft *v, int32_t f)
{
    const tl_viscous_stress *t = v->stress;
    const tl_stress *s = &t->system->stress;
    const tl_coupling *c = lists_of(v);
    const int32_t cell[2] = {c->low[f], c->high[f]};
    double sum = 0;
    for (int k = 0; k < 2; k++)
        if (cell[k] < c->cells) sum += SHEAR * c->dt * t->cell[cell[k]] + SWELL * t->bulk[cell[k]];
    for (int k = 0; k < 4; k++) {
        int32_t e = s->face_edge[k][f];
        if (e < s->edges) sum += 4 * c->dt * t->edge[e] * s->weight[e] * s->weight[e];
    }
    sum /= c->dx * c->dx;
    return t->hold_of[f] < 0 ? sum : sum + c->dt * t->grip[t->hold_of[f]];
}

/* Of a velocity of solids, in m: spins are compared with speeds at the radius of gyration. */
static double length_of(const tl_viscous_soft *v, int64_t k)
{
    const int64_t of_rigid = k - (v->n - v->rigid);
    return of_rigid < 0 || of_rigid % 6 < 3 ? 1 : v->gyration[of_rigid / 6];
}

/* Absolute row sums bound the eigenvalues where all unknowns have one unit. */
static void find_drag(tl_viscous_soft *v)
{
    const tl_coupling *c = lists_of(v);
    memset(v->drag, 0, sizeof *v->drag * (size_t)v->n);
    for (int32_t f = 0; f < c->faces; f++) {
        double all = 0;
        for (int64_t k = v->S->start[f]; k < v->S->start[f + 1]; k++)
            all += fabs(v->S->val[k]) / length_of(v, v->S->col[k]);
        if (!(all > 0)) continue;
        all *= SHARE * volume_of(c) * row_sum(v, f);
        for (int64_t k = v->S->start[f]; k < v->S->start[f + 1]; k++)
            v->drag[v->S->col[k]] += fabs(v->S->val[k]) * length_of(v, v->S->col[k]) * all;
    }
}

talus_status tl_viscous_soft_make(tl_dual_viscous *out, tl_viscous_soft *v, const double *p, tl_arena *a,
                                  talus_error *err)
{
    v->stress->p = p;
    v->z = TL_TAKE_ZERO(a, double, v->n + 1);
    v->drag = TL_TAKE(a, double, v->n + 1);
    if (!v->z || !v->drag) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for elastic bodies in a viscous liquid");
    *out = (tl_dual_viscous){.begin = tl_viscous_begin,
                             .liquid = v->stress,
                             .residual = residual,
                             .take = take,
                             .renew = renew,
                             .load = load,
                             .unbalanced = unbalanced,
                             .solids_product = solids_product,
                             .solids_inverse = solids_inverse,
                             .drag = v->drag,
                             .spacing = lists_of(v)->dx,
                             .volume = volume_of(lists_of(v)),
                             .ctx = v};
    TL_TRY(tl_viscous_problem(&out->problem, v->stress, a, err));
    v->solid = out->problem.solid;
    out->problem.others = v->n;
    out->problem.product = product;
    out->problem.ctx = v;
    find_drag(v);
    return TALUS_OK;
}
