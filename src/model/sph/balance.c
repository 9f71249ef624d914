#include "model/sph/balance.h"

#include <math.h>
#include <stdlib.h>

#include "base/sum.h"

#define ROUNDS 12   /* of conjugate gradients over pairs of bodies, at most */
#define ENOUGH 1e-4 /* of the imbalance at the start */

typedef struct balance {
    tl_sph_step *step;
    const tl_fixedpoint *problem;
    int32_t pairs;
    int32_t *pair; /* [contacts] -1: has no force */
    double *x, *r; /* [n] scratch */
} balance;

static int compare(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return p < q ? -1 : p > q;
}

/* The two bodies that a contact is between: its own, and the one that most of its weight is on. */
static int64_t key_of(const tl_sph_step *s, int32_t k)
{
    double max = 0, sum = 0;
    int64_t own = s->contact[k].body, other = own;
    for (int64_t t = s->touch_start[k]; t < s->touch_start[k + 1]; t++) {
        const tl_sph_touch *j = &s->touch[t];
        sum = t > s->touch_start[k] && s->touch[t - 1].body == j->body ? sum + j->w : j->w;
        if (sum > max) max = sum, other = j->body;
    }
    int64_t lo = own < other ? own : other, hi = own < other ? other : own;
    return lo * s->sph->bodies + hi;
}

static bool find_pairs(balance *b, const double *x, tl_arena *a)
{
    const tl_sph_step *s = b->step;
    int64_t *key = TL_TAKE(a, int64_t, s->contacts), *all = TL_TAKE(a, int64_t, s->contacts);
    b->pair = TL_TAKE(a, int32_t, s->contacts);
    if (!key || !all || !b->pair) return false;
    int32_t count = 0;
    for (int32_t k = 0; k < s->contacts; k++) {
        key[k] = x[s->fluid + k] > 0 ? key_of(s, k) : -1;
        if (key[k] >= 0) all[count++] = key[k];
    }
    qsort(all, (size_t)count, sizeof *all, compare);
    for (int32_t i = 0; i < count; i++)
        if (!i || all[i] != all[i - 1]) all[b->pairs++] = all[i];
    for (int32_t k = 0; k < s->contacts; k++) {
        const int64_t *at = key[k] < 0 ? NULL : bsearch(&key[k], all, (size_t)b->pairs, sizeof *all, compare);
        b->pair[k] = at ? (int32_t)(at - all) : -1;
    }
    return true;
}

/* Work that the residuals r do on the forces x, by pairs: minus the gradient of the energy with respect to the
 * pairs' factors. */
static void imbalance(const balance *b, const double *x, const double *r, double *out)
{
    const tl_sph_step *s = b->step;
    for (int32_t i = 0; i < b->pairs; i++) out[i] = 0;
    for (int32_t k = 0; k < s->contacts; k++) {
        if (b->pair[k] < 0) continue;
        int64_t at = s->fluid + k, rub = s->fluid + s->contacts + 3 * (int64_t)k;
        out[b->pair[k]] -=
            s->contact[k].V0 * x[at] * r[at] + s->dt * tl_vec3_dot(tl_vec3_load(x + rub), tl_vec3_load(r + rub));
    }
}

/* y = x, with the forces of each pair times 1 + factor. */
static void scale(const balance *b, const double *x, const double *factor, double *y)
{
    const tl_sph_step *s = b->step;
    int64_t n = s->fluid + 4 * (int64_t)s->contacts;
    for (int64_t i = 0; i < n; i++) y[i] = x[i];
    for (int32_t k = 0; k < s->contacts; k++) {
        double f = b->pair[k] < 0 ? 1 : fmax(0, 1 + factor[b->pair[k]]);
        y[s->fluid + k] *= f;
        for (int d = 0; d < 3; d++) y[s->fluid + s->contacts + 3 * (int64_t)k + d] *= f;
    }
}

static double dot(int32_t n, const double *a, const double *b) { return n ? tl_dot(n, a, b) : 0; }

talus_status tl_sph_balance(tl_sph_step *s, const tl_fixedpoint *p, double *x, tl_arena *a, talus_error *err)
{
    int64_t n = p->space->n;
    size_t mark = tl_arena_mark(a);
    balance b = {.step = s, .problem = p};
    b.x = TL_TAKE(a, double, n + 1);
    b.r = TL_TAKE(a, double, n + 1);
    bool room = b.x && b.r && find_pairs(&b, x, a);
    double *factor = TL_TAKE_ZERO(a, double, b.pairs + 1), *g = TL_TAKE(a, double, b.pairs + 1),
           *first = TL_TAKE(a, double, b.pairs + 1), *d = TL_TAKE(a, double, b.pairs + 1),
           *q = TL_TAKE(a, double, b.pairs + 1), *probe = TL_TAKE(a, double, b.pairs + 1);
    if (!room || !factor || !g || !first || !d || !q || !probe)
        return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for a step of SPH");
    p->evaluate(p->ctx, x, b.r);
    double before = p->measure(p->ctx, x, b.r);
    imbalance(&b, x, b.r, first);
    for (int32_t i = 0; i < b.pairs; i++) g[i] = d[i] = first[i];
    double square = dot(b.pairs, g, g), target = ENOUGH * ENOUGH * square;
    int rounds = 0;
    for (; rounds < ROUNDS && rounds < b.pairs && square > target; rounds++) {
        /* residuals are straight in the forces: those of a small change tell the slope */
        double largest = 0;
        for (int32_t i = 0; i < b.pairs; i++) largest = fmax(largest, fabs(d[i]));
        for (int32_t i = 0; i < b.pairs; i++) probe[i] = 0.5 * d[i] / largest;
        scale(&b, x, probe, b.x);
        p->evaluate(p->ctx, b.x, b.r);
        imbalance(&b, x, b.r, q);
        for (int32_t i = 0; i < b.pairs; i++) q[i] = (first[i] - q[i]) * 2 * largest;
        double curve = dot(b.pairs, d, q);
        if (!(curve > 0)) break;
        double along = square / curve, last = square;
        for (int32_t i = 0; i < b.pairs; i++) {
            factor[i] += along * d[i];
            g[i] -= along * q[i];
        }
        square = dot(b.pairs, g, g);
        for (int32_t i = 0; i < b.pairs; i++) d[i] = g[i] + square / last * d[i];
    }
    if (rounds) {
        scale(&b, x, factor, b.x);
        p->evaluate(p->ctx, b.x, b.r);
        if (p->measure(p->ctx, b.x, b.r) < before)
            for (int64_t i = 0; i < n; i++) x[i] = b.x[i];
    }
    tl_arena_release(a, mark);
    return TALUS_OK;
}
