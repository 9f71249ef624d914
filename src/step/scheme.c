#include "step/scheme.h"

#include <math.h>
#include <string.h>

#include "base/cancel.h"
#include "base/parallel.h"
#include "base/sum.h"
#include "base/timer.h"
#include "math/anderson.h"

#define BLOCKS_MAX 4
#define PASSES_MAX 4       /* pressure solves in a row: rounding of the solver's matrix, a start that was too far off */
#define INNER 0.3          /* of the scheme's tolerance: target of a block */
#define TANGENT_SWEEPS 200 /* per block; each costs one pass over the contacts */
#define GRANULAR_SWEEPS 20 /* of staggered projections [grid-granular spec 10]; with mixing they do what 40 would */
#define MOVED 10.0         /* tolerances: of the impulse, what a last sweep may change of it */
#define ITERATIONS_MAX 1000 /* of one pressure solve: ten times what hard ones take with mic */
#define FINEST 1e-14        /* what double precision can reach of the solver's own measure */
#define ROUNDING 1e-10      /* of speeds over dx: less than that is nothing to solve for, as in free fall */
#define REST                                                                                                           \
    0.1 /* of what contacts close with: slips are measured against at least that, or bodies at rest would never do */
#define PART_TOLERANCE 1e-2 /* crowds: what is left is there again in the next step */
#define PART_ITERATIONS 20
#define PART_LEAK                                                                                                      \
    1e-3 /* of a face: crowds reach 30 cells far in a step, and those of a closed cavity have a solution */
#define PART_FURTHEST 0.2 /* cells */
/* Cells up to which the preconditioner knows bodies in contact. In a heap in 7000 cells it saves 3 of 4 iterations, but takes twice the time. */
#define KNOWN_BELOW 2000
#define LAMBDA_DIAGONAL 6.0 /* of normal forces among pressures: like a cell's */
/* Contraction of p and n in turn above which they are solved together: at 0.6 a sweep still gains a digit in 4.5 passes. Chosen. */
#define UNIFY_ABOVE 0.6
#define TOGETHER_SWEEPS 60 /* of contacts with their friction: cheap ones, at an impact up to 30 of them are needed */

typedef struct tl_coupled_work work;

struct tl_coupled_work {
    tl_arena *arena;
    int32_t n, m, bodies; /* cells, contacts, bodies with walls */
    double per_g;         /* rho dx^2 / dt: from 1/s to the solver's units */
    double per_u;         /* rho / (dx dt^2): from m/s of a normal force's row, before its own scale */
    double volume_dt;     /* dt dx^3 */
    double *x, *x0, *b;   /* [n + m] solver's unknowns, before, right side */
    double *g;            /* [n] */
    double *diag;         /* [n + m] of E */
    double *scale;        /* [m] N s per unit of the solver's unknown */
    double *r, *dv;       /* [6 bodies] */
    int32_t moving;       /* free bodies that touch liquid or another body */
    int32_t *mover;       /* [moving] */
    double *root;         /* [bodies][10] of per_u M^-1: 3x3 of rotation, translation */
    double *base, *q;     /* [6 bodies], [3m] of contact blocks */
    double *l, *dl;       /* [3m] */
    double *no_friction;  /* [m] zeros */
    tl_contact_bodies free_bodies;
    tl_contact contact;
    tl_pairs pairs;
    tl_pressure alone, with_normals;
    tl_pressure_plan *plan_alone, *plan_with_normals;
    double b_pressure, b_normal, b_tangent; /* largest that a block found without its own forces: 1/s, m/s, m/s */
    double free_pressure, free_normal;      /* the same before any force */
    double dp, ds;                          /* largest change of the last blocks, Pa */
    tl_anderson mixing;                     /* of sweeps, over (p, normal forces) */
    double *went;                           /* [n + m] in the solver's units: what the sweep began with */
    double *began, *ended;                  /* [mixing.all] of liquids: what the sweep began with, and what came out */
    double *u_free, *u_last;                /* [faces] of sand: before any force, after the last sweep */
    bool started;                           /* p is worth starting from */
    bool held;                              /* p and s of the start do not act yet: their block brings them in */
    bool pressure_last;                     /* of the blocks: the next sweep depends on it */
};

typedef talus_status block_fn(tl_coupled *c, tl_scheme_report *out, talus_error *err);

struct tl_scheme {
    const char *name, *help;
    bool granular; /* has a block for stress */
    int sweeps;    /* 1: once, whatever is left */
    block_fn *block[BLOCKS_MAX];
};

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a coupled solve");
}

/* ---- the part of bodies and normal forces in the Hessian ---- */

/* dv = M^-1 r of all bodies */
static void accelerate(const tl_coupled *c, const double *r, double *dv)
{
    c->system->c.solid.inverse_mass(&c->system->c.solid, r, dv);
}

/* y += E x, x = (q, lambda): impulses on bodies, what they do to velocities, what those compress and close. */
static void add_bodies(const void *ctx, const double *x, double *y, int32_t normals)
{
    const tl_coupled *c = ctx;
    const work *w = c->work;
    const tl_csr *J = &c->b->p.J;
    tl_body_cells_gather(&c->system->wet, x, w->r);
    for (int64_t k = 0; k < 6 * (int64_t)w->bodies; k++) w->r[k] *= -w->volume_dt;
    for (int32_t j = 0; j < normals; j++)
        for (int64_t k = J->start[3 * (int64_t)j]; k < J->start[3 * (int64_t)j + 1]; k++)
            w->r[J->col[k]] += J->val[k] * w->scale[j] * x[w->n + j];
    accelerate(c, w->r, w->dv);
    tl_body_cells_add(&c->system->wet, -w->per_g, w->dv, y);
    for (int32_t j = 0; j < normals; j++) {
        double u = 0;
        for (int64_t k = J->start[3 * (int64_t)j]; k < J->start[3 * (int64_t)j + 1]; k++)
            u += J->val[k] * w->dv[J->col[k]];
        y[w->n + j] += w->per_u * w->scale[j] * u;
    }
}

static void add_alone(const void *ctx, const double *x, double *y) { add_bodies(ctx, x, y, 0); }
static void add_with_normals(const void *ctx, const double *x, double *y)
{
    add_bodies(ctx, x, y, ((const tl_coupled *)ctx)->work->m);
}

