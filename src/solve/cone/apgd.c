#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/sum.h"
#include "solve/cone/group.h"
#include "solve/cone/methods.h"

/* Steps in the metric rho L_g Q. With proven bounds L_g, rho <= 1 always suffices and smaller
 * values are tried; without, rho is found by backtracking alone. */
typedef struct state {
    const tl_cone *p;
    tl_cone_metric q;
    double *L;                 /* [groups] */
    double *x, *x_old, *x_new; /* iterates k, k-1, k+1; all feasible */
    double *Ax, *Ax_old, *Ax_new;
    /* What is given back: the first whose gap is small enough, else that of lowest energy (gaps go up and down, and
     * a solve that is cut short would return its start). Four buffers trade places as x, x_old, x_new and this. */
    double *best, best_gap;
    double momentum, rho;
} state;

typedef struct sums {
    double gap, energy;       /* at x_new */
    double curvature, length; /* d'Ad and d'LQd for d = x_new - y */
    double turn;              /* d'LQ(x_new - x): negative when momentum points uphill */
} sums;
enum { SUMS = sizeof(sums) / sizeof(double) };

/* x_new = projection of y - Q^-1 grad(y) / (rho L), with y and A y extrapolated from two iterates. */
TL_CONE_INLINE void step_groups(int m, const state *s, int64_t from, int64_t to)
{
    const double *restrict b = s->p->b;
    for (int64_t g = from; g < to; g++) {
        double grad[TL_CONE_MAX], down[TL_CONE_MAX], y[TL_CONE_MAX];
        for (int i = 0; i < m; i++) {
            int64_t k = g * m + i;
            y[i] = s->x[k] + s->momentum * (s->x[k] - s->x_old[k]);
            grad[i] = s->Ax[k] + s->momentum * (s->Ax[k] - s->Ax_old[k]) - b[k];
        }
        tl_cone_mul(m, s->q.inverse, grad, down);
        double scale = 1.0 / (s->rho * s->L[g]);
        for (int i = 0; i < m; i++) y[i] -= scale * down[i];
        tl_cone_project(m, s->q.Q, s->p->radius[g], y);
        for (int i = 0; i < m; i++) s->x_new[g * m + i] = y[i];
    }
}

TL_CONE_INLINE sums measure_groups(int m, const state *s, int64_t from, int64_t to)
{
    const double *restrict b = s->p->b;
    sums t = {0, 0, 0, 0, 0};
    for (int64_t g = from; g < to; g++) {
        double grad[TL_CONE_MAX], d[TL_CONE_MAX], Qd[TL_CONE_MAX], energy = 0, curvature = 0, turn = 0;
        for (int i = 0; i < m; i++) {
            int64_t k = g * m + i;
            double y = s->x[k] + s->momentum * (s->x[k] - s->x_old[k]);
            double Ay = s->Ax[k] + s->momentum * (s->Ax[k] - s->Ax_old[k]);
            d[i] = s->x_new[k] - y;
            grad[i] = s->Ax_new[k] - b[k];
            energy += s->x_new[k] * (0.5 * s->Ax_new[k] - b[k]);
            curvature += d[i] * (s->Ax_new[k] - Ay);
        }
        tl_cone_mul(m, s->q.Q, d, Qd);
        for (int i = 0; i < m; i++) turn += Qd[i] * (s->x_new[g * m + i] - s->x[g * m + i]);
        t.gap += tl_cone_gap(m, s->q.inverse, s->p->radius[g], grad, s->x_new + g * m);
        t.energy += energy;
        t.curvature += curvature;
        t.length += s->L[g] * tl_cone_dot(m, d, Qd);
        t.turn += s->L[g] * turn;
    }
    return t;
}

static void take_step(state *s)
{
    tl_blocks blocks = tl_cone_blocks(s->p);
#pragma omp parallel for schedule(static) if (s->p->space->n >= TL_PARALLEL_MIN)
    for (int i = 0; i < blocks.count; i++)
        TL_CONE_BY_SIZE(s->p->size, step_groups(m, s, tl_block_begin(blocks, i), tl_block_end(blocks, i)));
}

