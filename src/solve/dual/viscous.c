/* Pressure, viscous stress and the velocities of liquid and solids at once, at frozen contact forces. Solids are then
 * brought into balance with the stress of their own velocities, so that they get what the liquid gives, to rounding,
 * also where the solve left something. */
#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "solve/dual/work.h"
#include "solve/flex/inside.h"
#include "solve/viscous/method.h"

#define PASSES 6        /* of one block: the method's own measure is another one than the certificate's */
#define ITERATIONS 2000 /* of one pass: ten times what a healthy one takes */
#define SAFETY 0.5      /* of the reduction that is asked for */
#define FIRST 0.02      /* of it in the first pass: another two decades at once cost less than a second start */
#define LITTLE 0.1      /* reduction of one pass at least: less is another norm's matter */
#define LEAST 1e-9      /* reduction of one pass: what single precision in the preconditioner leaves symmetric */
#define BALANCED 1e-11  /* of the largest imbalance of solids in the step: what momentum may miss */
#define EARLY 1e-2      /* of it, before a solve that takes it along */
#define SETTLE_MAX 400  /* iterations of that balance */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the solve of a viscous liquid and solids");
}

talus_status tl_dual_viscous_begin(tl_dual_solver *s, talus_error *err)
{
    tl_dual_work *w = s->work;
    const int64_t n = s->p->viscous->problem.faces + w->n + w->cells;
    double **room[] = {&w->viscous_b, &w->viscous_x};
    for (int k = 0; k < 2; k++)
        if (!(*room[k] = TL_TAKE(s->arena, double, n + 1))) return no_memory(err);
    if (!(w->rest = TL_TAKE(s->arena, double, w->n + 1)) || !(w->step = TL_TAKE(s->arena, double, w->n + 1)) ||
        !(w->cg = TL_TAKE(s->arena, tl_flex_cg, 1)) || !tl_flex_cg_take(w->cg, w->n, s->arena))
        return no_memory(err);
    return TALUS_OK;
}

static void inverse(const void *of, const double *r, double *z)
{
    const tl_dual_solver *s = of;
    const tl_dual_viscous *v = s->p->viscous;
    tl_dual_work *w = s->work;
    talus_error why = {0};
    talus_status status = v->solids_inverse(v->ctx, r, z, &why);
    if (status != TALUS_OK && w->failed == TALUS_OK) w->failed = status, w->why = why;
}

/* The kind's matrices are over the volume of a cell. */
static void inverse_of_volumes(const void *of, const double *r, double *z)
{
    const tl_dual_solver *s = of;
    inverse(of, r, z);
    for (int64_t k = 0; k < s->work->n; k++) z[k] *= s->p->viscous->volume;
}

/* Levels of the liquid alone. With the diagonal that solids add, as other schemes have it, a tank with a block in it
 * took 70 iterations for 44. */
talus_status tl_dual_viscous_plan(tl_dual_solver *s, talus_error *err)
{
    tl_dual_work *w = s->work;
    if (w->plan_viscous) return TALUS_OK;
    w->viscous = s->p->viscous->problem;
    w->viscous.inverse = inverse_of_volumes;
    w->viscous.inverse_of = s;
    return tl_viscous_plan_make(&w->plan_viscous, &w->viscous, TL_VISCOUS_MULTIGRID, s->arena, err);
}

/* w->load of p and of the stress in force. */
static void take_load(tl_dual_solver *s)
{
    tl_dual_work *w = s->work;
    const tl_dual_viscous *v = s->p->viscous;
    tl_csr_mul(s->p->Z, w->p, w->load);
    for (int64_t i = 0; i < w->n; i++) w->load[i] *= s->p->impulse;
    v->load(v->ctx, w->load);
}

/* Largest of impulses on solids, those that turn rigid bodies over their radius of gyration. */
static double largest(const tl_flex *f, const double *r)
{
    double max = tl_max_abs(f->n, r);
    for (int32_t b = 0; b < f->rigid; b++) {
        const double *at = r + f->n + 6 * (int64_t)b;
        const double most = fmax(tl_max_abs(3, at), tl_max_abs(3, at + 3) / tl_flex_gyration(f, b));
        max = most > max || isnan(most) ? most : max;
    }
    return max;
}

/* What solids lack of their balance with the forces that are there. Returns the largest. */
static double find_rest(tl_dual_solver *s)
{
    tl_dual_work *w = s->work;
    const tl_flex *f = s->p->flex;
    take_load(s);
    memset(w->rest, 0, sizeof *w->rest * (size_t)w->n);
    if (w->contacts > 0) tl_csr_mul(f->Jt, w->lam, w->rest);
    memset(w->w, 0, sizeof *w->w * (size_t)w->n);
    tl_flex_product(f, w->dv, w->w);
    for (int64_t i = 0; i < w->n; i++) w->rest[i] += w->load[i] - w->w[i] - (i < f->n ? f->g[i] : 0);
    return largest(f, w->rest);
}

static void solids_product(void *ctx, const double *x, double *y)
{
    const tl_dual_viscous *v = ((const tl_dual_solver *)ctx)->p->viscous;
    v->solids_product(v->ctx, x, y);
}

