#include "solve/pressure/mic.h"

#include <math.h>
#include <string.h>

#include "base/radix.h"
#include "base/sum.h"
#include "solve/pressure/blocks.h"
#include "solve/pressure/key.h"

#define MODIFIED 0.97  /* share of the dropped fill that goes to the diagonal [Bridson2015] */
#define PIVOT_MIN 0.25 /* of the diagonal; smaller pivots are replaced by it [Bridson2015] */

talus_status tl_mic_take(tl_mic *m, const tl_pressure *p, double *scratch, tl_arena *a, talus_error *err)
{
    int32_t n = p->n;
    *m = (tl_mic){.n = n,
                  .cell = TL_TAKE(a, int32_t, n),
                  .root = TL_TAKE(a, float, n),
                  .s = TL_TAKE(a, float, n + 1),
                  .z = TL_TAKE(a, float, n),
                  .is_free = TL_TAKE(a, uint8_t, n)};
    bool good = m->cell && m->root && m->s && m->z && m->is_free;
    for (int k = 0; k < 3; k++) {
        m->lower[k] = TL_TAKE(a, int32_t, n);
        m->w[k] = TL_TAKE(a, float, n);
        good = good && m->lower[k] && m->w[k];
    }
    if (!good) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory for an incomplete factor of %d cells", n);

    uint64_t *key = (uint64_t *)scratch, *spare = key + n;
    int32_t *place = (int32_t *)(spare + n);
    for (int32_t i = 0; i < n; i++) {
        key[i] = tl_cell_key(p->ijk[i][0], p->ijk[i][1], p->ijk[i][2]) & ~((uint64_t)1 << 60);
        m->cell[i] = i;
    }
    tl_radix_sort(n, key, m->cell, spare, place);
    for (int32_t k = 0; k < n; k++) place[m->cell[k]] = k;
    for (int32_t k = 0; k < n; k++)
        for (int axis = 0; axis < 3; axis++) {
            int32_t j = p->nb[2 * axis][m->cell[k]];
            m->lower[axis][k] = j < n && place[j] < k ? place[j] : n;
        }
    return TALUS_OK;
}

void tl_mic_attach(tl_mic *m, const tl_pressure *p, bool rebuild)
{
    m->p = p;
    m->rebuild = rebuild;
    m->fitted = false;
}

static float coupling(const tl_mic *m, int32_t k, int axis)
{
    int32_t j = m->lower[axis][k], i = m->cell[k];
    return j < m->n && m->is_free[i] && m->is_free[m->cell[j]] ? m->p->c[2 * axis][i] : 0;
}

static void factor(tl_mic *m)
{
    /* s: what each row couples to later ones */
    memset(m->s, 0, sizeof(float) * (size_t)(m->n + 1));
    for (int32_t k = 0; k < m->n; k++)
        for (int axis = 0; axis < 3; axis++) m->s[m->lower[axis][k]] += coupling(m, k, axis);
    for (int32_t k = 0; k < m->n; k++) {
        double d = m->p->d[m->cell[k]], pivot = d;
        for (int axis = 0; axis < 3; axis++) {
            double c = coupling(m, k, axis);
            if (c == 0) continue;
            int32_t j = m->lower[axis][k];
            double over = (double)m->root[j] * m->root[j];
            pivot -= c * (c + MODIFIED * (m->s[j] - c)) * over;
        }
        if (pivot < PIVOT_MIN * d) pivot = d;
        m->root[k] = m->is_free[m->cell[k]] ? (float)(1 / sqrt(pivot)) : 0;
        for (int axis = 0; axis < 3; axis++) {
            float c = coupling(m, k, axis);
            m->w[axis][k] = c > 0 ? c * m->root[k] * m->root[m->lower[axis][k]] : 0;
        }
    }
}

static bool free_cells(const tl_mic *m, const tl_pressure_free *f, int32_t from, int32_t to)
{
    bool changed = false;
    for (int32_t i = from; i < to; i++) {
        uint8_t is = !m->rebuild || tl_pressure_is_free(f, i);
        changed |= is != m->is_free[i];
        m->is_free[i] = is;
    }
    return changed;
}

