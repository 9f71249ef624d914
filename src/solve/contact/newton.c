/* Augmented Lagrangian on the friction cone, minimised over body velocities by a semismooth Newton method with one
 * sparse Cholesky factor of M + J^T D J per step; the De Saxce shift s = mu |u_t| turns the convex problem into
 * true Coulomb friction at its fixed point. Without the shift it solves the convex relaxation, which lifts
 * sliding bodies: "newton-convex", for comparison.
 *
 *   F(dv) = 1/2 |dv|_M^2 + sum_c 1/(2 r_c) |P_K(lam_c - r_c (u_c + s_c e_n))|^2,   u = q + J dv,  r_c = kappa min(w_n, w_t)
 *
 * The answer's velocities always come from its impulses, so momentum is kept to rounding whatever was reached. */
#include <float.h>
#include <string.h>

#include "solve/contact/admm.h"
#include "solve/contact/body_lu.h"
#include "solve/contact/momentum.h"
#include "solve/contact/newton.h"
#include "solve/contact/sweeps.h"
#include "solve/slope.h"

#define KAPPA_START 1e3     /* penalty over the contact's own mass */
#define KAPPA_MAX_LEAST 1e6 /* and 1e4 times the largest mass ratio of a contact pair */
#define JOINT_STIFFER 10.0 /* times that, of joint rows, which have no cone that a stiff penalty makes hard to solve: */
#define JOINT_LEAST 1e4    /* at least this, while contacts have less, */
#define JOINT_MOST 1e8     /* and at most; rounding of velocities times the penalty is what forces are off by */
#define INNER_MAX 25       /* Newton steps before a penalty is called too stiff */
#define NEWTON_MAX 600     /* Newton steps in all, unless the caller asks for another cap, */
#define NEWTON_SWEEPS 7200 /* and no more than what so many sweeps cost: 600 steps up to 200 bodies, 120 at 1000 */
#define SWEEP_ABOVE 1e-3   /* of g dt (`slow`): residual of the start above which sweeps come first */
#define SWEEPS_WORTH 40    /* Newton steps: what sweeps with momentum, which come first, may cost */
#define SWEEPS_MAX 2000    /* of them */
#define SWEEPS_FEW 100     /* plain ones after them, in islands that go on to the aim with all its steps */
#define COLD_ABOVE 1e-2 /* of it: residual after those sweeps above which ADMM goes on, from a start without forces */
#define COLD_KAPPA 30.0
#define COLD_ITERATIONS 60
#define SWEEPS_LAST 100    /* when the best residual is still above SWEEP_ABOVE */
#define AIM_STEPS 30       /* Newton steps that may be spent on going below the tolerance, towards the aim, */
#define AIM_CONTACTS 100   /* in islands of so many contacts; larger ones spend as much in all, on fewer steps, */
#define AIM_LEAST 6        /* and none when these would be fewer: above TL_NEWTON_AIM_MAX */
#define ROUNDS_MAX 200     /* updates of the multipliers, with Newton steps or without */
#define COULOMB_SLOW 0.3   /* of the round before: a residual above it, and Coulomb's law itself is tried */
#define COULOMB_KAPPA 30.0 /* penalty of its first round */
#define COULOMB_KAPPA_MAX 1e6
#define COULOMB_UP 2.0   /* after an easy round, of at most COULOMB_EASY Newton steps */
#define COULOMB_DOWN 5.0 /* after a round that failed */
#define COULOMB_EASY 5
#define COULOMB_STEPS 12     /* Newton steps of a round, at most */
#define COULOMB_GAP 0.2      /* of the residual: where they stop */
#define COULOMB_ENOUGH 0.2   /* of the residual: what a round may leave */
#define COULOMB_PATIENCE 200 /* Newton steps without halving the residual, then the shifted cone has another try */
#define STALLS_MAX 4         /* rounds in a row at the largest penalty that gain less than a tenth */
#define PRESSED_STEPS 60     /* Newton steps before that question is asked, and with what it allows */
#define PRESSED 1e-2 /* of the fastest scripted approach: contacts that stay so far from satisfied have no solution */
#define PRESSED_KAPPA 1e3 /* penalty of that question: bodies that would have to leave 30 times as fast count as held */
#define PRESSED_SLACK 1.05 /* of what a contact cannot have: a solution with room keeps its forces bounded (20 m v) */

