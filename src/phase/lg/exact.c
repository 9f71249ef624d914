#include "phase/lg/exact.h"

#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "base/sum.h"
#include "base/timer.h"
#include "phase/lg/exact_problem.h"
#include "phase/sim.h"

#define SEARCH_MAX 12      /* halvings */
#define SEARCH_SHARE 1e-4  /* of the decrease that a correction promises */
#define SEARCH_SLACK 1e-12 /* of the energies: a rise by less is rounding */
#define PENALTY 1.1        /* over the largest normal force */
#define CONTRACTION 0.7    /* of corrections: slower is slow */
#define TRUE_FROM 0.1      /* of a step: below, corrections may know where the energy bends down. Chosen */
#define LAWS_MAX 60        /* iterations of a contact solve: those that end take 5 to 40 */
#define EARLY 0.01         /* of the last correction: what contact solves before the end may leave */
#define EARLY_MAX 1e4      /* slow speeds: of a correction that counts for that */
#define REST 1e-3          /* of a slow speed: a correction by less is rest */
#define BOND_SAFE 0.5      /* of its preload: a bond that bears more gets a larger one */

/* ---- a correction ---- */

/* Preloads for the forces of now, and what they do to g. */
static void load_bonds(tl_lg_exact_problem *s)
{
    const tl_lg_newton *w = s->x->w;
    const int64_t first = 3 * (int64_t)s->rows->contacts;
    const double scale = s->he * s->he / s->h;
    double open = 0;
    for (int64_t i = 0; i < 3 * (int64_t)s->lg->nodes; i++) open += fabs(w->r[i]);
    for (int32_t b = 0; b < s->bonds; b++) {
        tl_lg_exact_bond *d = &s->bond[b];
        const int64_t n = first + d->row[0];
        double bears = open / (s->he * s->he);
        for (int k = 0; k < d->count; k++) bears += fabs(s->x->t->force[first + d->row[k]]);
        d->preload = s->rows->bilateral.row[d->row[0]].one_sided ? 0 : s->firm * bears;
        s->unload[n] = -d->preload;
        const int64_t row = first + 3 * (int64_t)b;
        for (int64_t k = s->J.start[row]; k < s->J.start[row + 1]; k++)
            if (s->J.col[k] < s->p.n) s->g[s->J.col[k]] += scale * d->preload * s->J.val[k];
    }
}

/* Rows of bonds in the problem's order, m/s, with what they give way under `force`. */
static void value_bonds(tl_lg_exact_problem *s, const double *force, double *to)
{
    const int64_t first = 3 * (int64_t)s->rows->contacts;
    for (int32_t b = 0; b < s->bonds; b++)
        for (int k = 0; k < 3; k++) {
            const tl_lg_exact_bond *d = &s->bond[b];
            const int64_t row = first + 3 * (int64_t)b + k;
            to[row] = 0;
            if (k >= d->count) continue;
            const double soft = fmax(s->rows->bilateral.row[d->row[k]].compliance, TL_LG_COMPLIANCE_LEAST);
            to[row] = (s->value[first + d->row[k]] + soft * force[first + d->row[k]]) / s->h;
        }
}

