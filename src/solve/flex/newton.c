#include "base/sum.h"
#include "solve/flex/inside.h"
#include "solve/slope.h"

#define KAPPA_START 10.0 /* penalty over the contact's own mass; 100 takes two to three times the products */
#define KAPPA_MAX 1e8
#define JOINT_STIFFER 1e3 /* times that for rows of joints, which are linear; */
#define JOINT_MOST 1e7    /* at most. Both as solve/contact/newton.c has them, times what H has of stiffness */
#define INNER_MAX 25
#define NEWTON_MAX 150
#define ETA_MAX 0.1 /* relative residual of a linear system, */
#define ETA_LEAST 1e-12
#define ETA_SHARE 0.3 /* of what the Newton iteration still has to gain */
#define GAIN_MAX 1e10

typedef struct state {
    const tl_flex *p;
    const tl_flex_linear *linear;
    int64_t n, m;
    double kappa;
    double gain; /* what a route's system leaves comes back times this as missing balance: learned from its answers */
    double *diag, *w_n, *w_t, *r, *s, *radius;  /* [n]; [m] */
    double *block;                              /* [boxes][9] */
    double *Hv, *G, *d, *Hd, *left;             /* [n] H dv; what is missing; direction; what it leaves */
    double *lam, *best, *u, *x, *P, *Jd, *push; /* [3 m] */
    double *best_v;                             /* [n] */
    double *B;                                  /* [m][9] */
    int32_t *rank;
} state;

static bool take(state *s, tl_arena *a)
{
    double **const of_unknowns[] = {&s->diag, &s->Hv, &s->G, &s->d, &s->Hd, &s->best_v, &s->left};
    double **const of_contacts[] = {&s->w_n, &s->w_t, &s->r, &s->s, &s->radius};
    double **const of_rows[] = {&s->lam, &s->best, &s->u, &s->x, &s->P, &s->Jd, &s->push};
    bool ok = true;
    for (size_t k = 0; k < 7; k++) ok &= (*of_unknowns[k] = TL_TAKE(a, double, s->n + 1)) != NULL;
    for (size_t k = 0; k < 5; k++) ok &= (*of_contacts[k] = TL_TAKE_ZERO(a, double, s->m + 1)) != NULL;
    for (size_t k = 0; k < 7; k++) ok &= (*of_rows[k] = TL_TAKE_ZERO(a, double, 3 * s->m + 1)) != NULL;
    s->B = TL_TAKE(a, double, 9 * s->m + 1);
    s->rank = TL_TAKE(a, int32_t, s->m + 1);
    s->block = TL_TAKE(a, double, 9 * (int64_t)s->p->boxes + 1);
    return ok && s->B && s->rank && s->block;
}

static void multiply(const state *s, const double *x, double *y)
{
    if (s->linear->product)
        s->linear->product(s->linear->ctx, x, y);
    else
        tl_flex_product(s->p, x, y);
}

static void project(const state *s, int64_t c, const double x[3], double out[3])
{
    const tl_contact_box *box = tl_flex_box(s->p, c);
    if (box)
        tl_project_box(box, x, out);
    else
        tl_flex_project(s->p->law, s->p->mu[c], s->radius[c], x, out);
}

static const double *block_of(const state *s, int64_t c) { return s->block + 9 * (c - (s->m - s->p->boxes)); }

/* Penalty of a row, kg. */
static double penalty(const state *s, const tl_contact_box *box, int64_t c, int k)
{
    return box ? fmin(JOINT_MOST, JOINT_STIFFER * s->kappa) / block_of(s, c)[4 * k] : s->r[c];
}

/* What is projected for velocities u; rows with a compliance give way to the impulse that comes out. */
static void ask(const state *s, int64_t c, const double *u, double *x)
{
    const tl_contact_box *box = tl_flex_box(s->p, c);
    for (int k = 0; k < 3; k++) {
        const double r = penalty(s, box, c, k), shift = k ? 0 : s->s[c];
        x[k] = (s->lam[3 * c + k] - r * (u[k] + shift)) / (box ? 1 + r * box->give[k] : 1);
    }
}

/* u, x, P and the missing balance at dv. Returns that in m/s. */
static double evaluate(state *s, const double *dv)
{
    const tl_flex *p = s->p;
    if (s->m > 0) tl_csr_mul(p->J, dv, s->u);
    for (int64_t c = 0; c < s->m; c++) {
        for (int k = 0; k < 3; k++) s->u[3 * c + k] += p->c[3 * c + k];
        ask(s, c, s->u + 3 * c, s->x + 3 * c);
        project(s, c, s->x + 3 * c, s->P + 3 * c);
    }
    if (s->m > 0)
        tl_csr_mul(p->Jt, s->P, s->G);
    else
        memset(s->G, 0, sizeof *s->G * (size_t)s->n);
    double gap = 0;
    for (int64_t i = 0; i < s->n; i++) {
        s->G[i] -= s->Hv[i] + (i < p->n ? p->g[i] : 0);
        double e = fabs(s->G[i]) / s->diag[i];
        if (!(e <= gap)) gap = isfinite(e) ? e : INFINITY;
    }
    return gap;
}

