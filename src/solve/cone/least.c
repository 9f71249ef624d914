#include "solve/cone/least.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"
#include "base/sum.h"
#include "solve/cone/group.h"

#define POWER_STEPS 24 /* measured on silos: 24 are within 5 % of the largest eigenvalue */
#define SAFETY 1.2     /* on it */

typedef struct ascent {
    const tl_least *p;
    tl_cone_metric q;
    double *ga, *gb; /* K^T t */
    double *y, *r;   /* [rows] */
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

/* (a, b) of the gradients ga, gb: the free answer, projected on the cone in the metric of Phi. In place. */
static void answer(const ascent *s, double *a, double *b, bool cones)
{
    const tl_least *p = s->p;
    const int m = p->size;
#pragma omp parallel for schedule(static) if (p->groups >= TL_PARALLEL_MIN / 8)
    for (int32_t g = 0; g < p->groups; g++) {
        double *bg = b + (int64_t)g * m, x[TL_CONE_MAX] = {0};
        if (p->frozen[g] && cones) {
            a[g] = p->a0[g];
            memcpy(bg, p->b0 + (int64_t)g * m, sizeof *bg * (size_t)m);
            continue;
        }
        a[g] /= p->weight[g];
        tl_cone_mul(m, s->q.inverse, bg, x);
        for (int k = 0; k < m; k++) bg[k] = x[k] / (p->weight[g] * p->stiffness[g]);
        if (!cones) continue;
        double length = sqrt(fmax(0, tl_cone_form(m, p->Q, bg))), alpha = p->alpha[g];
        if (length <= alpha * a[g]) continue;
        a[g] = fmax(0, (a[g] + p->stiffness[g] * alpha * length) / (1 + p->stiffness[g] * alpha * alpha));
        for (int k = 0; k < m; k++) bg[k] *= length > 0 ? alpha * a[g] / length : 0;
    }
}

/* Residual of (a, b)(t) and the bound. */
static double evaluate(const ascent *s, const double *t, double *a, double *b, double *r)
{
    const tl_least *p = s->p;
    p->adjoint(p->ctx, t, a, b);
    answer(s, a, b, true);
    p->product(p->ctx, a, b, r);
    for (int32_t i = 0; i < p->rows; i++) r[i] = p->held[i] ? 0 : p->f[i] - r[i];
    return tl_least_energy(p, a, b) + tl_dot(p->rows, t, r);
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

static bool enough(const tl_least_stop *stop, tl_least_report *out, double bound, double residual)
{
    out->bound = fmax(out->bound, bound);
    out->excess = stop->energy > 0 ? fmax(0, 1 - out->bound / stop->energy) : 0;
    out->residual = residual;
    return out->excess < stop->excess || residual < stop->residual;
}

talus_status tl_least_ascend(const tl_least *p, const tl_least_stop *stop, double *t, double *a, double *b,
                             tl_arena *arena, tl_least_report *out, talus_error *err)
{
    size_t mark = tl_arena_mark(arena);
    ascent s = {.p = p, .y = TL_TAKE(arena, double, p->rows), .r = TL_TAKE(arena, double, p->rows)};
    double *old = TL_TAKE(arena, double, p->rows), *e = TL_TAKE(arena, double, p->rows);
    if (!s.y || !s.r || !old || !e)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to select a stress of %d rows", (int)p->rows);
    tl_cone_metric_of(&s.q, p->size, p->Q);
    *out = (tl_least_report){.bound = -INFINITY, .evaluations = 1};
    double size = 0;
    for (int32_t i = 0; i < p->rows; i++) {
        if (p->held[i]) t[i] = 0;
        s.y[i] = p->held[i] ? 0 : p->f[i];
    }
    size = sqrt(tl_dot(p->rows, s.y, s.y));
    double bound = evaluate(&s, t, a, b, s.r), theta = 1;
    bool done = enough(stop, out, bound, size > 0 ? sqrt(tl_dot(p->rows, s.r, s.r)) / size : 0);
    double L = done ? 1 : largest(&s, e, a, b);
    if (!(L > 0)) done = true;
    memcpy(old, t, sizeof *t * (size_t)p->rows);
    while (!done && out->evaluations < stop->iterations) {
        double next = 0.5 * (1 + sqrt(1 + 4 * theta * theta)), beta = (theta - 1) / next;
        for (int32_t i = 0; i < p->rows; i++) e[i] = t[i] + beta * (t[i] - old[i]);
        bound = evaluate(&s, e, a, b, s.r);
        out->evaluations++;
        done = enough(stop, out, bound, sqrt(tl_dot(p->rows, s.r, s.r)) / size);
        double turn = 0;
        for (int32_t i = 0; i < p->rows; i++) {
            double now = e[i] + s.r[i] / L;
            s.y[i] = s.r[i] * (now - t[i]);
            old[i] = t[i];
            t[i] = done ? e[i] : now;
        }
        turn = tl_sum(p->rows, s.y);
        theta = next;
        if (turn >= 0) continue;
        theta = 1;
        memcpy(old, t, sizeof *t * (size_t)p->rows);
    }
    if (!done) bound = evaluate(&s, t, a, b, s.r), enough(stop, out, bound, sqrt(tl_dot(p->rows, s.r, s.r)) / size);
    tl_arena_release(arena, mark);
    return TALUS_OK;
}
