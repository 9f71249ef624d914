#include "solve/cone/problem.h"

#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "solve/cone/group.h"

void tl_cone_identity(int32_t size, double *Q)
{
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) Q[i * size + j] = i == j;
}

void tl_cone_stress_form(double *Q)
{
    memset(Q, 0, 25 * sizeof *Q);
    for (int i = 0; i < 5; i++) Q[i * 5 + i] = 2;
    Q[0 * 5 + 4] = Q[4 * 5 + 0] = 1; /* 2 xx zz in all */
}

bool tl_cone_metric_of(tl_cone_metric *q, int32_t m, const double *Q)
{
    *q = (tl_cone_metric){.size = m};
    memcpy(q->Q, Q, sizeof(double) * (size_t)(m * m));

    /* Q = R'R by rows of R */
    double R[TL_CONE_MAX * TL_CONE_MAX] = {0};
    for (int i = 0; i < m; i++) {
        double pivot = Q[i * m + i];
        for (int k = 0; k < i; k++) pivot -= R[k * m + i] * R[k * m + i];
        if (!(pivot > 1e-14 * Q[i * m + i]) || !isfinite(pivot)) return false; /* rounding of a singular Q */
        R[i * m + i] = sqrt(pivot);
        for (int j = i + 1; j < m; j++) {
            double s = Q[i * m + j];
            for (int k = 0; k < i; k++) s -= R[k * m + i] * R[k * m + j];
            R[i * m + j] = s / R[i * m + i];
        }
    }
    /* R^-1 by columns, then Q^-1 = R^-1 R^-T */
    for (int j = 0; j < m; j++)
        for (int i = j; i >= 0; i--) {
            double s = i == j;
            for (int k = i + 1; k <= j; k++) s -= R[i * m + k] * q->root_inv[k * m + j];
            q->root_inv[i * m + j] = s / R[i * m + i];
        }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            double s = 0;
            for (int k = 0; k < m; k++) s += q->root_inv[i * m + k] * q->root_inv[j * m + k];
            q->inverse[i * m + j] = s;
        }
    return true;
}

double tl_cone_max_radius(const tl_cone *p)
{
    return tl_space_max(p->space, tl_max_abs(p->space->n / p->size, p->radius));
}

/* What is wrong with this part, or TALUS_OK. */
static talus_status check_local(const tl_cone *p, talus_error *err)
{
    const tl_space *s = p->space;
    if (p->size < 1 || p->size > TL_CONE_MAX)
        return TL_FAIL(err, TALUS_BAD_INPUT, "cone problem: group size must be 1 to %d, got %d", TL_CONE_MAX, p->size);
    const bool shared = p->parts && p->parts->seen.rows; /* groups see what is not their own */
    if (!shared && s->n % p->size)
        return TL_FAIL(err, TALUS_BAD_INPUT, "cone problem: %lld unknowns do not divide into groups of %d",
                       (long long)s->n, p->size);
    if (p->A.csr && (p->A.csr->rows != s->n || p->A.csr->cols != s->n + s->halo))
        return TL_FAIL(err, TALUS_BAD_INPUT, "cone problem: A is %d x %d, the space needs %lld x %lld", p->A.csr->rows,
                       p->A.csr->cols, (long long)s->n, (long long)(s->n + s->halo));

    tl_cone_metric q;
    for (int i = 0; i < p->size; i++)
        for (int j = 0; j < i; j++)
            if (p->Q[i * p->size + j] != p->Q[j * p->size + i])
                return TL_FAIL(err, TALUS_BAD_INPUT, "cone problem: Q is not symmetric at (%d, %d): %g and %g", i, j,
                               p->Q[i * p->size + j], p->Q[j * p->size + i]);
    if (!tl_cone_metric_of(&q, p->size, p->Q))
        return TL_FAIL(err, TALUS_BAD_INPUT, "cone problem: Q is not positive definite");

    for (int64_t i = 0; i < s->n; i++)
        if (!isfinite(p->b[i]))
            return TL_FAIL(err, TALUS_BAD_INPUT, "cone problem: b[%lld] must be finite, got %g", (long long)i, p->b[i]);
    for (int64_t g = 0; g < (shared ? p->parts->groups : s->n / p->size); g++) {
        if (!(p->radius[g] >= 0) || !isfinite(p->radius[g]))
            return TL_FAIL(err, TALUS_BAD_INPUT, "cone problem: radius[%lld] must be finite and >= 0, got %g",
                           (long long)g, p->radius[g]);
        if (p->bound && (!(p->bound[g] >= 0) || !isfinite(p->bound[g])))
            return TL_FAIL(err, TALUS_BAD_INPUT, "cone problem: bound[%lld] must be finite and >= 0, got %g",
                           (long long)g, p->bound[g]);
    }
    return TALUS_OK;
}