typedef struct line {
    const state *s;
    double first, second; /* linear part: slope at the start, and what it grows by */
} line;

static double slope(const void *along, double a)
{
    const line *l = along;
    const state *s = l->s;
    double sum = l->first + a * l->second;
    for (int64_t c = 0; c < s->m; c++) {
        double at[3], P[3];
        const tl_contact_box *box = tl_flex_box(s->p, c);
        for (int k = 0; k < 3; k++) {
            const double r = penalty(s, box, c, k);
            at[k] = s->x[3 * c + k] - a * (box ? r / (1 + r * box->give[k]) : r) * s->Jd[3 * c + k];
        }
        project(s, c, at, P);
        for (int k = 0; k < 3; k++) sum -= s->Jd[3 * c + k] * P[k];
    }
    return sum;
}

/* Along d until the slope of the function has fallen to a third. */
static double line_search(const state *s)
{
    const tl_flex *p = s->p;
    double first = tl_dot(s->n, s->d, s->Hv) + tl_dot(p->n, s->d, p->g), second = tl_dot(s->n, s->d, s->Hd);
    return tl_slope_search(slope, &(line){s, first, second});
}

/* How much of G the direction has left, against eta that was wanted. */
static void learn(state *s, double eta)
{
    double left = 0, all = 0;
    for (int64_t c = 0; c < s->m; c++) { /* J d through the slopes, in the place of P's change */
        const double *B = s->B + 9 * c, *u = s->Jd + 3 * c;
        double *out = s->push + 3 * c;
        memset(out, 0, 3 * sizeof *out);
        for (int e = 0; e < s->rank[c]; e++) {
            double t = B[3 * e] * u[0] + B[3 * e + 1] * u[1] + B[3 * e + 2] * u[2];
            for (int k = 0; k < 3; k++) out[k] += B[3 * e + k] * t;
        }
    }
    if (s->m > 0)
        tl_csr_mul(s->p->Jt, s->push, s->left);
    else
        memset(s->left, 0, sizeof *s->left * (size_t)s->n);
    for (int64_t i = 0; i < s->n; i++) {
        left = fmax(left, fabs(s->G[i] - s->Hd[i] - s->left[i]) / s->diag[i]);
        all = fmax(all, fabs(s->G[i]) / s->diag[i]);
    }
    if (left > eta * all)
        s->gain = fmin(GAIN_MAX, s->gain * 2 * left / (eta * all));
    else if (left < 0.1 * eta * all)
        s->gain = fmax(1, 0.3 * s->gain);
}

static int box_slope(const state *s, const tl_contact_box *box, int64_t c, double B[9])
{
    int rank = 0;
    memset(B, 0, 9 * sizeof *B);
    for (int k = 0; k < 3; k++) {
        const double root = tl_flex_box_root(box, k, penalty(s, box, c, k), s->x[3 * c + k]);
        if (root > 0) B[3 * rank++ + k] = root;
    }
    return rank;
}

static talus_status newton_step(state *s, double eta, double *dv, tl_flex_report *report, talus_error *err)
{
    const tl_flex *p = s->p;
    for (int64_t c = 0; c < s->m; c++) {
        const tl_contact_box *box = tl_flex_box(p, c);
        s->rank[c] = box ? box_slope(s, box, c, s->B + 9 * c)
                         : tl_flex_slope(p->law, p->mu[c], s->radius[c], s->r[c], s->x + 3 * c, s->B + 9 * c);
    }
    TL_TRY(s->linear->solve(s->linear->ctx, s->B, s->rank, s->G, fmax(ETA_LEAST, eta / s->gain), s->d, report, err));
    multiply(s, s->d, s->Hd);
    if (s->m > 0) tl_csr_mul(p->J, s->d, s->Jd);
    learn(s, eta);
    double a = s->m > 0 ? line_search(s) : 1;
    for (int64_t i = 0; i < s->n; i++) {
        dv[i] += a * s->d[i];
        s->Hv[i] += a * s->Hd[i];
    }
    return TALUS_OK;
}

static void set_penalty(state *s, double kappa)
{
    s->kappa = kappa;
    for (int64_t c = 0; c < s->m; c++) s->r[c] = kappa * fmin(s->w_n[c], s->w_t[c]);
}

