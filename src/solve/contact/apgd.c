/* Accelerated projected gradient on the cone, products only. With the shift, refreshed every SHIFT_EVERY iterations,
 * it solves true Coulomb friction; without it the convex relaxation. The step of a contact is its own mass
 * over L, found by doubling when a step meets more curvature than L promises and lowered slowly otherwise. */
#include <string.h>

#include "solve/contact/methods.h"
#include "solve/contact/pairs.h"

#define SHIFT_EVERY 20
#define LOWER 0.98 /* of L after each iteration */
#define ITERATIONS_DEFAULT 500

typedef struct state {
    const tl_pairs *t;
    double *s;                              /* [m] shift */
    double *x, *x_old, *y, *u, *u_old, *uy; /* [3m] impulses, and velocities at them */
    double *dv;
} state;

static void velocities(const state *s, const double *lam, double *u, tl_work *w)
{
    tl_pairs_push(s->t, lam, s->dv);
    for (int32_t c = 0; c < s->t->contacts; c++) tl_pair_velocity(&s->t->pair[c], s->dv, u + 3 * (int64_t)c);
    w->products++;
}

static double residual_at(const state *s, const double *lam, const double *u, bool shift)
{
    double max = 0;
    for (int32_t c = 0; c < s->t->contacts; c++) {
        const tl_pair *p = &s->t->pair[c];
        const double *l = lam + 3 * (int64_t)c, *v = u + 3 * (int64_t)c;
        double e = 0;
        if (shift) {
            e = tl_pair_residual(p, v, l);
        } else {
            double mass = fmin(p->w_n, p->w_t), y[3], P[3];
            for (int k = 0; k < 3; k++) y[k] = l[k] - mass * v[k];
            tl_project_cone(p->mu, y, P);
            for (int k = 0; k < 3; k++) e = fmax(e, fabs(l[k] - P[k]) / mass);
        }
        if (!(e <= max)) max = isfinite(e) ? e : INFINITY;
    }
    return max;
}

static void refresh_shift(state *s, const double *u)
{
    for (int32_t c = 0; c < s->t->contacts; c++)
        s->s[c] = tl_pair_shift(&s->t->pair[c], u + 3 * (int64_t)c, s->x + 3 * (int64_t)c);
}

/* x = P_K(y - (w/L)(u(y) + s e_n)), with L doubled until the quadratic model holds. */
static void step(state *s, double *L, tl_work *w)
{
    for (;;) {
        double curve = 0, square = 0;
        for (int32_t c = 0; c < s->t->contacts; c++) {
            const tl_pair *p = &s->t->pair[c];
            int64_t at = 3 * (int64_t)c;
            double mass = fmin(p->w_n, p->w_t) / *L, z[3];
            for (int k = 0; k < 3; k++) z[k] = s->y[at + k] - mass * (s->uy[at + k] + (k ? 0 : s->s[c]));
            tl_project_cone(p->mu, z, s->x + at);
        }
        velocities(s, s->x, s->u, w);
        w->projections++;
        for (int32_t c = 0; c < s->t->contacts; c++) {
            double mass = fmin(s->t->pair[c].w_n, s->t->pair[c].w_t);
            for (int64_t k = 3 * (int64_t)c; k < 3 * (int64_t)c + 3; k++) {
                double d = s->x[k] - s->y[k];
                curve += d * (s->u[k] - s->uy[k]);
                square += d * d / mass;
            }
        }
        if (curve <= *L * square * (1 + 1e-12) || !isfinite(curve)) return;
        *L *= 2;
    }
}

static size_t bytes(const tl_contact *p, const tl_options *o)
{
    (void)o;
    int64_t m = p->space->n / 3;
    return TL_ARENA_ROOM(double, m) + 6 * TL_ARENA_ROOM(double, 3 * m) + tl_pairs_room(p);
}

static tl_outcome run(const tl_pairs *t, const tl_stop *stop, double *lam, tl_arena *a, tl_work *w, bool shift)
{
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS, .residual = NAN};
    int64_t n = 3 * (int64_t)t->contacts;
    state s = {.t = t, .s = TL_TAKE(a, double, t->contacts), .dv = TL_TAKE(a, double, tl_pairs_lanes(t))};
    double **all[] = {&s.x, &s.x_old, &s.y, &s.u, &s.u_old, &s.uy};
    for (int k = 0; k < 6; k++) *all[k] = TL_TAKE(a, double, n);
    memset(s.s, 0, sizeof(double) * (size_t)t->contacts);
    for (int32_t c = 0; c < t->contacts; c++)
        tl_project_cone(t->pair[c].mu, lam + 3 * (int64_t)c, s.x + 3 * (int64_t)c);
    velocities(&s, s.x, s.u, w);
    if (shift) refresh_shift(&s, s.u);
    memcpy(s.y, s.x, sizeof(double) * (size_t)n);
    memcpy(s.uy, s.u, sizeof(double) * (size_t)n);

    double L = 1, theta = 1, least = INFINITY;
    int cap = stop->max_iterations ? stop->max_iterations : ITERATIONS_DEFAULT;
    for (;; out.iterations++) {
        out.residual = residual_at(&s, s.x, s.u, shift);
        tl_work_record(w, out.residual);
        if (out.residual < least) {
            least = out.residual;
            memcpy(lam, s.x, sizeof(double) * (size_t)n);
        }
        if (!isfinite(out.residual)) out.result = TL_BROKE_DOWN;
        if (out.residual <= stop->tolerance) out.result = TL_CONVERGED;
        if (out.result != TL_OUT_OF_ITERATIONS || out.iterations >= cap || tl_stop_spent(stop, w)) break;
        if (shift && out.iterations % SHIFT_EVERY == SHIFT_EVERY - 1) refresh_shift(&s, s.u);

        memcpy(s.x_old, s.x, sizeof(double) * (size_t)n);
        memcpy(s.u_old, s.u, sizeof(double) * (size_t)n);
        step(&s, &L, w);
        L *= LOWER;

        /* momentum, dropped when it points uphill */
        double uphill = 0;
        for (int64_t k = 0; k < n; k++) uphill += (s.uy[k] + (k % 3 ? 0 : s.s[k / 3])) * (s.x[k] - s.x_old[k]);
        double next = 0.5 * (1 + sqrt(1 + 4 * theta * theta)), beta = (theta - 1) / next;
        theta = next;
        if (uphill > 0) theta = 1, beta = 0;
        for (int64_t k = 0; k < n; k++) {
            s.y[k] = s.x[k] + beta * (s.x[k] - s.x_old[k]);
            s.uy[k] = s.u[k] + beta * (s.u[k] - s.u_old[k]);
        }
    }
    out.residual = least;
    return out;
}

static tl_outcome run_shift(const tl_contact *p, const tl_pairs *t, const tl_options *o, const tl_stop *stop,
                            double *lam, tl_arena *a, tl_work *w)
{
    (void)o, (void)p;
    return run(t, stop, lam, a, w, true);
}

static tl_outcome run_convex(const tl_contact *p, const tl_pairs *t, const tl_options *o, const tl_stop *stop,
                             double *lam, tl_arena *a, tl_work *w)
{
    (void)o, (void)p;
    return run(t, stop, lam, a, w, false);
}

const tl_contact_method tl_contact_apgd_shift = {
    "apgd-shift", "accelerated projected gradient with shift: the best without a factorisation", true, true, bytes,
    run_shift};
const tl_contact_method tl_contact_apgd_convex = {
    "apgd-convex", "the same without the shift: the convex relaxation, lifts sliding bodies", false, true, bytes,
    run_convex};
