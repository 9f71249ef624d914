#include "solve/cone/block.h"

#include <float.h>

#include "math/eig3.h"

void tl_cone_block_factor(const tl_cone_metric *q, const double *B, double *w, double *S)
{
    int m = q->size;
    const double *R = q->root_inv;
    double half[TL_CONE_MAX * TL_CONE_MAX], C[TL_CONE_MAX * TL_CONE_MAX] = {0}, V[TL_CONE_MAX * TL_CONE_MAX], max = 0;

    /* C = R^-T B R^-1 = V diag(w) V' */
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            half[i * m + j] = 0;
            for (int k = 0; k < m; k++) half[i * m + j] += B[i * m + k] * R[k * m + j];
        }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            C[i * m + j] = 0;
            for (int k = 0; k < m; k++) C[i * m + j] += R[k * m + i] * half[k * m + j];
        }
    tl_eig_sym(m, C, w, V);
    for (int i = 0; i < m; i++) max = fmax(max, fabs(w[i]));
    for (int i = 0; i < m; i++)
        if (w[i] <= 64 * DBL_EPSILON * max) w[i] = 0;

    /* S = R^-1 V */
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            S[i * m + j] = 0;
            for (int k = 0; k < m; k++) S[i * m + j] += R[i * m + k] * V[k * m + j];
        }
}

/* theta >= 0 with |y(theta)| = r, given |y(0)| > r. Newton on 1/|y| - 1/r, which is concave and
 * almost straight [MS83]: monotone from the left, a handful of steps; the bracket catches rounding. */
static double multiplier(int m, const double *w, const double *c, double r)
{
    double low = 0, high = 0, norm = 0;
    for (int i = 0; i < m; i++) norm += c[i] * c[i];
    norm = sqrt(norm);
    double smallest = INFINITY;
    for (int i = 0; i < m; i++) {
        low = fmax(low, fabs(c[i]) / r - w[i]);
        smallest = fmin(smallest, w[i]);
    }
    high = fmax(low, norm / r - smallest);

    double theta = low;
    for (int k = 0; k < 100; k++) {
        double square = 0, slope = 0;
        for (int i = 0; i < m; i++) {
            if (c[i] == 0) continue;
            double y = c[i] / (w[i] + theta);
            square += y * y;
            slope += y * y / (w[i] + theta);
        }
        double length = sqrt(square);
        if (fabs(length - r) <= 4 * DBL_EPSILON * r) break;
        if (length > r)
            low = theta;
        else
            high = theta;
        double next = theta + (length - r) / r * square / slope;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (next == theta || !(high - low > DBL_EPSILON * high)) break;
        theta = next;
    }
    return theta;
}

void tl_cone_block_minimise(int m, const double *w, const double *S, const double *c, double r, double *x)
{
    double d[TL_CONE_MAX], y[TL_CONE_MAX], max = 0, square = 0;
    for (int i = 0; i < m; i++) {
        d[i] = 0;
        for (int k = 0; k < m; k++) d[i] += S[k * m + i] * c[k];
        max = fmax(max, fabs(d[i]));
    }
    /* along a null direction a pull below rounding is none: the energy is flat there */
    for (int i = 0; i < m; i++)
        if (w[i] == 0 && fabs(d[i]) <= 16 * DBL_EPSILON * max) d[i] = 0;

    for (int i = 0; i < m; i++) {
        y[i] = d[i] == 0 ? 0 : d[i] / w[i]; /* infinite where B is singular and pulls */
        square += y[i] * y[i];
    }
    if (!(square <= r * r)) {
        double theta = multiplier(m, w, d, r);
        square = 0;
        for (int i = 0; i < m; i++) {
            y[i] = d[i] == 0 ? 0 : d[i] / (w[i] + theta);
            square += y[i] * y[i];
        }
        double scale = r / sqrt(square); /* the last bits of theta */
        for (int i = 0; i < m; i++) y[i] *= scale;
    }
    for (int i = 0; i < m; i++) {
        x[i] = 0;
        for (int k = 0; k < m; k++) x[i] += S[i * m + k] * y[k];
    }
}
