/* Routes "schur" and "schur-last": W of the contacts that may push is written out; the rest is only watched, and
 * joins when the answer would close it. */
#include "base/timer.h"
#include "math/blas.h"
#include "math/dense.h"
#include "solve/contact/dense.h"
#include "solve/flex/inside.h"

#define ROWS_MAX 12000 /* of a dense W: 1.2 GB */

typedef struct schur {
    int32_t active, *pick;             /* contacts that may push: how many, which; rising */
    bool *wanted;                      /* [contacts] */
    double *lam, *q, *W, *blocks, *mu; /* of those, with room for some more; of joints W has what they give */
    tl_contact_box *box;               /* [boxes] their bounds */
    int64_t room;
    double *u, *v_free, *push; /* [3 contacts]; [n + 6 rigid] */
    tl_contact_dense dense;
    tl_contact_slope slope;
    tl_contact problem;
    tl_space space;
    bool fresh; /* H is new */
} schur;

static talus_status begin(tl_flex_solver *s, talus_error *err)
{
    const int64_t m = s->p->contacts, n = tl_flex_size(s->p);
    if (s->p->law == TL_FLEX_STICKY)
        return TL_FAIL(err, TALUS_UNSUPPORTED, "route \"%s\" has no sticky contacts", s->route->name);
    schur *d = s->data = TL_TAKE_ZERO(s->arena, schur, 1);
    if (!d) return tl_flex_no_memory(err);
    d->pick = TL_TAKE(s->arena, int32_t, m + 1);
    d->wanted = TL_TAKE(s->arena, bool, m + 1);
    d->u = TL_TAKE(s->arena, double, 3 * m + 1);
    d->v_free = TL_TAKE(s->arena, double, n + 1);
    d->push = TL_TAKE(s->arena, double, n + 1);
    d->box = TL_TAKE(s->arena, tl_contact_box, s->p->boxes + 1);
    return d->pick && d->wanted && d->u && d->v_free && d->push && d->box ? TALUS_OK : tl_flex_no_memory(err);
}

/* Room for m contacts. What was there before stays in the arena. */
static talus_status make_room(tl_flex_solver *s, int64_t m, talus_error *err)
{
    schur *d = s->data;
    if (d->room >= m) return TALUS_OK;
    int64_t room = m + m / 8 + 4, n = 3 * room;
    if (3 * m > ROWS_MAX)
        return TL_FAIL(err, TALUS_UNSUPPORTED,
                       "%lld contacts of elastic bodies push in one step, at most %d are possible", (long long)m,
                       ROWS_MAX / 3);
    d->mu = TL_TAKE(s->arena, double, room);
    d->lam = TL_TAKE(s->arena, double, n);
    d->q = TL_TAKE(s->arena, double, n);
    d->W = TL_TAKE(s->arena, double, n *n);
    d->blocks = TL_TAKE(s->arena, double, 3 * n);
    d->slope.lu = TL_TAKE(s->arena, double, n *n);
    d->slope.swap = TL_TAKE(s->arena, int32_t, n);
    if (!d->mu || !d->lam || !d->q || !d->W || !d->blocks || !d->slope.lu || !d->slope.swap)
        return tl_flex_no_memory(err);
    d->room = room;
    return TALUS_OK;
}

/* Joints, and contacts that push or whose velocities u are below `near`; active ones stay so, unless `anew`. */
static int32_t choose(const tl_flex_solver *s, const double *lam, const double *u, double near, bool anew)
{
    schur *d = s->data;
    int32_t count = 0, old = 0;
    for (int32_t c = 0; c < s->p->contacts; c++) {
        bool was = old < d->active && d->pick[old] == c;
        old += was;
        d->wanted[c] =
            c >= s->p->contacts - s->p->boxes || (was && !anew) || lam[3 * (int64_t)c] > 0 || u[3 * (int64_t)c] < near;
    }
    for (int32_t c = 0; c < s->p->contacts; c++)
        if (d->wanted[c]) d->pick[count++] = c;
    return count;
}