static sums measure(const state *s)
{
    tl_blocks blocks = tl_cone_blocks(s->p);
    sums part[TL_BLOCKS_MAX], total = {0, 0, 0, 0, 0};
#pragma omp parallel for schedule(static) if (s->p->space->n >= TL_PARALLEL_MIN)
    for (int i = 0; i < blocks.count; i++)
        TL_CONE_BY_SIZE(s->p->size, part[i] = measure_groups(m, s, tl_block_begin(blocks, i), tl_block_end(blocks, i)));
    for (int i = 0; i < blocks.count; i++) {
        total.gap += part[i].gap;
        total.energy += part[i].energy;
        total.curvature += part[i].curvature;
        total.length += part[i].length;
        total.turn += part[i].turn;
    }
    double v[SUMS] = {total.gap, total.energy, total.curvature, total.length, total.turn};
    if (s->p->space->reduce) s->p->space->reduce(s->p->space, TL_REDUCE_SUM, SUMS, v);
    return (sums){v[0], v[1], v[2], v[3], v[4]};
}

/* L_g = |Q^-1 D_g|_inf with D = diag(row sums of |A|). Valid: D - A is diagonally dominant, hence
 * A <= D; and D_g <= lambda_max(Q^-1 D_g) Q <= |Q^-1 D_g|_inf Q. Costs one pass over the rows. */
static void bounds_from_rows(const state *s)
{
    const tl_csr *A = s->p->A.csr;
    int m = s->p->size;
    int64_t groups = s->p->space->n / m;
#pragma omp parallel for schedule(static) if (s->p->space->n >= TL_PARALLEL_MIN)
    for (int64_t g = 0; g < groups; g++) {
        double D[TL_CONE_MAX], max = 0;
        for (int i = 0; i < m; i++) {
            D[i] = 0;
            for (int64_t k = A->start[g * m + i]; k < A->start[g * m + i + 1]; k++) D[i] += fabs(A->val[k]);
        }
        for (int i = 0; i < m; i++) {
            double row = 0;
            for (int j = 0; j < m; j++) row += fabs(s->q.inverse[i * m + j]) * D[j];
            max = fmax(max, row);
        }
        s->L[g] = max;
    }
}

/* Groups on which A (almost) vanishes would take infinite steps: give them a small share of the largest bound. */
static void lift_zero_bounds(const state *s)
{
    int64_t groups = s->p->space->n / s->p->size;
    double max = tl_space_max(s->p->space, tl_max_abs(groups, s->L));
    if (max == 0) max = tl_space_max_abs(s->p->space, s->p->b) / tl_cone_max_radius(s->p); /* A = 0 */
    for (int64_t g = 0; g < groups; g++) s->L[g] = fmax(s->L[g], 1e-6 * max);
}

/* A lower estimate of lambda_max of (LQ)^-1 A by a few power steps; x_new, Ax_new are scratch. */
static double power_estimate(const state *s, tl_work *w)
{
    const tl_space *space = s->p->space;
    int m = s->p->size;
    double *v = s->x_new, *Av = s->Ax_new, estimate = 0;
    for (int64_t i = 0; i < space->n; i++) v[i] = tl_random((uint64_t)space->part, (uint64_t)i, 0) - 0.5;

    for (int k = 0; k < 6; k++) { /* chosen: backtracking corrects what is missing */
        double norm = tl_space_norm(space, v);
        if (!(norm > 0) || !isfinite(norm)) break;
        for (int64_t i = 0; i < space->n; i++) v[i] /= norm;
        tl_linop_apply(&s->p->A, space, v, Av, w);
        double top = tl_space_dot(space, v, Av), bottom = 0;
        for (int64_t g = 0; g < space->n / m; g++) bottom += s->L[g] * tl_cone_form(m, s->q.Q, v + g * m);
        estimate = fmax(estimate, top / tl_space_sum(space, bottom));
        for (int64_t g = 0; g < space->n / m; g++) {
            tl_cone_mul(m, s->q.inverse, Av + g * m, v + g * m);
            for (int i = 0; i < m; i++) v[g * m + i] /= s->L[g];
        }
    }
    return estimate;
}

static size_t bytes(const tl_cone *p, const tl_options *o)
{
    (void)o;
    return 4 * tl_space_room(p->space) + 3 * TL_ARENA_ROOM(double, p->space->n) +
           TL_ARENA_ROOM(double, p->space->n / p->size);
}

/* The buffer that holds none of x, x_old, best. */
static double *free_buffer(const state *s, double *const buffer[4])
{
    for (int i = 0; i < 4; i++)
        if (buffer[i] != s->x && buffer[i] != s->x_old && buffer[i] != s->best) return buffer[i];
    return NULL;
}