/* ---- the same as U U^T. Without contacts it would cost more than it saves, unless bodies are a hundred times lighter than the liquid ---- */

/* out = L t or L^T t of a body, L L^T = per_u M^-1 */
static void through_root(const work *w, int32_t b, bool transposed, const double *t, double out[6])
{
    const double *L = w->root + 10 * (int64_t)b;
    for (int k = 0; k < 3; k++) {
        out[k] = L[9] * t[k];
        out[3 + k] = 0;
        for (int m = 0; m < 3; m++) out[3 + k] += (transposed ? L[3 * m + k] : L[3 * k + m]) * t[3 + m];
    }
}

static void gather(const void *ctx, const double *x, double *r)
{
    const tl_coupled *c = ctx;
    const work *w = c->work;
    const tl_csr *J = &c->b->p.J;
    tl_body_cells_gather(&c->system->wet, x, w->r);
    for (int64_t k = 0; k < 6 * (int64_t)w->bodies; k++) w->r[k] *= -w->volume_dt;
    for (int32_t j = 0; j < w->m; j++)
        for (int64_t k = J->start[3 * (int64_t)j]; k < J->start[3 * (int64_t)j + 1]; k++)
            w->r[J->col[k]] += J->val[k] * w->scale[j] * x[w->n + j];
    for (int32_t k = 0; k < w->moving; k++)
        through_root(w, w->mover[k], true, w->r + 6 * (int64_t)w->mover[k], r + 6 * (int64_t)k);
}

static void scatter(const void *ctx, const double *r, double *y)
{
    const tl_coupled *c = ctx;
    const work *w = c->work;
    const tl_csr *J = &c->b->p.J;
    memset(w->dv, 0, sizeof *w->dv * 6 * (size_t)w->bodies);
    for (int32_t k = 0; k < w->moving; k++)
        through_root(w, w->mover[k], false, r + 6 * (int64_t)k, w->dv + 6 * (int64_t)w->mover[k]);
    tl_body_cells_add(&c->system->wet, -w->volume_dt, w->dv, y);
    for (int32_t j = 0; j < w->m; j++) {
        double u = 0;
        for (int64_t k = J->start[3 * (int64_t)j]; k < J->start[3 * (int64_t)j + 1]; k++)
            u += J->val[k] * w->dv[J->col[k]];
        y[w->n + j] += w->scale[j] * u;
    }
}

/* Lower factor of a 3x3 matrix; columns of axes that do not turn are 0. */
static void root3(const double *A, double scale, double L[9])
{
    memset(L, 0, 9 * sizeof *L);
    for (int j = 0; j < 3; j++) {
        double d = scale * A[4 * j];
        for (int k = 0; k < j; k++) d -= L[3 * j + k] * L[3 * j + k];
        if (!(d > 1e-12 * scale * A[4 * j])) continue;
        L[4 * j] = sqrt(d);
        for (int i = j + 1; i < 3; i++) {
            double sum = scale * A[3 * i + j];
            for (int k = 0; k < j; k++) sum -= L[3 * i + k] * L[3 * j + k];
            L[3 * i + j] = sum / L[4 * j];
        }
    }
}

static bool in_contact(const tl_coupled *c, int32_t b)
{
    const tl_csr *J = &c->b->p.J;
    for (int64_t k = 0; k < J->start[J->rows]; k++)
        if (J->col[k] / 6 == b) return true;
    return false;
}

/* Free bodies that touch liquid or another body, and their roots. */
static void find_movers(tl_coupled *c)
{
    work *w = c->work;
    const int32_t *wet = c->system->wet.first;
    for (int32_t b = 0; b < w->bodies; b++) {
        if (!(c->b->inv_mass[b] > 0)) continue;
        if (wet[b + 1] == wet[b] && !in_contact(c, b)) continue;
        root3(c->b->inv_inertia + 9 * (int64_t)b, w->per_u, w->root + 10 * (int64_t)b);
        w->root[10 * (int64_t)b + 9] = sqrt(w->per_u * c->b->inv_mass[b]);
        w->mover[w->moving++] = b;
    }
}

/* Diagonal of E: cells at free bodies, then normal forces. */
static void fill_diagonal(tl_coupled *c)
{
    work *w = c->work;
    const tl_body_cells *wet = &c->system->wet;
    memset(w->diag, 0, sizeof *w->diag * (size_t)w->n);
    for (int32_t b = 0; b < wet->bodies; b++)
        for (int32_t i = wet->first[b]; i < wet->first[b + 1]; i++) {
            const double *v = wet->val + 6 * (int64_t)i, *I = c->b->inv_inertia + 9 * (int64_t)b;
            double sum = c->b->inv_mass[b] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
            for (int k = 0; k < 3; k++) sum += v[3 + k] * (I[3 * k] * v[3] + I[3 * k + 1] * v[4] + I[3 * k + 2] * v[5]);
            w->diag[wet->cell[i]] += w->per_g * w->volume_dt * sum;
        }
    for (int32_t j = 0; j < w->m; j++) {
        double W = c->b->p.problem.blocks[9 * (int64_t)j];
        w->scale[j] = sqrt(LAMBDA_DIAGONAL / (w->per_u * W));
        w->diag[w->n + j] = LAMBDA_DIAGONAL;
    }
}

/* ---- velocities ---- */

/* v += M^-1 J^T dl of the contacts */
static void push_contacts(tl_coupled *c, const double *dl)
{
    work *w = c->work;
    const tl_csr *J = &c->b->p.J;
    memset(w->r, 0, sizeof *w->r * 6 * (size_t)w->bodies);
    for (int32_t i = 0; i < J->rows; i++)
        if (dl[i] != 0)
            for (int64_t k = J->start[i]; k < J->start[i + 1]; k++) w->r[J->col[k]] += J->val[k] * dl[i];
    accelerate(c, w->r, w->dv);
    for (int64_t k = 0; k < 6 * (int64_t)w->bodies; k++) c->system->c.v[k] += w->dv[k];
}

static double largest_row(const double *u, int32_t m, int first, int last)
{
    double most = 0;
    for (int32_t j = 0; j < m; j++)
        for (int k = first; k <= last; k++) most = fmax(most, fabs(u[3 * (int64_t)j + k]));
    return most;
}

/* ---- blocks ---- */

