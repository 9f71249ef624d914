/* What solids add to the matrix of the pressure: products, the diagonal that goes to the preconditioner, and modes. */
#include <math.h>
#include <string.h>

#include "math/small_chol.h"
#include "solve/dual/work.h"
#include "solve/flex/inside.h"

#define ROW (TL_DUAL_MODES * TL_DUAL_MODES)

/* r = Y x: impulses of pressures and normal forces on solids. */
static void impulses(const tl_dual_solver *s, const double *x, int32_t normals, double *r)
{
    const tl_dual_work *w = s->work;
    const tl_csr *J = s->p->flex->J;
    tl_csr_mul(s->p->Z, x, r);
    for (int64_t i = 0; i < w->n; i++) r[i] *= s->p->impulse;
    for (int32_t j = 0; j < normals; j++)
        for (int64_t k = J->start[3 * (int64_t)j]; k < J->start[3 * (int64_t)j + 1]; k++)
            r[J->col[k]] += J->val[k] * w->scale[j] * x[w->cells + j];
}

/* y += scale Y^T v */
static void answers(const tl_dual_solver *s, double scale, const double *v, int32_t normals, double *y)
{
    const tl_dual_work *w = s->work;
    const tl_csr *J = s->p->flex->J;
    tl_csr_mul_add(s->p->Zt, scale * s->p->impulse, v, y);
    for (int32_t j = 0; j < normals; j++) {
        double u = 0;
        for (int64_t k = J->start[3 * (int64_t)j]; k < J->start[3 * (int64_t)j + 1]; k++) u += J->val[k] * v[J->col[k]];
        y[w->cells + j] += scale * w->scale[j] * u;
    }
}

/* y += per_u Y^T H^-1 Y x, less the diagonal that S has of it. */
static void add(const tl_dual_solver *s, const double *x, int32_t normals, double *y)
{
    tl_dual_work *w = s->work;
    talus_error why = {0};
    impulses(s, x, normals, w->r);
    talus_status status = tl_flex_factor_solve(s->p->flex, w->r, w->w, &why);
    if (status != TALUS_OK && w->failed == TALUS_OK) w->failed = status, w->why = why;
    answers(s, s->p->per_u, w->w, normals, y);
    for (int32_t i = 0; i < w->cells; i++) y[i] -= w->share[i] * x[i];
}

void tl_dual_add_alone(const void *ctx, const double *x, double *y) { add(ctx, x, 0, y); }
void tl_dual_add_with_normals(const void *ctx, const double *x, double *y)
{
    add(ctx, x, ((const tl_dual_solver *)ctx)->work->contacts, y);
}

/* ---- modes ---- */

/* t = R^T r of a part or rigid body */
static void project(const tl_dual_solver *s, int32_t part, const double *r, double t[TL_DUAL_MODES])
{
    const tl_flex *f = s->p->flex;
    memset(t, 0, TL_DUAL_MODES * sizeof *t);
    if (part >= f->parts) {
        memcpy(t, r + f->n + 6 * (int64_t)(part - f->parts), 6 * sizeof *t);
        return;
    }
    const int64_t first = f->part[part].first;
    for (int64_t i = first; i < first + f->part[part].H->rows; i++)
        for (int k = 0; k < TL_DUAL_MODES; k++) t[k] += s->p->modes[TL_DUAL_MODES * i + k] * r[i];
}

/* v = R t of it; v is 0 elsewhere */
static void expand(const tl_dual_solver *s, int32_t part, const double t[TL_DUAL_MODES], double *v)
{
    const tl_flex *f = s->p->flex;
    if (part >= f->parts) {
        memcpy(v + f->n + 6 * (int64_t)(part - f->parts), t, 6 * sizeof *t);
        return;
    }
    const int64_t first = f->part[part].first;
    for (int64_t i = first; i < first + f->part[part].H->rows; i++) {
        double sum = 0;
        for (int k = 0; k < TL_DUAL_MODES; k++) sum += s->p->modes[TL_DUAL_MODES * i + k] * t[k];
        v[i] = sum;
    }
}

/* t = L^-1 t */
static void forward(const double *L, double *t)
{
    for (int i = 0; i < TL_DUAL_MODES; i++) {
        for (int k = 0; k < i; k++) t[i] -= L[TL_DUAL_MODES * i + k] * t[k];
        t[i] /= L[TL_DUAL_MODES * i + i];
    }
}

/* t = L^-T t */
static void backward(const double *L, double *t)
{
    for (int i = TL_DUAL_MODES - 1; i >= 0; i--) {
        for (int k = i + 1; k < TL_DUAL_MODES; k++) t[i] -= L[TL_DUAL_MODES * k + i] * t[k];
        t[i] /= L[TL_DUAL_MODES * i + i];
    }
}

static void gather(const tl_dual_solver *s, const double *x, int32_t normals, double *r)
{
    const tl_dual_work *w = s->work;
    const double root = sqrt(s->p->per_u);
    impulses(s, x, normals, w->r);
    memset(r, 0, sizeof *r * (size_t)w->columns_max);
    for (int32_t k = 0; k < w->columns / TL_DUAL_MODES; k++) {
        double *t = r + TL_DUAL_MODES * k;
        project(s, w->part[k], w->r, t);
        forward(w->inner + ROW * (int64_t)k, t);
        for (int i = 0; i < TL_DUAL_MODES; i++) t[i] *= root;
    }
}

