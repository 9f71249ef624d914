#include "base/alloc.h"
#include "base/sum.h"
#include "base/timer.h"
#include "solve/flex/inside.h"

static const tl_flex_route *const routes[] = {
    &tl_flex_schur, &tl_flex_schur_last, &tl_flex_g,    &tl_flex_g_scaled, &tl_flex_g_matfree, &tl_flex_nf, &tl_flex_ic,
    &tl_flex_ucg,   &tl_flex_ucg_mprgp,  &tl_flex_admm, &tl_flex_ica,      &tl_flex_sum,       NULL, /* end */
};

int tl_flex_route_count(void) { return (int)(sizeof routes / sizeof *routes) - 1; }
const tl_flex_route *tl_flex_route_at(int i) { return i >= 0 && i < tl_flex_route_count() ? routes[i] : NULL; }

const tl_flex_route *tl_flex_route_find(const char *name)
{
    for (int i = 0; routes[i]; i++)
        if (strcmp(routes[i]->name, name) == 0) return routes[i];
    return NULL;
}

talus_status tl_flex_no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for contacts of bodies that deform");
}

/* ---- what is kept ---- */

talus_status tl_flex_data_create(tl_flex_data **out, talus_error *err)
{
    *out = TL_NEW_ZERO(tl_flex_data, 1);
    return *out ? TALUS_OK : tl_flex_no_memory(err);
}

static void empty(tl_flex_data *k)
{
    for (int32_t b = 0; b < k->parts; b++) {
        tl_flex_roots *r = k->roots ? &k->roots[b] : NULL;
        if (r) {
            tl_csr *const matrices[] = {&r->Q, &r->Qt, &r->A, &r->N};
            for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) tl_csr_free(matrices[i]);
            tl_free(r->sigma);
            tl_free(r->weight);
            tl_precond_free(r->P);
            tl_factor_free(r->ldlt);
        }
        if (k->P) tl_precond_free(k->P[b]);
        if (k->H) tl_csr_free(&k->H[b]);
    }
    tl_precond_free(k->of_joint);
    tl_csr_free(&k->joint);
    tl_csr_free(&k->K);
    tl_factor_free(k->sum);
    tl_free(k->roots);
    tl_free(k->H);
    tl_free(k->P);
    *k = (tl_flex_data){0};
}

void tl_flex_data_free(tl_flex_data *k)
{
    if (!k) return;
    empty(k);
    tl_free(k);
}

talus_status tl_flex_data_fit(tl_flex_data *k, int32_t parts, talus_error *err)
{
    if (k->parts == parts && k->roots && k->H && k->P) return TALUS_OK;
    empty(k);
    k->parts = parts;
    k->roots = TL_NEW_ZERO(tl_flex_roots, parts + 1);
    k->H = TL_NEW_ZERO(tl_csr, parts + 1);
    k->P = TL_NEW_ZERO(tl_precond *, parts + 1);
    return k->roots && k->H && k->P ? TALUS_OK : tl_flex_no_memory(err);
}

talus_status tl_flex_whole(tl_csr *out, const tl_csr *lower, const double *diag, double share, talus_error *err)
{
    const int32_t n = lower->rows;
    if (!out->start) {
        TL_TRY(tl_csr_create(out, n, n, lower->start[n], err));
        memcpy(out->start, lower->start, sizeof *out->start * ((size_t)n + 1));
        memcpy(out->col, lower->col, sizeof *out->col * (size_t)lower->start[n]);
    }
    int64_t *next = TL_NEW(int64_t, n + 1);
    if (!next) return tl_flex_no_memory(err);
    /* entries beyond the diagonal of row j are met in rising order of their rows */
    for (int32_t i = 0; i < n; i++) {
        next[i] = lower->start[i];
        for (int64_t k = lower->start[i]; k < lower->start[i + 1] && lower->col[k] <= i; k++) {
            int32_t j = lower->col[k];
            out->val[k] = lower->val[k] - (diag && i == j ? share * diag[i] : 0);
            if (j == i) next[i] = k + 1;
            if (j < i) out->val[next[j]++] = lower->val[k];
        }
    }
    tl_free(next);
    return TALUS_OK;
}

