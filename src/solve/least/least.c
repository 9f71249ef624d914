#include "solve/least/method.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"
#include "base/sum.h"
#include "solve/cone/group.h"

#define POWER_STEPS 24 /* measured on silos: 24 are within 5 % of the largest eigenvalue */
#define SAFETY 1.2     /* on it */
#define HALF 0.5       /* of what was left at the last look */

typedef struct ascent {
    const tl_least *p;
    tl_cone_metric q;
    double *y, *r, *z; /* [rows] */
} ascent;

double tl_least_energy(const tl_least *p, const double *a, const double *b)
{
    tl_blocks blocks = tl_blocks_at_least(p->groups, 256);
    double part[TL_BLOCKS_MAX];
#pragma omp parallel for schedule(static) if (p->groups >= TL_PARALLEL_MIN)
    for (int i = 0; i < blocks.count; i++) {
        part[i] = 0;
        for (int64_t g = tl_block_begin(blocks, i); g < tl_block_end(blocks, i); g++)
            if (!p->frozen[g])
                part[i] +=
                    0.5 * p->weight[g] * (a[g] * a[g] + p->stiffness[g] * tl_cone_form(p->size, p->Q, b + g * p->size));
    }
    return tl_sum_ordered(blocks.count, part);
}

static bool leans(const tl_least *p, int32_t g) { return p->beside && p->beside[g] != g; }

static double extra(const tl_least *p, int32_t g) { return p->extra ? p->extra[g] : 0; }

static void cut(const tl_least *p, double radius, double *b)
{
    double length = sqrt(fmax(0, tl_cone_form(p->size, p->Q, b)));
    if (length <= radius) return;
    for (int k = 0; k < p->size; k++) b[k] *= radius / length;
}

/* Cells from `begin` to `end`: |b|_Q^2 of the elastic b is the product of the gradient with it, so that one
 * multiplication does. */
TL_CONE_INLINE void answer_groups(const ascent *s, int m, int64_t begin, int64_t end, double *a, double *b, bool cones)
{
    const tl_least *p = s->p;
    for (int64_t g = begin; g < end; g++) {
        double *bg = b + g * m, x[TL_CONE_MAX] = {0}, square = 0;
        if (p->frozen[g] && cones) {
            a[g] = p->a0[g];
            for (int k = 0; k < m; k++) bg[k] = p->b0[g * m + k];
            continue;
        }
        double soft = 1 / (p->weight[g] * p->stiffness[g]);
        a[g] /= p->weight[g];
        if (cones && !(a[g] > 0)) a[g] = 0;
        tl_cone_mul(m, s->q.inverse, bg, x);
        for (int k = 0; k < m; k++) square += bg[k] * x[k];
        if (cones && !leans(p, (int32_t)g)) {
            double radius = p->alpha[g] * a[g] + extra(p, (int32_t)g), square_of = soft * soft * square;
            if (square_of > radius * radius) soft *= radius / sqrt(square_of);
        }
        for (int k = 0; k < m; k++) bg[k] = soft * x[k];
    }
}

/* (a, b) of the gradients: the elastic answer, what pulls cut off, and b cut down to its cone. In place. */
static void answer(const ascent *s, double *a, double *b, bool cones)
{
    const tl_least *p = s->p;
    const int size = p->size;
    const tl_blocks blocks = tl_blocks_at_least(p->groups, 256);
#pragma omp parallel for schedule(static) if (p->groups >= TL_PARALLEL_MIN / 8)
    for (int i = 0; i < blocks.count; i++)
        TL_CONE_BY_SIZE(size, answer_groups(s, m, tl_block_begin(blocks, i), tl_block_end(blocks, i), a, b, cones));
    if (!cones || !p->beside) return;
#pragma omp parallel for schedule(static) if (p->groups >= TL_PARALLEL_MIN / 8)
    for (int32_t g = 0; g < p->groups; g++) {
        if (p->frozen[g] || !leans(p, g)) continue;
        const double *n = p->normal + (int64_t)g * size, *other = b + (int64_t)p->beside[g] * size;
        double load = (1 - p->part[g]) * a[g] + p->part[g] * (a[p->beside[g]] - tl_cone_dot(size, n, other));
        cut(p, p->alpha[g] * fmax(0, load) + extra(p, g), b + (int64_t)g * size);
    }
}

/* The norm in which residuals are judged. */
static double norm(const ascent *s, const double *r)
{
    const double *w = s->p->worth;
    for (int32_t i = 0; i < s->p->rows; i++) s->z[i] = w ? w[i] * r[i] : r[i];
    return sqrt(tl_dot(s->p->rows, s->z, r));
}

/* r [rows]: what (a, b)(t) leaves. Returns its norm. */
static double evaluate(const ascent *s, const double *t, double *a, double *b, double *r)
{
    const tl_least *p = s->p;
    p->adjoint(p->ctx, t, a, b);
    answer(s, a, b, true);
    p->product(p->ctx, a, b, r);
    for (int32_t i = 0; i < p->rows; i++) r[i] = p->held[i] ? 0 : p->f[i] - r[i];
    return norm(s, r);
}

