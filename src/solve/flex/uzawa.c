/* Routes "ucg" and "ucg-mprgp": (I + B^T W B) t = B^T J H^-1 r by conjugate gradients with W = J H^-1 J^T never
 * written out, then x = H^-1 (r - J^T B t). H^-1 by a factor, or by conjugate gradients of its own, to a thousandth
 * of what the outer ones want. */
#include "base/sum.h"
#include "solve/flex/inside.h"

#define INNER_SHARE 1e-3
#define INNER_LEAST 1e-14
#define MOST 2000

typedef struct uzawa {
    const tl_flex *p;
    tl_flex_data *kept; /* NULL: factors */
    const double *B;
    const int32_t *rank;
    tl_flex_cg cg, *inner;                              /* inner [parts] */
    double *push, *x, *lam, *t, *right, *diag, *blocks; /* [n + 6 rigid]; the rest [3 contacts] and blocks of them */
    double *D;
    double eta;
    int32_t part;
    tl_flex_report *report;
    talus_error *err;
    talus_status status;
} uzawa;

/* ---- H^-1 ---- */

static void apply_part(void *ctx, const double *x, double *y)
{
    uzawa *s = ctx;
    tl_csr_mul(&s->kept->H[s->part], x, y);
}

static void precond_part(void *ctx, const double *r, double *z)
{
    uzawa *s = ctx;
    tl_work none = {0};
    tl_precond_apply(s->kept->P[s->part], s->kept->H[s->part].rows, r, z, &none);
}

static void inverse(uzawa *s, const double *b, double *x)
{
    if (s->status != TALUS_OK) return;
    if (!s->kept) {
        s->status = tl_flex_factor_solve(s->p, b, x, s->err);
        return;
    }
    for (int32_t k = 0; k < s->p->parts; k++) {
        int64_t first = s->p->part[k].first;
        tl_work work = {0};
        s->part = k;
        s->report->inner += tl_flex_cg_run(&s->inner[k], b + first, x + first, s->eta, MOST, &work);
    }
    memcpy(x + s->p->n, b + s->p->n, 6 * sizeof *x * (size_t)s->p->rigid);
    tl_flex_rigid_inverse(s->p, x);
}

/* ---- the system of contacts ---- */

/* lam = B t, unused columns give nothing. */
static void spread(const uzawa *s, const double *t, double *lam)
{
    for (int64_t c = 0; c < s->p->contacts; c++)
        for (int k = 0; k < 3; k++) {
            lam[3 * c + k] = 0;
            for (int e = 0; e < s->rank[c]; e++) lam[3 * c + k] += s->B[9 * c + 3 * e + k] * t[3 * c + e];
        }
}

static void gather(const uzawa *s, const double *u, double *t)
{
    for (int64_t c = 0; c < s->p->contacts; c++)
        for (int e = 0; e < 3; e++) {
            double sum = 0;
            for (int k = 0; k < 3 && e < s->rank[c]; k++) sum += s->B[9 * c + 3 * e + k] * u[3 * c + k];
            t[3 * c + e] = sum;
        }
}

static void apply(void *ctx, const double *t, double *y)
{
    uzawa *s = ctx;
    spread(s, t, s->lam);
    tl_csr_mul(s->p->Jt, s->lam, s->push);
    inverse(s, s->push, s->x);
    tl_csr_mul(s->p->J, s->x, s->lam);
    gather(s, s->lam, y);
    for (int64_t i = 0; i < s->cg.n; i++) y[i] += t[i];
}

static void precond(void *ctx, const double *r, double *z)
{
    const uzawa *s = ctx;
    for (int64_t i = 0; i < s->cg.n; i++) z[i] = r[i] / s->diag[i];
}

