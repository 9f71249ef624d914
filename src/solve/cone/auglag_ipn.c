#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/sum.h"
#include "solve/boxqp/method.h"
#include "solve/cone/methods.h"
#include "solve/cone/penalty.h"

/* F(x) = E(x) + sum_g P_g(x_g), minimised over the auxiliary box by Newton steps. */
typedef struct state {
    const tl_cone *p;
    tl_cone_metric q;
    double *k, *eta; /* [groups] penalty per group in units of A, multiplier over penalty */
    double *H;       /* [groups][m x m] Hessian of the penalty */
    double *Ax, *b;  /* b: minus the gradient of F, right side of the Newton step */
    double *step, *Astep, *lo, *hi, *diag;
    double *box; /* [groups] half width of the auxiliary box */
    double norm; /* |A|: largest row sum, or a power estimate with a margin */
} state;

TL_CONE_INLINE void add_blocks(int m, const double *H, const double *x, double *y, int64_t from, int64_t to)
{
    for (int64_t g = from; g < to; g++)
        for (int i = 0; i < m; i++) y[g * m + i] += tl_cone_dot(m, H + (g * m + i) * m, x + g * m);
}

/* y = (A + H) x for the inner solver. */
static void apply_hessian(const tl_linop *op, const double *x, double *y)
{
    const state *s = op->ctx;
    const tl_cone *p = s->p;
    p->A.apply(&p->A, x, y);
    tl_blocks blocks = tl_blocks_of(p->space->n / p->size);
#pragma omp parallel for schedule(static) if (p->space->n >= TL_PARALLEL_MIN)
    for (int i = 0; i < blocks.count; i++)
        TL_CONE_BY_SIZE(p->size, add_blocks(m, s->H, x, y, tl_block_begin(blocks, i), tl_block_end(blocks, i)));
}

/* Diagonal of A: from the rows, or a bound of it, or its mean from one product with random signs
 * (the expectation of v_i (Av)_i is a_ii). */
static void diagonal(const state *s, tl_work *w)
{
    const tl_cone *p = s->p;
    int64_t n = p->space->n;
    if (p->A.csr) {
        tl_csr_diagonal(p->A.csr, s->diag);
    } else if (p->bound) {
        for (int64_t i = 0; i < n; i++) s->diag[i] = p->bound[i / p->size] * p->Q[(i % p->size) * (p->size + 1)];
    } else {
        for (int64_t i = 0; i < n; i++) s->step[i] = i * 2654435761 & 1024 ? 1 : -1;
        tl_linop_apply(&p->A, p->space, s->step, s->Astep, w);
        double mean = tl_space_dot(p->space, s->step, s->Astep) / tl_space_sum(p->space, (double)n);
        for (int64_t i = 0; i < n; i++) s->diag[i] = mean;
    }
}

static double norm_of(const state *s, tl_work *w)
{
    const tl_cone *p = s->p;
    const tl_space *space = p->space;
    double max = 0;
    if (p->A.csr) {
        for (int32_t i = 0; i < p->A.csr->rows; i++) {
            double row = 0;
            for (int64_t k = p->A.csr->start[i]; k < p->A.csr->start[i + 1]; k++) row += fabs(p->A.csr->val[k]);
            max = fmax(max, row);
        }
        return tl_space_max(space, max);
    }
    for (int64_t i = 0; i < space->n; i++) s->step[i] = tl_random((uint64_t)space->part, (uint64_t)i, 0) - 0.5;
    for (int k = 0; k < 12; k++) {
        double length = tl_space_norm(space, s->step);
        if (!(length > 0)) break;
        for (int64_t i = 0; i < space->n; i++) s->step[i] /= length;
        tl_linop_apply(&p->A, space, s->step, s->Astep, w);
        memcpy(s->step, s->Astep, sizeof *s->step * (size_t)space->n);
        max = tl_space_norm(space, s->step);
    }
    return 1.2 * max;
}

/* |A + H| for the inner solver: H is block diagonal and positive semidefinite, so traces bound its norm. */
static double hessian_norm(const state *s)
{
    int m = s->p->size;
    double max = 0;
    for (int64_t g = 0; g < s->p->space->n / m; g++) {
        double trace = 0;
        for (int i = 0; i < m; i++) trace += s->H[g * m * m + i * (m + 1)];
        max = fmax(max, trace);
    }
    return s->norm + tl_space_max(s->p->space, max);
}

/* Penalty and auxiliary box of each group.
 * Differs from [FM21]: mu is not 1e6 in SI units but scales with the group's stiffness and radius,
 * mu = mu_rel max diag(A_gg) r^2 / 2, so that units and resolution do not change the method. */
