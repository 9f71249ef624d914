#include "model/lg/prox.h"

#define STEPS 200
#define DONE 1e-14     /* of the gradient, over k + mu */
#define KEEP 0.05      /* of an x that a step leaves at least */
#define LEAST 0.1      /* x to start from */
#define ROUNDING 1e-15 /* of the value: less is no rise */

static double value(const tl_lg_material *m, int d, const double *s, const double *x)
{
    double L = 0, v = 0;
    for (int i = 0; i < d; i++) {
        L += log(x[i]);
        v += 0.5 * m->k * (x[i] - s[i]) * (x[i] - s[i]) + 0.5 * m->mu * x[i] * x[i];
    }
    return v - m->mu * L + 0.5 * m->lambda * L * L;
}

/* Gradient g, and a step down: Newton's where the Hessian D + lambda (1/x)(1/x)^T is positive definite, else with D
 * made so. Returns the largest entry of g. */
static double descend(const tl_lg_material *m, int d, const double *s, const double *x, double *step, double *slope)
{
    double L = 0, g[3], D[3], worst = 0, up = 0, down = 1;
    int negative = 0;
    for (int i = 0; i < d; i++) L += log(x[i]);
    double rest = m->mu - m->lambda * L;
    for (int i = 0; i < d; i++) {
        g[i] = m->k * (x[i] - s[i]) + m->mu * x[i] - rest / x[i];
        worst = fmax(worst, fabs(g[i]));
        D[i] = m->k + m->mu + rest / (x[i] * x[i]);
        negative += !(D[i] > 0);
        down += m->lambda / (D[i] * x[i] * x[i]);
    }
    bool definite = negative == 0 || (negative == 1 && down < 0);
    down = 1;
    for (int i = 0; i < d; i++) {
        if (!definite) D[i] = m->k + m->mu + fmax(rest, 0) / (x[i] * x[i]);
        up += g[i] / (D[i] * x[i]);
        down += m->lambda / (D[i] * x[i] * x[i]);
    }
    *slope = 0;
    for (int i = 0; i < d; i++) {
        step[i] = -(g[i] - m->lambda * up / down / x[i]) / D[i];
        *slope += g[i] * step[i];
    }
    return worst;
}

void tl_lg_prox_neo_hookean(const tl_lg_material *m, int d, const double *s, double *x)
{
    double step[3], next[3], slope, before = INFINITY;
    for (int i = 0; i < d; i++) x[i] = fmax(s[i], LEAST);
    double now = value(m, d, s, x);
    for (int it = 0; it < STEPS; it++) {
        double worst = descend(m, d, s, x, step, &slope), max = 1, then = now;
        if (worst <= DONE * (m->k + m->mu)) return;
        for (int i = 0; i < d; i++)
            if (step[i] < 0) max = fmin(max, (KEEP - 1) * x[i] / step[i]);
        for (int half = 0; half < 40; half++, max *= 0.5) {
            for (int i = 0; i < d; i++) next[i] = x[i] + max * step[i];
            then = value(m, d, s, next);
            if (then <= now + 1e-4 * max * slope + ROUNDING * fabs(now)) break;
        }
        if (!(then < now) && !(worst < 0.5 * before)) return; /* neither value nor gradient fall any more */
        before = worst;
        now = then;
        for (int i = 0; i < d; i++) x[i] = next[i];
    }
}