static talus_status linear(void *ctx, const double *B, const int32_t *rank, const double *r, double eta, double *x,
                           tl_flex_report *report, talus_error *err)
{
    uzawa *s = ctx;
    s->B = B;
    s->rank = rank;
    s->report = report;
    s->err = err;
    s->status = TALUS_OK;
    s->eta = fmax(INNER_LEAST, INNER_SHARE * eta);
    if (s->p->contacts > 0) {
        for (int64_t c = 0; c < s->p->contacts; c++)
            for (int e = 0; e < 3; e++) {
                const double *b = B + 9 * c + 3 * e, *W = s->blocks + 9 * c;
                double sum = 1;
                for (int i = 0; i < 3 && e < rank[c]; i++)
                    for (int j = 0; j < 3; j++) sum += b[i] * W[3 * i + j] * b[j];
                s->diag[3 * c + e] = sum;
            }
        inverse(s, r, s->x);
        report->work.products++;
        tl_csr_mul(s->p->J, s->x, s->lam);
        gather(s, s->lam, s->right);
        tl_flex_cg_run(&s->cg, s->right, s->t, eta, MOST, &report->work);
        spread(s, s->t, s->lam);
        tl_csr_mul(s->p->Jt, s->lam, s->push);
        for (int64_t i = 0; i < tl_flex_size(s->p); i++) s->push[i] = r[i] - s->push[i];
        inverse(s, s->push, x);
    } else {
        inverse(s, r, x);
    }
    report->work.products++;
    return s->status;
}

static talus_status prepare(tl_flex_solver *s, tl_flex_report *r, talus_error *err)
{
    (void)r;
    TL_TRY(tl_flex_data_fit(s->kept, s->p->parts, err));
    for (int32_t k = 0; k < s->p->parts; k++) {
        TL_TRY(tl_flex_whole(&s->kept->H[k], s->p->part[k].H, NULL, 0, err));
        tl_precond_free(s->kept->P[k]); /* an update would keep the entries of the first H of the run */
        s->kept->P[k] = NULL;
        TL_TRY(tl_precond_create(&s->kept->P[k], tl_precond_find("ssor"), &s->kept->H[k], err));
    }
    return TALUS_OK;
}

static talus_status solve(tl_flex_solver *s, const tl_stop *stop, double *lam, double *dv, tl_flex_report *r,
                          talus_error *err)
{
    const tl_flex *p = s->p;
    const int64_t n = tl_flex_size(p), m = p->contacts;
    size_t mark = tl_arena_mark(s->arena);
    bool nested = !(s->route->needs & TL_FLEX_FACTOR);
    uzawa u = {.p = p,
               .kept = nested ? s->kept : NULL,
               .cg = {.apply = apply, .precond = precond},
               .inner = TL_TAKE_ZERO(s->arena, tl_flex_cg, p->parts + 1),
               .push = TL_TAKE_ZERO(s->arena, double, n + 1),
               .x = TL_TAKE_ZERO(s->arena, double, n + 1),
               .lam = TL_TAKE(s->arena, double, 3 * m + 1),
               .t = TL_TAKE(s->arena, double, 3 * m + 1),
               .right = TL_TAKE(s->arena, double, 3 * m + 1),
               .diag = TL_TAKE(s->arena, double, 3 * m + 1),
               .blocks = TL_TAKE(s->arena, double, 9 * m + 1),
               .D = TL_TAKE(s->arena, double, n + 1)};
    bool ok = tl_flex_cg_take(&u.cg, 3 * m, s->arena) && u.inner && u.push && u.x && u.lam && u.t && u.right &&
              u.diag && u.blocks && u.D;
    u.cg.ctx = &u;
    for (int32_t k = 0; k < p->parts && ok && nested; k++) {
        u.inner[k] = (tl_flex_cg){.ctx = &u, .apply = apply_part, .precond = precond_part};
        ok = tl_flex_cg_take(&u.inner[k], p->part[k].H->rows, s->arena);
    }
    if (!ok) return tl_flex_no_memory(err);
    tl_flex_diagonal(p, u.D);
    if (m > 0) tl_flex_blocks(p, u.D, u.blocks);
    tl_flex_linear way = {.ctx = &u, .solve = linear};
    TL_TRY(tl_flex_newton(p, &way, stop, lam, dv, s->arena, r, err));
    tl_arena_release(s->arena, mark);
    r->unknowns = 3 * m;
    for (int32_t k = 0; k < p->parts; k++)
        r->nonzeros +=
            nested ? p->part[k].H->start[p->part[k].H->rows] : 2 * tl_factor_info_of(p->part[k].factor)->nonzeros;
    return TALUS_OK;
}