talus_status tl_cone_check(const tl_cone *p, talus_error *err)
{
    talus_status status = check_local(p, err);
    double worst = tl_space_max(p->space, (double)status);
    if (status == TALUS_OK && worst > 0)
        return TL_FAIL(err, (talus_status)worst, "cone problem: another part of the space was refused");
    return status;
}

TL_CONE_INLINE void dual_norms(int m, const double *inverse, int64_t groups, const double *g, double *out)
{
    for (int64_t i = 0; i < groups; i++) out[i] = sqrt(fmax(0, tl_cone_form(m, inverse, g + m * i)));
}

void tl_cone_dual_norms(int32_t size, const double *Q, int64_t groups, const double *g, double *out)
{
    tl_cone_metric q;
    tl_cone_metric_of(&q, size, Q);
    TL_CONE_BY_SIZE(size, dual_norms(m, q.inverse, groups, g, out));
}

TL_CONE_INLINE void project_groups(int m, const tl_cone *p, double *x, int64_t from, int64_t to)
{
    for (int64_t g = from; g < to; g++) tl_cone_project(m, p->Q, p->radius[g], x + g * m);
}

void tl_cone_project_all(const tl_cone *p, double *x)
{
    tl_blocks blocks = tl_cone_blocks(p);
#pragma omp parallel for schedule(static) if (p->space->n >= TL_PARALLEL_MIN)
    for (int i = 0; i < blocks.count; i++)
        TL_CONE_BY_SIZE(p->size, project_groups(m, p, x, tl_block_begin(blocks, i), tl_block_end(blocks, i)));
}

double tl_cone_relative(double gap, double energy)
{
    if (energy == 0) return gap == 0 ? 0.0 : INFINITY;
    return gap / fabs(energy);
}

typedef struct partial {
    double gap, energy, violation;
} partial;

TL_CONE_INLINE partial measure_block(int m, const tl_cone *p, const tl_cone_metric *q, const double *x,
                                     const double *Ax, int64_t from, int64_t to)
{
    partial s = {0, 0, 0};
    for (int64_t g = from; g < to; g++) {
        const double *xg = x + g * m;
        double grad[TL_CONE_MAX], energy = 0;
        for (int i = 0; i < m; i++) {
            grad[i] = Ax[g * m + i] - p->b[g * m + i];
            energy += xg[i] * (0.5 * Ax[g * m + i] - p->b[g * m + i]);
        }
        s.gap += tl_cone_gap(m, q->inverse, p->radius[g], grad, xg);
        s.energy += energy;
        s.violation = fmax(s.violation, sqrt(fmax(0.0, tl_cone_form(m, q->Q, xg))) - p->radius[g]);
    }
    return s;
}

tl_cone_certificate tl_cone_measure(const tl_cone *p, const tl_cone_metric *q, const double *x, const double *Ax)
{
    tl_blocks blocks = tl_cone_blocks(p);
    partial part[TL_BLOCKS_MAX], sum = {0, 0, 0};
#pragma omp parallel for schedule(static) if (p->space->n >= TL_PARALLEL_MIN)
    for (int i = 0; i < blocks.count; i++)
        TL_CONE_BY_SIZE(p->size,
                        part[i] = measure_block(m, p, q, x, Ax, tl_block_begin(blocks, i), tl_block_end(blocks, i)));
    for (int i = 0; i < blocks.count; i++) {
        sum.gap += part[i].gap;
        sum.energy += part[i].energy;
        sum.violation = fmax(sum.violation, part[i].violation);
    }

    tl_cone_certificate c = {.gap = tl_space_sum(p->space, sum.gap), .energy = tl_space_sum(p->space, sum.energy)};
    c.violation = tl_space_max(p->space, sum.violation);
    c.relative_gap = tl_cone_relative(c.gap, c.energy);
    c.relative_violation = c.violation == 0 ? 0.0 : c.violation / tl_cone_max_radius(p);
    return c;
}

talus_status tl_cone_certify(const tl_cone *p, double *x, tl_cone_certificate *out, tl_arena *a, talus_error *err)
{
    tl_cone_metric q;
    TL_TRY(tl_cone_check(p, err));
    tl_cone_metric_of(&q, p->size, p->Q);

    size_t mark = tl_arena_mark(a);
    double *Ax = TL_TAKE(a, double, p->space->n);
    if (tl_space_max(p->space, Ax ? 0.0 : 1.0) > 0) {
        tl_arena_release(a, mark);
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to certify a cone problem of %lld unknowns",
                       (long long)p->space->n);
    }
    tl_linop_apply(&p->A, p->space, x, Ax, NULL);
    *out = tl_cone_measure(p, &q, x, Ax);
    tl_arena_release(a, mark);
    return TALUS_OK;
}