static talus_status run_pressure(tl_coupled *c, int32_t normals, tl_scheme_report *out, talus_error *err)
{
    work *w = c->work;
    tl_coupling *k = &c->system->c;
    double begin = tl_seconds();
    tl_pressure *problem = normals ? &w->with_normals : &w->alone;
    tl_pressure_plan *plan = normals ? w->plan_with_normals : w->plan_alone;
    if (w->n + normals == 0) return TALUS_OK;
    memcpy(w->x0, c->p, sizeof *w->x0 * (size_t)w->n);
    for (int32_t j = 0; j < normals; j++) w->x0[w->n + j] = c->b->lam[3 * (int64_t)j] / w->scale[j];
    memcpy(w->x, w->x0, sizeof *w->x * ((size_t)w->n + (size_t)normals));
    tl_coupling_pressure_gradient(k, w->g);
    tl_pressure_product(problem, w->x0, w->b);
    for (int32_t i = 0; i < w->n; i++) w->b[i] -= w->per_g * w->g[i];
    if (normals) {
        tl_csr_mul(&c->b->p.J, k->v, w->q);
        for (int32_t j = 0; j < normals; j++)
            w->b[w->n + j] -= w->per_u * w->scale[j] * (w->q[3 * (int64_t)j] + c->b->p.bias[3 * (int64_t)j]);
    }
    double most = tl_max_abs(w->n + normals, w->b);
    w->b_pressure = fmax(w->b_pressure, tl_max_abs(w->n, w->b) / w->per_g);
    double target = INNER * c->tolerance * w->per_g * w->b_pressure;
    tl_stop stop = {.tolerance = most > 0 ? fmax(target / most, FINEST) : 1,
                    .max_iterations = c->pressure_iterations > 0 ? c->pressure_iterations : ITERATIONS_MAX};
    tl_pressure_report report;
    tl_pressure_plan_start(plan, w->started ? TL_PRESSURE_WARM : TL_PRESSURE_NESTED);
    TL_TRY(tl_pressure_run(plan, problem, &stop, w->x, w->arena, c->history, &report, err));
    w->started = true;
    memcpy(c->p, w->x, sizeof *c->p * (size_t)w->n);
    for (int32_t i = 0; i < w->n; i++) w->x0[i] = w->x[i] - w->x0[i];
    w->dp = tl_max_abs(w->n, w->x0);
    tl_coupling_push_pressure(k, w->x0);
    if (normals) {
        memset(w->dl, 0, sizeof *w->dl * 3 * (size_t)normals);
        for (int32_t j = 0; j < normals; j++) {
            double l = w->scale[j] * w->x[w->n + j];
            w->dl[3 * (int64_t)j] = l - c->b->lam[3 * (int64_t)j];
            c->b->lam[3 * (int64_t)j] = l;
        }
        push_contacts(c, w->dl);
    }
    out->pressure_iterations += report.outcome.iterations;
    out->pressure_work.products += report.work.products;
    out->pressure_work.preconds += report.work.preconds;
    out->pressure_work.factorizations += report.work.factorizations;
    out->pressure_method = report.method;
    out->pressure_seconds += tl_seconds() - begin;
    return TALUS_OK;
}

static talus_status solve_pressure(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    return run_pressure(c, 0, out, err);
}

static talus_status solve_pressure_normal(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    return run_pressure(c, c->work->m, out, err);
}

/* Without pressure nothing is carried: the first sweep of a cold start has no stress, and sand that has come apart since the last step loses what it had. */
static talus_status solve_stress(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    work *w = c->work;
    double begin = tl_seconds();
    tl_friction_report report;
    if (!c->friction) return TALUS_OK;
    if (!(tl_max_abs(w->n, c->p) > 0)) {
        w->ds = tl_friction_drop(c->friction);
        return TALUS_OK;
    }
    TL_TRY(tl_friction_solve(c->friction, c->p, INNER * c->tolerance, w->arena, &report, err));
    w->ds = report.change;
    out->stress_iterations += report.outcome.iterations;
    out->stress_work.products += report.work.products;
    out->stress_work.projections += report.work.projections;
    out->stress_seconds += tl_seconds() - begin;
    return TALUS_OK;
}

/* Largest change of p and s in the last blocks, over the largest p. */
static double changed(const tl_coupled *c)
{
    double most = tl_max_abs(c->work->n, c->p);
    return most > 0 ? fmax(c->work->dp, c->work->ds) / most : 0;
}

/* Staggered projections without contacts, for schemes that do these once. */
static talus_status solve_pressure_stress(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    if (c->work->held) {
        tl_coupling_push_pressure(&c->system->c, c->p);
        tl_stress_push(c->friction->stress, &c->system->c, c->friction->s);
    }
    c->work->held = false;
    int most = c->sweeps > 0 ? c->sweeps : GRANULAR_SWEEPS;
    for (int k = 0; k < most && (k == 0 || changed(c) > c->tolerance); k++) {
        TL_TRY(tl_cancel_check(err));
        TL_TRY(solve_stress(c, out, err));
        TL_TRY(solve_pressure(c, out, err));
    }
    return TALUS_OK;
}

/* Fastest that contacts close without forces, m/s: open gaps are part of q. */
static double approach(const work *w)
{
    double most = 0;
    for (int32_t j = 0; j < w->m; j++) most = fmax(most, -w->q[3 * (int64_t)j]);
    return most;
}

/* Contacts with the friction coefficients `mu` at frozen pressure; l [3m] start in, answer out, already part of v. */
static talus_status run_contact(tl_coupled *c, const double *mu, double *l, tl_scheme_report *out, talus_error *err)
{
    work *w = c->work;
    double begin = tl_seconds();
    for (int32_t k = 0; k < 3 * w->m; k++) w->dl[k] = -l[k];
    push_contacts(c, w->dl);
    memcpy(w->base, c->system->c.v, sizeof *w->base * 6 * (size_t)w->bodies);
    tl_contact_free_velocity(&w->free_bodies, c->b->p.bias, w->q);
    w->b_normal = fmax(w->b_normal, approach(w));
    w->contact.mu = mu;
    /* contacts that stop at their own target leave pressures of a liquid where they are, just above theirs; sand mixes its sweeps */
    double target = c->friction ? c->b->tolerance : fmin(c->b->tolerance, INNER * c->tolerance * w->b_normal);
    tl_stop stop = {.tolerance = target, .max_iterations = c->b->kept->iterations};
    tl_options options = tl_options_default();
    tl_contact_report report;
    TL_TRY(tl_contact_solve(c->b->kept->method, &w->contact, &options, &stop, l, w->arena,
                            c->history ? c->history + 1 : NULL, &report, err));
    push_contacts(c, l);
    out->contact_iterations += report.outcome.iterations;
    out->contact_work.products += report.work.products;
    out->contact_work.factorizations += report.work.factorizations;
    out->contact_seconds += tl_seconds() - begin;
    return TALUS_OK;
}