typedef struct state {
    const tl_pairs *t;
    double kappa;
    bool shift;
    bool frictionless;        /* while asking whether there is a solution */
    bool coulomb;             /* Coulomb's law itself instead of the shifted cone: no longer the slope of a function */
    double aim;               /* m/s, at most the tolerance */
    double speed;             /* m/s: slow of tl_newton_ask */
    int newton_max;           /* Newton steps, at most */
    int sweeps;               /* with momentum, before Newton, at most */
    int aim_steps;            /* Newton steps below the tolerance, at most */
    double merit;             /* of dv: sum of m v^2 of the primal-dual gap */
    double *r;                /* [m] penalty of each contact, kg */
    double *s;                /* [m] shift, m/s */
    double *lam;              /* [3m] multipliers */
    double *best;             /* [3m] multipliers with the least residual */
    double *x;                /* [3m] lam - r (u + s e_n) at dv */
    double *Jd;               /* [3m] J d */
    double *dv, *d, *g, *out; /* lanes of bodies: velocity change, direction, gradient, scratch */
    tl_body_matrix H;         /* M + J^T D J */
    tl_body_lu lu;            /* the same for Coulomb's law */
    double *to;               /* [3m] best multipliers of the rounds with Coulomb's law */
    tl_momentum first;        /* sweeps */
} state;

/* Normal first, then friction within the disc that it leaves. */
static void project_coulomb(double mu, const double x[3], double P[3])
{
    if (mu < 0) {
        tl_project_resistance(mu, x, P);
        return;
    }
    P[0] = fmax(0, x[0]);
    P[1] = x[1], P[2] = x[2];
    tl_project_disc(mu * P[0], P + 1);
}

/* r dP of a resistance: symmetric. */
static bool resistance_slope(double mu, double r, const double x[3], double D[9])
{
    double length = sqrt(x[1] * x[1] + x[2] * x[2]), share = length > -mu ? -mu / length : 1;
    double e[2] = {share < 1 ? x[1] / length : 0, share < 1 ? x[2] / length : 0};
    memset(D, 0, 9 * sizeof *D);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) D[3 * (i + 1) + 1 + j] = r * share * ((i == j) - e[i] * e[j]);
    return share > 0;
}

/* r dP at x: not symmetric, friction follows the normal force and not the other way round. */
static bool coulomb_slope(double mu, double r, const double x[3], double D[9])
{
    if (mu < 0) return resistance_slope(mu, r, x, D);
    double length = sqrt(x[1] * x[1] + x[2] * x[2]);
    memset(D, 0, 9 * sizeof *D);
    if (!(x[0] > 0)) return false;
    D[0] = r;
    if (mu > 0 && length <= mu * x[0]) {
        D[4] = D[8] = r;
    } else if (mu > 0) {
        double e[2] = {x[1] / length, x[2] / length}, share = mu * x[0] / length;
        for (int i = 0; i < 2; i++) {
            D[3 * (i + 1)] = r * mu * e[i];
            for (int j = 0; j < 2; j++) D[3 * (i + 1) + 1 + j] = r * share * ((i == j) - e[i] * e[j]);
        }
    }
    return true;
}

/* Penalty of a joint row over its mass, kg. With a compliance its impulse is P((lam - r u) / (1 + r give)). */
static double row_penalty(const state *s, const tl_pair *p, int k)
{
    return fmin(JOINT_MOST, fmax(JOINT_LEAST, JOINT_STIFFER * s->kappa)) / p->W[4 * k];
}

/* What the projection is of, for velocities u. */
static void ask(const state *s, int32_t c, const double l[3], const double u[3], double x[3])
{
    const tl_pair *p = &s->t->pair[c];
    for (int k = 0; k < 3; k++) {
        const double r = p->box ? row_penalty(s, p, k) : s->r[c];
        x[k] = (l[k] - r * u[k]) / (p->box ? 1 + r * p->box->give[k] : 1);
    }
}

/* r dP of joint rows: diagonal. */
static bool box_slope(const state *s, const tl_pair *p, const double x[3], double D[9])
{
    bool any = false;
    memset(D, 0, 9 * sizeof *D);
    for (int k = 0; k < 3; k++) {
        if (!(x[k] > p->box->lo[k] && x[k] < p->box->hi[k])) continue;
        const double r = row_penalty(s, p, k);
        D[4 * k] = r / (1 + r * p->box->give[k]);
        any = true;
    }
    return any;
}

static double friction_of(const state *s, int32_t c)
{
    double mu = s->t->pair[c].mu;
    return !s->frictionless ? mu : mu < 0 ? -DBL_MIN : 0; /* a resistance stays one, without a radius */
}