/* w->step: displacement of nodes; s->lam, s->shift_next: forces and bodies that go with it. */
static talus_status correct(tl_lg_exact_problem *s, double slack, tl_flex_report *report, talus_error *err)
{
    tl_lg_newton *w = s->x->w;
    const int64_t n = 3 * (int64_t)s->lg->nodes, m = 3 * (int64_t)s->rows->contacts;
    const double scale = s->he * s->he / s->h;
    if (s->x->made) TL_TRY(tl_lg_exact_factor(s, err));
    if (s->bonds) tl_lg_rows_renew(&s->x->t->rows, w->q);
    if (s->blocks) TL_TRY(tl_lg_exact_look(s, true, err));
    if (s->bonds || s->blocks) tl_lg_exact_rows(s);
    tl_lg_newton_residual(w, w->q, w->r);
    for (int32_t k = 0; k < s->parts; k++) {
        const tl_lg_body *b = &s->lg->body[s->body[k]];
        for (int64_t i = 0; i < 3 * (int64_t)b->nodes; i++)
            s->g[s->part[k].first + i] = -w->r[3 * (int64_t)b->node + i] / s->h;
    }
    load_bonds(s);
    tl_lg_exact_values(s, w->q, s->shift);
    for (int64_t k = 0; k < m; k++) s->now[k] = s->value[k] / s->h;
    value_bonds(s, s->x->t->force, s->now);
    if (s->blocks) tl_lg_exact_join(s, s->shift, s->now);
    s->solver.now = s->now;
    s->solver.near = 0;
    s->solver.warm = true; /* rounds have been there */
    tl_lg_exact_shift(s, s->unload, false, s->shift_trial);
    tl_lg_exact_values(s, w->q, s->shift_trial);
    for (int64_t k = 0; k < m; k++) {
        s->c[k] = s->value[k] / s->h;
        s->lam[k] = scale * s->x->t->force[k];
    }
    value_bonds(s, s->unload, s->c);
    if (s->blocks) tl_lg_exact_join(s, s->shift_trial, s->c);
    for (int32_t b = 0; b < s->bonds; b++)
        for (int k = 0; k < 3; k++) {
            const tl_lg_exact_bond *d = &s->bond[b];
            s->lam[m + 3 * (int64_t)b + k] =
                k < d->count ? scale * (s->x->t->force[m + d->row[k]] - s->unload[m + d->row[k]]) : 0;
        }
    for (int64_t k = 0; k < 3 * (int64_t)s->blocks; k++)
        s->lam[m + 3 * (int64_t)s->bonds + k] = s->x->t->joined->b->joint.lam[k] * s->he * s->he / (s->h * s->h);
    const tl_stop stop = {.tolerance = slack, .max_iterations = LAWS_MAX};
    TL_TRY(tl_flex_solve(&s->solver, true, false, &stop, s->lam, s->dv, report, err));
    const tl_shown_flex shown = {&s->p, s->lam, s->dv};
    TL_TRY(tl_sim_show(s->x->sim, (tl_shown){TL_SHOWN_FLEX, &shown, NULL, NAN, slack}, err));
    memset(w->step, 0, sizeof *w->step * (size_t)n);
    for (int32_t k = 0; k < s->parts; k++) {
        const tl_lg_body *b = &s->lg->body[s->body[k]];
        for (int64_t i = 0; i < 3 * (int64_t)b->nodes; i++)
            w->step[3 * (int64_t)b->node + i] = s->h * s->dv[s->part[k].first + i];
    }
    for (int64_t k = 0; k < 6 * (int64_t)s->rows->bodies; k++)
        s->shift_next[k] = s->shift_trial[k] + s->h * s->dv[s->p.n + k];
    return TALUS_OK;
}

/* ---- search ---- */

/* m/s: how much faster than at w->q unknown i is at q. */
static double along(const tl_lg_exact_problem *s, const tl_lg_newton *w, const double *q, int64_t i)
{
    int32_t k = 0;
    while (k + 1 < s->parts && s->part[k + 1].first <= i) k++;
    const int64_t at = 3 * (int64_t)s->lg->body[s->body[k]].node + i - s->part[k].first;
    return (q[at] - w->q[at]) / s->h;
}

/* Rows of joints, straight: of what holds and of limits, how far they are off; the work of others. */
static double joint_penalty(tl_lg_exact_problem *s, const double *q, const double *shift)
{
    const int64_t first = 3 * (int64_t)(s->rows->contacts + s->bonds);
    const tl_lg_newton *w = s->x->w;
    double sum = 0;
    if (!s->blocks) return 0;
    tl_lg_exact_join(s, shift, s->now);
    for (int64_t k = first; k < first + 3 * (int64_t)s->blocks; k++) {
        const tl_contact_box *box = &s->box[(k - first) / 3];
        const int axis = (int)(k % 3);
        double u = s->now[k];
        for (int64_t e = s->J.start[k]; e < s->J.start[k + 1] && s->J.col[e] < s->p.n; e++)
            u += s->J.val[e] * along(s, w, q, s->J.col[e]);
        const bool holds = box->give[axis] == 0 && box->hi[axis] == INFINITY;
        const double off = box->lo[axis] == 0 ? fmax(0, -u) : fabs(u);
        sum += s->h * s->h * (holds ? PENALTY * fabs(s->lam[k]) * off : -s->lam[k] * u);
    }
    return sum;
}

/* Energy of the step, he^2 J, with free bodies and rows that hold, the work of friction s->lam, and nu per metre of
 * overlap. */