static void scale_groups(const state *s, const tl_options *o)
{
    const tl_cone *p = s->p;
    int m = p->size;
    double mu_rel = o->penalty > 0 ? o->penalty : 100;
    /* the paper's box touches the cone on the axes at kappa = 1: r / sqrt2 for stress, r for contacts */
    double axis = 0;
    for (int i = 0; i < m; i++) axis = fmax(axis, p->Q[i * (m + 1)]);
    double max = tl_space_max_abs(p->space, s->diag);
    for (int64_t g = 0; g < p->space->n / m; g++) {
        double stiff = 0;
        for (int i = 0; i < m; i++) stiff = fmax(stiff, s->diag[g * m + i]);
        s->k[g] = 0.5 * mu_rel * fmax(stiff, 1e-6 * max);
        s->box[g] = o->box_looseness * p->radius[g] / sqrt(axis);
    }
}

/* Penalty energy at x + length * step, this part's share. */
static double penalty_at(const state *s, const double *x, double length)
{
    const tl_cone *p = s->p;
    int m = p->size;
    tl_blocks blocks = tl_blocks_of(p->space->n / m);
    double part[TL_BLOCKS_MAX];
#pragma omp parallel for schedule(static) if (p->space->n >= TL_PARALLEL_MIN)
    for (int i = 0; i < blocks.count; i++) {
        part[i] = 0;
        for (int64_t g = tl_block_begin(blocks, i); g < tl_block_end(blocks, i); g++) {
            double at[TL_CONE_MAX];
            if (p->radius[g] == 0) continue;
            for (int c = 0; c < m; c++) at[c] = x[g * m + c] + length * s->step[g * m + c];
            part[i] += tl_cone_penalty_energy(m, s->q.Q, p->radius[g], s->k[g], s->eta[g], at);
        }
    }
    return tl_sum_ordered(blocks.count, part);
}

/* The Newton problem at x: Hessian blocks, right side, and what is left of the box. */
static void linearise(const state *s, const double *x)
{
    const tl_cone *p = s->p;
    int m = p->size;
#pragma omp parallel for schedule(static) if (p->space->n >= TL_PARALLEL_MIN)
    for (int64_t g = 0; g < p->space->n / m; g++) {
        const double *xg = x + g * m;
        double *H = s->H + g * m * m, grad[TL_CONE_MAX] = {0};
        memset(H, 0, sizeof *H * (size_t)(m * m));
        if (p->radius[g] > 0) {
            tl_cone_penalty_gradient(m, s->q.Q, p->radius[g], s->k[g], s->eta[g], xg, grad);
            tl_cone_penalty_hessian(m, s->q.Q, p->radius[g], s->k[g], s->eta[g], xg, H);
        }
        for (int i = 0; i < m; i++) {
            int64_t k = g * m + i;
            s->b[k] =
                p->radius[g] > 0 ? p->b[k] - s->Ax[k] - grad[i] : 0; /* a pinned group has no say in the scale of b */
            s->lo[k] = -s->box[g] - xg[i];
            s->hi[k] = s->box[g] - xg[i];
            s->step[k] = 0;
        }
    }
}

/* Longest of 1, 1/2, 1/4, ... that lowers F enough; 0 when none does. A step is one product. */
static double line_search(const state *s, double *x, tl_work *w)
{
    const tl_space *space = s->p->space;
    tl_linop_apply(&s->p->A, space, s->step, s->Astep, w);
    double slope = -tl_space_dot(space, s->b, s->step); /* includes the penalty */
    double curvature = tl_space_dot(space, s->step, s->Astep);
    double linear = tl_space_dot(space, s->Ax, s->step) - tl_space_dot(space, s->p->b, s->step);
    double start = tl_space_sum(space, penalty_at(s, x, 0));
    if (!(slope < 0) || !isfinite(curvature)) return 0;
    for (double length = 1; length > 1e-6; length *= 0.5) {
        double change =
            length * linear + 0.5 * length * length * curvature + tl_space_sum(space, penalty_at(s, x, length)) - start;
        if (change <= 1e-4 * length * slope) return length; /* usual sufficient decrease [Nocedal2006 sec. 3.1] */
    }
    return 0;
}

static void update_multipliers(const state *s, const double *x)
{
    const tl_cone *p = s->p;
    int m = p->size;
    for (int64_t g = 0; g < p->space->n / m; g++)
        s->eta[g] = p->radius[g] > 0 ? -tl_cone_penalty_active(m, s->q.Q, p->radius[g], s->eta[g], x + g * m) : 0;
}

static const tl_boxqp_method *inner_method(void) { return tl_boxqp_method_find("mprgp"); }

static tl_boxqp inner_problem(const state *s, tl_linop op)
{
    return (tl_boxqp){.space = s->p->space, .A = op, .b = s->b, .lo = s->lo, .hi = s->hi};
}