/* r dP_K at x: symmetric positive semidefinite. */
static bool cone_slope(double mu, double r, const double x[3], double D[9])
{
    if (mu < 0) return resistance_slope(mu, r, x, D);
    double length = sqrt(x[1] * x[1] + x[2] * x[2]);
    memset(D, 0, 9 * sizeof *D);
    if (mu == 0) { /* the cone is a ray: no stiffness across it */
        D[0] = x[0] > 0 ? r : 0;
        return x[0] > 0;
    }
    if (length <= mu * x[0]) {
        D[0] = D[4] = D[8] = r;
        return true;
    }
    if (mu * length <= -x[0]) return false;
    double q = 1 / (1 + mu * mu), n = (x[0] + mu * length) * q, share = mu * n / length;
    double e[2] = {x[1] / length, x[2] / length};
    D[0] = r * q;
    for (int i = 0; i < 2; i++) {
        D[1 + i] = D[3 * (i + 1)] = r * q * mu * e[i];
        for (int j = 0; j < 2; j++)
            D[3 * (i + 1) + 1 + j] = r * ((i == j ? share : 0) + (q * mu * mu - share) * e[i] * e[j]);
    }
    return true;
}

static void assemble(state *s)
{
    tl_body_matrix_start(&s->H, s->t);
    for (int32_t c = 0; c < s->t->contacts; c++) {
        double D[9];
        const tl_pair *p = &s->t->pair[c];
        const double *x = s->x + 3 * (int64_t)c;
        if (p->box ? box_slope(s, p, x, D) : cone_slope(friction_of(s, c), s->r[c], x, D))
            tl_body_matrix_add(&s->H, s->t, c, D);
    }
}

/* ---- function, gradient, line search ---- */

static void mass_times(const tl_pairs *t, const double *v, double *out)
{
    for (int32_t i = 0; i < t->moving; i++) {
        const double *w = v + TL_BODY_LANES * (int64_t)i, *I = t->inertia + 9 * (int64_t)i;
        double *o = out + TL_BODY_LANES * (int64_t)i;
        for (int k = 0; k < 3; k++) {
            o[k] = t->mass[i] * w[k];
            o[3 + k] = I[3 * k] * w[3] + I[3 * k + 1] * w[4] + I[3 * k + 2] * w[5];
        }
        o[6] = o[7] = 0;
    }
}

/* x at dv; `out` = M^-1 J^T P_K(x), what the impulses of this dv would do. Returns the primal-dual gap in m/s. */
static double evaluate(state *s)
{
    const tl_pairs *t = s->t;
    memset(s->out, 0, sizeof(double) * (size_t)tl_pairs_lanes(t));
    for (int32_t c = 0; c < t->contacts; c++) {
        double u[3], *x = s->x + 3 * (int64_t)c, P[3];
        const double *l = s->lam + 3 * (int64_t)c;
        tl_pair_velocity(&t->pair[c], s->dv, u);
        if (!s->coulomb) u[0] += s->s[c];
        ask(s, c, l, u, x);
        if (t->pair[c].box)
            tl_project_box(t->pair[c].box, x, P);
        else if (s->coulomb)
            project_coulomb(t->pair[c].mu, x, P);
        else
            tl_project_cone(friction_of(s, c), x, P);
        tl_pair_push(&t->pair[c], P, s->out);
    }
    double gap = 0;
    s->merit = 0;
    for (int32_t i = 0; i < t->moving; i++) {
        const double *v = s->dv + TL_BODY_LANES * (int64_t)i, *o = s->out + TL_BODY_LANES * (int64_t)i;
        double linear = 0, angular = 0;
        for (int k = 0; k < 3; k++) {
            double a = v[k] - o[k], b = v[3 + k] - o[3 + k];
            linear += a * a;
            angular += b * b;
        }
        s->merit += t->mass[i] * (linear + t->gyration[i] * t->gyration[i] * angular);
        double e = fmax(sqrt(linear), t->gyration[i] * sqrt(angular));
        if (!(e <= gap)) gap = isfinite(e) ? e : INFINITY;
    }
    return gap;
}

typedef struct line {
    const state *s;
    double first, second; /* linear part: slope at the start, and what it grows by */
} line;

/* F' along d at step a: linear part from M, projections from the contacts. */
static double slope(const void *along, double a)
{
    const line *l = along;
    const state *s = l->s;
    double sum = l->first + a * l->second;
    for (int32_t c = 0; c < s->t->contacts; c++) {
        const double *x = s->x + 3 * (int64_t)c, *Jd = s->Jd + 3 * (int64_t)c;
        const tl_pair *p = &s->t->pair[c];
        double y[3], P[3], step[3] = {a * Jd[0], a * Jd[1], a * Jd[2]};
        ask(s, c, (const double[3]){0, 0, 0}, step, y);
        for (int k = 0; k < 3; k++) y[k] += x[k];
        if (p->box)
            tl_project_box(p->box, y, P);
        else
            tl_project_cone(friction_of(s, c), y, P);
        sum -= Jd[0] * P[0] + Jd[1] * P[1] + Jd[2] * P[2];
    }
    return sum;
}