static double penalty(tl_lg_exact_problem *s, const double *q, const double *shift, double nu)
{
    const tl_lg_newton *w = s->x->w;
    const tl_lg_rows *r = s->rows;
    double sum = 0;
    for (int64_t i = 0; i < 3 * (int64_t)s->lg->nodes; i++)
        sum += 0.5 * s->lg->mass[i / 3] * (q[i] - w->qtil[i]) * (q[i] - w->qtil[i]);
    sum += s->he * s->he *
           (tl_lg_stress(s->lg, q, NULL) + tl_lg_linear_energy(s->lg, q, w->target) -
            tl_lg_press_work(s->lg, w->pressure, w->q, q));
    for (int64_t b = 0; b < r->bodies; b++) {
        tl_vec3 d = tl_vec3_load(shift + 6 * b), turn = tl_vec3_load(shift + 6 * b + 3);
        tl_mat3 I;
        sum += 0.5 * tl_vec3_norm2(d) / r->inverse_mass[b];
        if (tl_mat3_inverse(r->inverse_inertia[b], &I)) sum += 0.5 * tl_vec3_dot(turn, tl_mat3_mul_vec(I, turn));
    }
    if (s->bonds) tl_lg_rows_renew(&s->x->t->rows, q);
    tl_lg_exact_values(s, q, shift);
    for (int32_t b = 0; b < r->bilateral.count; b++) {
        const tl_lg_bilateral *row = &r->bilateral.row[b];
        const double v = s->value[3 * (int64_t)r->contacts + b], off = row->one_sided ? fmin(0, v) : v;
        sum += 0.5 * s->he * s->he * off * off / fmax(row->compliance, TL_LG_COMPLIANCE_LEAST);
    }
    for (int64_t c = 0; c < r->contacts; c++) {
        const double *u = s->value + 3 * c, *l = s->lam + 3 * c;
        sum += nu * fmax(0, -u[0]) - s->h * (l[1] * u[1] + l[2] * u[2]);
    }
    return sum + joint_penalty(s, q, shift);
}

static double penalty_along(tl_lg_exact_problem *s, double length, double nu)
{
    const tl_lg_newton *w = s->x->w;
    for (int64_t i = 0; i < 3 * (int64_t)s->lg->nodes; i++) w->trial[i] = w->q[i] + length * w->step[i];
    for (int64_t k = 0; k < 6 * (int64_t)s->rows->bodies; k++)
        s->shift_trial[k] = s->shift[k] + length * (s->shift_next[k] - s->shift[k]);
    return penalty(s, w->trial, s->shift_trial, nu);
}

static double take_all(tl_lg_exact_problem *s)
{
    const tl_lg_newton *w = s->x->w;
    for (int64_t i = 0; i < 3 * (int64_t)s->lg->nodes; i++) w->q[i] += w->step[i];
    memcpy(s->shift, s->shift_next, sizeof *s->shift * 6 * (size_t)s->rows->bodies);
    return 1;
}

/* As far along the correction as the penalty falls. Returns the share that it went. `slow`: corrections hardly
 * shrink, as where something buckles and the projected matrix is much stiffer than the body; then further than the
 * correction, doubling as long as it pays. */
static double search(tl_lg_exact_problem *s, bool slow)
{
    const tl_lg_newton *w = s->x->w;
    const int64_t n = 3 * (int64_t)s->lg->nodes, rigid = 6 * (int64_t)s->rows->bodies;
    double nu = 0, length = 1, promise = 0, at = INFINITY;
    for (int64_t c = 0; c < s->rows->contacts; c++) nu = fmax(nu, PENALTY * s->h * s->lam[3 * c]);
    /* d H d = d (J^T f - g) of nodes; what bodies have is not a change but all that forces do to them */
    memset(s->dv + s->p.n, 0, sizeof *s->dv * 6 * (size_t)s->p.rigid);
    tl_csr_mul(&s->J, s->dv, s->c);
    for (int64_t k = 0; k < 3 * (int64_t)s->p.contacts; k++) promise += s->lam[k] * s->c[k];
    promise = s->h * s->h * (promise - tl_dot(s->p.n, s->g, s->dv));
    double now = penalty(s, w->q, s->shift, nu), load = 0;
    for (int64_t c = 0; c < s->rows->contacts; c++) load += s->h * hypot(s->lam[3 * c + 1], s->lam[3 * c + 2]);
    /* rounding, and what the contact solve leaves */
    double slack = SEARCH_SLACK * fabs(now) + (nu * s->rows->contacts + load) * s->h * s->x->slack;
    for (int k = 0; k < SEARCH_MAX; k++, length *= 0.5) {
        at = penalty_along(s, length, nu);
        if (at <= now - SEARCH_SHARE * length * fmax(0, promise) + slack) break;
    }
    for (int k = 0; k < SEARCH_MAX && slow && length >= 1; k++) {
        double further = penalty_along(s, 2 * length, nu);
        if (!(further < at - slack)) {
            (void)penalty_along(s, length, nu);
            break;
        }
        length *= 2;
        at = further;
    }
    memcpy(w->q, w->trial, sizeof *w->q * (size_t)n);
    memcpy(s->shift, s->shift_trial, sizeof *s->shift * (size_t)rigid);
    return length;
}