static bool fit(void *ctx, const tl_pressure_free *f)
{
    tl_mic *m = ctx;
    m->mask = *f;
    if (m->fitted && !m->rebuild) return false;
    bool any[TL_BLOCKS_MAX] = {false}, changed = !m->fitted;
    if (!m->fitted) memset(m->is_free, 0, (size_t)m->n);
    TL_FOR_BLOCKS(0, m->n, any[block] = free_cells(m, f, from, to));
    for (int b = 0; b < TL_BLOCKS_MAX; b++) changed = changed || any[b];
    if (changed) factor(m);
    m->fitted = true;
    return changed;
}

/* z = L^-T L^-1 g, with L scaled to a unit diagonal: s = root g, s += w s(lower) forwards, s(lower) += w s
 * backwards. */
static void sweep(tl_mic *m, const double *g, double factor_g)
{
    const int32_t *restrict j0 = m->lower[0], *restrict j1 = m->lower[1], *restrict j2 = m->lower[2];
    const float *restrict w0 = m->w[0], *restrict w1 = m->w[1], *restrict w2 = m->w[2];
    const int32_t *restrict cell = m->cell;
    float *s = m->s, last = 0; /* `last` keeps the chain along z in a register */
    s[m->n] = 0;
    for (int32_t k = 0; k < m->n; k++) {
        int32_t i = cell[k];
        double gi = m->rebuild || tl_pressure_is_free(&m->mask, i) ? g[i] : 0;
        float v = m->root[k] * (float)(gi * factor_g) + w0[k] * s[j0[k]] + w1[k] * s[j1[k]];
        last = v + w2[k] * (j2[k] == k - 1 ? last : s[j2[k]]);
        s[k] = last;
    }
    for (int32_t k = m->n - 1; k >= 0; k--) {
        float v = s[k];
        s[j0[k]] += w0[k] * v;
        s[j1[k]] += w1[k] * v;
        s[j2[k]] += w2[k] * v;
        m->z[cell[k]] = m->root[k] * v;
    }
    if (m->rebuild) return;
    for (int32_t i = 0; i < m->n; i++)
        if (!tl_pressure_is_free(&m->mask, i)) m->z[i] = 0;
}

static double dot_rows(const float *restrict z, const double *restrict g, int32_t from, int32_t to)
{
    double lane[TL_LANES] = {0}, tail = 0;
    int32_t i = from;
    for (; i + TL_LANES <= to; i += TL_LANES)
        for (int k = 0; k < TL_LANES; k++) lane[k] += z[i + k] * g[i + k];
    for (; i < to; i++) tail += z[i] * g[i];
    return tl_lanes_total(lane) + tail;
}

static double apply(void *ctx, const double *g, double size)
{
    tl_mic *m = ctx;
    int exponent = 0;
    if (size > 0 && isfinite(size)) frexp(size, &exponent);
    m->back = ldexp(1, exponent);
    sweep(m, g, ldexp(1, -exponent));
    double part[TL_BLOCKS_MAX];
    TL_FOR_BLOCKS(0, m->n, part[block] = dot_rows(m->z, g, from, to));
    return m->back * tl_sum_ordered(tl_blocks_of(m->n).count, part);
}

static void combine(const float *restrict z, double back, double beta, double *restrict p, int32_t from, int32_t to)
{
    if (beta == 0)
        for (int32_t i = from; i < to; i++) p[i] = back * z[i];
    else
        for (int32_t i = from; i < to; i++) p[i] = back * z[i] + beta * p[i];
}

static void direction(void *ctx, double beta, double *p)
{
    const tl_mic *m = ctx;
    TL_FOR_BLOCKS(0, m->n, combine(m->z, m->back, beta, p, from, to));
}

tl_pressure_precond tl_mic_precond(tl_mic *m)
{
    return (tl_pressure_precond){.ctx = m, .fit = fit, .apply = apply, .direction = direction};
}