static talus_status assemble(tl_flex_solver *s, int32_t count, talus_error *err)
{
    schur *d = s->data;
    TL_TRY(make_room(s, count, err));
    const int64_t n = 3 * (int64_t)count;
    d->active = count;
    d->space = tl_space_local(n);
    d->slope.factored = false;
    d->dense = (tl_contact_dense){n, d->W, &d->slope};
    d->problem = (tl_contact){
        .space = &d->space, .W = tl_contact_dense_linop(&d->dense), .blocks = d->blocks, .q = d->q, .mu = d->mu};
    if (count == 0) return TALUS_OK;
    TL_TRY(tl_blas_reserve(err)); /* for the factors of W, which cannot fail */
    for (int32_t k = 0; k < count; k++) d->mu[k] = s->p->mu[d->pick[k]];
    TL_TRY(tl_flex_compliance(s->p, count, d->pick, d->W, s->arena, err));
    for (int32_t b = 0; b < s->p->boxes; b++)
        for (int k = 0; k < 3; k++) {
            double *diagonal = &d->W[(3 * (count - s->p->boxes + b) + k) * (n + 1)];
            *diagonal = *diagonal > 0 ? *diagonal + s->p->box[b].give[k] : 1;
        }
    for (int64_t c = 0; c < count; c++)
        for (int k = 0; k < 9; k++) d->blocks[9 * c + k] = d->W[(3 * c + k / 3) * n + 3 * c + k % 3];
    return TALUS_OK;
}

static void velocities(const tl_flex *p, const double *dv, double *u)
{
    tl_csr_mul(p->J, dv, u);
    for (int64_t i = 0; i < 3 * (int64_t)p->contacts; i++) u[i] += p->c[i];
}

static void set_bounds(schur *d, const tl_flex *p)
{
    for (int32_t b = 0; b < p->boxes; b++) {
        d->box[b] = p->box[b];
        for (int k = 0; k < 3; k++) d->box[b].give[k] = 0; /* which W has */
    }
    d->problem.box = d->box;
    d->problem.boxes = p->boxes;
}

static talus_status solve_active(tl_flex_solver *s, const tl_stop *stop, double *lam, tl_flex_report *r,
                                 talus_error *err)
{
    schur *d = s->data;
    const int64_t m = d->active;
    for (int64_t k = 0; k < m; k++) memcpy(d->lam + 3 * k, lam + 3 * (int64_t)d->pick[k], 3 * sizeof *lam);
    memset(lam, 0, 3 * sizeof *lam * (size_t)s->p->contacts);
    set_bounds(d, s->p);
    if (m == 0) return TALUS_OK;
    velocities(s->p, d->v_free, d->u);
    for (int64_t k = 0; k < m; k++) memcpy(d->q + 3 * k, d->u + 3 * (int64_t)d->pick[k], 3 * sizeof *lam);
    tl_options options = tl_options_default();
    options.history = r->work.history;
    tl_contact_report solved;
    const tl_contact_method *method = s->p->law == TL_FLEX_CONE ? &tl_contact_newton_dense : &tl_contact_pyramid_dense;
    TL_TRY(tl_contact_solve(method, &d->problem, &options, stop, d->lam, s->arena, &solved, err));
    r->work.products += solved.work.products;
    r->work.factorizations += solved.work.factorizations;
    r->work.projections += solved.work.projections;
    r->work.outer += solved.work.outer;
    r->outcome =
        (tl_outcome){.result = solved.outcome.result,
                     .iterations = r->outcome.iterations + solved.outcome.iterations,
                     .residual = s->p->law == TL_FLEX_CONE ? solved.certificate.residual : solved.outcome.residual};
    /* the certificate of that kind knows the disc alone */
    if (s->p->law == TL_FLEX_PYRAMID && r->outcome.residual <= stop->tolerance) r->outcome.result = TL_CONVERGED;
    for (int64_t k = 0; k < m; k++) memcpy(lam + 3 * (int64_t)d->pick[k], d->lam + 3 * k, 3 * sizeof *lam);
    return TALUS_OK;
}