static double line_search(state *s)
{
    const tl_pairs *t = s->t;
    double dMv = 0, dMd = 0;
    mass_times(t, s->d, s->g);
    for (int64_t k = 0; k < TL_BODY_LANES * (int64_t)t->moving; k++)
        dMv += s->g[k] * s->dv[k], dMd += s->g[k] * s->d[k];
    for (int32_t c = 0; c < t->contacts; c++) {
        tl_lanes4 u = tl_pair_change(&t->pair[c], s->d);
        for (int k = 0; k < 3; k++) s->Jd[3 * (int64_t)c + k] = u[k];
    }
    return tl_slope_search(slope, &(line){s, dMv, dMd});
}

/* One Newton step on dv. False when the factor failed. */
static bool newton_step(state *s, tl_work *w)
{
    const tl_pairs *t = s->t;
    assemble(s);
    /* g = M (dv - out) is the gradient: M^-1 g is dv - out by construction */
    for (int64_t k = 0; k < TL_BODY_LANES * (int64_t)t->moving; k++) s->d[k] = s->out[k] - s->dv[k];
    mass_times(t, s->d, s->g);
    w->factorizations++;
    if (!tl_body_matrix_factor(&s->H)) return false;
    tl_body_matrix_solve(&s->H, s->g, s->d);
    memset(s->d + TL_BODY_LANES * (int64_t)t->moving, 0, TL_BODY_LANES * sizeof *s->d); /* the place that stays 0 */
    double a = line_search(s);
    for (int64_t k = 0; k < TL_BODY_LANES * (int64_t)t->moving; k++) s->dv[k] += a * s->d[k];
    return true;
}

/* ---- outer loop ---- */

static void set_penalty(state *s, double kappa)
{
    s->kappa = kappa;
    for (int32_t c = 0; c < s->t->contacts; c++) s->r[c] = kappa * fmin(s->t->pair[c].w_n, s->t->pair[c].w_t);
}

static double largest_mass_ratio(const tl_pairs *t)
{
    double ratio = 1;
    for (int32_t c = 0; c < t->contacts; c++) {
        int32_t a = t->pair[c].body[0], b = t->pair[c].body[1];
        if (a < 0 || b < 0) continue;
        double q = t->mass[a] / t->mass[b];
        ratio = fmax(ratio, fmax(q, 1 / q));
    }
    return ratio;
}

/* lam = P_K(x); s from the slip at dv where a contact pushes. Returns the largest change of s. */
static double update_multipliers(state *s)
{
    double max = 0;
    for (int32_t c = 0; c < s->t->contacts; c++) {
        double u[3], *l = s->lam + 3 * (int64_t)c;
        if (s->t->pair[c].box)
            tl_project_box(s->t->pair[c].box, s->x + 3 * (int64_t)c, l);
        else
            tl_project_cone(s->t->pair[c].mu, s->x + 3 * (int64_t)c, l);
        if (!s->shift) continue;
        tl_pair_velocity(&s->t->pair[c], s->dv, u);
        double fresh = tl_pair_shift(&s->t->pair[c], u, l);
        max = fmax(max, fabs(fresh - s->s[c]));
        s->s[c] = fresh;
    }
    return max;
}

double tl_newton_residual(const tl_pairs *t, bool shift, const double *lam, double *out)
{
    if (shift) return tl_pairs_residual(t, lam, out);
    /* convex relaxation: lam against P_K(lam - w u) */
    double max = 0;
    tl_pairs_push(t, lam, out);
    for (int32_t c = 0; c < t->contacts; c++) {
        const tl_pair *p = &t->pair[c];
        double u[3], y[3], P[3], w = fmin(p->w_n, p->w_t);
        const double *l = lam + 3 * (int64_t)c;
        tl_pair_velocity(p, out, u);
        if (p->box) {
            max = fmax(max, tl_contact_box_residual(p->box, p->W, u, l));
            continue;
        }
        for (int k = 0; k < 3; k++) y[k] = l[k] - w * u[k];
        tl_project_cone(p->mu, y, P);
        for (int k = 0; k < 3; k++) max = fmax(max, fabs(l[k] - P[k]) / w);
    }
    return max;
}

/* Distance from the solution that this variant asks for, m/s. */
static double measure(state *s) { return tl_newton_residual(s->t, s->shift, s->lam, s->out); }

