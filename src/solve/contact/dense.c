#include "solve/contact/dense.h"

#include <string.h>

#include "math/dense.h"
#include "solve/slope.h"

#define KAPPA_START 100.0 /* penalty over the contact's own mass, as in newton.c */
#define KAPPA_MAX 1e10
#define JOINT_STIFFER 1e3 /* times that for rows of joints; */
#define JOINT_MOST 1e8    /* at most */
#define INNER_MAX 25      /* Newton steps before a penalty is called too stiff */
#define NEWTON_MAX 60
#define SWEEP_ABOVE 1e-3 /* of the fastest approach: residual of the start above which sweeps come first */
#define SWEEPS_FIRST 10
#define SWEEPS_LAST 100
#define LOOK_EVERY 10
#define POLISH_MAX 20
#define POLISH_TRIES 8
#define CHORD_SHARE                                                                                                    \
    0.2 /* of the residual: what a correction with an older derivative may leave; a new one costs some ten of these */
#define LEAST_COMPLIANCE 1e-10 /* of a contact's own, added where it sticks: W may be singular */
#define ROUNDS 6               /* of sweeps, multipliers and polish, before it gives up */

static void apply(const tl_linop *A, const double *x, double *y)
{
    const tl_contact_dense *d = A->ctx;
    tl_dense_mul(d->n, d->n, d->W, d->n, x, y);
}

tl_linop tl_contact_dense_linop(const tl_contact_dense *W) { return (tl_linop){.apply = apply, .ctx = W}; }

typedef struct state {
    const tl_contact *p;
    const double *W;
    int64_t n, m;
    double kappa;
    double *w_n, *w_t;            /* [m] masses of contacts, kg */
    double *r, *s;                /* [m] penalties, kg; shifts, m/s */
    double *lam, *best;           /* [n] multipliers; those with the least residual */
    double *y, *Wy;               /* [n] what velocities come from, and W y */
    double *x, *P, *WP;           /* [n] lam - r (u + s e_n), its projection, W of that */
    double *z, *Wz;               /* [n] Newton direction, W z */
    double *B;                    /* [m][3][3] columns of B of a contact */
    int32_t *rank, *col0;         /* [m] columns, first one */
    double *S, *t;                /* [n][n] I + B^T W B; [n] */
    tl_contact_slope *slope, own; /* the caller's, or one in S */
} state;

static const tl_contact_box *box_of(const state *s, int64_t c)
{
    return c < s->m - s->p->boxes ? NULL : &s->p->box[c - (s->m - s->p->boxes)];
}

static double residual_of(const state *s, int64_t c, const double u[3], const double *l)
{
    if (box_of(s, c)) return tl_contact_box_residual(box_of(s, c), s->p->blocks + 9 * c, u, l);
    double e_n = fabs(l[0] - fmax(0, l[0] - s->w_n[c] * u[0])) / s->w_n[c];
    double t[2] = {l[1] - s->w_t[c] * u[1], l[2] - s->w_t[c] * u[2]};
    tl_project_disc(s->p->mu[c] * fmax(l[0], 0), t);
    return fmax(e_n, hypot(l[1] - t[0], l[2] - t[1]) / s->w_t[c]);
}

/* Natural map of lam, with Wl = W lam. */
static double residual(const state *s, const double *lam, const double *Wl)
{
    double max = 0;
    for (int64_t c = 0; c < s->m; c++) {
        const double *q = s->p->q + 3 * c, u[3] = {q[0] + Wl[3 * c], q[1] + Wl[3 * c + 1], q[2] + Wl[3 * c + 2]};
        double e = residual_of(s, c, u, lam + 3 * c);
        if (!(e <= max)) max = isfinite(e) ? e : INFINITY;
    }
    return max;
}

/* De Saxce shift, as tl_pair_shift: none where friction stays clear of the mantle. */
static double shift_of(double mu, const double u[3], const double *l)
{
    double full = mu * hypot(u[1], u[2]), max = mu * l[0];
    if (!(max > 0)) return full;
    return full * fmin(1, fmax(0, 10 * hypot(l[1], l[2]) / max - 9));
}

static void multiply(state *s, const double *x, double *out, tl_work *w)
{
    tl_dense_mul(s->n, s->n, s->W, s->n, x, out);
    w->products++;
}

/* ---- sweeps ---- */