const tl_flex_route tl_flex_ucg = {
    "ucg", "conjugate gradients on the compliance, solves with a factor inside", TL_FLEX_FACTOR, NULL, NULL, solve};
const tl_flex_route tl_flex_ucg_mprgp = {
    "ucg-mprgp", "conjugate gradients on the compliance, conjugate gradients inside", 0, NULL, prepare, solve};

/* ---- ICA ---- */

#define ICA_MAX 5000
#define SWEEPS_MAX 30 /* of contacts between two solves of the bodies; they end when nothing moves any more */

/* Rows of a joint one after the other: l changes by d. */
static void sweep_box(const tl_contact_box *box, const double *W, double v[3], double *l, double d[3])
{
    for (int k = 0; k < 3; k++) {
        const double x = l[k] - (v[k] + box->give[k] * l[k]) / (W[4 * k] + box->give[k]);
        d[k] = tl_contact_clamp(x, box->lo[k], box->hi[k]) - l[k];
        l[k] += d[k];
        for (int i = 0; i < 3; i++) v[i] += W[3 * i + k] * d[k];
    }
}

/* Sweeps over contacts with M in place of H: y = M^-1 J^T (change of lam) is kept up to date. Returns the largest
 * change, m/s. */
static double sweep(const tl_flex *p, const double *inverse_mass, const double *blocks, const double *u, double *y,
                    double *lam, double *turn)
{
    const tl_csr *J = p->J;
    double max = 0;
    for (int64_t c = 0; c < p->contacts; c++) {
        double w_n, w_t, v[3], *l = lam + 3 * c;
        const tl_contact_box *box = tl_flex_box(p, c);
        tl_contact_scales(blocks + 9 * c, &w_n, &w_t);
        for (int k = 0; k < 3; k++) {
            v[k] = u[3 * c + k];
            for (int64_t e = J->start[3 * c + k]; e < J->start[3 * c + k + 1]; e++) v[k] += J->val[e] * y[J->col[e]];
        }
        double n = fmax(0, l[0] - w_n * v[0]), radius = p->mu[c] * n, d[3] = {n - l[0]};
        double t[2] = {l[1] - w_t * (v[1] + blocks[9 * c + 3] * d[0]), l[2] - w_t * (v[2] + blocks[9 * c + 6] * d[0])};
        if (p->law == TL_FLEX_PYRAMID)
            t[0] = tl_flex_clamp(t[0], radius), t[1] = tl_flex_clamp(t[1], radius);
        else
            tl_project_disc(radius, t);
        d[1] = t[0] - l[1], d[2] = t[1] - l[2];
        if (box)
            sweep_box(box, blocks + 9 * c, v, l, d);
        else
            l[0] = n, l[1] = t[0], l[2] = t[1];
        for (int k = 0; k < 3; k++) {
            if (d[k] == 0) continue;
            max = fmax(max, fabs(d[k]) / fmin(w_n, w_t));
            for (int64_t e = J->start[3 * c + k]; e < J->start[3 * c + k + 1]; e++) {
                int64_t at = J->col[e];
                if (at < p->n)
                    y[at] += inverse_mass[at] * J->val[e] * d[k];
                else
                    turn[at - p->n] += J->val[e] * d[k];
            }
        }
        /* rigid ends: their six velocities anew */
        for (int k = 0; k < 3; k++)
            for (int64_t e = J->start[3 * c + k]; e < J->start[3 * c + k + 1]; e++) {
                int64_t b = (J->col[e] - p->n) / 6;
                if (J->col[e] < p->n || (J->col[e] - p->n) % 6 != 0) continue;
                const double *I = p->inv_inertia + 9 * b, *f = turn + 6 * b;
                for (int i = 0; i < 3; i++) {
                    y[p->n + 6 * b + i] = p->inv_mass[b] * f[i];
                    y[p->n + 6 * b + 3 + i] = I[3 * i] * f[3] + I[3 * i + 1] * f[4] + I[3 * i + 2] * f[5];
                }
            }
    }
    return max;
}