static void keep_best(state *s, double residual, double *least)
{
    if (residual >= *least) return;
    *least = residual;
    memcpy(s->best, s->lam, 3 * sizeof(double) * (size_t)s->t->contacts);
}

/* One Newton step on Coulomb's law; the length is halved until the gap shrinks. False when it does not, or the
 * factor failed. */
static bool coulomb_step(state *s, double *gap, tl_work *w)
{
    const tl_pairs *t = s->t;
    const int64_t lanes = TL_BODY_LANES * (int64_t)t->moving;
    const double merit = s->merit;
    tl_body_lu_start(&s->lu, t);
    for (int32_t c = 0; c < t->contacts; c++) {
        double D[9];
        const tl_pair *p = &t->pair[c];
        const double *x = s->x + 3 * (int64_t)c;
        if (p->box ? box_slope(s, p, x, D) : coulomb_slope(p->mu, s->r[c], x, D)) tl_body_lu_add(&s->lu, t, c, D);
    }
    for (int64_t k = 0; k < lanes; k++) s->d[k] = s->out[k] - s->dv[k];
    mass_times(t, s->d, s->g);
    w->factorizations++;
    if (!tl_body_lu_factor(&s->lu)) return false;
    tl_body_lu_solve(&s->lu, s->g, s->d);
    double done = 0;
    for (double a = 1; a > 0.01; a *= 0.5) {
        for (int64_t k = 0; k < lanes; k++) s->dv[k] += (a - done) * s->d[k];
        done = a;
        *gap = evaluate(s);
        if (s->merit < (1 - 0.1 * a) * merit) return true;
    }
    return false;
}

/* Rounds with Coulomb's law itself: lam is the centre of a proximal step, the equation v = v*(P(lam - r u(v))) is
 * solved by Newton, and lam becomes P(lam - r u). A small penalty keeps the step short and easy, so it grows while
 * steps are easy and comes down where one fails: a trust region. Converges where the shifted cone circles, because
 * what a contact slides by follows its normal force within the step. Ends when spent, solved, or without a gain for
 * COULOMB_PATIENCE Newton steps. Returns the residual; multipliers and shifts are those of the best round. */
static double coulomb_rounds(state *s, const tl_stop *stop, int newton_max, double last, double *least, tl_outcome *out,
                             tl_work *w)
{
    const tl_pairs *t = s->t;
    const size_t size = 3 * sizeof(double) * (size_t)t->contacts;
    const double kappa = s->kappa;
    double residual = last, reached = last, now = COULOMB_KAPPA, mark = last;
    int since = out->iterations;
    memcpy(s->to, s->lam, size);
    s->coulomb = true;
    tl_pairs_push(t, s->lam, s->dv);
    for (int round = 0; round < ROUNDS_MAX && out->iterations < newton_max; round++) {
        set_penalty(s, now);
        double goal = fmax(0.1 * s->aim, COULOMB_GAP * residual), gap = evaluate(s);
        bool good = true;
        int inner = 0;
        for (; good && gap > goal && inner < COULOMB_STEPS && out->iterations < newton_max; inner++) {
            good = coulomb_step(s, &gap, w);
            out->iterations++;
        }
        if (!(gap <= fmax(goal, COULOMB_ENOUGH * residual))) {
            now /= COULOMB_DOWN;
            tl_pairs_push(t, s->lam, s->dv);
            if (now < 1e-2) break;
            continue;
        }
        for (int32_t c = 0; c < t->contacts; c++)
            if (t->pair[c].box)
                tl_project_box(t->pair[c].box, s->x + 3 * (int64_t)c, s->lam + 3 * (int64_t)c);
            else
                project_coulomb(t->pair[c].mu, s->x + 3 * (int64_t)c, s->lam + 3 * (int64_t)c);
        residual = measure(s);
        w->outer++;
        tl_work_record(w, residual);
        keep_best(s, residual, least);
        if (residual < reached) {
            reached = residual;
            memcpy(s->to, s->lam, size);
        }
        if (residual <= s->aim || (*least <= stop->tolerance && out->iterations >= s->aim_steps)) break;
        if (residual < 0.5 * mark) mark = residual, since = out->iterations;
        if (out->iterations - since > COULOMB_PATIENCE) break;
        if (inner <= COULOMB_EASY) now = fmin(COULOMB_KAPPA_MAX, now * COULOMB_UP);
    }
    set_penalty(s, kappa);
    s->coulomb = false;
    memcpy(s->lam, s->to, size);
    tl_pairs_push(t, s->lam, s->dv);
    for (int32_t c = 0; c < t->contacts; c++) {
        double u[3];
        tl_pair_velocity(&t->pair[c], s->dv, u);
        s->s[c] = tl_pair_shift(&t->pair[c], u, s->lam + 3 * (int64_t)c);
    }
    return reached;
}