static double clamp(double x, double max) { return x > max ? max : x < -max ? -max : x; }

/* Rows of a joint, one after the other. */
static void sweep_box(const state *s, int64_t c, double u[3], double *l, double *Wl)
{
    const tl_contact_box *box = box_of(s, c);
    const double *block = s->p->blocks + 9 * c;
    for (int k = 0; k < 3; k++) {
        const double d = tl_contact_clamp(l[k] - u[k] / block[4 * k], box->lo[k], box->hi[k]) - l[k];
        const double *row = s->W + (3 * c + k) * s->n;
        if (d == 0) continue;
        l[k] += d;
        for (int i = 0; i < 3; i++) u[i] += block[3 * i + k] * d;
        for (int64_t i = 0; i < s->n; i++) Wl[i] += d * row[i];
    }
}

/* Gauss-Seidel over contacts; Wl = W lam is kept up to date. */
static void sweep(state *s, int count, bool box, double *lam, double *Wl, tl_work *w)
{
    for (int k = 0; k < count; k++) {
        multiply(s, lam, Wl, w);
        for (int64_t c = 0; c < s->m; c++) {
            const double *q = s->p->q + 3 * c, *block = s->p->blocks + 9 * c;
            double *l = lam + 3 * c, u[3] = {q[0] + Wl[3 * c], q[1] + Wl[3 * c + 1], q[2] + Wl[3 * c + 2]};
            if (box_of(s, c)) {
                sweep_box(s, c, u, l, Wl);
                continue;
            }
            double n = fmax(0, l[0] - s->w_n[c] * u[0]), max = s->p->mu[c] * n, d[3] = {n - l[0]};
            double t[2] = {l[1] - s->w_t[c] * (u[1] + block[3] * d[0]), l[2] - s->w_t[c] * (u[2] + block[6] * d[0])};
            if (box)
                t[0] = clamp(t[0], max), t[1] = clamp(t[1], max);
            else
                tl_project_disc(max, t);
            d[1] = t[0] - l[1];
            d[2] = t[1] - l[2];
            if (d[0] == 0 && d[1] == 0 && d[2] == 0) continue;
            l[0] = n, l[1] = t[0], l[2] = t[1];
            const double *row = s->W + 3 * c * s->n; /* columns are rows */
            for (int64_t i = 0; i < s->n; i++) Wl[i] += d[0] * row[i] + d[1] * row[s->n + i] + d[2] * row[2 * s->n + i];
        }
        w->projections++;
    }
}

/* ---- Newton on the impulses ---- */

/* Columns of B with B B^T = r dP_K at x. Returns how many. */
static int cone_root(double mu, double r, const double x[3], double B[9])
{
    double length = hypot(x[1], x[2]);
    memset(B, 0, 9 * sizeof *B);
    if (mu == 0) {
        B[0] = sqrt(r);
        return x[0] > 0;
    }
    if (length <= mu * x[0]) {
        B[0] = B[4] = B[8] = sqrt(r);
        return 3;
    }
    if (mu * length <= -x[0]) return 0;
    double q = 1 / (1 + mu * mu), n = (x[0] + mu * length) * q, share = mu * n / length,
           e[2] = {x[1] / length, x[2] / length};
    double along = sqrt(r * q), across = sqrt(r * share);
    B[0] = along, B[1] = along * mu * e[0], B[2] = along * mu * e[1];
    B[3] = 0, B[4] = -across * e[1], B[5] = across * e[0];
    return 2;
}

/* Penalty of row k, kg. Those of joints are linear: the stiffer the better. */
static double penalty(const state *s, int64_t c, int k)
{
    if (!box_of(s, c)) return s->r[c];
    return fmin(JOINT_MOST, JOINT_STIFFER * s->kappa) / s->p->blocks[9 * c + 4 * k];
}

static void project(const state *s, int64_t c, const double x[3], double P[3])
{
    if (box_of(s, c))
        tl_project_box(box_of(s, c), x, P);
    else
        tl_project_cone(s->p->mu[c], x, P);
}

static int box_root(const state *s, int64_t c, const double x[3], double B[9])
{
    const tl_contact_box *box = box_of(s, c);
    int rank = 0;
    memset(B, 0, 9 * sizeof *B);
    for (int k = 0; k < 3; k++)
        if (x[k] > box->lo[k] && x[k] < box->hi[k]) B[3 * rank++ + k] = sqrt(penalty(s, c, k));
    return rank;
}