/* Forces of rows from those of the problem. False: a bond bears so much that it wants a larger preload. */
static bool take_forces(tl_lg_exact_problem *s)
{
    const int64_t m = 3 * (int64_t)s->rows->contacts;
    const double scale = s->h / (s->he * s->he);
    tl_lg_touch *t = s->x->t;
    bool safe = true;
    for (int64_t k = 0; k < m; k++) t->force[k] = t->lam[k] = s->lam[k] * scale;
    for (int32_t b = 0; b < s->bonds; b++)
        for (int k = 0; k < s->bond[b].count; k++) {
            const int64_t to = m + s->bond[b].row[k];
            t->force[to] = t->lam[to] = s->lam[m + 3 * (int64_t)b + k] * scale + s->unload[to];
            safe = safe && (!(s->bond[b].preload > 0) || fabs(t->force[to]) < BOND_SAFE * s->bond[b].preload);
        }
    for (int64_t k = 0; k < 3 * (int64_t)s->blocks; k++)
        t->joined->b->joint.lam[k] = s->lam[m + 3 * (int64_t)s->bonds + k] * s->h * s->h / (s->he * s->he);
    if (!safe) s->firm *= TL_LG_EXACT_FIRM;
    return safe;
}

/* Largest share that this correction has of what forces did to a body in the step. */
static double share_of_step(const tl_lg_exact_problem *s)
{
    const tl_lg_newton *w = s->x->w;
    const double rest = REST * s->x->slow * s->h;
    double worst = 0;
    for (int32_t k = 0; k < s->parts; k++) {
        const tl_lg_body *b = &s->lg->body[s->body[k]];
        double step2 = 0, way2 = 0;
        for (int64_t i = 3 * (int64_t)b->node, end = i + 3 * (int64_t)b->nodes; i < end; i++) {
            double m = s->lg->mass[i / 3], way = w->q[i] - w->qtil[i];
            step2 += m * w->step[i] * w->step[i];
            way2 += m * way * way;
        }
        worst = fmax(worst, sqrt(step2 / (way2 + rest * rest * b->mass)));
    }
    return worst;
}

talus_status tl_lg_exact_solve(tl_lg_exact *x, tl_arena *a, talus_error *err)
{
    tl_lg_exact_problem s = {.x = x,
                             .lg = x->w->lg,
                             .rows = &x->t->rows,
                             .h = x->t->h,
                             .he = x->t->he,
                             .level = TL_LG_EXACT_LEVELS - 1,
                             .firm = TL_LG_EXACT_FIRM};
    double last = INFINITY, fastest = INFINITY;
    int known = 0;
    x->made = 0;
    x->converged = false;
    TL_TRY(tl_lg_exact_pose(&s, a, err));
    tl_lg_exact_shift(&s, x->t->force, true, s.shift);
    while (x->made < x->max && !x->converged && (!x->made || tl_seconds() < x->until)) {
        tl_flex_report report = {0};
        TL_TRY(tl_cancel_check(err));
        /* rows that hold are linear and stiff: what an early end leaves of them is large as a force */
        const double slack =
            s.bonds || s.blocks ? x->slack : fmax(x->slack, EARLY * fmin(fastest, EARLY_MAX * x->slow));
        TL_TRY(correct(&s, slack, &report, err));
        fastest = 0;
        for (int64_t i = 0; i < s.p.n; i++) fastest = fmax(fastest, fabs(s.dv[i]));
        const double share = share_of_step(&s);
        const bool slow = s.level > 0 && share > CONTRACTION * last;
        if (s.level < TL_LG_EXACT_LEVELS - 1) known = s.level;
        /* the last one is taken whole: then nodes have the momentum that forces give them, to rounding */
        const double length = share <= x->target ? take_all(&s) : search(&s, slow), left = report.outcome.residual;
        x->made++;
        x->t->steps += report.outcome.iterations;
        x->t->work.products += report.work.products;
        x->converged = take_forces(&s) && share <= x->target && left <= x->slack;
        if (s.blocks) {
            TL_TRY(tl_lg_exact_look(&s, false, err));
            x->converged &= x->t->joined->right;
            x->t->joined->residual = left;
        }
        s.level = length < 1 || share > last || share > TRUE_FROM ? TL_LG_EXACT_LEVELS - 1 : known;
        last = share;
    }
    tl_lg_exact_load(&s, false);
    return TALUS_OK;
}