static tl_outcome run(const tl_cone *p, const tl_options *o, const tl_stop *stop, double *x, tl_arena *a, tl_work *w)
{
    (void)o;
    const tl_space *space = p->space;
    state s = {.p = p, .L = TL_TAKE(a, double, space->n / p->size)};
    double *buffer[4];
    for (int i = 0; i < 4; i++) buffer[i] = tl_space_take(space, a);
    s.Ax = TL_TAKE(a, double, space->n);
    s.Ax_old = TL_TAKE(a, double, space->n);
    s.Ax_new = TL_TAKE(a, double, space->n);
    tl_cone_metric_of(&s.q, p->size, p->Q);

    /* metric: proven bounds where there are any */
    s.x_new = buffer[1];
    bool proven = p->bound || p->A.csr;
    if (p->bound)
        memcpy(s.L, p->bound, sizeof *s.L * (size_t)(space->n / p->size));
    else if (p->A.csr)
        bounds_from_rows(&s), w->products++;
    else
        for (int64_t g = 0; g < space->n / p->size; g++) s.L[g] = 1;
    lift_zero_bounds(&s);
    double cap = proven ? 1.0 : INFINITY;
    double estimate = p->learned && *p->learned > 0 ? *p->learned : power_estimate(&s, w);
    s.rho = fmin(cap, estimate > 0 ? estimate : 1.0);

    /* the start, projected, is the first iterate and the best so far */
    s.x = s.x_old = s.best = buffer[0];
    memcpy(s.x, x, sizeof *x * (size_t)space->n);
    tl_cone_project_all(p, s.x);
    tl_linop_apply(&p->A, space, s.x, s.Ax, w);
    memcpy(s.Ax_old, s.Ax, sizeof *x * (size_t)space->n);
    tl_cone_certificate c = tl_cone_measure(p, &s.q, s.x, s.Ax);
    double best = s.best_gap = c.relative_gap, lowest = c.energy, t = 1, rho_old = s.rho;
    tl_work_record(w, best);

    tl_outcome out = {.result = !isfinite(c.gap) ? TL_BROKE_DOWN : TL_OUT_OF_ITERATIONS};
    int idle = 0;
    while (out.result == TL_OUT_OF_ITERATIONS) {
        if (best <= stop->tolerance) out.result = TL_CONVERGED;
        if (idle > 1000) out.result = TL_STALLED; /* chosen: longer than any plateau met in tests/agree */
        if (out.result != TL_OUT_OF_ITERATIONS || tl_stop_spent(stop, w)) break;
        if (stop->max_iterations > 0 && out.iterations >= stop->max_iterations) break;
        out.iterations++;

        double t_new = 0.5 * (1 + sqrt(1 + 4 * s.rho / rho_old * t * t));
        s.momentum = (t - 1) / t_new;
        s.x_new = free_buffer(&s, buffer);
        take_step(&s);
        w->projections++;
        tl_linop_apply(&p->A, space, s.x_new, s.Ax_new, w);
        sums m = measure(&s);
        if (!isfinite(m.gap) || !isfinite(m.energy)) {
            out.result = TL_BROKE_DOWN;
            break;
        }

        /* every trial is feasible, so every trial may be the best */
        double gap = tl_cone_relative(m.gap, m.energy);
        tl_work_record(w, gap);
        idle++;
        bool lower = m.energy < lowest - 1e-15 * fabs(lowest);
        if (gap < best) best = gap, idle = 0;
        if (lower) lowest = m.energy, idle = 0;
        if (lower || best <= stop->tolerance) s.best = s.x_new, s.best_gap = gap;

        /* the step was too long for the curvature met (beyond the rounding of E): again, shorter */
        if (s.rho < cap && 0.5 * m.curvature > 0.5 * s.rho * m.length * (1 + 1e-9) + 1e-15 * fabs(m.energy)) {
            s.rho = fmin(cap, fmax(1.1 * s.rho, 1.02 * m.curvature / m.length));
            continue;
        }

        bool restart = m.turn < 0;
        double *Ax_free = s.Ax_old;
        s.x_old = s.x, s.Ax_old = s.Ax;
        s.x = s.x_new, s.Ax = s.Ax_new, s.Ax_new = Ax_free;
        t = restart ? 1.0 : t_new;
        rho_old = s.rho;
        s.rho *=
            /* measured on lab/bench/gen_cone.c: 0.99 to 1 differ by a tenth, 0.95 needs up to 5 times the products */
            0.999;
    }
    memcpy(x, s.best, sizeof *x * (size_t)space->n);
    out.residual = s.best_gap;
    if (p->learned) *p->learned = s.rho;
    return out;
}

const tl_cone_method tl_cone_apgd = {
    .name = "apgd",
    .help = "accelerated projected gradient, exact projection on the cones",
    .feasible = true,
    .bytes = bytes,
    .run = run,
};