static talus_status solve_contact(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    return run_contact(c, c->b->p.problem.mu, c->b->lam, out, err);
}

static talus_status solve_normal(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    work *w = c->work;
    for (int32_t j = 0; j < w->m; j++) {
        w->l[3 * (int64_t)j] = c->b->lam[3 * (int64_t)j];
        w->l[3 * (int64_t)j + 1] = w->l[3 * (int64_t)j + 2] = 0;
    }
    TL_TRY(run_contact(c, w->no_friction, w->l, out, err));
    for (int32_t j = 0; j < w->m; j++) c->b->lam[3 * (int64_t)j] = w->l[3 * (int64_t)j];
    return TALUS_OK;
}

/* Friction at frozen normal forces: Gauss-Seidel with the exact disc. [grid-granular spec 4: 1e-9 after 50 sweeps] */
static talus_status solve_tangent(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    work *w = c->work;
    double begin = tl_seconds(), *dv = w->pairs.contacts ? TL_TAKE(w->arena, double, tl_pairs_lanes(&w->pairs)) : NULL;
    if (!dv) return w->pairs.contacts ? no_memory(err) : TALUS_OK;
    memset(dv, 0, sizeof *dv * (size_t)tl_pairs_lanes(&w->pairs));
    memset(w->dl, 0, sizeof *w->dl * 3 * (size_t)w->m);
    tl_csr_mul(&c->b->p.J, c->system->c.v, w->q);
    for (int32_t j = 0; j < w->m; j++)
        for (int k = 0; k < 3; k++) w->pairs.pair[j].q[k] = w->q[3 * (int64_t)j + k];
    const double enough = 0.1 * INNER * c->tolerance * fmax(w->b_tangent, REST * w->b_normal);
    double most = INFINITY;
    for (int sweep = 0; sweep < TANGENT_SWEEPS && most > enough; sweep++) {
        most = 0;
        for (int32_t j = 0; j < w->m; j++) {
            const tl_pair *p = &w->pairs.pair[j];
            double u[3], *l = c->b->lam + 3 * (int64_t)j;
            tl_pair_velocity(p, dv, u);
            double t[2] = {l[1] - p->w_t * u[1], l[2] - p->w_t * u[2]};
            tl_project_disc(c->b->p.problem.mu[j] * fmax(l[0], 0), t);
            double d[3] = {0, t[0] - l[1], t[1] - l[2]};
            most = fmax(most, hypot(d[1], d[2]) / p->w_t);
            for (int k = 1; k < 3; k++) {
                w->dl[3 * (int64_t)j + k] += d[k];
                l[k] += d[k];
            }
            tl_pair_push(p, d, dv);
        }
        out->contact_iterations++;
        out->contact_work.products++;
    }
    push_contacts(c, w->dl);
    out->contact_seconds += tl_seconds() - begin;
    return TALUS_OK;
}

/* Friction that the normal forces of the end do not carry. */
static void clip_tangent(tl_coupled *c)
{
    work *w = c->work;
    bool any = false;
    memset(w->dl, 0, sizeof *w->dl * 3 * (size_t)w->m);
    for (int32_t j = 0; j < w->m; j++) {
        double *l = c->b->lam + 3 * (int64_t)j, t[2] = {l[1], l[2]};
        tl_project_disc(c->b->p.problem.mu[j] * fmax(l[0], 0), t);
        for (int k = 0; k < 2; k++) {
            w->dl[3 * (int64_t)j + 1 + k] = t[k] - l[1 + k];
            any = any || t[k] != l[1 + k];
            l[1 + k] = t[k];
        }
    }
    if (any) push_contacts(c, w->dl);
}

/* ---- sweeps ---- */

static void in_solver_units(const tl_coupled *c, double *x)
{
    const work *w = c->work;
    memcpy(x, c->p, sizeof *x * (size_t)w->n);
    for (int32_t j = 0; j < w->m; j++) x[w->n + j] = c->b->lam[3 * (int64_t)j] / w->scale[j];
}

/* Staggered projections settle slowly where few cells carry a front, because pressure and stress push the same faces there: the next sweep begins with what the last ones
 * point at. Stress and friction follow from pressures and normal forces in the sweep itself. */
static void mix_sweeps(tl_coupled *c, int sweep)
{
    work *w = c->work;
    int64_t all = (int64_t)w->n + w->m;
    in_solver_units(c, w->x0);
    if (sweep == 1) {
        memcpy(w->went, w->x0, sizeof *w->went * (size_t)all);
        return;
    }
    tl_anderson_next(&w->mixing, w->went, w->x0, w->went);
    for (int64_t i = 0; i < all; i++) {
        w->went[i] = fmax(w->went[i], 0);
        w->x0[i] = w->went[i] - w->x0[i];
    }
    memcpy(c->p, w->went, sizeof *c->p * (size_t)w->n);
    tl_coupling_push_pressure(&c->system->c, w->x0);
    if (!w->m) return;
    memset(w->dl, 0, sizeof *w->dl * 3 * (size_t)w->m);
    for (int32_t j = 0; j < w->m; j++) {
        w->dl[3 * (int64_t)j] = w->scale[j] * w->x0[w->n + j];
        c->b->lam[3 * (int64_t)j] = w->scale[j] * w->went[w->n + j];
    }
    push_contacts(c, w->dl);
}