static void minimise(state *s, const tl_stop *stop, int newton_max, double *lam, tl_outcome *out, tl_work *w)
{
    const tl_pairs *t = s->t;
    double least = INFINITY, last = out->residual;
    int stalls = 0, next = 1; /* round from which on Coulomb's law may be tried */
    double kappa_max = fmax(KAPPA_MAX_LEAST, 1e4 * largest_mass_ratio(t));
    memcpy(s->lam, lam, 3 * sizeof(double) * (size_t)t->contacts);
    tl_pairs_push(t, s->lam, s->dv);
    keep_best(s, last, &least);
    set_penalty(s, KAPPA_START);
    for (int round = 0; out->iterations < newton_max && !tl_stop_spent(stop, w); round++) {
        if (least <= stop->tolerance && out->iterations >= s->aim_steps) break;
        if (round == ROUNDS_MAX || stalls == STALLS_MAX) {
            out->result = TL_STALLED;
            break;
        }
        double goal = fmax(0.1 * s->aim, 0.05 * last), gap = evaluate(s);
        int inner = 0;
        for (; gap > goal && inner < INNER_MAX && out->iterations < newton_max; inner++) {
            if (!newton_step(s, w)) {
                out->result = TL_BROKE_DOWN;
                goto done;
            }
            out->iterations++;
            gap = evaluate(s);
            if (!isfinite(gap)) break;
        }
        if (!(gap <= last) && inner > 0) {
            /* too stiff to solve: multipliers stay, the penalty comes down */
            if (s->kappa <= 1) break;
            set_penalty(s, s->kappa / 10);
            tl_pairs_push(t, s->lam, s->dv);
            continue;
        }
        double ds = update_multipliers(s), residual = measure(s);
        w->outer++;
        tl_work_record(w, residual);
        keep_best(s, residual, &least);
        if (residual <= s->aim) {
            out->result = TL_CONVERGED;
            break;
        }
        stalls = residual > 0.9 * last && s->kappa >= kappa_max ? stalls + 1 : 0;
        if (residual > 0.2 * last) {
            if (ds < 0.3 * residual && s->kappa < kappa_max)
                set_penalty(s, s->kappa * 10);
            else if (ds >= 0.3 * residual && s->kappa > KAPPA_START)
                set_penalty(s, s->kappa / 10);
        }
        const bool slow = residual > COULOMB_SLOW * last;
        last = residual;
        if (!s->shift || !slow || round < next) continue;
        last = coulomb_rounds(s, stop, newton_max, last, &least, out, w);
        if (last <= s->aim) {
            out->result = TL_CONVERGED;
            break;
        }
        next = round + 4;
    }
done:
    memcpy(lam, s->best, 3 * sizeof(double) * (size_t)t->contacts);
    out->residual = least;
    if (least <= stop->tolerance) out->result = TL_CONVERGED;
}

/* De Saxce shifts of lam, from the velocities that it causes. Returns the residual. */
static double start_shift(state *s, const double *lam)
{
    double max = tl_pairs_residual(s->t, lam, s->dv);
    for (int32_t c = 0; c < s->t->contacts; c++) {
        double u[3];
        tl_pair_velocity(&s->t->pair[c], s->dv, u);
        s->s[c] = tl_pair_shift(&s->t->pair[c], u, lam + 3 * (int64_t)c);
    }
    return max;
}

