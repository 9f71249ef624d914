#include "math/svd3.h"

#include <float.h>

/* 4 or 5 sweeps are usual, 14 the most seen (values graded by 1e-160); the limit guards against cycling. */
#define SWEEPS_MAX 30
/* Squared cosine of columns that count as orthogonal. Smaller than the rounding of a dot product it would
 * never be reached: half an epsilon cycles. */
#define TOL2 (4 * DBL_EPSILON * DBL_EPSILON)

/* Power of two near 1 / max |F_ij|; NaN when an entry is not finite, 0 for F = 0. */
static double entry_scale(const tl_mat3 *F)
{
    double largest = 0, sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            largest = fmax(largest, fabs(F->m[i][j]));
            sum += 0 * F->m[i][j]; /* NaN for infinity and NaN, else 0 */
        }
    if (sum != 0) return NAN;
    if (largest == 0) return 0;
    int e;
    frexp(largest, &e);
    return ldexp(1, -(e > -1000 ? e : -1000)); /* subnormal F: 2^1000 is enough */
}

/* Turns columns a, b so that they become orthogonal, and v, w with them. True when it had to. */
static inline bool orthogonalise(tl_vec3 *a, tl_vec3 *b, tl_vec3 *v, tl_vec3 *w)
{
    double aa = tl_vec3_norm2(*a), bb = tl_vec3_norm2(*b), ab = tl_vec3_dot(*a, *b);
    if (ab * ab <= TOL2 * aa * bb || ab * ab < DBL_MIN) return false; /* the latter: beside 1, below 1e-130 */

    double d = bb - aa, t = 2 * ab / (d + copysign(sqrt(d * d + 4 * ab * ab), d));
    double c = 1 / sqrt(1 + t * t), s = t * c;
    tl_vec3 a0 = *a, v0 = *v;
    *a = tl_vec3_add_scaled(tl_vec3_scale(c, a0), -s, *b);
    *b = tl_vec3_add_scaled(tl_vec3_scale(c, *b), s, a0);
    *v = tl_vec3_add_scaled(tl_vec3_scale(c, v0), -s, *w);
    *w = tl_vec3_add_scaled(tl_vec3_scale(c, *w), s, v0);
    return true;
}

/* Larger column first; one sign flips so that the pair stays a rotation. */
static inline void order(tl_vec3 *a, tl_vec3 *b, tl_vec3 *v, tl_vec3 *w)
{
    if (tl_vec3_norm2(*a) >= tl_vec3_norm2(*b)) return;
    tl_vec3 a0 = *a, v0 = *v;
    *a = *b;
    *b = tl_vec3_neg(a0);
    *v = *w;
    *w = tl_vec3_neg(v0);
}

void tl_svd3(tl_mat3 F, tl_mat3 *U, double s[3], tl_mat3 *V)
{
    *U = *V = tl_mat3_identity();
    double scale = entry_scale(&F);
    if (!(scale > 0)) {
        s[0] = s[1] = s[2] = scale; /* 0 or NaN */
        return;
    }

    /* F V = A with orthogonal columns, largest first. */
    tl_mat3 scaled = tl_mat3_scale(scale, F);
    tl_vec3 a[3], v[3];
    for (int k = 0; k < 3; k++) {
        a[k] = tl_mat3_column(scaled, k);
        v[k] = tl_mat3_column(*V, k);
    }
    for (int sweep = 0; sweep < SWEEPS_MAX; sweep++) {
        bool turned = orthogonalise(&a[0], &a[1], &v[0], &v[1]);
        turned |= orthogonalise(&a[0], &a[2], &v[0], &v[2]);
        turned |= orthogonalise(&a[1], &a[2], &v[1], &v[2]);
        if (!turned) break;
    }
    order(&a[0], &a[1], &v[0], &v[1]);
    order(&a[0], &a[2], &v[0], &v[2]);
    order(&a[1], &a[2], &v[1], &v[2]);

    /* U from the first two columns; the third only decides s[2] and its sign. */
    tl_vec3 u[3], free1, free2;
    u[0] = tl_vec3_normalize(a[0]);
    tl_vec3_tangents(u[0], &free1, &free2);
    double size0 = tl_vec3_norm(a[0]), size1 = tl_vec3_norm(a[1]);
    if (size1 > 1e-130) { /* smaller columns were not made orthogonal (see above) */
        tl_vec3 unit = tl_vec3_scale(1 / size1, a[1]);
        u[1] = tl_vec3_normalize_or(tl_vec3_add_scaled(unit, -tl_vec3_dot(u[0], unit), u[0]), free1);
    } else {
        u[1] = free1;
    }
    u[2] = tl_vec3_cross(u[0], u[1]);

    s[0] = size0;
    s[1] = fmin(fmax(tl_vec3_dot(u[1], a[1]), 0), s[0]);
    double last = tl_vec3_dot(u[2], a[2]);
    s[2] = copysign(fmin(fabs(last), s[1]), last);
    for (int k = 0; k < 3; k++) s[k] /= scale;
    *U = tl_mat3_from_columns(u[0], u[1], u[2]);
    *V = tl_mat3_from_columns(v[0], v[1], v[2]);
}

void tl_polar3(tl_mat3 F, tl_mat3 *R, tl_mat3 *S)
{
    tl_mat3 U, V;
    double s[3];
    tl_svd3(F, &U, s, &V);
    *R = tl_mat3_mul_t(U, V);
    if (!S) return;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            S->m[i][j] = S->m[j][i] =
                s[0] * V.m[i][0] * V.m[j][0] + s[1] * V.m[i][1] * V.m[j][1] + s[2] * V.m[i][2] * V.m[j][2];
}