static void scatter(const tl_dual_solver *s, const double *r, int32_t normals, double *y)
{
    const tl_dual_work *w = s->work;
    memset(w->w, 0, sizeof *w->w * (size_t)w->n);
    for (int32_t k = 0; k < w->columns / TL_DUAL_MODES; k++) {
        double t[TL_DUAL_MODES];
        memcpy(t, r + TL_DUAL_MODES * k, sizeof t);
        backward(w->inner + ROW * (int64_t)k, t);
        expand(s, w->part[k], t, w->w);
    }
    answers(s, sqrt(s->p->per_u), w->w, normals, y);
}

void tl_dual_gather_alone(const void *ctx, const double *x, double *r) { gather(ctx, x, 0, r); }
void tl_dual_gather(const void *ctx, const double *x, double *r)
{
    gather(ctx, x, ((const tl_dual_solver *)ctx)->work->contacts, r);
}
void tl_dual_scatter_alone(const void *ctx, const double *r, double *y) { scatter(ctx, r, 0, y); }
void tl_dual_scatter(const void *ctx, const double *r, double *y)
{
    scatter(ctx, r, ((const tl_dual_solver *)ctx)->work->contacts, y);
}

/* R^T H R of a part as L L^T; false: it has no such modes. */
static bool factor_modes(const tl_dual_solver *s, int32_t part, double *L)
{
    const tl_dual_work *w = s->work;
    for (int k = 0; k < TL_DUAL_MODES; k++) {
        double t[TL_DUAL_MODES] = {0}, column[TL_DUAL_MODES];
        t[k] = 1;
        memset(w->w, 0, sizeof *w->w * (size_t)w->n);
        expand(s, part, t, w->w);
        tl_flex_product(s->p->flex, w->w, w->r);
        project(s, part, w->r, column);
        for (int i = 0; i < TL_DUAL_MODES; i++) L[TL_DUAL_MODES * i + k] = column[i];
    }
    return tl_small_chol(TL_DUAL_MODES, L);
}

/* Whether a solid feels pressure or touches something. */
static bool is_met(const tl_dual_solver *s, int64_t from, int64_t to)
{
    const tl_csr *Z = s->p->Z, *Jt = s->p->flex->Jt;
    if (Z->start[to] > Z->start[from]) return true;
    return s->work->contacts > 0 && Jt->start[to] > Jt->start[from];
}

static void find_modes(tl_dual_solver *s)
{
    tl_dual_work *w = s->work;
    const tl_flex *f = s->p->flex;
    int32_t count = 0;
    for (int32_t k = 0; k < f->parts + f->rigid; k++) {
        bool rigid = k >= f->parts;
        int64_t from = rigid ? f->n + 6 * (int64_t)(k - f->parts) : f->part[k].first,
                to = rigid ? from + 6 : from + f->part[k].H->rows;
        if (rigid && !(f->inv_mass[k - f->parts] > 0)) continue;
        if (to > from && is_met(s, from, to) && factor_modes(s, k, w->inner + ROW * (int64_t)count))
            w->part[count++] = k;
    }
    w->columns = TL_DUAL_MODES * count;
}

/* ---- diagonals ---- */

/* Of Y^T diag(H)^-1 Y: cells, then contacts. */
static void find_diagonals(tl_dual_solver *s)
{
    tl_dual_work *w = s->work;
    const tl_dual *p = s->p;
    const tl_csr *Zt = p->Zt, *J = p->flex->J;
    tl_flex_diagonal(p->flex, w->D);
    for (int64_t i = 0; p->viscous && i < w->n; i++) w->D[i] += p->viscous->drag[i];
    for (int32_t i = 0; i < w->cells; i++) {
        double sum = 0;
        for (int64_t k = Zt->start[i]; k < Zt->start[i + 1]; k++) sum += Zt->val[k] * Zt->val[k] / w->D[Zt->col[k]];
        float added = (float)(p->per_g * p->impulse * sum);
        w->dir[i] = p->pressure.dir[i] + added;
        w->share[i] = (double)w->dir[i] - (double)p->pressure.dir[i];
        w->own[i] = (float)w->share[i];
        w->d[i] = p->pressure.d[i] + w->share[i];
    }
    for (int32_t j = 0; j < w->contacts; j++) {
        double sum = 0;
        for (int64_t k = J->start[3 * (int64_t)j]; k < J->start[3 * (int64_t)j + 1]; k++)
            sum += J->val[k] * J->val[k] / w->D[J->col[k]];
        w->scale[j] = sqrt(TL_DUAL_NORMAL_DIAGONAL / (p->per_u * sum));
        w->normal[j] = TL_DUAL_NORMAL_DIAGONAL;
    }
}

void tl_dual_fit(tl_dual_solver *s)
{
    find_diagonals(s);
    if (!s->p->viscous) find_modes(s);
}