/* x, P = P_K(x) and W P at y. Returns the gap between y and the impulses that it would cause, m/s. */
static double evaluate(state *s, tl_work *w)
{
    for (int64_t c = 0; c < s->m; c++) {
        const double *q = s->p->q + 3 * c, *l = s->lam + 3 * c;
        for (int k = 0; k < 3; k++)
            s->x[3 * c + k] = l[k] - penalty(s, c, k) * (q[k] + s->Wy[3 * c + k] + (k ? 0 : s->s[c]));
        project(s, c, s->x + 3 * c, s->P + 3 * c);
    }
    multiply(s, s->P, s->WP, w);
    double gap = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double e = fabs(s->WP[i] - s->Wy[i]);
        if (!(e <= gap)) gap = isfinite(e) ? e : INFINITY;
    }
    return gap;
}

/* S = I + B^T W B over the columns of contacts that push. */
static int64_t assemble(state *s)
{
    int64_t cols = 0;
    for (int64_t c = 0; c < s->m; c++) {
        s->rank[c] = box_of(s, c) ? box_root(s, c, s->x + 3 * c, s->B + 9 * c)
                                  : cone_root(s->p->mu[c], s->r[c], s->x + 3 * c, s->B + 9 * c);
        s->col0[c] = (int32_t)cols;
        cols += s->rank[c];
    }
#pragma omp parallel for schedule(dynamic, 8) if (cols > 100)
    for (int64_t c = 0; c < s->m; c++)
        for (int a = 0; a < s->rank[c]; a++) {
            const double *b = s->B + 9 * c + 3 * a;
            const double *W0 = s->W + 3 * c * s->n, *W1 = W0 + s->n, *W2 = W1 + s->n;
            double *out = s->S + (s->col0[c] + a) * s->n;
            for (int64_t d = 0; d <= c; d++) {
                if (!s->rank[d]) continue;
                double v[3];
                for (int k = 0; k < 3; k++) v[k] = b[0] * W0[3 * d + k] + b[1] * W1[3 * d + k] + b[2] * W2[3 * d + k];
                for (int e = 0; e < s->rank[d]; e++) {
                    const double *f = s->B + 9 * d + 3 * e;
                    out[s->col0[d] + e] = f[0] * v[0] + f[1] * v[1] + f[2] * v[2];
                }
            }
            out[s->col0[c] + a] += 1;
        }
    return cols;
}

/* z = (I + B B^T W)^-1 (P - y) = e - B S^-1 B^T W e, and W z. */
static bool direction(state *s, tl_work *w)
{
    int64_t cols = assemble(s);
    w->factorizations++;
    if (!tl_dense_chol(cols, s->S, s->n)) return false;
    for (int64_t c = 0; c < s->m; c++)
        for (int a = 0; a < s->rank[c]; a++) {
            const double *b = s->B + 9 * c + 3 * a;
            double sum = 0;
            for (int k = 0; k < 3; k++) sum += b[k] * (s->WP[3 * c + k] - s->Wy[3 * c + k]);
            s->t[s->col0[c] + a] = sum;
        }
    tl_dense_chol_solve(cols, s->S, s->n, s->t);
    for (int64_t c = 0; c < s->m; c++) {
        double *z = s->z + 3 * c;
        for (int k = 0; k < 3; k++) z[k] = s->P[3 * c + k] - s->y[3 * c + k];
        for (int a = 0; a < s->rank[c]; a++)
            for (int k = 0; k < 3; k++) z[k] -= s->B[9 * c + 3 * a + k] * s->t[s->col0[c] + a];
    }
    multiply(s, s->z, s->Wz, w);
    return true;
}

static double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

typedef struct line {
    const state *s;
    double first, second; /* linear part: slope at the start, and what it grows by */
} line;

/* F' along z at step a. */
static double slope(const void *along, double a)
{
    const line *l = along;
    const state *s = l->s;
    double sum = l->first + a * l->second;
    for (int64_t c = 0; c < s->m; c++) {
        double at[3], P[3];
        for (int k = 0; k < 3; k++) at[k] = s->x[3 * c + k] - a * penalty(s, c, k) * s->Wz[3 * c + k];
        project(s, c, at, P);
        for (int k = 0; k < 3; k++) sum -= s->Wz[3 * c + k] * P[k];
    }
    return sum;
}