static talus_status matrix(tl_flex_solver *s, tl_flex_report *r, talus_error *err)
{
    (void)r, (void)err;
    ((schur *)s->data)->fresh = true;
    return TALUS_OK;
}

/* At first what closes without impulses, later what is as near as the last correction reached. */
static talus_status write_out(tl_flex_solver *s, const double *lam, tl_flex_report *r, talus_error *err)
{
    schur *d = s->data;
    double began = tl_seconds();
    bool first = !s->now || (d->active == 0 && !s->warm);
    velocities(s->p, d->v_free, d->u);
    TL_TRY(assemble(s, choose(s, lam, first ? d->u : s->now, first ? 0 : s->near, true), err));
    d->fresh = false;
    r->prepare += tl_seconds() - began;
    return TALUS_OK;
}

/* dv = H^-1 (J^T lam - g) */
static talus_status answer(const tl_flex *p, const double *lam, double *push, double *dv, talus_error *err)
{
    if (p->contacts > 0)
        tl_csr_mul(p->Jt, lam, push);
    else
        memset(push, 0, sizeof *push * (size_t)tl_flex_size(p));
    for (int64_t i = 0; i < p->n; i++) push[i] -= p->g[i];
    return tl_flex_factor_solve(p, push, dv, err);
}

static talus_status solve(tl_flex_solver *s, const tl_stop *stop, double *lam, double *dv, tl_flex_report *r,
                          talus_error *err)
{
    schur *d = s->data;
    const tl_flex *p = s->p;
    if (p->contacts == 0) return answer(p, lam, d->push, dv, err);
    memset(d->push, 0, sizeof *d->push * (size_t)tl_flex_size(p));
    for (int64_t i = 0; i < p->n; i++) d->push[i] = -p->g[i];
    TL_TRY(tl_flex_factor_solve(p, d->push, d->v_free, err));
    if (d->fresh) TL_TRY(write_out(s, lam, r, err));
    for (bool more = true; more;) {
        TL_TRY(solve_active(s, stop, lam, r, err));
        TL_TRY(answer(p, lam, d->push, dv, err));
        velocities(p, dv, d->u);
        int32_t k = 0;
        more = false;
        for (int32_t c = 0; c < p->contacts; c++) {
            bool is = k < d->active && d->pick[k] == c;
            k += is;
            more |= !is && d->u[3 * (int64_t)c] < -stop->tolerance;
        }
        if (!more) break;
        double began = tl_seconds();
        TL_TRY(assemble(s, choose(s, lam, d->u, 0, false), err));
        r->prepare += tl_seconds() - began;
    }
    r->unknowns = 3 * (int64_t)d->active;
    r->nonzeros = r->unknowns * r->unknowns;
    return TALUS_OK;
}

const tl_flex_route tl_flex_schur = {
    "schur",        "compliance of the contacts that push, written out with one factor per body",
    TL_FLEX_FACTOR, begin,
    matrix,         solve};
const tl_flex_route tl_flex_schur_last = {
    "schur-last", "the same; nodes of contacts come last in the factor", TL_FLEX_FACTOR | TL_FLEX_LAST, begin, matrix,
    solve};

/* ---- ADMM ---- */

#define ADMM_PENALTY                                                                                                   \
    1.0 /* of a contact's own mass; 0.1 and 10 took 3 to 20 times as many iterations (talus bench em-table2) */
#define ADMM_MAX 5000

