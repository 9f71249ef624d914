#include "math/anderson.h"

#include <string.h>

#include "base/parallel.h"
#include "base/sum.h"
#include "math/small_chol.h"

#define GROWTH 4.0      /* of the squared residual: more empties the memory */
#define REGULARISE 1e-8 /* of the diagonal: residuals in one line */

talus_status tl_anderson_begin(tl_anderson *m, int64_t n, tl_arena *a, talus_error *err)
{
    return tl_anderson_begin_carrying(m, n, 0, a, err);
}

talus_status tl_anderson_begin_carrying(tl_anderson *m, int64_t n, int64_t carried, tl_arena *a, talus_error *err)
{
    *m = (tl_anderson){.n = n, .all = n + carried};
    for (int k = 0; k < TL_ANDERSON_DEPTH; k++) {
        m->y[k] = TL_TAKE(a, double, m->all);
        m->f[k] = TL_TAKE(a, double, n);
        if (!m->y[k] || !m->f[k]) return TL_FAIL(err, TALUS_NO_MEMORY, "no memory to mix answers");
    }
    return TALUS_OK;
}

void tl_anderson_in_parts(tl_anderson *m, const tl_comm *c, int64_t own)
{
    m->comm = tl_comm_alone(c) ? NULL : c;
    m->own = own;
}

static double dot(const tl_anderson *m, const double *x, const double *y)
{
    if (!m->comm) return tl_dot(m->n, x, y);
    double sum = tl_dot(m->own, x, y);
    if (m->comm->part == 0) sum += tl_dot(m->n - m->own, x + m->own, y + m->own);
    return tl_comm_sum(m->comm, sum);
}

static void keep(tl_anderson *m, const double *x, const double *y)
{
    m->newest = m->count < TL_ANDERSON_DEPTH ? m->count : (m->newest + 1) % TL_ANDERSON_DEPTH;
    if (m->count < TL_ANDERSON_DEPTH) m->count++;
    double *to = m->y[m->newest], *f = m->f[m->newest];
#pragma omp parallel for schedule(static) if (m->all >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < m->all; i++) {
        to[i] = y[i];
        if (i < m->n) f[i] = y[i] - x[i];
    }
    for (int k = 0; k < m->count; k++) m->gram[k][m->newest] = m->gram[m->newest][k] = dot(m, m->f[k], f);
}

/* Weights of the older answers, against the newest: the smallest |f - sum w_k (f - f_k)|. Returns how many, 0: no
 * use. */
static int weigh(const tl_anderson *m, int other[TL_ANDERSON_DEPTH], double w[TL_ANDERSON_DEPTH])
{
    int q = 0, last = m->newest;
    double A[TL_ANDERSON_DEPTH * TL_ANDERSON_DEPTH];
    for (int k = 0; k < m->count; k++)
        if (k != last) other[q++] = k;
    for (int a = 0; a < q; a++) {
        int i = other[a];
        w[a] = m->gram[last][last] - m->gram[i][last];
        for (int b = 0; b < q; b++)
            A[a * q + b] = m->gram[last][last] - m->gram[i][last] - m->gram[other[b]][last] + m->gram[i][other[b]];
        A[a * q + a] *= 1 + REGULARISE;
    }
    if (q == 0 || !tl_small_chol(q, A)) return 0;
    tl_small_chol_solve(q, A, w);
    return q;
}

void tl_anderson_next(tl_anderson *m, const double *x, const double *y, double *next)
{
    int other[TL_ANDERSON_DEPTH];
    double w[TL_ANDERSON_DEPTH];
    keep(m, x, y);
    double now = m->gram[m->newest][m->newest];
    if (m->count > 1 && !(now <= GROWTH * m->best)) {
        m->count = 0;
        keep(m, x, y);
    }
    m->best = m->count == 1 ? now : fmin(m->best, now);
    int q = weigh(m, other, w);
#pragma omp parallel for schedule(static) if (m->all >= TL_PARALLEL_MIN)
    for (int64_t i = 0; i < m->all; i++) {
        double sum = y[i];
        for (int a = 0; a < q; a++) sum -= w[a] * (y[i] - m->y[other[a]][i]);
        next[i] = sum;
    }
}
