/* Blocks of schemes that solve for pressures and normal forces with solids that deform as it was published, for
 * comparison with blocks.c: the same problem, start, target and measure. Their own stop is not the measure's, because
 * their vectors hold more: they go on, tighter, until the liquid's and the contacts' rows are what is asked for. */
#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "solve/dual/joint.h"
#include "solve/flex/inside.h"

#define PASSES 6
#define TIGHTER 0.1     /* of the target, from pass to pass */
#define FINEST 1e-15    /* of the largest entry of b */
#define ITERATIONS 5000 /* of all passes, as [Takahashi2022 sec. 4.2] */
#define TURNS 1500      /* of bodies and contacts [Takahashi2022 sec. 4.1.2] */
#define TURN_TARGET 0.1 /* of what a turn begins with: its own solve's */

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a solve of liquid and solids");
}

/* What is left over the target of run_pressure in blocks.c. */
static double over_target(const tl_dual_solver *s, int32_t normals)
{
    return tl_dual_left(s, normals) / (TL_DUAL_INNER * s->tolerance);
}

/* ---- written out ---- */

typedef struct box {
    tl_boxqp problem;
    tl_space space;
    double *b, *x, *start; /* [joint] */
    double *lo, *diag;
} box;

static talus_status take_box(tl_dual_solver *s, int32_t normals, box *q, talus_error *err)
{
    tl_dual_work *w = s->work;
    const int64_t n = w->joint;
    double **room[] = {&q->b, &q->x, &q->start, &q->lo, &q->diag};
    for (size_t k = 0; k < sizeof room / sizeof *room; k++)
        if (!(*room[k] = TL_TAKE(s->arena, double, n + 1))) return no_memory(err);
    for (int64_t i = 0; i < n; i++)
        q->lo[i] = i < w->cells ? (s->p->pressure.unilateral ? 0 : -INFINITY) : i < w->cells + normals ? 0 : -INFINITY;
    tl_csr_diagonal(&s->contact->kept->joint, q->diag);
    q->space = tl_space_local(n);
    q->problem = (tl_boxqp){.space = &q->space,
                            .A = {.apply = tl_dual_joint_product, .csr = NULL, .ctx = s},
                            .b = q->b,
                            .lo = q->lo,
                            .hi = NULL,
                            .diag = q->diag};
    return TALUS_OK;
}

/* From p and lam as they are and solids in balance: b = A (x0, 0) - (gradient, 0). */
static void set_box(tl_dual_solver *s, int32_t normals, box *q)
{
    const tl_dual_work *w = s->work;
    memset(q->x, 0, sizeof *q->x * (size_t)w->joint);
    for (int32_t i = 0; i < w->cells + normals; i++) q->x[w->row[i]] = w->x0[i];
    tl_dual_joint_product(&q->problem.A, q->x, q->b);
    for (int32_t i = 0; i < w->cells + normals; i++) q->b[w->row[i]] -= tl_dual_gradient(s, i);
}

/* One solve from where p and lam are; residual: in the units of `gradient`. */
static talus_status run_box(tl_dual_solver *s, int32_t normals, box *q, double residual, int iterations,
                            tl_dual_report *out, talus_error *err)
{
    static const char *const name = "mprgp";
    tl_dual_work *w = s->work;
    const tl_boxqp_method *m = tl_boxqp_method_find(name);
    tl_options o = tl_options_default();
    tl_work work = {0};
    set_box(s, normals, q);
    const double max = tl_max_abs(w->joint, q->b);
    if (!(max > 0)) return TALUS_OK;
    const tl_stop stop = {.tolerance = fmax(residual / max, FINEST), .max_iterations = iterations};
    o.precond = s->contact->kept->of_joint;
    TL_TRY(tl_arena_reserve(s->arena, m->bytes(&q->problem, &o), err));
    const tl_outcome outcome = m->run(&q->problem, &o, &stop, q->x, s->arena, &work);
    for (int32_t i = 0; i < w->cells + normals; i++) w->x[i] = q->x[w->row[i]];
    out->pressure_iterations += outcome.iterations;
    out->pressure_work.products += work.products;
    out->pressure_work.preconds += work.preconds;
    out->pressure_work.factorizations += work.factorizations;
    return tl_dual_take(s, normals, err);
}

static int most(const tl_dual_solver *s) { return s->pressure_iterations > 0 ? s->pressure_iterations : ITERATIONS; }