/* Liquids: what the next sweep depends on, and contact forces with it. Pressures, where these come last; else what contacts do to bodies, which is unique where their forces are not, as root of an energy. */
static void liquid_sweep_state(const tl_coupled *c, double *out)
{
    const work *w = c->work;
    const tl_csr *J = &c->b->p.J;
    if (w->pressure_last) {
        memcpy(out, c->p, sizeof *out * (size_t)w->n);
        return;
    }
    memset(w->r, 0, sizeof *w->r * 6 * (size_t)w->bodies);
    for (int32_t i = 0; i < J->rows; i++)
        for (int64_t k = J->start[i]; k < J->start[i + 1]; k++) w->r[J->col[k]] += J->val[k] * c->b->lam[i];
    for (int32_t k = 0; k < w->moving; k++)
        through_root(w, w->mover[k], true, w->r + 6 * (int64_t)w->mover[k], out + 6 * (int64_t)k);
    memcpy(out + w->mixing.n, c->b->lam, sizeof *out * 3 * (size_t)w->m);
    memcpy(out + w->mixing.n + 3 * (int64_t)w->m, c->p, sizeof *out * (size_t)w->n);
}

static void go_to_pressure(tl_coupled *c, const double *to)
{
    work *w = c->work;
    for (int32_t i = 0; i < w->n; i++) {
        double p = fmax(to[i], 0);
        w->x0[i] = p - c->p[i];
        c->p[i] = p;
    }
    tl_coupling_push_pressure(&c->system->c, w->x0);
}

static void go_to_contacts(tl_coupled *c, const double *to)
{
    work *w = c->work;
    for (int32_t j = 0; j < w->m; j++) {
        double *l = c->b->lam + 3 * (int64_t)j, normal = fmax(to[3 * (int64_t)j], 0);
        double t[2] = {to[3 * (int64_t)j + 1], to[3 * (int64_t)j + 2]};
        tl_project_disc(c->b->p.problem.mu[j] * normal, t);
        const double next[3] = {normal, t[0], t[1]};
        for (int k = 0; k < 3; k++) {
            w->dl[3 * (int64_t)j + k] = next[k] - l[k];
            l[k] = next[k];
        }
    }
    push_contacts(c, w->dl);
}

/* Pressures and contacts in turn leave a part of the error in every sweep that is near one in heaps, where bodies hold liquid between them: the next sweep begins with what the last ones point at. Pressures are mixed
 * like the contact forces that they belong to, so that their solve has little left to do. */
static void mix_liquid_sweeps(tl_coupled *c)
{
    work *w = c->work;
    liquid_sweep_state(c, w->ended);
    tl_anderson_next(&w->mixing, w->began, w->ended, w->began);
    if (!w->pressure_last) go_to_contacts(c, w->began + w->mixing.n);
    go_to_pressure(c, w->began + (w->pressure_last ? 0 : w->mixing.n + 3 * (int64_t)w->m));
    liquid_sweep_state(c, w->began);
}

/* sum of mass (a - b)^2 over faces, but for dx^3 */
static double distance2(const tl_coupling *k, const double *a, const double *b)
{
    double part[TL_BLOCKS_MAX];
    tl_blocks blocks = tl_blocks_of(k->faces);
#pragma omp parallel for schedule(static) if (k->faces >= TL_PARALLEL_MIN)
    for (int i = 0; i < blocks.count; i++) {
        part[i] = 0;
        for (int64_t f = tl_block_begin(blocks, i); f < tl_block_end(blocks, i); f++)
            if (k->mobility[f] > 0) part[i] += k->fluid[f] / k->mobility[f] * (a[f] - b[f]) * (a[f] - b[f]);
    }
    return tl_sum_ordered(blocks.count, part);
}

/* What the sweep changed of the velocities, over what all forces have. */
static double moved(tl_coupled *c)
{
    work *w = c->work;
    const tl_coupling *k = &c->system->c;
    double all = distance2(k, k->u, w->u_free), last = distance2(k, k->u, w->u_last);
    memcpy(w->u_last, k->u, sizeof *k->u * (size_t)k->faces);
    return all > 0 ? sqrt(last / all) : 0;
}

/* ---- certificate ---- */

static double relative(double e, double b) { return b > 0 ? e / b : e; }

/* b is A p - g: what the pressure has to undo, given the contact forces that are there. */
static double pressure_error(const tl_coupled *c)
{
    const work *w = c->work;
    double most = 0, b = w->free_pressure;
    tl_coupling_pressure_gradient(&c->system->c, w->g);
    tl_pressure_product(&w->alone, c->p, w->b);
    for (int32_t i = 0; i < w->n; i++) {
        double d = (c->system->d[i] + w->diag[i]) / w->per_g;
        b = fmax(b, fabs(w->b[i] / w->per_g - w->g[i]));
        double e = fabs(c->unilateral ? fmin(d * c->p[i], w->g[i]) : w->g[i]);
        most = e > most || isnan(e) ? e : most;
    }
    return relative(most, b);
}

/* Fastest that contacts close without normal forces, given pressure and friction as they are, or before any force, m/s. */
static double closing(tl_coupled *c)
{
    work *w = c->work;
    double *v = c->system->c.v, most = w->free_normal;
    memset(w->dl, 0, sizeof *w->dl * 3 * (size_t)w->m);
    for (int32_t j = 0; j < w->m; j++) w->dl[3 * (int64_t)j] = -c->b->lam[3 * (int64_t)j];
    memcpy(w->base, v, sizeof *w->base * 6 * (size_t)w->bodies);
    push_contacts(c, w->dl);
    tl_csr_mul(&c->b->p.J, v, w->q);
    memcpy(v, w->base, sizeof *v * 6 * (size_t)w->bodies);
    for (int32_t j = 0; j < w->m; j++) most = fmax(most, -(w->q[3 * (int64_t)j] + c->b->p.bias[3 * (int64_t)j]));
    return most;
}

/* The largest first-order decrease that is left over E(z), with u0 the slip without friction: A z = u - u0. */
static double tangent_gap(tl_coupled *c)
{
    work *w = c->work;
    double gap = 0, energy = 0, rest = 0;
    memset(w->dl, 0, sizeof *w->dl * 3 * (size_t)w->m);
    for (int32_t j = 0; j < w->m; j++) {
        const double *l = c->b->lam + 3 * (int64_t)j, *u = w->q + 3 * (int64_t)j;
        gap += (u[1] * l[1] + u[2] * l[2]) + c->b->p.problem.mu[j] * fmax(l[0], 0) * hypot(u[1], u[2]);
        energy += 0.5 * (u[1] * l[1] + u[2] * l[2]);
        rest += REST * w->b_normal * c->b->p.problem.mu[j] * fmax(l[0], 0);
        w->dl[3 * (int64_t)j + 1] = -l[1];
        w->dl[3 * (int64_t)j + 2] = -l[2];
    }
    double *v = c->system->c.v;
    memcpy(w->base, v, sizeof *w->base * 6 * (size_t)w->bodies);
    push_contacts(c, w->dl);
    tl_csr_mul(&c->b->p.J, v, w->q);
    memcpy(v, w->base, sizeof *v * 6 * (size_t)w->bodies);
    for (int32_t j = 0; j < w->m; j++) {
        const double *l = c->b->lam + 3 * (int64_t)j, *u0 = w->q + 3 * (int64_t)j;
        energy += 0.5 * (u0[1] * l[1] + u0[2] * l[2]);
    }
    return gap > 0 ? gap / fmax(fabs(energy), rest) : 0;
}