/* Largest eigenvalue of K C^-1 K^T without cones. */
static double largest(const ascent *s, double *t, double *a, double *b)
{
    const tl_least *p = s->p;
    double value = 0;
    for (int32_t i = 0; i < p->rows; i++) t[i] = p->held[i] ? 0 : tl_random(3, (uint64_t)i, 0) - 0.5;
    for (int k = 0; k < POWER_STEPS; k++) {
        double norm = sqrt(tl_dot(p->rows, t, t));
        if (!(norm > 0)) return 0;
        for (int32_t i = 0; i < p->rows; i++) t[i] /= norm;
        p->adjoint(p->ctx, t, a, b);
        answer(s, a, b, false);
        p->product(p->ctx, a, b, s->y);
        value = fmax(value, tl_dot(p->rows, t, s->y));
        for (int32_t i = 0; i < p->rows; i++) t[i] = p->held[i] ? 0 : s->y[i];
    }
    return SAFETY * value;
}

/* Phi of (a, b) less (a0, b0), over that of (a0, b0). Uses y and z, [groups] and [groups][size]. */
static double distance(const tl_least *p, const double *a, const double *b, double *y, double *z)
{
    double size = tl_least_energy(p, p->a0, p->b0);
    for (int32_t g = 0; g < p->groups; g++) y[g] = a[g] - p->a0[g];
    for (int64_t i = 0; i < (int64_t)p->groups * p->size; i++) z[i] = b[i] - p->b0[i];
    return size > 0 ? tl_least_energy(p, y, z) / size : 0;
}

talus_status tl_least_ascend(const tl_least *p, const tl_least_stop *stop, double *t, double *a, double *b,
                             tl_arena *arena, tl_least_report *out, talus_error *err)
{
    const int64_t n = (int64_t)p->groups * p->size;
    const size_t bytes = sizeof *t * (size_t)p->rows;
    size_t mark = tl_arena_mark(arena);
    ascent s = {.p = p,
                .y = TL_TAKE(arena, double, p->rows),
                .r = TL_TAKE(arena, double, p->rows),
                .z = TL_TAKE(arena, double, p->rows)};
    double *old = TL_TAKE(arena, double, p->rows), *e = TL_TAKE(arena, double, p->rows),
           *good = TL_TAKE(arena, double, p->rows);
    double *da = TL_TAKE(arena, double, p->groups), *db = TL_TAKE(arena, double, n);
    if (!s.y || !s.r || !s.z || !old || !e || !good || !da || !db)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to select a stress of %d rows", (int)p->rows);
    tl_cone_metric_of(&s.q, p->size, p->Q);
    for (int32_t i = 0; i < p->rows; i++) {
        if (p->held[i]) t[i] = 0;
        s.y[i] = p->held[i] ? 0 : p->f[i];
    }
    const double size = norm(&s, s.y);
    double left = evaluate(&s, t, a, b, s.r), theta = 1, L = 1, best = left, before = left, first = left;
    const double far = distance(p, a, b, da, db),
                 enough = fmax(stop->residual, fmin(stop->coarsest, stop->coarse * sqrt(far)));
    double target = enough * size;
    int64_t look = stop->patience / 2;
    *out = (tl_least_report){.evaluations = 1};
    if (left <= stop->loose * size && far < stop->near) target = left;
    if (left > target) L = largest(&s, e, da, db);
    memcpy(old, t, bytes);
    memcpy(good, t, bytes);
    while (left > target && L > 0 && out->evaluations < stop->iterations) {
        double next = 0.5 * (1 + sqrt(1 + 4 * theta * theta)), beta = (theta - 1) / next;
        for (int32_t i = 0; i < p->rows; i++) e[i] = t[i] + beta * (t[i] - old[i]);
        left = evaluate(&s, e, a, b, s.r);
        out->evaluations++;
        if (left < best) memcpy(good, e, bytes);
        best = fmin(best, left);
        bool done = left <= target || out->evaluations >= stop->iterations;
        if (look > 0 && out->evaluations >= look) {
            done |= out->evaluations >= stop->patience && best > HALF * before;
            before = best;
            look *= 2;
        }
        if (done) break;
        for (int32_t i = 0; i < p->rows; i++) {
            double now = e[i] + s.r[i] / L;
            s.y[i] = s.r[i] * (now - t[i]);
            old[i] = t[i];
            t[i] = now;
        }
        theta = next;
        if (tl_sum(p->rows, s.y) >= 0) continue;
        theta = 1;
        memcpy(old, t, bytes);
    }
    /* widths follow the pressure of the answer, so that what is left may rise before it falls: the answer is the
     * best that was seen. The next search goes on from there, or where nothing was better than the start from where
     * this one is */
    if (left > best) {
        left = evaluate(&s, good, a, b, s.r);
        out->evaluations++;
    }
    if (best < first || out->evaluations == 1) memcpy(t, good, bytes);
    double energy = tl_least_energy(p, a, b);
    out->residual = size > 0 ? left / size : 0;
    out->gap = energy > 0 ? tl_dot(p->rows, good, s.r) / energy : 0;
    out->distance = distance(p, a, b, da, db);
    tl_arena_release(arena, mark);
    return TALUS_OK;
}