static double line_search(const state *s)
{
    double zWy = dot(s->n, s->z, s->Wy), zWz = dot(s->n, s->z, s->Wz);
    return tl_slope_search(slope, &(line){s, zWy, zWz});
}

static bool newton_step(state *s, tl_work *w)
{
    if (!direction(s, w)) return false;
    double a = line_search(s);
    for (int64_t i = 0; i < s->n; i++) {
        s->y[i] += a * s->z[i];
        s->Wy[i] += a * s->Wz[i];
    }
    return true;
}

/* ---- outer loop, as in newton.c ---- */

static void set_penalty(state *s, double kappa)
{
    s->kappa = kappa;
    for (int64_t c = 0; c < s->m; c++) s->r[c] = kappa * fmin(s->w_n[c], s->w_t[c]);
}

static double update_multipliers(state *s)
{
    double max = 0;
    for (int64_t c = 0; c < s->m; c++) {
        double u[3], *l = s->lam + 3 * c;
        for (int k = 0; k < 3; k++) u[k] = s->p->q[3 * c + k] + s->Wy[3 * c + k];
        memcpy(l, s->P + 3 * c, 3 * sizeof *l);
        double fresh = box_of(s, c) ? 0 : shift_of(s->p->mu[c], u, l);
        max = fmax(max, fabs(fresh - s->s[c]));
        s->s[c] = fresh;
    }
    return max;
}

static void restart(state *s, tl_work *w)
{
    memcpy(s->y, s->lam, sizeof *s->y * (size_t)s->n);
    multiply(s, s->y, s->Wy, w);
}

static void keep_best(state *s, double now, double *least)
{
    if (now >= *least) return;
    *least = now;
    memcpy(s->best, s->lam, sizeof *s->best * (size_t)s->n);
}

static void minimise(state *s, const tl_stop *stop, int max, double *lam, tl_outcome *out, tl_work *w)
{
    double least = INFINITY, last = out->residual;
    memcpy(s->lam, lam, sizeof *lam * (size_t)s->n);
    restart(s, w);
    for (int64_t c = 0; c < s->m; c++) {
        double u[3];
        for (int k = 0; k < 3; k++) u[k] = s->p->q[3 * c + k] + s->Wy[3 * c + k];
        s->s[c] = box_of(s, c) ? 0 : shift_of(s->p->mu[c], u, lam + 3 * c);
    }
    keep_best(s, last, &least);
    set_penalty(s, KAPPA_START);
    while (out->iterations < max && !tl_stop_spent(stop, w)) {
        double goal = fmax(0.1 * stop->tolerance, 0.05 * last), gap = evaluate(s, w);
        int inner = 0;
        for (; gap > goal && inner < INNER_MAX && out->iterations < max; inner++) {
            if (!newton_step(s, w)) {
                out->result = TL_BROKE_DOWN;
                goto done;
            }
            out->iterations++;
            gap = evaluate(s, w);
            if (!isfinite(gap)) break;
        }
        if (!(gap <= last) && inner > 0) {
            if (s->kappa <= 1) break;
            set_penalty(s, s->kappa / 10);
            restart(s, w);
            continue;
        }
        double ds = update_multipliers(s), now = residual(s, s->lam, s->WP);
        w->outer++;
        tl_work_record(w, now);
        keep_best(s, now, &least);
        if (now <= stop->tolerance) {
            out->result = TL_CONVERGED;
            break;
        }
        if (now > 0.2 * last) {
            if (ds < 0.3 * now && s->kappa < KAPPA_MAX)
                set_penalty(s, s->kappa * 10);
            else if (ds >= 0.3 * now && s->kappa > KAPPA_START)
                set_penalty(s, s->kappa / 10);
            else if (inner == 0)
                out->iterations++; /* shifts alone move: they have an end too */
        }
        last = now;
    }
done:
    memcpy(lam, s->best, sizeof *lam * (size_t)s->n);
    out->residual = least;
}

/* ---- the end: Newton on the natural map ---- */