/* From lam to lam: sweeps while it is far away, ADMM where nothing is known, then Newton. */
static tl_outcome solve_from(state *s, const tl_stop *stop, int newton_max, double *lam, tl_work *w)
{
    const tl_pairs *t = s->t;
    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS};
    bool forceless = true;
    for (int64_t k = 0; k < 3 * (int64_t)t->contacts && forceless; k++) forceless = lam[k] == 0;
    memset(s->s, 0, sizeof(double) * (size_t)t->contacts);
    memcpy(s->lam, lam, 3 * sizeof(double) * (size_t)t->contacts);
    out.residual = measure(s);
    if (!isfinite(out.residual)) out.result = TL_BROKE_DOWN;
    if (out.residual <= s->aim) out.result = TL_CONVERGED;
    const bool sweeps = s->shift && !t->joined; /* chains of joints are where sweeps creep */
    if (out.result == TL_OUT_OF_ITERATIONS && sweeps && out.residual > SWEEP_ABOVE * s->speed) {
        tl_contact_momentum(&s->first, t, stop->tolerance, s->sweeps, lam, s->x, s->out, w);
        if (s->aim_steps == AIM_STEPS) { /* few bodies that strike each other are often exact by then */
            tl_pairs_push(t, lam, s->dv);
            tl_contact_sweep(t, SWEEPS_FEW, TL_SWEEP_DISC, lam, s->dv, w);
        }
        out.residual = start_shift(s, lam);
        if (out.residual <= (s->aim_steps > 0 ? s->aim : stop->tolerance)) out.result = TL_CONVERGED;
    }
    if (out.result == TL_OUT_OF_ITERATIONS && sweeps && forceless && out.residual > COLD_ABOVE * s->speed) {
        tl_admm cold = {t, &s->H, COLD_KAPPA, s->x, s->Jd, s->d, s->g};
        tl_outcome admm = {.result = TL_OUT_OF_ITERATIONS};
        tl_admm_run(&cold, stop, COLD_ITERATIONS, lam, &admm, w);
        out.residual = start_shift(s, lam);
        if (out.residual <= s->aim) out.result = TL_CONVERGED;
    }
    if (out.result == TL_OUT_OF_ITERATIONS) minimise(s, stop, newton_max, lam, &out, w);
    if (sweeps && out.result != TL_CONVERGED && out.residual > SWEEP_ABOVE * s->speed) {
        tl_pairs_push(t, lam, s->dv);
        tl_contact_sweep(t, SWEEPS_LAST, TL_SWEEP_DISC, lam, s->dv, w);
        out.residual = tl_pairs_residual(t, lam, s->dv);
    }
    return out;
}

/* Speed at which scripted bodies come at the fastest contact, m/s. */
static double fastest_press(const tl_pairs *t)
{
    double press = 0;
    for (int32_t c = 0; c < t->contacts; c++) press = fmax(press, -t->pair[c].scripted);
    return press;
}

/* A body between the jaws of a scripted press has no velocity that all its contacts allow, and forces that grow for
 * ever. Where that is so, normals are relaxed by the least that must be (in the sense of the penalty, friction left
 * out, one convex minimum), which keeps forces bounded. z [m]: what is added to each normal velocity; false when
 * there is a solution. */
static bool relax_pressed(state *s, double *z, tl_work *w)
{
    const tl_pairs *t = s->t;
    double press = fastest_press(t), max = 0;
    s->frictionless = true;
    memset(s->s, 0, sizeof(double) * (size_t)t->contacts);
    memset(s->lam, 0, 3 * sizeof(double) * (size_t)t->contacts);
    memset(s->dv, 0, sizeof(double) * (size_t)tl_pairs_lanes(t));
    set_penalty(s, PRESSED_KAPPA);
    double gap = evaluate(s);
    for (int step = 0; step < INNER_MAX && gap > 0.1 * PRESSED * press; step++) {
        if (!newton_step(s, w)) break;
        gap = evaluate(s);
    }
    s->frictionless = false;
    for (int32_t c = 0; c < t->contacts; c++) {
        double u[3];
        tl_pair_velocity(&t->pair[c], s->dv, u);
        z[c] = t->pair[c].mu < 0 ? 0 : PRESSED_SLACK * fmax(0, -u[0]);
        max = fmax(max, z[c]);
    }
    return max > PRESSED * press;
}

int64_t tl_newton_step_cost(const tl_body_matrix *H, int32_t contacts)
{
    return 5 + tl_body_matrix_products(H) / contacts;
}

/* How much of what. */
static void set_budget(state *s)
{
    const int64_t contacts = s->t->contacts, step = tl_newton_step_cost(&s->H, s->t->contacts);
    const int64_t sweeps = SWEEPS_WORTH * step;
    s->sweeps = sweeps > SWEEPS_MAX ? SWEEPS_MAX : (int)sweeps;
    s->newton_max = NEWTON_SWEEPS / step < NEWTON_MAX ? (int)(NEWTON_SWEEPS / step) : NEWTON_MAX;
    const int64_t steps = contacts > AIM_CONTACTS ? AIM_STEPS * AIM_CONTACTS / contacts : AIM_STEPS;
    s->aim_steps = steps < AIM_LEAST ? 0 : (int)steps;
}

/* Sum of m u^2 of what lam misses by, J. */
static double energy_missed(state *s, const double *lam)
{
    const tl_pairs *t = s->t;
    double sum = 0;
    tl_pairs_push(t, lam, s->out);
    for (int32_t c = 0; c < t->contacts; c++) {
        double u[3];
        tl_pair_velocity(&t->pair[c], s->out, u);
        double e = tl_pair_residual(&t->pair[c], u, lam + 3 * (int64_t)c);
        sum += fmin(t->pair[c].w_n, t->pair[c].w_t) * e * e;
    }
    return isfinite(sum) ? sum : INFINITY;
}