static talus_status certify(tl_coupled *c, tl_coupled_certificate *to, talus_error *err)
{
    work *w = c->work;
    tl_coupled_certificate out = {.pressure = pressure_error(c)};
    if (c->friction) TL_TRY(tl_friction_error(c->friction, c->p, w->arena, &out.stress, err));
    *to = out;
    if (!w->m) return TALUS_OK;
    double b = closing(c);
    tl_csr_mul(&c->b->p.J, c->system->c.v, w->q);
    for (int32_t j = 0; j < w->m; j++) {
        double g = w->q[3 * (int64_t)j] + c->b->p.bias[3 * (int64_t)j];
        double e = fabs(fmin(c->b->p.problem.blocks[9 * (int64_t)j] * c->b->lam[3 * (int64_t)j], g));
        out.normal = e > out.normal || isnan(e) ? e : out.normal;
    }
    out.normal = relative(out.normal, b);
    out.tangent = tangent_gap(c);
    *to = out;
    return TALUS_OK;
}

static bool good(const tl_coupled_certificate *c, double tolerance)
{
    return c->pressure <= tolerance && c->normal <= tolerance && c->tangent <= tolerance && c->stress <= tolerance;
}

/* Pressures of sand need not settle: enough when they and the stress hardly change, or velocities, and contacts are solved. [grid-granular spec 6.9, 6.11] */
static double settled(const tl_scheme_report *r) { return fmin(r->change, r->moved / MOVED); }

static bool hardly_changes(const tl_scheme_report *r, double tolerance) { return settled(r) <= tolerance; }

static bool still(const tl_scheme_report *r, double tolerance)
{
    return hardly_changes(r, tolerance) && r->certificate.normal <= tolerance && r->certificate.tangent <= tolerance;
}

/* ---- schemes ---- */

enum { P_C, C_P, T_PN, T_P_N, P_TN, TN_PN, PF_C, C_PF, T_F_PN, T_F_P_N, F_P_C };
static const tl_scheme schemes[] = {
    [P_C] = {"p-c", "pressure, then contact, once", false, 1, {solve_pressure, solve_contact}},
    [C_P] = {"c-p", "contact, then pressure, once", false, 1, {solve_contact, solve_pressure}},
    [T_PN] = {"t-pn",
              "tangent, pressure and normal together until still",
              false,
              30,
              {solve_tangent, solve_pressure_normal}},
    [T_P_N] =
        {"t-p-n", "tangent, pressure, normal until still", false, 30, {solve_tangent, solve_pressure, solve_normal}},
    [P_TN] = {"p-tn",
              "pressure, contact with its friction until still",
              false,
              TOGETHER_SWEEPS,
              {solve_pressure, solve_contact}},
    [TN_PN] = {"tn-pn",
               "contact with its friction, pressure and normal together until still",
               false,
               TOGETHER_SWEEPS,
               {solve_contact, solve_pressure_normal}},
    [PF_C] = {"pf-c", "pressure and stress, then contact, once", true, 1, {solve_pressure_stress, solve_contact}},
    [C_PF] = {"c-pf", "contact, then pressure and stress, once", true, 1, {solve_contact, solve_pressure_stress}},
    [T_F_PN] = {"t-f-pn",
                "tangent, stress, pressure and normal together until still",
                true,
                GRANULAR_SWEEPS,
                {solve_tangent, solve_stress, solve_pressure_normal}},
    [T_F_P_N] = {"t-f-p-n",
                 "tangent, stress, pressure, normal until still",
                 true,
                 GRANULAR_SWEEPS,
                 {solve_tangent, solve_stress, solve_pressure, solve_normal}},
    [F_P_C] = {"f-p-c",
               "stress, pressure, contact with its friction until still",
               true,
               GRANULAR_SWEEPS,
               {solve_stress, solve_pressure, solve_contact}},
};
static const tl_scheme pressure_only = {"p", "pressure alone", false, PASSES_MAX, {solve_pressure}};
static const tl_scheme stress_pressure = {
    "f-p", "stress, pressure until still", true, GRANULAR_SWEEPS, {solve_stress, solve_pressure}};

int tl_scheme_count(void) { return (int)(sizeof schemes / sizeof schemes[0]); }
const tl_scheme *tl_scheme_at(int i) { return i >= 0 && i < tl_scheme_count() ? &schemes[i] : NULL; }
const char *tl_scheme_name(const tl_scheme *s) { return s->name; }
bool tl_scheme_granular(const tl_scheme *s) { return s->granular; }

const tl_scheme *tl_scheme_find(const char *name)
{
    for (int i = 0; i < tl_scheme_count(); i++)
        if (!strcmp(schemes[i].name, name)) return &schemes[i];
    return NULL;
}

/* p and n in turn contract like m2 / (m1 + m2), m1 wet and m2 what it carries; liquid that a body holds weighs like a body.
 * [grid-granular spec 9] */
static double contraction(const tl_coupled *c)
{
    const tl_body_cells *wet = &c->system->wet;
    const double *im = c->b->inv_mass;
    double most = 0;
    for (int32_t k = 0; k < c->b->contacts.count; k++)
        for (int side = 0; side < 2; side++) {
            const tl_rigid_point *p = &c->b->contacts.point[k];
            int32_t a = side ? p->b : p->a, b = side ? p->a : p->b;
            if (!(im[a] > 0) || wet->first[a + 1] == wet->first[a]) continue;
            double other = im[b] > 0 ? im[a] / (im[a] + im[b]) : 0;
            double held = 0;
            for (int32_t i = wet->first[a]; i < wet->first[a + 1]; i++) held = fmax(held, c->work->diag[wet->cell[i]]);
            most = fmax(most, fmax(other, held / (held + LAMBDA_DIAGONAL)));
        }
    return most;
}