/* The natural map of one contact over its masses, m/s. [Alart1991] */
static void map_value(const state *s, int64_t c, const double *lam, const double *Wl, double *F)
{
    const int64_t k = 3 * c;
    const double *l = lam + k, *q = s->p->q + k, w = s->w_t[c];
    double u[3], radius = s->p->mu[c] * fmax(l[0], 0);
    for (int i = 0; i < 3; i++) u[i] = q[i] + Wl[k + i];
    for (int i = 0; i < 3 && box_of(s, c); i++) {
        const double own = 1 / s->p->blocks[9 * c + 4 * i], x = l[i] - own * u[i];
        const double to = tl_contact_clamp(x, box_of(s, c)->lo[i], box_of(s, c)->hi[i]);
        F[k + i] = to == x ? u[i] : (l[i] - to) / own;
    }
    if (box_of(s, c)) return;
    F[k] = l[0] - s->w_n[c] * u[0] > 0 ? u[0] : l[0] / s->w_n[c];
    double x[2] = {l[1] - w * u[1], l[2] - w * u[2]}, length = hypot(x[0], x[1]);
    for (int i = 0; i < 2; i++) F[k + 1 + i] = length <= radius ? u[1 + i] : (l[1 + i] - radius * x[i] / length) / w;
}

/* Its derivative: rows of A. */
static void map_rows(const state *s, int64_t c, const double *lam, const double *Wl, double *A)
{
    const int64_t n = s->n, k = 3 * c;
    const double *l = lam + k, *q = s->p->q + k, *W = s->W + k * n, mu = s->p->mu[c];
    double u[3], *row = A + k * n;
    for (int i = 0; i < 3; i++) u[i] = q[i] + Wl[k + i];
    memset(row, 0, 3 * sizeof *row * (size_t)n);
    for (int i = 0; i < 3 && box_of(s, c); i++) {
        const double own = s->p->blocks[9 * c + 4 * i], x = l[i] - u[i] / own;
        const bool bound = x < box_of(s, c)->lo[i] || x > box_of(s, c)->hi[i];
        if (!bound) memcpy(row + i * n, W + i * n, sizeof *row * (size_t)n);
        row[i * n + k + i] += bound ? own : LEAST_COMPLIANCE * own;
    }
    if (box_of(s, c)) return;
    if (l[0] - s->w_n[c] * u[0] > 0) {
        memcpy(row, W, sizeof *row * (size_t)n);
        row[k] += LEAST_COMPLIANCE * W[k];
    } else {
        row[k] = 1 / s->w_n[c];
    }
    double w = s->w_t[c], x[2] = {l[1] - w * u[1], l[2] - w * u[2]}, length = hypot(x[0], x[1]),
           radius = mu * fmax(l[0], 0);
    if (length <= radius) {
        for (int i = 1; i < 3; i++) {
            memcpy(row + i * n, W + i * n, sizeof *row * (size_t)n);
            row[i * n + k + i] += LEAST_COMPLIANCE * W[i * n + k + i];
        }
        return;
    }
    double e[2] = {x[0] / length, x[1] / length}, share = radius / length;
    for (int i = 0; i < 2; i++) {
        double *out = row + (i + 1) * n;
        for (int j = 0; j < 2; j++) {
            double across = share * ((i == j) - e[i] * e[j]);
            const double *from = W + (j + 1) * n;
            for (int64_t t = 0; t < n; t++) out[t] += across * from[t];
            out[k + 1 + j] += ((i == j) - across) / w;
        }
        if (l[0] > 0) out[k] -= mu * e[i] / w;
    }
}

/* The derivative at lam, factored. */
static bool factor_slope(state *s, const double *lam, tl_work *w)
{
#pragma omp parallel for schedule(static) if (s->m > 50)
    for (int64_t c = 0; c < s->m; c++) map_rows(s, c, lam, s->Wy, s->slope->lu);
    w->factorizations++;
    return s->slope->factored = tl_dense_lu(s->n, s->slope->lu, s->n, s->slope->swap);
}

/* `length` of the way along t, into the cone: what the law allows. Left in z. Returns the residual there. */
static double polish_along(state *s, const double *lam, double length, tl_work *w)
{
    for (int64_t i = 0; i < s->n; i++) s->z[i] = lam[i] - length * s->t[i];
    for (int64_t c = 0; c < s->m; c++) {
        double *l = s->z + 3 * c;
        if (box_of(s, c)) {
            tl_project_box(box_of(s, c), l, l);
            continue;
        }
        l[0] = fmax(l[0], 0);
        tl_project_disc(s->p->mu[c] * l[0], l + 1);
    }
    multiply(s, s->z, s->Wz, w);
    return residual(s, s->z, s->Wz);
}