/* One island, from lam to lam. Forces of the step before that are worse than none are forgotten: in all of the
 * island, as one contact that a ball rolled away from is no reason to forget a heap's. */
static tl_outcome solve_island(state *s, const tl_stop *stop, double *lam, tl_arena *a, tl_work *w)
{
    const tl_pairs *t = s->t;
    const size_t size = 3 * sizeof(double) * (size_t)t->contacts;
    memcpy(s->lam, lam, size);
    const double start = measure(s);
    if (start <= s->aim) return (tl_outcome){.result = TL_CONVERGED, .residual = start};
    double *z = TL_TAKE(a, double, t->contacts), *q = TL_TAKE(a, double, t->contacts);
    s->to = TL_TAKE(a, double, 3 * (int64_t)t->contacts);
    if (!z || !q || !s->to || !tl_body_matrix_build(&s->H, t, a) || !tl_body_lu_build(&s->lu, &s->H, a) ||
        !tl_momentum_build(&s->first, t, a))
        return (tl_outcome){.result = TL_BROKE_DOWN, .residual = start};
    memset(s->lam, 0, size);
    if (!(energy_missed(s, lam) <= energy_missed(s, s->lam))) memset(lam, 0, size);
    set_budget(s);
    if (!(s->speed > 0)) s->speed = tl_pairs_speed(t);
    const int cap = stop->max_iterations ? stop->max_iterations : s->newton_max;
    const bool pressed = fastest_press(t) > 0;
    const int first = pressed && cap > PRESSED_STEPS ? PRESSED_STEPS : cap;
    tl_outcome out = solve_from(s, stop, first, lam, w);
    if (out.result == TL_CONVERGED || !pressed) return out;
    if (!(out.residual > SWEEP_ABOVE * s->speed) || !relax_pressed(s, z, w)) {
        if (first == cap) return out;
        tl_outcome more = solve_from(s, stop, cap - first, lam, w);
        more.iterations += out.iterations;
        return more;
    }

    for (int32_t c = 0; c < t->contacts; c++) {
        q[c] = t->pair[c].q[0];
        t->pair[c].q[0] += z[c];
    }
    memset(lam, 0, size);
    tl_outcome relaxed = solve_from(s, stop, first, lam, w);
    for (int32_t c = 0; c < t->contacts; c++) t->pair[c].q[0] = q[c];
    memcpy(s->lam, lam, size);
    return (tl_outcome){TL_INFEASIBLE, out.iterations + relaxed.iterations, measure(s)};
}

/* Scratch of an island; false when memory is refused. */
static bool take(state *s, tl_arena *a)
{
    const int64_t m = s->t->contacts, lanes = tl_pairs_lanes(s->t);
    double **of_contacts[] = {&s->lam, &s->best, &s->x, &s->Jd}, **of_bodies[] = {&s->dv, &s->d, &s->g, &s->out};
    s->r = TL_TAKE(a, double, m);
    s->s = TL_TAKE(a, double, m);
    bool all = s->r && s->s;
    for (int k = 0; k < 4; k++) {
        *of_contacts[k] = TL_TAKE(a, double, 3 * m);
        *of_bodies[k] = TL_TAKE(a, double, lanes);
        all = all && *of_contacts[k] && *of_bodies[k];
    }
    return all;
}

size_t tl_newton_bytes(int32_t contacts, int32_t bodies)
{
    const size_t lanes = TL_ARENA_ROOM(double, TL_BODY_LANES *((int64_t)bodies + 1));
    return tl_momentum_bytes(contacts, bodies) + 4 * TL_ARENA_ROOM(double, contacts) +
           5 * TL_ARENA_ROOM(double, 3 * (int64_t)contacts) + 4 * lanes + tl_body_matrix_bytes(contacts, bodies) +
           tl_body_lu_bytes(bodies);
}

tl_outcome tl_newton_island(const tl_pairs *t, const tl_newton_ask *ask, double *lam, tl_arena *a, tl_work *w)
{
    state s = {.t = t, .shift = ask->shift, .aim = fmin(ask->aim, ask->stop.tolerance), .speed = ask->slow};
    size_t mark = tl_arena_mark(a);
    tl_outcome out = {.result = TL_BROKE_DOWN, .residual = NAN};
    if (take(&s, a)) out = solve_island(&s, &ask->stop, lam, a, w);
    tl_arena_release(a, mark);
    return out;
}
