/* ADMM: a linear solve on body velocities and an exact projection per contact, in turns. Few factorisations and
 * cheap iterations make it the best cold start; over many steps it may stop converging. The projection uses the new
 * normal impulse as the disc's radius, so fixed points are true Coulomb solutions, without a proof of convergence.
 *
 *   (M + J^T R J) dv = J^T (lam + R (z - q)),  u = q + J dv,  u <- 1.6 u - 0.6 z,
 *   lam' = P(lam - R u),  z = u + R^-1 (lam' - lam),   R = kappa (w_n, w_t, w_t) */
#include <string.h>

#include "solve/contact/admm.h"
#include "solve/contact/methods.h"

#define RELAX 1.6
#define KAPPA_START 100.0
#define BALANCE_EVERY 20
#define LOOK_EVERY 5 /* iterations between residuals */
#define ITERATIONS_DEFAULT 200

static double weight(const tl_admm *s, int32_t c, int k)
{
    return s->kappa * (k ? s->t->pair[c].w_t : s->t->pair[c].w_n);
}

static bool refactor(tl_admm *s, tl_work *w)
{
    tl_body_matrix_start(s->H, s->t);
    for (int32_t c = 0; c < s->t->contacts; c++) {
        double D[9] = {weight(s, c, 0), 0, 0, 0, weight(s, c, 1), 0, 0, 0, weight(s, c, 2)};
        tl_body_matrix_add(s->H, s->t, c, D);
    }
    w->factorizations++;
    return tl_body_matrix_factor(s->H);
}

/* rhs += J^T f for one contact. */
static void pull(const tl_pair *p, tl_lanes4 f, double *rhs)
{
    for (int side = 0; side < 2; side++) {
        double *r = rhs + TL_BODY_LANES * (int64_t)p->place[side];
        for (int k = 0; k < 6; k++) {
            tl_lanes4 x = p->J[side][k] * f;
            r[k] += x[0] + x[1] + x[2];
        }
    }
}

/* One iteration; the two changes, weighted by the contacts' masses, steer kappa. */
static void iterate(tl_admm *s, double *change_lam, double *change_z)
{
    const tl_pairs *t = s->t;
    memset(s->rhs, 0, sizeof(double) * (size_t)tl_pairs_lanes(t));
    for (int32_t c = 0; c < t->contacts; c++) {
        tl_lanes4 f = {0};
        for (int k = 0; k < 3; k++) {
            int64_t at = 3 * (int64_t)c + k;
            f[k] = s->lam[at] + weight(s, c, k) * (s->z[at] - t->pair[c].q[k]);
        }
        pull(&t->pair[c], f, s->rhs);
    }
    tl_body_matrix_solve(s->H, s->rhs, s->dv);
    *change_lam = *change_z = 0;
    for (int32_t c = 0; c < t->contacts; c++) {
        const tl_pair *p = &t->pair[c];
        double u[3], *l = s->lam + 3 * (int64_t)c, *z = s->z + 3 * (int64_t)c, fresh[3];
        tl_pair_velocity(p, s->dv, u);
        for (int k = 0; k < 3; k++) {
            u[k] = RELAX * u[k] + (1 - RELAX) * z[k];
            fresh[k] = l[k] - weight(s, c, k) * u[k];
        }
        fresh[0] = p->mu < 0 ? 0 : fmax(0, fresh[0]);
        tl_project_disc(p->mu < 0 ? -p->mu : p->mu * fresh[0], fresh + 1);
        for (int k = 0; k < 3; k++) {
            double mass = k ? p->w_t : p->w_n, moved = (fresh[k] - l[k]) / weight(s, c, k), next = u[k] + moved;
            *change_lam += mass * moved * moved;
            *change_z += mass * (next - z[k]) * (next - z[k]);
            z[k] = next;
            l[k] = fresh[k];
        }
    }
}

/* Kappa by which of the two still moves more. */
static double rebalance(double change_lam, double change_z)
{
    double q = sqrt(change_lam / fmax(change_z, 1e-300));
    return q > 30 ? 10 : q > 3 ? 3 : q < 1.0 / 30 ? 0.1 : q < 1.0 / 3 ? 1.0 / 3 : 1;
}

void tl_admm_run(tl_admm *s, const tl_stop *stop, int cap, double *lam, tl_outcome *out, tl_work *w)
{
    const tl_pairs *t = s->t;
    double least = INFINITY;
    size_t size = 3 * sizeof(double) * (size_t)t->contacts;
    memcpy(s->lam, lam, size);
    tl_pairs_push(t, s->lam, s->dv);
    for (int32_t c = 0; c < t->contacts; c++) {
        double *z = s->z + 3 * (int64_t)c;
        tl_pair_velocity(&t->pair[c], s->dv, z);
        if (z[0] < 0 && !(t->pair[c].mu < 0)) z[0] = 0;
    }
    bool fresh = false;
    for (int k = 0;; k++, out->iterations++) {
        if (k % LOOK_EVERY == 0 || k >= cap) {
            out->residual = tl_pairs_residual(t, s->lam, s->dv);
            tl_work_record(w, out->residual);
            if (out->residual < least) {
                least = out->residual;
                memcpy(lam, s->lam, size);
            }
            if (!isfinite(out->residual)) out->result = TL_BROKE_DOWN;
            if (out->residual <= stop->tolerance) out->result = TL_CONVERGED;
            if (out->result != TL_OUT_OF_ITERATIONS || k >= cap || tl_stop_spent(stop, w)) break;
        }
        if (!fresh && !refactor(s, w)) {
            out->result = TL_BROKE_DOWN;
            break;
        }
        double change_lam, change_z;
        iterate(s, &change_lam, &change_z);
        w->products++;
        double factor = k % BALANCE_EVERY == BALANCE_EVERY - 1 ? rebalance(change_lam, change_z) : 1;
        s->kappa *= factor;
        fresh = factor == 1;
    }
    out->residual = least;
}

static size_t bytes(const tl_contact *p, const tl_options *o)
{
    (void)o;
    return 2 * TL_ARENA_ROOM(double, p->space->n) + 2 * tl_pairs_room(p);
}

static tl_outcome run(const tl_contact *p, const tl_pairs *t, const tl_options *o, const tl_stop *stop, double *lam,
                      tl_arena *a, tl_work *w)
{
    (void)p, (void)o;
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS, .residual = NAN};
    int64_t n = 3 * (int64_t)t->contacts;
    tl_body_matrix H;
    tl_admm s = {.t = t, .H = &H, .kappa = KAPPA_START, .z = TL_TAKE(a, double, n), .lam = TL_TAKE(a, double, n)};
    s.dv = TL_TAKE(a, double, tl_pairs_lanes(t));
    s.rhs = TL_TAKE(a, double, tl_pairs_lanes(t));
    if (tl_body_matrix_build(&H, t, a))
        tl_admm_run(&s, stop, stop->max_iterations ? stop->max_iterations : ITERATIONS_DEFAULT, lam, &out, w);
    else
        out.result = TL_BROKE_DOWN;
    return out;
}

const tl_contact_method tl_contact_admm = {
    "admm", "alternating directions: few factors, cheap iterations, best from a cold start", true, true, bytes, run};