static const tl_scheme *choose(const tl_coupled *c)
{
    if (!c->work->m) return c->friction ? &stress_pressure : &pressure_only;
    if (c->scheme) return c->scheme;
    if (c->friction) return &schemes[F_P_C]; /* sweeps are mixed, whatever the masses */
    bool together = contraction(c) > UNIFY_ABOVE;
    return &schemes[together ? TN_PN : P_TN];
}

static talus_status make_work(tl_coupled *c, talus_error *err)
{
    tl_arena *a = c->b->arena;
    const tl_coupling *k = &c->system->c;
    work *w = c->work = TL_TAKE_ZERO(a, work, 1);
    if (!w) return no_memory(err);
    w->arena = a;
    w->n = k->cells;
    w->m = c->b->contacts.count;
    w->bodies = c->b->rigid->count;
    w->per_g = c->system->density * k->dx * k->dx / k->dt;
    w->per_u = c->system->density / (k->dx * k->dt * k->dt);
    w->volume_dt = k->dt * k->dx * k->dx * k->dx;
    w->started = c->warm;
    int64_t all = (int64_t)w->n + w->m, six = 6 * (int64_t)w->bodies, three = 3 * (int64_t)w->m;
    double **vectors[] = {&w->x, &w->x0, &w->b, &w->diag, &w->went};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = TL_TAKE(a, double, all))) return no_memory(err);
    w->g = TL_TAKE(a, double, w->n);
    w->scale = TL_TAKE(a, double, w->m);
    w->r = TL_TAKE(a, double, six);
    w->dv = TL_TAKE(a, double, six);
    w->base = TL_TAKE(a, double, six);
    w->q = TL_TAKE_ZERO(a, double, three);
    w->l = TL_TAKE(a, double, three);
    w->dl = TL_TAKE(a, double, three);
    w->no_friction = TL_TAKE_ZERO(a, double, w->m);
    w->mover = TL_TAKE(a, int32_t, w->bodies);
    w->root = TL_TAKE(a, double, 10 * (int64_t)w->bodies);
    if (!w->mover || !w->root || !w->g || !w->scale || !w->r || !w->dv || !w->base || !w->q || !w->l || !w->dl ||
        !w->no_friction)
        return no_memory(err);
    fill_diagonal(c);
    find_movers(c);
    w->free_bodies = c->b->p.bodies;
    w->free_bodies.v_free = w->base;
    w->contact = c->b->p.problem;
    w->contact.bodies = &w->free_bodies;
    w->contact.q = w->q;
    if (w->m) {
        TL_TRY(tl_arena_reserve(a, tl_pairs_bytes(&w->contact), err));
        if (!tl_pairs_build(&w->contact, &w->pairs, a))
            return TL_FAIL(err, TALUS_UNSUPPORTED, "a body in contact has no inertia about some axis");
    }
    return TALUS_OK;
}

static talus_status make_mixing(tl_coupled *c, talus_error *err)
{
    work *w = c->work;
    const tl_coupling *k = &c->system->c;
    TL_TRY(tl_anderson_begin(&w->mixing, (int64_t)w->n + w->m, w->arena, err));
    w->u_free = TL_TAKE(w->arena, double, k->faces);
    w->u_last = TL_TAKE(w->arena, double, k->faces);
    if (!w->u_free || !w->u_last) return no_memory(err);
    memcpy(w->u_free, k->u, sizeof *k->u * (size_t)k->faces);
    memcpy(w->u_last, k->u, sizeof *k->u * (size_t)k->faces);
    return TALUS_OK;
}

static talus_status make_liquid_mixing(tl_coupled *c, const tl_scheme *s, talus_error *err)
{
    work *w = c->work;
    int last = 0;
    while (last + 1 < BLOCKS_MAX && s->block[last + 1]) last++;
    w->pressure_last = s->block[last] == solve_pressure_normal;
    const int64_t decide = w->pressure_last ? w->n : 6 * (int64_t)w->moving;
    const int64_t carried = w->pressure_last ? 0 : 3 * (int64_t)w->m + w->n;
    w->began = TL_TAKE(w->arena, double, decide + carried);
    w->ended = TL_TAKE(w->arena, double, decide + carried);
    if (!w->began || !w->ended) return no_memory(err);
    return tl_anderson_begin_carrying(&w->mixing, decide, carried, w->arena, err);
}

static talus_status make_plans(tl_coupled *c, const tl_scheme *s, talus_error *err)
{
    work *w = c->work;
    tl_pressure_options options = tl_pressure_options_default();
    bool wet = c->system->wet.rows > 0;
    w->alone = tl_system_pressure(c->system);
    w->alone.b = w->b;
    w->alone.unilateral = c->unilateral;
    if (wet) w->alone.extra = (tl_pressure_extra){.add = add_alone, .ctx = c};
    w->with_normals = w->alone;
    w->with_normals.extras = w->m;
    int32_t columns = w->m && w->n < KNOWN_BELOW ? 6 * w->moving : 0;
    w->with_normals.extra = (tl_pressure_extra){add_with_normals, c, w->diag + w->n, columns, gather, scatter};
    for (int k = 0; k < BLOCKS_MAX && s->block[k]; k++) {
        if ((s->block[k] == solve_pressure || s->block[k] == solve_pressure_stress) && w->n && !w->plan_alone)
            TL_TRY(tl_pressure_plan_make(&w->plan_alone, c->method, &w->alone, &options, w->arena, err));
        if (s->block[k] == solve_pressure_normal && w->n + w->m && !w->plan_with_normals)
            TL_TRY(tl_pressure_plan_make(&w->plan_with_normals, c->method, &w->with_normals, &options, w->arena, err));
    }
    return TALUS_OK;
}

/* What is there before any force, and what the start makes of it. A scheme that goes once starts without forces: each block is then
 * blind for what comes after it. Sand's own block may still start from what it found in the last step. */