/* ---- linear algebra ---- */

talus_status tl_flex_factor_solve(const tl_flex *p, const double *b, double *x, talus_error *err)
{
    if (x != b) memcpy(x, b, sizeof *x * (size_t)tl_flex_size(p));
    for (int32_t k = 0; k < p->parts; k++)
        TL_TRY(tl_factor_solve(p->part[k].factor, 1, x + p->part[k].first, x + p->part[k].first, err));
    tl_flex_rigid_inverse(p, x);
    return TALUS_OK;
}

bool tl_flex_cg_take(tl_flex_cg *cg, int64_t n, tl_arena *a)
{
    cg->n = n;
    cg->r = TL_TAKE(a, double, n + 1);
    cg->z = TL_TAKE(a, double, n + 1);
    cg->d = TL_TAKE(a, double, n + 1);
    cg->q = TL_TAKE(a, double, n + 1);
    return cg->r && cg->z && cg->d && cg->q;
}

int tl_flex_cg_run(tl_flex_cg *cg, const double *b, double *x, double eta, int max, tl_work *w)
{
    const int64_t n = cg->n;
    memset(x, 0, sizeof *x * (size_t)n);
    memcpy(cg->r, b, sizeof *b * (size_t)n);
    cg->precond(cg->ctx, cg->r, cg->z);
    memcpy(cg->d, cg->z, sizeof *cg->d * (size_t)n);
    double rz = tl_dot(n, cg->r, cg->z), goal = eta * eta * rz;
    int k = 0;
    while (k < max && rz > goal && rz > 0) {
        cg->apply(cg->ctx, cg->d, cg->q);
        w->products++;
        k++;
        double curvature = tl_dot(n, cg->d, cg->q), a = rz / curvature;
        if (!(curvature > 0)) break;
        for (int64_t i = 0; i < n; i++) {
            x[i] += a * cg->d[i];
            cg->r[i] -= a * cg->q[i];
        }
        cg->precond(cg->ctx, cg->r, cg->z);
        double next = tl_dot(n, cg->r, cg->z), share = next / rz;
        rz = next;
        for (int64_t i = 0; i < n; i++) cg->d[i] = cg->z[i] + share * cg->d[i];
    }
    w->preconds += k + 1;
    return k;
}

/* ---- a solve ---- */

talus_status tl_flex_begin(tl_flex_solver *s, const tl_flex_route *route, tl_flex_data *kept, const tl_flex *p,
                           tl_arena *a, talus_error *err)
{
    *s = (tl_flex_solver){.route = route, .kept = kept, .p = p, .arena = a};
    for (int32_t b = 0; b < p->parts; b++) {
        if ((route->needs & TL_FLEX_FACTOR) && !p->part[b].factor)
            return TL_FAIL(err, TALUS_BAD_INPUT, "route \"%s\" needs a factor of each part", route->name);
        if ((route->needs & TL_FLEX_ROOTS) && !p->part[b].roots)
            return TL_FAIL(err, TALUS_BAD_INPUT, "route \"%s\" needs roots of each part's stiffness", route->name);
    }
    return route->begin ? route->begin(s, err) : TALUS_OK;
}

talus_status tl_flex_solve(tl_flex_solver *s, bool fresh, bool certify, const tl_stop *stop, double *lam, double *dv,
                           tl_flex_report *r, talus_error *err)
{
    *r = (tl_flex_report){.outcome = {.result = TL_CONVERGED}};
    double began = tl_seconds();
    if (fresh && s->route->matrix) TL_TRY(s->route->matrix(s, r, err));
    double made = tl_seconds();
    TL_TRY(s->route->solve(s, stop, lam, dv, r, err));
    r->prepare += made - began; /* besides what the route has made itself */
    r->seconds = tl_seconds() - began - r->prepare;
    if (!certify) return TALUS_OK;
    TL_TRY(tl_flex_certify(s->p, lam, dv, &r->certificate, s->arena, err));
    if (r->outcome.result == TL_CONVERGED && !(s->route->needs & TL_FLEX_OTHER_H) &&
        !(r->certificate.residual <= 10 * stop->tolerance))
        r->outcome.result = TL_STALLED;
    return TALUS_OK;
}
