/* Energies in singular values, and their proximal maps, for eight elements at a time; d = 3 for solids, 2 for cloth.
 *
 *     ARAP          mu sum (s-1)^2
 *     corotational  ARAP + lambda/2 (sum s - d)^2
 *     Neo-Hookean   mu/2 (sum s^2 - d) - mu ln J + lambda/2 ln^2 J,  J = prod s
 *
 * prox(s) = argmin over x of k/2 |x - s|^2 + psi(x). */
#ifndef TL_MODEL_LG_PROX_H
#define TL_MODEL_LG_PROX_H

#include "model/lg/lanes.h"
#include "model/lg/lg.h"

#define PROX_STEPS 40
#define PROX_DONE 1e-14   /* of ln J */
#define PROX_LOG_MAX 60.  /* |ln J| */
#define STRESS_LEAST 0.05 /* singular value below which energies go on without a logarithm */

/* p = on_F F + on_R R; `trace`: sum of singular values. */
V8_INLINE void prox_corotated(const tl_lg_material *m, int d, v8 trace, v8 *on_F, v8 *on_R)
{
    double k = m->k, mu2 = 2 * m->mu, la = m->lambda;
    v8 sum = (k * trace + d * mu2 + d * d * la) / (k + mu2 + d * la);
    *on_F = v8_all(k / (k + mu2));
    *on_R = (mu2 - la * (sum - d)) / (k + mu2);
}

/* Newton in x with the spec's safeguards, for the few that the method of lanes leaves: defined in prox.c. */
void tl_lg_prox_neo_hookean(const tl_lg_material *m, int d, const double *s, double *x);

/* For a given L = ln J each x solves a quadratic, (k + mu) x^2 - k s x - (mu - lambda L) = 0, whose larger root
 * falls with L. So ln prod x(L) = L has one root below the L at which the first of the quadratics runs out of roots;
 * a bracketed Newton finds it. Where it lies beyond (a stretch of several times one way), lanes go to
 * tl_lg_prox_neo_hookean. */
V8_INLINE void prox_neo_hookean(const tl_lg_material *m, int d, const v8 *s, v8 *x)
{
    const double k = m->k, mu = m->mu, la = m->lambda, a = k + mu;
    v8 lo = v8_all(-PROX_LOG_MAX), hi = v8_all(PROX_LOG_MAX), ks[3], guess = v8_all(1);
    for (int i = 0; i < d; i++) {
        ks[i] = k * s[i];
        v8 room = v8_select(s[i] > 0, ks[i] * ks[i] / (4 * a), v8_all(0));
        if (la > 0) hi = v8_min(hi, (mu + room) / la);
        guess *= v8_max(s[i], v8_all(0.1));
    }
    /* a Newton step of the prox from s: most of the way, as k is stiff */
    v8 L = v8_min(v8_log(guess), hi - 1e-3 * v8_abs(hi)), product = v8_all(1), step;
    m8 open = lo < hi;
    for (int it = 0; it < PROX_STEPS; it++) {
        v8 rest = mu - la * L, slope = v8_all(1);
        product = v8_all(1);
        for (int i = 0; i < d; i++) {
            v8 root2 = ks[i] * ks[i] + 4 * a * rest, root = v8_sqrt(v8_max(root2, v8_all(1e-300)));
            /* the stable one of two ways to write the larger root */
            m8 up = ks[i] > 0;
            v8 sum = v8_abs(ks[i]) + root;
            x[i] = v8_select(up, sum, 2 * rest) / v8_select(up, v8_all(2 * a), sum);
            x[i] = v8_max(x[i], v8_all(1e-30));
            product *= x[i];
            slope += la / (x[i] * root);
        }
        v8 value = v8_log(product) - L;
        lo = v8_select(value > 0, L, lo);
        hi = v8_select(value < 0, L, hi);
        step = value / slope;
        v8 next = L + step;
        m8 inside = (next > lo) & (next < hi);
        next = v8_select(inside, next, 0.5 * (lo + hi));
        step = next - L;
        open = v8_abs(step) > PROX_DONE * (1 + v8_abs(L));
        open &= ~(value == 0);
        if (!v8_any(open)) break;
        L = v8_select(open, next, L);
    }
    /* no root below the limit, or none found */
    m8 bad = open | (v8_abs(v8_log(product) - L) > 1e-9);
    if (!v8_any(bad)) return;
    for (int l = 0; l < 8; l++) {
        if (!bad[l]) continue;
        double from[3], to[3];
        for (int i = 0; i < d; i++) from[i] = s[i][l];
        tl_lg_prox_neo_hookean(m, d, from, to);
        for (int i = 0; i < d; i++) x[i][l] = to[i];
    }
}

/* dpsi/ds, and psi. Below STRESS_LEAST logarithms go on along their tangents, so that forces are the slope of the
 * energy there too. */
V8_INLINE v8 stress_neo_hookean(const tl_lg_material *m, int d, const v8 *s, v8 *dpsi)
{
    v8 J = v8_all(1), sum = v8_all(-(double)d), kept[3], beyond = v8_all(0);
    for (int i = 0; i < d; i++) {
        kept[i] = v8_max(s[i], v8_all(STRESS_LEAST));
        J *= kept[i];
        beyond += (s[i] - kept[i]) / STRESS_LEAST;
        sum += s[i] * s[i];
    }
    v8 L = v8_log(J) + beyond, rest = m->mu - m->lambda * L;
    for (int i = 0; i < d; i++) dpsi[i] = m->mu * s[i] - rest / kept[i];
    return 0.5 * m->mu * sum - m->mu * L + 0.5 * m->lambda * L * L;
}

#endif
