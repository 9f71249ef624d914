#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "solve/pressure/cycle.h"
#include "solve/viscous/levels.h"
#include "solve/viscous/method.h"

#define ROUNDING 1e-7 /* of v.z: the cycles are in single precision */

enum { V_OLD, V_NOW, V_NEXT, W_OLD, W_NOW, W_NEXT, Z_NOW, Z_NEXT, VECTORS };

struct tl_viscous_plan {
    const tl_viscous *p;
    int64_t n;
    tl_face_levels *faces;
    double *inverse; /* [faces] of K's diagonal; NULL: multigrid */
    tl_levels levels;
    tl_cycle *cycle;
    tl_pressure_precond pressure;
    double *vector[VECTORS]; /* [n] */
};

static talus_status no_memory(talus_error *err)
{
    return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for the solve of a viscous liquid");
}

static talus_status plan_pressure(tl_viscous_plan *s, tl_arena *a, talus_error *err)
{
    const tl_pressure *p = &s->p->pressure;
    if (!p->n) return TALUS_OK;
    double *scratch = TL_TAKE(a, double, 3 * (int64_t)p->n + 1);
    if (!scratch) return no_memory(err);
    TL_TRY(tl_levels_build(&s->levels, p, (tl_levels_how){.split = true}, scratch, a, err));
    if (!(s->cycle = tl_cycle_float.take(&s->levels, a))) return no_memory(err);
    tl_cycle_float.attach(s->cycle, p);
    tl_cycle_float.reset(s->cycle, 0, NULL, true);
    s->pressure = tl_cycle_float.precond(s->cycle);
    return TALUS_OK;
}

static bool take_diagonal(tl_viscous_plan *s, tl_arena *a)
{
    const tl_csr *K = &s->p->K;
    if (!(s->inverse = TL_TAKE_ZERO(a, double, K->rows))) return false;
    for (int32_t i = 0; i < K->rows; i++)
        for (int64_t k = K->start[i]; k < K->start[i + 1]; k++)
            if (K->col[k] == i) s->inverse[i] = 1 / K->val[k];
    return true;
}

talus_status tl_viscous_plan_make(tl_viscous_plan **plan, const tl_viscous *p, tl_viscous_precond precond, tl_arena *a,
                                  talus_error *err)
{
    tl_viscous_plan *s = *plan = TL_TAKE_ZERO(a, tl_viscous_plan, 1);
    if (!s) return no_memory(err);
    s->p = p;
    s->n = p->faces + p->others + p->cells;
    for (int k = 0; k < VECTORS; k++)
        if (!(s->vector[k] = TL_TAKE(a, double, s->n))) return no_memory(err);
    if (precond == TL_VISCOUS_MULTIGRID)
        TL_TRY(tl_face_levels_build(&s->faces, &p->K, p->axis, p->ijk, p->period, a, err));
    else if (!take_diagonal(s, a))
        return no_memory(err);
    return plan_pressure(s, a, err);
}

static void solve_bodies(const tl_viscous *p, const double *r, double *z)
{
    for (int64_t b = 0; b < p->others / 6; b++)
        for (int i = 0; i < 6; i++) {
            double sum = 0;
            for (int j = 0; j < 6; j++) sum += p->solid[36 * b + 6 * i + j] * r[6 * b + j];
            z[6 * b + i] = sum;
        }
}

/* z = B^-1 r */
static void precondition(tl_viscous_plan *s, const double *r, double *z)
{
    const tl_viscous *p = s->p;
    if (s->faces)
        tl_face_levels_cycle(s->faces, r, z);
    else
        for (int32_t i = 0; i < p->faces; i++) z[i] = s->inverse[i] * r[i];
    if (p->inverse)
        p->inverse(p->inverse_of, r + p->faces, z + p->faces);
    else
        solve_bodies(p, r + p->faces, z + p->faces);
    if (!p->cells) return;
    const double *h = r + p->faces + p->others;
    double *q = z + p->faces + p->others;
    s->pressure.apply(s->pressure.ctx, h, tl_max_abs(p->cells, h));
    s->pressure.direction(s->pressure.ctx, 0, q);
#pragma omp parallel for schedule(static) if (p->cells >= TL_PARALLEL_MIN)
    for (int32_t i = 0; i < p->cells; i++) q[i] = p->per_pressure * q[i] + p->give[i] * h[i];
}