static talus_status by_matrix(tl_dual_solver *s, tl_dual_form form, tl_dual_report *out, talus_error *err)
{
    tl_dual_work *w = s->work;
    const int32_t normals = w->contacts;
    box q;
    if (w->cells == 0) return TALUS_OK;
    tl_dual_pose(s, normals);
    double left = over_target(s, normals), target = TL_DUAL_INNER * s->tolerance * s->p->per_g * w->b_pressure;
    if (left <= 1) return TALUS_OK;
    TL_TRY(tl_dual_join(s, form, normals, out, err));
    TL_TRY(take_box(s, normals, &q, err));
    for (int pass = 0, before = out->pressure_iterations; pass < PASSES && left > 1; pass++, target *= TIGHTER) {
        const int spent = out->pressure_iterations - before;
        if (spent >= most(s)) break;
        TL_TRY(run_box(s, normals, &q, target, most(s) - spent, out, err));
        tl_dual_pose(s, normals);
        left = over_target(s, normals);
    }
    return TALUS_OK;
}

talus_status tl_dual_by_g(tl_dual_solver *s, tl_dual_report *out, talus_error *err)
{
    return by_matrix(s, TL_DUAL_G, out, err);
}

talus_status tl_dual_by_g_scaled(tl_dual_solver *s, tl_dual_report *out, talus_error *err)
{
    return by_matrix(s, TL_DUAL_G_SCALED, out, err);
}

talus_status tl_dual_by_z1z2(tl_dual_solver *s, tl_dual_report *out, talus_error *err)
{
    return by_matrix(s, TL_DUAL_Z1Z2, out, err);
}

/* Liquid and contacts with masses in place of H, bodies with H, in turns: masses answer more than bodies that are stiff,
 * so that every turn goes too short a way, and none too far. */
talus_status tl_dual_by_ica(tl_dual_solver *s, tl_dual_report *out, talus_error *err)
{
    tl_dual_work *w = s->work;
    const int32_t normals = w->contacts;
    box q;
    if (w->cells == 0) return TALUS_OK;
    tl_dual_pose(s, normals);
    double left = over_target(s, normals);
    const double target = TL_DUAL_INNER * s->tolerance * s->p->per_g * w->b_pressure;
    if (left <= 1) return TALUS_OK;
    TL_TRY(tl_dual_join(s, TL_DUAL_MASS, normals, out, err));
    TL_TRY(take_box(s, normals, &q, err));
    for (int turn = 0, before = out->pressure_iterations; turn < TURNS && left > 1; turn++) {
        const int spent = out->pressure_iterations - before;
        if (s->pressure_iterations > 0 && spent >= s->pressure_iterations) break;
        TL_TRY(run_box(s, normals, &q, fmax(1, TURN_TARGET * left) * 0.5 * target, ITERATIONS, out, err));
        out->pressure_work.outer++;
        tl_dual_pose(s, normals);
        left = over_target(s, normals);
    }
    return TALUS_OK;
}

/* ---- Uzawa's conjugate gradients: velocities eliminated by their masses and factors, nothing preconditioned ---- */

typedef struct uzawa {
    const tl_pressure *problem;
} uzawa;

static void reduced_product(const tl_linop *A, const double *x, double *y)
{
    tl_pressure_product(((const uzawa *)A->ctx)->problem, x, y);
}

talus_status tl_dual_by_ucg(tl_dual_solver *s, tl_dual_report *out, talus_error *err)
{
    tl_dual_work *w = s->work;
    const int32_t normals = w->contacts;
    const int64_t n = (int64_t)w->cells + normals;
    if (w->cells == 0) return TALUS_OK;
    tl_dual_pose(s, normals);
    if (over_target(s, normals) <= 1) return TALUS_OK;
    const uzawa ctx = {&w->problem[normals > 0]};
    const tl_space space = tl_space_local(n);
    const tl_boxqp_method *m = tl_boxqp_method_find("mprgp");
    const tl_options o = tl_options_default();
    double *lo = TL_TAKE(s->arena, double, n + 1);
    if (!lo) return no_memory(err);
    for (int64_t i = 0; i < n; i++) lo[i] = i >= w->cells || s->p->pressure.unilateral ? 0 : -INFINITY;
    const tl_boxqp problem = {.space = &space, .A = {.apply = reduced_product, .ctx = &ctx}, .b = w->b, .lo = lo};
    const double target = TL_DUAL_INNER * s->tolerance * s->p->per_g * w->b_pressure, max = tl_max_abs(n, w->b);
    const tl_stop stop = {.tolerance = fmax(target / max, FINEST), .max_iterations = most(s)};
    tl_work work = {0};
    TL_TRY(tl_arena_reserve(s->arena, m->bytes(&problem, &o), err));
    const tl_outcome outcome = m->run(&problem, &o, &stop, w->x, s->arena, &work);
    out->pressure_iterations += outcome.iterations;
    out->pressure_work.products += work.products;
    out->unknowns = n;
    return tl_dual_take(s, normals, err);
}