static talus_status ica(tl_flex_solver *s, const tl_stop *stop, double *lam, double *dv, tl_flex_report *r,
                        talus_error *err)
{
    const tl_flex *p = s->p;
    const int64_t n = tl_flex_size(p), m = p->contacts;
    size_t mark = tl_arena_mark(s->arena);
    double *mass = TL_TAKE(s->arena, double, n + 1), *push = TL_TAKE_ZERO(s->arena, double, n + 1),
           *y = TL_TAKE(s->arena, double, n + 1), *u = TL_TAKE(s->arena, double, 3 * m + 1),
           *blocks = TL_TAKE(s->arena, double, 9 * m + 1), *turn = TL_TAKE(s->arena, double, 6 * (int64_t)p->rigid + 1);
    if (!mass || !push || !y || !u || !blocks || !turn) return tl_flex_no_memory(err);
    for (int32_t k = 0; k < p->parts; k++)
        memcpy(mass + p->part[k].first, p->part[k].mass, sizeof *mass * (size_t)p->part[k].H->rows);
    if (m > 0) tl_flex_blocks(p, mass, blocks);
    for (int64_t i = 0; i < p->n; i++) mass[i] = 1 / mass[i];
    int max = stop->max_iterations > 0 ? stop->max_iterations : ICA_MAX;
    r->outcome = (tl_outcome){.result = TL_OUT_OF_ITERATIONS};
    while (r->outcome.result == TL_OUT_OF_ITERATIONS && r->outcome.iterations < max && !tl_cancelled()) {
        /* bodies under the impulses there are */
        if (m > 0) tl_csr_mul(p->Jt, lam, push);
        for (int64_t i = 0; i < p->n; i++) push[i] = (m > 0 ? push[i] : 0) - p->g[i];
        TL_TRY(tl_flex_factor_solve(p, push, dv, err));
        r->work.products++;
        r->outcome.iterations++;
        if (m == 0) {
            r->outcome.result = TL_CONVERGED;
            break;
        }
        tl_csr_mul(p->J, dv, u);
        double worst = 0;
        for (int64_t c = 0; c < m; c++) {
            double w_n, w_t;
            tl_contact_scales(blocks + 9 * c, &w_n, &w_t);
            for (int k = 0; k < 3; k++) u[3 * c + k] += p->c[3 * c + k];
            const tl_contact_box *box = tl_flex_box(p, c);
            double e = box ? tl_contact_box_residual(box, blocks + 9 * c, u + 3 * c, lam + 3 * c)
                           : tl_flex_residual(p->law, p->mu[c], w_n, w_t, u + 3 * c, lam + 3 * c);
            if (!(e <= worst)) worst = isfinite(e) ? e : INFINITY;
        }
        r->outcome.residual = worst;
        tl_work_record(&r->work, worst);
        if (worst <= stop->tolerance) r->outcome.result = TL_CONVERGED;
        if (!isfinite(worst)) r->outcome.result = TL_BROKE_DOWN;
        if (r->outcome.result != TL_OUT_OF_ITERATIONS) break;
        memset(y, 0, sizeof *y * (size_t)n);
        memset(turn, 0, 6 * sizeof *turn * (size_t)p->rigid);
        for (int k = 0; k < SWEEPS_MAX; k++) {
            r->inner++;
            if (sweep(p, mass, blocks, u, y, lam, turn) <= 0.01 * worst) break;
        }
    }
    tl_arena_release(s->arena, mark);
    r->unknowns = n;
    for (int32_t k = 0; k < p->parts; k++) r->nonzeros += 2 * tl_factor_info_of(p->part[k].factor)->nonzeros;
    return TALUS_OK;
}

const tl_flex_route tl_flex_ica = {
    "ica", "contacts with masses alone and bodies with their stiffness, in turns", TL_FLEX_FACTOR, NULL, NULL, ica};