/* (1/R + W) y = lam / R + w - q; lam' = P(lam - R (q + W y + shift)); w = q + W y - (lam - lam') / R. */
static talus_status admm(tl_flex_solver *s, const tl_stop *stop, double *lam, double *dv, tl_flex_report *r,
                         talus_error *err)
{
    schur *d = s->data;
    const tl_flex *p = s->p;
    const int64_t m = p->contacts, n = 3 * m;
    if (m == 0) return answer(p, lam, d->push, dv, err);
    if (d->fresh) {
        double began = tl_seconds();
        for (int32_t c = 0; c < p->contacts; c++) d->pick[c] = c;
        TL_TRY(assemble(s, p->contacts, err));
        d->fresh = false;
        r->prepare += tl_seconds() - began;
    }
    size_t mark = tl_arena_mark(s->arena);
    double *S = TL_TAKE(s->arena, double, n *n), *y = TL_TAKE(s->arena, double, n), *u = TL_TAKE(s->arena, double, n),
           *w = TL_TAKE_ZERO(s->arena, double, n), *R = TL_TAKE(s->arena, double, m),
           *w_n = TL_TAKE(s->arena, double, m), *w_t = TL_TAKE(s->arena, double, m);
    if (!S || !y || !u || !w || !R || !w_n || !w_t) return tl_flex_no_memory(err);
    memset(d->push, 0, sizeof *d->push * (size_t)tl_flex_size(p));
    for (int64_t i = 0; i < p->n; i++) d->push[i] = -p->g[i];
    TL_TRY(tl_flex_factor_solve(p, d->push, d->v_free, err));
    velocities(p, d->v_free, d->q);
    memcpy(S, d->W, sizeof *S * (size_t)(n * n));
    for (int64_t c = 0; c < m; c++) {
        tl_contact_scales(d->blocks + 9 * c, &w_n[c], &w_t[c]);
        R[c] = ADMM_PENALTY * fmin(w_n[c], w_t[c]);
        for (int k = 0; k < 3; k++) S[(3 * c + k) * n + 3 * c + k] += 1 / R[c];
    }
    set_bounds(d, p);
    r->outcome = (tl_outcome){.result = TL_OUT_OF_ITERATIONS};
    r->work.factorizations++;
    if (!tl_dense_chol(n, S, n)) r->outcome.result = TL_BROKE_DOWN;
    int max = stop->max_iterations > 0 ? stop->max_iterations : ADMM_MAX;
    while (r->outcome.result == TL_OUT_OF_ITERATIONS && r->outcome.iterations < max && !tl_cancelled()) {
        for (int64_t i = 0; i < n; i++) y[i] = lam[i] / R[i / 3] + w[i] - d->q[i];
        tl_dense_chol_solve(n, S, n, y);
        tl_dense_mul(n, n, d->W, n, y, u);
        r->work.products++;
        r->outcome.iterations++;
        double worst = 0;
        for (int64_t c = 0; c < m; c++) {
            double *l = lam + 3 * c, *v = u + 3 * c, x[3], P[3], e = 0;
            for (int k = 0; k < 3; k++) v[k] += d->q[3 * c + k];
            const tl_contact_box *box = c < m - p->boxes ? NULL : &d->box[c - (m - p->boxes)];
            double shift = box ? 0 : tl_flex_shift(p->law, p->mu[c], v, l);
            for (int k = 0; k < 3; k++) x[k] = l[k] - R[c] * (v[k] + (k ? 0 : shift));
            if (box)
                tl_project_box(box, x, P);
            else
                tl_flex_project(p->law, p->mu[c], p->mu[c] * fmax(0, l[0]), x, P);
            for (int k = 0; k < 3; k++) {
                w[3 * c + k] = v[k] - (l[k] - P[k]) / R[c];
                /* what the two sides still differ by, as velocities */
                e = fmax(e, fabs(P[k] - y[3 * c + k]) / fmin(w_n[c], w_t[c]));
                l[k] = P[k];
            }
            worst = fmax(worst, fmax(e, box ? tl_contact_box_residual(box, d->blocks + 9 * c, v, P)
                                            : tl_flex_residual(p->law, p->mu[c], w_n[c], w_t[c], v, P)));
        }
        r->work.projections++;
        r->outcome.residual = worst;
        tl_work_record(&r->work, worst);
        if (!isfinite(worst)) r->outcome.result = TL_BROKE_DOWN;
        if (worst <= stop->tolerance) r->outcome.result = TL_CONVERGED;
    }
    tl_arena_release(s->arena, mark);
    r->unknowns = n;
    r->nonzeros = 2 * n * n;
    return answer(p, lam, d->push, dv, err);
}

const tl_flex_route tl_flex_admm = {
    "admm", "alternating directions between velocities and contact laws", TL_FLEX_FACTOR, begin, matrix, admm};