/* v = product of z, less what the last two directions hold of it. Returns z.v. */
static double lanczos(tl_viscous_plan *s, double beta, double beta_old, tl_work *w)
{
    double **v = s->vector;
    s->p->product(s->p->ctx, v[Z_NOW], v[V_NEXT]);
    w->products++;
    const double per_beta = 1 / beta;
#pragma omp parallel for schedule(static) if (s->n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < s->n; i++) v[V_NEXT][i] *= per_beta;
    double alpha = tl_dot(s->n, v[Z_NOW], v[V_NEXT]) * per_beta;
    const double a = alpha * per_beta, b = beta_old > 0 ? beta / beta_old : 0;
#pragma omp parallel for schedule(static) if (s->n >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < s->n; i++) v[V_NEXT][i] -= a * v[V_NOW][i] + b * v[V_OLD][i];
    return alpha;
}

static void rotate(double **v, int a, int b, int c)
{
    double *keep = v[a];
    v[a] = v[b];
    v[b] = v[c];
    v[c] = keep;
}

/* beta^2 = v.z; NAN where the preconditioner is not definite. Rounding may leave less than nothing of a v that is 0. */
static double length(tl_viscous_plan *s, int of_v, int of_z)
{
    const double *v = s->vector[of_v], *z = s->vector[of_z], square = tl_dot(s->n, v, z);
    if (square >= 0) return sqrt(square);
    return -square <= ROUNDING * sqrt(tl_dot(s->n, v, v) * tl_dot(s->n, z, z)) ? 0 : NAN;
}

/* Directions are those of z / beta; v is kept unscaled. */
tl_outcome tl_viscous_run(tl_viscous_plan *s, const double *b, const tl_stop *stop, double *x, tl_work *w)
{
    double **v = s->vector;
    const int64_t n = s->n;
    const size_t bytes = sizeof(double) * (size_t)n;
    memset(x, 0, bytes);
    memset(v[V_OLD], 0, bytes);
    memset(v[W_OLD], 0, bytes);
    memset(v[W_NOW], 0, bytes);
    memcpy(v[V_NOW], b, bytes);
    precondition(s, v[V_NOW], v[Z_NOW]);
    w->preconds++;
    double beta = length(s, V_NOW, Z_NOW), beta_old = 0, eta = beta, first = beta;
    double c = 1, c_old = 1, si = 0, si_old = 0, left = 1;
    int i = 0;
    if (!(first > 0)) return (tl_outcome){isnan(first) ? TL_BROKE_DOWN : TL_CONVERGED, 0, 0};
    for (; left > stop->tolerance && (!stop->max_iterations || i < stop->max_iterations); i++) {
        if (tl_stop_spent(stop, w)) break;
        double alpha = lanczos(s, beta, beta_old, w);
        precondition(s, v[V_NEXT], v[Z_NEXT]);
        w->preconds++;
        double beta_next = length(s, V_NEXT, Z_NEXT);
        double r0 = c * alpha - c_old * si * beta, r1 = hypot(r0, beta_next), r2 = si * alpha + c_old * c * beta,
               r3 = si_old * beta;
        if (!(r1 > 0) || !isfinite(r1)) return (tl_outcome){TL_BROKE_DOWN, i, left};
        c_old = c, si_old = si;
        c = r0 / r1, si = beta_next / r1;
        const double per_beta = 1 / beta, per_r = 1 / r1, step = c * eta;
#pragma omp parallel for schedule(static) if (n >= TL_PARALLEL_MIN)
        for (int64_t k = 0; k < n; k++) {
            double next = (v[Z_NOW][k] * per_beta - r3 * v[W_OLD][k] - r2 * v[W_NOW][k]) * per_r;
            v[W_NEXT][k] = next;
            x[k] += step * next;
        }
        eta = -si * eta;
        left = fabs(eta) / first;
        tl_work_record(w, left);
        beta_old = beta, beta = beta_next;
        rotate(v, V_OLD, V_NOW, V_NEXT);
        rotate(v, W_OLD, W_NOW, W_NEXT);
        double *keep = v[Z_NOW];
        v[Z_NOW] = v[Z_NEXT];
        v[Z_NEXT] = keep;
        if (!(beta > 0)) {
            i++;
            break;
        }
    }
    return (tl_outcome){left <= stop->tolerance ? TL_CONVERGED : TL_OUT_OF_ITERATIONS, i, left};
}