static void solids_inverse(void *ctx, const double *r, double *z) { inverse(ctx, r, z); }

/* Velocities of solids in balance with the stress of these, the liquid's held; that stress is then in force. */
static void settle(tl_dual_solver *s, double share, tl_dual_report *out)
{
    tl_dual_work *w = s->work;
    const tl_dual_viscous *v = s->p->viscous;
    v->renew(v->ctx, w->dv);
    const double most = find_rest(s);
    w->most_rest = fmax(w->most_rest, most);
    if (!(most > share * w->most_rest)) return;
    w->cg->ctx = s;
    w->cg->apply = solids_product;
    w->cg->precond = solids_inverse;
    tl_work work = {0};
    tl_flex_cg_run(w->cg, w->rest, w->step, share * w->most_rest / most, SETTLE_MAX, &work);
    for (int64_t i = 0; i < w->n; i++) w->dv[i] += w->step[i];
    out->contact_work.products += work.products;
    v->renew(v->ctx, w->dv);
    take_load(s);
}

void tl_dual_viscous_start(tl_dual_solver *s)
{
    tl_dual_work *w = s->work;
    const tl_dual_viscous *v = s->p->viscous;
    const tl_flex *f = s->p->flex;
    memset(w->dv, 0, sizeof *w->dv * (size_t)w->n);
    if (!s->begun) {
        double error;
        s->begun = true;
        v->begin(v->liquid);
        v->unbalanced(v->ctx, w->dv, &s->free_viscous, &error);
        tl_dual_outflow(s, w->gap);
        /* one field: what its divergence and its balance are measured against is the larger of both */
        s->free_viscous = fmax(s->free_viscous, tl_max_abs(w->cells, w->gap) * v->spacing);
        s->free_viscous = fmax(s->free_viscous, tl_dual_noise(s) * v->spacing);
        if (s->started)
            s->p->push(s->p->ctx, w->p);
        else
            memset(w->p, 0, sizeof *w->p * (size_t)w->cells);
    }
    w->b_pressure = fmax(w->b_pressure, s->free_viscous / v->spacing);
    /* nodes go on from where they are, rigid bodies from what acts on them */
    find_rest(s);
    memcpy(w->dv + f->n, w->rest + f->n, sizeof *w->dv * (size_t)(w->n - f->n));
    tl_flex_rigid_inverse(f, w->dv);
}

double tl_dual_viscous_error(tl_dual_solver *s)
{
    const tl_dual_viscous *v = s->p->viscous;
    double largest, error;
    v->unbalanced(v->ctx, s->work->dv, &largest, &error);
    double b = fmax(s->free_viscous, largest);
    return b > 0 ? error / b : error;
}

/* What is left over what is asked for, of divergence and balance. */
static double over_target(tl_dual_solver *s)
{
    tl_dual_work *w = s->work;
    const double target = TL_DUAL_INNER * s->tolerance;
    tl_dual_outflow(s, w->gap);
    double g = tl_max_abs(w->cells, w->gap), p = w->b_pressure > 0 ? g / (target * w->b_pressure) : 0;
    double e = tl_dual_viscous_error(s) / target;
    return isnan(p) || isnan(e) ? NAN : fmax(p, e);
}

talus_status tl_dual_viscous_stress(tl_dual_solver *s, tl_dual_report *out, talus_error *err)
{
    tl_dual_work *w = s->work;
    const tl_dual_viscous *v = s->p->viscous;
    /* as the pressure of other schemes: solved anew in each correction, stress and solids would go on by what their
     * tolerance leaves while contacts converge */
    if (s->solved && TL_DUAL_INNER * over_target(s) <= 1) return TALUS_OK;
    s->solved = true;
    settle(s, EARLY, out);
    double left = over_target(s);
    for (int pass = 0; pass < PASSES && left > 1; pass++) {
        tl_work work = {0};
        const tl_stop stop = {.tolerance = fmax(LEAST, fmin(LITTLE, (pass ? SAFETY : FIRST) / left)),
                              .max_iterations = s->pressure_iterations > 0 ? s->pressure_iterations : ITERATIONS};
        find_rest(s);
        v->residual(v->ctx, w->dv, w->rest, w->viscous_b);
        tl_outcome outcome;
        if (s->scheme->uzawa)
            TL_TRY(tl_viscous_uzawa(&w->viscous, w->viscous_b, &stop, w->viscous_x, s->arena, &work, &outcome, err));
        else
            outcome = tl_viscous_run(w->plan_viscous, w->viscous_b, &stop, w->viscous_x, &work);
        if (w->failed != TALUS_OK) return TALUS_OK; /* told by the caller */
        v->take(v->ctx, w->viscous_b, w->viscous_x, w->p, w->dv);
        out->pressure_iterations += outcome.iterations;
        out->pressure_work.products += work.products;
        out->pressure_work.preconds += work.preconds;
        settle(s, EARLY, out);
        left = over_target(s);
    }
    s->started = true;
    settle(s, BALANCED, out);
    return TALUS_OK;
}