/* From lam, as long as the residual falls. Converges quadratically where the map is smooth, which multipliers and
 * shifts do not; with a derivative from before as long as that shrinks the residual well. Returns the residual. */
static double polish(state *s, const tl_stop *stop, double *lam, double now, tl_work *w)
{
    bool old = s->slope->factored;
    for (int k = 0; k < POLISH_MAX && now > stop->tolerance && !tl_stop_spent(stop, w);) {
        multiply(s, lam, s->Wy, w);
        if (!old && !factor_slope(s, lam, w)) break;
        for (int64_t c = 0; c < s->m; c++) map_value(s, c, lam, s->Wy, s->t);
        tl_dense_lu_solve(s->n, s->slope->lu, s->n, s->slope->swap, s->t);
        double best = polish_along(s, lam, 1, w), length = 0.5;
        if (old && !(best <= CHORD_SHARE * now)) {
            old = false;
            continue;
        }
        for (int tries = 1; tries < POLISH_TRIES && !(best < now); tries++, length *= 0.5)
            best = polish_along(s, lam, length, w);
        if (!(best < now)) break;
        k += !old;
        old = true;
        now = best;
        memcpy(lam, s->z, sizeof *lam * (size_t)s->n);
    }
    if (s->slope == &s->own) s->own.factored = false; /* its room is that of S */
    return now;
}

/* ---- methods ---- */

static size_t bytes(const tl_contact *p, const tl_options *o)
{
    (void)o;
    int64_t n = p->space->n, m = n / 3;
    return 4 * TL_ARENA_ROOM(double, m) + 13 * TL_ARENA_ROOM(double, n) + TL_ARENA_ROOM(double, 9 * m) +
           2 * TL_ARENA_ROOM(int32_t, m) + TL_ARENA_ROOM(int32_t, n) + TL_ARENA_ROOM(double, n *n) + 1024;
}

static bool take(state *s, const tl_contact *p, tl_arena *a)
{
    if (p->W.apply != apply) return false;
    *s = (state){.p = p, .W = ((const tl_contact_dense *)p->W.ctx)->W, .n = p->space->n, .m = p->space->n / 3};
    double **const of_contacts[] = {&s->w_n, &s->w_t, &s->r, &s->s};
    double **const of_rows[] = {&s->lam, &s->best, &s->y, &s->Wy, &s->x, &s->P, &s->WP, &s->z, &s->Wz, &s->t};
    for (size_t k = 0; k < sizeof of_contacts / sizeof *of_contacts; k++) *of_contacts[k] = TL_TAKE(a, double, s->m);
    for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) *of_rows[k] = TL_TAKE(a, double, s->n);
    s->B = TL_TAKE(a, double, 9 * s->m);
    s->rank = TL_TAKE(a, int32_t, s->m);
    s->col0 = TL_TAKE(a, int32_t, s->m);
    s->own.swap = TL_TAKE(a, int32_t, s->n);
    s->own.lu = s->S = TL_TAKE(a, double, s->n * s->n);
    s->slope = ((const tl_contact_dense *)p->W.ctx)->slope;
    if (!s->slope) s->slope = &s->own;
    for (int64_t c = 0; c < s->m; c++) tl_contact_scales(p->blocks + 9 * c, &s->w_n[c], &s->w_t[c]);
    return true;
}