static void start(tl_coupled *c, bool once)
{
    work *w = c->work;
    tl_coupling *k = &c->system->c;
    memcpy(k->v, c->b->v_free, sizeof *k->v * 6 * (size_t)w->bodies);
    tl_coupling_pressure_gradient(k, w->g);
    w->b_pressure = fmax(tl_max_abs(w->n, w->g), ROUNDING * tl_max_abs(k->faces, k->u) / k->dx);
    tl_csr_mul(&c->b->p.J, k->v, w->q);
    w->b_normal = largest_row(w->q, w->m, 0, 0);
    w->b_tangent = largest_row(w->q, w->m, 1, 2);
    w->free_pressure = w->b_pressure;
    w->free_normal = w->b_normal;
    if (once) memset(c->b->lam, 0, sizeof *c->b->lam * 3 * (size_t)w->m);
    w->held = w->started && once && c->friction;
    if (w->started && !once)
        tl_coupling_push_pressure(k, c->p);
    else if (!w->held)
        memset(c->p, 0, sizeof *c->p * (size_t)w->n);
    if (w->held) return;
    if (c->friction && w->started && !once)
        tl_stress_push(c->friction->stress, k, c->friction->s);
    else if (c->friction)
        memset(c->friction->s, 0, sizeof *c->friction->s * (size_t)c->friction->stress->n);
    if (w->m) push_contacts(c, c->b->lam);
}

talus_status tl_scheme_run(tl_coupled *c, tl_scheme_report *out, talus_error *err)
{
    TL_TRY(make_work(c, err));
    const tl_scheme *s = choose(c);
    *out = (tl_scheme_report){.scheme = s, .pressure_method = tl_pressure_method_name(c->method)};
    TL_TRY(make_plans(c, s, err));
    int most = s->sweeps > 1 && c->sweeps > 0 ? c->sweeps : s->sweeps;
    /* stress by parts is for comparison with the papers: as they do it */
    bool certified = false, mixed = s->granular && s->sweeps > 1 && c->unilateral && c->friction && c->friction->method;
    const bool turns = !c->friction && s->sweeps > 1 && c->work->m && c->unilateral && !c->plain_sweeps;
    if (mixed) TL_TRY(make_mixing(c, err));
    if (turns) TL_TRY(make_liquid_mixing(c, s, err));
    start(c, s->sweeps == 1);
    if (turns) liquid_sweep_state(c, c->work->began);
    for (; out->sweeps < most; out->sweeps++) {
        if (out->sweeps > 0 && s->sweeps > 1 && certified && good(&out->certificate, c->tolerance)) break;
        if (out->sweeps > 0 && c->friction && certified && still(out, c->tolerance)) break;
        size_t mark = tl_arena_mark(c->work->arena);
        if (mixed && out->sweeps > 0) mix_sweeps(c, out->sweeps);
        if (turns && out->sweeps > 0) mix_liquid_sweeps(c);
        for (int k = 0; k < BLOCKS_MAX && s->block[k]; k++) {
            TL_TRY(s->block[k](c, out, err));
            TL_TRY(tl_cancel_check(err));
        }
        if (s->sweeps > 1) clip_tangent(c);
        out->change = changed(c);
        out->moved = mixed ? moved(c) : INFINITY;
        /* a certificate costs a quarter of a sweep */
        certified = !mixed || hardly_changes(out, c->tolerance) || out->sweeps + 1 >= most;
        if (certified) TL_TRY(certify(c, &out->certificate, err));
        tl_arena_release(c->work->arena, mark);
    }
    /* by the rules that stop it */
    out->settled = c->friction ? settled(out) : INFINITY;
    bool enough = good(&out->certificate, c->tolerance) || (c->friction && still(out, c->tolerance));
    out->result = enough ? TL_CONVERGED : TL_OUT_OF_ITERATIONS;
    memcpy(c->b->v, c->system->c.v, sizeof *c->b->v * 6 * (size_t)c->work->bodies);
    return TALUS_OK;
}

/* ---- crowds ---- */

talus_status tl_coupled_part(tl_coupled *c, const double *excess, double part, double *d, talus_error *err)
{
    work *w = c->work;
    const tl_coupling *k = &c->system->c;
    const tl_pressure_options options = tl_pressure_options_default();
    size_t mark = tl_arena_mark(w->arena);
    double *b = TL_TAKE(w->arena, double, w->n), *x = TL_TAKE_ZERO(w->arena, double, w->n);
    double *diag = TL_TAKE(w->arena, double, w->n);
    float *dir = TL_TAKE(w->arena, float, w->n), *ar = TL_TAKE(w->arena, float, w->n);
    if (!b || !x || !diag || !dir || !ar) return no_memory(err);
    memset(d, 0, sizeof *d * (size_t)k->faces);
    double most = 0;
    for (int32_t i = 0; i < w->n; i++) {
        b[i] = part * excess[i];
        most = fmax(most, fabs(b[i]));
        dir[i] = c->system->dir[i] + (float)PART_LEAK;
        ar[i] = c->system->ar[i] + (float)PART_LEAK;
        diag[i] = c->system->d[i] + (double)(dir[i] - c->system->dir[i]);
    }
    if (most > 0) {
        tl_pressure p = tl_system_pressure(c->system);
        p.b = b;
        p.dir = dir;
        p.ar = ar;
        p.d = diag;
        p.unilateral = false;
        tl_pressure_report report;
        const tl_stop stop = {.tolerance = PART_TOLERANCE, .max_iterations = PART_ITERATIONS};
        TL_TRY(tl_pressure_solve(tl_pressure_method_find("cg-multigrid"), &p, &options, &stop, x, w->arena, NULL,
                                 &report, err));
        tl_coupling_gradient(k, x, d);
        const double furthest = PART_FURTHEST * k->dx, scale = c->system->density * k->dx * k->dx;
        for (int32_t f = 0; f < k->faces; f++) d[f] = fmax(-furthest, fmin(furthest, -scale * k->mobility[f] * d[f]));
    }
    tl_arena_release(w->arena, mark);
    return TALUS_OK;
}

void tl_coupled_face_forces(const tl_coupled *c, double *y)
{
    tl_coupling_gradient(&c->system->c, c->p, y);
    if (c->friction) tl_stress_add_force(c->friction->stress, &c->system->c, c->friction->s, y);
}

void tl_coupled_fluid_forces(const tl_coupled *c, double *f)
{
    const tl_coupling *k = &c->system->c;
    tl_coupled_face_forces(c, k->y);
    k->solid.gather(&k->solid, k->y, f);
    for (int64_t i = 0; i < k->solid.n; i++) f[i] *= -(k->dx * k->dx * k->dx);
}