static size_t bytes(const tl_cone *p, const tl_options *o)
{
    size_t groups = (size_t)(p->space->n / p->size);
    tl_options plain = *o;
    plain.precond = NULL;
    tl_boxqp inner = inner_problem(&(state){.p = p}, (tl_linop){.apply = apply_hessian});
    return 3 * TL_ARENA_ROOM(double, groups) + TL_ARENA_ROOM(double, p->space->n * p->size) +
           6 * TL_ARENA_ROOM(double, p->space->n) + tl_space_room(p->space) + inner_method()->bytes(&inner, &plain);
}

static tl_outcome run(const tl_cone *p, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a, tl_work *w)
{
    const tl_space *space = p->space;
    int64_t n = space->n, groups = n / p->size;
    state s = {.p = p};
    s.k = TL_TAKE(a, double, groups);
    s.eta = TL_TAKE_ZERO(a, double, groups);
    s.box = TL_TAKE(a, double, groups);
    s.H = TL_TAKE(a, double, n * p->size);
    s.Ax = TL_TAKE(a, double, n), s.b = TL_TAKE(a, double, n), s.Astep = TL_TAKE(a, double, n);
    s.lo = TL_TAKE(a, double, n), s.hi = TL_TAKE(a, double, n), s.diag = TL_TAKE(a, double, n);
    s.step = tl_space_take(space, a);
    tl_cone_metric_of(&s.q, p->size, p->Q);
    diagonal(&s, w);
    scale_groups(&s, o);
    s.norm = norm_of(&s, w);

    tl_linop hessian = {.apply = apply_hessian, .ctx = &s};
    tl_boxqp inner = inner_problem(&s, hessian);
    tl_options inner_options = *o;
    inner_options.precond = NULL; /* made for A; the penalty's blocks are not in it */
    tl_stop inner_stop = {.tolerance = o->inner_tolerance > 0 ? o->inner_tolerance : 1e-2};

    /* start inside the cone, hence inside any box that encloses it */
    tl_cone_project_all(p, x);

    tl_outcome out = {.result = TL_OUT_OF_ITERATIONS, .residual = INFINITY};
    double best = INFINITY;
    int idle = 0;
    while (out.result == TL_OUT_OF_ITERATIONS) {
        tl_linop_apply(&p->A, space, x, s.Ax, w); /* fresh once per update, no drift */
        tl_cone_certificate c = tl_cone_measure(p, &s.q, x, s.Ax);
        out.residual = fmax(fabs(c.relative_gap), c.relative_violation);
        tl_work_record(w, out.residual);
        if (!isfinite(c.gap))
            out.result = TL_BROKE_DOWN;
        else if (out.residual <= stop->tolerance)
            out.result = TL_CONVERGED;
        else if (idle > 20)
            out.result = TL_STALLED; /* chosen: multipliers settle by a constant factor per update */
        if (out.result != TL_OUT_OF_ITERATIONS || tl_stop_spent(stop, w)) break;
        if (stop->max_iterations > 0 && out.iterations >= stop->max_iterations) break;
        idle = out.residual < 0.99 * best ? 0 : idle + 1;
        best = fmin(best, out.residual);

        for (int newton = 0; newton < (o->newton_steps > 0 ? o->newton_steps : 1); newton++) {
            if (tl_stop_spent(stop, w)) break;
            linearise(&s, x);
            inner.norm = hessian_norm(&s);
            tl_work inner_work = {0};
            size_t mark = tl_arena_mark(a);
            if (stop->max_products > 0) inner_stop.max_products = stop->max_products - w->products;
            inner_stop.max_iterations = stop->max_iterations > 0 ? stop->max_iterations - out.iterations : 0;
            tl_outcome got = inner_method()->run(&inner, &inner_options, &inner_stop, s.step, a, &inner_work);
            tl_arena_release(a, mark);
            w->products += inner_work.products;
            w->projections += inner_work.projections;
            out.iterations += got.iterations;

            double length = line_search(&s, x, w);
            if (length == 0) break;
            double moved = length * tl_space_max_abs(space, s.step);
            for (int64_t i = 0; i < n; i++) {
                x[i] += length * s.step[i];
                s.Ax[i] += length * s.Astep[i];
            }
            if (moved <= 1e-3 * stop->tolerance * tl_space_max_abs(space, x)) break;
            if (stop->max_iterations > 0 && out.iterations >= stop->max_iterations) break;
        }
        update_multipliers(&s, x);
        w->outer++;
    }
    return out;
}

const tl_cone_method tl_cone_auglag_ipn = {
    .name = "auglag-ipn",
    .help = "augmented Lagrangian on the cones, inexact projected Newton in a loose box [FM21]",
    .feasible = false,
    .bytes = bytes,
    .run = run,
};