/* Of contacts that would close without impulses, m/s. */
static double fastest_approach(const tl_contact *p)
{
    double fastest2 = 0;
    for (int64_t c = 0; c < p->space->n / 3; c++) {
        const double *q = p->q + 3 * c;
        if (q[0] < 0) fastest2 = fmax(fastest2, q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    }
    return sqrt(fastest2);
}

/* What a bound takes is there to the last bit: callers ask whether a limit pushes. */
static void snap(state *s, double *lam, tl_work *w)
{
    if (!s->p->boxes) return;
    multiply(s, lam, s->Wy, w);
    for (int64_t k = 3 * (s->m - s->p->boxes); k < s->n; k++) {
        const tl_contact_box *box = box_of(s, k / 3);
        const double x = lam[k] - (s->p->q[k] + s->Wy[k]) / s->p->blocks[9 * (k / 3) + 4 * (k % 3)];
        const double to = tl_contact_clamp(x, box->lo[k % 3], box->hi[k % 3]);
        if (to != x) lam[k] = to;
    }
}

static tl_outcome search(state *s, const tl_stop *stop, double *lam, tl_work *w)
{
    const tl_contact *p = s->p;
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS};
    for (int64_t c = 0; c < s->m; c++) {
        double x[3] = {lam[3 * c], lam[3 * c + 1], lam[3 * c + 2]};
        project(s, c, x, lam + 3 * c);
    }
    multiply(s, lam, s->Wy, w);
    out.residual = residual(s, lam, s->Wy);
    if (!isfinite(out.residual)) out.result = TL_BROKE_DOWN;
    if (out.residual <= stop->tolerance) out.result = TL_CONVERGED;
    if (out.result == TL_OUT_OF_ITERATIONS && out.residual > SWEEP_ABOVE * fastest_approach(p)) {
        sweep(s, SWEEPS_FIRST, false, lam, s->Wy, w);
        multiply(s, lam, s->Wy, w);
        out.residual = residual(s, lam, s->Wy);
        if (out.residual <= stop->tolerance) out.result = TL_CONVERGED;
    }
    if (out.result != TL_OUT_OF_ITERATIONS) return out;
    int max = stop->max_iterations ? stop->max_iterations : NEWTON_MAX;
    for (int round = 0; round < ROUNDS && out.result == TL_OUT_OF_ITERATIONS; round++) {
        out.residual = polish(s, stop, lam, out.residual, w);
        if (!(out.residual <= stop->tolerance)) minimise(s, stop, out.iterations + max / 3, lam, &out, w);
        if (!(out.residual <= stop->tolerance)) out.residual = polish(s, stop, lam, out.residual, w);
        if (out.residual <= stop->tolerance) out.result = TL_CONVERGED;
        if (out.result != TL_OUT_OF_ITERATIONS || round + 1 == ROUNDS) break;
        sweep(s, SWEEPS_LAST, false, lam, s->Wy, w);
        multiply(s, lam, s->Wy, w);
        out.residual = residual(s, lam, s->Wy);
    }
    return out;
}

static tl_outcome run(const tl_contact *p, const tl_pairs *t, const tl_options *o, const tl_stop *stop, double *lam,
                      tl_arena *a, tl_work *w)
{
    (void)t, (void)o;
    state s;
    if (!take(&s, p, a)) return (tl_outcome){.result = TL_NOT_APPLICABLE, .residual = NAN};
    const tl_outcome out = search(&s, stop, lam, w);
    snap(&s, lam, w);
    return out;
}

/* The box has no natural map here: it stops when sweeps no longer move impulses. */
static tl_outcome run_pyramid(const tl_contact *p, const tl_pairs *t, const tl_options *o, const tl_stop *stop,
                              double *lam, tl_arena *a, tl_work *w)
{
    (void)t, (void)o;
    state s;
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS};
    if (!take(&s, p, a)) return (tl_outcome){.result = TL_NOT_APPLICABLE, .residual = NAN};
    int max = stop->max_iterations ? stop->max_iterations : 10 * NEWTON_MAX;
    while (out.iterations < max && out.result == TL_OUT_OF_ITERATIONS) {
        memcpy(s.best, lam, sizeof *lam * (size_t)s.n);
        sweep(&s, LOOK_EVERY, true, lam, s.Wy, w);
        out.iterations += LOOK_EVERY;
        out.residual = 0;
        for (int64_t c = 0; c < s.m; c++)
            for (int k = 0; k < 3; k++)
                out.residual = fmax(out.residual, fabs(lam[3 * c + k] - s.best[3 * c + k]) / fmin(s.w_n[c], s.w_t[c]));
        if (!isfinite(out.residual)) out.result = TL_BROKE_DOWN;
        if (out.residual <= stop->tolerance) out.result = TL_CONVERGED;
    }
    return out;
}

const tl_contact_method tl_contact_newton_dense = {
    "newton-dense", "newton-shift on impulses, for a dense W of bodies that deform", true, false, bytes, run};
const tl_contact_method tl_contact_pyramid_dense = {
    "pgs-pyramid-dense", "sweeps with a box in place of the disc, for a dense W", false, false, bytes, run_pyramid};