/* Impulses become what velocities cause. Returns the largest change of a shift, m/s. */
static double update_multipliers(state *s, double *residual)
{
    const tl_flex *p = s->p;
    double max = 0;
    *residual = 0;
    for (int64_t c = 0; c < s->m; c++) {
        double *l = s->lam + 3 * c, *u = s->u + 3 * c;
        memcpy(l, s->P + 3 * c, 3 * sizeof *l);
        const tl_contact_box *box = tl_flex_box(p, c);
        s->radius[c] = p->mu[c] * fmax(l[0], 0);
        double fresh = box ? 0 : tl_flex_shift(p->law, p->mu[c], u, l);
        max = fmax(max, fabs(fresh - s->s[c]));
        s->s[c] = fresh;
        double e = box ? tl_contact_box_residual(box, block_of(s, c), u, l)
                       : tl_flex_residual(p->law, p->mu[c], s->w_n[c], s->w_t[c], u, l);
        if (!(e <= *residual)) *residual = isfinite(e) ? e : INFINITY;
    }
    return max;
}

static void start(state *s, const double *lam)
{
    const tl_flex *p = s->p;
    tl_flex_diagonal(p, s->diag);
    if (s->m > 0) tl_flex_blocks(p, s->diag, s->B);
    for (int64_t c = 0; c < s->m; c++) {
        tl_contact_scales(s->B + 9 * c, &s->w_n[c], &s->w_t[c]);
        s->radius[c] = p->mu[c] * fmax(lam[3 * c], 0);
        project(s, c, lam + 3 * c, s->lam + 3 * c);
    }
    if (p->boxes) memcpy(s->block, s->B + 9 * (s->m - p->boxes), 9 * sizeof *s->block * (size_t)p->boxes);
    set_penalty(s, KAPPA_START);
    s->gain = 1;
}

static talus_status iterate(state *s, double tolerance, int max, double *dv, tl_flex_report *report, talus_error *err)
{
    tl_outcome *out = &report->outcome;
    double last = INFINITY, least = INFINITY;
    memset(dv, 0, sizeof *dv * (size_t)s->n);
    memset(s->Hv, 0, sizeof *s->Hv * (size_t)s->n);
    *out = (tl_outcome){.result = TL_OUT_OF_ITERATIONS, .residual = INFINITY};
    for (int rounds = 0; out->iterations < max && rounds < max && !tl_cancelled(); rounds++) {
        double gap = evaluate(s, dv), goal = fmax(0.1 * tolerance, 0.05 * fmin(last, gap));
        int inner = 0;
        for (; gap > goal && inner < INNER_MAX && out->iterations < max; inner++) {
            double eta = fmin(ETA_MAX, ETA_SHARE * goal / gap);
            TL_TRY(newton_step(s, eta, dv, report, err));
            out->iterations++;
            double next = evaluate(s, dv);
            if (!isfinite(next)) {
                out->result = TL_BROKE_DOWN;
                return TALUS_OK;
            }
            gap = next;
        }
        if (s->m == 0) {
            least = gap;
            out->result = gap <= tolerance ? TL_CONVERGED : out->result;
            memcpy(s->best_v, dv, sizeof *dv * (size_t)s->n);
            if (gap <= tolerance) break;
            continue;
        }
        double now, ds = update_multipliers(s, &now);
        now = fmax(now, gap);
        report->work.outer++;
        tl_work_record(&report->work, now);
        if (now < least) {
            least = now;
            memcpy(s->best, s->lam, 3 * sizeof *s->best * (size_t)s->m);
            memcpy(s->best_v, dv, sizeof *dv * (size_t)s->n);
        }
        if (now <= tolerance) {
            out->result = TL_CONVERGED;
            break;
        }
        if (now > 0.2 * last) {
            if (ds < 0.3 * now && gap < 0.3 * now && s->kappa < KAPPA_MAX)
                set_penalty(s, s->kappa * 10);
            else if (ds >= 0.3 * now && s->kappa > KAPPA_START)
                set_penalty(s, s->kappa / 10);
            else if (inner == 0)
                out->iterations++; /* shifts alone move: they have an end too */
        }
        last = now;
    }
    out->residual = least;
    return TALUS_OK;
}

talus_status tl_flex_newton(const tl_flex *p, const tl_flex_linear *linear, const tl_stop *stop, double *lam,
                            double *dv, tl_arena *a, tl_flex_report *report, talus_error *err)
{
    state s = {.p = p, .linear = linear, .n = tl_flex_size(p), .m = p->contacts};
    size_t mark = tl_arena_mark(a);
    if (!take(&s, a)) return tl_flex_no_memory(err);
    start(&s, lam);
    TL_TRY(iterate(&s, stop->tolerance, stop->max_iterations > 0 ? stop->max_iterations : NEWTON_MAX, dv, report, err));
    if (isfinite(report->outcome.residual)) {
        memcpy(lam, s.best, 3 * sizeof *lam * (size_t)s.m);
        memcpy(dv, s.best_v, sizeof *dv * (size_t)s.n);
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}
